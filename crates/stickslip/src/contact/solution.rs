//! The solution of a contact problem, with a status that is never hidden.

use std::time::Duration;

use super::{GeneralizedOutcome, Judgement};

/// What a solver can say about its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolveStatus {
    /// Solved to the tolerance; no contact.
    #[default]
    Converged,
    /// Above the tolerance, but at the floor of rounding (and within 100 tolerances): no better answer can be told apart.
    AtRoundingFloor,
    /// The iteration stopped improving above the tolerance.
    Stalled,
    /// The limit of time or iterations was met above the tolerance.
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
    /// Whether the answer satisfies the law to the tolerance or to rounding.
    pub fn is_solved(self) -> bool {
        matches!(
            self,
            Self::Converged | Self::AtRoundingFloor | Self::SeveralSolutions { .. }
        )
    }

    /// The word printed in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::AtRoundingFloor => "rounding-floor",
            Self::Stalled => "stalled",
            Self::LimitReached => "limit",
            Self::NoSolution { .. } => "no-solution",
            Self::SeveralSolutions { .. } => "several-solutions",
        }
    }
}

/// What a solve cost, and which method found the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveCost {
    /// Products with W, sweeps included.
    pub products: u64,
    /// Linear systems factored.
    pub factorizations: u64,
    /// Islands of bodies that sweeps have left to second-order methods.
    pub second_order: u64,
    /// Name of the method that found the point; empty where nothing had to be solved.
    pub method: &'static str,
    /// Wall-clock time, where the solver measures it.
    pub time: Duration,
}

/// Impulses, local velocities and status.
#[derive(Clone, Debug, Default)]
pub struct ContactSolution {
    /// Impulse p per row; on entry of a solve the guess, if its length fits.
    pub impulse: Vec<f64>,
    /// Local velocity w = W p + q per row; empty after sweeps over bodies, where
    /// [`ContactProblem::local_velocity`](super::ContactProblem::local_velocity) computes it.
    pub local_velocity: Vec<f64>,
    /// Status of the solve.
    pub status: SolveStatus,
    /// Iterations used.
    pub iterations: usize,
    /// What the solve cost.
    pub cost: SolveCost,
    /// Both figures of the answer, where the solver was given the problem on its own.
    pub judgement: Option<Judgement>,
    /// What the generalized law adds; empty for other laws.
    #[doc(hidden)]
    pub generalized: GeneralizedOutcome,
}

impl ContactSolution {
    /// Makes room for `size` rows, keeping the impulses as a guess if the size is unchanged.
    #[inline]
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
