//! Between which numbers an expression stays, by interval arithmetic.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

/// Smallest and largest value.
type Interval = [f64; 2];

const ALL: Interval = [f64::NEG_INFINITY, f64::INFINITY];
const UNIT: Interval = [-1.0, 1.0];

impl Graph {
    /// An interval that holds all values of an expression, whatever its inputs; time is not negative. It may be wider than needed: every
    /// operation is taken by itself.
    #[must_use]
    pub fn bounds(&self, expression: Expression) -> Interval {
        let mut known = vec![ALL; expression.index() + 1];
        for node in self.reachable(&[expression]) {
            known[node.index()] = match self.node(node) {
                Node::Constant(bits) => [f64::from_bits(bits); 2],
                Node::Input(0) => [0.0, f64::INFINITY],
                Node::Input(_) | Node::Sampled(..) => ALL,
                Node::Unary(operation, a) => unary(operation, known[a.index()]),
                Node::Binary(Binary::Multiply, a, b) if a == b => square(known[a.index()]),
                Node::Binary(operation, a, b) => {
                    binary(operation, known[a.index()], known[b.index()])
                }
                Node::Select(_, a, b) => {
                    let ([a, b], [c, d]) = (known[a.index()], known[b.index()]);
                    [a.min(c), b.max(d)]
                }
            };
        }
        known[expression.index()]
    }
}

fn unary(operation: Unary, [low, high]: Interval) -> Interval {
    match operation {
        Unary::Negate => [-high, -low],
        Unary::Abs if low >= 0.0 => [low, high],
        Unary::Abs if high <= 0.0 => [-high, -low],
        Unary::Abs => [0.0, high.max(-low)],
        Unary::Sin | Unary::Cos | Unary::Sign => UNIT,
        Unary::Not => [0.0, 1.0],
        Unary::Atan => [low.atan(), high.atan()],
        Unary::Tanh => [low.tanh(), high.tanh()],
        Unary::Sinh => [low.sinh(), high.sinh()],
        Unary::Exp => [low.exp(), high.exp()],
        Unary::Cosh => [1.0, high.cosh().max(low.cosh())],
        Unary::Sqrt if low >= 0.0 => [low.sqrt(), high.sqrt()],
        Unary::Asin => [-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2],
        Unary::Acos => [0.0, std::f64::consts::PI],
        Unary::Tan | Unary::Log | Unary::Sqrt => ALL,
    }
}

fn square([low, high]: Interval) -> Interval {
    let most = (low * low).max(high * high);
    if low <= 0.0 && high >= 0.0 {
        [0.0, most]
    } else {
        [(low * low).min(high * high), most]
    }
}

fn binary(operation: Binary, [a, b]: Interval, [c, d]: Interval) -> Interval {
    match operation {
        Binary::Add => [a + c, b + d],
        Binary::Subtract => [a - d, b - c],
        Binary::Multiply => product([a, b], [c, d]),
        Binary::Divide if c > 0.0 || d < 0.0 => product([a, b], [1.0 / d, 1.0 / c]),
        Binary::Power if a >= 0.0 && c == d && c >= 0.0 => [a.powf(c), b.powf(c)],
        Binary::Divide | Binary::Power => ALL,
        Binary::Min => [a.min(c), b.min(d)],
        Binary::Max => [a.max(c), b.max(d)],
        Binary::Hypot => {
            let ([_, a], [_, b]) = (unary(Unary::Abs, [a, b]), unary(Unary::Abs, [c, d]));
            [0.0, a.hypot(b)]
        }
        Binary::Atan2 => [-std::f64::consts::PI, std::f64::consts::PI],
        // Conditions.
        _ => [0.0, 1.0],
    }
}

fn product(a: Interval, b: Interval) -> Interval {
    let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
    for x in a {
        for y in b {
            // An end that is not reached, times nothing.
            let part = if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
            bounds = [bounds[0].min(part), bounds[1].max(part)];
        }
    }
    bounds
}
