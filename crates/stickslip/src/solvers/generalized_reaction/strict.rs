//! Distance of a solution to P'4 as the paper writes it.

use crate::contact::{ContactProblem, ContactSolution};
use crate::solvers::one_contact::LocalScratch;

use super::normal_impulses;
use super::solver::{Couplings, program_block};
use super::tangential_program::TangentialProgram;
use crate::contact::NormalStage;

/// dist*(r_τ, Σ λ_a C*_a) and ⟨r_τ, v⁺⟩, with r = r_ν + r_τ the cone splitting of the total impulse.
pub(in crate::solvers) fn distance(
    problem: &ContactProblem,
    couplings: &Couplings,
    solution: &ContactSolution,
    scratch: &mut LocalScratch,
) -> (f64, f64) {
    let (m, count) = (problem.size(), problem.blocks().len());
    let w = problem.dense();
    // Pairings W p of the total impulse with every row.
    let pairing: Vec<f64> = (0..m)
        .map(|i| crate::algebra::dot(&w[i * m..(i + 1) * m], &solution.impulse))
        .collect();
    let minus: Vec<f64> = problem.blocks().iter().map(|b| -pairing[b.start]).collect();
    let split = normal_impulses::solve(&couplings.normal, &minus, &NormalStage::Inelastic);
    let mut rest = solution.impulse.clone();
    for (block, lambda) in problem.blocks().iter().zip(&split.lambda) {
        rest[block.start] -= lambda;
    }
    let pairing: Vec<f64> = (0..m)
        .map(|i| crate::algebra::dot(&w[i * m..(i + 1) * m], &rest))
        .collect();
    let power = crate::algebra::dot(&rest, &solution.local_velocity);

    // Nearest point of the sum of the sets, in the dual metric.
    let mut program = TangentialProgram {
        scale: (0..m)
            .filter(|&i| w[i * m + i] > 0.0)
            .map(|i| pairing[i].abs() / w[i * m + i].sqrt())
            .fold(0.0, f64::max),
        ..TangentialProgram::default()
    };
    let mut rows = Vec::new();
    for a in 0..count {
        let block = &problem.blocks()[a];
        if block.size > 1 && split.lambda[a] > 0.0 {
            program.blocks.push(program_block(
                problem,
                couplings,
                a,
                split.lambda[a],
                rows.len(),
            ));
            rows.extend((block.start + 1..block.start + block.size).map(|i| (a, i)));
        }
    }
    let n = rows.len();
    program.guards = n;
    program.matrix = vec![0.0; n * n];
    for (e, &(a, i)) in rows.iter().enumerate() {
        for (f, &(b, j)) in rows.iter().enumerate() {
            program.matrix[e * n + f] = couplings.tangent_gram(problem, (a, i), (b, j));
        }
        let c = couplings.tilt[i];
        program
            .gradient
            .push(-(pairing[i] - c * pairing[problem.blocks()[a].start]));
        program.reference.push(program.matrix[e * n + e]);
    }
    let mut z = vec![0.0; n];
    program.solve(1e-13, 2_000, &mut z, scratch);
    // r_τ − Σρ as impulses of the rows, then its norm: smaller rounding than a difference of squares.
    for (e, &(a, i)) in rows.iter().enumerate() {
        rest[i] -= z[e];
        rest[problem.blocks()[a].start] += couplings.tilt[i] * z[e];
    }
    let square: f64 = (0..m)
        .map(|i| rest[i] * crate::algebra::dot(&w[i * m..(i + 1) * m], &rest))
        .sum();
    (square.max(0.0).sqrt(), power)
}
