//! Positions stay on joints and curved obstacles, and sliding on them costs no energy.

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{
    MoreauContactDynamics, MoreauJean, MoreauJeanSettings, Projection, SweepingProcess,
    TimeSteppingScheme,
};
use stickslip::systems::functions::{AffineScalar, AutoScalar, GivenRows};
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, UnilateralConstraint,
};

fn schemes(projection: Projection) -> Vec<Box<dyn TimeSteppingScheme>> {
    let theta = MoreauJeanSettings {
        projection,
        ..Default::default()
    };
    vec![
        Box::new(MoreauJean::new(theta).expect("valid")),
        Box::new(MoreauContactDynamics::default().with_projection(projection)),
        Box::new(SweepingProcess::default().with_projection(projection)),
    ]
}

fn run(
    system: GeneralizedSystem,
    scheme: Box<dyn TimeSteppingScheme>,
    (q, v): (&[f64], &[f64]),
    (h, end): (f64, f64),
) -> Simulation {
    let solver = Box::new(GaussSeidel::default());
    let settings = SimulationSettings::fixed(h);
    let mut sim =
        Simulation::new(Box::new(system), scheme, solver, (q, v), settings).expect("valid");
    sim.run_until(end, |_| ControlFlow::Continue(()));
    sim
}

/// Particle inside a ring.
fn ring(radius: f64, mass: f64, law: ContactLaw) -> GeneralizedSystem {
    let gap = AutoScalar(move |_: Jet, q: &[Jet]| {
        let square = q[0] * q[0] + q[1] * q[1];
        -square.sqrt() + radius
    });
    let frame = match law.tangent_dimension() {
        0 => ContactFrame::Frictionless,
        _ => ContactFrame::tangents(
            1,
            GivenRows(|q: &[f64], row: &mut [f64]| {
                let r = q[0].hypot(q[1]);
                row.copy_from_slice(&[-q[1] / r, q[0] / r]);
            }),
        ),
    };
    GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[mass; 2])
        .constraint(UnilateralConstraint::new("ring", gap).with_point(frame, law))
        .build(&[radius, 0.0])
        .expect("valid")
}

fn inelastic() -> ContactLaw {
    ContactLaw::frictionless(ImpactLaw::Inelastic).expect("valid")
}

#[test]
fn sliding_in_a_ring_keeps_its_energy_and_stays_in_the_ring() {
    for scheme in schemes(Projection::Combined) {
        let name = scheme.name();
        let system = ring(2.0, 1.0, inelastic());
        let sim = run(system, scheme, (&[2.0, 0.0], &[0.0, 3.0]), (2e-3, 30.0));
        let (energy, q) = (sim.state().kinetic, &sim.state().q);
        assert!((energy - 4.5).abs() < 5e-5, "{name}: {energy} J of 4.5 J");
        let radius = q[0].hypot(q[1]);
        assert!((radius - 2.0).abs() < 1e-14, "{name}: at {radius} m");
        // The angle is 3 t/2 up to the second order of the step.
        let turned = (45.0f64 - q[1].atan2(q[0])).rem_euclid(std::f64::consts::TAU);
        let off = turned.min(std::f64::consts::TAU - turned);
        assert!(off < 1e-3, "{name}: off by {off} rad");
        assert!(sim.ledger().is_closed(), "{name}: {:?}", sim.ledger());
        let impacts = sim.events().events.len();
        assert_eq!(impacts, 0, "{name}: {:?}", sim.events().events);
    }
}

#[test]
fn friction_in_a_ring_slows_exponentially_with_the_angle() {
    // m v' = -mu m v^2/r: v = v0/(1 + mu v0 t/r)
    let (mu, v0, end) = (0.3, 3.0, 2.0);
    let law = || {
        ContactLaw::new(
            FrictionSection::segment(mu).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid")
    };
    let exact = v0 / (1.0 + mu * v0 * end / 2.0);
    for (k, _) in schemes(Projection::Combined).iter().enumerate() {
        let error = |h: f64| {
            let scheme = schemes(Projection::Combined).swap_remove(k);
            let sim = run(
                ring(2.0, 0.7, law()),
                scheme,
                (&[2.0, 0.0], &[0.0, v0]),
                (h, end),
            );
            let v = &sim.state().v;
            assert!(sim.ledger().is_closed());
            (v[0].hypot(v[1]) - exact).abs()
        };
        let (coarse, fine) = (error(4e-3), error(1e-3));
        assert!(coarse < 1e-2 && fine < 0.35 * coarse, "{coarse} {fine}");
    }
}

#[test]
fn a_pendulum_by_a_joint_keeps_its_length_and_energy() {
    for scheme in schemes(Projection::Combined) {
        let name = scheme.name();
        let joint = BilateralConstraint::new(
            "rod",
            AutoScalar(|_: Jet, q: &[Jet]| q[0] * q[0] + q[1] * q[1] - 1.0),
        );
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[1.0; 2])
            .dead_load(&[0.0, -9.81])
            .joint(joint)
            .build(&[1.0, 0.0])
            .expect("valid");
        let sim = run(system, scheme, (&[1.0, 0.0], &[0.0, 0.0]), (1e-3, 60.0));
        let length = sim.state().q[0].hypot(sim.state().q[1]);
        assert!((length - 1.0).abs() < 1e-14, "{name}: {length} m");
        let energy = sim.state().kinetic + sim.state().potential;
        let lost = energy.abs() / 9.81;
        let bound = if name == "moreau-jean" { 1e-5 } else { 2e-2 };
        assert!(lost < bound, "{name}: {energy} J");
        assert!(sim.ledger().is_closed(), "{name}: {:?}", sim.ledger());
    }
}

#[test]
fn a_particle_leaves_a_round_hill_where_its_weight_no_longer_holds_it() {
    // Released on top of a circle of radius 1 with speed v: cos(angle) = (2 + v^2/(g r))/3 where it leaves.
    let (g, v0) = (9.81, 0.5f64);
    let angle = ((2.0 + v0 * v0 / g) / 3.0).acos();
    for scheme in schemes(Projection::Combined) {
        let name = scheme.name();
        let gap = AutoScalar(|_: Jet, q: &[Jet]| (q[0] * q[0] + q[1] * q[1]).sqrt() - 1.0);
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[2.0; 2])
            .dead_load(&[0.0, -2.0 * g])
            .constraint(
                UnilateralConstraint::new("hill", gap)
                    .with_point(ContactFrame::Frictionless, inelastic()),
            )
            .build(&[0.0, 1.0])
            .expect("valid");
        let sim = run(system, scheme, (&[0.0, 1.0], &[v0, 0.0]), (1e-4, 0.9));
        let events = &sim.events().events;
        // An explicit scheme meets the top with the velocity of a chord: a first approach of the order of the step.
        let starting = events.iter().filter(|e| e.t < 3e-4).count();
        let small = events[..starting].iter().all(|e| e.approach > -2e-3);
        assert!(
            starting == 0 || (small && name != "moreau-jean"),
            "{name}: {events:?}"
        );
        assert_eq!(events.len() - starting, 1, "{name}: {events:?}");
        let t = events[starting].t;
        // Time on the hill by quadrature of the energy integral.
        let steps = 200_000;
        let exact: f64 = (0..steps)
            .map(|k| {
                let a = angle * (k as f64 + 0.5) / steps as f64;
                angle / steps as f64 / (v0 * v0 + 2.0 * g * (1.0 - a.cos())).sqrt()
            })
            .sum();
        assert!(
            (t - exact).abs() < 2e-3,
            "{name}: leaves at {t}, {exact} is exact"
        );
    }
}

/// Flat slope under a particle.
fn slope(restitution: f64, start: &[f64]) -> GeneralizedSystem {
    let gap = AffineScalar {
        gradient: vec![0.6, 0.8],
        offset: 0.1,
    };
    let law = ContactLaw::new(
        FrictionSection::segment(0.3).expect("valid"),
        ImpactLaw::Newton { restitution },
    )
    .expect("valid");
    let tangent = GivenRows(|_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.8, -0.6]));
    GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0; 2])
        .dead_load(&[0.0, -9.81])
        .constraint(
            UnilateralConstraint::new("slope", gap)
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(start)
        .expect("valid")
}

#[test]
fn flat_obstacles_keep_the_bits_of_the_bare_scheme_where_nothing_is_overshot() {
    let pairs = schemes(Projection::None)
        .into_iter()
        .zip(schemes(Projection::Combined));
    for (bare, combined) in pairs {
        // On the slope from the start, moving along it.
        let start: (&[f64], &[f64]) = (&[0.5, -0.5], &[0.8, -0.6]);
        let a = run(slope(0.5, start.0), bare, start, (1e-3, 2.0));
        let b = run(slope(0.5, start.0), combined, start, (1e-3, 2.0));
        assert_eq!(a.state(), b.state());
        assert!(a.state().v[0] > 0.8, "it slides on: {:?}", a.state());
    }
}

#[test]
fn a_bouncing_ball_comes_to_rest_on_a_flat_obstacle() {
    for scheme in schemes(Projection::Combined) {
        let name = scheme.name();
        let start: (&[f64], &[f64]) = (&[0.0, 0.2], &[0.0, 0.0]);
        // It slides on down the slope; the last bounces are shorter than a step.
        let sim = run(slope(0.5, start.0), scheme, start, (1e-3, 3.0));
        let (q, v) = (&sim.state().q, &sim.state().v);
        let gap = 0.6 * q[0] + 0.8 * q[1] + 0.1;
        let normal = 0.6 * v[0] + 0.8 * v[1];
        assert!(gap.abs() < 1e-12, "{name}: {gap} m");
        assert!(normal.abs() < 1e-9, "{name}: {normal} m/s");
    }
}

#[test]
fn a_fast_body_rests_on_a_flat_obstacle_and_not_below_it() {
    for (speed, h) in [(50.0, 1e-3), (3.0, 7e-3)] {
        for scheme in schemes(Projection::Combined) {
            let name = scheme.name();
            let start: (&[f64], &[f64]) = (&[0.0, 1.0], &[-0.6 * speed, -0.8 * speed]);
            let sim = run(slope(0.0, start.0), scheme, start, (h, 0.5));
            let q = &sim.state().q;
            let gap = 0.6 * q[0] + 0.8 * q[1] + 0.1;
            assert!(gap.abs() < 1e-13, "{name}: {gap} m");
            assert!(sim.ledger().is_closed(), "{name}: {:?}", sim.ledger());
            assert!(!sim.positions().drifts(), "{name}: {:?}", sim.positions());
            // An explicit step meets the obstacle where the step before ended; the forecast of moreau-jean knows all but
            // what gravity adds within the step.
            let depth = sim.positions().penetration.largest.value;
            let bound = if name == "moreau-jean" {
                9.81 * h * h
            } else {
                h * (speed + 0.5 * 9.81)
            };
            assert!(depth < bound, "{name}: {depth} m deep");
        }
        // The bare scheme leaves it below, by the approach of a step at most.
        let bare = schemes(Projection::None).swap_remove(0);
        let start: (&[f64], &[f64]) = (&[0.0, 1.0], &[-0.6 * speed, -0.8 * speed]);
        let sim = run(slope(0.0, start.0), bare, start, (h, 0.5));
        let depth = sim.positions().penetration.largest.value;
        assert!(depth > 0.0 && depth < 1.1 * h * speed, "{depth}");
    }
}

/// The frame of a contact that pushes nothing: its point does not move along its normal. Falling below a flat obstacle
/// is no overshoot of it, however often it is approached.
#[test]
fn a_fall_through_a_flat_obstacle_that_never_acts_is_drift() {
    for scheme in schemes(Projection::None) {
        let name = scheme.name();
        let gap = AffineScalar {
            gradient: vec![1.0],
            offset: 0.0,
        };
        let frame = ContactFrame::planar_point(|q| [q[0], q[0] * 0.0], [0.0, 1.0]);
        let friction = FrictionSection::segment(0.3).expect("valid");
        let law = ContactLaw::new(friction, ImpactLaw::Inelastic).expect("valid");
        let wall = UnilateralConstraint::new("wall", gap).with_point(frame, law);
        let system = GeneralizedSystem::builder(["x"])
            .mass_diagonal(&[1.0])
            .dead_load(&[-9.81])
            .constraint(wall)
            .build(&[0.1])
            .expect("valid");
        let sim = run(system, scheme, (&[0.1], &[0.0]), (1e-3, 1.0));
        assert!(
            sim.state().q[0] < -4.0 && sim.positions().drifts(),
            "{name}"
        );
    }
}
