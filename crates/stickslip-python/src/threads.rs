//! Which threads a call may use.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

static ALONE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// A pool of this thread alone.
    static OWN: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// From now on a call of this process computes on the thread that made it: for workers, of which there are as many as cores. It also
/// spares processes that were forked the pool of their parent, whose threads they do not have. Numbers do not depend on it.
#[pyfunction]
pub fn work_alone() {
    ALONE.store(true, Ordering::Relaxed);
}

/// Computes while other threads have the interpreter.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        if !ALONE.load(Ordering::Relaxed) {
            return work();
        }
        OWN.with(|own| {
            let make = || {
                let builder = ThreadPoolBuilder::new().num_threads(1);
                builder.use_current_thread().build().ok()
            };
            match own.get_or_init(make) {
                Some(pool) => pool.install(work),
                // A thread of a pool already.
                None => work(),
            }
        })
    })
}
