//! Energies of a state and small sums shared by the schemes.

use crate::algebra::SymmetricMatrix;
use crate::contact::ContactProblem;
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

/// Size of the momenta that cancel where impulses stop the velocity `left`, at the velocity v of their work: |v|·|M| |left|. Velocities
/// keep a rounding of that size, which inertia that couples coordinates carries into the works of others. Meshes have none of it.
pub(super) fn momentum_size(mass: &SymmetricMatrix, v: &[f64], left: &[f64]) -> f64 {
    if mass.sparse().is_some() {
        return 0.0;
    }
    let rows = v.iter().enumerate();
    rows.map(|(i, v)| v.abs() * row_size(mass, i, left)).sum()
}

/// |M| |v| by rows, of which balances that nearly cancel keep a rounding; zero for meshes.
pub(super) fn write_momentum_size(mass: &SymmetricMatrix, v: &[f64], out: &mut [f64]) {
    let dense = mass.sparse().is_none();
    for (i, out) in out.iter_mut().enumerate() {
        *out = if dense { row_size(mass, i, v) } else { 0.0 };
    }
}

/// Σ |m_ij v_j| of a row.
fn row_size(mass: &SymmetricMatrix, i: usize, v: &[f64]) -> f64 {
    let parts = v.iter().enumerate();
    parts.map(|(j, v)| (mass.get(i, j) * v).abs()).sum()
}

/// Size of the works of friction along the rows of contacts with several of them, sliding and rolling, whose sum is one term: a wheel at rest
/// that both hold has works that cancel.
pub(super) fn rows_size(problem: &ContactProblem, impulse: &[f64], v: &[f64]) -> f64 {
    let several = problem.blocks().iter().filter(|block| block.size > 2);
    let rows = several.flat_map(|block| block.start + 1..block.start + block.size);
    rows.filter(|&i| impulse[i] != 0.0)
        .map(|i| (impulse[i] * problem.row_dot(i, v)).abs())
        .sum()
}
