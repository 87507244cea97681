//! Bodies at random places without overlap, read from `[[fill]]`.

use super::diagnostic::Diagnostic;
use super::reader::Reader;
use super::value::{Data, Table, Value};
use super::world_bodies::{Context, ReadBody, material_of};
use super::world_shapes::{read_shape, vector};
use crate::systems::world::{Dimension, PlacedShape, Pose, Shape, Weight, WorldBody};

/// A shape to choose from.
struct Choice {
    shape: PlacedShape,
    /// Distance of its farthest point from the origin, at size 1.
    radius: f64,
    /// Volume at size 1.
    volume: f64,
    weight: f64,
    size: Size,
}

/// Distribution of sizes.
enum Size {
    Uniform(f64, f64),
    Lognormal(f64, f64),
}

/// Random numbers with a seed (SplitMix64): the same everywhere.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Sum of twelve uniform numbers, which is normal enough and needs no logarithm; within ±6.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Tries for one body before the region counts as full.
const TRIES: usize = 2000;

/// Reads one of `[[fill]]` and places its bodies.
pub(super) fn read_fill(reader: &mut Reader, value: &Value, context: &mut Context) -> Option<()> {
    let table = value.as_table()?;
    let dimension = context.dimension;
    let name = table.value("name").and_then(Value::as_text)?.to_owned();
    let material = material_of(reader, table, &value.span, context.materials);
    let velocity = vector(reader, table, "velocity", dimension).unwrap_or([0.0; 3]);
    let region = table.value("region").and_then(Value::as_table);
    let region = region.and_then(|region| {
        let sides = vector(reader, region, "box", dimension)?;
        let at = vector(reader, region, "at", dimension).unwrap_or([0.0; 3]);
        Some((sides, at))
    });
    let list = table
        .value("shapes")
        .and_then(Value::as_list)
        .unwrap_or_default();
    let choices: Vec<Option<Choice>> = list
        .iter()
        .map(|item| read_choice(reader, item, context))
        .collect();
    let amount = read_amount(reader, table, value);
    let seed = match table.value("seed").map(|v| &v.data) {
        Some(Data::Number(n)) => *n as u64,
        _ => 1,
    };
    let (material, (sides, at)) = (material?, region?);
    let choices: Vec<Choice> = choices.into_iter().collect::<Option<_>>()?;
    let amount = amount?;
    let density = context.materials.list[material].density;
    let Some(density) = density else {
        let material = &context.materials.list[material].name;
        let message = format!("the material `{material}` has no density");
        let help = "bodies of [[fill]] get their mass from it";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
        return None;
    };
    if choices.is_empty() || choices.iter().map(|c| c.weight).sum::<f64>() <= 0.0 {
        let message = "there is no shape to fill with";
        reader.report(Diagnostic::at(value.span.clone(), message));
        return None;
    }
    let plan = plan(&choices, &amount, (sides, dimension), seed);
    if !context.has_room(reader, plan.len(), &value.span) {
        return None;
    }
    let radii: Vec<f64> = plan
        .iter()
        .map(|&(k, size)| choices[k].radius * size)
        .collect();
    let mut random = Random(seed ^ 0x5555_5555_5555_5555);
    let places = match place(&radii, (sides, at, dimension), &mut random) {
        Ok(places) => places,
        Err(placed) => {
            let message = format!(
                "the region is full after {placed} of {} bodies: no place for another was found in {TRIES} tries",
                radii.len()
            );
            let help = "make the region larger or the number smaller; grids of bodies (`repeat`) lie denser";
            reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
            return None;
        }
    };
    for (k, (&(choice, size), position)) in plan.iter().zip(places).enumerate() {
        let turn: [f64; 3] = std::array::from_fn(|_| 2.0 * random.unit() - 1.0);
        let pose = match dimension {
            Dimension::Space => Pose::turned(position, turn.map(|x| x * std::f64::consts::PI)),
            Dimension::Plane => {
                Pose::planar(position[0], position[1], turn[2] * std::f64::consts::PI)
            }
        };
        let shape = scaled(&choices[choice].shape, size);
        let weight = Weight {
            density: Some(density),
            ..Weight::default()
        };
        let name_k = format!("{name}[{k}]");
        match WorldBody::of_shapes(name_k, &[shape], &weight, dimension) {
            Ok((mut body, frame)) => {
                body.material = material as u32;
                body.start.0 = pose.times(&frame);
                body.start.1.velocity = velocity;
                context.bodies.push(ReadBody {
                    body,
                    base: name.clone(),
                    group: None,
                    ignores: [].into(),
                    span: value.span.clone(),
                });
            }
            Err(error) => {
                reader.report(Diagnostic::at(value.span.clone(), error.to_string()));
                return None;
            }
        }
    }
    Some(())
}

/// How many bodies.
enum Amount {
    Count(usize),
    Fraction(f64),
}

fn read_amount(reader: &mut Reader, table: &Table, value: &Value) -> Option<Amount> {
    let count = match table.value("count").map(|v| &v.data) {
        Some(Data::Number(n)) => Some(*n as usize),
        _ => None,
    };
    let fraction = reader.number(table, "fraction", "above 0 and below 1", |x| {
        x > 0.0 && x < 1.0
    });
    match (count, fraction) {
        (Some(count), None) => Some(Amount::Count(count)),
        (None, Some(fraction)) => Some(Amount::Fraction(fraction)),
        _ if table.get("fraction").is_some() && fraction.is_none() => None,
        (both, _) => {
            let message = match both {
                Some(_) => "`count` and `fraction` are both given",
                None => "missing key `count` or `fraction` in [[fill]]",
            };
            reader.report(Diagnostic::at(value.span.clone(), message));
            None
        }
    }
}

fn read_choice(reader: &mut Reader, item: &Value, context: &mut Context) -> Option<Choice> {
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
            Size::Lognormal(median, spread)
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
            Size::Uniform(low, high)
        }
    };
    let shape = shape?;
    let measure = match shape.shape.measure(context.dimension) {
        Ok(measure) if measure.mass.mass > 0.0 => measure,
        Ok(_) => {
            let message = format!("{} has no volume to fill with", shape.shape.kind());
            reader.report(Diagnostic::at(place.span.clone(), message));
            return None;
        }
        Err(error) => {
            reader.report(Diagnostic::at(place.span.clone(), error.to_string()));
            return None;
        }
    };
    let off: f64 = shape
        .pose
        .position
        .iter()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt();
    Some(Choice {
        radius: off + measure.radius,
        volume: measure.mass.mass,
        shape,
        weight: weight.unwrap_or(1.0),
        size,
    })
}

/// Which shape and size each body has, largest first so that they find a place.
fn plan(
    choices: &[Choice],
    amount: &Amount,
    (sides, dimension): ([f64; 3], Dimension),
    seed: u64,
) -> Vec<(usize, f64)> {
    let mut random = Random(seed);
    let total: f64 = choices.iter().map(|c| c.weight).sum();
    let volume: f64 = sides[..dimension.axes()].iter().product();
    let (mut plan, mut filled) = (Vec::new(), 0.0);
    loop {
        let done = match amount {
            Amount::Count(count) => plan.len() >= (*count).min(super::world_keys::BODIES_MAX + 1),
            Amount::Fraction(part) => {
                filled >= part * volume || plan.len() > super::world_keys::BODIES_MAX
            }
        };
        if done {
            break;
        }
        let mut left = random.unit() * total;
        let mut k = 0;
        while k + 1 < choices.len() && left >= choices[k].weight {
            left -= choices[k].weight;
            k += 1;
        }
        let size = match choices[k].size {
            Size::Uniform(low, high) => low + (high - low) * random.unit(),
            Size::Lognormal(median, spread) => {
                let normal = random.normal().clamp(-3.0, 3.0);
                median * (spread * normal).exp()
            }
        };
        filled += choices[k].volume * size.powi(dimension.axes() as i32);
        plan.push((k, size));
    }
    plan.sort_by(|a, b| {
        let radius = |x: &(usize, f64)| choices[x.0].radius * x.1;
        radius(b).total_cmp(&radius(a))
    });
    plan
}

/// Centres of balls without overlap inside a box; the number placed if one finds no place.
fn place(
    radii: &[f64],
    (sides, at, dimension): ([f64; 3], [f64; 3], Dimension),
    random: &mut Random,
) -> Result<Vec<[f64; 3]>, usize> {
    let axes = dimension.axes();
    let largest = radii.first().copied().unwrap_or(1.0);
    // A grid of cells as large as the largest ball; neighbours lie in the 3 × 3 × 3 cells around.
    let cells: [usize; 3] = std::array::from_fn(|k| {
        if k < axes {
            ((sides[k] / (2.0 * largest)) as usize).clamp(1, 256)
        } else {
            1
        }
    });
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); cells.iter().product()];
    let mut places: Vec<[f64; 3]> = Vec::with_capacity(radii.len());
    let cell_of = |p: &[f64; 3]| -> [usize; 3] {
        std::array::from_fn(|k| {
            if k >= axes {
                return 0;
            }
            let part = (p[k] - at[k]) / sides[k] + 0.5;
            ((part * cells[k] as f64) as usize).min(cells[k] - 1)
        })
    };
    for (index, &radius) in radii.iter().enumerate() {
        let room: [f64; 3] = std::array::from_fn(|k| sides[k] - 2.0 * radius);
        if room[..axes].iter().any(|&r| r < 0.0) {
            return Err(index);
        }
        let mut found = None;
        for _ in 0..TRIES {
            let p: [f64; 3] = std::array::from_fn(|k| {
                if k < axes {
                    at[k] + room[k] * (random.unit() - 0.5)
                } else {
                    0.0
                }
            });
            let [i, j, l] = cell_of(&p);
            let around = |c: usize, n: usize| c.saturating_sub(1)..(c + 2).min(n);
            let free = around(i, cells[0]).all(|x| {
                around(j, cells[1]).all(|y| {
                    around(l, cells[2]).all(|z| {
                        let list = &lists[(z * cells[1] + y) * cells[0] + x];
                        list.iter().all(|&other| {
                            let q = places[other as usize];
                            let d: f64 = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum();
                            d > (radius + radii[other as usize]).powi(2)
                        })
                    })
                })
            });
            if free {
                found = Some(p);
                break;
            }
        }
        let p = found.ok_or(index)?;
        let [i, j, l] = cell_of(&p);
        lists[(l * cells[1] + j) * cells[0] + i].push(index as u32);
        places.push(p);
    }
    Ok(places)
}

/// The same shape with all lengths multiplied.
fn scaled(placed: &PlacedShape, s: f64) -> PlacedShape {
    let shape = match &placed.shape {
        Shape::Ball { radius } => Shape::Ball { radius: s * radius },
        Shape::Box { sides } => Shape::Box {
            sides: sides.map(|x| s * x),
        },
        Shape::Capsule { radius, length } => Shape::Capsule {
            radius: s * radius,
            length: s * length,
        },
        Shape::Cylinder { radius, length } => Shape::Cylinder {
            radius: s * radius,
            length: s * length,
        },
        Shape::Cone { radius, length } => Shape::Cone {
            radius: s * radius,
            length: s * length,
        },
        Shape::Hull { points } => Shape::Hull {
            points: points.iter().map(|p| p.map(|x| s * x)).collect(),
        },
        Shape::Polygon { points } => Shape::Polygon {
            points: points.iter().map(|p| p.map(|x| s * x)).collect(),
        },
        // Shapes without volume were refused.
        other => other.clone(),
    };
    let mut pose = placed.pose;
    pose.position = pose.position.map(|x| s * x);
    PlacedShape { shape, pose }
}
