//! Contact of nodes with rigid obstacles and with surfaces of other bodies.

use std::sync::Arc;

use crate::algebra::Covectors;
use crate::systems::functions::{FrameRows, ScalarFunction};

use super::master_surface::{Hit, MasterSurface};
use super::nodes::NodeMap;
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

fn largest(x: [f64; 3]) -> f64 {
    x.iter().fold(0.0, |s, x| x.abs().max(s))
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
    fn magnitude(&self, t: f64, q: &[f64]) -> f64 {
        largest(self.nodes.position(t, q, self.node))
    }
    fn is_affine(&self) -> bool {
        self.obstacle.is_at_rest() && self.obstacle.is_flat() && !self.nodes.is_driven(self.node)
    }
    fn can_drift(&self) -> bool {
        !self.obstacle.is_flat()
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

/// A node of one body against the surface of another.
#[derive(Clone, Debug)]
pub(crate) struct NodeOnSurface {
    pub node: u32,
    pub surface: Arc<MasterSurface>,
}

impl NodeOnSurface {
    fn hit(&self, t: f64, q: &[f64]) -> Hit {
        let x = self.surface.nodes.position(t, q, self.node);
        self.surface.nearest(t, q, x)
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
    fn magnitude(&self, t: f64, q: &[f64]) -> f64 {
        largest(self.surface.nodes.position(t, q, self.node))
    }
    fn can_drift(&self) -> bool {
        false
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
