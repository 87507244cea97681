//! Moreau's contact dynamics with the law S(q, v).

use std::sync::Arc;

use crate::algebra::assign;
use crate::laws::ImpactRule;
use crate::records::StepRecord;
use crate::systems::MechanicalSystem;

use super::explicit_limit::explicit_limit;
use super::explicit_step::{Contacts, ExplicitStep};
use super::{ContactStage, PositionCorrection, Projection, State, StepLimit, TimeSteppingScheme};

/// Moreau's explicit time stepping.
///
/// ```
/// use stickslip::prelude::*;
///
/// // A brick slides at 1 m/s on a floor with μ = 0.5, under g = 10 m/s².
/// let law = ContactLaw::new(FrictionSection::segment(0.5)?, ImpactLaw::Inelastic)?;
/// let floor = UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
///     .with_point(ContactFrame::planar_point(|q| [q[0], q[1]], [0.0, 1.0]), law);
/// let brick = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[2.0, 2.0]).dead_load(&[0.0, -20.0]);
/// let brick = brick.constraint(floor).build(&[0.0, 0.0])?;
/// let (scheme, solver) = (Box::new(MoreauContactDynamics::default()), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(1e-3);
/// let mut run = Simulation::new(Box::new(brick), scheme, solver, (&[0.0, 0.0], &[1.0, 0.0]), settings)?;
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// assert!((run.state().v[0] - 0.5).abs() < 1e-12);
/// // It comes to rest after 0.2 s, and rests.
/// run.run_until(0.3, |_| ControlFlow::Continue(()));
/// assert_eq!(run.record().contacts[0].mode, ContactMode::Stick);
/// assert!(run.state().v[0].abs() < 1e-15 && run.ledger().is_closed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// `q₁ = q₀ + h v₀`, `v_f = v₀ + h M(q₁)⁻¹ f_tot(t₁, q₁, v₀)`, `v₁ = S(q₁, v_f)`, where f_tot holds the
/// covariant terms and S is the law of the contacts with `φ(q₁) ≤ 0`: the kinetic projection
/// (Moreau's S), Coulomb's law or the generalized law P'3/P'4, by the flow rule of the contacts.
///
/// # Source
/// [Paoli2015], section on contact dynamics; `S` is its (7). Restitution under Coulomb's flow rule
/// reads the velocity at the start of the step and is ours; S itself is inelastic. P'3 and P'4 by
/// the same loop: [CharlesBallard2016].
///
/// # Guarantees
/// `r ∈ R(q₁)`, `⟨r, v₁⟩ ≤ 0`, `|v₁|_M ≤ |v_f|_M` for one contact under S. The energy entry closes to rounding
/// with the defects of the explicit scheme booked as `potential_defect` and `covariant_defect`.
///
/// # Behaviour to know
/// Order 1. Contact is discovered at most one step late; the penetration reached then is kept. S is
/// discontinuous at zero approach velocity where γ ≤ 0, so an approach below 1e-12 of the speed
/// counts as zero: grazing stays grazing. Bare, the scheme drifts off curved obstacles; with
/// [`Projection::Combined`] the position q₁ is projected, unless it strikes there with restitution or leaves after such an
/// impact: a particle in a bowl that was brought back before each impact gained g h² per bounce and bounced for ever, by
/// 2 g h/3 at e = ½. The velocity v₁ is that of the next chord: what the normal
/// turns from the middle of a chord to its end is taken on the mean of both velocities.
///
/// # Cost
/// One factorization of M (none if constant), one solve per contact row.
///
/// # Tested by
/// `stickslip-validation/tests/reference_cases.rs`, `tests/property_schemes.rs`, `tests/order_schemes.rs`, `tests/truth_positions.rs`.
#[derive(Debug)]
pub struct MoreauContactDynamics {
    gap_tolerance: f64,
    step: ExplicitStep,
}

impl Default for MoreauContactDynamics {
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl MoreauContactDynamics {
    /// Scheme whose contacts are those with `φ(q₁) ≤ gap_tolerance`, or rounding of the lengths of the run if that is more.
    pub fn new(gap_tolerance: f64) -> Self {
        Self {
            gap_tolerance,
            step: ExplicitStep::default(),
        }
    }

    /// The same scheme with an impact map F of the user for contacts under the generalized law.
    pub fn with_impact_rule(mut self, rule: Arc<dyn ImpactRule>) -> Self {
        self.step.impact_rule = Some(rule);
        self
    }
}

impl MoreauContactDynamics {
    /// The same scheme with corrected positions, or without.
    #[must_use]
    pub fn with_projection(mut self, projection: Projection) -> Self {
        self.step.positions.projection = projection;
        self
    }
}

impl TimeSteppingScheme for MoreauContactDynamics {
    fn name(&self) -> &'static str {
        "moreau"
    }

    fn step_limit(&self, system: &dyn MechanicalSystem, q: &[f64]) -> Option<StepLimit> {
        explicit_limit(system, q)
    }

    fn step(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &mut State,
        h: f64,
        t_end: f64,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) {
        let step = &mut self.step;
        step.q.resize(state.q.len(), 0.0);
        system.displace(&state.q, &state.v, h, &mut step.q);
        let span = (h, t_end);
        let (q, positions) = (&mut step.q, &mut step.positions);
        let scales = &stage.scales;
        positions.correct(
            system,
            span,
            &state.q,
            (q, &state.v),
            &state.impulses,
            scales,
        );
        let contacts = Contacts::Touching(self.gap_tolerance);
        if step.update_velocity(system, state, span, contacts, stage, record) {
            assign(&mut step.q_end, &step.q);
            step.complete(system, state, span, record);
        }
    }

    fn local_velocities_before(&self) -> &[f64] {
        &self.step.assembly.before
    }

    fn position_correction(&self, system: &dyn MechanicalSystem) -> PositionCorrection {
        PositionCorrection::of(self.step.positions.projection, system, false)
    }

    fn warnings(&self, _system: &dyn MechanicalSystem) -> Vec<String> {
        Vec::new()
    }
}
