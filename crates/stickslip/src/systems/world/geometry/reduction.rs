//! Fewer points: duplicates merged, those left out that others of their patch keep apart, at most as many as the solver should see.

use super::overlay::PointPair;
use super::vector::{distance, dot, norm, scale, sub, tangents};

/// Most contacts of two shapes, of a patch of one normal, and of those its corners.
pub(super) const POINTS_MAX: usize = 24;
const PATCH_MAX: usize = 12;
const CORNERS_MAX: usize = 8;
/// Points closer than this part of the size are one.
const MERGE: f64 = 1e-4;
/// Normals of one patch have at least this cosine: a thousandth of a radian is another triangle, which keeps apart another way.
const ALIKE: f64 = 1.0 - 5e-7;

/// Merges points at one place with one normal; of a patch the corners are kept, and points inside that lie below what the corners span.
pub(super) fn reduce(points: &mut Vec<PointPair>, size: f64) {
    let mut kept = 0;
    for i in 0..points.len() {
        let p = points[i];
        let same = |q: &PointPair| {
            distance(p.on_a, q.on_a) <= MERGE * size && dot(p.normal, q.normal) > ALIKE
        };
        match points[..kept].iter().position(same) {
            Some(k) if p.gap < points[k].gap => points[k] = p,
            Some(_) => {}
            None => {
                points[kept] = p;
                kept += 1;
            }
        }
    }
    points.truncate(kept);
    if points.len() <= 4 {
        return;
    }
    // Patches: points with the normal of the first that is left, each reduced to its corners.
    let mut start = 0;
    let mut corners = 0;
    while start < points.len() {
        let normal = points[start].normal;
        let mut end = start + 1;
        for k in start + 1..points.len() {
            if dot(points[k].normal, normal) > ALIKE {
                points.swap(end, k);
                end += 1;
            }
        }
        let count = keep_corners(&mut points[start..end], size);
        for k in 0..count {
            points.swap(corners + k, start + k);
        }
        corners += count;
        start = end;
    }
    points.truncate(corners);
    if points.len() > POINTS_MAX {
        keep_spread(points, size);
    }
}

/// Moves the corners of a patch to the front, in order around it, then the points that lie below the plane of corners about them: the others stay apart
/// where these do, for gaps of one normal change in proportion to place. Returns their number, at most twelve.
fn keep_corners(patch: &mut [PointPair], size: f64) -> usize {
    if patch.len() <= 2 {
        return patch.len();
    }
    let frame = tangents(patch[0].normal);
    let flat = |p: &PointPair| [dot(frame[0], p.on_a), dot(frame[1], p.on_a)];
    let turn = |a: &PointPair, b: &PointPair, c: &PointPair| {
        let (a, b, c) = (flat(a), flat(b), flat(c));
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    // The lower and the upper chain of the hull; what is straight within 1e-6 of the size is no corner.
    patch.sort_by(|p, q| {
        let (p, q) = (flat(p), flat(q));
        p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]))
    });
    let straight = 1e-6 * size * size;
    let mut hull: Vec<PointPair> = Vec::with_capacity(patch.len() + 1);
    for pass in 0..2 {
        let floor = hull.len() + 1;
        for k in 0..patch.len() {
            let p = if pass == 0 {
                patch[k]
            } else {
                patch[patch.len() - 1 - k]
            };
            while hull.len() > floor
                && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], &p) <= straight
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
    }
    let corners = hull.len();
    // The nearest of those that lie below what is kept.
    while hull.len() - corners < PATCH_MAX - 3 {
        let below =
            |p: &&PointPair| !hull.contains(p) && span(&hull, p, size, flat) > p.gap + 1e-6 * size;
        let nearest = patch.iter().filter(below);
        match nearest.min_by(|p, q| p.gap.total_cmp(&q.gap)) {
            Some(p) => hull.push(*p),
            None => break,
        }
    }
    // Of the corners that which spans the least area goes first; a hundredth of the size below its neighbours counts as an area of the size.
    let inside = hull.split_off(corners);
    while hull.len() > CORNERS_MAX || (hull.len() + inside.len() > PATCH_MAX && hull.len() > 3) {
        let n = hull.len();
        let loss = |k: usize| {
            let (last, next) = (&hull[(k + n - 1) % n], &hull[(k + 1) % n]);
            let lower = last.gap.min(next.gap) - hull[k].gap;
            turn(last, &hull[k], next) + 100.0 * size * lower.max(0.0)
        };
        let mut least = 0;
        for k in 1..n {
            if loss(k) < loss(least) {
                least = k;
            }
        }
        hull.remove(least);
    }
    hull.extend(inside);
    let count = hull.len().min(patch.len()).min(PATCH_MAX);
    patch[..count].copy_from_slice(&hull[..count]);
    count
}

/// The least gap at the place of a point that three points about it span, or two that it lies between within a thousandth of the size; infinite beside them.
fn span(
    points: &[PointPair],
    p: &PointPair,
    size: f64,
    flat: impl Fn(&PointPair) -> [f64; 2],
) -> f64 {
    let at = flat(p);
    let place = |q: &PointPair| {
        let [x, y] = flat(q);
        [x - at[0], y - at[1]]
    };
    let area = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let mut least = f64::INFINITY;
    for (i, a) in points.iter().enumerate() {
        let x = place(a);
        for (j, b) in points[..i].iter().enumerate() {
            let y = place(b);
            let way = [y[0] - x[0], y[1] - x[1]];
            let length = way[0].hypot(way[1]);
            let share = -(x[0] * way[0] + x[1] * way[1]) / (length * length);
            if area(x, y).abs() <= 1e-3 * size * length && (0.0..=1.0).contains(&share) {
                least = least.min(a.gap + share * (b.gap - a.gap));
            }
            for c in &points[..j] {
                let z = place(c);
                let weights = [area(y, z), area(z, x), area(x, y)];
                let whole: f64 = weights.iter().sum();
                if whole != 0.0 && weights.iter().all(|w| w / whole >= 0.0) {
                    let gaps = [a.gap, b.gap, c.gap];
                    let weighted = weights.iter().zip(gaps).map(|(w, g)| w / whole * g);
                    least = least.min(weighted.sum());
                }
            }
        }
    }
    least
}

/// Of several patches: the deepest points for one half, then always the one farthest from those chosen; another normal counts as a
/// distance of the size.
fn keep_spread(points: &mut Vec<PointPair>, size: f64) {
    for chosen in 0..POINTS_MAX {
        let mut best = (chosen, f64::NEG_INFINITY);
        for (k, p) in points.iter().enumerate().skip(chosen) {
            let far =
                |q: &PointPair| distance(p.on_a, q.on_a) + size * norm(sub(p.normal, q.normal));
            let value = if chosen < POINTS_MAX / 2 {
                -p.gap
            } else {
                points[..chosen]
                    .iter()
                    .map(far)
                    .fold(f64::INFINITY, f64::min)
            };
            if value > best.1 {
                best = (k, value);
            }
        }
        points.swap(chosen, best.0);
    }
    points.truncate(POINTS_MAX);
}

/// The same pairs with the shapes exchanged: `b_from_a` leads from the frame of the first to that of the second.
pub(super) fn exchange(points: &mut [PointPair], b_from_a: &super::vector::Transform) {
    for p in points {
        *p = PointPair {
            on_a: b_from_a.point(p.on_b),
            on_b: b_from_a.point(p.on_a),
            normal: scale(b_from_a.vector(p.normal), -1.0),
            gap: p.gap,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of points with one normal whose gaps are those of a bowl or of a dome.
    fn grid(gap: impl Fn(f64, f64) -> f64) -> Vec<PointPair> {
        let places =
            (0..3).flat_map(|i| (0..3).map(move |j| (0.5 * f64::from(i), 0.5 * f64::from(j))));
        let point = |(x, y): (f64, f64)| {
            let gap = gap(x - 0.5, y - 0.5);
            PointPair {
                on_a: [x, y, 0.0],
                on_b: [x, y, gap],
                normal: [0.0, 0.0, 1.0],
                gap,
            }
        };
        places.map(point).collect()
    }

    #[test]
    fn points_are_left_out_where_others_keep_them_apart() {
        let mut dome = grid(|x, y| 0.1 - 0.05 * (x * x + y * y));
        reduce(&mut dome, 1.0);
        assert_eq!(dome.len(), 4, "{dome:?}");
        let mut flat = grid(|x, y| 0.1 + 0.05 * x - 0.02 * y);
        reduce(&mut flat, 1.0);
        assert_eq!(flat.len(), 4, "{flat:?}");
        // The middle lies below what the corners span, though it is not the deepest point.
        let mut summit = grid(|x, y| 0.1 + 0.2 * x - if x == 0.0 && y == 0.0 { 0.01 } else { 0.0 });
        reduce(&mut summit, 1.0);
        assert_eq!(summit.len(), 5, "{summit:?}");
        assert!(summit.iter().any(|p| p.on_a == [0.5, 0.5, 0.0]));
        // Of a bowl no point may go.
        let mut bowl = grid(|x, y| 0.1 + 0.05 * (x * x + y * y));
        reduce(&mut bowl, 1.0);
        assert_eq!(bowl.len(), 9);
    }
}
