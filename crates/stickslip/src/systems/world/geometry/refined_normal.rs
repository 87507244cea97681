//! The direction along which two convex shapes lie farthest apart, near one that is nearly so.
//!
//! # What it computes
//!
//! For supports p(n) of the first shape and q(−n) of the second, w = q − p, the largest s(n) = n·w(n) over unit vectors near a start: the distance
//! of shapes that lie apart, minus the depth of those that overlap. Over the tangent plane at n the homogeneous function x ↦ min x·w is concave: every
//! look along a direction is a cut from above, and the next direction is the best one for the cuts known, within a square that shrinks where
//! it promises too much. The points that touch are p and q weighted as the cuts that meet at the maximum.
//!
//! # Source
//!
//! Kelley's cutting planes with a trust region, on the support function of the Minkowski difference; own form.
//!
//! # Guarantees
//!
//! The gap of the answer is that of its normal, a local maximum to rounding, and its points lie on both shapes. Of polyhedra it ends at the face,
//! the edges or the vertices themselves.
//!
//! # Behaviour to know
//!
//! It finds the maximum nearby where overlaps have several, and says so where it finds none.
//!
//! # Cost
//!
//! 5 to 40 looks along a direction, each with a microsecond for the cuts.
//!
//! # Tested by
//!
//! `systems/world/geometry/tests/refined.rs`.

use super::vector::{Vector, along, cross, direction, dot, norm, scale, sub, tangents};

/// The normal from the first shape to the second, the gap along it and the points that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refined {
    pub normal: Vector,
    pub gap: f64,
    pub points: [Vector; 2],
}

/// Looks at most.
const LOOKS_MAX: usize = 80;
/// Cuts kept.
const CUTS: usize = 8;
/// Half side of the square at first, a tangent; at most so large, and too small to go on.
const SQUARE: f64 = 0.25;
const SQUARE_MAX: f64 = 0.5;
const SQUARE_MIN: f64 = 1e-9;
/// Part of the extent to which gaps are told apart.
const PRECISION: f64 = 2e-15;

/// Points of the supports along a direction, and their difference.
#[derive(Clone, Copy)]
struct Cut {
    p: Vector,
    q: Vector,
    w: Vector,
}

/// Refines a unit direction from the first shape to the second, supports in one frame and `size` a length of the shapes; none where no maximum is found
/// nearby.
pub(super) fn refine(
    a: impl Fn(Vector) -> Vector,
    b: impl Fn(Vector) -> Vector,
    (start, size): (Vector, f64),
) -> Option<Refined> {
    let look = |n: Vector| {
        let (p, q) = (a(n), b(scale(n, -1.0)));
        let w = sub(q, p);
        Cut { p, q, w }
    };
    let first = look(start);
    let precision = PRECISION * size.max(norm(first.p)).max(norm(first.q));
    let (mut n, mut value) = (start, dot(start, first.w));
    let mut frame = tangents(n);
    let mut square = SQUARE;
    let mut cuts = Vec::with_capacity(CUTS);
    cuts.push(first);
    for _ in 0..LOOKS_MAX {
        let (x, promised) = best_of_cuts(&cuts, n, &frame, square);
        if promised - value <= precision || square < SQUARE_MIN {
            return answer(&cuts, (n, value), size);
        }
        let tried = direction(along(along(n, x[0], frame[0]), x[1], frame[1]))?;
        let cut = look(tried);
        enter(&mut cuts, cut, n, precision);
        let there = dot(tried, cut.w);
        if there > value {
            if there - value > 0.5 * (promised - value) {
                square = (2.0 * square).min(SQUARE_MAX);
            }
            (n, value) = (tried, there);
            frame = tangents(n);
        } else {
            // Closer than where it went, which promised more than there was.
            square = 0.5 * square.min(x[0].abs().max(x[1].abs()));
        }
    }
    answer(&cuts, (n, value), size)
}

/// Adds a cut that is not known; of too many the one that matters least along `n` goes.
fn enter(cuts: &mut Vec<Cut>, cut: Cut, n: Vector, precision: f64) {
    if cuts
        .iter()
        .any(|known| norm(sub(known.w, cut.w)) <= precision)
    {
        return;
    }
    if cuts.len() == CUTS {
        let slack = |k: &usize| dot(n, cuts[*k].w);
        if let Some(least) = (0..CUTS).max_by(|i, j| slack(i).total_cmp(&slack(j))) {
            cuts.swap_remove(least);
        }
    }
    cuts.push(cut);
}

/// The place in the square about `n` at which the lowest cut is highest, and its height there: one of the points where three cuts meet, or two on a side,
/// or a corner.
fn best_of_cuts(cuts: &[Cut], n: Vector, frame: &[Vector; 2], square: f64) -> ([f64; 2], f64) {
    let mut planes = [[0.0; 3]; CUTS];
    let count = cuts.len();
    for (plane, cut) in planes.iter_mut().zip(cuts) {
        *plane = [dot(n, cut.w), dot(frame[0], cut.w), dot(frame[1], cut.w)];
    }
    let planes = &planes[..count];
    let height = |x: [f64; 2]| {
        let lowest = |low: f64, p: &[f64; 3]| low.min(p[0] + p[1] * x[0] + p[2] * x[1]);
        planes.iter().fold(f64::INFINITY, lowest)
    };
    let mut best = ([0.0; 2], height([0.0; 2]));
    let mut consider = |x: [f64; 2]| {
        if x.iter().all(|x| x.abs() <= square) {
            let z = height(x);
            if z > best.1 {
                best = (x, z);
            }
        }
    };
    for s in [-square, square] {
        consider([s, s]);
        consider([s, -s]);
    }
    for i in 0..count {
        for j in 0..i {
            let d: Vector = sub(planes[i], planes[j]);
            for s in [-square, square] {
                if d[2] != 0.0 {
                    consider([s, -(d[0] + d[1] * s) / d[2]]);
                }
                if d[1] != 0.0 {
                    consider([-(d[0] + d[2] * s) / d[1], s]);
                }
            }
            for &third in &planes[..j] {
                let e = sub(planes[i], third);
                let determinant = d[1] * e[2] - d[2] * e[1];
                if determinant != 0.0 {
                    consider([
                        (d[2] * e[0] - d[0] * e[2]) / determinant,
                        (d[0] * e[1] - d[1] * e[0]) / determinant,
                    ]);
                }
            }
        }
    }
    best
}

/// The answer at a maximum: the weights of one, two or three cuts whose mean points along the normal best.
fn answer(cuts: &[Cut], (normal, gap): (Vector, f64), size: f64) -> Option<Refined> {
    let mut best: Option<(f64, [usize; 3], [f64; 3])> = None;
    // How far a mean of cuts is from the line of the normal and from the gap along it.
    let mut consider = |at: [usize; 3], weights: [f64; 3]| {
        if !weights.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)) {
            return;
        }
        let mut mean = scale(normal, -gap);
        for (&k, weight) in at.iter().zip(weights) {
            mean = along(mean, weight, cuts[k].w);
        }
        let off = norm(mean);
        if best.is_none_or(|b| off < b.0) {
            best = Some((off, at, weights));
        }
    };
    for i in 0..cuts.len() {
        consider([i; 3], [1.0, 0.0, 0.0]);
        for j in 0..i {
            let (w, u) = (cuts[i].w, sub(cuts[j].w, cuts[i].w));
            let share = dot(sub(scale(normal, gap), w), u) / dot(u, u);
            consider([i, j, j], [1.0 - share, share, 0.0]);
            for k in 0..j {
                let v = sub(cuts[k].w, w);
                let area = cross(u, v);
                let square = dot(area, area);
                let foot = sub(scale(normal, gap), w);
                let second = dot(cross(foot, v), area) / square;
                let third = dot(cross(u, foot), area) / square;
                consider([i, j, k], [1.0 - second - third, second, third]);
            }
        }
    }
    let (off, at, weights) = best?;
    if !(off <= 1e-3 * size) {
        return None;
    }
    let point = |of: fn(&Cut) -> Vector| {
        let mut point = [0.0; 3];
        for (&k, weight) in at.iter().zip(weights) {
            point = along(point, weight, of(&cuts[k]));
        }
        point
    };
    Some(Refined {
        normal,
        gap,
        points: [point(|c| c.p), point(|c| c.q)],
    })
}
