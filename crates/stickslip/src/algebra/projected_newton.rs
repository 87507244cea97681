//! Variational inequality over a convex set known by its projection.
//!
//! # What it computes
//!
//! x ∈ C with (A x + b)·(y − x) ≥ 0 for all y ∈ C, as a zero of the natural map
//! F(x) = x − Proj_C(x − ρ(A x + b)), ρ = 1/|A|.
//!
//! # Source
//!
//! Semismooth Newton on F ([QiSun1993]) with the Jacobian of the projection taken by central
//! differences, so that any projection will do. Globalisation: proximal steps A + ε with ε falling from
//! |A| to rounding ([Rockafellar1976]), then projected gradient with momentum and restart
//! ([ODonoghueCandes2015]).
//!
//! # Guarantees
//!
//! The gradient phase converges for symmetric positive semidefinite A. Newton steps are kept only if
//! they lower |F|. The answer is a value of the projection, hence in C.
//!
//! # Behaviour to know
//!
//! With a singular A the point is not unique; A x is. A skew part of A much larger than the
//! symmetric part may stall the gradient phase; the residual returned then says so.
//!
//! # Cost
//!
//! 2d + 1 projections and one d³ elimination per Newton step, typically three to six of them.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`.

use crate::algebra::small_dense::{matrix_vector, norm, solve_in_place};

/// Accuracy aimed at, relative to the size of the terms of the natural map.
const TARGET: f64 = 4e-16;
/// Accuracy at which the search for something better ends.
const ACCEPTED: f64 = 4e-14;

/// Improves x; returns |F(x)| relative to |x| + ρ|b| (0 if both vanish).
pub(crate) fn solve(
    a: &[f64],
    b: &[f64],
    x: &mut [f64],
    project: &mut dyn FnMut(&[f64], &mut [f64]),
) -> f64 {
    let mut map = NaturalMap::new(a.to_vec(), b.to_vec());
    // A warm start is often on the right face already.
    let mut best = (map.newton(x, 12, project), map.image.clone());
    // Proximal steps with a decreasing weight carry the point from face to face.
    if best.0 > ACCEPTED {
        x.copy_from_slice(&best.1);
        let weight = norm(a).max(f64::MIN_POSITIVE);
        let mut epsilon = weight;
        while epsilon > 1e-17 * weight && best.0 > TARGET {
            let mut regular = NaturalMap::regularised(a, b, epsilon, x);
            regular.newton(x, 15, project);
            x.copy_from_slice(&regular.image);
            epsilon *= 0.1;
            if epsilon < 1e-3 * weight {
                let mut trial = x.to_vec();
                map.keep_best(&mut trial, 6, project, &mut best);
            }
        }
        x.copy_from_slice(&best.1);
    }
    // Last resort: stretches of accelerated projected gradient, longer each round.
    let mut round = 0;
    while best.0 > ACCEPTED && round < 40 {
        x.copy_from_slice(&best.1);
        map.gradient(x, 10 + 10 * round, project);
        map.keep_best(x, 12, project, &mut best);
        round += 1;
    }
    x.copy_from_slice(&best.1);
    best.0
}

struct NaturalMap {
    a: Vec<f64>,
    b: Vec<f64>,
    rho: f64,
    /// x − ρ(A x + b) at the last evaluation.
    z: Vec<f64>,
    /// Its projection.
    image: Vec<f64>,
}

impl NaturalMap {
    fn new(a: Vec<f64>, b: Vec<f64>) -> Self {
        let d = b.len();
        let bound = norm(&a);
        let rho = if bound > 0.0 { 1.0 / bound } else { 1.0 };
        NaturalMap {
            a,
            b,
            rho,
            z: vec![0.0; d],
            image: vec![0.0; d],
        }
    }

    /// The map of A + ε and b − ε x: a proximal step from x.
    fn regularised(a: &[f64], b: &[f64], epsilon: f64, x: &[f64]) -> Self {
        let d = b.len();
        let mut a = a.to_vec();
        for i in 0..d {
            a[i * d + i] += epsilon;
        }
        let b = b.iter().zip(x).map(|(b, x)| b - epsilon * x).collect();
        NaturalMap::new(a, b)
    }

    /// Newton steps from x; returns the residual there and leaves the projection in `image`.
    fn newton(
        &mut self,
        x: &mut [f64],
        steps: usize,
        project: &mut dyn FnMut(&[f64], &mut [f64]),
    ) -> f64 {
        let mut residual = self.evaluate(x, project);
        for _ in 0..steps {
            if residual <= TARGET {
                break;
            }
            if !self.newton_step(x, &mut residual, project) {
                // A projected gradient step often changes the face; stop if it does not help.
                let next = self.image.clone();
                let value = self.evaluate(&next, project);
                if value >= residual {
                    self.evaluate(x, project);
                    break;
                }
                x.copy_from_slice(&next);
                residual = value;
            }
        }
        residual
    }

    /// Newton from x; keeps residual and projection if they are the best so far.
    fn keep_best(
        &mut self,
        x: &mut [f64],
        steps: usize,
        project: &mut dyn FnMut(&[f64], &mut [f64]),
        best: &mut (f64, Vec<f64>),
    ) {
        let residual = self.newton(x, steps, project);
        if residual < best.0 {
            *best = (residual, self.image.clone());
        }
    }

    /// Projected gradient with momentum, restarted when it points uphill.
    fn gradient(
        &mut self,
        x: &mut [f64],
        steps: usize,
        project: &mut dyn FnMut(&[f64], &mut [f64]),
    ) {
        let d = x.len();
        let mut momentum = x.to_vec();
        let mut t: f64 = 1.0;
        for _ in 0..steps {
            self.evaluate(&momentum, project);
            let next = &self.image;
            let uphill: f64 = (0..d)
                .map(|i| (momentum[i] - next[i]) * (next[i] - x[i]))
                .sum();
            let t_next = if uphill > 0.0 {
                1.0
            } else {
                0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt())
            };
            let beta = if uphill > 0.0 {
                0.0
            } else {
                (t - 1.0) / t_next
            };
            for i in 0..d {
                momentum[i] = next[i] + beta * (next[i] - x[i]);
            }
            x.copy_from_slice(next);
            t = t_next;
        }
    }

    /// Relative |F(x)|; leaves z and its projection.
    fn evaluate(&mut self, x: &[f64], project: &mut dyn FnMut(&[f64], &mut [f64])) -> f64 {
        matrix_vector(&self.a, x, &mut self.z);
        for (z, (x, b)) in self.z.iter_mut().zip(x.iter().zip(&self.b)) {
            *z = x - self.rho * (*z + b);
        }
        project(&self.z, &mut self.image);
        let difference: f64 = x
            .iter()
            .zip(&self.image)
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt();
        let scale = norm(x) + self.rho * norm(&self.b);
        if scale > 0.0 { difference / scale } else { 0.0 }
    }

    /// One Newton step from x, at which the map was last evaluated; false if it was refused.
    fn newton_step(
        &mut self,
        x: &mut [f64],
        residual: &mut f64,
        project: &mut dyn FnMut(&[f64], &mut [f64]),
    ) -> bool {
        let d = x.len();
        // Jacobian of the projection at z.
        let mut jacobian = vec![0.0; d * d];
        let step = 1e-7 * (norm(&self.z) + norm(x)).max(f64::MIN_POSITIVE);
        let (mut above, mut below) = (vec![0.0; d], vec![0.0; d]);
        let mut point = self.z.clone();
        for j in 0..d {
            point[j] = self.z[j] + step;
            project(&point, &mut above);
            point[j] = self.z[j] - step;
            project(&point, &mut below);
            point[j] = self.z[j];
            for i in 0..d {
                jacobian[i * d + j] = (above[i] - below[i]) / (2.0 * step);
            }
        }
        // J = I − P (I − ρ A), with a floor for dependent rows.
        let mut matrix = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..d {
                let mut sum = -jacobian[i * d + j];
                for k in 0..d {
                    sum += self.rho * jacobian[i * d + k] * self.a[k * d + j];
                }
                matrix[i * d + j] = sum + if i == j { 1.0 + 1e-14 } else { 0.0 };
            }
        }
        let mut direction: Vec<f64> = (0..d).map(|i| self.image[i] - x[i]).collect();
        if !solve_in_place(&mut matrix, &mut direction) || direction.iter().any(|v| !v.is_finite())
        {
            return false;
        }
        // Full step or shorter; the residual must fall clearly.
        let (z, image) = (self.z.clone(), self.image.clone());
        let mut trial = vec![0.0; d];
        for fraction in [1.0, 0.5, 0.125] {
            for i in 0..d {
                trial[i] = x[i] + fraction * direction[i];
            }
            let value = self.evaluate(&trial, project);
            if value < (1.0 - 0.5 * fraction) * *residual {
                x.copy_from_slice(&trial);
                *residual = value;
                return true;
            }
        }
        self.z = z;
        self.image = image;
        false
    }
}
