//! Proximal point method whose steps are solved by a semismooth Newton method with a
//! large augmentation parameter.
//!
//! # What it computes
//!
//! Outer step: the same law with W + a I and q − a r_k, in scaled variables (unit mean diagonal).
//! Inner: Newton on the Alart-Curnier function with ρ_N = 1/(κ W_NN + a),
//! ρ_T = 1/(κ max W_TT + a). With x = r_N − ρ_N u_N and y = r_T − ρ_T u_T a contact is
//!
//! * open if x ≤ 0: F = r;
//! * sticking if |y| ≤ μx: F = ρ u;
//! * sliding otherwise: F_N = ρ_N u_N, F_T = r_T − μ x y/|y|.
//!
//! After a solved step d = r − r_k the point P_K(r_k + β d) with β up to 64 is tried.
//!
//! # Source
//!
//! Alart and Curnier's function; the choice ρ ≈ 1/a makes it the augmented-Lagrangian form of
//! the proximal step. The control of a, of ρ and the extrapolation were found by measurement.
//!
//! # Guarantees
//!
//! A fixed point is a solution. Quadratic convergence near a regular one; no global proof.
//!
//! # Behaviour to know
//!
//! κ decides: 1 is the usual choice and needs 3 to 10 times more steps than 1e-4. The inner loop ends at the rounding
//! of F, ε‖ρ(|W||r| + |q|)‖, or earlier: asked for more it fails, a grows and the method stands still, at 1e-9 on jams and
//! walls. The error may rise for the first 15 outer steps on rock piles, and stay for 400 Newton steps on walls.
//!
//! # Cost
//!
//! One factorisation of [`super::newton_system`] per inner step.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

#![allow(clippy::needless_range_loop)]

use super::newton_system::{ContactTerms, NewtonSystem, apply, inverse};
use super::progress::Progress;
use super::scaled_problem::{ScaledProblem, project_cone};
use super::sweep::{multiply, product};

/// Smallest proximal weight; the reduced form loses digits below.
const SMALLEST_WEIGHT: f64 = 1e-9;
/// Inner Newton steps per outer step.
const INNER_STEPS: u32 = 15;

/// State of a run, which can be continued at any time.
#[derive(Debug)]
pub struct ProximalNewtonIteration {
    kappa: f64,
    weight: f64,
    r: Vec<f64>,
    /// W r + q at `r`.
    u: Vec<f64>,
    error: f64,
    hold: u32,
    failures: u32,
    /// Outer steps in a row without an inner one.
    idle: u32,
    beta: f64,
    /// Factor of the inner tolerance, reduced when the inner loop idles.
    inner_factor: f64,
    /// Newton steps so far.
    pub(crate) steps: u64,
    /// Smallest true error this arm has seen.
    pub(crate) best: f64,
    /// Set when 13 inner loops in a row failed or had nothing to do.
    pub(crate) failed: bool,
}

/// Alart-Curnier function at one point.
struct Evaluation {
    value: Vec<f64>,
    norm: f64,
}

/// The first of the lengths 1, ½, ... 1/32 along which a norm decreases enough, else that of the least norm; none if no norm is
/// finite.
fn line_search(now: f64, norm_at: impl Fn(f64) -> f64) -> Option<f64> {
    let mut length = 1.0;
    let mut best: Option<(f64, f64)> = None;
    while length >= 1.0 / 40.0 {
        let norm = norm_at(length);
        if norm.is_finite() && best.is_none_or(|b| norm < b.1) {
            best = Some((length, norm));
        }
        if norm <= (1.0 - 1e-4 * length) * now {
            break;
        }
        length *= 0.5;
    }
    best.map(|b| b.0)
}

impl ProximalNewtonIteration {
    /// Starts at `r` with the proximal weight `weight`.
    pub fn new(progress: &mut Progress<'_>, r: &[f64], weight: f64, kappa: f64) -> Self {
        let mut u = vec![0.0; r.len()];
        product(progress.problem, progress.how, r, &mut u);
        progress.products += 1;
        let error = progress.check_with(r, &u);
        Self {
            kappa,
            weight,
            r: r.to_vec(),
            u,
            error,
            hold: 0,
            failures: 0,
            idle: 0,
            beta: 1.0,
            inner_factor: 1e-3,
            steps: 0,
            best: error,
            failed: false,
        }
    }

    /// One outer step; true if the problem is solved.
    pub fn outer_step(
        &mut self,
        progress: &mut Progress<'_>,
        system: &mut NewtonSystem<'_>,
    ) -> bool {
        let q_norm = norm(&progress.problem.q).max(f64::MIN_POSITIVE);
        let tolerance = (self.inner_factor * self.error).min(1e-6) * q_norm;
        let center = self.r.clone();
        let center_u = self.u.clone();
        let (inner, converged) = self.inner(progress, system, &center, tolerance);
        product(progress.problem, progress.how, &self.r, &mut self.u);
        progress.products += 1;
        let error = progress.check_with(&self.r, &self.u);
        if converged && inner == 0 {
            self.inner_factor = (0.03 * self.inner_factor).max(1e-8);
            self.idle += 1;
        } else {
            self.idle = 0;
        }
        if converged && error.is_finite() {
            self.failures = 0;
            self.error = error;
            self.extrapolate(progress, &center);
            if inner <= 6 && self.hold == 0 {
                self.weight = (0.3 * self.weight).max(SMALLEST_WEIGHT);
            } else if inner > 10 {
                self.weight *= 2.0;
            }
            self.hold = self.hold.saturating_sub(1);
        } else {
            self.failures += 1;
            self.weight = (4.0 * self.weight).min(1e3);
            self.hold = 5;
            self.beta = 1.0;
            if error.is_finite() && error < self.error {
                self.error = error;
            } else {
                self.r = center;
                self.u = center_u;
            }
        }
        self.failed = self.failures >= 13 || self.idle >= 13;
        self.best = self.best.min(self.error);
        progress.done()
    }

    /// Semismooth Newton on the proximal step; returns its steps and whether it converged.
    fn inner(
        &mut self,
        progress: &mut Progress<'_>,
        system: &mut NewtonSystem<'_>,
        center: &[f64],
        tolerance: f64,
    ) -> (u32, bool) {
        let problem = progress.problem;
        let n = problem.contacts();
        let a = self.weight;
        let rho: Vec<[f64; 2]> = problem
            .diagonal
            .iter()
            .map(|w| {
                [
                    1.0 / (self.kappa * w[0] + a),
                    1.0 / (self.kappa * w[4].max(w[8]) + a),
                ]
            })
            .collect();
        // What rounding leaves of F is no failure.
        let rounding = self.rounding(progress, &rho);
        let tolerance = tolerance.max(rounding);
        // v = (W + a) r + q − a r_k; at the start r = r_k, so v = u.
        let mut v = self.u.clone();
        let mut now = evaluate(&self.r, &v, &problem.mu, &rho);
        let zero = ContactTerms {
            a: [0.0; 9],
            c: [0.0; 9],
            c_inverse: [0.0; 9],
        };
        let mut terms = vec![zero; n];
        let mut active = vec![false; n];
        let mut step = vec![0.0; 3 * n];
        let mut change = vec![0.0; 3 * n];
        let mut right = vec![0.0; 3 * n];
        for k in 0..INNER_STEPS {
            if now.norm <= tolerance {
                return (k, true);
            }
            if progress.out_of_budget() {
                return (k, false);
            }
            let opened = self.classify(problem, (&v, &rho), &mut terms, &mut active, &mut step);
            for c in 0..3 * n {
                right[c] = -now.value[c];
            }
            if opened {
                multiply(problem, progress.how, &step, &mut change);
                for i in 0..n {
                    if active[i] {
                        let aw = apply(&terms[i].a, &change[3 * i..3 * i + 3]);
                        for c in 0..3 {
                            right[3 * i + c] -= aw[c];
                        }
                    }
                }
            }
            system.factor(&active, &terms);
            let mut solved = vec![0.0; 3 * n];
            let residual = system.solve(&right, &mut solved, 2);
            self.steps += 1;
            progress.products += 1;
            if !residual.is_finite() || residual > 0.5 {
                return (k + 1, false);
            }
            for i in 0..n {
                if active[i] {
                    step[3 * i..3 * i + 3].copy_from_slice(&solved[3 * i..3 * i + 3]);
                }
            }
            // Line search; v moves linearly along the step.
            multiply(problem, progress.how, &step, &mut change);
            for c in 0..3 * n {
                change[c] += a * step[c];
            }
            let norm_at = |length: f64| {
                let r: Vec<f64> = (0..3 * n).map(|c| self.r[c] + length * step[c]).collect();
                let w: Vec<f64> = (0..3 * n).map(|c| v[c] + length * change[c]).collect();
                evaluate(&r, &w, &problem.mu, &rho).norm
            };
            let Some(length) = line_search(now.norm, norm_at) else {
                return (k + 1, false);
            };
            for c in 0..3 * n {
                self.r[c] += length * step[c];
            }
            // Recomputed, not accumulated: rounding would otherwise pile up.
            product(problem, progress.how, &self.r, &mut v);
            progress.products += 1;
            for c in 0..3 * n {
                v[c] += a * (self.r[c] - center[c]);
            }
            now = evaluate(&self.r, &v, &problem.mu, &rho);
        }
        (INNER_STEPS, now.norm <= tolerance)
    }

    /// Linearizes the law of every contact at (r, v) and tells which take part; the step of the others is what closes them. Returns
    /// whether any of these has an impulse to lose.
    fn classify(
        &self,
        problem: &ScaledProblem,
        (v, rho): (&[f64], &[[f64; 2]]),
        terms: &mut [ContactTerms],
        active: &mut [bool],
        step: &mut [f64],
    ) -> bool {
        let mut opened = false;
        step.fill(0.0);
        for i in 0..problem.contacts() {
            let (r, v) = (&self.r[3 * i..3 * i + 3], &v[3 * i..3 * i + 3]);
            let (mu, weight) = (problem.mu[i], self.weight);
            active[i] =
                linearize(r, v, mu, &rho[i], weight, &mut terms[i]) && problem.diagonal[i][0] > 0.0;
            if !active[i] {
                for c in 0..3 {
                    step[3 * i + c] = -r[c];
                    opened |= r[c] != 0.0;
                }
            }
        }
        opened
    }

    /// Rounding of the Alart-Curnier function at the current point: ε ‖ρ(|W||r| + |q|)‖.
    fn rounding(&self, progress: &Progress<'_>, rho: &[[f64; 2]]) -> f64 {
        let p = progress.problem;
        let mut sum = 0.0;
        for i in 0..p.contacts() {
            let mut size = [0.0; 3];
            for c in 0..3 {
                size[c] = p.q[3 * i + c].abs();
            }
            for k in p.row_start[i] as usize..p.row_start[i + 1] as usize {
                let r = &self.r[3 * p.column[k] as usize..];
                let w = &p.value[9 * k..9 * k + 9];
                for c in 0..3 {
                    for row in 0..3 {
                        size[row] += (w[3 * c + row] * r[c]).abs();
                    }
                }
            }
            let [n, t] = rho[i];
            sum += (n * size[0]).powi(2) + t * t * (size[1] * size[1] + size[2] * size[2]);
        }
        f64::EPSILON * sum.sqrt()
    }

    fn extrapolate(&mut self, progress: &mut Progress<'_>, center: &[f64]) {
        self.beta = (2.0 * self.beta).min(64.0);
        let mut u = vec![0.0; self.r.len()];
        while self.beta > 1.05 {
            let mut trial = vec![0.0; self.r.len()];
            for (i, &mu) in progress.problem.mu.iter().enumerate() {
                let mut z = [0.0; 3];
                for c in 0..3 {
                    let at = 3 * i + c;
                    z[c] = center[at] + self.beta * (self.r[at] - center[at]);
                }
                trial[3 * i..3 * i + 3].copy_from_slice(&project_cone(&z, mu));
            }
            product(progress.problem, progress.how, &trial, &mut u);
            progress.products += 1;
            let error = progress.check_with(&trial, &u);
            if error < self.error {
                self.error = error;
                self.r = trial;
                self.u = u;
                return;
            }
            self.beta *= 0.5;
        }
        self.beta = self.beta.max(1.0);
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn evaluate(r: &[f64], v: &[f64], mu: &[f64], rho: &[[f64; 2]]) -> Evaluation {
    let mut value = vec![0.0; r.len()];
    let mut sum = 0.0;
    for (i, &mu) in mu.iter().enumerate() {
        let (r, v) = (&r[3 * i..3 * i + 3], &v[3 * i..3 * i + 3]);
        let f = &mut value[3 * i..3 * i + 3];
        let [rho_n, rho_t] = rho[i];
        let x = r[0] - rho_n * v[0];
        if x <= 0.0 {
            f.copy_from_slice(r);
        } else {
            let y = [r[1] - rho_t * v[1], r[2] - rho_t * v[2]];
            let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
            f[0] = rho_n * v[0];
            if length <= mu * x && mu > 0.0 {
                f[1] = rho_t * v[1];
                f[2] = rho_t * v[2];
            } else {
                let factor = if length > 0.0 { mu * x / length } else { 0.0 };
                f[1] = r[1] - factor * y[0];
                f[2] = r[2] - factor * y[1];
            }
        }
        sum += f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
    }
    Evaluation {
        value,
        norm: sum.sqrt(),
    }
}

/// Derivatives A = ∂F/∂u and C = A a + ∂F/∂r of one contact; false if it is open.
fn linearize(
    r: &[f64],
    v: &[f64],
    mu: f64,
    rho: &[f64; 2],
    a: f64,
    terms: &mut ContactTerms,
) -> bool {
    let [rho_n, rho_t] = *rho;
    let x = r[0] - rho_n * v[0];
    if x <= 0.0 {
        return false;
    }
    let y = [r[1] - rho_t * v[1], r[2] - rho_t * v[2]];
    let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
    if length <= mu * x && mu > 0.0 {
        terms.a = [rho_n, 0.0, 0.0, 0.0, rho_t, 0.0, 0.0, 0.0, rho_t];
        terms.c = terms.a.map(|x| x * a);
        let (n, t) = (1.0 / (rho_n * a), 1.0 / (rho_t * a));
        terms.c_inverse = [n, 0.0, 0.0, 0.0, t, 0.0, 0.0, 0.0, t];
        return true;
    }
    let t = if length > 0.0 {
        [y[0] / length, y[1] / length]
    } else {
        [0.0, 0.0]
    };
    let g = if length > 0.0 { mu * x / length } else { 0.0 };
    let projector = [
        1.0 - t[0] * t[0],
        -t[0] * t[1],
        -t[0] * t[1],
        1.0 - t[1] * t[1],
    ];
    let s = rho_t * g;
    terms.a = [
        rho_n,
        0.0,
        0.0,
        mu * rho_n * t[0],
        s * projector[0],
        s * projector[1],
        mu * rho_n * t[1],
        s * projector[2],
        s * projector[3],
    ];
    let mut c = terms.a.map(|x| x * a);
    c[3] -= mu * t[0];
    c[6] -= mu * t[1];
    c[4] += 1.0 - g * projector[0];
    c[5] -= g * projector[1];
    c[7] -= g * projector[2];
    c[8] += 1.0 - g * projector[3];
    terms.c = c;
    terms.c_inverse = inverse(&c);
    true
}
