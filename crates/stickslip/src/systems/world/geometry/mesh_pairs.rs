//! A convex shape against a surface of triangles.

use super::gjk::{Apart, closest};
use super::overlay::PointPair;
use super::pairs::{Workspace, ball_point};
use super::polyhedron::support;
use super::refined_normal::refine;
use super::solid::{SLANTED, Solid};
use super::triangle_mesh::TriangleMesh;
use super::vector::{Transform, Vector, along, cross, direction, dot, norm, scale, sub};

/// Pairs of points of a convex shape and the triangles near it, in the frame of the shape.
///
/// A triangle counts where the shape is in front of it and the normal is one the surface has there: at an edge between
/// the normals of its two triangles, never out over a flat or hollow edge, whose other triangle tells the contact.
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
        let t = t as usize;
        let corners = mesh.corners(t).map(|p| a_from_b.point(p));
        let face = a_from_b.vector(mesh.normal(t));
        on_triangle(
            a,
            &corners,
            face,
            (mesh, t),
            a_from_b,
            (reach, size),
            workspace,
        );
    }
    workspace.triangles = near;
}

fn on_triangle(
    a: &Solid,
    corners: &[Vector; 3],
    face: Vector,
    (mesh, t): (&TriangleMesh, usize),
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    // Behind the triangle by more than half the shape: another triangle holds it, or it has fallen through.
    let level = dot(face, corners[0]);
    if -level < -0.5 * size {
        return;
    }
    // Out of reach before its plane. Cores only lead to the normal: edges and corners of a shape lie farther from its core than
    // its faces do, so that no distance of cores tells that the shape is out of reach.
    if -a.height(scale(face, -1.0)) - level > reach {
        return;
    }
    let sharp = a.is_round();
    let limit = if sharp {
        reach + a.rounding()
    } else {
        f64::INFINITY
    };
    let (outward, apart) = if let Solid::Ball { .. } = a {
        let nearest = on_triangle_point([0.0; 3], corners);
        match direction(scale(nearest, -1.0)) {
            Some(outward) if dot(outward, face) > 0.0 => (outward, true),
            // The centre lies in the triangle or behind it.
            _ => (face, false),
        }
    } else {
        let start = scale(face, -1.0);
        match closest(
            |d| a.core_support(d, sharp),
            |d| support(corners, d),
            (size, start, limit),
        ) {
            Apart::Far => return,
            Apart::By { direction, .. } if dot(direction, face) < 0.0 => {
                (scale(direction, -1.0), true)
            }
            _ => (face, false),
        }
    };
    // Within rounding of the face's normal it is that normal.
    let lean = dot(outward, face);
    let outward = if lean > 1.0 - 1e-12 { face } else { outward };
    // Whether a normal leans out over an edge farther than the surface has normals there.
    let beyond_edge = |outward: Vector| {
        let lean = dot(outward, face);
        mesh.edge_cones(t).iter().any(|edge| {
            let over = dot(outward, a_from_b.vector(edge.outward));
            over > 1e-9 && over.atan2(lean) > edge.lean + 1e-6
        })
    };
    // Out over a flat or hollow edge another triangle is nearer. The axis of a round shape tells its normal; that of other cores is checked.
    if a.is_round() && apart && beyond_edge(outward) {
        return;
    }
    if !apart {
        // Only where the shape lies over the triangle itself.
        let below = a.core_support(scale(face, -1.0), true);
        let foot = along(below, level - dot(face, below), face);
        let nearest = on_triangle_point(foot, corners);
        if super::vector::distance(nearest, foot) > 1e-9 * size {
            return;
        }
    }
    let normal = scale(outward, -1.0);
    let gap = gap_along(a, corners, normal);
    if gap > reach {
        return;
    }
    if let Solid::Ball { radius } = a {
        ball_point(
            *radius,
            (outward, gap + radius),
            reach,
            &mut workspace.points,
        );
        return;
    }
    let before = workspace.points.len();
    let nearest = lay_nearest(a, corners, (normal, face), (reach, size), workspace);
    if nearest.is_none_or(|normal| beyond_edge(scale(normal, -1.0))) {
        workspace.points.truncate(before);
        corners_over(a, corners, face, (reach, size), workspace);
    }
}

/// Distance of a shape and a triangle along a unit normal from the first to the second.
fn gap_along(a: &Solid, corners: &[Vector; 3], normal: Vector) -> f64 {
    dot(normal, support(corners, scale(normal, -1.0))) - a.height(normal)
}

/// Adds the points at which a shape lies over a triangle along the normal of their nearest points, and these; that normal. It is sought from that of
/// the cores, and is the right one where points one above the other along it are as near as the shapes are along it. None where they are out of reach,
/// or behind the triangle.
fn lay_nearest(
    a: &Solid,
    corners: &[Vector; 3],
    (from, face): (Vector, Vector),
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) -> Option<Vector> {
    let before = workspace.points.len();
    let is_nearest = |found: f64, gap: f64| found <= gap + 1e-9 * size;
    let gap = gap_along(a, corners, from);
    if is_nearest(lay_over(a, corners, (from, face), reach, workspace), gap) {
        return Some(from);
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
        return Some(normal);
    }
    let pair = nearest_pair(a, corners, (from, gap), size)?;
    if dot(pair.normal, face) >= 0.0 || pair.gap > reach {
        return None;
    }
    workspace.points.truncate(before);
    let found = lay_over(a, corners, (pair.normal, face), reach, workspace);
    if !is_nearest(found, pair.gap) {
        workspace.points.push(pair);
    }
    Some(pair.normal)
}

/// Adds the corners of a shape over a triangle along the normal of the triangle: where the nearest points lie on another triangle, these may still
/// come down on this one.
fn corners_over(
    a: &Solid,
    corners: &[Vector; 3],
    face: Vector,
    (reach, size): (f64, f64),
    workspace: &mut Workspace,
) {
    let normal = scale(face, -1.0);
    a.feature(normal, &mut workspace.overlay.a);
    for &p in &workspace.overlay.a {
        let gap = dot(face, sub(p, corners[0]));
        let foot = along(p, -gap, face);
        let beside = super::vector::distance(on_triangle_point(foot, corners), foot);
        if gap <= reach && beside <= 1e-9 * size {
            workspace.points.push(PointPair {
                on_a: p,
                on_b: foot,
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
    let refined = refine(
        |d| a.core_support(d, true),
        |d| support(corners, d),
        (normal, size),
    )?;
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
        let q = super::pairs::on_segment(p, [*from, *to]);
        let d = sub(p, q);
        let square = dot(d, d);
        if best.is_none_or(|b| square < b.1) {
            best = Some((q, square));
        }
    }
    // The triangle has three edges.
    best.map_or(*a, |b| b.0)
}
