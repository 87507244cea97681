//! The recorded steps of a world.

use std::ops::ControlFlow;

use crate::records::{EnergyEntry, StepRecord};
use crate::simulation::verify::MotionSourceError;

use super::vector::Vector;

/// A contact that took part in a step, as recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeContact {
    /// Numbers of the bodies a and b.
    pub bodies: [usize; 2],
    /// Its number between them.
    pub index: usize,
    /// Place.
    pub place: Vector,
    /// Normal from b to a.
    pub normal: Vector,
    /// Gap at the kick.
    pub gap: f64,
    /// Code of its mode.
    pub mode: u8,
    /// Impulse on a.
    pub impulse: Vector,
    /// Moment of rolling and drilling friction on a.
    pub moment: Vector,
    /// Velocity of a relative to b at the end of the kick.
    pub velocity: Vector,
}

/// The end of a step, and what happened in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldNode {
    /// Time at the end.
    pub t: f64,
    /// Length of the step; 0 for the initial instant.
    pub h: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// Energy account since the start.
    pub totals: EnergyEntry,
    /// Contacts of the step.
    pub contacts: Vec<NodeContact>,
    /// Sums that the world asks to record, in the order of its monitors; none where they are not told.
    pub monitors: Vec<f64>,
}

impl WorldNode {
    /// Takes over a record.
    pub fn read(&mut self, record: &StepRecord) {
        self.t = record.t;
        self.h = record.h;
        self.monitors.clone_from(&record.accounts);
        self.q.clone_from(&record.q);
        self.v.clone_from(&record.velocity);
        self.kinetic = record.kinetic;
        self.potential = record.potential;
        self.totals = record.energy_totals;
        self.contacts.clear();
        self.contacts
            .extend(record.present.iter().map(|contact| NodeContact {
                bodies: contact.key.owners.map(|owner| owner as usize),
                index: contact.key.slot as usize,
                place: contact.place,
                normal: contact.normal,
                gap: contact.gap,
                mode: contact.mode.code(),
                impulse: contact.impulse,
                moment: contact.moment,
                velocity: contact.velocity,
            }));
    }
}

/// Steps in the order of time.
pub trait WorldMotion {
    /// Shows every node, until `see` breaks off.
    fn visit(
        &self,
        see: &mut dyn FnMut(&WorldNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError>;
}

impl WorldMotion for [WorldNode] {
    fn visit(
        &self,
        see: &mut dyn FnMut(&WorldNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        // Whoever breaks off has seen enough; that is no error.
        let _ = self.iter().try_for_each(see);
        Ok(())
    }
}
