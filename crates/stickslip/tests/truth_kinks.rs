//! A gap with a kink: what its normal jumps is an approach, which the impact law answers.

use std::ops::ControlFlow;

use stickslip::records::EventKind;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, Simulation};

const SCHEMES: [&str; 3] = ["moreau-jean", "moreau", "sweeping-process"];

fn run(text: &str) -> Simulation {
    let scene = Scene::parse(SourceText::new("kink.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished, "{text}");
    sim
}

/// A particle that slides along a level floor with the speed v meets a ramp of the angle a. Its velocity along the ramp
/// stays, that across it returns with the restitution.
#[test]
fn a_particle_that_meets_a_ramp_of_the_same_gap_is_stopped_across_it() {
    let v = 2.9;
    for degrees in [3.0f64, 10.0, 25.0, 45.0, 70.0, 85.0] {
        let (s, c) = degrees.to_radians().sin_cos();
        for (scheme, e) in SCHEMES
            .into_iter()
            .flat_map(|scheme| [(scheme, 0.0), (scheme, 0.4)])
        {
            // Restitution of the sweeping process is none.
            if scheme == "sweeping-process" && e > 0.0 {
                continue;
            }
            for (scale, h) in [(1.0, 1e-3), (250.0, 3.1e-4)] {
                let sim = run(&format!(
                    "title = \"ramp\"\nscheme = \"{scheme}\"\nstep = {h}\nuntil = 0.5\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                     kinetic_energy = \"(x'^2 + y'^2)/2\"\n[initial]\nx_dot = {v}\n[[contacts]]\nname = \"floor\"\n\
                     gap = \"{scale}*min(y, {c}*y - {s}*(x - 1))\"\nrestitution = {e}\n"
                ));
                let (along, across) = (v * c, e * v * s);
                let expected = [along * c - across * s, along * s + across * c];
                let found = &sim.state().v;
                for (a, b) in found.iter().zip(expected) {
                    assert!(
                        (a - b).abs() < 1e-9,
                        "{scheme}, {degrees} degrees, e = {e}, h = {h}: {found:?} and {expected:?}"
                    );
                }
                assert!(!sim.positions().drifts());
                // A contact that stays closed is struck too, and once.
                let events = sim.events().events.iter();
                let impacts = events
                    .filter(|event| event.kind == EventKind::Impact)
                    .count();
                assert_eq!(impacts, 1, "{scheme}, {degrees} degrees, e = {e}, h = {h}");
            }
        }
    }
}

/// A V whose sides are one gap: a particle that slides down one side is stopped across the other one, and keeps of its speed
/// what lies along that: v cos(2a) of the angle 2a between them.
#[test]
fn a_particle_loses_at_the_bottom_of_a_valley_what_runs_across_the_other_side() {
    for (slope, scheme) in SCHEMES.into_iter().flat_map(|s| [(0.3, s), (0.8, s)]) {
        let sim = run(&format!(
            "title = \"valley\"\nscheme = \"{scheme}\"\nstep = 1e-4\nuntil = 0.5\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\n[initial]\nx = -1\ny = {slope}\nx_dot = 3\ny_dot = {}\n\
             [[contacts]]\nname = \"valley\"\ngap = \"y - {slope}*abs(x)\"\n",
            -3.0 * slope
        ));
        let speed = 3.0 * (1.0f64 + slope * slope).sqrt();
        let left = speed * (2.0 * f64::atan(slope)).cos();
        let v = &sim.state().v;
        let found = v[0].hypot(v[1]);
        assert!(
            (found - left).abs() < 1e-9 && v[0] > 0.0,
            "{scheme}: {found} and {left}"
        );
    }
}

/// A corner of one gap has one normal at a time. Where the scheme holds the body in it by corrections of positions alone the run
/// says so.
#[test]
fn a_corner_that_no_impulse_holds_is_no_position_that_holds() {
    for scheme in SCHEMES {
        let sim = run(&format!(
            "title = \"corner\"\nscheme = \"{scheme}\"\nstep = 1e-3\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[initial]\nx_dot = 3\n\
             [[contacts]]\nname = \"corner\"\ngap = \"min(y, 1 - x)\"\npoint = [\"x\", \"y\"]\nfriction = 0.1\n"
        ));
        let (state, positions) = (sim.state(), sim.positions());
        assert!((state.q[0] - 1.0).abs() < 1e-9, "{scheme}: {:?}", state.q);
        let stopped = state.v[0].abs() < 1e-9;
        assert!(
            stopped || positions.lean.value > 0.25,
            "{scheme}: {:?}",
            state.v
        );
    }
}
