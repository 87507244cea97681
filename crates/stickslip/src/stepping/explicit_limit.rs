//! The longest step of explicit schemes on an elastic body.

use crate::algebra::{CholeskyFactor, dot};
use crate::systems::MechanicalSystem;

use super::StepLimit;

/// Iterations for the fastest mode: the frequency found is then within a few per cent of the largest one.
const ITERATIONS: usize = 60;

/// Step at which the fastest mode of K x = ω² M x begins to grow, h = 2/ω, for Moreau's contact dynamics and the sweeping process.
///
/// The power method finds ω from below, by `ω² ≥ y·M⁻¹y / x·y` with `y = K x`: what is refused is unstable; a step just above the limit may pass and
/// stop the run later. Damping, which is explicit too, only shortens the limit. Systems with joints, which stiffen nothing and may hold the fastest modes, have none.
///
/// # Source
/// Stability of the central difference method, a standard result of structural dynamics.
///
/// # Tested by
/// `tests/elastic_truths.rs`.
pub(super) fn explicit_limit(system: &dyn MechanicalSystem, q: &[f64]) -> Option<StepLimit> {
    let stiffness = system.linear_part()?.stiffness.as_ref()?;
    if !system.joints().is_empty() {
        return None;
    }
    let mut mass = system.new_matrix();
    system.mass(q, &mut mass);
    let mut factor = CholeskyFactor::default();
    factor.factor(&mass).ok()?;
    // Neighbours that move against each other, unevenly, so that no mode is left out.
    let n = system.dof();
    let mut x: Vec<f64> = (0..n)
        .map(|i| {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            sign * (1.0 + (i as f64).sin())
        })
        .collect();
    let (mut force, mut square) = (vec![0.0; n], 0.0f64);
    for _ in 0..ITERATIONS {
        stiffness.multiply(&x, &mut force);
        let energy = dot(&x, &force);
        x.copy_from_slice(&force);
        factor.solve_in_place(&mut x);
        let ratio = dot(&x, &force) / energy;
        if !ratio.is_finite() {
            break;
        }
        square = square.max(ratio);
        let length = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= length);
    }
    let stable = 2.0 / square.sqrt();
    stable.is_finite().then_some(StepLimit {
        stable,
        advised: 0.5 * stable,
    })
}
