//! Systems made of matrices: Matrix Market files and the API.

use std::sync::Arc;

use thiserror::Error;

use crate::algebra::sparse_rows::SparseRows;
use crate::algebra::{CholeskyFactor, SparsePattern, SparseSymmetric, SymmetricMatrix};
use crate::systems::{LinearPart, Sparsity, UnilateralConstraint};

use super::body::Body;
use super::nodes::NodeMap;
use super::system::Load;
use super::{ElastodynamicError, ElastodynamicSystem};

/// What is wrong with a Matrix Market file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MatrixMarketError {
    /// The first line is not a header that is understood.
    #[error(
        "line 1: `{found}` is not `%%MatrixMarket matrix coordinate|array real|integer general|symmetric`"
    )]
    Header {
        /// What was found.
        found: String,
    },
    /// A line that cannot be read.
    #[error("line {line}: `{found}`, expected {expected}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What was found.
        found: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A matrix larger than any system of this engine.
    #[error("line {line}: {rows} rows and {columns} columns, at most {ROWS_MAX} are read")]
    TooLarge {
        /// Number of the line, from 1.
        line: usize,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Fewer entries than promised.
    #[error("{found} entries, the file promises {expected}")]
    Entries {
        /// Entries found.
        found: usize,
        /// Entries promised.
        expected: usize,
    },
}

/// Most rows or columns: sixteen million, of which the largest system that fits a workstation needs a fourth.
const ROWS_MAX: usize = 1 << 24;

/// What the first two lines of a file say.
struct Head {
    coordinate: bool,
    symmetric: bool,
    rows: usize,
    columns: usize,
    /// Number of entries that follow.
    entries: usize,
}

/// A line of the file with its number from 0.
type Line<'a> = (usize, &'a str);

fn wrong((number, line): Line, expected: &'static str) -> MatrixMarketError {
    MatrixMarketError::Line {
        line: number + 1,
        found: line.chars().take(80).collect(),
        expected,
    }
}

/// Whether entries come with their place, and whether only a triangle is stored.
fn read_format(header: &str) -> Option<(bool, bool)> {
    let header = header.to_ascii_lowercase();
    let words: Vec<&str> = header.split_whitespace().collect();
    let [
        "%%matrixmarket",
        "matrix",
        format,
        "real" | "integer",
        symmetry,
    ] = words[..]
    else {
        return None;
    };
    let known =
        ["coordinate", "array"].contains(&format) && ["general", "symmetric"].contains(&symmetry);
    known.then_some((format == "coordinate", symmetry == "symmetric"))
}

fn read_size(line: Line, (coordinate, symmetric): (bool, bool)) -> Result<Head, MatrixMarketError> {
    let words = line.1.split_whitespace();
    let size: Option<Vec<usize>> = words.map(|word| word.parse().ok()).collect();
    let (rows, columns, entries) = match (size.as_deref(), coordinate) {
        (Some(&[rows, columns, entries]), true) => (rows, columns, Some(entries)),
        (Some(&[rows, columns]), false) => (rows, columns, None),
        (_, true) => return Err(wrong(line, "rows, columns and number of entries")),
        (_, false) => return Err(wrong(line, "rows and columns")),
    };
    if rows.max(columns) > ROWS_MAX {
        return Err(MatrixMarketError::TooLarge {
            line: line.0 + 1,
            rows,
            columns,
        });
    }
    if symmetric && rows != columns {
        return Err(wrong(line, "as many columns as rows, for it is symmetric"));
    }
    let stored = match symmetric {
        true => rows * (rows + 1) / 2,
        false => rows * columns,
    };
    Ok(Head {
        coordinate,
        symmetric,
        rows,
        columns,
        entries: entries.unwrap_or(stored),
    })
}

/// Reads a matrix in Matrix Market format (coordinate or array; real or integer; general or
/// symmetric, of which the stored triangle is mirrored).
pub fn read_matrix_market(text: &str) -> Result<SparseRows, MatrixMarketError> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line).trim();
    let format = read_format(header).ok_or_else(|| MatrixMarketError::Header {
        found: header.chars().take(80).collect(),
    })?;
    let mut data = lines.filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('%')
    });
    let head = read_size(data.next().unwrap_or((1, "")), format)?;
    let mut triplets = Vec::new();
    let mut found = 0;
    // Place of the next entry where places are not given.
    let (mut i, mut j) = (0, 0);
    for line in data {
        found += 1;
        let (at, x) = if head.coordinate {
            read_entry(line, &head)?
        } else {
            let x = line.1.trim().parse().ok();
            let x = x.ok_or_else(|| wrong(line, "one value"))?;
            if j >= head.columns {
                continue;
            }
            let at = (i, j);
            i += 1;
            if i == head.rows {
                j += 1;
                i = if head.symmetric { j } else { 0 };
            }
            (at, x)
        };
        triplets.push((at.0, at.1, x));
        if head.symmetric && at.0 != at.1 {
            triplets.push((at.1, at.0, x));
        }
    }
    if found != head.entries {
        let expected = head.entries;
        return Err(MatrixMarketError::Entries { found, expected });
    }
    Ok(SparseRows::from_triplets(
        head.rows,
        head.columns,
        &triplets,
    ))
}

/// An entry with its place, from 0.
fn read_entry(line: Line, head: &Head) -> Result<((usize, usize), f64), MatrixMarketError> {
    let words: Vec<&str> = line.1.split_whitespace().collect();
    let entry = match words[..] {
        [i, j, x] => i.parse().ok().zip(j.parse().ok()).zip(x.parse().ok()),
        _ => None,
    };
    let inside = |((i, j), _): &((usize, usize), f64)| {
        (1..=head.rows).contains(i) && (1..=head.columns).contains(j)
    };
    let ((i, j), x) = entry
        .filter(inside)
        .ok_or_else(|| wrong(line, "row, column and value inside the matrix"))?;
    Ok(((i - 1, j - 1), x))
}

/// Symmetric matrix on a pattern that holds its entries; refuses what is not symmetric.
fn symmetric(
    what: &'static str,
    matrix: &SparseRows,
    pattern: &Arc<SparsePattern>,
) -> Result<SymmetricMatrix, ElastodynamicError> {
    let mut out = SymmetricMatrix::from_sparse(SparseSymmetric::zeros(pattern.clone()));
    if let Some((i, j)) = matrix.first_not_finite() {
        return Err(ElastodynamicError::Matrix {
            what,
            problem: format!("entry ({i}, {j}) is not finite"),
        });
    }
    for i in 0..matrix.rows() {
        for (j, x) in matrix.row(i) {
            let sum = out.get(i, j) + x;
            out.set(i, j, sum);
        }
    }
    let asymmetry = out.asymmetry();
    if asymmetry > 1e-10 {
        return Err(ElastodynamicError::Matrix {
            what,
            problem: format!(
                "not symmetric: |a_ij − a_ji| reaches {asymmetry:e} of the largest entry"
            ),
        });
    }
    Ok(out)
}

impl ElastodynamicSystem {
    /// System of given matrices M, K, C with a constant load and constraints of the user, whose
    /// rows act on the same coordinates.
    pub fn from_matrices(
        mass: &SparseRows,
        stiffness: Option<&SparseRows>,
        damping: Option<&SparseRows>,
        load: Option<Vec<f64>>,
        constraints: Vec<UnilateralConstraint>,
    ) -> Result<Self, ElastodynamicError> {
        let n = mass.rows();
        let named = [("M", Some(mass)), ("K", stiffness), ("C", damping)];
        let pattern = Arc::new(common_pattern(n, named)?);
        if let Some(load) = &load {
            if load.len() != n {
                return Err(ElastodynamicError::Matrix {
                    what: "F",
                    problem: format!("{} entries, M has {n} rows", load.len()),
                });
            }
        }
        let part = |what, matrix: Option<&SparseRows>| {
            matrix
                .map(|matrix| symmetric(what, matrix, &pattern))
                .transpose()
        };
        let mass = symmetric("M", mass, &pattern)?;
        let linear = LinearPart {
            stiffness: part("K", stiffness)?,
            damping: part("C", damping)?,
            compensated: true,
            translations: Vec::new(),
        };
        check_definite(&mass, &linear)?;
        let mut body = Body::new("body1".to_string());
        body.dofs = (0..n as u32).collect();
        let names = |letter: char| (1..=n).map(|i| format!("{letter}{i}")).collect();
        Ok(Self {
            mesh: None,
            nodes: Arc::new(NodeMap {
                space: 1,
                x: Vec::new(),
                first: vec![0],
                free: Vec::new(),
                motion: Vec::new(),
                motions: Vec::new(),
                free_count: n,
            }),
            assembly: None,
            mass,
            linear,
            rayleigh: (0.0, 0.0),
            couplings: Vec::new(),
            loads: load
                .map(|values| Load {
                    values,
                    factor: None,
                })
                .into_iter()
                .collect(),
            sparsity: Some(Sparsity {
                pattern,
                contact_dofs: Vec::new(),
            }),
            constraints,
            surfaces: Vec::new(),
            bodies: vec![body],
            coordinate_names: names('q'),
            velocity_names: names('v'),
            finite: None,
        })
    }
}

/// The entries of any of these matrices of `n` rows, and their mirror images.
fn common_pattern(
    n: usize,
    named: [(&'static str, Option<&SparseRows>); 3],
) -> Result<SparsePattern, ElastodynamicError> {
    let mut rows = vec![Vec::new(); n];
    for (what, matrix) in named {
        let Some(matrix) = matrix else { continue };
        let size = (matrix.rows(), matrix.columns());
        if size != (n, n) {
            let problem = format!("{} rows and {} columns, M has {n} rows", size.0, size.1);
            return Err(ElastodynamicError::Matrix { what, problem });
        }
        for i in 0..n {
            for (j, _) in matrix.row(i) {
                rows[i].push(j as u32);
                rows[j].push(i as u32);
            }
        }
    }
    Ok(SparsePattern::from_rows(&rows))
}

/// M + K must be positive definite: every motion has inertia or meets a spring.
fn check_definite(mass: &SymmetricMatrix, linear: &LinearPart) -> Result<(), ElastodynamicError> {
    let mut sum = mass.clone();
    if let Some(stiffness) = &linear.stiffness {
        sum.add_scaled(1.0, stiffness);
    }
    let factored = CholeskyFactor::default().factor(&sum);
    factored.map_err(|row| ElastodynamicError::Matrix {
        what: "M + K",
        problem: format!("not positive definite at row {}", row + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinate_and_array_forms_give_the_same_matrix() {
        let a = read_matrix_market(
            "%%MatrixMarket matrix coordinate real symmetric\n% comment\n2 2 3\n1 1 2.0\n2 1 -1e0\n2 2 3\n",
        )
        .unwrap();
        let b = read_matrix_market("%%MatrixMarket matrix array real symmetric\n2 2\n2\n-1\n3\n")
            .unwrap();
        assert_eq!(a, b);
        let full =
            read_matrix_market("%%MatrixMarket matrix array real general\n2 2\n2\n-1\n-1\n3\n");
        assert_eq!(a, full.unwrap());
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let short = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n";
        assert_eq!(
            read_matrix_market(short).unwrap_err(),
            MatrixMarketError::Entries {
                found: 1,
                expected: 2
            }
        );
        let outside = "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 2.0\n";
        assert!(matches!(
            read_matrix_market(outside).unwrap_err(),
            MatrixMarketError::Line { line: 3, .. }
        ));
        assert!(read_matrix_market("hello").is_err());
        // Sizes that promise more than a file can hold, or overflow when multiplied, allocate nothing.
        let huge = "%%MatrixMarket matrix coordinate real general\n99999999999 99999999999 0\n";
        let refused = read_matrix_market(huge).unwrap_err();
        assert!(matches!(
            refused,
            MatrixMarketError::TooLarge { line: 2, .. }
        ));
        let array = format!(
            "%%MatrixMarket matrix array real symmetric\n{0} {0}\n",
            u64::MAX
        );
        assert!(read_matrix_market(&array).is_err());
        let oblong = "%%MatrixMarket matrix array real symmetric\n2 3\n1\n1\n1\n";
        assert!(read_matrix_market(oblong).is_err());
    }
}
