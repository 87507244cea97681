//! The event-driven reference on motions whose exact solution is known.

use crate::common;

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::internals::{ReferenceEventKind, ReferenceMotion};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepOutcome;
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{EventDriven, EventDrivenSettings};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::past_motion::PastReading;
use stickslip::systems::{BilateralConstraint, GeneralizedSystem};

const G: f64 = 9.81;

fn reference(start: (&[f64], &[f64])) -> ReferenceMotion {
    let solver = Box::new(GaussSeidel::default());
    ReferenceMotion::new(EventDrivenSettings::default(), solver, start)
}

#[test]
fn zeno_bounces_are_exact_to_1e_10_and_end_in_rest() {
    for e in [0.3, 0.5, 0.9] {
        let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: e }).expect("valid");
        let ball = common::ball(law);
        let mut motion = reference((&[1.0], &[0.0]));
        motion.watch(|_, _, v| v[0]);
        let fall = (2.0 / G).sqrt();
        let zeno = fall * (1.0 + e) / (1.0 - e);
        assert_eq!(motion.run_until(&ball, zeno + 1.0), StepOutcome::Solved);
        let (mut hits, mut tops) = (0, 0);
        for event in motion.events() {
            match event.kind {
                ReferenceEventKind::Impact => {
                    // t_n = fall (1 + 2 Σ e^k)
                    let sum: f64 = (1..=hits).map(|k| e.powi(k)).sum();
                    let exact = fall * (1.0 + 2.0 * sum);
                    assert!(
                        (event.t - exact).abs() < 1e-10,
                        "impact {hits}: {}",
                        event.t
                    );
                    hits += 1;
                }
                ReferenceEventKind::Watched(0) if hits > 0 => {
                    let exact = e.powi(2 * hits);
                    assert!((event.q[0] - exact).abs() < 1e-10, "height after {hits}");
                    tops += 1;
                }
                ReferenceEventKind::Accumulation { end } => {
                    assert!((end - zeno).abs() < 1e-10, "Zeno time {end}, exact {zeno}");
                }
                _ => {}
            }
        }
        assert!(hits > 10 && tops > 10, "{hits} impacts, {tops} tops");
        // past the accumulation point it rests
        assert!(motion.q()[0].abs() < 1e-12 && motion.v()[0] == 0.0);
    }
}

#[test]
fn a_block_slides_stops_and_stays() {
    let (mu, v0) = (0.3, 2.0);
    let block = common::slider(mu, ImpactLaw::Inelastic);
    let mut motion = reference((&[0.0, 0.0], &[v0, 0.0]));
    assert_eq!(motion.run_until(&block, 3.0), StepOutcome::Solved);
    let stop = motion
        .events()
        .iter()
        .find(|event| matches!(event.kind, ReferenceEventKind::Stick { .. }))
        .expect("it stops");
    assert!((stop.t - v0 / (mu * G)).abs() < 1e-12);
    assert!((stop.q[0] - v0 * v0 / (2.0 * mu * G)).abs() < 1e-12);
    assert_eq!(motion.v(), [0.0, 0.0]);
}

#[test]
fn a_pendulum_on_a_joint_is_the_pendulum_in_its_angle() {
    let (l, g) = (0.8, G);
    let rod = BilateralConstraint::new(
        "rod",
        AutoScalar(move |_: Jet, q: &[Jet]| (q[0] * q[0] + q[1] * q[1]).sqrt() - l),
    );
    let start: [f64; 2] = [l * 1f64.sin(), -l * 1f64.cos()];
    let jointed = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[2.0, 2.0])
        .dead_load(&[0.0, -2.0 * g])
        .joint(rod)
        .build(&start)
        .expect("valid");
    let reduced = GeneralizedSystem::builder(["angle"])
        .mass_diagonal(&[2.0 * l * l])
        .potential(move |q: &[Jet]| q[0].cos() * (-2.0 * g * l))
        .build(&[1.0])
        .expect("valid");
    let mut a = reference((&start, &[0.0, 0.0]));
    let mut b = reference((&[1.0], &[0.0]));
    assert_eq!(a.run_until(&jointed, 2.5), StepOutcome::Solved);
    assert_eq!(b.run_until(&reduced, 2.5), StepOutcome::Solved);
    let angle = b.q()[0];
    assert!(
        (a.q()[0] - l * angle.sin()).abs() < 1e-9,
        "{:?} {angle}",
        a.q()
    );
    assert!((a.q()[1] + l * angle.cos()).abs() < 1e-9);
}

#[test]
fn as_a_scheme_it_closes_its_ledger_and_resumes_with_the_same_bits() {
    let make = || {
        let mut reading = PastReading::new();
        reading.point_delay(0.3).expect("delay");
        let law = ContactLaw::new(
            FrictionSection::segment(0.2).expect("valid"),
            ImpactLaw::Inelastic,
        )
        .expect("valid");
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[1.0, 1.0])
            .dead_load(&[0.0, -10.0])
            .delayed_force(reading, |past, _, out| {
                out[0] = -2.5 * past.delayed(0, 0.3);
                out[1] = 0.0;
            })
            .constraint(
                stickslip::systems::UnilateralConstraint::new(
                    "plane",
                    AutoScalar(|_: Jet, q: &[Jet]| q[1]),
                )
                .with_point(
                    stickslip::systems::ContactFrame::planar_point(
                        |q: &[Jet]| [q[0], q[1]],
                        [0.0, 1.0],
                    ),
                    law,
                ),
            )
            .build(&[1.5, 0.0])
            .expect("valid");
        Simulation::new(
            Box::new(system),
            Box::new(EventDriven::default()),
            Box::new(GaussSeidel::default()),
            (&[1.5, 0.0], &[0.0, 0.0]),
            SimulationSettings::fixed(0.05),
        )
        .expect("valid")
    };
    let mut whole = make();
    let end = whole.run_until(3.0, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    assert!(whole.ledger().is_closed());
    let defect = whole.ledger().totals.numerical_mass;
    assert!(defect.abs() < 1e-9, "integration error {defect}");
    let mut first = make();
    for _ in 0..25 {
        first.step_towards(3.0);
    }
    let text = serde_json::to_string(&first.checkpoint()).expect("json");
    let mut second = make();
    second
        .restore(serde_json::from_str(&text).expect("json"))
        .expect("fits");
    let end = second.run_until(3.0, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    for (a, b) in [
        (&whole.state().q, &second.state().q),
        (&whole.state().v, &second.state().v),
    ] {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(a), bits(b));
    }
}
