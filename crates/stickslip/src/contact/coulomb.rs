//! Coulomb problems from matrices: the discrete Coulomb law of one step, free of bodies and of time.
//!
//! Local form: find r, u with
//!
//! ```text
//! u = W r + q,     K* ∋ u + μ|u_T| e_N  ⊥  r ∈ K = { |r_T| ≤ μ r_N }   contact by contact.
//! ```
//!
//! Components of a contact are ordered normal, tangents. W need not be symmetric (implicit gyroscopic terms) and is singular in
//! most rigid problems.
//!
//! # Example
//!
//! ```
//! use stickslip::contact::{ContactProblem, ContactResidual};
//! // One contact, W = I, sliding.
//! let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
//! let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5]).unwrap();
//! let residual = ContactResidual::of(&problem, &[1.0, 0.5, 0.0]);
//! assert!(residual.worst() < 1e-15);
//! ```

use crate::algebra::block_sparse::BlockSparse;
use crate::algebra::sparse_rows::SparseRows;
use crate::laws::{FlowRule, FrictionSection};
use thiserror::Error;

use super::delassus::{BlockDelassus, BodyForm, Delassus};
use super::{BlockKind, ContactBlock, ContactKey, ContactProblem};

/// Why a problem was refused.
#[derive(Debug, Error, PartialEq)]
pub enum ContactProblemError {
    /// Only problems in the plane and in space exist.
    #[error("space dimension {0}, expected 2 or 3")]
    Dimension(usize),
    /// A vector or matrix of the wrong size.
    #[error("{what} has {found} rows or entries, expected {expected}")]
    Size {
        /// Name of the offending part.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size the rest of the problem asks for.
        expected: usize,
    },
    /// A number that is not finite.
    #[error("{what} is not finite at row {row}, column {column}")]
    NotFinite {
        /// Name of the offending part.
        what: &'static str,
        /// Row or index.
        row: usize,
        /// Column, 0 for vectors.
        column: usize,
    },
    /// A negative friction coefficient.
    #[error("friction coefficient {value} of contact {contact} is negative")]
    NegativeFriction {
        /// Offending contact.
        contact: usize,
        /// Its coefficient.
        value: f64,
    },
    /// The problem does not fit into memory.
    #[error(transparent)]
    Memory(#[from] crate::algebra::memory::MemoryError),
    /// The mass matrix cannot be inverted.
    #[error("the mass matrix is singular near row {row}")]
    SingularMass {
        /// First degree of freedom of the singular part.
        row: usize,
    },
}

/// Space dimension and friction coefficients of a plain Coulomb problem.
#[derive(Clone, Debug, PartialEq)]
pub struct CoulombData {
    /// 2 or 3.
    pub dimension: usize,
    /// μ of each contact.
    pub friction: Vec<f64>,
}

impl ContactProblem {
    /// Coulomb problem with a block-sparse W whose block size is the space dimension.
    #[doc(hidden)]
    pub fn coulomb(
        matrix: BlockSparse,
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, ContactProblemError> {
        let dimension = matrix.block_size();
        check_dimension(dimension)?;
        check_size("q", free_velocity.len(), dimension * matrix.blocks())?;
        check_size("mu", friction.len(), matrix.blocks())?;
        check_vector("q", &free_velocity)?;
        check_friction(&friction)?;
        check_matrix("W", matrix.first_not_finite())?;
        let blocks = friction.iter().enumerate().map(|(i, &mu)| ContactBlock {
            key: ContactKey::declared(i, 0),
            start: dimension * i,
            size: dimension,
            section: FrictionSection::Disc {
                mu,
                dimension: dimension - 1,
            },
            flow_rule: FlowRule::Coulomb,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        });
        let delassus = Delassus::Blocks(Box::new(BlockDelassus {
            matrix,
            bodies: None,
        }));
        Ok(Self::from_local(delassus, free_velocity, blocks.collect()))
    }

    /// Coulomb problem with a sparse W.
    pub fn coulomb_from_rows(
        dimension: usize,
        matrix: &SparseRows,
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, ContactProblemError> {
        check_dimension(dimension)?;
        check_size("W", matrix.rows(), dimension * friction.len())?;
        check_size("W columns", matrix.columns(), dimension * friction.len())?;
        check_matrix("W", matrix.first_not_finite())?;
        let matrix = BlockSparse::from_rows(matrix, dimension);
        Self::coulomb(matrix, free_velocity, friction)
    }

    /// Coulomb problem with a dense row-major W.
    pub fn coulomb_from_dense(
        dimension: usize,
        matrix: &[f64],
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, ContactProblemError> {
        let order = free_velocity.len();
        check_size("W", matrix.len(), order * order)?;
        let bad = matrix.iter().position(|a| !a.is_finite());
        check_matrix("W", bad.map(|k| (k / order, k % order)))?;
        let rows = SparseRows::from_dense(order, order, matrix);
        Self::coulomb_from_rows(dimension, &rows, free_velocity, friction)
    }

    /// Dimension and coefficients, if every block is a contact with Coulomb's law and a disc (in the plane an interval
    /// symmetric about zero) of one dimension; that is what files in the FCLIB format can say.
    #[doc(hidden)]
    pub fn coulomb_data(&self) -> Option<CoulombData> {
        let dimension = self.blocks().first().map_or(3, |block| block.size);
        let friction = self.blocks().iter().map(|block| {
            let plain = block.size == dimension
                && block.flow_rule == FlowRule::Coulomb
                && block.kind == (BlockKind::Unilateral { minimum: 0.0 });
            match &block.section {
                FrictionSection::Disc { mu, .. } if plain => Some(*mu),
                FrictionSection::Interval { lower, upper } if plain && *lower == -*upper => {
                    Some(*upper)
                }
                _ => None,
            }
        });
        let friction = friction.collect::<Option<Vec<f64>>>()?;
        matches!(dimension, 2 | 3).then_some(CoulombData {
            dimension,
            friction,
        })
    }

    /// Attaches the bodies behind a block-sparse W; solvers may then work on their freedoms.
    ///
    /// # Panics
    /// If W has another form, or the bodies are not those of its contacts.
    #[doc(hidden)]
    pub fn with_bodies(mut self, bodies: BodyForm) -> Self {
        assert_eq!(
            bodies.links.len(),
            self.blocks().len(),
            "one list of bodies per contact"
        );
        match self.delassus_mut() {
            Delassus::Blocks(blocks) => blocks.bodies = Some(bodies),
            _ => panic!("bodies stand behind a block-sparse W"),
        }
        self
    }
}

fn check_dimension(dimension: usize) -> Result<(), ContactProblemError> {
    match dimension {
        2 | 3 => Ok(()),
        other => Err(ContactProblemError::Dimension(other)),
    }
}

/// Refuses a matrix with an entry that is not finite.
pub(crate) fn check_matrix(
    what: &'static str,
    first_not_finite: Option<(usize, usize)>,
) -> Result<(), ContactProblemError> {
    match first_not_finite {
        None => Ok(()),
        Some((row, column)) => Err(ContactProblemError::NotFinite { what, row, column }),
    }
}

pub(crate) fn check_size(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), ContactProblemError> {
    if found == expected {
        Ok(())
    } else {
        Err(ContactProblemError::Size {
            what,
            found,
            expected,
        })
    }
}

pub(crate) fn check_vector(what: &'static str, x: &[f64]) -> Result<(), ContactProblemError> {
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(row) => Err(ContactProblemError::NotFinite {
            what,
            row,
            column: 0,
        }),
    }
}

pub(crate) fn check_friction(friction: &[f64]) -> Result<(), ContactProblemError> {
    check_vector("mu", friction)?;
    match friction.iter().position(|&mu| mu < 0.0) {
        None => Ok(()),
        Some(contact) => Err(ContactProblemError::NegativeFriction {
            contact,
            value: friction[contact],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_data_is_refused_with_its_place() {
        let mut w = vec![0.0; 9];
        w[5] = f64::NAN;
        let error = ContactProblem::coulomb_from_dense(3, &w, vec![0.0; 3], vec![0.1]).unwrap_err();
        assert_eq!(
            error,
            ContactProblemError::NotFinite {
                what: "W",
                row: 1,
                column: 2
            }
        );
        let error = ContactProblem::coulomb_from_dense(
            3,
            &[0.0; 9],
            vec![0.0, 0.0, f64::INFINITY],
            vec![0.1],
        )
        .unwrap_err();
        assert_eq!(
            error,
            ContactProblemError::NotFinite {
                what: "q",
                row: 2,
                column: 0
            }
        );
    }

    #[test]
    fn negative_friction_is_refused() {
        let error =
            ContactProblem::coulomb_from_dense(3, &[0.0; 9], vec![0.0; 3], vec![-0.1]).unwrap_err();
        assert!(matches!(
            error,
            ContactProblemError::NegativeFriction { contact: 0, .. }
        ));
    }
}
