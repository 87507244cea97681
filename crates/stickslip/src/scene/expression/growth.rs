//! Whether an expression, or its slopes, are bounded over all states.
//!
//! # What it computes
//! Values along [`Curves`] that lead away show that an expression is not bounded. Where none shows it, a [`Proof`] by cases is tried; curves
//! are then drawn within the regions that it left open, as a strip in which a coefficient grows.
//!
//! # Guarantees
//! What is told bounded is, for expressions that have values everywhere. What is told unbounded was seen to rise to the end of all numbers.

use super::curves::Curves;
use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::proof::Proof;
use super::region::{Parts, Region};

/// Both, if both are known; one that is not decides.
#[must_use]
pub fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (None, _) | (_, None) => None,
        _ => Some(true),
    }
}

impl Graph {
    /// Whether the slopes of an expression in coordinates and velocities, past ones included, are bounded over all states and the times
    /// of a run: an expression without jumps is Lipschitz continuous then. None if that is not known.
    #[must_use]
    pub fn has_bounded_slopes(&self, expression: Expression, domain: &Domain) -> Option<bool> {
        let mut graph = self.clone();
        let mut inputs = graph.inputs_of(expression);
        // Outputs of controllers change at their samples only.
        inputs.retain(|&k| k > 0 && !is_held(k));
        let slopes = graph.gradient(expression, &inputs);
        let operands = (inputs.iter()).filter_map(|&k| self.past_operand(k));
        let operands = operands.map(|operand| self.has_bounded_slopes(operand, domain));
        (slopes.iter())
            .map(|&slope| graph.is_bounded(slope, domain))
            .chain(operands)
            .fold(Some(true), both)
    }

    /// Whether an expression is bounded over all states, over the times of a run; none if that is not known.
    #[must_use]
    pub fn is_bounded(&self, expression: Expression, domain: &Domain) -> Option<bool> {
        let bounds = self.bounds_within(expression, domain);
        if bounds.iter().all(|end| end.is_finite()) {
            return Some(true);
        }
        let held = |k: usize| is_held(k) || self.keeps_in_the_past(k, domain);
        let mut curves = Curves::new(self, expression, domain, &held);
        if curves.rise() {
            return Some(false);
        }
        let parts = Parts::new(self.clone(), domain, &[expression]);
        let mut proof = Proof::new(&parts, &held);
        if proof.is_bounded(expression) {
            return Some(true);
        }
        let mut inputs: Vec<(u32, Expression)> = (parts.graph.reachable(&[expression]).into_iter())
            .filter_map(|e| match parts.graph.node(e) {
                Node::Input(k) => Some((k, e)),
                _ => None,
            })
            .collect();
        inputs.sort_unstable();
        let rise = |region: &Region| {
            let ranges: Vec<[f64; 2]> = inputs.iter().map(|input| region.of(input.1)).collect();
            curves.rise_within(&ranges)
        };
        proof.open().any(rise).then_some(false)
    }

    /// What an input reads of the past.
    fn past_operand(&self, input: usize) -> Option<Expression> {
        let term = input.checked_sub(Self::PAST_FIRST)?;
        self.past_terms().get(term)?.operand
    }

    /// Whether an input reads something bounded of the past.
    fn keeps_in_the_past(&self, input: usize, domain: &Domain) -> bool {
        let operand = self.past_operand(input);
        operand.is_some_and(|operand| self.is_bounded(operand, domain) == Some(true))
    }
}

/// Whether an input is an output of a controller.
fn is_held(input: usize) -> bool {
    (Graph::HELD_FIRST..Graph::PAST_FIRST).contains(&input)
}

#[cfg(test)]
mod tests;
