//! Positions of an explicit step: the path along which its normals turn, and the correction of its end.

use crate::algebra::{assign, dot};
use crate::contact::ContactProblem;
use crate::systems::functions::ScalarFunction;
use crate::systems::kink::rate_jumps;
use crate::systems::{MechanicalSystem, UnilateralConstraint};

use super::assembly::ContactAssembly;
use super::position_projection::{
    GAP_ROUNDING, PositionCorrection, PositionProjection, Projection,
};
use super::{ContactScales, step_energy};

/// A pressed contact that opens by less than this part of what its normal turns in the step stays closed: a chord misses
/// a curved surface by the third power of the step, a first one along the tangent by half of what its normal turns.
const MISSED: f64 = 0.6;

/// A contact rests below an obstacle if a step moves it by less than this part of its depth.
const LEAVES: f64 = 1e-6;

/// Buffers of the positions of an explicit step.
///
/// The velocity of such a step belongs to the chord between two positions, and the impulse at the position between two
/// chords turns one into the other. What the normal turns from the middle of a chord to its end is therefore no
/// approach: it is taken on the mean of both velocities, and a body that slides on a curved obstacle keeps its energy.
/// What the normal jumps at a kink of the gap is an approach, and an impact.
#[derive(Debug, Default)]
pub(crate) struct ExplicitPositions {
    /// Whether positions are corrected where they can drift.
    pub projection: Projection,
    correction: Option<PositionCorrection>,
    /// Middle of the chord that ends at the place of the laws.
    middle: Vec<f64>,
    start: Vec<f64>,
    /// Constraints whose normal jumps on the chord: all of their approach is answered.
    kinked: Vec<usize>,
    free: Vec<f64>,
    row: Vec<f64>,
    held: Vec<usize>,
    gaps: Vec<f64>,
    projector: PositionProjection,
    /// Displacement of the projection in this step.
    pub displacement: Vec<f64>,
    displaced: bool,
    /// Change of the potential energy by the projection in this step.
    pub work: f64,
}

impl ExplicitPositions {
    fn correction(&mut self, system: &dyn MechanicalSystem) -> PositionCorrection {
        let projection = self.projection;
        *self
            .correction
            .get_or_insert_with(|| PositionCorrection::of(projection, system, false))
    }

    /// Middle of the chord that ends at time t, for a step whose positions are corrected.
    pub fn middle(&self, t: f64, h: f64) -> Option<(f64, &[f64])> {
        (self.correction == Some(PositionCorrection::Path))
            .then_some((t - 0.5 * h, self.middle.as_slice()))
    }

    /// Splits the approach of the active contacts at the end q of a chord with velocity v into what was there in its
    /// middle and the turning since.
    pub fn split(
        &mut self,
        system: &dyn MechanicalSystem,
        (h, t, q, v): (f64, f64, &[f64], &[f64]),
        impulses: &[f64],
        assembly: &mut ContactAssembly,
        problem: &ContactProblem,
    ) {
        if self.correction(system) != PositionCorrection::Path {
            return;
        }
        // The middle of the chord is that of joints too.
        for (place, back) in [(&mut self.middle, 0.5 * h), (&mut self.start, h)] {
            place.resize(q.len(), 0.0);
            system.displace(q, v, -back, place);
        }
        // Open contacts have no approach but that at q. Gradients stay those of q, of which the normal rows are multiples.
        self.kinked.clear();
        for contact in &assembly.active {
            let c = assembly.layout.slots()[contact.slot].key.constraint();
            let gap = system.constraints()[c].gap();
            let kinked = rate_jumps(system, gap, [(t - h, &self.start), (t, q)], v);
            let at = if kinked {
                self.kinked.push(c);
                (t, q)
            } else {
                (t - 0.5 * h, self.middle.as_slice())
            };
            assembly.approach[c] = rate(gap, at, v, &mut self.row);
        }
        assembly.split_turning(problem);
        // A contact that touched without being pressed tells the approach of the start of the chord: its first chord is
        // that of the velocity there.
        for contact in &assembly.active {
            let slot = assembly.layout.slots()[contact.slot];
            let c = slot.key.constraint();
            if impulses[slot.start] > 0.0 || self.kinked.contains(&c) {
                continue;
            }
            let gap = system.constraints()[c].gap();
            let rounding = self.rounding(system, gap, (t, q));
            let before = rate(gap, (t - h, &self.start), v, &mut self.row);
            let turned = rate(gap, (t, q), v, &mut self.row) - before;
            // The end of the chord was projected, which moves its start off the surface by what the normal turns.
            if gap.value(t - h, &self.start) <= rounding + h * turned.abs() {
                assembly.approach[c] = before;
            }
        }
    }

    fn rounding(
        &mut self,
        system: &dyn MechanicalSystem,
        gap: &dyn ScalarFunction,
        at: (f64, &[f64]),
    ) -> f64 {
        self.row.resize(system.dof(), 0.0);
        rounding(gap, at, &mut self.row)
    }

    /// Corrects the position q that a step of length h reached at time t from `before` with the velocity v.
    pub fn correct(
        &mut self,
        system: &dyn MechanicalSystem,
        (h, t): (f64, f64),
        before: &[f64],
        (q, v): (&mut [f64], &[f64]),
        impulses: &[f64],
        scales: &ContactScales,
    ) {
        self.work = 0.0;
        let correction = self.correction(system);
        if correction == PositionCorrection::None || h == 0.0 {
            self.displacement.clear();
            return;
        }
        self.held.clear();
        if correction == PositionCorrection::Path {
            self.read_gaps(system, t, q);
            self.hold(system, (h, t), before, (q, v), (impulses, scales));
            self.spare(system, (h, t), before, (q, v), (impulses, scales));
        } else if impulses.iter().all(|&p| !(p > 0.0))
            || !self.overshot(system, (h, t), (q, v), impulses)
        {
            // Most steps of a flat system: nothing is pressed, and nothing was displaced before.
            if self.displaced || self.displacement.len() != v.len() {
                self.displacement.clear();
                self.displacement.resize(v.len(), 0.0);
                self.displaced = false;
            }
            return;
        } else {
            self.read_gaps(system, t, q);
            self.spare_bouncing(system, t, q);
        }
        self.displaced = true;
        assign(&mut self.free, q);
        if self
            .projector
            .project(system, (t, &self.gaps), q, &self.held)
        {
            self.work =
                step_energy::potential(system, q) - step_energy::potential(system, &self.free);
        }
        assign(&mut self.displacement, &self.projector.displacement);
    }

    /// Spares the contacts below their obstacle that bounce: those that strike in the coming update from above, and those that
    /// leave faster than their normal turns. Brought back they would gain the height of their depth at every impact, and never
    /// come to rest.
    fn spare(
        &mut self,
        system: &dyn MechanicalSystem,
        (h, t): (f64, f64),
        before: &[f64],
        (q, v): (&[f64], &[f64]),
        (impulses, scales): (&[f64], &ContactScales),
    ) {
        let mut spared = std::mem::take(&mut self.projector.spared);
        spared.clear();
        let mut row = 0;
        for (c, constraint) in system.constraints().iter().enumerate() {
            let first = row;
            let mut bounces = false;
            for point in constraint.points() {
                row += 1 + point.law.tangent_dimension();
                bounces |= point.law.impact().restitution() > 0.0;
            }
            if !(bounces && self.gaps[c] < 0.0) {
                continue;
            }
            let gap = constraint.gap();
            let now = rate(gap, (t, q), v, &mut self.row);
            let turned = now - rate(gap, (t - h, before), v, &mut self.row);
            let pressed = impulses.get(first).is_some_and(|&p| p > 0.0);
            let mut strikes = || {
                let closed = self.rounding(system, gap, (t, q)).max(scales.closed_gap(c));
                !pressed && now < 0.0 && gap.value(t - h, before) > closed
            };
            // One that rests below has the rounding of the speeds of the run.
            if now > turned.abs().max(scales.resting_rate(c)) || strikes() {
                spared.push(c);
            }
        }
        self.projector.spared = spared;
    }

    /// Spares the contacts below a flat obstacle that do not rest there, beside those that do.
    fn spare_bouncing(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) {
        let row = &mut self.row;
        let rounding = |c: usize| rounding(system.constraints()[c].gap(), (t, q), row);
        let (gaps, held) = (&self.gaps, &self.held);
        self.projector.spare_others(gaps, held, rounding);
    }

    /// All gaps at (t, q).
    fn read_gaps(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) {
        self.gaps.clear();
        for constraint in system.constraints() {
            self.gaps.push(constraint.gap().value(t, q));
        }
    }

    /// Chooses the pressed contacts that rest below a flat obstacle; whether there are any. One that bounces leaves by
    /// itself: bringing it back would keep a ball from ever coming to rest.
    fn overshot(
        &mut self,
        system: &dyn MechanicalSystem,
        (h, t): (f64, f64),
        (q, v): (&[f64], &[f64]),
        impulses: &[f64],
    ) -> bool {
        let mut row = 0;
        for (c, constraint) in system.constraints().iter().enumerate() {
            let first = row;
            for point in constraint.points() {
                row += 1 + point.law.tangent_dimension();
            }
            if !impulses.get(first).is_some_and(|&p| p > 0.0) {
                continue;
            }
            let gap = constraint.gap();
            let depth = -gap.value(t, q);
            if depth > self.rounding(system, gap, (t, q)) {
                let leaves = h * rate(gap, (t, q), v, &mut self.row);
                if leaves.abs() <= LEAVES * depth {
                    self.held.push(c);
                }
            }
        }
        !self.held.is_empty()
    }

    /// Chooses the pressed contacts whose surface the chord misses by what their normal turns; gaps at its end are known.
    fn hold(
        &mut self,
        system: &dyn MechanicalSystem,
        (h, t): (f64, f64),
        before: &[f64],
        (q, v): (&[f64], &[f64]),
        (impulses, scales): (&[f64], &ContactScales),
    ) {
        let mut row = 0;
        for (c, constraint) in system.constraints().iter().enumerate() {
            let first = row;
            for point in constraint.points() {
                row += 1 + point.law.tangent_dimension();
            }
            let pressed = impulses.get(first).is_some_and(|&p| p > 0.0);
            let (gap, now) = (constraint.gap(), self.gaps[c]);
            // Most contacts are closed at the end: nothing else is asked of them.
            if !(pressed && now > scales.closed_gap(c)) {
                continue;
            }
            let rounding = self.rounding(system, gap, (t, q));
            let closed = rounding.max(scales.closed_gap(c));
            if now > closed && gap.value(t - h, before) <= closed {
                let way = ((h, t), before, (q, v));
                if self.misses(system, constraint, now, way) {
                    self.held.push(c);
                }
            }
        }
    }

    /// Whether a pressed contact has opened by `now` because the chord misses its surface, and not because it leaves.
    ///
    /// The gap opens by what the normal turns along the chord, and what it turned before, which the velocity answers. Where the turning itself changes its
    /// sign within the step (a table that goes up and down, at the middle of its way) it tells nothing: there the gap opens by 7/24 of the change of the turning from one
    /// half of the step to the other, four times over. After a contact without restitution nothing but turning opens a smooth gap.
    fn misses(
        &mut self,
        system: &dyn MechanicalSystem,
        constraint: &UnilateralConstraint,
        now: f64,
        ((h, t), before, (q, v)): ((f64, f64), &[f64], (&[f64], &[f64])),
    ) -> bool {
        let (gap, row) = (constraint.gap(), &mut self.row);
        let first = rate(gap, (t - h, before), v, row);
        let last = rate(gap, (t, q), v, row);
        if now <= MISSED * h * (last - first).abs() {
            return true;
        }
        // What a normal jumps, lets a body leave.
        if rate_jumps(system, gap, [(t - h, before), (t, q)], v) {
            return false;
        }
        self.free.resize(q.len(), 0.0);
        system.displace(before, v, 0.5 * h, &mut self.free);
        let middle = rate(gap, (t - 0.5 * h, &self.free), v, row);
        let bend = (first - 2.0 * middle + last).abs();
        let inelastic = constraint.points().iter().all(|point| {
            point.law.impact().restitution() == 0.0 && point.law.flow_rule().generalized().is_none()
        });
        inelastic || now <= 2.0 * MISSED * h * bend
    }
}

/// Rounding of a gap at (t, q); its gradient is written into `row`.
fn rounding(gap: &dyn ScalarFunction, (t, q): (f64, &[f64]), row: &mut [f64]) -> f64 {
    gap.gradient(t, q, row);
    let size: f64 = row.iter().zip(q).map(|(g, q)| (g * q).abs()).sum();
    GAP_ROUNDING * (size + gap.magnitude(t, q))
}

/// Rate of a gap at (t, q) for the velocity v.
fn rate(gap: &dyn ScalarFunction, (t, q): (f64, &[f64]), v: &[f64], row: &mut Vec<f64>) -> f64 {
    row.resize(v.len(), 0.0);
    gap.gradient(t, q, row);
    dot(row, v) + gap.rate(t, q)
}
