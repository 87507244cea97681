//! Files and numbers that no friend would write: refused with a reason, or run to an end that says why.
#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{self, BLOCK, Folder};
use stickslip::contact::ContactProblem;
use stickslip::contact::fclib::{FclibFile, FclibProblem};

#[test]
fn titles_and_names_cannot_steer_the_terminal() {
    let folder = Folder::new("escapes");
    let hostile = BLOCK
        .replace("title = \"Block\"", "title = \"a\\u001b]0;owned\\u0007b\"")
        .replace("name = \"plane\"", "name = \"p\\u009b2Jq\"");
    folder.write("hostile.toml", &hostile);
    for arguments in [
        &["show", "hostile.toml"][..],
        &["run", "hostile.toml", "--output", "out"],
        &["run", "--resume", "out", "--no-plots", "--json"],
        &["check", "hostile.toml"],
        &["verify", "out"],
    ] {
        let output = folder.run(arguments);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).expect("text");
        let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(steers), "{arguments:?}: {text:?}");
    }
    // The name is a column of the trajectory, in a header that Python can read.
    let (columns, _) = common::npy_shape(&folder.path("out/trajectory.npy"));
    assert!(columns.contains(&"p_2Jq.gap".to_string()), "{columns:?}");
}

#[test]
fn names_beyond_ascii_make_headers_of_version_three() {
    let folder = Folder::new("utf8");
    folder.write(
        "scene.toml",
        &BLOCK.replace("name = \"plane\"", "name = \"Böschung\""),
    );
    folder.expect(0, &["run", "scene.toml", "--quiet", "--output", "out"]);
    let bytes = std::fs::read(folder.path("out/trajectory.npy")).expect("a file");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x03\x00");
    let length = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
    assert_eq!((12 + length) % 64, 0);
    let header = std::str::from_utf8(&bytes[12..12 + length]).expect("UTF-8");
    assert!(header.contains("('Böschung.gap', '<f8')"), "{header}");
    folder.expect(0, &["verify", "out"]);
    folder.expect(0, &["plot", "out"]);
}

/// Numbers whose squares overflow end the run with a reason, at once.
#[test]
fn absurd_velocities_end_with_a_reason() {
    let folder = Folder::new("fast");
    folder.write("block.toml", BLOCK);
    for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
        for v0 in ["1e300", "-1e200", "1e160"] {
            let set = format!("v0={v0}");
            let arguments = [
                "run",
                "block.toml",
                "--scheme",
                scheme,
                "--set",
                &set,
                "--no-plots",
                "--output",
                &format!("{scheme}{v0}"),
            ];
            let mut child = folder
                .command(&arguments)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            let began = Instant::now();
            while child.try_wait().expect("ours").is_none() {
                std::thread::sleep(Duration::from_millis(20));
                if began.elapsed() > Duration::from_secs(120) {
                    child.kill().expect("ours");
                    panic!("{arguments:?} hangs");
                }
            }
            let output = child.wait_with_output().expect("it ended");
            let out = String::from_utf8_lossy(&output.stdout);
            let err = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                matches!(code, Some(1 | 2)),
                "{arguments:?}: {code:?}\n{out}{err}"
            );
            let told = out.contains("could not be made")
                || out.contains("NOT certified")
                || !err.is_empty();
            assert!(told, "{arguments:?}\n{out}{err}");
            assert!(!err.contains("panicked"), "{err}");
        }
    }
}

#[test]
fn a_box_that_no_memory_holds_is_refused_with_its_size() {
    let folder = Folder::new("memory");
    let scene = r#"title = "too much"
[elastic]
[[elastic.meshes]]
shape = "box"
size = [1, 1, 1]
cells = [125, 125, 125]
element = "hex27"
[[elastic.regions]]
group = "all"
model = "solid"
young = 1e9
poisson = 0.3
density = 1000
"#;
    folder.write("box.toml", scene);
    let err = folder.expect_within(1, 6_000_000, "check box.toml");
    assert!(err.contains("GB of memory"), "{err}");
}

/// One or several contacts that stick at any coefficient: u = 0, r = −W⁻¹ q. Taking r = 0 for an answer leaves u_N = −1.
#[test]
fn large_coefficients_are_solved_and_not_only_called_so() {
    let folder = Folder::new("large-mu");
    for contacts in [1usize, 3] {
        for mu in [1e3, 1e6, 1e9, 1e12] {
            let n = 3 * contacts;
            // A stiff chain: diagonal 2, neighbours coupled by 0.3.
            let mut w = vec![0.0; n * n];
            for i in 0..n {
                w[i * n + i] = 2.0;
                if i >= 3 {
                    w[i * n + i - 3] = 0.3;
                    w[(i - 3) * n + i] = 0.3;
                }
            }
            let q: Vec<f64> = (0..n).map(|i| [-1.0, -5.0, 2.0][i % 3]).collect();
            let problem = ContactProblem::coulomb_from_dense(3, &w, q.clone(), vec![mu; contacts])
                .expect("a problem");
            let name = format!("large-{contacts}-{mu:e}.hdf5");
            let file = FclibFile::new(FclibProblem::Local(problem));
            file.write(folder.path(&name)).expect("ours");
            let arguments = [
                "solve",
                &name,
                "--output",
                "solved",
                "--tolerance",
                "1e-8",
                "--json",
            ];
            let output = folder.run(&arguments);
            let row = String::from_utf8_lossy(&output.stdout).into_owned();
            // Beyond 1e6 a solver may give up, but then it says so.
            if output.status.code() == Some(2) && mu > 1e6 {
                assert!(!row.contains("\"converged\""), "{row}");
                continue;
            }
            assert_eq!(output.status.code(), Some(0), "{row}");
            assert!(row.contains("\"converged\""), "{row}");
            let solved = FclibFile::read(folder.path("solved").join(&name)).expect("ours");
            let solution = solved.solution.expect("a solution");
            for (u, r) in solution.u.chunks(3).zip(solution.r.chunks(3)) {
                assert!(u.iter().all(|x| x.abs() < 1e-6), "mu {mu}: u {u:?} r {r:?}");
                assert!(r[0] > 0.1, "mu {mu}: r {r:?}");
            }
        }
    }
}

/// Ctrl-C ends everything, also where nothing watches for it.
#[test]
fn control_c_works_at_any_time() {
    let folder = Folder::new("sigint");
    folder.write("long.toml", &BLOCK.replace("until = 0.5", "until = 1e6"));
    for arguments in [
        &["run", "long.toml", "--quiet", "--every", "1000000"][..],
        &[
            "study",
            "sweep",
            "long.toml",
            "--over",
            "mu=0.1:0.9:9",
            "--of",
            "x",
        ],
        &["study", "convergence", "long.toml", "--steps", "1e-3,1e-4"],
    ] {
        let mut child = folder
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(Duration::from_millis(700));
        let sent = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(sent.expect("kill exists").success());
        let began = Instant::now();
        while child.try_wait().expect("ours").is_none() {
            std::thread::sleep(Duration::from_millis(20));
            if began.elapsed() > Duration::from_secs(60) {
                child.kill().expect("ours");
                panic!("{arguments:?} does not end");
            }
        }
    }
}
