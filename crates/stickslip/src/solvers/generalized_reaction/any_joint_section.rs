//! Joint sections of sets that are known by their projection only.
//!
//! The program of [`super::joint_section`]. The equality is kept by an augmented Lagrangian in the kinetic norm of the normal part; the inner
//! problem is convex over the product of cones. Where multipliers are large, or none, it is slow to keep the velocities.

use crate::algebra::projected_newton;
use crate::algebra::{PivotedCholesky, dot};
use crate::contact::ContactProblem;

/// Weight of the kept normal velocities; large weights converge in few updates.
const WEIGHT: f64 = 30.0;

/// Writes the impulses; returns the multipliers τ, the updates used and whether it converged.
pub(super) fn solve(
    problem: &ContactProblem,
    normal: &[f64],
    lambda: &[f64],
    kept: &[f64],
    p: &mut [f64],
) -> (Vec<f64>, usize, bool) {
    let m = problem.size();
    let count = kept.len();
    let w = problem.dense();
    let starts: Vec<usize> = problem.blocks().iter().map(|b| b.start).collect();
    let mut factor = PivotedCholesky::default();
    factor.factor(count, normal);
    // G = W_n (W_nn)⁺: response of every row to a normal velocity.
    let mut response = vec![0.0; m * count];
    let mut column = vec![0.0; count];
    for i in 0..m {
        for (a, &j) in starts.iter().enumerate() {
            column[a] = w[i * m + j];
        }
        factor.solve_in_place(&mut column);
        response[i * count..(i + 1) * count].copy_from_slice(&column);
    }
    let mut a = w.to_vec();
    for i in 0..m {
        for j in 0..m {
            let pull: f64 = (0..count)
                .map(|k| response[i * count + k] * w[starts[k] * m + j])
                .sum();
            a[i * m + j] += WEIGHT * pull;
        }
    }
    // Scaling to unit diagonal keeps the cones: one factor per block.
    let mut factors = vec![1.0; m];
    for block in problem.blocks() {
        let size = block.range().map(|i| w[i * m + i]).fold(0.0, f64::max);
        factors[block.range()].fill(size.sqrt());
    }
    let scaled: Vec<f64> = (0..m * m)
        .map(|e| a[e] / (factors[e / m] * factors[e % m]))
        .collect();
    let free = problem.free();
    let scale = free.iter().fold(f64::MIN_POSITIVE, |s, x| s.max(x.abs()));
    for (block, l) in problem.blocks().iter().zip(lambda) {
        p[block.range()].fill(0.0);
        p[block.start] = *l;
    }
    let mut multiplier = vec![0.0; count];
    let mut worst = f64::INFINITY;
    for update in 1..=60 {
        let mut b = vec![0.0; m];
        for i in 0..m {
            let g = &response[i * count..(i + 1) * count];
            let target: f64 = (0..count).map(|k| g[k] * (free[starts[k]] - kept[k])).sum();
            let pull: f64 = (0..count)
                .map(|k| w[i * m + starts[k]] * multiplier[k])
                .sum();
            b[i] = (free[i] + WEIGHT * target + pull) / factors[i];
        }
        let mut x: Vec<f64> = p.iter().zip(&factors).map(|(p, f)| p * f).collect();
        projected_newton::solve(&scaled, &b, &mut x, &mut |point, out| {
            for block in problem.blocks() {
                let range = block.range();
                if block.size == 1 {
                    out[range.start] = point[range.start].max(0.0);
                } else {
                    block
                        .section
                        .project_on_cone(&point[range.clone()], &mut out[range]);
                }
            }
        });
        for i in 0..m {
            p[i] = x[i] / factors[i];
        }
        let mut defect: Vec<f64> = starts
            .iter()
            .zip(kept)
            .map(|(&i, u)| free[i] + dot(&w[i * m..(i + 1) * m], p) - u)
            .collect();
        let size = defect.iter().fold(0.0f64, |s, x| s.max(x.abs())) / scale;
        factor.solve_in_place(&mut defect);
        multiplier
            .iter_mut()
            .zip(&defect)
            .for_each(|(t, d)| *t += WEIGHT * d);
        if size <= 1e-15 || size >= 0.9 * worst && size <= 1e-11 {
            return (multiplier, update, true);
        }
        worst = worst.min(size);
    }
    (multiplier, 60, worst <= 1e-9)
}
