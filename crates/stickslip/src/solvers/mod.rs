//! Solvers of the contact problem, one file per method.
//!
//! A time step calls a [`ContactSolver`](crate::contact::ContactSolver): [`CascadeSolver`] by default,
//! [`GaussSeidel`] for friction sets the cascade does not know. People with their own mechanics code
//! give a [`ContactProblem`](crate::contact::ContactProblem) to [`cascade::solve`].
//!
//! | method | good for | not for |
//! |---|---|---|
//! | [`cascade`] | everything; the default | - |
//! | [`accelerated_gauss_seidel`], full momentum | nearly everything up to 1000 contacts | dense sphere packings, where it cycles |
//! | the same, capped or without momentum | packings to 1e-4 and beyond | stacks: 10 to 100 times more sweeps |
//! | [`projected_gradient`] | loose walls to 1e-4 | many digits |
//! | [`proximal_newton`] | the last digits, from a fair start | large packings from a poor start |
//! | [`interior_point`] | towers, columns, hyperstatic stacks | its own last digits |
//! | [`bodies`] | worlds of bodies, from step to step: the fastest per sweep, on any number of threads | - |
//! | [`body_sweep`] | sweeps where many contacts share a body | loose packings |
//! | [`coloured_sweep`] | several threads with the bits of one | one thread |
//! | [`one_contact::coulomb_disc`] | one contact, all solutions of it | - |
//! | [`matrix_free`] | W known only by its products | many digits |
//! | [`minimum_norm`] | one choice among the impulses of the same motion | - |
//! | [`enumeration`], [`uniqueness`] | all solutions of few contacts, or whether there is one | many contacts |
//!
//! ```
//! use stickslip::contact::ContactProblem;
//! use stickslip::solvers::cascade::{CoulombMethod, solve};
//! use stickslip::solvers::SolverLimits;
//! // One block of unit mass, sliding on a floor: W = I.
//! let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
//! let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5]).unwrap();
//! let solution = solve(&problem, CoulombMethod::Cascade, &SolverLimits::default(), None);
//! assert!(solution.status.is_solved());
//! assert!((solution.impulse[1] - 0.5).abs() < 1e-8);
//! ```

pub(crate) mod accelerated_gauss_seidel;
pub(crate) mod bodies;
pub(crate) mod body_sweep;
pub mod cascade;
pub(crate) mod coloured_sweep;
pub mod enumeration;
mod gauss_seidel;
pub(crate) mod generalized_reaction;
pub(crate) mod impact_consistency;
pub(crate) mod interior_point;
mod locality;
pub mod matrix_free;
pub mod minimum_norm;
mod newton_finish;
pub(crate) mod newton_system;
pub(crate) mod one_contact;
mod one_step_cascade;
mod patch;
mod planar_lemke;
pub(crate) mod progress;
pub(crate) mod projected_gradient;
pub(crate) mod proximal_newton;
pub(crate) mod reduced_form;
pub(crate) mod scaled_problem;
mod strategy;
pub(crate) mod sweep;
pub(crate) mod uniqueness;

pub use bodies::{BodySweepSettings, BodySweepSolver};
pub use gauss_seidel::{GaussSeidel, GaussSeidelSettings};
pub use generalized_reaction::{GeneralizedReaction, GeneralizedReactionSettings};
pub use one_step_cascade::CascadeSolver;
pub use progress::SolverLimits;
pub use scaled_problem::StoppingTest;
