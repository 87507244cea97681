//! Events read off the records: impacts, lift-offs, changes between stick and slip.

use serde::{Deserialize, Serialize};

use super::{ContactMode, StepRecord};

/// What happened at a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// An open contact closed.
    Impact,
    /// A closed contact opened.
    LiftOff,
    /// A contact began to stick.
    Stick,
    /// A contact began to slip.
    Slip,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// End of the step in which it happened.
    pub t: f64,
    /// Constraint.
    pub constraint: usize,
    /// Point of the constraint.
    pub point: usize,
    /// What happened.
    pub kind: EventKind,
    /// Normal velocity before the step (negative: approaching).
    pub approach: f64,
    /// Normal impulse of the step.
    pub impulse: f64,
}

/// Collects the events of a run, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    /// Events, oldest first, up to the limit.
    pub events: Vec<Event>,
    /// Number of events that were counted but not kept.
    pub dropped: u64,
    modes: Vec<ContactMode>,
}

/// Events kept; a Zeno run produces any number of them.
const KEPT: usize = 20_000;

impl EventLog {
    /// Last mode of every contact point, in the order of the records.
    pub fn modes(&self) -> &[ContactMode] {
        &self.modes
    }

    /// Reads a record.
    pub fn observe(&mut self, record: &StepRecord) {
        if self.modes.len() != record.contacts.len() {
            // Room for all that is kept: a warm run allocates nothing.
            self.events.reserve_exact(KEPT);
            self.modes = vec![ContactMode::Open; record.contacts.len()];
        }
        for (i, contact) in record.contacts.iter().enumerate() {
            let (before, after) = (self.modes[i], contact.mode);
            self.modes[i] = after;
            let kind = match (before, after) {
                (ContactMode::Open, ContactMode::Open) => continue,
                (ContactMode::Open, _) => EventKind::Impact,
                (_, ContactMode::Open) => EventKind::LiftOff,
                (a, b) if a == b => continue,
                (_, ContactMode::Stick) => EventKind::Stick,
                (_, ContactMode::Slip) => EventKind::Slip,
                (_, ContactMode::Closed) => continue,
            };
            if self.events.len() == KEPT {
                self.dropped += 1;
                continue;
            }
            self.events.push(Event {
                t: record.t,
                constraint: contact.constraint,
                point: contact.point,
                kind,
                approach: contact.approach,
                impulse: record.impulses[contact.start],
            });
        }
    }
}
