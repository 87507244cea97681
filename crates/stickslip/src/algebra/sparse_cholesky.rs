//! Sparse Cholesky factor with a nested-dissection ordering, analysed once per pattern.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::perm::PermRef;
use faer::prelude::ReborrowMut;
use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Accum, Conj, MatMut, Par, Side};
use feral_metis::{CscPattern, metis_order};

use super::sparse_symmetric::{SparsePattern, SparseSymmetric};

/// Columns solved together; about ten times cheaper per column than one by one.
const BATCH: usize = 32;

/// Factor `P A Pᵀ = L Lᵀ` of a sparse symmetric positive definite matrix.
///
/// # What it computes
/// The supernodal factor of A under a nested-dissection ordering of the graph of A, in which rows
/// with the same columns (the degrees of freedom of one node) are one vertex.
///
/// # Source
/// The factorization is that of the crate `faer`, the ordering that of the crate `feral-metis`.
///
/// # Guarantees
/// The same bits for any number of threads: one thread factors and solves one right-hand side;
/// several right-hand sides are shared out in fixed batches.
///
/// # Behaviour to know
/// A pivot that is not positive is reported by its row in the numbering of A.
///
/// # Cost
/// The analysis is kept and reused as long as the pattern stays the same object. A solve with few nonzeros
/// on the right passes over the part of L that they do not reach.
///
/// # Tested by
/// `algebra/sparse_cholesky.rs`, `algebra/symmetric.rs`.
pub struct SparseCholesky {
    pattern: Arc<SparsePattern>,
    symbolic: Arc<SymbolicCholesky<u32>>,
    values: Vec<f64>,
}

impl std::fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseCholesky")
            .field("order", &self.pattern.order())
            .field("values", &self.values.len())
            .finish()
    }
}

impl SparseCholesky {
    /// Analyses the pattern of a matrix; nothing is factored yet.
    pub fn analyse(pattern: &Arc<SparsePattern>) -> Self {
        let (start, column) = pattern.parts();
        let n = pattern.order();
        let structure = SymbolicSparseColMatRef::new_checked(n, n, start, None, column);
        let params = CholeskySymbolicParams::default();
        let ordering = nested_dissection(pattern);
        let inverse = ordering.as_ref().map(|forward| {
            let mut inverse = vec![0u32; n];
            for (new, &old) in forward.iter().enumerate() {
                inverse[old as usize] = new as u32;
            }
            inverse
        });
        let order = match (&ordering, &inverse) {
            (Some(forward), Some(inverse)) => {
                SymmetricOrdering::Custom(PermRef::new_checked(forward, inverse, n))
            }
            _ => SymmetricOrdering::Amd,
        };
        let symbolic = factorize_symbolic_cholesky(structure, Side::Lower, order, params)
            .expect("the factor fits into memory and its entries into 32-bit indices");
        Self {
            pattern: pattern.clone(),
            values: vec![0.0; symbolic.len_val()],
            symbolic: Arc::new(symbolic),
        }
    }

    /// Another factor on the same analysis.
    pub fn sibling(&self) -> Self {
        Self {
            pattern: self.pattern.clone(),
            symbolic: self.symbolic.clone(),
            values: vec![0.0; self.values.len()],
        }
    }

    /// Whether the analysis fits a pattern.
    pub fn fits(&self, pattern: &Arc<SparsePattern>) -> bool {
        Arc::ptr_eq(&self.pattern, pattern)
    }

    /// Number of stored values of L.
    pub fn factor_entries(&self) -> usize {
        self.values.len()
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.pattern.order()
    }

    /// Factors a matrix on the analysed pattern; on failure returns the row of the bad pivot.
    pub fn factor(&mut self, matrix: &SparseSymmetric) -> Result<(), usize> {
        let n = self.pattern.order();
        let (start, column) = self.pattern.parts();
        let structure = SymbolicSparseColMatRef::new_checked(n, n, start, None, column);
        let matrix = SparseColMatRef::new(structure, matrix.values());
        let request = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::new(request);
        let outcome = self.symbolic.factorize_numeric_llt(
            &mut self.values,
            matrix,
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        match outcome {
            Ok(_) => Ok(()),
            Err(LltError::NonPositivePivot { index }) => Err(match self.symbolic.perm() {
                Some(permutation) => permutation.arrays().0[index.min(n - 1)] as usize,
                None => index,
            }),
        }
    }

    /// Replaces each of the `columns` consecutive vectors in `b` by A⁻¹ times it.
    fn solve_columns(&self, b: &mut [f64], columns: usize) {
        let n = self.order();
        let request = self
            .symbolic
            .solve_in_place_scratch::<f64>(columns, Par::Seq);
        let mut memory = MemBuffer::new(request);
        if let (SymbolicCholeskyRaw::Supernodal(supernodal), Some(permutation)) =
            (self.symbolic.raw(), self.symbolic.perm())
        {
            let factor = SupernodalLltRef::new(supernodal, &self.values);
            let (forward, _) = permutation.arrays();
            let mut x = Vec::with_capacity(b.len());
            for column in b.chunks(n) {
                x.extend(forward.iter().map(|&old| column[old as usize]));
            }
            solve_lower(factor, &mut x, columns);
            factor.l_transpose_solve_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(&mut x, n, columns),
                Par::Seq,
                MemStack::new(&mut memory),
            );
            for (column, x) in b.chunks_mut(n).zip(x.chunks(n)) {
                for (&old, x) in forward.iter().zip(x) {
                    column[old as usize] = *x;
                }
            }
            return;
        }
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, n, columns),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// Replaces `b` by `A⁻¹ b`.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        self.solve_columns(b, 1);
    }

    /// For each degree of freedom in `columns` the column of A⁻¹, restricted to the rows `rows`.
    pub fn inverse_columns(&self, columns: &[u32], rows: &[u32]) -> Vec<Box<[f64]>> {
        use rayon::prelude::*;
        let n = self.order();
        columns
            .par_chunks(BATCH)
            .flat_map_iter(|batch| {
                let mut x = vec![0.0; n * batch.len()];
                for (k, &j) in batch.iter().enumerate() {
                    x[k * n + j as usize] = 1.0;
                }
                self.solve_columns(&mut x, batch.len());
                let restricted: Vec<Box<[f64]>> = x
                    .chunks(n)
                    .map(|column| rows.iter().map(|&i| column[i as usize]).collect())
                    .collect();
                restricted
            })
            .collect()
    }
}

/// Replaces x by L⁻¹ x. Supernodes that nothing reaches are passed over: a right-hand side that acts on few
/// degrees of freedom, such as contact impulses, costs only the part of the factor above them.
fn solve_lower(factor: SupernodalLltRef<'_, u32, f64>, x: &mut [f64], columns: usize) {
    let n = factor.symbolic().nrows();
    let mut update: Vec<f64> = Vec::new();
    for s in 0..factor.symbolic().n_supernodes() {
        let node = factor.supernode(s);
        let (start, size, pattern) = (node.start(), node.val().ncols(), node.pattern());
        let silent = |column: &[f64]| column[start..start + size].iter().all(|&x| x == 0.0);
        if x.chunks(n).all(silent) {
            continue;
        }
        let (top, bottom) = node.val().split_at_row(size);
        let all = MatMut::from_column_major_slice_mut(x, n, columns);
        let mut part = all.subrows_mut(start, size);
        solve_lower_triangular_in_place(top, part.rb_mut(), Par::Seq);
        let rows = pattern.len();
        update.resize(update.len().max(rows * columns), 0.0);
        let out = MatMut::from_column_major_slice_mut(&mut update[..rows * columns], rows, columns);
        matmul(out, Accum::Replace, bottom, part, 1.0, Par::Seq);
        for (column, update) in x.chunks_mut(n).zip(update.chunks(rows.max(1))) {
            for (&i, u) in pattern.iter().zip(update) {
                column[i as usize] -= u;
            }
        }
    }
}

/// New-to-old permutation, or none where the ordering does not apply (AMD is taken then).
fn nested_dissection(pattern: &SparsePattern) -> Option<Vec<u32>> {
    let n = pattern.order();
    // Consecutive rows with the same columns become one vertex: a node of a mesh.
    let mut vertex = vec![0u32; n];
    let mut first = Vec::new();
    for (i, vertex) in vertex.iter_mut().enumerate() {
        if i == 0 || pattern.row(i) != pattern.row(i - 1) {
            first.push(i as u32);
        }
        *vertex = first.len() as u32 - 1;
    }
    let count = first.len();
    if count < 200 {
        return None;
    }
    let mut start = vec![0i32];
    let mut neighbour = Vec::new();
    for (v, &i) in first.iter().enumerate() {
        let mut last = u32::MAX;
        for &j in pattern.row(i as usize) {
            let w = vertex[j as usize];
            if w != last && w != v as u32 {
                neighbour.push(w as i32);
            }
            last = w;
        }
        start.push(i32::try_from(neighbour.len()).ok()?);
    }
    let graph = CscPattern::new(count, &start, &neighbour)?;
    let order = metis_order(&graph).ok()?;
    first.push(n as u32);
    let mut permutation = Vec::with_capacity(n);
    for v in order {
        permutation.extend(first[v as usize]..first[v as usize + 1]);
    }
    Some(permutation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five-point Laplacian plus the identity on a square grid.
    fn grid(side: usize) -> SparseSymmetric {
        let n = side * side;
        let mut rows = vec![Vec::new(); n];
        for y in 0..side {
            for x in 0..side {
                let i = y * side + x;
                if x + 1 < side {
                    rows[i].push(i as u32 + 1);
                    rows[i + 1].push(i as u32);
                }
                if y + 1 < side {
                    rows[i].push((i + side) as u32);
                    rows[i + side].push(i as u32);
                }
            }
        }
        let pattern = Arc::new(SparsePattern::from_rows(&rows));
        let mut values = Vec::new();
        for i in 0..n {
            for &j in pattern.row(i) {
                values.push(if i == j as usize { 5.0 } else { -1.0 });
            }
        }
        SparseSymmetric::from_values(pattern, values)
    }

    #[test]
    fn solves_a_grid_and_its_inverse_columns() {
        let matrix = grid(40);
        let mut factor = SparseCholesky::analyse(matrix.pattern());
        factor.factor(&matrix).expect("positive definite");
        let exact: Vec<f64> = (0..1600).map(|i| (i as f64 * 0.37).sin()).collect();
        let mut b = vec![0.0; 1600];
        matrix.multiply_with(&exact, &mut b, |o, value| *o = value);
        factor.solve_in_place(&mut b);
        assert!(b.iter().zip(&exact).all(|(x, y)| (x - y).abs() < 1e-13));

        // Column 7 of the inverse, rows 7 and 1000.
        let columns = factor.inverse_columns(&[7, 1000], &[7, 1000]);
        let mut unit = vec![0.0; 1600];
        unit[7] = 1.0;
        factor.solve_in_place(&mut unit);
        assert!((columns[0][0] - unit[7]).abs() < 1e-15);
        assert!((columns[0][1] - columns[1][0]).abs() < 1e-16);
    }

    #[test]
    fn few_nonzeros_on_the_right_give_the_same_answer() {
        // Three unknowns at every place of a grid, so that there are supernodes.
        let points = grid(60);
        let n = 3 * points.pattern().order();
        let rows: Vec<Vec<u32>> = (0..n)
            .map(|i| {
                let near = points.pattern().row(i / 3).iter();
                near.flat_map(|&j| 3 * j..3 * j + 3).collect()
            })
            .collect();
        let pattern = Arc::new(SparsePattern::from_rows(&rows));
        let entry = |i: usize, j: usize| if i == j { 16.0 } else { -1.0 };
        let values = (0..n).flat_map(|i| {
            let row = pattern.row(i).iter();
            row.map(move |&j| entry(i, j as usize))
        });
        let matrix = SparseSymmetric::from_values(pattern.clone(), values.collect());
        let mut factor = SparseCholesky::analyse(matrix.pattern());
        factor.factor(&matrix).expect("positive definite");
        let raw = factor.symbolic.raw();
        assert!(matches!(raw, SymbolicCholeskyRaw::Supernodal(_)));
        // The first row of the grid alone, everything, and the sum of both.
        let first = |k: usize| if k < 180 { 1.0 + (k as f64).sin() } else { 0.0 };
        let sparse: Vec<f64> = (0..n).map(first).collect();
        let full: Vec<f64> = (0..n).map(|k| (0.1 * k as f64).cos()).collect();
        let sum: Vec<f64> = sparse.iter().zip(&full).map(|(a, b)| a + b).collect();
        let [x, y, z] = [sparse, full, sum].map(|mut b| {
            factor.solve_in_place(&mut b);
            b
        });
        assert!((0..n).all(|i| (x[i] + y[i] - z[i]).abs() < 1e-13));
        let mut back = vec![0.0; n];
        matrix.multiply_with(&x, &mut back, |o, value| *o = value);
        assert!((0..n).all(|i| (back[i] - first(i)).abs() < 1e-13));
    }

    #[test]
    fn names_the_bad_pivot() {
        let mut matrix = grid(3);
        let position = matrix.pattern().position(4, 4).unwrap();
        matrix.values_mut()[position] = -1.0;
        let mut factor = SparseCholesky::analyse(&matrix.pattern().clone());
        assert!(factor.factor(&matrix).is_err());
    }
}
