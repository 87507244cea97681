//! A scene: read, checked, ready to be built.

use std::path::Path;
use std::sync::Arc;

use crate::systems::{ElastodynamicSystem, MechanicalSystem, World};

use super::body::BodyModel;
use super::diagnostic::SceneError;
use super::drawing::Drawing;
use super::edit::Changes;
use super::elastic::ElasticModel;
use super::facts::DataRead;
use super::impact_map::SceneImpactMap;
use super::mechanics::GeneralizedModel;
use super::settings::Settings;
use super::source::{LoadError, SourceText};
use super::tables::SceneTable;
use super::world::WorldModel;

/// A scene that was read without mistake.
///
/// ```
/// use std::ops::ControlFlow;
/// use stickslip::scene::{Scene, find_in_gallery};
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let mut run = scene.simulation()?;
/// run.run_until(0.5, |_| ControlFlow::Continue(()));
/// assert!(run.ledger().is_closed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    /// What it shows.
    pub title: String,
    /// Where it is taken from.
    pub source: String,
    /// What the mechanism is.
    pub description: String,
    /// What to look for in the result.
    pub look_for: String,
    /// How it is run.
    pub settings: Settings,
    /// Units of coordinates (`x`) and velocities (`x_dot`) that the scene declares.
    pub units: Vec<(String, String)>,
    /// Parameters with their values, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    pub(super) mechanics: Mechanics,
    pub(super) data: DataRead,
    pub(super) text: SourceText,
    pub(super) drawing: Option<Drawing>,
    pub(super) tables: Vec<SceneTable>,
    pub(super) impact_map: Option<SceneImpactMap>,
}

/// The kinds of systems a scene can hold.
#[derive(Clone, Debug)]
pub(super) enum Mechanics {
    Generalized(Box<GeneralizedModel>),
    Body(Box<BodyModel>),
    Elastic(Box<ElasticModel>),
    World(Box<WorldModel>),
}

impl Scene {
    /// Reads a scene from a file, with changes from the command line.
    pub fn load(path: &Path, changes: &Changes) -> Result<Self, LoadError> {
        let source = changes.apply(&SourceText::read(path)?)?;
        Ok(Self::parse(source)?)
    }

    /// Reads a scene from text and puts its run together once, so that whatever the system itself refuses is
    /// reported as a mistake of the scene, too.
    pub fn parse(source: SourceText) -> Result<Self, SceneError> {
        let scene = Self::read(source)?;
        scene.simulation()?;
        Ok(scene)
    }

    /// Reads a scene from text; all mistakes of the text are reported at once. For callers that build the
    /// [`simulation`](Self::simulation) themselves, or need none.
    pub fn read(source: SourceText) -> Result<Self, SceneError> {
        super::scene_reading::read(&source)
            .map_err(|diagnostics| SceneError::new(source, diagnostics))
    }

    /// The text the scene was read from, changes included.
    #[must_use]
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// Names of the coordinates.
    #[must_use]
    pub fn coordinate_names(&self) -> Vec<String> {
        match &self.mechanics {
            Mechanics::Generalized(model) => model.coordinates.clone(),
            Mechanics::Body(_) => ["x", "y", "z", "qw", "qx", "qy", "qz"]
                .map(String::from)
                .to_vec(),
            Mechanics::Elastic(model) => model.system.coordinate_names().to_vec(),
            Mechanics::World(model) => model.coordinate_names(),
        }
    }

    /// Names of the contacts.
    #[must_use]
    pub fn contact_names(&self) -> Vec<String> {
        match &self.mechanics {
            Mechanics::Generalized(model) => {
                model.contacts.iter().map(|c| c.name.clone()).collect()
            }
            Mechanics::Body(model) => model.contacts.iter().map(|c| c.name.clone()).collect(),
            Mechanics::Elastic(model) => model.contacts.iter().map(|c| c.0.clone()).collect(),
            // Found, not declared.
            Mechanics::World(_) => Vec::new(),
        }
    }

    /// The elastic system, if the scene has one.
    #[must_use]
    pub fn elastic(&self) -> Option<&Arc<ElastodynamicSystem>> {
        match &self.mechanics {
            Mechanics::Elastic(model) => Some(&model.system),
            _ => None,
        }
    }

    /// The world of rigid bodies, if the scene has one.
    #[must_use]
    pub fn world(&self) -> Option<&Arc<World>> {
        match &self.mechanics {
            Mechanics::World(model) => Some(&model.world),
            _ => None,
        }
    }

    /// What a reader should know although nothing is wrong: pairs of materials that were not given.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match &self.mechanics {
            Mechanics::World(model) => &model.warnings,
            _ => &[],
        }
    }

    /// Files that the scene names, beside its own.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut files = match &self.mechanics {
            Mechanics::Elastic(model) => model.files.clone(),
            Mechanics::World(model) => model.files.clone(),
            _ => Vec::new(),
        };
        files.extend(self.tables.iter().map(|table| table.file.clone()));
        files.sort();
        files.dedup();
        files
    }

    /// The shapes of the mechanism, if the scene draws any.
    #[doc(hidden)]
    #[must_use]
    pub fn drawing(&self) -> Option<&Drawing> {
        self.drawing.as_ref()
    }
}
