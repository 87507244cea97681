//! Poses and twists of all bodies at a time.

use super::{Dimension, Pose, Twist, World};

/// Where all bodies are: what contact sources read. Filled from the coordinates and velocities of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldState {
    /// Time.
    pub t: f64,
    /// Poses, in the order of the bodies.
    pub poses: Vec<Pose>,
    /// Twists, in the order of the bodies.
    pub twists: Vec<Twist>,
}

impl WorldState {
    /// Reads coordinates and velocities of a world.
    pub fn read(&mut self, world: &World, t: f64, q: &[f64], v: &[f64]) {
        self.t = t;
        self.poses.clear();
        self.twists.clear();
        match world.dimension {
            Dimension::Space => {
                self.poses.extend(q.chunks_exact(7).map(|q| Pose {
                    position: [q[0], q[1], q[2]],
                    rotation: [q[3], q[4], q[5], q[6]],
                }));
                self.twists.extend(v.chunks_exact(6).map(|v| Twist {
                    velocity: [v[0], v[1], v[2]],
                    spin: [v[3], v[4], v[5]],
                }));
            }
            Dimension::Plane => {
                self.poses
                    .extend(q.chunks_exact(3).map(|q| Pose::planar(q[0], q[1], q[2])));
                self.twists.extend(v.chunks_exact(3).map(|v| Twist {
                    velocity: [v[0], v[1], 0.0],
                    spin: [0.0, 0.0, v[2]],
                }));
            }
        }
    }
}
