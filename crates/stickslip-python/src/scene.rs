//! Scenes, and the questions that are asked of a scene without running it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use stickslip::internals::nearest_in_gallery;
use stickslip::internals::one_contact::gamma;
use stickslip::scene::{Changes, LoadError, SceneRun, SourceText, VerifyRunError, find_in_gallery};
use stickslip::simulation::RunEnd;
use stickslip::simulation::studies::one_step_problem;
use stickslip::simulation::verify::Formulation;
use stickslip::solvers::enumeration::EnumerationSettings;

use crate::error::{folder_error, plain_scene_error, run_error, scene_error};
use crate::threads::detached;

/// A scene that was read without mistake.
#[pyclass(subclass, frozen, module = "stickslip._stickslip")]
pub struct Scene {
    pub scene: Arc<stickslip::scene::Scene>,
    pub name: String,
}

/// Names of the scenes that come with the engine.
#[pyfunction]
pub fn gallery() -> Vec<(String, String)> {
    let scenes = stickslip::scene::gallery();
    let pair = |s: &stickslip::scene::GalleryScene| (s.name.to_string(), s.text.to_string());
    scenes.iter().map(pair).collect()
}

/// Whether a name is that of a setting of a scene.
#[pyfunction]
pub fn is_setting(name: &str) -> bool {
    stickslip::internals::is_setting(name)
}

/// The changes that pairs of names and texts ask for.
pub fn changes(parameters: Vec<(String, String)>, settings: Vec<(String, String)>) -> Changes {
    let mut changes = Changes::new();
    for (name, value) in parameters {
        changes = changes.parameter(name, value);
    }
    for (name, value) in settings {
        changes = changes.key(name, value);
    }
    changes
}

#[pymethods]
impl Scene {
    /// Reads a scene from text; `file` is the name in messages, beside which other files are looked for.
    #[new]
    #[pyo3(signature = (text, name = "scene", file = None))]
    fn new(py: Python<'_>, text: &str, name: &str, file: Option<&str>) -> PyResult<Self> {
        let file = file.map_or_else(|| format!("{name}.toml"), str::to_string);
        let source = SourceText::new(file, text);
        let scene = detached(py, || stickslip::scene::Scene::parse(source));
        Ok(Self {
            scene: Arc::new(scene.map_err(|e| scene_error(&e))?),
            name: name.to_string(),
        })
    }

    /// Text and name of a scene of the gallery.
    #[staticmethod]
    #[pyo3(name = "_find")]
    fn find(name: &str) -> PyResult<(String, String)> {
        match find_in_gallery(name) {
            Some(scene) => Ok((scene.text.to_string(), scene.name.to_string())),
            None => {
                let near = nearest_in_gallery(name);
                let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                let message = format!("there is no scene `{name}` in the gallery{near}");
                Err(plain_scene_error(&message))
            }
        }
    }

    /// The text of a scene file.
    #[staticmethod]
    #[pyo3(name = "_read_text")]
    fn read_text(path: PathBuf) -> PyResult<String> {
        match SourceText::read(&path) {
            Ok(source) => Ok(source.text().to_string()),
            Err(error @ LoadError::Unreadable { .. }) => {
                Err(PyFileNotFoundError::new_err(error.to_string()))
            }
            Err(error) => Err(plain_scene_error(&error.to_string())),
        }
    }

    /// The text with other parameters and settings.
    #[pyo3(name = "_changed_text")]
    fn changed_text(
        &self,
        parameters: Vec<(String, String)>,
        settings: Vec<(String, String)>,
    ) -> PyResult<String> {
        let changed = changes(parameters, settings).apply(self.scene.text());
        let changed = changed.map_err(|e| scene_error(&e))?;
        Ok(changed.text().to_string())
    }

    /// Name of the scene, and of its runs.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("slender-rod").name
    /// 'slender-rod'
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The scene file, changes included.
    ///
    /// >>> import stickslip
    /// >>> "mu = 0.5" in stickslip.scene("sliding-block").replace(mu=0.5).text
    /// True
    #[getter]
    fn text(&self) -> &str {
        self.scene.text().text()
    }

    /// File named in messages, beside which other files of the scene are looked for.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("slender-rod").file
    /// 'slender-rod.toml'
    #[getter]
    fn file(&self) -> &str {
        self.scene.text().name()
    }

    /// What it shows, in a few words.
    ///
    /// >>> import stickslip
    /// >>> stickslip.Scene(stickslip.scene("bouncing-ball").text).title == stickslip.scene("bouncing-ball").title
    /// True
    #[getter]
    fn title(&self) -> &str {
        &self.scene.title
    }

    /// What the mechanism is.
    ///
    /// >>> import stickslip
    /// >>> len(stickslip.scene("slender-rod").description) > 20
    /// True
    #[getter]
    fn description(&self) -> &str {
        &self.scene.description
    }

    /// Where it is taken from.
    ///
    /// >>> import stickslip
    /// >>> isinstance(stickslip.scene("slender-rod").source, str)
    /// True
    #[getter]
    fn source(&self) -> &str {
        &self.scene.source
    }

    /// What to look for in the result.
    ///
    /// >>> import stickslip
    /// >>> isinstance(stickslip.scene("slender-rod").look_for, str)
    /// True
    #[getter]
    fn look_for(&self) -> &str {
        &self.scene.look_for
    }

    /// Names of the coordinates.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("slender-rod").coordinates
    /// ['x', 'y', 'theta']
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.scene.coordinate_names()
    }

    /// Names of the contacts; empty for worlds, whose contacts are found.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("slender-rod").contacts
    /// ['lower tip', 'upper tip']
    #[getter]
    fn contacts(&self) -> Vec<String> {
        self.scene.contact_names()
    }

    /// Files that the scene names, beside its own: tables and meshes.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("slender-rod").files
    /// []
    #[getter]
    fn files(&self) -> Vec<String> {
        self.scene.files()
    }

    /// Whether it is a world of bodies.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("tipping-box").is_world, stickslip.scene("slender-rod").is_world
    /// (True, False)
    #[getter]
    fn is_world(&self) -> bool {
        self.scene.world().is_some()
    }

    /// Names of the bodies of a world.
    ///
    /// >>> import stickslip
    /// >>> len(stickslip.scene("tipping-box").bodies) >= 2
    /// True
    #[getter]
    fn bodies(&self) -> Vec<String> {
        let world = self.scene.world();
        let bodies = world.map_or(&[][..], |world| &world.bodies);
        bodies.iter().map(|body| body.name.clone()).collect()
    }

    /// What a reader should know although nothing is wrong.
    ///
    /// >>> import stickslip
    /// >>> stickslip.scene("sliding-block").warnings
    /// []
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scene.warnings().to_vec()
    }

    /// Parameters with their values, in the order of the file.
    #[pyo3(name = "_parameter_list")]
    fn parameter_list(&self) -> Vec<(String, f64)> {
        self.scene.parameters.clone()
    }

    /// How it is run, as JSON.
    #[pyo3(name = "_settings_json")]
    fn settings_json(&self) -> String {
        // Plain numbers and words always become JSON.
        serde_json::to_string(&self.scene.run_settings(&self.name)).unwrap_or_default()
    }

    /// All solutions of the first step under Coulomb's law, as JSON.
    #[pyo3(name = "_branches_json")]
    fn branches_json(&self, py: Python<'_>, gap: f64, starts: usize) -> PyResult<String> {
        detached(py, || {
            let coulomb = Changes::new().key("law", "coulomb");
            let source = coulomb.apply(self.scene.text());
            let scene = source.and_then(stickslip::scene::Scene::read);
            let scene = scene.map_err(|e| scene_error(&e))?;
            let settings = EnumerationSettings {
                starts,
                ..EnumerationSettings::default()
            };
            let found = scene.branches(gap, scene.settings.step, &settings);
            let found = found.map_err(|e| scene_error(&e))?.map_err(run_error)?;
            Ok(found.to_json().to_string())
        })
    }

    /// Gaps, rows, W and friction of the contacts at a configuration, as JSON.
    #[pyo3(name = "_inspect_json")]
    fn inspect_json(
        &self,
        gap: f64,
        positions: Vec<(usize, f64)>,
        velocities: Vec<(usize, f64)>,
    ) -> PyResult<String> {
        let system = self.scene.system().map_err(|e| scene_error(&e))?;
        let (mut q, mut v) = self.scene.initial_state();
        for (list, values) in [(&mut q, positions), (&mut v, velocities)] {
            for (i, x) in values {
                list[i] = x;
            }
        }
        let constraint = |c: &stickslip::systems::UnilateralConstraint| {
            let value = c.gap().value(0.0, &q);
            serde_json::json!({ "name": c.name(), "gap": value, "active": value <= gap })
        };
        let gaps: Vec<_> = system.constraints().iter().map(constraint).collect();
        let scheme = self.scene.one_step_scheme(gap);
        let mut scheme = scheme.map_err(|e| scene_error(&e))?;
        let problem = one_step_problem(system.as_ref(), scheme.as_mut(), (0.0, &q, &v), 0.0);
        let contact = |block: &stickslip::contact::ContactBlock| {
            let (rows, n) = (block.range(), block.size);
            let w: Vec<Vec<f64>> = rows
                .clone()
                .map(|i| rows.clone().map(|j| problem.w(i, j)).collect())
                .collect();
            // Rows over the bodies of a world have no coordinates of their own.
            let sparse = problem.rows().is_sparse() || system.as_world().is_some();
            let name = match system.as_world() {
                Some(world) => world.contact_name(block.key),
                None => system.constraints()[block.key.constraint()]
                    .name()
                    .to_string(),
            };
            let row = |i: usize| (!sparse).then(|| problem.row(i).to_vec());
            let frictional = n > 1;
            let gamma = frictional.then(|| gamma(&w[0], &block.section));
            serde_json::json!({
                "name": name,
                "point": block.key.point(),
                "rows": rows.clone().map(row).collect::<Vec<_>>(),
                "W": w,
                "local_velocity": &scheme.local_velocities_before()[rows],
                "gamma": gamma,
                "margin": gamma.map(|g| g / w[0][0]),
            })
        };
        let contacts: Vec<_> = problem.blocks().iter().map(contact).collect();
        let all = serde_json::json!({ "constraints": gaps, "contacts": contacts });
        Ok(all.to_string())
    }

    /// Names of the velocity variables.
    #[pyo3(name = "_velocity_names")]
    fn velocity_names(&self) -> PyResult<Vec<String>> {
        let system = self.scene.system().map_err(|e| scene_error(&e))?;
        Ok(system.velocity_names().to_vec())
    }

    /// Runs into a folder, or goes on with what it holds, and returns the outcome and the summary as JSON.
    #[pyo3(name = "_run_in_folder")]
    fn run_in_folder(&self, py: Python<'_>, path: PathBuf) -> PyResult<(String, String)> {
        let scene = stickslip::scene::Scene::clone(&self.scene);
        let name = self.name.clone();
        detached(py, || {
            advance_folder(|| SceneRun::start(&name, scene, &path))
        })
    }

    /// Goes on with the run of a folder.
    #[staticmethod]
    #[pyo3(signature = (path, until = None))]
    #[pyo3(name = "_resume_folder")]
    fn resume_folder(
        py: Python<'_>,
        path: PathBuf,
        until: Option<f64>,
    ) -> PyResult<(String, String)> {
        detached(py, || {
            advance_folder(|| match until {
                None => SceneRun::resume(&path),
                Some(until) => SceneRun::extend(&path, until),
            })
        })
    }
}

/// Runs to the end or to Ctrl-C, after which the folder can be gone on with.
fn advance_folder(
    open: impl FnOnce() -> Result<SceneRun, stickslip::scene::SceneRunError>,
) -> PyResult<(String, String)> {
    let mut run = open().map_err(|e| folder_error(&e))?;
    let mut signal = None;
    let end = run.advance(|_| match Python::attach(|py| py.check_signals()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            signal = Some(error);
            ControlFlow::Break(())
        }
    });
    let end = end.map_err(|e| folder_error(&e))?;
    let summary = run.finish(end).map_err(|e| folder_error(&e))?;
    if let Some(error) = signal {
        return Err(error);
    }
    let word = match end {
        RunEnd::Finished => "finished",
        RunEnd::Interrupted => "interrupted",
        RunEnd::Stopped { .. } => "stopped",
    };
    // Plain numbers, words and lists always become JSON.
    let text = serde_json::to_string(&summary).unwrap_or_default();
    Ok((word.to_string(), text))
}

/// The judgement of the run in a folder, as JSON.
#[pyfunction]
#[pyo3(signature = (path, problem = None))]
pub fn verify_folder(py: Python<'_>, path: PathBuf, problem: Option<&str>) -> PyResult<String> {
    let asked = match problem {
        None => None,
        Some(name) => Some(Formulation::named(name).ok_or_else(|| {
            let known = Formulation::ALL.map(|f| f.to_string()).join(", ");
            PyValueError::new_err(format!("no formulation `{name}`; known: {known}"))
        })?),
    };
    detached(py, || judge_folder(&path, asked))
}

fn judge_folder(path: &Path, asked: Option<Formulation>) -> PyResult<String> {
    let outside = |reason: &dyn std::fmt::Display| {
        serde_json::json!({ "does_not_apply": reason.to_string() }).to_string()
    };
    SceneRun::read_manifest(path).map_err(|e| folder_error(&e))?;
    let scene = SceneRun::read_scene(path).map_err(|e| folder_error(&e))?;
    match scene.verify_folder(path, asked) {
        Ok((report, _)) => {
            // Plain numbers, words and lists always become JSON.
            let mut json = serde_json::to_value(&report).unwrap_or_default();
            json["accepted"] = report.accepted().into();
            let words: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
            json["words"] = words.into();
            Ok(json.to_string())
        }
        Err(VerifyRunError::NoFormulation(reason)) => Ok(outside(&reason)),
        Err(error) => Err(run_error(error)),
    }
}
