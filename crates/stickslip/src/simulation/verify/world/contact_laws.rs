//! The laws of all contacts of a step.

use crate::contact::VELOCITY_FACTOR;
use crate::laws::FrictionSection;
use crate::simulation::summary::CERTIFIED_RESIDUAL;
use crate::simulation::verify::Line;
use crate::systems::world::Dimension;

use super::groups::{Group, Groups};
use super::judge::{Judge, Kick, ROUNDING_OF_ENERGY};
use super::law::{self, Reading, Rows};
use super::node::{NodeContact, WorldNode};
use super::vector::{Vector, add, along, cross, norm, sub};

/// Impulses of a step are accurate to this part of the largest of them among bodies that act on each other.
const ACCURACY: f64 = 1e-7;
/// Rounding of velocities, in parts of the largest speed so far of the bodies that act on each other.
const ROUNDING_OF_SPEED: f64 = 1e3 * f64::EPSILON;
impl Judge<'_> {
    /// Every contact obeys its law; its recorded velocity and mode are those of the motion.
    pub fn laws(&mut self, a: &WorldNode, b: &WorldNode, kick: &Kick) {
        let groups = Groups::of(self.world, b, &self.speeds, kick.h);
        let mut defects = Vec::with_capacity(b.contacts.len());
        for contact in &b.contacts {
            let group = groups.about(contact);
            let Some(judged) = self.law(a, kick, contact, &group) else {
                self.note(Line::WellFormed, b.t, f64::INFINITY, Some(contact));
                return;
            };
            let (velocity, _) = kick.relative(&kick.after, contact);
            let off = norm(sub(velocity, contact.velocity)) / group.speed;
            if !(off <= ROUNDING_OF_ENERGY) || !judged.mode_holds {
                self.note(Line::ContactRecord, b.t, off, Some(contact));
            }
            defects.push(judged);
        }
        let sizes = defects.iter().map(|d| d.impulse.max(d.driven).powi(2));
        let whole = sizes.sum::<f64>().sqrt();
        for group in groups.lists(&b.contacts) {
            self.laws_of_group(b, &group, (&defects, whole));
        }
    }

    /// The laws of contacts between bodies that act on each other, whose impulses are one measure. A step that is solved as a certificate asks knows
    /// them to its part of the `whole`, all impulses of the step; what that leaves open for a group is bounded by its own.
    fn laws_of_group(
        &mut self,
        b: &WorldNode,
        group: &[usize],
        (defects, whole): (&[Judged], f64),
    ) {
        let own = || group.iter().map(|&k| (&defects[k], &b.contacts[k]));
        let squares =
            |part: fn(&Judged) -> f64| -> f64 { own().map(|(d, _)| part(d).powi(2)).sum() };
        let impulses = squares(|d| d.impulse).sqrt();
        let largest = impulses.max(squares(|d| d.driven).sqrt());
        let noise = own().fold(0.0, |s: f64, (d, _)| s.max(d.noise));
        let scale = largest.max(noise).max(f64::MIN_POSITIVE);
        // Bodies that hardly touch have impulses that change nothing.
        let unfelt = CERTIFIED_RESIDUAL * noise / ROUNDING_OF_SPEED;
        let most = (VELOCITY_FACTOR * CERTIFIED_RESIDUAL * impulses).max(unfelt);
        let solved = (CERTIFIED_RESIDUAL * whole).min(most);
        let tolerance = self.settings.tolerance.max(solved / scale);
        let natural = squares(|d| d.defect.natural_map).sqrt() / scale;
        if !(natural <= tolerance) {
            let size = |d: &Judged| d.defect.natural_map;
            let worst = own().max_by(|x, y| size(x.0).total_cmp(&size(y.0)));
            self.note(Line::FrictionLaw, b.t, natural, worst.map(|w| w.1));
        }
        for (judged, contact) in own() {
            let normal = judged.defect.normal / scale;
            if !(normal <= tolerance) {
                let line = match judged.reading {
                    _ if judged.pulls => Line::NormalSign,
                    Reading::Absent => Line::Complementarity,
                    Reading::Impact => Line::ImpactLaw,
                    Reading::Closing(_) if judged.closes => Line::Admissible,
                    Reading::Closing(_) => Line::Complementarity,
                };
                self.note(line, b.t, normal, Some(contact));
            }
            let cone = judged.defect.cone / scale;
            if !(cone <= tolerance) {
                self.note(Line::FrictionCone, b.t, cone, Some(contact));
            }
        }
    }

    /// The law of one contact; none where its coefficient is not a number.
    fn law(
        &self,
        a: &WorldNode,
        kick: &Kick,
        contact: &NodeContact,
        group: &Group,
    ) -> Option<Judged> {
        let world = self.world;
        let law = world.laws.law(self.law_of(contact)?);
        let section = law.contact.section_at(a.t, &a.q).ok()?;
        let first = &kick.poses[contact.bodies[0]];
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| first.direction(axis));
        let rows = Rows::of(world.dimension, law, contact.normal, axes[0], axes[1]);
        let n = rows.count;
        let read = |(velocity, spin): (Vector, Vector)| rows.read(velocity, spin);
        let before = read(kick.relative(&kick.before, contact));
        let after = read(kick.relative(&kick.after, contact));
        let p = rows.read(contact.impulse, contact.moment);
        let (mut response, mut gained) = (Default::default(), ([0.0; 3], [0.0; 3]));
        for (&k, sign) in contact.bodies.iter().zip([1.0, -1.0]) {
            let body = &world.bodies[k];
            if !body.is_free() {
                continue;
            }
            let pose = &kick.poses[k];
            let arm = sub(contact.place, pose.position);
            let inverse = body.inertia.map(|j| 1.0 / j);
            let inverse = if world.dimension == Dimension::Plane {
                [0.0, 0.0, inverse[2]]
            } else {
                inverse
            };
            rows.add_response(
                (1.0 / body.mass, inverse),
                arm,
                |v| pose.body_direction(v),
                &mut response,
            );
            // What gravity and forces alone do to the velocity of the contact.
            let load = &kick.loads[k];
            let torque = pose.body_direction(load.torque);
            let spin = pose.direction(std::array::from_fn(|k| kick.h * inverse[k] * torque[k]));
            let fall = along(world.gravity, 1.0 / body.mass, load.force).map(|g| kick.h * g);
            gained.0 = along(gained.0, sign, add(fall, cross(spin, arm)));
            gained.1 = along(gained.1, sign, spin);
        }
        let gained = read(gained);
        let trace: f64 = (0..n).map(|i| response[i][i]).sum();
        let rho = n as f64 / trace;
        // Velocities that are rounding of the speeds of these bodies, and what that makes of an impulse. Steep friction would make slip of them.
        let still = ROUNDING_OF_SPEED * group.speed;
        let noise = rho * still;
        let theta = if self.settings.theta == 0.0 {
            0.5
        } else {
            self.settings.theta
        };
        let impact = law.contact.impact();
        let judged = |reading: Reading| {
            let bias = law::bias(impact, theta, reading, &before[..n]);
            let heard = |w: f64| if w.abs() <= still { 0.0 } else { w };
            let w: Vec<f64> = (0..n).map(|i| heard(after[i] + bias[i])).collect();
            let free: f64 = (0..n)
                .map(|i| (before[i] + gained[i] + bias[i]).powi(2))
                .sum();
            let rule = law.contact.flow_rule();
            let mut defect = law::judge(&section, rule, &p[..n], &w, (rho, &response));
            if reading == Reading::Absent {
                let size = p[..n].iter().map(|p| p * p).sum::<f64>().sqrt();
                defect = law::LawDefect {
                    natural_map: size,
                    normal: size,
                    cone: 0.0,
                };
            }
            Judged {
                defect: defect.above(noise),
                reading,
                noise,
                impulse: p[..n].iter().map(|p| p * p).sum::<f64>().sqrt(),
                driven: rho * free.sqrt(),
                pulls: p[0] < 0.0,
                closes: w[0] < 0.0 && p[0] < rho * -w[0],
                mode_holds: mode_holds(
                    contact.mode,
                    &section,
                    &p[..n],
                    (ACCURACY * group.impulse).max(noise),
                ),
            }
        };
        let approach = (before[0], gained[0], group.speed);
        let readings = self.readings(kick, contact, impact.restitution(), approach);
        let best = readings.into_iter().flatten().map(judged);
        best.min_by(|x, y| x.defect.natural_map.total_cmp(&y.defect.natural_map))
    }

    /// How the step reads a contact: one way, or two where rounding decides.
    fn readings(
        &self,
        kick: &Kick,
        contact: &NodeContact,
        restitution: f64,
        (before, gained, speed): (f64, f64, f64),
    ) -> [Option<Reading>; 3] {
        let [a, b] = contact.bodies;
        let (slop, h) = (self.world.slop_of(a, b), kick.h);
        let closed = contact.gap <= slop;
        let allowed = if closed {
            0.0
        } else {
            (contact.gap - 0.5 * slop) / h
        };
        let closing = Reading::Closing(allowed);
        if restitution == 0.0 {
            return [Some(closing), None, None];
        }
        let noise = 1e-9 * speed;
        let fastest = before.min(before + gained);
        let reaches = |noise: f64| contact.gap + h * fastest <= h * noise;
        let threshold = -2.0 * h * self.world.gravity_size();
        let takes_part = closed || reaches(noise);
        [
            (takes_part && before <= threshold + noise).then_some(Reading::Impact),
            (takes_part && before >= threshold - noise).then_some(closing),
            (!closed && !reaches(-noise)).then_some(Reading::Absent),
        ]
    }
}

/// The judgement of one contact.
struct Judged {
    defect: law::LawDefect,
    reading: Reading,
    /// Impulses up to here are rounding.
    noise: f64,
    impulse: f64,
    /// The velocity without impulses, as an impulse.
    driven: f64,
    pulls: bool,
    closes: bool,
    mode_holds: bool,
}

/// Whether a recorded mode is that of an impulse; at the edge of the set stick and slip both are, and the impulses of a step are
/// known to an `accuracy` only.
fn mode_holds(mode: u8, section: &FrictionSection, p: &[f64], accuracy: f64) -> bool {
    if p.iter().all(|p| p.abs() <= accuracy) {
        return true;
    }
    if !(p[0] > 0.0) {
        return mode == 0;
    }
    if p.len() == 1 {
        return mode == 3;
    }
    let (used, slack) = (section.gauge(&p[1..]), 1e-6 * p[0] + accuracy);
    (mode == 1 && used < p[0] + slack) || (mode == 2 && used > p[0] - slack)
}
