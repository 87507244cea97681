//! Joint sections: the total reaction lies in the sum of all real cones.
//!
//! min ½ p·W p + q·p over p ∈ Π K_a with the normal velocities of the normal stage, (W p + q)_n = u_N. Every cone but a user's own is
//! the image of half-lines and round cones, p = E x, and the program is solved over these.

use crate::algebra::cone_program::ConeProgram;
use crate::contact::ContactProblem;

use super::any_joint_section;
use super::section_cones::{Generators, generators};

/// Defect of the program that counts as solved.
const SOLVED: f64 = 1e-11;

/// Writes the impulses; returns the multipliers τ, the steps used and whether it converged.
pub(super) fn solve(
    problem: &ContactProblem,
    normal: &[f64],
    lambda: &[f64],
    kept: &[f64],
    p: &mut [f64],
) -> (Vec<f64>, usize, bool) {
    let sections = problem
        .blocks()
        .iter()
        .map(|b| generators(&b.section, b.size));
    let Some(mut parts) = sections.collect::<Option<Vec<Generators>>>() else {
        return any_joint_section::solve(problem, normal, lambda, kept, p);
    };
    let m = problem.size();
    let w = problem.dense();
    let blocks = problem.blocks();
    for (block, part) in blocks.iter().zip(&mut parts) {
        part.scale(|i, j| w[(block.start + i) * m + block.start + j]);
    }
    // Columns of E with their first rows.
    let columns: Vec<(usize, &[f64])> = blocks
        .iter()
        .zip(&parts)
        .flat_map(|(block, part)| part.columns.iter().map(|c| (block.start, &c[..])))
        .collect();
    let n = columns.len();
    // W E, then EᵀW E.
    let mut response = vec![0.0; m * n];
    for (j, (start, column)) in columns.iter().enumerate() {
        for i in 0..m {
            let row = &w[i * m + start..][..column.len()];
            response[i * n + j] = row.iter().zip(*column).map(|(w, c)| w * c).sum();
        }
    }
    let along = |(start, column): (usize, &[f64]), at: &dyn Fn(usize) -> f64| -> f64 {
        let terms = column.iter().enumerate();
        terms.map(|(i, c)| c * at(start + i)).sum()
    };
    let mut matrix = vec![0.0; n * n];
    for (i, &column) in columns.iter().enumerate() {
        for j in 0..=i {
            let entry = along(column, &|row| response[row * n + j]);
            matrix[i * n + j] = entry;
            matrix[j * n + i] = entry;
        }
    }
    let free = problem.free();
    let linear = columns
        .iter()
        .map(|&c| along(c, &|row| free[row]))
        .collect();

    // Kept normal velocities, each in the kinetic unit of its normal; then equations among the parts of one section.
    let units: Vec<f64> = blocks
        .iter()
        .map(|b| match w[b.start * m + b.start] {
            x if x > 0.0 => x.sqrt(),
            _ => 1.0,
        })
        .collect();
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    for (a, block) in blocks.iter().enumerate() {
        let row = &response[block.start * n..(block.start + 1) * n];
        rows.extend(row.iter().map(|x| x / units[a]));
        right.push((kept[a] - free[block.start]) / units[a]);
    }
    let mut first = 0;
    for part in &parts {
        for equation in &part.equations {
            let at = rows.len();
            rows.resize(at + n, 0.0);
            rows[at + first..][..equation.len()].copy_from_slice(equation);
            right.push(0.0);
        }
        first += part.columns.len();
    }
    let cones = parts.iter().flat_map(|part| part.cones.iter().copied());
    let program = ConeProgram::new(matrix, linear, (&rows, &right), cones.collect());
    let found = program.solve();

    p.fill(0.0);
    for ((start, column), x) in columns.iter().zip(&found.x) {
        for (i, c) in column.iter().enumerate() {
            p[start + i] += c * x;
        }
    }
    let multipliers = found.multipliers.iter().zip(&units);
    let multipliers = multipliers.map(|(t, unit)| t / unit).collect();
    (multipliers, found.steps, found.defect <= SOLVED)
}
