//! Where the steps of a run read their laws.

use serde::{Deserialize, Serialize};

/// How a run turned time into steps.
///
/// A run is a motion whose velocity is a step function: over a step of length h from (t₀, q₀, v₀) to
/// (t₁, q₁, v₁) all forces and impulses act at once. It solves a formulation if each line holds, step
/// by step, at the place and for the velocities at which the scheme states it: nothing is then left of order
/// h but the position, whose error has the bounds that [`super::verify`] derives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discretisation {
    /// `q₁ = q₀ + h v₀`; frames and gaps at (t₁, q₁).
    EndOfStep {
        /// Gap up to which a contact takes part.
        contact_gap: f64,
    },
    /// Frames and gaps at (t₀, q₀), then `q₁ = q₀ + h v₁`.
    StartOfStep {
        /// Gap up to which a contact takes part.
        contact_gap: f64,
    },
    /// Frames at (t₀, q₀), `q₁ = q₀ + h v_θ` with `v_θ = (1 − θ) v₀ + θ v₁`; a contact takes part if it is closed
    /// at the forecast gap `φ₀ + h φ̇(v₀)`.
    Theta {
        /// θ.
        theta: f64,
        /// Whether a contact that already opens is only kept from closing by the mean velocity v_θ.
        guard: bool,
        /// Forecast gap up to which a contact takes part.
        contact_gap: f64,
    },
}

impl Discretisation {
    /// Weight of v₁ in the velocity with which the position moves.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::EndOfStep { .. } => 0.0,
            Self::StartOfStep { .. } => 1.0,
            Self::Theta { theta, .. } => theta,
        }
    }

    /// Whether frames are taken at the end of the step.
    pub(super) fn at_end(self) -> bool {
        matches!(self, Self::EndOfStep { .. })
    }

    /// Whether the forces of a step know its impulses, so that a left velocity is only a name.
    pub(super) fn implicit(self) -> bool {
        matches!(self, Self::Theta { .. })
    }

    /// Gap up to which a contact takes part in a step.
    pub(super) fn contact_gap(self) -> f64 {
        match self {
            Self::EndOfStep { contact_gap }
            | Self::StartOfStep { contact_gap }
            | Self::Theta { contact_gap, .. } => contact_gap,
        }
    }

    /// Weight of the velocity after in the mean that Frémond's law reads, for the approach `u_n` before:
    /// an explicit step reads the mean at impacts only.
    pub(super) fn friction_weight(self, u_n: f64) -> f64 {
        match self {
            Self::Theta { theta, .. } => theta,
            _ if u_n < 0.0 => 0.5,
            _ => 1.0,
        }
    }

    /// Normal velocity after that restitution `e` asks of a contact with the normal velocity `u_n` before.
    pub(super) fn rebound(self, e: f64, u_n: f64) -> f64 {
        match self {
            _ if u_n <= 0.0 => -e * u_n,
            Self::Theta { theta, guard, .. } if guard => -(1.0 - theta) / theta * u_n,
            Self::Theta { .. } => -e * u_n,
            _ => 0.0,
        }
    }
}
