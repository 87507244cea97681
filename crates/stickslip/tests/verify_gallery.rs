//! Every scene of the gallery under its own formulation: accepted as it is, refused when spoiled, and a reason where
//! none of the formulations applies.

use std::ops::ControlFlow;

use rayon::prelude::*;
use stickslip::scene::{Changes, Scene, find_in_gallery, gallery};
use stickslip::simulation::RunEnd;
use stickslip::simulation::verify::{Formulation, Line, Motion, Verification};
use stickslip::stepping::{Activation, PositionCorrection};

use Formulation::{Energetic, Fremond, P2, P3, P3Prime, P4Prime, P5, P6};

/// Scenes that belong to a formulation.
const OWN: [(&str, Formulation); 59] = [
    ("bouncing-ball", P2),
    ("corner-billiard", P2),
    ("newtons-cradle", P2),
    ("delayed-oscillator-free", P2),
    ("ring-slide", P2),
    ("joint-pendulum", P2),
    ("pd-arm", P2),
    ("stribeck-belt", P3),
    ("spinning-ball", P5),
    ("machining-chatter", P2),
    ("machining-varying-speed", P2),
    ("elastic-bar", P2),
    ("sliding-block", P3),
    ("block-on-incline", P3),
    ("coulomb-oscillator", P3),
    ("anisotropic-slider", P3),
    ("particle-on-sphere", P3),
    ("particle-in-bowl", P3),
    ("ice-patch", P3),
    ("delayed-oscillator", P3),
    ("delayed-hopper", P3),
    ("distributed-delay", P3),
    ("stick-slip", P3),
    ("friction-creep", P3),
    ("friction-chatter", P3),
    ("wedge", P6),
    ("refined-bar", P6),
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
    ("elastic-beam", Fremond),
    ("elastic-block", Fremond),
    ("elastic-disc", Fremond),
    ("elastic-two-blocks", Fremond),
    ("elastic-ring", Fremond),
    ("bowed-reed", Fremond),
    ("brake-pad", Fremond),
    ("bar-impact", Energetic),
    ("bar-sticks", Energetic),
    ("bar-reverses", Energetic),
    ("bar-jams", Energetic),
];

/// Scenes to which the formulations do not apply, and a part of the reason.
const OUTSIDE: [(&str, &str); 3] = [
    ("bar-penalty", "contacts are compliant"),
    ("painleve-penalty", "contacts are compliant"),
    ("bar-both-ends", "contacts are compliant"),
];

/// Scenes that run from event to event: their records are no steps of a formulation, which is said where they are judged.
const FROM_EVENT_TO_EVENT: [&str; 1] = ["flat-force"];

fn scene(name: &str) -> Scene {
    let entry = find_in_gallery(name).unwrap_or_else(|| panic!("no scene {name}"));
    Scene::parse(entry.source()).unwrap_or_else(|e| panic!("{e}"))
}

fn motion(scene: &Scene) -> Motion {
    let mut motion = Motion::of_run(scene.discretisation().expect("a scheme of steps"))
        .with_correction(scene.simulation().expect("valid").position_correction());
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
        .chain(FROM_EVENT_TO_EVENT)
        .collect();
    let is_world = |text: &str| text.contains("[world]");
    let worlds: Vec<_> = gallery().iter().filter(|e| is_world(e.text)).collect();
    let others: Vec<_> = gallery().iter().filter(|e| !is_world(e.text)).collect();
    for entry in &others {
        let times = named.iter().filter(|&&name| name == entry.name).count();
        assert_eq!(times, 1, "{}", entry.name);
    }
    assert_eq!(named.len(), others.len());
    // Worlds have a formulation and tests of their own (`verify_worlds.rs`).
    let first = worlds.first().expect("worlds in the gallery");
    let scene = Scene::parse(first.source()).expect("a scene of the gallery");
    assert!(scene.formulation().is_ok());
}

/// What spoils the motion of a run at a node; the lines of which one must notice stand beside it.
type Spoil = fn(&mut Motion, usize);

const SPOILS: [(&str, &[Line], Spoil); 5] = [
    ("starts elsewhere", &[Line::InitialCondition], |m, _| {
        m.nodes[0].q[0] += 1e-3
    }),
    ("jumps to another place", &[Line::Kinematics], |m, k| {
        m.nodes[k..].iter_mut().for_each(|n| n.q[0] += 1e-3);
    }),
    (
        "a projection to another place",
        &[Line::Projection, Line::Joints, Line::NonPenetration],
        |m, k| {
            let dof = m.nodes[k].v_right.len();
            m.nodes[k..].iter_mut().for_each(|n| n.q[0] += 1e-3);
            m.nodes[k].moved.resize(dof, 0.0);
            m.nodes[k].moved[0] += 1e-3;
        },
    ),
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

/// Whether all that is refused is the drift of a run whose positions are not corrected.
fn drifts_only(scene: &Scene, report: &Verification) -> bool {
    let correction = scene.simulation().expect("a run").position_correction();
    let bare = correction == PositionCorrection::None;
    let drift = report
        .violations
        .iter()
        .all(|v| v.line == Line::NonPenetration && v.size < 1e-2);
    bare && drift
}

/// What is wrong with the judgement of a scene: its run refused, or a spoiled one accepted.
fn misjudged((name, expected): (&str, Formulation)) -> Vec<String> {
    let mut wrong = Vec::new();
    let scene = scene(name);
    assert_eq!(scene.formulation(), Ok(expected), "{name}");
    let sound = motion(&scene);
    let report = scene
        .verify(&sound, None)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    if !report.accepted() && !drifts_only(&scene, &report) {
        wrong.push(format!("{name} {expected}: {:?}", report.violations));
    }
    let k = hardest(&sound);
    for (what, lines, spoil) in SPOILS {
        let pressed = sound.nodes[k].atom.iter().any(|&p| p != 0.0);
        if what.contains("impulse") && !pressed {
            continue;
        }
        // What comes later would only be judged again.
        let mut motion = sound.clone();
        motion.nodes.truncate(k + 2);
        spoil(&mut motion, k);
        let report = scene
            .verify(&motion, None)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let noticed = |v: &stickslip::simulation::verify::Violation| lines.contains(&v.line);
        if !report.violations.iter().any(noticed) {
            wrong.push(format!("{name}, {what}: {:?}", report.violations));
        }
    }
    wrong
}

#[test]
fn runs_are_accepted_under_their_own_formulation_and_refused_when_spoiled() {
    let wrong: Vec<String> = OWN.into_par_iter().flat_map_iter(misjudged).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn scenes_outside_of_all_formulations_say_why() {
    for name in FROM_EVENT_TO_EVENT {
        let said = scene(name).discretisation().expect_err(name).to_string();
        assert!(said.contains("event-driven"), "{name}: {said}");
    }
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

fn forecasts(scene: &Scene) -> bool {
    scene.settings.activation == Activation::Forecast
}

/// The laws hold under every scheme, step and rule of activation, not only those that the gallery uses.
#[test]
fn runs_by_other_schemes_and_laws_are_accepted() {
    let names = [
        "bouncing-ball",
        "sliding-block",
        "slender-rod",
        "kane-pendulum",
        "particle-in-bowl",
        "rocking-block",
        "woodpecker",
        "corner-billiard",
        "rolling-disc",
        "two-foot-block",
        "fremond-impact",
        "delayed-hopper",
    ];
    let keys = |list: &[(&str, &str)]| {
        let change = |c: Changes, k: &(&str, &str)| c.key(k.0, k.1);
        list.iter().fold(Changes::new(), change)
    };
    let variants = [
        keys(&[("law", "coulomb"), ("scheme", "moreau")]),
        keys(&[("law", "coulomb"), ("scheme", "sweeping-process")]),
        keys(&[
            ("law", "coulomb"),
            ("scheme", "moreau-jean"),
            ("activation", "paper"),
        ]),
        keys(&[
            ("law", "coulomb"),
            ("scheme", "moreau-jean"),
            ("activation", "forecast"),
        ]),
        keys(&[("law", "coulomb"), ("scheme", "moreau-jean")]).key("theta", 1.0),
        keys(&[
            ("law", "coulomb"),
            ("scheme", "moreau-jean"),
            ("impact", "fremond"),
        ]),
        keys(&[
            ("law", "coulomb"),
            ("scheme", "moreau"),
            ("impact", "fremond"),
        ]),
        keys(&[("law", "coulomb"), ("internal_force", "discrete-gradient")]).key("theta", 0.5),
        keys(&[("law", "coulomb"), ("scheme", "moreau-jean")]).key("adaptive", 1e-4),
        keys(&[("law", "frictionless"), ("scheme", "moreau-jean")]),
        keys(&[
            ("law", "frictionless"),
            ("scheme", "moreau"),
            ("impact", "moreau"),
        ]),
        keys(&[
            ("law", "generalized"),
            ("scheme", "moreau"),
            ("impact", "newton"),
        ]),
        keys(&[
            ("law", "generalized"),
            ("scheme", "moreau"),
            ("impact", "moreau"),
        ]),
        keys(&[
            ("law", "argmin"),
            ("scheme", "moreau"),
            ("impact", "inelastic"),
        ]),
        keys(&[
            ("law", "generalized"),
            ("scheme", "moreau"),
            ("friction_per", "gradient"),
        ]),
        keys(&[
            ("law", "generalized"),
            ("scheme", "moreau"),
            ("friction_per", "unit-normal"),
        ]),
    ];
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for name in names {
        for changes in &variants {
            let source = find_in_gallery(name).expect("a scene").source();
            let until = 1300.0 * scene(name).settings.step;
            let changes = changes.clone().key("until", until);
            let Ok(scene) = changes.apply(&source).map(Scene::parse) else {
                panic!("{name} {changes:?}");
            };
            // Some laws cannot be combined.
            let Ok(scene) = scene else { continue };
            let sound = motion(&scene);
            match scene.verify(&sound, None) {
                Ok(report) if report.accepted() => judged += 1,
                // Bare schemes drift off curved obstacles, and that is the line that says so.
                Ok(report) if drifts_only(&scene, &report) => judged += 1,
                // The rule `forecast` lets a contact that opens do work, as its page says.
                Ok(report) if name == "fremond-impact" && forecasts(&scene) => {
                    let lines: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
                    assert_eq!(lines, [Line::Dissipation], "{report:?}");
                }
                Ok(report) => wrong.push(format!(
                    "{name} {changes:?} {}: {:?}",
                    report.formulation, report.violations
                )),
                Err(reason) => wrong.push(format!("{name} {changes:?}: {reason}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        wrong.len() + judged
    );
    assert!(judged > 100, "{judged}");
}

/// Loads that jump in time, a stop on a slope that pulls back, a start on a curve, a mesh that touches at the start, gaps in which
/// nothing moves, a contact that only the impact of another drives into its obstacle, an elastic impact in an explicit step, a
/// contact that a step just leaves.
#[test]
fn runs_that_jump_stop_and_start_on_curves_are_accepted() {
    for (name, law, scheme, until) in [
        ("flat-force", "frictionless", "moreau-jean", 0.3),
        ("block-on-incline", "argmin", "moreau-jean", 0.3),
        ("ring-slide", "frictionless", "sweeping-process", 0.5),
        ("elastic-bar", "frictionless", "moreau", 0.02),
        ("acute-corner", "frictionless", "moreau-jean", 0.4),
        ("acute-corner", "coulomb", "moreau", 0.4),
        ("coulomb-plate", "argmin", "sweeping-process", 0.01),
        ("chain", "frictionless", "moreau-jean", 0.275),
        ("newtons-cradle", "coulomb", "moreau", 0.3),
        ("newtons-cradle", "frictionless", "sweeping-process", 0.3),
        ("slider-crank", "coulomb", "sweeping-process", 0.035),
    ] {
        let source = find_in_gallery(name).expect("a scene").source();
        let changes = Changes::new().key("law", law).key("scheme", scheme);
        let changed = changes.key("until", until).apply(&source);
        let scene = Scene::parse(changed.expect("keys")).unwrap_or_else(|e| panic!("{name}: {e}"));
        let report = scene.verify(&motion(&scene), None).expect("a formulation");
        assert!(report.accepted(), "{name}: {report:?}");
    }
    // The mean velocity of Frémond's law is not the one that S is stated on.
    let source = find_in_gallery("bowed-reed").expect("a scene").source();
    let changes = Changes::new().key("law", "argmin").key("until", 0.001);
    let scene = Scene::parse(changes.apply(&source).expect("keys")).expect("a scene");
    let refusal = scene.verify(&motion(&scene), None).unwrap_err().to_string();
    assert!(refusal.contains("Frémond"), "{refusal}");
}

/// A body of unequal moments that lands spinning on three of its balls: positions are brought back by several turns about
/// different axes, which are recorded as the one turn that they make together.
#[test]
fn spinning_bodies_that_are_brought_back_from_several_contacts_are_accepted() {
    let ball = |name: &str, arm: &str| {
        format!(
            "[[contacts]]\nname = \"{name}\"\narm = {arm}\nradius = 0.03\nplane = [0, 0.1, 1]\nfriction = 0.3\n\
             restitution = 0.6\n"
        )
    };
    let balls = [
        ball("a", "[0.1, 0, 0]"),
        ball("b", "[-0.1, 0.02, 0]"),
        ball("c", "[0, -0.07, 0.01]"),
    ];
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let text = format!(
            "title = \"body\"\nuntil = 0.6\nscheme = \"{scheme}\"\n[body]\nmass = 0.7\nmoments = [0.002, 0.004, 0.005]\n\
             gravity = [0, 0, -9.81]\nposition = [0, 0, 0.4]\nrotation = [0.3, 0.2, 0.1]\nvelocity = [0.5, -0.2, 0]\n\
             spin = [20, -7, 11]\n{}",
            balls.concat()
        );
        let scene = crate::common::exact_motions::parse(&text);
        let report = scene.verify(&motion(&scene), None).expect("a formulation");
        assert!(report.accepted(), "{scheme}: {report:?}");
    }
}

/// Moreau's S of a body that slides while it turns: a step of the theta scheme states it on the velocity less the rebound that its rule asks
/// of a contact that opened, at every theta.
#[test]
fn turning_bodies_under_the_projection_are_accepted() {
    for (theta, friction) in [
        (0.5, "0.4"),
        (0.75, "0.4"),
        (
            0.75,
            "{ polygon = [[0.504, 0], [0, 0.5078], [-0.5868, -0.2906]] }",
        ),
        (1.0, "{ ellipse = [0.2, 0.6] }"),
    ] {
        let text = format!(
            "title = \"body\"\nuntil = 0.3\nstep = 0.002\nlaw = \"argmin\"\nimpact = \"inelastic\"\n\
             scheme = \"moreau-jean\"\ntheta = {theta}\n[body]\nmass = 2\nmoments = [7.1e-4, 7.8e-4, 7.3e-4]\n\
             gravity = [0, 0, -9.81]\nposition = [0, 0, 0.06]\nrotation = [-0.9, 0.52, 0]\n\
             velocity = [0.8, -0.99, -0.044]\nspin = [8.6, 17.2, -36.8]\n[[contacts]]\nname = \"c\"\n\
             arm = [0.0089, 0.019, -0.00084]\nradius = 0.005\nfriction = {friction}\n"
        );
        let scene = crate::common::exact_motions::parse(&text);
        let report = scene.verify(&motion(&scene), None).expect("a formulation");
        assert!(report.accepted(), "theta {theta}, {friction}: {report:?}");
    }
}

/// A rod that bounces from tip to tip under the generalized law: a tip that a corrected step might admit and that carries nothing
/// need not belong to the normal space of the impact.
#[test]
fn a_rod_under_the_generalized_law_with_corrected_positions_is_accepted() {
    let tip = |name: &str, x: &str, y: &str, friction: f64| {
        format!(
            "[[contacts]]\nname = \"{name}\"\ngap = \"{y}\"\npoint = [\"{x}\", \"{y}\"]\nfriction = {friction}\n\
             restitution = 0.8462\n"
        )
    };
    let text = format!(
        "title = \"rod\"\nuntil = 0.4563\nstep = 0.005\nlaw = \"generalized\"\nimpact = \"moreau\"\nscheme = \"moreau\"\n\
         projection = \"combined\"\n[parameters]\nl = 0.3004\n[system]\ncoordinates = [\"x\", \"y\", \"th\"]\n\
         kinetic_energy = \"(x'^2 + y'^2 + l^2/3*th'^2)/2\"\npotential = \"9.81*y\"\n{}{}[initial]\n\
         y = 0.17361264572681878\nth = -0.6162\nx_dot = 0.519\ny_dot = -0.7345\nth_dot = -0.9149\n",
        tip("a", "x + l*cos(th)", "y + l*sin(th)", 0.5336),
        tip("b", "x - l*cos(th)", "y - l*sin(th)", 0.111)
    );
    let scene = crate::common::exact_motions::parse(&text);
    let report = scene.verify(&motion(&scene), None).expect("a formulation");
    assert!(report.accepted(), "{report:?}");
}

/// Runs with joints: one of which keeps a coordinate at zero, and one that the velocity of the start violates. Positions are held to
/// rounding though the pushes of joint and floor cancel in a coordinate that is zero.
#[test]
fn joints_that_hold_what_does_not_move_or_drive_what_rests_are_accepted() {
    let rod = "[system]\ncoordinates = [\"x\", \"y\", \"u\", \"v\"]\n\
               kinetic_energy = \"(x'^2+y'^2+2*u'^2+2*v'^2)/2\"\npotential = \"9.81*(y+2*v)\"\n[[joints]]\nname = \"rod\"\n\
               equation = \"(x-u)^2+(y-v)^2-1\"\n[[contacts]]\ngap = \"v\"\npoint = [\"u\", \"v\"]\n";
    let start = "[initial]\ny = 0.6\nu = 0.8\n";
    let guide = "[[joints]]\nname = \"guide\"\nequation = \"x\"\n";
    let drive = "[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2+y'^2)/2\"\npotential = \"9.81*y\"\n\
                 [[joints]]\nname = \"drive\"\nequation = \"x - 0.1*sin(3*t)\"\n[[contacts]]\ngap = \"y\"\n\
                 point = [\"x\", \"y\"]\nfriction = 0.3\n";
    for (until, body) in [
        (0.37, format!("{rod}friction = 0\n{start}")),
        (0.8, format!("{rod}friction = 0.1\n{guide}{start}")),
        (0.1, drive.to_string()),
    ] {
        for scheme in ["moreau-jean", "moreau"] {
            let text = format!(
                "title = \"joints\"\nstep = 0.002\nuntil = {until}\nscheme = \"{scheme}\"\n{body}"
            );
            let scene = crate::common::exact_motions::parse(&text);
            let mut run = scene.simulation().expect("valid");
            let end = run.run_until(until, |_| ControlFlow::Continue(()));
            assert_eq!(end, RunEnd::Finished);
            assert!(!run.positions().drifts(), "{scheme}: {:?}", run.positions());
            assert!(run.positions().joint.largest.value < 1e-12, "{scheme}");
            let report = scene.verify(&motion(&scene), None).expect("a formulation");
            assert!(report.accepted(), "{scheme}: {report:?}");
        }
    }
}
