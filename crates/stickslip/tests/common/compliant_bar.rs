//! The bar of the penalty tests: unit mass, half length ½, contact at its lower end.

use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw, NormalCompliance};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Gravity.
pub const G: f64 = 9.81;
/// Half length.
pub const L: f64 = 0.5;
/// Moment of inertia.
pub const J: f64 = 1.0 / 12.0;

/// The bar over rough ground, its gap at `q` at least −1e-2.
pub fn bar(mu: f64, impact: ImpactLaw, rule: FlowRule, q: &[f64]) -> GeneralizedSystem {
    let section = FrictionSection::segment(mu).expect("valid");
    let law = ContactLaw::new(section, impact)
        .expect("valid")
        .with_flow_rule(rule);
    let gap = AutoScalar(|_: Jet, q: &[Jet]| q[1] - q[2].sin() * L);
    let tip = |q: &[Jet]| [q[0] - q[2].cos() * L, q[1] - q[2].sin() * L];
    GeneralizedSystem::builder(["X", "Y", "theta"])
        .mass_diagonal(&[1.0, 1.0, J])
        .dead_load(&[0.0, -G, 0.0])
        .constraint(
            UnilateralConstraint::new("ground", gap)
                .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law),
        )
        .penetration_tolerance(1e-2)
        .build(q)
        .expect("valid")
}

/// The bar under Coulomb's law, without restitution.
pub fn plain(mu: f64, q: &[f64]) -> GeneralizedSystem {
    bar(mu, ImpactLaw::Inelastic, FlowRule::Coulomb, q)
}

/// Compliance with stiffness 1/τ².
pub fn compliance(tau: f64) -> NormalCompliance {
    NormalCompliance::new(tau)
        .and_then(|c| c.with_mass(1.0))
        .expect("valid")
}
