//! Impacts without collision under the energetic law: the slip that jams is stopped, and what it has compressed springs back. Measured by
//! Darboux and Keller's equations, by hand in the plane and integrated by small steps in space.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::records::EventKind;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::RunSummary;
use stickslip::simulation::verify::{Formulation, Line, Motion, Violation};

const SCHEMES: [&str; 4] = ["moreau-jean", "moreau", "sweeping-process", "event-driven"];

/// Runs a scene to its end: velocities in the order of its coordinates, and what is told of the run.
fn run(text: &str) -> (Vec<f64>, RunSummary) {
    let scene = Scene::parse(SourceText::new("jam.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    let facts = scene.facts(run.system());
    let summary = RunSummary::new(&run, (RunSettings::default(), &facts), end, 0.0);
    (run.state().v.clone(), summary)
}

/// A body that slides along the plane z = 0, pressed against it; `mass` is that of (z, x) or (z, x, y).
fn slider(scheme: &str, mass: &[Vec<f64>], slip: &[f64], friction: &str, e: f64) -> String {
    let names = &["z", "x", "y"][..mass.len()];
    let list = |names: &[&str], dot: &str| {
        let quoted: Vec<_> = names.iter().map(|n| format!("\"{n}{dot}\"")).collect();
        format!("[{}]", quoted.join(", "))
    };
    let start = names[1..].iter().zip(slip);
    let start: Vec<_> = start.map(|(n, v)| format!("{n}_dot = {v:?}")).collect();
    format!(
        "title = \"a slider\"\nlaw = \"coulomb\"\nimpact = \"energetic\"\nscheme = \"{scheme}\"\nstep = 1e-8\nuntil = 1e-8\n\
         [system]\ncoordinates = {}\nmass_matrix = {mass:?}\nforces = {{ z = -2 }}\n\
         [[contacts]]\nname = \"plane\"\ngap = \"z\"\nslip = {}\nfriction = {friction}\nrestitution = {e:?}\n\
         [initial]\n{}\n",
        list(names, ""),
        list(&names[1..], "'"),
        start.join("\n")
    )
}

/// The inverse by Gauss and Jordan.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let unit = |i: usize| (0..n).map(move |j| f64::from(u8::from(i == j)));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| matrix[i].iter().copied().chain(unit(i)).collect())
        .collect();
    for k in 0..n {
        let pivot = rows[k][k];
        rows[k].iter_mut().for_each(|x| *x /= pivot);
        let own = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            assert!(i != k);
            row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// Normal and slip velocity after a jam in the plane from the slip `u`, and its normal impulse: slip until it stops, then stick, each
/// with constant slopes.
fn planar_jam(mass: &[Vec<f64>], u: f64, mu: f64, e: f64) -> ([f64; 2], f64) {
    let w = inverse(mass);
    let friction = -mu * u.signum();
    let (lift, turn) = (w[0][0] + w[0][1] * friction, w[1][0] + w[1][1] * friction);
    assert!(lift < 0.0, "friction does not press the body in");
    assert!(w[0][1].abs() <= mu * w[1][1], "the point slips on");
    let stops = -u / turn;
    let deepest = lift * stops;
    let held = w[0][0] - w[0][1] * w[0][1] / w[1][1];
    let compressed = -deepest / held;
    let work = 0.5 * -deepest * (stops + compressed);
    let back = (2.0 * e * e * work / held).sqrt();
    ([held * back, 0.0], stops + compressed + back)
}

/// Velocity after a layer from the velocity u under friction in the ellipse with these axes, and its normal impulse, by `count` implicit Euler
/// steps in the normal impulse, extrapolated with half as many.
fn layer(mass: &[Vec<f64>], u: &[f64], axes: &[f64], e: f64, count: usize) -> Vec<f64> {
    let [coarse, fine] = [1, 2].map(|k| small_steps(mass, u, axes, e, k * count));
    let pairs = coarse.iter().zip(&fine);
    pairs.map(|(a, b)| 2.0 * b - a).collect()
}

fn small_steps(mass: &[Vec<f64>], u: &[f64], axes: &[f64], e: f64, count: usize) -> Vec<f64> {
    let w = inverse(mass);
    let d = axes.len();
    let dp = 1.0 / count as f64;
    let steep: f64 = (0..d).map(|i| axes[i] * axes[i] * w[i + 1][i + 1]).sum();
    let (mut u, mut p) = (u.to_vec(), 0.0);
    // The point of the ellipse is its axes times a point of the unit disc.
    let mut z = vec![0.0; d];
    let (mut taken, mut given) = (0.0, 0.0);
    loop {
        for _ in 0..10_000 {
            let moved = |i: usize| {
                let along: f64 = (0..d).map(|j| w[i][j + 1] * axes[j] * z[j]).sum();
                u[i] + dp * (w[i][0] + along)
            };
            let step = |i: usize| z[i] - axes[i] * moved(i + 1) / (dp * steep);
            let next: Vec<f64> = (0..d).map(step).collect();
            let size = next.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
            let next: Vec<f64> = next.iter().map(|x| x / size).collect();
            let change = next.iter().zip(&z).map(|(a, b)| (a - b).abs());
            let settled = change.fold(0.0, f64::max) < 1e-13;
            z = next;
            if settled {
                break;
            }
        }
        let rate = |i: usize| w[i][0] + (0..d).map(|j| w[i][j + 1] * axes[j] * z[j]).sum::<f64>();
        let rates: Vec<f64> = (0..=d).map(rate).collect();
        let work = |dp: f64| dp * (u[0] + 0.5 * dp * rates[0]);
        let rises = u[0] + dp * rates[0] > 0.0;
        let mut last = dp;
        if rises && given + work(dp) >= e * e * taken {
            let owed = e * e * taken - given;
            last = (-u[0] + (u[0] * u[0] + 2.0 * rates[0] * owed).sqrt()) / rates[0];
        }
        if rises {
            given += work(last)
        } else {
            taken -= work(last)
        }
        u.iter_mut().zip(&rates).for_each(|(u, r)| *u += last * r);
        p += last;
        assert!(p < 100.0, "the impact ends");
        if last < dp {
            u.push(p);
            return u;
        }
    }
}

#[test]
fn a_jam_in_the_plane_rebounds_with_what_it_compressed() {
    let masses = [
        vec![vec![1.0, 0.6], vec![0.6, 0.8]],
        vec![vec![2.0, -1.5], vec![-1.5, 1.7]],
    ];
    for (mass, u, mu) in [(&masses[0], -0.9, 2.1), (&masses[1], 1.7, 1.9)] {
        for e in [0.0, 0.3, 0.7, 1.0] {
            let (expected, impulse) = planar_jam(mass, u, mu, e);
            for scheme in SCHEMES {
                let (v, summary) = run(&slider(scheme, mass, &[u], &mu.to_string(), e));
                for (v, expected) in v.iter().zip(expected) {
                    assert!(
                        (v - expected).abs() < 1e-7,
                        "{scheme}, e = {e}: {v} {expected}"
                    );
                }
                assert!(summary.certified, "{scheme}, e = {e}");
                let told: Vec<_> = summary.events.iter().map(|x| (x.kind, x.impulse)).collect();
                assert!(
                    told[0].0 == EventKind::TangentialImpact && (told[0].1 - impulse).abs() < 1e-7,
                    "{scheme}, e = {e}: {told:?}, {impulse}"
                );
            }
        }
    }
}

#[test]
fn a_jam_in_space_is_the_integral_of_darboux_and_keller() {
    let masses = [
        vec![
            vec![1.0, 0.7, 0.2],
            vec![0.7, 1.2, 0.1],
            vec![0.2, 0.1, 1.0],
        ],
        vec![
            vec![1.5, -0.4, 0.9],
            vec![-0.4, 1.0, -0.2],
            vec![0.9, -0.2, 1.3],
        ],
    ];
    let cases = [
        (&masses[0], [-1.3, 0.4], [3.0, 3.0]),
        (&masses[0], [-0.8, -0.7], [3.5, 2.0]),
        (&masses[1], [0.5, -1.4], [2.6, 2.6]),
    ];
    for (mass, slip, axes) in cases {
        for e in [0.4, 1.0] {
            let start = [0.0, slip[0], slip[1]];
            let expected = layer(mass, &start, &axes, e, 4_000);
            assert!(expected[0] > 0.01, "a rebound: {expected:?}");
            let section = if axes[0] == axes[1] {
                format!("{{ disc = {} }}", axes[0])
            } else {
                format!("{{ ellipse = [{}, {}] }}", axes[0], axes[1])
            };
            for scheme in SCHEMES {
                let (v, summary) = run(&slider(scheme, mass, &slip, &section, e));
                for (v, expected) in v.iter().zip(&expected) {
                    assert!(
                        (v - expected).abs() < 2e-5,
                        "{scheme}, e = {e}: {v} {expected:?}"
                    );
                }
                assert!(summary.certified, "{scheme}, e = {e}");
                let impulse = summary.events[0].impulse;
                assert!(
                    (impulse - expected[3]).abs() < 2e-5,
                    "{scheme}, e = {e}: {impulse}"
                );
            }
        }
    }
}

/// Friction that reads the slip speed as the layer goes on is that of rest in its stick, and more of it presses the body in before.
#[test]
fn a_jam_reads_friction_at_every_slip_speed_on_its_way() {
    let mass = [vec![1.0, 0.6], vec![0.6, 0.8]];
    let w = inverse(&mass);
    let (u, e) = (-0.9f64, 0.8);
    // μ = 1.8 + s/2: du_n/dp and du_t/dp by small steps to the stop, then stick as by hand.
    let (mut u_t, mut u_n, mut work, dp) = (u, 0.0, 0.0, 1e-7);
    while u_t < 0.0 {
        let mu = 1.8 - 0.5 * (u_t + 0.5 * dp * (w[1][0] + w[1][1] * 1.8));
        let [lift, turn] = [0, 1].map(|i| w[i][0] + w[i][1] * mu);
        work -= dp * (u_n + 0.5 * dp * lift);
        u_n += dp * lift;
        u_t += dp * turn;
    }
    let held = w[0][0] - w[0][1] * w[0][1] / w[1][1];
    work += 0.5 * u_n * u_n / held;
    let expected = e * (2.0 * held * work).sqrt();
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let (v, summary) = run(&slider(scheme, &mass, &[u], "\"1.8 + s/2\"", e));
        assert!(
            (v[0] - expected).abs() < 1e-5 && v[1].abs() < 1e-7 && summary.certified,
            "{scheme}: {v:?} {expected}"
        );
    }
}

/// Sliding that forces lift off, and sliding outside of Painlevé's region, have no impact.
#[test]
fn what_may_slide_on_or_lift_off_does_not_jam() {
    let mass = [vec![1.0, 0.6], vec![0.6, 0.8]];
    for scheme in SCHEMES {
        let text = slider(scheme, &mass, &[-0.9], "2.1", 1.0);
        let text = text.replace("z = -2", "z = 2").replace("1e-8", "1e-3");
        let (v, summary) = run(&text);
        // M a = f, and the slip goes on.
        let w = inverse(&mass);
        let exact = [2e-3 * w[0][0], -0.9 + 2e-3 * w[1][0]];
        let near = v.iter().zip(exact).all(|(v, x)| (v - x).abs() < 1e-9);
        assert!(
            near && summary.event_counts.tangential_impacts == 0,
            "{scheme}: {v:?}"
        );
        let text = slider(scheme, &mass, &[-0.9], "0.4", 1.0).replace("1e-8", "1e-3");
        let (v, summary) = run(&text);
        let reaction = 2e-3 / (w[0][0] + 0.4 * w[0][1]) * w[0][0];
        let exact = -0.9 + 0.4 * reaction * w[1][1] + (reaction - 2e-3) * w[1][0];
        assert!(
            (v[1] - exact).abs() < 1e-9 && v[0].abs() < 1e-12,
            "{scheme}: {v:?} {exact}"
        );
        assert_eq!(summary.event_counts.tangential_impacts, 0, "{scheme}");
    }
}

const BARS: &str = r#"
title = "two bars"
law = "coulomb"
impact = "energetic"
step = 1e-8
until = 1e-8
[system]
coordinates = ["x0", "a0", "x1", "a1"]
kinetic_energy = "x0'^2/2 + a0'^2/6 + x1'^2/2 + a1'^2/6 + C*x0'*x1'"
forces = { a0 = -2, a1 = -2 }
[[contacts]]
name = "left"
gap = "a0 + pi/4"
point = ["x0 + cos(a0)", "sin(a0)"]
friction = MU
restitution = 0.6
[[contacts]]
name = "right"
gap = "a1 + pi/4"
point = ["x1 + cos(a1)", "sin(a1)"]
friction = 1.5
restitution = 0.6
[initial]
a0 = "-pi/4"
x0_dot = 1.2
a1 = "-pi/4"
x1_dot = 0.7
"#;

fn bars(scheme: &str, coupling: &str, friction: &str) -> (Vec<f64>, RunSummary) {
    let text = BARS.replace('C', coupling).replace("MU", friction);
    run(&format!("scheme = \"{scheme}\"\n{text}"))
}

#[test]
fn bars_that_jam_apart_from_each_other_rebound_each_by_itself() {
    // In (gap rate, slip): u = (a', x' + a'/√2) of M = diag(1, 1/3), the normal along the angle.
    let s = 0.5f64.sqrt();
    // M⁻¹ on (normal (0, 1), slip (1, s)), its inverse as the mass of those velocities.
    let mass = inverse(&[vec![3.0, 3.0 * s], vec![3.0 * s, 1.0 + 3.0 * s * s]]);
    for scheme in SCHEMES {
        let (v, summary) = bars(scheme, "0", "1.5");
        for (k, start) in [1.2, 0.7].into_iter().enumerate() {
            // The normal of the unit gap a + π/4 is √½ of that of the point.
            let scaled = |x: f64| x / s;
            let wide = inverse(
                &inverse(&mass)
                    .iter()
                    .enumerate()
                    .map(|(i, row)| {
                        let entries = row.iter().enumerate();
                        entries
                            .map(|(j, x)| x * [s, 1.0][i] * [s, 1.0][j])
                            .collect()
                    })
                    .collect::<Vec<Vec<f64>>>(),
            );
            let ([rate, _], _) = planar_jam(&wide, start, 1.5, 0.6);
            let angle = scaled(rate);
            assert!(
                (v[2 * k + 1] - angle).abs() < 1e-6,
                "{scheme}: {v:?} {angle}"
            );
            assert!((v[2 * k] + s * angle).abs() < 1e-6, "{scheme}: {v:?}");
        }
        assert!(
            summary.certified && summary.event_counts.tangential_impacts == 2,
            "{scheme}"
        );
    }
}

#[test]
fn bars_that_jam_at_once_and_act_on_each_other_stop_by_name() {
    for scheme in SCHEMES {
        let (v, summary) = bars(scheme, "0.3", "1.5");
        assert_eq!(v, [1.2, 0.0, 0.7, 0.0], "{scheme}");
        assert!(
            summary.reason.contains("contact `left`"),
            "{scheme}: {}",
            summary.reason
        );
    }
    // A bar that is pressed and slides on has no layer, and what the other one's does to its slip no answer.
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let (v, summary) = bars(scheme, "0.3", "0.4");
        assert!(
            v[3] > 0.1 && v[1].abs() < 1e-7 && summary.certified,
            "{scheme}: {v:?}"
        );
        assert_eq!(summary.event_counts.tangential_impacts, 1, "{scheme}");
    }
}

/// A block slides on two feet and comes to rest, W_NN − μ W_NT = 21 − 0.9·20 at each: nothing rebounds where friction stops it.
#[test]
fn feet_that_friction_stops_do_not_jam() {
    let text = |impact: &str, scheme: &str| {
        format!(
            r#"title = "block"
law = "coulomb"
impact = "{impact}"
scheme = "{scheme}"
step = 1e-3
until = 0.3
[system]
coordinates = ["x", "y", "th"]
kinetic_energy = "(x'^2 + y'^2)/2 + 0.05*th'^2/2"
potential = "9.81*y"
[[contacts]]
name = "left"
gap = "y - cos(th) - sin(th)"
point = ["x + sin(th) - cos(th)", "y - cos(th) - sin(th)"]
friction = 0.9
restitution = 0.8
[[contacts]]
name = "right"
gap = "y - cos(th) + sin(th)"
point = ["x + sin(th) + cos(th)", "y - cos(th) + sin(th)"]
friction = 0.9
restitution = 0.8
[initial]
y = 1
x_dot = 2
"#
        )
    };
    for scheme in ["moreau-jean", "moreau"] {
        let [(v, summary), (slid, _)] =
            ["energetic", "newton"].map(|impact| run(&text(impact, scheme)));
        let same = v.iter().zip(slid).all(|(a, b)| (a - b).abs() < 1e-9);
        let rests = v.iter().all(|v| v.abs() < 1e-9);
        assert!(same && rests && summary.certified, "{scheme}: {v:?}");
        assert_eq!(summary.event_counts.tangential_impacts, 0, "{scheme}");
    }
}

/// The steps of a run as a motion.
fn motion(text: &str) -> (Scene, Motion) {
    let scene = Scene::parse(SourceText::new("jam.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let steps = scene.discretisation().expect("a scheme of steps");
    let mut motion = Motion::of_run(steps).with_correction(run.position_correction());
    motion.push(run.record());
    run.run_until(scene.settings.until, |record| {
        motion.push(record);
        ControlFlow::Continue(())
    });
    (scene, motion)
}

#[test]
fn verify_accepts_the_rebound_of_a_jam_and_refuses_its_absence() {
    let plane = vec![vec![1.0, 0.6], vec![0.6, 0.8]];
    let space = vec![
        vec![1.0, 0.7, 0.2],
        vec![0.7, 1.2, 0.1],
        vec![0.2, 0.1, 1.0],
    ];
    let cases = [
        (&plane, vec![-0.9], "2.1"),
        (&plane, vec![-0.9], "\"1.8 + s/2\""),
        (&space, vec![-1.3, 0.4], "{ disc = 3 }"),
        (
            &space,
            vec![-0.8, -0.7],
            "{ polygon = [[3, 3], [-3, 3], [-3, -3], [3, -3]] }",
        ),
    ];
    for (mass, slip, friction) in cases {
        for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
            // Long enough for an impact after it.
            let text = slider(scheme, mass, &slip, friction, 0.7)
                .replace("until = 1e-8", "until = 0.5")
                .replace("step = 1e-8", "step = 1e-3");
            let (scene, own) = motion(&text);
            let report = scene.verify(&own, None).unwrap();
            assert_eq!(report.formulation, Formulation::Energetic);
            assert!(
                report.accepted(),
                "{scheme}, {friction}: {:?}",
                report.violations
            );
            // The jam of every other law: the same slip is stopped, and nothing comes back.
            let (_, still) = motion(&text.replace("\"energetic\"", "\"inelastic\""));
            let report = scene.verify(&still, None).unwrap();
            let first = |v: &Violation| v.line == Line::NormalSign && v.t <= 1e-3;
            assert!(
                report.violations.iter().any(first),
                "{scheme}, {friction}: {:?}",
                report.violations
            );
            // A rebound that is too high by a part in a hundred thousand.
            let mut spoiled = own.clone();
            let rebound = spoiled.nodes.iter().position(|n| n.v_right[0] > 0.0);
            let struck = rebound.expect("a rebound");
            for node in &mut spoiled.nodes[struck..=struck] {
                node.atom.iter_mut().for_each(|p| *p *= 1.0 + 1e-5);
            }
            assert!(!scene.verify(&spoiled, None).unwrap().accepted());
        }
    }
}
