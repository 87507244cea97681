//! Kernels of distributed delays.

use std::fmt;
use std::sync::Arc;

/// A function of the age `s ≥ 0`.
pub type KernelFunction = dyn Fn(f64) -> f64 + Send + Sync;

/// Kernel k of `∫ k(t − s) x(s) ds` over the last τ.
#[derive(Clone)]
pub enum Kernel {
    /// k = 1: exact by prefix integrals, O(1) a step.
    Constant,
    /// k(s) = exp(−rate s): exact by one state that decays, O(1) a step.
    Exponential {
        /// Decay rate.
        rate: f64,
    },
    /// Any integrable kernel, by its moments over each cell, O(τ/h) a step.
    General(Arc<KernelFunction>),
    /// Any integrable kernel given by K₀(s) = ∫₀ˢ k and K₁(s) = ∫₀ˢ r k(r) dr: exact on affine
    /// pieces even where k is singular, O(τ/h) a step.
    Moments {
        /// K₀.
        zeroth: Arc<KernelFunction>,
        /// K₁.
        first: Arc<KernelFunction>,
    },
}

impl Kernel {
    /// General kernel from a closure.
    pub fn general(k: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::General(Arc::new(k))
    }

    /// Moments ∫ k and ∫ r k(r) dr over the ages [a, b].
    pub(crate) fn moments(&self, a: f64, b: f64) -> (f64, f64) {
        match self {
            Self::Constant => (b - a, 0.5 * (b * b - a * a)),
            Self::Exponential { rate } => {
                let r = *rate;
                if r == 0.0 {
                    return Self::Constant.moments(a, b);
                }
                let (ea, eb) = ((-r * a).exp(), (-r * b).exp());
                let zeroth = -ea * (-r * (b - a)).exp_m1() / r;
                (zeroth, (a * ea - b * eb) / r + zeroth / r)
            }
            Self::General(k) => {
                let zeroth = gauss(a, b, |s| k(s));
                (zeroth, gauss(a, b, |s| s * k(s)))
            }
            Self::Moments { zeroth, first } => (zeroth(b) - zeroth(a), first(b) - first(a)),
        }
    }

    /// ∫ k over the ages [0, τ].
    pub(crate) fn mass(&self, tau: f64) -> f64 {
        match self {
            Self::General(_) => panels(tau, |a, b| self.moments(a, b).0),
            _ => self.moments(0.0, tau).0,
        }
    }

    /// ∫ k(t − s) f(s) ds over the times [a, b] of one piece, where f is smooth.
    pub(crate) fn integral_with(&self, (a, b): (f64, f64), t: f64, f: impl Fn(f64) -> f64) -> f64 {
        match self {
            Self::Constant => gauss(a, b, f),
            Self::Exponential { rate } => gauss(a, b, |s| (-rate * (t - s)).exp() * f(s)),
            Self::General(k) => gauss(a, b, |s| k(t - s) * f(s)),
            // Without values of k: f as sixteen chords.
            Self::Moments { .. } => {
                let step = (b - a) / 16.0;
                let chords =
                    (0..16).map(|m| (a + f64::from(m) * step, a + f64::from(m + 1) * step));
                let chord = |(a, b): (f64, f64)| {
                    let (zeroth, first) = self.moments(t - b, t - a);
                    let slope = (f(b) - f(a)) / (b - a);
                    f(b) * zeroth - slope * (first - (t - b) * zeroth)
                };
                chords.map(chord).sum()
            }
        }
    }

    /// Why the kernel cannot be integrated over [0, τ], or none.
    ///
    /// The integral of |k| over dyadic rings around each end of [0, τ] must fall towards the end: a
    /// kernel like 1/s gives rings of equal weight.
    pub(crate) fn fault(&self, tau: f64) -> Option<String> {
        match self {
            Self::Constant => None,
            Self::Exponential { rate } => {
                (!rate.is_finite()).then(|| format!("its rate is {rate}"))
            }
            Self::Moments { zeroth, first } => [zeroth(tau) - zeroth(0.0), first(tau) - first(0.0)]
                .iter()
                .any(|m| !m.is_finite())
                .then(|| "its moments are not finite".to_string()),
            Self::General(k) => {
                for from_right in [false, true] {
                    let mut rings = Vec::new();
                    for j in 0..40 {
                        let (outer, inner) = (0.5f64.powi(j + 1) * tau, 0.5f64.powi(j + 2) * tau);
                        let weight = gauss(inner, outer, |x| {
                            k(if from_right { tau - x } else { x }).abs()
                        });
                        if !weight.is_finite() {
                            return Some("it is not finite inside the window".to_string());
                        }
                        rings.push(weight);
                    }
                    let total: f64 = rings.iter().sum();
                    if rings[39] > 1e-12 * total && rings[39] > 0.97 * rings[38] {
                        let end = if from_right { tau } else { 0.0 };
                        return Some(format!("its integral diverges at age {end}"));
                    }
                }
                None
            }
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => write!(f, "Constant"),
            Self::Exponential { rate } => write!(f, "Exponential({rate})"),
            Self::General(_) => write!(f, "General(..)"),
            Self::Moments { .. } => write!(f, "Moments(..)"),
        }
    }
}

/// Sum of a cell integral over 64 panels of [0, τ].
fn panels(tau: f64, cell: impl Fn(f64, f64) -> f64) -> f64 {
    (0..64)
        .map(|j| cell(tau * j as f64 / 64.0, tau * (j + 1) as f64 / 64.0))
        .sum()
}

/// Gauss–Legendre rule with five points: exact to degree 9.
pub(crate) fn gauss(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    const NODES: [f64; 3] = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
    const WEIGHTS: [f64; 3] = [
        0.568_888_888_888_888_9,
        0.478_628_670_499_366_47,
        0.236_926_885_056_189_08,
    ];
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let mut sum = WEIGHTS[0] * f(middle);
    for k in 1..3 {
        sum += WEIGHTS[k] * (f(middle - half * NODES[k]) + f(middle + half * NODES[k]));
    }
    half * sum
}
