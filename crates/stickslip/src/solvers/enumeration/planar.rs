//! Exact enumeration of contact modes for contacts with at most one tangent.
//!
//! # What it computes
//!
//! Every p with w = W p + q and Coulomb's law at every contact. With the edges (1, upper) and (1, lower) of each cone,
//! p = E x, x ≥ 0, and a mode fixes signs: open x = 0, w_n ≥ 0; stick w_n = w_t = 0; slip one x = 0, w_n = 0 and w_t
//! against friction. A tree over the contacts is pruned wherever the linear inequalities of the modes chosen so far
//! and those common to all modes of the others (x ≥ 0, w_n ≥ 0) have no point.
//!
//! # Source
//!
//! The three cases of Coulomb's law, [AcaryCollinsCraft2023]; continua at γ = 0: [Paoli2015]. Pruning by
//! linear programs is ours.
//!
//! # Guarantees
//!
//! All solutions are found (method `Exact`), unless the bound on nodes cuts the tree (`Truncated`). The list
//! does not depend on the number of threads. A mode with a singular system gives a segment with
//! both ends, or the dimension of the continuum. What is zero but for rounding (`rounding` of the settings times its terms) is
//! zero: the sign of a γ of 1e-16 decides nothing.
//!
//! # Behaviour to know
//!
//! Data exactly on the border of many modes (a body at rest without load) keeps all of them: the
//! tree is then not pruned and ends at its bound.
//!
//! # Cost
//!
//! One linear program of 2k variables per node, some ten to a hundred microseconds; a dozen contacts under load
//! take thousands of nodes, not 4^12.
//!
//! # Tested by
//!
//! `solvers/enumeration/tests.rs`, `tests/truth_paradoxes.rs`, `benches/paradoxes.rs`.

use rayon::prelude::*;

use crate::algebra::feasibility::LinearSystem;
use crate::algebra::rank_revealing::solve_any_rank;
use crate::contact::ContactProblem;

use super::solution::{free_speed, impulse_floor};
use super::{Continuum, Enumeration, EnumerationSettings, FoundSolution, Method, Mode, Work};

/// Feasibility tolerance of the pruning, in velocities scaled to 1.
const PRUNE: f64 = 1e-9;
/// Violation up to which a mode's solution is accepted, in scaled velocities and impulses.
const ACCEPT: f64 = 1e-11;
/// Pivots below this part of the largest, and slopes below it, vanish.
const SINGULAR: f64 = 1e-12;

/// The problem in edge variables, scaled to unit velocities and unit diagonal.
struct Scaled {
    contacts: Vec<Contact>,
    variables: usize,
    /// Velocity rows in the variables: row-major, rows × variables.
    velocity: Vec<f64>,
    free: Vec<f64>,
    /// p = edge · x per row: (row, variable, factor).
    edges: Vec<(usize, usize, f64)>,
    rows: usize,
    /// Pivots below this part of the largest vanish.
    singular: f64,
}

struct Contact {
    normal: usize,
    tangent: Option<usize>,
    /// Variables of the upper and lower edge (equal without friction).
    upper: usize,
    lower: usize,
}

/// Enumerates; the caller has checked laws and sections.
pub fn enumerate(
    problem: &ContactProblem,
    settings: &EnumerationSettings,
    work: &Work,
) -> Enumeration {
    let scaled = Scaled::new(problem, settings.rounding);
    // Breadth first to a fixed depth, then every subtree on its own: the order never changes.
    let mut prefixes: Vec<Vec<Mode>> = vec![Vec::new()];
    let mut effort = 0;
    while prefixes
        .first()
        .is_some_and(|p| p.len() < scaled.contacts.len().min(4))
    {
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| {
                scaled.modes(prefix.len()).iter().map(move |&mode| {
                    let mut longer = prefix.clone();
                    longer.push(mode);
                    longer
                })
            })
            .collect();
        effort += prefixes.len();
        prefixes.retain(|prefix| {
            work.count();
            work.is_ended() || scaled.feasible(prefix).is_some()
        });
    }
    let bound = settings.nodes_max / prefixes.len().max(1) + 1;
    let parts: Vec<(Vec<FoundSolution>, usize, bool)> = prefixes
        .into_par_iter()
        .map(|prefix| {
            let mut search = Search {
                problem,
                scaled: &scaled,
                found: Vec::new(),
                nodes: 0,
                bound,
                cut: false,
                work,
            };
            let mut modes = prefix;
            search.descend(&mut modes);
            (search.found, search.nodes, search.cut)
        })
        .collect();
    let truncated = parts.iter().any(|part| part.2);
    effort += parts.iter().map(|part| part.1).sum::<usize>();
    let found = parts.into_iter().flat_map(|part| part.0).collect();
    let same = (1e-9 * free_speed(problem)).max(problem.noise());
    Enumeration {
        solutions: Enumeration::distinct(found, impulse_floor(problem), same),
        method: if truncated {
            Method::Truncated
        } else {
            Method::Exact
        },
        effort,
        groups: Vec::new(),
    }
}

struct Search<'a> {
    problem: &'a ContactProblem,
    scaled: &'a Scaled,
    found: Vec<FoundSolution>,
    nodes: usize,
    bound: usize,
    /// Whether a node was left out.
    cut: bool,
    work: &'a Work,
}

impl Search<'_> {
    fn descend(&mut self, modes: &mut Vec<Mode>) {
        if self.nodes >= self.bound || self.work.is_ended() {
            self.cut = true;
            return;
        }
        self.nodes += 1;
        self.work.count();
        let Some(point) = self.scaled.feasible(modes) else {
            return;
        };
        let depth = modes.len();
        if depth == self.scaled.contacts.len() {
            if let Some(solution) = self.scaled.leaf(self.problem, modes, &point) {
                self.found.push(solution);
            }
            return;
        }
        for &mode in self.scaled.modes(depth) {
            modes.push(mode);
            self.descend(modes);
            modes.pop();
        }
    }
}

impl Scaled {
    fn new(problem: &ContactProblem, rounding: f64) -> Self {
        let rows = problem.size();
        let w = problem.dense();
        let size: Vec<f64> = (0..rows)
            .map(|i| {
                let x = w[i * rows + i];
                if x > 0.0 { x.sqrt() } else { 1.0 }
            })
            .collect();
        let speed = (0..rows)
            .map(|i| problem.free()[i].abs() / size[i])
            .fold(0.0, f64::max);
        let speed = if speed > 0.0 { speed } else { 1.0 };
        let mut contacts = Vec::new();
        let mut edges = Vec::new();
        let mut variables = 0;
        for block in problem.blocks() {
            let n = block.start;
            let unit = speed / size[n];
            let friction = block.size == 2 && !block.section.is_frictionless();
            let ends = if friction { block.section.ends() } else { None };
            match ends {
                Some((lower, upper)) => {
                    for (k, end) in [upper, lower].into_iter().enumerate() {
                        edges.push((n, variables + k, unit));
                        edges.push((n + 1, variables + k, unit * end));
                    }
                    contacts.push(Contact {
                        normal: n,
                        tangent: Some(n + 1),
                        upper: variables,
                        lower: variables + 1,
                    });
                    variables += 2;
                }
                None => {
                    edges.push((n, variables, unit));
                    contacts.push(Contact {
                        normal: n,
                        tangent: None,
                        upper: variables,
                        lower: variables,
                    });
                    variables += 1;
                }
            }
        }
        let mut velocity = vec![0.0; rows * variables];
        let mut terms = velocity.clone();
        for &(row, variable, factor) in &edges {
            for i in 0..rows {
                let term = w[i * rows + row] * factor / (size[i] * speed);
                velocity[i * variables + variable] += term;
                terms[i * variables + variable] += term.abs();
            }
        }
        // A lone γ has no larger pivot beside it: only its terms tell whether it is zero.
        for (entry, terms) in velocity.iter_mut().zip(&terms) {
            if entry.abs() <= rounding * terms {
                *entry = 0.0;
            }
        }
        Self {
            contacts,
            variables,
            velocity,
            free: (0..rows)
                .map(|i| problem.free()[i] / (size[i] * speed))
                .collect(),
            edges,
            rows,
            singular: rounding.max(SINGULAR),
        }
    }

    fn modes(&self, contact: usize) -> &'static [Mode] {
        if self.contacts[contact].tangent.is_some() {
            &[Mode::Open, Mode::Stick, Mode::SlipUpper, Mode::SlipLower]
        } else {
            &[Mode::Open, Mode::Closed]
        }
    }

    fn line(&self, row: usize) -> &[f64] {
        &self.velocity[row * self.variables..(row + 1) * self.variables]
    }

    /// Variables that a mode leaves free.
    fn free_variables(&self, contact: usize, mode: Mode) -> &'static [usize] {
        // 0: upper edge, 1: lower edge.
        let _ = contact;
        match mode {
            Mode::Open => &[],
            Mode::Stick => &[0, 1],
            Mode::SlipUpper | Mode::Closed => &[0],
            Mode::SlipLower => &[1],
        }
    }

    fn variable(&self, contact: usize, edge: usize) -> usize {
        let c = &self.contacts[contact];
        if edge == 0 { c.upper } else { c.lower }
    }

    /// A point of the relaxation in which the first contacts have the given modes.
    fn feasible(&self, modes: &[Mode]) -> Option<Vec<f64>> {
        // Variables that are not fixed to zero.
        let mut kept = Vec::with_capacity(self.variables);
        for (c, contact) in self.contacts.iter().enumerate() {
            match modes.get(c) {
                Some(&mode) => kept.extend(
                    self.free_variables(c, mode)
                        .iter()
                        .map(|&e| self.variable(c, e)),
                ),
                None => {
                    kept.push(contact.upper);
                    if contact.lower != contact.upper {
                        kept.push(contact.lower);
                    }
                }
            }
        }
        let mut system = LinearSystem::new(kept.len());
        let row = |i: usize, sign: f64| {
            let line = self.line(i);
            kept.iter().map(move |&v| sign * line[v])
        };
        for (c, contact) in self.contacts.iter().enumerate() {
            let n = contact.normal;
            match modes.get(c) {
                None | Some(Mode::Open) => system.at_least(row(n, 1.0), -self.free[n]),
                Some(_) => system.equal(row(n, 1.0), -self.free[n]),
            }
            if let (Some(t), Some(mode)) = (contact.tangent, modes.get(c)) {
                match mode {
                    Mode::Stick => system.equal(row(t, 1.0), -self.free[t]),
                    // Friction at its upper end opposes a velocity ≤ 0.
                    Mode::SlipUpper => system.at_least(row(t, -1.0), self.free[t]),
                    Mode::SlipLower => system.at_least(row(t, 1.0), -self.free[t]),
                    Mode::Open | Mode::Closed => {}
                }
            }
        }
        let point = system.feasible_point(PRUNE)?;
        let mut x = vec![0.0; self.variables];
        for (&v, value) in kept.iter().zip(point) {
            x[v] = value;
        }
        Some(x)
    }

    /// The solution of a complete list of modes, polished and judged.
    fn leaf(
        &self,
        problem: &ContactProblem,
        modes: &[Mode],
        guess: &[f64],
    ) -> Option<FoundSolution> {
        let (unknowns, equations) = self.square_system(modes);
        let k = unknowns.len();
        debug_assert_eq!(
            k,
            equations.len(),
            "as many equations as unknowns in every mode"
        );
        let matrix: Vec<f64> = (0..k * k)
            .map(|e| self.line(equations[e / k])[unknowns[e % k]])
            .collect();
        // From the point of the linear program, which matters where the system is singular.
        let defect: Vec<f64> = equations
            .iter()
            .map(|&i| {
                let line = self.line(i);
                -self.free[i] - unknowns.iter().map(|&v| line[v] * guess[v]).sum::<f64>()
            })
            .collect();
        let set = solve_any_rank(&matrix, &defect, self.singular);
        if set.inconsistency > 1e-10 {
            return None;
        }
        let mut x = guess.to_vec();
        for (&v, step) in unknowns.iter().zip(&set.point) {
            x[v] += step;
        }
        let directions: Vec<Vec<f64>> = set
            .directions
            .iter()
            .map(|d| {
                let mut full = vec![0.0; self.variables];
                for (&v, value) in unknowns.iter().zip(d) {
                    full[v] = *value;
                }
                full
            })
            .collect();
        let scale = 1.0 + x.iter().fold(0.0f64, |s, v| s.max(v.abs()));
        let mut continuum = None;
        let recedes = match directions.len() {
            0 | 1 => None,
            _ => self.recession(modes, &unknowns, &equations),
        };
        if let [direction] = &directions[..] {
            (x, continuum) = self.along(modes, &x, direction, scale)?;
        } else if !directions.is_empty() {
            continuum = Some(Continuum {
                dimension: directions.len(),
                moves_velocity: directions.iter().any(|d| self.moves(d)),
                ends: Vec::new(),
                unbounded: recedes.iter().map(|d| self.impulse(d)).collect(),
            });
        }
        if self.violation(modes, &x) > ACCEPT * scale {
            return None;
        }
        x.iter_mut().for_each(|v| *v = v.max(0.0));
        let solution =
            FoundSolution::certified(problem, self.impulse(&x), modes.to_vec(), continuum);
        Some(solution)
    }

    /// Unknown impulses and equations of a complete list of modes, as many of one as of the other.
    fn square_system(&self, modes: &[Mode]) -> (Vec<usize>, Vec<usize>) {
        let mut unknowns = Vec::new();
        let mut equations = Vec::new();
        for (c, &mode) in modes.iter().enumerate() {
            unknowns.extend(
                self.free_variables(c, mode)
                    .iter()
                    .map(|&e| self.variable(c, e)),
            );
            if mode != Mode::Open {
                equations.push(self.contacts[c].normal);
            }
            if mode == Mode::Stick {
                equations.extend(self.contacts[c].tangent);
            }
        }
        (unknowns, equations)
    }

    /// A point inside the set of solutions along a direction, and that set where it is more than a point; none where it is
    /// empty.
    fn along(
        &self,
        modes: &[Mode],
        x: &[f64],
        direction: &[f64],
        scale: f64,
    ) -> Option<(Vec<f64>, Option<Continuum>)> {
        let (low, high) = self.interval(modes, x, direction, scale)?;
        let at = |t: f64| -> Vec<f64> { x.iter().zip(direction).map(|(x, d)| x + t * d).collect() };
        let finite = |t: f64| t.is_finite().then(|| self.impulse(&at(t)));
        let continuum = (high - low > 1e-9 * scale).then(|| Continuum {
            dimension: 1,
            moves_velocity: self.moves(direction),
            ends: [low, high].into_iter().filter_map(finite).collect(),
            unbounded: [(low, -1.0), (high, 1.0)]
                .into_iter()
                .filter(|(t, _)| t.is_infinite())
                .map(|(_, sign)| {
                    let turned: Vec<f64> = direction.iter().map(|d| sign * d).collect();
                    self.impulse(&turned)
                })
                .collect(),
        });
        // A point inside: the middle, or at the distance of the data from the only end.
        let inside = at(match (low.is_finite(), high.is_finite()) {
            (true, true) => 0.5 * (low + high),
            (true, false) => low + scale,
            (false, true) => high - scale,
            (false, false) => 0.0,
        });
        Some((inside, continuum))
    }

    /// Largest violation of the inequalities of the modes.
    fn violation(&self, modes: &[Mode], x: &[f64]) -> f64 {
        let mut worst = x.iter().fold(0.0f64, |s, v| s.max(-v));
        for (row, sign) in self.inequalities(modes) {
            let value = self.free[row] + crate::algebra::dot(self.line(row), x);
            worst = worst.max(-sign * value);
        }
        worst
    }

    /// Velocity rows with a sign condition: (row, sign) means sign · w ≥ 0.
    fn inequalities(&self, modes: &[Mode]) -> Vec<(usize, f64)> {
        let mut all = Vec::new();
        for (contact, mode) in self.contacts.iter().zip(modes) {
            match (mode, contact.tangent) {
                (Mode::Open, _) => all.push((contact.normal, 1.0)),
                (Mode::SlipUpper, Some(t)) => all.push((t, -1.0)),
                (Mode::SlipLower, Some(t)) => all.push((t, 1.0)),
                _ => {}
            }
        }
        all
    }

    /// Values t for which x + t d satisfies every inequality; none if there is no such t.
    fn interval(
        &self,
        modes: &[Mode],
        x: &[f64],
        direction: &[f64],
        scale: f64,
    ) -> Option<(f64, f64)> {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut limit = |value: f64, slope: f64| {
            // value + t slope ≥ 0
            if slope > SINGULAR {
                low = low.max(-value / slope);
            } else if slope < -SINGULAR {
                high = high.min(-value / slope);
            }
        };
        for (value, slope) in x.iter().zip(direction) {
            limit(*value, *slope);
        }
        for (row, sign) in self.inequalities(modes) {
            let line = self.line(row);
            limit(
                sign * (self.free[row] + crate::algebra::dot(line, x)),
                sign * crate::algebra::dot(line, direction),
            );
        }
        if low > high + ACCEPT * scale {
            return None;
        }
        Some((low.min(high), high))
    }

    /// A direction in which the solutions of the modes go on for ever, if there is one: nonnegative edges that keep
    /// every equation and violate no inequality.
    fn recession(
        &self,
        modes: &[Mode],
        unknowns: &[usize],
        equations: &[usize],
    ) -> Option<Vec<f64>> {
        let mut system = LinearSystem::new(unknowns.len());
        let row = |i: usize, sign: f64| {
            let line = self.line(i);
            unknowns.iter().map(move |&v| sign * line[v])
        };
        for &i in equations {
            system.equal(row(i, 1.0), 0.0);
        }
        for (i, sign) in self.inequalities(modes) {
            system.at_least(row(i, sign), 0.0);
        }
        system.equal(unknowns.iter().map(|_| 1.0), 1.0);
        let point = system.feasible_point(PRUNE)?;
        let mut full = vec![0.0; self.variables];
        for (&v, value) in unknowns.iter().zip(point) {
            full[v] = value;
        }
        Some(full)
    }

    fn moves(&self, direction: &[f64]) -> bool {
        (0..self.rows).any(|row| crate::algebra::dot(self.line(row), direction).abs() > 1e-10)
    }

    fn impulse(&self, x: &[f64]) -> Vec<f64> {
        let mut p = vec![0.0; self.rows];
        for &(row, variable, factor) in &self.edges {
            p[row] += factor * x[variable];
        }
        p
    }
}
