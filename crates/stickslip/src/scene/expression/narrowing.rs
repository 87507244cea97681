//! What the interval of an operation tells about its operands.

use std::f64::consts::FRAC_PI_2;

use super::bounds::{Interval, binary};
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};

const INFINITY: f64 = f64::INFINITY;

/// Intervals of up to two operands.
pub(super) type Narrowed = [Option<(Expression, Interval)>; 2];

/// Intervals in which the operands of a part lie, from its own and theirs.
pub(super) fn narrow_operands(
    graph: &Graph,
    part: Expression,
    known: impl Fn(Expression) -> Interval,
) -> Narrowed {
    let whole = known(part);
    match graph.node(part) {
        Node::Constant(_) | Node::Input(_) | Node::Sampled(..) => [None, None],
        Node::Unary(operation, a) => {
            let told = operand(operation, whole, known(a));
            [told.map(|interval| (a, interval)), None]
        }
        Node::Binary(Binary::Multiply, a, b) if a == b => {
            let root = whole[1].max(0.0).sqrt();
            [Some((a, [-root, root])), None]
        }
        Node::Binary(operation, a, b) => {
            let [first, second] = operands(operation, whole, known(a), known(b));
            [first.map(|i| (a, i)), second.map(|i| (b, i))]
        }
        Node::Select(c, a, b) => match known(c) {
            [1.0, 1.0] => [Some((a, whole)), None],
            [0.0, 0.0] => [Some((b, whole)), None],
            _ => [None, None],
        },
    }
}

fn operand(operation: Unary, [low, high]: Interval, a: Interval) -> Option<Interval> {
    let told = match operation {
        Unary::Negate => [-high, -low],
        Unary::Abs if a[0] >= 0.0 => [low, high],
        Unary::Abs if a[1] <= 0.0 => [-high, -low],
        Unary::Abs => [-high, high],
        Unary::Sign if low > 0.0 => [0.0, INFINITY],
        Unary::Sign if high < 0.0 => [-INFINITY, 0.0],
        Unary::Sqrt if high >= 0.0 => [low.max(0.0).powi(2), high * high],
        Unary::Exp => [low.max(0.0).ln(), high.max(0.0).ln()],
        Unary::Log => [low.exp(), high.exp()],
        Unary::Sinh => [low.asinh(), high.asinh()],
        Unary::Cosh if high >= 1.0 => [-high.acosh(), high.acosh()],
        Unary::Tanh => [low.max(-1.0).atanh(), high.min(1.0).atanh()],
        // The tangent of a right angle is finite in rounding.
        Unary::Atan => [
            if low <= -FRAC_PI_2 {
                -INFINITY
            } else {
                low.tan()
            },
            if high >= FRAC_PI_2 {
                INFINITY
            } else {
                high.tan()
            },
        ],
        Unary::Not => [1.0 - high, 1.0 - low],
        _ => return None,
    };
    Some(told)
}

fn operands(operation: Binary, whole: Interval, a: Interval, b: Interval) -> [Option<Interval>; 2] {
    match (operation, whole) {
        (Binary::Add, _) => [
            Some(binary(Binary::Subtract, whole, b)),
            Some(binary(Binary::Subtract, whole, a)),
        ],
        (Binary::Subtract, _) => [
            Some(binary(Binary::Add, whole, b)),
            Some(binary(Binary::Subtract, a, whole)),
        ],
        (Binary::Multiply, _) => {
            let over = |other: Interval| {
                (other[0] > 0.0 || other[1] < 0.0).then(|| binary(Binary::Divide, whole, other))
            };
            [over(b), over(a)]
        }
        (Binary::Divide, _) => [Some(binary(Binary::Multiply, whole, b)), None],
        (Binary::Min, [low, _]) => [Some([low, INFINITY]); 2],
        (Binary::Max, [_, high]) => [Some([-INFINITY, high]); 2],
        (Binary::Hypot, [_, high]) => [Some([-high, high]); 2],
        (Binary::Power, [low, high]) if a[0] >= 0.0 && b[0] == b[1] && b[0] > 0.0 => {
            let root = |x: f64| x.max(0.0).powf(1.0 / b[0]);
            [Some([root(low), root(high)]), None]
        }
        (Binary::Less | Binary::LessEqual, [1.0, 1.0]) => {
            [Some([-INFINITY, b[1]]), Some([a[0], INFINITY])]
        }
        (Binary::Less | Binary::LessEqual, [0.0, 0.0]) => {
            [Some([b[0], INFINITY]), Some([-INFINITY, a[1]])]
        }
        (Binary::Equal, [1.0, 1.0]) => [Some(b), Some(a)],
        (Binary::And, [1.0, 1.0]) => [Some([1.0, 1.0]); 2],
        (Binary::And, [0.0, 0.0]) => [
            (b == [1.0, 1.0]).then_some([0.0, 0.0]),
            (a == [1.0, 1.0]).then_some([0.0, 0.0]),
        ],
        (Binary::Or, [0.0, 0.0]) => [Some([0.0, 0.0]); 2],
        (Binary::Or, [1.0, 1.0]) => [
            (b == [0.0, 0.0]).then_some([1.0, 1.0]),
            (a == [0.0, 0.0]).then_some([1.0, 1.0]),
        ],
        _ => [None, None],
    }
}
