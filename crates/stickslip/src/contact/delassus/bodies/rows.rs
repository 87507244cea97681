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

    /// The numbers of a contact: per row F of side a, then F of side b. Those of a side without body must stay zero.
    #[inline]
    pub(crate) fn numbers(&mut self, contact: usize) -> &mut [f64] {
        let Range { start, end } = self.range(contact);
        let width = 2 * self.freedoms;
        &mut self.values[start * width..end * width]
    }

    /// Reads the rows of a contact once they are written: keeps their squares, and returns J v' of some velocities.
    #[inline]
    pub(crate) fn read<const N: usize>(
        &mut self,
        contact: usize,
        velocities: [&[f64]; N],
    ) -> [[f64; ROWS_MAX]; N] {
        if self.freedoms == 6 {
            self.read_as::<N, 6>(contact, velocities)
        } else {
            self.read_as::<N, 3>(contact, velocities)
        }
    }

    #[inline(always)]
    fn read_as<const N: usize, const F: usize>(
        &mut self,
        contact: usize,
        velocities: [&[f64]; N],
    ) -> [[f64; ROWS_MAX]; N] {
        let (rows, sides) = (self.range(contact), self.sides[contact]);
        let mut twists = [[[0.0; F]; 2]; N];
        for (twists, velocity) in twists.iter_mut().zip(velocities) {
            for (out, side) in twists.iter_mut().zip(sides) {
                *out = twist::<F>(side, velocity);
            }
        }
        let mut out = [[0.0; ROWS_MAX]; N];
        let (halves, _) = self.values[rows.start * 2 * F..rows.end * 2 * F].as_chunks::<F>();
        let numbers = halves.as_chunks::<2>().0.iter();
        for (row, ([a, b], square)) in numbers.zip(&mut self.squares[rows]).enumerate() {
            for (out, twist) in out.iter_mut().zip(&twists) {
                out[row] = along(a, &twist[0]) + along(b, &twist[1]);
            }
            *square = if sides[0] != sides[1] {
                dot(a, a) + dot(b, b)
            } else if sides[0] != NO_BODY {
                // A body that touches itself.
                (dot(a, a) + dot(a, b)) + (dot(b, a) + dot(b, b))
            } else {
                0.0
            };
        }
        out
    }
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
