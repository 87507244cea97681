//! Order-preserving batches: contacts in fours that share no body, in the order of the plain sweep.
//!
//! # What it computes
//!
//! Contacts are taken in their order; each goes to the earliest batch after the last one that touches one of its bodies and
//! still has a free lane. A contact visited by itself gets an empty batch of its own behind all others.
//!
//! # Source
//!
//! Own; a union-find structure leads to the next batch with a free lane.
//!
//! # Guarantees
//!
//! Two contacts that share a body are visited in their order, and contacts that share none commute: sweeping batch by
//! batch equals the sweep contact by contact.
//!
//! # Behaviour to know
//!
//! Packs fill all lanes; a tower of blocks fills one in four, since its contacts follow each other (see the quads of
//! `islands`). Colouring fills as well but destroys the order: a pyramid of 819 boxes that needs 5 sweeps in its natural order did not
//! converge in 2,000 in coloured order.
//!
//! # Cost
//!
//! 20 to 40 ns per contact, no allocation once warm.
//!
//! # Tested by
//!
//! Tests below.

/// Batch and lane of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The batch; a contact visited by itself is visited before it.
    pub(super) batch: usize,
    /// The lane; none for a contact visited by itself, whose batch stays empty.
    pub(super) lane: Option<usize>,
}

/// Batches under construction, all counted from the first batch of the solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// First batch that the next contact of a body may go to.
    after: Vec<u32>,
    /// Next batch with a free lane, path-compressed.
    next: Vec<u32>,
    /// Lanes taken in each batch.
    taken: Vec<u8>,
}

impl Schedule {
    /// Empties the schedule, for bodies 0 to `bodies` − 1.
    pub(super) fn begin(&mut self, bodies: usize) {
        self.after.clear();
        self.after.resize(bodies, 0);
        self.next.clear();
        self.taken.clear();
    }

    /// Number of batches so far.
    pub(super) fn batches(&self) -> usize {
        self.next.len()
    }

    /// Adds `count` batches that contacts placed later do not enter.
    pub(super) fn add_full(&mut self, count: usize) {
        for _ in 0..count {
            self.open(4);
        }
    }

    /// Places a contact in batch `first` or later; sides that are no body of the schedule do not count.
    pub(super) fn place(&mut self, first: usize, sides: [u32; 2], alone: bool) -> Place {
        let movable = |side: &u32| (*side as usize) < self.after.len();
        let first = sides
            .iter()
            .filter(|side| movable(side))
            .fold(first as u32, |first, &side| {
                first.max(self.after[side as usize])
            });
        let (batch, lane) = if alone {
            (self.open(4), None)
        } else {
            let batch = self.free_from(first);
            let lane = &mut self.taken[batch as usize];
            *lane += 1;
            if *lane == 4 {
                self.next[batch as usize] = batch + 1;
            }
            (batch, Some(*lane as usize - 1))
        };
        for side in sides {
            if (side as usize) < self.after.len() {
                self.after[side as usize] = batch + 1;
            }
        }
        Place {
            batch: batch as usize,
            lane,
        }
    }

    /// A new batch at the end with `taken` lanes in use.
    fn open(&mut self, taken: u8) -> u32 {
        let batch = self.next.len() as u32;
        self.next.push(if taken == 4 { batch + 1 } else { batch });
        self.taken.push(taken);
        batch
    }

    /// The first batch from `first` on with a free lane.
    fn free_from(&mut self, first: u32) -> u32 {
        let mut root = first;
        while (root as usize) < self.next.len() && self.next[root as usize] != root {
            root = self.next[root as usize];
        }
        let mut at = first;
        while at != root {
            let next = self.next[at as usize];
            self.next[at as usize] = root;
            at = next;
        }
        if root as usize == self.next.len() {
            self.open(0);
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_of_a_body_keep_their_order_and_lanes_are_filled() {
        let mut state = 9u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let bodies = 200;
        let mut schedule = Schedule::default();
        for round in 0..3 {
            let contacts: Vec<([u32; 2], bool)> = (0..1000)
                .map(|_| {
                    let a = random(bodies) as u32;
                    let b = (a + 1 + random(bodies - 1) as u32) % bodies as u32;
                    let b = if random(10) == 0 { u32::MAX } else { b };
                    ([a, b], round == 2 && random(20) == 0)
                })
                .collect();
            schedule.begin(bodies as usize);
            // What was scheduled before must not be entered.
            schedule.add_full(round);
            let places: Vec<Place> = contacts
                .iter()
                .map(|&(sides, alone)| schedule.place(round, sides, alone))
                .collect();
            let batches = schedule.batches();
            if round < 2 {
                assert!(batches * 4 < 1150, "{batches} batches for 1000 contacts");
            }
            let mut seen = vec![[false; 4]; batches];
            for place in &places {
                assert!(place.batch >= round);
                if let Some(lane) = place.lane {
                    assert!(!seen[place.batch][lane], "one contact per lane");
                    seen[place.batch][lane] = true;
                }
            }
            for j in 0..contacts.len() {
                for i in 0..j {
                    let shared = contacts[i]
                        .0
                        .iter()
                        .any(|&s| s != u32::MAX && contacts[j].0.contains(&s));
                    assert!(!shared || places[i].batch < places[j].batch);
                }
                // The batch of a contact visited by itself is empty.
                assert!(places[j].lane.is_some() || seen[places[j].batch] == [false; 4]);
            }
        }
    }
}
