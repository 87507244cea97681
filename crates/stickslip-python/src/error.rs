//! Exceptions: the classes are those of `stickslip.errors`, so that they can be pickled.

use std::fmt::Display;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stickslip::scene::{SceneError, SceneRunError};

/// An exception of ours, by the name of its class.
fn of_class<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyErr {
    let made = py
        .import("stickslip.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(arguments.into_pyobject(py)?));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => PyRuntimeError::new_err(format!("{class}: {error}")),
    }
}

/// Mistakes in a scene, with their places.
pub fn scene_error(error: &SceneError) -> PyErr {
    // Plain words and numbers always become JSON.
    let findings = serde_json::to_string(&error.findings()).unwrap_or_default();
    let message = error.to_string();
    Python::attach(|py| of_class(py, "SceneError", (message.trim_end(), findings)))
}

/// A mistake that has no place in a scene file.
pub fn plain_scene_error(message: &str) -> PyErr {
    Python::attach(|py| of_class(py, "SceneError", (message,)))
}

/// A run that could not be made or read.
pub fn run_error(error: impl Display) -> PyErr {
    Python::attach(|py| of_class(py, "RunError", (error.to_string(),)))
}

/// A run in a folder that could not be made or read.
pub fn folder_error(error: &SceneRunError) -> PyErr {
    match error {
        SceneRunError::Scene(error) => scene_error(error),
        other => run_error(other),
    }
}

/// A contact problem that was refused.
pub fn problem_error(error: impl Display) -> PyErr {
    Python::attach(|py| of_class(py, "ProblemError", (error.to_string(),)))
}

/// A sweep that could not be set up, saved or gone on with.
pub fn sweep_error(error: impl Display) -> PyErr {
    Python::attach(|py| of_class(py, "SweepError", (error.to_string(),)))
}
