//! Impact maps for several frictionless constraints.
//!
//! # What it computes
//!
//! For the rows D of the constraints in contact, W = D M⁻¹ Dᵀ, normal velocities u⁻ = D v⁻ and
//! restitutions e_a: impulses p ≥ 0 and u⁺ = u⁻ + W p.
//!
//! * [`newton`]: 0 ≤ p ⟂ u⁺ + E u⁻ ≥ 0.
//! * [`poisson`]: compression 0 ≤ p_C ⟂ u_C ≥ 0, expansion p_E = E p_C + x, 0 ≤ x ⟂ u⁺ ≥ 0.
//! * [`moreau`]: v⁺ = v + (1 + e)(Proj_T v − v), T the cone of the closing or touching constraints;
//!   if a constraint that was opening is now violated, a projection on all of them follows. For
//!   e = 0 all constraints in contact are projected at once.
//!
//! # Source
//!
//! [CharlesBallard2016], section 5 and the conditions on F; Moreau's law as in [Paoli2015] for e = 0.
//!
//! # Guarantees
//!
//! For u⁻ ≤ 0 and e in [0, 1] none of them gains kinetic energy, all give u⁺ ≥ 0. Newton:
//! ΔK = ½ Σ p_a (1 − e_a) u_a⁻. One constraint: all give u⁺ = −e u⁻.
//!
//! # Behaviour to know
//!
//! Dependent rows are reported; the impulses are then those of least norm, u⁺ is unique. Newton's law
//! with dependent rows and different restitutions may have no solution. A touching constraint
//! (|u⁻| ≤ tolerance) takes part: a strict inequality would lose half the energy of a cradle of three
//! balls, for which Moreau's law gives (−1/3, 2/3, 2/3).
//!
//! # Cost
//!
//! One or two small linear complementarity problems.
//!
//! # Tested by
//!
//! `laws/impact_map/tests.rs`.

use crate::algebra::lcp::{LcpOutcome, solve_lcp, solve_lcp_short};
use crate::algebra::small_dense::matrix_vector;

#[cfg(test)]
mod tests;

/// Why the data of an impact was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ImpactMapError {
    /// W or the restitutions do not fit the number of velocities.
    #[error("{name} has {found} entries, {expected} expected")]
    Length {
        /// Which array.
        name: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// A number is not finite.
    #[error("entry {index} of {name} is {value}")]
    NotFinite {
        /// Which array.
        name: &'static str,
        /// Index of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A restitution is outside [0, 1].
    #[error("restitution {value} of constraint {index} is not in [0, 1]")]
    Restitution {
        /// Index of the constraint.
        index: usize,
        /// The value given.
        value: f64,
    },
}

/// Impulses and velocities after an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalImpact {
    /// Impulse of each constraint, ≥ 0, as multiplier of its row.
    pub impulses: Vec<f64>,
    /// Normal velocities after.
    pub velocities: Vec<f64>,
    /// Whether rows are dependent, so that the impulses are a choice.
    pub dependent_rows: bool,
    /// How the complementarity problem ended; impulses are zero unless solved.
    pub outcome: LcpOutcome,
}

/// Newton's law, one restitution per constraint.
pub fn newton(w: &[f64], u: &[f64], restitutions: &[f64]) -> Result<NormalImpact, ImpactMapError> {
    check(w, u, restitutions)?;
    let target: Vec<f64> = u
        .iter()
        .zip(restitutions)
        .map(|(u, e)| (1.0 + e) * u)
        .collect();
    let dependent = has_dependent_rows(w, u.len());
    let mut impulses = vec![0.0; u.len()];
    let outcome = complementarity(w, &target, dependent, &mut impulses);
    Ok(finished(w, u, impulses, dependent, outcome))
}

/// Poisson's law, one restitution per constraint.
pub fn poisson(w: &[f64], u: &[f64], restitutions: &[f64]) -> Result<NormalImpact, ImpactMapError> {
    check(w, u, restitutions)?;
    let n = u.len();
    let dependent = has_dependent_rows(w, n);
    let mut compression = vec![0.0; n];
    let first = complementarity(w, u, dependent, &mut compression);
    // Expansion: at least E p_C, more where it would close a constraint.
    let sure: Vec<f64> = compression
        .iter()
        .zip(restitutions)
        .map(|(p, e)| (1.0 + e) * p)
        .collect();
    let velocity = after(w, u, &sure);
    let mut extra = vec![0.0; n];
    let second = complementarity(w, &velocity, dependent, &mut extra);
    let impulses = sure.iter().zip(&extra).map(|(a, b)| a + b).collect();
    Ok(finished(w, u, impulses, dependent, worse(first, second)))
}

/// Moreau's law with one restitution; `tolerance` ≥ 0 is the velocity that still counts as touching.
pub fn moreau(
    w: &[f64],
    u: &[f64],
    restitution: f64,
    tolerance: f64,
) -> Result<NormalImpact, ImpactMapError> {
    let n = u.len();
    check(w, u, &vec![restitution; n])?;
    let dependent = has_dependent_rows(w, n);
    // Closing or touching constraints; all of them for the inelastic shock.
    let closing: Vec<usize> = (0..n)
        .filter(|&a| restitution == 0.0 || u[a] <= tolerance)
        .collect();
    let k = closing.len();
    let sub_w: Vec<f64> = (0..k * k)
        .map(|e| w[closing[e / k] * n + closing[e % k]])
        .collect();
    let sub_u: Vec<f64> = closing.iter().map(|&a| u[a]).collect();
    let mut multipliers = vec![0.0; k];
    let first = complementarity(&sub_w, &sub_u, dependent, &mut multipliers);
    let mut impulses = vec![0.0; n];
    for (&a, lambda) in closing.iter().zip(&multipliers) {
        impulses[a] = (1.0 + restitution) * lambda;
    }
    let velocity = after(w, u, &impulses);
    // An opening constraint that closes now: project on all.
    let mut second = LcpOutcome::Solved;
    if velocity.iter().any(|&v| v < -tolerance) {
        let mut extra = vec![0.0; n];
        second = complementarity(w, &velocity, dependent, &mut extra);
        impulses.iter_mut().zip(&extra).for_each(|(p, x)| *p += x);
    }
    Ok(finished(w, u, impulses, dependent, worse(first, second)))
}

/// The first of two outcomes that is no solution.
fn worse(first: LcpOutcome, second: LcpOutcome) -> LcpOutcome {
    match first {
        LcpOutcome::Solved => second,
        _ => first,
    }
}

/// u + W p.
fn after(w: &[f64], u: &[f64], impulses: &[f64]) -> Vec<f64> {
    let mut velocity = vec![0.0; u.len()];
    matrix_vector(w, impulses, &mut velocity);
    velocity.iter_mut().zip(u).for_each(|(v, u)| *v += u);
    velocity
}

fn complementarity(w: &[f64], q: &[f64], dependent: bool, p: &mut [f64]) -> LcpOutcome {
    if dependent {
        solve_lcp_short(w, q, p)
    } else {
        solve_lcp(w, q, p)
    }
}

fn finished(
    w: &[f64],
    u: &[f64],
    mut impulses: Vec<f64>,
    dependent_rows: bool,
    outcome: LcpOutcome,
) -> NormalImpact {
    if outcome != LcpOutcome::Solved {
        impulses.fill(0.0);
    }
    NormalImpact {
        velocities: after(w, u, &impulses),
        impulses,
        dependent_rows,
        outcome,
    }
}

/// Whether a pivot of the Cholesky factorization falls below 1e-12 of its diagonal entry.
fn has_dependent_rows(w: &[f64], n: usize) -> bool {
    let mut a = w.to_vec();
    for k in 0..n {
        let pivot = a[k * n + k];
        if pivot.is_nan() || pivot <= 1e-12 * w[k * n + k] {
            return true;
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k + 1..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    false
}

fn check(w: &[f64], u: &[f64], restitutions: &[f64]) -> Result<(), ImpactMapError> {
    let n = u.len();
    for (name, found, expected) in [
        ("W", w.len(), n * n),
        ("the restitutions", restitutions.len(), n),
    ] {
        if found != expected {
            return Err(ImpactMapError::Length {
                name,
                expected,
                found,
            });
        }
    }
    for (name, numbers) in [("W", w), ("the velocities", u)] {
        if let Some((index, &value)) = numbers.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(ImpactMapError::NotFinite { name, index, value });
        }
    }
    for (index, &value) in restitutions.iter().enumerate() {
        if !(0.0..=1.0).contains(&value) {
            return Err(ImpactMapError::Restitution { index, value });
        }
    }
    Ok(())
}
