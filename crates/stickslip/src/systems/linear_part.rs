//! The linear part of the internal force.

use crate::algebra::{SymmetricMatrix, long_dot};

/// Linear elastic and viscous part `K q + C v` of the internal force.
///
/// On a mesh K q is a small difference of large numbers: neighbouring nodes move almost alike. The
/// rounding of plain sums would show in the energy account many times over, so there products with
/// K are summed with compensation, and displacements are taken relative to one node of each part
/// that nothing holds, which K cannot tell from the displacements themselves.
#[derive(Clone, Debug, Default)]
pub struct LinearPart {
    /// Stiffness K, symmetric positive semidefinite.
    pub stiffness: Option<SymmetricMatrix>,
    /// Damping C, symmetric positive semidefinite.
    pub damping: Option<SymmetricMatrix>,
    /// Whether products with K are summed with compensation.
    pub compensated: bool,
    /// Translations that K does not resist: for each the coordinates that it moves alike.
    pub translations: Vec<Vec<u32>>,
}

/// Room for products with K, reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct ElasticScratch {
    relative: Vec<f64>,
    force: Vec<f64>,
}

impl LinearPart {
    /// Displacements with the free translations taken off; `q` itself where there are none.
    pub fn relative<'a>(&self, q: &'a [f64], scratch: &'a mut Vec<f64>) -> &'a [f64] {
        if self.translations.is_empty() {
            return q;
        }
        scratch.clear();
        scratch.extend_from_slice(q);
        for list in &self.translations {
            let shift = list.first().map_or(0.0, |&first| q[first as usize]);
            for &i in list {
                scratch[i as usize] -= shift;
            }
        }
        scratch
    }

    /// Writes K q; nothing is written without a stiffness.
    pub fn elastic_force(&self, q: &[f64], scratch: &mut ElasticScratch, out: &mut [f64]) {
        match &self.stiffness {
            Some(stiffness) if self.compensated => {
                stiffness.multiply_compensated(self.relative(q, &mut scratch.relative), out);
            }
            Some(stiffness) => stiffness.multiply(self.relative(q, &mut scratch.relative), out),
            None => {}
        }
    }

    /// ½ q·K q.
    pub fn elastic_energy(&self, q: &[f64], scratch: &mut ElasticScratch) -> f64 {
        let Some(stiffness) = &self.stiffness else {
            return 0.0;
        };
        let ElasticScratch { relative, force } = scratch;
        let relative = self.relative(q, relative);
        if !self.compensated {
            return 0.5 * stiffness.bilinear(relative, relative);
        }
        force.resize(q.len(), 0.0);
        stiffness.multiply_compensated(relative, force);
        0.5 * long_dot(relative, force)
    }

    /// q·K q summed plainly, where it is a small correction.
    pub fn plain_form(&self, q: &[f64], scratch: &mut ElasticScratch) -> f64 {
        let relative = self.relative(q, &mut scratch.relative);
        match &self.stiffness {
            Some(stiffness) => stiffness.bilinear(relative, relative),
            None => 0.0,
        }
    }
}
