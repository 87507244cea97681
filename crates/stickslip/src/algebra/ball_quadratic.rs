//! Smallest value of a convex quadratic in a ball.
//!
//! # What it computes
//!
//! x with |x| ≤ r and (A x + b)·(y − x) ≥ 0 for every |y| ≤ r. For symmetric A this is the minimum
//! of ½ x·A x + b·x; a skew part of A is allowed as long as the symmetric part is positive
//! semidefinite.
//!
//! # Source
//!
//! The secular equation of the trust-region subproblem ([MoreSorensen1983]): x = −(A + ν I)⁻¹ b with
//! ν ≥ 0, ν (r − |x|) = 0. |x(ν)| decreases (monotonicity of A), so 1/|x(ν)| = 1/r, which is nearly
//! linear, has one root.
//!
//! # Guarantees
//!
//! The answer is inside the ball to rounding; A x + b = −ν x to 1e-14 of the terms.
//!
//! # Behaviour to know
//!
//! ν is kept above 4e-15 trace(A), which is the whole treatment of a singular A: where the answer is
//! not unique a short one is returned, A x is accurate.
//!
//! # Cost
//!
//! About five solutions of a d × d system; two unknowns need no elimination.
//!
//! # Tested by
//!
//! `algebra/ball_quadratic.rs`, `solvers/one_contact/tests.rs`.

use super::eigen2::Eigen2;
use super::small_dense::{norm, solve_in_place};

/// Solves the problem of the module page in R^d, d = b.len(); returns ν (0 if |x| < r).
///
/// `work` needs at least d² + d numbers.
pub fn minimize_in_ball(a: &[f64], b: &[f64], radius: f64, x: &mut [f64], work: &mut [f64]) -> f64 {
    let d = b.len();
    let b_norm = norm(b);
    if radius <= 0.0 || b_norm == 0.0 {
        x.fill(0.0);
        return if radius <= 0.0 && b_norm > 0.0 {
            f64::INFINITY
        } else {
            0.0
        };
    }
    if d == 2 {
        return minimize_in_disc(a, b, radius, x);
    }
    let trace: f64 = (0..d).map(|i| a[i * d + i]).sum();
    let floor = 4e-15 * trace;
    if radius.is_infinite() || trace == 0.0 && radius.is_finite() {
        // Without curvature the point of the sphere against b; without a sphere the free minimum.
        if trace == 0.0 {
            x.iter_mut()
                .zip(b)
                .for_each(|(x, b)| *x = -b / b_norm * radius);
            return b_norm / radius;
        }
        point(a, b, floor, x, work);
        return 0.0;
    }
    // Free minimum inside the ball.
    if point(a, b, floor, x, work) && norm(x) <= radius {
        return 0.0;
    }
    // (A + ν) x = −b and monotonicity give |x| ≤ |b|/ν: the multiplier is below |b|/r.
    let (mut lo, mut hi) = (floor, b_norm / radius);
    let mut nu = lo;
    if hi <= lo {
        nu = hi;
    }
    for iteration in 0..100 {
        if !point(a, b, nu, x, work) {
            nu = 0.5 * (lo + hi);
            continue;
        }
        let length = norm(x);
        if (length - radius).abs() <= 2e-16 * radius {
            break;
        }
        if length > radius {
            lo = nu;
        } else {
            hi = nu;
        }
        // Newton on 1/|x| − 1/r; x' = −(A + ν)⁻¹ x.
        let derivative = {
            let (matrix, rest) = work.split_at_mut(d * d);
            let y = &mut rest[..d];
            shifted(a, nu, matrix);
            y.copy_from_slice(x);
            solve_in_place(matrix, y);
            -super::small_dense::dot(x, y) / length
        };
        let step = (1.0 - length / radius) * length / derivative;
        // d(1/|x|)/dν = −|x|'/|x|², so the step is (1/r − 1/|x|) |x|² / (−|x|').
        let next = nu + step;
        let previous = nu;
        nu = if next > lo && next < hi && iteration < 40 {
            next
        } else if lo > 0.0 && hi / lo > 16.0 {
            (lo * hi).sqrt()
        } else {
            0.5 * (lo + hi)
        };
        if (nu - previous).abs() <= 2e-16 * nu || hi - lo <= 2e-16 * hi {
            point(a, b, nu, x, work);
            break;
        }
    }
    // Put the point on the sphere exactly; the last error of ν is along the multiplier.
    let length = norm(x);
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x *= radius / length);
    }
    nu
}

/// Two unknowns, in principal axes: with dependent rows elimination would spread the noise of the
/// weak axis over both.
fn minimize_in_disc(a: &[f64], b: &[f64], radius: f64, x: &mut [f64]) -> f64 {
    let axes = Eigen2::new(a[0], 0.5 * (a[1] + a[2]), a[3]);
    let skew = 0.5 * (a[1] - a[2]);
    let c = axes.to_axes([b[0], b[1]]);
    let floor = 4e-15 * (a[0] + a[3]);
    // x = −(A + ν)⁻¹ b; the shift acts on the weak axis alone while ν is below the floor.
    let solve = |nu: f64, c: [f64; 2]| {
        let (large, small) = (
            axes.large + nu,
            (axes.small + nu).max(floor.min(axes.large)),
        );
        let determinant = large * small + skew * skew;
        if determinant > 0.0 {
            [
                -(small * c[0] - skew * c[1]) / determinant,
                -(large * c[1] + skew * c[0]) / determinant,
            ]
        } else {
            [f64::INFINITY, 0.0]
        }
    };
    let write = |y: [f64; 2], x: &mut [f64]| x.copy_from_slice(&axes.out_of_axes(y));
    let mut y = solve(0.0, c);
    if y[0].hypot(y[1]) <= radius {
        write(y, x);
        return 0.0;
    }
    if radius.is_infinite() {
        // No curvature and no bound: no minimum either.
        x.fill(0.0);
        return 0.0;
    }
    // 1/|x| grows with ν; |x| ≤ |b|/ν bounds it.
    let (mut lo, mut hi) = (0.0, c[0].hypot(c[1]) / radius);
    let mut nu = lo;
    for iteration in 0..120 {
        y = solve(nu, c);
        let length = y[0].hypot(y[1]);
        if (length - radius).abs() <= 2e-16 * radius {
            break;
        }
        if length > radius {
            lo = nu;
        } else {
            hi = nu;
        }
        let z = solve(nu, y);
        let derivative = (y[0] * z[0] + y[1] * z[1]) / length;
        let next = nu + (1.0 - length / radius) * length / derivative;
        let previous = nu;
        nu = if next > lo && next < hi && iteration < 40 {
            next
        } else if lo > 0.0 && hi / lo > 16.0 {
            (lo * hi).sqrt()
        } else if lo == 0.0 && floor > 0.0 && hi > 16.0 * floor {
            // From the floor upwards.
            floor
        } else {
            0.5 * (lo + hi)
        };
        if (nu - previous).abs() <= 2e-16 * nu || hi - lo <= 2e-16 * hi {
            y = solve(nu, c);
            break;
        }
    }
    let length = y[0].hypot(y[1]);
    write([y[0] * radius / length, y[1] * radius / length], x);
    nu
}

fn shifted(a: &[f64], nu: f64, matrix: &mut [f64]) {
    let d = (a.len() as f64).sqrt() as usize;
    matrix.copy_from_slice(a);
    for i in 0..d {
        matrix[i * d + i] += nu;
    }
}

/// x = −(A + ν)⁻¹ b.
fn point(a: &[f64], b: &[f64], nu: f64, x: &mut [f64], work: &mut [f64]) -> bool {
    let d = b.len();
    x.iter_mut().zip(b).for_each(|(x, b)| *x = -b);
    shifted(a, nu, &mut work[..d * d]);
    solve_in_place(&mut work[..d * d], x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonal_case_meets_the_secular_equation() {
        let a = [1.0, 0.0, 0.0, 4.0];
        let b = [-3.0, 2.0];
        let mut x = [0.0; 2];
        let nu = minimize_in_ball(&a, &b, 0.5, &mut x, &mut [0.0; 6]);
        assert!((norm(&x) - 0.5).abs() < 1e-15);
        for i in 0..2 {
            assert!((a[3 * i] * x[i] + b[i] + nu * x[i]).abs() < 1e-14);
        }
    }

    #[test]
    fn singular_matrix_gives_the_right_gradient() {
        // A = (1,1)(1,1)ᵀ, b in its range: free minimum where x0 + x1 = −1.
        let mut x = [0.0; 2];
        let nu = minimize_in_ball(
            &[1.0, 1.0, 1.0, 1.0],
            &[1.0, 1.0],
            10.0,
            &mut x,
            &mut [0.0; 6],
        );
        assert_eq!(nu, 0.0);
        assert!((x[0] + x[1] + 1.0).abs() < 1e-13);
    }
}
