//! Scene files: expressions, parsing, building a simulation, the gallery.

pub mod expression;
