//! Kinetic projection of one contact with the friction disc in space.
//!
//! # What it computes
//!
//! S(q, v) in contact coordinates: with a = −q_n > 0, w = W_nt, Ŵ = W_tt − wᵀw/W_nn,
//! û = q_t − wᵀ q_n/W_nn, minimise ½ p_t·Ŵ p_t + û·p_t over |p_t| ≤ μ p_n, p_n = (a − w·p_t)/W_nn.
//!
//! With κ = μ w/W_nn and c = μ a/W_nn the constraint is |p_t| ≤ c − κ·p_t. If Ŵ⁻¹û violates it, a
//! multiplier ν ≥ 0 gives (Ŵ + ν(I − κκᵀ)) p_t = −û − ν c κ: p_t = N(ν)/Δ(ν), μ p_n = P(ν)/Δ(ν) with
//! quadratic polynomials, and |N| = ±P is the scalar equation;
//! P = c det Ŵ + κ·adj(Ŵ)û + ν(c tr Ŵ + κ·û) + ν² c.
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
//! For k > 1 the root gives the place on the hyperbola, and Newton's method along the curve mends it: p_n = a/(W_nn + μ w·t)
//! from the direction t alone loses as many digits as a is smaller than the tangential velocity.
//!
//! # Behaviour to know
//!
//! At a = 0 and k > 1 the slice is a wedge between two directions of jams ([`jam`]): the limit as the approach vanishes.
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
use crate::algebra::eigen2::Eigen2;
use crate::algebra::root::bracketed_root;

/// Relative floor of the eigenvalues of Ŵ.
const FLOOR: f64 = 4e-15;

/// Impulse for an approach velocity `−q[0] > 0`; None if rounding spoils the direction.
pub(super) fn solve(w: &[f64], q: &[f64], mu: f64) -> Option<([f64; 3], LocalState)> {
    let approach = -q[0];
    if mu == 0.0 {
        return Some(([approach / w[0], 0.0, 0.0], LocalState::Slip));
    }
    let (slice, axes, n) = Slice::of(w, q, mu);
    let (nu, sign, state) = slice.multiplier()?;
    let (normal, tangential);
    if state == LocalState::Stick {
        tangential = [-slice.u[0] / slice.a[0], -slice.u[1] / slice.a[1]];
        normal = (approach - n[0] * tangential[0] - n[1] * tangential[1]) / w[0];
    } else {
        // From the direction alone: on the cone and at u_n = 0 to rounding.
        let numerator = slice.numerator(nu);
        let size = numerator[0].hypot(numerator[1]);
        let t = [sign * numerator[0] / size, sign * numerator[1] / size];
        let denominator = w[0] + mu * (n[0] * t[0] + n[1] * t[1]);
        if !(denominator > 0.0 && size > 0.0) {
            return None;
        }
        let along_cone = approach / denominator;
        let from_direction = [mu * along_cone * t[0], mu * along_cone * t[1]];
        if slice.k > 1.0 {
            let from_multiplier = numerator.map(|x| x / slice.denominator(nu));
            let size;
            (size, tangential) = slice.on_hyperbola([from_direction, from_multiplier]);
            normal = size / mu;
        } else {
            (normal, tangential) = (along_cone, from_direction);
        }
    }
    let tangential = axes.out_of_axes(tangential);
    let p = [normal, tangential[0], tangential[1]];
    p.iter().all(|x| x.is_finite()).then_some((p, state))
}

/// The jam at γ < 0, which [`solve`] tends to as the approach vanishes: least kinetic energy over the wedge |p_t| ≤ −κ·p_t, the
/// slice at a = 0, whatever q[0].
pub(super) fn jam(w: &[f64], q: &[f64], mu: f64) -> [f64; 3] {
    let (slice, axes, _) = Slice::of(w, &[0.0, q[1], q[2]], mu);
    let ([x, y], (a, u)) = (slice.along, (slice.a, slice.u));
    // Without slip, where friction can hold that.
    let stick = [-u[0] / a[0], -u[1] / a[1]];
    let room = -slice.k * (x * stick[0] + y * stick[1]);
    let mut tangential = stick;
    if stick[0].hypot(stick[1]) > room {
        // Else along one of the two edges, κ·t = −1, or no impulse at all.
        let cosine = -1.0 / slice.k;
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let mut least = 0.0;
        tangential = [0.0; 2];
        for sine in [sine, -sine] {
            let t = [cosine * x - sine * y, cosine * y + sine * x];
            let slope = u[0] * t[0] + u[1] * t[1];
            let curvature = a[0] * t[0] * t[0] + a[1] * t[1] * t[1];
            let energy = -0.5 * slope * slope / curvature;
            if slope < 0.0 && energy < least {
                least = energy;
                tangential = t.map(|t| -slope / curvature * t);
            }
        }
    }
    // At u_n = 0, on the cone or within it.
    let normal = -slice.k * (x * tangential[0] + y * tangential[1]) / mu;
    let tangential = axes.out_of_axes(tangential);
    [normal, tangential[0], tangential[1]]
}

/// Data on the slice u_n = 0, in the principal axes of Ŵ.
struct Slice {
    /// Eigenvalues of Ŵ.
    a: [f64; 2],
    /// û.
    u: [f64; 2],
    /// κ = k · along.
    along: [f64; 2],
    k: f64,
    c: f64,
    determinant: f64,
    /// κ̂·Ŵκ̂ and the same across.
    a_along: f64,
    a_across: f64,
    /// κ̂·adj(Ŵ)û, and across.
    g_along: f64,
    g_across: f64,
    u_along: f64,
    u_across: f64,
}

impl Slice {
    /// The slice, the principal axes of Ŵ, and w in them.
    fn of(w: &[f64], q: &[f64], mu: f64) -> (Self, Eigen2, [f64; 2]) {
        let inverse = 1.0 / w[0];
        let coupling = [0.5 * (w[1] + w[3]), 0.5 * (w[2] + w[6])];
        // Ŵ in its principal axes: with dependent rows the noise of the weak axis must stay there.
        let axes = Eigen2::new(
            w[4] - coupling[0] * inverse * coupling[0],
            0.5 * (w[5] + w[7]) - coupling[0] * inverse * coupling[1],
            w[8] - coupling[1] * inverse * coupling[1],
        );
        let trace = w[4] + w[8];
        let graded = trace.min(w[4] * w[8] / axes.large.max(f64::MIN_POSITIVE));
        let floor = (FLOOR * graded).max(1e-28 * trace);
        let n = axes.to_axes(coupling);
        let length = n[0].hypot(n[1]);
        let along = if length > 0.0 {
            [n[0] / length, n[1] / length]
        } else {
            [1.0, 0.0]
        };
        let slice = Slice::new(
            [axes.large.max(FLOOR * trace), axes.small.max(floor)],
            axes.to_axes([
                q[1] - coupling[0] * inverse * q[0],
                q[2] - coupling[1] * inverse * q[0],
            ]),
            along,
            mu * length * inverse,
            -mu * q[0] * inverse,
        );
        (slice, axes, n)
    }

    fn new(a: [f64; 2], u: [f64; 2], along: [f64; 2], k: f64, c: f64) -> Self {
        let [x, y] = along;
        let g = [a[1] * u[0], a[0] * u[1]];
        Slice {
            a,
            u,
            along,
            k,
            c,
            determinant: a[0] * a[1],
            a_along: a[0] * x * x + a[1] * y * y,
            a_across: a[0] * y * y + a[1] * x * x,
            g_along: x * g[0] + y * g[1],
            g_across: x * g[1] - y * g[0],
            u_along: x * u[0] + y * u[1],
            u_across: x * u[1] - y * u[0],
        }
    }

    /// N in the principal axes.
    fn numerator(&self, nu: f64) -> [f64; 2] {
        let (a, u, c) = (self.a, self.u, self.c);
        let kappa = [self.k * self.along[0], self.k * self.along[1]];
        let mixed = kappa[0] * kappa[1];
        let first = a[1] * u[0]
            + nu * ((1.0 - kappa[1] * kappa[1]) * u[0]
                + mixed * u[1]
                + c * a[1] * kappa[0]
                + nu * c * kappa[0]);
        let second = a[0] * u[1]
            + nu * ((1.0 - kappa[0] * kappa[0]) * u[1]
                + mixed * u[0]
                + c * a[0] * kappa[1]
                + nu * c * kappa[1]);
        [-first, -second]
    }

    /// Δ = det(Ŵ + ν(I − κκᵀ)).
    fn denominator(&self, nu: f64) -> f64 {
        let e = (1.0 - self.k) * (1.0 + self.k);
        self.determinant + nu * (self.a_along + e * self.a_across + nu * e)
    }

    /// The stationary point of the energy on the hyperbola |p_t| = c − κ·p_t nearest to the better of two guesses, and its |p_t|, by Newton's
    /// method in the coordinate y across κ: with e = k² − 1 and R = √(c² + e y²) the one along it is (c² − y²)/(c k + R), whose slope is
    /// −y/R and whose curvature −c²/R³.
    fn on_hyperbola(&self, guesses: [[f64; 2]; 2]) -> (f64, [f64; 2]) {
        let (k, c, [ax, ay]) = (self.k, self.c, self.along);
        let e = (k - 1.0) * (k + 1.0);
        let mixed = ax * ay * (self.a[1] - self.a[0]);
        // The place, the slope of the energy along the curve and its change.
        let at = |y: f64| {
            let r = c.hypot(e.sqrt() * y);
            let x = (c - y) * (c + y) / (c * k + r);
            let gradient = [
                self.a_along * x + mixed * y + self.u_along,
                mixed * x + self.a_across * y + self.u_across,
            ];
            let bend = -y / r;
            let curvature = self.a_along * bend * bend + 2.0 * mixed * bend + self.a_across
                - gradient[0] * (c / r) * (c / r) / r;
            (x, gradient[0] * bend + gradient[1], curvature)
        };
        let mut y = f64::NAN;
        let mut found = (f64::NAN, f64::INFINITY, 0.0);
        for guess in guesses.map(|p| ax * p[1] - ay * p[0]) {
            let there = at(guess);
            if there.1.abs() < found.1.abs() {
                (y, found) = (guess, there);
            }
        }
        for _ in 0..20 {
            let next = y - found.1 / found.2;
            let there = at(next);
            if !(there.1.abs() < found.1.abs()) {
                break;
            }
            (y, found) = (next, there);
        }
        let x = found.0;
        (c - k * x, [ax * x - ay * y, ay * x + ax * y])
    }

    /// N across κ.
    fn across(&self, nu: f64) -> f64 {
        let e = (1.0 - self.k) * (1.0 + self.k);
        let [x, y] = self.along;
        -(self.g_across
            + nu * (e * self.u_across + self.c * self.k * x * y * (self.a[0] - self.a[1])))
    }

    /// P + N·κ̂ for `side` = 1, P − N·κ̂ for −1.
    fn pair(&self, nu: f64, side: f64) -> f64 {
        let (c, e) = (self.c, 1.0 - side * self.k);
        c * self.determinant - side * e * self.g_along
            + nu * (c * self.a_along + e * (c * self.a_across - side * self.u_along) + nu * c * e)
    }

    /// |N| − sign P, without cancellation.
    fn excess(&self, nu: f64, sign: f64) -> f64 {
        let (plus, minus) = (self.pair(nu, 1.0), self.pair(nu, -1.0));
        let (p, along, across) = (0.5 * (plus + minus), 0.5 * (plus - minus), self.across(nu));
        let size = along.hypot(across) + p.abs();
        if sign * p <= 0.0 {
            size
        } else if size == 0.0 {
            0.0
        } else {
            (across / size) * across - (plus / size) * minus
        }
    }

    /// (ν, sign of Δ, state); None if no bracket is found.
    fn multiplier(&self) -> Option<(f64, f64, LocalState)> {
        let at_zero = self.excess(0.0, 1.0);
        if at_zero <= 0.0 {
            return Some((0.0, 1.0, LocalState::Stick));
        }
        let unit = self.a[0] + (self.u[0].abs() + self.u[1].abs()) / self.c;
        let (start, f_start, sign) = if self.k > 1.0 {
            // Zero of Δ beyond which its sign is negative.
            let e = (self.k - 1.0) * (self.k + 1.0);
            let beta = self.a_along - e * self.a_across;
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
        // Outward until the sign changes, from a step below every scale of the polynomials.
        let (mut low, mut f_low) = (start, f_start);
        let mut high = start
            + if start > 0.0 {
                1e-3 * start
            } else {
                1e-3 * unit
            };
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
