//! All solutions of a one-step problem under Coulomb's law, not one.
//!
//! [`enumerate`] chooses: contacts with at most one tangent are enumerated exactly, mode by mode
//! ([`planar`]); one contact with a disc in space exactly; everything else is searched from many starts
//! ([`spatial`]), and the answer says so.

pub(crate) mod planar;
mod solution;
pub(crate) mod spatial;

pub use solution::{Continuum, Enumeration, FoundSolution, Method, Mode, RowRange, Verdict};
pub(crate) use spatial::natural_map_size;

use crate::contact::{BlockKind, ContactProblem};
use crate::laws::FlowRule;

/// Why a problem cannot be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum EnumerationError {
    /// A block follows another law than Coulomb's.
    #[error(
        "block {block} does not follow Coulomb's law: its solution is unique or not a matter of modes"
    )]
    OtherLaw {
        /// Index of the block.
        block: usize,
    },
    /// A block has a prescribed normal impulse.
    #[error("block {block} has a prescribed or bounded normal impulse")]
    OtherKind {
        /// Index of the block.
        block: usize,
    },
    /// The friction section is unbounded.
    #[error("the friction section of block {block} is unbounded")]
    Unbounded {
        /// Index of the block.
        block: usize,
    },
}

/// Bounds of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnumerationSettings {
    /// Largest number of nodes of the tree of modes.
    pub nodes_max: usize,
    /// Starts of a search in space, per contact.
    pub starts: usize,
    /// Seed of the starts.
    pub seed: u64,
}

impl Default for EnumerationSettings {
    fn default() -> Self {
        Self {
            nodes_max: 4_000_000,
            starts: 400,
            seed: 1,
        }
    }
}

/// All solutions of the problem.
pub fn enumerate(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
) -> Result<Enumeration, EnumerationError> {
    for (index, block) in problem.blocks().iter().enumerate() {
        if block.flow_rule != FlowRule::Coulomb {
            return Err(EnumerationError::OtherLaw { block: index });
        }
        if block.kind != (BlockKind::Unilateral { minimum: 0.0 }) {
            return Err(EnumerationError::OtherKind { block: index });
        }
        if !block.section.is_bounded() {
            return Err(EnumerationError::Unbounded { block: index });
        }
    }
    if problem.blocks().iter().all(|block| block.size <= 2) {
        Ok(planar::enumerate(problem, settings))
    } else {
        Ok(spatial::search(problem, settings))
    }
}

#[cfg(test)]
mod tests;
