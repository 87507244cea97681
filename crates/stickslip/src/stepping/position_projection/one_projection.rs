//! The projection on one contact, the one of most steps of small systems, without lists.

use crate::algebra::{absolute_dot, assign, assign_scaled, dot};
use crate::systems::MechanicalSystem;

use super::{Approach, GAP_ROUNDING, Member, PASSES_MAX, PositionProjection, Progress, level};

/// The only contact that a projection starts with, where joints are not asked for.
#[inline]
pub(super) fn only_member(gaps: &[f64], held: &[usize], spared: &[usize]) -> Option<Member> {
    let violated = (0..gaps.len()).filter(|&c| gaps[c] < 0.0);
    let mut violated = violated.filter(|c| spared.binary_search(c).is_err());
    match (held, violated.next(), violated.next()) {
        (&[c], None, _) => Some(Member::Held(c)),
        (&[c], Some(own), None) if own == c => Some(Member::Held(c)),
        ([], Some(c), None) => Some(Member::Unilateral(c)),
        _ => None,
    }
}

impl PositionProjection {
    /// What [`PositionProjection::project_all`] does, pass by pass, where one contact takes part from the first to the last;
    /// none where others do, or where rows are sparse.
    pub(super) fn project_one(
        &mut self,
        system: &dyn MechanicalSystem,
        (t, gaps): (f64, &[f64]),
        q: &mut [f64],
        member: Member,
    ) -> Option<bool> {
        let (Member::Held(c) | Member::Unilateral(c)) = member else {
            return None;
        };
        if !system.joints().is_empty() || system.sparsity().is_some() {
            return None;
        }
        let (n, constraints) = (self.displacement.len(), system.constraints());
        let gap = constraints[c].gap();
        assign(&mut self.gaps, gaps);
        if self.dense.len() != n || self.step.len() != n || self.moved.len() != q.len() {
            self.dense.resize(n, 0.0);
            self.step.resize(n, 0.0);
            self.moved.resize(q.len(), 0.0);
        }
        let turns = system.turns();
        let (mut moved, mut size) = (false, 0.0f64);
        let mut approach = Approach::of(system);
        for _ in 0..PASSES_MAX + constraints.len() {
            let value = self.gaps[c];
            let violation = |size: f64, moved: bool| {
                member.defect(value, moved) / (GAP_ROUNDING * size + f64::MIN_POSITIVE)
            };
            if moved && violation(size, moved) <= 1.0 {
                return Some(true);
            }
            gap.gradient(t, q, &mut self.dense);
            size = size.max(absolute_dot(&self.dense, q) + gap.magnitude(t, q));
            let worst = violation(size, moved);
            match approach.judge(worst) {
                Progress::Arrived => return Some(moved),
                Progress::Lost => break,
                Progress::Nearer => {}
            }
            if !(worst.is_finite() && (moved || self.factor_mass(system, q))) {
                break;
            }
            if !self.push_one(member, value) {
                break;
            }
            self.follow(system, turns, q);
            moved = true;
            let mut others = false;
            for (k, (gap, constraint)) in self.gaps.iter_mut().zip(constraints).enumerate() {
                *gap = constraint.gap().value(t, q);
                others |= *gap < 0.0 && k != c && *gap < level(&self.spared, &self.levels, k);
            }
            if others {
                self.give_up(q);
                return None;
            }
        }
        self.give_up(q);
        Some(false)
    }

    /// The displacement from the start that closes the only member as linearised here, and the step that is left of it; false
    /// if nothing moves it or it would pull.
    #[inline]
    fn push_one(&mut self, member: Member, value: f64) -> bool {
        assign(&mut self.responses, &self.dense);
        self.factor.solve_in_place(&mut self.responses);
        let stiffness = dot(&self.dense, &self.responses);
        let multiplier = (dot(&self.dense, &self.displacement) - value) / stiffness;
        let pulls = matches!(member, Member::Unilateral(_)) && multiplier < 0.0;
        if pulls || !multiplier.is_finite() {
            return false;
        }
        let sums = (&mut self.displacement, &mut self.step);
        assign_scaled(sums.0, sums.1, multiplier, &self.responses);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{ContactLaw, ImpactLaw};
    use crate::systems::functions::GivenScalar;
    use crate::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

    /// A particle inside a ring and above a floor that is met further along.
    fn system() -> GeneralizedSystem {
        let law = || ContactLaw::frictionless(ImpactLaw::Inelastic).expect("valid");
        let ring = GivenScalar {
            value: |q: &[f64]| 1.0 - q[0].hypot(q[1]),
            gradient: |q: &[f64], row: &mut [f64]| {
                let r = q[0].hypot(q[1]);
                row.copy_from_slice(&[-q[0] / r, -q[1] / r]);
            },
        };
        let floor = GivenScalar {
            value: |q: &[f64]| q[1] + 0.5 + 0.1 * q[0] * q[0],
            gradient: |q: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.2 * q[0], 1.0]),
        };
        GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[2.0, 3.0])
            .constraint(
                UnilateralConstraint::new("ring", ring)
                    .with_point(ContactFrame::Frictionless, law()),
            )
            .constraint(
                UnilateralConstraint::new("floor", floor)
                    .with_point(ContactFrame::Frictionless, law()),
            )
            .build(&[0.5, 0.0])
            .expect("valid")
    }

    #[test]
    fn one_contact_is_projected_as_one_among_others() {
        let system = system();
        let mut alone = 0;
        for k in 0..400 {
            let angle = 0.0157 * f64::from(k);
            let radius = 0.98 + 0.05 * (7.3 * f64::from(k)).sin();
            let q = [radius * angle.cos(), radius * angle.sin()];
            let gaps: Vec<f64> = system
                .constraints()
                .iter()
                .map(|c| c.gap().value(0.0, &q))
                .collect();
            for held in [&[][..], &[0], &[1]] {
                let [mut one, mut all] = [PositionProjection::default(), Default::default()];
                let [mut q_one, mut q_all] = [q, q];
                one.reset(2);
                assign(&mut one.start, &q);
                all.reset(2);
                assign(&mut all.start, &q);
                let Some(member) = only_member(&gaps, held, &[]) else {
                    continue;
                };
                let Some(moved) = one.project_one(&system, (0.0, &gaps), &mut q_one, member) else {
                    assert_eq!((q_one, one.displacement), (q, vec![0.0; 2]));
                    continue;
                };
                alone += 1;
                assert_eq!(
                    moved,
                    all.project_all(&system, (0.0, &gaps), &mut q_all, held)
                );
                assert_eq!(
                    (q_one, one.displacement, moved.then_some(one.gaps)),
                    (q_all, all.displacement, moved.then_some(all.gaps))
                );
            }
        }
        assert!(alone > 300, "{alone}");
    }
}
