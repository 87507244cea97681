//! Numbers that cancel in a sum: by how much its value rounds, where all that varies in it is small.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

impl Graph {
    /// Sum of the sizes of the numbers that `expression` adds to what varies in it, through constant factors: 2 for
    /// `y + 1 - cos(x) + 2*(x - 0.5)`. Where the expression is zero, the varying terms are as large together.
    pub(in crate::scene) fn numbers_added(&self, expression: Expression) -> f64 {
        // Operands come first, and every one once however often it is used.
        let mut found = vec![0.0f64; expression.index() + 1];
        for node in self.reachable(&[expression]) {
            let of = |operand: Expression| found[operand.index()];
            let size = match self.node(node) {
                Node::Constant(bits) => f64::from_bits(bits).abs(),
                Node::Unary(Unary::Negate, a) => of(a),
                Node::Binary(Binary::Add | Binary::Subtract, a, b) => of(a) + of(b),
                Node::Binary(Binary::Multiply, a, b) => {
                    let factor = |k: Expression| self.constant_value(k).map(f64::abs);
                    match (factor(a), factor(b)) {
                        (Some(k), _) => k * of(b),
                        (None, Some(k)) => k * of(a),
                        (None, None) => 0.0,
                    }
                }
                Node::Binary(Binary::Divide, a, b) => match self.constant_value(b) {
                    Some(k) => of(a) / k.abs(),
                    None => 0.0,
                },
                Node::Binary(Binary::Min | Binary::Max, a, b) | Node::Select(_, a, b) => {
                    of(a).max(of(b))
                }
                _ => 0.0,
            };
            found[node.index()] = if size.is_finite() { size } else { 0.0 };
        }
        found[expression.index()]
    }
}
