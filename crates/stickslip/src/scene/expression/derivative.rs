//! Symbolic differentiation, backwards for gradients and forwards for directions.
//!
//! Where a function has a corner (`abs`, `min`, `max`, `if`, `sign`, a table of straight lines), the derivative is that of the
//! branch the value is taken from; at the corner itself `abs` has derivative 0 and `min`, `max`
//! that of their first operand. Conditions have derivative 0.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

impl Graph {
    /// Partial derivatives of `expression` with respect to each of `inputs`.
    ///
    /// Works backwards from the result, so that all partials together cost a small multiple of the
    /// expression itself, whatever their number.
    pub fn gradient(&mut self, expression: Expression, inputs: &[usize]) -> Vec<Expression> {
        let order = self.reachable(&[expression]);
        let size = expression.index() + 1;
        // Only nodes that depend on a requested input carry a derivative.
        let mut depends = vec![false; size];
        for &node in &order {
            depends[node.index()] = match self.node(node) {
                Node::Input(k) => inputs.contains(&(k as usize)),
                _ => self.operands(node).any(|operand| depends[operand.index()]),
            };
        }
        let zero = self.constant(0.0);
        let mut adjoint: Vec<Option<Expression>> = vec![None; size];
        adjoint[expression.index()] = Some(self.constant(1.0));
        for &node in order.iter().rev() {
            let Some(weight) = adjoint[node.index()].filter(|_| depends[node.index()]) else {
                continue;
            };
            for (operand, partial) in self.partials(node) {
                if !depends[operand.index()] {
                    continue;
                }
                let term = match partial {
                    Partial::Times(factor) => self.multiply(weight, factor),
                    Partial::Over(divisor) => self.divide(weight, divisor),
                    Partial::Where(condition) => self.select(condition, weight, zero),
                    Partial::Unless(condition) => self.select(condition, zero, weight),
                };
                let sum = match adjoint[operand.index()] {
                    Some(other) => self.add(other, term),
                    None => term,
                };
                adjoint[operand.index()] = Some(sum);
            }
        }
        let found: Vec<(usize, Expression)> = order
            .iter()
            .filter_map(|&node| match self.node(node) {
                Node::Input(k) => adjoint[node.index()].map(|a| (k as usize, a)),
                _ => None,
            })
            .collect();
        inputs
            .iter()
            .map(|k| {
                found
                    .iter()
                    .find(|(input, _)| input == k)
                    .map_or(zero, |(_, a)| *a)
            })
            .collect()
    }

    /// Derivatives of `expressions` when input k moves at rate `direction(k)` (0 where `None`).
    pub fn directional_derivative(
        &mut self,
        expressions: &[Expression],
        direction: impl Fn(usize) -> Option<Expression>,
    ) -> Vec<Expression> {
        let order = self.reachable(expressions);
        let size = order.last().map_or(0, |e| e.index() + 1);
        let zero = self.constant(0.0);
        let mut rate: Vec<Expression> = vec![zero; size];
        for node in order {
            let mut sum = match self.node(node) {
                Node::Input(k) => direction(k as usize).unwrap_or(zero),
                _ => zero,
            };
            for (operand, partial) in self.partials(node) {
                let inner = rate[operand.index()];
                if inner == zero {
                    continue;
                }
                let term = match partial {
                    Partial::Times(factor) => self.multiply(inner, factor),
                    Partial::Over(divisor) => self.divide(inner, divisor),
                    Partial::Where(condition) => self.select(condition, inner, zero),
                    Partial::Unless(condition) => self.select(condition, zero, inner),
                };
                sum = self.add(sum, term);
            }
            rate[node.index()] = sum;
        }
        expressions.iter().map(|e| rate[e.index()]).collect()
    }

    /// Hessian with respect to `inputs`, row by row; symmetric by construction.
    pub fn hessian(&mut self, expression: Expression, inputs: &[usize]) -> Vec<Expression> {
        let n = inputs.len();
        let zero = self.constant(0.0);
        let mut entries = vec![zero; n * n];
        for (i, first) in self.gradient(expression, inputs).into_iter().enumerate() {
            // A full graph only yields NaN from here on; the size check reports it.
            if self.check_size().is_err() {
                break;
            }
            for (j, second) in self.gradient(first, &inputs[..=i]).into_iter().enumerate() {
                entries[i * n + j] = second;
                entries[j * n + i] = second;
            }
        }
        entries
    }

    /// The operands of a node that can carry a derivative, with the partial of the node.
    fn partials(&mut self, node: Expression) -> Vec<(Expression, Partial)> {
        match self.node(node) {
            Node::Constant(_) | Node::Input(_) => Vec::new(),
            Node::Unary(operation, a) => self
                .unary_partial(operation, a, node)
                .map(|p| (a, p))
                .into_iter()
                .collect(),
            Node::Binary(operation, a, b) => self.binary_partials(operation, a, b, node),
            Node::Select(c, a, b) => vec![(a, Partial::Where(c)), (b, Partial::Unless(c))],
            Node::Sampled(function, order, a) => {
                vec![(a, Partial::Times(self.sampled(function, order + 1, a)))]
            }
        }
    }

    fn unary_partial(
        &mut self,
        operation: Unary,
        a: Expression,
        value: Expression,
    ) -> Option<Partial> {
        let one = self.constant(1.0);
        Some(match operation {
            Unary::Negate => Partial::Times(self.constant(-1.0)),
            Unary::Sin => Partial::Times(self.unary(Unary::Cos, a)),
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                Partial::Times(self.negate(sine))
            }
            // 1 + tan²
            Unary::Tan => {
                let square = self.multiply(value, value);
                Partial::Times(self.add(one, square))
            }
            Unary::Asin | Unary::Acos => {
                let square = self.multiply(a, a);
                let rest = self.subtract(one, square);
                let root = self.unary(Unary::Sqrt, rest);
                Partial::Over(if operation == Unary::Asin {
                    root
                } else {
                    self.negate(root)
                })
            }
            Unary::Atan => {
                let square = self.multiply(a, a);
                Partial::Over(self.add(one, square))
            }
            Unary::Sinh => Partial::Times(self.unary(Unary::Cosh, a)),
            Unary::Cosh => Partial::Times(self.unary(Unary::Sinh, a)),
            // 1 − tanh²
            Unary::Tanh => {
                let square = self.multiply(value, value);
                Partial::Times(self.subtract(one, square))
            }
            Unary::Exp => Partial::Times(value),
            Unary::Log => Partial::Over(a),
            Unary::Sqrt => {
                let two = self.constant(2.0);
                Partial::Over(self.multiply(two, value))
            }
            Unary::Abs => Partial::Times(self.unary(Unary::Sign, a)),
            Unary::Sign | Unary::Not => return None,
        })
    }

    fn binary_partials(
        &mut self,
        operation: Binary,
        a: Expression,
        b: Expression,
        value: Expression,
    ) -> Vec<(Expression, Partial)> {
        let one = self.constant(1.0);
        let minus_one = self.constant(-1.0);
        match operation {
            Binary::Add => vec![(a, Partial::Times(one)), (b, Partial::Times(one))],
            Binary::Subtract => vec![(a, Partial::Times(one)), (b, Partial::Times(minus_one))],
            Binary::Multiply => vec![(a, Partial::Times(b)), (b, Partial::Times(a))],
            Binary::Divide => {
                let quotient = self.divide(value, b);
                vec![
                    (a, Partial::Over(b)),
                    (b, Partial::Times(self.negate(quotient))),
                ]
            }
            // b a^(b−1) da + a^b log(a) db; the second only where the exponent varies.
            Binary::Power => {
                let lower = self.subtract(b, one);
                let base = self.power(a, lower);
                let mut partials = vec![(a, Partial::Times(self.multiply(b, base)))];
                if self.constant_value(b).is_none() {
                    let logarithm = self.unary(Unary::Log, a);
                    partials.push((b, Partial::Times(self.multiply(value, logarithm))));
                }
                partials
            }
            // (b da − a db)/(a² + b²)
            Binary::Atan2 => {
                let squares = self.sum_of_squares(a, b);
                let first = self.divide(b, squares);
                let second = self.divide(a, squares);
                vec![
                    (a, Partial::Times(first)),
                    (b, Partial::Times(self.negate(second))),
                ]
            }
            Binary::Min => {
                let first = self.binary(Binary::LessEqual, a, b);
                vec![(a, Partial::Where(first)), (b, Partial::Unless(first))]
            }
            Binary::Max => {
                let first = self.binary(Binary::LessEqual, b, a);
                vec![(a, Partial::Where(first)), (b, Partial::Unless(first))]
            }
            Binary::Hypot => {
                let first = self.divide(a, value);
                let second = self.divide(b, value);
                vec![(a, Partial::Times(first)), (b, Partial::Times(second))]
            }
            Binary::Less
            | Binary::LessEqual
            | Binary::Equal
            | Binary::NotEqual
            | Binary::And
            | Binary::Or => Vec::new(),
        }
    }

    fn sum_of_squares(&mut self, a: Expression, b: Expression) -> Expression {
        let first = self.multiply(a, a);
        let second = self.multiply(b, b);
        self.add(first, second)
    }
}

/// How the derivative of an operand enters the derivative of the node.
enum Partial {
    /// Multiplied by this.
    Times(Expression),
    /// Divided by this.
    Over(Expression),
    /// Taken where the condition holds, else 0: a product with 0 would let a NaN of the unused
    /// branch through.
    Where(Expression),
    /// Taken where the condition fails, else 0.
    Unless(Expression),
}
