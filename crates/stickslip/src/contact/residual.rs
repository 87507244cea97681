//! How far impulses are from the laws of a problem, recomputed from problem and impulses alone.
//!
//! Shares no code with any solver: only the friction sections themselves (support function and projection) are
//! common.
//!
//! # What it computes
//!
//! With w = W p + q computed afresh and ρ_i = rows/trace of the diagonal block W_ii, the natural map of each block,
//!
//! ```text
//! F_i = p_i − P_K(p_i − ρ_i (w_i + σ_D(−w_T) e_N))      Coulomb's law with section D, K = {p_T ∈ p_N D};
//! F_i = p_i − P_K(p_i − ρ_i (w_i + s W_ii n))           kinetic projection, some s (the multiplier of w_N = 0); where p_i = 0, ρ_i w_N⁻;
//! F_i = p_i − P_[a,b](p_i − ρ_i w_i)                    bounded rows;        F_i = ρ_i w_i    bilateral rows,
//! ```
//!
//! measured as |F|₂ over `max(|p|₂, |ρ q|₂)`, both over all blocks. Beside it stand, in the same scale and never divided by a
//! contact's own impulse, the worst Signorini part `|min(p_N, ρ w_N)|`, cone part `dist(p, K)` and
//! dissipation part `|p_T − P_{p_N D}(p_T − ρ w_T)|`: at very large μ the natural map alone hardly sees the normal velocity.
//! For the kinetic projection any s proves optimality; the one of p·(w + s W n) = 0 and the one that leaves p·W n as it is ([`slice_defect`]) are
//! tried, and the smaller map counts.
//! [`Judgement`] tells the figure of the open collection of problems too (ρ = 1, over |q|).
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; De Saxcé's change of variable and the natural map are standard.
//!
//! # Guarantees
//!
//! Zero exactly for solutions; no change of the units of mass, length or time alters it. NaN survives.
//!
//! # Behaviour to know
//!
//! [`Judgement::floor`] is the level below which the figure is rounding: with large mass ratios it lies above 1e-12.
//! All figures are errors of the velocities that the answer leaves, read back into the data: of a contact in which friction all but cancels the
//! normal response (|γ| ≪ W_NN), impulses that another approach or γ, other by the tolerance, would have are accepted. p = 0 against a jam is of that kind
//! where the approach is within the tolerance of the velocities: S is discontinuous at v_N = 0.
//! A run tells the speed it has seen ([`ContactResidual::set_noise`]): velocities at the rounding of that are zero, and so are impulses that
//! give no more where nothing else acts, so that a body at rest is not judged by the noise of its last digits.
//!
//! # Cost
//!
//! One product with W.
//!
//! # Tested by
//!
//! Tests below; every solver test is judged by this file.

use crate::algebra::dot;
use crate::laws::{FlowRule, FrictionSection};
use crate::parallel::{parts, share};

use super::delassus::SweepVelocity;
use super::disc_residual::{Disc, few};
use super::slice_residual::slice_defect;
use super::{BlockKind, ContactBlock, ContactProblem, ContactSolution, generalized_residual};

/// Measures of one block, or the worst over a problem; all relative to `max(|p|, |ρ q|)` of the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockResidual {
    /// Natural map of the unrelaxed law.
    pub natural_map: f64,
    /// Distance of the impulse to its cone.
    pub cone: f64,
    /// Violation of `w_N ≥ 0`, `p_N ≥ 0`, `w_N p_N = 0`.
    pub signorini: f64,
    /// Defect of maximal dissipation at the given normal impulse (Coulomb's flow rule).
    pub dissipation: f64,
}

impl BlockResidual {
    /// Largest of all measures.
    #[inline]
    pub fn worst(&self) -> f64 {
        let own = larger(self.natural_map, self.cone);
        let others = larger(self.signorini, self.dissipation);
        or_nan(
            larger(own, others),
            self.natural_map + self.cone + self.signorini + self.dissipation,
        )
    }
}

/// The larger of two measures; one that is no number may be lost ([`or_nan`]).
#[inline]
fn larger(m: f64, x: f64) -> f64 {
    if x > m { x } else { m }
}

/// The largest of some measures, or their sum where it is no number: measures are sizes, so that one of them is none then,
/// which must survive.
#[inline]
fn or_nan(largest: f64, sum: f64) -> f64 {
    if sum.is_nan() { sum } else { largest }
}

/// Residual of a whole problem, with the measures of its blocks.
///
/// ```
/// use stickslip::contact::{ContactProblem, ContactResidual};
///
/// let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
/// let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5])?;
/// assert!(ContactResidual::of(&problem, &[1.0, 0.5, 0.0]).worst() < 1e-15);
/// // More friction than the cone allows.
/// assert!(ContactResidual::of(&problem, &[1.0, 0.6, 0.0]).cone > 1e-3);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContactResidual {
    blocks: Vec<BlockResidual>,
    total: BlockResidual,
    velocity: Vec<f64>,
    noise: f64,
    /// ρ of each block.
    rho: Vec<f64>,
    memory: SweepVelocity,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    matrix: Vec<f64>,
    shifted: Vec<f64>,
    projected: Vec<f64>,
    tangent: Vec<f64>,
}

impl ContactResidual {
    /// Judges the impulses `p`: the natural map over all blocks, the other parts at their worst block.
    pub fn of(problem: &ContactProblem, p: &[f64]) -> BlockResidual {
        let mut residual = Self::default();
        residual.measure(problem, p);
        residual.total
    }

    /// Velocities up to `velocity` count as zero: the rounding of the speeds a run has seen.
    pub(crate) fn set_noise(&mut self, velocity: f64) {
        self.noise = velocity;
    }

    /// Measures `impulse` against `problem`.
    #[inline(always)] // A choice among few sizes.
    pub fn measure(&mut self, problem: &ContactProblem, impulse: &[f64]) {
        if !few(
            problem,
            impulse,
            self.noise,
            &mut self.blocks,
            &mut self.total,
        ) {
            self.measure_any(problem, impulse);
        }
    }

    /// The same for any number of contacts, rows and laws.
    #[inline(never)] // Few contacts have no need of its frame.
    fn measure_any(&mut self, problem: &ContactProblem, impulse: &[f64]) {
        if impulse.len() != problem.size() || impulse.iter().any(|p| !p.is_finite()) {
            self.refuse(problem.blocks().len());
            return;
        }
        self.read_velocity(problem, impulse);
        self.measure_blocks(problem, impulse);
        match self.blocks[..] {
            [only] => self.total = only,
            _ => self.add_up(),
        }
    }

    /// Room for the measures of so many blocks, which are written next.
    #[inline]
    fn make_room(&mut self, blocks: usize) {
        if self.blocks.len() != blocks {
            self.blocks.resize(blocks, BlockResidual::default());
        }
    }

    /// Measures of all blocks, the velocity being known.
    fn measure_blocks(&mut self, problem: &ContactProblem, impulse: &[f64]) {
        let (count, mut driven) = (problem.blocks().len(), 0.0);
        self.rho.resize(count, 0.0);
        for (block, own) in problem.blocks().iter().zip(&mut self.rho) {
            *own = rho(problem, block);
            driven = add_driven(driven, &problem.free()[block.range()], *own, self.noise);
        }
        let scale = if driven == 0.0 && self.rests(problem, impulse, &[]) {
            0.0
        } else {
            dot(impulse, impulse).max(driven).sqrt()
        };
        self.make_room(count);
        let (rhos, velocity) = (&self.rho, &self.velocity);
        let measure = |scratch: &mut Scratch, first: usize, part: &mut [BlockResidual]| {
            let blocks = problem.blocks()[first..].iter().zip(&rhos[first..]);
            for (residual, (block, &rho)) in part.iter_mut().zip(blocks) {
                let rows = block.range();
                let (p, w) = (&impulse[rows.clone()], &velocity[rows]);
                *residual = scratch.block(block, problem, p, w, (rho, scale));
            }
        };
        if parts(count) == 1 {
            measure(&mut self.scratch, 0, &mut self.blocks);
        } else {
            share(&mut self.blocks[..], count, |first, part| {
                measure(&mut Scratch::default(), first, part);
            });
        }
    }

    /// Measures a solution with everything its law needs: the impulses, and for the generalized
    /// law also the friction budgets of its normal stage.
    pub fn measure_solution(&mut self, problem: &ContactProblem, solution: &ContactSolution) {
        match problem.generalized_rule() {
            Some(rule) => {
                self.read_velocity(problem, &solution.impulse);
                self.rho.clear();
                self.rho
                    .extend(problem.blocks().iter().map(|block| rho(problem, block)));
                let budgets = &solution.generalized.budget;
                let scale = if self.rests(problem, &solution.impulse, budgets) {
                    0.0
                } else {
                    impulse_scale(problem, &solution.impulse, self.noise, &self.rho)
                };
                generalized_residual::measure(
                    problem,
                    rule,
                    solution,
                    (&self.velocity, self.noise),
                    scale,
                    &mut self.blocks,
                );
                self.add_up();
            }
            None => self.measure(problem, &solution.impulse),
        }
    }

    /// Whether nothing acts but rounding: no free velocity, and no impulse, nor budget of a normal stage, that gives a contact one
    /// beyond the noise.
    fn rests(&self, problem: &ContactProblem, impulse: &[f64], budgets: &[f64]) -> bool {
        let blocks = problem.blocks().iter().zip(&self.rho).enumerate();
        let mut acting = blocks.filter(|&(b, (block, &rho))| {
            let mut impulses = impulse[block.range()].iter().chain(budgets.get(b));
            impulses.any(|p| !(p.abs() <= rho * self.noise))
        });
        let free = || problem.free().iter().all(|q| q.abs() <= self.noise);
        acting.next().is_none() && free()
    }

    /// w = W p + q, rounding left out.
    fn read_velocity(&mut self, problem: &ContactProblem, impulse: &[f64]) {
        let (q, noise) = (problem.free(), self.noise);
        if self.velocity.len() != q.len() {
            self.velocity.resize(q.len(), 0.0);
        }
        let delassus = problem.delassus();
        delassus.multiply_plus_with(impulse, q, &mut self.velocity, &mut self.memory);
        for w in &mut self.velocity {
            if w.abs() <= noise {
                *w = 0.0;
            }
        }
    }

    /// The largest error of a local velocity in what was measured last, |F_i|/ρ_i, and its block: impulses that are right beside those of
    /// heavy bodies may be far off for light ones.
    #[cold]
    pub(crate) fn velocity_error(&self, problem: &ContactProblem, impulse: &[f64]) -> (f64, usize) {
        let blocks = problem.blocks();
        let rhos: Vec<f64> = blocks.iter().map(|block| rho(problem, block)).collect();
        let scale = impulse_scale(problem, impulse, self.noise, &rhos);
        let errors = self.blocks.iter().zip(&rhos);
        let errors = errors.map(|(measured, rho)| measured.natural_map * scale / rho);
        let mut worst = (0.0, 0);
        for (b, error) in errors.enumerate() {
            if error > worst.0 {
                worst = (error, b);
            }
        }
        worst
    }

    /// The measures of one block as one among others, in closed form or not.
    #[cfg(test)]
    pub(super) fn one_among_others(
        &mut self,
        problem: &ContactProblem,
        impulse: &[f64],
        b: usize,
        closed: bool,
    ) -> BlockResidual {
        self.read_velocity(problem, impulse);
        self.measure_blocks(problem, impulse);
        if closed {
            return self.blocks[b];
        }
        let (block, rho) = (&problem.blocks()[b], self.rho[b]);
        let scale = impulse_scale(problem, impulse, self.noise, &self.rho);
        let (p, w) = (&impulse[block.range()], &self.velocity[block.range()]);
        self.scratch.any_block(block, problem, p, w, (rho, scale))
    }

    /// Whether what was measured last is within a tolerance, over all blocks and over those of each group, in its own scale: `group` is that of a
    /// block, `sums` is working memory.
    pub(crate) fn is_within(
        &self,
        tolerance: f64,
        (problem, impulse): (&ContactProblem, &[f64]),
        (groups, group): (usize, impl Fn(usize) -> Option<usize>),
        sums: &mut Vec<[f64; 4]>,
    ) -> bool {
        if !(self.worst() <= tolerance) || self.rho.len() != self.blocks.len() {
            return false;
        }
        if groups <= 1 {
            return true;
        }
        sums.clear();
        sums.resize(groups, [0.0; 4]);
        let blocks = problem.blocks().iter().zip(&self.blocks).zip(&self.rho);
        for (b, ((block, residual), &rho)) in blocks.enumerate() {
            let Some(group) = group(b) else {
                continue;
            };
            let [map, part, size, driven] = &mut sums[group];
            let p = &impulse[block.range()];
            *map += residual.natural_map * residual.natural_map;
            *part = residual.worst().max(*part);
            *size += dot(p, p);
            *driven = add_driven(*driven, &problem.free()[block.range()], rho, self.noise);
        }
        let scale = impulse_scale(problem, impulse, self.noise, &self.rho);
        sums.iter().all(|&[map, part, size, driven]| {
            map.sqrt().max(part) * scale <= tolerance * size.max(driven).sqrt()
        })
    }

    /// W p + q of the impulses measured last, rounding left out; of few contacts with an assembled W it is not kept.
    pub(crate) fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// What the impulses measured last do to the whitened velocities of bodies, Jᵀ p, where W is over bodies and there are contacts.
    pub(crate) fn change_of_bodies(&self) -> &[f64] {
        self.memory.of_bodies()
    }

    fn refuse(&mut self, blocks: usize) {
        let infinite = BlockResidual {
            natural_map: f64::INFINITY,
            ..BlockResidual::default()
        };
        self.blocks.clear();
        self.blocks.resize(blocks, infinite);
        self.total = infinite;
    }

    fn add_up(&mut self) {
        self.total = sum(&self.blocks);
    }

    /// Measures per block.
    pub fn blocks(&self) -> &[BlockResidual] {
        &self.blocks
    }

    /// The natural map over all blocks, the other parts at their worst block.
    pub fn total(&self) -> BlockResidual {
        self.total
    }

    /// Largest measure of the problem (zero without contacts).
    pub fn worst(&self) -> f64 {
        self.total.worst()
    }
}

/// The natural map over all blocks, the other parts at their worst block.
#[inline]
pub(super) fn sum<'a>(blocks: impl IntoIterator<Item = &'a BlockResidual>) -> BlockResidual {
    let (mut total, mut sums) = (BlockResidual::default(), [0.0; 3]);
    for block in blocks {
        total.natural_map += block.natural_map * block.natural_map;
        total.cone = larger(total.cone, block.cone);
        total.signorini = larger(total.signorini, block.signorini);
        total.dissipation = larger(total.dissipation, block.dissipation);
        sums[0] += block.cone;
        sums[1] += block.signorini;
        sums[2] += block.dissipation;
    }
    BlockResidual {
        natural_map: total.natural_map.sqrt(),
        cone: or_nan(total.cone, sums[0]),
        signorini: or_nan(total.signorini, sums[1]),
        dissipation: or_nan(total.dissipation, sums[2]),
    }
}

/// Whether friction of a block can be larger than its normal impulse.
fn is_steep(block: &ContactBlock) -> bool {
    match &block.section {
        FrictionSection::Disc { mu, .. } => *mu > 1.0,
        FrictionSection::Interval { lower, upper } => upper.max(-lower) > 1.0,
        _ => false,
    }
}

/// ρ of a block: rows over trace of its diagonal block; where nothing moves it, that of the whole problem.
#[inline]
pub(super) fn rho(problem: &ContactProblem, block: &ContactBlock) -> f64 {
    let trace = match problem.delassus().entries() {
        Some(entries) => {
            let m = problem.size();
            let diagonal = block.range().map(|i| entries[i * m + i]);
            diagonal.sum()
        }
        None => problem.delassus().trace(block.range()),
    };
    if trace > 0.0 {
        return block.size as f64 / trace;
    }
    let trace = problem.delassus().trace(0..problem.size());
    if trace > 0.0 {
        problem.size() as f64 / trace
    } else {
        1.0
    }
}

/// `max(|p|₂, |ρ q|₂)` over all blocks; velocities up to `noise` count as zero.
fn impulse_scale(problem: &ContactProblem, impulse: &[f64], noise: f64, rho: &[f64]) -> f64 {
    let mut driven = 0.0;
    for (block, &rho) in problem.blocks().iter().zip(rho) {
        driven = add_driven(driven, &problem.free()[block.range()], rho, noise);
    }
    dot(impulse, impulse).max(driven).sqrt()
}

/// Adds the squares of ρ q of one block.
#[inline]
fn add_driven(mut sum: f64, q: &[f64], rho: f64, noise: f64) -> f64 {
    for &q in q {
        if !(q.abs() <= noise) {
            sum += (rho * q) * (rho * q);
        }
    }
    sum
}

/// The natural map of Moreau's S with the multiplier of p·(w + s W n) = 0 stands where it is at most this part of |p|: nothing is to be
/// gained from the slice.
pub(crate) const MULTIPLIER_TOLD: f64 = 1e-11;

/// Part of the speeds a run has seen that velocities are rounded to: what is smaller says nothing.
pub(crate) const SPEED_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The floor of rounding of a figure, one for every solver and the judge: 8 ε of what cancels in it, the sizes of |W||p| + |q| and of
/// p in its scale, over its yardstick.
#[inline]
pub(crate) fn rounding_floor(velocity: f64, impulse: f64, yardstick: f64) -> f64 {
    8.0 * f64::EPSILON * (velocity + impulse) / yardstick
}

/// Both figures of an answer to a problem given on its own, with their floors of rounding.
///
/// ```
/// use stickslip::contact::{ContactProblem, Judgement};
///
/// let w = [1., 0., 0., 0., 1., 0., 0., 0., 1.];
/// let problem = ContactProblem::coulomb_from_dense(3, &w, vec![-1.0, -5.0, 0.0], vec![0.5])?;
/// assert!(Judgement::of(&problem, &[1.0, 0.5, 0.0]).accepts(1e-14));
/// // Friction that is not the largest allowed while the contact slides.
/// assert!(!Judgement::of(&problem, &[1.0, 0.4, 0.0]).accepts(1e-3));
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The residual of certificates.
    pub residual: BlockResidual,
    /// Its floor of rounding: 8 ε (|ρ(|W||p| + |q|)|₂ + |p|₂) over `max(|p|₂, |ρ q|₂)`.
    pub floor: f64,
    /// The error published with the open collection of problems, |p − P_K(p − (w + σ_D(−w_T) e_N))|₂/|q|₂, or the worst Signorini part
    /// `|min(p_N, w_N)|/|q|₂` of a contact with μ > 1 where that is larger: there the map alone loses the normal velocity,
    /// whose violation it bounds by 1 + μ times itself.
    pub published: f64,
    /// The natural map of [`Self::residual`], or the worst Signorini part of a contact with μ > 1 where that is larger.
    pub natural: f64,
    /// Its floor of rounding: 8 ε (||W||p| + |q||₂ + |p|₂)/|q|₂.
    pub published_floor: f64,
}

impl Judgement {
    /// Judges the impulses `p`; infinite if they are not finite or of wrong number.
    pub fn of(problem: &ContactProblem, p: &[f64]) -> Self {
        Self::with_velocity(problem, p).0
    }

    /// The same, and the velocity W p + q it computes on the way (empty if `p` cannot be judged).
    pub fn with_velocity(problem: &ContactProblem, p: &[f64]) -> (Self, Vec<f64>) {
        let m = problem.size();
        let mut measures = ContactResidual::default();
        if p.len() != m || p.iter().any(|x| !x.is_finite()) {
            measures.refuse(0);
            let refused = Self {
                residual: measures.total,
                natural: f64::INFINITY,
                published: f64::INFINITY,
                ..Self::default()
            };
            return (refused, Vec::new());
        }
        let q = problem.free();
        let (mut velocity, mut sizes) = (q.to_vec(), q.to_vec());
        // Without impulses nothing need be multiplied.
        if p.iter().any(|&x| x != 0.0) {
            let w = problem.delassus();
            w.multiply_plus_with_sizes(p, q, &mut velocity, &mut sizes);
        }
        measures.velocity.clone_from(&velocity);
        // A large coefficient makes slip of the rounding of a velocity.
        for block in problem.blocks().iter().filter(|block| is_steep(block)) {
            for i in block.range() {
                let rounding = rounding_floor(sizes[i].abs(), 0.0, 1.0);
                if velocity[i].abs() <= rounding {
                    measures.velocity[i] = 0.0;
                }
            }
        }
        measures.measure_blocks(problem, p);
        measures.add_up();
        let (mut published, mut signorini, mut driven) = (0.0, 0.0f64, 0.0);
        let mut natural = measures.total.natural_map;
        for (b, block) in problem.blocks().iter().enumerate() {
            let (p, w) = (&p[block.range()], &measures.velocity[block.range()]);
            let map = measures.scratch.natural_map(block, problem, p, w, 1.0);
            published += map * map;
            if is_steep(block)
                && block.kind == (BlockKind::Unilateral { minimum: 0.0 })
                && problem.w(block.start, block.start) > 0.0
            {
                signorini = signorini.max(p[0].min(w[0]).abs());
                natural = natural.max(measures.blocks[b].signorini);
            }
            let rho = measures.rho[b];
            driven += sizes[block.range()]
                .iter()
                .map(|size| (rho * size) * (rho * size))
                .sum::<f64>();
        }
        let norm = |x: &[f64]| dot(x, x).sqrt();
        let or_one = |x: f64| if x > 0.0 { x } else { 1.0 };
        let (size, scale) = (
            or_one(norm(q)),
            or_one(impulse_scale(problem, p, 0.0, &measures.rho)),
        );
        let judgement = Self {
            residual: measures.total,
            floor: rounding_floor(driven.sqrt(), norm(p), scale),
            published: published.sqrt().max(signorini) / size,
            natural,
            published_floor: rounding_floor(norm(&sizes), norm(p), size),
        };
        (judgement, velocity)
    }

    /// Whether the residual lies above the tolerance, but at its floor of rounding (never more than 100 times the tolerance): no
    /// better answer can be told apart.
    pub fn is_at_floor(&self, tolerance: f64) -> bool {
        let worst = self.residual.worst();
        worst > tolerance && worst <= self.floor.min(100.0 * tolerance)
    }

    /// Whether the published error is within the tolerance, or at the floor of rounding where that lies
    /// above (never more than 100 times the tolerance).
    pub fn accepts(&self, tolerance: f64) -> bool {
        self.published <= tolerance.max(self.published_floor.min(100.0 * tolerance))
    }
}

impl Scratch {
    fn block(
        &mut self,
        block: &ContactBlock,
        problem: &ContactProblem,
        p: &[f64],
        w: &[f64],
        (rho, scale): (f64, f64),
    ) -> BlockResidual {
        if scale == 0.0 {
            return BlockResidual::default();
        }
        let movable = problem.w(block.start, block.start) > 0.0;
        if let Some(disc) = Disc::of(block).filter(|_| movable) {
            let sizes = (rho, scale);
            let entry = |i| problem.w(block.start + i, block.start);
            match (p, w) {
                (&[p0, p1], &[w0, w1]) => {
                    return disc.measure([p0, p1], [w0, w1], || [0, 1].map(entry), sizes);
                }
                (&[p0, p1, p2], &[w0, w1, w2]) => {
                    let column = || [0, 1, 2].map(entry);
                    return disc.measure([p0, p1, p2], [w0, w1, w2], column, sizes);
                }
                _ => {}
            }
        }
        self.any_block(block, problem, p, w, (rho, scale))
    }

    /// The measures of a block whatever its law.
    fn any_block(
        &mut self,
        block: &ContactBlock,
        problem: &ContactProblem,
        p: &[f64],
        w: &[f64],
        (rho, scale): (f64, f64),
    ) -> BlockResidual {
        if !(problem.w(block.start, block.start) > 0.0) {
            // A contact that nothing can move: any nonnegative approach velocity is admissible.
            let approach = rho * (-w[0]).max(0.0) / scale;
            return BlockResidual {
                natural_map: approach,
                signorini: approach,
                ..BlockResidual::default()
            };
        }
        let natural_map = self.natural_map(block, problem, p, w, rho);
        let (cone, signorini, dissipation) = match block.kind {
            BlockKind::Unilateral { minimum } => {
                let signorini = (p[0] - minimum.max(p[0] - rho * w[0])).abs();
                let cone = (minimum - p[0]).max(0.0) + self.outside(block, p);
                (cone, signorini, self.friction_defect(block, p, w, rho))
            }
            BlockKind::KnownNormal { impulse } => {
                let normal = (p[0] - impulse).abs();
                let cone = normal + self.outside(block, p);
                (cone, 0.0, self.friction_defect(block, p, w, rho))
            }
            BlockKind::Bilateral => (0.0, 0.0, 0.0),
            BlockKind::Bounded { lower, upper } => {
                ((lower - p[0]).max(p[0] - upper).max(0.0), 0.0, 0.0)
            }
        };
        BlockResidual {
            natural_map: natural_map / scale,
            cone: cone / scale,
            signorini: signorini / scale,
            dissipation: dissipation / scale,
        }
    }

    /// Distance of the friction impulse to its section at the given normal impulse.
    fn outside(&mut self, block: &ContactBlock, p: &[f64]) -> f64 {
        self.tangent.resize(p.len() - 1, 0.0);
        block
            .section
            .project(&p[1..], p[0].max(0.0), &mut self.tangent);
        distance(&p[1..], &self.tangent)
    }

    /// |p_T − P_{p_N D}(p_T − ρ w_T)| under Coulomb's flow rule: zero where friction dissipates most.
    fn friction_defect(&mut self, block: &ContactBlock, p: &[f64], w: &[f64], rho: f64) -> f64 {
        match block.flow_rule {
            FlowRule::Coulomb => self.fixed_normal(block, p, w, rho),
            FlowRule::KineticProjection | FlowRule::Generalized(_) => 0.0,
        }
    }

    /// |F_i| of one block.
    fn natural_map(
        &mut self,
        block: &ContactBlock,
        problem: &ContactProblem,
        p: &[f64],
        w: &[f64],
        rho: f64,
    ) -> f64 {
        match block.kind {
            // S(q, v) leaves a velocity that does not approach as it is, grazing or opening, whatever friction would do.
            BlockKind::Unilateral { minimum: 0.0 }
                if block.flow_rule == FlowRule::KineticProjection
                    && p.iter().all(|&p| p == 0.0) =>
            {
                rho * (-w[0]).max(0.0)
            }
            BlockKind::Unilateral { minimum: 0.0 } => {
                self.law_shift(block, problem, p, w);
                for i in 0..p.len() {
                    self.shifted[i] = p[i] - rho * (w[i] + self.shifted[i]);
                }
                self.projected.resize(p.len(), 0.0);
                self.tangent.resize(p.len() - 1, 0.0);
                project_cone(
                    &block.section,
                    &self.shifted,
                    &mut self.projected,
                    &mut self.tangent,
                );
                let defect = distance(p, &self.projected);
                if block.flow_rule != FlowRule::KineticProjection
                    || defect <= MULTIPLIER_TOLD * dot(p, p).sqrt()
                {
                    return defect;
                }
                let (z, nearest) = (&mut self.shifted, &mut self.projected);
                let tangent = &mut self.tangent;
                let project = |z: &[f64], nearest: &mut [f64]| {
                    project_cone(&block.section, z, nearest, tangent);
                };
                let on_slice = slice_defect((p, w, &self.matrix), rho, (z, nearest), project);
                // A measure that is no number survives.
                if on_slice < defect { on_slice } else { defect }
            }
            BlockKind::Unilateral { minimum } => {
                let normal = p[0] - minimum.max(p[0] - rho * w[0]);
                normal.hypot(self.fixed_normal(block, p, w, rho))
            }
            BlockKind::KnownNormal { impulse } => {
                (p[0] - impulse).hypot(self.fixed_normal(block, p, w, rho))
            }
            BlockKind::Bilateral => rho * dot(w, w).sqrt(),
            BlockKind::Bounded { lower, upper } => {
                (p[0] - (p[0] - rho * w[0]).clamp(lower, upper)).abs()
            }
        }
    }

    /// Writes the term s d of the law in `shifted`, row by row.
    fn law_shift(&mut self, block: &ContactBlock, problem: &ContactProblem, p: &[f64], w: &[f64]) {
        self.shifted.clear();
        self.shifted.resize(p.len(), 0.0);
        match block.flow_rule {
            // The generalized law has its own measure; a lone block of it is judged as Coulomb's.
            FlowRule::Coulomb | FlowRule::Generalized(_) if p.len() > 1 => {
                self.tangent.clear();
                self.tangent.extend(w[1..].iter().map(|w| -w));
                self.shifted[0] = block.section.support(&self.tangent);
            }
            FlowRule::Coulomb | FlowRule::Generalized(_) => {}
            FlowRule::KineticProjection => {
                // p·(w + s W n) = 0 determines s; p·W n is the kinetic normal impulse.
                self.matrix.clear();
                let column = block.range().map(|i| problem.w(i, block.start));
                self.matrix.extend(column);
                let kinetic = dot(p, &self.matrix);
                let s = if kinetic > 0.0 {
                    -dot(p, w) / kinetic
                } else {
                    0.0
                };
                for (shift, direction) in self.shifted.iter_mut().zip(&self.matrix) {
                    *shift = s * direction;
                }
            }
        }
    }

    /// Natural map of friction under a fixed normal impulse.
    fn fixed_normal(&mut self, block: &ContactBlock, p: &[f64], w: &[f64], rho: f64) -> f64 {
        self.shifted.clear();
        self.shifted
            .extend(p[1..].iter().zip(&w[1..]).map(|(p, w)| p - rho * w));
        self.tangent.resize(p.len() - 1, 0.0);
        block
            .section
            .project(&self.shifted, p[0].max(0.0), &mut self.tangent);
        distance(&p[1..], &self.tangent)
    }
}

pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y) * (x - y))
        .sum::<f64>()
        .sqrt()
}

/// Euclidean projection on `K = {p_T ∈ p_N D}`.
///
/// The squared distance as a function of p_N is convex with derivative
/// `g(p_N) = p_N − z_N − σ_D(z_T − P_{p_N D} z_T)`, which increases; its root is bracketed and bisected.
pub(super) fn project_cone(
    section: &FrictionSection,
    z: &[f64],
    out: &mut [f64],
    tangent: &mut [f64],
) {
    if z.len() == 1 {
        out[0] = z[0].max(0.0);
        return;
    }
    if let FrictionSection::Disc { mu, .. } = section {
        let norm = dot(&z[1..], &z[1..]).sqrt();
        if norm <= mu * z[0] {
            out.copy_from_slice(z);
        } else if mu * norm <= -z[0] {
            out.fill(0.0);
        } else {
            out[0] = (z[0] + mu * norm) / (1.0 + mu * mu);
            for i in 1..z.len() {
                out[i] = mu * out[0] * z[i] / norm;
            }
        }
        return;
    }
    let mut slope = |normal: f64, out: &mut [f64]| {
        section.project(&z[1..], normal, &mut out[1..]);
        for i in 0..tangent.len() {
            tangent[i] = z[i + 1] - out[i + 1];
        }
        normal - z[0] - section.support(tangent)
    };
    let mut low = 0.0;
    if slope(low, out) >= 0.0 {
        out.fill(0.0);
        return;
    }
    // Twice the norm of z bounds the projection.
    let mut high = 2.0 * dot(z, z).sqrt();
    while slope(high, out) < 0.0 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if slope(middle, out) < 0.0 {
            low = middle
        } else {
            high = middle
        }
    }
    out[0] = high;
    section.project(&z[1..], high, &mut out[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that all contacts together hide is seen in the group that it belongs to.
    #[test]
    fn groups_are_measured_in_their_own_scale() {
        let w: [f64; 16] = std::array::from_fn(|k| f64::from(u8::from(k % 5 == 0)));
        let q = vec![-1.0, 0.0, -1e-6, 0.0];
        let problem = ContactProblem::coulomb_from_dense(2, &w, q, vec![0.5, 0.5]).unwrap();
        let within = |impulse: &[f64], groups: usize| {
            let mut residual = ContactResidual::default();
            residual.measure_any(&problem, impulse);
            let group = (groups, |block: usize| Some(block.min(groups - 1)));
            residual.is_within(1e-8, (&problem, impulse), group, &mut Vec::new())
        };
        let wrong = [1.0, 0.0, 1.001e-6, 0.0];
        assert!(within(&wrong, 1) && !within(&wrong, 2));
        assert!(within(&[1.0, 0.0, 1e-6, 0.0], 2));
        assert!(!within(&[1.001, 0.0, 1e-6, 0.0], 1));
    }

    /// Impulses that give no velocity beyond the noise, whatever their signs, are none where nothing else acts; with a free velocity beyond it
    /// they are judged.
    #[test]
    fn impulses_at_the_rounding_of_the_run_are_none_where_nothing_else_acts() {
        for (contacts, rows) in [(1, 2), (2, 2), (2, 3), (4, 2), (3, 3)] {
            let m = contacts * rows;
            let w: Vec<f64> = (0..m * m)
                .map(|k| f64::from(u8::from(k % (m + 1) == 0)))
                .collect();
            let measured = |q: f64, noise: f64| {
                let mut free = vec![0.0; m];
                free[0] = q;
                let mu = vec![0.5; contacts];
                let problem = ContactProblem::coulomb_from_dense(rows, &w, free, mu).unwrap();
                let mut residual = ContactResidual::default();
                residual.set_noise(noise);
                residual.measure(&problem, &vec![-1e-17; m]);
                residual.worst()
            };
            assert_eq!(measured(0.5e-15, 1e-15), 0.0, "{contacts} of {rows}");
            assert!(measured(0.0, 1e-18) > 0.5, "{contacts} of {rows}");
            assert!(measured(-2e-15, 1e-15) > 0.5, "{contacts} of {rows}");
        }
    }
}
