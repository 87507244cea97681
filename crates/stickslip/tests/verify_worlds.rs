//! Worlds are judged: their runs are accepted, and a run that was changed anywhere is refused.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::worlds::Random;
use stickslip::records::{EnergyEntry, TrajectoryReader};
use stickslip::scene::{Changes, Scene, SceneRun, SourceText, find_in_gallery, gallery};
use stickslip::simulation::verify::world::{WorldNode, verify_world};
use stickslip::simulation::verify::{Line, Verification};

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).unwrap();
    let source = changes.apply(&entry.source()).unwrap();
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

/// The nodes of the first steps of a scene.
fn nodes(scene: &Scene, steps: u64) -> Vec<WorldNode> {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut nodes = vec![WorldNode::default()];
    nodes[0].read(run.record());
    run.run_until(scene.settings.until, |record| {
        let mut node = WorldNode::default();
        node.read(record);
        nodes.push(node);
        if record.step < steps {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    nodes
}

fn judge(scene: &Scene, nodes: &[WorldNode]) -> Verification {
    let settings = scene.world_judge_settings();
    verify_world(scene.world().unwrap(), nodes, &settings).unwrap()
}

#[test]
fn worlds_of_the_gallery_are_accepted() {
    let mut refused = Vec::new();
    for entry in gallery().iter().filter(|e| e.text.contains("[world]")) {
        let scene = scene(entry.name, &Changes::new());
        let small = scene.world().unwrap().bodies.len() < 300;
        let nodes = nodes(&scene, if small { 15 } else { 2 });
        let report = judge(&scene, &nodes);
        assert_eq!(report.nodes, nodes.len());
        if !report.accepted() {
            refused.push((entry.name, report.violations));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    // A wall at rest: some of its contacts carry a ten-thousandth of what others do, as accurate as those are.
    let wall = scene("wall-and-ball", &Changes::new().key("scheme", "moreau"));
    let report = judge(&wall, &nodes(&wall, 52));
    assert!(report.accepted(), "{:?}", report.violations);
}

const FALLING: &str = r#"
title = "Boxes, balls and a capsule fall on a moving plate"
step = 2e-3
until = 0.6
[world]
dimension = 3
[[materials]]
name = "stone"
density = 1000
friction = 0.5
restitution = 0.3
[[materials]]
name = "felt"
density = 500
friction = 0.4
[[pairs]]
between = ["stone", "felt"]
friction = 0.6
[[bodies]]
name = "plate"
material = "felt"
shape = { box = [4, 4, 0.2] }
motion = { position = ["0.05*sin(8*t)", 0, -0.1] }
[[bodies]]
name = "brick"
material = "stone"
shape = { box = [0.2, 0.15, 0.1] }
position = [0, 0, 0.06]
rotation = [0.05, 0.02, 0.4]
[[bodies]]
name = "cushion"
material = "felt"
shape = { box = [0.2, 0.2, 0.1] }
position = [0.02, 0.01, 0.22]
spin = [0.5, 1, 2]
[[bodies]]
name = "ball"
material = "stone"
shape = { ball = 0.06 }
position = [0.3, 0, 0.1]
velocity = [-0.5, 0.1, 0]
[[bodies]]
name = "rod"
material = "felt"
shape = { capsule = { radius = 0.03, length = 0.2 } }
position = [-0.25, 0.1, 0.1]
rotation = [0.3, 0.9, 0]
force = ["0.2*sin(20*t)", 0, 0]
torque = [0, 0, "0.01*cos(9*t)"]
"#;

fn falling(changes: &Changes) -> Scene {
    let source = changes
        .apply(&SourceText::new("falling.toml", FALLING))
        .unwrap();
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_scheme_is_judged_where_it_puts_its_kick() {
    for changes in [
        Changes::new(),
        Changes::new().key("theta", "0.5"),
        Changes::new().key("theta", "0.75"),
        Changes::new().key("scheme", "moreau"),
    ] {
        let scene = falling(&changes);
        let nodes = nodes(&scene, 300);
        let report = judge(&scene, &nodes);
        assert!(report.accepted(), "{changes:?}: {report:#?}");
        assert!(nodes.iter().map(|n| n.contacts.len()).sum::<usize>() > 300);
        // The kick of another scheme is elsewhere.
        let mut settings = scene.world_judge_settings();
        settings.theta = if settings.theta == 0.75 { 1.0 } else { 0.75 };
        let other = verify_world(scene.world().unwrap(), nodes.as_slice(), &settings).unwrap();
        assert!(!other.accepted());
    }
}

/// Changes one recorded number of a loaded contact or of a body by a small part; says what.
fn perturb(nodes: &mut [WorldNode], random: &mut Random, what: usize) -> String {
    let loaded = |n: &WorldNode| {
        let strong = n
            .contacts
            .iter()
            .position(|c| c.impulse.iter().any(|p| p.abs() > 1e-3));
        strong.filter(|_| n.t > 0.0)
    };
    let last = nodes.len() - 1;
    let mut at = 1 + (random.next().abs() * 0.99 * (last - 1) as f64) as usize;
    while loaded(&nodes[at]).is_none() {
        at = if at == last { 1 } else { at + 1 };
    }
    let k = loaded(&nodes[at]).unwrap();
    let node = &mut nodes[at];
    let axis = (random.next().abs() * 2.99) as usize;
    let sign = if random.next() > 0.0 { 1.0 } else { -1.0 };
    let bodies = node.v.len() / 6;
    let body = 1 + (random.next().abs() * 0.99 * (bodies - 1) as f64) as usize;
    let contact = &mut node.contacts[k];
    let name = match what {
        0 => {
            node.q[7 * body + axis] += 1e-7 * sign;
            "position"
        }
        1 => {
            // A rotation that stays one.
            let q = &mut node.q[7 * body + 3..7 * body + 7];
            q[axis + 1] += 1e-7 * sign;
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            q.iter_mut().for_each(|x| *x /= norm);
            "rotation"
        }
        2 => {
            node.v[6 * body + axis] += 1e-6 * sign;
            "velocity"
        }
        3 => {
            node.v[6 * body + 3 + axis] += 1e-5 * sign;
            "spin"
        }
        4 => {
            contact.impulse[axis] += 1e-6 * sign;
            "impulse"
        }
        5 => {
            contact.velocity[axis] += 1e-6 * sign;
            "velocity of a contact"
        }
        6 => {
            contact.gap += 1e-4 * sign;
            "gap"
        }
        7 => {
            contact.place[axis] += 1e-4 * sign;
            "place"
        }
        8 => {
            // The normal of the deepest point of the pair leans over.
            let bodies = contact.bodies;
            let own = node.contacts.iter_mut().filter(|c| c.bodies == bodies);
            let contact = own.min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
            let other = (axis + 1) % 3;
            let (s, c) = (1e-3 * sign).sin_cos();
            let n = contact.normal;
            contact.normal[axis] = c * n[axis] - s * n[other];
            contact.normal[other] = s * n[axis] + c * n[other];
            if n[axis].hypot(n[other]) < 0.3 {
                contact.normal = [n[1], n[2], n[0]];
            }
            "normal"
        }
        9 => {
            contact.mode = (contact.mode + 1) % 4;
            "mode"
        }
        10 => {
            let other = (1..bodies).find(|b| !contact.bodies.contains(b)).unwrap();
            contact.bodies = [contact.bodies[0].min(other), contact.bodies[0].max(other)];
            "partner"
        }
        11 => {
            node.contacts.remove(k);
            "a contact left out"
        }
        12 => {
            node.kinetic *= 1.0 + 1e-6 * sign;
            "kinetic energy"
        }
        13 => {
            node.potential += 1e-5 * sign;
            "potential energy"
        }
        14 => {
            let EnergyEntry {
                contact_normal,
                contact_tangential,
                supports,
                ..
            } = &mut node.totals;
            *[contact_normal, contact_tangential, supports][axis] += 1e-5 * sign;
            "a work"
        }
        15 => {
            node.t += 1e-6 * sign;
            "time"
        }
        _ => {
            let copy = *contact;
            node.contacts
                .push(stickslip::simulation::verify::world::NodeContact {
                    index: copy.index + 7,
                    place: copy.place.map(|x| x + 0.01),
                    ..copy
                });
            "a contact more"
        }
    };
    format!("{name} at t = {}", node.t)
}

#[test]
fn whatever_is_changed_in_a_record_is_refused() {
    let scene = falling(&Changes::new());
    let nodes = nodes(&scene, 300);
    let mut random = Random(7);
    for what in 0..17 {
        for _ in 0..6 {
            let mut changed = nodes.clone();
            let told = perturb(&mut changed, &mut random, what);
            assert!(!judge(&scene, &changed).accepted(), "{told}");
        }
    }
}

#[test]
fn laws_are_told_apart() {
    let accepted = |scene: &Scene, nodes: &[WorldNode]| {
        let report = judge(scene, nodes);
        report.violations.iter().map(|v| v.line).collect::<Vec<_>>()
    };
    let scene = falling(&Changes::new());
    let nodes = nodes(&scene, 300);
    assert!(accepted(&scene, &nodes).is_empty());
    // The same motion under less friction and under another restitution.
    let less = FALLING.replace("friction = 0.6", "friction = 0.2");
    let less = Scene::parse(SourceText::new("less.toml", less)).unwrap();
    assert!(accepted(&less, &nodes).contains(&Line::FrictionCone));
    let higher = FALLING.replace("restitution = 0.3", "restitution = 0.5");
    let higher = Scene::parse(SourceText::new("higher.toml", higher)).unwrap();
    assert!(accepted(&higher, &nodes).contains(&Line::ImpactLaw));
    // Other shapes touch elsewhere, another mass answers otherwise.
    let wide = FALLING.replace("ball = 0.06", "ball = 0.061");
    let wide = Scene::parse(SourceText::new("wide.toml", wide)).unwrap();
    assert!(accepted(&wide, &nodes).contains(&Line::ContactGeometry));
    let heavy = FALLING.replace("density = 500", "density = 501");
    let heavy = Scene::parse(SourceText::new("heavy.toml", heavy)).unwrap();
    assert!(accepted(&heavy, &nodes).contains(&Line::EquationOfMotion));
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("stickslip-judged-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// Changes one number of a file: the last of a row about the middle.
fn scratch(path: &std::path::Path, from_end: usize) {
    let mut bytes = fs::read(path).unwrap();
    let rows = TrajectoryReader::open(path).unwrap();
    let width = 8 * rows.columns().len();
    let at = bytes.len() - (rows.rows() as usize / 2) * width - 8 * from_end;
    let number = f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    bytes[at..at + 8].copy_from_slice(&(number + 1e-3).to_le_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn folders_are_judged_from_their_files_or_by_making_the_run_again() {
    let whole = Changes::new().key("until", "0.2");
    // Under a law with rolling friction a record lacks the moments.
    let rolling = FALLING.replace(
        "restitution = 0.3",
        "restitution = 0.3\nrolling_friction = 0.01",
    );
    let thinned = FALLING.replace("until = 0.6", "until = 0.2\nevery = 7");
    let unrecorded = FALLING.to_string() + "\n[record]\nbodies = [\"ball\"]\ncontacts = \"none\"\n";
    let cases = [
        ("whole", FALLING.to_string(), false),
        ("rolling", rolling, true),
        ("thinned", thinned, true),
        ("unrecorded", unrecorded, true),
    ];
    for (name, text, again) in cases {
        let source = whole.apply(&SourceText::new("scene.toml", text)).unwrap();
        let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{name}: {e}"));
        let path = folder(name);
        let mut run = SceneRun::start(name, scene.clone(), &path).unwrap();
        let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
        run.finish(end).unwrap();
        let (report, computed) = scene.verify_folder(&path, None).unwrap();
        assert!(report.accepted(), "{name}: {report:#?}");
        assert_eq!(computed, again, "{name}");
        scratch(&path.join("trajectory.npy"), 20);
        let (report, _) = scene.verify_folder(&path, None).unwrap();
        assert!(!report.accepted(), "{name}");
        fs::remove_dir_all(&path).unwrap();
    }
}

/// Bodies that rock and bounce leave contacts that do not take part: under a restitution the nearest corner may not be
/// recorded.
const ROCKING: &str = r#"
title = "A triangle, a disc and a rectangle bounce on a slope"
until=1
step=1e-3
theta=0.5
[world]
dimension=2
[[materials]]
name="m"
density=10
friction=0.4
restitution=0.5
impact="fremond"
[[bodies]]
name="g"
material="m"
fixed=true
shape={half_plane=[0.1,1]}
[[bodies]]
name="p"
material="m"
shape={polygon=[[0,0],[0.3,0],[0.2,0.25]]}
position=[0,0.3]
rotation=0.4
spin=3
[[bodies]]
name="d"
material="m"
shape={disc=0.1}
position=[0.5,0.5]
velocity=[-2,0]
[[bodies]]
name="r"
material="m"
shape={rectangle=[0.2,0.1]}
position=[-0.4,0.2]
spin=-5
"#;

/// A capsule that leans on a rough surface: its far end is recorded where it would lie flat.
const LEANING: &str = r#"
title = "A ball and a capsule on a height field"
until=0.8
step=2e-3
[world]
[[materials]]
name="m"
density=1000
friction=0.5
rolling_friction=0.005
[[bodies]]
name="ground"
material="m"
fixed=true
shape={height_field={values=[[0,0.1,0],[0.1,-0.1,0.05],[0,0.2,0.1]],size=[2,2]}}
[[bodies]]
name="ball"
material="m"
shape={ball=0.1}
position=[0.3,0.2,0.6]
velocity=[-0.5,0.2,0]
spin=[10,0,3]
[[bodies]]
name="cap"
material="m"
shape={capsule={radius=0.05,length=0.2}}
position=[-0.3,-0.2,0.6]
"#;

#[test]
fn contacts_that_are_left_out_or_lean_are_no_fault() {
    for (text, schemes) in [
        (ROCKING, ["moreau-jean", "moreau"]),
        (LEANING, ["moreau-jean", "moreau"]),
    ] {
        for scheme in schemes {
            let source = SourceText::new("world", text);
            let source = Changes::new().key("scheme", scheme).apply(&source).unwrap();
            let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
            let nodes = nodes(&scene, u64::MAX);
            let report = judge(&scene, &nodes);
            assert!(
                report.accepted(),
                "{scheme}: {:?} of {text}",
                report.violations
            );
        }
    }
}
