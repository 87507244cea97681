//! Search for the solutions of contacts in space.
//!
//! # What it computes
//!
//! Distinct zeros of the natural map F(p) = p − P_K(p − ρ(w + σ_D(−w_T) n)) of Coulomb's law, from many starts: no impulse,
//! and impulses drawn in the cones over four decades of size. One contact with a disc is
//! enumerated exactly.
//!
//! # Source
//!
//! Natural map of [AcaryCollinsCraft2023] (De Saxcé's form); semismooth Newton [QiSun1993] with
//! differences and a line search.
//!
//! # Guarantees
//!
//! What is reported is certified. Completeness is not: it is a search, and the method says so.
//!
//! # Behaviour to know
//!
//! Solutions of one motion are one, with the range of their impulses; motions that a walk through solutions joins are
//! one continuum. Both are judged by the null directions of the natural map, to about 1e-6.
//!
//! # Cost
//!
//! Starts × some ten Newton steps of (3k)³ operations, on all cores; the answer does not depend on
//! their number.
//!
//! # Tested by
//!
//! `solvers/enumeration/tests.rs`.

use rayon::prelude::*;

use crate::algebra::rank_revealing::solve_any_rank;
use crate::algebra::small_dense::norm;
use crate::contact::ContactProblem;
use crate::laws::FrictionSection;
use crate::solvers::one_contact::coulomb_disc::{DiscOutcome, enumerate_disc};

use super::solution::{free_speed, impulse_floor};
use super::{Continuum, Enumeration, EnumerationSettings, FoundSolution, Method, Mode};

/// Searches; the caller has checked laws and sections.
pub fn search(problem: &ContactProblem, settings: &EnumerationSettings) -> Enumeration {
    if let Some(exact) = one_disc(problem) {
        return exact;
    }
    let starts = settings.starts * problem.blocks().len();
    let found: Vec<Option<FoundSolution>> = (0..starts)
        .into_par_iter()
        .map(|index| {
            let mut p = start(problem, settings.seed, index);
            if !newton(problem, &mut p) {
                return None;
            }
            let modes = modes(problem, &p);
            let continuum = continuum(problem, &p);
            let solution = FoundSolution::certified(problem, p, modes, continuum);
            (solution.residual <= 1e-10).then_some(solution)
        })
        .collect();
    let floor = impulse_floor(problem);
    let mut near: Vec<FoundSolution> = Vec::new();
    for solution in found.into_iter().flatten() {
        match near
            .iter_mut()
            .find(|s| s.distance(&solution, floor) <= 1e-6)
        {
            Some(same) if solution.residual < same.residual => *same = solution,
            Some(_) => {}
            None => near.push(solution),
        }
    }
    // Impulses of a short step move velocities little: what tells motions apart is measured by what impulses can do, from
    // the accuracy of the search up.
    let largest = near.iter().map(|s| reach(problem, &s.impulse));
    let speed = free_speed(problem);
    let same = (1e-7 * largest.fold(0.0, f64::max)).clamp(1e-10 * speed, 1e-7 * speed);
    let motions = Enumeration::distinct(near, floor, same);
    Enumeration {
        solutions: families(problem, motions),
        method: Method::Search,
        effort: starts,
    }
}

/// The set of solutions around one: null directions of the natural map, and whether the velocity changes along them.
fn continuum(problem: &ContactProblem, p: &[f64]) -> Option<Continuum> {
    let m = p.len();
    let mut value = vec![0.0; m];
    natural_map(problem, p, &mut value);
    let matrix = jacobian(problem, p, &value);
    let directions = solve_any_rank(&matrix, &vec![0.0; m], 1e-6).directions;
    if directions.is_empty() {
        return None;
    }
    let (mut here, mut there) = (vec![0.0; m], vec![0.0; m]);
    problem.local_velocity(p, &mut here);
    // A short walk along each direction, back on a solution, tells whether the velocity changes.
    let length = 1e-3 * norm(p);
    let moves_velocity = directions.iter().any(|d| {
        [length, -length].iter().any(|&length| {
            let step = length / norm(d);
            let mut near: Vec<f64> = p.iter().zip(d).map(|(p, d)| p + step * d).collect();
            if !newton(problem, &mut near) {
                return false;
            }
            problem.local_velocity(&near, &mut there);
            let change = here.iter().zip(&there).map(|(a, b)| (a - b).abs());
            let walk: Vec<f64> = near.iter().zip(p).map(|(a, b)| a - b).collect();
            let least = (1e-4 * reach(problem, &walk)).max(1e-10 * free_speed(problem));
            change.fold(0.0, f64::max) > least
        })
    });
    Some(Continuum {
        dimension: directions.len(),
        moves_velocity,
        ends: Vec::new(),
        unbounded: Vec::new(),
    })
}

/// The largest velocity that impulses of these sizes can make if nothing cancels.
fn reach(problem: &ContactProblem, impulses: &[f64]) -> f64 {
    let m = impulses.len();
    let rows = problem.dense();
    (0..m)
        .map(|i| {
            let row = rows[i * m..(i + 1) * m].iter().zip(impulses);
            row.map(|(w, p)| (w * p).abs()).sum()
        })
        .fold(0.0, f64::max)
}

/// Motions of one continuum count once: those that a walk through solutions joins.
fn families(problem: &ContactProblem, motions: Vec<FoundSolution>) -> Vec<FoundSolution> {
    let moving = |s: &FoundSolution| s.continuum.as_ref().is_some_and(|c| c.moves_velocity);
    let mut kept: Vec<FoundSolution> = Vec::new();
    for motion in motions {
        let family = kept.iter_mut().find(|k| {
            (moving(k) || moving(&motion)) && joined(problem, &k.impulse, &motion.impulse)
        });
        match family {
            Some(k) => k.absorb(&motion),
            None => kept.push(motion),
        }
    }
    kept
}

/// Whether solutions lead from `a` to `b`: from every eighth of the way one is found nearby.
fn joined(problem: &ContactProblem, a: &[f64], b: &[f64]) -> bool {
    const PARTS: usize = 8;
    let apart = |x: &[f64], y: &[f64]| {
        let squares: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
        squares.sqrt()
    };
    let reach = 2.0 * apart(a, b) / PARTS as f64;
    let mut last = a.to_vec();
    (1..=PARTS).all(|k| {
        let t = k as f64 / PARTS as f64;
        let mut p: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect();
        let near = newton(problem, &mut p) && apart(&p, &last) <= reach;
        last = p;
        near
    })
}

/// One contact with a disc: all solutions.
fn one_disc(problem: &ContactProblem) -> Option<Enumeration> {
    let [block] = problem.blocks() else {
        return None;
    };
    let FrictionSection::Disc { mu, dimension: 2 } = block.section else {
        return None;
    };
    let dense = problem.dense();
    let w: &[f64; 9] = dense.as_ref().try_into().ok()?;
    let q: &[f64; 3] = problem.free().try_into().ok()?;
    let found = enumerate_disc(w, q, mu)
        .into_iter()
        .map(|solution| {
            let mode = match solution.outcome {
                DiscOutcome::Open => Mode::Open,
                DiscOutcome::Stick => Mode::Stick,
                _ => Mode::SlipUpper,
            };
            FoundSolution::certified(problem, solution.impulse.to_vec(), vec![mode], None)
        })
        .filter(|solution| solution.residual <= 1e-9)
        .collect();
    Some(Enumeration {
        solutions: Enumeration::distinct(found, impulse_floor(problem), 1e-9 * free_speed(problem)),
        method: Method::Exact,
        effort: 1,
    })
}

/// Start number `index`: none open, then random parts of the cones.
fn start(problem: &ContactProblem, seed: u64, index: usize) -> Vec<f64> {
    let m = problem.size();
    let mut p = vec![0.0; m];
    if index == 0 {
        return p;
    }
    let mut state = seed ^ (index as u64).wrapping_mul(0xD134_2543_DE82_EF95);
    let mut unit = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let speed = problem.free().iter().fold(0.0f64, |s, x| s.max(x.abs()));
    for block in problem.blocks() {
        let stiffness = problem.dense()[block.start * m + block.start];
        if unit() < 0.25 || !(stiffness > 0.0) {
            continue;
        }
        let normal = speed / stiffness * 10f64.powf(4.0 * unit() - 3.0);
        p[block.start] = normal;
        let mut tangent: Vec<f64> = (1..block.size).map(|_| 2.0 * unit() - 1.0).collect();
        let reach = block.section.gauge(&tangent);
        if reach > 0.0 && reach.is_finite() {
            let factor = normal * unit().sqrt() / reach;
            tangent.iter_mut().for_each(|t| *t *= factor);
            p[block.start + 1..block.start + block.size].copy_from_slice(&tangent);
        }
    }
    p
}

/// Writes F(p) and returns its norm in velocities.
fn natural_map(problem: &ContactProblem, p: &[f64], out: &mut [f64]) -> f64 {
    let m = problem.size();
    let mut w = vec![0.0; m];
    problem.local_velocity(p, &mut w);
    let mut sum = 0.0;
    for block in problem.blocks() {
        let range = block.range();
        let stiffness = problem.dense()[block.start * m + block.start];
        let rho = 1.0 / stiffness;
        let minus: Vec<f64> = w[range.start + 1..range.end].iter().map(|x| -x).collect();
        let mut shifted: Vec<f64> = range.clone().map(|i| p[i] - rho * w[i]).collect();
        shifted[0] -= rho * block.section.support(&minus);
        block
            .section
            .project_on_cone(&shifted, &mut out[range.clone()]);
        for i in range {
            out[i] = p[i] - out[i];
            sum += (out[i] * stiffness).powi(2);
        }
    }
    sum.sqrt()
}

/// |F(p)| in velocities: 0 at a solution.
pub(crate) fn natural_map_size(problem: &ContactProblem, p: &[f64]) -> f64 {
    natural_map(problem, p, &mut vec![0.0; p.len()])
}

/// Derivative of F at p, where F is `value`, by differences.
fn jacobian(problem: &ContactProblem, p: &[f64], value: &[f64]) -> Vec<f64> {
    let m = p.len();
    let speed = norm(problem.free()).max(f64::MIN_POSITIVE);
    let mut matrix = vec![0.0; m * m];
    let mut above = vec![0.0; m];
    let mut point = p.to_vec();
    for j in 0..m {
        let scale = norm(p).max(speed / problem.w(j, j).max(f64::MIN_POSITIVE));
        let step = 1e-8 * scale;
        point[j] = p[j] + step;
        natural_map(problem, &point, &mut above);
        point[j] = p[j];
        for i in 0..m {
            matrix[i * m + j] = (above[i] - value[i]) / step;
        }
    }
    matrix
}

/// Semismooth Newton with differences; whether it reached a zero.
fn newton(problem: &ContactProblem, p: &mut [f64]) -> bool {
    let m = p.len();
    let speed = norm(problem.free()).max(f64::MIN_POSITIVE);
    let mut value = vec![0.0; m];
    let mut size = natural_map(problem, p, &mut value);
    let mut trial_value = vec![0.0; m];
    for _ in 0..80 {
        if size <= 1e-15 * speed {
            break;
        }
        let matrix = jacobian(problem, p, &value);
        let right: Vec<f64> = value.iter().map(|x| -x).collect();
        let direction = solve_any_rank(&matrix, &right, 1e-7).point;
        if direction.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let mut factor = 1.0;
        let mut accepted = false;
        for _ in 0..12 {
            let trial: Vec<f64> = p
                .iter()
                .zip(&direction)
                .map(|(p, d)| p + factor * d)
                .collect();
            let trial_size = natural_map(problem, &trial, &mut trial_value);
            if trial_size < (1.0 - 0.1 * factor) * size {
                p.copy_from_slice(&trial);
                value.copy_from_slice(&trial_value);
                size = trial_size;
                accepted = true;
                break;
            }
            factor *= 0.5;
        }
        if !accepted {
            break;
        }
    }
    size <= 1e-11 * speed
}

fn modes(problem: &ContactProblem, p: &[f64]) -> Vec<Mode> {
    let size = norm(p).max(f64::MIN_POSITIVE);
    problem
        .blocks()
        .iter()
        .map(|block| {
            let normal = p[block.start];
            let tangent = &p[block.start + 1..block.start + block.size];
            if normal <= 1e-9 * size {
                Mode::Open
            } else if tangent.is_empty() {
                Mode::Closed
            } else if block.section.gauge(tangent) < normal * (1.0 - 1e-9) {
                Mode::Stick
            } else {
                Mode::SlipUpper
            }
        })
        .collect()
}
