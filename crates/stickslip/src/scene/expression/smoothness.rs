//! How smooth an expression is: analytic, Lipschitz, steep or with jumps.

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::tape::Tape;
use crate::algebra::splitmix::mixed;

/// What is known of the smoothness of an expression in time, coordinates and velocities.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Smoothness {
    /// Analytic where it is defined.
    Analytic,
    /// Lipschitz on bounded sets, with kinks.
    Lipschitz,
    /// Not known; the text says why.
    Unknown(String),
    /// Not Lipschitz: a slope without bound, or a jump. The text says where it comes from.
    Rough(String),
}

impl Smoothness {
    /// The rougher of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether it is Lipschitz on bounded sets; none if that is not known.
    #[must_use]
    pub fn is_lipschitz(&self) -> Option<bool> {
        match self {
            Self::Analytic | Self::Lipschitz => Some(true),
            Self::Unknown(_) => None,
            Self::Rough(_) => Some(false),
        }
    }
}

/// Segments on which the conditions of `if` are watched.
const SEGMENTS: u64 = 600;

impl Graph {
    /// Smoothness of an expression, from its operations; whether the branches of an `if` meet is decided on the border
    /// of its condition, found by bisection on random segments.
    #[must_use]
    pub fn smoothness(&self, expression: Expression) -> Smoothness {
        let mut worst = Smoothness::Analytic;
        for part in self.reachable(&[expression]) {
            worst = worst.and(self.smoothness_of_node(part));
            let numbers: Vec<Expression> = match self.node(part) {
                Node::Unary(Unary::Not, _) | Node::Binary(Binary::And | Binary::Or, ..) => vec![],
                Node::Select(_, a, b) => vec![a, b],
                _ => self.operands(part).collect(),
            };
            if numbers.into_iter().any(|e| self.is_condition(e)) {
                let why = "a condition that is used as a number jumps";
                worst = worst.and(Smoothness::Rough(why.to_string()));
            }
        }
        worst
    }

    /// Smoothness of the gradient of an expression: what has kinks has a gradient that jumps.
    #[must_use]
    pub fn gradient_smoothness(&self, expression: Expression) -> Smoothness {
        let kink = |part: &Expression| match self.node(*part) {
            Node::Unary(Unary::Abs, _)
            | Node::Binary(Binary::Min | Binary::Max | Binary::Hypot, ..)
            | Node::Select(..) => true,
            // The derivative of the highest order jumps from sample to sample.
            Node::Sampled(function, order, _) => order + 1 >= self.degree(function),
            _ => false,
        };
        let smooth = self.smoothness(expression);
        match self.reachable(&[expression]).iter().find(|part| kink(part)) {
            Some(&part) => {
                let word = match self.node(part) {
                    Node::Unary(..) => "abs",
                    Node::Binary(Binary::Min, ..) => "min",
                    Node::Binary(Binary::Max, ..) => "max",
                    Node::Binary(..) => "hypot",
                    Node::Sampled(..) => "a table",
                    _ => "if",
                };
                smooth.and(Smoothness::Rough(format!(
                    "the gradient jumps where `{word}` has its kink"
                )))
            }
            None => smooth,
        }
    }

    /// Whether the gradient of an expression jumps along some line or surface, or where roots and lengths vanish with the expression.
    #[must_use]
    pub fn has_kinks(&self, expression: Expression) -> bool {
        let kink = |part: &Expression| match self.node(*part) {
            Node::Unary(Unary::Abs | Unary::Sign, _)
            | Node::Binary(Binary::Min | Binary::Max, ..)
            | Node::Select(..) => true,
            Node::Sampled(function, order, _) => order + 1 >= self.degree(function),
            _ => false,
        };
        self.reachable(&[expression]).iter().any(kink) || self.vanishes_at_a_tip(expression)
    }

    /// Whether the value of an expression may jump.
    #[must_use]
    pub fn has_jumps(&self, expression: Expression) -> bool {
        let jump = |part: &Expression| match self.node(*part) {
            Node::Unary(Unary::Sign | Unary::Tan, _)
            | Node::Binary(Binary::Atan2, ..)
            | Node::Select(..) => true,
            Node::Sampled(function, order, _) => order >= self.degree(function),
            _ => self.is_condition(*part),
        };
        self.reachable(&[expression]).iter().any(jump)
    }

    fn is_condition(&self, expression: Expression) -> bool {
        use Binary::{And, Equal, Less, LessEqual, NotEqual, Or};
        matches!(
            self.node(expression),
            Node::Unary(Unary::Not, _)
                | Node::Binary(Less | LessEqual | Equal | NotEqual | And | Or, ..)
        )
    }

    fn smoothness_of_node(&self, part: Expression) -> Smoothness {
        let constant = |e: Expression| self.constant_value(e);
        let unknown = |what: &str| Smoothness::Unknown(what.to_string());
        let rough = |what: &str| Smoothness::Rough(what.to_string());
        match self.node(part) {
            Node::Constant(_) | Node::Input(_) => Smoothness::Analytic,
            Node::Unary(operation, _) => match operation {
                Unary::Sign => rough("`sign` jumps"),
                Unary::Abs => Smoothness::Lipschitz,
                Unary::Sqrt => unknown("`sqrt` is steep where its argument vanishes"),
                Unary::Asin | Unary::Acos => unknown("`asin` and `acos` are steep at ±1"),
                Unary::Log | Unary::Tan => unknown("`log` and `tan` have poles"),
                // Conditions count where they choose.
                _ => Smoothness::Analytic,
            },
            Node::Binary(operation, _, b) => match operation {
                Binary::Min | Binary::Max | Binary::Hypot => Smoothness::Lipschitz,
                Binary::Atan2 => rough("`atan2` jumps by a turn"),
                Binary::Divide if constant(b).is_none() => {
                    unknown("a quotient has poles where its denominator vanishes")
                }
                Binary::Power => match constant(b) {
                    Some(n) if n >= 1.0 => Smoothness::Lipschitz,
                    _ => unknown("a power below 1 is steep where its base vanishes"),
                },
                _ => Smoothness::Analytic,
            },
            Node::Select(condition, a, b) => self.branches_meet(condition, a, b),
            Node::Sampled(function, order, _) if order < self.degree(function) => {
                Smoothness::Lipschitz
            }
            Node::Sampled(..) => rough("the slope of a table jumps at its samples"),
        }
    }

    fn degree(&self, function: u16) -> u8 {
        self.functions()[usize::from(function)].degree()
    }

    /// Whether both branches agree where the condition changes.
    fn branches_meet(&self, condition: Expression, a: Expression, b: Expression) -> Smoothness {
        let tape = Tape::compile(self, &[condition, a, b]);
        let mut registers = Vec::new();
        let mut at = |seed: u64, part: f64, size: f64| {
            let mut out = [0.0; 3];
            // Both ends of a segment are drawn from the seed; inputs are read in between.
            let read = |k: usize| {
                let (from, to) = (draw(seed, k, 0), draw(seed, k, 1));
                size * ((1.0 - part) * from + part * to)
            };
            tape.evaluate_with(read, &mut registers, &mut out);
            out
        };
        let mut met = false;
        for seed in 0..SEGMENTS {
            let size = 10f64.powi((seed % 6) as i32 - 2);
            let (first, last) = (at(seed, 0.0, size), at(seed, 1.0, size));
            if (first[0] != 0.0) == (last[0] != 0.0) {
                continue;
            }
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if (at(seed, middle, size)[0] != 0.0) == (first[0] != 0.0) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let [_, x, y] = at(seed, high, size);
            if !(x.is_finite() && y.is_finite()) {
                continue;
            }
            met = true;
            if (x - y).abs() > 1e-6 * (x.abs() + y.abs()).max(1e-12) {
                return Smoothness::Rough(format!(
                    "`if` jumps from {x:.6} to {y:.6} where its condition changes"
                ));
            }
        }
        if met {
            Smoothness::Lipschitz
        } else {
            Smoothness::Unknown("the condition of an `if` was never seen to change".to_string())
        }
    }
}

/// A number between −1 and 1 for an input of a segment: splitmix of what names it.
pub(super) fn draw(seed: u64, input: usize, end: u64) -> f64 {
    let z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((input as u64).wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add(end.wrapping_mul(0x8CB9_2BA7_2F3D_8DD7));
    2.0 * (mixed(z) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
}
