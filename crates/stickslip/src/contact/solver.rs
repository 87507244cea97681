//! The interface of every solver.

use super::{ContactProblem, ContactSolution};

/// Solves contact problems; owns its workspace.
pub trait ContactSolver: Send + Sync {
    /// Solves `problem`. `solution.impulse` holds the guess on entry (zero where none is known);
    /// on return the impulses, the local velocities and an honest status.
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution);

    /// The same to a tolerance other than the solver's own, with an effort to match. A solver that has no use for it
    /// solves as ever.
    fn solve_within(
        &mut self,
        _tolerance: f64,
        problem: &ContactProblem,
        solution: &mut ContactSolution,
    ) {
        self.solve(problem, solution);
    }

    /// The residual of each island of a problem over bodies within which the solver would leave a guess as it is; none where it has no such rule.
    fn guess_tolerance(&self, _problem: &ContactProblem) -> Option<f64> {
        None
    }

    /// Whether the solver lists the solutions of a problem and takes one of them: contacts that touch and are not forecast to close then take
    /// part in every step, so that the list lacks none.
    fn lists_solutions(&self) -> bool {
        false
    }

    /// Name for records and messages.
    fn name(&self) -> &str;
}
