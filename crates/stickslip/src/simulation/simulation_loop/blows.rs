//! Impulses of a step that do not shrink with it, though nothing that was open closed: impacts without collision, and those at kinks.

use crate::contact::ContactKey;
use crate::records::{ActingTogether, StepRecord};
use crate::solvers::uniqueness::Component;

use super::super::uniqueness_watch::{UniquenessWatch, may_jam};
use super::Simulation;
use super::moving_parts::MovingParts;

/// How often the part of a step in which an impulse lies is halved.
const HALVINGS: i32 = 4;

impl Simulation {
    /// Leaves of the suspects of the step of length `h` just made those whose impulse does not shrink with the step.
    pub(super) fn look_for_blows(&mut self, h: f64) {
        let parts = MovingParts::new(self.system.as_ref(), &self.saved, &self.record);
        self.events.look_for_suspects(&self.record, &parts);
        let suspects = self.events.suspects();
        if suspects.is_empty() {
            return;
        }
        let certificate = self.stage.certificate.clone();
        let wholes: Vec<f64> = (suspects.iter())
            .map(|&contact| self.record.impulse(contact)[0])
            .collect();
        self.swap_with_trial();
        for (&contact, whole) in suspects.iter().zip(wholes) {
            // As the part of the step goes to nothing, more than half of the impulse stays.
            let least = |part: f64| 0.5 * (1.0 + part) * whole;
            if !self.is_sudden(h, least, |record| record.impulse(contact)[0]) {
                self.events.acquit(contact);
            }
        }
        self.retract();
        self.swap_with_trial();
        self.stage.certificate = certificate;
        if let Some(past) = &mut self.past {
            past.push(self.state.t, &self.state.q);
        }
    }

    /// The same for pairs of bodies of a small world, each named by a contact that acts, where friction can do it. Normals turn with the
    /// bodies, so that a sixteenth of a step has to need three quarters of the impulse too.
    pub(super) fn look_for_blows_of_pairs(&mut self, h: f64) {
        let problem = &self.stage.problem;
        if self.world.is_none() || !(h > 0.0) || !UniquenessWatch::takes_world(problem) {
            return;
        }
        let inverse_mass = |key: ContactKey| {
            let block = problem.blocks().iter().find(|block| block.key == key)?;
            Some(problem.w(block.start, block.start)).filter(|w| *w > 0.0)
        };
        let parts = MovingParts::new(self.system.as_ref(), &self.saved, &self.record);
        let mut pairs = (self.events).suspect_pairs(&self.record, &parts, inverse_mass);
        pairs.retain(|pair| {
            let own = |&b: &usize| parts.group(problem.blocks()[b].key) == parts.group(*pair);
            let group: Vec<usize> = (0..problem.blocks().len()).filter(own).collect();
            may_jam(&Component::new(problem, &group).problem)
        });
        if pairs.is_empty() {
            return;
        }
        // What the scheme remembers of its contacts is that of the step made.
        let Some(memory) = self.scheme.memory() else {
            return;
        };
        let certificate = self.stage.certificate.clone();
        let wholes: Vec<f64> = pairs
            .iter()
            .map(|p| normal_impulse(&self.record, *p))
            .collect();
        self.swap_with_trial();
        self.record.clone_from(&self.spare.record);
        let mut wholes = wholes.into_iter();
        pairs.retain(|&pair| {
            let whole = wholes.next().unwrap_or(f64::INFINITY);
            self.is_sudden(h, |_| 0.75 * whole, |record| normal_impulse(record, pair))
        });
        self.swap_with_trial();
        self.stage.certificate = certificate;
        self.scheme.recall(&memory);
        self.events.accuse_pairs(pairs);
    }

    /// Whether an impulse lies in ever shorter parts of the step from the saved state: of each two halves one needs `least` of it, told by the part of the
    /// step that it is. A force that begins within the step lies in its second half, but not at its very end.
    fn is_sudden(
        &mut self,
        h: f64,
        least: impl Fn(f64) -> f64,
        impulse: impl Fn(&StepRecord) -> f64,
    ) -> bool {
        let mut way: Vec<f64> = Vec::new();
        (1..=HALVINGS).all(|k| {
            let part = 0.5f64.powi(k);
            way.push(part * h);
            if self.trial(&way) && impulse(&self.record) > least(part) {
                way.pop();
                return true;
            }
            way.push(part * h);
            let found = self.trial(&way) && impulse(&self.record) > least(part);
            way.pop();
            found
        })
    }

    /// Lays the step just made aside for a trial step, or takes it up again.
    fn swap_with_trial(&mut self) {
        let (spare, stage) = (&mut self.spare, &mut self.stage);
        std::mem::swap(&mut self.state, &mut spare.state);
        std::mem::swap(&mut self.record, &mut spare.record);
        std::mem::swap(&mut stage.problem, &mut spare.problem);
        std::mem::swap(&mut stage.solution, &mut spare.solution);
    }
}

/// Normal impulse of a pair of bodies.
fn normal_impulse(record: &StepRecord, pair: ContactKey) -> f64 {
    let own = record
        .present
        .iter()
        .filter(|c| c.key.owners == pair.owners);
    own.map(|c| (0..3).map(|k| c.impulse[k] * c.normal[k]).sum::<f64>())
        .sum()
}
