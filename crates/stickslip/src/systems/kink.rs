//! Where the normal of a gap jumps along a way.

use super::MechanicalSystem;
use super::functions::ScalarFunction;
use super::passage::straight;

/// Halvings of a way: what is left of a smooth turn after them is a ten-millionth of it.
const HALVINGS: u32 = 24;
/// A jump is at least this part of what the rate changes on the way.
const PART: f64 = 0.1;

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
        row.iter().zip(v).map(|(g, v)| g * v).sum::<f64>() + gap.rate(t, &q)
    };
    let (mut a, mut b) = ((0.0, rate(0.0)), (1.0, rate(1.0)));
    let least = PART * (b.1 - a.1).abs();
    if !(least > 0.0) {
        return false;
    }
    for _ in 0..HALVINGS {
        let s = 0.5 * (a.0 + b.0);
        let middle = (s, rate(s));
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
}
