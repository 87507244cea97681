//! Checkpoints: everything a run needs to go on with the same bits.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::contact::Certificate;
use crate::records::{Digest, EnergyLedger, EventLog, MomentumLedger, PainleveWatch, open_regular};
use crate::stepping::State;
use crate::systems::past_motion::PastSnapshot;

use super::positions::PositionWatch;
use super::{ControlMemory, ElasticAccounts, UniquenessWatch, WorldAccounts, WorldMarks};

/// Version of the checkpoint format; from 2 on a checkpoint begins with its digest.
const VERSION: u32 = 3;

/// What every format states.
#[derive(Deserialize)]
struct Stated {
    version: u32,
}

/// How a checkpoint begins, up to its digest.
const HEAD: &[u8] = b"{\"digest\":\"";
/// Digits of the digest, and what follows it.
const DIGITS: usize = 16;
const TAIL: &[u8] = b"\",";
/// Largest checkpoint file, in bytes: twenty times that of a mesh of a million degrees of freedom.
const SIZE_MAX: u64 = 4 << 30;

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
    /// The checkpoint was written by another version.
    #[error("{path}: checkpoint format {found}, this version reads {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is larger than a checkpoint can be.
    #[error("{path}: {size} bytes, a checkpoint has at most {SIZE_MAX}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
    },
    /// The file was changed after it was written.
    #[error("{path}: changed since it was written: digest {found}, expected {expected}")]
    Edited {
        /// The file.
        path: PathBuf,
        /// Digest of what is there.
        found: String,
        /// Digest it states.
        expected: String,
    },
    /// A number or a list that no run can have.
    #[error("{path}: not a state of this run: {what}")]
    Absurd {
        /// The file.
        path: PathBuf,
        /// Which, and what was expected.
        what: String,
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

/// Most steps of a run: what a floating-point number counts exactly.
const STEPS_MAX: u64 = 1 << 53;
/// Most steps that are decided before they are taken: two halves.
const PLANNED_MAX: usize = 2;

impl CheckpointError {
    /// The same error, about the file it was found in.
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        let (Self::Io { path, .. }
        | Self::Format { path, .. }
        | Self::Version { path, .. }
        | Self::TooLarge { path, .. }
        | Self::Edited { path, .. }
        | Self::Absurd { path, .. }
        | Self::OtherSystem { path, .. }
        | Self::OtherPast { path }) = &mut self;
        *path = file.to_path_buf();
        self
    }
}

/// The state of a run between two steps.
///
/// ```
/// use stickslip::prelude::*;
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let mut run = scene.simulation()?;
/// run.run_until(0.3, |_| ControlFlow::Continue(()));
/// let saved = run.checkpoint();
/// run.run_until(1.0, |_| ControlFlow::Continue(()));
/// // Another run that goes on from there ends with the same bits.
/// let mut again = scene.simulation()?;
/// again.restore(saved)?;
/// again.run_until(1.0, |_| ControlFlow::Continue(()));
/// assert_eq!((&again.state().q, &again.state().v), (&run.state().q, &run.state().v));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    /// Number of the last step.
    pub(crate) step: u64,
    /// Steps of fixed length that were cut short.
    #[serde(default)]
    pub(crate) cuts: u64,
    /// Whether the last one was.
    #[serde(default)]
    pub(crate) cut: bool,
    /// Rows of the trajectory that belong to it.
    pub(crate) rows: u64,
    /// Digest of those rows.
    #[serde(default)]
    pub(crate) trajectory: Option<String>,
    /// State after the last step.
    pub(crate) state: State,
    /// Energy account so far.
    pub(crate) ledger: EnergyLedger,
    /// Certificate so far.
    pub(crate) certificate: Certificate,
    /// Events so far.
    pub(crate) events: EventLog,
    /// Current step length of an adaptive run.
    pub(crate) h: f64,
    /// Steps decided but not yet taken.
    pub(crate) planned: Vec<f64>,
    /// Largest stick jitter so far.
    pub(crate) stick_jitter: f64,
    /// The past motion, for systems that read it.
    #[serde(default)]
    pub(crate) past: Option<PastSnapshot>,
    /// What the scheme remembers.
    #[serde(default)]
    pub(crate) scheme: Option<serde_json::Value>,
    /// How near the contacts came to the Painlevé region.
    #[serde(default)]
    pub(crate) painleve: PainleveWatch,
    /// What is known of the uniqueness of the last contact problem.
    #[serde(default)]
    pub(crate) uniqueness: UniquenessWatch,
    /// Controllers and what they hold.
    #[serde(default)]
    pub(crate) control: Option<ControlMemory>,
    /// Watch over the positions.
    #[serde(default)]
    pub(crate) positions: PositionWatch,
    /// The account of momentum.
    #[serde(default)]
    pub(crate) momentum: MomentumLedger,
    /// Accounts of elastic bodies and their surfaces.
    #[serde(default)]
    pub(crate) elastic: Option<ElasticAccounts>,
    /// Accounts of a world.
    #[serde(default)]
    pub(crate) world: Option<WorldAccounts>,
    /// Rows of the files of a world.
    #[serde(default)]
    pub(crate) files: Option<WorldMarks>,
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
            cuts: 0,
            cut: false,
            rows: 0,
            trajectory: None,
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
            uniqueness: UniquenessWatch::default(),
            control: None,
            positions: PositionWatch::default(),
            momentum: MomentumLedger::default(),
            elastic: None,
            world: None,
            files: None,
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
        let body = serde_json::to_vec(self).map_err(format)?;
        // The digest of all that follows it is the first entry of the object.
        let rest = &body[1..];
        let digest = Digest::of(rest);
        let text = [HEAD, digest.as_bytes(), TAIL, rest].concat();
        let temporary = path.with_extension("new");
        let mut file = File::create(&temporary).map_err(io)?;
        file.write_all(&text).map_err(io)?;
        file.sync_all().map_err(io)?;
        fs::rename(&temporary, path).map_err(io)
    }

    /// Reads a checkpoint; one that was changed since it was written is refused.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let io = |source| CheckpointError::Io {
            path: path.to_path_buf(),
            source,
        };
        let file = open_regular(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        if size > SIZE_MAX {
            let path = path.to_path_buf();
            return Err(CheckpointError::TooLarge { path, size });
        }
        let mut bytes = Vec::new();
        file.take(SIZE_MAX).read_to_end(&mut bytes).map_err(io)?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }

    /// Time that the run has reached.
    pub fn time(&self) -> f64 {
        self.state.t
    }

    /// Reads the text of a checkpoint whatever its digest: a digest cannot be guessed by those who look for what damaged ones do.
    #[doc(hidden)]
    pub fn unsealed(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let path = PathBuf::from("checkpoint");
        let checkpoint: Self = match serde_json::from_slice(bytes) {
            Ok(checkpoint) => checkpoint,
            Err(source) => {
                return Err(match serde_json::from_slice(bytes) {
                    Ok(Stated { version: found }) if found != VERSION => {
                        CheckpointError::Version { path, found }
                    }
                    _ => CheckpointError::Format { path, source },
                });
            }
        };
        // The first format had no digest of its own.
        if checkpoint.version != VERSION {
            let found = checkpoint.version;
            return Err(CheckpointError::Version { path, found });
        }
        Ok(checkpoint)
    }

    /// Reads the text of a checkpoint.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let path = PathBuf::from("checkpoint");
        let checkpoint = Self::unsealed(bytes)?;
        let stated = bytes.strip_prefix(HEAD).unwrap_or_default();
        let expected = stated.get(..DIGITS).unwrap_or_default();
        let rest = stated.get(DIGITS + TAIL.len()..).unwrap_or_default();
        let found = Digest::of(rest);
        if expected != found.as_bytes() {
            let expected = String::from_utf8_lossy(expected).into_owned();
            return Err(CheckpointError::Edited {
                path,
                found,
                expected,
            });
        }
        Ok(checkpoint)
    }

    /// What no run can have: sizes that do not fit the run, numbers that are not finite, times that do not go on. Sizes
    /// are those of the list of numbers themselves, so that nothing is allocated for them before.
    pub(crate) fn check(
        &self,
        (coordinates, dof, rows): (usize, usize, usize),
        t_start: f64,
    ) -> Result<(), CheckpointError> {
        let state = &self.state;
        let path = || PathBuf::from("checkpoint");
        if state.q.len() != coordinates || state.impulses.len() != rows {
            return Err(CheckpointError::OtherSystem {
                path: path(),
                found: state.q.len(),
                expected: coordinates,
            });
        }
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let energies = [state.kinetic, state.potential];
        let what = if state.v.len() != dof {
            format!("{} velocities, expected {dof}", state.v.len())
        } else if !(finite(&state.q) && finite(&state.v) && finite(&state.impulses)) {
            "a coordinate, velocity or impulse is not a finite number".to_string()
        } else if !(state.t.is_finite() && finite(&energies) && state.t >= t_start) {
            format!(
                "time {} or an energy is not a finite number after {t_start}",
                state.t
            )
        } else if self.planned.len() > PLANNED_MAX {
            let count = self.planned.len();
            format!("{count} planned steps, expected at most {PLANNED_MAX}")
        } else if !(self.planned.iter().all(|h| *h > 0.0 && h.is_finite()) && self.h.is_finite()) {
            "a planned step is not a positive number".to_string()
        } else if self.step > STEPS_MAX {
            format!("{} steps, expected at most {STEPS_MAX}", self.step)
        } else if self.cuts > self.step {
            format!("{} cut steps of {}", self.cuts, self.step)
        } else if self.rows > self.step.saturating_add(2) {
            format!("{} rows after {} steps", self.rows, self.step)
        } else {
            return Ok(());
        };
        Err(CheckpointError::Absurd { path: path(), what })
    }
}
