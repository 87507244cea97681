//! Positions corrected where bodies overlap.

use crate::contact::{BlockKind, ContactBlock};
use crate::laws::{FlowRule, FrictionSection};
use crate::stepping::ContactStage;
use crate::systems::world::{ContactSource, FoundContact, World};

use super::account::Account;
use super::bodies::Bodies;
use super::contacts::{operator, sides, write_rows};

/// Corrections at most in one step; each of them is linear in the displacement.
const ROUNDS_MAX: usize = 4;
/// Share of the slop that an overlap may reach during a run before it is corrected. Smaller overlaps are those of rounding
/// and of the tolerance; correcting them would find all contacts again in every step.
const ALLOWED: f64 = 0.5;
/// The same at the start of a run, where given overlaps are corrected.
const ALLOWED_AT_START: f64 = 1e-6;

/// Buffers of the projection.
#[derive(Debug, Default)]
pub(super) struct Projection {
    displacement: Vec<f64>,
    first: Vec<FoundContact>,
}

impl Projection {
    /// Moves bodies until no contact overlaps, with the least displacement in the kinetic metric among those that keep all
    /// gaps of the list open or closed, not overlapping. Velocities stay: nothing is pushed apart. Returns whether any moved.
    pub fn correct(
        &mut self,
        world: &World,
        source: &mut dyn ContactSource,
        (h, at_start): (f64, bool),
        bodies: &mut Bodies,
        found: &mut Vec<FoundContact>,
        (stage, account): (&mut ContactStage, &mut Account),
    ) -> bool {
        let share = if at_start { ALLOWED_AT_START } else { ALLOWED };
        for round in 0..ROUNDS_MAX {
            let overlaps = found.iter().any(|contact| {
                let [a, b] = contact.key.owners.map(|owner| owner as usize);
                contact.gap < -share * world.slop_of(a, b)
            });
            if !overlaps {
                return round > 0;
            }
            self.displace(world, bodies, found, stage, account);
            // What a contact inherits is still that of the last step.
            std::mem::swap(&mut self.first, found);
            source.find(world, &bodies.state, h, found);
            for contact in found.iter_mut() {
                let before = contact.matched.map(|m| &self.first[m as usize]);
                contact.matched = before.and_then(|contact| contact.matched);
            }
        }
        true
    }

    fn displace(
        &mut self,
        world: &World,
        bodies: &mut Bodies,
        found: &[FoundContact],
        stage: &mut ContactStage,
        account: &mut Account,
    ) {
        let freedoms = world.dimension.freedoms();
        let problem = &mut stage.problem;
        problem.begin_bodies(freedoms, world.bodies.len());
        for contact in found {
            let block = ContactBlock {
                key: contact.key,
                start: 0,
                size: 1,
                section: FrictionSection::None,
                flow_rule: FlowRule::Coulomb,
                kind: BlockKind::Unilateral { minimum: 0.0 },
            };
            let (numbers, bias) = problem.push_bodies(block, sides(bodies, contact));
            let normal = [contact.normal];
            write_rows(numbers, bodies, world.dimension, contact, &normal, 1);
            bias[0] = contact.gap;
        }
        problem.refresh();
        stage.solution.impulse.clear();
        stage.solve();
        self.displacement.clear();
        self.displacement.resize(freedoms * world.bodies.len(), 0.0);
        operator(&stage.problem).add_velocity(&stage.solution.impulse, &mut self.displacement);
        for (i, moved) in self.displacement.chunks_exact(freedoms).enumerate() {
            if moved.iter().all(|&d| d == 0.0) {
                continue;
            }
            let body = bodies.masses[i];
            let axes = world.dimension.axes();
            let mut translation = [0.0; 3];
            for (t, d) in translation.iter_mut().zip(&moved[..axes]) {
                *t = d * body.inverse_root_mass;
            }
            let rotation = match moved[axes..] {
                [turn] => [0.0, 0.0, turn * body.inverse_root_inertia[2]],
                _ => std::array::from_fn(|k| moved[3 + k] * body.inverse_root_inertia[k]),
            };
            account.displacement(world, bodies, i, translation);
            account.own_momentum(bodies, i, -1.0);
            bodies.displace(i, translation, rotation);
            account.own_momentum(bodies, i, 1.0);
        }
        bodies.refresh_rotations();
    }
}
