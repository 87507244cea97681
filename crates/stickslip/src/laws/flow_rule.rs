//! Which velocity friction opposes: Coulomb's rule, the kinetic projection or the generalized law.

/// Flow rule of a contact with friction.
///
/// # What it computes
///
/// With u = W p + q the local velocity, K the reaction cone with section D, σ_D its support
/// function, n the first unit vector, both rules read −(u + s d) ∈ N_K(p):
///
/// * [`FlowRule::Coulomb`]: d = n, s = σ_D(−u_t). Friction has most dissipation at fixed normal
///   impulse: −u_t ∈ N_{p_n D}(p_t), with 0 ≤ p_n ⟂ u_n ≥ 0.
/// * [`FlowRule::KineticProjection`]: d = W n, s the multiplier of u_n = 0. The velocity after has
///   the least kinetic energy among those the cone can reach with u_n = 0: S(q, v) of Moreau. W tells the metric: that of M
///   in an explicit step, that of A = M + hθ C + h²θ² K in an implicit one, where impulses change the velocity by A⁻¹ H p and
///   S is the projection of the step, with one velocity after, which tends to that of M with the step.
///
/// [`FlowRule::Generalized`] is not a law of one contact: normal impulses are fixed first, then friction
/// of all active constraints minimises the kinetic energy of the velocity tangential to all of them
/// (P'3 for one constraint, P'4 for several).
///
/// # Source
///
/// Coulomb as in [AcaryCollinsCraft2023] (De Saxcé's form); the projection is (7) of [Paoli2015];
/// the generalized law is P'3 and P'4 of [CharlesBallard2016].
///
/// # Guarantees
///
/// The kinetic projection has one velocity after, whatever the set, and never gains energy. Both
/// agree for one tangent, for W_nt = 0, and whenever the outcome is stick.
///
/// # Behaviour to know
///
/// In space with W_nt ≠ 0 they differ (6.9° between friction and slip in an ordinary impact, 84° in
/// one with γ < 0): never take one for the other. Coulomb may have several solutions (Painlevé).
///
/// # Cost
///
/// None: a name.
///
/// # Tested by
///
/// `solvers/one_contact/tests.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FlowRule {
    /// Most dissipation at fixed normal impulse.
    #[default]
    Coulomb,
    /// Least kinetic energy at zero normal velocity.
    KineticProjection,
    /// Friction on generalized reactions; all contacts of a problem follow the same rule.
    Generalized(GeneralizedRule),
}

impl FlowRule {
    /// The rule of the generalized law, if this is one.
    pub fn generalized(&self) -> Option<&GeneralizedRule> {
        match self {
            FlowRule::Generalized(rule) => Some(rule),
            FlowRule::Coulomb | FlowRule::KineticProjection => None,
        }
    }
}

/// Choices of the generalized law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedRule {
    /// How the friction sets of several constraints act together.
    pub sections: Sections,
    /// Which constraints take part in the normal space.
    pub active_space: ActiveSpace,
    /// What the section of the contact is measured per.
    pub unit: SetUnit,
    /// A normal impulse λ with λ ‖dφ‖* at most this part of the largest velocity |q_i|/√W_ii is not firm: it
    /// carries no friction. This keeps the sign of a rounding error from deciding between grazing and jam.
    pub firmness: f64,
}

impl Default for GeneralizedRule {
    fn default() -> Self {
        Self {
            sections: Sections::PerConstraint,
            active_space: ActiveSpace::All,
            unit: SetUnit::CoulombCone,
            firmness: 1e-11,
        }
    }
}

/// How friction sets of several constraints act together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sections {
    /// Each constraint has its own set, scaled by its own normal impulse (the paper).
    #[default]
    PerConstraint,
    /// The total reaction lies in the sum of all real cones: gives μ m g for a block on two feet,
    /// overestimates friction in a sharp corner.
    Joint,
}

/// Which constraints span the normal space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActiveSpace {
    /// All active constraints (the paper).
    #[default]
    All,
    /// Only those with a firm impulse; friction of the face that is hit acts on the remaining motion.
    Firm,
}

/// What a friction section given with the generalized law is measured per.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetUnit {
    /// Real Coulomb cone at the material points: the set is built from it.
    #[default]
    CoulombCone,
    /// The generalized set itself, per unit of the normal row dφ.
    PerGradient,
    /// The generalized set itself, per unit of n* = dφ/‖dφ‖*.
    PerUnitNormal,
}
