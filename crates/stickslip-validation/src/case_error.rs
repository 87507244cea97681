//! Why a case could not be computed.

use thiserror::Error;

use stickslip::laws::LawError;
use stickslip::records::StepOutcome;
use stickslip::simulation::SimulationError;
use stickslip::stepping::ThetaError;
use stickslip::systems::SystemError;
use stickslip::systems::past_motion::PastError;

/// Why a case, or a quantity of it, could not be computed. It is reported and counts as failed.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The family has no evaluator.
    #[error("unknown family `{family}`; nearest known: `{nearest}`")]
    UnknownFamily {
        /// Family of the case.
        family: String,
        /// The known name that resembles it most.
        nearest: String,
    },
    /// The case lacks a part or a part has the wrong form.
    #[error("malformed case: {message}")]
    Malformed {
        /// What the reader of JSON said.
        message: String,
    },
    /// A parameter is not there.
    #[error("parameter `{name}` is missing")]
    MissingParameter {
        /// Its path.
        name: String,
    },
    /// A parameter has the wrong form or size.
    #[error("parameter `{name}` is {found}, expected {expected}")]
    BadParameter {
        /// Its path.
        name: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The family does not treat these parameters.
    #[error("not computed: {reason}")]
    NotComputed {
        /// Why.
        reason: String,
    },
    /// The engine broke off, which is a fault of it, whatever the case.
    #[error("the engine broke off, which is a fault of its own: {message}")]
    BrokenOff {
        /// What it said.
        message: String,
    },
    /// A system was refused.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A law of contact, friction or impact was refused.
    #[error(transparent)]
    Law(#[from] LawError),
    /// A simulation was refused.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A reading of the past was refused.
    #[error(transparent)]
    Past(#[from] PastError),
    /// The parameter of the scheme was refused.
    #[error(transparent)]
    Theta(#[from] ThetaError),
    /// A step of the scheme could not be made.
    #[error("the step from t = {t} ended as {outcome:?}")]
    Step {
        /// Time at its start.
        t: f64,
        /// How it ended.
        outcome: StepOutcome,
    },
}

impl CaseError {
    /// The family does not treat these parameters.
    pub(crate) fn not_computed(reason: impl ToString) -> Self {
        let reason = reason.to_string();
        Self::NotComputed { reason }
    }

    /// A parameter has the wrong form or size.
    pub(crate) fn bad_parameter(
        name: impl ToString,
        found: impl ToString,
        expected: &'static str,
    ) -> Self {
        Self::BadParameter {
            name: name.to_string(),
            found: found.to_string(),
            expected,
        }
    }
}
