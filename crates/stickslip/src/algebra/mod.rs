//! Vectors, matrices, factorizations and automatic differentiation.

pub mod ball_quadratic;
pub mod root;
pub mod small_dense;
