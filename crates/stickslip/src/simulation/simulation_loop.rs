//! The simulation and its loop.

use std::ops::ControlFlow;

use thiserror::Error;

use crate::contact::{Certificate, ContactKey, ContactSolver};
use crate::laws::{FlowRule, ImpactLaw};
use crate::quantity::typed;
use crate::records::{
    EnergyLedger, EventLog, MomentumLedger, PainleveWatch, StepOutcome, StepRecord,
    TrajectoryLayout,
};
use crate::stepping::{
    ContactLayout, ContactScales, ContactStage, PositionCorrection, State, TimeSteppingScheme,
};
use crate::systems::constraint::ContactPoint;
use crate::systems::past_motion::{Interpolation, PastError, PastMotion, SystemWithPast};
use crate::systems::{ElasticScratch, MechanicalSystem, World};

use super::gap_zero::{GapZero, gap_zero, normal_turned};
use super::positions::{PositionVerdict, PositionWatch};
use super::step_control::{self, StepControl};
use super::studies::touching_problem;
use super::uniqueness_watch::{UniquenessWatch, Wanted};
use super::world_monitors::WorldMonitors;
use super::{
    Checkpoint, CheckpointError, ControlLoop, ElasticAccounts, ElasticLedger, WorldAccounts,
    world_files,
};

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Step length.
    pub control: StepControl,
    /// Time at the start.
    pub t_start: f64,
    /// Whether the initial velocity is a left velocity, on which the impact law acts at the initial
    /// instant (default); otherwise the first step meets it.
    pub initial_impact: bool,
    /// What a step with several solutions does.
    pub on_several: OnSeveral,
}

/// What a run does where the law of a step has several solutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSeveral {
    /// Go on with the solution the solver chose by its named rule; the outcome tells.
    #[default]
    Choose,
    /// Stop before the step, with the verdict.
    Stop,
}

impl SimulationSettings {
    /// Fixed step `h` from time zero.
    pub fn fixed(h: f64) -> Self {
        Self {
            control: StepControl::Fixed { h },
            t_start: 0.0,
            initial_impact: true,
            on_several: OnSeveral::Choose,
        }
    }

    /// Adaptive step with the given tolerance on positions, starting with `h`.
    pub fn adaptive(h: f64, tolerance: f64) -> Self {
        let control = StepControl::Adaptive {
            h,
            tolerance,
            h_min: 1e-9 * h,
            h_max: 1e3 * h,
        };
        Self {
            control,
            t_start: 0.0,
            initial_impact: true,
            on_several: OnSeveral::Choose,
        }
    }
}

/// Why a simulation was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimulationError {
    /// The initial position or velocity has the wrong length.
    #[error("the initial {what} has {found} entries, expected {expected}")]
    Dimension {
        /// Position or velocity.
        what: &'static str,
        /// Length found.
        found: usize,
        /// Length expected.
        expected: usize,
    },
    /// An initial value is not finite.
    #[error("the initial value of `{name}` is {value}, expected a finite number")]
    NonFinite {
        /// The variable.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The energy overflows, or is not defined.
    #[error(
        "the energy at the start is not a finite number (kinetic {kinetic:e} J, potential {potential:e} J): an initial value is \
         too large, or the potential is not defined there"
    )]
    Energy {
        /// Kinetic energy.
        kinetic: f64,
        /// Potential energy.
        potential: f64,
    },
    /// A step length or tolerance is not positive.
    #[error("{what} is {value}, expected a positive finite number")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The past that the system reads cannot be had.
    #[error(transparent)]
    Past(#[from] PastError),
    /// The generalized law needs all contacts, its own scheme, and a law of normal impact.
    #[error("constraint `{constraint}`: the generalized law {reason}")]
    Generalized {
        /// Constraint.
        constraint: String,
        /// What is not possible.
        reason: &'static str,
    },
    /// A gap vanishes together with its gradient.
    #[error(
        "constraint `{constraint}`: the gap vanishes together with its gradient, so that it has no normal there; use a gap that \
         goes through zero, as y instead of y^2"
    )]
    DegenerateGap {
        /// Constraint.
        constraint: String,
    },
    /// The scheme does not compute this system.
    #[error("the scheme `{scheme}` cannot be used: {reason}")]
    Scheme {
        /// Scheme.
        scheme: &'static str,
        /// What it does not compute.
        reason: String,
    },
    /// Several frictional contacts under the energetic law close together.
    #[error(
        "constraint `{constraint}`: {what} under the energetic law with friction close together; their impact depends \
         on the ratio of their stiffnesses, which rigid contacts do not have: use the scheme `penalty` or another \
         impact law"
    )]
    SeveralLayers {
        /// Constraint.
        constraint: String,
        /// Which contacts.
        what: &'static str,
    },
    /// The step is beyond the stability of the scheme.
    #[error(
        "the step {step} is unstable with the scheme `{scheme}`: at most {}, {} is advised",
        typed(*stable, 4),
        typed(*advised, 4)
    )]
    UnstableStep {
        /// Scheme.
        scheme: &'static str,
        /// Step.
        step: f64,
        /// Limit of stability.
        stable: f64,
        /// Step that is accurate.
        advised: f64,
    },
    /// A world needs a scheme for worlds, and such a scheme a world.
    #[error("the scheme `{scheme}` of this run {reason}")]
    World {
        /// Scheme.
        scheme: &'static str,
        /// What is not possible.
        reason: &'static str,
    },
    /// Moreau's S(q, v) is inelastic.
    #[error(
        "constraint `{constraint}`: the law S(q, v) (kinetic projection) is inelastic, restitution {restitution} \
         needs Coulomb's flow rule"
    )]
    ElasticProjection {
        /// Constraint.
        constraint: String,
        /// Restitution found.
        restitution: f64,
    },
}

/// How a call to [`Simulation::run_until`] ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunEnd {
    /// The end time was reached.
    Finished,
    /// The observer asked to stop.
    Interrupted,
    /// A step could not be made.
    Stopped {
        /// Time at which the step began.
        t: f64,
        /// Why.
        outcome: StepOutcome,
    },
}

/// A run: system, scheme and solver with the current state and its accounts.
pub struct Simulation {
    system: Box<dyn MechanicalSystem>,
    scheme: Box<dyn TimeSteppingScheme>,
    stage: ContactStage,
    settings: SimulationSettings,
    layout: ContactLayout,
    past: Option<PastMotion>,
    state: State,
    saved: State,
    record: StepRecord,
    ledger: EnergyLedger,
    events: EventLog,
    step: u64,
    /// Steps of fixed length that were cut short by an end between two multiples of h, and whether the last one was.
    cuts: u64,
    cut: bool,
    h: f64,
    planned: Vec<f64>,
    stick_jitter: f64,
    painleve: PainleveWatch,
    uniqueness: UniquenessWatch,
    positions: PositionWatch,
    momentum: MomentumLedger,
    elastic: Option<ElasticLedger>,
    world: Option<(WorldAccounts, WorldMonitors)>,
    closing: Option<Vec<f64>>,
    control: Option<ControlLoop>,
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
        check(system.as_ref(), q, v, &settings)?;
        check_gaps(system.as_ref(), settings.t_start, q)?;
        check_generalized(system.as_ref(), scheme.name())?;
        check_world(system.as_ref(), scheme.as_ref(), &settings.control)?;
        if let Some(reason) = scheme.refusal(system.as_ref()) {
            return Err(SimulationError::Scheme {
                scheme: scheme.name(),
                reason,
            });
        }
        if !scheme.keeps_past() {
            check_delays(system.as_ref(), scheme.name(), &mut settings.control)?;
        }
        if let Some(limit) = scheme.step_limit(system.as_ref(), q) {
            let (step, stable) = (settings.control.initial(), limit.stable);
            match &mut settings.control {
                StepControl::Fixed { h } if *h >= stable => {
                    return Err(SimulationError::UnstableStep {
                        scheme: scheme.name(),
                        step,
                        stable,
                        advised: limit.advised,
                    });
                }
                StepControl::Fixed { .. } => {}
                StepControl::Adaptive { h, h_max, .. } => {
                    *h_max = h_max.min(limit.advised);
                    *h = h.min(limit.advised);
                }
            }
        }
        let past = PastMotion::new(
            system.as_ref(),
            (q, v),
            settings.t_start,
            Interpolation::Affine,
        )?
        .filter(|_| !scheme.keeps_past());
        let layout = ContactLayout::new(system.as_ref());
        let kinetic = system.kinetic_energy(q, v);
        let elastic = system.linear_part().map_or(0.0, |linear| {
            linear.elastic_energy(q, &mut ElasticScratch::default())
        });
        let potential = system.potential(q) + elastic;
        if !(kinetic + potential).is_finite() {
            return Err(SimulationError::Energy { kinetic, potential });
        }
        let state = State {
            t: settings.t_start,
            q: q.to_vec(),
            v: v.to_vec(),
            kinetic,
            potential,
            impulses: vec![0.0; layout.rows()],
        };
        let h = settings.control.initial();
        let world = system
            .as_world()
            .map(|world| (WorldAccounts::default(), WorldMonitors::new(world)));
        let mut simulation = Self {
            system,
            scheme,
            stage: ContactStage::new(solver),
            settings,
            layout,
            past,
            saved: state.clone(),
            state,
            record: StepRecord::default(),
            ledger: EnergyLedger::new(kinetic + potential),
            events: EventLog::default(),
            step: 0,
            cuts: 0,
            cut: false,
            h,
            planned: Vec::new(),
            stick_jitter: 0.0,
            painleve: PainleveWatch::default(),
            uniqueness: UniquenessWatch::default(),
            positions: PositionWatch::default(),
            momentum: MomentumLedger::default(),
            elastic: None,
            world,
            closing: None,
            control: None,
        };
        if simulation.world.is_none() {
            let State { t, q, v, .. } = &simulation.state;
            let scales = ContactScales::of(simulation.system.as_ref(), (*t, q, v), h);
            simulation.stage.scales = scales;
        }
        simulation.start();
        if let StepOutcome::SeveralLayers { contact } = simulation.record.outcome {
            return Err(SimulationError::SeveralLayers {
                constraint: simulation.system.constraints()[contact.constraint()]
                    .name()
                    .to_string(),
                what: "it and another contact",
            });
        }
        // Controllers see the velocity after an impact at the start.
        let State { t, q, v, .. } = &simulation.state;
        simulation.control = ControlLoop::start(simulation.system.as_ref(), (*t, q, v));
        simulation.write_accounts();
        Ok(simulation)
    }

    /// Keeps the accounts of elastic bodies and surfaces from here on, in the records too; nothing happens
    /// in an impact at the initial instant that they would see.
    #[must_use]
    pub fn with_elastic_ledger(mut self, ledger: ElasticLedger) -> Self {
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
        let t = self.state.t;
        let impact = self.settings.initial_impact
            && !self.scheme.meets_initial_velocity()
            && self.violates_at_start();
        if impact {
            self.advance(0.0, t);
            self.ledger.enter(&self.record);
        }
        if !impact || self.record.outcome.is_fatal() {
            self.fill_initial_record();
        }
        self.fill_monitors();
        self.record.energy_totals = self.ledger.totals;
        self.record.step = 0;
        self.events.observe(&self.record);
        self.painleve.observe(&self.record);
        self.positions.observe(self.system.as_ref(), &self.record);
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
        let with_past;
        let system: &dyn MechanicalSystem = if self.past.is_some() || self.control.is_some() {
            with_past = SystemWithPast {
                system: self.system.as_ref(),
                past: self.past.as_ref(),
                held: self.control.as_ref().map_or(&[], ControlLoop::held),
            };
            &with_past
        } else {
            self.system.as_ref()
        };
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
        // Steps end where a controller samples.
        let sample = self.control.as_ref().map(ControlLoop::next_sample);
        let t_end = sample.map_or(t_end, |sample| sample.min(t_end));
        let (h, t_next, cut) = self.next_step(t_end);
        self.record.stick_jitter = 0.0;
        self.closing = None;
        let declared = self.world.is_none();
        if declared || self.settings.on_several == OnSeveral::Stop {
            self.saved.clone_from(&self.state);
        }
        if declared {
            self.uniqueness.begin(&self.record);
        }
        self.advance(h, t_next);
        if !self.record.outcome.is_fatal() {
            self.examine_uniqueness(h);
            self.watch_passages();
        }
        if self.settings.on_several == OnSeveral::Stop
            && let StepOutcome::SeveralSolutions { contact } = self.record.outcome
        {
            self.state.clone_from(&self.saved);
            self.record.outcome = StepOutcome::StoppedAtSeveral { contact };
        }
        if self.record.outcome.is_fatal() {
            return &self.record;
        }
        let tangential = self.tangential_impact(h);
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
        if let Some((accounts, _)) = &mut self.world {
            accounts.enter(&self.record);
        }
        self.fill_monitors();
        self.record.energy_totals = self.ledger.totals;
        self.events.observe(&self.record);
        if let Some(contact) = tangential {
            self.events.enter_tangential(&self.record, contact);
        }
        self.painleve.observe(&self.record);
        self.positions.observe(self.system.as_ref(), &self.record);
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

    /// Stops where a constraint was passed through without contact: its gap fell towards zero, stayed positive, and its
    /// normal turned round within the step.
    fn watch_passages(&mut self) {
        if self.world.is_some() {
            return;
        }
        let passed = self.uniqueness.passages(&self.record).find(|&c| {
            let before = (self.saved.t, &self.saved.q[..]);
            let after = (self.state.t, &self.state.q[..]);
            normal_turned(self.system.as_ref(), c, before, after)
        });
        if let Some(constraint) = passed {
            self.state.clone_from(&self.saved);
            let contact = ContactKey::declared(constraint, 0);
            self.record.outcome = StepOutcome::DegenerateGap { contact };
        }
    }

    /// Looks for other motions than the one taken, where the contacts, their modes or their couplings changed.
    fn examine_uniqueness(&mut self, h: f64) {
        let (problem, watch) = (&self.stage.problem, &mut self.uniqueness);
        let certificate = &mut self.stage.certificate;
        if self.world.is_some() {
            // Islands of bodies are solved, not enumerated.
            certificate.uniqueness_not_examined += u64::from(self.record.present.len() > 1);
            return;
        }
        if !self.scheme.poses_one_problem() {
            // Several contacts at once: what the scheme chose among is not kept.
            if self.record.active_contacts() > 1 {
                certificate.uniqueness_not_examined += 1;
            }
            return;
        }
        let wanted = watch.wanted(problem, &self.record);
        // What the solver found by itself is counted already.
        let solver_knows = matches!(self.record.outcome, StepOutcome::SeveralSolutions { .. });
        let found = match wanted {
            _ if solver_knows => None,
            Wanted::Nothing => None,
            Wanted::Problem => watch.examine(problem, self.record.t, certificate),
            Wanted::Touching => {
                let state = &self.saved;
                let posed = self.past.is_none().then(|| {
                    touching_problem(
                        self.system.as_ref(),
                        self.scheme.as_mut(),
                        (state.t, &state.q, &state.v),
                        h,
                        watch.touching(),
                    )
                });
                // A past that has gone on with the step cannot be read at its start again.
                certificate.uniqueness_not_examined += u64::from(posed.is_none());
                let posed = posed.as_ref().unwrap_or(problem);
                watch.examine(posed, self.record.t, certificate)
            }
        };
        watch.count(certificate);
        if let Some(outcome) = found.filter(|_| self.record.outcome == StepOutcome::Solved) {
            self.record.outcome = outcome;
        }
    }

    /// The contact whose impulse in the step of length `h` just made does not shrink with the step though nothing hit
    /// it: half a step from the same state needs more than three quarters of it.
    fn tangential_impact(&mut self, h: f64) -> Option<usize> {
        let contact = self.events.suspect(&self.record)?;
        let whole = self.record.impulse(contact)[0];
        let (problem, solution) = (
            std::mem::take(&mut self.stage.problem),
            std::mem::take(&mut self.stage.solution),
        );
        let (state, record) = (self.state.clone(), self.record.clone());
        let certificate = self.stage.certificate.clone();
        let found = self.trial(&[0.5 * h]).is_some() && {
            let half = self.record.impulse(contact)[0];
            half > 0.75 * whole
        };
        self.retract();
        self.stage.certificate = certificate;
        (self.stage.problem, self.stage.solution) = (problem, solution);
        self.state = state;
        self.record = record;
        if let Some(past) = &mut self.past {
            past.push(self.state.t, &self.state.q);
        }
        found.then_some(contact)
    }

    /// Length and end of the next step, and whether it is cut short.
    fn next_step(&mut self, t_end: f64) -> (f64, f64, bool) {
        match self.settings.control {
            StepControl::Fixed { h } => {
                // Times are multiples of h, not sums, so that rounding does not accumulate.
                let whole = self.step + 1 - self.cuts;
                let t_next = self.settings.t_start + whole as f64 * h;
                if t_next > t_end + 1e-9 * h {
                    (t_end - self.state.t, t_end, true)
                } else if self.cut {
                    (t_next - self.state.t, t_next, false)
                } else {
                    (h, t_next, false)
                }
            }
            StepControl::Adaptive {
                tolerance,
                h_min,
                h_max,
                ..
            } => {
                if self.planned.is_empty() {
                    self.plan(t_end, tolerance, h_min, h_max);
                }
                // plan() always leaves at least one step
                let h = self.planned.pop().expect("a planned step");
                let t_next = self.state.t + h;
                if t_next >= t_end - 1e-9 * h {
                    (t_end - self.state.t, t_end, false)
                } else {
                    (h, t_next, false)
                }
            }
        }
    }

    /// Finds a step whose two halves agree with the whole, and plans the halves.
    fn plan(&mut self, t_end: f64, tolerance: f64, h_min: f64, h_max: f64) {
        self.saved.clone_from(&self.state);
        let certificate = self.stage.certificate.clone();
        let record = std::mem::take(&mut self.record);
        loop {
            let h = self.h.min(t_end - self.saved.t).max(h_min);
            let whole = self.trial(&[h]);
            let halves = self.trial(&[0.5 * h, 0.5 * h]);
            let error = match (whole, halves) {
                (Some(a), Some(b)) => a
                    .iter()
                    .zip(&b)
                    .map(|(x, y)| (x - y).abs() / (tolerance * (1.0 + y.abs())))
                    .fold(0.0, f64::max),
                _ => f64::INFINITY,
            };
            let proposal = (h * step_control::growth(error)).clamp(h_min, h_max);
            if error <= 1.0 || h <= h_min {
                self.h = proposal;
                self.planned.extend([0.5 * h, 0.5 * h]);
                break;
            }
            self.h = proposal;
        }
        self.state.clone_from(&self.saved);
        self.stage.certificate = certificate;
        self.record = record;
        self.retract();
    }

    /// Configuration after the given steps from the saved state, or none if one of them failed.
    fn trial(&mut self, steps: &[f64]) -> Option<Vec<f64>> {
        self.state.clone_from(&self.saved);
        self.retract();
        for &h in steps {
            let t = self.state.t + h;
            self.advance(h, t);
            if self.record.outcome.is_fatal() {
                return None;
            }
        }
        Some(self.state.q.clone())
    }

    /// Nodes of trial steps leave no trace in the past.
    fn retract(&mut self) {
        if let Some(past) = &mut self.past {
            past.retract();
        }
    }

    /// Steps until `t_end`, showing every record to `observe`, which may ask to stop.
    pub fn run_until(
        &mut self,
        t_end: f64,
        mut observe: impl FnMut(&StepRecord) -> ControlFlow<()>,
    ) -> RunEnd {
        let h = self.settings.control.initial();
        while self.state.t < t_end - 1e-9 * h {
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
        let with_past;
        let system: &dyn MechanicalSystem = if self.past.is_some() || self.control.is_some() {
            with_past = SystemWithPast {
                system: self.system.as_ref(),
                past: self.past.as_ref(),
                held: self.control.as_ref().map_or(&[], ControlLoop::held),
            };
            &with_past
        } else {
            self.system.as_ref()
        };
        let h = self.settings.control.initial();
        self.closing = self
            .scheme
            .closing_velocity(system, &self.state, h, &mut self.stage);
        self.stage.certificate = certificate;
        (self.stage.problem, self.stage.solution) = (problem, solution);
    }

    /// The velocity at the end of a run: that of the state, or the one the source of the scheme defines for the end
    /// time (v(T) of the sweeping process).
    pub fn end_velocity(&self) -> &[f64] {
        self.closing.as_ref().unwrap_or(&self.state.v)
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The last record.
    pub fn record(&self) -> &StepRecord {
        &self.record
    }

    /// The energy account.
    pub fn ledger(&self) -> &EnergyLedger {
        &self.ledger
    }

    /// The accounts of a world: contacts, sweeps, overlaps.
    pub fn world_accounts(&self) -> Option<&WorldAccounts> {
        self.world.as_ref().map(|(accounts, _)| accounts)
    }

    /// Sums that a world records.
    fn fill_monitors(&mut self) {
        if let (Some((_, monitors)), Some(world)) = (&mut self.world, self.system.as_world()) {
            monitors.fill(world, &mut self.record);
        }
    }

    /// The accounts of elastic bodies and surfaces, where they are kept.
    pub fn elastic_accounts(&self) -> Option<&ElasticAccounts> {
        self.elastic.as_ref().map(ElasticLedger::accounts)
    }

    /// The account of momentum, of free bodies under a scheme that keeps it.
    pub fn momentum_ledger(&self) -> &MomentumLedger {
        &self.momentum
    }

    /// The certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.stage.certificate
    }

    /// The events so far.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// Number of steps made.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Largest tangential speed of stuck contacts that only alternate (Frémond's law, θ near ½).
    pub fn stick_jitter(&self) -> f64 {
        self.stick_jitter
    }

    /// How near the contacts came to the Painlevé region.
    pub fn painleve(&self) -> &PainleveWatch {
        &self.painleve
    }

    /// How far positions left their constraints so far; compliant contacts are exempt, their penetration is their law.
    pub fn positions(&self) -> PositionVerdict {
        if self.scheme.is_compliant() {
            return PositionVerdict::default();
        }
        let at = (self.state.t, self.state.q.as_slice());
        self.positions.verdict(self.system.as_ref(), at)
    }

    /// What the scheme does about positions.
    pub fn position_correction(&self) -> PositionCorrection {
        self.scheme.position_correction(self.system.as_ref())
    }

    /// The system.
    pub fn system(&self) -> &dyn MechanicalSystem {
        self.system.as_ref()
    }

    /// Name of the solver.
    pub fn solver_name(&self) -> &str {
        self.stage.solver_name()
    }

    /// What the user should know before the run.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.scheme.warnings(self.system.as_ref());
        let limit = self.scheme.step_limit(self.system.as_ref(), &self.state.q);
        let h = self.settings.control.initial();
        if let Some(limit) = limit.filter(|limit| h > 1.0001 * limit.advised) {
            warnings.push(format!(
                "the step {} resolves the compliant contacts coarsely; {} is advised",
                typed(h, 4),
                typed(limit.advised, 4)
            ));
        }
        warnings.extend(self.system.warnings());
        warnings
    }

    /// Names of the contact points, in the order of the records.
    pub fn contact_names(&self) -> Vec<String> {
        let names = self.layout.names(self.system.as_ref());
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// Columns of a trajectory file of this run.
    pub fn trajectory_layout(&self) -> TrajectoryLayout {
        if let Some(world) = self.system.as_world() {
            return world_layout(world);
        }
        let elastic = self.elastic.as_ref().map(ElasticLedger::columns);
        let control = self.control.as_ref().map(ControlLoop::columns);
        let accounts = [elastic.unwrap_or_default(), control.unwrap_or_default()].concat();
        TrajectoryLayout::new(
            self.system.coordinate_names(),
            self.system.velocity_names(),
            &self.layout.names(self.system.as_ref()),
            match self.position_correction() {
                PositionCorrection::None => &[],
                _ => self.system.velocity_names(),
            },
            &accounts,
        )
    }

    /// Everything needed to go on with the same bits.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut checkpoint = Checkpoint::new(
            self.step,
            self.state.clone(),
            self.ledger.clone(),
            self.stage.certificate.clone(),
            self.events.clone(),
        );
        checkpoint.h = self.h;
        checkpoint.cuts = self.cuts;
        checkpoint.cut = self.cut;
        checkpoint.planned.clone_from(&self.planned);
        checkpoint.stick_jitter = self.stick_jitter;
        checkpoint.past = self.past.as_ref().map(PastMotion::snapshot);
        checkpoint.scheme = self.scheme.memory();
        checkpoint.painleve.clone_from(&self.painleve);
        checkpoint.uniqueness.clone_from(&self.uniqueness);
        checkpoint.control = self
            .control
            .as_ref()
            .map(|control| control.memory().clone());
        checkpoint.positions.clone_from(&self.positions);
        checkpoint.momentum.clone_from(&self.momentum);
        checkpoint.elastic = self.elastic_accounts().cloned();
        checkpoint.world = self.world_accounts().cloned();
        checkpoint
    }

    /// The past motion, for systems that read it.
    pub fn past(&self) -> Option<&PastMotion> {
        self.past.as_ref()
    }

    /// Goes on from a checkpoint of the same scene.
    pub fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let sizes = (self.state.q.len(), self.state.v.len(), self.layout.rows());
        checkpoint.check(sizes, self.settings.t_start)?;
        // Steps of fixed length tell the time: the next one must not lead backwards.
        if let StepControl::Fixed { h } = self.settings.control {
            let whole = (checkpoint.step - checkpoint.cuts) as f64 * h;
            let (grid, t) = (self.settings.t_start + whole, checkpoint.state.t);
            let slack = 1e-3 * h + 8.0 * f64::EPSILON * t.abs();
            if !(t >= grid - slack && t <= grid + h + slack) {
                let steps = checkpoint.step;
                return Err(CheckpointError::Absurd {
                    path: "checkpoint".into(),
                    what: format!("time {t} after {steps} steps of {h}"),
                });
            }
        }
        let past = match (&mut self.past, &checkpoint.past) {
            (Some(past), Some(snapshot)) => past.restore(snapshot),
            (None, None) => true,
            _ => false,
        };
        let scheme = checkpoint
            .scheme
            .as_ref()
            .is_none_or(|memory| self.scheme.recall(memory));
        let state = &checkpoint.state;
        let accounts = match (&mut self.elastic, checkpoint.elastic) {
            (Some(ledger), Some(kept)) => ledger.restore(kept, (state.t, &state.q, &state.v)),
            (None, None) => true,
            _ => false,
        };
        let world = match (&mut self.world, checkpoint.world) {
            (Some((accounts, _)), Some(kept)) => {
                *accounts = kept;
                true
            }
            (None, None) => true,
            _ => false,
        };
        let control = match (&mut self.control, &checkpoint.control) {
            (Some(control), Some(memory)) => control.restore(memory),
            (None, None) => true,
            _ => false,
        };
        if !past || !scheme || !accounts || !world || !control {
            return Err(CheckpointError::OtherPast {
                path: "checkpoint".into(),
            });
        }
        self.step = checkpoint.step;
        self.cuts = checkpoint.cuts;
        self.cut = checkpoint.cut;
        self.state = checkpoint.state;
        self.ledger = checkpoint.ledger;
        self.stage.certificate = checkpoint.certificate;
        self.events = checkpoint.events;
        self.h = checkpoint.h;
        self.planned = checkpoint.planned;
        self.stick_jitter = checkpoint.stick_jitter;
        self.painleve = checkpoint.painleve;
        self.uniqueness = checkpoint.uniqueness;
        self.positions = checkpoint.positions;
        self.momentum = checkpoint.momentum;
        // What the next step reads of the last one.
        self.record.q.clone_from(&self.state.q);
        let constraints = self.system.constraints();
        for contact in &mut self.record.contacts {
            let gap = constraints[contact.key.constraint()].gap();
            contact.gap = gap.value(self.state.t, &self.state.q);
        }
        Ok(())
    }
}

/// Columns of the recorded bodies, unless they have a file of their own, and of the monitors.
fn world_layout(world: &World) -> TrajectoryLayout {
    let (mut selection, own_file) = world_files::selection(world);
    if own_file {
        selection.bodies.clear();
    }
    let mut columns = Vec::new();
    let (coordinates, freedoms) = (world.dimension.coordinates(), world.dimension.freedoms());
    for &body in &selection.bodies {
        let body = body as usize;
        let names = world.coordinate_names();
        columns.extend_from_slice(&names[body * coordinates..(body + 1) * coordinates]);
        let names = world.velocity_names();
        columns.extend_from_slice(&names[body * freedoms..(body + 1) * freedoms]);
    }
    TrajectoryLayout::of_world(selection, &columns, &WorldMonitors::columns(world))
}

/// No scheme may need the unknown end of its step: the step is at most the shortest delay.
fn check_delays(
    system: &dyn MechanicalSystem,
    scheme: &'static str,
    control: &mut StepControl,
) -> Result<(), SimulationError> {
    let Some(delay) = system
        .past_reading()
        .and_then(|reading| reading.delay_min())
    else {
        return Ok(());
    };
    match control {
        StepControl::Fixed { h } if *h > delay * (1.0 + 1e-12) => {
            Err(SimulationError::Past(PastError::ShorterThanStep {
                delay,
                step: *h,
                scheme,
            }))
        }
        StepControl::Fixed { .. } => Ok(()),
        StepControl::Adaptive { h, h_max, .. } => {
            *h_max = h_max.min(delay);
            *h = h.min(delay);
            Ok(())
        }
    }
}

/// Gaps that vanish with their gradients have no normal; meshes have gaps that are distances.
fn check_gaps(system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> Result<(), SimulationError> {
    if system.sparsity().is_some() {
        return Ok(());
    }
    for (c, constraint) in system.constraints().iter().enumerate() {
        if gap_zero(system, c, t, q) == GapZero::Degenerate {
            let constraint = constraint.name().to_string();
            return Err(SimulationError::DegenerateGap { constraint });
        }
    }
    Ok(())
}

/// Sizes, finiteness, positive steps, and laws that cannot be combined.
fn check(
    system: &dyn MechanicalSystem,
    q: &[f64],
    v: &[f64],
    settings: &SimulationSettings,
) -> Result<(), SimulationError> {
    for (what, values, names) in [
        ("position", q, system.coordinate_names()),
        ("velocity", v, system.velocity_names()),
    ] {
        if values.len() != names.len() {
            return Err(SimulationError::Dimension {
                what,
                found: values.len(),
                expected: names.len(),
            });
        }
        for (name, &value) in names.iter().zip(values) {
            if !value.is_finite() {
                return Err(SimulationError::NonFinite {
                    name: name.clone(),
                    value,
                });
            }
        }
    }
    let positive = |what, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(SimulationError::NotPositive { what, value })
        }
    };
    positive("the step", settings.control.initial())?;
    if let StepControl::Adaptive {
        tolerance,
        h_min,
        h_max,
        ..
    } = settings.control
    {
        positive("the tolerance of the adaptive step", tolerance)?;
        positive("the shortest step", h_min)?;
        positive("the longest step", h_max)?;
    }
    for constraint in system.constraints() {
        let energetic = |p: &ContactPoint| matches!(p.law.impact(), ImpactLaw::Energetic { .. });
        let points = constraint.points();
        if points.len() > 1
            && points.iter().any(energetic)
            && points
                .iter()
                .any(|p| !p.law.base_section().is_frictionless())
        {
            return Err(SimulationError::SeveralLayers {
                constraint: constraint.name().to_string(),
                what: "its points",
            });
        }
        for point in constraint.points() {
            let restitution = point.law.impact().restitution();
            if point.law.flow_rule() == FlowRule::KineticProjection && restitution > 0.0 {
                let constraint = constraint.name().to_string();
                return Err(SimulationError::ElasticProjection {
                    constraint,
                    restitution,
                });
            }
        }
    }
    Ok(())
}

/// Worlds have schemes of their own, whose contacts are remembered from step to step.
fn check_world(
    system: &dyn MechanicalSystem,
    scheme: &dyn TimeSteppingScheme,
    control: &StepControl,
) -> Result<(), SimulationError> {
    let reason = match (system.as_world().is_some(), scheme.steps_worlds()) {
        (true, false) => "does not step worlds of bodies",
        (false, true) => "steps worlds of bodies only",
        (true, true) if matches!(control, StepControl::Adaptive { .. }) => {
            "takes fixed steps only, for trial steps would change what contacts remember"
        }
        _ => return Ok(()),
    };
    Err(SimulationError::World {
        scheme: scheme.name(),
        reason,
    })
}

/// The generalized law is solved for all contacts at once, by the scheme that reads true velocities.
fn check_generalized(
    system: &dyn MechanicalSystem,
    scheme: &'static str,
) -> Result<(), SimulationError> {
    let generalized = |rule: FlowRule| rule.generalized().is_some();
    let points = || {
        system
            .constraints()
            .iter()
            .flat_map(|c| c.points().iter().map(move |p| (c, p)))
    };
    if !points().any(|(_, p)| generalized(p.law.flow_rule())) {
        return Ok(());
    }
    for (constraint, point) in points() {
        let reason = if !generalized(point.law.flow_rule()) {
            "acts on all contacts at once and cannot be mixed with another one"
        } else if scheme != "moreau" {
            "is stepped by the scheme `moreau`"
        } else if matches!(point.law.impact(), ImpactLaw::Fremond { .. }) {
            "reads the tangential velocity after the impact, Fremond's law the mean one"
        } else if matches!(point.law.impact(), ImpactLaw::Energetic { .. }) {
            "has a normal impact of its own, the energetic law follows Coulomb's friction through the impact"
        } else {
            continue;
        };
        return Err(SimulationError::Generalized {
            constraint: constraint.name().to_string(),
            reason,
        });
    }
    Ok(())
}
