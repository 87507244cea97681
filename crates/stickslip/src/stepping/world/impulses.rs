//! Impulses of the last step, in world axes.

use serde::{Deserialize, Serialize};

use crate::systems::world::FoundContact;

use super::contacts::ActiveContact;

/// Impulse and moment of each contact of the last list, and the length of that step.
///
/// World axes, because tangents turn and jump from step to step while the friction force does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ImpulseMemory {
    h: f64,
    impulses: Vec<[f64; 6]>,
}

impl ImpulseMemory {
    /// Writes the guess of a step of length `h`: the impulses that contacts inherit, scaled by the lengths of the steps.
    pub fn recall(
        &self,
        h: f64,
        found: &[FoundContact],
        active: &[ActiveContact],
        guess: &mut [f64],
    ) {
        guess.fill(0.0);
        if self.h <= 0.0 {
            return;
        }
        let scale = h / self.h;
        for contact in active {
            let matched = found[contact.found as usize].matched;
            let Some(last) = matched.and_then(|m| self.impulses.get(m as usize)) else {
                continue;
            };
            let [a, b, c, d, e, f] = last.map(|p| scale * p);
            let rows = contact.start as usize..contact.start as usize + usize::from(contact.rows);
            contact.in_rows([a, b, c], [d, e, f], &mut guess[rows.clone()]);
            // A normal that turned may leave a pull.
            if guess[rows.start] <= 0.0 {
                guess[rows].fill(0.0);
            }
        }
    }

    /// Starts the memory of a step with `count` contacts.
    pub fn begin(&mut self, h: f64, count: usize) {
        self.h = h;
        self.impulses.clear();
        self.impulses.resize(count, [0.0; 6]);
    }

    /// Keeps the impulse of a contact.
    pub fn keep(&mut self, found: u32, impulse: [f64; 3], moment: [f64; 3]) {
        let ([a, b, c], [d, e, f]) = (impulse, moment);
        self.impulses[found as usize] = [a, b, c, d, e, f];
    }
}
