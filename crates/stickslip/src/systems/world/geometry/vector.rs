//! Three numbers as vectors, and rigid transforms as matrices: what the inner loops of geometry are written in.

pub(crate) use crate::algebra::cross;

use crate::systems::world::Pose;

/// Three components.
pub(crate) type Vector = [f64; 3];

#[inline]
pub(crate) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
pub(crate) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub(crate) fn scale(a: Vector, s: f64) -> Vector {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a + s b
#[inline]
pub(crate) fn along(a: Vector, s: f64, b: Vector) -> Vector {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

#[inline]
pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(crate) fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

#[inline]
pub(crate) fn distance(a: Vector, b: Vector) -> f64 {
    norm(sub(a, b))
}

/// The direction of a vector; none of the zero vector or one that is not finite.
#[inline]
pub(crate) fn direction(a: Vector) -> Option<Vector> {
    let length = norm(a);
    (length > 0.0 && length.is_finite()).then(|| scale(a, 1.0 / length))
}

/// Two unit vectors that complete a unit normal to a right-handed frame (formula of Duff et al.).
#[inline]
pub(crate) fn tangents(n: Vector) -> [Vector; 2] {
    let sign = 1f64.copysign(n[2]);
    let a = -1.0 / (sign + n[2]);
    let b = n[0] * n[1] * a;
    [
        [1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]],
        [b, sign + n[1] * n[1] * a, -n[1]],
    ]
}

/// A rigid transform: `world = rotation * body + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transform {
    /// Rows of the rotation.
    pub rotation: [Vector; 3],
    pub translation: Vector,
}

impl Transform {
    pub const IDENTITY: Self = Self {
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        translation: [0.0; 3],
    };

    #[inline]
    pub fn of(pose: &Pose) -> Self {
        let [w, x, y, z] = pose.rotation;
        Self {
            rotation: [
                [
                    1.0 - 2.0 * (y * y + z * z),
                    2.0 * (x * y - w * z),
                    2.0 * (x * z + w * y),
                ],
                [
                    2.0 * (x * y + w * z),
                    1.0 - 2.0 * (x * x + z * z),
                    2.0 * (y * z - w * x),
                ],
                [
                    2.0 * (x * z - w * y),
                    2.0 * (y * z + w * x),
                    1.0 - 2.0 * (x * x + y * y),
                ],
            ],
            translation: pose.position,
        }
    }

    #[inline]
    pub fn vector(&self, v: Vector) -> Vector {
        let r = &self.rotation;
        [dot(r[0], v), dot(r[1], v), dot(r[2], v)]
    }

    #[inline]
    pub fn point(&self, p: Vector) -> Vector {
        add(self.vector(p), self.translation)
    }

    #[inline]
    pub fn inverse_vector(&self, v: Vector) -> Vector {
        let r = &self.rotation;
        along(along(scale(r[0], v[0]), v[1], r[1]), v[2], r[2])
    }

    #[inline]
    pub fn inverse_point(&self, p: Vector) -> Vector {
        self.inverse_vector(sub(p, self.translation))
    }

    /// First `inner`, then `self`.
    pub fn times(&self, inner: &Self) -> Self {
        let column = |k: usize| {
            self.vector([
                inner.rotation[0][k],
                inner.rotation[1][k],
                inner.rotation[2][k],
            ])
        };
        let (a, b, c) = (column(0), column(1), column(2));
        Self {
            rotation: std::array::from_fn(|i| [a[i], b[i], c[i]]),
            translation: self.point(inner.translation),
        }
    }

    /// `other` as seen from `self`: `self⁻¹ other`.
    pub fn relative(&self, other: &Self) -> Self {
        let column = |k: usize| {
            self.inverse_vector([
                other.rotation[0][k],
                other.rotation[1][k],
                other.rotation[2][k],
            ])
        };
        let (a, b, c) = (column(0), column(1), column(2));
        Self {
            rotation: std::array::from_fn(|i| [a[i], b[i], c[i]]),
            translation: self.inverse_point(other.translation),
        }
    }

    /// Column `k` of the rotation: an axis of the body in the world.
    #[inline]
    pub fn axis(&self, k: usize) -> Vector {
        [
            self.rotation[0][k],
            self.rotation[1][k],
            self.rotation[2][k],
        ]
    }
}
