//! Contacts of a system in generalized coordinates, read from `[[contacts]]`.

use std::ops::Range;

use super::contact_keys::CONTACT_POINT;
use super::contact_places::PlaceModel;
use super::diagnostic::Diagnostic;
use super::expression::Expression;
use super::frame::{Frame, read_frame, read_velocities, with_moving_surface};
use super::friction::{FrictionModel, FrictionPart, read_friction};
use super::key_kinds::Variables;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Table, Value, tables};
use super::words::{Impact, Law};

/// One contact as expressions.
#[derive(Clone, Debug)]
pub(super) struct ContactModel {
    pub name: String,
    pub gap: Expression,
    /// The gap as it stands in the file.
    pub gap_text: String,
    /// Material points that share the gap; at least one.
    pub points: Vec<PointModel>,
    pub impact: Impact,
    pub restitution: f64,
    pub span: Range<usize>,
    pub gap_span: Range<usize>,
}

/// One material point of a contact.
#[derive(Clone, Debug)]
pub(super) struct PointModel {
    /// Normal row of the material point, if the contact has one; otherwise dφ is the normal row.
    pub normal_row: Option<Vec<Expression>>,
    /// Rows of the tangents, then of rolling and drilling.
    pub tangent_rows: Vec<Vec<Expression>>,
    /// Local velocities at v = 0: of the normal row (if any), then of the tangent rows.
    pub drift: Vec<Expression>,
    pub friction: FrictionModel,
    pub span: Range<usize>,
    pub normal_span: Option<Range<usize>>,
    /// Where it lies in space, if that is given.
    pub place: Option<PlaceModel>,
}

/// Reads `[[contacts]]` of a system in generalized coordinates.
pub(super) fn read_contacts(
    reader: &mut Reader,
    list: &[Value],
    settings: &Settings,
) -> Vec<ContactModel> {
    let mut contacts: Vec<ContactModel> = Vec::new();
    for (k, value, table) in tables(list) {
        reader.refuse_keys(
            table,
            &["arm", "radius", "plane", "offset"],
            |key| format!("`{key}` belongs to contacts of a rigid body"),
            "in generalized coordinates give `gap` as an expression",
        );
        report_elastic_keys(reader, table);
        let name = contact_name(reader, table, value, k, |n| {
            contacts.iter().any(|c| c.name == n)
        });
        if let Some(contact) = read_contact(reader, table, value, name, settings) {
            contacts.push(contact);
        }
    }
    contacts
}

/// Keys of contacts of elastic bodies, where there are none.
pub(super) fn report_elastic_keys(reader: &mut Reader, table: &Table) {
    for entry in &table.entries {
        if super::elastic_contact::OWN.contains(&entry.name.as_str()) {
            let message = format!("`{}` belongs to contacts of elastic bodies", entry.name);
            reader.report(Diagnostic::at(entry.name_span.clone(), message));
        }
    }
}

/// The name of contact number `k`, reported if it is taken.
pub(super) fn contact_name(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    k: usize,
    taken: impl Fn(&str) -> bool,
) -> String {
    let given = table.text("name");
    let name = given.map_or_else(|| format!("contact {}", k + 1), str::to_owned);
    if taken(&name) {
        let span = table.place("name", value).clone();
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
            reader.refuse_with(&value.span, message, help)
        }
    };
    let (impact, restitution) = read_impact(reader, table, settings);
    let points: Vec<Option<PointModel>> = match table.value("points").and_then(Value::as_list) {
        Some(list) => {
            report_keys_of_points(reader, table);
            list.iter()
                .filter_map(|point| Some((point, point.as_table()?)))
                .map(|(point, table)| read_contact_point(reader, table, point, gap, settings))
                .collect()
        }
        None => vec![read_contact_point(reader, table, value, gap, settings)],
    };
    let points: Option<Vec<PointModel>> = points.into_iter().collect();
    Some(ContactModel {
        name,
        gap: gap?,
        points: points.filter(|points| !points.is_empty())?,
        impact,
        restitution,
        span: value.span.clone(),
        gap_text: table.text("gap").unwrap_or_default().to_string(),
        gap_span: table
            .value("gap")
            .map_or(value.span.clone(), |v| v.span.clone()),
    })
}

/// Where points are listed, everything about a point belongs into the list.
fn report_keys_of_points(reader: &mut Reader, table: &Table) {
    for entry in &table.entries {
        if CONTACT_POINT.get(&entry.name).is_some() {
            let message = format!("`{}` belongs to a point here", entry.name);
            let help = "the contact lists its points: move the key into [[contacts.points]]";
            reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
        }
    }
}

/// Frame and friction of one material point.
fn read_contact_point(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    gap: Option<Expression>,
    settings: &Settings,
) -> Option<PointModel> {
    let frame = match (read_frame(reader, table, gap), gap) {
        (Some(frame), Some(gap)) => Some(with_moving_surface(reader, frame, gap)),
        (frame, _) => frame,
    };
    let frame = frame.unwrap_or(Frame {
        normal: None,
        tangents: Vec::new(),
        span: value.span.clone(),
        place: None,
    });
    let friction_span = table
        .value("friction")
        .map_or(&frame.span, |v| &v.span)
        .clone();
    reader.allow_slip();
    let (sliding, coefficient) = read_friction(reader, table, frame.tangents.len());
    let mut parts = Vec::new();
    let mut rows = Vec::new();
    if let Some(sliding) = sliding {
        if sliding.dimension() != frame.tangents.len() {
            let message = format!(
                "the friction set has dimension {}, the contact has {}",
                sliding.dimension(),
                tangents_in_words(frame.tangents.len())
            );
            return reader.refuse(&friction_span, message);
        }
        if !sliding.is_bounded() && settings.law != Law::Generalized {
            let message = "only the generalized law knows unbounded friction sets";
            let help = "choose law = \"generalized\", or give finite ends and no rays";
            return reader.refuse_with(&friction_span, message, help);
        }
        parts.push(sliding);
        rows.extend(frame.tangents);
    }
    for key in ["rolling", "drilling"] {
        if let Some((part, velocities)) = read_resistance(reader, table, key) {
            parts.push(part);
            rows.extend(velocities);
        }
    }
    if parts.len() > 1 && coefficient.is_some() {
        let message = "friction that varies cannot be joined with rolling or drilling friction";
        reader.report(Diagnostic::at(friction_span, message));
    }
    if settings.law == Law::Frictionless {
        parts.clear();
        rows.clear();
    }
    let mut drift: Vec<Expression> = frame.normal.iter().map(|(_, drift)| *drift).collect();
    drift.extend(rows.iter().map(|(_, drift)| *drift));
    let normal_place = table.value("normal").or(table.value("point"));
    Some(PointModel {
        place: frame.place,
        normal_span: frame
            .normal
            .is_some()
            .then(|| normal_place.map_or(&value.span, |v| &v.span).clone()),
        normal_row: frame.normal.map(|(row, _)| row),
        tangent_rows: rows.into_iter().map(|(row, _)| row).collect(),
        drift,
        friction: FrictionModel { parts, coefficient },
        span: value.span.clone(),
    })
}

/// Rolling or drilling friction with the rows of its angular velocity.
fn read_resistance(
    reader: &mut Reader,
    table: &Table,
    key: &str,
) -> Option<(FrictionPart, Vec<(Vec<Expression>, Expression)>)> {
    let length = format!("{key}_friction");
    let velocities = read_velocities(reader, table, key);
    let radius = reader.number(table, &length, "zero or positive", |x| x >= 0.0)?;
    if radius == 0.0 {
        return None;
    }
    if let Some(entry) = table.get(&length).filter(|_| table.get(key).is_none()) {
        let message = format!("`{length}` needs the angular velocity `{key}`");
        reader.report(Diagnostic::at(entry.name_span.clone(), message));
    }
    let velocities = velocities?;
    let dimension = velocities.len();
    Some((FrictionPart::Disc { radius, dimension }, velocities))
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
    let word = table.word::<Impact>("impact");
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
