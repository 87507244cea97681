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

use super::accelerated_gauss_seidel::{GaussSeidelIteration, Momentum};
use super::coloured_sweep::ColouredSweep;
use super::gauss_seidel::{GaussSeidel, GaussSeidelSettings};
use super::locality::{better_order, reordered, restored};
use super::newton_system::NewtonSystem;
use super::one_contact::coulomb_disc::{DiscOutcome, PreparedDisc};
use super::one_contact::{LocalOutcome, LocalScratch, OneContact, solve_coulomb};
use super::planar_lemke::{FEW_CONTACTS, lemke};
use super::progress::{Progress, SolverLimits};
use super::reduced_form::ReducedForm;
use super::scaled_problem::{ScaledProblem, StoppingTest, is_scalable};
use super::strategy::{Costs, NewtonRun, Strategy};
use crate::clock::Stopwatch;
use crate::contact::delassus::SweepVelocity;
use crate::contact::{
    ContactProblem, ContactSolution, ContactSolver, Judgement, SolveCost, SolveStatus,
};
use crate::laws::FrictionSection;

/// Methods that can be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoulombMethod {
    /// Picks and switches by measured progress.
    Cascade,
    /// Sweeps with momentum.
    AcceleratedGaussSeidel,
    /// Plain damped sweeps.
    GaussSeidel,
    /// Accelerated projected gradient with lagged De Saxcé term.
    ProjectedGradient,
    /// The three first-order methods in turn, without factorisations.
    Portfolio,
    /// Proximal point with semismooth Newton, after 100 sweeps.
    ProximalNewton,
    /// Interior point, then proximal Newton.
    InteriorPoint,
    /// Plain damped sweeps in coloured order, on several threads with the bits of one.
    ColouredGaussSeidel,
    /// Lemke's method, for problems in the plane.
    Lemke,
}

impl CoulombMethod {
    /// All methods, the default first.
    pub const ALL: [Self; 9] = [
        Self::Cascade,
        Self::AcceleratedGaussSeidel,
        Self::GaussSeidel,
        Self::ProjectedGradient,
        Self::Portfolio,
        Self::ProximalNewton,
        Self::InteriorPoint,
        Self::ColouredGaussSeidel,
        Self::Lemke,
    ];

    /// Name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cascade => "cascade",
            Self::AcceleratedGaussSeidel => "accelerated-gauss-seidel",
            Self::GaussSeidel => "gauss-seidel",
            Self::ProjectedGradient => "projected-gradient",
            Self::Portfolio => "portfolio",
            Self::ProximalNewton => "proximal-newton",
            Self::InteriorPoint => "interior-point",
            Self::ColouredGaussSeidel => "coloured-gauss-seidel",
            Self::Lemke => "lemke",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Solves a problem under Coulomb's law by the given method, from `guess` or from zero impulses. Problems with a block
/// under another law, which these methods do not know, are swept by [`GaussSeidel`], which knows all.
pub fn solve(
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
            .then(|| visit_each(problem))
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

/// Stored blocks of W up to which every contact is visited once before anything is prepared.
const FEW_BLOCKS: usize = 1000;

/// Impulses after one exact visit of each contact; `None` where there are many, or a contact has no solution.
fn visit_each(problem: &ContactProblem) -> Option<Vec<f64>> {
    let blocks = problem.blocks();
    let stored = match problem.delassus().blocks() {
        Some(matrix) => matrix.stored_blocks(),
        None => blocks.len() * blocks.len(),
    };
    if stored > FEW_BLOCKS {
        return None;
    }
    let mut r = vec![0.0; problem.size()];
    let (mut matrix, mut u) = (Vec::new(), Vec::new());
    let mut scratch = LocalScratch::default();
    let mut running = SweepVelocity::default();
    problem.delassus().begin_sweep(&r, &mut running);
    for block in blocks {
        // Contacts not visited yet have no impulse.
        u.clear();
        let w = problem.delassus();
        w.velocity_of_others(block.range(), &r, problem.free(), &running, &mut u);
        if u[0] >= 0.0 {
            continue;
        }
        matrix.clear();
        problem
            .delassus()
            .diagonal_block(block.range(), &mut matrix);
        let p = &mut r[block.range()];
        let own: Result<&[f64; 9], _> = matrix.as_slice().try_into();
        if let (FrictionSection::Disc { mu, .. }, Ok(own)) = (&block.section, own) {
            let u = [u[0], u[1], u[2]];
            let (impulse, outcome) = PreparedDisc::new(own, *mu, 0.0).solve(&u, &mut 0.0);
            if outcome == DiscOutcome::NoSolution {
                return None;
            }
            p.copy_from_slice(&impulse);
            for i in block.range() {
                problem.delassus().update_sweep(i, r[i], &mut running);
            }
            continue;
        }
        if !(matrix[0] > 0.0) {
            return None;
        }
        let local = OneContact {
            w: &matrix,
            q: &u,
            section: &block.section,
            normal_impulse_min: 0.0,
        };
        match solve_coulomb(&local, p, &mut scratch) {
            LocalOutcome::NoSolution | LocalOutcome::Stalled { .. } => return None,
            _ => {}
        }
        for i in block.range() {
            problem.delassus().update_sweep(i, r[i], &mut running);
        }
    }
    Some(r)
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
    if !progress.done() {
        let strategies = match method {
            CoulombMethod::Cascade => vec![
                Strategy::Accelerated(None),
                Strategy::Newton(NewtonRun::from_sweeps()),
                Strategy::Interior(None, NewtonRun::from_interior()),
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
                vec![Strategy::Newton(NewtonRun::from_sweeps())]
            }
            CoulombMethod::InteriorPoint => {
                vec![Strategy::Interior(None, NewtonRun::from_interior())]
            }
            CoulombMethod::ColouredGaussSeidel | CoulombMethod::Lemke => Vec::new(),
        };
        if method == CoulombMethod::Lemke {
            lemke(&mut progress);
        } else if strategies.is_empty() {
            run_coloured(&mut progress, &start);
        } else {
            name = run(&mut progress, &mut system, problem, strategies, &start);
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

/// Products of a first-order strategy, Newton steps of a second-order one, in its first turn.
const FIRST_PRODUCTS: u64 = 400;
const FIRST_NEWTON_STEPS: u64 = 30;
/// Error from which proximal Newton is tried before the interior point.
const FAIR_START: f64 = 1e-4;
/// Rounds without any progress after which the solve is given up.
const IDLE_TURNS: u32 = 60;

/// Gives turns to the strategy that would have cost least after its turn; a strategy that
/// gains a digit in a turn goes on. Turns double.
fn run(
    progress: &mut Progress<'_>,
    system: &mut NewtonSystem<'_>,
    problem: &ContactProblem,
    strategies: Vec<Strategy>,
    start: &[f64],
) -> &'static str {
    let mut costs = Costs::new(progress);
    let mut turns: Vec<Turn> = strategies
        .into_iter()
        .map(|strategy| Turn {
            count: if strategy.is_second_order() {
                FIRST_NEWTON_STEPS
            } else {
                FIRST_PRODUCTS
            },
            factor: match strategy {
                Strategy::Accelerated(_) => 1.0,
                // They end most solves that sweeps do not.
                Strategy::Newton(_) | Strategy::Interior(..) => 0.3,
                Strategy::Gradient(_) | Strategy::Plain(..) => 2.0,
            },
            strategy,
            spent: 0.0,
        })
        .collect();
    let (mut best, mut idle) = (f64::INFINITY, 0);
    let initial = progress.best_error;
    let mut name = turns[0].strategy.name();
    let mut first = true;
    let mut pivoted = false;
    loop {
        // Small problems in the plane that sweeps did not end are pivoted.
        let pivots = turns.len() > 1 && turns.iter().any(|turn| turn.strategy.is_second_order());
        if pivots && turns[0].spent > 0.0 && !pivoted && progress.problem.contacts() <= FEW_CONTACTS
        {
            pivoted = true;
            if lemke(progress) {
                return CoulombMethod::Lemke.name();
            }
        }
        let needs_costs = turns.iter().any(|turn| turn.strategy.is_second_order());
        if needs_costs
            && costs.newton.is_infinite()
            && (!first || turns[0].strategy.is_second_order())
        {
            find_reduced_form(system, progress.problem, problem);
            let operations = system.operations();
            costs.set_operations(progress, operations);
            // From a poor start Newton's method mostly fails, the interior point does not mind.
            if progress.best_error > FAIR_START {
                for turn in &mut turns {
                    if matches!(turn.strategy, Strategy::Newton(_)) {
                        turn.factor *= 2.0;
                    }
                }
            }
            if progress.limits.trace {
                eprintln!(
                    "{:>9.4} s  operations {operations:.2e} {costs:?} reduced {}",
                    progress.elapsed().as_secs_f64(),
                    system.has_reduced()
                );
            }
        }
        let at = if first { 0 } else { cheapest(&turns, &costs) };
        first = false;
        // What the cheapest other strategy would cost in its next turn.
        let others = turns
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != at)
            .map(|(_, turn)| {
                if turn.strategy.is_second_order() {
                    costs.estimated_newton(progress) * turn.count as f64
                } else {
                    turn.factor * costs.product * turn.count as f64
                }
            })
            .fold(f64::INFINITY, f64::min);
        let turn = &mut turns[at];
        let unit = if turn.strategy.is_second_order() {
            costs.newton
        } else {
            costs.product
        };
        let at_start = turn.strategy.best();
        loop {
            let error = progress.best_error;
            // Newton's method begins at the best point known.
            let from_best = matches!(turn.strategy, Strategy::Newton(_));
            let from = if from_best { error } else { initial };
            let before = turn.strategy.best().min(from);
            let half = turn.count / 2;
            let mut solved = turn.strategy.advance(progress, system, start, half);
            let middle = turn.strategy.best();
            if !solved {
                let rest = turn.count - half;
                solved = turn.strategy.advance(progress, system, start, rest);
            }
            turn.spent += unit * turn.count as f64;
            if progress.best_error < error {
                name = turn.strategy.name();
            }
            if progress.limits.trace {
                eprintln!(
                    "{:>9.4} s  {:<26} count {:>8} own {:.2e} best {:.2e}",
                    progress.elapsed().as_secs_f64(),
                    turn.strategy.name(),
                    turn.count,
                    turn.strategy.best(),
                    progress.best_error
                );
            }
            if solved || progress.out_of_budget() {
                return name;
            }
            // A digit gained, or the end in sight for less than the others would cost: go on.
            // Sweeps are judged by the second half of the turn, their first steps being worth most; Newton's
            // method, which advances by leaps, by the whole.
            let gained = if turn.strategy.is_second_order() {
                (before / turn.strategy.best()).log10()
            } else {
                2.0 * (middle / turn.strategy.best()).log10()
            };
            let missing = (turn.strategy.best() / progress.limits.tolerance).log10();
            let predicted = missing / gained * unit * turn.count as f64;
            if gained < 1.0 && !(gained > 0.0 && predicted < others) {
                break;
            }
        }
        turn.count *= 2;
        // A strategy that no longer gets anywhere waits longer for its next turn.
        if turn.strategy.best() > 0.7 * at_start && !turn.strategy.adapts() {
            turn.factor *= 2.0;
        }
        // So does a cheap one that lags behind the others.
        if !turn.strategy.is_second_order() && turn.strategy.best() > 3.0 * progress.best_error {
            turn.factor *= 1.5;
        }
        if progress.best_error < 0.5 * best {
            best = progress.best_error;
            idle = 0;
        } else {
            idle += 1;
            if idle >= IDLE_TURNS {
                return name;
            }
        }
    }
}

struct Turn {
    strategy: Strategy,
    count: u64,
    spent: f64,
    /// Weight of its cost in the choice of the next turn.
    factor: f64,
}

fn cheapest(turns: &[Turn], costs: &Costs) -> usize {
    let total = |turn: &Turn| {
        let unit = if turn.strategy.is_second_order() {
            costs.newton
        } else {
            costs.product
        };
        turn.factor * (turn.spent + unit * turn.count as f64)
    };
    let mut best = 0;
    for at in 1..turns.len() {
        if total(&turns[at]) < total(&turns[best]) {
            best = at;
        }
    }
    best
}

/// Reduced form from bodies, or from a skeleton of W where the unreduced systems are dear.
pub(crate) fn find_reduced_form(
    system: &mut NewtonSystem<'_>,
    scaled: &ScaledProblem,
    problem: &ContactProblem,
) {
    if let Some(bodies) = problem.delassus().body_form() {
        if let Some(form) = ReducedForm::from_bodies(scaled, bodies) {
            system.set_reduced(form);
        }
    } else if system.operations() > 2e7
        && let Some(form) = ReducedForm::skeleton(scaled, 0.6)
    {
        system.set_reduced(form);
    }
}

/// Operations of a factorisation per contact up to which Newton's method is cheaper than 150 sweeps over bodies.
const OPERATIONS_PER_CONTACT: f64 = 15_000.0;
/// Products after which Newton's method on a stalled island is given up.
const FINISH_PRODUCTS: u64 = 600;

/// The second-order methods alone, from a point that sweeps have left: proximal Newton, then the interior point. The best impulses by the
/// natural map; `None` where a factorisation would cost more than many sweeps.
pub(crate) fn finish_by_newton(
    problem: &ContactProblem,
    tolerance: f64,
    guess: &[f64],
) -> Option<Vec<f64>> {
    let limits = SolverLimits {
        // A little ahead, since the answer is measured by other code.
        tolerance: 0.9 * tolerance,
        test: StoppingTest::Natural,
        iterations: FINISH_PRODUCTS,
        ..SolverLimits::default()
    };
    let scaled = ScaledProblem::new(problem, limits.test)?;
    let start = scaled.variables(guess);
    let mut progress = Progress::new(&scaled, &limits, start.clone());
    progress.bodies = problem.delassus().body_form();
    let mut system = NewtonSystem::new(&scaled, None);
    find_reduced_form(&mut system, &scaled, problem);
    if system.operations() > OPERATIONS_PER_CONTACT * scaled.contacts() as f64 {
        return None;
    }
    if !progress.done() {
        let strategies = vec![
            Strategy::Newton(NewtonRun::from_sweeps()),
            Strategy::Interior(None, NewtonRun::from_interior()),
        ];
        run(&mut progress, &mut system, problem, strategies, &start);
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
