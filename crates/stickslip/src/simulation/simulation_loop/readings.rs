//! What a simulation tells of itself.

use crate::contact::Certificate;
use crate::quantity::typed;
use crate::records::{
    EnergyLedger, EventLog, MomentumLedger, PainleveWatch, StepRecord, TrajectoryLayout,
};
use crate::stepping::contact_scales::accelerations;
use crate::stepping::{PositionCorrection, State};
use crate::systems::past_motion::PastMotion;
use crate::systems::{MechanicalSystem, World};

use super::super::positions::{LargestOf, PositionVerdict};
use super::super::step_control::StepControl;
use super::super::world_monitors::WorldMonitors;
use super::super::{ControlLoop, ElasticAccounts, ElasticLedger, WorldAccounts, world_files};
use super::Simulation;

impl Simulation {
    /// The velocity at the end of a run: that of the state, or the one the source of the scheme defines for the end
    /// time (v(T) of the sweeping process).
    pub fn end_velocity(&self) -> &[f64] {
        self.closing.as_ref().unwrap_or(&self.state.v)
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Outputs that controllers hold; empty where there are none.
    pub(crate) fn held(&self) -> &[f64] {
        self.control.as_ref().map_or(&[], ControlLoop::held)
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
    #[doc(hidden)]
    pub fn world_accounts(&self) -> Option<&WorldAccounts> {
        self.world.as_ref().map(|(accounts, _)| accounts)
    }

    /// The accounts of elastic bodies and surfaces, where they are kept.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn painleve(&self) -> &PainleveWatch {
        &self.painleve
    }

    /// How far positions left their constraints so far, and what they went through. The penetration of compliant
    /// contacts is their law and no drift; joints and the sides of obstacles are theirs as well.
    pub fn positions(&self) -> PositionVerdict {
        let at = (self.state.t, self.state.q.as_slice());
        let verdict = self.positions.verdict(self.system.as_ref(), at);
        if !self.scheme.is_compliant() {
            return verdict;
        }
        PositionVerdict {
            drift: LargestOf::default(),
            ..verdict
        }
    }

    /// What the scheme does about positions.
    pub fn position_correction(&self) -> PositionCorrection {
        self.scheme.position_correction(self.system.as_ref())
    }

    /// Whether steps have several lengths: adaptive ones, and those cut short but the last.
    pub(crate) fn changes_its_steps(&self) -> bool {
        let adaptive = matches!(self.settings.control, StepControl::Adaptive { .. });
        adaptive || self.cuts > u64::from(self.cut)
    }

    /// The first time at which a position was projected.
    pub(crate) fn first_projected(&self) -> Option<f64> {
        self.positions.first_projected()
    }

    /// Whether contacts are springs.
    pub(crate) fn contacts_are_compliant(&self) -> bool {
        self.scheme.is_compliant()
    }

    /// The system.
    pub fn system(&self) -> &dyn MechanicalSystem {
        self.system.as_ref()
    }

    /// Name of the scheme.
    pub(crate) fn scheme_name(&self) -> &'static str {
        self.scheme.name()
    }

    /// The step the run began with.
    pub(crate) fn first_step(&self) -> f64 {
        self.settings.control.initial()
    }

    /// Kinetic energy that the forces at the present state give within a step to what nothing holds (J); those of worlds
    /// are not counted.
    pub(crate) fn energy_of_step(&self) -> f64 {
        let system = self.system.as_ref();
        if system.as_world().is_some() {
            return 0.0;
        }
        let (state, h) = (&self.state, self.first_step());
        let mut mass = system.new_matrix();
        system.mass(&state.q, &mut mass);
        let gained = accelerations(system, (state.t, &state.q, &state.v));
        let parts = gained.iter().enumerate();
        let sum: f64 = parts.map(|(i, a)| mass.get(i, i) * (h * a).powi(2)).sum();
        0.5 * sum
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
    #[doc(hidden)]
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

    /// The past motion, for systems that read it.
    #[doc(hidden)]
    pub fn past(&self) -> Option<&PastMotion> {
        self.past.as_ref()
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
