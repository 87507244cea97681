//! The first step of a scene, studied without running it.

use crate::contact::ContactProblem;
use crate::simulation::studies::branches::BranchStudy;
use crate::simulation::studies::one_step_problem;
use crate::solvers::enumeration::{EnumerationError, EnumerationSettings, Work};
use crate::stepping::{MoreauContactDynamics, TimeSteppingScheme, WorldStepping};
use crate::systems::MechanicalSystem;
use crate::systems::past_motion::SystemWithPast;

use super::{Scene, SceneError};

impl Scene {
    /// The scheme by which single steps are studied, whatever that of the scene: Moreau's with every contact of a gap up to `gap`, or that of
    /// worlds, which find their contacts themselves. It reads normals at the end of the step: a spin that lifts a contact off is seen
    /// in the first one.
    pub fn one_step_scheme(&self, gap: f64) -> Result<Box<dyn TimeSteppingScheme>, SceneError> {
        match self.contact_source() {
            None => Ok(Box::new(MoreauContactDynamics::new(gap))),
            Some(source) => Ok(Box::new(WorldStepping::moreau(source))),
        }
    }

    /// The contact problem of the first step, of length `h`.
    pub fn first_problem(&self, gap: f64, h: f64) -> Result<ContactProblem, SceneError> {
        let mut scheme = self.one_step_scheme(gap)?;
        let (q, v) = self.initial_state();
        let at = (0.0, &q[..], &v[..]);
        self.of_first_sample(|system| one_step_problem(system, scheme.as_mut(), at, h))
    }

    /// All solutions of the first step, of length `h`; the inner error is that of a problem that cannot be enumerated.
    pub fn branches(
        &self,
        gap: f64,
        h: f64,
        settings: &EnumerationSettings,
    ) -> Result<Result<BranchStudy, EnumerationError>, SceneError> {
        self.branches_under(gap, h, settings, &Work::default())
    }

    /// The same under somebody's eyes, who may end it.
    pub fn branches_under(
        &self,
        gap: f64,
        h: f64,
        settings: &EnumerationSettings,
        work: &Work,
    ) -> Result<Result<BranchStudy, EnumerationError>, SceneError> {
        let mut scheme = self.one_step_scheme(gap)?;
        let (q, v) = self.initial_state();
        let at = (0.0, &q[..], &v[..]);
        self.of_first_sample(|system| {
            BranchStudy::under(system, scheme.as_mut(), at, h, (settings, work))
        })
    }

    /// What a study says of the system whose controllers hold what a run has them hold in its first step: their sample at the
    /// start, which reads the velocity after an impact there.
    fn of_first_sample<T>(
        &self,
        study: impl FnOnce(&dyn MechanicalSystem) -> T,
    ) -> Result<T, SceneError> {
        let system = self.system()?;
        if system.controllers().is_empty() {
            return Ok(study(system.as_ref()));
        }
        let run = self.simulation()?;
        Ok(study(&SystemWithPast {
            system: system.as_ref(),
            past: None,
            held: run.held(),
        }))
    }
}
