//! Rigid bodies in space.

mod free_rotation;
mod quaternion;
mod rigid_body;

pub use quaternion::UnitQuaternion;
pub use rigid_body::{RigidBody, RigidBodyBuilder};
