//! Rigid bodies: their surfaces, each kept once, and their poses.

use serde::Serialize;

use crate::scene::BodyShape;
use crate::systems::World;
use crate::systems::world::{BodyMotion, Dimension, Pose, Shape, WorldBody};

/// What is seen of a body, in its own frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Geometry {
    /// Balls (discs in the plane): centre and radius. A radius of zero is a point.
    pub balls: Vec<[f64; 4]>,
    /// Points of its other surfaces, one after the other.
    pub points: Vec<f64>,
    /// Faces, corners in order around each; two corners make a line.
    pub faces: Vec<Vec<u32>>,
    /// Half-spaces: a point and the outward normal.
    pub half_spaces: Vec<[f64; 6]>,
}

/// A rigid body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewBody {
    /// Name.
    pub name: String,
    /// Number of its geometry.
    pub geometry: u32,
    /// Mass; zero for obstacles.
    pub mass: f64,
    /// Whether forces move it.
    pub free: bool,
    /// Which of the poses of a frame is its own; none for a body that stands still.
    pub moving: Option<u32>,
    /// Place and quaternion at the start.
    pub start: [f64; 7],
}

impl Geometry {
    fn of(body: &WorldBody, dimension: Dimension) -> Self {
        let mut out = Self::default();
        let mut others = body.clone();
        others.shapes.clear();
        for placed in &body.shapes {
            let p = placed.pose.position;
            match placed.shape {
                Shape::Ball { radius } => out.balls.push([p[0], p[1], p[2], radius]),
                Shape::HalfSpace { normal } => {
                    let n = placed.pose.direction(normal);
                    out.half_spaces.push([p[0], p[1], p[2], n[0], n[1], n[2]]);
                }
                _ => others.shapes.push(placed.clone()),
            }
        }
        let surface = others.surface(dimension);
        out.points = surface.points.into_iter().flatten().collect();
        out.faces = surface.faces;
        out
    }

    /// Balls fixed in a body, and lines to them from its centre of mass.
    pub(super) fn of_shape(shape: &BodyShape) -> Self {
        let mut out = Self {
            points: vec![0.0; 3],
            ..Self::default()
        };
        for (k, &(arm, radius)) in shape.balls.iter().enumerate() {
            out.balls.push([arm[0], arm[1], arm[2], radius]);
            out.points.extend(arm);
            out.faces.push(vec![0, k as u32 + 1]);
        }
        out
    }
}

/// Seven numbers of a pose.
pub(super) fn numbers(pose: &Pose) -> [f64; 7] {
    let (p, r) = (pose.position, pose.rotation);
    [p[0], p[1], p[2], r[0], r[1], r[2], r[3]]
}

/// The bodies of a world and their distinct geometries.
pub(super) fn bodies(world: &World) -> (Vec<ViewBody>, Vec<Geometry>) {
    let mut geometries: Vec<Geometry> = Vec::new();
    let recorded = world.recording.bodies(world.bodies.len());
    let mut moving = 0;
    let mut all = Vec::with_capacity(world.bodies.len());
    for (k, body) in world.bodies.iter().enumerate() {
        let geometry = Geometry::of(body, world.dimension);
        // Alike bodies follow each other, so the latest is looked at first; a bound keeps worlds of many sizes fast.
        let known = geometries
            .iter()
            .rev()
            .take(64)
            .position(|other| *other == geometry);
        let number = known.map_or(geometries.len(), |back| geometries.len() - 1 - back);
        if known.is_none() {
            geometries.push(geometry);
        }
        let seen = match body.motion {
            BodyMotion::Free => recorded.binary_search(&(k as u32)).is_ok(),
            BodyMotion::Fixed => false,
            BodyMotion::Driven(_) => true,
        };
        all.push(ViewBody {
            name: body.name.clone(),
            geometry: number as u32,
            mass: body.mass,
            free: body.is_free(),
            moving: seen.then(|| {
                moving += 1;
                moving - 1
            }),
            start: numbers(&body.start.0),
        });
    }
    (all, geometries)
}

/// Appends the poses of the moving bodies at time `t`; `state` gives those that are recorded.
pub(super) fn push_poses(
    world: &World,
    bodies: &[ViewBody],
    t: f64,
    state: impl Fn(u32) -> Option<Pose>,
    out: &mut Vec<f64>,
) {
    for (k, body) in bodies.iter().enumerate() {
        if body.moving.is_none() {
            continue;
        }
        let pose = match &world.bodies[k].motion {
            BodyMotion::Driven(motion) => Some(motion.pose(t)),
            _ => state(k as u32),
        };
        out.extend(pose.as_ref().map_or(body.start, numbers));
    }
}
