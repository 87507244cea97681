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
//! the [`schema`] for editors is read as well; then names get their meaning and texts become
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
mod diagnostic;
pub(crate) mod drawing;
pub(crate) mod edit;
mod elastic;
mod elastic_contact;
mod elastic_keys;
mod elastic_matrices;
mod elastic_mesh;
mod elastic_words;
pub(crate) mod expression;
mod facts;
mod first_step;
mod frame;
mod friction;
pub(crate) mod gallery;
mod impact_map;
mod key_kinds;
mod keys;
mod mechanics;
mod program;
mod reader;
mod row_expression;
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
mod words;
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
pub use diagnostic::{Diagnostic, Finding, SceneError};
pub(crate) use drawing::{DrawnShape, Shape};
pub use edit::Changes;
pub use gallery::{GalleryScene, find_in_gallery, gallery};
pub use run_nodes::RunNodesError;
pub use scene::{LoadError, Scene};
pub use scene_map::{Cell, MapAxis, MapPoint, MapQuantity, SceneChart, SceneMap};
pub use scene_run::{
    RunManifest, SceneRun, SceneRunError, read_branches, read_manifest, read_scene, read_summary,
};
pub use scene_sweep::{SceneSweep, SweepOutcome};
pub use schema::schema;
pub use section::{Direction, Section, SectionRule};
pub use settings::Settings;
pub use source::{ReadError, SourceText};
pub use verification::{NoFormulation, VerifyRunError};
pub(crate) use words::SceneWords;
pub use words::{Impact, Law, OnSeveral, Scheme};
