//! What joints leave of velocities at a configuration, in the metric of the mass.

use crate::algebra::{CholeskyFactor, PivotedCholesky, dot};
use crate::stepping::GAP_ROUNDING;
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;

/// Rounding of a function with this gradient at (t, q): that of the numbers that cancel in it.
pub(super) fn rounding(
    function: &dyn ScalarFunction,
    gradient: &[f64],
    (t, q): (f64, &[f64]),
) -> f64 {
    let size: f64 = gradient.iter().zip(q).map(|(g, q)| (g * q).abs()).sum();
    GAP_ROUNDING * (size + function.magnitude(t, q))
}

/// Joints hold within so many units of their rounding.
const SETTLED: f64 = 32.0;

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
        let rows = (system.joints().iter())
            .map(|joint| {
                let mut row = vec![0.0; system.dof()];
                joint.function().gradient(t, q, &mut row);
                row
            })
            .collect();
        Self::of_rows(system, q, rows)
    }

    /// The same as if there were no joints.
    pub fn without_joints(system: &dyn MechanicalSystem, q: &[f64]) -> Option<Self> {
        Self::of_rows(system, q, Vec::new())
    }

    fn of_rows(system: &dyn MechanicalSystem, q: &[f64], rows: Vec<Vec<f64>>) -> Option<Self> {
        if system.sparsity().is_some() || system.as_world().is_some() {
            return None;
        }
        let mut matrix = system.new_matrix();
        system.mass(q, &mut matrix);
        let mut mass = CholeskyFactor::default();
        mass.factor(&matrix).ok()?;
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
        let (mut next, mut first) = (q.clone(), Vec::new());
        let mut last: Vec<f64> = Vec::new();
        for _ in 0..40 {
            let Some(mut space) = Self::at(system, t, q) else {
                return false;
            };
            let functions = || system.joints().iter().map(|joint| joint.function());
            let mut defects: Vec<f64> = functions().map(|f| f.value(t, q)).collect();
            let small = (functions().zip(&defects).zip(&space.rows))
                .all(|((f, defect), row)| defect.abs() <= SETTLED * rounding(f, row, (t, &*q)));
            if small {
                return true;
            }
            last.clone_from(&defects);
            if first.is_empty() {
                first.clone_from(&defects);
            }
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
        let largest = |defects: &[f64]| defects.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        largest(&last) <= 1e-9 * largest(&first)
    }
}
