//! The momentum account of a world or a body: one entry per step, whose terms must add up to rounding.
//!
//! `ΔP = forces + supports`, `ΔL = forces + supports + projection`, L about the origin.

use serde::{Deserialize, Serialize};

use super::closing;

/// Linear momentum and angular momentum about the origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Momentum {
    /// Linear part.
    pub linear: [f64; 3],
    /// Angular part, about the origin.
    pub angular: [f64; 3],
}

impl Momentum {
    /// Adds an impulse that acts at a place.
    #[inline]
    pub(crate) fn add_impulse(&mut self, place: [f64; 3], impulse: [f64; 3]) {
        let [x, y, z] = place;
        let [a, b, c] = impulse;
        for (sum, part) in self.linear.iter_mut().zip(impulse) {
            *sum += part;
        }
        self.angular[0] += y * c - z * b;
        self.angular[1] += z * a - x * c;
        self.angular[2] += x * b - y * a;
    }

    /// Adds a moment.
    #[inline]
    pub(crate) fn add_moment(&mut self, moment: [f64; 3]) {
        for (sum, part) in self.angular.iter_mut().zip(moment) {
            *sum += part;
        }
    }

    /// Adds another one, with a factor.
    pub(crate) fn add(&mut self, other: &Self, factor: f64) {
        for i in 0..3 {
            self.linear[i] += factor * other.linear[i];
            self.angular[i] += factor * other.angular[i];
        }
    }
}

/// Where the momentum of the free bodies went in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentumEntry {
    /// Change of momentum.
    pub change: Momentum,
    /// Impulse of gravity and external forces.
    pub forces: Momentum,
    /// Impulse of fixed and driven bodies.
    pub supports: Momentum,
    /// Change by a projection of positions.
    pub projection: Momentum,
    /// Sum of the sizes of all linear terms, the unit of rounding.
    pub linear_size: f64,
    /// Sum of the sizes of all angular terms.
    pub angular_size: f64,
}

impl MomentumEntry {
    /// Change minus what was supplied; must be rounding.
    pub fn imbalance(&self) -> Momentum {
        let mut rest = self.change;
        for part in [&self.forces, &self.supports, &self.projection] {
            rest.add(part, -1.0);
        }
        rest
    }
}

/// Sums the entries of a run and checks each of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentumLedger {
    /// Impulse of gravity and external forces since the start.
    pub forces: Momentum,
    /// Impulse of fixed and driven bodies since the start.
    pub supports: Momentum,
    /// Change by projections since the start.
    pub projection: Momentum,
    /// Largest imbalance of linear momentum in one step.
    pub worst_linear: f64,
    /// Largest imbalance of angular momentum in one step.
    pub worst_angular: f64,
    /// Largest imbalance in units of the rounding allowance; at most 1 means closed.
    pub worst_ratio: f64,
    /// Time of the largest ratio.
    pub worst_time: f64,
    /// Number of steps that did not close.
    pub open_steps: u64,
}

impl MomentumLedger {
    /// Enters a step; returns whether it closed within 50 units of rounding.
    pub fn enter(&mut self, t: f64, entry: &MomentumEntry) -> bool {
        self.forces.add(&entry.forces, 1.0);
        self.supports.add(&entry.supports, 1.0);
        self.projection.add(&entry.projection, 1.0);
        let rest = entry.imbalance();
        let length = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (linear, angular) = (length(rest.linear), length(rest.angular));
        let worst = closing::ratio(linear, entry.linear_size)
            .max(closing::ratio(angular, entry.angular_size));
        // A NaN must not pass for closed.
        let worst = if linear.is_nan() || angular.is_nan() {
            f64::NAN
        } else {
            worst
        };
        self.worst_linear = self.worst_linear.max(linear);
        self.worst_angular = self.worst_angular.max(angular);
        let kept = (&mut self.worst_ratio, &mut self.worst_time);
        closing::enter((t, worst), kept, &mut self.open_steps)
    }

    /// Whether every step closed.
    pub fn is_closed(&self) -> bool {
        self.open_steps == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impulse_that_nobody_gave_is_reported() {
        let mut entry = MomentumEntry {
            linear_size: 1.0,
            angular_size: 1.0,
            ..Default::default()
        };
        entry.change.add_impulse([1.0, 0.0, 0.0], [0.0, 0.0, 2.0]);
        entry.supports.add_impulse([1.0, 0.0, 0.0], [0.0, 0.0, 2.0]);
        let mut ledger = MomentumLedger::default();
        assert!(ledger.enter(0.1, &entry));
        assert_eq!(ledger.supports.angular, [0.0, -2.0, 0.0]);
        // The same impulse at another place leaves the linear part closed.
        entry.change = Momentum::default();
        entry
            .change
            .add_impulse([1.0 + 1e-10, 0.0, 0.0], [0.0, 0.0, 2.0]);
        assert!(!ledger.enter(0.2, &entry));
        assert_eq!((ledger.open_steps, ledger.worst_time), (1, 0.2));
        assert_eq!(ledger.worst_linear, 0.0);
    }
}
