//! Dense symmetric matrices of generalized coordinates and their Cholesky factor.
//!
//! Systems in generalized coordinates are small, so storage is dense and row-major and every
//! operation works in place: a warm step allocates nothing.

/// Dense symmetric matrix, stored in full (both triangles), row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymmetricMatrix {
    order: usize,
    values: Vec<f64>,
}

impl SymmetricMatrix {
    /// The zero matrix of the given order.
    pub fn zeros(order: usize) -> Self {
        Self {
            order,
            values: vec![0.0; order * order],
        }
    }

    /// Diagonal matrix with the given entries.
    pub fn diagonal(entries: &[f64]) -> Self {
        let mut matrix = Self::zeros(entries.len());
        for (i, &entry) in entries.iter().enumerate() {
            matrix.set(i, i, entry);
        }
        matrix
    }

    /// Matrix with the given row-major values.
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
        Self { order, values }
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// All entries, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, row by row, for writing.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Entry in row `i` and column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.order + j]
    }

    /// Writes one entry (the caller keeps symmetry).
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.values[i * self.order + j] = value;
    }

    /// Sets every entry to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Copies another matrix of the same order, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.values.copy_from_slice(&other.values);
    }

    /// Adds `factor * other`.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += factor * b;
        }
    }

    /// `out = self x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = dot(&self.values[i * self.order..(i + 1) * self.order], x);
        }
    }

    /// `out += factor * self x`.
    pub fn multiply_add(&self, factor: f64, x: &[f64], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o += factor * dot(&self.values[i * self.order..(i + 1) * self.order], x);
        }
    }

    /// Bilinear form `x · self y`.
    pub fn bilinear(&self, x: &[f64], y: &[f64]) -> f64 {
        let n = self.order;
        (0..n)
            .map(|i| x[i] * dot(&self.values[i * n..(i + 1) * n], y))
            .sum()
    }

    /// Largest `|a_ij - a_ji|` relative to the largest entry.
    pub fn asymmetry(&self) -> f64 {
        let n = self.order;
        let largest = self.values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut worst = 0.0f64;
        for i in 0..n {
            for j in 0..i {
                worst = worst.max((self.get(i, j) - self.get(j, i)).abs());
            }
        }
        if largest > 0.0 { worst / largest } else { 0.0 }
    }

    /// Position of the first entry that is not finite.
    pub fn first_non_finite(&self) -> Option<(usize, usize)> {
        self.values
            .iter()
            .position(|x| !x.is_finite())
            .map(|k| (k / self.order, k % self.order))
    }
}

/// Cholesky factor `A = L Lᵀ` of a symmetric positive definite matrix.
#[derive(Clone, Debug, Default)]
pub struct CholeskyFactor {
    order: usize,
    lower: Vec<f64>,
    inverse_diagonal: Vec<f64>,
}

impl CholeskyFactor {
    /// Factors `matrix`; on failure returns the index of the pivot that was not positive.
    pub fn factor(&mut self, matrix: &SymmetricMatrix) -> Result<(), usize> {
        let n = matrix.order;
        self.order = n;
        self.lower.clear();
        self.lower.extend_from_slice(&matrix.values);
        self.inverse_diagonal.clear();
        self.inverse_diagonal.resize(n, 0.0);
        let l = &mut self.lower;
        for j in 0..n {
            let mut pivot = l[j * n + j];
            for k in 0..j {
                pivot -= l[j * n + k] * l[j * n + k];
            }
            // A pivot lost to cancellation is as bad as a negative one.
            let diagonal = matrix.values[j * n + j];
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

    /// Replaces `b` by `A⁻¹ b`.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        self.solve_lower_in_place(b);
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
    pub fn solve_lower_in_place(&self, b: &mut [f64]) {
        let n = self.order;
        for i in 0..n {
            let mut sum = b[i];
            for k in 0..i {
                sum -= self.lower[i * n + k] * b[k];
            }
            b[i] = sum * self.inverse_diagonal[i];
        }
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
