//! Positions corrected where bodies overlap.

use crate::contact::{BlockKind, ContactBlock};
use crate::laws::{FlowRule, FrictionSection};
use crate::stepping::ContactStage;
use crate::systems::world::{ContactSource, FoundContact, World};

use super::account::Account;
use super::bodies::{Bodies, BodyMass};
use super::contacts::{dot, operator, sides, write_rows};

/// Corrections at most in one step; each of them is linear in the displacement.
const ROUNDS_MAX: usize = 4;
/// The same where bodies still overlap by more than the slop: light ones between heavy ones that turn far in a step.
const DEEP_ROUNDS_MAX: usize = 16;
/// Share of the slop that an overlap may reach before it is corrected: 10⁻¹⁰ of the size.
const ALLOWED: f64 = 1e-6;
/// Share of the slop to which corrected contacts are opened. What solves leave, 10⁻⁸ of the impulses of a step, takes thousands of steps to close it:
/// corrected to zero, a tower with a heavy top is corrected in every sixth step, which costs more than the steps.
const OPENED: f64 = 1e-3;
/// Contacts take part whose gap is at most so many times the largest opening; those farther away stay open, and where one does not the next round
/// has it.
const NEAR: f64 = 8.0;
/// Displacement, in parts of the size of a body, above which contacts are found again. Below it places and normals are those that the
/// detection keeps, and gaps are linear to 10⁻¹² of the size.
const KEPT: f64 = 1e-6;
/// Largest part of a displacement that is left to the next round.
const TURN_MAX: f64 = 0.5;
/// How often a displacement after which a body touches nothing is halved.
const RETURNS_MAX: usize = 6;
/// Residual to which a round is solved; the next round has what is left.
const TOLERANCE: f64 = 1e-6;

/// Buffers of the projection.
#[derive(Debug, Default)]
pub(super) struct Projection {
    displacement: Vec<f64>,
    first: Vec<FoundContact>,
}

impl Projection {
    /// Moves bodies until no contact overlaps.
    ///
    /// # What it computes
    /// Where a contact overlaps, the least displacement in the kinetic metric after which no gap nearby is below a thousandth of the slop, g₀: M d = H p with
    /// 0 ≤ p ⊥ g − g₀ + Hᵀ d ≥ 0, once or, where bodies moved far, several times. Where a body would turn by an angle θ, the part 1 − θ of d: a corner on an arm r rises
    /// by up to r θ²/2 more than Hᵀ d says, of the r θ that it has to, so that bodies come out of each other and stop where they touch. Where one touches nothing then, for
    /// on uneven ground normals change along the way, it goes half of its way back. Velocities stay: nothing is pushed apart. Returns whether any moved.
    ///
    /// # Source
    /// The projection of positions of [AcaryCollinsCraft2023] on bodies in blocks.
    ///
    /// # Guarantees
    /// Overlaps beyond a millionth of the slop are gone unless four rounds do not remove them, those beyond the slop unless sixteen do not; then the
    /// next step goes on, and the run is not certified where the slop is exceeded. The change of potential energy and of momentum is booked.
    ///
    /// # Behaviour to know
    /// Contacts rest at gaps within the slop; only an overlap is corrected, so that a stack at rest does not move with every step.
    ///
    /// # Cost
    /// Nothing but a look at the gaps where no contact overlaps; else a contact problem without friction over the islands that do.
    ///
    /// # Tested by
    /// `tests/truth_world_scenes.rs`.
    pub fn correct(
        &mut self,
        world: &World,
        source: &mut dyn ContactSource,
        h: f64,
        bodies: &mut Bodies,
        found: &mut Vec<FoundContact>,
        (stage, account): (&mut ContactStage, &mut Account),
    ) -> bool {
        for round in 0..DEEP_ROUNDS_MAX {
            let allowed = if round < ROUNDS_MAX { ALLOWED } else { 1.0 };
            let overlaps = found.iter().any(|contact| {
                let [a, b] = contact.key.owners.map(|owner| owner as usize);
                contact.gap < -allowed * world.slop_of(a, b)
            });
            if !overlaps {
                return round > 0;
            }
            self.pose(world, bodies, found, stage);
            let mut share = self.solve(world, bodies, stage);
            if !self.displace(world, bodies, share, account) {
                self.open(world, bodies, found);
                continue;
            }
            self.find(world, source, h, bodies, found);
            for _ in 0..RETURNS_MAX {
                if !self.keep_flying(world, found) {
                    break;
                }
                share *= 0.5;
                self.displace(world, bodies, -share, account);
                self.find(world, source, h, bodies, found);
            }
        }
        true
    }

    /// Contacts where the bodies are now.
    fn find(
        &mut self,
        world: &World,
        source: &mut dyn ContactSource,
        h: f64,
        bodies: &Bodies,
        found: &mut Vec<FoundContact>,
    ) {
        // What a contact inherits is still that of the last step.
        std::mem::swap(&mut self.first, found);
        source.find(world, &bodies.state, h, found);
        for contact in found.iter_mut() {
            let before = contact.matched.map(|m| &self.first[m as usize]);
            contact.matched = before.and_then(|contact| contact.matched);
        }
    }

    /// Keeps the displacements of bodies that touch nothing any more, which went too far; whether there are any.
    fn keep_flying(&mut self, world: &World, found: &[FoundContact]) -> bool {
        let freedoms = world.dimension.freedoms();
        let mut touches = vec![false; world.bodies.len()];
        for contact in found {
            let [a, b] = contact.key.owners.map(|owner| owner as usize);
            let closed = contact.gap <= world.slop_of(a, b);
            touches[a] |= closed;
            touches[b] |= closed;
        }
        let mut flies = false;
        for (moved, touches) in self.displacement.chunks_exact_mut(freedoms).zip(touches) {
            if touches {
                moved.fill(0.0);
            }
            flies |= moved.iter().any(|&d| d != 0.0);
        }
        flies
    }

    /// Writes the contacts that overlap and those near them.
    fn pose(
        &mut self,
        world: &World,
        bodies: &Bodies,
        found: &[FoundContact],
        stage: &mut ContactStage,
    ) {
        let target = |contact: &FoundContact| {
            let [a, b] = contact.key.owners.map(|owner| owner as usize);
            OPENED * world.slop_of(a, b)
        };
        // How far the deepest contact is to be opened.
        let deepest = found.iter().filter(|c| c.gap < 0.0);
        let reach = NEAR * deepest.fold(0.0, |d: f64, c| d.max(target(c) - c.gap));
        let problem = &mut stage.problem;
        problem.begin_bodies(world.dimension.freedoms(), world.bodies.len());
        for contact in found.iter().filter(|c| c.gap <= reach) {
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
            bias[0] = contact.gap - target(contact);
        }
        problem.refresh();
        stage.solution.impulse.clear();
        stage.solve_within(TOLERANCE);
    }

    /// Writes the displacement; the share of it that is made.
    fn solve(&mut self, world: &World, bodies: &Bodies, stage: &ContactStage) -> f64 {
        let freedoms = world.dimension.freedoms();
        self.displacement.clear();
        self.displacement.resize(freedoms * world.bodies.len(), 0.0);
        operator(&stage.problem).add_velocity(&stage.solution.impulse, &mut self.displacement);
        1.0 - self.farthest_turn(world, bodies).min(TURN_MAX)
    }

    /// Displaces the bodies by a share; true if one of them moved farther than geometry is kept.
    fn displace(
        &mut self,
        world: &World,
        bodies: &mut Bodies,
        share: f64,
        account: &mut Account,
    ) -> bool {
        let freedoms = world.dimension.freedoms();
        let mut far = false;
        for (i, moved) in self.displacement.chunks_exact(freedoms).enumerate() {
            if moved.iter().all(|&d| d == 0.0) {
                continue;
            }
            let body = bodies.masses[i];
            let axes = world.dimension.axes();
            let mut translation = [0.0; 3];
            for (t, d) in translation.iter_mut().zip(&moved[..axes]) {
                *t = share * d * body.inverse_root_mass;
            }
            let rotation = turn(&body, &moved[axes..]).map(|angle| share * angle);
            account.displacement(world, bodies, i, translation);
            account.own_momentum(bodies, i, -1.0);
            bodies.displace(i, translation, rotation);
            account.own_momentum(bodies, i, 1.0);
            let length = |v: [f64; 3]| dot(v, v).sqrt();
            let turned = length(rotation) * world.bodies[i].radius;
            far |= !(length(translation) + turned <= KEPT * world.bodies[i].size);
        }
        bodies.refresh_rotations();
        far
    }

    /// The largest angle by which a body would turn.
    fn farthest_turn(&self, world: &World, bodies: &Bodies) -> f64 {
        let (freedoms, axes) = (world.dimension.freedoms(), world.dimension.axes());
        let moved = self.displacement.chunks_exact(freedoms);
        let squares = moved.zip(&bodies.masses).map(|(moved, body)| {
            let turn = turn(body, &moved[axes..]);
            dot(turn, turn)
        });
        squares.fold(0.0, f64::max).sqrt()
    }

    /// Gaps after a small displacement.
    fn open(&self, world: &World, bodies: &Bodies, found: &mut [FoundContact]) {
        let freedoms = world.dimension.freedoms();
        let mut row = [0.0; 12];
        for contact in found {
            let row = &mut row[..2 * freedoms];
            row.fill(0.0);
            let normal = [contact.normal];
            write_rows(row, bodies, world.dimension, contact, &normal, 1);
            for (&owner, row) in contact.key.owners.iter().zip(row.chunks_exact(freedoms)) {
                let at = owner as usize * freedoms;
                let moved = &self.displacement[at..at + freedoms];
                contact.gap += row.iter().zip(moved).map(|(r, d)| r * d).sum::<f64>();
            }
        }
    }
}

/// Rotation of a body by whitened angles, about its axes.
fn turn(body: &BodyMass, whitened: &[f64]) -> [f64; 3] {
    match *whitened {
        [turn] => [0.0, 0.0, turn * body.inverse_root_inertia[2]],
        _ => std::array::from_fn(|k| whitened[k] * body.inverse_root_inertia[k]),
    }
}
