//! What a trajectory holds beside the motion: gaps, modes, energies, outputs of controllers, each judged from time, positions
//! and velocities of its row.

use std::path::Path;
use std::sync::Arc;

use crate::algebra::{SymmetricMatrix, dot, largest_size};
use crate::records::{ContactMode, EnergyEntry, TrajectoryReader};
use crate::simulation::verify::{Line, MotionSourceError, Verification};
use crate::simulation::{Checkpoint, ControlLoop, FileMark};
use crate::stepping::ContactLayout;
use crate::stepping::contact_scales::accelerations;
use crate::systems::constraint::ContactPoint;
use crate::systems::functions::ScalarFunction;
use crate::systems::{
    ElasticScratch, ElastodynamicSystem, Instant, MechanicalSystem, UnilateralConstraint,
};

use super::elastic_records::ElasticRecords;
use super::run_nodes::boxed;

/// Numbers that are sums of others may differ from them by this part of the sizes that were summed.
const ROUNDING: f64 = 1e-9;

/// What a controller reads, and holds, is known to this part.
const HELD: f64 = 1e-6;

/// Judges every row of the trajectory in a folder, with the steps that the run should have made.
pub(super) fn judge_records(
    folder: &Path,
    (system, elastic): (&dyn MechanicalSystem, Option<&Arc<ElastodynamicSystem>>),
    steps: &StepLengths,
    report: &mut Verification,
) -> Result<(), MotionSourceError> {
    let path = folder.join("trajectory.npy");
    let mut reader = TrajectoryReader::open(&path).map_err(boxed)?;
    let written = written(folder).filter(|written| written.rows <= reader.rows());
    let mut judge = RecordJudge::new(system, reader.columns(), steps);
    judge.elastic = elastic.map(|system| ElasticRecords::new(system, reader.columns()));
    let mut row = Vec::new();
    let mut count = 0;
    while reader.next_row(&mut row).map_err(boxed)? {
        if row.len() < judge.columns.len().max(judge.accounts) {
            report.note(Line::WellFormed, row[0], f64::INFINITY, None);
            return Ok(());
        }
        judge.row(&row, report);
        count += 1;
        let told = written.as_ref().filter(|written| written.rows == count);
        if told.is_some_and(|written| written.trajectory.as_ref() != Some(&reader.digest())) {
            report.note(Line::Edited, row[0], f64::INFINITY, None);
        }
    }
    Ok(())
}

/// The last checkpoint, which tells the rows of the trajectory and their digest. None where a run was written without, or where it cannot be
/// read: a motion can be judged without.
fn written(folder: &Path) -> Option<Checkpoint> {
    let checkpoint = Checkpoint::load(&folder.join("checkpoint.json")).ok()?;
    checkpoint.trajectory.is_some().then_some(checkpoint)
}

/// Which steps a run should have made.
pub(super) struct StepLengths<'a> {
    /// The length of all, where it is fixed.
    pub fixed: Option<f64>,
    /// Which of them were kept: every n-th.
    pub every: u64,
    /// Ends at which the run was cut.
    pub ends: &'a [f64],
    /// Periods of controllers, at whose samples steps end.
    pub periods: Vec<f64>,
}

impl StepLengths<'_> {
    /// How far a step of length `h` from one kept time to the next is from one that the run makes. Where some steps were not kept, all of them are computed
    /// again, and so are their lengths.
    fn defect(&self, (from, to): (f64, f64), h: f64) -> f64 {
        if self.every != 1 {
            return 0.0;
        }
        let rounding = ROUNDING * h.abs() + 4.0 * f64::EPSILON * to.abs();
        let mut off = (to - from - h).abs();
        if let Some(whole) = self.fixed {
            let rounding = ROUNDING * whole + 4.0 * f64::EPSILON * to.abs();
            let named = |t: f64| {
                let samples = self.periods.iter().map(|p| (t / p).round() * p);
                let mut instants = samples.chain(self.ends.iter().copied());
                instants.any(|instant| (t - instant).abs() <= rounding)
            };
            let cut = h < whole && (named(from) || named(to));
            if !cut && !((h - whole).abs() <= rounding) {
                off = (h - whole).abs();
            }
        }
        if off <= rounding && h > 0.0 {
            0.0
        } else {
            off.max(f64::MIN_POSITIVE)
        }
    }
}

/// What a row tells of a contact.
struct SeenContact<'a> {
    gap: f64,
    impulse: &'a [f64],
    velocity: &'a [f64],
    speed: f64,
}

impl SeenContact<'_> {
    /// Whether a contact with this impulse and this velocity can have the mode.
    fn may_be(&self, mode: ContactMode, point: &ContactPoint, at: &Instant) -> bool {
        // Under the generalized law friction of one contact may pull at another.
        let pressed = self.impulse[0] > 0.0;
        let slip = self.velocity[1..]
            .iter()
            .fold(0.0, |m: f64, u| m.max(u.abs()));
        match mode {
            ContactMode::Open => !pressed,
            // A scheme from event to event may have closed it at this instant.
            _ if !pressed && self.impulse[0] == 0.0 => {
                !(self.gap > ROUNDING * at.q.iter().fold(0.0, |m: f64, q| m.max(q.abs())))
            }
            _ if !pressed => true,
            ContactMode::Closed => self.impulse.len() == 1,
            _ if self.impulse.len() == 1 => false,
            ContactMode::Slip => slip > 1e-12 * self.speed,
            ContactMode::Stick => {
                // Inside its cone a contact may slide by rounding, but under the generalized law, whose cones are not those of points.
                let generalized = point.law.flow_rule().generalized().is_some();
                let section = point.section_at_slip(at, slip);
                let edge = section.is_ok_and(|section| {
                    section.gauge(&self.impulse[1..]) >= self.impulse[0] * (1.0 - 1e-6)
                });
                let unknown = point.memory.is_some();
                unknown || !((edge || generalized) && slip > 1e-6 * self.speed)
            }
        }
    }
}

/// Compares the files of a world with what its last checkpoint tells of them, which also covers what no law speaks of.
pub(super) fn judge_files(
    folder: &Path,
    report: &mut Verification,
) -> Result<(), MotionSourceError> {
    let Some(checkpoint) = written(folder) else {
        return Ok(());
    };
    let files = checkpoint.files.unwrap_or_default();
    let mark = |mark: Option<FileMark>| mark.map(|mark| (mark.rows, mark.digest));
    let told = [
        (
            "trajectory.npy",
            checkpoint.trajectory.map(|d| (checkpoint.rows, d)),
        ),
        ("contacts.npy", mark(files.contacts)),
        ("bodies.npy", mark(files.bodies)),
        ("forces.npy", mark(files.forces)),
    ];
    for (name, told) in told {
        let Some((rows, digest)) = told else {
            continue;
        };
        let mut reader = TrajectoryReader::open(&folder.join(name)).map_err(boxed)?;
        let mut row = Vec::new();
        for _ in 0..rows.min(reader.rows()) {
            reader.next_row(&mut row).map_err(boxed)?;
        }
        if reader.rows() < rows || reader.digest() != digest {
            report.note(Line::Edited, checkpoint.state.t, f64::INFINITY, None);
        }
    }
    Ok(())
}

/// Largest local velocity of a contact point for the velocity v at (t, q).
fn slot_speed(
    constraint: &UnilateralConstraint,
    point: &ContactPoint,
    (t, q): (f64, &[f64]),
    v: &[f64],
) -> f64 {
    let (n, all) = (v.len(), 1 + point.frame.tangent_count());
    let (mut gradient, mut rows) = (vec![0.0; n], vec![0.0; all * n]);
    let mut drift = vec![0.0; all];
    constraint.gap().gradient(t, q, &mut gradient);
    point.frame.rows(t, q, &gradient, &mut rows);
    point.frame.drift(constraint.gap(), t, q, &mut drift);
    let locals = rows.chunks(n.max(1)).zip(&drift);
    locals.fold(0.0, |m: f64, (row, drift)| {
        m.max((dot(row, v) + drift).abs())
    })
}

/// Goes through the rows.
struct RecordJudge<'a> {
    system: &'a dyn MechanicalSystem,
    layout: ContactLayout,
    steps: &'a StepLengths<'a>,
    /// First columns of the contacts, of the energies, and of what follows them.
    contacts: usize,
    energies: usize,
    accounts: usize,
    mass: SymmetricMatrix,
    scratch: ElasticScratch,
    /// Kinetic and potential energy less their changes since the start, of the first row.
    start: Option<[f64; 2]>,
    /// Largest sum of sizes of energies.
    size: f64,
    last: f64,
    /// Largest velocity of a contact so far.
    speed: f64,
    /// Largest left velocity so far.
    fastest: Vec<f64>,
    control: Option<(ControlLoop, Vec<usize>)>,
    elastic: Option<ElasticRecords>,
    columns: Vec<String>,
}

impl<'a> RecordJudge<'a> {
    fn new(system: &'a dyn MechanicalSystem, columns: &[String], steps: &'a StepLengths) -> Self {
        let layout = ContactLayout::new(system);
        let contacts = 2 + system.coordinate_count() + 2 * system.dof();
        let widths = layout.slots().iter().map(|slot| 4 + 2 * slot.size);
        let energies = contacts + widths.sum::<usize>();
        Self {
            system,
            layout,
            steps,
            contacts,
            energies,
            accounts: energies + 2 + EnergyEntry::default().terms().len(),
            mass: system.new_matrix(),
            scratch: ElasticScratch::default(),
            start: None,
            size: 0.0,
            last: 0.0,
            speed: 0.0,
            fastest: Vec::new(),
            control: None,
            elastic: None,
            columns: columns.to_vec(),
        }
    }

    fn row(&mut self, row: &[f64], report: &mut Verification) {
        let (n, dof) = (self.system.coordinate_count(), self.system.dof());
        let (t, q, v) = (row[0], &row[2..2 + n], &row[2 + n..2 + n + dof]);
        let first = self.start.is_none();
        self.contacts(row, (q, v), report);
        self.energies(row, (q, v), report);
        if self.steps.every == 1 {
            self.controllers(row, (q, v), first, report);
        }
        // No step ends at the start.
        let off = match first {
            true => row[1].abs(),
            false => self.steps.defect((self.last, t), row[1]),
        };
        if off != 0.0 {
            report.note(Line::WellFormed, t, off, None);
        }
        self.last = t;
    }

    /// Gaps are those of the position, and modes those of impulses and velocities.
    fn contacts(&mut self, row: &[f64], (q, v): (&[f64], &[f64]), report: &mut Verification) {
        let t = row[0];
        let left = &row[2 + q.len() + v.len()..self.contacts];
        if self.fastest.is_empty() || largest_size(0.0, left) > largest_size(0.0, &self.fastest) {
            self.fastest = left.to_vec();
        }
        let mut at = self.contacts;
        for slot in self.layout.slots() {
            let constraint = &self.system.constraints()[slot.key.constraint()];
            let (recorded, mode) = (row[at], row[at + 1]);
            let gap = constraint.gap().value(t, q);
            let mut off = (recorded - gap).abs();
            if !(off <= ROUNDING * gap.abs()) {
                // The rounding of positions far from a small gap.
                let mut gradient = vec![0.0; self.system.dof()];
                constraint.gap().gradient(t, q, &mut gradient);
                let parts = gradient.iter().zip(q).map(|(g, q)| (g * q).abs());
                off -= 1e-3 * ROUNDING * parts.sum::<f64>();
                if !(off <= ROUNDING * gap.abs()) {
                    let name = Some(constraint.name());
                    report.note(Line::ContactRecord, t, off, name);
                }
            }
            let known = [
                ContactMode::Open,
                ContactMode::Stick,
                ContactMode::Slip,
                ContactMode::Closed,
            ];
            let found = known.iter().find(|known| f64::from(known.code()) == mode);
            let numbers = &row[at + 2..at + 2 + 2 * slot.size];
            let (impulse, velocity) = numbers.split_at(slot.size);
            self.speed = velocity.iter().fold(self.speed, |m, u| m.max(u.abs()));
            let mut seen = SeenContact {
                gap,
                impulse,
                velocity,
                speed: self.speed,
            };
            let point = &constraint.points()[slot.key.point()];
            let at_end = Instant::new(t, q, v);
            let mut fits = found.is_some_and(|mode| seen.may_be(*mode, point, &at_end));
            if !fits {
                // Where friction holds everything, what it holds or held back is the speed that rounding is a part of.
                for left in [left, &self.fastest] {
                    let speed = slot_speed(constraint, point, (t, q), left);
                    self.speed = self.speed.max(speed);
                }
                seen.speed = self.speed;
                fits = found.is_some_and(|mode| seen.may_be(*mode, point, &at_end));
            }
            if !fits {
                report.note(Line::ContactRecord, t, mode, Some(constraint.name()));
            }
            at += 4 + 2 * slot.size;
        }
    }

    /// Energies are those of the state, their changes those since the start, and the account is closed.
    fn energies(&mut self, row: &[f64], (q, v): (&[f64], &[f64]), report: &mut Verification) {
        if self.start.is_none() || !self.system.mass_is_constant() {
            self.system.mass(q, &mut self.mass);
        }
        let kinetic = 0.5 * self.mass.bilinear(v, v);
        let mut potential = self.system.potential(q);
        if let Some(linear) = self.system.linear_part() {
            potential += linear.elastic_energy(q, &mut self.scratch);
        }
        let recorded = [row[self.energies], row[self.energies + 1]];
        let mut terms = row[self.energies + 2..self.accounts].iter().copied();
        let totals = EnergyEntry::from_terms(|| terms.next().unwrap_or(f64::NAN));
        let sizes = totals.terms().map(|(_, term)| term.abs());
        let size = kinetic.abs() + potential.abs() + sizes.iter().sum::<f64>();
        self.size = self.size.max(size);
        let before = [
            recorded[0] - totals.kinetic_change,
            recorded[1] - totals.potential_change,
        ];
        let start = *self.start.get_or_insert(before);
        let off = [
            recorded[0] - kinetic,
            recorded[1] - potential,
            before[0] - start[0],
            before[1] - start[1],
            totals.imbalance(),
        ];
        let off = off.iter().fold(
            0.0,
            |s: f64, x| if x.is_nan() { *x } else { s.max(x.abs()) },
        );
        if !(off <= ROUNDING * self.size) {
            // What forces hold at rest has works of rounding alone, which is that of the energy they would give within a step.
            let a = accelerations(self.system, (row[0], q, v));
            let given = 0.5 * row[1] * row[1] * self.mass.bilinear(&a, &a);
            let off = off - 1e-3 * ROUNDING * given;
            if !(off <= ROUNDING * self.size) {
                report.note(Line::Energy, row[0], off / self.size, None);
            }
        }
        if let Some(elastic) = &mut self.elastic {
            elastic.row(row, v, (recorded, &totals), ROUNDING, report);
        }
    }

    /// Whether a velocity is one that an impact comes after: what touches approaches, or a joint moves.
    fn is_met_by_an_impact(&self, t: f64, (q, v): (&[f64], &[f64])) -> bool {
        let mut gradient = vec![0.0; v.len()];
        let mut rate = |function: &dyn ScalarFunction| {
            function.gradient(t, q, &mut gradient);
            let sum = |parts: &[f64]| -> f64 {
                gradient.iter().zip(parts).map(|(g, x)| (g * x).abs()).sum()
            };
            let (length, speed) = (sum(q) + function.magnitude(t, q), sum(v));
            (dot(&gradient, v) + function.rate(t, q), speed, length)
        };
        let approaches = self.system.constraints().iter().any(|constraint| {
            let (rate, speed, length) = rate(constraint.gap());
            constraint.gap().value(t, q) <= 1e-3 * ROUNDING * length && rate < -HELD * speed
        });
        approaches
            || self.system.joints().iter().any(|joint| {
                let (rate, speed, _) = rate(joint.function());
                rate.abs() > HELD * speed
            })
    }

    /// Outputs of controllers are those of their samples, which read velocities after an impact.
    fn controllers(
        &mut self,
        row: &[f64],
        (q, v): (&[f64], &[f64]),
        first: bool,
        report: &mut Verification,
    ) {
        if first {
            self.control = ControlLoop::start(self.system, (row[0], q, v)).map(|control| {
                let place = |name: &String| self.columns.iter().position(|c| c == name);
                let places = control.columns().iter().filter_map(place).collect();
                (control, places)
            });
            if self.control.is_some() && self.is_met_by_an_impact(row[0], (q, v)) {
                report.note(Line::ControlRecord, row[0], f64::INFINITY, None);
            }
            return;
        }
        let Some((control, places)) = &mut self.control else {
            return;
        };
        for (held, &place) in control.held().iter().zip(&*places) {
            let off = (held - row[place]).abs();
            if !(off <= HELD * held.abs()) {
                report.note(Line::ControlRecord, row[0], off, None);
            }
        }
        control.observe(row[0], q, v);
    }
}
