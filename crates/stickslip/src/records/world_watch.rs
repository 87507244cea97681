//! Watches contacts and sweeps of a world over a run.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::{PhaseTimes, StepRecord};

/// Counts and extremes over the steps of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldWatch {
    /// Largest overlap of two bodies with its time and contact; none where no bodies overlapped.
    pub penetration: Option<(f64, f64, ContactKey)>,
    /// The same in parts of the slop of the two, below which bodies touch.
    #[serde(default)]
    pub overlap: Option<(f64, f64, ContactKey)>,
    /// Largest number of contacts of a step.
    pub contacts_most: u64,
    /// Contacts of all steps.
    pub contacts_sum: u64,
    /// Largest number of iterations of the contact solver in a step.
    pub sweeps_most: u64,
    /// Iterations of all steps.
    pub sweeps_sum: u64,
    /// Steps in which positions were projected.
    pub projections: u64,
    /// Steps in which sweeps left an island to second-order methods.
    #[serde(default)]
    pub second_order: u64,
    /// Steps whose contact problem was left above the tolerance of the solver.
    pub unsolved: u64,
    /// Steps.
    pub steps: u64,
    /// Seconds spent since the run was started or resumed.
    #[serde(skip)]
    pub times: PhaseTimes,
}

impl WorldWatch {
    /// Takes note of one step; `slop` is that of two bodies.
    pub fn observe(&mut self, record: &StepRecord, slop: impl Fn([u32; 2]) -> f64) {
        self.steps += 1;
        let count = record.present.len() as u64;
        self.contacts_most = self.contacts_most.max(count);
        self.contacts_sum += count;
        self.sweeps_most = self.sweeps_most.max(record.iterations as u64);
        self.sweeps_sum += record.iterations as u64;
        self.projections += u64::from(record.projected);
        self.second_order += u64::from(record.second_order);
        self.unsolved += u64::from(!record.outcome.is_solved());
        for contact in &record.present {
            if !(contact.gap < 0.0) {
                continue;
            }
            let deep = -contact.gap;
            for (worst, value) in [
                (&mut self.penetration, deep),
                (&mut self.overlap, deep / slop(contact.key.owners)),
            ] {
                if worst.is_none_or(|(worst, ..)| value > worst) {
                    *worst = Some((value, record.t, contact.key));
                }
            }
        }
        self.times.find += record.phases.find;
        self.times.build += record.phases.build;
        self.times.solve += record.phases.solve;
        self.times.certify += record.phases.certify;
        self.times.finish += record.phases.finish;
    }
}

#[cfg(test)]
mod tests {
    use super::super::PresentContact;
    use super::*;

    #[test]
    fn overlaps_are_kept_as_depths_and_in_parts_of_the_slop_of_their_bodies() {
        let mut watch = WorldWatch::default();
        let contact = |body: u32, gap: f64| PresentContact {
            key: ContactKey::found(body, 9, 0),
            gap,
            ..PresentContact::default()
        };
        let mut record = StepRecord::default();
        // Body 1 is small: its slop is 10⁻⁴, that of body 2 10⁻².
        let slop = |[body, _]: [u32; 2]| if body == 1 { 1e-4 } else { 1e-2 };
        record.present = vec![contact(1, 0.0), contact(2, 1e-3)];
        watch.observe(&record, slop);
        assert_eq!((watch.penetration, watch.overlap), (None, None));
        record.t = 0.5;
        record.present = vec![contact(1, -2e-4), contact(2, -5e-3)];
        watch.observe(&record, slop);
        let (deepest, steepest) = (watch.penetration.unwrap(), watch.overlap.unwrap());
        assert_eq!(deepest, (5e-3, 0.5, ContactKey::found(2, 9, 0)));
        assert_eq!(steepest, (2.0, 0.5, ContactKey::found(1, 9, 0)));
    }
}
