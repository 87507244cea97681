//! Bad data is refused when a system or a simulation is built, and the error names the culprit.

use crate::common;

use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationError, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, TimeSteppingScheme,
};
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, SystemError, UnilateralConstraint,
};

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
        &["`floor`", "violated", "-0.1"],
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
    for mu in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let ellipse = [[0.3, mu], [mu, 0.3]].map(FrictionSection::ellipse);
        let others = [
            FrictionSection::segment(mu),
            FrictionSection::disc(mu),
            FrictionSection::ball(mu, 3),
        ];
        for section in ellipse.into_iter().chain(others) {
            let error = section.expect_err("must be refused").to_string();
            assert!(error.contains(&mu.to_string()), "{error}");
        }
        let corners = [[1.0, -1.0], [-1.0, -1.0], [0.0, 1.0], [mu, 0.0]];
        let vertices = corners.map(|corner| corner.to_vec());
        let polygon = FrictionSection::polytope(&vertices);
        assert_eq!(polygon.is_err(), !mu.is_finite(), "{mu}");
    }
    // Ends may be infinite, as sets of the generalized law are, but 0 lies between them.
    for (lower, upper, accepted) in [
        (-0.1, 0.3, true),
        (f64::NEG_INFINITY, 0.3, true),
        (-0.1, f64::INFINITY, true),
        (0.1, 0.3, false),
        (-0.3, -0.1, false),
        (f64::NAN, 0.3, false),
        (-0.1, f64::NAN, false),
        (f64::INFINITY, f64::INFINITY, false),
        (f64::NEG_INFINITY, f64::NEG_INFINITY, false),
    ] {
        let found = FrictionSection::interval(lower, upper);
        assert_eq!(found.is_ok(), accepted, "[{lower}, {upper}]");
    }
    for theta in [0.4, 1.1, f64::NAN, f64::INFINITY] {
        let settings = MoreauJeanSettings {
            theta: Some(theta),
            ..Default::default()
        };
        assert!(MoreauJean::new(settings).is_err(), "{theta}");
    }
}

/// Values that are not finite are refused wherever they stand.
#[test]
fn infinite_and_undefined_numbers_are_refused_everywhere() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(particle().build(&[0.0, bad]).is_err(), "position {bad}");
        let mass = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[1.0, bad]);
        assert!(mass.build(&[0.0, 0.0]).is_err(), "mass {bad}");
        let load = particle().dead_load(&[0.0, bad]);
        assert!(load.build(&[0.0, 0.0]).is_err(), "load {bad}");
        let stiffness = particle().stiffness(SymmetricMatrix::diagonal(&[1.0, bad]));
        assert!(stiffness.build(&[0.0, 0.0]).is_err(), "stiffness {bad}");
        let gap = UnilateralConstraint::new("gap", AutoScalar(move |_: Jet, q: &[Jet]| q[1] * bad))
            .with_point(ContactFrame::Frictionless, inelastic());
        assert!(
            particle().constraint(gap).build(&[0.0, 1.0]).is_err(),
            "gap {bad}"
        );
        for settings in [
            SimulationSettings::fixed(bad),
            SimulationSettings::adaptive(bad, 1e-6),
            SimulationSettings::adaptive(1e-3, bad),
        ] {
            let run = |v: &[f64], settings: SimulationSettings| {
                Simulation::new(
                    Box::new(
                        particle()
                            .constraint(floor("floor"))
                            .build(&[0.0, 0.0])
                            .unwrap(),
                    ),
                    Box::new(MoreauContactDynamics::default()),
                    Box::new(GaussSeidel::default()),
                    (&[0.0, 0.0], v),
                    settings,
                )
            };
            assert!(
                run(&[0.0, 0.0], settings).is_err(),
                "step or tolerance {bad}"
            );
            let velocity = run(&[0.0, bad], SimulationSettings::fixed(1e-3));
            assert!(matches!(
                velocity.err(),
                Some(SimulationError::NonFinite { .. })
            ));
        }
    }
}

/// A gap that vanishes with its gradient has no normal: refused wherever the system starts, whatever the power.
#[test]
fn gaps_without_a_gradient_at_their_zero_are_refused() {
    type Gap = fn(&[Jet]) -> Jet;
    let run = |gap: Gap, q: &[f64]| {
        let constraint =
            UnilateralConstraint::new("gap", AutoScalar(move |_: Jet, q: &[Jet]| gap(q)))
                .with_point(ContactFrame::Frictionless, inelastic());
        Simulation::new(
            Box::new(particle().constraint(constraint).build(q).unwrap()),
            Box::new(MoreauContactDynamics::default()),
            Box::new(GaussSeidel::default()),
            (q, &[0.0, 0.0]),
            SimulationSettings::fixed(1e-3),
        )
        .err()
    };
    let flat: [Gap; 4] = [
        |q| q[1] * q[1],
        |q| q[1] * q[1] * q[1] * 1e6,
        |q| (q[1] - q[0] * q[0]) * (q[1] - q[0] * q[0]) * 1e-6,
        |q| q[0] * q[0] + q[1] * q[1],
    ];
    for (k, gap) in flat.into_iter().enumerate() {
        for q in [[0.2, 1.0], [0.0, 0.01], [-3.0, 20.0]] {
            let error = run(gap, &q).unwrap_or_else(|| panic!("gap {k} from {q:?} was accepted"));
            assert!(
                matches!(&error, SimulationError::DegenerateGap { constraint } if constraint == "gap")
            );
        }
    }
    // Curved, steep, shallow and scaled ones have a normal.
    let sound: [Gap; 4] = [
        |q| q[1] * 1e-6,
        |q| q[1] - q[0] * q[0],
        |q| q[0] * q[0] + q[1] * q[1] - 1e-6,
        |q| q[1] + q[1] * q[1] * q[1],
    ];
    for (k, gap) in sound.into_iter().enumerate() {
        assert_eq!(run(gap, &[0.2, 1.0]), None, "gap {k}");
    }
}

/// A joint holds at the start: without a gradient there no impulse keeps it.
#[test]
fn joints_without_a_gradient_where_they_hold_are_refused() {
    type Equation = fn(&[Jet]) -> Jet;
    let run = |equation: Equation, q: &[f64]| {
        let equation = AutoScalar(move |_: Jet, q: &[Jet]| equation(q));
        let system = particle().joint(BilateralConstraint::new("wire", equation));
        Simulation::new(
            Box::new(system.build(q).unwrap()),
            Box::new(MoreauContactDynamics::default()),
            Box::new(GaussSeidel::default()),
            (q, &[0.0, 0.0]),
            SimulationSettings::fixed(1e-3),
        )
        .err()
    };
    let flat: [(Equation, [f64; 2]); 7] = [
        (|q| q[1] * q[1], [0.0, 0.0]),
        (|q| q[1] * q[1], [300.0, 0.0]),
        (|q| q[1] * q[1] * q[1] * 1e6, [-4.0, 0.0]),
        (
            |q| (q[1] - q[0] * q[0]) * (q[1] - q[0] * q[0]) * 1e-6,
            [0.5, 0.25],
        ),
        // Two lines that cross there.
        (|q| q[0] * q[1], [0.0, 0.0]),
        (|q| q[0] * (q[1] + 2.0), [0.0, -2.0]),
        (
            |q| (q[0] - 1.0) * (q[0] - 1.0) + (q[1] - 3.0) * (q[1] - 3.0),
            [1.0, 3.0],
        ),
    ];
    for (k, (equation, q)) in flat.into_iter().enumerate() {
        let error = run(equation, &q);
        assert!(
            matches!(&error, Some(SimulationError::DegenerateJoint { joint }) if joint == "wire"),
            "{k}: {error:?}"
        );
    }
    let sound: [(Equation, [f64; 2]); 5] = [
        (|q| q[1] * 1e-6, [0.3, 0.0]),
        (|q| q[0] * q[1], [0.3, 0.0]),
        (|q| q[0] * q[0] + q[1] * q[1] - 1e-6, [1e-3, 0.0]),
        (|q| q[1] + q[1] * q[1] * q[1], [0.0, 0.0]),
        (|q| (q[1] - 1e6) * 1e3, [0.0, 1e6]),
    ];
    for (k, (equation, q)) in sound.into_iter().enumerate() {
        assert_eq!(run(equation, &q), None, "{k}");
    }
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
