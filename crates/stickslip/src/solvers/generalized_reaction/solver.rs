//! The solver of the generalized law.

use crate::algebra::{PivotedCholesky, dot};
use crate::contact::{
    ContactBlock, ContactProblem, ContactResidual, ContactSolution, ContactSolver, NormalStage,
    SolveStatus,
};
use crate::laws::{ActiveSpace, GeneralizedRule, Sections, SetUnit};
use crate::solvers::one_contact::LocalScratch;

use super::local_set::{ScaledSet, clip, planar_ends};
use super::tangential_program::{ProgramBlock, TangentialProgram};
use super::{joint_section, normal_impulses, strict};

/// Residual of the law up to which a step counts as solved (ten times more for joint sections,
/// whose program is the worst conditioned).
const ACCEPTED: f64 = 1e-9;

/// Settings of the tangential program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedReactionSettings {
    /// Change of the velocity in one sweep, relative to the largest velocity, that ends it.
    pub tolerance: f64,
    /// Largest number of sweeps.
    pub sweeps_max: usize,
}

impl Default for GeneralizedReactionSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-15,
            sweeps_max: 4_000,
        }
    }
}

/// Step of P'3 and P'4.
///
/// # What it computes
/// Normal stage: λ ≥ 0 by the impact law ([`NormalStage`]), which fixes the normal velocities. Active space J₀: all
/// constraints, or those with a firm λ. Tangential stage: with v_N = a + b, a in the span of the normals of
/// J₀, `v⁺ = a + w`, `w = argmin ½‖w − b‖² + Σ λ_a S_a(−w)` over the w tangential to J₀ that close no other constraint,
/// solved in its dual form over ρ_a ∈ λ_a C*_a and guards η ≥ 0. With joint sections instead: least kinetic energy over
/// all reactions in the sum of the real cones that keep the normal velocities.
///
/// # Source
/// [CharlesBallard2016], P'3 and P'4; the well-posed step and its active space are the project's reading.
/// One constraint: `r_t = Proj*_{r_n C*}(−M v_t)`, which for e = 0 is S(q, v) of [Paoli2015].
///
/// # Guarantees
/// One velocity after, for any closed convex sets containing 0, bounded or not, and any number of
/// constraints; `‖v⁺‖ ≤ ‖v_N‖ ≤ ‖v‖`. One constraint: exact to rounding, no iteration.
///
/// # Behaviour to know
/// The law as the paper writes it has no solution for most bodies on several contacts; the
/// `strict_residual()` of the outcome says how far the step is from it (0 for one constraint). A square block on
/// two feet feels μ m g/(1 − (μκ)²) instead of μ m g: +9.9 % at μ = 0.5; joint sections give μ m g. With dependent
/// normal rows (four feet in space) the budget λ is the one of least norm, and told.
///
/// # Cost
/// One constraint in the plane: some fifty operations, no allocation. Otherwise a linear
/// complementarity problem and some ten sweeps, or with joint sections ten to twenty eliminations of all rows.
///
/// # Tested by
/// `solvers/generalized_reaction/tests.rs`, `tests/property_generalized.rs`.
#[derive(Debug, Default)]
pub struct GeneralizedReaction {
    settings: GeneralizedReactionSettings,
    scratch: LocalScratch,
}

impl GeneralizedReaction {
    /// Solver with the given settings.
    pub fn new(settings: GeneralizedReactionSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

/// Products between rows that every stage needs.
#[derive(Clone, Debug, Default)]
pub(in crate::solvers) struct Couplings {
    /// Normal block of W.
    pub normal: Vec<f64>,
    /// c = W_nt/W_nn per row; 0 on normal rows.
    pub tilt: Vec<f64>,
}

impl Couplings {
    pub fn new(problem: &ContactProblem) -> Self {
        let m = problem.size();
        let w = problem.dense();
        let blocks = problem.blocks();
        let mut tilt = vec![0.0; m];
        for block in blocks {
            let n = block.start;
            for i in n + 1..n + block.size {
                tilt[i] = w[i * m + n] / w[n * m + n];
            }
        }
        let normal = blocks
            .iter()
            .flat_map(|a| blocks.iter().map(|b| w[a.start * m + b.start]))
            .collect();
        Self { normal, tilt }
    }

    /// R_i M⁻¹ R_j of two tangent rows.
    pub fn tangent_gram(
        &self,
        problem: &ContactProblem,
        (a, i): (usize, usize),
        (b, j): (usize, usize),
    ) -> f64 {
        self.normal_gram(problem, (a, i), j)
            - self.tilt[j] * self.normal_gram(problem, (a, i), problem.blocks()[b].start)
    }

    /// R_i M⁻¹ h_j with any row h_j.
    fn normal_gram(&self, problem: &ContactProblem, (a, i): (usize, usize), j: usize) -> f64 {
        let m = problem.size();
        let w = problem.dense();
        w[i * m + j] - self.tilt[i] * w[problem.blocks()[a].start * m + j]
    }
}

/// The friction set of block `a` as variables from `start` on.
pub(super) fn program_block(
    problem: &ContactProblem,
    couplings: &Couplings,
    a: usize,
    lambda: f64,
    start: usize,
) -> ProgramBlock {
    let block = &problem.blocks()[a];
    let n = block.start;
    let unit = block
        .flow_rule
        .generalized()
        .map_or(SetUnit::CoulombCone, |rule| rule.unit);
    let norm = problem.dense()[n * problem.size() + n].sqrt();
    ProgramBlock {
        start,
        dimension: block.size - 1,
        set: ScaledSet::new(
            &block.section,
            unit,
            norm,
            &couplings.tilt[n + 1..n + block.size],
            lambda,
        ),
    }
}

/// Largest |q_i|/√W_ii: the speed that firmness is measured against.
fn speed(problem: &ContactProblem) -> f64 {
    let m = problem.size();
    (0..m)
        .map(|i| {
            let stiffness = problem.dense()[i * m + i];
            if stiffness > 0.0 {
                problem.free()[i].abs() / stiffness.sqrt()
            } else {
                0.0
            }
        })
        .fold(0.0, f64::max)
}

impl ContactSolver for GeneralizedReaction {
    fn name(&self) -> &str {
        "generalized-reaction"
    }

    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        let Some(&rule) = problem.generalized_rule() else {
            // A problem of another law is not ours to solve.
            solution.status = SolveStatus::Stalled;
            return;
        };
        solution.status = SolveStatus::Converged;
        if self.one_planar_contact(problem, &rule, solution) {
            return;
        }
        self.several(problem, &rule, solution);
    }
}

impl GeneralizedReaction {
    /// One contact with at most one tangent, in closed form; false if the problem is larger.
    fn one_planar_contact(
        &mut self,
        problem: &ContactProblem,
        rule: &GeneralizedRule,
        solution: &mut ContactSolution,
    ) -> bool {
        let [block] = problem.blocks() else {
            return false;
        };
        let (m, w, q) = (problem.size(), problem.dense(), problem.free());
        if m > 2 || !(w[0] > 0.0) {
            return false;
        }
        let ends = if m == 2 { block.section.ends() } else { None };
        if m == 2 && ends.is_none() {
            return false;
        }
        let lambda = match problem.normal_stage() {
            NormalStage::Inelastic => -q[0] / w[0],
            NormalStage::Biased(bias) => -(q[0] + bias[0]) / w[0],
            NormalStage::Moreau { restitution } => -(1.0 + restitution) * q[0] / w[0],
            NormalStage::Poisson { restitutions } => -(1.0 + restitutions[0]) * q[0] / w[0],
        }
        .max(0.0);
        let firm = lambda * w[0].sqrt() > rule.firmness * speed(problem);
        let p = &mut solution.impulse;
        p[0] = lambda;
        if let (Some((lower, upper)), true) = (ends, m == 2) {
            p[1] = 0.0;
            let c = w[2] / w[0];
            let (lower, upper, tilt) = match rule.unit {
                SetUnit::CoulombCone => (lower, upper, c),
                SetUnit::PerGradient => (lower, upper, 0.0),
                SetUnit::PerUnitNormal => (lower * w[0].sqrt(), upper * w[0].sqrt(), 0.0),
            };
            if firm && let Some((low, high)) = planar_ends(lower, upper, tilt, lambda) {
                let schur = w[3] - c * w[1];
                let schur = if schur <= 1e-14 * w[3] { 0.0 } else { schur };
                p[1] = clip(schur, q[1] - c * q[0], low, high);
                p[0] = lambda - c * p[1];
            }
        }
        let outcome = &mut solution.generalized;
        outcome.budget.clear();
        outcome.budget.push(lambda);
        outcome.in_active_space.clear();
        outcome
            .in_active_space
            .push(firm || rule.active_space == ActiveSpace::All);
        outcome.multipliers.clear();
        outcome.multipliers.push(0.0);
        outcome.dependent_rows = false;
        outcome.strict_distance = 0.0;
        outcome.strict_normal = 0.0;
        solution.iterations = 1;
        problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
        outcome.tangential_power = if m == 2 {
            solution.impulse[1]
                * (solution.local_velocity[1] - w[2] / w[0] * solution.local_velocity[0])
        } else {
            0.0
        };
        true
    }

    fn several(
        &mut self,
        problem: &ContactProblem,
        rule: &GeneralizedRule,
        solution: &mut ContactSolution,
    ) {
        let m = problem.size();
        let w = problem.dense();
        let blocks = problem.blocks();
        let count = blocks.len();
        let couplings = Couplings::new(problem);

        // Normal stage.
        let free: Vec<f64> = blocks.iter().map(|b| problem.free()[b.start]).collect();
        let normal = normal_impulses::solve(&couplings.normal, &free, problem.normal_stage());
        let lambda = normal.lambda;
        let mut velocity = problem.free().to_vec();
        for (block, l) in blocks.iter().zip(&lambda) {
            for (i, u) in velocity.iter_mut().enumerate() {
                *u += w[i * m + block.start] * l;
            }
        }
        let after: Vec<f64> = blocks.iter().map(|b| velocity[b.start]).collect();
        let threshold = rule.firmness * speed(problem);
        let firm: Vec<bool> = (0..count)
            .map(|a| lambda[a] * couplings.normal[a * count + a].sqrt() > threshold)
            .collect();

        let outcome = &mut solution.generalized;
        outcome.budget.clone_from(&lambda);
        outcome.dependent_rows = normal.dependent_rows;
        outcome.multipliers.clear();
        outcome.multipliers.resize(count, 0.0);
        let (iterations, converged) = match rule.sections {
            Sections::Joint if count > 1 => {
                outcome.in_active_space.clear();
                outcome.in_active_space.resize(count, true);
                let (multipliers, iterations, converged) = joint_section::solve(
                    problem,
                    &couplings.normal,
                    &lambda,
                    &after,
                    &mut solution.impulse,
                );
                outcome.multipliers = multipliers;
                (iterations, converged)
            }
            Sections::PerConstraint | Sections::Joint => {
                let space = active_space(rule, &couplings.normal, &firm, &after);
                outcome.in_active_space.clone_from(&space);
                self.tangential_stage(
                    problem,
                    &couplings,
                    (&lambda, &firm, &space),
                    &velocity,
                    &mut solution.impulse,
                )
            }
        };
        solution.iterations = iterations;
        solution.status = match (normal.solved, converged) {
            (true, true) => SolveStatus::Converged,
            (false, _) => SolveStatus::NoSolution { block: 0 },
            (true, false) => SolveStatus::Stalled,
        };
        problem.local_velocity(&solution.impulse, &mut solution.local_velocity);

        self.measure_strict(problem, &couplings, &after, solution);

        // What counts is the law, not how the iteration ended: rounding may keep its last digits
        // moving, and a creeping sweep may look settled.
        if normal.solved {
            let accepted = match rule.sections {
                Sections::Joint => 10.0 * ACCEPTED,
                Sections::PerConstraint => ACCEPTED,
            };
            let mut residual = ContactResidual::default();
            residual.measure_solution(problem, solution);
            solution.status = if residual.worst() <= accepted {
                SolveStatus::Converged
            } else {
                SolveStatus::Stalled
            };
        }
    }

    /// How far a solution is from the law as the paper writes it; `after` are the normal velocities of the normal stage.
    fn measure_strict(
        &mut self,
        problem: &ContactProblem,
        couplings: &Couplings,
        after: &[f64],
        solution: &mut ContactSolution,
    ) {
        let (distance, power) = strict::distance(problem, couplings, solution, &mut self.scratch);
        let mut moved: Vec<f64> = problem
            .blocks()
            .iter()
            .zip(after)
            .map(|(b, u)| solution.local_velocity[b.start] - u)
            .collect();
        let change = moved.clone();
        let mut factor = PivotedCholesky::default();
        factor.factor(after.len(), &couplings.normal);
        factor.solve_in_place(&mut moved);
        let outcome = &mut solution.generalized;
        outcome.strict_distance = distance;
        outcome.strict_normal = dot(&moved, &change).max(0.0).sqrt();
        outcome.tangential_power = power;
    }

    /// Friction over the active space; writes the real impulses of all rows.
    fn tangential_stage(
        &mut self,
        problem: &ContactProblem,
        couplings: &Couplings,
        (lambda, firm, space): (&[f64], &[bool], &[bool]),
        velocity: &[f64],
        impulse: &mut [f64],
    ) -> (usize, bool) {
        let blocks = problem.blocks();
        let count = blocks.len();
        let inside: Vec<usize> = (0..count).filter(|&a| space[a]).collect();
        let outside: Vec<usize> = (0..count).filter(|&a| !space[a]).collect();
        let k = inside.len();
        let gram: Vec<f64> = (0..k * k)
            .map(|e| couplings.normal[inside[e / k] * count + inside[e % k]])
            .collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(k, &gram);

        // Variables: tangent rows of firm blocks, then guards.
        let mut program = TangentialProgram {
            scale: speed(problem),
            ..TangentialProgram::default()
        };
        let mut tangents = Vec::new();
        for a in (0..count).filter(|&a| firm[a] && blocks[a].size > 1) {
            program.blocks.push(program_block(
                problem,
                couplings,
                a,
                lambda[a],
                tangents.len(),
            ));
            tangents
                .extend((blocks[a].start + 1..blocks[a].start + blocks[a].size).map(|i| (a, i)));
        }
        let t = tangents.len();
        let n = t + outside.len();
        program.guards = t;
        // Couplings of each variable to the normals of the space, and its projected part.
        let pairing = |e: usize, b: usize| {
            if e < t {
                couplings.normal_gram(problem, tangents[e], blocks[b].start)
            } else {
                couplings.normal[outside[e - t] * count + b]
            }
        };
        let to_space: Vec<Vec<f64>> = (0..n)
            .map(|e| inside.iter().map(|&b| pairing(e, b)).collect())
            .collect();
        let held: Vec<Vec<f64>> = to_space
            .iter()
            .map(|row| {
                let mut solved = row.clone();
                factor.solve_in_place(&mut solved);
                solved
            })
            .collect();
        program.matrix = vec![0.0; n * n];
        for e in 0..n {
            for f in 0..n {
                let plain = match (e < t, f < t) {
                    (true, true) => couplings.tangent_gram(problem, tangents[e], tangents[f]),
                    (true, false) => pairing(e, outside[f - t]),
                    (false, true) => pairing(f, outside[e - t]),
                    (false, false) => couplings.normal[outside[e - t] * count + outside[f - t]],
                };
                program.matrix[e * n + f] = plain - dot(&to_space[e], &held[f]);
                if e == f {
                    program.reference.push(plain);
                }
            }
            program.gradient.push(if e < t {
                let (a, i) = tangents[e];
                let normal: Vec<f64> = inside.iter().map(|&b| velocity[blocks[b].start]).collect();
                velocity[i] - couplings.tilt[i] * velocity[blocks[a].start] - dot(&held[e], &normal)
            } else {
                // A guard reads the whole normal velocity.
                velocity[blocks[outside[e - t]].start]
            });
        }
        program.read_what_moves();
        let mut z: Vec<f64> = tangents.iter().map(|&(_, i)| impulse[i]).collect();
        z.resize(n, 0.0);
        let outcome = program.solve(
            self.settings.tolerance,
            self.settings.sweeps_max,
            &mut z,
            &mut self.scratch,
        );

        let parts = ActiveParts {
            tangents: &tangents,
            inside: &inside,
            outside: &outside,
            held: &held,
        };
        parts.write_impulses(blocks, couplings, lambda, &z, impulse);
        (outcome.sweeps, outcome.converged)
    }
}

/// Who takes part in the tangential stage.
struct ActiveParts<'a> {
    /// Block and row of each tangential variable.
    tangents: &'a [(usize, usize)],
    /// Blocks whose normals span the active space.
    inside: &'a [usize],
    /// The others, each with a guard.
    outside: &'a [usize],
    /// Per variable: its part along the normals of the space.
    held: &'a [Vec<f64>],
}

impl ActiveParts<'_> {
    /// Real impulses: normal part of every set, and what the space takes back.
    fn write_impulses(
        &self,
        blocks: &[ContactBlock],
        couplings: &Couplings,
        lambda: &[f64],
        z: &[f64],
        impulse: &mut [f64],
    ) {
        impulse.fill(0.0);
        for (block, l) in blocks.iter().zip(lambda) {
            impulse[block.start] = *l;
        }
        for (e, &(a, i)) in self.tangents.iter().enumerate() {
            impulse[i] = z[e];
            impulse[blocks[a].start] -= couplings.tilt[i] * z[e];
        }
        for (e, &a) in self.outside.iter().enumerate() {
            impulse[blocks[a].start] += z[self.tangents.len() + e];
        }
        for (slot, &a) in self.inside.iter().enumerate() {
            let back: f64 = self.held.iter().zip(z).map(|(h, z)| h[slot] * z).sum();
            impulse[blocks[a].start] -= back;
        }
    }
}

/// J₀ as a flag per block.
fn active_space(rule: &GeneralizedRule, normal: &[f64], firm: &[bool], after: &[f64]) -> Vec<bool> {
    let count = firm.len();
    if rule.active_space == ActiveSpace::All {
        return vec![true; count];
    }
    let mut space = firm.to_vec();
    let scale = after.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    loop {
        let inside: Vec<usize> = (0..count).filter(|&a| space[a]).collect();
        let k = inside.len();
        let gram: Vec<f64> = (0..k * k)
            .map(|e| normal[inside[e / k] * count + inside[e % k]])
            .collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(k, &gram);
        let mut weights: Vec<f64> = inside.iter().map(|&a| after[a]).collect();
        factor.solve_in_place(&mut weights);
        // A constraint that the normal part alone would close joins the space.
        let closing = (0..count).find(|&i| {
            let part: f64 = inside
                .iter()
                .zip(&weights)
                .map(|(&a, x)| normal[i * count + a] * x)
                .sum();
            !space[i] && part < -1e-14 * scale
        });
        match closing {
            Some(i) => space[i] = true,
            None => return space,
        }
    }
}
