//! The lines that a reaction has at one place: complementarity, sign, friction, impact law.

use super::friction::{self, Contact, FrictionDefect, Reads};
use super::generalized::{self, GeneralizedReaction, TestVelocities};
use super::judge::Judge;
use super::place::Place;
use super::{Formulation, Line, Verification};

/// Contact problems are solved to this part of the tolerance of a judgement: reactions as small beside those of the motion say
/// nothing of their laws.
const SOLVED: f64 = 1e-2;

/// Distances of friction to its set and to its law may be ten times as large as the tolerance, but not beyond this part of a reaction.
const FRICTION: f64 = 1e-3;

/// A reaction with the local velocities that its laws read.
pub(super) struct Reaction<'a> {
    pub t: f64,
    /// Impulses of all contact rows.
    pub impulse: &'a [f64],
    /// Velocities that friction reads.
    pub reads: Reads<'a>,
    /// Velocity after.
    pub after: &'a [f64],
    /// Contacts that leave faster than the impact law asks ([`Judge::leaving`]), where that is known.
    pub leaving: Vec<bool>,
}

impl Judge<'_> {
    /// Complementarity, sign, cone and friction law of a reaction.
    pub(super) fn reaction_laws(
        &self,
        place: &Place,
        reaction: &Reaction,
        report: &mut Verification,
    ) {
        let p = reaction.impulse;
        let tells = self.telling(place, p);
        let sizes = self.sizes(place, p);
        for (k, contact) in place.contacts.iter().enumerate().filter(|(k, _)| tells[*k]) {
            let slack = self.settings.tolerance * sizes[k];
            let own = &p[contact.start..contact.start + contact.size];
            let name = self.name(contact.constraint);
            if !contact.closed && own.iter().any(|x| x.abs() > slack) {
                let gap = place.gaps[contact.constraint];
                report.note(Line::Complementarity, reaction.t, gap, name);
            }
            if self.formulation == Formulation::P2 && own[1..].iter().any(|x| x.abs() > slack) {
                report.note(Line::FrictionCone, reaction.t, 1.0, name);
            }
        }
        match self.formulation.test_velocities() {
            Some(test) => self.generalized_friction(place, reaction, (test, &tells), report),
            None => self.real_friction(place, reaction, (&sizes, &tells), report),
        }
    }

    /// Whose reactions say something of their laws: a run knows its impulses to a part of the largest of the part of the system that each contact
    /// belongs to.
    fn telling(&self, place: &Place, p: &[f64]) -> Vec<bool> {
        if self.motion.discretisation.is_none() {
            return vec![true; place.contacts.len()];
        }
        let mut tells = vec![false; place.contacts.len()];
        for group in self.groups(place, |_| true) {
            let rows = |k: &usize| {
                let c = &place.contacts[*k];
                (largest(&p[c.start..c.start + c.size]), &place.rows[c.start])
            };
            let (mut pressed, mut most) = (0.0f64, 0.0f64);
            for (own, row) in group.iter().map(rows) {
                pressed = pressed.max(own);
                most = most.max(self.subsystems.impulse_of(row));
            }
            let told = !(pressed <= SOLVED * self.settings.tolerance * most);
            group.into_iter().for_each(|k| tells[k] = told);
        }
        tells
    }

    /// Size of a reaction of the part of the system with this speed, as a kinetic speed, in which the rounding of the motion is a part as large as
    /// the tolerance: smaller ones are judged by it, since a contact that a step just leaves keeps an impulse of rounding.
    fn rounding_size(&self, speed: f64) -> f64 {
        16.0 * f64::EPSILON * speed / self.settings.tolerance
    }

    /// Largest speed of the parts of the system that some contacts belong to.
    fn speed_at(&self, place: &Place, contacts: &[&Contact]) -> f64 {
        let speeds = contacts
            .iter()
            .map(|c| self.subsystems.speed_of(&place.rows[c.start]));
        speeds.fold(0.0, f64::max)
    }

    /// The size of the reaction of the part of the system that each contact belongs to: what presses elsewhere is no measure for it.
    fn sizes(&self, place: &Place, p: &[f64]) -> Vec<f64> {
        if self.subsystems.is_single() {
            return vec![self.reaction_size(place, p); place.contacts.len()];
        }
        let own = |c: &Contact| {
            let speed = self.subsystems.speed_of(&place.rows[c.start]);
            let rounding = self.rounding_size(speed);
            let rounding = if c.closed {
                rounding / place.reach(c.start)
            } else {
                0.0
            };
            let rounding = if rounding.is_finite() { rounding } else { 0.0 };
            largest(&p[c.start..c.start + c.size]).max(rounding)
        };
        let own: Vec<f64> = place.contacts.iter().map(own).collect();
        let beside = |c: &Contact| {
            let pairs = place.contacts.iter().zip(&own);
            let share = |(other, _): &(&Contact, &f64)| {
                self.subsystems
                    .share(&place.rows[c.start], &place.rows[other.start])
            };
            pairs
                .filter(share)
                .fold(0.0f64, |s, (_, size)| s.max(*size))
        };
        place.contacts.iter().map(beside).collect()
    }

    /// Largest impulse of a reaction, or that in which the rounding of the motion is a part as large as the tolerance if that is more.
    fn reaction_size(&self, place: &Place, p: &[f64]) -> f64 {
        let rounding = |c: &Contact| self.rounding_size(self.speed) / place.reach(c.start);
        let roundings = place.contacts.iter().filter(|c| c.closed).map(rounding);
        roundings
            .filter(|x| x.is_finite())
            .fold(largest(p), f64::max)
    }

    /// Coulomb's law contact by contact.
    fn real_friction(
        &self,
        place: &Place,
        reaction: &Reaction,
        (sizes, tells): (&[f64], &[bool]),
        report: &mut Verification,
    ) {
        let p = reaction.impulse;
        let all = self.fastest(place, None, reaction.after);
        for (k, contact) in place.contacts.iter().enumerate() {
            if !contact.closed || !tells[k] {
                continue;
            }
            let size = sizes[k];
            let fastest = match self.subsystems.is_single() {
                true => all,
                false => self.fastest(place, Some(contact), reaction.after),
            };
            let range = contact.start..contact.start + contact.size;
            let own = &p[range.clone()];
            let mut defect = friction::real(contact, own, &reaction.reads, (size, fastest));
            let along = match &reaction.reads {
                Reads::Along(laws) => laws.friction[k].as_ref(),
                _ => None,
            };
            if let Some(along) = along {
                let (cone, law) = along.defect(&own[1..], defect.law * size);
                (defect.cone, defect.law) = (cone / size, law / size);
            }
            if self.formulation == Formulation::P2 {
                (defect.cone, defect.law) = (0.0, 0.0);
            }
            // The variational form is that of contact that lasts: no normal velocity after.
            let normal = reaction.after[contact.start].abs();
            let lasts = normal <= self.velocity_slack(place, contact.start);
            let turns = matches!(&reaction.reads, Reads::Along(laws) if laws.turns(contact));
            if self.formulation == Formulation::P3 && lasts && !turns {
                let read = &reaction.reads.middle()[range];
                let off = friction::variational(contact, own, read) / (size * fastest);
                if off > self.friction_limit() {
                    let name = self.name(contact.constraint);
                    report.note(Line::Variational, reaction.t, off, name);
                }
            }
            self.note_defect(reaction.t, contact, defect, report);
        }
    }

    /// Largest local velocity in the part of the system that a contact belongs to, or in all of it, at least a part of what the motion can be there:
    /// slower ones are slow by it.
    pub(super) fn fastest(&self, place: &Place, contact: Option<&Contact>, after: &[f64]) -> f64 {
        let beside = |i: &usize| {
            contact.is_none_or(|c| self.subsystems.share(&place.rows[c.start], &place.rows[*i]))
        };
        let speeds = (0..after.len()).filter(beside).map(|i| {
            let slowest = 1e-3 * self.subsystems.speed_of(&place.rows[i]) * place.reach(i);
            slowest.max(after[i].abs())
        });
        speeds.fold(0.0, f64::max)
    }

    /// The law of P4, P'3 and P'4 on the reaction as a whole, in each part of the system by itself: sets and velocities of several parts are
    /// products, in which their law is that of each.
    fn generalized_friction(
        &self,
        place: &Place,
        reaction: &Reaction,
        (test, tells): (TestVelocities, &[bool]),
        report: &mut Verification,
    ) {
        let p = reaction.impulse;
        let sizes = self.sizes(place, p);
        for group in self.groups(place, |k| place.contacts[k].closed && tells[k]) {
            // A contact within rounding of its gap may already take part in the normal space, or not yet.
            let touches = |k: &&usize| {
                let c = &place.contacts[**k];
                let own = &p[c.start..c.start + c.size];
                c.sure
                    || own
                        .iter()
                        .any(|x| x.abs() > self.settings.tolerance * sizes[**k])
            };
            let contact = |k: &usize| &place.contacts[*k];
            let touching: Vec<&Contact> = group.iter().filter(touches).map(contact).collect();
            let closed: Vec<&Contact> = group.iter().map(contact).collect();
            let judged = |contacts: &[&Contact]| {
                let speed = self.speed_at(place, contacts);
                let whole = GeneralizedReaction {
                    contacts,
                    leaving: &leaving_of(place, contacts, &reaction.leaving),
                    w: &place.delassus,
                    impulse: p,
                    speed,
                    least: self.rounding_size(speed),
                };
                generalized::defect(&whole, &reaction.reads, test)
            };
            if closed.is_empty() {
                continue;
            }
            let (mut set, mut defect) = (&closed, judged(&closed));
            if !touching.is_empty() && touching.len() < closed.len() {
                let other = judged(&touching);
                if other.worst() < defect.worst() || defect.worst().is_nan() {
                    (set, defect) = (&touching, other);
                }
            }
            // The law is one for all contacts; the one pressed most bears its name.
            let normal = |c: &&&Contact| p[c.start].abs();
            let largest = set.iter().max_by(|a, b| normal(a).total_cmp(&normal(b)));
            if let Some(contact) = largest {
                self.note_defect(reaction.t, contact, defect, report);
            }
        }
    }

    fn friction_limit(&self) -> f64 {
        let tolerance = self.settings.tolerance;
        (10.0 * tolerance).min(FRICTION).max(tolerance)
    }

    fn note_defect(
        &self,
        t: f64,
        contact: &Contact,
        defect: FrictionDefect,
        report: &mut Verification,
    ) {
        let (name, tolerance) = (self.name(contact.constraint), self.settings.tolerance);
        let friction = self.friction_limit();
        for (line, size, limit) in [
            (Line::NormalSign, defect.normal, tolerance),
            (Line::FrictionCone, defect.cone, friction),
            (Line::FrictionLaw, defect.law, friction),
        ] {
            if !(size <= limit) {
                report.note(line, t, size, name);
            }
        }
    }

    /// The normal velocity after is what the impact law asks where a contact carries an impulse, and not less
    /// elsewhere; `rebound` turns restitution and normal velocity before into what is asked.
    pub(super) fn impact_law(
        &self,
        place: &Place,
        reaction: &Reaction,
        before: &[f64],
        rebound: &dyn Fn(f64, f64) -> f64,
        report: &mut Verification,
    ) {
        // A contact that a step may admit, and that carries nothing, may belong to its normal space or not.
        let sizes = self.sizes(place, reaction.impulse);
        let touches = |k: usize| {
            let c = &place.contacts[k];
            let own = &reaction.impulse[c.start..c.start + c.size];
            c.sure
                || own
                    .iter()
                    .any(|x| x.abs() > self.settings.tolerance * sizes[k])
        };
        let closed: Vec<usize> = (0..place.contacts.len())
            .filter(|&k| place.contacts[k].closed)
            .collect();
        let touching = closed.iter().copied();
        let touching: Vec<usize> = touching.filter(|&k| touches(k)).collect();
        let mut off = self.off_impact_law(place, reaction, (before, rebound), &closed);
        if !off.is_empty() && touching.len() < closed.len() {
            let other = self.off_impact_law(place, reaction, (before, rebound), &touching);
            if other.len() < off.len() {
                off = other;
            }
        }
        for (constraint, size) in off {
            report.note(Line::ImpactLaw, reaction.t, size, self.name(constraint));
        }
    }

    /// Constraints that are off the impact law, and how far, where these contacts span the normal space.
    fn off_impact_law(
        &self,
        place: &Place,
        reaction: &Reaction,
        (before, rebound): (&[f64], &dyn Fn(f64, f64) -> f64),
        active: &[usize],
    ) -> Vec<(usize, f64)> {
        let pressed = self.pressed(place, reaction, active);
        let targets = self.targets(place, before, rebound, active);
        let mut found = Vec::new();
        for ((contact, target), pressed) in place.contacts.iter().zip(targets).zip(pressed) {
            let i = contact.start;
            if !contact.closed || !(pressed || contact.sure) {
                continue;
            }
            let off = if pressed {
                (reaction.after[i] - target).abs()
            } else {
                target - reaction.after[i]
            };
            if !(off <= self.velocity_slack(place, i)) {
                let size = off * self.settings.tolerance / self.velocity_slack(place, i);
                found.push((contact.constraint, size));
            }
        }
        found
    }

    /// Which contacts are pressed: by their own impulse, or by the normal part λ of a generalized reaction, in which
    /// friction of one constraint can have a part along the normal of another.
    fn pressed(&self, place: &Place, reaction: &Reaction, active: &[usize]) -> Vec<bool> {
        let p = reaction.impulse;
        let sizes = self.sizes(place, p);
        let numbers = place.contacts.iter().zip(&sizes);
        let presses = |(c, size): (&Contact, &f64)| {
            let slack = self.settings.tolerance * size;
            p[c.start..c.start + c.size].iter().any(|x| x.abs() > slack)
        };
        let mut pressed: Vec<bool> = numbers.map(presses).collect();
        if self.formulation.test_velocities().is_none() || largest(p) == 0.0 {
            return pressed;
        }
        let inactive = (0..pressed.len()).filter(|k| !active.contains(k));
        inactive.for_each(|k| pressed[k] = false);
        for group in self.groups(place, |k| active.contains(&k)) {
            let closed: Vec<&Contact> = group.iter().map(|&k| &place.contacts[k]).collect();
            let speed = self.speed_at(place, &closed);
            let whole = GeneralizedReaction {
                contacts: &closed,
                leaving: &leaving_of(place, &closed, &reaction.leaving),
                w: &place.delassus,
                impulse: p,
                speed,
                least: self.rounding_size(speed),
            };
            let Some(multipliers) = generalized::multipliers(&whole) else {
                continue;
            };
            let mut constraints: Vec<usize> = closed.iter().map(|c| c.constraint).collect();
            constraints.dedup();
            for (c, multiplier) in constraints.into_iter().zip(multipliers) {
                let own = |k: &usize| place.contacts[*k].constraint == c;
                for k in (0..pressed.len()).filter(own) {
                    pressed[k] = multiplier > self.settings.tolerance * sizes[k];
                }
            }
        }
        pressed
    }

    /// Contacts that leave faster than the impact law asks: they are not pressed. Only generalized reactions, whose normal parts
    /// are not written down, need to know.
    pub(super) fn leaving(
        &self,
        place: &Place,
        (before, after): (&[f64], &[f64]),
        rebound: &dyn Fn(f64, f64) -> f64,
    ) -> Vec<bool> {
        if self.formulation.test_velocities().is_none() {
            return Vec::new();
        }
        let closed = (0..place.contacts.len()).filter(|&k| place.contacts[k].closed);
        let closed: Vec<usize> = closed.collect();
        let targets = self.targets(place, before, rebound, &closed);
        let pairs = place.contacts.iter().zip(targets);
        pairs
            .map(|(c, target)| after[c.start] - target > self.velocity_slack(place, c.start))
            .collect()
    }

    /// Normal velocity after that the impact law asks of every contact.
    fn targets(
        &self,
        place: &Place,
        before: &[f64],
        rebound: &dyn Fn(f64, f64) -> f64,
        closed: &[usize],
    ) -> Vec<f64> {
        let own = |c: &Contact| rebound(self.restitution(c), before[c.start]);
        let mut targets: Vec<f64> = place.contacts.iter().map(own).collect();
        let starts: Vec<usize> = closed.iter().map(|&k| place.contacts[k].start).collect();
        let approached = starts.iter().any(|&i| before[i] < 0.0);
        let Some(map) = self.settings.impact_map.as_ref().filter(|_| approached) else {
            return targets;
        };
        let (m, n) = (before.len(), closed.len());
        let w: Vec<f64> = (0..n * n)
            .map(|e| place.delassus[starts[e / n] * m + starts[e % n]])
            .collect();
        let u: Vec<f64> = starts.iter().map(|&i| before[i]).collect();
        let active: Vec<usize> = closed
            .iter()
            .map(|&k| place.contacts[k].constraint)
            .collect();
        let mut after = vec![0.0; n];
        map.after_among(&active, &w, &u, &mut after);
        for (&k, u) in closed.iter().zip(after) {
            targets[k] = u;
        }
        targets
    }
}

/// Which of some contacts of a place leave.
fn leaving_of(place: &Place, some: &[&Contact], leaving: &[bool]) -> Vec<bool> {
    let of = |contact: &&Contact| {
        let all = &place.contacts;
        let index = all.iter().position(|other| other.start == contact.start);
        index.and_then(|k| leaving.get(k)) == Some(&true)
    };
    some.iter().map(of).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |s, x| s.max(x.abs()))
}
