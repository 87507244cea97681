//! Accelerations and reactions at one instant, for given modes of the contacts.

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::laws::FrictionSection;
use crate::stepping::ContactLayout;
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::full_pivoting::solve_full_pivoting;
use super::hold::Held;
use super::modes::{Friction, Group, Mode, groups, section_of};

/// Stiffness and damping of one contact with compliance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spring {
    pub stiffness: f64,
    pub damping: f64,
}

/// Everything about one instant; buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Accelerations {
    pub layout: ContactLayout,
    pub groups: Vec<Vec<Group>>,
    pub springs: Vec<Spring>,
    mass: SymmetricMatrix,
    pub factor: CholeskyFactor,
    /// Gap of every constraint.
    pub gaps: Vec<f64>,
    /// Rounding of every gap.
    pub gap_rounding: Vec<f64>,
    /// Approach along the normal row of every contact for a unit of its gap.
    gap_units: Vec<f64>,
    /// Rows of every contact, normal first, as long as the velocity.
    pub rows: Vec<f64>,
    /// Local velocity of every contact row.
    pub local: Vec<f64>,
    /// The velocity that the local ones were read from.
    pub placed_velocity: Vec<f64>,
    /// Change of the local velocity at constant v.
    pub(super) rates: Vec<f64>,
    sections: Vec<FrictionSection>,
    joint_rows: Vec<f64>,
    /// Rate of every joint's equation.
    pub joint_local: Vec<f64>,
    pub(super) joint_rates: Vec<f64>,
    /// Reactions of the joints, as multiples of their gradients.
    pub joint_reaction: Vec<f64>,
    free: Vec<f64>,
    /// Acceleration.
    pub a: Vec<f64>,
    /// Reactions of every contact row.
    pub reaction: Vec<f64>,
    /// Power of external forces.
    pub external: f64,
    /// Power of linear damping.
    pub damping: f64,
    /// Whether every number was finite and every section valid.
    pub valid: bool,
    /// Whether rows that were held since this was last set to false depended on each other.
    pub dependent: bool,
    /// Largest acceleration left in a contact row that was to be held: not zero where the others hinder it, as at a dead centre.
    pub unheld: f64,
    force: Vec<f64>,
    work: Vec<f64>,
    pub(super) shifted: Vec<f64>,
    /// Sizes of the coordinates in the run so far, and the length of its last step, for differences.
    pub(super) sizes: Vec<f64>,
    pub(super) pause: f64,
}

impl Accelerations {
    pub fn prepare(&mut self, system: &dyn MechanicalSystem, q: &[f64]) {
        let n = system.dof();
        self.layout = ContactLayout::new(system);
        self.groups = groups(system, &self.layout);
        self.mass = system.new_matrix();
        self.mass_at(system, q);
        for buffer in [&mut self.free, &mut self.a, &mut self.force, &mut self.work] {
            buffer.resize(n, 0.0);
        }
        self.shifted.resize(q.len(), 0.0);
        let rows = self.layout.rows();
        self.rows.resize(rows * n, 0.0);
        self.local.resize(rows, 0.0);
        self.rates.resize(rows, 0.0);
        self.reaction.resize(rows, 0.0);
        self.gaps.resize(system.constraints().len(), 0.0);
        self.gap_rounding.resize(system.constraints().len(), 0.0);
        self.gap_units.resize(self.layout.slots().len(), 0.0);
        self.joint_rows.resize(system.joints().len() * n, 0.0);
        self.joint_local.resize(system.joints().len(), 0.0);
        self.joint_rates.resize(system.joints().len(), 0.0);
        self.joint_reaction.resize(system.joints().len(), 0.0);
    }

    /// Takes note of the sizes of the coordinates and of the length of the step, which differences are parts of.
    pub fn measure(&mut self, sizes: Vec<f64>, step: f64) {
        (self.sizes, self.pause) = (sizes, step);
    }

    fn mass_at(&mut self, system: &dyn MechanicalSystem, q: &[f64]) {
        system.mass(q, &mut self.mass);
        self.valid = self.factor.factor(&self.mass).is_ok();
    }

    /// Kinetic energy with the mass of the last instant.
    pub fn kinetic(&self, v: &[f64]) -> f64 {
        0.5 * self.mass.bilinear(v, v)
    }

    /// Kinetic energy that the free acceleration of the last instant gives to a body at rest within `h`.
    pub fn kinetic_from_rest(&self, h: f64) -> f64 {
        h * h * self.kinetic(&self.free)
    }

    /// Mass, gaps, frames, local velocities, free acceleration and sections at the instant.
    pub fn place(&mut self, system: &dyn MechanicalSystem, at: &Instant, needs_rates: bool) {
        self.valid = true;
        self.placed_velocity.clear();
        self.placed_velocity.extend_from_slice(at.v);
        if !system.mass_is_constant() {
            self.mass_at(system, at.q);
        }
        let n = at.v.len();
        let mut rows = std::mem::take(&mut self.rows);
        let mut local = std::mem::take(&mut self.local);
        self.frames(system, at.t, at.q, at.v, &mut rows, &mut local);
        self.sections.clear();
        for slot in self.layout.slots() {
            let point = &system.constraints()[slot.key.constraint()].points()[slot.key.point()];
            match point.section_at(at) {
                Ok(section) => self.sections.push(section),
                Err(_) => {
                    self.valid = false;
                    self.sections.push(FrictionSection::None);
                }
            }
        }
        for (c, constraint) in system.constraints().iter().enumerate() {
            self.gaps[c] = constraint.gap().value(at.t, at.q);
            constraint.gap().gradient(at.t, at.q, &mut self.work);
            let slopes = self.work.iter().enumerate();
            let sizes = slopes.map(|(k, g)| (g * extent(system, at.q, k)).abs());
            self.gap_rounding[c] = 16.0 * f64::EPSILON * sizes.sum::<f64>();
            let of_constraint = self.layout.slots().iter().enumerate();
            for (s, slot) in of_constraint.filter(|(_, slot)| slot.key.constraint() == c) {
                let normal = &rows[slot.start * n..(slot.start + 1) * n];
                let square = dot(&self.work, &self.work);
                let along = dot(normal, &self.work);
                self.gap_units[s] = if square > 0.0 { along / square } else { 0.0 };
            }
        }
        for (i, joint) in system.joints().iter().enumerate() {
            let row = &mut self.joint_rows[i * n..(i + 1) * n];
            joint.function().gradient(at.t, at.q, row);
            self.joint_local[i] = dot(row, at.v) + joint.function().rate(at.t, at.q);
        }
        self.rows = rows;
        self.local = local;
        if needs_rates {
            self.evaluate_rates(system, at);
        }
        self.free_acceleration(system, at);
    }

    /// Rows and local velocities `row·v + drift` at (t, q).
    pub(super) fn frames(
        &self,
        system: &dyn MechanicalSystem,
        t: f64,
        q: &[f64],
        v: &[f64],
        rows: &mut [f64],
        local: &mut [f64],
    ) {
        let n = v.len();
        let mut gradient = vec![0.0; n];
        for slot in self.layout.slots() {
            let constraint = &system.constraints()[slot.key.constraint()];
            let frame = &constraint.points()[slot.key.point()].frame;
            constraint.gap().gradient(t, q, &mut gradient);
            let all = 1 + frame.tangent_count();
            let mut every = vec![0.0; all * n];
            let mut drift = vec![0.0; all];
            frame.rows(t, q, &gradient, &mut every);
            frame.drift(constraint.gap(), t, q, &mut drift);
            for i in 0..slot.size {
                let row = &every[i * n..(i + 1) * n];
                rows[(slot.start + i) * n..(slot.start + i + 1) * n].copy_from_slice(row);
                local[slot.start + i] = dot(row, v) + drift[i];
            }
        }
    }

    fn free_acceleration(&mut self, system: &dyn MechanicalSystem, at: &Instant) {
        let (n, v) = (at.v.len(), at.v);
        self.free.fill(0.0);
        self.external = 0.0;
        self.damping = 0.0;
        if system.force_dependence() != ForceDependence::None {
            system.force(at, &mut self.force);
            self.external = dot(&self.force, v);
            self.free.copy_from_slice(&self.force);
        }
        let subtract = |free: &mut [f64], part: &[f64]| {
            for (f, p) in free.iter_mut().zip(part) {
                *f -= p;
            }
        };
        if system.has_potential() {
            system.potential_gradient(at.q, &mut self.work);
            subtract(&mut self.free, &self.work);
        }
        if let Some(linear) = system.linear_part() {
            if let Some(stiffness) = &linear.stiffness {
                stiffness.multiply(at.q, &mut self.work);
                subtract(&mut self.free, &self.work);
            }
            if let Some(damping) = &linear.damping {
                damping.multiply(v, &mut self.work);
                self.damping = -dot(&self.work, v);
                subtract(&mut self.free, &self.work);
            }
        }
        if system.has_covariant_force() {
            system.covariant_force(at.q, v, &mut self.work);
            for i in 0..n {
                self.free[i] += self.work[i];
            }
        }
        self.factor.solve_in_place(&mut self.free);
        self.valid &= self.free.iter().all(|x| x.is_finite());
    }

    pub fn row(&self, slot: usize, i: usize) -> &[f64] {
        let n = self.free.len();
        let start = (self.layout.slots()[slot].start + i) * n;
        &self.rows[start..start + n]
    }

    /// Rows of the joints at the last instant.
    pub fn joint_rows(&self) -> impl Iterator<Item = &[f64]> {
        self.joint_rows.chunks(self.free.len().max(1))
    }

    /// Local velocity of a group.
    pub fn velocity(&self, slot: usize, group: &Group) -> &[f64] {
        let start = self.layout.slots()[slot].start + group.start;
        &self.local[start..start + group.size]
    }

    /// Reaction of a group.
    pub fn group_reaction(&self, slot: usize, group: &Group) -> &[f64] {
        let start = self.layout.slots()[slot].start + group.start;
        &self.reaction[start..start + group.size]
    }

    pub fn normal_reaction(&self, slot: usize) -> f64 {
        self.reaction[self.layout.slots()[slot].start]
    }

    pub fn normal_velocity(&self, slot: usize) -> f64 {
        self.local[self.layout.slots()[slot].start]
    }

    /// Section of a contact at the last instant.
    pub fn whole_section(&self, slot: usize) -> &FrictionSection {
        &self.sections[slot]
    }

    /// Section of a group at the last instant.
    pub fn section(&self, slot: usize, group: &Group) -> FrictionSection {
        section_of(&self.sections[slot], group)
    }

    /// Acceleration of a contact row with the solved reactions.
    pub fn row_acceleration(&self, slot: usize, i: usize) -> f64 {
        let row = self.layout.slots()[slot].start + i;
        dot(self.row(slot, i), &self.a) + self.rates[row]
    }

    /// Largest acceleration that contact rows feel of forces, of their own turning and of the joints as solved last: the yardstick of
    /// decisions. A wall may be pressed by what a wire turns aside alone, across a force that the wall does not feel itself.
    pub fn scale(&self) -> f64 {
        let mut scale = 1e-300f64;
        let answers: Vec<Vec<f64>> = (self.joint_rows().zip(&self.joint_reaction))
            .map(|(row, reaction)| {
                let mut answer: Vec<f64> = row.iter().map(|r| reaction * r).collect();
                self.factor.solve_in_place(&mut answer);
                answer
            })
            .collect();
        for slot in 0..self.layout.slots().len() {
            for i in 0..self.layout.slots()[slot].size {
                let row = self.layout.slots()[slot].start + i;
                scale = scale.max(self.rates[row].abs());
                for felt in answers.iter().chain([&self.free]) {
                    scale = scale.max(dot(self.row(slot, i), felt).abs());
                }
            }
        }
        scale
    }

    /// `W_nn` of a contact.
    pub fn compliance(&self, slot: usize) -> f64 {
        let mut x = self.row(slot, 0).to_vec();
        self.factor.solve_in_place(&mut x);
        dot(self.row(slot, 0), &x)
    }

    /// Normal force of a compliant contact.
    fn spring_force(&self, slot: usize) -> f64 {
        let spring = self.springs[slot];
        let gap = self.gaps[self.layout.slots()[slot].key.constraint()];
        let depth = -self.gap_units[slot] * gap;
        let force = spring.stiffness * depth - spring.damping * self.normal_velocity(slot);
        if gap < 0.0 { force.max(0.0) } else { 0.0 }
    }

    /// Friction of a slipping group per unit normal force; slip that `begins` keeps to the direction of its mode.
    fn slip_force(&self, slot: usize, group: &Group, direction: &[f64], begins: bool) -> Vec<f64> {
        let velocity = self.velocity(slot, group);
        let speed = dot(velocity, velocity).sqrt();
        // One tangent keeps its sign, so that the motion continues smoothly past a stop.
        let opposite: Vec<f64> = if group.size > 1 && speed > 0.0 && !begins {
            velocity.iter().map(|u| -u).collect()
        } else {
            direction.iter().map(|d| -d).collect()
        };
        let mut out = vec![0.0; group.size];
        self.section(slot, group).support_point(&opposite, &mut out);
        out
    }

    /// Accelerations and reactions for the given modes, from the instant placed last.
    pub fn solve(&mut self, modes: &[Mode]) {
        let n = self.free.len();
        self.a.copy_from_slice(&self.free);
        self.reaction.fill(0.0);
        self.unheld = 0.0;
        let mut held: Vec<Held> = Vec::new();
        for (i, row) in self.joint_rows.chunks(n.max(1)).enumerate() {
            held.push(Held {
                row: row.to_vec(),
                force: row.to_vec(),
                rate: self.joint_rates[i],
                slot: None,
            });
        }
        let mut slips: Vec<(usize, usize, Vec<f64>)> = Vec::new();
        for (s, mode) in modes.iter().enumerate() {
            if !mode.closed {
                continue;
            }
            let slot = self.layout.slots()[s];
            let mut force = self.row(s, 0).to_vec();
            let mut sticking = Vec::new();
            for (group, friction) in self.groups[s].iter().zip(&mode.friction) {
                match friction {
                    Friction::Slip(direction) | Friction::Begin(direction) => {
                        let begins = matches!(friction, Friction::Begin(_));
                        let share = self.slip_force(s, group, direction, begins);
                        for (k, &p) in share.iter().enumerate() {
                            for (f, r) in force.iter_mut().zip(self.row(s, group.start + k)) {
                                *f += p * r;
                            }
                        }
                        slips.push((s, group.start, share));
                    }
                    Friction::Stick => {
                        sticking.extend(group.start..group.start + group.size);
                    }
                }
            }
            if self.springs.is_empty() {
                held.push(Held {
                    row: self.row(s, 0).to_vec(),
                    force,
                    rate: self.rates[slot.start],
                    slot: Some((s, 0)),
                });
            } else {
                let normal = self.spring_force(s);
                self.reaction[slot.start] = normal;
                self.factor.solve_in_place(&mut force);
                for (a, f) in self.a.iter_mut().zip(&force) {
                    *a += normal * f;
                }
            }
            for i in sticking {
                held.push(Held {
                    row: self.row(s, i).to_vec(),
                    force: self.row(s, i).to_vec(),
                    rate: self.rates[slot.start + i],
                    slot: Some((s, i)),
                });
            }
        }
        self.hold(&held);
        for (s, start, share) in slips {
            let base = self.layout.slots()[s].start;
            let normal = self.reaction[base];
            for (k, p) in share.iter().enumerate() {
                self.reaction[base + start + k] = p * normal;
            }
        }
    }

    /// Turns a generalized impulse into the change of velocity it makes beside the joints, which answer it; returns their impulses.
    pub fn respond(&self, impulse: &mut [f64]) -> Vec<f64> {
        self.factor.solve_in_place(impulse);
        let n = impulse.len().max(1);
        let rows: Vec<&[f64]> = self.joint_rows.chunks(n).collect();
        let responses: Vec<Vec<f64>> = (rows.iter())
            .map(|row| {
                let mut response = row.to_vec();
                self.factor.solve_in_place(&mut response);
                response
            })
            .collect();
        let mut gram: Vec<f64> = Vec::new();
        for row in &rows {
            gram.extend(responses.iter().map(|response| dot(row, response)));
        }
        let mut right: Vec<f64> = rows.iter().map(|row| -dot(row, impulse)).collect();
        let (answer, _) = solve_full_pivoting(&mut gram, &mut right, None);
        for (response, x) in responses.iter().zip(&answer) {
            let parts = impulse.iter_mut().zip(response);
            parts.for_each(|(v, r)| *v += x * r);
        }
        answer
    }

    /// Power of reactions of the joints, or work of impulses, at the velocity v: not zero where a joint is driven.
    pub fn joint_power(&self, reactions: &[f64], v: &[f64]) -> f64 {
        let rows = self.joint_rows.chunks(v.len().max(1));
        let parts = rows.zip(reactions);
        parts.map(|(row, reaction)| reaction * dot(row, v)).sum()
    }
}

/// Size of what velocity k moves: its coordinate, and a radian where it turns a body.
pub(super) fn extent(system: &dyn MechanicalSystem, q: &[f64], k: usize) -> f64 {
    if system.turns() && k >= 3 {
        1.0
    } else {
        q[k].abs()
    }
}
