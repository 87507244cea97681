//! The contact solve of a step: one phase, or two where Poisson's or the energetic law acts.

use crate::contact::{BlockKind, BodyOperator};
use crate::laws::ImpactLaw;
use crate::stepping::ContactStage;

use super::contacts::{Posing, operator};
use super::posing::PosedContacts;

/// An approach slower than this, relative to the fastest one, is over: rounding of a bounce.
const APPROACH_MIN: f64 = 1e-10;
/// Rounds over the contacts under the energetic law.
const ROUNDS_MAX: usize = 100;

/// What the phases read besides the problem.
pub(super) struct PhaseInput<'a> {
    pub t: f64,
    pub contacts: &'a PosedContacts,
    /// Whether the guess of the last step was its solution.
    pub rested: bool,
    /// Whitened velocity before the kick.
    pub before: &'a [f64],
}

/// Buffers of the phases.
///
/// Poisson's compression stops the approach of the start, without restitution and without forces; the expansion owes
/// `p_N ≥ e p_C,N` on top of it. Under the energetic law, which worlds compute without friction, the impacts of single
/// contacts follow one another until none approaches.
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
    /// Solves the problem of the stage, whose guess is set; returns the residual of the compression (0 without one).
    pub fn solve(&mut self, input: &PhaseInput, stage: &mut ContactStage) -> f64 {
        let has = |wanted: fn(ImpactLaw) -> bool| {
            let mut active = input.contacts.active.iter();
            active.any(|contact| contact.strikes() && wanted(contact.impact))
        };
        let poisson = has(|law| matches!(law, ImpactLaw::Poisson { .. }));
        let energetic = has(|law| matches!(law, ImpactLaw::Energetic { .. }));
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
        residual
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

    /// Impacts under the energetic law, one contact after the other while one of them approaches.
    fn strike(&mut self, input: &PhaseInput, operator: &BodyOperator) {
        let approach = &input.contacts.approach;
        let drift = |row: usize| approach[row] - operator.row_product(row, input.before);
        self.velocity.clear();
        self.velocity.extend_from_slice(input.before);
        let fastest = approach.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        for _ in 0..ROUNDS_MAX {
            let mut quiet = true;
            for contact in &input.contacts.active {
                let (ImpactLaw::Energetic { restitution }, true) =
                    (contact.impact, contact.strikes())
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
                quiet = false;
            }
            if quiet {
                break;
            }
        }
    }
}
