//! Steps of runs whose positions are corrected: where their laws are read.

use crate::systems::{Instant, MechanicalSystem};

use super::judge::Judge;
use super::place::Place;
use super::run_steps::Step;
use super::{Discretisation, Formulation, MotionNode};

impl Judge<'_> {
    /// Displacement of the projection of a node, if positions of the run are corrected.
    pub(super) fn projection<'b>(&self, node: &'b MotionNode) -> Option<&'b [f64]> {
        self.motion.corrected.then_some(node.moved.as_slice())
    }

    /// Position of a node before it was projected.
    pub(super) fn before_projection(&self, node: &MotionNode, moved: &[f64]) -> Vec<f64> {
        let mut q = node.q.clone();
        if moved.len() == self.system.dof() {
            self.system.displace(&node.q, moved, -1.0, &mut q);
        }
        q
    }

    /// Whether the system turns freely between the impulses of the steps.
    pub(super) fn coasts(&self, rule: Discretisation, moved: Option<&[f64]>) -> bool {
        moved.is_some() && rule.implicit() && self.system.turns()
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
    /// turning of the normals that is no approach.
    pub(super) fn along(
        &self,
        rule: Discretisation,
        (here, there): (&Place, &Place),
        (a, b): (&MotionNode, &MotionNode),
    ) -> Place {
        let (system, h) = (self.system, b.t - a.t);
        let v = &a.v_right;
        if let Discretisation::Theta { theta, .. } = rule {
            let (mut q, mut coasted) = (a.q.clone(), v.clone());
            let reach = (1.0 - theta) * h;
            system.coast(&a.q, v, reach, &mut q, &mut coasted);
            let mut place = Place::at(system, a.t + reach, &q, v);
            let start = rates(here, v);
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
        system.displace(&end.q, v, -0.5 * h, &mut q);
        let middle = Place::at(system, end.t - 0.5 * h, &q, v);
        let mut points = system.constraints().iter().flat_map(|c| c.points());
        if !points.any(|point| point.law.flow_rule().generalized().is_some()) {
            place.split_turning(v, &rates(&middle, v), &middle.gradients);
        }
        place.judge_gaps_of(tested);
        place
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
            Formulation::Fremond => rule.friction_weight(u_n),
            _ => 1.0,
        };
        let (before, after) = (place.local(&a.v_right), place.local(&b.v_right));
        let mut points = self.system.constraints().iter().flat_map(|c| c.points());
        for contact in &mut place.contacts {
            let Some(point) = points.next().filter(|point| point.slip.is_some()) else {
                continue;
            };
            let weight = mean(before[contact.start]);
            let square: f64 = (contact.start + 1..contact.start + contact.size)
                .map(|i| (1.0 - weight) * before[i] + weight * after[i])
                .map(|u| u * u)
                .sum();
            if let Ok(section) = point.section_at_slip(&at, square.sqrt()) {
                contact.section = section;
            }
        }
    }

    /// Contacts that a corrected step may admit besides those of its forecast: what it can reach.
    pub(super) fn admit(&self, place: &mut Place, (a, b): (&MotionNode, &MotionNode)) {
        let h = b.t - a.t;
        let approach: Vec<f64> = (0..place.gaps.len())
            .map(|c| {
                let rates = [&a.v_right, &b.v_left, &b.v_right].map(|v| place.gap_rate(c, v).abs());
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
