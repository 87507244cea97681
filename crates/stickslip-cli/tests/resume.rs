//! Runs that are interrupted or killed and resumed give the bits of the uninterrupted run.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{Folder, summary_text};

/// A scene with many contacts that takes about a second, thinned by a number that divides nothing.
const SCENE: [&str; 5] = ["run", "chain", "--quiet", "--every", "7"];
const STEP: [&str; 2] = ["--step", "1e-4"];
const OFTEN: [&str; 2] = ["--checkpoint-every", "0.01"];

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the binary starts")
}

fn begin(folder: &Folder, output: &str) -> Child {
    start(
        folder,
        &[&SCENE[..], &STEP, &OFTEN, &["--output", output]].concat(),
    )
}

fn resume(folder: &Folder, output: &str) -> Child {
    start(
        folder,
        &[&["run", "--quiet", "--resume", output][..], &OFTEN].concat(),
    )
}

fn assert_same(folder: &Folder, whole: &str, other: &str) {
    let read = |name: &str, file: &str| fs::read(folder.path(name).join(file)).ok();
    for file in ["trajectory.npy", "bodies.npy", "contacts.npy"] {
        let (first, second) = (read(whole, file), read(other, file));
        assert!(first == second, "{other}: {file} differs");
    }
    assert_eq!(
        summary_text(&folder.path(whole)),
        summary_text(&folder.path(other))
    );
    let certificate =
        |name: &str| fs::read(folder.path(name).join("certificate.json")).expect("a file");
    assert_eq!(certificate(whole), certificate(other));
}

fn started(path: &Path) -> bool {
    path.join("run.json").exists()
}

#[test]
fn a_run_killed_twenty_times_gives_the_same_bits() {
    let folder = Folder::new("kill");
    let code = begin(&folder, "whole").wait().expect("it ends");
    assert!(code.success());
    // Delays from a fixed sequence; the instants they hit are as random as the machine.
    let mut seed: u64 = 0x2545_f491_4f6c_dd1d;
    let (mut kills, mut runs, mut launches) = (0, 0, 0);
    while kills < 20 {
        let name = format!("killed-{runs}");
        loop {
            launches += 1;
            assert!(launches < 400, "{kills} kills in {launches} launches");
            let mut child = if started(&folder.path(&name)) {
                resume(&folder, &name)
            } else {
                begin(&folder, &name)
            };
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            if kills < 20 {
                std::thread::sleep(Duration::from_millis(seed % 150));
            } else {
                child.wait().expect("it ends");
            }
            if let Some(code) = child.try_wait().expect("a child of ours") {
                assert!(code.success(), "{code}");
                break;
            }
            child.kill().expect("a child of ours");
            child.wait().expect("it ends");
            kills += 1;
        }
        assert_same(&folder, "whole", &name);
        runs += 1;
    }
}

#[test]
fn an_interrupted_run_ends_with_130_and_goes_on() {
    let folder = Folder::new("interrupt");
    assert!(begin(&folder, "whole").wait().expect("it ends").success());
    let mut child = begin(&folder, "halted");
    while !folder.path("halted/checkpoint.json").exists() {
        std::thread::sleep(Duration::from_millis(2));
        assert!(child.try_wait().expect("a child of ours").is_none());
    }
    // The handler is set right after the first checkpoint.
    std::thread::sleep(Duration::from_millis(100));
    let id = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(sent.expect("kill exists").success());
    let code = child.wait().expect("it ends").code();
    // On a fast machine the run may have ended before the signal came.
    assert!(
        code == Some(130) || folder.path("halted/summary.json").exists(),
        "{code:?}"
    );
    assert!(resume(&folder, "halted").wait().expect("it ends").success());
    assert_same(&folder, "whole", "halted");
}

#[test]
fn adaptive_steps_survive_kills() {
    let folder = Folder::new("adaptive");
    let (text, _) = folder.expect(0, &["show", "slender-rod", "--text"]);
    folder.write("rod.toml", &format!("adaptive = 1e-7\n{text}"));
    let begin = |output: &str| {
        let arguments = [
            "run", "rod.toml", "--quiet", "--every", "3", "--output", output,
        ];
        start(&folder, &[&arguments[..], &OFTEN].concat())
    };
    assert!(begin("whole").wait().expect("it ends").success());
    let mut child = begin("killed");
    for delay in [40, 90, 30, 120] {
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().expect("a child of ours");
        child.wait().expect("it ends");
        child = if started(&folder.path("killed")) {
            resume(&folder, "killed")
        } else {
            begin("killed")
        };
    }
    assert!(child.wait().expect("it ends").success());
    assert_same(&folder, "whole", "killed");
}

#[test]
fn every_scene_of_the_gallery_resumes_to_the_same_bits() {
    let folder = Folder::new("gallery");
    let (list, _) = folder.expect(0, &["list"]);
    for name in list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
    {
        let whole = format!("{name}-whole");
        // Shorter than the scene, so that the test is, too; the end is no round number of steps.
        let world =
            stickslip::scene::find_in_gallery(name).is_some_and(|e| e.text.contains("[world]"));
        let until = if world { "0.0237" } else { "0.1337" };
        let begin = |output: &str| {
            let arguments = ["run", name, "--quiet", "--output", output, "--until", until];
            start(&folder, &[&arguments[..], &OFTEN].concat())
        };
        // 2 where a scene cut short is not certified; resuming must not change that either.
        let code = begin(&whole).wait().expect("it ends").code();
        assert!(matches!(code, Some(0 | 2)), "{name}: {code:?}");
        let mut child = begin(name);
        while child.try_wait().expect("a child of ours").is_none() {
            // Some way into the run, wherever that is on this machine.
            if fs::metadata(folder.path(name).join("trajectory.npy")).is_ok_and(|m| m.len() > 9000)
            {
                child.kill().expect("a child of ours");
                child.wait().expect("it ends");
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let resumed = resume(&folder, name).wait().expect("it ends").code();
        assert_eq!(resumed, code, "{name} resumed");
        assert_same(&folder, &whole, name);
    }
}

#[test]
fn a_finished_run_resumed_is_told_again() {
    let folder = Folder::new("again");
    let first = folder.json(
        0,
        &["run", "bouncing-ball", "--no-plots", "--output", "out"],
    );
    let again = folder.json(0, &["run", "--no-plots", "--resume", "out"]);
    assert_eq!(first, again);
}

#[test]
fn a_folder_of_a_later_format_is_refused() {
    let folder = Folder::new("later");
    folder.expect(0, &["run", "bouncing-ball", "--quiet", "--output", "out"]);
    let manifest = fs::read_to_string(folder.path("out/run.json")).expect("a manifest");
    let later = manifest.replace("\"format\": 1", "\"format\": 999");
    assert_ne!(manifest, later);
    fs::write(folder.path("out/run.json"), later).expect("a file");
    let (_, err) = folder.expect(1, &["plot", "out"]);
    assert!(err.contains("format 999"), "{err}");
}
