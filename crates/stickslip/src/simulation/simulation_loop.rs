//! The simulation and its loop.

mod blows;
mod checks;
mod moving_parts;
mod readings;
mod restart;
mod step_lengths;
mod uniqueness;

use std::ops::ControlFlow;

use crate::contact::{ContactKey, ContactProblem, ContactSolution, ContactSolver};
use crate::laws::ImpactLaw;
use crate::records::{
    EnergyLedger, EventLog, MomentumLedger, PainleveWatch, StepOutcome, StepRecord,
};
use crate::stepping::{
    ContactLayout, ContactScales, ContactStage, MoreauContactDynamics, State, TimeSteppingScheme,
};
use crate::systems::past_motion::{Interpolation, PastMotion, SystemWithPast};
use crate::systems::{ElasticScratch, MechanicalSystem};

use super::frame_watch::FrameWatch;
use super::gap_zero::passed_through;
use super::jump_watch::JumpWatch;
use super::positions::PositionWatch;
use super::simulation_settings::{RunEnd, SimulationError, SimulationSettings};
use super::step_control::{CoordinateSizes, StepControl};
use super::uniqueness_watch::{StepStart, UniquenessWatch};
use super::world_monitors::WorldMonitors;
use super::{Checkpoint, ControlLoop, ElasticLedger, WorldAccounts};
use moving_parts::MovingParts;

/// Buffers of trial steps, which leave no trace.
#[derive(Default)]
struct Spare {
    state: State,
    record: StepRecord,
    problem: ContactProblem,
    solution: ContactSolution,
}

/// A run: system, scheme and solver with the current state and its accounts.
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
/// let mut run = Simulation::of(brick, (&[0.0, 0.0], &[1.0, 0.0]), 1e-3)?;
/// assert_eq!(run.run_until(0.5, |_| ControlFlow::Continue(())), RunEnd::Finished);
/// // Friction and the damping of the scheme took the whole kinetic energy, ½ · 2 kg · (1 m/s)².
/// let totals = &run.ledger().totals;
/// assert!((totals.contact_tangential + totals.numerical_mass + 1.0).abs() < 1e-12);
/// assert!(run.ledger().is_closed() && run.certificate().holds(1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    system: Box<dyn MechanicalSystem>,
    scheme: Box<dyn TimeSteppingScheme>,
    stage: ContactStage,
    settings: SimulationSettings,
    layout: ContactLayout,
    past: Option<PastMotion>,
    state: State,
    saved: State,
    spare: Spare,
    /// The state before the impact at the initial instant, where a run may have to make it again.
    origin: Option<Box<Checkpoint>>,
    record: StepRecord,
    ledger: EnergyLedger,
    events: EventLog,
    step: u64,
    /// Steps of fixed length that were cut short by an end between two multiples of h, and whether the last one was.
    cuts: u64,
    cut: bool,
    h: f64,
    planned: Vec<f64>,
    /// What the tolerance of adaptive steps is a part of.
    sizes: CoordinateSizes,
    stick_jitter: f64,
    painleve: PainleveWatch,
    uniqueness: UniquenessWatch,
    positions: PositionWatch,
    frames: FrameWatch,
    jumps: JumpWatch,
    momentum: MomentumLedger,
    elastic: Option<ElasticLedger>,
    world: Option<(WorldAccounts, WorldMonitors)>,
    closing: Option<Vec<f64>>,
    control: Option<ControlLoop>,
}

/// The state at the start, without impulses; its energies must be finite.
fn initial_state(
    system: &dyn MechanicalSystem,
    (t, q, v): (f64, &[f64], &[f64]),
    rows: usize,
) -> Result<State, SimulationError> {
    let kinetic = system.kinetic_energy(q, v);
    let elastic = system.linear_part().map_or(0.0, |linear| {
        linear.elastic_energy(q, &mut ElasticScratch::default())
    });
    let potential = system.potential(q) + elastic;
    if !(kinetic + potential).is_finite() {
        return Err(SimulationError::Energy { kinetic, potential });
    }
    Ok(State {
        t,
        q: q.to_vec(),
        v: v.to_vec(),
        kinetic,
        potential,
        impulses: vec![0.0; rows],
    })
}

/// The system as a scheme is handed it: with its past and the outputs of its controllers where it has any.
fn handed<'a>(
    system: &'a dyn MechanicalSystem,
    past: Option<&'a PastMotion>,
    control: Option<&'a ControlLoop>,
    with_past: &'a mut Option<SystemWithPast<'a>>,
) -> &'a dyn MechanicalSystem {
    if past.is_none() && control.is_none() {
        return system;
    }
    with_past.insert(SystemWithPast {
        system,
        past,
        held: control.map_or(&[], ControlLoop::held),
    })
}

/// The start of a step: the state before it, whose gaps are those of the last record.
fn step_start<'a>(positions: &'a PositionWatch, state: &'a State) -> StepStart<'a> {
    StepStart {
        positions,
        q: &state.q,
    }
}

impl Simulation {
    /// Joins the parts and, where the initial velocity violates an active constraint or a joint,
    /// lets the laws act at the initial instant. The record then holds the initial state.
    pub fn new(
        system: Box<dyn MechanicalSystem>,
        scheme: Box<dyn TimeSteppingScheme>,
        solver: Box<dyn ContactSolver>,
        (q, v): (&[f64], &[f64]),
        mut settings: SimulationSettings,
    ) -> Result<Self, SimulationError> {
        checks::check(system.as_ref(), q, v, &settings)?;
        checks::check_gradients(system.as_ref(), (q, v), &settings)?;
        checks::check_generalized(system.as_ref(), scheme.name())?;
        checks::check_world(system.as_ref(), scheme.as_ref(), &settings.control)?;
        checks::check_scheme(system.as_ref(), scheme.as_ref(), q, &mut settings.control)?;
        let past = PastMotion::new(
            system.as_ref(),
            (q, v),
            settings.t_start,
            Interpolation::Affine,
        )?
        .filter(|_| !scheme.keeps_past());
        let layout = ContactLayout::new(system.as_ref());
        let state = initial_state(system.as_ref(), (settings.t_start, q, v), layout.rows())?;
        let h = settings.control.initial();
        let sizes = match settings.control {
            StepControl::Fixed { .. } => CoordinateSizes::default(),
            StepControl::Adaptive { .. } => {
                CoordinateSizes::of(system.as_ref(), (settings.t_start, q, v), h)
            }
        };
        let world = system
            .as_world()
            .map(|world| (WorldAccounts::default(), WorldMonitors::new(world)));
        let frames = FrameWatch::new(system.as_ref());
        let jumps = JumpWatch::new(system.as_ref());
        let mut simulation = Self {
            system,
            scheme,
            stage: ContactStage::new(solver),
            settings,
            layout,
            past,
            saved: state.clone(),
            spare: Spare::default(),
            origin: None,
            record: StepRecord::default(),
            ledger: EnergyLedger::new(state.kinetic + state.potential),
            state,
            events: EventLog::default(),
            step: 0,
            cuts: 0,
            cut: false,
            h,
            planned: Vec::new(),
            sizes,
            stick_jitter: 0.0,
            painleve: PainleveWatch::default(),
            uniqueness: UniquenessWatch::default(),
            positions: PositionWatch::default(),
            frames,
            jumps,
            momentum: MomentumLedger::default(),
            elastic: None,
            world,
            closing: None,
            control: None,
        };
        simulation.stage.impacts = (!simulation.scheme.poses_one_problem()).then(Vec::new);
        if simulation.world.is_none() {
            let State { t, q, v, .. } = &simulation.state;
            let scales = ContactScales::of(simulation.system.as_ref(), (*t, q, v), h);
            simulation.stage.scales = scales;
        }
        // Forces that read outputs are asked for at an impact at the start, too, though they do nothing there.
        let State { t, q, v, .. } = &simulation.state;
        simulation.control = ControlLoop::start(simulation.system.as_ref(), (*t, q, v));
        let rehearsed = simulation.rehearse_impact();
        simulation.start();
        let outcome = rehearsed.unwrap_or(simulation.record.outcome);
        if let StepOutcome::SeveralLayers { contact } = outcome {
            let system = simulation.system.as_ref();
            let constraint = match system.as_world() {
                Some(world) => world.contact_name(contact),
                None => system.constraints()[contact.constraint()]
                    .name()
                    .to_string(),
            };
            let what = "it and another contact";
            return Err(SimulationError::SeveralLayers { constraint, what });
        }
        // Controllers see the velocity after an impact at the start.
        let State { t, q, v, .. } = &simulation.state;
        simulation.control = ControlLoop::start(simulation.system.as_ref(), (*t, q, v));
        simulation.write_accounts();
        Ok(simulation)
    }

    /// Keeps the accounts of elastic bodies and surfaces, begun at the state before the initial instant, in the records too: an impact
    /// at that instant is their first entry.
    #[must_use]
    pub fn with_elastic_ledger(mut self, mut ledger: ElasticLedger) -> Self {
        ledger.observe(&self.record);
        self.elastic = Some(ledger);
        self.write_accounts();
        self
    }

    /// Accounts of elastic bodies and surfaces and the outputs of controllers, as the layout names them.
    fn write_accounts(&mut self) {
        // Those of a world are written by its monitors.
        if self.world.is_some() {
            return;
        }
        self.record.accounts.clear();
        if let Some(ledger) = &self.elastic {
            ledger.write_row(&mut self.record.accounts);
        }
        if let Some(control) = &self.control {
            self.record.accounts.extend_from_slice(control.held());
        }
    }

    /// Record of the initial instant, with the impact that happens there if there is one.
    fn start(&mut self) {
        // What the first step of a scheme meets comes before it where a controller reads the velocity after it.
        let met_by_step = self.scheme.meets_initial_velocity()
            && (self.control.is_none() || self.scheme.is_compliant());
        let impact = self.settings.initial_impact && !met_by_step && self.violates_at_start();
        if impact {
            self.origin = self
                .stage
                .lists_solutions()
                .then(|| Box::new(self.checkpoint()));
            self.strike_at_start();
        }
        if !impact || self.record.outcome.is_fatal() {
            self.fill_initial_record();
        }
        self.fill_monitors();
        self.record.energy_totals = self.ledger.totals;
        self.record.step = 0;
        self.observe_events();
        self.painleve.observe(&self.record);
        self.positions
            .observe(self.system.as_ref(), &self.record, &self.state);
    }

    /// What comes of an impact at the initial instant that the first step of the scheme meets, where layers of contacts may meet in it: that is
    /// refused before a run begins. Nothing of it is kept.
    fn rehearse_impact(&mut self) -> Option<StepOutcome> {
        let meets = self.scheme.meets_initial_velocity() && !self.scheme.is_compliant();
        let mut points = self.system.constraints().iter().flat_map(|c| c.points());
        let layers = points.any(|p| matches!(p.law.impact(), ImpactLaw::Energetic { .. }));
        if !(meets && layers && self.violates_at_start()) {
            return None;
        }
        let (state, certificate) = (self.state.clone(), self.stage.certificate.clone());
        let mut scheme: Box<dyn TimeSteppingScheme> = Box::<MoreauContactDynamics>::default();
        std::mem::swap(&mut self.scheme, &mut scheme);
        self.saved.clone_from(&self.state);
        self.advance(0.0, self.state.t);
        std::mem::swap(&mut self.scheme, &mut scheme);
        self.state = state;
        self.stage.certificate = certificate;
        let made = std::mem::take(&mut self.record);
        Some(made.outcome).filter(|outcome| outcome.is_fatal())
    }

    /// The impact at the initial instant, a step of no length, examined like every other.
    fn strike_at_start(&mut self) {
        // What touches is told by the state before it.
        self.fill_initial_record();
        self.positions
            .observe(self.system.as_ref(), &self.record, &self.state);
        self.saved.clone_from(&self.state);
        self.admit_touching();
        self.advance(0.0, self.state.t);
        if !self.record.outcome.is_fatal() {
            self.examine_uniqueness(0.0);
            self.stop_at_several();
        }
        // Joints that the given velocity violates answer in the impact, not before it.
        self.record.velocity_left.clone_from(&self.saved.v);
        if !self.record.outcome.is_fatal() {
            self.ledger.enter(&self.record);
        }
    }

    /// Whether the run was stopped at its first instant.
    fn is_stopped_at_start(&self) -> bool {
        let stopped = matches!(self.record.outcome, StepOutcome::StoppedAtSeveral { .. });
        self.step == 0 && stopped
    }

    /// Makes the impact at the initial instant again, if there was one and its solutions were listed; false if not.
    pub(crate) fn begin_again(&mut self) -> bool {
        let Some(origin) = self.origin.clone() else {
            return false;
        };
        let elastic = self.elastic_accounts().cloned();
        let mut origin = *origin;
        origin.elastic = elastic;
        if self.restore(origin).is_err() {
            return false;
        }
        self.start();
        let State { t, q, v, .. } = &self.state;
        self.control = ControlLoop::start(self.system.as_ref(), (*t, q, v));
        self.write_accounts();
        true
    }

    /// Whether the run is at its first instant, behind an impact whose solutions were listed.
    pub(crate) fn has_struck_at_start(&self) -> bool {
        self.step == 0 && self.origin.is_some()
    }

    /// Whether a touching constraint approaches or a joint moves at the start.
    fn violates_at_start(&self) -> bool {
        let (t, q, v) = (self.state.t, &self.state.q, &self.state.v);
        let mut gradient = vec![0.0; self.system.dof()];
        let mut approaches = |function: &dyn crate::systems::functions::ScalarFunction| {
            function.gradient(t, q, &mut gradient);
            let size: f64 = gradient.iter().zip(v).map(|(g, v)| (g * v).abs()).sum();
            let rate =
                gradient.iter().zip(v).map(|(g, v)| g * v).sum::<f64>() + function.rate(t, q);
            (rate, 1e-12 * size)
        };
        let scales = &self.stage.scales;
        let mut constraints = self.system.constraints().iter().enumerate();
        let contact = constraints.any(|(c, constraint)| {
            let (rate, rounding) = approaches(constraint.gap());
            constraint.gap().value(t, q) <= scales.closed_gap(c) && rate < -rounding
        });
        contact
            || self.system.joints().iter().any(|joint| {
                let (rate, rounding) = approaches(joint.function());
                rate.abs() > rounding
            })
    }

    fn fill_initial_record(&mut self) {
        let record = &mut self.record;
        record.t = self.state.t;
        record.h = 0.0;
        record.q.clone_from(&self.state.q);
        record.velocity.clone_from(&self.state.v);
        record.velocity_left.clone_from(&self.state.v);
        record.impulses.clone_from(&self.state.impulses);
        record.local_velocities.clone_from(&self.state.impulses);
        record.kinetic = self.state.kinetic;
        record.potential = self.state.potential;
        record.contacts.clear();
        for slot in self.layout.slots() {
            let gap = self.system.constraints()[slot.key.constraint()]
                .gap()
                .value(self.state.t, &self.state.q);
            record.contacts.push(crate::records::ContactRecord {
                key: slot.key,
                gap,
                start: slot.start,
                size: slot.size,
                ..Default::default()
            });
        }
    }

    /// Hands the scheme the system, with its past where it reads one, and enters the new node.
    fn advance(&mut self, h: f64, t_next: f64) {
        let (past, control) = (self.past.as_ref(), self.control.as_ref());
        let mut with_past = None;
        let system = handed(self.system.as_ref(), past, control, &mut with_past);
        self.stage.begins = self.state.t == self.settings.t_start;
        self.scheme.step(
            system,
            &mut self.state,
            h,
            t_next,
            &mut self.stage,
            &mut self.record,
        );
        if let Some(past) = &mut self.past {
            if past.fault().is_some() {
                self.record.outcome = StepOutcome::DelayOutOfRange;
            }
            if h > 0.0 && !self.record.outcome.is_fatal() {
                past.push(self.state.t, &self.state.q);
            }
        }
    }

    /// One step of the scheme towards `t_end`; the record tells how it went. After a fatal outcome
    /// the state is that before the step.
    pub fn step_towards(&mut self, t_end: f64) -> &StepRecord {
        if self.is_stopped_at_start() {
            return &self.record;
        }
        // Steps end where a controller samples.
        let sample = self.control.as_ref().map(ControlLoop::next_sample);
        let t_end = sample.map_or(t_end, |sample| sample.min(t_end));
        let (h, t_next, cut) = self.next_step(t_end);
        self.record.stick_jitter = 0.0;
        self.closing = None;
        let declared = self.world.is_none();
        self.saved.clone_from(&self.state);
        self.admit_touching();
        self.advance(h, t_next);
        if !self.record.outcome.is_fatal() {
            let (watch, step) = (&self.uniqueness, (&self.stage.problem, &self.record));
            let start = step_start(&self.positions, &self.saved);
            let settled = declared
                && match &self.stage.impacts {
                    None => watch.is_settled(step, &start),
                    // The problem of a scheme that goes from event to event is that of its last impact.
                    Some(impacts) => impacts.is_empty() && watch.is_quiet(&self.record, &start),
                };
            if !settled {
                self.examine_uniqueness(h);
            }
            if self.positions.may_pass() {
                self.watch_passages();
            }
        }
        if !self.record.outcome.is_fatal() {
            self.positions
                .observe(self.system.as_ref(), &self.record, &self.saved);
            let made = (self.step, &self.record);
            let scales = &self.stage.scales;
            if let Some(contact) = self.frames.observe(self.system.as_ref(), made, scales) {
                self.state.clone_from(&self.saved);
                self.record.outcome = StepOutcome::ForeignNormal { contact };
            }
            let step = (&self.record, &self.saved);
            let (system, sizes) = (self.system.as_ref(), (&self.positions, &self.stage.scales));
            if let Some(outcome) = self.jumps.observe(system, step, sizes) {
                self.state.clone_from(&self.saved);
                self.record.outcome = outcome;
            }
        }
        self.stop_at_several();
        if self.record.outcome.is_fatal() {
            return &self.record;
        }
        self.look_for_blows(h);
        self.look_for_blows_of_pairs(h);
        if let Some(past) = &mut self.past {
            past.commit();
        }
        self.step += 1;
        self.cuts += u64::from(cut);
        self.cut = cut;
        self.record.step = self.step;
        if self.record.outcome == StepOutcome::NonlinearNotConverged {
            let certificate = &mut self.stage.certificate;
            certificate.nonlinear_failures += 1;
            let first = (self.record.t, self.record.unbalanced.unwrap_or(0));
            certificate.first_nonlinear_failure.get_or_insert(first);
        }
        self.stick_jitter = self.stick_jitter.max(self.record.stick_jitter);
        self.ledger.enter(&self.record);
        if let (Some((accounts, _)), Some(world)) = (&mut self.world, self.system.as_world()) {
            accounts.enter(&self.record, world);
        }
        self.fill_monitors();
        self.record.energy_totals = self.ledger.totals;
        self.observe_events();
        self.painleve.observe(&self.record);
        if let Some(entry) = &self.record.momentum {
            self.momentum.enter(self.record.t, entry);
        }
        if let Some(ledger) = &mut self.elastic {
            ledger.observe(&self.record);
        }
        // The record tells what acted in the step; then those sample whose instant has come.
        self.write_accounts();
        if let Some(control) = &mut self.control {
            control.observe(self.state.t, &self.state.q, &self.state.v);
        }
        &self.record
    }

    /// Stops where a constraint was passed through without contact: its gap fell to zero, stayed positive at both ends,
    /// and its normal turned round within the step; and after a step in which a closed one lost its normal.
    #[inline(never)] // What judges a step is counted by its name.
    fn watch_passages(&mut self) {
        if self.world.is_some() {
            return;
        }
        let passed = self.positions.passed_over(&self.record).find(|&c| {
            let before = (self.saved.t, &self.saved.q[..]);
            let after = (self.state.t, &self.state.q[..]);
            passed_through(self.system.as_ref(), c, before, after, &self.state.v)
        });
        if let Some(constraint) = self.positions.lost_normal().or(passed) {
            self.state.clone_from(&self.saved);
            let contact = ContactKey::declared(constraint, 0);
            self.record.outcome = StepOutcome::DegenerateGap { contact };
        }
    }

    /// Enters the events of the record.
    fn observe_events(&mut self) {
        let parts = MovingParts::new(self.system.as_ref(), &self.saved, &self.record);
        self.events.observe(&self.record, &parts);
    }

    /// Sums that a world records.
    fn fill_monitors(&mut self) {
        if let (Some((_, monitors)), Some(world)) = (&mut self.world, self.system.as_world()) {
            monitors.fill(world, &mut self.record);
        }
    }

    /// Whether the time is `t_end`, up to the rounding of steps.
    pub(crate) fn has_reached(&self, t_end: f64) -> bool {
        self.state.t >= t_end - 1e-9 * self.settings.control.initial()
    }

    /// Steps until `t_end`, showing every record to `observe`, which may ask to stop.
    pub fn run_until(
        &mut self,
        t_end: f64,
        mut observe: impl FnMut(&StepRecord) -> ControlFlow<()>,
    ) -> RunEnd {
        while !self.has_reached(t_end) {
            let t = self.state.t;
            let record = self.step_towards(t_end);
            if record.outcome.is_fatal() {
                return RunEnd::Stopped {
                    t,
                    outcome: record.outcome,
                };
            }
            if observe(record).is_break() {
                return RunEnd::Interrupted;
            }
        }
        self.close();
        RunEnd::Finished
    }

    /// The velocity of the end time where the scheme has one of its own; nothing else changes.
    fn close(&mut self) {
        let (problem, solution) = (
            std::mem::take(&mut self.stage.problem),
            std::mem::take(&mut self.stage.solution),
        );
        let certificate = self.stage.certificate.clone();
        self.stage.also.clear();
        let (past, control) = (self.past.as_ref(), self.control.as_ref());
        let mut with_past = None;
        let system = handed(self.system.as_ref(), past, control, &mut with_past);
        let h = self.settings.control.initial();
        self.closing = self
            .scheme
            .closing_velocity(system, &self.state, h, &mut self.stage);
        self.stage.certificate = certificate;
        (self.stage.problem, self.stage.solution) = (problem, solution);
    }
}
