//! The solution of a one-step problem, with a status that is never hidden.

use super::GeneralizedOutcome;

/// What a solver can say about its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolveStatus {
    /// Solved to the tolerance; no contact.
    #[default]
    Converged,
    /// The iteration stopped improving above the tolerance.
    Stalled,
    /// The iteration limit was reached above the tolerance.
    LimitReached,
    /// The given block has no solution: the law is inconsistent there.
    NoSolution {
        /// Index of the block.
        block: usize,
    },
    /// The given block has several solutions; the rule take-off, then stick, then slip chose one.
    SeveralSolutions {
        /// Index of the block.
        block: usize,
    },
}

impl SolveStatus {
    /// Whether the answer satisfies the law to the tolerance.
    pub fn is_solved(self) -> bool {
        matches!(self, Self::Converged | Self::SeveralSolutions { .. })
    }
}

/// Impulses, local velocities and status.
#[derive(Clone, Debug, Default)]
pub struct ContactSolution {
    /// Impulse p per row; on entry of a solve the guess, if its length fits.
    pub impulse: Vec<f64>,
    /// Local velocity w = W p + q per row.
    pub local_velocity: Vec<f64>,
    /// Status of the solve.
    pub status: SolveStatus,
    /// Iterations used.
    pub iterations: usize,
    /// What the generalized law adds; empty for other laws.
    pub generalized: GeneralizedOutcome,
}

impl ContactSolution {
    /// Makes room for `size` rows, keeping the impulses as a guess if the size is unchanged.
    pub fn prepare(&mut self, size: usize) {
        if self.impulse.len() != size {
            self.impulse.clear();
            self.impulse.resize(size, 0.0);
        }
        self.local_velocity.resize(size, 0.0);
        self.status = SolveStatus::Converged;
        self.iterations = 0;
    }
}
