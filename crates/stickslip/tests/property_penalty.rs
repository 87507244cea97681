//! Compliant contacts over random data and over their compliance time: what is kept exactly, what is
//! bounded uniformly, and the rates at which the limit is reached.

use crate::common;

use std::ops::ControlFlow;

use stickslip::algebra::Jet;
use stickslip::internals::{ReferenceEventKind, ReferenceMotion, energetic_impact};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::records::StepOutcome;
use stickslip::simulation::studies::{ReactionRecorder, ReactionSplit};
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{EventDrivenSettings, MoreauContactDynamics, NormalCompliancePenalty};
use stickslip::systems::functions::{AutoScalar, GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

use crate::common::compliant_bar::{G, J, L, bar, compliance, plain};
use crate::common::random::Random;

/// The near-exact motion, compliant if τ is given.
fn reference(tau: Option<f64>, start: (&[f64], &[f64])) -> ReferenceMotion {
    let settings = EventDrivenSettings {
        compliance: tau.map(compliance),
        ..EventDrivenSettings::default()
    };
    ReferenceMotion::new(settings, Box::new(GaussSeidel::default()), start)
}

/// W of the tip and its velocity, normal first.
fn tip(theta: f64, v: [f64; 3]) -> ([f64; 3], [f64; 2]) {
    let (sin, cos) = theta.sin_cos();
    let k = L * L / J;
    let w = [1.0 + k * cos * cos, -k * sin * cos, 1.0 + k * sin * sin];
    (w, [v[1] - L * cos * v[2], v[0] + L * sin * v[2]])
}

/// Kinetic, potential and stored energy.
fn energy(q: &[f64], v: &[f64], tau: f64) -> f64 {
    let depth = (L * q[2].sin() - q[1]).max(0.0);
    0.5 * (v[0] * v[0] + v[1] * v[1] + J * v[2] * v[2])
        + G * q[1]
        + 0.5 * (depth / tau) * (depth / tau)
}

fn rate(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[test]
fn the_energy_of_a_compliant_bar_never_grows_and_s_is_one_number() {
    let mut random = Random(5);
    for case in 0..12 {
        let (mu, theta) = (random.uniform(0.0, 1.5), random.uniform(0.2, 1.3));
        let v = [
            random.uniform(-2.0, 2.0),
            random.uniform(-2.0, -0.2),
            random.uniform(-1.0, 1.0),
        ];
        let tau = 1e-3;
        let q = [0.0, 1e-3 + L * theta.sin(), theta];
        let system = plain(mu, &q);
        let mut motion = reference(Some(tau), (&q, &v));
        let mut before = energy(&q, &v, tau);
        let top = before;
        for k in 1..=120 {
            let t = k as f64 * 0.1 * tau;
            assert_eq!(motion.run_until(&system, t), StepOutcome::Solved, "{case}");
            let now = energy(motion.q(), motion.v(), tau);
            assert!(
                now <= before + 1e-10 * top,
                "case {case}: {before} to {now}"
            );
            // −φ ≤ τ √(2 (E − inf V)/m); the centre is never lower than −l
            let depth = L * motion.q()[2].sin() - motion.q()[1];
            assert!(depth <= tau * (2.0 * (top + G * L)).sqrt());
            before = now;
        }
        // Over one whole contact the rows of X and θ tell the same S up to the turn during it.
        let start = motion.events().iter().find(|e| {
            matches!(
                e.kind,
                ReferenceEventKind::Slip { .. } | ReferenceEventKind::Stick { .. }
            )
        });
        let (Some(start), true) = (start, mu > 0.05) else {
            continue;
        };
        let Some(end) = motion
            .events()
            .iter()
            .find(|e| e.t > start.t && e.kind == ReferenceEventKind::Open)
        else {
            continue;
        };
        let jump: Vec<f64> = (0..3)
            .map(|i| end.velocity[i] - start.velocity[i])
            .collect();
        let normal = jump[1] + G * (end.t - start.t);
        let s_x = -jump[0] / (mu * normal);
        let (sin, cos) = (0.5 * (start.q[2] + end.q[2])).sin_cos();
        let tangential = (J * jump[2] / L + normal * cos) / sin;
        let s_theta = -tangential / (mu * normal);
        assert!(s_x.abs() <= 1.0 + 1e-9, "case {case}: S = {s_x}");
        // both angles differ from their mean by at most |ω| times half the contact
        let turn = 0.5 * (end.q[2] - start.q[2]).abs();
        let slack = 2.0 * turn * (1.0 + mu) / (mu * sin) + 1e-9;
        assert!(
            (s_x - s_theta).abs() <= slack,
            "case {case}: {s_x} {s_theta}"
        );
    }
}

#[test]
fn the_step_keeps_its_cone_for_any_friction_set_and_both_ends() {
    // A bar in the plane on two feet, and a particle in space with an ellipse and a triangle.
    let mut random = Random(9);
    let tau = 1e-3;
    for _ in 0..4 {
        let mu = random.uniform(0.1, 1.0);
        let foot = |name: &str, side: f64| {
            let law = ContactLaw::new(
                FrictionSection::segment(mu).expect("valid"),
                ImpactLaw::Inelastic,
            );
            UnilateralConstraint::new(
                name,
                AutoScalar(move |_: Jet, q: &[Jet]| q[1] + q[2].sin() * (side * L)),
            )
            .with_point(
                ContactFrame::planar_point(
                    move |q: &[Jet]| {
                        let arm = side * L;
                        [q[0] + q[2].cos() * arm, q[1] + q[2].sin() * arm]
                    },
                    [0.0, 1.0],
                ),
                law.expect("valid"),
            )
        };
        let q = [0.0, 0.15, random.uniform(-0.2, 0.2)];
        let v = [random.uniform(-2.0, 2.0), 0.0, random.uniform(-1.0, 1.0)];
        let system = GeneralizedSystem::builder(["X", "Y", "theta"])
            .mass_diagonal(&[1.0, 1.0, J])
            .dead_load(&[0.0, -G, 0.0])
            .constraint(foot("left", -1.0))
            .constraint(foot("right", 1.0))
            .build(&q)
            .expect("valid");
        let sections = [FrictionSection::segment(mu).expect("valid")];
        press(system, tau, (&q, &v), &sections);
    }
    for section in [
        FrictionSection::ellipse([0.2, 0.5]).expect("valid"),
        FrictionSection::polytope(&[vec![0.5, 0.0], vec![-0.2, 0.4], vec![-0.2, -0.4]])
            .expect("valid"),
        FrictionSection::disc(0.4).expect("valid"),
    ] {
        let gap = GivenScalar {
            value: |q: &[f64]| q[2],
            gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 0.0, 1.0]),
        };
        let rows = GivenRows(|_: &[f64], rows: &mut [f64]| {
            rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        });
        let law = ContactLaw::new(section.clone(), ImpactLaw::Inelastic).expect("valid");
        let system = GeneralizedSystem::builder(["x", "y", "z"])
            .mass_diagonal(&[1.0; 3])
            .dead_load(&[0.0, 0.0, -G])
            .constraint(
                UnilateralConstraint::new("plane", gap)
                    .with_point(ContactFrame::tangents(2, rows), law),
            )
            .build(&[0.0, 0.0, 0.1])
            .expect("valid");
        press(
            system,
            tau,
            (&[0.0, 0.0, 0.1], &[1.0, 0.5, 0.0]),
            &[section],
        );
    }
}

/// Runs with the penalty scheme and looks at every reaction.
fn press(
    system: GeneralizedSystem,
    tau: f64,
    start: (&[f64], &[f64]),
    sections: &[FrictionSection],
) {
    let mut run = Simulation::new(
        Box::new(system),
        Box::new(NormalCompliancePenalty::new(compliance(tau))),
        Box::new(GaussSeidel::default()),
        start,
        SimulationSettings::fixed(tau / 20.0),
    )
    .expect("valid");
    let mut presses = 0;
    let end = run.run_until(0.4, |record| {
        for contact in &record.contacts {
            let p = &record.impulses[contact.start..contact.start + contact.size];
            let section = sections.last().expect("a section");
            assert!(p[0] >= 0.0);
            assert!(
                section.contains(&p[1..], p[0], 1e-12 * (p[0] + 1e-12)),
                "{p:?}"
            );
            // at the middle of the step the point is at most half a step from where it is at the end
            let speed = 10.0;
            if contact.gap > 0.5 * speed * record.h {
                assert_eq!(p[0], 0.0);
            }
            presses += usize::from(p[0] > 0.0);
            // friction is against the slip at the end of the step
            let u = &record.local_velocities[contact.start..contact.start + contact.size];
            let power: f64 = p[1..].iter().zip(&u[1..]).map(|(p, u)| p * u).sum();
            assert!(power <= 1e-14, "{p:?} {u:?}");
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    assert!(presses > 20, "{presses}");
    assert!(run.ledger().is_closed());
    let certificate = run.certificate();
    assert!(certificate.natural_map.value <= 1e-10, "{certificate:?}");
}

fn split(mu: f64, start: (&[f64], &[f64]), tau: f64, t_end: f64) -> ReactionSplit {
    let mut run = Simulation::new(
        Box::new(plain(mu, start.0)),
        Box::new(NormalCompliancePenalty::new(compliance(tau))),
        Box::new(GaussSeidel::default()),
        start,
        SimulationSettings::fixed(tau / 50.0),
    )
    .expect("valid");
    let mut recorder = ReactionRecorder::new(0.0, start.1);
    let end = run.run_until(t_end, |record| {
        recorder.observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    recorder.split(tau)
}

#[test]
fn reactions_split_into_the_atom_of_the_limit_and_a_rest_that_vanishes() {
    // One bounce: the limit has one atom, whose impulse and S follow from the frozen layer.
    let (mu, theta, t_end) = (0.3, 40f64.to_radians(), 0.45);
    let (q, v) = ([0.0, 0.8, theta], [0.6, 0.0, 0.0]);
    let fall = (2.0 * G * (0.8 - L * theta.sin())).sqrt();
    let (w, u) = tip(theta, [0.6, -fall, 0.0]);
    let limit = energetic_impact(w, u, (-mu, mu), 1.0);
    // Bounds that do not know τ: V from the energy, ∫R_N from the row of Y, the rest from ∫R_N.
    let speed = (2.0 * (energy(&q, &v, 1.0) + G * L)).sqrt();
    let normal_max = 2.0 * speed + G * t_end;
    let responses = (1.0 + (L / J).powi(2)).sqrt() * (1.0 + mu);
    let mut errors = Vec::new();
    for tau in [4e-3, 1e-3, 2.5e-4] {
        let split = split(mu, (&q, &v), tau, t_end);
        let contact = &split.contacts[0];
        assert!(contact.normal <= normal_max);
        assert!(contact.tangential <= mu * contact.normal * (1.0 + 1e-12));
        assert!(split.variation <= G * t_end + responses * contact.normal);
        assert!((contact.atomic + contact.continuous - contact.normal).abs() < 1e-12);
        // Chebyshev: time above the level at most √(T τ)
        assert!(contact.atomic_time <= (t_end * tau).sqrt());
        assert_eq!(contact.atoms.len(), 1, "{contact:?}");
        let atom = &contact.atoms[0];
        assert!((atom.t - fall / G).abs() < 2.0 * tau);
        errors.push((
            (atom.normal - limit.impulse[0]).abs(),
            (-atom.friction[0] / mu - limit.friction_factor(mu)).abs(),
            contact.continuous,
        ));
    }
    // τ falls by 16: errors of order √τ at worst fall by 4
    let (first, last) = (errors[0], errors[2]);
    assert!(last.0 < 0.25 * first.0, "{errors:?}");
    assert!(last.1 < 0.25 * first.1, "{errors:?}");
    // with its flanks the impact is an atom entirely
    assert!(errors.iter().all(|e| e.2 == 0.0), "{errors:?}");
    assert!(errors[2].0 < 1e-2 * limit.impulse[0], "{errors:?}");
}

#[test]
fn lasting_contact_has_no_atoms_even_if_its_force_oscillates() {
    // φ = 0 at rest: R_N swings between 0 and twice the weight, and touches 0 every 2πτ.
    let law = ContactLaw::new(
        FrictionSection::segment(0.25).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let tau = 1e-3;
    let mut run = Simulation::new(
        Box::new(common::particle_on_plane(law, [0.0, -G])),
        Box::new(NormalCompliancePenalty::new(compliance(tau))),
        Box::new(GaussSeidel::default()),
        (&[0.0, 0.0], &[1.0, 0.0]),
        SimulationSettings::fixed(tau / 50.0),
    )
    .expect("valid");
    let mut recorder = ReactionRecorder::new(0.0, &[1.0, 0.0]);
    run.run_until(0.2, |record| {
        recorder.observe(record);
        ControlFlow::Continue(())
    });
    let split = recorder.split(tau);
    let contact = &split.contacts[0];
    assert!(contact.atoms.is_empty() && contact.atomic == 0.0);
    // the mean force is the weight, up to one swing
    assert!((contact.continuous - G * 0.2).abs() < 2.0 * G * tau);
}

#[test]
fn all_types_of_impact_reach_their_limit_at_rate_one() {
    for (name, degrees, mu, v) in [
        ("slip", 20.0f64, 0.1, [2.0, -1.0, 0.0]),
        ("reversal", 40.0, 0.2, [1.0, -1.0, 0.0]),
        ("slip, then stick", 50.0, 0.8, [-0.5, -1.0, 0.5]),
        ("early reversal", 30.0, 0.3, [0.2, -2.0, 0.3]),
        ("Painlevé", 60.0, 1.8, [-1.0, -0.3, 0.0]),
        ("zero slip, stick", 45.0, 1.5, [0.0, -1.0, 0.0]),
        ("zero slip, slip", 30.0, 0.1, [0.0, -1.0, 0.0]),
    ] {
        let theta = degrees.to_radians();
        let (w, u) = tip(theta, v);
        let limit = energetic_impact(w, u, (-mu, mu), 1.0);
        let errors = [1e-3, 5e-4, 2.5e-4].map(|tau| {
            let q = [0.0, L * theta.sin(), theta];
            let mut motion = reference(Some(tau), (&q, &v));
            let system = plain(mu, &q);
            let outcome = motion.run_until(&system, 40.0 * tau);
            let events: Vec<_> = motion.events().iter().map(|e| (e.t, &e.kind)).collect();
            let last = &events[events.len().saturating_sub(8)..];
            assert_eq!(outcome, StepOutcome::Solved, "{name}, {tau}: {last:?}");
            let end = motion
                .events()
                .iter()
                .find(|event| event.t > 0.0 && event.kind == ReferenceEventKind::Open)
                .unwrap_or_else(|| panic!("{name}: no rebound"));
            let after = [end.velocity[0], end.velocity[1], end.velocity[2]];
            let (_, u) = tip(end.q[2], after);
            let error = (u[0] - limit.velocity[0])
                .abs()
                .max((u[1] - limit.velocity[1]).abs());
            let s = -(after[0] - v[0]) / (mu * (after[1] - v[1] + G * end.t));
            (error, (s - limit.friction_factor(mu)).abs())
        });
        for pair in errors.windows(2) {
            let order = rate(pair[0].0, pair[1].0);
            assert!((order - 1.0).abs() < 0.1, "{name}: {errors:?}");
            // where the sign of slip never changes S is exact from the start; in stick it is of order two
            if pair[0].1 > 1e-8 {
                let order = rate(pair[0].1, pair[1].1);
                assert!(order > 0.8, "S, {name}: {errors:?}");
            }
        }
    }
}

#[test]
fn steps_that_resolve_the_compliance_time_ever_better_reach_the_limit_of_impacts() {
    for (degrees, mu, v) in [
        (40.0f64, 0.2, [1.0, -1.0, 0.0]),
        (50.0, 0.8, [-0.5, -1.0, 0.5]),
        (30.0, 0.3, [0.2, -2.0, 0.3]),
    ] {
        let theta = degrees.to_radians();
        let (w, u) = tip(theta, v);
        let limit = energetic_impact(w, u, (-mu, mu), 1.0).velocity;
        let errors = [4e-3, 1e-3, 2.5e-4].map(|tau| {
            let q = [0.0, L * theta.sin(), theta];
            let mut run = Simulation::new(
                Box::new(plain(mu, &q)),
                Box::new(NormalCompliancePenalty::new(compliance(tau))),
                Box::new(GaussSeidel::default()),
                (&q, &v),
                // twenty steps per compliance time at first, then more: both errors fall like the compliance time
                SimulationSettings::fixed(tau / 20.0 * (tau / 4e-3)),
            )
            .expect("valid");
            let mut after = None;
            run.run_until(20.0 * tau, |record| {
                let v = [record.velocity[0], record.velocity[1], record.velocity[2]];
                let (_, u) = tip(record.q[2], v);
                if record.contacts[0].gap > 0.0 && u[0] > 0.0 {
                    after = Some(u);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            let u = after.expect("a rebound");
            (u[0] - limit[0]).abs().max((u[1] - limit[1]).abs())
        });
        // first order in τ, without a floor
        for (error, tau) in errors.iter().zip([4e-3, 1e-3, 2.5e-4]) {
            assert!(*error < 12.0 * tau, "{degrees}: {errors:?}");
        }
        assert!(errors[2] < errors[0] / 6.0, "{degrees}: {errors:?}");
    }
}

#[test]
fn a_bounce_is_reached_at_rate_one_and_lasting_contact_at_rate_two() {
    // one bounce: positions and velocities at the end
    let (q, v) = ([0.0, 0.8, 40f64.to_radians()], [0.6, 0.0, 0.0]);
    let rigid = bar(
        0.3,
        ImpactLaw::Energetic { restitution: 1.0 },
        FlowRule::Coulomb,
        &q,
    );
    let mut limit = reference(None, (&q, &v));
    assert_eq!(limit.run_until(&rigid, 0.45), StepOutcome::Solved);
    let errors = [2e-3, 1e-3, 5e-4].map(|tau| {
        let mut motion = reference(Some(tau), (&q, &v));
        assert_eq!(motion.run_until(&plain(0.3, &q), 0.45), StepOutcome::Solved);
        difference(motion.q(), limit.q()).max(difference(motion.v(), limit.v()))
    });
    for pair in errors.windows(2) {
        assert!((rate(pair[0], pair[1]) - 1.0).abs() < 0.1, "{errors:?}");
    }
    // sliding and stick from a prepared penetration r_N τ²/m, with the reaction r_N of the rigid bar
    for (mu, theta, v, t_end, r_n) in [
        (
            0.3,
            60f64.to_radians(),
            [3.0, 0.0, 0.0],
            0.1,
            4.584730377494,
        ),
        (
            1.2,
            65f64.to_radians(),
            [-0.090630778703665, 0.04226182617406995, 0.2],
            0.15,
            8.47777876339,
        ),
    ] {
        let q = [0.0, L * f64::sin(theta), theta];
        let mut limit = reference(None, (&q, &v));
        assert_eq!(limit.run_until(&plain(mu, &q), t_end), StepOutcome::Solved);
        let errors = [4e-3, 2e-3, 1e-3].map(|tau: f64| {
            let q = [q[0], q[1] - r_n * tau * tau, q[2]];
            let mut motion = reference(Some(tau), (&q, &v));
            assert_eq!(motion.run_until(&plain(mu, &q), t_end), StepOutcome::Solved);
            difference(motion.q(), limit.q())
        });
        for pair in errors.windows(2) {
            assert!(
                (rate(pair[0], pair[1]) - 2.0).abs() < 0.1,
                "{mu}: {errors:?}"
            );
        }
        // Moreau's time stepping has the same limit, at rate one in its step
        let errors = [2e-3, 1e-3, 5e-4].map(|h| {
            let system = bar(mu, ImpactLaw::Inelastic, FlowRule::KineticProjection, &q);
            let mut run = Simulation::new(
                Box::new(system),
                Box::new(MoreauContactDynamics::default()),
                Box::new(GaussSeidel::default()),
                (&q, &v),
                SimulationSettings::fixed(h),
            )
            .expect("valid");
            let end = run.run_until(t_end, |_| ControlFlow::Continue(()));
            assert_eq!(end, RunEnd::Finished);
            difference(&run.state().q, limit.q())
        });
        for pair in errors.windows(2) {
            assert!(
                (rate(pair[0], pair[1]) - 1.0).abs() < 0.2,
                "{mu}: {errors:?}"
            );
        }
    }
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    let both = a.iter().zip(b);
    both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
