//! Second step of decoding: names get their meaning and texts become expressions.

use std::fmt::Display;
use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::expression::{
    Expression, ExpressionError, Graph, SampledFunction, Scope, functions, parse,
};
use super::facts::DataRead;
use super::key_kinds::Variables;
use super::source::SourceText;
use super::value::{Data, Entry, Table, Value};

/// Collects mistakes while values are read.
pub(super) struct Reader<'a> {
    pub source: &'a SourceText,
    pub diagnostics: Vec<Diagnostic>,
    pub graph: Graph,
    pub names: Names,
    scopes: [Scope; 8],
    /// What expressions of elastic bodies and worlds tell.
    pub data: DataRead,
}

/// The names of a scene, with the place where each was given.
#[derive(Default)]
pub(super) struct Names {
    taken: Vec<(String, &'static str)>,
    pub coordinates: Vec<String>,
}

const ALL: [Variables; 8] = [
    Variables::Parameters,
    Variables::Position,
    Variables::PositionTime,
    Variables::Motion,
    Variables::State,
    Variables::Friction,
    Variables::Force,
    Variables::Time,
];

/// What an expression depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    pub time: bool,
    pub position: bool,
    pub velocity: bool,
    pub past: bool,
    /// Outputs of controllers.
    pub held: bool,
}

impl Variables {
    fn index(self) -> usize {
        // ALL is in the order of the enumeration.
        self as usize
    }

    fn allows(self, dependence: Dependence) -> bool {
        let (time, position, velocity, past) = match self {
            Self::Parameters => (false, false, false, false),
            Self::Position => (false, true, false, false),
            Self::PositionTime => (true, true, false, false),
            Self::Motion => (false, true, true, false),
            Self::State => (true, true, true, false),
            Self::Friction => (true, true, false, true),
            Self::Force => (true, true, true, true),
            Self::Time => (true, false, false, false),
        };
        (time || !dependence.time)
            && (position || !dependence.position)
            && (velocity || !dependence.velocity)
            && (past || !dependence.past)
            && (self == Self::Force || !dependence.held)
    }

    /// Completes "`x` is a coordinate, …".
    fn limit(self) -> &'static str {
        match self {
            Self::Parameters => "and this value is a constant: only parameters may stand here",
            Self::Position => "and this value depends on coordinates and parameters only",
            Self::PositionTime => "and this value depends on time, coordinates and parameters only",
            Self::Motion => "and this value depends on coordinates, velocities and parameters only",
            Self::State => "and this value depends on the present state only",
            Self::Friction => {
                "and this value depends on time, coordinates, parameters and the past only"
            }
            Self::Force => "",
            Self::Time => "and this value depends on time and parameters only",
        }
    }
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a SourceText, diagnostics: Vec<Diagnostic>) -> Self {
        let mut reader = Self {
            source,
            diagnostics,
            graph: Graph::new(),
            names: Names::default(),
            scopes: std::array::from_fn(|_| Scope::new()),
            data: DataRead::default(),
        };
        let time = reader.graph.input(0);
        let dependence = Dependence {
            time: true,
            ..Dependence::default()
        };
        reader.define("t", time, dependence, "the time");
        reader
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a mistake, for which there is no value.
    pub fn refuse<T>(&mut self, span: &Range<usize>, message: impl Into<String>) -> Option<T> {
        self.report(Diagnostic::at(span.clone(), message));
        None
    }

    /// Reports a mistake with advice, for which there is no value.
    pub fn refuse_with<T>(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.report(Diagnostic::at(span.clone(), message).with_help(help));
        None
    }

    /// Reports keys that have no meaning where they are given.
    pub fn refuse_keys(
        &mut self,
        table: &Table,
        keys: &[&str],
        message: impl Fn(&str) -> String,
        help: &str,
    ) {
        for entry in keys.iter().filter_map(|key| table.get(key)) {
            let diagnostic = Diagnostic::at(entry.name_span.clone(), message(&entry.name));
            self.report(diagnostic.with_help(help));
        }
    }

    /// What was made; otherwise why not is reported.
    pub fn made<T>(&mut self, span: &Range<usize>, made: Result<T, impl Display>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => self.refuse(span, error.to_string()),
        }
    }

    /// Number of coordinates.
    pub fn dof(&self) -> usize {
        self.names.coordinates.len()
    }

    /// Inputs of the tape: time, then coordinates, then velocities.
    pub fn position_inputs(&self) -> Vec<usize> {
        (1..=self.dof()).collect()
    }

    pub fn velocity_inputs(&self) -> Vec<usize> {
        (self.dof() + 1..=2 * self.dof()).collect()
    }

    pub fn dependence(&self, expression: Expression) -> Dependence {
        let mut dependence = Dependence::default();
        for input in self.graph.inputs_of(expression) {
            match input {
                0 => dependence.time = true,
                k if k <= self.dof() => dependence.position = true,
                k if k >= Graph::PAST_FIRST => dependence.past = true,
                k if k >= Graph::HELD_FIRST => dependence.held = true,
                _ => dependence.velocity = true,
            }
        }
        dependence
    }

    /// Makes a name usable where its dependence allows it and explains it elsewhere.
    pub fn define(
        &mut self,
        name: &str,
        expression: Expression,
        dependence: Dependence,
        what: &'static str,
    ) {
        for variables in ALL {
            let scope = &mut self.scopes[variables.index()];
            if variables.allows(dependence) {
                scope.define(name, expression);
            } else {
                scope.refuse(name, format!("is {what}, {}", variables.limit()));
            }
        }
    }

    /// Makes a sampled function callable everywhere.
    pub fn define_function(&mut self, name: &str, function: SampledFunction) {
        let index = self.graph.add_function(function);
        for scope in &mut self.scopes {
            scope.define_function(name, index);
        }
    }

    /// Makes an output of a controller known to forces.
    pub fn define_output(&mut self, name: &str, index: usize) {
        let output = self.graph.input(Graph::HELD_FIRST + index);
        let held = Dependence {
            held: true,
            ..Dependence::default()
        };
        self.define(name, output, held, "an output of a controller");
    }

    /// The names that may stand where the present state is read.
    pub fn state_scope(&self) -> Scope {
        self.scopes[Variables::State.index()].clone()
    }

    /// Announces a name that is defined further down.
    pub fn announce(&mut self, name: &str, what: &'static str) {
        for scope in &mut self.scopes {
            if scope.lookup(name).is_none() {
                scope.refuse(
                    name,
                    format!("is {what} that is defined further down; move it up"),
                );
            }
        }
    }

    /// Whether a name given by the user may be used, otherwise a report.
    pub fn claim(&mut self, name: &str, span: &Range<usize>, what: &'static str) -> bool {
        let mut complain = |message: String, help: &str| {
            let diagnostic = Diagnostic::at(span.clone(), message);
            self.diagnostics.push(diagnostic.with_help(help));
            false
        };
        let mut letters = name.chars();
        let starts_well = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
        if !starts_well || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return complain(
                format!("`{name}` cannot be the name of {what}"),
                "a name starts with a letter and goes on with letters, digits and underscores",
            );
        }
        if name.len() > 64 {
            return complain(format!("the name of {what} is longer than 64 letters"), "");
        }
        if name.ends_with("_dot") {
            return complain(
                format!("`{name}` cannot be the name of {what}"),
                "the ending `_dot` stands for a rate: `x_dot` is the velocity of `x`",
            );
        }
        let built_in = ["t", "pi", "and", "or", "not"].contains(&name)
            || functions().iter().any(|f| f.name == name);
        if built_in {
            return complain(
                format!("`{name}` cannot be the name of {what}"),
                "the expressions use this name themselves",
            );
        }
        if let Some((_, other)) = self.names.taken.iter().find(|(n, _)| n == name) {
            return complain(format!("`{name}` is already the name of {other}"), "");
        }
        self.names.taken.push((name.to_owned(), what));
        true
    }

    /// The expression of a value; mistakes are reported at their place inside the text.
    pub fn expression(&mut self, value: &Value, variables: Variables) -> Option<Expression> {
        let scope = std::mem::take(&mut self.scopes[variables.index()]);
        let expression = self.expression_in(value, &scope);
        self.scopes[variables.index()] = scope;
        expression
    }

    /// The expression of a value with names of its own.
    pub fn expression_in(&mut self, value: &Value, scope: &Scope) -> Option<Expression> {
        match &value.data {
            Data::Number(number) => Some(self.graph.constant(*number)),
            Data::Text(text) => {
                let parsed = parse(text, &mut self.graph, scope);
                self.parsed(value, text, parsed)
            }
            _ => None,
        }
    }

    fn parsed(
        &mut self,
        value: &Value,
        text: &str,
        parsed: Result<Expression, Vec<ExpressionError>>,
    ) -> Option<Expression> {
        match parsed {
            Ok(expression) => Some(expression),
            Err(errors) => {
                for error in errors {
                    self.report_in_text(value, text, error);
                }
                None
            }
        }
    }

    fn report_in_text(&mut self, value: &Value, text: &str, error: ExpressionError) {
        // The text stands verbatim between its quotes unless it has escapes.
        let start = self.source.boundary(value.span.start);
        let end = self.source.boundary(value.span.end).max(start);
        let span = match self.source.text()[start..end].find(text) {
            Some(offset) if !text.is_empty() => {
                let offset = start + offset;
                offset + error.span.start..offset + error.span.end
            }
            _ => value.span.clone(),
        };
        let mut diagnostic = Diagnostic::at(span, error.to_string());
        diagnostic.help = error.mistake.help();
        self.diagnostics.push(diagnostic);
    }

    /// The expressions of a list of values.
    pub fn expressions(
        &mut self,
        values: &[Value],
        variables: Variables,
    ) -> Option<Vec<Expression>> {
        let found: Vec<Option<Expression>> = values
            .iter()
            .map(|value| self.expression(value, variables))
            .collect();
        found.into_iter().collect()
    }

    /// One expression or a list of them.
    pub fn one_or_more(&mut self, value: &Value, variables: Variables) -> Option<Vec<Expression>> {
        match value.as_list() {
            Some(list) => self.expressions(list, variables),
            None => self.expression(value, variables).map(|e| vec![e]),
        }
    }

    /// The number a value of parameters has.
    pub fn constant(&mut self, value: &Value) -> Option<f64> {
        let expression = self.expression(value, Variables::Parameters)?;
        // Expressions of parameters fold to a number.
        let number = self.graph.constant_value(expression)?;
        if !number.is_finite() {
            let message = format!("the value is {number}, expected a finite number");
            return self.refuse(&value.span, message);
        }
        Some(number)
    }

    /// The number under a key, checked; `expected` completes "must be".
    pub fn number(
        &mut self,
        table: &Table,
        key: &str,
        expected: &str,
        accept: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let value = table.value(key)?;
        let number = self.constant(value)?;
        if !accept(number) {
            return self.refuse(
                &value.span,
                format!("`{key}` must be {expected}, found {number}"),
            );
        }
        Some(number)
    }

    /// A list of constants.
    pub fn constants(&mut self, value: &Value) -> Option<Vec<f64>> {
        let found: Vec<Option<f64>> = value
            .as_list()?
            .iter()
            .map(|item| self.constant(item))
            .collect();
        found.into_iter().collect()
    }

    /// Three constants under a key, or the default.
    pub fn triple(&mut self, table: &Table, key: &str, default: [f64; 3]) -> [f64; 3] {
        let found = table.value(key).and_then(|value| self.constants(value));
        found
            .and_then(|list| list.try_into().ok())
            .unwrap_or(default)
    }

    /// Reads `[parameters]`.
    pub fn parameters(&mut self, table: &Table) -> Vec<(String, f64)> {
        const WHAT: &str = "a parameter";
        let none = Dependence::default();
        let claimed: Vec<bool> = table
            .entries
            .iter()
            .map(|entry| self.claim(&entry.name, &entry.name_span, WHAT))
            .collect();
        for entry in &table.entries {
            self.announce(&entry.name, WHAT);
        }
        let mut parameters = Vec::new();
        for (entry, claimed) in table.entries.iter().zip(claimed) {
            let number = self.constant(&entry.value);
            if !claimed {
                continue;
            }
            // A wrong parameter stays known, so that its uses are not reported as well.
            let expression = self.graph.constant(number.unwrap_or(1.0));
            self.define(&entry.name, expression, none, WHAT);
            parameters.push((entry.name.clone(), number.unwrap_or(1.0)));
        }
        parameters
    }

    /// Reads the names of the coordinates and makes them and their velocities known.
    pub fn coordinates(&mut self, list: &[Value]) {
        for value in list {
            let name = value.as_text().unwrap_or_default().to_owned();
            // A name that a parameter has as well is still a coordinate, or its velocity would be
            // reported as unknown.
            if self.claim(&name, &value.span, "a coordinate") || self.coordinate(&name).is_none() {
                self.names.coordinates.push(name);
            }
        }
        for variables in [Variables::Friction, Variables::Force] {
            let count = self.names.coordinates.len();
            self.scopes[variables.index()].allow_past(count);
        }
        let names = self.names.coordinates.clone();
        for (k, name) in names.iter().enumerate() {
            let position = self.graph.input(1 + k);
            let velocity = self.graph.input(1 + names.len() + k);
            let moves = Dependence {
                position: true,
                ..Dependence::default()
            };
            self.define(name, position, moves, "a coordinate");
            let moves = Dependence {
                velocity: true,
                ..Dependence::default()
            };
            // Friction may not read a velocity, but its past.
            let friction = &mut self.scopes[Variables::Friction.index()];
            for rate in [format!("{name}'"), format!("{name}_dot")] {
                friction.define_past_operand(rate, velocity);
            }
            self.define(&format!("{name}'"), velocity, moves, "a velocity");
            self.define(&format!("{name}_dot"), velocity, moves, "a velocity");
        }
    }

    /// Makes x, y, z known as a place, for fields over elastic bodies.
    pub fn places(&mut self) {
        self.names.coordinates = ["x", "y", "z"].map(String::from).to_vec();
        for (k, name) in ["x", "y", "z"].into_iter().enumerate() {
            let input = self.graph.input(1 + k);
            let place = Dependence {
                position: true,
                ..Dependence::default()
            };
            self.define(name, input, place, "a place");
        }
    }

    /// Lets friction read `s`, the slip speed of its contact, unless the scene gives that name another meaning.
    pub fn allow_slip(&mut self) {
        let slip = self.graph.input(Graph::SLIP);
        let scope = &mut self.scopes[Variables::Friction.index()];
        if scope.lookup("s").is_none() {
            scope.define("s", slip);
        }
    }

    /// The number of a coordinate.
    pub fn coordinate(&self, name: &str) -> Option<usize> {
        self.names
            .coordinates
            .iter()
            .position(|other| other == name)
    }

    /// Makes names known as coordinates before they are defined, for mistakes in parameters.
    pub fn announce_coordinates(&mut self, list: &[Value]) {
        let reason = format!("is a coordinate, {}", Variables::Parameters.limit());
        for name in list.iter().filter_map(Value::as_text) {
            self.scopes[Variables::Parameters.index()].refuse(name, reason.clone());
        }
    }

    /// Reads `[definitions]`: each may use those above it; `a'` is the rate of `a`.
    pub fn definitions(&mut self, table: &Table) {
        const WHAT: &str = "a definition";
        let claimed: Vec<bool> = table
            .entries
            .iter()
            .map(|entry| self.claim(&entry.name, &entry.name_span, WHAT))
            .collect();
        for entry in &table.entries {
            for ending in ["", "'", "_dot"] {
                self.announce(&format!("{}{ending}", entry.name), WHAT);
            }
        }
        for (entry, claimed) in table.entries.iter().zip(claimed) {
            let expression = self.expression(&entry.value, Variables::Force);
            if claimed {
                self.definition(entry, expression);
            }
        }
    }

    fn definition(&mut self, entry: &Entry, expression: Option<Expression>) {
        let zero = self.graph.constant(0.0);
        let value = expression.unwrap_or(zero);
        let dependence = self.dependence(value);
        self.define(
            &entry.name,
            value,
            dependence,
            "a definition that depends on more",
        );
        let rates = [format!("{}'", entry.name), format!("{}_dot", entry.name)];
        if dependence.velocity || dependence.past || dependence.held {
            for rate in rates {
                for scope in &mut self.scopes {
                    scope.refuse(
                        &rate,
                        "is not known: the definition depends on velocities, the past or a controller itself",
                    );
                }
            }
            return;
        }
        // d/dt = ∂/∂t + Σ v_j ∂/∂q_j
        let n = self.dof();
        let one = self.graph.constant(1.0);
        let velocities: Vec<Expression> = (0..n).map(|k| self.graph.input(1 + n + k)).collect();
        let direction = |k: usize| {
            if k == 0 {
                Some(one)
            } else {
                velocities.get(k - 1).copied()
            }
        };
        let rate = self.graph.directional_derivative(&[value], direction)[0];
        let moves = self.dependence(rate);
        for name in rates {
            self.define(&name, rate, moves, "a rate that depends on more");
        }
    }
}
