//! The penalty method: what it keeps exactly, what it converges to and how fast.

use crate::common;

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::internals::{ReferenceEventKind, ReferenceMotion, energetic_impact};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw, NormalCompliance};
use stickslip::records::{ContactMode, StepOutcome};
use stickslip::simulation::{RunEnd, Simulation, SimulationError, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{EventDrivenSettings, NormalCompliancePenalty};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, MechanicalSystem, UnilateralConstraint};

use crate::common::compliant_bar::{G, J, L, compliance, plain};

fn penalty(system: GeneralizedSystem, tau: f64, start: (&[f64], &[f64]), h: f64) -> Simulation {
    Simulation::new(
        Box::new(system),
        Box::new(NormalCompliancePenalty::new(compliance(tau))),
        Box::new(GaussSeidel::default()),
        start,
        SimulationSettings::fixed(h),
    )
    .expect("valid")
}

/// Tip velocity after the impact of the penalised bar, event by event.
fn layer(theta: f64, mu: f64, v: [f64; 3], tau: f64) -> [f64; 2] {
    let q = [0.0, L * theta.sin(), theta];
    let system = plain(mu, &q);
    let settings = EventDrivenSettings {
        compliance: Some(compliance(tau)),
        ..EventDrivenSettings::default()
    };
    let mut motion = ReferenceMotion::new(settings, Box::new(GaussSeidel::default()), (&q, &v));
    assert_eq!(motion.run_until(&system, 30.0 * tau), StepOutcome::Solved);
    let end = motion
        .events()
        .iter()
        .find(|event| event.t > 0.0 && event.kind == ReferenceEventKind::Open)
        .expect("a rebound");
    let (q, v) = (&end.q, &end.velocity);
    [v[1] - L * q[2].cos() * v[2], v[0] + L * q[2].sin() * v[2]]
}

#[test]
fn impacts_converge_to_the_energetic_law_at_rate_one() {
    for (degrees, mu, v) in [
        (40.0f64, 0.2, [1.0, -1.0, 0.0]),
        (50.0, 0.8, [-0.5, -1.0, 0.5]),
        (30.0, 0.3, [0.2, -2.0, 0.3]),
    ] {
        let theta = degrees.to_radians();
        let (sin, cos) = theta.sin_cos();
        let k = L * L / J;
        let w = [1.0 + k * cos * cos, -k * sin * cos, 1.0 + k * sin * sin];
        let u = [v[1] - L * cos * v[2], v[0] + L * sin * v[2]];
        let limit = energetic_impact(w, u, (-mu, mu), 1.0).velocity;
        let errors = [2e-3, 1e-3, 5e-4].map(|tau| {
            let u = layer(theta, mu, v, tau);
            (u[0] - limit[0]).abs().max((u[1] - limit[1]).abs())
        });
        for pair in errors.windows(2) {
            let rate = (pair[0] / pair[1]).log2();
            assert!((rate - 1.0).abs() < 0.05, "{degrees}: {errors:?}");
        }
    }
}

#[test]
fn the_step_reproduces_the_limit_of_an_impact() {
    // h = τ/20: error 3e-3 to 1e-2 at τ = 2.5e-4
    let (theta, mu, v) = (40f64.to_radians(), 0.2, [1.0, -1.0, 0.0]);
    let q = [0.0, L * theta.sin(), theta];
    let tau = 2.5e-4;
    let mut sim = penalty(plain(mu, &q), tau, (&q, &v), tau / 20.0);
    let mut after = None;
    sim.run_until(20.0 * tau, |record| {
        let (q, v) = (&record.q, &record.velocity);
        let up = v[1] - L * q[2].cos() * v[2];
        if record.contacts[0].gap > 0.0 && up > 0.0 {
            after = Some([up, v[0] + L * q[2].sin() * v[2]]);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let after = after.expect("a rebound");
    assert!((after[0] - 0.93453531603009).abs() < 2e-2, "{after:?}");
    assert!((after[1] + 0.1449545346703451).abs() < 2e-2, "{after:?}");
}

#[test]
fn persistent_sliding_converges_in_position_at_rate_two() {
    // Prepared start: the penetration that carries the weight.
    let (mu, v0, t_end) = (0.3, 1.0, 0.1);
    let exact = v0 * t_end - 0.5 * mu * G * t_end * t_end;
    let errors = [4e-3, 2e-3, 1e-3].map(|tau: f64| {
        let depth = G * tau * tau;
        let q = [0.0, -depth];
        let law = ContactLaw::new(
            FrictionSection::segment(mu).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid");
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[1.0, 1.0])
            .dead_load(&[0.0, -G])
            .constraint(
                UnilateralConstraint::new("plane", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
                    .with_point(
                        ContactFrame::planar_point(|q: &[Jet]| [q[0], q[1]], [0.0, 1.0]),
                        law,
                    ),
            )
            .penetration_tolerance(1e-3)
            .build(&q)
            .expect("valid");
        let mut sim = penalty(system, tau, (&q, &[v0, 0.0]), tau / 50.0);
        sim.run_until(t_end, |_| ControlFlow::Continue(()));
        let q = &sim.state().q;
        // friction is exact under the weight; the height differs by the penetration
        assert!((q[0] - exact).abs() < 1e-3 * tau, "{}", q[0] - exact);
        q[1].abs()
    });
    for pair in errors.windows(2) {
        assert!(
            ((pair[0] / pair[1]).log2() - 2.0).abs() < 0.02,
            "{errors:?}"
        );
    }
}

#[test]
fn an_unprepared_start_oscillates_as_the_formula_says() {
    // l = 0: y = −g τ² (1 − cos(t/τ)), x' = V − sign(V) μ g (t − τ sin(t/τ))
    let (mu, v0, tau, t_end) = (0.25, -1.0, 2e-3, 0.05);
    let law = ContactLaw::new(
        FrictionSection::segment(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let system = common::particle_on_plane(law, [0.0, -G]);
    let settings = EventDrivenSettings {
        compliance: Some(compliance(tau)),
        ..EventDrivenSettings::default()
    };
    let start: (&[f64], &[f64]) = (&[0.0, 0.0], &[v0, 0.0]);
    let mut motion = ReferenceMotion::new(settings, Box::new(GaussSeidel::default()), start);
    assert_eq!(motion.run_until(&system, t_end), StepOutcome::Solved);
    let exact_y = -G * tau * tau * (1.0 - (t_end / tau).cos());
    let exact_v = v0 + mu * G * (t_end - tau * (t_end / tau).sin());
    assert!((motion.q()[1] - exact_y).abs() < 1e-10, "{}", motion.q()[1]);
    assert!((motion.v()[0] - exact_v).abs() < 1e-8, "{}", motion.v()[0]);
}

#[test]
fn reactions_and_variation_are_bounded_uniformly_in_tau() {
    let theta = 0.7f64;
    let q = [0.0, 0.4 + L * theta.sin(), theta];
    let v = [0.6, 0.0, 0.5];
    let mut bounds = Vec::new();
    for tau in [4e-3, 1e-3, 2.5e-4f64] {
        let h = tau / 20.0;
        let mu = 0.3;
        let mut sim = penalty(plain(mu, &q), tau, (&q, &v), h);
        let mut previous = v.to_vec();
        let (mut total, mut variation, mut deepest) = (0.0, 0.0, 0.0f64);
        let energy_start = sim.state().kinetic + sim.state().potential;
        let mut worst = 0.0f64;
        let end = sim.run_until(0.45, |record| {
            let p = &record.impulses;
            // R_T in R_N D exactly, no reaction above the ground at the middle of the step
            assert!(p[1].abs() <= mu * p[0] * (1.0 + 1e-12));
            assert!(p[0] >= 0.0);
            if record.contacts[0].mode == ContactMode::Open {
                assert_eq!((p[0], p[1]), (0.0, 0.0));
            }
            total += p[0];
            let jump: f64 = record
                .velocity
                .iter()
                .zip(&previous)
                .map(|(a, b)| (a - b).powi(2))
                .sum();
            variation += jump.sqrt();
            previous.clone_from(&record.velocity);
            let depth = (-record.contacts[0].gap).max(0.0);
            deepest = deepest.max(depth);
            let stored = 0.5 * depth * depth / (tau * tau);
            worst = worst.max(record.kinetic + record.potential + stored - energy_start);
            ControlFlow::Continue(())
        });
        assert_eq!(end, RunEnd::Finished);
        assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
        // −φ ≤ τ √(2 (E − inf V)/m), inf V over the motion is at least −m g L
        assert!(deepest <= tau * (2.0 * (energy_start + G * L)).sqrt());
        // the explicit spring gains at most its truncation error
        assert!(worst < 2e-2 * energy_start, "energy grew by {worst}");
        bounds.push((total, variation));
    }
    for pair in bounds.windows(2) {
        assert!(
            (pair[0].0 - pair[1].0).abs() < 0.1 * pair[0].0,
            "{bounds:?}"
        );
        assert!(
            (pair[0].1 - pair[1].1).abs() < 0.2 * pair[0].1,
            "{bounds:?}"
        );
    }
}

#[test]
fn damping_rebounds_with_the_coefficient_of_the_oscillator() {
    let zeta = 0.2f64;
    let law = ContactLaw::frictionless(ImpactLaw::Inelastic).expect("valid");
    let tau = 1e-3;
    let compliance = NormalCompliance::new(tau)
        .and_then(|c| c.with_damping_ratio(zeta))
        .expect("valid");
    let mut sim = Simulation::new(
        Box::new(common::ball(law)),
        Box::new(NormalCompliancePenalty::new(compliance)),
        Box::new(GaussSeidel::default()),
        (&[1.0], &[0.0]),
        SimulationSettings::fixed(tau / 50.0),
    )
    .expect("valid");
    let mut rebound = 0.0f64;
    sim.run_until(0.7, |record| {
        rebound = rebound.max(record.velocity[0]);
        ControlFlow::Continue(())
    });
    let e = (-zeta * std::f64::consts::PI / (1.0 - zeta * zeta).sqrt()).exp();
    let measured = rebound / (2.0 * G).sqrt();
    // forces are never attractive, so a little more is kept
    assert!(
        measured > e - 0.01 && measured < e + 0.06,
        "{measured} against {e}"
    );
}

#[test]
fn an_unstable_step_is_refused_and_a_coarse_one_warned_of() {
    let law = ContactLaw::frictionless(ImpactLaw::Inelastic).expect("valid");
    let make = |h: f64| {
        Simulation::new(
            Box::new(common::ball(law.clone())),
            Box::new(NormalCompliancePenalty::new(
                NormalCompliance::new(1e-3).expect("valid"),
            )),
            Box::new(GaussSeidel::default()),
            (&[1.0], &[0.0]),
            SimulationSettings::fixed(h),
        )
    };
    assert!(matches!(
        make(3e-3).err(),
        Some(SimulationError::UnstableStep { stable, .. }) if (stable - 2e-3).abs() < 1e-12
    ));
    assert!(
        make(1e-3)
            .expect("stable")
            .warnings()
            .iter()
            .any(|w| w.contains("advised"))
    );
    assert!(make(1e-4).expect("stable").warnings().is_empty());
}

#[test]
fn both_ends_of_a_bar_may_be_compliant() {
    // A bar falls flat on two feet: both carry half of the momentum.
    let law = || {
        ContactLaw::new(
            FrictionSection::segment(0.3).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid")
    };
    let foot = |name: &str, side: f64| {
        UnilateralConstraint::new(
            name,
            AutoScalar(move |_: Jet, q: &[Jet]| q[1] + q[2].sin() * (side * L)),
        )
        .with_point(
            ContactFrame::planar_point(
                move |q: &[Jet]| {
                    [
                        q[0] + q[2].cos() * (side * L),
                        q[1] + q[2].sin() * (side * L),
                    ]
                },
                [0.0, 1.0],
            ),
            law(),
        )
    };
    let q = [0.0, 0.2, 0.0];
    let system = GeneralizedSystem::builder(["X", "Y", "theta"])
        .mass_diagonal(&[1.0, 1.0, J])
        .dead_load(&[0.0, -G, 0.0])
        .constraint(foot("left", -1.0))
        .constraint(foot("right", 1.0))
        .build(&q)
        .expect("valid");
    assert_eq!(system.constraints().len(), 2);
    let tau = 1e-3;
    let mut sim = penalty(system, tau, (&q, &[0.5, 0.0, 0.0]), tau / 20.0);
    let end = sim.run_until(0.35, |record| {
        let (left, right) = (record.impulses[0], record.impulses[2]);
        assert!((left - right).abs() <= 1e-9 * (left + right + 1e-12) + 1e-12);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    assert!(sim.state().q[2].abs() < 1e-9);
    assert!(sim.ledger().is_closed());
}
