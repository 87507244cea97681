//! Closest points of two convex sets given by their supports.
//!
//! The simplex is parry's; the loop is ours, because the stopping test there (5e-8 of the distance) leaves directions
//! wrong by up to 3e-4.

use parry3d_f64::math::Vector as Point;
use parry3d_f64::query::gjk::{CsoPoint, VoronoiSimplex};

use super::refined_normal::refine;
use super::vector::Vector;

/// How two convex sets lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Apart {
    /// Closest points, unit direction from the first to the second, distance.
    By {
        points: [Vector; 2],
        direction: Vector,
        distance: f64,
    },
    /// Farther than the limit.
    Far,
    /// They overlap, or touch within rounding.
    Overlap,
}

const ITERATIONS_MAX: usize = 200;

fn point(v: Vector) -> Point {
    Point::new(v[0], v[1], v[2])
}

fn vector(p: Point) -> Vector {
    [p.x, p.y, p.z]
}

/// A unit direction from the first set to the second along which they lie apart, or if they overlap one near `start` along which they do so least, if
/// it is found. `unit` is a length of their size, `start` a direction from the first to the second.
pub(crate) fn separating_direction(
    a: impl Fn(Vector) -> Vector,
    b: impl Fn(Vector) -> Vector,
    (unit, start): (f64, Vector),
) -> Option<Vector> {
    match closest(&a, &b, (unit, start, f64::INFINITY)) {
        Apart::By { direction, .. } => Some(direction),
        Apart::Far | Apart::Overlap => refine(a, b, (start, unit)).map(|refined| refined.normal),
    }
}

/// Closest points of the sets with supports `a` and `b` (both in one frame); `unit` is a length of their size, `start` a
/// direction from the first to the second.
pub(super) fn closest(
    a: impl Fn(Vector) -> Vector,
    b: impl Fn(Vector) -> Vector,
    (unit, start, limit): (f64, Vector, f64),
) -> Apart {
    let inverse = 1.0 / unit;
    let far = |d: Point| {
        let on_a = a([d.x, d.y, d.z]).map(|x| x * inverse);
        let on_b = b([-d.x, -d.y, -d.z]).map(|x| x * inverse);
        CsoPoint::new(point(on_a), point(on_b))
    };
    let mut simplex = VoronoiSimplex::new();
    simplex.reset(far(point(start)));
    let mut projected = simplex.project_origin_and_reduce();
    let mut best: Option<(Vector, Vector, Point, f64)> = None;
    let finish = |best: Option<(Vector, Vector, Point, f64)>| match best {
        Some((p, q, direction, distance)) => Apart::By {
            points: [p, q].map(|p| p.map(|x| x * unit)),
            direction: vector(direction),
            distance: distance * unit,
        },
        None => Apart::Overlap,
    };
    for _ in 0..ITERATIONS_MAX {
        let distance = projected.length();
        if distance.is_nan() || distance <= 1e-13 {
            return Apart::Overlap;
        }
        if best.is_some_and(|b| distance >= b.3) {
            return finish(best);
        }
        let towards = -projected / distance;
        let (mut p, mut q) = (Point::ZERO, Point::ZERO);
        for i in 0..=simplex.dimension() {
            let weight = simplex.proj_coord(i);
            p += simplex.point(i).orig1 * weight;
            q += simplex.point(i).orig2 * weight;
        }
        best = Some((vector(p), vector(q), towards, distance));
        let next = far(towards);
        let bound = -towards.dot(next.point);
        if bound * unit > limit {
            return Apart::Far;
        }
        if distance - bound <= 1e-15 * distance.max(1.0) || !simplex.add_point(next) {
            return finish(best);
        }
        projected = simplex.project_origin_and_reduce();
        if simplex.dimension() == 3 {
            // The origin is inside a tetrahedron: overlap, unless a bound has shown the contrary.
            return if bound > 0.0 {
                finish(best)
            } else {
                Apart::Overlap
            };
        }
    }
    finish(best)
}
