//! Whether a step went where the gap of a contact or the equation of a joint is not followed: over jumps, over obstacles that rise and
//! level off within the step, over kinks of joints.

use crate::contact::ContactKey;
use crate::records::{ContactRecord, StepOutcome, StepRecord};
use crate::stepping::{ContactScales, State};
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;
use crate::systems::kink::{jumps_shut, leapt_over, rate_jumps, value_jumps};

use super::passage_watch::write_moved;
use super::positions::PositionWatch;

/// Looks at gaps that may jump (`if`, `sign`), at curved gaps and at joints whose rows may jump.
///
/// Where a gap jumps below zero the body is inside the obstacle and met no face of it: there is no normal along which it could be struck, and a
/// correction of the position would lift it over. One that jumps open is an edge from which a body falls, which every scheme computes. What a joint
/// jumps of the velocity at a kink takes an impulse at that place; steps correct the position along the new row and may end on the old side again, where the
/// body turns back.
#[derive(Debug)]
pub(super) struct JumpWatch {
    /// Constraints whose gaps may jump, and those that are not flat.
    torn: Vec<usize>,
    curved: Vec<usize>,
    /// Joints that have kinks.
    joints: Vec<usize>,
    free: Vec<f64>,
    moved: Vec<f64>,
}

/// Part of the length of the run to which a step that went over something is deep at its end: less is not looked at.
const DEEP: f64 = 1e-6;

impl JumpWatch {
    /// Watches the gaps of a system that are not flat and the joints that are not known to be smooth; those of meshes are built of flat
    /// surfaces.
    pub fn new(system: &dyn MechanicalSystem) -> Self {
        // Of bodies that turn no straight way is known.
        let dense = system.sparsity().is_none() && system.coordinate_count() == system.dof();
        let constraints = system.constraints().iter().enumerate();
        let gaps: Vec<_> = constraints
            .filter(|_| dense)
            .map(|(c, constraint)| (c, constraint.gap()))
            .collect();
        let of = |wanted: fn(&dyn ScalarFunction) -> bool| {
            let found = gaps.iter().filter(|(_, gap)| wanted(*gap));
            found.map(|(c, _)| *c).collect::<Vec<_>>()
        };
        let (torn, curved) = (of(|gap| gap.has_jumps()), of(|gap| !gap.is_affine()));
        let joints = system.joints().iter().enumerate();
        let joints = joints.filter(|(_, j)| j.function().has_kinks());
        Self {
            torn,
            curved,
            joints: joints.map(|(j, _)| j).collect(),
            free: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// What the step of a record that began at `from` jumped over; a scheme that locates its events looks by itself.
    #[inline]
    pub fn observe(
        &mut self,
        system: &dyn MechanicalSystem,
        (record, from): (&StepRecord, &State),
        (positions, scales): (&PositionWatch, &ContactScales),
    ) -> Option<StepOutcome> {
        let idle = self.curved.is_empty() && self.joints.is_empty() && self.torn.is_empty();
        if idle || record.located.is_some() || !(record.h > 0.0) {
            return None;
        }
        // Deep is what is more than rounding in the length of the run.
        let deep =
            |contact: &ContactRecord| contact.gap < -DEEP * scales.length(contact.key.constraint());
        let (corrected, below) = positions.corrected_or_below();
        let always = !self.torn.is_empty() || !self.joints.is_empty();
        if !(always || corrected || below && record.contacts.iter().any(deep)) {
            return None;
        }
        self.look(system, (record, from), positions)
    }

    #[cold]
    fn look(
        &mut self,
        system: &dyn MechanicalSystem,
        (record, from): (&StepRecord, &State),
        positions: &PositionWatch,
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
        let least = |function| positions.least(system, function, ends[1]);
        let shut = |&&c: &&usize| jumps_shut(system, gap(c), ends, least(gap(c)));
        let way = (ends, &record.q[..]);
        let over = |&&c: &&usize| leapt_over(system, gap(c), way, moved, least(gap(c)));
        let torn =
            |&&j: &&usize| !value_jumps(system, equation(j), ends, least(equation(j))).is_empty();
        let bent = |&&j: &&usize| rate_jumps(system, equation(j), ends, &record.velocity);
        let contact = |&c: &usize| ContactKey::declared(c, 0);
        if let Some(contact) = self.torn.iter().find(shut).map(contact) {
            return Some(StepOutcome::GapJumps { contact });
        }
        // What was crossed is told as such.
        let over = self.curved.iter().find(over).map(contact);
        if let Some(contact) = over.filter(|_| !positions.crossed()) {
            return Some(StepOutcome::LeaptOver { contact });
        }
        if let Some(&joint) = self.joints.iter().find(torn) {
            return Some(StepOutcome::JointJumps { joint });
        }
        let joint = *self.joints.iter().find(bent)?;
        Some(StepOutcome::JointBends { joint })
    }
}
