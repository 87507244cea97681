//! Controllers in discrete time: `[[controllers]]`.

use std::sync::Arc;

use crate::systems::{Instant, SampledController};

use super::diagnostic::Diagnostic;
use super::expression::{Expression, Graph};
use super::key_kinds::{CONSTANT, Kind, STATE, named, table_keys};
use super::program::Program;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Table, Value, tables};

/// Most controllers of a scene.
pub(super) const CONTROLLERS_MAX: usize = 64;
/// Most states or outputs of a controller.
const ENTRIES_MAX: usize = 64;

table_keys! {
    /// A controller in discrete time: it samples the state every `period` and holds its outputs in between.
    pub(super) CONTROLLER = "[[controllers]]" {
        /// Name used in results and messages.
        name: Kind::Text, default "controller 1, controller 2, ...";
        /// Time between samples, in seconds; the first is at the start. Steps end at sample instants.
        required period: CONSTANT;
        /// State of the controller by name, with its value before the first sample: `{ i = 0 }`.
        state: named(&CONSTANT, ENTRIES_MAX);
        /// New value of each state at a sample, from the state before it: `{ i = "i + period*(target - x)" }`.
        update: named(&STATE, ENTRIES_MAX), default "unchanged";
        /// Outputs by name, from the state before the sample: `{ u = "kp*(target - x) + ki*i" }`. Forces use them by
        /// that name.
        required output: named(&STATE, ENTRIES_MAX);
    }
}

/// A controller as read: expressions over (t, q, v) and its state.
#[derive(Clone, Debug)]
pub(super) struct ControllerModel {
    name: String,
    period: f64,
    state: Vec<f64>,
    outputs: Vec<String>,
    /// Outputs, then updates.
    expressions: Vec<Expression>,
}

/// Reads `[[controllers]]` and makes their outputs known to forces.
pub(super) fn read_controllers(
    reader: &mut Reader,
    list: &[Value],
    settings: &Settings,
) -> Vec<ControllerModel> {
    let mut models: Vec<ControllerModel> = Vec::new();
    let mut held = 0;
    for (k, value, table) in tables(list) {
        let given = table.text("name");
        let name = given.map_or_else(|| format!("controller {}", k + 1), str::to_owned);
        if models.iter().any(|other| other.name == name) {
            let span = table.place("name", value).clone();
            reader.report(Diagnostic::at(
                span,
                format!("two controllers are called `{name}`"),
            ));
        }
        let Some(model) = read_controller(reader, table, name) else {
            continue;
        };
        settings.check_steps(reader, model.period, table.place("period", value));
        let outputs = table.table("output");
        for entry in outputs.into_iter().flat_map(|outputs| &outputs.entries) {
            if reader.claim(&entry.name, &entry.name_span, "an output of a controller") {
                reader.define_output(&entry.name, held);
            }
            held += 1;
        }
        models.push(model);
    }
    models
}

fn read_controller(reader: &mut Reader, table: &Table, name: String) -> Option<ControllerModel> {
    let period = reader.number(table, "period", "positive", |x| x > 0.0)?;
    let entries = |key: &str| {
        let inner = table.table(key);
        inner.map_or(&[][..], |inner| &inner.entries[..])
    };
    // The controller sees the present state, its own state, and its period.
    let mut scope = reader.state_scope();
    let constant = reader.graph.constant(period);
    scope.define("period", constant);
    let (mut names, mut state): (Vec<&str>, Vec<f64>) = (Vec::new(), Vec::new());
    for entry in entries("state") {
        let value = reader.constant(&entry.value)?;
        if scope.lookup(&entry.name).is_some() || !plain(&entry.name) {
            let message = format!("`{}` cannot be the name of a state", entry.name);
            let help =
                "a state has a name of letters, digits and underscores that nothing else has";
            return reader.refuse_with(&entry.name_span, message, help);
        }
        names.push(&entry.name);
        state.push(value);
    }
    for (k, name) in names.iter().enumerate() {
        let input = reader.graph.input(Graph::STATE_FIRST + k);
        scope.define(*name, input);
    }
    let mut expressions = Vec::new();
    let mut outputs = Vec::new();
    for entry in entries("output") {
        outputs.push(entry.name.clone());
        expressions.push(reader.expression_in(&entry.value, &scope)?);
    }
    if outputs.is_empty() {
        let message = format!("the controller `{name}` has no output");
        let span = table.value("output").map_or(0..0, |v| v.span.clone());
        return reader.refuse(&span, message);
    }
    for k in 0..names.len() {
        expressions.push(reader.graph.input(Graph::STATE_FIRST + k));
    }
    for entry in entries("update") {
        let update = reader.expression_in(&entry.value, &scope)?;
        match names.iter().position(|name| *name == entry.name) {
            Some(k) => expressions[outputs.len() + k] = update,
            None => {
                let message = format!("`{}` is no state of the controller", entry.name);
                let help = format!("states: {}", names.join(", "));
                reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
            }
        }
    }
    Some(ControllerModel {
        name,
        period,
        state,
        outputs,
        expressions,
    })
}

fn plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.ends_with("_dot")
}

impl ControllerModel {
    /// The controller, for a system of n coordinates.
    pub fn build(&self, graph: &Graph, n: usize) -> Arc<dyn SampledController> {
        Arc::new(SceneController {
            model: self.clone(),
            program: Program::compile(graph, &self.expressions, n),
        })
    }
}

#[derive(Debug)]
struct SceneController {
    model: ControllerModel,
    program: Program,
}

impl SampledController for SceneController {
    fn name(&self) -> &str {
        &self.model.name
    }
    fn period(&self) -> f64 {
        self.model.period
    }
    fn initial_state(&self) -> &[f64] {
        &self.model.state
    }
    fn outputs(&self) -> &[String] {
        &self.model.outputs
    }
    fn sample(&self, at: &Instant, state: &mut [f64], outputs: &mut [f64]) {
        let mut out = vec![0.0; self.model.expressions.len()];
        self.program.run_with_state(at, state, &mut out);
        let (y, s) = out.split_at(outputs.len());
        outputs.copy_from_slice(y);
        state.copy_from_slice(s);
    }
}
