//! From a scene to a system and a simulation.

use std::ops::Range;
use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::contact::ContactSolver;
use crate::laws::{
    ContactLaw, ContactLawError, FlowRule, FrictionCoefficient, FrictionError, FrictionSection,
    GeneralizedRule, ImpactLaw, ImpactRule, NormalCompliance, Polyhedron,
};
use crate::simulation::studies::branches::{
    BranchControl, BranchTree, ChoiceRule, EnumeratingSolver, follow,
};
use crate::simulation::{self, ElasticLedger, Simulation, SimulationError, SimulationSettings};
use crate::solvers::CascadeSolver;
use crate::solvers::cascade::CoulombMethod;
use crate::solvers::enumeration::EnumerationSettings;
use crate::stepping::{
    self, EventDriven, EventDrivenSettings, MoreauContactDynamics, MoreauJean, MoreauJeanSettings,
    NormalCompliancePenalty, SweepingProcess, WorldStepping,
};
use crate::systems::past_motion::{
    InitialHistory, Kernel, PastError, PastFunction, PastReading, Psi,
};
use crate::systems::rigid::UnitQuaternion;
use crate::systems::world::CollisionDetection;
use crate::systems::{
    BilateralConstraint, ContactFrame, Drive, DrivenSystem, ForceDependence, GeneralizedSystem,
    MechanicalSystem, RigidBody, SystemError, UnilateralConstraint, World,
};

use super::body::BodyModel;
use super::contact::{ContactModel, PointModel};
use super::diagnostic::{Diagnostic, SceneError};
use super::expression::{Expression, Functional, Graph, PastDetail, PastTerm};
use super::friction::FrictionPart;
use super::mechanics::GeneralizedModel;
use super::program::{
    PastRead, Program, SceneForce, SceneInertia, SceneMemory, ScenePotential, SceneRows,
    SceneScalar, SceneSlip,
};
use super::scene::{Mechanics, Scene};
use super::settings::Settings;
use super::words::{Impact, Law, OnSeveral, Scheme, Solver};

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
        Ok(follow(&mut simulation, &control, self.settings.until, most))
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
        // The ordinary solver takes off first and does not look for more.
        let one_is_enough =
            self.settings.on_several == OnSeveral::Choose && rule == ChoiceRule::TakeOffFirst;
        let (solver, control): (Box<dyn ContactSolver>, _) = if one_is_enough {
            (self.solver(), None)
        } else {
            let (solver, control) = EnumeratingSolver::new(rule, EnumerationSettings::default());
            (Box::new(solver), Some(control))
        };
        if matches!(self.mechanics, Mechanics::Elastic(_)) {
            // Contacts that are closed and closing at the start are met by the first step.
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

    /// The scheme of a world: one of two, with the contacts it finds.
    pub fn world_stepping(&self) -> Result<WorldStepping, SceneError> {
        let Mechanics::World(model) = &self.mechanics else {
            let diagnostic = Diagnostic::general("the scene is not a world");
            return Err(SceneError::new(self.text.clone(), vec![diagnostic]));
        };
        let source = Box::new(CollisionDetection::clone(&model.detection));
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
                Box::new(CascadeSolver::beyond(0, tolerance))
            }
            Solver::Automatic => Box::new(CascadeSolver::beyond(MANY_CONTACTS, tolerance)),
            Solver::Cascade => Box::new(CascadeSolver::beyond(0, tolerance)),
            // Every other word is the name of a method.
            named => {
                let method = CoulombMethod::from_name(named.word().name);
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
            | SimulationError::Generalized { constraint, .. } => self.contact_span(constraint),
            _ => None,
        };
        match span {
            Some(span) => Diagnostic::at(span, error.to_string()),
            None => Diagnostic::general(error.to_string()),
        }
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

/// A system in generalized coordinates.
fn generalized(
    model: &GeneralizedModel,
    settings: &Settings,
) -> Result<Box<dyn MechanicalSystem>, Diagnostic> {
    let n = model.coordinates.len();
    // Derivatives are new nodes; the scene keeps its own graph as it is.
    let mut graph = model.graph.clone();
    let positions: Vec<usize> = (1..=n).collect();
    let mut builder = GeneralizedSystem::builder(model.coordinates.iter().cloned());

    let (reading, past) = past_reading(model)
        .map_err(|error| Diagnostic::at(model.system_span.clone(), error.to_string()))?;
    if !reading.is_empty() {
        builder = builder.past(reading);
    }
    builder = match constants(&graph, &model.mass) {
        Some(mass) => builder.mass_matrix(SymmetricMatrix::from_rows(n, mass)),
        None => builder.inertia(SceneInertia {
            mass: Program::compile(&graph, &model.mass, n),
            covariant_force: Program::compile(&graph, &model.covariant_force, n),
        }),
    };
    if let Some(potential) = model.potential {
        let gradient = graph.gradient(potential, &positions);
        let hessian = graph.hessian(potential, &positions);
        builder = builder.potential_function(ScenePotential {
            value: Program::compile(&graph, &[potential], n),
            gradient: Program::compile(&graph, &gradient, n),
            hessian: Program::compile(&graph, &hessian, n),
        });
    }
    if let Some(force) = &model.force {
        let derivatives = force_derivatives(&mut graph, force, n);
        builder = builder.force_function(SceneForce {
            force: Program::compile(&graph, force, n),
            dependence: dependence(&graph, force),
            derivatives,
            past: past.clone(),
        });
    }
    if let Some(stiffness) = &model.stiffness {
        builder = builder.stiffness(SymmetricMatrix::from_rows(n, stiffness.clone()));
    }
    if let Some(damping) = &model.damping {
        builder = builder.damping(SymmetricMatrix::from_rows(n, damping.clone()));
    }
    for contact in &model.contacts {
        let gap = scalar(&mut graph, contact.gap, n);
        let mut constraint = UnilateralConstraint::new(contact.name.clone(), gap)
            .with_expression(contact.gap_text.clone());
        for point in &contact.points {
            let law = contact_law(contact, point, &graph, n, settings)
                .map_err(|error| Diagnostic::at(point.span.clone(), error.to_string()))?;
            let frame = frame(point, &graph, n);
            let memory = point.friction.coefficient.filter(|&c| graph.reads_past(c));
            let slip = point
                .friction
                .coefficient
                .filter(|&c| reads_slip(&graph, c));
            if let Some(coefficient) = slip.filter(|_| !point.friction.parts.is_empty()) {
                check_slip(point, settings)?;
                let slope = graph.gradient(coefficient, &[Graph::SLIP]);
                let slip = SceneSlip {
                    factor: Program::compile(&graph, &[coefficient], n),
                    slope: Program::compile(&graph, &slope, n),
                    past: past.clone(),
                };
                constraint = constraint.with_slip_point(frame, law, slip);
                continue;
            }
            constraint = match memory.filter(|_| !point.friction.parts.is_empty()) {
                Some(coefficient) => {
                    let factor = Program::compile(&graph, &[coefficient], n);
                    let past = past.clone();
                    constraint.with_remembering_point(frame, law, SceneMemory { factor, past })
                }
                None => constraint.with_point(frame, law),
            };
        }
        builder = builder.constraint(constraint);
    }
    for controller in &model.controllers {
        builder = builder.controller(controller.build(&graph, n));
    }
    for joint in &model.joints {
        let equation = scalar(&mut graph, joint.equation, n);
        builder = builder.joint(BilateralConstraint::new(joint.name.clone(), equation));
    }
    if let Err(mistake) = graph.check_size() {
        return Err(Diagnostic::at(
            model.system_span.clone(),
            mistake.to_string(),
        ));
    }
    match builder.build(&model.q0) {
        Ok(system) => Ok(Box::new(system)),
        Err(error) => Err(locate(model, &error)),
    }
}

/// What the scene reads of the past, and how each value is read.
fn past_reading(model: &GeneralizedModel) -> Result<(PastReading, Arc<[PastRead]>), PastError> {
    let n = model.coordinates.len();
    let mut reading = PastReading::new();
    let mut reads = Vec::new();
    for term in model.graph.past_terms() {
        reads.push(past_read(&mut reading, &model.graph, term, n)?);
    }
    if model.history.iter().any(Option::is_some) {
        let programs: Vec<Option<Program>> = model
            .history
            .iter()
            .map(|given| given.map(|e| Program::compile(&model.graph, &[e], n)))
            .collect();
        let (q0, v0) = (model.q0.clone(), model.v0.clone());
        let value = move |k: usize, s: f64| match &programs[k] {
            Some(program) => program.value(s, &q0),
            None => q0[k] + v0[k] * s,
        };
        reading.history(match &model.history_times {
            // Samples stay exact: the motion is affine between them.
            Some(times) => InitialHistory::Samples {
                times: times.clone(),
                values: times
                    .iter()
                    .map(|&s| (0..n).map(|k| value(k, s)).collect())
                    .collect(),
            },
            None => InitialHistory::function(value),
        })?;
    }
    Ok((reading, reads.into()))
}

fn past_read(
    reading: &mut PastReading,
    graph: &Graph,
    term: &PastTerm,
    n: usize,
) -> Result<PastRead, PastError> {
    let length = term.length;
    // Inputs of coordinates count from 1, those of velocities follow.
    let coordinate = (term.inputs[0] - 1) % n;
    let function = |sign: f64| {
        let read = term.operand?;
        let program = Program::compile(graph, &[read], n);
        let coordinates: Vec<usize> = term.inputs.iter().map(|input| input - 1).collect();
        Some(PastFunction::new(&coordinates, move |q| {
            sign * program.value(0.0, q)
        }))
    };
    Ok(match term.functional {
        Functional::Delay => {
            reading.point_delay(length)?;
            if term.inputs[0] > n {
                PastRead::DelayedVelocity {
                    coordinate,
                    tau: length,
                }
            } else {
                PastRead::Delayed {
                    coordinate,
                    tau: length,
                }
            }
        }
        Functional::Maximum => {
            let psi = function(1.0).map_or(Psi::Coordinate(coordinate), Psi::Function);
            PastRead::Maximum(reading.window_maximum(length, psi)?)
        }
        Functional::Minimum => {
            let psi = function(-1.0).map_or(Psi::Negative(coordinate), Psi::Function);
            PastRead::Minimum(reading.window_maximum(length, psi)?)
        }
        Functional::Mean => match function(1.0) {
            Some(read) => {
                PastRead::FunctionMean(reading.function_integral(read, length, Kernel::Constant)?)
            }
            None => PastRead::Mean(reading.integral(coordinate, length, Kernel::Constant)?),
        },
        Functional::Integral | Functional::Fading | Functional::Weighted => {
            let kernel = match term.detail {
                PastDetail::Rate(rate) => Kernel::Exponential { rate },
                PastDetail::Kernel { kernel, .. } => {
                    let weight = Program::compile(graph, &[kernel], n);
                    Kernel::general(move |age| weight.value(age, &[]))
                }
                _ => Kernel::Constant,
            };
            match function(1.0) {
                Some(read) => {
                    PastRead::FunctionIntegral(reading.function_integral(read, length, kernel)?)
                }
                None => PastRead::Integral(reading.integral(coordinate, length, kernel)?),
            }
        }
        Functional::VaryingDelay => {
            // The parser gives every varying delay its expression.
            let PastDetail::Varying { delay, shortest } = term.detail else {
                return Err(PastError::DelayRange {
                    min: f64::NAN,
                    max: length,
                });
            };
            reading.varying_delay(shortest, length)?;
            PastRead::Varying {
                coordinate,
                delay: Program::compile(graph, &[delay], n),
                shortest,
            }
        }
        Functional::Deviation => {
            reading.window(length)?;
            let coordinates = term.inputs.iter().map(|input| input - 1).collect();
            PastRead::Deviation {
                coordinates,
                window: length,
            }
        }
    })
}

/// The numbers, if all expressions are numbers.
fn constants(graph: &Graph, expressions: &[Expression]) -> Option<Vec<f64>> {
    expressions
        .iter()
        .map(|&e| graph.constant_value(e))
        .collect()
}

fn dependence(graph: &Graph, force: &[Expression]) -> ForceDependence {
    let mut found = ForceDependence::None;
    for &component in force {
        if graph.constant_value(component) != Some(0.0) && found == ForceDependence::None {
            found = ForceDependence::Time;
        }
        if graph.inputs_of(component).iter().any(|&input| input > 0) {
            found = ForceDependence::State;
        }
    }
    found
}

/// ∂f/∂q and ∂f/∂v, unless the force depends on time alone.
fn force_derivatives(graph: &mut Graph, force: &[Expression], n: usize) -> Option<Program> {
    if dependence(graph, force) != ForceDependence::State {
        return None;
    }
    let mut slopes = Vec::new();
    for first in [1, 1 + n] {
        let inputs: Vec<usize> = (first..first + n).collect();
        for &component in force {
            slopes.extend(graph.gradient(component, &inputs));
        }
    }
    Some(Program::compile(graph, &slopes, n))
}

fn scalar(graph: &mut Graph, function: Expression, n: usize) -> SceneScalar {
    let positions: Vec<usize> = (1..=n).collect();
    let gradient = graph.gradient(function, &positions);
    let rate = graph.gradient(function, &[0])[0];
    let moving = graph.constant_value(rate) != Some(0.0);
    let slopes = gradient.iter().chain([&rate]);
    let affine = slopes
        .into_iter()
        .all(|&s| graph.constant_value(s).is_some());
    SceneScalar {
        affine,
        value: Program::compile(graph, &[function], n),
        gradient: Program::compile(graph, &gradient, n),
        rate: moving.then(|| Program::compile(graph, &[rate], n)),
    }
}

fn frame(point: &PointModel, graph: &Graph, n: usize) -> ContactFrame {
    let count = point.tangent_rows.len();
    let mut rows: Vec<Expression> = point.normal_row.iter().flatten().copied().collect();
    rows.extend(point.tangent_rows.iter().flatten());
    let moving = point
        .drift
        .iter()
        .any(|&d| graph.constant_value(d) != Some(0.0));
    let rows = SceneRows {
        rows: Program::compile(graph, &rows, n),
        drift: moving.then(|| Program::compile(graph, &point.drift, n)),
    };
    match (&point.normal_row, count) {
        (Some(_), count) => ContactFrame::Material {
            count,
            rows: Box::new(rows),
        },
        (None, 0) => ContactFrame::Frictionless,
        (None, count) => ContactFrame::tangents(count, rows),
    }
}

fn contact_law(
    contact: &ContactModel,
    point: &PointModel,
    graph: &Graph,
    n: usize,
    settings: &Settings,
) -> Result<ContactLaw, ContactLawError> {
    let section = section(&point.friction.parts)?;
    let impact = impact_law(contact.impact, contact.restitution);
    let mut law = ContactLaw::new(section, impact)?.with_flow_rule(flow_rule(settings));
    if let Some(coefficient) = point.friction.coefficient {
        // Friction that reads the past is attached to the point, not to the law.
        let elsewhere = graph.reads_past(coefficient) || reads_slip(graph, coefficient);
        if point.friction.parts.is_empty() || elsewhere {
            return Ok(law);
        }
        let program = Arc::new(Program::compile(graph, &[coefficient], n));
        let factor = FrictionCoefficient::function(move |t, q| program.value(t, q));
        law = law.with_coefficient(factor)?;
    }
    Ok(law)
}

pub(super) fn flow_rule(settings: &Settings) -> FlowRule {
    match settings.law {
        Law::Frictionless | Law::Coulomb => FlowRule::Coulomb,
        Law::Argmin => FlowRule::KineticProjection,
        Law::Generalized => FlowRule::Generalized(GeneralizedRule {
            sections: settings.sections,
            active_space: settings.active_space,
            unit: settings.friction_per,
            firmness: settings.firmness,
        }),
    }
}

pub(super) fn impact_law(impact: Impact, restitution: f64) -> ImpactLaw {
    match impact {
        Impact::Inelastic => ImpactLaw::Inelastic,
        Impact::Energetic => ImpactLaw::Energetic { restitution },
        Impact::Newton => ImpactLaw::Newton { restitution },
        Impact::Poisson => ImpactLaw::Poisson { restitution },
        Impact::Moreau => ImpactLaw::Moreau { restitution },
        Impact::Fremond => ImpactLaw::Fremond { restitution },
    }
}

pub(super) fn section(parts: &[FrictionPart]) -> Result<FrictionSection, FrictionError> {
    let single = |part: &FrictionPart| match part {
        FrictionPart::Disc { radius, dimension } => FrictionSection::ball(*radius, *dimension),
        FrictionPart::Ellipse(axes) => FrictionSection::ellipse(*axes),
        FrictionPart::Interval([lower, upper]) => FrictionSection::interval(*lower, *upper),
        FrictionPart::Polygon(vertices) => {
            let vertices: Vec<Vec<f64>> = vertices.iter().map(|v| v.to_vec()).collect();
            FrictionSection::polytope(&vertices)
        }
        FrictionPart::Polyhedron(vertices, rays) => {
            let lists = |points: &[[f64; 2]]| points.iter().map(|v| v.to_vec()).collect();
            FrictionSection::general(Polyhedron::new(lists(vertices), lists(rays))?)
        }
    };
    match parts {
        [] => Ok(FrictionSection::None),
        [part] => single(part),
        parts => {
            let factors: Result<Vec<FrictionSection>, FrictionError> =
                parts.iter().map(single).collect();
            FrictionSection::product(factors?)
        }
    }
}

/// Whether an expression reads the slip speed of its contact.
fn reads_slip(graph: &Graph, expression: Expression) -> bool {
    graph.inputs_of(expression).contains(&Graph::SLIP)
}

/// Friction that depends on the slip speed is stepped under Coulomb's law, by schemes of steps.
fn check_slip(point: &PointModel, settings: &Settings) -> Result<(), Diagnostic> {
    let obstacle = match (settings.law, settings.scheme) {
        (Law::Argmin | Law::Generalized, _) => format!("law = \"{}\"", settings.law),
        (_, Scheme::EventDriven) => format!("scheme = \"{}\"", settings.scheme),
        _ => return Ok(()),
    };
    let message =
        format!("friction that depends on the slip speed s is not computed with {obstacle}");
    let help = "use law = \"coulomb\" with moreau-jean, moreau, sweeping-process or penalty";
    Err(Diagnostic::at(point.span.clone(), message).with_help(help))
}

/// The place in the file that a refused system is about.
fn locate(model: &GeneralizedModel, error: &SystemError) -> Diagnostic {
    let contact = |name: &str| {
        model
            .contacts
            .iter()
            .find(|c| c.name == name)
            .map(|c| c.gap_span.clone())
    };
    let span = match error {
        SystemError::VanishingGradient { constraint }
        | SystemError::InitialPenetration { constraint, .. }
        | SystemError::NoContactPoint { constraint }
        | SystemError::FrictionDimension { constraint, .. } => contact(constraint),
        SystemError::OpenJoint { joint, .. } => model
            .joints
            .iter()
            .find(|j| j.name == *joint)
            .map(|j| j.span.clone()),
        SystemError::NotPositiveDefinite { .. } => Some(model.mass_span.clone()),
        SystemError::NotSemidefinite { what } => match *what {
            "stiffness" => model.stiffness_span.clone(),
            _ => model.damping_span.clone(),
        },
        _ => None,
    };
    Diagnostic::at(span.unwrap_or(model.system_span.clone()), error.to_string())
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
            .map_err(ContactLawError::from)
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
