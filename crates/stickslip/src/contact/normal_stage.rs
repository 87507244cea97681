//! How the normal impulses of a problem under the generalized law are determined.

/// Impact law of the normal stage, which comes before friction.
///
/// With W the normal block of the problem, u the normal free velocity and λ the impulses:
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NormalStage {
    /// `0 ≤ λ ⟂ u + W λ + β ≥ 0` with one β per block; β = e u⁻ for Newton's and Moreau's law on the velocity u⁻ at
    /// the start of the step, β = −F(u⁻) for an impact map F of the user; without β the inelastic shock.
    #[default]
    Inelastic,
    /// Restitution biases β, one per block.
    Biased(Vec<f64>),
    /// Moreau's map on the free velocity itself, with one restitution (an impact at an instant).
    Moreau {
        /// Coefficient e.
        restitution: f64,
    },
    /// Poisson's map: compression `0 ≤ λ_C ⟂ u + W λ_C ≥ 0`, then λ = (1 + e) λ_C + x, 0 ≤ x ⟂ u⁺ ≥ 0.
    Poisson {
        /// Restitution per block.
        restitutions: Vec<f64>,
    },
}

/// What the generalized law adds to a solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneralizedOutcome {
    /// Friction budget λ per block: multiplier of its normal row after the normal stage.
    pub budget: Vec<f64>,
    /// Whether the constraint of the block spans the normal space (J₀).
    pub in_active_space: Vec<bool>,
    /// Multipliers of the kept normal velocities (joint sections only).
    pub multipliers: Vec<f64>,
    /// Whether normal rows are dependent, so that the budget is a choice (least norm).
    pub dependent_rows: bool,
    /// dist*(r_τ, Σ λ C*) of the literal P'4.
    pub strict_distance: f64,
    /// ‖v_n⁺ − F‖ of the literal P'4; positive only with the firm active space.
    pub strict_normal: f64,
    /// Sign check of the paper at impacts: ⟨r_τ, v⁺⟩, which should not be positive.
    pub tangential_power: f64,
}

impl GeneralizedOutcome {
    /// Distance to the literal P'4: 0 where the paper's law holds as written.
    pub fn strict_residual(&self) -> f64 {
        self.strict_distance + self.strict_normal
    }
}
