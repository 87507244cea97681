//! From a scene to a system and a simulation.

use std::ops::Range;
use std::sync::Arc;

use crate::contact::ContactSolver;
use crate::laws::{ContactLaw, ImpactRule, NormalCompliance};
use crate::simulation::studies::branches::{BranchControl, BranchTree, EnumeratingSolver};
use crate::simulation::{self, ElasticLedger, Simulation, SimulationError, SimulationSettings};
use crate::solvers::CascadeSolver;
use crate::solvers::cascade::CoulombMethod;
use crate::solvers::enumeration::EnumerationSettings;
use crate::stepping::{
    self, EventDriven, EventDrivenSettings, MoreauContactDynamics, MoreauJean, MoreauJeanSettings,
    NormalCompliancePenalty, SweepingProcess, WorldStepping,
};
use crate::systems::rigid::UnitQuaternion;
use crate::systems::world::CollisionDetection;
use crate::systems::{Drive, DrivenSystem, MechanicalSystem, RigidBody, SystemError, World};

use super::body::BodyModel;
use super::build_generalized::generalized;
use super::build_laws::{flow_rule, impact_law, section};
use super::diagnostic::{Diagnostic, SceneError};
use super::friction::FrictionPart;
use super::scene::{Mechanics, Scene};
use super::settings::Settings;
use super::words::{OnSeveral, SceneWords, Scheme, Solver};

/// From this many active contacts on the automatic choice is the cascade.
const MANY_CONTACTS: usize = 24;

impl Scene {
    /// The mechanical system of the scene.
    pub fn system(&self) -> Result<Box<dyn MechanicalSystem>, SceneError> {
        let built = match &self.mechanics {
            Mechanics::Generalized(model) => generalized(model, &self.settings),
            Mechanics::Body(model) => rigid_body(model, &self.settings),
            Mechanics::Elastic(model) => Ok(Box::new(model.system.clone()) as Box<_>),
            Mechanics::World(model) => Ok(Box::new(World::clone(&model.world)) as Box<_>),
        };
        built.map_err(|diagnostic| SceneError::new(self.text.clone(), vec![diagnostic]))
    }

    /// Initial configuration and velocity.
    #[must_use]
    pub fn initial_state(&self) -> (Vec<f64>, Vec<f64>) {
        match &self.mechanics {
            Mechanics::Generalized(model) => (model.q0.clone(), model.v0.clone()),
            Mechanics::Body(model) => body_state(model),
            Mechanics::Elastic(model) => (model.q0.clone(), model.v0.clone()),
            Mechanics::World(model) => model.start(),
        }
    }

    /// The simulation of the scene, at its initial state.
    pub fn simulation(&self) -> Result<Simulation, SceneError> {
        Ok(self.controlled_simulation(Drive::default())?.0)
    }

    /// The scene with its step cut into so many parts; an adaptive one has the tolerance that goes with it.
    #[must_use]
    pub fn with_step_parted(&self, parts: f64) -> Self {
        let mut scene = self.clone();
        scene.settings.step /= parts;
        if let Some(tolerance) = &mut scene.settings.adaptive {
            *tolerance /= parts * parts;
        }
        scene
    }

    /// The simulation under a force and controllers that a program adds. Worlds and elastic bodies have loads of their own
    /// and refuse it.
    pub fn driven_simulation(&self, drive: Drive) -> Result<Simulation, SceneError> {
        Ok(self.controlled_simulation(drive)?.0)
    }

    /// Every trajectory from the initial state, as a tree, up to `branches_max` of them; the first follows the rule.
    pub fn branch_tree(&self) -> Result<BranchTree, SceneError> {
        let (mut simulation, control) = self.controlled_simulation(Drive::default())?;
        let control = control.unwrap_or_default();
        let most = self.settings.branches_max as usize;
        Ok(BranchTree::follow(
            &mut simulation,
            &control,
            self.settings.until,
            most,
        ))
    }

    /// The impact map of the scene, if it has one of its own.
    pub fn impact_rule(&self) -> Option<Arc<dyn ImpactRule>> {
        let rule = self.impact_map.as_ref()?;
        Some(Arc::new(rule.clone()))
    }

    fn moreau(&self) -> MoreauContactDynamics {
        let scheme = MoreauContactDynamics::new(self.settings.contact_gap)
            .with_projection(self.settings.projection);
        match self.impact_rule() {
            Some(rule) => scheme.with_impact_rule(rule),
            None => scheme,
        }
    }

    /// The simulation, and what steers its branches where it lists all solutions.
    fn controlled_simulation(
        &self,
        drive: Drive,
    ) -> Result<(Simulation, Option<Arc<BranchControl>>), SceneError> {
        let mut system = self.system()?;
        let (q, v) = self.initial_state();
        let refuse = |diagnostic| SceneError::new(self.text.clone(), vec![diagnostic]);
        if !drive.is_empty() {
            let loads = match &self.mechanics {
                Mechanics::Generalized(_) | Mechanics::Body(_) => None,
                Mechanics::Elastic(_) => Some("elastic bodies: give loads in [[elastic.loads]]"),
                Mechanics::World(_) => Some("worlds: give `force` and `torque` of the bodies"),
            };
            if let Some(instead) = loads {
                let message =
                    format!("forces and controllers of a program do not act on {instead}");
                return Err(refuse(Diagnostic::general(message)));
            }
            system = Box::new(DrivenSystem::new(system, drive));
        }
        let scheme: Box<dyn stepping::TimeSteppingScheme> = match self.settings.scheme {
            _ if self.world().is_some() => Box::new(self.world_stepping()?),
            Scheme::Moreau => Box::new(self.moreau()),
            Scheme::SweepingProcess => {
                let scheme = SweepingProcess::default();
                Box::new(scheme.with_projection(self.settings.projection))
            }
            Scheme::MoreauJean => {
                let scheme = MoreauJean::new(theta_settings(&self.settings));
                Box::new(scheme.map_err(|e| refuse(Diagnostic::general(e.to_string())))?)
            }
            Scheme::Penalty => {
                let compliance = self.compliance()?.ok_or_else(|| {
                    let message = "the scheme `penalty` needs `compliance_time`";
                    refuse(Diagnostic::general(message))
                })?;
                Box::new(NormalCompliancePenalty::new(compliance))
            }
            Scheme::EventDriven => Box::new(EventDriven::new(EventDrivenSettings {
                compliance: self.compliance()?,
                ..EventDrivenSettings::default()
            })),
        };
        let mut settings = match self.settings.adaptive {
            None => SimulationSettings::fixed(self.settings.step),
            Some(tolerance) => SimulationSettings::adaptive(self.settings.step, tolerance),
        };
        let rule = self.settings.several_rule;
        if self.settings.on_several == OnSeveral::Stop {
            settings.on_several = simulation::OnSeveral::Stop;
        }
        let (solver, control): (Box<dyn ContactSolver>, _) = if self.settings.lists_solutions() {
            let settings = EnumerationSettings::default();
            let (solver, control) = EnumeratingSolver::beside(rule, settings, self.solver());
            (Box::new(solver), Some(control))
        } else {
            (self.solver(), None)
        };
        if matches!(self.mechanics, Mechanics::Elastic(_))
            && self.settings.scheme == Scheme::MoreauJean
        {
            // Contacts that are closed and closing at the start are met by the first step; an explicit one would move first.
            settings.initial_impact = false;
        }
        let simulation = Simulation::new(system, scheme, solver, (&q, &v), settings)
            .map_err(|error| refuse(self.locate_simulation_error(&error)))?;
        let simulation = match self.elastic_ledger(&q, &v) {
            Some(ledger) => simulation.with_elastic_ledger(ledger),
            None => simulation,
        };
        Ok((simulation, control))
    }

    /// What finds the contacts of a world.
    pub(super) fn contact_source(&self) -> Option<Box<CollisionDetection>> {
        match &self.mechanics {
            Mechanics::World(model) => Some(Box::new(CollisionDetection::clone(&model.detection))),
            _ => None,
        }
    }

    /// The scheme of a world: one of two, with the contacts it finds.
    pub fn world_stepping(&self) -> Result<WorldStepping, SceneError> {
        let Some(source) = self.contact_source() else {
            let diagnostic = Diagnostic::general("the scene is not a world");
            return Err(SceneError::new(self.text.clone(), vec![diagnostic]));
        };
        if self.settings.scheme == Scheme::Moreau {
            return Ok(WorldStepping::moreau(source));
        }
        let theta = self.settings.theta.unwrap_or(1.0);
        WorldStepping::moreau_jean(theta, source).map_err(|error| {
            let diagnostic = Diagnostic::general(error.to_string());
            SceneError::new(self.text.clone(), vec![diagnostic])
        })
    }

    /// Accounts of elastic bodies and their surfaces.
    fn elastic_ledger(&self, q: &[f64], v: &[f64]) -> Option<ElasticLedger> {
        let system = self.elastic()?.clone();
        // A single body has the account of the run, whatever the scheme.
        if self.settings.scheme != Scheme::MoreauJean && system.bodies().len() > 1 {
            return Some(ElasticLedger::of_surfaces(system, (0.0, q, v)));
        }
        let theta = self.settings.theta;
        let theta = theta.unwrap_or_else(|| stepping::default_theta(system.as_ref()));
        let internal = theta_settings(&self.settings).internal_force;
        Some(ElasticLedger::new(system, theta, (0.0, q, v)).with_internal_force(internal))
    }

    /// The solver of the contact problems.
    fn solver(&self) -> Box<dyn ContactSolver> {
        let tolerance = self.settings.tolerance;
        match self.settings.solver {
            // Contacts of a mesh are coupled through it, those of a world through its bodies, few or many.
            Solver::Automatic if self.elastic().is_some() || self.world().is_some() => {
                Box::new(CascadeSolver::for_blocks_from(0, tolerance))
            }
            Solver::Automatic => Box::new(CascadeSolver::for_blocks_from(MANY_CONTACTS, tolerance)),
            Solver::Cascade => Box::new(CascadeSolver::for_blocks_from(0, tolerance)),
            // Every other word is the name of a method.
            named => {
                let method = CoulombMethod::from_name(named.word());
                let method = method.unwrap_or(CoulombMethod::Cascade);
                Box::new(CascadeSolver::by_method(method, tolerance))
            }
        }
    }

    /// The compliance of the contacts, if they have one.
    fn compliance(&self) -> Result<Option<NormalCompliance>, SceneError> {
        let Some(time) = self.settings.compliance_time else {
            return Ok(None);
        };
        let given = &self.settings.contact_stiffness;
        NormalCompliance::new(time)
            .and_then(|c| c.with_damping_ratio(self.settings.compliance_damping))
            .and_then(|c| match given.is_empty() {
                true => Ok(c),
                false => c.with_stiffness(given.clone()),
            })
            .map(Some)
            .map_err(|error| {
                let diagnostic = Diagnostic::general(error.to_string());
                SceneError::new(self.text.clone(), vec![diagnostic])
            })
    }

    fn locate_simulation_error(&self, error: &SimulationError) -> Diagnostic {
        let span = match error {
            SimulationError::ElasticProjection { constraint, .. }
            | SimulationError::DegenerateGap { constraint }
            | SimulationError::SeveralLayers { constraint, .. }
            | SimulationError::Generalized { constraint, .. } => self.contact_span(constraint),
            SimulationError::DegenerateJoint { joint } => self.joint_span(joint),
            // What a scheme does not compute is told of a contact by its name.
            SimulationError::Scheme { reason, .. } => {
                let named = reason.split_once("contact `").map(|(_, rest)| rest);
                named
                    .and_then(|rest| rest.split_once('`'))
                    .and_then(|(name, _)| self.contact_span(name))
            }
            _ => None,
        };
        match span {
            Some(span) => Diagnostic::at(span, error.to_string()),
            None => Diagnostic::general(error.to_string()),
        }
    }

    fn joint_span(&self, name: &str) -> Option<Range<usize>> {
        let Mechanics::Generalized(model) = &self.mechanics else {
            return None;
        };
        let joint = model.joints.iter().find(|joint| joint.name == name)?;
        Some(joint.span.clone())
    }

    fn contact_span(&self, name: &str) -> Option<Range<usize>> {
        match &self.mechanics {
            Mechanics::Generalized(model) => model
                .contacts
                .iter()
                .find(|c| c.name == name)
                .map(|c| c.span.clone()),
            Mechanics::Body(model) => model
                .contacts
                .iter()
                .find(|c| c.name == name)
                .map(|c| c.span.clone()),
            // Constraints are called after their contact, with the number of the node behind.
            Mechanics::Elastic(model) => model
                .contacts
                .iter()
                .find(|c| name.starts_with(&c.0))
                .map(|c| c.1.clone()),
            Mechanics::World(_) => None,
        }
    }
}

pub(super) fn theta_settings(settings: &Settings) -> MoreauJeanSettings {
    MoreauJeanSettings {
        theta: settings.theta,
        activation: settings.activation,
        internal_force: settings.internal_force,
        joint_velocity: settings.joint_velocity,
        projection: settings.projection,
        ..MoreauJeanSettings::default()
    }
}

/// A free rigid body.
fn rigid_body(
    model: &BodyModel,
    settings: &Settings,
) -> Result<Box<dyn MechanicalSystem>, Diagnostic> {
    let mut builder = RigidBody::builder(model.mass, model.moments).gravity(model.gravity);
    for contact in &model.contacts {
        let parts: Vec<FrictionPart> = contact.friction.iter().cloned().collect();
        let law = section(&parts)
            .and_then(|s| ContactLaw::new(s, impact_law(contact.impact, contact.restitution)))
            .map_err(|error| Diagnostic::at(contact.span.clone(), error.to_string()))?
            .with_flow_rule(flow_rule(settings));
        builder = builder.ball_on_plane(
            contact.name.clone(),
            contact.arm,
            contact.radius,
            contact.normal,
            contact.offset,
            law,
        );
    }
    match builder.build(&body_state(model).0) {
        Ok(body) => Ok(Box::new(body)),
        Err(error) => {
            let span = match &error {
                SystemError::InitialPenetration { constraint, .. } => model
                    .contacts
                    .iter()
                    .find(|c| c.name == *constraint)
                    .map(|c| &c.span),
                _ => None,
            };
            Err(Diagnostic::at(
                span.unwrap_or(&model.span).clone(),
                error.to_string(),
            ))
        }
    }
}

fn body_state(model: &BodyModel) -> (Vec<f64>, Vec<f64>) {
    let orientation = UnitQuaternion::from_rotation_vector(model.rotation);
    let q = RigidBody::configuration(model.position, orientation).to_vec();
    let mut v = model.velocity.to_vec();
    v.extend(model.spin);
    (q, v)
}
