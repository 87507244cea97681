//! The two kernels everything iterative is made of: the product u = W x + q and the damped
//! exact Gauss-Seidel sweep, in a portable version and one with AVX2 and FMA chosen at run time.
//!
//! # What it computes
//!
//! The sweep visits the contacts in storage order. With u_i = (W x + q)_i at the current x it replaces
//! x_i by the exact solution of the contact alone with the block W_ii + α_i I and the velocity
//! u_i − (W_ii + α_i I) x_i. α_i is a proximal weight around the value before the visit; it does not
//! change the solutions. It grows where a contact flips back and forth and decays elsewhere.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law; the layout and the damping are our own.
//!
//! # Guarantees
//!
//! The portable and the vector version differ by rounding only; each is deterministic.
//!
//! # Behaviour to know
//!
//! Without damping the sweep cycles where μ|W_NT| exceeds W_NN (cubes with μ = 1.5 stay at 5e-2).
//!
//! # Cost
//!
//! 76 bytes of W per block are read once; the exact local solution adds 10 to 60 ns per contact that is not open.
//!
//! # Tested by
//!
//! Tests below, `crates/stickslip/tests/solver_suite.rs`.

// Small fixed loops over several arrays at once read best with an index.
#![allow(clippy::needless_range_loop)]

use super::one_contact::coulomb_disc::{DiscOutcome, PreparedDisc};
use super::scaled_problem::ScaledProblem;

/// Numbers of W fetched ahead of their use.
const AHEAD: usize = 384;

/// Largest proximal weight.
const LARGEST_DAMPING: f64 = 10.0;

/// What the sweep remembers of one contact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactState {
    prepared: PreparedDisc,
    lambda: f64,
    /// Proximal weight, and the one the block was prepared with.
    damping: f64,
    prepared_damping: f64,
    /// Change of the last visit.
    change: [f64; 3],
    /// Visits in a row that changed nothing.
    idle: u32,
}

impl ContactState {
    /// Whether the contact stayed put three times in a row.
    #[inline(always)]
    pub(crate) fn is_frozen(&self) -> bool {
        self.idle >= 3
    }

    /// State before the first visit.
    pub(crate) fn new(problem: &ScaledProblem, i: usize) -> Self {
        Self {
            prepared: PreparedDisc::new(&problem.diagonal[i], problem.mu[i], 0.0),
            ..Self::default()
        }
    }
}

/// Memory of the sweep over all contacts.
#[derive(Clone, Debug)]
pub struct SweepMemory {
    contacts: Vec<ContactState>,
    sweeps: u32,
}

impl SweepMemory {
    /// Prepares all contacts without damping.
    pub fn new(problem: &ScaledProblem) -> Self {
        let contacts = (0..problem.contacts())
            .map(|i| ContactState::new(problem, i))
            .collect();
        Self {
            contacts,
            sweeps: 0,
        }
    }
}

/// Sums a sweep returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweepSums {
    /// Σ min(s², 1/s²) |x − y|², y the value before the visit: an estimate of the squared error.
    pub change: f64,
    /// Σ (y − x)·(x − x_prev), positive when the momentum points the wrong way.
    pub against: f64,
}

/// Which instructions the kernels use. Vector ones can only be had from
/// [`Instructions::detect`], which has found them on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    avx2: bool,
}

impl Instructions {
    /// Plain code, the same on every machine.
    pub fn portable() -> Self {
        Self { avx2: false }
    }

    /// Whether AVX2 and FMA may be used.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_avx2(self) -> bool {
        self.avx2
    }

    /// The best the machine offers.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let avx2 = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        Self { avx2 }
    }
}

/// u = W x + q.
pub fn product(problem: &ScaledProblem, how: Instructions, x: &[f64], u: &mut [f64]) {
    multiply(problem, how, x, u);
    for (u, q) in u.iter_mut().zip(&problem.q) {
        *u += q;
    }
}

/// u = W x. Never taken as a difference of two products: near a solution that would lose all digits.
pub fn multiply(problem: &ScaledProblem, how: Instructions, x: &[f64], u: &mut [f64]) {
    check(problem, x);
    assert_eq!(u.len(), x.len(), "one velocity per impulse");
    #[cfg(target_arch = "x86_64")]
    if how.avx2 {
        // SAFETY: the flag is only set by `detect`, after both features were found;
        // `check` has established what `row_avx2` relies on.
        return unsafe { multiply_avx2(problem, x, u) };
    }
    let _ = how;
    multiply_body(problem, x, u, |i, x| row_portable(problem, i, x));
}

/// One damped exact Gauss-Seidel sweep, in place on `x`, which holds the start y; `previous` is the
/// result of the sweep before.
pub fn sweep(
    problem: &ScaledProblem,
    how: Instructions,
    memory: &mut SweepMemory,
    x: &mut [f64],
    previous: &[f64],
) -> SweepSums {
    check(problem, x);
    assert_eq!(previous.len(), x.len(), "previous iterate of the same size");
    assert_eq!(
        memory.contacts.len(),
        problem.contacts(),
        "memory of this problem"
    );
    #[cfg(target_arch = "x86_64")]
    if how.avx2 {
        // SAFETY: as in `product`.
        return unsafe { sweep_avx2(problem, memory, x, previous) };
    }
    sweep_body(problem, memory, x, previous, |i, x| {
        row_portable(problem, i, x)
    })
}

/// What the unchecked kernels rely on; cheap beside a sweep, except for the columns, which
/// `ScaledProblem` copies from a block-sparse matrix that only holds valid ones.
fn check(problem: &ScaledProblem, x: &[f64]) {
    let n = problem.contacts();
    assert_eq!(x.len(), 3 * n, "three numbers per contact");
    assert_eq!(problem.row_start.len(), n + 1, "one row per contact");
    assert_eq!(
        problem.value.len(),
        9 * problem.column.len() + 1,
        "nine numbers per block and a spare one"
    );
    assert_eq!(
        problem.row_start[n] as usize,
        problem.column.len(),
        "rows end at the last block"
    );
}

#[inline(always)]
fn row_portable(problem: &ScaledProblem, i: usize, x: &[f64]) -> [f64; 3] {
    let (start, end) = (
        problem.row_start[i] as usize,
        problem.row_start[i + 1] as usize,
    );
    let mut sum = [0.0; 3];
    let blocks = problem.value[9 * start..9 * end].chunks_exact(9);
    for (&j, block) in problem.column[start..end].iter().zip(blocks) {
        let x = &x[3 * j as usize..3 * j as usize + 3];
        for k in 0..3 {
            sum[k] += block[k] * x[0] + block[3 + k] * x[1] + block[6 + k] * x[2];
        }
    }
    sum
}

/// Row i of W x with four-lane loads; lane 3 of each load is the first number of the next column and
/// ignored.
///
/// # Safety
/// `check` holds, every column index is below the number of contacts and row pointers do not decrease
/// (both by construction of [`ScaledProblem`]), and `i` is a row; `x` points to three numbers per contact, none
/// of those that row i reads being written meanwhile.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) unsafe fn row_avx2(problem: &ScaledProblem, i: usize, x: *const f64) -> [f64; 3] {
    use std::arch::x86_64::*;
    // SAFETY: row pointers lie within `column` and `value`; block k occupies numbers 9k..9k+9 and its
    // last load ends at 9k + 9, which exists because of the spare number; columns lie below
    // the number of contacts, so that x[3j..3j+3] exists.
    unsafe {
        let start = *problem.row_start.get_unchecked(i) as usize;
        let end = *problem.row_start.get_unchecked(i + 1) as usize;
        let values = problem.value.as_ptr();
        let columns = problem.column.as_ptr();
        let mut a = [_mm256_setzero_pd(); 3];
        let mut b = [_mm256_setzero_pd(); 3];
        let mut k = start;
        while k + 1 < end {
            let (v0, v1) = (values.add(9 * k), values.add(9 * k + 9));
            // The hardware stops at the end of a page; a prefetch never faults.
            _mm_prefetch::<_MM_HINT_T0>(v0.wrapping_add(AHEAD).cast());
            _mm_prefetch::<_MM_HINT_T0>(v0.wrapping_add(AHEAD + 8).cast());
            _mm_prefetch::<_MM_HINT_T0>(v0.wrapping_add(AHEAD + 16).cast());
            let x0 = x.add(3 * *columns.add(k) as usize);
            let x1 = x.add(3 * *columns.add(k + 1) as usize);
            for c in 0..3 {
                a[c] = _mm256_fmadd_pd(
                    _mm256_loadu_pd(v0.add(3 * c)),
                    _mm256_broadcast_sd(&*x0.add(c)),
                    a[c],
                );
                b[c] = _mm256_fmadd_pd(
                    _mm256_loadu_pd(v1.add(3 * c)),
                    _mm256_broadcast_sd(&*x1.add(c)),
                    b[c],
                );
            }
            k += 2;
        }
        if k < end {
            let v0 = values.add(9 * k);
            let x0 = x.add(3 * *columns.add(k) as usize);
            for c in 0..3 {
                a[c] = _mm256_fmadd_pd(
                    _mm256_loadu_pd(v0.add(3 * c)),
                    _mm256_broadcast_sd(&*x0.add(c)),
                    a[c],
                );
            }
        }
        let first = _mm256_add_pd(_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1]));
        let sum = _mm256_add_pd(first, _mm256_add_pd(a[2], b[2]));
        let mut out = [0.0; 4];
        _mm256_storeu_pd(out.as_mut_ptr(), sum);
        [out[0], out[1], out[2]]
    }
}

#[inline(always)]
fn multiply_body(
    problem: &ScaledProblem,
    x: &[f64],
    u: &mut [f64],
    row: impl Fn(usize, &[f64]) -> [f64; 3],
) {
    for i in 0..problem.contacts() {
        u[3 * i..3 * i + 3].copy_from_slice(&row(i, x));
    }
}

#[inline(always)]
fn sweep_body(
    problem: &ScaledProblem,
    memory: &mut SweepMemory,
    x: &mut [f64],
    previous: &[f64],
    row: impl Fn(usize, &[f64]) -> [f64; 3],
) -> SweepSums {
    let visit_all = memory.begin();
    let mut sums = SweepSums::default();
    for i in 0..problem.contacts() {
        let state = &mut memory.contacts[i];
        // A contact that stayed put three times is visited every fifth sweep only.
        if state.is_frozen() && !visit_all {
            continue;
        }
        let sum = row(i, x);
        let y = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
        let new = visit(problem, i, state, &sum, &y);
        let old = [previous[3 * i], previous[3 * i + 1], previous[3 * i + 2]];
        after_visit(problem, i, state, &new, &y, &old, &mut sums);
        x[3 * i..3 * i + 3].copy_from_slice(&new);
    }
    sums
}

/// Bookkeeping after contact i moved from `y` to `new`: freezing, damping, sums; returns the change.
#[inline(always)]
pub(crate) fn after_visit(
    problem: &ScaledProblem,
    i: usize,
    state: &mut ContactState,
    new: &[f64; 3],
    y: &[f64; 3],
    previous: &[f64; 3],
    sums: &mut SweepSums,
) -> [f64; 3] {
    let change = [new[0] - y[0], new[1] - y[1], new[2] - y[2]];
    let size = change[0] * change[0] + change[1] * change[1] + change[2] * change[2];
    if size == 0.0 {
        state.idle += 1;
    } else {
        state.idle = 0;
    }
    adapt_damping(state, &change, size);
    if (state.damping - state.prepared_damping).abs() > 0.2 * state.prepared_damping {
        prepare_again(problem, i, state);
    }
    let s2 = problem.scale[i] * problem.scale[i];
    sums.change += size * if s2 > 1.0 { 1.0 / s2 } else { s2 };
    for k in 0..3 {
        sums.against -= change[k] * (new[k] - previous[k]);
    }
    change
}

/// New value of contact i, whose row product is `sum` and whose value is `y`.
#[inline(always)]
pub(crate) fn visit(
    problem: &ScaledProblem,
    i: usize,
    state: &mut ContactState,
    sum: &[f64; 3],
    y: &[f64; 3],
) -> [f64; 3] {
    let w = &problem.diagonal[i];
    let without = |alpha: f64| {
        let mut b = [0.0; 3];
        for k in 0..3 {
            let own = w[3 * k] * y[0] + w[3 * k + 1] * y[1] + w[3 * k + 2] * y[2];
            b[k] = problem.q[3 * i + k] + sum[k] - own - alpha * y[k];
        }
        b
    };
    let b = without(state.prepared_damping);
    let (new, outcome) = state.prepared.solve(&b, &mut state.lambda);
    if outcome != DiscOutcome::NoSolution {
        return new;
    }
    // A wedged contact: with a proximal weight the block is definite and a solution exists.
    if w[0] <= 0.0 {
        return [0.0; 3];
    }
    state.damping = (1.3 * state.damping + 0.1).min(LARGEST_DAMPING);
    prepare_again(problem, i, state);
    let b = without(state.prepared_damping);
    let (new, outcome) = state.prepared.solve(&b, &mut state.lambda);
    if outcome == DiscOutcome::NoSolution {
        *y
    } else {
        new
    }
}

/// Raises the proximal weight where the contact flips, lets it decay elsewhere.
#[inline(always)]
fn adapt_damping(state: &mut ContactState, change: &[f64; 3], size: f64) {
    let old = &state.change;
    let along = change[0] * old[0] + change[1] * old[1] + change[2] * old[2];
    if along < 0.0 {
        let old_size = old[0] * old[0] + old[1] * old[1] + old[2] * old[2];
        if along * along > 0.25 * size * old_size && size > 0.25 * old_size {
            state.damping = (1.3 * state.damping + 0.1).min(LARGEST_DAMPING);
        } else if state.damping > 0.0 {
            decay(state);
        }
    } else if state.damping > 0.0 {
        decay(state);
    }
    state.change = *change;
}

#[inline(always)]
fn decay(state: &mut ContactState) {
    state.damping *= 0.98;
    if state.damping < 1e-3 {
        state.damping = 0.0;
    }
}

/// Prepares the block with the current proximal weight.
#[cold]
#[inline(never)]
fn prepare_again(problem: &ScaledProblem, i: usize, state: &mut ContactState) {
    state.prepared = PreparedDisc::new(&problem.diagonal[i], problem.mu[i], state.damping);
    state.prepared_damping = state.damping;
}

impl SweepMemory {
    /// Counts a sweep; true if frozen contacts are visited too.
    pub(crate) fn begin(&mut self) -> bool {
        self.sweeps = self.sweeps.wrapping_add(1);
        self.sweeps.is_multiple_of(5)
    }

    /// What is remembered of contact i.
    #[inline(always)]
    pub(crate) fn state(&mut self, i: usize) -> &mut ContactState {
        &mut self.contacts[i]
    }

    /// Visits every contact in the next sweeps, frozen or not.
    pub(crate) fn revisit_all(&mut self) {
        for state in &mut self.contacts {
            state.idle = 0;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply_avx2(problem: &ScaledProblem, x: &[f64], u: &mut [f64]) {
    // SAFETY: the caller established the conditions of `row_avx2`.
    multiply_body(problem, x, u, |i, x| unsafe {
        row_avx2(problem, i, x.as_ptr())
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn sweep_avx2(
    problem: &ScaledProblem,
    memory: &mut SweepMemory,
    x: &mut [f64],
    previous: &[f64],
) -> SweepSums {
    // SAFETY: the caller established the conditions of `row_avx2`.
    sweep_body(problem, memory, x, previous, |i, x| unsafe {
        row_avx2(problem, i, x.as_ptr())
    })
}
