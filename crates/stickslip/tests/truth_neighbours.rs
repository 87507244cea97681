//! Fans of end states from nudged starts.

use std::ops::ControlFlow;

use stickslip::scene::{Changes, Scene, SceneError, SourceText, find_in_gallery};
use stickslip::simulation::Simulation;
use stickslip::simulation::studies::neighbours::{FanVerdict, NeighbourStudy};

fn scene(name: &str, changes: &Changes) -> Scene {
    let source = find_in_gallery(name).unwrap().source();
    let source = changes.apply(&source).unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

fn at_step(scene: &Scene) -> impl Fn(f64) -> Result<Simulation, SceneError> + Sync {
    |parts| scene.with_step_parted(parts).simulation()
}

#[test]
fn a_flat_force_has_a_rest_and_a_fan_that_does_not_shrink() {
    let scene = scene("flat-force", &Changes::new());
    let until = scene.settings.until;
    let mut rest = scene.simulation().unwrap();
    rest.run_until(until, |_| ControlFlow::Continue(()));
    assert_eq!(rest.state().q, [0.0]);
    let study = NeighbourStudy::around(at_step(&scene), until, 1e-7, 9, 1).unwrap();
    assert_eq!(study.verdict, FanVerdict::StaysApart, "{:?}", study.fans);
    assert!(
        study
            .fans
            .iter()
            .all(|fan| fan.spread > 0.01 && fan.stopped == 0)
    );
}

/// The other motion itself, followed from the time 2^-3 on, where it leaves the floor with the speed V 2^-9.
#[test]
fn the_other_motion_is_the_one_that_was_constructed() {
    let source = find_in_gallery("flat-force").unwrap().source();
    // the force is read an eighth later: the run starts in the middle of the other motion
    let text = source
        .text()
        .replace("max(t, 1e-9)", "max(t + 0.125, 1e-9)");
    let text = text.replace("((t - length)", "((t + 0.125 - length)");
    let text = text.replace("until = 0.75", "until = 0.625");
    let text = format!("{text}\n[initial]\ny_dot = 0.03125\n");
    let scene = Scene::parse(stickslip::scene::SourceText::new("other.toml", text))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap();
    run.run_until(0.625, |_| ControlFlow::Continue(()));
    let state = run.state();
    assert!((state.q[0] - 1.0).abs() < 1e-6, "{}", state.q[0]);
    assert!((state.v[0] - 4.0).abs() < 1e-6, "{}", state.v[0]);
}

#[test]
fn an_ordinary_motion_depends_on_its_start_continuously() {
    let changes = Changes::new()
        .key("until", "1")
        .key("scheme", "event-driven");
    let scene = scene("bouncing-ball", &changes);
    let study = NeighbourStudy::around(at_step(&scene), 1.0, 1e-6, 6, 1).unwrap();
    assert_eq!(study.verdict, FanVerdict::Shrinks, "{:?}", study.fans);
}

/// A particle with friction on one surface has one motion: a nudge that moves its stop to the next step is no other motion.
#[test]
fn a_spread_of_the_scheme_is_no_other_motion() {
    for name in ["sliding-block", "block-on-incline"] {
        let scene = scene(name, &Changes::new().key("until", "1"));
        let study = NeighbourStudy::around(at_step(&scene), 1.0, 1e-9, 60, 1).unwrap();
        assert_ne!(study.verdict, FanVerdict::StaysApart, "{name}");
        if let [step, _, sixteenth] = study.at_smaller_steps[..] {
            // Of the order of the step at least.
            assert!(
                step > 1e-7 && sixteenth < 0.1 * step,
                "{name}: {:?}",
                study.at_smaller_steps
            );
        }
    }
}

fn told(text: &str, nudge: f64) -> NeighbourStudy {
    let scene = Scene::parse(SourceText::new("told.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    scene.neighbours(nudge, 9, 1).unwrap()
}

/// On the top of a hill -50 x² a nudge grows by about e³⁰/2 in 3 s: the ends of nudges of 1e-9 to 1e-11 lie at the walls, and those of 1e-15 are in
/// proportion to it. The data are analytic, and the motion is the only one.
#[test]
fn growth_in_proportion_to_the_nudge_is_no_other_motion() {
    let hill = "title = \"hill\"\nuntil = 3\nstep = 1e-3\nlaw = \"frictionless\"\n[system]\ncoordinates = [\"x\"]\n\
        kinetic_energy = \"x'^2/2\"\npotential = \"-50*x^2\"\n[[contacts]]\ngap = \"1 - x\"\n[[contacts]]\ngap = \"1 + x\"\n[initial]\nx = 0\n";
    let study = told(hill, 1e-9);
    assert_eq!(study.verdict, FanVerdict::GrowsLinearly, "{study:?}");
    // Of place and velocity, which is ten times the place.
    let most = 10.0 * 30f64.exp();
    let growth = study.growth.unwrap();
    assert!(growth < most && growth > 0.01 * most, "{growth:e}");
    assert!(study.unique.is_some());
    let words = study.words();
    assert!(
        words.starts_with("the motion is unique (") && !words.contains("other motions"),
        "{words}"
    );
}

/// A billiard aimed into a corner comes back along its path; the nearest others meet one wall first, and leave elsewhere. No second motion leaves the start.
#[test]
fn a_discontinuous_dependence_is_no_other_motion_where_a_theorem_says_so() {
    let corner = "title = \"corner\"\nuntil = 1.5\nstep = 1e-3\nlaw = \"frictionless\"\n[system]\ncoordinates = [\"x\", \"y\"]\n\
        kinetic_energy = \"(x'^2 + y'^2)/2\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 1\n\
        [[contacts]]\nname = \"wall\"\ngap = \"sin(1.2)*x - cos(1.2)*y\"\nrestitution = 1\n\
        [initial]\nx = \"cos(0.5)\"\ny = \"sin(0.5)\"\nx_dot = \"-cos(0.5)\"\ny_dot = \"-sin(0.5)\"\n";
    // Twelve runs and nine: the farthest of the smallest nudges is another one.
    let scene = Scene::parse(SourceText::new("corner.toml", corner)).unwrap();
    let more = scene.neighbours(1e-9, 12, 1).unwrap();
    assert_eq!(more.verdict, FanVerdict::StaysApart, "{more:?}");
    let study = told(corner, 1e-9);
    assert_eq!(study.verdict, FanVerdict::StaysApart, "{study:?}");
    let words = study.words();
    assert!(
        words.starts_with("the motion is unique (") && words.contains("not continuous"),
        "{words}"
    );
}

/// Without a theorem, the sentence says what was measured and all that it may mean.
#[test]
fn other_motions_are_told_where_no_theorem_excludes_them() {
    let study = scene("flat-force", &Changes::new())
        .neighbours(1e-7, 9, 1)
        .unwrap();
    assert_eq!(
        (study.verdict, &study.unique),
        (FanVerdict::StaysApart, &None)
    );
    let words = study.words();
    assert!(words.contains("other motions leave this start"), "{words}");
    assert!(words.contains("from 1.0e-7 to 1.0e-9"), "{words}");
}
