//! Meshes of a scene: built-in shapes and Gmsh files.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::elastic_words::MeshShape;
use super::expression::Expression;
use super::key_kinds::Variables;
use super::reader::Reader;
use super::scene_file::read_file;
use super::value::{Table, Value};
use super::words::SceneWords;
use crate::algebra::memory::check_memory;
use crate::quantity::digits;
use crate::systems::elastodynamic::{ElementKind, Mesh};

/// Most cells of a built-in mesh.
const CELLS_MAX: f64 = 2e6;

/// A mesh of a scene with its initial motion.
pub(super) struct SceneMesh {
    pub name: String,
    pub mesh: Mesh,
    /// Initial displacement and velocity, by component.
    pub initial: [Vec<Expression>; 2],
}

/// About the bytes of matrices and factors of a mesh, in order to refuse what is out of reach and nothing else: the
/// entries of M, K, C and their sum (3, 9 or 27 nodes meet a node of first order), and the least that nested dissection
/// leaves in the factor (n log₂ n in the plane, n^(4/3) in space).
fn memory_of(nodes: f64, space: usize) -> f64 {
    let n = nodes * space as f64;
    let row = (3f64).powi(space as i32) * space as f64;
    let factor = match space {
        1 => n,
        2 => n * n.max(2.0).log2(),
        _ => 2.0 * n.powf(4.0 / 3.0),
    };
    n * row * (4.0 * 8.0 + 4.0) + 8.0 * factor
}

/// Refuses a mesh whose matrices no memory holds, before it is made.
pub(super) fn check_nodes(
    reader: &mut Reader,
    place: &Range<usize>,
    nodes: f64,
    space: usize,
) -> Option<()> {
    let checked = check_memory(format!("a mesh of {nodes} nodes"), memory_of(nodes, space));
    reader.made(place, checked)
}

/// Reads one of `[[elastic.meshes]]`.
pub(super) fn read_mesh(reader: &mut Reader, value: &Value, k: usize) -> Option<SceneMesh> {
    let table = value.as_table()?;
    let shape = table.word::<MeshShape>("shape")?;
    let name = table.text("name");
    let name = name.map_or_else(|| format!("body{}", k + 1), str::to_owned);
    let mut initial = [Vec::new(), Vec::new()];
    for (key, field) in ["displacement", "velocity"].into_iter().zip(&mut initial) {
        if let Some(list) = table.value(key).and_then(Value::as_list) {
            *field = reader.expressions(list, Variables::Position)?;
        }
    }
    let mesh = match shape {
        MeshShape::Gmsh => read_gmsh_file(reader, table, value)?,
        shape => built_in(reader, table, value, shape)?,
    };
    let at = match table.value("at") {
        Some(value) => vector_in(reader, value, "at", mesh.dimension())?,
        None => [0.0; 3],
    };
    // A node of a beam turns as well.
    let highest = mesh.kinds().map(ElementKind::dimension).max();
    let turns = highest == Some(1) && mesh.dimension() == 2;
    let components = mesh.dimension() + usize::from(turns);
    for (key, field) in ["displacement", "velocity"].into_iter().zip(&initial) {
        if let Some(value) = table.value(key).filter(|_| field.len() > components) {
            let message = format!(
                "`{key}` has {} components, a node of this mesh {components}",
                field.len()
            );
            return reader.refuse(&value.span, message);
        }
    }
    let mesh = mesh.mapped(|x| [x[0] + at[0], x[1] + at[1], x[2] + at[2]]);
    Some(SceneMesh {
        name,
        mesh,
        initial,
    })
}

/// A vector with at most as many components as space has, filled up with zeros.
pub(super) fn vector_in(
    reader: &mut Reader,
    value: &Value,
    key: &str,
    space: usize,
) -> Option<[f64; 3]> {
    let list = reader.constants(value)?;
    if list[space.min(list.len())..].iter().any(|&x| x != 0.0) {
        let message = format!("`{key}` has {} components, space has {space}", list.len());
        return reader.refuse(&value.span, message);
    }
    Some(padded(&list))
}

/// A vector of at most three components, filled up with zeros.
pub(super) fn padded(list: &[f64]) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (o, x) in out.iter_mut().zip(list) {
        *o = *x;
    }
    out
}

fn read_gmsh_file(reader: &mut Reader, table: &Table, place: &Value) -> Option<Mesh> {
    let Some(file) = table.value("file") else {
        missing(reader, place, "file", "gmsh");
        return None;
    };
    let bytes = read_file(reader, file)?;
    let name = file.as_text().unwrap_or_default();
    let mesh = Mesh::read_gmsh(&bytes).map_err(|error| format!("`{name}`: {error}"));
    reader.made(&file.span, mesh)
}

fn missing(reader: &mut Reader, place: &Value, key: &str, shape: &str) {
    let message = format!("missing key `{key}` in [[elastic.meshes]]: a {shape} needs it");
    reader.report(Diagnostic::at(place.span.clone(), message));
}

/// A length under a key that the shape needs.
fn length(
    reader: &mut Reader,
    table: &Table,
    place: &Value,
    key: &str,
    shape: MeshShape,
) -> Option<f64> {
    if table.value(key).is_none() {
        missing(reader, place, key, shape.word());
    }
    reader.number(table, key, "positive", |x| x > 0.0)
}

/// Lengths under `size`.
fn sizes(
    reader: &mut Reader,
    table: &Table,
    place: &Value,
    count: usize,
    shape: MeshShape,
) -> Option<Vec<f64>> {
    let Some(value) = table.value("size") else {
        missing(reader, place, "size", shape.word());
        return None;
    };
    let list = reader.constants(value)?;
    if list.len() != count || list.iter().any(|&x| x <= 0.0) {
        let message = format!("`size` of a {shape} must be {count} positive lengths");
        return reader.refuse(&value.span, message);
    }
    Some(list)
}

/// Numbers of cells.
fn cells(
    reader: &mut Reader,
    table: &Table,
    place: &Value,
    count: usize,
    shape: MeshShape,
) -> Option<Vec<usize>> {
    let Some(value) = table.value("cells") else {
        missing(reader, place, "cells", shape.word());
        return None;
    };
    // The shape was checked: whole numbers from 1.
    let numbers: Vec<f64> = value
        .as_list()?
        .iter()
        .filter_map(Value::as_number)
        .collect();
    let total: f64 = numbers.iter().product();
    let squared = if shape == MeshShape::Disc {
        4.0 * total
    } else {
        1.0
    };
    let problem = if numbers.len() != count {
        format!(
            "`cells` of a {shape} must be {count} numbers, found {}",
            numbers.len()
        )
    } else if total * squared > CELLS_MAX {
        format!(
            "`cells` make {} cells, more than {}",
            digits(total, 2),
            digits(CELLS_MAX, 1)
        )
    } else {
        return Some(numbers.into_iter().map(|n| n as usize).collect());
    };
    reader.refuse(&value.span, problem)
}

fn built_in(reader: &mut Reader, table: &Table, place: &Value, shape: MeshShape) -> Option<Mesh> {
    let word = table.value("element");
    let given = word.and_then(Value::as_text);
    let (default, dimension) = match shape {
        MeshShape::Bar => (ElementKind::Line2, 1),
        MeshShape::Box => (ElementKind::Hex8, 3),
        _ => (ElementKind::Quad4, 2),
    };
    let kind = given.and_then(ElementKind::from_word).unwrap_or(default);
    let triangles = matches!(kind, ElementKind::Tri3 | ElementKind::Tri6);
    if kind.dimension() != dimension || (triangles && shape == MeshShape::Ring) {
        let message = format!("a {shape} cannot be made of `{}` elements", given?);
        let span = word.map_or(place.span.clone(), |w| w.span.clone());
        return reader.refuse(&span, message);
    }
    // Nodes of a grid of the cells; a disc has more, which its limit on cells accounts for.
    let per_cell = if kind.node_count() > 1 << dimension {
        2.0
    } else {
        1.0
    };
    let counts = table.list("cells").iter().filter_map(Value::as_number);
    let nodes: f64 = counts.map(|n| per_cell * n + 1.0).product();
    check_nodes(reader, &place.span, nodes, dimension)?;
    Some(match shape {
        MeshShape::Bar => return bar(reader, table, place, kind),
        MeshShape::Rectangle => {
            let size = sizes(reader, table, place, 2, shape);
            let cells = cells(reader, table, place, 2, shape)?;
            let size = size?;
            Mesh::rectangle((size[0], size[1]), (cells[0], cells[1]), kind)
        }
        MeshShape::Disc => {
            let radius = length(reader, table, place, "radius", shape);
            let cells = cells(reader, table, place, 1, shape)?;
            Mesh::disc(radius?, cells[0], kind)
        }
        MeshShape::Ring => {
            let radius = length(reader, table, place, "radius", shape);
            let inner = length(reader, table, place, "inner_radius", shape);
            let cells = cells(reader, table, place, 2, shape)?;
            let (inner, radius) = (inner?, radius?);
            if inner >= radius || cells[1] < 3 {
                let message = "a ring needs inner_radius < radius and 3 cells around";
                return reader.refuse(&place.span, message);
            }
            Mesh::ring((inner, radius), (cells[0], cells[1]), kind)
        }
        MeshShape::Box | MeshShape::Gmsh => {
            let size = sizes(reader, table, place, 3, shape);
            let cells = cells(reader, table, place, 3, shape)?;
            let size = size?;
            Mesh::cuboid(
                [size[0], size[1], size[2]],
                [cells[0], cells[1], cells[2]],
                kind,
            )
        }
    })
}

/// A bar between two points; their number of components is the dimension of space.
fn bar(reader: &mut Reader, table: &Table, place: &Value, kind: ElementKind) -> Option<Mesh> {
    let cells = cells(reader, table, place, 1, MeshShape::Bar)?;
    let Some(value) = table.value("to") else {
        missing(reader, place, "to", "bar");
        return None;
    };
    let to = reader.constants(value)?;
    let from = match table.value("from") {
        Some(value) => reader.constants(value)?,
        None => Vec::new(),
    };
    let dimension = to.len().max(from.len());
    let (a, b) = (padded(&from), padded(&to));
    if a == b {
        let message = "the bar has no length: `from` and `to` are the same point";
        return reader.refuse(&value.span, message);
    }
    let mesh = Mesh::bar(dimension, 1.0, cells[0], kind);
    Some(mesh.mapped(|x| [0, 1, 2].map(|k| a[k] + x[0] * (b[k] - a[k]))))
}
