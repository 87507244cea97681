//! Shapes of bodies, read from `shape` and `shapes`.

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::scene_file::read_file;
use super::value::{Data, Table, Value};
use super::world_keys::{SHAPE, SHAPE_PLACE};
use crate::systems::world::{Dimension, MeshFile, PlacedShape, Pose, Shape, ShapeError};

/// A vector of the world: z is 0 in the plane.
pub(super) fn vector(
    reader: &mut Reader,
    table: &Table,
    key: &str,
    dimension: Dimension,
) -> Option<[f64; 3]> {
    let value = table.value(key)?;
    let list = reader.constants(value)?;
    in_space(reader, value, &list, dimension)
}

/// Two or three numbers as a vector, checked against the dimension.
pub(super) fn in_space(
    reader: &mut Reader,
    value: &Value,
    list: &[f64],
    dimension: Dimension,
) -> Option<[f64; 3]> {
    match (list, dimension) {
        ([x, y], Dimension::Plane) => Some([*x, *y, 0.0]),
        ([x, y, z], Dimension::Space) => Some([*x, *y, *z]),
        _ => {
            let axes = dimension.axes();
            let message = format!("expected {axes} entries here, found {}", list.len());
            let place = match dimension {
                Dimension::Plane => "the world is a plane: x and y",
                Dimension::Space => "the world is space: x, y and z",
            };
            reader.refuse_with(&value.span, message, place)
        }
    }
}

/// A rotation vector of space, or an angle of the plane.
pub(super) fn turn(
    reader: &mut Reader,
    table: &Table,
    key: &str,
    dimension: Dimension,
) -> Option<[f64; 3]> {
    let value = table.value(key)?;
    match (&value.data, dimension) {
        (Data::List(_), Dimension::Space) => reader.constants(value)?.try_into().ok(),
        (Data::List(_), Dimension::Plane) => {
            reader.refuse(&value.span, format!("`{key}` is one number in the plane"))
        }
        (_, Dimension::Plane) => Some([0.0, 0.0, reader.constant(value)?]),
        (_, Dimension::Space) => {
            reader.refuse(&value.span, format!("`{key}` has 3 entries in space"))
        }
    }
}

/// Pose from `position` (or `at`), `rotation` and `quaternion`.
pub(super) fn read_pose(
    reader: &mut Reader,
    table: &Table,
    position: &str,
    dimension: Dimension,
) -> Pose {
    let at = vector(reader, table, position, dimension).unwrap_or([0.0; 3]);
    let rotation = turn(reader, table, "rotation", dimension).unwrap_or([0.0; 3]);
    let mut pose = match dimension {
        Dimension::Space => Pose::turned(at, rotation),
        Dimension::Plane => Pose::planar(at[0], at[1], rotation[2]),
    };
    if let Some(entry) = table.get("quaternion") {
        if table.get("rotation").is_some() {
            let message = "`quaternion` stands beside `rotation`: give one of them";
            reader.report(Diagnostic::at(entry.name_span.clone(), message));
        }
        let list = reader.constants(&entry.value);
        if let Some(q) = list.and_then(|list| <[f64; 4]>::try_from(list).ok()) {
            let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            let leaves = dimension == Dimension::Plane && (q[1] != 0.0 || q[2] != 0.0);
            if (length - 1.0).abs() > 1e-3 || leaves {
                let message = if leaves {
                    "a rotation of the plane has x = y = 0 in its quaternion".to_owned()
                } else {
                    format!("the quaternion has length {length}, expected 1")
                };
                reader.report(Diagnostic::at(entry.value.span.clone(), message));
            } else {
                pose.rotation = q.map(|x| x / length);
            }
        }
    }
    pose
}

/// Reads one shape with its place in the body; files it names are listed.
pub(super) fn read_shape(
    reader: &mut Reader,
    value: &Value,
    dimension: Dimension,
    files: &mut Vec<String>,
) -> Option<PlacedShape> {
    let table = value.as_table()?;
    let given: Vec<&str> = SHAPE
        .keys
        .iter()
        .map(|key| key.name)
        .filter(|name| !SHAPE_PLACE.contains(name) && table.get(name).is_some())
        .collect();
    let pose = read_pose(reader, table, "at", dimension);
    let [kind] = given[..] else {
        let message = match given.len() {
            0 => "the shape has no form".to_owned(),
            _ => format!("the shape has several forms: {}", given.join(", ")),
        };
        let forms: Vec<&str> = SHAPE
            .keys
            .iter()
            .map(|key| key.name)
            .filter(|name| !SHAPE_PLACE.contains(name))
            .collect();
        let help = format!("give one of {}", forms.join(", "));
        return reader.refuse_with(&value.span, message, help);
    };
    let entry = table.get(kind)?;
    let only = match kind {
        "disc" | "rectangle" | "polygon" | "segment" | "half_plane" => Some(Dimension::Plane),
        "ball" | "box" | "half_space" | "cylinder" | "cone" | "hull" | "mesh" | "height_field" => {
            Some(Dimension::Space)
        }
        _ => None,
    };
    if only.is_some_and(|only| only != dimension) {
        let (here, instead) = match dimension {
            Dimension::Plane => (
                "the plane",
                "disc, rectangle, polygon, capsule, segment, half_plane",
            ),
            Dimension::Space => (
                "space",
                "ball, box, capsule, cylinder, cone, hull, mesh, height_field, half_space",
            ),
        };
        let message = format!("`{kind}` does not exist in {here}");
        let help = format!("shapes of {here}: {instead}");
        return reader.refuse_with(&entry.name_span, message, help);
    }
    let shape = form(reader, kind, &entry.value, files)?;
    let shape = reader.made(&entry.value.span, shape)?;
    Some(PlacedShape { shape, pose })
}

fn form(
    reader: &mut Reader,
    kind: &str,
    value: &Value,
    files: &mut Vec<String>,
) -> Option<Result<Shape, ShapeError>> {
    let round = |reader: &mut Reader, make: fn(f64, f64) -> Result<Shape, ShapeError>| {
        let table = value.as_table()?;
        let radius = table.value("radius").and_then(|v| reader.constant(v));
        let length = table.value("length").and_then(|v| reader.constant(v));
        Some(make(radius?, length?))
    };
    match kind {
        "ball" | "disc" => reader.constant(value).map(Shape::ball),
        "box" => Some(Shape::cuboid(reader.constants(value)?.try_into().ok()?)),
        "rectangle" => Some(Shape::rectangle(reader.constants(value)?.try_into().ok()?)),
        "capsule" => round(reader, Shape::capsule),
        "cylinder" => round(reader, Shape::cylinder),
        "cone" => round(reader, Shape::cone),
        "half_space" => Some(Shape::half_space(reader.constants(value)?.try_into().ok()?)),
        "half_plane" => {
            let [x, y]: [f64; 2] = reader.constants(value)?.try_into().ok()?;
            Some(Shape::half_space([x, y, 0.0]))
        }
        "polygon" => points::<2>(reader, value).map(|p| Shape::polygon(&p)),
        "segment" => points::<2>(reader, value)
            .and_then(|p| <[[f64; 2]; 2]>::try_from(p).ok())
            .map(Shape::segment),
        "hull" if value.as_text().is_none() => points::<3>(reader, value).map(|p| Shape::hull(&p)),
        "hull" => mesh_file(reader, value, files).map(|mesh| Shape::hull(&mesh.vertices)),
        "mesh" => {
            mesh_file(reader, value, files).map(|mesh| Shape::mesh(&mesh.vertices, &mesh.triangles))
        }
        _ => height_field(reader, value, files),
    }
}

fn points<const N: usize>(reader: &mut Reader, value: &Value) -> Option<Vec<[f64; N]>> {
    let mut points = Vec::new();
    for point in value.as_list()? {
        points.push(reader.constants(point)?.try_into().ok()?);
    }
    Some(points)
}

fn mesh_file(reader: &mut Reader, value: &Value, files: &mut Vec<String>) -> Option<MeshFile> {
    let bytes = read_file(reader, value)?;
    let name = value.as_text()?;
    let mesh = reader.made(&value.span, MeshFile::parse(name, &bytes))?;
    if !files.iter().any(|file| file == name) {
        files.push(name.to_owned());
    }
    Some(mesh)
}

fn height_field(
    reader: &mut Reader,
    value: &Value,
    files: &mut Vec<String>,
) -> Option<Result<Shape, ShapeError>> {
    let table = value.as_table()?;
    let size: [f64; 2] = reader.constants(table.value("size")?)?.try_into().ok()?;
    let rows: Vec<Vec<f64>> = match (table.value("values"), table.value("file")) {
        (Some(values), None) => {
            let mut rows = Vec::new();
            for row in values.as_list()? {
                rows.push(reader.constants(row)?);
            }
            rows
        }
        (None, Some(file)) => {
            let bytes = read_file(reader, file)?;
            let rows = read_rows(reader, file, &bytes)?;
            files.extend(file.as_text().map(str::to_owned));
            rows
        }
        (both, _) => {
            let message = match both {
                Some(_) => "`values` and `file` are both given",
                None => "the height field has no heights",
            };
            let help = "give `values`, a list of rows, or `file`";
            return reader.refuse_with(&value.span, message, help);
        }
    };
    let counts = [rows.first().map_or(0, Vec::len), rows.len()];
    if rows.iter().any(|row| row.len() != counts[0]) {
        return Some(Err(ShapeError::Grid));
    }
    let values: Vec<f64> = rows.into_iter().flatten().collect();
    Some(Shape::height_field(&values, counts, size))
}

fn read_rows(reader: &mut Reader, file: &Value, bytes: &[u8]) -> Option<Vec<Vec<f64>>> {
    let text = String::from_utf8_lossy(bytes);
    let mut rows = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let words = line.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
        let mut row = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => row.push(number),
                _ => {
                    let name = file.as_text().unwrap_or_default();
                    let line = k + 1;
                    let message =
                        format!("`{name}`, line {line}: expected a number, found `{word}`");
                    return reader.refuse(&file.span, message);
                }
            }
        }
        if !row.is_empty() {
            rows.push(row);
        }
    }
    Some(rows)
}
