//! What the folder of a run holds, and reading it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::records::{Digest, open_regular};
use crate::simulation::studies::branches::BranchTree;
use crate::simulation::{RunFolderError, RunSummary};

use super::{Changes, LoadError, Scene, SceneError, SceneRun, SourceText};

/// Version of the format of run folders; later versions keep reading earlier ones.
pub const RUN_FORMAT: u32 = 1;

/// The scene as run.
pub(super) const SCENE_FILE: &str = "scene.toml";
/// What the folder is.
pub(super) const MANIFEST_FILE: &str = "run.json";

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunManifest {
    /// Version of the format of the folder.
    pub format: u32,
    /// Name of the scene.
    pub scene: String,
    /// Version of the engine that started the run.
    pub engine: String,
    /// The files that the run is made from, with their digests.
    #[doc(hidden)]
    #[serde(default)]
    pub files: Vec<RunFile>,
    /// End times that the run reached before it was extended.
    #[serde(default)]
    pub earlier_ends: Vec<f64>,
}

/// A file that a run is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Name below the run folder.
    pub name: String,
    /// Its digest; two while it is being replaced.
    pub digests: Vec<String>,
}

impl RunFile {
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        Self {
            name: name.to_string(),
            digests: vec![Digest::of(bytes)],
        }
    }
}

/// Why a run could not be started, continued or read.
#[derive(Debug, Error)]
pub enum SceneRunError {
    /// The scene has mistakes.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scene of a folder could not be read.
    #[error(transparent)]
    Read(#[from] LoadError),
    /// Trajectory or checkpoint could not be written or read.
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    /// Another file could not be written or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no such folder.
    #[error("there is no folder {path}")]
    NoFolder {
        /// What was asked for.
        path: PathBuf,
    },
    /// The folder holds no run.
    #[error("{path} holds no run: `run.json` is missing")]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the folder is not the one that was run.
    #[error(
        "{path}: changed since the run was started: digest {found}, expected {expected}\n  = put it back, or start a new run from it"
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: String,
        /// Digest the manifest states.
        expected: String,
    },
    /// The run has gone further than it is asked to go.
    #[error("{path}: the run has reached t = {time} s, it cannot be extended until {until} s")]
    Beyond {
        /// The folder.
        path: PathBuf,
        /// Time reached.
        time: f64,
        /// End asked for.
        until: f64,
    },
    /// A file of the folder is damaged.
    #[error("{path}: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The folder was written by a newer version.
    #[error("{path}: run format {found}, this version reads up to {RUN_FORMAT}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// Folders of runs.
impl SceneRun {
    /// Reads what a folder holds.
    pub fn read_manifest(path: &Path) -> Result<RunManifest, SceneRunError> {
        if !path.is_dir() {
            let path = path.to_path_buf();
            return Err(SceneRunError::NoFolder { path });
        }
        let file = path.join(MANIFEST_FILE);
        if !file.exists() {
            let path = path.to_path_buf();
            return Err(SceneRunError::NoRun { path });
        }
        let manifest: RunManifest = read_json(&file)?;
        if manifest.format > RUN_FORMAT {
            let found = manifest.format;
            return Err(SceneRunError::Version { path: file, found });
        }
        Ok(manifest)
    }

    /// Reads the scene of a folder, as it was run.
    pub fn read_scene(path: &Path) -> Result<Scene, SceneRunError> {
        let source = SourceText::read(&path.join(SCENE_FILE))?;
        Ok(Scene::read(source)?)
    }

    /// The same with changes, for what asks about another problem than that of the run.
    pub fn read_scene_with(path: &Path, changes: &Changes) -> Result<Scene, SceneRunError> {
        let source = SourceText::read(&path.join(SCENE_FILE))?;
        Ok(Scene::read(changes.apply(&source)?)?)
    }

    /// Reads the tree of trajectories of a folder; none unless the run followed branches.
    pub fn read_branches(path: &Path) -> Result<Option<BranchTree>, SceneRunError> {
        let file = path.join("branches.json");
        if !file.exists() {
            return Ok(None);
        }
        read_json(&file).map(Some)
    }

    /// Reads the summary of a folder; none while the run is not over.
    pub fn read_summary(path: &Path) -> Result<Option<RunSummary>, SceneRunError> {
        let file = path.join("summary.json");
        if !file.exists() {
            return Ok(None);
        }
        read_json(&file).map(Some)
    }
}

/// The files that the run is made from must be those it was started with.
pub(super) fn check_files(path: &Path, manifest: &RunManifest) -> Result<(), SceneRunError> {
    for file in &manifest.files {
        let place = path.join(&file.name);
        let bytes = read_regular(&place).map_err(|source| SceneRunError::Io {
            path: place.clone(),
            source,
        })?;
        let found = Digest::of(&bytes);
        if !file.digests.contains(&found) {
            return Err(SceneRunError::Edited {
                path: place,
                found,
                expected: file.digests.join(" or "),
            });
        }
    }
    Ok(())
}

pub(super) fn remove(path: &Path) -> Result<(), SceneRunError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(SceneRunError::Io {
            path: path.to_path_buf(),
            source,
        }),
        _ => Ok(()),
    }
}

pub(super) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, SceneRunError> {
    let text = read_regular(path).map_err(|source| SceneRunError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|source| SceneRunError::Format {
        path: path.to_path_buf(),
        source,
    })
}

pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), SceneRunError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|source| SceneRunError::Format {
        path: path.to_path_buf(),
        source,
    })?;
    text.push(b'\n');
    write_whole(path, &text)
}

/// Writes a file that is either absent or whole, whenever the process dies.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), SceneRunError> {
    let temporary = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| SceneRunError::Io {
        path: path.to_path_buf(),
        source,
    })
}
