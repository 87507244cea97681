//! The consistency conditions of an impact map, tested on many velocities.
//!
//! # What it computes
//!
//! For F(q, v⁻) on random v⁻ with ⟨dφ_a, v⁻⟩ ≤ 0, p = M(F − v_n⁻): (1) F in the span of the normals; (2a) ⟨dφ_a, F⟩ ≥ 0; (2b) where
//! ⟨dφ_a, F⟩ = 0 and C*_a is unbounded, −F in the closed domain of its support; (3) p in K_frict: with the cone splitting
//! p = Σ λ_a dφ_a + r_τ, dist*(r_τ, Σ λ_a C*_a) = 0; (3') p = Σ λ_a dφ_a with λ ≥ 0, which implies (3) and solvability; (4) ‖F‖ ≤ ‖v_n⁻‖; and
//! the sign of ⟨r_τ, v⁺⟩.
//!
//! # Source
//!
//! [CharlesBallard2016], conditions on F and end of section 4. (2b) is tested with −F, which the paper
//! prints as F; (3') is the project's recommendation.
//!
//! # Guarantees
//!
//! A violation found is one: it comes with the velocity that shows it. No violation found is not a
//! proof.
//!
//! # Behaviour to know
//!
//! The conditions are not sufficient: P'4 may have no solution although all four hold.
//!
//! # Cost
//!
//! One projection on a sum of friction sets per sample.
//!
//! # Tested by
//!
//! `solvers/impact_consistency.rs`.

use serde::Serialize;

use crate::algebra::feasibility::LinearSystem;
use crate::algebra::splitmix::Splitmix;
use crate::algebra::{PivotedCholesky, dot};
use crate::contact::{ContactProblem, ContactSolution};
use crate::laws::{GeneralizedSet, ImpactRule, PerGradient, SetUnit};
use crate::solvers::one_contact::LocalScratch;

use super::generalized_reaction::{Couplings, strict_distance};

/// Worst violation of one condition, relative to the speed of the sample, with its velocity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Violation {
    /// Size of the violation; 0 if none was found.
    pub size: f64,
    /// Normal velocities u⁻ that show it.
    pub velocity_before: Vec<f64>,
    /// Normal velocities u⁺ of the map there.
    pub velocity_after: Vec<f64>,
}

impl Violation {
    fn update(&mut self, size: f64, before: &[f64], after: &[f64]) {
        if size > self.size {
            *self = Self {
                size,
                velocity_before: before.to_vec(),
                velocity_after: after.to_vec(),
            };
        }
    }

    /// Whether the condition held up to `tolerance` on every sample.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.size <= tolerance
    }
}

/// Report on an impact map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImpactConsistency {
    /// (1) F lies in the span of the normals.
    pub in_normal_span: Violation,
    /// (2a) no constraint closes after.
    pub opens: Violation,
    /// (2b) −F is allowed by the unbounded sets of the constraints that stay closed.
    pub in_domain: Violation,
    /// (3) the impulse is a frictional reaction.
    pub frictional: Violation,
    /// (3') the impulse is a sum of nonnegative normal impulses.
    pub unilateral: Violation,
    /// (4) the normal kinetic energy does not grow.
    pub dissipative: Violation,
    /// ⟨r_τ, v⁺⟩ ≤ 0.
    pub tangential_power: Violation,
    /// Samples tried.
    pub samples: usize,
    /// Seed of the samples.
    pub seed: u64,
}

/// Tests a map on the constraints of a problem whose blocks follow the generalized law.
pub fn check_impact(
    problem: &ContactProblem,
    rule: &dyn ImpactRule,
    samples: usize,
    seed: u64,
) -> ImpactConsistency {
    let count = problem.blocks().len();
    let couplings = Couplings::new(problem);
    let mut factor = PivotedCholesky::default();
    factor.factor(count, &couplings.normal);
    let mut report = ImpactConsistency {
        samples,
        seed,
        ..ImpactConsistency::default()
    };
    let mut random = Splitmix(seed);
    let mut after = vec![0.0; count];
    let active: Vec<usize> = problem
        .blocks()
        .iter()
        .map(|b| b.key.constraint())
        .collect();
    let mut scratch = LocalScratch::default();
    for sample in 0..samples {
        // Approach velocities, some of them exactly zero.
        let before: Vec<f64> = (0..count)
            .map(|a| {
                let x = random.unit();
                if sample % 4 == 1 && x < 0.3 {
                    0.0
                } else {
                    -x * couplings.normal[a * count + a].sqrt()
                }
            })
            .collect();
        let Some(before) = reachable(before, &couplings.normal, &mut factor) else {
            continue;
        };
        let mut weights = before.clone();
        factor.solve_in_place(&mut weights);
        let speed = dot(&weights, &before).max(0.0).sqrt();
        if speed == 0.0 {
            continue;
        }
        rule.after_among(&active, &couplings.normal, &before, &mut after);
        judge(
            problem,
            &couplings,
            (&before, &after),
            speed,
            &mut factor,
            &mut scratch,
            &mut report,
        );
    }
    report
}

/// Normal velocities that a motion can have: with dependent rows the nearest ones in their range, none if
/// one of them then opens.
fn reachable(
    mut before: Vec<f64>,
    normal: &[f64],
    factor: &mut PivotedCholesky,
) -> Option<Vec<f64>> {
    let count = before.len();
    if factor.rank() == count {
        return Some(before);
    }
    // The part of a velocity outside the range of W is what no motion has.
    for _ in 0..100 {
        let mut weights = before.clone();
        factor.solve_in_place(&mut weights);
        let image: Vec<f64> = (0..count)
            .map(|a| dot(&normal[a * count..(a + 1) * count], &weights))
            .collect();
        let off = image
            .iter()
            .zip(&before)
            .fold(0.0f64, |s, (a, b)| s.max((a - b).abs()));
        let size = image.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        before = image;
        if off <= 1e-14 * size {
            break;
        }
    }
    let size = before.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    for u in &mut before {
        if u.abs() <= 1e-13 * size {
            *u = 0.0;
        }
    }
    before.iter().all(|&u| u <= 0.0).then_some(before)
}

#[allow(clippy::too_many_arguments)]
fn judge(
    problem: &ContactProblem,
    couplings: &Couplings,
    (before, after): (&[f64], &[f64]),
    speed: f64,
    factor: &mut PivotedCholesky,
    scratch: &mut LocalScratch,
    report: &mut ImpactConsistency,
) {
    let (m, count) = (problem.size(), before.len());
    let w = problem.dense();
    // F = Σ x_a n_a with W x = u⁺; what is left of u⁺ is outside the span (dependent rows only).
    let mut coordinates = after.to_vec();
    factor.solve_in_place(&mut coordinates);
    let mut outside = 0.0f64;
    for a in 0..count {
        let reached = dot(&couplings.normal[a * count..(a + 1) * count], &coordinates);
        let size = couplings.normal[a * count + a].sqrt();
        outside = outside.max((after[a] - reached).abs() / size);
        report
            .opens
            .update((-after[a]).max(0.0) / (size * speed), before, after);
    }
    report.in_normal_span.update(outside / speed, before, after);
    let energy = dot(&coordinates, after).max(0.0).sqrt();
    report
        .dissipative
        .update((energy - speed) / speed, before, after);

    let impulse = normal_impulse(couplings, (before, after), speed, factor);
    let mut solution = ContactSolution {
        impulse: vec![0.0; m],
        local_velocity: vec![0.0; m],
        ..ContactSolution::default()
    };
    for (a, block) in problem.blocks().iter().enumerate() {
        let size = couplings.normal[a * count + a].sqrt();
        report
            .unilateral
            .update((-impulse[a]).max(0.0) * size / speed, before, after);
        solution.impulse[block.start] = impulse[a];
    }
    for i in 0..m {
        solution.local_velocity[i] = problem
            .blocks()
            .iter()
            .zip(&coordinates)
            .map(|(b, x)| w[i * m + b.start] * x)
            .sum();
    }
    judge_domain(
        problem,
        couplings,
        &solution,
        (before, after),
        speed,
        report,
    );
    let (distance, power) = strict_distance(problem, couplings, &solution, scratch);
    report.frictional.update(distance / speed, before, after);
    report
        .tangential_power
        .update(power / (speed * speed), before, after);
}

/// p = W⁻¹(u⁺ − u⁻) on the normal rows.
fn normal_impulse(
    couplings: &Couplings,
    (before, after): (&[f64], &[f64]),
    speed: f64,
    factor: &mut PivotedCholesky,
) -> Vec<f64> {
    let count = before.len();
    let change: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    let mut impulse = change.clone();
    factor.solve_in_place(&mut impulse);
    if factor.rank() == count || !impulse.iter().any(|&p| p < 0.0) {
        return impulse;
    }
    // Dependent rows: of all impulses with this effect a nonnegative one counts.
    let mut system = LinearSystem::new(count);
    for (a, u) in change.iter().enumerate() {
        let size = couplings.normal[a * count + a].sqrt();
        let row = (0..count).map(|b| couplings.normal[a * count + b] / size);
        system.equal(row, u / size);
    }
    system.feasible_point(1e-9 * speed).unwrap_or(impulse)
}

/// (2b): what a firm contact that stays closed would stop at once.
fn judge_domain(
    problem: &ContactProblem,
    couplings: &Couplings,
    solution: &ContactSolution,
    (before, after): (&[f64], &[f64]),
    speed: f64,
    report: &mut ImpactConsistency,
) {
    let (m, count) = (problem.size(), before.len());
    let (w, velocity) = (problem.dense(), &solution.local_velocity);
    for (a, block) in problem.blocks().iter().enumerate() {
        let (n, d) = (block.start, block.size - 1);
        if d == 0 || after[a].abs() > 1e-12 * couplings.normal[a * count + a].sqrt() * speed {
            continue;
        }
        let local: Vec<f64> = (0..(d + 1) * (d + 1))
            .map(|e| w[(n + e / (d + 1)) * m + n + e % (d + 1)])
            .collect();
        let set = match block.flow_rule.generalized().map(|rule| rule.unit) {
            Some(SetUnit::PerGradient | SetUnit::PerUnitNormal) => {
                GeneralizedSet::<PerGradient>::given(block.section.clone())
            }
            _ => GeneralizedSet::from_cone(&local, block.section.clone()),
        };
        let reading: Vec<f64> = (1..=d)
            .map(|i| velocity[n + i] - couplings.tilt[n + i] * velocity[n])
            .collect();
        if reading.iter().any(|x| x.abs() > 1e-9 * speed) && !set.allows(&reading) {
            let size = dot(&reading, &reading).sqrt() / speed;
            report.in_domain.update(size, before, after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{BlockKind, ContactBlock, ContactKey};
    use crate::laws::{FlowRule, FrictionSection, GeneralizedRule, ImpactClosure, StandardImpact};

    /// A particle in a corner of 120°, friction on both planes.
    fn corner() -> ContactProblem {
        let a = 120f64.to_radians();
        let rows = [
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [a.sin(), -a.cos(), 0.0],
            [a.cos(), a.sin(), 0.0],
            [0.0, 0.0, 1.0],
        ];
        let w = rows
            .iter()
            .flat_map(|r| rows.iter().map(|s| dot(r, s)).collect::<Vec<_>>())
            .collect();
        let block = |k: usize| ContactBlock {
            key: ContactKey::declared(k, 0),
            start: 3 * k,
            size: 3,
            section: FrictionSection::disc(0.9).unwrap(),
            flow_rule: FlowRule::Generalized(GeneralizedRule::default()),
            kind: BlockKind::Unilateral { minimum: 0.0 },
        };
        ContactProblem::from_dense(w, vec![0.0; 6], vec![block(0), block(1)])
    }

    /// Whether the conditions of the paper held.
    fn consistent(report: &ImpactConsistency, tolerance: f64) -> bool {
        [
            &report.in_normal_span,
            &report.opens,
            &report.in_domain,
            &report.frictional,
            &report.dissipative,
        ]
        .iter()
        .all(|violation| violation.holds(tolerance))
    }

    #[test]
    fn standard_maps_meet_all_conditions() {
        let problem = corner();
        for rule in [
            StandardImpact::Newton(vec![0.3, 0.8]),
            StandardImpact::Poisson(vec![0.9, 0.2]),
            StandardImpact::Moreau(0.7),
        ] {
            let report = check_impact(&problem, &rule, 300, 5);
            assert!(consistent(&report, 1e-7), "{rule:?}: {report:?}");
            assert!(report.unilateral.holds(1e-9) && report.tangential_power.holds(1e-9));
        }
    }

    #[test]
    fn a_map_that_gains_energy_is_shown_with_a_velocity() {
        let gains = ImpactClosure(|_: &[f64], u: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(u).for_each(|(o, u)| *o = -1.2 * u);
        });
        let report = check_impact(&corner(), &gains, 100, 5);
        assert!(!consistent(&report, 1e-9));
        assert!((report.dissipative.size - 0.2).abs() < 1e-9);
        assert_eq!(report.dissipative.velocity_before.len(), 2);
        let closes = ImpactClosure(|_: &[f64], u: &[f64], out: &mut [f64]| out.copy_from_slice(u));
        assert!(!check_impact(&corner(), &closes, 10, 5).opens.holds(1e-9));
    }

    #[test]
    fn stopping_both_normals_of_an_obtuse_corner_needs_friction() {
        // F = 0 is not reached by normal impulses alone: (3) holds by friction, (3') fails.
        let stops = ImpactClosure(|_: &[f64], _: &[f64], out: &mut [f64]| out.fill(0.0));
        let report = check_impact(&corner(), &stops, 400, 5);
        // The distance is a root of a rounding error.
        assert!(consistent(&report, 1e-7), "{report:?}");
        assert!(!report.unilateral.holds(1e-3));
    }
}
