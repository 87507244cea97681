//! Restitution of the generalized law: what its normal stage is told.

use crate::contact::{ContactProblem, NormalStage};
use crate::laws::{ImpactLaw, ImpactRule};

use super::assembly::{ActiveContact, ContactAssembly};

/// Chooses the normal stage from the approach velocities at the start of the step. Where nothing
/// approaches it stays inelastic, so that a resting body rests.
pub(crate) fn set_normal_stage(
    assembly: &ContactAssembly,
    rule: Option<&dyn ImpactRule>,
    problem: &mut ContactProblem,
) {
    let owners = || assembly.active.iter().filter(|c| c.owns_normal);
    let blocks = problem.blocks();
    let before = |contact: &ActiveContact| assembly.before[blocks[contact.block].start];
    if !owners().any(|c| before(c) < 0.0) {
        return;
    }
    let stage = if let Some(rule) = rule {
        let (m, k) = (problem.size(), blocks.len());
        let normal: Vec<f64> = (0..k * k)
            .map(|e| problem.dense()[blocks[e / k].start * m + blocks[e % k].start])
            .collect();
        let u: Vec<f64> = owners().map(before).collect();
        let mut after = vec![0.0; k];
        let active: Vec<usize> = owners().map(|c| blocks[c.block].key.constraint()).collect();
        rule.after_among(&active, &normal, &u, &mut after);
        NormalStage::Biased(after.iter().map(|x| -x).collect())
    } else {
        let restitution = |c: &ActiveContact| {
            if before(c) < 0.0 {
                c.impact.restitution()
            } else {
                0.0
            }
        };
        if owners().any(|c| matches!(c.impact, ImpactLaw::Poisson { .. })) {
            NormalStage::Poisson {
                restitutions: owners().map(restitution).collect(),
            }
        } else if owners().any(|c| restitution(c) > 0.0) {
            NormalStage::Biased(owners().map(|c| restitution(c) * before(c)).collect())
        } else {
            return;
        }
    };
    *problem.normal_stage_mut() = stage;
}
