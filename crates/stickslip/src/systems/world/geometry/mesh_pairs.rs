//! A convex shape against a surface of triangles.
//!
//! # What it computes
//!
//! For every triangle within reach the nearest points of the shape and the triangle, n the unit vector between them: the direction along which the two lie
//! farthest apart, or overlap least. They count if the surface has the normal n there, that is if no edge that meets at the point rises along n: where one
//! does, the neighbour is nearer and tells; if no neighbour does, of triangles that the shape touches or lies across, they count as well. Beside them, the points at which faces and edges lie over each other along n. Where the nearest points do not
//! count, corners of the shape over the triangle do, along the normal of the triangle.
//!
//! # Guarantees
//!
//! A normal is that of the nearest points to 1e-9, whatever core led to it. A point of a contact lies on both surfaces, but for corners within a hundredth of the
//! size beside a hollow edge, which lie over the plane of the triangle: there it is below the surface, and keeps nothing apart that the surface does not.
//!
//! # Behaviour to know
//!
//! A triangle holds what is in front of it. A corner that is through a triangle by more than a hundredth of the size has come from behind it, over a ridge, and is left to
//! the others.
//!
//! # Tested by
//!
//! `systems/world/geometry/tests/terrain.rs`, `systems/world/geometry/tests/refined.rs`, `systems/world/geometry/tests/shapes.rs`, `tests/verify_terrain.rs`.

use super::gjk::{Apart, closest};
use super::meeting::{Highest, meet};
use super::overlay::PointPair;
use super::pairs::{Workspace, ball_point, on_segment};
use super::polyhedron::support;
use super::refined_normal::refine;
use super::solid::{SLANTED, Solid};
use super::triangle_mesh::TriangleMesh;
use super::vector::{Transform, Vector, along, cross, direction, distance, dot, norm, scale, sub};

/// Nearer to an edge, in parts of the size, a point lies on it if the normal leans, and nearer to a corner on that or on an edge.
const NEAR: f64 = 1e-4;
/// How well, in parts of the size, the places of nearest points are known, and how well normals are.
const PLACE: f64 = 1e-8;
const ANGLE: f64 = 1e-6;
/// Cosine, less than 1 by so much, of a normal that leans against a triangle for more than rounding.
const LEANS: f64 = 1e-6;
/// Gap, in parts of the size, below which a shape touches a triangle or lies across it.
const TOUCHES: f64 = 1e-6;
/// Depth, in parts of the size, beyond which a corner is not on a triangle but through it.
const THROUGH: f64 = 1e-2;
/// How far beside a hollow edge, in parts of the size, the plane of a triangle counts.
const BESIDE: f64 = 1e-2;

/// Pairs of points of a convex shape and the triangles near it, in the frame of the shape.
pub(super) fn against_mesh(
    a: &Solid,
    mesh: &TriangleMesh,
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    // The box of the shape in the frame of the mesh.
    let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
    let centre = a_from_b.inverse_point([0.0; 3]);
    for k in 0..3 {
        let mut d = [0.0; 3];
        d[k] = 1.0;
        let axis = a_from_b.vector(d);
        high[k] = centre[k] + a.height(axis) + reach;
        low[k] = centre[k] - a.height(scale(axis, -1.0)) - reach;
    }
    let mut near = std::mem::take(&mut workspace.triangles);
    mesh.within(low, high, &mut near);
    for &t in &near {
        let facet = Facet::new(mesh, t as usize, a_from_b);
        on_triangle(a, &facet, (reach, size), workspace);
    }
    workspace.triangles = near;
    readmit(a, mesh, a_from_b, size, workspace);
}

/// A triangle of a mesh, with its corners and its normal in the frame of the shape.
struct Facet<'a> {
    mesh: &'a TriangleMesh,
    t: usize,
    a_from_b: &'a Transform,
    corners: [Vector; 3],
    normal: Vector,
}

impl<'a> Facet<'a> {
    fn new(mesh: &'a TriangleMesh, t: usize, a_from_b: &'a Transform) -> Self {
        Self {
            mesh,
            t,
            a_from_b,
            corners: mesh.corners(t).map(|p| a_from_b.point(p)),
            normal: a_from_b.vector(mesh.normal(t)),
        }
    }

    /// Whether a point lies over the triangle, or beside a hollow edge of it between its ends.
    fn is_over(&self, p: Vector, size: f64) -> bool {
        let at = self.a_from_b.inverse_point(p);
        let corners = self.mesh.corners(self.t);
        self.mesh.edges(self.t).iter().enumerate().all(|(k, edge)| {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            let beside = dot(edge.outward, sub(at, from));
            let (way, length) = (sub(to, from), distance(from, to));
            let share = dot(sub(at, from), way) / (length * length);
            beside <= 1e-9 * size
                || (edge.hollow && beside <= BESIDE * size && (0.0..=1.0).contains(&share))
        })
    }

    /// Whether the surface rises beside a point of an edge or a corner above it along a normal, so that it is nearer there.
    fn rises_beside(&self, p: Vector, outward: Vector, size: f64) -> bool {
        if dot(outward, self.normal) > 1.0 - 1e-12 {
            return false;
        }
        let (at, up) = (
            self.a_from_b.inverse_point(p),
            self.a_from_b.inverse_vector(outward),
        );
        let rises = |q: Vector| {
            let way = sub(q, at);
            dot(up, way) > ANGLE * norm(way)
        };
        // Above the inside the normal would be that of the triangle: it leans, so that the point lies on an edge, as well as it is known.
        let near = NEAR * size;
        let corners = self.mesh.corners(self.t);
        let beyond = |k: usize| self.mesh.edges(self.t)[k].apex.is_some_and(rises);
        if let Some(k) = (0..3).find(|&k| distance(at, corners[k]) <= near) {
            // On an edge beside a corner the normal is normal to that edge, and other edges of the corner have no say.
            let across = |e: &usize| {
                let way = sub(corners[(e + 1) % 3], corners[*e]);
                dot(up, way).abs() <= ANGLE * norm(way)
            };
            let mut on_edge = [k, (k + 2) % 3].into_iter().filter(across).peekable();
            if distance(at, corners[k]) > PLACE * size && on_edge.peek().is_some() {
                return on_edge.any(beyond);
            }
            return self.mesh.fan(self.t, k).any(rises);
        }
        let off = [0, 1, 2].map(|k| {
            let ends = [corners[k], corners[(k + 1) % 3]];
            distance(at, on_segment(at, ends))
        });
        // Where the point was found less well it lies on the edge that is nearest.
        let nearest = off.into_iter().fold(f64::INFINITY, f64::min);
        if nearest > near && dot(outward, self.normal) > 1.0 - LEANS {
            return false;
        }
        (0..3).any(|k| off[k] <= near.max(nearest) && beyond(k))
    }
}

fn on_triangle(a: &Solid, facet: &Facet, (reach, size): (f64, f64), workspace: &mut Workspace) {
    let (corners, face) = (&facet.corners, facet.normal);
    // Behind the triangle by more than half the shape: another triangle holds it, or it has fallen through.
    let level = dot(face, corners[0]);
    let (below, above) = (a.height(scale(face, -1.0)), a.height(face));
    if level > 0.5 * (below + above) {
        return;
    }
    // Out of reach before its plane. Cores only lead to the normal: edges and corners of a shape lie farther from its core than
    // its faces do, so that no distance of cores tells that the shape is out of reach.
    if -below - level > reach {
        return;
    }
    let sharp = a.is_round();
    let limit = if sharp {
        reach + a.rounding()
    } else {
        f64::INFINITY
    };
    if let Solid::Ball { radius } = a {
        let nearest = on_triangle_point([0.0; 3], corners);
        let outward = match direction(scale(nearest, -1.0)) {
            Some(outward) if dot(outward, face) > 0.0 => {
                if facet.rises_beside(nearest, outward, size) {
                    return;
                }
                outward
            }
            // The centre lies in the triangle or behind it.
            _ if distance(nearest, scale(face, level)) <= 1e-9 * size => face,
            _ => return,
        };
        let distance = -dot(outward, support(corners, outward));
        ball_point(*radius, (outward, distance), reach, &mut workspace.points);
        return;
    }
    let start = scale(face, -1.0);
    let normal = match closest(
        |d| a.core_support(d, sharp),
        |d| support(corners, d),
        (size, start, limit),
    ) {
        Apart::Far => return,
        // Within rounding of the face's normal it is that normal.
        Apart::By { direction, .. } if dot(direction, start) > 1.0 - 1e-12 => start,
        Apart::By { direction, .. } if dot(direction, start) > 0.0 => direction,
        _ => shallowest(a, corners, face, size),
    };
    if gap_along(a, corners, normal) > reach {
        return;
    }
    let before = workspace.points.len();
    let nearest = lay_nearest(a, corners, (normal, face), (reach, size), workspace);
    let points = &workspace.points[before..];
    let touching = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap));
    let touching = touching.filter(|_| nearest).copied();
    if touching.is_some_and(|p| !facet.rises_beside(p.on_b, scale(p.normal, -1.0), size)) {
        return;
    }
    workspace.points.truncate(before);
    if !a.is_round() {
        corners_over(a, facet, (reach, size), workspace);
        let touching = touching.filter(|pair| pair.gap < TOUCHES * size);
        workspace
            .withheld
            .extend(touching.map(|pair| (facet.t as u32, pair)));
    }
}

/// Adds the nearest points of triangles that a shape touches or lies across and that were left to neighbours, where none of these tells: in the corner of a saddle or at the
/// bottom of a pit some edge rises along every normal of a shape that is inside. A triangle is told of where along the normal of a contact it does not lie deeper
/// in the shape than that.
fn readmit(a: &Solid, mesh: &TriangleMesh, a_from_b: &Transform, size: f64, all: &mut Workspace) {
    let Workspace {
        points, withheld, ..
    } = all;
    let told = points.len();
    for (t, pair) in withheld.drain(..) {
        let corners = mesh.corners(t as usize).map(|p| a_from_b.point(p));
        let tells =
            |p: &PointPair| gap_along(a, &corners, p.normal) >= p.gap.min(0.0) - TOUCHES * size;
        if !points[..told].iter().any(tells) {
            points.push(pair);
        }
    }
}

/// Distance of a shape and a triangle along a unit normal from the first to the second.
fn gap_along(a: &Solid, corners: &[Vector; 3], normal: Vector) -> f64 {
    dot(normal, support(corners, scale(normal, -1.0))) - a.height(normal)
}

/// The normal along which a shape whose core meets a triangle comes off with the least motion, of those near the normal of the triangle and near the way
/// from it to the middle of the shape.
fn shallowest(a: &Solid, corners: &[Vector; 3], face: Vector, size: f64) -> Vector {
    let below = scale(face, -1.0);
    let middle = direction(on_triangle_point([0.0; 3], corners));
    let mut best = (below, gap_along(a, corners, below));
    for start in [Some(below), middle].into_iter().flatten() {
        let refined = refine(
            |d| a.core_support(d, true),
            |d| support(corners, d),
            (start, size),
        );
        if let Some(refined) = refined.filter(|r| r.gap > best.1 + 1e-9 * size) {
            best = (refined.normal, refined.gap);
        }
    }
    best.0
}

/// Adds the points at which a shape lies over a triangle along the normal of their nearest points, and these. It is sought from that of
/// the cores, and is the right one where points one above the other along it are as near as the shapes are along it. False where they are out of reach,
/// or behind the triangle.
fn lay_nearest(
    a: &Solid,
    corners: &[Vector; 3],
    (from, face): (Vector, Vector),
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) -> bool {
    let before = workspace.points.len();
    let is_nearest = |found: f64, gap: f64| found <= gap + 1e-9 * size;
    let gap = gap_along(a, corners, from);
    if is_nearest(lay_over(a, corners, (from, face), reach, workspace), gap) {
        return true;
    }
    // Faces that lie nearly flat on each other: the normal is that of one of them, of the triangle if both will do.
    let below = scale(face, -1.0);
    let mut flat: Option<(Vector, f64)> = None;
    for normal in [Some(below), a.face_along(below)].into_iter().flatten() {
        let along = gap_along(a, corners, normal);
        if along >= flat.map_or(gap, |flat| flat.1 + 1e-9 * size) {
            workspace.points.truncate(before);
            if is_nearest(
                lay_over(a, corners, (normal, face), reach, workspace),
                along,
            ) {
                flat = Some((normal, along));
            }
        }
    }
    if let Some((normal, _)) = flat {
        workspace.points.truncate(before);
        lay_over(a, corners, (normal, face), reach, workspace);
        return true;
    }
    let pair = nearest_pair(a, corners, (from, gap), size);
    let in_front = |pair: &PointPair| dot(pair.normal, face) < 0.0 && pair.gap <= reach;
    let Some(pair) = pair.filter(in_front) else {
        return false;
    };
    workspace.points.truncate(before);
    let found = lay_over(a, corners, (pair.normal, face), reach, workspace);
    if !is_nearest(found, pair.gap) {
        workspace.points.push(pair);
    }
    true
}

/// Adds the corners of a shape over a triangle along the normal of the triangle: where the nearest points lie on another triangle, these may still
/// come down on this one. Those that are through have come from behind it. Beside a hollow edge its plane lies below the surface, which keeps corners
/// above it: so near the edge it counts, lest a corner in a groove that lies behind one wall lose the other.
fn corners_over(a: &Solid, facet: &Facet, (reach, size): (f64, f64), workspace: &mut Workspace) {
    let face = facet.normal;
    let normal = scale(face, -1.0);
    a.feature(normal, &mut workspace.overlay.a);
    for &p in &workspace.overlay.a {
        let gap = dot(face, sub(p, facet.corners[0]));
        let over = facet.is_over(p, size);
        if over && (-THROUGH * size..=reach).contains(&gap) {
            workspace.points.push(PointPair {
                on_a: p,
                on_b: along(p, -gap, face),
                normal,
                gap,
            });
        }
    }
}

/// Adds the points at which faces and edges of a shape lie over a triangle along a normal, where that does not lean too far; their smallest gap.
fn lay_over(
    a: &Solid,
    corners: &[Vector; 3],
    (normal, face): (Vector, Vector),
    reach: f64,
    workspace: &mut Workspace,
) -> f64 {
    if -dot(normal, face) <= SLANTED {
        return f64::INFINITY;
    }
    let before = workspace.points.len();
    a.feature(normal, &mut workspace.overlay.a);
    workspace.overlay.b.clear();
    workspace.overlay.b.extend_from_slice(corners);
    workspace
        .overlay
        .pairs(normal, reach, &mut workspace.points);
    let gaps = workspace.points[before..].iter().map(|p| p.gap);
    gaps.fold(f64::INFINITY, f64::min)
}

/// The nearest points of a shape and a triangle where no faces lie over each other, from a normal and the gap along it. The normal is that
/// of the core: where the shape itself does not lie over the triangle along it, edges or rims meet, and the shapes themselves tell.
fn nearest_pair(
    a: &Solid,
    corners: &[Vector; 3],
    (normal, gap): (Vector, f64),
    size: f64,
) -> Option<PointPair> {
    let rounding = if a.is_round() { a.rounding() } else { 0.0 };
    let at = |place: Vector, normal: Vector, gap: f64| {
        let base = along(place, -dot(normal, place), normal);
        let height = a.height(normal);
        PointPair {
            on_a: along(base, height, normal),
            on_b: along(base, height + gap, normal),
            normal,
            gap,
        }
    };
    let p = along(a.core_support(normal, true), rounding, normal);
    let nearest = on_triangle_point(p, corners);
    let way = sub(nearest, p);
    let aside = along(way, -dot(normal, way), normal);
    // The gap is that to the part of the triangle that lies highest against the normal, which must be where the points are.
    let highest = dot(normal, support(corners, scale(normal, -1.0)));
    let on_top = dot(normal, nearest) - highest <= 1e-9 * size;
    if norm(aside) <= 1e-9 * size && on_top {
        return Some(at(nearest, normal, gap));
    }
    let meet = |from: Vector| {
        let below = Highest::of_points(corners, scale(from, -1.0));
        let apart = |n: Vector| gap_along(a, corners, n) + rounding;
        let above = a.highest(from, &Transform::IDENTITY);
        meet(&above, &below, (from, size), apart)
    };
    let met = if a.has_rims() { meet(normal) } else { None };
    let refined = met.or_else(|| {
        let refined = refine(
            |d| a.core_support(d, true),
            |d| support(corners, d),
            (normal, size),
        )?;
        let met = if a.has_rims() {
            meet(refined.normal)
        } else {
            None
        };
        met.or(Some(refined))
    })?;
    Some(at(
        refined.points[1],
        refined.normal,
        refined.gap - rounding,
    ))
}

/// Nearest point of a triangle, by the regions of its edges and corners.
pub(super) fn on_triangle_point(p: Vector, [a, b, c]: &[Vector; 3]) -> Vector {
    let normal = cross(sub(*b, *a), sub(*c, *a));
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(from, to)| dot(cross(sub(**to, **from), sub(p, **from)), normal) >= 0.0);
    if inside {
        let height = dot(normal, sub(p, *a)) / dot(normal, normal);
        return along(p, -height, normal);
    }
    let mut best: Option<(Vector, f64)> = None;
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let q = on_segment(p, [*from, *to]);
        let d = sub(p, q);
        let square = dot(d, d);
        if best.is_none_or(|b| square < b.1) {
            best = Some((q, square));
        }
    }
    // The triangle has three edges.
    best.map_or(*a, |b| b.0)
}
