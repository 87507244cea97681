//! Compressed sparse rows of scalars: the form in which matrices enter from files
//! and from other codes.

use thiserror::Error;

/// What is wrong with a sparse matrix given from outside.
#[derive(Debug, Error, PartialEq)]
pub enum SparseRowsError {
    /// The row pointers are not a non-decreasing list from 0 to the number of entries.
    #[error("row pointers are wrong at row {row}")]
    RowPointers {
        /// First offending row.
        row: usize,
    },
    /// A column index lies outside the matrix.
    #[error("entry {entry} of row {row} names column {column} of a matrix with {columns} columns")]
    Column {
        /// Row of the entry.
        row: usize,
        /// Position in the list of entries.
        entry: usize,
        /// The offending index.
        column: i64,
        /// Number of columns.
        columns: usize,
    },
    /// Lists of different length.
    #[error("{indices} indices but {values} values")]
    Lengths {
        /// Number of indices.
        indices: usize,
        /// Number of values.
        values: usize,
    },
}

/// Sparse matrix by rows; several entries at one position add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    columns: usize,
    row_start: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
}

impl SparseRows {
    /// Checks and takes over the usual three arrays.
    pub fn new(
        columns: usize,
        row_start: Vec<usize>,
        column: Vec<usize>,
        value: Vec<f64>,
    ) -> Result<Self, SparseRowsError> {
        if column.len() != value.len() {
            return Err(SparseRowsError::Lengths {
                indices: column.len(),
                values: value.len(),
            });
        }
        if row_start.first() != Some(&0) || row_start.last() != Some(&column.len()) {
            return Err(SparseRowsError::RowPointers { row: 0 });
        }
        for (row, pair) in row_start.windows(2).enumerate() {
            if pair[0] > pair[1] || pair[1] > column.len() {
                return Err(SparseRowsError::RowPointers { row });
            }
            for (entry, &index) in column.iter().enumerate().take(pair[1]).skip(pair[0]) {
                if index >= columns {
                    return Err(SparseRowsError::Column {
                        row,
                        entry,
                        column: index as i64,
                        columns,
                    });
                }
            }
        }
        Ok(Self {
            columns,
            row_start,
            column,
            value,
        })
    }

    /// Matrix from triplets (row, column, value) in any order; equal positions add up.
    ///
    /// # Panics
    /// If an index lies outside the matrix.
    pub fn from_triplets(rows: usize, columns: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut order: Vec<usize> = (0..triplets.len()).collect();
        order.sort_by_key(|&k| (triplets[k].0, triplets[k].1));
        let mut matrix = Self {
            columns,
            row_start: vec![0; rows + 1],
            column: Vec::with_capacity(triplets.len()),
            value: Vec::with_capacity(triplets.len()),
        };
        let mut last = None;
        for k in order {
            let (i, j, x) = triplets[k];
            assert!(
                i < rows && j < columns,
                "triplet ({i}, {j}) outside a {rows} x {columns} matrix"
            );
            if last == Some((i, j)) {
                // The list is sorted, so the entry to add to is the last one written.
                if let Some(value) = matrix.value.last_mut() {
                    *value += x;
                }
            } else {
                matrix.column.push(j);
                matrix.value.push(x);
                matrix.row_start[i + 1] += 1;
                last = Some((i, j));
            }
        }
        for i in 0..rows {
            matrix.row_start[i + 1] += matrix.row_start[i];
        }
        matrix
    }

    /// Dense row-major matrix, zeros left out.
    pub fn from_dense(rows: usize, columns: usize, values: &[f64]) -> Self {
        assert_eq!(
            values.len(),
            rows * columns,
            "dense matrix of the stated size"
        );
        let mut matrix = Self {
            columns,
            row_start: vec![0],
            column: Vec::new(),
            value: Vec::new(),
        };
        for row in values.chunks(columns.max(1)).take(rows) {
            for (j, &x) in row.iter().enumerate() {
                if x != 0.0 {
                    matrix.column.push(j);
                    matrix.value.push(x);
                }
            }
            matrix.row_start.push(matrix.column.len());
        }
        matrix
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.value.len()
    }

    /// Row pointers, column indices and values.
    pub fn parts(&self) -> (&[usize], &[usize], &[f64]) {
        (&self.row_start, &self.column, &self.value)
    }

    /// Entries (column, value) of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.row_start[i]..self.row_start[i + 1]).map(|k| (self.column[k], self.value[k]))
    }

    /// y += A x.
    pub(crate) fn multiply_add(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate().take(self.rows()) {
            *y += self.row(i).map(|(j, a)| a * x[j]).sum::<f64>();
        }
    }

    /// y += Aᵀ x.
    pub(crate) fn multiply_transpose_add(&self, x: &[f64], y: &mut [f64]) {
        for (i, &x) in x.iter().enumerate().take(self.rows()) {
            for (j, a) in self.row(i) {
                y[j] += a * x;
            }
        }
    }

    /// The transposed matrix, each row sorted by column.
    pub(crate) fn transposed(&self) -> Self {
        let mut start = vec![0; self.columns + 1];
        for &j in &self.column {
            start[j + 1] += 1;
        }
        for j in 0..self.columns {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut column = vec![0; self.column.len()];
        let mut value = vec![0.0; self.column.len()];
        for i in 0..self.rows() {
            for (j, a) in self.row(i) {
                column[next[j]] = i;
                value[next[j]] = a;
                next[j] += 1;
            }
        }
        Self {
            columns: self.rows(),
            row_start: start,
            column,
            value,
        }
    }

    /// Position (row, column) of the first entry that is not a finite number.
    pub(crate) fn first_not_finite(&self) -> Option<(usize, usize)> {
        (0..self.rows()).find_map(|i| {
            self.row(i)
                .find(|(_, a)| !a.is_finite())
                .map(|(j, _)| (i, j))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_add_up_and_transpose() {
        let a = SparseRows::from_triplets(2, 3, &[(1, 2, 1.0), (0, 1, 2.0), (1, 2, 3.0)]);
        assert_eq!(a.entries(), 2);
        let mut y = vec![0.0; 2];
        a.multiply_add(&[1.0, 10.0, 100.0], &mut y);
        assert_eq!(y, [20.0, 400.0]);
        let mut z = vec![0.0; 3];
        a.multiply_transpose_add(&[1.0, 1.0], &mut z);
        assert_eq!(z, [0.0, 2.0, 4.0]);
        assert_eq!(a.transposed().transposed(), a);
    }

    #[test]
    fn wrong_column_is_named() {
        let error = SparseRows::new(2, vec![0, 1], vec![2], vec![1.0]).unwrap_err();
        assert!(matches!(
            error,
            SparseRowsError::Column {
                row: 0,
                column: 2,
                ..
            }
        ));
    }
}
