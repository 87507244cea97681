//! Events of the event-driven integration, and functions whose zeros are events.

use std::fmt;
use std::sync::Arc;

use crate::contact::ContactKey;
use crate::records::{Event, EventKind};

/// What happened at an event.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceEventKind {
    /// An impact.
    Impact,
    /// An impact without collision (Painlevé).
    Jam,
    /// Bounces that fall below the resolution; they would accumulate at `end`.
    Accumulation {
        /// End of the geometric series of flights.
        end: f64,
    },
    /// The contact is open from here on.
    Open,
    /// A frictionless contact is closed from here on.
    Closed,
    /// A group of tangents sticks from here on.
    Stick {
        /// The group: 0, or the factor of a product section.
        group: usize,
    },
    /// A group of tangents slips from here on.
    Slip {
        /// The group: 0, or the factor of a product section.
        group: usize,
        /// Direction in which slip begins.
        direction: Vec<f64>,
        /// Whether it slid already and turns about.
        turns: bool,
    },
    /// A watched function changed sign.
    Watched(usize),
}

/// An event with the state around it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceEvent {
    /// Time.
    pub t: f64,
    /// Constraint (`usize::MAX` for watched functions).
    pub constraint: usize,
    /// Point of the constraint.
    pub point: usize,
    /// What happened.
    pub kind: ReferenceEventKind,
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity before.
    pub velocity_before: Vec<f64>,
    /// Velocity after.
    pub velocity: Vec<f64>,
    /// Normal velocity of the contact before (negative: approaching).
    pub approach: f64,
    /// Normal impulse of the contact at an impact.
    pub impulse: f64,
    /// Energy that all contacts gave at an impact (negative: took).
    pub energy: f64,
    /// Impacts of an accumulation, of all contacts that took part in it.
    pub impacts: u64,
}

impl ReferenceEvent {
    pub(super) fn is_impact(&self) -> bool {
        matches!(
            self.kind,
            ReferenceEventKind::Impact | ReferenceEventKind::Jam
        )
    }

    /// The event as records keep it; none for what they do not.
    pub(super) fn located(&self) -> Option<Event> {
        let (kind, t) = match self.kind {
            ReferenceEventKind::Impact => (EventKind::Impact, self.t),
            ReferenceEventKind::Jam => (EventKind::TangentialImpact, self.t),
            ReferenceEventKind::Accumulation { end } => (EventKind::Accumulation, end),
            ReferenceEventKind::Open => (EventKind::LiftOff, self.t),
            ReferenceEventKind::Stick { .. } => (EventKind::Stick, self.t),
            ReferenceEventKind::Slip { turns: false, .. } => (EventKind::Slip, self.t),
            // What slides on, the other way, does not begin to slip.
            ReferenceEventKind::Slip { turns: true, .. }
            | ReferenceEventKind::Closed
            | ReferenceEventKind::Watched(_) => return None,
        };
        Some(Event {
            t,
            contact: ContactKey::declared(self.constraint, self.point),
            kind,
            approach: self.approach,
            impulse: self.impulse,
            energy: self.energy,
            count: self.impacts,
        })
    }
}

/// A function of (t, q, v) whose zeros are recorded.
#[derive(Clone)]
pub struct WatchFunction(pub(super) Arc<dyn Fn(f64, &[f64], &[f64]) -> f64 + Send + Sync>);

impl WatchFunction {
    pub(super) fn value(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        (self.0)(t, q, v)
    }
}

impl fmt::Debug for WatchFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WatchFunction(..)")
    }
}
