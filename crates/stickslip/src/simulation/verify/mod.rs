//! Whether a given motion is a solution: every line of a formulation tested on it.
//!
//! A formulation is a list of conditions, not a scheme. [`verify`] takes a [`Motion`] (of a run, or made by hand) and a
//! [`Formulation`] and answers accepted, refused with the violated line, the time and the size, or that the
//! formulation does not apply. It uses the system, the friction sets and small dense algebra only; no scheme
//! and no contact solver. A run brings its [`Discretisation`]: where its steps read their laws.

mod corrected_steps;
mod discretisation;
mod exact_motion;
mod formulation;
mod friction;
mod generalized;
mod interval_friction;
mod judge;
mod layers;
mod left_velocity;
mod motion;
mod motion_source;
mod passages;
mod past;
mod path;
mod place;
mod quadrature;
mod reactions;
mod report;
mod run_steps;
mod sliding;
mod subsystems;
mod sum_of_sets;
pub(crate) mod world;

pub use discretisation::{Discretisation, Opening};
pub use formulation::Formulation;
pub(crate) use judge::verify_run;
pub use judge::{VerifySettings, verify};
pub(crate) use motion::contact_rows;
pub use motion::{Motion, MotionError, MotionNode, Quadrature};
pub(crate) use motion_source::MotionSource;
pub use motion_source::MotionSourceError;
pub use report::{Line, Verification, Violation};
