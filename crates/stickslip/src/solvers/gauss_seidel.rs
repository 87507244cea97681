//! Nonlinear Gauss-Seidel over contacts, for any friction sets and laws.

use std::ops::Range;

use crate::algebra::PivotedCholesky;
use crate::contact::delassus::SweepVelocity;
use crate::contact::{
    BlockKind, ContactBlock, ContactProblem, ContactSolution, ContactSolver, Judgement, SolveStatus,
};
use crate::laws::FlowRule;

use super::GeneralizedReaction;
use super::enumeration::{EnumerationSettings, FoundSolution, enumerate};
use super::newton_finish::NewtonFinish;
use super::one_contact::{
    LocalOutcome, LocalScratch, OneContact, solve_coulomb, solve_kinetic, solve_known_normal,
};
use super::uniqueness::{PLANAR, SPATIAL};

/// Settings of the sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussSeidelSettings {
    /// Largest change of an impulse in one sweep, times W_NN, relative to the largest velocity of
    /// the problem.
    pub tolerance: f64,
    /// Largest number of sweeps.
    pub sweeps_max: usize,
}

impl Default for GaussSeidelSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-13,
            sweeps_max: 20_000,
        }
    }
}

/// Sweeps before Newton's method is tried, and again at every doubling.
const FIRST_FINISH: usize = 64;
/// Largest number of rows for which it is tried.
const FINISH_ROWS: usize = 60;
/// Sweeps without progress before the judge is asked whether more could be had, and again.
const JUDGED_EVERY: usize = 100;

/// Sweeps measure their change and know no floor of rounding: where they no longer improve, the judge tells whether the answer is
/// within the tolerance or at the floor.
pub(super) fn settle(problem: &ContactProblem, solution: &mut ContactSolution, tolerance: f64) {
    let unsolved = matches!(
        solution.status,
        SolveStatus::Stalled | SolveStatus::LimitReached
    );
    if !unsolved || problem.generalized_rule().is_some() {
        return;
    }
    let judgement = Judgement::of(problem, &solution.impulse);
    if judgement.residual.worst() <= tolerance {
        solution.status = SolveStatus::Converged;
    } else if judgement.is_at_floor(tolerance) {
        solution.status = SolveStatus::AtRoundingFloor;
    }
}

/// Sweeps after which the solutions of few contacts are enumerated instead.
const PATIENCE: usize = 1024;
/// Starts per contact of that search in space, and the residual at which what it finds is a solution.
const STARTS: usize = 60;
const SOLVED: f64 = 1e-12;

/// Exact solution of one contact, swept over several.
///
/// ```
/// use stickslip::prelude::*;
///
/// // One contact of a unit mass that arrives with 1 m/s and slides with 5 m/s.
/// let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
/// let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5])?;
/// let mut solution = ContactSolution::default();
/// solution.prepare(problem.size());
/// GaussSeidel::default().solve(&problem, &mut solution);
/// assert_eq!(solution.status, SolveStatus::Converged);
/// assert_eq!(solution.impulse, [1.0, 0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// For block i in turn: the one-contact problem with matrix W_ii and velocity
/// `q_i + Σ_{j≠i} W_ij p_j`, under the law of the block (Coulomb, kinetic projection, known normal
/// impulse); problems of the generalized law go to [`GeneralizedReaction`]. A problem of one block is
/// solved at once, without iteration; where few contacts creep (nearly dependent rows), Newton's
/// method on all of them finishes the solution, and what it cannot, enumeration.
///
/// # Source
/// Jean and Moreau's nonlinear Gauss-Seidel as described in [AcaryCollinsCraft2023]; the local
/// solvers are ours (`solvers::one_contact`).
///
/// # Guarantees
/// One contact: exact to rounding, with the number of solutions told. Several: what converged
/// satisfies every local law to the tolerance; convergence itself is proved only without friction.
///
/// # Behaviour to know
/// Slow on stacks and on tall mass ratios (thousands of sweeps); there the cascade is the solver to
/// take. Where `μ|W_NT| > W_NN` a sweep may cycle: it ends as `Stalled`. A tolerance below rounding ends at the floor of rounding,
/// after a hundred sweeps without progress, and is told as such.
///
/// # Cost
/// One sweep is one product with W and one local solution per contact; no allocation once warm.
///
/// # Tested by
/// `solvers/gauss_seidel.rs`, `stickslip-validation/tests/reference_cases.rs`.
#[derive(Debug, Default)]
pub struct GaussSeidel {
    settings: GaussSeidelSettings,
    scratch: LocalScratch,
    matrix: Vec<f64>,
    velocity: Vec<f64>,
    previous: Vec<f64>,
    generalized: GeneralizedReaction,
    newton: NewtonFinish,
    factor: PivotedCholesky,
    running: SweepVelocity,
}

impl GaussSeidel {
    /// Solver with the given settings.
    pub fn new(settings: GaussSeidelSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The same with another tolerance.
    pub(super) fn set_tolerance(&mut self, tolerance: f64) {
        self.settings.tolerance = tolerance;
    }

    /// W_ii and `q_i + Σ_{j≠i} W_ij p_j` of one block among others.
    fn gather(&mut self, problem: &ContactProblem, rows: Range<usize>, impulse: &[f64]) {
        self.matrix.clear();
        self.velocity.clear();
        let delassus = problem.delassus();
        delassus.diagonal_block(rows.clone(), &mut self.matrix);
        let q = problem.free();
        delassus.velocity_of_others(rows, impulse, q, &self.running, &mut self.velocity);
    }

    /// Solves block `block` with the other impulses fixed; returns its outcome.
    fn visit(
        &mut self,
        problem: &ContactProblem,
        block: &ContactBlock,
        impulse: &mut [f64],
    ) -> LocalOutcome {
        let rows = block.range();
        // A contact on its own has W and q themselves.
        let alone = rows.len() == problem.size();
        let (w, q) = match problem.delassus().entries().filter(|_| alone) {
            Some(w) => (w, problem.free()),
            None => {
                self.gather(problem, rows.clone(), impulse);
                (self.matrix.as_slice(), self.velocity.as_slice())
            }
        };
        let minimum = match block.kind {
            BlockKind::Unilateral { minimum } => minimum,
            BlockKind::KnownNormal { impulse } => impulse,
            BlockKind::Bilateral => {
                let p = &mut impulse[rows];
                self.factor.factor(p.len(), w);
                for (p, q) in p.iter_mut().zip(q) {
                    *p = -q;
                }
                self.factor.solve_in_place(p);
                return LocalOutcome::Stick;
            }
            BlockKind::Bounded { lower, upper } => {
                let p = &mut impulse[rows][0];
                if !(w[0] > 0.0) {
                    *p = 0.0f64.clamp(lower, upper);
                    return LocalOutcome::Open;
                }
                *p = (-q[0] / w[0]).clamp(lower, upper);
                return LocalOutcome::Stick;
            }
        };
        let local = OneContact {
            w,
            q,
            section: &block.section,
            normal_impulse_min: minimum,
        };
        let p = &mut impulse[rows];
        if !(w[0] > 0.0) {
            // Nothing can move in the normal direction: the contact is inert.
            p.fill(0.0);
            return if q[0] < 0.0 {
                LocalOutcome::NoSolution
            } else {
                LocalOutcome::Open
            };
        }
        match (block.kind, block.flow_rule) {
            (BlockKind::KnownNormal { impulse }, _) => {
                p[0] = impulse;
                solve_known_normal(&local, p, &mut self.scratch)
            }
            (_, FlowRule::Coulomb) => solve_coulomb(&local, p, &mut self.scratch),
            // Solved jointly before any sweep.
            (_, FlowRule::Generalized(_)) => LocalOutcome::Stalled {
                residual: f64::INFINITY,
            },
            (_, FlowRule::KineticProjection) => solve_kinetic(&local, 0.0, p, &mut self.scratch),
        }
    }

    /// Largest velocity the data can produce, the yardstick of the tolerance.
    fn scale(problem: &ContactProblem, impulse: &[f64]) -> f64 {
        let mut scale = f64::MIN_POSITIVE;
        for block in problem.blocks() {
            let stiffness = problem.w(block.start, block.start);
            for i in block.range() {
                scale = scale
                    .max(problem.free()[i].abs())
                    .max(stiffness * impulse[i].abs());
            }
        }
        scale
    }
}

/// Writes the solution nearest to an impulse into it, where contacts are so few that all solutions can be listed or searched for.
fn enumerated(problem: &ContactProblem, impulse: &mut [f64]) -> bool {
    let blocks = problem.blocks();
    let planar = blocks.iter().all(|block| block.size <= 2);
    if blocks.len() > if planar { PLANAR } else { SPATIAL } {
        return false;
    }
    let settings = EnumerationSettings {
        starts: STARTS,
        ..EnumerationSettings::default()
    };
    let Ok(found) = enumerate(problem, &settings) else {
        return false;
    };
    let distance = |solution: &FoundSolution| {
        let parts = solution.impulse.iter().zip(&*impulse);
        parts.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let solved = found.solutions.iter().filter(|s| s.residual <= SOLVED);
    let nearest = solved.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(nearest) = nearest.map(|solution| solution.impulse.clone()) else {
        return false;
    };
    impulse.copy_from_slice(&nearest);
    true
}

impl ContactSolver for GaussSeidel {
    fn name(&self) -> &str {
        "gauss-seidel"
    }

    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        if problem.generalized_rule().is_some() {
            self.generalized.solve(problem, solution);
            return;
        }
        let delassus = problem.delassus();
        delassus.begin_sweep(&solution.impulse, &mut self.running);
        if let [block] = problem.blocks() {
            solution.iterations = 1;
            solution.status = match self.visit(problem, block, &mut solution.impulse) {
                LocalOutcome::NoSolution => SolveStatus::NoSolution { block: 0 },
                // Impulses of rounding are no other motion.
                LocalOutcome::Several { .. } if problem.is_at_rest() => SolveStatus::Converged,
                LocalOutcome::Several { .. } => SolveStatus::SeveralSolutions { block: 0 },
                LocalOutcome::Stalled { .. } => SolveStatus::Stalled,
                _ => SolveStatus::Converged,
            };
            problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
            return;
        }
        let m = problem.size();
        solution.status = SolveStatus::LimitReached;
        let (mut best, mut since_best) = (f64::INFINITY, 0);
        for sweep in 1..=self.settings.sweeps_max {
            self.previous.clear();
            self.previous.extend_from_slice(&solution.impulse);
            let mut change = 0.0f64;
            let mut special = None;
            for (b, block) in problem.blocks().iter().enumerate() {
                let outcome = self.visit(problem, block, &mut solution.impulse);
                if matches!(outcome, LocalOutcome::NoSolution) {
                    special = Some(SolveStatus::NoSolution { block: b });
                }
                let stiffness = problem.w(block.start, block.start);
                for i in block.range() {
                    let moved = solution.impulse[i] - self.previous[i];
                    delassus.update_sweep(i, moved, &mut self.running);
                    change = change.max(stiffness * moved.abs());
                }
            }
            solution.iterations = sweep;
            if sweep % 50 == 0 {
                // Rounding piles up in running velocities.
                delassus.begin_sweep(&solution.impulse, &mut self.running);
            }
            let relative = change / Self::scale(problem, &solution.impulse);
            if relative <= self.settings.tolerance {
                solution.status = special.unwrap_or(SolveStatus::Converged);
                break;
            }
            // A creeping sweep over few contacts: all of them at once.
            if sweep >= FIRST_FINISH && sweep.is_power_of_two() && m <= FINISH_ROWS {
                let scale = Self::scale(problem, &solution.impulse);
                let tolerance = self.settings.tolerance;
                let p = &mut solution.impulse;
                if self.newton.finish(problem, p, scale, tolerance) {
                    solution.status = SolveStatus::Converged;
                    break;
                }
            }
            if sweep == PATIENCE && enumerated(problem, &mut solution.impulse) {
                solution.status = SolveStatus::Converged;
                break;
            }
            // Without a new best change for a long time the sweep cycles.
            since_best = if relative < 0.999 * best {
                0
            } else {
                since_best + 1
            };
            best = best.min(relative);
            if since_best > 2_000 || !relative.is_finite() {
                solution.status = special.unwrap_or(SolveStatus::Stalled);
                break;
            }
            // A sweep that moves by rounding alone is over.
            if special.is_none() && since_best > 0 && since_best % JUDGED_EVERY == 0 {
                settle(problem, solution, self.settings.tolerance);
                if solution.status.is_solved() {
                    break;
                }
            }
        }
        settle(problem, solution, self.settings.tolerance);
        problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
    }
}

#[cfg(test)]
mod tests;
