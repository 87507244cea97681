//! Studies: many steps or many runs that answer one question.
//!
//! [`one_step_problem`] captures the contact problem of a step; [`branches`] lists every solution of it and
//! follows each; [`attainable`] samples A_ε(q, v⁻); [`map`] evaluates a quantity over two parameters,
//! [`sweep`] outcomes over any number of them;
//! [`ConvergenceStudy`] measures how errors fall with a step or a compliance time; [`BoundsStudy`] evaluates the
//! a-priori bounds of a run; [`ReactionSplit`] tells the impacts of a compliant run from its lasting contacts;
//! [`neighbours`] draws the fan of end states from nudged starts.

pub mod attainable;
mod bounds;
pub mod branches;
mod choice;
mod convergence;
mod error;
mod joint_surface;
pub(crate) mod map;
mod nearby;
pub mod neighbours;
mod one_step;
mod positive_neighbours;
mod reactions;
pub mod sweep;

pub use bounds::BoundsStudy;
pub use convergence::{ConvergenceRow, ConvergenceStudy, Resolved};
pub use error::StudyError;
pub use one_step::one_step_problem;
pub(super) use one_step::touching_problem;
pub use reactions::{ContactReaction, ReactionAtom, ReactionRecorder, ReactionSplit};
