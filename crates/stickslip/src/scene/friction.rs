//! Friction sets of contacts: a coefficient, or a table with one shape.

use super::diagnostic::Diagnostic;
use super::expression::Expression;
use super::key_kinds::Variables;
use super::reader::Reader;
use super::value::{Data, Table, Value};

/// The friction set of a contact.
#[derive(Clone, Debug)]
pub(super) struct FrictionModel {
    /// Factors of the product: sliding, then rolling and drilling. Empty without friction.
    pub parts: Vec<FrictionPart>,
    /// Factor that varies with time and position.
    pub coefficient: Option<Expression>,
}

/// One factor of a friction set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FrictionPart {
    Disc {
        radius: f64,
        dimension: usize,
    },
    Ellipse([f64; 2]),
    Polygon(Vec<[f64; 2]>),
    /// Polygon with rays.
    Polyhedron(Vec<[f64; 2]>, Vec<[f64; 2]>),
    Interval([f64; 2]),
}

impl FrictionPart {
    pub fn dimension(&self) -> usize {
        match self {
            Self::Disc { dimension, .. } => *dimension,
            Self::Ellipse(_) | Self::Polygon(_) | Self::Polyhedron(..) => 2,
            Self::Interval(_) => 1,
        }
    }

    /// Whether the set is bounded, as cones of real reactions are.
    pub fn is_bounded(&self) -> bool {
        match self {
            Self::Interval(ends) => ends.iter().all(|x| x.is_finite()),
            Self::Polyhedron(..) => false,
            Self::Disc { .. } | Self::Ellipse(_) | Self::Polygon(_) => true,
        }
    }
}

/// The sliding part of the friction set and its varying coefficient.
pub(super) fn read_friction(
    reader: &mut Reader,
    table: &Table,
    tangents: usize,
) -> (Option<FrictionPart>, Option<Expression>) {
    let Some(value) = table.value("friction") else {
        return (None, None);
    };
    let (part, coefficient) = match &value.data {
        Data::Table(set) => read_friction_set(reader, set, value, tangents),
        _ => read_coefficient(reader, value, tangents),
    };
    // A frame that was given but wrong has been reported.
    let given = ["point", "slip", "tangents"]
        .iter()
        .any(|key| table.get(key).is_some());
    if part.is_some() && tangents == 0 && given {
        return (None, None);
    }
    if part.is_some() && tangents == 0 {
        let message = "friction needs a direction: give `point`, `slip` or `tangents`";
        let help = "for instance point = [\"x\", \"y\"] or slip = \"x'\"";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        return (None, None);
    }
    (part, coefficient)
}

/// A coefficient alone: a disc, constant or multiplied by a function.
fn read_coefficient(
    reader: &mut Reader,
    value: &Value,
    dimension: usize,
) -> (Option<FrictionPart>, Option<Expression>) {
    let Some(mu) = reader.expression(value, Variables::Friction) else {
        return (None, None);
    };
    match reader.graph.constant_value(mu) {
        Some(0.0) => (None, None),
        Some(radius) if radius > 0.0 && radius.is_finite() => {
            (Some(FrictionPart::Disc { radius, dimension }), None)
        }
        Some(radius) => {
            let message = format!("`friction` must be zero or positive, found {radius}");
            reader.report(Diagnostic::at(value.span.clone(), message));
            (None, None)
        }
        None => (
            Some(FrictionPart::Disc {
                radius: 1.0,
                dimension,
            }),
            Some(mu),
        ),
    }
}

fn read_friction_set(
    reader: &mut Reader,
    set: &Table,
    value: &Value,
    dimension: usize,
) -> (Option<FrictionPart>, Option<Expression>) {
    let coefficient = set
        .value("coefficient")
        .and_then(|v| reader.expression(v, Variables::Friction));
    let shapes: Vec<&str> = ["disc", "ellipse", "polygon", "interval"]
        .into_iter()
        .filter(|key| set.get(key).is_some())
        .collect();
    let [shape] = shapes[..] else {
        let message = match shapes.len() {
            0 => "the friction set has no shape".to_owned(),
            _ => format!("the friction set has several shapes: {}", shapes.join(", ")),
        };
        let help = "give one of disc, ellipse, polygon, interval";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        return (None, None);
    };
    let part = match shape {
        "disc" => reader
            .number(set, "disc", "zero or positive", |x| x >= 0.0)
            .map(|radius| FrictionPart::Disc { radius, dimension }),
        "ellipse" => pair(reader, set, "ellipse").and_then(|axes| {
            let good = axes.iter().all(|&a| a > 0.0);
            check_set(
                reader,
                set,
                "ellipse",
                good,
                "must have two positive semi-axes",
            )
            .then_some(FrictionPart::Ellipse(axes))
        }),
        "interval" => ends(reader, set).and_then(|[lower, upper]| {
            let good = lower <= 0.0 && upper >= 0.0 && lower < upper;
            check_set(
                reader,
                set,
                "interval",
                good,
                "must contain 0 and have two different ends",
            )
            .then_some(FrictionPart::Interval([lower, upper]))
        }),
        _ => read_polygon(reader, set),
    };
    (part, coefficient)
}

/// The ends of an interval, of which both may be infinite.
fn ends(reader: &mut Reader, set: &Table) -> Option<[f64; 2]> {
    let list = set.value("interval")?.as_list()?;
    let end = |reader: &mut Reader, value: &Value| match value.as_text() {
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        _ => reader.constant(value),
    };
    let found: Vec<Option<f64>> = list.iter().map(|value| end(reader, value)).collect();
    found
        .into_iter()
        .collect::<Option<Vec<f64>>>()?
        .try_into()
        .ok()
}

fn pair(reader: &mut Reader, set: &Table, key: &str) -> Option<[f64; 2]> {
    let value = set.value(key)?;
    reader.constants(value)?.try_into().ok()
}

fn check_set(reader: &mut Reader, set: &Table, key: &str, good: bool, must: &str) -> bool {
    if !good && let Some(value) = set.value(key) {
        reader.report(Diagnostic::at(
            value.span.clone(),
            format!("`{key}` {must}"),
        ));
    }
    good
}

/// Vertices of a convex polygon around 0, in either direction.
fn read_polygon(reader: &mut Reader, set: &Table) -> Option<FrictionPart> {
    let value = set.value("polygon")?;
    let vertices = points(reader, value)?;
    if let Some(rays) = set.value("rays") {
        let rays = points(reader, rays)?;
        return Some(FrictionPart::Polyhedron(vertices, rays));
    }
    // Around a convex polygon with 0 inside, consecutive cross products keep one sign.
    let n = vertices.len();
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let around: Vec<f64> = (0..n)
        .map(|k| cross(vertices[k], vertices[(k + 1) % n]))
        .collect();
    let good = around.iter().all(|&c| c >= 0.0) || around.iter().all(|&c| c <= 0.0);
    let spread = around.iter().any(|&c| c != 0.0);
    check_set(
        reader,
        set,
        "polygon",
        good && spread,
        "must go once around 0",
    )
    .then_some(FrictionPart::Polygon(vertices))
}

/// A list of points of the plane.
fn points(reader: &mut Reader, value: &Value) -> Option<Vec<[f64; 2]>> {
    let mut points = Vec::new();
    for point in value.as_list()? {
        points.push(reader.constants(point)?.try_into().ok()?);
    }
    Some(points)
}
