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

/// Work that moving obstacles do through the contacts.
pub(crate) fn supports(contacts: &[ContactRecord]) -> f64 {
    contacts
        .iter()
        .map(|c| c.work_support[0] + c.work_support[1])
        .sum()
}

/// Work of normal impulses on velocities relative to the obstacles.
pub(crate) fn contact_normal(contacts: &[ContactRecord]) -> f64 {
    contacts.iter().map(|c| c.relative_works()[0]).sum()
}

/// Work of friction on velocities relative to the obstacles.
pub(crate) fn contact_tangential(contacts: &[ContactRecord]) -> f64 {
    contacts.iter().map(|c| c.relative_works()[1]).sum()
}
