//! Measures of how far a solution is from the law, recomputed from problem and impulses alone.
//!
//! Shares no code with any solver: only the friction sections themselves (support function and
//! projection) are common.

use crate::algebra::dot;
use crate::laws::{FlowRule, FrictionSection};

use super::{BlockKind, ContactBlock, ContactProblem, ContactSolution, generalized_residual};

/// Measures of one block, all without dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockResidual {
    /// Natural map of the unrelaxed law: `|p − P_K(p − ρ(w + s d))|`, ρ = 1/W_NN.
    pub natural_map: f64,
    /// Distance of the impulse to its cone.
    pub cone: f64,
    /// Violation of `w_N ≥ 0`, `p_N ≥ 0`, `w_N p_N = 0`.
    pub signorini: f64,
    /// Defect of maximal dissipation `p_T·w_T + p_N σ_D(−w_T)` (Coulomb's flow rule).
    pub dissipation: f64,
}

impl BlockResidual {
    /// Largest of all measures.
    pub fn worst(&self) -> f64 {
        // `max` would drop a NaN; a NaN residual must survive.
        [
            self.natural_map,
            self.cone,
            self.signorini,
            self.dissipation,
        ]
        .into_iter()
        .fold(0.0, |m, x| if x.is_nan() || x > m { x } else { m })
    }
}

/// Residual of a whole problem.
///
/// Velocities are measured against the largest of `|q|` and `W_NN |p|` over the problem, impulses
/// against that velocity over W_NN, so that units of mass, length and time drop out.
#[derive(Clone, Debug, Default)]
pub struct ContactResidual {
    blocks: Vec<BlockResidual>,
    velocity: Vec<f64>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    shifted: Vec<f64>,
    projected: Vec<f64>,
    tangent: Vec<f64>,
}

impl ContactResidual {
    /// Measures `impulse` against `problem`.
    pub fn measure(&mut self, problem: &ContactProblem, impulse: &[f64]) {
        let m = problem.size();
        self.velocity.resize(m, 0.0);
        problem.local_velocity(impulse, &mut self.velocity);
        let scale = velocity_scale(problem, impulse);
        self.blocks.clear();
        for block in problem.blocks() {
            let rows = block.range();
            let residual = self.scratch.block(
                block,
                problem.delassus(),
                m,
                &impulse[rows.clone()],
                &self.velocity[rows],
                scale,
            );
            self.blocks.push(residual);
        }
    }

    /// Measures a solution with everything its law needs: the impulses, and for the generalized
    /// law also the friction budgets of its normal stage.
    pub fn measure_solution(&mut self, problem: &ContactProblem, solution: &ContactSolution) {
        match problem.generalized_rule() {
            Some(rule) => {
                let scale = velocity_scale(problem, &solution.impulse);
                generalized_residual::measure(problem, rule, solution, scale, &mut self.blocks);
            }
            None => self.measure(problem, &solution.impulse),
        }
    }

    /// Measures per block.
    pub fn blocks(&self) -> &[BlockResidual] {
        &self.blocks
    }

    /// Largest measure over all blocks (zero without contacts).
    pub fn worst(&self) -> f64 {
        self.blocks
            .iter()
            .map(BlockResidual::worst)
            .fold(0.0, |m, x| if x.is_nan() || x > m { x } else { m })
    }
}

/// Largest local velocity the data of the problem can produce.
fn velocity_scale(problem: &ContactProblem, impulse: &[f64]) -> f64 {
    let m = problem.size();
    let mut scale = 0.0f64;
    for block in problem.blocks() {
        let stiffness = problem.delassus()[block.start * m + block.start];
        for row in block.range() {
            scale = scale
                .max(problem.free()[row].abs())
                .max(stiffness * impulse[row].abs());
        }
    }
    scale
}

impl Scratch {
    fn block(
        &mut self,
        block: &ContactBlock,
        delassus: &[f64],
        m: usize,
        p: &[f64],
        w: &[f64],
        scale: f64,
    ) -> BlockResidual {
        let stiffness = delassus[block.start * m + block.start];
        if scale == 0.0 {
            return BlockResidual::default();
        }
        if !(stiffness > 0.0) {
            // A contact that nothing can move: any nonnegative approach velocity is admissible.
            return BlockResidual {
                signorini: (-w[0]).max(0.0) / scale,
                ..BlockResidual::default()
            };
        }
        let rho = 1.0 / stiffness;
        let impulse_scale = scale * rho;
        let d = p.len() - 1;
        // Every entry is written below before it is read.
        self.shifted.resize(p.len(), 0.0);
        self.projected.resize(p.len(), 0.0);
        self.tangent.resize(d, 0.0);

        // Maximal dissipation at the impulse p_N.
        for (t, w) in self.tangent.iter_mut().zip(&w[1..]) {
            *t = -w;
        }
        let support = if d == 0 {
            0.0
        } else {
            block.section.support(&self.tangent)
        };
        let power = dot(&p[1..], &w[1..]);
        let dissipation = match block.flow_rule {
            FlowRule::Coulomb if p[0] > 0.0 => {
                (power + p[0] * support).abs() / (impulse_scale * scale)
            }
            _ => 0.0,
        };

        // Distance to the cone.
        let cone = {
            let normal = p[0].max(0.0);
            block.section.project(&p[1..], normal, &mut self.tangent);
            let tangential = distance(&p[1..], &self.tangent);
            ((-p[0]).max(0.0) + tangential) / impulse_scale
        };

        let (natural_map, signorini) = match block.kind {
            BlockKind::Unilateral { minimum: 0.0 } => {
                let shift = self.law_shift(block, delassus, m, p, w, support, power);
                for i in 0..p.len() {
                    self.shifted[i] = p[i]
                        - rho * (w[i] + shift[i.min(1)] * self.direction(block, delassus, m, i));
                }
                project_cone(
                    &block.section,
                    &self.shifted,
                    &mut self.projected,
                    &mut self.tangent,
                );
                let map = distance(p, &self.projected) / impulse_scale;
                let signorini = (-w[0]).max(0.0) / scale
                    + (-p[0]).max(0.0) / impulse_scale
                    + (w[0] * p[0]).abs() / (impulse_scale * scale);
                (map, signorini)
            }
            BlockKind::Unilateral { minimum } => {
                let normal = (p[0] - minimum.max(p[0] - rho * w[0])).abs();
                (
                    self.fixed_normal(block, p, w, rho, normal) / impulse_scale,
                    normal / impulse_scale,
                )
            }
            BlockKind::KnownNormal { impulse } => {
                let normal = (p[0] - impulse).abs();
                (
                    self.fixed_normal(block, p, w, rho, normal) / impulse_scale,
                    normal / impulse_scale,
                )
            }
        };
        BlockResidual {
            natural_map,
            cone,
            signorini,
            dissipation,
        }
    }

    /// Multiplier s of the law: first entry for the normal row, second for the tangent rows.
    #[allow(clippy::too_many_arguments)]
    fn law_shift(
        &self,
        block: &ContactBlock,
        delassus: &[f64],
        m: usize,
        p: &[f64],
        w: &[f64],
        support: f64,
        power: f64,
    ) -> [f64; 2] {
        match block.flow_rule {
            // The generalized law has its own measure; a lone block of it is judged as Coulomb's.
            FlowRule::Coulomb | FlowRule::Generalized(_) => [support, 0.0],
            FlowRule::KineticProjection => {
                // p·(w + s W n) = 0 determines s; p·W n is the kinetic normal impulse.
                let kinetic: f64 = (0..p.len())
                    .map(|i| p[i] * self.direction_of(block, delassus, m, i))
                    .sum();
                let s = if kinetic > 0.0 {
                    -(power + p[0] * w[0]) / kinetic
                } else {
                    0.0
                };
                [s, s]
            }
        }
    }

    fn direction(&self, block: &ContactBlock, delassus: &[f64], m: usize, i: usize) -> f64 {
        match block.flow_rule {
            FlowRule::Coulomb | FlowRule::Generalized(_) => 1.0,
            FlowRule::KineticProjection => self.direction_of(block, delassus, m, i),
        }
    }

    /// Entry i of W n, the kinetic normal of the block.
    fn direction_of(&self, block: &ContactBlock, delassus: &[f64], m: usize, i: usize) -> f64 {
        delassus[(block.start + i) * m + block.start]
    }

    /// Natural map of friction under a fixed normal impulse, plus the given normal defect.
    fn fixed_normal(
        &mut self,
        block: &ContactBlock,
        p: &[f64],
        w: &[f64],
        rho: f64,
        normal: f64,
    ) -> f64 {
        for i in 1..p.len() {
            self.shifted[i] = p[i] - rho * w[i];
        }
        block
            .section
            .project(&self.shifted[1..], p[0].max(0.0), &mut self.tangent);
        normal + distance(&p[1..], &self.tangent)
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
