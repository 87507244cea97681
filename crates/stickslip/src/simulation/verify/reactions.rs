//! The lines that a reaction has at one place: complementarity, sign, friction, impact law.

use super::friction::{self, Contact, FrictionDefect};
use super::judge::Judge;
use super::place::Place;
use super::{Formulation, Line, Verification};

/// A reaction with the local velocities that its laws read.
pub(super) struct Reaction<'a> {
    pub t: f64,
    /// Impulses of all contact rows.
    pub impulse: &'a [f64],
    /// Velocity that friction reads.
    pub read: &'a [f64],
    /// Velocity after.
    pub after: &'a [f64],
}

/// Sizes against which the defects of a reaction are measured.
struct Scale {
    impulse: f64,
    power: f64,
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
        let size = p.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let slack = self.settings.tolerance * size;
        for contact in &place.contacts {
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
        let reach = (0..p.len()).map(|i| place.reach(i)).fold(0.0, f64::max);
        let fastest = reaction
            .after
            .iter()
            .fold(1e-3 * self.speed * reach, |s, x| s.max(x.abs()));
        let scale = Scale {
            impulse: size,
            power: size * fastest,
        };
        if self.formulation.generalized() {
            self.generalized_friction(place, reaction, &scale, report);
        } else {
            self.real_friction(place, reaction, &scale, report);
        }
    }

    /// Coulomb's law contact by contact.
    fn real_friction(
        &self,
        place: &Place,
        reaction: &Reaction,
        scale: &Scale,
        report: &mut Verification,
    ) {
        let p = reaction.impulse;
        for contact in place.contacts.iter().filter(|c| c.closed) {
            let range = contact.start..contact.start + contact.size;
            let slip = &reaction.read[range.start + 1..range.end];
            let mut defect = friction::real(contact, &p[range.clone()], slip);
            if self.formulation == Formulation::P2 {
                (defect.cone, defect.law) = (0.0, 0.0);
            }
            // The variational form is that of contact that lasts: no normal velocity after.
            let normal = reaction.after[contact.start].abs();
            let lasts = normal <= self.velocity_slack(place, contact.start);
            if self.formulation.particle() && lasts {
                let off = friction::variational(contact, &p[range.clone()], &reaction.after[range]);
                if off > 10.0 * self.settings.tolerance * scale.power {
                    let name = self.name(contact.constraint);
                    report.note(Line::Variational, reaction.t, off / scale.power, name);
                }
            }
            self.note_defect(reaction.t, contact, defect, scale, report);
        }
    }

    /// The law of P'3 and P'4 on the reaction as a whole.
    fn generalized_friction(
        &self,
        place: &Place,
        reaction: &Reaction,
        scale: &Scale,
        report: &mut Verification,
    ) {
        let p = reaction.impulse;
        // A contact within rounding of its gap may already take part in the normal space, or not yet.
        let touches = |c: &&Contact| {
            let own = &p[c.start..c.start + c.size];
            let slack = self.settings.tolerance * scale.impulse;
            c.sure || own.iter().any(|x| x.abs() > slack)
        };
        let closed: Vec<&Contact> = place.contacts.iter().filter(|c| c.closed).collect();
        let touching: Vec<&Contact> = closed.iter().copied().filter(touches).collect();
        if closed.is_empty() {
            return;
        }
        let judged = |set: &[&Contact]| {
            let motion = (reaction.after, self.speed);
            let (defects, _) = friction::generalized(set, &place.delassus, p, motion);
            let worst = defects.iter().fold(0.0f64, |s, d| {
                s.max(d.normal / scale.impulse)
                    .max(d.cone / scale.impulse)
                    .max(d.law / scale.power)
            });
            (defects, worst)
        };
        let (mut set, (mut defects, worst)) = (&closed, judged(&closed));
        if !touching.is_empty() && touching.len() < closed.len() {
            let (others, least) = judged(&touching);
            if least < worst || worst.is_nan() {
                (set, defects) = (&touching, others);
            }
        }
        for (contact, defect) in set.iter().zip(defects) {
            self.note_defect(reaction.t, contact, defect, scale, report);
        }
    }

    fn note_defect(
        &self,
        t: f64,
        contact: &Contact,
        defect: FrictionDefect,
        scale: &Scale,
        report: &mut Verification,
    ) {
        let (name, tolerance) = (self.name(contact.constraint), self.settings.tolerance);
        let normal = defect.normal / scale.impulse;
        let cone = defect.cone / scale.impulse;
        let law = defect.law / scale.power;
        for (line, size, limit) in [
            (Line::NormalSign, normal, tolerance),
            (Line::FrictionCone, cone, 10.0 * tolerance),
            (Line::FrictionLaw, law, 10.0 * tolerance),
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
        let p = reaction.impulse;
        let pressed = self.pressed(place, p);
        let targets = self.targets(place, before, rebound);
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
                let size = off / (self.speed * place.reach(i));
                report.note(
                    Line::ImpactLaw,
                    reaction.t,
                    size,
                    self.name(contact.constraint),
                );
            }
        }
    }

    /// Which contacts are pressed: by their own impulse, or by the normal part λ of a generalized reaction, in which
    /// friction of one constraint can have a part along the normal of another.
    fn pressed(&self, place: &Place, p: &[f64]) -> Vec<bool> {
        let size = p.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let slack = self.settings.tolerance * size;
        let own = |c: &Contact| p[c.start..c.start + c.size].iter().any(|x| x.abs() > slack);
        if !self.formulation.generalized() || size == 0.0 {
            return place.contacts.iter().map(own).collect();
        }
        let closed: Vec<&Contact> = place.contacts.iter().filter(|c| c.closed).collect();
        let motion = (&vec![0.0; p.len()][..], self.speed);
        let (_, multipliers) = friction::generalized(&closed, &place.delassus, p, motion);
        let mut constraints: Vec<usize> = closed.iter().map(|c| c.constraint).collect();
        constraints.dedup();
        let multiplier = |c: &Contact| {
            let place = constraints.iter().position(|&k| k == c.constraint);
            place.map_or(0.0, |k| multipliers[k])
        };
        place
            .contacts
            .iter()
            .map(|c| multiplier(c) > slack)
            .collect()
    }

    /// Normal velocity after that the impact law asks of every contact.
    fn targets(
        &self,
        place: &Place,
        before: &[f64],
        rebound: &dyn Fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let own = |c: &Contact| rebound(c.restitution, before[c.start]);
        let mut targets: Vec<f64> = place.contacts.iter().map(own).collect();
        let closed: Vec<usize> = (0..place.contacts.len())
            .filter(|&k| place.contacts[k].closed)
            .collect();
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
