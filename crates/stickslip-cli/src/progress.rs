//! The progress of a run on the terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use stickslip::simulation::Simulation;

/// Ticks of a whole bar.
const TICKS: u64 = 10_000;

/// A bar with simulated time, contacts, worst residual and energy imbalance; hidden where the error
/// stream is no terminal.
pub struct Progress {
    bar: ProgressBar,
    until: f64,
}

impl Progress {
    /// A bar for a run from time zero until `until`; `hidden` shows nothing.
    pub fn new(until: f64, hidden: bool) -> Self {
        if hidden {
            return Self {
                bar: ProgressBar::hidden(),
                until,
            };
        }
        let bar = ProgressBar::new(TICKS);
        // The template is a constant that the crate accepts.
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}% {msg} ({eta} left)");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        // Short runs end before a bar would be of use.
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, until }
    }

    /// Shows the state of the simulation.
    pub fn show(&self, simulation: &Simulation) {
        if self.bar.is_hidden() {
            return;
        }
        let t = simulation.state().t;
        let share = (t / self.until).clamp(0.0, 1.0);
        self.bar.set_position((share * TICKS as f64) as u64);
        self.bar.set_message(format!(
            "t {t:.4} s, {} contacts, residual {:.0e}, imbalance {:.0e} J",
            simulation.record().active_contacts(),
            simulation.certificate().worst(),
            simulation.ledger().worst_imbalance
        ));
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
