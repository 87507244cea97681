//! The interface of every solver.

use super::{ContactProblem, ContactSolution};

/// Solves contact problems; owns its workspace.
pub trait ContactSolver: Send + Sync {
    /// Solves `problem`. `solution.impulse` holds the guess on entry (zero where none is known);
    /// on return the impulses, the local velocities and an honest status.
    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution);

    /// Name for records and messages.
    fn name(&self) -> &str;
}
