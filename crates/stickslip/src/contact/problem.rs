//! The one-step contact problem.

use crate::algebra::dot;
use crate::laws::{FlowRule, FrictionSection};

use super::{BlockKind, ContactBlock, ContactId};

/// All a solver sees: `w = W p + q`, and a law per block.
///
/// With the factored operator A of the step, rows `Hᵀ` and free velocity `v_free`:
/// `v = v_free + A⁻¹ H p`, `w = Hᵀ v + bias`, hence `W = Hᵀ A⁻¹ H` and `q = Hᵀ v_free + bias`.
/// A block obeys `−(w + s d) ∈ N_K(p)`, `K = {p_T ∈ p_N D}`. Coulomb: `d = n`,
/// `s = σ_D(−w_T)`. Kinetic projection: `d = W n`, `s` the multiplier of `w_N = 0`.
///
/// The type is a reusable buffer: [`Self::begin`], [`Self::push`], [`Self::condense`] per step,
/// without allocation once warm.
#[derive(Clone, Debug, Default)]
pub struct OneStepContactProblem {
    dof: usize,
    velocity_free: Vec<f64>,
    rows: Vec<f64>,
    responses: Vec<f64>,
    bias: Vec<f64>,
    free: Vec<f64>,
    delassus: Vec<f64>,
    blocks: Vec<ContactBlock>,
}

impl OneStepContactProblem {
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
        self.dof = dof;
        self.velocity_free.clear();
        self.velocity_free.resize(dof, 0.0);
        self.rows.clear();
        self.responses.clear();
        self.bias.clear();
        self.free.clear();
        self.delassus.clear();
        self.blocks.clear();
    }

    /// Adds a block of `size` rows and returns them and its bias for writing.
    pub fn push(
        &mut self,
        id: ContactId,
        size: usize,
        section: FrictionSection,
        flow_rule: FlowRule,
        kind: BlockKind,
    ) -> (&mut [f64], &mut [f64]) {
        let start = self.bias.len();
        self.blocks.push(ContactBlock {
            id,
            start,
            size,
            section,
            flow_rule,
            kind,
        });
        self.bias.resize(start + size, 0.0);
        self.rows.resize((start + size) * self.dof, 0.0);
        (&mut self.rows[start * self.dof..], &mut self.bias[start..])
    }

    /// Computes `A⁻¹H` and `W` with the given solve, which replaces a vector b by A⁻¹ b.
    pub fn condense(&mut self, mut solve: impl FnMut(&mut [f64])) {
        let (n, m) = (self.dof, self.bias.len());
        self.responses.clear();
        self.responses.extend_from_slice(&self.rows);
        for response in self.responses.chunks_mut(n) {
            solve(response);
        }
        self.delassus.resize(m * m, 0.0);
        for i in 0..m {
            for j in 0..=i {
                let entry = dot(
                    &self.rows[i * n..(i + 1) * n],
                    &self.responses[j * n..(j + 1) * n],
                );
                self.delassus[i * m + j] = entry;
                self.delassus[j * m + i] = entry;
            }
        }
    }

    /// Computes `q = Hᵀ v_free + bias` after the free velocity or the bias changed.
    pub fn refresh(&mut self) {
        let (n, m) = (self.dof, self.bias.len());
        self.free.resize(m, 0.0);
        for i in 0..m {
            self.free[i] = dot(&self.rows[i * n..(i + 1) * n], &self.velocity_free) + self.bias[i];
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

    /// Row `i` of Hᵀ.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dof..(i + 1) * self.dof]
    }

    /// Generalized velocity `A⁻¹ H e_i` caused by a unit impulse in row `i`.
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
        for (response, &p) in self.responses.chunks(self.dof.max(1)).zip(impulse) {
            if p != 0.0 {
                for (o, r) in out.iter_mut().zip(response) {
                    *o += p * r;
                }
            }
        }
    }
}
