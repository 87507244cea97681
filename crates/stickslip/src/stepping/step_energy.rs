//! Energies of a state and small sums shared by the schemes.

use crate::algebra::SymmetricMatrix;
use crate::systems::MechanicalSystem;

/// ½ v·M v.
pub(crate) fn kinetic(mass: &SymmetricMatrix, v: &[f64]) -> f64 {
    0.5 * mass.bilinear(v, v)
}

/// V(q) + ½ q·K q.
pub(crate) fn potential(system: &dyn MechanicalSystem, q: &[f64]) -> f64 {
    let elastic = system
        .linear_part()
        .and_then(|linear| linear.stiffness.as_ref())
        .map_or(0.0, |stiffness| 0.5 * stiffness.bilinear(q, q));
    system.potential(q) + elastic
}
