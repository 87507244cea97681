//! The nearest points of two convex shapes where corners, edges, rims or round sides of them meet, to rounding.
//!
//! # What it computes
//!
//! Near a unit direction n the support of a shape is a corner that stays where it is, or a point of a rim that turns with n; on an edge two corners, on the
//! round side of a cylinder two rims and on that of a cone a rim and the tip lie equally high. With such p₀, p₁ of the first shape and q₀, q₁ of the second
//! along −n, the unknown n, the weights a and b and the gap s satisfy
//!
//! ```text
//! q₀ + b (q₁ − q₀) − p₀ − a (p₁ − p₀) = s n,   |n| = 1,   n·(p₁ − p₀) = 0,   n·(q₁ − q₀) = 0,
//! ```
//!
//! solved by Newton's method with the derivatives of the rims; where a shape has one support only, its weight is 0 and its last line is left out.
//!
//! # Source
//!
//! Conditions of optimality of the support function of the Minkowski difference; own form.
//!
//! # Guarantees
//!
//! With weights between 0 and 1 and supports that no other point of the shapes exceeds along n, n is the direction along which the shapes lie farthest
//! apart (of overlaps: a direction of least depth nearby), and the points are the nearest. An answer has such weights; that its supports are those of the
//! shapes is seen from its gap, which is then the separation along its normal.
//!
//! # Behaviour to know
//!
//! Faces have no part in it: their normals are known. None is the answer where it is not found from a start within about a tenth of a radian.
//!
//! # Cost
//!
//! Three to six solutions of six equations for each of at most nine choices of corners, some microseconds.
//!
//! # Tested by
//!
//! `systems/world/geometry/tests/refined.rs`.

use super::refined_normal::Refined;
use super::vector::{Vector, add, along, dot, norm, scale, sub};
use crate::algebra::small_dense::solve_in_place;

/// What may lie on top of a shape: a corner, or the rim of a round face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Corner {
    Point(Vector),
    Rim {
        centre: Vector,
        axis: Vector,
        radius: f64,
    },
}

impl Corner {
    /// The part of a direction across the axis of a rim.
    fn lateral(axis: Vector, n: Vector) -> Vector {
        along(n, -dot(axis, n), axis)
    }

    /// Its farthest point along a direction.
    fn support(&self, n: Vector) -> Vector {
        match *self {
            Self::Point(p) => p,
            Self::Rim {
                centre,
                axis,
                radius,
            } => {
                let lateral = Self::lateral(axis, n);
                along(
                    centre,
                    radius / norm(lateral).max(f64::MIN_POSITIVE),
                    lateral,
                )
            }
        }
    }

    /// Adds `factor` times the derivative of the support with the direction.
    fn add_derivative(&self, n: Vector, factor: f64, sum: &mut [Vector; 3]) {
        let Self::Rim { axis, radius, .. } = *self else {
            return;
        };
        let lateral = Self::lateral(axis, n);
        let length = norm(lateral).max(f64::MIN_POSITIVE);
        let t = scale(lateral, 1.0 / length);
        for (i, row) in sum.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let one = if i == j { 1.0 } else { 0.0 };
                *entry += factor * radius / length * (one - axis[i] * axis[j] - t[i] * t[j]);
            }
        }
    }
}

/// Corners of a shape that lie highest along a direction, with their points there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Highest {
    corners: [Option<(Corner, Vector)>; 3],
    along: Vector,
}

impl Highest {
    pub fn new(n: Vector) -> Self {
        Self {
            along: n,
            ..Self::default()
        }
    }

    pub fn of_points(points: &[Vector], n: Vector) -> Self {
        let mut highest = Self::new(n);
        points.iter().for_each(|&p| highest.add(Corner::Point(p)));
        highest
    }

    pub fn add(&mut self, corner: Corner) {
        let n = self.along;
        let mut next = Some((corner, corner.support(n)));
        for place in &mut self.corners {
            let lower = |known: &(Corner, Vector)| {
                next.is_some_and(|next| dot(n, next.1) > dot(n, known.1))
            };
            if place.as_ref().is_none_or(lower) {
                std::mem::swap(place, &mut next);
            }
        }
    }

    /// The highest with another that comes to lie as high where the direction turns a little, and alone.
    fn choices(&self) -> impl Iterator<Item = [Corner; 2]> + '_ {
        let first = self.corners[0];
        let pair = move |other: &Option<(Corner, Vector)>| {
            let (first, other) = (first?, (*other)?);
            let way = sub(first.1, other.1);
            (dot(self.along, way) <= LITTLE * norm(way)).then_some([first.0, other.0])
        };
        let alone = first.map(|first| [first.0; 2]);
        self.corners[1..].iter().filter_map(pair).chain(alone)
    }
}

/// An angle by which the direction may turn.
const LITTLE: f64 = 0.05;
const ITERATIONS_MAX: usize = 12;
/// Part of the extent to which the equations are solved.
const PRECISION: f64 = 4e-15;
/// How far, as a tangent, the direction may turn.
const TURN_MAX: f64 = 0.15;

/// The nearest points near a direction `start` from the first shape to the second, whose corners are given along it and against it; `separation` of the shapes along a direction.
pub(super) fn meet(
    a: &Highest,
    b: &Highest,
    (start, size): (Vector, f64),
    separation: impl Fn(Vector) -> f64,
) -> Option<Refined> {
    for p in a.choices() {
        for q in b.choices() {
            let found = solve(p, q, start, size);
            let on_top = |found: &Refined| separation(found.normal) >= found.gap - 1e-12 * size;
            if let Some(found) = found.filter(on_top) {
                return Some(found);
            }
        }
    }
    None
}

/// Newton's method for two corners of each shape, or the same twice.
fn solve(p: [Corner; 2], q: [Corner; 2], start: Vector, size: f64) -> Option<Refined> {
    let (single_a, single_b) = (p[0] == p[1], q[0] == q[1]);
    let mut n = start;
    let [mut a, mut b] = [single_a, single_b].map(|single| if single { 0.0 } else { 0.5 });
    let mut gap = {
        let against = scale(n, -1.0);
        dot(n, sub(q[0].support(against), p[0].support(n))) / size
    };
    for _ in 0..ITERATIONS_MAX {
        let against = scale(n, -1.0);
        // Lengths in parts of the size.
        let on_a = p.map(|c| scale(c.support(n), 1.0 / size));
        let on_b = q.map(|c| scale(c.support(against), 1.0 / size));
        let (u, v) = (sub(on_a[1], on_a[0]), sub(on_b[1], on_b[0]));
        let points = [along(on_a[0], a, u), along(on_b[0], b, v)];
        let off = along(sub(points[1], points[0]), -gap, n);
        let mut slope = [[0.0; 3]; 3];
        for (corner, weight) in [(p[0], 1.0 - a), (p[1], a)] {
            corner.add_derivative(n, -weight / size, &mut slope);
        }
        for (corner, weight) in [(q[0], 1.0 - b), (q[1], b)] {
            corner.add_derivative(against, -weight / size, &mut slope);
        }
        let mut matrix = [0.0; 36];
        let mut x = [0.0; 6];
        for i in 0..3 {
            for j in 0..3 {
                matrix[6 * i + j] = slope[i][j];
            }
            matrix[6 * i + i] -= gap;
            (matrix[6 * i + 3], matrix[6 * i + 4]) = (-u[i], v[i]);
            matrix[6 * i + 5] = -n[i];
            x[i] = -off[i];
            matrix[18 + i] = n[i];
            (matrix[24 + i], matrix[30 + i]) = (u[i], v[i]);
        }
        x[3] = 0.5 * (1.0 - dot(n, n));
        (x[4], x[5]) = (-dot(n, u), -dot(n, v));
        for (row, single) in [(4, single_a), (5, single_b)] {
            if single {
                // The weight stays 0.
                matrix[6 * row..6 * row + 6].fill(0.0);
                matrix[6 * row + row - 1] = 1.0;
                x[row] = 0.0;
            }
        }
        let error = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let extent = on_a.iter().chain(&on_b).map(|&p| norm(p));
        if error <= PRECISION * extent.fold(1.0, f64::max) {
            let inside = |w: f64| (-1e-12..=1.0 + 1e-12).contains(&w);
            return (inside(a) && inside(b)).then(|| Refined {
                normal: n,
                gap: size * gap,
                points: points.map(|p| scale(p, size)),
            });
        }
        if !solve_in_place(&mut matrix, &mut x) {
            return None;
        }
        n = add(n, [x[0], x[1], x[2]]);
        a += x[3];
        b += x[4];
        gap += x[5];
        let turned = norm(sub(n, start));
        if !(turned <= TURN_MAX) {
            return None;
        }
    }
    None
}
