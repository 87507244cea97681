//! The one-step contact problem, its solution, residuals and certificates.
//!
//! A problem knows no bodies, no time, no scheme: `w = W p + q` and one law per block. It can be
//! built by a scheme, by hand, or read from a file; any [`ContactSolver`] solves it and
//! [`ContactResidual`] judges the answer with code that no solver shares.

mod block;
mod certificate;
pub mod coulomb_problem;
pub mod coulomb_residual;
pub mod coulomb_solution;
mod delassus;
#[cfg(feature = "fclib")]
pub mod fclib;
mod generalized_residual;
pub mod global_coulomb_problem;
mod key;
mod normal_stage;
mod problem;
mod residual;
mod solution;
mod solver;

pub use block::{BlockKind, ContactBlock};
pub use certificate::{Certificate, Worst};
pub use delassus::{BodyOperator, NO_BODY};
pub use key::ContactKey;
pub use normal_stage::{GeneralizedOutcome, NormalStage};
pub use problem::ContactProblem;
pub use residual::{BlockResidual, ContactResidual};
pub use solution::{ContactSolution, SolveStatus};
pub use solver::ContactSolver;
