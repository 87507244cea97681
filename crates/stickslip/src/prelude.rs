//! Everything a program starts from, in one line.
//!
//! A ball bounces on the ground:
//!
//! ```
//! use stickslip::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 })?;
//! let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
//!     .with_point(ContactFrame::Frictionless, law);
//! let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-9.81]);
//! let ball = ball.constraint(ground).build(&[1.0])?;
//! let mut run = Simulation::of(ball, (&[1.0], &[0.0]), 1e-3)?;
//! run.run_until(3.0, |_| ControlFlow::Continue(()));
//! println!("height {} m after {} s", run.state().q[0], run.state().t);
//! # assert!(run.state().q[0].abs() < 1e-2 && run.ledger().is_closed());
//! # Ok(())
//! # }
//! ```
//!
//! The same from a scene file, with its run folder:
//!
//! ```
//! use stickslip::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = find_in_gallery("bouncing-ball").ok_or("no such scene")?.source();
//! let scene = Scene::parse(Changes::new().parameter("e", 0.5).key("until", 1).apply(&source)?)?;
//! let mut run = scene.simulation()?;
//! assert_eq!(run.run_until(scene.settings.until, |_| ControlFlow::Continue(())), RunEnd::Finished);
//! # Ok(())
//! # }
//! ```

#[doc(no_inline)]
pub use std::ops::ControlFlow;

pub use crate::algebra::{Jet, SymmetricMatrix};
pub use crate::contact::{
    ContactProblem, ContactResidual, ContactSolution, ContactSolver, SolveStatus,
};
pub use crate::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
pub use crate::records::{ContactMode, StepOutcome, StepRecord};
pub use crate::scene::{Changes, Scene, SceneRun, SourceText, find_in_gallery, gallery};
pub use crate::simulation::{RunEnd, Simulation, SimulationSettings};
pub use crate::solvers::{CascadeSolver, GaussSeidel};
pub use crate::stepping::{
    EventDriven, MoreauContactDynamics, MoreauJean, NormalCompliancePenalty, SweepingProcess,
    TimeSteppingScheme,
};
pub use crate::systems::functions::{AutoScalar, GivenScalar};
pub use crate::systems::{
    BilateralConstraint, ContactFrame, ElastodynamicSystem, GeneralizedSystem, MechanicalSystem,
    RigidBody, UnilateralConstraint, World,
};
