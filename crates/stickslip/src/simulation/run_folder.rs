//! A run on disk: trajectory and checkpoint, always consistent with each other.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::records::{StepRecord, TrajectoryFile, TrajectoryFileError};

use super::world_files::WorldFiles;
use super::{Checkpoint, CheckpointError, RunLock, Simulation};

/// Why a run folder could not be used.
#[derive(Debug, Error)]
pub enum RunFolderError {
    /// The trajectory could not be written.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryFileError),
    /// The checkpoint could not be written or read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The folder could not be made.
    #[error("{path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The folder already holds a run.
    #[error("{path} already holds a run: resume it or choose another folder")]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Another process writes into the folder.
    #[error("{path} is being written by a run that is still alive; wait for it or stop it")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The lock of the folder was deleted under a run.
    #[error(
        "{path} was deleted while the run was alive: another one may write into its folder, so this one stops"
    )]
    LockLost {
        /// The file of the lock.
        path: PathBuf,
    },
    /// A run would write through a link, a pipe or a device.
    #[error("{path} is not a regular file, and a run would write into it")]
    Irregular {
        /// What it is.
        path: PathBuf,
    },
    /// The folder holds other files.
    #[error(
        "{path} is not empty and holds no run; choose another folder, or --force to write among its files"
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
}

/// Writes the records of a run to `trajectory.npy` and its state to `checkpoint.json`; of a world its contacts to
/// `contacts.npy` and many bodies to `bodies.npy`.
///
/// The trajectory is committed before the checkpoint that counts its rows, so that whatever the
/// instant at which the process dies, the last checkpoint finds its rows. The checkpoint carries the digest of those rows
/// and its own: what was edited meanwhile is refused. The folder is locked as long as this value lives.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::RunFolder;
///
/// let path = std::env::temp_dir().join(format!("stickslip-folder-{}", std::process::id()));
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let mut run = scene.simulation()?;
/// let mut folder = RunFolder::create(&path, &run, 1)?;
/// run.run_until(0.1, |step| { folder.push(step).unwrap(); ControlFlow::Continue(()) });
/// folder.checkpoint(&run)?;
/// drop(folder);
/// // Another program goes on where this one was.
/// let mut again = scene.simulation()?;
/// RunFolder::resume(&path, &mut again, 1)?;
/// assert_eq!((again.steps(), &again.state().q), (run.steps(), &run.state().q));
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RunFolder {
    lock: RunLock,
    trajectory: TrajectoryFile,
    world: Option<WorldFiles>,
    every: u64,
}

impl RunFolder {
    /// Starts a run in `path`, which must not hold one; every `every`-th step is kept.
    pub fn create(
        path: &Path,
        simulation: &Simulation,
        every: u64,
    ) -> Result<Self, RunFolderError> {
        Self::create_locked(RunLock::acquire(path)?, simulation, every)
    }

    /// Starts a run in a folder that was taken before.
    #[doc(hidden)]
    pub(crate) fn create_locked(
        lock: RunLock,
        simulation: &Simulation,
        every: u64,
    ) -> Result<Self, RunFolderError> {
        let path = lock.path();
        if path.join("checkpoint.json").exists() {
            return Err(RunFolderError::Occupied {
                path: path.to_path_buf(),
            });
        }
        let trajectory =
            TrajectoryFile::create(&path.join("trajectory.npy"), simulation.trajectory_layout())?;
        let world = simulation.system().as_world();
        let world = world.map(|world| WorldFiles::open(path, world, None));
        let mut folder = Self {
            world: world.transpose()?,
            lock,
            trajectory,
            every: every.max(1),
        };
        folder.push_last(simulation.record())?;
        folder.checkpoint(simulation)?;
        Ok(folder)
    }

    /// Goes on with the run in `path`: restores the simulation and cuts the trajectory back to the
    /// last checkpoint.
    pub fn resume(
        path: &Path,
        simulation: &mut Simulation,
        every: u64,
    ) -> Result<Self, RunFolderError> {
        Self::resume_locked(RunLock::acquire(path)?, simulation, every)
    }

    /// Goes on with the run in a folder that was taken before.
    #[doc(hidden)]
    pub(crate) fn resume_locked(
        lock: RunLock,
        simulation: &mut Simulation,
        every: u64,
    ) -> Result<Self, RunFolderError> {
        let file = lock.path().join("checkpoint.json");
        let checkpoint = Checkpoint::load(&file)?;
        let (rows, digest) = (checkpoint.rows, checkpoint.trajectory.clone());
        let marks = checkpoint.files.clone().unwrap_or_default();
        simulation
            .restore(checkpoint)
            .map_err(|error| error.in_file(&file))?;
        let trajectory = TrajectoryFile::resume(
            &lock.path().join("trajectory.npy"),
            simulation.trajectory_layout(),
            rows,
            digest.as_deref(),
        )?;
        let world = simulation.system().as_world();
        let world = world.map(|world| WorldFiles::open(lock.path(), world, Some(&marks)));
        Ok(Self {
            world: world.transpose()?,
            lock,
            trajectory,
            every: every.max(1),
        })
    }

    /// Enters a record, unless it is thinned out.
    pub fn push(&mut self, record: &StepRecord) -> Result<(), RunFolderError> {
        if record.step.is_multiple_of(self.every) {
            self.push_last(record)?;
        }
        Ok(())
    }

    /// Enters the last record of a run, which is kept however the others are thinned.
    pub fn push_last(&mut self, record: &StepRecord) -> Result<(), RunFolderError> {
        if let Some(world) = &mut self.world {
            world.push(record)?;
        }
        Ok(self.trajectory.push(record)?)
    }

    /// Makes the rows so far durable and leaves the checkpoint behind: after a step that could not
    /// be made, a resumed run meets that step again and tells the same story.
    pub fn commit(&mut self) -> Result<(), RunFolderError> {
        if let Some(world) = &mut self.world {
            world.commit()?;
        }
        Ok(self.trajectory.commit()?)
    }

    /// Makes everything so far durable.
    pub fn checkpoint(&mut self, simulation: &Simulation) -> Result<(), RunFolderError> {
        self.lock.check()?;
        self.commit()?;
        let mut checkpoint = simulation.checkpoint();
        checkpoint.rows = self.trajectory.rows();
        checkpoint.trajectory = Some(self.trajectory.digest());
        checkpoint.files = self.world.as_ref().map(WorldFiles::marks);
        Ok(checkpoint.save(&self.path().join("checkpoint.json"))?)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.lock.path()
    }
}
