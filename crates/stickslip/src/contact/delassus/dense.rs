//! W with all its entries.

use crate::algebra::dot;

/// Square matrix, row-major; a buffer that steps refill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseDelassus {
    order: usize,
    entries: Vec<f64>,
}

impl DenseDelassus {
    /// Matrix of the given entries.
    ///
    /// # Panics
    /// If there are not `order²` of them.
    pub fn new(order: usize, entries: Vec<f64>) -> Self {
        assert_eq!(entries.len(), order * order, "W is square");
        Self { order, entries }
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Sets the order and gives the entries for writing; what they hold is unspecified.
    pub(in crate::contact) fn resize(&mut self, order: usize) -> &mut Vec<f64> {
        self.order = order;
        self.entries.resize(order * order, 0.0);
        &mut self.entries
    }

    #[inline]
    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.order + j]
    }

    #[inline]
    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.order..(i + 1) * self.order]
    }

    pub(super) fn entries(&self) -> &[f64] {
        &self.entries
    }

    #[inline]
    pub(super) fn multiply_plus(&self, p: &[f64], q: &[f64], out: &mut [f64]) {
        let rows = self.entries.chunks_exact(self.order.max(1));
        for ((o, q), row) in out.iter_mut().zip(q).zip(rows) {
            *o = q + dot(row, p);
        }
    }

    pub(super) fn multiply_plus_with_sizes(
        &self,
        p: &[f64],
        q: &[f64],
        out: &mut [f64],
        sizes: &mut [f64],
    ) {
        self.multiply_plus(p, q, out);
        for (i, size) in sizes.iter_mut().enumerate() {
            let terms = self.row(i).iter().zip(p).map(|(w, p)| (w * p).abs());
            *size = q[i].abs() + terms.sum::<f64>();
        }
    }
}
