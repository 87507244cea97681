//! `study sweep`, `poincare` and `bifurcation`: files, pictures, and going on after a kill.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{BLOCK, Folder};
use stickslip::records::{Array, Npz};

fn numbers(npz: &Npz, name: &str) -> Vec<f64> {
    match npz.get(name) {
        Some(Array::Numbers(_, values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A block with speed v0 stops after v0²/(2 μ g).
#[test]
fn a_sweep_of_a_sliding_block_gives_its_stopping_distances() {
    let folder = Folder::new("sweep");
    folder.write("block.toml", &BLOCK.replace("until = 0.5", "until = 2"));
    let arguments = [
        "study",
        "sweep",
        "block.toml",
        "--over",
        "mu=0.2:0.8:7",
        "--over",
        "v0=0.5,1,2",
        "--of",
        "x",
        "--of",
        "top=max(x_dot)",
        "--of",
        "event_counts.sticks",
    ];
    let (out, _) = folder.expect(0, &arguments);
    assert!(
        out.contains("21 of 21 points, 21 of them certified"),
        "{out}"
    );
    let npz = Npz::read(&folder.path("study/sweep.npz")).expect("an archive");
    let Some(Array::Numbers(shape, values)) = npz.get("values") else {
        panic!("no values");
    };
    assert_eq!(shape, &[7, 3, 3]);
    for (i, mu) in numbers(&npz, "axis_0").iter().enumerate() {
        for (j, v0) in numbers(&npz, "axis_1").iter().enumerate() {
            let row = &values[(i * 3 + j) * 3..];
            let exact = v0 * v0 / (2.0 * mu * 9.81);
            assert!(
                (row[0] - exact).abs() < 3e-3 * (1.0 + v0),
                "{mu} {v0}: {}",
                row[0]
            );
            assert_eq!(row[1], *v0);
            assert!(row[2] >= 1.0, "{row:?}");
        }
    }
    let csv = fs::read_to_string(folder.path("study/sweep.csv")).expect("a table");
    let heads = "mu,v0,x,top,event_counts.sticks,certified,reason";
    assert_eq!(csv.lines().next(), Some(heads));
    assert_eq!(csv.lines().count(), 22);
    let picture = fs::read_to_string(folder.path("study/sweep.svg")).expect("a picture");
    assert!(picture.contains("<svg"));
    // The same folder for another question is refused.
    let (_, err) = folder.expect(
        1,
        &["study", "sweep", "block.toml", "--over", "mu=0.2:0.8:6"],
    );
    assert!(err.contains("another sweep"), "{err}");
    let (_, err) = folder.expect(
        1,
        &[
            "study",
            "sweep",
            "block.toml",
            "--over",
            "mu=0.2:0.8:6",
            "--of",
            "nosuch",
            "--output",
            "x",
        ],
    );
    assert!(err.contains("nosuch"), "{err}");
}

/// The same of a box in a world, whose columns and entries have points in their names; without outcomes the final coordinates.
#[test]
fn a_sweep_of_a_world_gives_stopping_distances() {
    let folder = Folder::new("sweep-world");
    let world = "title = \"box\"\nstep = 1e-3\nuntil = 0.8\n[parameters]\nmu = 0.5\n[world]\ndimension = 2\n\
        [[materials]]\nname = \"m\"\ndensity = 1000\nfriction = \"mu\"\n\
        [[bodies]]\nname = \"floor\"\nfixed = true\nshape = { half_plane = [0, 1] }\n\
        [[bodies]]\nname = \"box\"\nshape = { rectangle = [0.4, 0.1] }\nposition = [0, 0.05]\nvelocity = [2, 0]\n";
    folder.write("box.toml", world);
    let sweep = ["study", "sweep", "box.toml", "--over", "mu=0.3,0.5,0.9"];
    let asked = [
        "--of",
        "box.x",
        "--of",
        "coordinates.box.x",
        "--of",
        "max(box_x)",
        "--output",
        "asked",
    ];
    folder.expect(0, &[&sweep[..], &asked].concat());
    folder.expect(0, &[&sweep[..], &["--output", "all"]].concat());
    let values = |folder_of: &str| {
        let npz = Npz::read(&folder.path(&format!("{folder_of}/sweep.npz"))).expect("an archive");
        numbers(&npz, "values")
    };
    let (asked, all) = (values("asked"), values("all"));
    assert_eq!(all.len(), 3 * 6);
    for (i, mu) in [0.3, 0.5, 0.9].into_iter().enumerate() {
        let exact = 4.0 / (2.0 * mu * 9.81);
        for x in &asked[3 * i..3 * i + 3] {
            assert!((x - exact).abs() < 4e-3, "{mu}: {x} and {exact}");
        }
        assert_eq!(all[6 * i + 3], asked[3 * i]);
    }
    let section = [
        "study",
        "poincare",
        "box.toml",
        "--section",
        "box.x=0.1",
        "--output",
        "section",
    ];
    folder.expect(0, &section);
    let body = [
        "study",
        "poincare",
        "spinning-ball",
        "--section",
        "z = 0.05",
        "--output",
        "body",
    ];
    folder.expect(0, &body);
    // Worlds have no event-driven scheme to be compared with: the finest run is the reference, at order 1.
    let (out, _) = folder.expect(
        0,
        &[
            "study",
            "convergence",
            "box.toml",
            "--steps",
            "8e-3,4e-3,2e-3,1e-4",
        ],
    );
    assert!(out.contains("against finest"), "{out}");
    for study in ["bounds", "reactions", "attainable", "start"] {
        let (_, err) = folder.expect(1, &["study", study, "box.toml"]);
        assert!(err.contains("`box` is a world"), "{study}: {err}");
    }
}

#[test]
fn a_sweep_that_is_killed_goes_on_to_the_same_file() {
    let folder = Folder::new("killed-sweep");
    folder.write("block.toml", &BLOCK.replace("step = 0.001", "step = 1e-4"));
    let run = |output: &str| {
        let arguments = [
            "study",
            "sweep",
            "block.toml",
            "--over",
            "mu=0.1:0.9:160",
            "--of",
            "x",
            "--output",
            output,
        ];
        folder
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    };
    let mut child = run("killed").expect("the binary starts");
    while !folder.path("killed/sweep.npz").exists() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(
            child.try_wait().expect("ours").is_none(),
            "it ended before its first save"
        );
    }
    child.kill().expect("a child of ours");
    child.wait().expect("it ends");
    let part = Npz::read(&folder.path("killed/sweep.npz")).expect("an archive");
    let Some(Array::Flags(_, done)) = part.get("done") else {
        panic!("no flags");
    };
    let before = done.iter().filter(|&&d| d).count();
    assert!(
        before > 0 && before < 160,
        "{before} points before the kill"
    );
    assert!(
        run("killed")
            .expect("starts")
            .wait()
            .expect("ends")
            .success()
    );
    assert!(
        run("whole")
            .expect("starts")
            .wait()
            .expect("ends")
            .success()
    );
    let bytes = |name: &str| fs::read(folder.path(name)).expect("a file");
    assert_eq!(bytes("killed/sweep.npz"), bytes("whole/sweep.npz"));
    assert_eq!(bytes("killed/sweep.csv"), bytes("whole/sweep.csv"));
}

#[test]
fn sections_and_bifurcations_are_drawn() {
    let folder = Folder::new("sections");
    let scene = r#"title = "forced"
step = 0.01
until = 60
[parameters]
omega = 0.8
[system]
coordinates = ["x"]
kinetic_energy = "x'^2/2"
potential = "x^2/2"
forces = { x = "cos(omega*t) - 0.8*x'" }
"#;
    folder.write("forced.toml", scene);
    let section = [
        "study",
        "poincare",
        "forced.toml",
        "--period",
        "2*pi/omega",
        "--skip",
        "4",
    ];
    let (out, _) = folder.expect(0, &section);
    assert!(out.contains("certified"), "{out}");
    let npz = Npz::read(&folder.path("study/poincare.npz")).expect("an archive");
    let points = numbers(&npz, "points");
    let exact = 0.36 / (0.36f64.powi(2) + 0.64f64.powi(2));
    let last = &points[points.len() - 3..];
    assert!((last[1] - exact).abs() < 1e-3, "{last:?} {exact}");
    let bifurcation = [
        "study",
        "bifurcation",
        "forced.toml",
        "--over",
        "omega=0.5:1.5:6",
        "--period",
        "2*pi/omega",
        "--of",
        "x",
        "--skip",
        "4",
        "--keep",
        "1",
    ];
    folder.expect(0, &bifurcation);
    let npz = Npz::read(&folder.path("study/bifurcation.npz")).expect("an archive");
    for (omega, x) in numbers(&npz, "axis_0").iter().zip(numbers(&npz, "values")) {
        let gap = 1.0 - omega * omega;
        let exact = gap / (gap * gap + (0.8 * omega).powi(2));
        assert!((x - exact).abs() < 0.02, "{omega}: {x} {exact}");
    }
    for name in [
        "poincare.svg",
        "poincare.png",
        "bifurcation.svg",
        "bifurcation.csv",
    ] {
        assert!(folder.path("study").join(name).exists(), "{name}");
    }
    let wrong = ["study", "poincare", "forced.toml", "--section", "x"];
    assert!(folder.expect(1, &wrong).1.contains("equation"));
}
