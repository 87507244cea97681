//! Exact solutions of the simplest motions: a ball that bounces, a block that slides.

use crate::common::{self, Scheme, run, slider};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::ContactMode;

const G: f64 = 9.81;

#[test]
fn sliding_block_stops_after_v0_over_mu_g() {
    let (mu, v0) = (0.3, 2.0);
    let (time, distance) = (v0 / (mu * G), v0 * v0 / (2.0 * mu * G));
    for scheme in [
        Scheme::MoreauJean(Some(0.5)),
        Scheme::MoreauJean(None),
        Scheme::Moreau,
    ] {
        for impact in [
            ImpactLaw::Inelastic,
            ImpactLaw::Fremond { restitution: 0.0 },
        ] {
            let h = 1e-3;
            let mut last_slip = 0.0;
            let sim = run(
                slider(mu, impact),
                scheme,
                (&[0.0, 0.0], &[v0, 0.0]),
                h,
                1.0,
                |record| {
                    if record.contacts[0].mode == ContactMode::Slip {
                        last_slip = record.t;
                    }
                },
            );
            // Slip ends within one step of the exact time, the distance is of order 1 in h.
            assert!(
                (last_slip - time).abs() <= 2.0 * h,
                "{scheme:?}: slip ended at {last_slip}, exact {time}"
            );
            let x = sim.state().q[0];
            assert!(
                (x - distance).abs() <= v0 * h,
                "{scheme:?}: stopped at {x}, exact {distance}"
            );
            assert!(
                sim.ledger().is_closed(),
                "{scheme:?}: ledger open: {:?}",
                sim.ledger()
            );
            assert!(
                sim.certificate().holds(1e-12),
                "{scheme:?}: {:?}",
                sim.certificate()
            );
        }
    }
}

#[test]
fn rebound_heights_fall_like_the_square_of_restitution() {
    let (e, h) = (0.5, 1e-4);
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: e }).expect("valid law");
    let mut heights = vec![0.0f64];
    let mut impacts = 0;
    run(
        common::ball(law),
        Scheme::MoreauJean(None),
        (&[1.0], &[0.0]),
        h,
        1.5,
        |record| {
            if record.contacts[0].mode != ContactMode::Open && record.contacts[0].approach < -0.1 {
                impacts += 1;
                heights.push(0.0);
            }
            let top = heights.last_mut().expect("one entry at least");
            *top = top.max(record.q[0]);
        },
    );
    assert!(impacts >= 3);
    for (n, top) in heights.iter().enumerate().take(3).skip(1) {
        let exact = (e * e).powi(n as i32);
        // An impact is late by at most one step, which moves the height by at most h v.
        assert!(
            (top - exact).abs() <= 3.0 * h * (2.0 * G).sqrt(),
            "bounce {n}: {top} against {exact}"
        );
    }
}

#[test]
fn stick_on_an_incline_iff_tan_alpha_at_most_mu() {
    let alpha = 0.3f64;
    for (factor, sticks) in [(0.99, false), (1.01, true)] {
        let mu = factor * alpha.tan();
        for scheme in [Scheme::MoreauJean(None), Scheme::Moreau] {
            let law = ContactLaw::new(
                FrictionSection::segment(mu).expect("valid"),
                ImpactLaw::Inelastic,
            )
            .expect("valid");
            let system = common::particle_on_plane(law, [G * alpha.sin(), -G * alpha.cos()]);
            let sim = run(
                system,
                scheme,
                (&[0.0, 0.0], &[0.0, 0.0]),
                1e-3,
                1.0,
                |_| {},
            );
            let exact = if sticks {
                0.0
            } else {
                0.5 * G * (alpha.sin() - mu * alpha.cos())
            };
            // Sticking is exact, not merely slow.
            let bound = if sticks { 1e-16 } else { 1e-3 * G };
            assert!(
                (sim.state().q[0] - exact).abs() <= bound,
                "mu = {factor} tan: {}",
                sim.state().q[0]
            );
        }
    }
}

#[test]
fn initial_velocity_is_a_left_velocity() {
    // A ball that starts on the ground moving down bounces at t = 0, before any step.
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 }).expect("valid law");
    for scheme in [Scheme::MoreauJean(None), Scheme::Moreau] {
        let sim = common::simulation(common::ball(law.clone()), scheme, (&[0.0], &[-2.0]), 1e-3);
        assert_eq!(sim.state().v[0], 1.0);
        assert_eq!(sim.record().impulses[0], 3.0);
        assert!(sim.ledger().is_closed());
    }
}

#[test]
fn poisson_and_newton_agree_on_a_single_frictionless_impact_in_every_scheme() {
    for scheme in [Scheme::MoreauJean(Some(0.5)), Scheme::Moreau] {
        let after = |impact| {
            let law = ContactLaw::frictionless(impact).expect("valid law");
            let sim = run(
                common::ball(law),
                scheme,
                (&[0.2], &[0.0]),
                1e-3,
                0.3,
                |_| {},
            );
            assert!(sim.ledger().is_closed(), "{scheme:?}: {:?}", sim.ledger());
            sim.state().v[0]
        };
        let newton = after(ImpactLaw::Newton { restitution: 0.6 });
        let poisson = after(ImpactLaw::Poisson { restitution: 0.6 });
        // Newton reads the velocity of the start, Poisson adds the weight of one step.
        assert!(
            (newton - poisson).abs() <= 2.0 * G * 1e-3,
            "{scheme:?}: {newton} {poisson}"
        );
    }
}

#[test]
fn a_body_at_rest_under_poisson_law_stays_at_rest() {
    let law = ContactLaw::frictionless(ImpactLaw::Poisson { restitution: 0.9 }).expect("valid law");
    for scheme in [Scheme::MoreauJean(Some(0.5)), Scheme::Moreau] {
        let sim = run(
            common::ball(law.clone()),
            scheme,
            (&[0.0], &[0.0]),
            1e-3,
            0.5,
            |_| {},
        );
        assert_eq!(
            (sim.state().q[0], sim.state().v[0]),
            (0.0, 0.0),
            "{scheme:?}"
        );
    }
}
