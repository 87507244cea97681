//! Contact frames: the rows that turn a generalized velocity into a local one.

use crate::algebra::{Covectors, dot};
use crate::algebra::{Jet, autodiff};

use super::MechanicalSystem;
use super::functions::{FrameRows, ScalarFunction};

/// Frame at one contact point: normal row first, then the tangent rows.
///
/// With [`ContactFrame::Frictionless`] and [`ContactFrame::Tangents`] the normal row is dφ, so the
/// normal impulse multiplies dφ. With [`ContactFrame::Material`] all rows come from the velocity
/// of the material point, so the impulse is the real contact impulse whatever the scale of φ.
///
/// ```
/// use stickslip::prelude::*;
///
/// // The lowest point of a wheel of the radius 0.5, as a function of (x, y, angle) near angle 0.
/// let wheel = ContactFrame::planar_point(|q| [q[0] + q[2] * 0.5, q[1]], [0.0, 1.0]);
/// let mut rows = [0.0; 6];
/// wheel.rows(0.0, &[0.0; 3], &[0.0, 1.0, 0.0], &mut rows);
/// assert_eq!(rows, [0.0, 1.0, 0.0, 1.0, 0.0, 0.5]);
/// ```
pub enum ContactFrame {
    /// Normal row dφ only.
    Frictionless,
    /// Normal row dφ and `count` tangent covectors.
    Tangents {
        /// Number of tangent rows.
        count: usize,
        /// Writes the tangent rows (not the normal one).
        rows: Box<dyn FrameRows>,
    },
    /// All rows, normal first, from the motion of a material point.
    Material {
        /// Number of tangent rows (one in the plane, two in space).
        count: usize,
        /// Writes all rows.
        rows: Box<dyn FrameRows>,
    },
}

impl ContactFrame {
    /// Tangent covectors given directly, `count` rows written one after the other.
    pub fn tangents(count: usize, rows: impl FrameRows + 'static) -> Self {
        Self::Tangents {
            count,
            rows: Box::new(rows),
        }
    }

    /// Frame of a material point of the plane, position `x(q)` over jets, on a surface with the
    /// constant unit normal `normal`; the tangent is the normal turned clockwise, so that the
    /// ground with normal +y has the tangent +x.
    pub fn planar_point<F>(point: F, normal: [f64; 2]) -> Self
    where
        F: Fn(&[Jet]) -> [Jet; 2] + Send + Sync + 'static,
    {
        let axes = [normal, [normal[1], -normal[0]]];
        Self::Material {
            count: 1,
            rows: Box::new(PointRows {
                point,
                axes: move |_: &[f64]| axes,
                fixed: true,
            }),
        }
    }

    /// Frame of a material point of the plane whose surface normal depends on q.
    pub fn planar_point_on<F, N>(point: F, normal: N) -> Self
    where
        F: Fn(&[Jet]) -> [Jet; 2] + Send + Sync + 'static,
        N: Fn(&[f64]) -> [f64; 2] + Send + Sync + 'static,
    {
        let axes = move |q: &[f64]| {
            let n = normal(q);
            [n, [n[1], -n[0]]]
        };
        Self::Material {
            count: 1,
            rows: Box::new(PointRows {
                point,
                axes,
                fixed: false,
            }),
        }
    }

    /// Frame of a material point in space on a surface with unit normal `normal(q)`; the tangents
    /// complete it to a right-handed basis (see [`orthonormal_tangents`]).
    pub fn spatial_point<F, N>(point: F, normal: N) -> Self
    where
        F: Fn(&[Jet]) -> [Jet; 3] + Send + Sync + 'static,
        N: Fn(&[f64]) -> [f64; 3] + Send + Sync + 'static,
    {
        let axes = move |q: &[f64]| {
            let n = normal(q);
            let [t1, t2] = orthonormal_tangents(n);
            [n, t1, t2]
        };
        Self::Material {
            count: 2,
            rows: Box::new(PointRows {
                point,
                axes,
                fixed: false,
            }),
        }
    }

    /// Number of tangent rows.
    pub fn tangent_count(&self) -> usize {
        match self {
            Self::Frictionless => 0,
            Self::Tangents { count, .. } | Self::Material { count, .. } => *count,
        }
    }

    /// Writes all rows, normal first, each of length `dof`; `gradient` is dφ at the same place.
    pub fn rows(&self, t: f64, q: &[f64], gradient: &[f64], out: &mut [f64]) {
        let dof = gradient.len();
        match self {
            Self::Frictionless => out[..dof].copy_from_slice(gradient),
            Self::Tangents { rows, .. } => {
                out[..dof].copy_from_slice(gradient);
                rows.rows(t, q, &mut out[dof..]);
            }
            Self::Material { rows, .. } => rows.rows(t, q, out),
        }
    }

    /// Adds all rows, normal first, to a sparse list; dφ is row `c` of `gradients`.
    #[doc(hidden)]
    pub fn sparse_rows(
        &self,
        t: f64,
        q: &[f64],
        (gradients, c): (&Covectors, usize),
        out: &mut Covectors,
    ) {
        let (rows, count) = match self {
            Self::Frictionless => {
                out.push_row_of(gradients, c);
                return;
            }
            Self::Tangents { rows, count } => {
                out.push_row_of(gradients, c);
                (rows, *count)
            }
            Self::Material { rows, count } => (rows, 1 + count),
        };
        if !rows.sparse_rows(t, q, out) {
            let dof = out.dimension();
            let mut dense = vec![0.0; count * dof];
            rows.rows(t, q, &mut dense);
            for row in dense.chunks(dof) {
                out.push_nonzeros(row);
            }
        }
    }

    /// Writes d/dt of the local velocities along the motion with constant velocity v and returns true, or returns false if unknown.
    pub(crate) fn turning(
        &self,
        gap: &dyn ScalarFunction,
        (t, q, v): (f64, &[f64], &[f64]),
        out: &mut [f64],
    ) -> bool {
        let (rows, first) = match self {
            Self::Material { rows, .. } => return rows.turning(t, q, v, out),
            Self::Tangents { rows, .. } => (Some(rows), gap.turning(t, q, v)),
            Self::Frictionless => (None, gap.turning(t, q, v)),
        };
        out[0] = first.unwrap_or(0.0);
        first.is_some() && rows.is_none_or(|rows| rows.turning(t, q, v, &mut out[1..]))
    }

    /// Writes the local velocity of the frame at v = 0 (moving obstacles).
    pub(crate) fn drift(&self, gap: &dyn ScalarFunction, t: f64, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        match self {
            Self::Frictionless => out[0] = gap.rate(t, q),
            Self::Tangents { rows, .. } => {
                out[0] = gap.rate(t, q);
                rows.drift(t, q, &mut out[1..]);
            }
            Self::Material { rows, .. } => rows.drift(t, q, out),
        }
    }
}

impl std::fmt::Debug for ContactFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Frictionless => "Frictionless",
            Self::Tangents { .. } => "Tangents",
            Self::Material { .. } => "Material",
        };
        write!(f, "{name}({} tangents)", self.tangent_count())
    }
}

/// Sine of the angle beyond which a normal is not that of its gap.
pub(crate) const ANGLE: f64 = 1e-5;

/// Sine of the angle between the normal row of a contact and dφ; 1 where they point to different sides or one vanishes.
///
/// The rows of a material point know nothing of φ: if its normal is not that of the gap, the impulse pushes along the
/// obstacle. Both agree on the obstacle itself, that is where φ = 0, and need not agree off it.
pub(crate) fn misalignment(gradient: &[f64], row: &[f64]) -> f64 {
    let (square, along) = (dot(gradient, gradient), dot(gradient, row));
    if !(along > 0.0) {
        return 1.0;
    }
    let off = gradient
        .iter()
        .zip(row)
        .map(|(g, r)| (r - along / square * g).powi(2))
        .sum::<f64>();
    (off / dot(row, row)).sqrt()
}

/// Steps of Newton's method to an obstacle.
const NEWTON: usize = 8;

/// [`misalignment`] at a point of a constraint where the configuration is brought to the obstacle, within `near` of it, by Newton's
/// method along dφ; none where that does not lead there.
pub(crate) fn misalignment_on_obstacle(
    system: &dyn MechanicalSystem,
    (constraint, point): (usize, usize),
    (t, q): (f64, &[f64]),
    near: f64,
) -> Option<f64> {
    let constraint = &system.constraints()[constraint];
    let (gap, frame) = (constraint.gap(), &constraint.points()[point].frame);
    let mut mass = system.new_matrix();
    system.mass(q, &mut mass);
    let (mut q, mut row) = (q.to_vec(), vec![0.0; system.dof()]);
    for _ in 0..NEWTON {
        let value = gap.value(t, &q);
        gap.gradient(t, &q, &mut row);
        if value.abs() <= near {
            let mut rows = vec![0.0; (1 + frame.tangent_count()) * row.len()];
            frame.rows(t, &q, &row, &mut rows);
            return Some(misalignment(&row, &rows[..row.len()]));
        }
        let weighted = row.iter().enumerate();
        let way: Vec<f64> = weighted.map(|(k, g)| g / mass.get(k, k)).collect();
        let part = -value / dot(&row, &way);
        if !part.is_finite() {
            return None;
        }
        let from = q.clone();
        system.displace(&from, &way, part, &mut q);
    }
    None
}

/// Two unit vectors that complete the unit normal `n` to a right-handed orthonormal basis.
///
/// They depend on `n` alone and are continuous except where the sign of `n_z` changes.
#[inline]
pub fn orthonormal_tangents(n: [f64; 3]) -> [[f64; 3]; 2] {
    let sign = 1.0f64.copysign(n[2]);
    let a = -1.0 / (sign + n[2]);
    let b = n[0] * n[1] * a;
    [
        [1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]],
        [b, sign + n[1] * n[1] * a, -n[1]],
    ]
}

/// Rows `axis · ∂x/∂q` of a material point, one for each axis.
struct PointRows<F, A> {
    point: F,
    axes: A,
    /// Whether the axes are the same everywhere.
    fixed: bool,
}

impl<F, A, const D: usize> FrameRows for PointRows<F, A>
where
    F: Fn(&[Jet]) -> [Jet; D] + Send + Sync,
    A: Fn(&[f64]) -> [[f64; D]; D] + Send + Sync,
{
    fn rows(&self, _t: f64, q: &[f64], out: &mut [f64]) {
        let n = q.len();
        let axes = (self.axes)(q);
        autodiff::with_jets(q, |jets| {
            for i in 0..n {
                jets[i].eps1 = 1.0;
                let velocity = (self.point)(jets).map(|x| x.eps1);
                jets[i].eps1 = 0.0;
                for (k, axis) in axes.iter().enumerate() {
                    out[k * n + i] = dot(axis, &velocity);
                }
            }
        });
    }
    fn turning(&self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> bool {
        if !self.fixed || q.len() != v.len() {
            return false;
        }
        let acceleration = autodiff::with_jets(q, |jets| {
            for (jet, v) in jets.iter_mut().zip(v) {
                (jet.eps1, jet.eps2) = (*v, *v);
            }
            (self.point)(jets).map(|x| x.eps1eps2)
        });
        for (out, axis) in out.iter_mut().zip((self.axes)(q)) {
            *out = dot(&axis, &acceleration);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_complete_the_normal() {
        for n in [
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
            [0.6, 0.0, 0.8],
            [-0.48, 0.64, -0.6],
        ] {
            let [a, b] = orthonormal_tangents(n);
            for (x, y, expected) in [
                (&a, &a, 1.0),
                (&b, &b, 1.0),
                (&a, &b, 0.0),
                (&a, &n, 0.0),
                (&b, &n, 0.0),
            ] {
                assert!((dot(x, y) - expected).abs() < 1e-14);
            }
            let cross = [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
            ];
            assert!((dot(&cross, &n) - 1.0).abs() < 1e-14);
        }
    }
}
