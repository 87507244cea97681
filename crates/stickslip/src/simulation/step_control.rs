//! How long the next step is.

use serde::{Deserialize, Serialize};

use crate::stepping::contact_scales::{STEPS, accelerations};
use crate::systems::MechanicalSystem;

/// Fixed or adaptive step length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepControl {
    /// Always `h`; the last step may be shorter.
    Fixed {
        /// Step length.
        h: f64,
    },
    /// Step doubling: a step is compared with two half steps and its length chosen so that the
    /// positions differ by at most `tolerance` of the sizes of the coordinates (their values so far, and the way of the
    /// first ten steps). An impact is approached only as closely as a
    /// scheme of order 1 needs: the position error of a step across it is proportional to its length.
    Adaptive {
        /// First step length.
        h: f64,
        /// Tolerance on positions, as a part of their sizes.
        tolerance: f64,
        /// Shortest step; it is taken whatever the estimate says.
        h_min: f64,
        /// Longest step.
        h_max: f64,
    },
}

impl StepControl {
    /// The first or only step length.
    pub(crate) fn initial(&self) -> f64 {
        match *self {
            Self::Fixed { h } | Self::Adaptive { h, .. } => h,
        }
    }
}

/// Factor for the next step length from the error in units of the tolerance (local order 2).
pub(crate) fn growth(error: f64) -> f64 {
    if error == 0.0 {
        2.0
    } else {
        (0.9 / error.sqrt()).clamp(0.2, 2.0)
    }
}

/// A coordinate whose size is less than this part of the others', in the kinetic metric, is measured by them.
const SMALL: f64 = 1e-3;

/// Sizes of the coordinates of a run, in their own units: what the tolerance of an adaptive step is a part of.
///
/// The size of a coordinate is the largest of its value and of what it is at the start of the run, with the way that the
/// velocity and the forces there make in ten steps; and at least a thousandth of the largest size of all, in the
/// kinetic metric, so that rounding of a coordinate that does not move decides nothing. Nothing is compared with a metre.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CoordinateSizes {
    start: Vec<f64>,
    /// Square roots of the masses of the coordinates; none for those of an orientation, whose size is one.
    roots: Vec<Option<f64>>,
}

impl CoordinateSizes {
    /// The sizes at the start (t, q, v) of a run with a first step of length `h`.
    pub(super) fn of(system: &dyn MechanicalSystem, at: (f64, &[f64], &[f64]), h: f64) -> Self {
        let (_, q, v) = at;
        let accelerations = accelerations(system, at);
        let mut mass = system.new_matrix();
        system.mass(q, &mut mass);
        let time = STEPS * h;
        let (mut start, mut roots) = (Vec::new(), Vec::new());
        for (i, q) in q.iter().enumerate() {
            // The orientation of a body follows its place.
            if system.coordinate_count() == system.dof() || i < 3 {
                start.push(q.abs().max(time * (v[i].abs() + time * accelerations[i])));
                roots.push(Some(mass.get(i, i).max(0.0).sqrt()));
            } else {
                start.push(1.0);
                roots.push(None);
            }
        }
        Self { start, roots }
    }

    /// Largest difference of the configurations a and b in units of the sizes.
    pub(super) fn difference(&self, a: &[f64], b: &[f64]) -> f64 {
        let size = |i: usize| self.start[i].max(b[i].abs());
        let kinetic = |i: usize| self.roots[i].map_or(0.0, |root| root * size(i));
        let largest = (0..b.len()).map(kinetic).fold(0.0, f64::max);
        (0..b.len())
            .map(|i| {
                let least = match self.roots[i] {
                    Some(root) if root > 0.0 => SMALL * largest / root,
                    _ => 0.0,
                };
                let off = (a[i] - b[i]).abs();
                if off == 0.0 {
                    0.0
                } else {
                    off / size(i).max(least)
                }
            })
            .fold(0.0, f64::max)
    }
}
