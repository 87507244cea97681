//! Measured orders of convergence: 1 through impacts and friction, 2 on smooth motion at theta = 1/2.

mod common;

use common::{Scheme, run};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::systems::GeneralizedSystem;

/// Least-squares slope of log(error) over log(h).
fn order(steps: &[f64], errors: &[f64]) -> f64 {
    let n = steps.len() as f64;
    let x: Vec<f64> = steps.iter().map(|h| h.ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

/// Planar pendulum in its angle, unit length and mass, weight 9.81.
fn pendulum() -> GeneralizedSystem {
    GeneralizedSystem::builder(["a"])
        .mass_diagonal(&[1.0])
        .potential(|q: &[Jet]| -q[0].cos() * 9.81)
        .build(&[1.0])
        .expect("valid")
}

/// Free particle in polar coordinates: all inertia is covariant.
fn polar() -> GeneralizedSystem {
    GeneralizedSystem::builder(["r", "phi"])
        .kinetic_energy(|q: &[Jet], v: &[Jet]| (v[0] * v[0] + q[0] * q[0] * v[1] * v[1]) * 0.5)
        .build(&[1.0, 0.0])
        .expect("valid")
}

#[test]
fn theta_one_half_is_of_order_two_on_smooth_motion() {
    let steps = [4e-2, 2e-2, 1e-2, 5e-3];
    // Pendulum: reference by refinement, far below the errors measured.
    let reference = run(
        pendulum(),
        Scheme::MoreauJean(Some(0.5)),
        (&[1.0], &[0.0]),
        1e-4,
        1.0,
        |_| {},
    );
    for (theta, expected) in [(0.5, 2.0), (1.0, 1.0)] {
        let errors: Vec<f64> = steps
            .iter()
            .map(|&h| {
                let sim = run(
                    pendulum(),
                    Scheme::MoreauJean(Some(theta)),
                    (&[1.0], &[0.0]),
                    h,
                    1.0,
                    |_| {},
                );
                assert!(sim.ledger().is_closed(), "h = {h}: {:?}", sim.ledger());
                (sim.state().q[0] - reference.state().q[0]).abs()
            })
            .collect();
        let measured = order(&steps, &errors);
        assert!(
            (measured - expected).abs() < 0.1,
            "theta {theta}: order {measured}, errors {errors:?}"
        );
    }
}

#[test]
fn free_motion_in_polar_coordinates_is_a_straight_line() {
    // Position (1, 0), velocity (0.3, 0.8): the line x = 1 + 0.3 t, y = 0.8 t.
    let steps = [4e-2, 2e-2, 1e-2];
    let (x, y) = (1.3f64, 0.8f64);
    let (r, angle) = (x.hypot(y), y.atan2(x));
    for (scheme, expected) in [(Scheme::MoreauJean(Some(0.5)), 2.0), (Scheme::Moreau, 1.0)] {
        let errors: Vec<f64> = steps
            .iter()
            .map(|&h| {
                let sim = run(polar(), scheme, (&[1.0, 0.0], &[0.3, 0.8]), h, 1.0, |_| {});
                assert!(
                    sim.ledger().is_closed(),
                    "{scheme:?}, h = {h}: {:?}",
                    sim.ledger()
                );
                (sim.state().q[0] - r)
                    .abs()
                    .max((sim.state().q[1] - angle).abs())
            })
            .collect();
        let measured = order(&steps, &errors);
        assert!(
            (measured - expected).abs() < 0.15,
            "{scheme:?}: order {measured}, errors {errors:?}"
        );
    }
}

#[test]
fn impacts_and_friction_are_of_order_one() {
    // Drop with tangential velocity, inelastic impact with friction, then sliding: exact by hand.
    let (mu, g, vx) = (0.2f64, 9.81f64, 2.0f64);
    let height = 0.1f64;
    let fall = (2.0 * height / g).sqrt();
    let after = vx - mu * (2.0 * g * height).sqrt();
    let t_end = fall + 0.3;
    let exact = vx * fall + after * 0.3 - 0.5 * mu * g * 0.09;
    // Step lengths that put the impact at different places inside a step: the error is at most C h.
    for scheme in [
        Scheme::Moreau,
        Scheme::MoreauJean(Some(0.5)),
        Scheme::MoreauJean(Some(0.51)),
    ] {
        let mut constants = Vec::new();
        for h in [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
            let section = FrictionSection::segment(mu).expect("valid");
            let law = ContactLaw::new(section, ImpactLaw::Inelastic).expect("valid");
            let system = common::particle_on_plane(law, [0.0, -g]);
            let sim = run(
                system,
                scheme,
                (&[0.0, height], &[vx, 0.0]),
                h,
                t_end,
                |_| {},
            );
            constants.push((sim.state().q[0] - exact).abs() / h);
        }
        // |error| <= C h with C of the size of the velocity jump, at every step length.
        let worst = constants.iter().fold(0.0f64, |m, c| m.max(*c));
        assert!(worst < 2.0 * vx, "{scheme:?}: error/h = {constants:?}");
    }
}
