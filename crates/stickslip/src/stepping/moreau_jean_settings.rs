//! Settings of the theta scheme.

use crate::systems::MechanicalSystem;

use super::joints::JointVelocity;
use super::position_projection::Projection;

/// Which contacts take part in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// `φ + h u_N ≤ ε_g` and `u_N ≤ ε_u`: the rule of the paper.
    Paper,
    /// `φ + h u_N ≤ ε_g` alone; normal contact work can become positive.
    Forecast,
    /// As forecast, but a contact that already opens does no normal work.
    #[default]
    Guard,
}

/// How a nonlinear potential enters the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InternalForce {
    /// ∇V(q_θ); the energy defect is booked.
    #[default]
    AtTheta,
    /// Discrete gradient between the ends of the step (θ = ½): the potential defect vanishes.
    DiscreteGradient,
}

/// Settings of the theta scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct MoreauJeanSettings {
    /// θ in [½, 1]; none chooses 0.51 when some contact has friction and every restitution is at
    /// most 0.96, else ½.
    pub theta: Option<f64>,
    /// Activation rule.
    pub activation: Activation,
    /// Tolerance ε_g on the forecast gap, in the unit of the gap; at least rounding of the lengths of the run.
    pub gap_tolerance: f64,
    /// Tolerance ε_u on the approach velocity of the rule `paper`; at least rounding of the speeds of the run.
    pub velocity_tolerance: f64,
    /// Nonlinear potential.
    pub internal_force: InternalForce,
    /// Velocity on which joints are enforced.
    pub joint_velocity: JointVelocity,
    /// Whether positions are corrected; only with the activation `guard`, the others are rules of bare schemes.
    pub projection: Projection,
    /// Largest number of implicit iterations.
    pub iterations_max: usize,
}

impl Default for MoreauJeanSettings {
    fn default() -> Self {
        Self {
            theta: None,
            activation: Activation::default(),
            gap_tolerance: 0.0,
            velocity_tolerance: 0.0,
            internal_force: InternalForce::default(),
            joint_velocity: JointVelocity::default(),
            projection: Projection::default(),
            iterations_max: 60,
        }
    }
}

/// Why θ was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ThetaError {
    /// θ is not in [½, 1].
    #[error("theta = {theta} is not in [0.5, 1]")]
    OutOfRange {
        /// The value given.
        theta: f64,
    },
}

/// 0.51 where friction could jitter and restitution allows it, else ½.
pub(crate) fn default_theta(system: &dyn MechanicalSystem) -> f64 {
    let points = || {
        system
            .constraints()
            .iter()
            .flat_map(|constraint| constraint.points())
    };
    let friction = points().any(|point| point.law.tangent_dimension() > 0);
    let restitution = points()
        .map(|point| point.law.impact().restitution())
        .fold(0.0, f64::max);
    if friction && restitution <= 0.96 {
        0.51
    } else {
        0.5
    }
}
