//! A-priori bounds of the sweeping process, with the realised values beside them.

use crate::algebra::SymmetricMatrix;
use crate::records::StepRecord;

/// Constants of the data of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepingData {
    /// Speed |v_{−1}| before the start.
    pub speed: f64,
    /// Length T of the run.
    pub duration: f64,
    /// Step h.
    pub step: f64,
    /// Supremum F of the force (unit mass); for unbounded forces the realised maximum.
    pub force: f64,
    /// Largest friction coefficient.
    pub friction: f64,
    /// Supremum of |∇φ| near the boundary.
    pub gradient: f64,
    /// Lipschitz constant of ∇φ.
    pub gradient_slope: f64,
    /// Lipschitz constant of the unit normal.
    pub normal_slope: f64,
}

/// Bounds on velocity, penetration and variation of the velocity.
///
/// # What it computes
/// With `c = cos(atan μ)`: `R = |v_{−1}| + (T + h) F` bounds the speed; `K h`, `K = γ R + ½ T L_g R²`, the penetration;
/// `B = (T + h)(1 + 1/c) F + (|v_{−1}| + (T + h) F + (T + h) L_n R²)/c` the variation of the velocity.
///
/// # Source
/// [MonteiroMarquesDzonou2017], Lemmas 1.1, 1.4 and 1.5, with explicit constants of ours.
///
/// # Guarantees
/// Proved for identity mass (or no inertial coupling of normal and tangent), one contact, inelastic impacts.
///
/// # Behaviour to know
/// With a general mass and γ ≤ 0 a tangential jump of order 1 can occur at vanishing approach: the
/// bounds then mean nothing. They hold with much room (a factor 5 to 1000 in the reference runs).
///
/// # Cost
/// A few operations per step.
///
/// # Tested by
/// `tests/property_sweeping.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepingBounds {
    /// Bound R on the speed.
    pub speed: f64,
    /// Bound K h on the penetration.
    pub penetration: f64,
    /// Bound B on the variation of the velocity.
    pub variation: f64,
    /// cos α of the largest friction angle.
    pub cosine: f64,
}

impl SweepingBounds {
    /// Bounds from the data of a run.
    #[doc(hidden)]
    pub fn new(data: &SweepingData) -> Self {
        let time = data.duration + data.step;
        let cosine = 1.0 / 1.0f64.hypot(data.friction);
        let speed = data.speed + time * data.force;
        let k = data.gradient * speed + 0.5 * data.duration * data.gradient_slope * speed * speed;
        let created = data.speed + time * data.force + time * data.normal_slope * speed * speed;
        Self {
            speed,
            penetration: k * data.step,
            variation: time * (1.0 + 1.0 / cosine) * data.force + created / cosine,
            cosine,
        }
    }
}

/// What a run realised of the bounded quantities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepingRealised {
    /// Largest speed.
    pub speed: f64,
    /// Largest penetration −φ.
    pub penetration: f64,
    /// Variation of the velocity.
    pub variation: f64,
    last: Vec<f64>,
    mass: Option<SymmetricMatrix>,
}

impl SweepingRealised {
    /// Starts with the velocity before the first step.
    pub fn new(v: &[f64]) -> Self {
        Self {
            last: v.to_vec(),
            ..Self::default()
        }
    }

    /// The same, with velocities measured in the kinetic norm √(vᵀM v).
    pub(crate) fn in_metric(v: &[f64], mass: SymmetricMatrix) -> Self {
        Self {
            mass: Some(mass),
            ..Self::new(v)
        }
    }

    fn norm(&self, v: &[f64]) -> f64 {
        match &self.mass {
            Some(mass) => mass.bilinear(v, v).sqrt(),
            None => v.iter().map(|x| x * x).sum::<f64>().sqrt(),
        }
    }

    /// Reads a record.
    pub fn observe(&mut self, record: &StepRecord) {
        let v = &record.velocity;
        let change: Vec<f64> = v.iter().zip(&self.last).map(|(a, b)| a - b).collect();
        self.speed = self.speed.max(self.norm(v));
        self.variation += self.norm(&change);
        self.last.clone_from(v);
        for contact in &record.contacts {
            self.penetration = self.penetration.max(-contact.gap);
        }
    }

    /// Whether all bounds hold.
    pub fn within(&self, bounds: &SweepingBounds) -> bool {
        self.speed <= bounds.speed * (1.0 + 1e-12)
            && self.penetration <= bounds.penetration + 1e-14
            && self.variation <= bounds.variation * (1.0 + 1e-12)
    }
}
