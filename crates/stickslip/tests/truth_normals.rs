//! The normal of a contact is that of its gap, wherever the motion goes.

use std::ops::ControlFlow;

use stickslip::records::{EventKind, StepOutcome};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion};
use stickslip::simulation::{RunEnd, Simulation};

fn scene(text: &str) -> Scene {
    Scene::parse(SourceText::new("normals.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scene: &Scene) -> (Simulation, RunEnd) {
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    (sim, end)
}

/// A bead in an ellipsoidal bowl that starts at the bottom, where the surface lies level.
fn bowl(scheme: &str, normal: &str) -> Scene {
    scene(&format!(
        "title = \"bowl\"\nscheme = \"{scheme}\"\nstep = 1e-3\nuntil = 0.5\n\
         [system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"x'^2 + y'^2 + z'^2\"\npotential = \"2*981*z\"\n\
         [initial]\nz = -10\nx_dot = 150\ny_dot = 40\n\
         [[contacts]]\nname = \"bowl\"\ngap = \"1 - sqrt((x/30)^2 + (y/20)^2 + (z/10)^2)\"\n\
         point = [\"x\", \"y\", \"z\"]\nfriction = 0.1\n{normal}\n"
    ))
}

#[test]
fn a_normal_that_is_left_out_is_that_of_the_gap() {
    let given = "normal = [\"-x/900\", \"-y/400\", \"-z/100\"]";
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let (expected, _) = run(&bowl(scheme, given));
        let (found, _) = run(&bowl(scheme, ""));
        for (a, b) in found.state().q.iter().zip(&expected.state().q) {
            assert!((a - b).abs() < 1e-9 * 30.0, "{scheme}: {a} and {b}");
        }
    }
}

/// On a plane with unit normal n a particle that slides up its steepest line with v0 stops after v0²/(2 g (sin + mu cos)).
#[test]
fn a_block_stops_on_planes_of_any_slope_without_a_normal() {
    let (g, mu, v0): (f64, f64, f64) = (9.81, 0.6, 3.0);
    for (tilt, turn) in [(0.3f64, 0.0f64), (0.5, 0.8), (0.2, -2.0)] {
        let (s, c) = tilt.sin_cos();
        // Up the slope, seen from above in the direction `turn`; a gap in centimetres.
        let up = [c * turn.cos(), c * turn.sin(), s];
        let n = [-s * turn.cos(), -s * turn.sin(), c];
        let scene = scene(&format!(
            "title = \"slope\"\nstep = 1e-4\nuntil = 1\n\
             [system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\npotential = \"{g}*z\"\n\
             [initial]\nx_dot = {}\ny_dot = {}\nz_dot = {}\n\
             [[contacts]]\nname = \"slope\"\ngap = \"100*(({})*x + ({})*y + ({})*z)\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = {mu}\n",
            v0 * up[0],
            v0 * up[1],
            v0 * up[2],
            n[0],
            n[1],
            n[2]
        ));
        let (sim, _) = run(&scene);
        let way = v0 * v0 / (2.0 * g * (s + mu * c));
        let q = &sim.state().q;
        let made: f64 = q.iter().zip(up).map(|(q, u)| q * u).sum();
        // One step of the way, at order h.
        assert!((made - way).abs() < v0 * 1e-4, "{made} and {way}");
    }
}

/// A bump three hundred of its heights away, level ground everywhere else: without friction the bead is as fast behind it as before, and at its top
/// by 2 g H slower in the square.
#[test]
fn a_bump_far_away_has_its_own_normal() {
    for (friction, scheme) in [(0.0, "moreau-jean"), (0.0, "moreau"), (0.1, "moreau-jean")] {
        let scene = scene(&format!(
            "title = \"bump\"\nscheme = \"{scheme}\"\nstep = 1e-4\nuntil = 0.8\n\
             [system]\ncoordinates = [\"x\", \"z\"]\nkinetic_energy = \"(x'^2 + z'^2)/2\"\npotential = \"9810*z\"\n\
             [initial]\nz = \"exp(-450)\"\nx_dot = 800\n\
             [[contacts]]\nname = \"bump\"\ngap = \"z - exp(-(x - 300)^2/200)\"\npoint = [\"x\", \"z\"]\nfriction = {friction}\n"
        ));
        let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let (mut slowest, mut highest) = (f64::INFINITY, 0.0);
        let end = sim.run_until(scene.settings.until, |record| {
            slowest = record.velocity[0].min(slowest);
            highest = record.q[1].max(highest);
            ControlFlow::Continue(())
        });
        assert!(matches!(end, RunEnd::Finished), "{scheme}: {end:?}");
        let speed = sim.state().v[0];
        if friction == 0.0 {
            assert!((speed - 800.0).abs() < 1.0, "{scheme}: {speed}");
            let top = (800f64.powi(2) - 2.0 * 9810.0 * highest).sqrt();
            assert!((slowest - top).abs() < 1.0, "{scheme}: {slowest} and {top}");
        } else {
            assert!(speed < 800.0 - 0.09 * 9810.0 * 0.8, "{speed}");
        }
    }
}

#[test]
fn a_normal_that_is_right_at_the_start_alone_stops_the_run() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let (sim, end) = run(&bowl(scheme, "normal = [0, 0, 1]"));
        let RunEnd::Stopped { outcome, .. } = end else {
            panic!("{scheme}: {end:?} at {:?}", sim.state().q);
        };
        assert!(
            matches!(outcome, StepOutcome::ForeignNormal { .. }),
            "{scheme}: {outcome:?}"
        );
        assert!(
            sim.state().q[0] < 5.0,
            "{scheme}: found late, {:?}",
            sim.state().q
        );
    }
}

/// A particle that slides over level ground towards x = 0.1, with the gap as it is written.
fn towards_the_fold(scheme: &str, gap: &str, coordinates: [&str; 2]) -> Scene {
    let [aside, up] = coordinates;
    let (list, energy, place, start) = match aside {
        "" => (
            format!("[\"x\", \"{up}\"]"),
            format!("(x'^2 + {up}'^2)/2"),
            format!("[\"x\", \"{up}\"]"),
            String::new(),
        ),
        y => (
            format!("[\"x\", \"{y}\", \"{up}\"]"),
            format!("(x'^2 + {y}'^2 + {up}'^2)/2"),
            format!("[\"x\", \"{y}\", \"{up}\"]"),
            format!("{y}_dot = 0.3\n"),
        ),
    };
    scene(&format!(
        "title = \"fold\"\nscheme = {scheme}\nuntil = 0.5\n[system]\ncoordinates = {list}\n\
         kinetic_energy = \"{energy}\"\npotential = \"9.81*{up}\"\n[initial]\nx = 0.4\nx_dot = -2\n{start}\
         [[contacts]]\nname = \"ground\"\ngap = \"{gap}\"\npoint = {place}\nfriction = 0.1\n"
    ))
}

const SCHEMES: [&str; 5] = [
    "\"moreau-jean\"",
    "\"moreau\"",
    "\"sweeping-process\"",
    "\"event-driven\"",
    "\"penalty\"\nstep = 1e-4\ncompliance_time = 1e-3",
];

#[test]
fn a_contact_that_loses_its_normal_stops_the_run() {
    // The gradient vanishes on the ground at x = 0.1: its sign changes there, or it touches zero, also in larger units.
    let plane = ["y*(x - 0.1)", "1e4*y*(x - 0.1)", "y*(x - 0.1)^2"];
    let plane = plane.map(|gap| (gap, ["", "y"]));
    let space = [("z*(x - 0.1 - y/4)", ["y", "z"])];
    for (gap, coordinates) in plane.into_iter().chain(space) {
        for scheme in SCHEMES {
            // Where the gap changes its sign a compliant contact is as deep as its gradient is short: it has a normal.
            if scheme.contains("penalty") && !gap.contains('^') {
                continue;
            }
            let (sim, end) = run(&towards_the_fold(scheme, gap, coordinates));
            let stopped = matches!(
                end,
                RunEnd::Stopped {
                    outcome: StepOutcome::DegenerateGap { .. },
                    ..
                }
            );
            let q = &sim.state().q;
            assert!(stopped, "{scheme}, {gap}: {end:?} at {q:?}");
            let up = q[q.len() - 1];
            assert!(up > -1e-3, "{scheme}, {gap}: fell to {up}");
        }
    }
}

/// A ball that bounces in a bowl touches it at instants only; the ends of steps lie off the surface.
fn bounces_in_a_bowl(scheme: &str, normal: &str) -> Scene {
    scene(&format!(
        "title = \"bounces\"\nscheme = \"{scheme}\"\nstep = 1e-3\nuntil = 0.7\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[initial]\ny = 0.5\nx_dot = 1.7\n\
         [[contacts]]\nname = \"bowl\"\ngap = \"y - x^2/2\"\npoint = [\"x\", \"y\"]\nfriction = 0.1\nrestitution = 0.8\n{normal}\n"
    ))
}

#[test]
fn a_foreign_normal_is_found_at_impacts_off_the_surface() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
        for right in ["", "normal = [\"-x\", 1]"] {
            let (sim, end) = run(&bounces_in_a_bowl(scheme, right));
            assert!(matches!(end, RunEnd::Finished), "{scheme}: {end:?}");
            assert!(sim.events().count(EventKind::Impact) >= 1, "{scheme}");
        }
        // Straight up, and one that leans by some 1e-4 where it strikes.
        for wrong in ["normal = [0, 1]", "normal = [\"-1.001*x\", 1]"] {
            let (sim, end) = run(&bounces_in_a_bowl(scheme, wrong));
            let RunEnd::Stopped { outcome, .. } = end else {
                panic!("{scheme}, {wrong}: {end:?}");
            };
            let foreign = matches!(outcome, StepOutcome::ForeignNormal { .. });
            assert!(foreign, "{scheme}: {outcome:?} at {:?}", sim.state().q);
        }
    }
}

#[test]
fn a_foreign_normal_is_refused_at_impacts_off_the_surface() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let right = bounces_in_a_bowl(scheme, "");
        let mut sim = right.simulation().unwrap_or_else(|e| panic!("{e}"));
        let mut motion = Motion::of_run(right.discretisation().expect("a scheme of steps"))
            .with_correction(sim.position_correction());
        motion.push(sim.record());
        sim.run_until(right.settings.until, |record| {
            motion.push(record);
            ControlFlow::Continue(())
        });
        let frames = |normal: &str| {
            let judged = bounces_in_a_bowl(scheme, normal).verify(&motion, None);
            let violations = judged.expect("a formulation").violations;
            violations.iter().filter(|v| v.line == Line::Frame).count()
        };
        assert_eq!(frames(""), 0, "{scheme}");
        assert_eq!(frames("normal = [\"-x\", 1]"), 0, "{scheme}");
        assert!(frames("normal = [\"-1.001*x\", 1]") > 0, "{scheme}");
    }
}

/// Digits that were rounded are told at the start; five are enough.
#[test]
fn rounded_digits_of_a_normal_are_told_at_the_start() {
    let text = |normal: &str| {
        format!(
            "title = \"slope\"\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
             [initial]\ny = 1\n[[contacts]]\nname = \"slope\"\ngap = \"y*cos(pi/6) - x*sin(pi/6)\"\npoint = [\"x\", \"y\"]\nnormal = {normal}\n"
        )
    };
    let parse = |normal| Scene::parse(SourceText::new("slope.toml", text(normal)));
    for exact in ["[-0.5, 0.86603]", "[-1, \"sqrt(3)\"]"] {
        assert!(parse(exact).is_ok(), "{exact}");
    }
    for rounded in ["[-0.5, 0.866]", "[-0.50002, 0.8660254]"] {
        let error = parse(rounded).map(|_| ()).expect_err(rounded).to_string();
        assert!(
            error.contains("do not belong together") && error.contains("slope.toml:"),
            "{error}"
        );
    }
}

#[test]
fn gradients_that_shrink_and_grow_without_vanishing_stop_nothing() {
    let gaps = ["y*(0.05 + (x - 0.1)^2)", "y*exp(-9*x)", "y*(2 + sin(40*x))"];
    for gap in gaps {
        for scheme in SCHEMES {
            let (sim, end) = run(&towards_the_fold(scheme, gap, ["", "y"]));
            let x = sim.state().q[0];
            assert!(matches!(end, RunEnd::Finished), "{scheme}, {gap}: {end:?}");
            // v t - mu g t^2/2, of order h.
            assert!(
                (x - 0.4 + 1.0 - 0.1226).abs() < 4e-3,
                "{scheme}, {gap}: {x}"
            );
        }
    }
}

#[test]
fn a_point_that_cannot_move_in_all_directions_needs_a_normal() {
    let text = |coordinate: &str, gap: &str, point: &str, normal: &str| {
        format!(
            "title = \"wall\"\nuntil = 1\n[system]\ncoordinates = [\"{coordinate}\"]\nkinetic_energy = \"{coordinate}'^2/2\"\n\
             potential = \"9.81*{coordinate}\"\n[initial]\n{coordinate} = 0.1\n\
             [[contacts]]\nname = \"wall\"\ngap = \"{gap}\"\npoint = {point}\nfriction = 0.3\n{normal}\n"
        )
    };
    let refused = |text: String, reason: &str| {
        let error = Scene::parse(SourceText::new("wall.toml", text.as_str()))
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(reason) && error.contains("wall.toml:"),
            "{error}"
        );
    };
    let arm = "[\"sin(p)\", \"-cos(p)\"]";
    for (coordinate, gap, point, normal) in [
        ("x", "x", "[\"x\", 0]", "normal = [1, 0]"),
        ("x", "x", "[\"x\", 0, 0]", "normal = [1, 0, 0]"),
        ("p", "0.3 + sin(p)", arm, "normal = [1, 0]"),
    ] {
        refused(text(coordinate, gap, point, ""), "does not tell the normal");
        let (sim, end) = run(&scene(&text(coordinate, gap, point, normal)));
        assert!(matches!(end, RunEnd::Finished), "{end:?}");
        assert!(!sim.positions().drifts() && sim.state().q[0] > -0.32);
    }
    // A normal along which the point cannot move does not hold it.
    for (point, normal) in [("[\"x\", 0]", "[0, 1]"), ("[\"x\", 0, 0]", "[0, 1, 0]")] {
        let normal = format!("normal = {normal}");
        refused(text("x", "x", point, &normal), "do not belong together");
    }
    // Straight up the only coordinate needs none.
    let (sim, _) = run(&scene(&text("y", "y", "[0, \"y\"]", "")));
    assert!(sim.state().q[0] >= -1e-9);
}
