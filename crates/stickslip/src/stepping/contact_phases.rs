//! The contact solve of a step: one phase, or two where Poisson's or the energetic law acts.

use crate::algebra::{assign, assign_zeros};
use crate::contact::{BlockKind, ContactBlock};
use crate::laws::ImpactLaw;
use crate::records::{StepOutcome, StepRecord};

use super::ContactStage;
use super::assembly::{ActiveContact, ContactAssembly};
use super::frozen_layers::{self, LayerWork};
use super::slip_friction::SlipReading;

/// Largest velocity whose square is still a number, with room for sums.
const SPEED_MAX: f64 = 1e150;

/// Buffers of the phases.
///
/// Poisson's compression: the impulses `p_C` that stop the approach velocity of the start, without
/// restitution and without forces, are applied first; the expansion then owes `p_N ≥ e p_C,N` on
/// top of them. Reading the velocity of the start instead of the free velocity keeps a resting
/// body at rest: its weight is not an impact. Under the energetic law the whole impact, compression and
/// expansion, is applied first, and so is that of a contact that the solution finds jammed.
#[derive(Debug, Default)]
pub(crate) struct ContactPhases {
    /// Total impulse of all phases, per problem row.
    pub impulse: Vec<f64>,
    /// Free velocity before any phase.
    pub left: Vec<f64>,
    compression: Vec<f64>,
    bias: Vec<f64>,
    moved: Vec<f64>,
    /// Slots that were struck under the energetic law.
    layers: Vec<LayerWork>,
}

impl ContactPhases {
    /// A step without contact, with the given free velocity.
    pub fn without_contact(&mut self, free: &[f64]) {
        assign(&mut self.left, free);
        self.impulse.clear();
        self.layers.clear();
    }

    /// Tells of jams, and moves to the normal works of a record what was done along layers: impulse and velocity of an impact whose slip turns do not tell
    /// what the normal impulse did and what friction. The sums stay.
    pub fn split_works(&self, record: &mut StepRecord) {
        for &LayerWork { slot, excess, jam } in &self.layers {
            let contact = &mut record.contacts[slot];
            contact.jammed = jam;
            contact.work_normal += excess;
            contact.work_tangential -= excess;
        }
    }

    /// Impulse of a row without that of a layer, if its contact was struck under the energetic law.
    pub fn outside_layer(&self, contact: &ActiveContact, row: usize) -> f64 {
        let layer = self.layers.iter().any(|layer| layer.slot == contact.slot);
        self.impulse[row] - if layer { self.compression[row] } else { 0.0 }
    }

    /// Solves the problem in `stage`, whose free velocity and bias are set, for a step that began
    /// with the velocity of the `reading`; returns the residual of the compression (0 without one), or why no law covers
    /// the impact.
    pub fn solve(
        &mut self,
        assembly: &ContactAssembly,
        reading: &SlipReading,
        stage: &mut ContactStage,
    ) -> Result<f64, StepOutcome> {
        if runs_away(stage.problem.velocity_free()) {
            return Err(StepOutcome::NonFinite);
        }
        assign(&mut self.left, stage.problem.velocity_free());
        // The generalized law has its own normal stage.
        let cone_law = stage.problem.generalized_rule().is_none();
        let closing = assembly.active.iter().filter(|_| cone_law).any(|contact| {
            let block = &stage.problem.blocks()[contact.block];
            matches!(contact.impact, ImpactLaw::Poisson { .. })
                && is_rigid(block)
                && assembly.before[block.start] < -resting(assembly, stage, block)
        });
        assign_zeros(&mut self.compression, stage.problem.size());
        let (impulse, works) = (&mut self.compression, &mut self.layers);
        let mut first = frozen_layers::strike(assembly, stage, reading, impulse, works)?;
        let residual = if closing {
            self.compress(assembly, reading.v0, reading.t, stage)
        } else {
            0.0
        };
        first |= closing;
        if first {
            self.expand(stage);
        }
        stage.solve();
        // A jam shows in the solution; what it leaves may jam another contact.
        while frozen_layers::strike_jammed(
            assembly,
            stage,
            reading,
            &mut self.compression,
            &mut self.layers,
        )? {
            first = true;
            self.expand(stage);
            stage.solve();
        }
        assign(&mut self.impulse, &stage.solution.impulse);
        if first {
            for (total, compression) in self.impulse.iter_mut().zip(&self.compression) {
                *total += compression;
            }
        }
        Ok(residual)
    }

    /// Whether a rigid contact of the step approaches.
    pub fn impact(assembly: &ContactAssembly, stage: &ContactStage) -> bool {
        assembly.active.iter().any(|contact| {
            let block = &stage.problem.blocks()[contact.block];
            contact.owns_normal
                && is_rigid(block)
                && assembly.before[block.start] < -resting(assembly, stage, block)
        })
    }

    /// Whether a contact was struck under the energetic law, with an approach or without.
    pub fn has_layers(&self) -> bool {
        !self.layers.is_empty()
    }

    /// Solves the last phase again, with free velocities that joints have changed by `shift`.
    pub fn solve_shifted(&mut self, shift: &[f64], stage: &mut ContactStage) {
        let problem = &mut stage.problem;
        for free in [&mut self.left, problem.velocity_free_mut()] {
            free.iter_mut().zip(shift).for_each(|(v, s)| *v += s);
        }
        problem.refresh();
        stage.solve();
        assign(&mut self.impulse, &stage.solution.impulse);
        let pairs = self.impulse.iter_mut().zip(&self.compression);
        pairs.for_each(|(total, compression)| *total += compression);
    }

    fn compress(
        &mut self,
        assembly: &ContactAssembly,
        before: &[f64],
        t: f64,
        stage: &mut ContactStage,
    ) -> f64 {
        // Compression of the velocity at the start: same W, no bias, no forces.
        let problem = &mut stage.problem;
        self.bias.clear();
        self.bias.extend_from_slice(problem.bias());
        problem.velocity_free_mut().copy_from_slice(before);
        problem.bias_mut().copy_from_slice(&assembly.drift);
        // The turning of the normal along the step is no approach.
        for (bias, turning) in problem.bias_mut().iter_mut().zip(&assembly.turning) {
            *bias -= turning;
        }
        problem.refresh();
        for block in problem.blocks_mut() {
            block.kind = BlockKind::Unilateral { minimum: 0.0 };
        }
        stage.solve();
        let residual = stage.certify(t);

        // Only contacts under Poisson's law keep their compression; they owe the expansion.
        for contact in &assembly.active {
            let ImpactLaw::Poisson { restitution } = contact.impact else {
                continue;
            };
            let block = &mut stage.problem.blocks_mut()[contact.block];
            let rows = block.range();
            let minimum = restitution * stage.solution.impulse[rows.start];
            block.kind = BlockKind::Unilateral { minimum };
            self.compression[rows.clone()].copy_from_slice(&stage.solution.impulse[rows]);
        }

        let problem = &mut stage.problem;
        problem.velocity_free_mut().copy_from_slice(&self.left);
        problem.bias_mut().copy_from_slice(&self.bias);
        residual
    }

    /// The last phase starts from the free velocity after what was applied first.
    fn expand(&mut self, stage: &mut ContactStage) {
        let problem = &mut stage.problem;
        self.moved.resize(self.left.len(), 0.0);
        problem.velocity(&self.compression, &mut self.moved);
        problem.velocity_free_mut().copy_from_slice(&self.moved);
        problem.refresh();
        stage.solution.impulse.fill(0.0);
    }
}

/// Whether a motion has run away and is no contact problem any more: the squares of its velocities would be no numbers.
pub(super) fn runs_away(velocity: &[f64]) -> bool {
    velocity.iter().any(|v| v.is_nan() || v.abs() > SPEED_MAX)
}

/// Whether impacts happen to a contact at all: a spring whose force is known has none.
pub(super) fn is_rigid(block: &ContactBlock) -> bool {
    !matches!(block.kind, BlockKind::KnownNormal { .. })
}

/// An approach slower than this is not an impact and has no compression phase: a part of the speeds of the run, from the
/// unit of the gap to that of the contact's normal.
pub(super) fn resting(
    assembly: &ContactAssembly,
    stage: &ContactStage,
    block: &ContactBlock,
) -> f64 {
    let constraint = block.key.constraint();
    let (rate, normal) = (assembly.approach[constraint], assembly.before[block.start]);
    let per_rate = if rate != 0.0 {
        (normal / rate).abs()
    } else {
        0.0
    };
    per_rate * stage.scales.resting_rate(constraint)
}
