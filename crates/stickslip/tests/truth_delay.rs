//! Motions with delay whose exact values are known, and what must not depend on the past.

use std::ops::ControlFlow;

use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, Simulation, SimulationError, SimulationSettings};
use stickslip::solvers::GaussSeidel;
use stickslip::stepping::{MoreauJean, SweepingProcess, TimeSteppingScheme};
use stickslip::systems::functions::{DelayedForce, GivenRows, GivenScalar};
use stickslip::systems::past_motion::{InitialHistory, PastError, PastReading, PastView};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// Unit mass on the plane y = 0 with friction and weight; the force reads the past.
fn slider<F>(mu: f64, g: f64, reading: PastReading, force: F, x0: f64) -> GeneralizedSystem
where
    F: Fn(&PastView, &[f64], &mut [f64]) + Send + Sync + 'static,
{
    let gap = GivenScalar {
        value: |q: &[f64]| q[1],
        gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 1.0]),
    };
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0]));
    let law = ContactLaw::new(
        FrictionSection::segment(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -g])
        .past(reading)
        .force_function(DelayedForce(force))
        .constraint(
            UnilateralConstraint::new("plane", gap)
                .with_point(ContactFrame::tangents(1, tangent), law),
        )
        .build(&[x0, 0.0])
        .expect("valid")
}

fn delayed_spring(k: f64, tau: f64) -> impl Fn(&PastView, &[f64], &mut [f64]) + Send + Sync {
    move |past, _v, out| {
        out[0] = -k * past.delayed(0, tau);
        out[1] = 0.0;
    }
}

fn reading(tau: f64) -> PastReading {
    let mut reading = PastReading::new();
    reading.point_delay(tau).expect("a delay");
    reading
}

fn simulate(
    system: GeneralizedSystem,
    scheme: Box<dyn TimeSteppingScheme>,
    start: (&[f64], &[f64]),
    settings: SimulationSettings,
) -> Result<Simulation, SimulationError> {
    Simulation::new(
        Box::new(system),
        scheme,
        Box::new(GaussSeidel::default()),
        start,
        settings,
    )
}

fn go(sim: &mut Simulation, t_end: f64) {
    let end = sim.run_until(t_end, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    assert!(sim.ledger().is_closed(), "{:?}", sim.ledger());
}

#[test]
fn first_steps_of_the_algorithm_are_those_of_rational_arithmetic() {
    // k = 4, τ = 1/4, h = 1/10, μ g = 1/2: τ/h is not an integer. The values follow by hand from the
    // algorithm: v_i = w_i − sign(w_i) min(|w_i|, μ g h) with w_i = v_{i−1} − h k x(t_i − τ).
    let (k, tau, h, mug) = (4.0, 0.25, 0.1, 0.5);
    let mut x = vec![1.0];
    let mut v = vec![0.5f64];
    let past = |x: &[f64], s: f64| {
        if s <= 0.0 {
            return 1.0 + 0.5 * s;
        }
        let j = ((s / h + 1e-9) as usize).min(x.len() - 2);
        x[j] + (s - j as f64 * h) / h * (x[j + 1] - x[j])
    };
    let system = slider(0.05, 10.0, reading(tau), delayed_spring(k, tau), 1.0);
    let mut sim = simulate(
        system,
        Box::new(SweepingProcess::default()),
        (&[1.0, 0.0], &[0.5, 0.0]),
        SimulationSettings::fixed(h),
    )
    .expect("valid");
    for i in 0..40 {
        let s = i as f64 * h - tau;
        let w = v[i] - h * k * past(&x, s);
        v.push(w.signum() * (w.abs() - mug * h).max(0.0));
        x.push(x[i] + h * v[i + 1]);
        let record = sim.step_towards(10.0);
        assert!((record.q[0] - x[i + 1]).abs() < 1e-13, "x_{}", i + 1);
        assert!((record.velocity[0] - v[i + 1]).abs() < 1e-13, "v_{i}");
        assert_eq!((record.q[1], record.velocity[1]), (0.0, 0.0));
    }
    // the first values, exact decimals
    assert!((x[1] - 1.01).abs() < 1e-15 && (v[2] + 0.22).abs() < 1e-15);
    assert!(sim.ledger().is_closed());
}

#[test]
fn a_force_that_ignores_the_past_gives_the_same_bits_for_any_delay() {
    let run = |tau: f64, scheme: Box<dyn TimeSteppingScheme>| {
        let force = |past: &PastView, v: &[f64], out: &mut [f64]| {
            out[0] = -4.0 * past.q()[0] - 0.1 * v[0];
            out[1] = 0.0;
        };
        let system = slider(0.05, 10.0, reading(tau), force, 1.0);
        let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0, 0.0]);
        let mut sim =
            simulate(system, scheme, start, SimulationSettings::fixed(1e-3)).expect("valid");
        go(&mut sim, 2.0);
        (sim.state().q[0].to_bits(), sim.state().v[0].to_bits())
    };
    let sweep = || Box::new(SweepingProcess::default());
    assert_eq!(run(0.01, sweep()), run(0.7, sweep()));
    let jean = || Box::new(MoreauJean::default());
    assert_eq!(run(0.01, jean()), run(0.7, jean()));
}

#[test]
fn a_vanishing_delay_tends_to_no_delay_at_first_order() {
    let run = |tau: Option<f64>| {
        let force = move |past: &PastView, _: &[f64], out: &mut [f64]| {
            out[0] = -4.0 * tau.map_or(past.q()[0], |tau| past.delayed(0, tau));
            out[1] = 0.0;
        };
        let system = slider(0.02, 10.0, reading(tau.unwrap_or(0.1)), force, 1.0);
        let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0, 0.0]);
        let scheme = Box::new(SweepingProcess::default());
        let mut sim =
            simulate(system, scheme, start, SimulationSettings::fixed(1e-4)).expect("valid");
        go(&mut sim, 1.0);
        sim.state().q[0]
    };
    let exact = run(None);
    let errors = [0.02, 0.01, 0.005].map(|tau| (run(Some(tau)) - exact).abs());
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
    }
}

#[test]
fn a_run_resumed_from_a_checkpoint_gives_the_same_bits() {
    for adaptive in [false, true] {
        let make = || {
            let mut reading = reading(0.3);
            let top = reading
                .window_maximum(0.2, stickslip::systems::past_motion::Psi::Absolute(0))
                .expect("window");
            let mean = reading
                .integral(0, 0.25, stickslip::systems::past_motion::Kernel::Constant)
                .expect("kernel");
            let force = move |past: &PastView, _: &[f64], out: &mut [f64]| {
                out[0] = -4.0 * past.delayed(0, 0.3)
                    - past.mean(&mean)
                    - 0.1 * past.maximum(&top)
                    - past.deviation(&[0], 0.15);
                out[1] = 0.0;
            };
            let settings = if adaptive {
                SimulationSettings::adaptive(1e-3, 1e-5)
            } else {
                SimulationSettings::fixed(7e-3)
            };
            let system = slider(0.05, 10.0, reading, force, 1.0);
            let scheme = Box::new(SweepingProcess::default());
            simulate(system, scheme, (&[1.0, 0.0], &[0.0, 0.0]), settings).expect("valid")
        };
        let mut whole = make();
        let mut first = make();
        for _ in 0..101 {
            whole.step_towards(3.0);
            first.step_towards(3.0);
        }
        let text = serde_json::to_string(&first.checkpoint()).expect("json");
        let mut second = make();
        second
            .restore(serde_json::from_str(&text).expect("json"))
            .expect("fits");
        for _ in 0..100 {
            whole.step_towards(3.0);
            second.step_towards(3.0);
            let bits = |sim: &Simulation| {
                let state = sim.state();
                [state.t, state.q[0], state.v[0]].map(f64::to_bits)
            };
            assert_eq!(bits(&whole), bits(&second));
        }
    }
}

#[test]
fn delays_that_cannot_be_had_are_refused() {
    let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0, 0.0]);
    let sweep = || Box::new(SweepingProcess::default());
    // shorter than the step
    let system = slider(0.1, 10.0, reading(0.05), delayed_spring(1.0, 0.05), 1.0);
    let error = simulate(system, sweep(), start, SimulationSettings::fixed(0.1)).err();
    assert!(matches!(
        error,
        Some(SimulationError::Past(PastError::ShorterThanStep { delay, step, .. })) if delay == 0.05 && step == 0.1
    ));
    // a history under the floor
    let mut below = reading(1.0);
    below
        .history(InitialHistory::function(
            |i, s| if i == 0 { 1.0 } else { s },
        ))
        .expect("a function");
    let system = slider(0.1, 10.0, below, delayed_spring(1.0, 1.0), 1.0);
    let error = simulate(system, sweep(), start, SimulationSettings::fixed(0.1)).err();
    assert!(matches!(
        error,
        Some(SimulationError::Past(PastError::Inadmissible { gap, .. })) if gap < 0.0
    ));
    // looking into the future, or further back than announced, stops the run with a word
    for tau in [-0.2, 0.7] {
        let system = slider(0.1, 10.0, reading(0.5), delayed_spring(1.0, tau), 1.0);
        let mut sim =
            simulate(system, sweep(), start, SimulationSettings::fixed(0.01)).expect("valid");
        let end = sim.run_until(1.0, |_| ControlFlow::Continue(()));
        assert!(
            matches!(
                end,
                RunEnd::Stopped {
                    outcome: stickslip::records::StepOutcome::DelayOutOfRange,
                    ..
                }
            ),
            "{end:?}"
        );
    }
}

#[test]
fn friction_that_remembers_rest_creeps_and_then_slips() {
    // A slider pulled through a spring sticks until μ_s g = k V t and slips at the memory's dynamic friction.
    let (k, pull, mu_s, mu_d, window, ell, g) = (100.0, 0.2, 0.6, 0.4, 0.05, 0.002, 10.0);
    let mut reading = PastReading::new();
    reading.window(window).expect("window");
    let gap = GivenScalar {
        value: |q: &[f64]| q[1],
        gradient: |_: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 1.0]),
    };
    let tangent = GivenRows(|_: &[f64], rows: &mut [f64]| rows.copy_from_slice(&[1.0, 0.0]));
    let law = ContactLaw::new(
        FrictionSection::segment(1.0).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let memory = move |at: &stickslip::systems::Instant| {
        let d = at.past_view().deviation(&[0], window);
        mu_d + (mu_s - mu_d) * (1.0 - d / ell).max(0.0)
    };
    let system = GeneralizedSystem::builder(["x", "y"])
        .mass_diagonal(&[1.0, 1.0])
        .dead_load(&[0.0, -g])
        .past(reading)
        .force(move |t, q, _v, out| {
            out[0] = k * (pull * t - q[0]);
            out[1] = 0.0;
        })
        .constraint(
            UnilateralConstraint::new("plane", gap).with_remembering_point(
                ContactFrame::tangents(1, tangent),
                law,
                memory,
            ),
        )
        .build(&[0.0, 0.0])
        .expect("valid");
    let mut sim = simulate(
        system,
        Box::new(SweepingProcess::default()),
        (&[0.0, 0.0], &[0.0, 0.0]),
        SimulationSettings::fixed(1e-4),
    )
    .expect("valid");
    let mut starts = Vec::new();
    let mut slipping = false;
    let end = sim.run_until(2.2, |record| {
        let moves = record.velocity[0] > 0.0;
        if moves && !slipping {
            starts.push(record.t);
        }
        slipping = moves;
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    // Slip starts of the continuous motion: 0.3, then every 0.728024 s (event-driven reference value).
    assert_eq!(starts.len(), 3, "{starts:?}");
    for (start, exact) in starts.iter().zip([0.3, 1.028024, 1.756047]) {
        assert!((start - exact).abs() < 3e-3, "{starts:?}");
    }
}

/// Functionals of expressions: x moves uniformly, and the velocity of z at the end is the integral of what is read.
#[test]
fn expressions_of_coordinates_are_read_of_the_past() {
    let (window, end) = (0.5f64, 2.0f64);
    // ∫ over [0, 2] of ∫ e^{-a} (t − a)² da over the last half second.
    let (decay, moment) = (
        1.0 - (-window).exp(),
        1.0 - (-window).exp() * (1.0 + window),
    );
    let second = 2.0 - (-window).exp() * (window * window + 2.0 * window + 2.0);
    let fading = decay * end.powi(3) / 3.0 - moment * end.powi(2) + second * end;
    for (read, expected) in [
        // Rises to t = 1, where its top is no node, stays for the window, and falls.
        (
            "window_max(1 - (x - 1)^2, 0.5)",
            2.0 / 3.0 + 0.5 + 0.5 - 0.125 / 3.0,
        ),
        (
            "-window_min((x - 1)^2 - 1, 0.5)",
            2.0 / 3.0 + 0.5 + 0.5 - 0.125 / 3.0,
        ),
        ("window_mean(x^2, 0.5)", 8.0 / 3.0 - 1.0 + 1.0 / 6.0),
        ("2*window_integral(x^2, 0.5)", 8.0 / 3.0 - 1.0 + 1.0 / 6.0),
        ("fading_integral(x^2, 0.5, 1)", fading),
        ("weighted_integral(x*x, 0.5, exp(-t))", fading),
        ("delay(x*x' - y, 0.25)", 4.0 - 1.0),
        // Of two coordinates, y = −x: (t − 1/2)² up to t = 1/4, then t².
        (
            "window_max(-x*y, 0.5)",
            (0.125 - 0.015625 + 8.0 - 0.015625) / 3.0,
        ),
    ] {
        for (scheme, limit) in [("event-driven", 1e-7), ("moreau-jean", 0.05)] {
            let text = format!(
                "title = \"read\"\nscheme = \"{scheme}\"\nstep = 0.011\nuntil = 2\n[system]\n\
                 coordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
                 forces = {{ z = \"{read}\" }}\n[[contacts]]\ngap = \"z + 1\"\n[initial]\nx_dot = 1\ny_dot = -1\n"
            );
            let scene =
                Scene::parse(SourceText::new("read.toml", text)).unwrap_or_else(|e| panic!("{e}"));
            let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            run.run_until(end, |_| ControlFlow::Continue(()));
            let found = run.state().v[2];
            assert!(
                (found - expected).abs() < limit,
                "{read} {scheme}: {found} {expected}"
            );
        }
    }
}

/// x = x₀ + v t before and after the start: an integral over the last W is K₀ (x₀ + v t) − v K₁ with the moments K₀ and K₁ of its weight,
/// by hand. It drives z, whose velocity at the end is its integral over time; the history alone reaches the beginning of it.
#[test]
fn weights_that_are_narrow_or_jump_are_integrated() {
    let (start, speed, window) = (-0.1, 0.7, 0.217f64);
    let (c, end) = (0.002f64, 0.052f64);
    let z = window / c;
    let root = window.sqrt();
    for (weight, zeroth, first) in [
        // Most of it lies in a hundredth of the window.
        (
            "exp(-t/0.002)/0.002",
            1.0 - (-z).exp(),
            c * (1.0 - (-z).exp() * (1.0 + z)),
        ),
        ("if(t < 0.1, 1, 0)", 0.1, 0.005),
        (
            "if(t > 0.2, 3, if(t < 0.0371, -1, 0))",
            3.0 * (window - 0.2) - 0.0371,
            1.5 * (window * window - 0.04) - 0.5 * 0.0371f64.powi(2),
        ),
        ("abs(t - 0.05)", (0.0025 + 0.167f64.powi(2)) / 2.0, {
            // ∫ s |s − b| ds = b³/6 + (2 W³ − 3 b W² + b³)/6
            let b = 0.05f64;
            (2.0 * b.powi(3) + 2.0 * window.powi(3) - 3.0 * b * window.powi(2)) / 6.0
        }),
        ("1/sqrt(t)", 2.0 * root, 2.0 / 3.0 * root.powi(3)),
        (
            "sin(900*t)",
            (1.0 - (900.0 * window).cos()) / 900.0,
            ((900.0 * window).sin() / 900.0 - window * (900.0 * window).cos()) / 900.0,
        ),
    ] {
        let expected = zeroth * (start * end + 0.5 * speed * end * end) - speed * first * end;
        for (read, scheme, history) in [
            ("x", "moreau-jean", ""),
            ("x", "event-driven", ""),
            ("x", "moreau-jean", "[history]\nx = \"-0.1 + 0.7*t\"\n"),
            ("x + 0*x^2", "moreau-jean", ""),
        ] {
            let text = format!(
                "title = \"read\"\nscheme = \"{scheme}\"\nstep = 0.013\nuntil = {end}\n[system]\n\
                 coordinates = [\"x\", \"z\"]\nkinetic_energy = \"(x'^2 + z'^2)/2\"\n\
                 forces = {{ z = \"weighted_integral({read}, {window}, {weight})\" }}\n\
                 [[contacts]]\ngap = \"z + 1\"\n[initial]\nx = {start}\nx_dot = {speed}\n{history}"
            );
            let scene =
                Scene::parse(SourceText::new("read.toml", text)).unwrap_or_else(|e| panic!("{e}"));
            let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            run.run_until(end, |_| ControlFlow::Continue(()));
            let found = run.state().v[1];
            assert!(
                (found - expected).abs() < 1e-8 * expected.abs(),
                "{weight} of {read} by {scheme} {history}: {found} {expected}"
            );
        }
    }
}

/// x = t − 0.37: an integral over the last W of what jumps where x does is affine in time between the passages, by hand.
#[test]
fn functions_that_jump_are_integrated_over_their_windows() {
    let (window, cross, end) = (0.217, 0.37, 1.1);
    // Of the sign: −W until the passage, W when it has left the window, and nothing between them in the mean.
    let sign = window * (end - 2.0 * cross - window);
    // Of a pulse of 0.02 around it, which takes 0.02 W all in all.
    for (read, expected) in [
        ("sign(x)", sign),
        ("if(abs(x) < 0.01, 1, 0)", 0.02 * window),
    ] {
        let text = format!(
            "title = \"read\"\nscheme = \"moreau-jean\"\nstep = 0.011\nuntil = {end}\n[system]\n\
             coordinates = [\"x\", \"z\"]\nkinetic_energy = \"(x'^2 + z'^2)/2\"\n\
             forces = {{ z = \"window_integral({read}, {window})\" }}\n\
             [[contacts]]\ngap = \"z + 1\"\n[initial]\nx = -{cross}\nx_dot = 1\n"
        );
        let scene =
            Scene::parse(SourceText::new("read.toml", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let mut before = [0.0; 2];
        run.run_until(end, |record| {
            // What drove the step is read at its middle.
            let exact = |t: f64| {
                let (a, b) = (t - window - cross, t - cross);
                match read {
                    "sign(x)" => b.abs() - a.abs(),
                    _ => b.clamp(-0.01, 0.01) - a.clamp(-0.01, 0.01),
                }
            };
            let driven = (record.velocity[1] - before[1]) / (record.t - before[0]);
            let middle = exact(0.5 * (before[0] + record.t));
            assert!(
                (driven - middle).abs() < 1e-9,
                "{read} at {}: {driven} {middle}",
                record.t
            );
            before = [record.t, record.velocity[1]];
            ControlFlow::Continue(())
        });
        assert!(
            (run.state().v[1] - expected).abs() < 1e-3 * window,
            "{read}"
        );
    }
}

/// ∫ exp(50 s) ds over the last 0.2 s of x = 1 drives z: by hand (e¹⁰ − 1)/50, at any time.
#[test]
fn a_weight_that_grows_with_the_age_is_integrated_as_long_as_the_run_goes() {
    let text = "title = \"read\"\nscheme = \"moreau-jean\"\nstep = 0.01\nuntil = 1\n[system]\n\
                coordinates = [\"x\", \"z\"]\nkinetic_energy = \"(x'^2 + z'^2)/2\"\n\
                forces = { z = \"fading_integral(x, 0.2, -50)\" }\n\
                [[contacts]]\ngap = \"z + 1\"\n[initial]\nx = 1\n";
    let scene = Scene::parse(SourceText::new("read.toml", text.to_string()))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    run.run_until(1.0, |_| ControlFlow::Continue(()));
    let expected = 10f64.exp_m1() / 50.0;
    let found = run.state().v[1];
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// The largest value of what jumps lies beside its jump: x = t − 0.5 passes 0.123 between two nodes, up to which x counts, by hand.
#[test]
fn the_largest_value_beside_a_jump_is_found() {
    let text = "title = \"read\"\nscheme = \"moreau-jean\"\nstep = 0.011\nuntil = 1\n[system]\n\
                coordinates = [\"x\", \"z\"]\nkinetic_energy = \"(x'^2 + z'^2)/2\"\n\
                forces = { z = \"window_max(if(x < 0.123, x, -1), 0.2)\" }\n\
                [[contacts]]\ngap = \"z + 1\"\n[initial]\nx = -0.5\nx_dot = 1\n";
    let scene = Scene::parse(SourceText::new("read.toml", text.to_string()))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut before = [0.0; 2];
    run.run_until(1.0, |record| {
        let middle = 0.5 * (before[0] + record.t);
        let expected = match middle {
            t if t < 0.623 => t - 0.5,
            t if t < 0.823 => 0.123,
            _ => -1.0,
        };
        let driven = (record.velocity[1] - before[1]) / (record.t - before[0]);
        assert!(
            (driven - expected).abs() < 1e-9,
            "{driven} {expected} at {middle}"
        );
        before = [record.t, record.velocity[1]];
        ControlFlow::Continue(())
    });
}
