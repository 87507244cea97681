//! Why a system was refused.

use thiserror::Error;

use crate::quantity::{digits, typed};

/// A system or its initial state is not acceptable; every variant names the culprit.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SystemError {
    /// A system without coordinates.
    #[error("the system has no coordinates")]
    Empty,
    /// Neither mass matrix nor kinetic energy was given.
    #[error("the system has no mass: give a mass matrix or a kinetic energy")]
    MissingMass,
    /// A vector or matrix has the wrong size.
    #[error("{what} has {found} entries, expected {expected}")]
    Dimension {
        /// What has the wrong size.
        what: String,
        /// Size found.
        found: usize,
        /// Size expected.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what} is {value}, expected a finite number")]
    NonFinite {
        /// What is not finite.
        what: String,
        /// Its value.
        value: f64,
    },
    /// The mass matrix is not symmetric.
    #[error("{what} is not symmetric: |a_ij - a_ji| reaches {} of the largest entry", digits(*asymmetry, 4))]
    NotSymmetric {
        /// Which matrix.
        what: String,
        /// Largest relative asymmetry.
        asymmetry: f64,
    },
    /// The mass matrix is not positive definite.
    #[error(
        "the mass matrix is not positive definite at the initial configuration: pivot of `{coordinate}` is not positive"
    )]
    NotPositiveDefinite {
        /// Coordinate of the failing pivot.
        coordinate: String,
    },
    /// K or C has a negative direction.
    #[error("the {what} matrix is not positive semidefinite")]
    NotSemidefinite {
        /// Which matrix.
        what: &'static str,
    },
    /// A gap has no direction to act in.
    #[error(
        "constraint `{constraint}`: the gradient of the gap vanishes at the initial configuration"
    )]
    VanishingGradient {
        /// Constraint.
        constraint: String,
    },
    /// A constraint has no contact point.
    #[error("constraint `{constraint}` has no contact point")]
    NoContactPoint {
        /// Constraint.
        constraint: String,
    },
    /// The friction section has another dimension than the frame.
    #[error(
        "constraint `{constraint}`: the friction set has dimension {section}, the frame has {tangents} tangents"
    )]
    FrictionDimension {
        /// Constraint.
        constraint: String,
        /// Dimension of the friction section.
        section: usize,
        /// Number of tangent rows.
        tangents: usize,
    },
    /// The initial configuration violates a constraint.
    #[error(
        "constraint `{constraint}` is violated at the start: gap {}, tolerance {}",
        typed(*gap, 7),
        typed(*tolerance, 2)
    )]
    InitialPenetration {
        /// Constraint.
        constraint: String,
        /// Gap found.
        gap: f64,
        /// Tolerance.
        tolerance: f64,
    },
    /// The initial configuration does not satisfy a joint.
    #[error(
        "joint `{joint}` is not closed at the start: value {}, tolerance {}",
        typed(*value, 7),
        typed(*tolerance, 2)
    )]
    OpenJoint {
        /// Joint.
        joint: String,
        /// Value found.
        value: f64,
        /// Tolerance.
        tolerance: f64,
    },
    /// Two parts share a name.
    #[error("two {what} are called `{name}`")]
    DuplicateName {
        /// Kind of the parts.
        what: &'static str,
        /// The shared name.
        name: String,
    },
}
