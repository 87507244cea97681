//! The loops over batches, in plain code and with AVX2 and FMA chosen at run time.

use super::batch::{Bodies, Four, Sums, stride};
use super::lanes::{Lanes, Plain};
use crate::solvers::sweep::Instructions;

#[cfg(target_arch = "x86_64")]
use super::lanes::Avx2;

/// Sums of a sweep by lane: |r − y|², the sign of the momentum, |r|².
pub(super) type LaneSums = [[f64; 4]; 3];

/// One visit of each batch in order, with momentum β by lane.
///
/// # Safety
/// `velocity` points to `stride(F)` numbers for every body of the batches, which no other thread uses meanwhile.
pub(super) unsafe fn sweep<B: Four<R, F>, const R: usize, const F: usize>(
    how: Instructions,
    batches: &mut [B],
    velocity: Bodies,
    ground: u32,
    beta: &[f64; 4],
) -> LaneSums {
    #[cfg(target_arch = "x86_64")]
    if how.has_avx2() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn vector<B: Four<R, F>, const R: usize, const F: usize>(
            batches: &mut [B],
            velocity: Bodies,
            ground: u32,
            beta: &[f64; 4],
        ) -> LaneSums {
            // SAFETY: the caller's promise.
            unsafe { sweep_over::<Avx2, B, R, F>(batches, velocity, ground, beta) }
        }
        // SAFETY: the machine has the features; the caller's promise.
        return unsafe { vector::<B, R, F>(batches, velocity, ground, beta) };
    }
    let _ = how;
    // SAFETY: the caller's promise.
    unsafe { sweep_over::<Plain, B, R, F>(batches, velocity, ground, beta) }
}

#[inline(always)]
unsafe fn sweep_over<V: Lanes, B: Four<R, F>, const R: usize, const F: usize>(
    batches: &mut [B],
    velocity: Bodies,
    ground: u32,
    beta: &[f64; 4],
) -> LaneSums {
    let beta = V::load(beta);
    let mut sums = Sums::zero();
    for batch in batches {
        // SAFETY: the caller's promise.
        unsafe { batch.visit(velocity, ground, beta, &mut sums) };
    }
    let mut out = [[0.0; 4]; 3];
    sums.change.store(&mut out[0]);
    sums.against.store(&mut out[1]);
    sums.size.store(&mut out[2]);
    out
}

/// v' += Jᵀ x of all batches.
///
/// # Safety
/// As for [`sweep`].
pub(super) unsafe fn act<B: Four<R, F>, const R: usize, const F: usize>(
    how: Instructions,
    batches: &[B],
    velocity: Bodies,
    ground: u32,
) {
    #[cfg(target_arch = "x86_64")]
    if how.has_avx2() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn vector<B: Four<R, F>, const R: usize, const F: usize>(
            batches: &[B],
            velocity: Bodies,
            ground: u32,
        ) {
            for batch in batches {
                // SAFETY: the caller's promise.
                unsafe { batch.act::<Avx2>(velocity, ground) };
            }
        }
        // SAFETY: the machine has the features; the caller's promise.
        return unsafe { vector::<B, R, F>(batches, velocity, ground) };
    }
    let _ = how;
    for batch in batches {
        // SAFETY: the caller's promise.
        unsafe { batch.act::<Plain>(velocity, ground) };
    }
}

/// |F|² of the natural map, |x|² and the square of the worst part of a contact by lane.
///
/// # Safety
/// As for [`sweep`], where other threads may read.
pub(super) unsafe fn residual<B: Four<R, F>, const R: usize, const F: usize>(
    how: Instructions,
    batches: &[B],
    velocity: Bodies,
) -> [[f64; 4]; 3] {
    #[cfg(target_arch = "x86_64")]
    if how.has_avx2() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn vector<B: Four<R, F>, const R: usize, const F: usize>(
            batches: &[B],
            velocity: Bodies,
        ) -> [[f64; 4]; 3] {
            // SAFETY: the caller's promise.
            unsafe { residual_over::<Avx2, B, R, F>(batches, velocity) }
        }
        // SAFETY: the machine has the features; the caller's promise.
        return unsafe { vector::<B, R, F>(batches, velocity) };
    }
    let _ = how;
    // SAFETY: the caller's promise.
    unsafe { residual_over::<Plain, B, R, F>(batches, velocity) }
}

#[inline(always)]
unsafe fn residual_over<V: Lanes, B: Four<R, F>, const R: usize, const F: usize>(
    batches: &[B],
    velocity: Bodies,
) -> [[f64; 4]; 3] {
    let mut sums = [V::zero(); 3];
    for batch in batches {
        // SAFETY: the caller's promise.
        unsafe { batch.residual(velocity, &mut sums) };
    }
    let mut out = [[0.0; 4]; 3];
    sums[0].store(&mut out[0]);
    sums[1].store(&mut out[1]);
    sums[2].store(&mut out[2]);
    out
}

/// v ← v + β(v − v_prev), v_prev ← v, for the given bodies.
///
/// # Safety
/// Both point to `stride(F)` numbers for each of the bodies, which no other thread uses meanwhile.
pub(super) unsafe fn extrapolate<const F: usize>(
    how: Instructions,
    bodies: &[u32],
    velocity: Bodies,
    previous: Bodies,
    beta: f64,
) {
    #[cfg(target_arch = "x86_64")]
    if how.has_avx2() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn vector<const F: usize>(
            bodies: &[u32],
            velocity: Bodies,
            previous: Bodies,
            beta: f64,
        ) {
            // SAFETY: the caller's promise.
            unsafe { extrapolate_over::<Avx2, F>(bodies, velocity, previous, beta) }
        }
        // SAFETY: the machine has the features; the caller's promise.
        return unsafe { vector::<F>(bodies, velocity, previous, beta) };
    }
    let _ = how;
    // SAFETY: the caller's promise.
    unsafe { extrapolate_over::<Plain, F>(bodies, velocity, previous, beta) }
}

#[inline(always)]
unsafe fn extrapolate_over<V: Lanes, const F: usize>(
    bodies: &[u32],
    velocity: Bodies,
    previous: Bodies,
    beta: f64,
) {
    let beta = V::splat(beta);
    for &body in bodies {
        for group in 0..F / 3 {
            let first = body as usize * stride(F) + 4 * group;
            // SAFETY: the caller's promise.
            let (now, old) = unsafe {
                (
                    &mut *velocity.0.add(first).cast::<[f64; 4]>(),
                    &mut *previous.0.add(first).cast::<[f64; 4]>(),
                )
            };
            let v = V::load(now);
            beta.mul_add(v.sub(V::load(old)), v).store(now);
            v.store(old);
        }
    }
}

/// a ← a + factor·b for the given bodies.
///
/// # Safety
/// As for [`extrapolate`].
pub(super) unsafe fn add<const F: usize>(bodies: &[u32], a: Bodies, b: Bodies, factor: f64) {
    for &body in bodies {
        for k in 0..stride(F) {
            let at = body as usize * stride(F) + k;
            // SAFETY: the caller's promise.
            unsafe { *a.0.add(at) += factor * *b.0.add(at) };
        }
    }
}

/// v' ← 0 for the given bodies.
///
/// # Safety
/// As for [`extrapolate`].
pub(super) unsafe fn clear<const F: usize>(bodies: &[u32], velocity: Bodies) {
    for &body in bodies {
        for k in 0..stride(F) {
            // SAFETY: the caller's promise.
            unsafe { *velocity.0.add(body as usize * stride(F) + k) = 0.0 };
        }
    }
}
