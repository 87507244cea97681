//! The contact problem of one step, without solving it.

use crate::contact::{ContactProblem, ContactSolution, ContactSolver, SolveStatus};
use crate::records::StepRecord;
use crate::simulation::ControlLoop;
use crate::stepping::{ContactLayout, ContactStage, State, TimeSteppingScheme};
use crate::systems::MechanicalSystem;
use crate::systems::past_motion::SystemWithPast;

/// Leaves the problem as it is; the step then ends without moving the state.
struct Unsolved;

impl ContactSolver for Unsolved {
    fn name(&self) -> &str {
        "unsolved"
    }

    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        solution.impulse.clear();
        solution.impulse.resize(problem.size(), 0.0);
        solution.status = SolveStatus::NoSolution { block: 0 };
    }
}

/// The problem that `scheme` poses for a step of length `h` from (t, q, v). With h = 0 it is that of an
/// impact at the instant; without active contacts it has no blocks. Controllers sample the state that is given.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::one_step_problem;
///
/// let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
/// let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]);
/// let ball = ball.constraint(ground).build(&[0.0])?;
/// // At rest on the ground, a step of 0.1 s under g = 10 m/s²: W = 1/m, q = −g h.
/// let problem = one_step_problem(&ball, &mut MoreauJean::default(), (0.0, &[0.0], &[0.0]), 0.1);
/// assert_eq!((problem.w(0, 0), problem.free()), (1.0, &[-1.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn one_step_problem(
    system: &dyn MechanicalSystem,
    scheme: &mut dyn TimeSteppingScheme,
    (t, q, v): (f64, &[f64], &[f64]),
    h: f64,
) -> ContactProblem {
    let control = match system.held() {
        None => ControlLoop::start(system, (t, q, v)),
        Some(_) => None,
    };
    let Some(control) = control else {
        return touching_problem(system, scheme, (t, q, v), h, &[]);
    };
    let sampled = SystemWithPast {
        system,
        past: system.past(),
        held: control.held(),
    };
    touching_problem(&sampled, scheme, (t, q, v), h, &[])
}

/// The same with further constraints that take part whatever the forecast.
pub(in crate::simulation) fn touching_problem(
    system: &dyn MechanicalSystem,
    scheme: &mut dyn TimeSteppingScheme,
    (t, q, v): (f64, &[f64], &[f64]),
    h: f64,
    also: &[bool],
) -> ContactProblem {
    let layout = ContactLayout::new(system);
    let mut state = State {
        t,
        q: q.to_vec(),
        v: v.to_vec(),
        kinetic: 0.0,
        potential: 0.0,
        impulses: vec![0.0; layout.rows()],
    };
    let mut stage = ContactStage::new(Box::new(Unsolved));
    stage.also.extend_from_slice(also);
    scheme.step(
        system,
        &mut state,
        h,
        t + h,
        &mut stage,
        &mut StepRecord::default(),
    );
    std::mem::take(&mut stage.problem)
}
