//! The functions a system is made of, as traits with adapters for closures.
//!
//! Each trait has an `auto` adapter that differentiates a closure written over [`Jet`] and a
//! `given` adapter for closures over `f64` with hand-written derivatives. Scene files implement
//! the same traits with compiled expressions.

use crate::algebra::{Covectors, SymmetricMatrix, dot};
use crate::algebra::{Jet, autodiff};

use super::past_motion::PastView;
use super::{ForceDependence, Instant};

/// Kinetic metric M(q) with its covariant force.
pub trait Inertia: Send + Sync {
    /// Whether M is the same everywhere (then the covariant force is zero).
    fn is_constant(&self) -> bool;
    /// Writes M(q).
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix);
    /// Writes `−Ṁ v + ½ ∂_q (v·M v)`.
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]);
}

/// Potential energy V(q).
pub trait Potential: Send + Sync {
    /// V(q).
    fn value(&self, q: &[f64]) -> f64;
    /// Writes ∇V(q).
    fn gradient(&self, q: &[f64], out: &mut [f64]);
    /// Whether ∇V is the same everywhere.
    fn is_linear(&self) -> bool {
        false
    }
    /// Writes ∂²V and returns true, or returns false if unknown.
    fn hessian(&self, _q: &[f64], _out: &mut SymmetricMatrix) -> bool {
        false
    }
}

/// External force f(t, q, v).
pub trait Force: Send + Sync {
    /// What the force depends on.
    fn dependence(&self) -> ForceDependence;
    /// Writes the force.
    fn evaluate(&self, at: &Instant, out: &mut [f64]);
    /// Writes ∂f/∂q and ∂f/∂v row-major and returns true, or returns false if unknown; the past is held.
    fn derivatives(&self, _at: &Instant, _dq: &mut [f64], _dv: &mut [f64]) -> bool {
        false
    }
}

/// Functions of the instant that change their sign wherever forces or friction may jump or bend (`if`, `sign`, `abs`, tables).
#[doc(hidden)]
pub trait Switches: Send + Sync {
    /// Writes their values, always as many; inner ones first where one is a part of another.
    fn values(&self, at: &Instant, out: &mut Vec<f64>);
}

/// Scalar function φ(t, q): a gap or a bilateral constraint.
pub trait ScalarFunction: Send + Sync {
    /// φ(t, q).
    fn value(&self, t: f64, q: &[f64]) -> f64;
    /// Writes the covector dφ with respect to the velocity variables.
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]);
    /// Adds dφ as one sparse row and returns true, or returns false where only
    /// [`Self::gradient`] is known; meshes need it to be fast.
    #[doc(hidden)]
    fn sparse_gradient(&self, _t: f64, _q: &[f64], _out: &mut Covectors) -> bool {
        false
    }
    /// ∂φ/∂t at fixed configuration.
    fn rate(&self, _t: f64, _q: &[f64]) -> f64 {
        0.0
    }
    /// d/dt of the rate `dφ · v + ∂φ/∂t` of φ along the motion with constant velocity v, or none if unknown.
    fn turning(&self, _t: f64, _q: &[f64], _v: &[f64]) -> Option<f64> {
        self.is_affine().then_some(0.0)
    }
    /// Size of the numbers that cancel in φ besides `dφ · q`: the place of a node whose coordinates are displacements, numbers that
    /// an expression adds.
    fn magnitude(&self, _t: f64, _q: &[f64]) -> f64 {
        0.0
    }
    /// Whether dφ and ∂φ/∂t are the same everywhere: a step then cannot leave the surface it slides on.
    fn is_affine(&self) -> bool {
        false
    }
    /// Whether dφ jumps somewhere, as at the kinks of `abs`, `min` and tables of straight lines. What a normal turns along a step is
    /// no approach; what it jumps is one, which the impact law answers.
    fn has_kinks(&self) -> bool {
        false
    }
    /// Whether φ itself may jump, as where `if` or `sign` change.
    fn has_jumps(&self) -> bool {
        self.has_kinks()
    }
    /// Whether a motion whose velocities obey the constraint can leave it, so that positions must be corrected. Nodes of a
    /// mesh are not moved off flat obstacles, nor off the surface of another mesh, where a correction would load both; what
    /// they drift there the run tells.
    fn can_drift(&self) -> bool {
        !self.is_affine()
    }
}

/// Rows of a contact frame: the covectors whose products with v are local velocities.
pub trait FrameRows: Send + Sync {
    /// Writes the rows one after the other (each as long as the velocity).
    fn rows(&self, t: f64, q: &[f64], out: &mut [f64]);
    /// Adds the rows as sparse ones and returns true, or returns false where only
    /// [`Self::rows`] is known.
    #[doc(hidden)]
    fn sparse_rows(&self, _t: f64, _q: &[f64], _out: &mut Covectors) -> bool {
        false
    }
    /// Adds the local velocity that exists at v = 0 (moving obstacle) to `out`.
    fn drift(&self, _t: f64, _q: &[f64], _out: &mut [f64]) {}
    /// Writes d/dt of the local velocities along the motion with constant velocity v and returns true, or returns false if unknown.
    fn turning(&self, _t: f64, _q: &[f64], _v: &[f64], _out: &mut [f64]) -> bool {
        false
    }
}

/// Constant mass matrix.
#[derive(Clone, Debug)]
pub(crate) struct ConstantInertia(pub SymmetricMatrix);

impl Inertia for ConstantInertia {
    fn is_constant(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], out: &mut SymmetricMatrix) {
        out.copy_from(&self.0);
    }
    fn covariant_force(&self, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
}

/// Inertia from the kinetic energy T(q, v), differentiated automatically.
pub(crate) struct KineticEnergy<F>(pub F);

impl<F: Fn(&[Jet], &[Jet]) -> Jet + Send + Sync> Inertia for KineticEnergy<F> {
    fn is_constant(&self) -> bool {
        false
    }

    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        // M_ij = ∂²T/∂v_i∂v_j, at v = 0 because T is quadratic in v.
        let zero = ZeroVelocity::new(q.len());
        autodiff::with_jets(q, |qj| {
            autodiff::hessian(zero.slice(), |vj| (self.0)(qj, vj), out.values_mut());
        });
    }

    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        autodiff::with_jets(q, |qj| {
            autodiff::with_jets(v, |vj| {
                for i in 0..v.len() {
                    // ∂T/∂q_i
                    qj[i].eps1 = 1.0;
                    let slope = (self.0)(qj, vj).eps1;
                    qj[i].eps1 = 0.0;
                    // (Ṁ v)_i = Σ_j ∂²T/∂v_i∂q_j v_j: derivative of ∂T/∂v_i along v.
                    vj[i].eps1 = 1.0;
                    for (jet, &velocity) in qj.iter_mut().zip(v) {
                        jet.eps2 = velocity;
                    }
                    let transport = (self.0)(qj, vj).eps1eps2;
                    vj[i].eps1 = 0.0;
                    for jet in qj.iter_mut() {
                        jet.eps2 = 0.0;
                    }
                    out[i] = slope - transport;
                }
            });
        });
    }
}

/// Inertia with hand-written mass matrix and covariant force.
pub struct GivenInertia<M, C> {
    /// Writes M(q) row-major.
    pub mass: M,
    /// Writes `−Ṁ v + ½ ∂_q (v·M v)`.
    pub covariant_force: C,
}

impl<M, C> Inertia for GivenInertia<M, C>
where
    M: Fn(&[f64], &mut [f64]) + Send + Sync,
    C: Fn(&[f64], &[f64], &mut [f64]) + Send + Sync,
{
    fn is_constant(&self) -> bool {
        false
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        (self.mass)(q, out.values_mut());
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        (self.covariant_force)(q, v, out);
    }
}

/// Potential differentiated automatically.
pub(crate) struct AutoPotential<F>(pub F);

impl<F: Fn(&[Jet]) -> Jet + Send + Sync> Potential for AutoPotential<F> {
    fn value(&self, q: &[f64]) -> f64 {
        autodiff::with_jets(q, |jets| (self.0)(jets).re)
    }
    fn gradient(&self, q: &[f64], out: &mut [f64]) {
        autodiff::gradient(q, &self.0, out);
    }
    fn hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        autodiff::hessian(q, &self.0, out.values_mut());
        true
    }
}

/// Potential with hand-written gradient.
pub struct GivenPotential<V, G> {
    /// V(q).
    pub value: V,
    /// Writes ∇V(q).
    pub gradient: G,
}

impl<V, G> Potential for GivenPotential<V, G>
where
    V: Fn(&[f64]) -> f64 + Send + Sync,
    G: Fn(&[f64], &mut [f64]) + Send + Sync,
{
    fn value(&self, q: &[f64]) -> f64 {
        (self.value)(q)
    }
    fn gradient(&self, q: &[f64], out: &mut [f64]) {
        (self.gradient)(q, out);
    }
}

/// Linear potential V = −F·q of a constant force, with zero second derivative.
#[derive(Clone, Debug)]
pub(crate) struct DeadLoad(pub Vec<f64>);

impl Potential for DeadLoad {
    fn value(&self, q: &[f64]) -> f64 {
        -dot(&self.0, q)
    }
    fn gradient(&self, _q: &[f64], out: &mut [f64]) {
        for (o, f) in out.iter_mut().zip(&self.0) {
            *o = -f;
        }
    }
    fn is_linear(&self) -> bool {
        true
    }
    fn hessian(&self, _q: &[f64], out: &mut SymmetricMatrix) -> bool {
        out.clear();
        true
    }
}

/// Force given by a closure of (t, q, v).
pub struct GivenForce<F> {
    /// What the closure depends on.
    pub dependence: ForceDependence,
    /// Writes f(t, q, v).
    pub evaluate: F,
}

impl<F: Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync> Force for GivenForce<F> {
    fn dependence(&self) -> ForceDependence {
        self.dependence
    }
    fn evaluate(&self, at: &Instant, out: &mut [f64]) {
        (self.evaluate)(at.t, at.q, at.v, out);
    }
}

/// Force given by a closure of the past (which knows time and configuration) and the velocity.
pub struct DelayedForce<F>(pub F);

impl<F: Fn(&PastView, &[f64], &mut [f64]) + Send + Sync> Force for DelayedForce<F> {
    fn dependence(&self) -> ForceDependence {
        ForceDependence::State
    }
    fn evaluate(&self, at: &Instant, out: &mut [f64]) {
        (self.0)(&at.past_view(), at.v, out);
    }
}

/// Scalar function φ(t, q) differentiated automatically, also in time.
///
/// ```
/// use stickslip::algebra::Jet;
/// use stickslip::systems::functions::{AutoScalar, ScalarFunction};
///
/// // Inside of a ring that grows with time.
/// let gap = AutoScalar(|t: Jet, q: &[Jet]| t + 5.0 - (q[0] * q[0] + q[1] * q[1]).sqrt());
/// let mut gradient = [0.0; 2];
/// gap.gradient(0.0, &[3.0, 4.0], &mut gradient);
/// assert_eq!((gap.value(1.0, &[3.0, 4.0]), gap.rate(0.0, &[3.0, 4.0])), (1.0, 1.0));
/// assert!((gradient[0] + 0.6).abs() < 1e-15 && (gradient[1] + 0.8).abs() < 1e-15);
/// ```
pub struct AutoScalar<F>(pub F);

impl<F: Fn(Jet, &[Jet]) -> Jet + Send + Sync> ScalarFunction for AutoScalar<F> {
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        autodiff::with_jets(q, |jets| (self.0)(Jet::constant(t), jets).re)
    }
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]) {
        autodiff::gradient(q, |jets| (self.0)(Jet::constant(t), jets), out);
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        autodiff::with_jets(q, |jets| (self.0)(Jet::new(t, 1.0, 0.0, 0.0), jets).eps1)
    }
    fn turning(&self, t: f64, q: &[f64], v: &[f64]) -> Option<f64> {
        if q.len() != v.len() {
            return None;
        }
        Some(autodiff::with_jets(q, |jets| {
            for (jet, v) in jets.iter_mut().zip(v) {
                (jet.eps1, jet.eps2) = (*v, *v);
            }
            (self.0)(Jet::new(t, 1.0, 1.0, 0.0), jets).eps1eps2
        }))
    }
}

/// Time-independent scalar function with hand-written gradient.
///
/// ```
/// use stickslip::systems::functions::{GivenScalar, ScalarFunction};
///
/// // The gap to the floor of a ball with the radius 0.1, whose centre is (x, y).
/// let gap = GivenScalar {
///     value: |q: &[f64]| q[1] - 0.1,
///     gradient: |_: &[f64], out: &mut [f64]| out.copy_from_slice(&[0.0, 1.0]),
/// };
/// assert_eq!(gap.value(0.0, &[3.0, 0.6]), 0.5);
/// ```
pub struct GivenScalar<V, G> {
    /// φ(q).
    pub value: V,
    /// Writes dφ(q).
    pub gradient: G,
}

impl<V, G> ScalarFunction for GivenScalar<V, G>
where
    V: Fn(&[f64]) -> f64 + Send + Sync,
    G: Fn(&[f64], &mut [f64]) + Send + Sync,
{
    fn value(&self, _t: f64, q: &[f64]) -> f64 {
        (self.value)(q)
    }
    fn gradient(&self, _t: f64, q: &[f64], out: &mut [f64]) {
        (self.gradient)(q, out);
    }
}

/// The affine function `gradient · q + offset`: a flat obstacle at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineScalar {
    /// Constant gradient.
    pub gradient: Vec<f64>,
    /// Value at q = 0.
    pub offset: f64,
}

impl ScalarFunction for AffineScalar {
    fn value(&self, _t: f64, q: &[f64]) -> f64 {
        dot(&self.gradient, q) + self.offset
    }
    fn gradient(&self, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.gradient);
    }
    fn is_affine(&self) -> bool {
        true
    }
}

/// Rows given by a closure of q.
pub struct GivenRows<F>(pub F);

impl<F: Fn(&[f64], &mut [f64]) + Send + Sync> FrameRows for GivenRows<F> {
    fn rows(&self, _t: f64, q: &[f64], out: &mut [f64]) {
        (self.0)(q, out);
    }
}

/// Zero velocity of any length without allocating for short ones.
struct ZeroVelocity {
    inline: [f64; 24],
    heap: Vec<f64>,
    len: usize,
}

impl ZeroVelocity {
    fn new(len: usize) -> Self {
        Self {
            inline: [0.0; 24],
            heap: if len > 24 { vec![0.0; len] } else { Vec::new() },
            len,
        }
    }
    fn slice(&self) -> &[f64] {
        if self.len > 24 {
            &self.heap
        } else {
            &self.inline[..self.len]
        }
    }
}
