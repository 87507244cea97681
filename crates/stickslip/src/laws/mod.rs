//! Friction sets and impact laws: convex analysis, no time, no bodies.
//!
//! A [`FrictionSection`] is the closed convex set D of tangential impulses that one unit of
//! normal impulse can carry; the reaction cone of a contact is
//! `K = {(p_n, p_t) : p_n ≥ 0, p_t ∈ p_n D}`. An [`ImpactLaw`] says what the normal velocity
//! becomes; a [`ContactLaw`] attaches both to one constraint; a [`FlowRule`] says which velocity
//! friction opposes. Impact maps for several frictionless constraints are in [`impact_map`].
//!
//! Not the place for time stepping or for solving coupled contacts: a scheme tells a law which
//! velocity to read, a solver finds the impulses.
//!
//! ```
//! use stickslip::laws::FrictionSection;
//! let disc = FrictionSection::disc(0.5)?;
//! assert_eq!(disc.support(&[3.0, 4.0]), 2.5);
//! # Ok::<(), stickslip::laws::LawError>(())
//! ```

mod cone;
pub(crate) mod contact_law;
pub(crate) mod energetic;
mod error;
pub(crate) mod flow_rule;
pub(crate) mod friction_section;
pub(crate) mod friction_set;
pub(crate) mod generalized_set;
mod hull;
pub(crate) mod impact_law;
pub(crate) mod impact_map;
pub(crate) mod impact_rule;
mod nearest_point;
pub(crate) mod normal_compliance;
pub(crate) mod polyhedron;
pub(crate) mod polytope;
pub(crate) mod section_quadratic;

pub use contact_law::{ContactLaw, FrictionCoefficient};
pub(crate) use energetic::spatial::{
    SpatialImpact, energetic_impact_at_slip, energetic_impact_in_space,
};
pub use error::LawError;
pub use flow_rule::{ActiveSpace, FlowRule, GeneralizedRule, Sections, SetUnit};
pub use friction_section::FrictionSection;
pub use friction_set::{FrictionSet, SetFromProjection, SetFromSupport};
pub(crate) use generalized_set::{GeneralizedSet, PerGradient, PerUnitNormal};
pub use impact_law::ImpactLaw;
pub use impact_rule::{ImpactClosure, ImpactRule, StandardImpact};
pub use normal_compliance::{ComplianceStiffness, NormalCompliance};
pub use polyhedron::Polyhedron;
pub use polytope::Polytope;
