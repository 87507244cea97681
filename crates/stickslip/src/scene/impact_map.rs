//! An impact map given as expressions.

use crate::laws::ImpactRule;

use super::diagnostic::Diagnostic;
use super::expression::{Graph, Scope, Tape, parse};
use super::reader::Reader;
use super::value::Value;

/// The map u⁻ ↦ u⁺ of all contacts of a scene, open ones with u⁻ = 0.
#[derive(Clone, Debug)]
pub(super) struct SceneImpactMap {
    tape: Tape,
    count: usize,
}

/// Reads the expressions; there must be one per contact.
pub(super) fn read_impact_map(
    reader: &mut Reader,
    value: &Value,
    parameters: &[(String, f64)],
    contacts: usize,
) -> Option<SceneImpactMap> {
    let list = value.as_list()?;
    if list.len() != contacts {
        let message = format!(
            "`impact_map` has {} expressions, the scene has {contacts} contacts",
            list.len()
        );
        return reader.refuse(&value.span, message);
    }
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    for (name, number) in parameters {
        let expression = graph.constant(*number);
        scope.define(name.as_str(), expression);
    }
    for k in 0..contacts {
        let input = graph.input(k);
        scope.define(format!("u{}", k + 1), input);
    }
    let mut outputs = Vec::new();
    for item in list {
        match parse(item.as_text()?, &mut graph, &scope) {
            Ok(expression) => outputs.push(expression),
            Err(errors) => {
                for error in errors {
                    let mut diagnostic = Diagnostic::at(item.span.clone(), error.to_string());
                    diagnostic.help = error.mistake.help();
                    reader.report(diagnostic);
                }
            }
        }
    }
    (outputs.len() == contacts).then(|| SceneImpactMap {
        tape: Tape::compile(&graph, &outputs),
        count: contacts,
    })
}

impl ImpactRule for SceneImpactMap {
    fn after(&self, w: &[f64], u: &[f64], out: &mut [f64]) {
        let all: Vec<usize> = (0..u.len()).collect();
        self.after_among(&all, w, u, out);
    }

    fn after_among(&self, active: &[usize], _w: &[f64], u: &[f64], out: &mut [f64]) {
        let mut before = vec![0.0; self.count];
        for (&k, &velocity) in active.iter().zip(u) {
            before[k] = velocity;
        }
        let mut after = vec![0.0; self.count];
        self.tape
            .evaluate_with(|k| before[k], &mut Vec::new(), &mut after);
        for (&k, out) in active.iter().zip(out) {
            *out = after[k];
        }
    }
}
