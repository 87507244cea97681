//! Where a body is and how it moves.

use crate::systems::rigid::UnitQuaternion;

/// Place and orientation of a body: world from body.
///
/// ```
/// use stickslip::systems::world::Pose;
///
/// let corner = Pose::planar(2.0, 1.0, std::f64::consts::FRAC_PI_2).point([1.0, 0.0, 0.0]);
/// assert!((corner[0] - 2.0).abs() < 1e-15 && (corner[1] - 2.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the centre of mass.
    pub position: [f64; 3],
    /// Unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// At the origin, not turned.
    pub const IDENTITY: Self = Self {
        position: [0.0; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
    };

    /// At a position, not turned.
    pub const fn at(position: [f64; 3]) -> Self {
        Self {
            position,
            rotation: [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// At a position, turned by the rotation vector.
    pub fn turned(position: [f64; 3], rotation: [f64; 3]) -> Self {
        Self {
            position,
            rotation: UnitQuaternion::from_rotation_vector(rotation).0,
        }
    }

    /// In the plane: place and angle.
    pub fn planar(x: f64, y: f64, angle: f64) -> Self {
        let (sin, cos) = (0.5 * angle).sin_cos();
        Self {
            position: [x, y, 0.0],
            rotation: [cos, 0.0, 0.0, sin],
        }
    }

    /// The orientation.
    #[inline]
    pub fn orientation(&self) -> UnitQuaternion {
        UnitQuaternion(self.rotation)
    }

    /// A point of the body in the world.
    #[inline]
    pub fn point(&self, body: [f64; 3]) -> [f64; 3] {
        let turned = self.direction(body);
        std::array::from_fn(|i| self.position[i] + turned[i])
    }

    /// A direction of the body in the world.
    #[inline]
    pub fn direction(&self, body: [f64; 3]) -> [f64; 3] {
        self.orientation().world_from_body(body)
    }

    /// A direction of the world in the body.
    #[inline]
    pub fn body_direction(&self, world: [f64; 3]) -> [f64; 3] {
        self.orientation().body_from_world(world)
    }

    /// A point of the world in the body.
    #[inline]
    pub fn body_point(&self, world: [f64; 3]) -> [f64; 3] {
        self.body_direction(std::array::from_fn(|i| world[i] - self.position[i]))
    }

    /// First `inner`, then this one: world from body and body from part give world from part.
    pub fn times(&self, inner: &Self) -> Self {
        Self {
            position: self.point(inner.position),
            rotation: self.orientation().times(inner.orientation()).normalized().0,
        }
    }

    /// Columns of the rotation matrix, world from body.
    pub fn rotation_matrix(&self) -> [[f64; 3]; 3] {
        let [w, x, y, z] = self.rotation;
        [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + w * z),
                2.0 * (x * z - w * y),
            ],
            [
                2.0 * (x * y - w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + w * x),
            ],
            [
                2.0 * (x * z + w * y),
                2.0 * (y * z - w * x),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ]
    }
}

/// Velocity of the centre of mass in world axes and spin in body axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the centre of mass, world axes.
    pub velocity: [f64; 3],
    /// Angular velocity, body axes.
    pub spin: [f64; 3],
}

impl Twist {
    /// At rest.
    pub const REST: Self = Self {
        velocity: [0.0; 3],
        spin: [0.0; 3],
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_and_quaternion_turn_alike_and_back() {
        let pose = Pose::turned([1.0, -2.0, 0.5], [0.4, -1.1, 0.7]);
        let columns = pose.rotation_matrix();
        let body = [0.3, 0.2, -0.9];
        let turned = pose.direction(body);
        for (i, turned) in turned.iter().enumerate() {
            let product: f64 = (0..3).map(|k| columns[k][i] * body[k]).sum();
            assert!((product - turned).abs() < 1e-15);
        }
        let back = pose.body_point(pose.point(body));
        assert!(back.iter().zip(body).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn a_planar_pose_turns_about_z() {
        let pose = Pose::planar(1.0, 2.0, std::f64::consts::FRAC_PI_2);
        let point = pose.point([1.0, 0.0, 0.0]);
        assert!((point[0] - 1.0).abs() < 1e-15 && (point[1] - 3.0).abs() < 1e-15);
    }
}
