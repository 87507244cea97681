//! Which contacts act on each other in a step, and how fast things move at each.

use std::cell::OnceCell;

use crate::contact::ContactKey;
use crate::records::{ActingTogether, ContactMode, StepRecord};
use crate::stepping::State;
use crate::systems::MechanicalSystem;
use crate::systems::world::World;

use super::super::joined::{Parts, joined, rows, touched};

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

    /// Velocities that the step moves together, each with the number of one of them.
    fn joined_velocities(&self) -> Vec<usize> {
        let record = self.record;
        let acting = (record.contacts.iter())
            .filter(|c| c.mode != ContactMode::Open)
            .map(|c| c.key)
            .chain(record.located.iter().flatten().map(|event| event.contact))
            .filter(|key| !key.is_found());
        let acting: Vec<ContactKey> = acting.collect();
        joined(self.system, self.ends().map(|(t, q, _)| (t, q)), &acting)
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
            .filter_map(|(t, q, _)| touched(&rows(self.system, contact, (t, q)), 0).next());
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
                let rows = rows(self.system, contact, (t, q));
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
