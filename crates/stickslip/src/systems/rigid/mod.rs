//! Rigid bodies in space.

mod quaternion;
mod rigid_body;

pub use quaternion::UnitQuaternion;
pub use rigid_body::{RigidBody, RigidBodyBuilder};
