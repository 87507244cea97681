//! One island on its way to the tolerance: momentum, estimates of the error, the best point.
//!
//! # What it computes
//!
//! Nesterov's β = (θ − 1)/θ⁺, at most a cap; an estimate of the residual from the change of the last sweep, calibrated by former checks; the residual
//! |F|/max(|r|, |ρ q|) at every check, |F| the natural map or the worst part of a contact where that is larger: what a certificate asks for. Momentum is given up, to grow again from nothing, when Σ (y − r)·(r − x)/ρ > 0, and when the change δ = |r − y|/|r| of a
//! sweep is [`GROWTH`] times the smallest since the last time: then the cap shrinks too. While neither happens the cap returns to one, slowly.
//!
//! # Source
//!
//! Momentum as in [`accelerated_gauss_seidel`](crate::solvers::accelerated_gauss_seidel), not projected: velocities
//! are linear in the impulses, so that extrapolation costs one pass over the bodies. The cap that adapts is our own.
//!
//! # Guarantees
//!
//! Only checked points are answers; the best of them is returned.
//!
//! # Behaviour to know
//!
//! With a third of the contacts sliding full momentum cycles at 1e-3 to 1e-4, and the first rule never sees it; packs at rest want it all. The second rule tells
//! them apart. Sweeps to 1e-8, means over 37 steps of drums, columns and packs of a thousand balls, half of them steps that were hard before, unsolved ones
//! counted as 1,500 (and solved ones): full momentum 568 (28), a cap of 0.75 499 (31), the second rule alone 398 (34), both 389 (34). Growth 1.5 or 2, shrinking
//! to 0.9, a least cap of 0.5 or 0.7 do alike; changing between rules where the residual is not halved does worse.
//!
//! # Cost
//!
//! A check costs as much as half a sweep.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

/// Growth of the change of a sweep, over its least since momentum began, at which momentum is given up.
const GROWTH: f64 = 1.2;
/// What the cap is multiplied by then, what it is at least, and what it regains in a sweep.
const SHRINKING: f64 = 0.95;
const LEAST_CAP: f64 = 0.6;
const REGAIN: f64 = 0.001;

/// Sweeps without halving of the residual after which other methods are worth more.
const PATIENCE: u32 = 500;
/// The same where no other method knows the laws: of the steps of `grain-column`, with rolling friction, one stands still for 600.
const LAST_PATIENCE: u32 = 3000;

/// An island whose guess is within this many tolerances is nearly at rest: it is swept to a part of the tolerance, for so many sweeps at most. What is left of its
/// velocities adds to the residual of the next step, so that it would else be packed anew for one sweep in every step. A pyramid of 819 boxes is found at rest in most steps then
/// (9.3 and 7.2 ms).
pub(super) const NEARLY_AT_REST: f64 = 10.0;
const FURTHER: f64 = 0.3;
const FURTHER_SWEEPS: u32 = 6;

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
    /// Whether momentum keeps its strength where the changes of the sweeps grow.
    pub(super) full: bool,
    /// Whether no other method knows the laws.
    pub(super) last: bool,
    /// Whether the guess was nearly a solution.
    pub(super) near: bool,
    /// Residual and sweep at the last halving.
    mark: (f64, u32),
    idle: bool,
    theta: f64,
    beta: f64,
    /// Largest β, and the smallest change of a sweep since momentum began.
    cap: f64,
    least: f64,
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

    /// Whether there is no answer within the tolerance.
    pub(super) fn is_left(&self, tolerance: f64) -> bool {
        self.present && !(self.best <= tolerance)
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

    /// Whether the residual has not been halved for long: more sweeps lead nowhere.
    pub(super) fn gives_up(&self) -> bool {
        self.idle
    }

    /// Makes ready for sweeps from a new point.
    pub(super) fn start(&mut self) {
        self.cap = 1.0;
        self.idle = false;
        self.mark = (f64::INFINITY, 0);
        self.best = f64::INFINITY;
        (self.calibration, self.raw) = (UNKNOWN, 0.0);
        self.since_check = 0;
        self.restart();
    }

    /// Forgets the momentum.
    pub(super) fn restart(&mut self) {
        (self.theta, self.beta, self.least) = (1.0, 0.0, f64::INFINITY);
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
        self.steer(against);
        let aim = if self.near { FURTHER } else { 1.0 } * tolerance;
        (self.calibration != UNKNOWN && self.calibration * self.raw <= aim)
            || self.since_check >= 20 + sweep / 4
            || (self.near && sweep == FURTHER_SWEEPS)
    }

    /// Momentum of the next sweep, from the sign and the change of the last one.
    fn steer(&mut self, against: f64) {
        if self.raw > GROWTH * self.least && !self.full {
            self.cap = (SHRINKING * self.cap.min(self.beta.max(LEAST_CAP))).max(LEAST_CAP);
            self.restart();
        } else if against > 0.0 {
            self.restart();
        } else {
            self.least = self.least.min(self.raw);
            self.cap = (self.cap + REGAIN).min(1.0);
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
            self.beta = ((self.theta - 1.0) / next).min(self.cap);
            self.theta = next;
        }
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
        let further = self.near && sweep < FURTHER_SWEEPS;
        self.done = self.best <= if further { FURTHER } else { 1.0 } * tolerance;
        if self.best <= 0.5 * self.mark.0 {
            self.mark = (self.best, sweep);
        }
        let patience = if self.last { LAST_PATIENCE } else { PATIENCE };
        self.idle = sweep >= self.mark.1 + patience;
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
