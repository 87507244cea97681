//! Between which numbers an expression stays, by interval arithmetic.

use std::f64::consts::{FRAC_PI_2, PI};

use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::past::Functional;

/// Smallest and largest value.
pub(super) type Interval = [f64; 2];

pub(super) const ALL: Interval = [f64::NEG_INFINITY, f64::INFINITY];
const UNIT: Interval = [-1.0, 1.0];

impl Graph {
    /// An interval that holds all values of an expression over the times of a run, whatever its other inputs. It may be wider than
    /// needed: every operation is taken by itself.
    #[must_use]
    pub fn bounds_within(&self, expression: Expression, domain: &Domain) -> Interval {
        let mut known = vec![ALL; expression.index() + 1];
        for node in self.reachable(&[expression]) {
            known[node.index()] = self.interval_of(node, |e| known[e.index()], domain);
        }
        known[expression.index()]
    }

    /// The interval of a node, from those of its operands.
    pub(super) fn interval_of(
        &self,
        node: Expression,
        known: impl Fn(Expression) -> Interval,
        domain: &Domain,
    ) -> Interval {
        match self.node(node) {
            Node::Constant(bits) => [f64::from_bits(bits); 2],
            Node::Input(k) => self.range_of_past(k as usize, domain),
            Node::Sampled(function, order, _) => {
                self.functions()[usize::from(function)].bounds(order)
            }
            Node::Unary(operation, a) => unary(operation, known(a)),
            Node::Binary(Binary::Multiply, a, b) if a == b => square(known(a)),
            Node::Binary(operation, a, b) => binary(operation, known(a), known(b)),
            Node::Select(c, a, _) if known(c) == [1.0, 1.0] => known(a),
            Node::Select(c, _, b) if known(c) == [0.0, 0.0] => known(b),
            Node::Select(_, a, b) => hull(known(a), known(b)),
        }
    }

    /// The interval of an input: what is read of the past keeps within what it is read of.
    fn range_of_past(&self, input: usize, domain: &Domain) -> Interval {
        let term = (input.checked_sub(Self::PAST_FIRST)).and_then(|k| self.past_terms().get(k));
        match term.map(|term| (term.functional, term.operand)) {
            Some((
                Functional::Delay
                | Functional::VaryingDelay
                | Functional::Maximum
                | Functional::Minimum
                | Functional::Mean,
                Some(operand),
            )) => self.bounds_within(operand, domain),
            Some((Functional::Deviation, _)) => [0.0, f64::INFINITY],
            _ => domain.range(input),
        }
    }
}

fn hull([a, b]: Interval, [c, d]: Interval) -> Interval {
    [a.min(c), b.max(d)]
}

fn unary(operation: Unary, [low, high]: Interval) -> Interval {
    match operation {
        Unary::Negate => [-high, -low],
        Unary::Abs if low >= 0.0 => [low, high],
        Unary::Abs if high <= 0.0 => [-high, -low],
        Unary::Abs => [0.0, high.max(-low)],
        Unary::Sign => [Unary::Sign.apply(low), Unary::Sign.apply(high)],
        Unary::Sin => sine(low, high),
        Unary::Cos => sine(low + FRAC_PI_2, high + FRAC_PI_2),
        Unary::Not => [1.0 - high, 1.0 - low],
        Unary::Atan => [low.atan(), high.atan()],
        Unary::Tanh => [low.tanh(), high.tanh()],
        Unary::Sinh => [low.sinh(), high.sinh()],
        Unary::Exp => [low.exp(), high.exp()],
        Unary::Cosh => [1.0, high.cosh().max(low.cosh())],
        Unary::Sqrt => [low.max(0.0).sqrt(), high.max(0.0).sqrt()],
        Unary::Log if low >= 0.0 => [low.ln(), high.ln()],
        Unary::Asin => [-FRAC_PI_2, FRAC_PI_2],
        Unary::Acos => [0.0, PI],
        Unary::Tan | Unary::Log => ALL,
    }
}

/// The sine of angles, which reaches ±1 where π/2 or −π/2 and whole turns lie between.
fn sine(low: f64, high: f64) -> Interval {
    if !(high - low < 2.0 * PI) {
        return UNIT;
    }
    let passes =
        |angle: f64| ((high - angle) / (2.0 * PI)).floor() >= ((low - angle) / (2.0 * PI)).ceil();
    let ends = [low.sin(), high.sin()];
    let least = if passes(-FRAC_PI_2) {
        -1.0
    } else {
        ends[0].min(ends[1])
    };
    let most = if passes(FRAC_PI_2) {
        1.0
    } else {
        ends[0].max(ends[1])
    };
    [least, most]
}

fn square([low, high]: Interval) -> Interval {
    let most = (low * low).max(high * high);
    if low <= 0.0 && high >= 0.0 {
        [0.0, most]
    } else {
        [(low * low).min(high * high), most]
    }
}

pub(super) fn binary(operation: Binary, [a, b]: Interval, [c, d]: Interval) -> Interval {
    match operation {
        Binary::Add => [a + c, b + d],
        Binary::Subtract => [a - d, b - c],
        Binary::Multiply => product([a, b], [c, d]),
        Binary::Divide if c >= 0.0 => product([a, b], [1.0 / d, 1.0 / c.abs()]),
        Binary::Divide if d <= 0.0 => product([a, b], [-1.0 / d.abs(), 1.0 / c]),
        Binary::Power if a >= 0.0 && c == d && c >= 0.0 => [a.powf(c), b.powf(c)],
        Binary::Power if a > 0.0 && c == d => [b.powf(c), a.powf(c)],
        Binary::Divide | Binary::Power => ALL,
        Binary::Min => [a.min(c), b.min(d)],
        Binary::Max => [a.max(c), b.max(d)],
        Binary::Hypot => {
            let ([a, b], [c, d]) = (unary(Unary::Abs, [a, b]), unary(Unary::Abs, [c, d]));
            [a.hypot(c), b.hypot(d)]
        }
        Binary::Atan2 => [-PI, PI],
        Binary::Less if b < c => [1.0, 1.0],
        Binary::Less if a >= d => [0.0, 0.0],
        Binary::LessEqual if b <= c => [1.0, 1.0],
        Binary::LessEqual if a > d => [0.0, 0.0],
        Binary::Equal if b < c || a > d => [0.0, 0.0],
        Binary::NotEqual if b < c || a > d => [1.0, 1.0],
        Binary::And => [a.min(c), b.min(d)],
        Binary::Or => [a.max(c), b.max(d)],
        // Other comparisons.
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
