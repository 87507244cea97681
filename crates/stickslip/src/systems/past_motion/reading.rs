//! What a system reads of its past.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::{InitialHistory, Kernel};

/// Why a reading of the past was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PastError {
    /// A delay that looks into the future or is not a number.
    #[error("{what} is {value}: a delay must be a positive finite number, the future is not known")]
    Delay {
        /// Which delay or window.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The shortest delay is longer than the longest.
    #[error("the shortest delay {min} is longer than the longest, {max}")]
    DelayRange {
        /// Shortest.
        min: f64,
        /// Longest.
        max: f64,
    },
    /// The kernel of a distributed delay cannot be integrated.
    #[error("the kernel over the last {tau} is not integrable: {reason}")]
    Kernel {
        /// Length of the window.
        tau: f64,
        /// What is wrong.
        reason: String,
    },
    /// A coordinate that does not exist.
    #[error("coordinate {coordinate} is read from the past, the system has {count}")]
    Coordinate {
        /// The index.
        coordinate: usize,
        /// Number of coordinates.
        count: usize,
    },
    /// Sampled history with unordered times, missing values or too short.
    #[error("the sampled history is not usable: {reason}")]
    Samples {
        /// What is wrong.
        reason: String,
    },
    /// The history does not end at the initial configuration.
    #[error("the history of `{coordinate}` ends at {found}, the motion starts at {expected}")]
    Jump {
        /// Coordinate.
        coordinate: String,
        /// Value of the history at the start.
        found: f64,
        /// Initial value.
        expected: f64,
    },
    /// The history leaves the admissible set.
    #[error("the history violates `{constraint}`: gap {gap} at time {time} before the start")]
    Inadmissible {
        /// Constraint.
        constraint: String,
        /// Gap.
        gap: f64,
        /// Time, negative.
        time: f64,
    },
    /// A value of the history is not finite.
    #[error("the history of `{coordinate}` is {value} at time {time}")]
    NonFinite {
        /// Coordinate.
        coordinate: String,
        /// Value.
        value: f64,
        /// Time, negative.
        time: f64,
    },
    /// A delay shorter than the step.
    #[error(
        "the delay {delay} is shorter than the step {step}: the scheme `{scheme}` would need the unknown end of \
         the step; take a step of at most {delay}"
    )]
    ShorterThanStep {
        /// Shortest delay.
        delay: f64,
        /// Step.
        step: f64,
        /// Scheme.
        scheme: &'static str,
    },
}

type Function = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A function of some coordinates, read of the past.
#[derive(Clone)]
pub struct PastFunction {
    pub(crate) coordinates: Arc<[usize]>,
    value: Arc<Function>,
    switches: Arc<[Arc<Function>]>,
}

impl PastFunction {
    /// The function `value` of a configuration, of which only the listed coordinates are filled in.
    pub fn new(
        coordinates: &[usize],
        value: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            coordinates: coordinates.into(),
            value: Arc::new(value),
            switches: Arc::new([]),
        }
    }

    /// The same, with functions that change their sign wherever it may jump or bend, inner ones first: its integrals are cut there.
    #[must_use]
    pub fn with_switches(
        self,
        switches: impl IntoIterator<Item = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>>,
    ) -> Self {
        Self {
            switches: switches.into_iter().collect(),
            ..self
        }
    }

    /// Its value where coordinate i of `count` has the value `at(i)`.
    pub(crate) fn of(&self, count: usize, at: impl Fn(usize) -> f64) -> f64 {
        (self.value)(&self.filled(count, at))
    }

    /// Number of its switches.
    pub(crate) fn switches(&self) -> usize {
        self.switches.len()
    }

    /// The value of switch `k` there.
    pub(crate) fn switch_of(&self, k: usize, count: usize, at: impl Fn(usize) -> f64) -> f64 {
        (self.switches[k])(&self.filled(count, at))
    }

    fn filled(&self, count: usize, at: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut q = vec![0.0; count];
        for &i in self.coordinates.iter() {
            q[i] = at(i);
        }
        q
    }
}

impl PartialEq for PastFunction {
    fn eq(&self, other: &Self) -> bool {
        self.coordinates == other.coordinates && Arc::ptr_eq(&self.value, &other.value)
    }
}

impl fmt::Debug for PastFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PastFunction({:?})", self.coordinates)
    }
}

/// The quantity whose maximum over a window is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Psi {
    /// A coordinate.
    Coordinate(usize),
    /// Its negative: the maximum is minus the minimum of the coordinate.
    Negative(usize),
    /// Its absolute value.
    Absolute(usize),
    /// A function of coordinates.
    Function(PastFunction),
}

impl Psi {
    /// Its value where coordinate i of `count` has the value `at(i)`.
    pub(crate) fn of(&self, count: usize, at: impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Coordinate(i) => at(*i),
            Self::Negative(i) => -at(*i),
            Self::Absolute(i) => at(*i).abs(),
            Self::Function(function) => function.of(count, at),
        }
    }

    /// The coordinates it reads.
    pub(crate) fn coordinates(&self) -> &[usize] {
        match self {
            Self::Coordinate(i) | Self::Negative(i) | Self::Absolute(i) => std::slice::from_ref(i),
            Self::Function(function) => &function.coordinates,
        }
    }

    /// Whether its largest value over an affine piece lies at an end of it.
    pub(crate) fn is_convex(&self) -> bool {
        !matches!(self, Self::Function(_))
    }
}

/// Handle of an integral of a function over a window.
#[derive(Clone, Debug)]
pub struct FunctionIntegral {
    pub(crate) function: PastFunction,
    pub(crate) kernel: Kernel,
    pub(crate) edges: Arc<[f64]>,
    pub(crate) window: f64,
    pub(crate) mass: f64,
}

/// Handle of a window maximum.
#[derive(Clone, Debug)]
pub struct WindowMaximum {
    pub(crate) index: usize,
    pub(crate) psi: Psi,
    pub(crate) window: f64,
}

/// Handle of a distributed delay.
#[derive(Clone, Debug)]
pub struct PastIntegral {
    pub(crate) index: usize,
    pub(crate) coordinate: usize,
    pub(crate) mass: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct IntegralSpec {
    pub coordinate: usize,
    pub tau: f64,
    pub kernel: Kernel,
    /// Of the panels on which the kernel is resolved.
    pub edges: Arc<[f64]>,
}

/// What a system reads of its past: delays, windows, integrals, and the history before the start.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::systems::past_motion::PastReading;
///
/// // x'' = −4 x(t − 0.25), at rest at 1 before the start: until 0.25 s the acceleration is −4.
/// let mut reading = PastReading::new();
/// reading.point_delay(0.25)?;
/// let oscillator = GeneralizedSystem::builder(["x"])
///     .mass_diagonal(&[1.0])
///     .delayed_force(reading, |past, _v, out| out[0] = -4.0 * past.delayed(0, 0.25))
///     .build(&[1.0])?;
/// let mut run = Simulation::of(oscillator, (&[1.0], &[0.0]), 1.0 / 64.0)?;
/// run.run_until(0.25, |_| ControlFlow::Continue(()));
/// assert!((run.state().q[0] - 0.875).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PastReading {
    coordinates: Option<Vec<usize>>,
    delays: Vec<f64>,
    delay_min: Option<f64>,
    delay_max: f64,
    pub(crate) maxima: Vec<WindowMaximum>,
    pub(crate) integrals: Vec<IntegralSpec>,
    history: InitialHistory,
}

impl PastReading {
    /// A reading of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps only these coordinates (default: all of them).
    pub fn observe(&mut self, coordinates: &[usize]) -> &mut Self {
        let mut list = coordinates.to_vec();
        list.sort_unstable();
        list.dedup();
        self.coordinates = Some(list);
        self
    }

    /// Announces a constant point delay.
    pub fn point_delay(&mut self, tau: f64) -> Result<(), PastError> {
        self.varying_delay(tau, tau)?;
        self.delays.push(tau);
        Ok(())
    }

    /// Announces a delay that varies between two bounds.
    pub fn varying_delay(&mut self, min: f64, max: f64) -> Result<(), PastError> {
        let min = positive("the delay", min)?;
        let max = positive("the delay", max)?;
        if min > max {
            return Err(PastError::DelayRange { min, max });
        }
        self.delay_min = Some(self.delay_min.map_or(min, |old| old.min(min)));
        self.delay_max = self.delay_max.max(max);
        Ok(())
    }

    /// Announces that the last `window` is looked at (deviation from rest, closures).
    pub fn window(&mut self, window: f64) -> Result<(), PastError> {
        self.delay_max = self.delay_max.max(positive("the window", window)?);
        Ok(())
    }

    /// Maximum of ψ over the last `window`, O(1) a step.
    pub fn window_maximum(&mut self, window: f64, psi: Psi) -> Result<WindowMaximum, PastError> {
        self.window(window)?;
        let handle = WindowMaximum {
            index: self.maxima.len(),
            psi,
            window,
        };
        self.maxima.push(handle.clone());
        Ok(handle)
    }

    /// `∫ k(t − s) x(s) ds` over the last `tau` of a coordinate.
    pub fn integral(
        &mut self,
        coordinate: usize,
        tau: f64,
        kernel: Kernel,
    ) -> Result<PastIntegral, PastError> {
        self.window(tau)?;
        let edges = edges_of(&kernel, tau)?;
        let handle = PastIntegral {
            index: self.integrals.len(),
            coordinate,
            mass: kernel.mass(&edges, tau),
        };
        // The state of a weight that grows with the age grows without bound.
        let kernel = match kernel {
            Kernel::Exponential { rate } if rate < 0.0 => {
                Kernel::general(move |s| (-rate * s).exp())
            }
            kernel => kernel,
        };
        self.integrals.push(IntegralSpec {
            coordinate,
            tau,
            kernel,
            edges,
        });
        Ok(handle)
    }

    /// `∫ k(t − s) ψ(q(s)) ds` over the last `tau`, O(tau/h) a step.
    pub fn function_integral(
        &mut self,
        function: PastFunction,
        tau: f64,
        kernel: Kernel,
    ) -> Result<FunctionIntegral, PastError> {
        self.window(tau)?;
        let edges = edges_of(&kernel, tau)?;
        Ok(FunctionIntegral {
            function,
            window: tau,
            mass: kernel.mass(&edges, tau),
            kernel,
            edges,
        })
    }

    /// The motion before the start (default: uniform with the initial velocity).
    pub fn history(&mut self, history: InitialHistory) -> Result<&mut Self, PastError> {
        if let InitialHistory::Samples { times, values } = &history {
            let fault = if times.len() < 2 || times.len() != values.len() {
                Some("it needs at least two times and one configuration for each".to_string())
            } else if times.windows(2).any(|pair| !(pair[0] < pair[1])) {
                Some("its times do not increase".to_string())
            } else if times[times.len() - 1] != 0.0 {
                Some("its last time is not 0".to_string())
            } else {
                None
            };
            if let Some(reason) = fault {
                return Err(PastError::Samples { reason });
            }
        }
        self.history = history;
        Ok(self)
    }

    /// The motion before the start.
    pub(crate) fn initial_history(&self) -> &InitialHistory {
        &self.history
    }

    /// The observed coordinates of a system with `count` of them.
    pub fn coordinates(&self, count: usize) -> Vec<usize> {
        self.coordinates
            .clone()
            .unwrap_or_else(|| (0..count).collect())
    }

    /// The longest look back.
    pub(crate) fn delay_max(&self) -> f64 {
        self.delay_max
    }

    /// The shortest point delay.
    pub(crate) fn delay_min(&self) -> Option<f64> {
        self.delay_min
    }

    /// The constant point delays.
    pub(crate) fn delays(&self) -> &[f64] {
        &self.delays
    }

    /// Whether nothing of the past is read.
    pub fn is_empty(&self) -> bool {
        self.delay_max == 0.0
    }
}

/// Edges of the panels of a kernel that can be integrated.
fn edges_of(kernel: &Kernel, tau: f64) -> Result<Arc<[f64]>, PastError> {
    let edges = match kernel.fault(tau) {
        None => kernel.edges(tau),
        Some(reason) => Err(reason),
    };
    edges.map_err(|reason| PastError::Kernel { tau, reason })
}

fn positive(what: &'static str, value: f64) -> Result<f64, PastError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(PastError::Delay { what, value })
    }
}
