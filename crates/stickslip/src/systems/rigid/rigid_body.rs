//! A free rigid body in space.

use crate::algebra::SymmetricMatrix;
use crate::laws::ContactLaw;
use crate::systems::frame::orthonormal_tangents;
use crate::systems::functions::{Force, FrameRows, GivenForce, ScalarFunction};
use crate::systems::generalized::{check_configuration, dependent_constraints};
use crate::systems::{
    BilateralConstraint, ContactFrame, ForceDependence, Instant, MechanicalSystem, SystemError,
    UnilateralConstraint,
};

use super::free_rotation::coast;
use super::quaternion::UnitQuaternion;
use crate::algebra::{cross, dot};

/// A rigid body: coordinates (x, y, z, w, a, b, c) with a unit quaternion, velocity (v, ω) with
/// the spin ω in the frame of the body (principal axes).
///
/// # What it computes
/// `m v̇ = f`, `J ω̇ + ω × J ω = m_body`; the gyroscopic term is the covariant force, so that a
/// bare theta scheme evaluates it at ω_θ where it does no work, and the orientation moves by
/// `R_{k+1} = R_k exp(h ω_θ)`. With corrected positions the body coasts by the midpoint rule and the Cayley map
/// before and after the impulses of a step, which keeps energy and momentum to rounding.
///
/// # Source
/// [AcaryCollinsCraft2023] extended to rotations, section 9.2 of the specification of the scheme.
///
/// # Guarantees
/// The quaternion stays of norm one; the gyroscopic power is zero to rounding at ω_θ.
///
/// # Behaviour to know
/// The implicit iteration of the bare scheme contracts like `h |ω|`: above about half a radian per step it is
/// reported as not converged.
///
/// # Cost
/// Constant mass matrix, factored once.
///
/// # Tested by
/// `tests/truth_rigid_body.rs`, family gyroscopic_midpoint of `validate`.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use stickslip::prelude::*;
/// use stickslip::systems::rigid::UnitQuaternion;
///
/// // A ball falls from the height of one metre.
/// let q = RigidBody::configuration([0.0, 0.0, 1.0], UnitQuaternion::IDENTITY);
/// let ball = RigidBody::builder(1.0, [0.4; 3]).gravity([0.0, 0.0, -9.81]).build(&q)?;
/// let mut run = Simulation::of(ball, (&q, &[0.0; 6]), 1e-3)?;
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// assert!((run.state().q[2] - (1.0 - 9.81 * 0.005)).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RigidBody {
    mass: f64,
    moments: [f64; 3],
    gravity: [f64; 3],
    force: Option<Box<dyn Force>>,
    names: Vec<String>,
    velocity_names: Vec<String>,
    constraints: Vec<UnilateralConstraint>,
    warnings: Vec<String>,
}

impl RigidBody {
    /// Starts a body with its mass and principal moments of inertia.
    pub fn builder(mass: f64, moments: [f64; 3]) -> RigidBodyBuilder {
        RigidBodyBuilder {
            mass,
            moments,
            gravity: [0.0; 3],
            force: None,
            constraints: Vec::new(),
        }
    }

    /// Coordinates for a position and an orientation.
    pub fn configuration(position: [f64; 3], orientation: UnitQuaternion) -> [f64; 7] {
        let [w, a, b, c] = orientation.0;
        [position[0], position[1], position[2], w, a, b, c]
    }

    /// What the user should know although the body was accepted.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Collects the parts of a [`RigidBody`].
pub struct RigidBodyBuilder {
    mass: f64,
    moments: [f64; 3],
    gravity: [f64; 3],
    force: Option<Box<dyn Force>>,
    constraints: Vec<UnilateralConstraint>,
}

impl RigidBodyBuilder {
    /// Uniform gravity, with its potential energy.
    pub fn gravity(mut self, gravity: [f64; 3]) -> Self {
        self.gravity = gravity;
        self
    }

    /// External force in the world and torque in the body frame, f(t, q, v).
    pub fn force<F>(mut self, force: F) -> Self
    where
        F: Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    {
        self.force = Some(Box::new(GivenForce {
            dependence: ForceDependence::State,
            evaluate: force,
        }));
        self
    }

    /// Contact of a ball of the given radius (zero for a corner) fixed at `arm` in the body with
    /// the plane `normal · x = offset`.
    pub fn ball_on_plane(
        mut self,
        name: impl Into<String>,
        arm: [f64; 3],
        radius: f64,
        normal: [f64; 3],
        offset: f64,
        law: ContactLaw,
    ) -> Self {
        let contact = BallOnPlane {
            arm,
            radius,
            normal,
            offset,
        };
        let frame = match law.tangent_dimension() {
            0 => ContactFrame::Frictionless,
            _ => ContactFrame::Material {
                count: 2,
                rows: Box::new(contact),
            },
        };
        self.constraints
            .push(UnilateralConstraint::new(name, contact).with_point(frame, law));
        self
    }

    /// Any other constraint; its rows have length 6.
    pub fn constraint(mut self, constraint: UnilateralConstraint) -> Self {
        self.constraints.push(constraint);
        self
    }

    /// Checks everything at the initial configuration and returns the body.
    pub fn build(self, q0: &[f64]) -> Result<RigidBody, SystemError> {
        let names = ["x", "y", "z", "qw", "qx", "qy", "qz"]
            .map(String::from)
            .to_vec();
        let velocity_names = ["vx", "vy", "vz", "wx", "wy", "wz"]
            .map(String::from)
            .to_vec();
        let mut body = RigidBody {
            mass: self.mass,
            moments: self.moments,
            gravity: self.gravity,
            force: self.force,
            names,
            velocity_names,
            constraints: self.constraints,
            warnings: Vec::new(),
        };
        check_configuration(&body, q0, None)?;
        body.warnings = dependent_constraints(&body, q0);
        Ok(body)
    }
}

impl MechanicalSystem for RigidBody {
    fn dof(&self) -> usize {
        6
    }
    fn coordinate_count(&self) -> usize {
        7
    }
    fn coordinate_names(&self) -> &[String] {
        &self.names
    }
    fn velocity_names(&self) -> &[String] {
        &self.velocity_names
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], out: &mut SymmetricMatrix) {
        out.clear();
        for i in 0..3 {
            out.set(i, i, self.mass);
            out.set(i + 3, i + 3, self.moments[i]);
        }
    }
    fn has_covariant_force(&self) -> bool {
        let [a, b, c] = self.moments;
        a != b || b != c
    }
    fn covariant_force(&self, _q: &[f64], v: &[f64], out: &mut [f64]) {
        let spin = [v[3], v[4], v[5]];
        let momentum = [
            spin[0] * self.moments[0],
            spin[1] * self.moments[1],
            spin[2] * self.moments[2],
        ];
        out[..3].fill(0.0);
        out[3..].copy_from_slice(&cross(momentum, spin));
    }
    fn force_dependence(&self) -> ForceDependence {
        self.force
            .as_ref()
            .map_or(ForceDependence::None, |force| force.dependence())
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        match &self.force {
            Some(force) => force.evaluate(at, out),
            None => out.fill(0.0),
        }
    }
    fn has_potential(&self) -> bool {
        self.gravity != [0.0; 3]
    }
    fn potential(&self, q: &[f64]) -> f64 {
        -self.mass * (0..3).map(|i| self.gravity[i] * q[i]).sum::<f64>()
    }
    fn potential_gradient(&self, _q: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = -self.mass * self.gravity[i];
        }
        out[3..].fill(0.0);
    }
    fn potential_is_linear(&self) -> bool {
        true
    }
    fn potential_hessian(&self, _q: &[f64], out: &mut SymmetricMatrix) -> bool {
        out.clear();
        true
    }
    fn displace(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        for i in 0..3 {
            out[i] = q[i] + h * v[i];
        }
        let rotation = UnitQuaternion::from_rotation_vector([h * v[3], h * v[4], h * v[5]]);
        let moved = UnitQuaternion([q[3], q[4], q[5], q[6]])
            .times(rotation)
            .normalized();
        out[3..].copy_from_slice(&moved.0);
    }
    fn coordinate_rates(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        out[..3].copy_from_slice(&v[..3]);
        let spin = UnitQuaternion([0.0, v[3], v[4], v[5]]);
        let turning = UnitQuaternion([q[3], q[4], q[5], q[6]]).times(spin);
        for (o, x) in out[3..].iter_mut().zip(turning.0) {
            *o = 0.5 * x;
        }
    }
    fn turns(&self) -> bool {
        true
    }
    fn coast(&self, q: &[f64], v: &[f64], h: f64, q_out: &mut [f64], v_out: &mut [f64]) {
        v_out.copy_from_slice(v);
        for i in 0..3 {
            q_out[i] = q[i] + h * v[i];
        }
        let start = UnitQuaternion([q[3], q[4], q[5], q[6]]);
        let (turned, spin) = coast(self.moments, start, [v[3], v[4], v[5]], h);
        q_out[3..].copy_from_slice(&turned.0);
        v_out[3..].copy_from_slice(&spin);
    }
    fn momentum(&self, q: &[f64], v: &[f64]) -> Option<[f64; 6]> {
        let impulse: [f64; 6] = std::array::from_fn(|i| match i {
            0..3 => self.mass * v[i],
            _ => self.moments[i - 3] * v[i],
        });
        self.wrench(q, &impulse)
    }
    fn wrench(&self, q: &[f64], impulse: &[f64]) -> Option<[f64; 6]> {
        let orientation = UnitQuaternion([q[3], q[4], q[5], q[6]]);
        let linear = [impulse[0], impulse[1], impulse[2]];
        let spin = orientation.world_from_body([impulse[3], impulse[4], impulse[5]]);
        let orbit = cross([q[0], q[1], q[2]], linear);
        let angular = std::array::from_fn::<f64, 3, _>(|i| orbit[i] + spin[i]);
        let [a, b, c] = linear;
        let [d, e, f] = angular;
        Some([a, b, c, d, e, f])
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        &self.constraints
    }
    fn joints(&self) -> &[BilateralConstraint] {
        &[]
    }
}

/// Ball fixed in the body against a plane: exact gap and rows.
#[derive(Clone, Copy, Debug)]
struct BallOnPlane {
    arm: [f64; 3],
    radius: f64,
    normal: [f64; 3],
    offset: f64,
}

impl BallOnPlane {
    /// Row of the velocity of the contact point along `axis`: (axis, r_body × axis_body).
    fn row(&self, q: &[f64], axis: [f64; 3], out: &mut [f64]) {
        let orientation = UnitQuaternion([q[3], q[4], q[5], q[6]]);
        let normal = orientation.body_from_world(self.normal);
        let contact: [f64; 3] = std::array::from_fn(|i| self.arm[i] - self.radius * normal[i]);
        out[..3].copy_from_slice(&axis);
        out[3..].copy_from_slice(&cross(contact, orientation.body_from_world(axis)));
    }

    /// Acceleration of the arm in the world at constant spin; the ball around it turns without acceleration of its lowest point.
    fn centripetal(&self, q: &[f64], v: &[f64]) -> [f64; 3] {
        let spin = [v[3], v[4], v[5]];
        let orientation = UnitQuaternion([q[3], q[4], q[5], q[6]]);
        orientation.world_from_body(cross(spin, cross(spin, self.arm)))
    }
}

impl ScalarFunction for BallOnPlane {
    fn value(&self, _t: f64, q: &[f64]) -> f64 {
        let arm = UnitQuaternion([q[3], q[4], q[5], q[6]]).world_from_body(self.arm);
        (0..3)
            .map(|i| self.normal[i] * (q[i] + arm[i]))
            .sum::<f64>()
            - self.offset
            - self.radius
    }
    fn gradient(&self, _t: f64, q: &[f64], out: &mut [f64]) {
        self.row(q, self.normal, out);
    }
    fn turning(&self, _t: f64, q: &[f64], v: &[f64]) -> Option<f64> {
        Some(dot(&self.normal, &self.centripetal(q, v)))
    }
    fn is_affine(&self) -> bool {
        // The centre of mass moves on a line in every step.
        self.arm == [0.0; 3]
    }
}

impl FrameRows for BallOnPlane {
    fn rows(&self, _t: f64, q: &[f64], out: &mut [f64]) {
        let [t1, t2] = orthonormal_tangents(self.normal);
        for (row, axis) in out.chunks_mut(6).zip([self.normal, t1, t2]) {
            self.row(q, axis, row);
        }
    }
    fn turning(&self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> bool {
        let [t1, t2] = orthonormal_tangents(self.normal);
        let acceleration = self.centripetal(q, v);
        for (out, axis) in out.iter_mut().zip([self.normal, t1, t2]) {
            *out = dot(&axis, &acceleration);
        }
        true
    }
}
