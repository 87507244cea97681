//! Symmetric matrices of generalized coordinates.
//!
//! Systems in generalized coordinates are small: storage is dense and row-major and every
//! operation works in place, so that a warm step allocates nothing. Meshes give sparse matrices;
//! the same types hold them, so that there is one scheme for both.

use std::sync::Arc;

use super::compensated::compensated_dot;
use super::sparse_symmetric::{SparsePattern, SparseSymmetric};
use super::vectors::dot;

/// Symmetric matrix, stored in full (both triangles): dense row-major, or sparse.
///
/// ```
/// use stickslip::algebra::SymmetricMatrix;
///
/// let mass = SymmetricMatrix::from_rows(2, vec![2.0, 1.0, 1.0, 3.0]);
/// assert_eq!(mass.bilinear(&[1.0, 1.0], &[1.0, 1.0]), 7.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricMatrix {
    order: usize,
    storage: Storage,
}

#[derive(Clone, Debug, PartialEq)]
enum Storage {
    Dense(Vec<f64>),
    Sparse(SparseSymmetric),
}

impl Default for SymmetricMatrix {
    fn default() -> Self {
        Self {
            order: 0,
            storage: Storage::Dense(Vec::new()),
        }
    }
}

impl SymmetricMatrix {
    /// The dense zero matrix of the given order.
    pub fn zeros(order: usize) -> Self {
        Self {
            order,
            storage: Storage::Dense(vec![0.0; order * order]),
        }
    }

    /// The sparse zero matrix on a pattern.
    #[doc(hidden)]
    pub fn sparse_zeros(pattern: Arc<SparsePattern>) -> Self {
        Self::from_sparse(SparseSymmetric::zeros(pattern))
    }

    /// A sparse matrix.
    #[doc(hidden)]
    pub fn from_sparse(matrix: SparseSymmetric) -> Self {
        Self {
            order: matrix.pattern().order(),
            storage: Storage::Sparse(matrix),
        }
    }

    /// Dense diagonal matrix with the given entries.
    pub fn diagonal(entries: &[f64]) -> Self {
        let mut matrix = Self::zeros(entries.len());
        for (i, &entry) in entries.iter().enumerate() {
            matrix.set(i, i, entry);
        }
        matrix
    }

    /// Dense matrix with the given row-major values.
    ///
    /// # Panics
    /// If `values` does not hold `order²` numbers. Symmetry is not checked here; see
    /// [`SymmetricMatrix::asymmetry`].
    pub fn from_rows(order: usize, values: Vec<f64>) -> Self {
        assert_eq!(
            values.len(),
            order * order,
            "a matrix of order {order} has {} entries",
            order * order
        );
        Self {
            order,
            storage: Storage::Dense(values),
        }
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The sparse storage, if the matrix is sparse.
    #[doc(hidden)]
    pub fn sparse(&self) -> Option<&SparseSymmetric> {
        match &self.storage {
            Storage::Dense(_) => None,
            Storage::Sparse(matrix) => Some(matrix),
        }
    }

    /// All entries of a dense matrix, row by row; the stored entries of a sparse one.
    pub fn values(&self) -> &[f64] {
        match &self.storage {
            Storage::Dense(values) => values,
            Storage::Sparse(matrix) => matrix.values(),
        }
    }

    /// All entries of a dense matrix, row by row, or the stored entries of a sparse one, for
    /// writing.
    pub fn values_mut(&mut self) -> &mut [f64] {
        match &mut self.storage {
            Storage::Dense(values) => values,
            Storage::Sparse(matrix) => matrix.values_mut(),
        }
    }

    /// Entry in row `i` and column `j`.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match &self.storage {
            Storage::Dense(values) => values[i * self.order + j],
            Storage::Sparse(matrix) => matrix
                .pattern()
                .position(i, j)
                .map_or(0.0, |k| matrix.values()[k]),
        }
    }

    /// Writes one entry (the caller keeps symmetry).
    ///
    /// # Panics
    /// If the matrix is sparse and the position is not in its pattern.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        match &mut self.storage {
            Storage::Dense(values) => values[i * self.order + j] = value,
            Storage::Sparse(matrix) => {
                let position = matrix.pattern().position(i, j);
                let k = position.unwrap_or_else(|| panic!("({i}, {j}) is not in the pattern"));
                matrix.values_mut()[k] = value;
            }
        }
    }

    /// Sets every entry to zero.
    pub fn clear(&mut self) {
        self.values_mut().fill(0.0);
    }

    /// Copies another matrix, without allocating when order and storage agree.
    pub fn copy_from(&mut self, other: &Self) {
        match (&mut self.storage, &other.storage) {
            (Storage::Dense(a), Storage::Dense(b)) if a.len() == b.len() => a.copy_from_slice(b),
            (Storage::Sparse(a), Storage::Sparse(b)) => a.copy_from(b),
            (storage, other) => storage.clone_from(other),
        }
        self.order = other.order;
    }

    /// Adds `factor * other`.
    ///
    /// # Panics
    /// If one matrix is dense and the other sparse, or if a sparse sum needs a position that the
    /// pattern of `self` lacks.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        match (&mut self.storage, &other.storage) {
            (Storage::Dense(a), Storage::Dense(b)) => {
                for (a, b) in a.iter_mut().zip(b) {
                    *a += factor * b;
                }
            }
            (Storage::Sparse(a), Storage::Sparse(b)) => a.add_scaled(factor, b),
            _ => panic!("dense and sparse matrices of one system"),
        }
    }

    /// `out = self x`.
    #[inline]
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = dot(&values[i * self.order..(i + 1) * self.order], x);
                }
            }
            Storage::Sparse(matrix) => matrix.multiply_with(x, out, |o, value| *o = value),
        }
    }

    /// `out += factor * self x`.
    pub(crate) fn multiply_add(&self, factor: f64, x: &[f64], out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o += factor * dot(&values[i * self.order..(i + 1) * self.order], x);
                }
            }
            Storage::Sparse(matrix) => {
                matrix.multiply_with(x, out, |o, value| *o += factor * value)
            }
        }
    }

    /// Writes `self x` as if summed with twice the digits, for products that cancel.
    pub(crate) fn multiply_compensated(&self, x: &[f64], out: &mut [f64]) {
        let n = self.order;
        match &self.storage {
            Storage::Dense(values) => {
                for (o, row) in out.iter_mut().zip(values.chunks(n.max(1))) {
                    *o = compensated_dot(row.iter().copied().zip(x.iter().copied()));
                }
            }
            Storage::Sparse(matrix) => matrix.multiply_compensated(x, out),
        }
    }

    /// Bilinear form `x · self y`.
    #[inline]
    pub fn bilinear(&self, x: &[f64], y: &[f64]) -> f64 {
        let n = self.order;
        match &self.storage {
            Storage::Dense(values) if n == 3 && x.len() == 3 && y.len() == 3 => {
                x[0] * dot(&values[..3], y)
                    + x[1] * dot(&values[3..6], y)
                    + x[2] * dot(&values[6..9], y)
            }
            Storage::Dense(values) => values
                .chunks_exact(n.max(1))
                .zip(x)
                .map(|(row, x)| x * dot(row, y))
                .sum(),
            Storage::Sparse(matrix) => matrix.bilinear(x, y),
        }
    }

    /// Largest `|a_ij - a_ji|` relative to the largest entry.
    pub(crate) fn asymmetry(&self) -> f64 {
        let n = self.order;
        let largest = self.values().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut worst = 0.0f64;
        for i in 0..n {
            match &self.storage {
                Storage::Dense(_) => {
                    for j in 0..i {
                        worst = worst.max((self.get(i, j) - self.get(j, i)).abs());
                    }
                }
                Storage::Sparse(matrix) => {
                    for &j in matrix.pattern().row(i) {
                        let j = j as usize;
                        worst = worst.max((self.get(i, j) - self.get(j, i)).abs());
                    }
                }
            }
        }
        if largest > 0.0 { worst / largest } else { 0.0 }
    }

    /// Position of the first entry that is not finite.
    pub(crate) fn first_non_finite(&self) -> Option<(usize, usize)> {
        let k = self.values().iter().position(|x| !x.is_finite())?;
        match &self.storage {
            Storage::Dense(_) => Some((k / self.order, k % self.order)),
            Storage::Sparse(matrix) => {
                let (start, column) = matrix.pattern().parts();
                let row = start.partition_point(|&s| s as usize <= k) - 1;
                Some((row, column[k] as usize))
            }
        }
    }
}
