//! Events of pairs of bodies in worlds, whose contacts come and go.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::event_log::{Bounces, Event, EventKind, GAIN};
use super::{ContactMode, PresentContact, StepRecord};

/// An impact moves more energy than this part of the largest kinetic energy so far; below it is rounding.
const MATTERS: f64 = 1e-12;
/// An impact without collision moves at least this part of the largest kinetic energy.
const BLOW: f64 = 1e-6;
/// Longest flight between two bounces, in u/g with the speed u of the first.
const FLIGHT: f64 = 4.0;
/// A gain below this part of the energy that an impact moves is within the tolerance of contact problems in worlds, 1e-8 of all impulses.
const SOLVED: f64 = 1e-6;

/// What is known of the pairs that touched in the last steps.
///
/// A pair of bodies is closed where one of its contacts carries an impulse; it slips where one of them does. It has an impact when it closes and
/// approached faster than gravity gains in two steps, which is where impact laws act in worlds, and a lift-off when it stays open for two
/// steps: contacts of resting faces may lose their impulses for one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PairEvents {
    pairs: Vec<Pair>,
    #[serde(skip)]
    next: Vec<Pair>,
}

/// One pair, named by its first contact that acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pair {
    key: ContactKey,
    mode: ContactMode,
    /// The lift-off that it will be if the pair stays open.
    opened: Option<Event>,
    bounces: Bounces,
    /// Time until which another bounce is awaited.
    awaited: f64,
    /// Normal impulse per unit of time of the last step in contact; none after an impact without collision, with which nothing is compared.
    #[serde(default)]
    steady: Option<f64>,
}

impl Pair {
    /// Whether it touched in the last step, or in the one before and may have opened for one step only.
    fn lasts(&self) -> bool {
        self.mode != ContactMode::Open || self.opened.is_some()
    }
}

/// The contacts of a pair in one step.
struct Touch {
    key: ContactKey,
    mode: ContactMode,
    approach: f64,
    /// Fastest normal velocity after the step.
    leaves: f64,
    impulse: f64,
    work: f64,
    /// Work of friction.
    friction: f64,
}

impl Touch {
    /// `None` where no contact of the pair acts.
    fn of(contacts: &[PresentContact]) -> Option<Self> {
        let mut touch: Option<Self> = None;
        for contact in contacts.iter().filter(|c| c.mode != ContactMode::Open) {
            let touch = touch.get_or_insert(Self {
                key: contact.key,
                mode: contact.mode,
                approach: contact.approach,
                leaves: 0.0,
                impulse: 0.0,
                work: 0.0,
                friction: 0.0,
            });
            if contact.mode == ContactMode::Slip {
                touch.mode = ContactMode::Slip;
            }
            touch.approach = touch.approach.min(contact.approach);
            let along = |x: &[f64; 3]| {
                x.iter()
                    .zip(contact.normal)
                    .map(|(x, n)| x * n)
                    .sum::<f64>()
            };
            touch.leaves = touch.leaves.max(along(&contact.velocity));
            touch.impulse += along(&contact.impulse);
            touch.work += contact.work_normal + contact.work_tangential;
            touch.friction += contact.work_tangential;
        }
        touch
    }

    /// Whether a pair that was open is hit: it approaches faster than gravity gains in two steps.
    fn hits(&self, record: &StepRecord, kinetic_max: f64) -> bool {
        self.approach < -2.0 * record.gravity_gain
            && -self.approach * self.impulse > MATTERS * kinetic_max
    }

    fn event(&self, t: f64, kind: EventKind) -> Event {
        Event {
            t,
            contact: self.key,
            kind,
            approach: self.approach,
            impulse: self.impulse,
            energy: self.work,
            count: 0,
        }
    }
}

impl PairEvents {
    /// Whether no pair has touched lately.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// A pair of bodies of a record not yet observed that may have had an impact without being hit, named by a contact that acts: its normal impulse
    /// per unit of time, beyond what approaches and leavings of all contacts explain, has grown fourfold or more, and no contact was hit in this step, new
    /// points of pairs that touch included.
    pub(super) fn suspect(
        &self,
        record: &StepRecord,
        kinetic_max: f64,
        inverse_mass: impl Fn(ContactKey) -> Option<f64>,
    ) -> Option<ContactKey> {
        let hit =
            |c: &PresentContact| Touch::of(&[*c]).is_some_and(|t| t.hits(record, kinetic_max));
        if record.present.iter().any(hit) {
            return None;
        }
        // A contact that leaves answered an approach, or a normal that turned along the way to it; bodies pass it on to others.
        let answered = |c: &PresentContact| {
            let touch = Touch::of(&[*c])?;
            Some((touch.approach.min(0.0).abs() + touch.leaves) / inverse_mass(touch.key)?)
        };
        let caught = 4.0 * record.present.iter().filter_map(answered).sum::<f64>();
        let mut found = None;
        let mut old = self.pairs.iter().peekable();
        for contacts in record.present.chunk_by(|a, b| a.key.owners == b.key.owners) {
            let Some(touch) = Touch::of(contacts) else {
                continue;
            };
            let owners = touch.key.owners;
            while old.next_if(|pair| pair.key.owners < owners).is_some() {}
            let before = old.next_if(|pair| pair.key.owners == owners);
            let lasting = before.filter(|pair| pair.lasts());
            let steady = lasting.map_or(Some(0.0), |pair| pair.steady);
            let (Some(steady), Some(inverse_mass)) = (steady, inverse_mass(touch.key)) else {
                continue;
            };
            let grown = touch.impulse - caught > 4.0 * steady * record.h
                && 0.5 * touch.impulse * touch.impulse * inverse_mass > BLOW * kinetic_max;
            if grown && found.is_none() {
                found = Some(touch.key);
            }
        }
        found
    }

    /// Enters the impact without collision of a pair of the last record observed; `keep` is handed its events.
    pub(super) fn enter_tangential(
        &mut self,
        record: &StepRecord,
        key: ContactKey,
        kinetic_max: f64,
        mut keep: impl FnMut(Event),
    ) {
        let own = |c: &&PresentContact| c.key.owners == key.owners;
        let contacts: Vec<PresentContact> = record.present.iter().filter(own).copied().collect();
        let Some(touch) = Touch::of(&contacts) else {
            return;
        };
        keep(touch.event(record.t, EventKind::TangentialImpact));
        let allowed = 2.0 * record.gravity_gain * touch.impulse;
        if touch.work > allowed + GAIN * kinetic_max {
            keep(touch.event(record.t, EventKind::EnergyGain));
        }
        // Nothing lasting: the next step is compared with the one after the impact.
        if let Some(pair) = self.pairs.iter_mut().find(|p| p.key.owners == key.owners) {
            pair.steady = None;
        }
    }

    /// Reads the contacts of a step; `keep` is handed its events. The work of friction in pairs that stuck before the step and after it.
    pub(super) fn observe(
        &mut self,
        record: &StepRecord,
        kinetic_max: f64,
        mut keep: impl FnMut(Event),
    ) -> f64 {
        let mut sticking = 0.0;
        let mut known = std::mem::take(&mut self.pairs);
        self.next.clear();
        // Both lists are in the order of their owners.
        let mut old = known.drain(..).peekable();
        let pairs = record.present.chunk_by(|a, b| a.key.owners == b.key.owners);
        for contacts in pairs {
            let owners = contacts[0].key.owners;
            while let Some(gone) = old.next_if(|pair| pair.key.owners < owners) {
                Self::leave(&mut self.next, gone, record, &mut keep);
            }
            let before = old.next_if(|pair| pair.key.owners == owners);
            match (Touch::of(contacts), before) {
                (Some(touch), before) => {
                    let stuck = before.as_ref().map(|pair| pair.mode);
                    if (stuck, touch.mode) == (Some(ContactMode::Stick), ContactMode::Stick) {
                        sticking += touch.friction;
                    }
                    let pair = Self::touch(before, &touch, record, kinetic_max, &mut keep);
                    self.next.push(pair);
                }
                (None, Some(gone)) => Self::leave(&mut self.next, gone, record, &mut keep),
                (None, None) => {}
            }
        }
        for gone in old {
            Self::leave(&mut self.next, gone, record, &mut keep);
        }
        self.pairs = std::mem::replace(&mut self.next, known);
        sticking
    }

    /// A pair that does not touch any more.
    fn leave(
        next: &mut Vec<Pair>,
        mut pair: Pair,
        record: &StepRecord,
        keep: &mut impl FnMut(Event),
    ) {
        if pair.mode != ContactMode::Open {
            pair.opened = Some(Event {
                t: record.t,
                contact: pair.key,
                kind: EventKind::LiftOff,
                approach: 0.0,
                impulse: 0.0,
                energy: 0.0,
                count: 0,
            });
            pair.mode = ContactMode::Open;
        } else if let Some(lift_off) = pair.opened.take() {
            keep(lift_off);
        }
        if pair.opened.is_some() || record.t < pair.awaited {
            next.push(pair);
        }
    }

    /// A pair that touches.
    fn touch(
        before: Option<Pair>,
        touch: &Touch,
        record: &StepRecord,
        kinetic_max: f64,
        keep: &mut impl FnMut(Event),
    ) -> Pair {
        let mut pair = before.unwrap_or(Pair {
            key: touch.key,
            mode: ContactMode::Open,
            opened: None,
            bounces: Bounces::default(),
            awaited: record.t,
            steady: Some(0.0),
        });
        let lasting = pair.lasts();
        let resting = 2.0 * record.gravity_gain;
        let hit = !lasting && touch.hits(record, kinetic_max);
        if record.h > 0.0 {
            pair.steady = Some(touch.impulse / record.h);
        }
        if hit {
            // What leaves with the velocity of the approach is back after 2u/g, on slopes later; without gravity it does not return.
            if record.gravity_gain > 0.0 {
                let flight = FLIGHT * -touch.approach * record.h / record.gravity_gain;
                pair.awaited = record.t + flight;
            }
            keep(touch.event(record.t, EventKind::Impact));
            // What gravity does within the step is no gain.
            let allowed = touch.impulse * (resting - SOLVED * touch.approach);
            if touch.work > allowed + GAIN * kinetic_max {
                keep(touch.event(record.t, EventKind::EnergyGain));
            }
        } else if lasting && pair.mode != touch.mode && pair.opened.is_none() {
            match touch.mode {
                ContactMode::Stick => keep(touch.event(record.t, EventKind::Stick)),
                ContactMode::Slip => keep(touch.event(record.t, EventKind::Slip)),
                ContactMode::Closed | ContactMode::Open => {}
            }
        }
        (pair.key, pair.mode, pair.opened) = (touch.key, touch.mode, None);
        if let Some((t, count)) = pair.bounces.follow(record, hit, false) {
            let mut event = touch.event(t, EventKind::Accumulation);
            event.count = count;
            keep(event);
        }
        pair
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of one pair that carries the impulses told, step by step, at an approach of 1 m/s where it closes.
    fn events(steps: &[Option<ContactMode>]) -> Vec<(u64, EventKind)> {
        let mut pairs = PairEvents::default();
        let mut found = Vec::new();
        let mut closed = false;
        for (step, mode) in steps.iter().enumerate() {
            let contact = |slot, mode| PresentContact {
                key: ContactKey::found(1, 2, slot),
                normal: [0.0, 0.0, 1.0],
                mode,
                impulse: [0.0, 0.0, f64::from(mode != ContactMode::Open)],
                approach: if closed { -0.01 } else { -1.0 },
                ..PresentContact::default()
            };
            let present = match mode {
                // A second contact of the pair, which never acts.
                Some(mode) => vec![contact(0, *mode), contact(1, ContactMode::Open)],
                None => Vec::new(),
            };
            let record = StepRecord {
                t: step as f64,
                h: 1.0,
                gravity_gain: 0.01,
                present,
                ..StepRecord::default()
            };
            closed = mode.is_some_and(|mode| mode != ContactMode::Open);
            pairs.observe(&record, 1.0, |event| {
                found.push((event.t as u64, event.kind))
            });
        }
        found
    }

    #[test]
    fn a_pair_that_closes_has_one_impact_and_one_that_stays_open_one_lift_off() {
        use ContactMode::{Open, Slip, Stick};
        use EventKind as Kind;
        let steps = [None, Some(Slip), Some(Stick), Some(Open), None, None];
        let expected = [(1, Kind::Impact), (2, Kind::Stick), (3, Kind::LiftOff)];
        assert_eq!(events(&steps), expected);
        // One step without an impulse is nothing, whether the contact was found in it or not.
        for gap in [None, Some(Open)] {
            let steps = [Some(Stick), gap, Some(Stick), gap, Some(Stick)];
            assert_eq!(events(&steps), [(0, Kind::Impact)]);
        }
    }
}
