//! Cholesky factor of a semidefinite matrix.

/// Cholesky factor with diagonal pivoting of a symmetric positive *semi*definite matrix.
///
/// Solves consistent systems: rows that depend on others (redundant joints) get a zero multiplier.
#[derive(Clone, Debug, Default)]
pub struct PivotedCholesky {
    order: usize,
    rank: usize,
    lower: Vec<f64>,
    permutation: Vec<usize>,
    /// What pivots are measured by: the diagonal of their own row.
    sizes: Vec<f64>,
    work: Vec<f64>,
}

/// Pivots below this part of the diagonal of their row are those of rows that depend on others.
const DEPENDENT: f64 = 1e-12;

impl PivotedCholesky {
    /// Factors a row-major matrix. A pivot below `1e-12` of the diagonal of its own row counts as zero, so that the units in
    /// which rows are written decide nothing; so does a row that is below the rounding of the largest.
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
        let rounding = f64::EPSILON * f64::EPSILON * largest;
        self.sizes.clear();
        self.sizes
            .extend((0..n).map(|i| l[i * n + i].max(rounding)));
        let sizes = &mut self.sizes;
        self.rank = 0;
        for j in 0..n {
            // Choose the row that is left with the largest part of itself.
            let left = |i: usize| l[i * n + i] / sizes[i];
            let best = (j..n).fold(j, |b, i| if left(i) > left(b) { i } else { b });
            if !(left(best) > DEPENDENT) || l[best * n + best] <= rounding {
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
                sizes.swap(j, best);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::dot;

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

    #[test]
    fn units_of_rows_do_not_decide_about_their_rank() {
        // The matrix of above with a fourth, independent row, its rows in units from 1e-9 to 1e9.
        let a = [
            [2.0, 1.0, 2.0, 0.5],
            [1.0, 3.0, 1.0, 0.0],
            [2.0, 1.0, 2.0, 0.5],
            [0.5, 0.0, 0.5, 1.0],
        ];
        let b = [5.0, 7.0, 5.0, -2.0];
        for units in [[1.0; 4], [1e-9, 1.0, 1e4, 1e9], [1e6, 1e-6, 1e-3, 1e-9]] {
            let scaled: Vec<f64> = (0..16)
                .map(|e| units[e / 4] * a[e / 4][e % 4] * units[e % 4])
                .collect();
            let mut factor = PivotedCholesky::default();
            factor.factor(4, &scaled);
            assert_eq!(factor.rank(), 3, "{units:?}");
            let mut x: Vec<f64> = (0..4).map(|i| units[i] * b[i]).collect();
            factor.solve_in_place(&mut x);
            for i in 0..4 {
                let product: f64 = (0..4).map(|j| a[i][j] * units[j] * x[j]).sum();
                assert!(
                    (product - b[i]).abs() < 1e-12,
                    "{units:?}, row {i}: {product}"
                );
            }
        }
        // Rows of rounding alone are none.
        let mut factor = PivotedCholesky::default();
        factor.factor(2, &[1.0, 0.0, 0.0, 1e-33]);
        assert_eq!(factor.rank(), 1);
    }
}
