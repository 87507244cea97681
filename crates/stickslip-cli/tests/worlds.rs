//! Worlds through the real binary: check, run, plot, export, kill and resume.

use std::fs;

use crate::common::{Folder, npy_shape, summary_text};

const STACK: &str = r#"title = "Two boxes and a ball"
step = 1e-3
until = 0.1

[world]

[[materials]]
name = "stone"
density = 2000
friction = 0.5

[[materials]]
name = "steel"
density = 7800
friction = 0.3

[[bodies]]
name = "floor"
fixed = true
material = "stone"
shape = { half_space = [0, 0, 1] }

[[bodies]]
name = "box"
material = "stone"
shape = { box = [0.2, 0.2, 0.1] }
position = [0, 0, 0.05]
repeat = { count = [1, 1, 2], spacing = [1, 1, 0.1] }

[[bodies]]
name = "ball"
material = "steel"
shape = { ball = 0.03 }
position = [0, 0, 0.25]
velocity = [0.2, 0, 0]

[[monitors]]
name = "ground"
force = ["box[0]", "floor"]
"#;

#[test]
fn a_world_is_checked_run_drawn_and_exported() {
    let folder = Folder::new("worlds");
    let scene = folder.write("stack.toml", STACK);
    let (out, _) = folder.expect(0, &["check", &scene]);
    assert!(out.contains("4 bodies, 3 of them free"), "{out}");
    assert!(out.contains("pair stone/steel not given"), "{out}");
    folder.expect(0, &["run", &scene, "--output", "runs/stack"]);
    let (columns, rows) = npy_shape(&folder.path("runs/stack/trajectory.npy"));
    for name in ["box[1].z", "ball.wy", "ground.fz"] {
        assert!(columns.iter().any(|c| c == name), "{name}: {columns:?}");
    }
    assert!(rows >= 100, "{rows}");
    let (columns, contacts) = npy_shape(&folder.path("runs/stack/contacts.npy"));
    assert_eq!(columns.len(), 19);
    // Eight points of the boxes in every step, and one of the ball when it has landed.
    assert!(contacts >= 8 * 100, "{contacts}");
    let (out, _) = folder.expect(0, &["plot", "runs/stack", "--times", "0,0.1"]);
    for name in ["world", "motion", "energy"] {
        assert!(out.contains(name), "{out}");
        let svg = fs::read_to_string(folder.path(&format!("runs/stack/plots/{name}.svg"))).unwrap();
        assert!(svg.len() > 2000 && !svg.contains("NaN"), "{name}");
    }
    let (out, _) = folder.expect(0, &["export", "runs/stack", "--every", "50"]);
    assert!(out.contains("3 states"), "{out}");
    for name in [
        "stack.pvd",
        "stack-contacts.pvd",
        "stack-chains.pvd",
        "stack-00002.vtp",
    ] {
        assert!(
            folder.path("runs/stack/paraview").join(name).exists(),
            "{name}"
        );
    }
}

#[test]
fn joints_of_worlds_are_refused_by_name() {
    let folder = Folder::new("world-joints");
    let text = format!("{STACK}\n[[joints]]\nkind = \"hinge\"\nbodies = [\"ball\"]\n");
    let scene = folder.write("joints.toml", &text);
    let output = folder.run(&["check", &scene]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        text.contains("[[joints]] of worlds are not computed"),
        "{text}"
    );
    assert_eq!(text.matches("error:").count(), 1, "{text}");
}

/// Enough contacts for every stage of a step to be shared: finding problems, products, residuals, records and sweeps.
#[test]
fn a_world_of_thousands_of_contacts_has_the_same_bits_on_any_number_of_threads() {
    let folder = Folder::new("world-threads");
    folder.write(
        "towers.toml",
        r#"title = "Towers on a table that shakes"
step = 5e-3
until = 0.03
[world]
[[materials]]
name = "stone"
density = 1000
friction = 0.3
[[bodies]]
name = "table"
shape = { half_space = [0, 0, 1] }
motion = { position = ["0.01*sin(20*t)", 0, 0] }
[[bodies]]
name = "box"
shape = { box = [0.2, 0.2, 0.2] }
position = [0, 0, 0.1]
velocity = [0.4, 0, 0]
repeat = { count = [30, 30, 2], spacing = [0.5, 0.5, 0.2] }
"#,
    );
    let runs = ["1", "2", "3"].map(|threads| {
        let arguments = ["run", "towers.toml", "--quiet", "--output", threads];
        folder.expect(0, &[&arguments[..], &["--threads", threads]].concat());
        let summary = summary_text(&folder.path(threads));
        assert!(summary.contains("\"most\": 7200"), "all contacts act");
        let files = ["bodies.npy", "contacts.npy", "trajectory.npy"];
        let bytes = files.map(|name| std::fs::read(folder.path(threads).join(name)).ok());
        assert!(bytes[0].is_some() && bytes[1].is_some());
        (bytes, summary)
    });
    assert!(runs[0] == runs[1] && runs[0] == runs[2]);
}
