//! The certificate of a run: the worst residuals, with time and contact.

use serde::{Deserialize, Serialize};

use super::{BlockResidual, ContactKey, ContactProblem, ContactResidual};

/// Largest value of one measure and where it was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The value.
    pub value: f64,
    /// Time of the step.
    pub t: f64,
    /// The contact.
    pub contact: ContactKey,
}

impl Worst {
    fn update(&mut self, value: f64, t: f64, key: ContactKey) {
        // A NaN must win and stay.
        if value > self.value || (value.is_nan() && !self.value.is_nan()) {
            *self = Self {
                value,
                t,
                contact: key,
            };
        }
    }
}

/// Worst residuals over a run, and the counts that tell how far it can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Natural-map residual of the unrelaxed law.
    pub natural_map: Worst,
    /// Cone violation.
    pub cone: Worst,
    /// Signorini violation.
    pub signorini: Worst,
    /// Defect of maximal dissipation.
    pub dissipation: Worst,
    /// Distance of the generalized law's steps to P'4 as the paper writes it; not part of
    /// [`Self::worst`], since that law need not have a solution.
    #[serde(default)]
    pub strict: Worst,
    /// Largest local velocity of the run so far: velocities at its rounding say nothing.
    #[serde(default)]
    pub speed: f64,
    /// Contact problems solved.
    pub problems: u64,
    /// Problems in which some contact had several solutions.
    pub several_solutions: u64,
    /// Problems without solution.
    pub no_solution: u64,
    /// Problems that stalled or ran into the iteration limit.
    pub not_converged: u64,
    /// Problems whose answer was accepted at the floor of rounding, above the tolerance.
    #[serde(default)]
    pub at_rounding_floor: u64,
    /// Steps whose implicit iteration (nonlinear forces) did not converge.
    pub nonlinear_failures: u64,
}

impl Certificate {
    /// Enters the residual of one problem solved at time `t`.
    pub fn enter(&mut self, t: f64, problem: &ContactProblem, residual: &ContactResidual) {
        self.problems += 1;
        let total = residual.total();
        let place = |part: fn(&BlockResidual) -> f64| {
            let mut at = 0;
            for (b, measure) in residual.blocks().iter().enumerate() {
                if part(measure) > part(&residual.blocks()[at]) {
                    at = b;
                }
            }
            problem.blocks()[at].key
        };
        if problem.blocks().is_empty() {
            return;
        }
        for (worst, value, part) in [
            (
                &mut self.natural_map,
                total.natural_map,
                (|b| b.natural_map) as fn(&BlockResidual) -> f64,
            ),
            (&mut self.cone, total.cone, |b| b.cone),
            (&mut self.signorini, total.signorini, |b| b.signorini),
            (&mut self.dissipation, total.dissipation, |b| b.dissipation),
        ] {
            if !(value <= worst.value) {
                worst.update(value, t, place(part));
            }
        }
    }

    /// Enters the strict residual of a step under the generalized law.
    pub fn enter_strict(&mut self, t: f64, value: f64, key: ContactKey) {
        self.strict.update(value, t, key);
    }

    /// Largest of all residuals.
    pub fn worst(&self) -> f64 {
        [
            self.natural_map.value,
            self.cone.value,
            self.signorini.value,
            self.dissipation.value,
        ]
        .into_iter()
        .fold(0.0, |m, x| if x.is_nan() || x > m { x } else { m })
    }

    /// Whether every problem has a solution and was solved with residuals at most `limit`, whatever tolerance the solver was
    /// asked for: the residual reached decides.
    pub fn holds(&self, limit: f64) -> bool {
        self.worst() <= limit && self.no_solution == 0 && self.nonlinear_failures == 0
    }
}
