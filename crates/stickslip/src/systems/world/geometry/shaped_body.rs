//! A body from its shapes: mass, principal frame, extents.

use super::mass::MassProperties;
use super::vector::{Transform, distance, norm};
use crate::systems::rigid::UnitQuaternion;
use crate::systems::world::{Dimension, PlacedShape, Pose, Shape, WorldBody, WorldError};

/// What a body weighs; what is given overrides what follows from the shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// Mass per volume, in the plane per area.
    pub density: Option<f64>,
    /// Mass; alone it scales the inertia of the shapes.
    pub mass: Option<f64>,
    /// Inertia about the centre of mass in the frame of the shapes, rows of a symmetric matrix; in the plane only the last
    /// entry is read.
    pub inertia: Option<[[f64; 3]; 3]>,
    /// Centre of mass in the frame of the shapes.
    pub centre: Option<[f64; 3]>,
}

impl WorldBody {
    /// A free body made of shapes, at rest, and the pose of its principal frame in the frame of the shapes.
    ///
    /// The body stands where the frame of the shapes is the world frame; multiply a pose of that frame by the second
    /// result to place it elsewhere.
    pub fn of_shapes(
        name: impl Into<String>,
        shapes: &[PlacedShape],
        weight: &Weight,
        dimension: Dimension,
    ) -> Result<(Self, Pose), WorldError> {
        let name = name.into();
        for placed in shapes {
            let shape = match placed.shape {
                Shape::HalfSpace { .. } => "half-space",
                Shape::Mesh { .. } => "mesh",
                Shape::HeightField { .. } => "height field",
                _ => continue,
            };
            return Err(WorldError::FreeObstacle { body: name, shape });
        }
        let (whole, size) = measure(&name, shapes, dimension)?;
        let weighed = weigh(&name, &whole, weight, dimension)?;
        let (moments, axes) = match dimension {
            Dimension::Space => weighed.principal(),
            // About z whatever the shape: every axis in the plane is as good as any other.
            Dimension::Plane => ([weighed.inertia[2][2]; 3], Transform::IDENTITY.rotation),
        };
        let frame = Pose {
            position: weighed.centre,
            rotation: quaternion(&axes),
        };
        let mut body = Self::new(name, weighed.mass, moments);
        body.place_shapes(shapes, &frame, size, dimension)?;
        body.start.0 = frame;
        Ok((body, frame))
    }

    /// A body that is not free: its frame is that of the shapes.
    pub fn obstacle(
        name: impl Into<String>,
        shapes: &[PlacedShape],
        dimension: Dimension,
    ) -> Result<Self, WorldError> {
        let name = name.into();
        let (_, size) = measure(&name, shapes, dimension)?;
        let mut body = Self::new(name, 0.0, [0.0; 3]);
        body.motion = crate::systems::world::BodyMotion::Fixed;
        body.place_shapes(shapes, &Pose::IDENTITY, size, dimension)?;
        Ok(body)
    }

    fn place_shapes(
        &mut self,
        shapes: &[PlacedShape],
        frame: &Pose,
        size: f64,
        dimension: Dimension,
    ) -> Result<(), WorldError> {
        let [w, x, y, z] = frame.rotation;
        let back = Pose {
            position: frame.body_point([0.0; 3]),
            rotation: [w, -x, -y, -z],
        };
        self.size = size;
        self.radius = 0.0;
        self.shapes.clear();
        for placed in shapes {
            let pose = if *frame == Pose::IDENTITY {
                placed.pose
            } else {
                back.times(&placed.pose)
            };
            let measure = placed
                .shape
                .measure(dimension)
                .map_err(|error| WorldError::Shape {
                    body: self.name.clone(),
                    error,
                })?;
            self.radius = self.radius.max(norm(pose.position) + measure.radius);
            self.shapes.push(PlacedShape {
                shape: placed.shape.clone(),
                pose,
            });
        }
        Ok(())
    }
}

/// Mass properties at density 1 and smallest extent of all shapes together; overlaps count twice.
fn measure(
    name: &str,
    shapes: &[PlacedShape],
    dimension: Dimension,
) -> Result<(MassProperties, f64), WorldError> {
    let mut whole = MassProperties::NONE;
    let mut size = f64::INFINITY;
    for placed in shapes {
        let refuse = |error| WorldError::Shape {
            body: name.to_owned(),
            error,
        };
        placed.shape.checked(dimension).map_err(refuse)?;
        let measure = placed.shape.measure(dimension).map_err(refuse)?;
        whole = whole.joined(&measure.mass.placed(&Transform::of(&placed.pose)));
        size = size.min(measure.size);
    }
    Ok((whole, size))
}

/// Applies what is given about mass, inertia and centre.
fn weigh(
    name: &str,
    whole: &MassProperties,
    weight: &Weight,
    dimension: Dimension,
) -> Result<MassProperties, WorldError> {
    let positive = |what: &'static str, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(WorldError::NotPositive {
                body: name.to_owned(),
                what,
                value,
            })
        }
    };
    let mut weighed = match (weight.mass, weight.density) {
        (Some(mass), _) => {
            positive("the mass", mass)?;
            // Shapes without volume weigh what is given, and their inertia must be given, too.
            if whole.mass > 0.0 {
                whole.scaled(mass / whole.mass)
            } else {
                MassProperties { mass, ..*whole }
            }
        }
        (None, density) => whole.scaled(positive("the density", density.unwrap_or(0.0))?),
    };
    positive("the mass of its shapes", weighed.mass)?;
    if let Some(centre) = weight.centre {
        // The inertia of the shapes is moved along, as if the shapes were balanced there.
        if distance(centre, weighed.centre) > 0.0 {
            weighed.centre = centre;
        }
    }
    if let Some(inertia) = weight.inertia {
        weighed.inertia = inertia;
    }
    let first = if dimension == Dimension::Plane { 2 } else { 0 };
    for k in first..3 {
        positive("a moment of inertia", weighed.inertia[k][k])?;
    }
    Ok(weighed)
}

/// The rotation whose columns are the given axes, as a quaternion.
fn quaternion(axes: &[[f64; 3]; 3]) -> [f64; 4] {
    let r = axes;
    if *r == Transform::IDENTITY.rotation {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let trace = r[0][0] + r[1][1] + r[2][2];
    // The largest component first, from which the others follow without cancellation.
    let squares = [
        1.0 + trace,
        1.0 + 2.0 * r[0][0] - trace,
        1.0 + 2.0 * r[1][1] - trace,
        1.0 + 2.0 * r[2][2] - trace,
    ];
    let mut largest = 0;
    for k in 1..4 {
        if squares[k] > squares[largest] {
            largest = k;
        }
    }
    let s = squares[largest].sqrt();
    let half = 0.5 / s;
    let q = match largest {
        0 => [
            0.5 * s,
            (r[2][1] - r[1][2]) * half,
            (r[0][2] - r[2][0]) * half,
            (r[1][0] - r[0][1]) * half,
        ],
        1 => [
            (r[2][1] - r[1][2]) * half,
            0.5 * s,
            (r[0][1] + r[1][0]) * half,
            (r[0][2] + r[2][0]) * half,
        ],
        2 => [
            (r[0][2] - r[2][0]) * half,
            (r[0][1] + r[1][0]) * half,
            0.5 * s,
            (r[1][2] + r[2][1]) * half,
        ],
        _ => [
            (r[1][0] - r[0][1]) * half,
            (r[0][2] + r[2][0]) * half,
            (r[1][2] + r[2][1]) * half,
            0.5 * s,
        ],
    };
    UnitQuaternion(q).normalized().0
}
