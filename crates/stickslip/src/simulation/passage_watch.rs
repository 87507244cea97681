//! Whether the steps of a run went through obstacles that are open at their ends.

use serde::{Deserialize, Serialize};

use crate::algebra::{
    Covectors, assign, assign_difference, assign_middle, weighted_distance_square, weighted_square,
};
use crate::records::StepRecord;
use crate::stepping::State;
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;
use crate::systems::passage::{GapAlong, LOST, Passage, straight};
use crate::systems::seen_gap::{SeenGap, WayEnds};

use super::positions::Largest;
use super::summary::CERTIFIED_RESIDUAL;

/// Drift and depth within this many units of the rounding of their function are none.
pub(super) const ROUNDING_UNITS: f64 = 1e3 * 16.0 * f64::EPSILON;

/// A projection below this part of the way of its step lifts nothing over an obstacle.
const CORRECTED: f64 = 1e-2;
/// A projection below this part of the way of its step leaves it the way of a contact that slides.
const BESIDE: f64 = 0.05;

/// A run leans on the correction of its positions where that moves so many steps in a row back by more than this part of their way.
const LEANS: f64 = 0.25;
const LEANING: u32 = 16;
/// Corrections below this part of the kinetic length of the coordinates and of the motion so far are rounding.
const ROUNDING_OF_PLACES: f64 = 1e-12;

/// Corrections below this part of the way that impulses hold back in the step are what certified impulses may be off by.
const PRECISION: f64 = CERTIFIED_RESIDUAL;

/// An obstacle that a step went through: it came out on another side than it went in, or met it without contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// End of the step.
    pub t: f64,
    /// Constraint.
    pub constraint: usize,
    /// Most negative gap on the way.
    pub depth: f64,
}

/// Watches the ways between the positions of a run, in constant memory.
///
/// Flat gaps cannot dip between two positions. Of the others most steps are settled by what was seen of them before
/// ([`SeenGap`]), most that are left by their gradients at both ends ([`WayEnds`]); the rest are followed ([`GapAlong`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PassageWatch {
    /// Crossed obstacles: how many, and the first.
    pub crossings: u64,
    pub first_crossing: Option<Crossing>,
    /// A constraint that was closed where its gradient vanishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<usize>,
    /// Steps in a row that were moved back, the least part of their way by which, and the largest of those.
    #[serde(default)]
    leaning: (u32, f64),
    #[serde(default)]
    pub lean: Largest,
    /// The diagonal of the mass at the start.
    #[serde(default)]
    weights: Vec<f64>,
    /// Constraints whose gaps are not affine, and what was seen of them.
    #[serde(skip)]
    curved: Vec<usize>,
    #[serde(default)]
    seen: Vec<SeenGap>,
    /// Gradient of a gap at the end of a step, and at its start.
    #[serde(skip)]
    rows: Covectors,
    #[serde(skip)]
    rows_before: Covectors,
    #[serde(skip)]
    between: Vec<f64>,
    #[serde(skip)]
    dense: Vec<f64>,
    #[serde(skip)]
    moved: Vec<f64>,
    #[serde(skip)]
    free: Vec<f64>,
}

/// A step as far as its way is concerned.
#[derive(Clone, Copy)]
struct Way<'a> {
    system: &'a dyn MechanicalSystem,
    record: &'a StepRecord,
    /// The state at the start of the step.
    from: &'a State,
    gap: &'a dyn ScalarFunction,
    /// Constraint, and its gaps at the ends of the step as they are recorded.
    constraint: usize,
    gaps: [f64; 2],
    /// Whether the constraint acted: it was met, not crossed.
    acted: bool,
}

impl<'a> Way<'a> {
    fn of(
        (system, record, from): (&'a dyn MechanicalSystem, &'a StepRecord, &'a State),
        constraint: usize,
        (gaps, acted): ([f64; 2], bool),
    ) -> Self {
        Self {
            system,
            record,
            from,
            gap: system.constraints()[constraint].gap(),
            constraint,
            gaps,
            acted,
        }
    }

    /// Time at the start, and how long the step takes.
    fn time(&self) -> (f64, f64) {
        (self.record.t - self.record.h, self.record.h)
    }
}

/// How far a step went, in kinetic length.
pub(super) struct WayLength {
    /// All of the way, a projection at its end forth and back.
    step: f64,
    /// Whether the projection leaves it the way of a contact that slides.
    slides: bool,
    /// Whether it is a part of the way that may have lifted a body over something.
    pub corrected: bool,
}

/// What the gradients at both ends of a way tell of it.
struct Normals {
    /// Size of the larger one.
    steepest: f64,
    /// Length of the way in the coordinates that the gradient at its end has.
    length: f64,
    /// Cosine of the angle between them, and size of their difference.
    cosine: f64,
    turned: f64,
}

impl PassageWatch {
    /// How far the step of a record went that began at `from`; none where its way is not watched.
    #[inline]
    pub fn begin(
        &mut self,
        record: &StepRecord,
        from: &[f64],
        range: (&[f64], &[f64]),
    ) -> Option<WayLength> {
        if self.curved.is_empty() {
            return None;
        }
        // What locates its events by itself is no straight way from record to record.
        if !(record.h > 0.0 && record.located.is_none()) {
            self.seen.clear();
            return None;
        }
        if self.seen.len() != self.curved.len() {
            self.forget();
        }
        // Coordinates of bodies that turn do not add.
        let length = if adds(record) {
            weighted_distance_square(&self.weights, &record.q, from).sqrt()
        } else {
            write_moved(record, (from, &record.q), &mut self.moved);
            self.length(&self.moved)
        };
        if !record.projection.is_empty() {
            return Some(self.begin_moved_back(record, length, range));
        }
        self.leaning.0 = 0;
        Some(WayLength {
            step: length,
            slides: true,
            corrected: false,
        })
    }

    /// The same for a step at whose end the position was projected.
    fn begin_moved_back(
        &mut self,
        record: &StepRecord,
        length: f64,
        range: (&[f64], &[f64]),
    ) -> WayLength {
        let projection = self.length(&record.projection);
        if projection > LEANS * (length + projection) {
            self.lean_on((projection, length), record, range);
        } else {
            self.leaning.0 = 0;
        }
        WayLength {
            // Forth and back.
            step: length + 2.0 * projection,
            slides: projection <= BESIDE * length,
            corrected: projection > CORRECTED * length,
        }
    }

    /// Enters a step that was moved back by a good part of its way. One overshoot is an impact; many in a row are a position that no
    /// impulse holds, unless they are rounding of the place: at the origin that of the places from which the motion came there, within the
    /// `range` of its coordinates; or unless impulses do hold it, and leave to the correction no more than their own precision.
    #[cold]
    fn lean_on(
        &mut self,
        (projection, length): (f64, f64),
        record: &StepRecord,
        (lower, upper): (&[f64], &[f64]),
    ) {
        let place = weighted_square(&self.weights, &record.q).sqrt();
        let motion = weighted_distance_square(&self.weights, upper, lower).sqrt();
        let stopped =
            weighted_distance_square(&self.weights, &record.velocity, &record.velocity_left).sqrt();
        let rounding = ROUNDING_OF_PLACES * (place + motion);
        if projection <= rounding.max(PRECISION * record.h * stopped) {
            self.leaning.0 = 0;
            return;
        }
        let (steps, least) = self.leaning;
        let part = projection / (length + projection);
        let least = if steps == 0 { part } else { least.min(part) };
        self.leaning = (steps + 1, least);
        if steps + 1 >= LEANING {
            self.lean.update(least, record.t);
        }
    }

    /// Nothing is known of any gap.
    #[cold]
    fn forget(&mut self) {
        self.seen.resize(self.curved.len(), SeenGap::default());
    }

    /// Asks once what the system is like; weights that were resumed stay those of the start.
    #[cold]
    pub fn prepare(&mut self, system: &dyn MechanicalSystem, record: &StepRecord, flat: &[bool]) {
        if self.weights.is_empty() {
            let mut mass = system.new_matrix();
            system.mass(&record.q, &mut mass);
            let diagonal = (0..system.dof()).map(|i| mass.get(i, i));
            self.weights = diagonal.collect();
        }
        self.curved = (0..flat.len()).filter(|&c| !flat[c]).collect();
    }

    /// Whether what was seen of gap number `k` of the curved ones excludes an obstacle on the way of a record, between the
    /// gaps `gaps` at its ends.
    #[inline]
    pub fn is_settled(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
        length: &WayLength,
        k: usize,
        gaps: [f64; 2],
        acted: bool,
    ) -> bool {
        let middle = || middle(system, record, &from.q, self.curved[k], &mut self.between);
        length.slides && self.seen[k].settles((length.step, record.h), gaps, acted, middle)
    }

    /// Looks closely for the obstacle of gap number `k` of the curved ones; `range` are the least and largest coordinates
    /// of the run.
    pub fn look_again(
        &mut self,
        (system, record, from): (&dyn MechanicalSystem, &StepRecord, &State),
        range: (&[f64], &[f64]),
        k: usize,
        (gaps, acted): ([f64; 2], bool),
    ) {
        let constraint = self.curved[k];
        let way = Way::of((system, record, from), constraint, (gaps, acted));
        let seen = self.look_closely(&way, self.seen[k]);
        self.seen[k] = if adds(record) {
            seen.in_motion(weighted_distance_square(&self.weights, range.1, range.0).sqrt())
        } else {
            seen
        };
    }

    /// Looks at the gap at both ends of the way from the last position to the end of the step before it was projected, and
    /// along it where that does not exclude a passage.
    fn look_closely(&mut self, way: &Way, before: SeenGap) -> SeenGap {
        let Way {
            system,
            record,
            from,
            ..
        } = *way;
        let (gap, (t0, h)) = (way.gap, way.time());
        assign(&mut self.free, &record.q);
        let mut gaps = way.gaps;
        if record.projection.iter().any(|&x| x != 0.0) {
            system.displace(&record.q, &record.projection, -1.0, &mut self.free);
            gaps[1] = gap.value(record.t, &self.free);
        }
        write_moved(record, (&from.q, &self.free), &mut self.moved);
        gradient(system, gap, (record.t, &self.free), &mut self.rows);
        let rate = gap.rate(record.t, &self.free);
        let slope = self.rows.dot(0, &self.moved) + rate * h;
        gradient(system, gap, (t0, &from.q), &mut self.rows_before);
        let rate_before = gap.rate(t0, &from.q);
        let slope_before = self.rows_before.dot(0, &self.moved) + rate_before * h;
        let numbers = self.rows_before.absolute_dot(0, &from.q) + gap.magnitude(t0, &from.q);
        let rounding = ROUNDING_UNITS * numbers;
        let drift = rate.abs().max(rate_before.abs()) * h;
        let Normals {
            steepest,
            length,
            cosine,
            turned,
        } = self.normals();
        let ends = WayEnds {
            gaps,
            slopes: [slope_before, slope],
            steepness: steepest * length + drift,
            cosine,
        };
        let seen = SeenGap::at(way.gaps[1], (steepest, rate), rounding);
        if !ends.is_near() {
            return seen;
        }
        // A gradient that changes by a good part of itself may vanish in between.
        let closed = way.acted || gaps[0].abs().min(gaps[1].abs()) <= LOST * ends.steepness;
        let restless = seen.changes_by(turned) || before.changes_within(length);
        if closed && restless && self.on_way(way, rounding, |along| along.loses_normal()) {
            self.enter_lost(way);
            return seen;
        }
        let (last, free) = (from.q.as_slice(), self.free.as_slice());
        let q = &mut self.between;
        q.resize(last.len(), 0.0);
        let passes = ends.may_pass(way.acted, rounding, |s| {
            straight(system, (last, free), s, q);
            gap.value(t0 + s * h, q)
        });
        if passes {
            self.look_along(way, rounding);
            return seen;
        }
        // The way of a whole mesh says little of that of one node.
        if self.rows.is_sparse() {
            return seen;
        }
        seen.sliding(self.length(&self.moved), turned)
    }

    /// Kinetic length of a displacement.
    pub fn length(&self, displacement: &[f64]) -> f64 {
        weighted_square(&self.weights, displacement).sqrt()
    }

    /// What the gradients at both ends of the way tell of it.
    fn normals(&mut self) -> Normals {
        if self.rows.is_sparse() || self.rows_before.is_sparse() {
            return self.sparse_normals();
        }
        let (after, before) = (self.rows.dense(0), self.rows_before.dense(0));
        let ([mut square, mut own, mut others], [mut product, mut apart]) = ([0.0; 3], [0.0; 2]);
        for (((&m, &x), &b), &a) in self.weights.iter().zip(&self.moved).zip(after).zip(before) {
            let m = m.max(f64::MIN_POSITIVE);
            square += m * x * x;
            own += a * a / m;
            others += b * b / m;
            product += a * b / m;
            apart += (b - a) * (b - a) / m;
        }
        Normals {
            steepest: others.sqrt().max(own.sqrt()),
            length: square.sqrt(),
            cosine: product / (own * others).sqrt(),
            turned: apart.sqrt(),
        }
    }

    /// The same where rows are sparse.
    fn sparse_normals(&mut self) -> Normals {
        let (steep, length) = self.measure(&self.rows);
        let (before, _) = self.measure(&self.rows_before);
        let (cosine, turned) = self.turning();
        Normals {
            steepest: steep.max(before),
            length,
            cosine,
            turned,
        }
    }

    /// Size of a gradient, and length of the way of the step in the coordinates that it has.
    fn measure(&self, rows: &Covectors) -> (f64, f64) {
        let (mut steep, mut square) = (0.0, 0.0);
        for_each_entry(rows, |i, g| {
            let m = self.weight(i);
            steep += g * g / m;
            square += m * self.moved[i] * self.moved[i];
        });
        (steep.sqrt(), square.sqrt())
    }

    /// Cosine of the angle between the gradients at both ends, and the size of their difference.
    fn turning(&mut self) -> (f64, f64) {
        let mut dense = std::mem::take(&mut self.dense);
        dense.clear();
        dense.resize(self.weights.len(), 0.0);
        self.rows.add_to(0, 1.0, &mut dense);
        let (mut own, mut product) = (0.0, 0.0);
        for_each_entry(&self.rows_before, |i, g| {
            let m = self.weight(i);
            own += g * g / m;
            product += g * dense[i] / m;
        });
        let size = |x: &[f64]| -> f64 {
            let parts = x.iter().zip(&self.weights);
            parts.map(|(g, m)| g * g / m.max(f64::MIN_POSITIVE)).sum()
        };
        let others = size(&dense);
        self.rows_before.add_to(0, -1.0, &mut dense);
        let turned = size(&dense).sqrt();
        self.dense = dense;
        (product / (own * others).sqrt(), turned)
    }

    /// Looks for gaps that lose their normal from one record to the next of a scheme that locates its events by itself.
    pub fn look_at_located(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
    ) {
        assign(&mut self.free, &record.q);
        write_moved(record, (&from.q, &self.free), &mut self.moved);
        let mut next = 0;
        for contact in &record.contacts {
            let constraint = contact.key.constraint();
            // Points of a constraint share its gap.
            if constraint < next || self.curved.binary_search(&constraint).is_err() {
                continue;
            }
            next = constraint + 1;
            let ends = ([contact.gap; 2], true);
            let way = Way::of((system, record, from), constraint, ends);
            if self.on_way(&way, 0.0, |along| along.loses_normal()) {
                self.enter_lost(&way);
            }
        }
    }

    /// Enters a constraint that lost its normal on the way of a step.
    fn enter_lost(&mut self, way: &Way) {
        self.lost = Some(way.constraint);
        self.enter_crossing(way, way.gaps[1]);
    }

    fn enter_crossing(&mut self, way: &Way, depth: f64) {
        self.crossings += 1;
        let crossing = Crossing {
            t: way.record.t,
            constraint: way.constraint,
            depth,
        };
        self.first_crossing.get_or_insert(crossing);
    }

    /// What the gap along the way of a step tells.
    fn on_way<T>(&self, way: &Way, rounding: f64, ask: impl FnOnce(&GapAlong) -> T) -> T {
        let ends = (way.from.q.as_slice(), self.free.as_slice());
        ask(&GapAlong {
            system: way.system,
            gap: way.gap,
            place: &|s, q| straight(way.system, ends, s, q),
            moved: &|_, out| out.copy_from_slice(&self.moved),
            time: way.time(),
            weights: &self.weights,
            rounding,
        })
    }

    /// Enters what the way of a step passes of a gap.
    fn look_along(&mut self, way: &Way, rounding: f64) {
        let Way { record, from, .. } = *way;
        let (gap, (t0, h)) = (way.gap, way.time());
        let (passages, after) = self.on_way(way, rounding, |along| {
            (along.passages(), along.at(1.0, &record.q))
        });
        let start_open = gap.value(t0, &from.q) > rounding;
        let missed = |passage: &Passage| {
            // Velocities that change in the step bend its way off the straight line.
            let pairs = record.velocity.iter().zip(&from.v);
            let bend: f64 = (pairs.zip(&self.weights))
                .map(|((b, a), m)| m * (b - a) * (b - a))
                .sum();
            let normal = passage.entry.normal.iter().zip(&self.weights);
            let steep: f64 = normal.map(|(g, m)| g * g / m.max(f64::MIN_POSITIVE)).sum();
            start_open
                && after.value > rounding
                && passage.is_whole()
                && !way.acted
                && passage.depth < -(rounding + 0.125 * h * (bend * steep).sqrt())
        };
        let crossed = passages.iter().find(|passage| {
            passage.crosses(&self.weights)
                || (passage.is_open() && passage.leaves(&after, &self.weights))
                || missed(passage)
        });
        if let Some(depth) = crossed.map(|passage| passage.depth) {
            self.enter_crossing(way, depth);
        }
    }

    /// What a gap with this gradient can change at most along a displacement of kinetic length one.
    pub fn steepness(&self, rows: &Covectors) -> f64 {
        let mut steep = 0.0;
        for_each_entry(rows, |i, g| steep += g * g / self.weight(i));
        f64::sqrt(steep)
    }

    fn weight(&self, i: usize) -> f64 {
        let own = self.weights.get(i).copied().unwrap_or(1.0);
        own.max(f64::MIN_POSITIVE)
    }
}

/// Whether displacements of the coordinates of a record add: those of bodies that turn do not.
#[inline]
fn adds(record: &StepRecord) -> bool {
    record.q.len() == record.velocity.len()
}

/// The gap of a constraint in the middle of the way from `from` to the position of a record.
#[inline(never)] // Steps that do not ask for it have no need of its frame.
fn middle(
    system: &dyn MechanicalSystem,
    record: &StepRecord,
    from: &[f64],
    constraint: usize,
    q: &mut Vec<f64>,
) -> f64 {
    if adds(record) {
        assign_middle(q, from, &record.q);
    } else {
        q.resize(record.q.len(), 0.0);
        straight(system, (from, &record.q), 0.5, q);
    }
    let gap = system.constraints()[constraint].gap();
    gap.value(record.t - 0.5 * record.h, q)
}

/// The displacement from one position to another, as a velocity.
pub(super) fn write_moved(record: &StepRecord, (from, to): (&[f64], &[f64]), moved: &mut Vec<f64>) {
    if to.len() == record.velocity.len() {
        assign_difference(moved, to, from);
    } else {
        moved.clear();
        moved.extend(record.velocity.iter().map(|v| record.h * v));
    }
}

/// Indices and entries of the only row of a list.
fn for_each_entry(rows: &Covectors, mut f: impl FnMut(usize, f64)) {
    if rows.is_sparse() {
        let (index, value) = rows.sparse(0);
        for (&i, &g) in index.iter().zip(value) {
            f(i as usize, g);
        }
    } else {
        for (i, &g) in rows.dense(0).iter().enumerate() {
            f(i, g);
        }
    }
}

/// The gradient of a function as the only row of a list.
pub(super) fn gradient(
    system: &dyn MechanicalSystem,
    function: &dyn ScalarFunction,
    (t, q): (f64, &[f64]),
    rows: &mut Covectors,
) {
    let n = system.dof();
    if system.sparsity().is_some() {
        rows.clear_sparse(n);
        if function.sparse_gradient(t, q, rows) {
            return;
        }
    }
    function.gradient(t, q, rows.reset_dense(n, 1));
}
