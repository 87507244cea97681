//! Expressions of scene files: parsed, differentiated, compiled.
//!
//! A scene gives its mechanics as text: kinetic energy, potential, gaps, contact points. This
//! module turns such text into straight-line code on `f64` that evaluates many outputs at once:
//!
//! ```text
//! text -> tokens -> parser -> Graph (shared, simplified) -> derivatives -> Tape
//! ```
//!
//! * [`parse()`] reads one expression into a [`Graph`]; names are resolved through a [`Scope`].
//! * [`Graph`] stores every distinct subexpression once, folds constants and simplifies.
//! * [`Graph::gradient`] and [`Graph::directional_derivative`] differentiate symbolically; the
//!   results live in the same graph, so second derivatives and shared subexpressions cost nothing
//!   extra.
//! * [`Tape::compile`] flattens any number of outputs into one list of instructions.
//!
//! An expression is data: it cannot loop, recurse, allocate without bound or fail at run time
//! otherwise than by returning a NaN or an infinity. Length, nesting and size are limited (see
//! [`LENGTH_MAX`], [`DEPTH_MAX`], [`Graph::NODES_MAX`]).
//!
//! Not for use as a general computer algebra system: there are no patterns, no expansion and no
//! integration.
//!
//! ```
//! use stickslip::internals::expression::{parse, Graph, Scope, Tape};
//!
//! let mut graph = Graph::new();
//! let mut scope = Scope::new();
//! let x = graph.input(0);
//! scope.define("x", x);
//! let f = parse("sin(x)^2 / 2", &mut graph, &scope).unwrap();
//! let df = graph.gradient(f, &[0])[0];
//! let tape = Tape::compile(&graph, &[f, df]);
//! let mut registers = tape.registers();
//! let mut out = [0.0; 2];
//! tape.evaluate(&[0.3], &mut registers, &mut out);
//! assert!((out[1] - 0.3_f64.sin() * 0.3_f64.cos()).abs() < 1e-15);
//! ```

mod borders;
mod bounds;
mod cancelling;
mod curves;
mod derivative;
mod domain;
mod error;
mod flat_places;
mod function;
mod generic;
mod graph;
mod growth;
mod kinks;
mod magnitude;
mod narrowing;
mod nearest;
mod operation;
mod parser;
mod past;
mod past_smoothness;
mod places;
mod proof;
mod region;
mod rounded;
mod sampled;
mod scope;
mod smoothness;
mod switches;
mod tape;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use domain::Domain;
pub use error::{ExpressionError, Mistake};
pub use function::functions;
pub(crate) use graph::Node;
pub use graph::{Expression, Graph};
pub(crate) use growth::both;
pub(crate) use nearest::nearest_name;
pub(crate) use operation::{Binary, Unary};
pub use parser::parse;
pub(crate) use past::{Functional, PastDetail, PastTerm};
pub(crate) use sampled::{Beyond, Joining, SampledFunction};
pub use scope::Scope;
pub(crate) use smoothness::Smoothness;
pub use tape::Tape;
