//! Perfect joints inside a step: exact elimination by the constrained inverse.
//!
//! With rows G of the joints, `A_c⁻¹ = A⁻¹ − A⁻¹Gᵀ (G A⁻¹ Gᵀ)⁻¹ G A⁻¹` replaces A⁻¹ everywhere, so
//! that contact laws, Delassus matrix and friction sets are built after the joints ([CharlesBallard2016],
//! section 7 of the specification). Redundant joints are allowed: they get no multiplier.

use crate::algebra::{CholeskyFactor, PivotedCholesky, dot};
use crate::systems::MechanicalSystem;

/// Which velocity of the step satisfies the joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointVelocity {
    /// The velocity at the end of the step: robust, dissipates a little.
    #[default]
    End,
    /// The velocity v_θ: joints do no work at all; at θ = ½ the joint velocity alternates.
    Theta,
}

/// Rows of the joints and the factored Schur complement.
#[derive(Debug, Default)]
pub(crate) struct JointSystem {
    count: usize,
    rows: Vec<f64>,
    responses: Vec<f64>,
    rates: Vec<f64>,
    /// Turning of the rows along the step: what it adds to `G v + ∂g/∂t` of the velocity at the start.
    turning: Vec<f64>,
    target: Vec<f64>,
    schur: Vec<f64>,
    factor: PivotedCholesky,
    work: Vec<f64>,
    pub multipliers: Vec<f64>,
}

impl JointSystem {
    /// Evaluates the rows at (t, q).
    #[inline]
    pub fn evaluate(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) {
        if self.count > 0 || !system.joints().is_empty() {
            self.evaluate_all(system, t, q);
        }
    }

    fn evaluate_all(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) {
        let n = system.dof();
        self.count = system.joints().len();
        self.rows.resize(self.count * n, 0.0);
        self.rates.resize(self.count, 0.0);
        self.target.resize(self.count, 0.0);
        self.multipliers.clear();
        self.multipliers.resize(self.count, 0.0);
        for (i, joint) in system.joints().iter().enumerate() {
            joint
                .function()
                .gradient(t, q, &mut self.rows[i * n..(i + 1) * n]);
            self.rates[i] = joint.function().rate(t, q);
        }
    }

    /// Evaluates the rows at `place`, further along the path than `start`, for a step that begins there with v.
    pub fn evaluate_along(
        &mut self,
        system: &dyn MechanicalSystem,
        start: (f64, &[f64]),
        place: (f64, &[f64]),
        v: &[f64],
    ) {
        if self.count == 0 && system.joints().is_empty() {
            return;
        }
        self.evaluate(system, start.0, start.1);
        self.turning.clear();
        for i in 0..self.count {
            self.turning.push(-self.speed(i, v));
        }
        self.evaluate(system, place.0, place.1);
        for i in 0..self.count {
            self.turning[i] += self.speed(i, v);
        }
    }

    /// `G v + ∂g/∂t` of a joint.
    fn speed(&self, i: usize, v: &[f64]) -> f64 {
        let n = v.len();
        dot(&self.rows[i * n..(i + 1) * n], v) + self.rates[i]
    }

    /// Whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Sets the value of `G v` at the end of the step.
    #[inline]
    pub fn set_target(&mut self, velocity: JointVelocity, theta: f64, v0: &[f64]) {
        let n = v0.len();
        for i in 0..self.count {
            self.target[i] = match velocity {
                // What the joints turn along the step is taken on the mean velocity.
                JointVelocity::End => {
                    let turning = self.turning.get(i).copied().unwrap_or(0.0);
                    -self.rates[i] - (1.0 - theta) / theta * turning
                }
                JointVelocity::Theta => {
                    (-self.rates[i] - (1.0 - theta) * dot(&self.rows[i * n..(i + 1) * n], v0))
                        / theta
                }
            };
        }
    }

    /// Whether rows turn along the step.
    pub fn turns(&self) -> bool {
        self.count > 0 && self.turning.iter().any(|&x| x != 0.0)
    }

    /// Rows of the joints over n velocities.
    pub fn rows(&self, n: usize) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks(n.max(1)).take(self.count)
    }

    /// Of an explicit step that was solved already: takes the part `left` of the turning of every joint, and adds what
    /// this changes of the velocity.
    pub fn keep_turning(&mut self, left: &[f64], shift: &mut [f64]) {
        let n = shift.len();
        self.work.resize(self.count, 0.0);
        for i in 0..self.count {
            let target = -self.rates[i] - left[i] * self.turning[i];
            self.work[i] = target - self.target[i];
            self.target[i] = target;
        }
        self.factor.solve_in_place(&mut self.work);
        for (response, &multiplier) in self.responses.chunks(n.max(1)).zip(&self.work) {
            for (x, r) in shift.iter_mut().zip(response) {
                *x += multiplier * r;
            }
        }
        for (total, extra) in self.multipliers.iter_mut().zip(&self.work) {
            *total += extra;
        }
    }

    /// Factors the Schur complement for the operator A of the step.
    #[inline]
    pub fn factor(&mut self, operator: &CholeskyFactor) {
        if self.count > 0 {
            self.factor_schur(operator);
        }
    }

    fn factor_schur(&mut self, operator: &CholeskyFactor) {
        let (n, m) = (operator.order(), self.count);
        self.responses.clear();
        self.responses.extend_from_slice(&self.rows);
        for response in self.responses.chunks_mut(n) {
            operator.solve_in_place(response);
        }
        self.schur.resize(m * m, 0.0);
        for i in 0..m {
            for j in 0..m {
                self.schur[i * m + j] = dot(
                    &self.rows[i * n..(i + 1) * n],
                    &self.responses[j * n..(j + 1) * n],
                );
            }
        }
        self.factor.factor(m, &self.schur);
    }

    /// Replaces `x = A⁻¹ b` by `A_c⁻¹ b`.
    pub fn project_response(&mut self, x: &mut [f64]) {
        self.correct(x, false, false);
    }

    /// Projects the free velocity on the joints and starts the multipliers with its impulse.
    #[inline]
    pub fn project_velocity(&mut self, v: &mut [f64]) {
        self.multipliers.fill(0.0);
        self.correct(v, true, true);
    }

    /// Adds the multipliers that answer an impulse whose unconstrained response is `x`.
    pub fn add_response_multipliers(&mut self, x: &mut [f64]) {
        self.correct(x, false, true);
    }

    #[inline]
    fn correct(&mut self, x: &mut [f64], with_target: bool, keep: bool) {
        if self.count > 0 {
            self.correct_all(x, with_target, keep);
        }
    }

    fn correct_all(&mut self, x: &mut [f64], with_target: bool, keep: bool) {
        let n = x.len();
        self.work.resize(self.count, 0.0);
        for i in 0..self.count {
            let target = if with_target { self.target[i] } else { 0.0 };
            self.work[i] = target - dot(&self.rows[i * n..(i + 1) * n], x);
        }
        self.factor.solve_in_place(&mut self.work);
        for (response, &multiplier) in self.responses.chunks(n).zip(&self.work) {
            for (x, r) in x.iter_mut().zip(response) {
                *x += multiplier * r;
            }
        }
        if keep {
            for (total, extra) in self.multipliers.iter_mut().zip(&self.work) {
                *total += extra;
            }
        }
    }

    /// Adds `Gᵀ λ` to a generalized impulse.
    pub fn add_impulse(&self, out: &mut [f64]) {
        let n = out.len();
        for (row, &multiplier) in self.rows.chunks(n.max(1)).zip(&self.multipliers) {
            for (o, r) in out.iter_mut().zip(row) {
                *o += multiplier * r;
            }
        }
    }

    /// Work of the joint impulses on the velocity `v`.
    #[inline]
    pub fn work(&self, v: &[f64]) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let n = v.len();
        (0..self.count)
            .map(|i| self.multipliers[i] * dot(&self.rows[i * n..(i + 1) * n], v))
            .sum()
    }
}
