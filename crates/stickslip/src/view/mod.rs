//! What a picture of a run needs: shapes, poses, contact places with their frames and friction sections, forces, energies.
//!
//! [`ViewData`] is made from a scene and the rows of its run, whether they come from a run folder ([`ViewData::of_folder`]) or
//! from a simulation in memory ([`ViewData::of_run`]). The page of `stickslip view`, the laboratory in a browser and
//! notebooks draw from it; [`ViewData::encode`] writes it as a head in JSON and one block of bytes.
//!
//! Nothing here computes mechanics: places and axes come from the scene, numbers from the records. What is left out to keep
//! a picture small is told in [`ViewData::notes`].
//!
//! ```
//! use stickslip::scene::find_in_gallery;
//! use stickslip::scene::Scene;
//! use stickslip::view::{ViewData, ViewOptions};
//!
//! let scene = Scene::parse(find_in_gallery("bouncing-ball").unwrap().source())?;
//! let view = ViewData::of_run(&scene, "bouncing-ball", &ViewOptions::default())?;
//! assert!(view.times.len() > 100 && view.summary.unwrap().certified);
//! # Ok::<(), stickslip::scene::SceneError>(())
//! ```

pub(crate) mod bodies;
mod builder;
pub(crate) mod contacts;
pub(crate) mod data;
pub(crate) mod encode;
mod folder;
pub(crate) mod mechanism;
pub(crate) mod mesh;
pub(crate) mod palette;
mod run;
pub(crate) mod sections;

pub(crate) use bodies::{Geometry, ViewBody};
pub(crate) use builder::ViewBuilder;
pub use builder::ViewOptions;
pub(crate) use contacts::{ContactRow, ViewContact};
pub use data::ViewData;
pub(crate) use data::{VIEW_FORMAT, ViewBranch};
pub use folder::ViewError;
pub(crate) use mechanism::ViewLine;
pub(crate) use mesh::{ViewMesh, ViewObstacle};
pub(crate) use sections::ViewSection;
