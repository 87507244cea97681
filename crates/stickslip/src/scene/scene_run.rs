//! The run of a scene in a folder: started, advanced, killed at any instant, resumed, summed up.
//!
//! A folder holds `scene.toml` (the scene as run), `run.json` (what it is, with a format version),
//! `trajectory.npy`, `checkpoint.json` and, when the run is over, `summary.json`,
//! `certificate.json` and, where every branch was followed, `branches.json`. One process writes it at a time
//! ([`RunLock`]); what was edited between two of them is refused when the run goes on.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::quantity::digits;
use crate::records::Digest;
use crate::simulation::{
    Checkpoint, NamedValues, RunEnd, RunFolder, RunFolderError, RunLock, RunSettings, RunSummary,
    Simulation, numbers_per_row,
};

use super::run_manifest::{
    MANIFEST_FILE, RUN_FORMAT, RunFile, RunManifest, SCENE_FILE, SceneRunError, check_files,
    read_regular, remove, write_json, write_whole,
};
use super::{Changes, OnSeveral, Scene, SceneWords, SourceText};

/// Time between checkpoints, unless told otherwise.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
/// Time between looks of an observer.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The clock is read every so many steps: reading it costs as much as a small step.
const CLOCK_EVERY: u32 = 16;

/// Bytes of a trajectory from which on the user is told before the run.
const SIZE_TOLD: f64 = 1e9;
/// A run of a scene that writes its folder.
///
/// ```
/// use std::ops::ControlFlow;
/// use stickslip::records::TrajectoryReader;
/// use stickslip::scene::{Changes, Scene, SceneRun, find_in_gallery};
///
/// let source = find_in_gallery("bouncing-ball").ok_or("no such scene")?.source();
/// let scene = Scene::parse(Changes::new().key("until", 0.1).apply(&source)?)?;
/// let folder = std::env::temp_dir().join(format!("stickslip-example-{}", std::process::id()));
/// let mut run = SceneRun::start("bouncing-ball", scene, &folder)?;
/// let end = run.advance(|_| ControlFlow::Continue(()))?;
/// assert!(run.finish(end)?.certified);
/// assert_eq!(TrajectoryReader::open(&folder.join("trajectory.npy"))?.columns()[0], "t");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SceneRun {
    scene: Scene,
    name: String,
    simulation: Simulation,
    folder: RunFolder,
    began: Stopwatch,
    saved: Stopwatch,
    checkpoint_every: Duration,
}

impl SceneRun {
    /// Starts a run in `path`, which must not hold one, nor other files.
    pub fn start(name: &str, scene: Scene, path: &Path) -> Result<Self, SceneRunError> {
        if RunLock::is_foreign(path) {
            let path = path.to_path_buf();
            return Err(RunFolderError::Foreign { path }.into());
        }
        Self::start_among(name, scene, path)
    }

    /// Starts a run in `path`, which must not hold one, among whatever other files it holds.
    pub fn start_among(name: &str, scene: Scene, path: &Path) -> Result<Self, SceneRunError> {
        let simulation = scene.simulation()?;
        // A folder that is being written is told as such, whether its run has left a checkpoint yet or not.
        let lock = RunLock::acquire(path)?;
        if path.join("checkpoint.json").exists() {
            let path = path.to_path_buf();
            return Err(RunFolderError::Occupied { path }.into());
        }
        let text = scene.text().text().as_bytes();
        write_whole(&path.join(SCENE_FILE), text)?;
        let mut files = vec![RunFile::new(SCENE_FILE, text)];
        // Meshes, matrices and tables go with the scene, so that the folder can be resumed and drawn.
        let beside = Path::new(scene.text().name()).parent();
        for file in scene.files() {
            let from = beside.unwrap_or(Path::new("")).join(&file);
            let to = path.join(&file);
            let copy = || -> io::Result<Vec<u8>> {
                fs::create_dir_all(to.parent().unwrap_or(path))?;
                read_regular(&from)
            };
            let bytes = copy().map_err(|source| SceneRunError::Io {
                path: from.clone(),
                source,
            })?;
            write_whole(&to, &bytes)?;
            files.push(RunFile::new(&file, &bytes));
        }
        let manifest = RunManifest {
            format: RUN_FORMAT,
            scene: name.to_string(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            files,
            earlier_ends: Vec::new(),
        };
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        let folder = RunFolder::create_locked(lock, &simulation, scene.settings.every)?;
        Ok(Self::new(scene, name, simulation, folder))
    }

    /// Goes on with the run in `path` where its last checkpoint left it.
    pub fn resume(path: &Path) -> Result<Self, SceneRunError> {
        let manifest = Self::read_manifest(path)?;
        let lock = RunLock::acquire(path)?;
        check_files(path, &manifest)?;
        Self::resume_locked(path, &manifest, lock)
    }

    /// Goes on with the run in `path` to another end, also where it was over; what it held at its former end stays.
    pub fn extend(path: &Path, until: f64) -> Result<Self, SceneRunError> {
        let mut manifest = Self::read_manifest(path)?;
        let lock = RunLock::acquire(path)?;
        check_files(path, &manifest)?;
        let source = SourceText::read(&path.join(SCENE_FILE))?;
        let former = Scene::read(source.clone())?.settings;
        let changed = Changes::new().key("until", until).apply(&source)?;
        Scene::parse(changed.clone())?;
        // An end that was asked for and not reached can be taken back.
        let checkpoint = path.join("checkpoint.json");
        let time = if checkpoint.exists() {
            let loaded = Checkpoint::load(&checkpoint).map_err(RunFolderError::from)?;
            loaded.time()
        } else {
            0.0
        };
        if !(until >= time) {
            let path = path.to_path_buf();
            return Err(SceneRunError::Beyond { path, time, until });
        }
        // Whatever instant this is killed at, the folder holds one of both runs: the new digest is known before
        // the new scene is there, and no summary tells of an end that is not one.
        for name in ["summary.json", "certificate.json", "branches.json"] {
            remove(&path.join(name))?;
        }
        let text = changed.text().as_bytes();
        if let Some(file) = manifest.files.iter_mut().find(|f| f.name == SCENE_FILE) {
            file.digests.push(Digest::of(text));
        }
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        write_whole(&path.join(SCENE_FILE), text)?;
        if let Some(file) = manifest.files.iter_mut().find(|f| f.name == SCENE_FILE) {
            file.digests = vec![Digest::of(text)];
        }
        let reached = time >= former.until - 1e-9 * former.step;
        if until > former.until && reached {
            manifest.earlier_ends.push(former.until);
        }
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        Self::resume_locked(path, &manifest, lock)
    }

    fn resume_locked(
        path: &Path,
        manifest: &RunManifest,
        lock: RunLock,
    ) -> Result<Self, SceneRunError> {
        let scene = Self::read_scene(path)?;
        let mut simulation = scene.simulation()?;
        let every = scene.settings.every;
        // A run killed before its first checkpoint has not begun.
        let folder = if path.join("checkpoint.json").exists() {
            RunFolder::resume_locked(lock, &mut simulation, every)?
        } else {
            RunFolder::create_locked(lock, &simulation, every)?
        };
        Ok(Self::new(scene, &manifest.scene, simulation, folder))
    }

    fn new(scene: Scene, name: &str, simulation: Simulation, folder: RunFolder) -> Self {
        let now = Stopwatch::start();
        Self {
            scene,
            name: name.to_string(),
            simulation,
            folder,
            began: now,
            saved: now,
            checkpoint_every: CHECKPOINT_EVERY,
        }
    }

    /// Sets the time between checkpoints (one second by default).
    #[must_use]
    pub fn with_checkpoints_every(mut self, interval: Duration) -> Self {
        self.checkpoint_every = interval;
        self
    }

    /// Runs to the end of the scene. About twenty times a second `observe` sees the simulation and
    /// may ask to stop; about every second, and when the run ends or halts, everything is made
    /// durable.
    pub fn advance(
        &mut self,
        mut observe: impl FnMut(&Simulation) -> ControlFlow<()>,
    ) -> Result<RunEnd, SceneRunError> {
        let until = self.scene.settings.until;
        let nearly = until - 1e-9 * self.scene.settings.step;
        let look_every = LOOK_EVERY.min(self.checkpoint_every);
        loop {
            let (folder, mut failure) = (&mut self.folder, None);
            let (looked, mut steps) = (Stopwatch::start(), 0);
            let end = self.simulation.run_until(until, |record| {
                let pushed = if record.t >= nearly {
                    folder.push_last(record)
                } else {
                    folder.push(record)
                };
                if let Err(error) = pushed {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                steps += 1;
                if steps % CLOCK_EVERY == 0 && looked.elapsed() >= look_every {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            if let Some(error) = failure {
                return Err(error.into());
            }
            if matches!(end, RunEnd::Stopped { .. }) {
                self.folder.commit()?;
                return Ok(end);
            }
            let halt = observe(&self.simulation).is_break();
            if halt || end != RunEnd::Interrupted || self.saved.elapsed() >= self.checkpoint_every {
                self.folder.checkpoint(&self.simulation)?;
                self.saved = Stopwatch::start();
            }
            if halt || end != RunEnd::Interrupted {
                return Ok(end);
            }
        }
    }

    /// Sums up the run; an ended one leaves `summary.json` and `certificate.json` in the folder.
    pub fn finish(&self, end: RunEnd) -> Result<RunSummary, SceneRunError> {
        let wall_time = self.began.elapsed().as_secs_f64();
        let settings = self.scene.run_settings(&self.name);
        let facts = self.scene.facts(self.simulation.system());
        let summary = RunSummary::new(&self.simulation, (settings, &facts), end, wall_time);
        if end != RunEnd::Interrupted {
            let path = self.folder.path();
            write_json(&path.join("certificate.json"), &summary.certificate)?;
            if self.scene.settings.on_several == OnSeveral::Branch {
                write_json(&path.join("branches.json"), &self.scene.branch_tree()?)?;
            }
            write_json(&path.join("summary.json"), &summary)?;
        }
        Ok(summary)
    }

    /// What to know beforehand about the size of the trajectory: more than a gigabyte, and how to have less.
    #[must_use]
    pub fn size_warning(&self) -> Option<String> {
        let settings = &self.scene.settings;
        let columns = self.simulation.trajectory_layout().columns().len();
        let left = (settings.until - self.simulation.state().t).max(0.0);
        // Steps end where a controller samples, too.
        let samples = self.simulation.system().controllers().iter();
        let samples: f64 = samples.map(|controller| left / controller.period()).sum();
        let steps = left / settings.step + samples;
        let world = self.simulation.system().as_world();
        let (numbers, contacts) = world.map_or((0, 0), numbers_per_row);
        let row = 8.0 * (columns + numbers + contacts) as f64;
        let bytes = row * steps / settings.every as f64;
        if !(bytes > SIZE_TOLD) {
            return None;
        }
        let wanted = (row * steps / SIZE_TOLD).ceil();
        let about = if settings.adaptive.is_some() {
            "if its step stays as it begins"
        } else if contacts > 0 {
            "if there are as many contacts as in a heap of its bodies"
        } else {
            "as it is"
        };
        let none = if contacts > 0 {
            ", and record = { contacts = \"none\" } leaves the contacts out"
        } else {
            ""
        };
        let columns = columns + numbers;
        Some(format!(
            "the run will write {:.1} GB {about} ({} steps of {columns} columns); --every {wanted} keeps it below 1 GB{none}",
            1e-9 * bytes,
            digits(steps, 3),
        ))
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Scene {
    /// How the scene is run, in words and numbers, under the given name.
    #[doc(hidden)]
    pub fn run_settings(&self, name: &str) -> RunSettings {
        let settings = &self.settings;
        RunSettings {
            scene: name.to_string(),
            title: self.title.clone(),
            scheme: settings.scheme.to_string(),
            law: settings.law.to_string(),
            impact: settings.impact.to_string(),
            step: settings.step,
            until: settings.until,
            tolerance: settings.tolerance,
            every: settings.every,
            on_several: settings.on_several.to_string(),
            several_rule: settings.several_rule.word().to_string(),
            projection: settings.projection.word().to_string(),
            parameters: NamedValues(self.parameters.clone()),
        }
    }
}
