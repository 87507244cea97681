//! Scenes against the same systems written as closures, and the format itself.

use std::ops::ControlFlow;

use serde_json::Value as Json;

use super::source::FILE_SIZE_MAX;
use super::*;
use crate::algebra::{Jet, SymmetricMatrix};
use crate::systems::functions::{Inertia, KineticEnergy};

fn scene(text: &str) -> Scene {
    Scene::parse(SourceText::new("test.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

const PENDULUM: &str = r#"
    title = "Double pendulum above a floor"
    step = 0.001
    until = 1
    [parameters]
    m = 1.5
    l = 0.7
    k = "m*l^2"
    g = 9.81
    [definitions]
    x2 = "l*(sin(a) + sin(b))"
    y2 = "-l*(cos(a) + cos(b))"
    [system]
    coordinates = ["a", "b"]
    kinetic_energy = "k*a'^2/2 + m*(x2'^2 + y2'^2)/2"
    potential = "-m*g*l*cos(a) + m*g*y2"
    forces = { a = "-0.1*a'", b = "0.2*sin(3*t) - 0.1*b'" }
    [[contacts]]
    name = "floor"
    gap = "y2 + 1.2"
    point = ["x2", "y2"]
    friction = 0.3
    restitution = 0.4
    [initial]
    a = 0.9
    b = -0.4
    b_dot = 0.5
"#;

/// The same energy over jets.
fn pendulum_energy(q: &[Jet], v: &[Jet]) -> Jet {
    let (m, l) = (1.5, 0.7);
    let x = (q[0].cos() * v[0] + q[1].cos() * v[1]) * l;
    let y = (q[0].sin() * v[0] + q[1].sin() * v[1]) * l;
    v[0] * v[0] * (m * l * l / 2.0) + (x * x + y * y) * (m / 2.0)
}

#[test]
fn mass_and_covariant_force_agree_with_automatic_differentiation() {
    let system = scene(PENDULUM).system().unwrap();
    let by_jets = KineticEnergy(pendulum_energy);
    for (q, v) in [
        ([0.9, -0.4], [0.3, 0.5]),
        ([2.0, 1.0], [-1.0, 4.0]),
        ([0.0, 0.0], [1.0, 1.0]),
    ] {
        let mut mine = SymmetricMatrix::zeros(2);
        let mut other = SymmetricMatrix::zeros(2);
        system.mass(&q, &mut mine);
        by_jets.mass(&q, &mut other);
        let mut force = [[0.0; 2]; 2];
        system.covariant_force(&q, &v, &mut force[0]);
        by_jets.covariant_force(&q, &v, &mut force[1]);
        for (a, b) in mine
            .values()
            .iter()
            .zip(other.values())
            .chain(force[0].iter().zip(&force[1]))
        {
            assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} against {b}");
        }
    }
}

#[test]
fn a_scene_runs_and_its_ledger_closes() {
    for scheme in ["moreau-jean", "moreau"] {
        let text = Changes::new()
            .key("scheme", scheme)
            .apply(&SourceText::new("pendulum.toml", PENDULUM))
            .unwrap();
        let scene = Scene::parse(text).unwrap();
        let mut run = scene.simulation().unwrap();
        let mut contacts = 0;
        let until = scene.settings.until;
        run.run_until(until, |record| {
            contacts += usize::from(record.impulses.iter().any(|&p| p != 0.0));
            ControlFlow::Continue(())
        });
        assert!(contacts > 0, "{scheme}: the tip never touched the floor");
        assert!(run.ledger().is_closed(), "{scheme}: {:?}", run.ledger());
        assert!((run.state().t - until).abs() < 1e-12);
    }
}

#[test]
fn the_smallest_useful_scene_has_under_fifteen_lines() {
    let text = "title = \"Ball\"\n[system]\ncoordinates = [\"y\"]\nkinetic_energy = \"y'^2/2\"\n\
                potential = \"9.81*y\"\n[[contacts]]\ngap = \"y\"\nrestitution = 0.5\n[initial]\ny = 1\n";
    assert!(text.lines().count() < 15);
    let scene = scene(text);
    let mut run = scene.simulation().unwrap();
    run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    assert!(run.events().events.len() > 1);
    assert!(run.ledger().is_closed());
}

#[test]
fn a_belt_drags_a_block_to_its_own_speed() {
    // Slip x' - w: the block accelerates at mu g until it moves with the belt, at t = w/(mu g).
    let scene = scene(
        r#"
        title = "Belt"
        until = 2
        [parameters]
        mu = 0.5
        g = 10
        w = 3
        [system]
        coordinates = ["x", "y"]
        mass_matrix = [[2, 0], [0, 2]]
        potential = "2*g*y"
        [[contacts]]
        gap = "y"
        slip = "x' - w"
        friction = "mu"
        "#,
    );
    let mut run = scene.simulation().unwrap();
    run.run_until(0.4, |_| ControlFlow::Continue(()));
    let step = scene.settings.step;
    assert!(
        (run.state().v[0] - 2.0).abs() <= 5.0 * step,
        "{}",
        run.state().v[0]
    );
    run.run_until(2.0, |_| ControlFlow::Continue(()));
    assert!(
        (run.state().v[0] - 3.0).abs() < 1e-9,
        "{}",
        run.state().v[0]
    );
    assert!(run.ledger().is_closed());
}

#[test]
fn a_rising_table_carries_its_load() {
    // The table rises at speed 0.5 from the start; the load at rest on it is hit and carried.
    let scene = scene(
        r#"
        title = "Lift"
        impact = "inelastic"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "x'^2/2 + y'^2/2"
        potential = "9.81*y"
        [[contacts]]
        gap = "2*(y - t/2)"
        point = ["x", "y"]
        friction = 0.2
        "#,
    );
    let mut run = scene.simulation().unwrap();
    run.run_until(1.0, |_| ControlFlow::Continue(()));
    assert!((run.state().v[1] - 0.5).abs() < 1e-9, "{:?}", run.state().v);
    assert!((run.state().q[1] - 0.5).abs() < 1e-2);
}

#[test]
fn definitions_have_rates() {
    let scene = scene(
        r#"
        title = "Rates"
        [definitions]
        r = "sqrt(x^2 + y^2)"
        power = "x'*y' + t"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        forces = { x = "r'", y = "r_dot + power" }
        [initial]
        x = 3
        y = 4
        "#,
    );
    let system = scene.system().unwrap();
    let mut force = [0.0; 2];
    let at = crate::systems::Instant::new(7.0, &[3.0, 4.0], &[1.0, 2.0]);
    system.force(&at, &mut force);
    assert!((force[0] - 11.0 / 5.0).abs() < 1e-15 && (force[1] - (11.0 / 5.0 + 9.0)).abs() < 1e-14);
}

#[test]
fn changes_reach_the_run() {
    let source = SourceText::new("pendulum.toml", PENDULUM);
    let changes = Changes::new()
        .parameter("l", "0.5")
        .parameter("k", "m*l^2/3")
        .key("until", 0.25);
    let scene = Scene::parse(changes.apply(&source).unwrap()).unwrap();
    assert_eq!(scene.settings.until, 0.25);
    assert_eq!(scene.parameters[2], ("k".to_owned(), 1.5 * 0.25 / 3.0));
}

#[test]
fn a_huge_text_or_file_ends_in_an_error() {
    let text = format!("title = \"x\"\n#{}", "x".repeat(FILE_SIZE_MAX));
    let error = Scene::parse(SourceText::new("huge.toml", text)).unwrap_err();
    assert!(error.to_string().contains("more than the"), "{error}");
    // A device without end is read only up to the limit.
    let endless = std::path::Path::new("/dev/zero");
    if endless.exists() {
        assert!(matches!(
            SourceText::read(endless),
            Err(LoadError::TooLarge { .. })
        ));
    }
    let missing = SourceText::read(std::path::Path::new("no such scene.toml")).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("cannot read `no such scene.toml`")
    );
}

#[test]
fn drawing_follows_the_motion() {
    let text = format!(
        "{PENDULUM}\n[[drawing]]\nline = [[0, 0], [\"l*sin(a)\", \"-l*cos(a)\"], [\"x2\", \"y2\"]]\n\
                        [[drawing]]\ncircle = [\"x2\", \"y2\"]\nradius = 0.1\nlabel = \"bob\"\n[[drawing]]\nline = [[-2, -1.2], [2, -1.2]]\n"
    );
    let scene = scene(&text);
    let shapes = scene.drawing().unwrap().at(0.0, &[0.0, 0.0]);
    assert_eq!(
        shapes[0].shape,
        Shape::Line(vec![[0.0, 0.0], [0.0, -0.7], [0.0, -1.4]])
    );
    assert_eq!(
        shapes[1].shape,
        Shape::Circle {
            center: [0.0, -1.4],
            radius: 0.1
        }
    );
    assert!(shapes[0].moving && !shapes[2].moving);
}

/// Every key of the schema is known to the decoder and the other way round, in every table.
#[test]
fn schema_and_decoder_know_the_same_keys() {
    let schema = Scene::schema();
    let keys = |json: &Json| -> Vec<String> {
        json["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    for key in keys(&schema) {
        let text = format!("title = 1\n{key} = 1\n");
        let error = Scene::parse(SourceText::new("a.toml", text)).unwrap_err();
        assert!(!error.to_string().contains("unknown key"), "{key}: {error}");
    }
    let contact = &schema["properties"]["contacts"]["items"];
    assert_eq!(contact["additionalProperties"], Json::Bool(false));
    assert!(keys(contact).contains(&"restitution".to_owned()));
    let schemes = &schema["properties"]["scheme"]["enum"];
    assert_eq!(
        *schemes,
        serde_json::json!([
            "moreau",
            "moreau-jean",
            "sweeping-process",
            "penalty",
            "event-driven"
        ])
    );
    assert_eq!(schema["required"], serde_json::json!(["title"]));
}

#[test]
fn findings_carry_line_and_column() {
    let text = "title = \"A\"\n[system]\ncoordinates = [\"x\"]\nkinetic_energy = \"x'^2 + yy\"\n";
    let error = Scene::parse(SourceText::new("a.toml", text)).unwrap_err();
    let finding = &error.findings()[0];
    assert_eq!((finding.line, finding.column), (Some(4), Some(26)));
    assert_eq!(finding.text.as_deref(), Some("yy"));
}

#[test]
fn a_rigid_body_scene_runs() {
    let scene = scene(
        r#"
        title = "Coin"
        until = 0.5
        step = 0.001
        [body]
        mass = 0.01
        moments = [1e-6, 1e-6, 2e-6]
        gravity = [0, 0, -9.81]
        position = [0, 0, 0.1]
        rotation = [0.3, 0, 0]
        spin = [0, 0, 20]
        [[contacts]]
        arm = [0.01, 0, 0]
        friction = 0.2
        restitution = 0.3
        [[contacts]]
        arm = [-0.01, 0, 0]
        friction = 0.2
        restitution = 0.3
        "#,
    );
    let mut run = scene.simulation().unwrap();
    run.run_until(0.5, |_| ControlFlow::Continue(()));
    assert!(run.ledger().is_closed());
    assert!(!run.events().events.is_empty());
}

#[test]
fn a_file_full_of_mistakes_is_reported_in_bounded_size() {
    let keys: String = (0..20_000).map(|k| format!("titl{k} = 1\n")).collect();
    let error = Scene::parse(SourceText::new("many.toml", keys)).unwrap_err();
    assert!(error.findings().len() <= 100);
    assert!(error.to_string().contains("mistakes in many.toml"));
    assert!(error.to_string().len() < 100_000);
}

/// A dense kinetic energy of 64 coordinates with all their products overflows the graph: an error,
/// in bounded time and memory.
#[test]
fn a_hopelessly_large_system_is_refused() {
    let names: Vec<String> = (0..64).map(|k| format!("q{k}")).collect();
    let list = names
        .iter()
        .map(|n| format!("\"{n}\""))
        .collect::<Vec<_>>()
        .join(", ");
    let terms: Vec<String> = names
        .iter()
        .map(|n| format!("sin({n})*{n}'*exp({n})"))
        .collect();
    let sum = terms.join(" + ");
    let mut definitions = format!("d0 = \"{sum}\"\n");
    for k in 1..20 {
        definitions.push_str(&format!(
            "d{k} = \"sin(d{})*cos(d{}) + {sum}\"\n",
            k - 1,
            k - 1
        ));
    }
    let text = format!(
        "title = \"Large\"\n[definitions]\n{definitions}[system]\ncoordinates = [{list}]\n\
         kinetic_energy = \"(d19)^2\"\n"
    );
    let error = Scene::parse(SourceText::new("large.toml", text)).unwrap_err();
    assert!(!error.diagnostics().is_empty());
}

#[test]
fn two_material_points_of_one_contact_share_the_load() {
    // A block that cannot turn, on two feet: it stops where a point mass would.
    let scene = scene(
        r#"
        title = "Two feet"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "9.81*y"
        [[contacts]]
        name = "floor"
        gap = "y"
        [[contacts.points]]
        point = ["x - 1", "y"]
        friction = 0.3
        [[contacts.points]]
        point = ["x + 1", "y"]
        friction = 0.3
        [initial]
        x_dot = 2
        "#,
    );
    let mut run = scene.simulation().unwrap();
    run.run_until(1.0, |_| ControlFlow::Continue(()));
    let distance = 4.0 / (2.0 * 0.3 * 9.81);
    assert!(
        (run.state().q[0] - distance).abs() < 2e-3,
        "{:?}",
        run.state().q
    );
    assert_eq!(run.record().contacts.len(), 2);
    assert!(run.ledger().is_closed());
}

#[test]
fn joints_and_reduced_coordinates_give_the_same_motion() {
    let joined = scene(
        r#"
        title = "Pendulum with a joint"
        step = 2e-4
        theta = 0.5
        joint_velocity = "theta"
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "9.81*y"
        [[joints]]
        name = "rod"
        equation = "(x^2 + y^2 - 1)/2"
        [initial]
        x = "sin(1)"
        y = "-cos(1)"
        "#,
    );
    let reduced = scene(
        r#"
        title = "Pendulum"
        step = 2e-4
        theta = 0.5
        internal_force = "discrete-gradient"
        [system]
        coordinates = ["a"]
        kinetic_energy = "a'^2/2"
        potential = "-9.81*cos(a)"
        [initial]
        a = 1
        "#,
    );
    let mut a = joined.simulation().unwrap();
    let mut b = reduced.simulation().unwrap();
    a.run_until(1.0, |_| ControlFlow::Continue(()));
    b.run_until(1.0, |_| ControlFlow::Continue(()));
    let (q, angle) = (&a.state().q, b.state().q[0]);
    assert!(
        (q[0] - angle.sin()).abs() < 1e-3 && (q[1] + angle.cos()).abs() < 1e-3,
        "{q:?} {angle}"
    );
    assert!(a.ledger().is_closed() && b.ledger().is_closed());
}

#[test]
fn an_adaptive_step_takes_fewer_steps() {
    let source = SourceText::new("pendulum.toml", PENDULUM);
    let adaptive = Changes::new()
        .key("adaptive", 1e-4)
        .key("until", 0.2)
        .apply(&source)
        .unwrap();
    let mut run = Scene::parse(adaptive).unwrap().simulation().unwrap();
    run.run_until(0.2, |_| ControlFlow::Continue(()));
    assert!(run.steps() > 0 && run.steps() < 200, "{}", run.steps());
    assert!((run.state().t - 0.2).abs() < 1e-12);
}

#[test]
fn delayed_forces_agree_with_closures() {
    use crate::simulation::{Simulation, SimulationSettings};
    use crate::solvers::GaussSeidel;
    use crate::stepping::MoreauJean;
    use crate::systems::GeneralizedSystem;
    use crate::systems::past_motion::{InitialHistory, Kernel, PastReading, Psi};

    let scene = scene(
        r#"
        title = "Everything of the past"
        theta = 0.5
        step = 0.005
        [parameters]
        tau = 0.25
        [system]
        coordinates = ["x"]
        kinetic_energy = "x'^2/2"
        forces = { x = "-4*delay(x, tau) - 0.1*delay(x', tau) + window_max(x, 0.5) + window_min(x, 0.5) - 0.3*window_mean(x, 0.2) + 0.2*window_integral(x, 0.2) + deviation_from_rest(x, 0.1)" }
        [initial]
        x = 1
        x_dot = -1
        [history]
        x = "cos(t) - t"
        "#,
    );
    let mut reading = PastReading::new();
    reading.point_delay(0.25).unwrap();
    let high = reading.window_maximum(0.5, Psi::Coordinate(0)).unwrap();
    let low = reading.window_maximum(0.5, Psi::Negative(0)).unwrap();
    let mean = reading.integral(0, 0.2, Kernel::Constant).unwrap();
    reading.window(0.1).unwrap();
    reading
        .history(InitialHistory::function(|_, s| s.cos() - s))
        .unwrap();
    let system = GeneralizedSystem::builder(["x"])
        .mass_diagonal(&[1.0])
        .delayed_force(reading, move |past, _v, out| {
            out[0] = -4.0 * past.delayed(0, 0.25) - 0.1 * past.delayed_velocity(0, 0.25)
                + past.maximum(&high)
                - past.maximum(&low)
                - 0.3 * past.mean(&mean)
                + 0.2 * past.integral(&mean)
                + past.deviation(&[0], 0.1);
        })
        .build(&[1.0])
        .unwrap();
    let scheme = MoreauJean::new(crate::stepping::MoreauJeanSettings {
        theta: Some(0.5),
        ..Default::default()
    });
    let mut closures = Simulation::new(
        Box::new(system),
        Box::new(scheme.unwrap()),
        Box::new(GaussSeidel::default()),
        (&[1.0], &[-1.0]),
        SimulationSettings::fixed(0.005),
    )
    .unwrap();
    let mut run = scene.simulation().unwrap();
    run.run_until(2.0, |_| ControlFlow::Continue(()));
    closures.run_until(2.0, |_| ControlFlow::Continue(()));
    let (a, b) = (run.state().q[0], closures.state().q[0]);
    assert!((a - b).abs() < 1e-10, "{a} against {b}");
    assert!(run.ledger().is_closed());
}

#[test]
fn varying_delays_kernels_and_samples_agree_with_what_they_generalize() {
    let end = |force: &str, history: &str| {
        let text = format!(
            r#"
            title = "Past"
            scheme = "sweeping-process"
            step = 0.004
            [system]
            coordinates = ["x"]
            kinetic_energy = "x'^2/2"
            forces = {{ x = "-3*x - {force}" }}
            [initial]
            x = 1
            x_dot = 0.5
            [history]
            x = {history}
            "#
        );
        let mut run = scene(&text).simulation().unwrap_or_else(|e| panic!("{e}"));
        run.run_until(2.0, |_| ControlFlow::Continue(()));
        assert!(run.ledger().is_closed());
        run.state().q[0]
    };
    let line = "\"1 + 0.5*t\"";
    let samples = "[[-0.5, 0.75], [-0.125, 0.9375], [0, 1]]";
    // a varying delay that does not vary, and one that does
    let fixed = end("2*delay(x, 0.2)", line);
    let varying = |tau: &str| end(&format!("2*varying_delay(x, {tau}, 0.05, 0.4)"), line);
    assert_eq!(fixed.to_bits(), varying("0.2").to_bits());
    assert!((fixed - varying("0.2 + 0.1*sin(5*t)")).abs() > 1e-3);
    // samples of a straight line are the line
    assert!((fixed - end("2*delay(x, 0.2)", samples)).abs() < 1e-13);
    // kernels: constant as rate 0, exponential as a general weight
    let constant = end("4*window_integral(x, 0.3)", samples);
    let none = end("4*fading_integral(x, 0.3, 0)", samples);
    assert!((constant - none).abs() < 1e-11, "{constant} {none}");
    let fading = end("4*fading_integral(x, 0.3, 6)", samples);
    let weighted = end("4*weighted_integral(x, 0.3, exp(-6*t))", samples);
    assert!((fading - weighted).abs() < 1e-10, "{fading} {weighted}");
}

#[test]
fn a_varying_delay_that_leaves_its_bounds_stops_the_run() {
    for tau in ["0.1 - t", "0.1 + t"] {
        let text = format!(
            r#"
            title = "Past"
            scheme = "sweeping-process"
            step = 0.004
            [system]
            coordinates = ["x"]
            kinetic_energy = "x'^2/2"
            forces = {{ x = "-varying_delay(x, {tau}, 0.05, 0.4)" }}
            [initial]
            x = 1
            "#
        );
        let mut run = scene(&text).simulation().unwrap_or_else(|e| panic!("{e}"));
        let end = run.run_until(2.0, |_| ControlFlow::Continue(()));
        let outcome = crate::records::StepOutcome::DelayOutOfRange;
        assert!(
            matches!(end, crate::simulation::RunEnd::Stopped { outcome: found, .. } if found == outcome),
            "{end:?}"
        );
    }
}

#[test]
fn the_sweeping_process_ends_with_the_velocity_of_the_end_time() {
    let text = r#"
        title = "Slide"
        scheme = "sweeping-process"
        impact = "inelastic"
        step = 0.01
        until = 0.1
        [system]
        coordinates = ["x", "y"]
        kinetic_energy = "(x'^2 + y'^2)/2"
        potential = "10*y"
        [[contacts]]
        name = "plane"
        gap = "y"
        point = ["x", "y"]
        friction = 0.3
        [initial]
        x_dot = 1
        "#;
    let mut run = scene(text).simulation().unwrap_or_else(|e| panic!("{e}"));
    run.run_until(0.1, |_| ControlFlow::Continue(()));
    // ten updates led to q(T), the eleventh is v(T): friction takes 0.03 m/s in each
    assert!(
        (run.state().v[0] - 0.7).abs() < 1e-12,
        "{}",
        run.state().v[0]
    );
    assert!(
        (run.end_velocity()[0] - 0.67).abs() < 1e-12,
        "{}",
        run.end_velocity()[0]
    );
    assert!(
        (run.state().q[0]
            - (1..=10)
                .map(|k| 0.01 * (1.0 - 0.03 * f64::from(k)))
                .sum::<f64>())
        .abs()
            < 1e-12
    );
}
