//! Impact laws: what the normal velocity, and the velocity friction reads, become at an impact.

use super::LawError;

/// Impact law of one contact, as a user describes it.
///
/// # What it computes
///
/// u⁻, u⁺ are the local velocities before and after, normal component first, e the restitution, p
/// the impulse (p_n normal, p_t tangential).
///
/// * `Inelastic`: 0 ≤ p_n ⟂ u_n⁺ ≥ 0, friction reads u_t⁺. Newton's law with e = 0.
/// * `Newton`: 0 ≤ p_n ⟂ u_n⁺ + e u_n⁻ ≥ 0, friction reads u_t⁺.
/// * `Poisson`: a compression 0 ≤ p_n^C ⟂ u_n^C ≥ 0 with friction on u_t^C; then an expansion
///   p_n^E ≥ e p_n^C, u_n⁺ ≥ 0, (p_n^E − e p_n^C) u_n⁺ = 0 with friction on u_t⁺.
/// * `Moreau`: the laws of contact and friction read the weighted mean (u⁺ + e u⁻)/(1 + e); without
///   friction this is v⁺ = v + (1 + e)(Proj_T v − v), for one contact u_n⁺ = −e u_n⁻.
/// * `Fremond`: Newton's normal law, friction reads the mean (u_t⁺ + u_t⁻)/2, in steps of the theta scheme the velocity at min(θ, 1/(1 + e)) of its
///   change.
/// * `Energetic`: Darboux and Keller's equations with Stronge's coefficient
///   ([`super::energetic_impact_in_space`]); e = 1 is the limit of the undamped penalty method.
///
/// # Source
///
/// Newton and Frémond: [AcaryCollinsCraft2023], (53) and (63). Moreau: [Paoli2015] for e = 0.
/// Poisson and the joint laws: [CharlesBallard2016], section 5.
///
/// # Guarantees
///
/// Without friction all of them dissipate for e in [0, 1] (see [`super::impact_map`]). With
/// friction, Frémond's law dissipates: ΔE = ½ (1 − e) u_n⁻ p_n − p_n σ_D(−(u_t⁺ + u_t⁻)/2) ≤ 0.
///
/// # Behaviour to know
///
/// Newton's law with Coulomb friction may create energy: +58.75 % in a double pendulum whose tip
/// hits the floor with e = μ = 0.5. Under Frémond's law a stuck contact reverses its tangential
/// velocity instead of stopping it.
///
/// An impact without collision (slip that jams at u_n⁻ = 0, in Painlevé's region) has restitution under the energetic law alone: what the slip
/// compresses springs back. All others are maps of the normal velocity before, and what no approach has
/// brought they do not give back: u_n⁺ = 0. That holds for Poisson's law too. Its compression answers the approach, p_n^C = 0 obeys its conditions
/// at u_n⁻ = 0, and the whole jam is then the impulse of the second phase, which owes e p_n^C = 0; in [CharlesBallard2016] the law is a map with
/// ‖F(u⁻)‖ ≤ ‖u⁻‖, 0 for 0. From an approach, however small, the same slip has a compression as large as the jam, and its expansion: the law is
/// not continuous there, as Moreau's S is not.
///
/// # Cost
///
/// None: data; Poisson solves two one-step problems per impact.
///
/// # Tested by
///
/// `laws/impact_law.rs` (validation), `laws/impact_map/tests.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ImpactLaw {
    /// Completely inelastic.
    #[default]
    Inelastic,
    /// Newton: restitution between normal velocities.
    Newton {
        /// Coefficient e in [0, 1].
        restitution: f64,
    },
    /// Poisson: restitution between the impulses of compression and expansion.
    Poisson {
        /// Coefficient e in [0, 1].
        restitution: f64,
    },
    /// Moreau: reflection of the kinetic projection.
    Moreau {
        /// Coefficient e in [0, 1].
        restitution: f64,
    },
    /// Frémond: Newton's normal law, friction on the mean tangential velocity.
    Fremond {
        /// Coefficient e in [0, 1].
        restitution: f64,
    },
    /// Energetic: the normal work of restitution is e² times that of compression, friction follows
    /// the slip during the impact.
    Energetic {
        /// Coefficient e in [0, 1].
        restitution: f64,
    },
}

impl ImpactLaw {
    /// The coefficient e; 0 for the inelastic law.
    #[inline]
    pub fn restitution(&self) -> f64 {
        match *self {
            ImpactLaw::Inelastic => 0.0,
            ImpactLaw::Newton { restitution }
            | ImpactLaw::Poisson { restitution }
            | ImpactLaw::Moreau { restitution }
            | ImpactLaw::Fremond { restitution }
            | ImpactLaw::Energetic { restitution } => restitution,
        }
    }

    /// Refuses a restitution that is not a number in [0, 1].
    pub fn validate(&self) -> Result<(), LawError> {
        let restitution = self.restitution();
        if (0.0..=1.0).contains(&restitution) {
            Ok(())
        } else {
            Err(LawError::RestitutionOutOfRange { restitution })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restitution_outside_the_unit_interval_is_refused_with_its_value() {
        for e in [-0.1, 1.0 + 1e-15, f64::NAN, f64::INFINITY] {
            match (ImpactLaw::Newton { restitution: e }).validate() {
                Err(LawError::RestitutionOutOfRange { restitution }) => {
                    assert_eq!(restitution.to_bits(), e.to_bits());
                }
                other => panic!("{e}: {other:?}"),
            }
        }
        for e in [0.0, 0.5, 1.0] {
            assert!(ImpactLaw::Fremond { restitution: e }.validate().is_ok());
        }
        assert!(ImpactLaw::Inelastic.validate().is_ok());
    }
}
