//! Whether an expression jumps at the borders of its switches.
//!
//! # What it computes
//! A switch (`if`, `sign`, `atan2`, the slope of a table) changes where its border function vanishes. Places on the border are drawn in
//! the sizes of the scene; there the whole expression is evaluated with the switch, and with all others that share the border, on the
//! one side, on the border itself and on the other side. The values agree to rounding or the expression jumps.
//!
//! # Guarantees
//! A jump is told of a place at which it was seen. No jump is told only where every other switch, `min`, `max` and `abs` beside it was
//! seen on both sides, cannot change on the border, or does not matter; on a piece between them an expression is analytic, and one
//! that vanishes at places drawn there vanishes. Otherwise it is not known.

use super::domain::Domain;
use super::graph::{Expression, Graph, Node};
use super::operation::Binary;
use super::places::{Place, Places, Rows};
use super::region::Parts;
use super::rounded::{Evaluation, Rounded, Set, rounding};
use super::smoothness::Smoothness;
use super::switches::{Kind, Switch};
use crate::algebra::splitmix::Splitmix;
use crate::quantity::digits;

/// Places that are drawn on a border, fewer where there is much to evaluate at each of them, and those that are looked at again with other
/// switches set at random.
const PLACES: [usize; 2] = [40, 300];
const AGAIN: usize = 40;

/// Nodes of an expression that are evaluated at all places of all borders.
const NODES_MAX: usize = 5_000_000;

/// Draws after which a border that was not found is given up.
const NOT_FOUND: u64 = 60;

/// Places at which a pole is read before it is left undecided whether it jumps there.
const READ: usize = 20;

/// Most switches of one expression that are looked at.
const SWITCHES_MAX: usize = 200;

/// One expression with everything that cuts its inputs into pieces.
pub(super) struct Borders<'a> {
    graph: &'a mut Graph,
    domain: &'a Domain,
    /// Where an expression is looked at: where this vanishes.
    surface: Option<Expression>,
    terms: Vec<Term>,
    switches: Vec<Switch>,
    /// `min`, `max` and `abs` with what vanishes at their kinks.
    folds: Vec<(Expression, Expression)>,
    places: Places<'a>,
    /// Gradients of the borders.
    slopes: Rows,
    evaluation: Evaluation,
}

/// A term of a sum.
struct Term {
    value: Expression,
    sign: f64,
    /// Whether each node is part of it.
    holds: Vec<bool>,
}

impl Term {
    fn holds(&self, node: Expression) -> bool {
        self.holds.get(node.index()).copied().unwrap_or(false)
    }
}

/// What was seen at one place.
enum Seen {
    /// Nothing: a value is not finite, or it cannot be told which side is which.
    Nothing,
    /// All values agree.
    Agreement,
    /// Two values.
    Jump(f64, f64),
}

/// How often a function was seen on each side.
#[derive(Clone, Copy, Default)]
struct Sides {
    below: bool,
    above: bool,
    first: Option<Rounded>,
    varies: bool,
}

impl Sides {
    fn see(&mut self, value: Rounded) {
        if value.vanishes() {
            return;
        }
        self.below |= value.value < 0.0;
        self.above |= value.value > 0.0;
        let first = *self.first.get_or_insert(value);
        self.varies |= first.agrees(value) != Some(true);
    }

    /// Whether it may be on a side that was not seen.
    fn is_open(&self) -> bool {
        self.varies && !(self.below && self.above)
    }
}

impl<'a> Borders<'a> {
    pub fn new(
        graph: &'a mut Graph,
        domain: &'a Domain,
        expression: Expression,
        surface: Option<Expression>,
    ) -> Self {
        let switches = graph.jumping(expression);
        let folds = graph.folds(expression);
        let borders: Vec<Expression> = switches.iter().map(|s| s.border).collect();
        let mut cuts = borders.clone();
        cuts.extend(folds.iter().map(|fold| fold.1));
        cuts.extend(surface);
        let mut roots = cuts.clone();
        roots.push(expression);
        let mut inputs: Vec<usize> = roots.iter().flat_map(|&e| graph.inputs_of(e)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let places = Places::new(graph, domain, inputs, &cuts);
        let slopes = Rows::new(graph, &borders, &places.inputs);
        let term = |(value, sign): (Expression, f64)| {
            let mut holds = vec![false; value.index() + 1];
            for node in graph.reachable(&[value]) {
                holds[node.index()] = true;
            }
            Term { value, sign, holds }
        };
        let terms = graph.terms(expression).into_iter().map(term).collect();
        Self {
            evaluation: Evaluation::new(graph, &roots),
            graph,
            domain,
            surface,
            terms,
            switches,
            folds,
            places,
            slopes,
        }
    }

    /// The worst of all switches, those only that `counts` takes.
    pub fn judge(&mut self, counts: impl Fn(&Graph, &Switch) -> bool) -> Smoothness {
        let mut worst = Smoothness::Analytic;
        for k in 0..self.switches.len() {
            if k == SWITCHES_MAX {
                let why = "there are too many `if` and tables to look at all of them";
                return worst.and(Smoothness::Unknown(why.to_string()));
            }
            if counts(self.graph, &self.switches[k]) {
                worst = worst.and(self.judge_switch(k));
            }
            if matches!(worst, Smoothness::Rough(_)) {
                break;
            }
        }
        worst
    }

    fn judge_switch(&mut self, k: usize) -> Smoothness {
        let Switch { border, kind, .. } = self.switches[k];
        let sides = self.sides_of(border);
        let turns =
            !matches!(kind, Kind::Turn(b) if self.graph.bounds_within(b, self.domain)[0] > 0.0);
        if sides.len() < 2 || !turns || self.is_apart(border) {
            return Smoothness::Analytic;
        }
        // A length vanishes where both of its parts do.
        let mut rows = match self.graph.node(border) {
            Node::Binary(Binary::Hypot, a, b) => vec![a, b],
            _ => vec![border],
        };
        rows.extend(self.surface);
        let mut rows = Rows::new(self.graph, &rows, &self.places.inputs);
        let (mut found, mut read, mut agreed) = (false, 0, Vec::new());
        let mut cuts = vec![Sides::default(); self.switches.len() + self.folds.len()];
        let work = self.switches.len() * self.evaluation.len();
        let places = (NODES_MAX / work.max(1)).clamp(PLACES[0], PLACES[1]);
        for seed in 0..places as u64 {
            let Some(place) = self.places.find(&mut rows, seed) else {
                // What is not found by then is not there, or hidden too well.
                if seed >= NOT_FOUND && !found {
                    break;
                }
                continue;
            };
            // Rows that contradict each other have places where one of them vanishes.
            self.evaluate(&place, &[]);
            let off = |e: Expression| !self.evaluation.of(e).vanishes();
            if off(border) || self.surface.is_some_and(off) {
                continue;
            }
            found = true;
            match self.look(k, &place, &sides, &[], Some(&mut cuts)) {
                Seen::Jump(from, to) => match self.failure(k, &place, from, to) {
                    Smoothness::Unknown(_) if read < READ => read += 1,
                    failure => return failure,
                },
                Seen::Agreement => agreed.push(place),
                Seen::Nothing => {}
            }
        }
        if agreed.is_empty() || read > 0 {
            return self.unknown(k);
        }
        // What was seen on one side only may be on the other elsewhere on the border.
        let open: Vec<usize> = (0..cuts.len()).filter(|&j| cuts[j].is_open()).collect();
        if !open.is_empty() {
            for (number, place) in agreed.iter().take(AGAIN).enumerate() {
                let others = self.at_random(&open, number as u64);
                if !matches!(self.look(k, place, &sides, &others, None), Seen::Agreement) {
                    return self.unknown(k);
                }
            }
        }
        match kind {
            Kind::Pole(_) => Smoothness::Analytic,
            _ => Smoothness::Lipschitz,
        }
    }

    /// Sides of a border function that it can have, by intervals; 0 is the border itself.
    fn sides_of(&mut self, border: Expression) -> Vec<i8> {
        let parts = Parts::new(self.graph.clone(), self.domain, &[border]);
        let [low, high] = parts.everywhere().of(border);
        let slopes = self.graph.gradient(border, &self.places.inputs);
        let fixed = (slopes.iter()).all(|&slope| self.graph.constant_value(slope) == Some(0.0));
        if low > 0.0 || high < 0.0 || fixed {
            return Vec::new();
        }
        let can = [(-1, low < 0.0), (0, true), (1, high > 0.0)];
        can.into_iter().filter(|c| c.1).map(|c| c.0).collect()
    }

    /// The expression on all sides at a place of the border of switch k, with some nodes set besides.
    fn look(
        &mut self,
        k: usize,
        place: &Place,
        sides: &[i8],
        others: &[(Expression, Set)],
        cuts: Option<&mut Vec<Sides>>,
    ) -> Seen {
        let kind = self.switches[k].kind;
        self.evaluate(place, others);
        if let Kind::Turn(b) = kind {
            let b = self.evaluation.of(b);
            if b.vanishes() {
                return Seen::Nothing;
            }
            if b.value > 0.0 {
                return Seen::Agreement;
            }
        }
        let Some(shared) = self.shared(k, place) else {
            return Seen::Nothing;
        };
        let nodes: Vec<Expression> = shared.iter().map(|&(j, _)| self.switches[j].node).collect();
        let beside = |term: &Term| nodes.iter().any(|&node| term.holds(node));
        let terms: Vec<usize> = (0..self.terms.len())
            .filter(|&t| beside(&self.terms[t]))
            .collect();
        if let Some(cuts) = cuts {
            let own: Vec<usize> = shared.iter().map(|s| s.0).collect();
            self.note_cuts(&terms, &own, cuts);
        }
        let pole = matches!(kind, Kind::Pole(_));
        let mut values = Vec::new();
        for &side in sides {
            let mut settings = others.to_vec();
            for &(j, turned) in &shared {
                if j != k || !pole {
                    let switch = self.switches[j];
                    settings.push((switch.node, Set::Value(switch.value(side * turned))));
                }
            }
            if !pole {
                values.push(self.sum(place, &terms, &settings));
                continue;
            }
            // Two values that a pole may give: does anything beside it read them?
            let mut random = Splitmix(place.x.len() as u64);
            let beside = place.beside(1e-6, &mut random);
            let switch = self.switches[k];
            let read = [-1, 1].map(|any| {
                let mut set = vec![(switch.node, Set::Value(switch.value(any)))];
                set.extend(&settings);
                self.sum(&beside, &terms, &set)
            });
            match read[0].agrees(read[1]) {
                Some(true) => {}
                _ => return Seen::Jump(read[0].value, read[1].value),
            }
        }
        for pair in values.windows(2) {
            match pair[0].agrees(pair[1]) {
                Some(true) => {}
                Some(false) => return Seen::Jump(pair[0].value, pair[1].value),
                None => return Seen::Nothing,
            }
        }
        Seen::Agreement
    }

    fn evaluate(&mut self, place: &Place, set: &[(Expression, Set)]) {
        let inputs = &self.places.inputs;
        let read = |k: usize| {
            let index = inputs.binary_search(&k);
            index.map_or(Rounded::default(), |i| place.x[i])
        };
        self.evaluation.at(self.graph, read, set);
    }

    fn sum(&mut self, place: &Place, terms: &[usize], set: &[(Expression, Set)]) -> Rounded {
        self.evaluate(place, set);
        let mut sum = Rounded::default();
        for &t in terms {
            let term = &self.terms[t];
            let value = self.evaluation.of(term.value);
            sum.value += term.sign * value.value;
            sum.error += value.error + rounding(value.value);
        }
        sum
    }

    /// Switches whose borders go through a place of the border of switch k, with 1 where they change in the same direction across it and −1
    /// where in the other; none if that cannot be told. Borders were evaluated.
    fn shared(&mut self, k: usize, place: &Place) -> Option<Vec<(usize, i8)>> {
        let n = self.places.inputs.len();
        let mut shared = vec![(k, 1)];
        let (mut slopes, mut across) = (Vec::new(), None);
        let is_pole = |j: usize| matches!(self.switches[j].kind, Kind::Pole(_));
        for j in 0..self.switches.len() {
            let Switch { border, kind, .. } = self.switches[j];
            // What a pole gives is set as a whole.
            let same = is_pole(k) && self.switches[j].node == self.switches[k].node;
            if j == k || same || is_pole(j) || !self.evaluation.of(border).vanishes() {
                continue;
            }
            if matches!(kind, Kind::Turn(b) if self.evaluation.of(b).value > 0.0) {
                continue;
            }
            if border == self.switches[k].border {
                shared.push((j, 1));
                continue;
            }
            if slopes.is_empty() {
                slopes = self.slopes.at(&self.places.inputs, &place.values());
            }
            let count = self.switches.len();
            let slope = |j: usize| -> Vec<f64> {
                let slope = &slopes[count + j * n..][..n];
                (slope.iter().zip(&place.sizes))
                    .map(|(s, w)| s * w)
                    .collect()
            };
            // What a pole gives has no sides: where its border turns, as that of `abs(x)`, another tells the direction.
            let own = across.get_or_insert_with(|| slope(k));
            let other = slope(j);
            if own.iter().all(|&s| s == 0.0) && shared.len() == 1 && is_pole(k) {
                own.clone_from(&other);
            }
            let product: f64 = own.iter().zip(&other).map(|(a, b)| a * b).sum();
            let all: f64 = own.iter().zip(&other).map(|(a, b)| (a * b).abs()).sum();
            if !(product.abs() > 1e-9 * all) {
                return None;
            }
            shared.push((j, if product > 0.0 { 1 } else { -1 }));
        }
        Some(shared)
    }

    /// Notes on which sides of the other cuts of some terms the place lies.
    fn note_cuts(&self, terms: &[usize], own: &[usize], cuts: &mut [Sides]) {
        let beside = |node: Expression| terms.iter().any(|&t| self.terms[t].holds(node));
        let count = self.switches.len();
        for (j, switch) in self.switches.iter().enumerate() {
            let pole = matches!(switch.kind, Kind::Pole(_));
            if !pole && !own.contains(&j) && beside(switch.node) {
                cuts[j].see(self.evaluation.of(switch.border));
            }
        }
        for (j, &(node, border)) in self.folds.iter().enumerate() {
            if beside(node) {
                cuts[count + j].see(self.evaluation.of(border));
            }
        }
    }

    /// Some cuts set to sides of chance.
    fn at_random(&self, open: &[usize], number: u64) -> Vec<(Expression, Set)> {
        let mut random = Splitmix(number);
        let count = self.switches.len();
        let mut set = Vec::new();
        for &j in open {
            let above = random.unit() < 0.5;
            set.push(match j.checked_sub(count) {
                None => {
                    let switch = self.switches[j];
                    let value = switch.value(if above { 1 } else { -1 });
                    (switch.node, Set::Value(value))
                }
                Some(fold) if above => (self.folds[fold].0, Set::First),
                Some(fold) => (self.folds[fold].0, Set::Second),
            });
        }
        set
    }

    /// What a jump, or a pole that is read, makes of the expression.
    fn failure(&mut self, k: usize, place: &Place, from: f64, to: f64) -> Smoothness {
        let switch = self.switches[k];
        match switch.kind {
            Kind::Pole(why) if self.jumps_around(place) => Smoothness::Rough(format!(
                "{why}, and the value jumps or grows without bound there"
            )),
            Kind::Pole(why) if self.is_steep_around(place) => {
                Smoothness::Rough(format!("{why}, and the slope grows without bound there"))
            }
            Kind::Pole(why) => Smoothness::Unknown(why.to_string()),
            _ => Smoothness::Rough(format!(
                "`{}` makes it jump from {} to {}",
                switch.word(),
                digits(from, 9),
                digits(to, 9)
            )),
        }
    }

    /// Whether values around a place differ by as much however near to it they are taken.
    fn jumps_around(&mut self, place: &Place) -> bool {
        let persists =
            |pair: &[[f64; 3]]| pair[1][1] >= 0.5 * pair[0][1] && pair[1][1] > 1e-6 * pair[1][2];
        let spreads = self.spreads_around(place);
        spreads.len() > 1 && spreads.windows(2).rev().take(3).all(persists)
    }

    /// Whether values around a place differ by ever more in parts of the distance at which they are taken.
    fn is_steep_around(&mut self, place: &Place) -> bool {
        let rises = |pair: &[[f64; 3]]| pair[1][1] / pair[1][0] >= 1.2 * pair[0][1] / pair[0][0];
        let mut spreads = self.spreads_around(place);
        // What rounding makes of large values is no difference.
        spreads.retain(|&[_, spread, size]| spread > 1e-9 * size);
        spreads.len() > 2 && spreads.windows(2).rev().take(3).all(rises)
    }

    /// How much values around a place differ: the distance at which they are taken, which becomes ever smaller, the difference and how
    /// large they are.
    fn spreads_around(&mut self, place: &Place) -> Vec<[f64; 3]> {
        let mut spread = |distance: f64| {
            let mut random = Splitmix(1);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            let terms: Vec<usize> = (0..self.terms.len()).collect();
            for _ in 0..24 {
                let beside = place.beside(distance, &mut random);
                let value = self.sum(&beside, &terms, &[]).value;
                if !value.is_finite() {
                    return None;
                }
                (least, most) = (least.min(value), most.max(value));
            }
            Some([distance, most - least, most.abs().max(least.abs())])
        };
        let parts = [1e-3, 1e-6, 1e-9, 1e-12, 1e-16, 1e-22, 1e-30];
        (parts.into_iter())
            .take_while(|part| {
                let seen = |(x, least): (&Rounded, &f64)| 64.0 * x.error <= part * least;
                place.x.iter().zip(&place.least).all(seen)
            })
            .filter_map(&mut spread)
            .collect()
    }

    /// Whether the surface stays away from a border, by intervals.
    fn is_apart(&mut self, border: Expression) -> bool {
        let Some(surface) = self.surface else {
            return false;
        };
        let (part, value) = self.graph.where_it_vanishes(border);
        let there = self.graph.with_part(surface, part, value);
        let [low, high] = self.graph.bounds_within(there, self.domain);
        low > 0.0 || high < 0.0
    }

    fn unknown(&self, k: usize) -> Smoothness {
        let switch = self.switches[k];
        Smoothness::Unknown(match switch.kind {
            Kind::Pole(why) => why.to_string(),
            _ => format!("whether `{}` makes it jump was not decided", switch.word()),
        })
    }
}
