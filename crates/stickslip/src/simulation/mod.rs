//! The loop that joins system, scheme, solver and records.
//!
//! ```
//! use stickslip::laws::{ContactLaw, ImpactLaw};
//! use stickslip::simulation::{Simulation, SimulationSettings};
//! use stickslip::solvers::GaussSeidel;
//! use stickslip::stepping::MoreauJean;
//! use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint, functions::AutoScalar};
//! use stickslip::algebra::Jet;
//!
//! let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 })?;
//! let ground = UnilateralConstraint::new("ground", AutoScalar(|_t: Jet, q: &[Jet]| q[0]))
//!     .with_point(ContactFrame::Frictionless, law);
//! let ball = GeneralizedSystem::builder(["y"])
//!     .mass_diagonal(&[1.0])
//!     .dead_load(&[-9.81])
//!     .constraint(ground)
//!     .build(&[1.0])?;
//! let settings = SimulationSettings::fixed(1e-3);
//! let mut run = Simulation::new(
//!     Box::new(ball),
//!     Box::new(MoreauJean::default()),
//!     Box::new(GaussSeidel::default()),
//!     (&[1.0], &[0.0]),
//!     settings,
//! )?;
//! run.run_until(3.0, |_| std::ops::ControlFlow::Continue(()));
//! assert!(run.state().q[0].abs() < 1e-2 && run.ledger().is_closed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod control_loop;
mod default_run;
pub(crate) mod elastic_accounts;
pub(crate) mod elastic_ledger;
mod frame_watch;
mod gap_zero;
pub(crate) mod hypotheses;
mod joint_space;
mod jump_watch;
mod passage_watch;
pub(crate) mod positions;
mod run_folder;
mod run_lock;
mod run_warnings;
mod simulation_loop;
mod simulation_settings;
mod step_control;
pub mod studies;
pub(crate) mod summary;
mod uniqueness_watch;
pub mod verify;
mod world_files;
mod world_monitors;
pub(crate) mod world_summary;

pub use checkpoint::{Checkpoint, CheckpointError};
pub(crate) use control_loop::{ControlLoop, ControlMemory};
pub(crate) use elastic_accounts::ElasticAccounts;
pub use elastic_accounts::{BodyAccount, SurfaceAccount};
pub use elastic_ledger::ElasticLedger;
pub(crate) use hypotheses::SceneFacts;
pub use hypotheses::{Hypotheses, Hypothesis, Status, TheoremCover};
pub use passage_watch::Crossing;
pub use positions::{Largest, LargestOf, PositionVerdict};
pub use run_folder::{RunFolder, RunFolderError};
pub(crate) use run_lock::RunLock;
pub use simulation_loop::Simulation;
pub use simulation_settings::{OnSeveral, RunEnd, SimulationError, SimulationSettings};
pub use step_control::StepControl;
pub use summary::{EnergySummary, NamedValues, RunOutcome, RunSummary};
pub(crate) use summary::{RunSettings, SummaryEvent};
pub(crate) use uniqueness_watch::UniquenessWatch;
pub(crate) use world_files::{FileMark, WorldMarks, numbers_per_row};
pub(crate) use world_summary::{WorldAccounts, WorldSummary};
