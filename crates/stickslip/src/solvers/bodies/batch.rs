//! Four contacts that share no body: their state, the visits to them, and their data where bodies are of any kind.
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
//! Empty lanes act on the ground, a body behind the last one whose velocity stays zero. Contacts between balls need less: see [`central`](super::central).
//!
//! # Cost
//!
//! 500 bytes and 15 to 30 ns per contact and visit in space, 200 bytes in the plane.
//!
//! # Tested by
//!
//! `solvers/bodies/tests.rs`.

use super::lanes::Lanes;
use super::local::{LocalBlocks, natural_map};
use super::packing::{Prepared, batch_friction};
use super::workspace::Problem;

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

/// What four contacts remember from visit to visit.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct State<const R: usize> {
    /// Impulses and those of the sweep before.
    pub(super) x: [[f64; 4]; R],
    pub(super) previous: [[f64; 4]; R],
    /// Change in the last visit.
    change: [[f64; 4]; R],
    damping: [f64; 4],
}

impl<const R: usize> State<R> {
    pub(super) const ZERO: Self = Self {
        x: [[0.0; 4]; R],
        previous: [[0.0; 4]; R],
        change: [[0.0; 4]; R],
        damping: [0.0; 4],
    };

    /// Forgets all of a lane but its impulse.
    pub(super) fn restart(&mut self, lane: usize, x: &[f64; R]) {
        for r in 0..R {
            self.x[r][lane] = x[r];
            self.previous[r][lane] = x[r];
        }
    }

    /// A lane of a new contact.
    pub(super) fn begin(&mut self, lane: usize, x: &[f64; R]) {
        self.restart(lane, x);
        for r in 0..R {
            self.change[r][lane] = 0.0;
        }
        self.damping[lane] = 0.0;
    }

    #[inline(always)]
    fn impulses<V: Lanes>(&self) -> [V; R] {
        let mut x = [V::zero(); R];
        for k in 0..R {
            x[k] = V::load(&self.x[k]);
        }
        x
    }

    /// Takes the new impulses in after the step y: what they have changed, the sums, the proximal weight of contacts that flip.
    #[inline(always)]
    fn take<V: Lanes>(
        &mut self,
        (x, y, new): (&[V; R], &[V; R], &[V; R]),
        weight: V,
        sums: &mut Sums<V>,
    ) -> ([V; R], V) {
        let damping = V::load(&self.damping);
        let mut change = *new;
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
        sums.against = weight.neg_mul_add(against, sums.against);
        let quarter = V::splat(0.25);
        let flips = V::and(
            along.less(zero),
            V::and(
                quarter.mul(size).mul(old).less(along.mul(along)),
                quarter.mul(old).less(size),
            ),
        );
        if V::any(zero.less(damping)) || V::any(flips) {
            let grown = V::splat(1.3)
                .mul_add(damping, V::splat(0.1))
                .min(V::splat(LARGEST_DAMPING));
            let decayed = damping.mul(V::splat(0.98));
            let decayed = V::select(decayed.less(V::splat(1e-3)), zero, decayed);
            V::select(flips, grown, decayed).store(&mut self.damping);
        }
        (change, size)
    }
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

impl Bodies {
    /// Velocities of the bodies of four lanes, freedom by freedom.
    ///
    /// # Safety
    /// It points to `stride(F)` numbers for each of them, which nobody else writes meanwhile.
    #[inline(always)]
    unsafe fn gather<V: Lanes, const F: usize>(self, bodies: &[u32; 4]) -> [V; F] {
        let mut v = [V::zero(); F];
        for group in 0..F / 3 {
            let mut rows = [V::zero(); 4];
            for lane in 0..4 {
                let first = bodies[lane] as usize * stride(F) + 4 * group;
                // SAFETY: the caller's promise.
                rows[lane] = V::load(unsafe { &*self.0.add(first).cast::<[f64; 4]>() });
            }
            let columns = V::transpose(rows);
            for k in 0..3 {
                v[3 * group + k] = columns[k];
            }
        }
        v
    }

    /// Writes the velocities of the bodies of four lanes back.
    ///
    /// # Safety
    /// As for [`Self::gather`]; nobody else reads them meanwhile either, except those of the ground, which do not change.
    #[inline(always)]
    unsafe fn put_back<V: Lanes, const F: usize>(self, bodies: &[u32; 4], v: &[V; F], ground: u32) {
        for group in 0..F / 3 {
            let rows = V::transpose([v[3 * group], v[3 * group + 1], v[3 * group + 2], V::zero()]);
            for lane in 0..4 {
                if bodies[lane] != ground {
                    let first = bodies[lane] as usize * stride(F) + 4 * group;
                    // SAFETY: the caller's promise.
                    rows[lane].store(unsafe { &mut *self.0.add(first).cast::<[f64; 4]>() });
                }
            }
        }
    }
}

/// Four contacts of R rows over bodies of F freedoms.
pub(super) trait Four<const R: usize, const F: usize>:
    Copy + Default + std::fmt::Debug
{
    /// A contact on its way into a lane.
    type Prepared: PreparedContact;

    /// Prepares a contact; `None` if it is visited by itself.
    fn prepare(problem: &Problem, contact: usize) -> Option<Self::Prepared>;
    /// Makes a lane empty, whatever an earlier problem has left there.
    fn clear_lane(&mut self, lane: usize, ground: u32);
    /// Writes a contact into a lane, with its impulse in the tangents of the problem.
    fn write(&mut self, prepared: &Self::Prepared, lane: usize, ground: u32, impulse: &[f64]);
    /// Bodies of the lanes, side a and side b.
    fn bodies(&self) -> &[[u32; 4]; 2];
    fn state(&self) -> &State<R>;
    fn state_mut(&mut self) -> &mut State<R>;
    fn mu(&self) -> &[f64; 4];
    /// tr W_ii/rows, the inverse of ρ.
    fn weight(&self) -> &[f64; 4];
    /// u = J v' + q.
    fn velocity<V: Lanes>(&self, a: &[V; F], b: &[V; F]) -> [V; R];
    /// v' += Jᵀ p.
    fn push<V: Lanes>(&self, p: &[V; R], a: &mut [V; F], b: &mut [V; F]);
    /// The impulses that solve each contact alone where its velocity is u at y.
    fn solve<V: Lanes>(&mut self, u: &[V; R], y: &[V; R]) -> [V; R];
    /// |F|² and the square of the worst part of each contact.
    fn natural_map<V: Lanes>(&self, u: &[V; R], r: &[V; R]) -> [V; 2];

    /// One visit with momentum β.
    ///
    /// # Safety
    /// As for [`Bodies::gather`] and [`Bodies::put_back`]; vector lanes only where the machine has them.
    #[inline(always)]
    unsafe fn visit<V: Lanes>(
        &mut self,
        velocity: Bodies,
        ground: u32,
        beta: V,
        sums: &mut Sums<V>,
    ) {
        let bodies = *self.bodies();
        // SAFETY: the caller's promise.
        let (mut a, mut b) = unsafe {
            (
                velocity.gather::<V, F>(&bodies[0]),
                velocity.gather::<V, F>(&bodies[1]),
            )
        };
        let x = self.state().impulses::<V>();
        let mut y = x;
        for k in 0..R {
            y[k] = beta.mul_add(x[k].sub(V::load(&self.state().previous[k])), x[k]);
        }
        let mut u = self.velocity(&a, &b);
        let damping = V::load(&self.state().damping);
        if V::any(V::zero().less(damping)) {
            let omega = V::splat(1.0).div(V::splat(1.0).add(damping));
            for k in 0..R {
                u[k] = omega.mul(u[k]);
            }
        }
        let new: [V; R] = self.solve(&u, &y);
        let weight = V::load(self.weight());
        let (change, size) = self.state_mut().take((&x, &y, &new), weight, sums);
        if V::any(V::zero().less(size)) {
            self.push(&change, &mut a, &mut b);
            // SAFETY: the caller's promise.
            unsafe {
                velocity.put_back(&bodies[0], &a, ground);
                velocity.put_back(&bodies[1], &b, ground);
            }
        }
    }

    /// v' += Jᵀ x.
    ///
    /// # Safety
    /// As for [`Self::visit`].
    #[inline(always)]
    unsafe fn act<V: Lanes>(&self, velocity: Bodies, ground: u32) {
        let x = self.state().impulses::<V>();
        let bodies = self.bodies();
        // SAFETY: the caller's promise.
        unsafe {
            let mut a = velocity.gather::<V, F>(&bodies[0]);
            let mut b = velocity.gather::<V, F>(&bodies[1]);
            self.push(&x, &mut a, &mut b);
            velocity.put_back(&bodies[0], &a, ground);
            velocity.put_back(&bodies[1], &b, ground);
        }
    }

    /// Adds |F|² and |x|² of the lanes, F the natural map at x, and keeps the square of the worst part of any contact beside it.
    ///
    /// # Safety
    /// As for [`Bodies::gather`].
    #[inline(always)]
    unsafe fn residual<V: Lanes>(&self, velocity: Bodies, sums: &mut [V; 3]) {
        let bodies = self.bodies();
        // SAFETY: the caller's promise.
        let (a, b) = unsafe {
            (
                velocity.gather::<V, F>(&bodies[0]),
                velocity.gather::<V, F>(&bodies[1]),
            )
        };
        let u = self.velocity(&a, &b);
        let x = self.state().impulses::<V>();
        let [map, part] = self.natural_map(&u, &x);
        sums[0] = sums[0].add(map);
        sums[2] = part.max(sums[2]);
        for k in 0..R {
            sums[1] = x[k].mul_add(x[k], sums[1]);
        }
    }
}

/// What a workspace asks of a prepared contact.
pub(super) trait PreparedContact {
    /// Rotation from the tangents of the problem to those of the lane.
    fn turn(&self) -> [f64; 2];
    /// |ρ q|².
    fn free_size(&self) -> f64;
}

/// Four contacts between bodies of any kind.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Batch<const R: usize, const F: usize> {
    /// Bodies of the lanes, side a and side b.
    pub(super) bodies: [[u32; 4]; 2],
    /// Rows of J by freedom, both sides.
    pub(super) jacobian: [[[[f64; 4]; F]; 2]; R],
    pub(super) q: [[f64; 4]; R],
    pub(super) local: LocalBlocks,
    pub(super) state: State<R>,
    pub(super) lambda: [f64; 4],
}

impl<const R: usize, const F: usize> Default for Batch<R, F> {
    fn default() -> Self {
        Self {
            bodies: [[0; 4]; 2],
            jacobian: [[[[0.0; 4]; F]; 2]; R],
            q: [[0.0; 4]; R],
            local: LocalBlocks::EMPTY,
            state: State::ZERO,
            lambda: [0.0; 4],
        }
    }
}

impl<const R: usize, const F: usize> Four<R, F> for Batch<R, F> {
    type Prepared = Prepared<R, F>;

    fn prepare(problem: &Problem, contact: usize) -> Option<Prepared<R, F>> {
        let mu = batch_friction(&problem.blocks[contact], R)?;
        Prepared::new(problem, contact, mu)
    }

    fn clear_lane(&mut self, lane: usize, ground: u32) {
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
        }
        self.state.begin(lane, &[0.0; R]);
        self.local.clear_lane(lane);
        self.lambda[lane] = 0.0;
    }

    fn write(&mut self, prepared: &Prepared<R, F>, lane: usize, ground: u32, impulse: &[f64]) {
        prepared.write(self, lane, ground, impulse);
    }

    fn bodies(&self) -> &[[u32; 4]; 2] {
        &self.bodies
    }

    fn state(&self) -> &State<R> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<R> {
        &mut self.state
    }

    fn mu(&self) -> &[f64; 4] {
        &self.local.mu
    }

    fn weight(&self) -> &[f64; 4] {
        &self.local.weight
    }

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

    #[inline(always)]
    fn push<V: Lanes>(&self, p: &[V; R], a: &mut [V; F], b: &mut [V; F]) {
        for k in 0..F {
            for r in 0..R {
                a[k] = V::load(&self.jacobian[r][0][k]).mul_add(p[r], a[k]);
                b[k] = V::load(&self.jacobian[r][1][k]).mul_add(p[r], b[k]);
            }
        }
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

    #[inline(always)]
    fn natural_map<V: Lanes>(&self, u: &[V; R], r: &[V; R]) -> [V; 2] {
        let (mu, rho) = (V::load(&self.local.mu), V::load(&self.local.rho));
        natural_map(mu, rho, V::load(&self.local.noise), u, r)
    }
}
