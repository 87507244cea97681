//! Whether the positions of a run can be believed: penetration, drift, joints, obstacles that were crossed.
//!
//! A scheme that meets a contact within a step may overshoot it by the approach of that step, h times the speed at
//! which the contact closed (below a flat obstacle: at which it closed again and again without having left it). What lies beyond is drift: the scheme left a constraint that its velocities obeyed. A run is
//! certified only if drift and joint violation stay below [`DRIFT_LIMIT`] of the size of the motion, which is the range
//! of the coordinates that the function depends on, in the unit of the function: `Σ |∂φ/∂q_i| (max q_i − min q_i)`.

use serde::{Deserialize, Serialize};

use crate::algebra::{Covectors, assign};
use crate::records::{ContactMode, StepRecord};
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;
use crate::systems::passage::{GapAlong, Passage, WayEnds, straight};

/// Largest drift and joint violation of a certified run, as a part of the size of the motion.
pub const DRIFT_LIMIT: f64 = 1e-6;

/// Drift within this many units of the rounding of its function is none.
const ROUNDING_UNITS: f64 = 1e3 * 16.0 * f64::EPSILON;

/// Largest value of one function of the position, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Largest {
    /// The value.
    pub value: f64,
    /// Time.
    pub t: f64,
}

impl Largest {
    fn update(&mut self, value: f64, t: f64) {
        if value > self.value || (value.is_nan() && !self.value.is_nan()) {
            *self = Self { value, t };
        }
    }
}

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

/// Watches the positions of a run, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionWatch {
    /// Per constraint: penetration.
    penetration: Vec<Largest>,
    /// Per constraint: penetration beyond what the approach of a step explains.
    drift: Vec<Largest>,
    /// Per constraint: h times the fastest approach since the gap was last open, the sum of them for flat obstacles.
    overshoot: Vec<f64>,
    /// Per constraint: the last gap.
    gaps: Vec<f64>,
    /// Per joint: violation.
    joints: Vec<Largest>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Per velocity: length of the path, where coordinates are not those of the velocities.
    path: Vec<f64>,
    last: Vec<f64>,
    /// Crossed obstacles: how many, and the first.
    crossings: u64,
    first_crossing: Option<Crossing>,
    /// Whether some gap is not affine, so that a step may dip through it.
    #[serde(skip)]
    curved: Option<bool>,
    /// The last velocity, and the diagonal of the mass at the start.
    #[serde(default)]
    last_velocity: Vec<f64>,
    #[serde(default)]
    weights: Vec<f64>,
    /// Per constraint: size of the gradient of the gap at the last position; infinite where it is not known.
    #[serde(skip)]
    steep: Vec<f64>,
    /// Gradient of a gap at one place of a step, and at another.
    #[serde(skip)]
    rows: Covectors,
    #[serde(skip)]
    other_rows: Covectors,
    #[serde(skip)]
    between: Vec<f64>,
    #[serde(skip)]
    dense: Vec<f64>,
    #[serde(skip)]
    moved: Vec<f64>,
    #[serde(skip)]
    free: Vec<f64>,
}

impl PositionWatch {
    /// Reads a record.
    pub fn observe(&mut self, system: &dyn MechanicalSystem, record: &StepRecord) {
        let (constraints, joints) = (system.constraints(), system.joints());
        let count = constraints.len();
        // Contacts that are found have a watch of their own.
        if count == 0 && joints.is_empty() {
            return;
        }
        if self.lower.is_empty() {
            self.begin(system, record);
        }
        let bounds = self.lower.iter_mut().zip(&mut self.upper);
        for ((lower, upper), &q) in bounds.zip(&record.q) {
            if q < *lower {
                *lower = q;
            }
            if q > *upper {
                *upper = q;
            }
        }
        for (path, v) in self.path.iter_mut().zip(&record.velocity) {
            *path += record.h * v.abs();
        }
        let curved = *self
            .curved
            .get_or_insert_with(|| constraints.iter().any(|c| !c.gap().is_affine()));
        if self.weights.is_empty() {
            let mut mass = system.new_matrix();
            system.mass(&record.q, &mut mass);
            self.weights = (0..system.dof()).map(|i| mass.get(i, i)).collect();
        }
        let mut next = 0;
        for contact in &record.contacts {
            // Points of a constraint share its gap.
            let c = contact.key.constraint();
            if c < next || c >= count {
                continue;
            }
            next = c + 1;
            let before = std::mem::replace(&mut self.gaps[c], contact.gap);
            if contact.gap >= 0.0 {
                self.overshoot[c] = 0.0;
            } else {
                // Forces speed a contact up within the step in which it closes.
                let fell = if before >= 0.0 {
                    before - contact.gap
                } else {
                    0.0
                };
                let approach = fell.max(-record.h * contact.approach).max(0.0);
                let gap = constraints[c].gap();
                // Bounces below a flat obstacle each overshoot it; along a curved one approaches without end would explain any drift.
                self.overshoot[c] = if gap.is_affine() {
                    self.overshoot[c] + approach
                } else {
                    self.overshoot[c].max(approach)
                };
                self.penetration[c].update(-contact.gap, record.t);
                self.drift[c].update(-contact.gap - self.overshoot[c], record.t);
            }
        }
        // What locates its events by itself is no straight way from record to record.
        if curved && record.h > 0.0 && record.located.is_none() {
            self.look_between(system, record);
        }
        for (joint, worst) in joints.iter().zip(&mut self.joints) {
            let value = joint.function().value(record.t, &record.q);
            worst.update(value.abs(), record.t);
        }
        if curved {
            assign(&mut self.last, &record.q);
            assign(&mut self.last_velocity, &record.velocity);
        }
    }

    /// Makes room at the first record.
    #[cold]
    fn begin(&mut self, system: &dyn MechanicalSystem, record: &StepRecord) {
        let count = system.constraints().len();
        self.lower.clone_from(&record.q);
        self.upper.clone_from(&record.q);
        if system.coordinate_count() != system.dof() {
            self.path = vec![0.0; system.dof()];
        }
        self.penetration = vec![Largest::default(); count];
        self.drift = vec![Largest::default(); count];
        self.overshoot = vec![0.0; count];
        self.gaps = vec![0.0; count];
        self.joints = vec![Largest::default(); system.joints().len()];
    }

    /// Looks for obstacles on the way from the last position to the end of the step before it was projected, and on
    /// from there.
    fn look_between(&mut self, system: &dyn MechanicalSystem, record: &StepRecord) {
        if self.last.len() != record.q.len() {
            return;
        }
        self.steep.resize(system.constraints().len(), f64::INFINITY);
        self.free.clone_from(&record.q);
        let projected = record.projection.iter().any(|&x| x != 0.0);
        if projected {
            system.displace(&record.q, &record.projection, -1.0, &mut self.free);
        }
        self.moved.clear();
        if system.coordinate_count() == system.dof() {
            let ends = self.free.iter().zip(&self.last);
            self.moved.extend(ends.map(|(b, a)| b - a));
        } else {
            self.moved
                .extend(record.velocity.iter().map(|v| record.h * v));
        }
        for (c, constraint) in system.constraints().iter().enumerate() {
            if !constraint.gap().is_affine() && self.may_pass(system, c, (record, projected)) {
                self.look_along(system, c, record);
            }
        }
    }

    /// Whether a step can have gone through a gap, by what is known of it at both ends: it is not too far away, and does
    /// not slide along it.
    fn may_pass(
        &mut self,
        system: &dyn MechanicalSystem,
        c: usize,
        (record, projected): (&StepRecord, bool),
    ) -> bool {
        let gap = system.constraints()[c].gap();
        let (t0, h) = (record.t - record.h, record.h);
        let before = gap.value(t0, &self.last);
        let after = if projected {
            gap.value(record.t, &self.free)
        } else {
            contact_gap(record, c)
        };
        gradient(system, gap, (record.t, &self.free), &mut self.rows);
        let drift = gap.rate(record.t, &self.free) * h;
        let slope_after = self.rows.dot(0, &self.moved) + drift;
        let (steep, length) = self.measure();
        // Most steps are far from most obstacles.
        let steepest = steep.max(std::mem::replace(&mut self.steep[c], steep));
        if !WayEnds::is_near([before, after], steepest * length + drift.abs()) {
            return false;
        }
        std::mem::swap(&mut self.rows, &mut self.other_rows);
        gradient(system, gap, (t0, &self.last), &mut self.rows);
        let drift_before = gap.rate(t0, &self.last) * h;
        let steepest = steep.max(self.measure().0);
        let known = WayEnds {
            gaps: [before, after],
            slopes: [self.rows.dot(0, &self.moved) + drift_before, slope_after],
            steepness: steepest * length + drift.abs().max(drift_before.abs()),
            cosine: self.cosine(),
        };
        let rounding = self.rounding(gap, (t0, &self.last));
        let ends = (self.last.as_slice(), self.free.as_slice());
        let q = &mut self.between;
        q.resize(ends.0.len(), 0.0);
        known.may_pass(acted(record, c), rounding, |s| {
            straight(system, ends, s, q);
            gap.value(t0 + s * h, q)
        })
    }

    /// Size of the present gradient, and length of the way of the step in the coordinates that it has.
    fn measure(&self) -> (f64, f64) {
        let (mut steep, mut square) = (0.0, 0.0);
        for_each_entry(&self.rows, |i, g| {
            let m = self.weight(i);
            steep += g * g / m;
            square += m * self.moved[i] * self.moved[i];
        });
        (steep.sqrt(), square.sqrt())
    }

    /// Cosine of the angle between the two gradients.
    fn cosine(&mut self) -> f64 {
        let mut dense = std::mem::take(&mut self.dense);
        dense.clear();
        dense.resize(self.weights.len(), 0.0);
        self.other_rows.add_to(0, 1.0, &mut dense);
        let (mut own, mut product) = (0.0, 0.0);
        for_each_entry(&self.rows, |i, g| {
            let m = self.weight(i);
            own += g * g / m;
            product += g * dense[i] / m;
        });
        let others = dense.iter().zip(&self.weights);
        let others: f64 = others.map(|(g, m)| g * g / m.max(f64::MIN_POSITIVE)).sum();
        self.dense = dense;
        product / (own * others).sqrt()
    }

    /// Rounding of a gap with the present gradient.
    fn rounding(&self, gap: &dyn ScalarFunction, (t, q): (f64, &[f64])) -> f64 {
        ROUNDING_UNITS * (self.rows.absolute_dot(0, q) + gap.magnitude(t, q))
    }

    /// Enters what the way of a step passes of a gap.
    fn look_along(&mut self, system: &dyn MechanicalSystem, c: usize, record: &StepRecord) {
        let gap = system.constraints()[c].gap();
        let (t0, h) = (record.t - record.h, record.h);
        gradient(system, gap, (t0, &self.last), &mut self.rows);
        let rounding = self.rounding(gap, (t0, &self.last));
        let (ends, moved) = ((self.last.as_slice(), self.free.as_slice()), &self.moved);
        let along = GapAlong {
            system,
            gap,
            place: &|s, q| straight(system, ends, s, q),
            moved: &|_, out| out.copy_from_slice(moved),
            time: (t0, h),
            weights: &self.weights,
            rounding,
        };
        let passages = along.passages();
        let after = along.at(1.0, &record.q);
        let start_open = gap.value(t0, &self.last) > rounding;
        let missed = |passage: &Passage| {
            // Velocities that change in the step bend its way off the straight line.
            let pairs = record.velocity.iter().zip(&self.last_velocity);
            let bend: f64 = (pairs.zip(&self.weights))
                .map(|((b, a), m)| m * (b - a) * (b - a))
                .sum();
            let normal = passage.entry.normal.iter().zip(&self.weights);
            let steep: f64 = normal.map(|(g, m)| g * g / m.max(f64::MIN_POSITIVE)).sum();
            start_open
                && after.value > rounding
                && passage.is_whole()
                && !acted(record, c)
                && passage.depth < -(rounding + 0.125 * h * (bend * steep).sqrt())
        };
        let crossed = passages.iter().find(|passage| {
            passage.crosses(&self.weights)
                || (passage.is_open() && passage.leaves(&after, &self.weights))
                || missed(passage)
        });
        if let Some(passage) = crossed {
            self.crossings += 1;
            let crossing = Crossing {
                t: record.t,
                constraint: c,
                depth: passage.depth,
            };
            self.first_crossing.get_or_insert(crossing);
        }
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
        // A function in which nothing moves has the rounding of the whole motion.
        let squares = ranges.iter().zip(&self.weights).map(|(x, m)| m * x * x);
        let length = squares.sum::<f64>().sqrt();
        let mut steep = 0.0;
        for_each_entry(&rows, |i, g| steep += g * g / self.weight(i));
        let whole = f64::sqrt(steep) * length;
        (size, ROUNDING_UNITS * (numbers + size + whole))
    }

    fn weight(&self, i: usize) -> f64 {
        let own = self.weights.get(i).copied().unwrap_or(1.0);
        own.max(f64::MIN_POSITIVE)
    }

    /// The verdict on the positions so far, at time t and position q.
    pub fn verdict(&self, system: &dyn MechanicalSystem, at: (f64, &[f64])) -> PositionVerdict {
        let mut verdict = PositionVerdict {
            crossings: self.crossings,
            first_crossing: self.first_crossing,
            ..PositionVerdict::default()
        };
        for (c, constraint) in system.constraints().iter().enumerate() {
            let (Some(depth), Some(drift)) = (self.penetration.get(c), self.drift.get(c)) else {
                continue;
            };
            verdict.penetration.enter(*depth, c);
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

/// Whether a constraint acted in the step: it was met, not crossed.
fn acted(record: &StepRecord, c: usize) -> bool {
    let mut contacts = record.contacts.iter();
    contacts.any(|contact| contact.key.constraint() == c && contact.mode != ContactMode::Open)
}

fn contact_gap(record: &StepRecord, c: usize) -> f64 {
    let own = record
        .contacts
        .iter()
        .find(|contact| contact.key.constraint() == c);
    own.map_or(f64::NAN, |contact| contact.gap)
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

fn gradient(
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
    rows.clear_dense(n);
    function.gradient(t, q, rows.push_dense(1));
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
}

impl PositionVerdict {
    /// Whether positions drift beyond [`DRIFT_LIMIT`] of the size of the motion.
    pub fn drifts(&self) -> bool {
        let within = |worst: &LargestOf| worst.largest.value <= DRIFT_LIMIT;
        !within(&self.drift) || !within(&self.joint_drift)
    }
}
