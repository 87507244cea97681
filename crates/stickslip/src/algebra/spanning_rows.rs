//! A set of rows that spans a positive semidefinite sparse matrix.
//!
//! # What it computes
//!
//! Indices J with W = W[:,J] W[J,J]⁻¹ W[J,:] to rounding, by elimination with diagonal
//! pivoting inside the fronts of a multifrontal analysis. A row whose pivot has shrunk below a thousandth of
//! its diagonal waits for a later front; a row whose pivot vanishes depends on those
//! chosen before and is dropped. W may have a skew part.
//!
//! # Source
//!
//! Diagonal pivoting on semidefinite matrices is standard; doing it front by front with postponed rows is our own
//! arrangement.
//!
//! # Guarantees
//!
//! Rows left out depend on J up to 1e-11 of their diagonal.
//!
//! # Behaviour to know
//!
//! The size of J is the rank of W to that tolerance.
//!
//! # Cost
//!
//! One rank-one update of a front per chosen row: far less than a factorisation of W, as fronts shrink with
//! the rows dropped.
//!
//! # Tested by
//!
//! Tests below.

use super::multifrontal::SymbolicMultifrontal;

/// A pivot is taken at once if it keeps this fraction of its diagonal entry.
const GOOD_PIVOT: f64 = 1e-3;
/// Below this fraction a row counts as dependent.
const DEPENDENT: f64 = 1e-11;

/// Rows that span the matrix whose blocks (row-major) stand in `values`; `diagonal` is its
/// diagonal. `None` if more than `limit` rows are needed.
pub fn spanning_rows(
    symbolic: &SymbolicMultifrontal,
    values: &[f64],
    diagonal: &[f64],
    limit: usize,
) -> Option<Vec<usize>> {
    let count = symbolic.fronts.len();
    let mut chosen = Vec::new();
    // What each front leaves: postponed rows first, then the rows of later fronts.
    let mut left: Vec<(Vec<u32>, usize, Vec<f64>)> = vec![(Vec::new(), 0, Vec::new()); count];
    let mut has_parent = vec![false; count];
    for front in &symbolic.fronts {
        for &child in &front.children {
            has_parent[child as usize] = true;
        }
    }
    let mut place = vec![u32::MAX; diagonal.len()];
    for f in 0..count {
        let front = &symbolic.fronts[f];
        let mut rows: Vec<u32> = front.scalars[..front.eliminated].to_vec();
        for &child in &front.children {
            let (list, postponed, _) = &left[child as usize];
            rows.extend_from_slice(&list[..*postponed]);
        }
        let mut open = rows.len();
        rows.extend_from_slice(&front.scalars[front.eliminated..]);
        let order = rows.len();
        for (k, &row) in rows.iter().enumerate() {
            place[row as usize] = k as u32;
        }
        let mut matrix = vec![0.0; order * order];
        for block in &symbolic.blocks[f] {
            for r in 0..block.rows as usize {
                for c in 0..block.columns as usize {
                    let row = front.scalars[block.row as usize + r] as usize;
                    let column = front.scalars[block.column as usize + c] as usize;
                    matrix[place[row] as usize * order + place[column] as usize] +=
                        values[block.value + r * block.columns as usize + c];
                }
            }
        }
        for &child in &front.children {
            let (list, _, contribution) = std::mem::take(&mut left[child as usize]);
            for (&row, source) in list
                .iter()
                .zip(contribution.chunks_exact(list.len().max(1)))
            {
                let target = &mut matrix[place[row as usize] as usize * order..][..order];
                for (&column, value) in list.iter().zip(source) {
                    target[place[column as usize] as usize] += value;
                }
            }
        }
        let mut state = Elimination {
            matrix,
            order,
            rows,
        };
        // Good pivots now; at the root whatever is left.
        let least = if has_parent[f] { GOOD_PIVOT } else { DEPENDENT };
        let mut done = 0;
        while done < open {
            let (at, ratio) = state.best_pivot(done, open, diagonal);
            if ratio <= least {
                break;
            }
            state.swap(done, at);
            state.eliminate(done);
            chosen.push(state.rows[done] as usize);
            if chosen.len() > limit {
                return None;
            }
            done += 1;
        }
        // Drop dependent rows, keep the others for the parent.
        let mut kept: Vec<usize> = (done..open)
            .filter(|&k| state.ratio(k, diagonal) > DEPENDENT)
            .collect();
        open = kept.len();
        kept.extend(
            front
                .eliminated
                .max(state.rows.len() - (front.scalars.len() - front.eliminated))
                ..order,
        );
        let list: Vec<u32> = kept.iter().map(|&k| state.rows[k]).collect();
        let mut contribution = Vec::with_capacity(kept.len() * kept.len());
        for &r in &kept {
            contribution.extend(kept.iter().map(|&c| state.matrix[r * order + c]));
        }
        left[f] = (list, open, contribution);
    }
    Some(chosen)
}

/// Dense front, row-major, rows and columns permuted alike.
struct Elimination {
    matrix: Vec<f64>,
    order: usize,
    rows: Vec<u32>,
}

impl Elimination {
    fn ratio(&self, k: usize, diagonal: &[f64]) -> f64 {
        let original = diagonal[self.rows[k] as usize];
        if original > 0.0 {
            self.matrix[k * self.order + k] / original
        } else {
            0.0
        }
    }

    fn best_pivot(&self, from: usize, to: usize, diagonal: &[f64]) -> (usize, f64) {
        let mut best = (from, 0.0);
        for k in from..to {
            let ratio = self.ratio(k, diagonal);
            if ratio > best.1 {
                best = (k, ratio);
            }
        }
        best
    }

    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        self.rows.swap(a, b);
        for k in 0..self.order {
            self.matrix.swap(a * self.order + k, b * self.order + k);
        }
        for k in 0..self.order {
            self.matrix.swap(k * self.order + a, k * self.order + b);
        }
    }

    fn eliminate(&mut self, k: usize) {
        let order = self.order;
        let (top, bottom) = self.matrix.split_at_mut((k + 1) * order);
        let pivot_row = &top[k * order..];
        let inverse = 1.0 / pivot_row[k];
        for row in bottom.chunks_exact_mut(order) {
            let factor = row[k] * inverse;
            if factor != 0.0 {
                for (x, p) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *x -= factor * p;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::multifrontal::PatternBlock;
    use super::*;

    #[test]
    fn chain_of_contacts_between_few_bodies() {
        // Bodies of two freedoms in a line, three contacts of three rows between neighbours.
        let bodies = 8;
        let mut state = 3u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 11) as f64 / (1u64 << 53) as f64) - 0.5
        };
        let mut h: Vec<Vec<f64>> = Vec::new();
        let mut ends = Vec::new();
        for b in 0..bodies - 1 {
            for _ in 0..3 {
                ends.push(b);
                for _ in 0..3 {
                    let mut row = vec![0.0; 2 * bodies];
                    for x in &mut row[2 * b..2 * b + 4] {
                        *x = random();
                    }
                    h.push(row);
                }
            }
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut blocks, mut values) = (Vec::new(), Vec::new());
        for i in 0..ends.len() {
            for j in 0..ends.len() {
                if ends[i].abs_diff(ends[j]) <= 1 {
                    blocks.push(PatternBlock {
                        row: i,
                        column: j,
                        value: values.len(),
                    });
                    for r in 0..3 {
                        for c in 0..3 {
                            values.push(dot(&h[3 * i + r], &h[3 * j + c]));
                        }
                    }
                }
            }
        }
        let diagonal: Vec<f64> = h.iter().map(|row| dot(row, row)).collect();
        let symbolic = SymbolicMultifrontal::new(&vec![3; ends.len()], &blocks);
        let rows = spanning_rows(&symbolic, &values, &diagonal, 1000).unwrap();
        assert_eq!(rows.len(), 2 * bodies);
        assert!(spanning_rows(&symbolic, &values, &diagonal, 10).is_none());
    }
}
