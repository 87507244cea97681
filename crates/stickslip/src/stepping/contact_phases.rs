//! The contact solve of a step: one phase, or two where Poisson's law acts.

use crate::contact::BlockKind;
use crate::laws::ImpactLaw;

use super::ContactStage;
use super::assembly::ContactAssembly;

/// An approach slower than this is not an impact and has no compression phase.
const APPROACH_MIN: f64 = 1e-10;

/// Buffers of the phases.
///
/// Poisson's compression: the impulses `p_C` that stop the approach velocity of the start, without
/// restitution and without forces, are applied first; the expansion then owes `p_N ≥ e p_C,N` on
/// top of them. Reading the velocity of the start instead of the free velocity keeps a resting
/// body at rest: its weight is not an impact.
#[derive(Debug, Default)]
pub(crate) struct ContactPhases {
    /// Total impulse of all phases, per problem row.
    pub impulse: Vec<f64>,
    /// Free velocity before any phase.
    pub left: Vec<f64>,
    compression: Vec<f64>,
    bias: Vec<f64>,
    moved: Vec<f64>,
}

impl ContactPhases {
    /// Solves the problem in `stage`, whose free velocity and bias are set, for a step that began
    /// with the velocity `before`; returns the residual of the compression (0 without one).
    pub fn solve(
        &mut self,
        assembly: &ContactAssembly,
        before: &[f64],
        t: f64,
        stage: &mut ContactStage,
    ) -> f64 {
        self.left.clear();
        self.left.extend_from_slice(stage.problem.velocity_free());
        // The generalized law has its own normal stage.
        let cone_law = stage.problem.generalized_rule().is_none();
        let closing = assembly.active.iter().filter(|_| cone_law).any(|contact| {
            let start = stage.problem.blocks()[contact.block].start;
            matches!(contact.impact, ImpactLaw::Poisson { .. })
                && assembly.before[start] < -APPROACH_MIN
        });
        let residual = if closing {
            self.compress(assembly, before, t, stage)
        } else {
            0.0
        };
        stage.solve();
        self.impulse.clear();
        self.impulse.extend_from_slice(&stage.solution.impulse);
        if closing {
            for (total, compression) in self.impulse.iter_mut().zip(&self.compression) {
                *total += compression;
            }
        }
        residual
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
        problem.refresh();
        for block in problem.blocks_mut() {
            block.kind = BlockKind::Unilateral { minimum: 0.0 };
        }
        stage.solve();
        let residual = stage.certify(t);

        // Only contacts under Poisson's law keep their compression; they owe the expansion.
        self.compression.clear();
        self.compression.resize(stage.problem.size(), 0.0);
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

        // The expansion starts from the free velocity after compression.
        let problem = &mut stage.problem;
        problem.velocity_free_mut().copy_from_slice(&self.left);
        problem.bias_mut().copy_from_slice(&self.bias);
        self.moved.resize(before.len(), 0.0);
        problem.velocity(&self.compression, &mut self.moved);
        problem.velocity_free_mut().copy_from_slice(&self.moved);
        problem.refresh();
        stage.solution.impulse.fill(0.0);
        residual
    }
}
