//! Nonsmooth contact dynamics: mechanical systems with unilateral constraints,
//! impacts and exact dry (Coulomb) friction.
//!
//! The modules form a chain; each turns one kind of data into the next:
//!
//! ```text
//! laws ------> contact <------ solvers
//!   \             ^
//!    > systems -> stepping -> simulation -> scene -> command line, Python
//!                    |            ^
//!                 records --------+
//! ```

pub mod algebra;
pub mod contact;
pub mod laws;
pub mod records;
pub mod scene;
pub mod simulation;
pub mod solvers;
pub mod stepping;
pub mod systems;
pub mod validation;
