//! Which contacts act on each other in a step, and how fast things move at each.

use std::cell::OnceCell;

use crate::algebra::{Covectors, SymmetricMatrix};
use crate::contact::ContactKey;
use crate::records::{ActingTogether, ContactMode, StepRecord};
use crate::stepping::State;
use crate::systems::MechanicalSystem;
use crate::systems::world::World;

/// The parts of a system that a step moves together: velocities joined by mass, joints, stiffness and the contacts that act; in worlds
/// bodies joined by the contacts that act. Nothing is computed before it is asked for.
pub(super) struct MovingParts<'a> {
    system: &'a dyn MechanicalSystem,
    before: &'a State,
    record: &'a StepRecord,
    joined: OnceCell<Vec<usize>>,
}

impl<'a> MovingParts<'a> {
    /// Those of a step from `before` to the end of `record`.
    pub fn new(
        system: &'a dyn MechanicalSystem,
        before: &'a State,
        record: &'a StepRecord,
    ) -> Self {
        Self {
            system,
            before,
            record,
            joined: OnceCell::new(),
        }
    }

    /// Time, place and velocity before the step, if there was one, and after it.
    fn ends(&self) -> impl Iterator<Item = (f64, &[f64], &[f64])> {
        let (before, after) = (self.before, self.record);
        let known = before.q.len() == after.q.len();
        let before = (before.t, &before.q[..], &before.v[..]);
        let after = (after.t, &after.q[..], &after.velocity[..]);
        known.then_some(before).into_iter().chain([after])
    }

    /// The gradient of the gap of a contact at an end of the step, and its rows after it.
    fn rows(&self, contact: ContactKey, t: f64, q: &[f64]) -> Covectors {
        let n = self.system.dof();
        let constraint = &self.system.constraints()[contact.constraint()];
        let (mut gradient, mut rows) = (Covectors::default(), Covectors::default());
        gradient.clear_sparse(n);
        if !constraint.gap().sparse_gradient(t, q, &mut gradient) {
            let mut dense = vec![0.0; n];
            constraint.gap().gradient(t, q, &mut dense);
            gradient.push_nonzeros(&dense);
        }
        rows.clear_sparse(n);
        rows.push_row_of(&gradient, 0);
        if let Some(point) = constraint.points().get(contact.point()) {
            point.frame.sparse_rows(t, q, (&gradient, 0), &mut rows);
        }
        rows
    }

    /// Velocities that the step moves together, each with the number of one of them.
    fn joined_velocities(&self) -> Vec<usize> {
        let system = self.system;
        let mut parts = Parts::new(system.dof());
        if let Some(sparsity) = system.sparsity() {
            let pattern = &sparsity.pattern;
            for i in 0..pattern.order() {
                (pattern.row(i).iter()).for_each(|&j| parts.join(i, j as usize));
            }
        }
        if let Some(linear) = system.linear_part() {
            let matrices = [&linear.stiffness, &linear.damping].into_iter().flatten();
            matrices.for_each(|matrix| parts.join_matrix(matrix));
        }
        let record = self.record;
        let acting = (record.contacts.iter())
            .filter(|c| c.mode != ContactMode::Open)
            .map(|c| c.key)
            .chain(record.located.iter().flatten().map(|event| event.contact))
            .filter(|key| !key.is_found());
        let acting: Vec<ContactKey> = acting.collect();
        let mut mass = system.new_matrix();
        for (t, q, _) in self.ends() {
            system.mass(q, &mut mass);
            parts.join_matrix(&mass);
            for joint in system.joints() {
                let mut row = vec![0.0; system.dof()];
                joint.function().gradient(t, q, &mut row);
                parts.join_all((0..row.len()).filter(|&i| row[i] != 0.0));
            }
            for &contact in &acting {
                let rows = self.rows(contact, t, q);
                parts.join_all((0..rows.len()).flat_map(|i| touched(&rows, i)));
            }
        }
        parts.numbers()
    }

    /// Bodies that touch, each with the number of one of them.
    fn joined_bodies(&self, world: &World) -> Vec<usize> {
        let mut parts = Parts::new(world.bodies.len());
        for contact in &self.record.present {
            let [a, b] = contact.key.owners.map(|body| body as usize);
            let free = world.bodies[a].is_free() && world.bodies[b].is_free();
            if contact.mode != ContactMode::Open && free {
                parts.join(a, b);
            }
        }
        parts.numbers()
    }
}

impl ActingTogether for MovingParts<'_> {
    fn group(&self, contact: ContactKey) -> usize {
        let joined = self.joined.get_or_init(|| match self.system.as_world() {
            Some(world) => self.joined_bodies(world),
            None => self.joined_velocities(),
        });
        if let Some(world) = self.system.as_world() {
            let [a, b] = contact.owners.map(|body| body as usize);
            return joined[if world.bodies[a].is_free() { a } else { b }];
        }
        let mut moved = self
            .ends()
            .filter_map(|(t, q, _)| touched(&self.rows(contact, t, q), 0).next());
        // What moves nothing is a group of its own.
        let alone = joined.len() + contact.constraint();
        moved.next().map_or(alone, |i| joined[i])
    }

    fn speed(&self, contact: ContactKey) -> f64 {
        let speeds = self.ends().map(|(t, q, v)| match self.system.as_world() {
            Some(world) => (contact.owners.iter())
                .map(|&body| body_speed(world, body as usize, v))
                .sum::<f64>(),
            None => {
                let rows = self.rows(contact, t, q);
                // The frame tells the normal once more.
                let first = usize::from(rows.len() > 1);
                (first..rows.len()).map(|i| rows.absolute_dot(i, v)).sum()
            }
        });
        speeds.fold(0.0, f64::max)
    }
}

/// Speed of the centre of a body and of its farthest point about it.
fn body_speed(world: &World, body: usize, v: &[f64]) -> f64 {
    let (freedoms, axes) = (world.dimension.freedoms(), world.dimension.axes());
    let own = &v[body * freedoms..(body + 1) * freedoms];
    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let spin = size(&own[axes..]);
    let farthest = if spin > 0.0 {
        spin * world.bodies[body].radius
    } else {
        0.0
    };
    let farthest = if farthest.is_finite() { farthest } else { 0.0 };
    size(&own[..axes]) + farthest
}

/// Velocities that a row reads.
fn touched(rows: &Covectors, i: usize) -> impl Iterator<Item = usize> {
    let (index, value) = rows.sparse(i);
    let parts = index.iter().zip(value).filter(|(_, x)| **x != 0.0);
    parts.map(|(&j, _)| j as usize)
}

/// Things that are joined to each other, directly or through others.
struct Parts {
    parent: Vec<usize>,
}

impl Parts {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Joins all of them to each other.
    fn join_all(&mut self, mut touched: impl Iterator<Item = usize>) {
        if let Some(first) = touched.next() {
            touched.for_each(|i| self.join(first, i));
        }
    }

    /// Joins what the entries of a matrix couple.
    fn join_matrix(&mut self, matrix: &SymmetricMatrix) {
        if let Some(sparse) = matrix.sparse() {
            for i in 0..matrix.order() {
                let row = sparse.pattern().row(i);
                row.iter().for_each(|&j| self.join(i, j as usize));
            }
            return;
        }
        let n = matrix.order();
        for e in (0..n * n).filter(|&e| matrix.values()[e] != 0.0) {
            self.join(e / n, e % n);
        }
    }

    fn numbers(mut self) -> Vec<usize> {
        (0..self.parent.len()).map(|i| self.root(i)).collect()
    }
}
