//! Natural modes of small systems.

use faer::Side;

use crate::algebra::{CholeskyFactor, SymmetricMatrix};

/// The matrix with dense storage.
pub(crate) fn dense(matrix: &SymmetricMatrix) -> SymmetricMatrix {
    let Some(sparse) = matrix.sparse() else {
        return matrix.clone();
    };
    let mut out = SymmetricMatrix::zeros(matrix.order());
    let pattern = sparse.pattern();
    let mut k = 0;
    for i in 0..matrix.order() {
        for &j in pattern.row(i) {
            out.set(i, j as usize, sparse.values()[k]);
            k += 1;
        }
    }
    out
}

/// Angular frequencies (ascending) and mass-normalised modes (one after the other) of
/// `K φ = ω² M φ`; dense, for systems of at most a few thousand degrees of freedom.
///
/// # Errors
/// The row of a pivot of M that is not positive.
pub fn natural_modes(
    mass: &SymmetricMatrix,
    stiffness: &SymmetricMatrix,
) -> Result<(Vec<f64>, Vec<f64>), usize> {
    let n = mass.order();
    let mut factor = CholeskyFactor::default();
    factor.factor(&dense(mass))?;
    // A = L⁻¹ K L⁻ᵀ, column by column and then row by row.
    let mut a = dense(stiffness).values().to_vec();
    for row in a.chunks_mut(n) {
        factor.solve_lower_in_place(row);
    }
    let mut transposed = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            transposed[j * n + i] = a[i * n + j];
        }
    }
    for row in transposed.chunks_mut(n) {
        factor.solve_lower_in_place(row);
    }
    let matrix = faer::MatRef::from_column_major_slice(&transposed, n, n);
    // The eigenvalue iteration of a finite symmetric matrix converges.
    let eigen = matrix
        .self_adjoint_eigen(Side::Lower)
        .expect("finite matrices");
    let frequencies = (0..n)
        .map(|k| eigen.S()[k].max(0.0).sqrt())
        .collect::<Vec<f64>>();
    let mut modes = vec![0.0; n * n];
    for k in 0..n {
        let mode = &mut modes[k * n..(k + 1) * n];
        for (i, entry) in mode.iter_mut().enumerate() {
            *entry = eigen.U()[(i, k)];
        }
        factor.solve_upper_in_place(mode);
    }
    Ok((frequencies, modes))
}

/// C = Σ 2 ζ ω_k (M φ_k)(M φ_k)ᵀ.
pub(crate) fn modal_damping(
    mass: &SymmetricMatrix,
    stiffness: &SymmetricMatrix,
    ratio: f64,
) -> SymmetricMatrix {
    let n = mass.order();
    let mut out = SymmetricMatrix::zeros(n);
    let Ok((frequencies, modes)) = natural_modes(mass, stiffness) else {
        return out;
    };
    let mut weighted = vec![0.0; n];
    for (omega, mode) in frequencies.iter().zip(modes.chunks(n)) {
        mass.multiply(mode, &mut weighted);
        let factor = 2.0 * ratio * omega;
        for (i, row) in out.values_mut().chunks_mut(n).enumerate() {
            for (entry, w) in row.iter_mut().zip(&weighted) {
                *entry += factor * weighted[i] * w;
            }
        }
    }
    out
}
