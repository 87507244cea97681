//! Energies of a state and small sums shared by the schemes.

use crate::algebra::SymmetricMatrix;
use crate::records::ContactRecord;
use crate::systems::{ElasticScratch, MechanicalSystem};

/// ½ v·M v.
pub(crate) fn kinetic(mass: &SymmetricMatrix, v: &[f64]) -> f64 {
    0.5 * mass.bilinear(v, v)
}

/// V(q) + ½ q·K q.
pub(crate) fn potential(system: &dyn MechanicalSystem, q: &[f64]) -> f64 {
    let elastic = system.linear_part().map_or(0.0, |linear| {
        linear.elastic_energy(q, &mut ElasticScratch::default())
    });
    system.potential(q) + elastic
}

/// Works of the contacts: of moving obstacles through them, and of normal impulses and of friction on the velocities
/// relative to the obstacles.
pub(crate) struct ContactWork {
    pub supports: f64,
    pub normal: f64,
    pub tangential: f64,
}

impl ContactWork {
    /// Sums over the contacts of a step.
    #[inline]
    pub fn of(contacts: &[ContactRecord]) -> Self {
        let [mut supports, mut normal, mut tangential] = [0.0; 3];
        for contact in contacts {
            let relative = contact.relative_works();
            supports += contact.work_support[0] + contact.work_support[1];
            normal += relative[0];
            tangential += relative[1];
        }
        Self {
            supports,
            normal,
            tangential,
        }
    }
}
