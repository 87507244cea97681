//! Events of pairs of bodies in worlds, whose contacts come and go.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::bounces::Bounces;
use super::event_log::{Event, EventKind, GAIN, MATTERS};
use super::{ActingTogether, ContactMode, PresentContact, StepRecord};

/// What approaches slower than this part of the speeds at its contact is not hit: that is what is left of a solved problem.
const HIT: f64 = 1e-6;
/// An impact moves more energy than this part of the largest kinetic energy so far; below it is rounding.
const ROUNDING: f64 = 1e-20;
/// Longest flight between two bounces, in u/g with the speed u of the first.
const FLIGHT: f64 = 4.0;
/// A gain below this part of the energy that an impact moves is within the tolerance of contact problems in worlds, 1e-8 of all impulses.
const SOLVED: f64 = 1e-6;

/// What is known of the pairs that touched in the last steps.
///
/// A pair of bodies is closed where one of its contacts carries an impulse; it slips where one of them does. It has an impact when it closes and
/// approached faster than gravity gains in two steps, which is where impact laws act in worlds, and a lift-off when it stays open for two
/// steps: contacts of resting faces may lose their impulses for one. A closed pair has an impact too where a contact of it that did not act in the
/// last two steps approaches like that: the other foot of a block that rocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PairEvents {
    pairs: Vec<Pair>,
    #[serde(skip)]
    next: Vec<Pair>,
    /// Contacts that acted in the last step and in the one before, in order.
    #[serde(default)]
    acted: [Vec<ContactKey>; 2],
    /// Pairs of the record to be observed next that had an impact without collision, each by one of its contacts.
    #[serde(skip)]
    blows: Vec<ContactKey>,
    /// Pairs hit in the record that is being observed.
    #[serde(skip)]
    hits: Vec<Event>,
}

/// What the log is told.
#[derive(Clone, Debug)]
pub(super) enum Told {
    /// Something happened.
    New(Event),
    /// The last impact of a pair goes on: contacts close in two steps where they are found before they touch.
    More(Event),
}

/// What pairs are measured by: the largest kinetic energy so far, and what moves at a contact.
type Measure<'a> = (f64, &'a dyn ActingTogether);

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
    /// Whether it was hit in the last step.
    #[serde(default)]
    struck: bool,
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
#[derive(Clone, Copy)]
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

    /// Whether what was open is hit: it approaches faster than gravity gains in two steps.
    fn hits(&self, record: &StepRecord, (kinetic_max, acting): Measure) -> bool {
        self.approach < -2.0 * record.gravity_gain
            && -self.approach * self.impulse > ROUNDING * kinetic_max
            && -self.approach > HIT * acting.speed(self.key)
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

    /// Pairs of bodies of a record not yet observed that may have had an impact without being hit, each named by a contact that acts: their normal impulse
    /// per unit of time, beyond what approaches and leavings of all contacts of their group explain, has grown fourfold or more, and no contact of the
    /// group was hit in this step, new points of pairs that touch included.
    pub(super) fn suspects(
        &mut self,
        record: &StepRecord,
        measure: Measure,
        inverse_mass: impl Fn(ContactKey) -> Option<f64>,
    ) -> Vec<ContactKey> {
        self.blows.clear();
        let (kinetic_max, acting) = measure;
        let mut found: Vec<(ContactKey, f64)> = Vec::new();
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
            let excess = touch.impulse - 4.0 * steady * record.h;
            let rounding = 0.5 * touch.impulse * touch.impulse * inverse_mass;
            if excess > 0.0
                && rounding > ROUNDING * kinetic_max
                && touch.impulse * inverse_mass > MATTERS * acting.speed(touch.key)
            {
                found.push((touch.key, excess));
            }
        }
        if found.is_empty() {
            return Vec::new();
        }
        // A contact that leaves answered an approach, or a normal that turned along the way to it; bodies pass it on to others. What has no answer has no
        // bound, and where something is hit nothing else is asked for.
        let mut answered: Vec<(usize, f64)> = Vec::new();
        for contact in &record.present {
            let Some(touch) = Touch::of(&[*contact]) else {
                continue;
            };
            let caught = match inverse_mass(touch.key) {
                _ if touch.hits(record, measure) => f64::INFINITY,
                Some(inverse_mass) => {
                    4.0 * (touch.approach.min(0.0).abs() + touch.leaves) / inverse_mass
                }
                None => continue,
            };
            answered.push((acting.group(touch.key), caught));
        }
        let unexplained = |(key, excess): &(ContactKey, f64)| {
            let group = acting.group(*key);
            let own = answered.iter().filter(|(other, _)| *other == group);
            *excess > own.map(|(_, caught)| caught).sum::<f64>()
        };
        found.retain(unexplained);
        found.into_iter().map(|(key, _)| key).collect()
    }

    /// Takes note of the pairs of the record to be observed next that had an impact without collision.
    pub(super) fn accuse(&mut self, blows: Vec<ContactKey>) {
        self.blows = blows;
    }

    /// The impact without collision of a pair, if it had one; it is compared with nothing.
    fn enter_blow(&mut self, touch: &Touch, pair: &mut Pair, t: f64, keep: &mut impl FnMut(Told)) {
        let owners = touch.key.owners;
        if self.blows.iter().any(|blow| blow.owners == owners) {
            let event = touch.event(t, EventKind::TangentialImpact);
            self.hits.push(event.clone());
            keep(Told::New(event));
            // Nothing lasting: the next step is compared with the one after the impact.
            pair.steady = None;
        }
    }

    /// Contacts of a pair that are hit though the pair touches, taken together: those that did not act in the last two steps, or all where it
    /// was hit in the last one.
    fn hit_anew(
        &self,
        (contacts, struck): (&[PresentContact], bool),
        record: &StepRecord,
        measure: Measure,
    ) -> Option<Touch> {
        let fast = |c: &PresentContact| c.approach < -2.0 * record.gravity_gain;
        if !contacts.iter().any(fast) {
            return None;
        }
        let acted = |key: &ContactKey| {
            self.acted
                .iter()
                .any(|list| list.binary_search(key).is_ok())
        };
        let anew = |c: &&PresentContact| {
            let touch = Touch::of(&[**c]);
            (struck || !acted(&c.key)) && touch.is_some_and(|touch| touch.hits(record, measure))
        };
        let hit: Vec<PresentContact> = contacts.iter().filter(anew).copied().collect();
        Touch::of(&hit)
    }

    /// Reads the contacts of a step; `keep` is handed its events. The work of friction in pairs that stuck before the step and after it.
    pub(super) fn observe(
        &mut self,
        record: &StepRecord,
        measure: Measure,
        mut keep: impl FnMut(Told),
    ) -> f64 {
        let mut sticking = 0.0;
        let mut known = std::mem::take(&mut self.pairs);
        self.next.clear();
        self.hits.clear();
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
                    let lasting = before.as_ref().filter(|pair| pair.lasts());
                    let hit = match lasting.map(|pair| pair.struck) {
                        Some(struck) => self.hit_anew((contacts, struck), record, measure),
                        None => touch.hits(record, measure).then_some(touch),
                    };
                    let mut pair = Self::touch(before, (&touch, hit), record, &mut keep);
                    if let Some(hit) = hit {
                        self.hits.push(hit.event(record.t, EventKind::Impact));
                    }
                    self.enter_blow(&touch, &mut pair, record.t, &mut keep);
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
        self.blows.clear();
        self.look_for_gains(record, measure.1, &mut keep);
        self.acted.swap(0, 1);
        self.acted[0].clear();
        let acts = record
            .present
            .iter()
            .filter(|c| c.mode != ContactMode::Open);
        self.acted[0].extend(acts.map(|c| c.key));
        sticking
    }

    /// Impacts that leave more energy than they found, all contacts of a group together: told of the pair that gave most.
    fn look_for_gains(
        &self,
        record: &StepRecord,
        acting: &dyn ActingTogether,
        keep: &mut impl FnMut(Told),
    ) {
        // Without a contact that gives there is no sum that does.
        let gives = |c: &PresentContact| c.work_normal + c.work_tangential > 0.0;
        if self.hits.is_empty() || !record.present.iter().any(gives) {
            return;
        }
        let mut told: Vec<usize> = Vec::new();
        for hit in &self.hits {
            let group = acting.group(hit.contact);
            if told.contains(&group) {
                continue;
            }
            told.push(group);
            let (mut gain, mut allowed) = (0.0, 0.0);
            let own = record.present.iter();
            for contact in own.filter(|c| acting.group(c.key) == group) {
                let Some(touch) = Touch::of(&[*contact]) else {
                    continue;
                };
                gain += touch.work;
                // What gravity does within the step is no gain.
                let resting = 2.0 * record.gravity_gain - SOLVED * touch.approach.min(0.0);
                allowed += touch.impulse * (resting + GAIN * acting.speed(touch.key));
            }
            if gain > allowed {
                let hits = self
                    .hits
                    .iter()
                    .filter(|e| acting.group(e.contact) == group);
                let most = hits.max_by(|a, b| a.energy.total_cmp(&b.energy));
                let most = most.unwrap_or(hit).clone();
                keep(Told::New(Event {
                    kind: EventKind::EnergyGain,
                    energy: gain,
                    ..most
                }));
            }
        }
    }

    /// A pair that does not touch any more.
    fn leave(
        next: &mut Vec<Pair>,
        mut pair: Pair,
        record: &StepRecord,
        keep: &mut impl FnMut(Told),
    ) {
        pair.struck = false;
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
            keep(Told::New(lift_off));
        }
        if pair.opened.is_some() || record.t < pair.awaited {
            next.push(pair);
        }
    }

    /// A pair that touches, and what of it is hit.
    fn touch(
        before: Option<Pair>,
        (touch, hit): (&Touch, Option<Touch>),
        record: &StepRecord,
        keep: &mut impl FnMut(Told),
    ) -> Pair {
        let mut pair = before.unwrap_or(Pair {
            key: touch.key,
            mode: ContactMode::Open,
            opened: None,
            bounces: Bounces::default(),
            awaited: record.t,
            steady: Some(0.0),
            struck: false,
        });
        let lasting = pair.lasts();
        if record.h > 0.0 {
            pair.steady = Some(touch.impulse / record.h);
        }
        let goes_on = lasting && pair.struck;
        pair.struck = hit.is_some() && !goes_on;
        if let Some(hit) = hit.filter(|_| goes_on) {
            keep(Told::More(hit.event(record.t, EventKind::Impact)));
        } else if let Some(hit) = hit {
            // What leaves with the velocity of the approach is back after 2u/g, on slopes later; without gravity it does not return.
            if record.gravity_gain > 0.0 {
                let flight = FLIGHT * -hit.approach * record.h / record.gravity_gain;
                pair.awaited = record.t + flight;
            }
            keep(Told::New(hit.event(record.t, EventKind::Impact)));
        } else if lasting && pair.mode != touch.mode && pair.opened.is_none() {
            match touch.mode {
                ContactMode::Stick => keep(Told::New(touch.event(record.t, EventKind::Stick))),
                ContactMode::Slip => keep(Told::New(touch.event(record.t, EventKind::Slip))),
                ContactMode::Closed | ContactMode::Open => {}
            }
        }
        (pair.key, pair.mode, pair.opened) = (touch.key, touch.mode, None);
        if !lasting {
            pair.bounces.open();
        }
        if let Some(series) = pair.bounces.follow(record, pair.struck, false) {
            let mut event = touch.event(series.last, EventKind::Accumulation);
            event.count = series.count;
            keep(Told::New(event));
        }
        pair
    }
}

#[cfg(test)]
mod tests {
    use super::super::acting_together::OneGroup;
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
            pairs.observe(&record, (1.0, &OneGroup(1.0)), |told| {
                let Told::New(event) = told else {
                    return;
                };
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
