//! Contacts that the batches of four do not cover, visited one by one in the order of the sweep.
//!
//! # What it computes
//!
//! The same visit as in a batch for every other law: ellipses, polygons and products as friction sections, rolling and drilling
//! rows, least and known normal impulses, bilateral and bounded rows, the kinetic projection, and discs whose block is singular to
//! rounding. The exact one-contact solvers do the work.
//!
//! # Source
//!
//! [`crate::solvers::one_contact`].
//!
//! # Guarantees
//!
//! The natural map measured here is that of the law of the block, in the scale ρ = rows/tr W_ii.
//!
//! # Behaviour to know
//!
//! Where a contact alone has no solution (a wedged, singular block) it is visited with a proximal term around its impulse.
//!
//! # Cost
//!
//! 0.1 to 10 µs per visit, by the law; no allocation for discs and intervals.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::batch::{Bodies, Sums, place, stride};
use super::rest::felt;
use crate::algebra::{PivotedCholesky, dot};
use crate::contact::{
    BlockKind, BodyOperator, ContactBlock, MULTIPLIER_TOLD, NO_BODY, slice_defect,
};
use crate::laws::FlowRule;
use crate::solvers::one_contact::{
    LocalOutcome, LocalScratch, OneContact, solve_coulomb, solve_kinetic, solve_known_normal,
};

/// One contact visited by itself.
#[derive(Clone, Debug)]
pub(super) struct Alone {
    /// Contact of the problem.
    pub(super) contact: usize,
    /// Batches of its group before it.
    pub(super) before: usize,
    /// 2·F numbers per row.
    jacobian: Vec<f64>,
    sides: [u32; 2],
    q: Vec<f64>,
    /// Rounding of velocities.
    noise: f64,
    /// W_ii, row-major, and ρ = rows/trace (0 where nothing can move).
    w: Vec<f64>,
    pub(super) rho: f64,
    block: ContactBlock,
    pub(super) x: Vec<f64>,
    previous: Vec<f64>,
    best: Vec<f64>,
}

/// Working memory of the visits.
#[derive(Clone, Debug, Default)]
pub(super) struct AloneScratch {
    /// The part of its way that a contact does not go.
    pub(super) damping: f64,
    u: Vec<f64>,
    y: Vec<f64>,
    matrix: Vec<f64>,
    z: Vec<f64>,
    projected: Vec<f64>,
    factor: PivotedCholesky,
    local: LocalScratch,
}

impl Alone {
    /// Takes contact `contact` of the problem over, with its impulse.
    pub(super) fn new(
        operator: &BodyOperator,
        contact: usize,
        before: usize,
        block: &ContactBlock,
        (free, noise): (&[f64], f64),
        impulse: &[f64],
    ) -> Self {
        let mut w = Vec::new();
        operator.diagonal_block(contact, &mut w);
        let rows = operator.rows_of(contact);
        let trace: f64 = w.iter().step_by(rows.len() + 1).sum();
        let x = impulse[rows.clone()].to_vec();
        Self {
            contact,
            before,
            jacobian: rows
                .clone()
                .flat_map(|row| operator.row(row).iter().copied())
                .collect(),
            sides: operator.sides(contact),
            q: free[rows.clone()].to_vec(),
            noise,
            w,
            rho: if trace > 0.0 {
                rows.len() as f64 / trace
            } else {
                0.0
            },
            block: block.clone(),
            previous: x.clone(),
            best: x.clone(),
            x,
        }
    }

    /// Whether an impulse changes the first velocity; joints may have rows that nothing moves.
    fn can_move(&self) -> bool {
        self.w[0] > 0.0 || (matches!(self.block.kind, BlockKind::Bilateral) && self.rho > 0.0)
    }

    /// Σ |ρ q|².
    pub(super) fn free_size(&self) -> f64 {
        self.rho * self.rho * dot(&self.q, &self.q)
    }

    /// Keeps the present impulse, or returns to the one kept.
    pub(super) fn keep(&mut self) {
        self.best.copy_from_slice(&self.x);
    }

    /// Returns to the impulse kept, without momentum.
    pub(super) fn restore(&mut self) {
        self.x.copy_from_slice(&self.best);
        self.previous.copy_from_slice(&self.best);
    }

    /// v' += Jᵀ p.
    ///
    /// # Safety
    /// `velocity` points to `stride(F)` numbers for every body of the contact, which nobody else uses meanwhile.
    unsafe fn push(&self, freedoms: usize, p: &[f64], velocity: Bodies) {
        for (row, p) in self.jacobian.chunks_exact(2 * freedoms).zip(p) {
            for (side, numbers) in self.sides.into_iter().zip(row.chunks_exact(freedoms)) {
                if side != NO_BODY {
                    for (k, j) in numbers.iter().enumerate() {
                        let at = side as usize * stride(freedoms) + place(freedoms, k);
                        // SAFETY: the caller's promise.
                        unsafe { *velocity.0.add(at) += j * p };
                    }
                }
            }
        }
    }

    /// u = J v' + q.
    ///
    /// # Safety
    /// As for [`Self::push`].
    unsafe fn velocity(&self, freedoms: usize, velocity: Bodies, u: &mut Vec<f64>) {
        u.clear();
        for (row, q) in self.jacobian.chunks_exact(2 * freedoms).zip(&self.q) {
            let mut sum = *q;
            for (side, numbers) in self.sides.into_iter().zip(row.chunks_exact(freedoms)) {
                if side != NO_BODY {
                    for (k, j) in numbers.iter().enumerate() {
                        let at = side as usize * stride(freedoms) + place(freedoms, k);
                        // SAFETY: the caller's promise.
                        sum += j * unsafe { *velocity.0.add(at) };
                    }
                }
            }
            u.push(sum);
        }
    }

    /// v' += Jᵀ x.
    ///
    /// # Safety
    /// As for [`Self::push`].
    pub(super) unsafe fn act(&self, freedoms: usize, velocity: Bodies) {
        // SAFETY: the caller's promise.
        unsafe { self.push(freedoms, &self.x, velocity) }
    }

    /// One visit with momentum β.
    ///
    /// # Safety
    /// As for [`Self::push`].
    pub(super) unsafe fn visit(
        &mut self,
        freedoms: usize,
        velocity: Bodies,
        beta: f64,
        scratch: &mut AloneScratch,
        sums: &mut Sums<f64>,
    ) {
        let m = self.x.len();
        if !self.can_move() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.velocity(freedoms, velocity, &mut scratch.u) };
        scratch.y.clear();
        for (x, previous) in self.x.iter().zip(&self.previous) {
            scratch.y.push(x + beta * (x - previous));
        }
        self.previous.copy_from_slice(&self.x);
        let outcome = self.solve(0.0, scratch);
        if matches!(outcome, LocalOutcome::NoSolution) {
            self.x.copy_from_slice(&self.previous);
            // A proximal term of the size of the block makes it definite.
            if let LocalOutcome::NoSolution = self.solve(0.1 / self.rho, scratch) {
                self.x.copy_from_slice(&self.previous);
            }
        }
        if scratch.damping > 0.0 {
            // Without momentum: between two points of the cone.
            for (x, previous) in self.x.iter_mut().zip(&self.previous) {
                *x += scratch.damping * (previous - *x);
            }
        }
        scratch.z.clear();
        for k in 0..m {
            let change = self.x[k] - scratch.y[k];
            sums.change += change * change;
            sums.against -= change * (self.x[k] - self.previous[k]) / self.rho;
            sums.size += self.x[k] * self.x[k];
            scratch.z.push(change);
        }
        // SAFETY: the caller's promise.
        unsafe { self.push(freedoms, &scratch.z, velocity) };
    }

    /// Solves the contact alone with `shift` on the diagonal around y; the last impulse is the guess.
    fn solve(&mut self, shift: f64, scratch: &mut AloneScratch) -> LocalOutcome {
        let m = self.x.len();
        scratch.matrix.clear();
        scratch.matrix.extend_from_slice(&self.w);
        scratch.z.clear();
        for r in 0..m {
            scratch.matrix[r * m + r] += shift;
            let own = dot(&scratch.matrix[r * m..(r + 1) * m], &scratch.y);
            scratch.z.push(scratch.u[r] - own);
        }
        let minimum = match self.block.kind {
            BlockKind::Unilateral { minimum } => minimum,
            BlockKind::KnownNormal { impulse } => impulse,
            BlockKind::Bilateral => {
                scratch.factor.factor(m, &scratch.matrix);
                for (x, q) in self.x.iter_mut().zip(&scratch.z) {
                    *x = -q;
                }
                scratch.factor.solve_in_place(&mut self.x);
                return LocalOutcome::Stick;
            }
            BlockKind::Bounded { lower, upper } => {
                self.x[0] = (-scratch.z[0] / scratch.matrix[0]).clamp(lower, upper);
                return LocalOutcome::Stick;
            }
        };
        let local = OneContact {
            w: &scratch.matrix,
            q: &scratch.z,
            section: &self.block.section,
            normal_impulse_min: minimum,
        };
        match (self.block.kind, &self.block.flow_rule) {
            (BlockKind::KnownNormal { impulse }, _) => {
                self.x[0] = impulse;
                solve_known_normal(&local, &mut self.x, &mut scratch.local)
            }
            (_, FlowRule::KineticProjection) => {
                solve_kinetic(&local, 0.0, &mut self.x, &mut scratch.local)
            }
            (_, FlowRule::Coulomb | FlowRule::Generalized(_)) => {
                solve_coulomb(&local, &mut self.x, &mut scratch.local)
            }
        }
    }

    /// |F|² of the natural map of the law at x, |x|², and the larger of the squares of Signorini's part and of the part of dissipation.
    ///
    /// # Safety
    /// As for [`Self::push`].
    pub(super) unsafe fn residual(
        &self,
        freedoms: usize,
        velocity: Bodies,
        scratch: &mut AloneScratch,
    ) -> [f64; 3] {
        let size = dot(&self.x, &self.x);
        if !self.can_move() {
            return [0.0, size, 0.0];
        }
        // SAFETY: the caller's promise.
        unsafe { self.velocity(freedoms, velocity, &mut scratch.u) };
        let (m, rho, x, u) = (self.x.len(), self.rho, &self.x, &scratch.u);
        let section = &self.block.section;
        scratch.z.clear();
        scratch.projected.clear();
        scratch.projected.resize(m, 0.0);
        match self.block.kind {
            BlockKind::Unilateral { minimum: 0.0 } => {
                // −(u + s d) ∈ N_K(x): Coulomb d = n, s = σ_D(−u_T); kinetic d = W n, s from x·(u + s d) = 0.
                scratch.z.extend(u[1..].iter().map(|u| -u));
                let support = if m > 1 {
                    let slip = dot(&scratch.z, &scratch.z).sqrt();
                    let support = section.support(&scratch.z);
                    if felt(slip, support / slip, self.noise) > 0.0 {
                        support
                    } else {
                        0.0
                    }
                } else {
                    0.0
                };
                scratch.z.clear();
                match self.block.flow_rule {
                    FlowRule::KineticProjection => {
                        let column = |k: usize| self.w[k * m];
                        let kinetic: f64 = (0..m).map(|k| x[k] * column(k)).sum();
                        let s = if kinetic > 0.0 {
                            -dot(x, u) / kinetic
                        } else {
                            0.0
                        };
                        let z = (0..m).map(|k| x[k] - rho * (u[k] + s * column(k)));
                        scratch.z.extend(z);
                    }
                    _ => {
                        let z = (0..m).map(|k| x[k] - rho * u[k]);
                        scratch.z.extend(z);
                        scratch.z[0] -= rho * support;
                    }
                }
                section.project_on_cone(&scratch.z, &mut scratch.projected);
            }
            BlockKind::Unilateral { minimum } => {
                scratch.projected[0] = minimum.max(x[0] - rho * u[0]);
                self.project_tangent(scratch);
            }
            BlockKind::KnownNormal { impulse } => {
                scratch.projected[0] = impulse;
                self.project_tangent(scratch);
            }
            BlockKind::Bilateral => {
                for k in 0..m {
                    scratch.projected[k] = x[k] - rho * u[k];
                }
            }
            BlockKind::Bounded { lower, upper } => {
                scratch.projected[0] = (x[0] - rho * u[0]).clamp(lower, upper);
            }
        }
        let map = x.iter().zip(&scratch.projected);
        let map = map.map(|(x, p)| (x - p) * (x - p)).sum::<f64>();
        // The kinetic law's map does not see the normal velocity, which its multiplier takes away, and S(q, v) leaves what does not
        // approach as it is: Signorini's part is measured beside it, as the judge does.
        let kinetic = self.block.flow_rule == FlowRule::KineticProjection
            && self.block.kind == (BlockKind::Unilateral { minimum: 0.0 });
        if kinetic {
            let normal = x[0] - (x[0] - rho * scratch.u[0]).max(0.0);
            let mut seen = if size == 0.0 { 0.0 } else { map };
            // Where the multiplier of x·(u + s d) = 0 is rounding, the slice tells.
            if seen > MULTIPLIER_TOLD * MULTIPLIER_TOLD * size {
                let column: Vec<f64> = (0..m).map(|k| self.w[k * m]).collect();
                let room = (&mut scratch.z[..], &mut scratch.projected[..]);
                let project = |z: &[f64], out: &mut [f64]| section.project_on_cone(z, out);
                let on_slice = slice_defect((x, &scratch.u, &column), rho, room, project);
                seen = seen.min(on_slice * on_slice);
            }
            return [seen.max(normal * normal), size, 0.0];
        }
        let unilateral = self.block.kind == (BlockKind::Unilateral { minimum: 0.0 });
        if !unilateral {
            // The map of the other kinds has these parts as components.
            return [map, size, 0.0];
        }
        let normal = x[0] - (x[0] - rho * scratch.u[0]).max(0.0);
        scratch.z.clear();
        self.project_tangent(scratch);
        let friction = x[1..].iter().zip(&scratch.projected[1..]);
        let friction = friction.map(|(x, p)| (x - p) * (x - p)).sum::<f64>();
        [map, size, friction.max(normal * normal)]
    }

    /// Friction under the present normal impulse.
    fn project_tangent(&self, scratch: &mut AloneScratch) {
        let tangents = self.x[1..].iter().zip(&scratch.u[1..]);
        scratch.z.extend(tangents.map(|(x, u)| x - self.rho * u));
        let normal = self.x[0].max(0.0);
        self.block
            .section
            .project(&scratch.z, normal, &mut scratch.projected[1..]);
    }
}
