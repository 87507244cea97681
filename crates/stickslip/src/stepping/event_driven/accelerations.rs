//! Accelerations and reactions at one instant, for given modes of the contacts.

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::laws::FrictionSection;
use crate::stepping::ContactLayout;
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

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
    /// Rows of every contact, normal first, as long as the velocity.
    pub rows: Vec<f64>,
    /// Local velocity of every contact row.
    pub local: Vec<f64>,
    /// The velocity that the local ones were read from.
    pub placed_velocity: Vec<f64>,
    /// Change of the local velocity at constant v.
    rates: Vec<f64>,
    sections: Vec<FrictionSection>,
    joint_rows: Vec<f64>,
    joint_rates: Vec<f64>,
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
    force: Vec<f64>,
    work: Vec<f64>,
    shifted: Vec<f64>,
}

/// A constrained row: its covector, the force that keeps it, and where its reaction goes.
struct Held {
    row: Vec<f64>,
    force: Vec<f64>,
    rate: f64,
    slot: Option<(usize, usize)>,
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
        self.joint_rows.resize(system.joints().len() * n, 0.0);
        self.joint_rates.resize(system.joints().len(), 0.0);
        self.joint_reaction.resize(system.joints().len(), 0.0);
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
            let sizes = self.work.iter().zip(at.q).map(|(g, q)| (g * q).abs());
            self.gap_rounding[c] = 16.0 * f64::EPSILON * sizes.sum::<f64>();
        }
        for (i, joint) in system.joints().iter().enumerate() {
            let row = &mut self.joint_rows[i * n..(i + 1) * n];
            joint.function().gradient(at.t, at.q, row);
        }
        self.rows = rows;
        self.local = local;
        if needs_rates {
            self.evaluate_rates(system, at);
        }
        self.free_acceleration(system, at);
    }

    /// Rows and local velocities `row·v + drift` at (t, q).
    fn frames(
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

    /// d/dt of the local velocities at constant v, by differences of order four along the motion.
    fn evaluate_rates(&mut self, system: &dyn MechanicalSystem, at: &Instant) {
        let step = if system.turns() {
            // Only the orientation of a body moves its rows: a thousandth of a radian.
            let spin = at.v.iter().skip(3).fold(0.0f64, |m, w| m.max(w.abs()));
            if spin > 0.0 { 1e-3 / spin } else { 1.0 }
        } else {
            let fastest = at.v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            1e-3 / fastest.max(1.0)
        };
        let count = self.local.len();
        let mut rows = vec![0.0; self.rows.len()];
        let mut local = vec![0.0; count];
        let mut gradient = vec![0.0; at.v.len()];
        self.rates.fill(0.0);
        self.joint_rates.fill(0.0);
        let mut shifted = std::mem::take(&mut self.shifted);
        for (k, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let e = k * step;
            system.displace(at.q, at.v, e, &mut shifted);
            self.frames(system, at.t + e, &shifted, at.v, &mut rows, &mut local);
            for (rate, u) in self.rates.iter_mut().zip(&local) {
                *rate += weight * u / (12.0 * step);
            }
            for (rate, joint) in self.joint_rates.iter_mut().zip(system.joints()) {
                let function = joint.function();
                function.gradient(at.t + e, &shifted, &mut gradient);
                let u = dot(&gradient, at.v) + function.rate(at.t + e, &shifted);
                *rate += weight * u / (12.0 * step);
            }
        }
        self.shifted = shifted;
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

    /// Section of a group at the last instant.
    pub fn section(&self, slot: usize, group: &Group) -> FrictionSection {
        section_of(&self.sections[slot], group)
    }

    /// Acceleration of a contact row with the solved reactions.
    pub fn row_acceleration(&self, slot: usize, i: usize) -> f64 {
        let row = self.layout.slots()[slot].start + i;
        dot(self.row(slot, i), &self.a) + self.rates[row]
    }

    /// Largest acceleration that contact rows feel, the yardstick of decisions.
    pub fn scale(&self) -> f64 {
        let mut scale = 1e-300f64;
        for slot in 0..self.layout.slots().len() {
            for i in 0..self.layout.slots()[slot].size {
                let row = self.layout.slots()[slot].start + i;
                scale = scale
                    .max(dot(self.row(slot, i), &self.free).abs())
                    .max(self.rates[row].abs());
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
        let force = -spring.stiffness * gap - spring.damping * self.normal_velocity(slot);
        if gap < 0.0 { force.max(0.0) } else { 0.0 }
    }

    /// Friction of a slipping group per unit normal force.
    fn slip_force(&self, slot: usize, group: &Group, direction: &[f64]) -> Vec<f64> {
        let velocity = self.velocity(slot, group);
        let speed = dot(velocity, velocity).sqrt();
        // One tangent keeps its sign, so that the motion continues smoothly past a stop.
        let opposite: Vec<f64> = if group.size > 1 && speed > 0.0 {
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
                    Friction::Slip(direction) => {
                        let share = self.slip_force(s, group, direction);
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

    /// Power of the reactions of the joints at the velocity v: not zero where a joint is driven.
    pub fn joint_power(&self, v: &[f64]) -> f64 {
        let rows = self.joint_rows.chunks(v.len().max(1));
        let parts = rows.zip(&self.joint_reaction);
        parts.map(|(row, reaction)| reaction * dot(row, v)).sum()
    }

    /// What a reaction costs where there is a choice.
    fn weight(&self, held: &Held) -> f64 {
        let Some((slot, row)) = held.slot else {
            return JOINT;
        };
        let group = self.groups[slot]
            .iter()
            .find(|group| (group.start..group.start + group.size).contains(&row));
        let Some(group) = group else {
            return 1.0;
        };
        let mut unit = vec![0.0; group.size];
        unit[row - group.start] = 1.0;
        let gauge = self.section(slot, group).gauge(&unit);
        FRICTION * gauge.clamp(1e-3, 1e3).powi(2)
    }

    /// Adds the reactions that keep the held rows, by elimination with full pivoting. Where rows depend on each other, those of the same motion with least friction, measured by
    /// what the pressure of one newton allows, and then with least pressure: about the deepest inside their cones.
    fn hold(&mut self, held: &[Held]) {
        let m = held.len();
        if m == 0 {
            return;
        }
        let mut responses: Vec<Vec<f64>> = held.iter().map(|h| h.force.clone()).collect();
        for response in &mut responses {
            self.factor.solve_in_place(response);
        }
        let mut matrix = vec![0.0; m * m];
        let mut right = vec![0.0; m];
        for (i, h) in held.iter().enumerate() {
            for (j, response) in responses.iter().enumerate() {
                matrix[i * m + j] = dot(&h.row, response);
            }
            right[i] = -(dot(&h.row, &self.a) + h.rate);
        }
        let weights: Vec<f64> = held.iter().map(|h| self.weight(h)).collect();
        let (solution, rank) = solve_full_pivoting(&mut matrix, &mut right, Some(&weights));
        self.dependent |= rank < m;
        // Joints come first.
        let joints = self.joint_reaction.iter_mut().zip(&solution);
        joints.for_each(|(reaction, x)| *reaction = *x);
        for ((h, response), &x) in held.iter().zip(&responses).zip(&solution) {
            for (a, r) in self.a.iter_mut().zip(response) {
                *a += x * r;
            }
            if let Some((s, i)) = h.slot {
                self.reaction[self.layout.slots()[s].start + i] = x;
            }
        }
    }
}

/// What a joint pays for a reaction beside the normal one of a contact: next to nothing, it has no cone.
const JOINT: f64 = 1e-6;
/// What friction pays, over the square of its part of the cone: a particle in a groove that wedges it (μ = 1.5) is held without friction, which would otherwise carry it outside the cones.
const FRICTION: f64 = 100.0;

/// Solution of a small square system, and its rank. Unknowns whose pivot vanishes are zero, or with weights such that Σ w x² is least.
pub(super) fn solve_full_pivoting(
    matrix: &mut [f64],
    right: &mut [f64],
    weights: Option<&[f64]>,
) -> (Vec<f64>, usize) {
    let m = right.len();
    let mut columns: Vec<usize> = (0..m).collect();
    let largest = matrix.iter().fold(0.0f64, |x, y| x.max(y.abs()));
    let mut rank = m;
    for k in 0..m {
        let (mut row, mut column, mut best) = (k, k, 0.0);
        for i in k..m {
            for j in k..m {
                if matrix[i * m + j].abs() > best {
                    (row, column, best) = (i, j, matrix[i * m + j].abs());
                }
            }
        }
        if best <= 1e-13 * largest {
            rank = k;
            break;
        }
        if row != k {
            for j in 0..m {
                matrix.swap(row * m + j, k * m + j);
            }
            right.swap(row, k);
        }
        if column != k {
            for i in 0..m {
                matrix.swap(i * m + column, i * m + k);
            }
            columns.swap(column, k);
        }
        for i in k + 1..m {
            let factor = matrix[i * m + k] / matrix[k * m + k];
            for j in k..m {
                matrix[i * m + j] -= factor * matrix[k * m + j];
            }
            right[i] -= factor * right[k];
        }
    }
    // The pivots for a right-hand side given by its rows.
    let substitute = |right: &dyn Fn(usize) -> f64| {
        let mut solution = vec![0.0; m];
        for k in (0..rank).rev() {
            let mut sum = right(k);
            for j in k + 1..rank {
                sum -= matrix[k * m + j] * solution[columns[j]];
            }
            solution[columns[k]] = sum / matrix[k * m + k];
        }
        solution
    };
    let mut solution = substitute(&|k| right[k]);
    if let Some(weights) = weights.filter(|_| rank < m) {
        // Directions in which nothing moves, one for each unknown without a pivot.
        let idle: Vec<Vec<f64>> = (rank..m)
            .map(|free| {
                let mut direction = substitute(&|k| -matrix[k * m + free]);
                direction[columns[free]] = 1.0;
                direction
            })
            .collect();
        let inner = |a: &[f64], b: &[f64]| (0..m).map(|i| weights[i] * a[i] * b[i]).sum::<f64>();
        let mut square: Vec<f64> = Vec::new();
        for a in &idle {
            square.extend(idle.iter().map(|b| inner(a, b)));
        }
        let mut along: Vec<f64> = idle.iter().map(|a| -inner(a, &solution)).collect();
        let (lengths, _) = solve_full_pivoting(&mut square, &mut along, None);
        for (direction, length) in idle.iter().zip(lengths) {
            for (x, d) in solution.iter_mut().zip(direction) {
                *x += length * d;
            }
        }
    }
    (solution, rank)
}
