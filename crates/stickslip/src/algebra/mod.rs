//! Vectors, matrices, factorizations and automatic differentiation.

pub mod ball_quadratic;
pub mod block_sparse;
pub mod dense;
pub mod root;
pub mod small_dense;
pub mod sparse_factor;
pub mod sparse_rows;
