//! One island on its way to the tolerance: momentum, estimates of the error, the best point.
//!
//! # What it computes
//!
//! Nesterov's β = (θ − 1)/θ⁺, at most the cap, restarted when Σ (y − r)·(r − x)/ρ > 0; an estimate of the residual from the change of the
//! last sweep, calibrated by former checks; the residual |F|/max(|r|, |ρ q|) at every check.
//!
//! # Source
//!
//! Momentum as in [`accelerated_gauss_seidel`](crate::solvers::accelerated_gauss_seidel), not projected: velocities
//! are linear in the impulses, so that extrapolation costs one pass over the bodies.
//!
//! # Guarantees
//!
//! Only checked points are answers; the best of them is returned.
//!
//! # Behaviour to know
//!
//! Full momentum where few contacts slide, else a cap: with a third of the contacts sliding full momentum cycles at 1e-3 to
//! 1e-4. The share is read from the guess, the solution of the step before, since the share in the running iteration
//! fluctuates. Where the residual is not halved in [`PATIENCE`] sweeps the next of [`CAPS`] is tried.
//!
//! # Cost
//!
//! A check costs as much as half a sweep.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

/// Share of sliding contacts among those that press from which momentum is capped, and the cap. Measured on collapsing columns and
/// drums: caps 0.6, 0.7, 0.8, 0.85, 0.9 take 320, 252, 218, 277, 369 and 245, 173, 191, 238, 366 sweeps.
pub(super) const SLIDING_SHARE: f64 = 0.12;
pub(super) const CAP: f64 = 0.75;

/// Sweeps without halving of the residual after which momentum is capped lower.
const PATIENCE: u32 = 100;
/// The caps tried in turn; after the last one the second again.
const CAPS: [f64; 5] = [1.0, CAP, 0.5, 0.9, 0.0];

/// The calibration before any sweep.
const UNKNOWN: f64 = 0.0;

/// Progress of one island.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Track {
    /// Whether there is an island at all.
    pub(super) present: bool,
    pub(super) done: bool,
    /// Whether the answer came from another method and is not in the batches.
    pub(super) elsewhere: bool,
    /// Σ |ρ q|².
    pub(super) free_size: f64,
    /// Contacts of the guess that press and that slide.
    pub(super) pressing: u32,
    pub(super) sliding: u32,
    /// Place in the caps, and how many of them in a row have not halved the residual.
    cap: usize,
    idle_caps: usize,
    /// Residual and sweep at the last halving.
    mark: (f64, u32),
    theta: f64,
    beta: f64,
    calibration: f64,
    raw: f64,
    since_check: u32,
    /// Residual of the best point, and its |F|² and |r|².
    pub(super) best: f64,
    pub(super) map: f64,
    pub(super) size: f64,
}

impl Track {
    /// An island about to be solved.
    pub(super) fn new() -> Self {
        Self {
            present: true,
            ..Self::default()
        }
    }

    /// The residual of an answer with |F|² and |r|².
    pub(super) fn residual(&self, map: f64, size: f64) -> f64 {
        residual(map, size.max(self.free_size))
    }

    /// Takes the answer of another method, |F|² and |r|², over.
    pub(super) fn set_elsewhere(&mut self, map: f64, size: f64) {
        (self.map, self.size) = (map, size);
        self.best = self.residual(map, size);
        (self.done, self.elsewhere) = (true, true);
    }

    /// Whether no amount of momentum has halved the residual: more sweeps lead nowhere.
    pub(super) fn gives_up(&self) -> bool {
        self.idle_caps >= CAPS.len()
    }

    /// Whether many of the contacts that press slide, by the guess.
    pub(super) fn flows(&self) -> bool {
        f64::from(self.sliding) > SLIDING_SHARE * f64::from(self.pressing.max(1))
    }

    /// Makes ready for sweeps from a new point.
    pub(super) fn start(&mut self) {
        self.cap = usize::from(self.flows());
        self.idle_caps = 0;
        self.mark = (f64::INFINITY, 0);
        self.best = f64::INFINITY;
        (self.calibration, self.raw) = (UNKNOWN, 0.0);
        self.since_check = 0;
        self.restart();
    }

    /// Forgets the momentum.
    pub(super) fn restart(&mut self) {
        (self.theta, self.beta) = (1.0, 0.0);
    }

    /// Momentum of the next sweep.
    pub(super) fn beta(&self) -> f64 {
        self.beta
    }

    /// Takes the sums of a sweep in; true if the residual should be checked.
    pub(super) fn after_sweep(&mut self, sums: [f64; 3], sweep: u32, tolerance: f64) -> bool {
        let [change, against, size] = sums;
        self.raw = (change / size.max(self.free_size).max(f64::MIN_POSITIVE)).sqrt();
        self.since_check += 1;
        if self.calibration == UNKNOWN {
            self.calibrate(self.best);
        }
        if against > 0.0 {
            self.restart();
        } else {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
            self.beta = ((self.theta - 1.0) / next).min(CAPS[self.cap]);
            self.theta = next;
        }
        (self.calibration != UNKNOWN && self.calibration * self.raw <= tolerance)
            || self.since_check >= 20 + sweep / 4
    }

    /// Relates the change of the last sweep to a residual; before the first sweep there is nothing to relate.
    fn calibrate(&mut self, residual: f64) {
        self.calibration = if self.raw > 0.0 {
            (0.9 * residual / self.raw).clamp(0.3, 1000.0)
        } else {
            UNKNOWN
        };
    }

    /// Takes the residual of the present point in; true if it is the best so far.
    pub(super) fn after_check(&mut self, map: f64, size: f64, sweep: u32, tolerance: f64) -> bool {
        self.since_check = 0;
        let residual = residual(map, size.max(self.free_size));
        self.calibrate(residual);
        let better = residual < self.best;
        if better {
            (self.best, self.map, self.size) = (residual, map, size);
        }
        self.done = self.best <= tolerance;
        if self.best <= 0.5 * self.mark.0 {
            self.mark = (self.best, sweep);
            self.idle_caps = 0;
        } else if sweep >= self.mark.1 + PATIENCE {
            self.idle_caps += 1;
            // Momentum leads nowhere: less of it.
            self.cap = if self.cap + 1 == CAPS.len() {
                1
            } else {
                self.cap + 1
            };
            self.mark = (self.best, sweep);
            self.restart();
        }
        better
    }
}

fn residual(map: f64, scale: f64) -> f64 {
    if map == 0.0 {
        0.0
    } else {
        (map / scale).sqrt()
    }
}
