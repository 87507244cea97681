//! Surfaces of triangles: neighbours, convexity of edges, search by box.

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector as Point;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

use super::shape::{ShapeError, extent};
use super::vector::{Vector, cross, direction, dot, norm, sub};

/// A surface of triangles that face outward, with what contact needs to know about its edges.
#[derive(Clone, Debug)]
pub(crate) struct TriangleMesh {
    vertices: Vec<Vector>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vector>,
    /// Per triangle and edge (from corner k to k + 1).
    edges: Vec<[MeshEdge; 3]>,
    /// The vertices joined to each by an edge: where those of each begin and end, and their numbers.
    fans: (Vec<u32>, Vec<u32>),
    tree: Bvh,
    closed: bool,
}

/// What lies beyond an edge of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeshEdge {
    /// Direction in the plane of the triangle, out over the edge.
    pub outward: Vector,
    /// The corner of the neighbour that is not on the edge; none at the rim of the surface.
    pub apex: Option<Vector>,
    /// Whether the neighbour does not fall off: it goes on in the plane or rises.
    pub hollow: bool,
}

impl TriangleMesh {
    pub fn new(vertices: &[Vector], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        if triangles.is_empty() {
            return Err(ShapeError::FewPoints {
                shape: "a mesh",
                needed: 3,
                found: vertices.len().min(2),
            });
        }
        if let Some(index) = vertices
            .iter()
            .position(|p| !p.iter().all(|x| x.is_finite()))
        {
            return Err(ShapeError::NotFinite {
                shape: "a mesh",
                index,
            });
        }
        let size = extent(vertices.iter().copied());
        let mut normals = Vec::with_capacity(triangles.len());
        for (index, t) in triangles.iter().enumerate() {
            if t.iter().any(|&k| k as usize >= vertices.len()) {
                let problem = "names a vertex that does not exist";
                return Err(ShapeError::Triangle { index, problem });
            }
            let [a, b, c] = t.map(|k| vertices[k as usize]);
            let area = cross(sub(b, a), sub(c, a));
            let longest = norm(sub(b, a)).max(norm(sub(c, b))).max(norm(sub(a, c)));
            match direction(area) {
                Some(normal) if norm(area) > 1e-12 * longest * size => normals.push(normal),
                _ => {
                    let problem = "has no area";
                    return Err(ShapeError::Triangle { index, problem });
                }
            }
        }
        let mut mesh = Self {
            vertices: vertices.to_vec(),
            triangles: triangles.to_vec(),
            normals,
            edges: Vec::new(),
            fans: (Vec::new(), Vec::new()),
            tree: Bvh::new(),
            closed: false,
        };
        mesh.find_neighbours(size);
        let boxes: Vec<Aabb> = (0..triangles.len())
            .map(|t| {
                let corners = mesh.corners(t);
                Aabb::from_points(corners.map(|p| Point::new(p[0], p[1], p[2])))
            })
            .collect();
        mesh.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        Ok(mesh)
    }

    /// Ground of given heights, x fastest, over a rectangle about the origin; every cell is two triangles.
    pub fn height_field(
        values: &[f64],
        counts: [usize; 2],
        size: [f64; 2],
    ) -> Result<Self, ShapeError> {
        let [nx, ny] = counts;
        let place = |k: usize, n: usize, s: f64| s * (k as f64 / (n - 1) as f64 - 0.5);
        let vertices: Vec<Vector> = (0..nx * ny)
            .map(|k| {
                let (i, j) = (k % nx, k / nx);
                [place(i, nx, size[0]), place(j, ny, size[1]), values[k]]
            })
            .collect();
        let mut triangles = Vec::with_capacity(2 * (nx - 1) * (ny - 1));
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let a = (j * nx + i) as u32;
                let (b, c) = (a + 1, a + nx as u32);
                triangles.push([a, b, c + 1]);
                triangles.push([a, c + 1, c]);
            }
        }
        // Heights that differ by more than rounding allows beside the size of a cell make triangles without an area.
        Self::new(&vertices, &triangles)
    }

    fn find_neighbours(&mut self, size: f64) {
        // Vertices at one place count as one: files of triangles repeat them.
        let mut order: Vec<u32> = (0..self.vertices.len() as u32).collect();
        let key = |k: u32| self.vertices[k as usize];
        order.sort_by(|&a, &b| {
            let (p, q) = (key(a), key(b));
            let by = |i: usize| p[i].total_cmp(&q[i]);
            by(0).then(by(1)).then(by(2)).then(a.cmp(&b))
        });
        let mut place: Vec<u32> = (0..self.vertices.len() as u32).collect();
        for pair in order.windows(2) {
            if key(pair[0]) == key(pair[1]) {
                place[pair[1] as usize] = place[pair[0] as usize];
            }
        }
        let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * self.triangles.len());
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                edges.push((place[a as usize], place[b as usize], t as u32));
            }
        }
        edges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = edges
            .iter()
            .flat_map(|&(a, b, _)| [(a, b), (b, a)])
            .collect();
        joined.sort_unstable();
        joined.dedup();
        let begin = |k: u32| joined.partition_point(|&(a, _)| a < k) as u32;
        // Vertices at one place have one fan.
        let starts = place
            .iter()
            .flat_map(|&k| [begin(k), begin(k + 1)])
            .collect();
        self.fans = (starts, joined.iter().map(|&(_, b)| b).collect());
        let key = |k: u32| self.vertices[k as usize];
        let mut closed = true;
        let cones = (0..self.triangles.len()).map(|t| {
            let corners = self.triangles[t];
            std::array::from_fn(|k| {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let along = sub(key(b), key(a));
                // In the plane of the triangle, away from it; edges have a length where triangles have an area.
                let outward = direction(cross(along, self.normals[t])).unwrap_or([0.0; 3]);
                let twin = (place[b as usize], place[a as usize]);
                let first = edges.partition_point(|e| (e.0, e.1) < twin);
                let neighbour = edges.get(first).filter(|e| (e.0, e.1) == twin);
                closed &= neighbour.is_some();
                let height = |p: Vector| dot(self.normals[t], sub(p, key(a)));
                let apex = neighbour.map(|&(_, _, other)| {
                    let corners = self.triangles[other as usize].map(key);
                    let far = |p: &Vector| norm(cross(along, sub(*p, key(a))));
                    let [p, q, r] = corners;
                    [q, r]
                        .into_iter()
                        .fold(p, |best, p| if far(&p) > far(&best) { p } else { best })
                });
                MeshEdge {
                    outward,
                    apex,
                    hollow: apex.is_some_and(|apex| height(apex) >= -1e-9 * size),
                }
            })
        });
        self.edges = cones.collect();
        self.closed = closed;
    }

    /// Whether every edge has two triangles, so that the surface bounds a volume.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn vertices(&self) -> &[Vector] {
        &self.vertices
    }

    pub fn corners(&self, t: usize) -> [Vector; 3] {
        self.triangles[t].map(|k| self.vertices[k as usize])
    }

    pub fn normal(&self, t: usize) -> Vector {
        self.normals[t]
    }

    pub fn edges(&self, t: usize) -> &[MeshEdge; 3] {
        &self.edges[t]
    }

    /// The ends of the edges that meet at corner k of a triangle.
    pub fn fan(&self, t: usize, k: usize) -> impl Iterator<Item = Vector> {
        let vertex = self.triangles[t][k] as usize;
        let (starts, ends) = &self.fans;
        let range = starts[2 * vertex] as usize..starts[2 * vertex + 1] as usize;
        ends[range].iter().map(|&k| self.vertices[k as usize])
    }

    /// Triangles whose boxes meet a box, in the order of their numbers.
    pub fn within(&self, low: Vector, high: Vector, out: &mut Vec<u32>) {
        out.clear();
        let aabb = Aabb::new(
            Point::new(low[0], low[1], low[2]),
            Point::new(high[0], high[1], high[2]),
        );
        out.extend(self.tree.intersect_aabb(&aabb));
        out.sort_unstable();
    }
}
