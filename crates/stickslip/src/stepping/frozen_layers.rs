//! Impacts under the energetic law: the frozen layer of every contact that approaches.
//!
//! While a contact is compressed and springs back the others stand still or fly, unless they act on each other. What several contacts do that close
//! together, or that one closes by its own impulse, depends on the ratios of their stiffnesses, which rigid contacts do not have: of a
//! penalty method other ratios have other limits. Such an impact is refused, with friction or without. Contacts that W does not couple have their layers by themselves, and so have
//! one obstacle that is given twice, whose springs are one spring, and contacts that others only open.

use std::cell::Cell;

use crate::contact::{ContactBlock, ContactProblem};
use crate::laws::{
    FrictionSection, ImpactLaw, energetic_impact_at_slip, energetic_impact_in_space,
};
use crate::records::StepOutcome;
use crate::systems::constraint::SlipFriction;

use super::ContactStage;
use super::assembly::{ActiveContact, ContactAssembly};
use super::contact_phases::{is_rigid, resting};
use super::slip_friction::SlipReading;

/// Couplings and differences of velocities below this part of their size are rounding.
const ROUNDING: f64 = 1e-12;

/// By how much the normal work along a layer exceeds the impulse on the mean of the normal velocities before and after
/// it. Friction did that much less.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerWork {
    pub slot: usize,
    pub excess: f64,
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
            layers.push(contacts.layer(contact, impulse, works)?);
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

fn is_energetic(contact: &ActiveContact) -> bool {
    matches!(contact.impact, ImpactLaw::Energetic { .. })
}

impl Contacts<'_> {
    fn problem(&self) -> &ContactProblem {
        &self.stage.problem
    }

    fn block(&self, contact: &ActiveContact) -> &ContactBlock {
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

    /// The layer of a contact by itself.
    fn layer(
        &self,
        contact: &ActiveContact,
        impulse: &mut [f64],
        works: &mut Vec<LayerWork>,
    ) -> Result<Layer, StepOutcome> {
        let (problem, block) = (self.problem(), self.block(contact));
        let (rows, restitution) = (block.range(), contact.impact.restitution());
        let u = &self.assembly.before[rows.clone()];
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
        if contact.owns_normal {
            let mean = 0.5 * (u[0] + impact.velocity[0]);
            works.push(LayerWork {
                slot: contact.slot,
                excess: impact.normal_work(restitution) - impact.impulse[0] * mean,
            });
        }
        for (p, extra) in impulse[rows.clone()].iter_mut().zip(impact.impulse) {
            *p += extra;
        }
        let (start, path) = (rows.start, impact.path);
        Ok(Layer { start, path })
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
