//! One contact of a problem.

use crate::laws::{FlowRule, FrictionSection};

use super::ContactKey;

/// How the normal impulse of a block is determined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockKind {
    /// Unilateral: `p_N ≥ minimum`, `w_N ≥ 0`, complementary. The minimum is zero except in the
    /// expansion phase of Poisson's law.
    Unilateral {
        /// Lower bound of the normal impulse.
        minimum: f64,
    },
    /// Known normal impulse: only the friction impulse is unknown.
    KnownNormal {
        /// The normal impulse.
        impulse: f64,
    },
    /// Bilateral rows (joints): every velocity vanishes, impulses are free.
    Bilateral,
    /// One row with an interval of impulses (motors, joint friction, one-sided limits): `−w ∈ N_[lower, upper](p)`.
    Bounded {
        /// Smallest impulse; may be −∞.
        lower: f64,
        /// Largest impulse; may be ∞.
        upper: f64,
    },
}

/// Law of one contact: rows `start .. start + size` of the problem, normal first.
#[derive(Clone, Debug)]
pub struct ContactBlock {
    /// Contact the block belongs to.
    pub key: ContactKey,
    /// First row.
    pub start: usize,
    /// Number of rows (1 + tangents).
    pub size: usize,
    /// Friction section; [`FrictionSection::None`] on a block of size 1.
    pub section: FrictionSection,
    /// Flow rule of the friction.
    pub flow_rule: FlowRule,
    /// How the normal impulse is determined.
    pub kind: BlockKind,
}

impl ContactBlock {
    /// Rows of the block.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.size
    }
}
