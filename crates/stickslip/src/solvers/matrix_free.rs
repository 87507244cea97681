//! Coulomb problems whose W exists only as a product.
//!
//! # What it computes
//!
//! Impulses of u = W r + q under Coulomb's law where the caller offers W r and the diagonal blocks, no more: an
//! elastic body behind a factorisation, a recursive algorithm for chains of bodies, a code of one's own. The method is
//! the accelerated projected gradient with lagged De Saxcé term of [`super::projected_gradient`], in the scaled
//! variables of all solvers, x = s r with s² the mean diagonal of W_ii:
//!
//! ```text
//! x ← P_K(y − (W y + q + s e_N)/L),   s = μ|u_T| renewed every 20 steps and at restarts,   y ← x + β(x − x_prev).
//! ```
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; Nesterov's method with restart.
//!
//! # Guarantees
//!
//! The status is decided by the natural map at the returned impulses with a fresh product.
//!
//! # Behaviour to know
//!
//! Good for 1e-4 to 1e-8; without entries of W neither sweeps nor Newton steps are possible. Where bodies are known
//! [`ContactProblem::with_bodies`](crate::contact::ContactProblem::with_bodies) serves better: its sweeps need no W
//! either and the cascade can use all methods.
//!
//! # Cost
//!
//! One product per step, and one more whenever the estimate L of the largest eigenvalue grows.
//!
//! # Tested by
//!
//! Tests below.

use super::progress::SolverLimits;
use super::projected_gradient::{AcceleratedPoint, LONG_LAG};
use super::scaled_problem::project_cone;
use crate::clock::Stopwatch;
use crate::contact::{
    ContactProblem, ContactProblemError, ContactSolution, SolveCost, SolveStatus, check_friction,
    check_size, check_vector,
};

/// W as the caller knows it; three components per contact, normal first.
pub trait ContactOperator {
    /// Number of contacts.
    fn contacts(&self) -> usize;
    /// Velocities W r, without q.
    fn multiply(&self, impulses: &[f64], velocities: &mut [f64]);
    /// Diagonal of the block W_ii.
    fn diagonal(&self, contact: usize) -> [f64; 3];
}

/// A problem in space, three rows per contact.
impl ContactOperator for ContactProblem {
    fn contacts(&self) -> usize {
        self.blocks().len()
    }

    fn multiply(&self, impulses: &[f64], velocities: &mut [f64]) {
        let zero = vec![0.0; impulses.len()];
        self.delassus().multiply_plus(impulses, &zero, velocities);
    }

    fn diagonal(&self, contact: usize) -> [f64; 3] {
        std::array::from_fn(|k| self.w(3 * contact + k, 3 * contact + k))
    }
}

/// Solves a problem in space given by products, from zero impulses.
///
/// ```
/// use stickslip::solvers::SolverLimits;
/// use stickslip::solvers::matrix_free::{ContactOperator, solve_matrix_free};
///
/// /// A unit mass.
/// struct Particle;
/// impl ContactOperator for Particle {
///     fn contacts(&self) -> usize { 1 }
///     fn multiply(&self, impulses: &[f64], velocities: &mut [f64]) { velocities.copy_from_slice(impulses) }
///     fn diagonal(&self, _: usize) -> [f64; 3] { [1.0; 3] }
/// }
/// let limits = SolverLimits { tolerance: 1e-8, ..SolverLimits::default() };
/// let solution = solve_matrix_free(&Particle, &[-1.0, -5.0, 0.0], &[0.5], &limits)?;
/// assert!(solution.status.is_solved() && (solution.impulse[1] - 0.5).abs() < 1e-7);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
pub fn solve_matrix_free(
    operator: &dyn ContactOperator,
    free_velocity: &[f64],
    friction: &[f64],
    limits: &SolverLimits,
) -> Result<ContactSolution, ContactProblemError> {
    let n = operator.contacts();
    check_size("q", free_velocity.len(), 3 * n)?;
    check_size("mu", friction.len(), n)?;
    check_vector("q", free_velocity)?;
    check_friction(friction)?;
    let begin = Stopwatch::start();
    let mut run = Run::new(operator, free_velocity, friction)?;
    let out_of_budget = |products: u64| {
        products >= limits.iterations || limits.time.is_some_and(|time| begin.elapsed() >= time)
    };
    let mut best = run.judge();
    let mut answer = run.impulses();
    while best > limits.tolerance && !out_of_budget(run.products) {
        for _ in 0..5 {
            run.step();
        }
        let error = run.judge();
        if error < best {
            best = error;
            answer = run.impulses();
        }
    }
    // The verdict comes from a fresh product at the returned impulses.
    let mut velocities = vec![0.0; 3 * n];
    operator.multiply(&answer, &mut velocities);
    for (u, q) in velocities.iter_mut().zip(free_velocity) {
        *u += q;
    }
    let error = natural_map(&velocities, &answer, free_velocity, friction);
    let status = if error <= limits.tolerance * (1.0 + 1e-9) {
        SolveStatus::Converged
    } else if out_of_budget(run.products) {
        SolveStatus::LimitReached
    } else {
        SolveStatus::Stalled
    };
    Ok(ContactSolution {
        impulse: answer,
        local_velocity: velocities,
        status,
        iterations: run.products as usize,
        cost: SolveCost {
            second_order: 0,
            products: run.products,
            factorizations: 0,
            method: "matrix-free-gradient",
            time: begin.elapsed(),
        },
        ..ContactSolution::default()
    })
}

/// |r − P_K(r − (u + μ|u_T| e_N))|/|q| over contacts in space.
fn natural_map(u: &[f64], r: &[f64], q: &[f64], friction: &[f64]) -> f64 {
    let mut sum = 0.0;
    for ((u, r), &mu) in u.chunks_exact(3).zip(r.chunks_exact(3)).zip(friction) {
        let shift = mu * u[1].hypot(u[2]);
        let p = project_cone(&[r[0] - u[0] - shift, r[1] - u[1], r[2] - u[2]], mu);
        sum += (0..3).map(|k| (r[k] - p[k]).powi(2)).sum::<f64>();
    }
    let size = q.iter().map(|q| q * q).sum::<f64>().sqrt();
    sum.sqrt() / if size > 0.0 { size } else { 1.0 }
}

/// State of the iteration, in scaled variables.
struct Run<'a> {
    operator: &'a dyn ContactOperator,
    q: &'a [f64],
    mu: &'a [f64],
    scale: Vec<f64>,
    point: AcceleratedPoint,
    products: u64,
}

impl<'a> Run<'a> {
    fn new(
        operator: &'a dyn ContactOperator,
        q: &'a [f64],
        mu: &'a [f64],
    ) -> Result<Self, ContactProblemError> {
        let n = mu.len();
        let mut scale = Vec::with_capacity(n);
        for i in 0..n {
            let diagonal = operator.diagonal(i);
            if let Some(k) = diagonal.iter().position(|w| !w.is_finite()) {
                return Err(ContactProblemError::NotFinite {
                    what: "W",
                    row: 3 * i + k,
                    column: 3 * i + k,
                });
            }
            let sum: f64 = diagonal.iter().sum();
            let s = (sum / 3.0).sqrt();
            scale.push(if s > 0.0 { s } else { 1.0 });
        }
        let u: Vec<f64> = (0..3 * n).map(|k| q[k] / scale[k / 3]).collect();
        Ok(Self {
            operator,
            q,
            mu,
            scale,
            point: AcceleratedPoint::new(&vec![0.0; 3 * n], &u, mu),
            products: 0,
        })
    }

    fn impulses(&self) -> Vec<f64> {
        let x = self.point.x.iter().enumerate();
        x.map(|(k, x)| x / self.scale[k / 3]).collect()
    }

    fn judge(&self) -> f64 {
        let u = self.point.u_x.iter().enumerate();
        let u: Vec<f64> = u.map(|(k, u)| u * self.scale[k / 3]).collect();
        natural_map(&u, &self.impulses(), self.q, self.mu)
    }

    fn step(&mut self) {
        // u = W x + q at the new x, scaled.
        self.point.step(self.mu, |x, u| {
            let x = x.iter().enumerate();
            let r: Vec<f64> = x.map(|(k, x)| x / self.scale[k / 3]).collect();
            self.operator.multiply(&r, u);
            self.products += 1;
            for (k, u) in u.iter_mut().enumerate() {
                *u = (*u + self.q[k]) / self.scale[k / 3];
            }
        });
        self.point.extrapolate(self.mu, LONG_LAG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Judgement;

    /// Point masses of unit mass in a row, neighbours joined by springs in an implicit step: W is the inverse of a
    /// tridiagonal matrix per direction, applied by elimination and never formed.
    struct Chain {
        contacts: usize,
        coupling: f64,
    }

    impl Chain {
        fn solve(&self, direction: usize, impulses: &[f64], velocities: &mut [f64]) {
            let n = self.contacts;
            let mut pivot = vec![0.0; n];
            let mut right = vec![0.0; n];
            for i in 0..n {
                let diagonal = 1.0 + 2.0 * self.coupling;
                let factor = if i == 0 {
                    0.0
                } else {
                    -self.coupling / pivot[i - 1]
                };
                pivot[i] = diagonal + factor * self.coupling;
                right[i] =
                    impulses[3 * i + direction] - if i == 0 { 0.0 } else { factor * right[i - 1] };
            }
            for i in (0..n).rev() {
                let next = if i + 1 < n {
                    velocities[3 * (i + 1) + direction]
                } else {
                    0.0
                };
                velocities[3 * i + direction] = (right[i] + self.coupling * next) / pivot[i];
            }
        }
    }

    impl ContactOperator for Chain {
        fn contacts(&self) -> usize {
            self.contacts
        }
        fn multiply(&self, impulses: &[f64], velocities: &mut [f64]) {
            for direction in 0..3 {
                self.solve(direction, impulses, velocities);
            }
        }
        fn diagonal(&self, contact: usize) -> [f64; 3] {
            let mut unit = vec![0.0; 3 * self.contacts];
            let mut out = unit.clone();
            unit[3 * contact] = 1.0;
            self.solve(0, &unit, &mut out);
            [out[3 * contact]; 3]
        }
    }

    fn free_velocity(n: usize) -> Vec<f64> {
        (0..3 * n).map(|k| ((k * k) as f64).sin() - 0.4).collect()
    }

    #[test]
    fn a_chain_known_by_products_is_solved_as_the_assembled_one() {
        let n = 30;
        let chain = Chain {
            contacts: n,
            coupling: 3.0,
        };
        let (q, mu) = (free_velocity(n), vec![0.4; n]);
        let limits = SolverLimits {
            tolerance: 1e-10,
            ..SolverLimits::default()
        };
        let found = solve_matrix_free(&chain, &q, &mu, &limits).unwrap();
        assert_eq!(found.status, SolveStatus::Converged);
        // Judged with W assembled column by column.
        let mut w = vec![0.0; 9 * n * n];
        for column in 0..3 * n {
            let mut unit = vec![0.0; 3 * n];
            unit[column] = 1.0;
            let mut out = vec![0.0; 3 * n];
            chain.multiply(&unit, &mut out);
            for row in 0..3 * n {
                w[3 * n * row + column] = out[row];
            }
        }
        let problem = ContactProblem::coulomb_from_dense(3, &w, q, mu).unwrap();
        assert!(Judgement::of(&problem, &found.impulse).published < 1.1e-10);
        // An assembled problem may be given the same way.
        let again = solve_matrix_free(
            &problem,
            problem.free(),
            &problem.coulomb_data().unwrap().friction,
            &limits,
        )
        .unwrap();
        let size = found.impulse.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (a, b) in found.impulse.iter().zip(&again.impulse) {
            assert!((a - b).abs() < 1e-7 * size);
        }
    }

    #[test]
    fn wrong_sizes_and_numbers_are_refused_with_their_place() {
        let chain = Chain {
            contacts: 2,
            coupling: 1.0,
        };
        let limits = SolverLimits::default();
        let short = solve_matrix_free(&chain, &[0.0; 3], &[0.1; 2], &limits);
        assert!(matches!(short, Err(ContactProblemError::Size { .. })));
        let mut q = vec![0.0; 6];
        q[4] = f64::NAN;
        let bad = solve_matrix_free(&chain, &q, &[0.1; 2], &limits);
        assert!(matches!(
            bad,
            Err(ContactProblemError::NotFinite { row: 4, .. })
        ));
    }
}
