//! Every scene of the gallery is read, runs to its end, is certified and keeps its energy account;
//! and what its text promises is true.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use stickslip::internals::nearest_in_gallery;
use stickslip::records::{EventKind, StepRecord};
use stickslip::scene::{Changes, Scene, find_in_gallery, gallery};
use stickslip::simulation::{RunEnd, Simulation};

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).unwrap();
    let source = changes
        .apply(&entry.source())
        .unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a scene with changes, showing every record.
fn run_with(name: &str, changes: &Changes, mut observe: impl FnMut(&StepRecord)) -> Simulation {
    let scene = scene(name, changes);
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = run.run_until(scene.settings.until, |record| {
        observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished, "{name}");
    run
}

fn run(name: &str) -> Simulation {
    run_with(name, &Changes::new(), |_| ())
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} against {expected} ± {tolerance}"
    );
}

#[test]
fn the_folder_and_the_binary_hold_the_same_scenes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let embedded: BTreeSet<String> = gallery()
        .iter()
        .map(|scene| scene.name.to_owned())
        .collect();
    assert_eq!(files, embedded);
    assert_eq!(nearest_in_gallery("bouncing_bal"), Some("bouncing-ball"));
}

#[test]
fn every_scene_has_a_title_a_source_and_something_to_look_for() {
    for entry in gallery() {
        let scene = Scene::parse(entry.source()).unwrap_or_else(|e| panic!("{e}"));
        for (what, text) in [
            ("title", &scene.title),
            ("source", &scene.source),
            ("description", &scene.description),
            ("look_for", &scene.look_for),
        ] {
            assert!(!text.is_empty(), "{} has no {what}", entry.name);
        }
        let planar = !["[body]", "[elastic]", "[world]"]
            .iter()
            .any(|kind| entry.text.contains(kind));
        assert_eq!(
            scene.drawing().is_some(),
            planar,
            "drawing of {}",
            entry.name
        );
    }
}

#[test]
fn every_scene_runs_certified_with_its_ledger_closed() {
    // Worlds have a test of their own, with the tolerance of theirs.
    for entry in gallery().iter().filter(|e| !e.text.contains("[world]")) {
        let run = run(entry.name);
        let certificate = run.certificate();
        for (what, worst) in [
            ("natural map", certificate.natural_map),
            ("cone", certificate.cone),
            ("signorini", certificate.signorini),
            ("dissipation", certificate.dissipation),
        ] {
            assert!(worst.value <= 1e-10, "{}: {what} {worst:?}", entry.name);
        }
        let failed =
            certificate.no_solution + certificate.not_converged + certificate.nonlinear_failures;
        assert_eq!(failed, 0, "{}: {certificate:?}", entry.name);
        assert!(
            // A ball that rests from event to event has no impact and so no problem.
            certificate.problems > 0
                || !entry.text.contains("[[contacts]]")
                || entry.name == "flat-force",
            "{}: no contact ever",
            entry.name
        );
        assert!(
            run.ledger().is_closed(),
            "{}: {:?}",
            entry.name,
            run.ledger()
        );
    }
}

#[test]
fn bouncing_ball_rests_after_the_zeno_time() {
    let (h, e, g, h0): (f64, f64, f64, f64) = (1e-3, 0.81, 9.81, 0.4);
    let zeno = (2.0 * h0 / g).sqrt() * (1.0 + e) / (1.0 - e);
    let (mut last_rise, height) = (0.0, 5e-4);
    let run = run_with("bouncing-ball", &Changes::new(), |r| {
        if r.q[0] > height {
            last_rise = r.t;
        }
    });
    // Below `height` at most half a hop and the geometric series of the following ones remain; each
    // impact may be found one step late.
    let hop = 2.0 * (2.0 * height / g).sqrt();
    let rest = hop / 2.0 + hop * e / (1.0 - e);
    assert!(
        last_rise > zeno - rest - h / (1.0 - e),
        "{last_rise} against {zeno}"
    );
    assert!(
        last_rise < zeno + h / (1.0 - e),
        "{last_rise} against {zeno}"
    );
    assert!(run.state().q[0].abs() < h && run.state().v[0].abs() < 1e-9);
}

#[test]
fn sliding_block_stops_after_v0_over_mu_g() {
    let run = run("sliding-block");
    let stop = run
        .events()
        .events
        .iter()
        .find(|e| e.kind == EventKind::Stick)
        .unwrap();
    close(stop.t, 2.0 / (0.3 * 9.81), 2e-3);
    close(run.state().q[0], 4.0 / (2.0 * 0.3 * 9.81), 2e-3);
}

#[test]
fn incline_holds_iff_tan_alpha_is_below_mu() {
    let rise =
        |mu: f64| 1.0 / (9.81 * (20_f64.to_radians().sin() + mu * 20_f64.to_radians().cos()));
    for (mu, holds) in [(0.2, false), (0.36, false), (0.37, true), (0.4, true)] {
        let changes = Changes::new().parameter("mu", mu);
        let mut highest = (0.0, 0.0);
        let run = run_with("block-on-incline", &changes, |r| {
            if r.q[1] > highest.1 + 1e-12 {
                highest = (r.t, r.q[1]);
            }
        });
        close(highest.0, rise(mu), 2e-3);
        assert_eq!(highest.1 - run.state().q[1] < 1e-9, holds, "mu = {mu}");
    }
}

#[test]
fn coulomb_oscillator_rests_where_the_half_cycles_end() {
    // Turning points 0.5, -0.42152, ..., 0.02912 (k = 25, mu m g = 0.981).
    let run = run("coulomb-oscillator");
    close(run.state().q[0], 0.02912, 1e-3);
    let stop = run
        .events()
        .events
        .iter()
        .find(|e| e.kind == EventKind::Stick)
        .unwrap();
    close(stop.t, 6.0 * std::f64::consts::PI / 5.0, 5e-3);
}

#[test]
fn corner_billiard_leaves_after_few_reflections_with_its_speed() {
    let run = run("corner-billiard");
    let hits = run
        .events()
        .events
        .iter()
        .filter(|e| e.kind == EventKind::Impact)
        .count();
    assert!(hits <= 8, "{hits}");
    let v = &run.state().v;
    close(v[0].hypot(v[1]), 1.0_f64.hypot(0.1), 1e-13);
}

#[test]
fn cradle_passes_the_motion_on() {
    let half = Changes::new().key("until", 0.5);
    let run = run_with("newtons-cradle", &half, |_| ());
    let v = &run.state().v;
    assert!(
        v[4].abs() > 10.0 * v[..4].iter().fold(0.0, |m: f64, x| m.max(x.abs())),
        "{v:?}"
    );
    // Simultaneous impact under Newton's law, e = 1: from (1, 0, 0, 0, 0) to (-3/5, 2/5, 2/5, 2/5, 2/5).
    let mut ratio = f64::NAN;
    let together = Changes::new().parameter("eps", 0).key("until", 0.3);
    run_with("newtons-cradle", &together, |r| {
        if ratio.is_nan() && r.velocity[4] > 1e-3 {
            ratio = r.velocity[0] / r.velocity[4];
        }
    });
    close(ratio, -1.5, 1e-3);
}

#[test]
fn rod_lands_flat_and_stays() {
    let run = run("slender-rod");
    let (q, v) = (&run.state().q, &run.state().v);
    assert!(q[1].abs() < 1e-3 && q[2].abs() < 1e-3, "{q:?}");
    assert!(v.iter().all(|v| v.abs() < 1e-9), "{v:?}");
    let slip = run
        .events()
        .events
        .iter()
        .find(|e| e.kind == EventKind::Slip)
        .unwrap();
    close(slip.t, 0.14, 0.01);
}

#[test]
fn painleve_rod_jams_at_once() {
    // Angular momentum about the tip is kept: (J + m l²) ω = m l sin θ |v0|.
    let mut spin = f64::NAN;
    run_with("painleve-rod", &Changes::new(), |r| {
        if r.step == 1 {
            spin = r.velocity[2];
        }
    });
    close(spin, 5.0 * 60_f64.to_radians().sin() / (4.0 / 3.0), 1e-2);
}

#[test]
fn kane_pendulum_gains_under_newton_and_loses_under_fremond() {
    for (impact, change) in [
        ("newton", 0.5874946869298494),
        ("fremond", -0.4375703847675102),
    ] {
        let changes = Changes::new().key("impact", impact).key("theta", 0.5);
        let scene = scene("kane-pendulum", &changes);
        let run = scene.simulation().unwrap();
        let before = 0.023181410863455418;
        close(run.record().kinetic / before - 1.0, change, 1e-9);
    }
}

#[test]
fn fremond_impact_reverses_the_slip() {
    let run = scene("fremond-impact", &Changes::new())
        .simulation()
        .unwrap();
    close(run.record().velocity[0], -0.3, 1e-14);
    close(run.record().velocity[1], 0.5, 1e-14);
}

#[test]
fn anisotropic_slider_stops_at_the_reference_point() {
    let run = run("anisotropic-slider");
    close(run.state().q[0], 0.6797678333406342, 5e-4);
    close(run.state().q[1], 0.20337588466412454, 5e-4);
}

#[test]
fn rolling_disc_slows_down_as_rolling_friction_says() {
    let mut samples = Vec::new();
    run_with("rolling-disc", &Changes::new(), |r| {
        if (2.0..8.0).contains(&r.t) {
            samples.push((r.t, r.velocity[0]));
        }
    });
    let (first, last) = (samples[0], samples[samples.len() - 1]);
    close(
        (first.1 - last.1) / (last.0 - first.0),
        0.01 * 9.81 / (1.5 * 0.5),
        1e-9,
    );
}

#[test]
fn particle_leaves_a_smooth_sphere_where_theory_says() {
    let mut leaves = f64::NAN;
    let mut last_contact = 0.0;
    run_with(
        "particle-on-sphere",
        &Changes::new().parameter("mu", 0),
        |r| {
            if r.impulses[0] > 0.0 {
                last_contact = r.t;
                leaves = r.q[2];
            }
        },
    );
    assert!(last_contact > 0.1);
    close(leaves, 2.0 / 3.0 + 1.0 / (3.0 * 9.81), 2e-2);
}

#[test]
fn particle_in_the_bowl_rests_inside_the_friction_angle() {
    let run = run("particle-in-bowl");
    let q = &run.state().q;
    let slope = q[0].hypot(q[1]) / q[2].abs();
    assert!(slope > 0.0 && slope <= 0.1, "{slope}");
    assert!(run.state().v.iter().all(|v| v.abs() < 1e-9));
}

#[test]
fn rocking_block_loses_what_housner_says() {
    // From one turning point to the next the largest angular speed is reached just before the change of corner.
    let mut before = Vec::new();
    let mut peak = 0.0f64;
    run_with("rocking-block", &Changes::new().key("until", 3), |r| {
        let now = r.velocity[2];
        if peak * now < 0.0 {
            before.push(peak);
            peak = now;
        } else if now.abs() > peak.abs() {
            peak = now;
        }
    });
    let alpha = 0.25_f64.atan();
    for pair in before.windows(2) {
        close(-pair[1] / pair[0], 1.0 - 1.5 * alpha.sin().powi(2), 5e-3);
    }
    assert!(before.len() >= 3);
}

#[test]
fn woodpecker_returns_to_its_cycle() {
    // The start is on the limit cycle: after one period the velocities come back, 19 mm lower.
    let mut back = None;
    run_with("woodpecker", &Changes::new().key("until", 0.2), |r| {
        if back.is_none() && r.t > 0.1 && r.q[2] < -0.2788 && r.velocity[2] < 0.0 {
            back = Some((r.t, r.q[0], r.velocity[0], r.velocity[2]));
        }
    });
    let (period, drop, speed, spin) = back.unwrap();
    close(period, 0.146, 1e-3);
    close(drop, -0.0194, 5e-4);
    close(speed, -0.3411, 5e-3);
    close(spin, -7.4583, 5e-2);
}

#[test]
fn slider_crank_stays_in_its_guide_and_loses_energy_only_in_contact() {
    let mut deepest: f64 = 0.0;
    let run = run_with("slider-crank", &Changes::new(), |r| {
        for contact in &r.contacts {
            deepest = deepest.min(contact.gap);
        }
    });
    // An approach of 1 m/s enters by at most one step.
    assert!(deepest > -1e-4, "{deepest}");
    let totals = run.ledger().totals;
    assert!(totals.contact_normal < 0.0 && totals.contact_tangential < 0.0);
}

#[test]
fn chain_comes_to_rest_on_the_ground() {
    for (mu, flat) in [(0.4, false), (0.1, true)] {
        let run = run_with("chain", &Changes::new().parameter("mu", mu), |_| ());
        assert!(
            run.state().v.iter().all(|v| v.abs() < 1e-2),
            "{:?}",
            run.state().v
        );
        let steepest = run.state().q[2..]
            .iter()
            .fold(0.0, |m: f64, a| m.max(a.abs()));
        assert_eq!(steepest < 0.05, flat, "mu = {mu}: {:?}", run.state().q);
    }
}

#[test]
fn spinning_top_rises() {
    let tilt = |q: &[f64]| (1.0 - 2.0 * (q[4] * q[4] + q[5] * q[5])).acos();
    let run = run("spinning-top");
    let (q, v) = (&run.state().q, &run.state().v);
    assert!(tilt(q) < 0.15, "tilt {}", tilt(q));
    assert!(v[5] > 240.0 && q[2] > 0.03);
    assert!(run.ledger().totals.contact_tangential < 0.0);
}

#[test]
fn delayed_oscillator_stops_where_the_reference_says() {
    let run = run("delayed-oscillator");
    // Order one: errors of the reference study are about 2 h.
    close(run.state().q[0], -0.634847809136222, 5e-3);
    let sticks: Vec<f64> = run
        .events()
        .events
        .iter()
        .filter(|e| e.kind == EventKind::Stick)
        .map(|e| e.t)
        .collect();
    close(sticks[0], 1.7411304885170662, 5e-3);
    close(*sticks.last().unwrap(), 3.6902929898211, 5e-2);
}

#[test]
fn stick_slip_has_the_period_of_the_reference() {
    let run = run("stick-slip");
    let starts = |kind| -> Vec<f64> {
        run.events()
            .events
            .iter()
            .filter(|e| e.kind == kind)
            .map(|e| e.t)
            .collect()
    };
    let (slips, sticks) = (starts(EventKind::Slip), starts(EventKind::Stick));
    close(slips[0], 0.3, 2e-3);
    let resticks: Vec<f64> = sticks.into_iter().filter(|&t| t > 0.1).collect();
    close(resticks[0], 0.7833558716243079, 5e-3);
    close(resticks[1] - resticks[0], 0.728023609469574, 5e-3);
}

#[test]
fn delayed_hopper_follows_the_reference() {
    let mut rows = Vec::new();
    run_with("delayed-hopper", &Changes::new(), |r| {
        for t in [0.3, 0.6, 0.9] {
            if (r.t - t).abs() < 1e-9 {
                rows.push((r.q[0], r.q[1]));
            }
        }
    });
    let expected = [
        (0.502233546875, 0.4415625),
        (0.7545919552163705, 1.1327584319196429),
        (0.8772240705071926, 0.0),
    ];
    assert_eq!(rows.len(), 3);
    for (row, want) in rows.iter().zip(expected) {
        close(row.0, want.0, 5e-3);
        close(row.1, want.1, 5e-3);
    }
}
