//! Impacts under the energetic law: the frozen layer of every contact that approaches, and of those that slip jams without an approach.
//!
//! While a contact is compressed and springs back the others stand still or fly, unless they act on each other. What several contacts do that close
//! together, or that one closes by its own impulse, depends on the ratios of their stiffnesses, which rigid contacts do not have: of a
//! penalty method other ratios have other limits. Such an impact is refused, with friction or without. Contacts that W does not couple have their layers by themselves, and so have
//! one obstacle that is given twice, whose springs are one spring, and contacts that others only open.
//!
//! A contact that does not approach has a layer where friction itself presses it in, and its impact is one without collision: the slip that
//! jams is stopped, and what that has compressed springs back. Whether it jams is told by the solution of the step: friction that
//! holds a contact which could as well slide on has an impulse that vanishes with the step, a jam has one of its own.

use std::cell::Cell;

use crate::contact::{ContactBlock, ContactProblem};
use crate::laws::{
    FrictionSection, ImpactLaw, SpatialImpact, energetic_impact_at_slip, energetic_impact_in_space,
};
use crate::records::StepOutcome;
use crate::systems::constraint::SlipFriction;

use super::ContactStage;
use super::assembly::{ActiveContact, ContactAssembly};
use super::contact_phases::{is_rigid, resting};
use super::slip_friction::SlipReading;

/// Couplings and differences of velocities below this part of their size are rounding.
const ROUNDING: f64 = 1e-12;

/// Part of the forces of a step under which impulses that forces make are told from those of a jam, which know nothing of forces: the
/// ones shrink by this part, the others stay, and its square root lies between.
const SHARE: f64 = 1.0 / 65536.0;

/// By how much the normal work along a layer exceeds the impulse on the mean of the normal velocities before and after
/// it. Friction did that much less.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerWork {
    pub slot: usize,
    pub excess: f64,
    /// Whether there was no approach.
    pub jam: bool,
}

/// A section and what multiplies it at a slip speed.
type SlipLaw<'a> = (FrictionSection, &'a dyn SlipFriction);

/// The contacts of a step at its start.
#[derive(Clone, Copy)]
struct Contacts<'a> {
    assembly: &'a ContactAssembly,
    stage: &'a ContactStage,
    reading: &'a SlipReading<'a>,
}

/// Impulses so far along a layer, of the rows from `start` on.
struct Layer {
    start: usize,
    path: Vec<Vec<f64>>,
}

/// Adds the impulses of all layers to `impulse`; false if there was none, and the name of a contact where layers meet.
pub(super) fn strike(
    assembly: &ContactAssembly,
    stage: &ContactStage,
    reading: &SlipReading,
    impulse: &mut [f64],
    works: &mut Vec<LayerWork>,
) -> Result<bool, StepOutcome> {
    works.clear();
    if !assembly.active.iter().any(is_energetic) {
        return Ok(false);
    }
    let contacts = Contacts {
        assembly,
        stage,
        reading,
    };
    let rigid = assembly.active.iter();
    let (closing, others): (Vec<_>, Vec<_>) = rigid
        .filter(|contact| is_rigid(contacts.block(contact)))
        .partition(|contact| contacts.closes(contact));
    let mut layers = Vec::new();
    for (k, &contact) in closing.iter().enumerate() {
        let meets = |other: &&&ActiveContact| contacts.meet(other, contact);
        if closing[..k].iter().any(|other| meets(&other)) {
            return Err(contacts.several(contact));
        }
        let twice = |other: &&ActiveContact| contacts.are_one(other, contact);
        if is_energetic(contact) && !closing[..k].iter().any(twice) {
            let before = contacts.before(contact);
            let layer = contacts.layer(contact, before)?;
            layers.push(contacts.add((contact, Some(before[0])), layer, impulse, works));
        }
    }
    for contact in others {
        let struck = |other: &&ActiveContact| contacts.strikes_layer(other, contact);
        if contacts.is_closed(contact, &layers) || closing.iter().any(struck) {
            return Err(contacts.several(contact));
        }
    }
    Ok(!layers.is_empty())
}

/// Adds the layers of contacts that jam in the solution of the stage, which was found after the impulses in `impulse`; false if there is none,
/// and the name of a contact where others act on the layer.
pub(super) fn strike_jammed(
    assembly: &ContactAssembly,
    stage: &mut ContactStage,
    reading: &SlipReading,
    impulse: &mut [f64],
    works: &mut Vec<LayerWork>,
) -> Result<bool, StepOutcome> {
    let solved = stage.solution.status.is_solved();
    if !solved || !assembly.active.iter().any(is_energetic) {
        return Ok(false);
    }
    let mut found = Vec::new();
    // Impulses that stay where the forces of the step do not, once they are asked for.
    let mut lasting: Option<Vec<bool>> = None;
    for contact in &assembly.active {
        let contacts = Contacts {
            assembly,
            stage,
            reading,
        };
        let Some(layer) = contacts.jammed(contact, impulse)? else {
            continue;
        };
        let blocks = contacts.beside(contact).map(|other| other.block);
        let beside: Vec<usize> = blocks.collect();
        let (several, presses) = (contacts.several(contact), |&other: &usize| {
            let start = contacts.problem().blocks()[other].start;
            contacts.stage.solution.impulse[start] > 0.0
        });
        if beside.iter().any(presses) {
            let lasting = lasting
                .get_or_insert_with(|| lasting_impulses(assembly, stage, reading.v0, impulse));
            if !lasting[contact.block] {
                continue;
            }
            if beside.iter().any(|&other| lasting[other]) {
                return Err(several);
            }
        }
        found.push((contact, layer));
    }
    let contacts = Contacts {
        assembly,
        stage,
        reading,
    };
    let any = !found.is_empty();
    for (contact, layer) in found {
        let layer = [contacts.add((contact, None), layer, impulse, works)];
        let mut beside = contacts.beside(contact);
        if let Some(other) = beside.find(|other| contacts.is_closed(other, &layer)) {
            return Err(contacts.several(other));
        }
    }
    Ok(any)
}

/// Which blocks keep their normal impulse where the forces of the step are but [`SHARE`] of what they are, from the solution of the stage,
/// which stays; all, if no such impulses are found.
fn lasting_impulses(
    assembly: &ContactAssembly,
    stage: &mut ContactStage,
    before: &[f64],
    applied: &[f64],
) -> Vec<bool> {
    let problem = &mut stage.problem;
    let (free, bias) = (problem.velocity_free().to_vec(), problem.bias().to_vec());
    let solution = stage.solution.clone();
    let mut start = vec![0.0; free.len()];
    problem.velocity_free_mut().copy_from_slice(before);
    problem.velocity(applied, &mut start);
    let between = |a: f64, b: f64| a + SHARE * (b - a);
    let velocities = problem.velocity_free_mut().iter_mut().zip(&start);
    velocities
        .zip(&free)
        .for_each(|((v, a), b)| *v = between(*a, *b));
    for (i, value) in problem.bias_mut().iter_mut().enumerate() {
        let turning = assembly.turning.get(i).copied().unwrap_or(0.0);
        *value = between(assembly.drift[i] - turning, bias[i]);
    }
    problem.refresh();
    stage.solve();
    let found = stage.solution.status.is_solved();
    let starts = stage.problem.blocks().iter().map(|block| block.start);
    let lasts = |i: usize| {
        let whole = solution.impulse[i];
        !found || (whole > 0.0 && stage.solution.impulse[i] > SHARE.sqrt() * whole)
    };
    let lasting = starts.map(lasts).collect();
    stage.solution = solution;
    let problem = &mut stage.problem;
    problem.velocity_free_mut().copy_from_slice(&free);
    problem.bias_mut().copy_from_slice(&bias);
    problem.refresh();
    lasting
}

fn is_energetic(contact: &ActiveContact) -> bool {
    matches!(contact.impact, ImpactLaw::Energetic { .. })
}

impl<'a> Contacts<'a> {
    fn problem(&self) -> &'a ContactProblem {
        &self.stage.problem
    }

    fn block(&self, contact: &ActiveContact) -> &'a ContactBlock {
        &self.problem().blocks()[contact.block]
    }

    fn several(&self, contact: &ActiveContact) -> StepOutcome {
        let contact = self.block(contact).key;
        StepOutcome::SeveralLayers { contact }
    }

    /// Normal velocity at the start.
    fn normal(&self, contact: &ActiveContact) -> f64 {
        self.assembly.before[self.block(contact).start]
    }

    fn resting(&self, contact: &ActiveContact) -> f64 {
        resting(self.assembly, self.stage, self.block(contact))
    }

    fn closes(&self, contact: &ActiveContact) -> bool {
        self.normal(contact) < -self.resting(contact)
    }

    /// Whether the impacts of two contacts that close depend on each other, and one of them is a layer.
    fn meet(&self, a: &ActiveContact, b: &ActiveContact) -> bool {
        (is_energetic(a) || is_energetic(b)) && self.coupled(a, b) && !self.are_one(a, b)
    }

    /// Whether an impulse at one contact is felt at the other, beyond rounding.
    fn coupled(&self, a: &ActiveContact, b: &ActiveContact) -> bool {
        let (problem, a, b) = (self.problem(), self.block(a), self.block(b));
        a.range().any(|i| {
            b.range().any(|j| {
                let size = (problem.w(i, i) * problem.w(j, j)).sqrt();
                problem.w(i, j).abs() > ROUNDING * size
            })
        })
    }

    /// Whether two contacts without friction are one obstacle that is given twice: however stiff each of their springs is, together they
    /// are one.
    fn are_one(&self, a: &ActiveContact, b: &ActiveContact) -> bool {
        let (problem, [first, second]) = (self.problem(), [a, b].map(|x| self.block(x)));
        let rough = [first, second]
            .iter()
            .any(|block| !block.section.is_frictionless());
        let (i, j) = (first.start, second.start);
        let [wa, wb] = [i, j].map(|k| problem.w(k, k).sqrt());
        let [ua, ub] = [self.normal(a) / wa, self.normal(b) / wb];
        let w = problem.w(i, j) / (wa * wb);
        a.impact == b.impact
            && !rough
            && (1.0 - w).abs() <= ROUNDING
            && (ua - ub).abs() <= ROUNDING * ua.abs()
    }

    /// Velocity at the start.
    fn before(&self, contact: &ActiveContact) -> &'a [f64] {
        &self.assembly.before[self.block(contact).range()]
    }

    /// Other rigid contacts that feel impulses of this one.
    fn beside(&self, contact: &ActiveContact) -> impl Iterator<Item = &'a ActiveContact> {
        let (contacts, contact) = (*self, *contact);
        self.assembly.active.iter().filter(move |other| {
            let another = other.block != contact.block && is_rigid(contacts.block(other));
            another && contacts.coupled(other, &contact)
        })
    }

    /// The layer of a contact that does not approach and jams in the solution of the stage, which was found after the impulses `applied`.
    ///
    /// Friction that drives a contact into the obstacle gives it a layer from no approach. In the step it may also lift off, slide on with the reaction
    /// that holds it, or, under forces that push it in, must jam: per unit of its normal impulse, sliding on presses it in as the layer does at
    /// first, and a jam, whose impulse ends without an approach as it began, does not.
    fn jammed(
        &self,
        contact: &ActiveContact,
        applied: &[f64],
    ) -> Result<Option<SpatialImpact>, StepOutcome> {
        let (problem, block) = (self.problem(), self.block(contact));
        let rows = block.range();
        let found = &self.stage.solution.impulse[rows.clone()];
        let struck = applied[rows.start] > 0.0 || self.closes(contact);
        if !is_energetic(contact) || !is_rigid(block) || struck || !(found[0] > 0.0) {
            return Ok(None);
        }
        let all = 0..problem.size();
        let moved = |i: usize| {
            all.clone()
                .map(|j| problem.w(i, j) * applied[j])
                .sum::<f64>()
        };
        let mut u: Vec<f64> = rows
            .clone()
            .map(|i| self.assembly.before[i] + moved(i))
            .collect();
        u[0] = 0.0;
        if u.iter().all(|u| u.abs() <= self.stage.resting_speed()) {
            return Ok(None);
        }
        let layer = self.layer(contact, &u)?;
        // How an impulse changes the normal velocity, per unit of its normal part.
        let lift = |p: &[f64]| {
            let parts = rows
                .clone()
                .zip(p)
                .map(|(j, p)| problem.w(rows.start, j) * p);
            parts.sum::<f64>() / p[0]
        };
        let first = layer.path.iter().find(|p| p.iter().any(|&p| p != 0.0));
        let jams = |first: &Vec<f64>| layer.impulse[0] > 0.0 && lift(found) > 0.5 * lift(first);
        Ok(first.is_some_and(jams).then_some(layer))
    }

    /// The layer of a contact by itself, from the velocity `u`.
    fn layer(&self, contact: &ActiveContact, u: &[f64]) -> Result<SpatialImpact, StepOutcome> {
        let (problem, block) = (self.problem(), self.block(contact));
        let (rows, restitution) = (block.range(), contact.impact.restitution());
        let mut w = Vec::with_capacity(rows.len() * rows.len());
        for i in rows.clone() {
            w.extend(rows.clone().map(|j| problem.w(i, j)));
        }
        let bad = Cell::new(false);
        let impact = match self.slip_law(contact)? {
            Some((section, law)) => {
                let factor = |s: f64| {
                    let value = law.factor(&self.reading.at, s);
                    let allowed = value >= 0.0 && value.is_finite();
                    bad.set(bad.get() || !allowed);
                    if allowed { value } else { 0.0 }
                };
                energetic_impact_at_slip(&w, u, &section, &factor, restitution)
            }
            None => energetic_impact_in_space(&w, u, &block.section, restitution),
        };
        if bad.get() {
            return Err(StepOutcome::BadCoefficient { contact: block.key });
        }
        if !impact.finished {
            return Err(StepOutcome::NoSolution { contact: block.key });
        }
        Ok(impact)
    }

    /// Enters the layer of a contact that began with an approach, or without one and jams.
    fn add(
        &self,
        (contact, approach): (&ActiveContact, Option<f64>),
        layer: SpatialImpact,
        impulse: &mut [f64],
        works: &mut Vec<LayerWork>,
    ) -> Layer {
        let rows = self.block(contact).range();
        if contact.owns_normal {
            works.push(LayerWork {
                slot: contact.slot,
                excess: layer.excess(approach.unwrap_or(0.0), contact.impact.restitution()),
                jam: approach.is_none(),
            });
        }
        let start = rows.start;
        for (p, extra) in impulse[rows].iter_mut().zip(layer.impulse) {
            *p += extra;
        }
        let path = layer.path;
        Layer { start, path }
    }

    /// What friction reads of the slip speed along a layer, and the section that it multiplies: the block has that of the end of
    /// the step.
    fn slip_law(&self, contact: &ActiveContact) -> Result<Option<SlipLaw<'_>>, StepOutcome> {
        let key = self.assembly.layout.slots()[contact.slot].key;
        let constraints = self.reading.system.constraints();
        let point = &constraints[key.constraint()].points()[key.point()];
        let Some(slip) = &point.slip else {
            return Ok(None);
        };
        let section = point.section_without_slip(&self.reading.at);
        let section = section.map_err(|_| StepOutcome::BadCoefficient { contact: key })?;
        Ok(Some((section, slip.as_ref())))
    }

    /// Whether layers close a contact that did not approach, at any moment: which of several comes first is not known.
    fn is_closed(&self, contact: &ActiveContact, layers: &[Layer]) -> bool {
        let (problem, row) = (self.problem(), self.block(contact).start);
        let felt = |layer: &Layer| {
            let along = layer.path.iter().map(|p| {
                let parts = p.iter().enumerate();
                parts
                    .map(|(k, p)| problem.w(row, layer.start + k) * p)
                    .sum::<f64>()
            });
            along.fold(0.0, f64::min)
        };
        let lowest: f64 = layers.iter().map(felt).sum();
        lowest < 0.0 && self.normal(contact) + lowest < -self.resting(contact)
    }

    /// Whether an impact under another law may close a contact that would have a layer.
    fn strikes_layer(&self, other: &ActiveContact, contact: &ActiveContact) -> bool {
        if is_energetic(other) || !is_energetic(contact) || !self.coupled(other, contact) {
            return false;
        }
        let (a, b) = (self.block(other), self.block(contact));
        !a.section.is_frictionless() || self.problem().w(a.start, b.start) < 0.0
    }
}
