//! Products of powers: whether one of them is bounded where its factors are not.
//!
//! # What it computes
//! The size of an expression as Π |f|^r over parts f that are no products themselves. A factor that is bounded, or stays away from zero in a
//! denominator, is left out. A sum that grows is taken term by term, |Σ t|^r ≤ C Σ |t|^r. What still grows must be held by
//!
//! - a sum in a denominator whose growing terms t have one sign, as 1 + x² + z²: it is at least c |t| for each of them, hence at least
//!   c Π |t|^λ with λ ≥ 0, Σ λ = 1, so that x z/(1 + x² + z²) is bounded;
//! - an exponential exp(−t) of what grows, which is below every power of it: x² exp(−x²).
//!
//! # Guarantees
//! What is told bounded is. Shares λ are taken greedily: a product may be bounded without being told so.

use std::collections::BTreeMap;

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::region::{Form, Parts, Region};

/// Most sums that are taken term by term, one within the other.
const DEPTH_MAX: usize = 6;

/// A power of this size stands for what a logarithm adds to one.
const POWER_OF_LOG: f64 = 1.0 / 1024.0;

/// Exponents below are none, but for rounding.
const NONE: f64 = 1e-9;

/// What grows: a part, or all sums of the same growing terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Factor {
    Part(Expression),
    Sum(Form),
}

/// Exponents by factor.
#[derive(Clone, Debug, Default)]
pub(super) struct Magnitude(BTreeMap<Factor, f64>);

/// Where magnitudes are looked at.
pub(super) struct Place<'a> {
    pub parts: &'a Parts<'a>,
    pub region: &'a Region,
    /// Inputs that are bounded, whatever they are.
    pub held: &'a dyn Fn(usize) -> bool,
}

/// A factor of a denominator.
struct Divisor {
    /// What it is at least, but for a factor, one for each term that counts.
    least: Vec<Magnitude>,
    exponent: f64,
    /// Whether it stays away from zero: then less of it may be used.
    away: bool,
}

impl Place<'_> {
    fn graph(&self) -> &Graph {
        &self.parts.graph
    }

    fn grows(&self, part: Expression) -> bool {
        let held = matches!(self.graph().node(part), Node::Input(k) if (self.held)(k as usize));
        !held && !self.region.is_finite(part)
    }

    /// −1 where a growing part grows downwards only, 1 where upwards only.
    fn direction(&self, part: Expression, sign: f64) -> Option<f64> {
        match self.region.of(part).map(f64::is_finite) {
            [true, _] => Some(sign),
            [_, true] => Some(-sign),
            _ => None,
        }
    }

    fn is_growing(&self, factor: &Factor) -> bool {
        match factor {
            &Factor::Part(part) => self.grows(part),
            Factor::Sum(_) => true,
        }
    }

    /// The terms of a sum; none of anything else.
    fn terms_of_sum(&self, part: Expression) -> Vec<Expression> {
        match self.graph().node(part) {
            Node::Binary(Binary::Add | Binary::Subtract, ..) => {
                let terms = self.graph().terms(part).into_iter();
                terms.map(|term| term.0).collect()
            }
            Node::Binary(Binary::Hypot, a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }

    fn is_sum(&self, part: Expression) -> bool {
        matches!(
            self.graph().node(part),
            Node::Binary(Binary::Add | Binary::Subtract, ..)
        )
    }

    /// The terms of a length, or of a sum whose terms have one sign: it is at least as large as each of them.
    fn terms_of_length(&self, part: Expression) -> Vec<Expression> {
        if !self.is_sum(part) {
            return self.terms_of_sum(part);
        }
        let one_sign = |(t, sign): (Expression, f64)| {
            let [low, high] = self.region.of(t);
            let (up, down) = (low >= 0.0, high <= 0.0);
            if sign > 0.0 { [up, down] } else { [down, up] }
        };
        let signs = self.graph().terms(part).into_iter().map(one_sign);
        match signs.fold([true; 2], |all, one| [all[0] && one[0], all[1] && one[1]]) {
            [false, false] => Vec::new(),
            _ => self.terms_of_sum(part),
        }
    }

    /// The direction in which all growing terms of a sum grow, with these terms.
    fn growing_terms(&self, sum: Expression) -> Option<(f64, Vec<Expression>)> {
        let mut growing = self.graph().terms(sum);
        growing.retain(|term| self.grows(term.0));
        // Beside a square, its root is small.
        let core = |term: Expression| match self.graph().node(term) {
            Node::Binary(Binary::Multiply, a, b) if self.graph().constant_value(a).is_some() => b,
            _ => term,
        };
        let squares = growing
            .iter()
            .filter_map(|term| self.parts.root(core(term.0)));
        let roots: Vec<Expression> = squares.collect();
        growing.retain(|term| !roots.contains(&core(term.0)));
        let mut directions = growing.iter().map(|&(t, sign)| self.direction(t, sign));
        let first = directions.next()??;
        let same = directions.all(|d| d == Some(first));
        same.then(|| (first, growing.into_iter().map(|term| term.0).collect()))
    }
}

impl Magnitude {
    /// The magnitude of an expression; none where it vanishes.
    pub fn of(e: Expression, place: &Place) -> Option<Self> {
        let mut open = BTreeMap::from([(e, 1.0)]);
        let mut factors = BTreeMap::new();
        let graph = place.graph();
        // Operands come before what is made of them: a part that is used twice is taken once.
        while let Some((part, exponent)) = open.pop_last() {
            let mut add =
                |part: Expression, by: f64| *open.entry(part).or_default() += by * exponent;
            match graph.node(part) {
                Node::Constant(bits) if f64::from_bits(bits) == 0.0 => return None,
                Node::Constant(bits) if f64::from_bits(bits).is_finite() => {}
                Node::Unary(Unary::Negate | Unary::Abs, a) => add(a, 1.0),
                Node::Unary(Unary::Sqrt, a) => add(a, 0.5),
                Node::Unary(Unary::Log, a) if place.grows(part) && place.region.of(a)[0] > 0.0 => {
                    add(a, POWER_OF_LOG);
                }
                Node::Binary(Binary::Multiply, a, b) => {
                    add(a, 1.0);
                    add(b, 1.0);
                }
                Node::Binary(Binary::Divide, a, b) => {
                    add(a, 1.0);
                    add(b, -1.0);
                }
                Node::Binary(Binary::Power, a, n) if graph.constant_value(n).is_some() => {
                    add(a, graph.constant_value(n).unwrap_or_default());
                }
                _ => match place.parts.chosen(part, place.region) {
                    Some(side) => add(side, 1.0),
                    None => *factors.entry(Factor::Part(part)).or_default() += exponent,
                },
            }
        }
        factors.retain(|_, exponent: &mut f64| exponent.abs() > NONE);
        Some(Self(factors))
    }

    /// How many factors there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is bounded.
    pub fn is_bounded(&self, place: &Place) -> bool {
        self.is_bounded_at(place, 0)
    }

    fn is_bounded_at(&self, place: &Place, depth: usize) -> bool {
        let graph = place.graph();
        let (mut factors, mut divisors, mut vanishing) = (Self::default(), Vec::new(), Vec::new());
        let mut sum = None;
        for (factor, &exponent) in &self.0 {
            let &Factor::Part(part) = factor else {
                factors.0.insert(factor.clone(), exponent);
                continue;
            };
            let node = graph.node(part);
            if let Node::Unary(Unary::Exp, a) = node {
                let upwards = if exponent > 0.0 { 1.0 } else { -1.0 };
                if place.grows(a) && place.direction(a, -upwards) == Some(1.0) {
                    vanishing.push(a);
                    continue;
                }
            }
            if exponent > 0.0 {
                let terms = place.terms_of_sum(part);
                if !terms.is_empty() && (sum.is_none() || place.grows(part)) {
                    sum = Some((part, terms));
                }
                factors.0.insert(factor.clone(), exponent);
            } else {
                let Some(divisor) = Divisor::new(part, -exponent, place) else {
                    return false;
                };
                divisors.push(divisor);
            }
        }
        // As sums of their growing terms, each sum as one; otherwise term by term.
        let split = || {
            sum.as_ref().is_some_and(|(part, terms)| {
                let one = |t: &Expression| self.with(*part, *t, place, depth);
                depth < DEPTH_MAX && terms.iter().all(one)
            })
        };
        // What is added to them has only divisors that stay away from zero.
        let away = divisors.iter().all(|divisor: &Divisor| divisor.away);
        let told = (factors.join_sums(place) || away).then_some(factors);
        let told = told.is_some_and(|mut left| {
            for argument in vanishing {
                left.held_by_exponential(argument, place);
            }
            divisors.into_iter().all(|d| left.held_by(d))
                && !left.0.keys().any(|f| place.is_growing(f))
        });
        told || split()
    }

    /// Growing sums become what their growing terms are, whatever is added to them: one term, or a form. Whether nothing is added.
    fn join_sums(&mut self, place: &Place) -> bool {
        let mut whole = true;
        for (factor, exponent) in self.0.clone() {
            let Factor::Part(part) = factor else {
                continue;
            };
            if !place.grows(part) {
                continue;
            }
            let Some((form, more)) = place.parts.growing_form(part, |e| place.grows(e)) else {
                continue;
            };
            whole &= !more;
            let joined = match form[..] {
                [(only, _)] => Factor::Part(only),
                _ => Factor::Sum(form),
            };
            self.0.remove(&Factor::Part(part));
            *self.0.entry(joined).or_default() += exponent;
        }
        whole
    }

    /// Whether it is bounded with a term in the place of a sum.
    fn with(&self, sum: Expression, term: Expression, place: &Place, depth: usize) -> bool {
        let Some(term) = Self::of(term, place) else {
            return true;
        };
        let mut other = self.clone();
        let exponent = other.0.remove(&Factor::Part(sum)).unwrap_or_default();
        other.multiply(&term, exponent);
        other.is_bounded_at(place, depth + 1)
    }

    fn multiply(&mut self, other: &Self, exponent: f64) {
        for (factor, by) in &other.0 {
            *self.0.entry(factor.clone()).or_default() += exponent * by;
        }
        self.0.retain(|_, exponent| exponent.abs() > NONE);
    }

    /// What a term is at least, but for a factor: powers of what grows where the term is large, of all that may vanish otherwise. Whether
    /// it is so everywhere.
    fn least(mut self, large: bool, place: &Place) -> Option<(Self, bool)> {
        for (factor, exponent) in std::mem::take(&mut self.0) {
            let Factor::Part(part) = factor else {
                return None;
            };
            match (exponent > 0.0, place.grows(part)) {
                (true, true) => {
                    self.0.insert(factor, exponent);
                }
                (true, false) if place.region.is_away(part) => {}
                (true, false) if !large => {
                    self.0.insert(factor, exponent);
                }
                (false, false) => {}
                _ => return None,
            }
        }
        let everywhere = self.join_sums(place);
        Some((self, everywhere))
    }

    /// This, and the same with any term in the place of a sum whose terms have one sign: the sum is at least each of them.
    fn with_terms(self, place: &Place) -> Vec<Self> {
        let sums = self
            .0
            .iter()
            .filter_map(|(factor, &exponent)| match factor {
                &Factor::Part(part) if exponent > 0.0 => Some((part, exponent)),
                _ => None,
            });
        let mut all = Vec::new();
        for (sum, exponent) in sums {
            for term in place.terms_of_length(sum) {
                let Some(term) = Self::of(term, place) else {
                    continue;
                };
                let mut other = self.clone();
                other.0.remove(&Factor::Part(sum));
                other.multiply(&term, exponent);
                all.push(other);
            }
        }
        all.push(self);
        all
    }

    /// How much of another magnitude there is in this one.
    fn share(&self, of: &Self) -> f64 {
        let share = |(factor, by): (&Factor, &f64)| self.0.get(factor).map_or(0.0, |own| own / by);
        of.0.iter().map(share).fold(f64::INFINITY, f64::min)
    }

    /// Takes out what the exponential of an argument outweighs.
    fn held_by_exponential(&mut self, argument: Expression, place: &Place) {
        let Some((_, terms)) = place.growing_terms(argument) else {
            return;
        };
        let terms = terms.into_iter().filter_map(|t| Self::of(t, place));
        for (least, _) in terms.filter_map(|t| t.least(true, place)) {
            let share = self.share(&least);
            if share.is_finite() {
                self.multiply(&least, -share);
            }
        }
    }

    /// Takes out what a divisor outweighs; whether the divisor is not too small.
    fn held_by(&mut self, divisor: Divisor) -> bool {
        let mut left = divisor.exponent;
        for least in &divisor.least {
            let share = self.share(least).min(left);
            self.multiply(least, -share);
            left -= share;
        }
        divisor.away || left <= NONE
    }
}

impl Divisor {
    fn new(part: Expression, exponent: f64, place: &Place) -> Option<Self> {
        let away = place.region.is_away(part);
        let terms = match place.growing_terms(part) {
            Some((_, terms)) if away && place.is_sum(part) => terms,
            _ => place.terms_of_length(part),
        };
        let mut least: Vec<Magnitude> = (terms.into_iter())
            .filter_map(|t| Magnitude::of(t, place))
            .flat_map(|t| t.with_terms(place))
            .filter_map(|t| t.least(away, place))
            .filter(|(least, everywhere)| least.len() > 0 && (away || *everywhere))
            .map(|(least, _)| least)
            .collect();
        // Those of several factors first: they hold what single ones cannot.
        least.sort_by_key(|magnitude| std::cmp::Reverse(magnitude.len()));
        (away || !least.is_empty()).then_some(Self {
            least,
            exponent,
            away,
        })
    }
}
