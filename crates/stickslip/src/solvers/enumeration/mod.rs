//! All solutions of a one-step problem under Coulomb's law, not one.
//!
//! [`enumerate`] chooses: contacts with at most one tangent are enumerated exactly, mode by mode
//! ([`planar`]); one contact with a disc or an ellipse in space exactly ([`disc`]); everything else is searched from many starts
//! ([`spatial`]), and the answer says so. Contacts that do not act on each other are enumerated group by group; groups larger than
//! six contacts in the plane or two in space end at a bound of work ([`work`]), and what they leave open is told.

mod apart;
pub(crate) mod disc;
pub(crate) mod planar;
mod solution;
pub(crate) mod spatial;
mod unbounded;
mod work;

pub use solution::{
    Continuum, Enumeration, Examined, FoundSolution, Method, Mode, RowRange, Verdict,
};
pub(crate) use spatial::{natural_map_size, reach};
pub use work::Work;

use crate::contact::{BlockKind, ContactProblem};
use crate::laws::FlowRule;
use crate::solvers::uniqueness::{Component, is_small};

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
    /// A number of the problem is none: a force or a contact has no value there.
    #[error(
        "the contact problem of the step is not finite in block {block}: a force, a mass or a gap has no value there"
    )]
    NotFinite {
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
    /// Operations that a group of more than six contacts in the plane or two in space may take, about: a node of its tree is a
    /// linear program, a start some Newton steps.
    pub work_max: f64,
    /// Seed of the starts.
    pub seed: u64,
    /// Differences below this part of their terms count as zero, for contacts with at most one tangent: γ, above all.
    pub rounding: f64,
}

impl Default for EnumerationSettings {
    fn default() -> Self {
        Self {
            nodes_max: 4_000_000,
            starts: 400,
            work_max: 5e9,
            seed: 1,
            rounding: 1e-12,
        }
    }
}

/// All solutions of the problem.
///
/// ```
/// use stickslip::contact::ContactProblem;
/// use stickslip::solvers::enumeration::{EnumerationSettings, Mode, enumerate};
///
/// // A contact in the plane whose friction couples strongly to its normal: W_NT = −1, μ = 2.
/// let w = [1.0, -1.0, -1.0, 2.0];
/// let problem = ContactProblem::coulomb_from_dense(2, &w, vec![0.5, -5.0], vec![2.0])?;
/// // It may take off, stick, or jam while it slides.
/// let found = enumerate(&problem, &EnumerationSettings::default())?.solutions;
/// assert_eq!(found.len(), 3);
/// for (mode, [normal, tangential]) in [(Mode::Open, [0.0, 0.0]), (Mode::Stick, [4.0, 4.5]), (Mode::SlipUpper, [0.5, 1.0])] {
///     let p = &found.iter().find(|s| s.modes == [mode]).ok_or("not found")?.impulse;
///     assert!((p[0] - normal).abs() < 1e-12 && (p[1] - tangential).abs() < 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enumerate(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
) -> Result<Enumeration, EnumerationError> {
    enumerate_under(problem, settings, &Work::default())
}

/// The same under somebody's eyes, who may end it.
pub fn enumerate_under(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
    work: &Work,
) -> Result<Enumeration, EnumerationError> {
    is_enumerable(problem)?;
    if let Some(found) = apart::enumerate(problem, settings, work) {
        return Ok(found);
    }
    let blocks: Vec<usize> = (0..problem.blocks().len()).collect();
    let mut found = match is_small(problem.blocks()) {
        true => alone(problem, settings, work),
        // In a world W is made anew whenever it is asked for whole.
        false => alone(&Component::new(problem, &blocks).problem, settings, work),
    };
    found.groups = vec![Examined::of(blocks, &found)];
    Ok(found)
}

/// The solutions of contacts that all feel each other.
fn alone(problem: &ContactProblem, settings: &EnumerationSettings, work: &Work) -> Enumeration {
    let Some(settings) = work::bounded(problem, settings) else {
        return apart::unexamined(problem);
    };
    if problem.blocks().iter().all(|block| block.size <= 2) {
        planar::enumerate(problem, &settings, work)
    } else {
        spatial::search(problem, &settings, work)
    }
}

/// Whether every block has a law whose solutions are listed.
pub(crate) fn is_enumerable(problem: &ContactProblem) -> Result<(), EnumerationError> {
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
    let finite = |i: usize| {
        let w = (0..problem.size()).all(|j| problem.w(i, j).is_finite());
        w && problem.free()[i].is_finite()
    };
    if let Some(block) = problem.blocks().iter().position(|b| !b.range().all(finite)) {
        return Err(EnumerationError::NotFinite { block });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
