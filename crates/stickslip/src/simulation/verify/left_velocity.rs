//! The left velocity of a step whose forces know its impulses.

use crate::algebra::{SymmetricMatrix, dot};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::judge::Judge;
use super::place::{Place, remove};
use super::{Line, MotionNode, Verification};

/// A step of the theta scheme around its impulses.
pub(super) struct ImplicitStep<'a> {
    /// Ends of the step; of a body that coasts, the instants before and after the impulses.
    pub ends: (&'a MotionNode, &'a MotionNode),
    /// Time, place and velocity of its forces.
    pub middle: (f64, &'a [f64], &'a [f64]),
    pub h: f64,
    pub theta: f64,
}

impl Judge<'_> {
    /// The left velocity of a theta step is the one that the same step has without the impulses of its contacts, to first order in them:
    /// `A (v⁺ − v⁻) = H p` up to joints, `A = M + hθ C + h²θ² K`, in which K and C hold what the slopes of the potential and of
    /// forces add. Without impulses it is the right velocity.
    ///
    /// Slopes are those of the start, or those to which the iteration came, or none where the step is too long for them; masses and slopes
    /// that change along the step leave a slack as large as their change. Returned is the A that holds: the metric in which the step
    /// answers impulses.
    pub(super) fn left_velocity(
        &self,
        system: &dyn MechanicalSystem,
        place: &Place,
        step: &ImplicitStep,
        report: &mut Verification,
    ) -> Option<SymmetricMatrix> {
        let (a, b) = step.ends;
        let jump: Vec<f64> = (b.v_right.iter().zip(&b.v_left))
            .map(|(x, y)| x - y)
            .collect();
        let impulse = place.generalized_impulse(&b.atom);
        if jump.iter().chain(&impulse).all(|&x| x == 0.0) {
            return None;
        }
        // Both velocities are those of the joints.
        for row in &place.joints {
            let slack =
                self.settings.tolerance * self.subsystems.speed_of(row) * place.velocity_reach(row);
            let off = dot(row, &jump).abs();
            if !(off <= slack) {
                report.note(Line::ImpactEquation, b.t, off / slack, None);
            }
        }
        let n = jump.len();
        let (mut here, mut there) = (place.mass.clone(), place.mass.clone());
        if !system.mass_is_constant() {
            system.mass(&a.q, &mut here);
            system.mass(step.middle.1, &mut there);
        }
        let reach = step.h * step.theta;
        if let Some(linear) = system.linear_part() {
            let parts = [
                (reach, linear.damping.as_ref()),
                (reach * reach, linear.stiffness.as_ref()),
            ];
            for (scale, part) in parts {
                if let Some(part) = part {
                    there.add_scaled(scale, part);
                    here.add_scaled(scale, part);
                }
            }
        }
        let product = |matrix: &SymmetricMatrix| {
            let mut out = vec![0.0; n];
            matrix.multiply(&jump, &mut out);
            out
        };
        let (inertia, first) = (product(&there), product(&here));
        let mut hessian = vec![0.0; n];
        let mut curvature = None;
        if reach > 0.0 && system.has_potential() && !system.potential_is_linear() {
            let mut matrix = system.new_matrix();
            if system.potential_hessian(&a.q, &mut matrix) {
                hessian = product(&matrix);
                hessian.iter_mut().for_each(|x| *x *= reach * reach);
                curvature = Some(matrix);
            }
        }
        let start = (a.t, a.q.as_slice(), a.v_right.as_slice());
        let matrices = [start, step.middle].map(|at| slope(system, at, reach));
        let slopes = matrices
            .each_ref()
            .map(|matrix| slope_product(matrix, &jump));
        // The worst part of the scale by which momentum and impulse are apart.
        let off = |hessian: f64, slope: f64, k: usize, hess: &[f64]| -> f64 {
            let momentum: Vec<f64> = (0..n)
                .map(|i| inertia[i] + hessian * hess[i] + slope * slopes[k][i])
                .collect();
            let mut apart: Vec<f64> = (0..n).map(|i| momentum[i] - impulse[i]).collect();
            remove(&mut apart, &place.joints);
            let worst = (0..n).map(|i| {
                let scale = self.momentum_scale(place, i);
                let size = scale + momentum[i].abs() + impulse[i].abs();
                let moves = (inertia[i] - first[i]).abs() + (slopes[0][i] - slopes[1][i]).abs();
                let slack = self.settings.tolerance * size + 2.0 * moves;
                (apart[i].abs() - slack) / scale
            });
            worst.fold(
                f64::NEG_INFINITY,
                |s, x| {
                    if x.is_nan() { x } else { s.max(x) }
                },
            )
        };
        let kinds = [(1.0, 1.0, 0), (1.0, 1.0, 1), (1.0, 0.0, 0), (0.0, 0.0, 0)];
        let mut least = f64::INFINITY;
        for (with_hessian, with_slope, k) in kinds {
            let found = off(with_hessian, with_slope, k, &hessian);
            if found <= 0.0 {
                if let Some(matrix) = curvature.filter(|_| with_hessian > 0.0) {
                    there.add_scaled(reach * reach, &matrix);
                }
                if with_slope > 0.0 {
                    for (e, x) in matrices[k]
                        .iter()
                        .enumerate()
                        .filter(|(e, _)| e / n >= e % n)
                    {
                        there.set(e / n, e % n, there.get(e / n, e % n) + x);
                    }
                }
                return Some(there);
            }
            least = least.min(found);
        }
        report.note(Line::ImpactEquation, b.t, least, None);
        None
    }
}

/// The symmetric part of `−(hθ ∂f/∂v + h²θ² ∂f/∂q)`, row by row, `reach` being hθ; empty where a step knows no slope.
fn slope(system: &dyn MechanicalSystem, (t, q, v): (f64, &[f64], &[f64]), reach: f64) -> Vec<f64> {
    let n = v.len();
    if reach == 0.0
        || system.force_dependence() != ForceDependence::State
        || system.sparsity().is_some()
    {
        return Vec::new();
    }
    let (mut dq, mut dv) = (vec![0.0; n * n], vec![0.0; n * n]);
    let at = Instant {
        past: system.past(),
        ..Instant::new(t, q, v)
    };
    if !system.force_derivatives(&at, &mut dq, &mut dv) {
        return Vec::new();
    }
    let entry = |i: usize, j: usize| -reach * (dv[i * n + j] + reach * dq[i * n + j]);
    let symmetric = |e: usize| 0.5 * (entry(e / n, e % n) + entry(e % n, e / n));
    let matrix: Vec<f64> = (0..n * n).map(symmetric).collect();
    if matrix.iter().all(|x| x.is_finite()) {
        matrix
    } else {
        Vec::new()
    }
}

/// What a slope does to a jump.
fn slope_product(matrix: &[f64], jump: &[f64]) -> Vec<f64> {
    if matrix.is_empty() {
        return vec![0.0; jump.len()];
    }
    let rows = matrix.chunks(jump.len());
    rows.map(|row| dot(row, jump)).collect()
}
