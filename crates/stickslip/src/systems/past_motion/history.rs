//! The motion before the start.

use std::fmt;
use std::sync::Arc;

/// Value of a coordinate at a time before the start.
pub type HistoryFunction = dyn Fn(usize, f64) -> f64 + Send + Sync;

/// The motion on [−τ, 0], τ the longest delay; times count from the start of the run.
#[derive(Clone, Default)]
pub enum InitialHistory {
    /// `q₀ + v₀ s`: the initial velocity is the left derivative at the start.
    #[default]
    Uniform,
    /// At rest at q₀.
    Rest,
    /// `(coordinate, s) ↦ value` for s ≤ 0.
    Function(Arc<HistoryFunction>),
    /// Configurations at increasing times, the last one 0, affine between them.
    Samples {
        /// Times, −τ or earlier first, 0 last.
        times: Vec<f64>,
        /// One configuration for each time.
        values: Vec<Vec<f64>>,
    },
}

impl InitialHistory {
    /// History given by a closure of coordinate and time.
    pub fn function(value: impl Fn(usize, f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(value))
    }

    /// Value of coordinate `i` at `s ≤ 0`.
    pub(crate) fn value(&self, i: usize, s: f64, (q, v): (&[f64], &[f64])) -> f64 {
        match self {
            Self::Uniform => q[i] + s * v.get(i).copied().unwrap_or(0.0),
            Self::Rest => q[i],
            Self::Function(value) => value(i, s),
            Self::Samples { times, values } => {
                let j = times.partition_point(|&t| t <= s).clamp(1, times.len() - 1) - 1;
                let weight = ((s - times[j]) / (times[j + 1] - times[j])).clamp(0.0, 1.0);
                values[j][i] + weight * (values[j + 1][i] - values[j][i])
            }
        }
    }

    /// Times at which the history becomes nodes: where it is affine the fewest that keep it exact.
    pub(crate) fn nodes(&self, delay_max: f64) -> Vec<f64> {
        match self {
            Self::Uniform | Self::Rest => vec![-delay_max, 0.0],
            Self::Function(_) => (0..=64)
                .map(|j| delay_max * (j as f64 / 64.0 - 1.0))
                .collect(),
            Self::Samples { times, .. } => {
                let mut nodes = vec![-delay_max];
                nodes.extend(times.iter().copied().filter(|&t| t > -delay_max));
                nodes
            }
        }
    }

    /// Whether values between nodes come from the closure.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }
}

impl fmt::Debug for InitialHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => write!(f, "Uniform"),
            Self::Rest => write!(f, "Rest"),
            Self::Function(_) => write!(f, "Function(..)"),
            Self::Samples { times, .. } => write!(f, "Samples({} times)", times.len()),
        }
    }
}
