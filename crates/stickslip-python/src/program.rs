//! The command line, which the package brings along, and its pictures.

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

/// Energies over time as the text of an SVG picture.
#[pyfunction]
pub fn energy_svg(times: Vec<f64>, curves: Vec<(String, Vec<f64>)>) -> String {
    let curves: Vec<(&str, &[f64])> = curves
        .iter()
        .map(|(name, values)| (&**name, &values[..]))
        .collect();
    stickslip_cli::energy_svg(&times, &curves)
}

/// The colours and marks of all pictures, as JSON.
#[pyfunction]
pub fn palette() -> String {
    stickslip::internals::view::palette::palette_json()
}

/// A number with so many digits, as people write it.
#[pyfunction]
pub fn digits(value: f64, significant: usize) -> String {
    stickslip::internals::quantity::digits(value, significant)
}

/// A value with its unit and a prefix: 2.846 kPa.
#[pyfunction]
pub fn quantity(value: f64, unit: &str) -> String {
    stickslip::internals::quantity::quantity(value, unit)
}
