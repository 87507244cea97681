//! Normal stage: the impulses λ ≥ 0 that every later friction budget is measured with.

use crate::algebra::PivotedCholesky;
use crate::algebra::lcp::{LcpOutcome, solve_lcp, solve_lcp_short};
use crate::contact::NormalStage;
use crate::laws::impact_map;

/// Impulses of the normal stage.
#[derive(Clone, Debug, Default)]
pub(super) struct NormalImpulses {
    pub lambda: Vec<f64>,
    pub dependent_rows: bool,
    pub solved: bool,
}

/// Solves the stage for the normal block W (row-major) and the free normal velocities u.
pub(super) fn solve(w: &[f64], u: &[f64], stage: &NormalStage) -> NormalImpulses {
    let n = u.len();
    let mut factor = PivotedCholesky::default();
    factor.factor(n, w);
    let dependent_rows = factor.rank() < n;
    let complementarity = |q: &[f64]| {
        let mut lambda = vec![0.0; n];
        let outcome = if dependent_rows {
            solve_lcp_short(w, q, &mut lambda)
        } else {
            solve_lcp(w, q, &mut lambda)
        };
        (lambda, outcome == LcpOutcome::Solved)
    };
    let (lambda, solved) = match stage {
        NormalStage::Inelastic => complementarity(u),
        NormalStage::Biased(bias) => {
            let q: Vec<f64> = u.iter().zip(bias).map(|(u, b)| u + b).collect();
            complementarity(&q)
        }
        NormalStage::Moreau { restitution } => {
            let size = u.iter().fold(0.0f64, |s, x| s.max(x.abs()));
            from_map(impact_map::moreau(w, u, *restitution, 1e-12 * size), n)
        }
        NormalStage::Poisson { restitutions } => {
            from_map(impact_map::poisson(w, u, restitutions), n)
        }
    };
    NormalImpulses {
        lambda,
        dependent_rows,
        solved,
    }
}

fn from_map(
    result: Result<impact_map::NormalImpact, impact_map::ImpactMapError>,
    n: usize,
) -> (Vec<f64>, bool) {
    match result {
        Ok(impact) => {
            let solved = impact.outcome == LcpOutcome::Solved;
            (impact.impulses, solved)
        }
        Err(_) => (vec![0.0; n], false),
    }
}
