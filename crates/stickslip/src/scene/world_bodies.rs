//! Bodies of a world, read from `[[bodies]]`.

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::value::{Data, Table, Value};
use super::world_keys::BODIES_MAX;
use super::world_materials::{Materials, find_material};
use super::world_motion::{SceneMotion, read_load, read_motion};
use super::world_shapes::{in_space, read_pose, read_shape, turn, vector};
use crate::systems::world::{BodyMotion, Dimension, Grid, PlacedShape, Pose, Weight, WorldBody};

/// A body with what is known only when all are read.
#[derive(Clone)]
pub(super) struct ReadBody {
    pub body: WorldBody,
    /// Name without the number of a grid.
    pub base: String,
    pub group: Option<String>,
    /// Names it ignores, with their places.
    pub ignores: Arc<[(String, Range<usize>)]>,
    pub span: Range<usize>,
}

/// What the readers of bodies share.
pub(super) struct Context<'a> {
    pub materials: &'a Materials,
    pub dimension: Dimension,
    pub files: Vec<String>,
    pub bodies: Vec<ReadBody>,
}

impl Context<'_> {
    /// Whether more bodies fit; reports if not.
    pub fn has_room(&self, reader: &mut Reader, more: usize, span: &Range<usize>) -> bool {
        let fits = self.bodies.len().saturating_add(more) <= BODIES_MAX;
        if !fits {
            reader.report(Diagnostic::at(
                span.clone(),
                format!("more than {BODIES_MAX} bodies"),
            ));
        }
        fits
    }
}

/// The material of a table: the one it names, or the only one.
pub(super) fn material_of(
    reader: &mut Reader,
    table: &Table,
    span: &Range<usize>,
    materials: &Materials,
) -> Option<usize> {
    match (table.value("material"), &materials.list[..]) {
        (Some(value), list) => find_material(reader, list, value),
        (None, [_]) => Some(0),
        (None, list) => {
            let message = if list.is_empty() {
                "the world has no materials"
            } else {
                "missing key `material`: the world has several"
            };
            let names: Vec<&str> = list.iter().map(|m| m.name.as_str()).collect();
            let help = if list.is_empty() {
                "add [[materials]] with `name` and `friction`".to_owned()
            } else {
                format!("materials: {}", names.join(", "))
            };
            reader.refuse_with(span, message, help)
        }
    }
}

/// Reads one of `[[bodies]]`.
pub(super) fn read_body(reader: &mut Reader, value: &Value, context: &mut Context) -> Option<()> {
    let table = value.as_table()?;
    let dimension = context.dimension;
    let name = table.text("name")?.to_owned();
    check_name(reader, table, &name);
    let material = material_of(reader, table, &value.span, context.materials);
    let shapes = read_shapes(reader, table, value, dimension, &mut context.files);
    let pose = read_pose(reader, table, "position", dimension);
    let fixed = table.flag("fixed") == Some(true);
    let motion = read_motion(reader, table, &pose, dimension);
    if let Some(entry) = table.get("motion").filter(|_| fixed) {
        reader.report(Diagnostic::at(
            entry.name_span.clone(),
            "a fixed body has no `motion`",
        ));
    }
    let free = !fixed && table.get("motion").is_none();
    let velocity = vector(reader, table, "velocity", dimension);
    let spin = turn(reader, table, "spin", dimension);
    let load = read_load(reader, table, dimension);
    if !free {
        reader.refuse_keys(
            table,
            &[
                "velocity", "spin", "force", "torque", "mass", "inertia", "centre",
            ],
            |key| format!("`{key}` belongs to free bodies, this one is fixed or driven"),
            "",
        );
    }
    let weight = read_weight(reader, table, dimension);
    let grid = read_grid(reader, table, dimension);
    let ignores: Arc<[(String, Range<usize>)]> = table
        .list("ignores")
        .iter()
        .filter_map(|v| Some((v.as_text()?.to_owned(), v.span.clone())))
        .collect();
    let group = table.text("group").map(str::to_owned);
    let (material, shapes) = (material?, shapes?);

    let density = context.materials.list[material].density;
    if free && density.is_none() && weight.mass.is_none() {
        let material = &context.materials.list[material].name;
        let message = format!("`{name}` has no mass: the material `{material}` has no density");
        let help = "give `density` in [[materials]] or `mass` here";
        return reader.refuse_with(&value.span, message, help);
    }
    let made = if free {
        let weight = Weight { density, ..weight };
        WorldBody::of_shapes(name.as_str(), &shapes, &weight, dimension)
    } else {
        WorldBody::obstacle(name.as_str(), &shapes, dimension).map(|body| (body, Pose::IDENTITY))
    };
    let place = table.value("shape").or(table.value("shapes"));
    let (mut body, frame) = reader.made(&place.unwrap_or(value).span, made)?;
    body.material = material as u32;
    body.collides = table.flag("collides").unwrap_or(true);
    if free {
        body.start.1.velocity = velocity.unwrap_or([0.0; 3]);
        // Spin is given in the axes of the body frame, kept in the principal ones.
        body.start.1.spin = frame.body_direction(spin.unwrap_or([0.0; 3]));
        body.force = load.map(|load| load as Arc<dyn crate::systems::world::BodyForce>);
    }
    let count = grid.as_ref().map_or(1, |g| g.total());
    if !context.has_room(reader, count, &value.span) {
        return None;
    }
    let read = ReadBody {
        body,
        base: name,
        group,
        ignores,
        span: value.span.clone(),
    };
    place_bodies(
        &read,
        (&pose, &frame),
        (grid.as_ref(), motion.as_ref()),
        context,
    );
    Some(())
}

/// Puts a body, or each of its grid, where it is or moves.
fn place_bodies(
    read: &ReadBody,
    (pose, frame): (&Pose, &Pose),
    (grid, motion): (Option<&Grid>, Option<&SceneMotion>),
    context: &mut Context,
) {
    for k in 0..grid.map_or(1, Grid::total) {
        let mut one = read.clone();
        let mut shift = [0.0; 3];
        if let Some(grid) = grid {
            shift = grid.shift(k, context.dimension);
            one.body.name = format!("{}[{k}]", read.base);
        }
        match motion {
            Some(motion) => drive(&mut one.body, motion.shifted(shift)),
            None => {
                let mut at = *pose;
                at.position = std::array::from_fn(|i| at.position[i] + shift[i]);
                one.body.start.0 = at.times(frame);
            }
        }
        context.bodies.push(one);
    }
}

fn drive(body: &mut WorldBody, motion: SceneMotion) {
    use crate::systems::world::DrivenMotion;
    body.start = (motion.pose(0.0), motion.velocity(0.0));
    body.motion = BodyMotion::Driven(Arc::new(motion));
}

/// Names appear in columns and contacts: they must not hold the signs that part them.
fn check_name(reader: &mut Reader, table: &Table, name: &str) {
    let bad = name.is_empty()
        || name.len() > 64
        || name.contains(|c: char| c.is_control() || "|#[].\"".contains(c));
    if bad && let Some(value) = table.value("name") {
        let message = format!("`{name}` cannot be the name of a body");
        let help = "1 to 64 characters without | # [ ] . and quotes";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
}

fn read_shapes(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    dimension: Dimension,
    files: &mut Vec<String>,
) -> Option<Vec<PlacedShape>> {
    match (table.value("shape"), table.value("shapes")) {
        (Some(shape), None) => read_shape(reader, shape, dimension, files).map(|s| vec![s]),
        (None, Some(list)) => {
            let list = list.as_list()?;
            if list.is_empty() {
                return reader.refuse(&value.span, "`shapes` is empty");
            }
            // Every shape is read, so that every mistake is told.
            let shapes: Vec<Option<PlacedShape>> = list
                .iter()
                .map(|shape| read_shape(reader, shape, dimension, files))
                .collect();
            shapes.into_iter().collect()
        }
        (Some(_), Some(list)) => reader.refuse(&list.span, "`shape` and `shapes` are both given"),
        (None, None) => {
            let message = "missing key `shape` in [[bodies]]";
            let help =
                "for instance shape = { box = [1, 1, 1] }, in the plane shape = { disc = 1 }";
            reader.refuse_with(&value.span, message, help)
        }
    }
}

fn read_weight(reader: &mut Reader, table: &Table, dimension: Dimension) -> Weight {
    let mass = reader.number(table, "mass", "positive", |x| x > 0.0);
    let centre = vector(reader, table, "centre", dimension);
    let inertia = table
        .value("inertia")
        .and_then(|value| read_inertia(reader, value, dimension));
    Weight {
        density: None,
        mass,
        inertia,
        centre,
    }
}

fn read_inertia(reader: &mut Reader, value: &Value, dimension: Dimension) -> Option<[[f64; 3]; 3]> {
    let list = match &value.data {
        Data::List(_) => reader.constants(value)?,
        _ => vec![reader.constant(value)?],
    };
    let matrix = match (&list[..], dimension) {
        ([a, b, c], Dimension::Space) => Some([[*a, 0.0, 0.0], [0.0, *b, 0.0], [0.0, 0.0, *c]]),
        ([xx, yy, zz, xy, xz, yz], Dimension::Space) => {
            Some([[*xx, *xy, *xz], [*xy, *yy, *yz], [*xz, *yz, *zz]])
        }
        ([zz], Dimension::Plane) => {
            let mut matrix = [[0.0; 3]; 3];
            matrix[2][2] = *zz;
            Some(matrix)
        }
        _ => None,
    };
    if matrix.is_none() {
        let message = match dimension {
            Dimension::Plane => "`inertia` is one number in the plane",
            Dimension::Space => {
                "`inertia` has 3 principal moments or 6 numbers xx, yy, zz, xy, xz, yz"
            }
        };
        reader.report(Diagnostic::at(value.span.clone(), message));
    }
    matrix
}

fn read_grid(reader: &mut Reader, table: &Table, dimension: Dimension) -> Option<Grid> {
    let repeat = table.value("repeat")?.as_table()?;
    let count_value = repeat.value("count")?;
    let numbers: Vec<f64> = count_value
        .as_list()?
        .iter()
        .filter_map(Value::as_number)
        .collect();
    let in_axes = in_space(reader, count_value, &numbers, dimension)?;
    let spacing = vector(reader, repeat, "spacing", dimension)?;
    let stagger = vector(reader, repeat, "stagger", dimension).unwrap_or([0.0; 3]);
    Some(Grid {
        // Counts were checked to be whole numbers from 1.
        count: in_axes.map(|n| (n as usize).max(1)),
        spacing,
        stagger,
    })
}
