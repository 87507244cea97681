//! Symmetric matrices of generalized coordinates and their Cholesky factor.
//!
//! Systems in generalized coordinates are small: storage is dense and row-major and every
//! operation works in place, so that a warm step allocates nothing. Meshes give sparse matrices;
//! the same types hold them, so that there is one scheme for both.

use std::sync::Arc;

use super::compensated::compensated_dot;
use super::sparse_cholesky::SparseCholesky;
use super::sparse_symmetric::{SparsePattern, SparseSymmetric};

/// Symmetric matrix, stored in full (both triangles): dense row-major, or sparse.
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
    pub fn sparse_zeros(pattern: Arc<SparsePattern>) -> Self {
        Self::from_sparse(SparseSymmetric::zeros(pattern))
    }

    /// A sparse matrix.
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
    pub fn multiply_add(&self, factor: f64, x: &[f64], out: &mut [f64]) {
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
    pub fn multiply_compensated(&self, x: &[f64], out: &mut [f64]) {
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
            Storage::Dense(values) => values
                .chunks_exact(n.max(1))
                .zip(x)
                .map(|(row, x)| x * dot(row, y))
                .sum(),
            Storage::Sparse(matrix) => matrix.bilinear(x, y),
        }
    }

    /// Largest `|a_ij - a_ji|` relative to the largest entry.
    pub fn asymmetry(&self) -> f64 {
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
    pub fn first_non_finite(&self) -> Option<(usize, usize)> {
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

/// Cholesky factor `A = L Lᵀ` of a symmetric positive definite matrix, dense or sparse.
#[derive(Clone, Debug, Default)]
pub struct CholeskyFactor {
    order: usize,
    generation: u64,
    lower: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    /// Whether a dense matrix was diagonal: point masses and rigid bodies are.
    diagonal: bool,
    sparse: Option<Arc<SparseCholesky>>,
}

impl CholeskyFactor {
    /// Factors `matrix`; on failure returns the index of the pivot that was not positive. The
    /// analysis of a sparse pattern is kept for the next matrix on the same pattern.
    pub fn factor(&mut self, matrix: &SymmetricMatrix) -> Result<(), usize> {
        self.order = matrix.order;
        self.generation += 1;
        match &matrix.storage {
            Storage::Dense(values) => {
                self.sparse = None;
                self.factor_dense(values)
            }
            Storage::Sparse(matrix) => self.factor_sparse(matrix),
        }
    }

    fn factor_sparse(&mut self, matrix: &SparseSymmetric) -> Result<(), usize> {
        let fitting = self.sparse.take().filter(|f| f.fits(matrix.pattern()));
        let mut factor = match fitting {
            // A factor that a contact problem still refers to is left alone.
            Some(shared) => Arc::try_unwrap(shared).unwrap_or_else(|shared| shared.sibling()),
            None => SparseCholesky::analyse(matrix.pattern()),
        };
        let outcome = factor.factor(matrix);
        self.sparse = Some(Arc::new(factor));
        outcome
    }

    fn factor_dense(&mut self, values: &[f64]) -> Result<(), usize> {
        let n = self.order;
        self.lower.clear();
        self.lower.extend_from_slice(values);
        self.inverse_diagonal.clear();
        self.inverse_diagonal.resize(n, 0.0);
        self.diagonal = (0..n).all(|i| (0..n).all(|j| i == j || values[i * n + j] == 0.0));
        let l = &mut self.lower;
        for j in 0..n {
            let mut pivot = l[j * n + j];
            for k in 0..j {
                pivot -= l[j * n + k] * l[j * n + k];
            }
            // A pivot lost to cancellation is as bad as a negative one.
            let diagonal = values[j * n + j];
            if !(pivot > 1e-15 * diagonal.abs()) {
                return Err(j);
            }
            let root = pivot.sqrt();
            l[j * n + j] = root;
            let inverse = 1.0 / root;
            self.inverse_diagonal[j] = inverse;
            for i in j + 1..n {
                let mut sum = l[i * n + j];
                for k in 0..j {
                    sum -= l[i * n + k] * l[j * n + k];
                }
                l[i * n + j] = sum * inverse;
            }
        }
        Ok(())
    }

    /// Order of the factored matrix (0 before the first factorization).
    pub fn order(&self) -> usize {
        self.order
    }

    /// Number of factorizations made so far: tells whether something cached is still valid.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The sparse factor, if the last matrix was sparse.
    pub fn sparse(&self) -> Option<&Arc<SparseCholesky>> {
        self.sparse.as_ref()
    }

    /// Replaces `b` by `A⁻¹ b`.
    #[inline]
    pub fn solve_in_place(&self, b: &mut [f64]) {
        if let Some(sparse) = &self.sparse {
            sparse.solve_in_place(b);
            return;
        }
        if self.diagonal {
            for (b, inverse) in b.iter_mut().zip(&self.inverse_diagonal) {
                *b = *b * inverse * inverse;
            }
            return;
        }
        self.solve_lower_in_place(b);
        self.solve_upper_in_place(b);
    }

    /// Replaces `b` by `L⁻ᵀ b`.
    ///
    /// # Panics
    /// If the matrix was sparse.
    #[inline]
    pub fn solve_upper_in_place(&self, b: &mut [f64]) {
        assert!(self.sparse.is_none(), "a dense factor");
        let n = self.order;
        for i in (0..n).rev() {
            let mut sum = b[i];
            for k in i + 1..n {
                sum -= self.lower[k * n + i] * b[k];
            }
            b[i] = sum * self.inverse_diagonal[i];
        }
    }

    /// Replaces `b` by `L⁻¹ b`, so that `|L⁻¹b|²  = b · A⁻¹ b`.
    ///
    /// # Panics
    /// If the matrix was sparse; see [`Self::dual_norm`].
    #[inline]
    pub fn solve_lower_in_place(&self, b: &mut [f64]) {
        assert!(self.sparse.is_none(), "a dense factor");
        let n = self.order;
        for i in 0..n {
            let mut sum = b[i];
            for k in 0..i {
                sum -= self.lower[i * n + k] * b[k];
            }
            b[i] = sum * self.inverse_diagonal[i];
        }
    }

    /// `√(b · A⁻¹ b)`; `b` is overwritten.
    pub fn dual_norm(&self, b: &mut [f64]) -> f64 {
        if let Some(sparse) = &self.sparse {
            let copy = b.to_vec();
            sparse.solve_in_place(b);
            dot(&copy, b).max(0.0).sqrt()
        } else {
            self.solve_lower_in_place(b);
            dot(b, b).sqrt()
        }
    }

    /// For each index in `columns` the column of A⁻¹ of a sparse factor, restricted to `rows`.
    ///
    /// # Panics
    /// If the last matrix was not sparse.
    pub fn inverse_columns(&self, columns: &[u32], rows: &[u32]) -> Vec<Box<[f64]>> {
        self.sparse
            .as_ref()
            .expect("a sparse factor")
            .inverse_columns(columns, rows)
    }
}

/// Cholesky factor with diagonal pivoting of a symmetric positive *semi*definite matrix.
///
/// Solves consistent systems: rows that depend on others (redundant joints) get a zero multiplier.
#[derive(Clone, Debug, Default)]
pub struct PivotedCholesky {
    order: usize,
    rank: usize,
    lower: Vec<f64>,
    permutation: Vec<usize>,
    work: Vec<f64>,
}

impl PivotedCholesky {
    /// Factors a row-major matrix; pivots below `1e-12` of the largest diagonal entry count as zero.
    pub fn factor(&mut self, order: usize, values: &[f64]) {
        let n = order;
        self.order = n;
        self.lower.clear();
        self.lower.extend_from_slice(values);
        self.permutation.clear();
        self.permutation.extend(0..n);
        self.work.clear();
        self.work.resize(n, 0.0);
        let l = &mut self.lower;
        let largest = (0..n).map(|i| l[i * n + i]).fold(0.0f64, f64::max);
        self.rank = 0;
        for j in 0..n {
            // Choose the largest remaining diagonal entry.
            let best = (j..n).fold(j, |b, i| if l[i * n + i] > l[b * n + b] { i } else { b });
            if l[best * n + best] <= 1e-12 * largest {
                break;
            }
            if best != j {
                for k in 0..n {
                    l.swap(j * n + k, best * n + k);
                }
                for k in 0..n {
                    l.swap(k * n + j, k * n + best);
                }
                self.permutation.swap(j, best);
            }
            let root = l[j * n + j].sqrt();
            l[j * n + j] = root;
            for i in j + 1..n {
                l[i * n + j] /= root;
            }
            for i in j + 1..n {
                for k in j + 1..=i {
                    let updated = l[i * n + k] - l[i * n + j] * l[k * n + j];
                    l[i * n + k] = updated;
                    l[k * n + i] = updated;
                }
            }
            self.rank += 1;
        }
    }

    /// Number of independent rows.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Replaces `b` by a solution of the consistent system (zero on the dependent rows).
    pub fn solve_in_place(&mut self, b: &mut [f64]) {
        let (n, r) = (self.order, self.rank);
        for i in 0..r {
            let mut sum = b[self.permutation[i]];
            for k in 0..i {
                sum -= self.lower[i * n + k] * self.work[k];
            }
            self.work[i] = sum / self.lower[i * n + i];
        }
        for i in (0..r).rev() {
            let mut sum = self.work[i];
            for k in i + 1..r {
                sum -= self.lower[k * n + i] * self.work[k];
            }
            self.work[i] = sum / self.lower[i * n + i];
        }
        b.fill(0.0);
        for i in 0..r {
            b[self.permutation[i]] = self.work[i];
        }
    }
}

/// Scalar product.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves_a_definite_system() {
        let a = SymmetricMatrix::from_rows(3, vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0]);
        let mut factor = CholeskyFactor::default();
        factor.factor(&a).expect("the matrix is positive definite");
        let x = [0.3, -1.2, 2.5];
        let mut b = [0.0; 3];
        a.multiply(&x, &mut b);
        factor.solve_in_place(&mut b);
        for (computed, exact) in b.iter().zip(&x) {
            assert!((computed - exact).abs() < 1e-14);
        }
    }

    #[test]
    fn cholesky_names_the_bad_pivot() {
        let a = SymmetricMatrix::from_rows(2, vec![1.0, 2.0, 2.0, 1.0]);
        assert_eq!(CholeskyFactor::default().factor(&a), Err(1));
    }

    #[test]
    fn pivoted_cholesky_survives_dependent_rows() {
        // Rows 0 and 2 are equal: rank 2, and the product of the solution is the right-hand side.
        let a = [2.0, 1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0, 2.0];
        let mut factor = PivotedCholesky::default();
        factor.factor(3, &a);
        assert_eq!(factor.rank(), 2);
        let mut b = [5.0, 7.0, 5.0];
        factor.solve_in_place(&mut b);
        let product: Vec<f64> = (0..3).map(|i| dot(&a[3 * i..3 * i + 3], &b)).collect();
        assert!((product[0] - 5.0).abs() < 1e-13 && (product[1] - 7.0).abs() < 1e-13);
    }
}
