//! The cascade as solver of every problem.
//!
//! # What it computes
//!
//! Problems whose blocks all follow Coulomb's law with a disc, a symmetric interval, an ellipse or nothing as section go to the
//! cascade, or to the method asked for by name; the general Gauss-Seidel solves the others, and those of so few blocks that it is
//! cheaper and tells several solutions. Where it cycles, the cascade takes over.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; the change of variable for ellipses is standard.
//!
//! # Guarantees
//!
//! The answer is judged by the residual of certificates; the status tells.
//!
//! # Behaviour to know
//!
//! Problems of few blocks (one or two by default) go to the general Gauss-Seidel, which knows about several solutions.
//!
//! # Cost
//!
//! The scaled copy of W.
//!
//! # Tested by
//!
//! Tests below.

use super::cascade::{CoulombMethod, solve};
use super::gauss_seidel::{GaussSeidel, GaussSeidelSettings};
use super::progress::SolverLimits;
use super::scaled_problem::{StoppingTest, is_scalable};
use crate::contact::{ContactProblem, ContactSolution, ContactSolver, SolveStatus};

/// Problems with fewer blocks are left to the general Gauss-Seidel by the default.
const FEWEST_BLOCKS: usize = 3;

/// The cascade behind the interface of all solvers.
#[derive(Debug)]
pub struct CascadeSolver {
    method: CoulombMethod,
    limits: SolverLimits,
    fewest_blocks: usize,
    general: GaussSeidel,
}

impl Default for CascadeSolver {
    fn default() -> Self {
        Self::new(SolverLimits {
            tolerance: 1e-12,
            test: StoppingTest::Natural,
            iterations: 200_000,
            ..SolverLimits::default()
        })
    }
}

impl CascadeSolver {
    /// Solver with the given limits.
    pub fn new(limits: SolverLimits) -> Self {
        Self {
            method: CoulombMethod::Cascade,
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
            method: CoulombMethod::Cascade,
            limits: SolverLimits {
                tolerance,
                ..default.limits
            },
            fewest_blocks: fewest_blocks.max(FEWEST_BLOCKS),
            general: GaussSeidel::new(general),
        }
    }

    /// Solver that takes the given method, by name, wherever it knows the laws of the problem.
    pub fn by_method(method: CoulombMethod, tolerance: f64) -> Self {
        Self {
            method,
            fewest_blocks: 0,
            ..Self::beyond(0, tolerance)
        }
    }
}

impl ContactSolver for CascadeSolver {
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        solution.prepare(problem.size());
        let scalable = is_scalable(problem);
        if problem.blocks().len() < self.fewest_blocks || !scalable {
            self.general.solve(problem, solution);
            let unsolved = matches!(
                solution.status,
                SolveStatus::Stalled | SolveStatus::LimitReached
            );
            if !(unsolved && scalable) {
                return;
            }
            // Sweeps that cycle over few contacts: all other methods, from the start.
            solution.impulse.fill(0.0);
        }
        let guess = Some(solution.impulse.as_slice());
        *solution = solve(problem, self.method, &self.limits, guess);
    }

    fn name(&self) -> &str {
        self.method.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{BlockKind, ContactBlock, ContactKey, ContactResidual};
    use crate::laws::{FlowRule, FrictionSection};

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
        ContactProblem::from_dense(w, q, blocks)
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
