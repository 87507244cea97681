//! Collects and checks the parts of a world.

use std::collections::BTreeSet;

use super::{
    BodyMotion, Dimension, Grid, Monitor, MonitorQuantity, PairLaw, PairTable, Recording, Shape,
    World, WorldBody, WorldError,
};

/// Collects the parts of a [`World`].
///
/// ```
/// use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
/// use stickslip::systems::world::{Pose, World, WorldBody};
///
/// let law = ContactLaw::new(FrictionSection::disc(0.3)?, ImpactLaw::Inelastic)?;
/// let world = World::builder()
///     .gravity([0.0, 0.0, -9.81])
///     .material("steel")
///     .pair(0, 0, law)
///     .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
///     .body(WorldBody::ball("ball", 1.0, 0.1).at(Pose::at([0.0, 0.0, 0.1])))
///     .build()?;
/// assert_eq!(world.bodies.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct WorldBuilder {
    dimension: Dimension,
    gravity: Option<[f64; 3]>,
    materials: Vec<String>,
    pairs: Vec<(u32, u32, PairLaw)>,
    /// Whether pairs that are not told are means.
    means: bool,
    bodies: Vec<WorldBody>,
    slop: Option<f64>,
    recording: Recording,
    monitors: Vec<Monitor>,
}

/// Default slop, relative to the size of a body.
const SLOP: f64 = 1e-4;

impl WorldBuilder {
    /// Plane or space; space if not given.
    #[must_use]
    pub fn dimension(mut self, dimension: Dimension) -> Self {
        self.dimension = dimension;
        self
    }

    /// Acceleration of gravity; if not given -9.81 along z in space, along y in the plane.
    #[must_use]
    pub fn gravity(mut self, gravity: [f64; 3]) -> Self {
        self.gravity = Some(gravity);
        self
    }

    /// Adds a material; materials are numbered in this order. Without any there is one.
    #[must_use]
    pub fn material(mut self, name: impl Into<String>) -> Self {
        self.materials.push(name.into());
        self
    }

    /// What two materials do to each other.
    #[must_use]
    pub fn pair(mut self, a: u32, b: u32, law: impl Into<PairLaw>) -> Self {
        self.pairs.push((a, b, law.into()));
        self
    }

    /// Adds a body; bodies are numbered in this order.
    #[must_use]
    pub fn body(mut self, body: WorldBody) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds bodies, for instance those of a [`Fill`](super::Fill).
    #[must_use]
    pub fn bodies(mut self, bodies: impl IntoIterator<Item = WorldBody>) -> Self {
        self.bodies.extend(bodies);
        self
    }

    /// Adds equal bodies in a grid, called `name[0]`, `name[1]`, ... Tell the dimension before.
    #[must_use]
    pub fn repeat(mut self, body: &WorldBody, grid: Grid) -> Self {
        for k in 0..grid.total() {
            let name = format!("{}[{k}]", body.name);
            let shift = grid.shift(k, self.dimension);
            self.bodies.push(body.shifted(name, shift));
        }
        self
    }

    /// Pairs of materials that are not told get the [means](PairLaw::mean) of what both do to themselves. Without this call two materials that can meet
    /// must have a law.
    #[must_use]
    pub fn mean_pairs(mut self) -> Self {
        self.means = true;
        self
    }

    /// Gap, relative to the size of the smaller body, below which a contact is closed; 1e-4 if not given.
    #[must_use]
    pub fn slop(mut self, slop: f64) -> Self {
        self.slop = Some(slop);
        self
    }

    /// What a run writes of bodies and contacts; everything if not given.
    #[must_use]
    pub fn record(mut self, recording: Recording) -> Self {
        self.recording = recording;
        self
    }

    /// Adds a sum that a run records.
    #[must_use]
    pub fn monitor(mut self, monitor: Monitor) -> Self {
        self.monitors.push(monitor);
        self
    }

    /// Checks everything and returns the world.
    pub fn build(self) -> Result<World, WorldError> {
        let dimension = self.dimension;
        let gravity = self.gravity.unwrap_or(match dimension {
            Dimension::Space => [0.0, 0.0, -9.81],
            Dimension::Plane => [0.0, -9.81, 0.0],
        });
        let slop = self.slop.unwrap_or(SLOP);
        check_numbers(dimension, gravity, slop)?;
        let mut materials = self.materials;
        if materials.is_empty() {
            materials.push("material".to_string());
        }
        if self.bodies.is_empty() {
            return Err(WorldError::Empty);
        }
        let mut names = BTreeSet::new();
        for body in &self.bodies {
            if !names.insert(body.name.as_str()) {
                return Err(WorldError::DuplicateName {
                    name: body.name.clone(),
                });
            }
            check_body(body, dimension, materials.len())?;
        }
        let mut laws = PairTable::new(materials);
        for (a, b, law) in self.pairs {
            let count = laws.materials().len();
            if let Some(&wrong) = [a, b].iter().find(|&&m| m as usize >= count) {
                return Err(WorldError::Number {
                    what: "the material of a pair",
                    value: f64::from(wrong),
                    expected: "the number of a material",
                });
            }
            laws.set(a, b, law);
        }
        if self.means {
            laws.fill_with_means(dimension);
        }
        laws.check(dimension)?;
        check_pairs(&self.bodies, &laws)?;
        check_records(self.bodies.len(), &self.recording, &self.monitors)?;
        Ok(World {
            dimension,
            gravity,
            coordinate_names: names_of(&self.bodies, dimension, Names::Coordinates),
            velocity_names: names_of(&self.bodies, dimension, Names::Velocities),
            bodies: self.bodies,
            laws,
            slop,
            recording: self.recording,
            monitors: self.monitors,
        })
    }
}

enum Names {
    Coordinates,
    Velocities,
}

fn names_of(bodies: &[WorldBody], dimension: Dimension, kind: Names) -> Vec<String> {
    let endings: &[&str] = match (dimension, kind) {
        (Dimension::Space, Names::Coordinates) => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        (Dimension::Space, Names::Velocities) => &["vx", "vy", "vz", "wx", "wy", "wz"],
        (Dimension::Plane, Names::Coordinates) => &["x", "y", "angle"],
        (Dimension::Plane, Names::Velocities) => &["vx", "vy", "w"],
    };
    let named = |body: &WorldBody| {
        let name = body.name.clone();
        endings
            .iter()
            .map(move |ending| format!("{name}.{ending}"))
            .collect::<Vec<_>>()
    };
    bodies.iter().flat_map(named).collect()
}

fn check_numbers(dimension: Dimension, gravity: [f64; 3], slop: f64) -> Result<(), WorldError> {
    if let Some(&value) = gravity.iter().find(|g| !g.is_finite()) {
        return Err(WorldError::Number {
            what: "gravity",
            value,
            expected: "finite numbers",
        });
    }
    if dimension == Dimension::Plane && gravity[2] != 0.0 {
        return Err(WorldError::Number {
            what: "the third component of gravity",
            value: gravity[2],
            expected: "zero in the plane",
        });
    }
    if !(slop > 0.0 && slop < 0.1) {
        return Err(WorldError::Number {
            what: "slop",
            value: slop,
            expected: "a number between 0 and 0.1",
        });
    }
    Ok(())
}

fn check_body(body: &WorldBody, dimension: Dimension, materials: usize) -> Result<(), WorldError> {
    let name = || body.name.clone();
    let (pose, twist) = &body.start;
    for (what, values) in [
        ("the position", &pose.position[..]),
        ("the quaternion", &pose.rotation[..]),
        ("the velocity", &twist.velocity[..]),
        ("the spin", &twist.spin[..]),
    ] {
        if let Some(&value) = values.iter().find(|x| !x.is_finite()) {
            return Err(WorldError::NonFinite {
                body: name(),
                what,
                value,
            });
        }
    }
    let length = pose.rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
    if (length - 1.0).abs() > 1e-9 {
        return Err(WorldError::Quaternion {
            body: name(),
            length,
        });
    }
    if body.material as usize >= materials {
        return Err(WorldError::Material {
            body: name(),
            material: body.material,
            count: materials,
        });
    }
    if dimension == Dimension::Plane {
        let [_, x, y, _] = pose.rotation;
        for (what, wrong) in [
            ("the position", pose.position[2] != 0.0),
            ("the rotation", x != 0.0 || y != 0.0),
            ("the velocity", twist.velocity[2] != 0.0),
            ("the spin", twist.spin[0] != 0.0 || twist.spin[1] != 0.0),
        ] {
            if wrong {
                return Err(WorldError::OutOfPlane { body: name(), what });
            }
        }
    }
    if body.is_free() {
        check_inertia(body, dimension)?;
    }
    Ok(())
}

fn check_inertia(body: &WorldBody, dimension: Dimension) -> Result<(), WorldError> {
    let name = || body.name.clone();
    let moments = match dimension {
        Dimension::Plane => &body.inertia[2..],
        Dimension::Space => &body.inertia[..],
    };
    let mut numbers = vec![("the mass", body.mass), ("the size", body.size)];
    numbers.extend(moments.iter().map(|&j| ("a moment of inertia", j)));
    for (what, value) in numbers {
        if !value.is_finite() {
            return Err(WorldError::NonFinite {
                body: name(),
                what,
                value,
            });
        }
        if value <= 0.0 {
            return Err(WorldError::NotPositive {
                body: name(),
                what,
                value,
            });
        }
    }
    let sum: f64 = moments.iter().sum();
    let largest = moments.iter().copied().fold(0.0, f64::max);
    if dimension == Dimension::Space && largest > 0.5 * sum * (1.0 + 1e-9) {
        return Err(WorldError::Moments {
            body: name(),
            inertia: body.inertia,
        });
    }
    for placed in &body.shapes {
        let shape = match placed.shape {
            Shape::HalfSpace { .. } => "half-space",
            Shape::Mesh { .. } => "mesh",
            Shape::HeightField { .. } => "height field",
            _ => continue,
        };
        return Err(WorldError::FreeObstacle {
            body: name(),
            shape,
        });
    }
    Ok(())
}

/// Recorded bodies and members of groups exist.
fn check_records(
    count: usize,
    recording: &Recording,
    monitors: &[Monitor],
) -> Result<(), WorldError> {
    let monitored = monitors.iter().flat_map(|monitor| match &monitor.quantity {
        MonitorQuantity::Force { between } | MonitorQuantity::Contacts { between } => {
            between.iter().flatten()
        }
        MonitorQuantity::Momentum { group } | MonitorQuantity::Energy { group } => {
            std::slice::from_ref(group).iter().flatten()
        }
    });
    let mut named = recording.bodies.iter().flatten().chain(monitored);
    match named.find(|&&body| body as usize >= count) {
        Some(&body) => Err(WorldError::Number {
            what: "a recorded body",
            value: f64::from(body),
            expected: "the number of a body",
        }),
        None => Ok(()),
    }
}

/// Two materials that can meet have a law.
fn check_pairs(bodies: &[WorldBody], laws: &PairTable) -> Result<(), WorldError> {
    // Materials of free bodies meet everything, including themselves where two bodies have them.
    let free = |body: &WorldBody| matches!(body.motion, BodyMotion::Free);
    let touching = || bodies.iter().filter(|b| b.collides && !b.shapes.is_empty());
    let count = laws.materials().len();
    let (mut all, mut moving) = (vec![0usize; count], vec![0usize; count]);
    for body in touching() {
        all[body.material as usize] += 1;
        moving[body.material as usize] += usize::from(free(body));
    }
    for a in 0..count {
        for b in 0..count {
            let others = all[b] - usize::from(a == b).min(all[b]);
            if moving[a] > 0 && others > 0 && laws.find(a as u32, b as u32).is_none() {
                return Err(WorldError::NoLaw {
                    between: [a, b].map(|m| laws.materials()[m].clone()),
                });
            }
        }
    }
    Ok(())
}
