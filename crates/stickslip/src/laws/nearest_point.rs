//! Nearest point of a convex set known by its support points.
//!
//! # What it computes
//!
//! The point of D nearest to x, where an oracle gives, for a direction s, a point of D that
//! maximises s·y.
//!
//! # Source
//!
//! [Wolfe1976]: the nearest point of the convex hull of a small affinely independent set of support
//! points is kept; a new support point enters, points with weight 0 leave.
//!
//! # Guarantees
//!
//! Finite for polytopes, accurate to rounding there. For smooth sets it converges and is stopped
//! when the support can no longer reduce the distance beyond rounding: about 1e-8 of the size.
//!
//! # Behaviour to know
//!
//! Support points that are not quite on the set limit the accuracy to their own.
//!
//! # Cost
//!
//! One oracle call and one (k+1)³ elimination per iteration, k ≤ d + 1.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use crate::algebra::small_dense::{dot, norm, solve_in_place};

/// Writes the nearest point; `oracle(direction, point)` writes a support point.
pub(super) fn nearest_point(
    target: &[f64],
    out: &mut [f64],
    mut oracle: impl FnMut(&[f64], &mut [f64]),
) {
    let d = target.len();
    // All points are taken relative to the target: the nearest point has least norm.
    let mut corral: Vec<Vec<f64>> = Vec::new();
    let mut weights: Vec<f64> = Vec::new();
    let mut direction = vec![0.0; d];
    let mut vertex = vec![0.0; d];
    oracle(target, &mut vertex);
    let mut x: Vec<f64> = vertex.iter().zip(target).map(|(v, t)| v - t).collect();
    corral.push(x.clone());
    weights.push(1.0);
    for _ in 0..500 {
        direction.iter_mut().zip(&x).for_each(|(d, x)| *d = -x);
        oracle(&direction, &mut vertex);
        let relative: Vec<f64> = vertex.iter().zip(target).map(|(v, t)| v - t).collect();
        let size = norm(&relative).max(norm(&corral[0]));
        // No support point is nearer by more than rounding.
        if dot(&x, &x) - dot(&x, &relative) <= 4e-16 * size * norm(&x) || norm(&x) <= 1e-16 * size {
            break;
        }
        if corral.contains(&relative) {
            break;
        }
        corral.push(relative);
        weights.push(0.0);
        let before = dot(&x, &x);
        if !reduce(&mut corral, &mut weights, &mut x) {
            break;
        }
        if dot(&x, &x) >= before {
            break;
        }
    }
    for i in 0..d {
        out[i] = target[i] + x[i];
    }
}

/// Minor cycle: nearest point of the affine hull, dropping points until its weights are positive.
fn reduce(corral: &mut Vec<Vec<f64>>, weights: &mut Vec<f64>, x: &mut [f64]) -> bool {
    loop {
        let k = corral.len();
        let n = k + 1;
        // Weights of least norm with sum 1.
        let mut matrix = vec![0.0; n * n];
        let mut rhs = vec![0.0; n];
        let scale = corral
            .iter()
            .map(|p| dot(p, p))
            .fold(f64::MIN_POSITIVE, f64::max);
        for i in 0..k {
            for j in 0..k {
                matrix[i * n + j] = dot(&corral[i], &corral[j]) / scale;
            }
            matrix[i * n + k] = 1.0;
            matrix[k * n + i] = 1.0;
        }
        rhs[k] = 1.0;
        if !solve_in_place(&mut matrix, &mut rhs) {
            corral.pop();
            weights.pop();
            return false;
        }
        if rhs[..k].iter().all(|&w| w > 0.0) {
            weights.copy_from_slice(&rhs[..k]);
            break;
        }
        // Move towards it until a weight vanishes.
        let mut step = 1.0_f64;
        let mut leaving = 0;
        for i in 0..k {
            if rhs[i] <= 0.0 && weights[i] - rhs[i] > 0.0 {
                let ratio = weights[i] / (weights[i] - rhs[i]);
                if ratio < step {
                    step = ratio;
                    leaving = i;
                }
            }
        }
        for i in 0..k {
            weights[i] += step * (rhs[i] - weights[i]);
        }
        corral.remove(leaving);
        weights.remove(leaving);
        if corral.is_empty() {
            return false;
        }
    }
    x.fill(0.0);
    for (point, weight) in corral.iter().zip(&*weights) {
        for (x, p) in x.iter_mut().zip(point) {
            *x += weight * p;
        }
    }
    true
}
