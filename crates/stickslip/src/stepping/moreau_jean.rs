//! The Moreau–Jean theta scheme and its energy-dissipating variant.

use crate::algebra::SymmetricMatrix;
use crate::laws::ImpactLaw;
use crate::records::{StepOutcome, StepRecord};
use crate::systems::{Instant, MechanicalSystem};

use super::assembly::ContactAssembly;
use super::contact_phases::ContactPhases;
use super::implicit_step::{ImplicitStep, StepFrame};
use super::joints::JointSystem;
use super::moreau_jean_settings::{Activation, MoreauJeanSettings, ThetaError, default_theta};
use super::slip_friction::{SlipReading, SlipSpeeds};
use super::step_positions::StepPositions;
use super::{ContactStage, PositionCorrection, Projection, State, TimeSteppingScheme, restitution};

/// Iterations after which the slope of a force is taken again.
const SLOPE_EVERY: usize = 4;

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
/// `h (1 − θ(1+e)) |u_N|` at first contact is kept. Bare, the scheme drifts off curved obstacles and out of joints,
/// and loses energy on them: 5.4 J of a frictionless slide in a ring. [`Projection::Combined`] takes frames and joints
/// at `q_k + (1 − θ) h v_k`, lets the impact law answer the approach of the start alone and takes the turning of the
/// normal since on the mean velocity (no work, no invented impact), admits every contact that the step would leave
/// behind, and projects the end position ([`Projection`]). A body that turns coasts to that place and on from it by
/// the midpoint rule and the Cayley map, impulses in between: its momenta then change by those of the impulses, to
/// rounding. Flat gaps without joints have the steps of the bare scheme, and an end that overshot is projected.
///
/// # Cost
/// One factorization of M̂ per (h, θ) with constant mass, one per iteration with M(q); one solve
/// per contact row.
///
/// # Tested by
/// `stickslip-validation/tests/reference_cases.rs`, `tests/truth_*.rs`, `tests/order_*.rs`, `tests/property_schemes.rs`,
/// `tests/truth_positions.rs`.
#[derive(Debug, Default)]
pub struct MoreauJean {
    pub(super) settings: MoreauJeanSettings,
    theta: Option<f64>,
    pub(super) assembly: ContactAssembly,
    pub(super) positions: StepPositions,
    pub(super) step: ImplicitStep,
    pub(super) joints: JointSystem,
    pub(super) velocity: Vec<f64>,
    pub(super) contact_impulse: Vec<f64>,
    pub(super) response: Vec<f64>,
    pub(super) phases: ContactPhases,
    slip: SlipSpeeds,
    pub(super) sliding: Vec<f64>,
    pub(super) mass_end: SymmetricMatrix,
    pub(super) mass_start: SymmetricMatrix,
}

impl MoreauJean {
    /// Scheme with the given settings.
    pub fn new(settings: MoreauJeanSettings) -> Result<Self, ThetaError> {
        if let Some(theta) = settings.theta.filter(|theta| !(0.5..=1.0).contains(theta)) {
            return Err(ThetaError::OutOfRange { theta });
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

    /// Whether positions are corrected: only under the activation that goes with it.
    fn projection(&self) -> Projection {
        match self.settings.activation {
            Activation::Guard => self.settings.projection,
            Activation::Paper | Activation::Forecast => Projection::None,
        }
    }

    /// Chooses the active contacts at the start of the step and writes their rows and biases.
    fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
    ) -> Result<(), StepOutcome> {
        let (h, t, q) = (frame.h, state.t, state.q.as_slice());
        self.assembly.prepare(system);
        self.assembly.evaluate_gaps(system, t, q, &state.v)?;
        self.assembly.begin(system, &mut stage.problem);
        self.positions.chosen.clear();
        for c in 0..system.constraints().len() {
            let approach = self.assembly.approach[c];
            let tolerance = self
                .settings
                .gap_tolerance
                .max(self.assembly.gap_rounding(c, q))
                .max(stage.scales.closed_gap(c));
            let resting = stage.scales.resting_rate(c);
            let closing = self.settings.activation != Activation::Paper
                || approach <= self.settings.velocity_tolerance.max(resting);
            let forecast = self.assembly.gaps[c] + h * approach <= tolerance && closing;
            if forecast
                || stage.takes_part(c)
                || self
                    .positions
                    .stays(c, &self.assembly, &state.impulses, tolerance)
            {
                self.positions.chosen.push(c);
            }
        }
        let (t_place, q_place) = place.unwrap_or((t, q));
        if place.is_some() && !self.positions.chosen.is_empty() {
            self.assembly.evaluate_gradients(system, t_place, q_place);
        }
        for &c in &self.positions.chosen {
            let at = (t_place, q_place, frame.v);
            self.assembly
                .activate(system, c, at, (t, q), &mut stage.problem)?;
        }
        if place.is_some() {
            self.assembly.split_turning(&stage.problem);
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
        let reflection = (1.0 - frame.theta) / frame.theta;
        let turning = self.assembly.turning.iter();
        for (bias, turning) in stage.problem.bias_mut().iter_mut().zip(turning) {
            *bias += reflection * turning;
        }
        Ok(())
    }

    /// Solves contact and forces together; returns the outcome and the worst contact residual.
    fn solve(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> (StepOutcome, f64) {
        let linear = self.step.character.linear;
        self.velocity.clear();
        self.velocity.extend_from_slice(frame.v);
        self.contact_impulse.resize(frame.v.len(), 0.0);
        self.step.begin(system, frame);
        match place {
            Some(place) => {
                let start = (frame.t_start, frame.q);
                self.joints.evaluate_along(system, start, place, frame.v);
            }
            None => self.joints.evaluate(system, frame.t_start, frame.q),
        }
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
            // A slope that has changed much since the start of the step is taken again now and then.
            let steeper = iteration > 0
                && iteration % SLOPE_EVERY == 0
                && self.step.relinearise_force(system, frame);
            if iteration == 0 || steeper || !self.step.character.constant_mass {
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
            residual = match self.solve_contact(system, frame, state, stage, record) {
                Ok(residual) => residual,
                Err(outcome) => return (outcome, f64::NAN),
            };
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
    /// the residual of the compression stage where there is one, or why no law covers the impact.
    fn solve_contact(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> Result<f64, StepOutcome> {
        // Free velocity of this iterate, on the joints.
        let free = stage.problem.velocity_free_mut();
        free.copy_from_slice(&self.step.residual);
        self.step.factor.solve_in_place(free);
        for (f, v) in free.iter_mut().zip(&self.velocity) {
            *f += v;
        }
        self.joints.project_velocity(free);
        if stage.problem.blocks().is_empty() && self.joints.is_empty() {
            // Free flight.
            let free = stage.problem.velocity_free();
            self.velocity.copy_from_slice(free);
            self.contact_impulse.fill(0.0);
            self.phases.without_contact(free);
            stage.solve();
            return Ok(0.0);
        }
        stage.problem.refresh();
        let residual = self
            .phases
            .solve(&self.assembly, frame.v, frame.t_end, stage)?;
        let reading = SlipReading {
            system,
            at: Instant {
                past: system.past(),
                ..Instant::new(state.t, &state.q, &state.v)
            },
            h: frame.h,
            weight: |contact, theta| match contact.impact {
                ImpactLaw::Fremond { .. } => theta,
                _ => 1.0,
            },
            theta: frame.theta,
            v0: frame.v,
            t: frame.t_end,
        };
        let parts = (&self.assembly, &mut self.phases);
        let again = self
            .slip
            .refine(parts.0, parts.1, &reading, stage, record)?;
        let residual = residual.max(again);
        stage
            .problem
            .velocity(&stage.solution.impulse, &mut self.velocity);
        self.contact_impulse.fill(0.0);
        for (i, &p) in self.phases.impulse.iter().enumerate() {
            stage.problem.row_add(i, p, &mut self.contact_impulse);
        }
        if !self.joints.is_empty() {
            self.response.clear();
            self.response.extend_from_slice(&self.contact_impulse);
            self.step.factor.solve_in_place(&mut self.response);
            self.joints.add_response_multipliers(&mut self.response);
            self.joints.add_impulse(&mut self.contact_impulse);
        }
        Ok(residual)
    }

    /// Solves the step, again with every contact that it would have let through; false on a fatal outcome.
    fn solve_with_activation(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> bool {
        self.step.prepare(system, &state.q, frame.coasting);
        self.positions.begin(system);
        loop {
            let before = self.positions.corrected.then(|| stage.certificate.clone());
            if let Err(outcome) = self.activate(system, frame, state, place, stage) {
                record.outcome = outcome;
                return false;
            }
            let (outcome, residual) = self.solve(system, frame, state, place, stage, record);
            record.outcome = outcome;
            record.residual = residual;
            record.unbalanced =
                (outcome == StepOutcome::NonlinearNotConverged).then(|| self.step.worst_row());
            record.iterations = stage.solution.iterations;
            if outcome.is_fatal() {
                return false;
            }
            let q_end = &self.step.q_end;
            if let Err(outcome) = self.positions.end_gaps(system, frame.t_end, q_end) {
                record.outcome = outcome;
                return false;
            }
            let Some(before) = before else {
                return true;
            };
            if !self.positions.admit_crossed(&self.assembly, q_end) {
                return true;
            }
            stage.certificate = before;
        }
    }

    /// Sliding velocity of every problem row: what the law read, u_{k+1} or u_{k+θ}.
    pub(super) fn sliding_velocities(&mut self, frame: &StepFrame, stage: &ContactStage) -> f64 {
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
                if self.phases.impulse[block.start] > 0.0
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
        self.positions.prepare(self.projection(), system);
        let (moved, coasting) = (self.positions.moved, self.positions.coasting);
        // The place of the middle is lent to the step while its other parts change.
        let (mut q_place, mut v_place) = self.positions.lend();
        if moved {
            let ahead = (1.0 - theta) * h;
            system.coast(&state.q, &state.v, ahead, &mut q_place, &mut v_place);
        }
        let frame = StepFrame {
            h,
            theta,
            t_start: state.t,
            t_end,
            q: if coasting { &q_place } else { &state.q },
            v: if coasting { &v_place } else { &state.v },
            coasting,
        };
        let place = moved.then_some((state.t + (1.0 - theta) * h, q_place.as_slice()));
        if self.solve_with_activation(system, &frame, state, place, stage, record) {
            self.complete(system, &frame, state, stage, record);
            state.t = t_end;
            state.q.copy_from_slice(&record.q);
            state.v.copy_from_slice(&record.velocity);
            state.kinetic = record.kinetic;
            state.potential = record.potential;
            state.impulses.clone_from(&record.impulses);
            self.step.advance();
        }
        self.positions.take_back(q_place, v_place);
    }

    fn position_correction(&self, system: &dyn MechanicalSystem) -> PositionCorrection {
        PositionCorrection::of(self.projection(), system, system.turns())
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
