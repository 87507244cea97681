//! Free rotation of a rigid body.

use crate::algebra::small_dense;

use super::quaternion::UnitQuaternion;
use crate::algebra::cross;

/// Newton iterations of the midpoint rule; it converges in a handful up to a radian per step.
const ITERATIONS_MAX: usize = 30;

/// Orientation and spin (in the frame of the body) after a free rotation over `h`.
///
/// # What it computes
/// The midpoint rule `J (ω₁ − ω₀) = h J ω × ω` with ω the mean of both spins, and the Cayley map
/// `R₁ = R₀ cay(h ω)`, whose quaternion is (1, h ω/2) made of length one.
///
/// # Source
/// [AcaryCollinsCraft2023] extended to rotations; the conservation by this pair of maps is classical.
///
/// # Guarantees
/// Energy `½ ω·Jω` and momentum `R J ω` are kept to rounding, whatever the step: multiplied by `I + [h ω/2]`,
/// `cay(h ω) J ω₁ = J ω₀` is the midpoint rule.
///
/// # Behaviour to know
/// Order 2. A rotation too fast for Newton's method is made in two halves.
///
/// # Cost
/// A few solutions of three equations; none for a body of equal moments.
///
/// # Tested by
/// `tests/truth_rigid_body.rs`.
pub(crate) fn coast(
    moments: [f64; 3],
    start: UnitQuaternion,
    spin: [f64; 3],
    h: f64,
) -> (UnitQuaternion, [f64; 3]) {
    coast_in(moments, start, spin, h, 20)
}

fn coast_in(
    moments: [f64; 3],
    start: UnitQuaternion,
    spin: [f64; 3],
    h: f64,
    halvings: u32,
) -> (UnitQuaternion, [f64; 3]) {
    match mean_spin(moments, spin, h) {
        Some(mean) => {
            let half = mean.map(|w| 0.5 * h * w);
            let turn = UnitQuaternion([1.0, half[0], half[1], half[2]]).normalized();
            let end = if mean == spin {
                spin
            } else {
                std::array::from_fn(|i| 2.0 * mean[i] - spin[i])
            };
            (start.times(turn).normalized(), end)
        }
        None if halvings > 0 => {
            let (middle, w) = coast_in(moments, start, spin, 0.5 * h, halvings - 1);
            coast_in(moments, middle, w, 0.5 * h, halvings - 1)
        }
        // Only a spin that is no number comes here.
        None => (start, [f64::NAN; 3]),
    }
}

/// The mean spin w with `2 J (w − ω₀) = h J w × w`; none if Newton's method fails.
fn mean_spin(moments: [f64; 3], spin: [f64; 3], h: f64) -> Option<[f64; 3]> {
    let [a, b, c] = moments;
    if (a == b && b == c) || h == 0.0 {
        return spin.iter().all(|w| w.is_finite()).then_some(spin);
    }
    let times = |w: [f64; 3]| [a * w[0], b * w[1], c * w[2]];
    let mut w = spin;
    let mut previous = f64::INFINITY;
    for _ in 0..ITERATIONS_MAX {
        let momentum = times(w);
        let turning = cross(momentum, w);
        let mut rest: [f64; 3] =
            std::array::from_fn(|i| h * turning[i] - 2.0 * moments[i] * (w[i] - spin[i]));
        // 2 J + h [w] J − h [J w]
        let (x, p) = (skew(w), skew(momentum));
        let mut matrix = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                matrix[3 * i + j] = h * (x[i][j] * moments[j] - p[i][j]);
            }
            matrix[3 * i + i] += 2.0 * moments[i];
        }
        if !small_dense::solve_in_place(&mut matrix, &mut rest) {
            return None;
        }
        let size = rest.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let speed = w.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        for (w, step) in w.iter_mut().zip(rest) {
            *w += step;
        }
        if !size.is_finite() {
            return None;
        }
        if size <= 2.0 * f64::EPSILON * speed || (size >= previous && size <= 1e-14 * speed) {
            return Some(w);
        }
        previous = size;
    }
    None
}

/// The matrix of the vector product with w.
fn skew(w: [f64; 3]) -> [[f64; 3]; 3] {
    [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]]
}
