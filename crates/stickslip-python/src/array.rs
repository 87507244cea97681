//! Numbers that change hands without a copy.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{ffi, types::PyAny};

/// Numbers of the engine, which Python reads through the buffer protocol and cannot change.
#[pyclass(frozen, module = "stickslip._stickslip")]
pub struct Numbers(Arc<Vec<f64>>);

impl Numbers {
    /// Shares numbers that nobody changes any more.
    pub fn new(numbers: Arc<Vec<f64>>) -> Self {
        Self(numbers)
    }
}

#[pymethods]
impl Numbers {
    /// Number of numbers.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// # Safety
    /// `view` is a buffer to be filled, as the protocol says.
    unsafe fn __getbuffer__(
        this: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let numbers = &this.get().0;
        let (start, bytes) = (numbers.as_ptr(), size_of_val(numbers.as_slice()));
        // The view holds a reference to `this`, whose vector is neither changed nor moved while it lives: the Arc is
        // never given out mutably (the class is frozen). The memory is marked read-only.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                this.as_ptr(),
                start as *mut c_void,
                bytes as ffi::Py_ssize_t,
                1,
                flags,
            )
        };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(this.py())),
        }
    }
}

static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The numbers as a NumPy array that owns them.
pub fn array<'py>(py: Python<'py>, numbers: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
    let from_buffer = FROM_BUFFER.get_or_try_init(py, || {
        py.import("numpy")?.getattr("frombuffer").map(Bound::unbind)
    })?;
    // numpy.frombuffer refuses what is empty.
    if numbers.is_empty() {
        return py.import("numpy")?.call_method1("empty", (0,));
    }
    from_buffer
        .bind(py)
        .call1((Numbers::new(Arc::new(numbers)),))
}

/// The numbers of a contiguous array of floats.
pub fn floats(object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    PyBuffer::<f64>::get(object)?.to_vec(object.py())
}

/// The indices of a contiguous array of 64-bit integers.
pub fn indices(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let found = PyBuffer::<i64>::get(object)?.to_vec(object.py())?;
    let index = |i: i64| usize::try_from(i).map_err(|_| PyValueError::new_err("negative index"));
    found.into_iter().map(index).collect()
}
