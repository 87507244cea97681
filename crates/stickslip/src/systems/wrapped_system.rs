//! Systems that hand on the questions to another one.

use std::sync::Arc;

use crate::algebra::SymmetricMatrix;

use super::past_motion::{PastMotion, PastReading};
use super::{
    BilateralConstraint, ForceDependence, Instant, LinearPart, MechanicalSystem, SampledController,
    Sparsity, UnilateralConstraint, World,
};

/// A system that answers as the one inside it does, but for its external force, its controllers and its past.
///
/// Every other answer is handed on below, once for all wrappers: one that is forgotten would change the mechanics in silence.
pub trait WrappedSystem: Send + Sync {
    /// The system inside.
    fn system(&self) -> &dyn MechanicalSystem;

    /// As [`MechanicalSystem::force_dependence`].
    fn force_dependence(&self) -> ForceDependence {
        self.system().force_dependence()
    }

    /// As [`MechanicalSystem::force`].
    fn force(&self, at: &Instant, out: &mut [f64]) {
        self.system().force(at, out);
    }

    /// As [`MechanicalSystem::force_derivatives`].
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        self.system().force_derivatives(at, dq, dv)
    }

    /// As [`MechanicalSystem::controllers`].
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        self.system().controllers()
    }

    /// As [`MechanicalSystem::held`].
    fn held(&self) -> Option<&[f64]> {
        self.system().held()
    }

    /// As [`MechanicalSystem::past`].
    fn past(&self) -> Option<&PastMotion> {
        self.system().past()
    }
}

impl<S: WrappedSystem> MechanicalSystem for S {
    fn dof(&self) -> usize {
        self.system().dof()
    }
    fn sparsity(&self) -> Option<&Sparsity> {
        self.system().sparsity()
    }
    fn new_matrix(&self) -> SymmetricMatrix {
        self.system().new_matrix()
    }
    fn coordinate_count(&self) -> usize {
        self.system().coordinate_count()
    }
    fn coordinate_names(&self) -> &[String] {
        self.system().coordinate_names()
    }
    fn velocity_names(&self) -> &[String] {
        self.system().velocity_names()
    }
    fn mass_is_constant(&self) -> bool {
        self.system().mass_is_constant()
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        self.system().mass(q, out);
    }
    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        self.system().kinetic_energy(q, v)
    }
    fn as_world(&self) -> Option<&World> {
        self.system().as_world()
    }
    fn has_covariant_force(&self) -> bool {
        self.system().has_covariant_force()
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.system().covariant_force(q, v, out);
    }
    fn force_dependence(&self) -> ForceDependence {
        WrappedSystem::force_dependence(self)
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        WrappedSystem::force(self, at, out);
    }
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        WrappedSystem::force_derivatives(self, at, dq, dv)
    }
    fn switches(&self, at: &Instant, out: &mut Vec<f64>) {
        self.system().switches(at, out);
    }
    fn has_potential(&self) -> bool {
        self.system().has_potential()
    }
    fn potential(&self, q: &[f64]) -> f64 {
        self.system().potential(q)
    }
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]) {
        self.system().potential_gradient(q, out);
    }
    fn potential_is_linear(&self) -> bool {
        self.system().potential_is_linear()
    }
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        self.system().potential_hessian(q, out)
    }
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) -> bool {
        self.system().discrete_gradient(q0, q1, out)
    }
    fn linear_part(&self) -> Option<&LinearPart> {
        self.system().linear_part()
    }
    fn displace(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        self.system().displace(q, v, h, out);
    }
    fn coordinate_rates(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.system().coordinate_rates(q, v, out);
    }
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        WrappedSystem::controllers(self)
    }
    fn held(&self) -> Option<&[f64]> {
        WrappedSystem::held(self)
    }
    fn turns(&self) -> bool {
        self.system().turns()
    }
    fn coast(&self, q: &[f64], v: &[f64], h: f64, q_out: &mut [f64], v_out: &mut [f64]) {
        self.system().coast(q, v, h, q_out, v_out);
    }
    fn momentum(&self, q: &[f64], v: &[f64]) -> Option<[f64; 6]> {
        self.system().momentum(q, v)
    }
    fn wrench(&self, q: &[f64], impulse: &[f64]) -> Option<[f64; 6]> {
        self.system().wrench(q, impulse)
    }
    fn warnings(&self) -> Vec<String> {
        self.system().warnings()
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        self.system().constraints()
    }
    fn joints(&self) -> &[BilateralConstraint] {
        self.system().joints()
    }
    fn past_reading(&self) -> Option<&PastReading> {
        self.system().past_reading()
    }
    fn past(&self) -> Option<&PastMotion> {
        WrappedSystem::past(self)
    }
}
