//! Moreau's contact dynamics with the law S(q, v).

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::laws::ImpactLaw;
use crate::records::{EnergyEntry, StepOutcome, StepRecord};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::assembly::ContactAssembly;
use super::joints::{JointSystem, JointVelocity};
use super::{ContactStage, State, TimeSteppingScheme, restitution, step_energy};

/// Moreau's explicit time stepping.
///
/// # What it computes
/// `q₁ = q₀ + h v₀`, `v_f = v₀ + h M(q₁)⁻¹ f_tot(t₁, q₁, v₀)`, `v₁ = S(q₁, v_f)`, where f_tot holds the
/// covariant terms and S is the law of the contacts with `φ(q₁) ≤ 0`: the kinetic projection
/// (Moreau's S) or Coulomb's law, by the flow rule of each contact.
///
/// # Source
/// [Paoli2015], section on contact dynamics; `S` is its (7). Restitution under Coulomb's flow rule
/// reads the velocity at the start of the step and is ours; S itself is inelastic.
///
/// # Guarantees
/// `r ∈ R(q₁)`, `⟨r, v₁⟩ ≤ 0`, `|v₁|_M ≤ |v_f|_M` for one contact under S. The energy entry closes to rounding
/// with the defects of the explicit scheme booked as `potential_defect` and `covariant_defect`.
///
/// # Behaviour to know
/// Order 1. Contact is discovered at most one step late; the penetration reached then is kept. S is
/// discontinuous at zero approach velocity where γ ≤ 0, so an approach below 1e-12 of the speed
/// counts as zero: grazing stays grazing.
///
/// # Cost
/// One factorization of M (none if constant), one solve per contact row.
///
/// # Tested by
/// `tests/reference_cases.rs`, `tests/property_schemes.rs`, `tests/order_moreau.rs`.
#[derive(Debug)]
pub struct MoreauContactDynamics {
    gap_tolerance: f64,
    assembly: ContactAssembly,
    joints: JointSystem,
    mass: SymmetricMatrix,
    mass_start: SymmetricMatrix,
    factor: CholeskyFactor,
    q: Vec<f64>,
    v: Vec<f64>,
    mean: Vec<f64>,
    external: Vec<f64>,
    gradient: Vec<f64>,
    covariant: Vec<f64>,
    elastic: Vec<f64>,
    viscous: Vec<f64>,
    sliding: Vec<f64>,
    work: Vec<f64>,
}

/// An approach velocity below this part of the speed counts as zero.
const GRAZING: f64 = 1e-12;

impl Default for MoreauContactDynamics {
    fn default() -> Self {
        Self::new(1e-12)
    }
}

impl MoreauContactDynamics {
    /// Scheme whose contacts are those with `φ(q₁) ≤ gap_tolerance`.
    pub fn new(gap_tolerance: f64) -> Self {
        Self {
            gap_tolerance,
            assembly: ContactAssembly::default(),
            joints: JointSystem::default(),
            mass: SymmetricMatrix::default(),
            mass_start: SymmetricMatrix::default(),
            factor: CholeskyFactor::default(),
            q: Vec::new(),
            v: Vec::new(),
            mean: Vec::new(),
            external: Vec::new(),
            gradient: Vec::new(),
            covariant: Vec::new(),
            elastic: Vec::new(),
            viscous: Vec::new(),
            sliding: Vec::new(),
            work: Vec::new(),
        }
    }

    fn prepare(&mut self, system: &dyn MechanicalSystem, state: &State) -> Result<(), usize> {
        let n = system.dof();
        let first = self.mass.order() != n;
        if first {
            self.mass = system.new_matrix();
            if !system.mass_is_constant() {
                self.mass_start = system.new_matrix();
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
            self.q.resize(state.q.len(), 0.0);
        }
        if first || !system.mass_is_constant() {
            system.mass(&self.q, &mut self.mass);
            self.factor.factor(&self.mass)?;
        }
        Ok(())
    }

    /// Writes the free velocity M⁻¹-step into the problem.
    fn free_velocity(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        h: f64,
        t: f64,
        free: &mut [f64],
    ) {
        if system.force_dependence() != ForceDependence::None {
            system.force(
                &Instant {
                    t,
                    q: &self.q,
                    v: &state.v,
                },
                &mut self.external,
            );
        }
        if system.has_potential() {
            system.potential_gradient(&self.q, &mut self.gradient);
        }
        if system.has_covariant_force() {
            system.covariant_force(&self.q, &state.v, &mut self.covariant);
        }
        if let Some(linear) = system.linear_part() {
            if let Some(stiffness) = &linear.stiffness {
                stiffness.multiply(&self.q, &mut self.elastic);
            }
            if let Some(damping) = &linear.damping {
                damping.multiply(&state.v, &mut self.viscous);
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
        for (f, v) in free.iter_mut().zip(&state.v) {
            *f += v;
        }
        self.joints.project_velocity(free);
    }

    fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        t: f64,
        problem: &mut crate::contact::OneStepContactProblem,
    ) -> Result<(), StepOutcome> {
        self.assembly.prepare(system);
        self.assembly.evaluate_gaps(system, t, &self.q, &state.v);
        self.assembly.begin(system, problem);
        for c in 0..system.constraints().len() {
            let tolerance = self
                .gap_tolerance
                .max(self.assembly.gap_rounding(c, &self.q));
            if self.assembly.gaps[c] <= tolerance {
                self.assembly
                    .activate(system, c, (t, &self.q, &state.v), problem)?;
            }
        }
        for contact in &self.assembly.active {
            let rows = problem.blocks()[contact.block].range();
            // Restitution answers an approach only; θ = ½ makes Frémond's law read the mean.
            if contact.owns_normal && self.assembly.before[rows.start] < 0.0 {
                let before = &self.assembly.before[rows.clone()];
                restitution::bias(
                    contact.impact,
                    0.5,
                    true,
                    before,
                    &mut problem.bias_mut()[rows],
                );
            }
        }
        for (bias, drift) in problem.bias_mut().iter_mut().zip(&self.assembly.drift) {
            *bias += drift;
        }
        Ok(())
    }

    /// Approach velocities below the grazing threshold become exactly zero.
    fn clear_grazing(&self, problem: &mut crate::contact::OneStepContactProblem) {
        let speed = self
            .mass
            .bilinear(problem.velocity_free(), problem.velocity_free())
            .max(0.0)
            .sqrt();
        let m = problem.size();
        for b in 0..problem.blocks().len() {
            let start = problem.blocks()[b].start;
            let normal = problem.free()[start];
            if normal.abs() <= GRAZING * problem.delassus()[start * m + start].sqrt() * speed {
                problem.bias_mut()[start] -= normal;
            }
        }
        problem.refresh();
    }

    fn account(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        h: f64,
        record: &StepRecord,
    ) -> (EnergyEntry, f64, f64) {
        let mean = &self.mean;
        let kinetic = step_energy::kinetic(&self.mass, &self.v);
        let mut covariant_defect = 0.0;
        if system.has_covariant_force() {
            covariant_defect += h * dot(mean, &self.covariant);
        }
        if !system.mass_is_constant() {
            system.mass(&state.q, &mut self.mass_start);
            covariant_defect += step_energy::kinetic(&self.mass, &state.v)
                - step_energy::kinetic(&self.mass_start, &state.v);
        }
        let potential = step_energy::potential(system, &self.q);
        let potential_change = potential - state.potential;
        let entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change,
            external: h * dot(mean, &self.external),
            damping: -h * dot(mean, &self.viscous),
            potential_defect: potential_change
                - h * (dot(mean, &self.gradient) + dot(mean, &self.elastic)),
            covariant_defect,
            joints: self.joints.work(mean),
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
            ..EnergyEntry::default()
        };
        (entry, kinetic, potential)
    }
}

impl TimeSteppingScheme for MoreauContactDynamics {
    fn name(&self) -> &'static str {
        "moreau"
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
        self.q.resize(state.q.len(), 0.0);
        system.displace(&state.q, &state.v, h, &mut self.q);
        if self.prepare(system, state).is_err() {
            record.outcome = StepOutcome::SingularMass;
            return;
        }
        if let Err(outcome) = self.activate(system, state, t_end, &mut stage.problem) {
            record.outcome = outcome;
            return;
        }
        self.joints.evaluate(system, t_end, &self.q);
        self.joints.set_target(JointVelocity::End, 1.0, &state.v);
        self.joints.factor(&self.factor);
        let (factor, joints) = (&self.factor, &mut self.joints);
        match system.sparsity() {
            Some(sparsity) if system.joints().is_empty() => {
                stage
                    .problem
                    .condense_sparse(factor, &sparsity.contact_dofs);
            }
            _ => stage.problem.condense(|x| {
                factor.solve_in_place(x);
                joints.project_response(x);
            }),
        }
        let mut free = std::mem::take(&mut self.work);
        self.free_velocity(system, state, h, t_end, &mut free);
        stage.problem.velocity_free_mut().copy_from_slice(&free);
        self.work = free;
        stage.problem.refresh();
        self.clear_grazing(&mut stage.problem);
        self.assembly
            .warm_start(&stage.problem, &state.impulses, &mut stage.solution.impulse);
        stage.solve();
        record.residual = stage.certify(t_end);
        record.outcome = stage.outcome();
        record.iterations = stage.solution.iterations;
        stage.problem.velocity(&stage.solution.impulse, &mut self.v);
        if self.v.iter().any(|v| !v.is_finite()) {
            record.outcome = StepOutcome::NonFinite;
        }
        if record.outcome.is_fatal() {
            return;
        }

        // Joint impulses that answer the contact impulses.
        if !self.joints.is_empty() {
            self.work.fill(0.0);
            for (i, &p) in stage.solution.impulse.iter().enumerate() {
                stage.problem.row_add(i, p, &mut self.work);
            }
            self.factor.solve_in_place(&mut self.work);
            self.joints.add_response_multipliers(&mut self.work);
        }

        for ((m, a), b) in self.mean.iter_mut().zip(&state.v).zip(&self.v) {
            *m = 0.5 * (a + b);
        }
        let problem = &stage.problem;
        self.sliding.clear();
        self.sliding.extend(
            (0..problem.size()).map(|i| problem.row_dot(i, &self.v) + self.assembly.drift[i]),
        );
        self.assembly.fill_record(
            problem,
            &stage.solution.impulse,
            &self.mean,
            &self.sliding,
            record,
        );
        let (entry, kinetic, potential) = self.account(system, state, h, record);
        record.t = t_end;
        record.h = h;
        record.q.clone_from(&self.q);
        record.velocity_left.clear();
        record
            .velocity_left
            .extend_from_slice(problem.velocity_free());
        record.velocity.clone_from(&self.v);
        record.joint_impulses.clone_from(&self.joints.multipliers);
        record.energy = entry;
        record.kinetic = kinetic;
        record.potential = potential;
        record.stick_jitter = 0.0;
        state.t = t_end;
        state.q.copy_from_slice(&record.q);
        state.v.copy_from_slice(&record.velocity);
        state.kinetic = kinetic;
        state.potential = potential;
        state.impulses.clone_from(&record.impulses);
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let poisson = system.constraints().iter().filter(|constraint| {
            constraint
                .points()
                .iter()
                .any(|point| matches!(point.law.impact(), ImpactLaw::Poisson { .. }))
        });
        poisson
            .map(|constraint| {
                format!(
                    "`{}`: the scheme `moreau` takes Poisson's law as inelastic; use `moreau-jean` for its two phases",
                    constraint.name()
                )
            })
            .collect()
    }
}
