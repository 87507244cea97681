//! Sparse LU factorisation of a general matrix, for mass matrices of meshes.

use super::sparse_rows::SparseRows;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Lu;
use faer::sparse::{SparseColMat, Triplet};

/// Factored square sparse matrix.
pub struct SparseFactor {
    factor: Lu<usize, f64>,
}

impl std::fmt::Debug for SparseFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseFactor").finish_non_exhaustive()
    }
}

impl SparseFactor {
    /// Factors the matrix; the error is the first row that is empty, or 0 if the matrix is singular otherwise.
    pub fn new(matrix: &SparseRows) -> Result<Self, usize> {
        let triplets: Vec<_> = (0..matrix.rows())
            .flat_map(|i| matrix.row(i).map(move |(j, a)| Triplet::new(i, j, a)))
            .collect();
        if let Some(row) = (0..matrix.rows()).find(|&i| matrix.row(i).all(|(_, a)| a == 0.0)) {
            return Err(row);
        }
        let columns =
            SparseColMat::try_new_from_triplets(matrix.rows(), matrix.columns(), &triplets)
                .map_err(|_| 0usize)?;
        let factor = columns.sp_lu().map_err(|_| 0usize)?;
        Ok(Self { factor })
    }

    /// x ← A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let right = faer::MatRef::from_column_major_slice(x, x.len(), 1);
        let solution = self.factor.solve(right);
        for (i, x) in x.iter_mut().enumerate() {
            *x = solution[(i, 0)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_tridiagonal_system() {
        let n = 50;
        let mut triplets = Vec::new();
        for i in 0..n {
            triplets.push((i, i, 3.0));
            if i > 0 {
                triplets.push((i, i - 1, -1.0));
                triplets.push((i - 1, i, -0.5));
            }
        }
        let matrix = SparseRows::from_triplets(n, n, &triplets);
        let exact: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut x = vec![0.0; n];
        matrix.multiply_add(&exact, &mut x);
        SparseFactor::new(&matrix).unwrap().solve(&mut x);
        assert!(x.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
