//! The one-step contact problem, its solution, residuals and certificates.
