//! Vectors, matrices, factorizations and automatic differentiation.

pub mod ball_quadratic;
pub mod block_sparse;
pub mod root;
pub mod small_dense;
pub mod small_inverse;
pub mod sparse_factor;
pub mod sparse_rows;
