//! The elementary operations and their values: one definition for folding and for the tape.

/// An operation with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// −a
    Negate,
    /// sine of an angle in radians
    Sin,
    /// cosine of an angle in radians
    Cos,
    /// tangent of an angle in radians
    Tan,
    /// inverse sine
    Asin,
    /// inverse cosine
    Acos,
    /// inverse tangent
    Atan,
    /// hyperbolic sine
    Sinh,
    /// hyperbolic cosine
    Cosh,
    /// hyperbolic tangent
    Tanh,
    /// exponential
    Exp,
    /// natural logarithm
    Log,
    /// square root
    Sqrt,
    /// absolute value
    Abs,
    /// −1, 0 or 1; sign(0) = 0
    Sign,
    /// logical negation of a condition
    Not,
}

/// An operation with two operands. Conditions are the numbers 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// a + b
    Add,
    /// a − b
    Subtract,
    /// a b
    Multiply,
    /// a / b
    Divide,
    /// a to the power b
    Power,
    /// angle of the point (b, a)
    Atan2,
    /// the smaller
    Min,
    /// the larger
    Max,
    /// √(a² + b²)
    Hypot,
    /// a < b
    Less,
    /// a ≤ b
    LessEqual,
    /// a = b
    Equal,
    /// a ≠ b
    NotEqual,
    /// both conditions
    And,
    /// at least one condition
    Or,
}

impl Unary {
    /// Value at `a`.
    #[inline(always)]
    #[must_use]
    pub fn apply(self, a: f64) -> f64 {
        match self {
            Self::Negate => -a,
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Tan => a.tan(),
            Self::Asin => a.asin(),
            Self::Acos => a.acos(),
            Self::Atan => a.atan(),
            Self::Sinh => a.sinh(),
            Self::Cosh => a.cosh(),
            Self::Tanh => a.tanh(),
            Self::Exp => a.exp(),
            Self::Log => a.ln(),
            Self::Sqrt => a.sqrt(),
            Self::Abs => a.abs(),
            Self::Sign => sign(a),
            Self::Not => condition(a == 0.0),
        }
    }
}

impl Binary {
    /// Value at `(a, b)`.
    #[inline(always)]
    #[must_use]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
            Self::Atan2 => a.atan2(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Hypot => a.hypot(b),
            Self::Less => condition(a < b),
            Self::LessEqual => condition(a <= b),
            Self::Equal => condition(a == b),
            Self::NotEqual => condition(a != b),
            Self::And => condition(a != 0.0 && b != 0.0),
            Self::Or => condition(a != 0.0 || b != 0.0),
        }
    }

    /// Whether exchanging the operands changes nothing, not even a rounding.
    #[must_use]
    pub fn is_commutative(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Multiply | Self::Equal | Self::NotEqual | Self::And | Self::Or
        )
    }
}

#[inline(always)]
fn condition(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[inline(always)]
fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        // Keeps a NaN a NaN; sign(±0) = 0.
        a * 0.0
    }
}
