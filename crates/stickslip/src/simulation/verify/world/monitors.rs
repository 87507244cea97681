//! The sums that a world asks to record, from its recorded bodies and contacts.

use crate::records::ContactMode;
use crate::simulation::verify::Line;
use crate::systems::world::MonitorQuantity;

use super::judge::{Judge, ROUNDING_OF_ENERGY};
use super::node::{NodeContact, WorldNode};
use super::planted::{Planted, states};
use super::vector::{Vector, add, cross, dot};

/// A sum with the size of what was summed.
type Sum = (f64, f64);

impl Judge<'_> {
    /// Compares the recorded sums with those of bodies and contacts.
    pub fn monitors(&mut self, node: &WorldNode) {
        let world = self.world;
        if world.monitors.is_empty() || node.monitors.is_empty() {
            return;
        }
        let bodies = states(world, node);
        let sums = world.monitors.iter().flat_map(|monitor| {
            let sums = match &monitor.quantity {
                MonitorQuantity::Force { between } => force(node, between),
                MonitorQuantity::Contacts { between } => {
                    let open = f64::from(ContactMode::Open.code());
                    let touching = signed(node, between).filter(|(c, _)| f64::from(c.mode) != open);
                    vec![(touching.count() as f64, 0.0)]
                }
                MonitorQuantity::Momentum { group } => self.momentum(group, &bodies),
                MonitorQuantity::Energy { group } => self.group_energy(group, &bodies),
            };
            sums.into_iter().map(|sum| (monitor.name.as_str(), sum))
        });
        let sums: Vec<(&str, Sum)> = sums.collect();
        if sums.len() != node.monitors.len() {
            self.note(Line::Monitor, node.t, f64::INFINITY, None);
            return;
        }
        for ((name, (sum, size)), recorded) in sums.into_iter().zip(&node.monitors) {
            let off = (sum - recorded).abs();
            if !(off <= ROUNDING_OF_ENERGY * size) {
                let scale = size.max(sum.abs()).max(f64::MIN_POSITIVE);
                self.note_named(Line::Monitor, node.t, off / scale, name);
            }
        }
    }

    /// Linear momentum of the free bodies of a group, and angular momentum about the origin.
    fn momentum(&self, group: &[u32], bodies: &[Planted]) -> Vec<Sum> {
        let mut sums = vec![(0.0, 0.0); 6];
        for &i in group {
            let (body, state) = (&self.world.bodies[i as usize], &bodies[i as usize]);
            if !body.is_free() {
                continue;
            }
            let linear = state.twist.velocity.map(|v| body.mass * v);
            let own: Vector = std::array::from_fn(|k| body.inertia[k] * state.twist.spin[k]);
            let own = state.pose.direction(own);
            let angular = add(cross(state.pose.position, linear), own);
            let place = dot(state.pose.position, state.pose.position).sqrt();
            let (speed, spin) = (dot(linear, linear).sqrt(), dot(own, own).sqrt());
            for k in 0..3 {
                enter(&mut sums[k], linear[k], speed);
                enter(&mut sums[3 + k], angular[k], place * speed + spin);
            }
        }
        sums
    }

    /// Kinetic and potential energy of the free bodies of a group.
    fn group_energy(&self, group: &[u32], bodies: &[Planted]) -> Vec<Sum> {
        let mut sums = vec![(0.0, 0.0); 2];
        for &i in group {
            let (body, state) = (&self.world.bodies[i as usize], &bodies[i as usize]);
            if !body.is_free() {
                continue;
            }
            let (v, w) = (state.twist.velocity, state.twist.spin);
            let turning: f64 = (0..3).map(|k| body.inertia[k] * w[k] * w[k]).sum();
            let kinetic = 0.5 * (body.mass * dot(v, v) + turning);
            let parts = (0..3).map(|k| -body.mass * self.world.gravity[k] * state.pose.position[k]);
            let sizes: f64 = parts.clone().map(f64::abs).sum();
            enter(&mut sums[0], kinetic, kinetic);
            enter(&mut sums[1], parts.sum(), sizes);
        }
        sums
    }
}

fn enter(sum: &mut Sum, value: f64, size: f64) {
    sum.0 += value;
    sum.1 += size;
}

/// Contacts between two groups, with the sign of their impulse on the first.
fn signed<'a>(
    node: &'a WorldNode,
    between: &[Vec<u32>; 2],
) -> impl Iterator<Item = (&'a NodeContact, f64)> {
    let [first, second] = between.each_ref().map(|group| members(group));
    let within = |members: &[bool], body: usize| members.get(body) == Some(&true);
    node.contacts.iter().filter_map(move |contact| {
        let [a, b] = contact.bodies;
        if within(&first, a) && within(&second, b) {
            Some((contact, 1.0))
        } else if within(&first, b) && within(&second, a) {
            Some((contact, -1.0))
        } else {
            None
        }
    })
}

/// Whether each body up to the last one of a group belongs to it.
fn members(group: &[u32]) -> Vec<bool> {
    let count = group.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![false; count];
    group.iter().for_each(|&i| members[i as usize] = true);
    members
}

/// Force on the first group: impulses of the step over its length.
fn force(node: &WorldNode, between: &[Vec<u32>; 2]) -> Vec<Sum> {
    let mut sums = vec![(0.0, 0.0); 3];
    if node.h > 0.0 {
        for (contact, sign) in signed(node, between) {
            let size = dot(contact.impulse, contact.impulse).sqrt() / node.h;
            for (sum, p) in sums.iter_mut().zip(contact.impulse) {
                enter(sum, sign * p / node.h, size);
            }
        }
    }
    sums
}
