//! Multifrontal LU factorisation of block-sparse matrices with a symmetric pattern and
//! unsymmetric values.
//!
//! # What it computes
//!
//! P A Pᵀ = L U where A is made of dense blocks between nodes (bodies or contacts) of any
//! size. Nodes are ordered by approximate minimum degree, gathered in fronts along the elimination tree, and each
//! front is eliminated by dense kernels. Rows are exchanged inside the pivot rows of a front only,
//! so the pattern is analysed once and reused for every set of values.
//!
//! # Source
//!
//! The multifrontal method of Duff and Reid, as described in textbooks on sparse direct methods; dense products by faer.
//!
//! # Guarantees
//!
//! Backward stable where the symmetric part of A is positive definite. Elsewhere pivots
//! that vanish to rounding are replaced by a small number: callers refine and look at the residual.
//!
//! # Behaviour to know
//!
//! A single node holding everything is a dense LU with full partial pivoting.
//!
//! # Cost
//!
//! [`SymbolicMultifrontal::operations`] counts the floating-point operations of one factorisation.
//!
//! # Tested by
//!
//! Tests below.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::matmul;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use faer::{Accum, MatMut, Par};

/// Analysed pattern.
#[derive(Clone, Debug)]
pub struct SymbolicMultifrontal {
    sizes: Vec<usize>,
    /// First scalar of each node.
    first: Vec<usize>,
    pub(super) fronts: Vec<Front>,
    /// Where each block of the pattern goes, by front.
    pub(super) blocks: Vec<Vec<BlockPlace>>,
    operations: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Front {
    /// Scalars of the matrix, those eliminated here first.
    pub(super) scalars: Vec<u32>,
    pub(super) eliminated: usize,
    pub(super) children: Vec<u32>,
    /// Position in the parent of each scalar that is not eliminated here.
    in_parent: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    /// First value of the block in the caller's array.
    pub(super) value: usize,
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
}

/// A block of the pattern: node of the rows, node of the columns, first of its row-major values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternBlock {
    /// Node of the rows.
    pub row: usize,
    /// Node of the columns.
    pub column: usize,
    /// Position of the first value in the array given to the factorisation.
    pub value: usize,
}

impl SymbolicMultifrontal {
    /// Analyses the pattern of a matrix between nodes of the given sizes. The pattern is made symmetric;
    /// nodes of size zero are allowed.
    pub fn new(sizes: &[usize], blocks: &[PatternBlock]) -> Self {
        let n = sizes.len();
        let mut adjacent: Vec<Vec<usize>> = vec![Vec::new(); n];
        for block in blocks {
            if block.row != block.column {
                adjacent[block.row].push(block.column);
                adjacent[block.column].push(block.row);
            }
        }
        for list in &mut adjacent {
            list.sort_unstable();
            list.dedup();
        }
        let order = minimum_degree(&adjacent);
        let supernodes = supernodes(sizes, &adjacent, &order);
        Self::build(sizes, blocks, supernodes)
    }

    fn build(sizes: &[usize], blocks: &[PatternBlock], supernodes: Vec<Supernode>) -> Self {
        let n = sizes.len();
        let mut first = vec![0; n];
        let mut total = 0;
        for (i, &size) in sizes.iter().enumerate() {
            first[i] = total;
            total += size;
        }
        let mut front_of = vec![0; n];
        for (f, node) in supernodes.iter().enumerate() {
            for &i in &node.pivots {
                front_of[i] = f;
            }
        }
        let mut fronts: Vec<Front> = Vec::with_capacity(supernodes.len());
        let mut places: Vec<Vec<BlockPlace>> = vec![Vec::new(); supernodes.len()];
        let mut by_front: Vec<Vec<usize>> = vec![Vec::new(); supernodes.len()];
        for (k, block) in blocks.iter().enumerate() {
            by_front[front_of[block.row].min(front_of[block.column])].push(k);
        }
        let mut operations = 0.0;
        let mut local = vec![u32::MAX; n];
        for (f, node) in supernodes.iter().enumerate() {
            let mut scalars = Vec::new();
            for &i in node.pivots.iter().chain(&node.rest) {
                local[i] = scalars.len() as u32;
                scalars.extend((first[i]..first[i] + sizes[i]).map(|s| s as u32));
            }
            let eliminated: usize = node.pivots.iter().map(|&i| sizes[i]).sum();
            for &k in &by_front[f] {
                let block = &blocks[k];
                places[f].push(BlockPlace {
                    value: block.value,
                    row: local[block.row],
                    column: local[block.column],
                    rows: sizes[block.row] as u32,
                    columns: sizes[block.column] as u32,
                });
            }
            // Children were built before; their remaining scalars find their place here.
            let mut children = Vec::new();
            for &c in &node.children {
                children.push(c as u32);
                let mut in_parent = Vec::new();
                for &i in &supernodes[c].rest {
                    in_parent.extend((0..sizes[i] as u32).map(|k| local[i] + k));
                }
                fronts[c].in_parent = in_parent;
            }
            let (p, t) = (eliminated as f64, scalars.len() as f64);
            operations += 2.0 * (p * t * t - p * p * t + p * p * p / 3.0);
            fronts.push(Front {
                scalars,
                eliminated,
                children,
                in_parent: Vec::new(),
            });
        }
        Self {
            sizes: sizes.to_vec(),
            first,
            fronts,
            blocks: places,
            operations,
        }
    }

    /// Number of scalars.
    pub fn order(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// First scalar of each node.
    pub fn first_scalars(&self) -> &[usize] {
        &self.first
    }

    /// Floating-point operations of one factorisation.
    pub fn operations(&self) -> f64 {
        self.operations
    }
}

/// Approximate minimum degree ordering: nodes in order of elimination.
fn minimum_degree(adjacent: &[Vec<usize>]) -> Vec<usize> {
    let n = adjacent.len();
    let mut start = vec![0usize; n + 1];
    let mut rows = Vec::new();
    for (i, list) in adjacent.iter().enumerate() {
        rows.extend_from_slice(list);
        start[i + 1] = rows.len();
    }
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, &start, None, &rows);
    let mut forward = vec![0usize; n];
    let mut inverse = vec![0usize; n];
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, rows.len()));
    let ordered = amd::order(
        &mut forward,
        &mut inverse,
        pattern,
        amd::Control::default(),
        MemStack::new(&mut memory),
    );
    match ordered {
        Ok(_) => forward,
        Err(_) => (0..n).collect(),
    }
}

#[derive(Clone, Debug, Default)]
struct Supernode {
    pivots: Vec<usize>,
    /// Nodes left after elimination, in order of elimination.
    rest: Vec<usize>,
    children: Vec<usize>,
}

/// Structure of the factors by nodes, gathered in supernodes; children precede parents.
fn supernodes(sizes: &[usize], adjacent: &[Vec<usize>], order: &[usize]) -> Vec<Supernode> {
    let n = sizes.len();
    let mut position = vec![0; n];
    for (k, &i) in order.iter().enumerate() {
        position[i] = k;
    }
    // Column structures as positions, and the elimination tree.
    let mut structure: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut mark = vec![usize::MAX; n];
    for k in 0..n {
        let mut list = Vec::new();
        mark[k] = k;
        for &j in &adjacent[order[k]] {
            let p = position[j];
            if p > k && mark[p] != k {
                mark[p] = k;
                list.push(p);
            }
        }
        for &c in &children[k] {
            for &p in &structure[c] {
                if p > k && mark[p] != k {
                    mark[p] = k;
                    list.push(p);
                }
            }
        }
        list.sort_unstable();
        if let Some(&parent) = list.first() {
            children[parent].push(k);
        }
        structure[k] = list;
    }
    // Merge a column into its parent where that adds few zeros or both are small.
    let scalar = |list: &[usize]| list.iter().map(|&p| sizes[order[p]]).sum::<usize>();
    let mut owner: Vec<usize> = (0..n).collect();
    let mut pivots: Vec<Vec<usize>> = (0..n).map(|k| vec![k]).collect();
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); n];
    for k in 0..n {
        let rest = scalar(&structure[k]);
        let mut own = sizes[order[k]];
        let mut candidates: Vec<usize> = children[k].clone();
        candidates.sort_by_key(|&c| std::cmp::Reverse(structure[c].len()));
        for c in candidates {
            let child_own = scalar(&pivots[c]);
            let child_rest = scalar(&structure[c]);
            let zeros = 2 * child_own * (own + rest - child_rest.min(own + rest));
            let merged = child_own + own;
            let area = merged * (merged + 2 * rest);
            if zeros * 5 <= area || merged <= 12 {
                let mut list = std::mem::take(&mut pivots[c]);
                list.append(&mut pivots[k]);
                pivots[k] = list;
                owner[c] = k;
                let inherited = std::mem::take(&mut kept[c]);
                kept[k].extend(inherited);
                own = merged;
            } else {
                kept[k].push(c);
            }
        }
    }
    let mut index = vec![usize::MAX; n];
    let mut out = Vec::new();
    for k in 0..n {
        if owner[k] != k {
            continue;
        }
        index[k] = out.len();
        let mut own = pivots[k].clone();
        own.sort_unstable();
        out.push(Supernode {
            pivots: own.iter().map(|&p| order[p]).collect(),
            rest: structure[k].iter().map(|&p| order[p]).collect(),
            children: kept[k].iter().map(|&c| index[c]).collect(),
        });
    }
    out
}

/// Factors of one matrix; storage is reused from one factorisation to the next.
#[derive(Clone, Debug, Default)]
pub struct Multifrontal {
    fronts: Vec<FrontFactor>,
    /// Pivots replaced because they vanished, in the last factorisation.
    pub replaced_pivots: usize,
    work: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct FrontFactor {
    /// Columns of the eliminated scalars: unit lower triangle, upper triangle, rows below.
    lower: Vec<f64>,
    /// Rows of the eliminated scalars right of the pivot block, by columns.
    upper: Vec<f64>,
    /// Row exchanges: at step k row k was swapped with this one.
    swaps: Vec<u32>,
}

impl Multifrontal {
    /// Factors the matrix whose blocks (row-major) stand in `values` at the positions named in the pattern.
    pub fn factor(&mut self, symbolic: &SymbolicMultifrontal, values: &[f64]) {
        let count = symbolic.fronts.len();
        self.fronts.resize_with(count, FrontFactor::default);
        self.replaced_pivots = 0;
        let mut contributions: Vec<Vec<f64>> = vec![Vec::new(); count];
        for f in 0..count {
            let front = &symbolic.fronts[f];
            let (total, eliminated) = (front.scalars.len(), front.eliminated);
            let mut matrix = std::mem::take(&mut self.work);
            matrix.clear();
            matrix.resize(total * total, 0.0);
            for place in &symbolic.blocks[f] {
                let columns = place.columns as usize;
                for r in 0..place.rows as usize {
                    for c in 0..columns {
                        let at = (place.column as usize + c) * total + place.row as usize + r;
                        matrix[at] += values[place.value + r * columns + c];
                    }
                }
            }
            for &child in &front.children {
                let map = &symbolic.fronts[child as usize].in_parent;
                let contribution = std::mem::take(&mut contributions[child as usize]);
                for (source, &c) in contribution.chunks_exact(map.len().max(1)).zip(map) {
                    let column = &mut matrix[c as usize * total..(c as usize + 1) * total];
                    for (&value, &r) in source.iter().zip(map) {
                        column[r as usize] += value;
                    }
                }
            }
            let factor = &mut self.fronts[f];
            factor.swaps.clear();
            self.replaced_pivots += eliminate(&mut matrix, total, eliminated, &mut factor.swaps);
            factor.lower.clear();
            factor
                .lower
                .extend_from_slice(&matrix[..total * eliminated]);
            let rest = total - eliminated;
            factor.upper.clear();
            let mut contribution = Vec::with_capacity(rest * rest);
            for column in matrix[total * eliminated..total * total].chunks_exact(total.max(1)) {
                factor.upper.extend_from_slice(&column[..eliminated]);
                contribution.extend_from_slice(&column[eliminated..]);
            }
            contributions[f] = contribution;
            self.work = matrix;
        }
    }

    /// x ← A⁻¹ x.
    pub fn solve(&self, symbolic: &SymbolicMultifrontal, x: &mut [f64]) {
        let mut local = Vec::new();
        for (front, factor) in symbolic.fronts.iter().zip(&self.fronts) {
            let (total, eliminated) = (front.scalars.len(), front.eliminated);
            local.clear();
            local.extend(front.scalars.iter().map(|&s| x[s as usize]));
            for (k, &other) in factor.swaps.iter().enumerate() {
                local.swap(k, other as usize);
            }
            // The rows below only collect what is subtracted from them.
            for k in 0..eliminated {
                let value = local[k];
                if value != 0.0 {
                    let column = &factor.lower[k * total + k + 1..(k + 1) * total];
                    for (y, l) in local[k + 1..].iter_mut().zip(column) {
                        *y -= l * value;
                    }
                }
            }
            for (&s, &value) in front.scalars.iter().zip(&local) {
                x[s as usize] = value;
            }
        }
        for (front, factor) in symbolic.fronts.iter().zip(&self.fronts).rev() {
            let (total, eliminated) = (front.scalars.len(), front.eliminated);
            local.clear();
            local.extend(front.scalars.iter().map(|&s| x[s as usize]));
            let (pivots, rest) = local.split_at_mut(eliminated);
            for (column, &value) in factor.upper.chunks_exact(eliminated.max(1)).zip(&*rest) {
                if value != 0.0 {
                    for (y, u) in pivots.iter_mut().zip(column) {
                        *y -= u * value;
                    }
                }
            }
            for k in (0..eliminated).rev() {
                pivots[k] /= factor.lower[k * total + k];
                let value = pivots[k];
                for (y, u) in pivots[..k]
                    .iter_mut()
                    .zip(&factor.lower[k * total..k * total + k])
                {
                    *y -= u * value;
                }
            }
            for (&s, &value) in front.scalars.iter().zip(&*pivots) {
                x[s as usize] = value;
            }
        }
    }
}

/// Columns factored together before the rest is updated by one product.
const PANEL: usize = 16;

/// Eliminates the first `pivots` unknowns of a dense column-major matrix of the given order, exchanging
/// rows among the first `pivots` only; returns the number of pivots replaced.
fn eliminate(matrix: &mut [f64], order: usize, pivots: usize, swaps: &mut Vec<u32>) -> usize {
    let mut replaced = 0;
    let mut first = 0;
    while first < pivots {
        let end = (first + PANEL).min(pivots);
        for k in first..end {
            let column = &matrix[k * order..(k + 1) * order];
            let mut pivot = k;
            for r in k + 1..pivots {
                if column[r].abs() > column[pivot].abs() {
                    pivot = r;
                }
            }
            swaps.push(pivot as u32);
            if pivot != k {
                for column in matrix.chunks_exact_mut(order) {
                    column.swap(k, pivot);
                }
            }
            let size = matrix[k * order..(k + 1) * order]
                .iter()
                .fold(0.0f64, |m, x| m.max(x.abs()));
            let value = &mut matrix[k * order + k];
            if value.abs() <= 1e-15 * size || *value == 0.0 {
                replaced += 1;
                *value = if size > 0.0 { 1e-8 * size } else { 1.0 };
            }
            let inverse = 1.0 / *value;
            let (left, right) = matrix.split_at_mut((k + 1) * order);
            let column = &mut left[k * order + k + 1..(k + 1) * order];
            for x in column.iter_mut() {
                *x *= inverse;
            }
            for other in right.chunks_exact_mut(order).take(end - k - 1) {
                let factor = other[k];
                if factor != 0.0 {
                    for (y, l) in other[k + 1..].iter_mut().zip(&*column) {
                        *y -= factor * l;
                    }
                }
            }
        }
        // Rows of the panel in the columns to its right, then the product.
        let (panel, right) = matrix.split_at_mut(end * order);
        let width = end - first;
        for column in right.chunks_exact_mut(order) {
            for k in first..end {
                let value = column[k];
                if value != 0.0 {
                    let lower = &panel[k * order + k + 1..k * order + end];
                    for (y, l) in column[k + 1..end].iter_mut().zip(lower) {
                        *y -= value * l;
                    }
                }
            }
        }
        let (rows, columns) = (order - end, order - end);
        if rows > 0 {
            let right = MatMut::from_column_major_slice_mut(right, order, columns);
            let (top, bottom) = right.split_at_row_mut(end);
            let upper = top.as_ref().subrows(first, width);
            let lower = faer::MatRef::from_column_major_slice(&*panel, order, end)
                .submatrix(end, first, rows, width);
            matmul(bottom, Accum::Add, lower, upper, -1.0, Par::Seq);
        }
        first = end;
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> f64 {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((*state >> 11) as f64 / (1u64 << 53) as f64) - 0.5
    }

    /// Grid of nodes of mixed sizes with unsymmetric values.
    fn check(side: usize, sizes: impl Fn(usize) -> usize) {
        let n = side * side;
        let sizes: Vec<usize> = (0..n).map(sizes).collect();
        let mut pairs = Vec::new();
        for i in 0..n {
            pairs.push((i, i));
            for j in [i + 1, i + side] {
                if j < n && (j != i + 1 || j % side != 0) {
                    pairs.push((i, j));
                    pairs.push((j, i));
                }
            }
        }
        let mut values = Vec::new();
        let mut blocks = Vec::new();
        let mut state = 7;
        for &(row, column) in &pairs {
            blocks.push(PatternBlock {
                row,
                column,
                value: values.len(),
            });
            for r in 0..sizes[row] {
                for c in 0..sizes[column] {
                    let diagonal = if row == column && r == c { 4.0 } else { 0.0 };
                    values.push(random(&mut state) + diagonal);
                }
            }
        }
        let symbolic = SymbolicMultifrontal::new(&sizes, &blocks);
        let first = symbolic.first_scalars().to_vec();
        let exact: Vec<f64> = (0..symbolic.order()).map(|_| random(&mut state)).collect();
        let mut b = vec![0.0; exact.len()];
        for block in &blocks {
            let columns = sizes[block.column];
            for r in 0..sizes[block.row] {
                for c in 0..columns {
                    b[first[block.row] + r] +=
                        values[block.value + r * columns + c] * exact[first[block.column] + c];
                }
            }
        }
        let mut factor = Multifrontal::default();
        // Twice, so that reused storage is tested too.
        factor.factor(&symbolic, &values);
        factor.factor(&symbolic, &values);
        factor.solve(&symbolic, &mut b);
        let error = b
            .iter()
            .zip(&exact)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(error < 1e-11, "error {error:e}");
        assert_eq!(factor.replaced_pivots, 0);
    }

    #[test]
    fn grids_of_bodies_are_solved() {
        check(1, |_| 40);
        check(7, |_| 6);
        check(12, |i| 1 + i % 4);
        check(5, |i| if i % 3 == 0 { 0 } else { 5 });
    }
}
