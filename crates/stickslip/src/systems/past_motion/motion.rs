//! The past motion itself: nodes, the pieces between them, running functionals.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::kernel::gauss;
use super::reading::IntegralSpec;
use super::ring::Ring;
use super::{InitialHistory, Kernel, PastError, PastReading, Psi};
use crate::systems::MechanicalSystem;

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
/// functions are exact for the piecewise affine motion, up to rounding. Tentative nodes leave no
/// trace when they are retracted; a restored snapshot gives the same bits.
///
/// # Behaviour to know
/// A delayed velocity is the slope of its piece: it jumps at nodes and the force with it. Prefix
/// integrals are kept in twice the precision, so that long runs do not lose the window in the sum.
///
/// # Cost
/// Memory proportional to the window. Point delays, constant and exponential kernels, window
/// maxima: O(1) a step. General kernels and the deviation from rest: O(window/h).
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

/// One coordinate between two nodes: a polynomial in `(s − t)/length`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub t: f64,
    pub length: f64,
    pub c: [f64; 6],
}

impl Piece {
    pub fn affine(t: f64, length: f64, x0: f64, x1: f64) -> Self {
        Self {
            t,
            length,
            c: [x0, x1 - x0, 0.0, 0.0, 0.0, 0.0],
        }
    }

    /// Hermite polynomial from (x, v, a) at the start and (x, v), optionally a, at the end.
    pub fn hermite(
        t: f64,
        length: f64,
        [x0, v0, a0]: [f64; 3],
        (x1, v1, a1): (f64, f64, Option<f64>),
    ) -> Self {
        let (h, h2) = (length, length * length);
        let rest = x1 - (x0 + h * v0 + 0.5 * h2 * a0);
        let slope = h * v1 - (h * v0 + h2 * a0);
        let mut c = [x0, h * v0, 0.5 * h2 * a0, 0.0, 0.0, 0.0];
        match a1 {
            Some(a1) => {
                let bend = h2 * (a1 - a0);
                c[3] = 10.0 * rest - 4.0 * slope + 0.5 * bend;
                c[4] = -15.0 * rest + 7.0 * slope - bend;
                c[5] = 6.0 * rest - 3.0 * slope + 0.5 * bend;
            }
            None => {
                c[3] = 4.0 * rest - slope;
                c[4] = slope - 3.0 * rest;
            }
        }
        Self { t, length, c }
    }

    #[inline]
    fn unit(&self, s: f64) -> f64 {
        if self.length > 0.0 {
            (s - self.t) / self.length
        } else {
            0.0
        }
    }

    #[inline]
    pub fn value(&self, s: f64) -> f64 {
        let u = self.unit(s);
        let c = &self.c;
        c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))
    }

    #[inline]
    pub fn velocity(&self, s: f64) -> f64 {
        if self.length == 0.0 {
            return 0.0;
        }
        let u = self.unit(s);
        let c = &self.c;
        (c[1] + u * (2.0 * c[2] + u * (3.0 * c[3] + u * (4.0 * c[4] + u * 5.0 * c[5]))))
            / self.length
    }

    /// ∫ from the start of the piece to `s`.
    pub fn integral(&self, s: f64) -> f64 {
        let u = self.unit(s);
        let c = &self.c;
        let poly = c[0]
            + u * (c[1] / 2.0
                + u * (c[2] / 3.0 + u * (c[3] / 4.0 + u * (c[4] / 5.0 + u * c[5] / 6.0))));
        self.length * u * poly
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
                Kernel::General(_) | Kernel::Moments { .. } => 0,
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
                .map(|m| (m.psi, m.window, VecDeque::new()))
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
                Kernel::General(_) | Kernel::Moments { .. } => {}
            }
        }
    }

    fn prefix(&self, j: usize, column: usize) -> (f64, f64) {
        let row = self.ring.row(j);
        (row[column], row[column + 1])
    }

    /// ∫ of coordinate `i` from node `j` to `s` inside the piece that follows it.
    fn piece_integral(&self, j: usize, i: usize, s: f64) -> f64 {
        if self.is_given(j) {
            return gauss(self.ring.time(j), s, |r| self.given(i, r));
        }
        self.piece(j, self.slot(i)).integral(s)
    }

    /// Decaying state at `s` inside the piece after node `j`.
    fn decayed(&self, j: usize, column: usize, spec: &IntegralSpec, rate: f64, s: f64) -> f64 {
        let (t0, state) = (self.ring.time(j), self.ring.row(j)[column]);
        let piece = self.piece(j, self.slot(spec.coordinate));
        let added = if self.is_given(j) {
            gauss(t0, s, |r| {
                (-rate * (s - r)).exp() * self.given(spec.coordinate, r)
            })
        } else {
            weighted(&piece, self.interpolation, &spec.kernel, (t0, s), s)
        };
        state * (-rate * (s - t0)).exp() + added
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

    /// Enters node `j`, and the top inside the piece before it, into the queues.
    fn enter_maxima(&mut self, j: usize) {
        let mut maxima = std::mem::take(&mut self.maxima);
        for (psi, _, queue) in &mut maxima {
            if j > 0 && self.is_curved(j - 1) {
                let (a, b) = (self.ring.time(j - 1), self.ring.time(j));
                if let Some(top) = interior_top(a, b, |s| self.psi_in_piece(*psi, j - 1, s)) {
                    enter(queue, top);
                }
            }
            let value = self.psi_at_node(*psi, j);
            enter(queue, (self.ring.time(j), value));
        }
        self.maxima = maxima;
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

    fn psi_at_node(&self, psi: Psi, j: usize) -> f64 {
        psi.of(self.ring.row(j)[self.slot(psi.coordinate())])
    }

    /// ψ at `s` inside the piece after node `j`.
    fn psi_in_piece(&self, psi: Psi, j: usize, s: f64) -> f64 {
        let i = psi.coordinate();
        psi.of(if self.is_given(j) {
            self.given(i, s)
        } else {
            self.piece(j, self.slot(i)).value(s)
        })
    }

    fn psi_at(&self, psi: Psi, s: f64, tip: &Tip) -> f64 {
        psi.of(self.at(psi.coordinate(), s, tip))
    }

    /// Maximum number `k` over the window before the tip.
    pub(crate) fn maximum(&self, k: usize, tip: &Tip) -> f64 {
        let (psi, window, queue) = &self.maxima[k];
        let psi = *psi;
        let cut = tip.t - window;
        let mut best = self
            .psi_at(psi, cut, tip)
            .max(psi.of(tip.q[psi.coordinate()]));
        // What fell out of the window since the last node is at the front: few, if any.
        if let Some(&(_, value)) = queue.iter().find(|&&(t, _)| t >= cut) {
            best = best.max(value);
        }
        for j in self.committed..self.ring.len() {
            if self.ring.time(j) >= cut {
                best = best.max(self.psi_at_node(psi, j));
            }
        }
        let start = self.t_last();
        if self.interpolation == Interpolation::Quintic && tip.t > start {
            if let Some((_, top)) =
                interior_top(start.max(cut), tip.t, |s| self.psi_at(psi, s, tip))
            {
                best = best.max(top);
            }
        }
        best
    }

    /// Integral number `k` over the window before the tip.
    pub(crate) fn integral(&self, k: usize, tip: &Tip) -> f64 {
        let (spec, column) = &self.integrals[k];
        let (last, cut) = (self.ring.len() - 1, tip.t - spec.tau);
        let t_last = self.ring.time(last);
        let tip_piece = (tip.t > t_last).then(|| self.tip_piece(spec.coordinate, tip));
        let j = self.ring.locate(cut);
        match spec.kernel {
            Kernel::Constant => {
                let (high, low) = self.prefix(last, *column);
                let added = tip_piece
                    .as_ref()
                    .map_or(0.0, |piece| piece.integral(tip.t));
                let (high_cut, low_cut) = self.prefix(j, *column);
                let removed = if j == last {
                    tip_piece.as_ref().map_or(0.0, |piece| piece.integral(cut))
                } else {
                    self.piece_integral(j, spec.coordinate, cut.max(self.ring.time(j)))
                };
                (high - high_cut) + (low - low_cut) + (added - removed)
            }
            Kernel::Exponential { rate } => {
                let grown = |j: usize, s: f64| match (&tip_piece, j == last) {
                    (Some(piece), true) => {
                        let decay = (-rate * (s - t_last)).exp();
                        decay * self.ring.row(last)[*column]
                            + weighted(piece, self.interpolation, &spec.kernel, (t_last, s), s)
                    }
                    (None, true) => self.ring.row(last)[*column],
                    _ => self.decayed(j, *column, spec, rate, s),
                };
                grown(last, tip.t) - (-rate * spec.tau).exp() * grown(j, cut.max(self.ring.time(j)))
            }
            Kernel::General(_) | Kernel::Moments { .. } => {
                let mut sum = tip_piece.as_ref().map_or(0.0, |piece| {
                    let range = (t_last.max(cut), tip.t);
                    weighted(piece, self.interpolation, &spec.kernel, range, tip.t)
                });
                for m in j..last {
                    let range = (self.ring.time(m).max(cut), self.ring.time(m + 1));
                    if range.1 <= range.0 {
                        continue;
                    }
                    sum += if self.is_given(m) {
                        self.weighted_given(spec, range, tip.t)
                    } else {
                        let piece = self.piece(m, self.slot(spec.coordinate));
                        weighted(&piece, self.interpolation, &spec.kernel, range, tip.t)
                    };
                }
                sum
            }
        }
    }

    fn weighted_given(&self, spec: &IntegralSpec, (a, b): (f64, f64), t: f64) -> f64 {
        match &spec.kernel {
            Kernel::General(k) => gauss(a, b, |s| k(t - s) * self.given(spec.coordinate, s)),
            kernel => {
                // moments only: the history as eight chords
                let step = (b - a) / 8.0;
                (0..8)
                    .map(|m| {
                        let (s0, s1) = (a + m as f64 * step, a + (m + 1) as f64 * step);
                        let (x0, x1) = (
                            self.given(spec.coordinate, s0),
                            self.given(spec.coordinate, s1),
                        );
                        let piece = Piece::affine(s0, s1 - s0, x0, x1);
                        weighted(&piece, Interpolation::Affine, kernel, (s0, s1), t)
                    })
                    .sum()
            }
        }
    }

    /// Largest distance of the listed coordinates from their values at the tip, over `window`.
    pub(crate) fn deviation(&self, coordinates: &[usize], window: f64, tip: &Tip) -> f64 {
        let cut = self.time_of(window, tip);
        if cut.is_nan() {
            return cut;
        }
        let distance = |s: f64| {
            coordinates
                .iter()
                .map(|&i| (self.at(i, s, tip) - tip.q[i]).powi(2))
                .sum::<f64>()
        };
        let mut best = distance(cut);
        let first = self.ring.locate(cut);
        for j in first..self.ring.len() {
            let row = self.ring.row(j);
            if self.ring.time(j) >= cut {
                let square: f64 = coordinates
                    .iter()
                    .map(|&i| (row[self.slot(i)] - tip.q[i]).powi(2))
                    .sum();
                best = best.max(square);
            }
            if j + 1 < self.ring.len() && self.is_curved(j) {
                let (a, b) = (self.ring.time(j).max(cut), self.ring.time(j + 1));
                if let Some((_, top)) = interior_top(a, b, distance) {
                    best = best.max(top);
                }
            }
        }
        best.sqrt()
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

/// Keeps a queue of candidates decreasing from its front.
fn enter(queue: &mut VecDeque<(f64, f64)>, (t, value): (f64, f64)) {
    while queue.back().is_some_and(|&(_, old)| old <= value) {
        queue.pop_back();
    }
    queue.push_back((t, value));
}

/// Top of a function inside (a, b), if it rises at `a` and falls at `b`.
fn interior_top(a: f64, b: f64, mut f: impl FnMut(f64) -> f64) -> Option<(f64, f64)> {
    let length = b - a;
    if !(length > 0.0) {
        return None;
    }
    let e = 1e-3 * length;
    if !(f(a + e) > f(a) && f(b - e) > f(b)) {
        return None;
    }
    // Golden section; near the top f is flat, so half the digits of s give all digits of f.
    let golden = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (a, b);
    let (mut s1, mut s2) = (high - golden * length, low + golden * length);
    let (mut f1, mut f2) = (f(s1), f(s2));
    for _ in 0..44 {
        if f1 < f2 {
            low = s1;
            (s1, f1) = (s2, f2);
            s2 = low + golden * (high - low);
            f2 = f(s2);
        } else {
            high = s2;
            (s2, f2) = (s1, f1);
            s1 = high - golden * (high - low);
            f1 = f(s1);
        }
    }
    Some(if f1 > f2 { (s1, f1) } else { (s2, f2) })
}

/// ∫ k(t − s) x(s) ds over `[a, b]` inside one piece.
fn weighted(
    piece: &Piece,
    interpolation: Interpolation,
    kernel: &Kernel,
    (a, b): (f64, f64),
    t: f64,
) -> f64 {
    if b <= a {
        return 0.0;
    }
    let curved = interpolation == Interpolation::Quintic && piece.c[2..].iter().any(|&c| c != 0.0);
    let chord = |a: f64, b: f64| {
        let (zeroth, first) = kernel.moments(t - b, t - a);
        let (xa, xb) = (piece.value(a), piece.value(b));
        let slope = (xb - xa) / (b - a);
        xb * zeroth - slope * (first - (t - b) * zeroth)
    };
    match (curved, kernel) {
        (false, _) => chord(a, b),
        (true, Kernel::Constant) => piece.integral(b) - piece.integral(a),
        (true, Kernel::Exponential { rate }) => {
            gauss(a, b, |s| (-rate * (t - s)).exp() * piece.value(s))
        }
        (true, Kernel::General(k)) => gauss(a, b, |s| k(t - s) * piece.value(s)),
        (true, Kernel::Moments { .. }) => {
            let step = (b - a) / 16.0;
            (0..16)
                .map(|m| chord(a + m as f64 * step, a + (m + 1) as f64 * step))
                .sum()
        }
    }
}

/// The history must be usable, end where the motion starts and stay in the admissible set.
fn check_history(
    system: &dyn MechanicalSystem,
    reading: &PastReading,
    (q, v): (&[f64], &[f64]),
) -> Result<(), PastError> {
    let count = q.len();
    let integrals = reading.integrals.iter().map(|spec| spec.coordinate);
    let maxima = reading.maxima.iter().map(|m| m.psi.coordinate());
    let observed = reading.coordinates(count);
    for coordinate in observed.iter().copied().chain(integrals).chain(maxima) {
        if coordinate >= count || !observed.contains(&coordinate) {
            return Err(PastError::Coordinate { coordinate, count });
        }
    }
    let history = reading.initial_history();
    if let InitialHistory::Samples { times, values } = history {
        if values.iter().any(|row| row.len() != count) {
            let reason = format!("every configuration needs {count} coordinates");
            return Err(PastError::Samples { reason });
        }
        if times[0] > -reading.delay_max() * (1.0 - 1e-12) {
            let reason = format!(
                "it starts at {}, the longest delay reaches back to {}",
                times[0],
                -reading.delay_max()
            );
            return Err(PastError::Samples { reason });
        }
    }
    let names = system.coordinate_names();
    for i in 0..count {
        let found = history.value(i, 0.0, (q, v));
        if !((found - q[i]).abs() <= 1e-9 * (1.0 + q[i].abs())) {
            return Err(PastError::Jump {
                coordinate: names[i].clone(),
                found,
                expected: q[i],
            });
        }
    }
    if v.len() != count && matches!(history, InitialHistory::Uniform) {
        return Ok(());
    }
    let mut past = vec![0.0; count];
    for j in 0..=64 {
        let s = -reading.delay_max() * (j as f64 / 64.0);
        for i in 0..count {
            past[i] = history.value(i, s, (q, v));
            if !past[i].is_finite() {
                return Err(PastError::NonFinite {
                    coordinate: names[i].clone(),
                    value: past[i],
                    time: s,
                });
            }
        }
        for constraint in system.constraints() {
            let gap = constraint.gap().value(s, &past);
            if gap < -1e-9 {
                return Err(PastError::Inadmissible {
                    constraint: constraint.name().to_string(),
                    gap,
                    time: s,
                });
            }
        }
    }
    Ok(())
}
