//! Settings of a run, why one cannot be built, and how one ends.

use thiserror::Error;

use crate::quantity::typed;
use crate::records::StepOutcome;
use crate::systems::past_motion::PastError;

use super::step_control::StepControl;

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Step length.
    pub control: StepControl,
    /// Time at the start.
    pub t_start: f64,
    /// Whether the initial velocity is a left velocity, on which the impact law acts at the initial
    /// instant (default); otherwise the first step meets it.
    pub initial_impact: bool,
    /// What a step with several solutions does.
    pub on_several: OnSeveral,
}

/// What a run does where the law of a step has several solutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSeveral {
    /// Go on with the solution the solver chose by its named rule; the outcome tells.
    #[default]
    Choose,
    /// Stop before the step, with the verdict.
    Stop,
}

impl SimulationSettings {
    /// Fixed step `h` from time zero.
    pub fn fixed(h: f64) -> Self {
        Self {
            control: StepControl::Fixed { h },
            t_start: 0.0,
            initial_impact: true,
            on_several: OnSeveral::Choose,
        }
    }

    /// Adaptive step with the given tolerance on positions, starting with `h`.
    pub fn adaptive(h: f64, tolerance: f64) -> Self {
        let control = StepControl::Adaptive {
            h,
            tolerance,
            h_min: 1e-9 * h,
            h_max: 1e3 * h,
        };
        Self {
            control,
            t_start: 0.0,
            initial_impact: true,
            on_several: OnSeveral::Choose,
        }
    }
}

/// Why a simulation was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimulationError {
    /// The initial position or velocity has the wrong length.
    #[error("the initial {what} has {found} entries, expected {expected}")]
    Dimension {
        /// Position or velocity.
        what: &'static str,
        /// Length found.
        found: usize,
        /// Length expected.
        expected: usize,
    },
    /// An initial value is not finite.
    #[error("the initial value of `{name}` is {value}, expected a finite number")]
    NonFinite {
        /// The variable.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The energy overflows, or is not defined.
    #[error(
        "the energy at the start is not a finite number (kinetic {kinetic:e} J, potential {potential:e} J): an initial value is \
         too large, or the potential is not defined there"
    )]
    Energy {
        /// Kinetic energy.
        kinetic: f64,
        /// Potential energy.
        potential: f64,
    },
    /// A step length or tolerance is not positive.
    #[error("{what} is {value}, expected a positive finite number")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The past that the system reads cannot be had.
    #[error(transparent)]
    Past(#[from] PastError),
    /// The generalized law needs all contacts, its own scheme, and a law of normal impact.
    #[error("constraint `{constraint}`: the generalized law {reason}")]
    Generalized {
        /// Constraint.
        constraint: String,
        /// What is not possible.
        reason: &'static str,
    },
    /// A gap vanishes together with its gradient.
    #[error(
        "constraint `{constraint}`: the gap vanishes together with its gradient, so that it has no normal there; use a gap that \
         goes through zero, as y instead of y^2"
    )]
    DegenerateGap {
        /// Constraint.
        constraint: String,
    },
    /// The equation of a joint vanishes together with its gradient.
    #[error(
        "joint `{joint}`: the equation vanishes together with its gradient, so that no impulse holds it; use an equation that \
         goes through zero, as y instead of y^2"
    )]
    DegenerateJoint {
        /// Joint.
        joint: String,
    },
    /// The scheme does not compute this system.
    #[error("the scheme `{scheme}` cannot be used: {reason}")]
    Scheme {
        /// Scheme.
        scheme: &'static str,
        /// What it does not compute.
        reason: String,
    },
    /// Several contacts under the energetic law that act on each other close together.
    #[error(
        "constraint `{constraint}`: {what} under the energetic law close together and act on each other; their impact \
         depends on the ratio of their stiffnesses, which rigid contacts do not have: use the scheme `penalty` or \
         another impact law"
    )]
    SeveralLayers {
        /// Constraint.
        constraint: String,
        /// Which contacts.
        what: &'static str,
    },
    /// The step is beyond the stability of the scheme.
    #[error(
        "the step {step} is unstable with the scheme `{scheme}`: at most {}, {} is advised",
        typed(*stable, 4),
        typed(*advised, 4)
    )]
    UnstableStep {
        /// Scheme.
        scheme: &'static str,
        /// Step.
        step: f64,
        /// Limit of stability.
        stable: f64,
        /// Step that is accurate.
        advised: f64,
    },
    /// A world needs a scheme for worlds, and such a scheme a world.
    #[error("the scheme `{scheme}` of this run {reason}")]
    World {
        /// Scheme.
        scheme: &'static str,
        /// What is not possible.
        reason: &'static str,
    },
    /// Moreau's S(q, v) is inelastic.
    #[error(
        "constraint `{constraint}`: the law S(q, v) (kinetic projection) is inelastic, restitution {restitution} \
         needs Coulomb's flow rule"
    )]
    ElasticProjection {
        /// Constraint.
        constraint: String,
        /// Restitution found.
        restitution: f64,
    },
}

/// How a call to [`Simulation::run_until`] ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunEnd {
    /// The end time was reached.
    Finished,
    /// The observer asked to stop.
    Interrupted,
    /// A step could not be made.
    Stopped {
        /// Time at which the step began.
        t: f64,
        /// Why.
        outcome: StepOutcome,
    },
}
