//! From the constraints of a system to the blocks of a contact problem.

use crate::algebra::{Covectors, assign_zeros, copy, dot};
use crate::contact::{BlockKind, ContactBlock, ContactKey, ContactProblem};
use crate::laws::{FlowRule, FrictionSection, ImpactLaw};
use crate::records::{ContactMode, ContactRecord, PainleveMargin, StepOutcome, StepRecord};
use crate::systems::{Instant, MechanicalSystem, UnilateralConstraint};

use super::position_projection::GAP_ROUNDING;

/// Part of a velocity that is its rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Fixed place of one contact point in impulse vectors and records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSlot {
    /// Constraint and point.
    pub key: ContactKey,
    /// First row.
    pub start: usize,
    /// Number of rows.
    pub size: usize,
}

/// Places of all contact points of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactLayout {
    slots: Vec<ContactSlot>,
    rows: usize,
}

impl ContactLayout {
    /// Layout of a system: one slot per contact point, in order.
    pub fn new(system: &dyn MechanicalSystem) -> Self {
        let mut layout = Self::default();
        for (c, constraint) in system.constraints().iter().enumerate() {
            for (k, point) in constraint.points().iter().enumerate() {
                let size = 1 + point.law.tangent_dimension();
                layout.slots.push(ContactSlot {
                    key: ContactKey::declared(c, k),
                    start: layout.rows,
                    size,
                });
                layout.rows += size;
            }
        }
        layout
    }

    /// All slots.
    pub fn slots(&self) -> &[ContactSlot] {
        &self.slots
    }

    /// Number of rows of all slots.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Name and number of rows of every contact point.
    pub fn names(&self, system: &dyn MechanicalSystem) -> Vec<(String, usize)> {
        self.slots
            .iter()
            .map(|slot| {
                let constraint = &system.constraints()[slot.key.constraint()];
                let name = match constraint.points().len() {
                    1 => constraint.name().to_string(),
                    _ => format!("{}-{}", constraint.name(), slot.key.point()),
                };
                (name, slot.size)
            })
            .collect()
    }
}

/// One active contact point: where its rows are in the problem and in the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveContact {
    pub slot: usize,
    pub block: usize,
    /// First tangent row of the point inside the problem (the normal row is the block's first).
    pub tangents: usize,
    /// Whether the point owns the normal impulse of its block.
    pub owns_normal: bool,
    pub impact: ImpactLaw,
}

/// Gathers active contacts; all buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct ContactAssembly {
    pub layout: ContactLayout,
    pub gaps: Vec<f64>,
    pub approach: Vec<f64>,
    pub active: Vec<ActiveContact>,
    /// Local velocity at the start of the step, drift included, per problem row.
    pub before: Vec<f64>,
    /// Local velocity at v = 0 per problem row (moving obstacles).
    pub drift: Vec<f64>,
    /// How much the turning of the normal along the step adds to the local velocity at the start, per problem row;
    /// zero where laws are read at the start of the step.
    pub turning: Vec<f64>,
    gradients: Covectors,
    /// No gradient ever changes.
    affine: bool,
    rows: Vec<f64>,
    sparse_rows: Covectors,
    parts: Vec<FrictionSection>,
}

impl ContactAssembly {
    /// Makes room for a system, once.
    #[inline]
    pub fn prepare(&mut self, system: &dyn MechanicalSystem) {
        let constraints = system.constraints();
        if self.gaps.len() == constraints.len() && self.approach.len() == constraints.len() {
            return;
        }
        self.layout = ContactLayout::new(system);
        self.gaps.resize(constraints.len(), 0.0);
        self.approach.resize(constraints.len(), 0.0);
        self.affine = constraints.iter().all(|c| c.gap().is_affine());
    }

    /// Evaluates gaps, unless they are known, gradients and linear approach rates at (t, q) for the velocity v; `Err`
    /// names a gap that is no number.
    pub fn evaluate_gaps(
        &mut self,
        system: &dyn MechanicalSystem,
        (t, q, v): (f64, &[f64], &[f64]),
        known: Option<&[f64]>,
    ) -> Result<(), StepOutcome> {
        let constraints = system.constraints();
        if !(self.affine && self.gradients.len() == constraints.len()) {
            self.evaluate_gradients(system, t, q);
        }
        match known {
            Some(known) => copy(&mut self.gaps, known),
            None => {
                for (value, constraint) in self.gaps.iter_mut().zip(constraints) {
                    *value = constraint.gap().value(t, q);
                }
            }
        }
        for (c, constraint) in constraints.iter().enumerate() {
            let approach = self.gradients.dot(c, v) + constraint.gap().rate(t, q);
            self.approach[c] = approach;
            if !self.gaps[c].is_finite() || !approach.is_finite() {
                return Err(StepOutcome::GapNotFinite { constraint: c });
            }
        }
        Ok(())
    }

    /// Gradients of all gaps at (t, q): the normal rows of contacts activated from here on.
    pub fn evaluate_gradients(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) {
        if self.affine && self.gradients.len() == system.constraints().len() {
            return;
        }
        let n = system.dof();
        let sparse = system.sparsity().is_some();
        if !sparse {
            let constraints = system.constraints();
            let mut rows = self.gradients.reset_dense(n, constraints.len());
            for constraint in constraints {
                let (row, rest) = rows.split_at_mut(n);
                constraint.gap().gradient(t, q, row);
                rows = rest;
            }
            return;
        }
        self.gradients.clear_sparse(n);
        for constraint in system.constraints() {
            let gap = constraint.gap();
            if !gap.sparse_gradient(t, q, &mut self.gradients) {
                self.rows.clear();
                self.rows.resize(n, 0.0);
                gap.gradient(t, q, &mut self.rows);
                self.gradients.push_nonzeros(&self.rows);
            }
        }
    }

    /// Takes the approach of a constraint where its gradient was evaluated last.
    pub fn approach_here(
        &mut self,
        system: &dyn MechanicalSystem,
        c: usize,
        (t, q, v): (f64, &[f64], &[f64]),
    ) {
        let drift = system.constraints()[c].gap().rate(t, q);
        self.approach[c] = self.gradients.dot(c, v) + drift;
    }

    /// Rounding of a gap: the size of the numbers that cancel in it.
    #[inline]
    pub fn gap_rounding(&self, c: usize, q: &[f64]) -> f64 {
        GAP_ROUNDING * self.gradients.absolute_dot(c, q)
    }

    /// Approach along the normal row of a contact for a unit of its gap: the row is a multiple of the gradient, none
    /// where that vanishes.
    #[inline]
    pub fn gap_unit(&self, c: usize, row: usize, problem: &ContactProblem) -> Option<f64> {
        problem.row_multiple(row, &self.gradients, c)
    }

    /// Splits the normal velocity before the step, read with frames further along the path, into the approach at the
    /// start and the turning of the normal since: an impact law answers the first, the second is taken on the mean
    /// velocity, so that a curved path costs no energy. `approach` is that of the start in this scale of the gap.
    pub fn split_turning(&mut self, problem: &ContactProblem) {
        if self.turning.len() < self.before.len() {
            self.turning.resize(self.before.len(), 0.0);
        }
        for contact in self.active.iter().filter(|contact| contact.owns_normal) {
            let row = problem.blocks()[contact.block].start;
            let c = self.layout.slots[contact.slot].key.constraint();
            let start = match self.gap_unit(c, row, problem) {
                Some(unit) => unit * self.approach[c],
                None => self.before[row],
            };
            self.turning[row] = self.before[row] - start;
            self.before[row] = start;
        }
    }

    /// Empties the problem and the list of active contacts.
    pub fn begin(&mut self, system: &dyn MechanicalSystem, problem: &mut ContactProblem) {
        if self.gradients.is_sparse() {
            problem.begin_sparse(system.dof());
        } else {
            problem.begin(system.dof());
        }
        self.active.clear();
        self.before.clear();
        self.drift.clear();
        self.turning.fill(0.0);
    }

    /// Adds the contact points of constraint `c`, with frames at (t, q), velocity `v` before, and friction as it is at
    /// the time and place `friction`.
    pub fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        c: usize,
        (t, q, v): (f64, &[f64], &[f64]),
        friction: (f64, &[f64]),
        problem: &mut ContactProblem,
    ) -> Result<(), StepOutcome> {
        let constraint = &system.constraints()[c];
        // slots are sorted by constraint, so the first one is found by bisection
        let first = self
            .layout
            .slots
            .partition_point(|slot| slot.key.constraint() < c);
        let past = system.past();
        let at = Instant {
            past,
            ..Instant::new(friction.0, friction.1, v)
        };
        let joint_section = constraint.points().len() > 1
            && constraint.points()[0].law.flow_rule() != FlowRule::Coulomb;
        if joint_section {
            return self.activate_jointly(constraint, first, (t, q), &at, problem);
        }
        let n = v.len();
        for (k, point) in constraint.points().iter().enumerate() {
            let bad = StepOutcome::BadCoefficient {
                contact: ContactKey::declared(c, k),
            };
            let section = point.section_at(&at).map_err(|_| bad)?;
            let slot = self.layout.slots[first + k];
            let all = 1 + point.frame.tangent_count();
            let start = self.before.len();
            self.drift.resize(start + all, 0.0);
            point
                .frame
                .drift(constraint.gap(), t, q, &mut self.drift[start..]);
            self.drift.truncate(start + slot.size);
            let block = problem.blocks().len();
            let kind = BlockKind::Unilateral { minimum: 0.0 };
            let flow_rule = point.law.flow_rule();
            if self.gradients.is_sparse() {
                self.sparse_rows.clear_sparse(n);
                let gradient = (&self.gradients, c);
                let frame = &point.frame;
                frame.sparse_rows(t, q, gradient, &mut self.sparse_rows);
                let block = ContactBlock {
                    key: slot.key,
                    start,
                    size: slot.size,
                    section,
                    flow_rule,
                    kind,
                };
                problem.push_sparse(block, &self.sparse_rows, 0);
            } else {
                let gradient = self.gradients.dense(c);
                let (rows, _) = problem.push(slot.key, slot.size, section, flow_rule, kind);
                if slot.size == all {
                    point.frame.rows(t, q, gradient, rows);
                } else {
                    // The law has fewer directions than the frame.
                    self.rows.resize(all * n, 0.0);
                    point.frame.rows(t, q, gradient, &mut self.rows);
                    rows.copy_from_slice(&self.rows[..slot.size * n]);
                }
            }
            for i in start..start + slot.size {
                self.before.push(problem.row_dot(i, v) + self.drift[i]);
            }
            self.active.push(ActiveContact {
                slot: first + k,
                block,
                tangents: start + 1,
                owns_normal: true,
                impact: point.law.impact(),
            });
        }
        Ok(())
    }

    /// Several points that share one normal row under the kinetic projection form one block: the
    /// reaction cone of the constraint is the sum of the cones of its points.
    fn activate_jointly(
        &mut self,
        constraint: &UnilateralConstraint,
        first: usize,
        (t, q): (f64, &[f64]),
        at: &Instant,
        problem: &mut ContactProblem,
    ) -> Result<(), StepOutcome> {
        let v = at.v;
        let n = v.len();
        let c = self.layout.slots[first].key.constraint();
        let bad = |point| StepOutcome::BadCoefficient {
            contact: ContactKey::declared(c, point),
        };
        self.parts.clear();
        for (k, point) in constraint.points().iter().enumerate() {
            self.parts.push(point.section_at(at).map_err(|_| bad(k))?);
        }
        let section = FrictionSection::hull(self.parts.clone()).map_err(|_| bad(0))?;
        let size = 1 + section.dimension();
        let start = self.before.len();
        let block = problem.blocks().len();
        let kind = BlockKind::Unilateral { minimum: 0.0 };
        let key = self.layout.slots[first].key;
        let rule = constraint.points()[0].law.flow_rule();
        let (rows, _) = problem.push(key, size, section, rule, kind);
        self.drift.resize(start + size, 0.0);
        let mut row = 1;
        for (k, point) in constraint.points().iter().enumerate() {
            let tangents = self.layout.slots[first + k].size - 1;
            let all = 1 + point.frame.tangent_count();
            self.rows.resize(all * n, 0.0);
            let gradient = self.gradients.dense(c);
            point.frame.rows(t, q, gradient, &mut self.rows);
            if k == 0 {
                rows[..n].copy_from_slice(&self.rows[..n]);
            }
            rows[row * n..(row + tangents) * n].copy_from_slice(&self.rows[n..(1 + tangents) * n]);
            self.active.push(ActiveContact {
                slot: first + k,
                block,
                tangents: start + row,
                owns_normal: k == 0,
                impact: point.law.impact(),
            });
            row += tangents;
        }
        for row in rows.chunks(n) {
            self.before.push(dot(row, v));
        }
        Ok(())
    }

    /// Problem row of a row of an active contact, or none for a normal impulse it does not own.
    pub fn problem_row(
        &self,
        problem: &ContactProblem,
        contact: &ActiveContact,
        i: usize,
    ) -> Option<usize> {
        match i {
            0 if contact.owns_normal => Some(problem.blocks()[contact.block].start),
            0 => None,
            _ => Some(contact.tangents + i - 1),
        }
    }

    /// Copies last step's impulses of the active contacts into `guess`.
    pub fn warm_start(&self, problem: &ContactProblem, impulses: &[f64], guess: &mut Vec<f64>) {
        assign_zeros(guess, problem.size());
        for contact in &self.active {
            let slot = self.layout.slots[contact.slot];
            for i in 0..slot.size {
                if let Some(row) = self.problem_row(problem, contact, i) {
                    guess[row] = impulses[slot.start + i];
                }
            }
        }
    }

    /// Fills the contact part of a record as if all contacts were open.
    pub fn fill_open(&self, record: &mut StepRecord) {
        assign_zeros(&mut record.impulses, self.layout.rows);
        assign_zeros(&mut record.local_velocities, self.layout.rows);
        let contacts = &mut record.contacts;
        if contacts.len() != self.layout.slots.len() {
            contacts.resize(self.layout.slots.len(), ContactRecord::default());
        }
        for (contact, slot) in contacts.iter_mut().zip(&self.layout.slots) {
            let c = slot.key.constraint();
            *contact = ContactRecord {
                key: slot.key,
                gap: self.gaps[c],
                start: slot.start,
                size: slot.size,
                approach: self.approach[c],
                ..ContactRecord::default()
            };
        }
    }

    /// Fills the contact part of a record: gaps, impulses, modes, works with the velocity
    /// `velocity_of_work`, and the sliding velocities in `sliding` (per problem row), of which those up to `resting`
    /// are none. `left` and `after` are the
    /// velocities without contact and at the end of the step.
    pub fn fill_record(
        &self,
        problem: &ContactProblem,
        impulse: &[f64],
        velocity_of_work: &[f64],
        (sliding, resting): (&[f64], f64),
        (left, after): (&[f64], &[f64]),
        record: &mut StepRecord,
    ) {
        self.fill_open(record);
        for contact in &self.active {
            let slot = self.layout.slots[contact.slot];
            let block = &problem.blocks()[contact.block];
            let place = slot.start..slot.start + slot.size;
            let own_impulses = &mut record.impulses[place.clone()];
            let own_velocities = &mut record.local_velocities[place];
            let (mut law, mut forces, mut answers) = (0.0, 0.0, [0.0; 2]);
            let (mut normal, mut tangential, mut supports) = (0.0, 0.0, [0.0; 2]);
            let rounding = leaves_with_rounding(problem, block, impulse, sliding[block.start]);
            for i in usize::from(!contact.owns_normal)..slot.size {
                let row = match i {
                    0 => block.start,
                    _ => contact.tangents + i - 1,
                };
                let p = if rounding { 0.0 } else { impulse[row] };
                let drift = self.drift[row];
                (own_impulses[i], own_velocities[i]) = (p, sliding[row]);
                let [of_work, after, left] = problem.row_dots(row, [velocity_of_work, after, left]);
                // The turning of the normal belongs to the true velocity before the step.
                let before = self.before[row] + self.turning.get(row).unwrap_or(&0.0);
                law += p * (0.5 * (before + after + drift));
                answers[usize::from(i > 0)] += p * (after - left);
                forces += (p * (left + drift - before)).abs();
                if i == 0 {
                    normal = p * of_work;
                } else {
                    tangential += p * of_work;
                }
                supports[usize::from(i > 0)] -= p * drift;
            }
            let entry = &mut record.contacts[contact.slot];
            (entry.work_normal, entry.work_tangential) = (normal, tangential);
            (entry.work_law, entry.work_forces) = (law, forces);
            entry.work_support = supports;
            entry.answers = answers;
            entry.painleve = Some(painleve(problem, block));
            entry.inverse_mass = problem.w(block.start, block.start);
            let rows = block.range();
            let slides = sliding[rows.clone()]
                .iter()
                .skip(1)
                .any(|u| !(u.abs() <= resting));
            entry.mode = match rounding {
                true => ContactMode::Open,
                false => mode(block, &impulse[rows], slides),
            };
        }
    }
}

/// Whether a contact leaves with the normal velocity u_n, to which its impulses add no more than rounding: solvers that
/// stay inside of cones leave such impulses where there are none.
fn leaves_with_rounding(
    problem: &ContactProblem,
    block: &ContactBlock,
    impulse: &[f64],
    u_n: f64,
) -> bool {
    if !(u_n > 0.0 && matches!(block.kind, BlockKind::Unilateral { .. })) {
        return false;
    }
    let n = block.start;
    let added = |i: usize| (problem.w(n, n) * problem.w(i, i)).sqrt() * impulse[i].abs();
    block.range().all(|i| added(i) <= ROUNDING * u_n)
}

/// γ of a block and its part of W_NN.
fn painleve(problem: &ContactProblem, block: &ContactBlock) -> PainleveMargin {
    let n = block.start;
    let (normal, minus) = (problem.w(n, n), |k: usize| -problem.w(n, n + 1 + k));
    let gamma = match block.size - 1 {
        0 => normal,
        1 => normal - block.section.support(&[minus(0)]),
        d @ 2..=8 => {
            let mut stack = [0.0; 8];
            for (k, w) in stack[..d].iter_mut().enumerate() {
                *w = minus(k);
            }
            normal - block.section.support(&stack[..d])
        }
        d => {
            let minus: Vec<f64> = (0..d).map(minus).collect();
            normal - block.section.support(&minus)
        }
    };
    PainleveMargin {
        gamma,
        margin: gamma / normal,
    }
}

/// Mode of a contact from its impulse, normal first. Slip is a motion: a contact at rest whose force has come to the
/// edge of its cone sticks. One that slides although its force is inside the cone does so by rounding, but under the generalized
/// law, whose cones are not those of single points.
pub(crate) fn mode(block: &ContactBlock, impulse: &[f64], slides: bool) -> ContactMode {
    let (normal, tangential) = (impulse[0], &impulse[1..]);
    let inside = || {
        block.flow_rule.generalized().is_none()
            && block.section.gauge(tangential) < normal * (1.0 - 1e-9)
    };
    if !(normal > 0.0) {
        ContactMode::Open
    } else if tangential.is_empty() {
        ContactMode::Closed
    } else if !slides || inside() {
        ContactMode::Stick
    } else {
        ContactMode::Slip
    }
}
