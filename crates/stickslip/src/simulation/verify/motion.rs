//! A motion as data: nodes with left and right velocities and reactions.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::records::StepRecord;
use crate::stepping::PositionCorrection;

use super::Discretisation;

/// In which sense displacements and changes of momentum of a motion file are integrals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quadrature {
    /// The velocity is affine between `v_right` of a node and `v_left` of the next.
    #[default]
    Affine,
    /// The velocity is `v_right` of the node up to the next one, where forces and reactions of the interval act.
    Step,
    /// Any path: the displacement is within h/2 times the change of velocity of the affine one, and the change of
    /// momentum within half of the change of what acts.
    Free,
}

/// One instant of a motion and the interval that ends there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotionNode {
    /// Time.
    pub t: f64,
    /// Configuration.
    pub q: Vec<f64>,
    /// Left velocity.
    pub v_left: Vec<f64>,
    /// Right velocity.
    pub v_right: Vec<f64>,
    /// Reaction integrated over the interval that ends here, per contact row (normal first).
    #[serde(default)]
    pub smooth: Vec<f64>,
    /// Impulse at this instant, per contact row; in a run the impulse of the step that ends here.
    #[serde(default)]
    pub atom: Vec<f64>,
    /// Displacement by which the position was projected at the end of the step, in a run whose positions are corrected.
    #[serde(default)]
    pub moved: Vec<f64>,
    /// Velocities of the contacts that a run recorded of its step, per contact row: those that its laws read, zero where a contact took
    /// no part. Nothing is told where it is empty.
    #[serde(default)]
    pub sliding: Vec<f64>,
}

/// A motion: nodes in time.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::verify::{Formulation, Motion, VerifySettings, verify};
///
/// // A body of 2 kg falls 0.2 m under g = 10 m/s², lands without bouncing and stays.
/// let motion = Motion::from_json(r#"{"nodes": [
///     {"t": 0.0, "q": [0.2], "v_left": [0.0], "v_right": [0.0]},
///     {"t": 0.2, "q": [0.0], "v_left": [-2.0], "v_right": [0.0], "smooth": [0.0], "atom": [4.0]},
///     {"t": 0.3, "q": [0.0], "v_left": [0.0], "v_right": [0.0], "smooth": [2.0], "atom": [0.0]}
/// ]}"#)?;
/// let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
/// let floor = UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let body = GeneralizedSystem::builder(["y"]).mass_diagonal(&[2.0]).dead_load(&[-20.0]);
/// let body = body.constraint(floor).build(&[0.2])?;
/// assert!(verify(&body, &motion, Formulation::P2, &VerifySettings::default()).accepted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The nodes.
    pub nodes: Vec<MotionNode>,
    /// How time became steps, if the motion is a run; a motion without it is judged as it stands.
    #[serde(default)]
    pub discretisation: Option<Discretisation>,
    /// In which sense a motion that is not a run is integrated.
    #[serde(default)]
    pub quadrature: Quadrature,
    /// Whether laws are read along the path of each step ([`PositionCorrection::Path`]).
    #[serde(default)]
    pub corrected: bool,
}

/// Why a motion could not be read.
#[derive(Debug, Error)]
pub enum MotionError {
    /// The text is not a motion.
    #[error("not a motion: {0}")]
    Format(#[from] serde_json::Error),
}

impl Motion {
    /// A motion in JSON: `{"nodes": [{"t", "q", "v_left", "v_right", "smooth", "atom"}, ..], "quadrature": ..}`.
    pub fn from_json(text: &str) -> Result<Self, MotionError> {
        Ok(serde_json::from_str(text)?)
    }

    /// An empty motion of a run, to be filled with [`Self::push`].
    pub fn of_run(discretisation: Discretisation) -> Self {
        Self {
            discretisation: Some(discretisation),
            ..Self::default()
        }
    }

    /// The same for a run whose scheme corrects positions.
    #[must_use]
    pub fn with_correction(mut self, correction: PositionCorrection) -> Self {
        self.corrected = correction == PositionCorrection::Path;
        self
    }

    /// Adds the record of a step: its impulse counts as an atom after the free velocity.
    pub fn push(&mut self, record: &StepRecord) {
        self.nodes.push(MotionNode {
            t: record.t,
            q: record.q.clone(),
            v_left: record.velocity_left.clone(),
            v_right: record.velocity.clone(),
            smooth: Vec::new(),
            atom: record.impulses.clone(),
            moved: record.projection.clone(),
            sliding: record.local_velocities.clone(),
        });
    }
}
