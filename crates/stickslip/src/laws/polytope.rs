//! Convex hull of finitely many points: polygons in the plane of contact and their like.
//!
//! # What it computes
//!
//! D = conv{d_1, …, d_k} with 0 ∈ D; support max_i s·d_i; projection on r D.
//!
//! # Source
//!
//! Polyhedral friction as in [Paoli2015] (any closed convex D); projection in the plane edge by
//! edge, otherwise by [Wolfe1976].
//!
//! # Guarantees
//!
//! In the plane the vertices are kept in counterclockwise order without interior points, and the
//! projection is exact to rounding.
//!
//! # Behaviour to know
//!
//! A polygon that does not contain 0 is refused: friction could then drive a contact.
//!
//! # Cost
//!
//! k dot products for a support, k edges for a projection in the plane.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use super::LawError;
use super::nearest_point::nearest_point;
use crate::algebra::small_dense::{dot, norm};

/// Convex hull of finitely many points of R^d that contains 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    dimension: usize,
    vertices: Vec<f64>,
}

impl Polytope {
    /// The hull of `vertices`, each with the same number of coordinates.
    pub fn new(vertices: &[Vec<f64>]) -> Result<Self, LawError> {
        let dimension = vertices.first().map_or(0, Vec::len);
        if dimension == 0 {
            return Err(LawError::NoVertices);
        }
        for (index, vertex) in vertices.iter().enumerate() {
            if vertex.len() != dimension {
                return Err(LawError::VertexDimension {
                    index,
                    expected: dimension,
                    found: vertex.len(),
                });
            }
            if let Some(&value) = vertex.iter().find(|x| !x.is_finite()) {
                return Err(LawError::VertexNotFinite { index, value });
            }
        }
        let kept = if dimension == 2 {
            planar_hull(vertices)
        } else {
            vertices.to_vec()
        };
        let polytope = Polytope {
            dimension,
            vertices: kept.concat(),
        };
        // 0 must belong to the set, up to rounding of the vertices.
        let mut nearest = vec![0.0; dimension];
        polytope.project(&vec![0.0; dimension], 1.0, &mut nearest);
        let distance = norm(&nearest);
        let size = polytope.vertices().map(norm).fold(0.0, f64::max);
        if distance > 1e-12 * size {
            return Err(LawError::OriginOutside { distance });
        }
        Ok(polytope)
    }

    /// Number of coordinates.
    #[inline]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vertices; counterclockwise in the plane.
    pub fn vertices(&self) -> impl Iterator<Item = &[f64]> {
        self.vertices.chunks_exact(self.dimension)
    }

    /// Number of vertices.
    #[inline]
    pub fn len(&self) -> usize {
        self.vertices.len() / self.dimension
    }

    /// Never true: a polytope has at least one vertex.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Largest value of direction·x.
    pub fn support(&self, direction: &[f64]) -> f64 {
        self.vertices()
            .map(|v| dot(v, direction))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// A vertex where the support is attained, the first of several.
    pub fn support_point(&self, direction: &[f64], out: &mut [f64]) {
        let mut best = f64::NEG_INFINITY;
        for vertex in self.vertices() {
            let value = dot(vertex, direction);
            if value > best {
                best = value;
                out.copy_from_slice(vertex);
            }
        }
    }

    /// Nearest point of `scale` times the set.
    pub fn project(&self, point: &[f64], scale: f64, out: &mut [f64]) {
        if scale <= 0.0 {
            out.fill(0.0);
        } else if self.dimension == 2 {
            self.project_in_plane(point, scale, out);
        } else {
            nearest_point(point, out, |direction, vertex| {
                self.support_point(direction, vertex);
                vertex.iter_mut().for_each(|x| *x *= scale);
            });
        }
    }

    fn project_in_plane(&self, x: &[f64], scale: f64, out: &mut [f64]) {
        let k = self.len();
        let vertex = |i: usize| {
            [
                scale * self.vertices[2 * (i % k)],
                scale * self.vertices[2 * (i % k) + 1],
            ]
        };
        // Whether a point is nearer than another one: by the difference of both distances, which keeps its digits for a point far away.
        let nearer = |n: &[f64; 2], m: &[f64]| {
            let part = |i: usize| (m[i] - n[i]) * ((x[i] - n[i]) + (x[i] - m[i]));
            part(0) + part(1) < 0.0
        };
        let mut outside = k < 3;
        for i in 0..k {
            let (a, b) = (vertex(i), vertex(i + 1));
            let edge = [b[0] - a[0], b[1] - a[1]];
            let relative = [x[0] - a[0], x[1] - a[1]];
            if edge[0] * relative[1] - edge[1] * relative[0] < 0.0 {
                outside = true;
            }
            let length = dot(&edge, &edge);
            let t = if length > 0.0 {
                (dot(&edge, &relative) / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            // The far end exactly, so that a vertex is its own projection.
            let nearest = if t == 1.0 {
                b
            } else {
                [a[0] + t * edge[0], a[1] + t * edge[1]]
            };
            if i == 0 || nearer(&nearest, out) {
                out.copy_from_slice(&nearest);
            }
        }
        if !outside {
            out.copy_from_slice(x);
        }
    }
}

/// Andrew's monotone chain: hull vertices, counterclockwise.
fn planar_hull(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let turn = |a: &[f64], b: &[f64], c: &[f64]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let mut hull: Vec<Vec<f64>> = Vec::new();
    for pass in 0..2 {
        let start = hull.len();
        for i in 0..sorted.len() {
            let point = if pass == 0 {
                &sorted[i]
            } else {
                &sorted[sorted.len() - 1 - i]
            };
            while hull.len() >= start + 2
                && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], point) <= 0.0
            {
                hull.pop();
            }
            hull.push(point.clone());
        }
        // The last point starts the other chain.
        hull.pop();
    }
    hull
}
