//! A rigid body in space: torque-free motion, spin, landing.

use std::ops::ControlFlow;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::MomentumLedger;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{MoreauJean, MoreauJeanSettings, Projection};
use stickslip::systems::rigid::UnitQuaternion;
use stickslip::systems::{MechanicalSystem, RigidBody};

fn scheme(theta: f64) -> Box<MoreauJean> {
    let settings = MoreauJeanSettings {
        theta: Some(theta),
        ..Default::default()
    };
    Box::new(MoreauJean::new(settings).expect("theta in range"))
}

#[test]
fn torque_free_motion_keeps_energy_and_angular_momentum() {
    let q = RigidBody::configuration([0.0; 3], UnitQuaternion::IDENTITY);
    let v = [0.0, 0.0, 0.0, 0.1, 2.0, 0.1];
    let momentum = |q: &[f64], v: &[f64]| {
        UnitQuaternion([q[3], q[4], q[5], q[6]]).world_from_body([v[3], 2.0 * v[4], 3.0 * v[5]])
    };
    let mut errors = Vec::new();
    for h in [1e-2, 5e-3] {
        let body = RigidBody::builder(1.0, [1.0, 2.0, 3.0])
            .build(&q)
            .expect("valid");
        let solver = Box::new(GaussSeidel::default());
        let settings = SimulationSettings::fixed(h);
        let mut sim = Simulation::new(Box::new(body), scheme(0.5), solver, (&q, &v), settings)
            .expect("valid");
        sim.run_until(5.0, |_| ControlFlow::Continue(()));
        assert!(
            (sim.state().kinetic - 4.02).abs() < 1e-12,
            "energy {}",
            sim.state().kinetic
        );
        assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
        let (a, b) = (momentum(&q, &v), momentum(&sim.state().q, &sim.state().v));
        errors.push((0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max));
    }
    // The momentum in space is kept at order 2.
    assert!(
        errors[0] < 1e-2 && errors[1] < 0.3 * errors[0],
        "{errors:?}"
    );
}

#[test]
fn a_sliding_ball_ends_up_rolling_at_five_sevenths_of_its_speed() {
    let (mu, g, radius, v0) = (0.2, 9.81, 0.1, 1.0);
    let law = ContactLaw::new(
        FrictionSection::disc(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let inertia = 0.4 * radius * radius;
    let q = RigidBody::configuration([0.0, 0.0, radius], UnitQuaternion::IDENTITY);
    // The direction is at 30 degrees to the axes: friction must not turn it.
    let direction = [(3.0f64).sqrt() / 2.0, 0.5];
    let v = [v0 * direction[0], v0 * direction[1], 0.0, 0.0, 0.0, 0.0];
    let body = RigidBody::builder(1.0, [inertia; 3])
        .gravity([0.0, 0.0, -g])
        .ball_on_plane("ground", [0.0; 3], radius, [0.0, 0.0, 1.0], 0.0, law)
        .build(&q)
        .expect("valid");
    assert!(!body.has_covariant_force());
    let settings = SimulationSettings::fixed(1e-3);
    let solver = Box::new(GaussSeidel::default());
    let mut sim =
        Simulation::new(Box::new(body), scheme(0.51), solver, (&q, &v), settings).expect("valid");
    sim.run_until(0.5, |_| ControlFlow::Continue(()));
    let v = &sim.state().v;
    for i in 0..2 {
        // Rolling speed 5/7 v0 is independent of the step: momentum and moment of momentum about the contact.
        assert!(
            (v[i] - 5.0 / 7.0 * v0 * direction[i]).abs() < 1e-12,
            "{v:?}"
        );
    }
    assert!(sim.certificate().holds(1e-12), "{:?}", sim.certificate());
    assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
}

#[test]
fn a_cube_comes_to_rest_on_a_face() {
    let law = ContactLaw::new(
        FrictionSection::disc(0.5).expect("valid"),
        ImpactLaw::Fremond { restitution: 0.0 },
    )
    .expect("valid");
    let q = RigidBody::configuration(
        [0.0, 0.0, 0.9],
        UnitQuaternion::from_rotation_vector([0.3, 0.2, 0.1]),
    );
    let mut builder = RigidBody::builder(1.0, [1.0 / 6.0; 3]).gravity([0.0, 0.0, -9.81]);
    for corner in 0..8 {
        let sign = |bit: usize| if corner >> bit & 1 == 0 { -0.5 } else { 0.5 };
        let arm = [sign(0), sign(1), sign(2)];
        builder = builder.ball_on_plane(
            format!("corner{corner}"),
            arm,
            0.0,
            [0.0, 0.0, 1.0],
            0.0,
            law.clone(),
        );
    }
    let body = builder.build(&q).expect("valid");
    let settings = SimulationSettings::fixed(1e-3);
    let solver = Box::new(GaussSeidel::default());
    let mut sim = Simulation::new(
        Box::new(body),
        scheme(0.55),
        solver,
        (&q, &[0.0; 6]),
        settings,
    )
    .expect("valid");
    sim.run_until(3.0, |_| ControlFlow::Continue(()));
    assert!(
        sim.state().kinetic < 1e-8,
        "kinetic energy {}",
        sim.state().kinetic
    );
    assert!(
        (sim.state().q[2] - 0.5).abs() < 1e-2,
        "height {}",
        sim.state().q[2]
    );
    assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
}

fn coasting(theta: f64) -> Box<MoreauJean> {
    let settings = MoreauJeanSettings {
        theta: Some(theta),
        projection: Projection::Combined,
        ..Default::default()
    };
    Box::new(MoreauJean::new(settings).expect("theta in range"))
}

#[test]
fn free_rotation_keeps_energy_and_momentum_to_rounding_for_every_theta() {
    let q = RigidBody::configuration(
        [0.0; 3],
        UnitQuaternion::from_rotation_vector([0.3, -1.0, 0.4]),
    );
    let v = [0.3, -0.2, 0.1, 11.0, 20.0, -3.0];
    for theta in [0.5, 0.51, 0.8, 1.0] {
        let body = RigidBody::builder(1.3, [1.0, 2.0, 2.7])
            .build(&q)
            .expect("valid");
        let before = body.momentum(&q, &v).expect("a free body");
        let (solver, settings) = (
            Box::new(GaussSeidel::default()),
            SimulationSettings::fixed(2e-2),
        );
        let mut sim = Simulation::new(Box::new(body), coasting(theta), solver, (&q, &v), settings)
            .expect("valid");
        let energy = sim.state().kinetic;
        sim.run_until(20.0, |_| ControlFlow::Continue(()));
        let after = sim
            .system()
            .momentum(&sim.state().q, &sim.state().v)
            .expect("a free body");
        for i in 0..6 {
            assert!(
                (after[i] - before[i]).abs() < 1e-10,
                "{theta}: {before:?} {after:?}"
            );
        }
        assert!(
            (sim.state().kinetic - energy).abs() < 1e-11 * energy,
            "{theta}"
        );
        assert!(sim.ledger().is_closed() && sim.momentum_ledger().is_closed());
    }
}

/// A hollow ball that falls with spin on rough ground, bounces and rolls: the angular momentum about the contact decides.
#[test]
fn an_impact_of_a_spinning_ball_is_exact_whatever_the_step() {
    let (radius, spin) = (0.1, 112.0f64);
    let inertia = 2.0 / 3.0 * radius * radius;
    for (theta, h) in [(0.5, 1e-3), (0.51, 1e-3), (0.5, 7e-3), (0.7, 2e-3)] {
        let law = ContactLaw::new(
            FrictionSection::disc(50.0).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid");
        let q = RigidBody::configuration(
            [0.4, -0.3, radius + 0.05],
            UnitQuaternion::from_rotation_vector([0.2, 0.5, -0.9]),
        );
        let turn = UnitQuaternion([q[3], q[4], q[5], q[6]]);
        // Spin about y drives it along x; a spin about the vertical has no arm and stays.
        let w = turn.body_from_world([0.0, spin, 9.0]);
        let v = [0.0, 0.0, -1.0, w[0], w[1], w[2]];
        let body = RigidBody::builder(1.0, [inertia; 3])
            .ball_on_plane("ground", [0.0; 3], radius, [0.0, 0.0, 1.0], 0.0, law)
            .build(&q)
            .expect("valid");
        let (solver, settings) = (
            Box::new(GaussSeidel::default()),
            SimulationSettings::fixed(h),
        );
        let mut sim = Simulation::new(Box::new(body), coasting(theta), solver, (&q, &v), settings)
            .expect("valid");
        sim.run_until(0.2, |_| ControlFlow::Continue(()));
        // It sticks at once: m v r + J w' = J w with v = r w', so v = r w J/(J + m r^2) = 0.4 r w.
        let state = sim.state();
        let exact = 0.4 * radius * spin;
        assert!(
            (state.v[0] - exact).abs() < 1e-9 * exact,
            "{theta} {h}: {}",
            state.v[0]
        );
        let turn = UnitQuaternion([state.q[3], state.q[4], state.q[5], state.q[6]]);
        let world = turn.world_from_body([state.v[3], state.v[4], state.v[5]]);
        assert!((world[2] - 9.0).abs() < 1e-9, "{theta} {h}: {world:?}");
        assert!(
            world[0].abs() < 1e-9 && state.v[1].abs() < 1e-9,
            "{world:?}"
        );
        assert!(
            sim.ledger().is_closed() && sim.momentum_ledger().is_closed(),
            "{:?}",
            sim.momentum_ledger()
        );
    }
}

#[test]
fn momentum_of_a_tumbling_box_is_accounted_for_with_projection() {
    let law = || {
        ContactLaw::new(
            FrictionSection::disc(0.4).expect("valid"),
            ImpactLaw::Newton { restitution: 0.3 },
        )
        .expect("valid")
    };
    let q = RigidBody::configuration(
        [0.0, 0.0, 0.5],
        UnitQuaternion::from_rotation_vector([0.7, 0.3, 0.2]),
    );
    let v = [1.0, 0.5, -1.0, 5.0, -3.0, 2.0];
    let mut builder = RigidBody::builder(1.0, [0.02, 0.03, 0.045]).gravity([0.0, 0.0, -9.81]);
    for k in 0..8u32 {
        let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let arm = [0.2 * sign(0), 0.15 * sign(1), 0.1 * sign(2)];
        builder =
            builder.ball_on_plane(format!("corner{k}"), arm, 0.0, [0.0, 0.0, 1.0], 0.0, law());
    }
    let (solver, settings) = (
        Box::new(GaussSeidel::default()),
        SimulationSettings::fixed(1e-3),
    );
    let body = Box::new(builder.build(&q).expect("valid"));
    let mut sim = Simulation::new(body, coasting(0.5), solver, (&q, &v), settings).expect("valid");
    let (mut moved, mut ledger) = (0.0f64, MomentumLedger::default());
    sim.run_until(2.0, |record| {
        let entry = record.momentum.expect("a free body");
        assert!(
            ledger.enter(record.t, &entry),
            "t = {}: {entry:?}",
            record.t
        );
        moved = record.projection.iter().fold(moved, |m, x| m.max(x.abs()));
        ControlFlow::Continue(())
    });
    assert!(moved > 0.0, "corners are projected");
    let positions = sim.positions();
    assert!(!positions.drifts(), "{positions:?}");
    assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
}

/// A corner strikes and begins to slip over the floor: from event to event the slip gathers speed, and the motion is that to which steps of a
/// time-stepping scheme converge.
#[test]
fn slip_in_space_begins_from_rest_from_event_to_event() {
    let end = |scheme: &str, step: f64| {
        let text = format!(
            r#"
title = "Corner"
scheme = "{scheme}"
step = {step}
until = 0.4
[body]
mass = 1
moments = [0.017808555611216838, 0.017808555611216838, 0.02814868282966492]
gravity = [0, 0, -9.81]
position = [0, 0, 0.35]
rotation = [-0.15581768000113905, 0.32538777176087197, -0.6365373517926491]
velocity = [-0.6822791669031445, -0.6526533337631604, -0.7401295019054952]
spin = [1.6585716466405056, -1.6754377136563492, -2.9414360608120496]
[[contacts]]
name = "corner"
arm = [-0.06562026255182599, 0.044444518083131546, -0.05819891847725538]
friction = 0.484
"#
        );
        let scene = Scene::parse(SourceText::new("corner", text)).expect("valid");
        let mut run = scene.simulation().expect("valid");
        let reached = run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        assert_eq!(reached, RunEnd::Finished, "{scheme}");
        run.state().q[..3].to_vec()
    };
    let (exact, near) = (end("event-driven", 0.01), end("moreau-jean", 1e-4));
    for (a, b) in exact.iter().zip(&near) {
        assert!((a - b).abs() <= 1e-3, "{exact:?} {near:?}");
    }
}

/// A box with half sides `half` that rests on its lowest corners, turned by `rotation`, under gravity that a floor of this inclination feels.
struct RestingBox {
    half: [f64; 3],
    rotation: [f64; 3],
    velocity: [f64; 3],
    spin: [f64; 3],
    friction: f64,
    inclination: f64,
}

impl RestingBox {
    fn scene(&self, scheme: &str, step: f64) -> Scene {
        let [a, b, c] = self.half;
        let arms = (0..8u32).map(|k| {
            let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            [a * sign(2), b * sign(1), c * sign(0)]
        });
        let arms: Vec<[f64; 3]> = arms.collect();
        let turned = UnitQuaternion::from_rotation_vector(self.rotation);
        let heights = arms.iter().map(|arm| turned.world_from_body(*arm)[2]);
        let height = -heights.fold(f64::INFINITY, f64::min);
        let (s, co) = self.inclination.sin_cos();
        let moments = [b * b + c * c, a * a + c * c, a * a + b * b].map(|x| x / 3.0);
        let mut text = format!(
            "title = \"Box\"\nscheme = \"{scheme}\"\nstep = {step}\nuntil = 1\n[body]\nmass = 1\nmoments = {moments:?}\n\
             gravity = [{:?}, 0, {:?}]\nposition = [0, 0, {height:?}]\nrotation = {:?}\nvelocity = {:?}\nspin = {:?}\n",
            9.81 * s,
            -9.81 * co,
            self.rotation,
            self.velocity,
            self.spin
        );
        for (k, arm) in arms.iter().enumerate() {
            let friction = self.friction;
            text += &format!(
                "[[contacts]]\nname = \"corner {k}\"\narm = {arm:?}\nfriction = {friction}\n"
            );
        }
        Scene::parse(SourceText::new("box", text)).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Boxes that fall over an edge or a corner, which holds first, begins to slip at the edge of its cone, and lands on the others: from event to event every motion
/// comes to its end, and it is the one to which a time-stepping scheme converges.
#[test]
fn boxes_that_rock_and_begin_to_slip_get_on_from_event_to_event() {
    let fall = |rotation: [f64; 3], vx: f64, spin: f64, friction: f64| RestingBox {
        half: [0.06, 0.08, 0.15],
        rotation,
        velocity: [vx, 0.0, 0.0],
        spin: [0.0, 0.0, spin],
        friction,
        inclination: 0.0,
    };
    let boxes = [
        // Two corners of an edge begin to slip together.
        (fall([0.0, 0.5, 0.0], 0.0, 0.0, 0.25), 2e-4),
        (fall([0.0, 0.2, 0.0], 0.5, 0.0, 0.4), 2e-4),
        // One corner does.
        (fall([0.18, 0.3, 0.2], 0.0, 1.0, 0.3), 2e-3),
        // It slips from the first instant on.
        (
            RestingBox {
                half: [0.1, 0.07, 0.05],
                rotation: [0.5, 0.3, 0.1],
                velocity: [0.0; 3],
                spin: [0.0; 3],
                friction: 0.4,
                inclination: 0.3,
            },
            2e-3,
        ),
    ];
    for (k, (body, near)) in boxes.iter().enumerate() {
        let end = |scheme: &str, step: f64| {
            let mut run = body.scene(scheme, step).simulation().expect("valid");
            let reached = run.run_until(1.0, |_| ControlFlow::Continue(()));
            assert_eq!(reached, RunEnd::Finished, "{k} {scheme}");
            let account = &run.ledger().totals;
            // What the integration did itself, beside 1 J and more that friction takes.
            let numerical = account.numerical_mass.abs();
            assert!(
                scheme != "event-driven" || numerical < 1e-7,
                "{k}: {numerical}"
            );
            run.state().q.clone()
        };
        let (exact, steps) = (end("event-driven", 0.01), end("moreau-jean", 1e-4));
        for (a, b) in exact.iter().zip(&steps) {
            assert!((a - b).abs() < *near, "{k}: {exact:?} {steps:?}");
        }
    }
}

/// A body without friction that comes down on one foot and then on a second one: every step finds the second foot on the floor, where
/// a position that was corrected to a little above it left it open for ever.
#[test]
fn a_body_lands_on_its_second_foot_with_every_step() {
    let energy = |scheme: &str, step: f64| {
        let text = format!(
            "title = \"feet\"\nlaw = \"frictionless\"\nscheme = \"{scheme}\"\nimpact = \"inelastic\"\nstep = {step}\nuntil = 0.2\n\
             [body]\nmass = 3\nmoments = [0.0057, 0.0057, 0.0057]\ngravity = [0, 0, -9.8]\nposition = [0, 0, 0.0637]\n\
             velocity = [0, 0, -0.8]\nspin = [0, 0, -6]\n\
             [[contacts]]\nname = \"f1\"\narm = [0.012, 0.039, -0.0637]\nradius = 0\n\
             [[contacts]]\nname = \"f2\"\narm = [0.017, 0.023, 0.0677]\nradius = 0\n"
        );
        let scene =
            Scene::parse(SourceText::new("feet.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let end = sim.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        assert_eq!(end, RunEnd::Finished);
        sim.state().kinetic + sim.state().potential
    };
    let expected = energy("event-driven", 1e-3);
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for step in [2e-3, 1e-3, 5e-4, 3e-4, 2e-4, 1e-4] {
            let found = energy(scheme, step);
            // Of the 3.6 J that the impacts take, at order h.
            let off = (found - expected).abs();
            assert!(
                off < 60.0 * step,
                "{scheme}, h = {step}: {found} and {expected}"
            );
        }
    }
}
