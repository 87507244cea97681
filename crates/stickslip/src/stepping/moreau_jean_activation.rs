//! Which contacts a step of the Moreau–Jean scheme solves for, and what they read.

use crate::records::StepOutcome;
use crate::systems::MechanicalSystem;
use crate::systems::kink::rate_jumps;

use super::assembly::ActiveContact;
use super::contact_phases::resting;
use super::implicit_step::StepFrame;
use super::moreau_jean::MoreauJean;
use super::moreau_jean_settings::Activation;
use super::{ContactStage, State, restitution};

impl MoreauJean {
    /// Chooses the active contacts at the start of the step and writes their rows and biases.
    #[inline]
    pub(super) fn activate(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
    ) -> Result<(), StepOutcome> {
        let (h, t, q) = (frame.h, state.t, state.q.as_slice());
        self.assembly.prepare(system);
        let at_end = self.positions.ends_at.take() == Some(t) && self.step.q_end == q;
        let known = at_end.then_some(self.positions.gaps.as_slice());
        self.assembly
            .evaluate_gaps(system, (t, q, &state.v), known)?;
        self.assembly.begin(system, &mut stage.problem);
        self.positions.chosen.clear();
        for c in 0..system.constraints().len() {
            let approach = self.assembly.approach[c];
            let (assembly, settings) = (&self.assembly, &self.settings);
            let scales = &stage.scales;
            let closing = || {
                let resting = scales.resting_rate(c);
                settings.activation != Activation::Paper
                    || approach <= settings.velocity_tolerance.max(resting)
            };
            // A gap up to the largest of three sizes is closed; most contacts do not need all of them.
            let closed = |gap: f64| {
                gap <= settings.gap_tolerance
                    || gap <= scales.closed_gap(c)
                    || gap <= assembly.gap_rounding(c, q)
            };
            let forecast = closed(assembly.gaps[c] + h * approach) && closing();
            if forecast
                || stage.takes_part(c)
                || self.positions.stays(c, assembly, &state.impulses, closed)
            {
                self.positions.chosen.push(c);
            }
        }
        if self.positions.chosen.is_empty() {
            return Ok(());
        }
        self.write_blocks(system, frame, (t, q), place, stage)
    }

    /// Part of the change of velocity at which Frémond's law reads friction: θ, and no later than an impact of the step allows.
    fn friction_reading(&self, theta: f64, stage: &ContactStage) -> f64 {
        let blocks = stage.problem.blocks();
        let strikes = |contact: &&ActiveContact| {
            let block = &blocks[contact.block];
            let resting = resting(&self.assembly, stage, block);
            contact.owns_normal && self.assembly.before[block.start] < -resting
        };
        let striking = self.assembly.active.iter().filter(strikes);
        striking
            .map(|contact| restitution::latest_reading(contact.impact.restitution()))
            .fold(theta, f64::min)
    }

    /// Writes rows and biases of the chosen contacts, of a step that starts at `start`.
    #[inline(never)] // Steps without contact have no need of its frame.
    fn write_blocks(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        (t, q): (f64, &[f64]),
        place: Option<(f64, &[f64])>,
        stage: &mut ContactStage,
    ) -> Result<(), StepOutcome> {
        let (t_place, q_place) = place.unwrap_or((t, q));
        if place.is_some() {
            self.assembly.evaluate_gradients(system, t_place, q_place);
        }
        for &c in &self.positions.chosen {
            let at = (t_place, q_place, frame.v);
            self.assembly
                .activate(system, c, at, (t, q), &mut stage.problem)?;
        }
        if place.is_some() {
            for &c in &self.positions.chosen {
                let gap = system.constraints()[c].gap();
                // What the normal jumps at a kink is an approach.
                if rate_jumps(system, gap, [(t, q), (t_place, q_place)], frame.v) {
                    self.assembly
                        .approach_here(system, c, (t_place, q_place, frame.v));
                }
            }
            self.assembly.split_turning(&stage.problem);
        }
        // At an instant nothing moves that a mean velocity could close: what opens owes no more than its restitution.
        let guard = self.settings.activation == Activation::Guard && frame.h > 0.0;
        self.friction = self.friction_reading(frame.theta, stage);
        for contact in &self.assembly.active {
            let rows = stage.problem.blocks()[contact.block].range();
            if contact.owns_normal {
                let before = &self.assembly.before[rows.clone()];
                restitution::bias(
                    contact.impact,
                    (frame.theta, self.friction),
                    guard,
                    before,
                    &mut stage.problem.bias_mut()[rows],
                );
            }
        }
        for (bias, drift) in stage
            .problem
            .bias_mut()
            .iter_mut()
            .zip(&self.assembly.drift)
        {
            *bias += drift;
        }
        let reflection = (1.0 - frame.theta) / frame.theta;
        let turning = self.assembly.turning.iter();
        for (bias, turning) in stage.problem.bias_mut().iter_mut().zip(turning) {
            *bias += reflection * turning;
        }
        Ok(())
    }
}
