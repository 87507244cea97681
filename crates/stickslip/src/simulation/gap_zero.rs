//! Whether a gap vanishes together with its gradient.

use crate::algebra::splitmix::Splitmix;
use crate::algebra::{dot, largest_size};
use crate::systems::MechanicalSystem;
use crate::systems::passage::{GapAlong, straight};

use super::joint_space::JointSpace;

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

/// So many steps in a row that converge slowly are those to a zero of higher order. Fewer of them lead to y + x² from far away, too:
/// x is halved until its slope is no longer the larger one.
const SLOW: usize = 40;

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
        if slow >= SLOW && new.abs() < 1e-4 * start.abs() {
            return GapZero::Degenerate;
        }
        value = new;
    }
    GapZero::NotReached
}

/// Configurations around one from which nothing leads to a zero, as from the top of a hill.
const STARTS: u64 = 12;

/// The same among configurations that satisfy the joints, from one that does and from some around it.
pub(super) fn gap_zero_beside_joints(
    system: &dyn MechanicalSystem,
    constraint: usize,
    t: f64,
    q: &[f64],
) -> GapZero {
    if system.joints().is_empty() {
        return gap_zero(system, constraint, t, q);
    }
    let n = system.dof();
    let around = |seed: u64| {
        let mut random = Splitmix(seed);
        let size = 10f64.powi((seed % 4) as i32 - 2) * (1.0 + largest_size(0.0, q));
        let step: Vec<f64> = (0..n).map(|_| size * (2.0 * random.unit() - 1.0)).collect();
        let mut start = q.to_vec();
        system.displace(q, &step, 1.0, &mut start);
        JointSpace::settle(system, t, &mut start).then_some(start)
    };
    let others = (0..STARTS).filter_map(around);
    std::iter::once(q.to_vec())
        .chain(others)
        .map(|start| gap_zero_along_joints(system, constraint, t, &start))
        .find(|found| *found != GapZero::NotReached)
        .unwrap_or(GapZero::NotReached)
}

/// Newton's method along what joints leave of the gradient in the metric of the mass, which decides where it ends.
fn gap_zero_along_joints(
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
        let Some(space) = JointSpace::at(system, t, &q) else {
            break;
        };
        gap.gradient(t, &q, &mut gradient);
        let size: f64 = gradient.iter().zip(&q).map(|(g, q)| (g * q).abs()).sum();
        let (whole, response) = space.responses(&gradient);
        let (all, left) = (dot(&gradient, &whole), dot(&gradient, &response));
        if value.abs() <= 1e-14 * size {
            return if left > INERT * all {
                GapZero::Regular
            } else {
                GapZero::Degenerate
            };
        }
        if !(left > 0.0) || !value.is_finite() {
            break;
        }
        let step: Vec<f64> = response.iter().map(|r| -value * r / left).collect();
        system.displace(&q, &step, 1.0, &mut next);
        std::mem::swap(&mut q, &mut next);
        if !JointSpace::settle(system, t, &mut q) {
            break;
        }
        let ratio = gap.value(t, &q) / value;
        slow = if (0.15..0.45).contains(&ratio) {
            slow + 1
        } else {
            0
        };
        value *= ratio;
        if slow >= SLOW && value.abs() < 1e-4 * start.abs() {
            return GapZero::Degenerate;
        }
    }
    GapZero::NotReached
}

/// What joints leave of the square of a gradient that they hold, by rounding.
const INERT: f64 = 1e-12;

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
