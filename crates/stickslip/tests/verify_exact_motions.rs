//! Exact motions in the plane and in space: accepted as they are, refused on the right line when any number of them
//! is changed by a thousandth, or when the law they are judged by is.

use crate::common::exact_motions::{ExactMotion, exact_motions, parse};
use crate::common::random::Random;
use stickslip::algebra::Jet;
use stickslip::internals::CholeskyFactor;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::Scene;
use stickslip::simulation::verify::{
    Formulation, Line, Motion, MotionNode, Quadrature, VerifySettings, verify,
};
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, UnilateralConstraint,
};

use Formulation::{P3, P3Prime, P4, P5, P6};

fn lines(scene: &Scene, motion: &Motion, formulation: Formulation) -> Vec<Line> {
    let report = scene
        .verify(motion, Some(formulation))
        .unwrap_or_else(|e| panic!("{formulation}: {e}"));
    assert_eq!(report.does_not_apply, None, "{formulation}");
    report.violations.iter().map(|v| v.line).collect()
}

#[test]
fn exact_motions_are_accepted() {
    let motions = exact_motions();
    assert!(motions.len() >= 20);
    let mut wrong = Vec::new();
    for exact in &motions {
        let scene = exact.scene();
        for &formulation in exact.formulations {
            let report = scene
                .verify(&exact.motion, Some(formulation))
                .unwrap_or_else(|e| panic!("{}: {e}", exact.name));
            if !report.accepted() {
                wrong.push(format!("{} under {formulation}: {report:?}", exact.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A number of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Time,
    Place(usize),
    Left(usize),
    Right(usize),
    Smooth(usize),
    Atom(usize),
}

impl Number {
    fn all(node: &MotionNode) -> Vec<Self> {
        let mut all = vec![Self::Time];
        all.extend((0..node.q.len()).map(Self::Place));
        all.extend((0..node.v_left.len()).map(Self::Left));
        all.extend((0..node.v_right.len()).map(Self::Right));
        all.extend((0..node.smooth.len()).map(Self::Smooth));
        all.extend((0..node.atom.len()).map(Self::Atom));
        all
    }

    fn of(self, node: &mut MotionNode) -> &mut f64 {
        match self {
            Self::Time => &mut node.t,
            Self::Place(i) => &mut node.q[i],
            Self::Left(i) => &mut node.v_left[i],
            Self::Right(i) => &mut node.v_right[i],
            Self::Smooth(i) => &mut node.smooth[i],
            Self::Atom(i) => &mut node.atom[i],
        }
    }

    /// Largest number of the same kind in the motion, at least the momentum or speed of the motion.
    fn scale(self, motion: &Motion) -> f64 {
        let mut largest = 0.0f64;
        for node in &motion.nodes {
            let list = match self {
                Self::Time => &vec![node.t],
                Self::Place(_) => &node.q,
                Self::Left(_) | Self::Right(_) => &node.v_left,
                Self::Smooth(_) | Self::Atom(_) => &[&node.smooth[..], &node.atom[..]].concat(),
            };
            largest = list.iter().fold(largest, |s, x| s.max(x.abs()));
        }
        // A body at rest has no speed of its own.
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// The lines of which one must notice.
    fn lines(self, node: usize) -> &'static [Line] {
        match (self, node) {
            (Self::Time | Self::Place(_) | Self::Left(_), 0) => &[Line::InitialCondition],
            (Self::Time, _) => &[Line::Kinematics, Line::EquationOfMotion],
            (Self::Place(_), _) => &[Line::Kinematics],
            (Self::Left(_) | Self::Right(_), _) => &[Line::EquationOfMotion, Line::ImpactEquation],
            (Self::Smooth(_), 0) => &[Line::WellFormed],
            (Self::Smooth(_), _) => &[Line::EquationOfMotion],
            (Self::Atom(_), _) => &[Line::ImpactEquation],
        }
    }
}

/// Changes a number by `part` of its size.
fn perturb(exact: &ExactMotion, k: usize, number: Number, part: f64) -> Motion {
    let mut motion = exact.motion.clone();
    let scale = number.scale(&exact.motion);
    let value = number.of(&mut motion.nodes[k]);
    let size = if value.abs() > 1e-9 * scale {
        value.abs()
    } else {
        scale
    };
    *value += part * size;
    motion
}

#[test]
fn every_number_that_is_changed_is_noticed_on_its_line() {
    let mut wrong = Vec::new();
    for exact in &exact_motions() {
        let scene = exact.scene();
        for k in 0..exact.motion.nodes.len() {
            for number in Number::all(&exact.motion.nodes[k]) {
                for part in [1e-3, -1e-3] {
                    let motion = perturb(exact, k, number, part);
                    let found = lines(&scene, &motion, exact.formulations[0]);
                    if !number.lines(k).iter().any(|line| found.contains(line)) {
                        let name = exact.name;
                        wrong.push(format!("{name}, node {k}, {number:?} {part}: {found:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

/// Ten thousand changes of several numbers at once, drawn at random over all motions and their formulations.
#[test]
fn ten_thousand_random_changes_are_refused() {
    let motions = exact_motions();
    let scenes: Vec<Scene> = motions.iter().map(ExactMotion::scene).collect();
    let mut random = Random(20260713);
    let mut accepted = Vec::new();
    let total = 10_000;
    for draw in 0..total {
        let pick = |random: &mut Random, n: usize| (random.bits() % n as u64) as usize;
        let which = pick(&mut random, motions.len());
        let exact = &motions[which];
        let formulation = exact.formulations[pick(&mut random, exact.formulations.len())];
        let mut motion = exact.motion.clone();
        let mut changed = Vec::new();
        for _ in 0..1 + pick(&mut random, 3) {
            let k = pick(&mut random, motion.nodes.len());
            let numbers = Number::all(&motion.nodes[k]);
            let number = numbers[pick(&mut random, numbers.len())];
            let sign = if random.bits() & 1 == 0 { 1.0 } else { -1.0 };
            let part = sign * 10f64.powf(random.uniform(-4.0, -2.0));
            let new = *number.of(&mut perturb(exact, k, number, part).nodes[k]);
            *number.of(&mut motion.nodes[k]) = new;
            changed.push((k, number, part));
        }
        if lines(&scenes[which], &motion, formulation).is_empty() {
            accepted.push(format!(
                "draw {draw}: {} {formulation} {changed:?}",
                exact.name
            ));
        }
    }
    println!("{} of {total} refused", total - accepted.len());
    assert!(
        accepted.is_empty(),
        "{} accepted: {accepted:#?}",
        accepted.len()
    );
}

/// A motion with the reaction at node `k` changed (its impulse there, or that over the interval before), and everything after it moved as
/// the equations of motion ask: only the laws of contact can notice.
fn follow(scene: &Scene, exact: &ExactMotion, (k, atom): (usize, bool), change: &[f64]) -> Motion {
    let system = scene.system().expect("a system");
    let mut motion = exact.motion.clone();
    let (n, node) = (system.dof(), exact.motion.nodes[k].clone());
    let mut jump = vec![0.0; n];
    let mut rows = change.iter();
    for constraint in system.constraints() {
        let mut gradient = vec![0.0; n];
        constraint.gap().gradient(node.t, &node.q, &mut gradient);
        for point in constraint.points() {
            let mut own = vec![0.0; n * (1 + point.frame.tangent_count())];
            point.frame.rows(node.t, &node.q, &gradient, &mut own);
            for row in own.chunks(n) {
                let p = rows.next().expect("a row");
                jump.iter_mut().zip(row).for_each(|(v, r)| *v += p * r);
            }
        }
    }
    let mut mass = system.new_matrix();
    system.mass(&node.q, &mut mass);
    let mut factor = CholeskyFactor::default();
    factor.factor(&mass).expect("a mass");
    factor.solve_in_place(&mut jump);

    let before = if atom {
        0.0
    } else {
        node.t - motion.nodes[k - 1].t
    };
    let own = &mut motion.nodes[k];
    let reaction = if atom { &mut own.atom } else { &mut own.smooth };
    reaction.iter_mut().zip(change).for_each(|(p, d)| *p += d);
    for (j, later) in motion.nodes.iter_mut().enumerate().skip(k) {
        for i in 0..n {
            later.q[i] += jump[i] * (0.5 * before + later.t - node.t);
            later.v_right[i] += jump[i];
            if j > k || !atom {
                later.v_left[i] += jump[i];
            }
        }
    }
    motion
}

/// Ten thousand random changes of reactions that the motion follows: momentum and displacements are right, the laws are not.
#[test]
fn ten_thousand_changes_that_keep_the_balance_are_refused() {
    let mut motions = exact_motions();
    // Positions with quaternions are not sums of displacements.
    motions.retain(|m| m.motion.nodes[0].q.len() == m.motion.nodes[0].v_left.len());
    let scenes: Vec<Scene> = motions.iter().map(ExactMotion::scene).collect();
    let mut random = Random(4711);
    let (mut accepted, total) = (Vec::new(), 10_000);
    for draw in 0..total {
        let pick = |random: &mut Random, n: usize| (random.bits() % n as u64) as usize;
        let which = pick(&mut random, motions.len());
        let exact = &motions[which];
        let formulation = exact.formulations[pick(&mut random, exact.formulations.len())];
        let k = pick(&mut random, exact.motion.nodes.len());
        let atom = k == 0 || random.bits() & 1 == 0;
        let scale = Number::Atom(0).scale(&exact.motion);
        let change: Vec<f64> = (0..exact.motion.nodes[k].atom.len())
            .map(|_| {
                let sign = if random.bits() & 1 == 0 { 1.0 } else { -1.0 };
                sign * scale * 10f64.powf(random.uniform(-4.0, -2.0))
            })
            .collect();
        let motion = follow(&scenes[which], exact, (k, atom), &change);
        let found = lines(&scenes[which], &motion, formulation);
        if found.is_empty() {
            accepted.push(format!(
                "draw {draw}: {} {formulation} {k} {atom} {change:?}",
                exact.name
            ));
        }
    }
    println!("{} of {total} refused", total - accepted.len());
    assert!(
        accepted.is_empty(),
        "{} accepted: {accepted:#?}",
        accepted.len()
    );
}

/// The same motion judged by a law that is a thousandth off: the line that states the law notices.
#[test]
fn a_law_that_is_a_thousandth_off_is_noticed() {
    let cases: [(&str, &str, &str, &[Line]); 8] = [
        (
            "slides and stops",
            "friction = 0.5",
            "friction = 0.4995",
            &[Line::FrictionCone],
        ),
        (
            "slides and stops",
            "friction = 0.5",
            "friction = 0.5005",
            &[Line::FrictionLaw],
        ),
        (
            "slides across and stops in space",
            "friction = 0.5",
            "friction = 0.4995",
            &[Line::FrictionCone],
        ),
        (
            "slides across and stops in space",
            "friction = 0.5",
            "friction = 0.5005",
            &[Line::FrictionLaw],
        ),
        (
            "slides along a groove",
            "friction = 0.3",
            "friction = 0.2997",
            &[Line::FrictionCone],
        ),
        (
            "slides along a groove",
            "friction = 0.3",
            "friction = 0.3003",
            &[Line::FrictionLaw],
        ),
        (
            "bounces and slides",
            "restitution = 0.4",
            "restitution = 0.4004",
            &[Line::ImpactLaw],
        ),
        (
            "bounces along the bisector of a groove",
            "restitution = 0.6",
            "restitution = 0.6006",
            &[Line::ImpactLaw],
        ),
    ];
    for (name, from, to, expected) in cases {
        let motions = exact_motions();
        let exact = motions.iter().find(|m| m.name == name).expect("a motion");
        assert!(exact.scene.contains(from), "{name}");
        let other = parse(&exact.scene.replace(from, to));
        for &formulation in exact.formulations {
            let found = lines(&other, &exact.motion, formulation);
            let noticed = expected.iter().all(|line| found.contains(line));
            assert!(noticed, "{name} {to} under {formulation}: {found:?}");
        }
    }
}

/// Friction of an impact turned by a thousandth of a radian has nearly the same power: its direction is judged too.
#[test]
fn friction_in_a_slightly_wrong_direction_is_refused() {
    let motions = exact_motions();
    let exact = motions
        .iter()
        .find(|m| m.name == "bounces and slides in space");
    let exact = exact.expect("a motion");
    let mut motion = exact.motion.clone();
    let (s, c) = 1e-3f64.sin_cos();
    let old = exact.motion.nodes[1].atom.clone();
    let new = [c * old[1] - s * old[2], s * old[1] + c * old[2]];
    let h = motion.nodes[2].t - motion.nodes[1].t;
    for i in 0..2 {
        let change = (new[i] - old[1 + i]) / 2.0;
        motion.nodes[1].atom[1 + i] += 2.0 * change;
        motion.nodes[1].v_right[i] += change;
        motion.nodes[2].q[i] += h * change;
        motion.nodes[2].v_left[i] += change;
        motion.nodes[2].v_right[i] += change;
    }
    for formulation in [P5, P3Prime] {
        let found = lines(&exact.scene(), &motion, formulation);
        assert_eq!(found, [Line::FrictionLaw], "{formulation}");
    }
}

/// A particle in space that sticks under a diagonal pull above the limit.
#[test]
fn a_diagonal_pull_above_the_limit_cannot_be_held_in_space() {
    let motions = exact_motions();
    let exact = motions
        .iter()
        .find(|m| m.name == "held against a diagonal pull in space");
    let exact = exact.expect("a motion");
    // The same rest with 1.3 times the limit: pull and reaction grow together.
    let grown = 1.3 / 0.7;
    let mut motion = exact.motion.clone();
    motion.nodes[1].smooth[1..]
        .iter_mut()
        .for_each(|p| *p *= grown);
    let friction = 0.5 * 2.0 * 9.81;
    let mut text = exact.scene.clone();
    for part in [0.8, 0.6] {
        let (from, to) = (0.7 * part * friction, 1.3 * part * friction);
        assert!(text.contains(&format!("= {from}")), "{text}");
        text = text.replace(&format!("= {from}"), &format!("= {to}"));
    }
    let scene = parse(&text);
    for formulation in [P3, P5, P6, P3Prime] {
        let found = lines(&scene, &motion, formulation);
        assert_eq!(found, [Line::FrictionCone], "{formulation}");
    }
}

/// The bisector bounce is the paper's own example for P4; surface by surface friction would have to act.
#[test]
fn the_bisector_bounce_solves_p4_and_not_coulomb_surface_by_surface() {
    let motions = exact_motions();
    let exact = motions
        .iter()
        .find(|m| m.name == "bounces along the bisector of a groove");
    let exact = exact.expect("a motion");
    assert_eq!(lines(&exact.scene(), &exact.motion, P4), []);
    assert_eq!(
        lines(&exact.scene(), &exact.motion, P6),
        [Line::FrictionLaw]
    );
}

fn fall(height: f64, quadrature: Quadrature) -> Motion {
    let node = |t: f64, y: f64, v: f64| MotionNode {
        t,
        q: vec![y],
        v_left: vec![v],
        v_right: vec![v],
        ..MotionNode::default()
    };
    Motion {
        nodes: vec![node(0.0, 10.0, 0.0), node(1.0, 10.0 - height, -9.81)],
        quadrature,
        ..Motion::default()
    }
}

const BALL: &str = "title = \"ball\"\nstep = 0.01\nuntil = 1\n[system]\ncoordinates = [\"y\"]\n\
    kinetic_energy = \"y'^2/2\"\npotential = \"9.81*y\"\n[[contacts]]\ngap = \"y\"\n[initial]\ny = 10\n";

/// A ball at rest that falls one second: 4.905 m, and nothing else, unless the file says that its path is free.
#[test]
fn displacements_are_integrals_of_the_velocity() {
    let scene = parse(BALL);
    let judge = |motion: &Motion| lines(&scene, motion, Formulation::P2);
    assert_eq!(judge(&fall(4.905, Quadrature::Affine)), []);
    for height in [0.1, 4.9, 4.91, 9.81, 0.0] {
        assert_eq!(
            judge(&fall(height, Quadrature::Affine)),
            [Line::Kinematics],
            "{height}"
        );
    }
    // Constant velocity over the interval: the ball has not moved yet.
    assert_eq!(judge(&fall(0.0, Quadrature::Step)), []);
    assert_eq!(judge(&fall(4.905, Quadrature::Step)), [Line::Kinematics]);
    // Within h/2 times the change of velocity of 4.905.
    for height in [0.1, 4.905, 9.8] {
        assert_eq!(judge(&fall(height, Quadrature::Free)), [], "{height}");
    }
    assert_eq!(judge(&fall(9.82, Quadrature::Free)), [Line::Kinematics]);
    // The initial condition of the scene is part of the problem.
    let mut elsewhere = fall(4.905, Quadrature::Affine);
    elsewhere.nodes.iter_mut().for_each(|n| n.q[0] += 1.0);
    assert_eq!(judge(&elsewhere), [Line::InitialCondition]);
    let mut late = fall(4.905, Quadrature::Affine);
    late.nodes.iter_mut().for_each(|n| n.t += 0.5);
    assert_eq!(judge(&late), [Line::InitialCondition]);
}

/// A spring: nodes of the exact motion are not affine, which the default notices and `free` allows.
#[test]
fn motions_that_are_not_affine_between_nodes_say_so() {
    let text = "title = \"spring\"\nstep = 0.01\nuntil = 1\n[system]\ncoordinates = [\"x\"]\n\
        kinetic_energy = \"x'^2/2\"\npotential = \"2*x^2\"\n[[contacts]]\ngap = \"x + 5\"\n[initial]\nx = 1\n";
    let scene = parse(text);
    let mut motion = Motion::default();
    for k in 0..=20 {
        let t = 0.1 * f64::from(k);
        let v = -2.0 * (2.0 * t).sin();
        motion.nodes.push(MotionNode {
            t,
            q: vec![(2.0 * t).cos()],
            v_left: vec![v],
            v_right: vec![v],
            ..MotionNode::default()
        });
    }
    let affine = lines(&scene, &motion, Formulation::P2);
    assert!(affine.contains(&Line::Kinematics), "{affine:?}");
    motion.quadrature = Quadrature::Free;
    assert_eq!(lines(&scene, &motion, Formulation::P2), []);
    // Twice the speed is outside of every path.
    let mut fast = motion.clone();
    fast.nodes[10].v_left[0] *= 2.0;
    fast.nodes[10].v_right[0] *= 2.0;
    let found = lines(&scene, &fast, Formulation::P2);
    assert!(found.contains(&Line::Kinematics) && found.contains(&Line::EquationOfMotion));
}

/// What is not a key of a motion file is not overlooked.
#[test]
fn unknown_keys_of_a_motion_file_are_refused() {
    let text = |key: &str| format!("{{\"nodes\": [], \"{key}\": \"step\"}}");
    assert!(Motion::from_json(&text("quadrature")).is_ok());
    assert!(Motion::from_json(&text("quadratur")).is_err());
    assert!(Motion::from_json("{\"nodes\": [], \"quadrature\": \"simpson\"}").is_err());
}

/// A reaction needs contact during its whole interval, and a path may not dive between its nodes.
#[test]
fn what_happens_between_nodes_is_judged() {
    let scene = parse(BALL);
    // Thrown up by a reaction that begins on the ground and ends in the air.
    let mut pushed = fall(4.905, Quadrature::Affine);
    pushed.nodes[1].smooth = vec![19.62];
    pushed.nodes[1].v_left = vec![9.81];
    pushed.nodes[1].v_right = vec![9.81];
    pushed.nodes[1].q = vec![10.0 + 4.905];
    let found = lines(&scene, &pushed, Formulation::P2);
    assert!(found.contains(&Line::Complementarity), "{found:?}");
    // Down below the ground and up again under a force that the scene has.
    let text = BALL
        .replace("potential = \"9.81*y\"", "forces = { y = 40 }")
        .replace("[initial]\ny = 10", "[initial]\ny = 1\ny_dot = -20");
    let scene = parse(&text);
    let mut dive = fall(0.0, Quadrature::Affine);
    for (node, v) in dive.nodes.iter_mut().zip([-20.0, 20.0]) {
        node.q = vec![1.0];
        (node.v_left, node.v_right) = (vec![v], vec![v]);
    }
    assert_eq!(
        lines(&scene, &dive, Formulation::P2),
        [Line::NonPenetration, Line::Passage]
    );
}

/// Two particles on a rod of length 1, of which the first rubs and brakes both; a joint that opens is noticed.
#[test]
fn joints_are_lines_of_a_motion() {
    let law =
        ContactLaw::new(FrictionSection::segment(0.5).unwrap(), ImpactLaw::Inelastic).unwrap();
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0, 0.0]));
    let (m, g, first) = ([1.0, 1.0, 2.0], 9.81, [0.0, 0.0, 1.0]);
    let system = GeneralizedSystem::builder(["a", "y", "b"])
        .mass_diagonal(&m)
        .dead_load(&[0.0, -g, 0.0])
        .joint(BilateralConstraint::new(
            "rod",
            AutoScalar(|_: Jet, q: &[Jet]| q[2] - q[0] - 1.0),
        ))
        .constraint(
            UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&first)
        .unwrap();
    // Velocities of both after the time h.
    let judge = |a: f64, b: f64| {
        let h = 0.3;
        let node = |t: f64, q: [f64; 3], v: [f64; 3], smooth: Vec<f64>| MotionNode {
            t,
            q: q.to_vec(),
            v_left: v.to_vec(),
            v_right: v.to_vec(),
            smooth,
            atom: Vec::new(),
            ..MotionNode::default()
        };
        let end = [0.5 * h * (2.0 + a), 0.0, 1.0 + 0.5 * h * (2.0 + b)];
        let motion = Motion {
            nodes: vec![
                node(0.0, first, [2.0, 0.0, 2.0], vec![]),
                node(h, end, [a, 0.0, b], vec![h * g, -0.5 * h * g]),
            ],
            ..Motion::default()
        };
        let report = verify(&system, &motion, P5, &VerifySettings::default());
        report.violations.iter().map(|v| v.line).collect::<Vec<_>>()
    };
    let together = 2.0 - 0.3 * 0.5 * g / 3.0;
    assert_eq!(judge(together, together), []);
    // The one that rubs brakes alone: its momentum is right only without the rod.
    let found = judge(2.0 - 0.3 * 0.5 * g, 2.0);
    assert!(found.contains(&Line::Joints), "{found:?}");
}
