//! Bad data is refused when a system or a simulation is built, and the error names the culprit.

mod common;

use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationError, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, TimeSteppingScheme,
};
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{ContactFrame, GeneralizedSystem, SystemError, UnilateralConstraint};

fn inelastic() -> ContactLaw {
    ContactLaw::frictionless(ImpactLaw::Inelastic).expect("valid")
}

fn floor(name: &str) -> UnilateralConstraint {
    UnilateralConstraint::new(name, AutoScalar(|_: Jet, q: &[Jet]| q[1]))
        .with_point(ContactFrame::Frictionless, inelastic())
}

fn particle() -> stickslip::systems::GeneralizedSystemBuilder {
    GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, 1.0])
}

#[test]
fn every_bad_system_is_refused_by_name() {
    let refused =
        |builder: stickslip::systems::GeneralizedSystemBuilder, q: &[f64], words: &[&str]| {
            let error = builder.build(q).err().expect("must be refused").to_string();
            for word in words {
                assert!(error.contains(word), "`{error}` does not name `{word}`");
            }
        };
    let origin = [0.0, 0.0];
    let empty = GeneralizedSystem::builder(Vec::<String>::new()).mass_diagonal(&[]);
    assert_eq!(empty.build(&[]).err(), Some(SystemError::Empty));
    assert_eq!(
        GeneralizedSystem::builder(["x"]).build(&[0.0]).err(),
        Some(SystemError::MissingMass)
    );
    refused(
        particle(),
        &[0.0],
        &["initial configuration", "1 entries", "expected 2"],
    );
    refused(particle(), &[0.0, f64::NAN], &["`y`", "NaN"]);
    refused(
        GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, 0.0]),
        &origin,
        &["positive definite", "`y'`"],
    );
    refused(
        GeneralizedSystem::builder(["x", "y"])
            .mass_matrix(SymmetricMatrix::from_rows(2, vec![1.0, 0.5, 0.1, 1.0])),
        &origin,
        &["mass", "not symmetric"],
    );
    refused(
        GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, f64::INFINITY]),
        &origin,
        &["(1, 1)", "mass", "inf"],
    );
    refused(
        GeneralizedSystem::builder(["x", "x"]).mass_diagonal(&[1.0, 1.0]),
        &origin,
        &["two coordinates", "`x`"],
    );
    refused(
        particle().stiffness(SymmetricMatrix::diagonal(&[1.0, -1.0])),
        &origin,
        &["stiffness", "semidefinite"],
    );
    refused(
        particle().damping(SymmetricMatrix::diagonal(&[1.0])),
        &origin,
        &["damping", "expected 4"],
    );
    refused(
        particle().potential(|q: &[Jet]| Jet::from(1.0) / q[0]),
        &origin,
        &["potential", "inf"],
    );
    refused(
        particle()
            .constraint(floor("floor"))
            .constraint(floor("floor")),
        &origin,
        &["two constraints", "`floor`"],
    );
    refused(
        particle().constraint(floor("floor")),
        &[0.0, -0.1],
        &["`floor`", "violated", "-1.0"],
    );
    let flat = UnilateralConstraint::new("flat", AutoScalar(|_: Jet, q: &[Jet]| q[0] * q[0]))
        .with_point(ContactFrame::Frictionless, inelastic());
    refused(
        particle().constraint(flat),
        &origin,
        &["`flat`", "gradient", "vanishes"],
    );
    let bare = UnilateralConstraint::new("bare", AutoScalar(|_: Jet, q: &[Jet]| q[1]));
    refused(
        particle().constraint(bare),
        &origin,
        &["`bare`", "no contact point"],
    );
    let disc = ContactLaw::new(
        FrictionSection::disc(0.3).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0]));
    let mismatch = UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
        .with_point(ContactFrame::tangents(1, tangent), disc);
    refused(
        particle().constraint(mismatch),
        &origin,
        &["`floor`", "dimension 2", "1 tangents"],
    );
    let open = stickslip::systems::BilateralConstraint::new(
        "rod",
        AutoScalar(|_: Jet, q: &[Jet]| q[0] - 1.0),
    );
    refused(particle().joint(open), &origin, &["`rod`", "not closed"]);
}

#[test]
fn bad_laws_are_refused_with_their_value() {
    for restitution in [-0.1, 1.1, f64::NAN] {
        let error = ContactLaw::frictionless(ImpactLaw::Newton { restitution })
            .expect_err("must be refused");
        assert!(
            error.to_string().contains(&restitution.to_string()),
            "{error}"
        );
    }
    for mu in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(FrictionSection::segment(mu).is_err() || !mu.is_finite() && mu > 0.0);
    }
    assert!(
        MoreauJean::new(MoreauJeanSettings {
            theta: Some(0.4),
            ..Default::default()
        })
        .is_err()
    );
}

#[test]
fn dependent_constraints_are_reported_not_refused() {
    let system = particle()
        .constraint(floor("left"))
        .constraint(floor("right"))
        .build(&[0.0, 0.0])
        .expect("accepted");
    let warnings = system.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("left, right") && warnings[0].contains("not unique"),
        "{}",
        warnings[0]
    );
}

#[test]
fn bad_starts_and_combinations_are_refused() {
    let start = |scheme: Box<dyn TimeSteppingScheme>, v: &[f64], h: f64| {
        let law = ContactLaw::new(
            FrictionSection::segment(0.3).expect("valid"),
            ImpactLaw::Newton { restitution: 0.5 },
        )
        .expect("valid")
        .with_flow_rule(stickslip::laws::FlowRule::KineticProjection);
        let system = if h > 1.0 {
            common::particle_on_plane(law, [0.0, -1.0])
        } else {
            common::slider(0.3, ImpactLaw::Inelastic)
        };
        let solver = Box::new(GaussSeidel::default());
        Simulation::new(
            Box::new(system),
            scheme,
            solver,
            (&[0.0, 0.0], v),
            SimulationSettings::fixed(h),
        )
        .err()
    };
    let moreau = || Box::new(MoreauContactDynamics::default());
    assert!(matches!(
        start(moreau(), &[0.0], 0.1),
        Some(SimulationError::Dimension {
            what: "velocity",
            ..
        })
    ));
    assert!(matches!(
        start(moreau(), &[f64::NAN, 0.0], 0.1),
        Some(SimulationError::NonFinite { .. })
    ));
    assert!(matches!(
        start(moreau(), &[0.0, 0.0], -0.1),
        Some(SimulationError::NotPositive { .. })
    ));
    assert!(matches!(
        start(moreau(), &[0.0, 0.0], 2.0),
        Some(SimulationError::ElasticProjection { .. })
    ));
}
