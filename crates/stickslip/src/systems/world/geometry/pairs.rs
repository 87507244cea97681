//! Points at which two shapes touch or may touch, by the kinds of the shapes.

use super::gjk::{Apart, closest};
use super::meeting::meet;
use super::mesh_pairs::against_mesh;
use super::overlay::{Overlay, PointPair};
use super::planar_pairs::planar_pair;
use super::polyhedron::Polyhedron;
use super::reduction::{exchange, reduce};
use super::refined_normal::refine;
use super::separating_axes::separating_axis;
use super::solid::Solid;
use super::vector::{Transform, Vector, add, along, direction, dot, norm, scale, sub};

/// Buffers of the narrow phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub overlay: Overlay,
    pub points: Vec<PointPair>,
    pub triangles: Vec<u32>,
    /// Nearest points of triangles that the shape touches or lies across, and that are left to others.
    pub withheld: Vec<(u32, PointPair)>,
    pub flat: Vec<[f64; 2]>,
}

/// Separating axes are tried up to this many common normals of edges; beyond, closest points are cheaper.
const AXES_MAX: usize = 64;

/// Writes the pairs of points within reach into `workspace.points`, in the frame of `a`; `size` is the smaller extent.
pub(super) fn collide(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    workspace.points.clear();
    if rank(a) > rank(b) {
        let b_from_a = a_from_b.relative(&Transform::IDENTITY);
        ordered(b, a, &b_from_a, (reach, size), workspace);
        exchange(&mut workspace.points, a_from_b);
    } else {
        ordered(a, b, a_from_b, (reach, size), workspace);
    }
    reduce(&mut workspace.points, size);
}

/// Order in which pairs are written down below.
fn rank(solid: &Solid) -> u32 {
    match solid {
        Solid::Ball { .. } => 0,
        Solid::Capsule { .. } => 1,
        Solid::Polyhedron(_) => 2,
        Solid::Cylinder { .. } | Solid::Cone { .. } => 3,
        Solid::Flat { .. } => 4,
        Solid::HalfSpace { .. } => 5,
        Solid::Mesh(_) => 6,
    }
}

fn ordered(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    let out = &mut workspace.points;
    let origin = a_from_b.translation;
    match (a, b) {
        (Solid::Ball { radius: r }, Solid::Ball { radius: s }) => {
            between_balls(([0.0; 3], *r), (origin, *s), reach, out);
        }
        (Solid::Ball { radius: r }, Solid::Capsule { ends, radius: s }) => {
            let ends = ends.map(|e| a_from_b.point(e));
            let nearest = on_segment([0.0; 3], ends);
            between_balls(([0.0; 3], *r), (nearest, *s), reach, out);
        }
        (Solid::Ball { radius }, Solid::Polyhedron(p)) => {
            let centre = a_from_b.inverse_point([0.0; 3]);
            if let Some((normal, distance)) = outside(p, centre, reach + radius) {
                ball_point(*radius, (a_from_b.vector(normal), distance), reach, out);
            }
        }
        (Solid::Ball { radius }, Solid::Cylinder { radius: r, half }) => {
            let centre = a_from_b.inverse_point([0.0; 3]);
            let (normal, distance) = outside_cylinder(centre, *r, *half);
            ball_point(*radius, (a_from_b.vector(normal), distance), reach, out);
        }
        (Solid::Capsule { ends, radius: r }, Solid::Capsule { ends: e, radius: s }) => {
            let e = e.map(|p| a_from_b.point(p));
            between_capsules((*ends, *r), (e, *s), reach, out);
        }
        (Solid::Ball { .. }, Solid::Flat { .. }) | (Solid::Flat { .. }, Solid::Flat { .. }) => {
            planar_pair(a, b, a_from_b, (reach, size), (&mut workspace.flat, out));
        }
        (_, Solid::HalfSpace { normal }) => {
            on_half_space(a, a_from_b.vector(*normal), origin, reach, workspace);
        }
        (_, Solid::Mesh(mesh)) => against_mesh(a, mesh, a_from_b, (reach, size), workspace),
        (Solid::Polyhedron(p), Solid::Polyhedron(q))
            if p.edge_directions().len() * q.edge_directions().len() <= AXES_MAX =>
        {
            if let Some((normal, gap)) = separating_axis(p, q, a_from_b, reach) {
                laid_over(a, b, a_from_b, (normal, reach), workspace);
                let found = workspace.points.iter().map(|p| p.gap);
                let smallest = found.fold(f64::INFINITY, f64::min);
                // Where the features do not lie over each other the closest points tell.
                if smallest > gap + 1e-9 * size {
                    workspace.points.clear();
                    by_closest_points(a, b, a_from_b, (reach, size), workspace);
                }
            }
        }
        _ => by_closest_points(a, b, a_from_b, (reach, size), workspace),
    }
}

/// One point between two balls with the given centres.
pub(super) fn between_balls(
    (p, r): (Vector, f64),
    (q, s): (Vector, f64),
    reach: f64,
    out: &mut Vec<PointPair>,
) {
    let apart = sub(q, p);
    let distance = norm(apart);
    let gap = distance - r - s;
    if gap > reach || distance == 0.0 {
        return;
    }
    let normal = scale(apart, 1.0 / distance);
    out.push(PointPair {
        on_a: along(p, r, normal),
        on_b: along(q, -s, normal),
        normal,
        gap,
    });
}

/// A ball about the origin whose centre has the given distance from a shape, along the outward normal of the shape.
pub(super) fn ball_point(
    radius: f64,
    (outward, distance): (Vector, f64),
    reach: f64,
    out: &mut Vec<PointPair>,
) {
    let gap = distance - radius;
    if gap > reach {
        return;
    }
    out.push(PointPair {
        on_a: scale(outward, -radius),
        on_b: scale(outward, -distance),
        normal: scale(outward, -1.0),
        gap,
    });
}

/// Nearest point of a segment.
pub(super) fn on_segment(p: Vector, [a, b]: [Vector; 2]) -> Vector {
    let u = sub(b, a);
    let s = dot(sub(p, a), u) / dot(u, u);
    along(a, s.clamp(0.0, 1.0), u)
}

/// Two capsules: one point, or two where they lie along each other.
fn between_capsules(
    (a, r): ([Vector; 2], f64),
    (b, s): ([Vector; 2], f64),
    reach: f64,
    out: &mut Vec<PointPair>,
) {
    let (u, v) = (sub(a[1], a[0]), sub(b[1], b[0]));
    let (uu, vv, uv) = (dot(u, u), dot(v, v), dot(u, v));
    let w = sub(a[0], b[0]);
    let (uw, vw) = (dot(u, w), dot(v, w));
    let cross = uu * vv - uv * uv;
    // Nearly parallel: the ends of the part they have in common.
    if cross <= 1e-8 * uu * vv {
        let at = |p: Vector| dot(sub(p, a[0]), u) / uu;
        let (s0, s1) = (at(b[0]), at(b[1]));
        let (low, high) = (s0.min(s1).max(0.0), s0.max(s1).min(1.0));
        if low < high {
            for t in [low, high] {
                let p = along(a[0], t, u);
                between_balls((p, r), (on_segment(p, b), s), reach, out);
            }
            return;
        }
    }
    // Closest points: of the lines, clamped to one segment, then to the other.
    let mut t = if cross > 0.0 {
        ((uv * vw - vv * uw) / cross).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let q = on_segment(along(a[0], t, u), b);
    t = (dot(sub(q, a[0]), u) / uu).clamp(0.0, 1.0);
    let p = along(a[0], t, u);
    between_balls((p, r), (on_segment(p, b), s), reach, out);
}

/// Outward normal and distance of a point from a polyhedron, negative inside; none beyond `limit`.
fn outside(p: &Polyhedron, point: Vector, limit: f64) -> Option<(Vector, f64)> {
    let mut best = ([0.0; 3], f64::NEG_INFINITY);
    for face in p.faces() {
        let height = dot(face.normal, point) - face.offset;
        if height > best.1 {
            best = (face.normal, height);
        }
    }
    if best.1 > limit {
        return None;
    }
    if best.1 <= 1e-9 * p.smallest_extent() {
        return Some(best);
    }
    let support = |d: Vector| super::polyhedron::support(p.vertices(), d);
    let start = scale(best.0, 1.0);
    match closest(support, |_| point, (p.smallest_extent(), start, limit)) {
        Apart::By {
            direction,
            distance,
            ..
        } => {
            // Over a face the normal is that of the face, to the last digit.
            if dot(direction, best.0) > 1.0 - 1e-14 {
                Some(best)
            } else {
                Some((direction, distance))
            }
        }
        Apart::Overlap => Some(best),
        Apart::Far => None,
    }
}

/// Outward normal and distance of a point from a cylinder along z, negative inside.
fn outside_cylinder([x, y, z]: Vector, radius: f64, half: f64) -> (Vector, f64) {
    let lateral = x.hypot(y);
    let radial = if lateral > 0.0 {
        [x / lateral, y / lateral, 0.0]
    } else {
        [1.0, 0.0, 0.0]
    };
    let axial = [0.0, 0.0, 1f64.copysign(z)];
    let (out_r, out_z) = (lateral - radius, z.abs() - half);
    match (out_r > 0.0, out_z > 0.0) {
        (true, true) => {
            let distance = out_r.hypot(out_z);
            let n = add(
                scale(radial, out_r / distance),
                scale(axial, out_z / distance),
            );
            (n, distance)
        }
        (false, false) if out_r <= out_z => (axial, out_z),
        (false, true) => (axial, out_z),
        _ => (radial, out_r),
    }
}

/// Corners of a shape over a plane with the given outward normal through `origin`.
fn on_half_space(a: &Solid, normal: Vector, origin: Vector, reach: f64, workspace: &mut Workspace) {
    let level = dot(normal, origin);
    let out = &mut workspace.points;
    let mut push = |p: Vector| {
        let gap = dot(normal, p) - level;
        if gap <= reach {
            out.push(PointPair {
                on_a: p,
                on_b: along(p, -gap, normal),
                normal: scale(normal, -1.0),
                gap,
            });
        }
    };
    match a {
        Solid::Ball { radius } => push(scale(normal, -radius)),
        Solid::Capsule { ends, radius } => {
            for &e in ends {
                push(along(e, -radius, normal));
            }
        }
        Solid::Polyhedron(p) => p.vertices().iter().copied().for_each(push),
        Solid::Flat { points, radius } => {
            for p in points.iter() {
                push(along([p[0], p[1], 0.0], -radius, normal));
            }
        }
        Solid::Cylinder { .. } | Solid::Cone { .. } => {
            a.feature(scale(normal, -1.0), &mut workspace.overlay.a);
            workspace.overlay.a.iter().copied().for_each(push);
        }
        Solid::HalfSpace { .. } | Solid::Mesh(_) => {}
    }
}

/// Features of two convex shapes laid over each other along a normal from the first to the second.
pub(super) fn laid_over(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (normal, reach): (Vector, f64),
    workspace: &mut Workspace,
) {
    a.feature(normal, &mut workspace.overlay.a);
    let inward = a_from_b.inverse_vector(scale(normal, -1.0));
    b.feature(inward, &mut workspace.overlay.b);
    for p in &mut workspace.overlay.b {
        *p = a_from_b.point(*p);
    }
    let Workspace {
        overlay, points, ..
    } = workspace;
    overlay.pairs(normal, reach, points);
}

/// Gap, in parts of the size, from which closest points of the shapes themselves have a direction worth the name.
const APART: f64 = 1e-6;
/// By how much, in parts of the size, shapes may lie nearer along the direction of their closest points than these are: some ten-thousandths of a radian.
const POOR: f64 = 1e-8;

/// Two convex shapes by their closest points; where they touch or overlap, from the closest points of their cores.
fn by_closest_points(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    let round = |s: &Solid| if s.is_round() { s.rounding() } else { 0.0 };
    let (ra, rb) = (round(a), round(b));
    let start = direction(a_from_b.translation).unwrap_or([0.0, 0.0, 1.0]);
    let supports = |sharp: bool| {
        let on_b = move |d| a_from_b.point(b.core_support(a_from_b.inverse_vector(d), sharp));
        (move |d| a.core_support(d, sharp), on_b)
    };
    let (on_a, on_b) = supports(true);
    // The shapes themselves: exact where they, or the axes of round ones, lie apart.
    let (mut normal, mut points) = match closest(on_a, on_b, (size, start, reach + ra + rb)) {
        Apart::Far => return,
        Apart::By {
            points,
            direction,
            distance,
        } if distance > APART * size => (direction, Some((points, distance))),
        _ => {
            // Cores lead to the right faces.
            let (core_a, core_b) = supports(false);
            let between_cores = closest(core_a, core_b, (size, start, f64::INFINITY));
            let normal = match between_cores {
                Apart::By { direction, .. } => direction,
                Apart::Far | Apart::Overlap => match deepest_axis(a, b, a_from_b) {
                    Some(normal) => normal,
                    None => return,
                },
            };
            (normal, None)
        }
    };
    let apart = |n: Vector| separation(a, b, a_from_b, n) + ra + rb;
    // Over rims and round sides closest points tell their direction to the root of their distance only.
    let exact = |from: Vector| {
        if let Some(face) = face_normal(a, b, a_from_b, (from, size)) {
            return (face, None);
        }
        if a.has_rims() || b.has_rims() {
            let above = a.highest(from, &Transform::IDENTITY);
            let below = b.highest(scale(from, -1.0), a_from_b);
            if let Some(met) = meet(&above, &below, (from, size), apart) {
                return (met.normal, Some(met.points));
            }
        }
        let common = normal_of_axes(a, b, a_from_b, (from, size));
        (common.unwrap_or(from), None)
    };
    let touching;
    (normal, touching) = exact(normal);
    // Along the direction of nearest points shapes lie as far apart as these: where they do not, it was not found well enough.
    points = points.filter(|(_, distance)| apart(normal) >= distance - POOR * size);
    let touching = touching.or(points.map(|(points, _)| points)).or_else(|| {
        // Where edges and corners meet, the shapes themselves tell.
        let refined = refine(on_a, on_b, (normal, size))?;
        let mut touching = refined.points;
        if refined.gap > apart(normal) + 1e-13 * size {
            let met;
            (normal, met) = exact(refined.normal);
            touching = met.unwrap_or(touching);
        }
        Some(touching)
    });
    let inward = a_from_b.inverse_vector(scale(normal, -1.0));
    let lowest = dot(normal, a_from_b.translation) - b.height(inward);
    let gap = lowest - a.height(normal);
    if gap > reach {
        return;
    }
    laid_over(a, b, a_from_b, (normal, reach), workspace);
    let out = &mut workspace.points;
    let smallest = out.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    if smallest > gap + 1e-9 * size {
        // The place of the closest points, at the heights of the surfaces.
        let [p, q] = touching.unwrap_or_else(|| [on_a(normal), on_b(scale(normal, -1.0))]);
        let place = scale(add(along(p, ra, normal), along(q, -rb, normal)), 0.5);
        let base = along(place, -dot(normal, place), normal);
        out.push(PointPair {
            on_a: along(base, a.height(normal), normal),
            on_b: along(base, lowest, normal),
            normal,
            gap,
        });
    }
}

/// The normal of a face near a direction that closest points gave, if the shapes are not closer along it.
fn face_normal(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (normal, size): (Vector, f64),
) -> Option<Vector> {
    let inward = a_from_b.inverse_vector(scale(normal, -1.0));
    let of_b = b.face_along(inward);
    let faces = [
        a.face_along(normal),
        of_b.map(|n| scale(a_from_b.vector(n), -1.0)),
    ];
    no_closer(a, b, a_from_b, (normal, size), faces)
}

/// The common normal of two axes near a direction that closest points gave, if the shapes are not closer along it.
fn normal_of_axes(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (normal, size): (Vector, f64),
) -> Option<Vector> {
    let axis = |s: &Solid| match s {
        Solid::Cylinder { .. } => Some([0.0, 0.0, 1.0]),
        Solid::Capsule { ends, .. } => direction(sub(ends[1], ends[0])),
        _ => None,
    };
    let (x, y) = (axis(a)?, axis(b).map(|d| a_from_b.vector(d))?);
    let across = super::vector::cross(x, y);
    let common = if norm(across) > 1e-6 {
        direction(across)
    } else {
        // Parallel: across both, between the axes.
        let apart = a_from_b.translation;
        direction(along(apart, -dot(apart, x), x))
    };
    no_closer(a, b, a_from_b, (normal, size), [common])
}

/// The first of some lines, near a direction, along which shapes are not closer than along that.
fn no_closer<const N: usize>(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (normal, size): (Vector, f64),
    lines: [Option<Vector>; N],
) -> Option<Vector> {
    const NEAR: f64 = 1.0 - 1e-6;
    let here = separation(a, b, a_from_b, normal);
    let turned = |n: Vector| scale(n, 1f64.copysign(dot(n, normal)));
    lines
        .into_iter()
        .flatten()
        .map(turned)
        .find(|&n| dot(n, normal) > NEAR && separation(a, b, a_from_b, n) >= here - 1e-12 * size)
}

/// Distance of two shapes along a direction from the first to the second.
fn separation(a: &Solid, b: &Solid, a_from_b: &Transform, n: Vector) -> f64 {
    let inward = a_from_b.inverse_vector(scale(n, -1.0));
    dot(n, a_from_b.translation) - b.height(inward) - a.height(n)
}

/// The direction along which two shapes whose cores overlap come apart with the least motion, among the normals of
/// their faces, their axes and the line of their centres.
fn deepest_axis(a: &Solid, b: &Solid, a_from_b: &Transform) -> Option<Vector> {
    let mut axes: Vec<Vector> = Vec::new();
    let own = |s: &Solid, axes: &mut Vec<Vector>| match s {
        Solid::Polyhedron(p) => axes.extend(p.faces().iter().map(|f| f.normal)),
        Solid::Cylinder { .. } | Solid::Cone { .. } => {
            axes.extend([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]);
        }
        _ => {}
    };
    own(a, &mut axes);
    let first = axes.len();
    own(b, &mut axes);
    for axis in &mut axes[first..] {
        *axis = scale(a_from_b.vector(*axis), -1.0);
    }
    // Across the axes of cylinders and capsules, and between the centres.
    let apart = a_from_b.translation;
    axes.extend(direction(apart));
    let around = |axis: Vector| direction(along(apart, -dot(apart, axis), axis));
    axes.extend(around([0.0, 0.0, 1.0]));
    axes.extend(around(a_from_b.axis(2)));
    axes.extend(direction(super::vector::cross(
        [0.0, 0.0, 1.0],
        a_from_b.axis(2),
    )));
    let mut best: Option<(Vector, f64)> = None;
    for axis in axes {
        for n in [axis, scale(axis, -1.0)] {
            let value = separation(a, b, a_from_b, n);
            if best.is_none_or(|b| value > b.1) {
                best = Some((n, value));
            }
        }
    }
    best.map(|b| b.0)
}
