//! Lengths of steps: fixed, or by the error of a whole step against its halves.

use super::super::step_control::{self, StepControl};
use super::Simulation;

impl Simulation {
    /// Length and end of the next step, and whether it is cut short.
    pub(super) fn next_step(&mut self, t_end: f64) -> (f64, f64, bool) {
        match self.settings.control {
            StepControl::Fixed { h } => {
                // Times are multiples of h, not sums, so that rounding does not accumulate.
                let whole = self.step + 1 - self.cuts;
                let t_next = self.settings.t_start + whole as f64 * h;
                if t_next > t_end + 1e-9 * h {
                    (t_end - self.state.t, t_end, true)
                } else if self.cut {
                    (t_next - self.state.t, t_next, false)
                } else {
                    (h, t_next, false)
                }
            }
            StepControl::Adaptive {
                tolerance,
                h_min,
                h_max,
                ..
            } => {
                if self.planned.is_empty() {
                    self.plan(t_end, tolerance, h_min, h_max);
                }
                // plan() always leaves at least one step
                let h = self.planned.pop().expect("a planned step");
                let t_next = self.state.t + h;
                if t_next >= t_end - 1e-9 * h {
                    (t_end - self.state.t, t_end, false)
                } else {
                    (h, t_next, false)
                }
            }
        }
    }

    /// Finds a step whose two halves agree with the whole, and plans the halves.
    fn plan(&mut self, t_end: f64, tolerance: f64, h_min: f64, h_max: f64) {
        self.saved.clone_from(&self.state);
        let certificate = self.stage.certificate.clone();
        let record = std::mem::take(&mut self.record);
        loop {
            let h = self.h.min(t_end - self.saved.t).max(h_min);
            let whole = self.trial(&[h]).then(|| self.state.q.clone());
            let halves = self
                .trial(&[0.5 * h, 0.5 * h])
                .then(|| self.state.q.clone());
            let error = match (whole, halves) {
                (Some(a), Some(b)) => self.sizes.difference(&a, &b) / tolerance,
                _ => f64::INFINITY,
            };
            let proposal = (h * step_control::growth(error)).clamp(h_min, h_max);
            if error <= 1.0 || h <= h_min {
                self.h = proposal;
                self.planned.extend([0.5 * h, 0.5 * h]);
                break;
            }
            self.h = proposal;
        }
        self.state.clone_from(&self.saved);
        self.stage.certificate = certificate;
        self.record = record;
        self.retract();
    }

    /// Makes the given steps from the saved state; false if one of them failed.
    pub(super) fn trial(&mut self, steps: &[f64]) -> bool {
        self.state.clone_from(&self.saved);
        self.retract();
        for &h in steps {
            let t = self.state.t + h;
            self.advance(h, t);
            if self.record.outcome.is_fatal() {
                return false;
            }
        }
        true
    }

    /// Nodes of trial steps leave no trace in the past.
    pub(super) fn retract(&mut self) {
        if let Some(past) = &mut self.past {
            past.retract();
        }
    }
}
