//! Four contacts between balls: half the numbers of other contacts, and no equation to solve where they slide.
//!
//! # What it computes
//!
//! A contact is central where its normal n passes through the centres of its bodies and these turn as easily about every axis. With the directions f of the
//! rows, and angular velocities taken in the axes of the world,
//!
//! u = f·(s_a v_a − s_b v_b + n × (g_a ω_a + g_b ω_b)) + q,   W_ii = diag(w, w + g², w + g²),   w = s_a² + s_b², g² = g_a² + g_b².
//!
//! Nothing couples the rows: the impulse of a contact alone is y − u/W_ii, without its tangential part beyond the cone.
//!
//! # Source
//!
//! Own.
//!
//! # Guarantees
//!
//! Whether contacts are central is read off the rows of the problem: velocities of bodies belong to the solver, which may turn the axes
//! of each body as it likes, so a problem is covered if some turn of every body leads all of its rows to this form, up to a part of the tolerance
//! ([`DEVIATION`]) that is lost in it. What answers for the impulses is measured on the problem itself.
//!
//! # Behaviour to know
//!
//! One contact of another kind in the problem and all are treated as in [`batch`](super::batch). Tangents are those of the problem.
//!
//! # Cost
//!
//! 240 bytes per contact instead of 500, which is what a visit costs where the contacts do not fit in the cache. Looking costs 40 ns per contact.
//!
//! # Tested by
//!
//! `solvers/bodies/central/tests.rs`, against dense algebra.

use super::batch::{Four, PreparedContact, State};
use super::lanes::Lanes;
use super::local::natural_map;
use super::packing::{batch_friction, start};
use super::rest::STEEP;
use super::workspace::Problem;
use crate::algebra::{cross, dot};
use crate::contact::NO_BODY;

/// Part of the tolerance up to which rows may differ from those of central contacts, relative to the length of a row.
const DEVIATION: f64 = 1e-3;

/// A contact in central form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Central {
    sides: [u32; 2],
    normal: [f64; 3],
    tangent: [f64; 3],
    /// s_a, s_b and g_a, g_b.
    linear: [f64; 2],
    angular: [f64; 2],
    q: [f64; 3],
    mu: f64,
    noise: f64,
    rows: usize,
}

impl Central {
    /// Reads the form off the rows of a contact, whatever they are; `None` for other laws and where nothing can move.
    fn read(problem: &Problem, contact: usize) -> Option<Self> {
        let mu = batch_friction(&problem.blocks[contact], 3)?;
        let operator = problem.operator;
        let (rows, sides) = (operator.rows_of(contact), operator.sides(contact));
        let row = |k: usize| operator.row(rows.start + k).as_chunks::<3>().0;
        let length = |x: &[f64; 3]| dot(x, x).sqrt();
        let linear = [length(&row(0)[0]), length(&row(0)[2])];
        let first = usize::from(sides[0] == NO_BODY);
        if sides[0] == sides[1] || !(linear[first] > 0.0) {
            return None;
        }
        let sign = if first == 0 { 1.0 } else { -1.0 };
        let direction = |k: usize| row(k)[2 * first].map(|x| sign * x / linear[first]);
        let (mut angular, mut tangent, mut q) = ([0.0; 2], [0.0; 3], [0.0; 3]);
        if rows.len() == 3 {
            tangent = direction(1);
            angular = [length(&row(1)[1]), length(&row(1)[3])];
        }
        q[..rows.len()].copy_from_slice(&problem.free[rows.clone()]);
        Some(Self {
            sides,
            normal: direction(0),
            tangent,
            linear,
            angular,
            q,
            mu,
            noise: if mu > STEEP { problem.noise } else { 0.0 },
            rows: rows.len(),
        })
    }

    /// Diagonal of W_ii: along the normal and along the tangents.
    fn diagonal(&self) -> [f64; 2] {
        let w = dot(&self.linear, &self.linear);
        [w, w + dot(&self.angular, &self.angular)]
    }

    fn weight(&self) -> f64 {
        let [w, s] = self.diagonal();
        if self.rows == 3 {
            (w + 2.0 * s) / 3.0
        } else {
            w
        }
    }
}

impl PreparedContact for Central {
    fn turn(&self) -> [f64; 2] {
        [1.0, 0.0]
    }

    fn free_size(&self) -> f64 {
        let weight = self.weight();
        dot(&self.q, &self.q) / (weight * weight)
    }
}

/// The axes that each body has to be turned to; memory kept from problem to problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Where the axes of a body lead to in the world, once a contact with friction tells.
    axes: Vec<Option<[[f64; 3]; 3]>>,
}

impl Turns {
    /// Whether all contacts of a problem in space are central, up to what a solve to the tolerance does not see.
    pub(super) fn are_central(&mut self, problem: &Problem, tolerance: f64) -> bool {
        self.axes.clear();
        self.axes.resize(problem.operator.bodies(), None);
        (0..problem.operator.contacts())
            .all(|contact| self.is_central(problem, contact, DEVIATION * tolerance))
    }

    fn is_central(&mut self, problem: &Problem, contact: usize, allowed: f64) -> bool {
        if problem.operator.sides(contact) == [NO_BODY; 2] {
            return true;
        }
        let Some(central) = Central::read(problem, contact) else {
            return false;
        };
        let (n, t) = (central.normal, central.tangent);
        // Without friction there are no tangents.
        let right = dot(&n, &t).abs() <= allowed && (dot(&t, &t) - 1.0).abs() <= allowed;
        (right || central.rows == 1)
            && (0..2).all(|side| {
                central.sides[side] == NO_BODY
                    || self.side_is_central(problem, contact, (&central, side), allowed)
            })
    }

    /// Whether the rows of one side are those of a central contact in the axes that the body is turned to.
    fn side_is_central(
        &mut self,
        problem: &Problem,
        contact: usize,
        (central, side): (&Central, usize),
        allowed: f64,
    ) -> bool {
        let rows = problem.operator.rows_of(contact);
        let part = |k: usize, part: usize| {
            &problem.operator.row(rows.start + k).as_chunks::<3>().0[2 * side + part]
        };
        let (n, t) = (central.normal, central.tangent);
        let f = [n, t, cross(n, t)];
        let (s, g) = (central.linear[side], central.angular[side]);
        let near = |x: &[f64; 3], y: [f64; 3]| (0..3).all(|k| (x[k] - y[k]).abs() <= allowed * s);
        let sign = if side == 0 { s } else { -s };
        let along = |k: usize| near(part(k, 0), f[k].map(|x| sign * x));
        if !(0..central.rows).all(along) || !near(part(0, 1), [0.0; 3]) {
            return false;
        }
        if central.rows == 1 {
            return true;
        }
        let (first, second) = (part(1, 1), part(2, 1));
        if g <= allowed * s {
            return near(second, [0.0; 3]);
        }
        let axes = self.axes[central.sides[side] as usize].get_or_insert_with(|| {
            let (a, b) = (first.map(|x| -x / g), second.map(|x| x / g));
            let c = cross(b, a);
            std::array::from_fn(|i| {
                std::array::from_fn(|j| f[2][i] * a[j] + f[1][i] * b[j] + f[0][i] * c[j])
            })
        });
        let turned = |x: &[f64; 3]| axes.map(|axis| dot(&axis, x));
        near(&turned(first), f[2].map(|x| -g * x)) && near(&turned(second), f[1].map(|x| g * x))
    }
}

/// Four central contacts.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct CentralBatch {
    bodies: [[u32; 4]; 2],
    normal: [[f64; 4]; 3],
    tangent: [[f64; 4]; 3],
    /// s_a, s_b and g_a, g_b.
    linear: [[f64; 4]; 2],
    angular: [[f64; 4]; 2],
    q: [[f64; 4]; 3],
    /// Inverse of the diagonal of W_ii, along the normal and along the tangents.
    inverse: [[f64; 4]; 2],
    mu: [f64; 4],
    weight: [f64; 4],
    state: State<3>,
    /// Slip that friction does not feel, [`felt`](super::rest::felt).
    noise: [f64; 4],
}

impl Default for CentralBatch {
    fn default() -> Self {
        Self {
            bodies: [[0; 4]; 2],
            normal: [[0.0; 4]; 3],
            tangent: [[0.0; 4]; 3],
            linear: [[0.0; 4]; 2],
            angular: [[0.0; 4]; 2],
            q: [[0.0; 4]; 3],
            inverse: [[0.0; 4]; 2],
            mu: [0.0; 4],
            weight: [1.0; 4],
            state: State::ZERO,
            noise: [0.0; 4],
        }
    }
}

impl CentralBatch {
    /// Sets all of a lane but its bodies and what it remembers.
    fn set(&mut self, lane: usize, central: &Central) {
        for k in 0..3 {
            self.normal[k][lane] = central.normal[k];
            self.tangent[k][lane] = central.tangent[k];
            self.q[k][lane] = central.q[k];
        }
        let diagonal = central.diagonal();
        for side in 0..2 {
            self.linear[side][lane] = central.linear[side];
            self.angular[side][lane] = central.angular[side];
            self.inverse[side][lane] = 1.0 / diagonal[side];
        }
        self.mu[lane] = central.mu;
        self.noise[lane] = central.noise;
        self.weight[lane] = central.weight();
    }

    #[inline(always)]
    fn frame<V: Lanes>(&self) -> [[V; 3]; 3] {
        let (n, t) = (load3::<V>(&self.normal), load3::<V>(&self.tangent));
        [n, t, cross4(&n, &t)]
    }
}

impl Four<3, 6> for CentralBatch {
    type Prepared = Central;

    fn prepare(problem: &Problem, contact: usize) -> Option<Central> {
        Central::read(problem, contact)
    }

    fn clear_lane(&mut self, lane: usize, ground: u32) {
        let empty = Self::default();
        for side in 0..2 {
            self.bodies[side][lane] = ground;
            self.linear[side][lane] = 0.0;
            self.angular[side][lane] = 0.0;
            self.inverse[side][lane] = 0.0;
        }
        for k in 0..3 {
            self.q[k][lane] = 0.0;
        }
        self.mu[lane] = empty.mu[lane];
        self.noise[lane] = empty.noise[lane];
        self.weight[lane] = empty.weight[lane];
        self.state.begin(lane, &[0.0; 3]);
    }

    fn write(&mut self, central: &Central, lane: usize, ground: u32, impulse: &[f64]) {
        for (bodies, side) in self.bodies.iter_mut().zip(central.sides) {
            bodies[lane] = if side == NO_BODY { ground } else { side };
        }
        self.set(lane, central);
        let x = start::<3>(central.turn(), central.mu, impulse);
        self.state.begin(lane, &x);
    }

    fn bodies(&self) -> &[[u32; 4]; 2] {
        &self.bodies
    }

    fn state(&self) -> &State<3> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<3> {
        &mut self.state
    }

    fn mu(&self) -> &[f64; 4] {
        &self.mu
    }

    fn weight(&self) -> &[f64; 4] {
        &self.weight
    }

    #[inline(always)]
    fn velocity<V: Lanes>(&self, a: &[V; 6], b: &[V; 6]) -> [V; 3] {
        let (sa, sb) = (V::load(&self.linear[0]), V::load(&self.linear[1]));
        let (ga, gb) = (V::load(&self.angular[0]), V::load(&self.angular[1]));
        let (mut moved, mut turned) = ([V::zero(); 3], [V::zero(); 3]);
        for k in 0..3 {
            moved[k] = sb.neg_mul_add(b[k], sa.mul(a[k]));
            turned[k] = gb.mul_add(b[3 + k], ga.mul(a[3 + k]));
        }
        let [n, t, b] = self.frame::<V>();
        let rolled = cross4(&n, &turned);
        let mut slip = moved;
        for k in 0..3 {
            slip[k] = moved[k].add(rolled[k]);
        }
        let q = load3::<V>(&self.q);
        [
            dot4(&n, &moved).add(q[0]),
            dot4(&t, &slip).add(q[1]),
            dot4(&b, &slip).add(q[2]),
        ]
    }

    #[inline(always)]
    fn push<V: Lanes>(&self, p: &[V; 3], a: &mut [V; 6], b: &mut [V; 6]) {
        let [n, t, other] = self.frame::<V>();
        let mut impulse = [V::zero(); 3];
        for k in 0..3 {
            impulse[k] = n[k].mul_add(p[0], t[k].mul_add(p[1], other[k].mul(p[2])));
        }
        let moment = cross4(&impulse, &n);
        let (sa, sb) = (V::load(&self.linear[0]), V::load(&self.linear[1]));
        let (ga, gb) = (V::load(&self.angular[0]), V::load(&self.angular[1]));
        for k in 0..3 {
            a[k] = sa.mul_add(impulse[k], a[k]);
            b[k] = sb.neg_mul_add(impulse[k], b[k]);
            a[3 + k] = ga.mul_add(moment[k], a[3 + k]);
            b[3 + k] = gb.mul_add(moment[k], b[3 + k]);
        }
    }

    #[inline(always)]
    fn solve<V: Lanes>(&mut self, u: &[V; 3], y: &[V; 3]) -> [V; 3] {
        let zero = V::zero();
        let (w, s) = (V::load(&self.inverse[0]), V::load(&self.inverse[1]));
        let normal = w.neg_mul_add(u[0], y[0]).max(zero);
        let t = [s.neg_mul_add(u[1], y[1]), s.neg_mul_add(u[2], y[2])];
        let limit = V::load(&self.mu).mul(normal);
        let square = t[0].mul_add(t[0], t[1].mul(t[1]));
        let stick = square.at_most(limit.mul(limit));
        if V::all(stick) {
            return [normal, t[0], t[1]];
        }
        let factor = limit.div(V::select(stick, V::splat(1.0), square.sqrt()));
        [
            normal,
            V::select(stick, t[0], factor.mul(t[0])),
            V::select(stick, t[1], factor.mul(t[1])),
        ]
    }

    #[inline(always)]
    fn natural_map<V: Lanes>(&self, u: &[V; 3], r: &[V; 3]) -> [V; 2] {
        let rho = V::splat(1.0).div(V::load(&self.weight));
        natural_map(V::load(&self.mu), rho, V::load(&self.noise), u, r)
    }
}

#[inline(always)]
fn load3<V: Lanes>(x: &[[f64; 4]; 3]) -> [V; 3] {
    [V::load(&x[0]), V::load(&x[1]), V::load(&x[2])]
}

#[inline(always)]
fn dot4<V: Lanes>(a: &[V; 3], b: &[V; 3]) -> V {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul(b[2])))
}

#[inline(always)]
fn cross4<V: Lanes>(a: &[V; 3], b: &[V; 3]) -> [V; 3] {
    [
        a[2].neg_mul_add(b[1], a[1].mul(b[2])),
        a[0].neg_mul_add(b[2], a[2].mul(b[0])),
        a[1].neg_mul_add(b[0], a[0].mul(b[1])),
    ]
}

#[cfg(test)]
mod tests;
