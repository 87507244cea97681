//! The linear systems of the second-order methods, (A W + C) x = b with A and C
//! block-diagonal by contacts, over the active contacts.
//!
//! # What it computes
//!
//! Unreduced: one multifrontal LU on the active contacts. Reduced, with W = Hᵀ M⁻¹ H:
//!
//! ```text
//! (M + H C⁻¹A Hᵀ) y = H C⁻¹ b,     x = C⁻¹(b − A Hᵀ y),
//! ```
//!
//! whose size is that of the bodies. Whichever costs fewer operations is used; either is refined against W itself.
//!
//! # Source
//!
//! The reduction is the Sherman-Morrison-Woodbury identity.
//!
//! # Guarantees
//!
//! The relative residual after refinement is returned; callers decide.
//!
//! # Behaviour to know
//!
//! C⁻¹ holds 1/α of the proximal weight: below α = 1e-9 the reduced form loses digits.
//!
//! # Cost
//!
//! One factorisation per call of `factor`; the pattern is analysed again only when the active set outgrows it or shrinks much.
//!
//! # Tested by
//!
//! `crates/stickslip/tests/solver_suite.rs`.

use super::reduced_form::ReducedForm;
use super::scaled_problem::ScaledProblem;
use super::sweep::{Instructions, multiply};
use crate::algebra::multifrontal::{Multifrontal, PatternBlock, SymbolicMultifrontal};

pub(crate) type Block = [f64; 9];

/// Product of two row-major blocks.
pub(crate) fn times(a: &Block, b: &Block) -> Block {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    c
}

/// Block times vector.
pub(crate) fn apply(a: &Block, x: &[f64]) -> [f64; 3] {
    [
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    ]
}

/// Inverse of a block by cofactors.
pub(crate) fn inverse(a: &Block) -> Block {
    let c0 = a[4] * a[8] - a[5] * a[7];
    let c1 = a[5] * a[6] - a[3] * a[8];
    let c2 = a[3] * a[7] - a[4] * a[6];
    let d = 1.0 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
    [
        c0 * d,
        (a[2] * a[7] - a[1] * a[8]) * d,
        (a[1] * a[5] - a[2] * a[4]) * d,
        c1 * d,
        (a[0] * a[8] - a[2] * a[6]) * d,
        (a[2] * a[3] - a[0] * a[5]) * d,
        c2 * d,
        (a[1] * a[6] - a[0] * a[7]) * d,
        (a[0] * a[4] - a[1] * a[3]) * d,
    ]
}

/// Relative residual below which a solution is not refined. The interior point needs it so small: with 1e-10 the impulses of light
/// contacts are wrong, and its iterates with them.
const ENOUGH: f64 = 1e-13;

/// One contact's part of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactTerms {
    pub a: Block,
    pub c: Block,
    pub c_inverse: Block,
}

/// Factored system, its patterns and its work space.
#[derive(Debug)]
pub struct NewtonSystem<'a> {
    problem: &'a ScaledProblem,
    how: Instructions,
    reduced: Option<ReducedForm>,
    active: Vec<bool>,
    list: Vec<usize>,
    pattern: Option<Pattern>,
    factor: Multifrontal,
    values: Vec<f64>,
    terms: Vec<ContactTerms>,
    /// Factorisations done.
    pub(crate) factorizations: u64,
}

#[derive(Debug)]
struct Pattern {
    reduced: bool,
    symbolic: SymbolicMultifrontal,
    /// Unreduced: for each active contact the place of its row's blocks (value offset, block index).
    places: Vec<Vec<usize>>,
    /// Reduced: for each contact by its index, where each pair of its freedoms is added.
    scatter: Vec<Vec<u32>>,
    mass_places: Vec<usize>,
    length: usize,
    /// Number of active contacts when the choice was made.
    contacts: usize,
    /// Contacts the pattern holds, active or not.
    members: Vec<usize>,
}

impl<'a> NewtonSystem<'a> {
    /// Prepares for a problem, with its reduced form where known.
    pub fn new(problem: &'a ScaledProblem, reduced: Option<ReducedForm>) -> Self {
        Self {
            problem,
            how: Instructions::detect(),
            reduced,
            active: Vec::new(),
            list: Vec::new(),
            pattern: None,
            factor: Multifrontal::default(),
            values: Vec::new(),
            terms: Vec::new(),
            factorizations: 0,
        }
    }

    /// Whether a reduced form is at hand.
    pub fn has_reduced(&self) -> bool {
        self.reduced.is_some()
    }

    /// Gives the system a reduced form found later.
    pub fn set_reduced(&mut self, reduced: ReducedForm) {
        self.reduced = Some(reduced);
        self.pattern = None;
    }

    /// Operations of one factorisation with the current active set, all contacts if none is set.
    pub fn operations(&mut self) -> f64 {
        if self.pattern.is_none() {
            if self.list.is_empty() {
                self.active = vec![true; self.problem.contacts()];
                self.list = (0..self.problem.contacts()).collect();
            }
            self.analyse(&[]);
        }
        self.pattern
            .as_ref()
            .map_or(0.0, |pattern| pattern.symbolic.operations())
    }

    /// Whether the pattern at hand holds all active contacts and not many more. One of all contacts in reduced form
    /// serves until their number has changed by a third: then the other form may be cheaper.
    fn pattern_serves(&self) -> bool {
        let Some(pattern) = &self.pattern else {
            return false;
        };
        let active = self.list.len();
        if pattern.reduced && pattern.members.len() == self.problem.contacts() {
            return 3 * active > 2 * pattern.contacts && 2 * active < 3 * pattern.contacts;
        }
        let mut held = vec![false; self.problem.contacts()];
        for &i in &pattern.members {
            held[i] = true;
        }
        4 * active >= 3 * pattern.members.len() && self.list.iter().all(|&i| held[i])
    }

    /// Chooses the cheaper form. Contacts that were active `before` stay in the pattern if they are few:
    /// many become active again.
    fn analyse(&mut self, before: &[usize]) {
        let mut members = self.list.clone();
        members.extend(before.iter().copied().filter(|&i| !self.active[i]));
        if 5 * members.len() > 6 * self.list.len() {
            members.truncate(self.list.len());
        }
        members.sort_unstable();
        let mut best = self.unreduced_pattern(&members);
        if let Some(form) = &self.reduced {
            let all: Vec<usize> = (0..self.problem.contacts()).collect();
            let mut candidate = self.reduced_pattern(form, &all);
            if candidate.symbolic.operations() > 5e7 {
                candidate = self.reduced_pattern(form, &members);
            }
            if candidate.symbolic.operations() < best.symbolic.operations() {
                best = candidate;
            }
        }
        best.contacts = self.list.len();
        self.pattern = Some(best);
    }

    fn unreduced_pattern(&self, members: &[usize]) -> Pattern {
        let p = self.problem;
        let mut index = vec![usize::MAX; p.contacts()];
        for (k, &i) in members.iter().enumerate() {
            index[i] = k;
        }
        let mut blocks = Vec::new();
        let mut places = Vec::with_capacity(members.len());
        for (row, &i) in members.iter().enumerate() {
            let mut place = Vec::new();
            for k in p.row_start[i] as usize..p.row_start[i + 1] as usize {
                let column = index[p.column[k] as usize];
                if column != usize::MAX {
                    place.push(k);
                    place.push(9 * blocks.len());
                    blocks.push(PatternBlock {
                        row,
                        column,
                        value: 9 * blocks.len(),
                    });
                }
            }
            places.push(place);
        }
        Pattern {
            reduced: false,
            symbolic: SymbolicMultifrontal::new(&vec![3; members.len()], &blocks),
            places,
            scatter: Vec::new(),
            mass_places: Vec::new(),
            length: 9 * blocks.len(),
            contacts: 0,
            members: members.to_vec(),
        }
    }

    fn reduced_pattern(&self, form: &ReducedForm, contacts: &[usize]) -> Pattern {
        let n = form.sizes.len();
        // Columns of each row of the pattern: those of M and of the active contacts.
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (row, column, _) in &form.mass {
            columns[*row].push(*column);
        }
        for &i in contacts {
            let nodes = &form.links[i].nodes;
            for &a in nodes {
                columns[a].extend_from_slice(nodes);
            }
        }
        let mut first = Vec::with_capacity(n);
        let mut blocks = Vec::new();
        let mut length = 0;
        for (row, list) in columns.iter_mut().enumerate() {
            list.sort_unstable();
            list.dedup();
            first.push(blocks.len());
            for &column in list.iter() {
                blocks.push(PatternBlock {
                    row,
                    column,
                    value: length,
                });
                length += form.sizes[row] * form.sizes[column];
            }
        }
        let find = |row: usize, column: usize| {
            // Every pair asked for was put into the lists above.
            let at = columns[row].binary_search(&column).unwrap_or(0);
            blocks[first[row] + at].value
        };
        let mut scatter = vec![Vec::new(); form.links.len()];
        for &i in contacts {
            let links = &form.links[i];
            let mut targets = Vec::with_capacity(links.freedoms() * links.freedoms());
            for &a in &links.nodes {
                for row in 0..form.sizes[a] {
                    for &b in &links.nodes {
                        let at = find(a, b) + row * form.sizes[b];
                        targets.extend((at..at + form.sizes[b]).map(|at| at as u32));
                    }
                }
            }
            scatter[i] = targets;
        }
        let mass_places = form.mass.iter().map(|(r, c, _)| find(*r, *c)).collect();
        Pattern {
            reduced: true,
            symbolic: SymbolicMultifrontal::new(&form.sizes, &blocks),
            places: Vec::new(),
            scatter,
            mass_places,
            length,
            contacts: 0,
            members: contacts.to_vec(),
        }
    }

    /// Factors the system of the contacts marked active with the given terms, one per contact.
    pub(crate) fn factor(&mut self, active: &[bool], terms: &[ContactTerms]) {
        if self.active != active || self.pattern.is_none() {
            self.active.clear();
            self.active.extend_from_slice(active);
            let list = (0..active.len()).filter(|&i| active[i]).collect();
            let before = std::mem::replace(&mut self.list, list);
            if !self.pattern_serves() {
                self.analyse(&before);
            }
        }
        self.terms.clear();
        self.terms.extend_from_slice(terms);
        // The pattern was made above.
        let Some(pattern) = &self.pattern else { return };
        self.values.clear();
        self.values.resize(pattern.length, 0.0);
        let p = self.problem;
        if !pattern.reduced {
            for (&i, place) in pattern.members.iter().zip(&pattern.places) {
                let t = &terms[i];
                let active = self.active[i];
                for pair in place.chunks_exact(2) {
                    let w = &p.value[9 * pair[0]..9 * pair[0] + 9];
                    let out = &mut self.values[pair[1]..pair[1] + 9];
                    if !active {
                        // Its impulse does not change.
                        if p.column[pair[0]] as usize == i {
                            (out[0], out[4], out[8]) = (1.0, 1.0, 1.0);
                        }
                        continue;
                    }
                    for c in 0..3 {
                        let column = apply(&t.a, &w[3 * c..3 * c + 3]);
                        for r in 0..3 {
                            out[3 * r + c] = column[r];
                        }
                    }
                    if p.column[pair[0]] as usize == i {
                        for (out, c) in out.iter_mut().zip(&t.c) {
                            *out += c;
                        }
                    }
                }
            }
        } else if let Some(form) = &self.reduced {
            for ((_, _, block), &at) in form.mass.iter().zip(&pattern.mass_places) {
                for (out, m) in self.values[at..].iter_mut().zip(block) {
                    *out += m;
                }
            }
            let mut line = Vec::new();
            for &i in &self.list {
                let links = &form.links[i];
                let d = times(&terms[i].c_inverse, &terms[i].a);
                let freedoms = links.freedoms();
                let (r0, rest) = links.right.split_at(freedoms);
                let (r1, r2) = rest.split_at(freedoms);
                line.resize(freedoms, 0.0);
                let targets = pattern.scatter[i].chunks_exact(freedoms.max(1));
                for (l, targets) in links.left.chunks_exact(3).zip(targets) {
                    let h0 = l[0] * d[0] + l[1] * d[3] + l[2] * d[6];
                    let h1 = l[0] * d[1] + l[1] * d[4] + l[2] * d[7];
                    let h2 = l[0] * d[2] + l[1] * d[5] + l[2] * d[8];
                    for (((line, r0), r1), r2) in line.iter_mut().zip(r0).zip(r1).zip(r2) {
                        *line = h0 * r0 + h1 * r1 + h2 * r2;
                    }
                    for (&at, x) in targets.iter().zip(&line) {
                        self.values[at as usize] += x;
                    }
                }
            }
        }
        self.factor.factor(&pattern.symbolic, &self.values);
        self.factorizations += 1;
    }

    /// x = (A W + C)⁻¹ b on the active contacts, zero elsewhere; returns the relative residual after refinement.
    pub fn solve(&self, b: &[f64], x: &mut [f64], refinements: usize) -> f64 {
        x.fill(0.0);
        let size = self.norm(b);
        if size == 0.0 {
            return 0.0;
        }
        let mut residual = b.to_vec();
        let mut step = vec![0.0; b.len()];
        let mut error = 1.0;
        for round in 0..=refinements {
            self.solve_once(&residual, &mut step);
            for (x, s) in x.iter_mut().zip(&step) {
                *x += s;
            }
            self.residual(b, x, &mut residual);
            let new = self.norm(&residual) / size;
            if !new.is_finite() || new > error {
                // Refinement made it worse: take the last step back.
                if round > 0 {
                    for (x, s) in x.iter_mut().zip(&step) {
                        *x -= s;
                    }
                }
                return error.min(if new.is_finite() { new } else { f64::INFINITY });
            }
            error = new;
            if error < ENOUGH {
                break;
            }
        }
        error
    }

    fn norm(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for &i in &self.list {
            for k in 0..3 {
                sum += x[3 * i + k] * x[3 * i + k];
            }
        }
        sum.sqrt()
    }

    /// r = b − (A W + C) x on the active contacts.
    fn residual(&self, b: &[f64], x: &[f64], r: &mut [f64]) {
        // x vanishes on inactive contacts, so the full product serves.
        let p = self.problem;
        multiply(p, self.how, x, r);
        for &i in &self.list {
            let w = [r[3 * i], r[3 * i + 1], r[3 * i + 2]];
            let t = &self.terms[i];
            let aw = apply(&t.a, &w);
            let cx = apply(&t.c, &x[3 * i..3 * i + 3]);
            for k in 0..3 {
                r[3 * i + k] = b[3 * i + k] - aw[k] - cx[k];
            }
        }
    }

    fn solve_once(&self, b: &[f64], x: &mut [f64]) {
        let Some(pattern) = &self.pattern else { return };
        if !pattern.reduced {
            let mut local = Vec::with_capacity(3 * pattern.members.len());
            for &i in &pattern.members {
                if self.active[i] {
                    local.extend_from_slice(&b[3 * i..3 * i + 3]);
                } else {
                    local.extend([0.0; 3]);
                }
            }
            self.factor.solve(&pattern.symbolic, &mut local);
            for (&i, value) in pattern.members.iter().zip(local.chunks_exact(3)) {
                x[3 * i..3 * i + 3].copy_from_slice(value);
            }
            return;
        }
        let Some(form) = &self.reduced else { return };
        let first = pattern.symbolic.first_scalars();
        let mut y = vec![0.0; pattern.symbolic.order()];
        for &i in &self.list {
            let c = apply(&self.terms[i].c_inverse, &b[3 * i..3 * i + 3]);
            let links = &form.links[i];
            for (a, &node) in links.nodes.iter().enumerate() {
                let rows = &links.left[3 * links.first[a]..3 * links.first[a + 1]];
                for (y, l) in y[first[node]..].iter_mut().zip(rows.chunks_exact(3)) {
                    *y += l[0] * c[0] + l[1] * c[1] + l[2] * c[2];
                }
            }
        }
        self.factor.solve(&pattern.symbolic, &mut y);
        let mut gathered = Vec::new();
        for &i in &self.list {
            let mut h = [0.0; 3];
            let links = &form.links[i];
            gathered.clear();
            for (&node, ends) in links.nodes.iter().zip(links.first.windows(2)) {
                gathered.extend_from_slice(&y[first[node]..first[node] + ends[1] - ends[0]]);
            }
            for (h, row) in h
                .iter_mut()
                .zip(links.right.chunks_exact(gathered.len().max(1)))
            {
                *h = row.iter().zip(&gathered).map(|(a, b)| a * b).sum();
            }
            let t = &self.terms[i];
            let ah = apply(&t.a, &h);
            let rest = [b[3 * i] - ah[0], b[3 * i + 1] - ah[1], b[3 * i + 2] - ah[2]];
            x[3 * i..3 * i + 3].copy_from_slice(&apply(&t.c_inverse, &rest));
        }
    }
}
