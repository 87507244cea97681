//! Impact maps F as objects: the standard ones and a user's own.
//!
//! # What it computes
//!
//! The normal velocities u⁺ after an impact from W (normal block) and u⁻ on the active constraints:
//! F(q, v⁻) = Σ (W⁻¹u⁺)_a n_a, so that F lies in the span of the normals by construction.
//!
//! # Source
//!
//! [CharlesBallard2016], the map F of P'4; the standard ones are in [`super::impact_map`].
//!
//! # Guarantees
//!
//! None for a user's map: `solvers::impact_consistency` tests the four conditions of the paper.
//!
//! # Behaviour to know
//!
//! In a run a map answers impacts (some u⁻ < 0); where nothing approaches the contact is inelastic, so that
//! a resting body rests. The velocity after is at least u⁺, reached with impulses λ ≥ 0.
//!
//! # Cost
//!
//! One call per impact.
//!
//! # Tested by
//!
//! `solvers/impact_consistency.rs`, `tests/property_generalized.rs`.

use std::fmt;

use super::impact_map::{self, ImpactMapError};

/// Normal velocities after an impact.
pub trait ImpactRule: Send + Sync + fmt::Debug {
    /// Writes u⁺ for the normal block `w` of W (row-major) and the velocities `u` before.
    fn after(&self, w: &[f64], u: &[f64], out: &mut [f64]);

    /// The same for the constraints with the given indices, for maps that tell constraints apart.
    fn after_among(&self, _active: &[usize], w: &[f64], u: &[f64], out: &mut [f64]) {
        self.after(w, u, out);
    }
}

/// The laws of [`super::impact_map`] as maps.
#[derive(Clone, Debug, PartialEq)]
pub enum StandardImpact {
    /// Newton's law, one restitution per constraint.
    Newton(Vec<f64>),
    /// Poisson's law, one restitution per constraint.
    Poisson(Vec<f64>),
    /// Moreau's law with one restitution.
    Moreau(f64),
}

impl ImpactRule for StandardImpact {
    fn after(&self, w: &[f64], u: &[f64], out: &mut [f64]) {
        let size = u.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let result: Result<impact_map::NormalImpact, ImpactMapError> = match self {
            Self::Newton(e) => impact_map::newton(w, u, e),
            Self::Poisson(e) => impact_map::poisson(w, u, e),
            Self::Moreau(e) => impact_map::moreau(w, u, *e, 1e-12 * size),
        };
        match result {
            Ok(impact) => out.copy_from_slice(&impact.velocities),
            // Data of the wrong size or not finite: the caller sees that nothing happened.
            Err(_) => out.copy_from_slice(u),
        }
    }
}

/// A user's map, as a closure `(w, u, out)`.
///
/// ```
/// use stickslip::laws::{ImpactClosure, ImpactRule};
///
/// // Every contact keeps a third of its approach.
/// let third = ImpactClosure(|_w: &[f64], u: &[f64], out: &mut [f64]| {
///     for (out, u) in out.iter_mut().zip(u) {
///         *out = -u / 3.0;
///     }
/// });
/// let mut after = [0.0];
/// third.after(&[1.0], &[-3.0], &mut after);
/// assert_eq!(after, [1.0]);
/// ```
pub struct ImpactClosure<F>(pub F);

impl<F> fmt::Debug for ImpactClosure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImpactClosure(..)")
    }
}

impl<F: Fn(&[f64], &[f64], &mut [f64]) + Send + Sync> ImpactRule for ImpactClosure<F> {
    fn after(&self, w: &[f64], u: &[f64], out: &mut [f64]) {
        (self.0)(w, u, out);
    }
}
