//! Why a world was refused.

use thiserror::Error;

use super::fill::TRIES;

/// A world is not acceptable; every variant names the culprit.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WorldError {
    /// A world without bodies.
    #[error("the world has no bodies")]
    Empty,
    /// Two bodies have one name.
    #[error("two bodies are named `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A value is NaN or infinite.
    #[error("body `{body}`: {what} is {value}, expected a finite number")]
    NonFinite {
        /// Body.
        body: String,
        /// What is not finite.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A mass, moment or size is not positive.
    #[error("body `{body}`: {what} is {value}, expected a positive number")]
    NotPositive {
        /// Body.
        body: String,
        /// What is not positive.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// No body has such moments.
    #[error(
        "body `{body}`: no body has the moments {inertia:?}, the largest exceeds the sum of the others"
    )]
    Moments {
        /// Body.
        body: String,
        /// Its principal moments.
        inertia: [f64; 3],
    },
    /// A quaternion is not of length one.
    #[error("body `{body}`: the quaternion has length {length}, expected 1")]
    Quaternion {
        /// Body.
        body: String,
        /// Its length.
        length: f64,
    },
    /// A body that leaves the plane in a planar world.
    #[error("body `{body}`: {what} leaves the plane of the world")]
    OutOfPlane {
        /// Body.
        body: String,
        /// What leaves the plane.
        what: &'static str,
    },
    /// A shape that only fixed and driven bodies can have.
    #[error("body `{body}`: a {shape} has no mass, the body must be fixed or driven")]
    FreeObstacle {
        /// Body.
        body: String,
        /// The shape.
        shape: &'static str,
    },
    /// A shape that no body can have.
    #[error("body `{body}`: {error}")]
    Shape {
        /// Body.
        body: String,
        /// What is wrong with its shape.
        error: super::ShapeError,
    },
    /// A material that does not exist.
    #[error("body `{body}`: material number {material}, there are {count}")]
    Material {
        /// Body.
        body: String,
        /// Its material.
        material: u32,
        /// Number of materials.
        count: usize,
    },
    /// Two materials that can meet have no law.
    #[error("no law between the materials `{}` and `{}`", between[0], between[1])]
    NoLaw {
        /// The materials.
        between: [String; 2],
    },
    /// A law that worlds do not compute.
    #[error("materials `{}` and `{}`: {reason}", between[0], between[1])]
    Law {
        /// The materials.
        between: [String; 2],
        /// What is not possible.
        reason: &'static str,
    },
    /// The friction section has the wrong dimension.
    #[error("materials `{}` and `{}`: the friction section has dimension {found}, expected {expected}", between[0], between[1])]
    SectionDimension {
        /// The materials.
        between: [String; 2],
        /// Dimension found.
        found: usize,
        /// Dimension expected.
        expected: usize,
    },
    /// Gravity, slop or another number of the world is not valid.
    #[error("{what} is {value}, expected {expected}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// A declared pair that is not a ball against a ball or a half-space.
    #[error("pair `{}`|`{}`: {reason}", between[0], between[1])]
    Pair {
        /// The bodies.
        between: [String; 2],
        /// Why it was refused.
        reason: &'static str,
    },
    /// A fill without shapes to choose from.
    #[error("there is no shape to fill with")]
    NoShape,
    /// A fill with a shape that has no volume.
    #[error("{kind} has no volume to fill with")]
    NoVolume {
        /// Its kind.
        kind: &'static str,
    },
    /// A fill with a shape that cannot be.
    #[error(transparent)]
    FillShape(#[from] super::ShapeError),
    /// More bodies than a fill may have.
    #[error("more than {most} bodies")]
    TooMany {
        /// As many are allowed.
        most: usize,
    },
    /// A region without place for another body.
    #[error(
        "the region is full after {placed} of {wanted} bodies: no place for another was found in {TRIES} tries"
    )]
    Full {
        /// Bodies that found a place.
        placed: usize,
        /// Bodies wanted.
        wanted: usize,
    },
}
