//! Solvers of the one-step contact problem, one file per method.
