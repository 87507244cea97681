//! Sparse symmetric matrices over a shared pattern.

use std::sync::Arc;

use super::compensated::{PairSum, compensated_dot};
use rayon::prelude::*;

/// Rows of one chunk of a product; fixed, so that sums have the same bits for any thread count.
const CHUNK: usize = 2048;

/// Below this number of entries a product is not worth a second thread.
const PARALLEL_ENTRIES: usize = 200_000;

/// Positions of the entries of a symmetric matrix, both triangles, by rows with sorted columns.
///
/// Matrices of one system (mass, damping, stiffness) share one pattern, so that their sums are
/// sums of value arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparsePattern {
    row_start: Vec<u32>,
    column: Vec<u32>,
}

impl SparsePattern {
    /// Pattern from the columns of each row; the diagonal is always included.
    ///
    /// # Panics
    /// If a position has no mirror image or the pattern has more than 2³² entries.
    pub fn from_rows(rows: &[Vec<u32>]) -> Self {
        let mut row_start = vec![0u32];
        let mut column = Vec::with_capacity(rows.iter().map(|row| row.len() + 1).sum());
        let mut sorted = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            sorted.clear();
            sorted.extend_from_slice(row);
            sorted.push(i as u32);
            sorted.sort_unstable();
            sorted.dedup();
            column.extend_from_slice(&sorted);
            row_start.push(u32::try_from(column.len()).expect("fewer than 2^32 entries"));
        }
        Self::from_parts(row_start, column)
    }

    /// Pattern from arrays that are right by construction.
    pub(crate) fn from_trusted_parts(row_start: Vec<u32>, column: Vec<u32>) -> Self {
        Self { row_start, column }
    }

    /// Pattern from row pointers and sorted column indices.
    ///
    /// # Panics
    /// If the arrays are not a symmetric pattern with sorted rows and full diagonal.
    pub fn from_parts(row_start: Vec<u32>, column: Vec<u32>) -> Self {
        let pattern = Self { row_start, column };
        for i in 0..pattern.order() {
            let row = pattern.row(i);
            assert!(
                row.windows(2).all(|pair| pair[0] < pair[1]),
                "columns of row {i} are sorted"
            );
            assert!(
                row.binary_search(&(i as u32)).is_ok(),
                "row {i} holds its diagonal"
            );
            for &j in row {
                assert!(
                    pattern.row(j as usize).binary_search(&(i as u32)).is_ok(),
                    "entry ({i}, {j}) has a mirror image"
                );
            }
        }
        pattern
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Number of entries of both triangles.
    pub fn entries(&self) -> usize {
        self.column.len()
    }

    /// Columns of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.column[self.row_start[i] as usize..self.row_start[i + 1] as usize]
    }

    /// Position of entry (i, j) in the value array.
    #[inline]
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        self.row(i)
            .binary_search(&(j as u32))
            .ok()
            .map(|k| self.row_start[i] as usize + k)
    }

    /// Row pointers and column indices.
    pub fn parts(&self) -> (&[u32], &[u32]) {
        (&self.row_start, &self.column)
    }
}

/// Values on a shared [`SparsePattern`].
#[derive(Clone, Debug)]
pub struct SparseSymmetric {
    pattern: Arc<SparsePattern>,
    values: Vec<f64>,
}

impl PartialEq for SparseSymmetric {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.pattern, &other.pattern) || self.pattern == other.pattern)
            && self.values == other.values
    }
}

impl SparseSymmetric {
    /// Zero matrix on a pattern.
    pub fn zeros(pattern: Arc<SparsePattern>) -> Self {
        let values = vec![0.0; pattern.entries()];
        Self { pattern, values }
    }

    /// Matrix from its values on a pattern.
    ///
    /// # Panics
    /// If the number of values is not that of the pattern.
    #[cfg(test)]
    pub fn from_values(pattern: Arc<SparsePattern>, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), pattern.entries(), "one value per position");
        Self { pattern, values }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<SparsePattern> {
        &self.pattern
    }

    /// The values in the order of the pattern.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values, for writing.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Copies another matrix; without allocating when the patterns are the same object.
    pub fn copy_from(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.pattern, &other.pattern) {
            self.values.copy_from_slice(&other.values);
        } else {
            self.clone_from(other);
        }
    }

    /// Adds `factor * other`, whose positions must exist here.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        if Arc::ptr_eq(&self.pattern, &other.pattern) {
            for (a, b) in self.values.iter_mut().zip(&other.values) {
                *a += factor * b;
            }
            return;
        }
        for i in 0..other.pattern.order() {
            let start = other.pattern.row_start[i] as usize;
            for (k, &j) in other.pattern.row(i).iter().enumerate() {
                let position = self
                    .pattern
                    .position(i, j as usize)
                    .expect("the pattern of the sum holds every entry of its terms");
                self.values[position] += factor * other.values[start + k];
            }
        }
    }

    /// `row i · x`.
    #[inline]
    fn row_product(&self, i: usize, x: &[f64]) -> f64 {
        let start = self.pattern.row_start[i] as usize;
        let row = self.pattern.row(i);
        let mut sum = 0.0;
        for (&j, a) in row.iter().zip(&self.values[start..start + row.len()]) {
            sum += a * x[j as usize];
        }
        sum
    }

    /// Writes A x as if summed with twice the digits, for products that cancel.
    pub fn multiply_compensated(&self, x: &[f64], out: &mut [f64]) {
        let rows = |(c, chunk): (usize, &mut [f64])| {
            for (k, o) in chunk.iter_mut().enumerate() {
                let i = c * CHUNK + k;
                let start = self.pattern.row_start[i] as usize;
                let row = self.pattern.row(i);
                let values = &self.values[start..start + row.len()];
                *o = compensated_dot(row.iter().zip(values).map(|(&j, &a)| (a, x[j as usize])));
            }
        };
        if self.values.len() < PARALLEL_ENTRIES {
            out.chunks_mut(CHUNK).enumerate().for_each(rows);
        } else {
            out.par_chunks_mut(CHUNK).enumerate().for_each(rows);
        }
    }

    /// Whether two matrices are values on the same pattern.
    pub fn shares_pattern(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pattern, &other.pattern)
    }

    /// In one pass over the shared pattern: the products of a stiffness with two vectors as if summed with
    /// twice the digits, and that of a mass with `v`.
    ///
    /// # Panics
    /// If the matrices do not share their pattern.
    pub fn multiply_state(
        &self,
        mass: &Self,
        x: &[[f64; 2]],
        v: &[f64],
        (forces, momenta): (&mut [[f64; 2]], &mut [f64]),
    ) {
        assert!(self.shares_pattern(mass), "matrices of one system");
        #[cfg(target_arch = "x86_64")]
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let rows = |(c, (forces, momenta)): (usize, (&mut [[f64; 2]], &mut [f64]))| {
            let out = (forces, momenta);
            #[cfg(target_arch = "x86_64")]
            if fused {
                // SAFETY: the processor has the instructions, as was just found.
                return unsafe { self.state_rows_fused(mass, x, v, c * CHUNK, out) };
            }
            self.state_rows::<false>(mass, x, v, c * CHUNK, out);
        };
        let parts = (forces.chunks_mut(CHUNK), momenta.chunks_mut(CHUNK));
        if self.values.len() < PARALLEL_ENTRIES {
            parts.0.zip(parts.1).enumerate().for_each(rows);
        } else {
            let parts: Vec<_> = parts.0.zip(parts.1).enumerate().collect();
            parts.into_par_iter().for_each(rows);
        }
    }

    /// Rows of [`Self::multiply_state`] from `first` on.
    #[inline(always)]
    fn state_rows<const FUSED: bool>(
        &self,
        mass: &Self,
        x: &[[f64; 2]],
        v: &[f64],
        first: usize,
        (forces, momenta): (&mut [[f64; 2]], &mut [f64]),
    ) {
        for (k, (force, momentum)) in forces.iter_mut().zip(momenta).enumerate() {
            let start = self.pattern.row_start[first + k] as usize;
            let row = self.pattern.row(first + k);
            let entries = start..start + row.len();
            let values = self.values[entries.clone()].iter();
            let masses = &mass.values[entries];
            let (mut pair, mut plain) = (PairSum::default(), 0.0);
            for ((&j, &a), m) in row.iter().zip(values).zip(masses) {
                pair.add::<FUSED>(a, x[j as usize]);
                plain += m * v[j as usize];
            }
            *force = pair.value();
            *momentum = plain;
        }
    }

    /// The same with instructions that not every processor has; the numbers are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn state_rows_fused(
        &self,
        mass: &Self,
        x: &[[f64; 2]],
        v: &[f64],
        first: usize,
        out: (&mut [[f64; 2]], &mut [f64]),
    ) {
        self.state_rows::<true>(mass, x, v, first, out);
    }

    /// Calls `write(i, (A x)_i)` for every row, in parallel for large matrices.
    pub fn multiply_with(&self, x: &[f64], out: &mut [f64], write: impl Fn(&mut f64, f64) + Sync) {
        let rows = |(c, chunk): (usize, &mut [f64])| {
            for (k, o) in chunk.iter_mut().enumerate() {
                write(o, self.row_product(c * CHUNK + k, x));
            }
        };
        if self.values.len() < PARALLEL_ENTRIES {
            out.chunks_mut(CHUNK).enumerate().for_each(rows);
        } else {
            out.par_chunks_mut(CHUNK).enumerate().for_each(rows);
        }
    }

    /// Bilinear form `x · A y`, summed by fixed chunks of rows.
    pub fn bilinear(&self, x: &[f64], y: &[f64]) -> f64 {
        let chunk = |(c, part): (usize, &[f64])| -> f64 {
            let pairs = part.iter().enumerate();
            compensated_dot(pairs.map(|(k, &x)| (x, self.row_product(c * CHUNK + k, y))))
        };
        if self.values.len() < PARALLEL_ENTRIES {
            let sums = x.chunks(CHUNK).enumerate().map(chunk);
            compensated_dot(sums.map(|sum| (sum, 1.0)))
        } else {
            let sums: Vec<f64> = x.par_chunks(CHUNK).enumerate().map(chunk).collect();
            compensated_dot(sums.into_iter().map(|sum| (sum, 1.0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tridiagonal matrix of second differences.
    fn differences(n: usize) -> SparseSymmetric {
        let rows: Vec<Vec<u32>> = (0..n as u32)
            .map(|i| {
                [i.checked_sub(1), Some(i + 1).filter(|&j| j < n as u32)]
                    .into_iter()
                    .flatten()
                    .collect()
            })
            .collect();
        let pattern = Arc::new(SparsePattern::from_rows(&rows));
        let mut matrix = SparseSymmetric::zeros(pattern.clone());
        for i in 0..n {
            for &j in pattern.row(i) {
                let position = pattern.position(i, j as usize).unwrap();
                matrix.values_mut()[position] = if i == j as usize { 2.0 } else { -1.0 };
            }
        }
        matrix
    }

    #[test]
    fn second_differences_of_a_parabola_are_constant() {
        let matrix = differences(5000);
        let x: Vec<f64> = (0..5000).map(|i| (i * i) as f64).collect();
        let mut y = vec![0.0; 5000];
        matrix.multiply_with(&x, &mut y, |o, value| *o = value);
        assert!(y[1..4999].iter().all(|&y| y == -2.0));
        let form: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        assert!((matrix.bilinear(&x, &x) / form - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_pass_gives_the_same_products() {
        let matrix = differences(5000);
        let pairs: Vec<[f64; 2]> = (0..5000)
            .map(|i| [1e8 + (i as f64).sin(), (i as f64 * 0.3).cos()])
            .collect();
        let v: Vec<f64> = pairs.iter().map(|pair| pair[1]).collect();
        let (mut forces, mut momenta) = (vec![[0.0; 2]; 5000], vec![0.0; 5000]);
        matrix.multiply_state(&matrix, &pairs, &v, (&mut forces, &mut momenta));
        let mut split = (vec![[0.0; 2]; 5000], vec![0.0; 5000]);
        matrix.state_rows::<false>(&matrix, &pairs, &v, 0, (&mut split.0, &mut split.1));
        assert_eq!((&forces, &momenta), (&split.0, &split.1));
        for k in 0..2 {
            let x: Vec<f64> = pairs.iter().map(|pair| pair[k]).collect();
            let mut exact = vec![0.0; 5000];
            matrix.multiply_compensated(&x, &mut exact);
            assert!(forces.iter().zip(&exact).all(|(f, e)| f[k] == *e));
        }
        let mut plain = vec![0.0; 5000];
        matrix.multiply_with(&v, &mut plain, |o, value| *o = value);
        assert_eq!(momenta, plain);
    }
}
