//! How smoothly an expression depends on the past motion, in the largest distance of two motions.

use super::domain::Domain;
use super::graph::{Expression, Graph};
use super::past::{Functional, PastDetail, PastTerm};
use super::smoothness::Smoothness;

impl Graph {
    /// Smoothness of an expression in the past motion of `coordinates` coordinates; analytic where it reads none.
    #[must_use]
    pub fn past_smoothness(
        &self,
        expression: Expression,
        coordinates: usize,
        domain: &Domain,
    ) -> Smoothness {
        let inputs = self.inputs_of(expression);
        let read = inputs.iter().filter_map(|k| {
            let term = k.checked_sub(Self::PAST_FIRST)?;
            self.past_terms().get(term)
        });
        read.map(|term| self.smoothness_of_term(term, coordinates, domain))
            .fold(Smoothness::Analytic, Smoothness::and)
    }

    /// Whether an expression reads largest or smallest values of the past.
    #[must_use]
    pub fn reads_extremes(&self, expression: Expression) -> bool {
        let inputs = self.inputs_of(expression);
        let mut read = inputs.iter().filter_map(|k| {
            let term = k.checked_sub(Self::PAST_FIRST)?;
            self.past_terms().get(term)
        });
        read.any(|term| {
            matches!(
                term.functional,
                Functional::Maximum | Functional::Minimum | Functional::Deviation
            )
        })
    }

    fn smoothness_of_term(
        &self,
        term: &PastTerm,
        coordinates: usize,
        domain: &Domain,
    ) -> Smoothness {
        if term.functional == Functional::Delay && term.inputs[0] > coordinates {
            let why =
                "a velocity of the past does not depend continuously on the past motion, and jumps";
            return Smoothness::Rough(why.to_string());
        }
        let operand = term.operand.map(|operand| self.smoothness(operand, domain));
        let operand = operand.unwrap_or(Smoothness::Analytic);
        match term.detail {
            PastDetail::Varying { delay, .. } if self.inputs_of(delay).iter().any(|&k| k > 0) => {
                let why = "a delay that depends on the state: not Lipschitz continuous in the past motion";
                Smoothness::Rough(why.to_string())
            }
            PastDetail::Varying { delay, .. } => operand.and(self.smoothness(delay, domain)),
            _ => operand,
        }
    }
}
