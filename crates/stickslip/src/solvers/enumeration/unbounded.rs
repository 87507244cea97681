//! Directions in which the impulses of a motion have no end.
//!
//! # What it computes
//!
//! Some d ≠ 0 with W d = 0 that every contact admits for ever: anything in its cone where it rests, a multiple of its
//! friction where it slides, nothing where it opens. Internal forces p + s d then make the same motion for every s ≥ 0.
//!
//! # Source
//!
//! The recession cone of a convex set; the reflections of [DouglasRachford1956] between the null space of W and the cones.
//!
//! # Guarantees
//!
//! A direction that is given satisfies its conditions to 1e-9. One that lies on the border of all cones at once may be missed.
//!
//! # Behaviour to know
//!
//! One direction is given, though there may be many.
//!
//! # Cost
//!
//! At most 2000 products with a basis of the null space.
//!
//! # Tested by
//!
//! `solvers/enumeration/tests.rs`.

use crate::algebra::dot;
use crate::algebra::rank_revealing::solve_any_rank;
use crate::algebra::small_dense::norm;
use crate::contact::{ContactBlock, ContactProblem};

use super::spatial::orthonormal;

/// Pivots of W below this part of its largest entry count as zero.
const SINGULAR: f64 = 1e-10;
/// Distance to the cones up to which a direction of unit size is in them.
const INSIDE: f64 = 1e-9;
const ROUNDS: usize = 2000;

/// What a contact may add to its impulse without another motion.
enum Face {
    Nothing,
    Ray(Vec<f64>),
    Cone,
}

/// A direction of impulses without end, for the motion with these local velocities, which are known to `told`.
pub(super) fn unbounded_direction(
    problem: &ContactProblem,
    velocity: &[f64],
    told: f64,
) -> Option<Vec<f64>> {
    let m = problem.size();
    let null = solve_any_rank(&problem.dense(), &vec![0.0; m], SINGULAR).directions;
    let basis = orthonormal(null);
    // Directions are measured by the sum of their normal impulses.
    let normal_part = |b: &Vec<f64>| problem.blocks().iter().map(|block| b[block.start]).sum();
    let normals: Vec<f64> = basis.iter().map(normal_part).collect();
    let length = dot(&normals, &normals);
    if length <= SINGULAR {
        return None;
    }
    let faces: Vec<Face> = (problem.blocks().iter())
        .map(|block| face(block, velocity, told))
        .collect();
    let internal = |x: &[f64]| -> Vec<f64> {
        let mut parts: Vec<f64> = basis.iter().map(|b| dot(b, x)).collect();
        let missing = (1.0 - dot(&parts, &normals)) / length;
        (parts.iter_mut().zip(&normals)).for_each(|(part, n)| *part += missing * n);
        let mut out = vec![0.0; m];
        for (part, b) in parts.iter().zip(&basis) {
            out.iter_mut().zip(b).for_each(|(x, b)| *x += part * b);
        }
        out
    };
    let mut x = vec![0.0; m];
    let mut admitted = vec![0.0; m];
    for _ in 0..ROUNDS {
        let direction = internal(&x);
        project(problem, &faces, &direction, &mut admitted);
        let off: Vec<f64> = (direction.iter().zip(&admitted))
            .map(|(d, a)| d - a)
            .collect();
        if norm(&off) <= INSIDE {
            return Some(direction);
        }
        let reflected: Vec<f64> = (direction.iter().zip(&x))
            .map(|(d, x)| 2.0 * d - x)
            .collect();
        project(problem, &faces, &reflected, &mut admitted);
        for ((x, a), d) in x.iter_mut().zip(&admitted).zip(&direction) {
            *x += a - d;
        }
    }
    None
}

fn face(block: &ContactBlock, velocity: &[f64], told: f64) -> Face {
    let velocity = &velocity[block.range()];
    if velocity[0] > told {
        return Face::Nothing;
    }
    if norm(&velocity[1..]) <= told {
        return Face::Cone;
    }
    let minus: Vec<f64> = velocity[1..].iter().map(|x| -x).collect();
    let mut ray = vec![1.0; block.size];
    block.section.support_point(&minus, &mut ray[1..]);
    Face::Ray(ray)
}

/// The nearest impulses that the faces admit.
fn project(problem: &ContactProblem, faces: &[Face], x: &[f64], out: &mut [f64]) {
    for (block, face) in problem.blocks().iter().zip(faces) {
        let (x, out) = (&x[block.range()], &mut out[block.range()]);
        match face {
            Face::Nothing => out.fill(0.0),
            Face::Cone => block.section.project_on_cone(x, out),
            Face::Ray(ray) => {
                let part = (dot(x, ray) / dot(ray, ray)).max(0.0);
                out.iter_mut().zip(ray).for_each(|(o, r)| *o = part * r);
            }
        }
    }
}
