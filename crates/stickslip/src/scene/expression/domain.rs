//! Over which inputs an expression is looked at: times of a run, all states, in sizes that the scene itself gives.

use super::graph::Graph;

/// The times of a run and the state at its start.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    /// End of the run.
    pub until: f64,
    /// Coordinates and velocities at the start, from input 1 on; what is missing counts as zero.
    pub start: Vec<f64>,
}

impl Domain {
    /// The interval of an input.
    #[must_use]
    pub fn range(&self, input: usize) -> [f64; 2] {
        match input {
            0 => [0.0, self.until],
            Graph::SLIP => [0.0, f64::INFINITY],
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// An input at the start of the run.
    #[must_use]
    pub fn start(&self, input: usize) -> f64 {
        let place = input.checked_sub(1).and_then(|k| self.start.get(k));
        place.copied().unwrap_or(0.0)
    }
}
