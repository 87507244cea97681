//! The parts of a solve, and the workspace as its threads see it.

use super::alone::{Alone, AloneScratch};
use super::batch::{Bodies, Four};
use super::drive::drive;
use super::finish::FIRST_SWEEPS;
use super::group::{Group, Segment, Slot};
use super::patches;
use super::team::SpinBarrier;
use super::track::Track;
use crate::contact::Islands;
use crate::solvers::sweep::Instructions;
use std::ops::Range;

/// A group before and after its solve: ranges of the workspace, and what became of its islands.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) segments: Range<usize>,
    pub(super) by_lane: bool,
    /// Island of each track.
    pub(super) islands: [u32; 4],
    pub(super) tracks: [Track; 4],
    pub(super) contacts: usize,
    pub(super) sweeps: u32,
    /// Whether its islands have few enough bodies for Newton's method.
    pub(super) few_bodies: bool,
}

impl Part {
    /// Whether Newton's method is tried on what the first sweeps have not solved.
    pub(super) fn crawls(&self) -> bool {
        self.few_bodies && !self.is_done()
    }

    /// Whether an island of many bodies is left after all sweeps.
    pub(super) fn stalled(&self) -> bool {
        !self.few_bodies && !self.is_done()
    }

    /// Whether an island has no answer within the tolerance; what is better than before may have been taken.
    pub(super) fn is_left(&self, tolerance: f64) -> bool {
        self.tracks.iter().any(|track| track.is_left(tolerance))
    }

    /// Whether all islands have their answers.
    fn is_done(&self) -> bool {
        self.tracks.iter().all(|track| track.done || !track.present)
    }
}

/// Parts of their ways that contacts do not go where sweeps were in vain.
const DAMPINGS: [f64; 2] = [0.5, 0.8];

/// Visits that an island may take on its last sweeps: a tenth of a second.
const VISITS: u32 = 3_000_000;

/// Which sweeps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The first ones of all groups, before other methods are tried.
    First,
    /// Those left of groups that are not solved.
    Rest,
    /// All of them: no other method follows.
    Only,
}

/// The workspace as the threads of a solve see it.
pub(super) struct Shared<'a, B, const R: usize, const F: usize> {
    pub(super) how: Instructions,
    pub(super) tolerance: f64,
    pub(super) sweeps_max: u32,
    /// Whether small islands may take more sweeps than that.
    pub(super) patient: bool,
    pub(super) stage: Stage,
    pub(super) batches: *mut B,
    pub(super) best: *mut [[f64; 4]; R],
    pub(super) alone: *mut Alone,
    pub(super) velocity: Bodies,
    pub(super) previous: Bodies,
    pub(super) segments: &'a [Segment],
    pub(super) slots: &'a [Slot],
    pub(super) islands: &'a Islands,
    pub(super) parts: *mut Part,
    pub(super) ground: u32,
}

// SAFETY: parts use disjoint batches and bodies; a part is solved by the one thread that has drawn it, or by all threads
// together, which then follow the rules of `Group`.
unsafe impl<B, const R: usize, const F: usize> Sync for Shared<'_, B, R, F> {}

impl<B: Four<R, F>, const R: usize, const F: usize> Shared<'_, B, R, F> {
    /// Whether a part is solved by all threads together.
    pub(super) fn is_split(&self, part: usize) -> bool {
        // SAFETY: the ranges of parts do not change during a run.
        unsafe { (*self.parts.add(part)).segments.len() > 1 }
    }

    /// Sweeps that a part may take after a second-order method has failed: a small one as many as cost what a large one may cost.
    fn sweeps_of(&self, contacts: usize) -> u32 {
        let visits = if self.patient { VISITS } else { 0 };
        self.sweeps_max.max(visits / contacts.max(1) as u32)
    }

    /// Solves a part, or takes part in solving it.
    pub(super) fn solve(&self, part: usize, thread: usize, barrier: &SpinBarrier) {
        // SAFETY: as for the type; of several threads only the first writes, after the last barrier.
        let own = unsafe { (*self.parts.add(part)).clone() };
        let Part {
            segments,
            by_lane,
            islands,
            mut tracks,
            contacts,
            sweeps: swept,
            few_bodies,
        } = own;
        let sweeps_max = match self.stage {
            Stage::First if few_bodies => FIRST_SWEEPS.min(self.sweeps_max),
            Stage::First if self.patient => patches::FIRST_SWEEPS.min(self.sweeps_max),
            Stage::First | Stage::Only => self.sweeps_max,
            Stage::Rest if tracks.iter().all(|track| track.done || !track.present) => return,
            Stage::Rest if few_bodies => self.sweeps_of(contacts).saturating_sub(swept),
            Stage::Rest => self.sweeps_max.saturating_sub(swept),
        };
        // Contacts that are visited by themselves, as those with rolling friction, are known to no other method.
        let own_segments = &self.segments[segments.clone()];
        if self.stage == Stage::Rest
            && few_bodies
            && self.patient
            && own_segments.iter().any(|segment| !segment.alone.is_empty())
        {
            tracks.iter_mut().for_each(|track| track.last = true);
        }
        let group = Group {
            how: self.how,
            batches: self.batches,
            best: self.best,
            alone: self.alone,
            segments: own_segments,
            bodies: islands.map(|island| match island {
                u32::MAX => &[][..],
                island => &self.islands.bodies()[self.islands.body_range(island as usize)],
            }),
            by_lane,
            velocity: self.velocity,
            previous: self.previous,
            ground: self.ground,
            slots: &self.slots[segments],
            barrier,
        };
        let mut scratch = AloneScratch::default();
        let mut sweeps = drive(
            &group,
            thread,
            &mut tracks,
            self.tolerance,
            sweeps_max,
            &mut scratch,
        );
        // Where no other method follows: sweeps that go round in circles do not where every contact goes a part of its way.
        for damping in DAMPINGS {
            let left = |track: &Track| track.last && track.is_left(self.tolerance);
            if !tracks.iter().any(left) {
                break;
            }
            scratch.damping = damping;
            sweeps += drive(
                &group,
                thread,
                &mut tracks,
                self.tolerance,
                sweeps_max,
                &mut scratch,
            );
        }
        barrier.wait();
        if thread == 0 {
            // SAFETY: as above.
            unsafe {
                let part = &mut *self.parts.add(part);
                part.tracks = tracks;
                part.sweeps += sweeps;
            }
        }
        barrier.wait();
    }
}
