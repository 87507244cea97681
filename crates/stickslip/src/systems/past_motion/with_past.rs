//! A system together with what a run knows of it: its past, and the outputs of its controllers.

use crate::systems::wrapped_system::WrappedSystem;
use crate::systems::{Instant, MechanicalSystem};

use super::PastMotion;

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

impl SystemWithPast<'_> {
    fn reading<'b>(&'b self, at: &Instant<'b>) -> Instant<'b> {
        Instant {
            past: at.past.or(self.past),
            held: self.held,
            ..*at
        }
    }
}

impl WrappedSystem for SystemWithPast<'_> {
    fn system(&self) -> &dyn MechanicalSystem {
        self.system
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        self.system.force(&self.reading(at), out);
    }
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        self.system.force_derivatives(&self.reading(at), dq, dv)
    }
    fn held(&self) -> Option<&[f64]> {
        Some(self.held)
    }
    fn past(&self) -> Option<&PastMotion> {
        self.past
    }
}
