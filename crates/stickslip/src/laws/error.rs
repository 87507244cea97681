//! What is wrong with a law.

/// Why a law of contact, friction or impact was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LawError {
    /// A coefficient, semi-axis or factor is negative or not finite.
    #[error("friction coefficient {value} is negative or not finite")]
    Coefficient {
        /// The value given.
        value: f64,
    },
    /// The interval does not contain 0, or an end is not a number.
    #[error("friction interval [{lower}, {upper}] does not contain 0")]
    Interval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// An entry of the matrix of an ellipse is not finite.
    #[error("entry ({row}, {column}) of the friction ellipse is {value}")]
    EllipseNotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The value given.
        value: f64,
    },
    /// A polytope needs at least one vertex with at least one coordinate.
    #[error("a friction polytope needs at least one vertex")]
    NoVertices,
    /// A vertex has another number of coordinates than the first one.
    #[error("vertex {index} has {found} coordinates, the first one has {expected}")]
    VertexDimension {
        /// Index of the vertex.
        index: usize,
        /// Coordinates of the first vertex.
        expected: usize,
        /// Coordinates of this vertex.
        found: usize,
    },
    /// A vertex is not finite.
    #[error("vertex {index} has the coordinate {value}")]
    VertexNotFinite {
        /// Index of the vertex.
        index: usize,
        /// The coordinate.
        value: f64,
    },
    /// The set does not contain 0: friction could drive the contact.
    #[error("the friction set does not contain 0, it is {distance} away")]
    OriginOutside {
        /// Distance from 0 to the set.
        distance: f64,
    },
    /// The section has no tangential direction where one is needed.
    #[error("part {index} of a friction section has no tangential direction")]
    EmptyPart {
        /// Index of the part.
        index: usize,
    },
    /// The coefficient took a value that no friction set can have.
    #[error("friction coefficient {value} at time {time} is negative or not finite")]
    CoefficientAt {
        /// The value of the coefficient.
        value: f64,
        /// The time at which it was evaluated.
        time: f64,
    },
    /// The restitution coefficient is not a number in [0, 1].
    #[error("restitution {restitution} is not in [0, 1]")]
    RestitutionOutOfRange {
        /// The value given.
        restitution: f64,
    },
    /// A number of a compliant contact that must be positive is not.
    #[error("{what} is {value}, expected a positive finite number")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The damping ratio is not in [0, 1).
    #[error("damping ratio {value} is not in [0, 1)")]
    DampingRatio {
        /// Its value.
        value: f64,
    },
}
