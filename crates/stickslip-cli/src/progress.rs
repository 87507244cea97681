//! The progress of a run on the terminal.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use stickslip::internals::quantity::{digits, quantity};
use stickslip::scene::{SceneRun, SceneRunError};
use stickslip::simulation::{RunEnd, RunSummary, Simulation};

use crate::interrupt::Interrupt;

/// Ticks of a whole bar.
const TICKS: u64 = 10_000;

/// A bar with simulated time, contacts, worst residual, energy imbalance and steps per second, and the bodies of a world;
/// hidden where the error stream is no terminal.
pub struct Progress {
    bar: ProgressBar,
    until: f64,
    /// When and at which step the bar was first shown.
    start: Cell<Option<(Instant, u64)>>,
}

impl Progress {
    /// A bar for a run from time zero until `until`; `hidden` shows nothing.
    pub fn new(until: f64, hidden: bool) -> Self {
        if hidden {
            return Self {
                bar: ProgressBar::hidden(),
                until,
                start: Cell::new(None),
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
        Self {
            bar,
            until,
            start: Cell::new(None),
        }
    }

    /// Shows the state of the simulation.
    pub fn show(&self, simulation: &Simulation) {
        if self.bar.is_hidden() {
            return;
        }
        let t = simulation.state().t;
        let share = (t / self.until).clamp(0.0, 1.0);
        self.bar.set_position((share * TICKS as f64) as u64);
        let step = simulation.record().step;
        let (began, first) = self.start.get().unwrap_or_else(|| (Instant::now(), step));
        self.start.set(Some((began, first)));
        self.bar.set_message(message(
            simulation,
            (step - first) as f64 / began.elapsed().as_secs_f64().max(1e-9),
        ));
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Runs to the end or to Ctrl-C, under a bar.
pub fn drive(
    run: &mut SceneRun,
    interrupt: &Interrupt,
    hidden: bool,
) -> Result<(RunEnd, RunSummary), SceneRunError> {
    let progress = Progress::new(run.scene().settings.until, hidden);
    let end = run.advance(|simulation| {
        progress.show(simulation);
        if interrupt.raised() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    progress.clear();
    let end = end?;
    Ok((end, run.finish(end)?))
}

/// What the bar says beside its share.
fn message(simulation: &Simulation, speed: f64) -> String {
    let bodies = match simulation.system().as_world() {
        Some(world) => format!("{} bodies, ", world.bodies.len()),
        None => String::new(),
    };
    format!(
        "t {:.4} s, {bodies}{} contacts, residual {}, imbalance {}, {speed:.0} steps/s",
        simulation.state().t,
        simulation.record().active_contacts(),
        digits(simulation.certificate().worst(), 1),
        quantity(simulation.ledger().worst_imbalance, "J"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickslip::scene::{Scene, find_in_gallery};

    #[test]
    fn a_world_tells_its_bodies_contacts_and_speed() {
        let entry = find_in_gallery("heavy-tower").unwrap();
        let scene = Scene::parse(entry.source()).unwrap();
        let mut run = scene.simulation().unwrap();
        run.run_until(1.0, |_| std::ops::ControlFlow::Break(()));
        let text = message(&run, 1234.4);
        for part in ["11 bodies", "40 contacts", "1234 steps/s", "residual"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
