//! Fewer points: duplicates merged, those inside a patch left out, at most as many as the solver should see.

use super::overlay::PointPair;
use super::vector::{distance, dot, norm, scale, sub, tangents};

/// Most contacts of two shapes.
pub(super) const POINTS_MAX: usize = 8;
/// Points closer than this part of the size are one.
const MERGE: f64 = 1e-4;
/// Normals of one patch have at least this cosine.
const ALIKE: f64 = 0.999;

/// Merges points at one place with one normal; of a flat patch only the corners are kept, and the deepest point; at most eight.
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

/// Moves the corners of a patch to the front, in order around it, and the deepest point if it is deeper than they are;
/// returns their number, at most eight.
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
    let mut deepest = patch[0];
    for p in patch.iter() {
        if p.gap < deepest.gap {
            deepest = *p;
        }
    }
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
    // The corner that spans the least area goes first.
    while hull.len() > POINTS_MAX {
        let n = hull.len();
        let area = |k: usize| turn(&hull[(k + n - 1) % n], &hull[k], &hull[(k + 1) % n]);
        let mut least = 0;
        for k in 1..n {
            if area(k) < area(least) {
                least = k;
            }
        }
        hull.remove(least);
    }
    let lowest = hull.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    if deepest.gap < lowest - 1e-6 * size {
        if hull.len() == POINTS_MAX {
            hull.pop();
        }
        hull.push(deepest);
    }
    let count = hull.len().min(patch.len());
    patch[..count].copy_from_slice(&hull[..count]);
    count
}

/// Of several patches: the deepest point first, then always the one farthest from those chosen; another normal counts as a
/// distance of the size.
fn keep_spread(points: &mut Vec<PointPair>, size: f64) {
    for chosen in 0..POINTS_MAX {
        let mut best = (chosen, f64::NEG_INFINITY);
        for (k, p) in points.iter().enumerate().skip(chosen) {
            let far =
                |q: &PointPair| distance(p.on_a, q.on_a) + size * norm(sub(p.normal, q.normal));
            let value = if chosen == 0 {
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
