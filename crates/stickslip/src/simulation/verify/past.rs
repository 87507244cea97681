//! The past of a run and the outputs of its controllers, for forces and friction that read them.

use crate::systems::MechanicalSystem;
use crate::systems::past_motion::{Interpolation, PastMotion, SystemWithPast};

use super::MotionNode;
use crate::simulation::ControlLoop;

/// The system with the motion so far: straight lines between the nodes of the run.
pub(super) struct Past<'a> {
    system: &'a dyn MechanicalSystem,
    motion: Option<PastMotion>,
    control: Option<ControlLoop>,
}

impl<'a> Past<'a> {
    /// The past at the first node.
    pub fn new(system: &'a dyn MechanicalSystem, first: &MotionNode) -> Self {
        let start = (&first.q[..], &first.v_left[..]);
        let past = PastMotion::new(system, start, first.t, Interpolation::Affine);
        Self {
            system,
            // A history that cannot be had leaves readings that are not numbers, which no line accepts.
            motion: past.ok().flatten(),
            control: ControlLoop::start(system, (first.t, &first.q, &first.v_right)),
        }
    }

    /// Whether the system reads it.
    pub fn is_read(&self) -> bool {
        self.motion.is_some()
    }

    /// What `read` says of the system that knows its past.
    pub fn reading<T>(&self, read: impl FnOnce(&dyn MechanicalSystem) -> T) -> T {
        if self.motion.is_none() && self.control.is_none() {
            return read(self.system);
        }
        read(&SystemWithPast {
            system: self.system,
            past: self.motion.as_ref(),
            held: self.control.as_ref().map_or(&[], ControlLoop::held),
        })
    }

    /// Goes on to a node.
    pub fn enter(&mut self, node: &MotionNode) {
        if let Some(past) = &mut self.motion {
            past.push(node.t, &node.q);
            past.commit();
        }
        if let Some(control) = &mut self.control {
            control.observe(node.t, &node.q, &node.v_right);
        }
    }
}
