//! Points computed by the workers of a Dask scheduler, through the Python package.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use stickslip::scene::SceneSweep;
use stickslip::simulation::studies::sweep::SweepAxis;

use crate::scene_argument::SceneOptions;

/// Interpreter that the Python package names when it runs this program.
const INTERPRETER: &str = "STICKSLIP_PYTHON";

/// What is to be computed, and where it is kept.
pub struct Request<'a> {
    /// Address of the scheduler.
    pub scheduler: &'a str,
    /// Scene, changes and outcomes.
    pub subject: &'a SceneSweep,
    /// The changes, as they were given.
    pub options: &'a SceneOptions,
    /// The grid.
    pub axes: &'a [SweepAxis],
    /// Quantity of a map and the gap of active constraints; none for a sweep.
    pub quantity: Option<(&'a str, f64)>,
    /// What the outcomes depend on besides scene and changes.
    pub also: &'a str,
    /// File that keeps what is done.
    pub path: &'a Path,
}

/// Lets the Python package compute what the file does not hold yet.
pub fn compute(request: &Request) -> Result<(), String> {
    let python = std::env::var_os(INTERPRETER).unwrap_or_else(|| "python3".into());
    let able = Command::new(&python)
        .args(["-c", "import stickslip, distributed"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !able.is_ok_and(|status| status.success()) {
        return Err(format!(
            "--dask needs the Python package with its extra `sweep` for {}: pip install \"stickslip[sweep]\" \
             (at the root of the sources: pip install \".[sweep]\"), or name another interpreter by {INTERPRETER}",
            python.to_string_lossy()
        ));
    }
    let (parameters, settings) = request.options.pairs();
    let axes: Vec<_> = request
        .axes
        .iter()
        .map(|axis| (&axis.name, &axis.values))
        .collect();
    let text = json!({
        "scheduler": request.scheduler,
        "file": request.subject.source.name(),
        "text": request.subject.source.text(),
        "parameters": parameters,
        "settings": settings,
        "outcomes": request.subject.outcomes.iter().map(|o| o.text()).collect::<Vec<_>>(),
        "names": request.subject.outcomes.iter().map(|o| &o.name).collect::<Vec<_>>(),
        "axes": axes,
        "quantity": request.quantity,
        "also": request.also,
        "path": request.path,
    });
    let failed = |e: std::io::Error| format!("{}: {e}", python.to_string_lossy());
    let mut child = Command::new(&python)
        .args(["-m", "stickslip.dask"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(text.to_string().as_bytes())
            .map_err(failed)?;
    }
    match child.wait().map_err(failed)? {
        status if status.success() => Ok(()),
        _ => Err("the workers did not finish; the same command goes on with what was saved".into()),
    }
}
