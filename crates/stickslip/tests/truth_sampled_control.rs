//! Controllers in discrete time: a digital loop is simulated as it is, between its samples and at them.

use std::ops::ControlFlow;

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, Simulation};
use stickslip::solvers::enumeration::{EnumerationError, EnumerationSettings};

const MASS: f64 = 2.0;
const PERIOD: f64 = 0.01;

fn loop_scene(scheme: &str, kd: f64, step: f64) -> String {
    format!(
        r#"
        title = "digital loop"
        scheme = "{scheme}"
        theta = 0.5
        step = {step}
        until = 2
        [parameters]
        target = 1
        kp = 30
        kd = {kd}
        ki = 4
        [system]
        coordinates = ["x"]
        kinetic_energy = "{MASS}*x'^2/2"
        forces = {{ x = "u" }}
        [[controllers]]
        name = "pid"
        period = {PERIOD}
        state = {{ i = 0 }}
        update = {{ i = "i + period*(target - x)" }}
        output = {{ u = "kp*(target - x) - kd*x' + ki*i" }}
        "#
    )
}

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(SourceText::new("loop.toml", text)).expect("a scene");
    scene.simulation().expect("a simulation")
}

/// Position and velocity after `count` periods of the exact sampled system.
fn exact(kd: f64, count: usize) -> (f64, f64) {
    let (mut x, mut v, mut i) = (0.0, 0.0, 0.0);
    for _ in 0..count {
        let u = 30.0 * (1.0 - x) - kd * v + 4.0 * i;
        i += PERIOD * (1.0 - x);
        x += PERIOD * v + 0.5 * PERIOD * PERIOD * u / MASS;
        v += PERIOD * u / MASS;
    }
    (x, v)
}

#[test]
fn a_sampled_pid_loop_follows_its_exact_recurrence() {
    // Steps that divide the period, that do not, and that are longer than it.
    for step in [1e-3, 3e-3, 7e-3, 0.03] {
        let mut run = simulation(&loop_scene("moreau-jean", 10.0, step));
        let mut sampled = 0;
        let end = run.run_until(2.0, |record| {
            let k = (record.t / PERIOD).round();
            if (record.t - k * PERIOD).abs() < 1e-12 {
                sampled += 1;
                let (x, v) = exact(10.0, k as usize);
                assert!(
                    (record.q[0] - x).abs() < 1e-11,
                    "step {step}, t {}",
                    record.t
                );
                assert!((record.velocity[0] - v).abs() < 1e-11);
            }
            ControlFlow::Continue(())
        });
        assert_eq!((end, sampled), (RunEnd::Finished, 200), "step {step}");
        assert!(run.ledger().is_closed());
    }
}

#[test]
fn the_event_driven_reference_agrees() {
    let mut run = simulation(&loop_scene("event-driven", 10.0, 0.02));
    assert_eq!(
        run.run_until(2.0, |_| ControlFlow::Continue(())),
        RunEnd::Finished
    );
    let (x, v) = exact(10.0, 200);
    let (q, w) = (run.state().q[0], run.state().v[0]);
    assert!(
        (q - x).abs() < 1e-7 && (w - v).abs() < 1e-7,
        "{q} {x} {w} {v}"
    );
}

/// With kd above 2 m / period the sampled loop diverges although the continuous one is damped: holding is not filtering.
#[test]
fn a_loop_that_samples_too_slowly_diverges_as_it_must() {
    let kd = 450.0;
    let mut run = simulation(&loop_scene("moreau-jean", kd, 2.5e-3));
    run.run_until(0.3, |_| ControlFlow::Continue(()));
    let (x, v) = exact(kd, 30);
    assert!(v.abs() > 10.0, "the recurrence diverges: {v}");
    assert!((run.state().q[0] - x).abs() < 1e-9 * v.abs());
    assert!((run.state().v[0] - v).abs() < 1e-9 * v.abs());
}

/// A block is pushed beyond its friction by a controller that switches on at t ≥ 0.5: it leaves at the sample instant.
#[test]
fn a_held_force_breaks_stiction_at_its_sample() {
    for (scheme, tolerance) in [("moreau-jean", 2e-3), ("event-driven", 1e-6)] {
        let text = format!(
            r#"
            title = "switched push"
            scheme = "{scheme}"
            step = 1e-3
            until = 1
            [system]
            coordinates = ["x", "y"]
            kinetic_energy = "(x'^2 + y'^2)/2"
            potential = "10*y"
            forces = {{ x = "push" }}
            [[contacts]]
            gap = "y"
            tangents = [[1, 0]]
            friction = 0.3
            [[controllers]]
            period = 0.07
            output = {{ push = "if(t >= 0.5, 5, 0)" }}
            "#
        );
        let mut run = simulation(&text);
        run.run_until(1.0, |_| ControlFlow::Continue(()));
        // The first sample at or after 0.5 is the eighth: t = 0.56.
        let expected = 0.5 * (5.0 - 3.0) * (1.0 - 0.56f64).powi(2);
        let found = run.state().q[0];
        assert!(
            (found - expected).abs() < tolerance,
            "{scheme}: {found} {expected}"
        );
    }
}

#[test]
fn a_restored_loop_goes_on_with_the_same_bits() {
    let text = loop_scene("moreau-jean", 10.0, 3e-3);
    let mut whole = simulation(&text);
    whole.run_until(2.0, |_| ControlFlow::Continue(()));
    let mut first = simulation(&text);
    let mut left = 150;
    first.run_until(2.0, |_| {
        left -= 1;
        if left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    let mut second = simulation(&text);
    second.restore(first.checkpoint()).expect("the same scene");
    second.run_until(2.0, |_| ControlFlow::Continue(()));
    assert_eq!(whole.state(), second.state());
    assert_eq!(whole.steps(), second.steps());
    let columns = whole.trajectory_layout();
    assert_eq!(columns.columns().last().map(String::as_str), Some("pid.u"));
}

#[test]
fn mistakes_of_controllers_are_told() {
    let text = loop_scene("moreau-jean", 10.0, 1e-3);
    for (from, to, expected) in [
        ("period = 0.01", "period = 0", "`period` must be positive"),
        (
            "update = { i",
            "update = { j",
            "is no state of the controller",
        ),
        (
            "state = { i = 0 }",
            "state = { x = 0 }",
            "cannot be the name of a state",
        ),
        ("kd*x' + ki*i", "kd*x' + ki*k", "`k`"),
        ("forces = { x = \"u\" }", "forces = { x = \"w\" }", "`w`"),
        (
            "kinetic_energy = \"2*x'^2/2\"",
            "kinetic_energy = \"2*x'^2/2\"\npotential = \"u*x\"",
            "is an output of a controller",
        ),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text, "{from}");
        let error = Scene::parse(SourceText::new("loop.toml", broken)).expect_err(to);
        assert!(error.to_string().contains(expected), "{to}: {error}");
    }
}

/// Newton's law with e = 1/2 turns an approach of 2 m/s at the initial instant into 1 m/s, whatever a controller holds.
#[test]
fn an_impact_at_the_start_happens_under_a_controller_too() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
        let text = format!(
            r#"
            title = "thrown down"
            scheme = "{scheme}"
            step = 1e-3
            until = 0.1
            [system]
            coordinates = ["y"]
            kinetic_energy = "y'^2/2"
            forces = {{ y = "u" }}
            [[controllers]]
            name = "drag"
            period = 0.01
            output = {{ u = "-9.81 - y'" }}
            [[contacts]]
            gap = "y"
            restitution = 0.5
            [initial]
            y = 0
            y_dot = -2
            "#
        );
        let run = simulation(&text);
        let record = run.record();
        assert_eq!(record.t, 0.0, "{scheme}");
        assert!((record.velocity[0] - 1.0).abs() < 1e-14, "{scheme}");
        assert!((record.impulses[0] - 3.0).abs() < 1e-14, "{scheme}");
        // The controller reads the velocity after it.
        assert!((record.accounts[0] + 10.81).abs() < 1e-14, "{scheme}");
    }
}

const THROWN: &str = r#"
title = "first sample at an initial impact"
until = 0.1
step = 1e-4
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*y"
forces = { x = "u" }
[[contacts]]
name = "floor"
gap = "y"
slip = ["x'"]
friction = 0.5
[[controllers]]
name = "c"
period = 0.05
output = { u = "-10*x'" }
[initial]
x_dot = 2
y_dot = -1
"#;

/// Friction takes μ of the impulse that stops an approach: x' = 2 - 0.5 is what the first sample reads, whatever the scheme.
#[test]
fn the_first_sample_reads_the_velocity_after_an_impact_under_every_scheme() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
        let text = THROWN.replace("until", &format!("scheme = \"{scheme}\"\nuntil"));
        let mut run = simulation(&text);
        let held = |run: &Simulation| run.record().accounts[0];
        assert!((held(&run) + 15.0).abs() < 1e-9, "{scheme}: {}", held(&run));
        run.run_until(0.01, |_| ControlFlow::Continue(()));
        assert!((held(&run) + 15.0).abs() < 1e-9, "{scheme}: {}", held(&run));
        // It goes on as it began: x'' = -15 - μ g.
        let expected = 1.5 - 0.01 * (15.0 + 0.5 * 9.81);
        let found = run.state().v[0];
        assert!(
            (found - expected).abs() < 1e-9,
            "{scheme}: {found} {expected}"
        );
        assert!(run.ledger().is_closed(), "{scheme}");
    }
}

/// `branches` poses the step that the run makes: the controller has sampled, in the plane as in a contact that also rolls.
#[test]
fn branches_know_what_a_controller_holds() {
    let settings = EnumerationSettings::default();
    let parse = |text: &str| {
        Scene::parse(SourceText::new("pushed.toml", text)).unwrap_or_else(|e| panic!("{e}"))
    };
    let pushed = r#"
        title = "block with controller"
        law = "coulomb"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "9.81*y"
        forces = { x = "u" }
        [[contacts]]
        gap = "y"
        slip = ["x'"]
        friction = 0.3
        [[controllers]]
        period = 0.01
        output = { u = "5" }
    "#;
    let scene = parse(pushed);
    let h = scene.settings.step;
    let study = scene.branches(1e-9, h, &settings).unwrap().unwrap();
    assert_eq!(study.velocities.len(), 1);
    let expected = h * (5.0 - 0.3 * 9.81);
    assert!((study.velocities[0][0] - expected).abs() < 1e-12 * expected.abs().max(1.0));
    // With a rolling resistance the problem is one of space.
    let drilled = pushed
        .replace("[\"x\", \"y\"]", "[\"x\", \"y\", \"c\"]")
        .replace("y'^2)/2", "y'^2)/2 + c'^2/2")
        .replace(
            "friction = 0.3",
            "friction = 0.3\nrolling = \"c'\"\nrolling_friction = 0.01",
        );
    let study = parse(&drilled)
        .branches(1e-9, h, &settings)
        .unwrap()
        .unwrap();
    assert!(!study.velocities.is_empty());
    for v in &study.velocities {
        assert!((v[0] - expected).abs() < 1e-8, "{v:?}");
    }
    // At a thrown block the sample is that after the impact, as in the run.
    let thrown = parse(&THROWN.replace("step = 1e-4", "step = 1e-4\nlaw = \"coulomb\""));
    let study = thrown.branches(1e-9, 1e-4, &settings).unwrap().unwrap();
    let expected = 2.0 - 0.5 * (1.0 + 9.81e-4) - 15e-4;
    assert!(
        (study.velocities[0][0] - expected).abs() < 1e-9,
        "{:?}",
        study.velocities
    );
}

/// What is no number is an error by name, not a list without solutions: a force that has a value at the start and none at the end of
/// the step.
#[test]
fn a_problem_that_is_not_finite_is_no_list_of_motions() {
    let text = r#"
        title = "force without a value after the start"
        law = "coulomb"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "9.81*y"
        forces = { x = "sqrt(-t)" }
        [[contacts]]
        gap = "y"
        slip = ["x'"]
        friction = 0.3
    "#;
    let scene = Scene::parse(SourceText::new("ends.toml", text)).expect("a scene");
    let found = scene.branches(1e-9, 1e-3, &EnumerationSettings::default());
    let error = found.unwrap().expect_err("not a number");
    assert!(
        matches!(error, EnumerationError::NotFinite { block: 0 }),
        "{error}"
    );
}
