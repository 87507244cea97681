//! Whether a step went where the gap of a contact or the equation of a joint is not followed: over jumps, over obstacles that rise and
//! level off within the step, over kinks of joints.

use crate::contact::ContactKey;
use crate::records::{StepOutcome, StepRecord};
use crate::stepping::State;
use crate::systems::MechanicalSystem;
use crate::systems::kink::{jumps_shut, leapt_over, rate_jumps, value_jumps};

use super::passage_watch::write_moved;

/// Looks at gaps and joints whose normals may jump, and so perhaps their values (`if`, `sign`).
///
/// Where a gap jumps below zero the body is inside the obstacle and met no face of it: there is no normal along which it could be struck, and a
/// correction of the position would lift it over. One that jumps open is an edge from which a body falls, which every scheme computes. What a joint
/// jumps of the velocity at a kink takes an impulse at that place; steps correct the position along the new row and may end on the old side again, where the
/// body turns back.
#[derive(Debug)]
pub(super) struct JumpWatch {
    constraints: Vec<usize>,
    joints: Vec<usize>,
    free: Vec<f64>,
    moved: Vec<f64>,
}

impl JumpWatch {
    /// Watches the gaps and joints of a system that are not known to be smooth.
    pub fn new(system: &dyn MechanicalSystem) -> Self {
        let constraints = system.constraints().iter().enumerate();
        let joints = system.joints().iter().enumerate();
        Self {
            constraints: constraints
                .filter(|(_, c)| c.gap().has_kinks())
                .map(|(c, _)| c)
                .collect(),
            joints: joints
                .filter(|(_, j)| j.function().has_kinks())
                .map(|(j, _)| j)
                .collect(),
            free: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// What the step of a record that began at `from` jumped over; a scheme that locates its events looks by itself.
    #[inline]
    pub fn observe(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
    ) -> Option<StepOutcome> {
        let idle = self.constraints.is_empty() && self.joints.is_empty();
        if idle || record.located.is_some() || !(record.h > 0.0) {
            return None;
        }
        self.look(system, record, from)
    }

    #[cold]
    fn look(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
    ) -> Option<StepOutcome> {
        // The end of the step before its position was corrected.
        self.free.clone_from(&record.q);
        if record.projection.iter().any(|&x| x != 0.0) {
            system.displace(&record.q, &record.projection, -1.0, &mut self.free);
        }
        write_moved(record, (&from.q, &self.free), &mut self.moved);
        let ends = [(from.t, &from.q[..]), (record.t, &self.free[..])];
        let moved = &self.moved[..];
        let gap = |c: usize| system.constraints()[c].gap();
        let equation = |j: usize| system.joints()[j].function();
        let shut = |&&c: &&usize| jumps_shut(system, gap(c), ends, moved);
        let over = |&&c: &&usize| leapt_over(system, gap(c), ends, moved);
        let torn = |&&j: &&usize| !value_jumps(system, equation(j), ends, moved).is_empty();
        let bent = |&&j: &&usize| rate_jumps(system, equation(j), ends, &record.velocity);
        let contact = |&c: &usize| ContactKey::declared(c, 0);
        let (constraints, joints) = (|| self.constraints.iter(), || self.joints.iter());
        if let Some(contact) = constraints().find(shut).map(contact) {
            return Some(StepOutcome::GapJumps { contact });
        }
        if let Some(contact) = constraints().find(over).map(contact) {
            return Some(StepOutcome::LeaptOver { contact });
        }
        if let Some(&joint) = joints().find(torn) {
            return Some(StepOutcome::JointJumps { joint });
        }
        let joint = *joints().find(bent)?;
        Some(StepOutcome::JointBends { joint })
    }
}
