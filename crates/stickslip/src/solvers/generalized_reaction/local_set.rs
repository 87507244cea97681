//! One friction set: minimum of a quadratic over it, projection in a metric, support of velocities.

use crate::laws::{FrictionSection, GeneralizedSet, PerUnitNormal, SetUnit};
use crate::solvers::one_contact::{LocalScratch, OneContact, solve_kinetic, solve_known_normal};

/// Set {s : g_D(s) + c·s ≤ λ} of one block of a program; the tilt is empty for c = 0.
#[derive(Clone, Debug)]
pub(super) struct ScaledSet {
    pub section: FrictionSection,
    pub tilt: Vec<f64>,
    pub budget: f64,
}

impl ScaledSet {
    /// The set of a block: its section in the unit of the rule, tilt `coupling` = W_nt/W_nn for a Coulomb cone.
    pub fn new(
        section: &FrictionSection,
        unit: SetUnit,
        gradient_norm: f64,
        coupling: &[f64],
        budget: f64,
    ) -> Self {
        let (section, tilt) = match unit {
            SetUnit::CoulombCone => (section.clone(), coupling.to_vec()),
            SetUnit::PerGradient => (section.clone(), Vec::new()),
            SetUnit::PerUnitNormal => (section.scaled(gradient_norm), Vec::new()),
        };
        let tilt = if tilt.iter().all(|&c| c == 0.0) {
            Vec::new()
        } else {
            tilt
        };
        Self {
            section,
            tilt,
            budget,
        }
    }

    /// The set in the coordinates x = factor · s.
    pub fn stretched(&self, factor: f64) -> Self {
        Self {
            section: self.section.scaled(factor),
            tilt: self.tilt.iter().map(|c| c / factor).collect(),
            budget: self.budget,
        }
    }

    /// Ends with one tangential direction, times the budget.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let (lower, upper) = self.section.ends()?;
        planar_ends(
            lower,
            upper,
            self.tilt.first().copied().unwrap_or(0.0),
            self.budget,
        )
    }

    /// Writes argmin {½ s·A s + b·s} over the set, from the guess in s.
    pub fn minimize(&self, a: &[f64], b: &[f64], s: &mut [f64], scratch: &mut LocalScratch) {
        let d = b.len();
        if self.budget <= 0.0 {
            s.fill(0.0);
            return;
        }
        if d == 1
            && let Some((lower, upper)) = self.ends()
        {
            s[0] = clip(a[0], b[0], lower, upper);
            return;
        }
        // As a contact, p_n = λ − c·s on the slice u_n = 0, whose normal mass is as large as the tangential ones: a unit of its own would
        // drown A in c cᵀ where masses are large numbers.
        let m = d + 1;
        let mut w = vec![0.0; m * m];
        let mut q = vec![0.0; m];
        let largest = (0..d).map(|i| a[i * d + i]).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        w[0] = unit;
        q[0] = -unit * self.budget;
        let tilt = |i: usize| self.tilt.get(i).copied().unwrap_or(0.0);
        for i in 0..d {
            w[i + 1] = unit * tilt(i);
            w[(i + 1) * m] = unit * tilt(i);
            for j in 0..d {
                w[(i + 1) * m + j + 1] = a[i * d + j] + unit * tilt(i) * tilt(j);
            }
            q[i + 1] = b[i] - unit * tilt(i) * self.budget;
        }
        let contact = OneContact {
            w: &w,
            q: &q,
            section: &self.section,
            normal_impulse_min: 0.0,
        };
        let mut p = vec![0.0; m];
        p[1..].copy_from_slice(s);
        p[0] = self.budget - (0..d).map(|i| tilt(i) * s[i]).sum::<f64>();
        if self.tilt.is_empty() {
            p[0] = self.budget;
            solve_known_normal(&contact, &mut p, scratch);
        } else {
            solve_kinetic(&contact, 0.0, &mut p, scratch);
        }
        s.copy_from_slice(&p[1..]);
    }
}

/// Ends of {s ∈ (λ − c s) [lower, upper]}.
pub(super) fn planar_ends(lower: f64, upper: f64, c: f64, budget: f64) -> Option<(f64, f64)> {
    let end = |slope: f64| {
        if slope == 0.0 {
            return 0.0;
        }
        let reach = 1.0 / slope + c;
        if reach * slope.signum() <= crate::laws::generalized_set::CRITICAL / slope.abs() {
            f64::INFINITY.copysign(slope)
        } else {
            budget / reach
        }
    };
    Some((end(lower), end(upper)))
}

/// −b/a between two ends; 0 where a vanishes and b is rounding.
pub(super) fn clip(a: f64, b: f64, lower: f64, upper: f64) -> f64 {
    if a > 0.0 {
        (-b / a).clamp(lower, upper)
    } else {
        0.0
    }
}

/// Projection of a covector on C* in the dual metric.
///
/// `metric` is the Gram matrix RM⁻¹Rᵀ of the covectors of the set, `pairing` the products R M⁻¹ f with the
/// covector f to project; the answer is in the coordinates s of Σ sᵢRᵢ.
pub fn project(set: &GeneralizedSet<PerUnitNormal>, metric: &[f64], pairing: &[f64]) -> Vec<f64> {
    let scaled = ScaledSet {
        section: set.section().clone(),
        tilt: set.tilt().to_vec(),
        budget: 1.0,
    };
    let b: Vec<f64> = pairing.iter().map(|x| -x).collect();
    let mut s = vec![0.0; b.len()];
    scaled.minimize(metric, &b, &mut s, &mut LocalScratch::default());
    s
}

/// Support of C* at a generalized velocity v: `pairing` holds the products ⟨R, v⟩.
pub fn support(set: &GeneralizedSet<PerUnitNormal>, pairing: &[f64]) -> f64 {
    set.support(pairing)
}
