//! Energies of a state and small sums shared by the schemes.

use crate::algebra::SymmetricMatrix;
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
