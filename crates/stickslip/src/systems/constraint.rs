//! Unilateral constraints φ(t, q) ≥ 0 with the contact points that realise them.

use crate::laws::ContactLaw;

use super::frame::ContactFrame;
use super::functions::ScalarFunction;

/// One material point of a constraint: its frame and its law.
#[derive(Debug)]
pub struct ContactPoint {
    /// Rows of the contact frame.
    pub frame: ContactFrame,
    /// Friction and impact law.
    pub law: ContactLaw,
}

/// A unilateral constraint: gap, and one or more contact points.
///
/// Several points (two feet of one face, quadrature points of a conforming patch) share the gap
/// and become active together; each carries its own impulse.
pub struct UnilateralConstraint {
    name: String,
    gap: Box<dyn ScalarFunction>,
    points: Vec<ContactPoint>,
}

impl UnilateralConstraint {
    /// Constraint with the given gap and no contact point yet.
    pub fn new(name: impl Into<String>, gap: impl ScalarFunction + 'static) -> Self {
        Self {
            name: name.into(),
            gap: Box::new(gap),
            points: Vec::new(),
        }
    }

    /// Adds a contact point.
    pub fn with_point(mut self, frame: ContactFrame, law: ContactLaw) -> Self {
        self.points.push(ContactPoint { frame, law });
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
