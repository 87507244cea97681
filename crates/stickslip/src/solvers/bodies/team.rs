//! Threads that go through the same loop side by side and meet at barriers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A barrier that spins: the parts of a sweep between two meetings last microseconds.
#[derive(Debug)]
pub(super) struct SpinBarrier {
    threads: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
}

/// Looks at the generation before the thread offers its core to others.
const SPINS: usize = 2000;

impl SpinBarrier {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Waits for all threads. What they wrote before is seen by all afterwards.
    pub(super) fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation + 1, Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            assert!(
                !self.broken.load(Ordering::Relaxed),
                "another thread of the solve has panicked"
            );
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Runs `work` on all threads, this one included, with the index of the thread.
    pub(super) fn run<T: Send>(&self, work: impl Fn(usize) -> T + Sync) -> T {
        if self.threads == 1 {
            return work(0);
        }
        let guarded = |thread: usize| {
            let guard = Guard(self);
            let out = work(thread);
            std::mem::forget(guard);
            out
        };
        std::thread::scope(|scope| {
            let guarded = &guarded;
            for thread in 1..self.threads {
                scope.spawn(move || {
                    guarded(thread);
                });
            }
            guarded(0)
        })
    }
}

/// Breaks the barrier when a thread unwinds, so that the others do not wait for it.
struct Guard<'a>(&'a SpinBarrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.broken.store(true, Ordering::Relaxed);
    }
}
