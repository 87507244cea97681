//! Poincaré sections and sweeps against exact motions.

use stickslip::scene::{
    Changes, Direction, Scene, SceneSweep, SectionRule, SourceText, SweepOutcome,
};
use stickslip::simulation::studies::sweep::SweepAxis;

const OSCILLATOR: &str = r#"
title = "oscillator"
theta = 0.5
step = 0.01
until = 80
[parameters]
c = 0
force = 0
omega = 1
[system]
coordinates = ["x"]
kinetic_energy = "x'^2/2"
potential = "x^2/2"
forces = { x = "force*cos(omega*t) - c*x'" }
[initial]
x = 1
"#;

fn scene(changes: &[(&str, f64)]) -> Scene {
    let changes = changes
        .iter()
        .fold(Changes::new(), |c, (name, value)| c.parameter(*name, value));
    let text = changes.apply(&SourceText::new("oscillator.toml", OSCILLATOR));
    Scene::parse(text.expect("parameters")).expect("a scene")
}

/// x = cos t, seen every 2π, is always at (1, 0); the midpoint rule delays it by h²/12 per radian.
#[test]
fn a_stroboscope_of_its_own_period_sees_an_oscillator_at_rest() {
    let period = std::f64::consts::TAU;
    let rule = SectionRule::Period { period, phase: 0.0 };
    let columns = ["t", "x", "x'"].map(String::from);
    let section = scene(&[])
        .section(&rule, &columns, (1, 100))
        .expect("a section");
    assert_eq!(section.points.len(), 12);
    assert!(section.certified);
    for (k, point) in section.points.iter().enumerate() {
        let t = period * (k + 1) as f64;
        assert!((point[0] - t).abs() < 1e-12, "{point:?}");
        let late = t * 1e-4 / 12.0;
        assert!(
            (point[1] - 1.0).abs() < 1e-6 && (point[2] - late).abs() < 1e-5,
            "{point:?}"
        );
    }
}

/// x = cos t passes zero upwards at 3π/2 + 2πk with speed 1, downwards at π/2 + 2πk.
#[test]
fn crossings_lie_where_the_motion_passes_zero() {
    use std::f64::consts::PI;
    for (direction, first, every, speed) in [
        (Direction::Up, 1.5 * PI, 2.0 * PI, 1.0),
        (Direction::Down, 0.5 * PI, 2.0 * PI, -1.0),
        (Direction::Both, 0.5 * PI, PI, f64::NAN),
    ] {
        let rule = SectionRule::Crossing {
            expression: "x".to_string(),
            direction,
        };
        let columns = ["t", "x", "x_dot"].map(String::from);
        let section = scene(&[])
            .section(&rule, &columns, (0, 5))
            .expect("a section");
        assert_eq!(section.points.len(), 5);
        for (k, point) in section.points.iter().enumerate() {
            let t = first + every * k as f64;
            assert!((point[0] - t).abs() < 1e-3, "{direction:?} {point:?} {t}");
            assert!(point[1].abs() < 1e-12);
            assert!(
                speed.is_nan() || (point[2] - speed).abs() < 1e-4,
                "{point:?}"
            );
        }
    }
}

/// The answer to a harmonic force: after the transient the stroboscope sees one point,
/// F (1 − ω²)/((1 − ω²)² + (c ω)²).
#[test]
fn a_forced_linear_oscillator_has_one_point_per_frequency() {
    for omega in [0.6, 0.9, 1.3] {
        let scene = scene(&[("c", 0.8), ("force", 2.0), ("omega", omega)]);
        let period = std::f64::consts::TAU / omega;
        let rule = SectionRule::Period { period, phase: 0.0 };
        let skip = (40.0 / period).ceil() as usize;
        let point = scene
            .section_outcome(&rule, "x", (skip, 2))
            .expect("points");
        let gap = 1.0 - omega * omega;
        let exact = 2.0 * gap / (gap * gap + (0.8 * omega).powi(2));
        for x in &point.values {
            assert!((x - exact).abs() < 2e-4, "{omega}: {x} {exact}");
        }
        let more = scene.section_outcome(&rule, "x", (1000, 2)).expect("none");
        assert!(more.values.iter().all(|x| x.is_nan()));
    }
}

#[test]
fn outcomes_of_a_sweep_are_those_of_the_runs() {
    let outcomes = [
        "x",
        "peak=max(abs(x))",
        "min(x)",
        "mean(x^2)",
        "coordinates.x",
        "steps",
        "certified",
        "final(kinetic + potential)",
        "max(x, 7)",
    ];
    let subject = SceneSweep {
        source: SourceText::new("oscillator.toml", OSCILLATOR),
        changes: Changes::new().key("until", std::f64::consts::TAU),
        outcomes: outcomes.map(SweepOutcome::parse).to_vec(),
    };
    let axis = |name: &str, values: &[f64]| SweepAxis {
        name: name.to_string(),
        values: values.to_vec(),
    };
    let axes = vec![axis("omega", &[1.0, 2.0]), axis("step", &[0.01, 0.02])];
    let mut sweep = subject.sweep(axes).expect("a grid");
    let names = ["omega", "step"].map(String::from);
    let all = sweep.run(|p| subject.evaluate(&names, p), |_| Ok(()), || false);
    assert!(all.expect("no file is written"));
    let point = sweep.points()[0].as_ref().expect("done");
    assert!(point.certified && point.reason.is_empty());
    let expected = [1.0, 1.0, -1.0, 0.5, 1.0, 629.0, 1.0, 0.5, 7.0];
    for ((found, expected), name) in point.values.iter().zip(expected).zip(outcomes) {
        assert!(
            (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
            "{name}: {found}"
        );
    }
    assert_eq!(sweep.outcomes()[1], "peak");
    assert_eq!(sweep.points()[1].as_ref().expect("done").values[5], 315.0);
    // What makes no sense is told at its point.
    let wrong = SceneSweep {
        outcomes: vec![SweepOutcome::parse("max(z)")],
        ..subject.clone()
    };
    let point = wrong.evaluate(&names, &[1.0, 0.01]);
    assert!(
        point.values[0].is_nan() && point.reason.contains("`z`"),
        "{point:?}"
    );
    let point = subject.evaluate(&names, &[1.0, -1.0]);
    assert!(point.reason.contains("step"), "{point:?}");
}
