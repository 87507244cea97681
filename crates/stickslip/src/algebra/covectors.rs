//! A list of covectors, dense for small systems and sparse for meshes.

use super::{absolute_dot, add_scaled, assign_zeros, dot};

/// Rows of a Jacobian, stored one after the other, all dense or all sparse.
///
/// A reusable buffer: clearing keeps the memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Covectors {
    dimension: usize,
    sparse: bool,
    count: usize,
    start: Vec<usize>,
    index: Vec<u32>,
    value: Vec<f64>,
}

impl Covectors {
    /// Empties the list for dense rows of the given length.
    pub fn clear_dense(&mut self, dimension: usize) {
        self.clear(dimension, false);
    }

    /// Empties the list for sparse rows of the given length.
    pub fn clear_sparse(&mut self, dimension: usize) {
        self.clear(dimension, true);
        self.start.push(0);
    }

    /// Makes it a list of dense zero rows and returns them for writing.
    #[inline]
    pub fn reset_dense(&mut self, dimension: usize, rows: usize) -> &mut [f64] {
        if self.sparse || self.dimension != dimension {
            self.clear_dense(dimension);
        }
        self.count = rows;
        assign_zeros(&mut self.value, rows * dimension);
        &mut self.value
    }

    fn clear(&mut self, dimension: usize, sparse: bool) {
        self.dimension = dimension;
        self.sparse = sparse;
        self.count = 0;
        self.start.clear();
        self.index.clear();
        self.value.clear();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the rows are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Length of every row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds dense zero rows and returns them for writing.
    ///
    /// # Panics
    /// If the list is sparse.
    #[inline]
    pub fn push_dense(&mut self, rows: usize) -> &mut [f64] {
        assert!(!self.sparse, "dense rows go into a dense list");
        let start = self.count * self.dimension;
        self.count += rows;
        self.value.resize(self.count * self.dimension, 0.0);
        &mut self.value[start..]
    }

    /// Adds one entry to the sparse row being written; entries of one index add up.
    #[inline]
    pub fn push_entry(&mut self, index: usize, value: f64) {
        debug_assert!(self.sparse && index < self.dimension);
        let start = *self.start.last().unwrap_or(&0);
        if let Some(k) = (start..self.index.len()).find(|&k| self.index[k] == index as u32) {
            self.value[k] += value;
        } else {
            self.index.push(index as u32);
            self.value.push(value);
        }
    }

    /// Ends the sparse row being written.
    #[inline]
    pub fn finish_row(&mut self) {
        debug_assert!(self.sparse);
        self.start.push(self.index.len());
        self.count += 1;
    }

    /// Adds the nonzero entries of a dense row to a sparse list.
    pub fn push_nonzeros(&mut self, row: &[f64]) {
        for (i, &x) in row.iter().enumerate() {
            if x != 0.0 {
                self.index.push(i as u32);
                self.value.push(x);
            }
        }
        self.finish_row();
    }

    /// Copies row `i` of another sparse list to the end of this one.
    pub fn push_row_of(&mut self, other: &Self, i: usize) {
        let (start, end) = (other.start[i], other.start[i + 1]);
        self.index.extend_from_slice(&other.index[start..end]);
        self.value.extend_from_slice(&other.value[start..end]);
        self.finish_row();
    }

    /// Row `i` of a dense list.
    #[inline]
    pub fn dense(&self, i: usize) -> &[f64] {
        debug_assert!(!self.sparse);
        &self.value[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Row `i` of a dense list, for writing.
    #[inline]
    pub fn dense_mut(&mut self, i: usize) -> &mut [f64] {
        debug_assert!(!self.sparse);
        &mut self.value[i * self.dimension..(i + 1) * self.dimension]
    }

    /// All rows of a dense list, one after the other.
    #[inline]
    pub fn dense_rows(&self) -> &[f64] {
        debug_assert!(!self.sparse);
        &self.value
    }

    /// Indices and values of row `i` of a sparse list.
    #[inline]
    pub fn sparse(&self, i: usize) -> (&[u32], &[f64]) {
        debug_assert!(self.sparse);
        let range = self.start[i]..self.start[i + 1];
        (&self.index[range.clone()], &self.value[range])
    }

    /// `row i · x`.
    #[inline]
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        if self.sparse {
            self.sparse_dot(i, x)
        } else {
            dot(self.dense(i), x)
        }
    }

    /// `row i · x` for several x.
    #[inline]
    pub fn dots<const N: usize>(&self, i: usize, x: [&[f64]; N]) -> [f64; N] {
        if self.sparse {
            return x.map(|x| self.sparse_dot(i, x));
        }
        let (row, mut out) = (self.dense(i), [0.0; N]);
        for k in 0..N {
            out[k] = dot(row, x[k]);
        }
        out
    }

    #[inline(never)] // Dense rows have no need of its frame.
    fn sparse_dot(&self, i: usize, x: &[f64]) -> f64 {
        let (index, value) = self.sparse(i);
        let products = index.iter().zip(value).map(|(&j, a)| a * x[j as usize]);
        products.sum()
    }

    /// The factor of row `i` as a multiple of row `j` of another list of the same kind, by least squares; none where that is
    /// zero.
    #[inline]
    pub fn multiple_of(&self, i: usize, other: &Self, j: usize) -> Option<f64> {
        if !self.sparse
            && let ([a, b, c], [x, y, z]) = (self.dense(i), other.dense(j))
            && (a, b, c) == (x, y, z)
            && (*x != 0.0 || *y != 0.0 || *z != 0.0)
        {
            return Some(1.0);
        }
        let square = other.dot_row(j, other, j);
        (square > 0.0).then(|| self.dot_row(i, other, j) / square)
    }

    /// `row i · row j` of another list of the same kind.
    #[inline(never)]
    fn dot_row(&self, i: usize, other: &Self, j: usize) -> f64 {
        if self.sparse {
            self.sparse_dot_row(i, other, j)
        } else {
            dot(self.dense(i), other.dense(j))
        }
    }

    #[inline(never)] // Dense rows have no need of its frame.
    fn sparse_dot_row(&self, i: usize, other: &Self, j: usize) -> f64 {
        let ((a, x), (b, y)) = (self.sparse(i), other.sparse(j));
        let same = |k: &u32| {
            b.iter()
                .zip(y)
                .filter(|(l, _)| *l == k)
                .map(|(_, y)| y)
                .sum::<f64>()
        };
        a.iter().zip(x).map(|(k, x)| x * same(k)).sum()
    }

    /// `Σ_j |row_ij x_j|`, the size of the numbers that cancel in the product.
    #[inline(always)] // Short rows cost less than a call.
    pub fn absolute_dot(&self, i: usize, x: &[f64]) -> f64 {
        if self.sparse {
            return self.sparse_absolute_dot(i, x);
        }
        absolute_dot(self.dense(i), x)
    }

    #[inline(never)] // Dense rows have no need of its frame.
    fn sparse_absolute_dot(&self, i: usize, x: &[f64]) -> f64 {
        let (index, value) = self.sparse(i);
        let products = index.iter().zip(value).map(|(&j, a)| a * x[j as usize]);
        products.map(f64::abs).sum()
    }

    /// `out += factor * row i`.
    #[inline]
    pub fn add_to(&self, i: usize, factor: f64, out: &mut [f64]) {
        if self.sparse {
            let (index, value) = self.sparse(i);
            for (&j, a) in index.iter().zip(value) {
                out[j as usize] += factor * a;
            }
        } else {
            add_scaled(out, factor, self.dense(i));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_rows_answer_alike() {
        let mut dense = Covectors::default();
        dense.clear_dense(4);
        dense.push_dense(1).copy_from_slice(&[0.0, 2.0, 0.0, -1.0]);
        let mut sparse = Covectors::default();
        sparse.clear_sparse(4);
        sparse.push_entry(3, -1.5);
        sparse.push_entry(1, 2.0);
        sparse.push_entry(3, 0.5);
        sparse.finish_row();
        let x = [1.0, 10.0, 100.0, 1000.0];
        assert_eq!(dense.dot(0, &x), -980.0);
        assert_eq!(sparse.dot(0, &x), -980.0);
        assert_eq!(sparse.absolute_dot(0, &x), 1020.0);
        let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
        dense.add_to(0, 2.0, &mut a);
        sparse.add_to(0, 2.0, &mut b);
        assert_eq!(a, b);
    }
}
