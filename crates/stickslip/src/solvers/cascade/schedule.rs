//! Whose turn it is: the strategy that will have cost least after it.

use super::{CoulombMethod, find_reduced_form};
use crate::contact::ContactProblem;
use crate::solvers::newton_system::NewtonSystem;
use crate::solvers::planar_lemke::lemke;
use crate::solvers::progress::Progress;
use crate::solvers::strategy::{Costs, Strategy};

/// A strategy with what it has cost so far.
struct Turn {
    strategy: Strategy,
    /// Products or Newton steps of its next turn.
    count: u64,
    spent: f64,
    /// Weight of its cost in the choice of the next turn.
    factor: f64,
}

impl Turn {
    fn new(strategy: Strategy, progress: &Progress<'_>) -> Self {
        let settings = &progress.limits.cascade;
        Self {
            count: if strategy.is_second_order() {
                settings.first_newton_steps
            } else {
                settings.first_products
            },
            factor: match strategy {
                Strategy::Accelerated(_) => 1.0,
                Strategy::Newton(_) | Strategy::Interior(..) => settings.second_order_weight,
                Strategy::Gradient(_) | Strategy::Plain(..) => settings.other_sweeps_weight,
            },
            strategy,
            spent: 0.0,
        }
    }

    /// Cost of one product or Newton step.
    fn unit(&self, costs: &Costs) -> f64 {
        if self.strategy.is_second_order() {
            costs.newton
        } else {
            costs.product
        }
    }

    /// What its next turn would cost, seen from another strategy.
    fn asks(&self, costs: &Costs, progress: &Progress<'_>) -> f64 {
        if self.strategy.is_second_order() {
            costs.estimated_newton(progress) * self.count as f64
        } else {
            self.factor * costs.product * self.count as f64
        }
    }
}

/// A solve by strategies that take turns.
pub(super) struct Schedule<'a, 'b, 'c> {
    progress: &'a mut Progress<'b>,
    system: &'a mut NewtonSystem<'c>,
    problem: &'a ContactProblem,
    start: &'a [f64],
    costs: Costs,
    turns: Vec<Turn>,
    /// Error before the first turn.
    initial: f64,
    /// The strategy that reached the best point.
    name: &'static str,
    pivoted: bool,
}

impl<'a, 'b, 'c> Schedule<'a, 'b, 'c> {
    pub(super) fn new(
        progress: &'a mut Progress<'b>,
        system: &'a mut NewtonSystem<'c>,
        problem: &'a ContactProblem,
        strategies: Vec<Strategy>,
        start: &'a [f64],
    ) -> Self {
        let strategies = strategies.into_iter();
        let turns: Vec<Turn> = strategies.map(|s| Turn::new(s, progress)).collect();
        Self {
            costs: Costs::new(progress.problem),
            initial: progress.best_error,
            name: turns[0].strategy.name(),
            pivoted: false,
            turns,
            progress,
            system,
            problem,
            start,
        }
    }

    /// Changes the weight of the cost of a strategy in the choice of the next turn.
    pub(super) fn set_weight(&mut self, at: usize, weight: f64) {
        self.turns[at].factor = weight;
    }

    /// Gives turns until the problem is solved, the budget is spent or nothing moves; the strategy that found the best point.
    pub(super) fn run(mut self) -> &'static str {
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut first = true;
        loop {
            if self.pivot() {
                return CoulombMethod::Lemke.name();
            }
            if !first || self.turns[0].strategy.is_second_order() {
                self.learn_costs();
            }
            let at = if first { 0 } else { self.cheapest() };
            first = false;
            if self.take_turn(at) {
                return self.name;
            }
            if self.progress.best_error < 0.5 * best {
                best = self.progress.best_error;
                idle = 0;
            } else {
                idle += 1;
                if idle >= self.progress.limits.cascade.idle_turns {
                    return self.name;
                }
            }
        }
    }

    fn factorises(&self) -> bool {
        self.turns.iter().any(|t| t.strategy.is_second_order())
    }

    /// Small problems in the plane that sweeps did not end are pivoted, once.
    fn pivot(&mut self) -> bool {
        let few = self.progress.limits.cascade.pivoted_contacts_max;
        let pivots = self.turns.len() > 1 && self.factorises() && self.turns[0].spent > 0.0;
        if self.pivoted || !pivots || self.progress.problem.contacts() > few {
            return false;
        }
        self.pivoted = true;
        lemke(self.progress)
    }

    /// Operations of a factorisation, once a second-order method may be next.
    fn learn_costs(&mut self) {
        if !self.factorises() || !self.costs.newton.is_infinite() {
            return;
        }
        let progress = &mut *self.progress;
        let settings = &progress.limits.cascade;
        find_reduced_form(self.system, progress.problem, self.problem, settings);
        let operations = self.system.operations();
        self.costs.set_operations(progress.problem, operations);
        // From a poor start Newton's method mostly fails, the interior point does not mind.
        if progress.best_error > settings.fair_start {
            for turn in &mut self.turns {
                if matches!(turn.strategy, Strategy::Newton(_)) {
                    turn.factor *= settings.poor_start_weight;
                }
            }
        }
        if progress.limits.trace {
            eprintln!(
                "{:>9.4} s  operations {operations:.2e} {:?} reduced {}",
                progress.elapsed().as_secs_f64(),
                self.costs,
                self.system.has_reduced()
            );
        }
    }

    /// The strategy that will have cost least after its turn, by weights.
    fn cheapest(&self) -> usize {
        let total =
            |turn: &Turn| turn.factor * (turn.spent + turn.unit(&self.costs) * turn.count as f64);
        let mut best = 0;
        for at in 1..self.turns.len() {
            if total(&self.turns[at]) < total(&self.turns[best]) {
                best = at;
            }
        }
        best
    }

    /// One turn, longer as long as it pays; true if the solve is over.
    fn take_turn(&mut self, at: usize) -> bool {
        // What the cheapest other strategy would cost in its next turn.
        let others = self.turns.iter().enumerate().filter(|(k, _)| *k != at);
        let others = others
            .map(|(_, turn)| turn.asks(&self.costs, self.progress))
            .fold(f64::INFINITY, f64::min);
        let at_start = self.turns[at].strategy.best();
        loop {
            let Some(gained) = self.advance(at) else {
                return true;
            };
            // A digit gained, or the end in sight for less than the others would cost: go on.
            let turn = &self.turns[at];
            let missing = (turn.strategy.best() / self.progress.limits.tolerance).log10();
            let predicted = missing / gained * turn.unit(&self.costs) * turn.count as f64;
            if gained < 1.0 && !(gained > 0.0 && predicted < others) {
                break;
            }
        }
        let settings = &self.progress.limits.cascade;
        let turn = &mut self.turns[at];
        turn.count *= 2;
        // A strategy that no longer gets anywhere waits longer for its next turn.
        if turn.strategy.best() > settings.standstill * at_start && !turn.strategy.adapts() {
            turn.factor *= 2.0;
        }
        // So does a cheap one that lags behind the others.
        if !turn.strategy.is_second_order()
            && turn.strategy.best() > settings.lag * self.progress.best_error
        {
            turn.factor *= 1.5;
        }
        false
    }

    /// One turn of a strategy; the digits it gained, `None` if the solve is over.
    fn advance(&mut self, at: usize) -> Option<f64> {
        let turn = &mut self.turns[at];
        let progress = &mut *self.progress;
        let error = progress.best_error;
        // Newton's method begins at the best point known.
        let from_best = matches!(turn.strategy, Strategy::Newton(_));
        let from = if from_best { error } else { self.initial };
        let before = turn.strategy.best().min(from);
        // The last turn ends where the effort allowed ends.
        let spent: f64 = self.turns.iter().map(|turn| turn.spent).sum();
        let turn = &mut self.turns[at];
        let allowed = (progress.limits.effort - spent) / turn.unit(&self.costs);
        if allowed < turn.count as f64 {
            turn.count = (allowed as u64).max(1);
        }
        let half = turn.count / 2;
        let mut solved = turn
            .strategy
            .advance(progress, self.system, self.start, half);
        let middle = turn.strategy.best();
        if !solved {
            let rest = turn.count - half;
            solved = turn
                .strategy
                .advance(progress, self.system, self.start, rest);
        }
        turn.spent += turn.unit(&self.costs) * turn.count as f64;
        if progress.best_error < error {
            self.name = turn.strategy.name();
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
        if solved || progress.out_of_budget() || allowed <= turn.count as f64 {
            return None;
        }
        // Sweeps are judged by the second half of the turn, their first steps being worth most; Newton's
        // method, which advances by leaps, by the whole.
        Some(if turn.strategy.is_second_order() {
            (before / turn.strategy.best()).log10()
        } else {
            2.0 * (middle / turn.strategy.best()).log10()
        })
    }
}
