//! A scene: read, checked, ready to be built.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::algebra::dot;
use crate::quantity::typed;
use crate::systems::{ElastodynamicSystem, MechanicalSystem, World};

use super::body::{BodyModel, read_body};
use super::check::check_table;
use super::contact::{ContactModel, PointModel, read_contacts};
use super::controllers::read_controllers;
use super::diagnostic::{Diagnostic, SceneError};
use super::drawing::{Drawing, read_drawing};
use super::edit::Changes;
use super::elastic::{ElasticModel, read_elastic};
use super::expression::{Expression, Graph, Tape};
use super::impact_map::{SceneImpactMap, read_impact_map};
use super::keys::SCENE;
use super::mechanics::{GeneralizedModel, read_history, read_initial, read_joints, read_system};
use super::reader::Reader;
use super::settings::Settings;
use super::source::{FILE_SIZE_MAX, ReadError, SourceText};
use super::tables::{SceneTable, check_tables, read_tables};
use super::value::{self, Table, Value};
use super::words::{Impact, Law, OnSeveral, Scheme};
use super::world::{WorldModel, read_world, refuse_joints};

/// A scene that was read without mistake.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What it shows.
    pub title: String,
    /// Where it is taken from.
    pub source: String,
    /// What the mechanism is.
    pub description: String,
    /// What to look for in the result.
    pub look_for: String,
    /// How it is run.
    pub settings: Settings,
    /// Units of coordinates (`x`) and velocities (`x_dot`) that the scene declares.
    pub units: Vec<(String, String)>,
    /// Parameters with their values, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    pub(super) mechanics: Mechanics,
    pub(super) text: SourceText,
    drawing: Option<Drawing>,
    tables: Vec<SceneTable>,
    pub(super) impact_map: Option<SceneImpactMap>,
}

/// The kinds of systems a scene can hold.
#[derive(Clone, Debug)]
pub(super) enum Mechanics {
    Generalized(Box<GeneralizedModel>),
    Body(Box<BodyModel>),
    Elastic(Box<ElasticModel>),
    World(Box<WorldModel>),
}

/// Why a scene could not be loaded from a file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The scene has mistakes.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

impl Scene {
    /// Reads a scene from a file, with changes from the command line.
    pub fn load(path: &Path, changes: &Changes) -> Result<Self, LoadError> {
        let source = changes.apply(&SourceText::read(path)?)?;
        Ok(Self::parse(source)?)
    }

    /// Reads a scene from text and puts its run together once, so that whatever the system itself refuses is
    /// reported as a mistake of the scene, too.
    pub fn parse(source: SourceText) -> Result<Self, SceneError> {
        let scene = Self::read(source)?;
        scene.simulation()?;
        Ok(scene)
    }

    /// Reads a scene from text; all mistakes of the text are reported at once. For callers that build the
    /// [`simulation`](Self::simulation) themselves, or need none.
    pub fn read(source: SourceText) -> Result<Self, SceneError> {
        read(&source).map_err(|diagnostics| SceneError::new(source, diagnostics))
    }

    /// The text the scene was read from, changes included.
    #[must_use]
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// Names of the coordinates.
    #[must_use]
    pub fn coordinate_names(&self) -> Vec<String> {
        match &self.mechanics {
            Mechanics::Generalized(model) => model.coordinates.clone(),
            Mechanics::Body(_) => ["x", "y", "z", "qw", "qx", "qy", "qz"]
                .map(String::from)
                .to_vec(),
            Mechanics::Elastic(model) => model.system.coordinate_names().to_vec(),
            Mechanics::World(model) => model.coordinate_names(),
        }
    }

    /// Names of the contacts.
    #[must_use]
    pub fn contact_names(&self) -> Vec<String> {
        match &self.mechanics {
            Mechanics::Generalized(model) => {
                model.contacts.iter().map(|c| c.name.clone()).collect()
            }
            Mechanics::Body(model) => model.contacts.iter().map(|c| c.name.clone()).collect(),
            Mechanics::Elastic(model) => model.contacts.iter().map(|c| c.0.clone()).collect(),
            // Found, not declared.
            Mechanics::World(_) => Vec::new(),
        }
    }

    /// The elastic system, if the scene has one.
    #[must_use]
    pub fn elastic(&self) -> Option<&Arc<ElastodynamicSystem>> {
        match &self.mechanics {
            Mechanics::Elastic(model) => Some(&model.system),
            _ => None,
        }
    }

    /// The world of rigid bodies, if the scene has one.
    #[must_use]
    pub fn world(&self) -> Option<&Arc<World>> {
        match &self.mechanics {
            Mechanics::World(model) => Some(&model.world),
            _ => None,
        }
    }

    /// What a reader should know although nothing is wrong: pairs of materials that were not given.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match &self.mechanics {
            Mechanics::World(model) => &model.warnings,
            _ => &[],
        }
    }

    /// Files that the scene names, beside its own.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut files = match &self.mechanics {
            Mechanics::Elastic(model) => model.files.clone(),
            Mechanics::World(model) => model.files.clone(),
            _ => Vec::new(),
        };
        files.extend(self.tables.iter().map(|table| table.file.clone()));
        files.sort();
        files.dedup();
        files
    }

    /// The shapes of the mechanism, if the scene draws any.
    #[must_use]
    pub fn drawing(&self) -> Option<&Drawing> {
        self.drawing.as_ref()
    }
}

fn read(source: &SourceText) -> Result<Scene, Vec<Diagnostic>> {
    if source.text().len() > FILE_SIZE_MAX {
        let message = format!(
            "the scene has {} bytes, more than the {FILE_SIZE_MAX} allowed",
            source.text().len()
        );
        return Err(vec![Diagnostic::general(message)]);
    }
    // Shapes first; broken syntax would only lead to mistakes that are none.
    let mut diagnostics = Vec::new();
    let table = value::parse(source, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let start = first_line(source);
    let mut table = table;
    refuse_joints(&mut table, &mut diagnostics);
    let table = check_table(table, start.clone(), &SCENE, &mut diagnostics);

    // Then meanings, in the order in which names become known.
    let mut reader = Reader::new(source, diagnostics);
    let coordinates = section(&table, "system").map_or(&[][..], |t| list(t, "coordinates"));
    reader.announce_coordinates(coordinates);
    let parameters = section(&table, "parameters")
        .map(|t| reader.parameters(t))
        .unwrap_or_default();
    let tables = read_tables(&mut reader, section(&table, "tables"));
    let settings = Settings::read(&mut reader, &table);
    let contacts = list(&table, "contacts");
    let (elastic, world) = (table.get("elastic"), table.get("world"));
    let given = [table.get("system"), table.get("body"), elastic, world];
    let mechanics = match (table.get("system"), table.get("body")) {
        _ if given.iter().flatten().count() > 1 && world.is_some() => {
            let span = world.map_or(0..0, |entry| entry.name_span.clone());
            let message = "[world] stands beside another system: a scene has one of them";
            reader.report(Diagnostic::at(span, message));
            None
        }
        (None, None) if world.is_some() => world
            .and_then(|entry| read_world(&mut reader, &table, &entry.value, &settings))
            .map(|model| Mechanics::World(Box::new(model))),
        _ if given.iter().flatten().count() > 1 && elastic.is_some() => {
            let span = elastic.map_or(0..0, |entry| entry.name_span.clone());
            let message = "[elastic] stands beside [system] or [body]: a scene has one of them";
            reader.report(Diagnostic::at(span, message));
            None
        }
        (None, None) if elastic.is_some() => {
            let step = table.value("step");
            elastic
                .and_then(|entry| {
                    read_elastic(&mut reader, &table, &entry.value, contacts, &settings, step)
                })
                .map(|model| Mechanics::Elastic(Box::new(model)))
        }
        (Some(system), None) => {
            let place = system.value.span.clone();
            read_generalized(&mut reader, &table, &place, contacts, &settings)
                .map(|model| Mechanics::Generalized(Box::new(model)))
        }
        (None, Some(body)) => {
            for key in [
                "definitions",
                "controllers",
                "joints",
                "initial",
                "history",
                "drawing",
            ] {
                if let Some(entry) = table.get(key) {
                    let message = format!("`{key}` has no place in the scene of a rigid body");
                    let help = "position, rotation, velocity and spin are keys of [body]";
                    reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
                }
            }
            let place = body.value.span.clone();
            body.value.as_table().map(|inner| {
                Mechanics::Body(Box::new(read_body(
                    &mut reader,
                    inner,
                    &place,
                    contacts,
                    &settings,
                )))
            })
        }
        (Some(_), Some(body)) => {
            let message = "both [system] and [body] are given";
            reader.report(Diagnostic::at(body.name_span.clone(), message));
            None
        }
        (None, None) => {
            let message = "the scene has no system";
            let help = "add [system] with `coordinates` and `kinetic_energy`, [body], [elastic], or [world]";
            reader.report(Diagnostic::at(start, message).with_help(help));
            None
        }
    };
    if world.is_none() {
        for key in ["materials", "pairs", "bodies", "fill", "monitors", "record"] {
            if let Some(entry) = table.get(key) {
                let message = format!("`{key}` belongs to worlds of rigid bodies");
                let help = "add [world]";
                reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
            }
        }
    }
    let impact_map = table.value("impact_map").and_then(|value| {
        if settings.law != Law::Generalized {
            let message = "`impact_map` is part of law = \"generalized\"";
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
        read_impact_map(&mut reader, value, &parameters, contacts.len())
    });
    if settings.on_several == OnSeveral::Stop
        && let Some(value) = table.value("on_several")
        && let Some(reason) = not_enumerated(&settings)
    {
        let message =
            format!("on_several = \"stop\" needs a law whose solutions can be listed: {reason}");
        let help =
            "leave on_several out: where the law has one solution there is nothing to stop at";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
    let units = read_units(&mut reader, section(&table, "units"));
    let shapes = read_drawing(&mut reader, list(&table, "drawing"));
    if let Err(mistake) = reader.graph.check_size() {
        reader.report(Diagnostic::general(mistake.to_string()));
    }
    for report in check_tables(&reader.graph, &tables, settings.until) {
        reader.report(report);
    }
    let drawing = Drawing::compile(&reader.graph, &shapes);
    let Reader {
        diagnostics, graph, ..
    } = reader;
    let text = |key: &str| {
        table
            .value(key)
            .and_then(Value::as_text)
            .unwrap_or_default()
            .to_owned()
    };
    match mechanics {
        Some(mut mechanics) if diagnostics.is_empty() => {
            if let Mechanics::Generalized(model) = &mut mechanics {
                model.graph = graph;
                check_at_start(model)?;
            }
            Ok(Scene {
                title: text("title"),
                source: text("source"),
                description: text("description"),
                look_for: text("look_for"),
                settings,
                units,
                parameters,
                mechanics,
                text: source.clone(),
                drawing,
                tables,
                impact_map,
            })
        }
        // Whatever gave no mechanics has been reported.
        _ => {
            assert!(
                !diagnostics.is_empty(),
                "a scene was refused without a reason"
            );
            Err(diagnostics)
        }
    }
}

/// Why the solutions of a step are not listed.
fn not_enumerated(settings: &Settings) -> Option<&'static str> {
    match (settings.law, settings.impact, settings.scheme) {
        (Law::Generalized, ..) => Some("the law `generalized` has one by construction"),
        (Law::Argmin, ..) => Some("the law `argmin` is a minimum, not a list of modes"),
        (_, Impact::Poisson, _) => Some("the impact law `poisson` has two phases"),
        (_, Impact::Energetic, _) => Some("the impact law `energetic` integrates the impact"),
        (_, _, Scheme::EventDriven) => {
            Some("the scheme `event-driven` chooses between modes itself")
        }
        (_, _, Scheme::Penalty) => Some("compliant contacts have one"),
        _ => None,
    }
}

/// Units by name, which must be that of a coordinate or a velocity.
fn read_units(reader: &mut Reader, table: Option<&Table>) -> Vec<(String, String)> {
    let mut units = Vec::new();
    for entry in table.into_iter().flat_map(|table| &table.entries) {
        let name = entry.name.strip_suffix("_dot").unwrap_or(&entry.name);
        if !reader.names.coordinates.iter().any(|known| known == name) {
            let known = reader.names.coordinates.join(", ");
            let message = format!("`{}` is not a coordinate or velocity", entry.name);
            let help = format!("coordinates: {known}");
            let diagnostic = Diagnostic::at(entry.name_span.clone(), message);
            reader.report(diagnostic.with_help(help));
        }
        if let Some(unit) = entry.value.as_text() {
            units.push((entry.name.clone(), unit.to_owned()));
        }
    }
    units
}

fn section<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    table.value(key).and_then(Value::as_table)
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    table
        .value(key)
        .and_then(Value::as_list)
        .unwrap_or_default()
}

/// The first line that is not blank, as the place of what is missing at the top level.
fn first_line(source: &SourceText) -> Range<usize> {
    let text = source.text();
    let start = text.len() - text.trim_start().len();
    let line = source.line_range(start);
    start..line.end.max(start)
}

fn read_generalized(
    reader: &mut Reader,
    table: &Table,
    place: &Range<usize>,
    contacts: &[Value],
    settings: &Settings,
) -> Option<GeneralizedModel> {
    let system = section(table, "system")?;
    reader.coordinates(system.value("coordinates")?.as_list()?);
    if reader.dof() == 0 {
        return None;
    }
    if let Some(definitions) = section(table, "definitions") {
        reader.definitions(definitions);
    }
    // Outputs are known to forces, not to definitions, which controllers may read.
    let controllers = read_controllers(reader, list(table, "controllers"));
    let (q0, v0) = read_initial(reader, section(table, "initial"));
    let (history, history_times) = read_history(reader, section(table, "history"));
    let parts = read_system(reader, system, place, &q0);
    let contacts = read_contacts(reader, contacts, settings);
    let joints = read_joints(reader, list(table, "joints"));
    let parts = parts?;
    Some(GeneralizedModel {
        graph: Default::default(),
        coordinates: reader.names.coordinates.clone(),
        mass: parts.mass,
        covariant_force: parts.covariant_force,
        potential: parts.potential,
        force: parts.force,
        stiffness: parts.stiffness,
        damping: parts.damping,
        contacts,
        joints,
        controllers,
        history,
        history_times,
        q0,
        v0,
        mass_span: parts.mass_span,
        system_span: place.clone(),
        stiffness_span: system.value("stiffness").map(|v| v.span.clone()),
        damping_span: system.value("damping").map(|v| v.span.clone()),
    })
}

/// What can be said about contacts and joints at the initial configuration, all at once.
fn check_at_start(model: &mut GeneralizedModel) -> Result<(), Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for k in 0..model.contacts.len() {
        diagnostics.extend(check_contact(model, k));
    }
    for joint in &model.joints {
        let value = evaluate(model, &[joint.equation])[0];
        if value.is_nan() || value.abs() > PENETRATION_MAX {
            let message = format!(
                "joint `{}` is not closed at the start: its equation gives {}",
                joint.name,
                typed(value, 7)
            );
            diagnostics.push(Diagnostic::at(joint.span.clone(), message));
        }
    }
    if diagnostics.is_empty() {
        Ok(())
    } else {
        Err(diagnostics)
    }
}

/// Largest initial penetration or opening of a joint, as for every system in generalized
/// coordinates.
const PENETRATION_MAX: f64 = 1e-9;

/// Values at the start; the motion counts as having rested before.
fn evaluate(model: &GeneralizedModel, outputs: &[Expression]) -> Vec<f64> {
    let n = model.coordinates.len();
    let present = |k: usize| match k {
        0 => 0.0,
        k if k <= n => model.q0[k - 1],
        // Friction at rest.
        Graph::SLIP => 0.0,
        k => model.v0[k - 1 - n],
    };
    let value = |expression: Expression| {
        let mut out = [0.0];
        Tape::compile(&model.graph, &[expression]).evaluate_with(
            present,
            &mut Vec::new(),
            &mut out,
        );
        out[0]
    };
    let read = |k: usize| match k.checked_sub(Graph::PAST_FIRST) {
        Some(index) => model.graph.past_terms()[index].at_rest(n, present, value),
        None => present(k),
    };
    let mut out = vec![0.0; outputs.len()];
    Tape::compile(&model.graph, outputs).evaluate_with(read, &mut Vec::new(), &mut out);
    out
}

fn check_contact(model: &mut GeneralizedModel, k: usize) -> Option<Diagnostic> {
    let n = model.coordinates.len();
    let inputs: Vec<usize> = (1..=n).collect();
    let slopes = model.graph.gradient(model.contacts[k].gap, &inputs);
    let contact = &model.contacts[k];
    let at_gap = |message: String| Some(Diagnostic::at(contact.gap_span.clone(), message));

    let gap = evaluate(model, &[contact.gap])[0];
    if gap.is_nan() || gap < -PENETRATION_MAX {
        let message = format!(
            "contact `{}` is violated at the start: gap {}",
            contact.name,
            typed(gap, 7)
        );
        return at_gap(message).map(|d| d.with_help("change the values of [initial]"));
    }
    let gradient = evaluate(model, &slopes);
    let length = dot(&gradient, &gradient).sqrt();
    if !length.is_finite() {
        return at_gap(format!(
            "contact `{}`: the gap has no gradient at the start",
            contact.name
        ));
    }
    if length == 0.0 {
        let message = format!(
            "contact `{}`: the gap does not depend on the coordinates at the start",
            contact.name
        );
        return at_gap(message).map(|d| d.with_help("no force could keep it open"));
    }
    contact
        .points
        .iter()
        .find_map(|point| check_point(model, contact, point, &gradient))
}

fn check_point(
    model: &GeneralizedModel,
    contact: &ContactModel,
    point: &PointModel,
    gradient: &[f64],
) -> Option<Diagnostic> {
    if let Some(coefficient) = point.friction.coefficient {
        let value = evaluate(model, &[coefficient])[0];
        if value < 0.0 || !value.is_finite() {
            let message = format!(
                "contact `{}`: friction is {value} at the start",
                contact.name
            );
            return Some(Diagnostic::at(point.span.clone(), message));
        }
    }
    // The gap of a material contact must grow along its normal: dφ and the normal row are parallel.
    let (row, span) = (point.normal_row.as_ref()?, point.normal_span.as_ref()?);
    let normal = evaluate(model, row);
    let lengths = (dot(gradient, gradient) * dot(&normal, &normal)).sqrt();
    let product = dot(gradient, &normal);
    if lengths > 0.0 && lengths.is_finite() && product < (1.0 - 1e-9) * lengths {
        let message = format!(
            "contact `{}`: gap and normal do not belong together",
            contact.name
        );
        let help = "when the point moves along the normal the gap must grow, and no motion along \
                    the surface may change it; `normal` is straight up if not given";
        return Some(Diagnostic::at(span.clone(), message).with_help(help));
    }
    None
}
