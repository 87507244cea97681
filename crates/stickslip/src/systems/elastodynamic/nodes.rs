//! Degrees of freedom of the nodes of a mesh: free, held, or moved in a given way.

use std::sync::Arc;

use crate::algebra::Covectors;

/// Displacement, velocity and acceleration at a time.
pub type Motion = Arc<dyn Fn(f64) -> [f64; 3] + Send + Sync>;

pub(crate) const NONE: u32 = u32::MAX;

/// Where the displacement of each node is found.
#[derive(Clone)]
pub struct NodeMap {
    pub(crate) space: usize,
    pub(crate) x: Vec<[f64; 3]>,
    /// First degree of freedom of each node (of all, free or not); one more entry at the end.
    pub(crate) first: Vec<u32>,
    /// Number among the free ones, or NONE.
    pub(crate) free: Vec<u32>,
    /// Number of the motion of a held one, or NONE where it does not move.
    pub(crate) motion: Vec<u32>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) free_count: usize,
}

impl std::fmt::Debug for NodeMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NodeMap({} free)", self.free_count)
    }
}

impl NodeMap {
    /// Reference position of a node.
    pub fn reference(&self, node: u32) -> [f64; 3] {
        self.x[node as usize]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Degrees of freedom of a node, free or not.
    pub(crate) fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Index of a free component, or none where it is held or does not exist.
    pub fn free_dof(&self, node: u32, component: usize) -> Option<usize> {
        let range = self.range(node);
        let dof = range.start + component;
        (dof < range.end && self.free[dof] != NONE).then(|| self.free[dof] as usize)
    }

    /// Whether a component of a node moves in a given way.
    pub(crate) fn is_driven(&self, node: u32) -> bool {
        self.range(node)
            .any(|dof| self.free[dof] == NONE && self.motion[dof] != NONE)
    }

    /// Displacement of a node (translations only).
    pub fn displacement(&self, t: f64, q: &[f64], node: u32) -> [f64; 3] {
        self.read(t, q, node, 0)
    }

    /// Velocity of a node (translations only).
    pub fn velocity(&self, t: f64, v: &[f64], node: u32) -> [f64; 3] {
        self.read(t, v, node, 1)
    }

    fn read(&self, t: f64, values: &[f64], node: u32, derivative: usize) -> [f64; 3] {
        let range = self.range(node);
        let mut out = [0.0; 3];
        for (k, out) in out.iter_mut().enumerate().take(self.space.min(range.len())) {
            let dof = range.start + k;
            if self.free[dof] != NONE {
                *out = values[self.free[dof] as usize];
            } else if self.motion[dof] != NONE {
                *out = self.motions[self.motion[dof] as usize](t)[derivative];
            }
        }
        out
    }

    /// Current position of a node.
    pub fn position(&self, t: f64, q: &[f64], node: u32) -> [f64; 3] {
        let u = self.displacement(t, q, node);
        let x = self.x[node as usize];
        [x[0] + u[0], x[1] + u[1], x[2] + u[2]]
    }

    /// Velocity that a node has through given motions alone.
    pub(crate) fn given_velocity(&self, t: f64, node: u32) -> [f64; 3] {
        let range = self.range(node);
        let mut out = [0.0; 3];
        for (k, out) in out.iter_mut().enumerate().take(self.space.min(range.len())) {
            let dof = range.start + k;
            if self.free[dof] == NONE && self.motion[dof] != NONE {
                *out = self.motions[self.motion[dof] as usize](t)[1];
            }
        }
        out
    }

    /// Visits the free components of `factor · axis` at a node.
    pub(crate) fn visit(
        &self,
        node: u32,
        axis: [f64; 3],
        factor: f64,
        mut visit: impl FnMut(usize, f64),
    ) {
        let range = self.range(node);
        for (k, a) in axis
            .into_iter()
            .enumerate()
            .take(self.space.min(range.len()))
        {
            let free = self.free[range.start + k];
            if free != NONE && a != 0.0 {
                visit(free as usize, factor * a);
            }
        }
    }

    /// Adds a sparse row `Σ factor_i axis · velocity of node_i`.
    pub(crate) fn push_row(&self, nodes: &[(u32, f64)], axis: [f64; 3], out: &mut Covectors) {
        for &(node, factor) in nodes {
            self.visit(node, axis, factor, |dof, value| out.push_entry(dof, value));
        }
        out.finish_row();
    }
}
