//! Systems in generalized coordinates, from closures or compiled expressions.
//!
//! ```
//! use stickslip::systems::{GeneralizedSystem, functions::GivenScalar, UnilateralConstraint, ContactFrame};
//! use stickslip::laws::{ContactLaw, ImpactLaw};
//!
//! // A ball above the ground: one coordinate, mass 1, weight 9.81, restitution 1/2.
//! let ground = UnilateralConstraint::new(
//!     "ground",
//!     GivenScalar { value: |q: &[f64]| q[0], gradient: |_: &[f64], row: &mut [f64]| row[0] = 1.0 },
//! )
//! .with_point(ContactFrame::Frictionless, ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 })?);
//! let ball = GeneralizedSystem::builder(["y"])
//!     .mass_diagonal(&[1.0])
//!     .dead_load(&[-9.81])
//!     .constraint(ground)
//!     .build(&[1.0])?;
//! assert_eq!(stickslip::systems::MechanicalSystem::dof(&ball), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod check;

pub use builder::{GeneralizedSystem, GeneralizedSystemBuilder};
pub(crate) use check::{check_configuration, dependent_constraints};
