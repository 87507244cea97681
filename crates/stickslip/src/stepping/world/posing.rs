//! The contact problem of a step: which contacts act, their rows, biases and guesses.

use crate::algebra::cross;
use crate::contact::{BlockKind, BodyFill, ByContact, ContactBlock, ContactProblem};
use crate::parallel::{Part, share};
use crate::records::StepOutcome;
use crate::systems::world::{FoundContact, Load, World};

use super::bodies::Bodies;
use super::contacts::{self, ActiveContact, Approach, Posing, dot};
use super::impulses::ImpulseMemory;

/// What a problem is posed from.
pub(super) struct PoseInput<'a> {
    pub world: &'a World,
    pub bodies: &'a Bodies,
    pub found: &'a [FoundContact],
    pub loads: &'a [Load],
    pub memory: &'a ImpulseMemory,
    /// Where coefficients of friction are read.
    pub at: (f64, &'a [f64]),
    pub h: f64,
    /// θ of the scheme.
    pub theta: f64,
    /// Whitened velocity before the kick, and without contacts.
    pub before: &'a [f64],
    pub free: &'a [f64],
}

/// The contacts that act in a step.
#[derive(Debug, Default)]
pub(super) struct PosedContacts {
    pub active: Vec<ActiveContact>,
    /// Per row: velocity of driven bodies, and velocity before the kick with it.
    pub drift: Vec<f64>,
    pub approach: Vec<f64>,
}

impl PosedContacts {
    /// Chooses the contacts that act and writes their blocks, rows, biases and guesses.
    pub fn pose(
        &mut self,
        input: &PoseInput,
        problem: &mut ContactProblem,
        guess: &mut Vec<f64>,
    ) -> Result<(), StepOutcome> {
        self.list(input, problem)?;
        problem.velocity_free_mut().copy_from_slice(input.free);
        let (contacts, rows) = (self.active.len(), problem.size());
        for numbers in [&mut self.drift, &mut self.approach, guess] {
            numbers.resize(rows, 0.0);
        }
        let fill = problem.fill_bodies();
        let by_contact = |numbers| fill.rows.numbers_by_contact(numbers);
        let all = Contacts {
            active: &mut self.active,
            drift: by_contact(&mut self.drift),
            approach: by_contact(&mut self.approach),
            guess: by_contact(guess),
            fill,
        };
        share(all, contacts, |_, mut part| {
            for contact in 0..part.active.len() {
                part.write(contact, input);
            }
        });
        Ok(())
    }

    /// The contacts that act and their blocks.
    fn list(&mut self, input: &PoseInput, problem: &mut ContactProblem) -> Result<(), StepOutcome> {
        let PoseInput {
            world, bodies, h, ..
        } = *input;
        self.active.clear();
        problem.begin_bodies(world.dimension.freedoms(), world.bodies.len());
        let gain = h * world.gravity_size();
        for (index, contact) in input.found.iter().enumerate() {
            let law = world.laws.law(contact.law);
            let impact = law.contact.impact();
            let [a, b] = contact.key.owners.map(|owner| owner as usize);
            let mut at = Approach {
                gap: contact.gap,
                slop: world.slop_of(a, b),
                before: 0.0,
                free: 0.0,
                h,
                gain,
            };
            if impact.restitution() > 0.0 {
                (at.before, at.free) = input.normal_velocities(contact);
            }
            let posing = contacts::pose(impact.restitution(), &at);
            if posing == Posing::Absent {
                continue;
            }
            let (t, q) = input.at;
            let section = law.contact.section_at(t, q);
            let section = section.map_err(|_| StepOutcome::BadCoefficient {
                contact: contact.key,
            })?;
            let (start, rows) = (problem.size(), law.rows());
            let block = ContactBlock {
                key: contact.key,
                start,
                size: rows,
                section,
                flow_rule: law.contact.flow_rule(),
                kind: BlockKind::Unilateral { minimum: 0.0 },
            };
            problem.announce_bodies(block, contacts::sides(bodies, contact));
            self.active.push(ActiveContact {
                found: index as u32,
                start: start as u32,
                rows: rows as u8,
                linear: contacts::linear_rows(world.dimension, law) as u8,
                rolling: law.rolling,
                posing,
                impact,
                frame: [[0.0; 3]; 3],
            });
        }
        Ok(())
    }
}

impl PoseInput<'_> {
    /// Normal velocity of a contact before the kick and after gravity and forces alone.
    fn normal_velocities(&self, contact: &FoundContact) -> (f64, f64) {
        let bodies = self.bodies;
        let [a, b] = contact.key.owners.map(|owner| owner as usize);
        let velocity = |i: usize| bodies.point_velocity(i, contact.place);
        let (va, vb) = (velocity(a), velocity(b));
        let before = (0..3)
            .map(|k| (va[k] - vb[k]) * contact.normal[k])
            .sum::<f64>();
        let gain = |i: usize| {
            let mass = &bodies.masses[i];
            if !mass.free {
                return 0.0;
            }
            let load = &self.loads[i];
            let gravity = self.world.gravity;
            let linear = std::array::from_fn(|k| gravity[k] + load.force[k] / mass.mass);
            let x = bodies.state.poses[i].position;
            let arm = std::array::from_fn(|k| contact.place[k] - x[k]);
            let turning = bodies.in_body(i, cross(arm, contact.normal));
            let angular: f64 = (0..3)
                .map(|k| turning[k] * load.torque[k] * mass.inverse_root_inertia[k].powi(2))
                .sum();
            self.h * (dot(linear, contact.normal) + angular)
        };
        (before, before + gain(a) - gain(b))
    }
}

/// Some of the contacts that act, for writing.
struct Contacts<'a> {
    active: &'a mut [ActiveContact],
    fill: BodyFill<'a>,
    drift: ByContact<'a, f64>,
    approach: ByContact<'a, f64>,
    guess: ByContact<'a, f64>,
}

impl Contacts<'_> {
    /// Frame, rows, bias and guess of a contact.
    #[inline]
    fn write(&mut self, contact: usize, input: &PoseInput) {
        let PoseInput { world, bodies, .. } = *input;
        let active = &mut self.active[contact];
        let found = &input.found[active.found as usize];
        let law = world.laws.law(found.law);
        let first = &bodies.rotations[found.key.owners[0] as usize];
        active.frame = contacts::frame(world.dimension, law, found.normal, first);
        let linear = usize::from(active.linear);
        let all = active.directions();
        let used = &all[..usize::from(active.rows)];
        let numbers = self.fill.rows.numbers(contact);
        contacts::write_rows(numbers, bodies, world.dimension, found, used, linear);
        let velocities = [self.fill.velocity_free, input.before];
        let [free, before] = self.fill.rows.read(contact, velocities);
        let (drift, approach) = (self.drift.of(contact), self.approach.of(contact));
        contacts::drift(bodies, found, used, linear, drift);
        for ((approach, drift), before) in approach.iter_mut().zip(&*drift).zip(before) {
            *approach = drift + before;
        }
        // θ = ½ makes Frémond's law read the mean, which is what the kick of θ = 0 does.
        let theta = if input.theta == 0.0 { 0.5 } else { input.theta };
        let bias = self.fill.bias.of(contact);
        contacts::bias(active.impact, theta, active.posing, approach, bias);
        for (bias, drift) in bias.iter_mut().zip(drift) {
            *bias += *drift;
        }
        self.fill.set_free(contact, &free);
        let guess = self.guess.of(contact);
        input.memory.recall(input.h, active, found.matched, guess);
    }
}

impl Part for Contacts<'_> {
    fn cut(self, at: usize) -> (Self, Self) {
        let (active, later_active) = self.active.split_at_mut(at);
        let (fill, later_fill) = self.fill.cut(at);
        let (drift, later_drift) = self.drift.cut(at);
        let (approach, later_approach) = self.approach.cut(at);
        let (guess, later_guess) = self.guess.cut(at);
        let first = Self {
            active,
            fill,
            drift,
            approach,
            guess,
        };
        let last = Self {
            active: later_active,
            fill: later_fill,
            drift: later_drift,
            approach: later_approach,
            guess: later_guess,
        };
        (first, last)
    }
}
