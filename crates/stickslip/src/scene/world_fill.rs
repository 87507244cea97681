//! Bodies at random places without overlap, read from `[[fill]]`.

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::value::{Table, Value};
use super::world_bodies::{Context, ReadBody, material_of};
use super::world_keys::BODIES_MAX;
use super::world_shapes::{read_shape, vector};
use crate::systems::world::{Fill, FillAmount, FillShape, FillSize, WorldError};

/// Reads one of `[[fill]]` and places its bodies.
pub(super) fn read_fill(reader: &mut Reader, value: &Value, context: &mut Context) -> Option<()> {
    let table = value.as_table()?;
    let dimension = context.dimension;
    let name = table.text("name")?.to_owned();
    let material = material_of(reader, table, &value.span, context.materials);
    let velocity = vector(reader, table, "velocity", dimension).unwrap_or([0.0; 3]);
    let region = table.table("region");
    let region = region.and_then(|region| {
        let sides = vector(reader, region, "box", dimension)?;
        let at = vector(reader, region, "at", dimension).unwrap_or([0.0; 3]);
        Some((sides, at))
    });
    let list = table.list("shapes");
    let shapes: Vec<Option<FillShape>> = list
        .iter()
        .map(|item| read_choice(reader, item, context))
        .collect();
    let amount = read_amount(reader, table, value);
    let seed = table.number("seed").map_or(1, |n| n as u64);
    let (material, (sides, at)) = (material?, region?);
    let shapes: Vec<FillShape> = shapes.into_iter().collect::<Option<_>>()?;
    let amount = amount?;
    let density = context.materials.list[material].density;
    let Some(density) = density else {
        let material = &context.materials.list[material].name;
        let message = format!("the material `{material}` has no density");
        let help = "bodies of [[fill]] get their mass from it";
        return reader.refuse_with(&value.span, message, help);
    };
    let fill = Fill {
        name: name.clone(),
        material: material as u32,
        density,
        sides,
        at,
        amount,
        shapes,
        velocity,
        seed,
        most: BODIES_MAX.saturating_sub(context.bodies.len()),
    };
    let bodies = match fill.bodies(dimension) {
        Ok(bodies) => bodies,
        Err(WorldError::TooMany { .. }) => {
            context.has_room(reader, usize::MAX, &value.span);
            return None;
        }
        Err(error) => {
            let place = Diagnostic::at(value.span.clone(), error.to_string());
            reader.report(match error {
                WorldError::Full { .. } => place.with_help(
                    "make the region larger or the number smaller; grids of bodies (`repeat`) lie denser",
                ),
                _ => place,
            });
            return None;
        }
    };
    context
        .bodies
        .extend(bodies.into_iter().map(|body| ReadBody {
            body,
            base: name.clone(),
            group: None,
            ignores: [].into(),
            span: value.span.clone(),
        }));
    Some(())
}

fn read_amount(reader: &mut Reader, table: &Table, value: &Value) -> Option<FillAmount> {
    let count = table.number("count").map(|n| n as usize);
    let fraction = reader.number(table, "fraction", "above 0 and below 1", |x| {
        x > 0.0 && x < 1.0
    });
    match (count, fraction) {
        (Some(count), None) => Some(FillAmount::Count(count)),
        (None, Some(fraction)) => Some(FillAmount::Fraction(fraction)),
        _ if table.get("fraction").is_some() && fraction.is_none() => None,
        (both, _) => {
            let message = match both {
                Some(_) => "`count` and `fraction` are both given",
                None => "missing key `count` or `fraction` in [[fill]]",
            };
            reader.refuse(&value.span, message)
        }
    }
}

fn read_choice(reader: &mut Reader, item: &Value, context: &mut Context) -> Option<FillShape> {
    let table = item.as_table()?;
    let place = table.value("shape")?;
    let shape = read_shape(reader, place, context.dimension, &mut context.files);
    let weight = reader.number(table, "weight", "zero or positive", |x| x >= 0.0);
    let pair = |reader: &mut Reader, key: &str| -> Option<[f64; 2]> {
        let value = table.value(key)?;
        reader.constants(value)?.try_into().ok()
    };
    let (uniform, lognormal) = (pair(reader, "uniform"), pair(reader, "lognormal"));
    let refuse = |reader: &mut Reader, key: &str, must: &str| {
        let span = table.value(key).map_or(&item.span, |v| &v.span).clone();
        reader.report(Diagnostic::at(span, format!("`{key}` {must}")));
    };
    let size = match (uniform, lognormal) {
        (Some(_), Some(_)) => {
            refuse(
                reader,
                "lognormal",
                "stands beside `uniform`: give one of them",
            );
            return None;
        }
        (_, Some([median, spread])) => {
            if !(median > 0.0 && (0.0..=2.0).contains(&spread)) {
                refuse(
                    reader,
                    "lognormal",
                    "must have a positive median and a spread from 0 to 2",
                );
                return None;
            }
            FillSize::Lognormal(median, spread)
        }
        (given, None) => {
            let [low, high] = given.unwrap_or([1.0, 1.0]);
            if !(low > 0.0 && high >= low && high.is_finite()) {
                refuse(
                    reader,
                    "uniform",
                    "must be [smallest, largest], both positive",
                );
                return None;
            }
            FillSize::Uniform(low, high)
        }
    };
    let shape = shape?;
    let measure = reader.made(&place.span, shape.shape.measure(context.dimension))?;
    if !(measure.mass.mass > 0.0) {
        let message = format!("{} has no volume to fill with", shape.shape.kind());
        return reader.refuse(&place.span, message);
    }
    Some(FillShape {
        shape,
        weight: weight.unwrap_or(1.0),
        size,
    })
}
