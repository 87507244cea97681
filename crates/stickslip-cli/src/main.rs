//! The `stickslip` command line: a thin front end without numerics.

fn main() {}
