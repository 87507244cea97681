//! Springs of compliant contacts, from the law and the system.

use crate::algebra::{CholeskyFactor, dot};
use crate::laws::{ComplianceStiffness, FlowRule, NormalCompliance};
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

/// What the laws of rigid contacts say and springs do not read, contact by contact. The limit of an undamped spring has the
/// restitution 1.
pub(crate) fn unread_laws(system: &dyn MechanicalSystem) -> Vec<String> {
    let mut told = Vec::new();
    for constraint in system.constraints() {
        let name = constraint.name();
        let laws = || constraint.points().iter().map(|point| &point.law);
        let unread = |e: &f64| *e > 0.0 && *e < 1.0;
        if let Some(e) = laws().map(|law| law.impact().restitution()).find(unread) {
            told.push(format!(
                "`{name}`: the restitution {e} is not read, compliant contacts give back what `compliance_damping` leaves"
            ));
        }
        if laws().any(|law| law.flow_rule() == FlowRule::KineticProjection) {
            told.push(format!(
                "`{name}`: compliant contacts have no inelastic impact of `argmin`; at their known normal force its friction is Coulomb's"
            ));
        }
    }
    told
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
