//! How local velocities change along the motion while the velocity stays.

use crate::algebra::dot;
use crate::systems::{Instant, MechanicalSystem};

use super::accelerations::Accelerations;

impl Accelerations {
    /// d/dt of the local velocities of contacts and joints at constant v: exact where the functions know it, else by differences.
    pub(super) fn evaluate_rates(&mut self, system: &dyn MechanicalSystem, at: &Instant) {
        let (t, q, v) = (at.t, at.q, at.v);
        let mut rates = std::mem::take(&mut self.rates);
        let mut known = true;
        for slot in self.layout.slots() {
            let constraint = &system.constraints()[slot.key.constraint()];
            let frame = &constraint.points()[slot.key.point()].frame;
            let mut all = vec![0.0; 1 + frame.tangent_count()];
            known &= frame.turning(constraint.gap(), (t, q, v), &mut all);
            rates[slot.start..slot.start + slot.size].copy_from_slice(&all[..slot.size]);
        }
        self.rates = rates;
        for (rate, joint) in self.joint_rates.iter_mut().zip(system.joints()) {
            let turning = joint.function().turning(t, q, v);
            known &= turning.is_some();
            *rate = turning.unwrap_or(0.0);
        }
        if !known {
            self.difference_rates(system, at);
        }
    }

    /// The time in which the fastest coordinate moves by a thousandth of its size, and a body turns by as much of a radian; a
    /// thousandth of the step where nothing moves.
    fn difference_step(&self, system: &dyn MechanicalSystem, v: &[f64]) -> f64 {
        let turns = system.turns();
        let paces = v.iter().enumerate().map(|(k, v)| match self.sizes.get(k) {
            _ if turns && k >= 3 => v.abs(),
            // Only the orientation of a body moves its rows.
            _ if turns => 0.0,
            Some(size) if *size > 0.0 => v.abs() / size,
            _ => 0.0,
        });
        let fastest = paces.fold(0.0, f64::max);
        1e-3 * if fastest > 0.0 {
            1.0 / fastest
        } else {
            self.pause
        }
    }

    /// The same by differences of order four along the motion.
    fn difference_rates(&mut self, system: &dyn MechanicalSystem, at: &Instant) {
        let step = self.difference_step(system, at.v);
        let count = self.local.len();
        let mut rows = vec![0.0; self.rows.len()];
        let mut local = vec![0.0; count];
        let mut gradient = vec![0.0; at.v.len()];
        self.rates.fill(0.0);
        self.joint_rates.fill(0.0);
        let mut shifted = std::mem::take(&mut self.shifted);
        for (k, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let e = k * step;
            system.displace(at.q, at.v, e, &mut shifted);
            self.frames(system, at.t + e, &shifted, at.v, &mut rows, &mut local);
            for (rate, u) in self.rates.iter_mut().zip(&local) {
                *rate += weight * u / (12.0 * step);
            }
            for (rate, joint) in self.joint_rates.iter_mut().zip(system.joints()) {
                let function = joint.function();
                function.gradient(at.t + e, &shifted, &mut gradient);
                let u = dot(&gradient, at.v) + function.rate(at.t + e, &shifted);
                *rate += weight * u / (12.0 * step);
            }
        }
        self.shifted = shifted;
    }
}
