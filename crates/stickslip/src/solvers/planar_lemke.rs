//! Lemke's method on a Coulomb problem in the plane.
//!
//! # What it computes
//!
//! In the plane the law is a linear complementarity problem: with r_T = β⁺ − β⁻ and λ = |u_T| where a contact slides,
//!
//! ```text
//! 0 ≤ r_N ⊥ u_N ≥ 0,    0 ≤ β± ⊥ λ ± u_T ≥ 0,    0 ≤ λ ⊥ μ r_N − β⁺ − β⁻ ≥ 0,
//! ```
//!
//! four unknowns per contact, in the scaled variables of [`ScaledProblem`](super::scaled_problem::ScaledProblem). It is solved by pivoting.
//!
//! # Source
//!
//! The form is that of Stewart and Trinkle; the method [CottlePangStone1992].
//!
//! # Guarantees
//!
//! The point is only taken if the residual confirms it. The matrix is copositive, so that without rounding Lemke's method ends with a
//! solution wherever normal approach can be stopped at all.
//!
//! # Behaviour to know
//!
//! An answer does not depend on any start and on no contraction: where sweeps cycle, at large μ|W_NT|, it still comes. Of
//! several solutions it gives one.
//!
//! # Cost
//!
//! Grows with the cube of the number of contacts: ten take milliseconds, 69 took 0.8 s. Sweeps need far less where they
//! converge, so the cascade turns to it after its first sweeps, and for few contacts only.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

use super::progress::Progress;
use crate::algebra::lcp::{LcpOutcome, solve_lcp};

/// Solves a problem in the plane; true if it is solved to the tolerance. Nothing is done in space.
pub(crate) fn lemke(progress: &mut Progress<'_>) -> bool {
    let p = progress.problem;
    let n = p.contacts();
    if p.dimension != 2 || n == 0 {
        return false;
    }
    let size = 4 * n;
    let mut m = vec![0.0; size * size];
    let mut q = vec![0.0; size];
    for i in 0..n {
        for k in p.row_start[i] as usize..p.row_start[i + 1] as usize {
            let j = p.column[k] as usize;
            let w = |row: usize, column: usize| p.value[9 * k + 3 * column + row];
            // Rows u_N, λ + u_T, λ − u_T against columns r_N, β⁺, β⁻.
            for (row, of, sign) in [(i, 0, 1.0), (n + i, 1, 1.0), (2 * n + i, 1, -1.0)] {
                m[row * size + j] += sign * w(of, 0);
                m[row * size + n + j] += sign * w(of, 1);
                m[row * size + 2 * n + j] -= sign * w(of, 1);
            }
        }
        for row in [n + i, 2 * n + i] {
            m[row * size + 3 * n + i] = 1.0;
            m[(3 * n + i) * size + row] = -1.0;
        }
        m[(3 * n + i) * size + i] = p.mu[i];
        q[i] = p.q[3 * i];
        q[n + i] = p.q[3 * i + 1];
        q[2 * n + i] = -p.q[3 * i + 1];
    }
    let mut z = vec![0.0; size];
    if solve_lcp(&m, &q, &mut z) != LcpOutcome::Solved {
        return false;
    }
    let mut x = vec![0.0; 3 * n];
    for i in 0..n {
        x[3 * i] = z[i];
        x[3 * i + 1] = z[n + i] - z[2 * n + i];
    }
    progress.check(&x);
    progress.done()
}
