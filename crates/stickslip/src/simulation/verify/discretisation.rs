//! Where the steps of a run read their laws.

use serde::{Deserialize, Serialize};

/// How a run turned time into steps.
///
/// A run is a motion whose velocity is a step function: over a step of length h from (t₀, q₀, v₀) to
/// (t₁, q₁, v₁) all forces and impulses act at once. It solves a formulation if each line holds, step
/// by step, at the place and for the velocities at which the scheme states it: nothing is then left of order
/// h but the gap, whose error has the bound that [`super::verify`] derives. Where a law minimises a kinetic energy over a
/// step, the metric is that in which the step answers impulses: M, or `M + hθ C + h²θ² K` of a theta step.
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
        /// What holds for a contact that takes part although it opens.
        opening: Opening,
        /// Forecast gap up to which a contact takes part.
        contact_gap: f64,
        /// Whether a potential acts by a force whose work over the step is exactly its change.
        #[serde(default)]
        discrete_gradient: bool,
    },
}

/// What a theta step asks of a contact that is closed at the forecast gap and opens already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// The mean velocity v_θ does not close it.
    MeanVelocity,
    /// What it asks of one that closes: the restitution reflects its velocity.
    Restitution,
    /// Nothing: it takes no part.
    Free,
}

impl Discretisation {
    /// Whether its numbers are those of a scheme.
    pub(super) fn is_valid(self) -> bool {
        let theta = match self {
            Self::Theta { theta, .. } => theta,
            _ => 1.0,
        };
        (0.5..=1.0).contains(&theta) && self.contact_gap() >= 0.0 && self.contact_gap().is_finite()
    }

    /// The same for an impact at an instant, in which nothing moves that a mean velocity could close.
    pub(super) fn at_an_instant(mut self) -> Self {
        if let Self::Theta { opening, .. } = &mut self
            && *opening == Opening::MeanVelocity
        {
            *opening = Opening::Restitution;
        }
        self
    }

    /// Weight of v₁ in the velocity with which the position moves.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::EndOfStep { .. } => 0.0,
            Self::StartOfStep { .. } => 1.0,
            Self::Theta { theta, .. } => theta,
        }
    }

    /// Whether a contact that is closed and opens at this rate takes part, for sure and perhaps; rounding decides about
    /// the rates in between, up to `resting`.
    pub(super) fn takes_part(self, rate: f64, resting: f64) -> (bool, bool) {
        match self {
            Self::Theta {
                opening: Opening::Free,
                ..
            } => (rate <= 0.0, rate <= resting),
            _ => (true, true),
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

    /// Whether a potential acts by its discrete gradient.
    pub(super) fn discrete_gradient(self) -> bool {
        matches!(self, Self::Theta { discrete_gradient, .. } if discrete_gradient)
    }

    /// Gap up to which a contact takes part in a step.
    pub(crate) fn contact_gap(self) -> f64 {
        match self {
            Self::EndOfStep { contact_gap }
            | Self::StartOfStep { contact_gap }
            | Self::Theta { contact_gap, .. } => contact_gap,
        }
    }

    /// Weight of the velocity after in the mean that Frémond's law reads, for the approach `u_n` before: an explicit step reads the mean
    /// at impacts only, of a theta step it is that of the whole step.
    pub(super) fn friction_weight(self, u_n: f64, of_step: f64) -> f64 {
        match self {
            Self::Theta { .. } => of_step,
            _ if u_n < 0.0 => 0.5,
            _ => 1.0,
        }
    }

    /// Weights at which a step may read the friction of Frémond's law, latest first: θ, and where contacts strike no later than at 1/(1 + e)
    /// of theirs, beyond which friction could give energy. Of a contact in `strikes`, with its e, it is sure or not that it strikes.
    pub(super) fn friction_weights(self, strikes: impl Iterator<Item = (f64, bool)>) -> Vec<f64> {
        let mut latest = self.weight();
        let mut earlier = Vec::new();
        for (e, sure) in strikes {
            let bound = 1.0 / (1.0 + e);
            match sure {
                true => latest = latest.min(bound),
                false => earlier.push(bound),
            }
        }
        earlier.retain(|&bound| bound < latest);
        earlier.push(latest);
        earlier.sort_by(|a, b| b.total_cmp(a));
        earlier.dedup();
        earlier
    }

    /// Normal velocity after that restitution `e` asks of a contact with the normal velocity `u_n` before.
    pub(super) fn rebound(self, e: f64, u_n: f64) -> f64 {
        match self {
            _ if u_n <= 0.0 => -e * u_n,
            Self::Theta { theta, opening, .. } => match opening {
                Opening::MeanVelocity => -(1.0 - theta) / theta * u_n,
                Opening::Restitution => -e * u_n,
                Opening::Free => 0.0,
            },
            _ => 0.0,
        }
    }
}
