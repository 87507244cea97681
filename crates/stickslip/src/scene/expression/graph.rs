//! The graph of all expressions of a scene: every distinct subexpression stored once.

use std::collections::HashMap;
use std::sync::Arc;

use super::error::Mistake;
use super::operation::{Binary, Unary};
use super::past::PastTerm;
use super::sampled::SampledFunction;

/// An expression: the name of a node in the [`Graph`] that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expression(u32);

/// A node of the graph. Operands always have smaller indices than the node itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, by its bits.
    Constant(u64),
    /// Input number k of the tape: time, a coordinate, a velocity, later a value of the past.
    Input(u32),
    /// One operand.
    Unary(Unary, Expression),
    /// Two operands.
    Binary(Binary, Expression, Expression),
    /// The second operand where the first is not zero, else the third.
    Select(Expression, Expression, Expression),
    /// A sampled function of the graph, or its derivative of the given order.
    Sampled(u16, u8, Expression),
}

/// Hash-consed directed acyclic graph of expressions.
///
/// The constructors fold constants and apply the simplifications that keep derivatives small:
/// neutral and absorbing elements, signs moved outwards, integer powers as products, constant
/// factors joined. They hold for real numbers; where an operand is infinite or NaN, `0*a`, `a - a`
/// and `a/a` still give 0, 0 and 1. Rounding changes only where constant factors are joined.
///
/// Memory is bounded: beyond [`Graph::NODES_MAX`] nodes the graph stops growing, every further
/// expression is a NaN, and [`Graph::check_size`] reports it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    // Looked up, never iterated: the order of nodes is the order of their construction.
    index: HashMap<Node, Expression>,
    past: Vec<PastTerm>,
    functions: Vec<Arc<SampledFunction>>,
    overflowed: bool,
}

impl Expression {
    /// Position of the node in its graph.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn from_index(index: usize) -> Self {
        // The graph never holds more than NODES_MAX nodes, which fits.
        Self(index as u32)
    }
}

impl Graph {
    /// Largest number of nodes.
    pub const NODES_MAX: usize = 1 << 20;

    /// Inputs from here on stand for values of the past, in the order of [`Graph::past_terms`].
    pub const PAST_FIRST: usize = 1 << 24;
    /// Inputs from here on stand for outputs of controllers, in their order.
    pub const HELD_FIRST: usize = 1 << 23;
    /// Inputs from here on stand for the state of a controller, inside its own expressions.
    pub const STATE_FIRST: usize = 1 << 22;
    /// Input of the slip speed of a contact.
    pub const SLIP: usize = 1 << 21;
    /// Most values of the past.
    pub const PAST_MAX: usize = 256;

    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of distinct subexpressions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no expression has been made yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Reports whether the limit on nodes was hit; then some expressions are NaN.
    pub fn check_size(&self) -> Result<(), Mistake> {
        if self.overflowed {
            return Err(Mistake::TooLarge {
                limit: Self::NODES_MAX,
            });
        }
        Ok(())
    }

    /// The node behind an expression.
    #[must_use]
    pub fn node(&self, expression: Expression) -> Node {
        self.nodes[expression.index()]
    }

    /// The number, if the expression is one.
    #[must_use]
    pub fn constant_value(&self, expression: Expression) -> Option<f64> {
        match self.node(expression) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn intern(&mut self, node: Node) -> Expression {
        if let Some(&expression) = self.index.get(&node) {
            return expression;
        }
        if self.nodes.len() >= Self::NODES_MAX {
            self.overflowed = true;
            let nan = Node::Constant(f64::NAN.to_bits());
            // Slot 0 is a valid node of every full graph; the flag makes its value irrelevant.
            return self.index.get(&nan).copied().unwrap_or(Expression(0));
        }
        let expression = Expression::from_index(self.nodes.len());
        self.nodes.push(node);
        self.index.insert(node, expression);
        expression
    }

    /// A number. Negative zero becomes zero, so that equal constants are one node.
    pub fn constant(&mut self, value: f64) -> Expression {
        let value = if value == 0.0 { 0.0 } else { value };
        self.intern(Node::Constant(value.to_bits()))
    }

    /// Input number `index` of the tape.
    pub fn input(&mut self, index: usize) -> Expression {
        // More inputs than nodes are never needed.
        self.intern(Node::Input(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// A value of the past; equal ones are one input.
    pub fn past(&mut self, term: PastTerm) -> Expression {
        let known = self.past.iter().position(|other| *other == term);
        let index = known.unwrap_or(self.past.len());
        if index >= Self::PAST_MAX {
            self.overflowed = true;
            return self.constant(f64::NAN);
        }
        if known.is_none() {
            self.past.push(term);
        }
        self.input(Self::PAST_FIRST + index)
    }

    /// The values of the past that expressions of this graph read.
    #[must_use]
    pub fn past_terms(&self) -> &[PastTerm] {
        &self.past
    }

    /// Adds a sampled function, to be called with [`Graph::sampled`] under the number returned.
    pub fn add_function(&mut self, function: SampledFunction) -> u16 {
        // Scenes have far fewer functions than numbers of 16 bits.
        let index = u16::try_from(self.functions.len()).unwrap_or(u16::MAX);
        self.functions.push(Arc::new(function));
        index
    }

    /// The sampled functions.
    #[must_use]
    pub fn functions(&self) -> &[Arc<SampledFunction>] {
        &self.functions
    }

    /// A sampled function at `a`, or its derivative of some order.
    pub fn sampled(&mut self, function: u16, order: u8, a: Expression) -> Expression {
        let sampled = &self.functions[usize::from(function)];
        if order > sampled.degree() {
            return self.constant(0.0);
        }
        if let Some(x) = self.constant_value(a) {
            let value = sampled.value(order, x);
            return self.constant(value);
        }
        self.intern(Node::Sampled(function, order, a))
    }

    /// Whether some node of the graph is as told.
    pub fn any(&self, is: impl Fn(&Node) -> bool) -> bool {
        self.nodes.iter().any(is)
    }

    /// Whether the expression reads the past.
    #[must_use]
    pub fn reads_past(&self, expression: Expression) -> bool {
        self.inputs_of(expression)
            .last()
            .is_some_and(|&input| input >= Self::PAST_FIRST)
    }

    /// Whether the expression reads the time.
    #[must_use]
    pub fn reads_time(&self, expression: Expression) -> bool {
        self.inputs_of(expression).contains(&0)
    }

    /// Whether the expression reads an output of a controller.
    #[must_use]
    pub fn reads_held(&self, expression: Expression) -> bool {
        let held = Self::HELD_FIRST..Self::PAST_FIRST;
        self.inputs_of(expression)
            .iter()
            .any(|input| held.contains(input))
    }

    /// Whether an expression reads a sampled function.
    pub fn reads_table(&self, expression: Expression) -> bool {
        let nodes = self.reachable(&[expression]);
        nodes
            .into_iter()
            .any(|e| matches!(self.node(e), Node::Sampled(..)))
    }

    /// −a
    pub fn negate(&mut self, a: Expression) -> Expression {
        match self.node(a) {
            Node::Constant(bits) => self.constant(-f64::from_bits(bits)),
            Node::Unary(Unary::Negate, inner) => inner,
            Node::Binary(Binary::Subtract, left, right) => self.subtract(right, left),
            _ => self.intern(Node::Unary(Unary::Negate, a)),
        }
    }

    fn negated(&self, a: Expression) -> Option<Expression> {
        match self.node(a) {
            Node::Unary(Unary::Negate, inner) => Some(inner),
            _ => None,
        }
    }

    /// a + b
    pub fn add(&mut self, a: Expression, b: Expression) -> Expression {
        match (self.constant_value(a), self.constant_value(b)) {
            (Some(x), Some(y)) => return self.constant(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(inner) = self.negated(b) {
            return self.subtract(a, inner);
        }
        if let Some(inner) = self.negated(a) {
            return self.subtract(b, inner);
        }
        if a == b {
            let two = self.constant(2.0);
            return self.multiply(two, a);
        }
        self.commutative(Binary::Add, a, b)
    }

    /// a − b
    pub fn subtract(&mut self, a: Expression, b: Expression) -> Expression {
        match (self.constant_value(a), self.constant_value(b)) {
            (Some(x), Some(y)) => return self.constant(x - y),
            (Some(0.0), _) => return self.negate(b),
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if a == b {
            return self.constant(0.0);
        }
        if let Some(inner) = self.negated(b) {
            return self.add(a, inner);
        }
        if let Some(inner) = self.negated(a) {
            let sum = self.add(inner, b);
            return self.negate(sum);
        }
        self.intern(Node::Binary(Binary::Subtract, a, b))
    }

    /// a b
    pub fn multiply(&mut self, a: Expression, b: Expression) -> Expression {
        match (self.constant_value(a), self.constant_value(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(x), None) => return self.scale(x, b),
            (None, Some(y)) => return self.scale(y, a),
            _ => {}
        }
        if let (Node::Unary(Unary::Abs, inner), true) = (self.node(a), a == b) {
            return self.multiply(inner, inner);
        }
        if let Some(inner) = self.negated(a) {
            let product = self.multiply(inner, b);
            return self.negate(product);
        }
        if let Some(inner) = self.negated(b) {
            let product = self.multiply(a, inner);
            return self.negate(product);
        }
        // Products move into a branch whose other side is 0: a derivative of an unused branch may
        // be infinite, and 0 times infinity must stay 0.
        for (branch, factor) in [(a, b), (b, a)] {
            if let Some((condition, inner, then)) = self.one_sided(branch) {
                let product = self.multiply(inner, factor);
                return self.rebuild_one_sided(condition, product, then);
            }
        }
        // Constant factors move outwards, where they meet others.
        if let Some((factor, inner)) = self.constant_factor(a) {
            let product = self.multiply(inner, b);
            return self.scale(factor, product);
        }
        if let Some((factor, inner)) = self.constant_factor(b) {
            let product = self.multiply(a, inner);
            return self.scale(factor, product);
        }
        self.commutative(Binary::Multiply, a, b)
    }

    fn constant_factor(&self, a: Expression) -> Option<(f64, Expression)> {
        match self.node(a) {
            Node::Binary(Binary::Multiply, c, x) => Some((self.constant_value(c)?, x)),
            _ => None,
        }
    }

    /// `if(c, a, 0)` as (c, a, true) and `if(c, 0, a)` as (c, a, false).
    fn one_sided(&self, a: Expression) -> Option<(Expression, Expression, bool)> {
        match self.node(a) {
            Node::Select(c, x, y) if self.constant_value(y) == Some(0.0) => Some((c, x, true)),
            Node::Select(c, x, y) if self.constant_value(x) == Some(0.0) => Some((c, y, false)),
            _ => None,
        }
    }

    fn rebuild_one_sided(&mut self, c: Expression, a: Expression, then: bool) -> Expression {
        let zero = self.constant(0.0);
        if then {
            self.select(c, a, zero)
        } else {
            self.select(c, zero, a)
        }
    }

    fn scale(&mut self, factor: f64, a: Expression) -> Expression {
        if factor == 0.0 {
            return self.constant(0.0);
        }
        if factor == 1.0 {
            return a;
        }
        if factor == -1.0 {
            return self.negate(a);
        }
        if let Some(inner) = self.negated(a) {
            return self.scale(-factor, inner);
        }
        if let Some((other, inner)) = self.constant_factor(a) {
            return self.scale(factor * other, inner);
        }
        let factor = self.constant(factor);
        self.commutative(Binary::Multiply, factor, a)
    }

    /// a / b
    pub fn divide(&mut self, a: Expression, b: Expression) -> Expression {
        match (self.constant_value(a), self.constant_value(b)) {
            (Some(x), Some(y)) => return self.constant(x / y),
            (Some(0.0), _) => return a,
            (_, Some(1.0)) => return a,
            (_, Some(-1.0)) => return self.negate(a),
            _ => {}
        }
        if a == b {
            return self.constant(1.0);
        }
        if let Some(inner) = self.negated(a) {
            let quotient = self.divide(inner, b);
            return self.negate(quotient);
        }
        if let Some(inner) = self.negated(b) {
            let quotient = self.divide(a, inner);
            return self.negate(quotient);
        }
        if let Some((condition, inner, then)) = self.one_sided(a) {
            let quotient = self.divide(inner, b);
            return self.rebuild_one_sided(condition, quotient, then);
        }
        self.intern(Node::Binary(Binary::Divide, a, b))
    }

    /// a to the power b. Small integer powers become products, the power 1/2 a square root.
    pub fn power(&mut self, a: Expression, b: Expression) -> Expression {
        let Some(exponent) = self.constant_value(b) else {
            return self.intern(Node::Binary(Binary::Power, a, b));
        };
        if exponent == 0.5 {
            return self.unary(Unary::Sqrt, a);
        }
        if exponent.fract() == 0.0 && exponent.abs() <= 16.0 {
            let product = self.integer_power(a, exponent.abs() as u32);
            if exponent >= 0.0 {
                return product;
            }
            let one = self.constant(1.0);
            return self.divide(one, product);
        }
        if let Some(base) = self.constant_value(a) {
            return self.constant(base.powf(exponent));
        }
        self.intern(Node::Binary(Binary::Power, a, b))
    }

    fn integer_power(&mut self, a: Expression, exponent: u32) -> Expression {
        match exponent {
            0 => self.constant(1.0),
            1 => a,
            n => {
                let half = self.integer_power(a, n / 2);
                let square = self.multiply(half, half);
                if n % 2 == 0 {
                    square
                } else {
                    self.multiply(square, a)
                }
            }
        }
    }

    /// A function of one operand.
    pub fn unary(&mut self, operation: Unary, a: Expression) -> Expression {
        if operation == Unary::Negate {
            return self.negate(a);
        }
        if let Some(x) = self.constant_value(a) {
            return self.constant(operation.apply(x));
        }
        if let Some(inner) = self.negated(a) {
            match operation {
                Unary::Cos | Unary::Cosh | Unary::Abs => return self.unary(operation, inner),
                Unary::Sin
                | Unary::Tan
                | Unary::Asin
                | Unary::Atan
                | Unary::Sinh
                | Unary::Tanh
                | Unary::Sign => {
                    let value = self.unary(operation, inner);
                    return self.negate(value);
                }
                _ => {}
            }
        }
        match self.node(a) {
            Node::Binary(Binary::Multiply, b, c) if operation == Unary::Sqrt && b == c => {
                self.unary(Unary::Abs, b)
            }
            _ => self.intern(Node::Unary(operation, a)),
        }
    }

    /// Whether an expression is a sum of squares with positive factors: its root is a length.
    pub(super) fn is_sum_of_squares(&self, sum: Expression) -> bool {
        self.terms(sum).into_iter().all(|(term, sign)| {
            let square = match self.constant_factor(term) {
                Some((factor, square)) if factor * sign > 0.0 => square,
                None if sign > 0.0 => term,
                _ => return false,
            };
            matches!(self.node(square), Node::Binary(Binary::Multiply, a, b) if a == b)
        })
    }

    /// An operation of two operands.
    pub fn binary(&mut self, operation: Binary, a: Expression, b: Expression) -> Expression {
        match operation {
            Binary::Add => return self.add(a, b),
            Binary::Subtract => return self.subtract(a, b),
            Binary::Multiply => return self.multiply(a, b),
            Binary::Divide => return self.divide(a, b),
            Binary::Power => return self.power(a, b),
            _ => {}
        }
        if let (Some(x), Some(y)) = (self.constant_value(a), self.constant_value(b)) {
            return self.constant(operation.apply(x, y));
        }
        if a == b && matches!(operation, Binary::Min | Binary::Max) {
            return a;
        }
        if operation.is_commutative() {
            return self.commutative(operation, a, b);
        }
        self.intern(Node::Binary(operation, a, b))
    }

    /// `then` where `condition` is not zero, else `otherwise`. Both are computed; only one counts.
    pub fn select(
        &mut self,
        condition: Expression,
        then: Expression,
        otherwise: Expression,
    ) -> Expression {
        if then == otherwise {
            return then;
        }
        match self.constant_value(condition) {
            Some(0.0) => otherwise,
            Some(_) => then,
            None => self.intern(Node::Select(condition, then, otherwise)),
        }
    }

    /// Sum of all terms.
    pub fn sum(&mut self, terms: &[Expression]) -> Expression {
        let zero = self.constant(0.0);
        terms.iter().fold(zero, |sum, &term| self.add(sum, term))
    }

    /// One order of operands per pair: a constant first, then the older node.
    fn commutative(&mut self, operation: Binary, a: Expression, b: Expression) -> Expression {
        let constant_second = self.constant_value(b).is_some() && self.constant_value(a).is_none();
        let both_or_none = self.constant_value(b).is_some() == self.constant_value(a).is_some();
        let (a, b) = if constant_second || (both_or_none && b < a) {
            (b, a)
        } else {
            (a, b)
        };
        self.intern(Node::Binary(operation, a, b))
    }

    /// Nodes that `roots` need, in an order in which operands come first.
    pub(in crate::scene) fn reachable(&self, roots: &[Expression]) -> Vec<Expression> {
        let mut seen = vec![false; roots.iter().map(|r| r.index() + 1).max().unwrap_or(0)];
        let mut stack: Vec<Expression> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(expression) = stack.pop() {
            if std::mem::replace(&mut seen[expression.index()], true) {
                continue;
            }
            found.push(expression);
            stack.extend(self.operands(expression));
        }
        found.sort_unstable();
        found
    }

    pub(super) fn operands(&self, expression: Expression) -> impl Iterator<Item = Expression> {
        let (a, b, c) = match self.node(expression) {
            Node::Constant(_) | Node::Input(_) => (None, None, None),
            Node::Unary(_, a) | Node::Sampled(_, _, a) => (Some(a), None, None),
            Node::Binary(_, a, b) => (Some(a), Some(b), None),
            Node::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// Inputs on which the expression depends, ascending.
    #[must_use]
    pub fn inputs_of(&self, expression: Expression) -> Vec<usize> {
        let mut inputs: Vec<usize> = self
            .reachable(&[expression])
            .into_iter()
            .filter_map(|e| match self.node(e) {
                Node::Input(k) => Some(k as usize),
                _ => None,
            })
            .collect();
        inputs.sort_unstable();
        inputs
    }

    /// The expressions with inputs replaced: `replacement(k)` stands for input k where it is given.
    pub fn substitute(
        &mut self,
        expressions: &[Expression],
        replacement: impl Fn(usize) -> Option<Expression>,
    ) -> Vec<Expression> {
        let order = self.reachable(expressions);
        let size = order.last().map_or(0, |e| e.index() + 1);
        let mut image: Vec<Expression> = vec![Expression(0); size];
        for expression in order {
            image[expression.index()] = match self.node(expression) {
                Node::Constant(_) => expression,
                Node::Input(k) => replacement(k as usize).unwrap_or(expression),
                Node::Unary(operation, a) => self.unary(operation, image[a.index()]),
                Node::Binary(operation, a, b) => {
                    self.binary(operation, image[a.index()], image[b.index()])
                }
                Node::Select(c, a, b) => {
                    self.select(image[c.index()], image[a.index()], image[b.index()])
                }
                Node::Sampled(function, order, a) => {
                    self.sampled(function, order, image[a.index()])
                }
            };
        }
        expressions.iter().map(|e| image[e.index()]).collect()
    }
}
