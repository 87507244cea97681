//! Restitution of the generalized law: what its normal stage is told.

use crate::contact::NormalStage;
use crate::laws::{ImpactLaw, ImpactRule};

use super::ContactStage;
use super::assembly::{ActiveContact, ContactAssembly};
use super::contact_phases::resting;

/// Chooses the normal stage from the approach velocities at the start of the step. Where nothing
/// approaches it stays inelastic, so that a resting body rests: the rounding that an impact leaves of a velocity is no approach.
pub(crate) fn set_normal_stage(
    assembly: &ContactAssembly,
    rule: Option<&dyn ImpactRule>,
    stage: &mut ContactStage,
) {
    let owners = || assembly.active.iter().filter(|c| c.owns_normal);
    let problem = &stage.problem;
    let blocks = problem.blocks();
    let before = |contact: &ActiveContact| assembly.before[blocks[contact.block].start];
    let approaches = |contact: &ActiveContact| {
        before(contact) < -resting(assembly, stage, &blocks[contact.block])
    };
    if !owners().any(approaches) {
        return;
    }
    let normal_stage = if let Some(rule) = rule {
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
            if approaches(c) {
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
    *stage.problem.normal_stage_mut() = normal_stage;
}
