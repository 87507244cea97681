//! Whether an expression is bounded over a region, by cases.
//!
//! # What it computes
//! Intervals decide where they are finite. Otherwise a sum is bounded where its terms are, a choice (`if`, `min`, `max`, `abs`) where both
//! sides are in the regions in which they count, and a product where its [`Magnitude`] is. What these do not decide is looked at again
//! where an open condition within it holds and where it does not.
//!
//! # Guarantees
//! What is told bounded is. The work is limited; beyond the limit nothing is told.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::graph::{Expression, Node};
use super::magnitude::{Magnitude, Place};
use super::operation::{Binary, Unary};
use super::region::{Parts, Region};

/// Parts that are passed through before nothing more is looked at.
const WORK_MAX: usize = 10_000_000;

/// Most conditions that are taken one within the other.
const DEPTH_MAX: usize = 200;

/// Most regions that are kept because nothing was proved there.
const OPEN_MAX: usize = 16;

/// A proof under way.
pub(super) struct Proof<'a> {
    parts: &'a Parts<'a>,
    /// Inputs that are bounded, whatever they are.
    held: &'a dyn Fn(usize) -> bool,
    work: usize,
    depth: usize,
    /// All regions that were looked at: everywhere first.
    regions: Vec<Rc<Region>>,
    /// Where a condition holds, or does not, within a region; none where that is nowhere.
    within: BTreeMap<(usize, Expression, bool), Option<usize>>,
    /// Regions in which nothing was proved.
    open: Vec<usize>,
}

impl<'a> Proof<'a> {
    pub fn new(parts: &'a Parts<'a>, held: &'a dyn Fn(usize) -> bool) -> Self {
        Self {
            parts,
            held,
            work: 0,
            depth: 0,
            regions: vec![Rc::new(parts.everywhere())],
            within: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    /// Whether an expression is bounded over all states.
    pub fn is_bounded(&mut self, e: Expression) -> bool {
        self.is_bounded_within(e, 0)
    }

    /// Regions in which nothing was proved.
    pub fn open(&self) -> impl Iterator<Item = &Region> {
        self.open.iter().map(|&region| &*self.regions[region])
    }

    fn is_bounded_within(&mut self, e: Expression, within: usize) -> bool {
        let region = self.regions[within].clone();
        let graph = &self.parts.graph;
        if region.is_finite(e) {
            return true;
        }
        self.work += 1;
        if self.work > WORK_MAX || self.depth > DEPTH_MAX {
            return false;
        }
        let direct = match graph.node(e) {
            Node::Constant(bits) => f64::from_bits(bits).is_finite(),
            Node::Input(k) => (self.held)(k as usize),
            Node::Unary(Unary::Negate, a) => return self.is_bounded_within(a, within),
            Node::Unary(Unary::Exp | Unary::Sinh | Unary::Cosh, a) => {
                self.is_bounded_within(a, within)
            }
            Node::Select(c, a, b) => return self.in_both(c, [a, b], within),
            Node::Binary(operation @ (Binary::Min | Binary::Max), a, b) => {
                // One that is bounded holds the other on one side.
                let end = usize::from(operation == Binary::Max);
                let on_other_side = |other: Expression| region.of(other)[end].is_finite();
                if on_other_side(a) && self.is_bounded_within(b, within)
                    || on_other_side(b) && self.is_bounded_within(a, within)
                {
                    return true;
                }
                match self.parts.fold_condition(e) {
                    Some(condition) => return self.in_both(condition, [a, b], within),
                    None => false,
                }
            }
            Node::Binary(Binary::Add | Binary::Subtract, ..) => {
                let terms = graph.terms(e);
                terms
                    .iter()
                    .all(|term| self.is_bounded_within(term.0, within))
            }
            _ => self.is_product_bounded(e, &region),
        };
        direct || self.by_cases(e, within)
    }

    /// Whether both sides of a choice are bounded where they count.
    fn in_both(&mut self, condition: Expression, sides: [Expression; 2], within: usize) -> bool {
        [true, false].into_iter().zip(sides).all(|(holds, side)| {
            let part = self.where_it(condition, holds, within);
            part.is_none_or(|part| self.deeper(side, part))
        })
    }

    fn deeper(&mut self, e: Expression, within: usize) -> bool {
        self.depth += 1;
        let told = self.is_bounded_within(e, within);
        self.depth -= 1;
        told
    }

    /// Where a condition holds, or does not, within a region; none where that is nowhere.
    fn where_it(&mut self, condition: Expression, holds: bool, within: usize) -> Option<usize> {
        let region = self.regions[within].clone();
        if !self.parts.is_open(condition, &region) {
            return ((region.of(condition)[0] == 1.0) == holds).then_some(within);
        }
        let key = (within, condition, holds);
        if let Some(&known) = self.within.get(&key) {
            return known;
        }
        self.work += 8 * self.parts.len();
        let part = self.parts.assume(&region, condition, holds);
        let part = part.map(|part| {
            self.regions.push(Rc::new(part));
            self.regions.len() - 1
        });
        self.within.insert(key, part);
        part
    }

    /// An expression where an open condition within it holds, and where it does not.
    fn by_cases(&mut self, e: Expression, within: usize) -> bool {
        let region = self.regions[within].clone();
        let Some(condition) = self.open_condition(e, &region) else {
            if self.open.len() < OPEN_MAX {
                self.open.push(within);
            }
            return false;
        };
        self.in_both(condition, [e, e], within)
    }

    /// The outermost open condition that an expression depends on in a region.
    fn open_condition(&self, e: Expression, region: &Region) -> Option<Expression> {
        let graph = &self.parts.graph;
        let mut needed = BTreeSet::from([e]);
        while let Some(part) = needed.pop_last() {
            let is_open = |c: Expression| self.parts.is_open(c, region);
            match graph.node(part) {
                Node::Select(c, a, b) => {
                    if let Some(comparison) = self.open_comparison(c, region) {
                        return Some(comparison);
                    }
                    needed.insert(if region.of(c)[0] == 1.0 { a } else { b });
                    continue;
                }
                _ => {
                    let fold = self.parts.fold_condition(part);
                    if let Some(condition) = fold.filter(|&c| is_open(c)) {
                        return Some(condition);
                    }
                }
            }
            needed.extend(graph.operands(part));
        }
        None
    }

    /// An open comparison within a condition.
    fn open_comparison(&self, condition: Expression, region: &Region) -> Option<Expression> {
        if !self.parts.is_open(condition, region) {
            return None;
        }
        match self.parts.graph.node(condition) {
            Node::Unary(Unary::Not, a) => self.open_comparison(a, region),
            Node::Binary(Binary::And | Binary::Or, a, b) => {
                (self.open_comparison(a, region)).or_else(|| self.open_comparison(b, region))
            }
            _ => Some(condition),
        }
    }

    fn is_product_bounded(&mut self, e: Expression, region: &Region) -> bool {
        let (parts, held) = (self.parts, self.held);
        let place = Place {
            parts,
            region,
            held,
        };
        Magnitude::of(e, &place).is_none_or(|magnitude| {
            self.work += magnitude.len();
            magnitude.is_bounded(&place)
        })
    }
}
