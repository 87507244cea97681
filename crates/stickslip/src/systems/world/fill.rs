//! Bodies at random places without overlap.
//!
//! # What it computes
//!
//! Shapes and sizes are drawn by weight; the largest find their places first. A place is drawn in the region until the ball
//! about the body meets no other; 2,000 draws in vain and the region counts as full.
//!
//! # Source
//!
//! Random sequential addition; the generator is SplitMix64.
//!
//! # Guarantees
//!
//! The same seed gives the same bits everywhere; bodies lie inside the region and do not overlap.
//!
//! # Behaviour to know
//!
//! Balls about long shapes fill a region thinly: a fraction of 0.3 is much. Bodies that fall afterwards lie denser.
//!
//! # Cost
//!
//! Linear in the number of bodies while the region is not nearly full.
//!
//! # Tested by
//!
//! `tests/world_builder.rs`, `tests/world_scenes.rs`.

use super::{Dimension, PlacedShape, Pose, Shape, Weight, WorldBody, WorldError};

/// What a region is filled with.
///
/// ```
/// use stickslip::systems::world::{Dimension, Fill, FillAmount, FillShape, FillSize, PlacedShape, Pose, Shape};
///
/// let shape = PlacedShape { shape: Shape::ball(1.0)?, pose: Pose::IDENTITY };
/// let gravel = Fill {
///     name: "grain".into(),
///     material: 0,
///     density: 2600.0,
///     sides: [1.0, 1.0, 1.0],
///     at: [0.0, 0.0, 0.5],
///     amount: FillAmount::Count(100),
///     shapes: vec![FillShape { shape, weight: 1.0, size: FillSize::Uniform(0.05, 0.05) }],
///     velocity: [0.0; 3],
///     seed: 1,
///     most: 1000,
/// };
/// let grains = gravel.bodies(Dimension::Space)?;
/// assert_eq!((grains.len(), grains[99].name.as_str()), (100, "grain[99]"));
/// let place = |k: usize| grains[k].start.0.position;
/// let distance = |a: usize, b: usize| (0..3).map(|i| (place(a)[i] - place(b)[i]).powi(2)).sum::<f64>().sqrt();
/// assert!((0..100).all(|a| (0..a).all(|b| distance(a, b) >= 0.1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// Name of the bodies before their number: `name[0]`, `name[1]`, ...
    pub name: String,
    /// Their material, by number.
    pub material: u32,
    /// Their mass per volume, in the plane per area.
    pub density: f64,
    /// Sides of the box to fill, and its centre.
    pub sides: [f64; 3],
    /// See [`Self::sides`].
    pub at: [f64; 3],
    /// How many bodies.
    pub amount: FillAmount,
    /// Shapes to choose from.
    pub shapes: Vec<FillShape>,
    /// Velocity of all of them.
    pub velocity: [f64; 3],
    /// Seed of the random numbers.
    pub seed: u64,
    /// Bodies above which the fill is refused.
    pub most: usize,
}

/// How many bodies a fill has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FillAmount {
    /// So many.
    Count(usize),
    /// As many as take this part of the region's volume, in the plane of its area.
    Fraction(f64),
}

/// A shape to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct FillShape {
    /// The shape at size 1.
    pub shape: PlacedShape,
    /// How often it is chosen, relative to the others.
    pub weight: f64,
    /// By what its lengths are multiplied.
    pub size: FillSize,
}

/// Distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FillSize {
    /// Between the smallest and the largest.
    Uniform(f64, f64),
    /// With a median and a spread of the logarithm, cut off at three spreads.
    Lognormal(f64, f64),
}

/// Tries for one body before the region counts as full.
pub(super) const TRIES: usize = 2000;

/// A shape with its measures at size 1.
struct Choice<'a> {
    of: &'a FillShape,
    /// Distance of its farthest point from the origin.
    radius: f64,
    volume: f64,
}

impl Fill {
    /// The bodies, placed.
    pub fn bodies(&self, dimension: Dimension) -> Result<Vec<WorldBody>, WorldError> {
        let choices = self.choices(dimension)?;
        let plan = self.plan(&choices, dimension);
        if plan.len() > self.most {
            return Err(WorldError::TooMany { most: self.most });
        }
        let radii: Vec<f64> = plan
            .iter()
            .map(|&(k, size)| choices[k].radius * size)
            .collect();
        let mut random = Random(self.seed ^ 0x5555_5555_5555_5555);
        let places = place(&radii, (self.sides, self.at, dimension), &mut random);
        let places = places.map_err(|placed| WorldError::Full {
            placed,
            wanted: radii.len(),
        })?;
        let weight = Weight {
            density: Some(self.density),
            ..Weight::default()
        };
        let mut bodies = Vec::with_capacity(plan.len());
        for (k, (&(choice, size), position)) in plan.iter().zip(places).enumerate() {
            let turn: [f64; 3] =
                std::array::from_fn(|_| std::f64::consts::PI * (2.0 * random.unit() - 1.0));
            let pose = match dimension {
                Dimension::Space => Pose::turned(position, turn),
                Dimension::Plane => Pose::planar(position[0], position[1], turn[2]),
            };
            let shape = scaled(&choices[choice].of.shape, size);
            let name = format!("{}[{k}]", self.name);
            let (mut body, frame) = WorldBody::of_shapes(name, &[shape], &weight, dimension)?;
            body.material = self.material;
            body.start.0 = pose.times(&frame);
            body.start.1.velocity = self.velocity;
            bodies.push(body);
        }
        Ok(bodies)
    }

    /// Measures the shapes; refuses what cannot be.
    fn choices(&self, dimension: Dimension) -> Result<Vec<Choice<'_>>, WorldError> {
        let number = |what, value, expected| {
            Err(WorldError::Number {
                what,
                value,
                expected,
            })
        };
        if let Some(&side) = self.sides[..dimension.axes()]
            .iter()
            .find(|s| !(**s > 0.0 && s.is_finite()))
        {
            return number("a side of the region", side, "a positive number");
        }
        if let FillAmount::Fraction(part) = self.amount
            && !(part > 0.0 && part < 1.0)
        {
            return number("the fraction", part, "a number between 0 and 1");
        }
        let mut choices = Vec::with_capacity(self.shapes.len());
        for of in &self.shapes {
            if !(of.weight >= 0.0 && of.weight.is_finite()) {
                return number("a weight", of.weight, "zero or a positive number");
            }
            match of.size {
                FillSize::Uniform(low, high) if !(low > 0.0 && high >= low && high.is_finite()) => {
                    return number(
                        "a uniform size",
                        low,
                        "positive numbers, the larger one last",
                    );
                }
                FillSize::Lognormal(median, spread)
                    if !(median > 0.0 && median.is_finite() && (0.0..=2.0).contains(&spread)) =>
                {
                    return number(
                        "a lognormal size",
                        median,
                        "a positive median and a spread from 0 to 2",
                    );
                }
                _ => {}
            }
            let measure = of.shape.shape.measure(dimension)?;
            if !(measure.mass.mass > 0.0) {
                return Err(WorldError::NoVolume {
                    kind: of.shape.shape.kind(),
                });
            }
            let off = of.shape.pose.position.iter().map(|x| x * x).sum::<f64>();
            choices.push(Choice {
                of,
                radius: off.sqrt() + measure.radius,
                volume: measure.mass.mass,
            });
        }
        if choices.iter().map(|c| c.of.weight).sum::<f64>() > 0.0 {
            Ok(choices)
        } else {
            Err(WorldError::NoShape)
        }
    }

    /// Which shape and size each body has, largest first so that they find a place; one more than allowed at most.
    fn plan(&self, choices: &[Choice], dimension: Dimension) -> Vec<(usize, f64)> {
        let mut random = Random(self.seed);
        let total: f64 = choices.iter().map(|c| c.of.weight).sum();
        let volume: f64 = self.sides[..dimension.axes()].iter().product();
        let (mut plan, mut filled) = (Vec::new(), 0.0);
        loop {
            let done = match self.amount {
                FillAmount::Count(count) => plan.len() >= count,
                FillAmount::Fraction(part) => filled >= part * volume,
            };
            if done || plan.len() > self.most {
                break;
            }
            let mut left = random.unit() * total;
            let mut k = 0;
            while k + 1 < choices.len() && left >= choices[k].of.weight {
                left -= choices[k].of.weight;
                k += 1;
            }
            let size = match choices[k].of.size {
                FillSize::Uniform(low, high) => low + (high - low) * random.unit(),
                FillSize::Lognormal(median, spread) => {
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
