//! The loop that joins system, scheme, solver and records.
