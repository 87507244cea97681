//! Helpers to call the real binary in a folder of its own.
#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder that is removed when the test is over.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stickslip-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).expect("a file in our folder");
        name.to_string()
    }

    /// The command in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickslip"));
        command.current_dir(&self.0).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// Runs and expects an exit code; returns standard output and error.
    pub fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let out = String::from_utf8(output.stdout).expect("text");
        let err = String::from_utf8(output.stderr).expect("text");
        let found = output.status.code();
        assert_eq!(found, Some(code), "{arguments:?}\n{out}\n{err}");
        (out, err)
    }

    /// Runs with at most so many kilobytes of memory and expects an exit code; returns standard error.
    pub fn expect_within(&self, code: i32, kilobytes: u32, arguments: &str) -> String {
        let program = env!("CARGO_BIN_EXE_stickslip");
        let limited = format!("ulimit -v {kilobytes}; exec {program} {arguments}");
        let output = Command::new("sh")
            .args(["-c", &limited])
            .current_dir(&self.0)
            .output()
            .expect("a shell");
        let err = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{arguments}: {err}");
        err
    }

    /// Runs with `--json` and reads what it prints.
    pub fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let (out, _) = self.expect(code, &[arguments, &["--json"]].concat());
        serde_json::from_str(&out).expect("JSON")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Text of a summary file without the wall time.
pub fn summary_text(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    // Seconds: of the run, and of a world's phases.
    let mut in_phases = false;
    let lines = text.lines().filter(|line| {
        in_phases |= line.trim_start().starts_with("\"phases\"");
        let told = !in_phases && !line.contains("\"wall_time\"");
        in_phases &= !line.contains('}');
        told
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Names of the columns and number of rows of a structured NumPy file.
pub fn npy_shape(path: &Path) -> (Vec<String>, u64) {
    let (columns, rows) = npy_shape_of_header(path);
    let bytes = fs::read(path).expect("a trajectory");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    assert_eq!(
        bytes.len() as u64,
        10 + length as u64 + rows * 8 * columns.len() as u64
    );
    (columns, rows)
}

/// The same of a file that may still be written.
pub fn npy_shape_of_header(path: &Path) -> (Vec<String>, u64) {
    let bytes = fs::read(path).expect("a trajectory");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("an ASCII header");
    let columns: Vec<String> = header
        .split("('")
        .skip(1)
        .map(|part| part[..part.find('\'').expect("a name")].to_string())
        .collect();
    let shape = &header[header.find("'shape': (").expect("a shape") + 10..];
    let rows: u64 = shape[..shape.find(',').expect("a tuple")]
        .trim()
        .parse()
        .expect("a number");
    (columns, rows)
}

/// The last row of a structured NumPy file.
pub fn npy_last_row(path: &Path) -> Vec<(String, f64)> {
    let (columns, _) = npy_shape(path);
    let bytes = fs::read(path).expect("a trajectory");
    let row = &bytes[bytes.len() - 8 * columns.len()..];
    let values = row
        .chunks(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")));
    columns.into_iter().zip(values).collect()
}

/// A small scene: a block on a plane with friction.
pub const BLOCK: &str = r#"title = "Block"
step = 0.001
until = 0.5

[parameters]
m = 1
g = 9.81
mu = 0.3
v0 = 1

[system]
coordinates = ["x", "y"]
kinetic_energy = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"

[[contacts]]
name = "plane"
gap = "y"
tangents = [[1, 0]]
friction = "mu"

[initial]
x_dot = "v0"

[[drawing]]
line = [["x - 0.1", "y"], ["x + 0.1", "y"], ["x + 0.1", "y + 0.1"], ["x - 0.1", "y + 0.1"], ["x - 0.1", "y"]]
[[drawing]]
line = [[-0.5, 0], [1, 0]]
"#;
