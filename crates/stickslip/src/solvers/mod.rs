//! Solvers of the one-step contact problem, one file per method.

pub mod accelerated_gauss_seidel;
pub mod body_sweep;
pub mod cascade;
pub mod coloured_sweep;
mod gauss_seidel;
pub mod interior_point;
mod newton_finish;
pub mod minimum_norm;
pub mod newton_system;
pub mod one_contact;
mod one_step_cascade;
pub mod progress;
pub mod projected_gradient;
pub mod proximal_newton;
pub mod reduced_form;
pub mod scaled_problem;
mod strategy;
pub mod sweep;

pub use gauss_seidel::{GaussSeidel, GaussSeidelSettings};
pub use one_step_cascade::CascadeSolver;
