//! Places and normals of contacts of bodies made of several shapes, of shapes that nearly lie along each other, and in the plane.

use std::fmt::Write as _;

use crate::common::random::Random;
use crate::verify_drawn::judged;
use crate::verify_worlds::{judge, nodes};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::Line;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("places.toml", text.to_string()))
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A roller in the groove of two others, turned by less than a ten-thousandth about the upright: it touches along lines, told on one of the
/// two sides. A contact moved farther aside than that is refused.
#[test]
fn sides_that_nearly_lie_along_each_other_are_accepted() {
    for turn in [0.0, 2e-5, 8e-5] {
        // About y by a right angle, then about z.
        let half = std::f64::consts::FRAC_PI_4;
        let [w, y] = [half.cos(), half.sin()];
        let [c, s] = [(0.5f64 * turn).cos(), (0.5 * turn).sin()];
        let quaternion = [c * w, -s * y, c * y, s * w];
        let angle = 2.0 * quaternion[0].acos();
        let axis = [1, 2, 3].map(|k| quaternion[k] * angle / (0.5 * angle).sin());
        let roller = |name: &str, place: &str, rotation: [f64; 3]| {
            format!(
                "[[bodies]]\nname = \"{name}\"\nshape = {{ cylinder = {{ radius = 0.05, length = 0.4 }} }}\nposition = {place}\nrotation = {rotation:?}\n"
            )
        };
        let level = [0.0, 2.0 * half, 0.0];
        let text = format!(
            "title = \"groove\"\nstep = 1e-3\nuntil = 0.05\n[world]\n[[materials]]\nname = \"a\"\ndensity = 1000\nfriction = 0.5\n{}fixed = true\n{}fixed = true\n{}",
            roller("left", "[0, -0.06, 0]", level),
            roller("right", "[0, 0.06, 0]", level),
            roller("upper", "[0.01, 0, 0.0801]", axis)
        );
        let scene = parse(&text);
        let run = nodes(&scene, 50);
        let report = judge(&scene, &run);
        assert!(report.accepted(), "{turn}: {:?}", report.violations);
        let mut moved = run;
        let contact = &mut moved[40].contacts[0];
        // Along the normal of the plane through the axis and the normal.
        let n = contact.normal;
        contact.place[1] += 2e-4 * n[2];
        contact.place[2] -= 2e-4 * n[1];
        let lines: Vec<Line> = judge(&scene, &moved)
            .violations
            .iter()
            .map(|v| v.line)
            .collect();
        assert!(
            lines.contains(&Line::ContactGeometry),
            "{turn}: {lines:?} {n:?}"
        );
    }
}

#[test]
fn contacts_of_the_plane_lie_in_it() {
    let scene = parse(
        "title = \"box\"\nstep = 1e-3\nuntil = 0.05\n[world]\ndimension = 2\n[[materials]]\nname = \"a\"\ndensity = 1000\nfriction = 0.5\n\
            [[bodies]]\nname = \"floor\"\nfixed = true\nshape = { segment = [[-1, 0], [1, 0]] }\n\
            [[bodies]]\nname = \"box\"\nshape = { polygon = [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]] }\nposition = [0, 0.05]\nvelocity = [1, 0]\n",
    );
    let run = nodes(&scene, 50);
    assert!(judge(&scene, &run).accepted());
    for normal in [false, true] {
        let mut moved = run.clone();
        let contact = &mut moved[20].contacts[0];
        if normal {
            contact.normal[2] += 1e-3;
        } else {
            contact.place[2] -= 1e-3;
        }
        assert!(!judge(&scene, &moved).accepted(), "{normal}");
    }
}

/// Bodies of two or three shapes, hulls drawn far from their origin, on a floor of boxes and a long cylinder, some of it far from zero.
fn compounds(seed: u64) -> String {
    let mut random = Random(seed);
    let away = [0.0, 0.0, -300.0, 2000.0][(random.bits() % 4) as usize];
    let mut text = format!(
        "title = \"compounds\"\nstep = 2e-3\nuntil = 0.3\n[world]\n[[materials]]\nname = \"a\"\ndensity = 1000\nfriction = 0.4\n\
            [[bodies]]\nname = \"floor\"\nfixed = true\nposition = [{away}, 0, 0]\nrotation = [0.1, -0.05, 0.3]\n\
            shapes = [{{ box = [2.4, 2.4, 0.2], at = [0, 0, -0.1] }}, {{ box = [0.1, 2.4, 0.2], at = [0.2, 0, 0] }}, \
            {{ cylinder = {{ radius = 0.1, length = 2.4 }}, at = [0, 0.1, -0.03], rotation = [0, 1.5707963, 0] }}]\n"
    );
    for k in 0..3 {
        let mut shapes = Vec::new();
        for _ in 0..2 + random.bits() % 2 {
            let mut length = |low: f64, high: f64| 0.06 * random.uniform(low, high);
            let (a, b) = (length(0.5, 1.0), length(0.6, 1.8));
            let mut vector = |size: f64| [(); 3].map(|()| length(-size, size));
            let (at, turn, off) = (vector(1.0), vector(16.0), vector(30.0));
            let hull: Vec<[f64; 3]> = (0..8)
                .map(|_| {
                    let p = vector(1.0);
                    [p[0] + off[0], p[1] + off[1], p[2] + off[2]]
                })
                .collect();
            let back = [at[0] - off[0], at[1] - off[1], at[2] - off[2]];
            shapes.push(match random.bits() % 6 {
                0 => format!("{{ cylinder = {{ radius = {a}, length = {b} }}, at = {at:?}, rotation = {turn:?} }}"),
                1 => format!("{{ cone = {{ radius = {a}, length = {b} }}, at = {at:?}, rotation = {turn:?} }}"),
                2 => format!("{{ capsule = {{ radius = {a}, length = {b} }}, at = {at:?}, rotation = {turn:?} }}"),
                3 => format!("{{ ball = {a}, at = {at:?} }}"),
                4 => format!("{{ box = [{a}, {b}, {a}], at = {at:?}, rotation = {turn:?} }}"),
                _ => format!("{{ hull = {hull:?}, at = {back:?} }}"),
            });
        }
        let mut vector = |size: f64| [(); 3].map(|()| random.uniform(-size, size));
        let (rotation, spin, [x, y, z]) = (vector(3.0), vector(8.0), vector(0.7));
        let place = away + 0.5 * (f64::from(k) - 1.0);
        let _ = write!(
            text,
            "[[bodies]]\nname = \"b{k}\"\nshapes = [{}]\nposition = [{place}, 0.2, 0.4]\nrotation = {rotation:?}\nvelocity = [{x}, {y}, {}]\nspin = {spin:?}\n",
            shapes.join(", "),
            z - 1.5
        );
    }
    text
}

#[test]
fn what_is_certified_of_compounds_is_accepted() {
    let mut certified = 0;
    for seed in 0..100 {
        let text = compounds(seed);
        let (summary, report) = judged(&format!("compounds{seed}"), &parse(&text));
        if summary.certified {
            certified += 1;
            let report = report.expect("a formulation");
            assert!(report.accepted(), "{seed} {:?}\n{text}", report.violations);
        }
    }
    assert!(certified > 90, "{certified}");
}
