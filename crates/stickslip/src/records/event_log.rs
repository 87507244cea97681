//! Events read off the records: impacts, lift-offs, changes between stick and slip, impacts without collision,
//! accumulations and gains of energy.

use serde::{Deserialize, Serialize};

use crate::contact::ContactKey;

use super::bounces::{Bounces, Series};
use super::pair_events::{PairEvents, Told};
use super::{ActingTogether, ContactMode, ContactRecord, StepRecord};

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
    /// An impulse that does not shrink with the step at a contact that stays closed and was not hit.
    TangentialImpact,
    /// Impacts that follow each other ever faster came to an end.
    Accumulation,
    /// An impact left more energy than it found.
    EnergyGain,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// End of the step in which it happened, or its instant where the scheme locates it.
    pub t: f64,
    /// The contact.
    pub contact: ContactKey,
    /// What happened.
    pub kind: EventKind,
    /// Normal velocity before the step (negative: approaching).
    pub approach: f64,
    /// Normal impulse of the step.
    pub impulse: f64,
    /// Energy that the contacts gave at an impact (negative: took).
    #[serde(default)]
    pub energy: f64,
    /// Number of impacts of an accumulation.
    #[serde(default)]
    pub count: u64,
}

/// How the work of the contacts came about, summed over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactWorks {
    /// What the laws of contact, friction and impact gave (negative: took).
    pub law: f64,
    /// What the weight theta of the scheme adds to it.
    pub theta: f64,
    /// The part of it with which contacts gave energy beyond what their laws gave, where their normal impulses did: theta
    /// above its bound.
    #[serde(default)]
    pub theta_gain: f64,
    /// Work of friction in contacts that stuck before a step and after it: obstacles that change their velocity do so in jumps
    /// from step to step, at each of which what sticks to them is caught up with. It goes with the step.
    #[serde(default)]
    pub sticking: f64,
}

/// Collects the events of a run, in constant memory.
///
/// An opening that lasts one step is the work of the scheme, not of the body (positions on a curved path
/// drift off the surface and are caught again): it is no lift-off, and its end no impact. Nor is an opening in which the gap does
/// not grow: an impact inside a step stops the body up to h |u_N| above its obstacle, and it sinks from there. A contact that
/// closes without having approached, as one that rests at the start does, has no impact either.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    /// Events, oldest first, up to the limit.
    pub events: Vec<Event>,
    /// Number of events beyond the limit.
    pub dropped: u64,
    /// Events of each kind, kept or not.
    #[serde(default)]
    counts: [u64; 7],
    /// How the work of the contacts came about.
    #[serde(default)]
    pub works: ContactWorks,
    modes: Vec<ContactMode>,
    /// Contacts that opened in the last step: the event it will be if they stay open, and the mode before.
    #[serde(default)]
    opened: Vec<Option<(Event, ContactMode)>>,
    /// Gap at the end of the last step in which a contact was closed, with what rounding may open it by.
    #[serde(default)]
    closed_gap: Vec<f64>,
    /// Normal impulse per unit of time of the last step in contact.
    #[serde(default)]
    steady: Vec<f64>,
    #[serde(default)]
    bounces: Vec<Bounces>,
    /// Contacts of the record to be observed next that were struck while they stayed closed, where the normal jumps.
    #[serde(skip)]
    jolted: Vec<usize>,
    /// Contacts of that record that may have had an impact without being hit, and by how much their impulses are more than four times those of before.
    #[serde(skip)]
    grown: Vec<(usize, f64)>,
    /// Contacts hit in the last step.
    #[serde(default)]
    hit: Vec<bool>,
    /// Largest kinetic energy so far: what is 10⁻²⁴ of it is rounding.
    #[serde(default)]
    kinetic_max: f64,
    /// Pairs of bodies of a world.
    #[serde(default)]
    pairs: PairEvents,
    /// No contact acted in the last step and none is waited for: as long as none takes part, nothing happens.
    #[serde(default)]
    quiet: bool,
}

/// Events kept; a Zeno run produces any number of them.
const KEPT: usize = 20_000;
/// Of these, room for what is more than an impact or a change of modes.
const RARE: usize = 1_000;
/// An impact without collision changes the velocity of its contact by at least this part of the speeds there: what other bodies do does
/// not count.
pub(super) const MATTERS: f64 = 1e-3;
/// An energy gain below this part of what the impulses do at the speeds of their contacts is rounding.
pub(super) const GAIN: f64 = 1e-9;
/// Speeds below this part of that of the largest kinetic energy are rounding.
const ROUNDING: f64 = 1e-12;

impl EventLog {
    /// Last mode of every contact point, in the order of the records.
    pub fn modes(&self) -> &[ContactMode] {
        &self.modes
    }

    /// Whether what is kept is that of so many contacts; a checkpoint may lack some of it.
    fn fits(&self, count: usize) -> bool {
        self.modes.len() == count
            && self.opened.len() == count
            && self.closed_gap.len() == count
            && self.steady.len() == count
            && self.bounces.len() == count
            && self.hit.len() == count
    }

    /// Reads a record.
    pub(crate) fn observe(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        self.observe_pairs(record, acting);
        if self.quiet && record.located.is_none() && record.is_idle() {
            self.kinetic_max = self.kinetic_max.max(record.kinetic);
            return;
        }
        self.read(record, acting);
    }

    /// Contacts between the bodies of a world, which come and go.
    fn observe_pairs(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        if record.present.is_empty() && self.pairs.is_empty() {
            return;
        }
        let kinetic_max = self.kinetic_max.max(record.kinetic);
        // Room for all that is kept: a warm run allocates nothing.
        self.events.reserve_exact(KEPT - self.events.len());
        let mut pairs = std::mem::take(&mut self.pairs);
        self.works.sticking += pairs.observe(record, (kinetic_max, acting), |told| match told {
            Told::More(rest) => self.complete(&rest),
            // Thousands of grains that flow would leave no room for anything else.
            Told::New(event) if matches!(event.kind, EventKind::Stick | EventKind::Slip) => {
                self.counts[event.kind as usize] += 1;
            }
            Told::New(event) => self.keep(event),
        });
        self.pairs = pairs;
    }

    fn read(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        let count = record.contacts.len();
        if !self.fits(count) {
            // Room for all that is kept: a warm run allocates nothing.
            self.events.reserve_exact(KEPT);
            self.modes.resize(count, ContactMode::Open);
            self.opened.resize(count, None);
            self.closed_gap.resize(count, f64::MIN);
            self.steady.resize(count, 0.0);
            self.bounces.resize(count, Bounces::default());
            self.hit.resize(count, false);
        }
        self.kinetic_max = self.kinetic_max.max(record.kinetic);
        for contact in &record.contacts {
            let [normal, tangential] = contact.relative_works();
            self.works.law += contact.work_law;
            let theta = normal + tangential - contact.work_law;
            self.works.theta += theta;
            // The bound is that of the normal work; a law that gains (Newton's with friction) is not theta's doing.
            if normal > 0.0 {
                self.works.theta_gain +=
                    (contact.work_law + theta).max(0.0) - contact.work_law.max(0.0);
            }
        }
        if let Some(located) = &record.located {
            self.quiet = false;
            for (mode, contact) in self.modes.iter_mut().zip(&record.contacts) {
                *mode = contact.mode;
            }
            for event in located {
                self.keep(event.clone());
            }
            self.look_for_gains_at_instants(located, acting);
            return;
        }
        let mut acted = false;
        let mut ended: Vec<(usize, Series)> = Vec::new();
        for (i, contact) in record.contacts.iter().enumerate() {
            self.hit[i] = false;
            let after = contact.mode;
            let before = std::mem::replace(&mut self.modes[i], after);
            if (before, after) == (ContactMode::Open, ContactMode::Open) && self.opened[i].is_none()
            {
                continue;
            }
            acted = true;
            if (before, after) == (ContactMode::Stick, ContactMode::Stick) {
                self.works.sticking += contact.relative_works()[1];
            }
            let event = |kind| event(record, i, kind);
            match (before, after, self.opened[i].take()) {
                (ContactMode::Open, ContactMode::Open, Some((lift_off, held))) => {
                    // Where the gap has not grown since but by rounding, the contact has yet to leave.
                    if contact.gap <= self.closed_gap[i] {
                        self.opened[i] = Some((lift_off, held));
                    } else {
                        self.keep(lift_off);
                    }
                }
                (ContactMode::Open, _, None) if self.approaches(contact) => {
                    self.hit[i] = true;
                    self.keep(event(EventKind::Impact));
                }
                (ContactMode::Open, _, None) => {}
                (_, ContactMode::Open, _) => {
                    self.opened[i] = Some((event(EventKind::LiftOff), before));
                }
                (_, _, _) if self.jolted.contains(&i) => {
                    self.hit[i] = true;
                    self.keep(event(EventKind::Impact));
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
            if after != ContactMode::Open {
                self.closed_gap[i] = contact.gap + self.rounding_of_way(record.h, contact);
            }
            let open = after == ContactMode::Open;
            let end = self.bounces[i].follow(record, self.hit[i], open);
            ended.extend(end.map(|series| (i, series)));
        }
        if !ended.is_empty() {
            self.tell_accumulations(record, ended, acting);
        }
        if !self.grown.is_empty() {
            self.enter_tangential(record, acting);
        }
        if acted {
            self.look_for_gains(record, acting);
        }
        self.quiet = !acted;
    }

    /// Looks in a record not yet observed for contacts that may have been struck while they stayed closed, and for those that may have had an
    /// impact without being hit: their normal impulse per unit of time, beyond what the approach and the leaving of the contacts of their group explain, has grown fourfold or
    /// more, and none of these was hit in this step. Whether the impulse shrinks with the step is for the run to find
    /// out, which tells those of which it does ([`Self::acquit`]).
    pub(crate) fn look_for_suspects(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        self.jolted.clear();
        self.grown.clear();
        let count = record.contacts.len();
        let quiet = self.quiet && record.is_idle();
        if quiet || record.located.is_some() || !(record.h > 0.0) || !self.fits(count) {
            return;
        }
        for (i, contact) in record.contacts.iter().enumerate() {
            if contact.mode == ContactMode::Open {
                // What closes again at once is compared with what it was before.
                if self.modes[i] == ContactMode::Open {
                    self.steady[i] = 0.0;
                }
                continue;
            }
            self.judge_growth(i, record, acting);
        }
        if !self.grown.is_empty() {
            self.leave_out_explained(record, acting);
        }
    }

    /// Suspects a contact that acts, and takes note of its impulse.
    fn judge_growth(&mut self, i: usize, record: &StepRecord, acting: &dyn ActingTogether) {
        let contact = &record.contacts[i];
        let impulse = record.impulses[contact.start];
        let rate = impulse / record.h;
        let before = std::mem::replace(&mut self.steady[i], rate);
        if contact.jammed {
            self.grown.push((i, impulse));
            return;
        }
        if !(rate > 4.0 * before) {
            return;
        }
        let inverse_mass = contact.inverse_mass;
        let rounding = self.rounding(inverse_mass);
        let matters =
            |velocity: f64| velocity > rounding && velocity > MATTERS * acting.speed(contact.key);
        // What approaches though it was closed met a kink; the approach of a curved surface goes with the step, as its impulse does.
        let stayed = self.modes[i] != ContactMode::Open;
        if stayed && matters(-contact.approach) {
            self.jolted.push(i);
        }
        let excess = impulse - 4.0 * before * record.h;
        if excess > 0.0 && matters(impulse * inverse_mass) {
            self.grown.push((i, excess));
        }
    }

    /// Four times the impulse with which a contact answers its approach and its leaving; any where that is not known, or where it is struck.
    fn answer(&self, i: usize, record: &StepRecord) -> f64 {
        let contact = &record.contacts[i];
        if self.strikes(i, record) || !(contact.inverse_mass > 0.0) {
            return f64::INFINITY;
        }
        // Friction of a contact that slides takes part in stopping its approach: with γ, where that is positive.
        let gamma = contact.painleve.map_or(0.0, |p| p.gamma);
        let stopped = match gamma > 0.0 {
            true => gamma.min(contact.inverse_mass),
            false => contact.inverse_mass,
        };
        // A contact that leaves answered an approach, or a normal that turned along the way to it.
        let leaves = record.local_velocities[contact.start].max(0.0);
        4.0 * (contact.approach.min(0.0).abs() + leaves) / stopped
    }

    /// What contacts of a group answer is passed on to others of it; where they answer approaches more than slip that jams, they rebound, in hops too low
    /// to be told.
    fn leave_out_explained(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        let closed = |i: &usize| record.contacts[*i].mode != ContactMode::Open;
        let answer = |i: usize| {
            let contact = &record.contacts[i];
            (
                acting.group(contact.key),
                self.answer(i, record),
                contact.answers,
            )
        };
        let answered: Vec<_> = (0..record.contacts.len())
            .filter(closed)
            .map(answer)
            .collect();
        self.grown.retain(|(i, excess)| {
            // That the law itself tells needs no other sign.
            if record.contacts[*i].jammed {
                return true;
            }
            let group = acting.group(record.contacts[*i].key);
            let own = || answered.iter().filter(|(other, ..)| *other == group);
            let caught: f64 = own().map(|(_, caught, _)| caught).sum();
            let [normal, tangential] = [0, 1].map(|k| own().map(|(.., a)| a[k]).sum::<f64>());
            *excess > caught && !(normal > tangential)
        });
    }

    /// Impacts without collision, in groups in which nothing was struck at a kink either.
    fn enter_tangential(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        let group = |i: usize| acting.group(record.contacts[i].key);
        let contacts = 0..record.contacts.len();
        let struck: Vec<usize> = contacts.filter(|&i| self.hit[i]).map(group).collect();
        let mut grown = std::mem::take(&mut self.grown);
        grown.retain(|&(i, _)| struck.is_empty() || !struck.contains(&group(i)));
        for &(i, _) in &grown {
            self.keep(event(record, i, EventKind::TangentialImpact));
            // Nothing lasting: the next step is compared with the one after the impact.
            self.steady[i] = f64::MAX;
            self.hit[i] = true;
        }
        self.grown = grown;
    }

    /// The contacts that [`Self::look_for_suspects`] found.
    pub(crate) fn suspects(&self) -> Vec<usize> {
        let grown = self.grown.iter().map(|(i, _)| i);
        let others = grown.filter(|i| !self.jolted.contains(i));
        self.jolted.iter().chain(others).copied().collect()
    }

    /// The impulse of a contact shrinks with the step: it had no impact.
    pub(crate) fn acquit(&mut self, contact: usize) {
        self.jolted.retain(|&i| i != contact);
        self.grown.retain(|&(i, _)| i != contact);
    }

    /// Change of velocity that is rounding of the speeds of the run.
    fn rounding(&self, inverse_mass: f64) -> f64 {
        ROUNDING * (2.0 * self.kinetic_max * inverse_mass).sqrt()
    }

    /// Whether contact `i` was open, approached and is closed after the step.
    fn strikes(&self, i: usize, record: &StepRecord) -> bool {
        let contact = &record.contacts[i];
        self.modes.get(i) == Some(&ContactMode::Open)
            && contact.mode != ContactMode::Open
            && self.opened.get(i).is_none_or(Option::is_none)
            && self.approaches(contact)
    }

    /// Whether a contact approaches, beyond the rounding of the speeds of the run.
    fn approaches(&self, contact: &ContactRecord) -> bool {
        contact.approach < 0.0 && !(-contact.approach <= self.rounding_of_speed(contact))
    }

    /// Rates of a gap up to this part of what all the kinetic energy of the run would give are rounding.
    fn rounding_of_speed(&self, contact: &ContactRecord) -> f64 {
        let known = contact.painleve.is_some();
        self.rounding(if known { contact.inverse_mass } else { 1.0 })
    }

    /// What a closed contact opens by in a step of rounding alone.
    fn rounding_of_way(&self, h: f64, contact: &ContactRecord) -> f64 {
        let way = h * self.rounding_of_speed(contact);
        if way.is_finite() { way } else { 0.0 }
    }

    /// The same of pairs of bodies of a world, each named by one of its contacts; `inverse_mass` tells the answer of a contact to a normal impulse.
    pub(crate) fn suspect_pairs(
        &mut self,
        record: &StepRecord,
        acting: &dyn ActingTogether,
        inverse_mass: impl Fn(ContactKey) -> Option<f64>,
    ) -> Vec<ContactKey> {
        let kinetic_max = self.kinetic_max.max(record.kinetic);
        (self.pairs).suspects(record, (kinetic_max, acting), inverse_mass)
    }

    /// The pairs of bodies of the record to be observed next that had an impact without collision.
    pub(crate) fn accuse_pairs(&mut self, pairs: Vec<ContactKey>) {
        self.pairs.accuse(pairs);
    }

    /// Impacts at one instant that leave more energy than they found, all contacts of a group together: told of the one that gave most.
    fn look_for_gains_at_instants(&mut self, located: &[Event], acting: &dyn ActingTogether) {
        let impact = |e: &&Event| matches!(e.kind, EventKind::Impact | EventKind::TangentialImpact);
        let impacts: Vec<&Event> = located.iter().filter(impact).collect();
        for together in impacts.chunk_by(|a, b| a.t == b.t) {
            // What all gave may be the sum of what some gave and more that others took.
            if together.iter().all(|e| !(e.energy > 0.0)) {
                continue;
            }
            let mut grouped: Vec<(usize, &Event)> = (together.iter())
                .map(|e| (acting.group(e.contact), *e))
                .collect();
            grouped.sort_by_key(|(group, _)| *group);
            for group in grouped.chunk_by(|a, b| a.0 == b.0) {
                let gain: f64 = group.iter().map(|(_, e)| e.energy).sum();
                let moved = |e: &Event| e.impulse.abs() * acting.speed(e.contact);
                let moved: f64 = group.iter().map(|(_, e)| moved(e)).sum();
                let most = group
                    .iter()
                    .max_by(|a, b| a.1.energy.total_cmp(&b.1.energy));
                if let Some((_, most)) = most.filter(|_| gain > GAIN * moved) {
                    self.keep(Event {
                        kind: EventKind::EnergyGain,
                        energy: gain,
                        ..(*most).clone()
                    });
                }
            }
        }
    }

    /// Impacts that leave more energy than they found, all contacts of a group together: told of the one that gave most.
    fn look_for_gains(&mut self, record: &StepRecord, acting: &dyn ActingTogether) {
        let hit = |i: &usize| self.hit[*i];
        // Without a contact that gives there is no sum that does.
        if !(0..self.hit.len()).any(|i| self.hit[i])
            || record.contacts.iter().all(|c| !(c.work_law > 0.0))
        {
            return;
        }
        let acts = |i: &usize| record.contacts[*i].mode != ContactMode::Open || hit(i);
        let group = |i: usize| (acting.group(record.contacts[i].key), i);
        let members = (0..record.contacts.len()).filter(acts);
        let mut members: Vec<(usize, usize)> = members.map(group).collect();
        members.sort_unstable();
        let mut gains = Vec::new();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            let own = || group.iter().map(|&(_, i)| i);
            let law = |i: usize| record.contacts[i].work_law;
            let Some(most) = own().filter(hit).max_by(|&a, &b| law(a).total_cmp(&law(b))) else {
                continue;
            };
            let gain: f64 = own().map(law).sum();
            let forces: f64 = own().map(|i| record.contacts[i].work_forces).sum();
            let moved = |i: usize| {
                let impulse = record.impulse(i).iter().map(|p| p.abs()).sum::<f64>();
                impulse * acting.speed(record.contacts[i].key)
            };
            if gain > forces && gain > GAIN * own().map(moved).sum::<f64>() + forces {
                let mut event = event(record, most, EventKind::EnergyGain);
                event.energy = gain;
                gains.push(event);
            }
        }
        gains.into_iter().for_each(|event| self.keep(event));
    }

    /// Series that came to their end, one for each group: feet of one body strike in turns.
    fn tell_accumulations(
        &mut self,
        record: &StepRecord,
        mut ended: Vec<(usize, Series)>,
        acting: &dyn ActingTogether,
    ) {
        let group = |i: usize| acting.group(record.contacts[i].key);
        while !ended.is_empty() {
            let (i, mut series) = ended.remove(0);
            let own = group(i);
            ended.retain(|(k, other)| !(group(*k) == own && series.absorb(other, record.h)));
            for k in 0..record.contacts.len() {
                let closed = record.contacts[k].mode != ContactMode::Open;
                if closed && group(k) == own {
                    self.bounces[k].join(&mut series, record.h);
                }
            }
            let mut event = event(record, i, EventKind::Accumulation);
            (event.t, event.count) = (series.last, series.count);
            self.keep(event);
        }
    }

    /// How many events of a kind there were, whether kept or not.
    pub fn count(&self, kind: EventKind) -> u64 {
        self.counts[kind as usize]
    }

    /// The rest of the last impact of a pair of bodies.
    fn complete(&mut self, rest: &Event) {
        let own = |e: &&mut Event| {
            e.kind == rest.kind && e.contact.owners == rest.contact.owners && e.t < rest.t
        };
        if let Some(impact) = self.events.iter_mut().rev().find(own) {
            impact.impulse += rest.impulse;
            impact.energy += rest.energy;
        }
    }

    fn keep(&mut self, event: Event) {
        self.counts[event.kind as usize] += 1;
        let rare = matches!(
            event.kind,
            EventKind::TangentialImpact | EventKind::Accumulation | EventKind::EnergyGain
        );
        let room = if rare { KEPT } else { KEPT - RARE };
        if self.events.len() >= room {
            self.dropped += 1;
            return;
        }
        // A lift-off is known one step late; its place is that of its time.
        let later = self.events.iter().rev().take_while(|e| e.t > event.t);
        let place = self.events.len() - later.count();
        self.events.insert(place, event);
    }
}

/// An event of contact `i` of a record.
fn event(record: &StepRecord, i: usize, kind: EventKind) -> Event {
    let contact = &record.contacts[i];
    Event {
        t: record.t,
        contact: contact.key,
        kind,
        approach: contact.approach,
        impulse: record.impulses[contact.start],
        energy: contact.work_law,
        count: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::acting_together::OneGroup;
    use super::*;

    fn log(modes: &[ContactMode], approach: f64) -> Vec<(f64, EventKind)> {
        let mut log = EventLog::default();
        for (k, &mode) in modes.iter().enumerate() {
            let contact = ContactRecord {
                mode,
                gap: if mode == ContactMode::Open { 1.0 } else { 0.0 },
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
            log.observe(&record, &OneGroup(1.0));
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
    fn a_contact_that_sinks_onto_its_obstacle_has_not_left_it() {
        use ContactMode::{Closed, Open};
        let mut log = EventLog::default();
        // Stopped above the obstacle, then three steps down.
        let motion = [
            (Open, 3.0),
            (Closed, 1.0),
            (Open, 0.9),
            (Open, 0.5),
            (Open, 0.1),
            (Closed, 0.0),
            (Open, 0.1),
            (Open, 0.3),
        ];
        for (k, (mode, gap)) in motion.into_iter().enumerate() {
            let contact = ContactRecord {
                mode,
                gap,
                approach: -1.0,
                size: 1,
                ..Default::default()
            };
            let record = StepRecord {
                t: k as f64,
                contacts: vec![contact],
                impulses: vec![0.0],
                ..Default::default()
            };
            log.observe(&record, &OneGroup(1.0));
        }
        let events: Vec<_> = log.events.iter().map(|e| (e.t, e.kind)).collect();
        assert_eq!(
            events,
            [(1.0, EventKind::Impact), (6.0, EventKind::LiftOff)]
        );
    }

    #[test]
    fn a_contact_at_rest_has_no_impact() {
        use ContactMode::{Open, Slip, Stick};
        let events = log(&[Open, Slip, Slip, Stick], 0.0);
        assert_eq!(events, [(3.0, EventKind::Stick)]);
    }

    #[test]
    fn impacts_ever_faster_that_end_in_contact_accumulate() {
        let mut log = EventLog::default();
        // Open for two steps at least between hits: an opening of one step is no lift-off.
        let hits = [10, 20, 28, 34, 38, 41];
        for k in 0..50 {
            let closed = hits.contains(&k) || k >= 41;
            let contact = ContactRecord {
                mode: if closed {
                    ContactMode::Slip
                } else {
                    ContactMode::Open
                },
                gap: if closed { 0.0 } else { 1.0 },
                approach: -1.0,
                size: 1,
                ..Default::default()
            };
            let record = StepRecord {
                t: f64::from(k),
                h: 1.0,
                contacts: vec![contact],
                impulses: vec![1.0],
                ..Default::default()
            };
            log.observe(&record, &OneGroup(1.0));
        }
        let found: Vec<&Event> = log
            .events
            .iter()
            .filter(|e| e.kind == EventKind::Accumulation)
            .collect();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].t, found[0].count), (41.0, 6));
    }
}
