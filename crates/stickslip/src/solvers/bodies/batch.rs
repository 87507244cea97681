//! Four contacts that share no body: their data, their state, and the visits to them.
//!
//! # What it computes
//!
//! One visit: y = x + β(x − x_prev), u = J v' + q from the bodies' velocities at y, the exact solution r of each contact alone
//! with its velocity weighted by ω = 1/(1 + α) (a proximal term α W_ii around y, by homogeneity of the law), and
//! v' += Jᵀ(r − y). α grows where a contact flips back and forth and decays elsewhere.
//!
//! # Source
//!
//! Own layout: arrays of structures of four lanes, after measurements of the order and of the width of sweeps.
//!
//! # Guarantees
//!
//! Equal to visiting the four contacts one after the other, in any order, with the same bits for each; plain and
//! vector instructions give the same bits.
//!
//! # Behaviour to know
//!
//! Empty lanes act on the ground, a body behind the last one whose velocity stays zero.
//!
//! # Cost
//!
//! 500 bytes and 15 to 30 ns per contact and visit in space, 200 bytes in the plane.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::lanes::Lanes;
use super::local::LocalBlocks;

/// Largest proximal weight.
const LARGEST_DAMPING: f64 = 10.0;

/// What the sweep adds up, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Sums<V> {
    /// Σ |r − y|².
    pub(super) change: V,
    /// Σ (y − r)·(r − x)/ρ: positive when the momentum points the wrong way.
    pub(super) against: V,
    /// Σ |r|².
    pub(super) size: V,
}

impl<V: Lanes> Sums<V> {
    pub(super) fn zero() -> Self {
        Self {
            change: V::zero(),
            against: V::zero(),
            size: V::zero(),
        }
    }
}

/// Four contacts of R rows over bodies of F freedoms.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Batch<const R: usize, const F: usize> {
    /// Bodies of the lanes, side a and side b.
    pub(super) bodies: [[u32; 4]; 2],
    /// Rows of J by freedom, both sides.
    pub(super) jacobian: [[[[f64; 4]; F]; 2]; R],
    pub(super) q: [[f64; 4]; R],
    pub(super) local: LocalBlocks,
    /// Impulses and those of the sweep before.
    pub(super) x: [[f64; 4]; R],
    pub(super) previous: [[f64; 4]; R],
    /// Change in the last visit.
    pub(super) change: [[f64; 4]; R],
    pub(super) lambda: [f64; 4],
    pub(super) damping: [f64; 4],
}

/// Numbers stored per body: two aligned groups of four in space, one in the plane.
pub(super) const fn stride(freedoms: usize) -> usize {
    if freedoms == 6 { 8 } else { 4 }
}

/// Place of freedom k among them.
pub(super) const fn place(freedoms: usize, k: usize) -> usize {
    if freedoms == 6 && k >= 3 { k + 1 } else { k }
}

/// Velocities of all bodies, shared by the threads of a solve.
#[derive(Clone, Copy)]
pub(super) struct Bodies(pub(super) *mut f64);

impl<const R: usize, const F: usize> Batch<R, F> {
    /// Four empty lanes acting on the body `ground`.
    pub(super) fn empty(ground: u32) -> Self {
        Self {
            bodies: [[ground; 4]; 2],
            jacobian: [[[[0.0; 4]; F]; 2]; R],
            q: [[0.0; 4]; R],
            local: LocalBlocks::EMPTY,
            x: [[0.0; 4]; R],
            previous: [[0.0; 4]; R],
            change: [[0.0; 4]; R],
            lambda: [0.0; 4],
            damping: [0.0; 4],
        }
    }

    /// Makes a lane empty, whatever an earlier problem has left there.
    pub(super) fn clear_lane(&mut self, lane: usize, ground: u32) {
        for side in 0..2 {
            self.bodies[side][lane] = ground;
        }
        for r in 0..R {
            for side in 0..2 {
                for k in 0..F {
                    self.jacobian[r][side][k][lane] = 0.0;
                }
            }
            self.q[r][lane] = 0.0;
            self.x[r][lane] = 0.0;
            self.previous[r][lane] = 0.0;
            self.change[r][lane] = 0.0;
        }
        self.local.clear_lane(lane);
        self.lambda[lane] = 0.0;
        self.damping[lane] = 0.0;
    }

    /// Velocities of the bodies of one side, freedom by freedom.
    ///
    /// # Safety
    /// `velocity` points to `stride(F)` numbers for every body of the batch, which nobody else writes meanwhile.
    #[inline(always)]
    unsafe fn gather<V: Lanes>(&self, velocity: Bodies, side: usize) -> [V; F] {
        let mut v = [V::zero(); F];
        for group in 0..F / 3 {
            let mut rows = [V::zero(); 4];
            for lane in 0..4 {
                let first = self.bodies[side][lane] as usize * stride(F) + 4 * group;
                // SAFETY: the caller's promise.
                rows[lane] = V::load(unsafe { &*velocity.0.add(first).cast::<[f64; 4]>() });
            }
            let columns = V::transpose(rows);
            for k in 0..3 {
                v[3 * group + k] = columns[k];
            }
        }
        v
    }

    /// Writes the velocities of one side back.
    ///
    /// # Safety
    /// As for [`Self::gather`]; nobody else reads them meanwhile either, except those of the ground, which do not change.
    #[inline(always)]
    unsafe fn put_back<V: Lanes>(&self, velocity: Bodies, side: usize, v: &[V; F], ground: u32) {
        for group in 0..F / 3 {
            let rows = V::transpose([v[3 * group], v[3 * group + 1], v[3 * group + 2], V::zero()]);
            for lane in 0..4 {
                let body = self.bodies[side][lane];
                if body != ground {
                    let first = body as usize * stride(F) + 4 * group;
                    // SAFETY: the caller's promise.
                    rows[lane].store(unsafe { &mut *velocity.0.add(first).cast::<[f64; 4]>() });
                }
            }
        }
    }

    /// u = J v' + q.
    #[inline(always)]
    fn velocity<V: Lanes>(&self, a: &[V; F], b: &[V; F]) -> [V; R] {
        let mut u = [V::zero(); R];
        for r in 0..R {
            let (mut first, mut second) = (V::load(&self.q[r]), V::zero());
            for k in 0..F {
                first = V::load(&self.jacobian[r][0][k]).mul_add(a[k], first);
                second = V::load(&self.jacobian[r][1][k]).mul_add(b[k], second);
            }
            u[r] = first.add(second);
        }
        u
    }

    /// v' += Jᵀ p for one side.
    #[inline(always)]
    fn push<V: Lanes>(&self, side: usize, p: &[V; R], v: &mut [V; F]) {
        for k in 0..F {
            for r in 0..R {
                v[k] = V::load(&self.jacobian[r][side][k]).mul_add(p[r], v[k]);
            }
        }
    }

    /// One visit with momentum β.
    ///
    /// # Safety
    /// As for [`Self::gather`] and [`Self::put_back`]; vector lanes only where the machine has them.
    #[inline(always)]
    pub(super) unsafe fn visit<V: Lanes>(
        &mut self,
        velocity: Bodies,
        ground: u32,
        beta: V,
        sums: &mut Sums<V>,
    ) {
        // SAFETY: the caller's promise.
        let (mut a, mut b) =
            unsafe { (self.gather::<V>(velocity, 0), self.gather::<V>(velocity, 1)) };
        let x = self.impulses::<V>();
        let mut y = x;
        for k in 0..R {
            y[k] = beta.mul_add(x[k].sub(V::load(&self.previous[k])), x[k]);
        }
        let mut u = self.velocity(&a, &b);
        let damping = V::load(&self.damping);
        let damped = V::any(V::zero().less(damping));
        if damped {
            let omega = V::splat(1.0).div(V::splat(1.0).add(damping));
            for k in 0..R {
                u[k] = omega.mul(u[k]);
            }
        }
        let new: [V; R] = self.solve(&u, &y);
        // Sums, and the proximal weight of contacts that flip.
        let mut change = new;
        for k in 0..R {
            change[k] = new[k].sub(y[k]);
        }
        let zero = V::zero();
        let (mut size, mut along, mut old, mut against) = (zero, zero, zero, zero);
        for k in 0..R {
            let before = V::load(&self.change[k]);
            size = change[k].mul_add(change[k], size);
            along = change[k].mul_add(before, along);
            old = before.mul_add(before, old);
            against = change[k].mul_add(new[k].sub(x[k]), against);
            sums.size = new[k].mul_add(new[k], sums.size);
            change[k].store(&mut self.change[k]);
            x[k].store(&mut self.previous[k]);
            new[k].store(&mut self.x[k]);
        }
        sums.change = sums.change.add(size);
        sums.against = V::load(&self.local.weight).neg_mul_add(against, sums.against);
        let quarter = V::splat(0.25);
        let flips = V::and(
            along.less(zero),
            V::and(
                quarter.mul(size).mul(old).less(along.mul(along)),
                quarter.mul(old).less(size),
            ),
        );
        if damped || V::any(flips) {
            let grown = V::splat(1.3)
                .mul_add(damping, V::splat(0.1))
                .min(V::splat(LARGEST_DAMPING));
            let decayed = damping.mul(V::splat(0.98));
            let decayed = V::select(decayed.less(V::splat(1e-3)), zero, decayed);
            V::select(flips, grown, decayed).store(&mut self.damping);
        }
        if V::any(zero.less(size)) {
            self.push(0, &change, &mut a);
            self.push(1, &change, &mut b);
            // SAFETY: the caller's promise.
            unsafe {
                self.put_back(velocity, 0, &a, ground);
                self.put_back(velocity, 1, &b, ground);
            }
        }
    }

    #[inline(always)]
    fn impulses<V: Lanes>(&self) -> [V; R] {
        let mut x = [V::zero(); R];
        for k in 0..R {
            x[k] = V::load(&self.x[k]);
        }
        x
    }

    #[inline(always)]
    fn solve<V: Lanes>(&mut self, u: &[V; R], y: &[V; R]) -> [V; R] {
        if R == 3 {
            let r = self.local.solve_space(
                &[u[0], u[1], u[R - 1]],
                &[y[0], y[1], y[R - 1]],
                &mut self.lambda,
            );
            let mut out = *y;
            out[..3].copy_from_slice(&r);
            out
        } else {
            let r = self.local.solve_plane(&[u[0], u[1]], &[y[0], y[1]]);
            let mut out = *y;
            out[..2].copy_from_slice(&r);
            out
        }
    }

    /// v' += Jᵀ x.
    ///
    /// # Safety
    /// As for [`Self::visit`].
    #[inline(always)]
    pub(super) unsafe fn act<V: Lanes>(&self, velocity: Bodies, ground: u32) {
        let x = self.impulses::<V>();
        for side in 0..2 {
            // SAFETY: the caller's promise.
            unsafe {
                let mut v = self.gather::<V>(velocity, side);
                self.push(side, &x, &mut v);
                self.put_back(velocity, side, &v, ground);
            }
        }
    }

    /// Adds |F|² and |x|² of the lanes, F the natural map at x, and keeps the square of the worst part of any contact beside it.
    ///
    /// # Safety
    /// As for [`Self::gather`].
    #[inline(always)]
    pub(super) unsafe fn residual<V: Lanes>(&self, velocity: Bodies, sums: &mut [V; 3]) {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (self.gather::<V>(velocity, 0), self.gather::<V>(velocity, 1)) };
        let u = self.velocity(&a, &b);
        let x = self.impulses::<V>();
        let [map, part] = self.local.residual(&u, &x);
        sums[0] = sums[0].add(map);
        sums[2] = part.max(sums[2]);
        for k in 0..R {
            sums[1] = x[k].mul_add(x[k], sums[1]);
        }
    }
}
