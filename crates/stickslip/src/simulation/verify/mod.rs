//! Whether a given motion is a solution: every line of a formulation tested on it.
//!
//! A formulation is a list of conditions, not a scheme. [`verify`] takes a [`Motion`] (of a run, or made by hand) and a
//! [`Formulation`] and answers accepted, or refused with the violated line, the time and the size. It uses the
//! system, the friction sets and small dense algebra only; no scheme and no contact solver.

mod conditions;
mod friction;
mod motion;
mod report;

pub use conditions::{VerifySettings, verify};
pub use motion::{Motion, MotionError, MotionNode};
pub use report::{Formulation, Line, Verification, Violation};
