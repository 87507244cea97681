//! Theorem 1 of [Paoli2015] beside joints, along sides of polygons, and what it refuses.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::studies::StudyError;
use stickslip::simulation::studies::attainable::{Attainable, Hypothesis, Sampled, Shape};

fn scene(body: &str) -> Scene {
    let text = format!(
        "title = \"joints\"\nuntil = 0.01\nstep = 1e-3\nlaw = \"argmin\"\nscheme = \"moreau\"\nprojection = \"none\"\n{body}"
    );
    Scene::parse(SourceText::new("joints.toml", text)).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

fn of(scene: &Scene) -> Result<Attainable, StudyError> {
    let (q, v) = scene.initial_state();
    Attainable::at(scene.system().unwrap().as_ref(), &q, &v)
}

fn sampled(scene: &Scene, epsilon: f64, samples: usize) -> Sampled {
    let (q, v) = scene.initial_state();
    let system = scene.system().unwrap();
    Sampled::around(system.as_ref(), (&q, &v), epsilon, samples, 1).unwrap()
}

/// The bar of [CharlesBallard2016] with μ = 1 at −45°: γ < 0 wherever it is deeper. With a height that a joint holds at zero it is the same.
const JOINTED_BAR: &str = "[system]\ncoordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"x'^2/2 + y'^2/2 + a'^2/6\"\n\
    [[joints]]\nname = \"rail\"\nequation = \"y\"\n\
    [[contacts]]\nname = \"axis\"\ngap = \"y + sin(a) + sin(pi/4)\"\npoint = [\"x + cos(a)\", \"y + sin(a)\"]\nfriction = 1\n\
    [initial]\na = \"-pi/4\"\nx_dot = 1\n";

#[test]
fn a_joint_and_the_coordinate_it_leaves_out_give_one_verdict() {
    let reduced = "[system]\ncoordinates = [\"x\", \"a\"]\nkinetic_energy = \"x'^2/2 + a'^2/6\"\n\
        [[contacts]]\nname = \"axis\"\ngap = \"sin(a) + sin(pi/4)\"\npoint = [\"x + cos(a)\", \"sin(a)\"]\nfriction = 1\n\
        [initial]\na = \"-pi/4\"\nx_dot = 1\n";
    for body in [JOINTED_BAR, reduced] {
        let scene = scene(body);
        let found = of(&scene).unwrap();
        assert_eq!((found.sign, found.shape), (0, Shape::Segment), "{body}");
        assert_eq!(found.positive_neighbours, Some(false), "{body}");
        assert_eq!(found.limit, Some(Shape::Pair), "{body}");
        let sampled = sampled(&scene, 1e-2, 400);
        assert!(
            sampled.excess < 0.02 && sampled.gap < 1e-3,
            "{body}: {} {}",
            sampled.excess,
            sampled.gap
        );
    }
    // The samples keep to the joint.
    let sampled = sampled(&scene(JOINTED_BAR), 1e-1, 400);
    assert!(sampled.velocities.iter().all(|v| v[1].abs() < 1e-15));
}

/// γ = z W_NN on a joint z = 0: zero all around, whatever it is off the joint.
#[test]
fn what_gamma_is_off_the_joints_does_not_count() {
    for (friction, joint) in [
        ("1 - z", "z"),
        ("1 + z", "z"),
        ("1 - z", "z^3 + z"),
        ("1 - z + x^2", "z - x^2"),
    ] {
        let body = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + 1e-30*z'^2\"\n\
             [[contacts]]\ngap = \"y\"\ntangents = [[\"1\", \"1\", \"0\"]]\nfriction = \"{friction}\"\n\
             [[joints]]\nname = \"j\"\nequation = \"{joint}\"\n[initial]\nx_dot = 1\n"
        );
        let found = of(&scene(&body)).unwrap();
        assert_eq!(
            (found.sign, found.positive_neighbours),
            (0, Some(false)),
            "{friction}, {joint}"
        );
        assert_eq!(found.limit, Some(Shape::Pair), "{friction}, {joint}");
    }
}

/// M⁻¹ = [1, −1/2; −1/2, 1] and friction 2 (1 + f) make γ/W_NN = −f; f depends on a coordinate z without weight that a joint makes a function of x
/// and w: the branch is that of f(x, z(x, w)), and of the coordinates without z.
#[test]
fn on_curved_joints_the_branch_is_that_of_gamma_on_them() {
    for (f, z, positive) in [
        ("z", "2*x^2 + w^2", false),
        ("-z", "2*x^2 + w^2", true),
        ("z", "x^2 - w^2", true),
        ("z - x^2", "2*x^2 + w^2", false),
        ("z - x^2", "x^2/2 + w^2", true),
        ("z^2 - x^2", "x + w^2", true),
        ("z + y", "x^2 + w^2", true),
        ("z - y", "x^2 + w^4", false),
        ("z", "exp(x) - 1 - x", false),
    ] {
        let jointed = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"w\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + x'*y')*2/3 + w'^2/2 + 1e-30*z'^2\"\n\
             [[joints]]\nname = \"j\"\nequation = \"z - ({z})\"\n\
             [[contacts]]\ngap = \"y\"\ntangents = [[1, 0, 0, 0]]\nfriction = \"2*(1 + {f})\"\n[initial]\nx_dot = -1\n{}",
            // The joint lets z go with x.
            if z == "x + w^2" { "z_dot = -1\n" } else { "" }
        );
        let reduced = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"w\"]\nkinetic_energy = \"(x'^2 + y'^2 + x'*y')*2/3 + w'^2/2\"\n\
             [[contacts]]\ngap = \"y\"\ntangents = [[1, 0, 0]]\nfriction = \"2*(1 + {})\"\n[initial]\nx_dot = -1\n",
            f.replace('z', &format!("({z})"))
        );
        for body in [jointed, reduced] {
            let found = of(&scene(&body)).unwrap();
            assert_eq!(found.sign, 0, "{body}");
            assert_eq!(found.positive_neighbours, Some(positive), "{body}");
        }
    }
}

/// Two particles on a rod that turns in space would be a joint like this: lengths held, friction in space.
#[test]
fn in_space_beside_a_joint_the_branch_is_that_of_gamma_on_it() {
    for (f, positive) in [
        ("x^2 + z^2", false),
        ("z^2 - x^4", true),
        ("-r^2", true),
        ("r^2", false),
    ] {
        let body = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"z\", \"r\"]\nkinetic_energy = \"(x'^2 + y'^2 + x'*y')*2/3 + z'^2/2 + 1e-30*r'^2\"\n\
             [[joints]]\nname = \"length\"\nequation = \"(1 + r)^2 - (1 + x)^2 - z^2\"\n\
             [[contacts]]\ngap = \"y\"\ntangents = [[1, 0, 0, 0], [0, 0, 1, 0]]\nfriction = \"2*(1 + {f})\"\n\
             [initial]\nx_dot = -1\nr_dot = -1\n"
        );
        let found = of(&scene(&body)).unwrap();
        assert_eq!(
            (found.sign, found.hypothesis),
            (0, Hypothesis::StrictlyConvex),
            "{f}"
        );
        assert_eq!(found.positive_neighbours, Some(positive), "{f}");
    }
}

/// Two unit particles at the ends of a rigid rod without mass, at an elevation with tan = t, one of them on the floor: the joint takes half of what moves
/// it along the rod, W = 1 − d dᵀ/2, and γ = 0 at μ = (t² + 2)/t, which is least, 2 √2, at t = √2. By hand an impulse s (1, μ) gives the slip
/// s 3/√2 back there, and the other end s (1/√2, 0, 1).
#[test]
fn a_dumbbell_held_by_its_length_jams_as_by_hand() {
    for unit in [1.0, 1e-3] {
        let body = format!(
            "[parameters]\nl = {unit:e}\n[system]\ncoordinates = [\"x1\", \"y1\", \"z1\", \"x2\", \"y2\", \"z2\"]\n\
             kinetic_energy = \"(x1'^2 + y1'^2 + z1'^2 + x2'^2 + y2'^2 + z2'^2)/2\"\n\
             [[joints]]\nname = \"length\"\nequation = \"(x1-x2)^2 + (y1-y2)^2 + (z1-z2)^2 - 4*l^2\"\n\
             [[contacts]]\nname = \"tip\"\ngap = \"z1\"\npoint = [\"x1\", \"y1\", \"z1\"]\nfriction = \"2*sqrt(2)\"\n\
             [initial]\nx2 = \"2*l/sqrt(3)\"\nz2 = \"2*l*sqrt(2/3)\"\nx1_dot = \"-l\"\nx2_dot = \"-l\"\n"
        );
        let scene = scene(&body);
        let found = of(&scene).unwrap();
        assert_eq!(
            (found.sign, found.positive_neighbours),
            (0, Some(true)),
            "{unit}"
        );
        assert_eq!(
            (found.shape, found.limit),
            (Shape::Segment, Some(Shape::Segment))
        );
        let expected = [0.0, 0.0, 0.0, -2.0 / 3.0, 0.0, 2f64.sqrt() / 3.0];
        for (jam, expected) in found.jam.iter().zip(expected) {
            assert!(
                (jam - unit * expected).abs() < 1e-9 * unit,
                "{:?}",
                found.jam
            );
        }
    }
}

#[test]
fn what_has_no_surface_no_normal_or_no_slip_is_refused_by_name() {
    let twice = JOINTED_BAR.replace(
        "[[contacts]]",
        "[[joints]]\nname = \"again\"\nequation = \"2*y\"\n[[contacts]]",
    );
    let dependent = StudyError::DependentJoints {
        joint: "again".into(),
    };
    assert_eq!(of(&scene(&twice)), Err(dependent));
    let held = JOINTED_BAR.replace(
        "[[contacts]]",
        "[[joints]]\nname = \"angle\"\nequation = \"a + pi/4\"\n[[contacts]]",
    );
    assert_eq!(of(&scene(&held)), Err(StudyError::HeldGap));
    for (speed, sign) in [("-0.1", -1.0), ("0.1", 1.0)] {
        let striking = format!("{JOINTED_BAR}a_dot = {speed}\n");
        let Err(StudyError::NotSliding { speed }) = of(&scene(&striking)) else {
            panic!("{:?}", of(&scene(&striking)))
        };
        assert_eq!(speed.signum(), sign);
    }
}

/// The particle of the test below on a rail along x: friction across it moves nothing, and the square is an interval.
#[test]
fn a_polygon_on_a_rail_is_friction_of_one_dimension() {
    for polygon in [
        "[0.7, -0.7], [0.7, 0.7], [-0.7, 0.7], [-0.7, -0.7]",
        "[0.7, 0.1], [0.7, 0.2], [-0.7, 0.2], [-0.7, -0.2]",
    ] {
        let body = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
             [[joints]]\nname = \"rail\"\nequation = \"y\"\n\
             [[contacts]]\ngap = \"z\"\ntangents = [[1, 0, \"1/0.7\"], [0, 1, 0]]\nfriction = {{ polygon = [{polygon}] }}\n\
             [initial]\nx_dot = 1\n"
        );
        let found = of(&scene(&body)).unwrap();
        assert_eq!(
            (found.sign, found.hypothesis),
            (0, Hypothesis::OneDimension)
        );
        assert_eq!(
            (found.shape, found.limit),
            (Shape::Segment, Some(Shape::Pair))
        );
        assert!(found.jam.iter().all(|v| v.abs() < 1e-12), "{:?}", found.jam);
    }
}

/// A particle whose tangent reads part of the height, with a square section one side of which has γ = 0. −v lies in the cone of that side, so that
/// friction along it can take the whole velocity.
#[test]
fn along_a_side_of_a_polygon_the_jam_has_the_least_energy() {
    let body = |y: f64| {
        format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
             [[contacts]]\ngap = \"z\"\ntangents = [[1, 0, \"1/0.7\"], [0, 1, 0]]\n\
             friction = {{ polygon = [[0.7, -0.7], [0.7, 0.7], [-0.7, 0.7], [-0.7, -0.7]] }}\n[initial]\nx_dot = 1\ny_dot = {y}\n"
        )
    };
    for y in [0.3, -0.8, 3.0, 1.0] {
        let scene = scene(&body(y));
        let found = of(&scene).unwrap();
        assert_eq!((found.sign, found.hypothesis), (0, Hypothesis::None));
        // Nothing is said of the limit.
        assert_eq!((found.limit, found.converges), (None, None));
        // Impulses a (1, −0.7, 0.7) + b (1, −0.7, −0.7) move the particle by (−0.7 (a + b), 0.7 (a − b), 0): the least energy on a grid.
        let mut least = (f64::INFINITY, [0.0; 2]);
        for i in 0..=400 {
            for j in 0..=400 {
                let (a, b) = (f64::from(i) * 0.01, f64::from(j) * 0.01);
                let v = [1.0 - 0.7 * (a + b), y + 0.7 * (a - b)];
                let energy = v[0] * v[0] + v[1] * v[1];
                if energy < least.0 {
                    least = (energy, v);
                }
            }
        }
        let energy: f64 = found.jam.iter().map(|x| x * x).sum();
        assert!(
            energy <= least.0 && energy > least.0 - 0.05,
            "{y}: {:?} {least:?}",
            found.jam
        );
        assert!(found.jam[2].abs() < 1e-12, "{:?}", found.jam);
        if y.abs() <= 1.0 {
            assert!(energy < 1e-24, "{:?}", found.jam);
        }
        let sampled = sampled(&scene, 1e-3, 200);
        assert!(sampled.excess < 1e-2, "{y}: {}", sampled.excess);
    }
}
