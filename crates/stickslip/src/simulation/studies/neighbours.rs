//! Motions from nudged starts: whether a motion is the only one near its start.
//!
//! Frictionless unilateral dynamics with forces that are smooth but not analytic can have several motions from one
//! start ([Schatzman] and others give examples with a force that is infinitely flat there). No single run shows it; a fan
//! of runs does, whose end states do not come together as the nudges shrink. A scheme can answer a nudge with a spread of its
//! own, an impact that a nudge moves to the next step: that one vanishes as the step shrinks.

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
    /// Ends stay apart, at smaller steps too: there are other motions from this start, or the motion forgets its start.
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
            Self::StaysApart => {
                "the end states do not come together as the nudge shrinks: other motions leave this start"
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
    /// What they do.
    pub verdict: FanVerdict,
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
        let mut at_smaller_steps = Vec::new();
        let verdict = if ratio <= 0.1 {
            FanVerdict::Shrinks
        } else if ratio <= 0.5 {
            FanVerdict::ShrinksSlowly
        } else {
            // The run of the smallest nudges that ended farthest away.
            let ends = fans[2].ends.iter().map(|end| apart(end, &centre));
            let far = ends.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            let number = (2 * count + far.map_or(0, |(run, _)| run)) as u64;
            let spread = |parts: f64| {
                let mut nudged = make(parts)?;
                shift(&mut nudged, 0.01 * nudge, seed, number);
                let (centre, _) = end_of(make(parts)?, until);
                Ok(apart(&end_of(nudged, until).0, &centre))
            };
            at_smaller_steps = (PARTS.into_par_iter().map(spread)).collect::<Result<_, E>>()?;
            if at_smaller_steps[2] <= SHRUNK * at_smaller_steps[0] {
                FanVerdict::ShrinksWithStep
            } else {
                FanVerdict::StaysApart
            }
        };
        Ok(Self {
            centre,
            fans,
            at_smaller_steps,
            verdict,
        })
    }
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
