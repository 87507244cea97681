//! Shapes as contact detection works with them: supports, cores, features.

use std::sync::Arc;

use super::meeting::{Corner, Highest};
use super::polyhedron::{INSET, Polyhedron, support};
use super::triangle_mesh::TriangleMesh;
use super::vector::{Transform, Vector, add, along, direction, dot, scale, sub};
use crate::systems::world::{Dimension, Shape};

/// A shape in its own frame, ready for contact detection.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    Ball {
        radius: f64,
    },
    /// A segment with a radius.
    Capsule {
        ends: [Vector; 2],
        radius: f64,
    },
    Polyhedron(Arc<Polyhedron>),
    /// Along z.
    Cylinder {
        radius: f64,
        half: f64,
    },
    /// Along z, apex up.
    Cone {
        radius: f64,
        half: f64,
    },
    HalfSpace {
        normal: Vector,
    },
    Mesh(Arc<TriangleMesh>),
    /// A convex polygon of the plane with a radius; one point is a disc, two are a capsule or a segment.
    Flat {
        points: Arc<[[f64; 2]]>,
        radius: f64,
    },
}

/// Corners by which the round face of a cylinder or cone is represented where it lies on something.
const ROUND_CORNERS: usize = 8;

impl Solid {
    /// The working form of a shape that was checked.
    pub fn new(shape: &Shape, dimension: Dimension) -> Result<Self, super::ShapeError> {
        let plane = dimension == Dimension::Plane;
        let flat = |points: &[[f64; 2]], radius: f64| Self::Flat {
            points: points.into(),
            radius,
        };
        Ok(match *shape {
            Shape::Ball { radius } => Self::Ball { radius },
            Shape::Box { sides: [a, b, _] } if plane => {
                let (x, y) = (0.5 * a, 0.5 * b);
                flat(&[[-x, -y], [x, -y], [x, y], [-x, y]], 0.0)
            }
            Shape::Box { sides } => Self::Polyhedron(Arc::new(Polyhedron::cuboid(sides))),
            Shape::Capsule { radius, length } if plane => {
                flat(&[[-0.5 * length, 0.0], [0.5 * length, 0.0]], radius)
            }
            Shape::Capsule { radius, length } => Self::Capsule {
                ends: [[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]],
                radius,
            },
            Shape::Cylinder { radius, length } => Self::Cylinder {
                radius,
                half: 0.5 * length,
            },
            Shape::Cone { radius, length } => Self::Cone {
                radius,
                half: 0.5 * length,
            },
            Shape::Hull { ref points } => Self::Polyhedron(Arc::new(Polyhedron::hull(points)?)),
            Shape::Mesh {
                ref vertices,
                ref triangles,
            } => Self::Mesh(Arc::new(TriangleMesh::new(vertices, triangles)?)),
            Shape::HeightField {
                ref values,
                counts,
                size,
            } => Self::Mesh(Arc::new(TriangleMesh::height_field(values, counts, size)?)),
            Shape::HalfSpace { normal } => Self::HalfSpace { normal },
            Shape::Polygon { ref points } => Self::Flat {
                points: points.clone(),
                radius: 0.0,
            },
            Shape::Segment { ends } => flat(&ends, 0.0),
        })
    }

    /// A shape about its middle, and where that is in the frame of the shape. Bodies may be drawn about a point that is far from them; which side of a surface they
    /// are on is asked of their middle.
    pub fn about_its_middle(
        shape: &Shape,
        dimension: Dimension,
    ) -> Result<(Self, Vector), super::ShapeError> {
        if let Shape::Hull { points } = shape {
            let sum = points.iter().fold([0.0; 3], |sum, &p| add(sum, p));
            let middle = scale(sum, 1.0 / points.len() as f64);
            let moved: Vec<Vector> = points.iter().map(|&p| sub(p, middle)).collect();
            let hull = Polyhedron::hull(&moved)?;
            return Ok((Self::Polyhedron(Arc::new(hull)), middle));
        }
        Ok((Self::new(shape, dimension)?, [0.0; 3]))
    }

    /// Depth of the core below the surface: the radius of balls and capsules, a small inset of shapes with edges.
    pub fn rounding(&self) -> f64 {
        match self {
            Self::Ball { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Polyhedron(p) => INSET * p.smallest_extent(),
            Self::Cylinder { radius, half } => 2.0 * INSET * radius.min(*half),
            Self::Cone { radius, half } => {
                let side = radius.hypot(2.0 * half);
                2.0 * INSET * (2.0 * radius * half / side).min(*half)
            }
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::Flat { .. } => 0.0,
        }
    }

    /// Whether the surface is round everywhere by a radius, so that its core needs no inset.
    pub fn is_round(&self) -> bool {
        matches!(self, Self::Ball { .. } | Self::Capsule { .. })
    }

    /// Whether it has rims, near which supports turn with their direction.
    pub fn has_rims(&self) -> bool {
        matches!(self, Self::Cylinder { .. } | Self::Cone { .. })
    }

    /// Farthest point of the core along a direction, or of the shape itself if it has edges and is `sharp`.
    pub fn core_support(&self, d: Vector, sharp: bool) -> Vector {
        let inset = if sharp { 0.0 } else { self.rounding() };
        match self {
            Self::Ball { .. } => [0.0; 3],
            Self::Capsule { ends, .. } => support(ends, d),
            Self::Polyhedron(p) => support(if sharp { p.vertices() } else { p.core() }, d),
            Self::Cylinder { radius, half } => {
                let z = (half - inset).copysign(d[2]);
                around(radius - inset, d, z)
            }
            Self::Cone { radius, half } => {
                let side = radius.hypot(2.0 * half);
                let (apex, base) = (half - inset * side / radius, inset - half);
                let rim = radius * (apex - base) / (2.0 * half);
                let low = around(rim, d, base);
                let high = [0.0, 0.0, apex];
                if dot(d, high) > dot(d, low) {
                    high
                } else {
                    low
                }
            }
            // Surfaces without a core are treated triangle by triangle, or by their plane.
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::Flat { .. } => [0.0; 3],
        }
    }

    /// Farthest distance of the shape along a unit direction.
    pub fn height(&self, d: Vector) -> f64 {
        let round = if self.is_round() {
            self.rounding()
        } else {
            0.0
        };
        dot(d, self.core_support(d, true)) + round
    }

    /// The corners and rims that lie highest along a unit direction, both in the frame in which the shape has a place; of round shapes those of the core.
    pub fn highest(&self, d: Vector, place: &Transform) -> Highest {
        let mut highest = Highest::new(d);
        let point = |p: Vector| Corner::Point(place.point(p));
        let rim = |radius: f64, z: f64| Corner::Rim {
            centre: place.point([0.0, 0.0, z]),
            axis: place.axis(2),
            radius,
        };
        match self {
            Self::Ball { .. } => highest.add(point([0.0; 3])),
            Self::Capsule { ends, .. } => ends.iter().for_each(|&e| highest.add(point(e))),
            Self::Polyhedron(p) => {
                let vertices = p.vertices().iter();
                vertices.for_each(|&v| highest.add(point(v)));
            }
            Self::Cylinder { radius, half } => {
                highest.add(rim(*radius, -half));
                highest.add(rim(*radius, *half));
            }
            Self::Cone { radius, half } => {
                highest.add(rim(*radius, -half));
                highest.add(point([0.0, 0.0, *half]));
            }
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::Flat { .. } => {}
        }
        highest
    }

    /// The corners of the face, edge or vertex that looks along a unit direction, in order around its outward normal.
    pub fn feature(&self, d: Vector, out: &mut Vec<Vector>) {
        out.clear();
        match self {
            Self::Ball { radius } => out.push(along([0.0; 3], *radius, d)),
            Self::Capsule { ends, radius } => {
                let axis = direction(super::vector::sub(ends[1], ends[0])).unwrap_or([0.0; 3]);
                if dot(axis, d).abs() > 0.95 {
                    out.push(along(support(ends, d), *radius, d));
                } else {
                    out.extend(ends.iter().map(|&e| along(e, *radius, d)));
                }
            }
            Self::Polyhedron(p) => {
                let face = p.face_along(d);
                if dot(face.normal, d) > SLANTED {
                    out.extend(p.corners(face));
                } else {
                    self.sharp_feature(p.vertices(), p.smallest_extent(), d, out);
                }
            }
            Self::Cylinder { radius, half } => {
                let lateral = d[0].hypot(d[1]);
                if d[2].abs() >= lateral {
                    round_face(*radius, half.copysign(d[2]), d, out);
                } else {
                    let [x, y, _] = around(*radius, d, 0.0);
                    out.extend([[x, y, -half], [x, y, *half]]);
                }
            }
            Self::Cone { radius, half } => {
                let lateral = d[0].hypot(d[1]);
                let side = radius.hypot(2.0 * half);
                let slope = (2.0 * half * lateral + radius * d[2]) / side;
                if -d[2] >= slope {
                    round_face(*radius, -half, d, out);
                } else if slope > SLANTED {
                    let rim = around(*radius, d, -half);
                    out.extend([rim, [0.0, 0.0, *half]]);
                } else {
                    out.push([0.0, 0.0, *half]);
                }
            }
            Self::HalfSpace { .. } | Self::Mesh(_) | Self::Flat { .. } => {}
        }
    }

    /// Outward normal of the flat face that looks along a direction most.
    pub fn face_along(&self, d: Vector) -> Option<Vector> {
        match self {
            Self::Polyhedron(p) => Some(p.face_along(d).normal),
            Self::Cylinder { .. } => Some([0.0, 0.0, 1f64.copysign(d[2])]),
            Self::Cone { .. } => Some([0.0, 0.0, -1.0]),
            _ => None,
        }
    }

    /// Vertices on the top along a direction that no face looks along: one, or the two ends of an edge.
    fn sharp_feature(&self, vertices: &[Vector], size: f64, d: Vector, out: &mut Vec<Vector>) {
        let top = dot(support(vertices, d), d);
        let near = vertices.iter().filter(|&&v| dot(v, d) > top - 1e-6 * size);
        out.extend(near);
        // The two that lie farthest apart.
        let mut best = (0, 0, 0.0);
        for i in 0..out.len() {
            for j in 0..i {
                let apart = super::vector::distance(out[i], out[j]);
                if apart > best.2 {
                    best = (j, i, apart);
                }
            }
        }
        if out.len() > 2 {
            let (i, j, _) = best;
            let ends = [out[i], out[j]];
            out.clear();
            out.extend(ends);
        }
    }
}

/// Faces that look less along a direction than this cosine are not what lies on top.
pub(super) const SLANTED: f64 = 0.2;

/// The point of a circle about z that lies farthest along a direction.
fn around(radius: f64, d: Vector, z: f64) -> Vector {
    let lateral = d[0].hypot(d[1]);
    if lateral == 0.0 {
        return [radius, 0.0, z];
    }
    [radius * d[0] / lateral, radius * d[1] / lateral, z]
}

/// Corners of a round face, counter-clockwise from outside; one of them is where the direction points.
fn round_face(radius: f64, z: f64, d: Vector, out: &mut Vec<Vector>) {
    let lateral = d[0].hypot(d[1]);
    // A face that lies flat keeps its corners from step to step.
    let first = if lateral > 1e-6 {
        d[1].atan2(d[0])
    } else {
        0.0
    };
    for k in 0..ROUND_CORNERS {
        let turn = std::f64::consts::TAU * k as f64 / ROUND_CORNERS as f64;
        let angle = first + turn.copysign(z);
        out.push([radius * angle.cos(), radius * angle.sin(), z]);
    }
}
