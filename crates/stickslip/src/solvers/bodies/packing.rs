//! Contacts of a problem written into the lanes of batches.

use super::batch::{Batch, Four, PreparedContact};
use super::rest::STEEP;
use super::workspace::Problem;
use crate::algebra::dot;
use crate::contact::{BlockKind, ContactBlock, NO_BODY};
use crate::laws::{FlowRule, FrictionSection};

/// A tangential Schur complement whose determinant is below this part of the product of the diagonal of W_TT counts as singular.
const DEFICIENT: f64 = 1e-13;

/// Friction coefficient of a block that the batches cover; `None` for every other law.
pub(super) fn batch_friction(block: &ContactBlock, rows: usize) -> Option<f64> {
    if block.kind != (BlockKind::Unilateral { minimum: 0.0 })
        || !matches!(block.flow_rule, FlowRule::Coulomb)
    {
        return None;
    }
    match (&block.section, block.size) {
        (_, 1) => Some(0.0),
        (FrictionSection::Disc { mu, .. }, size) if size == rows => Some(*mu),
        (FrictionSection::Interval { lower, upper }, 2) if rows == 2 && *lower == -*upper => {
            Some(*upper)
        }
        _ => None,
    }
}

/// One contact prepared for a lane: rows in tangents that make the tangential Schur complement diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared<const R: usize, const F: usize> {
    sides: [u32; 2],
    jacobian: [[[f64; F]; 2]; R],
    q: [f64; R],
    w: f64,
    n: [f64; 2],
    s: [f64; 2],
    weight: f64,
    mu: f64,
    /// Slip that friction does not feel.
    noise: f64,
    /// Rotation of the tangents, 1 and 0 in the plane.
    turn: [f64; 2],
}

impl<const R: usize, const F: usize> Prepared<R, F> {
    /// Prepares a contact of friction μ; `None` where nothing can move along its normal or the tangential
    /// Schur complement is singular to rounding.
    pub(super) fn new(problem: &Problem, contact: usize, mu: f64) -> Option<Self> {
        let (operator, free) = (problem.operator, problem.free);
        let rows = operator.rows_of(contact);
        let mut sides = operator.sides(contact);
        let mut jacobian = [[[0.0; F]; 2]; R];
        let mut q = [0.0; R];
        for (r, row) in rows.clone().enumerate() {
            let numbers = operator.row(row);
            jacobian[r][0].copy_from_slice(&numbers[..F]);
            jacobian[r][1].copy_from_slice(&numbers[F..]);
            q[r] = free[row];
        }
        if sides[0] == sides[1] && sides[0] != NO_BODY {
            // A body that touches itself: one side takes it all.
            for [a, b] in &mut jacobian {
                for (a, b) in a.iter_mut().zip(b) {
                    *a += std::mem::take(b);
                }
            }
            sides[1] = NO_BODY;
        }
        for (s, side) in sides.into_iter().enumerate() {
            if side == NO_BODY {
                for row in &mut jacobian {
                    row[s] = [0.0; F];
                }
            }
        }
        let product = |i: usize, j: usize| {
            dot(&jacobian[i][0], &jacobian[j][0]) + dot(&jacobian[i][1], &jacobian[j][1])
        };
        let w = product(0, 0);
        if !(w > 0.0) {
            return None;
        }
        let size = rows.len();
        let mut prepared = Self {
            sides,
            jacobian,
            q,
            w,
            n: [0.0; 2],
            s: [1.0; 2],
            weight: w,
            mu,
            noise: if mu > STEEP { problem.noise } else { 0.0 },
            turn: [1.0, 0.0],
        };
        if size == 1 {
            return Some(prepared);
        }
        let (n1, w11) = (product(0, 1), product(1, 1));
        if R == 2 {
            let s = w11 - n1 * n1 / w;
            prepared.weight = (w + w11) / 2.0;
            prepared.n[0] = n1;
            prepared.s[0] = s;
            return (mu == 0.0 || s > DEFICIENT * w11).then_some(prepared);
        }
        let (n2, w12, w22) = (product(0, R - 1), product(1, R - 1), product(R - 1, R - 1));
        prepared.weight = (w + w11 + w22) / 3.0;
        let (s00, s11, s01) = (w11 - n1 * n1 / w, w22 - n2 * n2 / w, w12 - n1 * n2 / w);
        // Rotation to the principal tangents; the branch keeps the eigenvector free of cancellation.
        let (half, mean) = (0.5 * (s00 - s11), 0.5 * (s00 + s11));
        let radius = (half * half + s01 * s01).sqrt();
        let (x, y) = if half >= 0.0 {
            (half + radius, s01)
        } else {
            (s01, radius - half)
        };
        let length = (x * x + y * y).sqrt();
        let [cos, sin] = if length > 0.0 {
            [x / length, y / length]
        } else {
            [1.0, 0.0]
        };
        let determinant = s00 * s11 - s01 * s01;
        if mu > 0.0 && !(determinant > DEFICIENT * w11 * w22) {
            return None;
        }
        let large = mean + radius;
        prepared.s = [large, determinant / large];
        prepared.n = [cos * n1 + sin * n2, cos * n2 - sin * n1];
        prepared.turn = [cos, sin];
        let (first, second) = (prepared.jacobian[1], prepared.jacobian[R - 1]);
        for side in 0..2 {
            for k in 0..F {
                let (a, b) = (first[side][k], second[side][k]);
                prepared.jacobian[1][side][k] = cos * a + sin * b;
                prepared.jacobian[R - 1][side][k] = cos * b - sin * a;
            }
        }
        let (a, b) = (prepared.q[1], prepared.q[R - 1]);
        prepared.q[1] = cos * a + sin * b;
        prepared.q[R - 1] = cos * b - sin * a;
        Some(prepared)
    }

    /// Writes the contact into a lane, with its impulse in the given tangents.
    pub(super) fn write(&self, batch: &mut Batch<R, F>, lane: usize, ground: u32, impulse: &[f64]) {
        for (s, side) in self.sides.into_iter().enumerate() {
            batch.bodies[s][lane] = if side == NO_BODY { ground } else { side };
        }
        for r in 0..R {
            for side in 0..2 {
                for k in 0..F {
                    batch.jacobian[r][side][k][lane] = self.jacobian[r][side][k];
                }
            }
            batch.q[r][lane] = self.q[r];
        }
        let local = &mut batch.local;
        local.w[lane] = self.w;
        local.inverse_w[lane] = 1.0 / self.w;
        for k in 0..2 {
            // Without friction the tangents take no part.
            let active = self.mu > 0.0;
            local.n[k][lane] = if active { self.n[k] } else { 0.0 };
            local.s[k][lane] = if active { self.s[k] } else { 1.0 };
            local.inverse_s[k][lane] = if active { 1.0 / self.s[k] } else { 0.0 };
        }
        local.mu[lane] = self.mu;
        local.noise[lane] = self.noise;
        local.weight[lane] = self.weight;
        local.rho[lane] = 1.0 / self.weight;
        batch.lambda[lane] = 0.0;
        let x = start::<R>(self.turn, self.mu, impulse);
        batch.state.begin(lane, &x);
    }
}

impl<const R: usize, const F: usize> PreparedContact for Prepared<R, F> {
    fn turn(&self) -> [f64; 2] {
        self.turn
    }

    fn free_size(&self) -> f64 {
        let sum: f64 = self.q.iter().map(|q| q * q).sum();
        sum / (self.weight * self.weight)
    }
}

/// Writes an impulse in the tangents of the problem into a lane, and forgets what its momentum was.
pub(super) fn restart<B: Four<R, F>, const R: usize, const F: usize>(
    batch: &mut B,
    lane: usize,
    turn: [f64; 2],
    impulse: &[f64],
) {
    let x = start::<R>(turn, batch.mu()[lane], impulse);
    batch.state_mut().restart(lane, &x);
}

/// An impulse in the tangents of the batch, projected on the cone.
pub(super) fn start<const R: usize>(turn: [f64; 2], mu: f64, impulse: &[f64]) -> [f64; R] {
    let mut x = [0.0; R];
    if impulse.iter().all(|x| x.is_finite()) {
        x[..impulse.len()].copy_from_slice(impulse);
    }
    let [cos, sin] = turn;
    if R == 3 {
        (x[1], x[R - 1]) = (cos * x[1] + sin * x[R - 1], cos * x[R - 1] - sin * x[1]);
    }
    let size = x[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
    if mu * size <= -x[0] {
        return [0.0; R];
    }
    if size > mu * x[0] {
        let normal = (x[0] + mu * size) / (1.0 + mu * mu);
        let factor = mu * normal / size;
        x[0] = normal;
        x[1..].iter_mut().for_each(|x| *x *= factor);
    }
    x
}

/// Impulse of a lane in the tangents of the problem.
pub(super) fn read<B: Four<R, F>, const R: usize, const F: usize>(
    batch: &B,
    lane: usize,
    turn: [f64; 2],
    out: &mut [f64],
) {
    let mut x: [f64; R] = std::array::from_fn(|r| batch.state().x[r][lane]);
    let [cos, sin] = turn;
    if R == 3 {
        (x[1], x[R - 1]) = (cos * x[1] - sin * x[R - 1], cos * x[R - 1] + sin * x[1]);
    }
    out.copy_from_slice(&x[..out.len()]);
}
