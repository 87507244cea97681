//! Controllers in discrete time: what a computer that samples and holds does to a system.

use std::fmt::Debug;

use super::Instant;

/// A controller that reads the state at the instants t₀ + k·period and holds its outputs between them.
///
/// At a sample instant outputs and update read the same state of the controller: y_k = g(t, q, v, s_k), then
/// s_{k+1} = f(t, q, v, s_k), as a digital loop without computing delay does. Velocities are those after an impact at the
/// instant. Forces find the outputs in [`Instant::held`]. The controller itself is pure; whoever makes the run keeps its state.
pub trait SampledController: Send + Sync + Debug {
    /// Name of the controller.
    fn name(&self) -> &str;
    /// Time between samples, positive.
    fn period(&self) -> f64;
    /// State before the first sample.
    fn initial_state(&self) -> &[f64];
    /// Names of the outputs.
    fn outputs(&self) -> &[String];
    /// Writes the outputs at an instant from `state`, and moves the state on.
    fn sample(&self, at: &Instant, state: &mut [f64], outputs: &mut [f64]);
}
