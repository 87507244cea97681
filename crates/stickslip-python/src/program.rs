//! The command line, which the package brings along.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program `stickslip` with these arguments, its name first, and returns the exit code.
#[pyfunction]
pub fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| stickslip_cli::run(arguments));
    // Codes can be compared, not read.
    (0..=u8::MAX)
        .find(|&k| ExitCode::from(k) == code)
        .unwrap_or(1)
}
