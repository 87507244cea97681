//! Worlds are judged: their runs are accepted, and a run that was changed anywhere is refused.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::worlds::Random;
use stickslip::internals::verify_world::{WorldNode, verify_world};
use stickslip::records::{EnergyEntry, TrajectoryReader};
use stickslip::scene::{Changes, Scene, SceneRun, SourceText, find_in_gallery, gallery};
use stickslip::simulation::verify::{Line, Verification};

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).unwrap();
    let source = changes.apply(&entry.source()).unwrap();
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

/// The nodes of the first steps of a scene.
pub fn nodes(scene: &Scene, steps: u64) -> Vec<WorldNode> {
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

pub fn judge(scene: &Scene, nodes: &[WorldNode]) -> Verification {
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
                .push(stickslip::internals::verify_world::NodeContact {
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
    add_to_number(path, from_end, 1e-3);
}

fn add_to_number(path: &std::path::Path, from_end: usize, by: f64) {
    let mut bytes = fs::read(path).unwrap();
    let rows = TrajectoryReader::open(path).unwrap();
    let width = 8 * rows.columns().len();
    let at = bytes.len() - (rows.rows() as usize / 2) * width - 8 * from_end;
    let number = f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    bytes[at..at + 8].copy_from_slice(&(number + by).to_le_bytes());
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

/// Contacts belong to the step whose number they bear, whoever wrote the file.
#[test]
fn contacts_of_another_step_are_refused_without_a_digest() {
    let scene = falling(&Changes::new().key("until", "0.1"));
    let path = folder("steps");
    let mut run = SceneRun::start("falling", scene.clone(), &path).unwrap();
    let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
    run.finish(end).unwrap();
    fs::remove_file(path.join("checkpoint.json")).unwrap();
    assert!(scene.verify_folder(&path, None).unwrap().0.accepted());
    let file = path.join("contacts.npy");
    let columns = TrajectoryReader::open(&file).unwrap().columns().len();
    add_to_number(&file, columns, 1.0);
    assert!(!scene.verify_folder(&path, None).unwrap().0.accepted());
    fs::remove_dir_all(&path).unwrap();
}

#[test]
fn numbers_that_no_law_speaks_of_are_those_that_the_run_wrote() {
    let scene = falling(&Changes::new().key("until", "0.1"));
    for (name, column) in [("trajectory.npy", "residual"), ("contacts.npy", "step")] {
        let path = folder(name);
        let mut run = SceneRun::start("falling", scene.clone(), &path).unwrap();
        let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
        run.finish(end).unwrap();
        assert!(scene.verify_folder(&path, None).unwrap().0.accepted());
        let file = path.join(name);
        let reader = TrajectoryReader::open(&file).unwrap();
        let columns = reader.columns();
        let place = columns.iter().position(|c| c == column).unwrap();
        scratch(&file, columns.len() - place);
        let (report, _) = scene.verify_folder(&path, None).unwrap();
        let found: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
        assert!(found.contains(&Line::Edited), "{name}: {found:?}");
        if column == "residual" {
            assert_eq!(found, [Line::Edited]);
        }
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

/// Two capsules whose nearest points are an end and the side of the other.
const CAPSULES: &str = r#"
title="two capsules"
step=0.002
until=0.02
[world]
dimension=2
[[materials]]
name="m"
density=1000
restitution=0.9
[[bodies]]
name="floor"
fixed=true
shape={ half_plane=[0,1] }
[[bodies]]
name="b0"
shape={ capsule={radius=0.11,length=0.055} }
position=[-0.0077, 0.13]
[[bodies]]
name="b1"
shape={ capsule={radius=0.13,length=0.098} }
position=[0.0042, 0.37]
spin=1.3
"#;

/// The rims of two cylinders come near to each other, and a point of a side lies above one of a face.
const CYLINDERS: &str = r#"
title="cylinder on cylinder"
step=0.002
until=0.3
[world]
gravity=[2, 0, -9.8]
[[materials]]
name="m"
density=1000
[[bodies]]
name="floor"
fixed=true
shape={ half_space=[0,0,1] }
[[bodies]]
name="b0"
shape={ cylinder={radius=0.14,length=0.19} }
position=[0.022, -0.019, 0.2]
[[bodies]]
name="b1"
shape={ cylinder={radius=0.081,length=0.13} }
position=[0.018, 0.022, 0.38]
velocity=[0.91, 0.72, 0]
"#;

/// The far end of a capsule that is larger than what it leans on.
const STACK: &str = r#"
title="a rectangle under a thick capsule"
step=0.002
until=0.3
[world]
dimension=2
gravity=[2000.0, -9810.0]
[[materials]]
name="m"
density=1.0
friction=0.5
restitution=0.9
impact="fremond"
[[bodies]]
name="floor"
fixed=true
shape={ half_plane=[0,1] }
[[bodies]]
name="b0"
shape={ polygon=[[-52.7506653965886,-142.568581273685],[52.7506653965886,-142.568581273685],[0,142.568581273685]] }
position=[10.995774167498002, 242.568581273685]
spin=1.9644634404608663
[[bodies]]
name="b1"
shape={ rectangle=[104.40670531018706,100.44837117762611] }
position=[18.170886933927523, 535.3613481361831]
[[bodies]]
name="b2"
shape={ capsule={radius=121.21730113564995,length=88.30115323680955} }
position=[-26.301628356635153, 706.802834860646]
[[bodies]]
name="b3"
shape={ capsule={radius=73.53396687269323,length=83.37471186599421} }
position=[-5.8597560625667615, 921.5541028689892]
[[bodies]]
name="b4"
shape={ capsule={radius=94.22270358723311,length=98.54592793515899} }
position=[27.205163263110453, 1089.3107733289155]
velocity=[-198.18626206552725, 0]
"#;

/// Two bodies that fall side by side: what is between them is rounding of their speeds.
const TOGETHER: &str = r#"
title="ball slides on a falling box"
step=0.002
until=0.1
[world]
[[materials]]
name="m"
density=1000
[[bodies]]
name="floor"
fixed=true
shape={ half_space=[0,0,1] }
[[bodies]]
name="b2"
shape={ box=[0.23,0.174,0.248] }
position=[0.0128, -0.0152, 0.649]
[[bodies]]
name="b3"
shape={ ball=0.15 }
position=[-0.0132, 0.0208, 0.923]
velocity=[-0.621, -0.253, 0]
spin=[2.43, -1.98, 2.28]
"#;

#[test]
fn contacts_that_are_left_out_or_lean_are_no_fault() {
    for (text, schemes) in [
        (ROCKING, ["moreau-jean", "moreau"]),
        (LEANING, ["moreau-jean", "moreau"]),
        (CAPSULES, ["moreau-jean", "moreau"]),
        (CYLINDERS, ["moreau-jean", "moreau"]),
        (STACK, ["moreau-jean", "moreau"]),
        (TOGETHER, ["moreau-jean", "moreau"]),
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

/// A shape of the plane: all points within a radius of the hull of some points.
struct Flat {
    points: Vec<[f64; 2]>,
    radius: f64,
    text: String,
}

impl Flat {
    fn random(random: &mut Random) -> Self {
        let mut size = || 0.2 + 0.15 * random.next();
        let (a, b) = (size(), size());
        let (points, radius, text) = match (random.next().abs() * 4.0) as usize {
            0 => (vec![[0.0, 0.0]], a, format!("disc = {a:?}")),
            1 => {
                let text = format!("capsule = {{ radius = {a:?}, length = {b:?} }}");
                (vec![[-0.5 * b, 0.0], [0.5 * b, 0.0]], a, text)
            }
            2 => {
                let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
                let corner = |[x, y]: [f64; 2]| [0.5 * a * x, 0.5 * b * y];
                let text = format!("rectangle = [{a:?}, {b:?}]");
                (corners.map(corner).to_vec(), 0.0, text)
            }
            _ => {
                // A triangle about its centre of mass, which is the place of the body.
                let (x, y) = (a * random.next(), b);
                let points = [
                    [-a, -y / 3.0],
                    [a - x / 2.0, -y / 3.0],
                    [x / 2.0, 2.0 * y / 3.0],
                ];
                let text = format!("polygon = {points:?}");
                (points.to_vec(), 0.0, text)
            }
        };
        Self {
            points,
            radius,
            text,
        }
    }

    /// The points of its core at a place.
    fn at(&self, [x, y, angle]: [f64; 3]) -> Vec<[f64; 2]> {
        let (s, c) = angle.sin_cos();
        let turned = |p: &[f64; 2]| [x + c * p[0] - s * p[1], y + s * p[0] + c * p[1]];
        self.points.iter().map(turned).collect()
    }
}

/// Distance of two flat cores: of each corner to each side; 0 where sides cross or a corner is inside.
fn core_distance(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let sides = |p: &[[f64; 2]]| -> Vec<[[f64; 2]; 2]> {
        let n = p.len();
        (0..n).map(|k| [p[k], p[(k + 1) % n]]).collect()
    };
    let turn = |[p, q]: [[f64; 2]; 2], x: [f64; 2]| {
        (q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0])
    };
    let to_side = |x: [f64; 2], [p, q]: [[f64; 2]; 2]| {
        let u = [q[0] - p[0], q[1] - p[1]];
        let square = u[0] * u[0] + u[1] * u[1];
        let along = (x[0] - p[0]) * u[0] + (x[1] - p[1]) * u[1];
        let s = if square > 0.0 {
            (along / square).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (x[0] - p[0] - s * u[0]).hypot(x[1] - p[1] - s * u[1])
    };
    let inside =
        |x: [f64; 2], p: &[[f64; 2]]| p.len() > 2 && sides(p).iter().all(|&s| turn(s, x) > 0.0);
    let cross = |s: [[f64; 2]; 2], t: [[f64; 2]; 2]| {
        turn(s, t[0]) * turn(s, t[1]) < 0.0 && turn(t, s[0]) * turn(t, s[1]) < 0.0
    };
    let (of_a, of_b) = (sides(a), sides(b));
    if a.iter().any(|&x| inside(x, b)) || b.iter().any(|&x| inside(x, a)) {
        return 0.0;
    }
    if of_a.iter().any(|&s| of_b.iter().any(|&t| cross(s, t))) {
        return 0.0;
    }
    let mut least = f64::INFINITY;
    for (corners, sides) in [(a, &of_b), (b, &of_a)] {
        for &x in corners {
            for &side in sides {
                least = least.min(to_side(x, side));
            }
        }
    }
    least
}

/// Shapes of the plane overlap where their distance says so, whatever their nearest features are.
#[test]
fn overlaps_in_the_plane_are_those_of_the_distance() {
    let mut random = Random(11);
    let (mut kinds, mut deep) = (std::collections::BTreeSet::new(), 0);
    for case in 0..400 {
        let shapes = [Flat::random(&mut random), Flat::random(&mut random)];
        let [first, second] = shapes.each_ref().map(|s| &s.text);
        let text = format!(
            "title = \"pair\"\nstep = 1e-3\nuntil = 1e-2\n[world]\ndimension = 2\ngravity = [0, 0]\n\
             [[materials]]\nname = \"m\"\ndensity = 1000\n[[bodies]]\nname = \"a\"\nshape = {{ {first} }}\n\
             [[bodies]]\nname = \"b\"\nshape = {{ {second} }}\nposition = [9, 0]\n"
        );
        let scene =
            Scene::parse(SourceText::new("pair.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let turn = [3.0 * random.next(), 3.0 * random.next()];
        let way = 3.2 * random.next();
        let poses = |distance: f64| {
            [
                [0.0, 0.0, turn[0]],
                [distance * way.cos(), distance * way.sin(), turn[1]],
            ]
        };
        let gap = |distance: f64| {
            let [p, q] = poses(distance);
            core_distance(&shapes[0].at(p), &shapes[1].at(q)) - shapes[0].radius - shapes[1].radius
        };
        // Where they touch on their way towards each other.
        let (mut near, mut far) = (0.0, 4.0);
        for _ in 0..60 {
            let middle = 0.5 * (near + far);
            if gap(middle) > 0.0 {
                far = middle;
            } else {
                near = middle;
            }
        }
        let kind = |s: &Flat| (s.points.len(), s.radius > 0.0);
        kinds.insert((kind(&shapes[0]), kind(&shapes[1])));
        for (moved, overlap) in [(1e-4, false), (-0.02, true)] {
            let distance = far + moved;
            let still = |t: f64, h: f64| WorldNode {
                t,
                h,
                q: poses(distance).concat(),
                v: vec![0.0; 6],
                ..WorldNode::default()
            };
            let report = judge(&scene, &[still(0.0, 0.0), still(1e-3, 1e-3)]);
            let found = report
                .violations
                .iter()
                .any(|v| v.line == Line::NonPenetration);
            // The least depth along many directions; where shapes graze each other it is small.
            let [p, q] = poses(distance);
            let (p, q) = (shapes[0].at(p), shapes[1].at(q));
            let reach = |points: &[[f64; 2]], n: [f64; 2]| {
                let heights = points.iter().map(|p| n[0] * p[0] + n[1] * p[1]);
                heights.fold(f64::NEG_INFINITY, f64::max)
            };
            let depths = (0..3600).map(|k| {
                let (s, c) = (std::f64::consts::TAU * f64::from(k) / 3600.0).sin_cos();
                reach(&p, [c, s]) + reach(&q, [-c, -s]) + shapes[0].radius + shapes[1].radius
            });
            if overlap && depths.fold(f64::INFINITY, f64::min) < 5e-3 {
                continue;
            }
            deep += usize::from(overlap);
            assert_eq!(
                found,
                overlap,
                "case {case}, gap {}: {first}, {second} at {:?}",
                gap(distance),
                poses(distance)
            );
        }
    }
    assert!(kinds.len() == 16 && deep > 300, "{kinds:?}, {deep}");
}

/// A disc beyond the end of a straight side touches the corner or the round end there: normals and gaps are exact however little it
/// is beyond.
#[test]
fn a_disc_beyond_the_end_of_a_side_touches_its_end() {
    for (shape, radius, end) in [
        ("capsule = { radius = 1, length = 2 }", 1.0, [1.0, 0.0]),
        ("rectangle = [2, 2]", 0.0, [1.0, 1.0]),
    ] {
        for lean in [1e-3f64, 2e-5, 1e-6, 1e-8, 1e-10] {
            let (distance, gap) = (radius + 2.7, 1e-6);
            let text = format!(
                "title = \"disc\"\nimpact = \"inelastic\"\nstep = 1e-3\nuntil = 2e-3\n[world]\ndimension = 2\n\
                 gravity = [0, -9.81]\n[[materials]]\nname = \"m\"\nfriction = 0.5\ndensity = 1\n[[bodies]]\nname = \"still\"\n\
                 fixed = true\nshape = {{ {shape} }}\n[[bodies]]\nname = \"disc\"\nshape = {{ disc = 2.7 }}\n\
                 position = [{}, {}]\n",
                end[0] + (distance + gap) * lean.sin(),
                end[1] + (distance + gap) * lean.cos()
            );
            let scene =
                Scene::parse(SourceText::new("disc.toml", text)).unwrap_or_else(|e| panic!("{e}"));
            let nodes = nodes(&scene, 2);
            let [contact] = nodes[1].contacts[..] else {
                panic!("{shape} {lean}: {:?}", nodes[1].contacts);
            };
            let off = [
                contact.normal[0] + lean.sin(),
                contact.normal[1] + lean.cos(),
            ];
            let off = off[0].hypot(off[1]).max((contact.gap - gap).abs());
            assert!(off < 2e-14, "{shape} {lean}: {off:e} {contact:?}");
            let report = judge(&scene, &nodes);
            assert!(report.accepted(), "{shape} {lean}: {:?}", report.violations);
        }
    }
}

/// Sums that a world asks to record are those of its bodies and contacts, in the plane and in space, of all steps and of some.
#[test]
fn monitors_are_judged_by_bodies_and_contacts() {
    let sums = "\n[[monitors]]\nname = \"force\"\nforce = [\"ball\", \"plate\"]\n[[monitors]]\nname = \"touching\"\n\
        contacts = [\"ball\", \"plate\"]\n[[monitors]]\nname = \"momentum\"\nmomentum = \"ball\"\n[[monitors]]\nname = \"energy\"\n\
        energy = \"ball\"\n";
    for (name, every, line) in [
        ("monitors", 1, Line::Monitor),
        ("thinned-monitors", 4, Line::KeptSteps),
    ] {
        let text = FALLING.replace("until = 0.6", &format!("until = 0.4\nevery = {every}"));
        let source = SourceText::new("scene.toml", text + sums);
        let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
        let path = folder(name);
        let mut run = SceneRun::start(name, scene.clone(), &path).unwrap();
        let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
        run.finish(end).unwrap();
        // Nothing tells what the file was.
        fs::remove_file(path.join("checkpoint.json")).unwrap();
        let (report, _) = scene.verify_folder(&path, None).unwrap();
        assert!(report.accepted(), "{name}: {:?}", report.violations);
        let file = path.join("trajectory.npy");
        let original = fs::read(&file).unwrap();
        let columns = TrajectoryReader::open(&file).unwrap().columns().to_vec();
        let residual = columns.iter().position(|c| c == "residual").unwrap();
        assert_eq!(columns.len() - residual - 1, 12, "{columns:?}");
        for place in residual + 1..columns.len() {
            scratch(&file, columns.len() - place);
            let (report, _) = scene.verify_folder(&path, None).unwrap();
            let found: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
            assert_eq!(found, [line], "{name} {}", columns[place]);
            fs::write(&file, &original).unwrap();
        }
        fs::remove_dir_all(&path).unwrap();
    }
}
