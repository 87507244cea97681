//! How smooth an expression is: analytic, Lipschitz, steep or with jumps.

use super::borders::Borders;
use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::switches::Switch;
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

impl Graph {
    /// Smoothness of an expression over the times of a run and all states: kinks from its operations, jumps from the borders of its
    /// switches.
    #[must_use]
    pub fn smoothness(&self, expression: Expression, domain: &Domain) -> Smoothness {
        self.smoothness_on(expression, domain, None, |_, _| true)
    }

    /// The same where a surface vanishes, of switches that count.
    pub(super) fn smoothness_on(
        &self,
        expression: Expression,
        domain: &Domain,
        surface: Option<Expression>,
        counts: impl Fn(&Self, &Switch) -> bool,
    ) -> Smoothness {
        let mut graph = self.clone();
        let smooth = self.smoothness_between_borders(expression, domain);
        if graph.jumping(expression).is_empty() {
            return smooth;
        }
        smooth.and(Borders::new(&mut graph, domain, expression, surface).judge(counts))
    }

    /// Whether an expression has kinks, by its operations alone.
    fn smoothness_between_borders(&self, expression: Expression, domain: &Domain) -> Smoothness {
        let definite = |e: Expression| {
            let [low, high] = self.bounds_within(e, domain);
            low > 0.0 || high < 0.0
        };
        let kink = |part: &Expression| match self.node(*part) {
            Node::Unary(Unary::Abs, a) => !definite(a),
            Node::Binary(Binary::Min | Binary::Max, ..) | Node::Sampled(..) => true,
            Node::Binary(Binary::Hypot, ..) => !definite(*part),
            Node::Unary(Unary::Sqrt, a) => !definite(a),
            Node::Binary(Binary::Power, a, _) => !definite(a),
            _ => false,
        };
        match self.reachable(&[expression]).iter().any(kink) {
            true => Smoothness::Lipschitz,
            false => Smoothness::Analytic,
        }
    }

    /// Smoothness of an expression and of its gradient in some inputs: what has kinks has a gradient that jumps.
    #[must_use]
    pub fn gradient_smoothness(
        &self,
        expression: Expression,
        inputs: &[usize],
        domain: &Domain,
    ) -> Smoothness {
        let smooth = self.smoothness(expression, domain);
        let mut graph = self.clone();
        let slopes = graph.gradient(expression, inputs);
        let slopes = slopes
            .into_iter()
            .map(|slope| graph.smoothness(slope, domain));
        let slopes = slopes.fold(Smoothness::Analytic, Smoothness::and);
        smooth.and(self.told_of_gradient(expression, slopes))
    }

    /// The same, told of the operations of the expression that may have made it.
    pub(super) fn told_of_gradient(&self, expression: Expression, found: Smoothness) -> Smoothness {
        let word = |part: &Expression| match self.node(*part) {
            Node::Unary(Unary::Abs, _) => Some("abs"),
            Node::Unary(Unary::Sign, _) => Some("sign"),
            Node::Unary(Unary::Sqrt, _) => Some("sqrt"),
            Node::Binary(Binary::Min, ..) => Some("min"),
            Node::Binary(Binary::Max, ..) => Some("max"),
            Node::Binary(Binary::Hypot, ..) => Some("hypot"),
            Node::Binary(Binary::Power, ..) => Some("a power"),
            Node::Select(..) => Some("if"),
            Node::Sampled(..) => Some("a table"),
            _ => None,
        };
        let mut words: Vec<&str> = (self.reachable(&[expression]).iter())
            .filter_map(word)
            .collect();
        words.sort_unstable();
        words.dedup();
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        match found {
            Smoothness::Rough(_) if !words.is_empty() => Smoothness::Rough(format!(
                "the gradient jumps where {} has its kink",
                words.join(" or ")
            )),
            Smoothness::Rough(why) => Smoothness::Rough(format!("in the gradient, {why}")),
            Smoothness::Unknown(why) => Smoothness::Unknown(format!("in the gradient, {why}")),
            known => known,
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

    pub(super) fn is_condition(&self, expression: Expression) -> bool {
        use Binary::{And, Equal, Less, LessEqual, NotEqual, Or};
        matches!(
            self.node(expression),
            Node::Unary(Unary::Not, _)
                | Node::Binary(Less | LessEqual | Equal | NotEqual | And | Or, ..)
        )
    }

    fn degree(&self, function: u16) -> u8 {
        self.functions()[usize::from(function)].degree()
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
