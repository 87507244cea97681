//! Theorem 1 of [Paoli2015] at γ = 0: which branch holds is decided by the sign of γ near the place with φ ≤ 0, for families whose sign is known.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::studies::attainable::{Attainable, Sampled, Shape};

/// Two coordinates with M⁻¹ = [1, −1/2; −1/2, 1] and friction 2 (1 + f): γ/W_NN = −f(x, y), and φ ≤ 0 where y ≤ 0. Lengths are in units of
/// `unit` metres, and masses in those of `mass` kilograms.
fn contact(f: &str, unit: f64, mass: f64) -> Scene {
    let place = |name: &str| format!("({name}*{unit:e})");
    let f = f.replace("exp", "E").replace('x', &place("x"));
    let f = f.replace('y', &place("y")).replace('E', "exp");
    let (own, other) = (4.0 / 3.0 / mass, 2.0 / 3.0 / mass);
    let text = format!(
        "title = \"gamma\"\nuntil = 0.01\nstep = 1e-3\nscheme = \"moreau\"\nlaw = \"argmin\"\n[system]\ncoordinates = [\"x\", \"y\"]\n\
         mass_matrix = [[{own:e}, {other:e}], [{other:e}, {own:e}]]\n[[contacts]]\nname = \"c\"\ngap = \"y\"\ntangents = [[1, 0]]\n\
         friction = \"2*(1 + ({f}))\"\n[initial]\n\"x'\" = {:e}\n",
        -1.0 / unit
    );
    Scene::parse(SourceText::new("gamma.toml", text)).unwrap_or_else(|e| panic!("{f}: {e}"))
}

fn of(scene: &Scene) -> Attainable {
    let (q, v) = scene.initial_state();
    Attainable::at(scene.system().unwrap().as_ref(), &q, &v).unwrap()
}

/// f = −γ/W_NN, and whether it is negative arbitrarily near the origin with y ≤ 0.
const FAMILIES: [(&str, bool); 40] = [
    ("y", true),
    ("-y", false),
    ("1e6*y", true),
    ("-1e6*y", false),
    ("1e-3*y", true),
    ("-x^2", true),
    ("x^2", false),
    ("-x^3", true),
    ("-x^4", true),
    ("x^4", false),
    ("x^2*y", true),
    ("-x^2*y", false),
    ("y^2-x^2", true),
    ("y^2+x^2", false),
    ("y^3", true),
    ("-y^3", false),
    ("x^2+y", true),
    ("x^2-y", false),
    ("x*y+10*y^2+x^2", false),
    ("x^2+2*x*y+y^2", false),
    ("x^2+2.1*x*y+y^2", true),
    ("-abs(x)", true),
    ("abs(x)", false),
    ("x^4+y^3", true),
    ("x^4-y^3", false),
    ("x^6+y^2", false),
    ("x^6+y^5", true),
    ("y^2-x^6", true),
    ("y^2-x^4", true),
    ("x^2-3*x^2*y^2+y^4", false),
    ("(y+x^2)^2", false),
    // With y ≤ 0 the square is at least x⁴, more than x⁶.
    ("(y-x^2)^2-x^6", false),
    // Slivers along the parabola y = −x².
    ("(y+x^2)^2-x^5", true),
    ("(y+x^2)^2+x^5", true),
    ("(y+x^2)^2+x^6", false),
    ("-y+x^2*sin(x)", true),
    ("0", false),
    ("y*sin(y)", false),
    ("1e6*x^2-1e3*y", false),
    ("-1e6*y-x^2", true),
];

#[test]
fn the_branch_of_theorem_1_is_that_of_the_sign_of_gamma_nearby() {
    let mut wrong = Vec::new();
    for (f, positive) in FAMILIES {
        let found = of(&contact(f, 1.0, 1.0));
        let limit = if positive {
            Shape::Segment
        } else {
            Shape::Pair
        };
        if found.positive_neighbours != Some(positive) || found.limit != Some(limit) {
            wrong.push((f, found.positive_neighbours, found.limit));
        }
        assert_eq!((found.sign, found.shape), (0, Shape::Segment), "{f}");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_branch_of_theorem_1_is_the_same_in_every_unit() {
    let mut wrong = Vec::new();
    for (unit, mass) in [(1e-3, 1.0), (1e3, 1e-3), (1e-9, 1e6)] {
        for (f, positive) in [
            ("-x^2", true),
            ("x^2", false),
            ("-x^3", true),
            ("-x^4", true),
            ("y^2-x^4", true),
            ("x^4-y^3", false),
            ("1e6*y", true),
            ("(y+x^2)^2-x^5", true),
        ] {
            let found = of(&contact(f, unit, mass));
            if found.positive_neighbours != Some(positive) {
                wrong.push((f, unit, mass, found.positive_neighbours));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Painlevé's rod at the angle where γ is least, and zero there: positive all around, whatever the unit of length beside angles.
#[test]
fn the_branch_of_a_rod_at_its_critical_angle_is_the_same_in_every_unit() {
    for unit in [1.0, 1e-3, 1e3, 1024.0] {
        let text = format!(
            "title = \"rod\"\nuntil = 0.01\nstep = 1e-3\nscheme = \"moreau\"\nlaw = \"argmin\"\n[parameters]\nl = {unit:e}\n\
             [system]\ncoordinates = [\"x\", \"y\", \"theta\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + l^2*theta'^2/6\"\n\
             [[contacts]]\nname = \"tip\"\ngap = \"y - l*sin(theta)\"\npoint = [\"x - l*cos(theta)\", \"y - l*sin(theta)\"]\n\
             friction = \"4/3\"\n[initial]\nx = \"l/sqrt(5)\"\ny = \"2*l/sqrt(5)\"\ntheta = \"atan(2)\"\nx_dot = \"-5*l\"\n"
        );
        let scene =
            Scene::parse(SourceText::new("rod.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let found = of(&scene);
        assert_eq!(
            (found.sign, found.positive_neighbours),
            (0, Some(true)),
            "{unit}"
        );
        assert_eq!(found.limit, Some(Shape::Segment), "{unit}");
    }
}

/// A sign that ends at a distance is not that of the place: γ = −10⁻³ y cos x is not positive within x = π/2.
#[test]
fn a_sign_that_gamma_has_farther_away_only_does_not_decide() {
    for f in ["-1e-3*y*cos(x)", "x^2*(1e-2-x^2)", "1e-3*(x^2+y^2)-x^4"] {
        let found = of(&contact(f, 1.0, 1.0));
        assert_eq!(found.positive_neighbours, Some(false), "{f}");
    }
}

/// In space, with a disc: W_NN − μ |W_NT| with μ a function of the place along the surface.
#[test]
fn in_space_the_branch_is_that_of_the_sign_of_gamma_nearby() {
    for (f, unit, positive) in [
        ("-x^2", 1.0, true),
        ("-x^2", 1e-3, true),
        ("x^2+z^2", 1e-3, false),
        ("z^2-x^4", 1e-3, true),
        ("x^2+z^4", 1.0, false),
    ] {
        let f = f.replace('x', &format!("(x*{unit:e})"));
        let f = f.replace('z', &format!("(z*{unit:e})"));
        let text = format!(
            "title = \"gamma\"\nuntil = 0.01\nstep = 1e-3\nscheme = \"moreau\"\nlaw = \"argmin\"\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
             mass_matrix = [[\"4/3\", \"2/3\", \"0\"], [\"2/3\", \"4/3\", \"0\"], [\"0\", \"0\", \"1\"]]\n[[contacts]]\nname = \"c\"\ngap = \"y\"\n\
             tangents = [[1, 0, 0], [0, 0, 1]]\nfriction = \"2*(1 + ({f}))\"\n[initial]\n\"x'\" = {:e}\n",
            -1.0 / unit
        );
        let scene = SourceText::new("gamma.toml", text);
        let scene = Scene::parse(scene).unwrap_or_else(|e| panic!("{f}: {e}"));
        let found = of(&scene);
        assert_eq!(found.sign, 0, "{f}");
        assert_eq!(found.positive_neighbours, Some(positive), "{f}");
    }
}

/// Where the limit is the segment, samples fill it: approaches are drawn where γ selects points inside.
#[test]
fn samples_fill_the_segment_where_it_is_the_limit() {
    for f in ["-x^2", "-x^4"] {
        let scene = contact(f, 1.0, 1.0);
        let (q, v) = scene.initial_state();
        let system = scene.system().unwrap();
        let sampled = Sampled::around(system.as_ref(), (&q, &v), 1e-2, 2000, 1).unwrap();
        assert!(sampled.gap < 0.1, "{f}: {}", sampled.gap);
        assert!(sampled.excess < 0.1, "{f}: {}", sampled.excess);
    }
}
