//! From text to graph: precedence climbing with bounded depth, reporting every unknown name.
//!
//! Precedence, loosest first: `or`; `and`; `not`; comparisons; `+ -`; `* /`; sign; `^` (or `**`),
//! which associates to the right and binds tighter than a sign on its left: `-x^2` is −(x²).

mod past_calls;

use std::f64::consts::PI;
use std::ops::Range;

use super::error::{ExpressionError, Mistake};
use super::function::{self, Call};
use super::graph::{Expression, Graph};
use super::nearest::nearest_name;
use super::operation::{Binary, Unary};
use super::scope::{Meaning, Scope};
use super::token::{Kind, Token, tokens};

/// Longest expression text, in bytes.
pub const LENGTH_MAX: usize = 1 << 16;
/// Deepest nesting of parentheses, signs and powers.
pub const DEPTH_MAX: usize = 100;

/// Parses one expression into the graph.
///
/// All unknown names are reported at once; the first mistake of syntax ends the parsing.
pub fn parse(
    text: &str,
    graph: &mut Graph,
    scope: &Scope,
) -> Result<Expression, Vec<ExpressionError>> {
    let everything = 0..text.len();
    let fail = |span, mistake| Err(vec![ExpressionError { span, mistake }]);
    if text.len() > LENGTH_MAX {
        return fail(
            everything,
            Mistake::TooLong {
                length: text.len(),
                limit: LENGTH_MAX,
            },
        );
    }
    let (tokens, errors) = tokens(text);
    if !errors.is_empty() {
        return Err(errors);
    }
    if tokens.len() == 1 {
        return fail(everything, Mistake::Empty);
    }
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
        graph,
        scope,
        errors,
        in_past: false,
    };
    let value = parser.expression(0).and_then(|value| {
        parser.expect_end()?;
        parser.number(&value);
        Ok(value)
    });
    let mut errors = parser.errors;
    match value {
        Ok(value) if errors.is_empty() => match graph.check_size() {
            Ok(()) => Ok(value.expression),
            Err(mistake) => fail(everything, mistake),
        },
        Ok(_) => Err(errors),
        Err(error) => {
            errors.push(error);
            Err(errors)
        }
    }
}

/// Whether a value is a number or a condition; unknown after a mistake, to report it only once.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Condition,
    Unknown,
}

struct Value {
    expression: Expression,
    sort: Sort,
    span: Range<usize>,
    /// A comparison not in parentheses: `a < b < c` is a mistake, `(a < b) == c` another one.
    comparison: bool,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    graph: &'a mut Graph,
    scope: &'a Scope,
    errors: Vec<ExpressionError>,
    /// Whether the arguments of a function of the past are being read.
    in_past: bool,
}

type Parsed<T> = Result<T, ExpressionError>;

impl Parser<'_> {
    fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        // The last token is End and is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn describe(&self, token: &Token) -> String {
        match token.kind {
            Kind::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", &self.text[token.span.clone()]),
        }
    }

    fn unexpected<T>(&self, expected: &'static str) -> Parsed<T> {
        let token = &self.tokens[self.at];
        let found = self.describe(token);
        Err(ExpressionError {
            span: self.visible(token),
            mistake: Mistake::Unexpected { expected, found },
        })
    }

    /// The end of the text has no characters to underline: take the last token before it.
    fn visible(&self, token: &Token) -> Range<usize> {
        if token.kind == Kind::End && self.at > 0 {
            return self.tokens[self.at - 1].span.clone();
        }
        token.span.clone()
    }

    fn expect_end(&mut self) -> Parsed<()> {
        match self.peek() {
            Kind::End => Ok(()),
            Kind::Name | Kind::Number(_) | Kind::Open => {
                let token = self.tokens[self.at].clone();
                let found = self.describe(&token);
                Err(ExpressionError {
                    span: token.span,
                    mistake: Mistake::MissingOperator { found },
                })
            }
            Kind::Close => self.unexpected("an operator (this parenthesis was never opened)"),
            _ => self.unexpected("an operator"),
        }
    }

    fn expression(&mut self, binding: u8) -> Parsed<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let span = self.visible(&self.tokens[self.at].clone());
            return Err(ExpressionError {
                span,
                mistake: Mistake::TooDeep { limit: DEPTH_MAX },
            });
        }
        let mut left = self.prefix()?;
        while let Some((level, right_level)) = binding_power(self.peek()) {
            if level < binding {
                break;
            }
            let operator = self.next();
            if level == COMPARISON && left.comparison {
                return Err(ExpressionError {
                    span: operator.span,
                    mistake: Mistake::ChainedComparison,
                });
            }
            let right = self.expression(right_level)?;
            left = self.combine(operator.kind, left, right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn combine(&mut self, operator: Kind, left: Value, right: Value) -> Value {
        let (operation, sort, swap) = match operator {
            Kind::Plus => (Binary::Add, Sort::Number, false),
            Kind::Minus => (Binary::Subtract, Sort::Number, false),
            Kind::Times => (Binary::Multiply, Sort::Number, false),
            Kind::Over => (Binary::Divide, Sort::Number, false),
            Kind::Caret => (Binary::Power, Sort::Number, false),
            Kind::Less => (Binary::Less, Sort::Condition, false),
            Kind::LessEqual => (Binary::LessEqual, Sort::Condition, false),
            Kind::Greater => (Binary::Less, Sort::Condition, true),
            Kind::GreaterEqual => (Binary::LessEqual, Sort::Condition, true),
            Kind::Equal => (Binary::Equal, Sort::Condition, false),
            Kind::NotEqual => (Binary::NotEqual, Sort::Condition, false),
            Kind::And => (Binary::And, Sort::Condition, false),
            _ => (Binary::Or, Sort::Condition, false),
        };
        let logical = matches!(operation, Binary::And | Binary::Or);
        for side in [&left, &right] {
            if logical {
                self.condition(side);
            } else {
                self.number(side);
            }
        }
        let (a, b) = if swap {
            (right.expression, left.expression)
        } else {
            (left.expression, right.expression)
        };
        Value {
            expression: self.graph.binary(operation, a, b),
            sort,
            span: left.span.start..right.span.end,
            comparison: sort == Sort::Condition && !logical,
        }
    }

    fn prefix(&mut self) -> Parsed<Value> {
        let token = self.tokens[self.at].clone();
        let start = token.span.start;
        match token.kind {
            Kind::Number(value) => {
                self.next();
                let expression = self.graph.constant(value);
                Ok(Value {
                    expression,
                    sort: Sort::Number,
                    span: token.span,
                    comparison: false,
                })
            }
            Kind::Name => self.name(),
            Kind::Minus | Kind::Plus => {
                self.next();
                let value = self.expression(SIGN)?;
                self.number(&value);
                let expression = if token.kind == Kind::Minus {
                    self.graph.negate(value.expression)
                } else {
                    value.expression
                };
                let span = start..value.span.end;
                Ok(Value {
                    expression,
                    sort: Sort::Number,
                    span,
                    comparison: false,
                })
            }
            Kind::Not => {
                self.next();
                let value = self.expression(NOT)?;
                self.condition(&value);
                let expression = self.graph.unary(Unary::Not, value.expression);
                let span = start..value.span.end;
                Ok(Value {
                    expression,
                    sort: Sort::Condition,
                    span,
                    comparison: false,
                })
            }
            Kind::Open => {
                self.next();
                let mut value = self.expression(0)?;
                let close = self.close(&token, "an operator or `)`")?;
                value.comparison = false;
                value.span = start..close.span.end;
                Ok(value)
            }
            _ => self.unexpected("a number, a name or `(`"),
        }
    }

    fn close(&mut self, open: &Token, expected: &'static str) -> Parsed<Token> {
        match self.peek() {
            Kind::Close => Ok(self.next()),
            Kind::End => Err(ExpressionError {
                span: open.span.clone(),
                mistake: Mistake::Unexpected {
                    expected: "a closing `)` for this parenthesis",
                    found: "the end of the expression".to_owned(),
                },
            }),
            Kind::Name | Kind::Number(_) | Kind::Open => {
                self.expect_end()?;
                self.unexpected(expected)
            }
            _ => self.unexpected(expected),
        }
    }

    fn name(&mut self) -> Parsed<Value> {
        let token = self.next();
        let name = &self.text[token.span.clone()];
        if self.peek() == Kind::Open {
            return self.call(name, token.span);
        }
        let unknown = |parser: &mut Self, mistake| {
            parser.errors.push(ExpressionError {
                span: token.span.clone(),
                mistake,
            });
            let expression = parser.graph.constant(f64::NAN);
            Value {
                expression,
                sort: Sort::Unknown,
                span: token.span.clone(),
                comparison: false,
            }
        };
        let past = self.scope.past_operand(name).filter(|_| self.in_past);
        let known = match self.scope.lookup(name) {
            Some(Meaning::Value(expression)) => *expression,
            Some(Meaning::Refused(_)) if past.is_some() => {
                // Looked up above.
                past.unwrap_or_else(|| self.graph.constant(f64::NAN))
            }
            Some(Meaning::Refused(reason)) => {
                let mistake = Mistake::RefusedName {
                    name: name.to_owned(),
                    reason: reason.clone(),
                };
                return Ok(unknown(self, mistake));
            }
            None if name == "pi" => self.graph.constant(PI),
            None if function::lookup(name).is_some() || self.scope.function(name).is_some() => {
                return Ok(unknown(
                    self,
                    Mistake::MissingArguments {
                        name: name.to_owned(),
                    },
                ));
            }
            None => {
                let mistake = self.unknown_name(name);
                return Ok(unknown(self, mistake));
            }
        };
        Ok(Value {
            expression: known,
            sort: Sort::Number,
            span: token.span,
            comparison: false,
        })
    }

    fn unknown_name(&self, name: &str) -> Mistake {
        let nearest = nearest_name(name, self.scope.names().chain(["pi"])).map(str::to_owned);
        let mut names: Vec<&str> = self.scope.names().collect();
        names.truncate(24);
        Mistake::UnknownName {
            name: name.to_owned(),
            nearest,
            known: names.join(", "),
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Parsed<Value> {
        let open = self.next();
        let function = function::lookup(name).map(|function| function.call);
        let of_past = matches!(function, Some(Call::Past(_)));
        let outside = std::mem::replace(&mut self.in_past, of_past);
        let mut arguments = Vec::new();
        if self.peek() != Kind::Close {
            arguments.push(self.expression(0)?);
            while self.peek() == Kind::Comma {
                self.next();
                arguments.push(self.expression(0)?);
            }
        }
        self.in_past = outside;
        let close = self.close(&open, "an operator, `,` or `)`")?;
        let whole = span.start..close.span.end;
        let result = self.apply(name, &arguments);
        let (expression, sort) = result.unwrap_or_else(|mistake| {
            let place = match mistake {
                Mistake::ArgumentCount { .. } => whole.clone(),
                _ => span,
            };
            self.errors.push(ExpressionError {
                span: place,
                mistake,
            });
            (self.graph.constant(f64::NAN), Sort::Unknown)
        });
        Ok(Value {
            expression,
            sort,
            span: whole,
            comparison: false,
        })
    }

    fn apply(&mut self, name: &str, arguments: &[Value]) -> Result<(Expression, Sort), Mistake> {
        if let Some(function) = self.scope.function(name) {
            let [argument] = arguments else {
                return Err(Mistake::ArgumentCount {
                    name: name.to_owned(),
                    expected: "1 argument",
                    found: arguments.len(),
                });
            };
            self.number(argument);
            let value = self.graph.sampled(function, 0, argument.expression);
            return Ok((value, Sort::Number));
        }
        let Some(function) = function::lookup(name) else {
            return Err(self.unknown_function(name));
        };
        if let Call::Past(functional) = function.call {
            return self.past(functional, name, arguments);
        }
        let found = arguments.len();
        let count = |expected| Mistake::ArgumentCount {
            name: name.to_owned(),
            expected,
            found,
        };
        let e = |k: usize| arguments[k].expression;
        let first_is_condition = usize::from(function.call == Call::Select);
        for argument in arguments.iter().skip(first_is_condition) {
            self.number(argument);
        }
        let value = match function.call {
            Call::Unary(operation) if found == 1 => self.graph.unary(operation, e(0)),
            Call::Unary(_) => return Err(count("1 argument")),
            Call::Binary(operation) if found == 2 => self.graph.binary(operation, e(0), e(1)),
            Call::Binary(_) => return Err(count("2 arguments")),
            Call::Fold(operation) if found >= 2 => {
                (1..found).fold(e(0), |value, k| self.graph.binary(operation, value, e(k)))
            }
            Call::Fold(_) => return Err(count("2 arguments or more")),
            Call::Select if found == 3 => {
                self.condition(&arguments[0]);
                self.graph.select(e(0), e(1), e(2))
            }
            Call::Select => return Err(count("3 arguments")),
            // Taken care of above.
            Call::Past(_) => self.graph.constant(f64::NAN),
        };
        Ok((value, Sort::Number))
    }

    fn unknown_function(&self, name: &str) -> Mistake {
        let name = name.to_owned();
        if self.scope.lookup(&name).is_some() || name == "pi" {
            return Mistake::NotAFunction { name };
        }
        let nearest = function::lookup_foreign(&name)
            .or_else(|| {
                let known = function::functions().iter().map(|f| f.name);
                nearest_name(&name, known.chain(self.scope.functions()))
            })
            .map(str::to_owned);
        Mistake::UnknownFunction { name, nearest }
    }

    fn number(&mut self, value: &Value) {
        if value.sort == Sort::Condition {
            let span = value.span.clone();
            self.errors.push(ExpressionError {
                span,
                mistake: Mistake::NumberExpected,
            });
        }
    }

    fn condition(&mut self, value: &Value) {
        if value.sort == Sort::Number {
            let span = value.span.clone();
            self.errors.push(ExpressionError {
                span,
                mistake: Mistake::ConditionExpected,
            });
        }
    }
}

const NOT: u8 = 5;
const COMPARISON: u8 = 7;
const SIGN: u8 = 13;

/// Binding power of an operator on its left side, and the least power its right side may have.
fn binding_power(kind: Kind) -> Option<(u8, u8)> {
    Some(match kind {
        Kind::Or => (1, 2),
        Kind::And => (3, 4),
        Kind::Less
        | Kind::LessEqual
        | Kind::Greater
        | Kind::GreaterEqual
        | Kind::Equal
        | Kind::NotEqual => (COMPARISON, COMPARISON + 1),
        Kind::Plus | Kind::Minus => (9, 10),
        Kind::Times | Kind::Over => (11, 12),
        // The right side may start with a sign: 2^-x. It takes further powers with it.
        Kind::Caret => (15, 15),
        _ => return None,
    })
}
