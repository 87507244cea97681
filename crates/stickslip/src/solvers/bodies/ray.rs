//! The ray: where impulses drift along a direction on which W vanishes, the step to the next cone at once.
//!
//! Plain sweeps that keep adding the same change lead nowhere until a contact reaches its cone, thousands of sweeps later.

use super::krylov_island::{Island, Vector, difference, dot, inner, sum};
use super::rest::on_cone;
use crate::solvers::one_contact::{LocalScratch, OneContact, solve_coulomb};

/// Two changes count as one where their cosine and the ratio of their lengths exceed these.
const SAME: (f64, f64) = (0.99, 0.9);

/// Memory of the ray, kept from use to use.
#[derive(Debug, Default)]
pub(super) struct Ray {
    velocity: Vec<f64>,
    changes: [Vec<Vector>; 2],
    boundaries: Vec<f64>,
    scratch: LocalScratch,
}

impl Ray {
    /// Makes so many plain sweeps, an even number, and follows their constant change to the `which`-th boundary of a cone, or the last; false where the
    /// last two changes do not repeat each other.
    pub(super) fn follow(
        &mut self,
        island: &Island,
        r: &mut [Vector],
        (which, sweeps): (usize, usize),
    ) -> bool {
        island.velocity(r, &mut self.velocity);
        for change in &mut self.changes {
            change.resize(r.len(), [0.0; 3]);
        }
        for sweep in 0..sweeps {
            for index in 0..r.len() {
                let p = self.visit(island, index, &r[index]);
                let change = difference(&p, &r[index]);
                island.push(index, &change, &mut self.velocity);
                self.changes[sweep % 2][index] = change;
                r[index] = p;
            }
        }
        let Some(length) = self.length(island, r, which) else {
            return false;
        };
        for ((r, d), c) in r.iter_mut().zip(&self.changes[1]).zip(&island.contacts) {
            let end: Vector = std::array::from_fn(|k| r[k] + length * d[k]);
            *r = on_cone::<3>(&end, c.mu);
        }
        true
    }

    /// The new impulse of a contact whose impulse is `y`.
    fn visit(&mut self, island: &Island, index: usize, y: &Vector) -> Vector {
        let u = sum(&island.product(index, &self.velocity), &island.free[index]);
        let c = &island.contacts[index];
        let m = c.rows;
        let q: Vector = std::array::from_fn(|k| u[k] - dot(&c.w[k], y));
        let mut w = [0.0; 9];
        for i in 0..m {
            w[i * m..(i + 1) * m].copy_from_slice(&c.w[i][..m]);
        }
        let contact = OneContact {
            w: &w[..m * m],
            q: &q[..m],
            section: &island.problem.blocks[index].section,
            normal_impulse_min: 0.0,
        };
        let mut p = *y;
        solve_coulomb(&contact, &mut p[..m], &mut self.scratch);
        if p.iter().all(|p| p.is_finite()) {
            p
        } else {
            *y
        }
    }

    /// How many times the last change is to be added.
    fn length(&mut self, island: &Island, r: &[Vector], which: usize) -> Option<f64> {
        let [first, second] = &self.changes;
        let (n1, n2) = (inner(first, first).sqrt(), inner(second, second).sqrt());
        let (cosine, ratio) = (inner(first, second) / (n1 * n2), n2 / n1);
        if !(cosine > SAME.0 && ratio > SAME.1) {
            return None;
        }
        self.boundaries.clear();
        let contacts = r.iter().zip(second).zip(&island.contacts);
        self.boundaries
            .extend(contacts.filter_map(|((r, d), c)| boundary(r, d, c.mu)));
        self.boundaries.sort_unstable_by(f64::total_cmp);
        // A change that shrinks geometrically ends by itself.
        let end = if ratio < 1.0 {
            ratio / (1.0 - ratio)
        } else {
            f64::INFINITY
        };
        let last = self.boundaries.len().saturating_sub(1);
        let boundary = self.boundaries.get(which.min(last));
        let length = boundary.map_or(f64::INFINITY, |t| 1.0001 * t).min(end);
        length.is_finite().then_some(length)
    }
}

/// The first t > 0 at which r + t d leaves the inside of its cone, or a sliding impulse vanishes.
fn boundary(r: &Vector, d: &Vector, mu: f64) -> Option<f64> {
    if r[0] <= 0.0 {
        return None;
    }
    let square = mu * mu;
    let a = d[1] * d[1] + d[2] * d[2] - square * d[0] * d[0];
    let b = r[1] * d[1] + r[2] * d[2] - square * r[0] * d[0];
    let c = r[1] * r[1] + r[2] * r[2] - square * r[0] * r[0];
    if c >= -1e-9 * square * r[0] * r[0] {
        return (d[0] < 0.0).then(|| -r[0] / d[0]);
    }
    let discriminant = b * b - a * c;
    if !(discriminant >= 0.0) {
        return None;
    }
    let root = discriminant.sqrt();
    [(-b + root) / a, (-b - root) / a]
        .into_iter()
        .filter(|t| *t > 0.0 && t.is_finite())
        .min_by(f64::total_cmp)
}
