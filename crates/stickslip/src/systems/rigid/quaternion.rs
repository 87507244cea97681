//! Unit quaternions as orientations.

use crate::algebra::cross;

/// Unit quaternion (w, x, y, z): `world = R(quaternion) body`.
///
/// ```
/// use std::f64::consts::FRAC_PI_2;
/// use stickslip::systems::rigid::UnitQuaternion;
///
/// // A quarter turn about z takes x to y.
/// let turn = UnitQuaternion::from_rotation_vector([0.0, 0.0, FRAC_PI_2]);
/// let [x, y, z] = turn.world_from_body([1.0, 0.0, 0.0]);
/// assert!(x.abs() < 1e-15 && (y - 1.0).abs() < 1e-15 && z == 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitQuaternion(pub [f64; 4]);

impl UnitQuaternion {
    /// No rotation.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0]);

    /// Rotation by the vector `angle * axis`.
    pub fn from_rotation_vector(rotation: [f64; 3]) -> Self {
        let angle = rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
        // sin(a/2)/a by its series where the quotient would lose digits.
        let factor = if angle < 1e-4 {
            0.5 - angle * angle / 48.0
        } else {
            (0.5 * angle).sin() / angle
        };
        Self([
            (0.5 * angle).cos(),
            factor * rotation[0],
            factor * rotation[1],
            factor * rotation[2],
        ])
        .normalized()
    }

    /// First `other`, then `self`.
    pub fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }

    /// Divides by the norm, which only rounding has moved from one.
    pub fn normalized(self) -> Self {
        let norm = self.0.iter().map(|x| x * x).sum::<f64>().sqrt();
        Self(self.0.map(|x| x / norm))
    }

    /// Body vector in the world.
    pub fn world_from_body(self, r: [f64; 3]) -> [f64; 3] {
        let [w, x, y, z] = self.0;
        let u = [x, y, z];
        let t = cross(u, r).map(|c| 2.0 * c);
        let c = cross(u, t);
        [
            r[0] + w * t[0] + c[0],
            r[1] + w * t[1] + c[1],
            r[2] + w * t[2] + c[2],
        ]
    }

    /// World vector in the body.
    pub fn body_from_world(self, r: [f64; 3]) -> [f64; 3] {
        let [w, x, y, z] = self.0;
        Self([w, -x, -y, -z]).world_from_body(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turn_about_z_maps_x_to_y() {
        let turn = UnitQuaternion::from_rotation_vector([0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        let image = turn.world_from_body([1.0, 0.0, 0.0]);
        assert!((image[0]).abs() < 1e-15 && (image[1] - 1.0).abs() < 1e-15);
        let back = turn.body_from_world(image);
        assert!((back[0] - 1.0).abs() < 1e-15 && back[1].abs() < 1e-15);
    }

    #[test]
    fn small_rotations_compose() {
        let half = UnitQuaternion::from_rotation_vector([3e-5, -2e-5, 1e-5]);
        let whole = UnitQuaternion::from_rotation_vector([6e-5, -4e-5, 2e-5]);
        for (a, b) in half.times(half).0.iter().zip(whole.0) {
            assert!((a - b).abs() < 1e-15);
        }
    }
}
