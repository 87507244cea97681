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
    /// A joint whose gradient those before it determine.
    #[error(
        "the joint `{joint}` depends on those before it: their gradients do not tell which positions they allow, and A_ε is not that of a surface"
    )]
    DependentJoints {
        /// Name of the joint.
        joint: String,
    },
    /// The velocity before is not one that the joints allow.
    #[error(
        "the velocity before moves the joints: A and A_ε are those of velocities that the joints allow"
    )]
    AgainstJoints,
    /// No velocity changes the gap.
    #[error(
        "no velocity that the joints allow changes the gap of the contact: it has no normal and no γ"
    )]
    HeldGap,
    /// The velocity before approaches or leaves the contact.
    #[error(
        "the contact {} at {speed:e} of its normal row: A and A_ε are those of a contact that slides, with zero normal velocity",
        if *.speed < 0.0 { "approaches" } else { "opens" }
    )]
    NotSliding {
        /// Normal velocity.
        speed: f64,
    },
    /// At γ = 0 friction may jam the contact along several directions of a section that is no polygon.
    #[error(
        "at γ = 0 friction may jam the contact along several directions of its section, which are followed for polygons only"
    )]
    SeveralJams,
}
