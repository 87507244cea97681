//! The memory of the solver: contacts packed by island, kept from step to step.

use super::alone::Alone;
use super::batch::{Bodies, Four, PreparedContact, stride};
use super::finish::{MOST_BODIES, put_back};
use super::group::{Segment, Slot};
use super::newton_krylov::NewtonKrylov;
use super::packing::{read, restart};
use super::partition::{Partition, levels};
use super::patches::Patches;
use super::rest::{Rest, Sums};
use super::schedule::Schedule;
use super::shared::{Part, Shared, Stage};
use super::solver::{BodySweepOutcome, BodySweepSettings, OnlySweeps};
use super::team::SpinBarrier;
use super::track::{NEARLY_AT_REST, Track};
use crate::contact::Islands;
use crate::contact::{BodyOperator, ContactBlock, SPEED_ROUNDING};
use crate::solvers::sweep::Instructions;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is to be solved.
pub(super) struct Problem<'a> {
    pub(super) operator: &'a BodyOperator,
    pub(super) free: &'a [f64],
    pub(super) blocks: &'a [ContactBlock],
    /// Rounding of its velocities.
    pub(super) noise: f64,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        operator: &'a BodyOperator,
        free: &'a [f64],
        blocks: &'a [ContactBlock],
    ) -> Self {
        let speed = free.iter().fold(0.0, |speed, q| q.abs().max(speed));
        Self {
            operator,
            free,
            blocks,
            noise: SPEED_ROUNDING * speed,
        }
    }
}

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Line([f64; 8]);

/// Contact and rotation of the tangents of a lane.
type LaneOwner = (u32, [f64; 2]);

/// A lane without contact.
const EMPTY: LaneOwner = (u32::MAX, [1.0, 0.0]);

/// Islands with fewer contacts are put side by side in the four lanes: by itself a tower or a few balls on a floor would fill one lane.
const SMALL: usize = 256;

/// Contacts below which a solve stays on one thread: starting another takes as long as a sweep over 2,000 contacts.
const MANY: usize = 2000;

/// Everything a solve needs.
#[derive(Debug, Default)]
pub(super) struct Workspace<B, const R: usize, const F: usize> {
    islands: Islands,
    rest: Rest,
    /// Measure of the islands at rest.
    at_rest: Sums,
    partition: Partition,
    schedule: Schedule,
    /// As many as there were at most so far; those of the present problem have lanes.
    batches: Vec<B>,
    best: Vec<[[f64; 4]; R]>,
    lanes: Vec<[LaneOwner; 4]>,
    alone: Vec<Alone>,
    segments: Vec<Segment>,
    slots: Vec<Slot>,
    parts: Vec<Part>,
    small: Vec<u32>,
    /// Islands whose impulses another method has found.
    elsewhere: Vec<bool>,
    /// Newton's method for islands that sweeps do not solve, once one was met.
    krylov: Option<Box<NewtonKrylov>>,
    /// Patches of large islands, once one was met that the first sweeps do not solve.
    patches: Option<Box<Patches>>,
    /// Contacts of a split island by segment.
    sorted: Vec<(u32, u32, u32)>,
    /// Bodies of the problem; the ground is the one behind the last.
    bodies: usize,
    velocity: Vec<Line>,
    previous: Vec<Line>,
}

impl<B: Four<R, F>, const R: usize, const F: usize> Workspace<B, R, F> {
    /// Solves a problem from the guess in `impulse`.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        settings: &BodySweepSettings,
        how: Instructions,
        impulse: &mut [f64],
    ) -> BodySweepOutcome {
        let tolerance = settings.tolerance;
        self.islands.find(problem.operator);
        self.elsewhere.clear();
        self.elsewhere.resize(self.islands.count(), false);
        self.rest.find::<R>(
            problem,
            &self.islands,
            tolerance,
            impulse,
            &mut self.elsewhere,
        );
        let mut outcome = self.sweep(problem, settings, how, tolerance, impulse);
        // Islands within the tolerance by their own measure may add up to √2 of it.
        if outcome.unsolved == 0 && outcome.residual > tolerance {
            let (sweeps, newton) = (outcome.sweeps, outcome.newton);
            self.elsewhere.fill(false);
            outcome = self.sweep(problem, settings, how, 0.7 * tolerance, impulse);
            outcome.sweeps += sweeps;
            outcome.newton += newton;
        }
        outcome
    }

    /// Sweeps all islands and tries nothing else.
    pub(super) fn only_sweep(
        &mut self,
        problem: &Problem,
        sweeps: &OnlySweeps,
        how: Instructions,
        impulse: &mut [f64],
    ) -> BodySweepOutcome {
        let settings = BodySweepSettings {
            tolerance: sweeps.tolerance,
            sweeps_max: sweeps.sweeps_max,
            rounds_max: 0,
            threads: 1,
        };
        self.islands.find(problem.operator);
        self.elsewhere.clear();
        self.elsewhere.resize(self.islands.count(), false);
        self.pack(problem, impulse);
        for part in &mut self.parts {
            part.tracks.iter_mut().for_each(|t| t.full = sweeps.full);
        }
        self.run(&settings, how, sweeps.tolerance, Stage::Only);
        self.write(problem, impulse);
        self.outcome(sweeps.tolerance)
    }

    /// Sweeps the islands that are not solved elsewhere.
    fn sweep(
        &mut self,
        problem: &Problem,
        settings: &BodySweepSettings,
        how: Instructions,
        tolerance: f64,
        impulse: &mut [f64],
    ) -> BodySweepOutcome {
        self.pack(problem, impulse);
        for part in &mut self.parts {
            for (track, island) in part.tracks.iter_mut().zip(part.islands) {
                if track.present {
                    let sums = self.rest.sums(island as usize);
                    track.near = sums.within(NEARLY_AT_REST * tolerance);
                }
            }
        }
        let at_rest = self.elsewhere.iter().filter(|&&solved| solved).count();
        let mut newton = 0;
        // Islands of few bodies on which sweeps crawl are left to Newton's method; the others are swept on.
        self.run(settings, how, tolerance, Stage::First);
        let mut left = self.parts.iter().any(|part| part.crawls());
        if left {
            self.write(problem, impulse);
            newton = self.finish(problem, tolerance, impulse, Part::crawls, |own, few| {
                own.solve(tolerance, few, settings.rounds_max)
            });
        }
        // Large ones that a few contacts hold up are solved around these.
        if settings.rounds_max > 0 && self.parts.iter().any(|part| part.stalled()) {
            self.write(problem, impulse);
            self.solve_patches(problem, tolerance, impulse);
            left = true;
        }
        if left {
            self.run(settings, how, tolerance, Stage::Rest);
        }
        // What all sweeps have left: large islands.
        if self.parts.iter().any(|part| part.stalled()) {
            self.write(problem, impulse);
            newton += self.finish(problem, tolerance, impulse, Part::stalled, |own, few| {
                own.solve(tolerance, few, settings.rounds_max)
            });
        }
        // What everything has left.
        let left = |part: &Part| part.is_left(tolerance);
        if settings.rounds_max > 0 && self.parts.iter().any(left) {
            self.write(problem, impulse);
            newton += self.finish(problem, tolerance, impulse, left, |own, _| {
                own.solve_last(tolerance)
            });
        }
        let mut outcome = self.outcome(settings.tolerance);
        outcome.islands += at_rest as u32;
        outcome.newton = newton;
        self.write(problem, impulse);
        outcome
    }

    /// Finds the islands and writes their contacts into batches.
    fn pack(&mut self, problem: &Problem, impulse: &[f64]) {
        let bodies = problem.operator.bodies();
        self.bodies = bodies;
        self.schedule.begin(bodies);
        self.lanes.clear();
        self.alone.clear();
        self.segments.clear();
        self.parts.clear();
        self.small.clear();
        self.at_rest = Sums::default();
        for island in 0..self.islands.count() {
            if self.elsewhere[island] {
                self.at_rest.add(self.rest.sums(island));
            } else if self.islands.contacts(island).len() < SMALL {
                self.small.push(island as u32);
            } else {
                self.pack_whole(problem, impulse, island);
            }
        }
        // Islands of like size share the four lanes.
        let mut small = std::mem::take(&mut self.small);
        let islands = &self.islands;
        small.sort_unstable_by_key(|&island| {
            let contacts = islands.contacts(island as usize).len();
            (std::cmp::Reverse(contacts), island)
        });
        for four in small.chunks(4) {
            self.pack_by_lane(problem, impulse, four);
        }
        self.small = small;
        for (batch, lanes) in self.batches.iter_mut().zip(&self.lanes) {
            for (lane, owner) in lanes.iter().enumerate() {
                if owner.0 == u32::MAX {
                    batch.clear_lane(lane, bodies as u32);
                }
            }
        }
        self.best.resize(self.batches.len(), [[0.0; 4]; R]);
        let lines = ((bodies + 1) * stride(F)).div_ceil(8);
        self.velocity.resize(lines, Line::default());
        self.previous.resize(lines, Line::default());
        // The ground, behind the last body, stands still whatever was there before.
        let velocity: *mut f64 = self.velocity.as_mut_ptr().cast();
        for k in 0..stride(F) {
            // SAFETY: there is room for it.
            unsafe { *velocity.add(bodies * stride(F) + k) = 0.0 };
        }
        if self.slots.len() < self.segments.len() {
            self.slots.resize_with(self.segments.len(), Slot::default);
        }
    }

    /// An island on its own, split in parts if it is large.
    fn pack_whole(&mut self, problem: &Problem, impulse: &[f64], island: usize) {
        let count = self.islands.contacts(island).len();
        let levels = levels(count);
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        if levels > 0 {
            let bodies = &self.islands.bodies()[self.islands.body_range(island)];
            let contacts = self.islands.contacts(island);
            self.partition
                .split(problem.operator, contacts, bodies, levels);
        }
        for &contact in self.islands.contacts(island) {
            let (stage, segment) = if levels > 0 {
                let sides = problem.operator.sides(contact as usize);
                self.partition.segment(sides)
            } else {
                (0, 0)
            };
            sorted.push((stage, segment, contact));
        }
        if levels > 0 {
            // Contacts of an island ascend, so this keeps their order inside a segment.
            sorted.sort_unstable();
        }
        let mut track = Track::new();
        let start = self.segments.len();
        for segment in sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            self.pack_segment(problem, impulse, segment, &mut track);
        }
        self.sorted = sorted;
        let mut tracks = [Track::default(); 4];
        tracks[0] = track;
        self.parts.push(Part {
            segments: start..self.segments.len(),
            by_lane: false,
            islands: [island as u32, u32::MAX, u32::MAX, u32::MAX],
            tracks,
            contacts: count,
            sweeps: 0,
            few_bodies: self.islands.body_range(island).len() <= MOST_BODIES,
        });
    }

    fn pack_segment(
        &mut self,
        problem: &Problem,
        impulse: &[f64],
        contacts: &[(u32, u32, u32)],
        track: &mut Track,
    ) {
        let (first, first_alone) = (self.lanes.len(), self.alone.len());
        for &(_, _, contact) in contacts {
            let contact = contact as usize;
            let prepared = B::prepare(problem, contact);
            let sides = problem.operator.sides(contact);
            let place = self.schedule.place(first, sides, prepared.is_none());
            self.open_batches();
            match (prepared, place.lane) {
                (Some(prepared), Some(lane)) => {
                    self.put(
                        problem,
                        impulse,
                        &prepared,
                        contact,
                        (place.batch, lane),
                        track,
                    );
                }
                _ => {
                    let alone = Alone::new(
                        problem.operator,
                        contact,
                        place.batch,
                        &problem.blocks[contact],
                        (problem.free, problem.noise),
                        impulse,
                    );
                    track.free_size += alone.free_size();
                    self.alone.push(alone);
                }
            }
        }
        self.segments.push(Segment {
            batches: first..self.lanes.len(),
            alone: first_alone..self.alone.len(),
            stage: contacts[0].0,
        });
    }

    /// Up to four islands, the largest first, each in a lane of its own.
    fn pack_by_lane(&mut self, problem: &Problem, impulse: &[f64], four: &[u32]) {
        let first = self.lanes.len();
        self.schedule
            .add_full(self.islands.contacts(four[0] as usize).len());
        self.open_batches();
        let mut tracks = [Track::default(); 4];
        let mut contacts = 0;
        for (lane, &island) in four.iter().enumerate() {
            let mut track = Track::new();
            for k in 0..self.islands.contacts(island as usize).len() {
                let contact = self.islands.contacts(island as usize)[k] as usize;
                let Some(prepared) = B::prepare(problem, contact) else {
                    // A contact of another law: each island by itself.
                    for batch in first..self.lanes.len() {
                        self.lanes[batch] = [EMPTY; 4];
                    }
                    for &island in four {
                        self.pack_whole(problem, impulse, island as usize);
                    }
                    return;
                };
                self.put(
                    problem,
                    impulse,
                    &prepared,
                    contact,
                    (first + k, lane),
                    &mut track,
                );
                contacts += 1;
            }
            tracks[lane] = track;
        }
        let start = self.segments.len();
        self.segments.push(Segment {
            batches: first..self.lanes.len(),
            alone: 0..0,
            stage: 0,
        });
        let mut islands = [u32::MAX; 4];
        islands[..four.len()].copy_from_slice(four);
        self.parts.push(Part {
            segments: start..start + 1,
            by_lane: true,
            islands,
            tracks,
            contacts,
            sweeps: 0,
            few_bodies: true,
        });
    }

    /// Makes the batches that the schedule has counted.
    fn open_batches(&mut self) {
        while self.lanes.len() < self.schedule.batches() {
            if self.lanes.len() == self.batches.len() {
                self.batches.push(B::default());
            }
            self.lanes.push([EMPTY; 4]);
        }
    }

    /// Writes a prepared contact into its batch and lane.
    fn put(
        &mut self,
        problem: &Problem,
        impulse: &[f64],
        prepared: &B::Prepared,
        contact: usize,
        (batch, lane): (usize, usize),
        track: &mut Track,
    ) {
        let ground = problem.operator.bodies() as u32;
        let guess = &impulse[problem.operator.rows_of(contact)];
        self.batches[batch].write(prepared, lane, ground, guess);
        self.lanes[batch][lane] = (contact as u32, prepared.turn());
        track.free_size += prepared.free_size();
    }

    /// A form of Newton's method for the islands that are not solved, told whether they have few bodies; their number.
    fn finish(
        &mut self,
        problem: &Problem,
        tolerance: f64,
        impulse: &mut [f64],
        wanted: impl Fn(&Part) -> bool,
        solve: impl Fn(&mut NewtonKrylov, bool) -> Option<(f64, f64)>,
    ) -> u32 {
        let mut tried = 0;
        let own = self.krylov.get_or_insert_default();
        for part in self.parts.iter_mut().filter(|part| wanted(part)) {
            for (track, island) in part.tracks.iter_mut().zip(part.islands) {
                if !track.is_left(tolerance) {
                    continue;
                }
                let contacts = self.islands.contacts(island as usize);
                let bodies = &self.islands.bodies()[self.islands.body_range(island as usize)];
                let copy = &mut own.island.problem;
                if copy.copy(problem, contacts, bodies, impulse).is_none() {
                    continue;
                }
                tried += 1;
                // Small islands that are not solved are swept on.
                let enough = if part.few_bodies {
                    tolerance
                } else {
                    track.best
                };
                if let Some((map, size)) = solve(own, part.few_bodies)
                    && track.residual(map, size) <= enough
                {
                    put_back(
                        &own.island.problem.impulse,
                        problem.operator,
                        contacts,
                        impulse,
                    );
                    track.set_elsewhere(map, size);
                    self.elsewhere[island as usize] = true;
                }
            }
        }
        tried
    }

    /// Large islands that the first sweeps have left, around the contacts that hold them up; what is better than before is gone on with.
    fn solve_patches(&mut self, problem: &Problem, tolerance: f64, impulse: &mut [f64]) {
        let own = self.patches.get_or_insert_default();
        for part in self.parts.iter_mut().filter(|part| part.stalled()) {
            let (track, island) = (&mut part.tracks[0], part.islands[0] as usize);
            let contacts = self.islands.contacts(island);
            let bodies = &self.islands.bodies()[self.islands.body_range(island)];
            let copy = &mut own.island.problem;
            if copy.copy(problem, contacts, bodies, impulse).is_none() {
                continue;
            }
            let Some((map, size)) = own.run(tolerance) else {
                continue;
            };
            let residual = track.residual(map, size);
            if !(residual < track.best) {
                continue;
            }
            put_back(
                &own.island.problem.impulse,
                problem.operator,
                contacts,
                impulse,
            );
            if residual <= tolerance {
                track.set_elsewhere(map, size);
                self.elsewhere[island] = true;
                continue;
            }
            for segment in &self.segments[part.segments.clone()] {
                for batch in segment.batches.clone() {
                    for (lane, &(contact, turn)) in self.lanes[batch].iter().enumerate() {
                        if contact != u32::MAX {
                            let rows = problem.operator.rows_of(contact as usize);
                            restart::<B, R, F>(
                                &mut self.batches[batch],
                                lane,
                                turn,
                                &impulse[rows],
                            );
                        }
                    }
                }
                for alone in &mut self.alone[segment.alone.clone()] {
                    let rows = problem.operator.rows_of(alone.contact);
                    alone.x.copy_from_slice(&impulse[rows]);
                }
            }
        }
    }

    /// Sweeps groups to the tolerance: large islands by all threads together, the others one thread each.
    fn run(
        &mut self,
        settings: &BodySweepSettings,
        how: Instructions,
        tolerance: f64,
        stage: Stage,
    ) {
        let contacts: usize = self.parts.iter().map(|part| part.contacts).sum();
        let threads = if contacts < MANY {
            1
        } else {
            settings.threads.max(1)
        };
        let shared = Shared {
            how,
            tolerance,
            sweeps_max: settings.sweeps_max,
            patient: settings.rounds_max > 0,
            stage,
            batches: self.batches.as_mut_ptr(),
            best: self.best.as_mut_ptr(),
            alone: self.alone.as_mut_ptr(),
            velocity: Bodies(self.velocity.as_mut_ptr().cast()),
            previous: Bodies(self.previous.as_mut_ptr().cast()),
            segments: &self.segments,
            slots: &self.slots,
            islands: &self.islands,
            parts: self.parts.as_mut_ptr(),
            ground: self.bodies as u32,
        };
        let (count, alone) = (self.parts.len(), SpinBarrier::new(1));
        let together = SpinBarrier::new(threads);
        let next = AtomicUsize::new(0);
        together.run(|thread| {
            for part in 0..count {
                if shared.is_split(part) {
                    shared.solve(part, thread, &together);
                }
            }
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= count {
                    break;
                }
                if !shared.is_split(part) {
                    shared.solve(part, 0, &alone);
                }
            }
        });
    }

    /// The residual of the whole problem and the counts.
    fn outcome(&self, tolerance: f64) -> BodySweepOutcome {
        let mut outcome = BodySweepOutcome::default();
        let Sums {
            mut map,
            mut size,
            mut free,
            ..
        } = self.at_rest;
        for part in &self.parts {
            outcome.sweeps = outcome.sweeps.max(part.sweeps);
            outcome.visits += u64::from(part.sweeps) * part.contacts as u64;
            for track in part.tracks.iter().filter(|track| track.present) {
                outcome.islands += 1;
                outcome.unsolved += u32::from(!(track.best <= tolerance));
                map += track.map;
                size += track.size;
                free += track.free_size;
            }
        }
        outcome.residual = if map == 0.0 {
            0.0
        } else {
            (map / f64::max(size, free)).sqrt()
        };
        outcome
    }

    /// Impulses in the order and the tangents of the problem.
    fn write(&self, problem: &Problem, impulse: &mut [f64]) {
        // Islands solved by another method are there already; what nothing can move stays without impulse.
        for contact in 0..problem.operator.contacts() {
            if self.islands.of(contact).is_none() {
                impulse[problem.operator.rows_of(contact)].fill(0.0);
            }
        }
        let swept = |contact: usize| match self.islands.of(contact) {
            Some(island) => !self.elsewhere[island],
            None => false,
        };
        for (batch, lanes) in self.batches.iter().zip(&self.lanes) {
            for (lane, &(contact, turn)) in lanes.iter().enumerate() {
                if contact != u32::MAX && swept(contact as usize) {
                    let rows = problem.operator.rows_of(contact as usize);
                    read::<B, R, F>(batch, lane, turn, &mut impulse[rows]);
                }
            }
        }
        for alone in self.alone.iter().filter(|alone| swept(alone.contact)) {
            impulse[problem.operator.rows_of(alone.contact)].copy_from_slice(&alone.x);
        }
    }
}
