//! A gap with a kink: what its normal jumps is an approach, which the impact law answers.

use std::ops::ControlFlow;

use stickslip::records::{EventKind, StepOutcome};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, Simulation};

const SCHEMES: [&str; 4] = ["moreau-jean", "moreau", "sweeping-process", "event-driven"];

fn run(text: &str) -> Simulation {
    let (sim, end) = run_until_it_ends(text);
    assert_eq!(end, RunEnd::Finished, "{text}");
    sim
}

fn run_until_it_ends(text: &str) -> (Simulation, RunEnd) {
    let scene = Scene::parse(SourceText::new("kink.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    (sim, end)
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    let pairs = found.iter().zip(expected);
    found.len() == expected.len()
        && pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) <= tolerance
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
        // Restitution is none and friction of the wall has nothing to hold: the particle rests in the corner.
        assert!(scheme != "event-driven" || stopped && state.v[1].abs() < 1e-9);
        assert!(
            stopped || positions.lean.value > 0.25,
            "{scheme}: {:?}",
            state.v
        );
    }
}

/// In space the velocity across the ramp returns with the restitution, and friction takes its share of the impulse from the rest, which
/// keeps its direction: the mass is the same along all axes.
#[test]
fn a_particle_in_space_is_struck_at_a_kink_with_friction() {
    let (vx, vy) = (2.9, -1.3);
    for (degrees, mu, e) in [
        (20.0f64, 0.2, 0.0),
        (20.0, 0.2, 0.6),
        (50.0, 0.1, 0.3),
        (50.0, 4.0, 0.0),
    ] {
        let (s, c) = degrees.to_radians().sin_cos();
        for scheme in ["moreau-jean", "event-driven"] {
            let sim = run(&format!(
                "title = \"ramp\"\nscheme = \"{scheme}\"\nstep = 2e-3\nuntil = 0.5\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
                 kinetic_energy = \"1.7*(x'^2 + y'^2 + z'^2)/2\"\n[initial]\nx_dot = {vx}\ny_dot = {vy}\n[[contacts]]\nname = \"floor\"\n\
                 gap = \"min(z, {c}*z - {s}*(x - 1))\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = {mu}\nrestitution = {e}\n"
            ));
            let (along, across) = (vx * c, vx * s);
            let slip = along.hypot(vy);
            let left = (slip - mu * (1.0 + e) * across).max(0.0) / slip;
            let expected = [
                left * along * c - e * across * s,
                left * vy,
                left * along * s + e * across * c,
            ];
            let found = &sim.state().v;
            assert!(
                close(found, &expected, 1e-9),
                "{scheme}, {degrees}, {mu}, {e}: {found:?} and {expected:?}"
            );
        }
    }
}

/// A bead on a bent wire: the joint takes what runs across the second side, with rigid contacts in the scene and with compliant ones.
#[test]
fn a_bead_on_a_bent_wire_keeps_what_runs_along_it() {
    let slope = 0.5f64;
    let speed = 3.0 * (1.0 + slope * slope).sqrt();
    let left = speed * (2.0 * slope.atan()).cos();
    let after = [
        left / (1.0 + slope * slope).sqrt(),
        left * slope / (1.0 + slope * slope).sqrt(),
    ];
    let text = |scheme: &str, more: &str| {
        format!(
            "title = \"wire\"\nscheme = \"{scheme}\"\n{more}step = 1e-2\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\n[initial]\nx = -1\ny = {slope}\nx_dot = 3\ny_dot = {}\n\
             [[joints]]\nname = \"wire\"\nequation = \"y - {slope}*abs(x)\"\n[[contacts]]\nname = \"far\"\ngap = \"y + 1\"\n",
            -3.0 * slope
        )
    };
    for more in ["", "compliance_time = 0.01\n"] {
        let sim = run(&text("event-driven", more));
        let (v, q) = (&sim.state().v, &sim.state().q);
        assert!(close(v, &after, 1e-9), "{more}: {v:?} and {after:?}");
        assert!((q[1] - slope * q[0]).abs() < 1e-9, "{more}: {q:?}");
        let joints = sim.ledger().totals.joints;
        let taken = 0.5 * (left * left - speed * speed);
        assert!(
            (joints - taken).abs() < 1e-9,
            "{more}: {joints} and {taken}"
        );
    }
    // Steps would turn it back on steep sides, at any length.
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let (_, end) = run_until_it_ends(&text(scheme, ""));
        let bends = matches!(
            end,
            RunEnd::Stopped {
                outcome: StepOutcome::JointBends { joint: 0 },
                ..
            }
        );
        assert!(bends, "{scheme}: {end:?}");
    }
}

/// A floor that sets off at once strikes what stands on it, in the middle between two records; a belt that does drags it along.
#[test]
fn floors_and_belts_that_set_off_at_once_do_so_at_their_instant() {
    let text = |contact: &str| {
        format!(
            "title = \"sets off\"\nscheme = \"event-driven\"\nstep = 1e-2\nuntil = 0.6\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"3*(x'^2 + y'^2)/2\"\npotential = \"3*10*y\"\n[initial]\n[[contacts]]\nname = \"floor\"\n{contact}"
        )
    };
    let sim = run(&text(
        "gap = \"y - 2*max(0, t - 0.4537)\"\nrestitution = 0.5\n",
    ));
    let (rest, fall) = (0.6 - 0.4537, 3.0 - 10.0 * (0.6 - 0.4537));
    let state = sim.state();
    assert!((state.v[1] - fall).abs() < 1e-9, "{:?}", state.v);
    assert!(
        (state.q[1] - rest * (3.0 - 5.0 * rest)).abs() < 1e-9,
        "{:?}",
        state.q
    );
    let sim = run(&text(
        "gap = \"y\"\nslip = \"x' - if(t < 0.3137, 0, 2)\"\nfriction = 0.1\n",
    ));
    let dragged = 0.6 - 0.3137;
    assert!(
        (sim.state().v[0] - dragged).abs() < 1e-9,
        "{:?}",
        sim.state().v
    );
}

/// A valley without friction: the particle comes to rest at its bottom after infinitely many strikes, where two normals press it and one
/// gap has one at a time. The run from event to event says so instead of going on.
#[test]
fn a_contact_that_stays_at_its_kink_stops_by_name() {
    let start = "title = \"kink\"\nscheme = \"event-driven\"\nstep = 1e-2\nuntil = 20\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                 kinetic_energy = \"(x'^2 + y'^2)/2\"\n";
    let valley = "potential = \"9.81*y\"\n[initial]\nx = -1\ny = 0.3\n[[contacts]]\nname = \"kink\"\ngap = \"y - 0.3*abs(x)\"\n";
    // Down a slope of g sin a within t; up and down again at cos 2a of the speed, and so on.
    let a = 0.3f64.atan();
    let (pull, way) = (9.81 * a.sin(), 1.0 / a.cos());
    let first = (2.0 * way / pull).sqrt();
    let ratio = (2.0 * a).cos();
    let ends = first * (1.0 + 2.0 * ratio / (1.0 - ratio));
    let corner = "potential = \"9.81*y - 3*x\"\n[initial]\n[[contacts]]\nname = \"kink\"\ngap = \"min(y, 1 - x)\"\n\
                  point = [\"x\", \"y\"]\nfriction = 0.1\n";
    let arrives = (2.0f64 / (3.0 - 0.981)).sqrt();
    for (rest, at) in [(valley, ends), (corner, arrives)] {
        let (_, end) = run_until_it_ends(&format!("{start}{rest}"));
        let RunEnd::Stopped { t, outcome } = end else {
            panic!("{end:?}");
        };
        assert!(
            matches!(outcome, StepOutcome::StaysAtKink { .. }),
            "{outcome:?}"
        );
        assert!((t - at).abs() < 0.02, "{t} and {at}");
    }
}

/// A stair without a face: there is no normal along which it could be met, and no scheme lifts a body onto it. From its upper side a body
/// falls.
#[test]
fn a_gap_that_jumps_below_zero_stops_every_scheme_by_name() {
    for (scheme, more) in [
        ("moreau-jean", ""),
        ("moreau", ""),
        ("sweeping-process", ""),
        ("event-driven", ""),
        ("penalty", "compliance_time = 0.05\n"),
    ] {
        let text = |motion: &str, gap: &str| {
            format!(
                "title = \"stair\"\nscheme = \"{scheme}\"\n{more}step = 4e-3\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                 kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"10*y\"\n[initial]\n{motion}[[contacts]]\nname = \"stair\"\ngap = \"{gap}\"\n"
            )
        };
        for (motion, gap, at) in [
            ("x_dot = 1.3\n", "y - if(x < 0.5, 0, 0.1)", 0.5 / 1.3),
            (
                "x_dot = 1.3\n",
                "y - 0.05*(1 + sign(x - 0.5)) + 0*x",
                0.5 / 1.3,
            ),
            ("x = 0.5\n", "y - if(t < 0.617, 0, 0.1)", 0.617),
            // In flight.
            (
                "x_dot = 1.3\ny = 0.9\n",
                "y - if(x < 0.5, 0, 0.5)",
                0.5 / 1.3,
            ),
        ] {
            let (_, end) = run_until_it_ends(&text(motion, gap));
            let RunEnd::Stopped { t, outcome } = end else {
                panic!("{scheme}, {gap}: {end:?}");
            };
            assert!(
                matches!(outcome, StepOutcome::GapJumps { .. }),
                "{scheme}: {outcome:?}"
            );
            assert!(
                t <= at + 1e-9 && t > at - 0.0081,
                "{scheme}, {gap}: {t} and {at}"
            );
        }
        // Over the edge it falls.
        let sim = run(&text("x_dot = 1.3\n", "y + if(x < 0.5, 0, 9)"));
        let fallen = 5.0 * (1.0 - 0.5 / 1.3f64).powi(2);
        // A spring has thrown it by up to g tau = 0.5 m/s.
        let thrown = if scheme == "penalty" { 0.5 } else { 0.05 };
        assert!(
            (sim.state().q[1] + fallen).abs() < thrown,
            "{scheme}: {:?}",
            sim.state().q
        );
    }
    let torn = "title = \"torn\"\nstep = 4e-3\nuntil = 1\n[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
                [initial]\nx_dot = 1.3\n[[joints]]\nname = \"wire\"\nequation = \"y - if(x < 0.5, 0, 0.1)\"\n";
    for scheme in ["moreau-jean", "event-driven"] {
        let (_, end) = run_until_it_ends(&format!("scheme = \"{scheme}\"\n{torn}"));
        let torn = matches!(
            end,
            RunEnd::Stopped {
                outcome: StepOutcome::JointJumps { joint: 0 },
                ..
            }
        );
        assert!(torn, "{scheme}: {end:?}");
    }
}

/// A wall of 0.1 m whose side is steep and continuous: from event to event the particle is stopped there, with cos² of the slope of its speed
/// left; a step that ends beyond the side says so, and one that meets it computes the same.
#[test]
fn a_side_that_a_step_goes_over_stops_it_by_name() {
    let text = |scheme: &str, step: f64, steep: f64| {
        format!(
            "title = \"wall\"\nscheme = \"{scheme}\"\nstep = {step}\nuntil = 1.1\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[initial]\nx = -1.0037\nx_dot = 1\n\
             [[contacts]]\nname = \"wall\"\ngap = \"y - min(0.1, {steep}*max(0, x))\"\n"
        )
    };
    let mut overs = 0;
    for steep in [300.0, 1000.0] {
        let sim = run(&text("event-driven", 0.01, steep));
        // It climbs a little and slides back.
        let state = sim.state();
        assert!(
            state.v[0] <= 0.0 && state.v[0] > -2.0 / steep,
            "{:?}",
            state.v
        );
        assert!(
            state.q[0].abs() < 1e-4 && state.q[1].abs() < 1e-4,
            "{:?}",
            state.q
        );
        for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
            let (sim, end) = run_until_it_ends(&text(scheme, 0.01, steep));
            let over = matches!(
                end,
                RunEnd::Stopped {
                    outcome: StepOutcome::LeaptOver { .. },
                    ..
                }
            );
            // A step may happen to end on the side.
            let met = end == RunEnd::Finished && sim.state().q[1].abs() < 1e-3;
            assert!(
                over || met,
                "{scheme}, {steep}: {end:?} {:?}",
                sim.state().q
            );
            overs += usize::from(over);
            let sim = run(&text(scheme, 2e-5, steep));
            let state = sim.state();
            assert!(
                state.q[0].abs() < 1e-3 && state.q[1].abs() < 1e-3,
                "{scheme}: {:?}",
                state.q
            );
        }
    }
    assert!(overs >= 3, "{overs}");
}

/// A kink at the origin, on a floor at y = 0, where nothing has a size but the motion, met at a record or between two: a continuous gap does not jump.
#[test]
fn kinks_where_coordinates_vanish_are_no_jumps() {
    for slope in [0.5f64, 3.0, 1000.0] {
        for (g, step) in [(0.0, 0.1), (9.81, 0.1), (0.0, 0.037), (9.81, 0.25)] {
            let sim = run(&format!(
                "title = \"ramp\"\nscheme = \"event-driven\"\nstep = {step}\nuntil = 0.5001\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                 kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"{g}*y\"\n[initial]\nx = -0.5\nx_dot = 1\n\
                 [[contacts]]\nname = \"floor\"\ngap = \"y - {slope}*max(0, x)\"\n"
            ));
            let left = 1.0 / (1.0 + slope * slope);
            let pull = 1e-4 * g * slope * left;
            let expected = [left - pull, (left - pull) * slope];
            let found = &sim.state().v;
            assert!(
                close(found, &expected, 1e-9),
                "{slope}, {g}, {step}: {found:?} and {expected:?}"
            );
        }
    }
}

/// Smooth valleys with a wall far away, and slopes as steep as steps can resolve beside a kink that is never met, stop nothing.
#[test]
fn kinks_that_are_never_met_stop_nothing() {
    for scheme in SCHEMES {
        for valley in [
            "1 - cos(x)",
            "cosh(x) - 1",
            "sqrt(1 + x^2) - 1",
            "1.5 - sqrt(2.25 - x^2)",
        ] {
            let sim = run(&format!(
                "title = \"valley\"\nscheme = \"{scheme}\"\nstep = 1e-2\nuntil = 12\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                 kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\nforces = {{ x = \"-4*x'\", y = \"-4*y'\" }}\n\
                 [initial]\nx = 0.5\ny = 0.3\n[[contacts]]\nname = \"valley\"\ngap = \"y - ({valley}) - 2*max(0, abs(x) - 1)\"\n"
            ));
            let q = &sim.state().q;
            assert!(
                q[0].abs() < 1e-3 && q[1].abs() < 1e-3,
                "{scheme}, {valley}: {q:?}"
            );
        }
        let sim = run(&format!(
            "title = \"step\"\nscheme = \"{scheme}\"\nstep = 1e-4\nuntil = 0.4\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[initial]\nx = -0.2037\nx_dot = 1\n\
             [[contacts]]\nname = \"step\"\ngap = \"y - 0.05*(1 + tanh(200*x)) - 0.3*max(0, -2 - x)\"\n"
        ));
        // 0.5 J do not lift it over 0.1 m; it turns back.
        let v = &sim.state().v;
        assert!(v[0] < 0.0, "{scheme}: {v:?}");
    }
}

/// A rod as a joint whose equation has its kink far away comes to rest under damping: what is left of its motion is rounding.
#[test]
fn a_joint_that_comes_to_rest_does_not_bend() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let sim = run(&format!(
            "title = \"rod\"\nscheme = \"{scheme}\"\nstep = 1e-2\nuntil = 20\n[system]\ncoordinates = [\"x\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"8*y - 6*x\"\nforces = {{ x = \"-6*x'\", y = \"-6*y'\" }}\n\
             [initial]\nx = 1\n[[joints]]\nname = \"rod\"\nequation = \"max(x^2 + y^2, 0.1) - 1\"\n[[contacts]]\nname = \"far\"\ngap = \"y + 3\"\n"
        ));
        assert!(
            close(&sim.state().q, &[0.6, -0.8], 1e-9),
            "{scheme}: {:?}",
            sim.state().q
        );
    }
}

/// A spring whose mass turns round at a record: the velocity is zero there and says nothing of the way before.
#[test]
fn a_spring_that_turns_at_a_record_does_not_jump() {
    let sim = run(
        "title = \"spring\"\nscheme = \"event-driven\"\nstep = 0.5\nuntil = 1.5\ncompliance_time = 1\n[system]\ncoordinates = [\"y\"]\n\
         kinetic_energy = \"y'^2/2\"\npotential = \"-y\"\n[initial]\ny_dot = -1\n[[contacts]]\nname = \"spring\"\ngap = \"max(y, -10)\"\nstiffness = 1e-6\n",
    );
    // Free fall upwards but for the spring of a millionth.
    let (t, state) = (1.5, sim.state());
    assert!((state.q[0] - (0.5 * t * t - t)).abs() < 1e-5 && (state.v[0] - (t - 1.0)).abs() < 1e-5);
}

/// Walls as low as half of what a step makes, with steep sides, and smooth ones without any kink: a run either meets the side or stops; none is lifted
/// onto the top, where it would have energy that it never had.
#[test]
fn no_step_lifts_a_particle_over_a_side_it_never_met() {
    let walls = [
        "min(0.014, 1000*max(0, x))",
        "min(0.0099, 1000*max(0, x))",
        "min(0.005, 1000*max(0, x))",
        "0.05*(1 + tanh(1000*x))",
    ];
    let mut stopped = 0;
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for wall in walls {
            for k in 0..8 {
                let x = -0.2 - 0.00125 * f64::from(k);
                let (sim, end) = run_until_it_ends(&format!(
                    "title = \"wall\"\nscheme = \"{scheme}\"\nstep = 1e-2\nuntil = 0.4\n[system]\ncoordinates = [\"x\", \"y\"]\n\
                     kinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[initial]\nx = {x}\nx_dot = 1\n\
                     [[contacts]]\nname = \"wall\"\ngap = \"y - {wall}\"\n"
                ));
                let over = matches!(
                    end,
                    RunEnd::Stopped {
                        outcome: StepOutcome::LeaptOver { .. },
                        ..
                    }
                );
                stopped += usize::from(over);
                let (q, v) = (&sim.state().q, &sim.state().v);
                let energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1];
                let climbed = q[0] > 0.0 && energy > 0.51;
                assert!(
                    over || !climbed,
                    "{scheme}, {wall}, {x}: {end:?} {q:?} {v:?}"
                );
            }
        }
    }
    assert!(stopped > 40, "{stopped}");
}

/// The tip of a cone is a kink where `hypot` and roots vanish: what runs across the other side is lost there, as at the bottom of a valley of `abs`.
#[test]
fn the_tip_of_a_funnel_takes_what_runs_across_it() {
    let slope = 0.8f64;
    let left = 3.0 * (1.0 + slope * slope).sqrt() * (2.0 * slope.atan()).cos();
    for scheme in SCHEMES {
        for cone in ["hypot(x, z)", "sqrt(x^2 + z^2)", "(x^2 + z^2)^0.5"] {
            let sim = run(&format!(
                "title = \"funnel\"\nscheme = \"{scheme}\"\nstep = 1e-3\nuntil = 0.5\n[system]\ncoordinates = [\"x\", \"z\", \"y\"]\n\
                 kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n[initial]\nx = -1.00037\ny = 0.800296\nx_dot = 3\ny_dot = -2.4\n\
                 [[contacts]]\nname = \"funnel\"\ngap = \"y - {slope}*{cone}\"\n"
            ));
            let v = &sim.state().v;
            let speed = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(
                v[0] > 0.0 && (speed - left).abs() < 1e-3,
                "{scheme}, {cone}: {v:?}, {speed} and {left}"
            );
        }
    }
}

/// What slides on without forces has accelerations of rounding alone, wherever the origin lies: they are none.
#[test]
fn sliding_without_forces_is_certified_from_event_to_event() {
    for x in [0.0, 0.3, 17.0] {
        let sim = run(&format!(
            "title = \"funnel\"\nscheme = \"event-driven\"\nstep = 1e-3\nuntil = 0.3\n[system]\ncoordinates = [\"x\", \"z\", \"y\"]\n\
             kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n[initial]\nx = {}\ny = 0.800296\nx_dot = 3\ny_dot = -2.4\n\
             [[contacts]]\nname = \"funnel\"\ngap = \"y - 0.8*hypot(x - {x}, z)\"\n",
            x - 1.00037
        ));
        let (v, certificate) = (&sim.state().v, sim.certificate());
        assert!(
            (v[0] - 3.0).abs() < 1e-9 && (v[2] + 2.4).abs() < 1e-9,
            "{x}: {v:?}"
        );
        assert!(certificate.holds(1e-8), "{x}: {certificate:?}");
    }
}

/// The tip of a funnel is found wherever it lies and in any unit of length.
#[test]
fn tips_of_funnels_do_not_know_the_unit_of_length() {
    let left = |metre: f64| {
        let sim = run(&format!(
            "title = \"funnel\"\nscheme = \"moreau-jean\"\nstep = 1e-3\nuntil = 0.5\n[parameters]\nl = {metre}\n[system]\n\
             coordinates = [\"x\", \"z\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n[initial]\nx = \"-0.70037*l\"\n\
             z = \"1000*l\"\ny = \"0.800296*l\"\nx_dot = \"3*l\"\ny_dot = \"-2.4*l\"\n[[contacts]]\nname = \"funnel\"\n\
             gap = \"y - 0.8*sqrt((x - 0.3*l)^2 + (z - 1000*l)^2)\"\n"
        ));
        let v = &sim.state().v;
        [v[0] / metre, v[2] / metre]
    };
    // What a ridge of twice the slope leaves of the velocity, in the direction of the wall beyond.
    let wall = 3.0 * (1.0 - 0.64) / (1.0 + 0.64);
    for metre in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
        let v = left(metre);
        let apart = (v[0] - wall).abs().max((v[1] - 0.8 * wall).abs());
        assert!(apart < 1e-3, "{metre}: {v:?}, not {wall}");
    }
}
