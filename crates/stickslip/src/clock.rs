//! The only place that reads a clock.
//!
//! Times are told (how long a solve took) and limit work (`SolverLimits::time`, the interval between checkpoints); no
//! number of a result depends on them. WebAssembly without a host (`wasm32-unknown-unknown`) has no clock: there
//! every time is zero and a limit on time never acts, so give a limit on iterations instead.

use std::time::Duration;

/// Time since a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    start: std::time::Instant,
}

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            start: std::time::Instant::now(),
        }
    }

    /// Time since the start; zero where there is no clock.
    pub(crate) fn elapsed(&self) -> Duration {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return self.start.elapsed();
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        return Duration::ZERO;
    }

    /// Seconds since the start or the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let seconds = self.elapsed().as_secs_f64();
        *self = Self::start();
        seconds
    }
}
