//! The resumable strategies among which the cascade chooses, and what each costs.
//!
//! Costs are counted from sizes, not measured by a clock, so that a solve takes the same
//! path on every machine and in every run.

use super::accelerated_gauss_seidel::{GaussSeidelIteration, Momentum};
use super::cascade::CascadeSettings;
use super::interior_point::InteriorPointIteration;
use super::newton_system::NewtonSystem;
use super::progress::Progress;
use super::projected_gradient::ProjectedGradientIteration;
use super::proximal_newton::ProximalNewtonIteration;
use super::scaled_problem::ScaledProblem;

/// Nanoseconds, roughly, of the parts of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub product: f64,
    pub newton: f64,
}

impl Costs {
    pub fn new(p: &ScaledProblem) -> Self {
        Self {
            product: 2.0 * p.column.len() as f64 + 30.0 * p.contacts() as f64,
            newton: f64::INFINITY,
        }
    }

    /// Cost of one Newton step, guessed from the size as long as the operations are unknown.
    pub fn estimated_newton(&self, progress: &Progress<'_>) -> f64 {
        if self.newton.is_finite() {
            self.newton
        } else {
            5.0 * self.product + 1500.0 * progress.problem.contacts() as f64
        }
    }

    /// Cost of one Newton step once the operations of a factorisation are known.
    pub fn set_operations(&mut self, p: &ScaledProblem, operations: f64) {
        self.newton = operations / 12.0 + 6.0 * self.product + 1250.0 * p.contacts() as f64;
    }
}

/// A strategy with its state.
#[derive(Debug)]
pub(crate) enum Strategy {
    Accelerated(Option<GaussSeidelIteration>),
    Plain(Option<GaussSeidelIteration>, Momentum),
    Gradient(Option<ProjectedGradientIteration>),
    /// Proximal Newton from the best point of the others.
    Newton(NewtonRun),
    /// Interior point, then proximal Newton from its best point.
    Interior(Option<InteriorPointIteration>, NewtonRun),
}

/// Proximal Newton with the proximal parameters κ that it tries in turn.
#[derive(Debug)]
pub(crate) struct NewtonRun {
    kappas: [f64; 4],
    weight: f64,
    iteration: Option<ProximalNewtonIteration>,
    trial: usize,
    halving: (u64, f64),
    start: Vec<f64>,
    start_error: f64,
}

impl NewtonRun {
    /// A run that begins where sweeps have come to.
    pub fn from_sweeps(settings: &CascadeSettings) -> Self {
        Self::new(settings.kappas_from_sweeps, settings.weight_from_sweeps)
    }

    /// A run that begins where the interior point has come to.
    pub fn from_interior(settings: &CascadeSettings) -> Self {
        Self::new(settings.kappas_from_interior, settings.weight_from_interior)
    }

    fn new(kappas: [f64; 4], weight: f64) -> Self {
        Self {
            kappas,
            weight,
            iteration: None,
            trial: 0,
            halving: (0, f64::INFINITY),
            start: Vec::new(),
            start_error: f64::INFINITY,
        }
    }

    /// At most `count` Newton steps; true if solved.
    fn advance(
        &mut self,
        progress: &mut Progress<'_>,
        system: &mut NewtonSystem<'_>,
        count: u64,
    ) -> bool {
        let mut used = 0;
        let patience = progress.limits.cascade.newton_patience;
        while used < count && !progress.out_of_budget() {
            if self.iteration.is_none() {
                let better = progress.best_error < 0.5 * self.start_error;
                if self.start.is_empty()
                    || self.trial >= self.kappas.len()
                    || (better && self.trial > 0)
                {
                    // First time, all are used up, or a better point is known by now.
                    self.start = progress.best.clone();
                    self.trial %= self.kappas.len();
                }
                let kappa = self.kappas[self.trial];
                let iteration =
                    ProximalNewtonIteration::new(progress, &self.start, self.weight, kappa);
                self.start_error = iteration.best;
                self.halving = (0, iteration.best);
                self.iteration = Some(iteration);
            }
            let Some(iteration) = &mut self.iteration else {
                break;
            };
            let before = iteration.steps;
            if iteration.outer_step(progress, system) {
                return true;
            }
            used += (iteration.steps - before).max(1);
            if iteration.best <= 0.5 * self.halving.1 {
                self.halving = (iteration.steps, iteration.best);
            }
            if iteration.failed || iteration.steps - self.halving.0 >= patience {
                self.iteration = None;
                self.trial += 1;
            }
        }
        false
    }

    fn best(&self) -> f64 {
        self.iteration
            .as_ref()
            .map_or(f64::INFINITY, |iteration| iteration.best)
    }
}

impl Strategy {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accelerated(_) => "accelerated-gauss-seidel",
            Self::Plain(..) => "gauss-seidel",
            Self::Gradient(_) => "projected-gradient",
            Self::Newton(_) => "proximal-newton",
            Self::Interior(..) => "interior-point-newton",
        }
    }

    /// Whether it factors matrices.
    pub fn is_second_order(&self) -> bool {
        matches!(self, Self::Newton(_) | Self::Interior(..))
    }

    /// Whether it is still adapting itself to the problem.
    pub fn adapts(&self) -> bool {
        matches!(self, Self::Plain(Some(iteration), _) if iteration.adapts())
    }

    /// Smallest error seen in the current run.
    pub fn best(&self) -> f64 {
        match self {
            Self::Accelerated(iteration) | Self::Plain(iteration, _) => iteration
                .as_ref()
                .map_or(f64::INFINITY, |iteration| iteration.best),
            Self::Gradient(iteration) => iteration
                .as_ref()
                .map_or(f64::INFINITY, |iteration| iteration.best),
            Self::Newton(run) => run.best(),
            Self::Interior(iteration, run) => run.best().min(
                iteration
                    .as_ref()
                    .map_or(f64::INFINITY, |iteration| iteration.best),
            ),
        }
    }

    /// Runs for about `count` products or Newton steps; true if solved.
    pub fn advance(
        &mut self,
        progress: &mut Progress<'_>,
        system: &mut NewtonSystem<'_>,
        start: &[f64],
        count: u64,
    ) -> bool {
        match self {
            Self::Accelerated(iteration) => iteration
                .get_or_insert_with(|| GaussSeidelIteration::new(progress, start, Momentum::Full))
                .advance(progress, count),
            Self::Plain(iteration, momentum) => {
                let best = progress.best.clone();
                iteration
                    .get_or_insert_with(|| GaussSeidelIteration::new(progress, &best, *momentum))
                    .advance(progress, count)
            }
            Self::Gradient(iteration) => {
                if iteration.is_none() {
                    *iteration = Some(ProjectedGradientIteration::new(progress, start));
                }
                iteration
                    .as_mut()
                    .is_some_and(|iteration| iteration.advance(progress, count))
            }
            Self::Newton(run) => run.advance(progress, system, count),
            Self::Interior(iteration, run) => {
                let mut left = count;
                if run.start.is_empty() {
                    if iteration.is_none() {
                        *iteration = InteriorPointIteration::new(progress);
                    }
                    if let Some(iteration) = iteration {
                        while left > 0
                            && iteration.iterations < progress.limits.cascade.interior_iterations
                            && !iteration.failed
                            && !(iteration.iterations > 20 && iteration.stalled())
                        {
                            if progress.out_of_budget() {
                                return false;
                            }
                            if iteration.iterate(progress, system) {
                                return true;
                            }
                            left -= 1;
                        }
                        if left == 0 {
                            return false;
                        }
                        run.start = iteration.best_x.clone();
                    }
                }
                run.advance(progress, system, left)
            }
        }
    }
}
