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

const fn unary(name: &'static str, operation: Unary, description: &'static str) -> Function {
    Function {
        name,
        description,
        call: Call::Unary(operation),
    }
}

const fn binary(name: &'static str, operation: Binary, description: &'static str) -> Function {
    Function {
        name,
        description,
        call: Call::Binary(operation),
    }
}

const fn past(name: &'static str, functional: Functional, description: &'static str) -> Function {
    Function {
        name,
        description,
        call: Call::Past(functional),
    }
}

const FUNCTIONS: &[Function] = &[
    unary("sin", Unary::Sin, "sin(a): sine, a in radians"),
    unary("cos", Unary::Cos, "cos(a): cosine, a in radians"),
    unary("tan", Unary::Tan, "tan(a): tangent, a in radians"),
    unary("asin", Unary::Asin, "asin(a): inverse sine"),
    unary("acos", Unary::Acos, "acos(a): inverse cosine"),
    unary("atan", Unary::Atan, "atan(a): inverse tangent"),
    binary(
        "atan2",
        Binary::Atan2,
        "atan2(y, x): angle of the point (x, y)",
    ),
    unary("sinh", Unary::Sinh, "sinh(a): hyperbolic sine"),
    unary("cosh", Unary::Cosh, "cosh(a): hyperbolic cosine"),
    unary("tanh", Unary::Tanh, "tanh(a): hyperbolic tangent"),
    unary("exp", Unary::Exp, "exp(a): exponential"),
    unary("log", Unary::Log, "log(a): natural logarithm"),
    unary("sqrt", Unary::Sqrt, "sqrt(a): square root"),
    unary("abs", Unary::Abs, "abs(a): absolute value"),
    unary("sign", Unary::Sign, "sign(a): -1, 0 or 1"),
    Function {
        name: "min",
        description: "min(a, b, ...): smallest",
        call: Call::Fold(Binary::Min),
    },
    Function {
        name: "max",
        description: "max(a, b, ...): largest",
        call: Call::Fold(Binary::Max),
    },
    binary(
        "hypot",
        Binary::Hypot,
        "hypot(a, b): square root of a^2 + b^2",
    ),
    binary("pow", Binary::Power, "pow(a, b): a^b"),
    Function {
        name: "if",
        description: "if(condition, a, b): a where the condition holds, else b",
        call: Call::Select,
    },
    past(
        "delay",
        Functional::Delay,
        "delay(x, tau): x, x' or an expression of them the constant time tau ago",
    ),
    past(
        "window_max",
        Functional::Maximum,
        "window_max(x, T): largest x, or expression of coordinates, of the last T",
    ),
    past(
        "window_min",
        Functional::Minimum,
        "window_min(x, T): smallest x, or expression of coordinates, of the last T",
    ),
    past(
        "window_mean",
        Functional::Mean,
        "window_mean(x, T): mean of x over the last T",
    ),
    past(
        "window_integral",
        Functional::Integral,
        "window_integral(x, T): integral of x over the last T",
    ),
    past(
        "deviation_from_rest",
        Functional::Deviation,
        "deviation_from_rest(x, ..., T): largest distance from the present place in the last T",
    ),
    past(
        "varying_delay",
        Functional::VaryingDelay,
        "varying_delay(x, tau, min, max): x the time tau ago, tau an expression of t and coordinates between the constants min and max",
    ),
    past(
        "fading_integral",
        Functional::Fading,
        "fading_integral(x, T, rate): integral of x over the last T with the weight exp(-rate*age)",
    ),
    past(
        "weighted_integral",
        Functional::Weighted,
        "weighted_integral(x, T, k): integral of x over the last T with the weight k, an expression in which t is the age",
    ),
];

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
