//! Studies: many steps or many runs that answer one question.
//!
//! [`one_step_problem`] captures the contact problem of a step; [`branches`] lists every solution of it and
//! follows each; [`attainable`] samples A_ε(q, v⁻); [`map`] evaluates a quantity over two parameters;
//! [`ConvergenceStudy`] measures how errors fall with a step or a compliance time.

pub mod attainable;
pub mod branches;
mod convergence;
pub mod map;
mod one_step;

pub use convergence::{ConvergenceRow, ConvergenceStudy, StudyError};
pub use one_step::one_step_problem;
