//! Which pairs of shapes can come near each other: a list with a margin, made anew when a body has used its margin up.

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector as Point;
use parry3d_f64::partitioning::{Bvh, BvhWorkspace};

use super::solid::Solid;
use super::vector::{Transform, Vector, along, distance, dot};
use crate::systems::world::{BodyMotion, Pose, World, WorldState};

/// A shape of a body, as the broad phase sees it.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub body: u32,
    /// Number of the shape within its body.
    pub shape: u32,
    pub solid: Solid,
    /// Body from shape.
    pub placed: Transform,
    /// Centre and half sides of the box of the shape, in its frame.
    middle: Vector,
    half: Vector,
    /// A ball at the centre of its body: rotation does not move it.
    pub centred: bool,
}

impl Proxy {
    pub fn new(body: u32, shape: u32, solid: Solid, pose: &Pose) -> Self {
        let (low, high) = bounds(&solid);
        let placed = Transform::of(pose);
        let centred = matches!(solid, Solid::Ball { .. }) && pose.position == [0.0; 3];
        Self {
            body,
            shape,
            solid,
            placed,
            middle: std::array::from_fn(|k| 0.5 * (low[k] + high[k])),
            half: std::array::from_fn(|k| 0.5 * (high[k] - low[k])),
            centred,
        }
    }

    /// Centre and half sides of a box around the shape in the world.
    fn world_box(&self, frame: &Transform) -> (Vector, Vector) {
        if let Solid::Ball { radius } = self.solid {
            return (frame.translation, [radius; 3]);
        }
        let half = std::array::from_fn(|k| {
            let row = frame.rotation[k];
            row[0].abs() * self.half[0] + row[1].abs() * self.half[1] + row[2].abs() * self.half[2]
        });
        (frame.point(self.middle), half)
    }

    pub fn is_half_space(&self) -> bool {
        matches!(self.solid, Solid::HalfSpace { .. })
    }
}

/// Box of a shape in its frame.
fn bounds(solid: &Solid) -> (Vector, Vector) {
    match solid {
        Solid::HalfSpace { .. } => ([0.0; 3], [0.0; 3]),
        Solid::Mesh(mesh) => {
            let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            for v in mesh.vertices() {
                for k in 0..3 {
                    low[k] = low[k].min(v[k]);
                    high[k] = high[k].max(v[k]);
                }
            }
            (low, high)
        }
        Solid::Flat { points, radius } => {
            let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            for p in points.iter() {
                for k in 0..2 {
                    low[k] = low[k].min(p[k] - radius);
                    high[k] = high[k].max(p[k] + radius);
                }
            }
            (low[2], high[2]) = (0.0, 0.0);
            (low, high)
        }
        _ => {
            let axis = |k: usize, sign: f64| {
                let mut d = [0.0; 3];
                d[k] = sign;
                solid.height(d)
            };
            (
                std::array::from_fn(|k| -axis(k, -1.0)),
                std::array::from_fn(|k| axis(k, 1.0)),
            )
        }
    }
}

/// Margin of a body beyond what a step needs, in parts of its radius.
const SKIN: f64 = 0.1;
/// The margin covers this many times the reach at the time the list is made.
const AHEAD: f64 = 1.5;

/// List of neighbours with margins.
#[derive(Clone, Default)]
pub(super) struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    half_spaces: Vec<u32>,
    /// Poses at which the list was made, and what each body may move or reach since.
    poses: Vec<Pose>,
    margins: Vec<f64>,
    made: bool,
}

impl BroadPhase {
    /// The next list must be made anew.
    pub fn forget(&mut self) {
        self.made = false;
    }

    /// Whether the list still holds every pair that can meet: no body has moved, or reaches, beyond its margin.
    pub fn holds(&self, world: &World, state: &WorldState, reaches: &[f64]) -> bool {
        self.made
            && world.bodies.iter().enumerate().all(|(i, body)| {
                let (from, to) = (&self.poses[i], &state.poses[i]);
                if from == to {
                    return reaches[i] <= self.margins[i];
                }
                let moved = distance(from.position, to.position);
                let turned = if body.radius.is_finite() {
                    // |q − q₀| is at least half the sine of half the angle between them.
                    let d: f64 = (0..4)
                        .map(|k| (from.rotation[k] - to.rotation[k]).powi(2))
                        .sum();
                    let e: f64 = (0..4)
                        .map(|k| (from.rotation[k] + to.rotation[k]).powi(2))
                        .sum();
                    turns(body) * std::f64::consts::PI * d.min(e).sqrt()
                } else {
                    0.0
                };
                moved + turned + reaches[i] <= self.margins[i]
            })
    }

    /// All pairs of proxies whose boxes, with the margins, meet; unordered.
    pub fn pairs(
        &mut self,
        world: &World,
        state: &WorldState,
        (proxies, frames): (&[Proxy], &[Transform]),
        reaches: &[f64],
        mut found: impl FnMut(u32, u32),
    ) {
        self.poses.clear();
        self.poses.extend_from_slice(&state.poses);
        self.margins.clear();
        let margin = |(body, reach): (&crate::systems::world::WorldBody, &f64)| {
            let skin = if body.radius.is_finite() {
                SKIN * body.radius
            } else {
                0.0
            };
            AHEAD * reach + skin
        };
        self.margins
            .extend(world.bodies.iter().zip(reaches).map(margin));
        let vector = |v: Vector| Point::new(v[0], v[1], v[2]);
        let first = self.tree.is_empty();
        self.half_spaces.clear();
        for (k, (proxy, frame)) in proxies.iter().zip(frames).enumerate() {
            if proxy.is_half_space() {
                self.half_spaces.push(k as u32);
                continue;
            }
            let (middle, half) = proxy.world_box(frame);
            let wide = half.map(|h| h + self.margins[proxy.body as usize]);
            let low = along(middle, -1.0, wide);
            let high = along(middle, 1.0, wide);
            let aabb = Aabb::new(vector(low), vector(high));
            self.tree.insert_or_update_partially(aabb, k as u32, 0.0);
        }
        if first && !self.tree.is_empty() {
            self.tree.rebuild(
                &mut self.workspace,
                parry3d_f64::partitioning::BvhBuildStrategy::Binned,
            );
        } else {
            self.tree.refit(&mut self.workspace);
            self.tree.optimize_incremental(&mut self.workspace);
        }
        self.tree
            .traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut found);
        self.made = true;
        for &plane in &self.half_spaces {
            let (proxy, frame) = (&proxies[plane as usize], &frames[plane as usize]);
            let Solid::HalfSpace { normal } = proxy.solid else {
                continue;
            };
            let normal = frame.vector(normal);
            let level = dot(normal, frame.translation);
            let body = &world.bodies[proxy.body as usize];
            // A driven half-space sweeps any distance: everything is near it.
            let moves = matches!(body.motion, BodyMotion::Driven(_));
            for (k, (other, at)) in proxies.iter().zip(frames).enumerate() {
                if other.is_half_space() {
                    continue;
                }
                let (middle, half) = other.world_box(at);
                let extent = dot(normal.map(f64::abs), half);
                let lowest = dot(normal, middle) - extent - level;
                if moves || lowest <= self.margins[other.body as usize] {
                    found(plane, k as u32);
                }
            }
        }
    }
}

/// Distance of the farthest point from the centre that rotation moves.
fn turns(body: &crate::systems::world::WorldBody) -> f64 {
    use crate::systems::world::Shape;
    match &body.shapes[..] {
        [one] if matches!(one.shape, Shape::Ball { .. }) && one.pose.position == [0.0; 3] => 0.0,
        _ => body.radius,
    }
}

/// Largest gap each body alone can close in a step, with what gravity adds and the slop.
pub(super) fn body_reaches(world: &World, state: &WorldState, h: f64, out: &mut Vec<f64>) {
    let gravity = world.gravity_size();
    out.clear();
    out.extend(world.bodies.iter().zip(&state.twists).map(|(body, twist)| {
        let speed = dot(twist.velocity, twist.velocity).sqrt();
        let spin = dot(twist.spin, twist.spin).sqrt();
        let turning = if spin > 0.0 && body.radius.is_finite() {
            spin * body.radius
        } else {
            0.0
        };
        let slop = if body.size.is_finite() {
            2.0 * world.slop * body.size
        } else {
            0.0
        };
        let free = if body.is_free() { h * gravity } else { 0.0 };
        2.0 * h * (speed + turning + free) + slop
    }));
}

/// World from shape.
pub(super) fn frame_of(proxy: &Proxy, pose: &Pose) -> Transform {
    if proxy.centred {
        return Transform {
            rotation: Transform::IDENTITY.rotation,
            translation: pose.position,
        };
    }
    let body = Transform::of(pose);
    if let Solid::Ball { .. } = proxy.solid {
        return Transform {
            rotation: Transform::IDENTITY.rotation,
            translation: body.point(proxy.placed.translation),
        };
    }
    if proxy.placed == Transform::IDENTITY {
        return body;
    }
    body.times(&proxy.placed)
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase")
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}
