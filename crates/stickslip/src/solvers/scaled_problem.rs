//! A Coulomb problem in the variables the iterative solvers work in.
//!
//! Each contact is scaled by one number s_i = √(trace W_ii / rows): x = s r, W_ij/(s_i s_j),
//! q_i/s_i. The cones do not change, masses, lengths and times drop out. An ellipse E becomes the unit disc by
//! p_T = E p̂_T, û_T = Eᵀ u_T. A contact in the plane, or without friction, gets tangents that are coupled to nothing and whose
//! velocity is zero, with the diagonal entry of its last row: their impulse stays exactly zero, so one set of kernels serves
//! all. Contacts that nothing can move (W_NN ≤ 0) keep a zero impulse.

use crate::algebra::block_sparse::BlockSparse;
use crate::contact::{BlockKind, ContactBlock, ContactProblem, Delassus, rounding_floor};
use crate::laws::{FlowRule, FrictionSection};

/// Which figure ends a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoppingTest {
    /// The residual of certificates: |F|/max(|r|, |ρ q|) with ρ = rows/trace of each diagonal block.
    Natural,
    /// The error published with the open collection: ρ = 1, over |q|. It depends on the unit of mass.
    #[default]
    Published,
}

/// Where the rows of a contact lie in the original problem.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    size: u32,
}

/// p_T = E p̂_T.
type TangentMap = [[f64; 2]; 2];

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
    /// ‖ρ q‖ with the ρ of each block.
    driven: f64,
    pub(crate) test: StoppingTest,
    /// 2 if all contacts lie in the plane.
    pub(crate) dimension: usize,
    places: Vec<Place>,
    /// Maps of the tangents, where any contact has an elliptic section.
    maps: Option<Vec<TangentMap>>,
}

/// Coefficient and tangent map of a block whose law the fast kernels know.
fn disc(block: &ContactBlock) -> Option<(f64, Option<TangentMap>)> {
    let plain = block.flow_rule == FlowRule::Coulomb
        && block.kind == (BlockKind::Unilateral { minimum: 0.0 })
        && block.size <= 3;
    match &block.section {
        _ if !plain => None,
        FrictionSection::None => Some((0.0, None)),
        FrictionSection::Disc { mu, .. } => Some((*mu, None)),
        FrictionSection::Interval { lower, upper } if *lower == -*upper => Some((*upper, None)),
        FrictionSection::Ellipse { map } => {
            let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
            let size = map.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
            (determinant.abs() > 1e-10 * size * size).then_some((1.0, Some(*map)))
        }
        _ => None,
    }
}

/// Whether every block follows Coulomb's law with a section that is a disc, a symmetric interval, an ellipse or nothing.
pub(crate) fn is_scalable(problem: &ContactProblem) -> bool {
    problem.blocks().iter().all(|block| disc(block).is_some())
}

impl ScaledProblem {
    /// Scales a problem; none if some block follows a law that the fast kernels do not know.
    pub fn new(problem: &ContactProblem, test: StoppingTest) -> Option<Self> {
        let blocks = problem.blocks();
        let n = blocks.len();
        let (mut mu, mut places) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut maps: Option<Vec<TangentMap>> = None;
        for (i, block) in blocks.iter().enumerate() {
            let (coefficient, map) = disc(block)?;
            mu.push(coefficient);
            places.push(Place {
                start: block.start as u32,
                size: block.size as u32,
            });
            if let Some(map) = map {
                maps.get_or_insert_with(|| vec![UNIT; n])[i] = map;
            }
        }
        let free = problem.free();
        let norm = free.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut scaled = Self {
            row_start: Vec::with_capacity(n + 1),
            column: Vec::new(),
            value: Vec::new(),
            diagonal: Vec::with_capacity(n),
            q: vec![0.0; 3 * n],
            mu,
            scale: Vec::with_capacity(n),
            q_norm: if norm > 0.0 { norm } else { 1.0 },
            driven: 0.0,
            test,
            dimension: if places.iter().all(|p| p.size <= 2) {
                2
            } else {
                3
            },
            places,
            maps,
        };
        let uniform = scaled.maps.is_none();
        match (problem.delassus(), problem.delassus().bodies()) {
            (Delassus::Blocks(w), _) if uniform => scaled.take_blocks(&w.matrix),
            (_, Some(bodies)) if uniform => match bodies.blocks() {
                Some(matrix) => scaled.take_blocks(&matrix),
                None => scaled.take_entries(problem),
            },
            _ => scaled.take_entries(problem),
        }
        for i in 0..n {
            let Place { start, size } = scaled.places[i];
            let u = &free[start as usize..(start + size) as usize];
            let u = scaled.transposed(i, u);
            for k in 0..3 {
                scaled.q[3 * i + k] = u[k] / scaled.scale[i];
                scaled.driven += (u[k] / (scaled.scale[i] * scaled.scale[i])).powi(2);
            }
        }
        scaled.driven = scaled.driven.sqrt();
        Some(scaled)
    }

    /// Blocks of W as they are stored, scaled.
    fn take_blocks(&mut self, matrix: &BlockSparse) {
        let (d, n) = (matrix.block_size(), matrix.blocks());
        let (row_start, column, values) = matrix.parts();
        for i in 0..n {
            let block = matrix.diagonal(i);
            let trace: f64 = block.iter().step_by(d + 1).sum();
            let s = (trace / d as f64).sqrt();
            self.scale
                .push(if s > 0.0 && block[0] > 0.0 { s } else { 1.0 });
        }
        let inverse: Vec<f64> = self.scale.iter().map(|s| 1.0 / s).collect();
        let mut value = vec![0.0; 9 * column.len() + 1];
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
            self.diagonal.push(own);
        }
        self.value = value;
        self.row_start = row_start.to_vec();
        self.column = column.to_vec();
    }

    /// Entries of W in any other form: blocks that are not zero, with the tangents of ellipses mapped.
    fn take_entries(&mut self, problem: &ContactProblem) {
        let n = self.places.len();
        for i in 0..n {
            let own = self.mapped(problem, i, i);
            let size = self.places[i].size as usize;
            let trace: f64 = (0..size).map(|k| own[4 * k]).sum();
            let s = (trace / size as f64).sqrt();
            self.scale
                .push(if s > 0.0 && own[0] > 0.0 { s } else { 1.0 });
        }
        self.row_start.push(0);
        for i in 0..n {
            for j in 0..n {
                let mut block = self.mapped(problem, i, j);
                if i != j && block.iter().all(|&a| a == 0.0) {
                    continue;
                }
                let factor = 1.0 / (self.scale[i] * self.scale[j]);
                for a in &mut block {
                    *a *= factor;
                }
                if i == j {
                    // Missing tangents: coupled to nothing, at rest.
                    for k in self.places[i].size as usize..3 {
                        block[4 * k] = block[4 * (self.places[i].size as usize - 1)];
                    }
                    self.diagonal
                        .push(std::array::from_fn(|k| block[3 * (k % 3) + k / 3]));
                }
                self.column.push(j as u32);
                self.value.extend_from_slice(&block);
            }
            self.row_start.push(self.column.len() as u32);
        }
        self.value.push(0.0);
    }

    /// Block Tᵢᵀ W_ij Tⱼ by columns, padded with zeros.
    fn mapped(&self, problem: &ContactProblem, i: usize, j: usize) -> [f64; 9] {
        let mut block = [0.0; 9];
        let (a, b) = (self.places[i], self.places[j]);
        for r in 0..a.size {
            for c in 0..b.size {
                block[(3 * c + r) as usize] =
                    problem.w((a.start + r) as usize, (b.start + c) as usize);
            }
        }
        if let Some(maps) = &self.maps {
            let (left, right) = (tangent_matrix(&maps[i]), tangent_matrix(&maps[j]));
            let mut out = [0.0; 9];
            for c in 0..3 {
                for r in 0..3 {
                    for (k, left) in left.iter().enumerate() {
                        for (l, right) in right.iter().enumerate() {
                            out[3 * c + r] += left[r] * block[3 * l + k] * right[c];
                        }
                    }
                }
            }
            block = out;
        }
        block
    }

    /// Tᵀ u of contact i.
    fn transposed(&self, i: usize, u: &[f64]) -> [f64; 3] {
        let at = |k: usize| u.get(k).copied().unwrap_or(0.0);
        let u = [at(0), at(1), at(2)];
        match &self.maps {
            None => u,
            Some(maps) => {
                let e = &maps[i];
                [
                    u[0],
                    e[0][0] * u[1] + e[1][0] * u[2],
                    e[0][1] * u[1] + e[1][1] * u[2],
                ]
            }
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
            driven: self.driven,
            test: self.test,
            dimension: self.dimension,
            places: order.iter().map(|&i| self.places[i]).collect(),
            maps: self
                .maps
                .as_ref()
                .map(|maps| order.iter().map(|&i| maps[i]).collect()),
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

    /// The problem of some of the contacts, the others fixed at impulses whose velocities are in `q`.
    pub(crate) fn part(&self, contacts: &[usize], q: Vec<f64>) -> Self {
        Self {
            row_start: vec![0],
            column: Vec::new(),
            value: Vec::new(),
            diagonal: contacts.iter().map(|&i| self.diagonal[i]).collect(),
            q,
            mu: contacts.iter().map(|&i| self.mu[i]).collect(),
            scale: contacts.iter().map(|&i| self.scale[i]).collect(),
            q_norm: self.q_norm,
            driven: self.driven,
            test: self.test,
            dimension: self.dimension,
            places: contacts.iter().map(|&i| self.places[i]).collect(),
            maps: self
                .maps
                .as_ref()
                .map(|maps| contacts.iter().map(|&i| maps[i]).collect()),
        }
    }

    /// Impulses of the original problem.
    pub fn impulses(&self, x: &[f64]) -> Vec<f64> {
        let rows = self
            .places
            .iter()
            .map(|p| (p.start + p.size) as usize)
            .max()
            .unwrap_or(0);
        let mut r = vec![0.0; rows];
        for (i, (x, s)) in x.chunks_exact(3).zip(&self.scale).enumerate() {
            let Place { start, size } = self.places[i];
            let mut p = [x[0] / s, x[1] / s, x[2] / s];
            if let Some(maps) = &self.maps {
                let e = &maps[i];
                p = [
                    p[0],
                    e[0][0] * p[1] + e[0][1] * p[2],
                    e[1][0] * p[1] + e[1][1] * p[2],
                ];
            }
            r[start as usize..(start + size) as usize].copy_from_slice(&p[..size as usize]);
        }
        r
    }

    /// Scaled variables of impulses of the original problem.
    pub fn variables(&self, r: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; 3 * self.contacts()];
        for (i, s) in self.scale.iter().enumerate() {
            let Place { start, size } = self.places[i];
            let mut p = [0.0; 3];
            p[..size as usize].copy_from_slice(&r[start as usize..(start + size) as usize]);
            if let Some(maps) = &self.maps {
                let e = &maps[i];
                let determinant = e[0][0] * e[1][1] - e[0][1] * e[1][0];
                p = [
                    p[0],
                    (e[1][1] * p[1] - e[0][1] * p[2]) / determinant,
                    (e[0][0] * p[2] - e[1][0] * p[1]) / determinant,
                ];
            }
            for k in 0..3 {
                x[3 * i + k] = p[k] * s;
            }
        }
        x
    }

    /// Error of the variables `x` whose scaled velocity is `u`, by the stopping test.
    pub fn error(&self, x: &[f64], u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.contacts() {
            sum += self.contact_error(i, &x[3 * i..3 * i + 3], &u[3 * i..3 * i + 3]);
        }
        self.measured(sum, x)
    }

    /// The figure of the stopping test, from the sum of the squared errors of all contacts.
    pub(crate) fn measured(&self, sum: f64, x: &[f64]) -> f64 {
        sum.sqrt() / self.yardstick(x)
    }

    /// What errors are divided by.
    pub(crate) fn yardstick(&self, x: &[f64]) -> f64 {
        match self.test {
            StoppingTest::Published => self.q_norm,
            StoppingTest::Natural => {
                let mut size = 0.0;
                for (x, s) in x.chunks_exact(3).zip(&self.scale) {
                    size += (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / (s * s);
                }
                let yardstick = size.sqrt().max(self.driven);
                if yardstick > 0.0 { yardstick } else { 1.0 }
            }
        }
    }

    /// Squared natural map of contact i in the original variables. With a large μ the map loses the normal velocity, whose
    /// violation can be 1 + μ times larger: there the Signorini part counts where it is the larger of the two.
    #[inline(always)]
    pub(crate) fn contact_error(&self, i: usize, x: &[f64], u: &[f64]) -> f64 {
        let (mu, s) = (self.mu[i], self.scale[i]);
        let inverse = 1.0 / s;
        let velocity = match self.test {
            StoppingTest::Published => s,
            StoppingTest::Natural => inverse,
        };
        let r = [x[0] * inverse, x[1] * inverse, x[2] * inverse];
        let u = [u[0] * velocity, u[1] * velocity, u[2] * velocity];
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let z = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        let p = project_cone(&z, mu);
        let mut sum = 0.0;
        for k in 0..3 {
            sum += (r[k] - p[k]) * (r[k] - p[k]);
        }
        if mu > 1.0 && self.diagonal[i][0] > 0.0 {
            let signorini = r[0].min(u[0]);
            sum = sum.max(signorini * signorini);
        }
        sum
    }

    /// Floor of rounding of the error at `x`, in the scale of the stopping test.
    pub(crate) fn rounding_floor(&self, x: &[f64]) -> f64 {
        let (mut velocity, mut impulse) = (0.0, 0.0);
        for i in 0..self.contacts() {
            let mut sum = [0.0; 3];
            for k in self.row_start[i] as usize..self.row_start[i + 1] as usize {
                let j = 3 * self.column[k] as usize;
                for c in 0..3 {
                    for (row, sum) in sum.iter_mut().enumerate() {
                        *sum += (self.value[9 * k + 3 * c + row] * x[j + c]).abs();
                    }
                }
            }
            let s = self.scale[i];
            let factor = match self.test {
                StoppingTest::Published => s,
                StoppingTest::Natural => 1.0 / s,
            };
            for (row, sum) in sum.iter().enumerate() {
                velocity += ((sum + self.q[3 * i + row].abs()) * factor).powi(2);
                impulse += (x[3 * i + row] / s).powi(2);
            }
        }
        rounding_floor(velocity.sqrt(), impulse.sqrt(), self.yardstick(x))
    }
}

/// The identity on tangents.
const UNIT: TangentMap = [[1.0, 0.0], [0.0, 1.0]];

/// T of a contact: the normal row, then the tangent map.
fn tangent_matrix(map: &TangentMap) -> [[f64; 3]; 3] {
    [
        [1.0, 0.0, 0.0],
        [0.0, map[0][0], map[0][1]],
        [0.0, map[1][0], map[1][1]],
    ]
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
