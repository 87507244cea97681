//! The contact problem of a step: which contacts act, their rows, biases and guesses.

use crate::algebra::cross;
use crate::contact::{BlockKind, BodyFill, ByContact, ContactBlock, ContactProblem, Delassus};
use crate::laws::{FlowRule, FrictionSection, ImpactLaw};
use crate::parallel::{Part, share};
use crate::records::StepOutcome;
use crate::systems::world::{Dimension, FoundContact, Load, PairLaw, World};

use super::bodies::Bodies;
use super::contacts::{self, ActiveContact, Approach, Posing, ROWS_MAX, direction, dot};
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
    /// Speed that gravity gains in the step.
    pub gain: f64,
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
        if !self.list_again(input, problem) {
            self.list(input, problem)?;
        }
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

    /// Whether the contacts that act are those of the last step, in their order and under the same laws, with a disc of friction each: the
    /// blocks stay, and only how gaps close is new.
    fn list_again(&mut self, input: &PoseInput, problem: &ContactProblem) -> bool {
        let (world, found, blocks) = (input.world, input.found, problem.blocks());
        let (freedoms, bodies) = (world.dimension.freedoms(), world.bodies.len());
        let Delassus::Bodies(operator) = problem.delassus() else {
            return false;
        };
        if (operator.freedoms(), operator.bodies()) != (freedoms, bodies)
            || [self.active.len(), found.len()] != [blocks.len(); 2]
        {
            return false;
        }
        let mut known: Option<(u32, DiscLaw)> = None;
        let contacts = found.iter().zip(blocks).zip(&mut self.active);
        for (index, ((contact, block), active)) in contacts.enumerate() {
            let law = match known {
                Some((law, disc)) if law == contact.law => disc,
                _ => match DiscLaw::of(world.laws.law(contact.law), input.at) {
                    Some(disc) => disc,
                    None => return false,
                },
            };
            known = Some((contact.law, law));
            active.posing = input.posing(contact, law.impact);
            if active.posing == Posing::Absent
                || active.found as usize != index
                || active.impact != law.impact
                || block.key != contact.key
                || operator.sides(index) != contacts::sides(input.bodies, contact)
                || !law.is_of(block)
            {
                return false;
            }
        }
        true
    }

    /// The contacts that act and their blocks.
    fn list(&mut self, input: &PoseInput, problem: &mut ContactProblem) -> Result<(), StepOutcome> {
        let PoseInput { world, bodies, .. } = *input;
        self.active.clear();
        problem.begin_bodies(world.dimension.freedoms(), world.bodies.len());
        for (index, contact) in input.found.iter().enumerate() {
            let law = world.laws.law(contact.law);
            let impact = law.contact.impact();
            let posing = input.posing(contact, impact);
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

/// A law with a disc of friction, as its blocks have it.
#[derive(Clone, Copy)]
struct DiscLaw {
    impact: ImpactLaw,
    flow_rule: FlowRule,
    rows: usize,
    mu: f64,
}

impl DiscLaw {
    fn of(law: &PairLaw, (t, q): (f64, &[f64])) -> Option<Self> {
        let FrictionSection::Disc { mu, .. } = law.contact.section_at(t, q).ok()? else {
            return None;
        };
        Some(Self {
            impact: law.contact.impact(),
            flow_rule: law.contact.flow_rule(),
            rows: law.rows(),
            mu,
        })
    }

    #[inline]
    fn is_of(&self, block: &ContactBlock) -> bool {
        matches!(block.section, FrictionSection::Disc { mu, .. } if mu == self.mu)
            && block.size == self.rows
            && block.flow_rule == self.flow_rule
            && block.kind == (BlockKind::Unilateral { minimum: 0.0 })
    }
}

impl PoseInput<'_> {
    /// How the normal row of a contact is posed.
    #[inline]
    fn posing(&self, contact: &FoundContact, impact: ImpactLaw) -> Posing {
        let [a, b] = contact.key.owners.map(|owner| owner as usize);
        let mut at = Approach {
            gap: contact.gap,
            slop: self.world.slop_of(a, b),
            before: 0.0,
            free: 0.0,
            h: self.h,
            gain: self.gain,
        };
        if impact.restitution() > 0.0 {
            (at.before, at.free) = self.normal_velocities(contact);
        }
        contacts::pose(impact.restitution(), &at)
    }

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
    /// Frame, rows, bias and guess of a contact. Normal and tangents alone, the most common rows, have a form of their own.
    #[inline]
    fn write(&mut self, contact: usize, input: &PoseInput) {
        let ActiveContact { rows, linear, .. } = self.active[contact];
        let counts = (usize::from(rows), usize::from(linear));
        match (input.world.dimension, counts) {
            (Dimension::Space, (3, 3)) => self.write_as::<6, 3>(contact, input, (3, 3)),
            (Dimension::Plane, (2, 2)) => self.write_as::<3, 2>(contact, input, (2, 2)),
            (Dimension::Space, counts) => self.write_as::<6, ROWS_MAX>(contact, input, counts),
            (Dimension::Plane, counts) => self.write_as::<3, ROWS_MAX>(contact, input, counts),
        }
    }

    /// The same for bodies of F freedoms and so many rows, at most N, `linear` of which are velocities.
    #[inline(always)] // For each number of rows known beforehand.
    fn write_as<const F: usize, const N: usize>(
        &mut self,
        contact: usize,
        input: &PoseInput,
        (count, linear): (usize, usize),
    ) {
        let PoseInput { world, bodies, .. } = *input;
        let active = &mut self.active[contact];
        let found = &input.found[active.found as usize];
        let law = world.laws.law(found.law);
        let first = &bodies.rotations[found.key.owners[0] as usize];
        let frame = contacts::frame(world.dimension, law, found.normal, first);
        active.frame = frame;
        let all: [[f64; 3]; N] = std::array::from_fn(|row| direction(&frame, row, active.rolling));
        let used = &all[..count];
        let velocities = [self.fill.velocity_free, input.before];
        let [mut free, mut before] = [[0.0; ROWS_MAX]; 2];
        let [a, b] = found.key.owners;
        if F == 6 && (count, linear) == (3, 3) && a != b {
            let columns = contacts::columns_by_lane(bodies, found, &frame);
            let products = self.fill.rows.set_by_lane(contact, &columns, velocities);
            free[..4].copy_from_slice(&products[0]);
            before[..4].copy_from_slice(&products[1]);
        } else {
            let mut rows = [[[0.0; F]; 2]; N];
            let rows = &mut rows[..count];
            contacts::write_sides(rows, bodies, found, used, linear);
            [free, before] = self.fill.rows.set(contact, rows, velocities);
        }
        let drift = &mut self.drift.of(contact)[..count];
        let approach = &mut self.approach.of(contact)[..count];
        contacts::drift(bodies, found, used, linear, drift);
        for k in 0..count {
            approach[k] = drift[k] + before[k];
        }
        // θ = ½ makes Frémond's law read the mean, which is what the kick of θ = 0 does.
        let theta = if input.theta == 0.0 { 0.5 } else { input.theta };
        let bias = &mut self.fill.bias.of(contact)[..count];
        contacts::bias(active.impact, theta, active.posing, approach, bias);
        for (bias, drift) in bias.iter_mut().zip(drift) {
            *bias += *drift;
        }
        self.fill.set_free(contact, &free[..count]);
        let guess = &mut self.guess.of(contact)[..count];
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
