//! How long the next step is.

use serde::{Deserialize, Serialize};

/// Fixed or adaptive step length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepControl {
    /// Always `h`; the last step may be shorter.
    Fixed {
        /// Step length.
        h: f64,
    },
    /// Step doubling: a step is compared with two half steps and its length chosen so that the
    /// positions differ by at most `tolerance · (1 + |q|)`. An impact is approached only as closely as a
    /// scheme of order 1 needs: the position error of a step across it is proportional to its length.
    Adaptive {
        /// First step length.
        h: f64,
        /// Tolerance on positions.
        tolerance: f64,
        /// Shortest step; it is taken whatever the estimate says.
        h_min: f64,
        /// Longest step.
        h_max: f64,
    },
}

impl StepControl {
    /// The first or only step length.
    pub fn initial(&self) -> f64 {
        match *self {
            Self::Fixed { h } | Self::Adaptive { h, .. } => h,
        }
    }
}

/// Factor for the next step length from the error in units of the tolerance (local order 2).
pub(crate) fn growth(error: f64) -> f64 {
    if error == 0.0 {
        2.0
    } else {
        (0.9 / error.sqrt()).clamp(0.2, 2.0)
    }
}
