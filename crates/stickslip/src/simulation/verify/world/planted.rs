//! Bodies at an instant.

use crate::systems::rigid::UnitQuaternion;
use crate::systems::world::{Dimension, Pose, Twist, World};

use super::flight::free_flight;
use super::node::WorldNode;
use super::vector::{Vector, along, sub};

/// A body at a time, with its angle in the plane.
#[derive(Clone, Copy)]
pub(super) struct Planted {
    pub pose: Pose,
    pub twist: Twist,
    angle: Option<f64>,
}

impl Planted {
    pub fn new(dimension: Dimension, pose: Pose, twist: Twist) -> Self {
        let [w, _, _, z] = pose.rotation;
        let angle = (dimension == Dimension::Plane).then(|| 2.0 * z.atan2(w));
        Self { pose, twist, angle }
    }

    pub fn free_flight(&self, dimension: Dimension, inertia: Vector, h: f64) -> Self {
        match self.angle {
            None => {
                let (pose, twist) = free_flight(&self.pose, &self.twist, inertia, h);
                Self::new(dimension, pose, twist)
            }
            Some(angle) => {
                let [x, y, _] = along(self.pose.position, h, self.twist.velocity);
                let angle = angle + h * self.twist.spin[2];
                Self {
                    pose: Pose::planar(x, y, angle),
                    twist: self.twist,
                    angle: Some(angle),
                }
            }
        }
    }

    /// Translation and small rotation in world axes that lead from here to there.
    pub fn displacement(&self, there: &Self) -> (Vector, Vector) {
        let shift = sub(there.pose.position, self.pose.position);
        if let (Some(from), Some(to)) = (self.angle, there.angle) {
            let full = std::f64::consts::TAU;
            let turn = to - from;
            return (shift, [0.0, 0.0, turn - full * (turn / full).round()]);
        }
        let [w, x, y, z] = self.pose.rotation;
        let back = UnitQuaternion([w, -x, -y, -z]);
        let turn = there.pose.orientation().times(back).0;
        let sign = 2.0f64.copysign(turn[0]);
        (shift, [turn[1], turn[2], turn[3]].map(|x| sign * x))
    }
}

/// All bodies at a node.
pub(super) fn states(world: &World, node: &WorldNode) -> Vec<Planted> {
    let dimension = world.dimension;
    let bodies = node
        .q
        .chunks_exact(dimension.coordinates())
        .zip(node.v.chunks_exact(dimension.freedoms()));
    bodies
        .map(|(q, v)| match dimension {
            Dimension::Plane => Planted {
                pose: Pose::planar(q[0], q[1], q[2]),
                twist: Twist {
                    velocity: [v[0], v[1], 0.0],
                    spin: [0.0, 0.0, v[2]],
                },
                angle: Some(q[2]),
            },
            Dimension::Space => Planted {
                pose: Pose {
                    position: [q[0], q[1], q[2]],
                    rotation: [q[3], q[4], q[5], q[6]],
                },
                twist: Twist {
                    velocity: [v[0], v[1], v[2]],
                    spin: [v[3], v[4], v[5]],
                },
                angle: None,
            },
        })
        .collect()
}
