//! Root of a continuous scalar function in a bracket.

/// A root of f between a and b, where `fa = f(a)` and `fb = f(b)` have opposite signs.
///
/// Chandrupatla's rule: inverse quadratic interpolation where the three last points allow it,
/// bisection otherwise. Stops at an exact zero, at a bracket of two or three floating-point steps,
/// or after 200 evaluations, and returns the end of the bracket with the smaller |f|.
pub fn bracketed_root(a: f64, fa: f64, b: f64, fb: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    if fa == 0.0 {
        return a;
    }
    if fb == 0.0 {
        return b;
    }
    debug_assert!(
        fa.signum() != fb.signum(),
        "no sign change between {a} and {b}"
    );
    // (x1, f1) newest, (x2, f2) the other end, (x3, f3) the one dropped last.
    let (mut x1, mut f1, mut x2, mut f2) = (b, fb, a, fa);
    let mut t = 0.5;
    for _ in 0..200 {
        let x = x1 + t * (x2 - x1);
        let fx = f(x);
        if fx == 0.0 {
            return x;
        }
        let (x3, f3);
        if fx.signum() == f1.signum() {
            (x3, f3) = (x1, f1);
        } else {
            (x3, f3) = (x2, f2);
            (x2, f2) = (x1, f1);
        }
        (x1, f1) = (x, fx);
        // Bracket down to rounding.
        let best = if f1.abs() < f2.abs() { x1 } else { x2 };
        let width = (x2 - x1).abs();
        let tolerance = 1.1 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE;
        if width <= 2.0 * tolerance {
            return best;
        }
        // Interpolate only where the inverse function is surely monotone.
        let xi = (x1 - x2) / (x3 - x2);
        let phi = (f1 - f2) / (f3 - f2);
        t = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            f1 / (f2 - f1) * (f3 / (f2 - f3))
                + (x3 - x1) / (x2 - x1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2))
        } else {
            0.5
        };
        let t_min = tolerance / width;
        t = t.clamp(t_min, 1.0 - t_min);
    }
    if f1.abs() < f2.abs() { x1 } else { x2 }
}

#[cfg(test)]
mod tests {
    use super::bracketed_root;

    #[test]
    fn finds_the_cube_root_of_two_to_rounding_in_few_evaluations() {
        let mut count = 0;
        let root = bracketed_root(0.0, -2.0, 10.0, 998.0, |x| {
            count += 1;
            x * x * x - 2.0
        });
        assert!((root - 2f64.cbrt()).abs() < 1e-15);
        assert!(count < 20, "{count} evaluations");
    }

    #[test]
    fn a_kink_and_a_flat_side_do_not_stop_it() {
        let f = |x: f64| if x < 0.3 { -1e-9 } else { x - 0.3 };
        let root = bracketed_root(0.0, f(0.0), 1.0, f(1.0), f);
        assert!((root - 0.3).abs() < 2e-9);
    }
}
