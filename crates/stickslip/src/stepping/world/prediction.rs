//! Impulses to expect in the next step.
//!
//! # What it computes
//!
//! The impulses p of a step hold its loads and stop what moved before it. Only the first comes again. From the guess g the contacts of an
//! island had the velocity u = W g + q, which is the velocity a that they read before the step and what g leaves of the loads; the solution leaves w = W p + q.
//! Under the same loads p′ = g + s (p − g) changes velocities by (u − a) − s (u − w) in every step. The share s between 0 and 1 makes that least,
//! Σ ρ² |·|² over the contacts of the island that act, ρ the inverse of the trace of W_ii; of those that slide only the normal rows count, for what
//! slides goes on sliding.
//!
//! # Source
//!
//! Own.
//!
//! # Guarantees
//!
//! Where p and g differ by rounding, p′ = p. A guess only: solutions are what they are, within the tolerance. In the measure above it is at least as good as the impulses of the step, while no contact opens
//! and no slip begins.
//!
//! # Behaviour to know
//!
//! With the impulses themselves as guess an island at rest is stopped in one step and set in motion the other way by the guess of the next, to be
//! swept in every second step. Sweeps of a step, mean, with the impulses and with this: pyramid of 819 boxes 1.5 and 0.4, wall 0.9 and 0.1, column of balls that falls 103 and
//! 100, packs of balls at rest 2.7 and 1.4, 1.8 and 0.5 (1,000 balls), 6.9 and 6.2, 39 and 37 (5,000). To ask for the least velocity in the next step, w included, instead of the least change
//! does worse (pyramid 1.3, packs 5.8, 0.8, 6.2, 37): what stops w is a change in all steps after.
//!
//! # Cost
//!
//! One product with W in steps that are swept; nothing in others.
//!
//! # Tested by
//!
//! Tests below.

use crate::contact::delassus::SweepVelocity;
use crate::contact::{ContactProblem, Islands};
use crate::records::{ContactMode, PresentContact};

use super::contacts::operator;
use super::posing::PosedContacts;

/// Changes of impulses up to this part of them are rounding: some thousand times that of a number.
const ROUNDING: f64 = 1e-12;

/// The guess of a step, and what it tells of the next.
#[derive(Debug, Default)]
pub(super) struct Prediction {
    /// The guess, and then the impulses to expect.
    rows: Vec<f64>,
    /// Velocities that the guess leaves.
    velocity: Vec<f64>,
    memory: SweepVelocity,
    islands: Islands,
    /// Numerator and denominator of the share of each island, and Σ |p|² of its contacts.
    sums: Vec<[f64; 3]>,
}

impl Prediction {
    /// Keeps the guess of a step.
    pub fn begin(&mut self, guess: &[f64]) {
        self.rows.clear();
        self.rows.extend_from_slice(guess);
    }

    /// The impulses to expect after those of the step and the velocities they leave, per row.
    pub fn after(
        &mut self,
        problem: &ContactProblem,
        contacts: &PosedContacts,
        present: &[PresentContact],
        (impulse, after): (&[f64], &[f64]),
    ) -> &[f64] {
        let operator = operator(problem);
        self.islands.find(operator);
        self.sums.clear();
        self.sums.resize(self.islands.count(), [0.0; 3]);
        self.velocity.resize(impulse.len(), 0.0);
        problem.delassus().multiply_plus_with(
            &self.rows,
            problem.free(),
            &mut self.velocity,
            &mut self.memory,
        );
        let (approach, drift, bias) = (&contacts.approach, &contacts.drift, problem.bias());
        for (index, contact) in contacts.active.iter().enumerate() {
            let row = contact.start as usize;
            let Some(island) = self.islands.of(index).filter(|_| impulse[row] > 0.0) else {
                continue;
            };
            // What slides along the surface goes on sliding.
            let held = match present[index].mode {
                ContactMode::Slip => 1,
                _ => usize::from(contact.rows),
            };
            let rows = contact.range();
            let trace: f64 = rows.clone().map(|row| operator.square(row)).sum();
            let [mut wanted, mut all] = [0.0; 2];
            for row in rows.take(held) {
                let before = approach[row] - drift[row] + bias[row];
                let (u, after) = (self.velocity[row], after[row]);
                let stopped = u - after;
                wanted += (u - before) * stopped;
                all += stopped * stopped;
            }
            let weight = 1.0 / (trace * trace);
            self.sums[island][0] += weight * wanted;
            self.sums[island][1] += weight * all;
            let own = &impulse[contact.range()];
            self.sums[island][2] += own.iter().map(|p| p * p).sum::<f64>();
        }
        for (index, contact) in contacts.active.iter().enumerate() {
            let [wanted, all, size] = self.islands.of(index).map_or([0.0; 3], |i| self.sums[i]);
            // Changes that are rounding tell nothing.
            let share = if all > ROUNDING * ROUNDING * size {
                (wanted / all).clamp(0.0, 1.0)
            } else {
                1.0
            };
            let rows = contact.range();
            for (row, p) in self.rows[rows.clone()].iter_mut().zip(&impulse[rows]) {
                *row += share * (p - *row);
            }
        }
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use crate::laws::{ContactLaw, FrictionSection, ImpactLaw};
    use crate::simulation::{Simulation, SimulationSettings};
    use crate::solvers::{BodySweepSettings, BodySweepSolver};
    use crate::stepping::WorldStepping;
    use crate::systems::world::{
        CollisionDetection, Dimension, PlacedShape, Pose, Shape, Weight, World, WorldBody,
    };

    /// Bodies over a floor, with friction 0.5 and steps of 5 ms.
    fn over_a_floor(bodies: Vec<WorldBody>) -> Simulation {
        let law = ContactLaw::new(FrictionSection::disc(0.5).unwrap(), ImpactLaw::Inelastic);
        let floor = WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]);
        let world = World::builder()
            .gravity([0.0, 0.0, -10.0])
            .material("stone")
            .pair(0, 0, law.unwrap())
            .body(floor);
        let world = bodies
            .into_iter()
            .fold(world, |world, body| world.body(body));
        let world = world.build().unwrap();
        let source = Box::new(CollisionDetection::new(&world).unwrap());
        let scheme = Box::new(WorldStepping::moreau_jean(1.0, source).unwrap());
        let solver = Box::new(BodySweepSolver::new(BodySweepSettings::default()));
        let (q, v) = (world.start_coordinates(), world.start_velocities());
        let settings = SimulationSettings::fixed(5e-3);
        Simulation::new(Box::new(world), scheme, solver, (&q, &v), settings).unwrap()
    }

    /// The impulse of an impact does not come again, that of the weight does: the step after it begins with its solution.
    #[test]
    fn after_an_impact_the_weight_is_expected() {
        let ball = WorldBody::ball("ball", 2.0, 0.1).at(Pose::at([0.0, 0.0, 0.12]));
        let mut run = over_a_floor(vec![ball.moving([0.0, 0.0, -1.0], [0.0; 3])]);
        // It is braked to where it touches, stopped there, and held.
        let mut after_impact = 0;
        for _ in 0..20 {
            let record = run.step_towards(1.0);
            let weighs = record.present.iter().any(|c| c.impulse[2] != 0.0);
            after_impact += u32::from(weighs);
            if after_impact == 3 {
                assert_eq!(record.iterations, 0);
                assert!((record.present[0].impulse[2].abs() - 2.0 * 10.0 * 5e-3).abs() < 1e-9);
            }
        }
        assert!(after_impact > 3);
    }

    /// What stands still is not swept in every other step to undo the guess of the one before.
    #[test]
    fn a_heap_at_rest_is_seldom_swept() {
        let (side, layers) = (0.2, 5);
        let weight = Weight {
            mass: Some(8.0),
            ..Weight::default()
        };
        let mut boxes = Vec::new();
        for layer in 0..layers {
            let count = layers - layer;
            for i in 0..count * count {
                let shift = 0.5 * f64::from(layer);
                let [x, y] = [i % count, i / count].map(|k| 1.1 * side * (f64::from(k) + shift));
                let name = format!("box {layer} {i}");
                let place = [x, y, side * (f64::from(layer) + 0.5)];
                let shape = PlacedShape::from(Shape::cuboid([side; 3]).unwrap());
                let body = WorldBody::of_shapes(name, &[shape], &weight, Dimension::Space);
                boxes.push(body.unwrap().0.at(Pose::at(place)));
            }
        }
        let mut run = over_a_floor(boxes);
        let swept = |run: &mut Simulation| run.step_towards(10.0).iterations > 0;
        let first = (0..100).filter(|_| swept(&mut run)).count();
        let later = (0..300).filter(|_| swept(&mut run)).count();
        assert!(later <= 15, "{first} of 100, then {later} of 300");
    }
}
