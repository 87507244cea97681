//! Variational inequality over a convex set known by its projection.
//!
//! # What it computes
//!
//! x ∈ C with (A x + b)·(y − x) ≥ 0 for all y ∈ C, as a zero of the natural map
//! F(x) = x − Proj_C(x − ρ(A x + b)), ρ = 1/|A|.
//!
//! # Source
//!
//! Globalisation: projected gradient with Nesterov's momentum and restart ([ODonoghueCandes2015]);
//! end game: semismooth Newton on F ([QiSun1993]) with the Jacobian of the projection taken by
//! central differences, so that any projection will do.
//!
//! # Guarantees
//!
//! The gradient phase converges for symmetric positive semidefinite A. Newton steps are kept only if they
//! halve |F|. The answer is a value of the projection, hence in C.
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

/// Improves x; returns |F(x)| relative to |x| + ρ|b| (0 if both vanish).
pub(super) fn solve(
    a: &[f64],
    b: &[f64],
    x: &mut [f64],
    project: &mut dyn FnMut(&[f64], &mut [f64]),
) -> f64 {
    let d = b.len();
    let bound = norm(a);
    let rho = if bound > 0.0 { 1.0 / bound } else { 1.0 };
    let mut map = NaturalMap {
        a,
        b,
        rho,
        z: vec![0.0; d],
        image: vec![0.0; d],
    };
    let mut residual = map.evaluate(x, project);
    let mut best = (residual, map.image.clone());
    let mut momentum = x.to_vec();
    let mut next = vec![0.0; d];
    let mut stalls = 0;
    for round in 0..400 {
        // Newton first: a warm start is often on the right face already.
        for _ in 0..12 {
            if residual <= TARGET || !map.newton_step(x, &mut residual, project) {
                break;
            }
        }
        if residual < best.0 {
            if residual > 0.7 * best.0 {
                stalls += 1;
            } else {
                stalls = 0;
            }
            best = (residual, map.image.clone());
        } else {
            stalls += 1;
        }
        if best.0 <= TARGET || best.0 <= 64.0 * TARGET && stalls > 2 || stalls > 40 {
            break;
        }
        // A stretch of accelerated projected gradient, longer each round.
        x.copy_from_slice(&best.1);
        momentum.copy_from_slice(x);
        let mut t: f64 = 1.0;
        for _ in 0..10 + 5 * round {
            map.evaluate(&momentum, project);
            next.copy_from_slice(&map.image);
            // Restart when the momentum points uphill.
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
            x.copy_from_slice(&next);
            t = t_next;
        }
        residual = map.evaluate(x, project);
    }
    x.copy_from_slice(&best.1);
    best.0
}

struct NaturalMap<'a> {
    a: &'a [f64],
    b: &'a [f64],
    rho: f64,
    /// x − ρ(A x + b) at the last evaluation.
    z: Vec<f64>,
    /// Its projection.
    image: Vec<f64>,
}

impl NaturalMap<'_> {
    /// Relative |F(x)|; leaves z and its projection.
    fn evaluate(&mut self, x: &[f64], project: &mut dyn FnMut(&[f64], &mut [f64])) -> f64 {
        matrix_vector(self.a, x, &mut self.z);
        for (z, (x, b)) in self.z.iter_mut().zip(x.iter().zip(self.b)) {
            *z = x - self.rho * (*z + b);
        }
        project(&self.z, &mut self.image);
        let difference: f64 = x
            .iter()
            .zip(&self.image)
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt();
        let scale = norm(x) + self.rho * norm(self.b);
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
        let trial: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + d).collect();
        let (z, image) = (self.z.clone(), self.image.clone());
        let value = self.evaluate(&trial, project);
        if value < 0.5 * *residual {
            x.copy_from_slice(&trial);
            *residual = value;
            true
        } else {
            self.z = z;
            self.image = image;
            false
        }
    }
}
