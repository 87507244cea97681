//! Worlds that should not be: a clear message, or a stop with its reason, and never a panic.

use std::ops::ControlFlow;

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::RunEnd;

#[path = "../../../fuzz/world_text.rs"]
mod world_text;

const HEAD: &str = "title = \"hostile\"\nstep = 1e-3\nuntil = 0.02\n[world]\n[[materials]]\nname = \"m\"\ndensity = 1000\n\
    friction = 0.5\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { half_space = [0, 0, 1] }\n";

/// What becomes of a world: the message of its refusal, or how it ended.
fn outcome(text: &str, steps: u64) -> String {
    let scene = match Scene::parse(SourceText::new("hostile.toml", text)) {
        Ok(scene) => scene,
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "{text}");
            return error.to_string();
        }
    };
    let mut run = match scene.simulation() {
        Ok(run) => run,
        Err(error) => return error.to_string(),
    };
    let end = run.run_until(scene.settings.until, |record| {
        if record.step < steps {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    match end {
        RunEnd::Stopped { .. } => format!("stopped: {end:?}"),
        _ => {
            let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
            assert!(finite(&run.state().q) && finite(&run.state().v), "{text}");
            "moves".to_string()
        }
    }
}

fn body(text: &str) -> String {
    format!("{HEAD}[[bodies]]\nname = \"a\"\n{text}\n")
}

#[test]
fn worlds_that_cannot_be_are_refused_by_name() {
    let second = |text: &str| format!("{text}\n[[bodies]]\nname = \"b\"\n{text}");
    for (text, words) in [
        (body("shape = { ball = 0 }"), "radius of a ball"),
        (
            body("shape = { ball = 1e-200 }\nposition = [0, 0, 1]"),
            "mass",
        ),
        (body("shape = { box = [1, 0, 1] }"), "side of a box"),
        (
            body("shape = { hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }"),
            "flat",
        ),
        (
            body("shape = { ball = 1 }\nposition = [0, 0, 0.5]"),
            "overlap",
        ),
        (
            body(&second("shape = { ball = 1 }\nposition = [0, 0, 3]")),
            "overlap",
        ),
        (
            body(&second("shape = { box = [1, 1, 1] }\nposition = [0, 0, 3]")),
            "overlap",
        ),
        (
            body("shape = { ball = 1 }\nmass = 0\nposition = [0, 0, 1]"),
            "mass",
        ),
        (
            body("shape = { ball = 1 }\ninertia = [1, 1, 0]\nposition = [0, 0, 1]"),
            "inertia",
        ),
        (
            body("shape = { half_space = [0, 0, 0] }\nfixed = true"),
            "normal",
        ),
        (body("shape = { half_space = [0, 0, 1] }"), "no mass"),
        (
            body(
                "fixed = true\nshape = { height_field = { values = [[0, 1e300], [1, 0]], size = [1, 1] } }",
            ),
            "triangle",
        ),
        (
            body("shape = { ball = 1 }\nname = \"floor\"").replace("name = \"a\"\n", ""),
            "floor",
        ),
        (
            HEAD.replace("density = 1000", "density = 0")
                + "[[bodies]]\nname = \"a\"\nshape = { ball = 1 }\n",
            "density",
        ),
        (
            format!("{HEAD}[[joints]]\nname = \"j\"\nkind = \"hinge\"\n"),
            "joints",
        ),
        (
            body(
                "shape = { ball = 0.1 }\nrepeat = { count = [100000, 100000, 1], spacing = [1, 1, 1] }",
            ),
            "bodies",
        ),
    ] {
        let told = outcome(&text, 20);
        assert!(
            told.starts_with("error") && told.contains(words),
            "{words}: {told}"
        );
    }
}

#[test]
fn bodies_thrown_far_or_spun_fast_stop_with_a_reason_or_move() {
    for text in [
        body(
            "shape = { box = [1, 1, 1] }\nposition = [0, 0, 2]\nvelocity = [1e12, 0, 0]\nspin = [3, 4, 5]",
        ),
        body("shape = { box = [1, 1, 1] }\nposition = [1e12, 0, 0.5]"),
        body("shape = { box = [1, 2, 3] }\nposition = [0, 0, 5]\nspin = [1e9, 1e9, 1]"),
        body(
            "shape = { ball = 1 }\nposition = [0, 0, 3]\nforce = [\"1/(t - 0.01)\", \"sqrt(-1 - t)\", 0]",
        ),
        body("shape = { box = [1, 1, 1] }\nmotion = { position = [0, 0, \"1e300*t\"] }"),
        body(
            "shape = { cylinder = { radius = 1, length = 1e-6 } }\nposition = [0, 0, 1]\nvelocity = [0, 0, -1e6]",
        ),
    ] {
        let told = outcome(&text, 20);
        assert!(told == "moves" || told.starts_with("stopped"), "{told}");
    }
}

#[test]
fn a_mesh_with_a_hole_lets_bodies_through_its_hole_alone() {
    let folder = std::env::temp_dir().join(format!("stickslip-hole-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // A square table of which one half is missing.
    std::fs::write(
        folder.join("hole.obj"),
        "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n",
    )
    .unwrap();
    let text = body("shape = { ball = 0.1 }\nposition = [0.5, -0.5, 1.15]")
        + "[[bodies]]\nname = \"b\"\nshape = { ball = 0.1 }\nposition = [-0.5, 0.5, 1.15]\n\
           [[bodies]]\nname = \"table\"\nfixed = true\nshape = { mesh = \"hole.obj\" }\nposition = [0, 0, 1]\n";
    let path = folder.join("scene.toml");
    std::fs::write(&path, text.replace("until = 0.02", "until = 0.4")).unwrap();
    let source = SourceText::read(&path).unwrap();
    let scene = Scene::parse(source).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap();
    run.run_until(0.4, |_| ControlFlow::Continue(()));
    let height = |k: usize| run.state().q[7 * k + 2];
    assert!((height(1) - 1.1).abs() < 1e-3, "{}", height(1));
    assert!(height(2) < 0.6, "{}", height(2));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn random_worlds_are_refused_stop_or_move_and_never_panic() {
    let mut seed = 2024u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 40) as u8
    };
    let mut moved = 0;
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..400).map(|_| next()).collect();
        let text = world_text::world_text(&bytes);
        moved += usize::from(outcome(&text, 3) == "moves");
    }
    // The generator makes worlds, not only mistakes.
    assert!(moved > 60, "{moved}");
}
