//! Contact frames: turned tangents, several points of one constraint, moving obstacles, rolling.

use std::ops::ControlFlow;

use crate::common::random::Random;
use crate::common::{Scheme, run, simulation};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::functions::{AutoScalar, FrameRows, GivenRows};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

const G: f64 = 9.81;

fn law(section: FrictionSection) -> ContactLaw {
    ContactLaw::new(section, ImpactLaw::Inelastic).expect("valid")
}

/// Particle in space above z = 0 with inertia coupling, tangents turned by `angle`.
fn particle_in_space(angle: f64, mass: Vec<f64>) -> GeneralizedSystem {
    let (c, s) = (angle.cos(), angle.sin());
    let tangents = GivenRows(move |_: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[c, s, 0.0, -s, c, 0.0]);
    });
    GeneralizedSystem::builder(["x", "y", "z"])
        .mass_matrix(stickslip::algebra::SymmetricMatrix::from_rows(3, mass))
        .dead_load(&[0.3, -0.2, -G])
        .constraint(
            UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[2])).with_point(
                ContactFrame::tangents(2, tangents),
                law(FrictionSection::disc(0.3).expect("valid")),
            ),
        )
        .build(&[0.0, 0.0, 0.0])
        .expect("valid")
}

#[test]
fn turning_the_tangents_turns_the_friction_and_leaves_the_motion() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let (mass, angle) = (random.gram(3, 3, 1.0), random.uniform(0.0, 6.0));
        let v = [
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 0.0),
        ];
        for scheme in [Scheme::Moreau, Scheme::MoreauJean(Some(0.51))] {
            let straight = run(
                particle_in_space(0.0, mass.clone()),
                scheme,
                (&[0.0; 3], &v),
                1e-2,
                0.3,
                |_| {},
            );
            let turned = run(
                particle_in_space(angle, mass.clone()),
                scheme,
                (&[0.0; 3], &v),
                1e-2,
                0.3,
                |_| {},
            );
            for (a, b) in straight.state().v.iter().zip(&turned.state().v) {
                assert!((a - b).abs() < 1e-11, "seed {seed}, {scheme:?}: {a} {b}");
            }
        }
    }
}

/// Block on a belt: the frame moves with the belt.
struct Belt(f64);

impl FrameRows for Belt {
    fn rows(&self, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[1.0, 0.0]);
    }
    fn drift(&self, _t: f64, _q: &[f64], out: &mut [f64]) {
        out[0] -= self.0;
    }
}

#[test]
fn a_block_on_a_belt_reaches_the_speed_of_the_belt_and_keeps_it() {
    let (mu, speed, h) = (0.2, 1.0, 1e-3);
    for scheme in [Scheme::Moreau, Scheme::MoreauJean(Some(0.5))] {
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[1.0, 1.0])
            .dead_load(&[0.0, -G])
            .constraint(
                UnilateralConstraint::new("belt", AutoScalar(|_: Jet, q: &[Jet]| q[1])).with_point(
                    ContactFrame::tangents(1, Belt(speed)),
                    law(FrictionSection::segment(mu).expect("valid")),
                ),
            )
            .build(&[0.0, 0.0])
            .expect("valid");
        let sim = run(system, scheme, (&[0.0, 0.0], &[0.0, 0.0]), h, 1.0, |_| {});
        assert!(
            (sim.state().v[0] - speed).abs() < 1e-13,
            "{scheme:?}: {}",
            sim.state().v[0]
        );
        // Sliding until t* = V/(mu g), then riding: x = V (t - t*/2).
        let exact = speed * (1.0 - 0.5 * speed / (mu * G));
        assert!(
            (sim.state().q[0] - exact).abs() < speed * h,
            "{scheme:?}: {}",
            sim.state().q[0]
        );
        assert!(sim.ledger().is_closed());
        assert!(sim.certificate().holds(1e-12));
    }
}

#[test]
fn a_ball_on_a_rising_table_rises_with_it() {
    let rate = 0.5;
    let system = GeneralizedSystem::builder(["y"])
        .mass_diagonal(&[1.0])
        .dead_load(&[-G])
        .constraint(
            UnilateralConstraint::new(
                "table",
                AutoScalar(move |t: Jet, q: &[Jet]| q[0] - t * rate),
            )
            .with_point(ContactFrame::Frictionless, law(FrictionSection::None)),
        )
        .build(&[0.0])
        .expect("valid");
    // At rest on a table that moves: a left velocity that violates the constraint.
    let mut sim = simulation(
        system,
        Scheme::MoreauJean(Some(0.5)),
        (&[0.0], &[0.0]),
        1e-3,
    );
    assert!((sim.state().v[0] - rate).abs() < 1e-15);
    sim.run_until(1.0, |_| ControlFlow::Continue(()));
    assert!((sim.state().q[0] - rate).abs() < 1e-12 && (sim.state().v[0] - rate).abs() < 1e-12);
    assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
}

/// Block of width 2 b on two feet: as one constraint with two points, or as two constraints.
fn two_feet(joined: bool) -> GeneralizedSystem {
    let (b, c) = (0.5, 0.2);
    let foot = move |side: f64| {
        ContactFrame::tangents(
            1,
            GivenRows(move |q: &[f64], rows: &mut [f64]| {
                let (sin, cos) = q[2].sin_cos();
                // Foot (side b, -c) turned by the angle: slip row (1, 0, -y).
                rows.copy_from_slice(&[1.0, 0.0, -(side * b * sin - c * cos)]);
            }),
        )
    };
    let friction = || law(FrictionSection::segment(0.3).expect("valid"));
    let height = move |side: f64| {
        AutoScalar(move |_: Jet, q: &[Jet]| q[1] + q[2].sin() * (side * b) - q[2].cos() * c)
    };
    let builder = GeneralizedSystem::builder(["x", "y", "a"])
        .mass_diagonal(&[1.0, 1.0, 0.1])
        .dead_load(&[0.0, -G, 0.0]);
    let builder = if joined {
        // The middle of the base touches with two feet that share its normal row.
        let base = AutoScalar(move |_: Jet, q: &[Jet]| q[1] - c);
        builder.constraint(
            UnilateralConstraint::new("base", base)
                .with_point(foot(-1.0), friction())
                .with_point(foot(1.0), friction()),
        )
    } else {
        builder
            .constraint(
                UnilateralConstraint::new("left", height(-1.0)).with_point(foot(-1.0), friction()),
            )
            .constraint(
                UnilateralConstraint::new("right", height(1.0)).with_point(foot(1.0), friction()),
            )
    };
    builder.build(&[0.0, c, 0.0]).expect("valid")
}

#[test]
fn a_block_on_two_feet_slides_like_one_on_one() {
    // mu c < b: it does not tip; friction is mu m g whatever its distribution over the feet.
    for joined in [false, true] {
        let sim = run(
            two_feet(joined),
            Scheme::MoreauJean(Some(0.5)),
            (&[0.0, 0.2, 0.0], &[1.0, 0.0, 0.0]),
            1e-3,
            0.2,
            |_| {},
        );
        let exact = 1.0 - 0.3 * G * 0.2;
        if joined {
            // The joined base cannot carry a moment: only the sliding speed is compared.
            assert!(
                (sim.state().v[0] - exact).abs() < 0.05,
                "{}",
                sim.state().v[0]
            );
        } else {
            assert!(
                (sim.state().v[0] - exact).abs() < 1e-12,
                "{}",
                sim.state().v[0]
            );
            assert!(sim.state().q[2].abs() < 1e-12);
        }
        assert!(sim.ledger().is_closed());
        assert!(sim.certificate().holds(1e-10), "{:?}", sim.certificate());
    }
}

#[test]
fn rolling_friction_stops_a_wheel_and_drilling_friction_a_spin() {
    // A disc that rolls: p_T in mu p_N, m_R in mu_R p_N; it decelerates by mu_R g/(R (1 + I/mR²)).
    let (radius, mu, mu_r) = (0.5f64, 0.5, 0.01);
    let inertia = 0.5 * radius * radius;
    let rows = GivenRows(move |_: &[f64], rows: &mut [f64]| {
        // slip x' - R w, rolling w (positive w rolls towards +x)
        rows.copy_from_slice(&[1.0, 0.0, -radius, 0.0, 0.0, 1.0]);
    });
    let section = FrictionSection::product(vec![
        FrictionSection::segment(mu).expect("valid"),
        FrictionSection::segment(mu_r).expect("valid"),
    ])
    .expect("valid");
    let system = GeneralizedSystem::builder(["x", "y", "w"])
        .mass_diagonal(&[1.0, 1.0, inertia])
        .dead_load(&[0.0, -G, 0.0])
        .constraint(
            UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
                .with_point(ContactFrame::tangents(2, rows), law(section)),
        )
        .build(&[0.0, 0.0, 0.0])
        .expect("valid");
    let (v0, t) = (2.0, 5.0);
    let sim = run(
        system,
        Scheme::MoreauJean(Some(0.5)),
        (&[0.0; 3], &[v0, 0.0, v0 / radius]),
        1e-3,
        t,
        |_| {},
    );
    let deceleration = mu_r * G / (radius * (1.0 + 0.5));
    // Constant deceleration is integrated exactly.
    assert!(
        (sim.state().v[0] - (v0 - deceleration * t)).abs() < 1e-9,
        "{}",
        sim.state().v[0]
    );
    assert!((sim.state().v[0] - radius * sim.state().v[2]).abs() < 1e-9);
    assert!(
        sim.ledger().is_closed() && sim.certificate().holds(1e-10),
        "{:?}",
        sim.certificate()
    );
}
