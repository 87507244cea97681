//! From the expressions of a scene to a system in generalized coordinates.

use std::sync::Arc;

use crate::algebra::SymmetricMatrix;
use crate::laws::SetUnit;
use crate::systems::past_motion::quadrature::switch_places;
use crate::systems::past_motion::{
    InitialHistory, Kernel, PastError, PastFunction, PastReading, Psi,
};
use crate::systems::{
    BilateralConstraint, ContactFrame, ForceDependence, GeneralizedSystem, MechanicalSystem,
    SystemError, UnilateralConstraint,
};

use super::build_laws::contact_law;
use super::contact::{ContactModel, PointModel};
use super::diagnostic::Diagnostic;
use super::expression::{Expression, Functional, Graph, PastDetail, PastTerm};
use super::gap_scale::gap_scale;
use super::mechanics::GeneralizedModel;
use super::program::{
    PastRead, Program, SceneForce, SceneInertia, SceneMemory, ScenePotential, SceneRows,
    SceneScalar, SceneSlip, SceneSwitches,
};
use super::settings::Settings;
use super::words::{Law, Scheme};

/// A system in generalized coordinates.
pub(super) fn generalized(
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
    builder = match constants(&graph, &model.system.mass) {
        Some(mass) => builder.mass_matrix(SymmetricMatrix::from_rows(n, mass)),
        None => builder.inertia(SceneInertia {
            mass: Program::compile(&graph, &model.system.mass, n),
            covariant_force: Program::compile(&graph, &model.system.covariant_force, n),
        }),
    };
    if let Some(potential) = model.system.potential {
        let gradient = graph.gradient(potential, &positions);
        let hessian = graph.hessian(potential, &positions);
        builder = builder.potential_function(ScenePotential {
            value: Program::compile(&graph, &[potential], n),
            gradient: Program::compile(&graph, &gradient, n),
            hessian: Program::compile(&graph, &hessian, n),
        });
    }
    if let Some(force) = &model.system.force {
        let derivatives = force_derivatives(&mut graph, force, n);
        builder = builder.force_function(SceneForce {
            force: Program::compile(&graph, force, n),
            dependence: dependence(&graph, force),
            derivatives,
            past: past.clone(),
        });
    }
    let switches = switches(model, &mut graph);
    if !switches.is_empty() {
        builder = builder.switches(SceneSwitches {
            values: Program::compile(&graph, &switches, n),
            count: switches.len(),
            past: past.clone(),
        });
    }
    if let Some(stiffness) = &model.system.stiffness {
        builder = builder.stiffness(SymmetricMatrix::from_rows(n, stiffness.clone()));
    }
    if let Some(damping) = &model.system.damping {
        builder = builder.damping(SymmetricMatrix::from_rows(n, damping.clone()));
    }
    let mut notes = Vec::new();
    for contact in &model.contacts {
        let built = constraint(model, contact, settings, &past, (&mut graph, &mut notes))?;
        builder = builder.constraint(built);
    }
    builder = builder.notes(notes);
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

/// Longest list of switches; a table with more places than that is looked at as it is.
const SWITCHES_MAX: usize = 256;

/// Where forces and friction may jump or bend, as far as time, place and velocity tell; friction that reads its slip bends there besides.
fn switches(model: &GeneralizedModel, graph: &mut Graph) -> Vec<Expression> {
    let mut roots = model.system.force.clone().unwrap_or_default();
    roots.extend(model.system.potential);
    let points = model.contacts.iter().flat_map(|contact| &contact.points);
    for point in points {
        roots.extend(point.friction.coefficient);
        roots.extend(&point.drift);
    }
    let mut switches = graph.switches_of(&roots);
    switches.retain(|&e| !graph.inputs_of(e).contains(&Graph::SLIP));
    if switches.len() > SWITCHES_MAX {
        switches.clear();
    }
    switches
}

/// A contact with its points, each with a frame and a law of its own.
fn constraint(
    model: &GeneralizedModel,
    contact: &ContactModel,
    settings: &Settings,
    past: &Arc<[PastRead]>,
    (graph, notes): (&mut Graph, &mut Vec<String>),
) -> Result<UnilateralConstraint, Diagnostic> {
    let n = model.coordinates.len();
    let gap = scalar(graph, contact.gap, n);
    check_tables(contact, graph, settings)?;
    let mut constraint = UnilateralConstraint::new(contact.name.clone(), gap)
        .with_expression(contact.gap_text.clone());
    for point in &contact.points {
        let law = contact_law(contact, point, graph, n, settings)
            .map_err(|error| Diagnostic::at(point.span.clone(), error.to_string()))?;
        let frame = if settings.friction_per == SetUnit::CoulombCone {
            scaled_frame(model, contact, point, (graph, notes))
        } else {
            frame(point, graph, n)
        };
        let past = past.clone();
        let coefficient = point.friction.coefficient;
        constraint = match coefficient.filter(|_| !point.friction.parts.is_empty()) {
            Some(coefficient) if reads_slip(graph, coefficient) => {
                check_slip(point, settings)?;
                let slope = graph.gradient(coefficient, &[Graph::SLIP]);
                let slip = SceneSlip {
                    factor: Program::compile(graph, &[coefficient], n),
                    slope: Program::compile(graph, &slope, n),
                    past,
                };
                constraint.with_slip_point(frame, law, slip)
            }
            Some(coefficient) if graph.reads_past(coefficient) => {
                let factor = Program::compile(graph, &[coefficient], n);
                constraint.with_remembering_point(frame, law, SceneMemory { factor, past })
            }
            _ => constraint.with_point(frame, law),
        };
    }
    Ok(constraint)
}

/// What the scene reads of the past, and how each value is read.
fn past_reading(model: &GeneralizedModel) -> Result<(PastReading, Arc<[PastRead]>), PastError> {
    let n = model.coordinates.len();
    let mut graph = model.graph.clone();
    let mut reading = PastReading::new();
    let mut reads = Vec::new();
    for term in model.graph.past_terms() {
        reads.push(past_read(&mut reading, &mut graph, term, n)?);
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
    graph: &mut Graph,
    term: &PastTerm,
    n: usize,
) -> Result<PastRead, PastError> {
    let length = term.length;
    // Inputs of coordinates count from 1, those of velocities follow.
    let coordinate = (term.inputs[0] - 1) % n;
    let switches = term
        .operand
        .map_or(Vec::new(), |read| graph.switches_of(&[read]));
    let graph = &*graph;
    let function = |sign: f64| {
        let read = term.operand?;
        let program = Program::compile(graph, &[read], n);
        let coordinates: Vec<usize> = term.inputs.iter().map(|input| input - 1).collect();
        let switches = switches.iter().map(|&switch| {
            let program = Program::compile(graph, &[switch], n);
            Arc::new(move |q: &[f64]| program.value(0.0, q)) as Arc<_>
        });
        let value = move |q: &[f64]| sign * program.value(0.0, q);
        Some(PastFunction::new(&coordinates, value).with_switches(switches))
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
                    let breaks = breaks_of(graph, kernel, length);
                    Kernel::piecewise(move |age| weight.value(age, &[]), &breaks)
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

/// Parts of a window in which each switch of a weight is looked for.
const LOOKS: usize = 512;

/// Ages up to `length` at which an expression of the age may jump or bend.
fn breaks_of(graph: &Graph, kernel: Expression, length: f64) -> Vec<f64> {
    let mut graph = graph.clone();
    let switches = graph.switches_of(&[kernel]);
    let programs: Vec<Program> = (switches.iter())
        .map(|&switch| Program::compile(&graph, &[switch], 0))
        .collect();
    let edge = |j: usize| length * j as f64 / LOOKS as f64;
    let parts = (0..LOOKS).map(|j| (edge(j), edge(j + 1)));
    let switch = |k: usize, age: f64| programs[k].value(age, &[]);
    let inner = parts.flat_map(|part| {
        let places = switch_places(part, programs.len(), switch);
        places[1..places.len() - 1].to_vec()
    });
    inner.collect()
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
    let turning = turning(graph, &gradient, rate);
    SceneScalar {
        numbers: graph.numbers_added(function),
        affine,
        kinks: graph.has_kinks(function),
        jumps: graph.has_jumps(function),
        turning: Program::compile(graph, &[turning], n),
        value: Program::compile(graph, &[function], n),
        gradient: Program::compile(graph, &gradient, n),
        rate: moving.then(|| Program::compile(graph, &[rate], n)),
    }
}

/// d/dt of `row · v + drift` along the motion with constant velocity v.
fn turning(graph: &mut Graph, row: &[Expression], drift: Expression) -> Expression {
    let n = row.len();
    let velocities: Vec<Expression> = (0..n).map(|i| graph.input(1 + n + i)).collect();
    let products = row.iter().zip(&velocities);
    let products: Vec<Expression> = products.map(|(&r, &v)| graph.multiply(r, v)).collect();
    let moved = graph.sum(&products);
    let local = graph.add(moved, drift);
    let inputs: Vec<usize> = (0..=n).collect();
    let slopes = graph.gradient(local, &inputs);
    let changes = slopes[1..].iter().zip(&velocities);
    let mut changes: Vec<Expression> = changes.map(|(&s, &v)| graph.multiply(s, v)).collect();
    changes.push(slopes[0]);
    graph.sum(&changes)
}

fn frame(point: &PointModel, graph: &mut Graph, n: usize) -> ContactFrame {
    let count = point.tangent_rows.len();
    let all = point.normal_row.iter().chain(&point.tangent_rows);
    let turnings: Vec<Expression> = (all.zip(&point.drift))
        .map(|(row, &drift)| turning(graph, row, drift))
        .collect();
    let mut rows: Vec<Expression> = point.normal_row.iter().flatten().copied().collect();
    rows.extend(point.tangent_rows.iter().flatten());
    let moving = point
        .drift
        .iter()
        .any(|&d| graph.constant_value(d) != Some(0.0));
    let rows = SceneRows {
        rows: Program::compile(graph, &rows, n),
        drift: moving.then(|| Program::compile(graph, &point.drift, n)),
        turning: Program::compile(graph, &turnings, n),
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

/// The same with dφ per metre of approach where the contact has no material point: real friction does not depend on the scale of the gap.
/// What was taken for metres is noted.
fn scaled_frame(
    model: &GeneralizedModel,
    contact: &ContactModel,
    point: &PointModel,
    (graph, notes): (&mut Graph, &mut Vec<String>),
) -> ContactFrame {
    let n = model.coordinates.len();
    if point.normal_row.is_some() {
        return frame(point, graph, n);
    }
    let positions: Vec<usize> = (1..=n).collect();
    let gradient = graph.gradient(contact.gap, &positions);
    let Some((scale, metres)) = gap_scale(model, &gradient, point, graph) else {
        return frame(point, graph, n);
    };
    let metres: Vec<&str> = metres
        .iter()
        .map(|&k| model.coordinates[k].as_str())
        .collect();
    notes.push(format!(
        "the gap of contact `{}` is taken for a multiple of a distance, since its slip is in metres of {}: friction is per metre of \
         approach there (if one of them is an angle, say so, as in `units = {{ {} = \"rad\" }}`, or give `point` and `normal`)",
        contact.name,
        metres.join(" and "),
        metres.last().unwrap_or(&"phi"),
    ));
    let rate = graph.gradient(contact.gap, &[0])[0];
    let row = gradient.iter().map(|&slope| graph.divide(slope, scale));
    let row: Vec<Expression> = row.collect();
    let mut drift = vec![graph.divide(rate, scale)];
    drift.extend(&point.drift);
    let scaled = PointModel {
        normal_row: Some(row),
        drift,
        ..point.clone()
    };
    frame(&scaled, graph, n)
}

/// Whether an expression reads the slip speed of its contact.
pub(super) fn reads_slip(graph: &Graph, expression: Expression) -> bool {
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

/// Obstacles that follow a table turn and stop at its samples, which are no events of the event-driven scheme.
fn check_tables(
    contact: &ContactModel,
    graph: &Graph,
    settings: &Settings,
) -> Result<(), Diagnostic> {
    let slips = contact.points.iter().flat_map(|point| &point.drift);
    let mut read = [contact.gap].into_iter().chain(slips.copied());
    if settings.scheme != Scheme::EventDriven || !read.any(|e| graph.reads_table(e)) {
        return Ok(());
    }
    let message = format!(
        "contact `{}` moves by a table, which is not computed with scheme = \"event-driven\"",
        contact.name
    );
    let help =
        "use moreau-jean, moreau or sweeping-process, or an expression in place of the table";
    Err(Diagnostic::at(contact.gap_span.clone(), message).with_help(help))
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
        SystemError::NotPositiveDefinite { .. } => Some(model.system.mass_span.clone()),
        SystemError::NotSemidefinite { what } => match *what {
            "stiffness" => model.stiffness_span.clone(),
            _ => model.damping_span.clone(),
        },
        _ => None,
    };
    Diagnostic::at(span.unwrap_or(model.system_span.clone()), error.to_string())
}
