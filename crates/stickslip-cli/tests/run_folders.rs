//! Run folders: one writer at a time, nothing edited in between, no foreign files, answers that arrive.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{self, BLOCK, Folder};

/// A run that lasts longer than the test.
fn endless(folder: &Folder, output: &str) -> Child {
    let scene = BLOCK.replace("until = 0.5", "until = 1e6");
    folder.write("endless.toml", &scene);
    let arguments = [
        "run",
        "endless.toml",
        "--quiet",
        "--every",
        "1000000",
        "--output",
        output,
        "--checkpoint-every",
        "0.05",
    ];
    let mut command = folder.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    while !folder.path(output).join("checkpoint.json").exists() {
        assert!(child.try_wait().expect("a child of ours").is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_live_run_has_one_writer_and_a_dead_one_none() {
    let folder = Folder::new("lock");
    let mut child = endless(&folder, "out");
    folder.write("short.toml", BLOCK);
    let (_, err) = folder.expect(1, &["run", "--resume", "out"]);
    assert!(err.contains("still alive"), "{err}");
    // A folder whose run has no checkpoint yet is as taken as one with.
    fs::rename(
        folder.path("out/checkpoint.json"),
        folder.path("out/hidden"),
    )
    .expect("ours");
    let (_, err) = folder.expect(1, &["run", "short.toml", "--output", "out"]);
    assert!(err.contains("still alive"), "{err}");
    child.kill().expect("a child of ours");
    child.wait().expect("it ends");
    // The lock died with its process.
    let hidden = folder.path("out/hidden");
    if !folder.path("out/checkpoint.json").exists() {
        fs::rename(hidden, folder.path("out/checkpoint.json")).expect("ours");
    }
    let mut again = folder
        .command(&["run", "--quiet", "--resume", "out"])
        .spawn()
        .expect("the binary starts");
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        again.try_wait().expect("a child of ours").is_none(),
        "the dead run could not be resumed"
    );
    again.kill().expect("a child of ours");
    again.wait().expect("it ends");
}

#[test]
fn folders_with_other_files_need_force() {
    let folder = Folder::new("foreign");
    folder.write("block.toml", BLOCK);
    fs::create_dir(folder.path("letters")).expect("ours");
    folder.write("letters/love.txt", "dear");
    let run = ["run", "block.toml", "--quiet", "--output", "letters"];
    let (_, err) = folder.expect(1, &run);
    assert!(err.contains("--force"), "{err}");
    let left: Vec<_> = fs::read_dir(folder.path("letters"))
        .expect("ours")
        .collect();
    assert_eq!(left.len(), 1, "a refused run leaves nothing behind");
    folder.expect(0, &[&run[..], &["--force"]].concat());
    assert_eq!(
        fs::read_to_string(folder.path("letters/love.txt")).expect("ours"),
        "dear"
    );
    // A run is never replaced.
    let (_, err) = folder.expect(1, &[&run[..], &["--force"]].concat());
    assert!(err.contains("already holds a run"), "{err}");
    // An empty folder is fine.
    fs::create_dir(folder.path("empty")).expect("ours");
    folder.expect(0, &["run", "block.toml", "--quiet", "--output", "empty"]);
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("ours");
    for entry in fs::read_dir(from).expect("ours") {
        let path = entry.expect("ours").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("a file"))).expect("ours");
        }
    }
}

#[test]
fn what_was_edited_is_not_resumed() {
    let folder = Folder::new("edited");
    let mut child = endless(&folder, "whole");
    child.kill().expect("a child of ours");
    child.wait().expect("it ends");
    let edit = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| -> String {
        let copy_name = format!("copy-{}", name.replace('.', "-"));
        let _ = fs::remove_dir_all(folder.path(&copy_name));
        copy(&folder.path("whole"), &folder.path(&copy_name));
        let file = folder.path(&copy_name).join(name);
        let bytes = fs::read(&file).expect("ours");
        let changed = change(bytes.clone());
        assert_ne!(changed, bytes);
        fs::write(&file, changed).expect("ours");
        folder.expect(1, &["run", "--resume", &copy_name]).1
    };
    let text = |from: &'static str, to: &'static str| {
        move |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("text");
            text.replacen(from, to, 1).into_bytes()
        }
    };
    let err = edit("scene.toml", &text("mu = 0.3", "mu = 0.4"));
    assert!(
        err.contains("scene.toml") && err.contains("changed since"),
        "{err}"
    );
    let err = edit("checkpoint.json", &text("\"step\":", "\"step\":1"));
    assert!(
        err.contains("checkpoint.json") && err.contains("changed since"),
        "{err}"
    );
    let last = |bytes: Vec<u8>| {
        // A bit of a coordinate in the first row.
        let mut bytes = bytes;
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        bytes[header + 17] ^= 1;
        bytes
    };
    let err = edit("trajectory.npy", &last);
    assert!(
        err.contains("trajectory.npy") && err.contains("changed since"),
        "{err}"
    );
    // The first format had no digest.
    let first = edit("checkpoint.json", &text("\"version\":3", "\"version\":1"));
    assert!(first.contains("checkpoint format 1"), "{first}");
    // Where the digest is forged, sizes and numbers are still looked at.
    for (from, to, expected) in [
        ("\"rows\":", "\"rows\":900000000000000000", "rows"),
        ("\"planned\":[", "\"planned\":[1,1,1,1", "planned"),
        ("\"v\":[", "\"v\":[1,", "velocities"),
        ("\"t\":", "\"t\":-1", "time"),
    ] {
        let forged = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("text");
            let rest = text.split_once("\",").expect("a digest").1;
            let rest = rest.replacen(from, to, 1);
            let digest = stickslip::internals::Digest::of(rest.as_bytes());
            format!("{{\"digest\":\"{digest}\",{rest}").into_bytes()
        };
        let err = edit("checkpoint.json", &forged);
        assert!(
            err.contains(expected) && err.contains("checkpoint.json"),
            "{from}: {err}"
        );
    }
}

#[test]
fn answers_that_cannot_be_written_are_errors() {
    let folder = Folder::new("full");
    folder.write("block.toml", BLOCK);
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["schema"],
        &["--help"],
        &["completions", "bash"],
        &["run", "block.toml", "--json", "--no-plots"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("a device");
        let output = folder
            .command(arguments)
            .stdout(full)
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("standard output"), "{arguments:?}: {err}");
    }
    // Nobody listens: no reason to panic.
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a device");
    let output = folder
        .command(&["solve", "nosuch.hdf5"])
        .stderr(full)
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_plot_that_cannot_be_written_does_not_hide_the_result() {
    let folder = Folder::new("undrawn");
    folder.write("block.toml", BLOCK);
    fs::create_dir(folder.path("out")).expect("ours");
    folder.write("out/plots", "in the way");
    let run = ["run", "block.toml", "--output", "out", "--force"];
    let (out, err) = folder.expect(1, &run);
    assert!(out.contains("Certified"), "{out}");
    assert!(err.contains("plots could not be drawn"), "{err}");
}

#[test]
fn runs_of_more_than_a_gigabyte_are_announced() {
    let folder = Folder::new("large");
    folder.write("block.toml", BLOCK);
    let mut child = folder
        .command(&["run", "block.toml", "--until", "1e6"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("piped");
    BufReader::new(stderr).read_line(&mut line).expect("text");
    child.kill().expect("a child of ours");
    child.wait().expect("it ends");
    assert!(line.contains(" GB") && line.contains("--every"), "{line}");
    let advised: u64 = line
        .split("--every ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|word| word.parse().ok())
        .expect("a number");
    // As many columns as the file has: 1e9 steps of 8 bytes a column, in parts of 1e9.
    let (columns, _) = common::npy_shape_of_header(&folder.path("runs/block/trajectory.npy"));
    assert_eq!(advised, 8 * columns.len() as u64);
}

#[test]
fn a_finished_run_goes_on_to_a_later_end() {
    let folder = Folder::new("extend");
    folder.write("block.toml", BLOCK);
    let run = |until: &str, output: &str| {
        let arguments = [
            "run",
            "block.toml",
            "--quiet",
            "--until",
            until,
            "--output",
            output,
        ];
        folder.expect(0, &arguments);
    };
    run("0.5", "long");
    run("0.2", "short");
    folder.expect(
        0,
        &["run", "--quiet", "--resume", "short", "--until", "0.5"],
    );
    let file = |name: &str| fs::read(folder.path(name).join("trajectory.npy")).expect("a file");
    assert_eq!(file("long"), file("short"));
    assert_eq!(
        common::summary_text(&folder.path("long")),
        common::summary_text(&folder.path("short"))
    );
    folder.expect(0, &["verify", "short"]);
    let arguments = ["run", "--quiet", "--resume", "short", "--until", "0.3"];
    let (_, err) = folder.expect(1, &arguments);
    assert!(err.contains("has reached"), "{err}");
    // An end between two steps: the grid of steps goes on behind it.
    run("0.2004", "odd");
    folder.expect(0, &["run", "--quiet", "--resume", "odd", "--until", "0.5"]);
    let (_, rows) = common::npy_shape(&folder.path("odd/trajectory.npy"));
    assert_eq!(rows, 502);
    folder.expect(0, &["verify", "odd"]);
}

#[test]
fn slips_get_the_answer_they_need() {
    let folder = Folder::new("slips");
    let scene = BLOCK.replace("x_dot = \"v0\"", "x' = \"v0\"");
    folder.write("prime.toml", &scene);
    let (_, err) = folder.expect(1, &["check", "prime.toml"]);
    assert!(
        err.contains("`x_dot`") && err.contains("prime.toml:23:1"),
        "{err}"
    );
    let (_, err) = folder.expect(1, &["verify", "nosuch"]);
    assert!(err.contains("there is no folder"), "{err}");
    let (_, err) = folder.expect(1, &["plot", "nosuch"]);
    assert!(err.contains("there is no folder"), "{err}");
}

/// A long run is judged and drawn in the memory of a few steps: 120 MB of trajectory within 200 MB of addresses.
#[test]
fn long_runs_are_verified_and_drawn_in_little_memory() {
    let folder = Folder::new("streams");
    folder.write("block.toml", BLOCK);
    let run = [
        "run",
        "block.toml",
        "--quiet",
        "--step",
        "1e-6",
        "--output",
        "long",
    ];
    folder.expect(0, &run);
    let size = fs::metadata(folder.path("long/trajectory.npy"))
        .expect("a file")
        .len();
    assert!(size > 80_000_000, "{size}");
    for command in ["verify long", "plot long", "export long --csv --every 1000"] {
        folder.expect_within(0, 200_000, command);
    }
    let csv = fs::read_to_string(folder.path("long/trajectory.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 502);
}

#[test]
fn runs_are_exported_for_paraview_and_drawn_as_asked() {
    let folder = Folder::new("export");
    let scene = BLOCK
        .replace("tangents = [[1, 0]]", "point = [\"x\", \"y\"]")
        .replace("step = 0.001", "step = 0.001\nunits = { x = \"mm\" }");
    folder.write("block.toml", &scene);
    folder.expect(0, &["run", "block.toml", "--quiet", "--output", "out"]);
    folder.expect(0, &["export", "out", "--every", "100"]);
    let text =
        fs::read_to_string(folder.path("out/paraview/block-contacts-00001.vtp")).expect("a file");
    // While it slides: normal force m g, friction mu m g backwards.
    let force = text.split("Name=\"force\"").nth(1).expect("a force");
    let numbers: Vec<f64> = force
        .split('>')
        .nth(1)
        .and_then(|rest| rest.split('<').next())
        .expect("numbers")
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let expected = [-0.3 * 9.81, 9.81, 0.0];
    for (found, expected) in numbers.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{numbers:?}");
    }
    let list = fs::read_to_string(folder.path("out/paraview/block.pvd")).expect("a list");
    assert_eq!(list.matches("<DataSet").count(), 12);
    // A rigid body in space as well.
    folder.expect(
        0,
        &[
            "run",
            "spinning-top",
            "--quiet",
            "--until",
            "0.01",
            "--output",
            "top",
        ],
    );
    folder.expect(0, &["export", "top", "--every", "5"]);
    let (out, _) = folder.expect(
        0,
        &[
            "export",
            "out",
            "--csv",
            "--columns",
            "t,plane.p_n",
            "--output",
            "few.csv",
        ],
    );
    assert!(out.contains("501 rows, 2 columns"), "{out}");
    folder.expect(0, &["plot", "out", "--output", "usual"]);
    let motion = fs::read_to_string(folder.path("usual/motion.svg")).expect("a picture");
    assert!(motion.contains("x [mm]") && motion.contains("[mm/s]"));
    let options = [
        "plot", "out", "--from", "0.1", "--to", "0.2", "--size", "500x200", "--force",
    ];
    folder.expect(0, &[&options[..], &["--output", "window"]].concat());
    let impulses = fs::read_to_string(folder.path("window/impulses.svg")).expect("a picture");
    assert!(impulses.contains("normal force [N]"));
    let columns = [
        "plot",
        "out",
        "--columns",
        "x,plane.p_n",
        "--output",
        "columns",
    ];
    let (out, _) = folder.expect(0, &columns);
    assert!(out.contains("columns (SVG"), "{out}");
    let (_, err) = folder.expect(1, &["plot", "out", "--columns", "nosuch"]);
    assert!(err.contains("no column `nosuch`"), "{err}");
    let (_, err) = folder.expect(1, &["plot", "out", "--from", "7"]);
    assert!(err.contains("no step between"), "{err}");
    let wrong = scene.replace("units = { x", "units = { z");
    folder.write("wrong.toml", &wrong);
    let (_, err) = folder.expect(1, &["check", "wrong.toml"]);
    assert!(err.contains("`z` is not a coordinate"), "{err}");
}
