//! Lengths and speeds of a run, in its own units: thresholds of steps are parts of them.

use serde::{Deserialize, Serialize};

use crate::contact::{ContactProblem, ContactResidual, SPEED_ROUNDING, VELOCITY_FACTOR};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

/// A gap below this part of the length of the run is closed.
const CLOSED: f64 = 1e-12;
/// Errors of velocities beyond this part of those that impulses answer are no precision, and close no gap: no certificate admits them.
const PRECISE: f64 = VELOCITY_FACTOR * 1e-8;

/// What solutions have left at the contacts of a constraint so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Largest normal velocity, in the kinetic metric.
    velocity: f64,
    /// The way that all of them make.
    way: f64,
    /// Largest error of a local velocity.
    error: f64,
}

/// An approach below this part of the speed of the run is none.
const RESTING: f64 = 1e-10;
/// Steps over which forces at the start tell the lengths and speeds that they lead to, and over which what solvers leave adds up.
pub(crate) const STEPS: f64 = 10.0;

/// What the gaps of a run are measured with, per constraint and in the unit of its gap.
///
/// The length of a gap is the size of the numbers that cancel in it, its value, and the way that the velocity and the
/// forces of the start make in ten steps; its speed is that of such a motion. Nothing is compared with a metre.
///
/// A contact at rest is left with a velocity as small as the solver is precise, which opens its gap step by step. What solutions have left there so far
/// ([`Self::observe`]) is therefore closed, too: at the origin of coordinates, where nothing rounds, it is all that there is. Nor is what is that far below its
/// obstacle brought back, which would open other contacts of the body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactScales {
    lengths: Vec<f64>,
    speeds: Vec<f64>,
    /// What a gap can change at most along a displacement of kinetic length one, at the start.
    slopes: Vec<f64>,
    left: Vec<Left>,
    /// Length of the step.
    step: f64,
}

impl ContactScales {
    /// The scales of a run with steps of length `h` from the state (t, q, v).
    pub fn of(system: &dyn MechanicalSystem, (t, q, v): (f64, &[f64], &[f64]), h: f64) -> Self {
        let a = accelerations(system, (t, q, v));
        let time = STEPS * h;
        let mut mass = system.new_matrix();
        system.mass(q, &mut mass);
        let mut gradient = vec![0.0; v.len()];
        let mut scales = Self {
            step: h,
            ..Self::default()
        };
        for constraint in system.constraints() {
            let gap = constraint.gap();
            gap.gradient(t, q, &mut gradient);
            let along = |x: &[f64]| -> f64 {
                let parts = gradient.iter().zip(x).map(|(g, x)| (g * x).abs());
                parts.sum()
            };
            let speed = along(v) + gap.rate(t, q).abs() + time * along(&a);
            let numbers = along(q) + gap.magnitude(t, q);
            let length = numbers + gap.value(t, q).abs() + time * speed;
            scales.lengths.push(finite(length));
            scales.speeds.push(finite(speed));
            // In the kinetic metric: an angle and a length have no common unit.
            let squares = gradient.iter().enumerate();
            let square: f64 = squares.map(|(i, g)| g * g / mass.get(i, i)).sum();
            scales.slopes.push(finite(square.sqrt()));
        }
        // A node that starts at rest on its obstacle knows no length of its own: those of the others count for it.
        spread(&mut scales.lengths, &scales.slopes);
        spread(&mut scales.speeds, &scales.slopes);
        scales.left = vec![Left::default(); scales.lengths.len()];
        scales
    }

    /// A step of length h begins.
    pub fn begin_step(&mut self, h: f64) {
        self.step = h;
    }

    /// What solutions have left at every constraint so far.
    pub fn left(&self) -> &[Left] {
        &self.left
    }

    /// Takes over what a resumed run had seen.
    pub fn take_up(&mut self, left: Vec<Left>) {
        if left.len() == self.left.len() {
            self.left = left;
        }
    }

    /// Takes note of the velocities that a solution leaves: the errors that its residual stands for, and at least the rounding of what its
    /// impulses give and of the fastest velocity of the run.
    pub fn observe(
        &mut self,
        problem: &ContactProblem,
        (residual, fastest): (&ContactResidual, f64),
        impulse: &[f64],
    ) {
        if self.left.is_empty() {
            return;
        }
        residual.for_each_velocity(problem, impulse, |b, error| {
            let (most, least) = (PRECISE, SPEED_ROUNDING);
            let rounding = least * fastest.max(error.answered);
            let at_most = |velocity: f64| velocity.min(most * error.answered).max(rounding);
            self.leave(problem, b, at_most(error.normal));
            if let Some(left) = self.left.get_mut(problem.blocks()[b].key.constraint()) {
                left.error = left.error.max(finite(at_most(error.whole)));
            }
        });
    }

    /// Takes note of a normal velocity that stays as it is at a block of a problem.
    pub fn leave(&mut self, problem: &ContactProblem, b: usize, velocity: f64) {
        let block = &problem.blocks()[b];
        let own = problem.w(block.start, block.start);
        let left = self.left.get_mut(block.key.constraint());
        if let (Some(left), true) = (left, own > 0.0) {
            let kinetic = finite(velocity.abs() / own.sqrt());
            left.velocity = left.velocity.max(kinetic);
            left.way += self.step * kinetic;
        }
    }

    /// Slip of a constraint that solutions leave where it rests.
    pub fn resting_slip(&self, constraint: usize) -> f64 {
        self.left.get(constraint).map_or(0.0, |left| left.error)
    }

    /// Gap of a constraint up to which it is closed; zero where nothing is known of the run.
    pub fn closed_gap(&self, constraint: usize) -> f64 {
        self.left_gap(constraint)
            .max(CLOSED * self.length(constraint))
    }

    /// What solutions may have opened or closed the gap of a constraint by, so far and in ten steps.
    pub fn left_gap(&self, constraint: usize) -> f64 {
        let left = self.left.get(constraint).zip(self.slopes.get(constraint));
        left.map_or(0.0, |(left, slope)| {
            slope * (left.way + STEPS * self.step * left.velocity)
        })
    }

    /// Rate of a gap up to which the constraint rests.
    pub fn resting_rate(&self, constraint: usize) -> f64 {
        RESTING * self.speeds.get(constraint).copied().unwrap_or(0.0)
    }

    /// Length of the run in the unit of a gap.
    pub fn length(&self, constraint: usize) -> f64 {
        self.lengths.get(constraint).copied().unwrap_or(0.0)
    }
}

/// Makes every size at least the largest one per unit of kinetic length, by the slope of its gap.
fn spread(sizes: &mut [f64], slopes: &[f64]) {
    let per_slope = sizes.iter().zip(slopes).filter(|(_, slope)| **slope > 0.0);
    let largest = per_slope.map(|(x, s)| x / s).fold(0.0, f64::max);
    for (size, slope) in sizes.iter_mut().zip(slopes) {
        *size = size.max(finite(largest * slope));
    }
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// About the acceleration of every velocity at the start: forces over the diagonal of the mass. Linear springs only
/// take back the coordinates, whose size counts already.
pub(crate) fn accelerations(
    system: &dyn MechanicalSystem,
    (t, q, v): (f64, &[f64], &[f64]),
) -> Vec<f64> {
    let n = v.len();
    let (mut sum, mut part) = (vec![0.0; n], vec![0.0; n]);
    let mut add = |part: &[f64]| {
        for (sum, part) in sum.iter_mut().zip(part) {
            *sum += finite(part.abs());
        }
    };
    if system.force_dependence() != ForceDependence::None {
        system.force(&Instant::new(t, q, v), &mut part);
        add(&part);
    }
    if system.has_potential() {
        system.potential_gradient(q, &mut part);
        add(&part);
    }
    let mut mass = system.new_matrix();
    system.mass(q, &mut mass);
    for (i, sum) in sum.iter_mut().enumerate() {
        *sum = finite(*sum / mass.get(i, i));
    }
    sum
}
