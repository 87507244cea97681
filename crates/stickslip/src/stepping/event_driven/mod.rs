//! Event-driven integration: the near-exact motion to compare any scheme with.

mod accelerations;
mod bounces;
mod events;
mod full_pivoting;
mod hold;
mod impacts;
mod integrator;
mod kinks;
mod lasting_contact;
mod modes;
mod onset;
mod projection;
mod rates;
mod reactions_inside;
mod reference_event;
mod runge_kutta;
mod scales;
mod selection;
mod transition;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algebra::SymmetricMatrix;
use crate::contact::ContactSolver;
use crate::laws::{FlowRule, FrictionSection, NormalCompliance};
use crate::records::bounces::Bounces;
use crate::records::{ContactMode, ContactRecord, EnergyEntry, StepOutcome, StepRecord};
use crate::systems::MechanicalSystem;
use crate::systems::past_motion::PastSnapshot;

use super::normal_compliance::{springs, unread_laws};
use super::step_energy::{self, ContactWork};
use super::{ContactStage, State, TimeSteppingScheme};
use accelerations::Spring;
use integrator::Integrator;
use lasting_contact::LastingContact;
use modes::Mode;

pub use reference_event::{ReferenceEvent, ReferenceEventKind, WatchFunction};

/// Settings of the event-driven integration.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDrivenSettings {
    /// Tolerance of one integration step, relative to the lengths and speeds of the run.
    pub tolerance: f64,
    /// Longest integration step.
    pub step_max: f64,
    /// A bounce that rises less than this part of the lengths of the run ends in contact.
    pub bounce_min: f64,
    /// Compliance of the contacts; none for rigid ones.
    pub compliance: Option<NormalCompliance>,
    /// Largest number of integration steps between two output times.
    pub steps_max: usize,
}

impl Default for EventDrivenSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            step_max: f64::INFINITY,
            bounce_min: 1e-15,
            compliance: None,
            steps_max: 10_000_000,
        }
    }
}

impl EventDrivenSettings {
    fn springs(&self, system: &dyn MechanicalSystem, q: &[f64]) -> Vec<Spring> {
        self.compliance
            .as_ref()
            .map_or_else(Vec::new, |compliance| {
                springs(compliance, system, q)
                    .into_iter()
                    .map(|(stiffness, damping)| Spring { stiffness, damping })
                    .collect()
            })
    }
}

/// The event-driven integration as a scheme; its step is only the distance between records.
///
/// ```
/// use stickslip::prelude::*;
///
/// let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution: 0.5 })?;
/// let ground = UnilateralConstraint::new("ground", AutoScalar(|_: Jet, q: &[Jet]| q[0]))
///     .with_point(ContactFrame::Frictionless, law);
/// let ball = GeneralizedSystem::builder(["y"]).mass_diagonal(&[1.0]).dead_load(&[-10.0]);
/// let ball = ball.constraint(ground).build(&[0.2])?;
/// // It lands after 0.2 s with 2 m/s and rises again with 1 m/s, to 0.05 m after 0.1 s.
/// let (scheme, solver) = (Box::new(EventDriven::default()), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(0.1);
/// let mut run = Simulation::new(Box::new(ball), scheme, solver, (&[0.2], &[0.0]), settings)?;
/// run.run_until(0.3, |_| ControlFlow::Continue(()));
/// assert!((run.state().q[0] - 0.05).abs() < 1e-12 && run.state().v[0].abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// Between events the accelerations of the current modes (open; closed and stuck; closed and slipping) with
/// their reactions, integrated by an explicit Runge-Kutta pair of orders 5(4) at a tight tolerance;
/// rigid contacts hold `φ = 0` at acceleration level and are projected back after every step, compliant
/// ones press with `k max(−φ, 0)`. Events (touching, `λ_N = 0`, end of stick, end of slip) are located by root
/// finding on the step itself. The direction in which slip in space begins is found by Newton's method. At an event the impact laws act (those of `moreau-jean` at a step of
/// length zero), again while something that touches approaches, then all combinations of modes are tried for the one that satisfies every law.
/// What jumps the velocity of a held row is such an event too: a kink of a gap or a joint, a floor or a belt that sets off at once.
/// Delays are handled by the method of steps on a past of degree five; steps end where a kink returns.
///
/// # Source
/// Ours, on the laws of [Schatzman], [MonteiroMarquesDzonou2017] and [AcaryCollinsCraft2023]; the
/// Runge-Kutta pair is [DormandPrince1980].
///
/// # Guarantees
/// None proved. Measured: 1e-8 or better on every reference motion of the case files. The integration error
/// is booked as `numerical_mass`.
///
/// # Behaviour to know
/// For small systems: every instant evaluates all frames, every event tries up to 4ᵏ combinations of k
/// touching contacts. Bounces that rise less than `bounce_min` end in contact, with the time at which the
/// series of flights would end; a slip in several tangents ends at 1e-9 of the speeds of the run, one that begins goes along its own acceleration up to
/// 1e-6 of them, and gaps below 1e-9 of its lengths touch. An impact without collision
/// (Painlevé) is taken where no acceleration fits and only one contact touches; with several such
/// contacts the step reports no solution. Where the pressures of feet that slip in different directions depend on each other (a spinning table on four or more), the motion is not unique:
/// the shares of least weighted norm are taken, other schemes may take others, and the run warns. Stiff forces cost many steps: the method is explicit.
/// The run stops by name where modes change again and again at one instant, or bounces that have ended take up again at once, a thousand times;
/// where a contact comes to rest at a kink of its gap, and where a gap jumps below zero or the equation of a joint jumps.
///
/// # Cost
/// About 7 evaluations per integration step, 60 to 150 per event.
///
/// # Tested by
/// `tests/reference_motions.rs`, `tests/truth_event_driven.rs`, `tests/truth_kinks.rs`, `stickslip-validation/tests/reference_cases.rs`.
#[derive(Debug)]
pub struct EventDriven {
    integrator: Integrator,
    lasting: LastingContact,
    started: bool,
    failure: Option<StepOutcome>,
    reported: usize,
    t_start: f64,
}

impl Default for EventDriven {
    fn default() -> Self {
        Self::new(EventDrivenSettings::default())
    }
}

#[derive(Serialize, Deserialize)]
struct Memory {
    modes: Vec<Mode>,
    h: f64,
    breaks: Vec<f64>,
    past: Option<PastSnapshot>,
    q: Vec<f64>,
    v: Vec<f64>,
    t: f64,
    #[serde(default)]
    series: Vec<Bounces>,
    #[serde(default)]
    scales: scales::Scales,
}

impl EventDriven {
    /// Scheme with the given settings.
    pub fn new(settings: EventDrivenSettings) -> Self {
        Self {
            integrator: Integrator::new(settings),
            lasting: LastingContact::default(),
            started: false,
            failure: None,
            reported: 0,
            t_start: f64::NEG_INFINITY,
        }
    }

    /// Records the zeros of a function of (t, q, v); returns its number.
    pub(crate) fn watch(
        &mut self,
        function: impl Fn(f64, &[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> usize {
        let watches = &mut self.integrator.watches;
        watches.push(WatchFunction(Arc::new(function)));
        watches.len() - 1
    }

    /// All events so far.
    pub(crate) fn events(&self) -> &[ReferenceEvent] {
        &self.integrator.events
    }

    fn begin(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &State,
        interval: f64,
        stage: &mut ContactStage,
    ) -> StepOutcome {
        if self.started {
            return StepOutcome::Solved;
        }
        self.started = true;
        if self.integrator.resume.is_none() {
            self.t_start = state.t;
        }
        let start = (state.t, &state.q[..], &state.v[..]);
        self.integrator.prepare(system, start, interval);
        self.integrator.start(system, stage)
    }

    /// Contact part of the record: impulses and works of the whole interval, modes at its end.
    fn fill_contacts(&mut self, record: &mut StepRecord) {
        let integrator = &mut self.integrator;
        let rows = integrator.accelerations.layout.rows();
        let count = integrator.accelerations.layout.slots().len();
        let quadratures = integrator.quadratures().to_vec();
        record.impulses.clear();
        record.impulses.extend_from_slice(&quadratures[2..2 + rows]);
        record.local_velocities.clear();
        record
            .local_velocities
            .extend_from_slice(&integrator.accelerations.local);
        record.contacts.clear();
        let fresh = &integrator.events[self.reported.min(integrator.events.len())..];
        // The first modes of a motion that begins in contact or in flight are no events.
        let start = self.t_start;
        record.located = Some(
            fresh
                .iter()
                .filter(|event| event.t > start || event.is_impact())
                .filter_map(ReferenceEvent::located)
                .collect(),
        );
        for (s, slot) in integrator.accelerations.layout.slots().iter().enumerate() {
            let mode = &integrator.modes[s];
            let hit = fresh.iter().find(|event| {
                event.kind == ReferenceEventKind::Impact
                    && event.constraint == slot.key.constraint()
                    && event.point == slot.key.point()
            });
            let work = |k: usize| quadratures[2 + rows + k * count + s];
            let [hit_normal, hit_tangential, hit_along, hit_across] = integrator.impact_work[s];
            let (normal, tangential) = (hit_normal + work(1), hit_tangential + work(0));
            let supports = [hit_along + work(2), hit_across + work(3)];
            let slips = mode
                .friction
                .iter()
                .any(|friction| friction.slip().is_some());
            record.contacts.push(ContactRecord {
                key: slot.key,
                gap: integrator.accelerations.gaps[slot.key.constraint()],
                mode: match (mode.closed, mode.friction.is_empty(), slips) {
                    (false, ..) => ContactMode::Open,
                    (true, true, _) => ContactMode::Closed,
                    (true, false, true) => ContactMode::Slip,
                    (true, false, false) => ContactMode::Stick,
                },
                start: slot.start,
                size: slot.size,
                work_normal: normal + supports[0],
                work_tangential: tangential + supports[1],
                work_support: supports,
                work_law: normal + tangential,
                approach: hit.map_or(0.0, |event| event.approach),
                ..ContactRecord::default()
            });
        }
        self.reported = integrator.events.len();
    }
}

impl TimeSteppingScheme for EventDriven {
    fn name(&self) -> &'static str {
        "event-driven"
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
        let mut outcome = self.begin(system, state, t_end - state.t, stage);
        if !outcome.is_fatal() {
            outcome = self.integrator.advance(system, t_end, stage);
        }
        if let Some(failure) = self.failure {
            outcome = failure;
        }
        record.outcome = outcome;
        if outcome.is_fatal() {
            self.failure = Some(outcome);
            return;
        }
        self.fill_contacts(record);
        record.residual = self.lasting.certify(&mut self.integrator, system, stage);
        let integrator = &mut self.integrator;
        let (q, v) = (integrator.q().to_vec(), integrator.v().to_vec());
        let mut mass: SymmetricMatrix = system.new_matrix();
        system.mass(&q, &mut mass);
        let kinetic = step_energy::kinetic(&mass, &v);
        let potential = step_energy::potential(system, &q);
        let contacts = ContactWork::of(&record.contacts);
        let joints = integrator.joint_quadratures();
        let joint_work = joints[joints.len() - 1];
        record.joint_impulses.clear();
        let impulses = &joints[..joints.len() - 1];
        record.joint_impulses.extend_from_slice(impulses);
        let mut entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: potential - state.potential,
            external: integrator.quadratures()[0],
            damping: integrator.quadratures()[1],
            joints: joint_work,
            contact_normal: contacts.normal,
            contact_tangential: contacts.tangential,
            supports: contacts.supports,
            ..EnergyEntry::default()
        };
        // What the integration itself did, of the size of its tolerance.
        entry.numerical_mass = entry.imbalance();
        integrator.quadratures().fill(0.0);
        integrator
            .impact_work
            .iter_mut()
            .for_each(|work| *work = [0.0; 4]);
        record.t = t_end;
        record.h = h;
        record.q.clone_from(&q);
        record.velocity_left.clone_from(&v);
        record.velocity.clone_from(&v);
        record.energy = entry;
        record.kinetic = kinetic;
        record.potential = potential;
        record.stick_jitter = 0.0;
        record.iterations = 0;
        state.t = t_end;
        state.q.copy_from_slice(&q);
        state.v.copy_from_slice(&v);
        state.kinetic = kinetic;
        state.potential = potential;
        state.impulses.clone_from(&record.impulses);
    }

    fn meets_initial_velocity(&self) -> bool {
        true
    }

    fn is_compliant(&self) -> bool {
        self.integrator.settings.compliance.is_some()
    }

    fn keeps_past(&self) -> bool {
        true
    }

    fn poses_one_problem(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<serde_json::Value> {
        if !self.started {
            return None;
        }
        let memory = Memory {
            modes: self.integrator.modes.clone(),
            h: self.integrator.h,
            breaks: self.integrator.breaks.clone(),
            past: self.integrator.past.as_ref().map(|past| past.snapshot()),
            q: self.integrator.q().to_vec(),
            v: self.integrator.v().to_vec(),
            t: self.integrator.t,
            series: self.integrator.bounces.clone(),
            scales: self.integrator.scales.clone(),
        };
        serde_json::to_value(memory).ok()
    }

    fn recall(&mut self, memory: &serde_json::Value) -> bool {
        let Ok(memory) = serde_json::from_value::<Memory>(memory.clone()) else {
            return false;
        };
        self.integrator.resume = Some(integrator::Resume {
            modes: memory.modes,
            h: memory.h,
            breaks: memory.breaks,
            past: memory.past,
            q: memory.q,
            v: memory.v,
            t: memory.t,
            bounces: memory.series,
            scales: memory.scales,
        });
        self.started = false;
        true
    }

    fn refusal(&self, system: &dyn MechanicalSystem) -> Option<String> {
        for constraint in system.constraints() {
            for point in constraint.points() {
                let name = constraint.name();
                let section = point.law.base_section();
                if point.law.flow_rule() == FlowRule::KineticProjection && section.dimension() > 1 {
                    return Some(format!(
                        "contact `{name}` slides in space under `argmin`, whose direction of friction differs from \
                         Coulomb's, which is the one that is followed from event to event"
                    ));
                }
                if !has_smooth_slip(section) {
                    return Some(format!(
                        "the friction set of contact `{name}` has corners or flat sides: slip in space can stay on \
                         one of them, which is not followed from event to event (`moreau-jean` computes it)"
                    ));
                }
            }
        }
        None
    }

    fn warnings(&self, system: &dyn MechanicalSystem) -> Vec<String> {
        let mut warnings = Vec::new();
        if system.dof() > 50 {
            warnings.push(format!(
                "`event-driven` is a reference for small systems; {} degrees of freedom will be slow",
                system.dof()
            ));
        }
        if self.is_compliant() {
            warnings.extend(unread_laws(system));
        }
        warnings
    }
}

/// Whether friction varies smoothly with the direction of slip, or there are only two directions.
fn has_smooth_slip(section: &FrictionSection) -> bool {
    match section {
        _ if section.dimension() <= 1 || section.is_frictionless() => true,
        FrictionSection::Disc { .. } => true,
        FrictionSection::Ellipse { map } => {
            let determinant = map[0][0] * map[1][1] - map[0][1] * map[1][0];
            let size: f64 = map.iter().flatten().map(|x| x * x).sum();
            determinant.abs() > 1e-6 * size
        }
        FrictionSection::Product { factors, .. } => factors.iter().all(has_smooth_slip),
        _ => false,
    }
}

/// A motion computed event by event, outside a simulation: for tests, validation and studies.
pub struct ReferenceMotion {
    scheme: EventDriven,
    stage: ContactStage,
    state: State,
}

impl ReferenceMotion {
    /// Starts the motion of `system` at (q, v) and time zero, with a solver for its impacts.
    pub fn new(
        settings: EventDrivenSettings,
        solver: Box<dyn ContactSolver>,
        (q, v): (&[f64], &[f64]),
    ) -> Self {
        Self {
            scheme: EventDriven::new(settings),
            stage: ContactStage::new(solver),
            state: State {
                q: q.to_vec(),
                v: v.to_vec(),
                ..State::default()
            },
        }
    }

    /// Records the zeros of a function; returns its number.
    pub fn watch(
        &mut self,
        function: impl Fn(f64, &[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> usize {
        self.scheme.watch(function)
    }

    /// Goes on to time `t`; the outcome tells whether it was reached.
    pub fn run_until(&mut self, system: &dyn MechanicalSystem, t: f64) -> StepOutcome {
        let mut record = StepRecord::default();
        let h = t - self.state.t;
        self.scheme
            .step(system, &mut self.state, h, t, &mut self.stage, &mut record);
        record.outcome
    }

    /// Configuration now.
    pub fn q(&self) -> &[f64] {
        &self.state.q
    }

    /// Velocity now (from the right).
    pub fn v(&self) -> &[f64] {
        &self.state.v
    }

    /// All events so far.
    pub fn events(&self) -> &[ReferenceEvent] {
        self.scheme.events()
    }
}
