//! The Moreau–Jean theta scheme and its energy-dissipating variant.

use crate::algebra::{SymmetricMatrix, add_scaled, assign, assign_zeros, copy};
use crate::contact::Certificate;
use crate::laws::ImpactLaw;
use crate::records::{StepOutcome, StepRecord};
use crate::systems::{Instant, MechanicalSystem};

use super::assembly::ContactAssembly;
use super::contact_phases::ContactPhases;
use super::implicit_step::{ImplicitStep, StepFrame};
use super::joints::JointSystem;
use super::moreau_jean_settings::{Activation, MoreauJeanSettings, ThetaError, default_theta};
use super::restitution::latest_reading;
use super::slip_friction::{SlipReading, SlipSpeeds};
use super::step_positions::StepPositions;
use super::{ContactStage, PositionCorrection, Projection, State, TimeSteppingScheme};

/// Iterations after which the slope of a force is taken again.
const SLOPE_EVERY: usize = 4;
/// A balance met to this part of its terms is followed as far as it gets better.
const ENDS: f64 = 1e-11;

/// The Moreau–Jean scheme.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::stepping::MoreauJeanSettings;
///
/// let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 })?;
/// let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]);
/// let ball = ball.constraint(ground).build(&[0.2])?;
/// let half = MoreauJeanSettings { theta: Some(0.5), ..MoreauJeanSettings::default() };
/// let (scheme, solver) = (Box::new(MoreauJean::new(half)?), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(1e-3);
/// let mut run = Simulation::new(Box::new(ball), scheme, solver, (&[0.2], &[0.0]), settings)?;
/// // Free flight is exact at θ = ½.
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// assert!((run.state().q[0] - 0.15).abs() < 1e-14 && (run.state().v[0] + 1.0).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// `M(v_{k+1} − v_k) + h K q_{k+θ} + h C v_{k+θ} − h F_{k+θ} = H_k p`, `q_{k+1} = q_k + h v_{k+θ}`, and on
/// active contacts Coulomb's law (or the kinetic projection, in the metric of A = M + hθ C + h²θ² K) between p and
/// `ŷ = H_kᵀ v_{k+1} + bias`, the bias being chosen by the impact law of each contact: `e u_N` for
/// Newton, with `((1−w)/w) u_T` besides for Frémond, w = θ and in a step with impacts at most 1/(1 + e) of all that strike. Frémond's law
/// on all contacts is the energy-dissipating scheme. One H per step, taken at q_k.
///
/// # Source
/// [AcaryCollinsCraft2023], eq. (53) and (63)-(64) divided by θ; the guard activation, the
/// iteration on nonlinear forces, M(q_θ) and w are ours: the source has w = θ ≤ 1/(1 + e).
///
/// # Guarantees
/// The energy entry closes to rounding for any impulses. Under Frémond's law and
/// `θ ≤ 1/(1 + e)` the contact works are nonpositive contact by contact (rules `paper` and
/// `guard`); above, normal works are positive, by what the damping of the scheme takes again, and an impact still gives no kinetic energy. Order 2
/// on smooth motion at θ = ½, order 1 through impacts.
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
/// rounding. Flat gaps without joints have the steps of the bare scheme, and an end at which a contact rests below its
/// obstacle is projected; contacts that bounce there are left to come out by themselves, and pushed no deeper.
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
    /// Part of the change of velocity at which Frémond's law reads friction in the step at hand.
    pub(super) friction: f64,
    pub(super) sliding: Vec<f64>,
    /// The certificate before the solve of a step that may have to be made again.
    certificate: Certificate,
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

    /// Solves contact and forces together; returns the outcome and the worst contact residual.
    #[inline(never)] // Steps without contact have no need of its frame.
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
        assign(&mut self.velocity, frame.v);
        self.contact_impulse.resize(frame.v.len(), 0.0);
        let (known, internal) = (
            self.step.character.known_forces,
            self.settings.internal_force,
        );
        if !known {
            self.step.begin(system, frame);
        } else if self.step.know(system, frame, internal).is_err() {
            return (StepOutcome::SingularMass, f64::NAN);
        }
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
        if !known {
            self.step.evaluate(system, frame, &self.velocity, internal);
        }

        let (mut previous, mut stalled) = (f64::INFINITY, false);
        let mut nonlinear = StepOutcome::Solved;
        let mut residual;
        let mut iteration = 0;
        loop {
            // A slope that has changed much since the start of the step is taken again, now and then or where it leads
            // nowhere; not at the end, for a new one first moves away from where the last one had come to.
            let steeper = iteration > 0
                && previous > ENDS
                && (iteration % SLOPE_EVERY == 0 || stalled)
                && self.step.relinearise_force(system, frame);
            if iteration == 0 || steeper || !self.step.character.constant_mass {
                if !known && self.step.factor(system, frame).is_err() {
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
            // The balance is met when re-evaluating the forces changes nothing that matters. Forces that did not change at all say so only
            // where the operator has no slope of theirs: past a kink the slope of the start is not theirs.
            let changed = self.step.evaluate(system, frame, &self.velocity, internal);
            if !changed && !self.step.is_linearised() {
                break;
            }
            let defect = self.step.defect(&self.contact_impulse);
            if !changed && self.step.is_rounding(defect, &self.velocity) {
                break;
            }
            if defect <= 4.0 * f64::EPSILON || (defect <= ENDS && defect > 0.5 * previous) {
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
            stalled = defect > 0.5 * previous;
            previous = defect;
            iteration += 1;
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

    /// A step without contact and joints under forces known before it: one solve, and the contact problem is empty.
    fn fly(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        stage: &mut ContactStage,
    ) -> StepOutcome {
        let internal = self.settings.internal_force;
        if self.step.know(system, frame, internal).is_err() {
            return StepOutcome::SingularMass;
        }
        let free = stage.problem.velocity_free_mut();
        self.step.known_velocity(frame, free);
        self.take_free_velocity(stage);
        self.step.complete(system, frame, &self.velocity);
        if self.velocity.iter().any(|v| !v.is_finite()) {
            return StepOutcome::NonFinite;
        }
        stage.outcome()
    }

    /// The solution of an empty contact problem.
    #[inline]
    fn take_free_velocity(&mut self, stage: &mut ContactStage) {
        let free = stage.problem.velocity_free();
        assign(&mut self.velocity, free);
        assign_zeros(&mut self.contact_impulse, free.len());
        self.phases.without_contact(free);
        stage.solve();
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
        if self.step.character.known_forces {
            self.step.known_velocity(frame, free);
        } else {
            copy(free, &self.step.residual);
            self.step.factor.solve_in_place(free);
            add_scaled(free, 1.0, &self.velocity);
        }
        self.joints.project_velocity(free);
        if stage.problem.blocks().is_empty() && self.joints.is_empty() {
            self.take_free_velocity(stage);
            return Ok(0.0);
        }
        stage.problem.refresh();
        let reading = SlipReading {
            system,
            at: Instant {
                past: system.past(),
                ..Instant::new(state.t, &state.q, &state.v)
            },
            h: frame.h,
            weight: |contact, _, theta| match contact.impact {
                ImpactLaw::Fremond { .. } => theta,
                _ => 1.0,
            },
            theta: self.friction,
            v0: frame.v,
            t: frame.t_end,
        };
        let residual = self.phases.solve(&self.assembly, &reading, stage)?;
        let parts = (&self.assembly, &mut self.phases);
        let again = self
            .slip
            .refine(parts.0, parts.1, &reading, stage, record)?;
        let residual = residual.max(again);
        stage
            .problem
            .velocity(&stage.solution.impulse, &mut self.velocity);
        // Joints, forces that answer to the step and the account of momentum ask for it.
        let character = &self.step.character;
        if !self.joints.is_empty() || !character.linear || frame.coasting {
            self.contact_impulse.fill(0.0);
            for (i, &p) in self.phases.impulse.iter().enumerate() {
                stage.problem.row_add(i, p, &mut self.contact_impulse);
            }
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
            if let Err(outcome) = self.activate(system, frame, state, place, stage) {
                record.outcome = outcome;
                return false;
            }
            // A step in which all contacts take part leaves none behind.
            let may_leave = self.positions.corrected
                && self.positions.chosen.len() < system.constraints().len();
            if may_leave {
                self.keep_certificate(stage);
            }
            let flies = self.step.character.known_forces
                && stage.problem.blocks().is_empty()
                && system.joints().is_empty();
            let (outcome, residual) = if flies {
                (self.fly(system, frame, stage), 0.0)
            } else {
                self.solve(system, frame, state, place, stage, record)
            };
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
            if !(may_leave && self.positions.admit_crossed(&self.assembly, q_end)) {
                return true;
            }
            stage.certificate.clone_from(&self.certificate);
        }
    }

    /// Keeps the certificate before a solve that may not be the last of its step.
    #[inline(never)] // Steps with all contacts have no need of it.
    fn keep_certificate(&mut self, stage: &ContactStage) {
        self.certificate.clone_from(&stage.certificate);
    }

    /// The step whose frames are those of a place further along the path; false on a fatal outcome.
    #[inline(never)] // Steps without a place of their own have no need of its frame.
    fn step_along(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        (h, theta, t_end): (f64, f64, f64),
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> bool {
        // The place is lent to the step while its other parts change.
        let (mut q_place, mut v_place) = self.positions.lend();
        let ahead = (1.0 - theta) * h;
        system.coast(&state.q, &state.v, ahead, &mut q_place, &mut v_place);
        let coasting = self.positions.coasting;
        let frame = StepFrame {
            h,
            theta,
            t_start: state.t,
            t_end,
            q: if coasting { &q_place } else { &state.q },
            v: if coasting { &v_place } else { &state.v },
            coasting,
        };
        let place = Some((state.t + ahead, q_place.as_slice()));
        let solved = self.step_from(system, &frame, state, place, stage, record);
        self.positions.take_back(q_place, v_place);
        solved
    }

    /// Solves and completes a step; false on a fatal outcome.
    fn step_from(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> bool {
        let solved = self.solve_with_activation(system, frame, state, place, stage, record);
        if solved {
            self.complete(system, frame, state, stage, record);
        }
        solved
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
        let solved = if self.positions.moved {
            self.step_along(system, state, (h, theta, t_end), stage, record)
        } else {
            let frame = StepFrame {
                h,
                theta,
                t_start: state.t,
                t_end,
                q: &state.q,
                v: &state.v,
                coasting: false,
            };
            self.step_from(system, &frame, state, None, stage, record)
        };
        if solved {
            state.t = t_end;
            copy(&mut state.q, &record.q);
            copy(&mut state.v, &record.velocity);
            state.kinetic = record.kinetic;
            state.potential = record.potential;
            assign(&mut state.impulses, &record.impulses);
            self.step.advance();
            self.positions.ends_at = Some(t_end);
        }
    }

    fn position_correction(&self, system: &dyn MechanicalSystem) -> PositionCorrection {
        PositionCorrection::of(self.projection(), system, system.turns())
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let theta = self.theta(system);
        let mut warnings = Vec::new();
        for constraint in system.constraints() {
            for point in constraint.points() {
                let bound = latest_reading(point.law.impact().restitution());
                if theta > bound * (1.0 + 1e-12) {
                    let friction = match point.law.impact() {
                        ImpactLaw::Fremond { .. } => ", friction of impacts is read at the latter",
                        _ => "",
                    };
                    warnings.push(format!(
                        "theta = {theta} exceeds 1/(1+e) = {bound:.4} of `{}`: normal contact work may be positive{friction}",
                        constraint.name()
                    ));
                }
            }
        }
        warnings
    }
}
