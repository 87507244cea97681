//! Accelerated projected gradient with a lagged De Saxcé term.
//!
//! # What it computes
//!
//! With s_i = μ|u_T,i| held fixed the problem is min ½ xᵀWx + (q + s)ᵀx over the cones; one
//! iteration is x⁺ = P_K(y − (W y + q + s e_N)/L) with Nesterov's momentum, restart and a step 1/L found by
//! increasing L. s is renewed at every restart and, in alternate calls of `advance`, in every iteration or at the
//! latest after 20.
//!
//! # Source
//!
//! The law: [AcaryCollinsCraft2023]; the lag and its length were chosen by measurement.
//!
//! # Guarantees
//!
//! For symmetric W and fixed s the inner iteration converges at the rate of accelerated
//! gradient methods. The outer lag has no proof.
//!
//! # Behaviour to know
//!
//! On loose walls it reaches 1e-4 where sweeps with momentum stay at 2e-4, twice as fast if s is renewed in every
//! iteration; but that locks at 3e-3 on one sphere packing. Hence the alternation.
//!
//! # Cost
//!
//! One product per iteration; the error every fifth iteration costs no product.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

use super::progress::Progress;
use super::scaled_problem::project_cone;
use super::sweep::product;

/// Iterations after which s is renewed at the latest, in turn.
pub(super) const LONG_LAG: u32 = 20;
const SHORT_LAG: u32 = 1;
/// Largest growth of the estimate of the largest eigenvalue in one trial.
const GROWTH: f64 = 2.0;

/// The iterates of an accelerated projected gradient with their velocities u = W x + q.
#[derive(Debug)]
pub(super) struct AcceleratedPoint {
    pub x: Vec<f64>,
    pub u_x: Vec<f64>,
    previous: Vec<f64>,
    u_previous: Vec<f64>,
    y: Vec<f64>,
    u_y: Vec<f64>,
    /// The lagged De Saxcé terms.
    lagged: Vec<f64>,
    lipschitz: f64,
    theta: f64,
    since_renewal: u32,
}

impl AcceleratedPoint {
    pub fn new(x: &[f64], u: &[f64], mu: &[f64]) -> Self {
        let mut point = Self {
            x: x.to_vec(),
            u_x: u.to_vec(),
            previous: x.to_vec(),
            u_previous: u.to_vec(),
            y: x.to_vec(),
            u_y: u.to_vec(),
            lagged: vec![0.0; mu.len()],
            lipschitz: 1.5,
            theta: 1.0,
            since_renewal: 0,
        };
        point.renew(mu);
        point
    }

    fn renew(&mut self, mu: &[f64]) {
        for (i, lagged) in self.lagged.iter_mut().enumerate() {
            *lagged = mu[i] * self.u_x[3 * i + 1].hypot(self.u_x[3 * i + 2]);
        }
        self.since_renewal = 0;
    }

    /// One step of the gradient, shortened until the curvature met along it is below L; `product` writes u at x.
    pub fn step(&mut self, mu: &[f64], mut product: impl FnMut(&[f64], &mut [f64])) {
        std::mem::swap(&mut self.previous, &mut self.x);
        std::mem::swap(&mut self.u_previous, &mut self.u_x);
        loop {
            self.gradient_step(mu);
            product(&self.x, &mut self.u_x);
            let (mut curvature, mut length) = (0.0, 0.0);
            for k in 0..self.x.len() {
                let a = self.x[k] - self.y[k];
                curvature += a * (self.u_x[k] - self.u_y[k]);
                length += a * a;
            }
            if curvature <= self.lipschitz * length * (1.0 + 1e-12) || !curvature.is_finite() {
                break;
            }
            let wanted = 1.05 * curvature / length;
            self.lipschitz = wanted.clamp(1.2 * self.lipschitz, GROWTH * self.lipschitz);
        }
        self.since_renewal += 1;
    }

    fn gradient_step(&mut self, mu: &[f64]) {
        let step = 1.0 / self.lipschitz;
        for (i, &mu) in mu.iter().enumerate() {
            let at = 3 * i;
            let z = [
                self.y[at] - (self.u_y[at] + self.lagged[i]) * step,
                self.y[at + 1] - self.u_y[at + 1] * step,
                self.y[at + 2] - self.u_y[at + 2] * step,
            ];
            self.x[at..at + 3].copy_from_slice(&project_cone(&z, mu));
        }
    }

    /// Momentum, or a restart where it points uphill; the lagged terms are renewed after `lag` steps at the latest.
    pub fn extrapolate(&mut self, mu: &[f64], lag: u32) {
        let mut against = 0.0;
        for k in 0..self.x.len() {
            against += (self.y[k] - self.x[k]) * (self.x[k] - self.previous[k]);
        }
        if against > 0.0 {
            self.theta = 1.0;
            self.y.copy_from_slice(&self.x);
            self.u_y.copy_from_slice(&self.u_x);
            self.renew(mu);
            return;
        }
        if self.since_renewal >= lag {
            self.renew(mu);
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let beta = (self.theta - 1.0) / next;
        self.theta = next;
        for k in 0..self.x.len() {
            self.y[k] = self.x[k] + beta * (self.x[k] - self.previous[k]);
            self.u_y[k] = self.u_x[k] + beta * (self.u_x[k] - self.u_previous[k]);
        }
    }
}

/// State of one run, which can be continued at any time.
#[derive(Debug)]
pub struct ProjectedGradientIteration {
    point: AcceleratedPoint,
    /// Iterations after which s is renewed at the latest; changes from one call of `advance` to the next.
    lag: u32,
    iterations: u64,
    /// Last true error.
    pub(crate) estimate: f64,
    /// Smallest true error this iteration has seen.
    pub(crate) best: f64,
}

impl ProjectedGradientIteration {
    /// Starts at `x`.
    pub fn new(progress: &mut Progress<'_>, x: &[f64]) -> Self {
        let mut u = vec![0.0; x.len()];
        product(progress.problem, progress.how, x, &mut u);
        progress.products += 1;
        Self {
            point: AcceleratedPoint::new(x, &u, &progress.problem.mu),
            lag: LONG_LAG,
            iterations: 0,
            estimate: f64::INFINITY,
            best: f64::INFINITY,
        }
    }

    /// At most `count` products; true if the problem is solved.
    pub fn advance(&mut self, progress: &mut Progress<'_>, count: u64) -> bool {
        let problem = progress.problem;
        let clock = 1 + 4000 / (problem.column.len() as u64 + 1);
        self.lag = if self.lag == LONG_LAG {
            SHORT_LAG
        } else {
            LONG_LAG
        };
        for step in 0..count {
            if step % clock == 0 && progress.out_of_budget() {
                break;
            }
            let how = progress.how;
            self.point.step(&problem.mu, |x, u| {
                product(problem, how, x, u);
                progress.products += 1;
            });
            self.iterations += 1;
            if self.iterations.is_multiple_of(5) {
                let AcceleratedPoint { x, u_x, .. } = &self.point;
                self.estimate = problem.error(x, u_x);
                self.best = self.best.min(self.estimate);
                if self.estimate < progress.best_error {
                    progress.check_with(x, u_x);
                    if progress.done() {
                        return true;
                    }
                }
            }
            self.point.extrapolate(&problem.mu, self.lag);
        }
        false
    }
}
