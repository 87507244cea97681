//! Order of contacts that keeps coupled ones close in memory.
//!
//! # What it computes
//!
//! A sweep reads, for contact i, the impulses of all contacts coupled to it. If contacts come in an arbitrary order
//! those lie anywhere in memory and changes travel through the structure slowly. Contacts are therefore visited in the
//! order of a breadth-first walk over the couplings, each connected part from a contact far from its middle.
//!
//! # Source
//!
//! Cuthill and McKee's order, without sorting by degree.
//!
//! # Guarantees
//!
//! The problem is the same but for the numbering; impulses come back in the caller's order. The order depends on the pattern
//! of W alone.
//!
//! # Behaviour to know
//!
//! Problems that are ordered well enough, or small enough for the cache, are left as they are: the mean distance
//! |i − j| of coupled contacts decides, an eighth of their number being too far (an arbitrary order has a third).
//!
//! # Cost
//!
//! One pass over the pattern to decide; copying W if it is sorted.
//!
//! # Tested by
//!
//! Tests below.

use crate::algebra::block_sparse::BlockSparse;
use crate::algebra::block_sparse::BlockSparseBuilder;
use crate::contact::delassus::{BlockDelassus, BodyForm, Delassus};
use crate::contact::{ContactBlock, ContactProblem};
use std::collections::VecDeque;

/// Stored blocks of W below which everything fits the cache.
const FEWEST_BLOCKS: usize = 20_000;

/// The order in which contacts should be stored, by old index; `None` if the present one is good enough.
pub(crate) fn better_order(problem: &ContactProblem) -> Option<Vec<usize>> {
    let matrix = problem.delassus().blocks()?;
    let n = matrix.blocks();
    if matrix.stored_blocks() < FEWEST_BLOCKS {
        return None;
    }
    let distance = |position: &[usize]| {
        let mut sum = 0.0;
        for i in 0..n {
            for (j, _) in matrix.row(i) {
                sum += position[i].abs_diff(position[j]) as f64;
            }
        }
        sum / matrix.stored_blocks() as f64
    };
    let present: Vec<usize> = (0..n).collect();
    let far = distance(&present);
    if far <= n as f64 / 8.0 {
        return None;
    }
    let order = walk(matrix);
    let mut position = vec![0; n];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new;
    }
    (distance(&position) < 0.5 * far).then_some(order)
}

/// Breadth-first order of every connected part, from a contact at its end.
fn walk(matrix: &BlockSparse) -> Vec<usize> {
    let n = matrix.blocks();
    let mut reached = vec![false; n];
    let mut order = Vec::with_capacity(n);
    for first in 0..n {
        if reached[first] {
            continue;
        }
        // The contact reached last from anywhere lies at an end of the part.
        let mut seen = Vec::new();
        breadth_first(matrix, first, &mut reached, &mut seen);
        let end = seen.last().copied().unwrap_or(first);
        for &i in &seen {
            reached[i] = false;
        }
        breadth_first(matrix, end, &mut reached, &mut order);
    }
    order
}

fn breadth_first(matrix: &BlockSparse, first: usize, reached: &mut [bool], order: &mut Vec<usize>) {
    let mut queue = VecDeque::from([first]);
    reached[first] = true;
    while let Some(i) = queue.pop_front() {
        order.push(i);
        for (j, _) in matrix.row(i) {
            if !reached[j] {
                reached[j] = true;
                queue.push_back(j);
            }
        }
    }
}

/// The same problem with contacts in another order, by old index.
pub(crate) fn reordered(problem: &ContactProblem, order: &[usize]) -> Option<ContactProblem> {
    let matrix = problem.delassus().blocks()?;
    let d = matrix.block_size();
    let mut new_index = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        new_index[old] = new;
    }
    let mut builder = BlockSparseBuilder::new(d, order.len());
    let mut columns = Vec::new();
    for &old in order {
        let mut row: Vec<(usize, &[f64])> = matrix
            .row(old)
            .map(|(j, block)| (new_index[j], block))
            .collect();
        row.sort_unstable_by_key(|(j, _)| *j);
        columns.clear();
        columns.extend(row.iter().map(|(j, _)| *j));
        let first = builder.start_row(&columns);
        for (slot, (_, block)) in row.iter().enumerate() {
            let at = first + slot * d * d;
            builder.value[at..at + d * d].copy_from_slice(block);
        }
    }
    let q = order
        .iter()
        .flat_map(|&i| problem.free()[d * i..d * i + d].iter().copied())
        .collect();
    let blocks = order.iter().enumerate().map(|(new, &old)| ContactBlock {
        start: d * new,
        ..problem.blocks()[old].clone()
    });
    let bodies = problem.delassus().body_form().map(|bodies| BodyForm {
        links: order.iter().map(|&i| bodies.links[i].clone()).collect(),
        ..bodies.clone()
    });
    let matrix = builder.finish();
    let delassus = Delassus::Blocks(Box::new(BlockDelassus { matrix, bodies }));
    Some(ContactProblem::from_local(delassus, q, blocks.collect()))
}

/// Values of contacts from the order `order` back to the caller's.
pub(crate) fn restored(values: &[f64], order: &[usize], dimension: usize) -> Vec<f64> {
    let mut out = vec![0.0; values.len()];
    for (new, &old) in order.iter().enumerate() {
        out[dimension * old..dimension * old + dimension]
            .copy_from_slice(&values[dimension * new..dimension * new + dimension]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::sparse_rows::SparseRows;
    use crate::contact::Judgement;
    use crate::solvers::cascade::{CoulombMethod, solve};
    use crate::solvers::progress::SolverLimits;

    /// A chain with contacts numbered as `number` says.
    fn chain(n: usize, number: impl Fn(usize) -> usize) -> ContactProblem {
        let mut triplets = Vec::new();
        for i in 0..n {
            for other in [i, i + 1] {
                if other >= n {
                    continue;
                }
                let value = if other == i { 2.0 } else { -0.6 };
                for k in 0..3 {
                    let (a, b) = (3 * number(i) + k, 3 * number(other) + k);
                    triplets.push((a, b, value));
                    if other != i {
                        triplets.push((b, a, value));
                    }
                }
            }
        }
        let w = SparseRows::from_triplets(3 * n, 3 * n, &triplets);
        let q = (0..3 * n).map(|k| ((k * k) as f64).sin() - 0.4).collect();
        ContactProblem::coulomb_from_rows(3, &w, q, vec![0.4; n]).unwrap()
    }

    #[test]
    fn a_shuffled_chain_is_sorted_and_a_sorted_one_left_alone() {
        let n = 7001;
        assert!(better_order(&chain(n, |i| i)).is_none());
        let shuffled = chain(n, |i| (i * 2311) % n);
        let order = better_order(&shuffled).unwrap();
        let sorted = reordered(&shuffled, &order).unwrap();
        // In a chain neighbours come to lie next to each other.
        for i in 0..n {
            assert!(
                sorted
                    .delassus()
                    .blocks()
                    .unwrap()
                    .row(i)
                    .all(|(j, _)| j.abs_diff(i) <= 1)
            );
        }
        let solution = solve(
            &shuffled,
            CoulombMethod::Cascade,
            &SolverLimits::default(),
            None,
        );
        assert!(solution.status.is_solved());
        let again = Judgement::of(&shuffled, &solution.impulse);
        assert!(again.published <= 1.01e-8, "{again:?}");
        let values: Vec<f64> = (0..3 * n).map(|k| k as f64).collect();
        let there: Vec<f64> = order
            .iter()
            .flat_map(|&i| values[3 * i..3 * i + 3].to_vec())
            .collect();
        assert_eq!(restored(&there, &order, 3), values);
    }
}
