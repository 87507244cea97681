//! Surfaces of deformable bodies and the search for their nearest point.

use std::sync::{Arc, RwLock};

use super::nodes::{NONE, NodeMap};

/// Pieces in a leaf of the tree.
const LEAF: usize = 4;

/// Rounding of a vector between two places in units of their coordinates.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Surface of a deformable body: flat pieces between nodes, outward normals by their numbering
/// (counter-clockwise seen from outside in space, body to the left in the plane).
///
/// A tree of boxes whose topology comes from the mesh at rest finds the nearest piece. Its boxes
/// belong to one configuration; they are kept, and a query in another configuration fits them
/// anew. The answer is that of trying all pieces in their order, bit for bit.
#[derive(Debug)]
pub(crate) struct MasterSurface {
    pub nodes: Arc<NodeMap>,
    pieces: Vec<[u32; 3]>,
    /// Deepest penetration that still counts as contact.
    depth: f64,
    /// Largest coordinate of the surface at rest.
    reach: f64,
    /// Free degrees of freedom of the surface.
    dofs: Vec<u32>,
    /// Whether nodes move in a given way, so that time matters besides q.
    driven: bool,
    branches: Vec<Branch>,
    /// Pieces in the order of the leaves.
    order: Vec<u32>,
    fitted: RwLock<Option<Arc<Fitted>>>,
}

/// A branch of the tree: two branches below, or a range of pieces.
#[derive(Clone, Copy, Debug)]
enum Branch {
    Fork(u32, u32),
    Leaf(u32, u32),
}

/// Smallest box around some pieces.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

/// Boxes of one configuration.
#[derive(Debug)]
struct Fitted {
    t: f64,
    values: Vec<f64>,
    bounds: Vec<Bounds>,
}

/// Nearest point of a master surface.
pub(crate) struct Hit {
    pub gap: f64,
    pub normal: [f64; 3],
    pub weights: [(u32, f64); 3],
    pub count: usize,
}

impl Bounds {
    const EMPTY: Self = Self {
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
    };

    fn add(&mut self, x: [f64; 3]) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(x[k]);
            self.high[k] = self.high[k].max(x[k]);
        }
    }

    fn joined(self, other: Self) -> Self {
        let mut out = self;
        out.add(other.low);
        out.add(other.high);
        out
    }

    /// Distance of a point from the box.
    fn distance(&self, x: [f64; 3]) -> f64 {
        let out = |k: usize| (self.low[k] - x[k]).max(x[k] - self.high[k]).max(0.0);
        dot([out(0), out(1), out(2)], [out(0), out(1), out(2)]).sqrt()
    }
}

impl MasterSurface {
    pub fn new(nodes: Arc<NodeMap>, pieces: Vec<[u32; 3]>, depth: f64) -> Self {
        let mut members: Vec<u32> = pieces
            .iter()
            .flatten()
            .copied()
            .filter(|&n| n != NONE)
            .collect();
        members.sort_unstable();
        members.dedup();
        let places = members.iter().flat_map(|&n| nodes.reference(n));
        let reach = places.fold(0.0, |m: f64, x| m.max(x.abs()));
        let components = |n: u32| (0..nodes.space).map(move |k| (n, k));
        let all = members.iter().flat_map(|&n| components(n));
        let dofs: Vec<u32> = all
            .clone()
            .filter_map(|(n, k)| nodes.free_dof(n, k).map(|d| d as u32))
            .collect();
        let driven = dofs.len() < all.count() && !nodes.motions.is_empty();
        let mut surface = Self {
            order: (0..pieces.len() as u32).collect(),
            nodes,
            pieces,
            depth,
            reach,
            dofs,
            driven,
            branches: Vec::new(),
            fitted: RwLock::new(None),
        };
        if !surface.pieces.is_empty() {
            surface.divide(0, surface.order.len());
        }
        surface
    }

    /// Length below which a vector from the surface to `x` has no direction but that of rounding.
    fn rounding(&self, x: [f64; 3]) -> f64 {
        let largest = x.iter().fold(self.reach, |m, x| m.max(x.abs()));
        ROUNDING * largest
    }

    fn corners(&self, piece: u32) -> impl Iterator<Item = u32> + '_ {
        let nodes = &self.pieces[piece as usize];
        nodes.iter().copied().filter(|&n| n != NONE)
    }

    /// Builds the branch over a range of the order; returns its number.
    fn divide(&mut self, start: usize, end: usize) -> u32 {
        let number = self.branches.len() as u32;
        self.branches.push(Branch::Leaf(start as u32, end as u32));
        if end - start <= LEAF {
            return number;
        }
        let centre = |piece: u32, k: usize| -> f64 {
            let nodes = self.corners(piece);
            nodes.map(|n| self.nodes.reference(n)[k]).sum()
        };
        // Halves along the longest extent of the centres.
        let mut bounds = Bounds::EMPTY;
        for &piece in &self.order[start..end] {
            bounds.add([0, 1, 2].map(|k| centre(piece, k)));
        }
        let extent = |k: usize| bounds.high[k] - bounds.low[k];
        let axis = (1..3).fold(0, |best, k| if extent(k) > extent(best) { k } else { best });
        let mut part: Vec<(f64, u32)> = self.order[start..end]
            .iter()
            .map(|&piece| (centre(piece, axis), piece))
            .collect();
        part.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (place, (_, piece)) in self.order[start..end].iter_mut().zip(part) {
            *place = piece;
        }
        let middle = start + (end - start) / 2;
        let left = self.divide(start, middle);
        let right = self.divide(middle, end);
        self.branches[number as usize] = Branch::Fork(left, right);
        number
    }

    /// The boxes of a configuration.
    fn fitted(&self, t: f64, q: &[f64]) -> Arc<Fitted> {
        let same = |fitted: &Fitted| {
            (!self.driven || fitted.t == t)
                && self
                    .dofs
                    .iter()
                    .zip(&fitted.values)
                    .all(|(&d, value)| q[d as usize] == *value)
        };
        // A lock is poisoned only by a panic inside it, where nothing panics.
        let kept = self.fitted.read().expect("not poisoned").clone();
        if let Some(kept) = kept.filter(|kept| same(kept)) {
            return kept;
        }
        let mut bounds = vec![Bounds::EMPTY; self.branches.len()];
        // Branches come before those below them.
        for (k, branch) in self.branches.iter().enumerate().rev() {
            bounds[k] = match *branch {
                Branch::Fork(a, b) => bounds[a as usize].joined(bounds[b as usize]),
                Branch::Leaf(start, end) => {
                    let mut leaf = Bounds::EMPTY;
                    for &piece in &self.order[start as usize..end as usize] {
                        for n in self.corners(piece) {
                            leaf.add(self.nodes.position(t, q, n));
                        }
                    }
                    leaf
                }
            };
        }
        let fitted = Arc::new(Fitted {
            t,
            values: self.dofs.iter().map(|&d| q[d as usize]).collect(),
            bounds,
        });
        *self.fitted.write().expect("not poisoned") = Some(fitted.clone());
        fitted
    }

    /// Pieces that may hold the nearest point of `x` or share it, in their order.
    fn candidates(&self, t: f64, q: &[f64], x: [f64; 3]) -> Vec<u32> {
        let fitted = self.fitted(t, q);
        let rounding = self.rounding(x);
        let mut best = f64::INFINITY;
        let mut out: Vec<(f64, u32)> = Vec::new();
        let mut stack = vec![0u32];
        while let Some(branch) = stack.pop() {
            if fitted.bounds[branch as usize].distance(x) > widened(best, rounding) {
                continue;
            }
            match self.branches[branch as usize] {
                Branch::Fork(a, b) => {
                    // The nearer branch first.
                    let distance = |k: u32| fitted.bounds[k as usize].distance(x);
                    let near_first = distance(a) <= distance(b);
                    stack.extend(if near_first { [b, a] } else { [a, b] });
                }
                Branch::Leaf(start, end) => {
                    for &piece in &self.order[start as usize..end as usize] {
                        let distance = self.measure(t, q, x, piece).distance;
                        best = best.min(distance);
                        out.push((distance, piece));
                    }
                }
            }
        }
        let mut pieces: Vec<u32> = out
            .into_iter()
            .filter(|(distance, _)| *distance <= widened(best, rounding))
            .map(|(_, piece)| piece)
            .collect();
        pieces.sort_unstable();
        pieces
    }

    fn measure(&self, t: f64, q: &[f64], x: [f64; 3], piece: u32) -> Measured {
        let nodes = &self.pieces[piece as usize];
        let count = if nodes[2] == NONE { 2 } else { 3 };
        let mut p = [[0.0; 3]; 3];
        for (p, &n) in p.iter_mut().zip(nodes).take(count) {
            *p = self.nodes.position(t, q, n);
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
        Measured {
            count,
            weights,
            normal,
            d,
            distance: dot(d, d).sqrt(),
        }
    }

    /// Nearest point to `x` in the configuration q at time t.
    pub fn nearest(&self, t: f64, q: &[f64], x: [f64; 3]) -> Hit {
        let pieces = if self.pieces.len() > LEAF {
            self.candidates(t, q, x)
        } else {
            (0..self.pieces.len() as u32).collect()
        };
        self.choose(t, q, x, &pieces)
    }

    /// The nearest point on some pieces.
    fn choose(&self, t: f64, q: &[f64], x: [f64; 3], pieces: &[u32]) -> Hit {
        let mut best = f64::INFINITY;
        let mut hit = Hit {
            gap: f64::INFINITY,
            normal: [0.0, 1.0, 0.0],
            weights: [(0, 0.0); 3],
            count: 0,
        };
        let rounding = self.rounding(x);
        let (mut alignment, mut touched, mut normals) = (0.0, 0, [0.0; 3]);
        for &piece in pieces {
            let Measured {
                count,
                weights,
                normal,
                d,
                distance,
            } = self.measure(t, q, x, piece);
            let height = dot(d, normal);
            let touches = distance <= rounding;
            if touches {
                touched += 1;
                (0..3).for_each(|k| normals[k] += normal[k]);
            }
            // At a shared edge both pieces are equally near: the one faced more directly decides.
            let near = (distance - best).abs() <= 1e-12 * (distance + best);
            let tie = best.is_finite() && (near || (touches && best <= rounding));
            if (tie && height.abs() > alignment) || (!tie && distance < best) {
                best = distance.min(best);
                alignment = height.abs();
                // What is left of d along the piece is rounding where the foot of x is inside it.
                let along: [f64; 3] = std::array::from_fn(|k| d[k] - height * normal[k]);
                let interior = (distance - height.abs()).abs() <= 1e-9 * distance
                    || dot(along, along).sqrt() <= rounding;
                let sign = if height < 0.0 { -1.0 } else { 1.0 };
                hit.gap = sign * distance;
                hit.normal = if interior {
                    normal
                } else {
                    d.map(|d| sign * d / distance)
                };
                hit.count = count;
                for k in 0..count {
                    hit.weights[k] = (self.pieces[piece as usize][k], weights[k]);
                }
            }
        }
        // On an edge or a corner there is no direction to it: the middle of the normals that meet there is one of those that
        // places just above it have.
        let length = dot(normals, normals).sqrt();
        if touched > 1 && length > 1e-9 {
            hit.normal = normals.map(|n| n / length);
        }
        if hit.gap < -self.depth {
            // Behind the surface altogether: not a contact of this side.
            hit.gap = -hit.gap;
        }
        hit
    }
}

/// Nearest point of one piece.
struct Measured {
    count: usize,
    weights: [f64; 3],
    normal: [f64; 3],
    d: [f64; 3],
    distance: f64,
}

/// A distance with room for pieces that count as equally near.
fn widened(distance: f64, rounding: f64) -> f64 {
    distance * (1.0 + 1e-9) + rounding
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

    /// A node on a face has the normal of that face whatever rounding left between them, on an edge and a corner one of those between
    /// the faces that meet there, and just above them the same within a rounding.
    #[test]
    fn a_node_on_the_surface_has_the_normal_of_its_faces() {
        let surface = |x: Vec<[f64; 3]>, pieces: Vec<[u32; 3]>, space: usize| {
            let count = x.len();
            let nodes = Arc::new(NodeMap {
                space,
                x,
                first: (0..=count as u32).map(|k| space as u32 * k).collect(),
                free: (0..(space * count) as u32).collect(),
                motion: vec![NONE; space * count],
                motions: Vec::new(),
                free_count: space * count,
            });
            MasterSurface::new(nodes, pieces, 0.5)
        };
        // The top of a block in five facets, from right to left, with its body below.
        let top = (0..=5).map(|k| [0.6 - 0.12 * f64::from(k), 0.2, 0.0]);
        let pieces = (0..5).map(|k| [k, k + 1, NONE]).collect();
        let block = surface(top.collect(), pieces, 2);
        let q = vec![0.0; 12];
        for x in [0.0, 0.06, 0.12, 0.13, 0.24, 0.43, 0.6] {
            for off in [0.0, 5.6e-17, -5.6e-17] {
                for height in [-5.6e-17, 0.0, 2.8e-17, 1e-14, 1e-9] {
                    let hit = block.nearest(0.0, &q, [x + off, 0.2 + height, 0.0]);
                    assert!((hit.normal[1] - 1.0).abs() < 1e-15, "{x} {off} {height}");
                    assert!((hit.gap - height).abs() < 1e-15);
                }
            }
        }
        // A roof of two right angles: its ridge leans to neither side.
        let x = vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]];
        let roof = surface(x, vec![[0, 1, NONE], [1, 2, NONE]], 2);
        for height in [0.0, 1e-17, 1e-3] {
            let hit = roof.nearest(0.0, &[0.0; 6], [0.0, 1.0 + height, 0.0]);
            assert!((hit.normal[1] - 1.0).abs() < 1e-15, "{height}");
        }
        // The corner of a cube with its three faces.
        let x = vec![
            [1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
        ];
        let faces = [
            [0, 1, 2],
            [0, 2, 3],
            [0, 3, 4],
            [0, 4, 5],
            [0, 5, 6],
            [0, 6, 1],
        ];
        let cube = surface(x, faces.to_vec(), 3);
        let q = vec![0.0; 21];
        let normal = |x: [f64; 3]| cube.nearest(0.0, &q, x).normal;
        for up in [0.0f64, 1.1e-16, -1.1e-16, 1e-9] {
            let inside = normal([0.3, 0.7, 1.0 + up]);
            assert!((inside[2] - 1.0).abs() < 1e-15, "{inside:?}");
            let edge = normal([1.0 + up, 0.3, 1.0 + up]);
            let half = 0.5f64.sqrt();
            let off = (edge[0] - half).abs() + edge[1].abs() + (edge[2] - half).abs();
            // Above the edge rounding is a part of the height.
            assert!(off < 1e-15 + 1e-15 / (up.abs().max(1e-9)), "{up} {edge:?}");
        }
        let corner = normal([1.0; 3]);
        assert!(corner.iter().all(|&n| n > 0.3), "{corner:?}");
    }

    #[test]
    fn the_tree_finds_what_trying_all_pieces_finds() {
        // A wavy surface of triangles, moved twice, and points above, below and beside it.
        let side = 12;
        let mut x = Vec::new();
        for j in 0..=side {
            for i in 0..=side {
                let (a, b) = (f64::from(i), f64::from(j));
                x.push([a, b, 0.3 * (a * 0.9).sin() * (b * 0.7).cos()]);
            }
        }
        let count = x.len();
        let at = |i: i32, j: i32| (j * (side + 1) + i) as u32;
        let mut pieces = Vec::new();
        for j in 0..side {
            for i in 0..side {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                pieces.extend([[a, b, c], [a, c, d]]);
            }
        }
        let nodes = Arc::new(NodeMap {
            space: 3,
            x,
            first: (0..=count as u32).map(|n| 3 * n).collect(),
            free: (0..3 * count as u32).collect(),
            motion: vec![NONE; 3 * count],
            motions: Vec::new(),
            free_count: 3 * count,
        });
        let surface = MasterSurface::new(nodes, pieces, 0.5);
        let all: Vec<u32> = (0..surface.pieces.len() as u32).collect();
        for move_by in [0.0, 0.4, -0.2] {
            let q: Vec<f64> = (0..3 * count)
                .map(|k| move_by * (k as f64 * 0.37).sin())
                .collect();
            for k in 0..400 {
                let s = f64::from(k);
                let x = [
                    13.0 * (s * 0.618).fract() - 0.5,
                    13.0 * (s * 0.414).fract() - 0.5,
                    2.0 * (s * 0.271).fract() - 1.0,
                ];
                let (a, b) = (
                    surface.nearest(0.0, &q, x),
                    surface.choose(0.0, &q, x, &all),
                );
                assert_eq!((a.gap, a.normal, a.weights), (b.gap, b.normal, b.weights));
            }
        }
        // A corner that many triangles share.
        let q = vec![0.0; 3 * count];
        let corner = surface.nodes.reference(at(5, 5));
        let (a, b) = (
            surface.nearest(0.0, &q, corner),
            surface.choose(0.0, &q, corner, &all),
        );
        assert_eq!((a.gap, a.normal, a.weights), (b.gap, b.normal, b.weights));
    }
}
