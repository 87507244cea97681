//! Numbers that change hands without a copy.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::intern;
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

static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A NumPy array whose memory can be filled again once Python has let go of it: making one costs more than a small step.
pub struct Reused {
    array: Py<PyAny>,
    memory: PyBuffer<f64>,
    /// References while nobody else has any.
    own: isize,
}

impl Reused {
    fn new(py: Python<'_>, size: usize) -> PyResult<Self> {
        let empty = EMPTY.get_or_try_init(py, || {
            py.import("numpy")?.getattr("empty").map(Bound::unbind)
        })?;
        let array = empty.bind(py).call1((size,))?;
        let memory = PyBuffer::<f64>::get(&array)?;
        // The object is alive.
        let own = unsafe { ffi::Py_REFCNT(array.as_ptr()) };
        Ok(Self {
            array: array.unbind(),
            memory,
            own,
        })
    }

    /// An array of these numbers: the one before, if neither it nor a view of it is held by Python, or another one.
    pub fn filled(before: Option<Self>, py: Python<'_>, numbers: &[f64]) -> PyResult<Self> {
        // The object is alive; views of its memory hold references to it.
        let free = |one: &Self| unsafe { ffi::Py_REFCNT(one.array.as_ptr()) } == one.own;
        let before = before.filter(|one| one.memory.item_count() == numbers.len() && free(one));
        let one = match before {
            Some(one) => one,
            None => Self::new(py, numbers.len())?,
        };
        // The buffer keeps the memory of a fresh contiguous array of as many numbers, to which only this object refers.
        unsafe {
            let place = one.memory.buf_ptr().cast::<f64>();
            std::ptr::copy_nonoverlapping(numbers.as_ptr(), place, numbers.len());
        }
        Ok(one)
    }

    /// The array.
    pub fn array<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.array.bind(py)
    }
}

static FLOAT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Copies a contiguous NumPy array of floats and returns how many it has, of which nothing is copied if they are not as many as
/// asked for; none of anything else. Faster than a buffer of any format, which forces would ask for at every call.
pub fn copied(object: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<Option<usize>> {
    let py = object.py();
    let float = FLOAT.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        numpy.call_method1("dtype", ("float64",)).map(Bound::unbind)
    })?;
    // There is one object for the type of all arrays of floats.
    let kind = object.getattr_opt(intern!(py, "dtype"))?;
    if !kind.is_some_and(|kind| kind.is(float)) {
        return Ok(None);
    }
    let mut view = MaybeUninit::<ffi::Py_buffer>::uninit();
    // The object is alive, and the view is filled where the answer is zero.
    let filled =
        unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_SIMPLE) };
    if filled != 0 {
        // Not contiguous: the other way tells or takes it.
        drop(PyErr::take(py));
        return Ok(None);
    }
    // The view is filled, contiguous, of floats, and released after it was read; interpreters that are attached do not write meanwhile.
    unsafe {
        let mut view = view.assume_init();
        let count = usize::try_from(view.len).unwrap_or(0) / size_of::<f64>();
        if count == out.len() && count > 0 {
            std::ptr::copy_nonoverlapping(
                view.buf.cast::<u8>(),
                out.as_mut_ptr().cast(),
                8 * count,
            );
        }
        ffi::PyBuffer_Release(&mut view);
        Ok(Some(count))
    }
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
