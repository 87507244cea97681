//! Friction sets and impact laws: convex analysis, no time, no bodies.
