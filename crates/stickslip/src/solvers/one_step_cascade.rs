//! The cascade as solver of general one-step problems.
//!
//! # What it computes
//!
//! Blocks under Coulomb's flow rule whose friction section is a disc, a symmetric
//! interval, an ellipse or nothing become contacts of a [`CoulombProblem`] in space: with E the map of the
//! ellipse, p_T = E p̂_T and û_T = Eᵀ u_T make the section the unit disc; missing tangents are added, coupled
//! to nothing. If every block is of this kind the cascade solves the problem, otherwise the general Gauss-Seidel does.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; the change of variable for ellipses is standard.
//!
//! # Guarantees
//!
//! The answer is judged by the residual that no change of units alters; the status tells.
//!
//! # Behaviour to know
//!
//! Problems of few blocks (one or two by default) go to the general Gauss-Seidel, which knows about several solutions.
//!
//! # Cost
//!
//! The conversion copies W once.
//!
//! # Tested by
//!
//! Tests below.

use super::cascade::{CoulombMethod, solve};
use super::gauss_seidel::{GaussSeidel, GaussSeidelSettings};
use super::progress::SolverLimits;
use crate::algebra::block_sparse::BlockSparseBuilder;
use crate::contact::coulomb_problem::CoulombProblem;
use crate::contact::coulomb_solution::CoulombStatus;
use crate::contact::{
    BlockKind, ContactBlock, ContactProblem, ContactSolution, ContactSolver, SolveStatus,
};
use crate::laws::{FlowRule, FrictionSection};

/// Problems with fewer blocks are left to the general Gauss-Seidel by the default.
const FEWEST_BLOCKS: usize = 3;

/// The cascade behind the interface of all solvers.
#[derive(Debug)]
pub struct CascadeSolver {
    limits: SolverLimits,
    fewest_blocks: usize,
    general: GaussSeidel,
}

impl Default for CascadeSolver {
    fn default() -> Self {
        Self::new(SolverLimits {
            tolerance: 1e-12,
            scale_free: true,
            iterations: 200_000,
            ..SolverLimits::default()
        })
    }
}

/// How the tangents of a block map to those of the converted contact: p_T = E p̂_T.
struct Converted {
    friction: f64,
    map: [[f64; 2]; 2],
}

impl CascadeSolver {
    /// Solver with the given limits.
    pub fn new(limits: SolverLimits) -> Self {
        Self {
            limits,
            fewest_blocks: FEWEST_BLOCKS,
            general: GaussSeidel::new(GaussSeidelSettings::default()),
        }
    }

    /// Solver with the given relative tolerance that leaves problems of fewer than `fewest_blocks`
    /// contacts to the general Gauss-Seidel.
    pub fn beyond(fewest_blocks: usize, tolerance: f64) -> Self {
        let general = GaussSeidelSettings {
            tolerance,
            ..GaussSeidelSettings::default()
        };
        let default = Self::default();
        Self {
            limits: SolverLimits {
                tolerance,
                ..default.limits
            },
            fewest_blocks: fewest_blocks.max(FEWEST_BLOCKS),
            general: GaussSeidel::new(general),
        }
    }
}

/// The converted law of a block, `None` if the cascade cannot treat it.
fn convert(block: &ContactBlock) -> Option<Converted> {
    const UNIT: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];
    if block.flow_rule != FlowRule::Coulomb
        || block.kind != (BlockKind::Unilateral { minimum: 0.0 })
    {
        return None;
    }
    let (friction, map) = match &block.section {
        FrictionSection::None => (0.0, UNIT),
        FrictionSection::Disc { mu, dimension } if *dimension <= 2 => (*mu, UNIT),
        FrictionSection::Interval { lower, upper } if *lower == -*upper => (*upper, UNIT),
        FrictionSection::Ellipse { map } => {
            let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
            let size = map.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
            if determinant.abs() <= 1e-10 * size * size {
                return None;
            }
            (1.0, *map)
        }
        _ => return None,
    };
    (block.size <= 3).then_some(Converted { friction, map })
}

impl Converted {
    /// Row k of T, p = T p̂, restricted to the rows of the block.
    fn row(&self, k: usize) -> [f64; 3] {
        match k {
            0 => [1.0, 0.0, 0.0],
            _ => [0.0, self.map[k - 1][0], self.map[k - 1][1]],
        }
    }
}

impl ContactSolver for CascadeSolver {
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        solution.prepare(problem.size());
        let blocks = problem.blocks();
        let converted: Option<Vec<Converted>> = blocks.iter().map(convert).collect();
        let local = match converted {
            Some(converted) if blocks.len() >= self.fewest_blocks => {
                to_coulomb(problem, &converted).map(|local| (local, converted))
            }
            _ => None,
        };
        let Some((local, converted)) = local else {
            return self.general.solve(problem, solution);
        };
        // The guess in converted variables: p̂_T = E⁻¹ p_T.
        let mut guess = vec![0.0; 3 * blocks.len()];
        for (i, (block, c)) in blocks.iter().zip(&converted).enumerate() {
            let p = &solution.impulse[block.range()];
            guess[3 * i] = p[0];
            let t = [
                p.get(1).copied().unwrap_or(0.0),
                p.get(2).copied().unwrap_or(0.0),
            ];
            let e = &c.map;
            let determinant = e[0][0] * e[1][1] - e[0][1] * e[1][0];
            guess[3 * i + 1] = (e[1][1] * t[0] - e[0][1] * t[1]) / determinant;
            guess[3 * i + 2] = (e[0][0] * t[1] - e[1][0] * t[0]) / determinant;
        }
        let found = solve(&local, CoulombMethod::Cascade, &self.limits, Some(&guess));
        for (i, (block, c)) in blocks.iter().zip(&converted).enumerate() {
            for (k, row) in block.range().enumerate() {
                let t = c.row(k);
                solution.impulse[row] = (0..3).map(|j| t[j] * found.impulses[3 * i + j]).sum();
            }
        }
        problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
        solution.iterations = found.products as usize;
        solution.status = match found.status {
            CoulombStatus::Converged | CoulombStatus::AtRoundingFloor => SolveStatus::Converged,
            CoulombStatus::Stalled => SolveStatus::Stalled,
            CoulombStatus::LimitReached => SolveStatus::LimitReached,
            CoulombStatus::NoSolution { contact } => SolveStatus::NoSolution { block: contact },
        };
    }

    fn name(&self) -> &str {
        "cascade"
    }
}

/// Ŵ = Tᵀ W T, q̂ = Tᵀ q; `None` if the data are not finite.
fn to_coulomb(problem: &ContactProblem, converted: &[Converted]) -> Option<CoulombProblem> {
    let blocks = problem.blocks();
    let m = problem.size();
    let w = problem.delassus();
    let n = blocks.len();
    let mut builder = BlockSparseBuilder::new(3, n);
    let mut q = vec![0.0; 3 * n];
    let mut columns = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        columns.clear();
        for (j, other) in blocks.iter().enumerate() {
            let coupled = block
                .range()
                .any(|r| w[r * m..][other.range()].iter().any(|&x| x != 0.0));
            if coupled || i == j {
                columns.push(j);
            }
        }
        let first = builder.start_row(&columns);
        for (slot, &j) in columns.iter().enumerate() {
            let target = &mut builder.value[first + 9 * slot..first + 9 * slot + 9];
            for (a, r) in block.range().enumerate() {
                let left = converted[i].row(a);
                for (b, c) in blocks[j].range().enumerate() {
                    let right = converted[j].row(b);
                    for (x, left) in left.iter().enumerate() {
                        for (y, right) in right.iter().enumerate() {
                            target[3 * y + x] += left * w[r * m + c] * right;
                        }
                    }
                }
            }
            if i == j {
                // Missing tangents: coupled to nothing, at rest.
                for k in block.size..3 {
                    target[4 * k] = if block.size == 2 {
                        target[4]
                    } else {
                        target[0]
                    };
                }
            }
        }
        for (a, r) in block.range().enumerate() {
            let left = converted[i].row(a);
            for k in 0..3 {
                q[3 * i + k] += left[k] * problem.free()[r];
            }
        }
    }
    let friction = converted.iter().map(|c| c.friction).collect();
    CoulombProblem::new(builder.finish(), q, friction).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactKey, ContactResidual};

    /// Points on a line of springs: W tridiagonal by blocks, with normal-tangent coupling.
    fn chain(sections: &[FrictionSection]) -> ContactProblem {
        let mut blocks = Vec::new();
        let mut start = 0;
        for (i, section) in sections.iter().enumerate() {
            let size = 1 + section.dimension();
            blocks.push(ContactBlock {
                key: ContactKey::declared(i, 0),
                start,
                size,
                section: section.clone(),
                flow_rule: FlowRule::Coulomb,
                kind: BlockKind::Unilateral { minimum: 0.0 },
            });
            start += size;
        }
        let mut w = vec![0.0; start * start];
        for r in 0..start {
            for c in 0..start {
                let distance = r.abs_diff(c) as f64;
                w[r * start + c] = (-0.7 * distance).exp();
            }
        }
        let q = (0..start)
            .map(|r| -1.0 + 0.9 * ((r * r) as f64).sin())
            .collect();
        ContactProblem::from_local(w, q, blocks)
    }

    #[test]
    fn mixed_discs_ellipses_and_frictionless_blocks_are_solved() {
        let problem = chain(&[
            FrictionSection::disc(0.4).unwrap(),
            FrictionSection::ellipse([0.3, 0.6]).unwrap(),
            FrictionSection::segment(0.5).unwrap(),
            FrictionSection::None,
            FrictionSection::ellipse_from_map([[0.3, 0.1], [0.0, 0.5]]).unwrap(),
        ]);
        let mut solution = ContactSolution::default();
        CascadeSolver::default().solve(&problem, &mut solution);
        assert_eq!(solution.status, SolveStatus::Converged);
        let mut residual = ContactResidual::default();
        residual.measure(&problem, &solution.impulse);
        assert!(
            residual.worst() < 1e-10,
            "{:?} {:?}",
            residual.blocks(),
            solution
        );
    }

    #[test]
    fn other_sections_are_left_to_the_general_solver() {
        let square = FrictionSection::polytope(&[
            vec![0.3, 0.3],
            vec![-0.3, 0.3],
            vec![-0.3, -0.3],
            vec![0.3, -0.3],
        ])
        .unwrap();
        let problem = chain(&[square.clone(), FrictionSection::disc(0.4).unwrap(), square]);
        let mut solution = ContactSolution::default();
        CascadeSolver::default().solve(&problem, &mut solution);
        assert!(solution.status.is_solved());
    }
}
