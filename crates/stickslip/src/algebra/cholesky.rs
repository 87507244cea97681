//! Cholesky factor of a symmetric matrix, dense or sparse.

use std::sync::Arc;

use super::sparse_cholesky::SparseCholesky;
use super::sparse_symmetric::SparseSymmetric;
use super::symmetric::SymmetricMatrix;
use super::vectors::dot;

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
        self.order = matrix.order();
        self.generation += 1;
        match matrix.sparse() {
            None => {
                self.sparse = None;
                self.factor_dense(matrix.values())
            }
            Some(matrix) => self.factor_sparse(matrix),
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
}
