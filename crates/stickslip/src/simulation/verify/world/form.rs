//! Shapes by their supports and their surfaces, from their definitions alone.

use crate::systems::world::{Dimension, PlacedShape, Polyhedron, Pose, Shape};

use super::surface::Surface;
use super::vector::{Vector, along, cross, dot, norm, sub, to_segment, unit};

/// A shape as a judge sees it.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// All points within a radius of the hull of some points; the planes are those of the hull, where it has a volume
    /// (in the plane an area).
    Swept {
        points: Vec<Vector>,
        radius: f64,
        planes: Vec<(Vector, f64)>,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    Cone {
        radius: f64,
        half: f64,
    },
    HalfSpace {
        normal: Vector,
    },
    Surface(Surface),
}

/// A shape of a body.
#[derive(Clone, Debug)]
pub(super) struct PlacedForm {
    pub form: Form,
    pub pose: Pose,
}

impl PlacedForm {
    pub fn of(placed: &PlacedShape, dimension: Dimension) -> Self {
        Self {
            form: Form::of(&placed.shape, dimension),
            pose: placed.pose,
        }
    }
}

impl Form {
    fn of(shape: &Shape, dimension: Dimension) -> Self {
        let plane = dimension == Dimension::Plane;
        let flat = |points: Vec<Vector>| {
            let planes = edges(&points);
            Self::Swept {
                points,
                radius: 0.0,
                planes,
            }
        };
        let round = |points: Vec<Vector>, radius: f64| Self::Swept {
            points,
            radius,
            planes: Vec::new(),
        };
        match *shape {
            Shape::Ball { radius } => round(vec![[0.0; 3]], radius),
            Shape::Capsule { radius, length } => {
                let axis = if plane { 0 } else { 2 };
                let end =
                    |s: f64| std::array::from_fn(|k| if k == axis { s * length } else { 0.0 });
                round(vec![end(-0.5), end(0.5)], radius)
            }
            Shape::Box { sides: [a, b, _] } if plane => flat(rectangle(0.5 * a, 0.5 * b)),
            Shape::Box { sides } => {
                let corner = |k: usize| {
                    std::array::from_fn(|i| if k >> i & 1 == 1 { 0.5 } else { -0.5 } * sides[i])
                };
                let mut planes = Vec::new();
                for (i, side) in sides.iter().enumerate() {
                    for sign in [-1.0, 1.0] {
                        let mut normal = [0.0; 3];
                        normal[i] = sign;
                        planes.push((normal, 0.5 * side));
                    }
                }
                Self::Swept {
                    points: (0..8).map(corner).collect(),
                    radius: 0.0,
                    planes,
                }
            }
            Shape::Cylinder { radius, length } => Self::Cylinder {
                radius,
                half: 0.5 * length,
            },
            Shape::Cone { radius, length } => Self::Cone {
                radius,
                half: 0.5 * length,
            },
            Shape::Hull { ref points } => Self::Swept {
                planes: faces(points),
                points: points.to_vec(),
                radius: 0.0,
            },
            Shape::Mesh {
                ref vertices,
                ref triangles,
            } => {
                let corners = triangles.iter().map(|t| t.map(|k| vertices[k as usize]));
                Self::Surface(Surface::new(&corners.collect::<Vec<_>>()))
            }
            Shape::HeightField {
                ref values,
                counts,
                size,
            } => Self::Surface(Surface::new(&ground(values, counts, size))),
            Shape::HalfSpace { normal } => Self::HalfSpace { normal },
            Shape::Polygon { ref points } => {
                flat(points.iter().map(|p| [p[0], p[1], 0.0]).collect())
            }
            Shape::Segment { ends } => round(ends.map(|p| [p[0], p[1], 0.0]).to_vec(), 0.0),
        }
    }

    /// Farthest point along a unit direction; none for obstacles that are not convex bodies.
    pub fn support(&self, d: Vector) -> Option<Vector> {
        let rim = |radius: f64, z: f64| {
            let lateral = d[0].hypot(d[1]);
            let scale = if lateral > 0.0 { radius / lateral } else { 0.0 };
            [scale * d[0], scale * d[1], z]
        };
        match self {
            Self::Swept { points, radius, .. } => {
                let far = points
                    .iter()
                    .copied()
                    .max_by(|&p, &q| dot(p, d).total_cmp(&dot(q, d)))?;
                Some(along(far, *radius, d))
            }
            Self::Cylinder { radius, half } => Some(rim(*radius, half.copysign(d[2]))),
            Self::Cone { radius, half } => {
                let (tip, base) = ([0.0, 0.0, *half], rim(*radius, -half));
                Some(if dot(tip, d) > dot(base, d) {
                    tip
                } else {
                    base
                })
            }
            Self::HalfSpace { .. } | Self::Surface(_) => None,
        }
    }

    /// How far a point is from the surface.
    pub fn off_surface(&self, p: Vector) -> f64 {
        match self {
            Self::Swept {
                points,
                radius,
                planes,
            } if planes.is_empty() => {
                (to_segment(p, points[0], points[points.len() - 1]) - radius).abs()
            }
            Self::Swept { planes, .. } => planes
                .iter()
                .map(|(normal, offset)| dot(*normal, p) - offset)
                .fold(f64::NEG_INFINITY, f64::max)
                .abs(),
            Self::Cylinder { radius, half } => {
                (p[0].hypot(p[1]) - radius).max(p[2].abs() - half).abs()
            }
            Self::Cone { radius, half } => {
                let slant = radius.hypot(2.0 * half);
                let side = (2.0 * half * p[0].hypot(p[1]) + radius * (p[2] - half)) / slant;
                side.max(-p[2] - half).abs()
            }
            Self::HalfSpace { normal } => dot(*normal, p).abs(),
            Self::Surface(surface) => surface.distance(p),
        }
    }

    /// How far an outward normal at a point of the surface is from what a smooth surface has there, times the radius of the
    /// surface (the size of the contact for a plane); 0 where it has edges. How it leans along a straight side is
    /// [`Self::lean`].
    pub fn off_normal(&self, p: Vector, outward: Vector, size: f64) -> f64 {
        match self {
            Self::Swept { points, radius, .. } if *radius > 0.0 => {
                let inside = along(p, -radius, outward);
                to_segment(inside, points[0], points[points.len() - 1])
            }
            Self::Cylinder { radius, half } if p[2].abs() < half - 1e-4 * size => {
                let Some(across) = unit([outward[0], outward[1], 0.0]) else {
                    return *radius;
                };
                let [x, y, _] = along(p, -radius, across);
                x.hypot(y)
            }
            Self::HalfSpace { normal } => size * norm(sub(*normal, outward)),
            _ => 0.0,
        }
    }

    /// How much the straight side on which a point lies leans against an outward normal, times the radius. The nearest points of
    /// two shapes never lean; of others one lies above the other along the normal of the nearest, on surfaces that may.
    pub fn lean(&self, p: Vector, outward: Vector, size: f64) -> f64 {
        match self {
            Self::Cylinder { radius, half } if p[2].abs() < half - 1e-4 * size => {
                radius * outward[2].abs()
            }
            _ => 0.0,
        }
    }

    /// How far below the surface of a capsule that leans the line lies under which things are along a normal.
    pub fn recess(&self, n: Vector) -> f64 {
        match self {
            Self::Swept { points, radius, .. } if *radius > 0.0 => {
                let axis = unit(sub(points[points.len() - 1], points[0]));
                let sine = axis.map_or(0.0, |axis| dot(axis, n));
                radius * (1.0 - (1.0 - sine * sine).max(0.0).sqrt())
            }
            _ => 0.0,
        }
    }

    /// How far a point of the surface is from the corners, rims and round ends of a convex shape.
    pub fn off_corner(&self, p: Vector) -> f64 {
        let rim = |radius: f64, z: f64| (p[0].hypot(p[1]) - radius).hypot(p[2] - z);
        match self {
            Self::Swept { points, radius, .. } => {
                let off = points.iter().map(|&q| (norm(sub(p, q)) - radius).abs());
                off.fold(f64::INFINITY, f64::min)
            }
            Self::Cylinder { radius, half } => rim(*radius, half.copysign(p[2])),
            Self::Cone { radius, half } => rim(*radius, -half).min(norm(sub(p, [0.0, 0.0, *half]))),
            Self::HalfSpace { .. } | Self::Surface(_) => f64::INFINITY,
        }
    }

    /// Directions that may keep it apart from others: normals of its faces, in the plane of the sides of its core. A segment has two.
    pub fn faces(&self, dimension: Dimension) -> Vec<Vector> {
        let normals = |planes: &[(Vector, f64)]| planes.iter().map(|p| p.0).collect();
        match self {
            Self::Swept { points, planes, .. } if planes.is_empty() => match dimension {
                Dimension::Plane => normals(&edges(points)),
                Dimension::Space => Vec::new(),
            },
            Self::Swept { planes, .. } => normals(planes),
            Self::Cylinder { .. } | Self::Cone { .. } => vec![[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]],
            _ => Vec::new(),
        }
    }

    /// A point inside of a convex body: the mean of its corners; its frame may lie elsewhere.
    pub fn middle(&self) -> Vector {
        let corners = self.corners();
        let sum = corners.iter().fold([0.0; 3], |sum, &p| along(sum, 1.0, p));
        sum.map(|x| x / corners.len().max(1) as f64)
    }

    pub fn has_tip(&self) -> bool {
        matches!(self, Self::Cone { .. })
    }

    /// Its straight sides: lines on a round side where it looks along a line, and all that may be edges between its corners.
    pub fn sides(&self, n: Vector) -> Vec<Vector> {
        match self {
            Self::Swept { points, .. } => {
                let pairs = (0..points.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                pairs.map(|(i, j)| sub(points[i], points[j])).collect()
            }
            Self::Cylinder { half, .. } => vec![[0.0, 0.0, 2.0 * half]],
            Self::Cone { radius, half } => {
                let out = unit([n[0], n[1], 0.0]).unwrap_or_default();
                let line = |sign: f64| {
                    let rim = out.map(|x| sign * radius * x);
                    [rim[0], rim[1], -2.0 * half]
                };
                vec![line(1.0), line(-1.0)]
            }
            Self::HalfSpace { .. } | Self::Surface(_) => Vec::new(),
        }
    }

    /// Radius of its round part.
    pub fn radius(&self) -> f64 {
        match self {
            Self::Swept { radius, .. }
            | Self::Cylinder { radius, .. }
            | Self::Cone { radius, .. } => *radius,
            Self::HalfSpace { .. } | Self::Surface(_) => 0.0,
        }
    }

    /// The points whose hull is its core.
    pub fn corners(&self) -> &[Vector] {
        match self {
            Self::Swept { points, .. } => points,
            _ => &[],
        }
    }
}

fn rectangle(x: f64, y: f64) -> Vec<Vector> {
    vec![[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]
}

/// Lines of a counterclockwise polygon.
fn edges(points: &[Vector]) -> Vec<(Vector, f64)> {
    let ends = (0..points.len()).map(|k| (points[k], points[(k + 1) % points.len()]));
    ends.filter_map(|(p, q)| {
        let u = sub(q, p);
        let normal = unit([u[1], -u[0], 0.0])?;
        Some((normal, dot(normal, p)))
    })
    .collect()
}

/// Planes of the faces of a hull.
fn faces(points: &[Vector]) -> Vec<(Vector, f64)> {
    // Only hulls with a volume become shapes of a world.
    let Ok(hull) = Polyhedron::hull(points) else {
        return Vec::new();
    };
    let corners = hull.vertices();
    let planes = hull.triangles().iter().filter_map(|t| {
        let [a, b, c] = t.map(|k| corners[k as usize]);
        let normal = unit(cross(sub(b, a), sub(c, a)))?;
        // All points lie below the face, so that the farthest of them is on it.
        let offset = points
            .iter()
            .map(|&p| dot(normal, p))
            .fold(f64::MIN, f64::max);
        Some((normal, offset))
    });
    planes.collect()
}

/// Triangles of a height field: two per cell, divided from its first to its last corner.
fn ground(values: &[f64], [nx, ny]: [usize; 2], size: [f64; 2]) -> Vec<[Vector; 3]> {
    let point = |i: usize, j: usize| {
        let x = size[0] * (i as f64 / (nx - 1) as f64 - 0.5);
        let y = size[1] * (j as f64 / (ny - 1) as f64 - 0.5);
        [x, y, values[j * nx + i]]
    };
    let cells = (0..ny - 1).flat_map(|j| (0..nx - 1).map(move |i| (i, j)));
    cells
        .flat_map(|(i, j)| {
            let (a, c) = (point(i, j), point(i + 1, j + 1));
            [[a, point(i + 1, j), c], [a, c, point(i, j + 1)]]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Supports and surfaces agree: a support point lies on the surface and no other point is farther.
    #[test]
    fn support_points_lie_on_the_surface() {
        let shapes = [
            Shape::ball(0.4).unwrap(),
            Shape::cuboid([1.0, 0.5, 0.3]).unwrap(),
            Shape::capsule(0.2, 0.7).unwrap(),
            Shape::cylinder(0.3, 0.9).unwrap(),
            Shape::cone(0.3, 0.9).unwrap(),
            Shape::hull(&[[0.0; 3], [1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.1, 0.2, 0.8]]).unwrap(),
        ];
        for shape in &shapes {
            let form = Form::of(shape, Dimension::Space);
            for k in 0..50 {
                let a = 0.37 * f64::from(k);
                let d = unit([a.sin(), (1.7 * a).cos(), (0.3 * a).sin()]).unwrap();
                let p = form.support(d).unwrap();
                assert!(form.off_surface(p) < 1e-12, "{shape:?} {p:?}");
                assert!(
                    form.off_surface(along(p, 0.05, d)) > 1e-3,
                    "{shape:?} {p:?}"
                );
                assert!(form.off_normal(p, d, 1e-3) < 1e-12, "{shape:?}");
                assert!(form.lean(p, d, 1e-3) < 1e-12, "{shape:?}");
            }
        }
    }
}
