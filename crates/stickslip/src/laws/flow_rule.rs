//! Which velocity friction opposes: Coulomb's rule or the kinetic projection.

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
///   the least kinetic energy among those the cone can reach with u_n = 0: S(q, v) of Moreau.
///
/// # Source
///
/// Coulomb as in [AcaryCollinsCraft2023] (De Saxcé's form); the projection is (7) of [Paoli2015].
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowRule {
    /// Most dissipation at fixed normal impulse.
    #[default]
    Coulomb,
    /// Least kinetic energy at zero normal velocity.
    KineticProjection,
}
