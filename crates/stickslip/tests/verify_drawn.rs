//! Scenes drawn at random: what a certificate vouches for, the judge accepts. Beside them, scenes found that way.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;

use crate::common::random::Random;
use stickslip::scene::{Scene, SceneRun, SourceText, VerifyRunError};
use stickslip::simulation::RunSummary;
use stickslip::simulation::verify::Verification;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("drawn.toml", text.to_string()))
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Summary of a run in a folder, and its verdict where it belongs to a formulation.
pub fn judged(name: &str, scene: &Scene) -> (RunSummary, Option<Verification>) {
    let path = std::env::temp_dir().join(format!("stickslip-drawn-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    let mut run = SceneRun::start(name, scene.clone(), &path).unwrap();
    let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
    let summary = run.finish(end).unwrap();
    let report = match scene.verify_folder(&path, None) {
        Ok((report, _)) => Some(report),
        Err(VerifyRunError::NoFormulation(_)) => None,
        Err(error) => panic!("{name}: {error}"),
    };
    fs::remove_dir_all(&path).unwrap();
    (summary, report)
}

fn assert_accepted(name: &str, text: &str) {
    let (summary, report) = judged(name, &parse(text));
    assert!(summary.certified, "{name}: {:?}", summary.warnings);
    let report = report.expect("a formulation");
    assert!(report.accepted(), "{name}: {:?}", report.violations);
}

/// What is drawn, in units of its own: lengths, masses.
struct Draw {
    random: Random,
    length: f64,
    mass: f64,
    law: &'static str,
}

impl Draw {
    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.random.bits() % from.len() as u64) as usize]
    }

    fn friction(&mut self, tangents: usize) -> String {
        let mu = self.random.uniform(0.0, 1.2);
        let (a, b) = (self.random.uniform(0.1, 0.8), self.random.uniform(0.1, 0.8));
        match (self.random.bits() % 3, tangents) {
            (0, 1) => format!("{{ interval = [{}, {b}] }}", -a),
            (0, _) => format!("{{ ellipse = [{a}, {b}] }}"),
            (1, 2) => {
                format!("{{ polygon = [[{a}, 0.1], [-0.1, {b}], [-{b}, -0.1], [0.1, -{a}]] }}")
            }
            _ => mu.to_string(),
        }
    }

    /// `friction` and `restitution` of a contact.
    fn surface(&mut self, tangents: usize) -> String {
        let mut text = format!("friction = {}\n", self.friction(tangents));
        if self.law != "argmin" {
            let e = self.choose(&[0.0, 0.3, 0.8, 1.0]);
            let _ = writeln!(text, "restitution = {e}");
        }
        text
    }

    /// Law, scheme and step.
    fn head(&mut self) -> String {
        self.law = self.choose(&["coulomb", "coulomb", "argmin", "generalized"]);
        let scheme = match self.law {
            "generalized" => "moreau",
            _ => self.choose(&["moreau-jean", "moreau", "sweeping-process"]),
        };
        let impact = self.choose(&["newton", "inelastic", "moreau"]);
        let step = self.choose(&[5e-4, 1e-3, 4e-3]);
        let (law, until) = (self.law, 80.0 * step);
        let mut text = format!(
            "title = \"drawn\"\nlaw = \"{law}\"\nscheme = \"{scheme}\"\nimpact = \"{impact}\"\nstep = {step}\nuntil = {until}\n"
        );
        if scheme == "moreau-jean" && self.random.bits().is_multiple_of(2) {
            let _ = writeln!(text, "theta = 0.5");
        }
        text
    }

    /// A particle in space over a plane, a ball, a bowl or waves, and a wall.
    fn particle(&mut self) -> String {
        let (l, m) = (self.length, self.mass * self.random.uniform(0.2, 3.0));
        let mut text = self.head();
        let _ = write!(
            text,
            "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"{m}*(x'^2 + y'^2 + z'^2)/2\"\n\
            potential = \"{}*z\"\n",
            m * 9.81 * l
        );
        let gap = match self.random.bits() % 4 {
            0 => format!("0.9*z + {}*x", 0.19f64.sqrt()),
            1 => format!("sqrt(x^2 + y^2 + (z + {l})^2) - {l}"),
            2 => format!("{l} - sqrt(x^2 + y^2 + (z - {l})^2)"),
            _ => format!("z - {}*sin(x/{})", 0.03 * l, 0.2 * l),
        };
        for (name, gap) in [("ground", gap), ("wall", format!("{} - x", 0.05 * l))] {
            let _ = write!(
                text,
                "[[contacts]]\nname = \"{name}\"\ngap = \"{gap}\"\npoint = [\"x\", \"y\", \"z\"]\n{}",
                self.surface(2)
            );
        }
        let [u, v, w] = std::array::from_fn(|_| l * self.random.uniform(-2.0, 2.0));
        let z = l * self.choose(&[0.0, 0.02]);
        text + &format!("[initial]\nz = {z}\nx_dot = {u}\ny_dot = {v}\nz_dot = {w}\n")
    }

    /// A rod or a block in the plane, on a floor.
    fn block(&mut self) -> String {
        let (l, m) = (self.length, self.mass * self.random.uniform(0.2, 3.0));
        let height = self.choose(&[0.0, 0.3]) * l;
        let (inertia, tilt) = (
            m * l * l * self.random.uniform(0.1, 0.8),
            self.choose(&[0.0, 0.4, -0.9]),
        );
        let mut text = self.head();
        let _ = write!(
            text,
            "[system]\ncoordinates = [\"x\", \"y\", \"p\"]\nkinetic_energy = \"{m}*(x'^2 + y'^2)/2 + {inertia}*p'^2/2\"\n\
            potential = \"{}*y\"\n",
            m * 9.81 * l
        );
        let corners = [[l, height], [-l, height], [-l, -height], [l, -height]];
        let count = if height == 0.0 { 2 } else { 4 };
        let mut lowest = f64::INFINITY;
        for (k, [a, b]) in corners.into_iter().enumerate().take(count) {
            let (x, y) = (
                format!("x + ({a})*cos(p) - ({b})*sin(p)"),
                format!("y + ({a})*sin(p) + ({b})*cos(p)"),
            );
            lowest = lowest.min(a * f64::sin(tilt) + b * f64::cos(tilt));
            let _ = write!(
                text,
                "[[contacts]]\nname = \"c{k}\"\ngap = \"{y}\"\npoint = [\"{x}\", \"{y}\"]\n{}",
                self.surface(1)
            );
        }
        let [u, v] = std::array::from_fn(|_| l * self.random.uniform(-2.0, 2.0));
        let spin = self.random.uniform(-3.0, 3.0);
        let y = l * self.choose(&[0.0, 0.02]) - lowest;
        text + &format!(
            "[initial]\ny = {y}\np = {tilt}\nx_dot = {u}\ny_dot = {v}\np_dot = {spin}\n"
        )
    }

    /// A body in space on four feet, or on one.
    fn body(&mut self) -> String {
        let (l, m) = (self.length, self.mass * self.random.uniform(0.2, 3.0));
        let moments = [0.3, 0.2, 0.25].map(|x| x * m * l * l);
        let mut text = self.head();
        let turned = self.choose(&[0.0, 0.3]);
        let [u, v, w]: [f64; 3] = std::array::from_fn(|_| l * self.random.uniform(-1.0, 1.0));
        let spin: [f64; 3] = std::array::from_fn(|_| self.random.uniform(-4.0, 4.0));
        let feet: &[[f64; 2]] = self.choose(&[
            &[[0.0, 0.0]][..],
            &[[0.4, 0.3], [-0.4, 0.3], [0.4, -0.3], [-0.4, -0.3]],
        ]);
        let lowest = feet
            .iter()
            .map(|[_, b]| b * f64::sin(turned) - 0.2 * f64::cos(turned));
        let z = -l * lowest.fold(f64::INFINITY, f64::min);
        let _ = write!(
            text,
            "[body]\nmass = {m}\nmoments = {moments:?}\ngravity = [0, 0, {}]\nposition = [0, 0, {z}]\n\
            rotation = [{turned}, 0, 0]\nvelocity = [{u}, {v}, {w}]\nspin = {spin:?}\n",
            -9.81 * l
        );
        for (k, [a, b]) in feet.iter().enumerate() {
            let _ = write!(
                text,
                "[[contacts]]\nname = \"c{k}\"\narm = [{}, {}, {}]\n{}",
                a * l,
                b * l,
                -0.2 * l,
                self.surface(2)
            );
        }
        text
    }

    /// Blocks in a row, on floors and belts, that touch each other.
    fn row(&mut self) -> String {
        let (l, m) = (self.length, self.mass);
        let mut text = self.head();
        let _ = write!(
            text,
            "[system]\ncoordinates = [\"x\", \"y\", \"u\", \"v\"]\nkinetic_energy = \"{m}*(x'^2 + y'^2)/2 + {m}*(u'^2 + v'^2)\"\n\
            potential = \"{}*(y + 2*v) + {}*(u - x - {})^2/2\"\n",
            m * 9.81 * l,
            200.0 * m,
            0.1 * l
        );
        let belt = l * self.choose(&[0.0, 0.5]);
        for (k, [along, up]) in [["x", "y"], ["u", "v"]].into_iter().enumerate() {
            let speed = belt * k as f64;
            let _ = write!(
                text,
                "[[contacts]]\nname = \"f{k}\"\ngap = \"{up}\"\nslip = \"{along}' - {speed}\"\n{}",
                self.surface(1)
            );
        }
        let _ = write!(
            text,
            "[[contacts]]\nname = \"between\"\ngap = \"u - x - {}\"\n",
            0.1 * l
        );
        let speed = l * self.random.uniform(-1.0, 1.0);
        text + &format!("[initial]\nu = {}\nu_dot = {speed}\n", 0.1 * l)
    }
}

/// Every run that is certified is accepted, or belongs to no formulation by name.
#[test]
fn what_is_certified_of_drawn_scenes_is_accepted() {
    let (mut accepted, mut refused) = (0, Vec::new());
    for seed in 0..96 {
        let mut draw = Draw {
            random: Random(seed),
            length: [1.0, 1000.0][seed as usize / 4 % 2],
            mass: [1.0, 1e3, 1e-6][seed as usize / 8 % 3],
            law: "",
        };
        let text = match seed % 4 {
            0 => draw.particle(),
            1 => draw.block(),
            2 => draw.body(),
            _ => draw.row(),
        };
        let (summary, report) = judged(&format!("scene-{seed}"), &parse(&text));
        let Some(report) = report.filter(|r| summary.certified && r.does_not_apply.is_none())
        else {
            continue;
        };
        if report.accepted() {
            accepted += 1;
        } else {
            refused.push(format!("{:?}\n{text}", report.violations));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(accepted > 40, "{accepted}");
}

/// Where the place before a projection is zero, rounding is that of the place after it.
#[test]
fn a_place_that_was_projected_far_from_zero_follows_its_velocity() {
    assert_accepted("slope", SLOPE);
}

const SLOPE: &str = r#"
title = "A particle that falls from x = 0 on a slope and sticks"
scheme = "sweeping-process"
impact = "inelastic"
step = 0.002
until = 0.2
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contacts]]
name = "slope"
gap = "0.98*y - 0.2*x"
point = ["x", "y"]
friction = 0.3
[initial]
y = 0.08
"#;

/// Cones of the generalized law are not those of single points: a point slides inside its own.
#[test]
fn contacts_that_slide_under_the_generalized_law_are_told_as_sliding() {
    assert_accepted("rod", ROD);
}

const ROD: &str = r#"
title = "A rod whose ends strike in turn"
law = "generalized"
scheme = "moreau"
impact = "moreau"
step = 0.0005
until = 0.0895
[system]
coordinates = ["x","y","p"]
kinetic_energy = "0.6385392657417709*(x'^2 + y'^2)/2 + 0.08279474923529365*p'^2/2"
potential = "6.264070196926773*y"
stiffness = [[20.0,0,0],[0,0,0],[0,0,1.0]]
damping = [[1.0,0,0],[0,0,0],[0,0,0]]
forces = { x = "5.103535255876328*sin(t/0.08286366719557561)" }
[[contacts]]
name = "p0"
gap = "y + 0.9186352271796434*sin(p)"
point = ["x + 0.9186352271796434*cos(p)", "y + 0.9186352271796434*sin(p)"]
friction = { interval = [-0.29609782632418, 0.5926997277793581] }
restitution = 0.5
[[contacts]]
name = "p1"
gap = "y + (-0.9186352271796434)*sin(p)"
point = ["x + (-0.9186352271796434)*cos(p)", "y + (-0.9186352271796434)*sin(p)"]
friction = 0.2940291154183098
restitution = 0.19745895673698521
[initial]
x = 0.0
y = 0.0
p = 0.0
x_dot = 0.0
y_dot = -0.16854963748865606
p_dot = 0.0
"#;

/// The friction set of the generalized law is unbounded there, a branch of a hyperbola.
#[test]
fn a_foot_beyond_the_critical_coefficient_is_accepted() {
    assert_accepted("foot", FOOT);
}

const FOOT: &str = r#"
title = "A body on one foot beyond the critical coefficient"
law = "generalized"
scheme = "moreau"
impact = "inelastic"
step = 0.0005
until = 0.05
[body]
mass = 2.4
moments = [0.029, 0.016, 0.032]
gravity = [0, 0, -9.81]
position = [0, 0, 0.162]
rotation = [0.52, 0, 0]
velocity = [0, 0.37, -1.4]
spin = [0, 0, -3.8]
[[contacts]]
name = "foot"
arm = [0.11, -0.168, -0.089]
friction = 2.73
"#;

/// The normal rows of four feet depend on each other: which of them are pressed is told by what they do, not by the least norm.
#[test]
fn feet_that_leave_faster_than_asked_are_not_pressed() {
    assert_accepted("feet", FEET);
}

const FEET: &str = r#"
title = "Four feet strike at once, each with a restitution of its own"
law = "generalized"
scheme = "moreau"
impact = "newton"
step = 0.002
until = 0.02
[body]
mass = 2.5
moments = [0.36, 0.36, 0.36]
gravity = [0, 0, -9.81]
position = [0, 0, 0.21]
velocity = [1.8, 0.5, -1]
[[contacts]]
name = "c1"
arm = [0.38, 0.43, -0.2]
restitution = 0.8
[[contacts]]
name = "c3"
arm = [0.38, -0.43, -0.2]
friction = 0.5
restitution = 0.3
[[contacts]]
name = "c5"
arm = [-0.38, 0.43, -0.2]
friction = 0.5
restitution = 1
[[contacts]]
name = "c7"
arm = [-0.38, -0.43, -0.2]
friction = 0.13
restitution = 0.8
"#;

/// No one velocity has the slips of both: the law is read contact by contact.
#[test]
fn blocks_that_touch_on_a_floor_and_a_belt_are_accepted() {
    assert_accepted("blocks", BLOCKS);
}

const BLOCKS: &str = r#"
title = "Two blocks that push each other, one on a floor and one on a belt"
law = "generalized"
scheme = "moreau"
impact = "inelastic"
step = 0.0005
until = 0.1
[system]
coordinates = ["x", "y", "u", "v"]
kinetic_energy = "0.4*(x'^2 + y'^2)/2 + 0.1*(u'^2 + v'^2)/2"
potential = "9.81*(0.4*y + 0.1*v)"
[[contacts]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.1
[[contacts]]
name = "belt"
gap = "v"
slip = "u' - 0.5"
friction = 0.8
[[contacts]]
name = "between"
gap = "u - x - 0.1"
[initial]
u = 0.1
u_dot = -0.5
"#;

/// How near counts as closed is a part of the lengths of the run, which angles have no share in.
#[test]
fn closed_gaps_do_not_depend_on_the_unit_of_length() {
    assert_accepted("millimetres", MILLIMETRES);
}

const MILLIMETRES: &str = r#"
title = "A rod in millimetres that slides on one end"
law = "generalized"
scheme = "moreau"
impact = "inelastic"
step = 0.001
until = 0.05
[system]
coordinates = ["x", "y", "p"]
kinetic_energy = "788*(x'^2 + y'^2)/2 + 2.24e8*p'^2/2"
potential = "7730280*y"
[[contacts]]
name = "end"
gap = "y - 718*sin(p)"
point = ["x - 718*cos(p)", "y - 718*sin(p)"]
friction = 0.04
[[contacts]]
name = "wall"
gap = "1200 - x + 718*cos(p)"
point = ["x - 718*cos(p)", "y - 718*sin(p)"]
friction = 0.3
[initial]
y = "718*sin(0.0377)"
p = 0.0377
x_dot = -2400
"#;

/// Eight points of a rim on one body under friction 2: sweeps of Moreau's S go round in circles where they are not damped.
#[test]
fn a_cone_that_lands_under_moreaus_s_is_certified_and_accepted() {
    // The way of every contact is shortened where plain sweeps leave 6e-4.
    let [velocity, spin, rotation] = [[0.42, 0.03, -0.78], [5.9, -3.4, 3.8], [0.3, 0.18, 0.0]];
    let text = format!(
        "title = \"cone\"\nlaw = \"argmin\"\nimpact = \"inelastic\"\nstep = 2e-3\nuntil = 0.1\n[world]\n[[materials]]\nname = \"stone\"\n\
            density = 1000\nfriction = 2\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_space = [0, 0, 1] }}\n\
            [[bodies]]\nname = \"cone\"\nshape = {{ cone = {{ radius = 0.06, length = 0.09 }} }}\nposition = [0, 0, 0.07]\n\
            rotation = {rotation:?}\nvelocity = {velocity:?}\nspin = {spin:?}\n"
    );
    assert_accepted("cone", &text);
}

/// A cylinder across a hollow of the ground has points over two triangles, each with the normal of its own.
#[test]
fn points_over_two_triangles_are_where_bodies_touch() {
    let text = r#"
title = "cylinders and cones on uneven ground"
law = "argmin"
scheme = "moreau-jean"
impact = "moreau"
step = 0.005
until = 0.285
[world]
dimension = 3
gravity = [0, 0, -9.81]
[[materials]]
name = "a"
density = 1000.0
friction = 0.301
[[materials]]
name = "b"
density = 1000.0
friction = 0.943
[[pairs]]
between = ["a","b"]
friction = 0.47
[[bodies]]
name = "floor"
fixed = true
material = "b"
shape = { height_field = { values = [
    [-0.015, -0.03, -0.018, -0.037, -0.013, -0.022],
    [-0.02, -0.038, -0.026, -0.01, -0.005, -0.038],
    [-0.016, -0.049, -0.046, -0.041, -0.046, -0.024],
    [-0.005, -0.009, -0.046, -0.025, -0.039, -0.019],
    [-0.005, -0.019, -0.015, -0.046, -0.024, -0.023],
    [-0.043, -0.003, -0.012, -0.033, -0.041, -0.022]
], size = [2,2] } }
[[bodies]]
name = "wall"
fixed = true
material = "b"
shape = { half_space = [-1,0,0] }
position = [0.5, 0, 0]
[[fill]]
name = "g"
material = "a"
count = 16
seed = 670
shapes = [{ shape = { cylinder = { radius = 0.056, length = 0.062 } }, weight = 1.416, uniform = [0.7, 1.2] }, { shape = { cone = { radius = 0.059, length = 0.09 } }, weight = 0.965, uniform = [0.7, 1.2] }]
region = { box = [0.8, 0.8, 0.6], at = [0, 0, 0.45] }
velocity = [0, 0, -2.0]
"#;
    assert_accepted("hollow", text);
}

/// Impulses of 10⁻⁵ in a step of 1 m/s are judged by what they are off, not by a quotient with their own size.
#[test]
fn small_impulses_of_boxes_under_argmin_are_judged_as_coulombs_law() {
    let text = r#"
title = "boxes on a shaken floor"
law = "argmin"
scheme = "moreau-jean"
impact = "newton"
step = 0.005
until = 0.155
[world]
dimension = 2
gravity = [0, -9.81]
[[materials]]
name = "a"
density = 1000.0
friction = 0.996
[[bodies]]
name = "floor"
motion = { position = ["0.02*sin(t/0.02)", "0.005*sin(t/0.02)"] }
material = "a"
shape = { half_plane = [0,1] }
[[bodies]]
name = "s"
material = "a"
shape = { rectangle = [0.1,0.1] }
position = [0,0.05]
repeat = { count = [4, 2], spacing = [0.1,0.1], stagger = [0,0] }
"#;
    assert_accepted("shaken", text);
}

/// Corrections that turn a body by some hundredths come to rest where it touches, not above.
#[test]
fn a_hull_that_lands_spinning_is_corrected_onto_the_floor() {
    let text = r#"
title = "hulls that land spinning"
law = "coulomb"
scheme = "moreau-jean"
impact = "inelastic"
step = 0.005
until = 0.15
[world]
dimension = 3
gravity = [0, 0, -9.81]
[[materials]]
name = "a"
density = 1000.0
friction = 0.2192
[[materials]]
name = "b"
density = 1000.0
friction = 1.2837
rolling_friction = 0.0154
[[pairs]]
between = ["a","b"]
friction = 0.0363
restitution = 0.6562
[[bodies]]
name = "floor"
fixed = true
material = "b"
shape = { half_space = [0,0,1] }
[[bodies]]
name = "wall"
fixed = true
material = "b"
shape = { half_space = [-1,0,0] }
position = [0.5, 0, 0]
[[fill]]
name = "g"
material = "a"
count = 17
seed = 462
shapes = [{ shape = { hull = [
    [-0.0281, 0.0155, 0.0841],
    [0.0389, -0.0771, -0.0254],
    [0.0027, -0.0837, -0.0331],
    [0.0203, -0.057, -0.0666],
    [0.0541, 0.0579, -0.0426],
    [0.0739, 0.041, 0.031],
    [-0.0804, 0.0319, -0.0248],
    [-0.035, 0.0071, -0.0826],
    [-0.0711, -0.0404, -0.0376],
    [-0.0484, 0.0668, 0.036]
] }, weight = 0.9778, uniform = [0.7, 1.2] },
    { shape = { ball = 0.0646 }, weight = 1.5382, uniform = [0.7, 1.2] },
    { shape = { box = [0.1078, 0.0867, 0.098] }, weight = 0.6795, uniform = [0.7, 1.2] }]
region = { box = [0.8, 0.8, 0.6], at = [0, 0, 0.45] }
velocity = [0, 0, -2.0]
"#;
    assert_accepted("spinning", text);
}

/// A bar that stands at a wall and moves into it has its impact at the initial instant; the account of the bar holds it: the end node
/// loses its kinetic energy, rho A (L/4) v²/2 of a lumped mass in two cells.
#[test]
fn an_impact_at_the_initial_instant_is_in_the_account_of_its_body() {
    let (density, area, length, speed): (f64, f64, f64, f64) = (3430.0, 0.01, 0.5, 1.422);
    for scheme in ["moreau", "moreau-jean"] {
        let text = format!(
            "title = \"bar\"\nlaw = \"frictionless\"\nscheme = \"{scheme}\"\nimpact = \"inelastic\"\nstep = 2.5e-4\nuntil = 0.01\n\
             [elastic]\nmass = \"lumped\"\n[[elastic.meshes]]\nshape = \"bar\"\nfrom = [0]\nto = [{length}]\ncells = [2]\nvelocity = [\"-{speed}\"]\n\
             [[elastic.regions]]\nmodel = \"bar\"\nyoung = 16300\ndensity = {density}\narea = {area}\n\
             [[contacts]]\nname = \"wall\"\nsurface = \"left\"\nobstacle = {{ plane = [1] }}\n"
        );
        let (summary, report) = judged(&format!("initial-{scheme}"), &parse(&text));
        assert!(summary.certified, "{:?}", summary.warnings);
        let report = report.expect("a formulation");
        assert!(report.accepted(), "{scheme}: {:?}", report.violations);
        let body = &summary.bodies[0];
        let whole = density * area * length * speed * speed / 2.0;
        assert!((body.start - whole).abs() < 1e-9 * whole);
        let works = body.external + body.damping + body.numerical + body.contact_normal;
        let change = body.kinetic + body.elastic - body.start;
        assert!(
            (change - works).abs() < 1e-9 * whole,
            "{change} and {works}"
        );
        // What the impact took is the work of the contact, and of the damping of theta where that is above one half.
        let taken = -(body.contact_normal + body.numerical);
        assert!(
            (taken / (0.25 * whole) - 1.0).abs() < 2e-2,
            "{scheme}: {taken}"
        );
    }
}
