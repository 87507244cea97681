//! Whether the positions of a run can be believed: penetration, drift, joints, obstacles that were crossed, bodies that turn
//! too far within a step.
//!
//! A scheme that meets a contact within a step may overshoot it by the approach of that step, h times the speed at
//! which the contact closed (below a flat obstacle: at which it closed again and again without having left it, each time stopped by the contact). What lies beyond is drift: the scheme left a constraint that its velocities obeyed. A run is
//! certified only if drift and joint violation stay below [`DRIFT_LIMIT`] of the size of the motion, which is the range
//! of the coordinates that the function depends on, in the unit of the function: `Σ |∂φ/∂q_i| (max q_i − min q_i)`.

use serde::{Deserialize, Serialize};

use crate::algebra::{Covectors, widen};
use crate::records::{ContactMode, ContactRecord, StepRecord};
use crate::stepping::State;
use crate::stepping::contact_scales::accelerations;
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;

use super::passage_watch::{Crossing, PassageWatch, ROUNDING_UNITS, WayLength, gradient};

/// Largest drift and joint violation of a certified run, as a part of the size of the motion.
pub const DRIFT_LIMIT: f64 = 1e-6;

/// Part of the size of the motion below which a jump of a gap or a joint is none.
const LEAST: f64 = 1e-9;

/// Largest angle by which a step of a certified run turns a body, where its orientation matters: half a turn, beyond which the
/// ends of the step are those of a smaller turn the other way.
pub const TURN_LIMIT: f64 = std::f64::consts::PI;

/// Largest value of one function of the position, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Largest {
    /// The value.
    pub value: f64,
    /// Time.
    pub t: f64,
}

impl Largest {
    /// Enters a value; whether it is the largest.
    #[inline]
    pub(super) fn update(&mut self, value: f64, t: f64) -> bool {
        let larger = !(value <= self.value) && !self.value.is_nan();
        if larger {
            *self = Self { value, t };
        }
        larger
    }
}

/// What is known of the gap of a constraint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Followed {
    /// Its last value.
    gap: f64,
    /// h times the fastest approach since it was last open, the sum of them where it is flat.
    overshoot: f64,
    penetration: Largest,
    /// Penetration beyond what the approach of a step explains.
    drift: Largest,
    /// Whether it fell by more than is left of it.
    #[serde(default)]
    falls: bool,
    /// Whether it is affine, once the system was asked.
    #[serde(skip)]
    flat: bool,
}

impl Followed {
    /// Follows it below zero, from what it was before; whether it never drifted as far.
    #[inline(always)] // A part of `observe`.
    fn dip(
        &mut self,
        before: f64,
        contact: &ContactRecord,
        acted: bool,
        record: &StepRecord,
    ) -> bool {
        // Forces speed a contact up within the step in which it closes.
        let mut approach = 0.0;
        if before >= 0.0 && before - contact.gap > approach {
            approach = before - contact.gap;
        }
        if -record.h * contact.approach > approach {
            approach = -record.h * contact.approach;
        }
        // Bounces below a flat obstacle each overshoot it; along a curved one approaches without end would explain any drift, as
        // would those of a contact that does not act.
        if self.flat && (acted || before >= 0.0) {
            self.overshoot += approach;
        } else if !self.flat && approach > self.overshoot {
            self.overshoot = approach;
        }
        self.penetration.update(-contact.gap, record.t);
        self.drift.update(-contact.gap - self.overshoot, record.t)
    }
}

/// Watches the positions of a run, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionWatch {
    /// Per constraint.
    followed: Vec<Followed>,
    /// Whether the gap of any fell by more than is left of it.
    #[serde(default)]
    falls: bool,
    /// Whether the last step was corrected by a good part of its way, and whether a gap is negative after it.
    #[serde(skip)]
    corrected: bool,
    #[serde(skip)]
    below: bool,
    /// Crossings before the last step.
    #[serde(skip)]
    crossings: u64,
    #[serde(skip)]
    prepared: bool,
    /// Per joint: violation.
    joints: Vec<Largest>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Per velocity: length of the path, where coordinates are not those of the velocities.
    path: Vec<f64>,
    /// Angle by which a step turned a body.
    #[serde(default)]
    turn: Largest,
    /// Whether orientations matter, once the system was asked.
    #[serde(skip)]
    turns: bool,
    /// Largest kinetic length that forces give within a step, of the steps whose drift or joints were the worst until then.
    #[serde(default)]
    given: f64,
    /// Whether drift or joints of the last step were.
    #[serde(skip)]
    worse: bool,
    /// When a position was projected first.
    #[serde(default)]
    projected: Option<f64>,
    /// Obstacles on the way from position to position.
    #[serde(flatten)]
    passages: PassageWatch,
}

impl PositionWatch {
    /// Reads a record of a step that began in the state `from`.
    #[inline(never)] // What judges a step is counted by its name.
    pub fn observe(&mut self, system: &dyn MechanicalSystem, record: &StepRecord, from: &State) {
        if !self.prepared {
            self.prepare(system, record);
        }
        if self.turns {
            self.watch_turn(record);
        }
        // Contacts that are found have a watch of their own.
        if self.followed.is_empty() && self.joints.is_empty() {
            return;
        }
        if self.projected.is_none() && record.projection.iter().any(|&x| x != 0.0) {
            self.projected = Some(record.t);
        }
        widen(&mut self.lower, &mut self.upper, &record.q);
        if !self.path.is_empty() {
            for (path, v) in self.path.iter_mut().zip(&record.velocity) {
                *path += record.h * v.abs();
            }
        }
        self.crossings = self.passages.crossings;
        let range = (self.lower.as_slice(), self.upper.as_slice());
        let length = self.passages.begin(record, &from.q, range);
        self.corrected = length.as_ref().is_some_and(|length| length.corrected);
        self.below = false;
        if std::mem::take(&mut self.falls) {
            self.followed.iter_mut().for_each(|own| own.falls = false);
        }
        self.follow_along(system, record, from, length.as_ref());
        if length.is_none() && record.located.is_some() {
            self.passages.look_at_located(system, record, from);
        }
        if !self.joints.is_empty() {
            for (joint, worst) in system.joints().iter().zip(&mut self.joints) {
                let value = joint.function().value(record.t, &record.q);
                self.worse |= worst.update(value.abs(), record.t);
            }
        }
        if std::mem::take(&mut self.worse) {
            self.enter_given(system, record, from);
        }
    }

    /// The end of the first step whose position was projected.
    pub fn first_projected(&self) -> Option<f64> {
        self.projected
    }

    /// Enters the length that forces give within the step of a record: what rests at the origin has no other, and its positions have the rounding of
    /// that.
    #[cold]
    #[inline(never)]
    fn enter_given(&mut self, system: &dyn MechanicalSystem, record: &StepRecord, from: &State) {
        let a = accelerations(system, (from.t, &from.q, &from.v));
        let given = record.h * record.h * self.passages.length(&a);
        if given > self.given {
            self.given = given;
        }
    }

    /// Enters the angle by which a step turned a body.
    #[inline(never)] // Systems whose coordinates add have no need of its frame.
    fn watch_turn(&mut self, record: &StepRecord) {
        // A scheme from event to event resolves what happens between its records.
        if record.located.is_none() {
            let spin = record.velocity.iter().skip(3);
            let spin = spin.map(|w| w * w).sum::<f64>().sqrt();
            self.turn.update(record.h * spin, record.t);
        }
    }

    /// Follows the gaps of a step, and its way where that is watched.
    #[inline(always)] // A part of `observe`, like the next.
    fn follow_along(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
        length: Option<&WayLength>,
    ) {
        let (mut contacts, mut curved) = (record.contacts.as_slice(), 0);
        while let [contact, others @ ..] = contacts {
            let c = contact.key.constraint();
            let mut acted = contact.mode != ContactMode::Open;
            contacts = others;
            // Points of a constraint share its gap.
            while let [point, others @ ..] = contacts
                && point.key.constraint() == c
            {
                acted |= point.mode != ContactMode::Open;
                contacts = others;
            }
            let Some(own) = self.followed.get_mut(c) else {
                continue;
            };
            let before = std::mem::replace(&mut own.gap, contact.gap);
            if contact.gap >= 0.0 {
                own.overshoot = 0.0;
                own.falls = falls(contact.gap, before);
                self.falls |= own.falls;
            } else {
                self.below = true;
                self.worse |= own.dip(before, contact, acted, record);
            }
            if let Some(length) = length
                && !own.flat
            {
                let gaps = [before, contact.gap];
                let passages = &mut self.passages;
                if !passages.is_settled(system, record, from, length, curved, gaps, acted) {
                    self.look_again(system, record, from, curved, gaps, acted);
                }
                curved += 1;
            }
        }
    }

    /// Takes a close look at a gap on the way of a step that what was seen before does not settle.
    #[cold]
    #[inline(never)] // Steps that are settled have no need of its frame.
    fn look_again(
        &mut self,
        system: &dyn MechanicalSystem,
        record: &StepRecord,
        from: &State,
        curved: usize,
        gaps: [f64; 2],
        acted: bool,
    ) {
        let range = (self.lower.as_slice(), self.upper.as_slice());
        self.passages
            .look_again((system, record, from), range, curved, (gaps, acted));
    }

    /// How many constraints are followed.
    pub fn constraints(&self) -> usize {
        self.followed.len()
    }

    /// The gap of a constraint at the last record.
    #[inline]
    pub fn gap(&self, constraint: usize) -> Option<f64> {
        self.followed.get(constraint).map(|own| own.gap)
    }

    /// Whether [`Self::passed_over`] or [`Self::lost_normal`] can have any.
    #[inline]
    pub fn may_pass(&self) -> bool {
        self.falls || self.passages.lost.is_some()
    }

    /// A constraint whose gradient vanished on the way of the last step, where the constraint was closed.
    pub fn lost_normal(&self) -> Option<usize> {
        self.passages.lost
    }

    /// Constraints whose gaps fell by more than was left of them and are open after the step of a record, without impulse.
    pub fn passed_over(&self, record: &StepRecord) -> impl Iterator<Item = usize> {
        let open = record
            .contacts
            .iter()
            .filter(|contact| contact.gap > 0.0 && contact.mode == ContactMode::Open);
        let constraints = open.map(|contact| contact.key.constraint());
        constraints.filter(|&c| self.followed.get(c).is_some_and(|own| own.falls))
    }

    /// Whether the last step was corrected by a good part of its way, and whether a gap is negative after it.
    #[inline]
    pub fn corrected_or_below(&self) -> (bool, bool) {
        (self.corrected, self.below)
    }

    /// Whether the last step crossed an obstacle.
    pub fn crossed(&self) -> bool {
        self.passages.crossings > self.crossings
    }

    /// A part of the size of the motion in the unit of a function, beyond its rounding, by which nothing moves that matters.
    pub fn least(
        &self,
        system: &dyn MechanicalSystem,
        function: &dyn ScalarFunction,
        at: (f64, &[f64]),
    ) -> f64 {
        let (size, rounding) = self.size(system, function, at);
        LEAST * size + rounding
    }

    /// Asks once what the system is like, and makes room at the first record of a run.
    #[cold]
    fn prepare(&mut self, system: &dyn MechanicalSystem, record: &StepRecord) {
        self.prepared = true;
        let gaps = system.constraints().iter().map(|c| c.gap());
        let flat: Vec<bool> = gaps.map(ScalarFunction::is_affine).collect();
        // The spins of a ball with equal moments, held at its centre, do not know how it is turned.
        self.turns = system.turns() && (system.has_covariant_force() || flat.contains(&false));
        if flat.is_empty() && system.joints().is_empty() {
            return;
        }
        self.passages.prepare(system, record, &flat);
        // A run that is gone on with knows the rest.
        let goes_on = !self.lower.is_empty();
        self.followed.resize(flat.len(), Followed::default());
        for (own, flat) in self.followed.iter_mut().zip(flat) {
            own.flat = flat;
        }
        if goes_on {
            return;
        }
        self.lower.clone_from(&record.q);
        self.upper.clone_from(&record.q);
        if system.coordinate_count() != system.dof() {
            self.path = vec![0.0; system.dof()];
        }
        self.joints = vec![Largest::default(); system.joints().len()];
    }

    /// Range of what a velocity moves.
    fn range(&self, system: &dyn MechanicalSystem, i: usize) -> f64 {
        let span = |k: usize| self.upper[k] - self.lower[k];
        if system.coordinate_count() == system.dof() {
            span(i)
        } else if i < 3 {
            // A body: its position first, then its orientation.
            span(i)
        } else {
            self.path[i].min(std::f64::consts::PI)
        }
    }

    /// Size of the motion in the unit of a function, and the drift that is rounding alone.
    fn size(
        &self,
        system: &dyn MechanicalSystem,
        function: &dyn ScalarFunction,
        (t, q): (f64, &[f64]),
    ) -> (f64, f64) {
        let mut rows = Covectors::default();
        gradient(system, function, (t, q), &mut rows);
        let ranges: Vec<f64> = (0..system.dof()).map(|i| self.range(system, i)).collect();
        let numbers = rows.absolute_dot(0, q) + function.magnitude(t, q);
        let size = rows.absolute_dot(0, &ranges);
        // A function in which nothing moves has the rounding of the whole motion, of the places where it happens, and of what forces give within a
        // step.
        let mut whole = self.passages.length(&ranges) + self.given;
        if q.len() == ranges.len() {
            whole += self.passages.length(q);
        }
        whole *= self.passages.steepness(&rows);
        (size, ROUNDING_UNITS * (numbers + size + whole))
    }

    /// The verdict on the positions so far, at time t and position q.
    pub fn verdict(&self, system: &dyn MechanicalSystem, at: (f64, &[f64])) -> PositionVerdict {
        let mut verdict = PositionVerdict {
            crossings: self.passages.crossings,
            first_crossing: self.passages.first_crossing,
            turn: self.turn,
            lean: self.passages.lean,
            ..PositionVerdict::default()
        };
        let followed = system.constraints().iter().zip(&self.followed);
        for (c, (constraint, own)) in followed.enumerate() {
            let drift = own.drift;
            verdict.penetration.enter(own.penetration, c);
            if drift.value > 0.0 || drift.value.is_nan() {
                let (size, rounding) = self.size(system, constraint.gap(), at);
                let relative = relative(drift.value, size, rounding);
                verdict.drift.enter(
                    Largest {
                        value: relative,
                        t: drift.t,
                    },
                    c,
                );
            }
        }
        for (i, (joint, worst)) in system.joints().iter().zip(&self.joints).enumerate() {
            verdict.joint.enter(*worst, i);
            let (size, rounding) = self.size(system, joint.function(), at);
            let value = relative(worst.value, size, rounding);
            verdict.joint_drift.enter(Largest { value, t: worst.t }, i);
        }
        verdict
    }
}

/// Whether an open gap fell by more than is left of it.
#[inline]
fn falls(now: f64, before: f64) -> bool {
    now > 0.0 && 2.0 * now - before < 0.0
}

/// A defect as a part of the size of the motion; zero where it is rounding.
fn relative(value: f64, size: f64, rounding: f64) -> f64 {
    if value <= rounding { 0.0 } else { value / size }
}

/// A largest value, with the constraint or joint it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LargestOf {
    /// Value and time.
    pub largest: Largest,
    /// Constraint or joint; none if the value is zero everywhere.
    pub of: Option<usize>,
}

impl LargestOf {
    fn enter(&mut self, largest: Largest, of: usize) {
        if largest.value > self.largest.value || largest.value.is_nan() {
            *self = Self {
                largest,
                of: Some(of),
            };
        }
    }
}

/// What the watch says of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PositionVerdict {
    /// Deepest penetration, in the unit of the gap.
    pub penetration: LargestOf,
    /// Largest drift, as a part of the size of the motion.
    pub drift: LargestOf,
    /// Largest joint violation, in the unit of the joint.
    pub joint: LargestOf,
    /// The same as a part of the size of the motion.
    pub joint_drift: LargestOf,
    /// Steps that went through an obstacle.
    pub crossings: u64,
    /// The first of them.
    pub first_crossing: Option<Crossing>,
    /// Largest angle by which a step turned a body whose orientation matters.
    pub turn: Largest,
    /// Part of their way by which many steps in a row were moved back: a position that the correction held and no impulse.
    pub lean: Largest,
}

impl PositionVerdict {
    /// Whether positions drift beyond [`DRIFT_LIMIT`] of the size of the motion.
    pub fn drifts(&self) -> bool {
        self.drifts_beyond(DRIFT_LIMIT)
    }

    /// Whether they drift beyond another part of it.
    pub(crate) fn drifts_beyond(&self, limit: f64) -> bool {
        let within = |worst: &LargestOf| worst.largest.value <= limit;
        !within(&self.drift) || !within(&self.joint_drift)
    }

    /// Whether the correction of positions held the system where impulses did not.
    pub(crate) fn leans(&self) -> bool {
        self.lean.value > 0.0
    }

    /// Whether a step turns a body by more than [`TURN_LIMIT`].
    pub(crate) fn whirls(&self) -> bool {
        !(self.turn.value <= TURN_LIMIT)
    }
}
