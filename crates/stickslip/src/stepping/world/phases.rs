//! The contact solve of a step: one phase, or two where Poisson's or the energetic law acts.

use crate::contact::{BlockKind, BodyOperator};
use crate::laws::ImpactLaw;
use crate::records::StepOutcome;
use crate::stepping::ContactStage;

use super::contacts::{ActiveContact, Posing, operator};
use super::posing::PosedContacts;

/// An approach slower than this, relative to the fastest one, is over: rounding of a bounce.
const APPROACH_MIN: f64 = 1e-10;
/// Couplings below this part of their size are rounding.
const COUPLING_MIN: f64 = 1e-12;

/// What the phases read besides the problem.
pub(super) struct PhaseInput<'a> {
    pub t: f64,
    pub contacts: &'a PosedContacts,
    /// Speed that gravity gains in a step.
    pub gain: f64,
    /// Whether the guess of the last step was its solution.
    pub rested: bool,
    /// Whitened velocity before the kick.
    pub before: &'a [f64],
}

/// Buffers of the phases.
///
/// Poisson's compression stops the approach of the start, without restitution and without forces; the expansion owes
/// `p_N ≥ e p_C,N` on top of it. Under the energetic law, which worlds compute without friction, every contact that approaches has its impact
/// by itself; where they act on each other, or close another contact, the step stops: what they do depends on the ratio of their stiffnesses.
#[derive(Debug, Default)]
pub(super) struct ImpactPhases {
    /// Total impulse of all phases, per row.
    pub impulse: Vec<f64>,
    /// Whether that is the solution of the last one.
    pub is_last: bool,
    compression: Vec<f64>,
    bias: Vec<f64>,
    velocity: Vec<f64>,
    free: Vec<f64>,
}

impl ImpactPhases {
    /// Solves the problem of the stage, whose guess is set; returns the residual of the compression (0 without one), or why no law covers
    /// the impact.
    pub fn solve(
        &mut self,
        input: &PhaseInput,
        stage: &mut ContactStage,
    ) -> Result<f64, StepOutcome> {
        let has = |wanted: fn(ImpactLaw) -> bool| {
            let mut active = input.contacts.active.iter();
            active.any(|contact| contact.strikes() && wanted(contact.impact))
        };
        let poisson = has(|law| matches!(law, ImpactLaw::Poisson { .. }));
        let energetic = has(is_energetic);
        self.refuse_meeting_layers(input, stage)?;
        let mut residual = 0.0;
        if poisson || energetic {
            self.compression.clear();
            self.compression.resize(stage.problem.size(), 0.0);
            self.free.clear();
            self.free.extend_from_slice(stage.problem.velocity_free());
            if energetic {
                self.strike(input, operator(&stage.problem));
            }
            if poisson {
                residual = self.compress(input, stage);
            }
            operator(&stage.problem).add_velocity(&self.compression, &mut self.free);
            stage
                .problem
                .velocity_free_mut()
                .copy_from_slice(&self.free);
            stage.problem.refresh();
            stage.solution.impulse.clear();
            stage.solution.impulse.resize(self.compression.len(), 0.0);
        }
        self.is_last = !(poisson || energetic);
        if self.is_last && input.rested {
            stage.solve_at_rest();
        } else {
            stage.solve();
        }
        self.impulse.clear();
        self.impulse.extend_from_slice(&stage.solution.impulse);
        if poisson || energetic {
            for (total, first) in self.impulse.iter_mut().zip(&self.compression) {
                *total += first;
            }
        }
        Ok(residual)
    }

    fn compress(&mut self, input: &PhaseInput, stage: &mut ContactStage) -> f64 {
        let problem = &mut stage.problem;
        self.bias.clear();
        self.bias.extend_from_slice(problem.bias());
        self.velocity.clear();
        self.velocity.extend_from_slice(input.before);
        operator(problem).add_velocity(&self.compression, &mut self.velocity);
        problem.velocity_free_mut().copy_from_slice(&self.velocity);
        // Supports, and what open contacts allow.
        let bias = problem.bias_mut();
        bias.copy_from_slice(&input.contacts.drift);
        for contact in &input.contacts.active {
            if let Posing::Closing { allowed } = contact.posing {
                bias[contact.start as usize] += allowed;
            }
        }
        problem.refresh();
        stage.solve();
        let residual = stage.certify(input.t);
        // Only contacts under Poisson's law keep their compression; they owe the expansion.
        for (block, contact) in input.contacts.active.iter().enumerate() {
            let (ImpactLaw::Poisson { restitution }, true) = (contact.impact, contact.strikes())
            else {
                continue;
            };
            let rows = stage.problem.blocks()[block].range();
            let minimum = restitution * stage.solution.impulse[rows.start];
            stage.problem.blocks_mut()[block].kind = BlockKind::Unilateral { minimum };
            self.compression[rows.clone()].copy_from_slice(&stage.solution.impulse[rows]);
        }
        stage.problem.bias_mut().copy_from_slice(&self.bias);
        residual
    }

    /// Impacts under the energetic law, which do not act on each other; an obstacle that is given twice strikes once.
    fn strike(&mut self, input: &PhaseInput, operator: &BodyOperator) {
        let approach = &input.contacts.approach;
        let drift = |row: usize| approach[row] - operator.row_product(row, input.before);
        self.velocity.clear();
        self.velocity.extend_from_slice(input.before);
        let fastest = approach.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        for contact in &input.contacts.active {
            let (ImpactLaw::Energetic { restitution }, true) = (contact.impact, contact.strikes())
            else {
                continue;
            };
            let row = contact.start as usize;
            let normal = operator.row_product(row, &self.velocity) + drift(row);
            if normal >= -APPROACH_MIN * fastest {
                continue;
            }
            let p = -(1.0 + restitution) * normal / operator.entry(row, row);
            self.compression[row] += p;
            operator.add_row(row, p, &mut self.velocity);
        }
    }

    /// Names a contact whose impact and another one depend on each other where one of them is under the energetic law: both approach and are
    /// coupled, or one closes the other.
    fn refuse_meeting_layers(
        &self,
        input: &PhaseInput,
        stage: &ContactStage,
    ) -> Result<(), StepOutcome> {
        let active = &input.contacts.active;
        if !active.iter().any(|contact| is_energetic(contact.impact)) {
            return Ok(());
        }
        let (operator, approach) = (operator(&stage.problem), &input.contacts.approach);
        let fastest = approach.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        let rounding = (APPROACH_MIN * fastest).max(stage.resting_speed());
        let normal = |contact: &ActiveContact| approach[contact.start as usize];
        // Posed as an impact, or so fast that it would be under a law with restitution.
        let closes = |contact: &ActiveContact| {
            contact.posing != Posing::Absent && normal(contact) < -(2.0 * input.gain).max(rounding)
        };
        let size = |i: usize, j: usize| (operator.entry(i, i) * operator.entry(j, j)).sqrt();
        let coupled = |i: usize, j: usize| operator.entry(i, j).abs() > COUPLING_MIN * size(i, j);
        let closing: Vec<usize> = (0..active.len()).filter(|&k| closes(&active[k])).collect();
        for (index, contact) in active.iter().enumerate() {
            let mut lowest = 0.0;
            for &other in closing.iter().filter(|&&other| other != index) {
                let struck = &active[other];
                if !is_energetic(contact.impact) && !is_energetic(struck.impact) {
                    continue;
                }
                if !contact
                    .range()
                    .any(|i| struck.range().any(|j| coupled(i, j)))
                {
                    continue;
                }
                let [own, row] = [contact, struck].map(|c| c.start as usize);
                let w = operator.entry(own, row);
                if !closes(contact) {
                    // What friction of another law does to it is not known beforehand.
                    if struck.range().skip(1).any(|j| coupled(own, j)) {
                        lowest = f64::NEG_INFINITY;
                    }
                    let p = -(1.0 + struck.impact.restitution()) * normal(struck);
                    lowest += (w * p / operator.entry(row, row)).min(0.0);
                    continue;
                }
                // An obstacle that is given twice has two springs that are one.
                let part = w / operator.entry(row, row) * normal(struck) - normal(contact);
                let twice = (1.0 - w / size(own, row)).abs() <= COUPLING_MIN
                    && part.abs() <= APPROACH_MIN * normal(contact).abs()
                    && contact.impact == struck.impact;
                if !twice {
                    let contact = stage.problem.blocks()[index.max(other)].key;
                    return Err(StepOutcome::SeveralLayers { contact });
                }
            }
            let allowed = match contact.posing {
                Posing::Closing { allowed } => allowed,
                _ => 0.0,
            };
            if lowest < 0.0 && normal(contact) + lowest < -rounding - allowed {
                let contact = stage.problem.blocks()[index].key;
                return Err(StepOutcome::SeveralLayers { contact });
            }
        }
        Ok(())
    }
}

fn is_energetic(law: ImpactLaw) -> bool {
    matches!(law, ImpactLaw::Energetic { .. })
}
