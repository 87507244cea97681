//! The penalty method: normal compliance with exact friction.

use crate::laws::NormalCompliance;
use crate::records::StepRecord;
use crate::systems::MechanicalSystem;

use super::explicit_step::{Contacts, ExplicitStep};
use super::normal_compliance::{frequency, springs, unread_laws};
use super::{ContactStage, State, StepLimit, TimeSteppingScheme};

/// The penalty scheme.
///
/// ```
/// use stickslip::laws::NormalCompliance;
/// use stickslip::prelude::*;
///
/// let law = ContactLaw::frictionless(ImpactLaw::Inelastic)?;
/// let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]);
/// let ball = ball.constraint(ground).build(&[0.0])?;
/// // It lies on a spring of the stiffness m/τ² and is pressed in by m g/k = g τ².
/// let compliance = NormalCompliance::new(0.1)?;
/// let (scheme, solver) = (Box::new(NormalCompliancePenalty::new(compliance)), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(1e-3);
/// let mut run = Simulation::new(Box::new(ball), scheme, solver, (&[-0.1], &[0.0]), settings)?;
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// assert!((run.state().q[0] + 0.1).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// `q_mid = q_k + h/2 v_k`; `R_N = max(0, k max(−φ(q_mid), 0) − c u_N(v_k))` for every contact; then `v_{k+1}` from
/// `v_k + h M⁻¹(f + R_N dφ)` with friction `r_T ∈ R_N D`, `−u_T ∈ N(r_T)` at the end of the step: with the normal force
/// known this is one convex problem for all contacts, without regularisation of the sign of slip;
/// `q_{k+1} = q_mid + h/2 v_{k+1}`.
///
/// # Source
/// [Schatzman], the penalised problem, for any system and any friction set; the step is ours. Damping
/// (`damping_ratio` of the compliance) is an extension.
///
/// # Guarantees
/// `r_T ∈ R_N D` exactly, `R_N = 0` where `φ ≥ 0`. Uniformly in the compliance time τ: the penetration is at most
/// `τ √(2 (E − inf V)/m)`, the integral of R_N and the variation of the velocity are bounded.
///
/// # Behaviour to know
/// Explicit: unstable from `h = 2/√(k W_nn)`, accurate from a fifth of τ; the simulation refuses the first and
/// warns of the second. The limit τ → 0 of an impact is the energetic law with coefficient 1, not Newton's
/// law: error about 3e-3 to 1e-2 at τ = 2.5e-4 with h = τ/20. A start at `φ = 0` without penetration makes R_N
/// oscillate between 0 and twice its mean with period 2πτ.
///
/// # Cost
/// One factorization of M (none if constant), one solve per contact row.
///
/// # Tested by
/// `tests/truth_penalty.rs`.
#[derive(Debug)]
pub struct NormalCompliancePenalty {
    compliance: NormalCompliance,
    springs: Vec<(f64, f64)>,
    step: ExplicitStep,
}

impl NormalCompliancePenalty {
    /// Scheme with the given compliance.
    pub fn new(compliance: NormalCompliance) -> Self {
        Self {
            compliance,
            springs: Vec::new(),
            step: ExplicitStep::default(),
        }
    }
}

impl TimeSteppingScheme for NormalCompliancePenalty {
    fn name(&self) -> &'static str {
        "penalty"
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
        if self.springs.is_empty() && !system.constraints().is_empty() {
            self.springs = springs(&self.compliance, system, &state.q);
        }
        let step = &mut self.step;
        step.q.resize(state.q.len(), 0.0);
        system.displace(&state.q, &state.v, 0.5 * h, &mut step.q);
        let middle = (h, state.t + 0.5 * h);
        let contacts = Contacts::Pressed(&self.springs);
        if !step.update_velocity(system, state, middle, contacts, stage, record) {
            return;
        }
        step.q_end.resize(state.q.len(), 0.0);
        system.displace(&step.q, &step.v, 0.5 * h, &mut step.q_end);
        step.complete(system, state, (h, t_end), record);
        for contact in &mut record.contacts {
            let gap = system.constraints()[contact.key.constraint()].gap();
            contact.gap = gap.value(t_end, &record.q);
        }
    }

    fn meets_initial_velocity(&self) -> bool {
        true
    }

    fn is_compliant(&self) -> bool {
        true
    }

    fn memory(&self) -> Option<serde_json::Value> {
        serde_json::to_value(&self.springs).ok()
    }

    fn recall(&mut self, memory: &serde_json::Value) -> bool {
        match serde_json::from_value(memory.clone()) {
            Ok(springs) => {
                self.springs = springs;
                true
            }
            Err(_) => false,
        }
    }

    fn step_limit(&self, system: &dyn MechanicalSystem, q: &[f64]) -> Option<StepLimit> {
        let fastest = frequency(&self.compliance, system, q);
        (fastest > 0.0).then(|| StepLimit {
            stable: 2.0 / fastest,
            advised: 0.2 / fastest,
        })
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let mut warnings = Vec::new();
        if system.constraints().len() > 1 {
            warnings.push(
                "several compliant contacts: where their impacts coincide the limit of a stiff \
                 contact depends on the ratios of the stiffnesses"
                    .to_string(),
            );
        }
        warnings.extend(unread_laws(system));
        if self.compliance.damping_ratio > 0.0 {
            warnings.push(
                "damping of compliant contacts is an extension of the penalty method of the paper"
                    .to_string(),
            );
        }
        warnings
    }
}
