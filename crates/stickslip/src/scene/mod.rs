//! Scene files: a mechanical system as text, checked with places, ready to run.
//!
//! A scene is a TOML file: a title, parameters, a system in generalized coordinates written the
//! way a mechanician writes it, contacts, initial values, and how to run it:
//!
//! ```
//! use stickslip::scene::{Scene, SourceText};
//!
//! let text = r#"
//!     title = "Bouncing ball"
//!     until = 2
//!     [parameters]
//!     m = 1
//!     g = 9.81
//!     [system]
//!     coordinates = ["y"]
//!     kinetic_energy = "m*y'^2/2"
//!     potential = "m*g*y"
//!     [[contacts]]
//!     gap = "y"
//!     restitution = 0.8
//!     [initial]
//!     y = 1
//! "#;
//! let scene = Scene::parse(SourceText::new("ball.toml", text))?;
//! assert_eq!(scene.title, "Bouncing ball");
//! # Ok::<(), stickslip::scene::SceneError>(())
//! ```
//!
//! Decoding takes two steps: shapes are checked against one table of keys (`keys.rs`), from which
//! the [schema](Scene::schema) for editors is read as well; then names get their meaning and texts become
//! [`expression`]s. Every mistake is reported at once, with its place, in a [`SceneError`].
//!
//! A scene is data: nothing in it can run code, and its size is bounded everywhere.

mod body;
mod build;
mod build_generalized;
mod build_laws;
mod check;
mod contact;
mod contact_keys;
pub(crate) mod contact_places;
mod controllers;
pub(crate) mod diagnostic;
pub(crate) mod drawing;
pub(crate) mod edit;
mod elastic;
mod elastic_contact;
mod elastic_keys;
mod elastic_matrices;
mod elastic_mesh;
mod elastic_records;
mod elastic_words;
pub(crate) mod expression;
mod facts;
mod first_step;
mod frame;
mod friction;
pub(crate) mod gallery;
mod gap_scale;
mod impact_map;
mod key_kinds;
mod keys;
mod mechanics;
mod nudged_starts;
mod program;
mod reader;
mod row_expression;
mod run_manifest;
mod run_nodes;
mod run_records;
#[allow(clippy::module_inception)]
mod scene;
mod scene_file;
mod scene_map;
mod scene_reading;
mod scene_run;
mod scene_sweep;
mod schema;
mod section;
mod settings;
mod source;
mod start_checks;
mod tables;
#[cfg(test)]
mod tests;
mod value;
mod verification;
pub(crate) mod words;
mod world;
mod world_bodies;
mod world_fill;
mod world_keys;
mod world_materials;
mod world_motion;
mod world_nodes;
mod world_record;
mod world_shapes;

pub(crate) use contact_places::{BodyShape, ContactPlace};
pub use diagnostic::{Finding, SceneError};
pub(crate) use drawing::{DrawnShape, Shape};
pub use edit::Changes;
pub use gallery::{GalleryScene, find_in_gallery, gallery};
pub use run_manifest::{RunManifest, SceneRunError};
pub use scene::Scene;
pub use scene_map::{Cell, MapAxis, MapPoint, MapQuantity, SceneChart, SceneMap};
pub use scene_run::SceneRun;
pub use scene_sweep::{SceneSweep, SweepOutcome};
pub use section::{Direction, Section, SectionRule};
pub use settings::Settings;
pub use source::{LoadError, SourceText};
pub use verification::{NoFormulation, VerifyRunError};
pub(crate) use words::{OnSeveral, SceneWords};
