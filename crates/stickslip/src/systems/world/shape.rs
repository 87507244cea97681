//! Shapes of bodies.

use std::sync::Arc;

use super::Pose;

/// A shape in its own frame.
///
/// ```
/// use stickslip::systems::world::Shape;
///
/// let cone = Shape::cone(0.5, 1.0)?;
/// assert_eq!(cone, Shape::Cone { radius: 0.5, length: 1.0 });
/// assert!(Shape::ball(-1.0).is_err());
/// # Ok::<(), stickslip::systems::world::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Ball; in the plane a disc.
    Ball {
        /// Radius.
        radius: f64,
    },
    /// Box; in the plane a rectangle, whose third side is not read.
    Box {
        /// Full lengths of the sides.
        sides: [f64; 3],
    },
    /// Capsule along z; in the plane along x.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length between the centres of its caps.
        length: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
    },
    /// Cone along z, its tip at +z.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Height.
        length: f64,
    },
    /// Convex hull of points.
    Hull {
        /// The points.
        points: Arc<[[f64; 3]]>,
    },
    /// Triangle mesh, for fixed and driven bodies.
    Mesh {
        /// Corners.
        vertices: Arc<[[f64; 3]]>,
        /// Corners of each triangle, counterclockwise from outside.
        triangles: Arc<[[u32; 3]]>,
    },
    /// Heights over a rectangle in x and y, for fixed and driven bodies.
    HeightField {
        /// Heights, x fastest.
        values: Arc<[f64]>,
        /// Number of heights along x and along y.
        counts: [usize; 2],
        /// Sides of the rectangle, centred at the origin.
        size: [f64; 2],
    },
    /// Half-space through the origin, for fixed and driven bodies; in the plane a half-plane.
    HalfSpace {
        /// Outward normal of length one.
        normal: [f64; 3],
    },
    /// Convex polygon in the plane, counterclockwise.
    Polygon {
        /// Corners.
        points: Arc<[[f64; 2]]>,
    },
    /// Segment in the plane.
    Segment {
        /// Its ends.
        ends: [[f64; 2]; 2],
    },
}

/// A shape with its place in the frame of its body.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape.
    pub shape: Shape,
    /// Body from shape.
    pub pose: Pose,
}

impl From<Shape> for PlacedShape {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            pose: Pose::IDENTITY,
        }
    }
}
