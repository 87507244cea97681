//! What a solver of the Coulomb problem returns.

use super::coulomb_residual::CoulombResidual;
use std::time::Duration;

/// How a solve ended; never hidden, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoulombStatus {
    /// The error is within the tolerance.
    Converged,
    /// The error is above the tolerance but at the level of rounding (and within 100 tolerances).
    AtRoundingFloor,
    /// No method made progress any more; the best point is returned.
    Stalled,
    /// The limit of time or iterations was met; the best point is returned.
    LimitReached,
    /// Nothing can move this contact and its velocity violates the law: no solution exists.
    NoSolution {
        /// The contact concerned.
        contact: usize,
    },
}

impl CoulombStatus {
    /// Whether the answer can be used as a solution.
    pub fn is_solved(self) -> bool {
        matches!(self, Self::Converged | Self::AtRoundingFloor)
    }

    /// The word printed in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::AtRoundingFloor => "rounding-floor",
            Self::Stalled => "stalled",
            Self::LimitReached => "limit",
            Self::NoSolution { .. } => "no-solution",
        }
    }
}

/// Impulses, velocities and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct CoulombSolution {
    /// Impulses r, contact by contact, normal first.
    pub impulses: Vec<f64>,
    /// Velocities u = W r + q.
    pub velocities: Vec<f64>,
    /// How the solve ended.
    pub status: CoulombStatus,
    /// Residual recomputed from the problem and the impulses.
    pub residual: CoulombResidual,
    /// Products with W, sweeps included.
    pub products: u64,
    /// Linear systems factored.
    pub factorizations: u64,
    /// Name of the method that found the point.
    pub method: &'static str,
    /// Wall-clock time.
    pub time: Duration,
}
