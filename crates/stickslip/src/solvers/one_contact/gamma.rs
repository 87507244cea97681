//! γ: whether friction can jam a contact without normal velocity.

use crate::laws::FrictionSection;

/// Local γ = W_nn − σ_D(−W_nt).
///
/// # What it computes
///
/// The least normal velocity one unit of normal impulse can produce:
/// γ = min {W_nn + W_nt·s : s ∈ D}. γ > 0 exactly when no tangential impact is possible; only the
/// sign is independent of the units. Minus infinity for an unbounded section.
///
/// # Source
///
/// [Paoli2015], γ(q), multiplied by |dφ|².
///
/// # Guarantees
///
/// One support function: as exact as that.
///
/// # Behaviour to know
///
/// Treat γ ≤ 1e-12 W_nn as zero: at the critical coefficient it is a difference of rounding size.
///
/// # Cost
///
/// One support function.
///
/// # Tested by
///
/// `solvers/one_contact/tests.rs`.
pub fn gamma(w: &[f64], section: &FrictionSection) -> f64 {
    let d = section.dimension();
    let mut stack = [0.0; 8];
    let mut heap;
    let minus = if d <= 8 {
        &mut stack[..d]
    } else {
        heap = vec![0.0; d];
        &mut heap[..]
    };
    minus
        .iter_mut()
        .zip(&w[1..1 + d])
        .for_each(|(m, w)| *m = -w);
    w[0] - section.support(minus)
}
