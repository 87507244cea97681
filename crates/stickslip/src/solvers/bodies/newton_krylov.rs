//! Newton's method without a matrix, for large islands on which sweeps stall.
//!
//! # What it computes
//!
//! Rounds of three parts. *Newton*: at z = r − ρ u a contact is open (z_N ≤ 0: its impulse becomes zero), sticks (ρ u = 0) or slides
//! (ρ u_N = 0, r_T = μ z_N d with d = z_T/|z_T|); the linearised conditions are solved by GMRES on I − G, where G is one sweep of the
//! linearised problem, and the step is shortened until the residual does not double. *Ray*: where plain sweeps keep adding the same
//! change, impulses drift along a direction on which W vanishes, and nothing happens until a cone is reached; the step goes there
//! at once. *Sweeps* as in [`drive`](super::drive).
//!
//! # Source
//!
//! Own. The linearisation is that of the natural map as in [`proximal_newton`](crate::solvers::proximal_newton); GMRES is that of Saad and Schultz.
//!
//! # Guarantees
//!
//! Only measured points are answers, and the best of them is kept.
//!
//! # Behaviour to know
//!
//! Made for flow, where many contacts slide: all of 15 steps of a drum and a column that 1,000 sweeps had left at 1e-7 to 5e-5 were
//! solved to 1e-8 in the time of 330 to 1,100 sweeps, 10 of them without the ray. In packs at rest sweeps with full momentum do better.
//!
//! # Cost
//!
//! An iteration of GMRES is a sweep; at most 60 vectors of the size of the island's impulses are kept.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::finish::IslandProblem;
use super::packing::batch_friction;
use super::rest::on_cone;
use super::solver::BodySweepSolver;
use crate::solvers::one_contact::{LocalScratch, OneContact, solve_coulomb};

type Vector = [f64; 3];
type Matrix = [[f64; 3]; 3];

/// Rounds at most.
const ROUNDS: usize = 20;
/// Sweeps of a round. Measured on steps of drums and columns: 20 to 60 sweeps do alike.
const SWEEPS: u32 = 40;
/// Vectors and accuracy of GMRES, at first and after two rounds without halving.
const FEW: (usize, f64) = (30, 0.1);
const MANY: (usize, f64) = (60, 0.01);
/// Proximal weights α W_ii, cycled through while rounds do not halve the residual.
const WEIGHTS: [f64; 6] = [0.0, 0.003, 0.0, 0.01, 0.0, 0.001];
/// A relative residual of GMRES above which the linear system counts as inconsistent.
const INCONSISTENT: f64 = 0.5;
/// Residual below which the ray is tried after a round that has not halved it.
const NEAR: f64 = 2e-6;
/// Cone boundaries to go to, in turn: the first one, the second, the fourth, the eighth.
const BOUNDARIES: [usize; 4] = [0, 1, 3, 7];

/// Where a contact stands in the linearisation.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Open,
    Sticks,
    Slides,
}

/// One contact of the island, padded to three rows: rows that are not there have a unit diagonal and no coupling.
struct Contact {
    rows: usize,
    w: Matrix,
    rho: f64,
    mu: f64,
}

/// The iteration on one island.
pub(super) struct NewtonKrylov<'a> {
    island: &'a IslandProblem,
    contacts: Vec<Contact>,
    free: Vec<Vector>,
    /// |ρ q|².
    free_size: f64,
    tolerance: f64,
    sweeper: BodySweepSolver,
    /// Impulses row by row.
    flat: Vec<f64>,
    scratch: LocalScratch,
}

impl<'a> NewtonKrylov<'a> {
    /// Prepares an island; `None` where a contact has another law or nothing can move it.
    pub(super) fn new(island: &'a IslandProblem, tolerance: f64) -> Option<Self> {
        let rows_of_disc = island.operator.freedoms() / 3 + 1;
        let mut contacts = Vec::with_capacity(island.blocks.len());
        let mut free = Vec::with_capacity(island.blocks.len());
        let mut free_size = 0.0;
        let mut block_w = Vec::new();
        for (index, block) in island.blocks.iter().enumerate() {
            let mu = batch_friction(block, rows_of_disc)?;
            island.operator.diagonal_block(index, &mut block_w);
            let rows = block.size;
            let mut w = [[0.0; 3]; 3];
            let mut trace = 0.0;
            for (i, row) in w.iter_mut().enumerate() {
                for (j, w) in row.iter_mut().enumerate() {
                    *w = if i < rows && j < rows {
                        block_w[i * rows + j]
                    } else {
                        f64::from(i == j)
                    };
                }
                if i < rows {
                    trace += row[i];
                }
            }
            if !(trace > 0.0 && w[0][0] > 0.0) {
                return None;
            }
            let rho = rows as f64 / trace;
            let mut q = [0.0; 3];
            q[..rows].copy_from_slice(&island.free[block.range()]);
            free_size += rho * rho * dot(&q, &q);
            contacts.push(Contact { rows, w, rho, mu });
            free.push(q);
        }
        Some(Self {
            island,
            contacts,
            free,
            free_size,
            tolerance,
            sweeper: BodySweepSolver::default(),
            flat: vec![0.0; island.impulse.len()],
            scratch: LocalScratch::default(),
        })
    }

    /// Works on the impulses of the island; the best ones, with |F|² and |r|².
    pub(super) fn run(&mut self) -> (Vec<f64>, f64, f64) {
        let mut r: Vec<Vector> = Vec::with_capacity(self.contacts.len());
        for (block, contact) in self.island.blocks.iter().zip(&self.contacts) {
            let guess = &self.island.impulse[block.range()];
            r.push(on_cone::<3>(guess, contact.mu));
        }
        let mut best = r.clone();
        let mut best_residual = self.residual(&r);
        let (mut idle, mut rays) = (0, 0);
        for _ in 0..ROUNDS {
            if best_residual <= self.tolerance {
                break;
            }
            let effort = if idle >= 2 { MANY } else { FEW };
            let weight = WEIGHTS[idle % WEIGHTS.len()];
            let inconsistency = self.newton(&mut r, effort, weight);
            if inconsistency > INCONSISTENT || (idle >= 1 && best_residual < NEAR) {
                self.ray(&mut r, BOUNDARIES[rays % BOUNDARIES.len()]);
                rays += 1;
            }
            let residual = self.sweeps(&mut r);
            if residual <= 0.5 * best_residual {
                idle = 0;
            } else {
                idle += 1;
            }
            if residual < best_residual {
                best_residual = residual;
                best.clone_from(&r);
            }
        }
        let (map, size) = self.measure(&best);
        self.write(&best);
        (std::mem::take(&mut self.flat), map, size)
    }

    /// Velocities of the bodies under impulses.
    fn velocity(&self, r: &[Vector]) -> Vec<f64> {
        let operator = &self.island.operator;
        let mut v = vec![0.0; operator.bodies() * operator.freedoms()];
        for (index, r) in r.iter().enumerate() {
            self.push(index, r, &mut v);
        }
        v
    }

    fn push(&self, index: usize, p: &Vector, v: &mut [f64]) {
        let rows = self.contacts[index].rows;
        self.island.operator.add_contact(index, &p[..rows], v);
    }

    /// J v of a contact.
    fn product(&self, index: usize, v: &[f64]) -> Vector {
        let mut u = [0.0; 3];
        let rows = self.contacts[index].rows;
        self.island
            .operator
            .contact_product(index, v, &mut u[..rows]);
        u
    }

    /// |F|² and |r|².
    fn measure(&self, r: &[Vector]) -> (f64, f64) {
        let v = self.velocity(r);
        let (mut map, mut size) = (0.0, 0.0);
        for (index, (r, c)) in r.iter().zip(&self.contacts).enumerate() {
            let u = sum(&self.product(index, &v), &self.free[index]);
            let mut z: Vector = std::array::from_fn(|k| r[k] - c.rho * u[k]);
            z[0] -= c.rho * c.mu * slip(&u);
            let d = difference(r, &on_cone::<3>(&z, c.mu));
            map += dot(&d, &d);
            size += dot(r, r);
        }
        (map, size)
    }

    fn residual(&self, r: &[Vector]) -> f64 {
        let (map, size) = self.measure(r);
        if map == 0.0 {
            0.0
        } else {
            (map / size.max(self.free_size)).sqrt()
        }
    }

    /// Visits a contact whose velocity without its own change is known through `v`; its new impulse.
    fn visit(&mut self, index: usize, y: &Vector, v: &[f64]) -> Vector {
        let u = sum(&self.product(index, v), &self.free[index]);
        let c = &self.contacts[index];
        let m = c.rows;
        let q: Vector = std::array::from_fn(|k| u[k] - dot(&c.w[k], y));
        let mut w = [0.0; 9];
        for i in 0..m {
            w[i * m..(i + 1) * m].copy_from_slice(&c.w[i][..m]);
        }
        let contact = OneContact {
            w: &w[..m * m],
            q: &q[..m],
            section: &self.island.blocks[index].section,
            normal_impulse_min: 0.0,
        };
        let mut p = *y;
        solve_coulomb(&contact, &mut p[..m], &mut self.scratch);
        if p.iter().all(|p| p.is_finite()) {
            p
        } else {
            *y
        }
    }

    /// Sweeps of four contacts at a time; leaves the best point measured and returns its residual.
    fn sweeps(&mut self, r: &mut [Vector]) -> f64 {
        self.write(r);
        let IslandProblem {
            operator,
            free,
            blocks,
            ..
        } = self.island;
        let residual = self.sweeper.only_sweep(
            operator,
            free,
            blocks,
            (self.tolerance, SWEEPS),
            &mut self.flat,
        );
        for ((r, block), c) in r.iter_mut().zip(blocks).zip(&self.contacts) {
            *r = on_cone::<3>(&self.flat[block.range()], c.mu);
        }
        residual
    }

    /// Puts impulses into the rows of the island.
    fn write(&mut self, r: &[Vector]) {
        for (block, r) in self.island.blocks.iter().zip(r) {
            self.flat[block.range()].copy_from_slice(&r[..block.size]);
        }
    }

    /// One Newton step; what GMRES left of the right-hand side.
    fn newton(&self, r: &mut Vec<Vector>, (vectors, accuracy): (usize, f64), weight: f64) -> f64 {
        let before = self.residual(r);
        let linear = Linearised::new(self, r, weight);
        let zero = vec![[0.0; 3]; r.len()];
        let first = linear.sweep(&zero, true);
        let (step, left) = gmres(&first, vectors, accuracy, |x| linear.sweep(x, false));
        for length in [1.0, 0.3, 0.09] {
            let trial: Vec<Vector> = linear
                .start
                .iter()
                .zip(&step)
                .zip(&self.contacts)
                .map(|((r, d), c)| {
                    on_cone::<3>(
                        &std::array::from_fn::<f64, 3, _>(|k| r[k] + length * d[k]),
                        c.mu,
                    )
                })
                .collect();
            if self.residual(&trial) < 2.0 * before {
                *r = trial;
                break;
            }
        }
        left
    }

    /// Follows the constant change of plain sweeps to the `which`-th boundary of a cone.
    fn ray(&mut self, r: &mut [Vector], which: usize) {
        let mut v = self.velocity(r);
        let mut changes = [vec![[0.0; 3]; r.len()], vec![[0.0; 3]; r.len()]];
        for sweep in 0..8 {
            let change_of = &mut changes[sweep % 2];
            for (index, out) in change_of.iter_mut().enumerate() {
                let p = self.visit(index, &r[index], &v);
                *out = difference(&p, &r[index]);
                self.push(index, out, &mut v);
                r[index] = p;
            }
        }
        let [first, second] = &changes;
        let (n1, n2) = (inner(first, first).sqrt(), inner(second, second).sqrt());
        let (cosine, ratio) = (inner(first, second) / (n1 * n2), n2 / n1);
        if !(cosine > 0.99 && ratio > 0.9) {
            return;
        }
        let mut boundaries: Vec<f64> = r
            .iter()
            .zip(second)
            .zip(&self.contacts)
            .filter_map(|((r, d), c)| boundary(r, d, c.mu))
            .collect();
        boundaries.sort_unstable_by(f64::total_cmp);
        // A change that shrinks geometrically ends by itself.
        let end = if ratio < 1.0 {
            ratio / (1.0 - ratio)
        } else {
            f64::INFINITY
        };
        let length = boundaries
            .get(which)
            .map_or(f64::INFINITY, |t| 1.0001 * t)
            .min(end);
        if !length.is_finite() {
            return;
        }
        for ((r, d), c) in r.iter_mut().zip(second).zip(&self.contacts) {
            *r = on_cone::<3>(
                &std::array::from_fn::<f64, 3, _>(|k| r[k] + length * d[k]),
                c.mu,
            );
        }
    }
}

/// The conditions A δr + B δu = −F of the contacts that press, and the sweep over them.
struct Linearised<'a, 'b> {
    problem: &'b NewtonKrylov<'a>,
    /// Impulses with open contacts removed.
    start: Vec<Vector>,
    place: Vec<Place>,
    rate: Vec<Matrix>,
    defect: Vec<Vector>,
    /// (A + (1 + α) B W_ii)⁻¹.
    inverse: Vec<Matrix>,
    weight: f64,
}

impl<'a, 'b> Linearised<'a, 'b> {
    fn new(problem: &'b NewtonKrylov<'a>, r: &[Vector], weight: f64) -> Self {
        let n = r.len();
        let mut v = problem.velocity(r);
        let mut start = r.to_vec();
        let mut place = Vec::with_capacity(n);
        let velocities: Vec<Vector> = (0..n).map(|i| problem.product(i, &v)).collect();
        for (i, c) in problem.contacts.iter().enumerate() {
            let u = sum(&velocities[i], &problem.free[i]);
            let z: Vector = std::array::from_fn(|k| r[i][k] - c.rho * u[k]);
            place.push(if z[0] <= 0.0 {
                problem.push(i, &r[i].map(|p| -p), &mut v);
                start[i] = [0.0; 3];
                Place::Open
            } else if slip(&z) <= c.mu * z[0] {
                Place::Sticks
            } else {
                Place::Slides
            });
        }
        let mut linear = Self {
            problem,
            start,
            place,
            rate: vec![[[0.0; 3]; 3]; n],
            defect: vec![[0.0; 3]; n],
            inverse: vec![[[0.0; 3]; 3]; n],
            weight,
        };
        for i in 0..n {
            linear.linearise(i, &r[i], &v);
        }
        linear
    }

    fn linearise(&mut self, i: usize, r: &Vector, v: &[f64]) {
        if self.place[i] == Place::Open {
            return;
        }
        let c = &self.problem.contacts[i];
        let u = sum(&self.problem.product(i, v), &self.problem.free[i]);
        let z: Vector = std::array::from_fn(|k| r[k] - c.rho * u[k]);
        let size = slip(&z);
        let (mut a, mut b) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        let defect = &mut self.defect[i];
        if self.place[i] == Place::Sticks || size == 0.0 {
            for k in 0..3 {
                b[k][k] = c.rho;
                defect[k] = c.rho * u[k];
            }
        } else {
            let d = [z[1] / size, z[2] / size];
            let limit = c.mu * z[0].max(0.0);
            let share = (limit / size).min(1.0);
            b[0][0] = c.rho;
            defect[0] = c.rho * u[0];
            for k in 0..2 {
                defect[1 + k] = r[1 + k] - limit * d[k];
                a[1 + k][0] = -c.mu * d[k];
                b[1 + k][0] = c.mu * d[k] * c.rho;
                for l in 0..2 {
                    let one = f64::from(k == l);
                    let across = one - d[k] * d[l];
                    a[1 + k][1 + l] = one - share * across;
                    b[1 + k][1 + l] = share * across * c.rho;
                }
            }
        }
        let mut matrix = a;
        for k in 0..3 {
            for l in 0..3 {
                let own: f64 = (0..3).map(|j| b[k][j] * c.w[j][l]).sum();
                matrix[k][l] += (1.0 + self.weight) * own;
            }
        }
        self.inverse[i] = inverse(&matrix);
        self.rate[i] = b;
    }

    /// One sweep from `x`, with the right-hand side or without.
    fn sweep(&self, x: &[Vector], driven: bool) -> Vec<Vector> {
        let problem = self.problem;
        let mut out = x.to_vec();
        let mut v = problem.velocity(x);
        for (i, c) in problem.contacts.iter().enumerate() {
            if self.place[i] == Place::Open {
                out[i] = [0.0; 3];
                continue;
            }
            let u = problem.product(i, &v);
            let others: Vector =
                std::array::from_fn(|k| u[k] - (1.0 + self.weight) * dot(&c.w[k], &out[i]));
            let rhs: Vector = std::array::from_fn(|k| {
                let defect = if driven { self.defect[i][k] } else { 0.0 };
                -defect - dot(&self.rate[i][k], &others)
            });
            let new: Vector = std::array::from_fn(|k| dot(&self.inverse[i][k], &rhs));
            problem.push(i, &difference(&new, &out[i]), &mut v);
            out[i] = new;
        }
        out
    }
}

/// Solves (I − G) x = b; x and |b − (I − G) x|/|b|.
fn gmres(
    b: &[Vector],
    vectors: usize,
    accuracy: f64,
    sweep: impl Fn(&[Vector]) -> Vec<Vector>,
) -> (Vec<Vector>, f64) {
    let size = inner(b, b).sqrt();
    if !(size > 0.0) {
        return (vec![[0.0; 3]; b.len()], 0.0);
    }
    let scaled =
        |x: &[Vector], f: f64| -> Vec<Vector> { x.iter().map(|x| x.map(|x| f * x)).collect() };
    let mut basis = vec![scaled(b, 1.0 / size)];
    let (mut columns, mut turns) = (Vec::<Vec<f64>>::new(), Vec::<(f64, f64)>::new());
    let mut rhs = vec![size];
    for j in 0..vectors {
        let mut w = sweep(&basis[j]);
        for (w, q) in w.iter_mut().zip(&basis[j]) {
            *w = difference(q, w);
        }
        let mut column = Vec::with_capacity(j + 2);
        for q in &basis {
            let along = inner(&w, q);
            column.push(along);
            for (w, q) in w.iter_mut().zip(q) {
                for k in 0..3 {
                    w[k] -= along * q[k];
                }
            }
        }
        let length = inner(&w, &w).sqrt();
        for (i, &(cos, sin)) in turns.iter().enumerate() {
            let turned = cos * column[i] + sin * column[i + 1];
            column[i + 1] = cos * column[i + 1] - sin * column[i];
            column[i] = turned;
        }
        let radius = column[j].hypot(length);
        if !(radius > 0.0) {
            break;
        }
        let (cos, sin) = (column[j] / radius, length / radius);
        column[j] = radius;
        turns.push((cos, sin));
        let last = rhs[j];
        rhs[j] = cos * last;
        rhs.push(-sin * last);
        columns.push(column);
        if rhs[j + 1].abs() <= accuracy * size || length == 0.0 {
            break;
        }
        basis.push(scaled(&w, 1.0 / length));
    }
    let k = columns.len();
    let mut y = vec![0.0; k];
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|j| columns[j][i] * y[j]).sum();
        y[i] = (rhs[i] - known) / columns[i][i];
    }
    let mut x = vec![[0.0; 3]; b.len()];
    for (q, y) in basis.iter().zip(&y) {
        for (x, q) in x.iter_mut().zip(q) {
            for l in 0..3 {
                x[l] += y * q[l];
            }
        }
    }
    (x, rhs[k].abs() / size)
}

/// The first t > 0 at which r + t d leaves the inside of its cone, or a sliding impulse vanishes.
fn boundary(r: &Vector, d: &Vector, mu: f64) -> Option<f64> {
    if r[0] <= 0.0 {
        return None;
    }
    let square = mu * mu;
    let a = d[1] * d[1] + d[2] * d[2] - square * d[0] * d[0];
    let b = r[1] * d[1] + r[2] * d[2] - square * r[0] * d[0];
    let c = r[1] * r[1] + r[2] * r[2] - square * r[0] * r[0];
    if c >= -1e-9 * square * r[0] * r[0] {
        return (d[0] < 0.0).then(|| -r[0] / d[0]);
    }
    let discriminant = b * b - a * c;
    if !(discriminant >= 0.0) {
        return None;
    }
    let root = discriminant.sqrt();
    [(-b + root) / a, (-b - root) / a]
        .into_iter()
        .filter(|t| *t > 0.0 && t.is_finite())
        .min_by(f64::total_cmp)
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn inner(a: &[Vector], b: &[Vector]) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(a, b)).sum()
}

fn sum(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k] + b[k])
}

fn difference(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

/// |u_T|.
fn slip(u: &Vector) -> f64 {
    (u[1] * u[1] + u[2] * u[2]).sqrt()
}

/// The inverse of a small matrix; zero where it is singular, so that the contact stays as it is.
fn inverse(m: &Matrix) -> Matrix {
    let minor = |i: usize, j: usize| {
        let ((a, b), (c, d)) = (((j + 1) % 3, (j + 2) % 3), ((i + 1) % 3, (i + 2) % 3));
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(1, 0) + m[0][2] * minor(2, 0);
    if determinant == 0.0 {
        return [[0.0; 3]; 3];
    }
    std::array::from_fn(|i| std::array::from_fn(|j| minor(i, j) / determinant))
}
