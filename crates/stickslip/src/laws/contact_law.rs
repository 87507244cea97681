//! Friction and impact attached to one constraint.

use std::fmt;
use std::sync::Arc;

use super::{FlowRule, FrictionSection, ImpactLaw, LawError};

/// A function of time and configuration.
pub type FactorFunction = dyn Fn(f64, &[f64]) -> f64 + Send + Sync;

/// Factor that multiplies the base friction section.
#[derive(Clone)]
pub enum FrictionCoefficient {
    /// The same at all times.
    Constant(f64),
    /// A function of time and configuration, `(t, q) ↦ factor`.
    Function(Arc<FactorFunction>),
}

impl FrictionCoefficient {
    /// A factor that depends on time and configuration.
    pub fn function(factor: impl Fn(f64, &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        FrictionCoefficient::Function(Arc::new(factor))
    }

    /// The factor at (t, q).
    #[inline]
    pub fn at(&self, t: f64, q: &[f64]) -> f64 {
        match self {
            FrictionCoefficient::Constant(factor) => *factor,
            FrictionCoefficient::Function(factor) => factor(t, q),
        }
    }
}

impl Default for FrictionCoefficient {
    fn default() -> Self {
        FrictionCoefficient::Constant(1.0)
    }
}

impl fmt::Debug for FrictionCoefficient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrictionCoefficient::Constant(factor) => write!(f, "Constant({factor})"),
            FrictionCoefficient::Function(_) => write!(f, "Function(..)"),
        }
    }
}

/// Friction and impact attached to one constraint.
///
/// ```
/// use stickslip::laws::{ContactLaw, FrictionCoefficient, FrictionSection, ImpactLaw};
///
/// // Friction that fades over a second, and impacts that keep half of the normal velocity.
/// let fading = FrictionCoefficient::function(|t, _q| (1.0 - t).max(0.0));
/// let law = ContactLaw::new(FrictionSection::disc(0.6)?, ImpactLaw::Newton { restitution: 0.5 })?
///     .with_coefficient(fading)?;
/// assert_eq!(law.section_at(0.5, &[])?.support(&[1.0, 0.0]), 0.3);
/// # Ok::<(), stickslip::laws::LawError>(())
/// ```
///
/// # What it computes
///
/// The section D(t, q) = c(t, q) D₀ with D₀ the base section and c the coefficient, the impact law
/// and the flow rule of one constraint.
///
/// # Source
///
/// Definition of the project; data of [AcaryCollinsCraft2023], [Paoli2015] (the cone depends on q).
///
/// # Guarantees
///
/// A law that was built has a valid section and a restitution in [0, 1]; [`ContactLaw::section_at`]
/// refuses a negative or non-finite coefficient, naming value and time.
///
/// # Behaviour to know
///
/// A coefficient that depends on q is read once per step, at the configuration the scheme chooses.
///
/// # Cost
///
/// No allocation: scaling a section copies a number and a shared pointer.
///
/// # Tested by
///
/// `laws/contact_law.rs`.
#[derive(Clone, Debug)]
pub struct ContactLaw {
    base: FrictionSection,
    coefficient: FrictionCoefficient,
    impact: ImpactLaw,
    flow_rule: FlowRule,
}

impl ContactLaw {
    /// A law with a constant section and Coulomb's flow rule.
    pub fn new(section: FrictionSection, impact: ImpactLaw) -> Result<Self, LawError> {
        section.validate()?;
        impact.validate()?;
        Ok(ContactLaw {
            base: section,
            coefficient: FrictionCoefficient::default(),
            impact,
            flow_rule: FlowRule::default(),
        })
    }

    /// A law without friction.
    pub fn frictionless(impact: ImpactLaw) -> Result<Self, LawError> {
        Self::new(FrictionSection::None, impact)
    }

    /// The same law with the base section multiplied by a coefficient.
    pub fn with_coefficient(mut self, coefficient: FrictionCoefficient) -> Result<Self, LawError> {
        if let FrictionCoefficient::Constant(value) = coefficient {
            check_coefficient(value, 0.0)?;
        }
        self.coefficient = coefficient;
        Ok(self)
    }

    /// The same law under another flow rule.
    pub fn with_flow_rule(mut self, flow_rule: FlowRule) -> Self {
        self.flow_rule = flow_rule;
        self
    }

    /// The section at (t, q).
    #[inline]
    pub fn section_at(&self, t: f64, q: &[f64]) -> Result<FrictionSection, LawError> {
        let value = self.coefficient.at(t, q);
        check_coefficient(value, t)?;
        Ok(self.base.scaled(value))
    }

    /// Number of tangential rows the section needs.
    pub fn tangent_dimension(&self) -> usize {
        self.base.dimension()
    }

    /// The section before the coefficient multiplies it.
    pub fn base_section(&self) -> &FrictionSection {
        &self.base
    }

    /// The coefficient.
    pub fn coefficient(&self) -> &FrictionCoefficient {
        &self.coefficient
    }

    /// The impact law.
    pub fn impact(&self) -> ImpactLaw {
        self.impact
    }

    /// The flow rule.
    pub fn flow_rule(&self) -> FlowRule {
        self.flow_rule
    }
}

fn check_coefficient(value: f64, time: f64) -> Result<(), LawError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(LawError::CoefficientAt { value, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficient_multiplies_the_section_and_a_bad_value_is_named() {
        let law = ContactLaw::new(FrictionSection::disc(0.5).unwrap(), ImpactLaw::Inelastic)
            .unwrap()
            .with_coefficient(FrictionCoefficient::function(|t, q| t + q[0]))
            .unwrap();
        assert_eq!(
            law.section_at(1.0, &[1.0]).unwrap().support(&[1.0, 0.0]),
            1.0
        );
        assert_eq!(
            law.section_at(1.0, &[-3.0]).unwrap_err(),
            LawError::CoefficientAt {
                value: -2.0,
                time: 1.0
            }
        );
        let bad = ImpactLaw::Newton { restitution: 2.0 };
        assert!(ContactLaw::frictionless(bad).is_err());
    }
}
