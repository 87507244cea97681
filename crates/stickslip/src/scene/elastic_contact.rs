//! Contacts of elastic bodies, read from `[[contacts]]`.

use std::ops::Range;

use super::build_laws::{flow_rule, impact_law, section};
use super::contact::{contact_name, read_impact};
use super::diagnostic::Diagnostic;
use super::elastic_mesh::padded;
use super::elastic_words::Side;
use super::expression::Expression;
use super::friction::{FrictionPart, read_friction};
use super::key_kinds::Variables;
use super::program::Program;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Table, Value, tables};
use super::words::Law;
use crate::laws::{ContactLaw, FrictionCoefficient};
use crate::systems::elastodynamic::{Obstacle, ObstacleShape};

/// What a contact of elastic bodies is about.
pub(super) enum Target {
    Obstacle(String, Obstacle),
    Surface(String, String),
    /// A coordinate of a system of matrices, whether it stays above, the bound, sliding coordinates.
    Coordinate(usize, bool, f64, Vec<usize>),
}

pub(super) struct ElasticContact {
    pub name: String,
    pub target: Target,
    pub law: ContactLaw,
    pub span: Range<usize>,
    /// Place of the surface or coordinate.
    pub surface_span: Range<usize>,
    /// Place of what it meets, or of the sliding coordinates.
    pub other_span: Range<usize>,
}

/// Keys that belong to elastic contacts, and those that do not.
pub(super) const OWN: [&str; 7] = [
    "surface",
    "obstacle",
    "against",
    "coordinate",
    "above",
    "below",
    "slides",
];
const SHARED: [&str; 4] = ["name", "friction", "restitution", "impact"];

/// Reads `[[contacts]]` of elastic bodies in a space of a dimension, or of a system of matrices.
pub(super) fn read_contacts(
    reader: &mut Reader,
    list: &[Value],
    settings: &Settings,
    space: Option<usize>,
) -> Vec<ElasticContact> {
    let mut contacts: Vec<ElasticContact> = Vec::new();
    for (k, value, table) in tables(list) {
        for entry in &table.entries {
            let name = entry.name.as_str();
            if !OWN.contains(&name) && !SHARED.contains(&name) {
                let message = format!("`{name}` has no place in a contact of elastic bodies");
                let help = "give `surface` with `obstacle` or `against`";
                reader.report(Diagnostic::at(entry.name_span.clone(), message).with_help(help));
            }
        }
        let name = contact_name(reader, table, value, k, |n| {
            contacts.iter().any(|c| c.name == n)
        });
        let target = match space {
            Some(_) => read_surface(reader, table, value),
            None => read_coordinate(reader, table, value),
        };
        let tangents = match (&target, space) {
            (Some(Target::Coordinate(.., slides)), _) => slides.len(),
            (_, space) => space.unwrap_or(1) - 1,
        };
        let law = read_law(reader, table, value, tangents, settings);
        if let (Some(target), Some(law)) = (target, law) {
            let place = |keys: [&str; 2]| {
                let given = keys.iter().find_map(|key| table.value(key));
                given.unwrap_or(value).span.clone()
            };
            contacts.push(ElasticContact {
                name,
                target,
                law,
                span: value.span.clone(),
                surface_span: place(["surface", "coordinate"]),
                other_span: place(["against", "slides"]),
            });
        }
    }
    contacts
}

fn read_law(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    tangents: usize,
    settings: &Settings,
) -> Option<ContactLaw> {
    let (impact, restitution) = read_impact(reader, table, settings);
    let span = table.place("friction", value).clone();
    let (part, coefficient) = if tangents == 0 {
        (None, None)
    } else {
        read_friction(reader, table, tangents)
    };
    if let Some(part) = part.as_ref().filter(|part| part.dimension() != tangents) {
        let message = format!(
            "the friction set has dimension {}, the contact has {tangents}",
            part.dimension()
        );
        return reader.refuse(&span, message);
    }
    let parts: Vec<FrictionPart> = part
        .filter(|_| settings.law != Law::Frictionless)
        .into_iter()
        .collect();
    let law = section(&parts)
        .and_then(|section| ContactLaw::new(section, impact_law(impact, restitution)));
    let mut law = reader.made(&span, law)?.with_flow_rule(flow_rule(settings));
    if let Some(coefficient) = coefficient.filter(|_| !parts.is_empty()) {
        let dependence = reader.dependence(coefficient);
        if dependence.position || dependence.velocity || dependence.past {
            let message = "friction of elastic bodies may depend on time and parameters only";
            return reader.refuse(&span, message);
        }
        reader.data.coefficient(&reader.graph, coefficient);
        let program = Program::compile(&reader.graph, &[coefficient], 3);
        let factor = FrictionCoefficient::function(move |t, _| program.value(t, &[0.0; 3]));
        law = reader.made(&span, law.with_coefficient(factor))?;
    }
    Some(law)
}

fn read_surface(reader: &mut Reader, table: &Table, value: &Value) -> Option<Target> {
    let Some(surface) = table.text("surface") else {
        if table.get("surface").is_none() {
            let message = "missing key `surface` in [[contacts]] of elastic bodies";
            let help = "the group of facets whose nodes touch";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        }
        return None;
    };
    let surface = surface.to_owned();
    match (table.value("obstacle"), table.value("against")) {
        (Some(obstacle), None) => {
            let obstacle = read_obstacle(reader, obstacle.as_table()?, obstacle)?;
            Some(Target::Obstacle(surface, obstacle))
        }
        (None, Some(other)) => Some(Target::Surface(surface, other.as_text()?.to_owned())),
        _ => {
            let message = format!(
                "surface `{surface}` must meet either an `obstacle` or another surface `against`"
            );
            reader.refuse(&value.span, message)
        }
    }
}

fn read_obstacle(reader: &mut Reader, table: &Table, value: &Value) -> Option<Obstacle> {
    let vector = |reader: &mut Reader, key: &str, default: [f64; 3]| match table.value(key) {
        Some(value) => reader.constants(value).map(|list| padded(&list)),
        None => Some(default),
    };
    let point = vector(reader, "through", [0.0; 3])?;
    let inside = table.word::<Side>("side") == Some(Side::Inside);
    let given: Vec<&str> = table.given(&["plane", "sphere", "cylinder"]);
    let shape = match given[..] {
        ["plane"] => ObstacleShape::Plane {
            point,
            normal: vector(reader, "plane", [0.0; 3])?,
        },
        ["sphere"] => ObstacleShape::Sphere {
            centre: point,
            radius: reader.number(table, "sphere", "positive", |x| x > 0.0)?,
            inside,
        },
        ["cylinder"] => ObstacleShape::Cylinder {
            point,
            axis: vector(reader, "axis", [0.0, 0.0, 1.0])?,
            radius: reader.number(table, "cylinder", "positive", |x| x > 0.0)?,
            inside,
        },
        _ => {
            let message = "an obstacle is one of `plane`, `sphere`, `cylinder`";
            return reader.refuse(&value.span, message);
        }
    };
    let mut obstacle = Obstacle::new(shape);
    if let Some(motion) = table.value("motion") {
        reader.data.moves = true;
        let place = reader.expressions(motion.as_list()?, Variables::Time)?;
        let rate: Vec<Expression> = place
            .iter()
            .map(|&e| reader.graph.gradient(e, &[0])[0])
            .collect();
        let (place, rate) = (
            Program::compile(&reader.graph, &place, 3),
            Program::compile(&reader.graph, &rate, 3),
        );
        let count = motion.as_list()?.len();
        obstacle = obstacle.moving(move |t| {
            let (mut x, mut v) = ([0.0; 3], [0.0; 3]);
            place.write(t, &[0.0; 3], &mut x[..count]);
            rate.write(t, &[0.0; 3], &mut v[..count]);
            (x, v)
        });
    }
    if table.get("tangent").is_some() {
        obstacle = obstacle.with_tangent(vector(reader, "tangent", [1.0, 0.0, 0.0])?);
    }
    Some(obstacle)
}

/// A whole number that was checked to be one.
fn whole(value: &Value) -> Option<usize> {
    value.as_number().map(|n| n as usize)
}

fn read_coordinate(reader: &mut Reader, table: &Table, value: &Value) -> Option<Target> {
    let above = table.value("above");
    let bound = above.or(table.value("below"));
    let (Some(coordinate), Some(bound)) = (table.value("coordinate"), bound) else {
        let message = "a contact of a system of matrices needs `coordinate` and `above` or `below`";
        return reader.refuse(&value.span, message);
    };
    let slides = table.list("slides").iter().filter_map(whole).collect();
    Some(Target::Coordinate(
        whole(coordinate)?,
        above.is_some(),
        reader.constant(bound)?,
        slides,
    ))
}
