//! Forms at their places.

use super::form::Form;
use super::geometry::PRECISION;
use super::vector::{Vector, dot};
use crate::systems::world::Pose;

/// A form at its place in the world.
pub(super) struct Placed<'a> {
    pub form: &'a Form,
    pub pose: Pose,
}

impl Placed<'_> {
    /// Largest n·x over the form.
    pub fn height(&self, n: Vector) -> Option<f64> {
        match self.form {
            Form::HalfSpace { normal } => {
                let outward = self.pose.direction(*normal);
                let along_normal = (0..3).all(|k| (outward[k] - n[k]).abs() < PRECISION);
                Some(if along_normal {
                    dot(outward, self.pose.position)
                } else {
                    f64::INFINITY
                })
            }
            form => form
                .support(self.pose.body_direction(n))
                .map(|p| dot(n, self.pose.point(p))),
        }
    }

    /// A point inside, of a convex body.
    pub fn middle(&self) -> Vector {
        self.pose.point(self.form.middle())
    }

    pub fn support(&self, d: Vector) -> Vector {
        // Only asked of convex bodies.
        let local = self.form.support(self.pose.body_direction(d));
        self.pose.point(local.unwrap_or_default())
    }
}
