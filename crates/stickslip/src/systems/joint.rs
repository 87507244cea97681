//! Perfect bilateral constraints (joints) g(t, q) = 0.

use super::functions::ScalarFunction;

/// One scalar bilateral constraint, enforced on the velocity: `dg·v + ∂g/∂t = 0`.
///
/// ```
/// use stickslip::prelude::*;
///
/// // A bead on a circular wire.
/// let wire = AutoScalar(|_: Jet, q: &[Jet]| q[0] * q[0] + q[1] * q[1] - 1.0);
/// let bead = GeneralizedSystem::builder(["x", "y"])
///     .mass_diagonal(&[1.0, 1.0])
///     .joint(BilateralConstraint::new("wire", wire))
///     .build(&[1.0, 0.0])?;
/// assert_eq!(bead.joints().len(), 1);
/// # Ok::<(), stickslip::systems::SystemError>(())
/// ```
pub struct BilateralConstraint {
    name: String,
    function: Box<dyn ScalarFunction>,
}

impl BilateralConstraint {
    /// Joint g(t, q) = 0.
    pub fn new(name: impl Into<String>, function: impl ScalarFunction + 'static) -> Self {
        Self {
            name: name.into(),
            function: Box::new(function),
        }
    }

    /// Name used in errors and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The constraint function g.
    pub fn function(&self) -> &dyn ScalarFunction {
        self.function.as_ref()
    }
}

impl std::fmt::Debug for BilateralConstraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BilateralConstraint")
            .field("name", &self.name)
            .finish()
    }
}
