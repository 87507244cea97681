//! Kernels of distributed delays.

use std::fmt;
use std::sync::Arc;

use super::quadrature::{self, Look, between, converged, gauss, panels};

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
    /// Any integrable kernel, by Gauss's rule on panels that resolve it, O(τ/h) a step.
    General {
        /// k.
        weight: Arc<KernelFunction>,
        /// Ages at which it is known to jump or bend; others are looked for.
        breaks: Arc<[f64]>,
    },
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
        Self::piecewise(k, &[])
    }

    /// General kernel that may jump or bend at the ages `breaks`.
    pub fn piecewise(k: impl Fn(f64) -> f64 + Send + Sync + 'static, breaks: &[f64]) -> Self {
        Self::General {
            weight: Arc::new(k),
            breaks: breaks.into(),
        }
    }

    /// Integral of k over the ages [a, b], and of (s − a) k(s): what an affine motion needs.
    pub(crate) fn moments(&self, a: f64, b: f64) -> (f64, f64) {
        match self {
            Self::Constant => (b - a, 0.5 * (b - a).powi(2)),
            Self::Exponential { rate } => {
                let (young, z) = ((-rate * a).exp(), rate * (b - a));
                let first = (b - a).powi(2) * first_moment(z);
                if z == 0.0 {
                    return (young * (b - a), young * first);
                }
                (-young * (-z).exp_m1() / rate, young * first)
            }
            Self::General { weight: k, .. } => {
                let zeroth = gauss(a, b, |s| k(s));
                (zeroth, gauss(a, b, |s| (s - a) * k(s)))
            }
            Self::Moments { zeroth, first } => {
                let weight = zeroth(b) - zeroth(a);
                (weight, first(b) - first(a) - a * weight)
            }
        }
    }

    /// Edges of panels of the ages [0, τ] on which Gauss's rule resolves k; none where the moments are known.
    pub(crate) fn edges(&self, tau: f64) -> Result<Arc<[f64]>, String> {
        Ok(match self {
            Self::Constant | Self::Moments { .. } => Arc::new([]),
            Self::Exponential { rate } => panels(&|s| (-rate * s).exp(), tau, &[])?.into(),
            Self::General { weight, breaks } => panels(&|s| weight(s), tau, breaks)?.into(),
        })
    }

    /// ∫ k over the ages [0, τ].
    pub(crate) fn mass(&self, edges: &[f64], tau: f64) -> f64 {
        match self {
            Self::General { .. } => {
                let parts = between(edges, (0.0, tau));
                parts.map(|(a, b)| self.moments(a, b).0).sum()
            }
            _ => self.moments(0.0, tau).0,
        }
    }

    /// ∫ k(s) f(s) over the ages [a, b], on which k is smooth; f need not be.
    pub(crate) fn integral_with(&self, ages: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
        match self {
            Self::Constant => quadrature::integral(ages, f),
            Self::Exponential { rate } => quadrature::integral(ages, |s| (-rate * s).exp() * f(s)),
            Self::General { weight: k, .. } => quadrature::integral(ages, |s| k(s) * f(s)),
            // Without values of k: f as chords, whose error falls by four where f is smooth.
            Self::Moments { .. } => {
                // Just inside the ends, where f may jump.
                let ends = |(a, b): (f64, f64), f: &dyn Fn(f64) -> f64| {
                    let inside = 1e-9 * (b - a);
                    let (young, old) = (f(a + inside), f(b - inside));
                    let outside = 1e-9 * (old - young);
                    (young - outside, old + outside)
                };
                let chord = |part, f: &dyn Fn(f64) -> f64| self.chord(part, ends(part, f));
                converged(ages, 0.3, &|(a, b)| {
                    let middle = 0.5 * (a + b);
                    let whole = chord((a, b), &f);
                    let halves = chord((a, middle), &f) + chord((middle, b), &f);
                    Look {
                        value: halves + (halves - whole) / 3.0,
                        check: (halves - whole).abs(),
                        size: chord((a, b), &|s| f(s).abs()).abs(),
                    }
                })
            }
        }
    }

    /// ∫ k(s) f(s) over the ages [a, b], f affine with the values `young` at a and `old` at b.
    pub(crate) fn chord(&self, (a, b): (f64, f64), (young, old): (f64, f64)) -> f64 {
        let (zeroth, first) = self.moments(a, b);
        young * zeroth + (old - young) / (b - a) * first
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
            Self::General { weight: k, .. } => {
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
            Self::General { .. } => write!(f, "General(..)"),
            Self::Moments { .. } => write!(f, "Moments(..)"),
        }
    }
}

/// (1 − (1 + z) exp(−z))/z²: the first moment of an exponential over [0, 1].
fn first_moment(z: f64) -> f64 {
    if z.abs() > 0.5 {
        return (-(-z).exp_m1() - z * (-z).exp()) / (z * z);
    }
    // Σ (−z)ⁿ/(n! (n + 2)): above, digits cancel.
    let (mut term, mut sum) = (1.0, 0.5);
    for n in 1..20 {
        term *= -z / f64::from(n);
        sum += term / f64::from(n + 2);
    }
    sum
}
