//! Vectors, matrices, factorizations and automatic differentiation.
//!
//! The only module that names the linear-algebra crates in depth. Use it to hand matrices to a
//! system; nothing here knows mechanics.

pub mod autodiff;
pub mod ball_quadratic;
pub mod block_sparse;
pub(crate) mod compensated;
pub mod compliance;
mod covectors;
pub mod eigen2;
pub mod feasibility;
mod jet;
pub mod lcp;
pub mod multifrontal;
pub mod rank_revealing;
pub mod root;
pub mod small_dense;
pub mod small_inverse;
pub mod spanning_rows;
pub mod sparse_cholesky;
pub mod sparse_factor;
pub mod sparse_rows;
pub mod sparse_symmetric;
mod symmetric;

pub(crate) use compensated::CompensatedSum;
pub use compensated::long_dot;
pub use compliance::Compliance;
pub use covectors::Covectors;
pub use jet::Jet;
pub use sparse_symmetric::{SparsePattern, SparseSymmetric};
pub use symmetric::{CholeskyFactor, PivotedCholesky, SymmetricMatrix, dot};
