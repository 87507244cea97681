//! The system type and its builder.

use std::sync::Arc;

use crate::algebra::{Jet, SymmetricMatrix};

use super::check;
use crate::systems::functions::{
    AutoPotential, ConstantInertia, DeadLoad, DelayedForce, Force, GivenForce, Inertia,
    KineticEnergy, Potential, Switches,
};
use crate::systems::past_motion::{PastReading, PastView};
use crate::systems::{
    BilateralConstraint, ForceDependence, Instant, LinearPart, MechanicalSystem, SampledController,
    SystemError, UnilateralConstraint,
};

/// A mechanical system in generalized coordinates.
///
/// ```
/// use stickslip::prelude::*;
///
/// let pendulum = GeneralizedSystem::builder(["angle"])
///     .mass_diagonal(&[1.0])
///     .potential(|q| -q[0].cos() * 9.81)
///     .build(&[1.0])?;
/// assert_eq!(pendulum.dof(), 1);
/// # Ok::<(), stickslip::systems::SystemError>(())
/// ```
pub struct GeneralizedSystem {
    names: Vec<String>,
    velocity_names: Vec<String>,
    inertia: Box<dyn Inertia>,
    potential: Option<Box<dyn Potential>>,
    force: Option<Box<dyn Force>>,
    switches: Option<Box<dyn Switches>>,
    linear: Option<LinearPart>,
    constraints: Vec<UnilateralConstraint>,
    joints: Vec<BilateralConstraint>,
    warnings: Vec<String>,
    notes: Vec<String>,
    reading: Option<PastReading>,
    controllers: Vec<Arc<dyn SampledController>>,
}

impl GeneralizedSystem {
    /// Starts a system with the given coordinate names.
    pub fn builder<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
    ) -> GeneralizedSystemBuilder {
        GeneralizedSystemBuilder {
            names: names.into_iter().map(Into::into).collect(),
            notes: Vec::new(),
            inertia: None,
            potential: None,
            force: None,
            switches: None,
            linear: None,
            constraints: Vec::new(),
            joints: Vec::new(),
            penetration_tolerance: None,
            semidefinite_tolerance: 1e-12,
            reading: None,
            controllers: Vec::new(),
        }
    }

    /// What the user should know although the system was accepted (dependent constraints).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl MechanicalSystem for GeneralizedSystem {
    fn dof(&self) -> usize {
        self.names.len()
    }
    fn coordinate_names(&self) -> &[String] {
        &self.names
    }
    fn velocity_names(&self) -> &[String] {
        &self.velocity_names
    }
    fn mass_is_constant(&self) -> bool {
        self.inertia.is_constant()
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        self.inertia.mass(q, out);
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.inertia.covariant_force(q, v, out);
    }
    fn force_dependence(&self) -> ForceDependence {
        self.force
            .as_ref()
            .map_or(ForceDependence::None, |force| force.dependence())
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        match &self.force {
            Some(force) => force.evaluate(at, out),
            None => out.fill(0.0),
        }
    }
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        let force = self.force.as_ref();
        force.is_some_and(|force| force.derivatives(at, dq, dv))
    }
    fn switches(&self, at: &Instant, out: &mut Vec<f64>) {
        match &self.switches {
            Some(switches) => switches.values(at, out),
            None => out.clear(),
        }
    }
    fn has_potential(&self) -> bool {
        self.potential.is_some()
    }
    fn potential(&self, q: &[f64]) -> f64 {
        self.potential
            .as_ref()
            .map_or(0.0, |potential| potential.value(q))
    }
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]) {
        match &self.potential {
            Some(potential) => potential.gradient(q, out),
            None => out.fill(0.0),
        }
    }
    fn potential_is_linear(&self) -> bool {
        self.potential
            .as_ref()
            .is_some_and(|potential| potential.is_linear())
    }
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        self.potential
            .as_ref()
            .is_some_and(|potential| potential.hessian(q, out))
    }
    fn linear_part(&self) -> Option<&LinearPart> {
        self.linear.as_ref()
    }
    fn warnings(&self) -> Vec<String> {
        self.notes.clone()
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        &self.constraints
    }
    fn joints(&self) -> &[BilateralConstraint] {
        &self.joints
    }
    fn past_reading(&self) -> Option<&PastReading> {
        self.reading.as_ref()
    }
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        &self.controllers
    }
}

/// Collects the parts of a [`GeneralizedSystem`] and checks them when built.
pub struct GeneralizedSystemBuilder {
    names: Vec<String>,
    inertia: Option<Box<dyn Inertia>>,
    potential: Option<Box<dyn Potential>>,
    force: Option<Box<dyn Force>>,
    switches: Option<Box<dyn Switches>>,
    linear: Option<LinearPart>,
    constraints: Vec<UnilateralConstraint>,
    joints: Vec<BilateralConstraint>,
    penetration_tolerance: Option<f64>,
    semidefinite_tolerance: f64,
    reading: Option<PastReading>,
    controllers: Vec<Arc<dyn SampledController>>,
    notes: Vec<String>,
}

impl GeneralizedSystemBuilder {
    /// What a user should know of how the system was read, before a run.
    pub(crate) fn notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// Any inertia: see [`crate::systems::functions`] for adapters.
    pub fn inertia(mut self, inertia: impl Inertia + 'static) -> Self {
        self.inertia = Some(Box::new(inertia));
        self
    }

    /// Constant mass matrix.
    pub fn mass_matrix(self, mass: SymmetricMatrix) -> Self {
        self.inertia(ConstantInertia(mass))
    }

    /// Constant diagonal mass matrix.
    pub fn mass_diagonal(self, entries: &[f64]) -> Self {
        self.mass_matrix(SymmetricMatrix::diagonal(entries))
    }

    /// Kinetic energy T(q, v): M and the covariant force follow by automatic differentiation.
    pub fn kinetic_energy<F>(self, energy: F) -> Self
    where
        F: Fn(&[Jet], &[Jet]) -> Jet + Send + Sync + 'static,
    {
        self.inertia(KineticEnergy(energy))
    }

    /// Potential V(q): the force −∇V follows by automatic differentiation.
    pub fn potential<F>(self, energy: F) -> Self
    where
        F: Fn(&[Jet]) -> Jet + Send + Sync + 'static,
    {
        self.potential_function(AutoPotential(energy))
    }

    /// Any potential.
    pub fn potential_function(mut self, potential: impl Potential + 'static) -> Self {
        self.potential = Some(Box::new(potential));
        self
    }

    /// Constant generalized force F with the potential −F·q (a weight).
    pub fn dead_load(self, force: &[f64]) -> Self {
        self.potential_function(DeadLoad(force.to_vec()))
    }

    /// External force f(t, q, v), booked as external work.
    pub fn force<F>(self, force: F) -> Self
    where
        F: Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    {
        self.force_function(GivenForce {
            dependence: ForceDependence::State,
            evaluate: force,
        })
    }

    /// External force that depends on time alone.
    pub fn load<F>(self, load: F) -> Self
    where
        F: Fn(f64, &mut [f64]) + Send + Sync + 'static,
    {
        self.force_function(GivenForce {
            dependence: ForceDependence::Time,
            evaluate: move |t: f64, _: &[f64], _: &[f64], out: &mut [f64]| load(t, out),
        })
    }

    /// Any force.
    pub fn force_function(mut self, force: impl Force + 'static) -> Self {
        self.force = Some(Box::new(force));
        self
    }

    /// Where forces and friction may jump or bend.
    #[doc(hidden)]
    pub fn switches(mut self, switches: impl Switches + 'static) -> Self {
        self.switches = Some(Box::new(switches));
        self
    }

    /// What forces and friction read of the past; once for the whole system.
    pub fn past(mut self, reading: PastReading) -> Self {
        self.reading = Some(reading);
        self
    }

    /// A controller in discrete time, whose outputs forces find in [`Instant::held`] after those of earlier ones.
    pub fn controller(mut self, controller: Arc<dyn SampledController>) -> Self {
        self.controllers.push(controller);
        self
    }

    /// External force that reads the past, with what it reads.
    pub fn delayed_force<F>(self, reading: PastReading, force: F) -> Self
    where
        F: Fn(&PastView, &[f64], &mut [f64]) + Send + Sync + 'static,
    {
        self.past(reading).force_function(DelayedForce(force))
    }

    /// Linear stiffness K.
    pub fn stiffness(mut self, stiffness: SymmetricMatrix) -> Self {
        self.linear
            .get_or_insert_with(LinearPart::default)
            .stiffness = Some(stiffness);
        self
    }

    /// Linear damping C.
    pub fn damping(mut self, damping: SymmetricMatrix) -> Self {
        self.linear.get_or_insert_with(LinearPart::default).damping = Some(damping);
        self
    }

    /// Adds a unilateral constraint.
    pub fn constraint(mut self, constraint: UnilateralConstraint) -> Self {
        self.constraints.push(constraint);
        self
    }

    /// Adds a joint.
    pub fn joint(mut self, joint: BilateralConstraint) -> Self {
        self.joints.push(joint);
        self
    }

    /// Largest initial penetration and opening of a joint that is accepted (default: 1e-9 of the numbers that cancel in it).
    pub fn penetration_tolerance(mut self, tolerance: f64) -> Self {
        self.penetration_tolerance = Some(tolerance);
        self
    }

    /// How negative K and C may be, relative to their largest entry (default 1e-12): matrices written
    /// with few digits need more.
    pub fn semidefinite_tolerance(mut self, tolerance: f64) -> Self {
        self.semidefinite_tolerance = tolerance;
        self
    }

    /// Checks everything at the initial configuration and returns the system.
    pub fn build(self, q0: &[f64]) -> Result<GeneralizedSystem, SystemError> {
        if self.names.is_empty() {
            return Err(SystemError::Empty);
        }
        let velocity_names = self.names.iter().map(|name| format!("{name}'")).collect();
        let mut system = GeneralizedSystem {
            names: self.names,
            velocity_names,
            inertia: self.inertia.ok_or(SystemError::MissingMass)?,
            potential: self.potential,
            force: self.force,
            switches: self.switches,
            linear: self.linear,
            constraints: self.constraints,
            joints: self.joints,
            warnings: Vec::new(),
            notes: self.notes,
            reading: self.reading,
            controllers: self.controllers,
        };
        check::check_names(&system)?;
        check::check_matrices(&system, self.semidefinite_tolerance)?;
        check::check_configuration(&system, q0, self.penetration_tolerance)?;
        system.warnings = check::dependent_constraints(&system, q0);
        Ok(system)
    }
}
