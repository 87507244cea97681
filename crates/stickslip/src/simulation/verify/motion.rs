//! A motion as data: nodes with left and right velocities and reactions.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::records::StepRecord;
use crate::stepping::PositionCorrection;
use crate::systems::MechanicalSystem;

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
    /// Reaction integrated over the interval that ends here, per contact row (normal first); none where it is left out.
    #[serde(default)]
    pub smooth: Vec<f64>,
    /// Impulse at this instant, per contact row; in a run the impulse of the step that ends here. None where it is left out.
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

/// Rows of all contacts of a system.
pub(crate) fn contact_rows(system: &dyn MechanicalSystem) -> usize {
    let points = system.constraints().iter().flat_map(|c| c.points());
    points.map(|p| 1 + p.law.tangent_dimension()).sum()
}

/// Why a motion could not be read.
#[derive(Debug, Error)]
pub enum MotionError {
    /// The text is not a motion.
    #[error("not a motion: {0}")]
    Format(#[from] serde_json::Error),
    /// There is nothing to judge.
    #[error("not a motion: it has no nodes")]
    Empty,
    /// How time became steps is told by numbers that no scheme has.
    #[error(
        "not a motion: `discretisation` needs a finite `contact_gap` from zero on and a `theta` from 0.5 to 1"
    )]
    Discretisation,
    /// A node has more or fewer numbers than the system.
    #[error(
        "not a motion of this system: `{key}` of node {node} has length {found}, and not {expected}"
    )]
    Length {
        /// The node, counted from zero.
        node: usize,
        /// Which of its lists.
        key: &'static str,
        /// Numbers in the list.
        found: usize,
        /// Numbers that the system has there.
        expected: usize,
    },
    /// A number that is none.
    #[error("not a motion: a number in `{key}` of node {node} is not finite")]
    NotFinite {
        /// The node, counted from zero.
        node: usize,
        /// Which of its numbers.
        key: &'static str,
    },
    /// Times do not increase.
    #[error(
        "not a motion: node {node} is at t = {t}, which is not after t = {before} of the one before"
    )]
    Time {
        /// The node, counted from zero.
        node: usize,
        /// Its time.
        t: f64,
        /// That of the node before.
        before: f64,
    },
    /// A reaction over an interval that is not there.
    #[error(
        "not a motion: no interval ends at the first node, so that its `smooth` is zero or left out"
    )]
    NoInterval,
}

impl Motion {
    /// A motion in JSON: `{"nodes": [{"t", "q", "v_left", "v_right", "smooth", "atom"}, ..], "quadrature": ..}`.
    pub fn from_json(text: &str) -> Result<Self, MotionError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Whether it can be a motion of a system: nodes in order, with as many finite numbers as the system has. Reactions that a node leaves out are none.
    pub fn check(&self, system: &dyn MechanicalSystem) -> Result<(), MotionError> {
        if self.nodes.is_empty() {
            return Err(MotionError::Empty);
        }
        if self.discretisation.is_some_and(|rule| !rule.is_valid()) {
            return Err(MotionError::Discretisation);
        }
        let (coordinates, dof) = (system.coordinate_count(), system.dof());
        let rows = contact_rows(system);
        let mut before = f64::NEG_INFINITY;
        for (node, here) in self.nodes.iter().enumerate() {
            // What may be left out is empty then.
            let lists = [
                ("q", &here.q, coordinates, false),
                ("v_left", &here.v_left, dof, false),
                ("v_right", &here.v_right, dof, false),
                ("smooth", &here.smooth, rows, true),
                ("atom", &here.atom, rows, true),
                ("moved", &here.moved, dof, true),
                ("sliding", &here.sliding, rows, true),
            ];
            if !here.t.is_finite() {
                return Err(MotionError::NotFinite { node, key: "t" });
            }
            for (key, list, expected, optional) in lists {
                let found = list.len();
                if found != expected && !(optional && found == 0) {
                    return Err(MotionError::Length {
                        node,
                        key,
                        found,
                        expected,
                    });
                }
                if list.iter().any(|x| !x.is_finite()) {
                    return Err(MotionError::NotFinite { node, key });
                }
            }
            if !(here.t > before) {
                let t = here.t;
                return Err(MotionError::Time { node, t, before });
            }
            before = here.t;
        }
        if self.nodes[0].smooth.iter().any(|&p| p != 0.0) {
            return Err(MotionError::NoInterval);
        }
        Ok(())
    }

    /// Nodes that leave out the impulse or the reaction of contacts, which is none there.
    pub fn untold(&self, system: &dyn MechanicalSystem) -> usize {
        let rows = contact_rows(system);
        let is_run = self.discretisation.is_some();
        let leaves_out = |(k, node): &(usize, &MotionNode)| {
            let smooth = !is_run && *k > 0 && node.smooth.is_empty();
            // No step leads to the first node of a run.
            smooth || (node.atom.is_empty() && !(is_run && *k == 0))
        };
        match rows {
            0 => 0,
            _ => self.nodes.iter().enumerate().filter(leaves_out).count(),
        }
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
