//! The lines of a run, step by step.

use crate::algebra::SymmetricMatrix;

use super::judge::Judge;
use super::place::{Place, force, remove};
use super::reactions::Reaction;
use super::{Discretisation, Formulation, Line, MotionNode, Verification};

impl Judge<'_> {
    /// The initial instant and every step after it.
    pub(super) fn run(&self, rule: Discretisation, report: &mut Verification) {
        let nodes = &self.motion.nodes;
        let mut here = Place::at(self.system, nodes[0].t, &nodes[0].q);
        for (index, &gap) in here.gaps.iter().enumerate() {
            if gap < -self.settings.gap_tolerance {
                report.note(Line::NonPenetration, nodes[0].t, -gap, self.name(index));
            }
        }
        // An impact at the initial instant is a step without length.
        if rule.at_end() || nodes[0].atom.iter().any(|&p| p != 0.0) {
            self.close(&mut here, rule, 0.0, &nodes[0].v_left);
            self.impact_equation(&here, &nodes[0], report);
            self.contact_laws(&here, rule, &nodes[0].v_left, &nodes[0], report);
        }
        let mut depths = vec![0.0; here.gaps.len()];
        for pair in nodes.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let mut there = Place::at(self.system, b.t, &b.q);
            self.kinematics(rule, a, b, report);
            self.penetration((&here, &there), (a, b), &mut depths, report);
            let place = if rule.at_end() { &mut there } else { &mut here };
            self.close(place, rule, b.t - a.t, &a.v_right);
            self.equation_of_step(place, rule, a, b, report);
            self.contact_laws(place, rule, &a.v_right, b, report);
            here = there;
        }
    }

    /// Which contacts take part in a step of length h that began with the velocity v.
    fn close(&self, place: &mut Place, rule: Discretisation, h: f64, v: &[f64]) {
        for k in 0..place.contacts.len() {
            let c = place.contacts[k].constraint;
            let gap = match rule {
                Discretisation::Theta { .. } => place.gaps[c] + h * place.gap_rate(c, v),
                _ => place.gaps[c],
            };
            // Two ways to add up one gap differ by rounding; in between either answer is right.
            let limit = rule.contact_gap().max(place.roundings[c]);
            place.contacts[k].closed = gap <= 1.25 * limit;
            place.contacts[k].sure = gap <= 0.75 * limit;
        }
    }

    /// q₁ = q₀ ⊕ h v with v the mean of both velocities that the scheme names.
    fn kinematics(
        &self,
        rule: Discretisation,
        a: &MotionNode,
        b: &MotionNode,
        report: &mut Verification,
    ) {
        let h = b.t - a.t;
        let v = mean(&a.v_right, &b.v_right, rule.weight());
        let mut q = vec![0.0; a.q.len()];
        self.system.displace(&a.q, &v, h, &mut q);
        let fastest = v.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        for ((expected, found), before) in q.iter().zip(&b.q).zip(&a.q) {
            let off = (expected - found).abs();
            let size = (found - before).abs().max(h * fastest);
            if !(off <= self.settings.tolerance * size + 1e-13 * (1.0 + found.abs())) {
                report.note(Line::Kinematics, b.t, off / size, None);
            }
        }
    }

    /// A gap that is open at the start of a step closes at most by the approach within the step; in contact it
    /// loses what the approach of a step and the turning of the normal take. `depths` keeps the sum since
    /// each gap was last open.
    fn penetration(
        &self,
        (here, there): (&Place, &Place),
        (a, b): (&MotionNode, &MotionNode),
        depths: &mut [f64],
        report: &mut Verification,
    ) {
        let h = b.t - a.t;
        for (c, depth) in depths.iter_mut().enumerate() {
            if here.gaps[c] >= 0.0 {
                *depth = 0.0;
            }
            let approach = [&a.v_right, &b.v_right]
                .map(|v| (-here.gap_rate(c, v)).max(0.0))
                .into_iter()
                .fold(0.0, f64::max);
            let turning = [&a.v_right, &b.v_right]
                .map(|v| (there.gap_rate(c, v) - here.gap_rate(c, v)).abs())
                .into_iter()
                .fold(0.0, f64::max);
            *depth += h * (approach + turning);
            let slack = self.settings.gap_tolerance.max(here.roundings[c]);
            if there.gaps[c] < -(*depth + slack) {
                let size = -there.gaps[c] - *depth;
                report.note(Line::NonPenetration, b.t, size, self.name(c));
            }
        }
    }

    /// M (v₁ − v₀) = h f + H p, with mass and force anywhere between the values that they take in the step.
    fn equation_of_step(
        &self,
        place: &Place,
        rule: Discretisation,
        a: &MotionNode,
        b: &MotionNode,
        report: &mut Verification,
    ) {
        let (h, n) = (b.t - a.t, self.system.dof());
        // Forces at the start, at the end with both velocities, and at the mean of both.
        let theta = rule.weight();
        let middle = mean(&a.v_right, &b.v_right, theta);
        let mut q = vec![0.0; a.q.len()];
        self.system.displace(&a.q, &middle, h * theta, &mut q);
        let t = a.t + theta * h;
        let forces = [
            force(self.system, a.t, &a.q, &a.v_right),
            force(self.system, t, &q, &middle),
            force(self.system, b.t, &b.q, &a.v_right),
            force(self.system, b.t, &b.q, &b.v_right),
        ];
        let masses: Vec<SymmetricMatrix> = if self.system.mass_is_constant() {
            vec![place.mass.clone()]
        } else {
            let mut mass = place.mass.clone();
            [&a.q, &q, &b.q]
                .map(|q| {
                    self.system.mass(q, &mut mass);
                    mass.clone()
                })
                .to_vec()
        };
        let defect = |to: &[f64], from: &[f64], h: f64, impulse: &[f64]| -> f64 {
            let change: Vec<f64> = to.iter().zip(from).map(|(x, y)| x - y).collect();
            let momenta: Vec<Vec<f64>> = masses
                .iter()
                .map(|mass| {
                    let mut momentum = vec![0.0; n];
                    mass.multiply(&change, &mut momentum);
                    momentum
                })
                .collect();
            let (momentum, force) = (ends(&momenta, n), ends(&forces, n));
            let centre = |e: &(f64, f64)| 0.5 * (e.0 + e.1);
            let radius = |e: &(f64, f64)| 0.5 * (e.1 - e.0);
            let mut off: Vec<f64> = (0..n)
                .map(|i| centre(&momentum[i]) - h * centre(&force[i]) - impulse[i])
                .collect();
            remove(&mut off, &place.joints);
            (0..n)
                .map(|i| {
                    let scale = self.momentum_scale(place, i);
                    let size = scale + centre(&momentum[i]).abs() + impulse[i].abs();
                    let slack = radius(&momentum[i])
                        + h * radius(&force[i])
                        + self.settings.tolerance * size;
                    (off[i].abs() - slack) / scale
                })
                .fold(
                    f64::NEG_INFINITY,
                    |s, x| if x.is_nan() { x } else { s.max(x) },
                )
        };
        let impulse = place.generalized_impulse(&b.atom);
        let none = vec![0.0; n];
        let whole = defect(&b.v_right, &a.v_right, h, &impulse);
        if whole <= 0.0 && rule.implicit() {
            return;
        }
        // Which part of the step is to blame.
        let free = defect(&b.v_left, &a.v_right, h, &none);
        let jump = defect(&b.v_right, &b.v_left, 0.0, &impulse);
        if !(free <= 0.0) {
            report.note(Line::EquationOfMotion, b.t, free, None);
        }
        if !(jump <= 0.0) {
            report.note(Line::ImpactEquation, b.t, jump, None);
        }
        if !(whole <= 0.0) && free <= 0.0 && jump <= 0.0 {
            report.note(Line::EquationOfMotion, b.t, whole, None);
        }
    }

    /// Admissible velocities, friction, impact law and dissipation of a step that began with the velocity v.
    fn contact_laws(
        &self,
        place: &Place,
        rule: Discretisation,
        v: &[f64],
        b: &MotionNode,
        report: &mut Verification,
    ) {
        let (before, after) = (place.local(v), place.local(&b.v_right));
        for contact in place.contacts.iter().filter(|c| c.sure) {
            let i = contact.start;
            // What has opened may close again as far as the step moves it outwards.
            let least = rule
                .rebound(contact.restitution, before[i].max(0.0))
                .min(0.0);
            if !(after[i] >= least - self.velocity_slack(place, i)) {
                let size = (least - after[i]) / (self.speed * place.reach(i));
                report.note(Line::Admissible, b.t, size, self.name(contact.constraint));
            }
        }
        if b.atom.iter().all(|&p| p == 0.0) {
            return;
        }
        let mut read = after.clone();
        if self.formulation == Formulation::Fremond {
            for contact in &place.contacts {
                let weight = rule.friction_weight(before[contact.start]);
                for i in contact.start + 1..contact.start + contact.size {
                    read[i] = (1.0 - weight) * before[i] + weight * after[i];
                }
            }
        }
        let reaction = Reaction {
            t: b.t,
            impulse: &b.atom,
            read: &read,
            after: &after,
        };
        self.reaction_laws(place, &reaction, report);
        let rebound = |e: f64, u: f64| rule.rebound(e, u);
        self.impact_law(place, &reaction, &before, &rebound, report);
        // Work of the impulse on the displacement of the step, or of the jump where the step is explicit.
        let moved = if rule.implicit() {
            mean(&before, &after, rule.weight())
        } else {
            mean(&place.local(&b.v_left), &after, 0.5)
        };
        self.dissipation(b.t, &b.atom, &moved, report);
    }
}

/// (1 − weight) a + weight b.
fn mean(a: &[f64], b: &[f64], weight: f64) -> Vec<f64> {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| (1.0 - weight) * a + weight * b)
        .collect()
}

/// Least and largest value of every component.
fn ends(list: &[Vec<f64>], n: usize) -> Vec<(f64, f64)> {
    let end = |i: usize| {
        list.iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |e, x| {
                (e.0.min(x[i]), e.1.max(x[i]))
            })
    };
    (0..n).map(end).collect()
}
