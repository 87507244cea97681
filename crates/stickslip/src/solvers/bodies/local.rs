//! The exact solution of four contacts at once.
//!
//! # What it computes
//!
//! For contacts with symmetric blocks W_ii in tangents that make S = W_TT − n nᵀ/W_NN diagonal (n = W_NT): the impulse r with
//! u = W_ii r + q under Coulomb's law with a disc (space) or an interval (plane). The right-hand side is given as q_N and
//! q̄ = q_T − n q_N/W_NN. Cases: open where q_N ≥ 0; stick, r_T = −q̄/S, where that lies in the cone; else slip,
//! r_T = −(S + λ)⁻¹ q̄ on the cone.
//!
//! # Source
//!
//! The scalar equation in λ of [`coulomb_disc`](crate::solvers::one_contact::coulomb_disc) with k = 0; own vector form.
//!
//! # Guarantees
//!
//! Open and stick are exact. A sliding impulse lies on the cone and stops the approach whatever error is left in λ, which
//! is carried from visit to visit and improved by [`SLIP_STEPS`] bracketed Newton steps each time.
//!
//! # Behaviour to know
//!
//! Blocks whose S is singular to rounding do not come here: they are visited one by one.
//!
//! # Cost
//!
//! Some 40 operations, 60 more where a lane slides.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`, against the scalar solver.

use super::lanes::Lanes;

/// Newton steps on the slip equation per visit. Measured with 2, 3, 6 and 60: the same number of sweeps; 2 and 3 cost the same
/// within noise.
const SLIP_STEPS: usize = 3;

/// Blocks of four contacts, prepared.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LocalBlocks {
    /// W_NN and its inverse.
    pub(super) w: [f64; 4],
    pub(super) inverse_w: [f64; 4],
    /// Row N of W on the tangents.
    pub(super) n: [[f64; 4]; 2],
    /// Diagonal of S, and its inverse (zero without friction).
    pub(super) s: [[f64; 4]; 2],
    pub(super) inverse_s: [[f64; 4]; 2],
    pub(super) mu: [f64; 4],
    /// Slip that friction does not feel, [`felt`](super::rest::felt): zero where μ ≤ 1.
    pub(super) noise: [f64; 4],
    /// tr W_ii/rows, the inverse of ρ.
    pub(super) weight: [f64; 4],
    pub(super) rho: [f64; 4],
}

impl LocalBlocks {
    /// Four lanes that stay open.
    pub(super) const EMPTY: Self = Self {
        w: [1.0; 4],
        inverse_w: [1.0; 4],
        n: [[0.0; 4]; 2],
        s: [[1.0; 4]; 2],
        inverse_s: [[0.0; 4]; 2],
        mu: [0.0; 4],
        noise: [0.0; 4],
        weight: [0.0; 4],
        rho: [0.0; 4],
    };

    /// Makes a lane one that stays open.
    pub(super) fn clear_lane(&mut self, lane: usize) {
        let empty = &Self::EMPTY;
        self.w[lane] = empty.w[lane];
        self.inverse_w[lane] = empty.inverse_w[lane];
        for k in 0..2 {
            self.n[k][lane] = empty.n[k][lane];
            self.s[k][lane] = empty.s[k][lane];
            self.inverse_s[k][lane] = empty.inverse_s[k][lane];
        }
        self.mu[lane] = empty.mu[lane];
        self.noise[lane] = empty.noise[lane];
        self.weight[lane] = empty.weight[lane];
        self.rho[lane] = empty.rho[lane];
    }

    /// Impulses of four contacts in space whose velocity is ω u at y: the new impulses, and λ where it was used.
    #[inline(always)]
    pub(super) fn solve_space<V: Lanes>(
        &self,
        u: &[V; 3],
        y: &[V; 3],
        lambda: &mut [f64; 4],
    ) -> [V; 3] {
        let (w, inverse_w, mu) = (
            V::load(&self.w),
            V::load(&self.inverse_w),
            V::load(&self.mu),
        );
        let n = [V::load(&self.n[0]), V::load(&self.n[1])];
        let s = [V::load(&self.s[0]), V::load(&self.s[1])];
        // Right-hand side without the own impulse: q_N = u_N − (W y)_N, q̄ = u_T − n u_N/W_NN − S y_T.
        let own = w.mul_add(y[0], n[0].mul_add(y[1], n[1].mul(y[2])));
        let q_n = u[0].sub(own);
        let c = u[0].mul(inverse_w);
        let q = [
            s[0].neg_mul_add(y[1], n[0].neg_mul_add(c, u[1])),
            s[1].neg_mul_add(y[2], n[1].neg_mul_add(c, u[2])),
        ];
        let zero = V::zero();
        let open = zero.at_most(q_n);
        // Stick.
        let t = [
            zero.sub(q[0].mul(V::load(&self.inverse_s[0]))),
            zero.sub(q[1].mul(V::load(&self.inverse_s[1]))),
        ];
        let c2 = zero.sub(q_n);
        let normal = n[1]
            .neg_mul_add(t[1], n[0].neg_mul_add(t[0], c2))
            .mul(inverse_w);
        let limit = mu.mul(normal);
        let inside = t[0].mul_add(t[0], t[1].mul(t[1])).at_most(limit.mul(limit));
        let stick = V::and(zero.at_most(normal), inside);
        let mut r = [normal, t[0], t[1]];
        if !V::all(V::or(open, stick)) {
            let slip = self.slip(q_n, &q, lambda, V::or(open, stick));
            for k in 0..3 {
                r[k] = V::select(stick, r[k], slip[k]);
            }
        }
        for k in 0..3 {
            r[k] = V::select(open, zero, r[k]);
        }
        r
    }

    /// Impulses of sliding contacts in space; λ of the lanes in `other` is left alone.
    #[inline(always)]
    fn slip<V: Lanes>(&self, q_n: V, q: &[V; 2], lambda: &mut [f64; 4], other: V::Mask) -> [V; 3] {
        let (w, inverse_w, mu) = (
            V::load(&self.w),
            V::load(&self.inverse_w),
            V::load(&self.mu),
        );
        let n = [V::load(&self.n[0]), V::load(&self.n[1])];
        let s = [V::load(&self.s[0]), V::load(&self.s[1])];
        let zero = V::zero();
        let c2 = zero.sub(q_n);
        let (det, trace) = (s[0].mul(s[1]), s[0].add(s[1]));
        let a = [s[1].mul(q[0]), s[0].mul(q[1])];
        let (aa, qq, aq) = (dot(&a, &a), dot(q, q), dot(&a, q));
        let ratio = mu.mul(inverse_w);
        let c0 = c2.mul_add(det, dot(&n, &a));
        let c1 = c2.mul_add(trace, dot(&n, q));
        // Bracket of the root, and a start where the last λ lies outside.
        let speed = qq.sqrt().div(c2.mul(mu));
        let mut high = speed.mul(mu.mul_add(dot(&n, &n).sqrt(), w));
        let mut low = zero;
        let start = V::splat(0.5)
            .neg_mul_add(trace, speed.mul(w))
            .max(high.mul(V::splat(1e-3)));
        let old = V::load(lambda);
        let mut x = V::select(V::and(zero.less(old), old.less(high)), old, start);
        for _ in 0..SLIP_STEPS {
            let value = ratio.mul(x.mul_add(x.mul_add(c2, c1), c0));
            let pp = x.mul_add(x.mul_add(qq, aq.add(aq)), aa);
            let phi = value.sub(pp.sqrt());
            let below = phi.less(zero);
            low = V::select(below, x, low);
            high = V::select(below, high, x);
            let slope = ratio
                .mul(x.add(x).mul_add(c2, c1))
                .mul(pp)
                .sub(value.mul(x.mul_add(qq, aq)));
            let next = x.sub(phi.mul(pp).div(slope));
            // The ends belong to the bracket: at the root the step is zero.
            let inside = V::and(low.at_most(next), next.at_most(high));
            let first = V::select(
                zero.less(low),
                low.add(high).mul(V::splat(0.5)),
                high.mul(V::splat(0.05)),
            );
            x = V::select(inside, next, first);
        }
        V::select(other, old, x).store(lambda);
        // Direction of the friction; the normal impulse stops the approach.
        let p = [x.mul_add(q[0], a[0]), x.mul_add(q[1], a[1])];
        let length = dot(&p, &p).sqrt();
        let inverse = V::select(zero.less(length), V::splat(-1.0).div(length), zero);
        let t = [p[0].mul(inverse), p[1].mul(inverse)];
        let stiffness = mu.mul_add(dot(&n, &t), w);
        // Far from the root friction may seem to lift the contact: begin with the impulse without it.
        let normal = c2.div(V::select(zero.less(stiffness), stiffness, w));
        let tangential = mu.mul(normal);
        [normal, tangential.mul(t[0]), tangential.mul(t[1])]
    }

    /// Impulses of four contacts in the plane.
    #[inline(always)]
    pub(super) fn solve_plane<V: Lanes>(&self, u: &[V; 2], y: &[V; 2]) -> [V; 2] {
        let (w, inverse_w, mu) = (
            V::load(&self.w),
            V::load(&self.inverse_w),
            V::load(&self.mu),
        );
        let (n, s) = (V::load(&self.n[0]), V::load(&self.s[0]));
        let zero = V::zero();
        let q_n = u[0].sub(w.mul_add(y[0], n.mul(y[1])));
        let q = s.neg_mul_add(y[1], n.neg_mul_add(u[0].mul(inverse_w), u[1]));
        let open = zero.at_most(q_n);
        let c2 = zero.sub(q_n);
        let t = zero.sub(q.mul(V::load(&self.inverse_s[0])));
        let normal = n.neg_mul_add(t, c2).mul(inverse_w);
        let (limit, size) = (mu.mul(normal), t.max(zero.sub(t)));
        let stick = size.at_most(limit);
        // Sliding towards −t: r_T = ±μ r_N; the denominator is positive wherever the contact does not stick.
        let signed = V::select(t.less(zero), zero.sub(mu), mu);
        let sliding = c2.div(signed.mul_add(n, w));
        [
            V::select(open, zero, V::select(stick, normal, sliding)),
            V::select(open, zero, V::select(stick, t, signed.mul(sliding))),
        ]
    }
}

/// |r − P_K(r − ρ(u + μ|u_T| e_N))|² of four contacts, and the larger of the squares of Signorini's part and of the part
/// of dissipation, [`worst_part`](super::rest::worst_part).
#[inline(always)]
pub(super) fn natural_map<V: Lanes, const R: usize>(
    mu: V,
    rho: V,
    noise: V,
    u: &[V; R],
    r: &[V; R],
) -> [V; 2] {
    let zero = V::zero();
    let slip = tangential(u);
    let slip = V::select(slip.at_most(noise), zero, slip);
    let mut z = *u;
    for k in 0..R {
        z[k] = rho.neg_mul_add(u[k], r[k]);
    }
    let unopposed = r[0].sub(z[0].max(zero));
    z[0] = rho.neg_mul_add(mu.mul(slip), z[0]);
    let size = tangential(&z);
    let polar = mu.mul_add(size, z[0]).at_most(zero);
    let inside = size.at_most(mu.mul(z[0]));
    let normal = mu.mul_add(size, z[0]).div(mu.mul_add(mu, V::splat(1.0)));
    let length = V::select(zero.less(size), size, V::splat(1.0));
    let factor = mu.mul(normal).div(length);
    // Friction at the present normal impulse.
    let radius = mu.mul(r[0].max(zero));
    let within = size.at_most(radius);
    let shrink = radius.div(length);
    let (mut sum, mut friction) = (zero, zero);
    for k in 0..R {
        let surface = if k == 0 { normal } else { factor.mul(z[k]) };
        let p = V::select(polar, zero, V::select(inside, z[k], surface));
        let f = r[k].sub(p);
        sum = f.mul_add(f, sum);
        if k > 0 {
            let d = r[k].sub(V::select(within, z[k], shrink.mul(z[k])));
            friction = d.mul_add(d, friction);
        }
    }
    [sum, unopposed.mul(unopposed).max(friction)]
}

#[inline(always)]
fn dot<V: Lanes>(a: &[V; 2], b: &[V; 2]) -> V {
    a[0].mul_add(b[0], a[1].mul(b[1]))
}

/// Length of the tangential part.
#[inline(always)]
fn tangential<V: Lanes, const R: usize>(x: &[V; R]) -> V {
    let mut sum = V::zero();
    for k in 1..R {
        sum = x[k].mul_add(x[k], sum);
    }
    sum.sqrt()
}
