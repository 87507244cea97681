//! The past of a run, for forces and friction that read it.

use crate::systems::MechanicalSystem;
use crate::systems::past_motion::{Interpolation, PastMotion, SystemWithPast};

use super::{Motion, MotionNode};

/// The system with the motion so far: straight lines between the nodes of the run.
pub(super) struct Past<'a> {
    system: &'a dyn MechanicalSystem,
    motion: Option<PastMotion>,
}

impl<'a> Past<'a> {
    /// The past at the first node.
    pub fn new(system: &'a dyn MechanicalSystem, motion: &Motion) -> Self {
        let first = &motion.nodes[0];
        let start = (&first.q[..], &first.v_left[..]);
        let past = PastMotion::new(system, start, first.t, Interpolation::Affine);
        Self {
            system,
            // A history that cannot be had leaves readings that are not numbers, which no line accepts.
            motion: past.ok().flatten(),
        }
    }

    /// Whether the system reads it.
    pub fn is_read(&self) -> bool {
        self.motion.is_some()
    }

    /// What `read` says of the system that knows its past.
    pub fn reading<T>(&self, read: impl FnOnce(&dyn MechanicalSystem) -> T) -> T {
        match &self.motion {
            Some(past) => read(&SystemWithPast {
                system: self.system,
                past,
            }),
            None => read(self.system),
        }
    }

    /// Goes on to a node.
    pub fn enter(&mut self, node: &MotionNode) {
        if let Some(past) = &mut self.motion {
            past.push(node.t, &node.q);
            past.commit();
        }
    }
}
