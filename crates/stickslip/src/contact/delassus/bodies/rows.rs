//! Rows of contacts between bodies, for writing by several threads.

use std::ops::Range;

use super::{NO_BODY, ROWS_MAX, along, twist};
use crate::algebra::dot;
use crate::parallel::Part;

/// Numbers per row of some contacts.
pub(crate) struct ByContact<'a, T> {
    /// First row of each contact in the whole problem, and that behind the last.
    pub(crate) first_row: &'a [u32],
    pub(crate) rows: &'a mut [T],
}

impl<T> ByContact<'_, T> {
    /// Number of contacts.
    pub(crate) fn contacts(&self) -> usize {
        self.first_row.len() - 1
    }

    /// Where the rows of a contact are in this part.
    #[inline]
    fn range(&self, contact: usize) -> Range<usize> {
        let start = self.first_row[0];
        (self.first_row[contact] - start) as usize..(self.first_row[contact + 1] - start) as usize
    }

    /// The numbers of a contact.
    #[inline]
    pub(crate) fn of(&mut self, contact: usize) -> &mut [T] {
        let range = self.range(contact);
        &mut self.rows[range]
    }
}

impl<T: Send> Part for ByContact<'_, T> {
    fn cut(self, at: usize) -> (Self, Self) {
        let rows = (self.first_row[at] - self.first_row[0]) as usize;
        let (first, last) = self.rows.split_at_mut(rows);
        let first = Self {
            first_row: &self.first_row[..=at],
            rows: first,
        };
        let last = Self {
            first_row: &self.first_row[at..],
            rows: last,
        };
        (first, last)
    }
}

/// The rows J of some contacts, zero as yet, and their squares.
pub(crate) struct BodyRows<'a> {
    pub(super) freedoms: usize,
    pub(super) first_row: &'a [u32],
    pub(super) sides: &'a [[u32; 2]],
    pub(super) values: &'a mut [f64],
    pub(super) squares: &'a mut [f64],
}

impl<'a> BodyRows<'a> {
    /// Numbers per row of the same contacts.
    pub(crate) fn numbers_by_contact<T>(&self, rows: &'a mut [T]) -> ByContact<'a, T> {
        ByContact {
            first_row: self.first_row,
            rows,
        }
    }

    /// Number of contacts.
    pub(crate) fn contacts(&self) -> usize {
        self.sides.len()
    }

    #[inline]
    fn range(&self, contact: usize) -> Range<usize> {
        let start = self.first_row[0];
        (self.first_row[contact] - start) as usize..(self.first_row[contact + 1] - start) as usize
    }

    /// Sets the rows of a contact, per row F numbers of side a, then F of side b (zero for a side without body), and their squares.
    /// Returns J v' of some velocities.
    #[inline(always)] // For each number of rows known beforehand.
    pub(crate) fn set<const N: usize, const F: usize>(
        &mut self,
        contact: usize,
        rows: &[[[f64; F]; 2]],
        velocities: [&[f64]; N],
    ) -> [[f64; ROWS_MAX]; N] {
        debug_assert_eq!(F, self.freedoms);
        let start = self.range(contact).start;
        let width = 2 * F;
        let values = &mut self.values[start * width..(start + rows.len()) * width];
        values.copy_from_slice(rows.as_flattened().as_flattened());
        let squares = &mut self.squares[start..start + rows.len()];
        products(rows, squares, self.sides[contact], velocities)
    }

    /// The same for normal and tangents of a contact of two bodies in space, given by columns: all rows at once, a lane each.
    #[inline(always)]
    pub(crate) fn set_by_lane(
        &mut self,
        contact: usize,
        columns: &[[f64; 4]; 12],
        velocities: [&[f64]; 2],
    ) -> [[f64; 4]; 2] {
        let start = self.range(contact).start;
        let (rows, _) = self.values[start * 12..(start + 3) * 12].as_chunks_mut::<12>();
        for (row, values) in rows.iter_mut().enumerate() {
            for (value, column) in values.iter_mut().zip(columns) {
                *value = column[row];
            }
        }
        let (a, b) = (&columns[..6], &columns[6..]);
        let square = |half: &[[f64; 4]], l: usize| {
            let mut sum = half[0][l] * half[0][l];
            for column in &half[1..] {
                sum += column[l] * column[l];
            }
            sum
        };
        let squares = &mut self.squares[start..start + 3];
        for (l, out) in squares.iter_mut().enumerate() {
            *out = square(a, l) + square(b, l);
        }
        let sides = self.sides[contact];
        let product = |half: &[[f64; 4]], v: &[f64; 6], l: usize| {
            let part = |k: usize| half[k][l] * v[k] + half[k + 3][l] * v[k + 3];
            part(0) + part(1) + part(2)
        };
        let mut out = [[0.0; 4]; 2];
        for (out, velocity) in out.iter_mut().zip(velocities) {
            let (u, v) = (
                twist::<6>(sides[0], velocity),
                twist::<6>(sides[1], velocity),
            );
            for (l, out) in out.iter_mut().enumerate() {
                *out = product(a, &u, l) + product(b, &v, l);
            }
        }
        out
    }

    /// Keeps the squares of the rows of a contact that are written, and returns J v' of a velocity.
    #[inline]
    pub(crate) fn read(&mut self, contact: usize, velocity: &[f64]) -> [f64; ROWS_MAX] {
        let Range { start, end } = self.range(contact);
        let (sides, squares) = (self.sides[contact], &mut self.squares[start..end]);
        let width = 2 * self.freedoms;
        let values = &self.values[start * width..end * width];
        let [out] = if self.freedoms == 6 {
            let rows = values.as_chunks::<6>().0.as_chunks::<2>().0;
            products(rows, squares, sides, [velocity])
        } else {
            let rows = values.as_chunks::<3>().0.as_chunks::<2>().0;
            products(rows, squares, sides, [velocity])
        };
        out
    }
}

/// Squares of rows, written, and their products with velocities.
#[inline(always)] // For each number of rows known beforehand.
fn products<const N: usize, const F: usize>(
    rows: &[[[f64; F]; 2]],
    squares: &mut [f64],
    sides: [u32; 2],
    velocities: [&[f64]; N],
) -> [[f64; ROWS_MAX]; N] {
    for ([a, b], square) in rows.iter().zip(squares) {
        *square = if sides[0] != sides[1] {
            dot(a, a) + dot(b, b)
        } else if sides[0] != NO_BODY {
            // A body that touches itself.
            (dot(a, a) + dot(a, b)) + (dot(b, a) + dot(b, b))
        } else {
            0.0
        };
    }
    let mut out = [[0.0; ROWS_MAX]; N];
    for (out, velocity) in out.iter_mut().zip(velocities) {
        let [u, v] = [
            twist::<F>(sides[0], velocity),
            twist::<F>(sides[1], velocity),
        ];
        for (out, [a, b]) in out.iter_mut().zip(rows) {
            *out = along(a, &u) + along(b, &v);
        }
    }
    out
}

impl Part for BodyRows<'_> {
    fn cut(self, at: usize) -> (Self, Self) {
        let rows = (self.first_row[at] - self.first_row[0]) as usize;
        let (values, later_values) = self.values.split_at_mut(rows * 2 * self.freedoms);
        let (squares, later_squares) = self.squares.split_at_mut(rows);
        let (sides, later_sides) = self.sides.split_at(at);
        let first = Self {
            freedoms: self.freedoms,
            first_row: &self.first_row[..=at],
            sides,
            values,
            squares,
        };
        let last = Self {
            freedoms: self.freedoms,
            first_row: &self.first_row[at..],
            sides: later_sides,
            values: later_values,
            squares: later_squares,
        };
        (first, last)
    }
}
