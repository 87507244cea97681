//! A run on disk: trajectory and checkpoint, always consistent with each other.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::records::{StepRecord, TrajectoryFile, TrajectoryFileError};

use super::{Checkpoint, CheckpointError, Simulation};

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
}

/// Writes the records of a run to `trajectory.npy` and its state to `checkpoint.json`.
///
/// The trajectory is committed before the checkpoint that counts its rows, so that whatever the
/// instant at which the process dies, the last checkpoint finds its rows.
pub struct RunFolder {
    path: PathBuf,
    trajectory: TrajectoryFile,
    every: u64,
}

impl RunFolder {
    /// Starts a run in `path`, which must not hold one; every `every`-th step is kept.
    pub fn create(
        path: &Path,
        simulation: &Simulation,
        every: u64,
    ) -> Result<Self, RunFolderError> {
        fs::create_dir_all(path).map_err(|source| RunFolderError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        if path.join("checkpoint.json").exists() {
            return Err(RunFolderError::Occupied {
                path: path.to_path_buf(),
            });
        }
        let trajectory =
            TrajectoryFile::create(&path.join("trajectory.npy"), simulation.trajectory_layout())?;
        let mut folder = Self {
            path: path.to_path_buf(),
            trajectory,
            every: every.max(1),
        };
        folder.trajectory.push(simulation.record())?;
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
        let checkpoint = Checkpoint::load(&path.join("checkpoint.json"))?;
        let rows = checkpoint.rows;
        simulation.restore(checkpoint)?;
        let trajectory = TrajectoryFile::resume(
            &path.join("trajectory.npy"),
            simulation.trajectory_layout(),
            rows,
        )?;
        Ok(Self {
            path: path.to_path_buf(),
            trajectory,
            every: every.max(1),
        })
    }

    /// Enters a record, unless it is thinned out.
    pub fn push(&mut self, record: &StepRecord) -> Result<(), RunFolderError> {
        if record.step.is_multiple_of(self.every) {
            self.trajectory.push(record)?;
        }
        Ok(())
    }

    /// Enters the last record of a run, which is kept however the others are thinned.
    pub fn push_last(&mut self, record: &StepRecord) -> Result<(), RunFolderError> {
        Ok(self.trajectory.push(record)?)
    }

    /// Makes the rows so far durable and leaves the checkpoint behind: after a step that could not
    /// be made, a resumed run meets that step again and tells the same story.
    pub fn commit(&mut self) -> Result<(), RunFolderError> {
        Ok(self.trajectory.commit()?)
    }

    /// Makes everything so far durable.
    pub fn checkpoint(&mut self, simulation: &Simulation) -> Result<(), RunFolderError> {
        self.trajectory.commit()?;
        let mut checkpoint = simulation.checkpoint();
        checkpoint.rows = self.trajectory.rows();
        Ok(checkpoint.save(&self.path.join("checkpoint.json"))?)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
