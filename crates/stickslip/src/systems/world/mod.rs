//! Worlds of rigid bodies whose contacts come and go.
//!
//! A [`World`] is bodies with shapes, gravity and what pairs of materials do to each other; it is immutable during a run.
//! Which contacts may act in a step is told by a [`ContactSource`], which the run owns. Use a
//! [`super::GeneralizedSystem`] for mechanisms with few coordinates and declared gaps.
//!
//! In the plane the same arrays are used with z = 0 and rotation about z; coordinates and contact rows stay planar.

mod body;
mod builder;
pub(crate) mod contact_source;
mod declared_pairs;
mod error;
mod fill;
mod geometry;
mod grid;
mod laws;
mod pose;
mod recording;
mod shape;
mod state;
pub(crate) mod vtp;
#[allow(clippy::module_inception)]
mod world;

pub use body::{BodyForce, BodyMotion, DrivenMotion, Load, WorldBody};
pub use builder::WorldBuilder;
pub use contact_source::ContactSource;
pub(crate) use contact_source::FoundContact;
pub use declared_pairs::DeclaredPairs;
pub use error::WorldError;
pub use fill::{Fill, FillAmount, FillShape, FillSize};
pub use geometry::{CollisionDetection, MeshFile, MeshFileError, ShapeError, Weight};
pub(crate) use geometry::{Polyhedron, Surface, separating_direction, shapes_of_slot};
pub use grid::Grid;
pub use laws::PairLaw;
pub(crate) use laws::PairTable;
pub use pose::{Pose, Twist};
pub use recording::{BodyGroup, ForceSums, Monitor, MonitorQuantity, Recording};
pub use shape::{PlacedShape, Shape};
pub(crate) use state::WorldState;
pub use world::{Dimension, World};
