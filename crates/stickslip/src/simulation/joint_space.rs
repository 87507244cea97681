//! What joints leave of velocities at a configuration, in the metric of the mass.

use crate::algebra::{CholeskyFactor, PivotedCholesky, dot, largest_size};
use crate::systems::MechanicalSystem;

/// Rows of the joints at a configuration, with the mass.
pub(super) struct JointSpace {
    mass: CholeskyFactor,
    rows: Vec<Vec<f64>>,
    /// M⁻¹ of the rows.
    responses: Vec<Vec<f64>>,
    /// Of the Gram matrix of the rows.
    gram: PivotedCholesky,
}

impl JointSpace {
    /// None where the mass is not positive, on meshes and in worlds.
    pub fn at(system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> Option<Self> {
        if system.sparsity().is_some() || system.as_world().is_some() {
            return None;
        }
        let mut matrix = system.new_matrix();
        system.mass(q, &mut matrix);
        let mut mass = CholeskyFactor::default();
        mass.factor(&matrix).ok()?;
        let rows: Vec<Vec<f64>> = (system.joints().iter())
            .map(|joint| {
                let mut row = vec![0.0; system.dof()];
                joint.function().gradient(t, q, &mut row);
                row
            })
            .collect();
        let mut responses = rows.clone();
        (responses.iter_mut()).for_each(|response| mass.solve_in_place(response));
        let products = rows
            .iter()
            .flat_map(|row| responses.iter().map(move |response| dot(row, response)));
        let products: Vec<f64> = products.collect();
        let mut gram = PivotedCholesky::default();
        gram.factor(rows.len(), &products);
        Some(Self {
            mass,
            rows,
            responses,
            gram,
        })
    }

    /// Whether rows of joints depend on each other.
    pub fn depends(&self) -> bool {
        self.gram.rank() < self.rows.len()
    }

    /// M⁻¹ of a covector, and what the joints leave of it.
    pub fn responses(&self, covector: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut whole = covector.to_vec();
        self.mass.solve_in_place(&mut whole);
        let mut held: Vec<f64> = self.rows.iter().map(|row| dot(row, &whole)).collect();
        self.gram.clone().solve_in_place(&mut held);
        let mut left = whole.clone();
        for (response, factor) in self.responses.iter().zip(&held) {
            (left.iter_mut().zip(response)).for_each(|(x, r)| *x -= factor * r);
        }
        (whole, left)
    }

    /// Brings a configuration back to the joints by Newton's method; false where it does not come there.
    pub fn settle(system: &dyn MechanicalSystem, t: f64, q: &mut Vec<f64>) -> bool {
        let (mut next, mut first) = (q.clone(), None);
        let mut last = f64::INFINITY;
        for _ in 0..40 {
            let Some(mut space) = Self::at(system, t, q) else {
                return false;
            };
            let mut defects: Vec<f64> = (system.joints().iter())
                .map(|joint| joint.function().value(t, q))
                .collect();
            let small = defects.iter().zip(&space.rows).all(|(defect, row)| {
                let size: f64 = row.iter().zip(&*q).map(|(r, q)| (r * q).abs()).sum();
                defect.abs() <= 1e-13 * size
            });
            if small {
                return true;
            }
            last = largest_size(0.0, &defects);
            first.get_or_insert(last);
            space.gram.solve_in_place(&mut defects);
            let mut step = vec![0.0; system.dof()];
            for (response, defect) in space.responses.iter().zip(&defects) {
                (step.iter_mut().zip(response)).for_each(|(x, r)| *x -= defect * r);
            }
            if step.iter().any(|x| !x.is_finite()) {
                return false;
            }
            system.displace(q, &step, 1.0, &mut next);
            std::mem::swap(q, &mut next);
        }
        // Rounding of terms that cancel.
        first.is_some_and(|first| last <= 1e-9 * first)
    }
}
