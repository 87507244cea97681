//! Vectors, matrices, factorizations and automatic differentiation.
//!
//! The only module that names the linear-algebra crates in depth. Use it to hand matrices to a
//! system; nothing here knows mechanics.

pub(crate) mod autodiff;
pub(crate) mod ball_quadratic;
pub(crate) mod block_sparse;
pub(crate) mod cholesky;
pub(crate) mod compensated;
pub(crate) mod compliance;
pub(crate) mod cone_program;
pub(crate) mod covectors;
pub(crate) mod eigen2;
pub(crate) mod feasibility;
mod image_part;
mod jet;
pub(crate) mod lcp;
mod lorentz;
pub(crate) mod memory;
pub(crate) mod multifrontal;
mod pivoted_cholesky;
pub(crate) mod projected_newton;
pub(crate) mod rank_revealing;
pub(crate) mod root;
pub(crate) mod small_dense;
pub(crate) mod small_inverse;
pub(crate) mod spanning_rows;
pub(crate) mod sparse_cholesky;
pub(crate) mod sparse_factor;
pub(crate) mod sparse_rows;
pub(crate) mod sparse_symmetric;
pub(crate) mod splitmix;
mod symmetric;
pub(crate) mod vectors;

pub(crate) use cholesky::CholeskyFactor;
pub(crate) use compensated::CompensatedSum;
pub(crate) use compensated::long_dot;
pub(crate) use compliance::Compliance;
pub(crate) use covectors::Covectors;
pub(crate) use image_part::keep_image_part;
pub use jet::Jet;
pub(crate) use pivoted_cholesky::PivotedCholesky;
pub use sparse_rows::{SparseRows, SparseRowsError};
pub(crate) use sparse_symmetric::{SparsePattern, SparseSymmetric};
pub use symmetric::SymmetricMatrix;
pub(crate) use vectors::{
    absolute_dot, add_scaled, assign, assign_difference, assign_middle, assign_scaled,
    assign_zeros, copy, cross, dot, largest_size, weighted_distance_square, weighted_square, widen,
    write_between,
};
