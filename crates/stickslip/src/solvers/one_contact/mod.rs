//! Exact solvers of one contact, one file per friction section.

pub mod coulomb_disc;
