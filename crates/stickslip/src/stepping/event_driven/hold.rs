//! Reactions of rows that are held, and how contacts share what only their sum is known of.

use crate::algebra::dot;

use super::accelerations::Accelerations;
use super::full_pivoting::solve_full_pivoting;
use super::reactions_inside::{Wall, reactions_inside};

/// What a joint pays for a reaction beside the normal one of a contact: next to nothing, it has no cone.
const JOINT: f64 = 1e-6;
/// What friction pays, over the square of its part of the cone: a particle in a groove that wedges it (μ = 1.5) is held without friction, which would otherwise carry it outside the cones.
const FRICTION: f64 = 100.0;

/// A constrained row: its covector, the force that keeps it, and where its reaction goes.
pub(super) struct Held {
    pub row: Vec<f64>,
    pub force: Vec<f64>,
    pub rate: f64,
    pub slot: Option<(usize, usize)>,
}

impl Accelerations {
    /// What a reaction costs where there is a choice.
    fn weight(&self, held: &Held) -> f64 {
        let Some((slot, row)) = held.slot else {
            return JOINT;
        };
        let group = self.groups[slot]
            .iter()
            .find(|group| (group.start..group.start + group.size).contains(&row));
        let Some(group) = group else {
            return 1.0;
        };
        let mut unit = vec![0.0; group.size];
        unit[row - group.start] = 1.0;
        let gauge = self.section(slot, group).gauge(&unit);
        FRICTION * gauge.clamp(1e-3, 1e3).powi(2)
    }

    /// What bounds the reactions of held rows: pressure, and friction inside its cone.
    fn walls(&self, held: &[Held]) -> Vec<Wall> {
        let mut walls = Vec::new();
        for (normal, h) in held.iter().enumerate() {
            let Some((slot, 0)) = h.slot else {
                continue;
            };
            walls.push(Wall::pressure(normal));
            for group in &self.groups[slot] {
                let at = |k: usize| Some((slot, group.start + k));
                if let Some(first) = held.iter().position(|h| h.slot == at(0)) {
                    walls.extend(Wall::friction(&self.section(slot, group), normal, first));
                }
            }
        }
        walls
    }

    /// Adds the reactions that keep the held rows, by elimination with full pivoting. Where rows depend on each other, those of the same motion with least friction, measured by
    /// what the pressure of one newton allows, and then with least pressure: about the deepest inside their cones. If these leave a cone, others that do not, if there are any.
    pub(super) fn hold(&mut self, held: &[Held]) {
        let m = held.len();
        if m == 0 {
            return;
        }
        let mut responses: Vec<Vec<f64>> = held.iter().map(|h| h.force.clone()).collect();
        for response in &mut responses {
            self.factor.solve_in_place(response);
        }
        let mut matrix = vec![0.0; m * m];
        let mut right = vec![0.0; m];
        for (i, h) in held.iter().enumerate() {
            for (j, response) in responses.iter().enumerate() {
                matrix[i * m + j] = dot(&h.row, response);
            }
            right[i] = -(dot(&h.row, &self.a) + h.rate);
        }
        let weights: Vec<f64> = held.iter().map(|h| self.weight(h)).collect();
        let (mut solution, idle) = solve_full_pivoting(&mut matrix, &mut right, Some(&weights));
        self.dependent |= !idle.is_empty();
        // What slips moves with its pressure: there another share is another motion.
        if !idle.is_empty() && held.iter().all(|h| h.force == h.row) {
            let walls = self.walls(held);
            if let Some(inside) = reactions_inside(&walls, &solution, &idle, &weights) {
                solution = inside;
            }
        }
        // Joints come first.
        let joints = self.joint_reaction.iter_mut().zip(&solution);
        joints.for_each(|(reaction, x)| *reaction = *x);
        for ((h, response), &x) in held.iter().zip(&responses).zip(&solution) {
            for (a, r) in self.a.iter_mut().zip(response) {
                *a += x * r;
            }
            if let Some((s, i)) = h.slot {
                self.reaction[self.layout.slots()[s].start + i] = x;
            }
        }
        let contacts = held.iter().filter(|h| h.slot.is_some());
        let left = contacts.map(|h| (dot(&h.row, &self.a) + h.rate).abs());
        self.unheld = left.fold(0.0, f64::max);
    }
}
