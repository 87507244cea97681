//! The default solver: cheap methods first, second-order ones when progress is slow.
//!
//! # What it computes
//!
//! Impulses of a [`ContactProblem`] under Coulomb's law to a tolerance of the natural map. No impulses at all, and one exact visit of each of few
//! contacts, are tried first; small problems in the plane are pivoted after the first sweeps. Otherwise strategies take turns:
//! sweeps with full momentum, proximal Newton from the best point known, interior point followed by proximal Newton, sweeps with capped
//! momentum, projected gradient. The next turn goes to the strategy that will have cost least after it, by weights: Newton's method counts
//! for a third, and less than the interior point once sweeps have come within 1e-4; turns
//! double; a strategy that gains a digit, or whose rate promises the end for less than any other turn
//! would cost, goes on; one that stands still or lags behind waits longer. Every strategy keeps its state between turns and
//! leaves its best point to the others.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; the schedule is our own.
//!
//! # Guarantees
//!
//! The status is decided by [`Judgement`], which shares no code with the strategies. Costs are counted
//! from sizes, not by a clock: the path is the same in every run and for any number of threads.
//!
//! # Behaviour to know
//!
//! What each is good for: full momentum, nearly everything up to 1000 contacts; capped momentum, sphere
//! packings; projected gradient, loose walls; proximal Newton, the last digits; interior point, towers, columns and hyperstatic
//! stacks. Columns with large mass ratios end at the floor of rounding, which the status says.
//!
//! # Cost
//!
//! At most a small multiple of the best strategy alone.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

mod first_visit;
mod method;
mod schedule;
pub(crate) mod settings;

use super::accelerated_gauss_seidel::{GaussSeidelIteration, Momentum};
use super::coloured_sweep::ColouredSweep;
use super::gauss_seidel::{GaussSeidel, GaussSeidelSettings};
use super::locality::{better_order, reordered, restored};
use super::newton_system::NewtonSystem;
use super::planar_lemke::lemke;
use super::progress::{Progress, SolverLimits};
use super::reduced_form::ReducedForm;
use super::scaled_problem::{ScaledProblem, StoppingTest, is_scalable};
use super::strategy::{Costs, NewtonRun, Strategy};
use crate::clock::Stopwatch;
use crate::contact::{
    ContactBlock, ContactProblem, ContactSolution, ContactSolver, Judgement, SolveCost, SolveStatus,
};
use crate::laws::FrictionSection;
use first_visit::visit_each;
pub use method::CoulombMethod;
use schedule::Schedule;
pub(crate) use settings::CascadeSettings;

/// Solves a problem under Coulomb's law by the given method, from `guess` or from zero impulses. Problems with a block
/// under another law, which these methods do not know, are swept by [`GaussSeidel`], which knows all.
///
/// The published error is one of impulses beside velocities, whatever their units. Where it is met by an answer without
/// half of the digits asked for in the residual of certificates, the problem is in units that hide its laws: it is
/// solved again by that residual.
///
/// ```
/// use stickslip::contact::ContactProblem;
/// use stickslip::solvers::SolverLimits;
/// use stickslip::solvers::cascade::{CoulombMethod, solve};
///
/// // A unit mass that arrives with 1 m/s and slides with 5 m/s, μ = 0.5.
/// let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
/// let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5])?;
/// let solution = solve(&problem, CoulombMethod::Cascade, &SolverLimits::default(), None);
/// assert!(solution.status.is_solved() && (solution.impulse[1] - 0.5).abs() < 1e-8);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
pub fn solve(
    problem: &ContactProblem,
    method: CoulombMethod,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> ContactSolution {
    if let Some(solution) = solve_with_moderate_friction(problem, method, limits, guess) {
        return solution;
    }
    let solution = solve_by_test(problem, method, limits, guess);
    let hidden = |j: &Judgement| j.natural > limits.tolerance.sqrt();
    let doubtful = limits.test == StoppingTest::Published
        && solution.status == SolveStatus::Converged
        && solution.judgement.as_ref().is_some_and(hidden);
    if !doubtful {
        return solution;
    }
    let by_residual = SolverLimits {
        test: StoppingTest::Natural,
        ..limits.clone()
    };
    let mut again = solve_by_test(problem, method, &by_residual, Some(&solution.impulse));
    let holds = |j: &Judgement| j.accepts(limits.tolerance) && !hidden(j);
    if again.status == SolveStatus::Converged && !again.judgement.as_ref().is_some_and(holds) {
        again.status = SolveStatus::Stalled;
    }
    again.cost.time += solution.cost.time;
    again
}

/// The answer to a problem with coefficients above [`CascadeSettings::moderate_friction`], found with that coefficient: a contact
/// that sticks within a narrower cone sticks within a wider one, too. None where the true law does not accept it.
fn solve_with_moderate_friction(
    problem: &ContactProblem,
    method: CoulombMethod,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> Option<ContactSolution> {
    let moderate = limits.cascade.moderate_friction;
    let steep = |block: &ContactBlock| match block.section {
        FrictionSection::Disc { mu, .. } => mu > moderate,
        _ => false,
    };
    if !problem.blocks().iter().any(steep) {
        return None;
    }
    let mut narrower = problem.clone();
    for block in narrower.blocks_mut() {
        if let FrictionSection::Disc { mu, .. } = &mut block.section {
            *mu = mu.min(moderate);
        }
    }
    let mut solution = solve_by_test(&narrower, method, limits, guess);
    let (judgement, velocities) = Judgement::with_velocity(problem, &solution.impulse);
    let holds = solution.status == SolveStatus::Converged
        && measured(&judgement, limits.test) <= limits.tolerance;
    (solution.judgement, solution.local_velocity) = (Some(judgement), velocities);
    holds.then_some(solution)
}

/// Solves a problem until the stopping test is met.
fn solve_by_test(
    problem: &ContactProblem,
    method: CoulombMethod,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> ContactSolution {
    let begin = Stopwatch::start();
    if !is_scalable(problem) {
        return solve_general(problem, limits, guess);
    }
    // Contacts that all open, or nearly, and few contacts that hardly feel each other: no impulses, the guess, or one exact
    // visit of each, are the answer, and nothing need be prepared.
    let visited = || {
        (method == CoulombMethod::Cascade)
            .then(|| visit_each(problem, limits.cascade.visited_blocks_max))
            .flatten()
    };
    let zero = || match guess {
        Some(guess) => guess.to_vec(),
        None => vec![0.0; problem.size()],
    };
    for attempt in 0..2u64 {
        let impulses = if attempt == 0 {
            Some(zero())
        } else {
            visited()
        };
        let Some(impulses) = impulses else { continue };
        let (judgement, velocities) = Judgement::with_velocity(problem, &impulses);
        if measured(&judgement, limits.test) <= limits.tolerance {
            return ContactSolution {
                impulse: impulses,
                local_velocity: velocities,
                status: SolveStatus::Converged,
                iterations: attempt as usize,
                judgement: Some(judgement),
                cost: SolveCost {
                    second_order: 0,
                    products: attempt,
                    factorizations: 0,
                    method: method.name(),
                    time: begin.elapsed(),
                },
                ..ContactSolution::default()
            };
        }
    }
    // Contacts in an arbitrary order are sorted first.
    if let Some(order) = better_order(problem)
        && let Some(sorted) = reordered(problem, &order)
    {
        let d = problem.size() / order.len().max(1);
        let guess: Option<Vec<f64>> = guess.map(|r| {
            let at = order.iter();
            at.flat_map(|&i| r[d * i..d * i + d].iter().copied())
                .collect()
        });
        let mut solution = solve_in_order(&sorted, method, limits, guess.as_deref());
        solution.impulse = restored(&solution.impulse, &order, d);
        let (judgement, velocities) = Judgement::with_velocity(problem, &solution.impulse);
        (solution.judgement, solution.local_velocity) = (Some(judgement), velocities);
        if let SolveStatus::NoSolution { block } = &mut solution.status {
            *block = order[*block];
        }
        solution.cost.time = begin.elapsed();
        return solution;
    }
    solve_in_order(problem, method, limits, guess)
}

/// Sweeps over blocks of any law.
fn solve_general(
    problem: &ContactProblem,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> ContactSolution {
    let mut general = GaussSeidel::new(GaussSeidelSettings {
        tolerance: 0.1 * limits.tolerance,
        sweeps_max: limits.iterations.min(1 << 20) as usize,
    });
    let mut solution = ContactSolution::default();
    solution.prepare(problem.size());
    if let Some(guess) = guess {
        solution.impulse.copy_from_slice(guess);
    }
    general.solve(problem, &mut solution);
    solution.cost.method = CoulombMethod::GaussSeidel.name();
    solution.judgement = Some(Judgement::of(problem, &solution.impulse));
    solution
}

/// The figure of the stopping test.
fn measured(judgement: &Judgement, test: StoppingTest) -> f64 {
    match test {
        StoppingTest::Published => judgement.published,
        StoppingTest::Natural => judgement.natural,
    }
}

/// The solve itself, contacts taken as they come.
fn solve_in_order(
    problem: &ContactProblem,
    method: CoulombMethod,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> ContactSolution {
    let Some(scaled) = ScaledProblem::new(problem, limits.test) else {
        return solve_general(problem, limits, guess);
    };
    let start = match guess {
        Some(r) => scaled.variables(r),
        None => vec![0.0; 3 * scaled.contacts()],
    };
    let mut progress = Progress::new(&scaled, limits, start.clone());
    progress.bodies = problem.delassus().body_form();
    let mut system = NewtonSystem::new(&scaled, None);
    let mut name = method.name();
    let settings = &limits.cascade;
    if !progress.done() {
        let strategies = match method {
            CoulombMethod::Cascade => vec![
                Strategy::Accelerated(None),
                Strategy::Newton(NewtonRun::from_sweeps(settings)),
                Strategy::Interior(None, NewtonRun::from_interior(settings)),
                Strategy::Plain(None, Momentum::Capped),
                Strategy::Gradient(None),
            ],
            CoulombMethod::Portfolio => vec![
                Strategy::Accelerated(None),
                Strategy::Plain(None, Momentum::Capped),
                Strategy::Gradient(None),
            ],
            CoulombMethod::AcceleratedGaussSeidel => vec![Strategy::Accelerated(None)],
            CoulombMethod::GaussSeidel => vec![Strategy::Plain(None, Momentum::None)],
            CoulombMethod::ProjectedGradient => vec![Strategy::Gradient(None)],
            CoulombMethod::ProximalNewton => {
                GaussSeidelIteration::new(&progress, &start, Momentum::Full)
                    .advance(&mut progress, 100);
                vec![Strategy::Newton(NewtonRun::from_sweeps(settings))]
            }
            CoulombMethod::InteriorPoint => {
                vec![Strategy::Interior(None, NewtonRun::from_interior(settings))]
            }
            CoulombMethod::ColouredGaussSeidel | CoulombMethod::Lemke => Vec::new(),
        };
        if method == CoulombMethod::Lemke {
            lemke(&mut progress);
        } else if strategies.is_empty() {
            run_coloured(&mut progress, &start);
        } else {
            name = Schedule::new(&mut progress, &mut system, problem, strategies, &start).run();
        }
    }
    let factorizations = system.factorizations;
    finish(problem, &scaled, progress, factorizations, name)
}

/// Coloured sweeps until solved or out of budget.
fn run_coloured(progress: &mut Progress<'_>, start: &[f64]) {
    let mut sweep = ColouredSweep::new(progress.problem);
    sweep.set(start);
    let mut count = 10;
    while !progress.out_of_budget() {
        sweep.sweeps(count, progress.limits.threads);
        progress.products += count as u64;
        progress.check(&sweep.get());
        if progress.done() {
            return;
        }
        count = (count + count / 4).min(200);
    }
}

/// Reduced form from bodies, or from a skeleton of W where the unreduced systems are dear.
pub(crate) fn find_reduced_form(
    system: &mut NewtonSystem<'_>,
    scaled: &ScaledProblem,
    problem: &ContactProblem,
    settings: &CascadeSettings,
) {
    if let Some(bodies) = problem.delassus().body_form() {
        if let Some(form) = ReducedForm::from_bodies(scaled, bodies) {
            system.set_reduced(form);
        }
    } else if system.operations() > settings.skeleton_operations
        && let Some(form) = ReducedForm::skeleton(scaled, 0.6)
    {
        system.set_reduced(form);
    }
}

/// When the second-order methods are called for an island of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// After few sweeps, where a factorisation costs no more than many of them.
    Early,
    /// After everything else, at any price that a step may have.
    Last,
}

/// The second-order methods alone, from a point that sweeps have left: proximal Newton, and the interior point. The best impulses by the
/// natural map; `None` where a factorisation is too dear.
pub(crate) fn finish_by_newton(
    problem: &ContactProblem,
    tolerance: f64,
    guess: &[f64],
    finish: Finish,
) -> Option<Vec<f64>> {
    let settings = &CascadeSettings::default();
    let scaled = ScaledProblem::new(problem, StoppingTest::Natural)?;
    let mut system = NewtonSystem::new(&scaled, None);
    find_reduced_form(&mut system, &scaled, problem, settings);
    let operations = system.operations();
    let mut costs = Costs::new(&scaled);
    costs.set_operations(&scaled, operations);
    let too_dear = match finish {
        Finish::Early => operations > settings.finish_operations * scaled.contacts() as f64,
        Finish::Last => settings.last_steps * costs.newton > settings.last_effort,
    };
    if too_dear {
        return None;
    }
    let (iterations, effort) = match finish {
        Finish::Early => (settings.finish_products, f64::INFINITY),
        Finish::Last => (
            SolverLimits::default().iterations,
            f64::min(settings.last_effort, settings.last_steps_max * costs.newton),
        ),
    };
    let limits = SolverLimits {
        // A little ahead, since the answer is measured by other code.
        tolerance: 0.9 * tolerance,
        test: StoppingTest::Natural,
        iterations,
        effort,
        ..SolverLimits::default()
    };
    let start = scaled.variables(guess);
    let mut progress = Progress::new(&scaled, &limits, start.clone());
    progress.bodies = problem.delassus().body_form();
    if !progress.done() {
        let strategies = vec![
            Strategy::Newton(NewtonRun::from_sweeps(settings)),
            Strategy::Interior(None, NewtonRun::from_interior(settings)),
        ];
        let mut schedule = Schedule::new(&mut progress, &mut system, problem, strategies, &start);
        if finish == Finish::Last {
            schedule.set_weight(1, settings.last_interior_weight);
        }
        schedule.run();
    }
    Some(scaled.impulses(&progress.best))
}

fn finish(
    problem: &ContactProblem,
    scaled: &ScaledProblem,
    mut progress: Progress<'_>,
    factorizations: u64,
    method: &'static str,
) -> ContactSolution {
    let done = progress.done();
    let impulses = scaled.impulses(&progress.best);
    let (judgement, mut velocities) = Judgement::with_velocity(problem, &impulses);
    if velocities.is_empty() {
        velocities.resize(problem.size(), 0.0);
        problem.local_velocity(&impulses, &mut velocities);
    }
    let tolerance = progress.limits.tolerance;
    let measured = measured(&judgement, progress.limits.test);
    let floor = match progress.limits.test {
        StoppingTest::Published => judgement.published_floor,
        StoppingTest::Natural => judgement.floor,
    };
    let status = if measured <= tolerance * (1.0 + 1e-9) {
        SolveStatus::Converged
    } else if done && measured <= floor.min(100.0 * tolerance) {
        SolveStatus::AtRoundingFloor
    } else if let Some(block) = immovable_violation(problem) {
        SolveStatus::NoSolution { block }
    } else if progress.out_of_budget() {
        SolveStatus::LimitReached
    } else {
        SolveStatus::Stalled
    };
    ContactSolution {
        local_velocity: velocities,
        impulse: impulses,
        status,
        iterations: progress.products as usize,
        judgement: Some(judgement),
        cost: SolveCost {
            second_order: 0,
            products: progress.products,
            factorizations,
            method,
            time: progress.elapsed(),
        },
        ..ContactSolution::default()
    }
}

/// A contact whose rows of W vanish and whose approach velocity is inadmissible.
fn immovable_violation(problem: &ContactProblem) -> Option<usize> {
    problem.blocks().iter().position(|block| {
        problem.free()[block.start] < 0.0
            && match problem.delassus().blocks() {
                Some(matrix) => matrix
                    .row(block.start / matrix.block_size())
                    .all(|(_, block)| block.iter().all(|&a| a == 0.0)),
                None => block
                    .range()
                    .all(|i| (0..problem.size()).all(|j| problem.w(i, j) == 0.0)),
            }
    })
}
