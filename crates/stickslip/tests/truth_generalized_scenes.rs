//! Scenes of the generalized law: what their texts promise, and that their runs solve their formulation.

use std::ops::ControlFlow;

use stickslip::records::StepRecord;
use stickslip::scene::{Changes, Scene, find_in_gallery};
use stickslip::simulation::verify::{Formulation, Motion, VerifySettings, verify};
use stickslip::simulation::{RunEnd, Simulation};

fn scene(name: &str, changes: &Changes) -> Scene {
    let entry = find_in_gallery(name).expect("a scene of the gallery");
    let source = changes
        .apply(&entry.source())
        .unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scene: &Scene, mut observe: impl FnMut(&StepRecord)) -> Simulation {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    observe(run.record());
    let end = run.run_until(scene.settings.until, |record| {
        observe(record);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    run
}

#[test]
fn bar_on_a_rail_jams_grazes_lifts_off_or_slides() {
    let end = |changes: Changes| {
        let scene = scene("painleve-bar", &changes);
        let run = run(&scene, |_| ());
        (run.state().q.clone(), run.state().v.clone())
    };
    let h = 1e-3;
    // Jam: at rest after one step, also against a pull.
    let (q, v) = end(Changes::new());
    assert!(
        q[0] <= h * 1.01 && v.iter().all(|x| x.abs() < 1e-12),
        "{q:?} {v:?}"
    );
    let (q, _) = end(Changes::new()
        .parameter("fx", 50.0)
        .parameter("ftheta", -0.1));
    assert!(q[0] <= h * 1.01, "{q:?}");
    // Grazing.
    let (q, v) = end(Changes::new().parameter("ftheta", 0.0));
    assert!((q[0] - 1.0).abs() < 1e-9 && (v[0] - 1.0).abs() < 1e-12);
    // Lift-off with the acceleration f/J.
    let (q, v) = end(Changes::new().parameter("ftheta", 1.0));
    assert!(
        (v[1] - 3.0).abs() < 1e-9 && (q[1] + 0.25 * std::f64::consts::PI - 1.5).abs() < 5.0 * h
    );
    // Sliding below the critical coefficient: distance V0²/(2a), a = 2√2.
    let (q, v) = end(Changes::new().parameter("mu", 0.5));
    assert!(
        (q[0] - 0.176_776_695).abs() < h && v[0].abs() < 1e-12,
        "{q:?} {v:?}"
    );
}

#[test]
fn block_on_two_feet_brakes_harder_foot_by_foot() {
    let deceleration = |changes: Changes| {
        let scene = scene("two-foot-block", &changes);
        let run = run(&scene, |_| ());
        (2.0 - run.state().v[0]) / 0.3
    };
    let coulomb = 0.5 * 9.81;
    let expected = coulomb / (1.0 - 0.3f64.powi(2));
    assert!((deceleration(Changes::new()) - expected).abs() < 1e-6 * expected);
    let joint = deceleration(Changes::new().key("sections", "joint"));
    assert!((joint - coulomb).abs() < 1e-6, "{joint}");
    let plain = deceleration(Changes::new().key("law", "coulomb"));
    assert!((plain - coulomb).abs() < 1e-6, "{plain}");
}

#[test]
fn bar_in_a_groove_leaves_with_the_full_pull() {
    let scene = scene("v-groove-bar", &Changes::new());
    let run = run(&scene, |_| ());
    assert!(
        (run.state().v[1] - 3.0 * 0.2).abs() < 1e-9,
        "{:?}",
        run.state().v
    );
}

#[test]
fn chalk_jams_above_and_writes_below_the_critical_coefficient() {
    let first_slip = |mu: f64| {
        let scene = scene("chalk", &Changes::new().parameter("mu", mu));
        let mut slip = None;
        run(&scene, |record| {
            if record.step == 1 {
                slip = Some(record.local_velocities[1]);
            }
        });
        slip.expect("a first step")
    };
    assert!(first_slip(1.5).abs() < 1e-9);
    assert!(first_slip(0.3) < -0.1);
}

#[test]
fn runs_solve_the_formulation_they_were_made_with() {
    for (name, formulation) in [
        ("painleve-bar", Formulation::P3Prime),
        ("two-foot-block", Formulation::P4Prime),
        ("v-groove-bar", Formulation::P4Prime),
        ("rough-corner", Formulation::P4Prime),
        ("chalk", Formulation::P4Prime),
    ] {
        let scene = scene(name, &Changes::new());
        let mut motion = Motion::of_run();
        run(&scene, |record| motion.push(record));
        let system = scene.system().unwrap_or_else(|e| panic!("{e}"));
        let report = verify(
            system.as_ref(),
            &motion,
            formulation,
            &VerifySettings::default(),
        );
        assert!(report.accepted(), "{name}: {:?}", report.violations);
    }
}
