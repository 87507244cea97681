//! Among the impulses of one motion, those of least norm; and how many others there are.
//!
//! # What it computes
//!
//! Impulses r and r' give the same motion if W (r − r') = 0. At a solution the null space of W
//! restricted to what the law leaves free is explored: a sticking contact may change its impulse inside the cone, a
//! sliding one only along its own impulse, an open one not at all. The point of least norm in the scaled
//! variables over that set C is found by the augmented Lagrangian method,
//!
//! ```text
//! x ← argmin over C of ½|x|² + ½σ(x − x₀)ᵀW(x − x₀) + sᵀ(x − x₀),     s ← s + σW(x − x₀),
//! ```
//!
//! with a penalty σ that grows from 1 to 1e6; each minimum is found by a semismooth Newton method.
//!
//! # Source
//!
//! Non-uniqueness of impulses in hyperstatic problems: [AcaryCollinsCraft2023]; the method is standard.
//!
//! # Guarantees
//!
//! The answer is only taken if its residual is within the tolerance of the solution it came from; otherwise the
//! impulses are left as they were.
//!
//! # Behaviour to know
//!
//! Least norm is meant in scaled variables, |x|² = Σ trace(W_ii)/3 |r_i|², which has the same unit for every contact. Where W has a
//! skew part the norm is least up to that part.
//!
//! # Cost
//!
//! Some tens of factorisations of [`super::newton_system`].
//!
//! # Tested by
//!
//! Tests below.

use super::cascade::{CascadeSettings, find_reduced_form};
use super::newton_system::{ContactTerms, NewtonSystem};
use super::scaled_problem::{ScaledProblem, StoppingTest, project_cone};
use super::sweep::{Instructions, multiply, product};
use crate::algebra::block_sparse::BlockSparse;
use crate::algebra::multifrontal::{PatternBlock, SymbolicMultifrontal};
use crate::algebra::spanning_rows::spanning_rows;
use crate::contact::{ContactProblem, ContactSolution, Judgement};

/// Rank of W as the solvers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankReport {
    /// Rows of W.
    pub rows: usize,
    /// Rows that depend on the others to 1e-11 of their diagonal.
    pub deficiency: usize,
}

impl RankReport {
    /// Counts the rows of W that depend on the others.
    pub fn of(problem: &ContactProblem) -> Self {
        let assembled;
        let matrix = match problem.delassus().blocks() {
            Some(matrix) => matrix,
            None => {
                assembled = BlockSparse::from_rows(&problem.delassus().to_rows(), 1);
                &assembled
            }
        };
        let d = matrix.block_size();
        let n = matrix.blocks();
        let (mut blocks, mut values) = (Vec::new(), Vec::new());
        for i in 0..n {
            for (j, block) in matrix.row(i) {
                blocks.push(PatternBlock {
                    row: i,
                    column: j,
                    value: values.len(),
                });
                for r in 0..d {
                    values.extend((0..d).map(|c| block[d * c + r]));
                }
            }
        }
        let diagonal: Vec<f64> = (0..d * n)
            .map(|r| matrix.diagonal(r / d)[(d + 1) * (r % d)])
            .collect();
        let symbolic = SymbolicMultifrontal::new(&vec![d; n], &blocks);
        let rank =
            spanning_rows(&symbolic, &values, &diagonal, d * n).map_or(d * n, |rows| rows.len());
        Self {
            rows: d * n,
            deficiency: d * n - rank,
        }
    }
}

/// Gives a solved problem the impulses of least norm with the same motion, judged anew; returns the ratio of
/// norms. What is not solved, or would leave the tolerance, stays as it is.
///
/// ```
/// use stickslip::contact::ContactProblem;
/// use stickslip::solvers::cascade::{CoulombMethod, solve};
/// use stickslip::solvers::{SolverLimits, minimum_norm::{RankReport, least_impulses}};
///
/// // Two contacts at the same place of a unit mass: only the sum of their impulses is determined.
/// let w: Vec<f64> = (0..16).map(|k| if (k / 4 + k % 4) % 2 == 0 { 1.0 } else { 0.0 }).collect();
/// let problem = ContactProblem::coulomb_from_dense(2, &w, vec![-1.0, 0.0, -1.0, 0.0], vec![0.5, 0.5])?;
/// assert_eq!(RankReport::of(&problem).deficiency, 2);
/// let limits = SolverLimits { tolerance: 1e-10, ..SolverLimits::default() };
/// let mut solution = solve(&problem, CoulombMethod::Cascade, &limits, Some(&[0.9, 0.0, 0.1, 0.0]));
/// least_impulses(&problem, &mut solution, 1e-10);
/// assert!((solution.impulse[0] - 0.5).abs() < 1e-8 && (solution.impulse[2] - 0.5).abs() < 1e-8);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
pub fn least_impulses(
    problem: &ContactProblem,
    solution: &mut ContactSolution,
    tolerance: f64,
) -> f64 {
    if !solution.status.is_solved() {
        return 1.0;
    }
    let mut impulses = solution.impulse.clone();
    let ratio = minimum_norm(problem, &mut impulses);
    let (judgement, velocities) = Judgement::with_velocity(problem, &impulses);
    if !judgement.accepts(tolerance) {
        return 1.0;
    }
    (solution.impulse, solution.local_velocity) = (impulses, velocities);
    solution.judgement = Some(judgement);
    ratio
}

/// Penalty of a change of motion at the start, its growth from one update to the next, and the largest one, scaled
/// diagonals being one.
const FIRST_PENALTY: f64 = 1.0;
const GROWTH: f64 = 5.0;
const LARGEST_PENALTY: f64 = 1e6;
/// Growth below which the search is given up.
const LEAST_GROWTH: f64 = 1.05;
/// Updates of the multipliers, Newton steps of each, and halvings of a step, at most.
const UPDATES: usize = 60;
const NEWTON_STEPS: usize = 40;
const HALVINGS: usize = 10;
/// Relative change of the impulses in an update below which they are found.
const STEADY: f64 = 1e-7;

/// Replaces the impulses of a solution by those of least norm with the same motion; returns the ratio of the
/// new norm to the old one (1 if nothing better was found).
fn minimum_norm(problem: &ContactProblem, impulses: &mut Vec<f64>) -> f64 {
    let Some(scaled) = ScaledProblem::new(problem, StoppingTest::Published) else {
        return 1.0;
    };
    let start = scaled.variables(impulses);
    let before = Judgement::of(problem, impulses);
    let mut u0 = vec![0.0; start.len()];
    product(&scaled, Instructions::detect(), &start, &mut u0);
    let free = FreeSet::new(&scaled, &u0);
    let mut system = NewtonSystem::new(&scaled, None);
    find_reduced_form(&mut system, &scaled, problem, &CascadeSettings::default());
    let mut search = Search::new(&scaled, &free, &start);
    let mut found: Option<(f64, Vec<f64>)> = None;
    for _ in 0..UPDATES {
        let old = search.x.clone();
        if !search.minimise(&mut system) {
            if search.growth < LEAST_GROWTH {
                break;
            }
            search.step_back(&old);
            continue;
        }
        let candidate = scaled.impulses(&search.x);
        let judgement = Judgement::of(problem, &candidate);
        let good = judgement.published
            <= (2.0 * before.published)
                .max(before.published_floor)
                .max(1e-14);
        let size = norm(&search.x);
        if good {
            found = Some((size, candidate));
        }
        let moved = distance(&search.x, &old);
        if good && moved <= STEADY * size {
            break;
        }
        search.update();
    }
    match found {
        Some((size, candidate)) if size <= norm(&start) => {
            *impulses = candidate;
            size / norm(&start).max(f64::MIN_POSITIVE)
        }
        _ => 1.0,
    }
}

/// State of the search: ½|x|² + ½σ(x − x₀)ᵀW(x − x₀) + sᵀ(x − x₀) over the free set, by Newton's method on
/// F(x) = x − P(z), z = −σW(x − x₀) − s.
struct Search<'a> {
    problem: &'a ScaledProblem,
    free: &'a FreeSet,
    how: Instructions,
    start: &'a [f64],
    x: Vec<f64>,
    penalty: f64,
    growth: f64,
    /// Penalty of the last minimum found.
    reached: f64,
    /// Multipliers, already multiplied by W.
    s: Vec<f64>,
    /// W(x − x₀).
    moved: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a ScaledProblem, free: &'a FreeSet, start: &'a [f64]) -> Self {
        Self {
            problem,
            free,
            how: Instructions::detect(),
            start,
            x: start.to_vec(),
            penalty: FIRST_PENALTY,
            growth: GROWTH,
            reached: FIRST_PENALTY / GROWTH,
            s: vec![0.0; start.len()],
            moved: vec![0.0; start.len()],
        }
    }

    /// The next multipliers and penalty.
    fn update(&mut self) {
        for (s, moved) in self.s.iter_mut().zip(&self.moved) {
            *s += self.penalty * moved;
        }
        self.reached = self.penalty;
        self.penalty = (self.growth * self.penalty).min(LARGEST_PENALTY);
    }

    /// Back to `x` with a penalty half way, by ratio, to the last that worked; it grows more slowly from there.
    fn step_back(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.growth = self.growth.sqrt();
        self.penalty = self.growth * self.reached;
    }

    /// Point whose projection x should be, and F.
    fn evaluate(&self, x: &[f64], moved: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let z: Vec<f64> = (0..x.len())
            .map(|k| -(self.penalty * moved[k] + self.s[k]))
            .collect();
        let mut f = self.free.project(self.problem, &z);
        for (f, x) in f.iter_mut().zip(x) {
            *f = x - *f;
        }
        (z, f)
    }

    /// Minimises over x; false if Newton's method does not get there.
    fn minimise(&mut self, system: &mut NewtonSystem<'_>) -> bool {
        let m = self.x.len();
        let mut difference: Vec<f64> = (0..m).map(|k| self.x[k] - self.start[k]).collect();
        multiply(self.problem, self.how, &difference, &mut self.moved);
        let (mut step, mut change) = (vec![0.0; m], vec![0.0; m]);
        let active = self.free.active();
        let mut reached = false;
        for _ in 0..NEWTON_STEPS {
            let (z, f) = self.evaluate(&self.x, &self.moved);
            let size = norm(&f);
            reached = size <= 1e-8 * norm(&self.x);
            if size <= 1e-11 * norm(&self.x) {
                break;
            }
            let terms = self.free.linearize(self.problem, &z, self.penalty);
            system.factor(&active, &terms);
            let right: Vec<f64> = f.iter().map(|f| -f).collect();
            let error = system.solve(&right, &mut step, 4);
            if !(error < 0.5) {
                break;
            }
            multiply(self.problem, self.how, &step, &mut change);
            let mut best = (size, 0.0);
            let mut length = 1.0;
            for _ in 0..HALVINGS {
                let x: Vec<f64> = (0..m).map(|k| self.x[k] + length * step[k]).collect();
                let moved: Vec<f64> = (0..m).map(|k| self.moved[k] + length * change[k]).collect();
                let trial = norm(&self.evaluate(&x, &moved).1);
                if trial < best.0 {
                    best = (trial, length);
                }
                if trial <= (1.0 - 1e-4 * length) * size {
                    break;
                }
                length *= 0.5;
            }
            if best.1 == 0.0 {
                break;
            }
            for k in 0..m {
                self.x[k] += best.1 * step[k];
                difference[k] = self.x[k] - self.start[k];
            }
            multiply(self.problem, self.how, &difference, &mut self.moved);
        }
        // On the free set exactly, whatever is left of F.
        self.x = self.free.project(self.problem, &self.x);
        for k in 0..m {
            difference[k] = self.x[k] - self.start[k];
        }
        multiply(self.problem, self.how, &difference, &mut self.moved);
        reached
    }
}

/// What the law leaves free at a solution, contact by contact.
struct FreeSet {
    kind: Vec<Freedom>,
}

enum Freedom {
    Nothing,
    Cone,
    /// Non-negative multiples of this unit vector.
    Ray([f64; 3]),
}

impl FreeSet {
    fn new(problem: &ScaledProblem, u: &[f64]) -> Self {
        let size = norm(u).max(norm(&problem.q)) * 1e-7;
        let kind = (0..problem.contacts())
            .map(|i| {
                let u = &u[3 * i..3 * i + 3];
                if u[0] > size || problem.diagonal[i][0] <= 0.0 {
                    Freedom::Nothing
                } else if u[1].hypot(u[2]) <= size {
                    Freedom::Cone
                } else {
                    let mu = problem.mu[i];
                    let slip = u[1].hypot(u[2]);
                    let d = [1.0, -mu * u[1] / slip, -mu * u[2] / slip];
                    let length = (1.0 + mu * mu).sqrt();
                    Freedom::Ray(d.map(|d| d / length))
                }
            })
            .collect();
        Self { kind }
    }

    /// Contacts that may carry an impulse.
    fn active(&self) -> Vec<bool> {
        let kinds = self.kind.iter();
        kinds
            .map(|kind| !matches!(kind, Freedom::Nothing))
            .collect()
    }

    /// Projection of z.
    fn project(&self, problem: &ScaledProblem, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        for (i, kind) in self.kind.iter().enumerate() {
            let z = [z[3 * i], z[3 * i + 1], z[3 * i + 2]];
            let p = match kind {
                Freedom::Nothing => [0.0; 3],
                Freedom::Cone => project_cone(&z, problem.mu[i]),
                Freedom::Ray(d) => {
                    let along = (z[0] * d[0] + z[1] * d[1] + z[2] * d[2]).max(0.0);
                    d.map(|d| d * along)
                }
            };
            x[3 * i..3 * i + 3].copy_from_slice(&p);
        }
        x
    }

    /// F'(x) = I + σ D W, D the derivative of the projection at z.
    fn linearize(&self, problem: &ScaledProblem, z: &[f64], penalty: f64) -> Vec<ContactTerms> {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let kinds = self.kind.iter().enumerate();
        kinds
            .map(|(i, kind)| {
                let z = &z[3 * i..3 * i + 3];
                let derivative = match kind {
                    Freedom::Nothing => [0.0; 9],
                    Freedom::Cone => cone_derivative(z, problem.mu[i]),
                    Freedom::Ray(d) if z[0] * d[0] + z[1] * d[1] + z[2] * d[2] >= 0.0 => {
                        std::array::from_fn(|k| d[k / 3] * d[k % 3])
                    }
                    Freedom::Ray(_) => [0.0; 9],
                };
                ContactTerms {
                    a: derivative.map(|d| penalty * d),
                    c: identity,
                    c_inverse: identity,
                }
            })
            .collect()
    }
}

/// Derivative of the projection on the cone |z_T| ≤ μ z_N, row-major.
fn cone_derivative(z: &[f64], mu: f64) -> [f64; 9] {
    let tangential = z[1].hypot(z[2]);
    // At the tip, where the search begins, the whole cone is open.
    if mu * tangential <= -z[0] && z[0] < 0.0 {
        return [0.0; 9];
    }
    if tangential <= mu * z[0] {
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    }
    let t = [z[1] / tangential, z[2] / tangential];
    let d = [1.0, mu * t[0], mu * t[1]];
    let inverse = 1.0 / (1.0 + mu * mu);
    let bend = mu * (z[0] + mu * tangential) * inverse / tangential;
    let mut out: [f64; 9] = std::array::from_fn(|k| d[k / 3] * d[k % 3] * inverse);
    out[4] += bend * (1.0 - t[0] * t[0]);
    out[5] -= bend * t[0] * t[1];
    out[7] -= bend * t[0] * t[1];
    out[8] += bend * (1.0 - t[1] * t[1]);
    out
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three contacts under one block that can only move vertically: r_N1 + r_N2 + r_N3 = 3 is
    /// all the motion fixes, so least norm is (1, 1, 1).
    fn block() -> ContactProblem {
        let mut w = vec![0.0; 81];
        for i in 0..3 {
            for j in 0..3 {
                w[9 * (3 * i) + 3 * j] = 1.0;
            }
        }
        let mut q = vec![0.0; 9];
        for i in 0..3 {
            q[3 * i] = -3.0;
        }
        ContactProblem::coulomb_from_dense(3, &w, q, vec![0.3; 3]).unwrap()
    }

    #[test]
    fn a_solved_problem_stays_solved_with_least_impulses() {
        // Two contacts at one point carry one load: W of rank one in the normal direction.
        let mut w = [0.0; 36];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..3 {
                    w[6 * (3 * i + k) + 3 * j + k] = 1.0;
                }
            }
        }
        let q = vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        let problem = ContactProblem::coulomb_from_dense(3, &w, q, vec![0.5; 2]).unwrap();
        assert_eq!(RankReport::of(&problem).deficiency, 3);
        let limits = crate::solvers::progress::SolverLimits::default();
        let method = crate::solvers::cascade::CoulombMethod::Cascade;
        let mut solution = crate::solvers::cascade::solve(
            &problem,
            method,
            &limits,
            Some(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        );
        let ratio = least_impulses(&problem, &mut solution, 1e-8);
        // The load of one is shared evenly: norm 1/√2 of that of one contact.
        assert!((ratio - 0.5f64.sqrt()).abs() < 1e-6, "{ratio}");
        assert!((solution.impulse[0] - 0.5).abs() < 1e-6);
        assert!((solution.impulse[3] - 0.5).abs() < 1e-6);
        assert!(solution.judgement.unwrap().accepts(1e-8));
    }

    #[test]
    fn three_legs_share_the_weight() {
        let problem = block();
        let mut r = vec![0.0; 9];
        r[0] = 3.0;
        let ratio = minimum_norm(&problem, &mut r);
        assert!((ratio - 1.0 / 3f64.sqrt()).abs() < 1e-6, "{ratio} {r:?}");
        assert!(Judgement::of(&problem, &r).published < 1e-12);
        for i in 0..3 {
            assert!((r[3 * i] - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_rank_deficiency_is_counted() {
        let report = RankReport::of(&block());
        assert_eq!(
            report,
            RankReport {
                rows: 9,
                deficiency: 8
            }
        );
    }
}
