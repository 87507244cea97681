//! Solvers of the one-step contact problem, one file per method.

pub mod accelerated_gauss_seidel;
pub mod cascade;
mod gauss_seidel;
pub mod one_contact;
pub mod progress;
pub mod projected_gradient;
pub mod scaled_problem;
pub mod sweep;

pub use gauss_seidel::{GaussSeidel, GaussSeidelSettings};
