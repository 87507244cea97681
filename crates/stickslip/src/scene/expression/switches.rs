//! Operations whose value may jump, and where: on their borders.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

/// An operation that changes where its border function vanishes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub node: Expression,
    /// Positive on one side, negative on the other.
    pub border: Expression,
    pub kind: Kind,
}

/// What changes there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A comparison of two numbers.
    Comparison(Binary),
    /// `sign`.
    Sign,
    /// `atan2` by a turn, where its second operand is negative.
    Turn(Expression),
    /// A slope of a table: its value before, at and after the place.
    Table([f64; 3]),
    /// Poles and steep places; the text says of what.
    Pole(&'static str),
}

impl Switch {
    /// The value on a side: −1, 0 (on the border) or 1. Any value stands for what a pole may give.
    pub fn value(&self, side: i8) -> f64 {
        let holds = |yes: bool| f64::from(u8::from(yes));
        match self.kind {
            Kind::Comparison(Binary::Less) => holds(side < 0),
            Kind::Comparison(Binary::LessEqual) => holds(side <= 0),
            Kind::Comparison(Binary::Equal) => holds(side == 0),
            Kind::Comparison(_) => holds(side != 0),
            Kind::Sign => f64::from(side),
            Kind::Turn(_) if side < 0 => -std::f64::consts::PI,
            Kind::Turn(_) => std::f64::consts::PI,
            Kind::Table(values) => values[(side + 1) as usize],
            Kind::Pole(_) => [0.7, 1.3, 1.9][(side + 1) as usize],
        }
    }

    /// The operation as it is written.
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Comparison(_) => "if",
            Kind::Sign => "sign",
            Kind::Turn(_) => "atan2",
            Kind::Table(_) => "a table",
            Kind::Pole(_) => "a pole",
        }
    }
}

impl Graph {
    /// Everything in an expression that may jump or is steep.
    pub(super) fn jumping(&mut self, expression: Expression) -> Vec<Switch> {
        let mut switches = Vec::new();
        for node in self.reachable(&[expression]) {
            let mut add = |border, kind| {
                switches.push(Switch { node, border, kind });
            };
            match self.node(node) {
                Node::Binary(
                    operation @ (Binary::Less
                    | Binary::LessEqual
                    | Binary::Equal
                    | Binary::NotEqual),
                    a,
                    b,
                ) => add(self.subtract(a, b), Kind::Comparison(operation)),
                Node::Unary(Unary::Sign, a) => add(a, Kind::Sign),
                Node::Binary(Binary::Atan2, a, b) => {
                    add(a, Kind::Turn(b));
                    let why = "`atan2` has every angle where both of its arguments vanish";
                    add(self.binary(Binary::Hypot, a, b), Kind::Pole(why));
                }
                Node::Sampled(function, order, a) if order > 0 => {
                    let sampled = self.functions()[usize::from(function)].clone();
                    for (place, sides) in sampled.jumps(order) {
                        let place = self.constant(place);
                        add(self.subtract(a, place), Kind::Table(sides));
                    }
                }
                // A length is Lipschitz continuous.
                Node::Unary(Unary::Sqrt, a) if self.is_sum_of_squares(a) => {}
                Node::Unary(Unary::Sqrt, a) => {
                    add(a, Kind::Pole("`sqrt` is steep where its argument vanishes"));
                }
                Node::Unary(Unary::Log, a) => {
                    add(
                        a,
                        Kind::Pole("`log` has a pole where its argument vanishes"),
                    );
                }
                Node::Unary(Unary::Tan, a) => {
                    add(self.unary(Unary::Cos, a), Kind::Pole("`tan` has poles"));
                }
                Node::Unary(Unary::Asin | Unary::Acos, a) => {
                    let (square, one) = (self.multiply(a, a), self.constant(1.0));
                    let why = "`asin` and `acos` are steep at ±1";
                    add(self.subtract(square, one), Kind::Pole(why));
                }
                Node::Binary(Binary::Divide, _, b) if self.constant_value(b).is_none() => {
                    let why = "a quotient has poles where its denominator vanishes";
                    add(b, Kind::Pole(why));
                }
                Node::Binary(Binary::Power, a, n) => match self.constant_value(n) {
                    Some(n) if n >= 1.0 => {}
                    Some(_) => {
                        let why = "a power below 1 is steep where its base vanishes";
                        add(a, Kind::Pole(why));
                    }
                    None => {
                        let why = "a power with a varying exponent is steep, or has no value, where its base vanishes";
                        add(a, Kind::Pole(why));
                    }
                },
                _ => {}
            }
        }
        switches
    }

    /// What else cuts the inputs into pieces on which an expression is analytic: `min`, `max` and `abs` with the function that vanishes
    /// where they have their kink.
    pub(super) fn folds(&mut self, expression: Expression) -> Vec<(Expression, Expression)> {
        let mut folds = Vec::new();
        for node in self.reachable(&[expression]) {
            match self.node(node) {
                Node::Unary(Unary::Abs, a) => folds.push((node, a)),
                Node::Binary(Binary::Min | Binary::Max, a, b) => {
                    folds.push((node, self.subtract(a, b)));
                }
                _ => {}
            }
        }
        folds
    }

    /// The terms of a sum with their signs.
    pub(super) fn terms(&self, sum: Expression) -> Vec<(Expression, f64)> {
        let (mut open, mut terms) = (vec![(sum, 1.0)], Vec::new());
        while let Some((part, sign)) = open.pop() {
            match self.node(part) {
                Node::Binary(Binary::Add, a, b) => open.extend([(a, sign), (b, sign)]),
                Node::Binary(Binary::Subtract, a, b) => open.extend([(a, sign), (b, -sign)]),
                Node::Unary(Unary::Negate, a) => open.push((a, -sign)),
                _ => terms.push((part, sign)),
            }
        }
        terms
    }

    /// An expression with one of its parts replaced.
    pub(super) fn with_part(
        &mut self,
        whole: Expression,
        part: Expression,
        by: Expression,
    ) -> Expression {
        let order = self.reachable(&[whole]);
        let mut image = vec![by; whole.index() + 1];
        for node in order {
            image[node.index()] = match self.node(node) {
                _ if node == part => by,
                Node::Constant(_) | Node::Input(_) => node,
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
        image[whole.index()]
    }

    /// Where a border function vanishes, as a part of it and the number that it has there: the whole and 0, or less of it.
    pub(super) fn where_it_vanishes(&mut self, border: Expression) -> (Expression, Expression) {
        let (mut part, mut value) = (border, 0.0);
        loop {
            (part, value) = match self.node(part) {
                Node::Unary(Unary::Negate, a) => (a, -value),
                Node::Binary(operation, a, b) => {
                    match (operation, self.constant_value(a), self.constant_value(b)) {
                        (Binary::Multiply, Some(factor), None) => (b, value / factor),
                        (Binary::Divide, None, Some(divisor)) => (a, value * divisor),
                        (Binary::Add, Some(shift), None) => (b, value - shift),
                        (Binary::Subtract, None, Some(shift)) => (a, value + shift),
                        (Binary::Subtract, Some(shift), None) => (b, shift - value),
                        _ => break,
                    }
                }
                _ => break,
            };
        }
        (part, self.constant(value))
    }
}
