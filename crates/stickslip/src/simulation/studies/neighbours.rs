//! Motions from nudged starts: whether a motion is the only one near its start.
//!
//! Frictionless unilateral dynamics with forces that are smooth but not analytic can have several motions from one
//! start ([Schatzman] and others give examples with a force that is infinitely flat there). No single run shows it; a fan
//! of runs does, whose end states do not come together as the nudges shrink. A scheme can answer a nudge with a spread of its
//! own, an impact that a nudge moves to the next step: that one vanishes as the step shrinks. Nor do ends that stay apart prove other motions: a
//! billiard that is aimed into a corner has one motion, of which the next starts say nothing, and what grows like e³⁰ must be nudged by
//! less than e⁻³⁰. Smaller nudges tell the second; theorems of uniqueness that cover the run, the first.

use rayon::prelude::*;
use serde::Serialize;

use crate::algebra::splitmix::Splitmix;
use crate::simulation::{RunEnd, Simulation};
use crate::systems::MechanicalSystem;

/// What a fan of end states does as the nudge shrinks by a hundred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FanVerdict {
    /// Ends come together, at least like the root of the nudge: the motion depends continuously on its start.
    Shrinks,
    /// Ends come together, but slower than that.
    ShrinksSlowly,
    /// Ends stay apart at this step, but come together as the step shrinks: the spread is the error of the scheme.
    ShrinksWithStep,
    /// Ends stay apart at these nudges and at smaller steps too, and come together in proportion to nudges that are small enough: one
    /// motion that depends strongly on its start.
    GrowsLinearly,
    /// Ends stay apart, at smaller steps too: other motions leave this start, or the motion depends on it discontinuously
    /// or more strongly than nudges can show.
    StaysApart,
}

impl FanVerdict {
    /// Words for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Shrinks => "the end states come together as the nudge shrinks",
            Self::ShrinksSlowly => {
                "the end states come together slowly, less than the root of the nudge"
            }
            Self::ShrinksWithStep => {
                "the end states do not come together as the nudge shrinks, but as the step does: the spread is the error of the scheme"
            }
            Self::GrowsLinearly => {
                "the end states come together in proportion to the nudge, where it is small enough: one motion that depends strongly on its start"
            }
            Self::StaysApart => {
                "the end states do not come together as the nudge shrinks: other motions leave this start, or the motion depends on it \
                 discontinuously or more strongly than these nudges show"
            }
        }
    }
}

/// The end states of runs whose starts differ by at most `nudge`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fan {
    /// Largest difference of a coordinate or velocity at the start.
    pub nudge: f64,
    /// Coordinates and velocities at the end, run by run.
    pub ends: Vec<Vec<f64>>,
    /// Largest difference to the end of the run that was not nudged.
    pub spread: f64,
    /// Runs that stopped before the end.
    pub stopped: usize,
}

/// Parts of a step at which a spread that stays is looked at again.
const PARTS: [f64; 3] = [1.0, 4.0, 16.0];
/// Nudges below this part of the spread are not tried: rounding is as large.
const SMALLEST: f64 = 1e-17;
/// What is in proportion to the nudge differs by no more than this factor from it.
const PROPORTIONAL: f64 = 1.3;
/// Growth from the start to the end counts as the same within this factor from step to step.
const SAME_GROWTH: f64 = 3.0;
/// A spread of the scheme shrinks at least like the root of the step, which leaves a quarter of it.
const SHRUNK: f64 = 0.3;

/// Fans of end states at the nudge, a tenth and a hundredth of it.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::neighbours::NeighbourStudy;
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let study = NeighbourStudy::around(|parts| scene.with_step_parted(parts).simulation(), 0.1, 1e-6, 6, 1)?;
/// assert!(study.fans.len() == 3 && study.fans[0].spread < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeighbourStudy {
    /// End of the run that was not nudged.
    pub centre: Vec<f64>,
    /// The fans, largest nudge first.
    pub fans: Vec<Fan>,
    /// Where they stay apart: how far the end of the run farthest away is from that of the run that was not nudged, at the step,
    /// a quarter and a sixteenth of it; empty otherwise.
    pub at_smaller_steps: Vec<f64>,
    /// Where they stay apart at smaller steps too: smaller nudges of that run, and how far its ends then are apart; empty otherwise.
    pub at_smaller_nudges: Vec<[f64; 2]>,
    /// How much a nudge grows, where ends come together in proportion to it.
    pub growth: Option<f64>,
    /// What they do.
    pub verdict: FanVerdict,
    /// The theorem by which the motion is the only one from its start, where one was found to cover the run.
    pub unique: Option<String>,
}

impl NeighbourStudy {
    /// Runs `make`'s simulation to `until` from `runs` nudged starts, a third each at the nudge, a tenth and a hundredth of it.
    /// `make` is told into how many parts the step of the scene is cut: 1, and 4 and 16 where ends stay apart.
    ///
    /// Nudges are drawn in the ball of coordinates and velocities and moved out of obstacles; they depend on `seed` alone.
    pub fn around<E: Send>(
        make: impl Fn(f64) -> Result<Simulation, E> + Sync,
        until: f64,
        nudge: f64,
        runs: usize,
        seed: u64,
    ) -> Result<Self, E> {
        let (centre, _) = end_of(make(1.0)?, until);
        let count = runs.div_ceil(3).max(1);
        let mut fans = Vec::new();
        for (k, nudge) in [nudge, 0.1 * nudge, 0.01 * nudge].into_iter().enumerate() {
            let ends: Vec<(Vec<f64>, bool)> = (0..count)
                .into_par_iter()
                .map(|run| {
                    let mut simulation = make(1.0)?;
                    let number = (k * count + run) as u64;
                    shift(&mut simulation, nudge, seed, number);
                    Ok(end_of(simulation, until))
                })
                .collect::<Result<_, E>>()?;
            fans.push(Fan {
                nudge,
                spread: (ends.iter().map(|end| apart(&end.0, &centre))).fold(0.0, f64::max),
                stopped: ends.iter().filter(|end| !end.1).count(),
                ends: ends.into_iter().map(|end| end.0).collect(),
            });
        }
        let ratio = match fans[0].spread {
            0.0 => 0.0,
            widest => fans[2].spread / widest,
        };
        let (mut at_smaller_steps, mut at_smaller_nudges) = (Vec::new(), Vec::new());
        let mut growth = None;
        let verdict = if ratio <= 0.1 {
            FanVerdict::Shrinks
        } else if ratio <= 0.5 {
            FanVerdict::ShrinksSlowly
        } else {
            // The run of the smallest nudges that ended farthest away.
            let ends = fans[2].ends.iter().map(|end| apart(end, &centre));
            let far = ends.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            let number = (2 * count + far.map_or(0, |(run, _)| run)) as u64;
            let spread = |parts: f64, nudge: f64| {
                let mut nudged = make(parts)?;
                shift(&mut nudged, nudge, seed, number);
                let (centre, _) = end_of(make(parts)?, until);
                Ok(apart(&end_of(nudged, until).0, &centre))
            };
            let smallest = 0.01 * nudge;
            let at_step = |parts| spread(parts, smallest);
            at_smaller_steps = (PARTS.into_par_iter().map(at_step)).collect::<Result<_, E>>()?;
            if at_smaller_steps[2] <= SHRUNK * at_smaller_steps[0] {
                FanVerdict::ShrinksWithStep
            } else {
                let tenths = (1..=9).map(|k| smallest * 0.1f64.powi(k));
                let least = SMALLEST * fans[2].spread;
                let nudges: Vec<f64> = tenths.filter(|&nudge| nudge >= 0.5 * least).collect();
                let at_nudge = |nudge: f64| Ok([nudge, spread(1.0, nudge)?]);
                at_smaller_nudges =
                    (nudges.into_par_iter().map(at_nudge)).collect::<Result<_, E>>()?;
                let mut all: Vec<[f64; 2]> = fans.iter().map(|f| [f.nudge, f.spread]).collect();
                all.extend(&at_smaller_nudges);
                if let Some([nudge, near]) = proportional(&all) {
                    // What is of the motion and not of the scheme grows alike at smaller steps.
                    let at_step = |parts: f64| spread(parts, nudge);
                    let finer: Vec<f64> =
                        (PARTS[1..].par_iter().copied().map(at_step)).collect::<Result<_, E>>()?;
                    let alike = finer.iter().all(|&far| is_alike(far, near, SAME_GROWTH));
                    growth = alike.then_some(near / nudge);
                }
                match growth {
                    Some(_) => FanVerdict::GrowsLinearly,
                    None => FanVerdict::StaysApart,
                }
            }
        };
        Ok(Self {
            centre,
            fans,
            at_smaller_steps,
            at_smaller_nudges,
            growth,
            verdict,
            unique: None,
        })
    }

    /// What was measured, and what it may mean, in a sentence.
    pub fn words(&self) -> String {
        let (first, last) = (&self.fans[0], &self.fans[self.fans.len() - 1]);
        let quantity = |x: f64| format!("{x:.1e}");
        let unique = |theorem: &String| format!("the motion is unique ({theorem})");
        match (self.verdict, &self.unique, self.growth) {
            (FanVerdict::GrowsLinearly, theorem, Some(growth)) => {
                let grows = format!(
                    "a nudge grows by a factor of {} and stays in proportion where it is small enough",
                    quantity(growth)
                );
                match theorem {
                    Some(theorem) => format!("{}; {grows}", unique(theorem)),
                    None => format!("{grows}: one motion that depends strongly on its start"),
                }
            }
            (FanVerdict::StaysApart, Some(theorem), _) => format!(
                "{}; its dependence on the start is not continuous here, or a nudge grows by more than a factor of {}",
                unique(theorem),
                quantity(last.spread / last.nudge)
            ),
            (FanVerdict::StaysApart, None, _) => format!(
                "the end states stay apart by {} or more while the nudge shrinks from {} to {}: other motions leave this start, or the motion depends on it \
                 discontinuously or more strongly than these nudges show",
                quantity((self.fans.iter().map(|fan| fan.spread)).fold(f64::INFINITY, f64::min)),
                quantity(first.nudge),
                quantity(last.nudge)
            ),
            (verdict, ..) => verdict.words().to_string(),
        }
    }
}

/// The first of three nudges in a row that ends follow in proportion, and how far they are apart then. Larger ones may bring ends less far
/// apart than in proportion, where obstacles hold them, not farther: across a jump of the dependence they do.
fn proportional(nudges: &[[f64; 2]]) -> Option<[f64; 2]> {
    let growth = |at: &[f64; 2]| at[1] / at[0];
    let found = (1..nudges.len().saturating_sub(2)).find(|&k| {
        let first = growth(&nudges[k]);
        let alike = |at: &[f64; 2]| at[1] > 0.0 && is_alike(growth(at), first, PROPORTIONAL);
        let explained = |at: &[f64; 2]| growth(at) <= PROPORTIONAL * first;
        nudges[k..k + 3].iter().all(alike) && nudges[..k].iter().all(explained)
    });
    found.map(|k| nudges[k])
}

fn is_alike(a: f64, b: f64, factor: f64) -> bool {
    a <= factor * b && b <= factor * a
}

/// Largest difference of a coordinate or velocity.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Coordinates and velocities at the end, and whether it was reached.
fn end_of(mut simulation: Simulation, until: f64) -> (Vec<f64>, bool) {
    let end = simulation.run_until(until, |_| std::ops::ControlFlow::Continue(()));
    let state = simulation.state();
    let all = state.q.iter().chain(&state.v).copied().collect();
    (all, end == RunEnd::Finished)
}

/// Moves the start of a simulation that has not run yet.
fn shift(simulation: &mut Simulation, nudge: f64, seed: u64, number: u64) {
    let mut checkpoint = simulation.checkpoint();
    let n = simulation.system().dof();
    let drawn = in_ball(2 * n, seed, number);
    let state = &mut checkpoint.state;
    let step: Vec<f64> = drawn[..n].iter().map(|x| nudge * x).collect();
    let from = state.q.clone();
    simulation
        .system()
        .displace(&from, &step, 1.0, &mut state.q);
    admit(simulation.system(), state.t, &mut state.q);
    for (v, x) in state.v.iter_mut().zip(&drawn[n..]) {
        *v += nudge * x;
    }
    // A checkpoint of the same simulation always fits.
    let _ = simulation.restore(checkpoint);
}

/// Moves a configuration out of the obstacles it is in.
fn admit(system: &dyn MechanicalSystem, t: f64, q: &mut [f64]) {
    let mut gradient = vec![0.0; system.dof()];
    for _ in 0..10 {
        let mut inside = false;
        for constraint in system.constraints() {
            let gap = constraint.gap().value(t, q);
            if gap < 0.0 {
                inside = true;
                constraint.gap().gradient(t, q, &mut gradient);
                let length = crate::algebra::dot(&gradient, &gradient);
                let from = q.to_vec();
                system.displace(&from, &gradient, -gap / length, q);
            }
        }
        if !inside {
            return;
        }
    }
}

/// Point `number` of a sample of the unit ball.
fn in_ball(dimension: usize, seed: u64, number: u64) -> Vec<f64> {
    let mut random = Splitmix(seed ^ number.wrapping_mul(0xD134_2543_DE82_EF95));
    let mut unit = || random.unit();
    // In high dimension the cube is nearly empty inside its ball: the last draw is then scaled into it.
    for _ in 0..100 {
        let point: Vec<f64> = (0..dimension).map(|_| 2.0 * unit() - 1.0).collect();
        if crate::algebra::dot(&point, &point) <= 1.0 {
            return point;
        }
    }
    let point: Vec<f64> = (0..dimension).map(|_| 2.0 * unit() - 1.0).collect();
    let length = crate::algebra::dot(&point, &point).sqrt();
    point.iter().map(|x| x / length).collect()
}

#[cfg(test)]
mod tests {
    use super::proportional;

    #[test]
    fn growth_in_proportion_must_explain_all_larger_nudges() {
        let ends = |spread: &[f64]| -> Vec<[f64; 2]> {
            let nudges = (0..spread.len()).map(|k| 0.1f64.powi(9 + k as i32));
            nudges.zip(spread).map(|(n, &s)| [n, s]).collect()
        };
        // Obstacles hold the larger ones.
        let held = ends(&[1.0, 1.0, 1.0, 0.9, 0.12, 0.012, 0.0012]);
        assert_eq!(proportional(&held), Some(held[4]));
        // A jump between two nudges, whatever follows it.
        let jump = ends(&[0.5, 0.2, 0.5, 9e-13, 9e-14, 9e-15, 9e-16]);
        assert_eq!(proportional(&jump), None);
        // Rounding.
        assert_eq!(
            proportional(&ends(&[1.0, 1.0, 1.0, 0.9, 0.0, 0.0, 0.0])),
            None
        );
    }
}
