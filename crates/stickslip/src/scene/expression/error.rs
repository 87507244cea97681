//! Mistakes in an expression, with their place.

use std::ops::Range;

/// One mistake in an expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{mistake}")]
pub struct ExpressionError {
    /// Bytes of the expression text the mistake is about.
    pub span: Range<usize>,
    /// What is wrong.
    #[source]
    pub mistake: Mistake,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mistake {
    /// The text is longer than allowed.
    #[error("the expression has {length} bytes, more than the {limit} allowed")]
    TooLong {
        /// Bytes found.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Parentheses, powers or signs nested too deeply.
    #[error("the expression is nested more than {limit} levels deep")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
    /// The scene as a whole needs too many operations.
    #[error("the expressions of the scene need more than {limit} operations")]
    TooLarge {
        /// Operations allowed.
        limit: usize,
    },
    /// Nothing but blanks.
    #[error("the expression is empty")]
    Empty,
    /// A character that starts no token.
    #[error("unexpected character `{character}`")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// Digits that form no number.
    #[error("`{text}` is not a number")]
    BadNumber {
        /// The digits.
        text: String,
    },
    /// A token in the wrong place.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What could stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// Two values side by side.
    #[error("expected an operator before {found}")]
    MissingOperator {
        /// The second value.
        found: String,
    },
    /// A name nobody defined.
    #[error("unknown name `{name}`")]
    UnknownName {
        /// The name.
        name: String,
        /// A known name that resembles it.
        nearest: Option<String>,
        /// Names that may be used here, comma separated.
        known: String,
    },
    /// A known name that may not be used here.
    #[error("`{name}` {reason}")]
    RefusedName {
        /// The name.
        name: String,
        /// Why.
        reason: String,
    },
    /// A call of a function that does not exist.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// A function that resembles it.
        nearest: Option<String>,
    },
    /// The past of something that is not kept.
    #[error("`{name}` reads the past of {expected}")]
    PastOperand {
        /// The function.
        name: String,
        /// What could stand here.
        expected: &'static str,
    },
    /// A delay or window that is not a positive constant.
    #[error("the last argument of `{name}` must be a positive constant: a time, in seconds")]
    PastLength {
        /// The function.
        name: String,
    },
    /// An argument of a functional of the past that does not fit.
    #[error("`{name}` expects {expected} here")]
    PastArgument {
        /// The function.
        name: String,
        /// What could stand here.
        expected: &'static str,
    },
    /// A value called like a function.
    #[error("`{name}` is a value, not a function")]
    NotAFunction {
        /// The name.
        name: String,
    },
    /// A function name without its arguments.
    #[error("`{name}` is a function and needs its arguments in parentheses")]
    MissingArguments {
        /// The function.
        name: String,
    },
    /// Too few or too many arguments.
    #[error("`{name}` takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        name: String,
        /// Number it takes, in words.
        expected: &'static str,
        /// Number given.
        found: usize,
    },
    /// A number where a condition belongs.
    #[error("expected a condition, found a number")]
    ConditionExpected,
    /// A condition where a number belongs.
    #[error("expected a number, found a condition")]
    NumberExpected,
    /// `a < b < c`.
    #[error("comparisons cannot be chained")]
    ChainedComparison,
}

impl Mistake {
    /// Advice on how to mend the mistake.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::UnexpectedCharacter { character: '=' } => "write `==` to compare".to_owned(),
            Self::UnexpectedCharacter { character: '&' } => "write `and`".to_owned(),
            Self::UnexpectedCharacter { character: '|' } => {
                "write `or`, or `abs(a)` for an absolute value".to_owned()
            }
            Self::UnexpectedCharacter { character: '!' } => {
                "write `not`, or `!=` to compare".to_owned()
            }
            Self::UnexpectedCharacter {
                character: '[' | '{',
            } => "write parentheses `( )`".to_owned(),
            Self::UnexpectedCharacter { character: '\'' } => {
                "a prime follows a coordinate directly: `x'` is the velocity of `x`".to_owned()
            }
            Self::UnexpectedCharacter { character } if !character.is_ascii() => {
                "expressions are written in ASCII: `theta`, `sqrt(2)`, `x^2`".to_owned()
            }
            Self::MissingOperator { .. } => "write a product as `a*b`".to_owned(),
            Self::UnknownName {
                nearest: Some(nearest),
                ..
            }
            | Self::UnknownFunction {
                nearest: Some(nearest),
                ..
            } => {
                format!("did you mean `{nearest}`?")
            }
            Self::UnknownName {
                nearest: None,
                known,
                ..
            } if !known.is_empty() => {
                format!("known here: {known}")
            }
            Self::UnknownFunction { nearest: None, .. } => {
                let names: Vec<&str> = super::functions().iter().map(|f| f.name).collect();
                format!("known functions: {}", names.join(", "))
            }
            Self::NotAFunction { name } => format!("write a product as `{name}*(...)`"),
            Self::PastOperand { name, .. }
            | Self::PastArgument { name, .. }
            | Self::PastLength { name } => super::function::lookup(name)?.description.to_owned(),
            Self::MissingArguments { name } => {
                super::function::lookup(name)?.description.to_owned()
            }
            Self::ArgumentCount { name, .. } => {
                super::function::lookup(name)?.description.to_owned()
            }
            Self::ConditionExpected => "a condition compares numbers, as in `x > 0`".to_owned(),
            Self::NumberExpected => {
                "`if(condition, 1, 0)` turns a condition into a number".to_owned()
            }
            Self::ChainedComparison => "write `a < b and b < c`".to_owned(),
            _ => return None,
        })
    }
}
