//! The cascade as solver of every problem.
//!
//! # What it computes
//!
//! Problems whose blocks all follow Coulomb's law with a disc, a symmetric interval, an ellipse or nothing as section go to the
//! cascade, or to the method asked for by name; the general Gauss-Seidel solves the others, and those of so few blocks that it is
//! cheaper and tells several solutions. Where it cycles, the cascade takes over. Problems over bodies go to the
//! [sweeps over bodies](super::bodies), whatever their laws, and to the cascade only where few contacts are left unsolved.
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

use super::bodies::{BodySweepSettings, BodySweepSolver};
use super::cascade::{CoulombMethod, solve};
use super::gauss_seidel::{GaussSeidel, GaussSeidelSettings, settle};
use super::progress::SolverLimits;
use super::scaled_problem::{StoppingTest, is_scalable};
use crate::contact::{
    ContactProblem, ContactResidual, ContactSolution, ContactSolver, SolveStatus,
};

/// Problems with fewer blocks are left to the general Gauss-Seidel by the default.
const FEWEST_BLOCKS: usize = 3;

/// Problems over bodies with more blocks are left to the sweeps over bodies alone.
const MOST_BLOCKS_OVER_BODIES: usize = 500;

/// Parts of the tolerance that sweeps over few contacts between bodies go on to where the residual is above it.
const FURTHER: [f64; 3] = [0.1, 0.01, 0.001];

/// What the cascade may cost on a step of a world that sweeps over bodies have left, in nanoseconds counted from sizes: about a second. A world of absurd numbers (friction 10⁶, steps of 10 s) goes on uncertified instead of standing still.
const EFFORT_OVER_BODIES: f64 = 1e9;

/// The cascade behind the interface of all solvers.
///
/// ```
/// use stickslip::prelude::*;
///
/// // Two blocks of unit mass on each other, each pulled down by an impulse of one: the lower contact bears both.
/// let w = [1.0, 0.0, -1.0, 0.0,  0.0, 1.0, 0.0, -1.0,  -1.0, 0.0, 2.0, 0.0,  0.0, -1.0, 0.0, 2.0];
/// let problem = ContactProblem::coulomb_from_dense(2, &w, vec![-1.0, 0.0, 0.0, 0.0], vec![0.5, 0.5])?;
/// let mut solution = ContactSolution::default();
/// solution.prepare(problem.size());
/// CascadeSolver::default().solve(&problem, &mut solution);
/// assert!((solution.impulse[0] - 2.0).abs() < 1e-12 && (solution.impulse[2] - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CascadeSolver {
    method: CoulombMethod,
    limits: SolverLimits,
    fewest_blocks: usize,
    general: GaussSeidel,
    bodies: BodySweepSolver,
    residual: ContactResidual,
}

/// Sweeps over bodies to a tolerance.
fn over_bodies(tolerance: f64) -> BodySweepSolver {
    BodySweepSolver::new(BodySweepSettings {
        tolerance,
        ..BodySweepSettings::default()
    })
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
            bodies: over_bodies(limits.tolerance),
            limits,
            fewest_blocks: FEWEST_BLOCKS,
            general: GaussSeidel::new(GaussSeidelSettings::default()),
            residual: ContactResidual::default(),
        }
    }

    /// Solver with the given relative tolerance that leaves problems of fewer than `fewest_blocks`
    /// contacts to the general Gauss-Seidel.
    pub fn for_blocks_from(fewest_blocks: usize, tolerance: f64) -> Self {
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
            bodies: over_bodies(tolerance),
            residual: ContactResidual::default(),
        }
    }

    /// Solver that takes the given method, by name, wherever it knows the laws of the problem.
    pub fn by_method(method: CoulombMethod, tolerance: f64) -> Self {
        Self {
            method,
            fewest_blocks: 0,
            ..Self::for_blocks_from(0, tolerance)
        }
    }

    /// Whether a problem is left to the sweeps over bodies.
    fn sweeps_bodies(&self, problem: &ContactProblem) -> bool {
        problem.delassus().bodies().is_some()
            && problem.generalized_rule().is_none()
            && self.method == CoulombMethod::Cascade
            && problem.blocks().len() >= FEWEST_BLOCKS
    }

    /// Solves few contacts. Their sweeps end where impulses hardly change, which says little of the residual where they creep: between bodies, whose
    /// tolerance is that of a certificate, they go on until the residual is within it too.
    fn solve_few(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        self.general.solve(problem, solution);
        let between_bodies =
            problem.delassus().bodies().is_some() && problem.generalized_rule().is_none();
        if !between_bodies || problem.blocks().len() < 2 {
            return;
        }
        let tolerance = self.limits.tolerance;
        for part in FURTHER {
            self.residual.measure(problem, &solution.impulse);
            let within = self.residual.worst() <= tolerance;
            if within || solution.status != SolveStatus::Converged {
                break;
            }
            let sweeps = solution.iterations;
            self.general.set_tolerance(part * tolerance);
            self.general.solve(problem, solution);
            solution.iterations += sweeps;
        }
        self.general.set_tolerance(tolerance);
    }
}

impl ContactSolver for CascadeSolver {
    fn guess_tolerance(&self, problem: &ContactProblem) -> Option<f64> {
        let bodies = ContactSolver::guess_tolerance(&self.bodies, problem);
        bodies.filter(|_| self.sweeps_bodies(problem))
    }

    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        solution.prepare(problem.size());
        let scalable = is_scalable(problem);
        let blocks = problem.blocks().len();
        let over_bodies = self.sweeps_bodies(problem);
        if over_bodies {
            self.bodies.set_threads(crate::parallel::threads());
            ContactSolver::solve(&mut self.bodies, problem, solution);
            settle(problem, solution, self.limits.tolerance);
            if solution.status.is_solved() || !scalable || blocks > MOST_BLOCKS_OVER_BODIES {
                return;
            }
        } else if blocks < self.fewest_blocks || !scalable {
            self.solve_few(problem, solution);
            settle(problem, solution, self.limits.tolerance);
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
        self.limits.effort = if over_bodies {
            EFFORT_OVER_BODIES
        } else {
            f64::INFINITY
        };
        *solution = solve(problem, self.method, &self.limits, guess);
    }

    fn solve_within(
        &mut self,
        tolerance: f64,
        problem: &ContactProblem,
        solution: &mut ContactSolution,
    ) {
        if problem.delassus().bodies().is_some() && problem.generalized_rule().is_none() {
            self.bodies.solve_within(tolerance, problem, solution);
        } else {
            self.solve(problem, solution);
        }
    }

    fn name(&self) -> &str {
        self.method.name()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scaled_problem::ScaledProblem;
    use super::*;
    use crate::contact::{BlockKind, ContactBlock, ContactKey, Judgement};
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

    /// Three balls in a row on the floor, pushed together.
    fn three_balls() -> ContactProblem {
        let mut problem = ContactProblem::default();
        problem.begin_bodies(6, 3);
        let mut add = |sides: [u32; 2], rows: [[f64; 12]; 3], bias: [f64; 3]| {
            let block = ContactBlock {
                key: ContactKey::found(sides[0], sides[1], 0),
                start: 0,
                size: 3,
                section: FrictionSection::disc(0.3).unwrap(),
                flow_rule: FlowRule::Coulomb,
                kind: BlockKind::Unilateral { minimum: 0.0 },
            };
            let (numbers, out) = problem.push_bodies(block, sides);
            numbers.copy_from_slice(rows.as_flattened());
            out.copy_from_slice(&bias);
        };
        let spin = 2.5f64.sqrt();
        for ball in 0..3 {
            let mut rows = [[0.0; 12]; 3];
            (rows[0][2], rows[1][0], rows[2][1]) = (1.0, 1.0, 1.0);
            (rows[1][4], rows[2][3]) = (-spin, spin);
            add([ball, crate::contact::NO_BODY], rows, [-0.01, 0.0, 0.0]);
        }
        for ball in 0..2 {
            let mut rows = [[0.0; 12]; 3];
            (rows[0][0], rows[1][1], rows[2][2]) = (-1.0, 1.0, 1.0);
            (rows[0][6], rows[1][7], rows[2][8]) = (1.0, -1.0, -1.0);
            (rows[1][5], rows[2][4]) = (spin, -spin);
            (rows[1][11], rows[2][10]) = (spin, -spin);
            add([ball, ball + 1], rows, [-0.2, 0.0, 0.0]);
        }
        problem.refresh();
        problem
    }

    #[test]
    fn problems_over_bodies_are_swept_over_bodies() {
        let problem = three_balls();
        let mut solution = ContactSolution::default();
        CascadeSolver::for_blocks_from(24, 1e-11).solve(&problem, &mut solution);
        assert_eq!(solution.status, SolveStatus::Converged);
        assert_eq!(solution.cost.method, "body-sweep");
        assert!(ContactResidual::of(&problem, &solution.impulse).natural_map <= 1.01e-11);
        assert!(solution.impulse[9] > 0.0 && solution.impulse[12] > 0.0);
    }

    /// A tolerance below rounding: sweeps over bodies, sweeps over few contacts and the cascade all end at the floor and say so.
    #[test]
    fn every_solver_accepts_at_the_floor_of_rounding_and_says_so() {
        let disc = || FrictionSection::disc(0.4).unwrap();
        let few = chain(&[disc(), disc()]);
        let more = chain(&[disc(), disc(), disc(), disc(), disc()]);
        for (name, problem) in [("bodies", three_balls()), ("few", few), ("more", more)] {
            let mut solution = ContactSolution::default();
            CascadeSolver::for_blocks_from(3, 2e-17).solve(&problem, &mut solution);
            let judgement = Judgement::of(&problem, &solution.impulse);
            assert!(solution.status.is_solved(), "{name}: {judgement:?}");
            let worst = judgement.residual.worst();
            assert!(
                worst > 0.0 && worst <= judgement.floor,
                "{name}: {judgement:?}"
            );
            // Sweeps that gave up there are told to be at the floor, unless far more was asked.
            for (asked, status) in [
                (0.5 * worst, SolveStatus::AtRoundingFloor),
                (1e-3 * worst, SolveStatus::Stalled),
            ] {
                solution.status = SolveStatus::Stalled;
                settle(&problem, &mut solution, asked);
                assert_eq!(solution.status, status, "{name}: {judgement:?}");
            }
        }
    }

    /// Gauss-Seidel on its own: a tolerance that its change never meets ends at the floor, before long, and is told; a residual that
    /// meets the tolerance is told as solved.
    #[test]
    fn sweeps_on_their_own_end_at_the_floor_of_rounding_and_say_so() {
        let discs = |count: usize| chain(&vec![FrictionSection::disc(0.4).unwrap(); count]);
        // Ten contacts are tried by Newton's method as well, 25 by sweeps alone.
        for (count, tolerance) in [(10, 2e-17), (25, 2e-17), (25, 1e-16)] {
            let problem = discs(count);
            let mut solution = ContactSolution::default();
            solution.prepare(problem.size());
            let settings = GaussSeidelSettings {
                tolerance,
                ..GaussSeidelSettings::default()
            };
            GaussSeidel::new(settings).solve(&problem, &mut solution);
            let judgement = Judgement::of(&problem, &solution.impulse);
            let told = (solution.status, solution.iterations, judgement);
            assert_eq!(solution.status, SolveStatus::AtRoundingFloor, "{told:?}");
            assert!(judgement.is_at_floor(tolerance), "{told:?}");
            assert!(solution.iterations <= 200, "{told:?}");
        }
        // What stands still within the tolerance is solved, however it came to stand still.
        let problem = discs(10);
        let mut solution = ContactSolution::default();
        solution.prepare(problem.size());
        GaussSeidel::default().solve(&problem, &mut solution);
        let worst = ContactResidual::of(&problem, &solution.impulse).worst();
        solution.status = SolveStatus::Stalled;
        settle(&problem, &mut solution, 2.0 * worst);
        assert_eq!(solution.status, SolveStatus::Converged, "{worst}");
    }

    #[test]
    fn the_floor_of_rounding_is_that_of_the_judge() {
        let disc = |mu: f64| FrictionSection::disc(mu).unwrap();
        let problem = chain(&[disc(0.4), disc(0.1), disc(0.7), disc(0.2)]);
        let mut solution = ContactSolution::default();
        CascadeSolver::default().solve(&problem, &mut solution);
        let judgement = Judgement::of(&problem, &solution.impulse);
        for (test, floor) in [
            (StoppingTest::Natural, judgement.floor),
            (StoppingTest::Published, judgement.published_floor),
        ] {
            let scaled = ScaledProblem::new(&problem, test).unwrap();
            let x = scaled.variables(&solution.impulse);
            let own = scaled.rounding_floor(&x);
            assert!((own / floor - 1.0).abs() < 1e-12, "{test:?}: {own} {floor}");
        }
    }

    #[test]
    fn a_solve_that_cannot_end_costs_what_it_may() {
        // Nothing is solved to 1e-300, so that the effort alone ends the solve, sooner the less it is.
        let disc = || FrictionSection::disc(0.4).unwrap();
        let problem = chain(&[disc(), disc(), disc(), disc(), disc()]);
        let products = |effort: f64| {
            let limits = SolverLimits {
                tolerance: 1e-300,
                test: StoppingTest::Natural,
                effort,
                ..SolverLimits::default()
            };
            let solution = solve(&problem, CoulombMethod::Cascade, &limits, None);
            assert!(!solution.status.is_solved(), "{:?}", solution.status);
            solution.iterations
        };
        // A product over five contacts counts for 200 ns.
        let (little, more) = (products(1e5), products(1e6));
        assert!(little <= 1000, "{little}");
        assert!(little < more && more <= 10_000, "{little} {more}");
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
