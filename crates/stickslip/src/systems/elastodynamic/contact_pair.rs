//! Contact of nodes with rigid obstacles and with surfaces of other bodies.

use std::sync::Arc;

use crate::algebra::Covectors;
use crate::systems::functions::{FrameRows, ScalarFunction};

use super::nodes::{NONE, NodeMap};
use super::obstacle::{Obstacle, frame_axes};

/// Node against a rigid obstacle: gap and frame.
#[derive(Clone, Debug)]
pub(crate) struct NodeOnObstacle {
    pub nodes: Arc<NodeMap>,
    pub node: u32,
    pub obstacle: Arc<Obstacle>,
}

impl NodeOnObstacle {
    fn hit(&self, t: f64, q: &[f64]) -> (f64, [f64; 3]) {
        self.obstacle.gap(t, self.nodes.position(t, q, self.node))
    }

    /// Velocity of the node minus that of the obstacle, at rest of all free nodes.
    fn slip(&self, t: f64) -> [f64; 3] {
        let (a, b) = (
            self.nodes.given_velocity(t, self.node),
            self.obstacle.velocity(t),
        );
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl ScalarFunction for NodeOnObstacle {
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        self.hit(t, q).0
    }
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (_, normal) = self.hit(t, q);
        self.nodes
            .visit(self.node, normal, 1.0, |dof, value| out[dof] += value);
    }
    fn sparse_gradient(&self, t: f64, q: &[f64], out: &mut Covectors) -> bool {
        let (_, normal) = self.hit(t, q);
        self.nodes.push_row(&[(self.node, 1.0)], normal, out);
        true
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        let (_, normal) = self.hit(t, q);
        dot(normal, self.slip(t))
    }
}

impl FrameRows for NodeOnObstacle {
    fn rows(&self, t: f64, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (_, normal) = self.hit(t, q);
        let space = self.nodes.space;
        let axes = self.obstacle.axes(normal, space);
        let n = self.nodes.free_count;
        for (row, axis) in out.chunks_mut(n).zip(axes).take(space) {
            self.nodes
                .visit(self.node, axis, 1.0, |dof, value| row[dof] += value);
        }
    }
    fn sparse_rows(&self, t: f64, q: &[f64], out: &mut Covectors) -> bool {
        let (_, normal) = self.hit(t, q);
        let space = self.nodes.space;
        for axis in self.obstacle.axes(normal, space).into_iter().take(space) {
            self.nodes.push_row(&[(self.node, 1.0)], axis, out);
        }
        true
    }
    fn drift(&self, t: f64, q: &[f64], out: &mut [f64]) {
        let (_, normal) = self.hit(t, q);
        let slip = self.slip(t);
        for (o, axis) in out
            .iter_mut()
            .zip(self.obstacle.axes(normal, self.nodes.space))
        {
            *o += dot(axis, slip);
        }
    }
}

/// Surface of a deformable body: flat pieces between nodes, outward normals by their numbering
/// (counter-clockwise seen from outside in space, body to the left in the plane).
#[derive(Clone, Debug)]
pub(crate) struct MasterSurface {
    pub nodes: Arc<NodeMap>,
    pub pieces: Vec<[u32; 3]>,
    /// Deepest penetration that still counts as contact.
    pub depth: f64,
}

/// Nearest point of a master surface.
struct Hit {
    gap: f64,
    normal: [f64; 3],
    weights: [(u32, f64); 3],
    count: usize,
}

/// A node of one body against the surface of another.
#[derive(Clone, Debug)]
pub(crate) struct NodeOnSurface {
    pub node: u32,
    pub surface: Arc<MasterSurface>,
}

impl NodeOnSurface {
    fn hit(&self, t: f64, q: &[f64]) -> Hit {
        let nodes = &self.surface.nodes;
        let x = nodes.position(t, q, self.node);
        let mut best = f64::INFINITY;
        let mut hit = Hit {
            gap: f64::INFINITY,
            normal: [0.0, 1.0, 0.0],
            weights: [(0, 0.0); 3],
            count: 0,
        };
        let mut alignment = 0.0;
        for piece in &self.surface.pieces {
            let count = if piece[2] == NONE { 2 } else { 3 };
            let mut p = [[0.0; 3]; 3];
            for (p, &n) in p.iter_mut().zip(piece).take(count) {
                *p = nodes.position(t, q, n);
            }
            let (weights, normal) = if count == 2 {
                nearest_on_segment(x, p[0], p[1])
            } else {
                nearest_on_triangle(x, p)
            };
            let mut d = x;
            for (w, p) in weights.iter().zip(&p).take(count) {
                for (d, p) in d.iter_mut().zip(p) {
                    *d -= w * p;
                }
            }
            let distance = dot(d, d).sqrt();
            let height = dot(d, normal);
            // At a shared edge both pieces are equally near: the one faced more directly decides.
            let tie = (distance - best).abs() <= 1e-12 * (distance + best);
            if (tie && height.abs() > alignment) || (!tie && distance < best) {
                best = distance.min(best);
                alignment = height.abs();
                let interior = (distance - height.abs()).abs() <= 1e-9 * distance
                    || distance <= f64::MIN_POSITIVE;
                let sign = if height < 0.0 { -1.0 } else { 1.0 };
                hit.gap = sign * distance;
                hit.normal = if interior || distance == 0.0 {
                    normal
                } else {
                    d.map(|d| sign * d / distance)
                };
                hit.count = count;
                for k in 0..count {
                    hit.weights[k] = (piece[k], weights[k]);
                }
            }
        }
        if hit.gap < -self.surface.depth {
            // Behind the surface altogether: not a contact of this side.
            hit.gap = -hit.gap;
        }
        hit
    }

    fn participants(&self, hit: &Hit) -> [(u32, f64); 4] {
        let mut out = [
            (self.node, 1.0),
            (self.node, 0.0),
            (self.node, 0.0),
            (self.node, 0.0),
        ];
        for (out, &(node, weight)) in out[1..].iter_mut().zip(&hit.weights[..hit.count]) {
            *out = (node, -weight);
        }
        out
    }

    fn slip(&self, t: f64, hit: &Hit) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (node, factor) in self.participants(hit) {
            let v = self.surface.nodes.given_velocity(t, node);
            for (o, v) in out.iter_mut().zip(v) {
                *o += factor * v;
            }
        }
        out
    }
}

impl ScalarFunction for NodeOnSurface {
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        self.hit(t, q).gap
    }
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let hit = self.hit(t, q);
        for (node, factor) in self.participants(&hit) {
            self.surface
                .nodes
                .visit(node, hit.normal, factor, |dof, value| out[dof] += value);
        }
    }
    fn sparse_gradient(&self, t: f64, q: &[f64], out: &mut Covectors) -> bool {
        let hit = self.hit(t, q);
        self.surface
            .nodes
            .push_row(&self.participants(&hit), hit.normal, out);
        true
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        let hit = self.hit(t, q);
        dot(hit.normal, self.slip(t, &hit))
    }
}

impl FrameRows for NodeOnSurface {
    fn rows(&self, t: f64, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let hit = self.hit(t, q);
        let nodes = &self.surface.nodes;
        let axes = frame_axes(hit.normal, nodes.space, None);
        for (row, axis) in out.chunks_mut(nodes.free_count).zip(axes) {
            for (node, factor) in self.participants(&hit) {
                nodes.visit(node, axis, factor, |dof, value| row[dof] += value);
            }
        }
    }
    fn sparse_rows(&self, t: f64, q: &[f64], out: &mut Covectors) -> bool {
        let hit = self.hit(t, q);
        let nodes = &self.surface.nodes;
        let participants = self.participants(&hit);
        let axes = frame_axes(hit.normal, nodes.space, None);
        for axis in axes.into_iter().take(nodes.space) {
            nodes.push_row(&participants, axis, out);
        }
        true
    }
    fn drift(&self, t: f64, q: &[f64], out: &mut [f64]) {
        let hit = self.hit(t, q);
        let slip = self.slip(t, &hit);
        let axes = frame_axes(hit.normal, self.surface.nodes.space, None);
        for (o, axis) in out.iter_mut().zip(axes) {
            *o += dot(axis, slip);
        }
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Weights of the nearest point of a segment in the plane and the normal to its right, which is
/// outside when the body lies to the left.
fn nearest_on_segment(x: [f64; 3], a: [f64; 3], b: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let d = sub(b, a);
    let square = dot(d, d);
    let s = if square > 0.0 {
        (dot(sub(x, a), d) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let length = square.sqrt().max(f64::MIN_POSITIVE);
    ([1.0 - s, s, 0.0], [d[1] / length, -d[0] / length, 0.0])
}

/// Barycentric weights of the nearest point of a triangle and its normal.
fn nearest_on_triangle(x: [f64; 3], p: [[f64; 3]; 3]) -> ([f64; 3], [f64; 3]) {
    let (ab, ac, ap) = (sub(p[1], p[0]), sub(p[2], p[0]), sub(x, p[0]));
    let normal = [
        ab[1] * ac[2] - ab[2] * ac[1],
        ab[2] * ac[0] - ab[0] * ac[2],
        ab[0] * ac[1] - ab[1] * ac[0],
    ];
    let length = dot(normal, normal).sqrt().max(f64::MIN_POSITIVE);
    let normal = normal.map(|n| n / length);
    // Solve the least-squares problem in the plane of the triangle; clamp to an edge if outside.
    let (d1, d2, d3) = (dot(ab, ab), dot(ab, ac), dot(ac, ac));
    let (e1, e2) = (dot(ap, ab), dot(ap, ac));
    let det = d1 * d3 - d2 * d2;
    if det > 0.0 {
        let v = (d3 * e1 - d2 * e2) / det;
        let w = (d1 * e2 - d2 * e1) / det;
        if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
            return ([1.0 - v - w, v, w], normal);
        }
    }
    let mut best = f64::INFINITY;
    let mut weights = [1.0, 0.0, 0.0];
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let (s, _) = nearest_on_segment(x, p[i], p[j]);
        let y = [0, 1, 2].map(|k| s[0] * p[i][k] + s[1] * p[j][k]);
        let d = sub(x, y);
        let distance = dot(d, d);
        if distance < best {
            best = distance;
            weights = [0.0; 3];
            weights[i] = s[0];
            weights[j] = s[1];
        }
    }
    (weights, normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_point_of_a_triangle_inside_edge_and_corner() {
        let p = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let (w, n) = nearest_on_triangle([0.25, 0.25, 2.0], p);
        assert_eq!((w, n), ([0.5, 0.25, 0.25], [0.0, 0.0, 1.0]));
        let (w, _) = nearest_on_triangle([0.5, -1.0, 1.0], p);
        assert_eq!(w, [0.5, 0.5, 0.0]);
        let (w, _) = nearest_on_triangle([-1.0, -1.0, 0.0], p);
        assert_eq!(w, [1.0, 0.0, 0.0]);
        let (w, _) = nearest_on_triangle([1.0, 1.0, 0.0], p);
        assert_eq!(w, [0.0, 0.5, 0.5]);
    }
}
