//! Every scene of the gallery under its own formulation: accepted as it is, refused when spoiled, and a reason where
//! none of the formulations applies.

use std::ops::ControlFlow;

use stickslip::scene::{Scene, find_in_gallery, gallery};
use stickslip::simulation::RunEnd;
use stickslip::simulation::verify::{Formulation, Line, Motion};

use Formulation::{Fremond, P2, P3, P3Prime, P4, P4Prime, P5, P6};

/// Scenes that belong to a formulation.
const OWN: [(&str, Formulation); 33] = [
    ("bouncing-ball", P2),
    ("corner-billiard", P2),
    ("newtons-cradle", P2),
    ("sliding-block", P3),
    ("block-on-incline", P3),
    ("coulomb-oscillator", P3),
    ("anisotropic-slider", P3),
    ("particle-on-sphere", P3),
    ("particle-in-bowl", P3),
    ("ice-patch", P3),
    ("wedge", P4),
    ("refined-bar", P4),
    ("painleve-start", P5),
    ("kane-pendulum", P5),
    ("rolling-disc", P5),
    ("slender-rod", P6),
    ("painleve-rod", P6),
    ("rocking-block", P6),
    ("woodpecker", P6),
    ("slider-crank", P6),
    ("chain", P6),
    ("spinning-top", P6),
    ("painleve-bar", P3Prime),
    ("pinned-bar", P3Prime),
    ("coulomb-plate", P3Prime),
    ("chalk", P4Prime),
    ("two-foot-block", P4Prime),
    ("v-groove-bar", P4Prime),
    ("rough-corner", P4Prime),
    ("acute-corner", P4Prime),
    ("tangential-impact", P4Prime),
    ("own-impact-map", P4Prime),
    ("fremond-impact", Fremond),
];

/// Scenes to which the formulations do not apply, and a part of the reason.
const OUTSIDE: [(&str, &str); 24] = [
    ("delayed-oscillator", "read the past"),
    ("delayed-oscillator-free", "read the past"),
    ("delayed-hopper", "read the past"),
    ("distributed-delay", "read the past"),
    ("stick-slip", "read the past"),
    ("friction-creep", "read the past"),
    ("friction-chatter", "read the past"),
    ("machining-chatter", "read the past"),
    ("machining-varying-speed", "read the past"),
    ("bar-penalty", "contacts are compliant"),
    ("painleve-penalty", "contacts are compliant"),
    ("bar-both-ends", "contacts are compliant"),
    ("bar-impact", "impact law energetic"),
    ("bar-sticks", "impact law energetic"),
    ("bar-reverses", "impact law energetic"),
    ("bar-jams", "impact law energetic"),
    ("elastic-bar", "bodies are elastic"),
    ("elastic-beam", "bodies are elastic"),
    ("elastic-block", "bodies are elastic"),
    ("elastic-disc", "bodies are elastic"),
    ("elastic-two-blocks", "bodies are elastic"),
    ("elastic-ring", "bodies are elastic"),
    ("bowed-reed", "bodies are elastic"),
    ("brake-pad", "bodies are elastic"),
];

fn scene(name: &str) -> Scene {
    let entry = find_in_gallery(name).unwrap_or_else(|| panic!("no scene {name}"));
    Scene::parse(entry.source()).unwrap_or_else(|e| panic!("{e}"))
}

fn motion(scene: &Scene) -> Motion {
    let mut motion = Motion::of_run(scene.discretisation().expect("a scheme of steps"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    motion.push(run.record());
    let end = run.run_until(scene.settings.until, |record| {
        motion.push(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    motion
}

#[test]
fn every_scene_is_in_one_of_the_lists() {
    let named: Vec<&str> = OWN
        .iter()
        .map(|s| s.0)
        .chain(OUTSIDE.iter().map(|s| s.0))
        .collect();
    for entry in gallery() {
        let times = named.iter().filter(|&&name| name == entry.name).count();
        assert_eq!(times, 1, "{}", entry.name);
    }
    assert_eq!(named.len(), gallery().len());
}

/// A motion of a run and the line that must notice, with the node at which it does.
type Spoil = fn(&mut Motion, usize);

const SPOILS: [(&str, &[Line], Spoil); 4] = [
    ("starts elsewhere", &[Line::InitialCondition], |m, _| {
        m.nodes[0].q[0] += 1e-3
    }),
    ("jumps to another place", &[Line::Kinematics], |m, k| {
        m.nodes[k..].iter_mut().for_each(|n| n.q[0] += 1e-3);
    }),
    (
        "a push from nowhere",
        &[Line::EquationOfMotion, Line::ImpactEquation],
        |m, k| {
            let push = 1e-3
                * m.nodes
                    .iter()
                    .map(|n| n.v_right[0].abs())
                    .fold(1e-3, f64::max);
            m.nodes[k].v_right[0] += push;
        },
    ),
    (
        "a twentieth more impulse",
        &[Line::EquationOfMotion, Line::ImpactEquation],
        |m, k| m.nodes[k].atom.iter_mut().for_each(|p| *p *= 1.05),
    ),
];

/// The step with the largest impulse after the start.
fn hardest(motion: &Motion) -> usize {
    let size = |k: usize| {
        motion.nodes[k]
            .atom
            .iter()
            .fold(0.0f64, |s, p| s.max(p.abs()))
    };
    (1..motion.nodes.len())
        .max_by(|&a, &b| size(a).total_cmp(&size(b)))
        .expect("a step")
}

#[test]
fn runs_are_accepted_under_their_own_formulation_and_refused_when_spoiled() {
    let mut wrong = Vec::new();
    for (name, expected) in OWN {
        let scene = scene(name);
        assert_eq!(scene.formulation(), Ok(expected), "{name}");
        let sound = motion(&scene);
        let report = scene
            .verify(&sound, None)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        if !report.accepted() {
            wrong.push(format!("{name} {expected}: {:?}", report.violations));
        }
        let k = hardest(&sound);
        for (what, lines, spoil) in SPOILS {
            let pressed = sound.nodes[k].atom.iter().any(|&p| p != 0.0);
            if what.contains("impulse") && !pressed {
                continue;
            }
            let mut motion = sound.clone();
            spoil(&mut motion, k);
            let report = scene
                .verify(&motion, None)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let noticed = |v: &stickslip::simulation::verify::Violation| lines.contains(&v.line);
            if !report.violations.iter().any(noticed) {
                wrong.push(format!("{name}, {what}: {:?}", report.violations));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn scenes_outside_of_all_formulations_say_why() {
    for (name, reason) in OUTSIDE {
        let scene = scene(name);
        let said = scene.formulation().expect_err(name).to_string();
        assert!(said.contains(reason), "{name}: {said}");
        // Asking for one of the problems does not change that.
        let empty = Motion::default();
        let asked = scene.verify(&empty, Some(P5)).expect_err(name);
        assert!(asked.to_string().contains(reason), "{name}: {asked}");
    }
}
