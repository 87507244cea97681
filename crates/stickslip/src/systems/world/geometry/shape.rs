//! Shapes made with checks, and what is refused.

use super::mass::MassProperties;
use super::polyhedron::Polyhedron;
use super::triangle_mesh::TriangleMesh;
use super::vector::{direction, norm, sub};
use crate::quantity::typed;
use crate::systems::world::{Dimension, Shape};

/// Why a shape was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length is zero, negative or not a number.
    #[error("{what} must be positive and finite, found {value}")]
    Length {
        /// Which length.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate is not a finite number.
    #[error("point {index} of {shape} is not finite")]
    NotFinite {
        /// The shape.
        shape: &'static str,
        /// Number of the point, from 0.
        index: usize,
    },
    /// Too few points for a hull or polygon.
    #[error("{shape} needs at least {needed} points, found {found}")]
    FewPoints {
        /// The shape.
        shape: &'static str,
        /// Least number.
        needed: usize,
        /// Number found.
        found: usize,
    },
    /// The points of a hull or polygon lie in a plane or on a line.
    #[error("{shape} is flat: its thickness is {}, its size {}", typed(*thickness, 4), typed(*size, 4))]
    Flat {
        /// The shape.
        shape: &'static str,
        /// Smallest extent.
        thickness: f64,
        /// Largest extent.
        size: f64,
    },
    /// A polygon turns inward at a vertex.
    #[error("the polygon is not convex at its point {index}")]
    NotConvex {
        /// Number of the point, from 0.
        index: usize,
    },
    /// A direction is the zero vector.
    #[error("the normal of a half-space is the zero vector or not finite")]
    Normal,
    /// A triangle names a vertex that does not exist, or has no area.
    #[error("triangle {index} of the mesh {problem}")]
    Triangle {
        /// Number of the triangle, from 0.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A shape of the plane in space, or the other way round.
    #[error("{shape} does not exist {place}")]
    Dimension {
        /// The shape.
        shape: &'static str,
        /// In the plane, in space.
        place: &'static str,
    },
    /// The hull could not be computed.
    #[error("the convex hull cannot be computed: {0}")]
    Hull(String),
    /// The values of a height field do not form a grid.
    #[error("a height field needs at least 2 rows of at least 2 heights each, all of one length")]
    Grid,
}

fn length(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ShapeError::Length { what, value })
    }
}

impl Shape {
    /// A ball, in the plane a disc.
    pub fn ball(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Ball {
            radius: length("the radius of a ball", radius)?,
        })
    }

    /// A box with these full sides.
    pub fn cuboid(sides: [f64; 3]) -> Result<Self, ShapeError> {
        for side in sides {
            length("every side of a box", side)?;
        }
        Ok(Self::Box { sides })
    }

    /// A capsule: radius, and distance of the centres of its caps.
    pub fn capsule(radius: f64, distance: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule {
            radius: length("the radius of a capsule", radius)?,
            length: length("the length of a capsule", distance)?,
        })
    }

    /// A cylinder along z.
    pub fn cylinder(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder {
            radius: length("the radius of a cylinder", radius)?,
            length: length("the length of a cylinder", height)?,
        })
    }

    /// A cone along z.
    pub fn cone(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cone {
            radius: length("the radius of a cone", radius)?,
            length: length("the length of a cone", height)?,
        })
    }

    /// The convex hull of points in space.
    pub fn hull(points: &[[f64; 3]]) -> Result<Self, ShapeError> {
        Polyhedron::hull(points)?;
        Ok(Self::Hull {
            points: points.into(),
        })
    }

    /// A surface of triangles, counter-clockwise from outside.
    pub fn mesh(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        TriangleMesh::new(vertices, triangles)?;
        Ok(Self::Mesh {
            vertices: vertices.into(),
            triangles: triangles.into(),
        })
    }

    /// Ground of given heights, row by row along y with x fastest, over a rectangle about the origin.
    pub fn height_field(
        values: &[f64],
        counts: [usize; 2],
        size: [f64; 2],
    ) -> Result<Self, ShapeError> {
        for side in size {
            length("every side of a height field", side)?;
        }
        let [nx, ny] = counts;
        if nx < 2 || ny < 2 || nx.checked_mul(ny) != Some(values.len()) {
            return Err(ShapeError::Grid);
        }
        if let Some(index) = values.iter().position(|z| !z.is_finite()) {
            return Err(ShapeError::NotFinite {
                shape: "a height field",
                index,
            });
        }
        TriangleMesh::height_field(values, counts, size)?;
        Ok(Self::HeightField {
            values: values.into(),
            counts,
            size,
        })
    }

    /// A half-space, or a half-plane, below the plane through the origin with this outward normal.
    pub fn half_space(normal: [f64; 3]) -> Result<Self, ShapeError> {
        direction(normal)
            .map(|normal| Self::HalfSpace { normal })
            .ok_or(ShapeError::Normal)
    }

    /// A rectangle of the plane with these full sides.
    pub fn rectangle([a, b]: [f64; 2]) -> Result<Self, ShapeError> {
        for side in [a, b] {
            length("every side of a rectangle", side)?;
        }
        let (x, y) = (0.5 * a, 0.5 * b);
        Self::polygon(&[[-x, -y], [x, -y], [x, y], [-x, y]])
    }

    /// A convex polygon of the plane, in either sense of turning.
    pub fn polygon(points: &[[f64; 2]]) -> Result<Self, ShapeError> {
        const SHAPE: &str = "a polygon";
        check_points(SHAPE, points, 3)?;
        let n = points.len();
        let turn = |i: usize| {
            let (a, b, c) = (points[i], points[(i + 1) % n], points[(i + 2) % n]);
            (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        };
        let area: f64 = (0..n)
            .map(|i| {
                let (a, b) = (points[i], points[(i + 1) % n]);
                0.5 * ((a[0] - points[0][0]) * (b[1] - points[0][1])
                    - (a[1] - points[0][1]) * (b[0] - points[0][0]))
            })
            .sum();
        let size = extent(points.iter().map(|p| [p[0], p[1], 0.0]));
        if area.abs() <= FLAT * size * size {
            return Err(ShapeError::Flat {
                shape: SHAPE,
                thickness: area.abs() / size,
                size,
            });
        }
        let sign = area.signum();
        // Points on a straight edge are allowed; a turn inward, or a second turn around, is not.
        for i in 0..n {
            let (a, b) = (points[i], points[(i + 1) % n]);
            if sign * turn(i) < -1e-12 * size * size || a == b {
                return Err(ShapeError::NotConvex { index: (i + 1) % n });
            }
        }
        let winding: f64 = (0..n)
            .map(|i| {
                let (a, b, c) = (points[i], points[(i + 1) % n], points[(i + 2) % n]);
                let (u, v) = ([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
                (u[0] * v[1] - u[1] * v[0]).atan2(u[0] * v[0] + u[1] * v[1])
            })
            .sum();
        if winding.abs() > 7.0 {
            return Err(ShapeError::NotConvex { index: 0 });
        }
        let mut list = points.to_vec();
        if sign < 0.0 {
            list.reverse();
        }
        Ok(Self::Polygon {
            points: list.into(),
        })
    }

    /// A segment of the plane.
    pub fn segment(ends: [[f64; 2]; 2]) -> Result<Self, ShapeError> {
        let [a, b] = ends;
        length("the length of a segment", (a[0] - b[0]).hypot(a[1] - b[1]))?;
        Ok(Self::Segment { ends })
    }

    /// What the shape is, with its article.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "a ball",
            Self::Box { .. } => "a box",
            Self::Capsule { .. } => "a capsule",
            Self::Cylinder { .. } => "a cylinder",
            Self::Cone { .. } => "a cone",
            Self::Hull { .. } => "a hull",
            Self::Mesh { .. } => "a mesh",
            Self::HeightField { .. } => "a height field",
            Self::HalfSpace { .. } => "a half-space",
            Self::Polygon { .. } => "a polygon",
            Self::Segment { .. } => "a segment",
        }
    }

    /// Whether the shape exists in this dimension, whoever made it.
    pub fn check(&self, dimension: Dimension) -> Result<(), ShapeError> {
        let shape = self.kind();
        let solid = matches!(
            self,
            Self::Cylinder { .. }
                | Self::Cone { .. }
                | Self::Hull { .. }
                | Self::Mesh { .. }
                | Self::HeightField { .. }
        );
        let planar = matches!(self, Self::Polygon { .. } | Self::Segment { .. });
        match dimension {
            Dimension::Plane if solid => Err(ShapeError::Dimension {
                shape,
                place: "in the plane",
            }),
            Dimension::Space if planar => Err(ShapeError::Dimension {
                shape,
                place: "in space",
            }),
            _ => Ok(()),
        }
    }

    /// The same shape made again with every check, for shapes that were written down without a constructor.
    pub(crate) fn checked(&self, dimension: Dimension) -> Result<Self, ShapeError> {
        self.check(dimension)?;
        match self {
            Self::Ball { radius } => Self::ball(*radius),
            Self::Box { sides } if dimension == Dimension::Plane => {
                Self::rectangle([sides[0], sides[1]]).map(|_| self.clone())
            }
            Self::Box { sides } => Self::cuboid(*sides),
            Self::Capsule { radius, length } => Self::capsule(*radius, *length),
            Self::Cylinder { radius, length } => Self::cylinder(*radius, *length),
            Self::Cone { radius, length } => Self::cone(*radius, *length),
            Self::Hull { points } => Self::hull(points),
            Self::Mesh {
                vertices,
                triangles,
            } => Self::mesh(vertices, triangles),
            Self::HeightField {
                values,
                counts,
                size,
            } => Self::height_field(values, *counts, *size),
            Self::HalfSpace { normal } => Self::half_space(*normal),
            Self::Polygon { points } => Self::polygon(points),
            Self::Segment { ends } => Self::segment(*ends),
        }
    }

    /// Mass properties at density 1 and extents.
    #[doc(hidden)]
    pub fn measure(&self, dimension: Dimension) -> Result<ShapeMeasure, ShapeError> {
        let farthest = |points: &[[f64; 3]]| points.iter().map(|&p| norm(p)).fold(0.0, f64::max);
        let in_plane = |points: &[[f64; 2]]| {
            let far = points.iter().map(|p| p[0].hypot(p[1]));
            far.fold(0.0, f64::max)
        };
        let none = MassProperties::NONE;
        let unbounded = f64::INFINITY;
        let (mass, size, radius) = match (self, dimension) {
            (Self::Ball { radius }, _) => (none, 2.0 * radius, *radius),
            (Self::Box { sides: [a, b, _] }, Dimension::Plane) => {
                (none, a.min(*b), 0.5 * a.hypot(*b))
            }
            (Self::Box { sides }, Dimension::Space) => {
                let [a, b, c] = *sides;
                (none, a.min(b).min(c), 0.5 * norm(*sides))
            }
            (Self::Capsule { radius, length }, _) => (none, 2.0 * radius, radius + 0.5 * length),
            (Self::Cylinder { radius, length }, _) => (
                none,
                (2.0 * radius).min(*length),
                radius.hypot(0.5 * length),
            ),
            (Self::Cone { radius, length }, _) => {
                // Along the axis, and from a generatrix to the rim opposite.
                let across = 2.0 * radius * length / radius.hypot(*length);
                (none, across.min(*length), radius.hypot(0.5 * length))
            }
            (Self::Hull { points }, _) => {
                let hull = Polyhedron::hull(points)?;
                let solid = super::mass::solid(hull.vertices(), hull.triangles());
                (solid, hull.smallest_extent(), farthest(points))
            }
            // Surfaces have no thickness of their own: whatever touches them sets the measure.
            (Self::Mesh { vertices, .. }, _) => (none, unbounded, farthest(vertices)),
            (
                Self::HeightField {
                    values,
                    counts,
                    size,
                },
                _,
            ) => {
                let mesh = TriangleMesh::height_field(values, *counts, *size)?;
                (none, unbounded, farthest(mesh.vertices()))
            }
            (Self::HalfSpace { .. }, _) => (none, unbounded, unbounded),
            (Self::Polygon { points }, _) => (none, polygon_width(points), in_plane(points)),
            (Self::Segment { ends: [a, b] }, _) => {
                let length = (a[0] - b[0]).hypot(a[1] - b[1]);
                (none, length, in_plane(&[*a, *b]))
            }
        };
        let mass = match self {
            Self::Hull { .. } => mass,
            _ => MassProperties::of_shape(self, dimension)?,
        };
        Ok(ShapeMeasure { mass, size, radius })
    }
}

/// What a shape amounts to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeMeasure {
    /// Mass properties at density 1; [`MassProperties::NONE`] for segments, half-spaces, height fields and open meshes.
    pub mass: MassProperties,
    /// Smallest extent, the measure of slop and tolerances; infinite for surfaces without thickness. Of a hull or polygon
    /// the smallest distance of a face from the point opposite to it.
    pub size: f64,
    /// Largest distance of a point of the shape from the origin of its frame.
    pub radius: f64,
}

/// Thickness over size below which hulls and polygons count as flat.
pub(super) const FLAT: f64 = 1e-9;

/// Largest side of the bounding box.
pub(super) fn extent(points: impl Iterator<Item = [f64; 3]>) -> f64 {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for p in points {
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    let sides = sub(high, low);
    sides[0].max(sides[1]).max(sides[2])
}

/// Enough points, all of them finite.
pub(super) fn check_points<const N: usize>(
    shape: &'static str,
    points: &[[f64; N]],
    needed: usize,
) -> Result<(), ShapeError> {
    let found = points.len();
    if found < needed {
        return Err(ShapeError::FewPoints {
            shape,
            needed,
            found,
        });
    }
    let index = points.iter().position(|p| !p.iter().all(|x| x.is_finite()));
    index.map_or(Ok(()), |index| Err(ShapeError::NotFinite { shape, index }))
}

fn polygon_width(points: &[[f64; 2]]) -> f64 {
    let n = points.len();
    (0..n)
        .map(|i| {
            let (a, b) = (points[i], points[(i + 1) % n]);
            let edge = [b[0] - a[0], b[1] - a[1]];
            let length = edge[0].hypot(edge[1]);
            points
                .iter()
                .map(|p| (edge[0] * (p[1] - a[1]) - edge[1] * (p[0] - a[0])) / length)
                .fold(0.0, f64::max)
        })
        .fold(f64::INFINITY, f64::min)
}
