//! Sizes that the run itself has: what counts as touching, as stopped and as rounding is a part of them.

use serde::{Deserialize, Serialize};

use crate::algebra::{CholeskyFactor, dot};
use crate::systems::MechanicalSystem;

use super::accelerations::{Accelerations, extent};

/// A gap below this part of the lengths of the run counts as touching where an impact or a release is decided.
pub(super) const TOUCHING: f64 = 1e-9;
/// A slip in several tangents below this part of the speeds of the run has stopped.
pub(super) const STOPPED: f64 = 1e-9;
/// A slip in several tangents that begins from rest goes along its acceleration up to this part of the speeds of the run. It lags behind its true
/// direction by what that turns meanwhile, which friction makes good as soon as it follows the slip; places differ by the product of both and the time.
pub(super) const BEGUN: f64 = 1e-6;

/// Lengths and speeds of a run so far, in its own units: nothing is compared with a metre or a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scales {
    /// Largest size of every coordinate.
    reach: Vec<f64>,
    /// Largest kinetic energy, also the one that the forces give within a step.
    kinetic: f64,
    /// Length of the last step.
    step: f64,
    /// For every coordinate the velocity that moves it along a line; none for parts of a rotation.
    #[serde(skip)]
    moved_by: Vec<Option<usize>>,
    /// Diagonal of the inverse mass at the start.
    #[serde(skip)]
    mobility: Vec<f64>,
    /// Limit of a touching gap, per constraint.
    #[serde(skip)]
    pub touching: Vec<f64>,
    /// Speed of every contact row at the largest kinetic energy.
    #[serde(skip)]
    pub speeds: Vec<f64>,
    #[serde(skip)]
    gradient: Vec<f64>,
}

impl Scales {
    /// Everything that depends on the system and its start alone.
    pub fn prepare(&mut self, system: &dyn MechanicalSystem, q: &[f64], factor: &CholeskyFactor) {
        let n = system.dof();
        let unit = |k: usize| {
            let mut e = vec![0.0; n];
            e[k] = 1.0;
            e
        };
        self.reach = vec![0.0; q.len()];
        self.kinetic = 0.0;
        self.gradient = vec![0.0; n];
        self.mobility = (0..n)
            .map(|k| {
                let mut column = unit(k);
                factor.solve_in_place(&mut column);
                column[k]
            })
            .collect();
        self.moved_by = vec![None; q.len()];
        let mut moved = vec![0.0; q.len()];
        for k in 0..n {
            system.displace(q, &unit(k), 1.0, &mut moved);
            let near = |i: usize, change: f64| {
                (moved[i] - q[i] - change).abs() <= 1e-9 * (1.0 + q[i].abs())
            };
            let alone = |&i: &usize| (0..q.len()).all(|j| near(j, f64::from(j == i)));
            if let Some(i) = (0..q.len()).find(alone) {
                self.moved_by[i] = Some(k);
            }
        }
    }

    /// Takes over what a resumed run had seen.
    pub fn take_up(&mut self, seen: Self) {
        if seen.reach.len() == self.reach.len() {
            (self.reach, self.kinetic, self.step) = (seen.reach, seen.kinetic, seen.step);
        }
    }

    /// The length of the step that begins.
    pub fn begin_step(&mut self, h: f64) {
        self.step = h;
    }

    pub fn step(&self) -> f64 {
        self.step
    }

    /// Takes note of the state whose accelerations were placed last.
    pub fn observe(
        &mut self,
        system: &dyn MechanicalSystem,
        acc: &Accelerations,
        (t, q, v): (f64, &[f64], &[f64]),
    ) {
        let h = self.step;
        for (reach, x) in self.reach.iter_mut().zip(q) {
            *reach = reach.max(x.abs());
        }
        self.kinetic = self
            .kinetic
            .max(acc.kinetic(v))
            .max(acc.kinetic_from_rest(h));
        self.touching.clear();
        for constraint in system.constraints() {
            let mut gradient = std::mem::take(&mut self.gradient);
            constraint.gap().gradient(t, q, &mut gradient);
            let slopes = gradient.iter().enumerate();
            let length: f64 = slopes
                .map(|(k, g)| (g * extent(system, &self.reach, k)).abs())
                .sum();
            let travel = h * self.row_speed(acc, &gradient);
            self.touching.push(TOUCHING * (length + travel));
            self.gradient = gradient;
        }
        self.speeds.clear();
        for (s, slot) in acc.layout.slots().iter().enumerate() {
            for i in 0..slot.size {
                let speed = self.row_speed(acc, acc.row(s, i));
                self.speeds.push(speed);
            }
        }
    }

    /// Largest size of what every velocity moves.
    pub fn lengths(&self, system: &dyn MechanicalSystem) -> Vec<f64> {
        let all = 0..self.mobility.len();
        all.map(|k| extent(system, &self.reach, k)).collect()
    }

    /// Length of the run in the unit of a gap.
    pub fn length(&self, constraint: usize) -> f64 {
        self.touching[constraint] / TOUCHING
    }

    /// Largest rate of a covector at the largest kinetic energy: √(2T g·M⁻¹g).
    pub fn row_speed(&self, acc: &Accelerations, row: &[f64]) -> f64 {
        let mut x = row.to_vec();
        acc.factor.solve_in_place(&mut x);
        (2.0 * self.kinetic * dot(row, &x).max(0.0)).sqrt()
    }

    /// Sizes of coordinates and velocities, for the error of the step.
    pub fn of_state(&self) -> Vec<f64> {
        let h = self.step;
        let speed = |k: usize| (2.0 * self.kinetic * self.mobility[k].max(0.0)).sqrt();
        let coordinates = self
            .reach
            .iter()
            .zip(&self.moved_by)
            .map(|(reach, by)| match by {
                Some(k) => reach + h * speed(*k),
                // Parts of a rotation are numbers of a unit vector.
                None => 1.0,
            });
        coordinates
            .chain((0..self.mobility.len()).map(speed))
            .collect()
    }
}
