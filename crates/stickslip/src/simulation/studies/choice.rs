//! Which of several solutions a step takes: named rules, and the solver that follows them.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::algebra::dot;
use crate::contact::{ContactProblem, ContactSolution, ContactSolver, SolveStatus};
use crate::solvers::GaussSeidel;
use crate::solvers::enumeration::{
    Continuum, EnumerationSettings, FoundSolution, Method, Mode, enumerate, is_enumerable,
};
use crate::solvers::uniqueness::{Component, components, may_be_taken_apart};

/// Named rules that choose one of several solutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoiceRule {
    /// Take-off before stick before slip, contact by contact.
    #[default]
    TakeOffFirst,
    /// The least kinetic energy after the step.
    LeastEnergy,
    /// The smallest impulse.
    SmallestImpulse,
}

impl ChoiceRule {
    /// Index of the chosen solution and its impulse; sums over components, so that the choice of each is that of all.
    fn choose(
        self,
        problem: &ContactProblem,
        bias: &[f64],
        found: &[FoundSolution],
    ) -> (usize, Vec<f64>) {
        let mut best: Option<(usize, Vec<f64>, f64)> = None;
        for (k, solution) in found.iter().enumerate() {
            let impulse = self.settle(problem, bias, solution);
            let key = match self {
                Self::TakeOffFirst => 0.0,
                // ½ p·(w + q) without the bias of both: the energy up to a constant.
                Self::LeastEnergy => {
                    dot(&impulse, &sum_of_velocities(problem, bias, [&impulse, &[]]))
                }
                Self::SmallestImpulse => dot(&impulse, &impulse),
            };
            if best.as_ref().is_none_or(|best| key < best.2) {
                best = Some((k, impulse, key));
            }
        }
        best.map_or_else(Default::default, |(k, impulse, _)| (k, impulse))
    }

    /// The impulse of a solution, or of the continuum that it stands for, that the rule takes.
    fn settle(self, problem: &ContactProblem, bias: &[f64], solution: &FoundSolution) -> Vec<f64> {
        let continuum = solution.continuum.as_ref();
        let Some((from, along, longest)) = continuum.and_then(segment) else {
            return solution.impulse.clone();
        };
        let at = |t: f64| -> Vec<f64> { from.iter().zip(&along).map(|(a, d)| a + t * d).collect() };
        let place = match self {
            // The end without an impulse takes off; else any.
            Self::TakeOffFirst => {
                let ends = continuum.iter().flat_map(|c| &c.ends);
                let open = ends.into_iter().find(|end| end.iter().all(|&p| p == 0.0));
                return open.unwrap_or(&solution.impulse).clone();
            }
            // The energy is a square along a segment: its slopes at both ends tell where it is least.
            Self::LeastEnergy => {
                let slope = |t: f64| {
                    let place = at(t);
                    dot(&along, &sum_of_velocities(problem, bias, [&place, &place]))
                };
                slope(0.0) / (slope(0.0) - slope(1.0))
            }
            Self::SmallestImpulse => -dot(&from, &along) / dot(&along, &along),
        };
        match place.is_finite() {
            true => at(place.clamp(0.0, longest)),
            // The energy is the same all along.
            false => solution.impulse.clone(),
        }
    }
}

/// Start, direction and length of a continuum with one dimension; none where its ends are not known.
fn segment(continuum: &Continuum) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    match (&continuum.ends[..], &continuum.unbounded[..]) {
        ([a, b], []) => {
            let along = b.iter().zip(a).map(|(b, a)| b - a).collect();
            Some((a.clone(), along, 1.0))
        }
        ([a], [direction]) if continuum.dimension == 1 => {
            Some((a.clone(), direction.clone(), f64::INFINITY))
        }
        _ => None,
    }
}

/// The velocities of two impulses, of which an empty one is none, without the bias of both.
fn sum_of_velocities(problem: &ContactProblem, bias: &[f64], impulses: [&[f64]; 2]) -> Vec<f64> {
    let mut sum: Vec<f64> = bias.iter().map(|b| -2.0 * b).collect();
    let mut velocity = vec![0.0; bias.len()];
    for impulse in impulses {
        match impulse.is_empty() {
            true => velocity.copy_from_slice(problem.free()),
            false => problem.local_velocity(impulse, &mut velocity),
        }
        sum.iter_mut().zip(&velocity).for_each(|(s, u)| *s += u);
    }
    sum
}

/// What the next enumerated step should take, and what the last one found.
#[derive(Debug, Default)]
pub struct BranchControl {
    /// 0: by the rule; k + 1: solution k.
    next: AtomicUsize,
    found: AtomicUsize,
    chosen: AtomicUsize,
    /// Modes that a branch took and keeps while they solve its steps.
    habit: Mutex<Option<Vec<Mode>>>,
}

impl BranchControl {
    /// The next step takes solution `k`; later ones keep its modes as long as they solve their problems, so that a
    /// branch that slides where it could take off goes on sliding.
    pub fn force(&self, k: usize) {
        self.next.store(k + 1, Ordering::Relaxed);
    }

    /// Steps follow the rule again.
    pub fn release(&self) {
        self.next.store(0, Ordering::Relaxed);
        *self.habit() = None;
    }

    fn habit(&self) -> MutexGuard<'_, Option<Vec<Mode>>> {
        // A list that was left half way would still be a list.
        self.habit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, found: usize, chosen: usize) {
        self.found.store(found, Ordering::Relaxed);
        self.chosen.store(chosen, Ordering::Relaxed);
    }

    /// Solutions of the last step, and which one was taken.
    pub fn last(&self) -> (usize, usize) {
        (
            self.found.load(Ordering::Relaxed),
            self.chosen.load(Ordering::Relaxed),
        )
    }
}

/// Solver that lists every solution of every step and takes one by a named rule or as told.
///
/// Solutions are listed for each connected component of the contacts that is small enough to be examined
/// ([`crate::solvers::uniqueness`]: six contacts in the plane, two in space). Larger components, other laws, unbounded sets and components
/// in space whose motion is proved to be unique have the solution of an ordinary solver; the certificate of the run counts such steps as not examined, unless their
/// motion is proved to be unique.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::branches::{ChoiceRule, EnumeratingSolver};
/// use stickslip::solvers::enumeration::EnumerationSettings;
///
/// // A contact in the plane whose friction couples strongly to its normal: W_NT = −1, μ = 2.
/// let w = [1.0, -1.0, -1.0, 2.0];
/// let problem = ContactProblem::coulomb_from_dense(2, &w, vec![0.5, -5.0], vec![2.0])?;
/// let (mut solver, control) = EnumeratingSolver::new(ChoiceRule::SmallestImpulse, EnumerationSettings::default());
/// let mut solution = ContactSolution::default();
/// solution.prepare(problem.size());
/// solver.solve(&problem, &mut solution);
/// assert_eq!(control.last().0, 3);
/// assert_eq!(solution.impulse, [0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EnumeratingSolver {
    rule: ChoiceRule,
    settings: EnumerationSettings,
    control: Arc<BranchControl>,
    ordinary: Box<dyn ContactSolver>,
}

impl fmt::Debug for EnumeratingSolver {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut text = f.debug_struct("EnumeratingSolver");
        text.field("rule", &self.rule)
            .field("settings", &self.settings)
            .field("control", &self.control)
            .field("ordinary", &self.ordinary.name())
            .finish()
    }
}

/// All solutions of one component.
struct Listed {
    /// First block of the component, and its rows.
    first: usize,
    rows: Vec<usize>,
    found: Vec<FoundSolution>,
    /// The one that the rule takes.
    ruled: usize,
    /// Its impulse, of all those of a continuum.
    settled: Vec<f64>,
    /// Whether nothing moves it, whatever the modes.
    at_rest: bool,
}

impl EnumeratingSolver {
    /// A solver with the given rule, and the control that is shared with it. What is not enumerated goes to Gauss-Seidel.
    pub fn new(rule: ChoiceRule, settings: EnumerationSettings) -> (Self, Arc<BranchControl>) {
        Self::beside(rule, settings, Box::new(GaussSeidel::default()))
    }

    /// The same with the solver of what is not enumerated.
    pub fn beside(
        rule: ChoiceRule,
        settings: EnumerationSettings,
        ordinary: Box<dyn ContactSolver>,
    ) -> (Self, Arc<BranchControl>) {
        let control = Arc::new(BranchControl::default());
        let solver = Self {
            rule,
            settings,
            control: control.clone(),
            ordinary,
        };
        (solver, control)
    }

    /// The components whose solutions are listed, and whether they are all.
    fn list(&self, problem: &ContactProblem) -> (Vec<Listed>, bool) {
        if !may_be_taken_apart(problem) {
            return (Vec::new(), false);
        }
        let components = components(problem);
        let count = components.len();
        let listed = components.iter().filter_map(|blocks| {
            let part = Component::new(problem, blocks);
            // One motion needs no list, and a search in space costs a thousand times what tells that there is one.
            if !part.is_small() || part.is_spatial() && part.has_one_motion() {
                return None;
            }
            let rows = blocks.iter().flat_map(|&b| problem.blocks()[b].range());
            let rows: Vec<usize> = rows.collect();
            let at_rest = part.is_at_rest() && is_enumerable(&part.problem).is_ok();
            let found = if at_rest {
                vec![FoundSolution::at_rest(&part.problem)]
            } else {
                let enumeration = enumerate(&part.problem, &self.settings).ok()?;
                // A search that finds nothing proves nothing.
                if enumeration.solutions.is_empty() && enumeration.method != Method::Exact {
                    return None;
                }
                enumeration.solutions
            };
            let bias: Vec<f64> = rows.iter().map(|&i| problem.bias()[i]).collect();
            let (ruled, settled) = self.rule.choose(&part.problem, &bias, &found);
            Some(Listed {
                first: blocks[0],
                ruled,
                settled,
                rows,
                found,
                at_rest,
            })
        });
        let listed: Vec<Listed> = listed.collect();
        let whole = listed.len() == count;
        (listed, whole)
    }

    /// Which solution every component takes: as told, by habit, or by the rule.
    fn choose(&self, listed: &[Listed], forced: usize) -> Vec<usize> {
        let mut habit = self.control.habit();
        if forced > 0 {
            // The last component counts fastest.
            let mut left = forced - 1;
            let digit = |part: &Listed| {
                let digit = left % part.found.len();
                left /= part.found.len();
                digit
            };
            let mut chosen: Vec<usize> = listed.iter().rev().map(digit).collect();
            chosen.reverse();
            let taken = listed.iter().zip(&chosen);
            let modes = taken.flat_map(|(part, &k)| part.found[k].modes.iter().copied());
            *habit = Some(modes.collect());
            return chosen;
        }
        let usual = habit.as_ref().and_then(|modes| usual(listed, modes));
        usual.unwrap_or_else(|| {
            *habit = None;
            listed.iter().map(|part| part.ruled).collect()
        })
    }
}

/// The solutions with these modes, if every component has one.
fn usual(listed: &[Listed], modes: &[Mode]) -> Option<Vec<usize>> {
    let mut left = modes;
    let position = |part: &Listed| {
        let count = part.found[0].modes.len();
        let own = left.get(..count)?;
        left = &left[count..];
        if part.at_rest {
            return Some(0);
        }
        part.found.iter().position(|s| s.modes == own)
    };
    let chosen: Option<Vec<usize>> = listed.iter().map(position).collect();
    chosen.filter(|_| left.is_empty())
}

/// The local velocity of the impulses of a solution, which solvers over bodies leave empty.
fn write_velocity(problem: &ContactProblem, solution: &mut ContactSolution) {
    solution.local_velocity.resize(problem.size(), 0.0);
    problem.local_velocity(&solution.impulse, &mut solution.local_velocity);
}

impl ContactSolver for EnumeratingSolver {
    fn name(&self) -> &str {
        "enumeration"
    }

    fn lists_solutions(&self) -> bool {
        true
    }

    fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
        let forced = self.control.next.swap(0, Ordering::Relaxed);
        let (listed, whole) = self.list(problem);
        self.solve_listed(problem, solution, (&listed, whole), forced);
    }
}

impl EnumeratingSolver {
    /// Takes what the rule takes of the solutions listed, or as told, and what an ordinary solver finds of the rest.
    fn solve_listed(
        &mut self,
        problem: &ContactProblem,
        solution: &mut ContactSolution,
        (listed, whole): (&[Listed], bool),
        forced: usize,
    ) {
        if let Some(none) = listed.iter().find(|part| part.found.is_empty()) {
            self.control.tell(0, 0);
            solution.iterations = 1;
            solution.impulse.fill(0.0);
            solution.status = SolveStatus::NoSolution { block: none.first };
            write_velocity(problem, solution);
            return;
        }
        // Components act on themselves alone: what is listed replaces their part of the ordinary solution.
        solution.iterations = 1;
        solution.status = SolveStatus::Converged;
        if !whole {
            self.ordinary.solve(problem, solution);
            if listed.is_empty() {
                self.control.tell(1, 0);
                return;
            }
        }
        let chosen = self.choose(listed, forced);
        let (mut count, mut index) = (1usize, 0usize);
        for (part, &k) in listed.iter().zip(&chosen) {
            count = count.saturating_mul(part.found.len());
            index = index.saturating_mul(part.found.len()).saturating_add(k);
            let taken = match k == part.ruled {
                true => &part.settled,
                false => &part.found[k].impulse,
            };
            for (&i, &p) in part.rows.iter().zip(taken) {
                solution.impulse[i] = p;
            }
        }
        write_velocity(problem, solution);
        self.control.tell(count, index);
        // A continuum of motions is several, too.
        let several = |part: &&Listed| part.found.len() > 1 || part.found[0].moves_velocity();
        let several = listed.iter().find(several);
        if let (Some(part), SolveStatus::Converged) = (several, &solution.status) {
            solution.status = SolveStatus::SeveralSolutions { block: part.first };
        }
    }
}
