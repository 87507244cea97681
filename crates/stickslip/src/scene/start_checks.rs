//! What can be said about contacts and joints at the initial configuration.

use crate::algebra::dot;
use crate::quantity::typed;
use crate::systems::frame::{ANGLE, misalignment};

use super::contact::{ContactModel, PointModel};
use super::diagnostic::Diagnostic;
use super::expression::{Expression, Graph, Tape};
use super::mechanics::GeneralizedModel;

/// What can be said about contacts and joints at the initial configuration, all at once.
pub(super) fn check_at_start(model: &mut GeneralizedModel) -> Result<(), Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for k in 0..model.contacts.len() {
        diagnostics.extend(check_contact(model, k));
    }
    let inputs: Vec<usize> = (1..=model.coordinates.len()).collect();
    for k in 0..model.joints.len() {
        let slopes = model.graph.gradient(model.joints[k].equation, &inputs);
        let joint = &model.joints[k];
        let value = evaluate(model, &[joint.equation])[0];
        let gradient = evaluate(model, &slopes);
        if value.is_nan() || value.abs() > PENETRATION_MAX * size(model, value, &gradient) {
            let message = format!(
                "joint `{}` is not closed at the start: its equation gives {}",
                joint.name,
                typed(value, 7)
            );
            diagnostics.push(Diagnostic::at(joint.span.clone(), message));
        }
    }
    if diagnostics.is_empty() {
        Ok(())
    } else {
        Err(diagnostics)
    }
}

/// Largest initial penetration or opening of a joint, as a part of the numbers that cancel in it.
const PENETRATION_MAX: f64 = 1e-9;

/// Size of the numbers that cancel in a function with this value and gradient at the start.
fn size(model: &GeneralizedModel, value: f64, gradient: &[f64]) -> f64 {
    let terms = gradient.iter().zip(&model.q0).map(|(g, q)| g * q);
    let (sum, sizes) = terms.fold((0.0, 0.0), |(s, a), x| (s + x, a + x.abs()));
    sizes + (value - sum).abs()
}

/// Values at the start; the motion counts as having rested before.
fn evaluate(model: &GeneralizedModel, outputs: &[Expression]) -> Vec<f64> {
    let n = model.coordinates.len();
    let present = |k: usize| match k {
        0 => 0.0,
        k if k <= n => model.q0[k - 1],
        // Friction at rest.
        Graph::SLIP => 0.0,
        k => model.v0[k - 1 - n],
    };
    let value = |expression: Expression| {
        let mut out = [0.0];
        Tape::compile(&model.graph, &[expression]).evaluate_with(
            present,
            &mut Vec::new(),
            &mut out,
        );
        out[0]
    };
    let read = |k: usize| match k.checked_sub(Graph::PAST_FIRST) {
        Some(index) => model.graph.past_terms()[index].at_rest(n, present, value),
        None => present(k),
    };
    let mut out = vec![0.0; outputs.len()];
    Tape::compile(&model.graph, outputs).evaluate_with(read, &mut Vec::new(), &mut out);
    out
}

fn check_contact(model: &mut GeneralizedModel, k: usize) -> Option<Diagnostic> {
    let n = model.coordinates.len();
    let inputs: Vec<usize> = (1..=n).collect();
    let slopes = model.graph.gradient(model.contacts[k].gap, &inputs);
    let contact = &model.contacts[k];
    let at_gap = |message: String| Some(Diagnostic::at(contact.gap_span.clone(), message));

    let gap = evaluate(model, &[contact.gap])[0];
    let gradient = evaluate(model, &slopes);
    if gap.is_nan() || gap < -PENETRATION_MAX * size(model, gap, &gradient) {
        let message = format!(
            "contact `{}` is violated at the start: gap {}",
            contact.name,
            typed(gap, 7)
        );
        return at_gap(message).map(|d| d.with_help("change the values of [initial]"));
    }
    let length = dot(&gradient, &gradient).sqrt();
    if !length.is_finite() {
        return at_gap(format!(
            "contact `{}`: the gap has no gradient at the start",
            contact.name
        ));
    }
    if length == 0.0 {
        let message = format!(
            "contact `{}`: the gap does not depend on the coordinates at the start",
            contact.name
        );
        return at_gap(message).map(|d| d.with_help("no force could keep it open"));
    }
    contact
        .points
        .iter()
        .find_map(|point| check_point(model, contact, point, &gradient))
}

fn check_point(
    model: &GeneralizedModel,
    contact: &ContactModel,
    point: &PointModel,
    gradient: &[f64],
) -> Option<Diagnostic> {
    if let Some(coefficient) = point.friction.coefficient {
        let value = evaluate(model, &[coefficient])[0];
        if value < 0.0 || !value.is_finite() {
            let message = format!(
                "contact `{}`: friction is {value} at the start",
                contact.name
            );
            return Some(Diagnostic::at(point.span.clone(), message));
        }
    }
    // The gap of a material contact must grow along its normal: dφ and the normal row are parallel.
    let (row, span) = (point.normal_row.as_ref()?, point.normal_span.as_ref()?);
    let normal = evaluate(model, row);
    let lengths = (dot(gradient, gradient) * dot(&normal, &normal)).sqrt();
    // A point that cannot move along its normal is not held by it.
    let off = lengths.is_finite() && !(misalignment(gradient, &normal) <= ANGLE);
    if off && dot(gradient, gradient) > 0.0 {
        let message = format!(
            "contact `{}`: gap and normal do not belong together",
            contact.name
        );
        let help = "when the point moves along the normal the gap must grow, and no motion along \
                    the surface may change it; without `normal` it is that of the gap";
        return Some(Diagnostic::at(span.clone(), message).with_help(help));
    }
    None
}
