//! Watches contacts and sweeps of a world over a run.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::{PhaseTimes, StepRecord};

/// Counts and extremes over the steps of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldWatch {
    /// Largest overlap of two bodies with its time and contact; none where no bodies overlapped.
    pub penetration: Option<(f64, f64, ContactKey)>,
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
    /// Takes note of one step.
    pub fn observe(&mut self, record: &StepRecord) {
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
            let overlap = -contact.gap;
            let worst = self.penetration.map_or(0.0, |(worst, ..)| worst);
            if overlap > worst {
                self.penetration = Some((overlap, record.t, contact.key));
            }
        }
        self.times.find += record.phases.find;
        self.times.build += record.phases.build;
        self.times.solve += record.phases.solve;
        self.times.certify += record.phases.certify;
        self.times.finish += record.phases.finish;
    }
}
