//! Convex polyhedra: hull of points, polygonal faces, the inset core that distances are measured from.

use super::hull::{Isotropic, triangulated_hull};
use super::shape::{FLAT, ShapeError, check_points, extent};
use super::vector::{Vector, add, cross, direction, distance, dot, norm, scale, sub};

/// Depth by which the core lies inside the faces, in parts of the smallest extent.
///
/// Two hulls that share a face are at distance 0, where the direction of the shortest distance cannot be told; their
/// cores are apart by twice this depth, and their faces have the same normals.
pub(super) const INSET: f64 = 0.02;

/// A convex polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<Vector>,
    triangles: Vec<[u32; 3]>,
    faces: Vec<Face>,
    /// Vertices of all faces, one face after the other, counter-clockwise from outside.
    loops: Vec<u32>,
    /// Directions of edges, one of each parallel family.
    edge_directions: Vec<Vector>,
    /// Vertices of the core.
    core: Vec<Vector>,
    smallest_extent: f64,
}

/// A face: its outward normal, distance from the origin, and where its vertices are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    pub normal: Vector,
    pub offset: f64,
    first: u32,
    count: u32,
}

impl Polyhedron {
    /// The hull of points.
    pub fn hull(points: &[[f64; 3]]) -> Result<Self, ShapeError> {
        const SHAPE: &str = "a hull";
        check_points(SHAPE, points, 4)?;
        let size = extent(points.iter().copied());
        if !size.is_finite() || size == 0.0 || thickness(points) <= FLAT * size {
            return Err(ShapeError::Flat {
                shape: SHAPE,
                thickness: thickness(points),
                size,
            });
        }
        let (vertices, triangles) = triangulated_hull(points)?;
        let polyhedron = Self::from_triangles(vertices, triangles, size)?;
        polyhedron.check(points, size)?;
        Ok(polyhedron)
    }

    /// A box about the origin.
    pub(super) fn cuboid(sides: [f64; 3]) -> Self {
        let [x, y, z] = sides.map(|s| 0.5 * s);
        let corner = |k: u32| -> Vector {
            let pick = |bit: u32, v: f64| if k >> bit & 1 == 1 { v } else { -v };
            [pick(0, x), pick(1, y), pick(2, z)]
        };
        let vertices: Vec<Vector> = (0..8).map(corner).collect();
        let sides_of = [
            ([1.0, 0.0, 0.0], [1, 3, 7, 5]),
            ([-1.0, 0.0, 0.0], [0, 4, 6, 2]),
            ([0.0, 1.0, 0.0], [2, 6, 7, 3]),
            ([0.0, -1.0, 0.0], [0, 1, 5, 4]),
            ([0.0, 0.0, 1.0], [4, 5, 7, 6]),
            ([0.0, 0.0, -1.0], [0, 2, 3, 1]),
        ];
        let mut faces = Vec::new();
        let mut loops = Vec::new();
        let mut triangles = Vec::new();
        for (normal, corners) in sides_of {
            faces.push(Face {
                normal,
                offset: dot(normal, vertices[corners[0] as usize]),
                first: loops.len() as u32,
                count: 4,
            });
            loops.extend(corners);
            triangles.push([corners[0], corners[1], corners[2]]);
            triangles.push([corners[0], corners[2], corners[3]]);
        }
        let smallest = sides[0].min(sides[1]).min(sides[2]);
        let inset = INSET * smallest;
        let core = vertices
            .iter()
            .map(|v| v.map(|c| c - inset.copysign(c)))
            .collect();
        Self {
            vertices,
            triangles,
            faces,
            loops,
            edge_directions: vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            core,
            smallest_extent: smallest,
        }
    }

    fn from_triangles(
        vertices: Vec<Vector>,
        triangles: Vec<[u32; 3]>,
        size: f64,
    ) -> Result<Self, ShapeError> {
        let groups = coplanar_groups(&vertices, &triangles, size);
        let (mut faces, mut loops) = (Vec::new(), Vec::new());
        for group in &groups {
            let first = loops.len() as u32;
            let normal = group.iter().fold([0.0; 3], |sum, &t| {
                add(sum, area_vector(&vertices, triangles[t]))
            });
            let normal = direction(normal)
                .ok_or_else(|| ShapeError::Hull("a face has no area".to_owned()))?;
            boundary_loop(&triangles, group, &mut loops)?;
            let corners = &loops[first as usize..];
            let offset = corners
                .iter()
                .map(|&v| dot(normal, vertices[v as usize]))
                .fold(f64::NEG_INFINITY, f64::max);
            faces.push(Face {
                normal,
                offset,
                first,
                count: corners.len() as u32,
            });
        }
        let smallest_extent = faces
            .iter()
            .map(|face| {
                let low = vertices
                    .iter()
                    .map(|&v| dot(face.normal, v))
                    .fold(f64::INFINITY, f64::min);
                face.offset - low
            })
            .fold(f64::INFINITY, f64::min);
        let mut polyhedron = Self {
            edge_directions: edge_directions(&vertices, &faces, &loops),
            vertices,
            triangles,
            faces,
            loops,
            core: Vec::new(),
            smallest_extent,
        };
        polyhedron.core = polyhedron.inset_core()?;
        Ok(polyhedron)
    }

    /// Vertices of the intersection of the faces' half-spaces moved inward: hull of the dual points, in coordinates in which
    /// the polyhedron is about as thick as wide.
    fn inset_core(&self) -> Result<Vec<Vector>, ShapeError> {
        let depth = INSET * self.smallest_extent;
        let even = Isotropic::of(&self.vertices);
        let dual: Vec<Vector> = self
            .faces
            .iter()
            .map(|f| {
                let distance = f.offset - depth - dot(f.normal, even.centre);
                scale(even.covector(f.normal), 1.0 / distance)
            })
            .collect();
        let (points, triangles) = triangulated_hull(&dual)?;
        let mut core: Vec<Vector> = Vec::new();
        for t in triangles {
            let [a, b, c] = t.map(|k| points[k as usize]);
            let across = cross(sub(b, a), sub(c, a));
            // A plane m·y = 1 of the dual hull is the vertex m of the core.
            let vertex = even.back(scale(across, 1.0 / dot(across, a)));
            let near = |&other: &Vector| distance(other, vertex) <= 1e-12 * self.smallest_extent;
            if vertex.iter().all(|x| x.is_finite()) && !core.iter().any(near) {
                core.push(vertex);
            }
        }
        let slack = 1e-6 * self.smallest_extent;
        let outside = core.iter().any(|&v| {
            self.faces
                .iter()
                .any(|f| dot(f.normal, v) > f.offset - depth + slack)
        });
        if core.is_empty() || outside {
            return Err(ShapeError::Hull("its faces are too slender".to_owned()));
        }
        Ok(core)
    }

    /// Every given point must lie inside, every edge between two faces.
    fn check(&self, points: &[Vector], size: f64) -> Result<(), ShapeError> {
        let outside = points
            .iter()
            .flat_map(|&p| self.faces.iter().map(move |f| dot(f.normal, p) - f.offset))
            .fold(0.0, f64::max);
        if outside > 1e-8 * size {
            let message = format!("a point lies {outside:.1e} outside");
            return Err(ShapeError::Hull(message));
        }
        Ok(())
    }

    /// Vertices.
    #[must_use]
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// The surface as triangles, outward.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Smallest distance of a face from the vertex opposite to it.
    #[must_use]
    pub fn smallest_extent(&self) -> f64 {
        self.smallest_extent
    }

    pub(super) fn faces(&self) -> &[Face] {
        &self.faces
    }

    pub(super) fn core(&self) -> &[Vector] {
        &self.core
    }

    pub(super) fn edge_directions(&self) -> &[Vector] {
        &self.edge_directions
    }

    /// Vertices of a face, counter-clockwise from outside.
    pub(super) fn corners(&self, face: &Face) -> impl Iterator<Item = Vector> + '_ {
        let range = face.first as usize..(face.first + face.count) as usize;
        self.loops[range].iter().map(|&v| self.vertices[v as usize])
    }

    /// The face that looks most along a direction.
    pub(super) fn face_along(&self, d: Vector) -> &Face {
        let mut best = &self.faces[0];
        let mut most = dot(best.normal, d);
        for face in &self.faces[1..] {
            let value = dot(face.normal, d);
            if value > most {
                (best, most) = (face, value);
            }
        }
        best
    }
}

/// The point of a list that lies farthest along a direction.
#[inline]
pub(super) fn support(points: &[Vector], d: Vector) -> Vector {
    let mut best = points[0];
    let mut most = dot(best, d);
    for &p in &points[1..] {
        let value = dot(p, d);
        if value > most {
            (best, most) = (p, value);
        }
    }
    best
}

/// An estimate of the smallest extent that is zero for points in a plane: distance from the plane of three far points.
fn thickness(points: &[Vector]) -> f64 {
    let farthest = |measure: &dyn Fn(Vector) -> f64| {
        let mut best = points[0];
        for &p in points {
            if measure(p) > measure(best) {
                best = p;
            }
        }
        best
    };
    let a = farthest(&|p| distance(p, points[0]));
    let b = farthest(&|p| distance(p, a));
    let Some(axis) = direction(sub(b, a)) else {
        return 0.0;
    };
    let off_axis = |p: Vector| norm(cross(axis, sub(p, a)));
    let c = farthest(&off_axis);
    let Some(normal) = direction(cross(axis, sub(c, a))) else {
        return 0.0;
    };
    points
        .iter()
        .map(|&p| dot(normal, sub(p, a)).abs())
        .fold(0.0, f64::max)
        .min(off_axis(c))
}

fn area_vector(vertices: &[Vector], t: [u32; 3]) -> Vector {
    let [a, b, c] = t.map(|k| vertices[k as usize]);
    cross(sub(b, a), sub(c, a))
}

/// Triangles joined where the plane of one contains its neighbour.
fn coplanar_groups(vertices: &[Vector], triangles: &[[u32; 3]], size: f64) -> Vec<Vec<usize>> {
    let mut edges: Vec<(u32, u32, usize)> = Vec::new();
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            edges.push((corners[k], corners[(k + 1) % 3], t));
        }
    }
    edges.sort_unstable();
    let mut root: Vec<usize> = (0..triangles.len()).collect();
    fn find(root: &mut [usize], mut k: usize) -> usize {
        while root[k] != k {
            root[k] = root[root[k]];
            k = root[k];
        }
        k
    }
    for &(a, b, t) in &edges {
        let Ok(twin) = edges.binary_search_by(|e| (e.0, e.1).cmp(&(b, a))) else {
            continue;
        };
        let other = edges[twin].2;
        // The plane of the larger of the two holds the other within rounding.
        let (n, m) = (
            area_vector(vertices, triangles[t]),
            area_vector(vertices, triangles[other]),
        );
        let (base, tip) = if norm(n) >= norm(m) {
            (t, other)
        } else {
            (other, t)
        };
        let Some(normal) = direction(area_vector(vertices, triangles[base])) else {
            continue;
        };
        let origin = vertices[triangles[base][0] as usize];
        let off = triangles[tip]
            .iter()
            .map(|&v| dot(normal, sub(vertices[v as usize], origin)).abs())
            .fold(0.0, f64::max);
        if off <= 1e-10 * size && dot(n, m) >= 0.0 {
            let (x, y) = (find(&mut root, t), find(&mut root, other));
            let (low, high) = (x.min(y), x.max(y));
            root[high] = low;
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); triangles.len()];
    for t in 0..triangles.len() {
        groups[find(&mut root, t)].push(t);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The boundary of a group of triangles as one closed chain, appended to `loops`.
fn boundary_loop(
    triangles: &[[u32; 3]],
    group: &[usize],
    loops: &mut Vec<u32>,
) -> Result<(), ShapeError> {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for &t in group {
        for k in 0..3 {
            edges.push((triangles[t][k], triangles[t][(k + 1) % 3]));
        }
    }
    let outer: Vec<(u32, u32)> = edges
        .iter()
        .copied()
        .filter(|&(a, b)| !edges.contains(&(b, a)))
        .collect();
    let broken = || ShapeError::Hull("a face has no simple boundary".to_owned());
    let &(start, mut next) = outer.first().ok_or_else(broken)?;
    loops.push(start);
    let mut steps = 1;
    while next != start {
        loops.push(next);
        steps += 1;
        next = outer
            .iter()
            .find(|e| e.0 == next)
            .map(|e| e.1)
            .ok_or_else(broken)?;
        if steps > outer.len() {
            return Err(broken());
        }
    }
    if steps == outer.len() {
        Ok(())
    } else {
        Err(broken())
    }
}

/// Directions of the edges, parallel ones once.
fn edge_directions(vertices: &[Vector], faces: &[Face], loops: &[u32]) -> Vec<Vector> {
    let mut found: Vec<Vector> = Vec::new();
    for face in faces {
        let corners = &loops[face.first as usize..(face.first + face.count) as usize];
        for k in 0..corners.len() {
            let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
            // Each edge has two faces; one of them has it from the smaller vertex to the larger.
            if a > b {
                continue;
            }
            let Some(d) = direction(sub(vertices[b as usize], vertices[a as usize])) else {
                continue;
            };
            if !found.iter().any(|&other| norm(cross(d, other)) < 1e-9) {
                found.push(d);
            }
        }
    }
    found
}
