//! The contact problem of one step, without solving it.

use crate::contact::{ContactProblem, ContactSolution, ContactSolver, SolveStatus};
use crate::records::StepRecord;
use crate::stepping::{ContactLayout, ContactStage, State, TimeSteppingScheme};
use crate::systems::MechanicalSystem;

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
/// impact at the instant; without active contacts it has no blocks.
pub fn one_step_problem(
    system: &dyn MechanicalSystem,
    scheme: &mut dyn TimeSteppingScheme,
    (t, q, v): (f64, &[f64], &[f64]),
    h: f64,
) -> ContactProblem {
    touching_problem(system, scheme, (t, q, v), h, &[])
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
