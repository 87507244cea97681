//! The normal of a contact is that of its gap, wherever the motion goes.

use std::ops::ControlFlow;

use stickslip::records::StepOutcome;
use stickslip::scene::{Scene, SourceText};
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
