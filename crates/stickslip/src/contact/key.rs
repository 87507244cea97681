//! The name of a contact, the same from step to step.

use serde::{Deserialize, Serialize};

/// Owners of a contact and its slot between them.
///
/// A declared contact belongs to one constraint, and its slot is the contact point of that constraint; a found
/// contact belongs to a pair of bodies, and keeps its slot as long as it can be matched with a contact of the step
/// before. Keys are ordered: every list of contacts is in the order of their keys, which makes runs deterministic.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ContactKey {
    /// The two bodies; for a declared contact its constraint and [`Self::DECLARED`].
    pub owners: [u32; 2],
    /// Which contact between the owners.
    pub slot: u32,
}

impl ContactKey {
    /// Second owner of a declared contact.
    pub const DECLARED: u32 = u32::MAX;

    /// Key of a contact point of a declared constraint.
    pub fn declared(constraint: usize, point: usize) -> Self {
        Self {
            owners: [constraint as u32, Self::DECLARED],
            slot: point as u32,
        }
    }

    /// Key of a contact found between two bodies.
    pub fn found(a: u32, b: u32, slot: u32) -> Self {
        Self {
            owners: [a, b],
            slot,
        }
    }

    /// Whether the contact was found between two bodies.
    pub fn is_found(self) -> bool {
        self.owners[1] != Self::DECLARED
    }

    /// Constraint of a declared contact.
    pub fn constraint(self) -> usize {
        self.owners[0] as usize
    }

    /// Contact point of a declared contact within its constraint.
    pub fn point(self) -> usize {
        self.slot as usize
    }
}
