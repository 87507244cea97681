//! Islands whose guess is already a solution.
//!
//! # What it computes
//!
//! The guess projected on its cones, the velocities that it makes, and per island |F|², |r|² and |ρ q|² with
//! F = r − P_K(r − ρ(u + μ|u_T| e_N)), ρ = rows/tr W_ii; where Signorini's part or the part of dissipation of a contact is larger than |F|, its square in
//! place of |F|². With friction the map alone may be smaller than these by 1 + μ, and a certificate asks for all of them.
//!
//! # Source
//!
//! The residual of [`crate::contact::ContactResidual`], on the rows as they are.
//!
//! # Guarantees
//!
//! An island is at rest only if its own residual is within the tolerance; its impulses are then the projected guess.
//!
//! # Behaviour to know
//!
//! Islands with a law that batches do not cover are never found at rest here.
//!
//! # Cost
//!
//! As much as two to three sweeps, in place of packing and a check: what stands still costs little else. No allocation once warm.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::packing::batch_friction;
use super::workspace::Problem;
use crate::contact::Islands;
use crate::parallel::share;

/// Sums of one island.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// |F|², or the square of the worst part.
    pub(super) map: f64,
    pub(super) size: f64,
    pub(super) free: f64,
    /// Whether every contact has a law that is measured here.
    covered: bool,
}

impl Sums {
    /// Adds those of another island.
    pub(super) fn add(&mut self, other: &Self) {
        self.map += other.map;
        self.size += other.size;
        self.free += other.free;
    }

    /// Whether every contact was measured and the residual is within the tolerance.
    pub(super) fn within(&self, tolerance: f64) -> bool {
        self.covered
            && self.map <= tolerance * tolerance * self.size.max(self.free)
            && self.map.is_finite()
    }
}

/// The measure of all islands, kept from step to step.
#[derive(Debug, Default)]
pub(super) struct Rest {
    velocity: Vec<f64>,
    /// |F|², |r|², |ρ q|² and the square of the worst part of each contact.
    measures: Vec<[f64; 4]>,
    sums: Vec<Sums>,
    /// Square of the worst part of each island.
    parts: Vec<f64>,
}

impl Rest {
    /// Marks the islands that the guess solves in `solved`; their guess is projected in place.
    pub(super) fn find<const R: usize>(
        &mut self,
        problem: &Problem,
        islands: &Islands,
        tolerance: f64,
        impulse: &mut [f64],
        solved: &mut [bool],
    ) {
        let operator = problem.operator;
        let covered = Sums {
            covered: true,
            ..Sums::default()
        };
        self.sums.clear();
        self.sums.resize(islands.count(), covered);
        for (contact, block) in problem.blocks.iter().enumerate() {
            let guess = &mut impulse[operator.rows_of(contact)];
            let Some(island) = islands.of(contact) else {
                guess.fill(0.0);
                continue;
            };
            match batch_friction(block, R) {
                Some(mu) if guess.iter().all(|p| p.is_finite()) => {
                    let projected = on_cone::<R>(guess, mu);
                    guess.copy_from_slice(&projected[..guess.len()]);
                }
                _ => self.sums[island].covered = false,
            }
        }
        self.velocity.clear();
        self.velocity
            .resize(operator.bodies() * operator.freedoms(), 0.0);
        operator.add_velocity(impulse, &mut self.velocity);
        let contacts = operator.contacts();
        self.measures.resize(contacts, [0.0; 4]);
        self.parts.clear();
        self.parts.resize(islands.count(), 0.0);
        let (velocity, guess, sums) = (&self.velocity, &*impulse, &self.sums);
        share(&mut self.measures[..], contacts, |first, measures| {
            for (k, measure) in measures.iter_mut().enumerate() {
                let contact = first + k;
                // Where a law is not covered the island is not, and its sums are not read.
                if islands
                    .of(contact)
                    .is_some_and(|island| sums[island].covered)
                {
                    let mu = batch_friction(&problem.blocks[contact], R).unwrap_or(0.0);
                    *measure = natural_map::<R>(problem, contact, mu, velocity, guess);
                }
            }
        });
        for (contact, &[map, size, free, part]) in self.measures.iter().enumerate() {
            let Some(island) = islands.of(contact) else {
                continue;
            };
            let sums = &mut self.sums[island];
            sums.map += map;
            sums.size += size;
            sums.free += free;
            self.parts[island] = part.max(self.parts[island]);
        }
        let islands = self.sums.iter_mut().zip(&self.parts);
        for (solved, (sums, &part)) in solved.iter_mut().zip(islands) {
            sums.map = or_part(sums.map, part);
            *solved = sums.within(tolerance);
        }
    }

    /// The measure of an island.
    pub(super) fn sums(&self, island: usize) -> &Sums {
        &self.sums[island]
    }
}

/// Friction from which on the natural map makes more of a slip than the slip itself.
pub(super) const STEEP: f64 = 1.0;

/// The slip that friction feels: none at the rounding of velocities where friction is steep. With μ = 10⁹ the last digit of a contact
/// that sticks would be a residual of 10⁻⁷, which no method reduces; a certificate leaves it out as well.
#[inline]
pub(super) fn felt(slip: f64, mu: f64, noise: f64) -> f64 {
    if mu > STEEP && slip <= noise {
        0.0
    } else {
        slip
    }
}

/// |F|² of an island, or the square of the worst part of a contact where that is larger; no number where |F|² is none.
#[inline]
pub(super) fn or_part(map: f64, part: f64) -> f64 {
    if part > map { part } else { map }
}

/// The larger of the squares of Signorini's part `|min(r_N, ρ u_N)|` and of the part of dissipation `|r_T − P_{μ r_N}(r_T − ρ u_T)|` of a contact, which a
/// certificate measures beside the natural map.
#[inline]
pub(super) fn worst_part(r: &[f64], u: &[f64], (mu, rho): (f64, f64)) -> f64 {
    let normal = r[0] - (r[0] - rho * u[0]).max(0.0);
    let pushed = |k: usize| r[k] - rho * u[k];
    let length = (1..r.len())
        .map(|k| pushed(k) * pushed(k))
        .sum::<f64>()
        .sqrt();
    let radius = mu * r[0].max(0.0);
    let shrink = if length > radius {
        radius / length
    } else {
        1.0
    };
    let mut friction = 0.0;
    for k in 1..r.len() {
        let defect = r[k] - shrink * pushed(k);
        friction += defect * defect;
    }
    friction.max(normal * normal)
}

/// |F|², |r|², |ρ q|² and the square of the worst part of a contact under the velocities that the impulses make; infinite where nothing can move it.
#[inline]
fn natural_map<const R: usize>(
    problem: &Problem,
    contact: usize,
    mu: f64,
    velocity: &[f64],
    impulse: &[f64],
) -> [f64; 4] {
    let operator = problem.operator;
    let rows = operator.rows_of(contact);
    let size = rows.len().min(R);
    let (mut trace, mut slip, mut free) = (0.0, 0.0, 0.0);
    let mut u = [0.0; R];
    operator.contact_product(contact, velocity, &mut u);
    for (k, q) in problem.free[rows.clone()].iter().enumerate() {
        u[k] += q;
        trace += operator.square(rows.start + k);
        free += q * q;
        if k > 0 {
            slip += u[k] * u[k];
        }
    }
    if !(trace > 0.0) {
        return [f64::INFINITY; 4];
    }
    let rho = size as f64 / trace;
    let r = &impulse[rows];
    let (mut z, mut length) = ([0.0; R], 0.0);
    for k in 0..size {
        z[k] = r[k] - rho * u[k];
        length += r[k] * r[k];
    }
    z[0] -= rho * mu * felt(slip.sqrt(), mu, problem.noise);
    let nearest = on_cone::<R>(&z[..size], mu);
    let mut map = 0.0;
    for k in 0..size {
        map += (r[k] - nearest[k]) * (r[k] - nearest[k]);
    }
    let part = worst_part(r, &u[..size], (mu, rho));
    [map, length, rho * rho * free, part]
}

/// The point of |z_T| ≤ μ z_N nearest to z.
#[inline]
pub(super) fn on_cone<const R: usize>(z: &[f64], mu: f64) -> [f64; R] {
    let mut out = [0.0; R];
    let size = z[1..].iter().map(|z| z * z).sum::<f64>().sqrt();
    if mu * size <= -z[0] {
        return out;
    }
    out[..z.len()].copy_from_slice(z);
    if size > mu * z[0] {
        let normal = (z[0] + mu * size) / (1.0 + mu * mu);
        let factor = mu * normal / size;
        out[0] = normal;
        out[1..z.len()].iter_mut().for_each(|z| *z *= factor);
    }
    out
}
