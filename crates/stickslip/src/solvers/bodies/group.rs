//! One island, or four side by side in the four lanes, and the loops over their batches.
//!
//! A large island is split in parts: a tree of halves of its bodies. Contacts inside a part are swept first, part by part, then those between two
//! halves, level by level. The split depends on the problem alone, so parts may be swept by several threads with the bits of one.

use super::alone::{Alone, AloneScratch};
use super::batch::{Bodies, Four, Sums};
use super::kernels::{self, LaneSums};
use super::team::SpinBarrier;
use crate::solvers::sweep::Instructions;
use std::cell::UnsafeCell;
use std::ops::Range;

/// Batches swept one after the other by one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub(super) batches: Range<usize>,
    /// Contacts visited by themselves in between.
    pub(super) alone: Range<usize>,
    /// Segments of one stage share no body; stages follow each other.
    pub(super) stage: u32,
}

/// What one solve of a group works on. All threads share it; every batch, every contact visited by itself and every body is used
/// by one thread at a time: that of its segment between two barriers.
pub(super) struct Group<'a, B, const R: usize, const F: usize> {
    pub(super) how: Instructions,
    pub(super) batches: *mut B,
    pub(super) best: *mut [[f64; 4]; R],
    pub(super) alone: *mut Alone,
    pub(super) segments: &'a [Segment],
    /// Bodies of the island, or of the islands of the four lanes.
    pub(super) bodies: [&'a [u32]; 4],
    /// Whether each lane is an island of its own.
    pub(super) by_lane: bool,
    pub(super) velocity: Bodies,
    pub(super) previous: Bodies,
    pub(super) ground: u32,
    /// Sums of each segment.
    pub(super) slots: &'a [Slot],
    pub(super) barrier: &'a SpinBarrier,
}

/// Sums that one thread writes and all read after a barrier.
#[derive(Debug, Default)]
pub(super) struct Slot(UnsafeCell<LaneSums>);

// SAFETY: a slot is written by the thread of its segment and read by others only after a barrier.
unsafe impl Sync for Slot {}
// SAFETY: see the type: threads use disjoint parts between two barriers.
unsafe impl<B, const R: usize, const F: usize> Sync for Group<'_, B, R, F> {}

impl<B: Four<R, F>, const R: usize, const F: usize> Group<'_, B, R, F> {
    /// Calls `f` for the segments of this thread, stage by stage; threads meet after each stage.
    fn by_segment(&self, thread: usize, mut f: impl FnMut(usize, &Segment)) {
        let mut first = 0;
        while first < self.segments.len() {
            let stage = self.segments[first].stage;
            let end = first
                + self.segments[first..]
                    .iter()
                    .take_while(|segment| segment.stage == stage)
                    .count();
            for (k, segment) in self.segments[first..end].iter().enumerate() {
                if k % self.barrier.threads() == thread {
                    f(first + k, segment);
                }
            }
            self.barrier.wait();
            first = end;
        }
    }

    /// Batches of a segment.
    #[allow(clippy::mut_from_ref)]
    fn batches(&self, segment: &Segment) -> &mut [B] {
        let range = &segment.batches;
        // SAFETY: segments are disjoint ranges of the batches, each used by the thread that owns it.
        unsafe { std::slice::from_raw_parts_mut(self.batches.add(range.start), range.len()) }
    }

    #[allow(clippy::mut_from_ref)]
    fn best(&self, segment: &Segment) -> &mut [[[f64; 4]; R]] {
        let range = &segment.batches;
        // SAFETY: as for the batches.
        unsafe { std::slice::from_raw_parts_mut(self.best.add(range.start), range.len()) }
    }

    #[allow(clippy::mut_from_ref)]
    fn alone(&self, segment: &Segment) -> &mut [Alone] {
        let range = &segment.alone;
        // SAFETY: as for the batches.
        unsafe { std::slice::from_raw_parts_mut(self.alone.add(range.start), range.len()) }
    }

    /// The bodies this thread moves, of each track.
    fn own_bodies(&self, thread: usize) -> [&[u32]; 4] {
        let threads = self.barrier.threads();
        self.bodies.map(|bodies| {
            &bodies[thread * bodies.len() / threads..(thread + 1) * bodies.len() / threads]
        })
    }

    /// v' = Jᵀ x from scratch; v − v_prev stays as it is. Were v_prev left with the rounding that v is freed of, momentum would take that for a
    /// motion and enlarge it by some 20 from one refresh to the next: after 500 sweeps nothing else is left.
    pub(super) fn refresh(&self, thread: usize) {
        for bodies in self.own_bodies(thread) {
            // SAFETY: bodies are split among the threads.
            unsafe {
                kernels::add::<F>(bodies, self.previous, self.velocity, -1.0);
                kernels::clear::<F>(bodies, self.velocity);
            }
        }
        self.barrier.wait();
        self.by_segment(thread, |_, segment| {
            // SAFETY: segments of one stage share no body.
            unsafe {
                kernels::act::<B, R, F>(
                    self.how,
                    self.batches(segment),
                    self.velocity,
                    self.ground,
                );
                for alone in self.alone(segment) {
                    alone.act(F, self.velocity);
                }
            }
        });
        for bodies in self.own_bodies(thread) {
            // SAFETY: bodies are split among the threads.
            unsafe { kernels::add::<F>(bodies, self.previous, self.velocity, 1.0) };
        }
        self.barrier.wait();
    }

    /// v_prev = v.
    pub(super) fn hold(&self, thread: usize) {
        for bodies in self.own_bodies(thread) {
            // SAFETY: bodies are split among the threads. Cleared first: what is left of another solve may not be finite.
            unsafe {
                kernels::clear::<F>(bodies, self.previous);
                kernels::extrapolate::<F>(self.how, bodies, self.velocity, self.previous, 0.0);
            }
        }
        self.barrier.wait();
    }

    /// v ← v + β(v − v_prev) and v_prev ← v, with β by track.
    pub(super) fn extrapolate(&self, thread: usize, beta: &[f64; 4]) {
        for (bodies, beta) in self.own_bodies(thread).into_iter().zip(beta) {
            // SAFETY: bodies are split among the threads.
            unsafe {
                kernels::extrapolate::<F>(self.how, bodies, self.velocity, self.previous, *beta);
            }
        }
        self.barrier.wait();
    }

    /// One sweep from the extrapolated point; the sums of the four lanes.
    pub(super) fn sweep(
        &self,
        thread: usize,
        beta: &[f64; 4],
        scratch: &mut AloneScratch,
    ) -> LaneSums {
        self.by_segment(thread, |k, segment| {
            let batches = self.batches(segment);
            let mut total = [[0.0; 4]; 3];
            let mut from = 0;
            for alone in self.alone(segment) {
                let to = alone.before - segment.batches.start;
                // SAFETY: segments of one stage share no body.
                let mut sums = unsafe {
                    let part = &mut batches[from..to];
                    kernels::sweep::<B, R, F>(self.how, part, self.velocity, self.ground, beta)
                };
                let mut own = Sums {
                    change: 0.0,
                    against: 0.0,
                    size: 0.0,
                };
                // SAFETY: as above.
                unsafe { alone.visit(F, self.velocity, beta[0], scratch, &mut own) };
                for (sum, own) in sums.iter_mut().zip([own.change, own.against, own.size]) {
                    sum[0] += own;
                }
                add(&mut total, &sums);
                from = to;
            }
            // SAFETY: as above.
            let sums = unsafe {
                let part = &mut batches[from..];
                kernels::sweep::<B, R, F>(self.how, part, self.velocity, self.ground, beta)
            };
            add(&mut total, &sums);
            // SAFETY: the slot of this thread's segment.
            unsafe { *self.slots[k].0.get() = total };
        });
        self.total()
    }

    /// |F|², |x|² and the square of the worst part of a contact of the four lanes at x, whose velocities must be fresh.
    pub(super) fn residual(&self, thread: usize, scratch: &mut AloneScratch) -> LaneSums {
        self.by_segment(thread, |k, segment| {
            // SAFETY: velocities are only read in this phase.
            let mut sums = unsafe {
                kernels::residual::<B, R, F>(self.how, self.batches(segment), self.velocity)
            };
            for alone in self.alone(segment) {
                // SAFETY: as above.
                let own = unsafe { alone.residual(F, self.velocity, scratch) };
                sums[0][0] += own[0];
                sums[1][0] += own[1];
                sums[2][0] = own[2].max(sums[2][0]);
            }
            // SAFETY: the slot of this thread's segment.
            unsafe { *self.slots[k].0.get() = sums };
        });
        let mut total = self.total();
        total[2] = [0.0; 4];
        for slot in &self.slots[..self.segments.len()] {
            // SAFETY: as for the sum.
            let parts = unsafe { (*slot.0.get())[2] };
            for (worst, part) in total[2].iter_mut().zip(parts) {
                *worst = part.max(*worst);
            }
        }
        total
    }

    /// Sum over the segments in their order.
    fn total(&self) -> LaneSums {
        let mut total = [[0.0; 4]; 3];
        for slot in &self.slots[..self.segments.len()] {
            // SAFETY: written before the last barrier, and not again before the next one.
            add(&mut total, unsafe { &*slot.0.get() });
        }
        total
    }

    /// Keeps the impulses of the given lanes as the best known.
    pub(super) fn keep(&self, thread: usize, lanes: [bool; 4]) {
        self.by_segment(thread, |_, segment| {
            for (batch, best) in self.batches(segment).iter().zip(self.best(segment)) {
                for (x, best) in batch.state().x.iter().zip(best) {
                    for lane in 0..4 {
                        if lanes[lane] {
                            best[lane] = x[lane];
                        }
                    }
                }
            }
            self.alone(segment).iter_mut().for_each(Alone::keep);
        });
    }

    /// Returns to the best impulses known, without momentum.
    pub(super) fn restore(&self, thread: usize) {
        self.by_segment(thread, |_, segment| {
            for (batch, best) in self.batches(segment).iter_mut().zip(self.best(segment)) {
                let state = batch.state_mut();
                (state.x, state.previous) = (*best, *best);
            }
            self.alone(segment).iter_mut().for_each(Alone::restore);
        });
    }
}

fn add(total: &mut LaneSums, sums: &LaneSums) {
    for (total, sums) in total.iter_mut().zip(sums) {
        for (total, sum) in total.iter_mut().zip(sums) {
            *total += sum;
        }
    }
}
