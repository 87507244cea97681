//! What a user is told about positions: drift decides the certificate, `verify` sees it, obstacles are not passed in silence.

use std::ops::ControlFlow;

use stickslip::records::{ContactMode, EventKind};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, Violation};
use stickslip::simulation::{RunEnd, RunSummary};

fn scene(text: &str) -> Scene {
    Scene::parse(SourceText::new("positions.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a scene; its summary and its motion.
fn run(scene: &Scene) -> (RunSummary, Motion) {
    let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut motion = Motion::of_run(scene.discretisation().expect("steps"))
        .with_correction(sim.position_correction());
    motion.push(sim.record());
    let end: RunEnd = sim.run_until(scene.settings.until, |record| {
        motion.push(record);
        ControlFlow::Continue(())
    });
    let facts = scene.facts(sim.system());
    let summary = RunSummary::new(&sim, (scene.run_settings("t"), &facts), end, 0.0);
    (summary, motion)
}

/// A particle that slides inside a ring of radius 1 at 5 m/s.
fn ring(scheme: &str, projection: &str) -> Scene {
    scene(&format!(
        "title = \"ring\"\nscheme = \"{scheme}\"\nprojection = \"{projection}\"\nstep = 1e-3\nuntil = 2\n\
         [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
         [[contacts]]\nname = \"ring\"\ngap = \"1 - hypot(x, y)\"\n[initial]\nx = 1\ny_dot = 5\n"
    ))
}

/// A pendulum of length 1 held by a joint.
fn pendulum(projection: &str) -> Scene {
    scene(&format!(
        "title = \"pendulum\"\nprojection = \"{projection}\"\nstep = 2e-3\nuntil = 4\n\
         [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
         [[joints]]\nname = \"rod\"\nequation = \"x^2 + y^2 - 1\"\n[initial]\nx = 1\n"
    ))
}

#[test]
fn corrected_runs_are_certified_and_accepted() {
    let scenes = [
        ring("moreau-jean", "combined"),
        ring("moreau", "combined"),
        ring("sweeping-process", "combined"),
        pendulum("combined"),
    ];
    for scene in scenes {
        let (summary, motion) = run(&scene);
        let name = &scene.settings.scheme;
        assert!(summary.certified, "{name}: {:?}", summary.positions);
        assert!(summary.positions.drift.value == 0.0, "{name}");
        assert!(summary.positions.joint.value < 1e-13, "{name}");
        let said = summary.warnings.join("\n");
        assert!(!said.contains("drift"), "{name}: {said}");
        let report = scene.verify(&motion, None).expect("a formulation");
        // The first chord of a sweeping process turns the tangent it starts with, which is work of the order h^2.
        let first = |v: &Violation| v.line == Line::Dissipation && v.t <= 1e-3 && v.size < 1e-5;
        let mut others = report.violations.iter().filter(|v| !first(v));
        assert!(others.next().is_none(), "{name}: {:?}", report.violations);
        // The account of the ring has no impact and no loss.
        if summary.positions.joint.value == 0.0 {
            let kinetic = summary.energy.kinetic;
            assert!((kinetic - 12.5).abs() < 1e-3, "{name}: {kinetic} J");
            assert_eq!(summary.event_counts.impacts, 0, "{name}");
        }
    }
}

#[test]
fn bare_runs_that_drift_say_so_and_are_refused() {
    let scenes = [
        (ring("moreau-jean", "none"), Line::NonPenetration, "ring"),
        (pendulum("none"), Line::Joints, "rod"),
    ];
    for (scene, line, name) in scenes {
        let (summary, motion) = run(&scene);
        assert!(!summary.certified, "{name}");
        assert!(!summary.positions.hold, "{name}");
        let worst = match line {
            Line::Joints => &summary.positions.joint,
            _ => &summary.positions.penetration,
        };
        assert!(worst.value > 1e-3 && worst.t > 0.0, "{name}: {worst:?}");
        assert_eq!(worst.contact, name);
        let said = summary.warnings.join("\n");
        let cure = "projection = \"combined\" corrects positions";
        assert!(said.contains(cure), "{name}: {said}");
        let report = scene.verify(&motion, None).expect("a formulation");
        let found = report.violations.iter().find(|v| v.line == line);
        let constraint = found.and_then(|v| v.constraint.as_deref());
        assert_eq!(constraint, Some(name), "{:?}", report.violations);
    }
}

#[test]
fn a_thin_obstacle_is_not_passed_in_silence() {
    // A plate of 2 cm at 30 m/s with steps of 1 ms: three centimetres per step.
    let text = |step: f64| {
        format!(
            "title = \"plate\"\nstep = {step}\nuntil = 0.1\n[system]\ncoordinates = [\"x\"]\n\
             kinetic_energy = \"x'^2/2\"\n[[contacts]]\nname = \"plate\"\ngap = \"(x - 1)^2 - 0.0001\"\n\
             [initial]\nx_dot = 30\n"
        )
    };
    let (summary, _) = run(&scene(&text(1e-3)));
    if summary.coordinates.get("x").expect("x") > 1.0 {
        assert!(summary.positions.crossings > 0, "{:?}", summary.positions);
        assert_eq!(summary.positions.first_crossing.contact, "plate");
        assert!(!summary.certified);
        let said = summary.warnings.join("\n");
        assert!(said.contains("went through an obstacle"), "{said}");
    } else {
        let gap = summary.contacts[0].gap;
        assert!(gap > -1e-12, "stopped at {gap}");
    }
    // Steps shorter than its thickness meet it.
    let (summary, _) = run(&scene(&text(1e-4)));
    assert!(summary.certified, "{:?}", summary.warnings);
    let x = summary.coordinates.get("x").expect("x");
    assert!((x - 0.99).abs() < 1e-12, "{x}");
}

/// A rubber block that slides in a round bowl.
fn block_in_a_bowl(projection: &str) -> Scene {
    scene(&format!(
        "title = \"bowl\"\nimpact = \"fremond\"\nprojection = \"{projection}\"\nstep = 5e-4\nuntil = 0.6\n\
         [elastic]\ngravity = [0, -9.81]\n\
         [[elastic.meshes]]\nshape = \"rectangle\"\nsize = [0.4, 0.2]\ncells = [6, 3]\nat = [-0.2, -0.9]\nvelocity = [\"1.5\", \"0\"]\n\
         [[elastic.regions]]\nmodel = \"plane-strain\"\nyoung = 1e5\npoisson = 0.3\ndensity = 100\n\
         [[contacts]]\nname = \"bowl\"\nsurface = \"bottom\"\nobstacle = {{ sphere = 1, side = \"inside\" }}\nfriction = 0.1\n"
    ))
}

#[test]
fn nodes_of_a_mesh_stay_on_a_curved_obstacle() {
    let (bare, _) = run(&block_in_a_bowl("none"));
    assert!(
        !bare.certified && !bare.positions.hold,
        "{:?}",
        bare.positions
    );
    let scene = block_in_a_bowl("combined");
    let (summary, motion) = run(&scene);
    assert!(summary.certified, "{:?}", summary.positions);
    assert!(summary.positions.penetration.value < 1e-12);
    assert!(summary.energy.closed);
    // The energy that the projection moves is a term of the account of the body, too.
    let body = &summary.bodies[0];
    assert!(
        body.projection != 0.0 && body.worst_imbalance < 1e-12,
        "{body:?}"
    );
    let report = scene.verify(&motion, None).expect("a formulation");
    assert!(report.accepted(), "{:?}", report.violations);
}

/// A particle comes to rest at the origin, in the edge of a wedge: impulses hold it there, and what its place is corrected by is rounding of the way that it
/// came, though its coordinates are zero.
#[test]
fn a_particle_at_rest_in_a_wedge_at_the_origin_is_held_by_impulses() {
    for (metre, kilogram, scale) in [(1.0, 1.0, 1.0), (1e3, 1e-3, 100.0), (1e-3, 1.0, 0.01)] {
        let text = format!(
            r#"
title = "Wedge at the origin"
until = 0.6
step = 0.001
scheme = "sweeping-process"
impact = "inelastic"
[system]
coordinates = ["x", "y"]
kinetic_energy = "0.0017*{kilogram}*(x'^2 + y'^2)/2"
potential = "0.0017*{kilogram}*9.81*{metre}*y"
forces = {{ x = "{kilogram}*(0.0049050000000000005*{metre}*sin(10.0*t) - 0.0003*x')" }}
[[contacts]]
name = "floor"
gap = "{scale}*0.01*(y - {metre}*0.02*sin(8.0*t))"
point = ["x", "y"]
normal = [0.0, 1.0]
restitution = 0.8
[[contacts]]
name = "steep"
gap = "{scale}*0.01*(-0.9992137263973201*x + 0.0396475595614871*y)"
point = ["x", "y"]
normal = [-0.9992137263973201, 0.0396475595614871]
friction = 1.2
restitution = 0.4
[[contacts]]
name = "slope"
gap = "{scale}*(0.680101245075308*x + 0.7331182008701024*y)"
point = ["x", "y"]
normal = [0.680101245075308, 0.7331182008701024]
friction = 0.2
[initial]
y = {}
x_dot = {}
y_dot = {}
"#,
            0.3 * metre,
            -0.49281971539648994 * metre,
            0.37715988909051046 * metre
        );
        let scene = Scene::parse(SourceText::new("wedge", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let (v, lean) = (&run.state().v, run.positions().lean.value);
        assert!(v.iter().all(|v| v.abs() < 1e-12 * metre), "{metre}: {v:?}");
        assert_eq!(lean, 0.0, "{metre} {kilogram} {scale}");
    }
}

/// A particle that a table carries up and down: each step answers its weight and the acceleration of the table, and its events are those of the motion, also
/// where the acceleration of the table is none and changes its sign.
#[test]
fn a_particle_on_a_table_that_goes_up_and_down_never_leaves_it() {
    for (scheme, restitution) in [("moreau", 0.0), ("sweeping-process", 0.0), ("moreau", 0.5)] {
        for metre in [1.0, 1e3] {
            let (a, w, h) = (0.1 * metre, 2.0, 1e-3);
            let text = format!(
                r#"
title = "Table"
scheme = "{scheme}"
step = {h}
until = 4
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*{metre}*y"
forces = {{ x = "4.7*{metre}" }}
[[contacts]]
name = "table"
gap = "y - {a}*sin({w}*t)"
point = ["x", "y"]
friction = 0.5
restitution = {restitution}
[initial]
y_dot = {}
"#,
                a * w
            );
            let scene =
                Scene::parse(SourceText::new("table", text)).unwrap_or_else(|e| panic!("{e}"));
            let mut run = scene.simulation().expect("valid");
            run.run_until(scene.settings.until, |record| {
                // The first step closes the contact.
                if record.step > 3 {
                    let (t, p) = (record.t, record.impulses[0]);
                    let weight = h * (9.81 * metre - a * w * w * (w * t).sin());
                    // Of the first order: the table turns within a step.
                    let least = 2.0 * h * h * a * w * w * w;
                    assert!(
                        (p - weight).abs() <= least,
                        "{scheme} {metre} {t}: {p} {weight}"
                    );
                }
                ControlFlow::Continue(())
            });
            // What approached at the start slid first.
            let false_event = run.events().events.iter().find(|event| {
                event.t > 0.02 && matches!(event.kind, EventKind::Slip | EventKind::LiftOff)
            });
            assert_eq!(false_event, None, "{scheme} {restitution} {metre}");
        }
    }
}

/// A particle that friction stops on a slope that turns: what its normal turned before it stopped does not lift it.
#[test]
fn a_particle_that_friction_stops_on_a_curved_slope_stays_there() {
    for metre in [1.0, 1e3] {
        let text = format!(
            r#"
title = "Curved slope"
scheme = "moreau"
law = "argmin"
step = 1e-3
until = 1
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*{metre}*y"
forces = {{ x = "{metre}*2.488*sin(7*t)" }}
[[contacts]]
name = "slope"
gap = "y + 0.2*x - 0.2/{metre}*x^2"
point = ["x", "y"]
friction = 0.5
[initial]
x = {}
y = {}
"#,
            0.5 * metre,
            -0.04 * metre
        );
        let scene = Scene::parse(SourceText::new("slope", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        let mut stopped = None;
        run.run_until(scene.settings.until, |record| {
            if record.t > 0.06 {
                let x = *stopped.get_or_insert(record.q[0]);
                assert!(
                    (record.q[0] - x).abs() < 1e-9 * metre,
                    "{metre} {}",
                    record.t
                );
                assert_eq!(
                    record.contacts[0].mode,
                    ContactMode::Stick,
                    "{metre} {}",
                    record.t
                );
            }
            ControlFlow::Continue(())
        });
        assert!(stopped.is_some());
    }
}

/// A particle that comes to rest below a curved floor is brought back onto it, and not in one unit only: rounding does not tell that it bounces.
#[test]
fn what_comes_to_rest_below_a_curved_floor_does_so_in_every_unit() {
    let run = |metre: f64, kilogram: f64| {
        let text = format!(
            r#"
title = "Curved floor"
scheme = "sweeping-process"
impact = "newton"
step = 0.001
until = 1.2
[system]
coordinates = ["x", "y"]
kinetic_energy = "2.466*{kilogram}*(x'^2 + y'^2)/2"
potential = "2.466*9.81*{kilogram}*{metre}*y"
[[contacts]]
name = "floor"
gap = "y - 0.893/{metre}*x^2"
point = ["x", "y"]
restitution = 0.3
friction = 0.3
[[contacts]]
name = "wall"
gap = "x + 0.5*{metre}"
point = ["x", "y"]
restitution = 0.7
friction = 0.3
[initial]
x = {}
y = {}
x_dot = {}
y_dot = {}
"#,
            0.07 * metre,
            0.1693757 * metre,
            -1.981 * metre,
            0.369 * metre
        );
        let scene = Scene::parse(SourceText::new("floor", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        let mut places = Vec::new();
        run.run_until(scene.settings.until, |record| {
            places.extend(record.q.iter().map(|q| q / metre));
            ControlFlow::Continue(())
        });
        let gap = run.record().contacts[0].gap / metre;
        assert!(gap.abs() < 1e-12, "{metre}: {gap}");
        places
    };
    let one = run(1.0, 1.0);
    for (metre, kilogram) in [
        (1e3, 1e3),
        (1e3, 1.0),
        (1.0, 1e3),
        (1e-3, 1e-3),
        (39.37, 2.2046),
    ] {
        let other = run(metre, kilogram);
        let pairs = one.iter().zip(&other);
        let off = pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-11, "{metre} {kilogram}: {off}");
    }
}

/// Balls that fall together touch all the time: the rounding of their gap is no lift-off, and what is told of one led to a gap.
#[test]
fn a_lift_off_is_no_rounding_of_a_gap() {
    for (metre, kilogram) in [(1.0, 1.0), (1e3, 1e3), (1e-3, 1.0)] {
        let text = format!(
            r#"
title = "Two balls above each other"
scheme = "sweeping-process"
impact = "newton"
law = "frictionless"
step = 0.002
until = 2
[system]
coordinates = ["a", "b"]
kinetic_energy = "{kilogram}*(1.538*a'^2 + 2.997*b'^2)/2"
potential = "9.81*{metre}*{kilogram}*(1.538*a + 2.997*b)"
[[contacts]]
name = "floor"
gap = "a"
restitution = 1
[[contacts]]
name = "ball"
gap = "b - a - 0.1*{metre}"
restitution = 0.5
[initial]
a = {}
b = {}
a_dot = {}
"#,
            0.262 * metre,
            0.3773 * metre,
            0.702 * metre
        );
        let scene = Scene::parse(SourceText::new("balls", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("valid");
        let mut gaps = Vec::new();
        run.run_until(scene.settings.until, |record| {
            let contacts = record.contacts.iter();
            gaps.push((
                record.t,
                contacts
                    .map(|c| (c.gap / metre, c.mode))
                    .collect::<Vec<_>>(),
            ));
            ControlFlow::Continue(())
        });
        let mut told = 0;
        for event in &run.events().events {
            if event.kind == EventKind::LiftOff {
                let c = event.contact.constraint();
                let after = gaps.iter().skip_while(|(t, _)| *t < event.t);
                let open = after.take_while(|(_, contacts)| contacts[c].1 == ContactMode::Open);
                let widest = open.fold(0.0, |m: f64, (_, contacts)| m.max(contacts[c].0));
                assert!(widest > 1e-9, "{metre} {c} {}: {widest}", event.t);
                told += 1;
            }
        }
        assert!(told > 10, "{metre}: {told}");
    }
}

/// A heavy ball rests on a light particle at the bottom of a bowl, in steps that grow: impulses hold both by their weights, and what positions are corrected by
/// is what the impulses are off by.
#[test]
fn a_heavy_ball_on_a_light_particle_in_a_bowl_is_held_by_impulses() {
    for (metre, kilogram) in [(1.0, 1.0), (1e3, 1e3), (1e-3, 1.0)] {
        let (light, heavy, g) = (0.0207 * kilogram, 91.1 * kilogram, 9.81 * metre);
        let text = format!(
            r#"
title = "Ball on a particle in a bowl"
scheme = "moreau"
law = "frictionless"
impact = "moreau"
step = 1e-3
until = 4
adaptive = 1e-6
[system]
coordinates = ["x1", "y1", "z1", "x2", "y2", "z2"]
kinetic_energy = "({light}*(x1'^2 + y1'^2 + z1'^2) + {heavy}*(x2'^2 + y2'^2 + z2'^2))/2"
potential = "{g}*({light}*y1 + {heavy}*y2)"
[[contacts]]
name = "bowl"
gap = "y1 - 1.599/{metre}*(x1^2 + z1^2)"
[[contacts]]
name = "ball"
gap = "y2 - y1 - 0.239*{metre}"
restitution = 0.9
[initial]
y1 = {}
y2 = {}
"#,
            1e-12 * metre,
            0.23900000000100027 * metre
        );
        let scene = scene(&text);
        let mut run = scene.simulation().expect("valid");
        run.run_until(scene.settings.until, |record| {
            let held = [(light + heavy) * g, heavy * g];
            // The first steps close the contacts, the last one may open them.
            if record.t > 0.01 && record.t < 3.6 {
                for (p, weight) in record.impulses.iter().zip(held) {
                    let off = (p / (record.h * weight) - 1.0).abs();
                    assert!(off < 1e-6, "{metre} {}: {off}", record.t);
                }
            }
            ControlFlow::Continue(())
        });
        assert_eq!(run.positions().lean.value, 0.0, "{metre} {kilogram}");
    }
}
