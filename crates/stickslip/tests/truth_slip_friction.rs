//! Friction that depends on the slip speed: exact stops, set-valued at rest, refused where a step has several answers.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::records::StepOutcome;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, MotionNode, Violation};
use stickslip::simulation::{RunEnd, RunSummary, Simulation};

fn text(extra: &str, friction: &str, (v0, step, until): (f64, f64, f64)) -> String {
    format!(
        "title = \"t\"\nstep = {step}\nuntil = {until}\n{extra}\n\
         [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"x'^2/2 + y'^2/2\"\n\
         potential = \"9.81*y\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\nfriction = \"{friction}\"\n\
         [initial]\nx_dot = {v0}\n"
    )
}

fn scene(extra: &str, friction: &str, run: (f64, f64, f64)) -> Scene {
    let source = SourceText::new("slip.toml", text(extra, friction, run));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scene: &Scene) -> (Simulation, RunEnd) {
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    (sim, end)
}

#[test]
fn a_block_slows_as_the_law_of_the_slip_speed_says() {
    // v' = -g (a + b v): v = (v0 + a/b) exp(-b g t) - a/b, for rising and falling laws.
    let g = 9.81;
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (a, b) in [(0.2, 0.05), (0.3, -0.1)] {
            let (v0, t) = (2.0f64, 0.5);
            let exact = (v0 + a / b) * (-b * g * t).exp() - a / b;
            let error = |h: f64| {
                let law = format!("{a} + {b}*s");
                let (sim, end) = run(&scene(&format!("scheme = \"{scheme}\""), &law, (v0, h, t)));
                assert_eq!(end, RunEnd::Finished);
                assert!(
                    sim.certificate().holds(1e-10),
                    "{scheme}: {:?}",
                    sim.certificate()
                );
                assert!(sim.ledger().is_closed());
                (sim.state().v[0] - exact).abs()
            };
            let (coarse, fine) = (error(4e-3), error(1e-3));
            assert!(
                coarse < 2e-2 && fine < 0.35 * coarse,
                "{scheme} {a} {b}: {coarse} {fine}"
            );
        }
    }
}

#[test]
fn laws_without_a_slope_at_rest_or_with_an_infinite_one_are_computed() {
    // v' = -g v^n: v^(1-n) = v0^(1-n) - (1-n) g t.
    let g = 9.81;
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (law, n) in [("sqrt(s)", 0.5), ("s^0.3", 0.3), ("s^2", 2.0)] {
            let (v0, t) = (1.0f64, 0.1);
            let exact = (v0.powf(1.0 - n) - (1.0 - n) * g * t).powf(1.0 / (1.0 - n));
            let error = |h: f64| {
                let (sim, end) = run(&scene(&format!("scheme = \"{scheme}\""), law, (v0, h, t)));
                assert_eq!(end, RunEnd::Finished);
                assert!(sim.certificate().holds(1e-10), "{scheme} {law}");
                (sim.state().v[0] - exact).abs()
            };
            let (coarse, fine) = (error(4e-3), error(1e-3));
            assert!(
                coarse < 3e-2 && fine < 0.35 * coarse,
                "{scheme} {law}: {coarse} {fine}, {exact}"
            );
        }
    }
}

#[test]
fn friction_at_rest_holds_up_to_its_whole_set() {
    // A push between mu(inf) m g and mu(0) m g: a block at rest stays, a sliding one goes on.
    for (v0, moves) in [(0.0, false), (0.5, true)] {
        let text = format!(
            "title = \"t\"\nstep = 1e-3\nuntil = 1\n\
             [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"x'^2/2 + y'^2/2\"\n\
             potential = \"9.81*y - 0.25*9.81*x\"\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\n\
             friction = \"0.2 + 0.1*exp(-s/0.01)\"\n[initial]\nx_dot = {v0}\n"
        );
        let scene = Scene::parse(SourceText::new("slip.toml", &text)).expect("valid");
        let (sim, end) = run(&scene);
        assert_eq!(end, RunEnd::Finished);
        assert!(sim.certificate().holds(1e-10));
        if moves {
            // Far beyond the scale of the curve friction is 0.2: the rest of the push accelerates.
            let exact = 0.5 + 0.05 * 9.81;
            assert!(
                (sim.state().v[0] - exact).abs() < 1e-6,
                "{:?}",
                sim.state().v
            );
        } else {
            assert!(sim.state().q[0].abs() < 1e-12, "{:?}", sim.state().q);
        }
    }
}

#[test]
fn a_step_with_several_answers_is_refused_with_one_that_would_do() {
    // h g 0.1/s0 = 1 at h = s0/(0.1 g)
    let s0 = 1e-3;
    let law = format!("0.2 + 0.1*exp(-s/{s0})");
    let limit = s0 / (0.1 * 9.81);
    let (sim, end) = run(&scene("", &law, (0.5, 1.5 * limit, 0.2)));
    let RunEnd::Stopped { outcome, .. } = end else {
        panic!("{end:?}")
    };
    assert!(
        matches!(outcome, StepOutcome::SlipNotUnique { .. }),
        "{outcome:?}"
    );
    let advised = sim.record().step_advised;
    assert!(
        advised < limit && advised > 0.5 * limit,
        "{advised} {limit}"
    );
    let (_, end) = run(&scene("", &law, (0.5, advised, 0.2)));
    assert_eq!(end, RunEnd::Finished);
}

#[test]
fn an_impact_with_several_answers_is_told_no_step_that_would_do() {
    // The impulse of the impact is 1 whatever the step, and the law falls by 1.6 per unit of speed.
    let scene = |step: f64| {
        let text = format!(
            "title = \"t\"\nstep = {step}\nuntil = 0.1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\n\
             friction = \"0.1 + 0.8*exp(-s/0.5)\"\n[initial]\nx_dot = 1\ny_dot = -1\n"
        );
        Scene::parse(SourceText::new("slip.toml", &text)).expect("valid")
    };
    for step in [1e-3, 1e-6] {
        let scene = scene(step);
        let (sim, end) = run(&scene);
        let RunEnd::Stopped { outcome, .. } = end else {
            panic!("{end:?}")
        };
        assert!(
            matches!(outcome, StepOutcome::SlipNotUnique { .. }),
            "{outcome:?}"
        );
        assert_eq!(sim.record().step_advised, 0.0);
        let facts = scene.facts(sim.system());
        let settings = (RunSettings::default(), &facts);
        let reason = RunSummary::new(&sim, settings, end, 0.0).reason;
        assert!(
            reason.contains("whatever the step") && !reason.contains("at most"),
            "{reason}"
        );
    }
}

#[test]
fn laws_and_schemes_that_do_not_compute_it_refuse_it() {
    for extra in [
        "law = \"argmin\"",
        "law = \"generalized\"",
        "scheme = \"event-driven\"",
    ] {
        let text = text(extra, "0.2 + 0.1*exp(-s)", (1.0, 1e-3, 0.1));
        let Err(error) = Scene::parse(SourceText::new("slip.toml", &text)) else {
            panic!("{extra} was accepted")
        };
        assert!(error.to_string().contains("slip speed"), "{error}");
    }
}

/// A particle of 2 kg that a force keeps sliding at 1 m/s along (0.6, 0.8), with the friction `factor` times that of its slip speed.
fn steady_slide(factor: f64) -> (Scene, Motion) {
    let weight = 2.0 * 9.81;
    let friction = factor * (0.2 + 0.3 * (-2.0f64).exp()) * weight;
    let text = format!(
        "title = \"steady\"\nstep = 1e-3\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
         kinetic_energy = \"x'^2 + y'^2 + z'^2\"\npotential = \"2*9.81*z\"\n\
         forces = {{ x = \"{:?}\", y = \"{:?}\" }}\n[[contacts]]\nname = \"floor\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]\n\
         friction = \"0.2 + 0.3*exp(-s/0.5)\"\n[initial]\nx_dot = 0.6\ny_dot = 0.8\n",
        0.6 * friction,
        0.8 * friction
    );
    let node = |k: u32| {
        let t = 0.1 * f64::from(k);
        let reaction = [weight, -0.6 * friction, -0.8 * friction].map(|f| 0.1 * f);
        let v = vec![0.6, 0.8, 0.0];
        MotionNode {
            t,
            q: v.iter().map(|v| v * t).collect(),
            v_left: v.clone(),
            v_right: v,
            smooth: if k > 0 { reaction.to_vec() } else { Vec::new() },
            ..MotionNode::default()
        }
    };
    let motion = Motion {
        nodes: (0..=10).map(node).collect(),
        ..Motion::default()
    };
    let scene = Scene::parse(SourceText::new("steady.toml", &text));
    (scene.unwrap_or_else(|e| panic!("{e}")), motion)
}

#[test]
fn a_motion_file_is_judged_with_the_friction_of_its_slip_speed() {
    let (scene, motion) = steady_slide(1.0);
    let report = scene.verify(&motion, None).expect("a formulation");
    assert!(report.accepted(), "{:?}", report.violations);
    // The friction at rest, at infinite speed, and one percent more.
    let moving = 0.2 + 0.3 * (-2.0f64).exp();
    for factor in [0.5 / moving, 0.2 / moving, 1.01] {
        let (scene, motion) = steady_slide(factor);
        let report = scene.verify(&motion, None).expect("a formulation");
        let line = |v: &Violation| matches!(v.line, Line::FrictionCone | Line::FrictionLaw);
        assert!(report.violations.iter().any(line), "{factor}: {report:?}");
    }
}
