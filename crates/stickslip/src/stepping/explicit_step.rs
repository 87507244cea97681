//! One explicit velocity update with implicit contact, shared by Moreau's contact dynamics and the
//! sweeping process: the two differ in when the position moves.

use std::sync::Arc;

use crate::algebra::{CholeskyFactor, SymmetricMatrix, assign, copy, dot};
use crate::contact::{BlockKind, ContactProblem};
use crate::laws::{ImpactLaw, ImpactRule};
use crate::records::{EnergyEntry, StepOutcome, StepRecord};
use crate::systems::{ElasticScratch, ForceDependence, Instant, MechanicalSystem};

use super::assembly::ContactAssembly;
use super::contact_phases::{ContactPhases, runs_away};
use super::explicit_positions::ExplicitPositions;
use super::impact_turning::ImpactTurning;
use super::joints::{JointSystem, JointVelocity};
use super::slip_friction::{SlipReading, SlipSpeeds};
use super::step_energy::ContactWork;
use super::{ContactStage, State, generalized_impact, restitution, step_energy};

/// An approach velocity below this part of the speed counts as zero.
const GRAZING: f64 = 1e-12;

/// Most rounds for what joints turn on after an impact.
const TURNING_ROUNDS: usize = 20;

/// Which contacts take part in an update, and how they press.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contacts<'a> {
    /// Rigid contacts whose gap is at most this.
    Touching(f64),
    /// Compliant contacts with a negative gap; stiffness and damping of every contact point.
    Pressed(&'a [(f64, f64)]),
}

/// Friction of a step that reads the velocity at its end, at the place `q` of its laws.
fn slip_reading<'a>(
    system: &'a dyn MechanicalSystem,
    q: &'a [f64],
    v0: &'a [f64],
    (h, t): (f64, f64),
) -> SlipReading<'a> {
    SlipReading {
        system,
        at: Instant {
            past: system.past(),
            ..Instant::new(t, q, v0)
        },
        h,
        // Frémond's law reads the mean where there is an impact, and so does the friction that goes with it.
        weight: |contact, approach, mean| match contact.impact {
            ImpactLaw::Fremond { .. } if approach < 0.0 => mean,
            _ => 1.0,
        },
        theta: 0.5,
        v0,
        t,
    }
}

/// Buffers of the update; all operators are taken at `q`.
#[derive(Debug, Default)]
pub(crate) struct ExplicitStep {
    pub assembly: ContactAssembly,
    /// Impact map of the user, for the generalized law.
    pub impact_rule: Option<Arc<dyn ImpactRule>>,
    /// Where the path of the step is read, and how its end is corrected.
    pub positions: ExplicitPositions,
    joints: JointSystem,
    phases: ContactPhases,
    impact_turning: ImpactTurning,
    slip: SlipSpeeds,
    mass: SymmetricMatrix,
    mass_other: SymmetricMatrix,
    factor: CholeskyFactor,
    /// Configuration at which mass, forces, gaps and frames are taken.
    pub q: Vec<f64>,
    /// Configuration at the end of the step.
    pub q_end: Vec<f64>,
    /// Velocity after the update.
    pub v: Vec<f64>,
    mean: Vec<f64>,
    pub external: Vec<f64>,
    gradient: Vec<f64>,
    covariant: Vec<f64>,
    elastic: Vec<f64>,
    scratch: ElasticScratch,
    viscous: Vec<f64>,
    sliding: Vec<f64>,
    work: Vec<f64>,
}

impl ExplicitStep {
    fn prepare(&mut self, system: &dyn MechanicalSystem) -> Result<(), usize> {
        let n = system.dof();
        let first = self.mass.order() != n;
        if first {
            self.mass = system.new_matrix();
            if !system.mass_is_constant() {
                self.mass_other = system.new_matrix();
            }
            for buffer in [
                &mut self.v,
                &mut self.mean,
                &mut self.external,
                &mut self.gradient,
                &mut self.covariant,
                &mut self.elastic,
                &mut self.viscous,
                &mut self.work,
            ] {
                buffer.resize(n, 0.0);
            }
        }
        if first || !system.mass_is_constant() {
            system.mass(&self.q, &mut self.mass);
            self.factor.factor(&self.mass)?;
        }
        Ok(())
    }

    /// Writes `v₀ + h M⁻¹ f(t, q, v₀)`.
    fn free_velocity(
        &mut self,
        system: &dyn MechanicalSystem,
        v0: &[f64],
        (h, t): (f64, f64),
        free: &mut [f64],
    ) {
        if system.force_dependence() != ForceDependence::None {
            system.force(&Instant::new(t, &self.q, v0), &mut self.external);
        }
        if system.has_potential() {
            system.potential_gradient(&self.q, &mut self.gradient);
        }
        if system.has_covariant_force() {
            system.covariant_force(&self.q, v0, &mut self.covariant);
        }
        if let Some(linear) = system.linear_part() {
            linear.elastic_force(&self.q, &mut self.scratch, &mut self.elastic);
            if let Some(damping) = &linear.damping {
                damping.multiply(v0, &mut self.viscous);
            }
        }
        for (i, f) in free.iter_mut().enumerate() {
            let force = self.external[i] + self.covariant[i]
                - self.gradient[i]
                - self.elastic[i]
                - self.viscous[i];
            *f = h * force;
        }
        self.factor.solve_in_place(free);
        for (f, v) in free.iter_mut().zip(v0) {
            *f += v;
        }
        self.joints.project_velocity(free);
    }

    /// Blocks and biases of the contacts that take part.
    fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        v0: &[f64],
        ((h, chord), t): ((f64, f64), f64),
        contacts: Contacts,
        impulses: &[f64],
        stage: &mut ContactStage,
    ) -> Result<(), StepOutcome> {
        self.assembly.prepare(system);
        self.assembly
            .evaluate_gaps(system, (t, &self.q, v0), None)?;
        self.assembly.begin(system, &mut stage.problem);
        for c in 0..system.constraints().len() {
            let rounding = self.assembly.gap_rounding(c, &self.q);
            let closed = rounding.max(stage.scales.closed_gap(c));
            let active = match contacts {
                Contacts::Touching(tolerance) => self.assembly.gaps[c] <= tolerance.max(closed),
                Contacts::Pressed(_) => self.assembly.gaps[c] < 0.0,
            };
            if active || stage.takes_part(c) {
                let at = (t, self.q.as_slice());
                self.assembly
                    .activate(system, c, (t, &self.q, v0), at, &mut stage.problem)?;
            }
        }
        let problem = &mut stage.problem;
        if matches!(contacts, Contacts::Touching(_)) {
            let assembly = &mut self.assembly;
            let path = (chord, t, self.q.as_slice(), v0);
            self.positions
                .split(system, path, impulses, assembly, problem);
        }
        // The generalized law reads true velocities: its restitution belongs to the normal stage.
        let biased = problem.generalized_rule().is_none();
        for contact in self.assembly.active.iter().filter(|_| biased) {
            let rows = problem.blocks()[contact.block].range();
            if let Contacts::Pressed(springs) = contacts {
                // Known normal force of the spring; only friction is left to find.
                let (stiffness, damping) = springs[contact.slot];
                let c = self.assembly.layout.slots()[contact.slot].key.constraint();
                let approach = self.assembly.before[rows.start];
                // The depth is that of the approach which the normal row measures, whatever the unit of the gap.
                let unit = self.assembly.gap_unit(c, rows.start, problem);
                let depth = -unit.unwrap_or(0.0) * self.assembly.gaps[c];
                let force = (stiffness * depth - damping * approach).max(0.0);
                problem.blocks_mut()[contact.block].kind =
                    BlockKind::KnownNormal { impulse: h * force };
                continue;
            }
            // Restitution answers an approach only; θ = ½ makes Frémond's law read the mean.
            if contact.owns_normal && self.assembly.before[rows.start] < 0.0 {
                let before = &self.assembly.before[rows.clone()];
                restitution::bias(
                    contact.impact,
                    (0.5, 0.5),
                    true,
                    before,
                    &mut problem.bias_mut()[rows],
                );
            }
        }
        for (bias, drift) in problem.bias_mut().iter_mut().zip(&self.assembly.drift) {
            *bias += drift;
        }
        // The mean velocity of an explicit step weighs both ends alike.
        let turning = self.assembly.turning.iter();
        for (bias, turning) in problem.bias_mut().iter_mut().zip(turning) {
            *bias += turning;
        }
        Ok(())
    }

    /// Approach velocities below the grazing threshold become exactly zero.
    fn clear_grazing(&self, problem: &mut ContactProblem) {
        if problem.blocks().is_empty() {
            return;
        }
        let speed = self
            .mass
            .bilinear(problem.velocity_free(), problem.velocity_free())
            .max(0.0)
            .sqrt();
        let m = problem.size();
        for b in 0..problem.blocks().len() {
            let start = problem.blocks()[b].start;
            let normal = problem.free()[start];
            if normal.abs() <= GRAZING * problem.dense()[start * m + start].sqrt() * speed {
                problem.bias_mut()[start] -= normal;
            }
        }
        problem.refresh();
    }

    /// The velocity after `h` under the forces and contacts at (t, q), from `state.v`; false if the step
    /// could not be made, with the outcome in the record.
    pub fn update_velocity(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        (h, t): (f64, f64),
        contacts: Contacts,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> bool {
        let v0 = state.v.as_slice();
        if self.prepare(system).is_err() {
            record.outcome = StepOutcome::SingularMass;
            return false;
        }
        let impulses = state.impulses.as_slice();
        // A step whose laws are those of its start has a chord behind it, unless the motion begins there.
        let chord = if stage.begins && t == state.t { 0.0 } else { h };
        let lengths = (h, chord);
        if let Err(outcome) = self.activate(system, v0, (lengths, t), contacts, impulses, stage) {
            record.outcome = outcome;
            return false;
        }
        if stage.problem.blocks().is_empty() && system.joints().is_empty() {
            return self.fly(system, v0, (h, t), stage, record);
        }
        self.condense(system, v0, (lengths, t), &mut stage.problem);
        if matches!(contacts, Contacts::Touching(_)) {
            self.clear_grazing(&mut stage.problem);
        }
        if stage.problem.generalized_rule().is_some() {
            let rule = self.impact_rule.as_deref();
            generalized_impact::set_normal_stage(&self.assembly, rule, stage);
        }
        self.assembly
            .warm_start(&stage.problem, &state.impulses, &mut stage.solution.impulse);
        let reading = slip_reading(system, &self.q, v0, (h, t));
        let solved = self.phases.solve(&self.assembly, &reading, stage);
        if solved.is_ok() && self.joints.turns() {
            self.turn_after_impact(v0, stage);
        }
        let reading = slip_reading(system, &self.q, v0, (h, t));
        let parts = (&self.assembly, &mut self.phases);
        let refined = solved.and_then(|residual| {
            let again = self
                .slip
                .refine(parts.0, parts.1, &reading, stage, record)?;
            Ok(residual.max(again))
        });
        let compression = match refined {
            Ok(residual) => residual,
            Err(outcome) => {
                record.outcome = outcome;
                return false;
            }
        };
        record.residual = stage.certify(t).max(compression);
        record.outcome = stage.outcome();
        record.iterations = stage.solution.iterations;
        stage.problem.velocity(&stage.solution.impulse, &mut self.v);
        if self.v.iter().any(|v| !v.is_finite()) {
            record.outcome = StepOutcome::NonFinite;
        }
        if record.outcome.is_fatal() {
            return false;
        }
        self.record_contacts(v0, stage, record);
        true
    }

    /// Eliminates the joints, condenses W onto the contacts and computes the free velocity.
    fn condense(
        &mut self,
        system: &dyn MechanicalSystem,
        v0: &[f64],
        ((h, chord), t): ((f64, f64), f64),
        problem: &mut ContactProblem,
    ) {
        match self.positions.middle(t, chord) {
            Some(middle) => self.joints.evaluate_along(system, middle, (t, &self.q), v0),
            None => self.joints.evaluate(system, t, &self.q),
        }
        self.joints.set_target(JointVelocity::End, 0.5, v0);
        self.joints.factor(&self.factor);
        let (factor, joints) = (&self.factor, &mut self.joints);
        match system.sparsity() {
            Some(sparsity) if system.joints().is_empty() => {
                problem.condense_sparse(factor, &sparsity.contact_dofs);
            }
            _ => problem.condense(|x| {
                factor.solve_in_place(x);
                joints.project_response(x);
            }),
        }
        let mut free = std::mem::take(&mut self.work);
        self.free_velocity(system, v0, (h, t), &mut free);
        problem.velocity_free_mut().copy_from_slice(&free);
        self.work = free;
        problem.refresh();
    }

    /// After an impact joints turn on by what is left of the velocity.
    fn turn_after_impact(&mut self, v0: &[f64], stage: &mut ContactStage) {
        if !(ContactPhases::impact(&self.assembly, stage) || self.phases.has_layers()) {
            return;
        }
        let (mass, turning) = (&self.mass, &mut self.impact_turning);
        turning.begin(mass, &self.joints, &stage.problem, v0);
        let kinetic = |v: &[f64]| mass.bilinear(v, v).max(0.0);
        let rounding = GRAZING * GRAZING * kinetic(v0);
        // Each round is better by the angle of a step; the last one is rounding.
        for _ in 0..TURNING_ROUNDS {
            stage.problem.velocity(&stage.solution.impulse, &mut self.v);
            turning.turn(mass, &mut self.joints, &self.v);
            let small = kinetic(&turning.shift) <= rounding;
            self.phases.solve_shifted(&turning.shift, stage);
            if small {
                break;
            }
        }
    }

    /// Impulses, velocities and works of the contacts of a solved step.
    fn record_contacts(&mut self, v0: &[f64], stage: &ContactStage, record: &mut StepRecord) {
        // Joint impulses that answer the contact impulses.
        if !self.joints.is_empty() {
            self.work.fill(0.0);
            for (i, &p) in self.phases.impulse.iter().enumerate() {
                stage.problem.row_add(i, p, &mut self.work);
            }
            self.factor.solve_in_place(&mut self.work);
            self.joints.add_response_multipliers(&mut self.work);
        }

        for ((m, a), b) in self.mean.iter_mut().zip(v0).zip(&self.v) {
            *m = 0.5 * (a + b);
        }
        let problem = &stage.problem;
        self.sliding.clear();
        self.sliding.extend(
            (0..problem.size()).map(|i| problem.row_dot(i, &self.v) + self.assembly.drift[i]),
        );
        self.assembly.fill_record(
            problem,
            &self.phases.impulse,
            &self.mean,
            (&self.sliding, stage.resting_speed()),
            (&self.phases.left, &self.v),
            record,
        );
        self.phases.split_works(record);
    }

    /// The update of a step without contact and joints: the contact problem is empty.
    fn fly(
        &mut self,
        system: &dyn MechanicalSystem,
        v0: &[f64],
        (h, t): (f64, f64),
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) -> bool {
        let mut free = std::mem::take(&mut self.v);
        self.free_velocity(system, v0, (h, t), &mut free);
        self.v = free;
        copy(stage.problem.velocity_free_mut(), &self.v);
        self.phases.without_contact(&self.v);
        stage.solve();
        record.residual = 0.0;
        record.iterations = 0;
        record.outcome = stage.outcome();
        if runs_away(&self.v) {
            record.outcome = StepOutcome::NonFinite;
            return false;
        }
        for ((m, a), b) in self.mean.iter_mut().zip(v0).zip(&self.v) {
            *m = 0.5 * (a + b);
        }
        self.assembly.fill_open(record);
        true
    }

    /// Energy entry, record and new state of the step that ends at `q_end`.
    pub fn complete(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &mut State,
        (h, t_end): (f64, f64),
        record: &mut StepRecord,
    ) {
        let (entry, kinetic, potential) = self.account(system, state, h, record);
        assign(&mut record.projection, &self.positions.displacement);
        record.t = t_end;
        record.h = h;
        assign(&mut record.q, &self.q_end);
        assign(&mut record.velocity_left, &self.phases.left);
        assign(&mut record.velocity, &self.v);
        let mut power = 0.0;
        for force in [
            &self.external,
            &self.gradient,
            &self.covariant,
            &self.viscous,
        ] {
            for (f, v) in force.iter().zip(&self.mean) {
                power += (f * v).abs();
            }
        }
        record.energy_size = h * power;
        if !self.assembly.active.is_empty() {
            record.energy_size +=
                step_energy::momentum_size(&self.mass, &self.mean, &self.phases.left);
        }
        assign(&mut record.joint_impulses, &self.joints.multipliers);
        record.energy = entry;
        record.kinetic = kinetic;
        record.potential = potential;
        record.stick_jitter = 0.0;
        state.t = t_end;
        copy(&mut state.q, &record.q);
        copy(&mut state.v, &record.velocity);
        state.kinetic = kinetic;
        state.potential = potential;
        assign(&mut state.impulses, &record.impulses);
    }

    fn account(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        h: f64,
        record: &StepRecord,
    ) -> (EnergyEntry, f64, f64) {
        let mean = &self.mean;
        let mut kinetic = step_energy::kinetic(&self.mass, &self.v);
        let mut covariant_defect = 0.0;
        if system.has_covariant_force() {
            covariant_defect += h * dot(mean, &self.covariant);
        }
        if !system.mass_is_constant() {
            // The update used one mass; the energies at its ends use those of their places.
            system.mass(&state.q, &mut self.mass_other);
            covariant_defect += step_energy::kinetic(&self.mass, &state.v)
                - step_energy::kinetic(&self.mass_other, &state.v);
            system.mass(&self.q_end, &mut self.mass_other);
            let at_end = step_energy::kinetic(&self.mass_other, &self.v);
            covariant_defect += at_end - kinetic;
            kinetic = at_end;
        }
        let potential = step_energy::potential(system, &self.q_end);
        let potential_change = potential - state.potential;
        let projection = self.positions.work;
        let contacts = ContactWork::of(&record.contacts);
        let entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change,
            external: h * dot(mean, &self.external),
            damping: -h * dot(mean, &self.viscous),
            potential_defect: potential_change
                - projection
                - h * (dot(mean, &self.gradient) + dot(mean, &self.elastic)),
            covariant_defect,
            projection,
            joints: self.joints.work(mean),
            supports: contacts.supports,
            contact_normal: contacts.normal,
            contact_tangential: contacts.tangential,
            ..EnergyEntry::default()
        };
        (entry, kinetic, potential)
    }
}
