//! The Delassus operator over bodies: W = J Jᵀ, never assembled.
//!
//! # What it computes
//!
//! Bodies have *whitened* velocities v' = L⁻¹ v with M⁻¹ = L Lᵀ body by body, so that the kinetic energy is ½|v'|² and an
//! impulse p changes them by Jᵀ p. A contact acts on at most two bodies; each of its rows holds 2·F numbers, F freedoms of
//! side a and F of side b with their signs: u = J v' + bias, v' = v'_free + Jᵀ p, hence W = J Jᵀ. Rows per contact may differ
//! (rolling and drilling add rows).
//!
//! # Source
//!
//! Own; the whitening saves the response M⁻¹ Jᵀ beside J that engines for rigid bodies keep.
//!
//! # Guarantees
//!
//! W is symmetric and positive semidefinite by construction; a product costs O(rows), whatever the number of contacts on a body.
//!
//! # Behaviour to know
//!
//! The type is a reusable buffer: [`BodyOperator::begin`], [`BodyOperator::push`] per contact, without allocation once
//! warm. Sides that cannot move are [`NO_BODY`]; their velocity belongs to the bias.
//!
//! # Cost
//!
//! 16·F + 4 bytes per row: 300 bytes for a contact of three rows in space.
//!
//! # Tested by
//!
//! `contact/delassus/bodies/tests.rs`, against dense algebra.

use std::ops::Range;

use crate::algebra::block_sparse::{BlockSparse, BlockSparseBuilder};
use crate::algebra::dot;
use crate::parallel::{Part, share};

pub(crate) use rows::{BodyRows, ByContact};

/// The side of a contact that nothing can move.
pub const NO_BODY: u32 = u32::MAX;

/// W = J Jᵀ over the whitened velocities of bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyOperator {
    freedoms: usize,
    bodies: usize,
    /// First row of each contact, and the number of rows at the end.
    first_row: Vec<u32>,
    sides: Vec<[u32; 2]>,
    /// Contact of each row.
    contact: Vec<u32>,
    /// 2·F numbers per row.
    values: Vec<f64>,
    /// Diagonal of W, where it was computed.
    squares: Vec<f64>,
}

impl BodyOperator {
    /// Empties the operator for `bodies` bodies of `freedoms` freedoms each: 6 in space, 3 in the plane.
    pub fn begin(&mut self, freedoms: usize, bodies: usize) {
        assert!(
            freedoms == 3 || freedoms == 6,
            "a body has 3 freedoms in the plane and 6 in space, not {freedoms}"
        );
        assert!(bodies < NO_BODY as usize, "bodies are counted by u32");
        self.freedoms = freedoms;
        self.bodies = bodies;
        self.first_row.clear();
        self.first_row.push(0);
        self.sides.clear();
        self.contact.clear();
        self.squares.clear();
    }

    /// Adds a contact of `rows` rows between two bodies and returns its numbers for writing, zero as yet: per row F numbers of
    /// side a, then F of side b. The numbers of a side without body must stay zero.
    pub fn push(&mut self, rows: usize, sides: [u32; 2]) -> &mut [f64] {
        self.announce(rows, sides);
        let width = 2 * self.freedoms;
        let end = self.rows() * width;
        let start = end - rows * width;
        self.values.truncate(start);
        self.values.resize(end, 0.0);
        &mut self.values[start..]
    }

    /// Adds a contact whose numbers are written later, all of them, through [`Self::rows_mut`].
    #[inline]
    pub(in crate::contact) fn announce(&mut self, rows: usize, sides: [u32; 2]) {
        for side in sides {
            assert!(
                side == NO_BODY || (side as usize) < self.bodies,
                "body {side} of {}",
                self.bodies
            );
        }
        assert!(rows <= ROWS_MAX, "a contact has at most {ROWS_MAX} rows");
        let contact = self.sides.len() as u32;
        self.sides.push(sides);
        let first = self.contact.len();
        self.contact.resize(first + rows, contact);
        self.first_row.push((first + rows) as u32);
    }

    /// Freedoms per body.
    pub fn freedoms(&self) -> usize {
        self.freedoms
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.sides.len()
    }

    /// Number of rows, the order of W.
    pub fn rows(&self) -> usize {
        self.contact.len()
    }

    /// Rows of a contact.
    #[inline]
    pub fn rows_of(&self, contact: usize) -> Range<usize> {
        self.first_row[contact] as usize..self.first_row[contact + 1] as usize
    }

    /// Contact that a row belongs to.
    #[inline]
    pub fn contact_of(&self, row: usize) -> usize {
        self.contact[row] as usize
    }

    /// The two bodies of a contact, [`NO_BODY`] for a side that cannot move.
    #[inline]
    pub fn sides(&self, contact: usize) -> [u32; 2] {
        self.sides[contact]
    }

    /// The 2·F numbers of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        let width = 2 * self.freedoms;
        &self.values[row * width..(row + 1) * width]
    }

    /// J_row v', for velocities of F numbers per body.
    #[inline]
    pub fn row_product(&self, row: usize, velocity: &[f64]) -> f64 {
        let sides = self.sides(self.contact_of(row));
        if self.freedoms == 6 {
            product::<6>(self.row(row), sides, velocity)
        } else {
            product::<3>(self.row(row), sides, velocity)
        }
    }

    /// v' += J_rowᵀ p for one row.
    #[inline]
    pub fn add_row(&self, row: usize, p: f64, velocity: &mut [f64]) {
        let sides = self.sides(self.contact_of(row));
        if self.freedoms == 6 {
            push::<6>(self.row(row), sides, p, velocity);
        } else {
            push::<3>(self.row(row), sides, p, velocity);
        }
    }

    /// Writes J v' of the rows of a contact.
    #[inline]
    pub fn contact_product(&self, contact: usize, velocity: &[f64], out: &mut [f64]) {
        let rows = self.rows_of(contact);
        if self.freedoms == 6 {
            self.products::<6>(contact, rows, velocity, out);
        } else {
            self.products::<3>(contact, rows, velocity, out);
        }
    }

    #[inline(always)]
    fn products<const F: usize>(
        &self,
        contact: usize,
        rows: Range<usize>,
        velocity: &[f64],
        out: &mut [f64],
    ) {
        let [a, b] = self.sides(contact).map(|side| twist::<F>(side, velocity));
        let numbers = &self.values[rows.start * 2 * F..rows.end * 2 * F];
        let (sides, _) = numbers.as_chunks::<F>();
        let product = |row: &[[f64; F]; 2]| along(&row[0], &a) + along(&row[1], &b);
        match (sides.as_chunks::<2>().0, &mut *out) {
            // Normal and tangents, the most common rows.
            ([n, s, t], [x, y, z, ..]) => (*x, *y, *z) = (product(n), product(s), product(t)),
            (rows, out) => {
                for (out, row) in out.iter_mut().zip(rows) {
                    *out = product(row);
                }
            }
        }
    }

    /// v' += Jᵀ p for the rows of a contact.
    #[inline]
    pub fn add_contact(&self, contact: usize, p: &[f64], velocity: &mut [f64]) {
        if p.iter().all(|&p| p == 0.0) {
            return;
        }
        let (sides, rows) = (self.sides(contact), self.rows_of(contact));
        if self.freedoms == 6 {
            self.pushes::<6>(sides, rows, p, velocity);
        } else {
            self.pushes::<3>(sides, rows, p, velocity);
        }
    }

    #[inline(always)]
    fn pushes<const F: usize>(
        &self,
        bodies: [u32; 2],
        rows: Range<usize>,
        p: &[f64],
        velocity: &mut [f64],
    ) {
        let numbers = &self.values[rows.start * 2 * F..rows.end * 2 * F];
        let (sides, _) = numbers.as_chunks::<F>();
        let mut changes = [[0.0; F]; 2];
        let mut add = |[a, b]: &[[f64; F]; 2], p: f64| {
            for k in 0..F {
                changes[0][k] += a[k] * p;
                changes[1][k] += b[k] * p;
            }
        };
        match (sides.as_chunks::<2>().0, p) {
            // Normal and tangents, the most common rows.
            ([n, s, t], &[x, y, z]) => {
                add(n, x);
                add(s, y);
                add(t, z);
            }
            (rows, p) => rows.iter().zip(p).for_each(|(row, &p)| add(row, p)),
        }
        for (side, change) in bodies.into_iter().zip(&changes) {
            if side == NO_BODY {
                continue;
            }
            let at = side as usize * F;
            let velocity: &mut [f64; F] = (&mut velocity[at..at + F]).try_into().expect("F");
            for k in 0..F {
                velocity[k] += change[k];
            }
        }
    }

    /// All rows for writing; their squares are to be set by [`BodyRows::read`].
    pub(in crate::contact) fn rows_mut(&mut self) -> BodyRows<'_> {
        let rows = self.contact.len();
        self.squares.resize(rows, 0.0);
        self.values.resize(rows * 2 * self.freedoms, 0.0);
        BodyRows {
            freedoms: self.freedoms,
            first_row: &self.first_row,
            sides: &self.sides,
            values: &mut self.values,
            squares: &mut self.squares,
        }
    }

    /// Diagonal entry of W.
    #[inline]
    pub fn square(&self, row: usize) -> f64 {
        match self.squares.get(row) {
            Some(&square) => square,
            None => self.product_of(row, row),
        }
    }

    /// v' += Jᵀ p.
    pub fn add_velocity(&self, impulse: &[f64], velocity: &mut [f64]) {
        assert_eq!(impulse.len(), self.rows(), "one impulse per row");
        assert_eq!(
            velocity.len(),
            self.bodies * self.freedoms,
            "F velocities per body"
        );
        let bodies = Bodies {
            freedoms: self.freedoms,
            velocity,
        };
        // Each thread goes through all contacts in their order and moves its own bodies.
        share(bodies, self.bodies, |first, part| {
            if part.velocity.len() == self.bodies * self.freedoms {
                for contact in 0..self.contacts() {
                    self.add_contact(contact, &impulse[self.rows_of(contact)], part.velocity);
                }
            } else if self.freedoms == 6 {
                self.push_part::<6>(impulse, first as u32, part.velocity);
            } else {
                self.push_part::<3>(impulse, first as u32, part.velocity);
            }
        });
    }

    /// v' += Jᵀ p for the bodies from `first` on.
    fn push_part<const F: usize>(&self, impulse: &[f64], first: u32, velocity: &mut [f64]) {
        let bodies = first..first + (velocity.len() / F) as u32;
        for (contact, sides) in self.sides.iter().enumerate() {
            let own = sides.map(|side| match bodies.contains(&side) {
                true => side - first,
                false => NO_BODY,
            });
            if own != [NO_BODY; 2] {
                let rows = self.rows_of(contact);
                let p = &impulse[rows.clone()];
                if p.iter().any(|&p| p != 0.0) {
                    self.pushes::<F>(own, rows, p, velocity);
                }
            }
        }
    }

    /// w += W p; `velocity` is working memory of F numbers per body.
    pub fn multiply_add(&self, impulse: &[f64], w: &mut [f64], velocity: &mut Vec<f64>) {
        assert_eq!(w.len(), self.rows(), "one velocity per row");
        velocity.clear();
        velocity.resize(self.bodies * self.freedoms, 0.0);
        self.add_velocity(impulse, velocity);
        let rows = ByContact {
            first_row: &self.first_row,
            rows: w,
        };
        share(rows, self.contacts(), |first, mut part| {
            let mut own = [0.0; ROWS_MAX];
            for k in 0..part.contacts() {
                self.contact_product(first + k, velocity, &mut own);
                for (w, own) in part.of(k).iter_mut().zip(&own) {
                    *w += own;
                }
            }
        });
    }

    /// Writes `W p + q` and the sizes of the terms that round in it, `|J||Jᵀ||p| + |q|`.
    pub fn multiply_plus_with_sizes(
        &self,
        p: &[f64],
        q: &[f64],
        out: &mut [f64],
        sizes: &mut [f64],
    ) {
        let f = self.freedoms;
        out.copy_from_slice(q);
        self.multiply_add(p, out, &mut Vec::new());
        let mut terms = vec![0.0; self.bodies * f];
        for (row, p) in p.iter().enumerate() {
            for (side, numbers) in self
                .sides(self.contact_of(row))
                .into_iter()
                .zip(self.row(row).chunks_exact(f))
            {
                if side != NO_BODY {
                    for (k, j) in numbers.iter().enumerate() {
                        terms[side as usize * f + k] += (j * p).abs();
                    }
                }
            }
        }
        for (row, size) in sizes.iter_mut().enumerate() {
            *size = q[row].abs();
            for (side, numbers) in self
                .sides(self.contact_of(row))
                .into_iter()
                .zip(self.row(row).chunks_exact(f))
            {
                if side != NO_BODY {
                    for (k, j) in numbers.iter().enumerate() {
                        *size += j.abs() * terms[side as usize * f + k];
                    }
                }
            }
        }
    }

    /// W_ij.
    #[inline]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return self.square(i);
        }
        self.product_of(i, j)
    }

    /// J_i J_jᵀ.
    fn product_of(&self, i: usize, j: usize) -> f64 {
        let f = self.freedoms;
        let (a, b) = (
            self.sides(self.contact_of(i)),
            self.sides(self.contact_of(j)),
        );
        let (row, column) = (self.row(i), self.row(j));
        let mut sum = 0.0;
        for (s, &body) in a.iter().enumerate() {
            for (t, &other) in b.iter().enumerate() {
                if body != NO_BODY && body == other {
                    sum += dot(&row[s * f..(s + 1) * f], &column[t * f..(t + 1) * f]);
                }
            }
        }
        sum
    }

    /// Writes W_ii of a contact, row-major.
    pub fn diagonal_block(&self, contact: usize, out: &mut Vec<f64>) {
        out.clear();
        let rows = self.rows_of(contact);
        for i in rows.clone() {
            for j in rows.clone() {
                out.push(self.entry(i, j));
            }
        }
    }

    /// Trace of W.
    pub fn trace(&self) -> f64 {
        (0..self.rows()).map(|row| self.entry(row, row)).sum()
    }

    /// W as a dense row-major copy, for studies and small problems.
    pub fn dense(&self) -> Vec<f64> {
        let n = self.rows();
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let entry = self.entry(i, j);
                w[i * n + j] = entry;
                w[j * n + i] = entry;
            }
        }
        w
    }

    /// W as a block-sparse copy; `None` without contacts and where their numbers of rows differ.
    pub fn blocks(&self) -> Option<BlockSparse> {
        let contacts = self.contacts();
        if contacts == 0 {
            return None;
        }
        let d = self.rows_of(0).len();
        if (0..contacts).any(|i| self.rows_of(i).len() != d) {
            return None;
        }
        let (start, on_body) = self.contacts_of_bodies();
        let mut builder = BlockSparseBuilder::new(d, contacts);
        let mut columns: Vec<usize> = Vec::new();
        for i in 0..contacts {
            columns.clear();
            columns.push(i);
            for side in self.sides(i) {
                if side != NO_BODY {
                    let range = start[side as usize] as usize..start[side as usize + 1] as usize;
                    columns.extend(on_body[range].iter().map(|&j| j as usize));
                }
            }
            columns.sort_unstable();
            columns.dedup();
            let first = builder.start_row(&columns);
            for (k, &j) in columns.iter().enumerate() {
                let block = &mut builder.value[first + k * d * d..][..d * d];
                for c in 0..d {
                    for r in 0..d {
                        block[d * c + r] = self.entry(d * i + r, d * j + c);
                    }
                }
            }
        }
        Some(builder.finish())
    }

    /// Contacts of each body in ascending order: where those of body b begin, and all of them.
    pub fn contacts_of_bodies(&self) -> (Vec<u32>, Vec<u32>) {
        let mut start = vec![0u32; self.bodies + 1];
        let sides_of = |sides: &[u32; 2]| {
            let second = (sides[1] != sides[0]).then_some(sides[1]);
            [Some(sides[0]), second]
                .into_iter()
                .flatten()
                .filter(|&side| side != NO_BODY)
        };
        for sides in &self.sides {
            for side in sides_of(sides) {
                start[side as usize + 1] += 1;
            }
        }
        for b in 0..self.bodies {
            start[b + 1] += start[b];
        }
        let mut next = start.clone();
        let mut on_body = vec![0; start[self.bodies] as usize];
        for (i, sides) in self.sides.iter().enumerate() {
            for side in sides_of(sides) {
                on_body[next[side as usize] as usize] = i as u32;
                next[side as usize] += 1;
            }
        }
        (start, on_body)
    }
}

/// Most rows of a contact: normal, tangents, rolling and drilling.
const ROWS_MAX: usize = 6;

/// J_side · v_side.
#[inline(always)]
fn along<const F: usize>(numbers: &[f64; F], velocity: &[f64; F]) -> f64 {
    let mut parts = [0.0; 3];
    for k in 0..F {
        parts[k % 3] += numbers[k] * velocity[k];
    }
    parts[0] + parts[1] + parts[2]
}

/// Velocity of a side; zero where it cannot move.
#[inline(always)]
fn twist<const F: usize>(side: u32, velocity: &[f64]) -> [f64; F] {
    let mut out = [0.0; F];
    if side != NO_BODY {
        let at = side as usize * F;
        out.copy_from_slice(&velocity[at..at + F]);
    }
    out
}

/// Σ over the sides of J_side · v_side, for F freedoms.
#[inline(always)]
fn product<const F: usize>(numbers: &[f64], sides: [u32; 2], velocity: &[f64]) -> f64 {
    let [a, b] = sides.map(|side| twist::<F>(side, velocity));
    let (halves, _) = numbers.as_chunks::<F>();
    along(&halves[0], &a) + along(&halves[1], &b)
}

/// v_side += J_side p for both sides.
#[inline(always)]
fn push<const F: usize>(numbers: &[f64], sides: [u32; 2], p: f64, velocity: &mut [f64]) {
    for (side, numbers) in sides.into_iter().zip(numbers.as_chunks::<F>().0) {
        if side != NO_BODY {
            let at = side as usize * F;
            for (v, j) in velocity[at..at + F].iter_mut().zip(numbers) {
                *v += j * p;
            }
        }
    }
}

/// Velocities of some bodies.
struct Bodies<'a> {
    freedoms: usize,
    velocity: &'a mut [f64],
}

impl Part for Bodies<'_> {
    fn cut(self, at: usize) -> (Self, Self) {
        let (first, last) = self.velocity.split_at_mut(at * self.freedoms);
        let of = |velocity| Self {
            freedoms: self.freedoms,
            velocity,
        };
        (of(first), of(last))
    }
}

mod rows;
#[cfg(test)]
mod tests;
