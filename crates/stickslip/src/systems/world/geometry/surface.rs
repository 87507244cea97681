//! Surfaces of bodies for pictures and files: points and faces.

use super::polyhedron::Polyhedron;
use super::triangle_mesh::TriangleMesh;
use crate::systems::world::{Dimension, Shape, WorldBody};

/// Points and faces (corners in order around each) in the frame of a body; in the plane the faces are the areas themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Points.
    pub points: Vec<[f64; 3]>,
    /// Faces as lists of points.
    pub faces: Vec<Vec<u32>>,
}

/// Corners of a circle.
const AROUND: usize = 24;
/// Rings of a half-ball.
const RINGS: usize = 4;

impl WorldBody {
    /// The surface of the body's shapes in its frame; half-spaces have none, round shapes are faceted.
    #[must_use]
    pub(crate) fn surface(&self, dimension: Dimension) -> Surface {
        let mut all = Surface::default();
        for placed in &self.shapes {
            let part = of_shape(&placed.shape, dimension);
            let first = all.points.len() as u32;
            let points = part.points.iter().map(|&p| placed.pose.point(p));
            all.points.extend(points);
            let faces = part.faces.into_iter();
            all.faces
                .extend(faces.map(|face| face.into_iter().map(|k| k + first).collect()));
        }
        all
    }
}

fn of_shape(shape: &Shape, dimension: Dimension) -> Surface {
    let plane = dimension == Dimension::Plane;
    match shape {
        Shape::Ball { radius } if plane => outline(&circle(*radius, 0.0)),
        Shape::Ball { radius } => revolved(&capped(*radius, 0.0)),
        Shape::Box { sides: [a, b, _] } if plane => {
            let (x, y) = (0.5 * a, 0.5 * b);
            outline(&[[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
        }
        Shape::Box { sides } => polyhedron(&Polyhedron::cuboid(*sides)),
        Shape::Capsule { radius, length } if plane => {
            let half = AROUND / 2;
            let point = |k: usize| {
                let side = if k <= half { 1.0 } else { -1.0 };
                let step = k % (half + 1);
                let angle = std::f64::consts::PI * (step as f64 / half as f64 - 0.5);
                let (sin, cos) = angle.sin_cos();
                [
                    side * (0.5 * length + radius * cos),
                    side * radius * sin,
                    0.0,
                ]
            };
            outline(&(0..2 * half + 2).map(point).collect::<Vec<_>>())
        }
        Shape::Capsule { radius, length } => revolved(&capped(*radius, *length)),
        Shape::Cylinder { radius, length } => {
            let z = 0.5 * length;
            revolved(&[[0.0, -z], [*radius, -z], [*radius, z], [0.0, z]])
        }
        Shape::Cone { radius, length } => {
            let z = 0.5 * length;
            revolved(&[[0.0, -z], [*radius, -z], [0.0, z]])
        }
        Shape::Hull { points } => {
            Polyhedron::hull(points).map_or_else(|_| Surface::default(), |hull| polyhedron(&hull))
        }
        Shape::Mesh {
            vertices,
            triangles,
        } => Surface {
            points: vertices.to_vec(),
            faces: triangles.iter().map(|t| t.to_vec()).collect(),
        },
        Shape::HeightField {
            values,
            counts,
            size,
        } => {
            let Ok(mesh) = TriangleMesh::height_field(values, *counts, *size) else {
                return Surface::default();
            };
            let count = 2 * (counts[0] - 1) * (counts[1] - 1);
            let points: Vec<[f64; 3]> = (0..count).flat_map(|t| mesh.corners(t)).collect();
            let faces = (0..count as u32).map(|t| vec![3 * t, 3 * t + 1, 3 * t + 2]);
            Surface {
                points,
                faces: faces.collect(),
            }
        }
        Shape::HalfSpace { .. } => Surface::default(),
        Shape::Polygon { points } => {
            outline(&points.iter().map(|p| [p[0], p[1], 0.0]).collect::<Vec<_>>())
        }
        Shape::Segment { ends } => outline(&ends.map(|p| [p[0], p[1], 0.0])),
    }
}

fn outline(points: &[[f64; 3]]) -> Surface {
    Surface {
        points: points.to_vec(),
        faces: vec![(0..points.len() as u32).collect()],
    }
}

fn circle(radius: f64, z: f64) -> Vec<[f64; 3]> {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / AROUND as f64;
    (0..AROUND)
        .map(|k| [radius * angle(k).cos(), radius * angle(k).sin(), z])
        .collect()
}

fn polyhedron(hull: &Polyhedron) -> Surface {
    let mut surface = Surface::default();
    for face in hull.faces() {
        let first = surface.points.len() as u32;
        surface.points.extend(hull.corners(face));
        surface
            .faces
            .push((first..surface.points.len() as u32).collect());
    }
    surface
}

/// Meridian (radius, height) of a ball or capsule, from bottom to top.
fn capped(radius: f64, length: f64) -> Vec<[f64; 2]> {
    let mut meridian = Vec::new();
    for k in 0..=2 * RINGS + 1 {
        // The equator is there twice, once for each half.
        let step = if k <= RINGS { k } else { k - 1 };
        let side = if k <= RINGS { -0.5 } else { 0.5 };
        let angle = std::f64::consts::FRAC_PI_2 * (step as f64 / RINGS as f64 - 1.0);
        meridian.push([radius * angle.cos(), radius * angle.sin() + side * length]);
    }
    if length == 0.0 {
        meridian.remove(RINGS);
    }
    // The poles lie on the axis.
    let last = meridian.len() - 1;
    (meridian[0][0], meridian[last][0]) = (0.0, 0.0);
    meridian
}

/// Faces of a meridian turned about z; points on the axis are poles.
fn revolved(meridian: &[[f64; 2]]) -> Surface {
    let mut surface = Surface::default();
    let mut rings: Vec<(u32, bool)> = Vec::new();
    for &[radius, z] in meridian {
        let first = surface.points.len() as u32;
        if radius == 0.0 {
            surface.points.push([0.0, 0.0, z]);
        } else {
            surface.points.extend(circle(radius, z));
        }
        rings.push((first, radius == 0.0));
    }
    for pair in rings.windows(2) {
        let ((low, low_pole), (high, high_pole)) = (pair[0], pair[1]);
        for k in 0..AROUND as u32 {
            let next = (k + 1) % AROUND as u32;
            match (low_pole, high_pole) {
                (true, true) => {}
                (true, false) => surface.faces.push(vec![low, high + next, high + k]),
                (false, true) => surface.faces.push(vec![low + k, low + next, high]),
                (false, false) => {
                    let face = vec![low + k, low + next, high + next, high + k];
                    surface.faces.push(face);
                }
            }
        }
    }
    surface
}
