//! The discrete Coulomb problem of one step, free of bodies and of time.
//!
//! Local form: find r, u with
//!
//! ```text
//! u = W r + q,     K* ∋ u + μ|u_T| e_N  ⊥  r ∈ K = { |r_T| ≤ μ r_N }   contact by contact.
//! ```
//!
//! Global form: M v = H r + f, u = Hᵀ v + w under the same law; then W = Hᵀ M⁻¹ H and
//! q = Hᵀ M⁻¹ f + w. Components of a contact are ordered normal, tangents. W need not be
//! symmetric (implicit gyroscopic terms) and is singular in most rigid problems.
//!
//! # Example
//!
//! ```
//! use stickslip::algebra::sparse_rows::SparseRows;
//! use stickslip::contact::coulomb_problem::CoulombProblem;
//! // One contact, W = I, sliding.
//! let w = SparseRows::from_dense(3, 3, &[1., 0., 0., 0., 1., 0., 0., 0., 1.]);
//! let problem = CoulombProblem::from_rows(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5]).unwrap();
//! let residual = stickslip::contact::coulomb_residual::CoulombResidual::of(&problem, &[1.0, 0.5, 0.0]);
//! assert!(residual.error < 1e-15);
//! ```

use crate::algebra::block_sparse::BlockSparse;
use crate::algebra::sparse_rows::SparseRows;
use thiserror::Error;

/// Why a Coulomb problem was refused.
#[derive(Debug, Error, PartialEq)]
pub enum CoulombProblemError {
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
    /// The mass matrix cannot be inverted.
    #[error("the mass matrix is singular near row {row}")]
    SingularMass {
        /// First degree of freedom of the singular part.
        row: usize,
    },
}

/// Part of the degrees of freedom that no mass entry couples to the others (a body), seen from one contact.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLink {
    /// Index of the body.
    pub body: usize,
    /// Rows of Hᵀ of the contact on the freedoms of the body: d × size, row-major.
    pub jacobian: Vec<f64>,
}

/// Mass and jacobian behind W = Hᵀ M⁻¹ H, where M is block-diagonal with small blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyForm {
    /// Degrees of freedom of each body, as indices of the global problem.
    pub freedoms: Vec<Vec<usize>>,
    /// Mass block of each body, row-major.
    pub mass: Vec<Vec<f64>>,
    /// Inverse mass block of each body, row-major.
    pub inverse_mass: Vec<Vec<f64>>,
    /// Bodies each contact acts on.
    pub links: Vec<Vec<BodyLink>>,
}

/// Coulomb problem in local form.
#[derive(Clone, Debug, PartialEq)]
pub struct CoulombProblem {
    dimension: usize,
    matrix: BlockSparse,
    free_velocity: Vec<f64>,
    friction: Vec<f64>,
    bodies: Option<BodyForm>,
}

impl CoulombProblem {
    /// Problem with a block-sparse W whose block size is the space dimension.
    pub fn new(
        matrix: BlockSparse,
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, CoulombProblemError> {
        let dimension = matrix.block_size();
        if dimension != 2 && dimension != 3 {
            return Err(CoulombProblemError::Dimension(dimension));
        }
        check_size("q", free_velocity.len(), dimension * matrix.blocks())?;
        check_size("mu", friction.len(), matrix.blocks())?;
        check_vector("q", &free_velocity)?;
        check_friction(&friction)?;
        if let Some((row, column)) = matrix.first_not_finite() {
            return Err(CoulombProblemError::NotFinite {
                what: "W",
                row,
                column,
            });
        }
        Ok(Self {
            dimension,
            matrix,
            free_velocity,
            friction,
            bodies: None,
        })
    }

    /// Problem with a sparse W.
    pub fn from_rows(
        dimension: usize,
        matrix: &SparseRows,
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, CoulombProblemError> {
        if dimension != 2 && dimension != 3 {
            return Err(CoulombProblemError::Dimension(dimension));
        }
        check_size("W", matrix.rows(), dimension * friction.len())?;
        check_size("W columns", matrix.columns(), dimension * friction.len())?;
        if let Some((row, column)) = matrix.first_not_finite() {
            return Err(CoulombProblemError::NotFinite {
                what: "W",
                row,
                column,
            });
        }
        Self::new(
            BlockSparse::from_rows(matrix, dimension),
            free_velocity,
            friction,
        )
    }

    /// Problem with a dense row-major W.
    pub fn from_dense(
        dimension: usize,
        matrix: &[f64],
        free_velocity: Vec<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, CoulombProblemError> {
        let order = free_velocity.len();
        check_size("W", matrix.len(), order * order)?;
        if let Some(k) = matrix.iter().position(|a| !a.is_finite()) {
            return Err(CoulombProblemError::NotFinite {
                what: "W",
                row: k / order,
                column: k % order,
            });
        }
        let rows = SparseRows::from_dense(order, order, matrix);
        Self::from_rows(dimension, &rows, free_velocity, friction)
    }

    /// Attaches the bodies behind W; solvers may then work on their freedoms.
    pub fn with_bodies(mut self, bodies: BodyForm) -> Self {
        assert_eq!(
            bodies.links.len(),
            self.contacts(),
            "one list of bodies per contact"
        );
        self.bodies = Some(bodies);
        self
    }

    /// Space dimension, 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    /// W.
    pub fn matrix(&self) -> &BlockSparse {
        &self.matrix
    }

    /// q, the velocity without impulses.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free_velocity
    }

    /// μ of each contact.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// Bodies behind W, where known.
    pub fn bodies(&self) -> Option<&BodyForm> {
        self.bodies.as_ref()
    }

    /// u = W r + q.
    pub fn velocity(&self, impulse: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; impulse.len()];
        self.matrix
            .multiply_plus(impulse, &self.free_velocity, &mut u);
        u
    }
}

pub(crate) fn check_size(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), CoulombProblemError> {
    if found == expected {
        Ok(())
    } else {
        Err(CoulombProblemError::Size {
            what,
            found,
            expected,
        })
    }
}

pub(crate) fn check_vector(what: &'static str, x: &[f64]) -> Result<(), CoulombProblemError> {
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(row) => Err(CoulombProblemError::NotFinite {
            what,
            row,
            column: 0,
        }),
    }
}

pub(crate) fn check_friction(friction: &[f64]) -> Result<(), CoulombProblemError> {
    check_vector("mu", friction)?;
    match friction.iter().position(|&mu| mu < 0.0) {
        None => Ok(()),
        Some(contact) => Err(CoulombProblemError::NegativeFriction {
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
        let error = CoulombProblem::from_dense(3, &w, vec![0.0; 3], vec![0.1]).unwrap_err();
        assert_eq!(
            error,
            CoulombProblemError::NotFinite {
                what: "W",
                row: 1,
                column: 2
            }
        );
        let error =
            CoulombProblem::from_dense(3, &[0.0; 9], vec![0.0, 0.0, f64::INFINITY], vec![0.1])
                .unwrap_err();
        assert_eq!(
            error,
            CoulombProblemError::NotFinite {
                what: "q",
                row: 2,
                column: 0
            }
        );
    }

    #[test]
    fn negative_friction_is_refused() {
        let error = CoulombProblem::from_dense(3, &[0.0; 9], vec![0.0; 3], vec![-0.1]).unwrap_err();
        assert!(matches!(
            error,
            CoulombProblemError::NegativeFriction { contact: 0, .. }
        ));
    }
}
