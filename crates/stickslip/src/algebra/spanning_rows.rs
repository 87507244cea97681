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
//! Rows times rank squared of every front: far less than a factorisation of W where the rank is small.
//!
//! # Tested by
//!
//! Tests below.

use super::multifrontal::SymbolicMultifrontal;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

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
        let open = rows.len();
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
        let mut state = Elimination::new(matrix, order);
        // Good pivots now; at the root whatever is left.
        let least = if has_parent[f] { GOOD_PIVOT } else { DEPENDENT };
        let ratio = |state: &Elimination, k: usize| {
            let original = diagonal[rows[k] as usize];
            if original > 0.0 && !state.taken[k] {
                state.pivots[k] / original
            } else {
                0.0
            }
        };
        loop {
            let mut best = (0, 0.0);
            for k in 0..open {
                let ratio = ratio(&state, k);
                if ratio > best.1 {
                    best = (k, ratio);
                }
            }
            if best.1 <= least {
                break;
            }
            state.eliminate(best.0);
            chosen.push(rows[best.0] as usize);
            if chosen.len() > limit {
                return None;
            }
        }
        // Drop dependent rows, keep the others for the parent.
        let mut kept: Vec<usize> = (0..open)
            .filter(|&k| ratio(&state, k) > DEPENDENT)
            .collect();
        let postponed = kept.len();
        kept.extend(open..order);
        let list: Vec<u32> = kept.iter().map(|&k| rows[k]).collect();
        left[f] = (list, postponed, state.remainder(&kept));
    }
    Some(chosen)
}

/// Dense front whose pivots are eliminated one by one; rows and columns are brought up to date only when they are
/// taken, so that the cost is that of the chosen ones.
struct Elimination {
    /// The front as assembled, row-major.
    matrix: Vec<f64>,
    order: usize,
    /// Columns of L and rows of U, one after the other.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Diagonal after the eliminations so far.
    pivots: Vec<f64>,
    taken: Vec<bool>,
}

impl Elimination {
    fn new(matrix: Vec<f64>, order: usize) -> Self {
        Self {
            pivots: matrix.iter().step_by(order + 1).copied().collect(),
            matrix,
            order,
            lower: Vec::new(),
            upper: Vec::new(),
            taken: vec![false; order],
        }
    }

    fn eliminate(&mut self, p: usize) {
        let n = self.order;
        let mut row = self.matrix[p * n..(p + 1) * n].to_vec();
        let mut column: Vec<f64> = self.matrix[p..].iter().step_by(n).copied().collect();
        for (l, u) in self.lower.chunks_exact(n).zip(self.upper.chunks_exact(n)) {
            let (of_row, of_column) = (l[p], u[p]);
            for (x, u) in row.iter_mut().zip(u) {
                *x -= of_row * u;
            }
            for (x, l) in column.iter_mut().zip(l) {
                *x -= of_column * l;
            }
        }
        let inverse = 1.0 / row[p];
        for ((pivot, u), l) in self.pivots.iter_mut().zip(&row).zip(&mut column) {
            *l *= inverse;
            *pivot -= *l * u;
        }
        self.taken[p] = true;
        self.upper.append(&mut row);
        self.lower.append(&mut column);
    }

    /// What the eliminations leave of the listed rows and columns, row-major.
    fn remainder(&self, kept: &[usize]) -> Vec<f64> {
        let (n, size) = (self.order, kept.len());
        if size == 0 {
            return Vec::new();
        }
        let rank = self.lower.len() / n;
        let mut out = Vec::with_capacity(size * size);
        for &r in kept {
            out.extend(kept.iter().map(|&c| self.matrix[r * n + c]));
        }
        let gather = |from: &[f64]| -> Vec<f64> {
            let parts = from.chunks_exact(n);
            parts
                .flat_map(|part| kept.iter().map(|&k| part[k]))
                .collect()
        };
        let (lower, upper) = (gather(&self.lower), gather(&self.upper));
        // Row-major storage is column-major storage of the transpose: outᵀ −= Uᵀ Lᵀ.
        matmul(
            MatMut::from_column_major_slice_mut(&mut out, size, size),
            Accum::Add,
            MatRef::from_column_major_slice(&upper, size, rank),
            MatRef::from_row_major_slice(&lower, rank, size),
            -1.0,
            Par::Seq,
        );
        out
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
