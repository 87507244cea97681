//! Joints: constrained and reduced descriptions of one mechanism move alike.

use std::ops::ControlFlow;

use crate::common::{self, Scheme, run};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::{Scene, SourceText};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, UnilateralConstraint,
};

const G: f64 = 9.81;

fn wall_law() -> ContactLaw {
    let section = FrictionSection::segment(0.4).expect("valid");
    ContactLaw::new(section, ImpactLaw::Newton { restitution: 0.5 }).expect("valid")
}

/// Pendulum of unit length in Cartesian coordinates held by a joint, above a wall at x = -0.3.
fn constrained(redundant: bool) -> GeneralizedSystem {
    let a0 = 1.0f64;
    let length = |_: Jet, q: &[Jet]| (q[0] * q[0] + q[1] * q[1]).sqrt() - 1.0;
    let wall = UnilateralConstraint::new("wall", AutoScalar(|_: Jet, q: &[Jet]| q[0] + 0.3))
        .with_point(
            ContactFrame::planar_point(|q: &[Jet]| [q[0], q[1]], [1.0, 0.0]),
            wall_law(),
        );
    let mut builder = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -G])
        .joint(BilateralConstraint::new("rod", AutoScalar(length)))
        .constraint(wall);
    if redundant {
        let square = |_: Jet, q: &[Jet]| q[0] * q[0] + q[1] * q[1] - 1.0;
        builder = builder.joint(BilateralConstraint::new("again", AutoScalar(square)));
    }
    builder.build(&[a0.sin(), -a0.cos()]).expect("valid")
}

/// The same pendulum in its angle.
fn reduced() -> GeneralizedSystem {
    let wall = UnilateralConstraint::new("wall", AutoScalar(|_: Jet, q: &[Jet]| q[0].sin() + 0.3))
        .with_point(
            ContactFrame::planar_point(|q: &[Jet]| [q[0].sin(), -q[0].cos()], [1.0, 0.0]),
            wall_law(),
        );
    GeneralizedSystem::builder(["a"])
        .mass_diagonal(&[1.0])
        .potential(|q: &[Jet]| -q[0].cos() * G)
        .constraint(wall)
        .build(&[1.0])
        .expect("valid")
}

#[test]
fn reduced_and_constrained_pendulum_give_the_same_motion() {
    let a0 = 1.0f64;
    let mut distances = Vec::new();
    for h in [1e-3, 5e-4, 2.5e-4] {
        let scheme = Scheme::MoreauJean(Some(0.51));
        let start = [a0.sin(), -a0.cos()];
        let cartesian = run(
            constrained(false),
            scheme,
            (&start, &[0.0, 0.0]),
            h,
            0.9,
            |_| {},
        );
        let angle = run(reduced(), scheme, (&[a0], &[0.0]), h, 0.9, |_| {});
        let a = angle.state().q[0];
        let q = &cartesian.state().q;
        distances.push((q[0] - a.sin()).abs().max((q[1] + a.cos()).abs()));
        assert!(cartesian.ledger().is_closed() && angle.ledger().is_closed());
        for certificate in [cartesian.certificate(), angle.certificate()] {
            assert!(certificate.holds(1e-11), "{certificate:?}");
        }
    }
    // Both converge to one motion at order 1 (there is an impact on the way).
    assert!(
        distances[2] < 6e-3 && distances[2] < 0.6 * distances[0],
        "{distances:?}"
    );
}

#[test]
fn a_redundant_joint_changes_nothing() {
    let start = [1.0f64.sin(), -1.0f64.cos()];
    let scheme = Scheme::MoreauJean(Some(0.51));
    let single = run(
        constrained(false),
        scheme,
        (&start, &[0.0, 0.0]),
        1e-3,
        0.9,
        |_| {},
    );
    let double = run(
        constrained(true),
        scheme,
        (&start, &[0.0, 0.0]),
        1e-3,
        0.9,
        |_| {},
    );
    for (a, b) in single.state().q.iter().zip(&double.state().q) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_velocity_off_the_joint_is_projected_at_the_start() {
    let start = [1.0f64.sin(), -1.0f64.cos()];
    // Radial velocity is removed, tangential velocity kept.
    let v = [start[0] - start[1], start[1] + start[0]];
    let sim = common::simulation(
        constrained(false),
        Scheme::MoreauJean(None),
        (&start, &v),
        1e-3,
    );
    let expected = [-start[1], start[0]];
    for (a, b) in sim.state().v.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-14, "{:?}", sim.state().v);
    }
}

#[test]
fn friction_cannot_hold_a_pinned_bar_that_it_cannot_turn() {
    // One degree of freedom: the wall's friction has no direction of its own to act in when the
    // contact point moves along the normal only.
    let law = wall_law();
    let gap = AutoScalar(|_: Jet, q: &[Jet]| q[0]);
    let system = GeneralizedSystem::builder(["x"])
        .mass_diagonal(&[1.0])
        .constraint(UnilateralConstraint::new("stop", gap).with_point(
            ContactFrame::planar_point(|q: &[Jet]| [q[0], Jet::from(0.0)], [1.0, 0.0]),
            law,
        ))
        .build(&[0.0])
        .expect("valid");
    let sim = common::simulation(system, Scheme::MoreauJean(None), (&[0.0], &[-1.0]), 1e-3);
    assert!((sim.state().v[0] - 0.5).abs() < 1e-15);
}

/// A joint that moves a particle as x = A sin(w t) gives it its kinetic energy and momentum, under every scheme: the work is that of the joint.
#[test]
fn the_work_of_a_driven_joint_is_booked_as_that_of_the_joint() {
    let text = |scheme: &str| {
        format!(
            r#"
title = "Drive"
step = 0.01
until = 0.4
scheme = "{scheme}"
[system]
coordinates = ["x", "y"]
kinetic_energy = "3*(x'^2 + y'^2)/2"
potential = "3*9.81*y"
[[joints]]
name = "drive"
equation = "x - 0.2*sin(3*t)"
[[contacts]]
name = "floor"
gap = "y"
restitution = 0.5
[initial]
y = 0.1
x_dot = 0.6
"#
        )
    };
    let speed = 0.6 * (3.0f64 * 0.4).cos();
    let (work, impulse) = (1.5 * (speed * speed - 0.36), 3.0 * (speed - 0.6));
    for (scheme, tolerance) in [("event-driven", 1e-9), ("moreau-jean", 2e-2)] {
        let scene = Scene::parse(SourceText::new("drive", text(scheme))).expect("valid");
        let mut run = scene.simulation().expect("valid");
        let (mut joints, mut numerical, mut pushed) = (0.0, 0.0, 0.0);
        run.run_until(scene.settings.until, |record| {
            joints += record.energy.joints;
            numerical += record.energy.numerical_mass;
            pushed += record.joint_impulses[0];
            ControlFlow::Continue(())
        });
        assert!(
            (joints - work).abs() <= tolerance * work.abs(),
            "{scheme}: {joints} {work}"
        );
        assert!(
            (pushed - impulse).abs() <= tolerance * impulse.abs(),
            "{scheme}: {pushed} {impulse}"
        );
        assert!(
            numerical.abs() <= tolerance * work.abs(),
            "{scheme}: {numerical}"
        );
    }
}

/// A pendulum that a rough wall stops has one velocity, none: what its rod turned before the impact carries it nowhere.
#[test]
fn a_pendulum_that_a_wall_stops_does_not_turn_on() {
    let text = |h: f64| {
        format!(
            r#"
title = "Pendulum and wall"
law = "generalized"
scheme = "moreau"
impact = "inelastic"
projection = "combined"
step = {h}
until = 0.4
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contacts]]
name = "wall"
gap = "x + 0.1"
point = ["x", "y"]
friction = 1
[[joints]]
name = "rod"
equation = "x^2 + y^2 - 1"
[initial]
x = 0.28
y = -0.96
x_dot = -0.96
y_dot = -0.28
"#
        )
    };
    for h in [1e-3, 1e-4] {
        let scene = Scene::parse(SourceText::new("pendulum", text(h))).expect("valid");
        let mut run = scene.simulation().expect("valid");
        let mut impacts = 0;
        run.run_until(scene.settings.until, |record| {
            let speed = |v: &[f64]| v[0].hypot(v[1]);
            if record.impulses[0] > 0.5 {
                impacts += 1;
                assert!(speed(&record.velocity) < 1e-14, "{:?}", record.velocity);
            }
            ControlFlow::Continue(())
        });
        assert_eq!(impacts, 1);
    }
}

/// Two links in Cartesian coordinates hit a smooth wall, which acts before they are in it, so that no position is brought back: an
/// elastic impact keeps the energy of both, also where they exchange it, and an inelastic one gives none, up to the second order in
/// the step to which chords follow joints; a pendulum beside them does not feel it.
#[test]
fn impacts_of_jointed_bodies_keep_the_energy_that_contacts_leave() {
    let text = |e: f64| {
        format!(
            r#"
title = "Links and wall"
law = "frictionless"
scheme = "moreau"
impact = "newton"
projection = "combined"
contact_gap = 0.003
step = 0.001
until = 2
[system]
coordinates = ["a", "b", "x", "y", "c", "d"]
kinetic_energy = "(a'^2 + b'^2 + x'^2 + y'^2 + c'^2 + d'^2)/2"
[[contacts]]
name = "wall"
gap = "0.9 - x"
restitution = {e}
[[joints]]
name = "upper"
equation = "(a^2 + b^2 - 1)/2"
[[joints]]
name = "lower"
equation = "((x - a)^2 + (y - b)^2 - 1)/2"
[[joints]]
name = "beside"
equation = "(c^2 + d^2 - 1)/2"
[initial]
b = -1
y = -2
a_dot = 1
x_dot = 1.7
d = -1
c_dot = 1.3
"#
        )
    };
    for e in [0.0, 0.5, 1.0] {
        let scene = Scene::parse(SourceText::new("links", text(e))).expect("valid");
        let mut run = scene.simulation().expect("valid");
        let (mut impacts, mut before) = (0, run.record().kinetic);
        let mut alone = None;
        run.run_until(scene.settings.until, |record| {
            if record.impulses[0] > 1e-3 {
                impacts += 1;
                let gain = (record.kinetic - before) / before;
                let least = if e == 1.0 { -1e-6 } else { -1.0 };
                assert!((least..=1e-6).contains(&gain), "{e}: {gain:e}");
            }
            let [c, d] = [record.velocity[4], record.velocity[5]];
            // The first chord is that of the velocity at the start; from then on nothing acts.
            let beside = c * c + d * d;
            let off = beside - *alone.get_or_insert(beside);
            // Rounding of two thousand steps; an impact that reached it would change some 1e-6.
            assert!(off.abs() < 1e-10, "{e}: {off:e}");
            before = record.kinetic;
            ControlFlow::Continue(())
        });
        assert!(impacts > 0, "{e}");
    }
}

/// A rod whose tip slides in Painlevé's paradox drags a body by a joint, which a drive lengthens: no acceleration fits, and the impact without collision
/// stops the tip. Its impulse is that of rod and body together, `p = −W⁻¹ (0, u_T)`, the joint hands the body its part, and the energy account knows
/// the work of the drive.
#[test]
fn an_impact_without_collision_is_shared_by_joints() {
    let text = r#"
title = "Rod that drags a body"
scheme = "event-driven"
step = 1e-9
until = 1e-9
[system]
coordinates = ["x", "y", "p", "z"]
kinetic_energy = "(x'^2 + y'^2)/2 + p'^2/6 + 2*z'^2/2"
potential = "9.81*y"
[[joints]]
name = "drive"
equation = "z - x - 0.3*t"
[[contacts]]
name = "tip"
gap = "y - sin(p)"
point = ["x - cos(p)", "y - sin(p)"]
friction = 2
[initial]
p = 1
y = "sin(1)"
x_dot = -1
z_dot = -0.7
"#;
    let scene = Scene::parse(SourceText::new("drag", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().expect("valid");
    let mut events = Vec::new();
    run.run_until(scene.settings.until, |record| {
        events.extend(record.located.iter().flatten().cloned());
        ControlFlow::Continue(())
    });
    let (s, c) = 1f64.sin_cos();
    // Rod and body of mass 1 and 2 move together along the floor.
    let [nn, nt, tt] = [1.0 + 3.0 * c * c, -3.0 * s * c, 1.0 / 3.0 + 3.0 * s * s];
    let determinant = nn * tt - nt * nt;
    let impulse = [-nt / determinant, nn / determinant];
    let expected = [
        -1.0 + impulse[1] / 3.0,
        impulse[0],
        3.0 * (s * impulse[1] - c * impulse[0]),
        -0.7 + impulse[1] / 3.0,
    ];
    let record = run.record();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!((events[0].impulse - impulse[0]).abs() < 1e-11, "{events:?}");
    for (a, b) in record.velocity.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-7, "{:?} {expected:?}", record.velocity);
    }
    let joint = 2.0 * impulse[1] / 3.0;
    assert!((record.joint_impulses[0] - joint).abs() < 1e-7);
    assert!(
        (record.energy.joints - 0.3 * joint).abs() < 1e-7,
        "{:?}",
        record.energy
    );
    assert!(
        record.energy.numerical_mass.abs() < 1e-12,
        "{:?}",
        record.energy
    );
}
