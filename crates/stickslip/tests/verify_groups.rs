//! Runs, files of runs and worlds judged by the bodies that act on each other, by one limit whatever the solver was asked for, and balances that no
//! cutting of intervals hides.

use stickslip::scene::{Changes, Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, MotionNode, Verification};

use crate::verify_worlds::{judge as judge_world, nodes as world_nodes};

const G: f64 = 9.0;
const MU: f64 = 0.4;
const STEP: f64 = 2e-3;
const SPEED: f64 = 0.7;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("groups.toml", text)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn judge(scene: &Scene, motion: &Motion) -> Verification {
    scene.verify(motion, None).unwrap_or_else(|e| panic!("{e}"))
}

fn has(report: &Verification, line: Line) -> bool {
    report.violations.iter().any(|v| v.line == line)
}

fn run_of(nodes: Vec<MotionNode>) -> Motion {
    let rule = r#"{"nodes": [], "discretisation": {"theta": {"theta": 0.5, "opening": "mean-velocity", "contact_gap": 0}}}"#;
    Motion {
        nodes,
        ..Motion::from_json(rule).expect("a motion")
    }
}

/// A body of `heavy` kg that moves along the floor with `fast` m/s without friction and one of 2 g that slides there, each with `tangents` tangents, and
/// what else the scene has.
fn sliding_beside(heavy: f64, fast: f64, tangents: usize, more: &str) -> Scene {
    let names = |letters: [&str; 3]| -> Vec<String> {
        let own = letters.iter().take(tangents).chain([&letters[2]]);
        own.map(|s| s.to_string()).collect()
    };
    let (large, small) = (names(["X", "Y", "Z"]), names(["x", "y", "z"]));
    let all = [large.clone(), small.clone()].concat();
    let squares = |names: &[String]| -> String {
        let squares: Vec<String> = names.iter().map(|q| format!("{q}'^2")).collect();
        squares.join(" + ")
    };
    let direction = [[1.0, 0.0], [0.6, 0.8]][tangents - 1];
    let start: String = (0..tangents)
        .map(|k| format!("{}_dot = {:?}\n", small[k], SPEED * direction[k]))
        .collect();
    parse(&format!(
        "title = \"beside\"\nuntil = 1\nstep = {STEP}\n[system]\ncoordinates = {all:?}\n\
         kinetic_energy = \"{heavy:?}/2*({}) + 1e-3*({})\"\npotential = \"{G}*({heavy:?}*Z + 2e-3*z)\"\n\
         [[contacts]]\nname = \"heavy\"\ngap = \"Z\"\npoint = {large:?}\nfriction = 0\n\
         [[contacts]]\nname = \"light\"\ngap = \"z\"\npoint = {small:?}\nfriction = {MU}\n{more}\
         [initial]\nX_dot = {fast:?}\n{start}",
        squares(&large),
        squares(&small),
    ))
}

/// The run of that scene by the midpoint rule in which the friction of the light body is `mu` times its weight.
fn slide(heavy: f64, fast: f64, tangents: usize, (mu, rows): (f64, usize)) -> Motion {
    let direction = [[1.0, 0.0], [0.6, 0.8]][tangents - 1];
    let (n, h, m) = (tangents + 1, STEP, 2e-3);
    let mut node = MotionNode {
        q: vec![0.0; 2 * n],
        v_right: vec![0.0; 2 * n],
        ..MotionNode::default()
    };
    node.v_right[0] = fast;
    (0..tangents).for_each(|k| node.v_right[n + k] = SPEED * direction[k]);
    node.v_left = node.v_right.clone();
    let mut nodes = vec![node];
    for step in 1..=60 {
        let last = nodes[step - 1].clone();
        let mut node = last.clone();
        node.t = step as f64 * h;
        (node.v_left[n - 1], node.v_left[2 * n - 1]) = (-G * h, -G * h);
        (0..tangents).for_each(|k| node.v_left[n + k] = last.v_right[n + k]);
        node.atom = vec![0.0; rows];
        // The heavy contact has tangents too where friction is no law without them.
        let of_light = rows.min(2 * n) - n;
        node.atom[0] = heavy * G * h;
        node.atom[of_light] = m * G * h;
        for k in 0..tangents {
            node.v_right[n + k] -= mu * G * h * direction[k];
            node.atom[of_light + 1 + k] = -mu * m * G * h * direction[k];
        }
        for k in 0..2 * n {
            node.q[k] += 0.5 * h * (last.v_right[k] + node.v_right[k]);
        }
        nodes.push(node);
    }
    run_of(nodes)
}

/// Rows of the contacts of that scene.
fn rows(scene: &Scene) -> usize {
    let system = scene.system().expect("a system");
    let points = system.constraints().iter().flat_map(|c| c.points());
    points.map(|p| 1 + p.law.tangent_dimension()).sum()
}

#[test]
fn friction_of_a_light_body_is_judged_beside_a_heavy_one_that_it_never_meets() {
    // The second scene has a bumper between both, which they never reach.
    let bumper = "[[contacts]]\nname = \"bumper\"\ngap = \"X - x + 5000\"\n";
    for tangents in [1, 2] {
        for (heavy, fast) in [(0.5, 30.0), (1e3, 0.0), (1e7, 0.0), (1e7, -20.0)] {
            for more in ["", bumper] {
                let scene = sliding_beside(heavy, fast, tangents, more);
                let count = rows(&scene) - usize::from(!more.is_empty());
                let judged = |mu: f64| {
                    let mut motion = slide(heavy, fast, tangents, (mu, count));
                    let all = rows(&scene);
                    let steps = motion.nodes.iter_mut().skip(1);
                    steps.for_each(|node| node.atom.resize(all, 0.0));
                    judge(&scene, &motion)
                };
                let right = judged(MU);
                assert!(right.accepted(), "{tangents} {heavy} {fast}: {right:?}");
                for wrong in [0.0, 0.9999 * MU, 1.001 * MU, -MU] {
                    let report = judged(wrong);
                    let told = has(&report, Line::FrictionLaw) || has(&report, Line::FrictionCone);
                    assert!(told, "{tangents} {heavy} {fast} {wrong}: {report:?}");
                }
            }
        }
    }
}

#[test]
fn what_presses_a_resting_light_body_is_judged_beside_a_fast_heavy_one() {
    let scene = sliding_beside(1e7, 300.0, 1, "");
    let mut motion = slide(1e7, 300.0, 1, (MU, rows(&scene)));
    // Half of its weight too much, by which it is not moved.
    let light = rows(&scene) - 2;
    let steps = motion.nodes.iter_mut().skip(1);
    steps.for_each(|node| node.atom[light] *= 1.5);
    let report = judge(&scene, &motion);
    assert!(has(&report, Line::ImpactEquation), "{report:?}");
}

#[test]
fn a_world_is_judged_by_groups_of_bodies_that_act_on_each_other() {
    for dimension in [2, 3] {
        let text = |mu: f64| {
            let tail = |x: f64| match dimension {
                2 => format!("{x:?}, 0.1"),
                _ => format!("{x:?}, 0, 0.1"),
            };
            let velocity = |v: f64| match dimension {
                2 => format!("{v:?}, 0"),
                _ => format!("{v:?}, 0, 0"),
            };
            let (floor, shape) = match dimension {
                2 => ("{ half_plane = [0, 1] }", "{ rectangle = [0.4, 0.2] }"),
                _ => ("{ half_space = [0, 0, 1] }", "{ box = [0.4, 0.4, 0.2] }"),
            };
            let body = |name: &str, mass: f64, x: f64, v: f64| {
                format!(
                    "[[bodies]]\nname = \"{name}\"\nmaterial = \"{name}\"\nshape = {shape}\nmass = {mass:?}\nposition = [{}]\nvelocity = [{}]\n",
                    tail(x),
                    velocity(v)
                )
            };
            format!(
                "title = \"islands\"\nstep = 1e-3\nuntil = 0.05\n[world]\ndimension = {dimension}\n\
                 [[materials]]\nname = \"heavy\"\nfriction = 0.5\n[[materials]]\nname = \"light\"\nfriction = {mu}\n\
                 [[bodies]]\nname = \"floor\"\nmaterial = \"heavy\"\nfixed = true\nshape = {floor}\n\
                 [[pairs]]\nbetween = [\"heavy\", \"light\"]\nfriction = {mu}\n{}{}",
                body("heavy", 1e7, -4.0, 3.0),
                body("light", 5e-3, 4.0, 0.8),
            )
        };
        let nodes = world_nodes(&parse(&text(0.2)), 40);
        let report = judge_world(&parse(&text(0.2)), &nodes);
        assert!(report.accepted(), "{dimension}: {:?}", report.violations);
        for wrong in [0.197, 0.21, 0.6] {
            let report = judge_world(&parse(&text(wrong)), &nodes);
            assert!(
                has(&report, Line::FrictionLaw),
                "{dimension} {wrong}: {report:?}"
            );
        }
    }
}

#[test]
fn the_limit_does_not_move_with_the_tolerance_of_the_solver() {
    let scene = sliding_beside(1.0, 0.0, 2, "");
    let count = rows(&scene);
    let with = |tolerance: f64, mu: f64| {
        let changes = Changes::new().key("tolerance", tolerance);
        let text = changes.apply(scene.text()).expect("a scene");
        let scene = Scene::parse(text).expect("a scene");
        judge(&scene, &slide(1.0, 0.0, 2, (mu, count)))
    };
    for tolerance in [1e-12, 1e-4, 1e-3, 1e-2, 0.1] {
        let right = with(tolerance, MU);
        assert!(
            right.accepted() && right.to_tolerance.is_none(),
            "{right:?}"
        );
        // A fifth and a half more friction, and friction that drives.
        for wrong in [1.2 * MU, 1.5 * MU, -MU] {
            let report = with(tolerance, wrong);
            assert!(!report.accepted(), "{tolerance} {wrong}");
            let off = (wrong - MU).abs();
            assert!(
                off < tolerance || report.to_tolerance.is_none(),
                "{tolerance} {wrong}"
            );
        }
    }
    // What holds to a looser tolerance that was asked is told, and not accepted.
    let near = with(1e-2, 1.001 * MU);
    assert!(!near.accepted());
    assert_eq!(near.to_tolerance, Some(1e-2));
    assert_eq!(with(1e-12, 1.001 * MU).to_tolerance, None);
}

/// Free fall from rest for 1.3 s under 7 m/s², in as many intervals, with another gravity in its velocities; `jumps` puts what is too much
/// at the nodes instead.
fn fall(axes: usize, intervals: usize, gravity: f64, jumps: bool) -> Motion {
    let (g, time) = (7.0, 1.3);
    let h = time / intervals as f64;
    let at = |v: f64| {
        let mut all = vec![0.0; axes];
        all[axes - 1] = v;
        all
    };
    let (mut y, mut v) = (0.0, 0.0);
    let mut nodes = vec![MotionNode {
        q: at(0.0),
        v_left: at(0.0),
        v_right: at(0.0),
        ..MotionNode::default()
    }];
    for k in 1..=intervals {
        let right = -gravity * h * k as f64;
        let left = if jumps { v - g * h } else { right };
        y += 0.5 * h * (v + left);
        v = right;
        nodes.push(MotionNode {
            t: h * k as f64,
            q: at(y),
            v_left: at(left),
            v_right: at(right),
            ..MotionNode::default()
        });
    }
    Motion {
        nodes,
        ..Motion::default()
    }
}

#[test]
fn a_wrong_gravity_is_not_hidden_in_many_intervals() {
    for axes in [&["y"][..], &["x", "y", "z"]] {
        let squares: Vec<String> = axes.iter().map(|q| format!("{q}'^2")).collect();
        let last = axes[axes.len() - 1];
        let scene = parse(&format!(
            "title = \"fall\"\nuntil = 2\n[system]\ncoordinates = {axes:?}\nkinetic_energy = \"3*({})/2\"\npotential = \"21*{last}\"\n",
            squares.join(" + ")
        ));
        for intervals in [1, 30, 3_000] {
            let right = judge(&scene, &fall(axes.len(), intervals, 7.0, false));
            assert!(right.accepted(), "{intervals}: {right:?}");
            for gravity in [7.07, 7.0007, 7.000_007] {
                for jumps in [false, true] {
                    let report = judge(&scene, &fall(axes.len(), intervals, gravity, jumps));
                    let told =
                        has(&report, Line::EquationOfMotion) || has(&report, Line::ImpactEquation);
                    assert!(told, "{intervals} {gravity} {jumps}: {report:?}");
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_no_motion_of_the_system_is_told_by_its_node() {
    let scene = sliding_beside(1.0, 0.0, 1, "");
    let system = scene.system().expect("a system");
    let sound = slide(1.0, 0.0, 1, (MU, rows(&scene)));
    assert!(sound.check(system.as_ref()).is_ok());
    assert_eq!(sound.untold(system.as_ref()), 0);
    let refused = |spoil: fn(&mut Motion), words: &str| {
        let mut motion = sound.clone();
        spoil(&mut motion);
        let said = motion.check(system.as_ref()).expect_err(words).to_string();
        assert!(said.contains(words), "{said}");
    };
    refused(|m| m.nodes.clear(), "no nodes");
    refused(
        |m| m.nodes[3].q.push(0.0),
        "`q` of node 3 has length 5, and not 4",
    );
    refused(
        |m| m.nodes[7].atom.truncate(1),
        "`atom` of node 7 has length 1",
    );
    refused(|m| m.nodes[5].t = m.nodes[4].t, "node 5 is at t = 0.008");
    refused(|m| m.nodes[2].v_left[1] = f64::NAN, "`v_left` of node 2");
    refused(
        |m| m.nodes[0].smooth = m.nodes[1].atom.clone(),
        "first node",
    );
    // What is left out is no impulse, and that is told.
    let mut silent = sound.clone();
    silent.nodes[9].atom.clear();
    silent.nodes[10].atom.clear();
    assert!(silent.check(system.as_ref()).is_ok());
    assert_eq!(silent.untold(system.as_ref()), 2);
    assert!(!judge(&scene, &silent).accepted());
}
