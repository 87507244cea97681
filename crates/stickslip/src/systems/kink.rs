//! Where the normal of a gap, or its value, jumps along a way.

use super::MechanicalSystem;
use super::functions::ScalarFunction;
use super::passage::straight;
use crate::algebra::dot;

/// Halvings of a way: what is left of a smooth turn after them is a ten-millionth of it.
const HALVINGS: u32 = 24;
/// A jump is at least this part of what the rate changes on the way,
const PART: f64 = 0.1;
/// and this part of what cancels in it, which is rounding.
const ROUNDING: f64 = 1e-12;

/// Whether the rate of a gap for the velocity `v` jumps on the straight way between two configurations.
///
/// The half on which the rate changes more is halved again and again: a smooth change is halved with it, a jump stays. One that is
/// a small part of a smooth change is taken for a part of it.
pub(crate) fn rate_jumps(
    system: &dyn MechanicalSystem,
    gap: &dyn ScalarFunction,
    [(t0, q0), (t1, q1)]: [(f64, &[f64]); 2],
    v: &[f64],
) -> bool {
    if !gap.has_kinks() {
        return false;
    }
    let (mut q, mut row) = (vec![0.0; q0.len()], vec![0.0; v.len()]);
    let mut rate = |s: f64| {
        straight(system, (q0, q1), s, &mut q);
        let t = t0 + s * (t1 - t0);
        gap.gradient(t, &q, &mut row);
        let parts = row.iter().zip(v).map(|(g, v)| g * v);
        let size = parts.clone().map(f64::abs).sum::<f64>();
        let drift = gap.rate(t, &q);
        (parts.sum::<f64>() + drift, size + drift.abs())
    };
    let (first, last) = (rate(0.0), rate(1.0));
    let (mut a, mut b) = ((0.0, first.0), (1.0, last.0));
    let least = PART * (b.1 - a.1).abs();
    if !(least > PART * ROUNDING * (first.1 + last.1)) {
        return false;
    }
    for _ in 0..HALVINGS {
        let s = 0.5 * (a.0 + b.0);
        let middle = (s, rate(s).0);
        if (middle.1 - a.1).abs() >= (b.1 - middle.1).abs() {
            b = middle;
        } else {
            a = middle;
        }
        if (b.1 - a.1).abs() < least {
            return false;
        }
    }
    true
}

/// A value has jumped if the way that is left after all halvings changes it by more than this part of what its rate says of the whole.
const JUMP: f64 = 1e-3;
/// Parts in which it is looked at first.
const PARTS: u32 = 4;
/// Parts that are looked at in all: what is rougher than that tells no jumps.
const PARTS_MAX: usize = 4096;

/// What the value of a function jumps on the straight way between two configurations, and the value that it jumps to, for every jump by
/// more than `least`; none where it is continuous, nor in systems whose velocities are not the rates of their coordinates.
///
/// A part of the way is halved again while its change is not what the rates at its ends say of it: halving leaves of a bend an eighth, of
/// a kink one half, of a jump all.
pub(crate) fn value_jumps(
    system: &dyn MechanicalSystem,
    function: &dyn ScalarFunction,
    [(t0, q0), (t1, q1)]: [(f64, &[f64]); 2],
    least: f64,
) -> Vec<[f64; 2]> {
    if !function.has_jumps() || q0.len() != system.dof() {
        return Vec::new();
    }
    let moved: Vec<f64> = q1.iter().zip(q0).map(|(b, a)| b - a).collect();
    let (mut q, mut row) = (vec![0.0; q0.len()], vec![0.0; moved.len()]);
    let mut at = |s: f64| {
        straight(system, (q0, q1), s, &mut q);
        let t = t0 + s * (t1 - t0);
        function.gradient(t, &q, &mut row);
        let slope = dot(&row, &moved) + (t1 - t0) * function.rate(t, &q);
        (s, function.value(t, &q), slope)
    };
    type Place = (f64, f64, f64);
    let unsaid = |a: Place, b: Place| b.1 - a.1 - 0.5 * (b.0 - a.0) * (a.2 + b.2);
    let places: Vec<Place> = (0..=PARTS)
        .map(|k| at(f64::from(k) / f64::from(PARTS)))
        .collect();
    let mut steepest = places.iter().fold(0.0f64, |most, p| most.max(p.2.abs()));
    let (mut jumps, mut parts) = (Vec::new(), Vec::new());
    parts.extend(places.windows(2).rev().map(|ends| (ends[0], ends[1], 0)));
    let mut looks = 0;
    while let Some((a, b, halvings)) = parts.pop() {
        looks += 1;
        if looks > PARTS_MAX {
            return Vec::new();
        }
        let middle = at(0.5 * (a.0 + b.0));
        steepest = steepest.max(middle.2.abs());
        let least = least.max(JUMP * steepest);
        // A bend may hide a jump from its whole, and hardly from both halves as well.
        let smooth = [(a, b), (a, middle), (middle, b)].map(|(a, b)| unsaid(a, b).abs() <= least);
        if smooth == [true; 3] {
            continue;
        }
        if halvings == HALVINGS - PARTS.ilog2() {
            jumps.push([b.1 - a.1, b.1]);
            continue;
        }
        parts.extend([(middle, b, halvings + 1), (a, middle, halvings + 1)]);
    }
    jumps
}

/// Whether a gap jumps below zero on such a way: the body is then inside the obstacle and met no face of it. One that jumps open is an
/// edge, from which a body falls.
pub(crate) fn jumps_shut(
    system: &dyn MechanicalSystem,
    gap: &dyn ScalarFunction,
    ends: [(f64, &[f64]); 2],
    least: f64,
) -> bool {
    let jumps = value_jumps(system, gap, ends, least);
    let shut = |[size, after]: &[f64; 2]| *after < -least && *size < 0.0;
    jumps.iter().any(shut)
}

/// An obstacle that a step meets is no deeper at its end than this many times what the normal tells of it,
const RESOLVED: f64 = 1.5;
/// and with kinks this part of the way of the step: what is rounded off within it is deeper by a part of the angle.
const ROUNDED: f64 = 0.1;
/// Cosine of the angle by which the normal of a smooth surface may turn within a step that begins and ends on it: a sixth of a circle.
const TURNED: f64 = 0.5;

/// Whether a way ends deeper behind a gap than its normal tells: what rose in between and levelled off again was not met. Of a gap with kinks
/// that is its approach along the normal at the end; of a smooth one, whose normal turns, the whole way along the normal at `back`, the place to which
/// the end was brought back, unless it turns too far along the surface. Lengths are kinetic, by the masses of the coordinates alone.
pub(crate) fn leapt_over(
    system: &dyn MechanicalSystem,
    gap: &dyn ScalarFunction,
    ([(t0, q0), (t1, q1)], back): ([(f64, &[f64]); 2], &[f64]),
    moved: &[f64],
    least: f64,
) -> bool {
    let depth = -gap.value(t1, q1);
    if !(depth > least) {
        return false;
    }
    let mut mass = system.new_matrix();
    system.mass(q0, &mut mass);
    let weight = |k: usize| mass.get(k, k).max(f64::MIN_POSITIVE);
    let way = moved.iter().enumerate();
    let length: f64 = way.map(|(k, x)| weight(k) * x * x).sum();
    let mut row = vec![0.0; moved.len()];
    let kinks = gap.has_kinks();
    let place = if kinks { q1 } else { back };
    gap.gradient(t1, place, &mut row);
    let slopes = row.iter().enumerate();
    let steepness: f64 = slopes.map(|(k, g)| g * g / weight(k)).sum();
    let (whole, drift) = ((steepness * length).sqrt(), gap.rate(t1, place) * (t1 - t0));
    let before = gap.value(t0, q0).abs();
    if kinks {
        let along = (dot(&row, moved) + drift).abs();
        depth > RESOLVED * (along + before) + ROUNDED * whole
    } else {
        let on_it = before < ROUNDED * whole && depth > ROUNDED * whole;
        let mut first = vec![0.0; moved.len()];
        gap.gradient(t0, q0, &mut first);
        let products = |a: &[f64], b: &[f64]| {
            let both = a.iter().zip(b).enumerate();
            both.map(|(k, (a, b))| a * b / weight(k)).sum::<f64>()
        };
        let cosine = products(&first, &row) / (products(&first, &first) * steepness).sqrt();
        on_it && cosine < TURNED || depth > RESOLVED * (whole + drift.abs() + before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::GeneralizedSystem;
    use crate::systems::functions::GivenScalar;

    /// The floor y = max(0, x - c)^p.
    struct Ramp(f64, f64);

    impl ScalarFunction for Ramp {
        fn value(&self, _: f64, q: &[f64]) -> f64 {
            q[1] - (q[0] - self.0).max(0.0).powf(self.1)
        }
        fn gradient(&self, _: f64, q: &[f64], out: &mut [f64]) {
            let x = q[0] - self.0;
            let slope = if x > 0.0 {
                self.1 * x.powf(self.1 - 1.0)
            } else {
                0.0
            };
            out.copy_from_slice(&[-slope, 1.0]);
        }
        fn has_kinks(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_jump_of_the_normal_is_told_from_its_turning() {
        let system = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0; 2]);
        let system = system.build(&[0.0; 2]).expect("valid");
        let jumps = |gap: &dyn ScalarFunction, (a, b): (f64, f64)| {
            rate_jumps(
                &system,
                gap,
                [(0.0, &[a, 0.0]), (0.0, &[b, 0.0])],
                &[1.0, 0.3],
            )
        };
        for k in 1..100 {
            let c = 0.01 * f64::from(k);
            assert!(jumps(&Ramp(c, 1.0), (0.0, 1.0)) && jumps(&Ramp(c, 1.0), (1.0, 0.0)));
            // A slope that begins to grow.
            assert!(!jumps(&Ramp(c, 2.0), (0.0, 1.0)));
            assert!(!jumps(&Ramp(-c, 1.0), (0.0, 1.0)) && !jumps(&Ramp(1.0 + c, 1.0), (0.0, 1.0)));
        }
        // What is not known to have kinks is not asked.
        let smooth = GivenScalar {
            value: |q: &[f64]| q[1] - q[0].abs(),
            gradient: |q: &[f64], row: &mut [f64]| row.copy_from_slice(&[-q[0].signum(), 1.0]),
        };
        assert!(!jumps(&smooth, (-1.0, 1.0)));
    }

    /// A stair of the given height at x = c on a floor that bends.
    struct Stair(f64, f64);

    impl ScalarFunction for Stair {
        fn value(&self, _: f64, q: &[f64]) -> f64 {
            let step = if q[0] < self.0 { 0.0 } else { self.1 };
            q[1] - 0.3 * q[0] * q[0] - 0.2 * (q[0] - 0.37).abs() - step
        }
        fn gradient(&self, _: f64, q: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[-0.6 * q[0] - 0.2 * (q[0] - 0.37).signum(), 1.0]);
        }
        fn has_kinks(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_jump_of_the_value_is_told_from_bends_and_kinks() {
        let system = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0; 2]);
        let system = system.build(&[0.0; 2]).expect("valid");
        let jump = |c: f64, height: f64, (a, b): (f64, f64)| {
            let ends = [(0.0, &[a, 0.0][..]), (0.1, &[b, 0.1][..])];
            value_jumps(&system, &Stair(c, height), ends, 1e-9)
        };
        for k in 1..100 {
            let c = 0.01 * f64::from(k);
            for height in [0.01, -0.01, 0.5] {
                for way in [(0.0, 1.0), (1.0, 0.0)] {
                    let sign = if way.0 < way.1 { -1.0 } else { 1.0 };
                    let jumps = jump(c, height, way);
                    let &[[size, _]] = jumps.as_slice() else {
                        panic!("{c} {height}: {jumps:?}");
                    };
                    assert!((size - sign * height).abs() < 1e-6, "{c} {height} {size}");
                }
                // Not on the way.
                assert!(jump(-c, height, (0.0, 1.0)).is_empty());
            }
            assert!(jump(c, 0.0, (0.0, 1.0)).is_empty());
        }
        // A body at rest beside the stair.
        assert!(jump(0.5, 0.5, (0.499, 0.499)).is_empty());
    }
}
