//! Impacts, and impacts without collision.

use crate::algebra::dot;
use crate::contact::{BlockKind, ContactKey};
use crate::laws::{FlowRule, ImpactLaw, energetic_impact_in_space};
use crate::records::{StepOutcome, StepRecord};
use crate::stepping::assembly::ContactSlot;
use crate::stepping::{ContactStage, State, TimeSteppingScheme};
use crate::systems::{Instant, MechanicalSystem};

use super::ReferenceEventKind;
use super::events::Watch;
use super::integrator::Integrator;

/// Impacts that may follow each other at one instant.
const ROUNDS: usize = 10_000;

/// Normal impulse and energy of the contacts that approached. What contacts have that were struck without
/// approaching is shared among them as the normal impulses are: the energies are those of the contacts, and their sum that of the impact.
fn effects(record: &StepRecord, approaching: &[usize]) -> Vec<(f64, f64)> {
    let impulse = |s: &usize| record.impulses[record.contacts[*s].start];
    let own: f64 = (approaching.iter().map(|&s| record.contacts[s].work_law)).sum();
    let all: f64 = record.contacts.iter().map(|c| c.work_law).sum();
    let impulses: f64 = approaching.iter().map(impulse).sum();
    let share = |s: &usize| match impulses > 0.0 {
        true => impulse(s) / impulses,
        false => 1.0 / approaching.len() as f64,
    };
    let effect = |s: &usize| {
        let energy = record.contacts[*s].work_law + (all - own) * share(s);
        (impulse(s), energy)
    };
    approaching.iter().map(effect).collect()
}

impl Integrator {
    /// The impact laws act on the touching contacts that approach, again and again: one that opened may be closed by what another is struck
    /// with, and is struck in its turn. Bounces too low to resolve end in contact.
    pub(super) fn impacts(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
        watch: Option<Watch>,
    ) -> StepOutcome {
        self.place_here(system);
        let (mut struck, mut incoming): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut joints = self.joints_jumped(watch);
        for _ in 0..ROUNDS {
            let approaching = self.approaching();
            if approaching.is_empty() && !joints {
                return match struck.is_empty() {
                    true => StepOutcome::Solved,
                    false => self.end_of_bounces(system, &struck, &incoming),
                };
            }
            joints = false;
            for &s in &approaching {
                if !struck.contains(&s) {
                    struck.push(s);
                    incoming.push(self.accelerations.normal_velocity(s));
                }
            }
            let outcome = self.strike(system, stage, &approaching);
            if outcome.is_fatal() {
                return outcome;
            }
            self.place_here(system);
        }
        StepOutcome::NoProgress
    }

    /// Touching contacts that approach.
    fn approaching(&self) -> Vec<usize> {
        let acc = &self.accelerations;
        let approaches = |&s: &usize| {
            let speed = self.scales.speeds[acc.layout.slots()[s].start];
            self.touches(s) && acc.normal_velocity(s) < -1e-11 * speed
        };
        (0..acc.layout.slots().len()).filter(approaches).collect()
    }

    /// One impact of all that touches.
    fn strike(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
        approaching: &[usize],
    ) -> StepOutcome {
        let (acc, before) = (&self.accelerations, self.v().to_vec());
        let mut state = State {
            t: self.t,
            q: self.q().to_vec(),
            v: before.clone(),
            kinetic: acc.kinetic(&before),
            potential: 0.0,
            impulses: vec![0.0; acc.reaction.len()],
        };
        let mut record = StepRecord::default();
        stage.also = vec![false; acc.gaps.len()];
        for s in 0..acc.layout.slots().len() {
            stage.also[acc.layout.slots()[s].key.constraint()] |= self.touches(s);
        }
        self.impact
            .step(system, &mut state, 0.0, self.t, stage, &mut record);
        stage.also.clear();
        if record.outcome.is_fatal() {
            return record.outcome;
        }
        stage.keep_impact(self.t);
        self.apply(&state.v, &record);
        for (&s, effect) in approaching.iter().zip(effects(&record, approaching)) {
            self.record_impact(Some(s), ReferenceEventKind::Impact, &before, effect);
        }
        StepOutcome::Solved
    }

    /// Takes over velocity, impulses and works of an impact.
    pub(super) fn apply(&mut self, v: &[f64], record: &StepRecord) {
        let (nq, n) = (self.nq, self.n);
        self.y[nq..nq + n].copy_from_slice(v);
        for (total, p) in self.y[nq + n + 2..].iter_mut().zip(&record.impulses) {
            *total += p;
        }
        let works = record.joint_impulses.iter().chain([&record.energy.joints]);
        for (total, added) in self.joint_quadratures().iter_mut().zip(works) {
            *total += added;
        }
        for (work, contact) in self.impact_work.iter_mut().zip(&record.contacts) {
            let [normal, tangential] = contact.relative_works();
            let [along, across] = contact.work_support;
            let added = [normal, tangential, along, across];
            work.iter_mut().zip(added).for_each(|(w, a)| *w += a);
        }
    }

    /// Impacts without collision of slipping contacts that no acceleration can satisfy, each of which acts on no other contact that touches; false where
    /// there is none, or one has no impulse.
    pub(super) fn jam(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
        resting: &[Vec<bool>],
    ) -> bool {
        self.place_here(system);
        let touching = self.touching(None);
        let candidates: Vec<usize> = (0..touching.len()).filter(|&s| touching[s]).collect();
        let alone = |s: &usize| self.together(*s, &candidates).len() == 1;
        let mut jammed: Vec<usize> = candidates.iter().copied().filter(alone).collect();
        if candidates.len() > 1 {
            // Those for themselves that have an acceleration keep it.
            jammed.retain(|&s| {
                let only: Vec<bool> = (0..touching.len()).map(|k| k == s).collect();
                let mut modes = self.modes.clone();
                !(self.accelerations).choose(&only, resting, None, &mut modes)
            });
        }
        !jammed.is_empty() && jammed.into_iter().all(|s| self.jam_at(system, stage, s))
    }

    /// The kinetic projection of one contact from a grazing approach, or the energetic law where the contact has it.
    fn jam_at(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
        s: usize,
    ) -> bool {
        let before = self.v().to_vec();
        let acc = &self.accelerations;
        let n = self.n;
        let slot = acc.layout.slots()[s];
        let point = &system.constraints()[slot.key.constraint()].points()[slot.key.point()];
        let at = Instant {
            t: self.t,
            q: self.q(),
            v: self.v(),
            past: self.past.as_ref(),
            held: &[],
        };
        let Ok(section) = point.section_at(&at) else {
            return false;
        };
        let impact = point.law.impact();
        let layer_section = section.clone();
        stage.problem.begin(n);
        let kind = BlockKind::Unilateral { minimum: 0.0 };
        let id = ContactKey::declared(slot.key.constraint(), slot.key.point());
        let (rows, bias) =
            stage
                .problem
                .push(id, slot.size, section, FlowRule::KineticProjection, kind);
        rows.copy_from_slice(&acc.rows[slot.start * n..(slot.start + slot.size) * n]);
        let speed = dot(
            &acc.local[slot.start..][..slot.size],
            &acc.local[slot.start..][..slot.size],
        )
        .sqrt();
        for i in 0..slot.size {
            bias[i] = acc.local[slot.start + i] - dot(&rows[i * n..(i + 1) * n], &before);
        }
        bias[0] -= acc.local[slot.start] + 1e-13 * speed;
        stage.problem.condense(|x| {
            acc.respond(x);
        });
        stage.problem.velocity_free_mut().copy_from_slice(&before);
        stage.problem.refresh();
        // What the normal impulse does along a layer beyond its product with the mean velocity.
        let mut excess = 0.0;
        match impact {
            ImpactLaw::Energetic { restitution } => {
                let mut u = acc.local[slot.start..][..slot.size].to_vec();
                u[0] = 0.0;
                let w = stage.problem.dense();
                let layer = energetic_impact_in_space(&w, &u, &layer_section, restitution);
                if !layer.finished {
                    return false;
                }
                stage.solution.prepare(slot.size);
                stage.solution.impulse.copy_from_slice(&layer.impulse);
                excess = layer.excess(u[0], restitution);
            }
            _ => {
                stage.solution.prepare(slot.size);
                stage.solution.impulse.fill(0.0);
                stage.solve();
                if !stage.solution.status.is_solved() {
                    return false;
                }
            }
        }
        let mut v = before.clone();
        stage.problem.velocity(&stage.solution.impulse, &mut v);
        if !(stage.solution.impulse[0] > 0.0) {
            return false;
        }
        let mut works = [0.0; 4];
        works[0] = excess;
        works[1] = -excess;
        for (i, &p) in stage.solution.impulse.iter().enumerate() {
            let start = stage.problem.row_dot(i, &before);
            let drift = self.accelerations.local[slot.start + i] - start;
            let mean = 0.5 * (start + stage.problem.row_dot(i, &v));
            works[usize::from(i > 0)] += p * (mean + drift);
            works[2 + usize::from(i > 0)] -= p * drift;
        }
        self.book_joints(slot, &stage.solution.impulse, (&before, &v));
        let nq = self.nq;
        self.y[nq..nq + n].copy_from_slice(&v);
        for (i, &p) in stage.solution.impulse.iter().enumerate() {
            self.y[nq + n + 2 + slot.start + i] += p;
        }
        let booked = self.impact_work[s].iter_mut().zip(works);
        booked.for_each(|(sum, work)| *sum += work);
        let impulse = stage.solution.impulse[0];
        let effect = (impulse, works[0] + works[1]);
        self.record_impact(Some(s), ReferenceEventKind::Jam, &before, effect);
        self.place_here(system);
        true
    }

    /// Impulses of the joints that answer those of one contact, and their work while the velocity changes.
    fn book_joints(
        &mut self,
        slot: ContactSlot,
        impulse: &[f64],
        (before, after): (&[f64], &[f64]),
    ) {
        let acc = &self.accelerations;
        let mut total = vec![0.0; self.n];
        for (i, p) in impulse.iter().enumerate() {
            let row = &acc.rows[(slot.start + i) * self.n..][..self.n];
            total.iter_mut().zip(row).for_each(|(x, r)| *x += p * r);
        }
        let answer = acc.respond(&mut total);
        let mean: Vec<f64> = before
            .iter()
            .zip(after)
            .map(|(a, b)| 0.5 * (a + b))
            .collect();
        let work = acc.joint_power(&answer, &mean);
        let added = answer.iter().copied().chain([work]);
        let booked = self.joint_quadratures().iter_mut().zip(added);
        booked.for_each(|(sum, x)| *sum += x);
    }
}
