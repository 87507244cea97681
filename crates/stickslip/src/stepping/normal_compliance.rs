//! Springs of compliant contacts, from the law and the system.

use crate::algebra::{CholeskyFactor, dot};
use crate::laws::{ComplianceStiffness, NormalCompliance};
use crate::systems::MechanicalSystem;

use super::ContactLayout;

/// Stiffness and damping of every contact point, from the configuration q.
pub(crate) fn springs(
    compliance: &NormalCompliance,
    system: &dyn MechanicalSystem,
    q: &[f64],
) -> Vec<(f64, f64)> {
    effective(compliance, system, q)
        .into_iter()
        .map(|(stiffness, damping, _)| (stiffness, damping))
        .collect()
}

/// Largest angular frequency √(k W_nn) of the contacts at q.
pub(crate) fn frequency(
    compliance: &NormalCompliance,
    system: &dyn MechanicalSystem,
    q: &[f64],
) -> f64 {
    effective(compliance, system, q)
        .into_iter()
        .map(|(stiffness, _, mass)| (stiffness / mass).sqrt())
        .fold(0.0, f64::max)
}

/// Stiffness, damping and effective mass 1/W_nn of every contact point.
fn effective(
    compliance: &NormalCompliance,
    system: &dyn MechanicalSystem,
    q: &[f64],
) -> Vec<(f64, f64, f64)> {
    let layout = ContactLayout::new(system);
    let mut mass = system.new_matrix();
    system.mass(q, &mut mass);
    let mut factor = CholeskyFactor::default();
    let factored = factor.factor(&mass).is_ok();
    let n = system.dof();
    layout
        .slots()
        .iter()
        .enumerate()
        .map(|(s, slot)| {
            // Effective mass 1/W_nn of the contact at the reference configuration.
            let mut effective = 1.0;
            if factored {
                let constraint = &system.constraints()[slot.key.constraint()];
                let frame = &constraint.points()[slot.key.point()].frame;
                let mut gradient = vec![0.0; n];
                constraint.gap().gradient(0.0, q, &mut gradient);
                let mut rows = vec![0.0; (1 + frame.tangent_count()) * n];
                frame.rows(0.0, q, &gradient, &mut rows);
                let mut response = rows[..n].to_vec();
                factor.solve_in_place(&mut response);
                effective = 1.0 / dot(&rows[..n], &response);
            }
            let stiffness = match &compliance.stiffness {
                ComplianceStiffness::EffectiveMass => {
                    effective / (compliance.time * compliance.time)
                }
                ComplianceStiffness::Mass(mass) => mass / (compliance.time * compliance.time),
                ComplianceStiffness::Given(values) => values[s.min(values.len() - 1)],
            };
            let damping = 2.0 * compliance.damping_ratio * (stiffness * effective).sqrt();
            (stiffness, damping, effective)
        })
        .collect()
}
