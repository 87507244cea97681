//! From one set of modes to the next.

use crate::algebra::dot;
use crate::records::StepOutcome;
use crate::stepping::ContactStage;
use crate::systems::{Instant, MechanicalSystem};

use super::events::Watch;
use super::integrator::Integrator;
use super::modes::{Friction, Mode};
use super::scales::STOPPED;
use super::{ReferenceEvent, ReferenceEventKind};

impl Integrator {
    /// What happens at an event: impacts, accumulation of bounces, new modes.
    pub(super) fn transit(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
        watch: Option<Watch>,
    ) -> StepOutcome {
        let mut before = self.v().to_vec();
        self.place_here(system);
        self.observe_scales(system);
        if let Some(Watch::User(i)) = watch {
            self.record(None, ReferenceEventKind::Watched(i), &before);
            return StepOutcome::Solved;
        }
        if let Some(Watch::Begun(s, g)) = watch {
            let velocity = self
                .accelerations
                .velocity(s, &self.accelerations.groups[s][g]);
            let speed = dot(velocity, velocity).sqrt();
            let direction = velocity.iter().map(|u| u / speed).collect();
            self.modes[s].friction[g] = Friction::Slip(direction);
            return StepOutcome::Solved;
        }
        let old: Vec<Mode> = self.modes.clone();
        if let Some(Watch::Stop(s, g)) = watch {
            self.finish_stop(system, s, g);
            before.copy_from_slice(&self.y[self.nq..self.nq + self.n]);
        }
        let rigid = self.settings.compliance.is_none();
        if !rigid && self.joints_jumped(watch) {
            self.joints_strike(system);
        }
        if rigid {
            let outcome = self.impacts(system, stage, watch);
            if outcome.is_fatal() {
                return outcome;
            }
        }
        // A slip that leaps past zero has not stopped.
        let stopped = match watch {
            Some(Watch::Stop(s, g)) if !self.leapt => Some((s, g)),
            _ => None,
        };
        let leaving = match watch {
            Some(Watch::Cone(s, g)) => Some((s, g)),
            _ => None,
        };
        let mut touching = self.touching(watch);
        let rounding = 4.0 * f64::EPSILON * self.t.abs();
        let now = self.t;
        self.released.retain(|&(_, t)| now - t <= rounding);
        if let Some(Watch::Normal(s)) = watch {
            // The reaction has fallen to zero: the contact opens unless it is pressed again at once. So do those of the same instant: reactions that vanish
            // together would else take turns.
            self.released.push((s, now));
            self.released.iter().for_each(|&(s, _)| touching[s] = false);
        }
        for _ in 0..4 {
            let resting = self.rest(system, &touching, stopped);
            self.derivative(system);
            self.place_here(system);
            let was = self.modes.clone();
            let mut modes = std::mem::take(&mut self.modes);
            let acc = &mut self.accelerations;
            acc.dependent = false;
            // Differences within rounding must not put back into stick what has just left it.
            let found = leaving.is_some() && acc.choose(&touching, &resting, leaving, &mut modes)
                || acc.choose(&touching, &resting, None, &mut modes);
            if let Some(Watch::Normal(_)) = watch {
                let acc = &mut self.accelerations;
                let margin = 1e-6 * acc.scale();
                let falls = |&&(s, _): &&(usize, f64)| {
                    found && !touching[s] && acc.row_acceleration(s, 0) < -margin
                };
                let pressed: Vec<usize> = self.released.iter().filter(falls).map(|x| x.0).collect();
                if !pressed.is_empty() {
                    pressed.iter().for_each(|&s| touching[s] = true);
                    self.modes = was;
                    continue;
                }
            }
            self.modes = modes;
            if found {
                break;
            }
            // No acceleration fits: an impact without collision stops the slip.
            if !rigid || !self.jam(system, stage, &resting) {
                let slots = self.accelerations.layout.slots().iter().zip(&touching);
                let first = slots
                    .filter(|(_, touches)| **touches)
                    .map(|(slot, _)| slot.key);
                let contact = first.min().unwrap_or_default();
                return if self.accelerations.dependent {
                    StepOutcome::ReactionsNotUnique { contact }
                } else if rigid && self.touching(None).iter().filter(|t| **t).count() > 1 {
                    StepOutcome::JamOfSeveral { contact }
                } else {
                    StepOutcome::NoSolution { contact }
                };
            }
            touching = self.touching(None);
        }
        self.report(watch.is_none(), &old, &before);
        self.project(system);
        self.derivative(system);
        self.enter_node();
        self.add_breaks();
        self.shorten_after_rebound();
        StepOutcome::Solved
    }

    pub(super) fn place_here(&mut self, system: &dyn MechanicalSystem) {
        let (q, v) = (self.q().to_vec(), self.v().to_vec());
        let at = Instant {
            t: self.t,
            q: &q,
            v: &v,
            past: self.past.as_ref(),
            held: &[],
        };
        self.accelerations.place(system, &at, true);
    }

    /// Runs a slip in several tangents to its very end: from the stopping speed to zero.
    pub(super) fn finish_stop(&mut self, system: &dyn MechanicalSystem, s: usize, g: usize) {
        let group = self.accelerations.groups[s][g];
        if group.size == 1 {
            return;
        }
        let velocity = self.accelerations.velocity(s, &group).to_vec();
        let speed = dot(&velocity, &velocity).sqrt();
        let brake: f64 = (0..group.size)
            .map(|k| -velocity[k] / speed * self.accelerations.row_acceleration(s, group.start + k))
            .sum();
        if brake > 0.0 && speed > 0.0 {
            // The whole state goes on for that long: what is closed and still moves would open otherwise.
            let (rest, nq) = (speed / brake, self.nq);
            let (q, v) = (self.q().to_vec(), self.v().to_vec());
            let acceleration = &self.accelerations.a;
            let mean: Vec<f64> = (v.iter().zip(acceleration))
                .map(|(v, a)| v + 0.5 * rest * a)
                .collect();
            let slope = std::mem::take(&mut self.step.k[0]);
            let parts = self.y[nq..].iter_mut().zip(&slope[nq..]);
            parts.for_each(|(y, k)| *y += rest * k);
            self.step.k[0] = slope;
            system.displace(&q, &mean, rest, &mut self.y[..nq]);
            self.t += rest;
        }
    }

    /// Whether the gap of a contact is within rounding of the lengths of the run.
    pub(super) fn touches(&self, s: usize) -> bool {
        let c = self.accelerations.layout.slots()[s].key.constraint();
        let limit = self.scales.touching[c].max(self.accelerations.gap_rounding[c]);
        self.accelerations.gaps[c] <= limit
    }

    /// Contacts that touch and do not separate.
    pub(super) fn touching(&self, watch: Option<Watch>) -> Vec<bool> {
        let acc = &self.accelerations;
        acc.layout
            .slots()
            .iter()
            .enumerate()
            .map(|(s, slot)| {
                let gap = acc.gaps[slot.key.constraint()];
                if !acc.springs.is_empty() {
                    let leaves = watch == Some(Watch::Release(s));
                    let enters = watch == Some(Watch::Gap(slot.key.constraint()));
                    // a contact that has just closed may not press yet
                    let closed =
                        self.modes[s].closed && gap <= acc.gap_rounding[slot.key.constraint()];
                    return !leaves && (gap < 0.0 || enters || closed);
                }
                self.touches(s) && acc.normal_velocity(s) <= 1e-10 * self.scales.speeds[slot.start]
            })
            .collect()
    }

    /// Sets velocities that are zero up to rounding to zero; returns which groups rest.
    pub(super) fn rest(
        &mut self,
        system: &dyn MechanicalSystem,
        touching: &[bool],
        stopped: Option<(usize, usize)>,
    ) -> Vec<Vec<bool>> {
        self.place_here(system);
        let acc = &self.accelerations;
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        let mut resting = Vec::new();
        for (s, groups) in acc.groups.iter().enumerate() {
            let slot = acc.layout.slots()[s];
            if touching[s] && acc.springs.is_empty() {
                rows.push(acc.row(s, 0).to_vec());
                values.push(acc.normal_velocity(s));
            }
            let mut list = Vec::new();
            for (g, group) in groups.iter().enumerate() {
                let velocity = acc.velocity(s, group);
                let size = dot(velocity, velocity).sqrt();
                let limit = if group.size > 1 { 2.0 * STOPPED } else { 1e-11 };
                let slow = size <= limit * self.slip_speed(s, g);
                let rests = touching[s] && (slow || stopped == Some((s, g)));
                if rests {
                    for i in group.start..group.start + group.size {
                        rows.push(acc.row(s, i).to_vec());
                        values.push(acc.local[slot.start + i]);
                    }
                }
                list.push(rests);
            }
            resting.push(list);
        }
        for joint in system.joints() {
            let mut row = vec![0.0; self.n];
            joint.function().gradient(self.t, self.q(), &mut row);
            rows.push(row);
            values.push(0.0);
        }
        let correction = self.correction(&rows, &values);
        let nq = self.nq;
        for (v, c) in self.y[nq..].iter_mut().zip(&correction) {
            *v += c;
        }
        self.place_here(system);
        resting
    }

    /// Events of the modes that changed.
    pub(super) fn report(&mut self, first: bool, old: &[Mode], before: &[f64]) {
        for s in 0..self.modes.len() {
            let is = self.modes[s].clone();
            if is.closed != old[s].closed || first {
                if !is.closed {
                    self.record(Some(s), ReferenceEventKind::Open, before);
                } else if is.friction.is_empty() {
                    self.record(Some(s), ReferenceEventKind::Closed, before);
                }
            }
            if !is.closed {
                continue;
            }
            for g in 0..is.friction.len() {
                let (was, is) = (&old[s], &self.modes[s]);
                let same = was.closed
                    && !first
                    && match (&was.friction[g], &is.friction[g]) {
                        (Friction::Stick, Friction::Stick) => true,
                        (was, is) => {
                            (was.slip().zip(is.slip())).is_some_and(|(a, b)| dot(a, b) > 0.0)
                        }
                    };
                if same {
                    continue;
                }
                let kind = match is.friction[g].slip() {
                    None => ReferenceEventKind::Stick { group: g },
                    Some(direction) => ReferenceEventKind::Slip {
                        group: g,
                        direction: direction.to_vec(),
                        turns: was.closed && !first && was.friction[g].slip().is_some(),
                    },
                };
                self.record(Some(s), kind, before);
            }
        }
    }

    pub(super) fn record(&mut self, slot: Option<usize>, kind: ReferenceEventKind, before: &[f64]) {
        self.record_impact(slot, kind, before, (0.0, 0.0));
    }

    /// Records an event with its normal impulse and the energy that the contacts gave.
    pub(super) fn record_impact(
        &mut self,
        slot: Option<usize>,
        kind: ReferenceEventKind,
        before: &[f64],
        (impulse, energy): (f64, f64),
    ) {
        let acc = &self.accelerations;
        let key = slot.map(|s| acc.layout.slots()[s].key);
        // The local velocity is that of the present; an impact changes it by what it changed v.
        let approach = slot.map_or(0.0, |s| {
            let drift = acc.normal_velocity(s) - dot(acc.row(s, 0), &acc.placed_velocity);
            dot(acc.row(s, 0), before) + drift
        });
        if let (Some(s), ReferenceEventKind::Impact) = (slot, &kind) {
            self.bounces[s].strike(self.t, 0.0);
        }
        self.events.push(ReferenceEvent {
            t: self.t,
            constraint: key.map_or(usize::MAX, |key| key.constraint()),
            point: key.map_or(0, |key| key.point()),
            kind,
            q: self.q().to_vec(),
            velocity_before: before.to_vec(),
            velocity: self.v().to_vec(),
            approach,
            impulse,
            energy,
            impacts: 0,
        });
    }

    /// The first step after a rebound is about as long as the flight, so that its end is seen.
    pub(super) fn shorten_after_rebound(&mut self) {
        let acc = &self.accelerations;
        for (s, mode) in self.modes.iter().enumerate() {
            let rebound = acc.normal_velocity(s);
            if mode.closed || !self.touches(s) || !(rebound > 0.0) {
                continue;
            }
            let fall = -(dot(acc.row(s, 0), &acc.a));
            if fall > 0.0 {
                self.h = self.h.min(1.2 * 2.0 * rebound / fall);
            }
        }
    }

    /// A kink now comes back after every delay, smoother each time.
    pub(super) fn add_breaks(&mut self) {
        for &delay in &self.delays {
            for k in 1..=6 {
                self.breaks.push(self.t + k as f64 * delay);
            }
        }
        if self.breaks.len() > 4000 {
            self.breaks.sort_by(f64::total_cmp);
            self.breaks.truncate(4000);
        }
    }

    /// Enters the current state as a node of the past.
    pub(super) fn enter_node(&mut self) {
        let (nq, n) = (self.nq, self.n);
        if let Some(past) = &mut self.past {
            let (q, v) = (&self.y[..nq], &self.y[nq..nq + n]);
            past.push_smooth(self.t, q, v, &self.accelerations.a);
            past.commit();
        }
    }
}
