//! Normal compliance: contacts as stiff one-sided springs.

use super::LawError;

/// Where the stiffness of a contact comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ComplianceStiffness {
    /// `m/τ²` with the effective mass `m = 1/W_nn` of each contact at the start, so that every contact has
    /// the frequency 1/τ.
    EffectiveMass,
    /// `m/τ²` with a given mass.
    Mass(f64),
    /// A stiffness for every contact point (the last one serves for the rest).
    Given(Vec<f64>),
}

/// Normal compliance of all contacts.
///
/// ```
/// use stickslip::laws::{ComplianceStiffness, NormalCompliance};
///
/// // k = m/τ² with m = 2 kg, τ = 1 ms; half of the critical damping.
/// let compliance = NormalCompliance::new(1e-3)?.with_mass(2.0)?.with_damping_ratio(0.5)?;
/// assert_eq!(compliance.stiffness, ComplianceStiffness::Mass(2.0));
/// assert!(NormalCompliance::new(0.0).is_err());
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
///
/// # What it computes
/// The normal force `R_N = max(0, k max(−φ, 0) − c u_N)` with `k = m/τ²`, where τ is the compliance time, and
/// `c = 2 ζ √(k m_eff)`. ζ = 0 is the law of the source; damping is our extension. φ is measured by the approach that the
/// normal row of the contact tells (metres, for the motion of a point), so that its own unit does not matter.
///
/// # Source
/// [Schatzman], the penalised problem.
///
/// # Guarantees
/// Without damping a contact gives back all normal work: the limit τ → 0 of one impact is the
/// energetic law with coefficient 1 ([`super::energetic_impact`]).
///
/// # Behaviour to know
/// A frictionless impact with damping ratio ζ rebounds with about `exp(−ζ π/√(1 − ζ²))`, a little more because
/// the force is never attractive. With several contacts the limit τ → 0 depends on the ratios of the stiffnesses.
///
/// # Cost
/// None: data.
///
/// # Tested by
/// `tests/truth_penalty.rs`.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalCompliance {
    /// Compliance time τ.
    pub time: f64,
    /// Where the stiffness comes from.
    pub stiffness: ComplianceStiffness,
    /// Damping ratio ζ of the Kelvin–Voigt extension.
    pub damping_ratio: f64,
}

impl NormalCompliance {
    /// Compliance with the time τ and the effective mass of each contact.
    pub fn new(time: f64) -> Result<Self, LawError> {
        Self {
            time,
            stiffness: ComplianceStiffness::EffectiveMass,
            damping_ratio: 0.0,
        }
        .checked()
    }

    /// The same compliance with the stiffness `mass/τ²`.
    pub fn with_mass(mut self, mass: f64) -> Result<Self, LawError> {
        self.stiffness = ComplianceStiffness::Mass(mass);
        self.checked()
    }

    /// The same compliance with a stiffness for every contact point.
    pub fn with_stiffness(mut self, stiffness: Vec<f64>) -> Result<Self, LawError> {
        self.stiffness = ComplianceStiffness::Given(stiffness);
        self.checked()
    }

    /// The same compliance with Kelvin–Voigt damping.
    pub fn with_damping_ratio(mut self, ratio: f64) -> Result<Self, LawError> {
        self.damping_ratio = ratio;
        self.checked()
    }

    fn checked(self) -> Result<Self, LawError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(LawError::NotPositive { what, value })
            }
        };
        positive("the compliance time", self.time)?;
        match &self.stiffness {
            ComplianceStiffness::EffectiveMass => {}
            ComplianceStiffness::Mass(mass) => positive("the mass of the compliance", *mass)?,
            ComplianceStiffness::Given(values) => {
                positive("the number of stiffnesses", values.len() as f64)?;
                for &value in values {
                    positive("a contact stiffness", value)?;
                }
            }
        }
        let value = self.damping_ratio;
        if (0.0..1.0).contains(&value) {
            Ok(self)
        } else {
            Err(LawError::DampingRatio { value })
        }
    }
}
