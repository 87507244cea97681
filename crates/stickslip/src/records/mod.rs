//! Step records, trajectories and the energy ledger.
//!
//! Records compute nothing of mechanics: they hold what a step did and check sums.

mod digest;
mod energy_ledger;
mod event_log;
pub mod painleve_watch;
mod regular_file;
mod step_record;
mod trajectory;
mod trajectory_file;

pub use digest::Digest;
pub use energy_ledger::{EnergyEntry, EnergyLedger};
pub use event_log::{Event, EventKind, EventLog};
pub use painleve_watch::PainleveWatch;
pub use regular_file::open_regular;
pub use step_record::{ContactMode, ContactRecord, PainleveMargin, StepOutcome, StepRecord};
pub use trajectory::Trajectory;
pub use trajectory_file::{
    TrajectoryFile, TrajectoryFileError, TrajectoryLayout, TrajectoryReader,
};
