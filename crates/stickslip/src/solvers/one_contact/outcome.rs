//! The one-contact problem and what became of it.

use crate::algebra::small_dense::dot;
use crate::laws::FrictionSection;

/// One contact: u = W p + q, normal row first.
#[derive(Clone, Copy, Debug)]
pub struct OneContact<'a> {
    /// W, row-major, (1 + d)².
    pub w: &'a [f64],
    /// Velocity at p = 0, bias included.
    pub q: &'a [f64],
    /// Friction section D with d tangential directions.
    pub section: &'a FrictionSection,
    /// Least normal impulse p_min ≥ 0 (Poisson's expansion); 0 for an ordinary contact.
    pub normal_impulse_min: f64,
}

impl OneContact<'_> {
    /// Number of rows m = 1 + d.
    #[inline]
    pub fn rows(&self) -> usize {
        self.q.len()
    }

    /// u = W p + q.
    pub fn velocity(&self, p: &[f64], u: &mut [f64]) {
        let m = self.rows();
        for (i, value) in u.iter_mut().enumerate() {
            *value = self.q[i] + dot(&self.w[i * m..(i + 1) * m], p);
        }
    }
}

/// State of a contact in a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalState {
    /// No impulse.
    Open,
    /// Impulse, no tangential velocity.
    Stick,
    /// Impulse and tangential velocity.
    Slip,
}

/// Outcome of a one-contact solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalOutcome {
    /// One solution: no impulse.
    Open,
    /// One solution known: tangential velocity zero.
    Stick,
    /// One solution known: sliding.
    Slip,
    /// Several solutions exist; the one written was chosen in the order take-off, stick, slip.
    Several {
        /// State of the solution written.
        chosen: LocalState,
        /// Number of solutions found.
        count: usize,
    },
    /// No solution exists; the impulse written is zero.
    NoSolution,
    /// An iteration stopped short of its accuracy; the best impulse found is written.
    Stalled {
        /// Distance from the solution, as natural map in units of velocity.
        residual: f64,
    },
}

impl LocalOutcome {
    /// State of the solution written, if there is one.
    pub fn state(&self) -> Option<LocalState> {
        match self {
            LocalOutcome::Open => Some(LocalState::Open),
            LocalOutcome::Stick => Some(LocalState::Stick),
            LocalOutcome::Slip => Some(LocalState::Slip),
            LocalOutcome::Several { chosen, .. } => Some(*chosen),
            LocalOutcome::NoSolution | LocalOutcome::Stalled { .. } => None,
        }
    }
}

impl From<LocalState> for LocalOutcome {
    fn from(state: LocalState) -> Self {
        match state {
            LocalState::Open => LocalOutcome::Open,
            LocalState::Stick => LocalOutcome::Stick,
            LocalState::Slip => LocalOutcome::Slip,
        }
    }
}

/// Working memory of the one-contact solvers; grows to the largest contact met, then stays.
#[derive(Clone, Debug, Default)]
pub struct LocalScratch {
    pub(super) numbers: Vec<f64>,
}

impl LocalScratch {
    /// At least `n` numbers, with whatever values.
    pub(super) fn take(&mut self, n: usize) -> &mut [f64] {
        if self.numbers.len() < n {
            self.numbers.resize(n, 0.0);
        }
        &mut self.numbers[..n]
    }
}
