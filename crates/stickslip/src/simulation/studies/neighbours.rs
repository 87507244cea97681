//! Motions from nudged starts: whether a motion is the only one near its start.
//!
//! Frictionless unilateral dynamics with forces that are smooth but not analytic can have several motions from one
//! start ([Schatzman] and others give examples with a force that is infinitely flat there). No single run shows it; a fan
//! of runs does, whose end states do not come together as the nudges shrink.

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
    /// Ends stay apart: there are other motions from this start, or the motion forgets its start.
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

/// Fans of end states at the nudge, a tenth and a hundredth of it.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::neighbours::NeighbourStudy;
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let study = NeighbourStudy::around(|| scene.simulation(), 0.1, 1e-6, 6, 1)?;
/// assert!(study.fans.len() == 3 && study.fans[0].spread < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeighbourStudy {
    /// End of the run that was not nudged.
    pub centre: Vec<f64>,
    /// The fans, largest nudge first.
    pub fans: Vec<Fan>,
    /// What they do.
    pub verdict: FanVerdict,
}

impl NeighbourStudy {
    /// Runs `make`'s simulation to `until` from `runs` nudged starts, a third each at the nudge, a tenth and a hundredth of it.
    ///
    /// Nudges are drawn in the ball of coordinates and velocities and moved out of obstacles; they depend on `seed` alone.
    pub fn around<E: Send>(
        make: impl Fn() -> Result<Simulation, E> + Sync,
        until: f64,
        nudge: f64,
        runs: usize,
        seed: u64,
    ) -> Result<Self, E> {
        let (centre, _) = end_of(make()?, until);
        let count = runs.div_ceil(3).max(1);
        let mut fans = Vec::new();
        for (k, nudge) in [nudge, 0.1 * nudge, 0.01 * nudge].into_iter().enumerate() {
            let ends: Vec<(Vec<f64>, bool)> = (0..count)
                .into_par_iter()
                .map(|run| {
                    let mut simulation = make()?;
                    let number = (k * count + run) as u64;
                    shift(&mut simulation, nudge, seed, number);
                    Ok(end_of(simulation, until))
                })
                .collect::<Result<_, E>>()?;
            let apart = |end: &[f64]| {
                let differences = end.iter().zip(&centre).map(|(a, b)| (a - b).abs());
                differences.fold(0.0, f64::max)
            };
            fans.push(Fan {
                nudge,
                spread: ends.iter().map(|end| apart(&end.0)).fold(0.0, f64::max),
                stopped: ends.iter().filter(|end| !end.1).count(),
                ends: ends.into_iter().map(|end| end.0).collect(),
            });
        }
        let ratio = match fans[0].spread {
            0.0 => 0.0,
            widest => fans[2].spread / widest,
        };
        let verdict = if ratio <= 0.1 {
            FanVerdict::Shrinks
        } else if ratio <= 0.5 {
            FanVerdict::ShrinksSlowly
        } else {
            FanVerdict::StaysApart
        };
        Ok(Self {
            centre,
            fans,
            verdict,
        })
    }
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
