//! Feasibility of small systems of linear inequalities.
//!
//! # What it computes
//!
//! Some x ≥ 0 with a_i·x = b_i or a_i·x ≥ b_i, or the answer that there is none.
//!
//! # Source
//!
//! First phase of the simplex method on a dense tableau ([Dantzig1963]); Bland's rule after a while, so
//! that it cannot cycle.
//!
//! # Guarantees
//!
//! Ends. The point is basic; infeasibility is decided up to `tolerance` times the sum of artificial variables.
//!
//! # Behaviour to know
//!
//! Rows should have comparable size; the caller scales them.
//!
//! # Cost
//!
//! About as many pivots as rows, each rows × columns operations.
//!
//! # Tested by
//!
//! `algebra/feasibility.rs`.

/// Rows of a system in `n` nonnegative variables.
#[derive(Clone, Debug, Default)]
pub struct LinearSystem {
    n: usize,
    rows: Vec<f64>,
    rhs: Vec<f64>,
    equality: Vec<bool>,
}

impl LinearSystem {
    /// No rows yet.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            ..Self::default()
        }
    }

    /// Adds `row·x = rhs`.
    pub fn equal(&mut self, row: impl Iterator<Item = f64>, rhs: f64) {
        self.push(row, rhs, true);
    }

    /// Adds `row·x ≥ rhs`.
    pub fn at_least(&mut self, row: impl Iterator<Item = f64>, rhs: f64) {
        self.push(row, rhs, false);
    }

    fn push(&mut self, row: impl Iterator<Item = f64>, rhs: f64, equality: bool) {
        self.rows.extend(row);
        self.rhs.push(rhs);
        self.equality.push(equality);
        debug_assert_eq!(self.rows.len(), self.n * self.rhs.len());
    }

    /// A point that satisfies all rows, or none.
    pub fn feasible_point(&self, tolerance: f64) -> Option<Vec<f64>> {
        Tableau::new(self).run(self.n, tolerance)
    }
}

const ARTIFICIAL: usize = usize::MAX;

struct Tableau {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    basis: Vec<usize>,
}

impl Tableau {
    fn new(system: &LinearSystem) -> Self {
        let rows = system.rhs.len();
        let slacks = system.equality.iter().filter(|e| !**e).count();
        let columns = system.n + slacks + 1;
        let mut values = vec![0.0; rows * columns];
        let mut basis = vec![ARTIFICIAL; rows];
        let mut slack = system.n;
        for i in 0..rows {
            let line = &mut values[i * columns..(i + 1) * columns];
            line[..system.n].copy_from_slice(&system.rows[i * system.n..(i + 1) * system.n]);
            line[columns - 1] = system.rhs[i];
            if !system.equality[i] {
                line[slack] = -1.0;
                if system.rhs[i] <= 0.0 {
                    // The slack itself is a basic variable.
                    line.iter_mut().for_each(|x| *x = -*x);
                    basis[i] = slack;
                }
                slack += 1;
            }
            if basis[i] == ARTIFICIAL && line[columns - 1] < 0.0 {
                line.iter_mut().for_each(|x| *x = -*x);
            }
        }
        Self {
            rows,
            columns,
            values,
            basis,
        }
    }

    fn artificial_sum(&self, column: usize) -> f64 {
        (0..self.rows)
            .filter(|&i| self.basis[i] == ARTIFICIAL)
            .map(|i| self.values[i * self.columns + column])
            .sum()
    }

    fn run(mut self, n: usize, tolerance: f64) -> Option<Vec<f64>> {
        let last = self.columns - 1;
        for pivot in 0..40 * (self.rows + self.columns) {
            let infeasibility = self.artificial_sum(last);
            if infeasibility <= tolerance {
                let mut x = vec![0.0; n];
                for (i, &variable) in self.basis.iter().enumerate() {
                    if variable < n {
                        x[variable] = self.values[i * self.columns + last].max(0.0);
                    }
                }
                return Some(x);
            }
            // Entering column: steepest, or the first one once it might cycle.
            let bland = pivot > 4 * (self.rows + self.columns);
            let mut entering = None;
            let mut best = 1e-11;
            for j in 0..last {
                let gain = self.artificial_sum(j);
                if gain > best {
                    entering = Some(j);
                    if bland {
                        break;
                    }
                    best = gain;
                }
            }
            let j = entering?;
            let mut leaving: Option<(usize, f64)> = None;
            for i in 0..self.rows {
                let slope = self.values[i * self.columns + j];
                if slope > 1e-10 {
                    let ratio = self.values[i * self.columns + last].max(0.0) / slope;
                    let better = match leaving {
                        None => true,
                        Some((k, r)) => {
                            ratio < r - 1e-14
                                || ratio <= r
                                    && (self.basis[i] == ARTIFICIAL && self.basis[k] != ARTIFICIAL
                                        || bland && self.basis[i] < self.basis[k])
                        }
                    };
                    if better {
                        leaving = Some((i, ratio));
                    }
                }
            }
            let (row, _) = leaving?;
            self.pivot(row, j);
        }
        None
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let c = self.columns;
        let inverse = 1.0 / self.values[row * c + column];
        let line: Vec<f64> = self.values[row * c..(row + 1) * c]
            .iter()
            .map(|x| x * inverse)
            .collect();
        self.values[row * c..(row + 1) * c].copy_from_slice(&line);
        for i in (0..self.rows).filter(|&i| i != row) {
            let factor = self.values[i * c + column];
            if factor != 0.0 {
                for (x, l) in self.values[i * c..(i + 1) * c].iter_mut().zip(&line) {
                    *x -= factor * l;
                }
            }
        }
        self.basis[row] = column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_point_or_says_there_is_none() {
        let mut system = LinearSystem::new(2);
        system.equal([1.0, 1.0].into_iter(), 2.0);
        system.at_least([1.0, -1.0].into_iter(), 0.5);
        let x = system.feasible_point(1e-10).expect("feasible");
        assert!((x[0] + x[1] - 2.0).abs() < 1e-12 && x[0] - x[1] >= 0.5 - 1e-12);
        system.at_least([0.0, 1.0].into_iter(), 1.5);
        assert!(system.feasible_point(1e-10).is_none());
        // Unbounded and degenerate rows.
        let mut cone = LinearSystem::new(1);
        cone.at_least([1.0].into_iter(), 3.0);
        cone.equal([0.0].into_iter(), 0.0);
        assert_eq!(cone.feasible_point(1e-10), Some(vec![3.0]));
    }
}
