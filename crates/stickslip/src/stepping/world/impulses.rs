//! Impulses of the last step, in world axes.

use serde::{Deserialize, Serialize};

use super::contacts::ActiveContact;

/// Impulse and moment of each contact of the last list, and the length of that step.
///
/// World axes, because tangents turn and jump from step to step while the friction force does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ImpulseMemory {
    h: f64,
    impulses: Vec<[f64; 6]>,
    /// Whether the guess of that step was its solution.
    #[serde(default)]
    rested: bool,
}

impl ImpulseMemory {
    /// Writes the guess of a contact in a step of length `h`: the impulse that it inherits, scaled by the lengths of the steps.
    #[inline]
    pub fn recall(&self, h: f64, contact: &ActiveContact, matched: Option<u32>, guess: &mut [f64]) {
        guess.fill(0.0);
        let last = matched.and_then(|m| self.impulses.get(m as usize));
        let Some(last) = last.filter(|_| self.h > 0.0) else {
            return;
        };
        let scale = h / self.h;
        let [a, b, c, d, e, f] = last.map(|p| scale * p);
        contact.in_rows([a, b, c], [d, e, f], guess);
        // A normal that turned may leave a pull.
        if guess[0] <= 0.0 {
            guess.fill(0.0);
        }
    }

    /// Whether the guess of the last step was its solution.
    pub fn rested(&self) -> bool {
        self.rested
    }

    /// Starts the memory of a step with `count` contacts.
    pub fn begin(&mut self, h: f64, count: usize, rested: bool) {
        (self.h, self.rested) = (h, rested);
        self.impulses.clear();
        self.impulses.resize(count, [0.0; 6]);
    }

    /// Keeps the impulse of a contact.
    pub fn keep(&mut self, found: u32, impulse: [f64; 3], moment: [f64; 3]) {
        let ([a, b, c], [d, e, f]) = (impulse, moment);
        self.impulses[found as usize] = [a, b, c, d, e, f];
    }
}
