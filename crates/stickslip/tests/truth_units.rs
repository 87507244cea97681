//! Units are the user's: the same scene in other units of length and mass gives the same motion, events and verdicts.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::scene::{Changes, Scene, SourceText, find_in_gallery};
use stickslip::simulation::RunSummary;
use stickslip::simulation::verify::Motion;

/// Powers of the units of length and mass in a number.
type Unit = (i32, i32);

const LENGTH: Unit = (1, 0);
const MASS: Unit = (0, 1);
const INERTIA: Unit = (2, 1);

/// A scene of the gallery, the units of its parameters and initial values, and of its coordinates.
struct Case {
    name: &'static str,
    until: f64,
    units: &'static [(&'static str, Unit)],
    coordinates: &'static [i32],
}

/// One unit for a spring of stiffness: mass per square second.
const CASES: [Case; 12] = [
    Case {
        name: "bouncing-ball",
        until: 3.0,
        units: &[("m", MASS), ("g", LENGTH), ("h0", LENGTH)],
        coordinates: &[1],
    },
    Case {
        name: "sliding-block",
        until: 1.0,
        units: &[("m", MASS), ("g", LENGTH), ("v0", LENGTH)],
        coordinates: &[1, 1],
    },
    Case {
        name: "slender-rod",
        until: 0.8,
        units: &[("m", MASS), ("l", LENGTH), ("g", LENGTH)],
        coordinates: &[1, 1, 0],
    },
    Case {
        name: "rocking-block",
        until: 2.0,
        units: &[("m", MASS), ("b", LENGTH), ("h", LENGTH), ("g", LENGTH)],
        coordinates: &[1, 1, 0],
    },
    Case {
        name: "kane-pendulum",
        until: 0.3,
        units: &[("m", MASS), ("L", LENGTH), ("g", LENGTH)],
        coordinates: &[0, 0],
    },
    Case {
        name: "painleve-rod",
        until: 0.1,
        units: &[("m", MASS), ("l", LENGTH), ("g", LENGTH), ("v0", LENGTH)],
        coordinates: &[1, 1, 0],
    },
    Case {
        name: "two-foot-block",
        until: 0.3,
        units: &[
            ("m", MASS),
            ("b", LENGTH),
            ("c", LENGTH),
            ("g", LENGTH),
            ("V0", LENGTH),
        ],
        coordinates: &[1, 1, 0],
    },
    Case {
        name: "particle-in-bowl",
        until: 1.0,
        units: &[("m", MASS), ("R", LENGTH), ("g", LENGTH), ("y_dot", LENGTH)],
        coordinates: &[1, 1, 1],
    },
    Case {
        name: "coulomb-oscillator",
        until: 4.0,
        units: &[("m", MASS), ("k", MASS), ("g", LENGTH), ("x0", LENGTH)],
        coordinates: &[1, 1],
    },
    Case {
        name: "woodpecker",
        until: 0.15,
        units: &[
            ("mM", MASS),
            ("JM", INERTIA),
            ("mS", MASS),
            ("JS", INERTIA),
            ("c", INERTIA),
            ("g", LENGTH),
            ("r0", LENGTH),
            ("rM", LENGTH),
            ("hM", LENGTH),
            ("lM", LENGTH),
            ("lG", LENGTH),
            ("hS", LENGTH),
            ("lS", LENGTH),
            ("y_dot", LENGTH),
        ],
        coordinates: &[1, 0, 0],
    },
    Case {
        name: "anisotropic-slider",
        until: 1.0,
        units: &[
            ("m", MASS),
            ("g", LENGTH),
            ("x_dot", LENGTH),
            ("y_dot", LENGTH),
        ],
        coordinates: &[1, 1, 1],
    },
    Case {
        name: "rolling-disc",
        until: 3.0,
        units: &[
            ("m", MASS),
            ("R", LENGTH),
            ("g", LENGTH),
            ("mu_r", LENGTH),
            ("v0", LENGTH),
        ],
        coordinates: &[1, 1, 0],
    },
];

/// How many of the user's units a metre and a kilogram are.
#[derive(Clone, Copy, Debug)]
struct Units {
    metre: f64,
    kilogram: f64,
}

impl Units {
    fn factor(&self, (length, mass): Unit) -> f64 {
        self.metre.powi(length) * self.kilogram.powi(mass)
    }

    /// A scene of the gallery with its parameters and initial values in these units.
    fn scene(&self, case: &Case, changes: &Changes) -> Option<Scene> {
        let source = find_in_gallery(case.name).expect("a scene").source();
        let source = changes
            .clone()
            .key("until", case.until)
            .apply(&source)
            .unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let mut section = String::new();
        let mut found = Vec::new();
        let mut text = String::new();
        for line in source.text().lines() {
            if line.starts_with('[') {
                section = line.to_string();
            }
            let values = section == "[parameters]" || section == "[initial]";
            let unit = line.split_once(" = ").filter(|_| values);
            let unit = unit.and_then(|(key, value)| {
                let unit = case.units.iter().find(|u| u.0 == key)?;
                // What stands as a formula has the units of its parts.
                let value = value.split('#').next()?.trim();
                value.parse::<f64>().ok().map(|x| (unit, x))
            });
            match unit {
                Some((unit, x)) => {
                    found.push(unit.0);
                    text += &format!("{} = {:?}\n", unit.0, x * self.factor(unit.1));
                }
                None => text += &format!("{line}\n"),
            }
        }
        assert_eq!(found.len(), case.units.len(), "{}: {found:?}", case.name);
        Scene::parse(SourceText::new(case.name, text)).ok()
    }
}

const SI: Units = Units {
    metre: 1.0,
    kilogram: 1.0,
};

struct Run {
    q: Vec<f64>,
    v: Vec<f64>,
    summary: RunSummary,
    accepted: Option<bool>,
}

fn run(scene: &Scene) -> Option<Run> {
    let mut simulation = scene.simulation().ok()?;
    let correction = simulation.position_correction();
    let rule = scene.discretisation().ok();
    let mut motion = rule.map(|rule| Motion::of_run(rule).with_correction(correction));
    if let Some(motion) = &mut motion {
        motion.push(simulation.record());
    }
    let end = simulation.run_until(scene.settings.until, |record| {
        if let Some(motion) = &mut motion {
            motion.push(record);
        }
        ControlFlow::Continue(())
    });
    let judged = motion.and_then(|motion| scene.verify(&motion, None).ok());
    let facts = scene.facts(simulation.system());
    let settings = RunSettings {
        impact: scene.settings.impact.to_string(),
        ..RunSettings::default()
    };
    Some(Run {
        q: simulation.state().q.clone(),
        v: simulation.state().v.clone(),
        summary: RunSummary::new(&simulation, (settings, &facts), end, 0.0),
        accepted: judged.map(|report| report.accepted()),
    })
}

/// Differences of two runs, the second in other units.
fn differences(case: &Case, units: Units, one: &Run, other: &Run) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut close = |what: &str, a: f64, b: f64, size: f64, unit: Unit| {
        let b = b / units.factor(unit);
        if !((a - b).abs() <= 1e-7 * size) {
            wrong.push(format!("{what}: {a} and {b}"));
        }
    };
    let largest = |x: &[f64]| x.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    for (i, &power) in case.coordinates.iter().enumerate() {
        let reach = largest(&one.q).max(1e-3);
        close("place", one.q[i], other.q[i], reach, (power, 0));
        // A body that has come to rest has the speed of its events.
        let speeds = one.summary.events.iter().map(|e| e.approach.abs());
        let speed = largest(&one.v).max(speeds.fold(1e-3, f64::max));
        close("velocity", one.v[i], other.v[i], speed, (power, 0));
    }
    let (a, b) = (&one.summary, &other.summary);
    let energy = a.energy.start.abs().max(a.energy.kinetic).max(1e-12);
    for (x, y) in a.energy.totals.0.iter().zip(&b.energy.totals.0) {
        close(&x.0, x.1, y.1, energy, INERTIA);
    }
    let kinds = |s: &RunSummary| -> Vec<String> {
        let word =
            |e: &stickslip::internals::summary::SummaryEvent| format!("{:?} {}", e.kind, e.contact);
        s.events.iter().map(word).collect()
    };
    if kinds(a) != kinds(b) {
        wrong.push(format!("events: {:?} and {:?}", kinds(a), kinds(b)));
        return wrong;
    }
    for (x, y) in a.events.iter().zip(&b.events) {
        let mut close = |what: &str, a: f64, b: f64, unit: Unit| {
            let (b, size) = (b / units.factor(unit), a.abs().max(1e-6));
            if !((a - b).abs() <= 1e-6 * size) {
                wrong.push(format!("{what} of {:?} at {}: {a} and {b}", x.kind, x.t));
            }
        };
        close("time", x.t, y.t, (0, 0));
        close("impulse", x.impulse, y.impulse, (1, 1));
        close("approach", x.approach, y.approach, LENGTH);
    }
    let verdicts = |r: &Run| {
        let s = &r.summary;
        let certificate = &s.certificate;
        format!(
            "{:?} {} {} {} {:?} {:?} {:?}",
            s.outcome,
            s.certified,
            certificate.several_solutions,
            certificate.uniqueness_not_examined,
            certificate
                .dependent_rows
                .as_ref()
                .map(|d| d.rank_deficiency),
            s.hypotheses
                .theorems
                .iter()
                .map(|t| t.status)
                .collect::<Vec<_>>(),
            r.accepted
        )
    };
    if verdicts(one) != verdicts(other) {
        wrong.push(format!("{} and {}", verdicts(one), verdicts(other)));
    }
    wrong
}

/// Changes of a scene, by their keys.
fn variants() -> Vec<Vec<(&'static str, &'static str)>> {
    vec![
        vec![],
        vec![("scheme", "moreau")],
        vec![("scheme", "moreau"), ("projection", "none")],
        vec![("scheme", "sweeping-process"), ("law", "coulomb")],
        vec![
            ("scheme", "sweeping-process"),
            ("law", "coulomb"),
            ("projection", "none"),
        ],
        vec![
            ("activation", "paper"),
            ("scheme", "moreau-jean"),
            ("law", "coulomb"),
        ],
        vec![
            ("impact", "poisson"),
            ("scheme", "moreau-jean"),
            ("law", "coulomb"),
        ],
        vec![("adaptive", "1e-3"), ("scheme", "moreau-jean")],
        vec![
            ("impact", "energetic"),
            ("scheme", "moreau-jean"),
            ("law", "coulomb"),
        ],
    ]
}

#[test]
fn a_scene_in_other_units_has_the_same_motion_events_and_verdicts() {
    let millimetres_and_grams = Units {
        metre: 1e3,
        kilogram: 1e3,
    };
    let kilometres_and_tons = Units {
        metre: 1e-3,
        kilogram: 1e-3,
    };
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in &CASES {
        for keys in variants() {
            let add = |c: Changes, k: &(&str, &str)| c.key(k.0, k.1);
            let changes = keys.iter().fold(Changes::new(), add);
            let Some(one) = SI.scene(case, &changes).and_then(|scene| run(&scene)) else {
                assert!(!keys.is_empty(), "{}", case.name);
                continue;
            };
            for units in [millimetres_and_grams, kilometres_and_tons] {
                let scene = units.scene(case, &changes);
                let other = scene.and_then(|scene| run(&scene));
                let Some(other) = other else {
                    wrong.push(format!("{} {keys:?} {units:?}: refused", case.name));
                    continue;
                };
                compared += 1;
                for line in differences(case, units, &one, &other) {
                    wrong.push(format!("{} {keys:?} {units:?}: {line}", case.name));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}: {wrong:#?}",
        wrong.len()
    );
    assert!(compared > 60, "{compared}");
}

/// A gap in other units than slip: the friction of a contact given by `slip` or `tangents` is that of the real normal force,
/// whatever the scale of the gap, for a block, on a slope in space, on a moving floor, for a disc and between two bodies.
#[test]
fn friction_by_slip_or_tangents_does_not_depend_on_the_scale_of_the_gap() {
    let block = "coordinates = [\"x\", \"y\"]\nkinetic_energy = \"3*(x'^2 + y'^2)/2\"\npotential = \"3*9.81*y\"\n[initial]\nx_dot = 2\n";
    let slope = "coordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
                 potential = \"9.81*z\"\n[initial]\nx_dot = 2\ny_dot = 0.5\nz_dot = 0.2\n";
    let disc = "coordinates = [\"x\", \"y\", \"p\"]\nkinetic_energy = \"2*(x'^2 + y'^2)/2 + 0.04*p'^2/2\"\n\
                potential = \"2*9.81*y\"\n[initial]\ny = 0.2\nx_dot = 2\n";
    let pair = "coordinates = [\"a\", \"b\", \"c\", \"d\"]\nkinetic_energy = \"(a'^2 + b'^2)/2 + 4*(c'^2 + d'^2)/2\"\n\
                potential = \"100*(a - c)^2\"\nforces = { b = \"1\" }\n[initial]\na = 0.3\nb = 0.1\na_dot = -1\nb_dot = 0.3\n";
    let cases = [
        (block, "y", "slip = \"x'\""),
        (block, "y", "tangents = [[1, 0]]"),
        (block, "y - 0.01*sin(9*t)", "slip = \"x' - 0.5\""),
        (
            slope,
            "z - 0.1*x",
            "slip = [\"(x' + 0.1*z')/sqrt(1.01)\", \"y'\"]",
        ),
        (
            slope,
            "z - 0.1*x",
            "tangents = [[\"1/sqrt(1.01)\", 0, \"0.1/sqrt(1.01)\"], [0, 1, 0]]",
        ),
        (disc, "y - 0.2", "slip = \"x' - 0.2*p'\""),
        (
            pair,
            "hypot(a - c, b - d) - 0.2",
            "slip = \"((a' - c')*(d - b) + (b' - d')*(a - c))/hypot(a - c, b - d)\"",
        ),
    ];
    let end = |system: &str, gap: String, slip: &str, scheme: &str| {
        let text = format!(
            "title = \"scale\"\nuntil = 0.3\nscheme = {scheme}\n[[contacts]]\nname = \"floor\"\n\
             gap = \"{gap}\"\n{slip}\nfriction = 0.3\n[system]\n{system}"
        );
        let scene = Scene::parse(SourceText::new("scale", text.as_str()))
            .unwrap_or_else(|e| panic!("{gap}: {e}"));
        let mut run = scene.simulation().expect("valid");
        run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let record = run.record();
        (record.q.clone(), record.velocity.clone())
    };
    for (system, gap, slip) in cases {
        for scheme in [
            "\"moreau-jean\"",
            "\"moreau\"",
            "\"sweeping-process\"",
            "\"event-driven\"",
            "\"moreau\"\nlaw = \"generalized\"",
            "\"penalty\"\nstep = 1e-4\ncompliance_time = 2e-3",
            "\"event-driven\"\nstep = 1e-2\ncompliance_time = 2e-3\ncompliance_damping = 0.3",
        ] {
            let one = end(system, gap.to_string(), slip, scheme);
            for scale in [2.0, 1000.0, 1e-6] {
                let other = end(system, format!("{scale}*({gap})"), slip, scheme);
                let pairs = one.0.iter().chain(&one.1);
                let pairs = pairs.zip(other.0.iter().chain(&other.1));
                for (a, b) in pairs {
                    assert!(
                        (a - b).abs() < 1e-7,
                        "{gap} {slip} {scheme} {scale}: {a} {b}"
                    );
                }
            }
        }
    }
    // And it is the real one: the block is slowed down by mu g.
    let (_, v) = end(block, "2*y".into(), "slip = \"x'\"", "\"moreau-jean\"");
    assert!((v[0] - (2.0 - 0.3 * 9.81 * 0.3)).abs() < 1e-9, "{v:?}");
}

/// A bead on a wave much finer than its way in a millisecond: how its normal turns is known exactly, in whatever unit of length, and without friction
/// the bead keeps its energy.
#[test]
fn a_bead_on_a_fine_wave_moves_alike_in_every_unit_from_event_to_event() {
    let end = |metre: f64, kilogram: f64, friction: f64| {
        let text = format!(
            r#"
title = "Bead on a fine wave"
scheme = "event-driven"
step = 0.01
until = 0.2
[parameters]
m = {}
g = {}
a = {}
k = {}
v = {}
[system]
coordinates = ["x", "y"]
kinetic_energy = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[[contacts]]
name = "wave"
gap = "y - a*sin(k*x)"
point = ["x", "y"]
friction = {friction}
[initial]
x_dot = "v"
y_dot = "a*k*v"
"#,
            0.1 * kilogram,
            9.81 * metre,
            1e-4 * metre,
            628.0 / metre,
            0.3 * metre,
        );
        let scene = Scene::parse(SourceText::new("wave", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let (q, v) = (&run.state().q, &run.state().v);
        [q[0], q[1], v[0], v[1]].map(|x| x / metre)
    };
    let energy = |[_, y, vx, vy]: [f64; 4]| (vx * vx + vy * vy) / 2.0 + 9.81 * y;
    let start = energy([0.0, 0.0, 0.3, 0.3 * 0.0628]);
    for friction in [0.0, 0.05] {
        let one = end(1.0, 1.0, friction);
        assert!(one[0] > 0.01, "it gets on: {one:?}");
        for (metre, kilogram) in [(1e3, 1e3), (1e-3, 1e-3)] {
            let other = end(metre, kilogram, friction);
            for (a, b) in one.iter().zip(&other) {
                assert!(
                    (a - b).abs() < 1e-9,
                    "{metre} {friction}: {one:?} {other:?}"
                );
            }
            let kept = (energy(other) - start).abs() < 1e-9 * start;
            assert!(friction > 0.0 || kept, "{metre}: {other:?}");
        }
    }
}

/// A pendulum in coordinates of its bob that strikes a rough wall: joint and contact are brought back together, and which
/// of them is written in larger units does not matter. What bounces comes out by itself under `moreau`.
#[test]
fn positions_do_not_depend_on_the_scales_of_joints_and_gaps() {
    for (scheme, restitution) in [("moreau-jean", 0.6), ("moreau", 0.6), ("moreau", 0.0)] {
        // It falls by 0.28 m at the most, and overshoots the wall by no more than the way of a step.
        let bounces = scheme == "moreau" && restitution > 0.0;
        let depth = if bounces {
            1e-3 * (2.0 * 9.81 * 0.28f64).sqrt()
        } else {
            1e-12
        };
        let end = |joint: f64, gap: f64| {
            let text = format!(
                "title = \"pendulum\"\nuntil = 2\nstep = 1e-3\nscheme = \"{scheme}\"\n[system]\n\
                 coordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
                 [initial]\nx = 0.56\ny = -0.42\n[[joints]]\nname = \"rod\"\nequation = \"{joint}*(x^2 + y^2 - 0.49)\"\n\
                 [[contacts]]\nname = \"wall\"\ngap = \"{gap}*(x + 0.3)\"\npoint = [\"x\", \"y\"]\nfriction = 0.3\n\
                 restitution = {restitution:?}\n"
            );
            let scene = Scene::parse(SourceText::new("pendulum", text.as_str()))
                .unwrap_or_else(|e| panic!("{e}"));
            let mut run = scene.simulation().expect("valid");
            let mut deepest = 0.0f64;
            run.run_until(scene.settings.until, |record| {
                deepest = deepest.min(record.q[0] + 0.3);
                ControlFlow::Continue(())
            });
            assert!(deepest >= -depth, "{scheme} {joint} {gap}: {deepest}");
            let q = &run.record().q;
            assert!(
                (q[0].hypot(q[1]) - 0.7).abs() < 1e-12,
                "{scheme} {joint} {gap}"
            );
            q.clone()
        };
        let one = end(1.0, 1.0);
        for (joint, gap) in [(1e6, 1.0), (1.0, 1e-6), (1e-7, 1e5), (1e-6, 1e-9)] {
            let other = end(joint, gap);
            for (a, b) in one.iter().zip(&other) {
                assert!((a - b).abs() < 1e-9, "{scheme} {joint} {gap}: {a} {b}");
            }
        }
    }
}

/// Kinetic energy after the impact at the start and velocity at the end of a run that must be certified and accepted, and in which no impact may
/// gain energy.
fn sound_run(scene: &Scene) -> (f64, Vec<f64>) {
    let what = &scene.title;
    let mut run = scene.simulation().expect("valid");
    let motion = Motion::of_run(scene.discretisation().expect("steps"));
    let mut motion = motion.with_correction(run.position_correction());
    motion.push(run.record());
    let struck = run.record().kinetic;
    run.run_until(scene.settings.until, |record| {
        motion.push(record);
        ControlFlow::Continue(())
    });
    assert!(run.certificate().holds(1e-8), "{what}");
    let report = scene.verify(&motion, None).expect("a formulation");
    assert!(report.accepted(), "{what}: {:?}", report.violations);
    (struck, run.state().v.clone())
}

/// The velocity at the end of such a run.
fn sound_end(text: &str) -> Vec<f64> {
    let scene =
        Scene::parse(SourceText::new("scale", text)).unwrap_or_else(|e| panic!("{text}: {e}"));
    sound_run(&scene).1
}

/// Masses tell nothing of the scale of a gap: bodies beside, bodies that turn with the inertia of their mass, wheels and carriages are slowed down
/// by mu times their weight.
#[test]
fn friction_by_slip_is_that_of_the_weight_whatever_the_masses() {
    let run = |coordinates: &str,
               energy: &str,
               potential: &str,
               contact: &str,
               initial: &str,
               scale: f64| {
        sound_end(&format!(
            "title = \"weight\"\nuntil = 0.5\nstep = 1e-3\n[system]\ncoordinates = {coordinates}\n\
             kinetic_energy = \"{energy}\"\npotential = \"{potential}\"\n[[contacts]]\nname = \"f\"\n\
             {}friction = 0.3\n[initial]\n{initial}\n",
            contact.replace("SCALE", &scale.to_string())
        ))
    };
    let close =
        |v: f64, exact: f64, what: &str| assert!((v - exact).abs() < 1e-9, "{what}: {v} {exact}");
    for scale in [1.0, 2.0, 1e-3] {
        // A block on a cart, another cart beside, all of one mass: 5 - mu g t and mu g t.
        let gap = "gap = \"SCALE*y\"\nslip = [\"x' - b'\"]\n";
        let energy = "(x'^2 + y'^2 + b'^2 + c'^2)/2";
        let v = run(
            "[\"x\", \"y\", \"b\", \"c\"]",
            energy,
            "10*y",
            gap,
            "x_dot = 5",
            scale,
        );
        close(v[0], 3.5, "block");
        close(v[2], 1.5, "cart");
        // A hoop whose inertia is the number of its mass.
        let gap = "gap = \"SCALE*(y - 1)\"\nslip = [\"x' + p'\"]\n";
        let energy = "(x'^2 + y'^2 + p'^2)/2";
        let v = run(
            "[\"x\", \"y\", \"p\"]",
            energy,
            "10*y",
            gap,
            "y = 1\nx_dot = 5",
            scale,
        );
        close(v[0], 3.5, "hoop");
        // A block whose carriage is heavier along than across.
        let gap = "gap = \"SCALE*y\"\nslip = [\"x'\"]\n";
        let v = run(
            "[\"x\", \"y\"]",
            "(3*x'^2 + y'^2)/2",
            "10*y",
            gap,
            "x_dot = 5",
            scale,
        );
        close(v[0], 4.5, "carriage");
        // The same in space.
        let gap = "gap = \"SCALE*z\"\nslip = [\"x'\", \"y'\"]\n";
        let energy = "(3*x'^2 + 2*y'^2 + z'^2)/2";
        let v = run(
            "[\"x\", \"y\", \"z\"]",
            energy,
            "10*z",
            gap,
            "x_dot = 5",
            scale,
        );
        close(v[0], 4.5, "carriage of space");
    }
    // A wheel on an axle: its gap is in metres, whether its inertia is a little more than its mass or not.
    for inertia in [1.0, 1.0001] {
        let energy = format!("(y'^2 + {inertia}*phi'^2)/2");
        let gap = "gap = \"y\"\nslip = [\"0.25*phi'\"]\n";
        let v = run("[\"y\", \"phi\"]", &energy, "10*y", gap, "phi_dot = 5", 1.0);
        close(v[1], 5.0 - 0.5 * 0.3 * 10.0 * 0.25 / inertia, "wheel");
    }
}

/// Impacts with coupled masses, and of the tip of a rod whose angle is no length, do not know the scale of the gap either.
#[test]
fn impacts_by_slip_do_not_depend_on_the_scale_of_the_gap() {
    let space = "coordinates = [\"x\", \"y\", \"z\"]\n\
                 mass_matrix = [[2.0, 0.3, -0.4], [0.3, 1.5, 0.5], [-0.4, 0.5, 1.0]]\npotential = \"9.81*z\"\n\
                 [initial]\nx_dot = 1\ny_dot = -0.4\nz_dot = -2\n";
    let rod = "coordinates = [\"x\", \"y\", \"th\"]\nkinetic_energy = \"(x'^2 + y'^2 + th'^2/12)/2\"\npotential = \"9.81*y\"\n\
               [initial]\ny = 0.25\nth = 0.5235987755982988\nx_dot = 1\ny_dot = -1\n";
    let cases = [
        (space, "z", "slip = [\"x'\", \"y'\"]"),
        (rod, "y - 0.5*sin(th)", "slip = \"x' + 0.5*sin(th)*th'\""),
        (rod, "y - 0.5*sin(th)", "slip = \"x'\""),
    ];
    for (system, gap, slip) in cases {
        for impact in ["newton", "fremond"] {
            let end = |scale: f64| {
                sound_end(&format!(
                    "title = \"impact\"\nuntil = 0.02\nstep = 1e-3\nimpact = \"{impact}\"\n[[contacts]]\nname = \"f\"\n\
                     gap = \"{scale}*({gap})\"\n{slip}\nfriction = 0.3\nrestitution = 0.4\n[system]\n{system}"
                ))
            };
            let one = end(1.0);
            for scale in [3.0, 1e-3] {
                for (a, b) in one.iter().zip(end(scale)) {
                    assert!((a - b).abs() < 1e-9, "{gap} {slip} {scale}: {a} {b}");
                }
            }
        }
    }
}

/// Friction that is read at theta would make Frémond's law that of Newton, under which Kane's pendulum gains 58.7 per cent.
#[test]
fn the_theta_of_a_scheme_does_not_make_fremonds_law_gain_energy() {
    let start = (0.04 / 3.0 + 0.04 / 3.0 + 0.02 * 10f64.to_radians().cos()) / 2.0;
    for theta in [0.5, 0.7, 1.0] {
        for metre in [1.0, 1e3] {
            let changes = Changes::new()
                .parameter("L", metre)
                .parameter("g", 9.81 * metre);
            let changes = changes
                .key("impact", "fremond")
                .key("theta", theta)
                .key("until", 0.3);
            let source = find_in_gallery("kane-pendulum").expect("a scene").source();
            let source = changes.apply(&source).expect("valid");
            let part = sound_run(&Scene::parse(source).expect("valid")).0 / (start * metre * metre);
            assert!((part - 0.562).abs() < 5e-4, "{theta} {metre}: {part}");
        }
    }
}

/// The same in space with coupled masses and in other scales of the gap, and where contacts of restitution one and none strike together.
#[test]
fn impacts_under_fremonds_law_and_a_large_theta_are_accepted() {
    let point = "x + 0.3*cos(th + 1.9)\", \"y\", \"z + 0.3*sin(th + 1.9)";
    let space = |scale: f64| {
        format!(
            r#"
title = "Plate"
until = 2
step = 0.01
theta = 0.7
impact = "fremond"
[system]
coordinates = ["x", "y", "z", "th"]
kinetic_energy = "1.7*(x'^2 + y'^2 + z'^2)/2 + 0.05*th'^2/2 + 0.51*x'*z'"
potential = "1.7*9.81*z"
[[contacts]]
name = "floor"
gap = "{scale}*(z + 0.3*sin(th + 1.9) + 0.4 - 0.02*sin(2*t))"
point = ["{point}"]
normal = [0, 0, 1]
friction = 0.5
restitution = 1
[initial]
z = 0.5
x_dot = 0.5
y_dot = 0.05
z_dot = -0.05
th_dot = 1
"#
        )
    };
    let wedge = |metre: f64| {
        format!(
            r#"
title = "Wedge"
until = 0.6
step = 0.001
theta = 1
impact = "fremond"
[system]
coordinates = ["x", "y"]
kinetic_energy = "1.7*(x'^2 + y'^2)/2 + 0.51*x'*y'"
potential = "1.7*{g}*y"
[[contacts]]
name = "floor"
gap = "0.01*(y - {shake}*sin(8*t))"
point = ["x", "y"]
normal = [0, 1]
friction = {{ interval = [-0.1, 0.6] }}
restitution = 1
[[contacts]]
name = "left"
gap = "-0.8*x + 0.6*y + {far}"
point = ["x", "y"]
normal = [-0.8, 0.6]
friction = 0.2
[[contacts]]
name = "right"
gap = "-0.6*x + 0.8*y - {shake}*sin(8*t)"
point = ["x", "y"]
normal = [-0.6, 0.8]
friction = {{ interval = [-0.1, 0.6] }}
restitution = 1
[initial]
x_dot = {vx}
y_dot = {vy}
"#,
            g = 9.81 * metre,
            shake = 0.02 * metre,
            far = 0.5 * metre,
            vx = -0.84 * metre,
            vy = -0.98 * metre
        )
    };
    let close = |a: &[f64], b: &[f64], unit: f64| {
        for (a, b) in a.iter().zip(b) {
            assert!((a * unit - b).abs() < 1e-6 * unit, "{a} {b}");
        }
    };
    close(&sound_end(&space(1.0)), &sound_end(&space(3.0)), 1.0);
    close(&sound_end(&wedge(1.0)), &sound_end(&wedge(1e3)), 1e3);
}

/// What was taken for metres is told: a lever of small angles looks like a gap that is a multiple of a distance.
#[test]
fn a_gap_that_is_taken_for_a_multiple_of_a_distance_is_told() {
    let told = |gap: &str, slip: &str| {
        let text = format!(
            "title = \"scale\"\nuntil = 0.1\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
             [initial]\ny = 1\n[[contacts]]\nname = \"floor\"\ngap = \"{gap}\"\n{slip}\nfriction = 0.1\n"
        );
        let scene =
            Scene::parse(SourceText::new("scale.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let warnings = scene.simulation().expect("valid").warnings();
        warnings
            .iter()
            .any(|w| w.contains("`floor`") && w.contains("metres of x and y"))
    };
    assert!(told("0.3*y", "slip = \"x'\""));
    assert!(!told("y", "slip = \"x'\""));
    assert!(!told("0.3*y", "slip = \"0.2*x'\""));
    assert!(!told("0.3*y", "point = [\"x\", \"y\"]"));
}

/// A lever of small angles on a rough belt: y = h phi is its height, a distance as it is written. Its tip slides under the load N/h at the end of
/// the arm h, so that friction takes mu N/h of the momentum of x in a second; taken for a multiple of a distance it took h times as much.
#[test]
fn a_unit_of_angles_says_that_a_lever_is_no_multiple_of_a_distance() {
    let slowed = |units: &str| {
        let text = format!(
            "title = \"lever\"\nuntil = 0.1\n{units}\n[system]\ncoordinates = [\"x\", \"phi\"]\n\
             kinetic_energy = \"(x'^2 + phi'^2)/2\"\nforces = {{ phi = -2 }}\n[initial]\nx_dot = 3\n\
             [[contacts]]\nname = \"belt\"\ngap = \"0.25*phi\"\nslip = \"x'\"\nfriction = 0.1\n"
        );
        let scene =
            Scene::parse(SourceText::new("lever.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        let told = run
            .warnings()
            .iter()
            .any(|w| w.contains("units = { phi = \"rad\" }"));
        run.run_until(0.1, |_| std::ops::ControlFlow::Continue(()));
        (3.0 - run.state().v[0], told)
    };
    // mu (2/0.25) 0.1
    let (slow, told) = slowed("units = { phi = \"rad\" }");
    assert!((slow - 0.08).abs() < 1e-9 && !told, "{slow}");
    let (slow, told) = slowed("units = { phi_dot = \"mrad/s\" }");
    assert!((slow - 0.08).abs() < 1e-9 && !told, "{slow}");
    // Without it the run says what it took for metres.
    let (slow, told) = slowed("");
    assert!((slow - 0.02).abs() < 1e-9 && told, "{slow}");
}

/// Lengths in keys have no limit that a unit decides: contacts that take part up to 2 mm do so in millimetres, too.
#[test]
fn lengths_in_keys_have_no_limit_in_a_unit() {
    let end = |metre: f64| {
        let text = format!(
            "title = \"rod\"\nscheme = \"moreau\"\nlaw = \"coulomb\"\nimpact = \"inelastic\"\nstep = 1e-3\nuntil = 0.3\n\
             contact_gap = \"0.002*l\"\n[parameters]\nl = {metre}\n[system]\ncoordinates = [\"x\", \"y\", \"a\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2 + l^2*a'^2/6\"\npotential = \"9.81*l*y\"\n\
             [[contacts]]\nname = \"tip\"\ngap = \"y - l*sin(a)\"\npoint = [\"x - l*cos(a)\", \"y - l*sin(a)\"]\nfriction = 0.4\n\
             [initial]\ny = \"l*sin(1)\"\na = 1\nx_dot = \"-5*l\"\na_dot = 5\ny_dot = \"5*l*cos(1)\"\n"
        );
        let scene = Scene::parse(SourceText::new("rod", text.as_str()));
        let mut run = scene
            .unwrap_or_else(|e| panic!("{e}"))
            .simulation()
            .expect("valid");
        run.run_until(0.3, |_| ControlFlow::Continue(()));
        let q = &run.state().q;
        [q[0] / metre, q[1] / metre, q[2]]
    };
    let metres = end(1.0);
    for metre in [1e3, 1e-3, 1e6] {
        let other = end(metre);
        let near = |k: usize| (metres[k] - other[k]).abs() <= 1e-7 * (1.0 + metres[k].abs());
        assert!((0..3).all(near), "{metre}: {metres:?} and {other:?}");
    }
}

/// A place written twice, as `position` and in `motion`, is one place to rounding of its size and not to that of a metre.
#[test]
fn places_that_are_written_twice_agree_in_parts_of_their_size() {
    let scene = |metre: f64, off: f64| {
        let text = format!(
            "title = \"lift\"\nstep = 0.01\nuntil = 0.5\n[parameters]\nl = {metre}\n[world]\n[[materials]]\nname = \"m\"\ndensity = 1000\n\
             [[bodies]]\nname = \"lift\"\nmaterial = \"m\"\nshape = {{ ball = \"0.1*l\" }}\n\
             position = [\"l*pi\", 0, \"l/3*(1 + {off})\"]\n\
             motion = {{ position = [\"sqrt(pi^2)*(l*1.1)/1.1\", 0, \"l*(1 - 2/3) + 0.1*l*sin(t)\"] }}\n"
        );
        Scene::parse(SourceText::new("lift", text.as_str())).map(|_| ())
    };
    for metre in [1e-6, 1e-3, 1.0, 1e3, 1e9] {
        scene(metre, 0.0).unwrap_or_else(|e| panic!("{metre}: {e}"));
        assert!(scene(metre, 1e-4).is_err(), "{metre}");
    }
}

/// The rounding of what a jam at the start leaves of the normal velocity does not tell whether it came to rest: its end is projected in all units.
#[test]
fn a_jam_at_the_start_ends_on_the_obstacle_in_all_units() {
    let places = |metre: f64, angle: f64| {
        let text = format!(
            "title = \"rod\"\nstep = 1e-3\nuntil = 1e-3\nlaw = \"coulomb\"\n[parameters]\nL = {metre:?}\nm = \"0.9*L\"\nl = \"0.6*L\"\n\
             [system]\ncoordinates = [\"x\", \"y\", \"th\"]\nkinetic_energy = \"m*(x'^2 + y'^2)/2 + m*l^2/3*th'^2/2\"\npotential = \"m*9.81*L*y\"\n\
             [[contacts]]\nname = \"tip\"\ngap = \"y - l*sin(th)\"\npoint = [\"x - l*cos(th)\", \"y - l*sin(th)\"]\nfriction = 2\n\
             [initial]\ny = \"l*sin({angle})\"\nth = {angle}\nx_dot = \"-3*L\"\n"
        );
        let scene =
            Scene::parse(SourceText::new("rod.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let mut gaps = Vec::new();
        run.run_until(scene.settings.until, |record| {
            gaps.push(record.contacts[0].gap / metre);
            ControlFlow::Continue(())
        });
        gaps
    };
    for angle in [1.05, 1.1, 1.15] {
        for metre in [1.0, 2.0, 3.0, 10.0, 1e3, 1e-3] {
            let gaps = places(metre, angle);
            assert!(
                gaps.iter().all(|gap| gap.abs() < 1e-12),
                "{metre}, {angle}: {gaps:?}"
            );
        }
    }
}
