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
//! Continua appear as many nearby solutions of which one is kept per cluster of 1e-6.
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

use crate::algebra::small_dense::{norm, solve_in_place};
use crate::contact::ContactProblem;
use crate::laws::FrictionSection;
use crate::solvers::one_contact::coulomb_disc::{DiscOutcome, enumerate_disc};

use super::solution::{free_speed, impulse_floor};
use super::{Enumeration, EnumerationSettings, FoundSolution, Method, Mode};

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
            let solution = FoundSolution::certified(problem, p, modes, None);
            (solution.residual <= 1e-10).then_some(solution)
        })
        .collect();
    let floor = impulse_floor(problem);
    let mut solutions: Vec<FoundSolution> = Vec::new();
    for solution in found.into_iter().flatten() {
        match solutions
            .iter_mut()
            .find(|s| s.distance(&solution, floor) <= 1e-6)
        {
            Some(same) if solution.residual < same.residual => *same = solution,
            Some(_) => {}
            None => solutions.push(solution),
        }
    }
    Enumeration {
        solutions,
        method: Method::Search,
        effort: starts,
    }
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
        solutions: Enumeration::distinct(found, impulse_floor(problem), free_speed(problem)),
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

/// Semismooth Newton with differences; whether it reached a zero.
fn newton(problem: &ContactProblem, p: &mut [f64]) -> bool {
    let m = p.len();
    let speed = norm(problem.free()).max(f64::MIN_POSITIVE);
    let mut value = vec![0.0; m];
    let mut size = natural_map(problem, p, &mut value);
    let (mut above, mut trial_value) = (vec![0.0; m], vec![0.0; m]);
    for _ in 0..80 {
        if size <= 1e-15 * speed {
            break;
        }
        let mut jacobian = vec![0.0; m * m];
        let mut point = p.to_vec();
        for j in 0..m {
            let scale = norm(p).max(speed / problem.dense()[j * m + j].max(f64::MIN_POSITIVE));
            let step = 1e-8 * scale;
            point[j] = p[j] + step;
            natural_map(problem, &point, &mut above);
            point[j] = p[j];
            for i in 0..m {
                jacobian[i * m + j] = (above[i] - value[i]) / step;
            }
        }
        let mut direction: Vec<f64> = value.iter().map(|x| -x).collect();
        if !solve_in_place(&mut jacobian, &mut direction)
            || direction.iter().any(|x| !x.is_finite())
        {
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
