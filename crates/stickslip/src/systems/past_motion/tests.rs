//! Exact values of the functionals, and independence of how the nodes were entered.

use super::*;
use crate::systems::{GeneralizedSystem, MechanicalSystem};

/// Nodes of a zigzag with uneven steps.
const NODES: [(f64, f64); 6] = [
    (0.3, 1.0),
    (0.5, -2.0),
    (1.1, 0.5),
    (1.2, 0.7),
    (2.0, 3.0),
    (2.7, -1.0),
];

fn system(reading: PastReading) -> GeneralizedSystem {
    GeneralizedSystem::builder(["x"])
        .mass_diagonal(&[1.0])
        .delayed_force(reading, |_, _, out| out[0] = 0.0)
        .build(&[0.25])
        .expect("valid")
}

fn zigzag(reading: PastReading) -> PastMotion {
    let system = system(reading);
    let mut past = PastMotion::new(&system, (&[0.25], &[0.5]), 0.0, Interpolation::Affine)
        .expect("valid history")
        .expect("a past");
    for (t, x) in NODES {
        past.push(t, &[x]);
        past.commit();
    }
    past
}

/// The motion itself, written independently.
fn x(s: f64) -> f64 {
    if s <= 0.0 {
        return 0.25 + 0.5 * s;
    }
    let mut before = (0.0, 0.25);
    for node in NODES {
        if s <= node.0 {
            return before.1 + (s - before.0) / (node.0 - before.0) * (node.1 - before.1);
        }
        before = node;
    }
    before.1
}

/// Midpoint rule so fine that its error is far below the tolerance used with it.
fn quadrature(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 200_000;
    let h = (b - a) / n as f64;
    (0..n).map(|j| f(a + (j as f64 + 0.5) * h)).sum::<f64>() * h
}

#[test]
fn positions_are_those_of_the_piecewise_affine_motion() {
    let mut reading = PastReading::new();
    reading.varying_delay(0.1, 4.0).unwrap();
    let past = zigzag(reading);
    let view = PastView::new(Some(&past), 2.7, &[-1.0], &[0.0]);
    for k in 0..=400 {
        let tau = 4.0 * k as f64 / 400.0;
        assert!((view.delayed(0, tau) - x(2.7 - tau)).abs() < 1e-14, "{tau}");
    }
    assert_eq!(view.delayed_velocity(0, 2.2), (0.5 - -2.0) / (1.1 - 0.5));
    assert!(past.fault().is_none());
    assert!(view.delayed(0, -0.1).is_nan(), "the future is not known");
    assert_eq!(past.fault().map(f64::abs).map(|x| x < 0.11), Some(true));
}

#[test]
fn beyond_the_last_node_the_motion_runs_straight_to_the_instant() {
    let mut reading = PastReading::new();
    reading.varying_delay(0.1, 4.0).unwrap();
    let past = zigzag(reading);
    let view = PastView::new(Some(&past), 3.1, &[1.0], &[0.0]);
    assert!((view.delayed(0, 0.2) - 0.0).abs() < 1e-14);
    assert!((view.delayed(0, 1.0) - x(2.1)).abs() < 1e-14);
}

#[test]
fn window_maxima_are_exact_for_convex_functions() {
    let mut reading = PastReading::new();
    let top = reading.window_maximum(1.3, Psi::Absolute(0)).unwrap();
    let bottom = reading.window_maximum(0.4, Psi::Negative(0)).unwrap();
    let system = system(reading);
    let mut past = PastMotion::new(&system, (&[0.25], &[0.5]), 0.0, Interpolation::Affine)
        .unwrap()
        .unwrap();
    for (t, value) in NODES {
        past.push(t, &[value]);
        // Trial nodes count while they stand and leave no trace afterwards.
        let view = PastView::new(Some(&past), t, std::slice::from_ref(&value), &[0.0]);
        let before = view.maximum(&top);
        past.retract();
        past.push(t, &[value]);
        past.commit();
        for beyond in [0.0, 0.15] {
            let tip = [value + beyond];
            let view = PastView::new(Some(&past), t + beyond, &tip, &[0.0]);
            let path = |s: f64| if s <= t { x(s) } else { value + (s - t) };
            let sample = |window: f64, f: &dyn Fn(f64) -> f64| {
                // nodes lie on multiples of 1/20 shifted by the window: a fine grid meets them all
                (0..=26_000)
                    .map(|k| f(path(t + beyond - window * k as f64 / 26_000.0)))
                    .fold(f64::NEG_INFINITY, f64::max)
            };
            let expected = sample(1.3, &|x| x.abs());
            assert!((view.maximum(&top) - expected).abs() < 1e-3 * 7.0, "{t}");
            assert!(view.maximum(&top) >= expected - 1e-14);
            let expected = sample(0.4, &|x| -x);
            assert!((view.maximum(&bottom) - expected).abs() < 1e-3 * 7.0, "{t}");
            assert!(view.maximum(&bottom) >= expected - 1e-14);
            if beyond == 0.0 {
                assert_eq!(view.maximum(&top), before);
            }
        }
    }
}

#[test]
fn integrals_are_exact_on_affine_pieces() {
    let mut reading = PastReading::new();
    let tau = 1.9;
    let constant = reading.integral(0, tau, Kernel::Constant).unwrap();
    let fading = reading
        .integral(0, tau, Kernel::Exponential { rate: 1.7 })
        .unwrap();
    let general = reading
        .integral(0, tau, Kernel::general(|s| (3.0 * s).cos()))
        .unwrap();
    let singular = reading
        .integral(
            0,
            tau,
            Kernel::Moments {
                zeroth: std::sync::Arc::new(|s: f64| 2.0 * s.sqrt()),
                first: std::sync::Arc::new(|s: f64| 2.0 / 3.0 * s.powf(1.5)),
            },
        )
        .unwrap();
    let past = zigzag(reading);
    for (t, tip) in [(2.7, -1.0), (2.9, -0.2)] {
        let q = [tip];
        let view = PastView::new(Some(&past), t, &q, &[0.0]);
        let path = |s: f64| {
            if s <= 2.7 {
                x(s)
            } else {
                -1.0 + 4.0 * (s - 2.7)
            }
        };
        let integral = |k: &dyn Fn(f64) -> f64| quadrature(t - tau, t, |s| k(t - s) * path(s));
        assert!((view.integral(&constant) - integral(&|_| 1.0)).abs() < 1e-9);
        assert!((view.integral(&fading) - integral(&|s| (-1.7 * s).exp())).abs() < 1e-9);
        assert!((view.integral(&general) - integral(&|s| (3.0 * s).cos())).abs() < 1e-7);
        // s = r² removes the singularity of the kernel
        let regular = quadrature(0.0, tau.sqrt(), |r| 2.0 * path(t - r * r));
        assert!((view.integral(&singular) - regular).abs() < 1e-8);
        assert!((view.mean(&constant) - view.integral(&constant) / tau).abs() < 1e-15);
    }
}

#[test]
fn deviation_from_rest_sees_nodes_and_the_cut_end() {
    let mut reading = PastReading::new();
    reading.window(2.5).unwrap();
    let past = zigzag(reading);
    let view = PastView::new(Some(&past), 2.7, &[-1.0], &[0.0]);
    assert!((view.deviation(&[0], 0.5) - (x(2.2) + 1.0)).abs() < 1e-14);
    assert_eq!(view.deviation(&[0], 1.0), 4.0);
    let rest = PastView::new(None, 2.7, &[-1.0], &[0.0]);
    assert_eq!(rest.deviation(&[0], 1.0), 0.0);
}

#[test]
fn a_snapshot_gives_the_same_bits() {
    let make = || {
        let mut reading = PastReading::new();
        reading.point_delay(0.7).unwrap();
        let top = reading.window_maximum(1.3, Psi::Coordinate(0)).unwrap();
        let fading = reading
            .integral(0, 1.1, Kernel::Exponential { rate: 2.0 })
            .unwrap();
        let mean = reading.integral(0, 1.1, Kernel::Constant).unwrap();
        (reading, top, fading, mean)
    };
    let (reading, top, fading, mean) = make();
    let mut past = zigzag(reading.clone());
    let text = serde_json::to_string(&past.snapshot()).unwrap();
    let mut other = PastMotion::start(&reading, (&[0.0], &[0.0]), 0.0, Interpolation::Affine);
    assert!(other.restore(&serde_json::from_str(&text).unwrap()));
    let read = |past: &PastMotion, t: f64, q: f64| {
        let q = [q];
        let view = PastView::new(Some(past), t, &q, &[0.0]);
        [
            view.delayed(0, 0.7),
            view.maximum(&top),
            view.integral(&fading),
            view.integral(&mean),
        ]
        .map(f64::to_bits)
    };
    for k in 1..200 {
        let (t, q) = (2.7 + 0.03 * k as f64, (k as f64).sin());
        assert_eq!(read(&past, t, q), read(&other, t, q), "node {k}");
        for past in [&mut past, &mut other] {
            past.push(t, &[q]);
            past.commit();
        }
    }
    assert!(past.len() < 60, "old nodes are forgotten: {}", past.len());
}

#[test]
fn a_history_function_is_evaluated_not_sampled() {
    let mut reading = PastReading::new();
    reading.point_delay(1.0).unwrap();
    let mean = reading.integral(0, 1.0, Kernel::Constant).unwrap();
    reading
        .history(InitialHistory::function(|_, s| 0.25 + s.sin()))
        .unwrap();
    let system = system(reading);
    let mut past = PastMotion::new(&system, (&[0.25], &[1.0]), 5.0, Interpolation::Affine)
        .unwrap()
        .unwrap();
    past.push(5.4, &[0.25]);
    past.commit();
    let view = PastView::new(Some(&past), 5.4, &[0.25], &[0.0]);
    for tau in [0.95, 0.61, 0.41f64] {
        assert!((view.delayed(0, tau) - (0.25 + (0.4 - tau).sin())).abs() < 1e-15);
    }
    let exact = 0.25 + (-1.0 + (0.6f64).cos());
    assert!((view.integral(&mean) - exact).abs() < 1e-14);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_reason() {
    let mut reading = PastReading::new();
    assert!(matches!(
        reading.point_delay(-0.1),
        Err(PastError::Delay { value, .. }) if value == -0.1
    ));
    assert!(reading.window(f64::NAN).is_err());
    assert!(matches!(
        reading.integral(0, 1.0, Kernel::general(|s| 1.0 / s)),
        Err(PastError::Kernel { .. })
    ));
    assert!(
        reading
            .integral(0, 1.0, Kernel::general(|s| 1.0 / s.sqrt()))
            .is_ok(),
        "an integrable singularity is accepted"
    );
    let mut jump = PastReading::new();
    jump.point_delay(1.0).unwrap();
    jump.history(InitialHistory::function(|_, _| 7.0)).unwrap();
    let system = system(jump);
    assert!(matches!(
        PastMotion::new(&system, (&[0.25], &[0.0]), 0.0, Interpolation::Affine),
        Err(PastError::Jump { found, .. }) if found == 7.0
    ));
    assert_eq!(system.dof(), 1);
}
