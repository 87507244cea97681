//! A large island split in parts that several threads can sweep at once.
//!
//! # What it computes
//!
//! Halves of the bodies, and halves of halves: bodies are ordered by distance in the contact graph from a body at its
//! end, and cut where half of the contacts lie on either side. A contact belongs to the stage at which the parts of its bodies meet: 0 inside a part,
//! s where the halves meet that are joined s levels up.
//!
//! # Source
//!
//! Level structures of the graph, as in the orderings of Cuthill and McKee.
//!
//! # Guarantees
//!
//! A function of the problem alone. Segments of one stage share no body.
//!
//! # Behaviour to know
//!
//! Sweeping the parts one after the other and what connects them last is one of the orders a sweep may have; contacts inside a
//! segment keep theirs.
//!
//! # Cost
//!
//! About 100 ns per contact, for islands from [`LARGE`] contacts on only; no allocation once warm.
//!
//! # Tested by
//!
//! Tests below.

use crate::contact::{BodyOperator, NO_BODY};

/// Contacts from which an island is split in two, and four times and sixteen times as many in four and eight. Below, threads
/// would wait for each other as long as they work.
pub(super) const LARGE: usize = 4096;

/// Number of times an island of so many contacts is halved.
pub(super) fn levels(contacts: usize) -> u32 {
    match contacts / LARGE {
        0 => 0,
        1..4 => 1,
        4..16 => 2,
        _ => 3,
    }
}

/// Working memory of the split.
#[derive(Clone, Debug, Default)]
pub(super) struct Partition {
    /// Part of each body of the problem; only those of the split island are valid.
    part: Vec<u32>,
    /// Neighbours of the bodies of the island: where those of body b begin, and all.
    start: Vec<u32>,
    next: Vec<u32>,
    /// Round in which a body was last seen.
    seen: Vec<u32>,
    round: u32,
    order: Vec<u32>,
}

impl Partition {
    /// Splits an island in 2^levels parts.
    pub(super) fn split(
        &mut self,
        operator: &BodyOperator,
        contacts: &[u32],
        bodies: &[u32],
        levels: u32,
    ) {
        self.neighbours(operator, contacts);
        for &body in bodies {
            self.part[body as usize] = 0;
        }
        for _ in 0..levels {
            let parts = bodies
                .iter()
                .map(|&body| self.part[body as usize])
                .max()
                .unwrap_or(0);
            for part in 0..=parts {
                self.halve(bodies, part, parts + 1);
            }
            // Halves of part p become 2p and 2p + 1.
            for &body in bodies {
                let part = &mut self.part[body as usize];
                *part = if *part > parts {
                    2 * (*part - parts - 1) + 1
                } else {
                    2 * *part
                };
            }
        }
    }

    /// Stage and segment of a contact: where the parts of its bodies meet.
    pub(super) fn segment(&self, sides: [u32; 2]) -> (u32, u32) {
        let part = |side: u32| (side != NO_BODY).then(|| self.part[side as usize]);
        match (part(sides[0]), part(sides[1])) {
            (Some(a), Some(b)) => {
                let stage = u32::BITS - (a ^ b).leading_zeros();
                (stage, a >> stage)
            }
            (a, b) => (0, a.or(b).unwrap_or(0)),
        }
    }

    /// Lists the neighbours of every body.
    fn neighbours(&mut self, operator: &BodyOperator, contacts: &[u32]) {
        let bodies = operator.bodies();
        self.part.resize(bodies, 0);
        self.seen.clear();
        self.seen.resize(bodies, 0);
        self.round = 0;
        self.start.clear();
        self.start.resize(bodies + 1, 0);
        let pairs = || {
            contacts
                .iter()
                .map(|&contact| operator.sides(contact as usize))
                .filter(|[a, b]| *a != NO_BODY && *b != NO_BODY)
        };
        for [a, b] in pairs() {
            self.start[a as usize + 1] += 1;
            self.start[b as usize + 1] += 1;
        }
        for b in 0..bodies {
            self.start[b + 1] += self.start[b];
        }
        self.next.clear();
        self.next.resize(self.start[bodies] as usize, 0);
        // The starts serve as cursors and are shifted back.
        for [a, b] in pairs() {
            for (a, b) in [(a, b), (b, a)] {
                let at = &mut self.start[a as usize];
                self.next[*at as usize] = b;
                *at += 1;
            }
        }
        for b in (1..=bodies).rev() {
            self.start[b] = self.start[b - 1];
        }
        self.start[0] = 0;
    }

    /// Moves the nearer half of a part to the part `part + offset`.
    fn halve(&mut self, bodies: &[u32], part: u32, offset: u32) {
        let Some(&first) = bodies.iter().find(|&&b| self.part[b as usize] == part) else {
            return;
        };
        self.by_distance(bodies, first, part);
        let end = self.order[self.order.len() - 1];
        self.by_distance(bodies, end, part);
        let degree = |body: u32| self.start[body as usize + 1] - self.start[body as usize];
        let total: u32 = self.order.iter().map(|&body| degree(body)).sum();
        let mut sum = 0;
        for &body in &self.order {
            if 2 * sum >= total {
                break;
            }
            sum += degree(body);
            self.part[body as usize] = part + offset;
        }
    }

    /// Orders the bodies of a part by their distance from `first`; what is not connected inside the part comes last.
    fn by_distance(&mut self, bodies: &[u32], first: u32, part: u32) {
        self.round += 1;
        self.order.clear();
        let roots = std::iter::once(first).chain(bodies.iter().copied());
        let mut done = 0;
        for root in roots {
            if self.part[root as usize] != part || self.seen[root as usize] == self.round {
                continue;
            }
            self.seen[root as usize] = self.round;
            self.order.push(root);
            while done < self.order.len() {
                let body = self.order[done] as usize;
                done += 1;
                for &other in &self.next[self.start[body] as usize..self.start[body + 1] as usize] {
                    if self.part[other as usize] == part && self.seen[other as usize] != self.round
                    {
                        self.seen[other as usize] = self.round;
                        self.order.push(other);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_balanced_and_segments_of_a_stage_share_no_body() {
        // A square lattice of bodies whose numbers are shuffled.
        let side = 40u32;
        let name = |x: u32, y: u32| ((x * side + y) * 7919) % (side * side);
        let mut operator = BodyOperator::default();
        operator.begin(3, (side * side) as usize);
        for x in 0..side {
            for y in 0..side {
                operator.push(2, [name(x, y), NO_BODY]);
                if x + 1 < side {
                    operator.push(2, [name(x, y), name(x + 1, y)]);
                }
                if y + 1 < side {
                    operator.push(2, [name(x, y), name(x, y + 1)]);
                }
            }
        }
        let contacts: Vec<u32> = (0..operator.contacts() as u32).collect();
        let bodies: Vec<u32> = (0..side * side).collect();
        let mut partition = Partition::default();
        for levels in [1, 2] {
            partition.split(&operator, &contacts, &bodies, levels);
            let mut sizes = std::collections::BTreeMap::new();
            let mut owner = std::collections::BTreeMap::new();
            for &contact in &contacts {
                let sides = operator.sides(contact as usize);
                let at = partition.segment(sides);
                *sizes.entry(at).or_insert(0) += 1;
                for side in sides.into_iter().filter(|&side| side != NO_BODY) {
                    let old = owner.insert((at.0, side), at.1);
                    assert!(old.is_none() || old == Some(at.1));
                }
            }
            let parts = 1 << levels;
            for part in 0..parts {
                let share = sizes[&(0, part)] as f64 / contacts.len() as f64;
                assert!((share * f64::from(parts) - 1.0).abs() < 0.15, "{share}");
            }
            let between: i32 = sizes.iter().filter(|(k, _)| k.0 > 0).map(|(_, n)| n).sum();
            assert!(between < 6 * side as i32 * levels as i32, "{between}");
            assert_eq!(sizes[&(levels, 0)], sizes[&(levels, 0)].max(1));
        }
    }
}
