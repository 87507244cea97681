//! Whether the normals of material contact points are those of their gaps, wherever a run goes.

use crate::contact::ContactKey;
use crate::records::{ContactRecord, StepRecord};
use crate::stepping::ContactScales;
use crate::systems::frame::{ANGLE, misalignment_on_obstacle};
use crate::systems::{ContactFrame, MechanicalSystem};

/// Steps between two looks at contacts that stay closed: along a motion normals turn gradually.
const STEPS: u64 = 16;
/// Part of the length of the run up to which a gap counts as closed: normal and gap need not agree off the obstacle.
pub(in crate::simulation) const NEAR: f64 = 1e-7;

/// Looks at the frames of contacts that carry an impulse: when one begins to, and every 16 steps.
///
/// A frame given by a material point has a normal of its own, an expression or a closure beside the gap. At the start of a run both
/// are compared by the scene; a normal that is right there alone (straight up at the bottom of a bowl) is found here.
#[derive(Debug)]
pub(super) struct FrameWatch {
    /// Constraints with material points.
    material: Vec<usize>,
    /// How many contacts carried an impulse in the step before.
    pressed: usize,
}

impl FrameWatch {
    /// Watches the material contact points of a system; those of meshes are built with their gaps.
    pub fn new(system: &dyn MechanicalSystem) -> Self {
        let is_material = |frame: &ContactFrame| matches!(frame, ContactFrame::Material { .. });
        let constraints = system.constraints().iter().enumerate();
        let material = constraints
            .filter(|(_, c)| c.points().iter().any(|point| is_material(&point.frame)))
            .map(|(c, _)| c);
        let dense = system.sparsity().is_none();
        Self {
            material: material.filter(|_| dense).collect(),
            pressed: 0,
        }
    }

    /// The first contact of the step just made whose normal is not that of its gap.
    #[inline]
    pub fn observe(
        &mut self,
        system: &dyn MechanicalSystem,
        (step, record): (u64, &StepRecord),
        scales: &ContactScales,
    ) -> Option<ContactKey> {
        if self.material.is_empty() {
            return None;
        }
        self.look(system, (step, record), scales)
    }

    /// The same where there are such points.
    #[inline(never)] // Others have no need of its frame.
    fn look(
        &mut self,
        system: &dyn MechanicalSystem,
        (step, record): (u64, &StepRecord),
        scales: &ContactScales,
    ) -> Option<ContactKey> {
        let carries = |contact: &&ContactRecord| record.impulses[contact.start] != 0.0;
        let pressed = record.contacts.iter().filter(carries).count();
        let due = pressed != self.pressed || step.is_multiple_of(STEPS);
        self.pressed = pressed;
        if !due || pressed == 0 {
            return None;
        }
        let mut contacts = record.contacts.iter();
        let foreign = contacts.find(|contact| {
            let (c, point) = (contact.key.constraint(), contact.key.point());
            let watched = carries(contact) && self.material.contains(&c);
            let (place, near) = ((record.t, &record.q[..]), NEAR * scales.length(c));
            let off = || misalignment_on_obstacle(system, (c, point), place, near);
            watched && off().is_some_and(|off| !(off <= ANGLE))
        });
        foreign.map(|contact| contact.key)
    }
}
