//! Among the impulses of one motion, those of least norm; and how many others there are.
//!
//! # What it computes
//!
//! Impulses r and r' give the same motion if W (r − r') = 0. At a solution the null space of W
//! restricted to what the law leaves free is explored: a sticking contact may change its impulse inside the cone, a
//! sliding one only along its own impulse, an open one not at all. The point of least norm in the scaled
//! variables over that set is found by an accelerated projected gradient method on ½ γ|x|² + ½ |B(x − x₀)|²
//! with B the rows that must vanish, in an augmented Lagrangian iteration.
//!
//! # Source
//!
//! Non-uniqueness of impulses in hyperstatic problems: [AcaryCollinsCraft2023]; the method is standard.
//!
//! # Guarantees
//!
//! The answer is only taken if its residual is within the tolerance of the solution it came from; otherwise the
//! impulses are left as they were.
//!
//! # Behaviour to know
//!
//! Least norm is meant in scaled variables, |x|² = Σ trace(W_ii)/3 |r_i|², which has the same unit for every contact.
//!
//! # Cost
//!
//! A few hundred products with W.
//!
//! # Tested by
//!
//! Tests below.

use super::scaled_problem::{ScaledProblem, project_cone};
use super::sweep::{Instructions, multiply, product};
use crate::algebra::multifrontal::{PatternBlock, SymbolicMultifrontal};
use crate::algebra::spanning_rows::spanning_rows;
use crate::contact::coulomb_problem::CoulombProblem;
use crate::contact::coulomb_residual::CoulombResidual;
use crate::contact::coulomb_solution::CoulombSolution;

/// Rank of W as the solvers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankReport {
    /// Rows of W.
    pub rows: usize,
    /// Rows that depend on the others to 1e-11 of their diagonal.
    pub deficiency: usize,
}

/// Counts the rows of W that depend on the others.
pub fn rank_report(problem: &CoulombProblem) -> RankReport {
    let matrix = problem.matrix();
    let d = matrix.block_size();
    let n = matrix.blocks();
    let (mut blocks, mut values) = (Vec::new(), Vec::new());
    for i in 0..n {
        for (j, block) in matrix.row(i) {
            blocks.push(PatternBlock {
                row: i,
                column: j,
                value: values.len(),
            });
            for r in 0..d {
                values.extend((0..d).map(|c| block[d * c + r]));
            }
        }
    }
    let diagonal: Vec<f64> = (0..d * n)
        .map(|r| matrix.diagonal(r / d)[(d + 1) * (r % d)])
        .collect();
    let symbolic = SymbolicMultifrontal::new(&vec![d; n], &blocks);
    let rank = spanning_rows(&symbolic, &values, &diagonal, d * n).map_or(d * n, |rows| rows.len());
    RankReport {
        rows: d * n,
        deficiency: d * n - rank,
    }
}

/// Gives a solved problem the impulses of least norm with the same motion, judged anew; returns the ratio of
/// norms as [`minimum_norm`] does. What is not solved, or would leave the tolerance, stays as it is.
pub fn least_impulses(
    problem: &CoulombProblem,
    solution: &mut CoulombSolution,
    tolerance: f64,
) -> f64 {
    if !solution.status.is_solved() {
        return 1.0;
    }
    let mut impulses = solution.impulses.clone();
    let ratio = minimum_norm(problem, &mut impulses);
    let (residual, velocities) = CoulombResidual::with_velocity(problem, &impulses);
    if !residual.accepts(tolerance) {
        return 1.0;
    }
    (solution.impulses, solution.residual, solution.velocities) = (impulses, residual, velocities);
    ratio
}

/// Replaces the impulses of a solution by those of least norm with the same motion; returns the ratio of the
/// new norm to the old one (1 if nothing better was found).
pub fn minimum_norm(problem: &CoulombProblem, impulses: &mut Vec<f64>) -> f64 {
    let scaled = ScaledProblem::new(problem, false);
    let how = Instructions::detect();
    let start = scaled.variables(impulses);
    let before = CoulombResidual::of(problem, impulses);
    let m = start.len();
    let mut u0 = vec![0.0; m];
    product(&scaled, how, &start, &mut u0);
    // Largest eigenvalue of W by the power method.
    let mut v = vec![1.0; m];
    let mut w = vec![0.0; m];
    let mut largest = 1.0;
    for _ in 0..30 {
        multiply(&scaled, how, &v, &mut w);
        largest = norm(&w) / norm(&v).max(f64::MIN_POSITIVE);
        let size = norm(&w);
        if size == 0.0 {
            return 1.0;
        }
        for (v, w) in v.iter_mut().zip(&w) {
            *v = w / size;
        }
    }
    // Dual ascent: x(y) = P(−W y) minimises ½|x|² + yᵀW(x − x₀) over the free set; accelerated in y.
    let free = FreeSet::new(&scaled, &start, &u0);
    let step = 1.0 / (1.05 * largest).powi(2);
    let (mut y, mut old) = (vec![0.0; m], vec![0.0; m]);
    let mut theta = 1.0f64;
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut z = vec![0.0; m];
    let mut z_old = vec![0.0; m];
    for iteration in 0..4000 {
        multiply(&scaled, how, &y, &mut w);
        let x = free.project(&scaled, &w);
        let difference: Vec<f64> = x.iter().zip(&start).map(|(a, b)| a - b).collect();
        multiply(&scaled, how, &difference, &mut w);
        if iteration % 50 == 49 {
            let candidate = scaled.impulses(&x);
            let residual = CoulombResidual::of(problem, &candidate);
            let size = norm(&x);
            let good = residual.error <= (2.0 * before.error).max(before.floor).max(1e-14);
            if good && best.as_ref().is_none_or(|b| size < b.0) {
                best = Some((size, candidate));
                break;
            }
        }
        for k in 0..m {
            z[k] = y[k] + step * w[k];
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
        let against: f64 = (0..m).map(|k| (y[k] - z[k]) * (z[k] - z_old[k])).sum();
        let beta = if against > 0.0 {
            0.0
        } else {
            (theta - 1.0) / next
        };
        theta = if against > 0.0 { 1.0 } else { next };
        old.copy_from_slice(&z_old);
        for k in 0..m {
            y[k] = z[k] + beta * (z[k] - old[k]);
        }
        z_old.copy_from_slice(&z);
    }
    match best {
        Some((size, candidate)) if size <= norm(&start) => {
            *impulses = candidate;
            size / norm(&start).max(f64::MIN_POSITIVE)
        }
        _ => 1.0,
    }
}

/// What the law leaves free at a solution, contact by contact.
struct FreeSet {
    kind: Vec<Freedom>,
}

enum Freedom {
    Nothing,
    Cone,
    /// Non-negative multiples of this unit vector.
    Ray([f64; 3]),
}

impl FreeSet {
    fn new(problem: &ScaledProblem, x: &[f64], u: &[f64]) -> Self {
        let size = norm(u).max(norm(&problem.q)) * 1e-7;
        let kind = (0..problem.contacts())
            .map(|i| {
                let (x, u) = (&x[3 * i..3 * i + 3], &u[3 * i..3 * i + 3]);
                if u[0] > size {
                    Freedom::Nothing
                } else if u[1].hypot(u[2]) <= size {
                    Freedom::Cone
                } else {
                    let mu = problem.mu[i];
                    let slip = u[1].hypot(u[2]);
                    let d = [1.0, -mu * u[1] / slip, -mu * u[2] / slip];
                    let length = (1.0 + mu * mu).sqrt();
                    // At the tip the direction follows from the velocity alone.
                    let _ = x;
                    Freedom::Ray(d.map(|d| d / length))
                }
            })
            .collect();
        Self { kind }
    }

    /// Projection of −w.
    fn project(&self, problem: &ScaledProblem, w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; w.len()];
        for (i, kind) in self.kind.iter().enumerate() {
            let z = [-w[3 * i], -w[3 * i + 1], -w[3 * i + 2]];
            let p = match kind {
                Freedom::Nothing => [0.0; 3],
                Freedom::Cone => project_cone(&z, problem.mu[i]),
                Freedom::Ray(d) => {
                    let along = (z[0] * d[0] + z[1] * d[1] + z[2] * d[2]).max(0.0);
                    d.map(|d| d * along)
                }
            };
            x[3 * i..3 * i + 3].copy_from_slice(&p);
        }
        x
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three contacts under one block that can only move vertically: r_N1 + r_N2 + r_N3 = 3 is
    /// all the motion fixes, so least norm is (1, 1, 1).
    fn block() -> CoulombProblem {
        let mut w = vec![0.0; 81];
        for i in 0..3 {
            for j in 0..3 {
                w[9 * (3 * i) + 3 * j] = 1.0;
            }
        }
        let mut q = vec![0.0; 9];
        for i in 0..3 {
            q[3 * i] = -3.0;
        }
        CoulombProblem::from_dense(3, &w, q, vec![0.3; 3]).unwrap()
    }

    #[test]
    fn a_solved_problem_stays_solved_with_least_impulses() {
        // Two contacts at one point carry one load: W of rank one in the normal direction.
        let mut w = [0.0; 36];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..3 {
                    w[6 * (3 * i + k) + 3 * j + k] = 1.0;
                }
            }
        }
        let q = vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        let problem = CoulombProblem::from_dense(3, &w, q, vec![0.5; 2]).unwrap();
        assert_eq!(rank_report(&problem).deficiency, 3);
        let limits = crate::solvers::progress::SolverLimits::default();
        let method = crate::solvers::cascade::CoulombMethod::Cascade;
        let mut solution = crate::solvers::cascade::solve(
            &problem,
            method,
            &limits,
            Some(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        );
        let ratio = least_impulses(&problem, &mut solution, 1e-8);
        // The load of one is shared evenly: norm 1/√2 of that of one contact.
        assert!((ratio - 0.5f64.sqrt()).abs() < 1e-6, "{ratio}");
        assert!((solution.impulses[0] - 0.5).abs() < 1e-6);
        assert!((solution.impulses[3] - 0.5).abs() < 1e-6);
        assert!(solution.residual.accepts(1e-8));
    }

    #[test]
    fn three_legs_share_the_weight() {
        let problem = block();
        let mut r = vec![0.0; 9];
        r[0] = 3.0;
        let ratio = minimum_norm(&problem, &mut r);
        assert!((ratio - 1.0 / 3f64.sqrt()).abs() < 1e-6, "{ratio} {r:?}");
        assert!(CoulombResidual::of(&problem, &r).error < 1e-12);
        for i in 0..3 {
            assert!((r[3 * i] - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_rank_deficiency_is_counted() {
        let report = rank_report(&block());
        assert_eq!(
            report,
            RankReport {
                rows: 9,
                deficiency: 8
            }
        );
    }
}
