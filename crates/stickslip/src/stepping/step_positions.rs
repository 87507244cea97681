//! Positions of one theta step: where its laws are read, which contacts it admits, and how its end is corrected.

use crate::algebra::{assign, copy};
use crate::records::{StepOutcome, StepRecord};
use crate::systems::MechanicalSystem;

use super::assembly::{ActiveContact, ContactAssembly};
use super::position_projection::{PositionCorrection, PositionProjection, Projection, can_drift};

/// Buffers of the positions of a step.
#[derive(Debug, Default)]
pub(crate) struct StepPositions {
    prepared: bool,
    /// Frames are those of the place reached with the velocity of the start after (1 − θ) h.
    pub moved: bool,
    /// The body turns: it coasts to that place and on from it.
    pub coasting: bool,
    /// The end position is projected on joints and curved obstacles, and contacts that it would leave behind are admitted.
    pub corrected: bool,
    /// The end position is projected where it overshot a flat obstacle.
    pub overshoots: bool,
    /// Constraints that take part.
    pub chosen: Vec<usize>,
    /// Constraints that an earlier solve of this step let through.
    crossed: Vec<bool>,
    /// Whether there are any.
    any_crossed: bool,
    /// Gaps at the end of the step.
    pub gaps: Vec<f64>,
    /// End of the last step that was completed, whose gaps are those at the start of the next.
    pub ends_at: Option<f64>,
    held: Vec<usize>,
    place: Vec<f64>,
    velocity: Vec<f64>,
    projection: PositionProjection,
}

impl StepPositions {
    /// Asks once what the system is like.
    pub fn prepare(&mut self, projection: Projection, system: &dyn MechanicalSystem) {
        if self.prepared {
            return;
        }
        let correction = PositionCorrection::of(projection, system, system.turns());
        self.moved = correction == PositionCorrection::Path;
        self.coasting = self.moved && system.turns();
        self.corrected = self.moved && can_drift(system);
        self.overshoots = correction != PositionCorrection::None && !self.corrected;
        self.place.resize(system.coordinate_count(), 0.0);
        self.velocity.resize(system.dof(), 0.0);
        self.prepared = true;
    }

    /// Buffers for the place of the laws and the velocity there.
    pub fn lend(&mut self) -> (Vec<f64>, Vec<f64>) {
        (
            std::mem::take(&mut self.place),
            std::mem::take(&mut self.velocity),
        )
    }

    /// Takes the buffers back.
    pub fn take_back(&mut self, place: Vec<f64>, velocity: Vec<f64>) {
        self.place = place;
        self.velocity = velocity;
    }

    /// Starts a step.
    #[inline]
    pub fn begin(&mut self, system: &dyn MechanicalSystem) {
        let count = system.constraints().len();
        if self.corrected && (self.any_crossed || self.crossed.len() != count) {
            self.crossed.clear();
            self.crossed.resize(count, false);
            self.any_crossed = false;
        }
        if self.corrected || self.overshoots {
            self.projection.reset(system.dof());
        }
    }

    /// Whether a contact that the forecast lets open takes part all the same: it touches and was pressed until now, or
    /// the step went through it without.
    #[inline]
    pub fn stays(
        &self,
        c: usize,
        assembly: &ContactAssembly,
        impulses: &[f64],
        closed: impl Fn(f64) -> bool,
    ) -> bool {
        if !self.corrected {
            return false;
        }
        let pressed = || {
            let slots = assembly.layout.slots();
            let first = slots.partition_point(|slot| slot.key.constraint() < c);
            let mut own = slots[first..]
                .iter()
                .take_while(|slot| slot.key.constraint() == c);
            own.any(|slot| impulses[slot.start] > 0.0)
        };
        self.crossed[c] || (closed(assembly.gaps[c]) && pressed())
    }

    /// Gaps at the end of the step; `Err` names one that is no number.
    pub fn end_gaps(
        &mut self,
        system: &dyn MechanicalSystem,
        t: f64,
        q: &[f64],
    ) -> Result<(), StepOutcome> {
        self.gaps.clear();
        for (c, constraint) in system.constraints().iter().enumerate() {
            let gap = constraint.gap().value(t, q);
            if !gap.is_finite() {
                return Err(StepOutcome::GapNotFinite { constraint: c });
            }
            self.gaps.push(gap);
        }
        Ok(())
    }

    /// Admits the contacts that took no part and are left behind at the end; false if there are none.
    pub fn admit_crossed(&mut self, assembly: &ContactAssembly, q_end: &[f64]) -> bool {
        let mut new = false;
        for (c, &gap) in self.gaps.iter().enumerate() {
            if gap < 0.0
                && gap < -assembly.gap_rounding(c, q_end)
                && !self.crossed[c]
                && self.chosen.binary_search(&c).is_err()
            {
                self.crossed[c] = true;
                new = true;
            }
        }
        self.any_crossed |= new;
        new
    }

    /// Chooses the contacts that touched at the start of the step and were steadily closed in it.
    pub fn hold(
        &mut self,
        assembly: &ContactAssembly,
        touching: impl Fn(usize) -> bool,
        steady: impl Fn(&ActiveContact) -> bool,
    ) {
        self.held.clear();
        for contact in assembly.active.iter().filter(|c| c.owns_normal) {
            let c = assembly.layout.slots()[contact.slot].key.constraint();
            if touching(c) && self.held.last() != Some(&c) && steady(contact) {
                self.held.push(c);
            }
        }
    }

    /// Chooses the contacts that came to rest below their obstacle, beyond its rounding; whether there are any. Others that
    /// are below bounce, and leave by themselves: brought back, alone or beside those at rest, a ball would gain the height of
    /// its depth at each impact, and never come to rest.
    pub fn overshot(
        &mut self,
        assembly: &ContactAssembly,
        q_end: &[f64],
        rests: impl Fn(&ActiveContact) -> bool,
    ) -> bool {
        self.held.clear();
        for contact in assembly.active.iter().filter(|c| c.owns_normal) {
            let c = assembly.layout.slots()[contact.slot].key.constraint();
            let below = self.gaps[c] < -assembly.gap_rounding(c, q_end);
            if below && self.held.last() != Some(&c) && rests(contact) {
                self.held.push(c);
            }
        }
        if self.held.is_empty() {
            return false;
        }
        let rounding = |c| assembly.gap_rounding(c, q_end);
        let (gaps, held) = (&self.gaps, &self.held);
        self.projection.spare_others(gaps, held, rounding);
        true
    }

    /// Projects the end position; whether it moved.
    pub fn project(&mut self, system: &dyn MechanicalSystem, t: f64, q: &mut [f64]) -> bool {
        let nothing = self.held.is_empty() && system.joints().is_empty();
        if nothing && self.gaps.iter().all(|&gap| gap >= 0.0) {
            return false;
        }
        let moved = self
            .projection
            .project(system, (t, &self.gaps), q, &self.held);
        if moved {
            copy(&mut self.gaps, self.projection.gaps());
        }
        moved
    }

    /// The end position of the last projection before it was moved.
    pub fn free_end(&self) -> &[f64] {
        self.projection.start()
    }

    /// Gaps at the end and the displacement of the projection.
    #[inline]
    pub fn fill_record(&self, record: &mut StepRecord) {
        for contact in &mut record.contacts {
            contact.gap = self.gaps[contact.key.constraint()];
        }
        assign(&mut record.projection, &self.projection.displacement);
    }
}
