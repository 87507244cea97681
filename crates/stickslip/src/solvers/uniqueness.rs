//! Whether a contact problem under Coulomb's law has one motion.
//!
//! # What it computes
//!
//! For each connected component of the contacts (joined where W couples them), whether w = W p + q under Coulomb's law has
//! one local velocity w, and the rank deficiency of W: p is not unique where rows depend on each other, though w may be.
//! Tests that suffice come first:
//!
//! * without friction w is unique, since W is positive semidefinite;
//! * in the plane, p and w of one contact are piecewise linear in z = p − w (with `p_T` the projection of `z_T` on `p_N D`);
//!   z ↦ W p − w is a homeomorphism if all of its 4ᵏ pieces have positive determinants. For one contact this says
//!   `γ = W_NN − σ_D(−W_NT) > 0`, without friction that W is a P-matrix;
//! * in space, Σ_b μ_b √(λ_max(W_TT) (W⁻¹)_NN) < 1, the sum over the contacts: then friction cannot outweigh the work W gives to a
//!   difference of two solutions;
//! * one contact in space, with `c² = W_NT W_TT⁻¹ W_TN` and `R = max over D of √(d·W_TT d)`: `W_NN − c² > c R`. For a given p_N the tangential
//!   impulse is a projection on `p_N D` in the metric of W_TT, of a point that moves by c per p_N on a set that grows by R: p_T changes by at most
//!   c + R per p_N, and w_N = W_NN p_N + W_NT p_T + q_N grows with p_N. Without coupling (c = 0) this holds for any friction.
//!
//! What is left is enumerated: at most [`PLANAR`] contacts in the plane, [`SPATIAL`] in space.
//!
//! # Source
//!
//! P-matrices: [CottlePangStone1992]. Piecewise linear maps whose pieces have determinants of one sign, at most four
//! of them at any face of codimension two, are homeomorphisms: [Scholtes2012]. The bounds in space are ours: with De Saxcé's form two solutions obey
//! `Δp·WΔp ≤ Σ μ |Δw_T| |Δp_N|`; for one contact, x = proj_D(y) has `|x − Dproj_D(y) y| ≤ |x|`, which bounds how a projection follows a growing set.
//!
//! # Guarantees
//!
//! `Unique` by a test that suffices is a proof for every q, up to rounding; by enumeration in the plane it is one for this
//! q. In space several contacts are searched from many starts: what is found is certified, what is not found may exist.
//!
//! # Behaviour to know
//!
//! Solutions whose local velocities differ by less than 1e-7 of the largest are one motion. Velocities up to the resting speed of the run
//! are zero, and what starts from rest without forces stays at rest: `p·W p = p·w ≤ 0`.
//!
//! # Cost
//!
//! 4ᵏ determinants of order 2k, some microseconds for two contacts and some milliseconds for six; enumeration: see
//! [`super::enumeration`].
//!
//! # Tested by
//!
//! `tests/truth_uniqueness.rs`, `tests/truth_several_at_start.rs`.

use serde::{Deserialize, Serialize};

use crate::algebra::{PivotedCholesky, dot};
use crate::contact::{BlockKind, ContactBlock, ContactProblem};
use crate::laws::{FlowRule, FrictionSection};

use super::enumeration::{EnumerationSettings, FoundSolution, Method, enumerate};

/// Most contacts in the plane of a component that is enumerated.
pub const PLANAR: usize = 6;
/// Most contacts in space of a component that is searched.
pub const SPATIAL: usize = 2;
/// Most rows of a problem that is taken apart at all.
const ROWS: usize = 600;
/// Most rows of a component whose rank is measured.
const RANK_ROWS: usize = 120;
/// Starts per contact of a search in space.
const STARTS: usize = 60;

/// What is known about the motions of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Uniqueness {
    /// One motion.
    #[default]
    Unique,
    /// Several motions in the component of this block.
    Several {
        /// First block of the component.
        block: usize,
    },
    /// A component is too large or of another law.
    NotExamined,
}

/// Motions and dependent rows of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// Whether the motion is unique.
    pub motion: Uniqueness,
    /// Whether something had to be enumerated: what was found then holds for this free velocity only.
    pub enumerated: bool,
    /// Rows minus rank of W, over the components that were measured.
    pub rank_deficiency: usize,
    /// Whether the motion of the components with dependent rows is unique.
    pub dependent_motion: Uniqueness,
    /// Whether normal rows depend on each other.
    pub dependent_normals: bool,
    /// Whether a component was too large for its rank to be measured.
    pub rank_not_measured: bool,
    /// Whether the motion of a component is unique because nothing moves it yet.
    pub at_rest: bool,
    /// Whether a component was not examined because its law is not enumerated, however few its contacts.
    pub unlisted_law: bool,
}

/// Examines a problem; see the page of the module.
pub fn examine(problem: &ContactProblem) -> Examination {
    let mut found = Examination::default();
    if !may_be_taken_apart(problem) {
        found.motion = Uniqueness::NotExamined;
        found.rank_not_measured = true;
        return found;
    }
    if let Some(found) = one_contact(problem) {
        return found;
    }
    for blocks in components(problem) {
        let part = Component::new(problem, &blocks);
        // A normal that joints let move nothing depends on them.
        let inert = |b: &ContactBlock| !(part.problem.w(b.start, b.start) > 0.0);
        found.dependent_normals |= part.problem.blocks().iter().any(inert);
        let motion = match part.proved() {
            Some(known) => known,
            None => {
                found.enumerated = true;
                found.at_rest |= part.is_at_rest();
                part.enumerated(blocks[0])
            }
        };
        found.motion = worse(found.motion, motion);
        found.unlisted_law |= motion == Uniqueness::NotExamined && !part.has_listed_law();
        let Some(deficiency) = part.rank_deficiency(part.problem.size(), |i| i) else {
            found.rank_not_measured = true;
            continue;
        };
        if deficiency > 0 {
            let normals: Vec<usize> = part.problem.blocks().iter().map(|b| b.start).collect();
            let depend = part.rank_deficiency(normals.len(), |i| normals[i]);
            found.dependent_normals |= depend.is_some_and(|d| d > 0);
            found.rank_deficiency += deficiency;
            found.dependent_motion = worse(found.dependent_motion, motion);
        }
    }
    found
}

/// One contact of one or two independent rows, in the motion of which nothing is left to enumerate: the problem of most
/// steps of small systems, without memory.
fn one_contact(problem: &ContactProblem) -> Option<Examination> {
    let [block] = problem.blocks() else {
        return None;
    };
    let entry = |i, j| problem.w(block.start + i, block.start + j);
    let normal = entry(0, 0).max(0.0).sqrt();
    if !(normal > 0.0) || block.size > 2 || matches!(block.kind, BlockKind::Bounded { .. }) {
        return None;
    }
    if block.size == 1 {
        return Some(Examination::default());
    }
    let tangent = entry(1, 1).max(0.0).sqrt();
    let coupling = entry(0, 1) / (normal * tangent);
    // Stick: rows that depend on each other have a rank to be measured.
    if !determinant_is_positive(&mut [1.0, coupling, coupling, 1.0], 2) {
        return None;
    }
    let settled = matches!(block.kind, BlockKind::KnownNormal { .. })
        || block.section.is_frictionless()
        || block.flow_rule != FlowRule::Coulomb;
    if !settled {
        let plain = block.kind == (BlockKind::Unilateral { minimum: 0.0 });
        let (lower, upper) = block.section.ends().filter(|_| plain)?;
        for end in [lower, upper] {
            let along = end * tangent / normal;
            let mut slip = [1.0 + along * coupling, 0.0, coupling + along, 1.0];
            if !(along.is_finite() && determinant_is_positive(&mut slip, 2)) {
                return None;
            }
        }
    }
    Some(Examination::default())
}

/// Several motions found are worse than none looked for.
fn worse(a: Uniqueness, b: Uniqueness) -> Uniqueness {
    match (a, b) {
        (Uniqueness::Several { .. }, _) => a,
        (_, Uniqueness::Several { .. }) => b,
        (Uniqueness::NotExamined, _) | (_, Uniqueness::NotExamined) => Uniqueness::NotExamined,
        _ => Uniqueness::Unique,
    }
}

/// Lists of blocks that W joins, in the order of their first blocks.
pub(crate) fn components(problem: &ContactProblem) -> Vec<Vec<usize>> {
    let blocks = problem.blocks();
    let (w, m) = (problem.dense(), problem.size());
    let coupled = |a: &ContactBlock, b: &ContactBlock| {
        a.range().any(|i| b.range().any(|j| w[i * m + j] != 0.0))
    };
    let mut unseen: Vec<usize> = (0..blocks.len()).collect();
    let mut lists = Vec::new();
    while !unseen.is_empty() {
        let mut list = vec![unseen.remove(0)];
        let mut next = 0;
        while next < list.len() {
            let from = &blocks[list[next]];
            unseen.retain(|&b| {
                let joined = coupled(from, &blocks[b]);
                if joined {
                    list.push(b);
                }
                !joined
            });
            next += 1;
        }
        list.sort_unstable();
        lists.push(list);
    }
    lists
}

/// Whether a problem is small enough for its components to be told.
pub(crate) fn may_be_taken_apart(problem: &ContactProblem) -> bool {
    problem.size() <= ROWS
}

/// Whether contacts that feel each other are few enough to be enumerated without a bound of work.
pub(crate) fn is_small(blocks: &[ContactBlock]) -> bool {
    let planar = blocks.iter().all(|b| b.size <= 2);
    blocks.len() <= if planar { PLANAR } else { SPATIAL }
}

/// One component as a problem of its own.
pub(crate) struct Component {
    pub problem: ContactProblem,
}

impl Component {
    /// Whether nothing moves without impulses; then the only motion is rest ([`FoundSolution::at_rest`]).
    pub fn is_at_rest(&self) -> bool {
        self.problem.is_at_rest()
    }

    /// Whether its solutions are enumerated where no proof spares that.
    pub fn is_small(&self) -> bool {
        is_small(self.problem.blocks())
    }

    /// Whether some contact has more than two rows: its solutions are searched, not enumerated.
    pub fn is_spatial(&self) -> bool {
        self.problem.blocks().iter().any(|b| b.size > 2)
    }

    /// Whether tests that hold for every free velocity prove that its motion is unique.
    pub fn has_one_motion(&self) -> bool {
        self.proved() == Some(Uniqueness::Unique)
    }

    pub fn new(problem: &ContactProblem, list: &[usize]) -> Self {
        let chosen = list.iter().map(|&b| &problem.blocks()[b]);
        let rows: Vec<usize> = chosen.clone().flat_map(ContactBlock::range).collect();
        let mut start = 0;
        let mut blocks = Vec::with_capacity(list.len());
        for block in chosen {
            let mut block = block.clone();
            block.start = start;
            start += block.size;
            blocks.push(block);
        }
        let entries = rows
            .iter()
            .flat_map(|&i| rows.iter().map(move |&j| problem.w(i, j)));
        // The last digits of a body at rest make no motions.
        let heard = problem.heard_free();
        let free = rows.iter().map(|&i| heard(i)).collect();
        let mut part = ContactProblem::from_dense(entries.collect(), free, blocks);
        part.set_noise(problem.noise());
        part.unify_flow_rules();
        Self { problem: part }
    }

    /// Rows minus rank of some rows of W; none if they are too many.
    fn rank_deficiency(&self, count: usize, row: impl Fn(usize) -> usize) -> Option<usize> {
        if count > RANK_ROWS {
            return None;
        }
        // To unit diagonal, so that the unit of a row does not decide about its rank. Rows that move nothing do not count.
        let m = self.problem.size();
        let w = self.unit_diagonal();
        let rows: Vec<usize> = (0..count)
            .map(row)
            .filter(|&i| w[i * m + i] > 0.0)
            .collect();
        let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
        let chosen: Vec<f64> = pairs.map(|(i, j)| w[i * m + j]).collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(rows.len(), &chosen);
        Some(rows.len() - factor.rank())
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.problem.w(i, j)
    }

    fn unit_diagonal(&self) -> Vec<f64> {
        let m = self.problem.size();
        let size: Vec<f64> = (0..m).map(|i| self.entry(i, i).max(0.0).sqrt()).collect();
        (0..m * m)
            .map(|e| {
                let scale = size[e / m] * size[e % m];
                if scale > 0.0 {
                    self.entry(e / m, e % m) / scale
                } else {
                    0.0
                }
            })
            .collect()
    }

    /// Whether the motions under its law can be enumerated: Coulomb's, in one phase and with bounded sets.
    fn has_listed_law(&self) -> bool {
        self.problem.blocks().iter().all(|b| {
            b.flow_rule == FlowRule::Coulomb
                && b.kind == (BlockKind::Unilateral { minimum: 0.0 })
                && b.section.is_bounded()
        })
    }

    /// What tests that hold for every free velocity tell; none if the motions have to be enumerated.
    fn proved(&self) -> Option<Uniqueness> {
        let blocks = self.problem.blocks();
        // A known normal impulse leaves a convex problem; S of one contact and the generalized law are unique by themselves. S of
        // several contacts is one law per contact: where it is Coulomb's, it has as many motions.
        let settled = |b: &ContactBlock| {
            matches!(b.kind, BlockKind::KnownNormal { .. }) || b.section.is_frictionless()
        };
        let alone = blocks.len() == 1;
        let projected = |b: &ContactBlock| match b.flow_rule {
            FlowRule::Coulomb => false,
            FlowRule::KineticProjection => alone,
            FlowRule::Generalized(_) => true,
        };
        if blocks.iter().all(settled) || blocks.iter().all(projected) {
            return Some(Uniqueness::Unique);
        }
        if !self.has_listed_law() {
            return Some(Uniqueness::NotExamined);
        }
        let sufficient = if self.is_spatial() {
            self.friction_is_weak() || self.normal_velocity_grows()
        } else {
            blocks.len() <= PLANAR && self.determinants_are_positive()
        };
        if sufficient {
            return Some(Uniqueness::Unique);
        }
        (!self.is_small()).then_some(Uniqueness::NotExamined)
    }

    /// All pieces of z ↦ W p − w have positive determinants.
    fn determinants_are_positive(&self) -> bool {
        let (m, w) = (self.problem.size(), self.unit_diagonal());
        let size: Vec<f64> = (0..m).map(|i| self.entry(i, i).max(0.0).sqrt()).collect();
        if size.contains(&0.0) {
            return false;
        }
        let blocks = self.problem.blocks();
        let modes = |b: &ContactBlock| if b.size == 2 { 4 } else { 2 };
        let total: usize = blocks.iter().map(modes).product();
        let mut matrix = vec![0.0; m * m];
        (0..total).all(|code| {
            let mut left = code;
            for block in blocks {
                let (n, mode) = (block.start, left % modes(block));
                left /= modes(block);
                let unit = |matrix: &mut [f64], j: usize| {
                    (0..m).for_each(|i| matrix[i * m + j] = f64::from(i == j));
                };
                // Impulses in units in which W has the diagonal 1.
                let response = |matrix: &mut [f64], j: usize, tangential: f64| {
                    for i in 0..m {
                        let along = if tangential == 0.0 {
                            0.0
                        } else {
                            tangential * w[i * m + n + 1]
                        };
                        matrix[i * m + j] = w[i * m + j] + along;
                    }
                };
                match mode {
                    // Open, then pressed: without friction, sticking, or sliding at one of the ends.
                    0 => block.range().for_each(|j| unit(&mut matrix, j)),
                    1 => block.range().for_each(|j| response(&mut matrix, j, 0.0)),
                    _ => {
                        let (lower, upper) = block.section.ends().unwrap_or((0.0, 0.0));
                        let end = if mode == 2 { upper } else { lower };
                        response(&mut matrix, n, end * size[n + 1] / size[n]);
                        unit(&mut matrix, n + 1);
                    }
                }
            }
            determinant_is_positive(&mut matrix, m)
        })
    }

    /// Σ μ √(λ_max(W_TT) (W⁻¹)_NN) < 1 over the contacts.
    fn friction_is_weak(&self) -> bool {
        let m = self.problem.size();
        if m > RANK_ROWS {
            return false;
        }
        let mut factor = PivotedCholesky::default();
        factor.factor(m, &self.problem.dense());
        if factor.rank() < m {
            return false;
        }
        let blocks = self.problem.blocks().iter();
        let sum: f64 = blocks
            .filter(|b| !b.section.is_frictionless())
            .map(|block| {
                let n = block.start;
                let mut column = vec![0.0; m];
                column[n] = 1.0;
                factor.solve_in_place(&mut column);
                // The trace bounds the largest eigenvalue.
                let tangential: f64 = (n + 1..n + block.size).map(|i| self.entry(i, i)).sum();
                radius(&block.section) * (tangential * column[n].max(0.0)).sqrt()
            })
            .sum();
        sum < 1.0 - 1e-9
    }

    /// `W_NN − c² > c R` for the only contact: see the page of the module.
    fn normal_velocity_grows(&self) -> bool {
        let [block] = self.problem.blocks() else {
            return false;
        };
        let (n, tangents) = (block.start, block.start + 1..block.start + block.size);
        let pairs = tangents
            .clone()
            .flat_map(|i| tangents.clone().map(move |j| (i, j)));
        let tangential: Vec<f64> = pairs.map(|(i, j)| self.entry(i, j)).collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(tangents.len(), &tangential);
        if factor.rank() < tangents.len() {
            return false;
        }
        let coupling: Vec<f64> = tangents.clone().map(|i| self.entry(i, n)).collect();
        let mut answer = coupling.clone();
        factor.solve_in_place(&mut answer);
        let square = dot(&coupling, &answer).max(0.0);
        // Both bound R: by the largest eigenvalue, which is at most the trace, and axis by axis, whatever the units of the axes.
        let trace: f64 = tangents.clone().map(|i| self.entry(i, i)).sum();
        let mut direction = vec![0.0; tangents.len()];
        let mut along = 0.0;
        for (k, i) in tangents.enumerate() {
            direction[k] = 1.0;
            let ahead = block.section.support(&direction);
            direction[k] = -1.0;
            let reach = ahead.max(block.section.support(&direction));
            direction[k] = 0.0;
            along += reach * self.entry(i, i).max(0.0).sqrt();
        }
        let size = along.min(radius(&block.section) * trace.sqrt());
        let normal = self.entry(n, n);
        normal - square - square.sqrt() * size > 1e-9 * normal
    }

    fn enumerated(&self, first: usize) -> Uniqueness {
        if self.is_at_rest() {
            return Uniqueness::Unique;
        }
        let settings = EnumerationSettings {
            nodes_max: 200_000,
            starts: STARTS,
            ..EnumerationSettings::default()
        };
        let Ok(found) = enumerate(&self.problem, &settings) else {
            return Uniqueness::NotExamined;
        };
        let free = self.problem.free();
        let scale = |i: usize| self.entry(i, i).max(f64::MIN_POSITIVE).sqrt();
        let velocities = || found.solutions.iter().map(|s| &s.local_velocity[..]);
        let fastest = velocities()
            .chain([free])
            .flat_map(|u| u.iter().enumerate().map(|(i, x)| x.abs() / scale(i)))
            .fold(0.0, f64::max);
        let mut others = velocities().skip(1);
        let noise = self.problem.noise();
        let differs = |u: &[f64]| {
            let base = &found.solutions[0].local_velocity;
            let mut parts = u.iter().zip(base).map(|(a, b)| (a - b).abs()).enumerate();
            parts.any(|(i, apart)| apart > noise && apart / scale(i) > 1e-7 * fastest)
        };
        let moves = |s: &FoundSolution| s.continuum.as_ref().is_some_and(|c| c.moves_velocity);
        if found.solutions.iter().any(moves) || others.any(differs) {
            return Uniqueness::Several { block: first };
        }
        match found.method {
            _ if found.solutions.is_empty() => Uniqueness::NotExamined,
            Method::Truncated => Uniqueness::NotExamined,
            Method::Exact | Method::Search => Uniqueness::Unique,
        }
    }
}

/// Largest distance of a point of the section from 0, or a bound of it.
pub(crate) fn radius(section: &FrictionSection) -> f64 {
    if let FrictionSection::Disc { mu, .. } = section {
        return *mu;
    }
    if let Some((lower, upper)) = section.ends() {
        return lower.abs().max(upper.abs());
    }
    let d = section.dimension();
    let mut square = 0.0;
    for i in 0..d {
        let mut direction = vec![0.0; d];
        direction[i] = 1.0;
        let ahead = section.support(&direction);
        direction[i] = -1.0;
        let largest = ahead.max(section.support(&direction));
        square += largest * largest;
    }
    square.sqrt()
}

/// Whether a small determinant is positive beyond rounding; the matrix is destroyed.
fn determinant_is_positive(matrix: &mut [f64], m: usize) -> bool {
    let mut positive = true;
    for j in 0..m {
        let pivot = (j..m).fold(j, |b, i| {
            if matrix[i * m + j].abs() > matrix[b * m + j].abs() {
                i
            } else {
                b
            }
        });
        if pivot != j {
            for k in 0..m {
                matrix.swap(j * m + k, pivot * m + k);
            }
            positive = !positive;
        }
        let head = matrix[j * m + j];
        // Rows have unit diagonals: what is smaller is rounding or criticality.
        if head.abs() <= 1e-10 {
            return false;
        }
        positive ^= head < 0.0;
        for i in j + 1..m {
            let factor = matrix[i * m + j] / head;
            if factor != 0.0 {
                for k in j + 1..m {
                    matrix[i * m + k] -= factor * matrix[j * m + k];
                }
            }
        }
    }
    positive
}
