//! Whether slopes of an expression are bounded over all states: globally Lipschitz, or on bounded sets only.

use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::smoothness::draw;
use super::tape::Tape;

/// How an expression without jumps grows with coordinates and velocities, past ones included, over a bounded time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// It does not read them.
    Fixed,
    /// Values and slopes are bounded.
    Bounded,
    /// Slopes are bounded: at most linear growth.
    Linear,
    /// Not known.
    Unknown,
    /// Slopes grow without bound.
    Steep,
}

/// Rays along which slopes are watched.
const RAYS: u64 = 40;

/// Distances on them: what a scene is measured in, and what its numbers are, moves where growth begins.
const FAR: [f64; 9] = [1e-6, 1e0, 1e3, 1e6, 1e9, 1e20, 1e40, 1e80, 1e120];

/// Whether numbers grow up to the last of them, beyond all bounds or again and again.
fn grows(values: &[f64]) -> bool {
    let last = values[values.len() - 1];
    let rises = |pair: &[f64]| pair[1] > 27.0 * pair[0] || pair[1].is_infinite();
    values[0].is_finite() && last > 0.0 && values.windows(2).rev().take(4).all(rises)
}

impl Growth {
    /// Whether slopes are bounded; none if that is not known.
    #[must_use]
    pub fn is_linear(self) -> Option<bool> {
        match self {
            Self::Fixed | Self::Bounded | Self::Linear => Some(true),
            Self::Unknown => None,
            Self::Steep => Some(false),
        }
    }
}

impl Graph {
    /// Growth of an expression over the times of a run: operations or intervals prove that slopes are bounded; where they do not, slopes
    /// along random rays show that they are not.
    #[must_use]
    pub fn growth(&self, expression: Expression, domain: &Domain) -> Growth {
        let mut known = vec![Growth::Unknown; expression.index() + 1];
        for node in self.reachable(&[expression]) {
            known[node.index()] = self.growth_of_node(node, |e| known[e.index()], domain);
        }
        match known[expression.index()] {
            Growth::Unknown if self.has_bounded_slopes(expression, domain) => Growth::Linear,
            Growth::Unknown if self.grows_along_a_ray(expression, domain) => Growth::Steep,
            growth => growth,
        }
    }

    /// Whether intervals bound all slopes, as those of `x*sign(x)`.
    fn has_bounded_slopes(&self, expression: Expression, domain: &Domain) -> bool {
        let mut graph = self.clone();
        let mut inputs = graph.inputs_of(expression);
        inputs.retain(|&k| k > 0);
        let mut plain = true;
        for &k in &inputs {
            let input = graph.input(k);
            plain &= graph.growth_of_node(input, |_| Growth::Unknown, domain) <= Growth::Linear;
        }
        let slopes = graph.gradient(expression, &inputs);
        let bounded = |slope: Expression| {
            let bounds = graph.bounds_within(slope, domain);
            bounds.iter().all(|end| end.is_finite())
        };
        plain && slopes.into_iter().all(bounded)
    }

    fn growth_of_node(
        &self,
        node: Expression,
        known: impl Fn(Expression) -> Growth,
        domain: &Domain,
    ) -> Growth {
        use Growth::{Bounded, Fixed, Linear, Unknown};
        let operands = self.operands(node).map(&known);
        let worst = operands.max().unwrap_or(Fixed);
        // A function of one bounded slope, and one that is bounded besides.
        let (straight, bounded) = (
            worst,
            if worst <= Linear {
                worst.min(Bounded)
            } else {
                Unknown
            },
        );
        let on_bounded = if worst <= Bounded { worst } else { Unknown };
        match self.node(node) {
            Node::Constant(_) | Node::Input(0) => Fixed,
            Node::Input(k) if (Self::HELD_FIRST..Self::PAST_FIRST).contains(&(k as usize)) => Fixed,
            // Values of the past grow as what they are read of.
            Node::Input(k) => (k as usize)
                .checked_sub(Self::PAST_FIRST)
                .and_then(|term| self.past_terms().get(term)?.operand)
                .map_or(Linear, |operand| self.growth(operand, domain)),
            Node::Unary(operation, _) => match operation {
                Unary::Negate | Unary::Abs => straight,
                Unary::Sin | Unary::Cos | Unary::Atan | Unary::Tanh => bounded,
                Unary::Sinh | Unary::Cosh | Unary::Exp => on_bounded,
                // Their jumps are told elsewhere.
                Unary::Sign | Unary::Not => worst.min(Bounded),
                Unary::Tan | Unary::Asin | Unary::Acos | Unary::Log | Unary::Sqrt => match worst {
                    Fixed => Fixed,
                    _ => Unknown,
                },
            },
            Node::Binary(operation, a, b) => match operation {
                Binary::Add | Binary::Subtract | Binary::Min | Binary::Max | Binary::Hypot => {
                    straight
                }
                Binary::Multiply => match (known(a), known(b)) {
                    (Fixed, other) | (other, Fixed) => other,
                    _ => on_bounded,
                },
                Binary::Divide => match known(b) {
                    Fixed => known(a),
                    _ => Unknown,
                },
                Binary::Power => match self.constant_value(b) {
                    Some(1.0) => known(a),
                    Some(n) if n > 1.0 => on_bounded,
                    _ if worst == Fixed => Fixed,
                    _ => Unknown,
                },
                _ => worst.min(Bounded),
            },
            Node::Select(_, a, b) => known(a).max(known(b)),
            Node::Sampled(..) => bounded,
        }
    }

    /// Whether an expression is bounded over all states, over the times of a run; none if that is not known.
    #[must_use]
    pub fn is_bounded(&self, expression: Expression, domain: &Domain) -> Option<bool> {
        let growth = self.growth(expression, domain);
        let bounds = self.bounds_within(expression, domain);
        if growth <= Growth::Bounded || bounds.iter().all(|end| end.is_finite()) {
            return Some(true);
        }
        (growth == Growth::Steep || self.rises_along_a_ray(expression, domain)).then_some(false)
    }

    /// Whether values grow with the distance along some ray.
    fn rises_along_a_ray(&self, expression: Expression, domain: &Domain) -> bool {
        let mut at = self.along_rays(expression, domain);
        (0..RAYS).any(|seed| grows(&FAR.map(|s| at(seed, s).abs())))
    }

    /// Whether difference quotients grow with the distance along some ray.
    fn grows_along_a_ray(&self, expression: Expression, domain: &Domain) -> bool {
        let mut at = self.along_rays(expression, domain);
        (0..RAYS).any(|seed| {
            grows(&FAR.map(|s| match (at(seed, 2.0 * s), at(seed, s)) {
                (far, near) if far.is_infinite() || near.is_infinite() => f64::INFINITY,
                (far, near) => (far - near).abs() / s,
            }))
        })
    }

    /// The expression at a distance along the ray of a seed.
    fn along_rays(
        &self,
        expression: Expression,
        domain: &Domain,
    ) -> impl FnMut(u64, f64) -> f64 + use<> {
        let until = domain.until;
        let tape = Tape::compile(self, &[expression]);
        let mut registers = Vec::new();
        move |seed, distance| {
            let mut out = [0.0];
            let read = |k: usize| {
                let direction = draw(seed, k, 0);
                if k == 0 {
                    direction.abs() * until
                } else {
                    distance * direction
                }
            };
            tape.evaluate_with(read, &mut registers, &mut out);
            out[0]
        }
    }
}
