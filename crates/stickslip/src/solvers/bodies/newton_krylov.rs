//! Newton's method without a matrix, for large islands on which sweeps stall.
//!
//! # What it computes
//!
//! Rounds of three parts. *Newton*: at z = r − ρ u a contact is open (z_N ≤ 0: its impulse becomes zero), sticks (ρ u = 0) or slides
//! (ρ u_N = 0, r_T = μ z_N d with d = z_T/|z_T|); the linearised conditions are solved by GMRES on I − G, where G is one sweep of the
//! linearised problem, and the step is shortened until the residual does not double. *Ray*: that of [`ray`](super::ray). *Sweeps* as in [`drive`](super::drive).
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
//! It ends where none of the proximal weights, tried in turn, has halved the residual. Made for flow, where many contacts slide: all of 15 steps of a drum and a column that 1,000 sweeps had left at 1e-7 to 5e-5 were
//! solved to 1e-8 in the time of 330 to 1,100 sweeps, 10 of them without the ray. In packs at rest sweeps with full momentum do better.
//!
//! # Cost
//!
//! An iteration of GMRES is a sweep; at most 60 vectors of the size of the island's impulses are kept.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::gmres::Gmres;
use super::krylov_island::{Island, Vector};
use super::linearised::Linearised;
use super::ray::Ray;
use super::rest::on_cone;
use super::solver::{BodySweepSolver, OnlySweeps};

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
/// Cone boundaries to go to, in turn: the first one, the second, the fourth, the eighth; and the plain sweeps before.
const BOUNDARIES: [usize; 4] = [0, 1, 3, 7];
const PLAIN: usize = 8;

/// The iteration, with memory that is kept from island to island.
#[derive(Debug, Default)]
pub(super) struct NewtonKrylov {
    pub(super) island: Island,
    linear: Linearised,
    gmres: Gmres,
    sweeper: BodySweepSolver,
    r: Vec<Vector>,
    best: Vec<Vector>,
    trial: Vec<Vector>,
    velocity: Vec<f64>,
    /// What one sweep changes, and no change.
    first: Vec<Vector>,
    zero: Vec<Vector>,
    ray: Ray,
    /// Impulses row by row.
    pub(super) flat: Vec<f64>,
}

impl NewtonKrylov {
    /// Works on the impulses of its island for at most so many rounds; |F|² and |r|² of the best ones, which are left in `flat`. `None` where a contact
    /// has another law or nothing can move it.
    pub(super) fn run(&mut self, tolerance: f64, rounds_max: u32) -> Option<(f64, f64)> {
        self.island.prepare()?;
        let mut r = std::mem::take(&mut self.r);
        r.clear();
        let problem = &self.island.problem;
        for (block, contact) in problem.blocks.iter().zip(&self.island.contacts) {
            r.push(on_cone::<3>(&problem.impulse[block.range()], contact.mu));
        }
        self.flat.clear();
        self.flat.resize(problem.impulse.len(), 0.0);
        self.best.clone_from(&r);
        let mut best_residual = self.island.residual(&r, &mut self.velocity);
        let (mut idle, mut rays) = (0, 0);
        for _ in 0..rounds_max {
            if best_residual <= tolerance || idle >= WEIGHTS.len() {
                break;
            }
            let effort = if idle >= 2 { MANY } else { FEW };
            let weight = WEIGHTS[idle % WEIGHTS.len()];
            let inconsistency = self.newton(&mut r, effort, weight);
            if inconsistency > INCONSISTENT || (idle >= 1 && best_residual < NEAR) {
                let boundary = BOUNDARIES[rays % BOUNDARIES.len()];
                self.ray.follow(&self.island, &mut r, (boundary, PLAIN));
                rays += 1;
            }
            let residual = self.sweeps(&mut r, tolerance);
            if residual <= 0.5 * best_residual {
                idle = 0;
            } else {
                idle += 1;
            }
            if residual < best_residual {
                best_residual = residual;
                self.best.clone_from(&r);
            }
        }
        self.r = r;
        let measured = self.island.measure(&self.best, &mut self.velocity);
        let blocks = &self.island.problem.blocks;
        for (block, r) in blocks.iter().zip(&self.best) {
            self.flat[block.range()].copy_from_slice(&r[..block.size]);
        }
        Some(measured)
    }

    /// Sweeps of four contacts at a time; leaves the best point measured and returns its residual.
    fn sweeps(&mut self, r: &mut [Vector], tolerance: f64) -> f64 {
        let problem = &self.island.problem;
        for (block, r) in problem.blocks.iter().zip(r.iter()) {
            self.flat[block.range()].copy_from_slice(&r[..block.size]);
        }
        let outcome = self.sweeper.only_sweep(
            (&problem.operator, &problem.free, &problem.blocks),
            &OnlySweeps::adaptive(tolerance, SWEEPS),
            &mut self.flat,
        );
        let contacts = problem.blocks.iter().zip(&self.island.contacts);
        for (r, (block, c)) in r.iter_mut().zip(contacts) {
            *r = on_cone::<3>(&self.flat[block.range()], c.mu);
        }
        outcome.residual
    }

    /// One Newton step; what GMRES left of the right-hand side.
    fn newton(&mut self, r: &mut Vec<Vector>, effort: (usize, f64), weight: f64) -> f64 {
        let Self {
            island,
            linear,
            gmres,
            trial,
            velocity,
            first,
            zero,
            ..
        } = self;
        let before = island.residual(r, velocity);
        linear.set(island, r, weight);
        zero.clear();
        zero.resize(r.len(), [0.0; 3]);
        linear.sweep(island, zero, true, first);
        let left = gmres.solve(first, effort, |x, out| linear.sweep(island, x, false, out));
        for length in [1.0, 0.3, 0.09] {
            trial.clear();
            let steps = linear.start.iter().zip(&gmres.x).zip(&island.contacts);
            trial.extend(steps.map(|((r, d), c)| {
                on_cone::<3>(
                    &std::array::from_fn::<f64, 3, _>(|k| r[k] + length * d[k]),
                    c.mu,
                )
            }));
            if island.residual(trial, velocity) < 2.0 * before {
                std::mem::swap(r, trial);
                break;
            }
        }
        left
    }
}
