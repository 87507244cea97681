//! Steps of runs whose positions are corrected: where their laws are read.

use crate::algebra::dot;
use crate::systems::{Instant, MechanicalSystem};

use super::judge::{Judge, LENGTH_ROUNDING};
use super::place::{Place, remove};
use super::run_steps::Step;
use super::{Discretisation, Formulation, Line, MotionNode, Verification};

/// A jump of the rate of a gap is at least this part of what it changes on the way of a step.
const JUMP: f64 = 0.1;

impl Judge<'_> {
    /// Position of a node before it was projected.
    pub(super) fn before_projection(&self, node: &MotionNode) -> Vec<f64> {
        let mut q = node.q.clone();
        if node.moved.iter().any(|&x| x != 0.0) {
            self.system.displace(&node.q, &node.moved, -1.0, &mut q);
        }
        q
    }

    /// Rounding of each coordinate before a projection: displacements along several normals cancel in one that stays.
    pub(super) fn projection_rounding(&self, place: &Place, b: &MotionNode) -> Vec<f64> {
        let (n, moved) = (self.system.dof(), b.moved.as_slice());
        let mut momentum = vec![0.0; n];
        if moved.iter().all(|&x| x == 0.0) {
            return vec![0.0; b.q.len()];
        }
        let mut lengths = vec![0.0; n];
        for part in self.subsystems.parts() {
            let own = self.subsystems.only(moved, part);
            place.mass.multiply(&own, &mut momentum);
            let length = dot(&own, &momentum).max(0.0).sqrt();
            let all = vec![length; n];
            let own = self.subsystems.only(&all, part);
            lengths.iter_mut().zip(own).for_each(|(l, own)| *l += own);
        }
        let rounding = |i: usize| {
            let reach = place.mass.get(i, i).max(f64::MIN_POSITIVE).sqrt();
            1e-13 * lengths[i] / reach
        };
        if b.q.len() == n {
            return (0..n).map(rounding).collect();
        }
        // Coordinates of a body are not those of its velocities.
        vec![(0..n).map(rounding).fold(0.0, f64::max); b.q.len()]
    }

    /// A projection moves the end of a step in the kinetic metric, taken where it starts, along the normals of joints, of contacts that
    /// are closed after it, and of contacts below their obstacle that it leaves as deep as they are.
    pub(super) fn projected(&self, there: &Place, b: &MotionNode, report: &mut Verification) {
        let moved = b.moved.as_slice();
        if moved.iter().all(|&x| x == 0.0) {
            return;
        }
        let (system, free) = (self.system, self.before_projection(b));
        let before = Place::at(system, b.t, &free, &b.v_right);
        // Newton's method ends within rounding of the gap, or a small part of what it brought back; a gap in which nothing
        // moves has the rounding of the whole motion.
        let closed = |c: usize| {
            let slack = self.gap_slack(there, c) + 16.0 * there.roundings[c];
            let slack = slack + self.motion_rounding(there, c);
            let (from, to) = (before.gaps[c], there.gaps[c]);
            let kept = from < 0.0 && (to - from).abs() <= slack;
            kept || to.abs() <= slack + 1e-6 * from.abs()
        };
        let closed: Vec<usize> = (0..there.gaps.len()).filter(|&c| closed(c)).collect();
        let mut rows = there.joints.clone();
        rows.extend(closed.iter().map(|&c| there.gradients[c].clone()));
        let others = before.joints.iter();
        let others = others.chain(closed.iter().map(|&c| &before.gradients[c]));
        for part in self.subsystems.parts() {
            let own = self.subsystems.only(moved, part);
            // Normals turn along the way, which is as long as the displacement.
            let pairs = rows.iter().zip(others.clone());
            let touching = pairs.filter(|(x, _)| dot(&self.subsystems.only(x, part), x) > 0.0);
            let turned: f64 = touching
                .map(|(x, y)| {
                    let apart: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
                    (dot(&apart, &apart) / dot(x, x).max(f64::MIN_POSITIVE)).sqrt()
                })
                .sum();
            let mut momentum = vec![0.0; own.len()];
            before.mass.multiply(&own, &mut momentum);
            let length = dot(&own, &momentum).max(0.0).sqrt();
            let size = dot(&momentum, &momentum).sqrt();
            // So small that its square is none: no displacement at all.
            if size == 0.0 || length == 0.0 {
                continue;
            }
            remove(&mut momentum, &rows);
            let off = dot(&momentum, &momentum).sqrt() / size;
            // A displacement near the rounding of the position has no direction, nor has one near that of what forces give within a step.
            let place = match b.q.len() == own.len() {
                true => self.subsystems.only(&b.q, part),
                false => b.q.clone(),
            };
            let place = place.iter().fold(0.0f64, |s, x| s.max(x.abs()));
            let given = LENGTH_ROUNDING * self.subsystems.given(&own) / length;
            let rounding = 1e-13 * place / dot(&own, &own).sqrt() + given;
            if !(off <= self.settings.tolerance + 10.0 * turned + rounding) {
                report.note(Line::Projection, b.t, off, None);
            }
        }
    }

    /// Whether the system turns freely between the impulses of the steps.
    pub(super) fn coasts(&self, rule: Discretisation) -> bool {
        self.motion.corrected && rule.implicit() && self.system.turns()
    }

    /// Position and velocity before and after the impulses of a step of a system that coasts.
    pub(super) fn around_impulses(
        &self,
        theta: f64,
        (a, b): (&MotionNode, &MotionNode),
    ) -> (MotionNode, MotionNode) {
        let h = b.t - a.t;
        let (mut before, mut after) = (a.clone(), b.clone());
        let system = self.system;
        let reach = (1.0 - theta) * h;
        system.coast(&a.q, &a.v_right, reach, &mut before.q, &mut before.v_right);
        system.coast(
            &b.q,
            &b.v_right,
            -theta * h,
            &mut after.q,
            &mut after.v_right,
        );
        let mut q = b.q.clone();
        system.coast(&b.q, &b.v_left, -theta * h, &mut q, &mut after.v_left);
        (before, after)
    }

    /// The place at which the laws of a step are read: rows along the path, gaps where the scheme tests them, and the
    /// turning of the normals that is no approach. The motion `begins` with its first step.
    pub(super) fn along(
        &self,
        rule: Discretisation,
        (here, there): (&Place, &Place),
        (a, b): (&MotionNode, &MotionNode),
        begins: bool,
    ) -> Place {
        let (system, h) = (self.system, b.t - a.t);
        let v = &a.v_right;
        if let Discretisation::Theta { theta, .. } = rule {
            let (mut q, mut coasted) = (a.q.clone(), v.clone());
            let reach = (1.0 - theta) * h;
            system.coast(&a.q, v, reach, &mut q, &mut coasted);
            let mut place = Place::at(system, a.t + reach, &q, v);
            let mut start = rates(here, v);
            self.answer_jumps((a, (a.t + reach, &q)), &place, v, &mut start);
            let gradients = place.gradients.clone();
            let turning = if system.turns() { &coasted } else { v };
            place.split_turning(turning, &start, &gradients);
            place.judge_gaps_of(here);
            return place;
        }
        let (end, tested) = match rule {
            Discretisation::EndOfStep { .. } => (b, there),
            _ => (a, here),
        };
        let mut place = Place::at(system, end.t, &end.q, v);
        let mut q = end.q.clone();
        // No chord leads to the start of a motion.
        let chord = if begins && !rule.at_end() { 0.0 } else { h };
        system.displace(&end.q, v, -0.5 * chord, &mut q);
        let middle = Place::at(system, end.t - 0.5 * chord, &q, v);
        let mut start = rates(&middle, v);
        let mut back = end.clone();
        system.displace(&end.q, v, -chord, &mut back.q);
        back.t -= chord;
        self.answer_jumps((&back, (end.t, &end.q)), &place, v, &mut start);
        let gradients = place.gradients.clone();
        place.split_turning(v, &start, &gradients);
        place.judge_gaps_of(tested);
        place
    }

    /// Where the normal of a gap jumps on the way from one configuration to the place of the laws, all of the approach there is
    /// answered by the impact law: what a kink turns does not shrink with the part of the way that holds it.
    fn answer_jumps(
        &self,
        (from, (t, q)): (&MotionNode, (f64, &[f64])),
        place: &Place,
        v: &[f64],
        start: &mut [f64],
    ) {
        let ways = [(from.t, from.q.as_slice()), (t, q)];
        for (c, constraint) in self.system.constraints().iter().enumerate() {
            let gap = constraint.gap();
            if !gap.has_kinks() {
                continue;
            }
            let mut row = vec![0.0; v.len()];
            let mut rate = |s: f64| {
                let place: Vec<f64> = (ways[0].1.iter().zip(ways[1].1))
                    .map(|(a, b)| (1.0 - s) * a + s * b)
                    .collect();
                let t = (1.0 - s) * ways[0].0 + s * ways[1].0;
                gap.gradient(t, &place, &mut row);
                dot(&row, v) + gap.rate(t, &place)
            };
            let whole = (rate(1.0) - rate(0.0)).abs();
            let (mut s, mut length, mut jump) = (0.0, 1.0, whole);
            while length > 1e-7 && jump >= JUMP * whole && whole > 0.0 {
                length *= 0.5;
                let [first, second] = [s, s + length].map(|s| (rate(s + length) - rate(s)).abs());
                if second > first {
                    s += length;
                }
                jump = first.max(second);
            }
            if whole > 0.0 && jump >= JUMP * whole {
                start[c] = place.gap_rate(c, v);
            }
        }
    }

    /// Gives contacts whose friction depends on the slip speed the sections of the speed that their law read.
    pub(super) fn read_slip(&self, system: &dyn MechanicalSystem, place: &mut Place, step: Step) {
        let (rule, (a, b)) = (step.rule, step.ends);
        let (t, q) = if rule.at_end() {
            (b.t, &b.q)
        } else {
            (a.t, &a.q)
        };
        let at = Instant {
            past: system.past(),
            ..Instant::new(t, q, &a.v_right)
        };
        let mean = |u_n: f64| match self.formulation {
            Formulation::Fremond => rule.friction_weight(u_n, step.friction),
            _ => 1.0,
        };
        let (before, after) = (place.local(&a.v_right), place.local(&b.v_right));
        let mut points = self.system.constraints().iter().flat_map(|c| c.points());
        for contact in &mut place.contacts {
            let Some(point) = points.next().filter(|point| point.slip.is_some()) else {
                continue;
            };
            // What the normal turns along the step is no approach.
            let turning = place.turning.get(contact.start).copied().unwrap_or(0.0);
            let weight = mean(before[contact.start] - turning);
            let square: f64 = (contact.start + 1..contact.start + contact.size)
                .map(|i| (1.0 - weight) * before[i] + weight * after[i])
                .map(|u| u * u)
                .sum();
            if let Ok(section) = point.section_at_slip(&at, square.sqrt()) {
                contact.section = section;
            }
        }
    }

    /// Contacts that a corrected step may admit besides those of its forecast: what it can reach, also by the impulses of
    /// others if the contact had none of its own.
    pub(super) fn admit(&self, place: &mut Place, (a, b): (&MotionNode, &MotionNode)) {
        let h = b.t - a.t;
        let approach: Vec<f64> = (0..place.gaps.len())
            .map(|c| {
                let alone = place.without(c, &b.atom, &b.v_right);
                let rates = [&a.v_right, &b.v_left, &b.v_right, &alone];
                let rates = rates.map(|v| place.gap_rate(c, v).abs());
                rates.into_iter().fold(0.0, f64::max)
            })
            .collect();
        let turned: Vec<f64> = place.turning.clone();
        let was: Vec<(bool, bool)> = place.contacts.iter().map(|c| (c.closed, c.sure)).collect();
        place.close(|place, contact| {
            let c = contact.constraint;
            let own = place
                .contacts
                .iter()
                .position(|other| other.start == contact.start)
                .map_or((false, false), |i| was[i]);
            let turning = turned.get(contact.start).map_or(0.0, |x| x.abs());
            let reach = 2.0 * h * (approach[c] + 2.0 * turning) + place.roundings[c];
            (own.0 || place.gaps[c] <= reach, own.1)
        });
    }
}

/// Rates of all gaps for the velocity v.
fn rates(place: &Place, v: &[f64]) -> Vec<f64> {
    (0..place.gaps.len())
        .map(|c| place.gap_rate(c, v))
        .collect()
}
