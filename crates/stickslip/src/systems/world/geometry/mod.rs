//! Geometry of worlds: shapes with their mass, and the contacts between them.
//!
//! The only place that names the collision crate: its hulls, its tree of boxes and the simplex of its distance algorithm
//! are used, everything between is written here, because contact laws with a certificate need geometry that is exact.

mod broad_phase;
mod detection;
mod gjk;
mod hull;
mod manifold;
mod mass;
mod meeting;
mod mesh_file;
mod mesh_pairs;
mod overlay;
mod pairs;
mod planar_pairs;
mod polyhedron;
mod reduction;
mod refined_normal;
mod separating_axes;
mod shape;
mod shaped_body;
mod solid;
mod surface;
#[cfg(test)]
mod tests;
mod triangle_mesh;
mod vector;

pub use detection::CollisionDetection;
pub(crate) use detection::shapes_of_slot;
pub(crate) use gjk::separating_direction;
pub use mesh_file::{MeshFile, MeshFileError};
pub(crate) use polyhedron::Polyhedron;
pub use shape::ShapeError;
pub use shaped_body::Weight;
pub(crate) use surface::Surface;
