//! Where some conditions of an expression hold: between which numbers all its parts stay there.
//!
//! # What it computes
//! An interval for every part of an expression. Intervals of operands give that of an operation; a condition that is taken to hold, or not
//! to hold, narrows what it compares, and that narrows what it is made of: in `if(x > 0, if(x < 1, x^2, 1), 0)` the inner condition leaves
//! `x` between 0 and 1 where `x^2` counts. What bounds a difference, as `x < z` does, bounds all parts that differ by a number or a factor
//! from it.
//!
//! # Guarantees
//! The intervals hold all values, those of operations on the border of a condition included; they may be wider than needed.

use std::collections::BTreeMap;

use super::bounds::{ALL, Interval};
use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::narrowing::narrow_operands;
use super::operation::{Binary, Unary};

/// Most passes through all parts after a condition is taken; each halves nothing, most reach all there is at the first.
const ROUNDS: usize = 4;

/// Most parts of a sum that is followed as a whole.
const TERMS_MAX: usize = 8;

/// All parts of some expressions, with what vanishes where their conditions change.
pub(super) struct Parts<'a> {
    pub graph: Graph,
    domain: &'a Domain,
    order: Vec<Expression>,
    /// Conditions where `min`, `max`, `abs` and `sign` take their first side.
    folds: BTreeMap<Expression, Expression>,
    /// What conditions compare, as a difference.
    differences: BTreeMap<Expression, Expression>,
    /// Every part as a sum of others.
    linear: Vec<Linear>,
    /// Sums that are factor · form + shift, by part: the number of the form, the factor and the shift.
    sums: Vec<(Expression, usize, f64, f64)>,
    forms: usize,
}

/// Intervals of all parts.
#[derive(Clone, Debug)]
pub(super) struct Region {
    bounds: Vec<Interval>,
    forms: Vec<Interval>,
}

impl Region {
    pub fn of(&self, part: Expression) -> Interval {
        self.bounds[part.index()]
    }

    pub fn is_finite(&self, part: Expression) -> bool {
        self.of(part).iter().all(|end| end.is_finite())
    }

    /// Whether a part stays away from zero.
    pub fn is_away(&self, part: Expression) -> bool {
        let [low, high] = self.of(part);
        low > 0.0 || high < 0.0
    }

    /// Leaves of a part what lies in an interval, too; whether it became narrower.
    fn narrow(&mut self, part: Expression, [low, high]: Interval) -> bool {
        let known = &mut self.bounds[part.index()];
        let narrower = [known[0].max(low), known[1].min(high)];
        let changed = narrower != *known;
        *known = narrower;
        changed
    }
}

/// Parts with their factors, the first of which is 1.
pub(super) type Form = Vec<(Expression, u64)>;

/// A sum of factors times parts, and a number.
#[derive(Clone, Debug, Default)]
struct Linear {
    terms: BTreeMap<Expression, f64>,
    shift: f64,
}

impl Linear {
    /// The terms in parts of the first of them, which is the factor; none without terms.
    fn form(&self) -> Option<(Form, f64)> {
        let (_, &factor) = self.terms.first_key_value()?;
        let form = self.terms.iter();
        let form = form.map(|(&e, c)| (e, (c / factor).to_bits()));
        Some((form.collect(), factor))
    }

    /// This and a factor times another.
    fn plus(mut self, factor: f64, other: &Self) -> Self {
        for (&part, c) in &other.terms {
            let sum = self.terms.entry(part).or_default();
            *sum += factor * c;
            if *sum == 0.0 {
                self.terms.remove(&part);
            }
        }
        self.shift += factor * other.shift;
        self
    }
}

/// An interval, wider by the rounding of the operations that gave it.
pub(super) fn widened([low, high]: Interval) -> Interval {
    let by = |end: f64| {
        if end.is_finite() {
            1e-12 * end.abs()
        } else {
            0.0
        }
    };
    [low - by(low), high + by(high)]
}

impl<'a> Parts<'a> {
    /// All parts of some expressions of a graph.
    pub fn new(mut graph: Graph, domain: &'a Domain, roots: &[Expression]) -> Self {
        let mut all = roots.to_vec();
        let (mut folds, mut differences) = (BTreeMap::new(), BTreeMap::new());
        for part in graph.reachable(roots) {
            let zero = graph.constant(0.0);
            let condition = match graph.node(part) {
                Node::Binary(Binary::Less | Binary::LessEqual | Binary::Equal, ..) => part,
                Node::Binary(Binary::Min, a, b) => graph.binary(Binary::LessEqual, a, b),
                Node::Binary(Binary::Max, a, b) => graph.binary(Binary::LessEqual, b, a),
                Node::Unary(Unary::Abs | Unary::Sign, a) => {
                    graph.binary(Binary::LessEqual, zero, a)
                }
                _ => continue,
            };
            if condition != part {
                folds.insert(part, condition);
            }
            all.push(condition);
            if let Node::Binary(_, a, b) = graph.node(condition) {
                let difference = graph.subtract(a, b);
                differences.insert(condition, difference);
                all.push(difference);
            }
        }
        let order = graph.reachable(&all);
        let mut parts = Self {
            graph,
            domain,
            order,
            folds,
            differences,
            linear: Vec::new(),
            sums: Vec::new(),
            forms: 0,
        };
        parts.follow_sums();
        parts
    }

    /// The condition where `min`, `max`, `abs` or `sign` take their first side.
    pub fn fold_condition(&self, part: Expression) -> Option<Expression> {
        self.folds.get(&part).copied()
    }

    /// The operand that a choice takes all over a region.
    pub fn chosen(&self, part: Expression, region: &Region) -> Option<Expression> {
        let (condition, sides) = match self.graph.node(part) {
            Node::Select(c, a, b) => (c, [a, b]),
            Node::Binary(Binary::Min | Binary::Max, a, b) => (self.fold_condition(part)?, [a, b]),
            _ => return None,
        };
        match region.of(condition) {
            [1.0, 1.0] => Some(sides[0]),
            [0.0, 0.0] => Some(sides[1]),
            _ => None,
        }
    }

    /// How much there is to pass through.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// All states.
    pub fn everywhere(&self) -> Region {
        let mut region = Region {
            bounds: vec![ALL; self.order.last().map_or(0, |e| e.index() + 1)],
            forms: vec![ALL; self.forms],
        };
        for &part in &self.order {
            let linear = &self.linear[part.index()];
            if linear.terms.is_empty() {
                region.narrow(part, widened([linear.shift; 2]));
            }
        }
        self.settle(&mut region);
        region
    }

    /// Whether a condition is open in a region.
    pub fn is_open(&self, condition: Expression, region: &Region) -> bool {
        let [low, high] = region.of(condition);
        low < high
    }

    /// Where a condition holds, or does not, besides; none where that is nowhere.
    pub fn assume(&self, region: &Region, condition: Expression, holds: bool) -> Option<Region> {
        let mut region = region.clone();
        let value = f64::from(u8::from(holds));
        region.narrow(condition, [value; 2]);
        self.settle(&mut region).then_some(region)
    }

    /// Passes through all parts until nothing becomes narrower; whether anything is left.
    fn settle(&self, region: &mut Region) -> bool {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for &part in &self.order {
                let interval = self.graph.interval_of(part, |e| region.of(e), self.domain);
                changed |= region.narrow(part, interval);
                if let Some(interval) = self.parabola(part, region) {
                    changed |= region.narrow(part, widened(interval));
                }
            }
            changed |= self.settle_sums(region);
            for &part in self.order.iter().rev() {
                let found = narrow_operands(&self.graph, part, |e| region.of(e));
                for (operand, interval) in found.into_iter().flatten() {
                    // Conditions are whole numbers.
                    let whole = self.graph.is_condition(operand);
                    let interval = if whole { interval } else { widened(interval) };
                    changed |= region.narrow(operand, interval);
                }
                if let Some(&difference) = self.differences.get(&part) {
                    changed |= self.settle_condition(region, part, difference);
                }
            }
            // What rounding alone leaves apart is not told from one point.
            let empty = |&part: &Expression| {
                let [low, high] = region.of(part);
                low > high && !(low - high <= 1e-9 * low.abs().max(high.abs()))
            };
            if self.order.iter().any(empty) {
                return false;
            }
            if !changed {
                break;
            }
        }
        true
    }

    /// The interval of a sum a y² + b y + c, whose terms keep each other from what each might be alone.
    fn parabola(&self, part: Expression, region: &Region) -> Option<Interval> {
        let linear = &self.linear[part.index()];
        let (&square, &a) = linear
            .terms
            .iter()
            .find(|term| self.root(*term.0).is_some())?;
        let y = self.root(square)?;
        let &b = linear.terms.get(&y)?;
        if linear.terms.len() > 2 {
            return None;
        }
        let value = |y: f64| match y.is_finite() {
            true => linear.shift + y * (b + y * a),
            false => a * f64::INFINITY,
        };
        let [low, high] = region.of(y);
        let turn = (-0.5 * b / a).clamp(low, high.max(low));
        let values = [low, turn, high].map(value);
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        Some([least, values.into_iter().fold(f64::NEG_INFINITY, f64::max)])
    }

    /// What a part is the square of.
    pub fn root(&self, part: Expression) -> Option<Expression> {
        match self.graph.node(part) {
            Node::Binary(Binary::Multiply, a, b) if a == b => Some(a),
            _ => None,
        }
    }

    /// A condition and the difference of what it compares narrow each other.
    fn settle_condition(
        &self,
        region: &mut Region,
        condition: Expression,
        difference: Expression,
    ) -> bool {
        let Node::Binary(operation, ..) = self.graph.node(condition) else {
            return false;
        };
        let below = [f64::NEG_INFINITY, 0.0];
        let above = [0.0, f64::INFINITY];
        let [low, high] = region.of(difference);
        let told = match operation {
            Binary::Less if high < 0.0 => Some(true),
            Binary::Less if low >= 0.0 => Some(false),
            Binary::LessEqual if high <= 0.0 => Some(true),
            Binary::LessEqual if low > 0.0 => Some(false),
            Binary::Equal if low > 0.0 || high < 0.0 => Some(false),
            _ => None,
        };
        let mut changed = false;
        if let (Some(holds), true) = (told, self.is_open(condition, region)) {
            let value = f64::from(u8::from(holds));
            changed |= region.narrow(condition, [value; 2]);
        }
        let side = match (operation, region.of(condition)) {
            (Binary::Equal, [1.0, 1.0]) => [0.0, 0.0],
            (Binary::Equal, _) => return changed,
            (_, [1.0, 1.0]) => below,
            (_, [0.0, 0.0]) => above,
            _ => return changed,
        };
        changed | region.narrow(difference, side)
    }

    /// Sums of one form narrow each other.
    fn settle_sums(&self, region: &mut Region) -> bool {
        for &(part, form, factor, shift) in &self.sums {
            let [low, high] = region.of(part);
            let ends = [(low - shift) / factor, (high - shift) / factor];
            let known = &mut region.forms[form];
            let [low, high] = widened([ends[0].min(ends[1]), ends[0].max(ends[1])]);
            *known = [known[0].max(low), known[1].min(high)];
        }
        let mut changed = false;
        for &(part, form, factor, shift) in &self.sums {
            let ends = region.forms[form].map(|end| factor * end + shift);
            let interval = widened([ends[0].min(ends[1]), ends[0].max(ends[1])]);
            changed |= region.narrow(part, interval);
        }
        changed
    }

    /// Finds sums that differ by a factor and a shift.
    fn follow_sums(&mut self) {
        let size = self.order.last().map_or(0, |e| e.index() + 1);
        self.linear = vec![Linear::default(); size];
        let mut numbers: BTreeMap<Form, usize> = BTreeMap::new();
        for &part in &self.order {
            let linear = self.linear_of(part);
            if let Some((form, factor)) = linear.form() {
                let count = numbers.len();
                let number = *numbers.entry(form).or_insert(count);
                self.sums.push((part, number, factor, linear.shift));
            }
            self.linear[part.index()] = linear;
        }
        self.forms = numbers.len();
        // What stands alone narrows nothing.
        let mut shared = vec![0; self.forms];
        self.sums.iter().for_each(|sum| shared[sum.1] += 1);
        self.sums.retain(|sum| shared[sum.1] > 1);
    }

    /// The growing terms of a part as a sum of factors times others, and whether there is more to it.
    pub fn growing_form(
        &self,
        part: Expression,
        grows: impl Fn(Expression) -> bool,
    ) -> Option<(Form, bool)> {
        let mut linear = self.linear[part.index()].clone();
        let count = linear.terms.len();
        linear.terms.retain(|&part, _| grows(part));
        let more = linear.terms.len() < count || linear.shift != 0.0;
        linear.form().map(|(form, _)| (form, more))
    }

    /// A part as a sum of factors times other parts, itself if it is none.
    fn linear_of(&self, part: Expression) -> Linear {
        let known = |e: Expression| self.linear[e.index()].clone();
        let itself = || Linear {
            terms: BTreeMap::from([(part, 1.0)]),
            shift: 0.0,
        };
        let number = |e: Expression| self.graph.constant_value(e);
        let linear = match self.graph.node(part) {
            Node::Constant(bits) => Linear {
                terms: BTreeMap::new(),
                shift: f64::from_bits(bits),
            },
            Node::Unary(Unary::Negate, a) => Linear::default().plus(-1.0, &known(a)),
            Node::Binary(Binary::Add, a, b) => known(a).plus(1.0, &known(b)),
            Node::Binary(Binary::Subtract, a, b) => known(a).plus(-1.0, &known(b)),
            Node::Binary(Binary::Multiply, a, b) => match (number(a), number(b)) {
                (Some(factor), _) => Linear::default().plus(factor, &known(b)),
                (_, Some(factor)) => Linear::default().plus(factor, &known(a)),
                _ => itself(),
            },
            Node::Binary(Binary::Divide, a, b) => match number(b) {
                Some(divisor) => Linear::default().plus(1.0 / divisor, &known(a)),
                None => itself(),
            },
            _ => itself(),
        };
        let plain = |c: &f64| c.is_finite() && *c != 0.0;
        if linear.terms.len() > TERMS_MAX || !linear.terms.values().all(plain) {
            return itself();
        }
        linear
    }
}
