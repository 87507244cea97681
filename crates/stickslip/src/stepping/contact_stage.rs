//! The contact problem of a step with its solver, residual and certificate.

use crate::algebra::largest_size;
use crate::contact::{
    BlockKind, Certificate, ContactProblem, ContactResidual, ContactSolution, ContactSolver,
    Islands, SPEED_ROUNDING, SolveCost, SolveStatus,
};
use crate::records::StepOutcome;

use super::ContactScales;

/// Slip slower than this part of the largest local velocity of the run is none: below the residual that a solver leaves.
const RESTING: f64 = 1e-10;

/// Residuals up to this are rounding: velocities are not asked for what they stand for.
const ROUNDING_RESIDUAL: f64 = 1e-13;

/// An impact within a step, as it was posed.
#[derive(Debug)]
pub struct PosedImpact {
    pub t: f64,
    pub problem: ContactProblem,
    /// Whether the solver found several motions itself, which are counted then.
    pub told: bool,
}

/// Buffers of the contact problem, reused from step to step, and the solver that is called on it.
pub struct ContactStage {
    /// The problem of the current stage.
    pub problem: ContactProblem,
    /// Its solution.
    pub solution: ContactSolution,
    /// Worst residuals so far.
    pub certificate: Certificate,
    /// Constraints that take part in the step although it does not forecast them to close; none in a step of a run whose solver does not list
    /// solutions.
    pub also: Vec<bool>,
    /// The motion begins with this step: no chord leads to its start.
    pub begins: bool,
    /// Impacts of the step in the order of their instants, where a scheme goes from one to the next and someone looks for other motions.
    pub impacts: Option<Vec<PosedImpact>>,
    /// Lengths and speeds of the run.
    pub scales: ContactScales,
    residual: ContactResidual,
    /// Whether the residual is that of the solution already.
    measured: bool,
    islands: Islands,
    sums: Vec<[f64; 4]>,
    solver: Box<dyn ContactSolver>,
}

impl ContactStage {
    /// A stage with the given solver.
    pub fn new(solver: Box<dyn ContactSolver>) -> Self {
        Self {
            problem: ContactProblem::default(),
            solution: ContactSolution::default(),
            certificate: Certificate::default(),
            also: Vec::new(),
            begins: false,
            impacts: None,
            scales: ContactScales::default(),
            residual: ContactResidual::default(),
            measured: false,
            islands: Islands::default(),
            sums: Vec::new(),
            solver,
        }
    }

    /// Whether a constraint takes part whatever the forecast.
    pub(crate) fn takes_part(&self, constraint: usize) -> bool {
        self.also.get(constraint) == Some(&true)
    }

    /// Speed up to which a contact of this run does not slide.
    pub(crate) fn resting_speed(&self) -> f64 {
        RESTING * self.certificate.speed
    }

    /// Whether the solver lists the solutions of a problem.
    pub(crate) fn lists_solutions(&self) -> bool {
        self.solver.lists_solutions()
    }

    /// Name of the solver.
    pub fn solver_name(&self) -> &str {
        self.solver.name()
    }

    /// Solves the problem from the impulses in the solution.
    pub fn solve(&mut self) {
        self.solution.prepare(self.problem.size());
        if self.problem.blocks().len() > 1 {
            self.problem.unify_flow_rules();
        }
        if !self.problem.blocks().is_empty() {
            self.problem
                .set_noise(SPEED_ROUNDING * self.certificate.speed);
            self.solver.solve(&self.problem, &mut self.solution);
            self.let_go();
        }
    }

    /// Takes away the impulses of contacts that leave without them.
    ///
    /// Signorini's law knows no impulse where the normal velocity is positive. Methods that stay inside of cones leave one there, as large as their
    /// tolerance allows, and records would call its contact pressed. Where the normal velocity is larger than all that the impulse of the contact
    /// itself adds to it, `w_N > Σ |W_Ni p_i|`, the contact leaves without that impulse too, and none is the answer of its law: a matter of the law, whatever the
    /// units and however small the impulses that press. The certificate measures the impulses that remain.
    fn let_go(&mut self) {
        let (problem, solution) = (&self.problem, &mut self.solution);
        let told = solution.local_velocity.len() == problem.size();
        if !(told && solution.status.is_solved()) || problem.generalized_rule().is_some() {
            return;
        }
        let mut found = false;
        for block in problem.blocks() {
            let n = block.start;
            let leaves = solution.impulse[n] > 0.0 && solution.local_velocity[n] > 0.0;
            if !leaves || block.kind != (BlockKind::Unilateral { minimum: 0.0 }) {
                continue;
            }
            let own = block.range();
            let added = own.map(|i| (problem.w(n, i) * solution.impulse[i]).abs());
            if solution.local_velocity[n] > added.sum::<f64>() {
                solution.impulse[block.range()].fill(0.0);
                found = true;
            }
        }
        if found {
            problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
        }
    }

    /// The same for a problem over bodies that is expected to be at rest: where the guess obeys the laws within the tolerance of the solver, in every
    /// island, it is the solution, and its measure is that of the certificate.
    pub(crate) fn solve_at_rest(&mut self) {
        let blocks = self.problem.blocks().len();
        let tolerance = self.solver.guess_tolerance(&self.problem);
        let (Some(tolerance), true) = (tolerance, blocks > 1) else {
            return self.solve();
        };
        self.solution.prepare(self.problem.size());
        self.problem.unify_flow_rules();
        self.hear();
        // Here rounding counts: left in one step after the other it would be a force that is off.
        self.residual.set_noise(0.0);
        self.residual.measure(&self.problem, &self.solution.impulse);
        if let Some(operator) = self.problem.delassus().bodies() {
            self.islands.find(operator);
        }
        let islands = &self.islands;
        let groups = (islands.count(), |block| islands.of(block));
        let of = (&self.problem, &self.solution.impulse[..]);
        if self
            .residual
            .is_within(tolerance, of, groups, &mut self.sums)
        {
            self.solution.local_velocity.clear();
            self.solution.cost = SolveCost::default();
            self.measured = true;
        } else {
            self.solver.solve(&self.problem, &mut self.solution);
        }
    }

    /// The same to a tolerance of its own, for problems that are corrections and enter no certificate.
    pub fn solve_within(&mut self, tolerance: f64) {
        self.solution.prepare(self.problem.size());
        if !self.problem.blocks().is_empty() {
            self.solver
                .solve_within(tolerance, &self.problem, &mut self.solution);
        }
    }

    /// Keeps the problem just solved as that of an impact at t; one contact without friction has one motion.
    pub(crate) fn keep_impact(&mut self, t: f64) {
        let Some(impacts) = &mut self.impacts else {
            return;
        };
        let blocks = self.problem.blocks();
        if blocks.len() < 2 && blocks.iter().all(|block| block.section.is_frictionless()) {
            return;
        }
        let told = matches!(self.solution.status, SolveStatus::SeveralSolutions { .. });
        impacts.push(PosedImpact {
            t,
            problem: self.problem.clone(),
            told,
        });
    }

    /// Measures the solution again from the problem alone and enters it into the certificate;
    /// returns the worst residual.
    pub fn certify(&mut self, t: f64) -> f64 {
        if self.problem.blocks().is_empty() {
            return 0.0;
        }
        if std::mem::take(&mut self.measured) {
            // The guess was the solution.
        } else if self.problem.generalized_rule().is_none() {
            self.measure();
        } else {
            self.hear();
            self.measure_generalized(t);
        }
        self.certificate.enter(t, &self.problem, &self.residual);
        if self.solution.status != SolveStatus::Converged {
            self.count_status();
        }
        let worst = self.residual.worst();
        if worst > ROUNDING_RESIDUAL && self.problem.generalized_rule().is_none() {
            self.tell_velocity(t);
        }
        worst
    }

    /// Enters what the residual measured last says of velocities.
    #[cold]
    #[inline(never)] // Solutions at rounding have no need of its frame.
    fn tell_velocity(&mut self, t: f64) {
        let impulse = &self.solution.impulse;
        let (error, block) = self.residual.velocity_error(&self.problem, impulse);
        let key = self.problem.blocks()[block].key;
        self.certificate.enter_velocity(t, (error, key));
    }

    /// Velocities at the rounding of the speeds this run has seen say nothing.
    #[inline]
    fn hear(&mut self) {
        let speed = largest_size(self.certificate.speed, self.problem.free());
        self.certificate.speed = speed;
        self.residual.set_noise(SPEED_ROUNDING * speed);
    }

    #[inline]
    fn measure(&mut self) {
        self.hear();
        self.residual.measure(&self.problem, &self.solution.impulse);
    }

    /// W p + q of the impulses certified last, where the problem is over bodies and has contacts.
    pub(crate) fn velocity(&self) -> &[f64] {
        self.residual.velocity()
    }

    /// Jᵀ p of the impulses certified last, where the problem is over bodies and has contacts.
    pub(crate) fn change_of_bodies(&self) -> &[f64] {
        self.residual.change_of_bodies()
    }

    /// Measures a solution of the generalized law, and enters what that law has besides.
    #[inline(never)] // Other laws have no need of its frame.
    fn measure_generalized(&mut self, t: f64) {
        self.residual
            .measure_solution(&self.problem, &self.solution);
        let outcome = &self.solution.generalized;
        let (strict, power) = (outcome.strict_residual(), outcome.tangential_power);
        let key = self.problem.blocks()[0].key;
        self.certificate.enter_strict(t, strict, power, key);
    }

    /// Counts a problem that was not plainly solved.
    #[cold]
    fn count_status(&mut self) {
        match self.solution.status {
            SolveStatus::Converged => {}
            SolveStatus::AtRoundingFloor => self.certificate.at_rounding_floor += 1,
            SolveStatus::SeveralSolutions { .. } => self.certificate.several_solutions += 1,
            SolveStatus::NoSolution { .. } => self.certificate.no_solution += 1,
            SolveStatus::Stalled | SolveStatus::LimitReached => self.certificate.not_converged += 1,
        }
    }

    /// The outcome of the step, as far as the contact problem decides it.
    pub fn outcome(&self) -> StepOutcome {
        let key = |block: usize| self.problem.blocks()[block].key;
        match self.solution.status {
            SolveStatus::Converged | SolveStatus::AtRoundingFloor => StepOutcome::Solved,
            SolveStatus::Stalled | SolveStatus::LimitReached => StepOutcome::NotConverged,
            SolveStatus::NoSolution { block } => StepOutcome::NoSolution {
                contact: key(block),
            },
            SolveStatus::SeveralSolutions { block } => StepOutcome::SeveralSolutions {
                contact: key(block),
            },
        }
    }
}
