//! Step records, trajectories and the energy ledger.
//!
//! Records compute nothing of mechanics: they hold what a step did and check sums.

mod acting_together;
pub(crate) mod bounces;
mod closing;
pub(crate) mod digest;
mod energy_ledger;
mod event_log;
mod momentum_ledger;
mod npz;
pub(crate) mod painleve_watch;
mod pair_events;
mod present_contact;
mod regular_file;
mod row_file;
pub(crate) mod step_record;
pub(crate) mod trajectory_file;
pub(crate) mod world_rows;
mod world_watch;

pub(crate) use acting_together::ActingTogether;
pub(crate) use closing::ROUNDING_UNITS;
pub(crate) use digest::Digest;
pub use energy_ledger::{EnergyEntry, EnergyLedger};
pub use event_log::{ContactWorks, Event, EventKind, EventLog};
pub use momentum_ledger::{Momentum, MomentumEntry, MomentumLedger};
pub use npz::{Array, Npz};
pub(crate) use painleve_watch::PainleveWatch;
pub use present_contact::PresentContact;
pub(crate) use regular_file::open_regular;
pub(crate) use row_file::{RowFile, RowFormat};
pub(crate) use step_record::PhaseTimes;
pub use step_record::{ContactMode, ContactRecord, PainleveMargin, StepOutcome, StepRecord};
pub(crate) use trajectory_file::{TrajectoryFile, TrajectoryLayout};
pub use trajectory_file::{TrajectoryFileError, TrajectoryReader};
pub(crate) use world_watch::WorldWatch;
