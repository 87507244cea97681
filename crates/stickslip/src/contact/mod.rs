//! The contact problem, its solution, residuals and certificates.
//!
//! A problem knows no bodies, no time, no scheme: `w = W p + q` and one law per block. It is filled by a step, built from
//! matrices, or read from a file; any [`ContactSolver`] solves it and [`ContactResidual`] judges the answer with code that no
//! solver shares.

mod block;
pub(crate) mod certificate;
mod coulomb;
pub(crate) mod delassus;
mod disc_residual;
#[cfg(feature = "fclib")]
pub mod fclib;
mod generalized_residual;
mod global_form;
mod islands;
mod key;
pub(crate) mod normal_stage;
mod problem;
mod residual;
mod slice_residual;
mod solution;
mod solver;

pub use block::{BlockKind, ContactBlock};
pub(crate) use certificate::RankDeficiency;
pub use certificate::{Certificate, VELOCITY_FACTOR, Worst};
pub use coulomb::ContactProblemError;
pub(crate) use coulomb::CoulombData;
pub(crate) use coulomb::{check_friction, check_size, check_vector};
pub(crate) use delassus::ByContact;
pub(crate) use delassus::Delassus;
pub(crate) use delassus::{BodyOperator, NO_BODY};
pub use global_form::{CondensedProblem, GlobalForm};
pub(crate) use islands::Islands;
pub use key::ContactKey;
pub(crate) use normal_stage::{GeneralizedOutcome, NormalStage};
pub(crate) use problem::BodyFill;
pub use problem::ContactProblem;
pub use residual::{BlockResidual, ContactResidual, Judgement};
pub(crate) use residual::{MULTIPLIER_TOLD, SPEED_ROUNDING, rounding_floor};
pub(crate) use slice_residual::slice_defect;
pub use solution::{ContactSolution, SolveCost, SolveStatus};
pub use solver::ContactSolver;
