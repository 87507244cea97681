//! What studies refuse.

use thiserror::Error;

/// Why a study was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StudyError {
    /// Fewer than two values, or values that are not positive and different.
    #[error("a convergence study needs at least two different positive values, found {found:?}")]
    Values {
        /// The values.
        found: Vec<f64>,
    },
    /// A result has another length than the reference.
    #[error("the result for {value} has {found} numbers, the reference {expected}")]
    Length {
        /// Step or compliance time.
        value: f64,
        /// Length found.
        found: usize,
        /// Length of the reference.
        expected: usize,
    },
    /// Not exactly one contact with friction is active.
    #[error(
        "the sets A and A_ε are those of one active contact with friction; {blocks} blocks are active here"
    )]
    NotOneContact {
        /// Active blocks.
        blocks: usize,
    },
    /// The friction section is unbounded, against (H3).
    #[error("the friction set of the contact is unbounded: hypothesis (H3) of Theorem 1 fails")]
    Unbounded,
}
