//! Groups of contacts that act on each other within a problem, and how far their velocities are off.
//!
//! # What it computes
//!
//! The connected components of the contacts that act (those with an impulse, and those whose law does not hold), joined by the
//! bodies they share or by their entries in W. The error of a contact velocity, |F_i|/ρ_i, is compared with the fastest free velocity that the
//! contacts of its own group have met so far while they acted, those of other contacts of their bodies included: neither what flies past nor what is heavy
//! elsewhere makes it small.
//!
//! # Source
//!
//! Union-find with the first contact as representative.
//!
//! # Guarantees
//!
//! A function of the contacts and their order alone.
//!
//! # Behaviour to know
//!
//! Open contacts connect nothing and lend no speed. Two towers on one floor are two groups.
//!
//! # Cost
//!
//! One visit per contact of a problem over bodies; one per entry of W of others.
//!
//! # Tested by
//!
//! Tests below, `tests/truth_certified_groups.rs`.

use crate::algebra::largest_size;

use super::residual::VelocityError;
use super::{BlockKind, ContactProblem, ContactResidual, NO_BODY};

/// A part of √(W_ii W_jj) up to which W_ij is rounding.
const COUPLED: f64 = 16.0 * f64::EPSILON;

const NONE: u32 = u32::MAX;

/// Working memory of the groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActingGroups {
    /// Per contact: one of its group nearer to the first; none of those that do not act.
    parent: Vec<u32>,
    /// Per body: a contact that acts on it.
    of_body: Vec<u32>,
    /// Per contact: error, and at the first one of a group its speed.
    error: Vec<f64>,
    speed: Vec<f64>,
    /// Per body, or constraint where contacts are declared: fastest free velocity of its contacts that acted, so far.
    met: Vec<f64>,
}

impl ActingGroups {
    /// Speeds that bodies or constraints have met so far.
    pub(crate) fn met(&self) -> &[f64] {
        &self.met
    }

    /// Takes over what a resumed run had met.
    pub(crate) fn take_up(&mut self, met: Vec<f64>) {
        self.met = met;
    }

    /// Enters the speeds of the contacts that act, and returns the largest error of a velocity.
    pub(crate) fn meet(
        &mut self,
        problem: &ContactProblem,
        residual: &ContactResidual,
        impulse: &[f64],
    ) -> f64 {
        let mut largest = 0.0;
        let members_max = match problem.delassus().bodies() {
            Some(operator) => operator.bodies(),
            None => (problem.blocks().iter()).fold(0, |n, block| n.max(1 + block.key.constraint())),
        };
        if members_max > self.met.len() {
            self.met.resize(members_max, 0.0);
        }
        residual.for_each_velocity(problem, impulse, |b, error| {
            // One that is no number must not be lost.
            if !(error.whole <= largest) {
                largest = error.whole;
            }
            if acts(problem, b, impulse, error) {
                let speed = speed(problem, b, error);
                for member in members(problem, b) {
                    self.met[member] = self.met[member].max(speed);
                }
            }
        });
        largest
    }

    /// The largest error of a velocity beyond `rounding`, as a part of the speed of its group, and its block; speeds were entered.
    pub(crate) fn worst(
        &mut self,
        problem: &ContactProblem,
        residual: &ContactResidual,
        impulse: &[f64],
        rounding: f64,
    ) -> Option<(f64, usize)> {
        self.read(problem, residual, impulse);
        match problem.delassus().bodies() {
            Some(operator) => self.join_by_bodies(operator.bodies(), |b| operator.sides(b)),
            None => self.join_by_entries(problem),
        }
        // The speed of a group stands at its first contact.
        for b in 0..self.parent.len() {
            if self.parent[b] != NONE {
                let first = self.first(b);
                self.speed[first] = self.speed[first].max(self.speed[b]);
            }
        }
        let mut worst: Option<(f64, usize)> = None;
        for b in 0..self.parent.len() {
            if self.parent[b] == NONE || self.error[b] <= rounding {
                continue;
            }
            let first = self.first(b);
            let part = self.error[b] / self.speed[first].max(rounding);
            if worst.is_none_or(|(largest, _)| !(part <= largest)) {
                worst = Some((part, b));
            }
        }
        worst
    }

    /// Reads which contacts act, their errors and what their bodies have met.
    fn read(&mut self, problem: &ContactProblem, residual: &ContactResidual, impulse: &[f64]) {
        self.parent.clear();
        self.error.clear();
        self.speed.clear();
        residual.for_each_velocity(problem, impulse, |b, error| {
            let own = if acts(problem, b, impulse, error) {
                b as u32
            } else {
                NONE
            };
            self.parent.push(own);
            self.error.push(error.whole);
            let met = members(problem, b).map(|member| self.met.get(member).copied());
            self.speed.push(met.flatten().fold(0.0, f64::max));
        });
    }

    fn first(&mut self, mut b: usize) -> usize {
        while self.parent[b] as usize != b {
            let next = self.parent[self.parent[b] as usize];
            self.parent[b] = next;
            b = next as usize;
        }
        b
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// Joins contacts that act on the same free body.
    fn join_by_bodies(&mut self, bodies: usize, sides: impl Fn(usize) -> [u32; 2]) {
        self.of_body.clear();
        self.of_body.resize(bodies, NONE);
        for b in 0..self.parent.len() {
            if self.parent[b] == NONE {
                continue;
            }
            for body in sides(b).into_iter().filter(|&body| body != NO_BODY) {
                let other = std::mem::replace(&mut self.of_body[body as usize], b as u32);
                if other != NONE {
                    self.join(other as usize, b);
                }
            }
        }
    }

    /// Joins contacts that W couples.
    fn join_by_entries(&mut self, problem: &ContactProblem) {
        let blocks = problem.blocks();
        for b in 0..blocks.len() {
            for a in 0..b {
                let act = self.parent[a] != NONE && self.parent[b] != NONE;
                if act && self.first(a) != self.first(b) {
                    let rows = blocks[a].range();
                    let coupled = rows.into_iter().any(|i| {
                        blocks[b].range().any(|j| {
                            let (w, own) = (problem.w(i, j), problem.w(i, i) * problem.w(j, j));
                            w * w > COUPLED * COUPLED * own
                        })
                    });
                    if coupled {
                        self.join(a, b);
                    }
                }
            }
        }
    }
}

/// Whether a contact has an impulse, or a law that does not hold.
fn acts(problem: &ContactProblem, b: usize, impulse: &[f64], error: VelocityError) -> bool {
    let own = &impulse[problem.blocks()[b].range()];
    !(error.whole <= 0.0) || own.iter().any(|&p| p != 0.0)
}

/// The free velocity of a contact; impulses that are given are answered, too, whatever that is.
fn speed(problem: &ContactProblem, b: usize, error: VelocityError) -> f64 {
    let block = &problem.blocks()[b];
    match block.kind {
        BlockKind::Unilateral { minimum: 0.0 } => largest_size(0.0, &problem.free()[block.range()]),
        _ => error.answered,
    }
}

/// The bodies on which a contact acts, or its constraint where it is declared.
fn members(problem: &ContactProblem, b: usize) -> impl Iterator<Item = usize> {
    let sides = match problem.delassus().bodies() {
        Some(operator) => operator.sides(b),
        None => [problem.blocks()[b].key.owners[0], NO_BODY],
    };
    let movable = sides.into_iter().filter(|&side| side != NO_BODY);
    movable.map(|side| side as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst part of four contacts in the plane without friction, the first two and the last two of which are coupled by `coupling`, of free
    /// velocities and impulses along their normals.
    fn worst(coupling: f64, q: [f64; 4], p: [f64; 4]) -> Option<(f64, usize)> {
        let mut w = [0.0; 64];
        for i in 0..8 {
            w[9 * i] = 1.0;
        }
        for (i, j) in [(0, 2), (4, 6)] {
            (w[8 * i + j], w[8 * j + i]) = (coupling, coupling);
        }
        let along = |x: [f64; 4]| x.into_iter().flat_map(|x| [x, 0.0]).collect::<Vec<f64>>();
        let mu = vec![0.0; 4];
        let problem = ContactProblem::coulomb_from_dense(2, &w, along(q), mu).unwrap();
        let mut residual = ContactResidual::default();
        residual.measure(&problem, &along(p));
        let mut groups = ActingGroups::default();
        let largest = groups.meet(&problem, &residual, &along(p));
        let worst = groups.worst(&problem, &residual, &along(p), 1e-13);
        assert_eq!(worst.is_some(), largest > 1e-13);
        worst
    }

    #[test]
    fn an_error_is_a_part_of_the_speeds_of_the_contacts_that_act_on_its_own() {
        // Half of the velocity of a slow contact, beside a fast one and one that leaves.
        let (part, block) = worst(0.5, [-1e3, 0.0, -2e-6, 1e3], [1e3, 0.0, 1e-6, 0.0]).unwrap();
        assert_eq!(block, 2);
        assert!((part - 0.5).abs() < 1e-9, "{part}");
        // The same error where both contacts are fast and act on each other, and where W does not couple them.
        let third = 2e3 / 3.0;
        let (part, block) =
            worst(0.5, [-1e3, -1e3, 0.0, 0.0], [third, third + 1e-6, 0.0, 0.0]).unwrap();
        assert!(block == 1 && (part - 1e-9).abs() < 1e-12, "{part}");
        let (part, block) = worst(0.0, [-1e3, -1e-5, 0.0, 0.0], [1e3, 1.1e-5, 0.0, 0.0]).unwrap();
        assert!(block == 1 && (part - 0.1).abs() < 1e-6, "{part}");
        assert!(worst(0.0, [-1e3, -1e-5, 0.0, 0.0], [1e3, 1e-5, 0.0, 0.0]).is_none());
    }
}
