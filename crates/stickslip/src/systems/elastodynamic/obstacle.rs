//! Rigid obstacles that meshes touch.

use std::sync::Arc;

use crate::systems::frame::orthonormal_tangents;

/// Shape of an obstacle in its place at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObstacleShape {
    /// Half space behind a plane; in the plane a line, on a line a point.
    Plane {
        /// A point of the plane.
        point: [f64; 3],
        /// Normal to the free side, of any length.
        normal: [f64; 3],
    },
    /// Ball (in the plane a disc).
    Sphere {
        /// Centre.
        centre: [f64; 3],
        /// Radius.
        radius: f64,
        /// Whether bodies are kept inside.
        inside: bool,
    },
    /// Cylinder without ends.
    Cylinder {
        /// A point of the axis.
        point: [f64; 3],
        /// Direction of the axis, of any length.
        axis: [f64; 3],
        /// Radius.
        radius: f64,
        /// Whether bodies are kept inside.
        inside: bool,
    },
}

/// Displacement and velocity of an obstacle at a time.
pub type ObstacleMotion = Arc<dyn Fn(f64) -> ([f64; 3], [f64; 3]) + Send + Sync>;

/// A rigid obstacle, at rest or translating.
///
/// ```
/// use stickslip::systems::elastodynamic::Obstacle;
///
/// // A ball of the radius 1 m that moves upwards with 2 m/s.
/// let ball = Obstacle::sphere([0.0; 3], 1.0).moving(|t| ([0.0, 0.0, 2.0 * t], [0.0, 0.0, 2.0]));
/// assert_eq!(ball.gap(0.0, [0.0, 0.0, 3.0]), (2.0, [0.0, 0.0, 1.0]));
/// assert_eq!(ball.gap(0.5, [0.0, 0.0, 3.0]).0, 1.0);
/// ```
#[derive(Clone)]
pub struct Obstacle {
    shape: ObstacleShape,
    motion: Option<ObstacleMotion>,
    tangent: Option<[f64; 3]>,
}

impl std::fmt::Debug for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Obstacle")
            .field("shape", &self.shape)
            .field("moves", &self.motion.is_some())
            .finish()
    }
}

fn norm(x: [f64; 3]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn scaled(x: [f64; 3], f: f64) -> [f64; 3] {
    x.map(|x| x * f)
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Obstacle {
    /// Obstacle at rest.
    pub fn new(shape: ObstacleShape) -> Self {
        Self {
            shape,
            motion: None,
            tangent: None,
        }
    }

    /// Plane through a point with a normal to the free side.
    pub fn plane(point: [f64; 3], normal: [f64; 3]) -> Self {
        Self::new(ObstacleShape::Plane { point, normal })
    }

    /// Ball that bodies stay outside of.
    pub fn sphere(centre: [f64; 3], radius: f64) -> Self {
        Self::new(ObstacleShape::Sphere {
            centre,
            radius,
            inside: false,
        })
    }

    /// Cylinder that bodies stay outside of.
    pub fn cylinder(point: [f64; 3], axis: [f64; 3], radius: f64) -> Self {
        Self::new(ObstacleShape::Cylinder {
            point,
            axis,
            radius,
            inside: false,
        })
    }

    /// The obstacle with a translation (displacement and velocity at a time).
    pub fn moving(
        mut self,
        motion: impl Fn(f64) -> ([f64; 3], [f64; 3]) + Send + Sync + 'static,
    ) -> Self {
        self.motion = Some(Arc::new(motion));
        self
    }

    /// The obstacle with the given first tangent (made orthogonal to the normal), to which
    /// anisotropic friction refers.
    pub fn with_tangent(mut self, tangent: [f64; 3]) -> Self {
        self.tangent = Some(tangent);
        self
    }

    /// Whether the obstacle does not move.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.motion.is_none()
    }

    /// Whether the obstacle is a plane; obstacles do not turn.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self.shape, ObstacleShape::Plane { .. })
    }

    /// What is wrong with the shape.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match self.shape {
            ObstacleShape::Plane { normal, .. } if !positive(norm(normal)) => {
                Some("the normal of the plane has no length")
            }
            ObstacleShape::Sphere { radius, .. } if !positive(radius) => {
                Some("the radius of the sphere is not positive")
            }
            ObstacleShape::Cylinder { radius, axis, .. } => {
                if !positive(radius) {
                    Some("the radius of the cylinder is not positive")
                } else if !positive(norm(axis)) {
                    Some("the axis of the cylinder has no length")
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Shape, in its place at rest.
    pub fn shape(&self) -> &ObstacleShape {
        &self.shape
    }

    /// Displacement at a time.
    pub fn displacement(&self, t: f64) -> [f64; 3] {
        self.motion.as_ref().map_or([0.0; 3], |motion| motion(t).0)
    }

    /// Velocity at a time.
    pub(crate) fn velocity(&self, t: f64) -> [f64; 3] {
        self.motion.as_ref().map_or([0.0; 3], |motion| motion(t).1)
    }

    /// Gap and unit normal of a point at a time.
    pub fn gap(&self, t: f64, x: [f64; 3]) -> (f64, [f64; 3]) {
        let x = match &self.motion {
            Some(motion) => minus(x, motion(t).0),
            None => x,
        };
        let radial = |d: [f64; 3], radius: f64, inside: bool| {
            let length = norm(d);
            // The centre has no normal; any will do, the gap there is far from zero.
            let n = if length > 0.0 {
                scaled(d, 1.0 / length)
            } else {
                [0.0, 1.0, 0.0]
            };
            if inside {
                (radius - length, scaled(n, -1.0))
            } else {
                (length - radius, n)
            }
        };
        match self.shape {
            ObstacleShape::Plane { point, normal } => {
                let n = scaled(normal, 1.0 / norm(normal));
                (dot(n, minus(x, point)), n)
            }
            ObstacleShape::Sphere {
                centre,
                radius,
                inside,
            } => radial(minus(x, centre), radius, inside),
            ObstacleShape::Cylinder {
                point,
                axis,
                radius,
                inside,
            } => {
                let a = scaled(axis, 1.0 / norm(axis));
                let d = minus(x, point);
                radial(minus(d, scaled(a, dot(a, d))), radius, inside)
            }
        }
    }

    /// Normal and tangents of the contact frame.
    pub(crate) fn axes(&self, normal: [f64; 3], space: usize) -> [[f64; 3]; 3] {
        frame_axes(normal, space, self.tangent)
    }
}

/// Normal and tangents: the plane has the normal turned clockwise, space two tangents of which the
/// first may be given.
pub(crate) fn frame_axes(n: [f64; 3], space: usize, tangent: Option<[f64; 3]>) -> [[f64; 3]; 3] {
    if space < 3 {
        return [n, [n[1], -n[0], 0.0], [0.0; 3]];
    }
    if let Some(t) = tangent {
        let t = minus(t, scaled(n, dot(n, t)));
        let length = norm(t);
        if length > 1e-9 {
            let a = scaled(t, 1.0 / length);
            let b = [
                n[1] * a[2] - n[2] * a[1],
                n[2] * a[0] - n[0] * a[2],
                n[0] * a[1] - n[1] * a[0],
            ];
            return [n, a, b];
        }
    }
    let [a, b] = orthonormal_tangents(n);
    [n, a, b]
}
