//! Mechanical systems with unilateral and bilateral constraints.
//!
//! A [`MechanicalSystem`] answers questions (mass, forces, gaps, frames, energies) at a given
//! instant; it is never changed by a step. [`GeneralizedSystem`] is any system in generalized
//! coordinates, [`RigidBody`] a free rigid body in space, [`World`] any number of rigid bodies whose
//! contacts are found. Rates and covectors are always taken
//! with respect to the velocity variables, which differ from the derivatives of the stored
//! coordinates where rotations are kept as quaternions.

pub(crate) mod constraint;
mod controller;
mod driven_system;
pub mod elastodynamic;
pub(crate) mod frame;
pub mod functions;
pub mod generalized;
pub(crate) mod joint;
pub(crate) mod kink;
pub(crate) mod linear_part;
pub(crate) mod passage;
pub mod past_motion;
pub mod rigid;
pub(crate) mod seen_gap;
pub(crate) mod system;
mod system_error;
pub mod world;
mod wrapped_system;

pub use constraint::UnilateralConstraint;
pub use controller::SampledController;
pub use driven_system::Drive;
pub(crate) use driven_system::DrivenSystem;
pub use elastodynamic::ElastodynamicSystem;
pub use frame::ContactFrame;
pub use generalized::{GeneralizedSystem, GeneralizedSystemBuilder};
pub use joint::BilateralConstraint;
pub(crate) use linear_part::ElasticScratch;
pub(crate) use linear_part::LinearPart;
pub use rigid::RigidBody;
pub(crate) use system::Sparsity;
pub use system::{ForceDependence, Instant, MechanicalSystem};
pub use system_error::SystemError;
pub use world::World;
