//! Whether an expression is continuously differentiable where it vanishes.

use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::places::{Places, Rows};
use super::rounded::{Evaluation, Rounded};
use super::smoothness::{Smoothness, draw};
use super::switches::{Kind, Switch};
use super::tape::Tape;
use crate::algebra::dot;
use crate::algebra::rank_revealing::solve_any_rank;
use crate::algebra::small_dense::norm;

/// Starts from which a kink is looked for on the surface, in so many sizes, each ten times the one before.
const STARTS: u64 = 40;
const SIZES: u64 = 10;
/// Rows vanish at a place that is a zero of theirs to this part of its size.
const VANISHED: f64 = 1e-7;
const ROUNDS: usize = 60;

/// Where an operation has a kink: where all of these vanish.
type Kink = Vec<Expression>;

impl Graph {
    /// Whether the gradient of a gap in its coordinates is continuous on the surface where the gap vanishes: the borders of what its
    /// operations make of the gradient decide, where they meet the surface.
    #[must_use]
    pub fn smoothness_of_surface(&self, gap: Expression, domain: &Domain) -> Smoothness {
        // Poles of the gap are poles of its gradient.
        let jumps = |_: &Self, switch: &Switch| !matches!(switch.kind, Kind::Pole(_));
        let mut worst = self.smoothness_on(gap, domain, None, jumps);
        let mut graph = self.clone();
        let mut places = self.inputs_of(gap);
        places.retain(|&k| k > 0);
        let slopes = graph.gradient(gap, &places);
        let found = self.worst_on_surface(&graph, &slopes, gap, domain);
        worst = worst.and(self.told_of_gradient(gap, found));
        match worst {
            Smoothness::Lipschitz => Smoothness::Analytic,
            known => known,
        }
    }

    /// Whether a root, a power below 1 or a length (`hypot`) has its kink where an expression vanishes: the tip of a cone.
    pub(super) fn vanishes_at_a_tip(&self, expression: Expression) -> bool {
        let tip = |part: &Expression| {
            let power = |n: Expression| self.constant_value(n).is_none_or(|n| n < 1.0);
            match self.node(*part) {
                Node::Unary(Unary::Sqrt | Unary::Asin | Unary::Acos, _)
                | Node::Binary(Binary::Hypot, ..) => true,
                Node::Binary(Binary::Power, _, n) => power(n),
                _ => false,
            }
        };
        let mut parts = self.reachable(&[expression]);
        parts.retain(tip);
        if parts.is_empty() {
            return false;
        }
        let (mut graph, mut kinks) = (self.clone(), Vec::new());
        for part in parts {
            graph.kinks_of(part, &mut kinks);
        }
        (kinks.iter()).any(|kink| graph.is_kink_of_surface(kink, expression))
    }

    /// Whether an equation is twice continuously differentiable where it holds, as that of a joint must be: the velocity turns
    /// with its second derivatives. On the wire y = −|x|^1.5 the gradient is continuous, and a bead has several motions.
    #[must_use]
    pub fn smoothness_of_equation(&self, equation: Expression, domain: &Domain) -> Smoothness {
        let known = self.smoothness(equation, domain);
        if matches!(known, Smoothness::Analytic | Smoothness::Rough(_)) {
            return known;
        }
        let known = self.smoothness_of_surface(equation, domain);
        if matches!(known, Smoothness::Rough(_)) {
            return known;
        }
        let mut graph = self.clone();
        let mut places = self.inputs_of(equation);
        places.retain(|&k| k > 0);
        let bends = graph.hessian(equation, &places);
        let bends = self.worst_on_surface(&graph, &bends, equation, domain);
        known.and(match bends {
            Smoothness::Rough(why) => Smoothness::Rough(format!("in second derivatives, {why}")),
            Smoothness::Unknown(why) => {
                Smoothness::Unknown(format!("in second derivatives, {why}"))
            }
            Smoothness::Analytic | Smoothness::Lipschitz => Smoothness::Analytic,
        })
    }

    /// Smoothness of an expression where a surface vanishes: what has its kinks, poles and jumps away from the surface is analytic there.
    #[must_use]
    pub fn smoothness_near(
        &self,
        expression: Expression,
        surface: Expression,
        domain: &Domain,
    ) -> Smoothness {
        let known = self.smoothness(expression, domain);
        if known == Smoothness::Analytic {
            return known;
        }
        let (mut graph, mut borders) = (self.clone(), Vec::new());
        for part in self.reachable(&[expression]) {
            graph.kinks_of(part, &mut borders);
        }
        for Switch { border, .. } in graph.jumping(expression) {
            // A length vanishes where both of its parts do.
            borders.push(match graph.node(border) {
                Node::Binary(Binary::Hypot, a, b) => vec![a, b],
                _ => vec![border],
            });
        }
        match (borders.iter()).any(|border| graph.meets(border, surface, domain)) {
            true => known,
            false => Smoothness::Analytic,
        }
    }

    /// Whether a border and a surface vanish at one place, by intervals or looked for in the sizes of the scene.
    fn meets(&mut self, border: &[Expression], surface: Expression, domain: &Domain) -> bool {
        let apart = |graph: &mut Self, e: Expression| {
            let (part, value) = graph.where_it_vanishes(e);
            let there = graph.with_part(surface, part, value);
            let ends = [
                graph.bounds_within(e, domain),
                graph.bounds_within(there, domain),
            ];
            ends.into_iter().any(|[low, high]| low > 0.0 || high < 0.0)
        };
        if border.iter().any(|&e| apart(self, e)) {
            return false;
        }
        let mut rows = border.to_vec();
        rows.push(surface);
        let mut inputs: Vec<usize> = rows.iter().flat_map(|&e| self.inputs_of(e)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let places = Places::new(self, domain, inputs.clone(), &rows);
        let mut slopes = Rows::new(self, &rows, &inputs);
        let mut evaluation = Evaluation::new(self, &rows);
        (0..2 * STARTS).any(|seed| {
            places.find(&mut slopes, seed).is_some_and(|place| {
                let read = |k: usize| {
                    let index = inputs.binary_search(&k);
                    index.map_or(Rounded::default(), |i| place.x[i])
                };
                evaluation.at(self, read, &[]);
                rows.iter().all(|&row| evaluation.of(row).vanishes())
            })
        })
    }

    /// The worst of some derivatives where an expression vanishes.
    fn worst_on_surface(
        &self,
        graph: &Self,
        derivatives: &[Expression],
        surface: Expression,
        domain: &Domain,
    ) -> Smoothness {
        // What only time switches has no place.
        let somewhere = |graph: &Self, switch: &Switch| graph.inputs_of(switch.border) != [0];
        let mut seen = std::collections::BTreeSet::new();
        (derivatives.iter().filter(|&&e| seen.insert(e)))
            .map(|&e| graph.smoothness_on(e, domain, Some(surface), somewhere))
            .fold(Smoothness::Analytic, Smoothness::and)
    }

    /// Functions that change their sign wherever one of the expressions may jump or bend, inner ones first.
    pub fn switches_of(&mut self, roots: &[Expression]) -> Vec<Expression> {
        let mut switches = Vec::new();
        for part in self.reachable(roots) {
            let mut kinks = Vec::new();
            self.kinks_of(part, &mut kinks);
            switches.extend(kinks.into_iter().flatten());
            if let Node::Binary(Binary::Less | Binary::LessEqual, ..) = self.node(part) {
                switches.extend(self.borders_of(part));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        switches.retain(|&e| self.constant_value(e).is_none() && seen.insert(e));
        switches
    }

    fn kinks_of(&mut self, part: Expression, kinks: &mut Vec<Kink>) {
        let mut add = |switch| kinks.push(switch);
        match self.node(part) {
            Node::Unary(Unary::Abs, a) => add(vec![a]),
            Node::Unary(Unary::Sign, a) => add(vec![a]),
            Node::Unary(Unary::Sqrt, a) => add(vec![a]),
            Node::Unary(Unary::Asin | Unary::Acos, a) => {
                let (square, one) = (self.multiply(a, a), self.constant(1.0));
                add(vec![self.subtract(square, one)]);
            }
            Node::Binary(Binary::Power, a, n) if self.constant_value(n).is_none_or(|n| n < 1.0) => {
                add(vec![a]);
            }
            Node::Binary(Binary::Hypot, a, b) => add(vec![a, b]),
            Node::Binary(Binary::Min, a, b) => add(vec![self.subtract(a, b)]),
            Node::Binary(Binary::Max, a, b) => add(vec![self.subtract(a, b)]),
            Node::Select(condition, ..) => {
                for border in self.borders_of(condition) {
                    add(vec![border]);
                }
            }

            Node::Sampled(function, order, a) => {
                let breaks = self.functions()[usize::from(function)].breaks(order);
                for place in breaks {
                    let place = self.constant(place);
                    add(vec![self.subtract(a, place)]);
                }
            }
            _ => {}
        }
    }

    /// What vanishes where a condition changes.
    fn borders_of(&mut self, condition: Expression) -> Vec<Expression> {
        match self.node(condition) {
            Node::Unary(Unary::Not, a) => self.borders_of(a),
            Node::Binary(Binary::And | Binary::Or, a, b) => {
                let mut all = self.borders_of(a);
                all.extend(self.borders_of(b));
                all
            }
            Node::Binary(Binary::Less | Binary::LessEqual, a, b) => vec![self.subtract(a, b)],
            _ => Vec::new(),
        }
    }

    /// Whether the gradient of the gap jumps at a place where the gap and the switch vanish.
    fn is_kink_of_surface(&mut self, switch: &[Expression], gap: Expression) -> bool {
        let inputs = self.inputs_of(gap);
        let n = inputs.len();
        let mut outputs = switch.to_vec();
        outputs.push(gap);
        let rows = outputs.len();
        for row in 0..rows {
            let gradient = self.gradient(outputs[row], &inputs);
            outputs.extend(gradient);
        }
        let tape = Tape::compile(self, &outputs);
        let mut registers = Vec::new();
        let mut at = |x: &[f64]| {
            let mut out = vec![0.0; outputs.len()];
            let read = |k: usize| (inputs.binary_search(&k)).map_or(0.0, |i| x[i]);
            tape.evaluate_with(read, &mut registers, &mut out);
            out
        };
        for seed in 0..STARTS {
            let size = 10f64.powi((seed % SIZES) as i32 - 6);
            let mut x: Vec<f64> = inputs.iter().map(|&k| size * draw(seed, k, 0)).collect();
            // In the unit of each row: a square vanishes as its slope does. Where a square has none, nothing tells what lies across.
            let vanish = |out: &[f64], x: &[f64]| {
                let length = size + norm(x);
                (0..rows).all(|row| {
                    let slope = norm(&out[rows + row * n..][..n]);
                    let slope = if slope.is_finite() { slope } else { 1.0 };
                    out[row].abs() <= VANISHED * slope * length
                })
            };
            let mut out = at(&x);
            let mut rounds = 0;
            while rounds < ROUNDS && !vanish(&out, &x) {
                least_step(&out, rows, &mut x);
                out = at(&x);
                rounds += 1;
            }
            if !vanish(&out, &x) {
                continue;
            }
            let length = size + norm(&x);
            // Across the kink, the jump of a gradient stays as the distance shrinks.
            let Some(across) = (0..rows - 1)
                .map(|row| &out[rows + row * n..][..n])
                .find(|slope| norm(slope) > 0.0)
            else {
                continue;
            };
            let across: Vec<f64> = across.iter().map(|d| d / norm(across)).collect();
            let mut jump = |distance: f64| {
                let mut side = |sign: f64| {
                    let moved: Vec<f64> = (x.iter().zip(&across))
                        .map(|(x, d)| x + sign * distance * length * d)
                        .collect();
                    at(&moved)[rows + (rows - 1) * n..].to_vec()
                };
                let (ahead, behind) = (side(1.0), side(-1.0));
                let places = (0..n).filter(|&i| inputs[i] != 0);
                let (mut change, mut all) = (0.0f64, 0.0f64);
                for i in places {
                    change = change.max((ahead[i] - behind[i]).abs());
                    all = all.max(ahead[i].abs()).max(behind[i].abs());
                }
                let finite = ahead.iter().chain(&behind).all(|g| g.is_finite());
                if finite {
                    change / all.max(f64::MIN_POSITIVE)
                } else {
                    f64::INFINITY
                }
            };
            let (far, near) = (jump(1e-3), jump(1e-4));
            if near > 1e-6 && near > 0.5 * far {
                return true;
            }
        }
        false
    }
}

/// Moves x by the least step of Newton's method to a zero of the rows, whose gradients follow their values.
fn least_step(out: &[f64], rows: usize, x: &mut [f64]) {
    let n = x.len();
    let slope = |row: usize| &out[rows + row * n..][..n];
    if out.iter().any(|value| !value.is_finite()) {
        return;
    }
    // The units of rows do not decide which of them depend on each other.
    let sizes: Vec<f64> = (0..rows).map(|row| norm(slope(row))).collect();
    let unit = |row: usize| {
        if sizes[row] > 0.0 {
            1.0 / sizes[row]
        } else {
            0.0
        }
    };
    let products: Vec<f64> = (0..rows * rows)
        .map(|k| (k / rows, k % rows))
        .map(|(a, b)| unit(a) * unit(b) * dot(slope(a), slope(b)))
        .collect();
    let values: Vec<f64> = (0..rows).map(|row| unit(row) * out[row]).collect();
    let factors = solve_any_rank(&products, &values, 1e-14).point;
    for (row, factor) in factors.iter().enumerate() {
        let step = factor * unit(row);
        (x.iter_mut().zip(slope(row))).for_each(|(x, s)| *x -= step * s);
    }
}
