//! Values of an expression along curves that lead away without end, or to a pole.
//!
//! # What it computes
//! Some inputs grow in step or each at its own rate, others stay where they are or vanish; towards a pole all come near a place where a
//! denominator vanishes. Distances are squared from one place to the next, so that logarithms double.
//!
//! # Guarantees
//! An expression that is told to rise became larger by half at least at each of the last four places, beyond ten times all that was seen
//! near; or it overflowed so. Values that rounding may have made do not count.

use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::places::{Places, Rows};
use super::rounded::{Evaluation, Rounded};
use super::switches::Kind;
use crate::algebra::splitmix::Splitmix;

/// Curves along which values are watched, and those in a region that a proof left open.
const CURVES: u64 = 160;
const CURVES_IN_REGION: u64 = 60;

/// Places at a pole from which it is looked at.
const CURVES_TO_POLE: u64 = 8;

/// Most borders whose places are looked for.
const BORDERS_MAX: usize = 20;

/// Distances along a curve; the first of them are near: what is seen there tells what is large.
const FAR: [f64; 9] = [1e0, 1e1, 1e2, 1e4, 1e8, 1e16, 1e32, 1e64, 1e128];
const NEAR: usize = 3;

/// Last rises that must be seen, what counts as one, and how much larger than all that was seen near the last number must be.
const RISES: usize = 4;
const RISE: f64 = 1.5;
const LARGE: f64 = 10.0;

/// What overflows beyond this number grew to it.
const OVERFLOWS: f64 = 1e30;

/// Values along a curve.
type Values = [f64; FAR.len()];

/// An expression with what is needed to draw curves.
pub(super) struct Curves<'a> {
    graph: &'a Graph,
    expression: Expression,
    domain: &'a Domain,
    /// Inputs that are bounded, whatever they are.
    held: &'a dyn Fn(usize) -> bool,
    inputs: Vec<usize>,
    evaluation: Evaluation,
    /// Where curves start.
    starts: Vec<Vec<f64>>,
    /// Places where denominators and the like vanish.
    poles: Vec<Vec<f64>>,
    /// Whether rounding of large angles leaves only the size of a value.
    turns: bool,
    /// The largest value that was seen near.
    near: f64,
}

impl<'a> Curves<'a> {
    pub fn new(
        graph: &'a Graph,
        expression: Expression,
        domain: &'a Domain,
        held: &'a dyn Fn(usize) -> bool,
    ) -> Self {
        let inputs = graph.inputs_of(expression);
        let mut own = graph.clone();
        let mut borders = own.switches_of(&[expression]);
        borders.truncate(BORDERS_MAX);
        let places = Places::new(&mut own, domain, inputs.clone(), &borders);
        let mut vanishing: Vec<Expression> = (own.jumping(expression).into_iter())
            .filter(|switch| matches!(switch.kind, Kind::Pole(_)))
            .map(|switch| switch.border)
            .collect();
        vanishing.truncate(BORDERS_MAX);
        let mut poles = Vec::new();
        for border in vanishing {
            // A length vanishes where both of its parts do.
            let rows = match own.node(border) {
                Node::Binary(Binary::Hypot, a, b) => vec![a, b],
                _ => vec![border],
            };
            let mut rows = Rows::new(&mut own, &rows, &inputs);
            let seeds = 0..CURVES_TO_POLE;
            poles.extend(seeds.filter_map(|seed| Some(places.find(&mut rows, seed)?.values())));
        }
        let turn = |&part: &Expression| {
            let node = graph.node(part);
            matches!(node, Node::Unary(Unary::Sin | Unary::Cos | Unary::Tan, _))
        };
        Self {
            evaluation: Evaluation::new(graph, &[expression]),
            starts: (0..CURVES).map(|seed| places.drawn(seed).0).collect(),
            turns: graph.reachable(&[expression]).iter().any(turn),
            near: 0.0,
            poles,
            graph,
            expression,
            domain,
            held,
            inputs,
        }
    }

    /// Whether the expression rises along some curve.
    pub fn rise(&mut self) -> bool {
        let away = (0..CURVES).map(|seed| self.legs(seed, None));
        let away: Vec<Vec<Leg>> = away.collect();
        let away: Vec<Values> = away.iter().map(|legs| self.values_along(legs)).collect();
        let near = away.iter().flat_map(|values| &values[..NEAR]);
        let sizes = near
            .map(|value| value.abs())
            .filter(|size| size.is_finite());
        self.near = sizes.fold(0.0, f64::max);
        let mut random = Splitmix(11);
        let mut leg = |&start: &f64| Leg {
            start,
            rate: 2.0 * random.unit() - 1.0,
            power: -1.0,
        };
        let poles = self.poles.iter();
        let poles: Vec<Vec<Leg>> = poles.map(|at| at.iter().map(&mut leg).collect()).collect();
        away.iter().any(|values| rises(values, self.near))
            || poles
                .iter()
                .any(|legs| rises(&self.values_along(legs), self.near))
    }

    /// Whether it rises where inputs stay within ranges.
    pub fn rise_within(&mut self, ranges: &[[f64; 2]]) -> bool {
        (0..CURVES_IN_REGION).any(|seed| {
            let legs = self.legs(seed, Some(ranges));
            rises(&self.values_along(&legs), self.near)
        })
    }

    fn values_along(&mut self, legs: &[Leg]) -> Values {
        FAR.map(|distance| {
            let read = |k: usize| {
                let leg = self.inputs.binary_search(&k).map(|i| &legs[i]);
                // A place as it is.
                Rounded {
                    value: leg.map_or(0.0, |leg| leg.at(distance)),
                    error: 0.0,
                }
            };
            self.evaluation.at(self.graph, read, &[]);
            let value = self.evaluation.of(self.expression);
            match value.value.is_finite() && value.vanishes() && !self.turns {
                true => 0.0,
                false => value.value,
            }
        })
    }

    fn legs(&self, seed: u64, ranges: Option<&[[f64; 2]]>) -> Vec<Leg> {
        let mut random = Splitmix(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x51);
        (0..self.inputs.len())
            .map(|i| self.leg(seed, i, ranges.map(|ranges| ranges[i]), &mut random))
            .collect()
    }

    fn leg(&self, seed: u64, i: usize, range: Option<[f64; 2]>, random: &mut Splitmix) -> Leg {
        let input = self.inputs[i];
        let [part, choice, factor] = [random.unit(), random.unit(), random.unit()];
        let [low, high] = range.unwrap_or_else(|| self.domain.range(input));
        // In every third seed everything grows.
        let (power, aside) = match choice {
            _ if range.is_none() && seed.is_multiple_of(3) => (1.0, 0.0),
            c if c < 0.5 => (1.0, part),
            c if c < 0.85 => (0.0, 1.0),
            c if c < 0.93 => (-1.0, part),
            _ => (0.5, part),
        };
        let start = match aside < 0.5 {
            true => 0.0,
            false => self.starts[seed as usize][i],
        };
        // In every second, inputs grow in step.
        let rate = match seed % 2 {
            0 => 1.0,
            _ => 0.1 + (2.0 * factor) % 1.0,
        };
        let sign = if factor < 0.5 { 1.0 } else { -1.0 };
        let (start, rate) = match (low.is_finite(), high.is_finite()) {
            (true, true) => (low + part * (high - low), 0.0),
            _ if (self.held)(input) => (start, 0.0),
            (true, false) => (low.max(start), rate),
            (false, true) => (high.min(start), -rate),
            (false, false) => (start, sign * rate),
        };
        Leg { start, rate, power }
    }
}

/// Whether numbers grow up to the last of them that there is, beyond what was seen near.
fn rises(values: &Values, near: f64) -> bool {
    let finite = values.iter().map(|value| value.abs());
    let finite: Vec<f64> = finite.take_while(|value| value.is_finite()).collect();
    let Some(&last) = finite.last() else {
        return false;
    };
    let next = values.get(finite.len());
    let overflows = next.is_some_and(|next| next.is_infinite()) && last > OVERFLOWS;
    let needed = if overflows { 1 } else { RISES };
    let rise = |pair: &[f64]| pair[1] >= RISE * pair[0] && pair[1] > 0.0;
    finite.len() > needed
        && finite.windows(2).rev().take(needed).all(rise)
        && (overflows || last > LARGE * near)
}

/// An input along a curve: start + rate · distance^power.
struct Leg {
    start: f64,
    rate: f64,
    power: f64,
}

impl Leg {
    fn at(&self, distance: f64) -> f64 {
        match self.power {
            0.0 => self.start,
            power => self.start + self.rate * distance.powf(power),
        }
    }
}
