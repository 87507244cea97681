//! A Coulomb problem in the variables the iterative solvers work in.
//!
//! Each contact is scaled by one number s_i = √(trace W_ii / 3): x = s r, W_ij/(s_i s_j),
//! q_i/s_i. The cones do not change, masses, lengths and times drop out. A problem in the
//! plane gets a second tangent that is coupled to nothing and whose velocity is zero, with the
//! diagonal entry of the first: its impulse stays exactly zero, so one set of kernels serves
//! both dimensions. Contacts that nothing can move (W_NN ≤ 0) keep a zero impulse.

use crate::contact::coulomb_problem::CoulombProblem;

/// Scaled problem, always with blocks of order three.
#[derive(Clone, Debug)]
pub struct ScaledProblem {
    pub(crate) row_start: Vec<u32>,
    pub(crate) column: Vec<u32>,
    /// Blocks by columns, one spare number at the end.
    pub(crate) value: Vec<f64>,
    /// Diagonal blocks, row-major.
    pub(crate) diagonal: Vec<[f64; 9]>,
    pub(crate) q: Vec<f64>,
    pub(crate) mu: Vec<f64>,
    /// s_i.
    pub(crate) scale: Vec<f64>,
    /// ‖q‖ of the original problem, 1 if that is zero.
    pub(crate) q_norm: f64,
    /// ρ of the natural map that decides.
    pub(crate) rho: f64,
    pub(crate) dimension: usize,
}

impl ScaledProblem {
    /// Scales a problem. `scale_free` chooses the measure of convergence: the natural
    /// map with ρ = rows/trace W instead of ρ = 1.
    pub fn new(problem: &CoulombProblem, scale_free: bool) -> Self {
        let d = problem.dimension();
        let n = problem.contacts();
        let matrix = problem.matrix();
        let (row_start, column, values) = matrix.parts();
        let mut scale = Vec::with_capacity(n);
        for i in 0..n {
            let block = matrix.diagonal(i);
            let trace: f64 = block.iter().step_by(d + 1).sum();
            let s = (trace / d as f64).sqrt();
            scale.push(if s > 0.0 && block[0] > 0.0 { s } else { 1.0 });
        }
        let inverse: Vec<f64> = scale.iter().map(|s| 1.0 / s).collect();
        let mut value = vec![0.0; 9 * column.len() + 1];
        let mut diagonal = Vec::with_capacity(n);
        for i in 0..n {
            let row = row_start[i] as usize..row_start[i + 1] as usize;
            let out = value[9 * row.start..9 * row.end].chunks_exact_mut(9);
            let blocks = values[d * d * row.start..d * d * row.end].chunks_exact(d * d);
            let mut own = [0.0; 9];
            for ((out, block), &j) in out.zip(blocks).zip(&column[row]) {
                let j = j as usize;
                let factor = inverse[i] * inverse[j];
                if d == 3 {
                    for k in 0..9 {
                        out[k] = block[k] * factor;
                    }
                } else {
                    for c in 0..d {
                        for r in 0..d {
                            out[3 * c + r] = block[d * c + r] * factor;
                        }
                    }
                }
                if i == j {
                    if d == 2 {
                        out[8] = out[4];
                    }
                    for c in 0..3 {
                        for r in 0..3 {
                            own[3 * r + c] = out[3 * c + r];
                        }
                    }
                }
            }
            diagonal.push(own);
        }
        let free = problem.free_velocity();
        let mut q = vec![0.0; 3 * n];
        for i in 0..n {
            for k in 0..d {
                q[3 * i + k] = free[d * i + k] / scale[i];
            }
        }
        let norm = free.iter().map(|x| x * x).sum::<f64>().sqrt();
        let trace = matrix.trace();
        Self {
            row_start: row_start.to_vec(),
            column: column.to_vec(),
            value,
            diagonal,
            q,
            mu: problem.friction().to_vec(),
            scale,
            q_norm: if norm > 0.0 { norm } else { 1.0 },
            rho: if scale_free && trace > 0.0 {
                (d * n) as f64 / trace
            } else {
                1.0
            },
            dimension: d,
        }
    }

    /// The same problem with its contacts in another order; `order` lists old indices.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let mut new_index = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_index[old] = new as u32;
        }
        let mut out = Self {
            row_start: vec![0],
            column: Vec::with_capacity(self.column.len()),
            value: Vec::with_capacity(self.value.len()),
            diagonal: order.iter().map(|&i| self.diagonal[i]).collect(),
            q: Vec::with_capacity(self.q.len()),
            mu: order.iter().map(|&i| self.mu[i]).collect(),
            scale: order.iter().map(|&i| self.scale[i]).collect(),
            q_norm: self.q_norm,
            rho: self.rho,
            dimension: self.dimension,
        };
        for &i in order {
            out.q.extend_from_slice(&self.q[3 * i..3 * i + 3]);
            let mut blocks: Vec<(u32, usize)> = (self.row_start[i] as usize
                ..self.row_start[i + 1] as usize)
                .map(|k| (new_index[self.column[k] as usize], k))
                .collect();
            blocks.sort_unstable();
            for (j, k) in blocks {
                out.column.push(j);
                out.value.extend_from_slice(&self.value[9 * k..9 * k + 9]);
            }
            out.row_start.push(out.column.len() as u32);
        }
        out.value.push(0.0);
        out
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// Impulses of the original problem.
    pub fn impulses(&self, x: &[f64]) -> Vec<f64> {
        let d = self.dimension;
        let mut r = Vec::with_capacity(d * self.contacts());
        for (x, s) in x.chunks_exact(3).zip(&self.scale) {
            r.extend(x[..d].iter().map(|x| x / s));
        }
        r
    }

    /// Scaled variables of impulses of the original problem.
    pub fn variables(&self, r: &[f64]) -> Vec<f64> {
        let d = self.dimension;
        let mut x = vec![0.0; 3 * self.contacts()];
        for (i, s) in self.scale.iter().enumerate() {
            for k in 0..d {
                x[3 * i + k] = r[d * i + k] * s;
            }
        }
        x
    }

    /// Error of the variables `x` whose scaled velocity is `u`: the natural map in the
    /// original variables over ρ‖q‖.
    pub fn error(&self, x: &[f64], u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.contacts() {
            sum += self.contact_error(i, &x[3 * i..3 * i + 3], &u[3 * i..3 * i + 3]);
        }
        sum.sqrt() / (self.rho * self.q_norm)
    }

    /// Squared natural map of contact i in the original variables.
    #[inline(always)]
    pub(crate) fn contact_error(&self, i: usize, x: &[f64], u: &[f64]) -> f64 {
        let (mu, s) = (self.mu[i], self.scale[i]);
        let inverse = 1.0 / s;
        let velocity = self.rho * s;
        let r = [x[0] * inverse, x[1] * inverse, x[2] * inverse];
        let u = [u[0] * velocity, u[1] * velocity, u[2] * velocity];
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let z = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        let p = project_cone(&z, mu);
        let mut sum = 0.0;
        for k in 0..3 {
            sum += (r[k] - p[k]) * (r[k] - p[k]);
        }
        sum
    }
}

/// Projection of `z` on the cone |z_T| ≤ μ z_N.
#[inline(always)]
pub fn project_cone(z: &[f64; 3], mu: f64) -> [f64; 3] {
    let tangential = (z[1] * z[1] + z[2] * z[2]).sqrt();
    // The polar cone first: without friction a point below the tip satisfies both tests.
    if mu * tangential <= -z[0] {
        [0.0; 3]
    } else if tangential <= mu * z[0] {
        *z
    } else {
        let normal = (z[0] + mu * tangential) / (1.0 + mu * mu);
        let factor = mu * normal / tangential;
        [normal, factor * z[1], factor * z[2]]
    }
}
