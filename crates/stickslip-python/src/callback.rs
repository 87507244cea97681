//! Python functions as forces and controllers.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList, PyTuple};
use stickslip::systems::functions::Force;
use stickslip::systems::{ForceDependence, Instant, SampledController};

use crate::array::{Reused, array, copied};

/// The first exception that a function raised in a step; it comes out of the call that made the step.
#[derive(Clone, Default)]
pub struct Raised(Arc<(AtomicBool, Mutex<Option<PyErr>>)>);

impl Raised {
    fn set(&self, error: PyErr) {
        let mut slot = self.0.1.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
        self.0.0.store(true, Ordering::SeqCst);
    }

    /// The exception, once.
    pub fn take(&self) -> Option<PyErr> {
        if !self.0.0.swap(false, Ordering::SeqCst) {
            return None;
        }
        let mut slot = self.0.1.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }
}

/// A force f(t, q, v) that Python computes.
pub struct PythonForce {
    pub function: Py<PyAny>,
    pub dependence: ForceDependence,
    pub raised: Raised,
    pub known: Known,
    pub arrays: Mutex<[Option<Reused>; 2]>,
}

/// The last two answers of a force of time alone: the end of a step is the start of the next, so that one call a step is enough.
#[derive(Default)]
pub struct Known(Mutex<[Option<(f64, Vec<f64>)>; 2]>);

impl Known {
    fn find(&self, t: f64, out: &mut [f64]) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = known.iter().flatten().filter(|(at, _)| *at == t);
        found.next().is_some_and(|(_, force)| {
            out.copy_from_slice(force);
            true
        })
    }

    fn enter(&self, t: f64, force: &[f64]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.swap(0, 1);
        known[1] = Some((t, force.to_vec()));
    }
}

impl Force for PythonForce {
    fn dependence(&self) -> ForceDependence {
        self.dependence
    }

    fn evaluate(&self, at: &Instant, out: &mut [f64]) {
        let of_time = self.dependence == ForceDependence::Time;
        if of_time && self.known.find(at.t, out) {
            return;
        }
        let called = Python::attach(|py| {
            let arrays = || self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
            // Not held during the call: the function may be called again by itself.
            let [q, v] = std::mem::take(&mut *arrays());
            let (q, v) = (Reused::filled(q, py, at.q)?, Reused::filled(v, py, at.v)?);
            let function = self.function.bind(py);
            let answer = function.call1((at.t, q.array(py), v.array(py)))?;
            *arrays() = [Some(q), Some(v)];
            read("force", &answer, out)
        });
        if let Err(error) = called {
            self.raised.set(error);
            // A step with it cannot be made.
            out.fill(f64::NAN);
        } else if of_time {
            self.known.enter(at.t, out);
        }
    }
}

/// A controller that Python computes.
pub struct PythonController {
    pub name: String,
    pub function: Py<PyAny>,
    pub period: f64,
    pub state: Vec<f64>,
    pub outputs: Vec<String>,
    pub raised: Raised,
}

impl fmt::Debug for PythonController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "controller {} of a Python function", self.name)
    }
}

impl SampledController for PythonController {
    fn name(&self) -> &str {
        &self.name
    }
    fn period(&self) -> f64 {
        self.period
    }
    fn initial_state(&self) -> &[f64] {
        &self.state
    }
    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn sample(&self, at: &Instant, state: &mut [f64], outputs: &mut [f64]) {
        let called = Python::attach(|py| {
            let (q, v) = (array(py, at.q.to_vec())?, array(py, at.v.to_vec())?);
            let function = self.function.bind(py);
            if state.is_empty() {
                return read("controller", &function.call1((at.t, q, v))?, outputs);
            }
            let answer = function.call1((at.t, q, v, array(py, state.to_vec())?))?;
            let pair = answer.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
            let Some(pair) = pair else {
                let message = "a controller with a state returns the pair (force, state)";
                return Err(PyTypeError::new_err(message));
            };
            read("controller", &pair.get_item(0)?, outputs)?;
            read("state of a controller", &pair.get_item(1)?, state)
        });
        if let Err(error) = called {
            self.raised.set(error);
            outputs.fill(f64::NAN);
        }
    }
}

/// Reads a list, an array, a sequence, or for one entry a number.
fn read(what: &str, answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let expected = out.len();
    let wrong = |found: usize| {
        let message = format!("the {what} has {found} entries, expected {expected}");
        Err(PyValueError::new_err(message))
    };
    if let Ok(list) = answer.cast::<PyList>() {
        if list.len() != out.len() {
            return wrong(list.len());
        }
        for (o, x) in out.iter_mut().zip(list) {
            *o = x.extract()?;
        }
    } else if let Ok(number) = answer.cast::<PyFloat>() {
        match out {
            [only] => *only = number.extract()?,
            _ => return wrong(1),
        }
    } else if let Some(found) = copied(answer, out)? {
        if found != expected {
            return wrong(found);
        }
    } else {
        // Number by number: other types, orders of bytes and strides are read as Python reads them.
        let list: Vec<f64> = answer.extract().map_err(|_| {
            let message = format!("the {what} is no list of {} numbers", out.len());
            PyTypeError::new_err(message)
        })?;
        if list.len() != out.len() {
            return wrong(list.len());
        }
        out.copy_from_slice(&list);
    }
    Ok(())
}
