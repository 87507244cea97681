//! Time-stepping schemes, one file each.
//!
//! A [`TimeSteppingScheme`] turns a system and a state into one contact problem per step, hands it
//! to whatever [`crate::contact::ContactSolver`] it is given, and completes the step with its
//! energy entry. It cannot name a solver.

pub(crate) mod assembly;
mod contact_phases;
pub(crate) mod contact_scales;
pub(crate) mod contact_stage;
pub(crate) mod event_driven;
mod explicit_limit;
mod explicit_positions;
mod explicit_step;
mod frozen_layers;
mod generalized_impact;
mod impact_turning;
mod implicit_step;
mod joints;
mod moreau_contact_dynamics;
mod moreau_jean;
mod moreau_jean_account;
mod moreau_jean_activation;
mod moreau_jean_settings;
mod normal_compliance;
mod normal_compliance_penalty;
mod position_projection;
mod restitution;
pub(crate) mod scheme;
mod slip_friction;
mod state_products;
mod step_energy;
mod step_positions;
pub(crate) mod sweeping_bounds;
mod sweeping_process;
mod world;

pub(crate) use assembly::ContactLayout;
pub(crate) use contact_scales::ContactScales;
pub(crate) use contact_stage::{ContactStage, PosedImpact};
pub use event_driven::{EventDriven, EventDrivenSettings};
pub use joints::JointVelocity;
pub use moreau_contact_dynamics::MoreauContactDynamics;
pub use moreau_jean::MoreauJean;
pub(crate) use moreau_jean_settings::default_theta;
pub use moreau_jean_settings::{Activation, InternalForce, MoreauJeanSettings, ThetaError};
pub use normal_compliance_penalty::NormalCompliancePenalty;
pub(crate) use position_projection::GAP_ROUNDING;
pub use position_projection::{PositionCorrection, Projection};
pub(crate) use scheme::StepLimit;
pub use scheme::{State, TimeSteppingScheme};
pub(crate) use sweeping_bounds::SweepingData;
pub use sweeping_bounds::{SweepingBounds, SweepingRealised};
pub use sweeping_process::SweepingProcess;
pub use world::WorldStepping;
