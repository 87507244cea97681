//! The step of the generalized law: normal stage, active space, tangential convex program.
//!
//! [`GeneralizedReaction`] solves one-step problems whose blocks follow
//! [`crate::laws::FlowRule::Generalized`]; [`project`] and [`support`] answer questions about one set.

mod any_joint_section;
mod joint_section;
mod local_set;
mod normal_impulses;
mod section_cones;
mod solver;
mod strict;
mod tangential_program;

pub use local_set::{project, support};
pub(in crate::solvers) use solver::Couplings;
pub use solver::{GeneralizedReaction, GeneralizedReactionSettings};
pub(in crate::solvers) use strict::distance as strict_distance;

#[cfg(test)]
mod tests;
