//! What every scheme offers.

use serde::{Deserialize, Serialize};

use crate::algebra::assign;
use crate::records::StepRecord;
use crate::systems::MechanicalSystem;

use super::{ContactStage, PositionCorrection};

/// Position and velocity at a time, with the impulses that warm-start the next contact problem.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time.
    pub t: f64,
    /// Configuration.
    pub q: Vec<f64>,
    /// Right velocity.
    pub v: Vec<f64>,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy, elastic part included.
    pub potential: f64,
    /// Last impulses of every contact point, row by row.
    pub impulses: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Every step keeps a copy of its start: buffers stay.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            t,
            q,
            v,
            kinetic,
            potential,
            impulses,
        } = other;
        (self.t, self.kinetic, self.potential) = (*t, *kinetic, *potential);
        assign(&mut self.q, q);
        assign(&mut self.v, v);
        assign(&mut self.impulses, impulses);
    }
}

/// How long a step of a scheme may be on a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimit {
    /// Beyond this the scheme is unstable.
    pub stable: f64,
    /// Up to this it is accurate.
    pub advised: f64,
}

/// A time-stepping scheme, made by its type and handed to a [`Simulation`](crate::simulation::Simulation), which steps it.
pub trait TimeSteppingScheme: Send + Sync {
    /// Name for records and messages.
    fn name(&self) -> &'static str;

    /// One step of length `h` from `state` to the time `t_end`, into `record`; on a fatal
    /// outcome `state` is left untouched. With `h = 0` the impact law acts at the instant of
    /// the state: that is how an initial velocity, which is a left velocity, meets its constraints.
    #[doc(hidden)]
    fn step(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &mut State,
        h: f64,
        t_end: f64,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    );

    /// Longest sensible step on this system from the configuration q; none where any will do.
    #[doc(hidden)]
    fn step_limit(&self, _system: &dyn MechanicalSystem, _q: &[f64]) -> Option<StepLimit> {
        None
    }

    /// Whether the step itself meets an initial velocity that violates its constraints, so that no
    /// step of length zero precedes it but where a controller reads the velocity after it.
    #[doc(hidden)]
    fn meets_initial_velocity(&self) -> bool {
        false
    }

    /// Whether the scheme steps worlds of bodies, and nothing else.
    fn steps_worlds(&self) -> bool {
        false
    }

    /// What the scheme does about the positions of this system.
    fn position_correction(&self, _system: &dyn MechanicalSystem) -> PositionCorrection {
        PositionCorrection::None
    }

    /// Whether penetration is part of the contact law of this scheme and not an error.
    fn is_compliant(&self) -> bool {
        false
    }

    /// Whether the scheme keeps the past motion itself, finer than its steps.
    #[doc(hidden)]
    fn keeps_past(&self) -> bool {
        false
    }

    /// Whether a step leaves the one contact problem that decides about it in its stage, so that its solutions can be
    /// examined.
    #[doc(hidden)]
    fn poses_one_problem(&self) -> bool {
        true
    }

    /// The velocity that the source of the scheme gives to the end time itself, where it is not that of the last step.
    #[doc(hidden)]
    fn closing_velocity(
        &mut self,
        _system: &dyn MechanicalSystem,
        _state: &State,
        _h: f64,
        _stage: &mut ContactStage,
    ) -> Option<Vec<f64>> {
        None
    }

    /// Local velocities with which the step that was posed last began, per row of its problem: what the velocity of the state and of obstacles gives, without
    /// the bias by which impact laws are read. Empty where the scheme keeps none.
    #[doc(hidden)]
    fn local_velocities_before(&self) -> &[f64] {
        &[]
    }

    /// Makes the scheme read normals at the end of a step, or no more; false if it reads them where it did before anyway.
    #[doc(hidden)]
    fn look_ahead(&mut self, _on: bool) -> bool {
        false
    }

    /// What the scheme itself must find again to go on with the same bits.
    #[doc(hidden)]
    fn memory(&self) -> Option<serde_json::Value> {
        None
    }

    /// Takes up a memory; false if it does not fit.
    #[doc(hidden)]
    fn recall(&mut self, _memory: &serde_json::Value) -> bool {
        true
    }

    /// What the scheme cannot compute on this system; it is refused with this reason before the first step.
    fn refusal(&self, _system: &dyn MechanicalSystem) -> Option<String> {
        None
    }

    /// What a user should know about this scheme on this system before the run.
    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String>;
}
