//! What the names in an expression mean.

use std::collections::BTreeMap;

use super::graph::Expression;

/// Meaning of one name.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Stands for this expression.
    Value(Expression),
    /// A known name that has no place here, with the reason as the end of a sentence.
    Refused(String),
}

/// The names an expression may use.
///
/// Names that exist but do not belong here (a velocity inside a gap) are entered with
/// [`Scope::refuse`], so that the message can say why instead of "unknown".
#[derive(Clone, Debug, Default)]
pub struct Scope {
    names: BTreeMap<String, Meaning>,
    functions: BTreeMap<String, u16>,
    past_operands: BTreeMap<String, Expression>,
    coordinates_with_past: Option<usize>,
}

impl Scope {
    /// A scope that knows only the constant `pi` (built into the parser) and the functions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `name` stand for `expression`.
    pub fn define(&mut self, name: impl Into<String>, expression: Expression) {
        self.names.insert(name.into(), Meaning::Value(expression));
    }

    /// Makes `name` known but refused; `reason` completes the sentence "`name` …".
    pub fn refuse(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.names
            .insert(name.into(), Meaning::Refused(reason.into()));
    }

    /// Lets expressions call a sampled function of the graph by a name.
    pub fn define_function(&mut self, name: impl Into<String>, function: u16) {
        self.functions.insert(name.into(), function);
    }

    /// The sampled function of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<u16> {
        self.functions.get(name).copied()
    }

    /// Names of the sampled functions, in alphabetical order.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Lets expressions read the past of the first `coordinates` inputs after input 0 and of as many
    /// velocities after them.
    pub fn allow_past(&mut self, coordinates: usize) {
        self.coordinates_with_past = Some(coordinates);
    }

    /// Lets `name` stand for `expression` where its past is read, even if its present is refused.
    pub fn define_past_operand(&mut self, name: impl Into<String>, expression: Expression) {
        self.past_operands.insert(name.into(), expression);
    }

    pub(super) fn past_operand(&self, name: &str) -> Option<Expression> {
        self.past_operands.get(name).copied()
    }

    pub(super) fn coordinates_with_past(&self) -> Option<usize> {
        self.coordinates_with_past
    }

    /// The meaning of `name`, if it has one.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<&Meaning> {
        self.names.get(name)
    }

    /// All names that may be used, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names
            .iter()
            .filter(|(_, meaning)| matches!(meaning, Meaning::Value(_)))
            .map(|(name, _)| name.as_str())
    }
}
