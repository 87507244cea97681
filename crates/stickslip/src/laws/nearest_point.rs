//! Nearest point of a convex set known by its support points.
//!
//! # What it computes
//!
//! The point of D nearest to x, where an oracle gives, for a direction s, a point of D that
//! maximises s·y.
//!
//! # Source
//!
//! [Wolfe1976]: the nearest point of the convex hull of a small set of support points is kept; a new
//! support point enters, points with weight 0 leave. The hull of the small set is minimised as a
//! complementarity problem, since the affine systems of the source lose their rank near the boundary.
//!
//! # Guarantees
//!
//! Finite for polytopes, accurate to 1e-14 of the size there (1e-11 for points on the boundary). For
//! smooth sets it converges and is stopped when the support can no longer reduce the distance.
//!
//! # Behaviour to know
//!
//! Support points that are not quite on the set limit the accuracy to their own.
//!
//! # Cost
//!
//! One oracle call and one complementarity problem of size k + 1 ≤ d + 3 per iteration.
//!
//! # Tested by
//!
//! `laws/friction_section/tests.rs`.

use crate::algebra::lcp::{LcpOutcome, solve_lcp};
use crate::algebra::small_dense::{dot, norm};

/// Writes the nearest point; `oracle(direction, point)` writes a support point.
pub(super) fn nearest_point(
    target: &[f64],
    out: &mut [f64],
    mut oracle: impl FnMut(&[f64], &mut [f64]),
) {
    let d = target.len();
    // All points are taken relative to the target: the nearest point has least norm.
    let mut corral: Vec<Vec<f64>> = Vec::new();
    let mut direction = vec![0.0; d];
    let mut vertex = vec![0.0; d];
    oracle(target, &mut vertex);
    let mut x: Vec<f64> = vertex.iter().zip(target).map(|(v, t)| v - t).collect();
    corral.push(x.clone());
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
        // A step that does not come nearer is rounding: keep the point before it.
        let before = x.clone();
        let improved = reduce(&mut corral, &mut x) && dot(&x, &x) < dot(&before, &before);
        if !improved {
            x = before;
            break;
        }
    }
    for i in 0..d {
        out[i] = target[i] + x[i];
    }
}

/// Nearest point of the hull of the corral, whose unused points are dropped; false if not found.
fn reduce(corral: &mut Vec<Vec<f64>>, x: &mut [f64]) -> bool {
    let k = corral.len();
    let n = k + 1;
    // Least |Σ b_i v_i| with b ≥ 0, Σ b ≥ 1, as a complementarity problem with the multiplier of the sum.
    let scale = corral
        .iter()
        .map(|p| dot(p, p))
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut matrix = vec![0.0; n * n];
    for i in 0..k {
        for j in 0..k {
            matrix[i * n + j] = dot(&corral[i], &corral[j]) / scale;
        }
        matrix[i * n + k] = -1.0;
        matrix[k * n + i] = 1.0;
    }
    let mut rhs = vec![0.0; n];
    rhs[k] = -1.0;
    let mut weights = vec![0.0; n];
    if solve_lcp(&matrix, &rhs, &mut weights) != LcpOutcome::Solved {
        return false;
    }
    let total: f64 = weights[..k].iter().sum();
    x.fill(0.0);
    for (point, weight) in corral.iter().zip(&weights) {
        for (x, p) in x.iter_mut().zip(point) {
            *x += weight / total * p;
        }
    }
    let mut kept = weights.iter();
    corral.retain(|_| kept.next().is_some_and(|&weight| weight > 0.0));
    true
}
