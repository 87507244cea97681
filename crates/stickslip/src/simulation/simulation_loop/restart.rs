//! Checkpoints of a simulation.

use crate::systems::past_motion::PastMotion;

use super::super::step_control::StepControl;
use super::super::{Checkpoint, CheckpointError};
use super::Simulation;

impl Simulation {
    /// Everything needed to go on with the same bits.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut checkpoint = Checkpoint::new(
            self.step,
            self.state.clone(),
            self.ledger.clone(),
            self.stage.certificate.clone(),
            self.events.clone(),
        );
        checkpoint.h = self.h;
        checkpoint.cuts = self.cuts;
        checkpoint.cut = self.cut;
        checkpoint.planned.clone_from(&self.planned);
        checkpoint.stick_jitter = self.stick_jitter;
        checkpoint.past = self.past.as_ref().map(PastMotion::snapshot);
        checkpoint.scheme = self.scheme.memory();
        checkpoint.painleve.clone_from(&self.painleve);
        checkpoint.uniqueness.clone_from(&self.uniqueness);
        checkpoint.control = self
            .control
            .as_ref()
            .map(|control| control.memory().clone());
        checkpoint.positions.clone_from(&self.positions);
        checkpoint.momentum.clone_from(&self.momentum);
        checkpoint.elastic = self.elastic_accounts().cloned();
        checkpoint.world = self.world_accounts().cloned();
        checkpoint
    }

    /// Goes on from a checkpoint of the same scene.
    pub fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let sizes = (self.state.q.len(), self.state.v.len(), self.layout.rows());
        checkpoint.check(sizes, self.settings.t_start)?;
        // Steps of fixed length tell the time: the next one must not lead backwards.
        if let StepControl::Fixed { h } = self.settings.control {
            let whole = (checkpoint.step - checkpoint.cuts) as f64 * h;
            let (grid, t) = (self.settings.t_start + whole, checkpoint.state.t);
            let slack = 1e-3 * h + 8.0 * f64::EPSILON * t.abs();
            if !(t >= grid - slack && t <= grid + h + slack) {
                let steps = checkpoint.step;
                return Err(CheckpointError::Absurd {
                    path: "checkpoint".into(),
                    what: format!("time {t} after {steps} steps of {h}"),
                });
            }
        }
        let past = match (&mut self.past, &checkpoint.past) {
            (Some(past), Some(snapshot)) => past.restore(snapshot),
            (None, None) => true,
            _ => false,
        };
        let scheme = checkpoint
            .scheme
            .as_ref()
            .is_none_or(|memory| self.scheme.recall(memory));
        let state = &checkpoint.state;
        let accounts = match (&mut self.elastic, checkpoint.elastic) {
            (Some(ledger), Some(kept)) => ledger.restore(kept, (state.t, &state.q, &state.v)),
            (None, None) => true,
            _ => false,
        };
        let world = match (&mut self.world, checkpoint.world) {
            (Some((accounts, _)), Some(kept)) => {
                *accounts = kept;
                true
            }
            (None, None) => true,
            _ => false,
        };
        let control = match (&mut self.control, &checkpoint.control) {
            (Some(control), Some(memory)) => control.restore(memory),
            (None, None) => true,
            _ => false,
        };
        if !past || !scheme || !accounts || !world || !control {
            return Err(CheckpointError::OtherPast {
                path: "checkpoint".into(),
            });
        }
        self.step = checkpoint.step;
        self.cuts = checkpoint.cuts;
        self.cut = checkpoint.cut;
        self.state = checkpoint.state;
        self.ledger = checkpoint.ledger;
        self.stage.certificate = checkpoint.certificate;
        self.events = checkpoint.events;
        self.h = checkpoint.h;
        self.planned = checkpoint.planned;
        self.stick_jitter = checkpoint.stick_jitter;
        self.painleve = checkpoint.painleve;
        self.uniqueness = checkpoint.uniqueness;
        self.positions = checkpoint.positions;
        self.momentum = checkpoint.momentum;
        // What the next step reads of the last one.
        self.record.q.clone_from(&self.state.q);
        let constraints = self.system.constraints();
        for contact in &mut self.record.contacts {
            let gap = constraints[contact.key.constraint()].gap();
            contact.gap = gap.value(self.state.t, &self.state.q);
        }
        Ok(())
    }
}
