//! Unilateral constraints φ(t, q) ≥ 0 with the contact points that realise them.

use std::fmt;

use crate::laws::{ContactLaw, FrictionSection, LawError};

use super::Instant;
use super::frame::ContactFrame;
use super::functions::ScalarFunction;

/// Friction that remembers: a factor read from the past motion, which multiplies the section of
/// the law (static and dynamic friction, ageing).
pub trait FrictionMemory: Send + Sync {
    /// The factor, not negative.
    fn factor(&self, at: &Instant) -> f64;
}

impl<F: Fn(&Instant) -> f64 + Send + Sync> FrictionMemory for F {
    fn factor(&self, at: &Instant) -> f64 {
        self(at)
    }
}

/// Friction that depends on the slip speed s: a factor of the section of the law (Stribeck curves). At s = 0 the whole
/// set of the factor at 0 holds the contact.
pub trait SlipFriction: Send + Sync {
    /// The factor at the slip speed s ≥ 0, not negative.
    fn factor(&self, at: &Instant, s: f64) -> f64;
    /// Its derivative in s.
    fn slope(&self, at: &Instant, s: f64) -> f64;
}

/// One material point of a constraint: its frame and its law.
pub struct ContactPoint {
    /// Rows of the contact frame.
    pub frame: ContactFrame,
    /// Friction and impact law.
    pub law: ContactLaw,
    /// Dependence of the friction on the past.
    pub memory: Option<Box<dyn FrictionMemory>>,
    /// Dependence of the friction on the slip speed.
    pub slip: Option<Box<dyn SlipFriction>>,
}

impl ContactPoint {
    /// The friction section at an instant; of friction that depends on the slip speed the one that holds at rest.
    pub fn section_at(&self, at: &Instant) -> Result<FrictionSection, LawError> {
        self.section_at_slip(at, 0.0)
    }

    /// The friction section at an instant for the slip speed s.
    pub fn section_at_slip(&self, at: &Instant, s: f64) -> Result<FrictionSection, LawError> {
        let section = self.section_without_slip(at)?;
        let Some(slip) = &self.slip else {
            return Ok(section);
        };
        let value = slip.factor(at, s);
        if value >= 0.0 && value.is_finite() {
            Ok(section.scaled(value))
        } else {
            Err(LawError::CoefficientAt { value, time: at.t })
        }
    }

    /// The friction section at an instant without what the slip speed makes of it.
    pub fn section_without_slip(&self, at: &Instant) -> Result<FrictionSection, LawError> {
        let section = self.law.section_at(at.t, at.q)?;
        let Some(memory) = &self.memory else {
            return Ok(section);
        };
        let value = memory.factor(at);
        if value >= 0.0 && value.is_finite() {
            Ok(section.scaled(value))
        } else {
            Err(LawError::CoefficientAt { value, time: at.t })
        }
    }
}

impl fmt::Debug for ContactPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContactPoint")
            .field("frame", &self.frame)
            .field("law", &self.law)
            .field("memory", &self.memory.is_some())
            .field("slip", &self.slip.is_some())
            .finish()
    }
}

/// A unilateral constraint: gap, and one or more contact points.
///
/// Several points (two feet of one face, quadrature points of a conforming patch) share the gap
/// and become active together; each carries its own impulse.
///
/// ```
/// use stickslip::prelude::*;
///
/// // The lower end of a rod (x, y, angle) above a rough floor.
/// let tip = |q: &[Jet]| [q[0] + q[2].sin(), q[1] - q[2].cos()];
/// let law = ContactLaw::new(FrictionSection::interval(-0.3, 0.3)?, ImpactLaw::Newton { restitution: 0.0 })?;
/// let floor = UnilateralConstraint::new("floor", AutoScalar(move |_: Jet, q: &[Jet]| tip(q)[1]))
///     .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
/// assert_eq!(floor.name(), "floor");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UnilateralConstraint {
    name: String,
    expression: String,
    gap: Box<dyn ScalarFunction>,
    points: Vec<ContactPoint>,
}

impl UnilateralConstraint {
    /// Constraint with the given gap and no contact point yet.
    pub fn new(name: impl Into<String>, gap: impl ScalarFunction + 'static) -> Self {
        Self {
            name: name.into(),
            expression: String::new(),
            gap: Box::new(gap),
            points: Vec::new(),
        }
    }

    /// Keeps the text of the gap, for messages.
    #[must_use]
    pub(crate) fn with_expression(mut self, expression: impl Into<String>) -> Self {
        self.expression = expression.into();
        self
    }

    /// The text of the gap; empty if it has none.
    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }

    /// Adds a contact point.
    pub fn with_point(mut self, frame: ContactFrame, law: ContactLaw) -> Self {
        self.points.push(ContactPoint {
            frame,
            law,
            memory: None,
            slip: None,
        });
        self
    }

    /// Adds a contact point whose friction reads the past.
    #[doc(hidden)]
    pub fn with_remembering_point(
        mut self,
        frame: ContactFrame,
        law: ContactLaw,
        memory: impl FrictionMemory + 'static,
    ) -> Self {
        self.points.push(ContactPoint {
            frame,
            law,
            memory: Some(Box::new(memory)),
            slip: None,
        });
        self
    }

    /// Adds a contact point whose friction depends on the slip speed.
    #[doc(hidden)]
    pub fn with_slip_point(
        mut self,
        frame: ContactFrame,
        law: ContactLaw,
        slip: impl SlipFriction + 'static,
    ) -> Self {
        self.points.push(ContactPoint {
            frame,
            law,
            memory: None,
            slip: Some(Box::new(slip)),
        });
        self
    }

    /// Name used in errors, records and certificates.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The gap function.
    pub fn gap(&self) -> &dyn ScalarFunction {
        self.gap.as_ref()
    }

    /// Contact points in the order they were added.
    #[doc(hidden)]
    pub fn points(&self) -> &[ContactPoint] {
        &self.points
    }
}

impl std::fmt::Debug for UnilateralConstraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnilateralConstraint")
            .field("name", &self.name)
            .field("points", &self.points)
            .finish()
    }
}
