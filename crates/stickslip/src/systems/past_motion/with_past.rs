//! A system together with what a run knows of it: its past, and the outputs of its controllers.

use crate::algebra::SymmetricMatrix;
use crate::systems::{
    BilateralConstraint, ForceDependence, Instant, LinearPart, MechanicalSystem, Sparsity,
    UnilateralConstraint,
};

use super::{PastMotion, PastReading};

/// What a scheme is handed for a system that reads its past or has controllers: the same system, whose forces and
/// friction now find the past and the held outputs in the instant.
pub struct SystemWithPast<'a> {
    /// The system.
    pub system: &'a dyn MechanicalSystem,
    /// Its past, if it reads one.
    pub past: Option<&'a PastMotion>,
    /// Outputs that its controllers hold.
    pub held: &'a [f64],
}

impl MechanicalSystem for SystemWithPast<'_> {
    fn dof(&self) -> usize {
        self.system.dof()
    }
    fn sparsity(&self) -> Option<&Sparsity> {
        self.system.sparsity()
    }
    fn new_matrix(&self) -> SymmetricMatrix {
        self.system.new_matrix()
    }
    fn coordinate_count(&self) -> usize {
        self.system.coordinate_count()
    }
    fn coordinate_names(&self) -> &[String] {
        self.system.coordinate_names()
    }
    fn velocity_names(&self) -> &[String] {
        self.system.velocity_names()
    }
    fn mass_is_constant(&self) -> bool {
        self.system.mass_is_constant()
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        self.system.mass(q, out);
    }
    fn turns(&self) -> bool {
        self.system.turns()
    }
    fn coast(&self, q: &[f64], v: &[f64], h: f64, q_out: &mut [f64], v_out: &mut [f64]) {
        self.system.coast(q, v, h, q_out, v_out);
    }
    fn momentum(&self, q: &[f64], v: &[f64]) -> Option<[f64; 6]> {
        self.system.momentum(q, v)
    }
    fn wrench(&self, q: &[f64], impulse: &[f64]) -> Option<[f64; 6]> {
        self.system.wrench(q, impulse)
    }
    fn has_covariant_force(&self) -> bool {
        self.system.has_covariant_force()
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.system.covariant_force(q, v, out);
    }
    fn force_dependence(&self) -> ForceDependence {
        self.system.force_dependence()
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        let past = at.past.or(self.past);
        let held = self.held;
        self.system.force(&Instant { past, held, ..*at }, out);
    }
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        let past = at.past.or(self.past);
        let at = Instant {
            past,
            held: self.held,
            ..*at
        };
        self.system.force_derivatives(&at, dq, dv)
    }
    fn has_potential(&self) -> bool {
        self.system.has_potential()
    }
    fn potential(&self, q: &[f64]) -> f64 {
        self.system.potential(q)
    }
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]) {
        self.system.potential_gradient(q, out);
    }
    fn potential_is_linear(&self) -> bool {
        self.system.potential_is_linear()
    }
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        self.system.potential_hessian(q, out)
    }
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) -> bool {
        self.system.discrete_gradient(q0, q1, out)
    }
    fn linear_part(&self) -> Option<&LinearPart> {
        self.system.linear_part()
    }
    fn displace(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        self.system.displace(q, v, h, out);
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        self.system.constraints()
    }
    fn joints(&self) -> &[BilateralConstraint] {
        self.system.joints()
    }
    fn past_reading(&self) -> Option<&PastReading> {
        self.system.past_reading()
    }
    fn past(&self) -> Option<&PastMotion> {
        self.past
    }
}
