//! The default solver: cheap methods first, second-order ones when progress is slow.

use super::accelerated_gauss_seidel::GaussSeidelArm;
use super::progress::{Progress, SolverLimits};
use super::projected_gradient::ProjectedGradientArm;
use super::scaled_problem::ScaledProblem;
use crate::contact::coulomb_problem::CoulombProblem;
use crate::contact::coulomb_residual::CoulombResidual;
use crate::contact::coulomb_solution::{CoulombSolution, CoulombStatus};

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
}

impl CoulombMethod {
    /// All methods, the default first.
    pub const ALL: [Self; 4] = [
        Self::Cascade,
        Self::AcceleratedGaussSeidel,
        Self::GaussSeidel,
        Self::ProjectedGradient,
    ];

    /// Name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cascade => "cascade",
            Self::AcceleratedGaussSeidel => "accelerated-gauss-seidel",
            Self::GaussSeidel => "gauss-seidel",
            Self::ProjectedGradient => "projected-gradient",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Solves a Coulomb problem by the given method, from `guess` or from zero impulses.
pub fn solve(
    problem: &CoulombProblem,
    method: CoulombMethod,
    limits: &SolverLimits,
    guess: Option<&[f64]>,
) -> CoulombSolution {
    let scaled = ScaledProblem::new(problem, limits.scale_free);
    let start = match guess {
        Some(r) => scaled.variables(r),
        None => vec![0.0; 3 * problem.contacts()],
    };
    let mut progress = Progress::new(&scaled, limits, start.clone());
    let mut name = method.name();
    if !progress.done() {
        match method {
            CoulombMethod::AcceleratedGaussSeidel | CoulombMethod::GaussSeidel => {
                let accelerated = method == CoulombMethod::AcceleratedGaussSeidel;
                let mut arm = GaussSeidelArm::new(&progress, &start, accelerated);
                arm.advance(&mut progress, u64::MAX);
            }
            CoulombMethod::ProjectedGradient => {
                let mut arm = ProjectedGradientArm::new(&mut progress, &start);
                arm.advance(&mut progress, u64::MAX);
            }
            CoulombMethod::Cascade => name = run_cascade(&mut progress, &start),
        }
    }
    finish(problem, &scaled, progress, name)
}

fn run_cascade(progress: &mut Progress<'_>, start: &[f64]) -> &'static str {
    let mut arm = GaussSeidelArm::new(progress, start, true);
    arm.advance(progress, u64::MAX);
    "cascade"
}

fn finish(
    problem: &CoulombProblem,
    scaled: &ScaledProblem,
    mut progress: Progress<'_>,
    method: &'static str,
) -> CoulombSolution {
    let done = progress.done();
    let impulses = scaled.impulses(&progress.best);
    let residual = CoulombResidual::of(problem, &impulses);
    let measured = if progress.limits.scale_free {
        residual.scaled_error
    } else {
        residual.error
    };
    let status = if measured <= progress.limits.tolerance * (1.0 + 1e-9) {
        CoulombStatus::Converged
    } else if done {
        CoulombStatus::AtRoundingFloor
    } else if let Some(contact) = immovable_violation(problem) {
        CoulombStatus::NoSolution { contact }
    } else if progress.out_of_budget() {
        CoulombStatus::LimitReached
    } else {
        CoulombStatus::Stalled
    };
    CoulombSolution {
        velocities: problem.velocity(&impulses),
        impulses,
        status,
        residual,
        products: progress.products,
        factorizations: 0,
        method,
        time: progress.elapsed(),
    }
}

/// A contact whose rows of W vanish and whose approach velocity is inadmissible.
fn immovable_violation(problem: &CoulombProblem) -> Option<usize> {
    let d = problem.dimension();
    (0..problem.contacts()).find(|&i| {
        problem.free_velocity()[d * i] < 0.0
            && problem
                .matrix()
                .row(i)
                .all(|(_, block)| block.iter().all(|&a| a == 0.0))
    })
}
