//! Nonsmooth contact dynamics: mechanical systems with unilateral constraints,
//! impacts and exact dry (Coulomb) friction.
//!
//! The modules form a chain; each turns one kind of data into the next:
//!
//! ```text
//! laws ------> contact <------ solvers
//!   \             ^
//!    > systems -> stepping -> simulation -> scene -> view -> validation, command line
//!                    |            ^
//!                 records --------+
//! ```
//!
//! Start with [`prelude`], which shows the smallest program.
//!
//! Keys in brackets such as [Paoli2015] are entries of `REFERENCES.md`; a test keeps them known.

// Reference keys look like links to rustdoc; `tests/tidy.rs` checks them instead.
#![allow(rustdoc::broken_intra_doc_links)]
// Pages of public modules may explain parts that are not public.
#![allow(rustdoc::private_intra_doc_links)]

pub mod algebra;
mod clock;
pub mod contact;
#[doc(hidden)]
pub mod internals;
pub mod laws;
mod parallel;
pub mod prelude;
mod quantity;
pub mod records;
pub mod scene;
pub mod simulation;
pub mod solvers;
pub mod stepping;
pub mod systems;
pub mod view;
