//! Friction that depends on the slip speed, inside one step.

use crate::contact::BlockKind;
use crate::records::{StepOutcome, StepRecord};
use crate::systems::{Instant, MechanicalSystem};

use super::ContactStage;
use super::assembly::{ActiveContact, ContactAssembly};
use super::contact_phases::{ContactPhases, resting};

/// Iterations on the slip speeds; Newton's method takes a handful.
const ITERATIONS_MAX: usize = 200;

/// A change of the coefficient below this part of it is rounding.
const SETTLED: f64 = 1e-13;

/// Rounding inside a law, as in `1 - exp(-s^2)`, may leave this part of the coefficient.
const NOISE: f64 = 1e-9;

/// Slip speeds at which the slope of the law is looked at, between rest and the fastest.
const SLOPE_SAMPLES: i32 = 64;

/// The slip speeds of a step and the sections they give.
///
/// # What it computes
/// Impulses and velocities of a step with `r_T ∈ p_N μ(s) D`, s the slip speed that the law reads: the contact problem
/// with known sections, and Newton's method on s for every contact, `s ← s + (|u_T| − s)/(1 + W_TT p_N μ′(s))`. As
/// `s − |u_T|` rises with s, its sign tells on which side the answer lies: where Newton's step leaves what is left between
/// both sides, or the law has no slope (`sqrt(s)` at rest), it is halved.
///
/// # Source
/// Ours; the bound is that of a monotone `s + W_TT p_N μ(s)`.
///
/// # Guarantees
/// Set-valued at rest: the whole set μ(0) D holds a stuck contact. The sections are those of the slip speeds of the
/// solution itself, to rounding, and its residual is measured with them. Where
/// `W_TT p_N max(−dμ/ds) < 1` at a contact its answer is unique; beyond that the step is refused.
///
/// # Behaviour to know
/// In smooth motion p_N shrinks with the step and so does the bound; an impact on a law that falls steeply is refused
/// whatever the step. Impacts under the energetic law read the slip speed at every instant of their layer, which has one answer; what
/// is left of such a step is computed as here.
///
/// # Cost
/// One contact problem per iteration, a handful.
///
/// # Tested by
/// `tests/truth_slip_friction.rs`.
#[derive(Debug, Default)]
pub(crate) struct SlipSpeeds {
    checked: Option<bool>,
    speeds: Vec<f64>,
    /// Between which speeds that of each contact lies, as far as is known, and the last step there.
    searches: Vec<Search>,
    local: Vec<f64>,
    velocity: Vec<f64>,
}

/// Where and when a step reads its friction, and which velocity.
#[derive(Clone, Copy)]
pub(crate) struct SlipReading<'a> {
    pub system: &'a dyn MechanicalSystem,
    pub at: Instant<'a>,
    pub h: f64,
    /// Weight of the velocity after in the mean that a contact with this normal velocity before reads, from θ; one for the velocity
    /// after itself.
    pub weight: fn(&ActiveContact, f64, f64) -> f64,
    pub theta: f64,
    pub v0: &'a [f64],
    pub t: f64,
}

impl SlipSpeeds {
    /// Solves the stage with sections that belong to the slip speeds of its solution; the first solve is the caller's.
    /// Returns the residual of the last compression, and a fatal outcome if there is one.
    pub fn refine(
        &mut self,
        assembly: &ContactAssembly,
        phases: &mut ContactPhases,
        reading: &SlipReading,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> Result<f64, StepOutcome> {
        let constraints = reading.system.constraints();
        let any = *self.checked.get_or_insert_with(|| {
            let mut points = constraints.iter().flat_map(|c| c.points());
            points.any(|point| point.slip.is_some())
        });
        if !any || assembly.active.is_empty() {
            return Ok(0.0);
        }
        let mut compression = 0.0;
        self.speeds.clear();
        self.speeds.resize(assembly.active.len(), 0.0);
        self.searches.clear();
        self.searches
            .resize(assembly.active.len(), Search::default());
        let mut unsettled = None;
        for _ in 0..ITERATIONS_MAX {
            unsettled = None;
            self.read_local(assembly, stage);
            let fastest = self.local.iter().chain(&assembly.before);
            let fastest = fastest.fold(stage.certificate.speed, |m, u| m.max(u.abs()));
            for (k, contact) in assembly.active.iter().enumerate() {
                let key = assembly.layout.slots()[contact.slot].key;
                let point = &constraints[key.constraint()].points()[key.point()];
                let Some(slip) = &point.slip else {
                    continue;
                };
                let observed = self.slip_of(assembly, contact, reading, stage);
                let s = self.speeds[k];
                // A slip speed is known to the rounding of the velocities it is a difference of; what counts is the section.
                let (now, then) = (
                    slip.factor(&reading.at, s),
                    slip.factor(&reading.at, observed),
                );
                if self.searches[k].is_over((now, then), (observed - s).abs(), fastest) {
                    continue;
                }
                unsettled = Some(key);
                let range = stage.problem.blocks()[contact.block].range();
                let normal = phases.outside_layer(contact, range.start);
                let response = (range.start + 1..range.end)
                    .map(|i| stage.problem.w(i, i))
                    .fold(0.0, f64::max);
                let slope = 1.0 + response * normal * slip.slope(&reading.at, s);
                let next = self.searches[k].next_speed((s, observed), slope);
                let bad = StepOutcome::BadCoefficient { contact: key };
                let section = point.section_at_slip(&reading.at, next).map_err(|_| bad)?;
                self.speeds[k] = next;
                stage.problem.blocks_mut()[contact.block].section = section;
            }
            if unsettled.is_none() {
                break;
            }
            compression = self.solve_again(assembly, phases, reading, stage)?;
        }
        self.check_unique(assembly, phases, reading, stage, record)?;
        match unsettled {
            Some(contact) => Err(StepOutcome::SlipNotConverged { contact }),
            None => Ok(compression),
        }
    }

    /// Local velocities after the step, drift included.
    fn read_local(&mut self, assembly: &ContactAssembly, stage: &ContactStage) {
        let problem = &stage.problem;
        self.velocity.resize(problem.dof(), 0.0);
        problem.velocity(&stage.solution.impulse, &mut self.velocity);
        self.local.clear();
        let rows = 0..problem.size();
        self.local
            .extend(rows.map(|i| problem.row_dot(i, &self.velocity) + assembly.drift[i]));
    }

    /// Solves the problem again from its free velocity, with the sections as they are now.
    fn solve_again(
        &mut self,
        assembly: &ContactAssembly,
        phases: &mut ContactPhases,
        reading: &SlipReading,
        stage: &mut ContactStage,
    ) -> Result<f64, StepOutcome> {
        stage
            .problem
            .velocity_free_mut()
            .copy_from_slice(&phases.left);
        stage.problem.refresh();
        for block in stage.problem.blocks_mut() {
            if matches!(block.kind, BlockKind::Unilateral { .. }) {
                block.kind = BlockKind::Unilateral { minimum: 0.0 };
            }
        }
        phases.solve(assembly, reading, stage)
    }

    /// Slip speed that the law of a contact reads.
    fn slip_of(
        &self,
        assembly: &ContactAssembly,
        contact: &ActiveContact,
        reading: &SlipReading,
        stage: &ContactStage,
    ) -> f64 {
        let range = stage.problem.blocks()[contact.block].range();
        let weight = (reading.weight)(contact, assembly.before[range.start], reading.theta);
        (range.start + 1..range.end)
            .map(|i| (1.0 - weight) * assembly.before[i] + weight * self.local[i])
            .map(|u| u * u)
            .sum::<f64>()
            .sqrt()
    }

    /// Refuses a step in which a contact may have several answers.
    fn check_unique(
        &self,
        assembly: &ContactAssembly,
        phases: &ContactPhases,
        reading: &SlipReading,
        stage: &ContactStage,
        record: &mut StepRecord,
    ) -> Result<(), StepOutcome> {
        for (k, contact) in assembly.active.iter().enumerate() {
            let key = assembly.layout.slots()[contact.slot].key;
            let point = &reading.system.constraints()[key.constraint()].points()[key.point()];
            let Some(slip) = &point.slip else {
                continue;
            };
            let block = &stage.problem.blocks()[contact.block];
            let range = block.range();
            let normal = phases.outside_layer(contact, range.start);
            let response = (range.start + 1..range.end)
                .map(|i| stage.problem.w(i, i))
                .fold(0.0, f64::max);
            let free = (range.start + 1..range.end)
                .map(|i| assembly.before[i] * assembly.before[i])
                .sum::<f64>()
                .sqrt();
            let fastest = self.speeds[k].max(free);
            let steepest = (0..SLOPE_SAMPLES)
                .map(|j| fastest * 0.5f64.powi(j))
                .chain([0.0])
                .map(|s| -slip.slope(&reading.at, s))
                .fold(0.0, f64::max);
            let bound = response * normal * steepest;
            if bound >= 1.0 {
                // The impulse of an impact does not shrink with the step.
                let impact = assembly.before[range.start] < -resting(assembly, stage, block);
                record.step_advised = if impact { 0.0 } else { 0.9 * reading.h / bound };
                return Err(StepOutcome::SlipNotUnique { contact: key });
            }
        }
        Ok(())
    }
}

/// The search for the slip speed of one contact.
#[derive(Clone, Copy, Debug)]
struct Search {
    low: f64,
    high: f64,
    step: f64,
    /// How often nothing was left between both sides.
    exhausted: u32,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            low: 0.0,
            high: f64::INFINITY,
            step: f64::INFINITY,
            exhausted: 0,
        }
    }
}

impl Search {
    /// Whether the coefficient `now` of the speed tried is that of the speed found, `then`, which is `apart` from it, to rounding:
    /// its own, that of the `fastest` velocity, or that of the law, which leaves nothing to search twice over.
    fn is_over(&self, (now, then): (f64, f64), apart: f64, fastest: f64) -> bool {
        let off = (then - now).abs() / now.abs().max(then.abs()).max(f64::MIN_POSITIVE);
        off <= SETTLED
            || apart <= 4.0 * f64::EPSILON * fastest
            || (self.exhausted > 1 && off <= NOISE)
    }

    /// The slip speed to try after `s`, at which `observed` was found; `slope` is that of s − |u_T|.
    fn next_speed(&mut self, (s, observed): (f64, f64), slope: f64) -> f64 {
        if observed > s {
            self.low = s;
        } else {
            self.high = s;
        }
        // Other contacts have moved the answer out of what was left.
        if self.high - self.low <= SETTLED * self.high {
            *self = Self {
                exhausted: self.exhausted + 1,
                ..Self::default()
            };
        }
        let step = (observed - s) / if slope > 0.1 { slope } else { 1.0 };
        let next = (s + step).max(0.0);
        // A contact that sticks tells its side, not how far: Newton's steps must shrink.
        let newton = slope.is_finite()
            && next != s
            && (self.low..=self.high).contains(&next)
            && (next - s).abs() <= 0.5 * self.step;
        let next = if newton {
            next
        } else if self.high.is_finite() {
            0.5 * (self.low + self.high)
        } else {
            observed
        };
        self.step = (next - s).abs();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_found_where_the_law_has_no_slope_or_no_steady_one() {
        // |u_T| = v − W p μ(s), from rest, as the step asks for it.
        let laws: [(fn(f64) -> f64, fn(f64) -> f64); 5] = [
            (f64::sqrt, |s| 0.5 / s.sqrt()),
            (|s| s * s, |s| 2.0 * s),
            (|s| 0.5 * s.powf(0.3), |s| 0.15 * s.powf(-0.7)),
            (
                |s| 0.3 * (1.0 - (-(s / 0.1).powi(2)).exp()),
                |s| 60.0 * s * (-(s / 0.1).powi(2)).exp(),
            ),
            (|s| 0.1 + (s - 0.5).max(0.0), |s| f64::from(s > 0.5)),
        ];
        for (law, slope) in laws {
            for response in [1e-3, 0.3, 7.0, 400.0] {
                for v in [1e-9, 0.02, 1.0, 30.0] {
                    let (mut s, mut search) = (0.0, Search::default());
                    let observed = |s: f64| (v - response * law(s)).max(0.0);
                    if observed(0.0) == 0.0 {
                        continue;
                    }
                    let mut iterations = 0;
                    while !search.is_over((law(s), law(observed(s))), (observed(s) - s).abs(), v) {
                        let steep = 1.0 + response * slope(s);
                        s = search.next_speed((s, observed(s)), steep);
                        iterations += 1;
                        assert!(
                            iterations < ITERATIONS_MAX,
                            "response {response}, v = {v}: s = {s}"
                        );
                    }
                    // The speed found is the one tried, or its friction is.
                    let off = response * (law(observed(s)) - law(s)).abs();
                    let off = off.min((observed(s) - s).abs());
                    assert!(off <= 1e-9 * v, "response {response}, v = {v}: {off}");
                }
            }
        }
    }
}
