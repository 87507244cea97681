//! Entries of A⁻¹ on the degrees of freedom that contacts can touch.

use super::{CholeskyFactor, Covectors};

const ABSENT: u32 = u32::MAX;

/// Cached columns of A⁻¹ restricted to candidate degrees of freedom.
///
/// A column is solved for when a row first touches its degree of freedom and kept until the
/// operator is factored again; the Delassus matrix of a step is then a small product.
#[derive(Clone, Debug, Default)]
pub struct Compliance {
    order: usize,
    generation: u64,
    /// Place of a degree of freedom among the candidates.
    place: Vec<u32>,
    candidates: Vec<u32>,
    columns: Vec<Option<Box<[f64]>>>,
    missing: Vec<u32>,
}

impl Compliance {
    /// Makes sure that every column touched by `rows` is there. `hint` lists degrees of freedom
    /// that later rows may touch; a row outside it is accepted but discards the cache once.
    pub fn prepare(&mut self, factor: &CholeskyFactor, hint: &[u32], rows: &Covectors) {
        if self.order != factor.order() {
            self.order = factor.order();
            self.place = vec![ABSENT; self.order];
            self.candidates.clear();
            self.add_candidates(hint);
            self.generation = 0;
        }
        for i in 0..rows.len() {
            let (index, _) = rows.sparse(i);
            if index.iter().any(|&j| self.place[j as usize] == ABSENT) {
                self.add_candidates(index);
                self.generation = 0;
            }
        }
        if self.generation != factor.generation() {
            self.generation = factor.generation();
            self.columns.clear();
            self.columns.resize(self.candidates.len(), None);
        }
        self.missing.clear();
        for i in 0..rows.len() {
            for &j in rows.sparse(i).0 {
                if self.columns[self.place[j as usize] as usize].is_none() {
                    self.missing.push(j);
                }
            }
        }
        self.missing.sort_unstable();
        self.missing.dedup();
        if self.missing.is_empty() {
            return;
        }
        let columns = factor.inverse_columns(&self.missing, &self.candidates);
        for (&j, column) in self.missing.iter().zip(columns) {
            self.columns[self.place[j as usize] as usize] = Some(column);
        }
    }

    fn add_candidates(&mut self, dofs: &[u32]) {
        for &j in dofs {
            if self.place[j as usize] == ABSENT {
                self.place[j as usize] = self.candidates.len() as u32;
                self.candidates.push(j);
            }
        }
    }

    /// Writes `W = Hᵀ A⁻¹ H` of prepared rows, row-major.
    pub fn delassus(&self, rows: &Covectors, out: &mut Vec<f64>) {
        use rayon::prelude::*;
        let m = rows.len();
        out.clear();
        out.resize(m * m, 0.0);
        // Lower triangle row by row; rows are independent, so the bits do not depend on threads.
        let fill = |(i, row): (usize, &mut [f64])| {
            let (left, a) = rows.sparse(i);
            let columns: Vec<(&[f64], f64)> = left
                .iter()
                .zip(a)
                .map(|(&k, &a)| {
                    let column = self.columns[self.place[k as usize] as usize].as_deref();
                    (column.expect("prepared for these rows"), a)
                })
                .collect();
            for (j, entry) in row.iter_mut().enumerate().take(i + 1) {
                let (right, b) = rows.sparse(j);
                let mut sum = 0.0;
                for (&l, b) in right.iter().zip(b) {
                    let place = self.place[l as usize] as usize;
                    let mut part = 0.0;
                    for (column, a) in &columns {
                        part += a * column[place];
                    }
                    sum += b * part;
                }
                *entry = sum;
            }
        };
        if m < 64 {
            out.chunks_mut(m.max(1)).enumerate().for_each(fill);
        } else {
            out.par_chunks_mut(m).enumerate().for_each(fill);
        }
        for i in 0..m {
            for j in 0..i {
                out[j * m + i] = out[i * m + j];
            }
        }
    }
}
