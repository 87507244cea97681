//! Time-stepping schemes, one file each.
