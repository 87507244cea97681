//! Checkpoints: everything a run needs to go on with the same bits.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::contact::Certificate;
use crate::records::{EnergyLedger, EventLog, PainleveWatch};
use crate::stepping::State;
use crate::systems::past_motion::PastSnapshot;

use super::ElasticAccounts;

/// Version of the checkpoint format.
const VERSION: u32 = 1;

/// Why a checkpoint could not be written or read.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// Reading or writing failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a checkpoint.
    #[error("{path}: not a checkpoint: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The checkpoint was written by a newer version.
    #[error("{path}: checkpoint format {found}, this version reads up to {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The checkpoint belongs to a system of another size.
    #[error("{path}: the checkpoint holds {found} coordinates, the system has {expected}")]
    OtherSystem {
        /// The file.
        path: PathBuf,
        /// Coordinates in the checkpoint.
        found: usize,
        /// Coordinates of the system.
        expected: usize,
    },
    /// The checkpoint holds another past motion or the memory of another scheme.
    #[error("{path}: the past motion or the scheme of the checkpoint is not that of this run")]
    OtherPast {
        /// The file.
        path: PathBuf,
    },
}

/// The state of a run between two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    /// Number of the last step.
    pub step: u64,
    /// Rows of the trajectory that belong to it.
    pub rows: u64,
    /// State after the last step.
    pub state: State,
    /// Energy account so far.
    pub ledger: EnergyLedger,
    /// Certificate so far.
    pub certificate: Certificate,
    /// Events so far.
    pub events: EventLog,
    /// Current step length of an adaptive run.
    pub h: f64,
    /// Steps decided but not yet taken.
    pub planned: Vec<f64>,
    /// Largest stick jitter so far.
    pub stick_jitter: f64,
    /// The past motion, for systems that read it.
    #[serde(default)]
    pub past: Option<PastSnapshot>,
    /// What the scheme remembers.
    #[serde(default)]
    pub scheme: Option<serde_json::Value>,
    /// How near the contacts came to the Painlevé region.
    #[serde(default)]
    pub painleve: PainleveWatch,
    /// Accounts of elastic bodies and their surfaces.
    #[serde(default)]
    pub elastic: Option<ElasticAccounts>,
}

impl Checkpoint {
    pub(crate) fn new(
        step: u64,
        state: State,
        ledger: EnergyLedger,
        certificate: Certificate,
        events: EventLog,
    ) -> Self {
        Self {
            version: VERSION,
            step,
            rows: 0,
            state,
            ledger,
            certificate,
            events,
            h: 0.0,
            planned: Vec::new(),
            stick_jitter: 0.0,
            past: None,
            scheme: None,
            painleve: PainleveWatch::default(),
            elastic: None,
        }
    }

    /// Writes the checkpoint so that the file is always whole: a new file replaces the old one.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let io = |source| CheckpointError::Io {
            path: path.to_path_buf(),
            source,
        };
        let format = |source| CheckpointError::Format {
            path: path.to_path_buf(),
            source,
        };
        let text = serde_json::to_vec(self).map_err(format)?;
        let temporary = path.with_extension("new");
        let mut file = File::create(&temporary).map_err(io)?;
        file.write_all(&text).map_err(io)?;
        file.sync_all().map_err(io)?;
        fs::rename(&temporary, path).map_err(io)
    }

    /// Reads a checkpoint.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|source| CheckpointError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        let checkpoint: Self =
            serde_json::from_slice(&bytes).map_err(|source| CheckpointError::Format {
                path: path.to_path_buf(),
                source,
            })?;
        if checkpoint.version > VERSION {
            return Err(CheckpointError::Version {
                path: path.to_path_buf(),
                found: checkpoint.version,
            });
        }
        Ok(checkpoint)
    }
}
