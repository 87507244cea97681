//! Mechanical systems with unilateral and bilateral constraints.
