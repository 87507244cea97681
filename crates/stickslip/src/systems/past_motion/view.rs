//! The past as a force sees it.

use super::motion::Tip;
use super::{FunctionIntegral, PastIntegral, PastMotion, WindowMaximum};

/// The motion up to and including the instant of evaluation.
///
/// Between the last node and the instant the motion is affine. Where no past was recorded (when a
/// system is checked as it is built) the motion counts as having rested at q for ever.
#[derive(Clone, Copy, Debug)]
pub struct PastView<'a> {
    past: Option<&'a PastMotion>,
    t: f64,
    q: &'a [f64],
    v: &'a [f64],
}

impl<'a> PastView<'a> {
    pub(crate) fn new(past: Option<&'a PastMotion>, t: f64, q: &'a [f64], v: &'a [f64]) -> Self {
        Self { past, t, q, v }
    }

    fn tip(&self) -> Tip<'a> {
        Tip {
            t: self.t,
            q: self.q,
            v: self.v,
        }
    }

    /// Time of the instant.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Configuration at the instant.
    pub fn q(&self) -> &'a [f64] {
        self.q
    }

    /// Coordinate `i` at `t − tau`; NaN, which stops the run with a word, for a delay that is
    /// negative or longer than announced.
    pub fn delayed(&self, i: usize, tau: f64) -> f64 {
        match self.past {
            Some(past) => past.at(i, past.time_of(tau, &self.tip()), &self.tip()),
            None => self.q[i],
        }
    }

    /// Velocity of coordinate `i` at `t − tau`: the slope of its piece, from the right at a node. It
    /// jumps where the velocity jumps, so the force is not continuous at delayed impacts.
    pub fn delayed_velocity(&self, i: usize, tau: f64) -> f64 {
        match self.past {
            Some(past) => past.velocity_at(i, past.time_of(tau, &self.tip()), &self.tip()),
            None => 0.0,
        }
    }

    /// Maximum of ψ over its window.
    pub fn maximum(&self, handle: &WindowMaximum) -> f64 {
        match self.past {
            Some(past) => past.maximum(handle.index, &self.tip()),
            None => handle.psi.of(self.q.len(), |i| self.q[i]),
        }
    }

    /// Distributed delay.
    pub fn integral(&self, handle: &PastIntegral) -> f64 {
        match self.past {
            Some(past) => past.integral(handle.index, &self.tip()),
            None => self.q[handle.coordinate] * handle.mass,
        }
    }

    /// Mean over the window of a distributed delay, weighted by its kernel.
    pub fn mean(&self, handle: &PastIntegral) -> f64 {
        self.integral(handle) / handle.mass
    }

    /// Integral of a function over its window, weighted by its kernel.
    pub fn function_integral(&self, handle: &FunctionIntegral) -> f64 {
        match self.past {
            Some(past) => past.integral_of(handle, &self.tip()),
            None => handle.mass * handle.function.of(self.q.len(), |i| self.q[i]),
        }
    }

    /// Mean of a function over its window, weighted by its kernel.
    pub fn function_mean(&self, handle: &FunctionIntegral) -> f64 {
        self.function_integral(handle) / handle.mass
    }

    /// Largest distance of the listed coordinates from where they are now, over the last `window`:
    /// zero at rest, `|v| window` in steady sliding.
    pub fn deviation(&self, coordinates: &[usize], window: f64) -> f64 {
        match self.past {
            Some(past) => past.deviation(coordinates, window, &self.tip()),
            None => 0.0,
        }
    }
}
