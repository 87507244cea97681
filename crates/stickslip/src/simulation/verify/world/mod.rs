//! Whether the run of a world is what its laws say, step by step and with code that no scheme and no solver shares.
//!
//! A world has no declared constraints, so the formulations of [`super::Formulation`] do not speak of it. What is judged are
//! the recorded numbers: motion of the bodies, contacts with their geometry, impulses and velocities, energies. Every step is
//! taken apart where its scheme puts its parts (drift over (1 − θ)h, kick, drift over θh): positions follow the velocities,
//! momentum of every body is balanced by the recorded impulses, contacts lie where the bodies touch, no bodies overlap,
//! and every impulse obeys its law.
//!
//! Geometry is judged by supports: closest points at a distance equal to the separation along the normal are closest points,
//! whoever found them.

mod contact_laws;
mod energies;
mod flight;
mod form;
mod geometry;
mod groups;
mod judge;
mod law;
mod monitors;
mod node;
mod placed;
mod planted;
mod surface;
mod vector;

pub use judge::{WorldJudgeSettings, verify_world};
pub use node::{NodeContact, WorldMotion, WorldNode};
