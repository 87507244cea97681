//! The past motion itself: nodes, the pieces between them, running functionals.

mod history_check;
mod integrals;
mod piece;
mod windows;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::reading::IntegralSpec;
use super::ring::Ring;
use super::{InitialHistory, Kernel, PastError, PastReading, Psi};
use crate::systems::MechanicalSystem;
use history_check::check_history;
pub(crate) use piece::Piece;

/// What the motion is between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interpolation {
    /// Affine: the motion of a time-stepping scheme itself, not an approximation of it.
    #[default]
    Affine,
    /// Of degree five from positions, velocities and accelerations at both nodes, for integrators
    /// of high order.
    Quintic,
}

/// Nodes of a past motion as they go into a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastSnapshot {
    interpolation: Interpolation,
    t_start: f64,
    start_q: Vec<f64>,
    start_v: Vec<f64>,
    times: Vec<f64>,
    rows: Vec<f64>,
}

impl PastSnapshot {
    /// Time of the last node.
    pub fn t_end(&self) -> f64 {
        self.times[self.times.len() - 1]
    }
}

/// The motion on the last `delay_max`, and what is read from it.
///
/// # What it computes
/// q(s) for every observed coordinate: the given history for `s ≤ t_start`, the piecewise affine
/// motion of the scheme afterwards; window maxima by a monotone queue; distributed delays by
/// prefix integrals (constant kernel) or one decaying state (exponential kernel).
///
/// # Source
/// [MonteiroMarquesDzonou2017], the motion q_t of the algorithm; the functionals and their
/// updates are ours.
///
/// # Guarantees
/// Positions, integrals with constant, exponential and moment kernels, and maxima of convex
/// functions are exact for the piecewise affine motion, up to rounding; of another function one top is found inside a
/// piece, and inside each of its parts between the places where it is said to jump or bend, and in its integrals every piece is halved until Gauss's rule converges, between the places where it is said to
/// jump or bend. General kernels are integrated on panels that resolve them. Tentative nodes leave no
/// trace when they are retracted; a restored snapshot gives the same bits.
///
/// # Behaviour to know
/// A delayed velocity is the slope of its piece: it jumps at nodes and the force with it. Prefix
/// integrals are kept in twice the precision, so that long runs do not lose the window in the sum.
///
/// # Cost
/// Memory proportional to the window. Point delays, constant and exponential kernels, window
/// maxima: O(1) a step. General kernels, integrals of functions and the deviation from rest: O(window/h).
///
/// # Tested by
/// `systems/past_motion/tests.rs`, `tests/truth_delay.rs`.
#[derive(Debug)]
pub struct PastMotion {
    interpolation: Interpolation,
    observed: Vec<usize>,
    slots: Vec<Option<usize>>,
    delay_max: f64,
    history: InitialHistory,
    t_start: f64,
    start: (Vec<f64>, Vec<f64>),
    ring: Ring,
    integrals: Vec<(IntegralSpec, usize)>,
    maxima: Vec<(Psi, f64, VecDeque<(f64, f64)>)>,
    committed: usize,
    fault: AtomicU64,
}

impl Clone for PastMotion {
    fn clone(&self) -> Self {
        Self {
            interpolation: self.interpolation,
            observed: self.observed.clone(),
            slots: self.slots.clone(),
            delay_max: self.delay_max,
            history: self.history.clone(),
            t_start: self.t_start,
            start: self.start.clone(),
            ring: self.ring.clone(),
            integrals: self.integrals.clone(),
            maxima: self.maxima.clone(),
            committed: self.committed,
            fault: AtomicU64::new(self.fault.load(Ordering::Relaxed)),
        }
    }
}

/// The end of the motion beyond the last node: where the force is being evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tip<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
}

impl PastMotion {
    /// The past of `system` at the start of a run; none if the system reads nothing.
    pub fn new(
        system: &dyn MechanicalSystem,
        (q, v): (&[f64], &[f64]),
        t_start: f64,
        interpolation: Interpolation,
    ) -> Result<Option<Self>, PastError> {
        let Some(reading) = system.past_reading().filter(|reading| !reading.is_empty()) else {
            return Ok(None);
        };
        check_history(system, reading, (q, v))?;
        Ok(Some(Self::start(reading, (q, v), t_start, interpolation)))
    }

    /// The past without the checks of [`Self::new`].
    pub(crate) fn start(
        reading: &PastReading,
        (q, v): (&[f64], &[f64]),
        t_start: f64,
        interpolation: Interpolation,
    ) -> Self {
        let observed = reading.coordinates(q.len());
        let mut slots = vec![None; q.len()];
        for (column, &i) in observed.iter().enumerate() {
            slots[i] = Some(column);
        }
        let mut width = match interpolation {
            Interpolation::Affine => observed.len(),
            Interpolation::Quintic => 3 * observed.len(),
        };
        let mut integrals = Vec::new();
        for spec in &reading.integrals {
            integrals.push((spec.clone(), width));
            width += match spec.kernel {
                Kernel::Constant => 2,
                Kernel::Exponential { .. } => 1,
                Kernel::General { .. } | Kernel::Moments { .. } => 0,
            };
        }
        let history = reading.initial_history().clone();
        let mut past = Self {
            interpolation,
            observed,
            slots,
            delay_max: reading.delay_max(),
            t_start,
            start: (q.to_vec(), v.to_vec()),
            ring: Ring::new(width),
            integrals,
            maxima: reading
                .maxima
                .iter()
                .map(|m| (m.psi.clone(), m.window, VecDeque::new()))
                .collect(),
            committed: 0,
            fault: AtomicU64::new(0),
            history,
        };
        let mut configuration = q.to_vec();
        for s in past.history.nodes(past.delay_max) {
            for (i, x) in configuration.iter_mut().enumerate() {
                *x = past.history.value(i, s, (q, v));
            }
            past.append(t_start + s, &configuration, None);
        }
        past.commit();
        past
    }

    /// Appends a node of the affine motion, not yet for good.
    pub fn push(&mut self, t: f64, q: &[f64]) {
        self.append(t, q, None);
    }

    /// Appends a node of the smooth motion, with velocity and acceleration.
    pub fn push_smooth(&mut self, t: f64, q: &[f64], v: &[f64], a: &[f64]) {
        self.append(t, q, Some((v, a)));
    }

    fn append(&mut self, t: f64, q: &[f64], rates: Option<(&[f64], &[f64])>) {
        let w = self.observed.len();
        let row = self.ring.push(t);
        row.fill(0.0);
        for (x, &i) in row.iter_mut().zip(&self.observed) {
            *x = q[i];
        }
        if let (Interpolation::Quintic, Some((v, a))) = (self.interpolation, rates) {
            for (column, &i) in self.observed.iter().enumerate() {
                row[w + column] = v[i];
                row[2 * w + column] = a[i];
            }
        }
        // Running integrals: the new piece added to the row before.
        let last = self.ring.len() - 1;
        if last == 0 {
            return;
        }
        for k in 0..self.integrals.len() {
            let (spec, column) = self.integrals[k].clone();
            match spec.kernel {
                Kernel::Constant => {
                    let (high, low) = self.prefix(last - 1, column);
                    let piece = self.piece_integral(last - 1, spec.coordinate, t);
                    let sum = high + piece;
                    // what the sum lost, kept beside it
                    let back = sum - high;
                    let lost = (high - (sum - back)) + (piece - back);
                    let row = self.ring.row_mut(last);
                    (row[column], row[column + 1]) = (sum, low + lost);
                }
                Kernel::Exponential { rate } => {
                    let state = self.decayed(last - 1, column, &spec, rate, t);
                    self.ring.row_mut(last)[column] = state;
                }
                Kernel::General { .. } | Kernel::Moments { .. } => {}
            }
        }
    }

    /// Makes the nodes so far final and forgets what no delay can reach any more.
    pub fn commit(&mut self) {
        for j in self.committed..self.ring.len() {
            self.enter_maxima(j);
        }
        let oldest = self.ring.time(self.ring.len() - 1) - self.delay_max;
        while self.ring.len() > 2 && self.ring.time(1) <= oldest {
            self.ring.pop_front();
        }
        self.committed = self.ring.len();
        for (_, window, queue) in &mut self.maxima {
            let oldest = self.ring.time(self.ring.len() - 1) - *window;
            while queue.len() > 1 && queue[0].0 < oldest {
                queue.pop_front();
            }
        }
    }

    /// Drops the nodes that were not committed.
    pub fn retract(&mut self) {
        while self.ring.len() > self.committed {
            self.ring.pop_back();
        }
    }

    /// Whether the piece after node `j` is not affine.
    fn is_curved(&self, j: usize) -> bool {
        self.is_given(j)
            || (self.interpolation == Interpolation::Quintic && self.ring.time(j) >= self.t_start)
    }

    /// Whether the piece after node `j` is evaluated by the history function.
    #[inline]
    fn is_given(&self, j: usize) -> bool {
        self.history.is_function()
            && j + 1 < self.ring.len()
            && self.ring.time(j + 1) <= self.t_start
    }

    fn given(&self, i: usize, s: f64) -> f64 {
        self.history
            .value(i, s - self.t_start, (&self.start.0, &self.start.1))
    }

    #[inline]
    fn slot(&self, i: usize) -> usize {
        self.slots[i].unwrap_or_else(|| panic!("coordinate {i} is not observed"))
    }

    /// The piece after node `j` in column `column`.
    pub(crate) fn piece(&self, j: usize, column: usize) -> Piece {
        let (t0, t1) = (self.ring.time(j), self.ring.time(j + 1));
        let (r0, r1) = (self.ring.row(j), self.ring.row(j + 1));
        if self.interpolation == Interpolation::Affine || t0 < self.t_start {
            return Piece::affine(t0, t1 - t0, r0[column], r1[column]);
        }
        let w = self.observed.len();
        let start = [r0[column], r0[w + column], r0[2 * w + column]];
        let end = (r1[column], r1[w + column], Some(r1[2 * w + column]));
        Piece::hermite(t0, t1 - t0, start, end)
    }

    /// The piece between the last node and the tip.
    pub(crate) fn tip_piece(&self, i: usize, tip: &Tip) -> Piece {
        let last = self.ring.len() - 1;
        let (t0, row, column) = (self.ring.time(last), self.ring.row(last), self.slot(i));
        let length = tip.t - t0;
        match self.interpolation {
            Interpolation::Affine => Piece::affine(t0, length, row[column], tip.q[i]),
            Interpolation::Quintic => {
                let w = self.observed.len();
                let start = [row[column], row[w + column], row[2 * w + column]];
                Piece::hermite(t0, length, start, (tip.q[i], tip.v[i], None))
            }
        }
    }

    /// Time of the last node.
    pub fn t_last(&self) -> f64 {
        self.ring.time(self.ring.len() - 1)
    }

    /// Number of nodes kept.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether there are no nodes; never true.
    pub fn is_empty(&self) -> bool {
        self.ring.len() == 0
    }

    /// Bytes held by the nodes and by the candidates of window maxima.
    pub fn memory(&self) -> usize {
        let candidates: usize = self
            .maxima
            .iter()
            .map(|(_, _, queue)| queue.capacity())
            .sum();
        8 * self.ring.footprint() + 16 * candidates
    }

    /// Node before or at `s`, with times equal up to rounding taken as equal.
    fn locate(&self, s: f64) -> usize {
        let j = self.ring.locate(s);
        if j + 1 < self.ring.len() {
            let next = self.ring.time(j + 1);
            if next - s <= 1e-12 * (next - self.ring.time(j)) {
                return j + 1;
            }
        }
        j
    }

    /// Time at which a delay of `age` before the tip lies; a bad age is remembered and answered by NaN.
    pub(crate) fn time_of(&self, age: f64, tip: &Tip) -> f64 {
        if age >= 0.0 && age <= self.delay_max * (1.0 + 1e-12) {
            return tip.t - age;
        }
        self.fault.store(age.to_bits() | 1, Ordering::Relaxed);
        f64::NAN
    }

    /// A delay outside the announced range, if one was asked for.
    pub fn fault(&self) -> Option<f64> {
        let bits = self.fault.load(Ordering::Relaxed);
        (bits != 0).then(|| f64::from_bits(bits))
    }

    /// Coordinate `i` at time `s`.
    pub(crate) fn at(&self, i: usize, s: f64, tip: &Tip) -> f64 {
        if s.is_nan() {
            return s;
        }
        let j = self.locate(s);
        let column = self.slot(i);
        if j + 1 == self.ring.len() {
            let (t0, x0) = (self.ring.time(j), self.ring.row(j)[column]);
            if s <= t0 || tip.t <= t0 {
                return x0;
            }
            return self.tip_piece(i, tip).value(s);
        }
        if self.is_given(j) {
            return self.given(i, s);
        }
        if self.interpolation == Interpolation::Affine {
            let (t0, t1) = (self.ring.time(j), self.ring.time(j + 1));
            let (x0, x1) = (self.ring.row(j)[column], self.ring.row(j + 1)[column]);
            if s <= t0 {
                return x0;
            }
            return x0 + (s - t0) * ((x1 - x0) / (t1 - t0));
        }
        self.piece(j, column).value(s)
    }

    /// Slope of coordinate `i` at time `s`, from the right at a node.
    pub(crate) fn velocity_at(&self, i: usize, s: f64, tip: &Tip) -> f64 {
        if s.is_nan() {
            return s;
        }
        let j = self.locate(s);
        if j + 1 == self.ring.len() {
            return if tip.t > self.ring.time(j) {
                self.tip_piece(i, tip).velocity(s)
            } else {
                tip.v[i]
            };
        }
        if self.is_given(j) {
            let e = 1e-6 * self.delay_max;
            let (a, b) = (
                (s - e).min(self.t_start - 2.0 * e),
                (s + e).min(self.t_start),
            );
            return (self.given(i, b) - self.given(i, a)) / (b - a);
        }
        self.piece(j, self.slot(i)).velocity(s)
    }

    /// The nodes as they go into a checkpoint.
    pub fn snapshot(&self) -> PastSnapshot {
        let rows = 0..self.committed;
        PastSnapshot {
            interpolation: self.interpolation,
            t_start: self.t_start,
            start_q: self.start.0.clone(),
            start_v: self.start.1.clone(),
            times: rows.clone().map(|j| self.ring.time(j)).collect(),
            rows: rows.flat_map(|j| self.ring.row(j).to_vec()).collect(),
        }
    }

    /// Goes back to a snapshot of a past with the same reading; false if it does not fit.
    pub fn restore(&mut self, snapshot: &PastSnapshot) -> bool {
        let width = self.ring.width();
        let fits = snapshot.interpolation == self.interpolation
            && snapshot.rows.len() == width * snapshot.times.len()
            && snapshot.start_q.len() == self.start.0.len()
            && snapshot.times.len() >= 2;
        if !fits {
            return false;
        }
        self.t_start = snapshot.t_start;
        self.start = (snapshot.start_q.clone(), snapshot.start_v.clone());
        self.ring = Ring::new(width);
        for (j, &t) in snapshot.times.iter().enumerate() {
            self.ring
                .push(t)
                .copy_from_slice(&snapshot.rows[j * width..(j + 1) * width]);
        }
        for (_, _, queue) in &mut self.maxima {
            queue.clear();
        }
        self.committed = 0;
        self.commit();
        true
    }
}
