//! Motion files whose nodes are all admissible and whose ways in between are not: refused on a line of their own. Right
//! ones, whose straight chord would pass through an obstacle that they fly over, are accepted.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Line, Motion, MotionNode, Quadrature};

const G: f64 = 9.81;

/// A particle of mass 1 in free flight from x0 with velocity v0 under gravity along the last coordinate, beside an obstacle.
fn scene(coordinates: &[&str], gravity: f64, gap: &str, start: (&[f64], &[f64])) -> Scene {
    let squares: Vec<String> = coordinates.iter().map(|q| format!("{q}'^2")).collect();
    let last = coordinates[coordinates.len() - 1];
    let values = coordinates.iter().zip(start.0).zip(start.1);
    let initial: Vec<String> = values
        .map(|((q, x), v)| format!("{q} = {x:?}\n{q}_dot = {v:?}"))
        .collect();
    let text = format!(
        "title = \"flight\"\nstep = 0.01\nuntil = 1\n[system]\ncoordinates = {coordinates:?}\nkinetic_energy = \"({})/2\"\n\
         potential = \"{gravity}*{last}\"\n[[contacts]]\nname = \"obstacle\"\ngap = \"{gap}\"\n[initial]\n{}\n",
        squares.join(" + "),
        initial.join("\n")
    );
    Scene::parse(SourceText::new("flight.toml", &text)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The free flight, exact at the given times.
fn flight(times: &[f64], gravity: f64, (x, v): (&[f64], &[f64]), quadrature: Quadrature) -> Motion {
    let n = x.len();
    let node = |&t: &f64| {
        let fall = |i: usize| if i + 1 == n { gravity } else { 0.0 };
        let q = (0..n).map(|i| x[i] + v[i] * t - 0.5 * fall(i) * t * t);
        let now: Vec<f64> = (0..n).map(|i| v[i] - fall(i) * t).collect();
        MotionNode {
            t,
            q: q.collect(),
            v_left: now.clone(),
            v_right: now,
            ..MotionNode::default()
        }
    };
    Motion {
        nodes: times.iter().map(node).collect(),
        quadrature,
        ..Motion::default()
    }
}

/// Obstacle, gravity, start, times of the nodes, and whether the flight passes through it.
struct Case {
    name: &'static str,
    coordinates: &'static [&'static str],
    gap: &'static str,
    gravity: f64,
    start: (&'static [f64], &'static [f64]),
    times: &'static [f64],
    through: bool,
}

const CASES: [Case; 13] = [
    Case {
        name: "through a plate on a line",
        coordinates: &["x"],
        gap: "abs(x - 1) - 0.01",
        gravity: 0.0,
        start: (&[0.0], &[100.0]),
        times: &[0.0, 0.004, 0.02, 0.03],
        through: true,
    },
    Case {
        name: "up to a plate on a line",
        coordinates: &["x"],
        gap: "abs(x - 1) - 0.01",
        gravity: 0.0,
        start: (&[0.0], &[100.0]),
        times: &[0.0, 0.004, 0.0098],
        through: false,
    },
    Case {
        name: "through a plate a hundred nanometres thick",
        coordinates: &["x"],
        gap: "abs(x - 0.377) - 5e-8",
        gravity: 0.0,
        start: (&[0.0], &[1.0]),
        times: &[0.0, 0.3, 0.9],
        through: true,
    },
    Case {
        name: "through a plate in the plane",
        coordinates: &["x", "y"],
        gap: "max(abs(x - 1) - 0.001, abs(y) - 1)",
        gravity: G,
        start: (&[0.0, 0.0], &[3.0, 2.0]),
        times: &[0.0, 0.2, 0.6],
        through: true,
    },
    Case {
        name: "over a wall that the chord goes through",
        coordinates: &["x", "y"],
        gap: "max(abs(x - 1) - 0.01, y - 1)",
        gravity: G,
        start: (&[0.0, 0.0], &[2.0, 5.0]),
        times: &[0.0, 1.0],
        through: false,
    },
    Case {
        name: "through a wall that is a little higher",
        coordinates: &["x", "y"],
        gap: "max(abs(x - 1) - 0.01, y - 1.3)",
        gravity: G,
        start: (&[0.0, 0.0], &[2.0, 5.0]),
        times: &[0.0, 1.0],
        through: true,
    },
    Case {
        name: "under a bar that the chord goes below",
        coordinates: &["x", "y"],
        gap: "hypot(x - 1, y - 1.2737) - 0.02",
        gravity: G,
        start: (&[0.0, 0.0], &[2.0, 5.0]),
        times: &[0.0, 1.0],
        through: true,
    },
    Case {
        name: "through both walls of a ring",
        coordinates: &["x", "y"],
        gap: "abs(hypot(x - 0.53, y) - 0.11) - 0.001",
        gravity: 0.0,
        start: (&[0.0, 0.0], &[1.0, 0.02]),
        times: &[0.0, 1.0],
        through: true,
    },
    Case {
        name: "past a ring",
        coordinates: &["x", "y"],
        gap: "abs(hypot(x - 0.53, y + 0.13) - 0.11) - 0.001",
        gravity: 0.0,
        start: (&[0.0, 0.0], &[1.0, 0.02]),
        times: &[0.0, 1.0],
        through: false,
    },
    Case {
        name: "through a shell in space",
        coordinates: &["x", "y", "z"],
        gap: "abs(sqrt((x - 2)^2 + y^2 + z^2) - 0.5) - 0.002",
        gravity: G,
        start: (&[0.0, 0.1, 0.0], &[4.0, 0.0, 2.5]),
        times: &[0.0, 0.3, 0.72],
        through: true,
    },
    Case {
        name: "over a shell in space",
        coordinates: &["x", "y", "z"],
        gap: "abs(sqrt((x - 2)^2 + y^2 + z^2) - 0.5) - 0.002",
        gravity: G,
        start: (&[0.0, 0.1, 0.0], &[4.0, 0.0, 5.5]),
        times: &[0.0, 1.0],
        through: false,
    },
    Case {
        name: "through a plate that comes along",
        coordinates: &["x"],
        gap: "abs(x - 1 - 2*t) - 0.01",
        gravity: 0.0,
        start: (&[0.0], &[5.0]),
        times: &[0.0, 0.1, 0.9],
        through: true,
    },
    Case {
        name: "behind a plate that runs away",
        coordinates: &["x"],
        gap: "abs(x - 1 - 5*t) - 0.01",
        gravity: 0.0,
        start: (&[0.0], &[5.0]),
        times: &[0.0, 0.1, 0.9],
        through: false,
    },
];

#[test]
fn the_way_between_two_nodes_goes_through_no_obstacle() {
    for case in &CASES {
        let scene = scene(case.coordinates, case.gravity, case.gap, case.start);
        let motion = flight(case.times, case.gravity, case.start, Quadrature::Affine);
        let report = scene.verify(&motion, None).expect("a formulation");
        if !case.through {
            assert!(report.accepted(), "{}: {:?}", case.name, report.violations);
            continue;
        }
        let found = report.violations.iter().find(|v| v.line == Line::Passage);
        let found = found.unwrap_or_else(|| panic!("{}: {:?}", case.name, report.violations));
        assert_eq!(
            found.constraint.as_deref(),
            Some("obstacle"),
            "{}",
            case.name
        );
        let others = report.violations.iter().find(|v| {
            // One of the looks at gaps may have fallen into it as well.
            v.line != Line::Passage && v.line != Line::NonPenetration
        });
        assert!(others.is_none(), "{}: {others:?}", case.name);
    }
}

#[test]
fn a_free_way_that_cannot_go_round_is_refused_and_one_that_can_is_not() {
    let along = |gap: &str, quadrature| {
        let start = (&[0.0][..], &[100.0][..]);
        let motion = flight(&[0.0, 0.02], 0.0, start, quadrature);
        scene(&["x"], 0.0, gap, start)
            .verify(&motion, None)
            .expect("a formulation")
    };
    for quadrature in [Quadrature::Free, Quadrature::Step, Quadrature::Affine] {
        let report = along("abs(x - 1.003) - 1e-5", quadrature);
        let lines: Vec<Line> = report.violations.iter().map(|v| v.line).collect();
        assert_eq!(lines, [Line::Passage], "{quadrature:?}");
        let report = along("abs(x - 3) - 1e-5", quadrature);
        assert!(report.accepted(), "{quadrature:?}: {:?}", report.violations);
    }
    // A free way over a wall, of which only the ends are known.
    let start = (&[0.0, 0.0][..], &[2.0, 5.0][..]);
    let motion = flight(&[0.0, 1.0], G, start, Quadrature::Free);
    let wall = scene(&["x", "y"], G, "max(abs(x - 1) - 0.01, y - 1)", start);
    let report = wall.verify(&motion, None).expect("a formulation");
    assert!(report.accepted(), "{:?}", report.violations);
}
