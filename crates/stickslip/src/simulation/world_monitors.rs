//! Sums over bodies and contacts that a world asks to record.

use crate::records::{ContactMode, Momentum, StepRecord};
use crate::systems::world::{MonitorQuantity, Pose, Twist, World, WorldBody, WorldState};

/// Membership of bodies in the groups of the monitors, and buffers.
#[derive(Debug, Default)]
pub(super) struct WorldMonitors {
    /// Per monitor and group, whether each body belongs to it.
    members: Vec<[Vec<bool>; 2]>,
    state: WorldState,
}

impl WorldMonitors {
    pub fn new(world: &World) -> Self {
        let members = |group: &[u32]| {
            let mut member = vec![false; world.bodies.len()];
            for &body in group {
                member[body as usize] = true;
            }
            member
        };
        let members = world
            .monitors
            .iter()
            .map(|monitor| match &monitor.quantity {
                MonitorQuantity::Force { between } | MonitorQuantity::Contacts { between } => {
                    [members(&between[0]), members(&between[1])]
                }
                MonitorQuantity::Momentum { .. } | MonitorQuantity::Energy { .. } => {
                    Default::default()
                }
            });
        Self {
            members: members.collect(),
            state: WorldState::default(),
        }
    }

    /// Names of the columns.
    pub fn columns(world: &World) -> Vec<String> {
        let monitors = world.monitors.iter();
        monitors.flat_map(|monitor| monitor.columns()).collect()
    }

    /// Writes the sums of a step into its accounts.
    pub fn fill(&mut self, world: &World, record: &mut StepRecord) {
        if world.monitors.is_empty() {
            return;
        }
        self.state
            .read(world, record.t, &record.q, &record.velocity);
        let mut accounts = std::mem::take(&mut record.accounts);
        accounts.clear();
        for (monitor, members) in world.monitors.iter().zip(&self.members) {
            match &monitor.quantity {
                MonitorQuantity::Force { .. } => accounts.extend(force(record, members)),
                MonitorQuantity::Contacts { .. } => {
                    let touching = between(record, members)
                        .filter(|(contact, _)| contact.mode != ContactMode::Open);
                    accounts.push(touching.count() as f64);
                }
                MonitorQuantity::Momentum { group } => {
                    let sum = self.momentum(world, group);
                    accounts.extend(sum.linear);
                    accounts.extend(sum.angular);
                }
                MonitorQuantity::Energy { group } => accounts.extend(self.energy(world, group)),
            }
        }
        record.accounts = accounts;
    }

    /// The free bodies of a group with where they are and how they move.
    fn free_bodies<'a>(
        &'a self,
        world: &'a World,
        group: &'a [u32],
    ) -> impl Iterator<Item = (&'a WorldBody, &'a Pose, &'a Twist)> {
        let moving = group.iter().map(|&i| {
            let i = i as usize;
            (
                &world.bodies[i],
                &self.state.poses[i],
                &self.state.twists[i],
            )
        });
        moving.filter(|(body, ..)| body.is_free())
    }

    fn momentum(&self, world: &World, group: &[u32]) -> Momentum {
        let mut sum = Momentum::default();
        for (body, pose, twist) in self.free_bodies(world, group) {
            sum.add_impulse(pose.position, twist.velocity.map(|v| body.mass * v));
            let own = std::array::from_fn(|k| body.inertia[k] * twist.spin[k]);
            sum.add_moment(pose.direction(own));
        }
        sum
    }

    fn energy(&self, world: &World, group: &[u32]) -> [f64; 2] {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (body, pose, twist) in self.free_bodies(world, group) {
            for k in 0..3 {
                kinetic += 0.5 * body.mass * twist.velocity[k] * twist.velocity[k];
                kinetic += 0.5 * body.inertia[k] * twist.spin[k] * twist.spin[k];
                potential -= body.mass * world.gravity[k] * pose.position[k];
            }
        }
        [kinetic, potential]
    }
}

/// Contacts between the two groups, with the sign of their impulse on the first group.
fn between<'a>(
    record: &'a StepRecord,
    [first, second]: &'a [Vec<bool>; 2],
) -> impl Iterator<Item = (&'a crate::records::PresentContact, f64)> {
    record.present.iter().filter_map(move |contact| {
        let [a, b] = contact.key.owners.map(|owner| owner as usize);
        if first[a] && second[b] {
            Some((contact, 1.0))
        } else if first[b] && second[a] {
            Some((contact, -1.0))
        } else {
            None
        }
    })
}

fn force(record: &StepRecord, members: &[Vec<bool>; 2]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (contact, sign) in between(record, members) {
        for (s, p) in sum.iter_mut().zip(contact.impulse) {
            *s += sign * p;
        }
    }
    sum.map(|p| if record.h > 0.0 { p / record.h } else { 0.0 })
}
