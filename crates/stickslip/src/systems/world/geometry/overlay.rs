//! Two faces laid over each other: the points at which they touch, or would along the normal.

use super::vector::{Vector, along, cross, dot, sub, tangents};

/// A pair of points, one of each shape, in the frame of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PointPair {
    pub on_a: Vector,
    pub on_b: Vector,
    /// Unit normal from the first to the second.
    pub normal: Vector,
    pub gap: f64,
}

/// A point of a feature: coordinates in the tangent plane, and height along the normal.
type Placed = [f64; 3];

/// Buffers of the overlay.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    /// Corners of the feature of the first shape.
    pub a: Vec<Vector>,
    /// Corners of the feature of the second shape.
    pub b: Vec<Vector>,
    placed_a: Vec<Placed>,
    placed_b: Vec<Placed>,
    clipped: Vec<Placed>,
    spare: Vec<Placed>,
}

impl Overlay {
    /// Pairs of points of the two features, one above the other along the normal, at the corners of their common part.
    /// Heights are those of the faces themselves, so that slightly tilted faces get the gaps they have. Nothing if the
    /// features do not lie over each other or one of them is a point.
    pub fn pairs(&mut self, normal: Vector, reach: f64, out: &mut Vec<PointPair>) {
        let frame = tangents(normal);
        let place = |&p: &Vector| [dot(frame[0], p), dot(frame[1], p), dot(normal, p)];
        self.placed_a.clear();
        self.placed_a.extend(self.a.iter().map(place));
        self.placed_b.clear();
        self.placed_b.extend(self.b.iter().map(place));
        let mut push = |x: f64, y: f64, (low, high): (f64, f64)| {
            let gap = high - low;
            if gap <= reach {
                let base = along(along([0.0; 3], x, frame[0]), y, frame[1]);
                out.push(PointPair {
                    on_a: along(base, low, normal),
                    on_b: along(base, high, normal),
                    normal,
                    gap,
                });
            }
        };
        match (self.placed_a.len(), self.placed_b.len()) {
            (0 | 1, _) | (_, 0 | 1) => {}
            (2, 2) => {
                if let Some(common) = common_part(&self.placed_a, &self.placed_b) {
                    for (p, low, high) in common {
                        push(p[0], p[1], (low, high));
                    }
                }
            }
            (2, _) => {
                let plane = plane_of(&self.placed_b);
                clip(
                    &self.placed_a,
                    &self.placed_b,
                    (&mut self.clipped, &mut self.spare),
                );
                for p in &self.clipped {
                    push(p[0], p[1], (p[2], plane.height(p)));
                }
            }
            (_, _) => {
                let plane = plane_of(&self.placed_a);
                clip(
                    &self.placed_b,
                    &self.placed_a,
                    (&mut self.clipped, &mut self.spare),
                );
                for p in &self.clipped {
                    push(p[0], p[1], (plane.height(p), p[2]));
                }
            }
        }
    }
}

/// A plane as a height over the tangent plane.
struct Plane {
    at: Placed,
    slope: [f64; 2],
}

impl Plane {
    fn height(&self, p: &Placed) -> f64 {
        self.at[2] + self.slope[0] * (p[0] - self.at[0]) + self.slope[1] * (p[1] - self.at[1])
    }
}

/// The plane of a convex polygon, from its vector of area.
fn plane_of(polygon: &[Placed]) -> Plane {
    let at = polygon[0];
    let mut normal = [0.0; 3];
    for k in 1..polygon.len() - 1 {
        normal = super::vector::add(normal, cross(sub(polygon[k], at), sub(polygon[k + 1], at)));
    }
    // Features look along the normal by more than a slanted face: the third component is not small.
    Plane {
        at,
        slope: [-normal[0] / normal[2], -normal[1] / normal[2]],
    }
}

/// Twice the signed area of a triangle in the tangent plane.
fn turn(a: &Placed, b: &Placed, p: &Placed) -> f64 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

/// The part of a segment or polygon inside a convex polygon (Sutherland and Hodgman); heights are interpolated.
fn clip(
    subject: &[Placed],
    polygon: &[Placed],
    (result, spare): (&mut Vec<Placed>, &mut Vec<Placed>),
) {
    result.clear();
    result.extend_from_slice(subject);
    let n = polygon.len();
    let area: f64 = (1..n - 1)
        .map(|k| turn(&polygon[0], &polygon[k], &polygon[k + 1]))
        .sum();
    let sense = area.signum();
    for k in 0..n {
        let (from, to) = (&polygon[k], &polygon[(k + 1) % n]);
        std::mem::swap(result, spare);
        result.clear();
        let count = spare.len();
        let open = subject.len() == 2;
        for i in 0..count {
            let (p, q) = (spare[i], spare[(i + 1) % count]);
            let inside = sense * turn(from, to, &p);
            let next = sense * turn(from, to, &q);
            if inside >= 0.0 {
                result.push(p);
            }
            // A segment is not closed: it has one side only.
            if (inside >= 0.0) != (next >= 0.0) && !(open && i + 1 == count) {
                let s = inside / (inside - next);
                result.push(std::array::from_fn(|c| p[c] + s * (q[c] - p[c])));
            }
        }
        if result.is_empty() {
            return;
        }
    }
}

/// Where two segments lie over each other, with the heights of both: the ends of the common part of nearly parallel ones,
/// the crossing of others.
fn common_part(a: &[Placed], b: &[Placed]) -> Option<[(Placed, f64, f64); 2]> {
    let (u, v) = (sub(a[1], a[0]), sub(b[1], b[0]));
    let (lu, lv) = (u[0].hypot(u[1]), v[0].hypot(v[1]));
    if lu == 0.0 || lv == 0.0 {
        return None;
    }
    let on_a = |s: f64| -> Placed { std::array::from_fn(|c| a[0][c] + s * u[c]) };
    let across = u[0] * v[1] - u[1] * v[0];
    if across.abs() > 1e-4 * lu * lv {
        let w = sub(b[0], a[0]);
        let s = (w[0] * v[1] - w[1] * v[0]) / across;
        let r = (w[0] * u[1] - w[1] * u[0]) / across;
        let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&r);
        let p = on_a(s);
        // The same point twice: duplicates are merged.
        return inside.then_some([(p, p[2], b[0][2] + r * v[2]); 2]);
    }
    let along_a = |p: &Placed| ((p[0] - a[0][0]) * u[0] + (p[1] - a[0][1]) * u[1]) / (lu * lu);
    let (s0, s1) = (along_a(&b[0]), along_a(&b[1]));
    let low = s0.min(s1).max(0.0);
    let high = s0.max(s1).min(1.0);
    if low > high {
        return None;
    }
    Some([low, high].map(|s| {
        let p = on_a(s);
        let r = if s1 == s0 { 0.0 } else { (s - s0) / (s1 - s0) };
        (p, p[2], b[0][2] + r * v[2])
    }))
}
