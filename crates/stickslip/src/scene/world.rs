//! Worlds of rigid bodies, read from `[world]`, `[[materials]]`, `[[pairs]]`, `[[bodies]]`, `[[fill]]`, `[[monitors]]`.
//!
//! The world is built while the scene is read: it holds no state, and large worlds are not built twice.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Data, Table, Value};
use super::words::{OnSeveral, Scheme};
use super::world_bodies::{Context, ReadBody, read_body};
use super::world_fill::read_fill;
use super::world_materials::{Materials, read_materials};
use super::world_motion::{define_state, state_names};
use super::world_record::{find_named, read_monitors, read_recording};
use super::world_shapes::vector;
use crate::quantity::typed;
use crate::systems::MechanicalSystem;
use crate::systems::world::{
    CollisionDetection, ContactSource, Dimension, World, WorldBuilder, WorldError, WorldState,
};

/// A world with what its run writes.
#[derive(Clone, Debug)]
pub(super) struct WorldModel {
    pub world: Arc<World>,
    pub detection: Arc<CollisionDetection>,
    /// Files the scene names.
    pub files: Vec<String>,
    /// What a reader should know although nothing is wrong.
    pub warnings: Vec<String>,
}

/// Joints of worlds have a format of their own and are not computed: refused by name before anything else is said.
pub(super) fn refuse_joints(table: &mut Table, diagnostics: &mut Vec<Diagnostic>) {
    if table.get("world").is_none() {
        return;
    }
    if let Some(entry) = table.get("joints") {
        let message = "[[joints]] of worlds are not computed";
        let help = "bodies of a world meet in contacts only; a mechanism with joints is a [system]";
        diagnostics.push(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
        table.entries.retain(|entry| entry.name != "joints");
    }
}

/// Reads and builds; whatever goes wrong is reported.
pub(super) fn read_world(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    settings: &Settings,
) -> Option<WorldModel> {
    let world = value.as_table()?;
    let dimension = read_dimension(reader, world)?;
    refuse_foreign(reader, table, settings);
    refuse_names(reader, table, dimension);
    let gravity = vector(reader, world, "gravity", dimension);
    let slop = reader.number(world, "slop", "above 0 and below 0.1", |x| {
        x > 0.0 && x < 0.1
    });
    let lists = (table.list("materials"), table.list("pairs"));
    let materials = read_materials(reader, lists, settings, dimension);
    define_state(reader, dimension);
    let mut context = Context {
        materials: &materials,
        dimension,
        files: Vec::new(),
        bodies: Vec::new(),
    };
    for body in table.list("bodies") {
        read_body(reader, body, &mut context);
    }
    for fill in table.list("fill") {
        read_fill(reader, fill, &mut context);
    }
    let Context {
        files, mut bodies, ..
    } = context;
    if bodies.is_empty() {
        // Bodies that were refused have been reported.
        if table.list("bodies").is_empty() && table.list("fill").is_empty() {
            let message = "the world has no bodies";
            let help = "add [[bodies]] with `name`, `material` and `shape`";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        }
        return None;
    }
    check_names(reader, &bodies);
    resolve_groups(reader, &mut bodies);
    let recording = read_recording(reader, table, &bodies);
    let monitors = read_monitors(reader, table, &bodies);
    let used = used_materials(&bodies, &materials);
    let (laws, warnings) = materials.laws(reader, &used, settings, dimension);
    if !reader.diagnostics.is_empty() {
        return None;
    }

    let mut builder = World::builder().dimension(dimension).record(recording);
    for monitor in monitors {
        builder = builder.monitor(monitor);
    }
    for material in &materials.list {
        builder = builder.material(material.name.as_str());
    }
    for (a, b, law) in laws {
        builder = builder.pair(a, b, law);
    }
    if let Some(gravity) = gravity {
        builder = builder.gravity(gravity);
    }
    if let Some(slop) = slop {
        builder = builder.slop(slop);
    }
    let (world, detection) = build_world(reader, table, value, (builder, bodies))?;
    Some(WorldModel {
        world: Arc::new(world),
        detection: Arc::new(detection),
        files,
        warnings,
    })
}

/// The world of these bodies with the detection of its contacts; what is refused is reported where the body stands.
fn build_world(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    (mut builder, bodies): (WorldBuilder, Vec<ReadBody>),
) -> Option<(World, CollisionDetection)> {
    let spans: Vec<Range<usize>> = bodies.iter().map(|b| b.span.clone()).collect();
    for body in bodies {
        builder = builder.body(body.body);
    }
    let built = builder.build();
    let about = |error| {
        table
            .list("bodies")
            .iter()
            .find(|body| mentions(body, error))
    };
    let place = built.as_ref().err().and_then(about).unwrap_or(value);
    let world = reader.made(&place.span, built)?;
    let detection = CollisionDetection::new(&world);
    let place = detection.as_ref().err().and_then(|error| {
        let name = named_body(error)?;
        let index = world.bodies.iter().position(|b| b.name == name)?;
        Some(&spans[index])
    });
    let detection = reader.made(place.unwrap_or(&value.span), detection)?;
    report_overlaps(reader, &world, &detection, &spans);
    Some((world, detection))
}

fn read_dimension(reader: &mut Reader, world: &Table) -> Option<Dimension> {
    let Some(value) = world.value("dimension") else {
        return Some(Dimension::Space);
    };
    match value.data {
        Data::Number(2.0) => Some(Dimension::Plane),
        Data::Number(3.0) => Some(Dimension::Space),
        Data::Number(other) => reader.refuse(
            &value.span,
            format!("`dimension` must be 2 or 3, found {other}"),
        ),
        _ => None,
    }
}

/// Keys and settings that worlds do not have.
fn refuse_foreign(reader: &mut Reader, table: &Table, settings: &Settings) {
    reader.refuse_keys(
        table,
        &[
            "definitions",
            "initial",
            "history",
            "drawing",
            "contacts",
            "impact_map",
        ],
        |key| format!("`{key}` has no place in the scene of a world"),
        "bodies have their own positions and velocities, and their contacts are found",
    );
    if !matches!(settings.scheme, Scheme::MoreauJean | Scheme::Moreau) {
        let span = table.value("scheme").map_or(0..0, |v| v.span.clone());
        let message = format!("the scheme `{}` does not step worlds", settings.scheme);
        let help = "worlds have moreau-jean and moreau";
        reader.report(Diagnostic::at(span, message).with_help(help));
    }
    reader.refuse_keys(
        table,
        &["adaptive", "compliance_time"],
        |key| format!("`{key}` does not exist in worlds"),
        "",
    );
    if settings.on_several == OnSeveral::Branch {
        let span = table.value("on_several").map_or(0..0, |v| v.span.clone());
        let message = "a run of a world does not follow branches";
        let help = "`branches` lists the solutions of one step";
        reader.report(Diagnostic::at(span, message).with_help(help));
    }
}

/// Parameters must not hide the state that forces may read.
fn refuse_names(reader: &mut Reader, table: &Table, dimension: Dimension) {
    let parameters = table.table("parameters");
    for entry in parameters.map(|t| &t.entries[..]).unwrap_or_default() {
        if state_names(dimension)
            .iter()
            .any(|(name, _)| *name == entry.name)
        {
            let message = format!("`{}` is part of the state of a body in a world", entry.name);
            let help = "choose another name for the parameter";
            reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
        }
    }
}

fn check_names(reader: &mut Reader, bodies: &[ReadBody]) {
    let mut seen: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
    let mut reported: Vec<&str> = Vec::new();
    for body in bodies {
        let first = seen.insert(&body.body.name, &body.span);
        if first.is_some() && !reported.contains(&body.base.as_str()) {
            let message = format!("two bodies are called `{}`", body.body.name);
            reader.report(Diagnostic::at(body.span.clone(), message));
            reported.push(&body.base);
        }
    }
}

fn resolve_groups(reader: &mut Reader, bodies: &mut [ReadBody]) {
    let mut groups: Vec<String> = Vec::new();
    for body in bodies.iter_mut() {
        let Some(group) = &body.group else { continue };
        let number = groups.iter().position(|g| g == group).unwrap_or_else(|| {
            groups.push(group.clone());
            groups.len() - 1
        });
        body.body.group = number as u32 + 1;
    }
    // One list is shared by all bodies of a grid.
    let mut known: Vec<(*const (String, Range<usize>), Vec<u32>)> = Vec::new();
    for k in 0..bodies.len() {
        let ignores = bodies[k].ignores.clone();
        if ignores.is_empty() {
            continue;
        }
        let numbers = match known.iter().find(|(list, _)| *list == ignores.as_ptr()) {
            Some((_, numbers)) => numbers.clone(),
            None => {
                let mut numbers: Vec<u32> = Vec::new();
                for (name, span) in ignores.iter() {
                    numbers.extend(find_named(reader, bodies, name, span).unwrap_or_default());
                }
                numbers.sort_unstable();
                numbers.dedup();
                known.push((ignores.as_ptr(), numbers.clone()));
                numbers
            }
        };
        bodies[k].body.ignores = numbers;
    }
}

/// Per material: whether a free body has it, whether any body has it.
fn used_materials(bodies: &[ReadBody], materials: &Materials) -> Vec<[bool; 2]> {
    let mut used = vec![[false; 2]; materials.list.len()];
    for body in bodies {
        let entry = &mut used[body.body.material as usize];
        entry[0] |= body.body.is_free();
        entry[1] = true;
    }
    used
}

/// The body an error is about.
fn named_body(error: &WorldError) -> Option<&str> {
    match error {
        WorldError::DuplicateName { name: body }
        | WorldError::NonFinite { body, .. }
        | WorldError::NotPositive { body, .. }
        | WorldError::Moments { body, .. }
        | WorldError::Quaternion { body, .. }
        | WorldError::OutOfPlane { body, .. }
        | WorldError::FreeObstacle { body, .. }
        | WorldError::Shape { body, .. }
        | WorldError::Material { body, .. } => Some(body),
        _ => None,
    }
}

/// Whether an error is about this entry of the file.
fn mentions(value: &Value, error: &WorldError) -> bool {
    let name = value.as_table().and_then(|table| table.text("name"));
    let about = named_body(error).map(|body| body.split('[').next().unwrap_or(body));
    name.is_some() && name == about
}

/// Overlap at the start that is corrected, in parts of the size; larger ones are refused.
const OVERLAP_MAX: f64 = 1e-4;
/// Most overlaps that are told one by one.
const OVERLAPS_TOLD: usize = 20;

fn report_overlaps(
    reader: &mut Reader,
    world: &World,
    detection: &CollisionDetection,
    spans: &[Range<usize>],
) {
    let mut state = WorldState::default();
    let (q, v) = (world.start_coordinates(), world.start_velocities());
    state.read(world, 0.0, &q, &v);
    let mut found = Vec::new();
    detection.clone().find(world, &state, 0.0, &mut found);
    let mut worst: BTreeMap<[u32; 2], f64> = BTreeMap::new();
    for contact in &found {
        let [a, b] = contact.key.owners.map(|k| k as usize);
        let size = world.bodies[a].size.min(world.bodies[b].size);
        if contact.gap < -OVERLAP_MAX * size {
            let depth = worst.entry(contact.key.owners).or_insert(0.0);
            *depth = depth.max(-contact.gap);
        }
    }
    let count = worst.len();
    for ([a, b], depth) in worst.into_iter().take(OVERLAPS_TOLD) {
        let (x, y) = (&world.bodies[a as usize], &world.bodies[b as usize]);
        let message = format!(
            "`{}` and `{}` overlap by {} at the start",
            x.name,
            y.name,
            typed(depth, 4)
        );
        let size = x.size.min(y.size);
        let help = format!(
            "up to {} (1e-4 of their size) is corrected; {count} pairs overlap by more",
            typed(OVERLAP_MAX * size, 2)
        );
        let span = spans[b as usize].clone();
        reader.report(Diagnostic::at(span, message).with_help(help));
    }
}

impl WorldModel {
    /// Coordinates and velocities at the start.
    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        (
            self.world.start_coordinates(),
            self.world.start_velocities(),
        )
    }

    /// Names of the coordinates.
    pub fn coordinate_names(&self) -> Vec<String> {
        self.world.coordinate_names().to_vec()
    }
}
