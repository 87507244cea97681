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
}
