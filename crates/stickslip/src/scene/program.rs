//! Compiled expressions as the functions a system is made of.
//!
//! The registers of a tape live in one buffer per thread: evaluation takes `&self`, allocates
//! nothing once warm, and any number of threads may evaluate at the same time.

use std::cell::RefCell;
use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::systems::constraint::{FrictionMemory, SlipFriction};
use crate::systems::functions::{Force, FrameRows, Inertia, Potential, ScalarFunction, Switches};
use crate::systems::past_motion::{FunctionIntegral, PastIntegral, PastView, WindowMaximum};
use crate::systems::{ForceDependence, Instant};

use super::expression::{Expression, Graph, Tape};

thread_local! {
    static REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A tape over the inputs (t, q, v) of a system.
#[derive(Clone, Debug)]
pub(super) struct Program {
    tape: Tape,
    dof: usize,
}

impl Program {
    pub fn compile(graph: &Graph, outputs: &[Expression], dof: usize) -> Self {
        Self {
            tape: Tape::compile(graph, outputs),
            dof,
        }
    }

    /// The registers are taken out of their place meanwhile: reading the past may evaluate another
    /// program, the history before the start.
    #[inline]
    fn evaluate(&self, read: impl Fn(usize) -> f64, out: &mut [f64]) {
        let mut registers = REGISTERS.take();
        self.tape.evaluate_with(read, &mut registers, out);
        REGISTERS.set(registers);
    }

    /// Evaluates at (t, q, v); `v` may be empty if no output depends on it.
    #[inline]
    fn run(&self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) {
        let n = self.dof;
        let read = |k: usize| match k {
            0 => t,
            k if k <= n => q[k - 1],
            k => v[k - 1 - n],
        };
        self.evaluate(read, out);
    }

    /// Evaluates at an instant, with values of the past.
    fn run_with_past(&self, at: &Instant, past: &[PastRead], out: &mut [f64]) {
        let n = self.dof;
        let view = at.past_view();
        let read = |k: usize| match k {
            0 => at.t,
            k if k <= n => at.q[k - 1],
            k if k >= Graph::PAST_FIRST => past[k - Graph::PAST_FIRST].value(&view),
            // Without its controller there is no output.
            k if k >= Graph::HELD_FIRST => {
                let held = at.held.get(k - Graph::HELD_FIRST);
                held.copied().unwrap_or(f64::NAN)
            }
            k => at.v[k - 1 - n],
        };
        self.evaluate(read, out);
    }

    /// Evaluates at an instant, with the state of a controller.
    pub fn run_with_state(&self, at: &Instant, state: &[f64], out: &mut [f64]) {
        let n = self.dof;
        let read = |k: usize| match k {
            0 => at.t,
            k if k <= n => at.q[k - 1],
            k if k >= Graph::STATE_FIRST => state[k - Graph::STATE_FIRST],
            k => at.v[k - 1 - n],
        };
        self.evaluate(read, out);
    }

    /// Value of the only output at an instant, with values of the past and the slip speed.
    fn run_with_slip(&self, at: &Instant, past: &[PastRead], s: f64) -> f64 {
        let n = self.dof;
        let view = at.past_view();
        let read = |k: usize| match k {
            0 => at.t,
            k if k <= n => at.q[k - 1],
            Graph::SLIP => s,
            k if k >= Graph::PAST_FIRST => past[k - Graph::PAST_FIRST].value(&view),
            k => at.v[k - 1 - n],
        };
        let mut out = [0.0];
        self.evaluate(read, &mut out);
        out[0]
    }

    /// Value of the only output, a function of time and position.
    pub fn value(&self, t: f64, q: &[f64]) -> f64 {
        let mut out = [0.0];
        self.run(t, q, &[], &mut out);
        out[0]
    }

    /// Evaluates at (t, q, v).
    pub fn state(&self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.run(t, q, v, out);
    }

    pub fn write(&self, t: f64, q: &[f64], out: &mut [f64]) {
        self.run(t, q, &[], out);
    }
}

/// Mass matrix and covariant force.
#[derive(Debug)]
pub(super) struct SceneInertia {
    pub mass: Program,
    pub covariant_force: Program,
}

impl Inertia for SceneInertia {
    // A constant mass matrix is handed over as numbers, not as this type.
    fn is_constant(&self) -> bool {
        false
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        self.mass.run(0.0, q, &[], out.values_mut());
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.covariant_force.run(0.0, q, v, out);
    }
}

/// Potential with its first and second derivatives.
#[derive(Debug)]
pub(super) struct ScenePotential {
    pub value: Program,
    pub gradient: Program,
    pub hessian: Program,
}

impl Potential for ScenePotential {
    fn value(&self, q: &[f64]) -> f64 {
        self.value.value(0.0, q)
    }
    fn gradient(&self, q: &[f64], out: &mut [f64]) {
        self.gradient.run(0.0, q, &[], out);
    }
    fn hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        self.hessian.run(0.0, q, &[], out.values_mut());
        true
    }
}

/// One value of the past, with the handle that reads it.
#[derive(Clone, Debug)]
pub(super) enum PastRead {
    Delayed {
        coordinate: usize,
        tau: f64,
    },
    DelayedVelocity {
        coordinate: usize,
        tau: f64,
    },
    Maximum(WindowMaximum),
    /// The maximum of the negative.
    Minimum(WindowMaximum),
    Mean(PastIntegral),
    Integral(PastIntegral),
    FunctionMean(FunctionIntegral),
    FunctionIntegral(FunctionIntegral),
    Deviation {
        coordinates: Vec<usize>,
        window: f64,
    },
    Varying {
        coordinate: usize,
        delay: Program,
        shortest: f64,
    },
}

impl PastRead {
    fn value(&self, view: &PastView) -> f64 {
        match self {
            Self::Delayed { coordinate, tau } => view.delayed(*coordinate, *tau),
            Self::DelayedVelocity { coordinate, tau } => view.delayed_velocity(*coordinate, *tau),
            Self::Maximum(handle) => view.maximum(handle),
            Self::Minimum(handle) => -view.maximum(handle),
            Self::Mean(handle) => view.mean(handle),
            Self::Integral(handle) => view.integral(handle),
            Self::FunctionMean(handle) => view.function_mean(handle),
            Self::FunctionIntegral(handle) => view.function_integral(handle),
            Self::Deviation {
                coordinates,
                window,
            } => view.deviation(coordinates, *window),
            Self::Varying {
                coordinate,
                delay,
                shortest,
            } => {
                let tau = delay.value(view.t(), view.q());
                // A delay below the smallest one would reach into the step: refused like one from the
                // future.
                let tau = if tau < *shortest { -1.0 } else { tau };
                view.delayed(*coordinate, tau)
            }
        }
    }
}

/// Friction that reads the past.
#[derive(Debug)]
pub(super) struct SceneMemory {
    pub factor: Program,
    pub past: Arc<[PastRead]>,
}

impl FrictionMemory for SceneMemory {
    fn factor(&self, at: &Instant) -> f64 {
        let mut out = [0.0];
        self.factor.run_with_past(at, &self.past, &mut out);
        out[0]
    }
}

/// Friction that depends on the slip speed.
#[derive(Debug)]
pub(super) struct SceneSlip {
    pub factor: Program,
    pub slope: Program,
    pub past: Arc<[PastRead]>,
}

impl SlipFriction for SceneSlip {
    fn factor(&self, at: &Instant, s: f64) -> f64 {
        self.factor.run_with_slip(at, &self.past, s)
    }
    fn slope(&self, at: &Instant, s: f64) -> f64 {
        self.slope.run_with_slip(at, &self.past, s)
    }
}

/// External force.
#[derive(Debug)]
pub(super) struct SceneForce {
    pub force: Program,
    pub dependence: ForceDependence,
    /// ∂f/∂q, then ∂f/∂v, row-major; none if both are zero.
    pub derivatives: Option<Program>,
    pub past: Arc<[PastRead]>,
}

/// Where the expressions of a scene may jump or bend.
pub(super) struct SceneSwitches {
    pub values: Program,
    pub count: usize,
    pub past: Arc<[PastRead]>,
}

impl Switches for SceneSwitches {
    fn values(&self, at: &Instant, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.count, 0.0);
        self.values.run_with_past(at, &self.past, out);
    }
}

impl Force for SceneForce {
    fn derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        let Some(program) = &self.derivatives else {
            return false;
        };
        let mut both = vec![0.0; dq.len() + dv.len()];
        program.run_with_past(at, &self.past, &mut both);
        dq.copy_from_slice(&both[..dq.len()]);
        dv.copy_from_slice(&both[dq.len()..]);
        true
    }
    fn dependence(&self) -> ForceDependence {
        self.dependence
    }
    fn evaluate(&self, at: &Instant, out: &mut [f64]) {
        self.force.run_with_past(at, &self.past, out);
    }
}

/// A gap or the equation of a joint.
#[derive(Debug)]
pub(super) struct SceneScalar {
    pub value: Program,
    pub gradient: Program,
    /// Partial derivative in time; none if it is zero.
    pub rate: Option<Program>,
    /// Change of `dφ · v + ∂φ/∂t` along the motion with constant velocity.
    pub turning: Program,
    /// Size of the numbers that are added in it.
    pub numbers: f64,
    /// Whether gradient and rate are numbers.
    pub affine: bool,
    /// Whether the gradient jumps somewhere.
    pub kinks: bool,
    /// Whether the value may jump.
    pub jumps: bool,
}

impl ScalarFunction for SceneScalar {
    fn has_kinks(&self) -> bool {
        self.kinks
    }
    fn has_jumps(&self) -> bool {
        self.jumps
    }
    fn is_affine(&self) -> bool {
        self.affine
    }
    fn magnitude(&self, _t: f64, _q: &[f64]) -> f64 {
        self.numbers
    }
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        self.value.value(t, q)
    }
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]) {
        self.gradient.run(t, q, &[], out);
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        self.rate.as_ref().map_or(0.0, |rate| rate.value(t, q))
    }
    fn turning(&self, t: f64, q: &[f64], v: &[f64]) -> Option<f64> {
        let mut out = [0.0];
        self.turning.state(t, q, v, &mut out);
        Some(out[0])
    }
}

/// Rows of a contact frame with their velocities at rest.
#[derive(Debug)]
pub(super) struct SceneRows {
    pub rows: Program,
    /// Local velocities at v = 0; none if they are zero.
    pub drift: Option<Program>,
    /// Changes of the local velocities along the motion with constant velocity.
    pub turning: Program,
}

impl FrameRows for SceneRows {
    fn rows(&self, t: f64, q: &[f64], out: &mut [f64]) {
        self.rows.write(t, q, out);
    }
    fn drift(&self, t: f64, q: &[f64], out: &mut [f64]) {
        if let Some(drift) = &self.drift {
            drift.write(t, q, out);
        }
    }
    fn turning(&self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> bool {
        self.turning.state(t, q, v, out);
        true
    }
}
