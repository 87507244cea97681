//! The laws of lasting contact between events, judged at every record.
//!
//! # What it computes
//!
//! At the instant of a record the reactions λ of the closed contacts and the accelerations ẇ = W λ + b of their rows make a contact problem of their own:
//! Coulomb's law with λ in place of the impulse and, in place of the velocity,
//!
//! ```text
//! (ẇ_N, ẇ_T)            where friction holds, or slip begins from rest: the law of the first change of a velocity at zero;
//! (ẇ_N, A u_T/|u_T|)    where the contact slips with u_T: friction opposes the slip, whatever its speed; A is the size of the accelerations.
//! ```
//!
//! [`crate::contact::ContactResidual`] measures it, and the certificate counts it with the problems of impacts. The normal force of a compliant contact is that
//! of its spring, and only its friction is judged.
//!
//! # Source
//!
//! Ours: Signorini's condition and Coulomb's law at velocities that are zero, differentiated once.
//!
//! # Guarantees
//!
//! Zero for reactions that obey the law; shares no code with the search for modes and reactions but the friction sections themselves.
//!
//! # Behaviour to know
//!
//! Records are judged, not the instants between them. Contacts that touch and open are not: they have no reaction.
//!
//! # Cost
//!
//! One evaluation of the accelerations and one response per contact row, per record.
//!
//! # Tested by
//!
//! Tests below; `tests/truth_events.rs`.

use crate::algebra::{dot, largest_size};
use crate::contact::{BlockKind, ContactKey, ContactProblem, ContactResidual, SPEED_ROUNDING};
use crate::laws::FlowRule;
use crate::stepping::ContactStage;
use crate::systems::MechanicalSystem;

use super::accelerations::Accelerations;
use super::integrator::Integrator;
use super::modes::{Friction, Mode};
use super::scales::{STOPPED, Scales};

/// Buffers of the problem of a record.
#[derive(Debug, Default)]
pub(super) struct LastingContact {
    problem: ContactProblem,
    residual: ContactResidual,
    reaction: Vec<f64>,
    /// Largest acceleration of the run so far: below its rounding nothing moves.
    acceleration: f64,
}

/// Largest speed of the rows of closed contacts at the largest kinetic energy of the run.
fn fastest_row(integrator: &Integrator) -> f64 {
    let slots = integrator.accelerations.layout.slots();
    let closed = slots
        .iter()
        .zip(&integrator.modes)
        .filter(|(_, mode)| mode.closed);
    let speeds = closed.flat_map(|(slot, _)| {
        let rows = slot.start..slot.start + slot.size;
        integrator.scales.speeds.get(rows).unwrap_or_default()
    });
    speeds.fold(
        0.0,
        |largest, &speed| if speed > largest { speed } else { largest },
    )
}

impl LastingContact {
    /// Enters the closed contacts at the instant the integrator has reached; returns the residual.
    pub fn certify(
        &mut self,
        integrator: &mut Integrator,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
    ) -> f64 {
        if !integrator.modes.iter().any(|mode| mode.closed) {
            return 0.0;
        }
        integrator.derivative(system);
        let worst = self.measure(integrator);
        stage
            .certificate
            .enter(integrator.t, &self.problem, &self.residual);
        worst
    }

    /// Measures the reactions the integrator holds.
    fn measure(&mut self, integrator: &Integrator) -> f64 {
        self.state(integrator);
        self.acceleration = largest_size(self.acceleration, self.problem.free());
        // What changes no speed beyond its rounding within a step is no acceleration either: bodies that slide on without forces have no other.
        let within_step = fastest_row(integrator) / integrator.scales.step();
        let size = if within_step.is_finite() {
            self.acceleration.max(within_step)
        } else {
            self.acceleration
        };
        self.residual.set_noise(SPEED_ROUNDING * size);
        self.residual.measure(&self.problem, &self.reaction);
        self.residual.worst()
    }

    /// Writes the problem of the instant: W of the closed contacts beside the joints, and the part of ẇ that is not W λ.
    fn state(&mut self, integrator: &Integrator) {
        let (acc, modes) = (&integrator.accelerations, &integrator.modes);
        let n = acc.a.len();
        self.problem.begin(n);
        self.reaction.clear();
        let mut wanted = Vec::new();
        for (s, mode) in modes.iter().enumerate().filter(|(_, mode)| mode.closed) {
            let slot = acc.layout.slots()[s];
            let reaction = &acc.reaction[slot.start..slot.start + slot.size];
            let kind = if acc.springs.is_empty() {
                BlockKind::Unilateral { minimum: 0.0 }
            } else {
                BlockKind::KnownNormal {
                    impulse: reaction[0],
                }
            };
            let key = ContactKey::declared(slot.key.constraint(), slot.key.point());
            let section = acc.whole_section(s).clone();
            let (rows, _) = (self.problem).push(key, slot.size, section, FlowRule::Coulomb, kind);
            rows.copy_from_slice(&acc.rows[slot.start * n..(slot.start + slot.size) * n]);
            self.reaction.extend_from_slice(reaction);
            wanted.extend(moved(acc, (s, mode), &integrator.scales));
        }
        self.problem.condense(|x| {
            acc.respond(x);
        });
        self.problem.velocity_free_mut().fill(0.0);
        self.problem.bias_mut().fill(0.0);
        self.problem.refresh();
        let mut answered = vec![0.0; self.reaction.len()];
        self.problem.local_velocity(&self.reaction, &mut answered);
        let parts = wanted.iter().zip(&answered);
        let bias: Vec<f64> = parts.map(|(w, response)| w - response).collect();
        self.problem.bias_mut().copy_from_slice(&bias);
        self.problem.refresh();
    }
}

/// What the law of a contact reads, row by row: accelerations, or the direction of its slip in their size.
fn moved(acc: &Accelerations, (s, mode): (usize, &Mode), scales: &Scales) -> Vec<f64> {
    let slot = acc.layout.slots()[s];
    let mut out: Vec<f64> = (0..slot.size).map(|i| acc.row_acceleration(s, i)).collect();
    if !acc.springs.is_empty() {
        out[0] = 0.0;
    }
    for (group, friction) in acc.groups[s].iter().zip(&mode.friction) {
        let Friction::Slip(direction) = friction else {
            continue;
        };
        let velocity = acc.velocity(s, group);
        let speed = dot(velocity, velocity).sqrt();
        let first = slot.start + group.start;
        let of_run =
            (scales.speeds.iter().skip(first).take(group.size)).fold(0.0, |m: f64, s| m.max(*s));
        // A slip that has just begun, or is about to end, has the direction of its mode.
        let along = if speed > STOPPED * of_run {
            velocity
        } else {
            direction
        };
        let length = dot(along, along).sqrt();
        for (k, u) in along.iter().enumerate() {
            out[group.start + k] = acc.scale() * u / length;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::EventDrivenSettings;
    use super::*;
    use crate::algebra::Jet;
    use crate::laws::{ContactLaw, FrictionSection, ImpactLaw};
    use crate::systems::functions::AutoScalar;
    use crate::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

    /// A particle of 2 kg on a floor with an ellipse of friction, pushed by a force of choice.
    fn particle(push: [f64; 2]) -> GeneralizedSystem {
        let place = |q: &[Jet]| [q[0], q[1], q[2]];
        let section = FrictionSection::ellipse([0.4, 0.25]).expect("an ellipse");
        let law = ContactLaw::new(section, ImpactLaw::Inelastic).expect("a law");
        let floor = UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[2]))
            .with_point(ContactFrame::spatial_point(place, |_| [0.0, 0.0, 1.0]), law);
        GeneralizedSystem::builder(["x", "y", "z"])
            .mass_diagonal(&[2.0; 3])
            .dead_load(&[push[0], push[1], -20.0])
            .constraint(floor)
            .build(&[0.0; 3])
            .expect("a system")
    }

    /// The integrator at an instant at which the particle is in the given state of friction.
    fn integrator(system: &GeneralizedSystem, v: [f64; 3], friction: Friction) -> Integrator {
        let mut integrator = Integrator::new(EventDrivenSettings::default());
        integrator.prepare(system, (0.0, &[0.0; 3], &v), 1.0);
        integrator.modes[0] = Mode {
            closed: true,
            friction: vec![friction],
        };
        integrator.derivative(system);
        integrator.observe_scales(system);
        integrator
    }

    /// Reactions that break a line of the law by a thousandth have a residual of that size.
    #[test]
    fn reactions_of_lasting_contact_are_judged_by_every_line_of_the_law() {
        let slides = particle([0.0, 0.0]);
        let holds = particle([3.0, 2.0]);
        let slip = Friction::Slip(vec![1.0, 0.0]);
        for (system, v, friction) in [
            (&slides, [1.5, -0.8, 0.0], slip),
            (&holds, [0.0; 3], Friction::Stick),
        ] {
            let mut judge = LastingContact::default();
            let mut integrator = integrator(system, v, friction);
            assert!(judge.measure(&integrator) <= 1e-14);
            let exact = integrator.accelerations.reaction.clone();
            assert!(exact[0] > 0.0 && exact[1].hypot(exact[2]) > 0.0);
            for row in 0..3 {
                for sign in [-1.0, 1.0] {
                    // The accelerations follow the reactions, as W λ of the problem does.
                    let change = 1e-3 * sign * exact[0];
                    integrator.accelerations.reaction[row] += change;
                    let acc = &integrator.accelerations;
                    let turned = acc.row(0, row).iter().map(|r| r * change / 2.0);
                    let a: Vec<f64> = acc.a.iter().zip(turned).map(|(a, d)| a + d).collect();
                    let before = std::mem::replace(&mut integrator.accelerations.a, a);
                    let found = judge.measure(&integrator);
                    assert!(found > 1e-5, "{row} {sign}: {found}");
                    integrator.accelerations.a = before;
                    integrator.accelerations.reaction.clone_from(&exact);
                }
            }
        }
    }

    /// Friction along the slip instead of against it, and a contact that pulls, are far off.
    #[test]
    fn friction_that_drives_and_contact_that_pulls_are_refused() {
        let system = particle([0.0, 0.0]);
        let slip = Friction::Slip(vec![1.0, 0.0]);
        let mut integrator = integrator(&system, [1.5, -0.8, 0.0], slip);
        let exact = integrator.accelerations.reaction.clone();
        let mut judge = LastingContact::default();
        integrator.accelerations.reaction = vec![exact[0], -exact[1], -exact[2]];
        assert!(judge.measure(&integrator) > 0.1);
        integrator.accelerations.reaction = exact.iter().map(|r| -r).collect();
        assert!(judge.measure(&integrator) > 0.1);
    }
}
