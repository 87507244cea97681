//! How far impulses are from solving a Coulomb problem, recomputed from the
//! problem and the impulses alone; no solver shares this code.
//!
//! # What it computes
//!
//! The natural map of the law in De Saxcé's form, F(r) = r − P_K(r − ρ(u + μ|u_T| e_N)) with
//! u = W r + q computed afresh:
//!
//! * `error` = ‖F‖/‖q‖ with ρ = 1, the figure most solvers use;
//! * `scaled_error` = ‖F‖/(ρ‖q‖) with ρ = rows/trace W, which does not change
//!   with the units of mass, length or time;
//! * `floor` = 8 ε (‖|W||r| + |q|‖ + ‖r‖)/‖q‖, below which `error` is rounding.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; De Saxcé's change of variable and the natural map are
//! standard.
//!
//! # Guarantees
//!
//! `error` = 0 exactly for solutions; both errors are non-negative and finite for finite impulses.
//!
//! # Behaviour to know
//!
//! `error` depends on the unit of mass: dividing all masses by 1000 changes the ratio
//! of the two terms in the map. In tall stacks and with large mass ratios ‖r‖ is much larger than ‖q‖ and
//! the floor lies above 1e-12.
//!
//! # Cost
//!
//! One pass over W.
//!
//! # Tested by
//!
//! Tests below; every solver test is judged by this file.

use super::coulomb_problem::CoulombProblem;

/// Relative rounding of double precision as the floor counts it.
const EPSILON: f64 = 2.2e-16;

/// Measures of one impulse vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoulombResidual {
    /// Natural map with ρ = 1 over ‖q‖.
    pub error: f64,
    /// Natural map with ρ = rows/trace W over ρ‖q‖.
    pub scaled_error: f64,
    /// Level of rounding in `error`.
    pub floor: f64,
}

impl CoulombResidual {
    /// Judges the impulses `r`; infinite errors if `r` is not finite.
    pub fn of(problem: &CoulombProblem, r: &[f64]) -> Self {
        Self::with_velocity(problem, r).0
    }

    /// The same, and the velocity W r + q it computes on the way (empty if `r` is not finite or of wrong size).
    pub fn with_velocity(problem: &CoulombProblem, r: &[f64]) -> (Self, Vec<f64>) {
        let infinite = Self {
            error: f64::INFINITY,
            scaled_error: f64::INFINITY,
            floor: 0.0,
        };
        let d = problem.dimension();
        if r.len() != d * problem.contacts() || r.iter().any(|x| !x.is_finite()) {
            return (infinite, Vec::new());
        }
        let q = problem.free_velocity();
        // Without impulses nothing need be multiplied.
        let at_rest = r.iter().all(|&x| x == 0.0);
        let mut u = q.to_vec();
        let mut terms = q.to_vec();
        if !at_rest {
            let w = problem.matrix();
            w.multiply_plus_with_sizes(r, q, &mut u, &mut terms);
        }
        let q_norm = match norm(q) {
            0.0 => 1.0,
            positive => positive,
        };
        let trace = problem.matrix().trace();
        let rho = if trace > 0.0 {
            r.len() as f64 / trace
        } else {
            1.0
        };
        let natural = |rho| match d {
            2 => natural_map::<2>(&u, r, problem.friction(), rho),
            _ => natural_map::<3>(&u, r, problem.friction(), rho),
        };
        let residual = Self {
            error: natural(1.0) / q_norm,
            scaled_error: natural(rho) / (rho * q_norm),
            floor: 8.0 * EPSILON * (norm(&terms) + norm(r)) / q_norm,
        };
        (residual, u)
    }

    /// Judges impulses whose velocity u = W r + q in space is known but not W itself; `trace` is that of W. The floor
    /// counts the terms of u by ‖u − q‖ + ‖q‖, which is no more than the true figure.
    pub(crate) fn of_velocity(
        u: &[f64],
        r: &[f64],
        q: &[f64],
        friction: &[f64],
        trace: f64,
    ) -> Self {
        let size = norm(q);
        let q_norm = if size > 0.0 { size } else { 1.0 };
        let rho = if trace > 0.0 {
            r.len() as f64 / trace
        } else {
            1.0
        };
        let moved: f64 = u
            .iter()
            .zip(q)
            .map(|(u, q)| (u - q) * (u - q))
            .sum::<f64>()
            .sqrt();
        Self {
            error: natural_map::<3>(u, r, friction, 1.0) / q_norm,
            scaled_error: natural_map::<3>(u, r, friction, rho) / (rho * q_norm),
            floor: 8.0 * EPSILON * (moved + size + norm(r)) / q_norm,
        }
    }

    /// The scale-free error or the plain one.
    pub fn measured(&self, scale_free: bool) -> f64 {
        if scale_free {
            self.scaled_error
        } else {
            self.error
        }
    }

    /// Whether `error` is within the tolerance, or at the floor of rounding where that lies
    /// above (never more than 100 times the tolerance).
    pub fn accepts(&self, tolerance: f64) -> bool {
        self.error <= tolerance.max(self.floor.min(100.0 * tolerance))
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖r − P_K(r − ρ(u + μ|u_T| e_N))‖ over all contacts of dimension `D`.
fn natural_map<const D: usize>(u: &[f64], r: &[f64], friction: &[f64], rho: f64) -> f64 {
    let mut sum = 0.0;
    for ((u, r), &mu) in u.chunks_exact(D).zip(r.chunks_exact(D)).zip(friction) {
        let slip = norm(&u[1..D]);
        let mut z = [0.0; D];
        z[0] = r[0] - rho * (u[0] + mu * slip);
        for k in 1..D {
            z[k] = r[k] - rho * u[k];
        }
        let tangential = norm(&z[1..]);
        let (normal, factor) = if mu * tangential <= -z[0] {
            (0.0, 0.0)
        } else if tangential <= mu * z[0] {
            (z[0], 1.0)
        } else {
            let normal = (z[0] + mu * tangential) / (1.0 + mu * mu);
            (normal, mu * normal / tangential)
        };
        sum += (r[0] - normal).powi(2);
        for k in 1..D {
            sum += (r[k] - factor * z[k]).powi(2);
        }
    }
    sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sliding() -> CoulombProblem {
        let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        CoulombProblem::from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5]).unwrap()
    }

    #[test]
    fn exact_solution_has_no_residual_and_a_wrong_one_has() {
        assert!(CoulombResidual::of(&sliding(), &[1.0, 0.5, 0.0]).error < 1e-15);
        assert!(CoulombResidual::of(&sliding(), &[1.0, 0.4, 0.0]).error > 1e-3);
        assert!(
            CoulombResidual::of(&sliding(), &[f64::NAN, 0.4, 0.0])
                .error
                .is_infinite()
        );
    }

    #[test]
    fn scaled_error_does_not_see_the_unit_of_mass() {
        let w: Vec<f64> = [1.0, 0.2, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0].to_vec();
        let heavy: Vec<f64> = w.iter().map(|x| x * 1e-6).collect();
        let q = vec![-1.0, -5.0, 0.3];
        let light = CoulombProblem::from_dense(3, &w, q.clone(), vec![0.5]).unwrap();
        let heavy = CoulombProblem::from_dense(3, &heavy, q, vec![0.5]).unwrap();
        let a = CoulombResidual::of(&light, &[1.0, 0.4, 0.1]).scaled_error;
        let b = CoulombResidual::of(&heavy, &[1e6, 0.4e6, 0.1e6]).scaled_error;
        assert!((a - b).abs() < 1e-12 * a);
    }
}
