//! Patches: where few contacts hold up a large island, these and their neighbours are solved by themselves.
//!
//! # What it computes
//!
//! Rounds of two parts. *Patch*: the contacts with the largest parts of |F|², at most [`SEEDS`] of all, the bodies within [`RINGS`] contacts that press of them, and all
//! contacts of these bodies; every other impulse stays as it is. The patch is swept with full momentum; where it stalls, its impulses drift along a
//! direction on which its W vanishes, and the [`ray`](super::ray) leads to the next cones. *Island*: sweeps over all contacts, which take
//! up what the patch has changed at its border.
//!
//! # Source
//!
//! Own.
//!
//! # Guarantees
//!
//! Only measured points are answers, and the best of them is kept. One thread, so the same bits for any number of them.
//!
//! # Behaviour to know
//!
//! Made for packs that rearrange themselves somewhere: ten contacts then hold half of the residual, two hundred nine tenths, and a sweep over the patch costs a
//! fifth of one over the island or less. In flow the residual is everywhere: a patch of more than [`LARGEST`] of the contacts is not tried. Ten steps of a pack of 5,000 balls, in sweeps
//! over the island that cost the same (before: sweeps, then Newton's method without a matrix; a dash where 1e-8 was not reached): 550 (–), 492 (–), 1,544 (–), 308 (over 4,000),
//! 653 (–), 278 (905), 2,013 (–), 353 (–), – (–), 327 (694). Without the ray three of them stall; with the first cone only, not the second, fourth and eighth in turn, seven do.
//!
//! # Cost
//!
//! At most that of [`SWEEPS_MAX`] sweeps over the island; allocates.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::finish::put_back;
use super::krylov_island::{Island, Vector};
use super::ray::Ray;
use super::rest::on_cone;
use super::solver::{BodySweepSolver, OnlySweeps};
use super::workspace::Problem;
use crate::contact::NO_BODY;

/// Sweeps over an island before patches are tried on it. A drum of 1,000 balls: 100 % of 400 steps at 1e-8 with a mean of 323 sweeps; 99.2 % and 381 sweeps where patches
/// were tried only after 120 sweeps without halving of the residual.
pub(super) const FIRST_SWEEPS: u32 = 250;
/// Contacts that a patch is grown from: so many, or those that hold the second number of |F|², and at most a part of all.
const SEEDS: (usize, f64) = (300, 0.9);
const SEEDS_SHARE: f64 = 0.02;
/// Rings of bodies around them. With two a patch is solved against a border that is wrong, five make it as dear as the island.
const RINGS: usize = 3;
/// Part of the island's contacts above which a patch is no patch.
const LARGEST: f64 = 0.45;
/// Sweeps over a patch, and those after each ray.
const PATCH_SWEEPS: (u32, u32) = (1000, 150);
/// Cones that rays lead to, in turn, and plain sweeps that show the direction of a ray.
const BOUNDARIES: [usize; 6] = [1, 3, 7, 1, 3, 7];
const PLAIN: usize = 20;
/// Sweeps over the island after each patch.
const ISLAND_SWEEPS: u32 = 30;
/// What a patch aims at: this part of the tolerance, but not less than this part of the residual.
const AIM: (f64, f64) = (0.3, 1e-3);
/// Most that all rounds may cost, in sweeps over the island, and rounds without halving after which they end.
const SWEEPS_MAX: f64 = 2000.0;
const IDLE_MAX: u32 = 6;

/// The iteration, with memory that is kept from island to island.
#[derive(Debug, Default)]
pub(super) struct Patches {
    pub(super) island: Island,
    patch: Island,
    ray: Ray,
    sweeper: BodySweepSolver,
    r: Vec<Vector>,
    velocity: Vec<f64>,
    errors: Vec<f64>,
    order: Vec<u32>,
    inside: Vec<bool>,
    contacts: Vec<u32>,
    bodies: Vec<u32>,
    /// Velocities of the island's contacts without the impulses of the patch.
    free: Vec<f64>,
    best: Vec<f64>,
}

impl Patches {
    /// Works on the impulses of its island, where the best ones are left; |F|² and |r|² of these. `None` where the island has no part that holds it
    /// up, where a contact has another law or nothing can move it.
    pub(super) fn run(&mut self, tolerance: f64) -> Option<(f64, f64)> {
        self.island.prepare()?;
        let count = self.island.contacts.len();
        let (start, on_body) = self.island.problem.operator.contacts_of_bodies();
        let (mut cost, mut idle, mut tried) = (0.0, 0, false);
        let mut best = (f64::INFINITY, 0.0, 0.0);
        let mut answer = Vec::new();
        loop {
            self.read();
            let (map, size) = self.errors();
            let residual = self.island.relative(map, size);
            idle = if residual <= 0.5 * best.0 {
                0
            } else {
                idle + 1
            };
            if residual < best.0 {
                best = (residual, map, size);
                answer.clone_from(&self.island.problem.impulse);
            }
            if best.0 <= tolerance || idle >= IDLE_MAX || cost >= SWEEPS_MAX {
                break;
            }
            self.grow(map, &start, &on_body);
            if self.contacts.len() as f64 > LARGEST * count as f64 {
                break;
            }
            tried = true;
            let aim = (AIM.0 * tolerance).max(AIM.1 * residual);
            let visits = self.solve_patch(aim * self.island.scale(size))?;
            cost += visits as f64 / count as f64;
            let problem = &mut self.island.problem;
            let sweeps = OnlySweeps::full(tolerance, ISLAND_SWEEPS);
            let outcome = self.sweeper.only_sweep(
                (&problem.operator, &problem.free, &problem.blocks),
                &sweeps,
                &mut problem.impulse,
            );
            cost += f64::from(outcome.sweeps);
        }
        self.island.problem.impulse = answer;
        tried.then_some((best.1, best.2))
    }

    /// Impulses of the island as vectors on their cones.
    fn read(&mut self) {
        let problem = &mut self.island.problem;
        self.r.clear();
        for (block, contact) in problem.blocks.iter().zip(&self.island.contacts) {
            let r = on_cone::<3>(&problem.impulse[block.range()], contact.mu);
            problem.impulse[block.range()].copy_from_slice(&r[..block.size]);
            self.r.push(r);
        }
    }

    /// |F|² of each contact; |F|² and |r|² of all.
    fn errors(&mut self) -> (f64, f64) {
        self.errors.clear();
        let errors = &mut self.errors;
        self.island
            .measure_each(&self.r, &mut self.velocity, |error| errors.push(error))
    }

    /// Chooses the contacts and bodies of the next patch.
    fn grow(&mut self, map: f64, start: &[u32], on_body: &[u32]) {
        let Self { errors, order, .. } = self;
        order.clear();
        order.extend(0..errors.len() as u32);
        let by_error = |a: &u32, b: &u32| {
            let (x, y) = (errors[*a as usize], errors[*b as usize]);
            y.total_cmp(&x).then(a.cmp(b))
        };
        order.sort_unstable_by(by_error);
        let most = SEEDS
            .0
            .min((SEEDS_SHARE * errors.len() as f64).ceil() as usize);
        let operator = &self.island.problem.operator;
        self.inside.clear();
        self.inside.resize(operator.bodies(), false);
        let mut held = 0.0;
        let mut front = Vec::new();
        for &seed in order.iter().take(most) {
            enter(operator.sides(seed as usize), &mut self.inside, &mut front);
            held += errors[seed as usize];
            if held >= SEEDS.1 * map {
                break;
            }
        }
        for _ in 0..RINGS {
            let ring = std::mem::take(&mut front);
            for body in ring {
                let own = start[body as usize] as usize..start[body as usize + 1] as usize;
                for &contact in &on_body[own] {
                    if self.r[contact as usize][0] > 0.0 {
                        enter(
                            operator.sides(contact as usize),
                            &mut self.inside,
                            &mut front,
                        );
                    }
                }
            }
        }
        let touches = |sides: [u32; 2]| {
            sides
                .into_iter()
                .any(|side| side != NO_BODY && self.inside[side as usize])
        };
        self.contacts.clear();
        self.bodies.clear();
        for contact in 0..operator.contacts() {
            let sides = operator.sides(contact);
            if touches(sides) {
                self.contacts.push(contact as u32);
                let moved = sides.into_iter().filter(|&side| side != NO_BODY);
                self.bodies.extend(moved);
            }
        }
        self.bodies.sort_unstable();
        self.bodies.dedup();
    }

    /// Solves the patch to an absolute |F| and writes its impulses into the island; visits of contacts.
    fn solve_patch(&mut self, aim: f64) -> Option<u64> {
        let problem = &self.island.problem;
        self.island.velocity(&self.r, &mut self.velocity);
        for &contact in &self.contacts {
            let back = self.r[contact as usize].map(|p| -p);
            self.island
                .push(contact as usize, &back, &mut self.velocity);
        }
        self.free.clone_from(&problem.free);
        for &contact in &self.contacts {
            let u = self.island.product(contact as usize, &self.velocity);
            let rows = problem.operator.rows_of(contact as usize);
            for (free, u) in self.free[rows].iter_mut().zip(u) {
                *free += u;
            }
        }
        let whole = Problem {
            operator: &problem.operator,
            free: &self.free,
            blocks: &problem.blocks,
            noise: problem.noise,
        };
        let (contacts, bodies) = (&self.contacts, &self.bodies);
        self.patch
            .problem
            .copy(&whole, contacts, bodies, &problem.impulse)?;
        self.patch.prepare()?;
        let size: f64 = self.patch.problem.impulse.iter().map(|p| p * p).sum();
        let visits = self.sweep_patch(aim / self.patch.scale(size));
        let problem = &mut self.island.problem;
        put_back(
            &self.best,
            &problem.operator,
            &self.contacts,
            &mut problem.impulse,
        );
        Some(visits)
    }

    /// Sweeps and rays over the patch, to its own relative tolerance; leaves the best impulses and returns the visits.
    fn sweep_patch(&mut self, tolerance: f64) -> u64 {
        let mut best = f64::INFINITY;
        let mut visits = 0;
        let mut boundaries = BOUNDARIES.into_iter();
        let mut sweeps_max = PATCH_SWEEPS.0;
        loop {
            let problem = &mut self.patch.problem;
            let outcome = self.sweeper.only_sweep(
                (&problem.operator, &problem.free, &problem.blocks),
                &OnlySweeps::full(tolerance, sweeps_max),
                &mut problem.impulse,
            );
            visits += outcome.visits;
            if outcome.residual < best {
                best = outcome.residual;
                self.best.clone_from(&problem.impulse);
            }
            let Some(boundary) = boundaries.next().filter(|_| best > tolerance) else {
                return visits;
            };
            self.r.clear();
            for (block, contact) in problem.blocks.iter().zip(&self.patch.contacts) {
                self.r
                    .push(on_cone::<3>(&problem.impulse[block.range()], contact.mu));
            }
            let found = self.ray.follow(&self.patch, &mut self.r, (boundary, PLAIN));
            visits += (PLAIN * self.r.len()) as u64;
            if !found {
                return visits;
            }
            let problem = &mut self.patch.problem;
            for (block, r) in problem.blocks.iter().zip(&self.r) {
                problem.impulse[block.range()].copy_from_slice(&r[..block.size]);
            }
            sweeps_max = PATCH_SWEEPS.1;
        }
    }
}

/// Takes the bodies of a contact in.
fn enter(sides: [u32; 2], inside: &mut [bool], front: &mut Vec<u32>) {
    for side in sides {
        if side != NO_BODY && !inside[side as usize] {
            inside[side as usize] = true;
            front.push(side);
        }
    }
}
