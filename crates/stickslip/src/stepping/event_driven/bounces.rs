//! The end of bouncing and rocking: series of ever lower flights, of one contact or from corner to corner.

use crate::algebra::dot;
use crate::records::StepOutcome;
use crate::systems::MechanicalSystem;

use super::ReferenceEventKind;
use super::full_pivoting::solve_full_pivoting;
use super::integrator::Integrator;
use super::modes::{Friction, Group, Mode};

/// Bounces that end and take up again within this many of their flights have not ended.
const AT_ONCE: f64 = 100.0;
/// How often they may.
const ENDINGS: usize = 1000;

/// Ends of bounces that took up again at once, in a row, or jumps at a kink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endings {
    last: f64,
    count: usize,
}

impl Endings {
    pub fn none() -> Self {
        Self {
            last: f64::NEG_INFINITY,
            count: 0,
        }
    }

    /// One more, after flights of at most this length; false if there were too many.
    pub(super) fn add(&mut self, t: f64, flight: f64) -> bool {
        let again = t - self.last <= AT_ONCE * flight;
        self.count = if again { self.count + 1 } else { 0 };
        self.last = t;
        self.count <= ENDINGS
    }
}

impl Integrator {
    /// Rebounds that cannot rise above the tolerance end in contact, of the contacts struck and of those that the impact lifts (a block
    /// that rocks from corner to corner never rebounds at the corner it strikes); the rest of the geometric series of flights is
    /// summed for the record. Slip that friction stops meanwhile ends with it: it would lift a corner that tips when it slips, and the series would begin again out of the
    /// rounding of places.
    pub(super) fn end_of_bounces(
        &mut self,
        system: &dyn MechanicalSystem,
        approaching: &[usize],
        incoming: &[f64],
    ) -> StepOutcome {
        self.derivative(system);
        self.place_here(system);
        let touching: Vec<usize> = (0..self.modes.len()).filter(|&s| self.touches(s)).collect();
        let fastest = incoming.iter().fold(0.0f64, |m, x| m.max(-x));
        let mut ended: Vec<(usize, f64)> = Vec::new();
        let (mut highest, mut longest) = (0.0f64, 0.0f64);
        for &s in &touching {
            if let Some((rebound, flight)) = self.low_bounce(s, &touching) {
                let struck = approaching.iter().position(|&a| a == s);
                let approach = struck.map_or(fastest, |k| -incoming[k]);
                let ratio = (rebound / approach).min(1.0 - 1e-12);
                ended.push((s, self.t + flight / (1.0 - ratio)));
                (highest, longest) = (highest.max(rebound), longest.max(flight));
            }
        }
        if ended.is_empty() {
            return StepOutcome::Solved;
        }
        self.place_here(system);
        let stays = |s: &usize| ended.iter().any(|e| e.0 == *s) || self.is_still(*s);
        let held: Vec<usize> = touching.into_iter().filter(stays).collect();
        ended.retain(|&(s, _)| !self.is_still(s));
        self.stop(&held, highest);
        let before = self.v().to_vec();
        // A rebound of rounding is none: an inelastic impact ends no series.
        while !ended.is_empty() {
            let (s, mut end) = ended.remove(0);
            let together = self.together(s, &held);
            ended.retain(|&(k, other)| {
                let own = together.contains(&k);
                end = if own { end.max(other) } else { end };
                !own
            });
            let mut series = self.bounces[s].end();
            for k in together {
                self.bounces[k].join(&mut series, 0.0);
            }
            self.record(Some(s), ReferenceEventKind::Accumulation { end }, &before);
            if let Some(event) = self.events.last_mut() {
                event.impacts = series.count;
            }
        }
        self.place_here(system);
        match self.endings.add(self.t, longest) {
            true => StepOutcome::Solved,
            false => StepOutcome::NoProgress,
        }
    }

    /// Contacts of those held that act on each other and on this one: the feet of one body, which are struck in turns.
    pub(super) fn together(&self, s: usize, held: &[usize]) -> Vec<usize> {
        let acc = &self.accelerations;
        let rows =
            |s: usize| (0..=acc.groups[s].iter().map(|g| g.size).sum()).map(move |i| acc.row(s, i));
        let (mut found, mut next) = (vec![s], 0);
        while next < found.len() {
            let mut responses: Vec<Vec<f64>> = rows(found[next]).map(<[f64]>::to_vec).collect();
            for response in &mut responses {
                acc.respond(response);
            }
            let acts = |k: &usize| rows(*k).any(|row| responses.iter().any(|x| dot(row, x) != 0.0));
            let others: Vec<usize> = held
                .iter()
                .copied()
                .filter(|k| !found.contains(k))
                .filter(acts)
                .collect();
            found.extend(others);
            next += 1;
        }
        found
    }

    /// Whether a contact neither approaches nor opens, up to rounding.
    fn is_still(&self, s: usize) -> bool {
        let start = self.accelerations.layout.slots()[s].start;
        self.accelerations.normal_velocity(s).abs() <= 1e-11 * self.scales.speeds[start]
    }

    /// Sets the velocities to zero of what ends and of what is at rest, which stay together: to stop one corner alone would drive the other into the floor.
    fn stop(&mut self, held: &[usize], rebound: f64) {
        let acc = &self.accelerations;
        let (mut rows, mut velocities) = (Vec::new(), Vec::new());
        for &s in held {
            rows.push(acc.row(s, 0).to_vec());
            velocities.push(acc.normal_velocity(s));
            for group in acc.groups[s].iter().filter(|g| self.stops(s, g, rebound)) {
                for i in group.start..group.start + group.size {
                    rows.push(acc.row(s, i).to_vec());
                    velocities.push(acc.local[acc.layout.slots()[s].start + i]);
                }
            }
        }
        // Joints keep the velocity they have.
        rows.extend(acc.joint_rows().map(<[f64]>::to_vec));
        velocities.resize(rows.len(), 0.0);
        let correction = self.correction(&rows, &velocities);
        let nq = self.nq;
        let parts = self.y[nq..].iter_mut().zip(&correction);
        parts.for_each(|(v, c)| *v += c);
    }

    /// Whether friction can stop a group of tangents until the next impact and with it: a contact that stays closed takes about twice the speed of the rebound during
    /// the flight, and once at its end.
    fn stops(&self, s: usize, group: &Group, rebound: f64) -> bool {
        let acc = &self.accelerations;
        let rows: Vec<&[f64]> = (group.start..group.start + group.size)
            .map(|i| acc.row(s, i))
            .collect();
        let mut compliance = Vec::new();
        for row in &rows {
            let mut response = row.to_vec();
            acc.factor.solve_in_place(&mut response);
            compliance.extend(rows.iter().map(|row| dot(row, &response)));
        }
        let mut slip = acc.velocity(s, group).to_vec();
        let (needed, _) = solve_full_pivoting(&mut compliance, &mut slip, None);
        let against: Vec<f64> = needed.iter().map(|p| -p).collect();
        let pressure = 3.0 * rebound / acc.compliance(s);
        acc.section(s, group).gauge(&against) <= pressure
    }

    /// Velocity and time of flight of a rebound that rises less than the tolerance, beside the contacts that stay closed.
    fn low_bounce(&mut self, s: usize, touching: &[usize]) -> Option<(f64, f64)> {
        let rebound = self.accelerations.normal_velocity(s);
        if !(rebound > 0.0) {
            return None;
        }
        let modes: Vec<Mode> = (0..self.modes.len())
            .map(|k| self.mode_of_flight(k, k != s && touching.contains(&k), rebound))
            .collect();
        self.accelerations.solve(&modes);
        let fall = -self.accelerations.row_acceleration(s, 0);
        if !(fall > 0.0) {
            return None;
        }
        let height = rebound * rebound / (2.0 * fall);
        let flight = 2.0 * rebound / fall;
        let c = self.accelerations.layout.slots()[s].key.constraint();
        let lowest = 64.0 * self.accelerations.gap_rounding[c];
        let least = self.settings.bounce_min * self.scales.length(c);
        let low = height < least.max(lowest) || flight <= 1e-13 * self.t.abs();
        low.then_some((rebound, flight))
    }

    /// Mode of a contact while another flies.
    fn mode_of_flight(&self, k: usize, touches: bool, rebound: f64) -> Mode {
        let acc = &self.accelerations;
        let friction = acc.groups[k].iter().map(|group| {
            let velocity = acc.velocity(k, group);
            let speed = dot(velocity, velocity).sqrt();
            if !(speed > 0.0) || self.stops(k, group, rebound) {
                Friction::Stick
            } else {
                Friction::Slip(velocity.iter().map(|u| u / speed).collect())
            }
        });
        Mode {
            closed: touches && self.is_still(k),
            friction: friction.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounces that end and take up again at once do so a thousand times; a pause of more than a hundred flights begins anew.
    #[test]
    fn bounces_that_never_end_stop_the_run() {
        let (flight, step) = (1e-8, 5e-7);
        let mut endings = Endings::none();
        let ends = |endings: &mut Endings, from: f64, many: usize| {
            (0..many).all(|k| endings.add(from + step * k as f64, flight))
        };
        assert!(ends(&mut endings, 0.0, 1001));
        assert!(ends(&mut endings, 1.0, 1001));
        assert!(!endings.add(1.0 + step * 1001.0, flight));
        let seldom = |k: usize| 2.0 + 2e-6 * k as f64;
        assert!((0..3000).all(|k| endings.add(seldom(k), flight)));
    }
}
