//! A scene named on the command line, with the changes made there.

use std::path::Path;

use stickslip::internals::nearest_in_gallery;
use stickslip::scene::{Changes, LoadError, Scene, SceneError, SourceText, find_in_gallery};

/// Changes to a scene.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct SceneOptions {
    /// Give a parameter another value, a number or an expression; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Friction law: frictionless, coulomb, argmin, generalized.
    #[arg(long)]
    pub law: Option<String>,
    /// Impact law: inelastic, newton, poisson, moreau, fremond, energetic.
    #[arg(long)]
    pub impact: Option<String>,
    /// Time-stepping scheme: moreau, moreau-jean, sweeping-process, penalty, event-driven.
    #[arg(long)]
    pub scheme: Option<String>,
    /// What a step with several solutions does: choose, stop, branch.
    #[arg(long)]
    pub on_several: Option<String>,
    /// Which of several solutions a run takes: take-off-first, least-energy, smallest-impulse.
    #[arg(long)]
    pub several_rule: Option<String>,
    /// Generalized law, how sets act together: per-constraint, joint.
    #[arg(long)]
    pub sections: Option<String>,
    /// Generalized law, which constraints span the normal space: all, firm.
    #[arg(long)]
    pub active_space: Option<String>,
    /// Whether positions are corrected: combined, none.
    #[arg(long)]
    pub projection: Option<String>,
    /// Time step, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub step: Option<String>,
    /// End time, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub until: Option<String>,
    /// Tolerance of the contact solver, relative.
    #[arg(long, value_name = "NUMBER")]
    pub tolerance: Option<String>,
    /// Keep every N-th step in the trajectory.
    #[arg(long, value_name = "N")]
    pub every: Option<u64>,
}

/// Reads `NAME=VALUE`.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("expected NAME=VALUE, for example mu=0.3".to_string()),
    }
}

impl SceneOptions {
    /// The changes these options ask for.
    pub fn changes(&self) -> Changes {
        let (parameters, keys) = self.pairs();
        let mut changes = Changes::new();
        for (name, value) in parameters {
            changes = changes.parameter(name, value);
        }
        for (name, value) in keys {
            changes = changes.key(name, value);
        }
        changes
    }

    /// The same as pairs of names and texts: parameters, then settings.
    pub fn pairs(&self) -> (Vec<(String, String)>, Vec<(String, String)>) {
        let every = self.every.map(|every| every.to_string());
        let keys = [
            ("law", &self.law),
            ("impact", &self.impact),
            ("scheme", &self.scheme),
            ("on_several", &self.on_several),
            ("several_rule", &self.several_rule),
            ("sections", &self.sections),
            ("active_space", &self.active_space),
            ("projection", &self.projection),
            ("step", &self.step),
            ("until", &self.until),
            ("tolerance", &self.tolerance),
            ("every", &every),
        ];
        let given = keys.into_iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some((name.to_string(), value.clone()))
        });
        (self.set.clone(), given.collect())
    }
}

/// Why a scene could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SceneArgumentError {
    /// There is no such scene.
    #[error(
        "there is no scene `{name}` in the gallery and no such file{hint}\n  = `stickslip list` shows the gallery"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name, as a question.
        hint: String,
    },
    /// The file could not be read, or has mistakes.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The scene has mistakes.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// A scene with the name under which it runs.
pub struct NamedScene {
    /// Name of the gallery, or of the file without its ending.
    pub name: String,
    /// The scene.
    pub scene: Scene,
}

/// The text of a scene of the gallery or of a file, with its name.
pub fn source(argument: &str) -> Result<(String, SourceText), SceneArgumentError> {
    if let Some(scene) = find_in_gallery(argument) {
        return Ok((scene.name.to_string(), scene.source()));
    }
    let path = Path::new(argument);
    let looks_like_file = path.exists() || argument.contains(['/', '.']);
    if !looks_like_file {
        return Err(SceneArgumentError::Unknown {
            name: argument.to_string(),
            hint: nearest_in_gallery(argument)
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default(),
        });
    }
    let name = path.file_stem().unwrap_or_default();
    let source = SourceText::read(path)?;
    Ok((name.to_string_lossy().into_owned(), source))
}

/// Reads a scene, applies the changes and makes sure that it could run.
pub fn load(argument: &str, changes: &Changes) -> Result<NamedScene, SceneArgumentError> {
    let named = read(argument, changes)?;
    named.scene.simulation()?;
    Ok(named)
}

/// Refuses a world by name where a study knows declared contacts alone.
pub fn refuse_world(argument: &str, study: &str) -> Result<(), String> {
    let (name, text) = source(argument).map_err(|e| e.to_string())?;
    match Scene::read(text) {
        Ok(scene) if scene.world().is_some() => Err(format!(
            "`{name}` is a world, whose contacts are found along the way: {study} works on scenes with [system] or [body]"
        )),
        _ => Ok(()),
    }
}

/// Reads a scene and applies the changes, for commands that put the run together themselves.
pub fn read(argument: &str, changes: &Changes) -> Result<NamedScene, SceneArgumentError> {
    let (name, source) = source(argument)?;
    let scene = Scene::read(changes.apply(&source)?)?;
    Ok(NamedScene { name, scene })
}
