//! How far a solution is from the generalized law, from problem and solution alone.
//!
//! Friction is judged on the real cones: with λ the budget and y = R w the velocity the law reads, s
//! minimises y·s over λ C* exactly when `−((0, y) + τ (1, c)) ∈ N_K(λ − c·s, s)`, τ = −y·s/λ, so the natural map
//! of the cone K measures it without building C*; sets given directly (c = 0) are projected on.

use crate::algebra::{PivotedCholesky, dot, keep_image_part};
use crate::laws::{ActiveSpace, GeneralizedRule, GeneralizedSet, Sections, SetUnit};

use super::residual::{distance, project_cone, rho};
use super::{BlockResidual, ContactBlock, ContactProblem, ContactSolution, NormalStage};

/// A response to friction off the normals below this part of the whole is rounding.
const IMMOVABLE: f64 = 1e-12;

/// Measures per block, all without dimension.
pub(super) fn measure(
    problem: &ContactProblem,
    rule: &GeneralizedRule,
    solution: &ContactSolution,
    (velocity, noise): (&[f64], f64),
    scale: f64,
    out: &mut Vec<BlockResidual>,
) {
    let blocks = problem.blocks();
    let count = blocks.len();
    let outcome = &solution.generalized;
    out.clear();
    out.resize(count, BlockResidual::default());
    if scale == 0.0 {
        return;
    }
    if outcome.budget.len() != count || outcome.in_active_space.len() != count {
        // Not a solution of this law at all.
        out.iter_mut().for_each(|r| r.natural_map = f64::INFINITY);
        return;
    }
    let w = |i: usize, j: usize| problem.w(i, j);

    // Normal velocity after the normal stage.
    let normal_row: Vec<usize> = blocks.iter().map(|b| b.start).collect();
    let zeroed = |u: f64| if u.abs() <= noise { 0.0 } else { u };
    let after_normal: Vec<f64> = normal_row
        .iter()
        .map(|&i| {
            problem.free()[i]
                + normal_row
                    .iter()
                    .zip(&outcome.budget)
                    .map(|(&j, l)| w(i, j) * l)
                    .sum::<f64>()
        })
        .collect();
    for (a, residual) in out.iter_mut().enumerate() {
        let i = normal_row[a];
        // Impulses are measured by the scale, velocities by ρ times theirs.
        let rho = rho(problem, &blocks[a]);
        let lambda = outcome.budget[a] / scale;
        let after = rho * zeroed(after_normal[a]) / scale;
        residual.signorini = (-lambda).max(0.0) + (-after).max(0.0);
        let bias = match problem.normal_stage() {
            NormalStage::Inelastic => Some(0.0),
            NormalStage::Biased(bias) => Some(bias[a]),
            NormalStage::Moreau { .. } | NormalStage::Poisson { .. } => None,
        };
        if let Some(bias) = bias {
            // Rounding is left out of their sum: a rebound as slow as that has cancelled in it.
            let target = rho * zeroed(after_normal[a] + bias) / scale;
            residual.signorini += lambda.min(target).abs();
        }
        // Kept normal velocity, or a guard with its complementarity.
        let kept = rho * velocity[i] / scale - after;
        let all = rule.active_space == ActiveSpace::All || rule.sections == Sections::Joint;
        residual.signorini += if outcome.in_active_space[a] || all {
            kept.abs()
        } else {
            rho * (-velocity[i]).max(0.0) / scale
        };
    }
    // One constraint: both kinds of sections are the same law.
    match rule.sections {
        _ if count == 1 => per_constraint(problem, solution, velocity, scale, out),
        Sections::PerConstraint => per_constraint(problem, solution, velocity, scale, out),
        Sections::Joint => joint(problem, solution, velocity, scale, out),
    }
}

fn per_constraint(
    problem: &ContactProblem,
    solution: &ContactSolution,
    velocity: &[f64],
    scale: f64,
    out: &mut [BlockResidual],
) {
    let w = |i: usize, j: usize| problem.w(i, j);
    let outcome = &solution.generalized;
    let space: Vec<usize> = problem
        .blocks()
        .iter()
        .zip(&outcome.in_active_space)
        .filter(|(_, inside)| **inside)
        .map(|(block, _)| block.start)
        .collect();
    let k = space.len();
    let gram: Vec<f64> = (0..k * k).map(|e| w(space[e / k], space[e % k])).collect();
    let mut factor = PivotedCholesky::default();
    factor.factor(k, &gram);
    let mut normal: Vec<f64> = space.iter().map(|&i| velocity[i]).collect();
    factor.solve_in_place(&mut normal);

    for (a, block) in problem.blocks().iter().enumerate() {
        let lambda = outcome.budget[a].max(0.0);
        let s = &solution.impulse[block.start + 1..block.start + block.size];
        if s.is_empty() {
            continue;
        }
        let mut y = velocity_off_normals(problem, block, velocity, (&space, &normal));
        let moved = response_off_normals(problem, block, &space, &mut factor);
        let rows = block.start + 1..block.start + block.size;
        let rounding: Vec<f64> = rows.map(|i| IMMOVABLE * w(i, i)).collect();
        // Obstacles that move may each have a slip that no one velocity has: the law reads none where friction moves nothing.
        keep_image_part(&moved, &rounding, &mut y);
        let d = y.len();
        let read = (0..d).any(|i| moved[i * d + i] > rounding[i]);
        own_set(
            problem,
            block,
            (lambda, s),
            read.then_some(&y[..]),
            scale,
            &mut out[a],
        );
    }
}

/// Coupling of the tangent rows of a block to its normal, per unit of it.
fn tilt_of(problem: &ContactProblem, block: &ContactBlock) -> Vec<f64> {
    let n = block.start;
    (1..block.size)
        .map(|i| problem.w(n + i, n) / problem.w(n, n))
        .collect()
}

/// y = R P v: the tangential velocity of a block without the parts along all normals of the space.
fn velocity_off_normals(
    problem: &ContactProblem,
    block: &ContactBlock,
    velocity: &[f64],
    (space, normal): (&[usize], &[f64]),
) -> Vec<f64> {
    let w = |i: usize, j: usize| problem.w(i, j);
    let (n, coupling) = (block.start, tilt_of(problem, block));
    (1..block.size)
        .map(|i| {
            let row = |j: usize| w(n + i, j) - coupling[i - 1] * w(n, j);
            velocity[n + i]
                - coupling[i - 1] * velocity[n]
                - space
                    .iter()
                    .zip(normal)
                    .map(|(&j, x)| row(j) * x)
                    .sum::<f64>()
        })
        .collect()
}

/// R P M⁻¹ Rᵀ: what friction of a block moves off all normals of the space, for each of its tangent rows.
fn response_off_normals(
    problem: &ContactProblem,
    block: &ContactBlock,
    space: &[usize],
    factor: &mut PivotedCholesky,
) -> Vec<f64> {
    let w = |i: usize, j: usize| problem.w(i, j);
    let (n, d, coupling) = (block.start, block.size - 1, tilt_of(problem, block));
    // R_i M⁻¹ h_j with any row h_j.
    let pairing = |i: usize, j: usize| w(n + 1 + i, j) - coupling[i] * w(n, j);
    let along = |i: usize| space.iter().map(|&j| pairing(i, j)).collect::<Vec<f64>>();
    let mut out = Vec::with_capacity(d * d);
    for i in 0..d {
        let mut held = along(i);
        factor.solve_in_place(&mut held);
        out.extend((0..d).map(|j| {
            let whole = pairing(i, n + 1 + j) - coupling[j] * pairing(i, n);
            whole - dot(&held, &along(j))
        }));
    }
    out
}

/// The measures of a block with a set of its own: budget λ, tangential impulse s and the velocity y that its law reads, none
/// where friction moves nothing off the normals.
fn own_set(
    problem: &ContactProblem,
    block: &ContactBlock,
    (lambda, s): (f64, &[f64]),
    read: Option<&[f64]>,
    scale: f64,
    out: &mut BlockResidual,
) {
    let w = |i: usize, j: usize| problem.w(i, j);
    let (n, d) = (block.start, block.size - 1);
    let (section, tilt) = match block.flow_rule.generalized().map(|rule| rule.unit) {
        Some(SetUnit::PerGradient) => (block.section.clone(), vec![0.0; d]),
        Some(SetUnit::PerUnitNormal) => (block.section.scaled(w(n, n).sqrt()), vec![0.0; d]),
        Some(SetUnit::CoulombCone) | None => (block.section.clone(), tilt_of(problem, block)),
    };
    let size = s.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rho = 1.0 / (1..=d).map(|i| w(n + i, n + i)).fold(w(n, n), f64::max);
    if size == 0.0 && lambda <= 1e-9 * scale {
        return;
    }
    let real = lambda - dot(&tilt, s);
    let mut nearest = vec![0.0; d];
    section.project(s, real.max(0.0), &mut nearest);
    out.cone = ((-real).max(0.0) + distance(s, &nearest)) / scale;
    // Beside a joint or between walls friction may move nothing off the normals: its generalized reaction is zero, and obeys.
    let Some(read) = read else {
        return;
    };
    if tilt.iter().all(|&c| c == 0.0) {
        // A set of its own: the plain projection, which also serves unbounded ones.
        let shifted: Vec<f64> = s.iter().zip(read).map(|(s, y)| s - rho * y).collect();
        section.project(&shifted, lambda, &mut nearest);
        out.natural_map = distance(s, &nearest) / scale;
        return;
    }
    if d == 1 {
        // An interval: clipping stays exact where a jam has a tiny budget and a large impulse.
        let local = [w(n, n), w(n, n + 1), w(n + 1, n), w(n + 1, n + 1)];
        let set = GeneralizedSet::from_cone(&local, section);
        let (lower, upper) = set.ends().unwrap_or((0.0, 0.0));
        let target = s[0] - rho * read[0];
        let clipped = if lambda > 0.0 {
            target.clamp(lambda * lower, lambda * upper)
        } else {
            0.0
        };
        out.natural_map = (s[0] - clipped).abs() / scale;
        return;
    }
    let tau = if lambda > 0.0 {
        -dot(read, s) / lambda
    } else {
        0.0
    };
    let p: Vec<f64> = std::iter::once(real).chain(s.iter().copied()).collect();
    let mut shifted = p.clone();
    shifted[0] -= rho * tau;
    for i in 0..d {
        shifted[i + 1] -= rho * (read[i] + tau * tilt[i]);
    }
    let mut projected = vec![0.0; d + 1];
    project_cone(&section, &shifted, &mut projected, &mut nearest);
    out.natural_map = distance(&p, &projected) / scale;
}

/// Joint sections: −(u + W_n τ) ∈ N_K(p) block by block, with the stored multipliers τ.
fn joint(
    problem: &ContactProblem,
    solution: &ContactSolution,
    velocity: &[f64],
    scale: f64,
    out: &mut [BlockResidual],
) {
    let w = |i: usize, j: usize| problem.w(i, j);
    let multipliers = &solution.generalized.multipliers;
    for (a, block) in problem.blocks().iter().enumerate() {
        let n = block.start;
        let p = &solution.impulse[block.range()];
        let rho = 1.0 / block.range().map(|i| w(i, i)).fold(0.0, f64::max);
        let mut shifted = p.to_vec();
        for (i, x) in shifted.iter_mut().enumerate() {
            let pull: f64 = problem
                .blocks()
                .iter()
                .zip(multipliers)
                .map(|(b, t)| w(n + i, b.start) * t)
                .sum();
            *x -= rho * (velocity[n + i] + pull);
        }
        let mut projected = vec![0.0; p.len()];
        let mut scratch = vec![0.0; p.len() - 1];
        project_cone(&block.section, &shifted, &mut projected, &mut scratch);
        out[a].natural_map = distance(p, &projected) / scale;
        block.section.project(&p[1..], p[0].max(0.0), &mut scratch);
        out[a].cone = ((-p[0]).max(0.0) + distance(&p[1..], &scratch)) / scale;
    }
}
