//! Newton's method for islands on which sweeps crawl.
//!
//! # What it computes
//!
//! The same contact problem on the bodies of one island, by the second-order methods of the [`cascade`](crate::solvers::cascade): proximal Newton from the best
//! impulses of the sweeps, then the interior point.
//!
//! # Source
//!
//! [`proximal_newton`](crate::solvers::proximal_newton), [`interior_point`](crate::solvers::interior_point).
//!
//! # Guarantees
//!
//! The answer is taken only if its residual, measured here afresh, is the smallest so far.
//!
//! # Behaviour to know
//!
//! Sweeps crawl on towers with large mass ratios and on tall stacks, whose graphs are thin: there a Newton step costs as
//! much as 5 to 20 sweeps, and it is tried early. In piles of some hundred boxes and balls it costs 200, in packings of a thousand balls 400: there it comes last, when
//! sweeps, patches and Newton's method without a matrix have all failed, and only if a step can pay for many Newton steps. In a bin of 125 boxes and 125 balls that
//! settles impulses drift along directions in which faces with four contacts and sliding neighbours hardly resist, for tens of thousands of sweeps;
//! proximal Newton solved all of 22 such problems, in 0.8 s of CPU on average.
//!
//! # Cost
//!
//! One factorisation per Newton step; allocates.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::newton_krylov::NewtonKrylov;
use super::packing::batch_friction;
use super::rest::{felt, or_part, worst_part};
use super::workspace::Problem;
use crate::algebra::dot;
use crate::contact::delassus::{BlockDelassus, BodyForm, BodyLink};
use crate::contact::{BodyOperator, ContactBlock, ContactProblem, Delassus, NO_BODY};
use crate::solvers::cascade::{Finish, finish_by_newton};

/// Sweeps before Newton's method is tried. Measured on towers: later it costs more than it saves, earlier quiet steps pay for it.
pub(super) const FIRST_SWEEPS: u32 = 150;

/// Bodies above which it is not tried: towers, walls and arches lie below, packings above.
pub(super) const MOST_BODIES: usize = 400;

/// Part of the tolerance that Newton's method aims at. The last steps converge fast, and slow modes that are left in the impulses
/// would cost the sweeps of the next steps dear: a tower with a top of a thousand times the mass took 150 sweeps in every step.
const FARTHER: f64 = 1e-3;

/// Most pairs of contacts with a body in common of an island that is factorised: its W would have so many blocks, 72 bytes each. Stacks
/// of boxes have 50 pairs to a contact; where every body reaches every other there are thousands.
const PAIRS_MAX: f64 = 4e6;

/// The problem of one island, its bodies numbered anew.
#[derive(Debug, Default)]
pub(super) struct IslandProblem {
    pub(super) operator: BodyOperator,
    pub(super) free: Vec<f64>,
    pub(super) blocks: Vec<ContactBlock>,
    pub(super) impulse: Vec<f64>,
    /// Rounding of velocities.
    pub(super) noise: f64,
}

impl IslandProblem {
    /// Copies an island; `None` where a block has a law that Newton's method does not know.
    pub(super) fn copy(
        &mut self,
        problem: &Problem,
        contacts: &[u32],
        bodies: &[u32],
        impulse: &[f64],
    ) -> Option<()> {
        let rows = problem.operator.freedoms() / 3 + 1;
        self.free.clear();
        self.blocks.clear();
        self.impulse.clear();
        self.noise = problem.noise;
        self.operator
            .begin(problem.operator.freedoms(), bodies.len());
        for &contact in contacts {
            let contact = contact as usize;
            let block = &problem.blocks[contact];
            batch_friction(block, rows)?;
            let sides = problem.operator.sides(contact).map(|side| {
                if side == NO_BODY {
                    return NO_BODY;
                }
                // Bodies of an island ascend; its contacts touch no others.
                bodies.binary_search(&side).map_or(NO_BODY, |at| at as u32)
            });
            let range = problem.operator.rows_of(contact);
            let numbers = self.operator.push(range.len(), sides);
            for (out, row) in numbers
                .chunks_exact_mut(2 * problem.operator.freedoms())
                .zip(range.clone())
            {
                out.copy_from_slice(problem.operator.row(row));
            }
            self.blocks.push(ContactBlock {
                start: self.free.len(),
                ..block.clone()
            });
            self.free.extend_from_slice(&problem.free[range.clone()]);
            self.impulse.extend_from_slice(&impulse[range]);
        }
        Some(())
    }

    /// Solves the island by factorisations; |F|² and |r|² of the answer, if it is within the tolerance.
    fn factorise(&mut self, tolerance: f64, finish: Finish) -> Option<(f64, f64)> {
        let (start, _) = self.operator.contacts_of_bodies();
        let pairs = |ends: &[u32]| f64::from(ends[1] - ends[0]).powi(2);
        if start.windows(2).map(pairs).sum::<f64>() > PAIRS_MAX {
            return None;
        }
        let problem =
            ContactProblem::from_local(self.delassus(), self.free.clone(), self.blocks.clone());
        let aim = match finish {
            Finish::Early => FARTHER * tolerance,
            Finish::Last => tolerance,
        };
        let answer = finish_by_newton(&problem, aim, &self.impulse, finish)?;
        let start = std::mem::replace(&mut self.impulse, answer);
        let (map, size, free) = self.natural_map();
        if map <= tolerance * tolerance * f64::max(size, free) {
            return Some((map, size));
        }
        self.impulse = start;
        None
    }

    /// W by blocks with the bodies behind it, so that Newton's method may work on either.
    fn delassus(&self) -> Delassus {
        let Some(matrix) = self.operator.blocks() else {
            return Delassus::Bodies(Box::new(self.operator.clone()));
        };
        let (f, bodies) = (self.operator.freedoms(), self.operator.bodies());
        let mut one = vec![0.0; f * f];
        one.iter_mut().step_by(f + 1).for_each(|x| *x = 1.0);
        let mut form = BodyForm {
            freedoms: (0..bodies)
                .map(|b| (f * b..f * (b + 1)).collect())
                .collect(),
            mass: vec![one.clone(); bodies],
            inverse_mass: vec![one; bodies],
            links: Vec::new(),
        };
        for contact in 0..self.operator.contacts() {
            let mut links: Vec<BodyLink> = Vec::new();
            for (s, side) in self.operator.sides(contact).into_iter().enumerate() {
                if side == NO_BODY {
                    continue;
                }
                let rows = self.operator.rows_of(contact);
                let jacobian: Vec<f64> = rows
                    .flat_map(|row| self.operator.row(row)[s * f..(s + 1) * f].iter().copied())
                    .collect();
                match links.iter_mut().find(|link| link.body == side as usize) {
                    Some(link) => link
                        .jacobian
                        .iter_mut()
                        .zip(jacobian)
                        .for_each(|(a, b)| *a += b),
                    None => links.push(BodyLink {
                        body: side as usize,
                        jacobian,
                    }),
                }
            }
            form.links.push(links);
        }
        Delassus::Blocks(Box::new(BlockDelassus {
            matrix,
            bodies: Some(form),
        }))
    }

    /// |F|² or the square of the worst part, |r|² and |ρ q|² over all contacts.
    fn natural_map(&self) -> (f64, f64, f64) {
        let mut u = self.free.clone();
        self.operator
            .multiply_add(&self.impulse, &mut u, &mut Vec::new());
        let (mut map, mut size, mut free, mut part) = (0.0, 0.0, 0.0, 0.0);
        let mut w = Vec::new();
        let (mut z, mut projected) = (Vec::new(), Vec::new());
        for (contact, block) in self.blocks.iter().enumerate() {
            let range = block.range();
            self.operator.diagonal_block(contact, &mut w);
            let trace: f64 = w.iter().step_by(block.size + 1).sum();
            let rho = block.size as f64 / trace;
            let (r, u, q) = (
                &self.impulse[range.clone()],
                &u[range.clone()],
                &self.free[range],
            );
            let mu = block.section.support(&unit(block.size - 1));
            z.clear();
            z.extend(r.iter().zip(u).map(|(r, u)| r - rho * u));
            z[0] -= rho * mu * felt(dot(&u[1..], &u[1..]).sqrt(), mu, self.noise);
            projected.clear();
            projected.resize(block.size, 0.0);
            block.section.project_on_cone(&z, &mut projected);
            let defect = r.iter().zip(&projected).map(|(r, p)| (r - p) * (r - p));
            map += defect.sum::<f64>();
            size += dot(r, r);
            free += rho * rho * dot(q, q);
            part = worst_part(r, u, (mu, rho)).max(part);
        }
        (or_part(map, part), size, free)
    }
}

impl NewtonKrylov {
    /// Solves its island from its impulses: by a factorisation where that is cheap, else without a matrix, in at most so many rounds. |F|² and |r|² of the
    /// answer, which is left in the island and may miss the tolerance; `None` where neither method knows the laws.
    pub(super) fn solve(
        &mut self,
        tolerance: f64,
        few_bodies: bool,
        rounds_max: u32,
    ) -> Option<(f64, f64)> {
        if few_bodies && let Some(answer) = self.island.problem.factorise(tolerance, Finish::Early)
        {
            return Some(answer);
        }
        if rounds_max == 0 {
            return None;
        }
        let answer = self.run(tolerance, rounds_max)?;
        self.island.problem.impulse.copy_from_slice(&self.flat);
        Some(answer)
    }

    /// Solves its island, which all other methods have left, by factorisations as far as a step may go; |F|² and |r|² of the answer where it is
    /// within the tolerance.
    pub(super) fn solve_last(&mut self, tolerance: f64) -> Option<(f64, f64)> {
        self.island.problem.factorise(tolerance, Finish::Last)
    }
}

/// Writes impulses of some contacts, one after the other, into those of all.
pub(super) fn put_back(own: &[f64], operator: &BodyOperator, contacts: &[u32], all: &mut [f64]) {
    let mut at = 0;
    for &contact in contacts {
        let rows = operator.rows_of(contact as usize);
        let size = rows.len();
        all[rows].copy_from_slice(&own[at..at + size]);
        at += size;
    }
}

/// A direction of the tangent plane.
fn unit(dimension: usize) -> Vec<f64> {
    let mut direction = vec![0.0; dimension];
    if let Some(first) = direction.first_mut() {
        *first = 1.0;
    }
    direction
}
