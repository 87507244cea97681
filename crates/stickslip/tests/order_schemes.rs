//! Measured orders of convergence: 1 through impacts and friction, 2 on smooth motion at theta = 1/2.

use crate::common::{self, Scheme, run};
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

/// Angle at time t of the pendulum released at `angle`, by the classical Runge-Kutta rule: 1e-13 with these steps, and
/// nothing of the engine.
fn pendulum_by_runge_kutta(angle: f64, t: f64) -> f64 {
    let steps = 20_000;
    let h = t / f64::from(steps);
    let slope = |[a, w]: [f64; 2]| [w, -9.81 * a.sin()];
    let moved = |[a, w]: [f64; 2], [da, dw]: [f64; 2], h: f64| [a + h * da, w + h * dw];
    let mut y = [angle, 0.0];
    for _ in 0..steps {
        let k1 = slope(y);
        let k2 = slope(moved(y, k1, 0.5 * h));
        let k3 = slope(moved(y, k2, 0.5 * h));
        let k4 = slope(moved(y, k3, h));
        for i in 0..2 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y[0]
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
    let exact = pendulum_by_runge_kutta(1.0, 1.0);
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
                (sim.state().q[0] - exact).abs()
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
    // Drop with tangential velocity, inelastic impact with friction, then sliding: exact by hand. The place of the
    // impact inside its step decides the error, so the worst of many places is measured.
    let (mu, g, vx) = (0.2f64, 9.81f64, 2.0f64);
    let steps = [4e-3, 2e-3, 1e-3, 5e-4];
    for scheme in [
        Scheme::Moreau,
        Scheme::MoreauJean(Some(0.5)),
        Scheme::MoreauJean(Some(0.51)),
    ] {
        let worst = |h: f64| {
            // falls that end at every sixteenth of a step
            let falls = (0..16).map(|k| 0.14 + h * (f64::from(k) + 0.5) / 16.0);
            let errors = falls.map(|fall| {
                let height = 0.5 * g * fall * fall;
                let after = vx - mu * (2.0 * g * height).sqrt();
                let exact = vx * fall + after * 0.3 - 0.5 * mu * g * 0.09;
                let section = FrictionSection::segment(mu).expect("valid");
                let law = ContactLaw::new(section, ImpactLaw::Inelastic).expect("valid");
                let system = common::particle_on_plane(law, [0.0, -g]);
                let start: (&[f64], &[f64]) = (&[0.0, height], &[vx, 0.0]);
                let sim = run(system, scheme, start, h, fall + 0.3, |_| {});
                (sim.state().q[0] - exact).abs()
            });
            errors.fold(0.0, f64::max)
        };
        let errors = steps.map(worst);
        let measured = order(&steps, &errors);
        assert!(
            (measured - 1.0).abs() < 0.2,
            "{scheme:?}: order {measured}, errors {errors:?}"
        );
    }
}
