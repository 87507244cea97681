//! Search for the solutions of contacts in space.
//!
//! # What it computes
//!
//! Distinct zeros of the natural map F(p) = p − P_K(p − ρ(w + σ_D(−w_T) n)) of Coulomb's law, from many starts: no impulse,
//! and impulses drawn in the cones over four decades of size. One contact with a disc or an ellipse
//! is enumerated exactly.
//!
//! # Source
//!
//! Natural map of [AcaryCollinsCraft2023] (De Saxcé's form); semismooth Newton [QiSun1993] with a line search and the step of
//! least norm, so that it ends at the nearest point of a continuum.
//!
//! # Guarantees
//!
//! What is reported is certified. Completeness is not: it is a search, and the method says so.
//!
//! # Behaviour to know
//!
//! Solutions of one motion are one, with the range of their impulses, which has no end where internal forces have none; motions that a walk through solutions joins are
//! one continuum. All thresholds are parts of what the impulses can do to the velocities (at least 1e-8 of it) or roundings of
//! those: four feet that slide and turn at h = 1e-5 s, where impulses change velocities by 1e-4 of their size, are one
//! continuum as at 1e-2 s; where impulses change them by less than 1e-6, a continuum may be counted twice. A continuum whose velocities differ by less than a thousand roundings is one motion. Where the impulses themselves do no more
//! than that (h about 1e-11 s), the verdict is [`super::Verdict::Undecided`].
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
use crate::algebra::splitmix::Splitmix;
use crate::contact::{ContactProblem, Judgement, rounding_floor};
use crate::laws::FrictionSection;
use crate::solvers::one_contact::{from_disc_frame, in_disc_frame};

use super::disc::{DiscKind, DiscSolution, enumerate_disc};
use super::solution::{free_speed, impulse_floor, stiffest};
use super::unbounded::unbounded_direction;
use super::work::{Allowance, starts_at_once};
use super::{Continuum, Enumeration, EnumerationSettings, FoundSolution, Method, Mode, Work};

/// Pivots below this part of the largest count as zero: the derivatives are good to about 1e-10.
const SINGULAR: f64 = 1e-8;

/// Solutions are good to a few times their floor of rounding; what they differ by is known to this many times that.
const TOLD: f64 = 1e3;

/// Searches; the caller has checked laws and sections.
pub fn search(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
    work: &Work,
) -> Enumeration {
    if let Some(exact) = one_disc(problem, settings) {
        return exact;
    }
    let starts = settings.starts * problem.blocks().len();
    let (at_once, each, whole) = starts_at_once(problem, settings.work_max);
    let (mut found, mut made, mut done, mut cut) = (Vec::new(), 0, 0.0, false);
    // What is done at once does not depend on the machine, nor does what is left out.
    while made < starts && !cut {
        let next = starts.min(made.saturating_add(at_once));
        let parts: Vec<(Option<FoundSolution>, f64, bool)> = (made..next)
            .into_par_iter()
            .map(|index| {
                let allowance = Allowance::of(each);
                let solution = match work.is_ended() {
                    true => None,
                    false => from_start(problem, start(problem, settings.seed, index), &allowance),
                };
                work.count();
                (solution, allowance.done(), allowance.is_spent())
            })
            .collect();
        for (solution, own, spent) in parts {
            // What was cut may not be a solution, nor all of its continuum.
            found.extend(solution.filter(|_| !spent));
            done += own;
            cut |= spent;
        }
        made = next;
        cut |= work.is_ended() || done > whole && made < starts;
    }
    // Impulses of a short step move velocities little: what tells solutions apart is measured by what impulses can do, down
    // to rounding, and never by the free velocity.
    let largest = |size: &dyn Fn(&FoundSolution) -> f64| found.iter().map(size).fold(0.0, f64::max);
    let told = TOLD * largest(&|s| rounding(problem, &s.impulse));
    let same = told
        .max(1e-8 * largest(&|s| reach(problem, &s.impulse)))
        .max(problem.noise());
    let floor = 1e6 * told / stiffest(problem);
    let mut near: Vec<FoundSolution> = Vec::new();
    for solution in found {
        match near
            .iter_mut()
            .find(|s| s.distance(&solution, floor) <= 1e-6)
        {
            Some(same) if solution.residual < same.residual => *same = solution,
            Some(_) => {}
            None => near.push(solution),
        }
    }
    let motions = Enumeration::distinct(near, floor, same);
    // A list that was cut is not worth the walks between its motions.
    let mut solutions = match cut {
        true => motions,
        false => families(problem, motions),
    };
    for solution in solutions.iter_mut().filter(|s| s.continuum.is_some()) {
        let direction = unbounded_direction(problem, &solution.local_velocity, told);
        direction.into_iter().for_each(|d| solution.recede(d));
    }
    Enumeration {
        solutions,
        method: match cut {
            true => Method::Truncated,
            false => Method::Search,
        },
        effort: made,
        groups: Vec::new(),
    }
}

/// The solution that one start leads to.
fn from_start(
    problem: &ContactProblem,
    mut p: Vec<f64>,
    allowance: &Allowance,
) -> Option<FoundSolution> {
    if !newton(problem, &mut p, allowance) {
        return None;
    }
    let decided = is_decided(problem, &p) || is_unloaded(problem);
    silence(problem, &mut p);
    let modes = modes(problem, &p);
    let continuum = continuum(problem, &p, allowance);
    let solution = FoundSolution::certified(problem, p, modes, continuum);
    Some(FoundSolution {
        decided,
        ..solution
    })
}

/// The set of solutions around one: null directions of the natural map, and whether the velocity changes along them.
fn continuum(problem: &ContactProblem, p: &[f64], allowance: &Allowance) -> Option<Continuum> {
    let m = p.len();
    let directions = solve_any_rank(&jacobian(problem, p), &vec![0.0; m], SINGULAR).directions;
    if directions.is_empty() {
        return None;
    }
    let (mut here, mut there) = (vec![0.0; m], vec![0.0; m]);
    problem.local_velocity(p, &mut here);
    let told = TOLD * rounding(problem, p);
    // A walk along each direction, back on a solution, tells whether the velocity changes: by more than rounding, and by
    // more than solutions are good to beside what the impulses walked can do.
    let length = 0.1 * norm(p);
    let moves_velocity = directions.iter().any(|d| {
        [length, -length].iter().any(|&length| {
            let step = length / norm(d);
            let mut near: Vec<f64> = p.iter().zip(d).map(|(p, d)| p + step * d).collect();
            if !newton(problem, &mut near, allowance) {
                return false;
            }
            problem.local_velocity(&near, &mut there);
            let change = here.iter().zip(&there).map(|(a, b)| (a - b).abs());
            let walk: Vec<f64> = near.iter().zip(p).map(|(a, b)| a - b).collect();
            change.fold(0.0, f64::max) > told.max(1e-9 * reach(problem, &walk))
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
pub(crate) fn reach(problem: &ContactProblem, impulses: &[f64]) -> f64 {
    let m = impulses.len();
    let rows = problem.dense();
    (0..m)
        .map(|i| {
            let row = rows[i * m..(i + 1) * m].iter().zip(impulses);
            row.map(|(w, p)| (w * p).abs()).sum()
        })
        .fold(0.0, f64::max)
}

/// The floor of rounding of the velocities that these impulses make: that of [`Judgement::floor`], in velocities.
fn rounding(problem: &ContactProblem, impulses: &[f64]) -> f64 {
    rounding_floor(reach(problem, impulses), free_speed(problem), 1.0)
}

/// Impulses of contacts that move nothing beyond rounding are none, where that is a solution, too: else a search that ends beside no impulse at all
/// would tell of an impact without size.
fn silence(problem: &ContactProblem, p: &mut [f64]) {
    let told = problem.noise().max(TOLD * rounding(problem, p));
    let mut quiet = p.to_vec();
    for block in problem.blocks() {
        let mut own = vec![0.0; p.len()];
        own[block.range()].copy_from_slice(&p[block.range()]);
        if reach(problem, &own) <= told {
            quiet[block.range()].fill(0.0);
        }
    }
    if quiet != p && is_solution(problem, &quiet) {
        p.copy_from_slice(&quiet);
    }
}

/// Whether no contact is pressed: what an impulse could hide in the rounding of is no load then.
fn is_unloaded(problem: &ContactProblem) -> bool {
    let heard = problem.heard_free();
    problem
        .blocks()
        .iter()
        .all(|block| heard(block.start) >= 0.0)
}

/// Whether rounding hides less than a thousandth of what the impulses can do: below that other solutions, and other motions
/// beside this one, cannot be seen.
fn is_decided(problem: &ContactProblem, impulses: &[f64]) -> bool {
    let able = reach(problem, impulses);
    able == 0.0 || TOLD * rounding(problem, impulses) <= 1e-3 * able
}

/// Motions of one continuum count once: those that a walk through solutions joins.
fn families(problem: &ContactProblem, mut motions: Vec<FoundSolution>) -> Vec<FoundSolution> {
    // The largest set stands for its family; its ends, where contacts open, look isolated.
    let dimension = |s: &FoundSolution| s.continuum.as_ref().map_or(0, |c| c.dimension);
    motions.sort_by_key(|s| std::cmp::Reverse(dimension(s)));
    let mut kept: Vec<FoundSolution> = Vec::new();
    for motion in motions {
        let family = (kept.iter_mut()).find(|k| joined(problem, &k.impulse, &motion.impulse));
        match family {
            // Two motions with solutions between them: the velocity moves, whatever was seen close by.
            Some(k) => {
                k.absorb(&motion);
                let continuum = k.continuum.get_or_insert(Continuum {
                    dimension: 1,
                    moves_velocity: true,
                    ends: Vec::new(),
                    unbounded: Vec::new(),
                });
                continuum.moves_velocity = true;
            }
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
    let free = Allowance::of(f64::INFINITY);
    (1..=PARTS).all(|k| {
        let t = k as f64 / PARTS as f64;
        let mut p: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect();
        let near = newton(problem, &mut p, &free) && apart(&p, &last) <= reach;
        last = p;
        near
    })
}

/// One contact with a disc or an ellipse: all solutions; none where one of them cannot be certified.
fn one_disc(problem: &ContactProblem, settings: &EnumerationSettings) -> Option<Enumeration> {
    let [block] = problem.blocks() else {
        return None;
    };
    // Tangents in which the section is a disc: p_T = E z.
    let (mu, map) = match &block.section {
        FrictionSection::Disc { mu, dimension: 2 } => (*mu, [[1.0, 0.0], [0.0, 1.0]]),
        FrictionSection::Ellipse { map } if is_regular(map) => (1.0, *map),
        _ => return None,
    };
    let heard = problem.heard_free();
    let free = [heard(0), heard(1), heard(2)];
    let dense = problem.dense();
    let w: &[f64; 9] = dense.as_ref().try_into().ok()?;
    let (w, q) = in_disc_frame(w, &free, &map);
    let found: Vec<FoundSolution> = enumerate_disc(&w, &q, mu, settings.rounding)
        .into_iter()
        .map(|solution| certified(problem, solution, &map))
        .collect();
    let accepted = 1e-9f64.max(10.0 * settings.rounding);
    if found.iter().any(|s| !(s.residual <= accepted)) {
        return None;
    }
    let same = (1e-9 * free_speed(problem)).max(problem.noise());
    let told = TOLD * rounding(problem, &[0.0; 3]);
    let mut solutions = Enumeration::distinct(found, impulse_floor(problem), same);
    for solution in &mut solutions {
        let open = |c: &Continuum| c.dimension > 1 && c.unbounded.is_empty();
        if solution.continuum.as_ref().is_some_and(open) {
            let direction = unbounded_direction(problem, &solution.local_velocity, told);
            direction.into_iter().for_each(|d| solution.recede(d));
        }
    }
    Some(Enumeration {
        solutions,
        method: Method::Exact,
        effort: 1,
        groups: Vec::new(),
    })
}

/// Whether an ellipse has two dimensions.
fn is_regular(map: &[[f64; 2]; 2]) -> bool {
    let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
    let size: f64 = map.iter().flatten().map(|x| x * x).sum();
    determinant.abs() > 1e-6 * size
}

/// A solution in the tangents of the problem.
fn certified(
    problem: &ContactProblem,
    solution: DiscSolution,
    map: &[[f64; 2]; 2],
) -> FoundSolution {
    let given = |mut p: [f64; 3]| {
        from_disc_frame(map, &mut p);
        p.to_vec()
    };
    let mode = match solution.kind {
        DiscKind::Open => Mode::Open,
        DiscKind::Stick => Mode::Stick,
        DiscKind::Slip => Mode::SlipUpper,
    };
    let continuum = solution.set.map(|set| Continuum {
        dimension: set.dimension,
        moves_velocity: set.moves_velocity,
        ends: set.ends.into_iter().map(given).collect(),
        unbounded: set.unbounded.into_iter().map(given).collect(),
    });
    FoundSolution::certified(problem, given(solution.impulse), vec![mode], continuum)
}

/// Start number `index`: none open, then random parts of the cones.
fn start(problem: &ContactProblem, seed: u64, index: usize) -> Vec<f64> {
    let m = problem.size();
    let mut p = vec![0.0; m];
    if index == 0 {
        return p;
    }
    let mut random = Splitmix(seed ^ (index as u64).wrapping_mul(0xD134_2543_DE82_EF95));
    let mut unit = || random.unit();
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

/// Derivative of F at p.
///
/// Only the projections on the cones are taken by differences, each in its own scale: the velocity is affine, and the slope
/// of the support function is the point of the section that supports it. Differences of F itself lose the impulses of a short step beside
/// the free velocity.
fn jacobian(problem: &ContactProblem, p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let dense = problem.dense();
    let mut w = vec![0.0; m];
    problem.local_velocity(p, &mut w);
    let mut matrix = vec![0.0; m * m];
    for block in problem.blocks() {
        let (start, size) = (block.start, block.size);
        let rho = 1.0 / dense[start * m + start];
        let minus: Vec<f64> = w[start + 1..start + size].iter().map(|x| -x).collect();
        let mut point: Vec<f64> = (start..start + size).map(|i| p[i] - rho * w[i]).collect();
        let mut steepest = vec![0.0; size - 1];
        if size > 1 {
            point[0] -= rho * block.section.support(&minus);
            block.section.support_point(&minus, &mut steepest);
        }
        // Rows of the derivative of the projected point, p − ρ(w + σ(−w_T) n).
        let mut inner = vec![0.0; size * m];
        for i in 0..size {
            for j in 0..m {
                inner[i * m + j] = -rho * dense[(start + i) * m + j];
            }
            inner[i * m + start + i] += 1.0;
        }
        for (k, s) in steepest.iter().enumerate() {
            for j in 0..m {
                inner[j] += rho * s * dense[(start + 1 + k) * m + j];
            }
        }
        let slope = projection_slope(&block.section, &point);
        for i in 0..size {
            let row = (start + i) * m;
            matrix[row + start + i] = 1.0;
            for k in 0..size {
                for j in 0..m {
                    matrix[row + j] -= slope[i * size + k] * inner[k * m + j];
                }
            }
        }
    }
    matrix
}

/// Derivative of the projection on the cone of a section by central differences; on an edge between two pieces the one ahead.
fn projection_slope(section: &FrictionSection, point: &[f64]) -> Vec<f64> {
    let size = point.len();
    let mut here = vec![0.0; size];
    section.project_on_cone(point, &mut here);
    let length = norm(point);
    let mut step = 1e-6 * length;
    if norm(&here) > 0.0 {
        // The pieces of the projection are as near as the projected point is to the tip.
        step = step.min(1e-3 * norm(&here)).max(1e-9 * length);
    }
    let mut slope = vec![0.0; size * size];
    if !(step > 0.0) {
        // At the tip: that of a point inside.
        (0..size).for_each(|i| slope[i * size + i] = 1.0);
        return slope;
    }
    let (mut ahead, mut behind) = (vec![0.0; size], vec![0.0; size]);
    let mut moved = point.to_vec();
    for j in 0..size {
        moved[j] = point[j] + step;
        section.project_on_cone(&moved, &mut ahead);
        moved[j] = point[j] - step;
        section.project_on_cone(&moved, &mut behind);
        moved[j] = point[j];
        let edge = (0..size).any(|i| (ahead[i] - 2.0 * here[i] + behind[i]).abs() > 1e-3 * step);
        for i in 0..size {
            slope[i * size + j] = if edge {
                (ahead[i] - here[i]) / step
            } else {
                (ahead[i] - behind[i]) / (2.0 * step)
            };
        }
    }
    slope
}

/// The solution of least norm: of a continuum, the nearest.
fn least_step(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let set = solve_any_rank(matrix, right, SINGULAR);
    let mut point = set.point;
    for direction in orthonormal(set.directions) {
        remove(&mut point, &direction);
    }
    point
}

/// An orthonormal basis of what independent directions span.
pub(super) fn orthonormal(directions: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut direction in directions {
        for b in &basis {
            remove(&mut direction, b);
        }
        let length = norm(&direction);
        direction.iter_mut().for_each(|x| *x /= length);
        basis.push(direction);
    }
    basis
}

/// Removes the part of `x` along the unit vector `along`.
fn remove(x: &mut [f64], along: &[f64]) {
    let part: f64 = x.iter().zip(along).map(|(x, a)| x * a).sum();
    x.iter_mut().zip(along).for_each(|(x, a)| *x -= part * a);
}

/// Semismooth Newton with a line search, down to rounding; whether it reached a solution.
fn newton(problem: &ContactProblem, p: &mut [f64], allowance: &Allowance) -> bool {
    let m = p.len();
    let mut value = vec![0.0; m];
    let mut size = natural_map(problem, p, &mut value);
    let mut trial_value = vec![0.0; m];
    for _ in 0..80 {
        if size <= 0.25 * rounding(problem, p) {
            break;
        }
        if !allowance.newton_step(m) {
            return false;
        }
        let matrix = jacobian(problem, p);
        let right: Vec<f64> = value.iter().map(|x| -x).collect();
        let direction = least_step(&matrix, &right);
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
    is_solution(problem, p)
}

fn is_solution(problem: &ContactProblem, p: &[f64]) -> bool {
    let judgement = Judgement::of(problem, p);
    judgement.residual.worst() <= (0.1 * TOLD) * judgement.floor
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
