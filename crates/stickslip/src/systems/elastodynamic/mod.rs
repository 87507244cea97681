//! Elastic bodies on meshes: finite elements, loads, supports, contact surfaces.
//!
//! Use it for deformable bodies under small strains (or, with finite strain, large rotations);
//! rigid bodies are cheaper as `systems::rigid`. Smallest example:
//!
//! ```
//! use stickslip::systems::elastodynamic::{ElementKind, Formulation, Material, shapes};
//! use stickslip::systems::ElastodynamicSystem;
//! use stickslip::systems::MechanicalSystem;
//!
//! let mesh = shapes::bar(1, 1.0, 10, ElementKind::Line2);
//! let steel = Material::new(210e9, 0.3, 7800.0);
//! let bar = ElastodynamicSystem::builder(mesh)
//!     .region("all", steel, Formulation::Bar { area: 1e-4 })
//!     .support("left", &[0])
//!     .build()?;
//! assert_eq!(bar.dof(), 10);
//! # Ok::<(), stickslip::systems::elastodynamic::ElastodynamicError>(())
//! ```

mod assembly;
mod builder;
mod contact_pair;
mod element;
mod element_matrices;
mod error;
mod finite_strain;
mod material;
mod mesh;
mod modes;
mod nodes;
mod obstacle;
pub mod quadrature;
pub mod shapes;
mod surface_load;
mod system;

pub use builder::{Damping, ElastodynamicBuilder, LoadFactor};
pub use element::ElementKind;
pub use element_matrices::MassKind;
pub use error::ElastodynamicError;
pub use material::{Formulation, Material};
pub use mesh::{ALL, Group, Mesh};
pub use modes::natural_modes;
pub use nodes::{Motion, NodeMap};
pub use obstacle::{Obstacle, ObstacleMotion, ObstacleShape};
pub use system::{Body, ContactSurface, ElastodynamicSystem};

#[cfg(test)]
mod tests;
