//! Properties of schemes and solvers on drawn data, orders of convergence, equal bits, reference motions.

mod common;
mod determinism;
mod order_schemes;
mod property_generalized;
mod property_penalty;
mod property_schemes;
mod property_sweeping;
mod reference_motions;
mod refused_systems;
#[cfg(feature = "fclib")]
mod solver_suite;
