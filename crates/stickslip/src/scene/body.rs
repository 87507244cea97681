//! A free rigid body in space, read from `[body]` and its `[[contacts]]`.

use std::ops::Range;

use super::contact::{contact_name, read_impact, report_elastic_keys};
use super::diagnostic::Diagnostic;
use super::friction::{FrictionPart, read_friction};
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Table, Value, tables};
use super::words::{Impact, Law};

/// A rigid body and its contacts, as numbers.
#[derive(Clone, Debug)]
pub(super) struct BodyModel {
    pub mass: f64,
    pub moments: [f64; 3],
    pub gravity: [f64; 3],
    pub position: [f64; 3],
    pub rotation: [f64; 3],
    pub velocity: [f64; 3],
    pub spin: [f64; 3],
    pub contacts: Vec<BodyContact>,
    pub span: Range<usize>,
}

/// A ball fixed in the body that meets a plane.
#[derive(Clone, Debug)]
pub(super) struct BodyContact {
    pub name: String,
    pub arm: [f64; 3],
    pub radius: f64,
    pub normal: [f64; 3],
    pub offset: f64,
    pub friction: Option<FrictionPart>,
    pub impact: Impact,
    pub restitution: f64,
    pub span: Range<usize>,
}

/// Reads `[body]`.
pub(super) fn read_body(
    reader: &mut Reader,
    table: &Table,
    place: &Range<usize>,
    contacts: &[Value],
    settings: &Settings,
) -> BodyModel {
    let mass = reader
        .number(table, "mass", "positive", |x| x > 0.0)
        .unwrap_or(1.0);
    let moments = reader.triple(table, "moments", [1.0; 3]);
    let [a, b, c] = moments;
    let largest_ok = a <= b + c && b <= a + c && c <= a + b;
    if let Some(value) = table.value("moments") {
        if moments.iter().any(|&m| m <= 0.0) {
            reader.report(Diagnostic::at(
                value.span.clone(),
                "`moments` must be positive",
            ));
        } else if !largest_ok {
            let message = "no body has these moments: one is larger than the sum of the others";
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
    }
    BodyModel {
        mass,
        moments,
        gravity: reader.triple(table, "gravity", [0.0; 3]),
        position: reader.triple(table, "position", [0.0; 3]),
        rotation: reader.triple(table, "rotation", [0.0; 3]),
        velocity: reader.triple(table, "velocity", [0.0; 3]),
        spin: reader.triple(table, "spin", [0.0; 3]),
        contacts: read_contacts(reader, contacts, settings),
        span: place.clone(),
    }
}

fn read_contacts(reader: &mut Reader, list: &[Value], settings: &Settings) -> Vec<BodyContact> {
    let mut contacts: Vec<BodyContact> = Vec::new();
    for (k, value, table) in tables(list) {
        let foreign = [
            "gap",
            "point",
            "normal",
            "slip",
            "tangents",
            "rolling",
            "rolling_friction",
            "drilling",
            "drilling_friction",
        ];
        for entry in table
            .entries
            .iter()
            .filter(|entry| foreign.contains(&entry.name.as_str()))
        {
            let message = format!(
                "`{}` belongs to contacts in generalized coordinates",
                entry.name
            );
            let help = "a rigid body meets a plane with a ball: give arm, radius, plane, offset";
            reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
        }
        report_elastic_keys(reader, table);
        let name = contact_name(reader, table, value, k, |n| {
            contacts.iter().any(|c| c.name == n)
        });
        if table.value("arm").is_none() {
            let message = "missing key `arm` in [[contacts]] of a rigid body";
            let help = "the centre of the contact ball, in body axes from the centre of mass";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        }
        let plane = reader.triple(table, "plane", [0.0, 0.0, 1.0]);
        let length = plane.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            let span = table.place("plane", value).clone();
            reader.report(Diagnostic::at(span, "`plane` is the zero vector"));
        }
        let (impact, restitution) = read_impact(reader, table, settings);
        let (friction, coefficient) = read_friction(reader, table, 2);
        if coefficient.is_some() {
            let span = table.place("friction", value).clone();
            reader.report(Diagnostic::at(
                span,
                "friction of a rigid body must be constant",
            ));
        }
        contacts.push(BodyContact {
            name,
            arm: reader.triple(table, "arm", [0.0; 3]),
            radius: reader
                .number(table, "radius", "zero or positive", |x| x >= 0.0)
                .unwrap_or(0.0),
            normal: plane.map(|x| x / length),
            offset: reader
                .number(table, "offset", "a number", |_| true)
                .unwrap_or(0.0),
            friction: friction.filter(|_| settings.law != Law::Frictionless),
            impact,
            restitution,
            span: value.span.clone(),
        });
    }
    contacts
}
