//! Solvers of the one-step contact problem, one file per method.

pub mod one_contact;
