//! How far an impulse is from Moreau's S, measured on the slice of its own normal velocity.
//!
//! S(q, v) minimises the kinetic energy over the impulses of the cone K that end with w_N = 0. On the slice of the impulses with the normal
//! velocity of p, H = {x : x·W n = p·W n}, the natural map of that convex problem is p − P_{K∩H}(p − ρ w), and
//! P_{K∩H}(z) = P_K(z − s ρ W n) with the one s that leads into H. Taking s from p·(w + s W n) = 0 instead divides by the kinetic normal
//! impulse p·W n, which is as small as the approach: at a jam from a small approach that measures the rounding of p, not its error.

use crate::algebra::dot;
use crate::algebra::root::bracketed_root;

/// |p − P_{K∩H}(p − ρ w)| with the column W n; `project` writes P_K of its first argument, `z` and `nearest` are working memory.
///
/// z·W n of P_K(p − ρ (w + s W n)) decreases in s, since projections are monotone: the root is bracketed from the s that is best without a cone.
#[cold]
pub(crate) fn slice_defect(
    (p, w, column): (&[f64], &[f64], &[f64]),
    rho: f64,
    (z, nearest): (&mut [f64], &mut [f64]),
    mut project: impl FnMut(&[f64], &mut [f64]),
) -> f64 {
    let size = dot(column, column).sqrt();
    let target = dot(p, column);
    let mut excess = |s: f64, nearest: &mut [f64]| {
        for (z, ((p, w), c)) in z.iter_mut().zip(p.iter().zip(w).zip(column)) {
            *z = p - rho * (w + s * c);
        }
        project(z, nearest);
        dot(nearest, column) - target
    };
    let distance = |nearest: &[f64]| {
        let squares = p.iter().zip(nearest).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    };
    let start = -dot(w, column) / (size * size);
    let at_start = excess(start, nearest);
    let mut least = distance(nearest);
    // Outward until the sign changes, from a part of what velocity and impulse can ask for.
    let way = at_start.signum();
    let mut step = 1e-3 * (dot(w, w).sqrt() + dot(p, p).sqrt() / rho) / size;
    let (mut near, mut at_near) = (start, at_start);
    for _ in 0..60 {
        if at_near == 0.0 {
            break;
        }
        let far = start + way * step;
        let at_far = excess(far, nearest);
        if at_far == 0.0 || at_far.signum() != way {
            near = bracketed_root(near, at_near, far, at_far, |s| excess(s, nearest));
            break;
        }
        (near, at_near) = (far, at_far);
        step *= 2.0;
    }
    excess(near, nearest);
    least = least.min(distance(nearest));
    least
}
