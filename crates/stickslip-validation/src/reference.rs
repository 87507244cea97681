//! Motions computed event by event, for the families.

use stickslip::internals::{ReferenceEvent, ReferenceEventKind, ReferenceMotion};
use stickslip::stepping::{EventDrivenSettings, SweepingProcess};
use stickslip::systems::GeneralizedSystem;

use super::engine::{run_until, simulation};
use super::{Answer, CaseError};

/// A system with the start of its motion.
pub(super) struct Start {
    pub system: GeneralizedSystem,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

impl Start {
    /// The event-driven motion from here.
    pub fn reference(self) -> Reference {
        let settings = EventDrivenSettings::default();
        let solver = super::engine::solver();
        Reference {
            motion: ReferenceMotion::new(settings, solver, (&self.q, &self.v)),
            system: self.system,
        }
    }

    /// Configuration at `t_end`, which may lie behind the period, by the sweeping process with `steps` steps on `[0, period]`, linear
    /// between nodes.
    pub fn sweep(self, period: f64, steps: usize, t_end: f64) -> Result<Vec<f64>, CaseError> {
        let h = period / steps as f64;
        let scheme = Box::new(SweepingProcess::default());
        let mut run = simulation(self.system, scheme, (&self.q, &self.v), h, true)?;
        let mut before = (0.0, self.q);
        let mut found = None;
        run_until(&mut run, period.max(t_end), |record| {
            if found.is_none() && record.t >= t_end * (1.0 - 1e-13) {
                let part = (t_end - before.0) / (record.t - before.0);
                let q = before.1.iter().zip(&record.q);
                found = Some(q.map(|(a, b)| a + part * (b - a)).collect());
            }
            before = (record.t, record.q.clone());
            std::ops::ControlFlow::Continue(())
        })?;
        found.ok_or(CaseError::not_computed("the run ended early"))
    }
}

/// A running reference motion.
pub(super) struct Reference {
    pub motion: ReferenceMotion,
    pub system: GeneralizedSystem,
}

impl Reference {
    /// Goes on to `t`.
    pub fn run(&mut self, t: f64) -> Result<(), CaseError> {
        let outcome = self.motion.run_until(&self.system, t);
        if outcome.is_solved() {
            Ok(())
        } else {
            Err(CaseError::Step { t, outcome })
        }
    }

    /// Goes on from `t` until a stick begins, or never where `longest` after the start, which is an estimate of when it does, is not finite.
    pub fn run_to_rest(
        &mut self,
        t: f64,
        longest: f64,
    ) -> Result<Option<ReferenceEvent>, CaseError> {
        self.run(t)?;
        if !longest.is_finite() {
            return Ok(self
                .motion
                .events()
                .iter()
                .find(|event| sticks(event))
                .cloned());
        }
        let longest = longest.max(t);
        self.run_to_event(longest, 3.0 * longest, sticks)
    }

    /// Goes on in pieces of `piece` until an event satisfies the condition, at most to `t_max`.
    pub fn run_to_event(
        &mut self,
        piece: f64,
        t_max: f64,
        wanted: impl Fn(&ReferenceEvent) -> bool,
    ) -> Result<Option<ReferenceEvent>, CaseError> {
        let mut t = 0.0;
        loop {
            if let Some(event) = self.motion.events().iter().find(|event| wanted(event)) {
                return Ok(Some(event.clone()));
            }
            if t >= t_max {
                return Ok(None);
            }
            t += piece;
            self.run(t)?;
        }
    }
}

/// Whether an event begins a stick.
pub(super) fn sticks(event: &ReferenceEvent) -> bool {
    matches!(event.kind, ReferenceEventKind::Stick { .. })
}

/// Whether an event begins a slip.
pub(super) fn slips(event: &ReferenceEvent) -> bool {
    matches!(event.kind, ReferenceEventKind::Slip { .. })
}

/// Rows `[t, word, ...]` of the phases and impacts of one contact.
pub(super) fn event_rows(events: &[ReferenceEvent]) -> Vec<Answer> {
    events
        .iter()
        .filter_map(|event| {
            let word = match &event.kind {
                ReferenceEventKind::Slip { direction, .. } if direction[0] > 0.0 => "slip+",
                ReferenceEventKind::Slip { .. } => "slip-",
                ReferenceEventKind::Stick { .. } => "stick",
                ReferenceEventKind::Open => "free",
                ReferenceEventKind::Impact => {
                    let v = &event.velocity_before;
                    return Some(Answer::List(vec![
                        event.t.into(),
                        "impact".into(),
                        v[0].into(),
                        v[1].into(),
                    ]));
                }
                _ => return None,
            };
            Some(Answer::List(vec![event.t.into(), word.into()]))
        })
        .collect()
}
