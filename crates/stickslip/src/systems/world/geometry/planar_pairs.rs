//! Pairs of shapes of the plane: convex polygons with a radius, of which discs, capsules and segments are cases.

use super::overlay::PointPair;
use super::solid::Solid;
use super::vector::{Transform, Vector};

type Point = [f64; 2];

/// Part of their coordinates to which points lie along a normal.
const ALONG: f64 = 64.0 * f64::EPSILON;

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// A polygon with its radius.
struct Flat<'a> {
    points: &'a [Point],
    radius: f64,
}

impl Flat<'_> {
    fn edges(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        let n = self.points.len();
        // One point has no edge, two have the edge in both senses.
        let count = if n == 1 { 0 } else { n };
        (0..count).map(move |k| (self.points[k], self.points[(k + 1) % n]))
    }

    fn lowest(&self, n: Point) -> f64 {
        let heights = self.points.iter().map(|&p| dot(n, p));
        heights.fold(f64::INFINITY, f64::min)
    }

    fn largest(&self) -> f64 {
        let numbers = self.points.iter().flatten();
        numbers.fold(0.0, |s, x| s.max(x.abs()))
    }

    /// The edge that looks most along a unit direction, if one does.
    fn edge_along(&self, n: Point) -> Option<(Point, Point)> {
        let mut best: Option<((Point, Point), f64)> = None;
        for (p, q) in self.edges() {
            let u = sub(q, p);
            let length = u[0].hypot(u[1]);
            let value = (u[1] * n[0] - u[0] * n[1]) / length;
            if best.is_none_or(|b| value > b.1) {
                best = Some(((p, q), value));
            }
        }
        best.filter(|b| b.1 > super::solid::SLANTED).map(|b| b.0)
    }
}

/// Outward normal of an edge of a counter-clockwise polygon.
fn outward(p: Point, q: Point) -> Option<Point> {
    let u = sub(q, p);
    let length = u[0].hypot(u[1]);
    (length > 0.0).then(|| [u[1] / length, -u[0] / length])
}

/// Largest separation of two polygons along the normals of the edges of the first.
fn separation(a: &Flat, b: &Flat) -> Option<(Point, f64)> {
    let mut best: Option<(Point, f64)> = None;
    for (p, q) in a.edges() {
        let Some(n) = outward(p, q) else { continue };
        let value = b.lowest(n) - dot(n, p);
        if best.is_none_or(|b| value > b.1) {
            best = Some((n, value));
        }
    }
    best
}

/// Closest points of two outlines.
fn closest(a: &Flat, b: &Flat) -> (Point, Point, f64) {
    let mut best = (a.points[0], b.points[0], f64::INFINITY);
    let mut try_pair = |p: Point, q: Point| {
        let d = sub(p, q);
        let square = dot(d, d);
        if square < best.2 {
            best = (p, q, square);
        }
    };
    let on_edge = |p: Point, (s, e): (Point, Point)| {
        let u = sub(e, s);
        let t = (dot(sub(p, s), u) / dot(u, u)).clamp(0.0, 1.0);
        [s[0] + t * u[0], s[1] + t * u[1]]
    };
    for &p in a.points {
        for &q in b.points {
            try_pair(p, q);
        }
        for edge in b.edges() {
            try_pair(p, on_edge(p, edge));
        }
    }
    for &q in b.points {
        for edge in a.edges() {
            try_pair(on_edge(q, edge), q);
        }
    }
    (best.0, best.1, best.2.sqrt())
}

/// Pairs of points of two shapes of the plane within reach: one, or two where edges lie along each other.
pub(super) fn planar_pair(
    a: &Solid,
    b: &Solid,
    a_from_b: &Transform,
    (reach, size): (f64, f64),
    (moved, out): (&mut Vec<Point>, &mut Vec<PointPair>),
) {
    let centre = [[0.0, 0.0]];
    let (points_a, ra) = parts(a, &centre);
    let (points_b, rb) = parts(b, &centre);
    moved.clear();
    moved.extend(points_b.iter().map(|p| {
        let [x, y, _] = a_from_b.point([p[0], p[1], 0.0]);
        [x, y]
    }));
    let (a, b) = (
        Flat {
            points: points_a,
            radius: ra,
        },
        Flat {
            points: moved,
            radius: rb,
        },
    );
    let Some((normal, [p, q])) = measured(&a, &b, (reach, size)) else {
        return;
    };
    let radius = a.radius + b.radius;
    // Heights of the outlines along the normal.
    let high_a = -a.lowest([-normal[0], -normal[1]]);
    let gap = b.lowest(normal) - high_a - radius;
    if gap > reach {
        return;
    }
    let before = out.len();
    let tangent = [-normal[1], normal[0]];
    let pair = |s: f64, [on_a, on_b]: [f64; 2], gap: f64| {
        let at = |height: f64| -> Vector {
            [
                s * tangent[0] + height * normal[0],
                s * tangent[1] + height * normal[1],
                0.0,
            ]
        };
        PointPair {
            on_a: at(on_a),
            on_b: at(on_b),
            normal: [normal[0], normal[1], 0.0],
            gap,
        }
    };
    let edges = (a.edge_along(normal), b.edge_along([-normal[0], -normal[1]]));
    if let (Some(e), Some(f)) = edges {
        let span = |(p, q): (Point, Point)| {
            let (s, t) = (dot(tangent, p), dot(tangent, q));
            (s.min(t), s.max(t))
        };
        let height = |(p, q): (Point, Point), at: f64| {
            let (s, t) = (dot(tangent, p), dot(tangent, q));
            let (h, k) = (dot(normal, p), dot(normal, q));
            h + (at - s) / (t - s) * (k - h)
        };
        let (x, y) = (span(e), span(f));
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if to - from > 1e-9 * size {
            for s in [from, to] {
                let (low, high) = (height(e, s), height(f, s));
                let gap = high - low - radius;
                if gap <= reach {
                    out.push(pair(s, [low + a.radius, high - b.radius], gap));
                }
            }
        }
    }
    let smallest = out[before..]
        .iter()
        .map(|p| p.gap)
        .fold(f64::INFINITY, f64::min);
    if smallest > gap + 1e-9 * size {
        let s = 0.5 * (dot(tangent, p) + dot(tangent, q));
        let on_a = high_a + a.radius;
        out.push(pair(s, [on_a, on_a + gap], gap));
    }
}

/// The direction from a to b along which their distance is measured, and the closest points of their outlines; none beyond the reach.
fn measured(a: &Flat, b: &Flat, (reach, size): (f64, f64)) -> Option<(Point, [Point; 2])> {
    let tie = 1e-9 * size;
    // The axis of largest separation, from a to b; edges of a are preferred within rounding.
    let by_a = separation(a, b);
    let by_b = separation(b, a).map(|(n, s)| ([-n[0], -n[1]], s));
    let axis = match (by_a, by_b) {
        (Some(x), Some(y)) if y.1 > x.1 + tie => Some(y),
        (Some(x), _) => Some(x),
        (None, y) => y,
    };
    let radius = a.radius + b.radius;
    if axis.is_some_and(|x| x.1 - radius > reach) {
        return None;
    }
    let (p, q, distance) = closest(a, b);
    let apart = axis.is_none_or(|x| x.1 > 0.0);
    let d = sub(q, p);
    // How far the closest points are from the line along a normal. Their distance would not tell: it sees a normal that
    // leans in second order only.
    let beside = |n: Point| (n[0] * d[1] - n[1] * d[0]).abs();
    let numbers = a.largest().max(b.largest());
    let normal = match axis {
        // The normal of an edge where it realises the distance; otherwise the line of the closest points.
        Some((n, _)) if !apart || beside(n) <= ALONG * numbers || distance <= 1e-6 * size => n,
        _ if distance > 0.0 => [d[0] / distance, d[1] / distance],
        _ => return None,
    };
    Some((normal, [p, q]))
}

fn parts<'a>(solid: &'a Solid, centre: &'a [Point]) -> (&'a [Point], f64) {
    match solid {
        Solid::Flat { points, radius } => (points, *radius),
        Solid::Ball { radius } => (centre, *radius),
        // Shapes of space do not come here.
        _ => (centre, 0.0),
    }
}
