//! One body of a world.

use std::fmt;
use std::sync::Arc;

use super::{PlacedShape, Pose, Shape, Twist};

/// A motion given as a function of time.
pub trait DrivenMotion: Send + Sync {
    /// Place and orientation at time t.
    fn pose(&self, t: f64) -> Pose;

    /// Velocity at time t: spin in the axes of the body at that time.
    fn velocity(&self, t: f64) -> Twist;
}

/// How a body moves.
#[derive(Clone)]
pub enum BodyMotion {
    /// By forces and contacts.
    Free,
    /// Not at all.
    Fixed,
    /// As a function of time tells; its work is that of supports.
    Driven(Arc<dyn DrivenMotion>),
}

impl fmt::Debug for BodyMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "Free",
            Self::Fixed => "Fixed",
            Self::Driven(_) => "Driven(..)",
        })
    }
}

/// Force at the centre of mass and torque, both in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force at the centre of mass.
    pub force: [f64; 3],
    /// Torque about the centre of mass.
    pub torque: [f64; 3],
}

/// External force of a body besides gravity.
pub trait BodyForce: Send + Sync {
    /// Force and torque at (t, pose, twist); same arguments, same bits.
    fn load(&self, t: f64, pose: &Pose, twist: &Twist) -> Load;
}

impl<F> BodyForce for F
where
    F: Fn(f64, &Pose, &Twist) -> Load + Send + Sync,
{
    fn load(&self, t: f64, pose: &Pose, twist: &Twist) -> Load {
        self(t, pose, twist)
    }
}

/// A rigid body: its frame is the principal frame at its centre of mass.
///
/// ```
/// use stickslip::systems::world::{Dimension, PlacedShape, Pose, Shape, Weight, WorldBody};
///
/// // A brick of 0.4 × 0.2 × 0.1 m and 2000 kg/m³.
/// let brick = PlacedShape { shape: Shape::cuboid([0.4, 0.2, 0.1])?, pose: Pose::IDENTITY };
/// let weight = Weight { density: Some(2000.0), ..Weight::default() };
/// let (brick, _) = WorldBody::of_shapes("brick", &[brick], &weight, Dimension::Space)?;
/// assert!((brick.mass - 16.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct WorldBody {
    /// Name, unique in its world.
    pub name: String,
    /// How it moves.
    pub motion: BodyMotion,
    /// Mass; not read for bodies that are not free.
    pub mass: f64,
    /// Principal moments of inertia; in the plane only the third is read.
    pub inertia: [f64; 3],
    /// Shapes in the body frame.
    pub shapes: Vec<PlacedShape>,
    /// Material, an index of [`super::PairTable`].
    pub material: u32,
    /// Smallest extent, the unit of slop and tolerances.
    pub size: f64,
    /// Largest distance of a point of the body from its centre of mass; infinite for half-spaces.
    pub radius: f64,
    /// Whether the body touches anything at all.
    pub collides: bool,
    /// Bodies of the same group other than 0 do not touch each other.
    pub group: u32,
    /// Numbers of bodies it never touches.
    pub ignores: Vec<u32>,
    /// Pose and twist at the start.
    pub start: (Pose, Twist),
    /// External force besides gravity.
    pub force: Option<Arc<dyn BodyForce>>,
}

impl fmt::Debug for WorldBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldBody")
            .field("name", &self.name)
            .field("motion", &self.motion)
            .field("mass", &self.mass)
            .field("inertia", &self.inertia)
            .field("shapes", &self.shapes)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

impl WorldBody {
    /// A free body of given mass and moments, without shape, at rest at the origin.
    pub fn new(name: impl Into<String>, mass: f64, inertia: [f64; 3]) -> Self {
        Self {
            name: name.into(),
            motion: BodyMotion::Free,
            mass,
            inertia,
            shapes: Vec::new(),
            material: 0,
            size: 1.0,
            radius: 0.0,
            collides: true,
            group: 0,
            ignores: Vec::new(),
            start: (Pose::IDENTITY, Twist::REST),
            force: None,
        }
    }

    /// A solid ball in space: moments 2/5 m r².
    pub fn ball(name: impl Into<String>, mass: f64, radius: f64) -> Self {
        Self::new(name, mass, [0.4 * mass * radius * radius; 3]).with_ball(radius)
    }

    /// A solid disc in the plane: moment 1/2 m r².
    pub fn disc(name: impl Into<String>, mass: f64, radius: f64) -> Self {
        Self::new(name, mass, [0.5 * mass * radius * radius; 3]).with_ball(radius)
    }

    fn with_ball(mut self, radius: f64) -> Self {
        self.shapes = vec![Shape::Ball { radius }.into()];
        self.size = 2.0 * radius;
        self.radius = radius;
        self
    }

    /// A fixed half-space through `position` with the given outward normal.
    pub fn half_space(name: impl Into<String>, position: [f64; 3], normal: [f64; 3]) -> Self {
        let mut body = Self::new(name, 0.0, [0.0; 3]);
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        body.motion = BodyMotion::Fixed;
        body.shapes = vec![
            Shape::HalfSpace {
                normal: normal.map(|x| x / length),
            }
            .into(),
        ];
        body.size = f64::INFINITY;
        body.radius = f64::INFINITY;
        body.start.0.position = position;
        body
    }

    /// The same body at another pose.
    #[must_use]
    pub fn at(mut self, pose: Pose) -> Self {
        self.start.0 = pose;
        self
    }

    /// The same body with another velocity.
    #[must_use]
    pub fn moving(mut self, velocity: [f64; 3], spin: [f64; 3]) -> Self {
        self.start.1 = Twist { velocity, spin };
        self
    }

    /// The same body of another material.
    #[must_use]
    pub fn of(mut self, material: u32) -> Self {
        self.material = material;
        self
    }

    /// The same body under an external force.
    #[must_use]
    pub fn under(mut self, force: impl BodyForce + 'static) -> Self {
        self.force = Some(Arc::new(force));
        self
    }

    /// The same body moved as a function of time tells, from time `t_start`.
    #[must_use]
    pub fn driven(mut self, motion: impl DrivenMotion + 'static, t_start: f64) -> Self {
        self.start = (motion.pose(t_start), motion.velocity(t_start));
        self.motion = BodyMotion::Driven(Arc::new(motion));
        self
    }

    /// Whether forces and contacts move it.
    #[inline]
    pub fn is_free(&self) -> bool {
        matches!(self.motion, BodyMotion::Free)
    }

    /// Whether its moments are equal, so that it has no gyroscopic term.
    pub(crate) fn is_spherical(&self) -> bool {
        self.inertia[0] == self.inertia[1] && self.inertia[1] == self.inertia[2]
    }
}
