//! The operator W in the forms that systems have.

mod bodies;

pub use bodies::{BodyOperator, NO_BODY};
