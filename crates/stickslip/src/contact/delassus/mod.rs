//! The Delassus operator W in the form that the system has.
//!
//! W maps impulses to the local velocities they cause. Small systems store it densely, problems from files by blocks, worlds of
//! bodies never assemble it: [`BodyOperator`] keeps what a contact does to its two bodies. One set of questions serves
//! all forms: product, row product, entry, diagonal block, dense copy for studies.

mod bodies;
mod body_form;
mod dense;

use std::borrow::Cow;
use std::ops::Range;

use crate::algebra::block_sparse::BlockSparse;
use crate::algebra::sparse_rows::SparseRows;

pub use bodies::{BodyOperator, NO_BODY};
pub(crate) use bodies::{BodyRows, ByContact};
pub use body_form::{BodyForm, BodyLink};
pub use dense::DenseDelassus;

/// W in one of its forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Delassus {
    /// All entries, row-major: few contacts, or contacts of a mesh or of a mechanism with joints.
    Dense(DenseDelassus),
    /// Blocks of one size by block rows, with the bodies behind them where they are known.
    Blocks(Box<BlockDelassus>),
    /// Over whitened body velocities, W = J Jᵀ, never assembled: worlds of bodies.
    Bodies(Box<BodyOperator>),
}

/// Block-sparse W and the bodies behind it, where known.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDelassus {
    /// W.
    pub matrix: BlockSparse,
    /// Mass and jacobian of W = Hᵀ M⁻¹ H, where M is block-diagonal with small blocks.
    pub bodies: Option<BodyForm>,
}

/// What a sweep remembers besides its impulses: the velocities they give to the bodies, where W is not assembled.
#[derive(Clone, Debug, Default)]
pub struct SweepVelocity {
    bodies: Vec<f64>,
}

impl SweepVelocity {
    /// The velocities of all bodies.
    pub(crate) fn of_bodies(&self) -> &[f64] {
        &self.bodies
    }
}

impl Default for Delassus {
    fn default() -> Self {
        Self::Dense(DenseDelassus::default())
    }
}

impl Delassus {
    /// Number of rows.
    pub fn order(&self) -> usize {
        match self {
            Self::Dense(w) => w.order(),
            Self::Blocks(w) => w.matrix.block_size() * w.matrix.blocks(),
            Self::Bodies(w) => w.rows(),
        }
    }

    /// Entry in row `i`, column `j`.
    #[inline]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(w) => w.entry(i, j),
            Self::Blocks(w) => w.matrix.entry(i, j),
            Self::Bodies(w) => w.entry(i, j),
        }
    }

    /// Prepares a sweep that starts at the impulses `p`.
    #[doc(hidden)]
    #[inline]
    pub fn begin_sweep(&self, p: &[f64], memory: &mut SweepVelocity) {
        if let Self::Bodies(w) = self {
            memory.bodies.clear();
            memory.bodies.resize(w.bodies() * w.freedoms(), 0.0);
            w.add_velocity(p, &mut memory.bodies);
        }
    }

    /// Appends `q_i + Σ_j W_ij p_j` over the columns j outside `rows`, for the rows i of one contact.
    #[doc(hidden)]
    pub fn velocity_of_others(
        &self,
        rows: Range<usize>,
        p: &[f64],
        q: &[f64],
        memory: &SweepVelocity,
        out: &mut Vec<f64>,
    ) {
        for i in rows.clone() {
            let mut sum = q[i];
            match self {
                Self::Dense(w) => {
                    let row = w.row(i);
                    for others in [0..rows.start, rows.end..row.len()] {
                        for (w, p) in row[others.clone()].iter().zip(&p[others]) {
                            sum += w * p;
                        }
                    }
                }
                Self::Blocks(w) => {
                    let d = w.matrix.block_size();
                    for (block, values) in w.matrix.row(i / d) {
                        for c in 0..d {
                            if !rows.contains(&(d * block + c)) {
                                sum += values[d * c + i % d] * p[d * block + c];
                            }
                        }
                    }
                }
                Self::Bodies(w) => {
                    sum += w.row_product(i, &memory.bodies);
                    for j in rows.clone() {
                        sum -= w.entry(i, j) * p[j];
                    }
                }
            }
            out.push(sum);
        }
    }

    /// Tells the sweep that the impulse of row `i` has changed.
    #[doc(hidden)]
    #[inline]
    pub fn update_sweep(&self, i: usize, change: f64, memory: &mut SweepVelocity) {
        if let Self::Bodies(w) = self
            && change != 0.0
        {
            w.add_row(i, change, &mut memory.bodies);
        }
    }

    /// Writes `W p + q`.
    pub fn multiply_plus(&self, p: &[f64], q: &[f64], out: &mut [f64]) {
        self.multiply_plus_with(p, q, out, &mut SweepVelocity::default());
    }

    /// Writes `W p + q` without allocating once `memory` is warm.
    #[doc(hidden)]
    pub fn multiply_plus_with(
        &self,
        p: &[f64],
        q: &[f64],
        out: &mut [f64],
        memory: &mut SweepVelocity,
    ) {
        match self {
            Self::Dense(w) => w.multiply_plus(p, q, out),
            Self::Blocks(w) => w.matrix.multiply_plus(p, q, out),
            Self::Bodies(w) => {
                out.copy_from_slice(q);
                w.multiply_add(p, out, &mut memory.bodies);
            }
        }
    }

    /// Writes `W p + q` and the sizes `|W||p| + |q|` of the terms that round in it.
    pub fn multiply_plus_with_sizes(
        &self,
        p: &[f64],
        q: &[f64],
        out: &mut [f64],
        sizes: &mut [f64],
    ) {
        match self {
            Self::Dense(w) => w.multiply_plus_with_sizes(p, q, out, sizes),
            Self::Blocks(w) => w.matrix.multiply_plus_with_sizes(p, q, out, sizes),
            Self::Bodies(w) => w.multiply_plus_with_sizes(p, q, out, sizes),
        }
    }

    /// Appends the diagonal block of the given rows to `out`, row-major.
    pub fn diagonal_block(&self, rows: Range<usize>, out: &mut Vec<f64>) {
        for i in rows.clone() {
            match self {
                Self::Dense(w) => out.extend_from_slice(&w.row(i)[rows.clone()]),
                Self::Blocks(_) | Self::Bodies(_) => {
                    out.extend(rows.clone().map(|j| self.entry(i, j)));
                }
            }
        }
    }

    /// All entries, row-major, where they are kept.
    #[inline]
    pub fn entries(&self) -> Option<&[f64]> {
        match self {
            Self::Dense(w) => Some(w.entries()),
            Self::Blocks(_) | Self::Bodies(_) => None,
        }
    }

    /// Sum of the diagonal entries of the given rows.
    pub fn trace(&self, rows: Range<usize>) -> f64 {
        match self {
            Self::Dense(w) => rows.map(|i| w.entry(i, i)).sum(),
            Self::Bodies(w) => rows.map(|i| w.square(i)).sum(),
            _ => rows.map(|i| self.entry(i, i)).sum(),
        }
    }

    /// All entries, row-major; a copy unless W is dense.
    pub fn dense(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Dense(w) => Cow::Borrowed(w.entries()),
            Self::Blocks(w) => Cow::Owned(w.matrix.to_dense()),
            Self::Bodies(w) => Cow::Owned(w.dense()),
        }
    }

    /// The entries that are not zero.
    pub fn to_rows(&self) -> SparseRows {
        match self {
            Self::Dense(w) => SparseRows::from_dense(w.order(), w.order(), w.entries()),
            Self::Blocks(w) => w.matrix.to_rows(),
            Self::Bodies(w) => match w.blocks() {
                Some(blocks) => blocks.to_rows(),
                None => SparseRows::from_dense(w.rows(), w.rows(), &w.dense()),
            },
        }
    }

    /// The blocks, where that is the form.
    #[doc(hidden)]
    pub fn blocks(&self) -> Option<&BlockSparse> {
        match self {
            Self::Blocks(w) => Some(&w.matrix),
            _ => None,
        }
    }

    /// The operator over bodies, where that is the form.
    #[doc(hidden)]
    pub fn bodies(&self) -> Option<&BodyOperator> {
        match self {
            Self::Bodies(w) => Some(w),
            _ => None,
        }
    }

    /// The bodies behind the blocks, where known.
    #[doc(hidden)]
    pub fn body_form(&self) -> Option<&BodyForm> {
        match self {
            Self::Blocks(w) => w.bodies.as_ref(),
            _ => None,
        }
    }
}
