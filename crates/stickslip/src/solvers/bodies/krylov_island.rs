//! An island as Newton's method without a matrix reads it: contacts of three rows, velocities of its bodies.

use super::finish::IslandProblem;
use super::packing::batch_friction;
use super::rest::{felt, on_cone, or_part, worst_part};

pub(super) type Vector = [f64; 3];
pub(super) type Matrix = [[f64; 3]; 3];

/// One contact of the island, padded to three rows: rows that are not there have a unit diagonal and no coupling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) rows: usize,
    pub(super) w: Matrix,
    pub(super) rho: f64,
    pub(super) mu: f64,
}

/// The problem with its contacts prepared; buffers are kept from island to island.
#[derive(Debug, Default)]
pub(super) struct Island {
    pub(super) problem: IslandProblem,
    pub(super) contacts: Vec<Contact>,
    pub(super) free: Vec<Vector>,
    /// |ρ q|².
    free_size: f64,
    block: Vec<f64>,
}

impl Island {
    /// Prepares the problem; `None` where a contact has another law or nothing can move it.
    pub(super) fn prepare(&mut self) -> Option<()> {
        let rows_of_disc = self.problem.operator.freedoms() / 3 + 1;
        self.contacts.clear();
        self.free.clear();
        self.free_size = 0.0;
        for (index, block) in self.problem.blocks.iter().enumerate() {
            let mu = batch_friction(block, rows_of_disc)?;
            self.problem.operator.diagonal_block(index, &mut self.block);
            let rows = block.size;
            let mut w = [[0.0; 3]; 3];
            let mut trace = 0.0;
            for (i, row) in w.iter_mut().enumerate() {
                for (j, w) in row.iter_mut().enumerate() {
                    *w = if i < rows && j < rows {
                        self.block[i * rows + j]
                    } else {
                        f64::from(i == j)
                    };
                }
                if i < rows {
                    trace += row[i];
                }
            }
            if !(trace > 0.0 && w[0][0] > 0.0) {
                return None;
            }
            let rho = rows as f64 / trace;
            let mut q = [0.0; 3];
            q[..rows].copy_from_slice(&self.problem.free[block.range()]);
            self.free_size += rho * rho * dot(&q, &q);
            self.contacts.push(Contact { rows, w, rho, mu });
            self.free.push(q);
        }
        Some(())
    }

    /// Velocities of the bodies under impulses.
    pub(super) fn velocity(&self, r: &[Vector], v: &mut Vec<f64>) {
        let operator = &self.problem.operator;
        v.clear();
        v.resize(operator.bodies() * operator.freedoms(), 0.0);
        for (index, r) in r.iter().enumerate() {
            self.push(index, r, v);
        }
    }

    /// Adds what an impulse of one contact does to the velocities.
    #[inline]
    pub(super) fn push(&self, index: usize, p: &Vector, v: &mut [f64]) {
        let rows = self.contacts[index].rows;
        self.problem.operator.add_contact(index, &p[..rows], v);
    }

    /// J v of a contact.
    #[inline]
    pub(super) fn product(&self, index: usize, v: &[f64]) -> Vector {
        let mut u = [0.0; 3];
        let rows = self.contacts[index].rows;
        self.problem
            .operator
            .contact_product(index, v, &mut u[..rows]);
        u
    }

    /// |F|², or the square of the worst part of a contact where that is larger, and |r|².
    pub(super) fn measure(&self, r: &[Vector], v: &mut Vec<f64>) -> (f64, f64) {
        self.measure_each(r, v, |_| {})
    }

    /// The same; `each` is told |F|² of every contact in turn.
    pub(super) fn measure_each(
        &self,
        r: &[Vector],
        v: &mut Vec<f64>,
        mut each: impl FnMut(f64),
    ) -> (f64, f64) {
        self.velocity(r, v);
        let (mut map, mut size, mut part) = (0.0, 0.0, 0.0);
        for (index, (r, c)) in r.iter().zip(&self.contacts).enumerate() {
            let u = sum(&self.product(index, v), &self.free[index]);
            let mut z: Vector = std::array::from_fn(|k| r[k] - c.rho * u[k]);
            z[0] -= c.rho * c.mu * felt(slip(&u), c.mu, self.problem.noise);
            let d = difference(r, &on_cone::<3>(&z, c.mu));
            let error = dot(&d, &d);
            each(error);
            map += error;
            size += dot(r, r);
            part = worst_part(r, &u, (c.mu, c.rho)).max(part);
        }
        (or_part(map, part), size)
    }

    /// max(|r|, |ρ q|) of impulses with that |r|².
    pub(super) fn scale(&self, size: f64) -> f64 {
        size.max(self.free_size).sqrt()
    }

    /// |F|/max(|r|, |ρ q|) from |F|² and |r|².
    pub(super) fn relative(&self, map: f64, size: f64) -> f64 {
        if map == 0.0 {
            0.0
        } else {
            map.sqrt() / self.scale(size)
        }
    }

    /// |F|/max(|r|, |ρ q|).
    pub(super) fn residual(&self, r: &[Vector], v: &mut Vec<f64>) -> f64 {
        let (map, size) = self.measure(r, v);
        self.relative(map, size)
    }
}

#[inline]
pub(super) fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn inner(a: &[Vector], b: &[Vector]) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(a, b)).sum()
}

#[inline]
pub(super) fn sum(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k] + b[k])
}

#[inline]
pub(super) fn difference(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

/// |u_T|.
#[inline]
pub(super) fn slip(u: &Vector) -> f64 {
    (u[1] * u[1] + u[2] * u[2]).sqrt()
}
