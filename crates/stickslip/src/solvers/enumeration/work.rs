//! How much an enumeration may do, and who watches it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::contact::ContactProblem;
use crate::solvers::uniqueness::is_small;

use super::EnumerationSettings;

/// Operations of a linear program of the tree of modes, over the cube of its contacts: measured, about (2k)³ for tableau and pivots.
const NODE: f64 = 8.0;
/// Operations of a step of Newton's method, over the cube of its rows.
const NEWTON: f64 = 2.0;
/// Part of the bound that one start of a search may take, with its walks along a continuum: as many starts are made at once.
const AT_ONCE: usize = 8;
/// Steps of Newton's method that a start must be allowed.
const STEPS: f64 = 80.0;

/// An enumeration at work: what it has done, and whether it shall go on. One may look at it from another thread.
#[derive(Debug, Default)]
pub struct Work {
    done: AtomicU64,
    ended: AtomicBool,
}

impl Work {
    /// Nodes of trees and starts of searches so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Ends it: what has been found by then is the answer, which says that it was cut.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Whether it was ended.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Counts a node or a start.
    pub(super) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a start of a search may still do, in operations.
pub(super) struct Allowance {
    whole: f64,
    left: Cell<f64>,
}

impl Allowance {
    pub fn of(operations: f64) -> Self {
        Self {
            whole: operations,
            left: Cell::new(operations),
        }
    }

    /// Takes a step of Newton's method from it; false where nothing is left.
    pub fn newton_step(&self, rows: usize) -> bool {
        self.left
            .set(self.left.get() - NEWTON * (rows as f64).powi(3));
        !self.is_spent()
    }

    pub fn is_spent(&self) -> bool {
        self.left.get() < 0.0
    }

    /// What has been done.
    pub fn done(&self) -> f64 {
        self.whole - self.left.get()
    }
}

/// Starts that are made at once, and what each of them and all may do. Contacts that are examined in every run have no bound.
pub(super) fn starts_at_once(problem: &ContactProblem, work_max: f64) -> (usize, f64, f64) {
    match is_small(problem.blocks()) {
        true => (usize::MAX, f64::INFINITY, f64::INFINITY),
        false => (AT_ONCE, work_max / AT_ONCE as f64, work_max),
    }
}

/// The settings for contacts that feel each other: more of them than are examined in every run have bounds of work. None where these allow no
/// whole list of modes, or no whole start.
pub(super) fn bounded(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
) -> Option<EnumerationSettings> {
    let blocks = problem.blocks();
    if is_small(blocks) {
        return Some(*settings);
    }
    if !blocks.iter().all(|block| block.size <= 2) {
        let start = STEPS * NEWTON * (problem.size() as f64).powi(3);
        return (start * AT_ONCE as f64 <= settings.work_max).then_some(*settings);
    }
    // A bound is a number of nodes, so that it does not depend on the machine.
    let nodes = (settings.work_max / (NODE * (blocks.len() as f64).powi(3))) as usize;
    (nodes > blocks.len()).then(|| EnumerationSettings {
        nodes_max: settings.nodes_max.min(nodes),
        ..*settings
    })
}
