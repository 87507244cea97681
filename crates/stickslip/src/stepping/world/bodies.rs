//! The bodies of a world during a step, as arrays.

use crate::systems::world::{BodyMotion, Dimension, Pose, Twist, World, WorldState};

use super::spin::{turn, turn_freely};

/// What a body does to the arrays of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BodyMass {
    /// Whether forces and contacts move it.
    pub free: bool,
    /// Whether it moves as it is told.
    pub driven: bool,
    pub mass: f64,
    pub inertia: [f64; 3],
    /// √m and √J: whitened velocity over velocity.
    pub root_mass: f64,
    pub root_inertia: [f64; 3],
    /// 1/√m and 1/√J; zero for a body that is not free.
    pub inverse_root_mass: f64,
    pub inverse_root_inertia: [f64; 3],
}

impl BodyMass {
    /// A velocity with a whitened change.
    pub fn changed(&self, twist: &Twist, change: &[f64]) -> Twist {
        let mut twist = *twist;
        match change {
            [x, y, turn] => {
                twist.velocity[0] += x * self.inverse_root_mass;
                twist.velocity[1] += y * self.inverse_root_mass;
                twist.spin[2] += turn * self.inverse_root_inertia[2];
            }
            change => {
                for k in 0..3 {
                    twist.velocity[k] += change[k] * self.inverse_root_mass;
                    twist.spin[k] += change[3 + k] * self.inverse_root_inertia[k];
                }
            }
        }
        twist
    }
}

/// State of all bodies between the stages of a step.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    pub masses: Vec<BodyMass>,
    driven: Vec<u32>,
    /// Where the bodies are and how they move.
    pub state: WorldState,
    /// Angles in the plane, where full turns count.
    angles: Vec<f64>,
    /// Columns of the rotation matrices.
    pub rotations: Vec<[[f64; 3]; 3]>,
}

impl Bodies {
    /// Reads masses once and the state of each step.
    pub fn begin(&mut self, world: &World, t: f64, q: &[f64], v: &[f64]) {
        if self.masses.len() != world.bodies.len() {
            self.read_masses(world);
        }
        self.state.read(world, t, q, v);
        if world.dimension == Dimension::Plane {
            self.angles.clear();
            self.angles.extend(q.chunks_exact(3).map(|q| q[2]));
        }
    }

    fn read_masses(&mut self, world: &World) {
        self.masses.clear();
        self.driven.clear();
        for (i, body) in world.bodies.iter().enumerate() {
            let free = body.is_free();
            let root = |x: f64| if free { x.sqrt() } else { 0.0 };
            let inverse = |x: f64| if free { 1.0 / x.sqrt() } else { 0.0 };
            self.masses.push(BodyMass {
                free,
                driven: matches!(body.motion, BodyMotion::Driven(_)),
                mass: if free { body.mass } else { 0.0 },
                inertia: body.inertia,
                root_mass: root(body.mass),
                root_inertia: body.inertia.map(root),
                inverse_root_mass: inverse(body.mass),
                inverse_root_inertia: body.inertia.map(inverse),
            });
            if matches!(body.motion, BodyMotion::Driven(_)) {
                self.driven.push(i as u32);
            }
        }
    }

    /// Free motion over the time `h`; false where a body leaves the numbers.
    pub fn drift(&mut self, h: f64) -> bool {
        if h == 0.0 {
            return true;
        }
        let mut finite = true;
        let planar = !self.angles.is_empty();
        let bodies = self.state.poses.iter_mut().zip(&mut self.state.twists);
        for (i, ((pose, twist), body)) in bodies.zip(&self.masses).enumerate() {
            if !body.free {
                continue;
            }
            for (x, v) in pose.position.iter_mut().zip(twist.velocity) {
                *x += h * v;
            }
            if planar {
                self.angles[i] += h * twist.spin[2];
                *pose = Pose::planar(pose.position[0], pose.position[1], self.angles[i]);
            } else if twist.spin != [0.0; 3] {
                twist.spin = turn_freely(&mut pose.rotation, twist.spin, body.inertia, h);
            }
            let sum: f64 = pose.position.iter().chain(&twist.spin).sum();
            finite &= sum.is_finite();
        }
        finite
    }

    /// Displaces a body by a translation in world axes and a rotation vector in body axes.
    pub fn displace(&mut self, i: usize, translation: [f64; 3], rotation: [f64; 3]) {
        let pose = &mut self.state.poses[i];
        for (x, d) in pose.position.iter_mut().zip(translation) {
            *x += d;
        }
        if self.angles.is_empty() {
            turn(&mut pose.rotation, rotation);
        } else {
            self.angles[i] += rotation[2];
            *pose = Pose::planar(pose.position[0], pose.position[1], self.angles[i]);
        }
    }

    /// Puts driven bodies where they are at `t_pose`, with their velocity at `t_velocity`.
    pub fn place_driven(&mut self, world: &World, t_pose: f64, t_velocity: f64) {
        for &i in &self.driven {
            let i = i as usize;
            if let BodyMotion::Driven(motion) = &world.bodies[i].motion {
                let pose = motion.pose(t_pose);
                if let Some(angle) = self.angles.get_mut(i) {
                    // The angle nearest to the last one: full turns are kept.
                    let [w, _, _, z] = pose.rotation;
                    let turn = 2.0 * z.atan2(w) - *angle;
                    let full = std::f64::consts::TAU;
                    *angle += turn - full * (turn / full).round();
                }
                self.state.poses[i] = pose;
                self.state.twists[i] = motion.velocity(t_velocity);
            }
        }
    }

    /// Computes the rotation matrices of the present poses.
    pub fn refresh_rotations(&mut self) {
        self.rotations.clear();
        self.rotations
            .extend(self.state.poses.iter().map(Pose::rotation_matrix));
    }

    /// Angular velocity of a body in world axes.
    #[inline]
    pub fn spin_in_world(&self, i: usize) -> [f64; 3] {
        let [x, y, z] = &self.rotations[i];
        let [a, b, c] = self.state.twists[i].spin;
        std::array::from_fn(|k| a * x[k] + b * y[k] + c * z[k])
    }

    /// World vector in the axes of a body.
    #[inline]
    pub fn in_body(&self, i: usize, world: [f64; 3]) -> [f64; 3] {
        self.rotations[i]
            .map(|column| column[0] * world[0] + column[1] * world[1] + column[2] * world[2])
    }

    /// Velocity of the point of a body that is at `place`.
    #[inline]
    pub fn point_velocity(&self, i: usize, place: [f64; 3]) -> [f64; 3] {
        let x = self.state.poses[i].position;
        let arm: [f64; 3] = std::array::from_fn(|k| place[k] - x[k]);
        let [p, q, r] = self.spin_in_world(i);
        let v = self.state.twists[i].velocity;
        [
            v[0] + q * arm[2] - r * arm[1],
            v[1] + r * arm[0] - p * arm[2],
            v[2] + p * arm[1] - q * arm[0],
        ]
    }

    /// Writes the whitened velocities: F numbers per body, zero for bodies that are not free.
    pub fn whiten(&self, dimension: Dimension, out: &mut Vec<f64>) {
        out.clear();
        for (twist, body) in self.state.twists.iter().zip(&self.masses) {
            let [x, y, z] = twist.velocity.map(|v| v * body.root_mass);
            match dimension {
                Dimension::Plane => out.extend([x, y, twist.spin[2] * body.root_inertia[2]]),
                Dimension::Space => {
                    out.extend([x, y, z]);
                    out.extend((0..3).map(|k| twist.spin[k] * body.root_inertia[k]));
                }
            }
        }
    }

    /// Writes coordinates and velocities as a [`World`] stores them.
    pub fn write(&self, dimension: Dimension, q: &mut Vec<f64>, v: &mut Vec<f64>) {
        q.clear();
        v.clear();
        for (i, (pose, twist)) in self.state.poses.iter().zip(&self.state.twists).enumerate() {
            match dimension {
                Dimension::Plane => q.extend([pose.position[0], pose.position[1], self.angles[i]]),
                Dimension::Space => {
                    q.extend(pose.position);
                    q.extend(pose.rotation);
                }
            }
            write_twist(dimension, twist, v);
        }
    }
}

/// Appends the velocities of a body as a [`World`] stores them.
pub(super) fn write_twist(dimension: Dimension, twist: &Twist, v: &mut Vec<f64>) {
    match dimension {
        Dimension::Plane => v.extend([twist.velocity[0], twist.velocity[1], twist.spin[2]]),
        Dimension::Space => {
            v.extend(twist.velocity);
            v.extend(twist.spin);
        }
    }
}
