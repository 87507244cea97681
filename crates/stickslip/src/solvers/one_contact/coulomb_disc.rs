//! One contact under Coulomb's law in space with a disc as friction section: exact solution.
//!
//! # What it computes
//!
//! Given the block W (normal component first), the velocity q of the contact
//! without its own impulse and the friction coefficient μ, an impulse r with
//!
//! ```text
//! u = W r + q,     K* ∋ u + μ|u_T| e_N  ⊥  r ∈ K = { |r_T| ≤ μ r_N }.
//! ```
//!
//! Preparation eliminates the normal row: with n the row N of W restricted to
//! the tangents and c = W_TN / W_NN, the Schur complement S = W_TT − c nᵀ and
//! q̄ = q_T − c q_N give u_T = S r_T + q̄ whenever u_N = 0. The tangent frame is
//! rotated so that the symmetric part of S is diagonal, its skew part being one
//! number k. Sliding, u_T = −λ r_T with λ > 0, is then one scalar equation
//!
//! ```text
//! φ(λ) = (μ/W_NN)(−q_N D(λ) + n·p(λ)) − |p(λ)| = 0,
//! p(λ) = adj(S) q̄ + λ q̄,     D(λ) = det S + λ tr S + λ²,
//! ```
//!
//! a convex quadratic minus the length of a vector that is linear in λ, solved by a
//! bracketed Newton iteration on the quotient of the two.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law. The scalar reduction is our own.
//!
//! # Guarantees
//!
//! When W_NN > 0 and S is positive definite a solution exists for every q: φ < 0
//! at λ = 0 if the contact does not stick and φ > 0 beyond
//! λ_hi = |q̄|(W_NN + μ|n|)/(μ|q_N|). For a sliding contact r lies on the cone
//! and u_N vanishes to rounding, whatever error is left in λ.
//!
//! # Behaviour to know
//!
//! Several solutions may exist (Painlevé). The order of preference is take-off,
//! stick, slip; among slips the root reached from the start λ. Eigenvalues of S are floored near
//! 4e-15 of W_TT; a W of smaller rank with q outside its range may have no
//! solution at all (wedging), which is reported as [`DiscOutcome::NoSolution`].
//! The rotated frame is not cosmetic: with cofactors in the given frame a
//! block of rank two gave residuals up to 6e-3.
//!
//! # Cost
//!
//! No allocation; 20 to 100 ns.
//!
//! # Tested by
//!
//! `solvers/one_contact/coulomb_disc/tests.rs`: 100,000 random problems against the
//! enumeration.

/// How the contact ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscOutcome {
    /// No impulse: the contact opens or just touches.
    Open,
    /// The impulse lies in the cone and the velocity vanishes.
    Stick,
    /// The impulse lies on the cone and opposes the sliding velocity.
    Slip,
    /// No finite impulse satisfies the law (rank-deficient block, wedging).
    NoSolution,
}

/// Relative floor of the eigenvalues of the tangential Schur complement.
const EIGENVALUE_FLOOR: f64 = 4e-15;
/// A Schur complement whose determinant is below this fraction of the product of
/// the diagonal counts as singular for the rescue.
const DEFICIENT: f64 = 1e-13;
/// An impulse larger than this times |q|/|W| comes from the floor, not from the data.
const ABSURD: f64 = 1e9;

/// Block of one contact in space, prepared for many right-hand sides.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreparedDisc {
    w_nn: f64,
    inverse_w_nn: f64,
    /// Row N of W on the tangents, in the rotated frame.
    n: [f64; 2],
    /// Column N of W on the tangents over W_NN, in the rotated frame.
    c: [f64; 2],
    /// Floored eigenvalues of the symmetric part of S, and its skew part.
    w1: f64,
    w0: f64,
    k: f64,
    det: f64,
    trace: f64,
    mu: f64,
    cos: f64,
    sin: f64,
    /// Size of the block, for the test of absurd impulses.
    size: f64,
    deficient: bool,
}

impl PreparedDisc {
    /// Prepares the row-major block `w` with `shift` added to its diagonal.
    ///
    /// A block with W_NN ≤ 0 belongs to a contact without movable body; such a contact
    /// only ever answers [`DiscOutcome::Open`] or [`DiscOutcome::NoSolution`].
    #[inline]
    pub fn new(w: &[f64; 9], mu: f64, shift: f64) -> Self {
        let w_nn = w[0] + shift;
        if w_nn.is_nan() || w_nn <= 0.0 {
            return Self::default();
        }
        let inverse_w_nn = 1.0 / w_nn;
        let n = [w[1], w[2]];
        let c = [w[3] * inverse_w_nn, w[6] * inverse_w_nn];

        // Schur complement of the normal row: symmetric part and skew number.
        let s00 = w[4] + shift - c[0] * n[0];
        let s11 = w[8] + shift - c[1] * n[1];
        let s01 = w[5] - c[0] * n[1];
        let s10 = w[7] - c[1] * n[0];
        let k = 0.5 * (s01 - s10);
        let off = 0.5 * (s01 + s10);

        // Rotation to the principal tangents; the branch keeps the eigenvector free of cancellation.
        let half = 0.5 * (s00 - s11);
        let mean = 0.5 * (s00 + s11);
        let radius = (half * half + off * off).sqrt();
        let (x, y) = if half >= 0.0 {
            (half + radius, off)
        } else {
            (off, radius - half)
        };
        let length = (x * x + y * y).sqrt();
        let (cos, sin) = if length > 0.0 {
            (x / length, y / length)
        } else {
            (1.0, 0.0)
        };

        // The small eigenvalue from the determinant, which stays accurate when the rows of
        // W differ by orders of magnitude; mean − radius would lose it.
        let (w11, w22) = (w[4] + shift, w[8] + shift);
        let trace_tt = w11 + w22;
        let scale = if trace_tt > 0.0 { trace_tt } else { w_nn };
        let w1 = (mean + radius).max(EIGENVALUE_FLOOR * scale);
        let determinant = s00 * s11 - off * off;
        let graded = scale.min(w11.max(0.0) * w22.max(0.0) / w1);
        let floor = (EIGENVALUE_FLOOR * graded).max(1e-28 * scale);
        let w0 = (determinant / w1).min(w1).max(floor);
        Self {
            w_nn,
            inverse_w_nn,
            n: [cos * n[0] + sin * n[1], cos * n[1] - sin * n[0]],
            c: [cos * c[0] + sin * c[1], cos * c[1] - sin * c[0]],
            w1,
            w0,
            k,
            det: w1 * w0 + k * k,
            trace: w1 + w0,
            mu,
            cos,
            sin,
            size: w_nn.max(scale),
            deficient: determinant <= DEFICIENT * w11 * w22,
        }
    }

    /// Impulse of the contact whose velocity without impulse is `q`.
    ///
    /// `lambda` carries the sliding multiplier from one visit to the next; start with 0.
    /// With [`DiscOutcome::NoSolution`] the impulse returned is zero.
    #[inline(always)]
    pub fn solve(&self, q: &[f64; 3], lambda: &mut f64) -> ([f64; 3], DiscOutcome) {
        if q[0] >= 0.0 {
            return ([0.0; 3], DiscOutcome::Open);
        }
        if self.w_nn <= 0.0 {
            return ([0.0; 3], DiscOutcome::NoSolution);
        }
        if self.mu == 0.0 {
            return ([-q[0] * self.inverse_w_nn, 0.0, 0.0], DiscOutcome::Slip);
        }

        // Tangential velocity with the normal row eliminated, in the rotated frame.
        let qb = [
            self.cos * q[1] + self.sin * q[2] - self.c[0] * q[0],
            self.cos * q[2] - self.sin * q[1] - self.c[1] * q[0],
        ];
        let a = [
            self.w0 * qb[0] - self.k * qb[1],
            self.w1 * qb[1] + self.k * qb[0],
        ];
        let c0 = self.n[0] * a[0] + self.n[1] * a[1] - q[0] * self.det;
        let ratio = self.mu * self.inverse_w_nn;
        let radius = ratio * c0;
        let aa = a[0] * a[0] + a[1] * a[1];

        // Stick: the impulse that stops the contact lies in the cone.
        if c0 >= 0.0 && aa <= radius * radius {
            let inverse_det = 1.0 / self.det;
            let tangential = [-a[0] * inverse_det, -a[1] * inverse_det];
            let normal = c0 * inverse_det * self.inverse_w_nn;
            if !self.deficient || !self.is_absurd(normal, &qb, q[0]) {
                return (self.in_given_frame(normal, tangential), DiscOutcome::Stick);
            }
            return self.rescue(q, &qb, &a, c0, lambda);
        }

        // Slide: bracketed Newton iteration on the quotient.
        let qq = qb[0] * qb[0] + qb[1] * qb[1];
        let q_length = qq.sqrt();
        let aq = a[0] * qb[0] + a[1] * qb[1];
        let c1 = self.n[0] * qb[0] + self.n[1] * qb[1] - q[0] * self.trace;
        let c2 = -q[0];
        let n_length = (self.n[0] * self.n[0] + self.n[1] * self.n[1]).sqrt();
        let mut high = q_length * (self.w_nn + self.mu * n_length) / (self.mu * c2);
        let mut low = 0.0;
        let mut x = *lambda;
        if x <= 0.0 || x >= high {
            x = (q_length / (ratio * c2) - 0.5 * self.trace).max(1e-3 * high);
        }
        for iteration in 0..60 {
            let numerator = ratio * (c0 + x * (c1 + x * c2));
            let pp = aa + x * (2.0 * aq + x * qq);
            let p_length = pp.sqrt();
            let phi = numerator - p_length;
            let noise = 1e-15 * p_length + 2e-16 * ratio * (c0.abs() + x * (c1.abs() + x * c2));
            if phi.abs() <= noise {
                break;
            }
            if phi < 0.0 {
                low = x;
            } else {
                high = x;
            }
            let slope = ratio * (c1 + 2.0 * x * c2) * pp - numerator * (aq + x * qq);
            let mut next = x - phi * pp / slope;
            let inside = next > low && next < high;
            if !inside || iteration >= 20 {
                next = if low == 0.0 && iteration < 20 {
                    0.05 * high
                } else {
                    0.5 * (low + high)
                };
            }
            let step = next - x;
            x = next;
            if step.abs() <= 4e-16 * x {
                break;
            }
        }
        *lambda = x;
        let (normal, tangential) = self.slide_at(x, q[0], &qb, &a);
        if self.deficient && (normal <= 0.0 || self.is_absurd(normal, &qb, q[0])) {
            return self.rescue(q, &qb, &a, c0, lambda);
        }
        (self.in_given_frame(normal, tangential), DiscOutcome::Slip)
    }

    /// Friction coefficient the block was prepared with.
    pub fn friction(&self) -> f64 {
        self.mu
    }

    /// Normal and rotated tangential impulse of a contact that slides along p(λ).
    #[inline(always)]
    fn slide_at(&self, lambda: f64, q_n: f64, qb: &[f64; 2], a: &[f64; 2]) -> (f64, [f64; 2]) {
        let p = [a[0] + lambda * qb[0], a[1] + lambda * qb[1]];
        let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
        let inverse = if length > 0.0 { -1.0 / length } else { 0.0 };
        let t = [p[0] * inverse, p[1] * inverse];
        let normal = -q_n / (self.w_nn + self.mu * (self.n[0] * t[0] + self.n[1] * t[1]));
        let tangential = self.mu * normal;
        (normal, [tangential * t[0], tangential * t[1]])
    }

    #[inline(always)]
    fn in_given_frame(&self, normal: f64, t: [f64; 2]) -> [f64; 3] {
        [
            normal,
            self.cos * t[0] - self.sin * t[1],
            self.sin * t[0] + self.cos * t[1],
        ]
    }

    #[inline(always)]
    fn is_absurd(&self, normal: f64, qb: &[f64; 2], q_n: f64) -> bool {
        let size = normal * (1.0 + self.mu) * self.size;
        let data = qb[0] * qb[0] + qb[1] * qb[1] + q_n * q_n;
        size * size > ABSURD * ABSURD * data
    }

    /// Search for a sliding root of moderate size, from above.
    #[cold]
    #[inline(never)]
    fn rescue(
        &self,
        q: &[f64; 3],
        qb: &[f64; 2],
        a: &[f64; 2],
        c0: f64,
        lambda: &mut f64,
    ) -> ([f64; 3], DiscOutcome) {
        let ratio = self.mu * self.inverse_w_nn;
        let c1 = self.n[0] * qb[0] + self.n[1] * qb[1] - q[0] * self.trace;
        let phi = |x: f64| {
            let p = [a[0] + x * qb[0], a[1] + x * qb[1]];
            ratio * (c0 + x * (c1 - x * q[0])) - (p[0] * p[0] + p[1] * p[1]).sqrt()
        };
        let q_length = (qb[0] * qb[0] + qb[1] * qb[1]).sqrt();
        let n_length = (self.n[0] * self.n[0] + self.n[1] * self.n[1]).sqrt();
        let mut high = q_length * (self.w_nn + self.mu * n_length) / (-self.mu * q[0]);
        for _ in 0..400 {
            let low = 0.85 * high;
            if phi(low) < 0.0 {
                let mut bracket = (low, high);
                for _ in 0..80 {
                    let middle = 0.5 * (bracket.0 + bracket.1);
                    if phi(middle) < 0.0 {
                        bracket.0 = middle;
                    } else {
                        bracket.1 = middle;
                    }
                }
                let (normal, tangential) = self.slide_at(bracket.1, q[0], qb, a);
                if normal > 0.0 && !self.is_absurd(normal, qb, q[0]) {
                    *lambda = bracket.1;
                    return (self.in_given_frame(normal, tangential), DiscOutcome::Slip);
                }
                break;
            }
            high = low;
        }
        *lambda = 0.0;
        ([0.0; 3], DiscOutcome::NoSolution)
    }
}

#[cfg(test)]
mod tests;
