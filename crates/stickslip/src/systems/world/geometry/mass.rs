//! Mass, centre and inertia of shapes, exactly; sums by parallel axes; principal axes.

use super::polyhedron::Polyhedron;
use super::shape::ShapeError;
use super::triangle_mesh::TriangleMesh;
use super::vector::{Vector, add, cross, dot, scale, sub};
use crate::systems::world::{Dimension, Shape};

/// Mass, centre of mass and inertia about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass; of a shape of density 1 its volume, in the plane its area.
    pub mass: f64,
    /// Centre of mass.
    pub centre: [f64; 3],
    /// Inertia about the centre of mass, rows of a symmetric matrix.
    pub inertia: [[f64; 3]; 3],
}

impl MassProperties {
    /// No mass.
    pub const NONE: Self = Self {
        mass: 0.0,
        centre: [0.0; 3],
        inertia: [[0.0; 3]; 3],
    };

    /// A body whose centre is the origin and whose axes are principal.
    fn principal_at_origin(mass: f64, moments: [f64; 3]) -> Self {
        let mut inertia = [[0.0; 3]; 3];
        for k in 0..3 {
            inertia[k][k] = moments[k];
        }
        Self {
            mass,
            centre: [0.0; 3],
            inertia,
        }
    }

    /// Mass properties of a shape of density 1, in the frame of the shape.
    ///
    /// Closed formulas for balls, boxes, capsules, cylinders and cones; sums over tetrahedra for hulls, over triangles
    /// for polygons. Half-spaces, height fields, open meshes and segments have none ([`Self::NONE`]).
    pub fn of_shape(shape: &Shape, dimension: Dimension) -> Result<Self, ShapeError> {
        let pi = std::f64::consts::PI;
        Ok(match (shape, dimension) {
            (Shape::Ball { radius: r }, Dimension::Space) => {
                let m = 4.0 / 3.0 * pi * r.powi(3);
                Self::principal_at_origin(m, [0.4 * m * r * r; 3])
            }
            (Shape::Ball { radius: r }, Dimension::Plane) => {
                let m = pi * r * r;
                Self::principal_at_origin(m, [0.25 * m * r * r, 0.25 * m * r * r, 0.5 * m * r * r])
            }
            (Shape::Box { sides: [a, b, _] }, Dimension::Plane) => {
                let m = a * b;
                let moments = [b * b, a * a, a * a + b * b].map(|s| m * s / 12.0);
                Self::principal_at_origin(m, moments)
            }
            (Shape::Box { sides: [a, b, c] }, Dimension::Space) => {
                let m = a * b * c;
                let (aa, bb, cc) = (a * a, b * b, c * c);
                let moments = [bb + cc, aa + cc, aa + bb].map(|s| m * s / 12.0);
                Self::principal_at_origin(m, moments)
            }
            (Shape::Capsule { radius, length }, Dimension::Space) => capsule(*radius, *length),
            (Shape::Capsule { radius, length }, Dimension::Plane) => stadium(*radius, *length),
            (
                Shape::Cylinder {
                    radius: r,
                    length: l,
                },
                _,
            ) => {
                let m = pi * r * r * l;
                let across = m * (3.0 * r * r + l * l) / 12.0;
                Self::principal_at_origin(m, [across, across, 0.5 * m * r * r])
            }
            (
                Shape::Cone {
                    radius: r,
                    length: l,
                },
                _,
            ) => {
                let m = pi * r * r * l / 3.0;
                let across = m * (3.0 / 20.0 * r * r + 3.0 / 80.0 * l * l);
                let mut cone = Self::principal_at_origin(m, [across, across, 0.3 * m * r * r]);
                // The frame of a cone is half-way up its axis, its centre a quarter up.
                cone.centre = [0.0, 0.0, -0.25 * l];
                cone
            }
            (Shape::Hull { points }, _) => {
                let hull = Polyhedron::hull(points)?;
                solid(hull.vertices(), hull.triangles())
            }
            (Shape::Polygon { points }, _) => polygon(points),
            (
                Shape::Mesh {
                    vertices,
                    triangles,
                },
                _,
            ) if TriangleMesh::new(vertices, triangles)?.is_closed() => solid(vertices, triangles),
            (
                Shape::Segment { .. }
                | Shape::Mesh { .. }
                | Shape::HeightField { .. }
                | Shape::HalfSpace { .. },
                _,
            ) => Self::NONE,
        })
    }

    /// The same body with all masses multiplied.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            mass: self.mass * factor,
            centre: self.centre,
            inertia: self.inertia.map(|row| row.map(|x| x * factor)),
        }
    }

    /// The same body seen from a frame in which its own frame has this pose (rows of the rotation, origin).
    pub(crate) fn placed(&self, at: &super::vector::Transform) -> Self {
        let r = &at.rotation;
        let mut inertia = [[0.0; 3]; 3];
        for (i, row) in inertia.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let column: Vector = std::array::from_fn(|k| dot(self.inertia[k], r[j]));
                *entry = dot(r[i], column);
            }
        }
        Self {
            mass: self.mass,
            centre: at.point(self.centre),
            inertia,
        }
    }

    /// Both bodies as one, by the theorem of parallel axes.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self::NONE;
        }
        let centre = scale(
            add(
                scale(self.centre, self.mass),
                scale(other.centre, other.mass),
            ),
            1.0 / mass,
        );
        let mut inertia = [[0.0; 3]; 3];
        for part in [self, other] {
            let moved = part.about(centre);
            for i in 0..3 {
                for j in 0..3 {
                    inertia[i][j] += moved[i][j];
                }
            }
        }
        Self {
            mass,
            centre,
            inertia,
        }
    }

    /// Inertia about another point.
    #[must_use]
    pub fn about(&self, point: [f64; 3]) -> [[f64; 3]; 3] {
        let d = sub(self.centre, point);
        let mut inertia = self.inertia;
        for i in 0..3 {
            for j in 0..3 {
                let identity = if i == j { dot(d, d) } else { 0.0 };
                inertia[i][j] += self.mass * (identity - d[i] * d[j]);
            }
        }
        inertia
    }

    /// Principal moments and the rotation (columns are the principal axes) that makes the inertia diagonal.
    ///
    /// Axes that are principal already are kept; otherwise Jacobi's method turns them as little as it can, so that
    /// the principal frame stays near the frame of the shapes.
    #[must_use]
    pub fn principal(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        principal_axes(self.inertia)
    }
}

/// Jacobi's method for a symmetric 3×3 matrix.
pub(super) fn principal_axes(mut a: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut v = super::vector::Transform::IDENTITY.rotation;
    let size = a[0][0].abs().max(a[1][1].abs()).max(a[2][2].abs());
    // Twelve sweeps: convergence is quadratic, six are enough for any matrix.
    for _ in 0..12 {
        let off = a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
        if off <= 1e-15 * size {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            // Equal moments: any axes are principal, a turn of 45 degrees removes the entry.
            let t = if theta == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                let (x, y) = (row[p], row[q]);
                (row[p], row[q]) = (c * x - s * y, s * x + c * y);
            }
            let (x, y) = (a[p], a[q]);
            a[p] = std::array::from_fn(|k| c * x[k] - s * y[k]);
            a[q] = std::array::from_fn(|k| s * x[k] + c * y[k]);
            for row in &mut v {
                let (x, y) = (row[p], row[q]);
                (row[p], row[q]) = (c * x - s * y, s * x + c * y);
            }
        }
    }
    ([a[0][0], a[1][1], a[2][2]], v)
}

/// A capsule along z: a cylinder and two half-balls.
fn capsule(r: f64, l: f64) -> MassProperties {
    let pi = std::f64::consts::PI;
    let (cylinder, ball) = (pi * r * r * l, 4.0 / 3.0 * pi * r.powi(3));
    // A half-ball's centre lies 3r/8 from its flat face.
    let arm = 0.5 * l + 0.375 * r;
    let ball_across = ball * (0.4 - 0.375 * 0.375) * r * r + ball * arm * arm;
    let across = cylinder * (3.0 * r * r + l * l) / 12.0 + ball_across;
    let along = 0.5 * cylinder * r * r + 0.4 * ball * r * r;
    MassProperties::principal_at_origin(cylinder + ball, [across, across, along])
}

/// A capsule of the plane along x: a rectangle and two half-discs.
fn stadium(r: f64, l: f64) -> MassProperties {
    let pi = std::f64::consts::PI;
    let (rectangle, disc) = (2.0 * r * l, pi * r * r);
    // A half-disc's centre lies 4r/(3 pi) from its diameter.
    let c = 4.0 * r / (3.0 * pi);
    let arm = 0.5 * l + c;
    let xx = rectangle * (4.0 * r * r) / 12.0 + 0.25 * disc * r * r;
    let yy = rectangle * l * l / 12.0 + 0.25 * disc * r * r - disc * c * c + disc * arm * arm;
    MassProperties::principal_at_origin(rectangle + disc, [xx, yy, xx + yy])
}

/// A closed surface of triangles, outward: sums over tetrahedra from a point inside.
pub(super) fn solid(vertices: &[Vector], triangles: &[[u32; 3]]) -> MassProperties {
    // From the mean of the vertices, where less cancels.
    let count = vertices.len().max(1) as f64;
    let from = scale(
        vertices.iter().fold([0.0; 3], |s, &v| add(s, v)),
        1.0 / count,
    );
    let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for t in triangles {
        let [a, b, c] = t.map(|k| sub(vertices[k as usize], from));
        let six = dot(a, cross(b, c));
        volume += six / 6.0;
        let sum = add(add(a, b), c);
        first = add(first, scale(sum, six / 24.0));
        for i in 0..3 {
            for j in 0..3 {
                let pairs = a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j];
                second[i][j] += six / 120.0 * pairs;
            }
        }
    }
    from_moments(volume, first, second, from)
}

/// A polygon of the plane, counter-clockwise.
fn polygon(points: &[[f64; 2]]) -> MassProperties {
    let count = points.len() as f64;
    let from = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / count);
    let (mut area, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for (k, p) in points.iter().enumerate() {
        let q = points[(k + 1) % points.len()];
        let a = [p[0] - from[0], p[1] - from[1], 0.0];
        let b = [q[0] - from[0], q[1] - from[1], 0.0];
        let twice = a[0] * b[1] - a[1] * b[0];
        area += 0.5 * twice;
        let sum = add(a, b);
        first = add(first, scale(sum, twice / 6.0));
        for i in 0..2 {
            for j in 0..2 {
                let pairs = a[i] * a[j] + b[i] * b[j] + sum[i] * sum[j];
                second[i][j] += twice / 24.0 * pairs;
            }
        }
    }
    from_moments(area, first, second, [from[0], from[1], 0.0])
}

/// From ∫1, ∫x and ∫x xᵀ about `from`.
fn from_moments(mass: f64, first: Vector, second: [[f64; 3]; 3], from: Vector) -> MassProperties {
    let shift = scale(first, 1.0 / mass);
    let mut about_centre = second;
    for i in 0..3 {
        for j in 0..3 {
            about_centre[i][j] -= mass * shift[i] * shift[j];
        }
    }
    let trace = about_centre[0][0] + about_centre[1][1] + about_centre[2][2];
    let mut inertia = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            inertia[i][j] = if i == j { trace } else { 0.0 } - about_centre[i][j];
        }
    }
    MassProperties {
        mass,
        centre: add(from, shift),
        inertia,
    }
}
