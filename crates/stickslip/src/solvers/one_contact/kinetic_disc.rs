//! Kinetic projection of one contact with the friction disc in space.
//!
//! # What it computes
//!
//! S(q, v) in contact coordinates: with a = −q_n > 0, w = W_nt, Ŵ = W_tt − wᵀw/W_nn,
//! û = q_t − wᵀ q_n/W_nn, minimise ½ p_t·Ŵ p_t + û·p_t over |p_t| ≤ μ p_n, p_n = (a − w·p_t)/W_nn.
//!
//! With κ = μ w/W_nn and c = μ a/W_nn the constraint is |p_t| ≤ c − κ·p_t. If Ŵ⁻¹û violates it, a
//! multiplier ν ≥ 0 gives (Ŵ + ν(I − κκᵀ)) p_t = −û − ν c κ: p_t = N(ν)/Δ(ν), μ p_n = P(ν)/Δ(ν) with
//! quadratic polynomials, and |N| = ±P is the scalar equation. In the frame with κ = (k, 0):
//! P = P₀ + ν(c tr Ŵ + k û₁) + ν² c.
//!
//! # Source
//!
//! [Paoli2015], (7); the reduction to one multiplier is our own. A scan of the arc of slip
//! directions was rejected: it needs care near the asymptotes for γ < 0.
//!
//! # Guarantees
//!
//! The problem is convex, so ν is unique. k < 1 (γ > 0, ellipse) or k = 1 (parabola): Δ > 0 and one sign change in
//! (0, ∞). k > 1 (γ < 0, one branch of a hyperbola): Δ has one zero ν*; the root lies in (0, ν*) if
//! P(ν*) > 0, else in (ν*, ∞). |N| − P is evaluated from P ± N₁ and N₂, free of cancellation at k = 1.
//!
//! # Behaviour to know
//!
//! If N(ν*) = 0 the direction is lost in rounding: the outcome is handed to the general method. A singular
//! Ŵ is shifted by 4e-15 of the trace of W_tt: the velocity is unique, the impulse is a short one.
//!
//! # Cost
//!
//! Some ten evaluations of three quadratic polynomials; no allocation.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use super::LocalState;
use crate::algebra::root::bracketed_root;

/// Impulse for an approach velocity `−q[0] > 0`; None if rounding spoils the direction.
pub(super) fn solve(w: &[f64], q: &[f64], mu: f64) -> Option<([f64; 3], LocalState)> {
    let approach = -q[0];
    if mu == 0.0 {
        return Some(([approach / w[0], 0.0, 0.0], LocalState::Slip));
    }
    // Symmetric part of the normal-tangential coupling, frame along it.
    let coupling = [0.5 * (w[1] + w[3]), 0.5 * (w[2] + w[6])];
    let length = coupling[0].hypot(coupling[1]);
    let (cos, sin) = if length > 0.0 {
        (coupling[0] / length, coupling[1] / length)
    } else {
        (1.0, 0.0)
    };
    let into = |x: f64, y: f64| [cos * x + sin * y, cos * y - sin * x];
    let off = 0.5 * (w[5] + w[7]);
    let top = into(w[4], off);
    let bottom = into(off, w[8]);
    let t11 = cos * top[0] + sin * bottom[0];
    let t12 = cos * top[1] + sin * bottom[1];
    let t22 = cos * bottom[1] - sin * top[1];
    let mut slice = Slice {
        a11: t11 - length * length / w[0],
        a12: t12,
        a22: t22,
        u: into(q[1], q[2]),
        k: mu * length / w[0],
        c: mu * approach / w[0],
        determinant: 0.0,
    };
    slice.u[0] -= length / w[0] * q[0];
    // Dependent rows: shift both eigenvalues.
    slice.determinant = slice.a11 * slice.a22 - slice.a12 * slice.a12;
    if slice.determinant <= 1e-13 * t11 * t22 {
        let floor = 4e-15 * (t11 + t22);
        slice.a11 = slice.a11.max(0.0) + floor;
        slice.a22 += floor;
        slice.determinant =
            (slice.a11 * slice.a22 - slice.a12 * slice.a12).max(floor * (slice.a11 + slice.a22));
    }
    let (nu, sign, state) = slice.multiplier()?;
    let n = slice.numerator(nu);
    let det = slice.delta(nu);
    let size = n[0].hypot(n[1]);
    let tangential;
    let normal;
    if state == LocalState::Stick {
        tangential = [n[0] / det, n[1] / det];
        normal = (approach - length * tangential[0]) / w[0];
    } else {
        // From the direction alone: on the cone and at u_n = 0 to rounding.
        let t = [sign * n[0] / size, sign * n[1] / size];
        let denominator = w[0] + mu * length * t[0];
        if !(denominator > 0.0 && size > 0.0) {
            return None;
        }
        normal = approach / denominator;
        tangential = [mu * normal * t[0], mu * normal * t[1]];
    }
    let p = [
        normal,
        cos * tangential[0] - sin * tangential[1],
        sin * tangential[0] + cos * tangential[1],
    ];
    p.iter().all(|x| x.is_finite()).then_some((p, state))
}

/// Data on the slice u_n = 0, in the frame with κ = (k, 0).
struct Slice {
    a11: f64,
    a12: f64,
    a22: f64,
    u: [f64; 2],
    k: f64,
    c: f64,
    determinant: f64,
}

impl Slice {
    /// a22 u1 − a12 u2, first entry of adj(Ŵ) û.
    fn adjugate(&self) -> f64 {
        self.a22 * self.u[0] - self.a12 * self.u[1]
    }

    fn numerator(&self, nu: f64) -> [f64; 2] {
        let (k, c) = (self.k, self.c);
        let first = self.adjugate() + nu * (self.u[0] + c * k * self.a22 + nu * c * k);
        let second = self.a11 * self.u[1] - self.a12 * self.u[0]
            + nu * ((1.0 - k) * (1.0 + k) * self.u[1] - c * k * self.a12);
        [-first, -second]
    }

    /// P with the second sign: P + N₁ for `side` = 1, P − N₁ for −1.
    fn pair(&self, nu: f64, side: f64) -> f64 {
        let (c, e) = (self.c, 1.0 - side * self.k);
        c * self.determinant - side * e * self.adjugate()
            + nu * (c * self.a11 + e * (c * self.a22 - side * self.u[0]) + nu * c * e)
    }

    fn delta(&self, nu: f64) -> f64 {
        let e = (1.0 - self.k) * (1.0 + self.k);
        self.determinant + nu * (self.a11 + e * self.a22 + nu * e)
    }

    /// |N| − sign P, without cancellation.
    fn excess(&self, nu: f64, sign: f64) -> f64 {
        let (plus, minus) = (self.pair(nu, 1.0), self.pair(nu, -1.0));
        let p = 0.5 * (plus + minus);
        let n = self.numerator(nu);
        let size = n[0].hypot(n[1]) + p.abs();
        if sign * p <= 0.0 {
            size
        } else if size == 0.0 {
            0.0
        } else {
            (n[1] / size) * n[1] - (plus / size) * minus
        }
    }

    /// (ν, sign of Δ, state); None if no bracket is found.
    fn multiplier(&self) -> Option<(f64, f64, LocalState)> {
        let at_zero = self.excess(0.0, 1.0);
        if at_zero <= 0.0 {
            return Some((0.0, 1.0, LocalState::Stick));
        }
        let unit = self.a11 + self.a22 + (self.u[0].abs() + self.u[1].abs()) / self.c;
        let (start, f_start, sign) = if self.k > 1.0 {
            // Zero of Δ beyond which its sign is negative.
            let e = (self.k - 1.0) * (self.k + 1.0);
            let beta = self.a11 - e * self.a22;
            let root = (beta * beta + 4.0 * e * self.determinant).sqrt();
            let star = if beta >= 0.0 {
                (beta + root) / (2.0 * e)
            } else {
                2.0 * self.determinant / (root - beta)
            };
            let p = self.pair(star, 1.0) + self.pair(star, -1.0);
            if p > 0.0 {
                let value = self.excess(star, 1.0);
                if value >= 0.0 || !star.is_finite() {
                    return None;
                }
                let nu = bracketed_root(0.0, at_zero, star, value, |nu| self.excess(nu, 1.0));
                return Some((nu, 1.0, LocalState::Slip));
            }
            (star, self.excess(star, -1.0), -1.0)
        } else {
            (0.0, at_zero, 1.0)
        };
        if sign * f_start <= 0.0 {
            return None;
        }
        // Outward until the sign changes.
        let (mut low, mut f_low) = (start, f_start);
        let mut high = start + 1e-3 * unit.max(start);
        for _ in 0..500 {
            let value = self.excess(high, sign);
            if sign * value <= 0.0 {
                let nu = bracketed_root(low, f_low, high, value, |nu| self.excess(nu, sign));
                return Some((nu, sign, LocalState::Slip));
            }
            (low, f_low) = (high, value);
            high = start + 4.0 * (high - start);
        }
        None
    }
}
