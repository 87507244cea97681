//! The contact problem: of a step, of a file, of arrays.

use std::borrow::Cow;
use std::sync::Arc;

use crate::algebra::sparse_cholesky::SparseCholesky;
use crate::algebra::{
    CholeskyFactor, Compliance, Covectors, add_scaled, assign, assign_zeros, copy, largest_size,
};
use crate::laws::{FlowRule, FrictionSection, GeneralizedRule};
use crate::parallel::{Part, share};

#[cfg(doc)]
use super::delassus::BodyOperator;
use super::delassus::{BodyRows, ByContact, Delassus, DenseDelassus};
use super::{BlockKind, ContactBlock, ContactKey, NormalStage, SPEED_ROUNDING};

/// A coupling of normal and tangent below this part of their own entries is rounding (of arms far from the origin, too).
const UNCOUPLED: f64 = 1e-11;

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
/// velocity costs one solve instead of stored responses. Worlds of bodies use [`Self::begin_bodies`] and
/// [`Self::push_bodies`]: W is never assembled.
///
/// ```
/// use stickslip::contact::ContactProblem;
///
/// // Two rows per contact, normal first: a unit mass on a floor with μ = 0.5.
/// let problem = ContactProblem::coulomb_from_dense(2, &[1.0, 0.0, 0.0, 1.0], vec![-1.0, 3.0], vec![0.5])?;
/// let mut after = [0.0; 2];
/// problem.local_velocity(&[1.0, -0.5], &mut after);
/// assert_eq!(after, [0.0, 2.5]);
/// # Ok::<(), stickslip::contact::ContactProblemError>(())
/// ```
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
    delassus: Delassus,
    blocks: Vec<ContactBlock>,
    normal_stage: NormalStage,
    /// Velocities up to this are rounding of the speeds that the run of the problem has seen, or what its solver leaves of them; zero where nothing is known of one.
    noise: f64,
}

/// Some blocks of a problem over bodies, for writing.
pub(crate) struct BodyFill<'a> {
    pub(crate) velocity_free: &'a [f64],
    pub(crate) rows: BodyRows<'a>,
    pub(crate) bias: ByContact<'a, f64>,
    free: ByContact<'a, f64>,
}

impl BodyFill<'_> {
    /// Sets q of a contact from J v_free and its bias.
    #[inline]
    pub(crate) fn set_free(&mut self, contact: usize, moved: &[f64]) {
        let bias = self.bias.of(contact);
        for ((free, bias), moved) in self.free.of(contact).iter_mut().zip(bias).zip(moved) {
            *free = moved + *bias;
        }
    }
}

impl Part for BodyFill<'_> {
    fn cut(self, at: usize) -> (Self, Self) {
        let (rows, later_rows) = self.rows.cut(at);
        let (bias, later_bias) = self.bias.cut(at);
        let (free, later_free) = self.free.cut(at);
        let of = |rows, bias, free| Self {
            velocity_free: self.velocity_free,
            rows,
            bias,
            free,
        };
        (of(rows, bias, free), of(later_rows, later_bias, later_free))
    }
}

impl ContactProblem {
    /// Problem in local form, `w = W p + q`; there is no generalized velocity.
    ///
    /// # Panics
    /// If W has not the order of q or the blocks do not cover all rows.
    pub(crate) fn from_local(
        delassus: Delassus,
        free: Vec<f64>,
        blocks: Vec<ContactBlock>,
    ) -> Self {
        let size = free.len();
        assert_eq!(delassus.order(), size, "W has the order of q");
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

    /// Problem in local form with a dense row-major W.
    ///
    /// # Panics
    /// As [`Self::from_local`].
    pub fn from_dense(delassus: Vec<f64>, free: Vec<f64>, blocks: Vec<ContactBlock>) -> Self {
        let dense = DenseDelassus::new(free.len(), delassus);
        Self::from_local(Delassus::Dense(dense), free, blocks)
    }

    /// Empties the problem for a system with `dof` velocities.
    pub fn begin(&mut self, dof: usize) {
        self.restart(dof);
        self.rows.clear_dense(dof);
        if let Delassus::Dense(dense) = &mut self.delassus {
            dense.resize(0);
        }
    }

    /// Empties the problem for a system with `dof` velocities and sparse rows.
    pub(crate) fn begin_sparse(&mut self, dof: usize) {
        self.restart(dof);
        self.rows.clear_sparse(dof);
    }

    /// Empties the problem for a world of `bodies` bodies with `freedoms` freedoms each (6 in space, 3 in the plane); the
    /// velocity is that of [`BodyOperator`], whitened.
    pub(crate) fn begin_bodies(&mut self, freedoms: usize, bodies: usize) {
        self.restart(freedoms * bodies);
        self.rows.clear_dense(0);
        if !matches!(self.delassus, Delassus::Bodies(_)) {
            self.delassus = Delassus::Bodies(Box::default());
        }
        if let Delassus::Bodies(operator) = &mut self.delassus {
            operator.begin(freedoms, bodies);
        }
    }

    /// Adds a block of a contact between two bodies and returns its rows (per row the numbers of side a, then of side b,
    /// zero as yet) and its bias for writing; `start` of the block is set here.
    ///
    /// # Panics
    /// If the problem was not begun by [`Self::begin_bodies`].
    #[inline]
    pub(crate) fn push_bodies(
        &mut self,
        block: ContactBlock,
        sides: [u32; 2],
    ) -> (&mut [f64], &mut [f64]) {
        let (start, size) = (self.bias.len(), block.size);
        self.blocks.push(ContactBlock { start, ..block });
        self.bias.resize(start + size, 0.0);
        let Delassus::Bodies(operator) = &mut self.delassus else {
            panic!("a problem over bodies");
        };
        (operator.push(size, sides), &mut self.bias[start..])
    }

    /// Adds a block of a contact between two bodies whose rows, all numbers of them, and bias are written later through
    /// [`Self::fill_bodies`]; `start` of the block is its own.
    #[inline]
    pub(crate) fn announce_bodies(&mut self, block: ContactBlock, sides: [u32; 2]) {
        let size = self.bias.len() + block.size;
        self.bias.resize(size, 0.0);
        if let Delassus::Bodies(operator) = &mut self.delassus {
            operator.announce(block.size, sides);
        }
        self.blocks.push(block);
    }

    /// Rows, bias and free velocity of all blocks over bodies, for writing in parts.
    ///
    /// # Panics
    /// If the problem was not begun by [`Self::begin_bodies`].
    pub(crate) fn fill_bodies(&mut self) -> BodyFill<'_> {
        let Delassus::Bodies(operator) = &mut self.delassus else {
            panic!("a problem over bodies");
        };
        let rows = operator.rows_mut();
        self.free.resize(self.bias.len(), 0.0);
        BodyFill {
            velocity_free: &self.velocity_free,
            free: rows.numbers_by_contact(&mut self.free),
            bias: rows.numbers_by_contact(&mut self.bias),
            rows,
        }
    }

    fn restart(&mut self, dof: usize) {
        self.dof = dof;
        assign_zeros(&mut self.velocity_free, dof);
        self.responses.clear();
        if self.operator.is_some() {
            self.operator = None;
        }
        self.bias.clear();
        self.free.clear();
        self.blocks.clear();
        if !matches!(self.normal_stage, NormalStage::Inelastic) {
            self.normal_stage = NormalStage::Inelastic;
        }
    }

    /// Tells up to which velocity nothing moves in the run.
    pub(crate) fn set_noise(&mut self, velocity: f64) {
        self.noise = velocity;
    }

    /// Velocities up to this are zero: those that are none in the run, or rounding of its own free velocities.
    pub(crate) fn noise(&self) -> f64 {
        self.noise
            .max(SPEED_ROUNDING * largest_size(0.0, &self.free))
    }

    /// Free velocities without rounding.
    pub(crate) fn heard_free(&self) -> impl Fn(usize) -> f64 + '_ {
        let noise = self.noise();
        move |row| {
            let free = self.free[row];
            if free.abs() <= noise { 0.0 } else { free }
        }
    }

    /// Whether nothing moves without impulses, but for rounding.
    pub(crate) fn is_at_rest(&self) -> bool {
        let heard = self.heard_free();
        (0..self.size()).all(|row| heard(row) == 0.0)
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
    #[doc(hidden)]
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
        self.condensed_generation = 0;
        if !matches!(self.delassus, Delassus::Dense(_)) {
            self.delassus = Delassus::default();
        }
        let Delassus::Dense(dense) = &mut self.delassus else {
            unreachable!("made dense above");
        };
        let entries = dense.resize(m);
        if self.rows.is_sparse() {
            assign_zeros(&mut self.responses, m * n);
            for (i, response) in self.responses.chunks_mut(n.max(1)).enumerate() {
                self.rows.add_to(i, 1.0, response);
            }
        } else {
            assign(&mut self.responses, self.rows.dense_rows());
        }
        for (j, response) in self.responses.chunks_mut(n.max(1)).enumerate() {
            solve(response);
            for i in j..m {
                let entry = self.rows.dot(i, response);
                entries[i * m + j] = entry;
                entries[j * m + i] = entry;
            }
        }
    }

    /// The dense form, for writing.
    fn dense_mut(&mut self) -> &mut DenseDelassus {
        if !matches!(self.delassus, Delassus::Dense(_)) {
            self.delassus = Delassus::default();
        }
        match &mut self.delassus {
            Delassus::Dense(dense) => dense,
            _ => unreachable!("made dense above"),
        }
    }

    /// Computes `W` of sparse rows from cached columns of A⁻¹; nothing is done when neither the
    /// rows nor the factor changed. `contact_dofs` are the degrees of freedom that rows of this
    /// system can touch.
    ///
    /// # Panics
    /// If the factor or the rows are dense.
    #[doc(hidden)]
    pub fn condense_sparse(&mut self, factor: &CholeskyFactor, contact_dofs: &[u32]) {
        let operator = factor.sparse().expect("a sparse factor");
        self.operator = Some(operator.clone());
        if self.condensed_generation == factor.generation() && self.condensed_rows == self.rows {
            return;
        }
        self.compliance.prepare(factor, contact_dofs, &self.rows);
        let mut dense = std::mem::take(self.dense_mut());
        let entries = dense.resize(self.rows.len());
        self.compliance.delassus(&self.rows, entries);
        self.delassus = Delassus::Dense(dense);
        self.condensed_rows.clone_from(&self.rows);
        self.condensed_generation = factor.generation();
    }

    /// Computes `q = Hᵀ v_free + bias` after the free velocity or the bias changed.
    pub fn refresh(&mut self) {
        if matches!(self.delassus, Delassus::Bodies(_)) {
            let fill = self.fill_bodies();
            let contacts = fill.rows.contacts();
            share(fill, contacts, |_, mut part| {
                for contact in 0..part.rows.contacts() {
                    let moved = part.rows.read(contact, part.velocity_free);
                    part.set_free(contact, &moved);
                }
            });
            return;
        }
        self.free.clear();
        for (i, bias) in self.bias.iter().enumerate() {
            let free = self.rows.dot(i, &self.velocity_free) + bias;
            self.free.push(free);
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

    /// States Moreau's S as Coulomb's law at every block where both have the same solutions, so that every method can be used: with
    /// W_nt = 0, and with one tangent where W_nn + f W_nt > 0 for both ends f of the section. W must be condensed.
    pub(crate) fn unify_flow_rules(&mut self) {
        for k in 0..self.blocks.len() {
            let block = &self.blocks[k];
            if block.flow_rule == FlowRule::KineticProjection && self.rules_agree(block) {
                self.blocks[k].flow_rule = FlowRule::Coulomb;
            }
        }
    }

    /// Whether Coulomb's rule and the kinetic projection have the same solutions at a block, whatever the others do.
    fn rules_agree(&self, block: &ContactBlock) -> bool {
        let n = block.start;
        let normal = self.w(n, n);
        let uncoupled = block
            .range()
            .skip(1)
            .all(|t| self.w(t, n).abs() <= UNCOUPLED * (normal * self.w(t, t)).sqrt());
        uncoupled
            || (block.size == 2
                && block.section.ends().is_some_and(|(lower, upper)| {
                    let coupling = self.w(n, n + 1);
                    [lower, upper]
                        .iter()
                        .all(|f| normal + f * coupling > UNCOUPLED * normal)
                }))
    }

    /// The rule of the generalized law, if the blocks follow it (all of them do or none).
    pub(crate) fn generalized_rule(&self) -> Option<&GeneralizedRule> {
        self.blocks.first()?.flow_rule.generalized()
    }

    /// How the generalized law determines normal impulses; other laws do not read it.
    #[doc(hidden)]
    pub fn normal_stage(&self) -> &NormalStage {
        &self.normal_stage
    }

    /// The normal stage, for writing; [`Self::begin`] makes it inelastic.
    #[doc(hidden)]
    pub fn normal_stage_mut(&mut self) -> &mut NormalStage {
        &mut self.normal_stage
    }

    /// Free velocity v_free.
    pub(crate) fn velocity_free(&self) -> &[f64] {
        &self.velocity_free
    }

    /// Free velocity, for writing; call [`Self::refresh`] afterwards.
    pub fn velocity_free_mut(&mut self) -> &mut [f64] {
        &mut self.velocity_free
    }

    /// Bias per row.
    pub(crate) fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// Bias per row, for writing; call [`Self::refresh`] afterwards.
    pub(crate) fn bias_mut(&mut self) -> &mut [f64] {
        &mut self.bias
    }

    /// Row `i` of Hᵀ, of a problem with dense rows.
    pub fn row(&self, i: usize) -> &[f64] {
        self.rows.dense(i)
    }

    /// The rows of Hᵀ.
    #[doc(hidden)]
    pub fn rows(&self) -> &Covectors {
        &self.rows
    }

    /// `(Hᵀ v)_i`.
    #[inline]
    pub(crate) fn row_dot(&self, i: usize, v: &[f64]) -> f64 {
        self.rows.dot(i, v)
    }

    /// `(Hᵀ v)_i` for several v.
    #[inline]
    pub(crate) fn row_dots<const N: usize>(&self, i: usize, v: [&[f64]; N]) -> [f64; N] {
        self.rows.dots(i, v)
    }

    /// The factor of row `i` as a multiple of row `j` of a list of covectors of the same kind, dense or sparse; none where that
    /// is zero.
    #[inline]
    pub(crate) fn row_multiple(&self, i: usize, covectors: &Covectors, j: usize) -> Option<f64> {
        self.rows.multiple_of(i, covectors, j)
    }

    /// Adds the generalized impulse of `p` in row `i`.
    #[inline]
    pub(crate) fn row_add(&self, i: usize, p: f64, out: &mut [f64]) {
        self.rows.add_to(i, p, out);
    }

    /// Generalized velocity `A⁻¹ H e_i` caused by a unit impulse in row `i` (not kept by
    /// [`Self::condense_sparse`]).
    #[inline]
    pub(crate) fn response(&self, i: usize) -> &[f64] {
        &self.responses[i * self.dof..(i + 1) * self.dof]
    }

    /// The Delassus operator W.
    #[doc(hidden)]
    pub fn delassus(&self) -> &Delassus {
        &self.delassus
    }

    pub(super) fn delassus_mut(&mut self) -> &mut Delassus {
        &mut self.delassus
    }

    /// Entry of W in row `i`, column `j`.
    #[inline]
    pub fn w(&self, i: usize, j: usize) -> f64 {
        self.delassus.entry(i, j)
    }

    /// All entries of W, row-major, for studies of few contacts; a copy unless W is dense.
    pub fn dense(&self) -> Cow<'_, [f64]> {
        self.delassus.dense()
    }

    /// The local free velocity q.
    pub fn free(&self) -> &[f64] {
        &self.free
    }

    /// Writes `w = W p + q`.
    pub fn local_velocity(&self, impulse: &[f64], out: &mut [f64]) {
        self.delassus.multiply_plus(impulse, &self.free, out);
    }

    /// Writes `v = v_free + A⁻¹ H p`.
    pub fn velocity(&self, impulse: &[f64], out: &mut [f64]) {
        copy(out, &self.velocity_free);
        if let Delassus::Bodies(operator) = &self.delassus {
            operator.add_velocity(impulse, out);
            return;
        }
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
        for (i, &p) in impulse.iter().enumerate() {
            if p != 0.0 {
                add_scaled(out, p, self.response(i));
            }
        }
    }
}
