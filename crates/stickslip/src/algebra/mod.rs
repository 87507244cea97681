//! Vectors, matrices, factorizations and automatic differentiation.
