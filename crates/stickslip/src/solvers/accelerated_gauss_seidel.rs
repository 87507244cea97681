//! Damped exact Gauss-Seidel, without, with capped or with full momentum.
//!
//! # What it computes
//!
//! Sweeps of [`super::sweep`], between which the iterate is extrapolated:
//! y = P_K(x + β(x − x_prev)) with Nesterov's β, restarted when the last step points against the
//! momentum (Σ (y − x)·(x − x_prev) > 0). Without momentum y = x: plain damped Gauss-Seidel.
//!
//! # Source
//!
//! The law: [AcaryCollinsCraft2023]. Momentum with restart on a projected Gauss-Seidel
//! sweep and the damping by flips are our own combination.
//!
//! # Guarantees
//!
//! Any limit is a solution. No proof of convergence: the problem is not monotone.
//!
//! # Behaviour to know
//!
//! With momentum 10 to 100 times fewer sweeps on stacks, yet it may lock into a cycle at 1e-3 to 1e-2 on dense
//! sphere packings, where the plain form converges, and momentum capped at β = 0.8 converges one to four times
//! faster than that (22,844 contacts: 1e-4 after 2,368 sweeps). So both are arms of a portfolio.
//!
//! # Cost
//!
//! One sweep per iteration; the true error is computed when the estimate, calibrated
//! by former checks, promises it, or after 20 sweeps plus a quarter of all sweeps so far.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

use super::body_sweep::BodySweep;
use super::patch;
use super::progress::Progress;
use super::scaled_problem::project_cone;
use super::sweep::{SweepMemory, sweep};

/// How far the iterate is extrapolated between sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Momentum {
    /// Not at all.
    None,
    /// β at most 0.8, less where that brings nothing.
    Capped,
    /// Nesterov's β.
    Full,
}

impl Momentum {
    fn largest(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Capped => 0.8,
            Self::Full => 1.0,
        }
    }
}

/// State of one Gauss-Seidel run, which can be continued at any time.
#[derive(Debug)]
pub struct GaussSeidelIteration {
    momentum: Momentum,
    /// Largest β, lowered when a turn brings nothing.
    cap: f64,
    memory: SweepMemory,
    /// Matrix-free form with the velocities after the sweep before, where it is cheaper.
    bodies: Option<(BodySweep, Vec<[f64; 8]>)>,
    /// Result of the last sweep, of the one before, and the next start.
    x: Vec<f64>,
    previous: Vec<f64>,
    y: Vec<f64>,
    theta: f64,
    /// True error over estimate, from former checks.
    calibration: f64,
    sweeps: u64,
    since_check: u64,
    /// Last estimate of the error, calibrated.
    pub(crate) estimate: f64,
    /// Smallest true error this run has seen.
    pub(crate) best: f64,
}

impl GaussSeidelIteration {
    /// Starts at `x`.
    pub fn new(progress: &Progress<'_>, x: &[f64], momentum: Momentum) -> Self {
        let problem = progress.problem;
        let dense_enough = progress.limits.cascade.blocks_for_bodies * problem.contacts();
        let bodies = progress
            .bodies
            .filter(|_| problem.column.len() > dense_enough)
            .and_then(|bodies| BodySweep::new(problem, bodies))
            .map(|mut bodies| {
                bodies.set_impulses(x);
                let velocity = bodies.velocities().clone();
                (bodies, velocity)
            });
        Self {
            momentum,
            cap: momentum.largest(),
            bodies,
            memory: SweepMemory::new(problem),
            x: x.to_vec(),
            previous: x.to_vec(),
            y: x.to_vec(),
            theta: 1.0,
            calibration: 1.0,
            sweeps: 0,
            since_check: 0,
            estimate: f64::INFINITY,
            best: f64::INFINITY,
        }
    }

    /// Moves the iterate, keeping the damping learnt so far.
    pub fn restart_at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.y.copy_from_slice(x);
        self.theta = 1.0;
        self.memory.revisit_all();
        if let Some((bodies, velocity)) = &mut self.bodies {
            bodies.set_impulses(x);
            velocity.copy_from_slice(bodies.velocities());
        }
    }

    /// At most `count` sweeps; true if the problem is solved. Where capped momentum brings nothing for a
    /// while a patch of contacts is solved by itself if the error sits on few of them, else the momentum is halved;
    /// the next sweeps start from the best point known if that is much better.
    pub fn advance(&mut self, progress: &mut Progress<'_>, count: u64) -> bool {
        if self.momentum != Momentum::Capped {
            return self.sweep_on(progress, count);
        }
        let mut left = count;
        while left > 0 && !progress.out_of_budget() {
            let part = left.min(200.max(count / 4));
            let before = self.best;
            if self.sweep_on(progress, part) {
                return true;
            }
            self.check(progress);
            left -= part;
            if self.best > 0.7 * before {
                let mut x = self.x.clone();
                if patch::solve_patch(progress, &mut x) {
                    self.restart_at(&x);
                    continue;
                }
                self.cap = if self.cap < 0.15 { 0.0 } else { 0.5 * self.cap };
                if progress.best_error < 0.3 * self.best {
                    let best = progress.best.clone();
                    self.restart_at(&best);
                }
            }
        }
        progress.done()
    }

    /// Whether the momentum can still be lowered.
    pub(crate) fn adapts(&self) -> bool {
        self.momentum == Momentum::Capped && self.cap > 0.0
    }

    fn sweep_on(&mut self, progress: &mut Progress<'_>, count: u64) -> bool {
        let problem = progress.problem;
        let clock = 1 + 4000 / (problem.column.len() as u64 + 1);
        for step in 0..count {
            if step % clock == 0 && progress.out_of_budget() {
                break;
            }
            // Sweep in place from y; the old x becomes the previous one.
            std::mem::swap(&mut self.previous, &mut self.x);
            std::mem::swap(&mut self.x, &mut self.y);
            let memory = &mut self.memory;
            let sums = match &mut self.bodies {
                Some((bodies, _)) => {
                    bodies.sweep(problem, progress.how, memory, &mut self.x, &self.previous)
                }
                None => sweep(problem, progress.how, memory, &mut self.x, &self.previous),
            };
            if let Some((bodies, previous)) = &mut self.bodies
                && self.sweeps % 100 == 99
            {
                bodies.refresh(&self.x, previous);
            }
            progress.products += 1;
            self.sweeps += 1;
            self.since_check += 1;
            let raw = sums.change.sqrt() / problem.q_norm;
            self.estimate = self.calibration * raw;
            let tolerance = progress.limits.tolerance;
            if self.estimate <= tolerance || self.since_check >= 20 + self.sweeps / 4 {
                self.since_check = 0;
                let error = progress.check(&self.x);
                self.best = self.best.min(error);
                self.calibration = if raw > 0.0 {
                    (0.9 * error / raw).clamp(0.3, 1000.0)
                } else {
                    1000.0
                };
                if progress.done() {
                    return true;
                }
                if raw == 0.0 {
                    // Nothing moves: frozen contacts may hide work to do.
                    self.memory.revisit_all();
                }
            }
            self.extrapolate(progress, sums.against);
        }
        false
    }

    fn extrapolate(&mut self, progress: &Progress<'_>, against: f64) {
        if self.momentum == Momentum::None || against > 0.0 {
            self.theta = 1.0;
            self.y.copy_from_slice(&self.x);
            if let Some((bodies, velocity)) = &mut self.bodies {
                velocity.copy_from_slice(bodies.velocities());
            }
            return;
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let beta = ((self.theta - 1.0) / next).min(self.cap);
        self.theta = next;
        if let Some((bodies, velocity)) = &mut self.bodies {
            // Velocities are linear in the impulses, so both move alike.
            for (now, old) in bodies.velocities().iter_mut().zip(velocity.iter_mut()) {
                for k in 0..8 {
                    let value = now[k];
                    now[k] += beta * (value - old[k]);
                    old[k] = value;
                }
            }
        }
        if beta == 0.0 {
            self.y.copy_from_slice(&self.x);
            return;
        }
        for (i, &mu) in progress.problem.mu.iter().enumerate() {
            let at = 3 * i;
            let x = [self.x[at], self.x[at + 1], self.x[at + 2]];
            let old = [
                self.previous[at],
                self.previous[at + 1],
                self.previous[at + 2],
            ];
            let z = [
                x[0] + beta * (x[0] - old[0]),
                x[1] + beta * (x[1] - old[1]),
                x[2] + beta * (x[2] - old[2]),
            ];
            let p = project_cone(&z, mu);
            if let Some((bodies, _)) = &mut self.bodies
                && p != z
            {
                // What the projection changes acts on the bodies too.
                bodies.add_impulse(i, &[p[0] - z[0], p[1] - z[1], p[2] - z[2]]);
            }
            self.y[at..at + 3].copy_from_slice(&p);
        }
    }

    /// Checks the current iterate, as a run that hands over should.
    pub fn check(&mut self, progress: &mut Progress<'_>) -> f64 {
        let error = progress.check(&self.x);
        self.best = self.best.min(error);
        error
    }
}
