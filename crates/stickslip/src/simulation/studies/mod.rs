//! Studies: many steps or many runs that answer one question.
//!
//! [`one_step_problem`] captures the contact problem of a step; [`branches`] lists every solution of it and
//! follows each; [`attainable`] samples A_ε(q, v⁻); [`map`] evaluates a quantity over two parameters.

pub mod attainable;
pub mod branches;
pub mod map;
mod one_step;

pub use one_step::one_step_problem;
