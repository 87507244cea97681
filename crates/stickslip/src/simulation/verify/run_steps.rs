//! The lines of a run, step by step.

use std::ops::ControlFlow;

use crate::algebra::{SymmetricMatrix, dot};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use crate::simulation::positions::DRIFT_LIMIT;

use super::friction::{Contact, Reads};
use super::judge::Judge;
use super::left_velocity::ImplicitStep;
use super::past::Past;
use super::place::{Place, force, force_beside, remove};
use super::reactions::Reaction;
use super::{
    Discretisation, Formulation, Line, MotionNode, MotionSource, MotionSourceError, Verification,
};

/// Parts of the lengths and speeds of a run up to which a scheme may take a gap for closed, and its rate for none.
const CLOSED: f64 = 1e-11;
pub(super) const RESTING: f64 = 1e-9;

/// What a judge remembers from one step to the next.
struct Walk<'a> {
    past: Past<'a>,
    here: Place,
    /// By how much each gap may be overshot: the fastest approach of a step since it was last open.
    depths: Vec<f64>,
    last: MotionNode,
    /// No step has been made yet.
    begins: bool,
}

impl Judge<'_> {
    /// The initial instant and every step after it.
    pub(super) fn run(
        &self,
        rule: Discretisation,
        nodes: &dyn MotionSource,
        report: &mut Verification,
    ) -> Result<(), MotionSourceError> {
        let mut walk: Option<Walk> = None;
        nodes.visit(&mut |node| {
            match &mut walk {
                None => walk = Some(self.begin(rule, node, report)),
                Some(walk) => self.step(rule, walk, node, report),
            }
            ControlFlow::Continue(())
        })
    }

    /// The initial instant.
    fn begin(
        &self,
        rule: Discretisation,
        first: &MotionNode,
        report: &mut Verification,
    ) -> Walk<'_> {
        let past = Past::new(self.system, first);
        let mut here = past.reading(|s| Place::at(s, first.t, &first.q, &first.v_left));
        for (index, &gap) in here.gaps.iter().enumerate() {
            if gap < -self.gap_slack(&here, index) {
                report.note(Line::NonPenetration, first.t, -gap, self.name(index));
            }
        }
        // An impact at the initial instant is a step without length.
        if rule.at_end() || first.atom.iter().any(|&p| p != 0.0) {
            let rule = rule.at_an_instant();
            self.close(&mut here, rule, 0.0, &first.v_left);
            self.impact_equation(&here, first, report);
            let before = MotionNode {
                v_right: first.v_left.clone(),
                ..first.clone()
            };
            let ends = (&before, first);
            let step = Step {
                rule,
                ends,
                friction: rule.weight(),
            };
            self.laws_of_step(&past, &mut here, step, ends, report);
        } else if first.sliding.iter().any(|&u| u != 0.0) {
            // Before the first step no contact has a velocity, unless there is an impact.
            let reading = (rule, rule.weight());
            self.sliding(&here, reading, &first.v_left, first, report);
        }
        Walk {
            depths: vec![0.0; here.gaps.len()],
            past,
            here,
            last: first.clone(),
            begins: true,
        }
    }

    /// The step from the last node to b.
    fn step(
        &self,
        rule: Discretisation,
        walk: &mut Walk,
        b: &MotionNode,
        report: &mut Verification,
    ) {
        let Walk {
            past,
            here,
            depths,
            last: a,
            begins,
        } = walk;
        let mut there = past.reading(|s| Place::at(s, b.t, &b.q, &a.v_right));
        self.kinematics(rule, here, (a, b), report);
        self.penetration((here, &there), (a, b), depths, report);
        self.frames(&there, b, report);
        self.projected(&there, b, report);
        let path = self.motion.corrected;
        let touched = self.touched(here);
        let mut along = path.then(|| self.along(rule, (here, &there), (a, b), *begins));
        *begins = false;
        let place = match &mut along {
            Some(along) => along,
            None if rule.at_end() => &mut there,
            None => &mut *here,
        };
        self.close(place, rule, b.t - a.t, &a.v_right);
        if self.settings.admits_touching {
            place.admit(&touched);
        }
        let took_part = place.taking_part(&b.atom);
        if path {
            self.admit(place, (a, b));
        }
        let step = Step {
            rule,
            ends: (a, b),
            friction: rule.weight(),
        };
        let operator = past.reading(|s| self.equation_of_step(s, place, step, report));
        // Laws on the whole reaction and layers are read in the metric in which the step answers impulses.
        let measured = self.formulation.test_velocities().is_some()
            || self.formulation == Formulation::Energetic;
        if let Some(operator) = operator.filter(|_| measured) {
            place.measure_in(&operator);
        }
        if self.coasts(rule) {
            let (before, after) = self.around_impulses(rule.weight(), (a, b));
            self.laws_of_step(past, place, step, (&before, &after), report);
        } else {
            self.laws_of_step(past, place, step, (a, b), report);
        }
        self.step_passages((here, &there), (a, b), &took_part, report);
        past.enter(b);
        *here = if past.is_read() && !rule.at_end() {
            past.reading(|s| Place::at(s, b.t, &b.q, &b.v_right))
        } else {
            there
        };
        a.clone_from(b);
    }

    /// Which constraints touch at the start of a step.
    fn touched(&self, here: &Place) -> Vec<bool> {
        let gaps = here.gaps.iter().enumerate();
        gaps.map(|(c, &gap)| gap <= self.gap_slack(here, c))
            .collect()
    }

    /// Which contacts take part in a step of length h that began with the velocity v.
    fn close(&self, place: &mut Place, rule: Discretisation, h: f64, v: &[f64]) {
        // A gap that has no length of its own has that of the others.
        let longest = place.longest();
        place.close(|place, contact| {
            let c = contact.constraint;
            let gap = match rule {
                Discretisation::Theta { .. } => place.gaps[c] + h * place.gap_rate(c, v),
                _ => place.gaps[c],
            };
            // Two ways to add up one gap differ by rounding of the lengths of the run; in between either answer is right.
            let limit = rule.contact_gap().max(place.roundings[c]);
            let speed = self.row_speed_of_run(place, contact.start);
            let length = longest * place.velocity_reach(&place.gradients[c]);
            let within = limit.max(CLOSED * (length + 10.0 * h * speed));
            let (sure, perhaps) = rule.takes_part(place.gap_rate(c, v), RESTING * speed);
            (gap <= 1.25 * within && perhaps, gap <= 0.75 * limit && sure)
        });
    }

    /// q₁ = q₀ ⊕ h v with v the mean of both velocities that the scheme names, moved by what is told of a projection.
    fn kinematics(
        &self,
        rule: Discretisation,
        here: &Place,
        (a, b): (&MotionNode, &MotionNode),
        report: &mut Verification,
    ) {
        let h = b.t - a.t;
        let v = mean(&a.v_right, &b.v_right, rule.weight());
        let rounding = self.projection_rounding(here, b);
        let (mut q, mut goal) = (vec![0.0; a.q.len()], self.before_projection(b));
        if self.coasts(rule) {
            // Both ways from the ends to the place of the impulses.
            let theta = rule.weight();
            let (mut from, mut unread) = (vec![0.0; a.q.len()], vec![0.0; v.len()]);
            let reach = (1.0 - theta) * h;
            self.system
                .coast(&a.q, &a.v_right, reach, &mut q, &mut unread);
            let back = -theta * h;
            self.system
                .coast(&goal, &b.v_right, back, &mut from, &mut unread);
            goal = from;
        } else {
            self.system.displace(&a.q, &v, h, &mut q);
        }
        for (i, (expected, found)) in q.iter().zip(&goal).enumerate() {
            let off = (expected - found).abs();
            let fastest = self.subsystems.largest_beside(&v, i);
            let size = (found - a.q[i]).abs().max(h * fastest);
            // What was projected far cancels in the place that it was projected from.
            let places = found.abs() + a.q[i].abs() + b.q[i].abs();
            if !(off <= self.settings.tolerance * size + 1e-13 * places + rounding[i]) {
                report.note(Line::Kinematics, b.t, off / size, None);
            }
        }
    }

    /// A gap that is open at the start of a step closes at most by the approach within the step, and that is how far it
    /// may stay closed; what lies beyond is drift, which a run may have within [`DRIFT_LIMIT`] of its size. `depths` keeps
    /// the largest approach since each gap was last open, the sum of them below flat obstacles, which every bounce there
    /// overshoots anew.
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
            // Normals turn within a step: what they are at its end counts as well.
            let approach = [here, there]
                .into_iter()
                .flat_map(|place| [&a.v_right, &b.v_right].map(|v| -place.gap_rate(c, v)))
                .fold(0.0, f64::max);
            let flat = self.system.constraints()[c].gap().is_affine();
            *depth = if flat && here.gaps[c] < 0.0 {
                *depth + h * (-here.gap_rate(c, &a.v_right)).max(0.0)
            } else {
                // The step that closes a gap may close it by all its fall: that its places belong to its velocities is
                // another line.
                let fell = if here.gaps[c] >= 0.0 {
                    here.gaps[c] - there.gaps[c]
                } else {
                    0.0
                };
                depth.max(h * approach).max(fell)
            };
            let drift = DRIFT_LIMIT * self.size_of_motion(&there.gradients[c]);
            let slack = drift + self.gap_slack(here, c) + self.motion_rounding(there, c);
            if there.gaps[c] < -(*depth + slack) {
                let size = -there.gaps[c] - *depth;
                report.note(Line::NonPenetration, b.t, size, self.name(c));
            }
        }
        for (joint, row) in self.system.joints().iter().zip(&there.joints) {
            let off = joint.function().value(b.t, &b.q).abs();
            let size = self.size_of_motion(row);
            let numbers: f64 = row.iter().zip(&b.q).map(|(g, q)| (g * q).abs()).sum();
            let slack = self.settings.gap_tolerance * numbers + self.row_rounding(there, row);
            if !(off <= DRIFT_LIMIT * size + slack) {
                report.note(Line::Joints, b.t, off, Some(joint.name()));
            }
        }
    }

    /// M (v₁ − v₀) = h f + H p, with mass and force where the scheme states them; returned is the operator of an implicit step.
    fn equation_of_step(
        &self,
        system: &dyn MechanicalSystem,
        place: &Place,
        step: Step,
        report: &mut Verification,
    ) -> Option<SymmetricMatrix> {
        let rule = step.rule;
        let (coasting, theta) = (self.coasts(rule), rule.weight());
        let (a, b) = if coasting {
            &self.around_impulses(theta, step.ends)
        } else {
            &(step.ends.0.clone(), step.ends.1.clone())
        };
        let (h, n) = (step.ends.1.t - step.ends.0.t, self.system.dof());
        let middle = mean(&a.v_right, &b.v_right, theta);
        let mut q = vec![0.0; a.q.len()];
        let reach = if coasting { 0.0 } else { h * theta };
        system.displace(&a.q, &middle, reach, &mut q);
        let (t, q, v) = match rule {
            Discretisation::EndOfStep { .. } => (b.t, &b.q, &a.v_right),
            Discretisation::StartOfStep { .. } => (a.t, &a.q, &a.v_right),
            Discretisation::Theta { .. } => (step.ends.0.t + theta * h, &q, &middle),
        };
        let mut mass = place.mass.clone();
        if rule.implicit() && !system.mass_is_constant() {
            system.mass(q, &mut mass);
        }
        let force_at = |t: f64| {
            if rule.discrete_gradient() {
                let end = self.before_projection(b);
                let gradient = discrete_gradient(system, &mass, (&a.q, q, &end), &middle, h);
                force_beside(system, (t, q, v), &gradient)
            } else {
                force(system, t, q, v)
            }
        };
        let mut force = if rule.implicit() && system.force_dependence() == ForceDependence::Time {
            // Loads in time are those of both ends.
            mean(&force_at(step.ends.0.t), &force_at(step.ends.1.t), theta)
        } else {
            force_at(t)
        };
        if coasting && system.has_covariant_force() {
            // The body turns before and after the impulses.
            let mut covariant = vec![0.0; n];
            system.covariant_force(q, v, &mut covariant);
            force.iter_mut().zip(covariant).for_each(|(f, c)| *f -= c);
        }
        // How far momentum, force and impulse are from balance beyond rounding, in parts of the momentum at hand.
        let defect = |to: &[f64], from: &[f64], h: f64, impulse: &[f64]| -> f64 {
            let change: Vec<f64> = to.iter().zip(from).map(|(x, y)| x - y).collect();
            let mut momentum = vec![0.0; n];
            mass.multiply(&change, &mut momentum);
            let mut off: Vec<f64> = (0..n)
                .map(|i| momentum[i] - h * force[i] - impulse[i])
                .collect();
            remove(&mut off, &place.joints);
            (0..n)
                .map(|i| {
                    let scale = self.momentum_scale(place, i);
                    let size = scale + momentum[i].abs() + impulse[i].abs();
                    (off[i].abs() - self.settings.tolerance * size) / scale
                })
                .fold(
                    f64::NEG_INFINITY,
                    |s, x| {
                        if x.is_nan() { x } else { s.max(x) }
                    },
                )
        };
        let impulse = place.generalized_impulse(&b.atom);
        let none = vec![0.0; n];
        let whole = defect(&b.v_right, &a.v_right, h, &impulse);
        if whole <= 0.0 && rule.implicit() {
            let step = ImplicitStep {
                ends: (a, b),
                middle: (t, q, v),
                h,
                theta,
            };
            return self.left_velocity(system, place, &step, report);
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
        None
    }

    /// The laws of a step between two nodes, and what it records of contacts. Where rounding decides whether a contact strikes, friction may be
    /// read either way.
    fn laws_of_step(
        &self,
        past: &Past,
        place: &mut Place,
        step: Step,
        (a, b): (&MotionNode, &MotionNode),
        report: &mut Verification,
    ) {
        let mut weights = self.friction_weights(place, step.rule, &a.v_right);
        let last = weights.pop().unwrap_or(step.friction);
        let mut before = place.local(&a.v_right);
        let turning = before.iter_mut().zip(&place.turning);
        turning.for_each(|(u, turning)| *u -= turning);
        let mut impulse = b.atom.clone();
        impulse.resize(before.len(), 0.0);
        let impulse = past.reading(|s| {
            let (a, b) = step.ends;
            let (t, q) = match step.rule.at_end() {
                true => (b.t, &b.q),
                false => (a.t, &a.q),
            };
            let at = Instant::new(t, q, &a.v_right);
            self.without_layers(s, place, &at, (&before, &impulse), report)
        });
        let mut judged = |friction: f64, report: &mut Verification| {
            let reading = (step.rule, friction);
            past.reading(|s| self.read_slip(s, place, Step { friction, ..step }));
            self.contact_laws(place, reading, &a.v_right, (b, &impulse), report);
            self.sliding(place, reading, &a.v_right, b, report);
        };
        for friction in weights {
            let mut trial = Verification {
                violations: Vec::new(),
                ..report.clone()
            };
            judged(friction, &mut trial);
            if trial.violations.is_empty() {
                return;
            }
        }
        judged(last, report);
    }

    /// Weights of the velocity after at which a step that began with the velocity v may read the friction of Frémond's law.
    fn friction_weights(&self, place: &Place, rule: Discretisation, v: &[f64]) -> Vec<f64> {
        let before = place.local(v);
        let approach = |contact: &Contact| {
            let turning = place.turning.get(contact.start).copied().unwrap_or(0.0);
            turning - before[contact.start]
        };
        let closed = place.contacts.iter().filter(|c| c.closed);
        let strikes = closed.filter_map(|contact| {
            let (rate, resting) = (
                approach(contact),
                RESTING * self.row_speed_of_run(place, contact.start),
            );
            let sure = contact.sure && rate > resting;
            (rate > 0.0).then_some((contact.restitution, sure))
        });
        rule.friction_weights(strikes)
    }

    /// Admissible velocities, friction, impact law and dissipation of a step that began with the velocity v; `impulse` is what layers have left.
    fn contact_laws(
        &self,
        place: &Place,
        (rule, friction): (Discretisation, f64),
        v: &[f64],
        (b, impulse): (&MotionNode, &[f64]),
        report: &mut Verification,
    ) {
        let (mut before, mut after) = (place.local(v), place.local(&b.v_right));
        // Laws read the approach of the start; the turning since is taken on the mean velocity of the step.
        let weight = match rule {
            Discretisation::Theta { theta, .. } => theta,
            _ => 0.5,
        };
        for (i, turning) in place.turning.iter().enumerate() {
            before[i] -= turning;
            after[i] += (1.0 - weight) / weight * turning;
        }
        for contact in place.contacts.iter().filter(|c| c.sure) {
            let i = contact.start;
            // What has opened may close again as far as the step moves it outwards.
            let least = rule
                .rebound(self.restitution(contact), before[i].max(0.0))
                .min(0.0);
            if !(after[i] >= least - self.velocity_slack(place, i)) {
                let speed = self.subsystems.speed_of(&place.rows[i]);
                let size = (least - after[i]) / (speed * place.reach(i));
                report.note(Line::Admissible, b.t, size, self.name(contact.constraint));
            }
        }
        if place.contacts.iter().all(|c| !c.closed) && b.atom.iter().all(|&p| p == 0.0) {
            return;
        }
        let mut read = after.clone();
        // Moreau's S in a step of the theta scheme is stated on the velocity less the rebound that its law asks for.
        if matches!(rule, Discretisation::Theta { .. }) {
            for contact in place.contacts.iter().filter(|c| c.closed) {
                let i = contact.start;
                read[i] -= rule.rebound(self.restitution(contact), before[i]);
            }
        }
        if self.formulation == Formulation::Fremond {
            for contact in &place.contacts {
                let weight = rule.friction_weight(before[contact.start], friction);
                for i in contact.start + 1..contact.start + contact.size {
                    read[i] = (1.0 - weight) * before[i] + weight * after[i];
                }
            }
        }
        let rebound = |e: f64, u: f64| rule.rebound(e, u);
        let reaction = Reaction {
            t: b.t,
            impulse,
            reads: Reads::One(&read),
            after: &after,
            leaving: self.leaving(place, (&before, &after), &rebound),
        };
        if impulse.iter().any(|&p| p != 0.0) {
            self.reaction_laws(place, &reaction, report);
        }
        self.impact_law(place, &reaction, &before, &rebound, report);
        // The work of an impulse is that of the jump. A step has other accounts besides, an implicit one of its displacement and
        // of its kinetic energy, whose difference is the damping of the scheme: contact gives energy if all say so. Over
        // a step in which friction stops a body that forces would have turned back, the jump alone knows that. Laws of an
        // explicit step read the velocity of its start, and so does its account.
        let mut left = place.local(&b.v_left);
        let turning = left.iter_mut().zip(&place.turning);
        turning.for_each(|(u, turning)| *u -= turning);
        let middles = [0.5, rule.weight()].map(|weight| mean(&before, &after, weight));
        let jump = mean(&left, &after, 0.5);
        let least = |impulse: &[f64]| {
            let [even, own] = middles.each_ref().map(|middle| dot(impulse, middle));
            let jump = dot(impulse, &jump);
            if rule.implicit() {
                let mean = &middles[1];
                let stopped = self.stopped(place, &before, (&left, &after), (mean, impulse));
                jump.min(jump - stopped).min(even).min(own)
            } else {
                jump.min(even) - self.opened(place, &before, impulse)
            }
        };
        self.dissipation(b.t, (place, impulse), least, report);
    }

    /// What the jump of an implicit step says of the work of contacts that open at its start beyond what their mean velocity says. Where the
    /// impulses of others close such a contact, its own stops that mean, which no jump of the velocity knows.
    fn stopped(
        &self,
        place: &Place,
        before: &[f64],
        (left, after): (&[f64], &[f64]),
        (mean, impulse): (&[f64], &[f64]),
    ) -> f64 {
        let opening = place.contacts.iter().map(|c| c.start);
        let opening = opening.filter(|&i| before[i] > 0.0 && impulse[i] > 0.0);
        opening
            .map(|i| impulse[i] * (0.5 * (left[i] + after[i]) - mean[i]))
            .sum()
    }

    /// Work that an explicit step itself does. No exact motion comes to a closed contact that opens, a step does: below its surface
    /// after an overshoot, or along a chord whose middle is not its start. Where the impulses of others, or forces, would close it, its own
    /// stops it, `½ p u⁻` is what that takes of its opening, and vanishes with the step.
    fn opened(&self, place: &Place, before: &[f64], impulse: &[f64]) -> f64 {
        let closed = place.contacts.iter().filter(|c| c.closed);
        closed
            .map(|c| 0.5 * impulse[c.start].max(0.0) * before[c.start].max(0.0))
            .sum()
    }
}

/// One step of a run.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub rule: Discretisation,
    pub ends: (&'a MotionNode, &'a MotionNode),
    /// Weight of the velocity after in the mean that Frémond's law reads in a theta step.
    pub friction: f64,
}

/// A gradient whose work over a step from q₀ to q₁ is the change of the potential: the system's own, or that at the
/// mean place, corrected along the displacement in the kinetic metric, whose mass is that of the step.
fn discrete_gradient(
    system: &dyn MechanicalSystem,
    mass: &SymmetricMatrix,
    (q0, q, q1): (&[f64], &[f64], &[f64]),
    v: &[f64],
    h: f64,
) -> Vec<f64> {
    let n = system.dof();
    let mut gradient = vec![0.0; n];
    if !system.has_potential() || system.discrete_gradient(q0, q1, &mut gradient) {
        return gradient;
    }
    system.potential_gradient(q, &mut gradient);
    if system.potential_is_linear() {
        return gradient;
    }
    let moved: Vec<f64> = v.iter().map(|v| h * v).collect();
    let mut momentum = vec![0.0; n];
    mass.multiply(&moved, &mut momentum);
    let (before, after) = (system.potential(q0), system.potential(q1));
    let (along, length) = (dot(&moved, &gradient), dot(&moved, &momentum));
    let missing = after - before - along;
    if length > 0.0 && missing.abs() > 16.0 * f64::EPSILON * (before.abs() + after.abs()) {
        let part = missing / length;
        let pairs = gradient.iter_mut().zip(&momentum);
        pairs.for_each(|(g, m)| *g += part * m);
    }
    gradient
}

/// (1 − weight) a + weight b.
fn mean(a: &[f64], b: &[f64], weight: f64) -> Vec<f64> {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| (1.0 - weight) * a + weight * b)
        .collect()
}
