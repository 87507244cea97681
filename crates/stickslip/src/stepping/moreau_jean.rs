//! The Moreau–Jean theta scheme and its energy-dissipating variant.

use crate::algebra::{SymmetricMatrix, dot};
use crate::contact::BlockKind;
use crate::laws::ImpactLaw;
use crate::records::{EnergyEntry, StepOutcome, StepRecord};
use crate::systems::MechanicalSystem;

use super::assembly::ContactAssembly;
use super::implicit_step::{ImplicitStep, StepFrame};
use super::joints::{JointSystem, JointVelocity};
use super::{ContactStage, State, TimeSteppingScheme, restitution, step_energy};

/// Which contacts take part in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// `φ + h u_N ≤ ε_g` and `u_N ≤ ε_u`: the rule of the paper.
    Paper,
    /// `φ + h u_N ≤ ε_g` alone; normal contact work can become positive.
    Forecast,
    /// As forecast, but a contact that already opens does no normal work.
    #[default]
    Guard,
}

/// How a nonlinear potential enters the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InternalForce {
    /// ∇V(q_θ); the energy defect is booked.
    #[default]
    AtTheta,
    /// Discrete gradient between the ends of the step (θ = ½): the potential defect vanishes.
    DiscreteGradient,
}

/// Settings of the theta scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct MoreauJeanSettings {
    /// θ in [½, 1]; none chooses 0.51 when some contact has friction and every restitution is at
    /// most 0.96, else ½.
    pub theta: Option<f64>,
    /// Activation rule.
    pub activation: Activation,
    /// Tolerance ε_g on the forecast gap, in the unit of the gap.
    pub gap_tolerance: f64,
    /// Tolerance ε_u on the approach velocity of the rule `paper`.
    pub velocity_tolerance: f64,
    /// Nonlinear potential.
    pub internal_force: InternalForce,
    /// Velocity on which joints are enforced.
    pub joint_velocity: JointVelocity,
    /// Largest number of implicit iterations.
    pub iterations_max: usize,
}

impl Default for MoreauJeanSettings {
    fn default() -> Self {
        Self {
            theta: None,
            activation: Activation::default(),
            gap_tolerance: 1e-12,
            velocity_tolerance: 1e-10,
            internal_force: InternalForce::default(),
            joint_velocity: JointVelocity::default(),
            iterations_max: 60,
        }
    }
}

/// θ outside its bounds, or a value that was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ThetaWarning {
    /// θ is not in [½, 1].
    #[error("theta = {theta} is not in [0.5, 1]")]
    OutOfRange {
        /// The value given.
        theta: f64,
    },
}

/// The Moreau–Jean scheme.
///
/// # What it computes
/// `M(v_{k+1} − v_k) + h K q_{k+θ} + h C v_{k+θ} − h F_{k+θ} = H_k p`, `q_{k+1} = q_k + h v_{k+θ}`, and on
/// active contacts Coulomb's law (or the kinetic projection) between p and
/// `ŷ = H_kᵀ v_{k+1} + bias`, the bias being chosen by the impact law of each contact: `e u_N` for
/// Newton, with `((1−θ)/θ) u_T` besides for Frémond. Frémond's law on all contacts is the
/// energy-dissipating scheme. One H per step, taken at q_k.
///
/// # Source
/// [AcaryCollinsCraft2023], eq. (53) and (63)-(64) divided by θ; the guard activation, the
/// iteration on nonlinear forces and M(q_θ) are ours.
///
/// # Guarantees
/// The energy entry closes to rounding for any impulses. Under Frémond's law and
/// `θ ≤ 1/(1 + e)` the contact works are nonpositive contact by contact (rules `paper` and
/// `guard`). Order 2 on smooth motion at θ = ½, order 1 through impacts.
///
/// # Behaviour to know
/// Newton's law with friction can create energy (58.75 % in Kane's pendulum). Under Frémond's law a
/// stuck contact keeps a tangential velocity multiplied by −(1−θ)/θ each step: at θ = ½ it
/// alternates without decay (±6e-4 m/s for h = 1e-3, μ = 0.3) while positions stay right; the record
/// reports it as `stick jitter`, the default θ = 0.51 damps it. A penetration of at most
/// `h (1 − θ(1+e)) |u_N|` at first contact is kept.
///
/// # Cost
/// One factorization of M̂ per (h, θ) with constant mass, one per iteration with M(q); one solve
/// per contact row.
///
/// # Tested by
/// `tests/reference_cases.rs`, `tests/truth_*.rs`, `tests/order_*.rs`, `tests/property_schemes.rs`.
#[derive(Debug, Default)]
pub struct MoreauJean {
    settings: MoreauJeanSettings,
    theta: Option<f64>,
    assembly: ContactAssembly,
    step: ImplicitStep,
    joints: JointSystem,
    velocity: Vec<f64>,
    left: Vec<f64>,
    contact_impulse: Vec<f64>,
    response: Vec<f64>,
    total: Vec<f64>,
    compression: Vec<f64>,
    sliding: Vec<f64>,
    mass_end: SymmetricMatrix,
    mass_start: SymmetricMatrix,
}

impl MoreauJean {
    /// Scheme with the given settings.
    pub fn new(settings: MoreauJeanSettings) -> Result<Self, ThetaWarning> {
        if let Some(theta) = settings.theta.filter(|theta| !(0.5..=1.0).contains(theta)) {
            return Err(ThetaWarning::OutOfRange { theta });
        }
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    /// θ used for a system.
    pub fn theta(&self, system: &dyn MechanicalSystem) -> f64 {
        self.settings.theta.unwrap_or_else(|| default_theta(system))
    }

    /// Chooses the active contacts at the start of the step and writes their rows and biases.
    fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        stage: &mut ContactStage,
    ) -> Result<(), StepOutcome> {
        let (h, t, q, v) = (frame.h, frame.t_start, frame.q, frame.v);
        self.assembly.prepare(system);
        self.assembly.evaluate_gaps(system, t, q, v);
        self.assembly.begin(system, &mut stage.problem);
        for c in 0..system.constraints().len() {
            let approach = self.assembly.approach[c];
            let tolerance = self
                .settings
                .gap_tolerance
                .max(self.assembly.gap_rounding(c, q));
            let closing = self.settings.activation != Activation::Paper
                || approach <= self.settings.velocity_tolerance;
            if self.assembly.gaps[c] + h * approach <= tolerance && closing {
                self.assembly
                    .activate(system, c, (t, q, v), &mut stage.problem)?;
            }
        }
        let guard = self.settings.activation == Activation::Guard;
        for contact in &self.assembly.active {
            let rows = stage.problem.blocks()[contact.block].range();
            if contact.owns_normal {
                let before = &self.assembly.before[rows.clone()];
                restitution::bias(
                    contact.impact,
                    frame.theta,
                    guard,
                    before,
                    &mut stage.problem.bias_mut()[rows],
                );
            }
        }
        for (bias, drift) in stage
            .problem
            .bias_mut()
            .iter_mut()
            .zip(&self.assembly.drift)
        {
            *bias += drift;
        }
        Ok(())
    }

    /// Solves contact and forces together; returns the outcome and the worst contact residual.
    fn solve(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        stage: &mut ContactStage,
    ) -> (StepOutcome, f64) {
        let linear = ImplicitStep::is_linear(system);
        self.velocity.clear();
        self.velocity.extend_from_slice(frame.v);
        self.contact_impulse.resize(frame.v.len(), 0.0);
        self.step.begin(system, frame);
        self.joints.evaluate(system, frame.t_start, frame.q);
        self.joints
            .set_target(self.settings.joint_velocity, frame.theta, frame.v);
        self.assembly
            .warm_start(&stage.problem, &state.impulses, &mut stage.solution.impulse);
        self.step
            .evaluate(system, frame, &self.velocity, self.settings.internal_force);

        let mut previous = f64::INFINITY;
        let mut nonlinear = StepOutcome::Solved;
        let mut residual = 0.0;
        for iteration in 0..=self.settings.iterations_max {
            if iteration == 0 || !system.mass_is_constant() {
                if self.step.factor(system, frame).is_err() {
                    return (StepOutcome::SingularMass, f64::NAN);
                }
                self.joints.factor(&self.step.factor);
                let (factor, joints) = (&self.step.factor, &mut self.joints);
                match system.sparsity() {
                    Some(sparsity) if system.joints().is_empty() => {
                        let dofs = &sparsity.contact_dofs;
                        stage.problem.condense_sparse(factor, dofs);
                    }
                    _ => stage.problem.condense(|x| {
                        factor.solve_in_place(x);
                        joints.project_response(x);
                    }),
                }
            }
            residual = self.solve_contact(frame, stage);
            if linear {
                self.step.complete(system, frame, &self.velocity);
                break;
            }
            // The balance is met when re-evaluating the forces changes nothing that matters.
            let changed =
                self.step
                    .evaluate(system, frame, &self.velocity, self.settings.internal_force);
            if !changed {
                break;
            }
            let defect = self.step.defect(&self.contact_impulse);
            if defect <= 4.0 * f64::EPSILON || (defect <= 1e-11 && defect > 0.5 * previous) {
                break;
            }
            if iteration == self.settings.iterations_max || !defect.is_finite() {
                nonlinear = if defect <= 1e-10 {
                    StepOutcome::Solved
                } else {
                    StepOutcome::NonlinearNotConverged
                };
                break;
            }
            previous = defect;
        }
        let worst = stage.certify(frame.t_end);
        let contact = stage.outcome();
        if self.velocity.iter().any(|v| !v.is_finite()) {
            return (StepOutcome::NonFinite, f64::NAN);
        }
        let outcome = if contact.is_solved() && !nonlinear.is_solved() {
            nonlinear
        } else {
            contact
        };
        (outcome, worst.max(residual))
    }

    /// One contact solve from the current right-hand side; updates velocity and impulses. Returns
    /// the residual of the compression stage where there is one.
    fn solve_contact(&mut self, frame: &StepFrame, stage: &mut ContactStage) -> f64 {
        // Free velocity of this iterate, on the joints.
        let free = stage.problem.velocity_free_mut();
        free.copy_from_slice(&self.step.residual);
        self.step.factor.solve_in_place(free);
        for (f, v) in free.iter_mut().zip(&self.velocity) {
            *f += v;
        }
        self.joints.project_velocity(free);
        self.left.clear();
        self.left.extend_from_slice(free);
        stage.problem.refresh();
        let residual = self.compress(frame, stage);
        stage.solve();

        // Total impulses and the velocity they produce.
        self.total.clear();
        self.total.extend_from_slice(&stage.solution.impulse);
        stage
            .problem
            .velocity(&stage.solution.impulse, &mut self.velocity);
        for (total, compression) in self.total.iter_mut().zip(&self.compression) {
            *total += compression;
        }
        self.contact_impulse.fill(0.0);
        for (i, &p) in self.total.iter().enumerate() {
            stage.problem.row_add(i, p, &mut self.contact_impulse);
        }
        if !self.joints.is_empty() {
            self.response.clear();
            self.response.extend_from_slice(&self.contact_impulse);
            self.step.factor.solve_in_place(&mut self.response);
            self.joints.add_response_multipliers(&mut self.response);
            self.joints.add_impulse(&mut self.contact_impulse);
        }
        residual
    }

    /// Poisson's compression stage: the impulses that stop the approach velocity of the start,
    /// without restitution, are applied first; the final stage then owes at least e times them.
    fn compress(&mut self, frame: &StepFrame, stage: &mut ContactStage) -> f64 {
        self.compression.clear();
        self.compression.resize(stage.problem.size(), 0.0);
        let poisson = |law: ImpactLaw| matches!(law, ImpactLaw::Poisson { .. });
        let closing = self.assembly.active.iter().any(|contact| {
            let start = stage.problem.blocks()[contact.block].start;
            poisson(contact.impact)
                && self.assembly.before[start] < -self.settings.velocity_tolerance
        });
        if !closing {
            return 0.0;
        }
        // Compression of the velocity at the start: same W, no bias, no forces.
        let saved_free = stage.problem.velocity_free().to_vec();
        let saved_bias = stage.problem.bias().to_vec();
        stage.problem.velocity_free_mut().copy_from_slice(frame.v);
        stage
            .problem
            .bias_mut()
            .copy_from_slice(&self.assembly.drift);
        stage.problem.refresh();
        for block in stage.problem.blocks_mut() {
            block.kind = BlockKind::Unilateral { minimum: 0.0 };
        }
        stage.solve();
        let residual = stage.certify(frame.t_end);
        stage
            .problem
            .velocity_free_mut()
            .copy_from_slice(&saved_free);
        stage.problem.bias_mut().copy_from_slice(&saved_bias);
        for contact in &self.assembly.active {
            let ImpactLaw::Poisson { restitution } = contact.impact else {
                continue;
            };
            let block = &mut stage.problem.blocks_mut()[contact.block];
            let rows = block.range();
            block.kind = BlockKind::Unilateral {
                minimum: restitution * stage.solution.impulse[rows.start],
            };
            self.compression[rows.clone()].copy_from_slice(&stage.solution.impulse[rows]);
        }
        // The final stage starts from the velocity after compression.
        let mut moved = saved_free;
        stage.problem.velocity(&self.compression, &mut moved);
        stage.problem.velocity_free_mut().copy_from_slice(&moved);
        stage.problem.refresh();
        stage.solution.impulse.fill(0.0);
        residual
    }

    /// Energy entry of the completed step; also the new kinetic energy.
    fn account(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        record: &StepRecord,
    ) -> (EnergyEntry, f64, f64) {
        let (h, theta, n) = (frame.h, frame.theta, frame.v.len());
        let (v_theta, v1) = (&self.step.v_theta, &self.velocity);
        // Δv and Δq
        self.response.clear();
        self.response
            .extend(v1.iter().zip(frame.v).map(|(a, b)| a - b));
        let slack = 0.5 - theta;
        let numerical_mass = if slack == 0.0 {
            0.0
        } else {
            slack * self.step.mass.bilinear(&self.response, &self.response)
        };

        let mut covariant_defect = if system.has_covariant_force() {
            h * dot(v_theta, &self.step.covariant)
        } else {
            0.0
        };
        let kinetic = if system.mass_is_constant() {
            step_energy::kinetic(&self.step.mass, v1)
        } else {
            // ½ v₁·(M₁ − M_θ)v₁ + ½ v₀·(M_θ − M₀)v₀
            if self.mass_end.order() != n {
                self.mass_end = system.new_matrix();
                self.mass_start = system.new_matrix();
            }
            system.mass(&self.step.q_end, &mut self.mass_end);
            system.mass(frame.q, &mut self.mass_start);
            let kinetic = step_energy::kinetic(&self.mass_end, v1);
            covariant_defect += kinetic - step_energy::kinetic(&self.step.mass, v1)
                + step_energy::kinetic(&self.step.mass, frame.v)
                - step_energy::kinetic(&self.mass_start, frame.v);
            kinetic
        };

        let linear = system.linear_part();
        let mut numerical_stiffness = 0.0;
        let mut elastic_change = 0.0;
        let mut elastic = 0.0;
        if let Some(stiffness) = linear.and_then(|linear| linear.stiffness.as_ref()) {
            elastic = 0.5 * stiffness.bilinear(&self.step.q_end, &self.step.q_end);
            elastic_change = if system.has_potential() {
                elastic - 0.5 * stiffness.bilinear(frame.q, frame.q)
            } else {
                elastic - state.potential
            };
            if slack != 0.0 {
                self.response.clear();
                self.response
                    .extend(self.step.q_end.iter().zip(frame.q).map(|(a, b)| a - b));
                numerical_stiffness = slack * stiffness.bilinear(&self.response, &self.response);
            }
        }
        let damping = if linear.is_some_and(|linear| linear.damping.is_some()) {
            -h * dot(v_theta, &self.step.viscous)
        } else {
            0.0
        };
        let (mut potential_defect, mut smooth_potential, mut smooth_change) = (0.0, 0.0, 0.0);
        if system.has_potential() {
            smooth_potential = system.potential(&self.step.q_end);
            smooth_change = smooth_potential - system.potential(frame.q);
            potential_defect = smooth_change - h * dot(v_theta, &self.step.gradient);
        }
        let entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: smooth_change + elastic_change,
            external: h * dot(v_theta, &self.step.external),
            damping,
            numerical_mass,
            numerical_stiffness,
            potential_defect,
            covariant_defect,
            joints: self.joints.work(v_theta),
            contact_normal: record
                .contacts
                .iter()
                .map(|contact| contact.work_normal)
                .sum(),
            contact_tangential: record
                .contacts
                .iter()
                .map(|contact| contact.work_tangential)
                .sum(),
        };
        (entry, kinetic, smooth_potential + elastic)
    }

    /// Sliding velocity of every problem row: what the law read, u_{k+1} or u_{k+θ}.
    fn sliding_velocities(&mut self, frame: &StepFrame, stage: &ContactStage) -> f64 {
        let problem = &stage.problem;
        self.sliding.clear();
        self.sliding.extend(
            (0..problem.size())
                .map(|i| problem.row_dot(i, &self.velocity) + self.assembly.drift[i]),
        );
        let mut jitter = 0.0f64;
        for contact in &self.assembly.active {
            let block = &problem.blocks()[contact.block];
            if !matches!(contact.impact, ImpactLaw::Fremond { .. }) || frame.theta == 1.0 {
                continue;
            }
            for i in block.start + 1..block.start + block.size {
                let (before, after) = (self.assembly.before[i], self.sliding[i]);
                self.sliding[i] = (1.0 - frame.theta) * before + frame.theta * after;
                // A stuck contact that reverses its tangential velocity.
                if self.total[block.start] > 0.0
                    && before * after < 0.0
                    && self.sliding[i].abs() < 1e-6 * after.abs()
                {
                    jitter = jitter.max(after.abs());
                }
            }
        }
        jitter
    }
}

impl TimeSteppingScheme for MoreauJean {
    fn name(&self) -> &'static str {
        "moreau-jean"
    }

    fn step(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &mut State,
        h: f64,
        t_end: f64,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) {
        let theta = match self.theta {
            Some(theta) => theta,
            None => *self
                .theta
                .insert(self.settings.theta.unwrap_or_else(|| default_theta(system))),
        };
        let frame = StepFrame {
            h,
            theta,
            t_start: state.t,
            t_end,
            q: &state.q,
            v: &state.v,
        };
        self.step.prepare(system, &state.q);
        if let Err(outcome) = self.activate(system, &frame, stage) {
            record.outcome = outcome;
            return;
        }
        let (outcome, residual) = self.solve(system, &frame, state, stage);
        record.outcome = outcome;
        record.residual = residual;
        record.iterations = stage.solution.iterations;
        if outcome.is_fatal() {
            return;
        }

        record.stick_jitter = self.sliding_velocities(&frame, stage);
        self.assembly.fill_record(
            &stage.problem,
            &self.total,
            &self.step.v_theta,
            &self.sliding,
            record,
        );
        for (c, constraint) in system.constraints().iter().enumerate() {
            let gap = constraint.gap().value(t_end, &self.step.q_end);
            self.assembly.gaps[c] = gap;
        }
        for contact in &mut record.contacts {
            contact.gap = self.assembly.gaps[contact.constraint];
        }
        let (entry, kinetic, potential) = self.account(system, &frame, state, record);

        record.t = t_end;
        record.h = h;
        record.q.clone_from(&self.step.q_end);
        record.velocity_left.clone_from(&self.left);
        record.velocity.clone_from(&self.velocity);
        record.joint_impulses.clone_from(&self.joints.multipliers);
        record.energy = entry;
        record.kinetic = kinetic;
        record.potential = potential;
        state.t = t_end;
        state.q.copy_from_slice(&record.q);
        state.v.copy_from_slice(&record.velocity);
        state.kinetic = kinetic;
        state.potential = potential;
        state.impulses.clone_from(&record.impulses);
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let theta = self.theta(system);
        let mut warnings = Vec::new();
        for constraint in system.constraints() {
            for point in constraint.points() {
                let bound = 1.0 / (1.0 + point.law.impact().restitution());
                if theta > bound * (1.0 + 1e-12) {
                    warnings.push(format!(
                        "theta = {theta} exceeds 1/(1+e) = {bound:.4} of `{}`: normal contact work may be positive",
                        constraint.name()
                    ));
                }
            }
        }
        warnings
    }
}

/// 0.51 where friction could jitter and restitution allows it, else ½.
fn default_theta(system: &dyn MechanicalSystem) -> f64 {
    let points = || {
        system
            .constraints()
            .iter()
            .flat_map(|constraint| constraint.points())
    };
    let friction = points().any(|point| point.law.tangent_dimension() > 0);
    let restitution = points()
        .map(|point| point.law.impact().restitution())
        .fold(0.0, f64::max);
    if friction && restitution <= 0.96 {
        0.51
    } else {
        0.5
    }
}
