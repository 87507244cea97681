//! Invariants of the sweeping process over random data, its bounds and its order.

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::internals::SweepingData;
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::records::ContactMode;
use stickslip::scene::{Changes, Scene, find_in_gallery};
use stickslip::simulation::studies::BoundsStudy;
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{SweepingBounds, SweepingProcess, SweepingRealised};
use stickslip::systems::functions::{AutoScalar, GivenRows, GivenScalar};
use stickslip::systems::past_motion::{PastReading, PastView};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

use crate::common::random::Random;

/// Unit mass on the plane z = 0 in space under a constant force.
fn particle(mu: f64, rule: FlowRule, force: [f64; 3]) -> GeneralizedSystem {
    let gap = GivenScalar {
        value: |q: &[f64]| q[2],
        gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 0.0, 1.0]),
    };
    let rows = GivenRows(|_: &[f64], rows: &mut [f64]| {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    });
    let law = ContactLaw::new(
        FrictionSection::disc(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid")
    .with_flow_rule(rule);
    GeneralizedSystem::builder(["x", "y", "z"])
        .mass_diagonal(&[1.0; 3])
        .dead_load(&force)
        .constraint(
            UnilateralConstraint::new("plane", gap)
                .with_point(ContactFrame::tangents(2, rows), law),
        )
        .build(&[0.0; 3])
        .expect("valid")
}

fn sweep(system: GeneralizedSystem, start: (&[f64], &[f64]), h: f64) -> Simulation {
    Simulation::new(
        Box::new(system),
        Box::new(SweepingProcess::default()),
        Box::new(GaussSeidel::default()),
        start,
        SimulationSettings::fixed(h),
    )
    .expect("valid")
}

/// S(q, w) of a particle on the plane: one step without force.
fn s(mu: f64, rule: FlowRule, w: [f64; 3]) -> ([f64; 3], [f64; 3], ContactMode) {
    let mut sim = sweep(particle(mu, rule, [0.0; 3]), (&[0.0; 3], &w), 1e-3);
    let record = sim.step_towards(1.0);
    let v = [record.velocity[0], record.velocity[1], record.velocity[2]];
    let p = [record.impulses[0], record.impulses[1], record.impulses[2]];
    (v, p, record.contacts[0].mode)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn the_projection_has_its_invariants() {
    let mut random = Random(11);
    for k in 0..300 {
        let mu = 2.0 * random.uniform(0.0, 1.0);
        let w = [
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
        ];
        for rule in [FlowRule::Coulomb, FlowRule::KineticProjection] {
            let (v, p, mode) = s(mu, rule, w);
            let context = format!("case {k}, mu {mu}, w {w:?}, {rule:?}: {v:?}");
            // |S(w)| ≤ |w|, S(S(w)) = S(w), S(a w) = a S(w)
            assert!(norm(&v) <= norm(&w) * (1.0 + 1e-14), "{context}");
            let (again, ..) = s(mu, rule, v);
            let (scaled, ..) = s(mu, rule, w.map(|x| 3.0 * x));
            for i in 0..3 {
                assert!((again[i] - v[i]).abs() < 1e-13, "{context}");
                assert!((scaled[i] - 3.0 * v[i]).abs() < 1e-12, "{context}");
            }
            // v − w in the cone, u_N ≥ 0, complementary, friction against slip
            assert!(
                norm(&p[1..]) <= mu * p[0] * (1.0 + 1e-12) + 1e-15,
                "{context}"
            );
            assert!(v[2] >= -1e-15 && (v[2] * p[0]).abs() < 1e-14, "{context}");
            let slip = norm(&v[..2]);
            if mode == ContactMode::Slip && slip > 1e-9 {
                for i in 0..2 {
                    let expected = -mu * p[0] * v[i] / slip;
                    assert!((p[1 + i] - expected).abs() < 1e-11, "{context}");
                }
            }
            // rotations about the normal commute with S
            let (sin, cos) = 1f64.sin_cos();
            let turn = |x: [f64; 3]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2]];
            let (turned, ..) = s(mu, rule, turn(w));
            let expected = turn(v);
            for i in 0..3 {
                assert!((turned[i] - expected[i]).abs() < 1e-12, "{context}");
            }
        }
    }
}

#[test]
fn without_friction_the_tangential_motion_is_untouched_and_free_flight_is_explicit() {
    let force = [0.3, -0.2, -9.0];
    let mut sim = sweep(
        particle(0.0, FlowRule::Coulomb, force),
        (&[0.0; 3], &[1.0, 2.0, -1.0]),
        1e-2,
    );
    let mut v = [1.0, 2.0];
    for _ in 0..50 {
        let record = sim.step_towards(1.0);
        for i in 0..2 {
            v[i] += 1e-2 * force[i];
            assert!((record.velocity[i] - v[i]).abs() < 1e-13);
        }
    }
    // high above the plane: v += h f, then q += h v
    let mut flight = sweep(
        particle(0.5, FlowRule::Coulomb, force),
        (&[0.0, 0.0, 100.0], &[0.0; 3]),
        1e-2,
    );
    let (mut z, mut w) = (100.0, 0.0);
    for _ in 0..50 {
        w += 1e-2 * force[2];
        z += 1e-2 * w;
        let record = flight.step_towards(1.0);
        assert!((record.q[2] - z).abs() < 1e-12 && (record.velocity[2] - w).abs() < 1e-13);
    }
}

#[test]
fn a_history_from_a_run_continues_the_run() {
    // Time shift: the motion of a first run given as samples is the history of a second one.
    let tau = 0.3984375;
    let spring = |history: Option<stickslip::systems::past_motion::InitialHistory>| {
        let mut reading = PastReading::new();
        reading.point_delay(tau).expect("delay");
        if let Some(history) = history {
            reading.history(history).expect("history");
        }
        GeneralizedSystem::builder(["x"])
            .mass_diagonal(&[1.0])
            .delayed_force(reading, move |past: &PastView, _, out| {
                out[0] = -4.0 * past.delayed(0, tau);
            })
            .build(&[1.0])
            .expect("valid")
    };
    let h = 1.0 / 64.0;
    let mut first = sweep(spring(None), (&[1.0], &[0.0]), h);
    let (mut times, mut values) = (vec![0.0], vec![vec![1.0]]);
    for _ in 0..64 {
        let record = first.step_towards(10.0);
        times.push(record.t);
        values.push(record.q.clone());
    }
    let (q, v) = (first.state().q.clone(), first.state().v.clone());
    let shifted = times.iter().map(|t| t - 1.0).collect();
    let history = stickslip::systems::past_motion::InitialHistory::Samples {
        times: shifted,
        values,
    };
    let mut second = sweep(spring(Some(history)), (&q, &v), h);
    for _ in 0..64 {
        let a = first.step_towards(10.0).q[0];
        let b = second.step_towards(10.0).q[0];
        assert_eq!(a.to_bits(), b.to_bits(), "{a} {b}");
    }
}

/// A particle in a circular bowl, with the constants of the bounds.
fn bowl(mu: f64, h: f64, t_end: f64) -> (SweepingBounds, SweepingRealised, [f64; 2]) {
    let law = ContactLaw::new(
        FrictionSection::segment(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let gap = AutoScalar(|_: Jet, q: &[Jet]| -(q[0] * q[0] + q[1] * q[1]).sqrt() + 1.0);
    let frame = ContactFrame::planar_point_on(
        |q: &[Jet]| [q[0], q[1]],
        |q: &[f64]| {
            let r = q[0].hypot(q[1]);
            [-q[0] / r, -q[1] / r]
        },
    );
    let start = [0.5f64.sin(), -0.5f64.cos()];
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -9.81])
        .constraint(UnilateralConstraint::new("bowl", gap).with_point(frame, law))
        .build(&start)
        .expect("valid");
    let mut sim = sweep(system, (&start, &[0.0, 0.0]), h);
    let mut realised = SweepingRealised::new(&[0.0, 0.0]);
    let end = sim.run_until(t_end, |record| {
        realised.observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    assert!(sim.ledger().is_closed());
    let bounds = SweepingBounds::new(&SweepingData {
        speed: 0.0,
        duration: t_end,
        step: h,
        force: 9.81,
        friction: mu,
        gradient: 1.0,
        // 1/r in the part of the bowl that is visited
        gradient_slope: 1.1,
        normal_slope: 1.1,
    });
    (bounds, realised, [sim.state().q[0], sim.state().q[1]])
}

#[test]
fn bounds_hold_in_a_bowl_and_the_order_is_one() {
    let (mu, t_end) = (0.1, 1.0);
    let mut ends = Vec::new();
    for n in [200, 400, 800, 1600, 25600] {
        let (bounds, realised, q) = bowl(mu, t_end / n as f64, t_end);
        assert!(realised.within(&bounds), "{realised:?} {bounds:?}");
        assert!(realised.penetration > 0.0 && realised.variation > 0.0);
        ends.push(q);
    }
    // against the finest run, whose own error is 16 times smaller than the last compared one
    let error = |k: usize| {
        (0..2)
            .map(|i| (ends[k][i] - ends[4][i]).abs())
            .fold(0.0, f64::max)
    };
    for k in 0..3 {
        let order = (error(k) / error(k + 1)).log2();
        assert!((order - 1.0).abs() < 0.25, "order {order} at {k}");
    }
}

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).expect("in the gallery");
    let source = changes
        .apply(&entry.source())
        .unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_order_is_one_against_the_event_driven_reference() {
    // End times away from reversals and stops.
    for (name, until) in [
        ("delayed-oscillator-free", 2.0),
        ("distributed-delay", 1.6),
        ("delayed-oscillator", 1.2),
        ("delayed-oscillator", 2.6),
    ] {
        let end = |changes: Changes| {
            let scene = scene(name, &changes.key("until", until));
            let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            let end = run.run_until(until, |_| ControlFlow::Continue(()));
            assert_eq!(end, RunEnd::Finished, "{name}");
            run.state().q[0]
        };
        let base = Changes::new();
        let exact = end(base.clone().key("scheme", "event-driven").key("step", 0.1));
        let errors = [1600.0, 3200.0, 6400.0].map(|n| {
            let step = until / n;
            (end(base.clone().key("step", step)) - exact).abs()
        });
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 1.0).abs() < 0.1, "{name} to {until}: {errors:?}");
        }
    }
}

#[test]
fn bounds_hold_on_scenes_and_are_not_claimed_where_they_are_not_proved() {
    for name in [
        "delayed-oscillator",
        "delayed-oscillator-free",
        "distributed-delay",
        "delayed-hopper",
        "ice-patch",
        "stick-slip",
        "particle-in-bowl",
    ] {
        let changes = Changes::new().key("scheme", "sweeping-process");
        let scene = scene(name, &changes);
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let study = BoundsStudy::of_run(&mut run, scene.settings.until);
        let bounds = study.bounds.unwrap_or_else(|| panic!("{name}: {study:?}"));
        assert!(study.realised.within(&bounds), "{name}: {study:?}");
    }
    // inertia couples normal and tangent of the bar; restitution and several contacts are beyond it
    for name in ["bar-impact", "machining-chatter", "woodpecker"] {
        let changes = Changes::new()
            .key("scheme", "sweeping-process")
            .key("impact", "inelastic");
        let scene = scene(name, &changes);
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let study = BoundsStudy::of_run(&mut run, 0.2);
        if name == "machining-chatter" {
            // inelastic now: one contact without friction is covered
            assert!(study.reservations.is_empty(), "{study:?}");
        } else {
            assert!(
                study.bounds.is_none() && !study.reservations.is_empty(),
                "{name}"
            );
        }
    }
}

/// The bounds read the true gradient of a gap: in other units of it, the bounds of speed and variation are the same and that of the
/// penetration is measured in these units.
#[test]
fn bounds_do_not_depend_on_the_scale_of_a_gap() {
    let study = |scale: f64| {
        let text = format!(
            r#"title = "A particle thrown on the floor"
scheme = "sweeping-process"
projection = "none"
step = 1e-3
until = 1
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contacts]]
name = "floor"
gap = "{scale}*y"
slip = "x'"
friction = 0.4
[initial]
x = 0
y = 0.3
x_dot = 2
y_dot = 0
"#
        );
        let source = stickslip::scene::SourceText::new("thrown.toml", text);
        let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let study = BoundsStudy::of_run(&mut run, scene.settings.until);
        let bounds = study.bounds.expect("one contact of a particle is covered");
        assert!(study.realised.within(&bounds), "{scale}: {bounds:?}");
        let penetrations = [bounds.penetration, study.realised.penetration];
        let speeds = [bounds.speed, bounds.variation, study.realised.speed];
        (penetrations.map(|p| p / scale), speeds)
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let (penetrations, speeds) = study(1.0);
    assert!(penetrations[1] > 0.0, "the bare scheme penetrates");
    for scale in [1000.0, 1e-3] {
        let (others, other_speeds) = study(scale);
        let pairs = others.iter().zip(&penetrations);
        for (a, b) in pairs.chain(other_speeds.iter().zip(&speeds)) {
            assert!(close(*a, *b), "{scale}: {a} {b}");
        }
    }
}

#[test]
fn a_motion_turned_about_the_normal_is_the_turned_motion() {
    // Isotropic friction and an isotropic delayed spring; drops and sliding from random starts.
    let mut random = Random(21);
    for case in 0..6 {
        let start = [
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
            random.uniform(0.0, 1.0) * 0.2,
        ];
        let v = [
            2.0 * random.uniform(-1.0, 1.0),
            2.0 * random.uniform(-1.0, 1.0),
            // Falling: the straight motion before the start then was above the plane.
            -random.uniform(0.0, 1.0),
        ];
        let (mu, tau, angle) = (
            random.uniform(0.0, 1.0),
            0.11,
            3.0 * random.uniform(-1.0, 1.0),
        );
        let (sin, cos) = angle.sin_cos();
        let turn = |x: &[f64]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2]];
        let make = |q: [f64; 3], v: [f64; 3]| {
            let mut reading = PastReading::new();
            reading.point_delay(tau).expect("delay");
            let gap = GivenScalar {
                value: |q: &[f64]| q[2],
                gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 0.0, 1.0]),
            };
            let rows = GivenRows(|_: &[f64], rows: &mut [f64]| {
                rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
            });
            let law = ContactLaw::new(
                FrictionSection::disc(mu).expect("valid"),
                ImpactLaw::Inelastic,
            )
            .expect("valid");
            let system = GeneralizedSystem::builder(["x", "y", "z"])
                .mass_diagonal(&[1.0; 3])
                .dead_load(&[0.0, 0.0, -9.81])
                .delayed_force(reading, move |past: &PastView, _, out| {
                    out[0] = -6.0 * past.delayed(0, tau);
                    out[1] = -6.0 * past.delayed(1, tau);
                    out[2] = 0.0;
                })
                .constraint(
                    UnilateralConstraint::new("plane", gap)
                        .with_point(ContactFrame::tangents(2, rows), law),
                )
                .build(&q)
                .expect("valid");
            sweep(system, (&q, &v), 2e-3)
        };
        let mut straight = make(start, v);
        let mut turned = make(turn(&start), turn(&v));
        for _ in 0..800 {
            let a = turn(&straight.step_towards(10.0).q);
            let b = &turned.step_towards(10.0).q;
            for i in 0..3 {
                assert!((a[i] - b[i]).abs() < 1e-11, "case {case}: {a:?} {b:?}");
            }
        }
    }
}
