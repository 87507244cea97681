//! Direct interior point method: the friction law itself, not a sequence of convex
//! problems, with clipped De Saxcé derivative.
//!
//! # What it computes
//!
//! With D = diag(μ, 1, 1), z = D x/b and s = D⁻¹(u + μ|u_T| e_N)/b (x scaled impulse, b a common size) the law
//! reads s = W'z + q' + |s_T| e_N, z ∘ s = 0 with both in the self-dual Lorentz cone, W' = D⁻¹WD⁻¹. One
//! iteration is a predictor-corrector step in Nesterov-Todd scaling P = V²: (W' + E P) dz = …, where
//! E = I − θ e_N (0, s_T/|s_T|)ᵀ and θ ≤ 1 is the largest value for which E P keeps a positive semidefinite symmetric part.
//!
//! # Source
//!
//! Predictor-corrector methods for second-order cones are standard; the clipping is our own.
//!
//! # Guarantees
//!
//! With clipping the matrix is definite whenever W is monotone, so each step exists. No proof of convergence.
//!
//! # Behaviour to know
//!
//! Reaches 1e-3 to 1e-6 on almost everything in 10 to 40 iterations, then cancellation stops it: a
//! start for [`super::proximal_newton`], seldom the end. Without clipping it is faster where it works and stalls at 1e-3 elsewhere.
//!
//! # Cost
//!
//! One factorisation of [`super::newton_system`] per iteration.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

#![allow(clippy::needless_range_loop)]

use super::newton_system::{Block, ContactTerms, NewtonSystem, apply, times};
use super::progress::Progress;
use super::scaled_problem::ScaledProblem;
use super::sweep::multiply;

/// Refinements of every solution of the linear system, at most.
const REFINEMENTS: usize = 4;

/// State of a run, which can be continued at any time.
#[derive(Debug)]
pub struct InteriorPointIteration {
    z: Vec<f64>,
    s: Vec<f64>,
    /// Common size b.
    size: f64,
    active: Vec<bool>,
    /// Contacts without friction: cones of dimension one.
    frictionless: Vec<bool>,
    q: Vec<f64>,
    short_steps: u32,
    /// Iterations so far.
    pub(crate) iterations: u32,
    /// Best error and its point, in scaled impulses.
    pub(crate) best: f64,
    pub(crate) best_x: Vec<f64>,
    last_halving: (u32, f64),
    /// Set on breakdown or when steps vanish.
    pub(crate) failed: bool,
}

/// Nesterov-Todd scaling of one contact.
#[derive(Clone, Copy, Default)]
struct Scaling {
    v: Block,
    v_inverse: Block,
    lambda: [f64; 3],
}

/// What Newton's method reads of the iterate.
struct Linearised {
    scaling: Vec<Scaling>,
    /// Jacobian E of z ↦ s of each contact.
    jacobian: Vec<Block>,
    terms: Vec<ContactTerms>,
    /// Mean of z·s over the contacts that can move.
    gap: f64,
}

impl InteriorPointIteration {
    /// Starts from the centre; `None` if no contact can move.
    pub fn new(progress: &Progress<'_>) -> Option<Self> {
        let problem = progress.problem;
        let n = problem.contacts();
        let mut q = problem.q.clone();
        let frictionless: Vec<bool> = problem.mu.iter().map(|&mu| mu == 0.0).collect();
        for i in 0..n {
            if !frictionless[i] {
                q[3 * i] /= problem.mu[i];
            }
        }
        let active: Vec<bool> = problem.diagonal.iter().map(|w| w[0] > 0.0).collect();
        let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        let largest = q.iter().fold(0.0f64, |m, x| m.max(x.abs())) / size;
        if !largest.is_finite() || largest == 0.0 || !active.contains(&true) {
            return None;
        }
        let mut z = vec![0.0; 3 * n];
        for i in 0..n {
            z[3 * i] = largest;
        }
        Some(Self {
            s: z.clone(),
            z,
            size,
            active,
            frictionless,
            q: q.iter().map(|x| x / size).collect(),
            short_steps: 0,
            iterations: 0,
            best: f64::INFINITY,
            best_x: vec![0.0; 3 * n],
            last_halving: (0, f64::INFINITY),
            failed: false,
        })
    }

    /// Whether the best error has not halved for 8 iterations.
    pub fn stalled(&self) -> bool {
        self.failed || self.iterations - self.last_halving.0 >= 8
    }

    /// One predictor-corrector iteration; true if the problem is solved.
    pub fn iterate(&mut self, progress: &mut Progress<'_>, system: &mut NewtonSystem<'_>) -> bool {
        let problem = progress.problem;
        let Linearised {
            scaling,
            jacobian,
            terms,
            gap,
        } = self.linearise(problem);
        let x = self.impulse_variables(problem.mu.as_slice());
        let mut wx = vec![0.0; x.len()];
        multiply(problem, progress.how, &x, &mut wx);
        progress.products += 1;
        let residual = self.residual(problem, &wx);
        system.factor(&self.active, &terms);
        // Predictor.
        let mut rc = vec![0.0; x.len()];
        for i in 0..problem.contacts() {
            if self.active[i] {
                let l = &scaling[i].lambda;
                let square = jordan(l, l);
                for k in 0..3 {
                    rc[3 * i + k] = -square[k];
                }
            }
        }
        let Some((dz, ds)) = self.direction(progress, system, &scaling, &jacobian, &residual, &rc)
        else {
            self.failed = true;
            return false;
        };
        let affine = self.boundary(&dz, &ds).min(1.0);
        let sigma = (1.0 - affine).powi(3).clamp(1e-8, 1.0);
        // Corrector.
        let mut corrected = rc.clone();
        for i in 0..problem.contacts() {
            if self.active[i] {
                let a = apply(&scaling[i].v_inverse, &ds[3 * i..3 * i + 3]);
                let b = apply(&scaling[i].v, &dz[3 * i..3 * i + 3]);
                let second = jordan(&a, &b);
                for k in 0..3 {
                    corrected[3 * i + k] -= second[k];
                }
                corrected[3 * i] += sigma * gap;
            }
        }
        let Some((mut dz, mut ds)) =
            self.direction(progress, system, &scaling, &jacobian, &residual, &corrected)
        else {
            self.failed = true;
            return false;
        };
        let fraction = if affine > 0.9 {
            (1.0 - gap).max(0.99)
        } else {
            0.95
        };
        let mut step = (fraction * self.boundary(&dz, &ds)).min(1.0);
        if step < 0.1 {
            // A short step: a plainly centred direction may go further.
            let mut centred = rc;
            for i in 0..problem.contacts() {
                if self.active[i] {
                    centred[3 * i] += sigma.max(0.5) * gap;
                }
            }
            if let Some((cz, cs)) =
                self.direction(progress, system, &scaling, &jacobian, &residual, &centred)
            {
                let other = (0.95 * self.boundary(&cz, &cs)).min(1.0);
                if other > step {
                    (step, dz, ds) = (other, cz, cs);
                }
            }
        }
        self.advance(progress, step, (&dz, &ds))
    }

    /// Takes the step and keeps the best iterate; returns whether the work is done.
    fn advance(
        &mut self,
        progress: &mut Progress<'_>,
        step: f64,
        (dz, ds): (&[f64], &[f64]),
    ) -> bool {
        for k in 0..self.z.len() {
            self.z[k] += step * dz[k];
            self.s[k] += step * ds[k];
        }
        self.iterations += 1;
        self.short_steps = if step < 1e-7 { self.short_steps + 1 } else { 0 };
        let x = self.impulse_variables(progress.problem.mu.as_slice());
        if x.iter().any(|x| !x.is_finite()) || self.short_steps >= 4 {
            self.failed = true;
            return false;
        }
        let error = progress.check(&x);
        if error < self.best {
            self.best = error;
            self.best_x = x;
        }
        if self.best <= 0.5 * self.last_halving.1 {
            self.last_halving = (self.iterations, self.best);
        }
        progress.done()
    }

    /// Scalings, jacobians and terms of the Newton system at the iterate, and the mean complementarity gap.
    fn linearise(&self, problem: &ScaledProblem) -> Linearised {
        let n = problem.contacts();
        let mut scaling = vec![Scaling::default(); n];
        let mut jacobian = vec![[0.0; 9]; n];
        let zero = ContactTerms {
            a: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            c: [0.0; 9],
            c_inverse: [0.0; 9],
        };
        let mut terms = vec![zero; n];
        let (mut gap, mut count) = (0.0, 0usize);
        for i in 0..n {
            if !self.active[i] {
                continue;
            }
            let (z, s) = (&self.z[3 * i..3 * i + 3], &self.s[3 * i..3 * i + 3]);
            gap += z[0] * s[0] + z[1] * s[1] + z[2] * s[2];
            count += 1;
            let mu = problem.mu[i];
            if self.frictionless[i] {
                scaling[i] = scalar_scaling(z[0], s[0]);
                jacobian[i] = IDENTITY;
                let p = s[0] / z[0];
                terms[i].c = [p, 0.0, 0.0, 0.0, 1e20, 0.0, 0.0, 0.0, 1e20];
                terms[i].c_inverse = [1.0 / p, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
                continue;
            }
            scaling[i] = nesterov_todd(z, s);
            let p = times(&scaling[i].v, &scaling[i].v);
            let p_inverse = times(&scaling[i].v_inverse, &scaling[i].v_inverse);
            let (e, e_inverse) = clipped_jacobian(&p, s);
            jacobian[i] = e;
            // C = D E P D and its inverse.
            terms[i].c = with_friction(&times(&e, &p), mu);
            terms[i].c_inverse = with_friction(&times(&p_inverse, &e_inverse), 1.0 / mu);
        }
        Linearised {
            scaling,
            jacobian,
            terms,
            gap: gap / count as f64,
        }
    }

    /// Residual p = s − W'z − q' − |s_T| e_N, from the product of W with the impulses.
    fn residual(&self, problem: &ScaledProblem, wx: &[f64]) -> Vec<f64> {
        let mut residual = vec![0.0; wx.len()];
        for i in 0..problem.contacts() {
            let mu = if self.frictionless[i] {
                1.0
            } else {
                problem.mu[i]
            };
            let s = &self.s[3 * i..3 * i + 3];
            let slip = if self.frictionless[i] {
                0.0
            } else {
                s[1].hypot(s[2])
            };
            residual[3 * i] = s[0] - wx[3 * i] / (mu * self.size) - self.q[3 * i] - slip;
            for k in 1..3 {
                let at = 3 * i + k;
                residual[at] = if self.frictionless[i] {
                    0.0
                } else {
                    s[k] - wx[at] / self.size - self.q[at]
                };
            }
        }
        residual
    }

    /// x = D⁻¹ z b.
    fn impulse_variables(&self, mu: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.z.iter().map(|z| z * self.size).collect();
        for i in 0..mu.len() {
            if !self.active[i] {
                x[3 * i..3 * i + 3].fill(0.0);
            } else if self.frictionless[i] {
                x[3 * i + 1] = 0.0;
                x[3 * i + 2] = 0.0;
            } else {
                x[3 * i] /= mu[i];
            }
        }
        x
    }

    /// dz, ds for the complementarity right side `rc`.
    fn direction(
        &self,
        progress: &Progress<'_>,
        system: &NewtonSystem<'_>,
        scaling: &[Scaling],
        jacobian: &[Block],
        residual: &[f64],
        rc: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = scaling.len();
        let mu = &progress.problem.mu;
        let mut h = vec![0.0; 3 * n];
        let mut right = vec![0.0; 3 * n];
        for i in 0..n {
            if !self.active[i] {
                continue;
            }
            if self.frictionless[i] {
                let l = scaling[i].lambda[0];
                h[3 * i] = scaling[i].v[0] * rc[3 * i] / l;
                right[3 * i] = residual[3 * i] + h[3 * i];
                continue;
            }
            let divided = jordan_divide(&scaling[i].lambda, &rc[3 * i..3 * i + 3]);
            let hi = apply(&scaling[i].v, &divided);
            h[3 * i..3 * i + 3].copy_from_slice(&hi);
            let eh = apply(&jacobian[i], &hi);
            right[3 * i] = mu[i] * (residual[3 * i] + eh[0]);
            right[3 * i + 1] = residual[3 * i + 1] + eh[1];
            right[3 * i + 2] = residual[3 * i + 2] + eh[2];
        }
        let mut dz = vec![0.0; 3 * n];
        let error = system.solve(&right, &mut dz, REFINEMENTS);
        if !error.is_finite() {
            return None;
        }
        let mut ds = vec![0.0; 3 * n];
        for i in 0..n {
            if !self.active[i] {
                continue;
            }
            if self.frictionless[i] {
                dz[3 * i + 1] = 0.0;
                dz[3 * i + 2] = 0.0;
                ds[3 * i] = h[3 * i] - scaling[i].v[0] * scaling[i].v[0] * dz[3 * i];
                continue;
            }
            dz[3 * i] *= mu[i];
            let vz = apply(&scaling[i].v, &dz[3 * i..3 * i + 3]);
            let pz = apply(&scaling[i].v, &vz);
            for k in 0..3 {
                ds[3 * i + k] = h[3 * i + k] - pz[k];
            }
        }
        Some((dz, ds))
    }

    /// Largest step that keeps z and s in their cones.
    fn boundary(&self, dz: &[f64], ds: &[f64]) -> f64 {
        let mut step = f64::INFINITY;
        for i in 0..self.active.len() {
            if self.active[i] {
                let range = 3 * i..3 * i + 3;
                step = step.min(to_boundary(&self.z[range.clone()], &dz[range.clone()]));
                step = step.min(to_boundary(&self.s[range.clone()], &ds[range]));
            }
        }
        step
    }
}

const IDENTITY: Block = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// diag(μ,1,1) B diag(μ,1,1).
fn with_friction(b: &Block, mu: f64) -> Block {
    [
        b[0] * mu * mu,
        b[1] * mu,
        b[2] * mu,
        b[3] * mu,
        b[4],
        b[5],
        b[6] * mu,
        b[7],
        b[8],
    ]
}

/// (x0 − |x_T|)(x0 + |x_T|): the factored form does not cancel.
fn determinant(x: &[f64]) -> f64 {
    let t = x[1].hypot(x[2]);
    (x[0] - t) * (x[0] + t)
}

fn jordan(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
        a[0] * b[1] + b[0] * a[1],
        a[0] * b[2] + b[0] * a[2],
    ]
}

/// x with l ∘ x = r.
fn jordan_divide(l: &[f64; 3], r: &[f64]) -> [f64; 3] {
    let det = determinant(l);
    let dot = l[1] * r[1] + l[2] * r[2];
    let x0 = (l[0] * r[0] - dot) / det;
    [x0, (r[1] - l[1] * x0) / l[0], (r[2] - l[2] * x0) / l[0]]
}

fn scalar_scaling(z: f64, s: f64) -> Scaling {
    let v = (s / z).sqrt();
    let mut scaling = Scaling {
        v: [0.0; 9],
        v_inverse: [0.0; 9],
        lambda: [(s * z).sqrt(), 0.0, 0.0],
    };
    scaling.v[0] = v;
    scaling.v_inverse[0] = 1.0 / v;
    scaling
}

fn nesterov_todd(z: &[f64], s: &[f64]) -> Scaling {
    let (dz, ds) = (determinant(z), determinant(s));
    let (rz, rs) = (1.0 / dz.sqrt(), 1.0 / ds.sqrt());
    let zb = [z[0] * rz, z[1] * rz, z[2] * rz];
    let sb = [s[0] * rs, s[1] * rs, s[2] * rs];
    let dot = zb[0] * sb[0] + zb[1] * sb[1] + zb[2] * sb[2];
    let gamma = (0.5 * (1.0 + dot)).sqrt();
    let w = [
        (sb[0] + zb[0]) / (2.0 * gamma),
        (sb[1] - zb[1]) / (2.0 * gamma),
        (sb[2] - zb[2]) / (2.0 * gamma),
    ];
    let eta = (ds / dz).sqrt().sqrt();
    let arrow = |w: [f64; 3], eta: f64| {
        let f = 1.0 / (1.0 + w[0]);
        [
            eta * w[0],
            eta * w[1],
            eta * w[2],
            eta * w[1],
            eta * (1.0 + w[1] * w[1] * f),
            eta * w[1] * w[2] * f,
            eta * w[2],
            eta * w[1] * w[2] * f,
            eta * (1.0 + w[2] * w[2] * f),
        ]
    };
    let v = arrow(w, eta);
    Scaling {
        v,
        v_inverse: arrow([w[0], -w[1], -w[2]], 1.0 / eta),
        lambda: apply(&v, z),
    }
}

/// E = I − θ e_N (0, t)ᵀ with the largest θ ≤ 1 that keeps E P monotone, and its inverse.
fn clipped_jacobian(p: &Block, s: &[f64]) -> (Block, Block) {
    let length = s[1].hypot(s[2]);
    if length == 0.0 {
        return (IDENTITY, IDENTITY);
    }
    let t = [s[1] / length, s[2] / length];
    let build = |theta: f64| {
        let mut e = IDENTITY;
        e[1] = -theta * t[0];
        e[2] = -theta * t[1];
        e
    };
    let mut theta = 1.0;
    if !is_monotone(&times(&build(1.0), p)) {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..7 {
            let middle = 0.5 * (low + high);
            if is_monotone(&times(&build(middle), p)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        theta = low;
    }
    (build(theta), build(-theta))
}

/// Whether the symmetric part is positive semidefinite, with a slack of 1e-13.
fn is_monotone(b: &Block) -> bool {
    let size = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let slack = 1e-13 * size;
    let (a, d, f) = (b[0] + slack, b[4] + slack, b[8] + slack);
    let (p, q, r) = (
        0.5 * (b[1] + b[3]),
        0.5 * (b[2] + b[6]),
        0.5 * (b[5] + b[7]),
    );
    let minor = a * d - p * p;
    let det = a * (d * f - r * r) - p * (p * f - r * q) + q * (p * r - d * q);
    a >= 0.0 && minor >= 0.0 && det >= 0.0
}

/// Largest step from x along d inside the Lorentz cone.
fn to_boundary(x: &[f64], d: &[f64]) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant(x).max(0.0);
    // a α² + 2 b α + c = 0, smallest positive root; and the axis must stay positive.
    let discriminant = b * b - a * c;
    let mut step = f64::INFINITY;
    if a < 0.0 || (b < 0.0 && discriminant >= 0.0) {
        let root = discriminant.max(0.0).sqrt();
        let denominator = -b + root;
        if denominator > 0.0 {
            step = c / denominator;
        }
    }
    if d[0] < 0.0 {
        step = step.min(-x[0] / d[0]);
    }
    step
}
