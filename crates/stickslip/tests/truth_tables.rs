//! Tables of samples as forces, moving supports and friction, against exact answers.
#![cfg(not(target_family = "wasm"))]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use stickslip::scene::{Changes, LoadError, Scene};
use stickslip::simulation::RunEnd;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("stickslip-tables-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file in our folder");
    }

    fn scene(&self, text: &str) -> Result<Scene, LoadError> {
        self.write("scene.toml", text);
        Scene::load(&self.0.join("scene.toml"), &Changes::new())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn finish(scene: &Scene, until: f64) -> (Vec<f64>, Vec<f64>) {
    let mut run = scene.simulation().expect("a simulation");
    let end = run.run_until(until, |_| ControlFlow::Continue(()));
    assert_eq!(end, RunEnd::Finished);
    (run.state().q.clone(), run.state().v.clone())
}

const DRIVEN: &str = r#"
title = "driven mass"
theta = 0.5
step = 0.01
until = 2
[tables]
drive = { file = "drive.csv", x = "t", y = "F" }
[system]
coordinates = ["x"]
kinetic_energy = "x'^2/2"
forces = { x = "3*drive(t)" }
"#;

/// The midpoint rule integrates straight lines exactly: the velocity is three times the area under the record.
#[test]
fn a_record_of_straight_lines_drives_a_mass_exactly() {
    let folder = Folder::new("force");
    folder.write("drive.csv", "t,noise,F\n0,1,0\n0.5,1,4\n1,1,-2\n2,1,1\n");
    let (_, v) = finish(&folder.scene(DRIVEN).expect("a scene"), 2.0);
    let area = 0.5 * 0.5 * 4.0 + 0.5 * 0.5 * (4.0 - 2.0) + 0.5 * (-2.0 + 1.0);
    assert!((v[0] - 3.0 * area).abs() < 1e-12, "{v:?}");
}

/// A ball that rests on a lift whose height is a spline through samples of 0.1 (1 - cos(2 t)) moves with it.
#[test]
fn a_support_that_moves_by_a_table_carries_what_lies_on_it() {
    let folder = Folder::new("support");
    let rows: Vec<String> = (0..=160)
        .map(|k| {
            let t = std::f64::consts::PI * f64::from(k) / 80.0;
            format!("{t} {}", 0.1 * (1.0 - (2.0 * t).cos()))
        })
        .collect();
    folder.write("lift.txt", &rows.join("\n"));
    let text = r#"
    title = "lift"
    step = 1e-3
    until = 1.5
    [tables]
    lift = { file = "lift.txt", interpolation = "cubic" }
    [system]
    coordinates = ["y"]
    kinetic_energy = "y'^2/2"
    potential = "9.81*y"
    [[contacts]]
    gap = "y - lift(t)"
    "#;
    let (q, v) = finish(&folder.scene(text).expect("a scene"), 1.5);
    let (height, speed) = (0.1 * (1.0 - 3.0f64.cos()), 0.2 * 3.0f64.sin());
    assert!((q[0] - height).abs() < 1e-3, "{q:?} {height}");
    assert!((v[0] - speed).abs() < 2e-3, "{v:?} {speed}");
}

/// Friction that falls with the place, read from a table: the work of friction is the area under it.
#[test]
fn friction_by_a_table_stops_a_block_where_its_energy_is_spent() {
    let folder = Folder::new("friction");
    folder.write("rough.csv", "x;mu\n0;0.2\n1;0.4\n");
    let text = r#"
    title = "rougher and rougher"
    step = 1e-4
    until = 1
    [tables]
    rough = { file = "rough.csv", x = "x", y = "mu", outside = "hold" }
    [system]
    coordinates = ["x", "y"]
    kinetic_energy = "(x'^2 + y'^2)/2"
    potential = "10*y"
    [[contacts]]
    gap = "y"
    tangents = [[1, 0]]
    friction = "rough(x)"
    [initial]
    x_dot = 1
    "#;
    // 1/2 = 10 (0.2 x + 0.1 x^2)
    let expected = -1.0 + (1.0f64 + 0.5).sqrt();
    let (q, _) = finish(&folder.scene(text).expect("a scene"), 1.0);
    assert!((q[0] - expected).abs() < 1e-4, "{q:?} {expected}");
}

#[test]
fn mistakes_of_tables_are_told_with_file_and_line() {
    let folder = Folder::new("mistakes");
    let good = "t,noise,F\n0,1,0\n2,1,1\n";
    for (file, scene, expected) in [
        (
            "t,F\n0,0\n1,x\n",
            DRIVEN.to_string(),
            "`drive.csv`: line 3: `x`",
        ),
        (
            "t,F\n0,0\n1,1\n1,2\n",
            DRIVEN.to_string(),
            "line 4: the argument is 1 after 1",
        ),
        ("t,G\n0,0\n2,1\n", DRIVEN.to_string(), "no column `F`"),
        (
            "t,F\n0,0\n1,1\n",
            DRIVEN.to_string(),
            "`drive(t)` is known from 0 to 1 s, the run goes from 0 to 2 s",
        ),
        (
            good,
            DRIVEN.replace("drive(t)", "drive(t, 1)"),
            "1 argument",
        ),
        (good, DRIVEN.replace("drive(t)", "drife(t)"), "drive"),
        (
            good,
            DRIVEN.replace("drive.csv", "../drive.csv"),
            "does not lie beside",
        ),
        (
            good,
            DRIVEN.replace("drive.csv", "nosuch.csv"),
            "cannot read",
        ),
        (
            good,
            DRIVEN.replace("drive =", "sin ="),
            "`sin` cannot be the name of a table",
        ),
    ] {
        folder.write("drive.csv", file);
        let error = folder.scene(&scene).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // Held at its ends the same short record is enough.
    folder.write("drive.csv", "t,F\n0,0\n1,1\n");
    let held = DRIVEN.replace("y = \"F\"", "y = \"F\", outside = \"hold\"");
    let (_, v) = finish(&folder.scene(&held).expect("a scene"), 2.0);
    assert!((v[0] - 4.5).abs() < 1e-12, "{v:?}");
}

#[cfg(unix)]
#[test]
fn files_of_scenes_are_files_below_the_scene() {
    let folder = Folder::new("hostile");
    let outside = Folder::new("hostile-outside");
    outside.write("secret.csv", "t,hunter2\n0,1\n");
    let link = folder.0.join("drive.csv");
    let text = |error: LoadError| error.to_string();
    std::os::unix::fs::symlink(outside.0.join("secret.csv"), &link).expect("a link");
    let error = text(folder.scene(DRIVEN).expect_err("a link out"));
    assert!(
        error.contains("link to another place") && !error.contains("hunter2"),
        "{error}"
    );
    fs::remove_file(&link).expect("ours");
    std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
    assert!(text(folder.scene(DRIVEN).expect_err("a device")).contains("link to another place"));
    fs::remove_file(&link).expect("ours");
    let made = std::process::Command::new("mkfifo").arg(&link).status();
    assert!(made.expect("mkfifo exists").success());
    let error = text(folder.scene(DRIVEN).expect_err("a pipe"));
    assert!(error.contains("not a regular file"), "{error}");
    // The same for meshes.
    fs::rename(&link, folder.0.join("pipe.msh")).expect("ours");
    let mesh =
        "title = \"m\"\n[elastic]\n[[elastic.meshes]]\nshape = \"gmsh\"\nfile = \"pipe.msh\"\n";
    let error = text(folder.scene(mesh).expect_err("a pipe"));
    assert!(error.contains("not a regular file"), "{error}");
}

/// The corners and ends of a table are no events: an obstacle that follows one is refused by name, friction and forces are not.
#[test]
fn obstacles_that_follow_a_table_are_refused_from_event_to_event() {
    let folder = Folder::new("events");
    folder.write("lift.csv", "t,a\n0,0\n1,0.1\n2,0\n");
    let text = |gap: &str, slip: &str, friction: &str| {
        format!(
            "title = \"lift\"\nscheme = \"event-driven\"\nuntil = 0.5\n[tables]\nlift = {{ file = \"lift.csv\" }}\n[system]\n\
             coordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
             [[contacts]]\nname = \"lift\"\ngap = \"{gap}\"\nslip = \"{slip}\"\nfriction = \"{friction}\"\n[initial]\nx_dot = 1\n"
        )
    };
    for moving in [
        text("y - lift(t)", "x'", "0.1"),
        text("y", "x' - lift(t)", "0.1"),
    ] {
        let refusal = folder.scene(&moving).expect_err("refused").to_string();
        assert!(
            refusal.contains("table") && refusal.contains("event-driven"),
            "{refusal}"
        );
    }
    let scene = folder
        .scene(&text("y", "x'", "0.1 + lift(t)"))
        .expect("a scene");
    // x' = 1 - g (0.1 t + 0.05 t^2)
    let (_, v) = finish(&scene, 0.5);
    assert!(
        (v[0] - (1.0 - 9.81 * (0.05 + 0.0125))).abs() < 1e-8,
        "{v:?}"
    );
}
