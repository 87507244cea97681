//! Reading a scene: shapes of values first, then meanings, in the order in which names become known.

use std::ops::Range;

use crate::simulation::studies::branches::ChoiceRule;

use super::body::read_body;
use super::check::check_table;
use super::contact::read_contacts;
use super::controllers::read_controllers;
use super::diagnostic::Diagnostic;
use super::drawing::{Drawing, read_drawing};
use super::elastic::read_elastic;
use super::impact_map::read_impact_map;
use super::keys::SCENE;
use super::mechanics::{GeneralizedModel, read_history, read_initial, read_joints, read_system};
use super::reader::Reader;
use super::scene::{Mechanics, Scene};
use super::settings::Settings;
use super::source::{FILE_SIZE_MAX, SourceText};
use super::start_checks::check_at_start;
use super::tables::{check_tables, read_tables};
use super::value::{self, Table, Value};
use super::words::{Impact, Law, OnSeveral, Scheme};
use super::world::{read_world, refuse_joints};

pub(super) fn read(source: &SourceText) -> Result<Scene, Vec<Diagnostic>> {
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
    let coordinates = table
        .table("system")
        .map_or(&[][..], |t| t.list("coordinates"));
    reader.announce_coordinates(coordinates);
    let parameters = table
        .table("parameters")
        .map(|t| reader.parameters(t))
        .unwrap_or_default();
    let tables = read_tables(&mut reader, table.table("tables"));
    let settings = Settings::read(&mut reader, &table);
    reader.data.domain.until = settings.until;
    let contacts = table.list("contacts");
    let mechanics = read_mechanics(&mut reader, &table, &settings, start);
    refuse_keys_of_worlds(&mut reader, &table);
    let impact_map = table.value("impact_map").and_then(|value| {
        if settings.law != Law::Generalized {
            let message = "`impact_map` is part of law = \"generalized\"";
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
        read_impact_map(&mut reader, value, &parameters, contacts.len())
    });
    check_on_several(&mut reader, &table, &settings);
    check_choice(&mut reader, &table, &settings);
    let units = read_units(&mut reader, table.table("units"));
    let shapes = read_drawing(&mut reader, table.list("drawing"));
    if let Err(mistake) = reader.graph.check_size() {
        reader.report(Diagnostic::general(mistake.to_string()));
    }
    for report in check_tables(&reader.graph, &tables, settings.until) {
        reader.report(report);
    }
    let drawing = Drawing::compile(&reader.graph, &shapes);
    let Reader {
        diagnostics,
        graph,
        data,
        ..
    } = reader;
    let text = |key: &str| table.text(key).unwrap_or_default().to_owned();
    match mechanics {
        Some(mut mechanics) if diagnostics.is_empty() => {
            if let Mechanics::Generalized(model) = &mut mechanics {
                model.graph = graph;
                model.angles = angles_among(&model.coordinates, &units);
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
                data,
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

/// Keys of scenes of expressions, which bodies do not have.
pub(super) const OF_EXPRESSIONS: [&str; 6] = [
    "definitions",
    "controllers",
    "joints",
    "initial",
    "history",
    "drawing",
];

/// The system of the scene; none where it was refused.
fn read_mechanics(
    reader: &mut Reader,
    table: &Table,
    settings: &Settings,
    start: Range<usize>,
) -> Option<Mechanics> {
    let contacts = table.list("contacts");
    let (elastic, world) = (table.get("elastic"), table.get("world"));
    let given = [table.get("system"), table.get("body"), elastic, world];
    match (table.get("system"), table.get("body")) {
        _ if given.iter().flatten().count() > 1 && world.is_some() => {
            let span = world.map_or(0..0, |entry| entry.name_span.clone());
            reader.refuse(
                &span,
                "[world] stands beside another system: a scene has one of them",
            )
        }
        (None, None) if world.is_some() => world
            .and_then(|entry| read_world(reader, table, &entry.value, settings))
            .map(|model| Mechanics::World(Box::new(model))),
        _ if given.iter().flatten().count() > 1 && elastic.is_some() => {
            let span = elastic.map_or(0..0, |entry| entry.name_span.clone());
            let message = "[elastic] stands beside [system] or [body]: a scene has one of them";
            reader.refuse(&span, message)
        }
        (None, None) if elastic.is_some() => {
            let step = table.value("step");
            elastic
                .and_then(|entry| {
                    read_elastic(reader, table, &entry.value, contacts, settings, step)
                })
                .map(|model| Mechanics::Elastic(Box::new(model)))
        }
        (Some(system), None) => {
            let place = system.value.span.clone();
            read_generalized(reader, table, &place, contacts, settings)
                .map(|model| Mechanics::Generalized(Box::new(model)))
        }
        (None, Some(body)) => {
            reader.refuse_keys(
                table,
                &OF_EXPRESSIONS,
                |key| format!("`{key}` has no place in the scene of a rigid body"),
                "position, rotation, velocity and spin are keys of [body]",
            );
            let place = body.value.span.clone();
            body.value.as_table().map(|inner| {
                Mechanics::Body(Box::new(read_body(
                    reader, inner, &place, contacts, settings,
                )))
            })
        }
        (Some(_), Some(body)) => {
            reader.refuse(&body.name_span, "both [system] and [body] are given")
        }
        (None, None) => {
            let message = "the scene has no system";
            let help = "add [system] with `coordinates` and `kinetic_energy`, [body], [elastic], or [world]";
            reader.refuse_with(&start, message, help)
        }
    }
}

/// Keys that only worlds have.
fn refuse_keys_of_worlds(reader: &mut Reader, table: &Table) {
    if table.get("world").is_none() {
        reader.refuse_keys(
            table,
            &["materials", "pairs", "bodies", "fill", "monitors", "record"],
            |key| format!("`{key}` belongs to worlds of rigid bodies"),
            "add [world]",
        );
    }
}

/// Stopping at several solutions needs a law that can list them.
fn check_on_several(reader: &mut Reader, table: &Table, settings: &Settings) {
    if settings.on_several == OnSeveral::Stop
        && let Some(value) = table.value("on_several")
        && let Some(reason) = not_enumerated(settings)
    {
        let message =
            format!("on_several = \"stop\" needs a law whose solutions can be listed: {reason}");
        let help =
            "leave on_several out: where the law has one solution there is nothing to stop at";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
}

/// A scheme that chooses between modes itself takes none by name and follows no branches.
fn check_choice(reader: &mut Reader, table: &Table, settings: &Settings) {
    // Worlds do not have the scheme at all.
    if settings.scheme != Scheme::EventDriven || table.value("world").is_some() {
        return;
    }
    let branch = (settings.on_several == OnSeveral::Branch).then_some("on_several");
    let ruled = (settings.several_rule != ChoiceRule::TakeOffFirst).then_some("several_rule");
    for key in branch.into_iter().chain(ruled) {
        let Some(value) = table.value(key) else {
            continue;
        };
        let message = format!(
            "`{key}` asks for a list of solutions: the scheme `event-driven` chooses between modes itself"
        );
        let help = "moreau-jean, moreau and sweeping-process list all solutions of a step";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
}

/// What is told of a run whose words choose among solutions that nobody lists; laws are changed for one run without them.
pub(super) fn void_choice(settings: &Settings) -> Option<String> {
    let key = match (settings.on_several, settings.several_rule) {
        (OnSeveral::Branch, _) => "on_several",
        (OnSeveral::Choose, rule) if rule != ChoiceRule::TakeOffFirst => "several_rule",
        _ => return None,
    };
    // Where Moreau's S is Coulomb's law, it has as many motions: what a run then finds of them is told instead.
    let reason = match settings.law {
        Law::Argmin => "the law `argmin` is a minimum where it is not Coulomb's",
        _ => not_enumerated(settings)?,
    };
    Some(format!("`{key}` has nothing to choose from here: {reason}"))
}

/// Why the solutions of a step are not listed.
fn not_enumerated(settings: &Settings) -> Option<&'static str> {
    match (settings.law, settings.impact, settings.scheme) {
        (Law::Generalized, ..) => Some("the law `generalized` has one by construction"),
        (_, Impact::Poisson, _) => Some("the impact law `poisson` has two phases"),
        (_, Impact::Energetic, _) => Some("the impact law `energetic` integrates the impact"),
        (_, _, Scheme::EventDriven) => {
            Some("the scheme `event-driven` chooses between modes itself")
        }
        (_, _, Scheme::Penalty) => Some("compliant contacts have one"),
        _ => None,
    }
}

/// Units of angles.
const ANGLES: [&str; 4] = ["rad", "mrad", "deg", "°"];

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

/// Coordinates with a unit of angles, their own or that of their velocity.
fn angles_among(coordinates: &[String], units: &[(String, String)]) -> Vec<usize> {
    let told = |coordinate: &str| {
        units.iter().any(|(name, unit)| {
            let unit = match name.strip_suffix("_dot") {
                Some(name) if name == coordinate => unit.split('/').next(),
                _ if name == coordinate => Some(unit.as_str()),
                _ => None,
            };
            unit.is_some_and(|unit| ANGLES.contains(&unit.trim()))
        })
    };
    let found = coordinates
        .iter()
        .enumerate()
        .filter(|(_, name)| told(name));
    found.map(|(index, _)| index).collect()
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
    let system = table.table("system")?;
    reader.coordinates(system.value("coordinates")?.as_list()?);
    if reader.dof() == 0 {
        return None;
    }
    if let Some(definitions) = table.table("definitions") {
        reader.definitions(definitions);
    }
    // Outputs are known to forces, not to definitions, which controllers may read.
    let controllers = read_controllers(reader, table.list("controllers"), settings);
    let (q0, v0) = read_initial(reader, table.table("initial"));
    let (history, history_times) = read_history(reader, table.table("history"));
    let parts = read_system(reader, system, place, &q0);
    let contacts = read_contacts(reader, contacts, settings);
    let joints = read_joints(reader, table.list("joints"));
    Some(GeneralizedModel {
        angles: Vec::new(),
        graph: Default::default(),
        coordinates: reader.names.coordinates.clone(),
        system: parts?,
        contacts,
        joints,
        controllers,
        history,
        history_times,
        q0,
        v0,
        system_span: place.clone(),
        stiffness_span: system.value("stiffness").map(|v| v.span.clone()),
        damping_span: system.value("damping").map(|v| v.span.clone()),
    })
}
