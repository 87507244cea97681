//! Materials of a world and what pairs of them do to each other.

use std::ops::Range;
use std::sync::Arc;

use super::build_laws::{flow_rule, impact_law, section};
use super::contact::read_impact;
use super::diagnostic::Diagnostic;
use super::expression::{Expression, nearest_name};
use super::friction::{FrictionPart, read_friction};
use super::program::Program;
use super::reader::Reader;
use super::settings::Settings;
use super::value::{Table, Value, tables};
use super::words::{Impact, Law};
use crate::laws::{ContactLaw, FrictionCoefficient, LawError};
use crate::systems::world::{Dimension, PairLaw};

/// A material.
#[derive(Clone, Debug)]
pub(super) struct Material {
    pub name: String,
    pub density: Option<f64>,
    surface: Surface,
    span: Range<usize>,
}

/// Friction and impact of a material against itself, or of a pair.
#[derive(Clone, Debug)]
struct Surface {
    sliding: Option<FrictionPart>,
    coefficient: Option<Expression>,
    rolling: f64,
    drilling: f64,
    impact: Impact,
    restitution: f64,
}

/// Materials and the laws given for pairs of them.
pub(super) struct Materials {
    pub list: Vec<Material>,
    pairs: Vec<(usize, usize, Surface, Range<usize>)>,
}

fn read_surface(
    reader: &mut Reader,
    table: &Table,
    settings: &Settings,
    dimension: Dimension,
) -> Surface {
    let tangents = dimension.axes() - 1;
    let (sliding, coefficient) = read_friction(reader, table, tangents);
    if let (Some(part), Some(value)) = (&sliding, table.value("friction")) {
        if part.dimension() != tangents {
            let message = format!(
                "the friction set has dimension {}, contacts of this world have {tangents}",
                part.dimension()
            );
            reader.report(Diagnostic::at(value.span.clone(), message));
        } else if !part.is_bounded() {
            let message = "only the generalized law knows unbounded friction sets";
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
    }
    let mut length = |key: &str| {
        reader
            .number(table, key, "zero or positive", |x| x >= 0.0)
            .unwrap_or(0.0)
    };
    let (rolling, drilling) = (length("rolling_friction"), length("drilling_friction"));
    for (key, value) in [
        ("rolling_friction", rolling),
        ("drilling_friction", drilling),
    ] {
        let Some(entry) = table.get(key).filter(|_| value > 0.0) else {
            continue;
        };
        if sliding.is_none() {
            let message = format!("`{key}` needs `friction`: what slides freely cannot roll");
            reader.report(Diagnostic::at(entry.name_span.clone(), message));
        } else if coefficient.is_some() {
            let message = "friction that varies cannot be joined with rolling or drilling friction";
            reader.report(Diagnostic::at(entry.name_span.clone(), message));
        }
        if key == "drilling_friction" && dimension == Dimension::Plane {
            let message = "drilling friction acts in space only";
            reader.report(Diagnostic::at(entry.name_span.clone(), message));
        }
    }
    let (impact, restitution) = read_impact(reader, table, settings);
    Surface {
        sliding,
        coefficient,
        rolling,
        drilling,
        impact,
        restitution,
    }
}

/// Reads `[[materials]]` and `[[pairs]]`.
pub(super) fn read_materials(
    reader: &mut Reader,
    (materials, pairs): (&[Value], &[Value]),
    settings: &Settings,
    dimension: Dimension,
) -> Materials {
    let mut list: Vec<Material> = Vec::new();
    for (_, value, table) in tables(materials) {
        let name = table.text("name");
        let name = name.unwrap_or_default().to_owned();
        if list.iter().any(|m| m.name == name) && !name.is_empty() {
            let span = table.place("name", value).clone();
            reader.report(Diagnostic::at(
                span,
                format!("two materials are called `{name}`"),
            ));
        }
        list.push(Material {
            density: reader.number(table, "density", "positive", |x| x > 0.0),
            surface: read_surface(reader, table, settings, dimension),
            span: value.span.clone(),
            name,
        });
    }
    let mut found: Vec<(usize, usize, Surface, Range<usize>)> = Vec::new();
    for (_, value, table) in tables(pairs) {
        let surface = read_surface(reader, table, settings, dimension);
        let between = table.value("between").and_then(Value::as_list);
        let numbers: Vec<Option<usize>> = between
            .unwrap_or_default()
            .iter()
            .map(|name| find_material(reader, &list, name))
            .collect();
        let [Some(a), Some(b)] = numbers[..] else {
            continue;
        };
        let (a, b) = (a.min(b), a.max(b));
        if found.iter().any(|p| (p.0, p.1) == (a, b)) {
            let message = format!("the pair {}/{} is given twice", list[a].name, list[b].name);
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
        found.push((a, b, surface, value.span.clone()));
    }
    Materials { list, pairs: found }
}

/// Number of the material with the name of a value, or a report.
pub(super) fn find_material(
    reader: &mut Reader,
    list: &[Material],
    value: &Value,
) -> Option<usize> {
    let name = value.as_text()?;
    let found = list.iter().position(|m| m.name == name);
    if found.is_none() {
        let message = format!("there is no material `{name}`");
        let diagnostic = Diagnostic::at(value.span.clone(), message);
        let help = match nearest_name(name, list.iter().map(|m| m.name.as_str())) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "add it to [[materials]]".to_owned(),
        };
        reader.report(diagnostic.with_help(help));
    }
    found
}

impl Materials {
    /// The laws of all pairs that are used, numbered by material, and warnings about those that were not given.
    pub fn laws(
        &self,
        reader: &mut Reader,
        used: &[[bool; 2]],
        settings: &Settings,
        dimension: Dimension,
    ) -> (Vec<(u32, u32, PairLaw)>, Vec<String>) {
        let (mut laws, mut warnings) = (Vec::new(), Vec::new());
        for a in 0..self.list.len() {
            for b in a..self.list.len() {
                let given = self.pairs.iter().find(|p| (p.0, p.1) == (a, b));
                let (x, y) = (&self.list[a], &self.list[b]);
                // Two materials meet where one of them moves.
                let meet = used[a][0] && used[b][1] || used[b][0] && used[a][1];
                let (law, span) = match given {
                    Some((_, _, surface, span)) => (surface.law(reader, settings, dimension), span),
                    None if a == b => (x.surface.law(reader, settings, dimension), &x.span),
                    None if !meet => continue,
                    None => {
                        let own = [x, y].map(|m| m.surface.law(reader, settings, dimension));
                        // What is wrong with a material is told where it meets itself.
                        let [Ok(p), Ok(q)] = &own else { continue };
                        let Some(mean) = p.mean(q, dimension) else {
                            let message = format!(
                                "the pair {}/{} must be given: friction that is not one number has no mean",
                                x.name, y.name
                            );
                            let help = "add [[pairs]] with `between` and `friction`";
                            let place = Diagnostic::at(y.span.clone(), message);
                            reader.report(place.with_help(help));
                            continue;
                        };
                        warnings.push(not_given(&x.name, &y.name, &mean));
                        (Ok(mean), &y.span)
                    }
                };
                match law {
                    Ok(law) => laws.push((a as u32, b as u32, law)),
                    Err(error) => {
                        reader.report(Diagnostic::at(span.clone(), error.to_string()));
                    }
                }
            }
        }
        (laws, warnings)
    }
}

fn not_given(a: &str, b: &str, mean: &PairLaw) -> String {
    let [friction, ..] = mean.coefficients().unwrap_or_default();
    format!(
        "pair {a}/{b} not given: friction {friction:.3} (geometric mean), restitution {} (the larger)",
        mean.contact.impact().restitution()
    )
}

impl Surface {
    fn law(
        &self,
        reader: &Reader,
        settings: &Settings,
        dimension: Dimension,
    ) -> Result<PairLaw, LawError> {
        let slides = settings.law != Law::Frictionless;
        let mut parts: Vec<FrictionPart> = self
            .sliding
            .clone()
            .filter(|_| slides)
            .into_iter()
            .collect();
        let (rolling, drilling) = (self.rolling > 0.0 && slides, self.drilling > 0.0 && slides);
        if rolling {
            parts.push(FrictionPart::Disc {
                radius: self.rolling,
                dimension: dimension.axes() - 1,
            });
        }
        if drilling {
            parts.push(FrictionPart::Disc {
                radius: self.drilling,
                dimension: 1,
            });
        }
        let impact = impact_law(self.impact, self.restitution);
        let mut contact =
            ContactLaw::new(section(&parts)?, impact)?.with_flow_rule(flow_rule(settings));
        if let Some(coefficient) = self.coefficient.filter(|_| slides) {
            let program = Arc::new(Program::compile(&reader.graph, &[coefficient], 0));
            // Materials read the time only.
            let factor = FrictionCoefficient::function(move |t, _| program.value(t, &[]));
            contact = contact.with_coefficient(factor)?;
        }
        Ok(PairLaw {
            contact,
            rolling,
            drilling,
        })
    }
}
