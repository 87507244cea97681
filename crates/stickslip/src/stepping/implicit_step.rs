//! Forces and operator of one theta step, for any mechanical system.
//!
//! The balance is `M(q_θ)(v − v_k) = h F_θ(v) + H p + Gᵀλ` with
//! `F_θ = f + f_cov − g − K q_θ − C v_θ`, everything at θ. It is solved by the iteration
//! `M̂ (v_{j+1} − v_j) = h F_θ(v_j) − M(v_j − v_k) + H p + Gᵀλ`, `M̂ = M + hθC + h²θ²(K + V″)`, which is
//! exact after one solve when all forces are linear.

use crate::algebra::{
    CholeskyFactor, SymmetricMatrix, add_scaled, assign, copy, dot, write_between,
};
use crate::records::ROUNDING_UNITS;
use crate::systems::{ElasticScratch, ForceDependence, Instant, MechanicalSystem};

use super::moreau_jean_settings::InternalForce;
use super::state_products::{StateProducts, sparse_linear};
use super::step_energy;

/// Data of the step that do not change during its iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepFrame<'a> {
    pub h: f64,
    pub theta: f64,
    pub t_start: f64,
    pub t_end: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// A body that turns has coasted to `q`, θ h before the end, with the velocity `v` there, and coasts on from
    /// there with the velocity after the impulses of the step.
    pub coasting: bool,
}

/// What a system has and lacks, asked once per run and not in every step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Character {
    pub constant_mass: bool,
    pub covariant: bool,
    pub potential: bool,
    /// The potential has a gradient that does not change.
    pub linear_potential: bool,
    force_of_time: bool,
    force_of_state: bool,
    /// One solve is exact: constant mass and no force that depends on the unknown velocity other
    /// than linearly.
    pub linear: bool,
    /// The forces of a step are known before it: no linear part besides.
    pub known_forces: bool,
}

impl Character {
    fn of(system: &dyn MechanicalSystem, coasting: bool) -> Self {
        let potential = system.has_potential();
        let linear_potential = potential && system.potential_is_linear();
        let covariant = system.has_covariant_force() && !coasting;
        let dependence = system.force_dependence();
        let force_of_state = dependence == ForceDependence::State;
        let constant_mass = system.mass_is_constant();
        let linear = potential == linear_potential && !covariant && !force_of_state;
        Self {
            constant_mass,
            covariant,
            potential,
            linear_potential,
            force_of_time: dependence == ForceDependence::Time,
            force_of_state,
            linear,
            known_forces: linear && constant_mass && system.linear_part().is_none(),
        }
    }
}

/// Buffers of the iteration.
#[derive(Debug, Default)]
pub(crate) struct ImplicitStep {
    prepared: bool,
    pub character: Character,
    /// Whether the step of a linear mesh is made from [`StateProducts`].
    pub fused: bool,
    /// Products of the state at the start and at the end of the step.
    pub start: StateProducts,
    pub end: StateProducts,
    pub mass: SymmetricMatrix,
    operator: SymmetricMatrix,
    factored: SymmetricMatrix,
    /// Step length and θ of the last factorization of a constant operator.
    factored_for: Option<(f64, f64)>,
    pub factor: CholeskyFactor,
    /// Step length for which `impulse` is that of forces that never change.
    dead_load_for: Option<f64>,
    /// Step length and θ for which `increment` is what forces that never change add to the velocity.
    increment_for: Option<(f64, f64)>,
    increment: Vec<f64>,
    hessian: SymmetricMatrix,
    has_hessian: bool,
    /// Symmetric part of −(hθ ∂f/∂v + h²θ² ∂f/∂q).
    slope: SymmetricMatrix,
    has_slope: bool,
    derivatives: [Vec<f64>; 2],
    pub v_theta: Vec<f64>,
    pub q_theta: Vec<f64>,
    pub q_end: Vec<f64>,
    /// Velocity at the end of a step that coasts.
    pub v_end: Vec<f64>,
    pub external: Vec<f64>,
    pub gradient: Vec<f64>,
    pub covariant: Vec<f64>,
    elastic: Vec<f64>,
    pub scratch: ElasticScratch,
    pub viscous: Vec<f64>,
    load: Vec<f64>,
    delta: Vec<f64>,
    /// h F_θ at the last evaluation.
    pub impulse: Vec<f64>,
    /// Right-hand side `h F_θ − M (v − v_k)`.
    pub residual: Vec<f64>,
    scale: Vec<f64>,
}

impl ImplicitStep {
    /// Makes room and evaluates what is constant over the run, once.
    #[inline]
    pub fn prepare(&mut self, system: &dyn MechanicalSystem, q: &[f64], coasting: bool) {
        if !self.prepared {
            self.make_room(system, q, coasting);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, system: &dyn MechanicalSystem, q: &[f64], coasting: bool) {
        let n = system.dof();
        self.character = Character::of(system, coasting);
        self.mass = system.new_matrix();
        self.operator = system.new_matrix();
        if self.character.potential {
            self.hessian = system.new_matrix();
        }
        if self.character.force_of_state && system.sparsity().is_none() {
            self.slope = system.new_matrix();
            self.derivatives = [vec![0.0; n * n], vec![0.0; n * n]];
        }
        system.mass(q, &mut self.mass);
        self.fused = self.character.linear
            && !self.character.potential
            && sparse_linear(system, &self.mass).is_some();
        for buffer in [
            &mut self.v_theta,
            &mut self.v_end,
            &mut self.external,
            &mut self.gradient,
            &mut self.covariant,
            &mut self.elastic,
            &mut self.viscous,
            &mut self.load,
            &mut self.delta,
            &mut self.impulse,
            &mut self.residual,
            &mut self.scale,
        ] {
            buffer.resize(n, 0.0);
        }
        self.q_theta.resize(q.len(), 0.0);
        self.q_end.resize(q.len(), 0.0);
        self.prepared = true;
    }

    /// Starts a step: second derivatives of the potential at the start, loads in time.
    pub fn begin(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame) {
        let character = self.character;
        self.has_hessian = character.potential
            && !character.linear_potential
            && system.potential_hessian(frame.q, &mut self.hessian);
        if character.force_of_state {
            self.linearise_force(system, frame, frame.t_start, frame.q, frame.v);
        }
        if character.force_of_time {
            // F_{k+θ} = (1−θ) F_k + θ F_{k+1}
            let theta = frame.theta;
            system.force(
                &Instant::new(frame.t_start, frame.q, frame.v),
                &mut self.load,
            );
            system.force(
                &Instant::new(frame.t_end, frame.q, frame.v),
                &mut self.external,
            );
            for (f, f0) in self.external.iter_mut().zip(&self.load) {
                *f = (1.0 - theta) * f0 + theta * *f;
            }
        }
    }

    /// Whether the operator has slopes of forces beside mass, damping and stiffness.
    #[inline]
    pub fn is_linearised(&self) -> bool {
        self.has_slope || self.has_hessian
    }

    /// Takes the slope of the force again, at the last iterate.
    pub fn relinearise_force(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame) -> bool {
        if !self.character.force_of_state {
            return false;
        }
        // A drag has no slope at rest, where the step may have begun.
        let had = self.has_slope;
        let t = frame.t_start + frame.theta * frame.h;
        let (q, v) = (self.q_theta.clone(), self.v_theta.clone());
        self.linearise_force(system, frame, t, &q, &v);
        had || self.has_slope
    }

    /// The symmetric part of what a force that depends on the state adds to the operator: stiff springs, dampers and
    /// controllers are then implicit like a potential.
    fn linearise_force(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) {
        self.has_slope = false;
        let n = self.slope.order();
        if n == 0 || frame.h == 0.0 {
            return;
        }
        let [dq, dv] = &mut self.derivatives;
        let at = Instant::new(t, q, v);
        if !system.force_derivatives(&at, dq, dv) {
            return;
        }
        let reach = frame.h * frame.theta;
        let entry = |e: usize| -reach * (dv[e] + reach * dq[e]);
        let mut any = false;
        for i in 0..n {
            for j in 0..=i {
                let value = 0.5 * (entry(i * n + j) + entry(j * n + i));
                any |= value != 0.0;
                self.slope.set(i, j, value);
            }
        }
        // A slope that is no number is left to the iteration, whose outcome tells.
        self.has_slope = any && self.slope.first_non_finite().is_none();
    }

    /// v_θ for the end velocity `v`.
    fn mean_velocity(&mut self, frame: &StepFrame, v: &[f64]) {
        write_between(&mut self.v_theta, (frame.v, v), frame.theta);
    }

    /// Velocity and position at θ and position at the end for the end velocity `v`.
    fn place(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame, v: &[f64]) {
        let StepFrame { h, theta, .. } = *frame;
        self.mean_velocity(frame, v);
        if frame.coasting {
            self.q_theta.copy_from_slice(frame.q);
        } else {
            system.displace(frame.q, &self.v_theta, h * theta, &mut self.q_theta);
        }
        self.place_end(system, frame, v);
    }

    /// Position at the end of the step, and the velocity there of a body that coasts to it.
    fn place_end(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame, v: &[f64]) {
        let StepFrame { h, theta, .. } = *frame;
        if frame.coasting {
            let rest = (&mut self.q_end[..], &mut self.v_end[..]);
            system.coast(frame.q, v, h * theta, rest.0, rest.1);
        } else {
            system.displace(frame.q, &self.v_theta, h, &mut self.q_end);
        }
    }

    /// What the account of a linear step needs, without forces that nobody reads any more.
    pub fn complete(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame, v: &[f64]) {
        self.mean_velocity(frame, v);
        self.place_end(system, frame, v);
        if self.character.known_forces {
            return;
        }
        let linear = system.linear_part();
        if self.fused {
            if let Some(linear) = linear {
                self.end.ensure(&self.mass, linear, &self.q_end, v);
            }
        } else if let Some(damping) = linear.and_then(|linear| linear.damping.as_ref()) {
            damping.multiply(&self.v_theta, &mut self.viscous);
        }
    }

    /// Operator and increment of the velocity of a step whose forces are known before it: once per step length where
    /// they never change. `Err` names a bad pivot.
    #[inline]
    pub fn know(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        internal: InternalForce,
    ) -> Result<(), usize> {
        let StepFrame { h, theta, .. } = *frame;
        let known = |(for_h, for_theta): (f64, f64)| for_h == h && for_theta == theta;
        if self.increment_for.is_some_and(known) && self.dead_load_for == Some(h) {
            return Ok(());
        }
        self.learn(system, frame, internal)
    }

    #[inline(never)]
    fn learn(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        internal: InternalForce,
    ) -> Result<(), usize> {
        self.begin(system, frame);
        self.evaluate(system, frame, frame.v, internal);
        self.factor(system, frame)?;
        assign(&mut self.increment, &self.residual);
        self.factor.solve_in_place(&mut self.increment);
        let constant = self.dead_load_for == Some(frame.h);
        self.increment_for = constant.then_some((frame.h, frame.theta));
        Ok(())
    }

    /// Writes the end velocity of a step without contact and joints whose forces are known.
    #[inline]
    pub fn known_velocity(&self, frame: &StepFrame, out: &mut [f64]) {
        copy(out, frame.v);
        add_scaled(out, 1.0, &self.increment);
    }

    /// The end of this step is the start of the next.
    pub fn advance(&mut self) {
        if self.fused {
            std::mem::swap(&mut self.start, &mut self.end);
        }
    }

    /// Forces at the start of the step of a linear mesh, which one solve turns into the free velocity.
    fn evaluate_fused(&mut self, system: &dyn MechanicalSystem, frame: &StepFrame) {
        let Some(linear) = system.linear_part() else {
            return;
        };
        let (h, reach) = (frame.h, frame.h * frame.theta);
        self.start.ensure(&self.mass, linear, frame.q, frame.v);
        let n = frame.v.len();
        let (external, elastic) = (&self.external[..n], &self.start.elastic[..n]);
        for (i, residual) in self.residual[..n].iter_mut().enumerate() {
            // K q_θ at the velocity of the start
            let [force, rate] = elastic[i];
            *residual = h * (external[i] - (force + reach * rate));
        }
        for (residual, viscous) in self.residual.iter_mut().zip(&self.start.viscous) {
            *residual -= h * viscous;
        }
    }

    /// Evaluates all forces for the end velocity `v`; returns whether any number changed. A linear mesh is
    /// evaluated once, at the velocity of the start.
    pub fn evaluate(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        v: &[f64],
        internal: InternalForce,
    ) -> bool {
        if self.fused {
            self.evaluate_fused(system, frame);
            return true;
        }
        let StepFrame { h, theta, .. } = *frame;
        let character = self.character;
        if self.dead_load_for == Some(h) && v == frame.v {
            copy(&mut self.residual, &self.impulse);
            for (scale, impulse) in self.scale.iter_mut().zip(&self.impulse) {
                *scale = impulse.abs();
            }
            return false;
        }
        let linear = system.linear_part();
        let dead_load = character.linear && !character.force_of_time && linear.is_none();
        self.dead_load_for = (dead_load && character.constant_mass).then_some(h);
        // Constant forces do not ask where the body is.
        if linear.is_some() || !character.linear {
            self.place(system, frame, v);
        }
        if !character.constant_mass {
            system.mass(&self.q_theta, &mut self.mass);
        }
        if character.force_of_state {
            let t = (1.0 - theta) * frame.t_start + theta * frame.t_end;
            system.force(
                &Instant::new(t, &self.q_theta, &self.v_theta),
                &mut self.external,
            );
        }
        if character.covariant {
            system.covariant_force(&self.q_theta, &self.v_theta, &mut self.covariant);
        }
        if character.potential {
            self.evaluate_gradient(system, frame, internal);
        }
        let mut changed = false;
        if let Some(linear) = linear {
            linear.elastic_force(&self.q_theta, &mut self.scratch, &mut self.elastic);
        }
        if let Some(damping) = linear.and_then(|linear| linear.damping.as_ref()) {
            damping.multiply(&self.v_theta, &mut self.viscous);
        }
        let n = v.len();
        let (external, covariant) = (&self.external[..n], &self.covariant[..n]);
        let (gradient, elastic) = (&self.gradient[..n], &self.elastic[..n]);
        let viscous = &self.viscous[..n];
        for (i, impulse) in self.impulse[..n].iter_mut().enumerate() {
            let force = external[i] + covariant[i] - gradient[i] - elastic[i] - viscous[i];
            changed |= h * force != *impulse;
            *impulse = h * force;
        }
        if v == frame.v {
            self.residual.fill(0.0);
        } else {
            for ((d, v), v0) in self.delta.iter_mut().zip(v).zip(frame.v) {
                *d = v - v0;
            }
            self.mass.multiply(&self.delta, &mut self.residual);
        }
        let inertial = self.residual.iter_mut().zip(&mut self.scale);
        for ((residual, scale), impulse) in inertial.zip(&self.impulse) {
            *scale = residual.abs() + impulse.abs();
            *residual = impulse - *residual;
        }
        if self.has_slope {
            for i in 0..n {
                self.scale[i] += h * self.cancelled(i);
            }
        }
        changed
    }

    /// ∇V at q_θ, or the discrete gradient between the ends of the step.
    fn evaluate_gradient(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        internal: InternalForce,
    ) {
        let discrete = internal == InternalForce::DiscreteGradient
            && frame.h != 0.0
            && !self.character.linear_potential;
        if discrete && system.discrete_gradient(frame.q, &self.q_end, &mut self.gradient) {
            return;
        }
        system.potential_gradient(&self.q_theta, &mut self.gradient);
        if !discrete {
            return;
        }
        // ∇V(q_θ) + (ΔV − Δq·∇V) M Δq/(Δq·M Δq): the correction is taken in the kinetic metric, so
        // that it does not depend on the units of the coordinates.
        for (d, v) in self.delta.iter_mut().zip(&self.v_theta) {
            *d = frame.h * v;
        }
        self.mass.multiply(&self.delta, &mut self.load);
        let length = dot(&self.delta, &self.load);
        let (before, after) = (system.potential(frame.q), system.potential(&self.q_end));
        let along = dot(&self.delta, &self.gradient);
        let defect = after - before - along;
        // A defect of rounding size says nothing, and divided by a tiny Δq it would replace the force:
        // where the motion turns (Δq = 0) the gradient itself is the limit.
        let rounding = 16.0 * f64::EPSILON * (before.abs() + after.abs() + along.abs());
        if length > 0.0 && defect.is_finite() && defect.abs() > rounding {
            let factor = defect / length;
            for (g, m) in self.gradient.iter_mut().zip(&self.load) {
                *g += factor * m;
            }
        }
    }

    /// Builds and factors M̂ unless it is the matrix factored last; `Err` names a bad pivot.
    pub fn factor(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
    ) -> Result<(), usize> {
        let (h, theta) = (frame.h, frame.theta);
        let constant = self.character.constant_mass && !self.has_hessian && !self.has_slope;
        if constant && self.factored_for == Some((h, theta)) {
            return Ok(());
        }
        self.factored_for = None;
        self.operator.copy_from(&self.mass);
        if let Some(linear) = system.linear_part() {
            if let Some(damping) = &linear.damping {
                self.operator.add_scaled(h * theta, damping);
            }
            if let Some(stiffness) = &linear.stiffness {
                self.operator.add_scaled(h * h * theta * theta, stiffness);
            }
        }
        if self.has_hessian {
            self.operator
                .add_scaled(h * h * theta * theta, &self.hessian);
        }
        if self.has_slope {
            self.operator.add_scaled(1.0, &self.slope);
        }
        if !constant
            && self.factor.order() == self.operator.order()
            && self.factored == self.operator
        {
            return Ok(());
        }
        let mut outcome = self.factor.factor(&self.operator);
        if outcome.is_err() && self.has_slope {
            // A force that feeds energy in faster than the step resolves: the iteration starts without its slope.
            self.has_slope = false;
            self.operator.add_scaled(-1.0, &self.slope);
            outcome = self.factor.factor(&self.operator);
        }
        if outcome.is_err() && self.has_hessian {
            // A concave potential with a large step: the mass alone still gives a convergent
            // iteration where the step resolves the motion.
            self.has_hessian = false;
            self.operator
                .add_scaled(-h * h * theta * theta, &self.hessian);
            outcome = self.factor.factor(&self.operator);
        }
        if constant && outcome.is_ok() {
            self.factored_for = Some((h, theta));
        } else {
            self.factored.copy_from(&self.operator);
        }
        outcome
    }

    /// Size of the products that cancel in the works of the forces of a step.
    pub fn energy_size(&self, frame: &StepFrame) -> f64 {
        let n = self.v_theta.len();
        let (external, gradient) = (&self.external[..n], &self.gradient[..n]);
        let (covariant, viscous) = (&self.covariant[..n], &self.viscous[..n]);
        // Forces without derivatives have nothing that cancels inside.
        let cancels = self.has_hessian || self.has_slope;
        let mut power = 0.0;
        for (i, v) in self.v_theta.iter().enumerate() {
            let mut forces =
                external[i].abs() + gradient[i].abs() + covariant[i].abs() + viscous[i].abs();
            if cancels {
                forces += self.cancelled(i);
            }
            power += forces * v.abs();
        }
        frame.h * power + self.stored_size()
    }

    /// Size of what the rounding of positions does to the energy stored in a mesh, K q on it, for the allowance of accounts: one unit at either end
    /// of the step. A mesh that has moved far stores little and rounds its positions coarsely.
    fn stored_size(&self) -> f64 {
        let size: f64 = if self.fused {
            let parts = self.end.elastic.iter().zip(&self.q_end);
            parts.map(|(f, q)| (f[0] * q).abs()).sum()
        } else if !self.character.known_forces {
            let parts = self.elastic.iter().zip(&self.q_theta);
            parts.map(|(f, q)| (f * q).abs()).sum()
        } else {
            0.0
        };
        2.0 / ROUNDING_UNITS * size
    }

    /// Size of what cancels inside a force, as `k*(V*t - x)`, the parts of a controller and the length of a stiff spring do: as large as
    /// its derivatives times what it reads.
    fn cancelled(&self, i: usize) -> f64 {
        let n = self.v_theta.len();
        if self.q_theta.len() != n {
            return 0.0;
        }
        let mut size = 0.0;
        if self.has_hessian && self.hessian.sparse().is_none() {
            let row = (0..n).map(|j| (self.hessian.get(i, j) * self.q_theta[j]).abs());
            size += row.sum::<f64>();
        }
        if self.has_slope {
            let [dq, dv] = &self.derivatives;
            let rows = dq[i * n..(i + 1) * n].iter().zip(&dv[i * n..(i + 1) * n]);
            let reads = self.q_theta.iter().zip(&self.v_theta);
            size += rows
                .zip(reads)
                .map(|((dq, dv), (q, v))| (dq * q).abs() + (dv * v).abs())
                .sum::<f64>();
        }
        size
    }

    /// The velocity whose balance is farthest from holding.
    pub fn worst_row(&self) -> usize {
        let rows = self.delta.iter().zip(&self.scale).map(|(d, s)| d.abs() / s);
        let worst = rows.enumerate().filter(|(_, x)| !x.is_nan());
        worst
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(i, _)| i)
    }

    /// Relative size of the balance defect `residual + contact`, in the dual metric of M̂.
    pub fn defect(&mut self, contact: &[f64]) -> f64 {
        for i in 0..contact.len() {
            self.scale[i] += contact[i].abs();
            self.delta[i] = self.residual[i] + contact[i];
        }
        let defect = self.factor.dual_norm(&mut self.delta);
        // The norm of |scale| with signs as they come is only a yardstick.
        self.load.copy_from_slice(&self.scale);
        let scale = self.factor.dual_norm(&mut self.load);
        if scale == 0.0 { 0.0 } else { defect / scale }
    }

    /// Whether the defect measured last is the rounding of the momenta that nearly cancel in it, at the velocity v: forces that vanish are no
    /// measure for them.
    pub fn is_rounding(&mut self, defect: f64, v: &[f64]) -> bool {
        self.load.copy_from_slice(&self.scale);
        let scale = self.factor.dual_norm(&mut self.load);
        step_energy::write_momentum_size(&self.mass, v, &mut self.load);
        let momentum = self.factor.dual_norm(&mut self.load);
        defect * scale <= 16.0 * f64::EPSILON * (scale + momentum)
    }
}
