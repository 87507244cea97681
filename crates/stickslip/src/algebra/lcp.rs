//! Small dense linear complementarity problems.
//!
//! # What it computes
//!
//! z ≥ 0 with w = M z + q ≥ 0 and z·w = 0, for M with positive semidefinite symmetric part.
//!
//! # Source
//!
//! Lemke's method with lexicographic pivoting ([CottlePangStone1992], chapter 4); the answer is
//! recomputed from the last basis by one elimination.
//!
//! # Guarantees
//!
//! For such M the method ends, with a solution or with a ray that proves there is none; dependent
//! rows are allowed, since the bases met are never singular.
//!
//! # Behaviour to know
//!
//! With dependent rows z is not unique: [`solve_lcp`] returns a basic solution, [`solve_lcp_short`]
//! one of least norm within 1e-9. M z is the same for both when M is symmetric.
//!
//! # Cost
//!
//! n pivots of n(2n + 2) operations, typically.
//!
//! # Tested by
//!
//! `algebra/lcp.rs`.

use super::small_dense::{matrix_vector, solve_in_place};

/// What became of a linear complementarity problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpOutcome {
    /// A solution was written.
    Solved,
    /// Lemke's method ended on a ray: for positive semidefinite M there is no solution.
    Ray,
    /// Pivots ran out, which rounding alone can cause.
    PivotLimit,
}

/// Solves the problem; z is zero unless the outcome is `Solved`.
pub fn solve_lcp(m: &[f64], q: &[f64], z: &mut [f64]) -> LcpOutcome {
    let outcome = lemke(m, q, z);
    if outcome == LcpOutcome::Solved && lcp_residual(m, q, z) <= 1e-13 * size_of(m, q, z) {
        return outcome;
    }
    // Rounding may show a ray where every w vanishes: proximal steps decide.
    let first = outcome;
    let largest = q.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    for relative in [1e-9, 1e-6, 1e-4] {
        let outcome = proximal(m, q, relative, 60, z);
        if outcome == LcpOutcome::Solved
            && lcp_residual(m, q, z) <= (1e-12 * size_of(m, q, z)).min(1e-6 * largest)
        {
            return LcpOutcome::Solved;
        }
    }
    z.fill(0.0);
    if first == LcpOutcome::Solved {
        LcpOutcome::PivotLimit
    } else {
        first
    }
}

/// Size of the terms of M z + q.
fn size_of(m: &[f64], q: &[f64], z: &[f64]) -> f64 {
    let largest = |x: &[f64]| x.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    largest(q) + largest(m) * largest(z)
}

fn lemke(m: &[f64], q: &[f64], z: &mut [f64]) -> LcpOutcome {
    let n = q.len();
    z.fill(0.0);
    if q.iter().all(|&x| x >= 0.0) {
        return LcpOutcome::Solved;
    }
    // Unit diagonal: z = S z', w' = S w.
    let scale: Vec<f64> = (0..n)
        .map(|i| {
            if m[i * n + i] > 0.0 {
                1.0 / m[i * n + i].sqrt()
            } else {
                1.0
            }
        })
        .collect();
    let scaled_m: Vec<f64> = (0..n * n)
        .map(|k| m[k] * scale[k / n] * scale[k % n])
        .collect();
    let scaled_q: Vec<f64> = q.iter().zip(&scale).map(|(q, s)| q * s).collect();
    let mut tableau = Tableau::new(&scaled_m, &scaled_q);
    let outcome = tableau.run();
    if outcome != LcpOutcome::Solved {
        return outcome;
    }
    // Recompute the basic variables: M_BB z_B = −q_B.
    let basic: Vec<usize> = (0..n)
        .filter(|j| tableau.basis.contains(&(n + j)))
        .collect();
    let k = basic.len();
    let mut matrix: Vec<f64> = (0..k * k)
        .map(|e| scaled_m[basic[e / k] * n + basic[e % k]])
        .collect();
    let mut values: Vec<f64> = basic.iter().map(|&i| -scaled_q[i]).collect();
    let solved = solve_in_place(&mut matrix, &mut values);
    for (row, &variable) in tableau.basis.iter().enumerate() {
        if variable >= n && variable < 2 * n {
            z[variable - n] = tableau.value(row);
        }
    }
    if solved && values.iter().all(|&x| x >= -1e-9 * (1.0 + x.abs())) {
        for (&j, &value) in basic.iter().zip(&values) {
            z[j] = value;
        }
    }
    z.iter_mut()
        .zip(&scale)
        .for_each(|(z, s)| *z = z.max(0.0) * s);
    LcpOutcome::Solved
}

/// Like [`solve_lcp`], for symmetric M with dependent rows: the solution of least norm, within 1e-9.
///
/// Proximal steps z ← LCP(M + ε, q − ε z) from 0: the first is the shortest solution within ε, the next
/// remove the error it leaves in the range of M.
pub fn solve_lcp_short(m: &[f64], q: &[f64], z: &mut [f64]) -> LcpOutcome {
    // The regularised problem always has a solution: ask the given one first.
    let outcome = solve_lcp(m, q, z);
    if outcome == LcpOutcome::Solved {
        proximal(m, q, 1e-9, 4, z)
    } else {
        outcome
    }
}

/// Proximal steps z ← LCP(M + ε, q − ε z) from 0, ε relative to the mean diagonal; keeps the best.
fn proximal(m: &[f64], q: &[f64], relative: f64, steps: usize, z: &mut [f64]) -> LcpOutcome {
    let n = q.len();
    let trace: f64 = (0..n).map(|i| m[i * n + i]).sum();
    let epsilon = relative * if trace > 0.0 { trace / n as f64 } else { 1.0 };
    let mut regular = m.to_vec();
    for i in 0..n {
        regular[i * n + i] += epsilon;
    }
    z.fill(0.0);
    let mut current = vec![0.0; n];
    let mut best = f64::INFINITY;
    for _ in 0..steps {
        let shifted: Vec<f64> = q
            .iter()
            .zip(&current)
            .map(|(q, z)| q - epsilon * z)
            .collect();
        let outcome = lemke(&regular, &shifted, &mut current);
        if outcome != LcpOutcome::Solved {
            return outcome;
        }
        let residual = lcp_residual(m, q, &current);
        if residual < best {
            best = residual;
            z.copy_from_slice(&current);
        }
        if best <= 1e-14 * size_of(m, q, z) {
            break;
        }
    }
    LcpOutcome::Solved
}

/// Largest violation of z ≥ 0, w ≥ 0, min(z, w) = 0, w = M z + q.
pub fn lcp_residual(m: &[f64], q: &[f64], z: &[f64]) -> f64 {
    let mut w = vec![0.0; q.len()];
    matrix_vector(m, z, &mut w);
    w.iter()
        .zip(q)
        .zip(z)
        .map(|((w, q), z)| (w + q).min(*z).abs())
        .fold(0.0, f64::max)
}

/// Tableau of w − M z − e z₀ = q; columns w, z, z₀, right-hand side.
struct Tableau {
    n: usize,
    columns: usize,
    cells: Vec<f64>,
    /// Variable in each row: w_i is i, z_i is n + i, z₀ is 2n.
    basis: Vec<usize>,
}

impl Tableau {
    fn new(m: &[f64], q: &[f64]) -> Self {
        let n = q.len();
        let columns = 2 * n + 2;
        let mut cells = vec![0.0; n * columns];
        for i in 0..n {
            let row = &mut cells[i * columns..(i + 1) * columns];
            row[i] = 1.0;
            for j in 0..n {
                row[n + j] = -m[i * n + j];
            }
            row[2 * n] = -1.0;
            row[2 * n + 1] = q[i];
        }
        Tableau {
            n,
            columns,
            cells,
            basis: (0..n).collect(),
        }
    }

    fn value(&self, row: usize) -> f64 {
        self.cells[row * self.columns + 2 * self.n + 1]
    }

    fn run(&mut self) -> LcpOutcome {
        let n = self.n;
        // z₀ enters against the lexicographically most negative row.
        let first = (0..n)
            .reduce(|best, row| {
                if self.before(row, 1.0, best, 1.0) {
                    row
                } else {
                    best
                }
            })
            .unwrap_or(0);
        let mut leaving = self.pivot(first, 2 * n);
        for _ in 0..50 * (n + 4) {
            if leaving == 2 * n {
                return LcpOutcome::Solved;
            }
            // The complement of the variable that left enters.
            let entering = if leaving < n {
                leaving + n
            } else {
                leaving - n
            };
            let column: Vec<f64> = (0..n)
                .map(|i| self.cells[i * self.columns + entering])
                .collect();
            let size = column.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            let mut best: Option<usize> = None;
            for row in 0..n {
                if column[row] > 1e-12 * size.max(1e-3) {
                    let better = best.is_none_or(|b| self.before(row, column[row], b, column[b]));
                    if better {
                        best = Some(row);
                    }
                }
            }
            let Some(row) = best else {
                return LcpOutcome::Ray;
            };
            leaving = self.pivot(row, entering);
        }
        LcpOutcome::PivotLimit
    }

    /// Whether row a over its pivot comes before row b over its own, lexicographically. z₀ leaves
    /// first among equals: the problem is then solved.
    fn before(&self, a: usize, pivot_a: f64, b: usize, pivot_b: f64) -> bool {
        let n = self.n;
        let (x, y) = (self.value(a) / pivot_a, self.value(b) / pivot_b);
        let noise = 1e-13 * (x.abs() + y.abs());
        if (x - y).abs() > noise {
            return x < y;
        }
        if self.basis[a] == 2 * n || self.basis[b] == 2 * n {
            return self.basis[a] == 2 * n;
        }
        for j in 0..n {
            let (x, y) = (
                self.cells[a * self.columns + j] / pivot_a,
                self.cells[b * self.columns + j] / pivot_b,
            );
            if (x - y).abs() > 1e-13 * (x.abs() + y.abs()) {
                return x < y;
            }
        }
        a < b
    }

    /// Brings `entering` into the basis at `row`; returns the variable that left.
    fn pivot(&mut self, row: usize, entering: usize) -> usize {
        let columns = self.columns;
        let inverse = 1.0 / self.cells[row * columns + entering];
        self.cells[row * columns..(row + 1) * columns]
            .iter_mut()
            .for_each(|x| *x *= inverse);
        let pivot_row = self.cells[row * columns..(row + 1) * columns].to_vec();
        for i in (0..self.n).filter(|&i| i != row) {
            let factor = self.cells[i * columns + entering];
            if factor != 0.0 {
                for (x, p) in self.cells[i * columns..(i + 1) * columns]
                    .iter_mut()
                    .zip(&pivot_row)
                {
                    *x -= factor * p;
                }
                self.cells[i * columns + entering] = 0.0;
            }
        }
        std::mem::replace(&mut self.basis[row], entering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W = D Dᵀ and q = D v of random rows, `n` rows in R^k.
    fn problem(seed: u64, n: usize, k: usize) -> (Vec<f64>, Vec<f64>) {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
        };
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..k).map(|_| next()).collect()).collect();
        let v: Vec<f64> = (0..k).map(|_| next()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let m = (0..n * n)
            .map(|e| dot(&rows[e / n], &rows[e % n]))
            .collect();
        (m, rows.iter().map(|r| dot(r, &v)).collect())
    }

    #[test]
    fn random_problems_of_full_and_deficient_rank_are_solved() {
        let mut worst: (f64, u64) = (0.0, 0);
        for seed in 0..3000 {
            for (n, k) in [(2, 3), (4, 6), (5, 3), (8, 4), (12, 6)] {
                let (m, q) = problem(seed, n, k);
                let mut z = vec![0.0; n];
                assert_eq!(
                    solve_lcp(&m, &q, &mut z),
                    LcpOutcome::Solved,
                    "seed {seed}, {n} rows in R^{k}"
                );
                let size = z.iter().fold(1.0_f64, |s, x| s.max(*x));
                let residual = lcp_residual(&m, &q, &z) / size;
                if residual > worst.0 {
                    worst = (residual, seed);
                }
            }
        }
        println!("worst residual and seed {worst:?}");
        assert!(worst.0 < 1e-11, "{worst:?}");
    }

    #[test]
    fn infeasible_problem_ends_on_a_ray() {
        // z ≥ 0, −1 ≥ 0 whatever z.
        assert_eq!(solve_lcp(&[0.0], &[-1.0], &mut [0.0]), LcpOutcome::Ray);
        let m = [1.0, -1.0, -1.0, 1.0];
        assert_eq!(solve_lcp(&m, &[-1.0, -1.0], &mut [0.0; 2]), LcpOutcome::Ray);
    }

    #[test]
    fn short_solution_of_equal_rows_shares_the_load() {
        let mut z = [0.0; 2];
        assert_eq!(
            solve_lcp_short(&[1.0; 4], &[-1.0, -1.0], &mut z),
            LcpOutcome::Solved
        );
        assert!(
            (z[0] - 0.5).abs() < 1e-8 && (z[1] - 0.5).abs() < 1e-8,
            "{z:?}"
        );
        assert!((z[0] + z[1] - 1.0).abs() < 1e-14, "{z:?}");
    }
}
