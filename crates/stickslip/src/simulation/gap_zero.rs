//! Whether a gap vanishes together with its gradient.

use crate::systems::MechanicalSystem;
use crate::systems::passage::{GapAlong, straight};

/// How a gap goes through zero, as Newton's method sees it from a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapZero {
    /// The method converges faster and faster: the gradient does not vanish there.
    Regular,
    /// It converges like a geometric series with the ratio (1 − 1/k)ᵏ of a zero of order k ≥ 2.
    Degenerate,
    /// It found no zero.
    NotReached,
}

/// Newton's method on the gap alone, along its gradient.
///
/// At a zero of order k each step multiplies the gap by (1 − 1/k)ᵏ: 1/4 for y², less than 1/e for all; at a regular
/// one the ratios tend to 0. No unit and no size of the system enters.
pub(super) fn gap_zero(
    system: &dyn MechanicalSystem,
    constraint: usize,
    t: f64,
    q: &[f64],
) -> GapZero {
    let gap = system.constraints()[constraint].gap();
    let (mut q, mut next) = (q.to_vec(), q.to_vec());
    let mut gradient = vec![0.0; system.dof()];
    let start = gap.value(t, &q);
    let (mut value, mut slow) = (start, 0);
    for _ in 0..80 {
        if value == 0.0 {
            return GapZero::Regular;
        }
        gap.gradient(t, &q, &mut gradient);
        let square: f64 = gradient.iter().map(|g| g * g).sum();
        let size: f64 = gradient.iter().zip(&q).map(|(g, q)| (g * q).abs()).sum();
        if value.abs() <= 1e-14 * size {
            return GapZero::Regular;
        }
        if !(square > 0.0) || !value.is_finite() {
            break;
        }
        let step: Vec<f64> = gradient.iter().map(|g| -value * g / square).collect();
        system.displace(&q, &step, 1.0, &mut next);
        std::mem::swap(&mut q, &mut next);
        let new = gap.value(t, &q);
        let ratio = new / value;
        slow = if (0.15..0.45).contains(&ratio) {
            slow + 1
        } else {
            0
        };
        if slow >= 12 && new.abs() < 1e-4 * start.abs() {
            return GapZero::Degenerate;
        }
        value = new;
    }
    GapZero::NotReached
}

/// A gap that falls to this part of what a step can move it, and then rises, was passed.
const PASSED: f64 = 1e-2;

/// Whether the straight way between two configurations goes through a constraint: its gap all but reaches zero on it, and
/// its normal turns by more than a right angle there.
pub(super) fn passed_through(
    system: &dyn MechanicalSystem,
    constraint: usize,
    (t0, q0): (f64, &[f64]),
    (t1, q1): (f64, &[f64]),
    v: &[f64],
) -> bool {
    let gap = system.constraints()[constraint].gap();
    let (n, h) = (system.dof(), t1 - t0);
    let mut mass = system.new_matrix();
    system.mass(q0, &mut mass);
    let weights: Vec<f64> = (0..n).map(|i| mass.get(i, i)).collect();
    let moved: Vec<f64> = if system.coordinate_count() == n {
        q1.iter().zip(q0).map(|(b, a)| b - a).collect()
    } else {
        v.iter().map(|v| h * v).collect()
    };
    let along = GapAlong {
        system,
        gap,
        place: &|s, q| straight(system, (q0, q1), s, q),
        moved: &|_, out| out.copy_from_slice(&moved),
        time: (t0, h),
        weights: &weights,
        rounding: 0.0,
    };
    let mut q = Vec::new();
    let ends = [0.0, 1.0].map(|s| along.station(s, &mut q).steepness);
    let least = PASSED * ends[0].max(ends[1]);
    along.valley().is_some_and(|gap| gap <= least)
}
