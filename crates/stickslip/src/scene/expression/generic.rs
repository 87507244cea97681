//! Values of expressions in which functions are indeterminates.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

impl Graph {
    /// Values at numbers drawn for every input and for every node that is no sum, difference, product or quotient: the same node has the same
    /// number. What vanishes at some such draws vanishes identically, wherever its functions have their features; an identity between functions
    /// (sin² + cos² = 1) is not seen.
    #[must_use]
    pub fn generic_values(&self, roots: &[Expression], draw: u64) -> Vec<f64> {
        let last = roots.iter().map(|root| root.index() + 1).max();
        let mut values = vec![0.0; last.unwrap_or(0)];
        for node in self.reachable(roots) {
            let of = |a: Expression| values[a.index()];
            values[node.index()] = match self.node(node) {
                Node::Constant(bits) => f64::from_bits(bits),
                Node::Unary(Unary::Negate, a) => -of(a),
                Node::Binary(Binary::Add, a, b) => of(a) + of(b),
                Node::Binary(Binary::Subtract, a, b) => of(a) - of(b),
                Node::Binary(Binary::Multiply, a, b) => of(a) * of(b),
                Node::Binary(Binary::Divide, a, b) => of(a) / of(b),
                _ => indeterminate(node.index() as u64, draw),
            };
        }
        roots.iter().map(|root| values[root.index()]).collect()
    }
}

/// A number of size 1/2 to 3/2 and either sign that depends on the node and the draw alone.
fn indeterminate(node: u64, draw: u64) -> f64 {
    let mut bits = (node << 8 | draw).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    let size = 0.5 + (bits >> 12) as f64 / (1u64 << 52) as f64;
    if bits & 1 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::super::{Scope, parse};
    use super::*;

    fn vanishes(text: &str) -> bool {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (k, name) in ["x", "y"].into_iter().enumerate() {
            let input = graph.input(k);
            scope.define(name, input);
        }
        let root = parse(text, &mut graph, &scope).expect("an expression");
        (0..3).all(|draw| graph.generic_values(&[root], draw)[0].abs() < 1e-14)
    }

    #[test]
    fn what_vanishes_somewhere_only_is_told_from_what_vanishes() {
        for identity in [
            "(x + y)^2 - x^2 - 2*x*y - y^2",
            "exp(x)*(y - 1) - y*exp(x) + exp(x)",
            "sin(x)/y - sin(x)*(1/y)",
        ] {
            assert!(vanishes(identity), "{identity}");
        }
        // Zero, or below the smallest number, near the origin and at all scales of a few metres.
        for bump in [
            "exp(-(x - 300)^2/2000)",
            "max(0, x - 1e6)",
            "if(x > 1e9, y, 0)",
            "1e-3*exp(x - 800)",
        ] {
            assert!(!vanishes(bump), "{bump}");
        }
    }
}
