//! The certificate of a run: the worst residuals, with time and contact.

use serde::{Deserialize, Serialize};

use super::{BlockResidual, ContactKey, ContactProblem, ContactResidual};

/// How many times the limit of residuals the error of a local velocity may be, as a part of the largest one that a run has seen.
pub const VELOCITY_FACTOR: f64 = 1e5;

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

/// Contact rows that depend on each other: impulses are then not unique, though the motion may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankDeficiency {
    /// Largest number of rows beyond the rank of W.
    pub deficiency: usize,
    /// Rows of that problem.
    pub rows: usize,
    /// Time of that step.
    pub t: f64,
    /// Whether the motion was unique in all such problems; none if one of them was not examined.
    pub motion_is_unique: Option<bool>,
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
    /// Largest error of a local velocity that a residual stands for, as a part of `speed` at that time: a residual is relative to all impulses of its
    /// problem, beside which those of much lighter bodies do not show. Zero where the residual is rounding.
    #[serde(default)]
    pub velocity: Worst,
    /// Largest power of the tangential reaction on the velocity after a step of the generalized law, ⟨r_τ, v⁺⟩ in joule: the
    /// end of section 4 of [CharlesBallard2016] asks that it is not positive.
    #[serde(default)]
    pub tangential_power: Worst,
    /// Contact problems solved.
    pub problems: u64,
    /// Problems with several solutions: of one contact, or of several as far as they were examined.
    pub several_solutions: u64,
    /// Steps whose contacts were too many, or of a law that is not enumerated, to tell whether their motion is unique.
    #[serde(default)]
    pub uniqueness_not_examined: u64,
    /// Those of them whose law is not enumerated, however few their contacts.
    #[serde(default)]
    pub laws_not_listed: u64,
    /// Dependent contact rows, where any were met.
    #[doc(hidden)]
    #[serde(default)]
    pub rank_deficiency: Option<RankDeficiency>,
    /// First time at which normal rows of active contacts depended on each other.
    #[serde(default)]
    pub dependent_normals: Option<f64>,
    /// Whether some problem was too large for its rank to be measured.
    #[serde(default)]
    pub rank_not_measured: bool,
    /// Problems without solution.
    pub no_solution: u64,
    /// Problems that stalled or ran into the iteration limit.
    pub not_converged: u64,
    /// Problems whose answer was accepted at the floor of rounding, above the tolerance.
    #[serde(default)]
    pub at_rounding_floor: u64,
    /// Steps whose implicit iteration (nonlinear forces) did not converge.
    pub nonlinear_failures: u64,
    /// The first of them: time, and the velocity whose balance was farthest from holding.
    #[serde(default)]
    pub first_nonlinear_failure: Option<(f64, usize)>,
}

impl Certificate {
    /// Enters the residual of one problem solved at time `t`.
    pub fn enter(&mut self, t: f64, problem: &ContactProblem, residual: &ContactResidual) {
        self.problems += 1;
        let total = residual.total();
        let within = total.natural_map <= self.natural_map.value
            && total.cone <= self.cone.value
            && total.signorini <= self.signorini.value
            && total.dissipation <= self.dissipation.value;
        if !within {
            self.enter_worse(t, problem, residual);
        }
    }

    /// Enters a residual of which some part is the worst so far.
    #[cold]
    fn enter_worse(&mut self, t: f64, problem: &ContactProblem, residual: &ContactResidual) {
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

    /// Enters the largest error of a local velocity, of a problem whose residual is no rounding.
    #[cold]
    pub(crate) fn enter_velocity(&mut self, t: f64, (error, key): (f64, ContactKey)) {
        if self.speed > 0.0 {
            self.velocity.update(error / self.speed, t, key);
        }
    }

    /// Enters the strict residual and the tangential power of a step under the generalized law.
    pub(crate) fn enter_strict(&mut self, t: f64, residual: f64, power: f64, key: ContactKey) {
        self.strict.update(residual, t, key);
        self.tangential_power.update(power, t, key);
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

    /// Whether every problem has a solution and was solved with residuals at most `limit` and errors of velocities at most [`VELOCITY_FACTOR`] times that, whatever
    /// tolerance the solver was asked for: what was reached decides.
    pub fn holds(&self, limit: f64) -> bool {
        self.worst() <= limit
            && self.velocity.value <= VELOCITY_FACTOR * limit
            && self.no_solution == 0
            && self.nonlinear_failures == 0
    }
}
