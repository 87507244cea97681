//! Values of expressions with a bound on their rounding, with switches set to a side of our choice.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

/// A value and how far rounding may have moved it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounded {
    pub value: f64,
    pub error: f64,
}

impl Rounded {
    /// Whether it vanishes but for rounding.
    pub fn vanishes(self) -> bool {
        self.value.abs() <= SLACK * self.error
    }

    /// Whether both are one value but for rounding; none where one has none.
    pub fn agrees(self, other: Self) -> Option<bool> {
        let difference = Self {
            value: self.value - other.value,
            error: self.error + other.error,
        };
        (difference.value.is_finite() && difference.error.is_finite())
            .then(|| difference.vanishes())
    }
}

/// Bounds on rounding are added as if all went the same way; what is first order in them is left out.
const SLACK: f64 = 4.0;

/// What rounding may move a value of some size by, tiny ones included.
pub(super) fn rounding(value: f64) -> f64 {
    f64::EPSILON * value.abs() + f64::MIN_POSITIVE
}

/// What a node is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Set {
    /// A number.
    Value(f64),
    /// The first operand of `min` and `max`, the positive side of `abs`.
    First,
    /// The second operand, the negative side.
    Second,
}

/// Values of all nodes that some expressions need.
pub(super) struct Evaluation {
    order: Vec<Expression>,
    values: Vec<Rounded>,
}

impl Evaluation {
    pub fn new(graph: &Graph, roots: &[Expression]) -> Self {
        let order = graph.reachable(roots);
        let size = order.last().map_or(0, |e| e.index() + 1);
        Self {
            order,
            values: vec![Rounded::default(); size],
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The value of the last evaluation.
    pub fn of(&self, expression: Expression) -> Rounded {
        self.values[expression.index()]
    }

    /// Evaluates all nodes, with some of them set.
    pub fn at(
        &mut self,
        graph: &Graph,
        inputs: impl Fn(usize) -> Rounded,
        set: &[(Expression, Set)],
    ) {
        for k in 0..self.order.len() {
            let node = self.order[k];
            let given = set.iter().find(|(other, _)| *other == node);
            self.values[node.index()] = self.node(graph, node, &inputs, given.map(|g| g.1));
        }
    }

    fn node(
        &self,
        graph: &Graph,
        node: Expression,
        inputs: &impl Fn(usize) -> Rounded,
        set: Option<Set>,
    ) -> Rounded {
        let of = |e: Expression| self.values[e.index()];
        match (graph.node(node), set) {
            (_, Some(Set::Value(value))) => {
                let whole = value.fract() == 0.0;
                let error = if whole { 0.0 } else { rounding(value) };
                Rounded { value, error }
            }
            (Node::Unary(Unary::Abs, a), Some(side)) => Rounded {
                value: if side == Set::First { 1.0 } else { -1.0 } * of(a).value,
                error: of(a).error,
            },
            (Node::Binary(_, a, _), Some(Set::First)) => of(a),
            (Node::Binary(_, _, b), Some(Set::Second)) => of(b),
            (Node::Constant(bits), _) => {
                let value = f64::from_bits(bits);
                // Zero is zero; other numbers are decimal, or computed.
                let error = if value == 0.0 { 0.0 } else { rounding(value) };
                Rounded { value, error }
            }
            (Node::Input(k), _) => inputs(k as usize),
            (Node::Unary(operation, a), _) => unary(operation, of(a)),
            (Node::Binary(operation, a, b), _) => binary(operation, of(a), of(b)),
            (Node::Select(c, a, b), _) => of(if of(c).value != 0.0 { a } else { b }),
            (Node::Sampled(function, order, a), _) => {
                let function = &graph.functions()[usize::from(function)];
                let a = of(a);
                let at = |x: f64| function.value(order, x);
                let value = at(a.value);
                let moved = [at(a.value - a.error), at(a.value + a.error)];
                let moved = moved.map(|other| (other - value).abs());
                Rounded {
                    value,
                    error: moved[0].max(moved[1]) + rounding(value),
                }
            }
        }
    }
}

/// What counts for an exponential below the smallest number: it has no zero.
const UNDERFLOW: f64 = 1e-290;

fn unary(operation: Unary, a: Rounded) -> Rounded {
    let value = match operation.apply(a.value) {
        0.0 if operation == Unary::Exp && a.value.is_finite() => UNDERFLOW,
        value => value,
    };
    let slope = match operation {
        Unary::Negate | Unary::Abs => 1.0,
        Unary::Sin => a.value.cos(),
        Unary::Cos => a.value.sin(),
        Unary::Tan => 1.0 + value * value,
        Unary::Asin | Unary::Acos => 1.0 / (1.0 - a.value * a.value).sqrt(),
        Unary::Atan => 1.0 / (1.0 + a.value * a.value),
        Unary::Sinh => a.value.cosh(),
        Unary::Cosh => a.value.sinh(),
        Unary::Tanh => 1.0 - value * value,
        Unary::Exp => value,
        Unary::Log => 1.0 / a.value,
        Unary::Sign | Unary::Not => return Rounded { value, error: 0.0 },
        Unary::Sqrt if a.value.abs() <= a.error => {
            let error = (a.value.abs() + a.error).sqrt();
            return Rounded { value: 0.0, error };
        }
        Unary::Sqrt => 0.5 / value,
    };
    let carried = if a.error == 0.0 {
        0.0
    } else {
        (slope * a.error).abs()
    };
    Rounded {
        value,
        error: carried + rounding(value),
    }
}

fn binary(operation: Binary, a: Rounded, b: Rounded) -> Rounded {
    let value = operation.apply(a.value, b.value);
    let carried = match operation {
        Binary::Add | Binary::Subtract => a.error + b.error,
        Binary::Multiply => a.value.abs() * b.error + b.value.abs() * a.error,
        Binary::Divide => (a.error + value.abs() * b.error) / b.value.abs(),
        Binary::Power if a.value == 0.0 => a.error.powf(b.value),
        Binary::Power => {
            let part = |x: f64, error: f64| if error == 0.0 { 0.0 } else { x.abs() * error };
            value.abs() * (part(b.value / a.value, a.error) + part(a.value.abs().ln(), b.error))
        }
        // Where one of them is told from the other, its error alone counts.
        Binary::Min | Binary::Max if (a.value - b.value).abs() > SLACK * (a.error + b.error) => {
            if value == a.value {
                a.error
            } else {
                b.error
            }
        }
        Binary::Min | Binary::Max => a.error.max(b.error),
        Binary::Hypot => a.error.hypot(b.error),
        Binary::Atan2 => {
            let square = a.value * a.value + b.value * b.value;
            (b.value.abs() * a.error + a.value.abs() * b.error) / square
        }
        // Conditions are set where they may be either.
        _ => return Rounded { value, error: 0.0 },
    };
    Rounded {
        value,
        error: carried + rounding(value),
    }
}
