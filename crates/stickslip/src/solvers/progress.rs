//! What the methods of a solve share: the best point so far, the true error, the clock.

use super::cascade::CascadeSettings;
use super::scaled_problem::{ScaledProblem, StoppingTest};
use super::sweep::{Instructions, product};
use crate::clock::Stopwatch;
use crate::contact::delassus::BodyForm;
use std::time::Duration;

/// When a solve stops.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverLimits {
    /// Error at which the solve is done.
    pub tolerance: f64,
    /// Time after which the best point is returned, `None` for no limit.
    pub time: Option<Duration>,
    /// Number of products with W (or equivalents) after which the best point is returned.
    pub iterations: u64,
    /// What the turns of the cascade may cost together: nanoseconds, roughly, counted from sizes and never by a clock, so that a solve ends
    /// where it ends everywhere.
    pub effort: f64,
    /// The figure that ends the solve.
    pub test: StoppingTest,
    /// Threads for the coloured sweep; the other methods use one.
    pub threads: usize,
    /// Print every turn of the cascade to the error stream.
    pub trace: bool,
    /// By which figures the cascade decides.
    #[doc(hidden)]
    pub cascade: CascadeSettings,
}

impl Default for SolverLimits {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            time: None,
            iterations: 2_000_000,
            effort: f64::INFINITY,
            test: StoppingTest::Published,
            threads: 1,
            trace: false,
            cascade: CascadeSettings::default(),
        }
    }
}

/// Shared state of a solve.
#[derive(Debug)]
pub struct Progress<'a> {
    pub(crate) problem: &'a ScaledProblem,
    /// Bodies behind W, where known.
    pub(crate) bodies: Option<&'a BodyForm>,
    pub(crate) how: Instructions,
    pub(crate) limits: &'a SolverLimits,
    /// Best point found and its error.
    pub(crate) best: Vec<f64>,
    pub(crate) best_error: f64,
    /// Level of rounding at the best point, once computed.
    pub(crate) floor: f64,
    floor_age: u32,
    /// Products with W so far.
    pub(crate) products: u64,
    start: Stopwatch,
    /// Velocity of the last checked point.
    pub(crate) u: Vec<f64>,
}

impl<'a> Progress<'a> {
    /// Starts the clock; the best point is `start`.
    pub fn new(problem: &'a ScaledProblem, limits: &'a SolverLimits, start: Vec<f64>) -> Self {
        let mut progress = Self {
            problem,
            bodies: None,
            how: Instructions::detect(),
            limits,
            best: start.clone(),
            best_error: f64::INFINITY,
            floor: 0.0,
            floor_age: u32::MAX,
            products: 0,
            start: Stopwatch::start(),
            u: vec![0.0; start.len()],
        };
        if start.iter().all(|&x| x == 0.0) {
            // Without impulses nothing need be multiplied.
            progress.check_with(&start, &problem.q);
            progress.u.copy_from_slice(&problem.q);
        } else {
            progress.check(&start);
        }
        progress
    }

    /// True error of `x`; keeps it if it is the best.
    pub fn check(&mut self, x: &[f64]) -> f64 {
        let mut u = std::mem::take(&mut self.u);
        product(self.problem, self.how, x, &mut u);
        self.products += 1;
        let error = self.check_with(x, &u);
        self.u = u;
        error
    }

    /// True error of `x` whose velocity is known.
    pub fn check_with(&mut self, x: &[f64], u: &[f64]) -> f64 {
        let error = self.problem.error(x, u);
        if error < self.best_error {
            self.best_error = error;
            self.best.copy_from_slice(x);
        }
        error
    }

    /// Whether the best point is within the tolerance or at the floor of rounding.
    pub fn done(&mut self) -> bool {
        let tolerance = self.limits.tolerance;
        if self.best_error <= tolerance {
            return true;
        }
        if self.best_error > 100.0 * tolerance || self.best_error > 1e-6 {
            return false;
        }
        // The floor changes little from one point to the next: renew it now and then.
        if self.floor_age >= 30 {
            self.floor = self.problem.rounding_floor(&self.best);
            self.floor_age = 0;
        }
        self.floor_age += 1;
        if self.best_error > self.floor {
            return false;
        }
        // Decide by the floor of this very point, with a margin for the order of summation.
        self.floor = 0.95 * self.problem.rounding_floor(&self.best);
        self.floor_age = 0;
        self.best_error <= self.floor
    }

    /// Whether the limits allow no more.
    pub fn out_of_budget(&self) -> bool {
        self.products >= self.limits.iterations
            || self
                .limits
                .time
                .is_some_and(|limit| self.start.elapsed() >= limit)
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
