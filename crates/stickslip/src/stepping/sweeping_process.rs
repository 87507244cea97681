//! The sweeping-process algorithm with friction and delay.

use crate::records::StepRecord;
use crate::systems::MechanicalSystem;

use super::explicit_limit::explicit_limit;
use super::explicit_step::{Contacts, ExplicitStep};
use super::{ContactStage, PositionCorrection, Projection, State, StepLimit, TimeSteppingScheme};

/// The sweeping-process algorithm.
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
/// let (scheme, solver) = (Box::new(SweepingProcess::default()), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(1e-3);
/// let mut run = Simulation::new(Box::new(brick), scheme, solver, (&[0.0, 0.0], &[1.0, 0.0]), settings)?;
/// run.run_until(0.1, |_| ControlFlow::Continue(()));
/// assert!((run.state().v[0] - 0.5).abs() < 1e-12 && run.ledger().is_closed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// From `q_i` and `v_{i−1}`: `w_i = v_{i−1} + h M(q_i)⁻¹ f(t_i, q_{t_i}, v_{i−1})`; where `φ(q_i) ≤ 0` and
/// `u_N(w_i) < 0`, `v_i = S(q_i, w_i)`, the velocity of least kinetic energy in
/// `[w_i + M⁻¹H K] ∩ {u_N = 0}` (flow rule `KineticProjection`) or Coulomb's law (flow rule `Coulomb`, the same for a
/// particle); elsewhere `v_i = w_i`. Then `q_{i+1} = q_i + h v_i`. The force reads the past motion, known
/// up to and including q_i.
///
/// # Source
/// [MonteiroMarquesDzonou2017], the algorithm of section 1 in the reading that its proofs need:
/// the projection acts only where the prospective velocity is inadmissible, and f takes `v_{i−1}`.
/// A mass matrix, several contacts (solved together) and restitution `u_N = −e u_N(v_{i−1})` are ours.
///
/// # Guarantees
/// `|v_i| ≤ |w_i|` in the kinetic norm, penetration at most K h and bounded variation
/// ([`super::SweepingBounds`]), convergence of a subsequence to a solution: identity mass (or no
/// inertial coupling of normal and tangent), one contact, inelastic impacts, angle of friction
/// a Lipschitz function of place. With a general mass and γ ≤ 0 a tangential jump of order 1 can occur
/// as the approach velocity tends to 0; there the bounds and the continuity do not hold.
///
/// # Behaviour to know
/// Order 1. Contact is tested at the position reached, so it is discovered at most one step late and
/// the penetration reached then is kept: 0.02 m in a fall at 5 m/s with h = 6.5 ms. Friction acts already at
/// the initial instant: a particle that starts on the plane loses μ g h in the first update. The
/// initial velocity is `v_{−1}`, a left velocity; the first step meets it, or a step of length zero before it where controllers
/// read what it leaves. A delayed spring feeds energy
/// in (like negative damping −k τ): the ledger books it as external work. Bare, the scheme drifts off curved
/// obstacles; with [`Projection::Combined`] every new position is projected, but where restitution is to
/// answer an impact below the surface or has done so, and what the normal turns from the middle of
/// a chord to its end is taken on the mean of both velocities.
///
/// # Cost
/// One factorization of M (none if constant), one solve per contact row, and what the force reads
/// of the past.
///
/// # Tested by
/// `tests/truth_delay.rs`, `tests/property_sweeping.rs`, `tests/truth_positions.rs`.
#[derive(Debug, Default)]
pub struct SweepingProcess {
    gap_tolerance: f64,
    step: ExplicitStep,
}

impl SweepingProcess {
    /// Scheme whose contacts are those with `φ(q_i) ≤ gap_tolerance` (default: rounding of the gap).
    pub fn new(gap_tolerance: f64) -> Self {
        Self {
            gap_tolerance,
            step: ExplicitStep::default(),
        }
    }
}

impl SweepingProcess {
    /// The same scheme with corrected positions, or without.
    #[must_use]
    pub fn with_projection(mut self, projection: Projection) -> Self {
        self.step.positions.projection = projection;
        self
    }
}

impl TimeSteppingScheme for SweepingProcess {
    fn name(&self) -> &'static str {
        "sweeping-process"
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
        // Velocity at the position reached ...
        let step = &mut self.step;
        step.q.clone_from(&state.q);
        let now = (h, state.t);
        let contacts = Contacts::Touching(self.gap_tolerance);
        if !step.update_velocity(system, state, now, contacts, stage, record) {
            return;
        }
        // ... then the position moves with it.
        step.q_end.resize(state.q.len(), 0.0);
        system.displace(&state.q, &step.v, h, &mut step.q_end);
        let (q, v, positions) = (&mut step.q_end, &step.v, &mut step.positions);
        let scales = &stage.scales;
        positions.correct(
            system,
            (h, t_end),
            &state.q,
            (q, v),
            &record.impulses,
            scales,
        );
        step.complete(system, state, (h, t_end), record);
        for contact in &mut record.contacts {
            let gap = system.constraints()[contact.key.constraint()].gap();
            contact.gap = gap.value(t_end, &record.q);
        }
    }

    /// `v(T) = v_N`: one more update at the position reached, which then does not move.
    fn closing_velocity(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        h: f64,
        stage: &mut ContactStage,
    ) -> Option<Vec<f64>> {
        let mut record = StepRecord::default();
        let contacts = Contacts::Touching(self.gap_tolerance);
        let step = &mut self.step;
        step.q.clone_from(&state.q);
        step.update_velocity(system, state, (h, state.t), contacts, stage, &mut record)
            .then(|| step.v.clone())
    }

    fn meets_initial_velocity(&self) -> bool {
        true
    }

    fn local_velocities_before(&self) -> &[f64] {
        &self.step.assembly.before
    }

    fn position_correction(&self, system: &dyn MechanicalSystem) -> PositionCorrection {
        PositionCorrection::of(self.step.positions.projection, system, false)
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let mut warnings = Vec::new();
        for constraint in system.constraints() {
            if constraint
                .points()
                .iter()
                .any(|point| point.law.impact().restitution() > 0.0)
            {
                warnings.push(format!(
                    "`{}`: restitution is an extension of the sweeping process; its theorem assumes inelastic impacts",
                    constraint.name()
                ));
            }
        }
        if !system.mass_is_constant() {
            warnings.push(
                "the bounds and the continuity of the velocity of the sweeping process hold only where \
                 the inertia does not couple normal and tangent, or gamma > 0"
                    .to_string(),
            );
        }
        warnings
    }
}
