//! The free rotation of one body.

use crate::systems::rigid::UnitQuaternion;

/// Newton steps at most; four reach rounding at a tenth of a radian per step.
const NEWTON_MAX: usize = 40;

/// Turn in radians beyond which a rotation is divided; Newton's method converges safely below.
const TURN_MAX: f64 = 0.5;
/// Parts of a rotation at most.
const PARTS_MAX: f64 = 10_000.0;

/// Turns a body freely over the time `h` and returns its new spin.
///
/// # What it computes
/// The implicit midpoint rule in body axes, `J(ω₁ − ω₀) + h ω_m × J ω_m = 0` with ω_m = (ω₀ + ω₁)/2, and the rotation
/// `R₁ = R₀ cay(h ω_m)`: with the unit quaternion (1, h ω_m/2) divided by its length.
///
/// # Source
/// Midpoint rule and Cayley map as in [AcaryCollinsCraft2023] extended to rotations; own form.
///
/// # Guarantees
/// ½ ω·J ω and R J ω are those before, to rounding: the rule reads (I + h/2 [ω_m]) J ω₁ = (I − h/2 [ω_m]) J ω₀.
///
/// # Behaviour to know
/// A body with equal moments keeps its spin and only turns. Turns of more than half a radian are divided into equal parts;
/// beyond 5000 radians in one step the result is not a number, which ends the run.
///
/// # Cost
/// Three or four 3×3 solves by Cramer's rule.
///
/// # Tested by
/// `stepping/world/spin.rs`, `tests/truth_worlds.rs`.
pub(super) fn turn_freely(
    rotation: &mut [f64; 4],
    mut spin: [f64; 3],
    inertia: [f64; 3],
    h: f64,
) -> [f64; 3] {
    if inertia[0] == inertia[1] && inertia[1] == inertia[2] {
        turn(rotation, spin.map(|w| h * w));
        return spin;
    }
    let size = spin.iter().map(|w| w * w).sum::<f64>().sqrt();
    let parts = (h * size / TURN_MAX).ceil().max(1.0);
    if !(parts <= PARTS_MAX) {
        return [f64::NAN; 3];
    }
    let part = h / parts;
    for _ in 0..parts as usize {
        let middle = midpoint(spin, inertia, part).unwrap_or([f64::NAN; 3]);
        turn(rotation, middle.map(|w| part * w));
        spin = std::array::from_fn(|i| 2.0 * middle[i] - spin[i]);
    }
    spin
}

/// Multiplies the rotation by the Cayley map of a rotation vector in body axes.
pub(super) fn turn(rotation: &mut [f64; 4], by: [f64; 3]) {
    let step = UnitQuaternion([1.0, 0.5 * by[0], 0.5 * by[1], 0.5 * by[2]]);
    *rotation = UnitQuaternion(*rotation).times(step).normalized().0;
}

/// ω_m of the midpoint rule: 2J(ω_m − ω₀) + h ω_m × J ω_m = 0.
fn midpoint(spin: [f64; 3], inertia: [f64; 3], h: f64) -> Option<[f64; 3]> {
    let [j1, j2, j3] = inertia;
    let differences = [j3 - j2, j1 - j3, j2 - j1];
    let mut w = spin;
    let mut last = f64::INFINITY;
    for _ in 0..NEWTON_MAX {
        let gyroscopic = [
            differences[0] * w[1] * w[2],
            differences[1] * w[2] * w[0],
            differences[2] * w[0] * w[1],
        ];
        let rest: [f64; 3] =
            std::array::from_fn(|i| 2.0 * inertia[i] * (w[i] - spin[i]) + h * gyroscopic[i]);
        // Columns of the Jacobian 2J + h ∂(ω × Jω)/∂ω.
        let (a, b, c) = (h * differences[0], h * differences[1], h * differences[2]);
        let columns = [
            [2.0 * j1, b * w[2], c * w[1]],
            [a * w[2], 2.0 * j2, c * w[0]],
            [a * w[1], b * w[0], 2.0 * j3],
        ];
        let step = solve(columns, rest)?;
        let size = step.iter().map(|x| x.abs()).fold(0.0, f64::max);
        for (w, s) in w.iter_mut().zip(step) {
            *w -= s;
        }
        let scale = w.iter().map(|x| x.abs()).fold(0.0, f64::max);
        // Quadratic convergence has reached rounding where the step no longer shrinks.
        if size <= 2.0 * f64::EPSILON * scale || (size >= 0.5 * last && size < 1e-12 * scale) {
            return Some(w);
        }
        last = size;
    }
    None
}

/// Cramer's rule.
fn solve([x, y, z]: [[f64; 3]; 3], b: [f64; 3]) -> Option<[f64; 3]> {
    let cross = |p: [f64; 3], q: [f64; 3]| {
        [
            p[1] * q[2] - p[2] * q[1],
            p[2] * q[0] - p[0] * q[2],
            p[0] * q[1] - p[1] * q[0],
        ]
    };
    let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let (yz, zx, xy) = (cross(y, z), cross(z, x), cross(x, y));
    let determinant = dot(x, yz);
    let solution = [dot(b, yz), dot(b, zx), dot(b, xy)].map(|d| d / determinant);
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_and_spatial_angular_momentum_are_kept_to_rounding() {
        let inertia = [1.0, 2.5, 3.2];
        let mut rotation = UnitQuaternion::from_rotation_vector([0.3, -0.8, 0.2]).0;
        let mut spin = [0.3, 7.0, -0.4];
        let momentum = |rotation: [f64; 4], spin: [f64; 3]| {
            let body = std::array::from_fn(|i| inertia[i] * spin[i]);
            UnitQuaternion(rotation).world_from_body(body)
        };
        let energy = |spin: [f64; 3]| (0..3).map(|i| inertia[i] * spin[i] * spin[i]).sum::<f64>();
        let (start, energy_start) = (momentum(rotation, spin), energy(spin));
        for _ in 0..1000 {
            spin = turn_freely(&mut rotation, spin, inertia, 0.01);
        }
        assert!((energy(spin) / energy_start - 1.0).abs() < 1e-12);
        for (a, b) in momentum(rotation, spin).iter().zip(start) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
    }

    #[test]
    fn the_middle_axis_flips_after_the_period_of_its_elliptic_function() {
        // ω about the middle axis with a small push: half a period of the motion is 2K(k)/λ.
        let inertia = [1.0, 2.0, 3.0];
        let (j1, j2, j3) = (inertia[0], inertia[1], inertia[2]);
        let spin = [1e-3, 2.0, 0.0];
        let twice: f64 = (0..3).map(|i| inertia[i] * spin[i] * spin[i]).sum();
        let square: f64 = (0..3).map(|i| (inertia[i] * spin[i]).powi(2)).sum();
        // Landau and Lifshitz, section 37, for L² > 2 E J₂ or the other way round.
        let (rate, modulus) = if square > twice * j2 {
            (
                ((j3 - j2) * (square - twice * j1) / (j1 * j2 * j3)).sqrt(),
                ((j2 - j1) * (twice * j3 - square) / ((j3 - j2) * (square - twice * j1))).sqrt(),
            )
        } else {
            (
                ((j2 - j1) * (twice * j3 - square) / (j1 * j2 * j3)).sqrt(),
                ((j3 - j2) * (square - twice * j1) / ((j2 - j1) * (twice * j3 - square))).sqrt(),
            )
        };
        // K by the arithmetic-geometric mean.
        let (mut a, mut g) = (1.0, (1.0 - modulus * modulus).sqrt());
        for _ in 0..40 {
            (a, g) = (0.5 * (a + g), (a * g).sqrt());
        }
        let half_period = 2.0 * (std::f64::consts::FRAC_PI_2 / a) / rate;
        let h = 1e-4;
        let (mut rotation, mut w, mut t) = ([1.0, 0.0, 0.0, 0.0], spin, 0.0);
        // ω₂ is extreme at the start and again, with the other sign, after half a period: zero in the middle.
        while w[1] > 0.0 {
            w = turn_freely(&mut rotation, w, inertia, h);
            t += h;
        }
        assert!(
            (t / (0.5 * half_period) - 1.0).abs() < 1e-4,
            "{t} {half_period}"
        );
    }
}
