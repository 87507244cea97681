//! Elastic bodies on meshes: finite elements, loads, supports, contact surfaces.
//!
//! Use it for deformable bodies under small strains (or, with finite strain, large rotations);
//! rigid bodies are cheaper as `systems::rigid`. Smallest example:
//!
//! ```
//! use stickslip::systems::elastodynamic::{ElementKind, Formulation, Material, Mesh};
//! use stickslip::systems::ElastodynamicSystem;
//! use stickslip::systems::MechanicalSystem;
//!
//! let mesh = Mesh::bar(1, 1.0, 10, ElementKind::Line2);
//! let steel = Material::new(210e9, 0.3, 7800.0);
//! let bar = ElastodynamicSystem::builder(mesh)
//!     .region("all", steel, Formulation::Bar { area: 1e-4 })
//!     .support("left", &[0])
//!     .build()?;
//! assert_eq!(bar.dof(), 10);
//! # Ok::<(), stickslip::systems::elastodynamic::ElastodynamicError>(())
//! ```

mod assembly;
mod body;
mod builder;
mod contact_pair;
mod contacts;
mod coordinate_bound;
mod element;
mod element_matrices;
mod error;
mod finite_strain;
mod gmsh;
mod loads;
mod master_surface;
mod material;
pub(crate) mod matrix_market;
mod mesh;
pub(crate) mod modes;
mod nodes;
mod numbering;
mod obstacle;
pub(crate) mod quadrature;
mod shapes;
mod stress;
mod surface_load;
mod system;
pub(crate) mod vtu;

pub use body::Body;
pub use builder::{Damping, ElastodynamicBuilder};
pub(crate) use coordinate_bound::bounded_coordinate;
pub use element::ElementKind;
pub use element_matrices::MassKind;
pub use error::ElastodynamicError;
pub use material::{Formulation, Material};
pub(crate) use matrix_market::read_matrix_market;
pub use mesh::{Group, Mesh};
pub use obstacle::{Obstacle, ObstacleShape};
pub use stress::ElementStress;
pub use system::{ContactSurface, ElastodynamicSystem};
pub(crate) use vtu::ContactFields;

#[cfg(test)]
mod tests;
