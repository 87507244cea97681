//! Block-sparse square matrix with small square blocks, by block rows.
//!
//! Layout made for the Gauss-Seidel sweep: row pointers and column indices of 32 bits, each
//! block stored by columns in one contiguous array, so that a row is read once from one
//! end to the other and the product of a block with a vector is a sum of scaled columns.

use super::sparse_rows::SparseRows;

/// Square matrix of `size` × `size` blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSparse {
    size: usize,
    row_start: Vec<u32>,
    column: Vec<u32>,
    /// Blocks by columns; one spare number at the end lets kernels load four at once.
    value: Vec<f64>,
    /// Position of the diagonal block of each row.
    diagonal: Vec<u32>,
}

impl BlockSparse {
    /// Gathers the scalar entries of a square matrix in blocks of `size`; the
    /// diagonal block of each row is always present.
    ///
    /// # Panics
    /// If the matrix is not square or its order is not a multiple of `size`.
    pub fn from_rows(matrix: &SparseRows, size: usize) -> Self {
        let order = matrix.rows();
        assert_eq!(order, matrix.columns(), "a block-sparse matrix is square");
        assert_eq!(order % size, 0, "the order is a multiple of the block size");
        let blocks = order / size;
        let mut builder = BlockSparseBuilder::new(size, blocks);
        let mut slot = vec![usize::MAX; blocks];
        let mut columns = Vec::new();
        for i in 0..blocks {
            columns.clear();
            columns.push(i);
            slot[i] = 0;
            for local in 0..size {
                for (j, _) in matrix.row(size * i + local) {
                    if slot[j / size] == usize::MAX {
                        slot[j / size] = 0;
                        columns.push(j / size);
                    }
                }
            }
            columns.sort_unstable();
            for (k, &j) in columns.iter().enumerate() {
                slot[j] = k;
            }
            let first = builder.start_row(&columns);
            for local in 0..size {
                for (j, a) in matrix.row(size * i + local) {
                    let at = first + size * size * slot[j / size] + size * (j % size) + local;
                    builder.value[at] += a;
                }
            }
            for &j in &columns {
                slot[j] = usize::MAX;
            }
        }
        builder.finish()
    }

    /// Number of block rows.
    pub fn blocks(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Order of one block.
    pub fn block_size(&self) -> usize {
        self.size
    }

    /// Number of stored blocks.
    pub fn stored_blocks(&self) -> usize {
        self.column.len()
    }

    /// Row pointers, block columns and values (blocks by columns, one spare number at the end).
    pub fn parts(&self) -> (&[u32], &[u32], &[f64]) {
        (&self.row_start, &self.column, &self.value)
    }

    /// Block columns and blocks (by columns) of block row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> + '_ {
        let area = self.size * self.size;
        (self.row_start[i] as usize..self.row_start[i + 1] as usize).map(move |k| {
            (
                self.column[k] as usize,
                &self.value[k * area..(k + 1) * area],
            )
        })
    }

    /// Diagonal block `i`, by columns.
    pub fn diagonal(&self, i: usize) -> &[f64] {
        let area = self.size * self.size;
        let k = self.diagonal[i] as usize;
        &self.value[k * area..(k + 1) * area]
    }

    /// Scalar entry in row `i`, column `j`; zero where no block is stored.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let d = self.size;
        let row = self.row_start[i / d] as usize..self.row_start[i / d + 1] as usize;
        match self.column[row.clone()].binary_search(&((j / d) as u32)) {
            Ok(k) => self.value[(row.start + k) * d * d + d * (j % d) + i % d],
            Err(_) => 0.0,
        }
    }

    /// All scalar entries, row-major.
    pub fn to_dense(&self) -> Vec<f64> {
        let (d, order) = (self.size, self.size * self.blocks());
        let mut out = vec![0.0; order * order];
        for i in 0..self.blocks() {
            for (j, block) in self.row(i) {
                for c in 0..d {
                    for k in 0..d {
                        out[(d * i + k) * order + d * j + c] = block[d * c + k];
                    }
                }
            }
        }
        out
    }

    /// y = A x + b.
    pub fn multiply_plus(&self, x: &[f64], b: &[f64], y: &mut [f64]) {
        match self.size {
            2 => self.multiply_fixed::<2>(x, b, y),
            3 => self.multiply_fixed::<3>(x, b, y),
            d => {
                for i in 0..self.blocks() {
                    y[d * i..d * i + d].copy_from_slice(&b[d * i..d * i + d]);
                    for (j, block) in self.row(i) {
                        for (column, &x) in block.chunks_exact(d).zip(&x[d * j..d * j + d]) {
                            for (y, a) in y[d * i..d * i + d].iter_mut().zip(column) {
                                *y += a * x;
                            }
                        }
                    }
                }
            }
        }
    }

    /// The product for blocks of an order known to the compiler.
    fn multiply_fixed<const D: usize>(&self, x: &[f64], b: &[f64], y: &mut [f64]) {
        for i in 0..self.blocks() {
            let mut sum = [0.0; D];
            for (j, block) in self.row(i) {
                let x = &x[D * j..D * j + D];
                let block = &block[..D * D];
                for c in 0..D {
                    for k in 0..D {
                        sum[k] += block[D * c + k] * x[c];
                    }
                }
            }
            for k in 0..D {
                y[D * i + k] = sum[k] + b[D * i + k];
            }
        }
    }

    /// y = A x + b and |A||x| + |b|, the size of the terms that round in it, in one pass over A.
    pub fn multiply_plus_with_sizes(&self, x: &[f64], b: &[f64], y: &mut [f64], sizes: &mut [f64]) {
        match self.size {
            2 => self.with_sizes_fixed::<2>(x, b, y, sizes),
            3 => self.with_sizes_fixed::<3>(x, b, y, sizes),
            d => {
                self.multiply_plus(x, b, y);
                for i in 0..self.blocks() {
                    for k in 0..d {
                        sizes[d * i + k] = b[d * i + k].abs();
                    }
                    for (j, block) in self.row(i) {
                        for c in 0..d {
                            for k in 0..d {
                                sizes[d * i + k] += (block[d * c + k] * x[d * j + c]).abs();
                            }
                        }
                    }
                }
            }
        }
    }

    /// The product and the sizes for blocks of an order known to the compiler.
    fn with_sizes_fixed<const D: usize>(
        &self,
        x: &[f64],
        b: &[f64],
        y: &mut [f64],
        sizes: &mut [f64],
    ) {
        for i in 0..self.blocks() {
            let (mut sum, mut size) = ([0.0; D], [0.0; D]);
            for (j, block) in self.row(i) {
                let x = &x[D * j..D * j + D];
                let block = &block[..D * D];
                for c in 0..D {
                    for k in 0..D {
                        let term = block[D * c + k] * x[c];
                        sum[k] += term;
                        size[k] += term.abs();
                    }
                }
            }
            for k in 0..D {
                y[D * i + k] = sum[k] + b[D * i + k];
                sizes[D * i + k] = size[k] + b[D * i + k].abs();
            }
        }
    }

    /// Trace of the matrix.
    pub fn trace(&self) -> f64 {
        (0..self.blocks())
            .map(|i| self.diagonal(i).iter().step_by(self.size + 1).sum::<f64>())
            .sum()
    }

    /// Position (row, column) of the first entry that is not a finite number.
    pub fn first_not_finite(&self) -> Option<(usize, usize)> {
        let d = self.size;
        (0..self.blocks()).find_map(|i| {
            self.row(i).find_map(|(j, block)| {
                let k = block.iter().position(|a| !a.is_finite())?;
                Some((d * i + k % d, d * j + k / d))
            })
        })
    }

    /// The scalar entries, zeros inside blocks left out.
    pub fn to_rows(&self) -> SparseRows {
        let d = self.size;
        let mut triplets = Vec::new();
        for i in 0..self.blocks() {
            for (j, block) in self.row(i) {
                for c in 0..d {
                    for k in 0..d {
                        if block[d * c + k] != 0.0 {
                            triplets.push((d * i + k, d * j + c, block[d * c + k]));
                        }
                    }
                }
            }
        }
        SparseRows::from_triplets(d * self.blocks(), d * self.blocks(), &triplets)
    }
}

/// Writes a [`BlockSparse`] row by row.
#[derive(Debug)]
pub struct BlockSparseBuilder {
    size: usize,
    row_start: Vec<u32>,
    column: Vec<u32>,
    diagonal: Vec<u32>,
    /// Blocks written so far, by columns.
    pub value: Vec<f64>,
}

impl BlockSparseBuilder {
    /// Empty matrix that will have `blocks` block rows.
    pub fn new(size: usize, blocks: usize) -> Self {
        let mut row_start = Vec::with_capacity(blocks + 1);
        row_start.push(0);
        Self {
            size,
            row_start,
            column: Vec::new(),
            diagonal: Vec::with_capacity(blocks),
            value: Vec::new(),
        }
    }

    /// Appends a row of zero blocks in the given sorted block columns, which include
    /// the diagonal, and returns the position of its first number in `value`.
    pub fn start_row(&mut self, columns: &[usize]) -> usize {
        let row = self.diagonal.len();
        let first = self.value.len();
        let at = columns.binary_search(&row).unwrap_or_else(|_| {
            panic!("row {row} of a block-sparse matrix lacks its diagonal block")
        });
        self.diagonal.push((self.column.len() + at) as u32);
        self.column.extend(columns.iter().map(|&j| j as u32));
        self.row_start.push(self.column.len() as u32);
        self.value
            .resize(first + columns.len() * self.size * self.size, 0.0);
        first
    }

    /// The finished matrix.
    pub fn finish(mut self) -> BlockSparse {
        self.value.push(0.0);
        BlockSparse {
            size: self.size,
            row_start: self.row_start,
            column: self.column,
            value: self.value,
            diagonal: self.diagonal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_multiply_like_the_scalar_matrix() {
        let rows = SparseRows::from_dense(
            4,
            4,
            &[
                1.0, 2.0, 0.0, 3.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 1.0, 0.0, 0.0, 2.0,
            ],
        );
        let blocks = BlockSparse::from_rows(&rows, 2);
        assert_eq!(blocks.stored_blocks(), 4);
        let x = [1.0, 2.0, 3.0, 4.0];
        let mut expected = vec![1.0; 4];
        rows.multiply_add(&x, &mut expected);
        let mut y = vec![0.0; 4];
        blocks.multiply_plus(&x, &[1.0; 4], &mut y);
        assert_eq!(y, expected);
        assert_eq!(blocks.to_rows(), rows);
        assert_eq!(blocks.trace(), 15.0);
    }
}
