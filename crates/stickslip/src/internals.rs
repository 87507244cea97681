//! What our own benches, tests and reference cases call beyond the public face. Nothing here is promised to stay.

pub use crate::algebra::autodiff::{gradient, hessian};
pub use crate::algebra::feasibility::LinearSystem;
pub use crate::algebra::root::bracketed_root;
pub use crate::algebra::small_dense::solve_in_place;
pub use crate::solvers::body_sweep::BodySweep;
pub use crate::solvers::coloured_sweep::ColouredSweep;
pub use crate::solvers::generalized_reaction::{project, support};
pub use crate::solvers::scaled_problem::{ScaledProblem, StoppingTest};
pub use crate::solvers::sweep::{Instructions, SweepMemory, product, sweep};
