//! Whether the normals of material contact points are those of their gaps, wherever a run goes.

use crate::contact::ContactKey;
use crate::records::{ContactMode, StepRecord};
use crate::stepping::ContactScales;
use crate::systems::frame::misalignment;
use crate::systems::{ContactFrame, MechanicalSystem};

/// Steps between two looks at contacts that stay closed: along a motion normals turn gradually.
const STEPS: u64 = 16;
/// Part of the length of the run up to which a gap counts as closed: normal and gap need not agree off the obstacle.
pub(in crate::simulation) const NEAR: f64 = 1e-7;
/// Sine of the angle beyond which a normal is not that of its gap.
pub(in crate::simulation) const ANGLE: f64 = 1e-5;

/// Looks at the frames of contacts that carry an impulse: when one begins to, and every 16 steps.
///
/// A frame given by a material point has a normal of its own, an expression or a closure beside the gap. At the start of a run both
/// are compared by the scene; a normal that is right there alone (straight up at the bottom of a bowl) is found here.
#[derive(Debug)]
pub(super) struct FrameWatch {
    /// Constraints with material points.
    material: Vec<usize>,
    /// How many contacts carried an impulse in the step before.
    pressed: usize,
    gradient: Vec<f64>,
    rows: Vec<f64>,
}

impl FrameWatch {
    /// Watches the material contact points of a system; those of meshes are built with their gaps.
    pub fn new(system: &dyn MechanicalSystem) -> Self {
        let is_material = |frame: &ContactFrame| matches!(frame, ContactFrame::Material { .. });
        let constraints = system.constraints().iter().enumerate();
        let material = constraints
            .filter(|(_, c)| c.points().iter().any(|point| is_material(&point.frame)))
            .map(|(c, _)| c);
        let dense = system.sparsity().is_none();
        Self {
            material: material.filter(|_| dense).collect(),
            pressed: 0,
            gradient: vec![0.0; system.dof()],
            rows: Vec::new(),
        }
    }

    /// The first contact of the step just made whose normal is not that of its gap.
    #[inline]
    pub fn observe(
        &mut self,
        system: &dyn MechanicalSystem,
        (step, record): (u64, &StepRecord),
        scales: &ContactScales,
    ) -> Option<ContactKey> {
        if self.material.is_empty() {
            return None;
        }
        self.look(system, (step, record), scales)
    }

    /// The same where there are such points.
    #[inline(never)] // Others have no need of its frame.
    fn look(
        &mut self,
        system: &dyn MechanicalSystem,
        (step, record): (u64, &StepRecord),
        scales: &ContactScales,
    ) -> Option<ContactKey> {
        let pressed = record.active_contacts();
        let due = pressed != self.pressed || step.is_multiple_of(STEPS);
        self.pressed = pressed;
        if !due || pressed == 0 {
            return None;
        }
        let mut contacts = record.contacts.iter();
        let foreign = contacts.find(|contact| {
            let (c, point) = (contact.key.constraint(), contact.key.point());
            let watched = contact.mode != ContactMode::Open && self.material.contains(&c);
            watched && contact.gap.abs() <= NEAR * scales.length(c) && {
                let constraint = &system.constraints()[c];
                let frame = &constraint.points()[point].frame;
                let (t, q, n) = (record.t, &record.q, self.gradient.len());
                constraint.gap().gradient(t, q, &mut self.gradient);
                self.rows.resize((1 + frame.tangent_count()) * n, 0.0);
                frame.rows(t, q, &self.gradient, &mut self.rows);
                !(misalignment(&self.gradient, &self.rows[..n]) <= ANGLE)
            }
        });
        foreign.map(|contact| contact.key)
    }
}
