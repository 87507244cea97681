//! What a run records beside its motion is true: lengths of steps, impulses and modes of contacts under every solver.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stickslip::records::{ContactMode, TrajectoryReader};
use stickslip::scene::{Changes, Scene, SceneRun, SourceText, find_in_gallery};
use stickslip::simulation::RunSummary;
use stickslip::simulation::verify::Line;

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("scene.toml", text.to_string())).unwrap_or_else(|e| panic!("{e}"))
}

fn of_gallery(name: &str, changes: &Changes) -> Scene {
    let source = find_in_gallery(name).expect("a scene").source();
    let source = changes.apply(&source).unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

/// A run in a folder of its own, with its summary.
fn run_in_folder(name: &str, scene: &Scene) -> (PathBuf, RunSummary) {
    let path = std::env::temp_dir().join(format!("stickslip-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    let mut run = SceneRun::start(name, scene.clone(), &path).unwrap();
    let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
    let summary = run.finish(end).unwrap();
    (path, summary)
}

fn assert_accepted(name: &str, scene: &Scene) {
    let (path, summary) = run_in_folder(name, scene);
    assert!(summary.certified, "{name}: {:?}", summary.warnings);
    let (report, _) = scene.verify_folder(&path, None).unwrap();
    assert!(report.accepted(), "{name}: {:?}", report.violations);
    fs::remove_dir_all(&path).unwrap();
}

/// The column `dt` of one row of a trajectory, given another value.
fn falsify_step(path: &Path, row: usize, by: impl Fn(f64) -> f64) {
    let mut reader = TrajectoryReader::open(path).unwrap();
    let (mut values, mut numbers) = (Vec::new(), Vec::new());
    while reader.next_row(&mut numbers).unwrap() {
        values.extend_from_slice(&numbers);
    }
    let columns = reader.columns();
    let k = row * columns.len() + columns.iter().position(|c| c == "dt").unwrap();
    let mut bytes = fs::read(path).unwrap();
    let start = bytes.len() - 8 * (values.len() - k);
    bytes[start..start + 8].copy_from_slice(&by(values[k]).to_le_bytes());
    fs::write(path, bytes).unwrap();
}

/// The step that a row tells is the one that was made, whether all steps were kept or only some, of fixed length or not.
#[test]
fn a_false_length_of_a_step_is_refused() {
    let falsehoods: [fn(f64) -> f64; 5] = [
        |h| 2.0 * h + 1e-4,
        |h| 0.99 * h + 1e-6,
        |h| -h - 1e-6,
        |_| f64::NAN,
        |h| h + 1e-9,
    ];
    for (every, more) in [
        ("1", None),
        ("7", None),
        ("1", Some("1e-5")),
        ("7", Some("1e-5")),
    ] {
        let mut changes = Changes::new().key("until", "0.1").key("every", every);
        if let Some(tolerance) = more {
            changes = changes.key("adaptive", tolerance);
        }
        let scene = of_gallery("sliding-block", &changes);
        let (path, _) = run_in_folder("false-step", &scene);
        // Nothing tells what the file was.
        fs::remove_file(path.join("checkpoint.json")).unwrap();
        let file = path.join("trajectory.npy");
        let original = fs::read(&file).unwrap();
        let (report, _) = scene.verify_folder(&path, None).unwrap();
        assert!(
            report.accepted(),
            "{every} {more:?}: {:?}",
            report.violations
        );
        for (k, falsehood) in falsehoods.iter().enumerate() {
            for row in [0, 2] {
                falsify_step(&file, row, falsehood);
                let (report, _) = scene.verify_folder(&path, None).unwrap();
                let line = match every {
                    "1" => Line::WellFormed,
                    // Of the first row it is told at once.
                    _ => Line::KeptSteps,
                };
                let told = report.violations.iter().any(|v| v.line == line);
                assert!(told, "{every} {more:?} {k} {row}: {:?}", report.violations);
                fs::write(&file, &original).unwrap();
            }
        }
        fs::remove_dir_all(&path).unwrap();
    }
}

/// A run in other steps than its scene asks for is none of that scene.
#[test]
fn steps_are_those_of_the_scene() {
    let with = |step: &str| {
        let changes = Changes::new().key("until", "0.0505").key("every", "1");
        of_gallery("sliding-block", &changes.key("step", step))
    };
    let made = with("0.001");
    let (path, _) = run_in_folder("other-steps", &made);
    // The last step is cut by the end of the run.
    for (scene, accepted) in [
        (made, true),
        (with("0.002"), false),
        (with("0.0005"), false),
    ] {
        let (report, _) = scene.verify_folder(&path, None).unwrap();
        let told = report.violations.iter().any(|v| v.line == Line::WellFormed);
        assert_eq!(
            (report.accepted(), told),
            (accepted, !accepted),
            "{:?}",
            report.violations
        );
    }
    fs::remove_dir_all(&path).unwrap();
}

/// Methods that stay inside of cones leave no impulse at a contact that opens: its record tells the truth, and the judge agrees.
#[test]
fn contacts_that_open_carry_no_impulse_under_any_solver() {
    let until = |name: &'static str, until: &str| (name, Changes::new().key("until", until));
    let mut opened = 0;
    for (name, changes) in [
        until("slider-crank", "0.02"),
        until("woodpecker", "0.52"),
        until("elastic-block", "0.23"),
    ] {
        for solver in ["interior-point", "cascade"] {
            let scene = of_gallery(name, &changes.clone().key("solver", solver));
            assert_accepted(name, &scene);
            let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            let mut speed = 0.0f64;
            run.run_until(scene.settings.until, |record| {
                speed = record
                    .local_velocities
                    .iter()
                    .fold(speed, |s, u| s.max(u.abs()));
                for contact in &record.contacts {
                    let (u, p) = (
                        record.local_velocities[contact.start],
                        record.impulses[contact.start],
                    );
                    // What approached before may rebound; what opened already can only be let go.
                    if contact.approach > 0.0 && u > 1e-6 * speed {
                        assert_eq!(
                            (p, contact.mode),
                            (0.0, ContactMode::Open),
                            "{name} {solver} {}",
                            record.t
                        );
                        opened += 1;
                    }
                }
                ControlFlow::Continue(())
            });
        }
    }
    assert!(opened > 100, "{opened}");
}

/// Impulses that press stay, however small beside those of others: a grain of a millionth of the mass rests beside a block, in any unit.
#[test]
fn a_grain_beside_a_block_is_pressed_by_its_weight() {
    for solver in ["interior-point", "cascade", "automatic"] {
        for (metre, kilogram) in [(1.0, 1.0), (1e3, 1e3), (1e-3, 1e6)] {
            let (block, grain, weight) = (kilogram, 1e-6 * kilogram, 9.81 * metre);
            let text = format!(
                r#"
title = "Grain, block and another block on a floor"
step = 0.001
until = 0.003
solver = "{solver}"
tolerance = 1e-14
[system]
coordinates = ["x", "y", "u", "v", "a", "b"]
kinetic_energy = "{block}*(x'^2 + y'^2 + a'^2 + b'^2)/2 + {grain}*(u'^2 + v'^2)/2"
potential = "{weight}*({block}*(y + b) + {grain}*v)"
[[contacts]]
name = "block"
gap = "y"
point = ["x", "y"]
friction = 0.3
[[contacts]]
name = "grain"
gap = "v"
point = ["u", "v"]
friction = 0.3
[[contacts]]
name = "other"
gap = "b"
point = ["a", "b"]
friction = 0.3
[initial]
x_dot = {metre}
"#
            );
            let scene = parse(&text);
            assert_accepted("grain", &scene);
            let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            run.run_until(scene.settings.until, |record| {
                let (contact, p) = (
                    &record.contacts[1],
                    record.impulses[record.contacts[1].start],
                );
                let pressed = grain * weight * record.h;
                assert!(
                    (p - pressed).abs() <= 1e-6 * pressed,
                    "{solver} {metre}: {p} {pressed}"
                );
                if record.h > 0.0 {
                    assert_eq!(
                        contact.mode,
                        ContactMode::Stick,
                        "{solver} {metre} {}",
                        record.t
                    );
                }
                ControlFlow::Continue(())
            });
        }
    }
}
