//! Contacts of a system in generalized coordinates, read from `[[contacts]]`.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::expression::{Binary, Expression, Graph, Unary};
use super::keys::Variables;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Data, Table, Value};
use super::words::{Impact, Law};

/// One contact as expressions.
#[derive(Clone, Debug)]
pub(super) struct ContactModel {
    pub name: String,
    pub gap: Expression,
    /// Normal row of the material point, if the contact has one; otherwise dφ is the normal row.
    pub normal_row: Option<Vec<Expression>>,
    /// Rows of the tangents, then of rolling and drilling.
    pub tangent_rows: Vec<Vec<Expression>>,
    /// Local velocities at v = 0: of the normal row (if any), then of the tangent rows.
    pub drift: Vec<Expression>,
    pub friction: FrictionModel,
    pub impact: Impact,
    pub restitution: f64,
    pub span: Range<usize>,
    pub gap_span: Range<usize>,
    pub normal_span: Option<Range<usize>>,
}

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
    Disc { radius: f64, dimension: usize },
    Ellipse([f64; 2]),
    Polygon(Vec<[f64; 2]>),
    Interval([f64; 2]),
}

impl FrictionPart {
    fn dimension(&self) -> usize {
        match self {
            Self::Disc { dimension, .. } => *dimension,
            Self::Ellipse(_) | Self::Polygon(_) => 2,
            Self::Interval(_) => 1,
        }
    }
}

/// Rows of a contact frame with their drift.
struct Frame {
    normal: Option<(Vec<Expression>, Expression)>,
    tangents: Vec<(Vec<Expression>, Expression)>,
    span: Range<usize>,
}

/// Reads `[[contacts]]` of a system in generalized coordinates.
pub(super) fn read_contacts(
    reader: &mut Reader,
    list: &[Value],
    settings: &Settings,
) -> Vec<ContactModel> {
    let mut contacts: Vec<ContactModel> = Vec::new();
    for (k, value) in list.iter().enumerate() {
        let Some(table) = value.as_table() else {
            continue;
        };
        for key in ["arm", "radius", "plane", "offset"] {
            if let Some(entry) = table.get(key) {
                let message = format!("`{key}` belongs to contacts of a rigid body");
                let help = "in generalized coordinates give `gap` as an expression";
                reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
            }
        }
        let name = contact_name(reader, table, value, k, |n| {
            contacts.iter().any(|c| c.name == n)
        });
        if let Some(contact) = read_contact(reader, table, value, name, settings) {
            contacts.push(contact);
        }
    }
    contacts
}

/// The name of contact number `k`, reported if it is taken.
pub(super) fn contact_name(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    k: usize,
    taken: impl Fn(&str) -> bool,
) -> String {
    let given = table.value("name").and_then(Value::as_text);
    let name = given.map_or_else(|| format!("contact {}", k + 1), str::to_owned);
    if taken(&name) {
        let span = table.value("name").map_or(&value.span, |v| &v.span).clone();
        reader.report(Diagnostic::at(
            span,
            format!("two contacts are called `{name}`"),
        ));
    }
    name
}

fn read_contact(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    name: String,
    settings: &Settings,
) -> Option<ContactModel> {
    let gap = match table.value("gap") {
        Some(gap) => reader.expression(gap, Variables::PositionTime),
        None => {
            let message = "missing key `gap` in [[contacts]]";
            let help = "the gap is positive when open and zero in contact";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
            None
        }
    };
    let frame = read_frame(reader, table);
    let rolling = read_velocities(reader, table, "rolling");
    let drilling = read_velocities(reader, table, "drilling");
    let (impact, restitution) = read_impact(reader, table, settings);
    let frame = match (frame, gap) {
        (Some(frame), Some(gap)) => Some(with_moving_surface(reader, frame, gap)),
        (frame, _) => frame,
    };
    let tangent_count = frame.as_ref().map_or(0, |frame| frame.tangents.len());
    let (sliding, coefficient) = read_friction(reader, table, tangent_count);

    let mut parts = Vec::new();
    let mut rows = Vec::new();
    let frame = frame.unwrap_or(Frame {
        normal: None,
        tangents: Vec::new(),
        span: value.span.clone(),
    });
    if let Some(sliding) = sliding {
        if sliding.dimension() != frame.tangents.len() && !frame.tangents.is_empty() {
            let message = format!(
                "the friction set has dimension {}, the contact has {}",
                sliding.dimension(),
                tangents_in_words(frame.tangents.len())
            );
            let span = table
                .value("friction")
                .map_or(&frame.span, |v| &v.span)
                .clone();
            reader.report(Diagnostic::at(span, message));
            return None;
        }
        if !frame.tangents.is_empty() {
            parts.push(sliding);
            rows.extend(frame.tangents);
        }
    }
    for (key, velocities) in [
        ("rolling_friction", rolling),
        ("drilling_friction", drilling),
    ] {
        let radius = reader
            .number(table, key, "zero or positive", |x| x >= 0.0)
            .unwrap_or(0.0);
        let Some(velocities) = velocities else {
            if radius > 0.0 {
                let velocity = &key[..key.len() - "_friction".len()];
                let entry = table
                    .get(key)
                    .map_or(&value.span, |entry| &entry.name_span)
                    .clone();
                let message = format!("`{key}` needs the angular velocity `{velocity}`");
                reader.report(Diagnostic::at(entry, message));
            }
            continue;
        };
        if radius > 0.0 {
            parts.push(FrictionPart::Disc {
                radius,
                dimension: velocities.len(),
            });
            rows.extend(velocities);
        }
    }
    if parts.len() > 1 && coefficient.is_some() {
        let message = "friction that varies cannot be joined with rolling or drilling friction";
        let span = table
            .value("friction")
            .map_or(&value.span, |v| &v.span)
            .clone();
        reader.report(Diagnostic::at(span, message));
    }
    if settings.law == Law::Frictionless {
        parts.clear();
        rows.clear();
    }
    let mut drift: Vec<Expression> = frame.normal.iter().map(|(_, drift)| *drift).collect();
    drift.extend(rows.iter().map(|(_, drift)| *drift));
    Some(ContactModel {
        name,
        gap: gap?,
        normal_span: frame.normal.is_some().then(|| {
            table
                .value("normal")
                .or(table.value("point"))
                .map_or(&value.span, |v| &v.span)
                .clone()
        }),
        normal_row: frame.normal.map(|(row, _)| row),
        tangent_rows: rows.into_iter().map(|(row, _)| row).collect(),
        drift,
        friction: FrictionModel { parts, coefficient },
        impact,
        restitution,
        span: value.span.clone(),
        gap_span: table
            .value("gap")
            .map_or(value.span.clone(), |v| v.span.clone()),
    })
}

/// A gap that depends on time belongs to a surface that moves along its normal: with dφ = c r, r the
/// normal row, the normal velocity at rest is (∂φ/∂t)/c.
fn with_moving_surface(reader: &mut Reader, mut frame: Frame, gap: Expression) -> Frame {
    let inputs = reader.position_inputs();
    let graph = &mut reader.graph;
    let rate = graph.gradient(gap, &[0])[0];
    if let Some((row, drift)) = frame
        .normal
        .as_mut()
        .filter(|_| graph.constant_value(rate) != Some(0.0))
    {
        let slopes = graph.gradient(gap, &inputs);
        let mut square = |entries: &[Expression]| {
            let squares: Vec<Expression> = entries.iter().map(|&e| graph.multiply(e, e)).collect();
            graph.sum(&squares)
        };
        let (own, whole) = (square(row), square(&slopes));
        let ratio = graph.divide(own, whole);
        let factor = graph.unary(Unary::Sqrt, ratio);
        *drift = graph.multiply(rate, factor);
    }
    frame
}

fn tangents_in_words(count: usize) -> String {
    if count == 1 {
        "1 tangent".to_owned()
    } else {
        format!("{count} tangents")
    }
}

/// Impact law and restitution of a contact.
pub(super) fn read_impact(
    reader: &mut Reader,
    table: &Table,
    settings: &Settings,
) -> (Impact, f64) {
    let word = table
        .value("impact")
        .and_then(Value::as_text)
        .and_then(Impact::from_word);
    let restitution = reader.number(table, "restitution", "from 0 to 1", |x| {
        (0.0..=1.0).contains(&x)
    });
    let impact = word.unwrap_or(settings.impact);
    let restitution = restitution.unwrap_or(0.0);
    // Moreau's S(q, v) is a law of inelastic contact.
    if settings.law == Law::Argmin && restitution > 0.0 && impact != Impact::Inelastic {
        let span = table.value("restitution").map_or(0..0, |v| v.span.clone());
        let message = format!("law `argmin` is inelastic, the restitution here is {restitution}");
        let help =
            "leave out the restitution, or choose law = \"coulomb\" or impact = \"inelastic\"";
        reader.report(Diagnostic::at(span, message).with_help(help));
    }
    (impact, restitution)
}

/// Rows of the frame from `point`, `slip` or `tangents`.
fn read_frame(reader: &mut Reader, table: &Table) -> Option<Frame> {
    let given: Vec<&str> = ["point", "slip", "tangents"]
        .into_iter()
        .filter(|key| table.get(key).is_some())
        .collect();
    if let [first, second, ..] = given[..] {
        let span = table.get(second).map(|entry| entry.name_span.clone())?;
        let message = format!("both `{first}` and `{second}` are given");
        let help = "each of `point`, `slip` and `tangents` defines the tangents: keep one";
        reader.report(Diagnostic::at(span, message).with_help(help));
        return None;
    }
    if let Some(entry) = table.get("normal").filter(|_| table.get("point").is_none()) {
        let message = "`normal` needs the material contact point `point`";
        reader.report(Diagnostic::at(entry.name_span.clone(), message));
    }
    match given.first() {
        Some(&"point") => read_point(reader, table),
        Some(&"slip") => {
            let tangents = read_velocities(reader, table, "slip")?;
            Some(Frame {
                normal: None,
                tangents,
                span: table.value("slip")?.span.clone(),
            })
        }
        Some(_) => read_tangents(reader, table.value("tangents")?),
        None => None,
    }
}

/// Material point and surface normal: rows axis·∂x/∂q for the normal and the tangents.
fn read_point(reader: &mut Reader, table: &Table) -> Option<Frame> {
    let value = table.value("point")?;
    let point = reader.expressions(value.as_list()?, Variables::Position)?;
    let dimension = point.len();
    let normal = match table.value("normal") {
        Some(normal) => {
            let list = normal.as_list()?;
            if list.len() != dimension {
                let message = format!(
                    "`normal` has {} entries, `point` has {dimension}",
                    list.len()
                );
                reader.report(Diagnostic::at(normal.span.clone(), message));
                return None;
            }
            let components = reader.expressions(list, Variables::PositionTime)?;
            let zero = reader.graph.constant(0.0);
            if components.iter().all(|&c| c == zero) {
                reader.report(Diagnostic::at(
                    normal.span.clone(),
                    "`normal` is the zero vector",
                ));
                return None;
            }
            components
        }
        None => {
            let mut up = vec![reader.graph.constant(0.0); dimension];
            up[dimension - 1] = reader.graph.constant(1.0);
            up
        }
    };
    let inputs = reader.position_inputs();
    let graph = &mut reader.graph;
    let normal = unit(graph, &normal);
    let mut axes = vec![normal.clone()];
    if dimension == 2 {
        // The normal turned clockwise: the ground with normal +y has the tangent +x.
        axes.push(vec![normal[1], graph.negate(normal[0])]);
    } else {
        axes.extend(tangents_in_space(graph, &normal));
    }
    let slopes: Vec<Vec<Expression>> = point.iter().map(|&x| graph.gradient(x, &inputs)).collect();
    let zero = graph.constant(0.0);
    let mut rows = axes.iter().map(|axis| {
        let row: Vec<Expression> = (0..inputs.len())
            .map(|i| {
                let terms: Vec<Expression> = (0..dimension)
                    .map(|d| graph.multiply(axis[d], slopes[d][i]))
                    .collect();
                graph.sum(&terms)
            })
            .collect();
        (row, zero)
    });
    let normal = rows.next();
    let tangents = rows.collect();
    Some(Frame {
        normal,
        tangents,
        span: value.span.clone(),
    })
}

fn unit(graph: &mut Graph, vector: &[Expression]) -> Vec<Expression> {
    let squares: Vec<Expression> = vector.iter().map(|&c| graph.multiply(c, c)).collect();
    let square = graph.sum(&squares);
    let length = graph.unary(Unary::Sqrt, square);
    vector.iter().map(|&c| graph.divide(c, length)).collect()
}

/// Two unit vectors that complete a unit normal to a right-handed basis, continuous except where
/// the sign of its last component changes (Duff and others, 2017; the same as
/// [`crate::systems::frame::orthonormal_tangents`]).
fn tangents_in_space(graph: &mut Graph, n: &[Expression]) -> [Vec<Expression>; 2] {
    let zero = graph.constant(0.0);
    let one = graph.constant(1.0);
    let minus_one = graph.constant(-1.0);
    let upward = graph.binary(Binary::LessEqual, zero, n[2]);
    let sign = graph.select(upward, one, minus_one);
    let sum = graph.add(sign, n[2]);
    let a = graph.divide(minus_one, sum);
    let xy = graph.multiply(n[0], n[1]);
    let b = graph.multiply(xy, a);
    let xx = graph.multiply(n[0], n[0]);
    let xxa = graph.multiply(xx, a);
    let signed = graph.multiply(sign, xxa);
    let yy = graph.multiply(n[1], n[1]);
    let yya = graph.multiply(yy, a);
    let sx = graph.multiply(sign, n[0]);
    [
        vec![
            graph.add(one, signed),
            graph.multiply(sign, b),
            graph.negate(sx),
        ],
        vec![b, graph.add(sign, yya), graph.negate(n[1])],
    ]
}

/// Velocities given as expressions: their coefficients are the rows, the rest is the drift.
fn read_velocities(
    reader: &mut Reader,
    table: &Table,
    key: &str,
) -> Option<Vec<(Vec<Expression>, Expression)>> {
    let value = table.value(key)?;
    let velocities = reader.one_or_more(value, Variables::State)?;
    let inputs = reader.velocity_inputs();
    let n = reader.dof();
    let zero = reader.graph.constant(0.0);
    let mut rows = Vec::new();
    for (k, &velocity) in velocities.iter().enumerate() {
        let span = value
            .as_list()
            .and_then(|list| list.get(k))
            .map_or(&value.span, |v| &v.span);
        let row = reader.graph.gradient(velocity, &inputs);
        if row.iter().any(|&entry| reader.dependence(entry).velocity) {
            let message = format!("`{key}` must be linear in the velocities");
            reader.report(Diagnostic::at(span.clone(), message));
            return None;
        }
        if row.iter().all(|&entry| entry == zero) {
            let message = format!("`{key}` does not depend on the velocities");
            let help = "write velocities as x' or x_dot, as in \"x' - r*phi'\"";
            reader.report(Diagnostic::at(span.clone(), message).with_help(help));
            return None;
        }
        let drift = reader
            .graph
            .substitute(&[velocity], |k| (k > n).then_some(zero))[0];
        rows.push((row, drift));
    }
    Some(rows)
}

fn read_tangents(reader: &mut Reader, value: &Value) -> Option<Frame> {
    let n = reader.dof();
    let zero = reader.graph.constant(0.0);
    let mut tangents = Vec::new();
    for row in value.as_list()? {
        let entries = row.as_list()?;
        if entries.len() != n {
            let message = format!(
                "a tangent has {} entries, expected {n}: one coefficient for each velocity",
                entries.len()
            );
            reader.report(Diagnostic::at(row.span.clone(), message));
            return None;
        }
        tangents.push((reader.expressions(entries, Variables::Position)?, zero));
    }
    Some(Frame {
        normal: None,
        tangents,
        span: value.span.clone(),
    })
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
    let Some(mu) = reader.expression(value, Variables::PositionTime) else {
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
        .and_then(|v| reader.expression(v, Variables::PositionTime));
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
        "interval" => pair(reader, set, "interval").and_then(|[lower, upper]| {
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
    let mut vertices = Vec::new();
    for vertex in value.as_list()? {
        let vertex: [f64; 2] = reader.constants(vertex)?.try_into().ok()?;
        vertices.push(vertex);
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
