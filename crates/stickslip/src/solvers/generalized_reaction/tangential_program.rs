//! The tangential convex program: least kinetic energy over a product of friction sets and guards.
//!
//! min ½ z·Q z + g·z over z = (s_a, η_i), s_a ∈ λ_a C_a, η_i ≥ 0. Q is the Gram matrix of the covectors after the
//! projection off the normal space, so Q z + g is the velocity the law reads; it is unique, z need
//! not be, and may even diverge where the sum of the sets is not closed: the iteration stops on Q z.

use crate::algebra::{dot, keep_image_part, projected_newton};
use crate::solvers::one_contact::LocalScratch;

use super::local_set::ScaledSet;

/// One friction set of the program, on the variables `start .. start + dimension`.
#[derive(Clone, Debug)]
pub(super) struct ProgramBlock {
    pub start: usize,
    pub dimension: usize,
    pub set: ScaledSet,
}

/// The program.
#[derive(Clone, Debug, Default)]
pub(super) struct TangentialProgram {
    /// Q, row-major.
    pub matrix: Vec<f64>,
    /// g.
    pub gradient: Vec<f64>,
    /// Diagonal of Q before the projection: what its entries are small against.
    pub reference: Vec<f64>,
    pub blocks: Vec<ProgramBlock>,
    /// Largest velocity of the problem per unit covector, the yardstick of convergence.
    pub scale: f64,
    /// First variable of the guards; all later ones are half-lines.
    pub guards: usize,
}

/// How the iteration ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramOutcome {
    pub sweeps: usize,
    pub converged: bool,
}

/// Diagonal entries below this part of their reference vanish: the normal space holds them.
const HELD: f64 = 1e-10;
/// Change of the velocity per sweep, relative to the largest one, that still counts as solved.
const SETTLED: f64 = 1e-11;

impl TangentialProgram {
    fn size(&self) -> usize {
        self.gradient.len()
    }

    fn held(&self, i: usize) -> bool {
        self.matrix[i * self.size() + i] <= HELD * self.reference[i]
    }

    /// Takes out of g what friction cannot move: slips that obstacles on their way give contacts in directions which the normal space holds.
    pub fn read_what_moves(&mut self) {
        let n = self.size();
        for block in &self.blocks {
            let range = block.start..block.start + block.dimension;
            let own: Vec<f64> = range
                .clone()
                .flat_map(|i| {
                    self.matrix[i * n..(i + 1) * n][range.clone()]
                        .iter()
                        .copied()
                })
                .collect();
            let sizes = self.reference[range.clone()].iter();
            let rounding: Vec<f64> = sizes.map(|size| HELD * size).collect();
            keep_image_part(&own, &rounding, &mut self.gradient[range]);
        }
    }

    /// Minimises from the guess z.
    pub fn solve(
        &self,
        tolerance: f64,
        sweeps_max: usize,
        z: &mut [f64],
        scratch: &mut LocalScratch,
    ) -> ProgramOutcome {
        if self.size() == 0 {
            return ProgramOutcome {
                sweeps: 0,
                converged: true,
            };
        }
        let scale = self.scale.max(f64::MIN_POSITIVE);
        let lone = self.blocks.len() + (self.size() - self.guards) == 1;
        let (mut best, mut since_best) = (f64::INFINITY, 0);
        let mut previous = z.to_vec();
        for sweep in 1..=sweeps_max {
            previous.copy_from_slice(z);
            self.sweep(z, scratch);
            let change = self.energy_norm(&previous, z) / scale;
            if lone || change <= tolerance {
                return ProgramOutcome {
                    sweeps: sweep,
                    converged: true,
                };
            }
            since_best = if change < 0.9 * best {
                0
            } else {
                since_best + 1
            };
            best = best.min(change);
            // Momentum and Newton for coupled blocks that creep.
            if sweep % 40 == 0 {
                self.accelerate(z, scratch);
            }
            if since_best > 120 {
                break;
            }
        }
        ProgramOutcome {
            sweeps: sweeps_max,
            // Rounding may keep the last digits moving.
            converged: best <= SETTLED,
        }
    }

    /// One pass of exact minimisation over each block and guard.
    fn sweep(&self, z: &mut [f64], scratch: &mut LocalScratch) {
        let n = self.size();
        for block in &self.blocks {
            let range = block.start..block.start + block.dimension;
            let d = block.dimension;
            let mut a = vec![0.0; d * d];
            let mut b = vec![0.0; d];
            let mut all_held = true;
            for (i, row) in range.clone().enumerate() {
                let line = &self.matrix[row * n..(row + 1) * n];
                a[i * d..(i + 1) * d].copy_from_slice(&line[range.clone()]);
                if self.held(row) {
                    // The normal space holds this direction: no velocity to oppose.
                    a[i * d..(i + 1) * d].fill(0.0);
                    for k in 0..d {
                        a[k * d + i] = 0.0;
                    }
                    continue;
                }
                all_held = false;
                b[i] = self.gradient[row] + dot(line, z)
                    - dot(&line[range.clone()], &z[range.clone()]);
            }
            if all_held {
                z[range].fill(0.0);
            } else {
                block.set.minimize(&a, &b, &mut z[range], scratch);
            }
        }
        for i in self.guards..n {
            let line = &self.matrix[i * n..(i + 1) * n];
            if self.held(i) {
                z[i] = 0.0;
            } else {
                let slope = self.gradient[i] + dot(line, z) - line[i] * z[i];
                z[i] = (-slope / line[i]).max(0.0);
            }
        }
    }

    /// |z − y| in the norm of Q.
    fn energy_norm(&self, y: &[f64], z: &[f64]) -> f64 {
        let n = self.size();
        let difference: Vec<f64> = z.iter().zip(y).map(|(a, b)| a - b).collect();
        let mut sum = 0.0;
        for i in 0..n {
            sum += difference[i] * dot(&self.matrix[i * n..(i + 1) * n], &difference);
        }
        sum.max(0.0).sqrt()
    }

    /// Accelerated projected gradient with a semismooth Newton end game, over all blocks at once.
    fn accelerate(&self, z: &mut [f64], scratch: &mut LocalScratch) {
        let n = self.size();
        // Unit blocks: x = factor · z.
        let mut factor = vec![1.0; n];
        let mut sets = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let range = block.start..block.start + block.dimension;
            let size = range
                .clone()
                .map(|i| self.matrix[i * n + i])
                .fold(0.0, f64::max);
            let stretch = if size > 0.0 { size.sqrt() } else { 1.0 };
            factor[range].fill(stretch);
            sets.push(block.set.stretched(stretch));
        }
        for i in self.guards..n {
            let size = self.matrix[i * n + i];
            factor[i] = if size > 0.0 { size.sqrt() } else { 1.0 };
        }
        let a: Vec<f64> = (0..n * n)
            .map(|e| self.matrix[e] / (factor[e / n] * factor[e % n]))
            .collect();
        let b: Vec<f64> = self
            .gradient
            .iter()
            .zip(&factor)
            .map(|(g, f)| g / f)
            .collect();
        let mut x: Vec<f64> = z.iter().zip(&factor).map(|(z, f)| z * f).collect();
        let before = self.value(z);
        projected_newton::solve(&a, &b, &mut x, &mut |point, out| {
            for (block, set) in self.blocks.iter().zip(&sets) {
                let range = block.start..block.start + block.dimension;
                project_euclidean(set, &point[range.clone()], &mut out[range], scratch);
            }
            for i in self.guards..n {
                out[i] = point[i].max(0.0);
            }
        });
        let trial: Vec<f64> = x.iter().zip(&factor).map(|(x, f)| x / f).collect();
        if self.value(&trial) <= before {
            z.copy_from_slice(&trial);
        }
    }

    fn value(&self, z: &[f64]) -> f64 {
        let n = self.size();
        (0..n)
            .map(|i| z[i] * (self.gradient[i] + 0.5 * dot(&self.matrix[i * n..(i + 1) * n], z)))
            .sum()
    }
}

/// Euclidean projection on a scaled set.
fn project_euclidean(set: &ScaledSet, point: &[f64], out: &mut [f64], scratch: &mut LocalScratch) {
    if set.tilt.is_empty() {
        set.section.project(point, set.budget, out);
        return;
    }
    let d = point.len();
    let mut identity = vec![0.0; d * d];
    for i in 0..d {
        identity[i * d + i] = 1.0;
    }
    let b: Vec<f64> = point.iter().map(|x| -x).collect();
    out.fill(0.0);
    set.minimize(&identity, &b, out, scratch);
}
