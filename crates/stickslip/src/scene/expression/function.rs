//! The functions an expression may call.

use super::operation::{Binary, Unary};
use super::past::Functional;

/// What a function name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// One operand.
    Unary(Unary),
    /// Two operands.
    Binary(Binary),
    /// Two or more operands, folded from the left.
    Fold(Binary),
    /// `if(condition, then, otherwise)`.
    Select,
    /// A value of the past motion.
    Past(Functional),
}

/// A function that expressions may call: its name and a line of documentation.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Name as written in an expression.
    pub name: &'static str,
    /// Signature and meaning, one line.
    pub description: &'static str,
    pub(super) call: Call,
}

/// The table of functions: name, call, description.
macro_rules! functions {
    ($($name:literal = $call:expr, $description:literal;)+) => {
        &[$(Function { name: $name, description: $description, call: $call }),+]
    };
}

const FUNCTIONS: &[Function] = functions! {
    "sin" = Call::Unary(Unary::Sin), "sin(a): sine, a in radians";
    "cos" = Call::Unary(Unary::Cos), "cos(a): cosine, a in radians";
    "tan" = Call::Unary(Unary::Tan), "tan(a): tangent, a in radians";
    "asin" = Call::Unary(Unary::Asin), "asin(a): inverse sine";
    "acos" = Call::Unary(Unary::Acos), "acos(a): inverse cosine";
    "atan" = Call::Unary(Unary::Atan), "atan(a): inverse tangent";
    "atan2" = Call::Binary(Binary::Atan2), "atan2(y, x): angle of the point (x, y)";
    "sinh" = Call::Unary(Unary::Sinh), "sinh(a): hyperbolic sine";
    "cosh" = Call::Unary(Unary::Cosh), "cosh(a): hyperbolic cosine";
    "tanh" = Call::Unary(Unary::Tanh), "tanh(a): hyperbolic tangent";
    "exp" = Call::Unary(Unary::Exp), "exp(a): exponential";
    "log" = Call::Unary(Unary::Log), "log(a): natural logarithm";
    "sqrt" = Call::Unary(Unary::Sqrt), "sqrt(a): square root";
    "abs" = Call::Unary(Unary::Abs), "abs(a): absolute value";
    "sign" = Call::Unary(Unary::Sign), "sign(a): -1, 0 or 1";
    "min" = Call::Fold(Binary::Min), "min(a, b, ...): smallest";
    "max" = Call::Fold(Binary::Max), "max(a, b, ...): largest";
    "hypot" = Call::Binary(Binary::Hypot), "hypot(a, b): square root of a^2 + b^2";
    "pow" = Call::Binary(Binary::Power), "pow(a, b): a^b";
    "if" = Call::Select, "if(condition, a, b): a where the condition holds, else b";
    "delay" = Call::Past(Functional::Delay), "delay(x, tau): x, x' or an expression of them the constant time tau ago";
    "window_max" = Call::Past(Functional::Maximum),
        "window_max(x, T): largest x, or expression of coordinates, of the last T";
    "window_min" = Call::Past(Functional::Minimum),
        "window_min(x, T): smallest x, or expression of coordinates, of the last T";
    "window_mean" = Call::Past(Functional::Mean), "window_mean(x, T): mean of x over the last T";
    "window_integral" = Call::Past(Functional::Integral), "window_integral(x, T): integral of x over the last T";
    "deviation_from_rest" = Call::Past(Functional::Deviation),
        "deviation_from_rest(x, ..., T): largest distance from the present place in the last T";
    "varying_delay" = Call::Past(Functional::VaryingDelay),
        "varying_delay(x, tau, min, max): x the time tau ago, tau an expression of t and coordinates between the constants min and max";
    "fading_integral" = Call::Past(Functional::Fading),
        "fading_integral(x, T, rate): integral of x over the last T with the weight exp(-rate*age)";
    "weighted_integral" = Call::Past(Functional::Weighted),
        "weighted_integral(x, T, k): integral of x over the last T with the weight k, an expression in which t is the age";
};

/// Names of other languages for functions we have under another name.
const FOREIGN: &[(&str, &str)] = &[
    ("ln", "log"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("fabs", "abs"),
    ("sgn", "sign"),
    ("power", "pow"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("where", "if"),
];

/// Every function an expression may call.
#[must_use]
pub fn functions() -> &'static [Function] {
    FUNCTIONS
}

pub(super) fn lookup(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

pub(super) fn lookup_foreign(name: &str) -> Option<&'static str> {
    FOREIGN
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, ours)| *ours)
}
