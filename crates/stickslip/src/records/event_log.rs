//! Events read off the records: impacts, lift-offs, changes between stick and slip.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

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
    /// The contact.
    pub contact: ContactKey,
    /// What happened.
    pub kind: EventKind,
    /// Normal velocity before the step (negative: approaching).
    pub approach: f64,
    /// Normal impulse of the step.
    pub impulse: f64,
}

/// Collects the events of a run, in constant memory.
///
/// An opening that lasts one step is the work of the scheme, not of the body (positions on a curved path
/// drift off the surface and are caught again): it is no lift-off, and its end no impact. A contact that
/// closes without having approached, as one that rests at the start does, has no impact either.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    /// Events, oldest first, up to the limit.
    pub events: Vec<Event>,
    /// Number of events that were counted but not kept.
    pub dropped: u64,
    modes: Vec<ContactMode>,
    /// Contacts that opened in the last step: the event it will be if they stay open, and the mode before.
    #[serde(default)]
    opened: Vec<Option<(Event, ContactMode)>>,
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
        let count = record.contacts.len();
        if self.modes.len() != count {
            // Room for all that is kept: a warm run allocates nothing.
            self.events.reserve_exact(KEPT);
            self.modes = vec![ContactMode::Open; count];
        }
        self.opened.resize(count, None);
        for (i, contact) in record.contacts.iter().enumerate() {
            let after = contact.mode;
            let before = std::mem::replace(&mut self.modes[i], after);
            if (before, after) == (ContactMode::Open, ContactMode::Open) && self.opened[i].is_none()
            {
                continue;
            }
            let event = |kind| Event {
                t: record.t,
                contact: contact.key,
                kind,
                approach: contact.approach,
                impulse: record.impulses[contact.start],
            };
            match (before, after, self.opened[i].take()) {
                (ContactMode::Open, ContactMode::Open, Some((lift_off, _))) => self.keep(lift_off),
                (ContactMode::Open, _, None) if contact.approach < 0.0 => {
                    self.keep(event(EventKind::Impact));
                }
                (ContactMode::Open, _, None) => {}
                (_, ContactMode::Open, _) => {
                    self.opened[i] = Some((event(EventKind::LiftOff), before));
                }
                (_, after, held) => {
                    let before = held.map_or(before, |(_, mode)| mode);
                    match after {
                        _ if before == after => {}
                        ContactMode::Stick => self.keep(event(EventKind::Stick)),
                        ContactMode::Slip => self.keep(event(EventKind::Slip)),
                        ContactMode::Closed | ContactMode::Open => {}
                    }
                }
            }
        }
    }

    fn keep(&mut self, event: Event) {
        if self.events.len() == KEPT {
            self.dropped += 1;
            return;
        }
        // A lift-off is known one step late; its place is that of its time.
        let later = self.events.iter().rev().take_while(|e| e.t > event.t);
        let place = self.events.len() - later.count();
        self.events.insert(place, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::ContactRecord;

    fn log(modes: &[ContactMode], approach: f64) -> Vec<(f64, EventKind)> {
        let mut log = EventLog::default();
        for (k, &mode) in modes.iter().enumerate() {
            let contact = ContactRecord {
                mode,
                approach,
                size: 1,
                ..Default::default()
            };
            let record = StepRecord {
                t: k as f64,
                contacts: vec![contact],
                impulses: vec![0.0],
                ..Default::default()
            };
            log.observe(&record);
        }
        log.events.iter().map(|e| (e.t, e.kind)).collect()
    }

    #[test]
    fn an_opening_of_one_step_is_no_event() {
        use ContactMode::{Open, Slip, Stick};
        let events = log(
            &[Open, Slip, Open, Slip, Open, Stick, Open, Open, Open, Slip],
            -1.0,
        );
        let expected = [
            (1.0, EventKind::Impact),
            (5.0, EventKind::Stick),
            (6.0, EventKind::LiftOff),
            (9.0, EventKind::Impact),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn a_contact_at_rest_has_no_impact() {
        use ContactMode::{Open, Slip, Stick};
        let events = log(&[Open, Slip, Slip, Stick], 0.0);
        assert_eq!(events, [(3.0, EventKind::Stick)]);
    }
}
