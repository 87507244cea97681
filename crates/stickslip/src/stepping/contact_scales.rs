//! Lengths and speeds of a run, in its own units: thresholds of steps are parts of them.

use crate::systems::{ForceDependence, Instant, MechanicalSystem};

/// A gap below this part of the length of the run is closed.
const CLOSED: f64 = 1e-12;
/// An approach below this part of the speed of the run is none.
const RESTING: f64 = 1e-10;
/// Steps over which forces at the start tell the lengths and speeds that they lead to.
pub(crate) const STEPS: f64 = 10.0;

/// What the gaps of a run are measured with, per constraint and in the unit of its gap.
///
/// The length of a gap is the size of the numbers that cancel in it, its value, and the way that the velocity and the
/// forces of the start make in ten steps; its speed is that of such a motion. Nothing is compared with a metre.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactScales {
    lengths: Vec<f64>,
    speeds: Vec<f64>,
}

impl ContactScales {
    /// The scales of a run with steps of length `h` from the state (t, q, v).
    pub fn of(system: &dyn MechanicalSystem, (t, q, v): (f64, &[f64], &[f64]), h: f64) -> Self {
        let a = accelerations(system, (t, q, v));
        let time = STEPS * h;
        let mut mass = system.new_matrix();
        system.mass(q, &mut mass);
        let mut gradient = vec![0.0; v.len()];
        let mut scales = Self::default();
        let mut slopes = Vec::new();
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
            slopes.push(finite(square.sqrt()));
        }
        // A node that starts at rest on its obstacle knows no length of its own: those of the others count for it.
        spread(&mut scales.lengths, &slopes);
        spread(&mut scales.speeds, &slopes);
        scales
    }

    /// Gap of a constraint up to which it is closed; zero where nothing is known of the run.
    pub fn closed_gap(&self, constraint: usize) -> f64 {
        CLOSED * self.lengths.get(constraint).copied().unwrap_or(0.0)
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
