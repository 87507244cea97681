//! Bodies on uneven ground: what is certified is accepted, and no normal, no contact and no motion through the ground is made up.

use std::fmt::Write as _;

use crate::common::random::Random;
use crate::verify_drawn::judged;
use crate::verify_worlds::{judge, nodes};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::Line;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("terrain.toml", text.to_string()))
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Bodies of every shape thrown on ground of random heights, from gentle to steeper than they are.
fn terrain(seed: u64) -> String {
    let mut random = Random(seed);
    let mut choose = |from: &[f64]| from[(random.bits() % from.len() as u64) as usize];
    let (step, steep) = (choose(&[1e-3, 2e-3, 5e-3]), choose(&[0.02, 0.05, 0.1, 0.2]));
    let (count, friction) = (
        choose(&[4.0, 6.0, 10.0, 24.0]) as usize,
        choose(&[0.0, 0.1, 0.3, 0.8]),
    );
    let restitution = choose(&[0.0, 0.0, 0.3]);
    let scheme = ["moreau-jean", "moreau"][(random.bits() % 2) as usize];
    let row = |random: &mut Random| {
        let heights: Vec<f64> = (0..count).map(|_| random.uniform(-steep, 0.0)).collect();
        format!("{heights:?}")
    };
    let rows: Vec<String> = (0..count).map(|_| row(&mut random)).collect();
    let mut text = format!(
        "title = \"terrain\"\nscheme = \"{scheme}\"\nstep = {step}\nuntil = {}\n[world]\n[[materials]]\nname = \"a\"\ndensity = 1000\n\
            friction = {friction}\nrestitution = {restitution}\n[[bodies]]\nname = \"ground\"\nfixed = true\n\
            shape = {{ height_field = {{ values = [{}], size = [2, 2] }} }}\n",
        80.0 * step,
        rows.join(", ")
    );
    for k in 0..4 {
        let mut length = |low: f64, high: f64| 0.09 * random.uniform(low, high);
        let (a, b, c) = (length(0.5, 1.0), length(0.6, 1.8), length(0.6, 1.8));
        let mut corner = || [length(-1.0, 1.0), length(-1.0, 1.0), length(-1.0, 1.0)];
        let hull: Vec<[f64; 3]> = (0..9).map(|_| corner()).collect();
        let shape = match random.bits() % 6 {
            0 => format!("cylinder = {{ radius = {a}, length = {b} }}"),
            1 => format!("cone = {{ radius = {a}, length = {b} }}"),
            2 => format!("capsule = {{ radius = {a}, length = {b} }}"),
            3 => format!("hull = {hull:?}"),
            4 => format!("ball = {a}"),
            _ => format!("box = [{a}, {b}, {c}]"),
        };
        let mut vector =
            |size: f64| -> [f64; 3] { std::array::from_fn(|_| random.uniform(-size, size)) };
        let (rotation, [x, y, z], spin) = (vector(3.0), vector(1.0), vector(8.0));
        let (across, along) = (f64::from(k % 2) - 0.5, f64::from(k / 2) - 0.5);
        let _ = write!(
            text,
            "[[bodies]]\nname = \"b{k}\"\nshape = {{ {shape} }}\nposition = [{across}, {along}, 0.17]\nrotation = {rotation:?}\n\
                velocity = [{x}, {y}, {}]\nspin = {spin:?}\n",
            -2.0 + z
        );
    }
    text
}

#[test]
fn what_is_certified_of_bodies_on_terrain_is_accepted() {
    let mut certified = 0;
    for seed in 0..60 {
        let text = terrain(seed);
        let (summary, report) = judged(&format!("terrain{seed}"), &parse(&text));
        if summary.certified {
            certified += 1;
            let report = report.expect("a formulation");
            assert!(report.accepted(), "{seed} {:?}\n{text}", report.violations);
        }
    }
    assert!(certified > 50, "{certified}");
}

/// Every contact of a step, whether it carries anything or not, is refused with a normal that is turned by three thousandths.
#[test]
fn normals_on_terrain_may_not_lean() {
    let mut random = Random(5);
    let (mut tried, mut accepted) = (0, Vec::new());
    for seed in 100..112 {
        let scene = parse(&terrain(seed));
        let nodes = nodes(&scene, 80);
        if !judge(&scene, &nodes).accepted() {
            continue;
        }
        for at in (1..nodes.len()).step_by(7) {
            for k in 0..nodes[at].contacts.len() {
                let mut changed = nodes[at - 1..=at].to_vec();
                let n = &mut changed[1].contacts[k].normal;
                let lean: [f64; 3] = std::array::from_fn(|_| random.uniform(-1.0, 1.0));
                let up: f64 = (0..3).map(|i| lean[i] * n[i]).sum();
                let across: [f64; 3] = std::array::from_fn(|i| lean[i] - up * n[i]);
                let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
                let turned: [f64; 3] = std::array::from_fn(|i| n[i] + 3e-3 * across[i] / length);
                let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
                *n = turned.map(|x| x / length);
                tried += 1;
                let report = judge(&scene, &changed);
                if !report
                    .violations
                    .iter()
                    .any(|v| v.line == Line::ContactGeometry)
                {
                    accepted.push((seed, at, k, changed[1].contacts[k]));
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert!(
        accepted.is_empty(),
        "{} of {tried}: {accepted:#?}",
        accepted.len()
    );
}

/// A face that comes down on a summit: no corner of it is below any triangle. And a hull that is drawn about a point far from it, below the ground or
/// above it.
#[test]
fn motion_through_the_ground_is_refused() {
    let scene = |body: &str, more: &str| {
        parse(&format!(
            "title = \"summit\"\nstep = 2e-3\nuntil = 0.3\n[world]\n[[materials]]\nname = \"a\"\ndensity = 1000\nfriction = 0.3\n\
                [[bodies]]\nname = \"ground\"\nfixed = true\n{more}\n\
                shape = {{ height_field = {{ values = [[-1, -1, -1], [-1, 0, -1], [-1, -1, -1]], size = [3, 3] }} }}\n\
                [[bodies]]\nname = \"slab\"\n{body}\n"
        ))
    };
    let corner = |k: u32, up: f64| {
        let side = |bit: u32, half: f64| if k >> bit & 1 == 1 { half } else { -half };
        format!(
            "[{}, {}, {}]",
            side(0, 0.2),
            side(1, 0.2),
            up + side(2, 0.05)
        )
    };
    let hull = |up: f64| {
        let corners: Vec<String> = (0..8).map(|k| corner(k, up)).collect();
        let (points, z) = (corners.join(", "), 0.2 - up);
        format!("shape = {{ hull = [{points}] }}\nposition = [0.07, -0.05, {z}]")
    };
    let slab = "shape = { box = [0.4, 0.4, 0.1] }\nposition = [0.07, -0.05, 0.2]".to_string();
    for body in [slab, hull(0.0), hull(5.0), hull(-5.0)] {
        let world = scene(&body, "");
        assert!(judge(&world, &nodes(&world, 150)).accepted(), "{body}");
        let through = nodes(&scene(&body, "collides = false"), 150);
        let report = judge(&world, &through);
        let lines: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
        assert!(lines.contains(&Line::NonPenetration), "{body}: {lines:?}");
    }
}
