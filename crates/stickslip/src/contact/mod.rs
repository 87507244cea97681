//! The one-step contact problem, its solution, residuals and certificates.

pub mod coulomb_problem;
pub mod coulomb_residual;
pub mod coulomb_solution;
pub mod fclib;
pub mod global_coulomb_problem;
