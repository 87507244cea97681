//! What every mechanical system answers.

use std::sync::Arc;

use crate::algebra::{SparsePattern, SymmetricMatrix};

use super::past_motion::{PastMotion, PastReading, PastView};
use super::{BilateralConstraint, LinearPart, SampledController, UnilateralConstraint, World};

/// Where and when a function of the motion is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// Time.
    pub t: f64,
    /// Coordinates.
    pub q: &'a [f64],
    /// Velocity.
    pub v: &'a [f64],
    /// The motion so far, for systems that read it.
    #[doc(hidden)]
    pub past: Option<&'a PastMotion>,
    /// Outputs that controllers hold; empty where there are none.
    pub held: &'a [f64],
}

impl<'a> Instant<'a> {
    /// An instant without a past.
    pub fn new(t: f64, q: &'a [f64], v: &'a [f64]) -> Self {
        Self {
            t,
            q,
            v,
            past: None,
            held: &[],
        }
    }

    /// The past up to this instant.
    pub fn past_view(&self) -> PastView<'a> {
        PastView::new(self.past, self.t, self.q, self.v)
    }
}

/// What the external force depends on; schemes skip iterations that cannot change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceDependence {
    /// No external force.
    None,
    /// The force depends on time at most.
    Time,
    /// The force depends on position or velocity.
    State,
}

/// What a system with sparse matrices tells beforehand.
#[derive(Clone, Debug)]
pub struct Sparsity {
    /// Pattern shared by mass, stiffness, damping and second derivatives of the potential.
    pub pattern: Arc<SparsePattern>,
    /// Velocity indices that contact rows can touch, sorted.
    pub contact_dofs: Vec<u32>,
}

/// A mechanical system `M(q) dv = (f − ∇V − K q − C v + f_cov) dt + H dp`.
///
/// `f_cov(q, v) = −Ṁ v + ½ ∂_q (v·M v)` is the covariant (Coriolis, centrifugal, gyroscopic) term.
/// All methods are pure: the same arguments give the same bits. Systems are made by the builders of this module; what only
/// schemes ask of them is not shown here.
pub trait MechanicalSystem: Send + Sync {
    /// Number of velocity variables.
    fn dof(&self) -> usize;

    /// The pattern of the matrices where they are sparse (meshes); none for dense matrices.
    #[doc(hidden)]
    fn sparsity(&self) -> Option<&Sparsity> {
        None
    }

    /// A zero matrix of the kind that [`Self::mass`] fills.
    fn new_matrix(&self) -> SymmetricMatrix {
        match self.sparsity() {
            Some(sparsity) => SymmetricMatrix::sparse_zeros(sparsity.pattern.clone()),
            None => SymmetricMatrix::zeros(self.dof()),
        }
    }

    /// Number of stored coordinates (larger than [`Self::dof`] with quaternions).
    fn coordinate_count(&self) -> usize {
        self.dof()
    }

    /// Names of the coordinates.
    fn coordinate_names(&self) -> &[String];

    /// Names of the velocity variables.
    fn velocity_names(&self) -> &[String];

    /// Whether the mass matrix is the same in every configuration.
    fn mass_is_constant(&self) -> bool;

    /// Writes M(q).
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix);

    /// Kinetic energy ½ v·M(q) v.
    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let mut mass = self.new_matrix();
        self.mass(q, &mut mass);
        0.5 * mass.bilinear(v, v)
    }

    /// The system as a world of rigid bodies, which schemes of its own step.
    fn as_world(&self) -> Option<&World> {
        None
    }

    /// Whether [`Self::covariant_force`] can be nonzero.
    fn has_covariant_force(&self) -> bool {
        !self.mass_is_constant()
    }

    /// Writes the covariant force f_cov(q, v).
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// What the external force depends on.
    fn force_dependence(&self) -> ForceDependence;

    /// Writes the external force f(t, q, v), without potential, linear and covariant parts.
    fn force(&self, at: &Instant, out: &mut [f64]);

    /// Writes ∂f/∂q and ∂f/∂v row-major and returns true, or returns false where they are not known; they decide how
    /// stiff a force an implicit step can take.
    fn force_derivatives(&self, _at: &Instant, _dq: &mut [f64], _dv: &mut [f64]) -> bool {
        false
    }

    /// Writes functions of the instant that change their sign wherever forces or friction may jump or bend, where they are known.
    fn switches(&self, _at: &Instant, out: &mut Vec<f64>) {
        out.clear();
    }

    /// Whether there is a potential besides the linear stiffness.
    fn has_potential(&self) -> bool;

    /// Potential V(q), without the energy of the linear stiffness.
    fn potential(&self, q: &[f64]) -> f64;

    /// Writes ∇V(q).
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]);

    /// Whether ∇V is the same everywhere (dead loads): one solve then is exact.
    fn potential_is_linear(&self) -> bool {
        false
    }

    /// Writes the second derivatives of V and returns true, or returns false where they are not
    /// known; they only speed up the implicit iteration.
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool;

    /// Writes a force whose work on q₁ − q₀ is exactly V(q₁) − V(q₀) and returns true, where the
    /// system knows one better than the general discrete gradient.
    fn discrete_gradient(&self, _q0: &[f64], _q1: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// The linear part K, C.
    #[doc(hidden)]
    fn linear_part(&self) -> Option<&LinearPart> {
        None
    }

    /// Moves the configuration: `out = q ⊕ h v`.
    fn displace(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        for ((o, q), v) in out.iter_mut().zip(q).zip(v) {
            *o = q + h * v;
        }
    }

    /// Writes the rates of the coordinates, which are the velocities unless rotations are quaternions.
    fn coordinate_rates(&self, _q: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
    }

    /// Outputs that the controllers hold, where whoever makes a step tells them.
    #[doc(hidden)]
    fn held(&self) -> Option<&[f64]> {
        None
    }

    /// Controllers in discrete time whose outputs the forces find in [`Instant::held`], in this order.
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        &[]
    }

    /// Whether configurations turn, so that spins in the frame of the body do not keep their momentum while it
    /// moves freely; [`Self::coast`] then moves it.
    fn turns(&self) -> bool {
        false
    }

    /// Moves configuration and velocity freely, without forces, keeping energy and momentum.
    fn coast(&self, q: &[f64], v: &[f64], h: f64, q_out: &mut [f64], v_out: &mut [f64]) {
        self.displace(q, v, h, q_out);
        v_out.copy_from_slice(v);
    }

    /// Linear and angular momentum about the origin, in the world, of systems of free bodies.
    fn momentum(&self, _q: &[f64], _v: &[f64]) -> Option<[f64; 6]> {
        None
    }

    /// What a generalized impulse at q adds to [`Self::momentum`].
    fn wrench(&self, _q: &[f64], _impulse: &[f64]) -> Option<[f64; 6]> {
        None
    }

    /// What a user should know of the system before a run.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Unilateral constraints.
    fn constraints(&self) -> &[UnilateralConstraint];

    /// Perfect bilateral constraints.
    fn joints(&self) -> &[BilateralConstraint];

    /// What the forces and the friction read of the past motion.
    #[doc(hidden)]
    fn past_reading(&self) -> Option<&PastReading> {
        None
    }

    /// The past motion, while a run keeps one.
    #[doc(hidden)]
    fn past(&self) -> Option<&PastMotion> {
        None
    }
}
