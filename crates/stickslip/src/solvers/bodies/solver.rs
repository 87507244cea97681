//! The fast solver of contact problems over bodies.

use super::batch::Batch;
use super::central::{CentralBatch, Turns};
use super::workspace::{Problem, Workspace};
use crate::contact::{
    BodyOperator, ContactBlock, ContactProblem, ContactSolution, ContactSolver, Delassus,
    SolveStatus,
};
use crate::solvers::sweep::Instructions;

/// When the solver stops, and on how many threads it works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySweepSettings {
    /// Residual |F|₂/max(|r|₂, |ρ q|₂) at which an island is solved.
    pub tolerance: f64,
    /// Largest number of sweeps over an island.
    pub sweeps_max: u32,
    /// Rounds of Newton's method without a matrix at most, on islands of many bodies that sweeps have left.
    pub rounds_max: u32,
    /// Threads; the answer does not depend on them.
    pub threads: usize,
}

impl Default for BodySweepSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            sweeps_max: 1000,
            rounds_max: 20,
            threads: 1,
        }
    }
}

/// What became of a solve over bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodySweepOutcome {
    /// Residual of the whole problem.
    pub residual: f64,
    /// Largest number of sweeps over an island.
    pub sweeps: u32,
    /// Visits of all contacts, those of islands that were solved at once not counted.
    pub visits: u64,
    /// Islands.
    pub islands: u32,
    /// Islands that the tolerance was not reached on.
    pub unsolved: u32,
    /// Islands that were left to Newton's method.
    pub newton: u32,
}

/// Sweeps over bodies in batches of four, island by island.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::solvers::{BodySweepSettings, BodySweepSolver};
/// use stickslip::stepping::WorldStepping;
/// use stickslip::systems::world::{CollisionDetection, Pose, WorldBody};
///
/// let law = ContactLaw::new(FrictionSection::disc(0.5)?, ImpactLaw::Inelastic)?;
/// let world = World::builder()
///     .gravity([0.0, 0.0, -10.0])
///     .material("wood")
///     .pair(0, 0, law)
///     .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
///     .body(WorldBody::ball("ball", 2.0, 0.1).at(Pose::at([0.0, 0.0, 0.1])).moving([7.0, 0.0, 0.0], [0.0; 3]))
///     .build()?;
/// let scheme = WorldStepping::moreau_jean(0.5, Box::new(CollisionDetection::new(&world)?))?;
/// let solver = BodySweepSolver::new(BodySweepSettings { tolerance: 1e-10, ..BodySweepSettings::default() });
/// let (q, v) = (world.start_coordinates(), world.start_velocities());
/// let (scheme, solver) = (Box::new(scheme), Box::new(solver));
/// let mut run = Simulation::new(Box::new(world), scheme, solver, (&q, &v), SimulationSettings::fixed(1e-3))?;
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// // Friction brakes the ball by μ g as long as it slides.
/// assert!((run.state().v[6] - 6.5).abs() < 1e-8 && run.certificate().holds(1e-8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// Impulses of u = W r + q under the laws of the blocks, W a [`BodyOperator`]. Every island (connected by bodies) is swept with momentum
/// until its own residual |F|₂/max(|r|₂, |ρ q|₂) is within the tolerance, F the natural map with ρ_i = rows/tr W_ii. Islands of at most 400 bodies on which
/// 150 sweeps are not enough go to Newton's method where a factorisation costs less than that; larger ones that 250 sweeps have left because of a few contacts are
/// solved around these, and what all sweeps have left goes to Newton's method without a matrix. What is left then is factorised, up to some two seconds in a step.
///
/// # Source
/// Own: order-preserving batches, whitened velocities, fused momentum; the exact one-contact solutions of
/// [`one_contact`](crate::solvers::one_contact).
///
/// # Guarantees
/// The sequence of the plain sweep in storage order, whatever the width; the same bits with and without vector
/// instructions and for any number of threads. Only checked points are returned, the best one where the tolerance was not reached.
///
/// # Behaviour to know
/// A warm start decides the cost of quiet scenes: 0 sweeps at rest, 30 in a settling pack, over 1,000 from zero impulses.
///
/// # Cost
/// 15 to 30 ns per contact and sweep in space; 0.5 kB per contact, half of that where all bodies are balls; no allocation once warm, for discs and without friction.
///
/// # Tested by
/// `solvers/bodies/tests.rs`.
#[derive(Debug)]
pub struct BodySweepSolver {
    settings: BodySweepSettings,
    how: Instructions,
    space: Workspace<Batch<3, 6>, 3, 6>,
    plane: Workspace<Batch<2, 3>, 2, 3>,
    /// For problems in space whose contacts are central.
    balls: Workspace<CentralBatch, 3, 6>,
    turns: Turns,
}

impl Default for BodySweepSolver {
    fn default() -> Self {
        Self::new(BodySweepSettings::default())
    }
}

impl BodySweepSolver {
    /// Solver with the given settings.
    pub fn new(settings: BodySweepSettings) -> Self {
        Self {
            settings,
            how: Instructions::detect(),
            space: Workspace::default(),
            plane: Workspace::default(),
            balls: Workspace::default(),
            turns: Turns::default(),
        }
    }

    /// The same without vector instructions; the answer has the same bits.
    #[cfg(test)]
    pub(super) fn portable(mut self) -> Self {
        self.how = Instructions::portable();
        self
    }

    /// The same on so many threads; the answer has the same bits.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.settings.threads = threads;
    }

    /// Settings in use.
    pub fn settings(&self) -> &BodySweepSettings {
        &self.settings
    }

    /// Solves u = W r + q; `impulse` holds the guess on entry (the impulses of the step before, or zero) and the solution on return.
    #[doc(hidden)]
    pub fn solve(
        &mut self,
        operator: &BodyOperator,
        free: &[f64],
        blocks: &[ContactBlock],
        impulse: &mut [f64],
    ) -> BodySweepOutcome {
        assert_eq!(free.len(), operator.rows(), "one free velocity per row");
        assert_eq!(impulse.len(), operator.rows(), "one impulse per row");
        assert_eq!(blocks.len(), operator.contacts(), "one block per contact");
        let problem = Problem::new(operator, free, blocks);
        let (settings, how) = (&self.settings, self.how);
        if operator.freedoms() == 3 {
            self.plane.solve(&problem, settings, how, impulse)
        } else if self.turns.are_central(&problem, settings.tolerance) {
            self.balls.solve(&problem, settings, how, impulse)
        } else {
            self.space.solve(&problem, settings, how, impulse)
        }
    }
}

/// Sweeps and no other method.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnlySweeps {
    pub(super) tolerance: f64,
    pub(super) sweeps_max: u32,
    /// Whether momentum keeps its strength where the changes of the sweeps grow.
    pub(super) full: bool,
}

impl OnlySweeps {
    /// With momentum that adapts.
    pub(super) fn adaptive(tolerance: f64, sweeps_max: u32) -> Self {
        Self {
            tolerance,
            sweeps_max,
            full: false,
        }
    }

    /// With full momentum.
    pub(super) fn full(tolerance: f64, sweeps_max: u32) -> Self {
        Self {
            full: true,
            ..Self::adaptive(tolerance, sweeps_max)
        }
    }
}

impl BodySweepSolver {
    /// Sweeps from the impulses given, on one thread; leaves the best point checked.
    pub(super) fn only_sweep(
        &mut self,
        (operator, free, blocks): (&BodyOperator, &[f64], &[ContactBlock]),
        sweeps: &OnlySweeps,
        impulse: &mut [f64],
    ) -> BodySweepOutcome {
        let problem = Problem::new(operator, free, blocks);
        if operator.freedoms() == 3 {
            self.plane.only_sweep(&problem, sweeps, self.how, impulse)
        } else if self.turns.are_central(&problem, sweeps.tolerance) {
            self.balls.only_sweep(&problem, sweeps, self.how, impulse)
        } else {
            self.space.only_sweep(&problem, sweeps, self.how, impulse)
        }
    }
}

impl ContactSolver for BodySweepSolver {
    fn name(&self) -> &str {
        "body-sweep"
    }

    /// # Panics
    /// If W of the problem is not over bodies: [`CascadeSolver`](crate::solvers::CascadeSolver) solves the others.
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        let Delassus::Bodies(operator) = problem.delassus() else {
            panic!("sweeps over bodies need W over bodies");
        };
        let (free, blocks) = (problem.free(), problem.blocks());
        let outcome = Self::solve(self, operator, free, blocks, &mut solution.impulse);
        solution.iterations = outcome.sweeps as usize;
        solution.cost.products = u64::from(outcome.sweeps);
        solution.cost.second_order = u64::from(outcome.newton);
        solution.cost.method = "body-sweep";
        solution.status = if outcome.unsolved == 0 {
            SolveStatus::Converged
        } else {
            SolveStatus::LimitReached
        };
        // Steps of worlds ask for velocities of bodies, not of contacts.
        solution.local_velocity.clear();
    }

    fn guess_tolerance(&self, _problem: &ContactProblem) -> Option<f64> {
        Some(self.settings.tolerance)
    }

    /// With a third of the sweeps and no rounds of Newton's method without a matrix.
    fn solve_within(
        &mut self,
        tolerance: f64,
        problem: &ContactProblem,
        solution: &mut ContactSolution,
    ) {
        let own = self.settings;
        self.settings = BodySweepSettings {
            tolerance,
            sweeps_max: own.sweeps_max.div_ceil(3),
            rounds_max: 0,
            ..own
        };
        ContactSolver::solve(self, problem, solution);
        self.settings = own;
    }
}
