//! The one-step contact problem.

use std::sync::Arc;

use crate::algebra::sparse_cholesky::SparseCholesky;
use crate::algebra::{CholeskyFactor, Compliance, Covectors, dot};
use crate::laws::{FlowRule, FrictionSection, GeneralizedRule};

use super::{BlockKind, ContactBlock, ContactKey, NormalStage};

/// All a solver sees: `w = W p + q`, and a law per block.
///
/// With the factored operator A of the step, rows `Hᵀ` and free velocity `v_free`:
/// `v = v_free + A⁻¹ H p`, `w = Hᵀ v + bias`, hence `W = Hᵀ A⁻¹ H` and `q = Hᵀ v_free + bias`.
/// A block obeys `−(w + s d) ∈ N_K(p)`, `K = {p_T ∈ p_N D}`. Coulomb: `d = n`,
/// `s = σ_D(−w_T)`. Kinetic projection: `d = W n`, `s` the multiplier of `w_N = 0`.
///
/// The type is a reusable buffer: [`Self::begin`], [`Self::push`], [`Self::condense`] per step,
/// without allocation once warm. Meshes use [`Self::begin_sparse`], [`Self::push_sparse`] and
/// [`Self::condense_sparse`]: rows are sparse, W comes from cached columns of A⁻¹, and the
/// velocity costs one solve instead of stored responses.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    dof: usize,
    velocity_free: Vec<f64>,
    rows: Covectors,
    responses: Vec<f64>,
    operator: Option<Arc<SparseCholesky>>,
    compliance: Compliance,
    condensed_rows: Covectors,
    condensed_generation: u64,
    bias: Vec<f64>,
    free: Vec<f64>,
    delassus: Vec<f64>,
    blocks: Vec<ContactBlock>,
    normal_stage: NormalStage,
}

impl ContactProblem {
    /// Problem in local form, `w = W p + q` with row-major `W`; there is no generalized velocity.
    pub fn from_local(delassus: Vec<f64>, free: Vec<f64>, blocks: Vec<ContactBlock>) -> Self {
        let size = free.len();
        assert_eq!(delassus.len(), size * size, "W has the order of q");
        assert_eq!(
            blocks.iter().map(|b| b.size).sum::<usize>(),
            size,
            "the blocks cover all rows"
        );
        Self {
            bias: vec![0.0; size],
            free,
            delassus,
            blocks,
            ..Self::default()
        }
    }

    /// Empties the problem for a system with `dof` velocities.
    pub fn begin(&mut self, dof: usize) {
        self.restart(dof);
        self.rows.clear_dense(dof);
        self.delassus.clear();
    }

    /// Empties the problem for a system with `dof` velocities and sparse rows.
    pub fn begin_sparse(&mut self, dof: usize) {
        self.restart(dof);
        self.rows.clear_sparse(dof);
    }

    fn restart(&mut self, dof: usize) {
        self.dof = dof;
        self.velocity_free.clear();
        self.velocity_free.resize(dof, 0.0);
        self.responses.clear();
        self.operator = None;
        self.bias.clear();
        self.free.clear();
        self.blocks.clear();
        self.normal_stage = NormalStage::Inelastic;
    }

    /// Adds a block of `size` rows and returns them and its bias for writing.
    pub fn push(
        &mut self,
        key: ContactKey,
        size: usize,
        section: FrictionSection,
        flow_rule: FlowRule,
        kind: BlockKind,
    ) -> (&mut [f64], &mut [f64]) {
        let start = self.bias.len();
        self.blocks.push(ContactBlock {
            key,
            start,
            size,
            section,
            flow_rule,
            kind,
        });
        self.bias.resize(start + size, 0.0);
        (self.rows.push_dense(size), &mut self.bias[start..])
    }

    /// Adds a block whose rows are `rows[first..first + size]`.
    pub fn push_sparse(
        &mut self,
        block: ContactBlock,
        rows: &Covectors,
        first: usize,
    ) -> &mut [f64] {
        let (start, size) = (self.bias.len(), block.size);
        for i in first..first + size {
            self.rows.push_row_of(rows, i);
        }
        self.blocks.push(ContactBlock { start, ..block });
        self.bias.resize(start + size, 0.0);
        &mut self.bias[start..]
    }

    /// Computes `A⁻¹H` and `W` with the given solve, which replaces a vector b by A⁻¹ b.
    pub fn condense(&mut self, mut solve: impl FnMut(&mut [f64])) {
        let (n, m) = (self.dof, self.bias.len());
        self.delassus.resize(m * m, 0.0);
        self.condensed_generation = 0;
        self.responses.clear();
        if m == 0 {
            return;
        }
        if self.rows.is_sparse() {
            self.responses.resize(m * n, 0.0);
            for (i, response) in self.responses.chunks_mut(n.max(1)).enumerate() {
                self.rows.add_to(i, 1.0, response);
            }
        } else {
            self.responses.extend_from_slice(self.rows.dense_rows());
        }
        self.responses.chunks_mut(n.max(1)).for_each(&mut solve);
        for i in 0..m {
            for j in 0..=i {
                let entry = self.rows.dot(i, &self.responses[j * n..(j + 1) * n]);
                self.delassus[i * m + j] = entry;
                self.delassus[j * m + i] = entry;
            }
        }
    }

    /// Computes `W` of sparse rows from cached columns of A⁻¹; nothing is done when neither the
    /// rows nor the factor changed. `contact_dofs` are the degrees of freedom that rows of this
    /// system can touch.
    ///
    /// # Panics
    /// If the factor or the rows are dense.
    pub fn condense_sparse(&mut self, factor: &CholeskyFactor, contact_dofs: &[u32]) {
        let operator = factor.sparse().expect("a sparse factor");
        self.operator = Some(operator.clone());
        if self.condensed_generation == factor.generation() && self.condensed_rows == self.rows {
            return;
        }
        self.compliance.prepare(factor, contact_dofs, &self.rows);
        self.compliance.delassus(&self.rows, &mut self.delassus);
        self.condensed_rows.clone_from(&self.rows);
        self.condensed_generation = factor.generation();
    }

    /// Computes `q = Hᵀ v_free + bias` after the free velocity or the bias changed.
    pub fn refresh(&mut self) {
        self.free.resize(self.bias.len(), 0.0);
        for (i, free) in self.free.iter_mut().enumerate() {
            *free = self.rows.dot(i, &self.velocity_free) + self.bias[i];
        }
    }

    /// Number of generalized velocities.
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.bias.len()
    }

    /// The blocks.
    pub fn blocks(&self) -> &[ContactBlock] {
        &self.blocks
    }

    /// The blocks, for a scheme that changes laws between the stages of a step.
    pub fn blocks_mut(&mut self) -> &mut [ContactBlock] {
        &mut self.blocks
    }

    /// The rule of the generalized law, if the blocks follow it (all of them do or none).
    pub fn generalized_rule(&self) -> Option<&GeneralizedRule> {
        self.blocks.first()?.flow_rule.generalized()
    }

    /// How the generalized law determines normal impulses; other laws do not read it.
    pub fn normal_stage(&self) -> &NormalStage {
        &self.normal_stage
    }

    /// The normal stage, for writing; [`Self::begin`] makes it inelastic.
    pub fn normal_stage_mut(&mut self) -> &mut NormalStage {
        &mut self.normal_stage
    }

    /// Free velocity v_free.
    pub fn velocity_free(&self) -> &[f64] {
        &self.velocity_free
    }

    /// Free velocity, for writing; call [`Self::refresh`] afterwards.
    pub fn velocity_free_mut(&mut self) -> &mut [f64] {
        &mut self.velocity_free
    }

    /// Bias per row.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// Bias per row, for writing; call [`Self::refresh`] afterwards.
    pub fn bias_mut(&mut self) -> &mut [f64] {
        &mut self.bias
    }

    /// Row `i` of Hᵀ, of a problem with dense rows.
    pub fn row(&self, i: usize) -> &[f64] {
        self.rows.dense(i)
    }

    /// The rows of Hᵀ.
    pub fn rows(&self) -> &Covectors {
        &self.rows
    }

    /// `(Hᵀ v)_i`.
    #[inline]
    pub fn row_dot(&self, i: usize, v: &[f64]) -> f64 {
        self.rows.dot(i, v)
    }

    /// Adds the generalized impulse of `p` in row `i`.
    #[inline]
    pub fn row_add(&self, i: usize, p: f64, out: &mut [f64]) {
        self.rows.add_to(i, p, out);
    }

    /// Generalized velocity `A⁻¹ H e_i` caused by a unit impulse in row `i` (not kept by
    /// [`Self::condense_sparse`]).
    pub fn response(&self, i: usize) -> &[f64] {
        &self.responses[i * self.dof..(i + 1) * self.dof]
    }

    /// The Delassus matrix W, row-major.
    pub fn delassus(&self) -> &[f64] {
        &self.delassus
    }

    /// The local free velocity q.
    pub fn free(&self) -> &[f64] {
        &self.free
    }

    /// Writes `w = W p + q`.
    pub fn local_velocity(&self, impulse: &[f64], out: &mut [f64]) {
        let m = self.size();
        for (i, o) in out.iter_mut().enumerate() {
            *o = self.free[i] + dot(&self.delassus[i * m..(i + 1) * m], impulse);
        }
    }

    /// Writes `v = v_free + A⁻¹ H p`.
    pub fn velocity(&self, impulse: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.velocity_free);
        if let Some(operator) = &self.operator {
            if impulse.iter().all(|&p| p == 0.0) {
                return;
            }
            let mut response = vec![0.0; self.dof];
            for (i, &p) in impulse.iter().enumerate() {
                self.rows.add_to(i, p, &mut response);
            }
            operator.solve_in_place(&mut response);
            for (o, r) in out.iter_mut().zip(&response) {
                *o += r;
            }
            return;
        }
        for (response, &p) in self.responses.chunks(self.dof.max(1)).zip(impulse) {
            if p != 0.0 {
                for (o, r) in out.iter_mut().zip(response) {
                    *o += p * r;
                }
            }
        }
    }
}
