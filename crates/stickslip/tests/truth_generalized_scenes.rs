//! Scenes of the generalized law: what their texts promise, and that their runs solve their formulation.

use std::ops::ControlFlow;

use stickslip::internals::map::grid;
use stickslip::records::StepRecord;
use stickslip::scene::{
    Changes, MapAxis, MapQuantity, Scene, SceneChart, SourceText, find_in_gallery,
};
use stickslip::simulation::verify::{Formulation, Line, Motion, Violation};
use stickslip::simulation::{RunEnd, Simulation};

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).expect("a scene of the gallery");
    let source = changes
        .apply(&entry.source())
        .unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scene: &Scene, mut observe: impl FnMut(&StepRecord)) -> Simulation {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    observe(run.record());
    let end = run.run_until(scene.settings.until, |record| {
        observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    run
}

#[test]
fn bar_on_a_rail_jams_grazes_lifts_off_or_slides() {
    let end = |changes: Changes| {
        let scene = scene("painleve-bar", &changes);
        let run = run(&scene, |_| ());
        (run.state().q.clone(), run.state().v.clone())
    };
    let h = 1e-3;
    // Jam: at rest after one step, also against a pull.
    let (q, v) = end(Changes::new());
    assert!(
        q[0] <= h * 1.01 && v.iter().all(|x| x.abs() < 1e-12),
        "{q:?} {v:?}"
    );
    let (q, _) = end(Changes::new()
        .parameter("fx", 50.0)
        .parameter("ftheta", -0.1));
    assert!(q[0] <= h * 1.01, "{q:?}");
    // Grazing.
    let (q, v) = end(Changes::new().parameter("ftheta", 0.0));
    assert!((q[0] - 1.0).abs() < 1e-9 && (v[0] - 1.0).abs() < 1e-12);
    // Lift-off with the acceleration f/J.
    let (q, v) = end(Changes::new().parameter("ftheta", 1.0));
    assert!(
        (v[1] - 3.0).abs() < 1e-9 && (q[1] + 0.25 * std::f64::consts::PI - 1.5).abs() < 5.0 * h
    );
    // Sliding below the critical coefficient: distance V0²/(2a), a = 2√2.
    let (q, v) = end(Changes::new().parameter("mu", 0.5));
    assert!(
        (q[0] - 0.176_776_695).abs() < h && v[0].abs() < 1e-12,
        "{q:?} {v:?}"
    );
}

#[test]
fn block_on_two_feet_brakes_harder_foot_by_foot() {
    let deceleration = |changes: Changes| {
        let scene = scene("two-foot-block", &changes);
        let run = run(&scene, |_| ());
        (2.0 - run.state().v[0]) / 0.3
    };
    let coulomb = 0.5 * 9.81;
    let expected = coulomb / (1.0 - 0.3f64.powi(2));
    assert!((deceleration(Changes::new()) - expected).abs() < 1e-6 * expected);
    let joint = deceleration(Changes::new().key("sections", "joint"));
    assert!((joint - coulomb).abs() < 1e-6, "{joint}");
    let plain = deceleration(Changes::new().key("law", "coulomb"));
    assert!((plain - coulomb).abs() < 1e-6, "{plain}");
}

#[test]
fn bar_in_a_groove_leaves_with_the_full_pull() {
    let scene = scene("v-groove-bar", &Changes::new());
    let run = run(&scene, |_| ());
    assert!(
        (run.state().v[1] - 3.0 * 0.2).abs() < 1e-9,
        "{:?}",
        run.state().v
    );
}

#[test]
fn chalk_jams_above_and_writes_below_the_critical_coefficient() {
    let first_slip = |mu: f64| {
        let scene = scene("chalk", &Changes::new().parameter("mu", mu));
        let mut slip = None;
        run(&scene, |record| {
            if record.step == 1 {
                slip = Some(record.local_velocities[1]);
            }
        });
        slip.expect("a first step")
    };
    assert!(first_slip(1.5).abs() < 1e-9);
    assert!(first_slip(0.3) < -0.1);
}

#[test]
fn bar_on_a_rail_has_six_regimes() {
    let h = 1e-3;
    let end = |mu: f64, f: f64| {
        let changes = Changes::new().parameter("mu", mu).parameter("ftheta", f);
        let run = run(&scene("painleve-bar", &changes), |_| ());
        (run.state().q.clone(), run.state().v.clone())
    };
    for mu in [0.5, 1.5] {
        // Grazing and lift-off are the same on both sides of the critical coefficient.
        let (q, v) = end(mu, 0.0);
        assert!((q[0] - 1.0).abs() < 1e-9 && v[1].abs() < 1e-12, "{q:?}");
        let (q, v) = end(mu, 1.0);
        assert!((q[0] - 1.0).abs() < 1e-9 && (v[1] - 3.0).abs() < 1e-9);
    }
    let (q, v) = end(0.5, -2.0);
    assert!((q[0] - 0.176_776_695).abs() < h && v[0].abs() < 1e-12);
    let (q, v) = end(1.5, -2.0);
    assert!(q[0] <= 1.01 * h && v[0].abs() < 1e-12);
}

#[test]
fn pinned_bar_leaves_under_one_law_and_stays_wedged_under_another() {
    // J = 1/2, torque 1: θ' = 2 t.
    let free = run(&scene("pinned-bar", &Changes::new()), |_| ());
    assert!((free.state().v[0] - 1.0).abs() < 1e-12);
    let wedged = Changes::new()
        .key("law", "coulomb")
        .key("scheme", "moreau")
        .key("several_rule", "least-energy");
    let held = run(&scene("pinned-bar", &wedged), |_| ());
    assert!(held.state().q[0].abs() < 1e-12, "{:?}", held.state().q);
}

#[test]
fn wedge_holds_by_internal_forces_only_where_the_law_has_them() {
    let height = |changes: Changes| run(&scene("wedge", &changes), |_| ()).state().q[1];
    assert!(height(Changes::new()).abs() < 1e-12);
    // Set free, it rises with F/m: h-step sum of ½ 5 0.3².
    let free = 0.5 * 5.0 * 0.3f64.powi(2);
    for changes in [
        Changes::new().key("several_rule", "take-off-first"),
        Changes::new()
            .key("law", "generalized")
            .key("several_rule", "take-off-first"),
    ] {
        let y = height(changes);
        assert!((y - free).abs() < 5.0 * 0.3 * 1e-3, "{y}");
    }
    // Below tan 15 deg = 0.268 no squeeze helps.
    let y = height(Changes::new().parameter("mu", 0.25));
    assert!((y - free).abs() < 5.0 * 0.3 * 1e-3, "{y}");
}

#[test]
fn refined_bar_keeps_the_squeeze_it_has_for_every_stiffness() {
    let rise = |k: f64, squeeze: f64| {
        let changes = Changes::new()
            .parameter("k", k)
            .parameter("squeeze", squeeze);
        let run = run(&scene("refined-bar", &changes), |_| ());
        0.5 * (run.state().v[1] + run.state().v[3])
    };
    for k in [1e3, 1e5, 1e7] {
        assert!(rise(k, 10.0).abs() < 1e-9, "wedged at k = {k}");
        assert!((rise(k, 0.0) - 3.0 * 0.2).abs() < 1e-9, "free at k = {k}");
        assert!(rise(k, 7.0) > 1e-3, "too little squeeze at k = {k}");
    }
}

#[test]
fn plate_brakes_with_the_friction_of_the_total_force() {
    let end = |v: f64, spin: f64| {
        let changes = Changes::new()
            .parameter("V0", v)
            .parameter("spin", spin)
            .key("until", 0.2);
        let run = run(&scene("coulomb-plate", &changes), |_| ());
        run.state().v.clone()
    };
    let v = end(2.0, 0.0);
    assert!((v[0] - (2.0 - 0.4 * 9.81 * 0.2)).abs() < 1e-9, "{v:?}");
    // μ m g R/J = 2 μ g/R.
    let v = end(0.0, 6.0);
    let expected = 6.0 - 2.0 * 0.4 * 9.81 / 0.3 * 0.2;
    assert!((v[3] - expected).abs() < 1e-6, "{v:?} {expected}");
}

#[test]
fn painleve_start_has_three_futures() {
    let scene = scene("painleve-start", &Changes::new());
    let tree = scene.branch_tree().unwrap_or_else(|e| panic!("{e}"));
    let leaving = tree.branches.iter().filter(|b| b.t_start == 0.0).count();
    assert_eq!(leaving, 3, "separation, slide, jam");
    assert!(tree.branches.iter().all(|b| b.finished) && tree.left_out == 0);
    // The first takes off: no impulse, the free turn goes on.
    assert!((tree.branches[0].v[1][2] - 5.0).abs() < 1e-12);
}

#[test]
fn run_stops_where_the_law_has_several_solutions() {
    let scene = scene("painleve-start", &Changes::new().key("on_several", "stop"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = run.run_until(0.1, |_| ControlFlow::Continue(()));
    assert!(
        matches!(end, RunEnd::Stopped { t, .. } if t == 0.0),
        "{end:?}"
    );
}

#[test]
fn boundary_of_the_painleve_region_is_found_by_the_map() {
    let chart = SceneChart {
        source: find_in_gallery("painleve-rod").expect("a scene").source(),
        changes: Changes::new(),
        quantity: MapQuantity::Margin { gap: 1e-9 },
    };
    let axis = |name: &str, from: f64, to: f64, count: usize| MapAxis {
        name: name.to_string(),
        values: grid(from, to, count),
    };
    let (x, y) = (axis("theta0", 0.2, 1.45, 12), axis("mu", 0.5, 6.0, 12));
    let map = chart.map(x, y, Some(0.0)).unwrap_or_else(|e| panic!("{e}"));
    assert!(map.boundary.len() >= 11, "{:?}", map.boundary);
    for [theta, mu] in map.boundary {
        let exact = (1.0 / 3.0 + theta.cos().powi(2)) / (theta.sin() * theta.cos());
        assert!((mu - exact).abs() < 1e-6, "{theta}: {mu} {exact}");
    }
    // The least coefficient of all, 4/3 at tan θ = 2.
    let at = axis("theta0", 2f64.atan(), 2f64.atan() + 1e-9, 2);
    let map = chart
        .map(at, axis("mu", 1.2, 1.5, 3), Some(0.0))
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(
        (map.boundary[0][1] - 4.0 / 3.0).abs() < 1e-9,
        "{:?}",
        map.boundary
    );
}

#[test]
fn own_impact_map_is_followed_and_judged() {
    let scene = scene("own-impact-map", &Changes::new());
    let mut rebound = None;
    run(&scene, |record| {
        let floor = &record.contacts[0];
        if rebound.is_none() && record.impulses[0] > 0.1 {
            rebound = Some((floor.approach, record.velocity[1]));
        }
    });
    let (before, after) = rebound.expect("an impact");
    assert!((after + 0.8 * before).abs() < 1e-12, "{before} {after}");
}

#[test]
fn unbounded_sets_of_the_user_jam_one_way_only() {
    // Friction set [-inf, 0.3] per dφ: no forward sliding in firm contact, ordinary friction backward.
    let end = |v: f64| {
        let text = format!(
            "title = \"own set\"\nlaw = \"generalized\"\nimpact = \"inelastic\"\nfriction_per = \"gradient\"\nuntil = 0.1\n\
             [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"10*y\"\n\
             [[contacts]]\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = {{ interval = [\"-inf\", 0.3] }}\n\
             [initial]\nx_dot = {v}\n"
        );
        let scene =
            Scene::parse(SourceText::new("own.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        run(&scene, |_| ()).state().v[0]
    };
    assert!(end(1.0).abs() < 1e-12);
    assert!((end(-1.0) + 1.0 - 0.3 * 10.0 * 0.1).abs() < 1e-9);
}

#[test]
fn kane_pendulum_gains_energy_under_newton_and_coulomb_only() {
    let change = |law: &str, impact: &str| {
        let scheme = if law == "coulomb" {
            "moreau-jean"
        } else {
            "moreau"
        };
        let changes = Changes::new()
            .key("law", law)
            .key("impact", impact)
            .key("scheme", scheme);
        let scene = scene("kane-pendulum", &changes);
        let run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let start = run.ledger().energy_start;
        let kinetic_before = start - run.state().potential;
        run.state().kinetic / kinetic_before - 1.0
    };
    for (law, impact, expected) in [
        ("coulomb", "newton", 0.5875),
        ("coulomb", "fremond", -0.438),
        ("coulomb", "poisson", -0.455),
        ("generalized", "newton", -0.438),
    ] {
        let found = change(law, impact);
        assert!((found - expected).abs() < 1e-3, "{law} {impact}: {found}");
    }
    for (law, impact) in [("argmin", "inelastic"), ("frictionless", "newton")] {
        assert!(change(law, impact) < 0.0, "{law}");
    }
}

/// Runs under a law or a formulation that is not the scene's own; `verify_gallery.rs` has all scenes under theirs.
#[test]
fn runs_solve_every_formulation_that_shares_their_law() {
    let none = Changes::new;
    let mut cases = vec![
        // A particle is a system too, one constraint is the least of several.
        ("sliding-block", none(), Formulation::P5),
        ("sliding-block", none(), Formulation::P6),
        ("wedge", none(), Formulation::P6),
        ("refined-bar", none(), Formulation::P6),
        ("pinned-bar", none(), Formulation::P4Prime),
        (
            "kane-pendulum",
            none().key("law", "generalized"),
            Formulation::P3Prime,
        ),
        (
            "kane-pendulum",
            none().key("impact", "fremond"),
            Formulation::Fremond,
        ),
        (
            "kane-pendulum",
            none().key("law", "frictionless"),
            Formulation::P2,
        ),
        (
            "painleve-start",
            none().key("law", "argmin"),
            Formulation::P3Prime,
        ),
    ];
    // The bar's six regimes.
    for (mu, f) in [(0.5, -2.0), (0.5, 0.0), (0.5, 1.0), (1.5, 0.0), (1.5, 1.0)] {
        let changes = none().parameter("mu", mu).parameter("ftheta", f);
        cases.push(("painleve-bar", changes, Formulation::P3Prime));
    }
    let mut refused = Vec::new();
    for (name, changes, formulation) in cases {
        let scene = scene(name, &changes);
        let mut motion = Motion::of_run(scene.discretisation().expect("a scheme of steps"))
            .with_correction(scene.simulation().expect("valid").position_correction());
        run(&scene, |record| motion.push(record));
        let report = scene
            .verify(&motion, Some(formulation))
            .unwrap_or_else(|e| panic!("{e}"));
        if !report.accepted() {
            refused.push(format!("{name} {changes:?}: {:?}", report.violations));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Newton's impact with Coulomb's friction gives energy to Kane's pendulum, which no dissipative law does.
#[test]
fn kane_pendulum_under_newton_and_coulomb_is_refused_by_the_dissipative_laws() {
    let scene = scene("kane-pendulum", &Changes::new());
    let mut motion = Motion::of_run(scene.discretisation().expect("a scheme of steps"))
        .with_correction(scene.simulation().expect("valid").position_correction());
    run(&scene, |record| motion.push(record));
    for formulation in [Formulation::P3Prime, Formulation::Fremond] {
        let report = scene
            .verify(&motion, Some(formulation))
            .unwrap_or_else(|e| panic!("{e}"));
        let gains = |v: &&Violation| v.line == Line::Dissipation && v.t == 0.0;
        assert!(report.violations.iter().any(|v| gains(&v)), "{report:?}");
    }
}

/// Round a ring the normal force is m v²/R and friction takes v' = -mu v²/R, so that v = v0/(1 + mu v0 t/R): with corrected positions the
/// generalized law keeps the speed of a smooth ring to rounding after its first chord, which is a tangent, and the law of a rough one to the
/// order of the step.
#[test]
fn a_ring_under_the_generalized_law_takes_what_friction_takes() {
    for mu in [0.0, 0.1] {
        let text = format!(
            r#"
title = "Ring"
step = 0.002
until = 5
law = "generalized"
projection = "combined"
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
[[contacts]]
name = "ring"
gap = "2 - hypot(x, y)"
point = ["x", "y"]
normal = ["-x", "-y"]
friction = {mu}
[initial]
x = 2
y_dot = 3
"#
        );
        let scene = Scene::parse(SourceText::new("ring", text)).unwrap_or_else(|e| panic!("{e}"));
        let rule = scene.discretisation().expect("steps");
        let correction = scene.simulation().expect("valid").position_correction();
        let mut motion = Motion::of_run(rule).with_correction(correction);
        let mut first = 0.0;
        let run = run(&scene, |record| {
            motion.push(record);
            if record.step == 1 {
                first = record.velocity[0].hypot(record.velocity[1]);
            }
        });
        let v = run.state().v[0].hypot(run.state().v[1]);
        let exact = 3.0 / (1.0 + mu * 3.0 * 5.0 / 2.0);
        // A tangent leaves the ring by the angle h v/(2 R) in its middle.
        let tangent = (0.002f64 * 3.0 / 2.0).powi(2);
        let tolerance = if mu == 0.0 { tangent } else { 2e-3 };
        assert!(mu > 0.0 || (v - first).abs() <= 1e-9 * v, "{v} {first}");
        assert!((v - exact).abs() <= tolerance * exact, "{mu}: {v} {exact}");
        assert!(!run.positions().drifts(), "{mu}: {:?}", run.positions());
        let report = scene.verify(&motion, None).expect("a formulation");
        assert!(report.accepted(), "{mu}: {:?}", report.violations);
    }
}

/// A block on two feet that a side force cannot move: what rounding leaves of its velocities, and what it is given of that size, is rest to every law.
#[test]
fn velocities_of_rounding_are_rest() {
    for law in ["generalized", "coulomb", "argmin"] {
        for push in ["0", "1e-18", "-3e-19"] {
            let foot = |name: &str, sign: &str| {
                format!(
                    "[[contacts]]\nname = \"{name}\"\ngap = \"y {sign} 0.5*sin(a) - 0.2*cos(a) + 0.2\"\n\
                        point = [\"x {sign} 0.5*cos(a)\", \"y {sign} 0.5*sin(a)\"]\nfriction = 0.5\n"
                )
            };
            let text = format!(
                "title = \"at rest\"\nlaw = \"{law}\"\nstep = 1e-3\nuntil = 0.1\n[system]\ncoordinates = [\"x\", \"y\", \"a\"]\n\
                    kinetic_energy = \"0.5*(x'^2 + y'^2 + 0.3*a'^2)\"\npotential = \"9.81*y + 0.7*x\"\n{}{}[initial]\nx_dot = {push}\na_dot = {push}\n",
                foot("left", "-"),
                foot("right", "+")
            );
            let scene =
                Scene::parse(SourceText::new("rest.toml", text)).unwrap_or_else(|e| panic!("{e}"));
            let run = run(&scene, |_| {});
            assert!(
                run.certificate().holds(1e-8),
                "{law} {push}: {:?}",
                run.certificate()
            );
            let (q, v) = (&run.record().q, &run.record().velocity);
            assert!(
                q.iter().chain(v.iter()).all(|x| x.abs() < 1e-15),
                "{law} {push}: {q:?} {v:?}"
            );
        }
    }
}

/// A particle that rides along a groove of 45 degrees, whose direction lies `turn` from the second axis, while it rises.
fn groove(
    turn: f64,
    (rise, slide): (f64, f64),
    (kilogram, metre): (f64, f64),
    scale: f64,
) -> Scene {
    let (c, s) = (turn.cos(), turn.sin());
    let half = 0.5f64.sqrt();
    let wall = |name: &str, side: f64| {
        format!(
            r#"
[[contacts]]
name = "{name}"
gap = "{scale}*({half}*({c}*{side}*x + {s}*{side}*y + z - {rise}*t))"
point = ["x", "y", "z"]
normal = [{}, {}, {half}]
friction = 0.3
"#,
            half * c * side,
            half * s * side,
            rise = rise * metre,
        )
    };
    let text = format!(
        r#"
title = "Groove"
step = 0.001
until = 0.05
law = "generalized"
scheme = "moreau"
impact = "inelastic"
[system]
coordinates = ["x", "y", "z"]
kinetic_energy = "{kilogram}*(x'^2 + y'^2 + z'^2)/2"
potential = "{kilogram}*10*{metre}*z"
{}{}
[initial]
x_dot = {}
y_dot = {}
z_dot = {}
"#,
        wall("left", 1.0),
        wall("right", -1.0),
        -s * slide * metre,
        c * slide * metre,
        rise * metre
    );
    Scene::parse(SourceText::new("groove", text)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_groove_that_rises_brakes_as_one_at_rest_however_it_lies() {
    // Each wall presses with m g/√2, and across the groove nothing moves: v' = −√2 μ g.
    let exact = 1.0 - 0.05 * 0.3 * 10.0 * 2f64.sqrt();
    for (turn, rise) in [(0.0, 0.0), (0.0, 0.3), (0.5, 0.3), (1.1, -0.3)] {
        for (units, scale) in [((1.0, 1.0), 1.0), ((1e-3, 1e3), 0.01)] {
            let scene = groove(turn, (rise, 1.0), units, scale);
            let rule = scene.discretisation().expect("steps");
            let mut motion = Motion::of_run(rule);
            let run = run(&scene, |record| motion.push(record));
            let case = (turn, rise, units);
            assert!(run.certificate().holds(1e-8), "{case:?}");
            let v = &run.state().v;
            let along = (turn.cos() * v[1] - turn.sin() * v[0]) / units.1;
            assert!((along - exact).abs() < 1e-12, "{case:?}: {along} {exact}");
            assert!((v[2] / units.1 - rise).abs() < 1e-12, "{case:?}: {v:?}");
            let report = scene.verify(&motion, None).expect("a formulation");
            assert!(report.accepted(), "{case:?}: {:?}", report.violations);
        }
    }
}

#[test]
fn a_particle_between_two_walls_of_the_plane_that_rise_together_rides() {
    let text = |rise: f64| {
        format!(
            r#"
title = "Groove of the plane"
step = 0.001
until = 0.1
law = "generalized"
scheme = "moreau"
impact = "inelastic"
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contacts]]
name = "a"
gap = "(x + (y - {rise}*t))/sqrt(2)"
point = ["x", "y"]
friction = 0.3
[[contacts]]
name = "b"
gap = "(-x + (y - {rise}*t))/sqrt(2)"
point = ["x", "y"]
friction = 0.3
[initial]
y_dot = {rise}
"#
        )
    };
    for rise in [0.3, 30.0, -0.3] {
        let scene = Scene::parse(SourceText::new("groove", text(rise))).expect("valid");
        let run = run(&scene, |_| ());
        assert!(run.certificate().holds(1e-8), "{rise}");
        let v = &run.state().v;
        assert!(
            (v[1] - rise).abs() < 1e-14 * rise.abs() && v[0].abs() < 1e-14,
            "{v:?}"
        );
    }
}

/// A body on a floor, another on it and a wall, under Poisson's law and joint sections: an impact leaves the lower one at rest but for rounding, and
/// it rests while the upper one is in the air. The rounding counted as an approach, and the body hopped by e g h, or did not, as the last digit fell.
#[test]
fn rounding_of_an_impact_is_no_approach_under_poissons_law() {
    let text = "title = \"joint 103 bodies2\"\n\
        until = 0.1\n\
        step = 1e-3\n\
        law = \"generalized\"\n\
        sections = \"joint\"\n\
        impact = \"poisson\"\n\
        [system]\n\
        coordinates = [\"x\", \"y\", \"X\", \"Y\"]\n\
        kinetic_energy = \"(1.534*(x'^2 + y'^2) + 18.291*(X'^2 + Y'^2))/2\"\n\
        potential = \"9.81*(y + 3*Y)\"\n\
        forces = { x = \"2.391\", X = \"2.778\" }\n\
        [[contacts]]\n\
        gap = \"y\"\n\
        point = [\"x\", \"y\"]\n\
        friction = 0.607\n\
        restitution = 0.5\n\
        [[contacts]]\n\
        gap = \"Y - y\"\n\
        slip = \"X' - x'\"\n\
        friction = 0.472\n\
        restitution = 0.5\n\
        [[contacts]]\n\
        gap=\"0.5 - X + 0.3*Y\"\n\
        slip = \"Y' + 0.3*X'\"\n\
        friction = 0.843\n\
        [initial]\n\
        x_dot = -0.044\n\
        y_dot = -0.868\n\
        X_dot = 0.333\n\
        Y_dot = -0.054\n\
        X=0.47\n";
    let scene = Scene::parse(SourceText::new("drawn.toml", text)).expect("valid");
    let mut rested = 0;
    run(&scene, |record| {
        let normal = |contact: usize| record.impulses[record.contacts[contact].start];
        if record.t > 0.0765 && normal(1) == 0.0 && normal(0) > 0.0 {
            assert!(record.velocity[1].abs() < 1e-12, "{record:?}");
            // The weight of the body, no more.
            assert!((normal(0) - 9.81e-3).abs() < 1e-12, "{record:?}");
            rested += 1;
        }
    });
    assert!(rested > 5, "{rested}");
}

/// Three feet of a bar with three coefficients, and three points of a plate with an ellipse: joint sections took 60 updates there and kept
/// the normal velocities to 1e-4 only, in steps that were told as not solved.
#[test]
fn joint_sections_of_three_points_are_solved_in_every_step() {
    let bar = "title = \"t\"\nuntil = 0.1\nlaw = \"generalized\"\nsections = \"joint\"\nimpact = \"moreau\"\n\
        [definitions]\nc = \"cos(p)\"\ns = \"sin(p)\"\n[system]\ncoordinates = [\"x\", \"y\", \"p\"]\n\
        kinetic_energy = \"(1.712*x'^2 + 1.269*y'^2 + 0.277*p'^2)/2\"\npotential = \"9.81*y\"\nforces = { x = -4.223 }\n";
    let feet = [(-0.568, 0.103), (-0.042, 0.508), (0.27, 0.744)];
    let feet = feet.map(|(a, mu)| {
        format!(
            "[[contacts]]\ngap = \"y + ({a})*s - 0.655*(c - 1)\"\n\
             point = [\"x + ({a})*c + 0.655*s\", \"y + ({a})*s - 0.655*c\"]\nfriction = {mu}\n"
        )
    });
    let bar = format!(
        "{bar}{}[initial]\nx_dot = -1.723\ny_dot = -0.206\np_dot = -0.535\n",
        feet.concat()
    );
    let plate = "title = \"t\"\nuntil = 0.1\nlaw = \"generalized\"\nsections = \"joint\"\nimpact = \"inelastic\"\n\
        [system]\ncoordinates = [\"x\", \"y\", \"z\", \"a\", \"b\", \"c\"]\n\
        kinetic_energy = \"(x'^2 + y'^2 + z'^2 + 0.48*a'^2 + 0.492*b'^2 + 0.068*c'^2)/2\"\npotential = \"9.81*z\"\n\
        forces = { x = 1.609, y = 0.774, c = 1.945 }\n";
    let feet = [
        (
            -0.238,
            -0.329,
            "{ polygon = [[0.416, 0], [0, 0.606], [-1.079, -0.253]] }",
        ),
        (
            -0.3,
            0.936,
            "{ polygon = [[1.028, 0], [0, 0.988], [-0.746, -0.903]] }",
        ),
        (0.602, -0.683, "{ ellipse = [0.901, 0.207] }"),
    ];
    let feet = feet.map(|(x, y, friction)| {
        format!(
            "[[contacts]]\ngap = \"z + ({y})*a - ({x})*b\"\n\
             slip = [\"x' - 0.441*b' - ({y})*c'\", \"y' + 0.441*a' + ({x})*c'\"]\nfriction = {friction}\n"
        )
    });
    let start = "[initial]\nx_dot = 0.126\ny_dot = 0.762\nz_dot = -0.879\na_dot = 0.117\nb_dot = -0.861\nc_dot = 1.832\n";
    let plate = format!("{plate}{}{start}", feet.concat());
    for text in [bar, plate] {
        let scene = Scene::parse(SourceText::new("feet.toml", text.as_str())).expect("valid");
        let mut iterations = 0;
        let run = run(&scene, |record| iterations += record.iterations);
        let certificate = run.certificate();
        assert_eq!(certificate.not_converged, 0, "{certificate:?}");
        assert!(certificate.worst() < 1e-10, "{certificate:?}");
        // Some ten to twenty steps of the program per step of the run.
        assert!(iterations < 100 * 40, "{iterations}");
    }
}
