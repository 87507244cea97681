//! A world of rigid bodies as a mechanical system.

use crate::algebra::{CompensatedSum, SymmetricMatrix};
use crate::systems::{
    BilateralConstraint, ForceDependence, Instant, MechanicalSystem, UnilateralConstraint,
};

use super::{Monitor, PairTable, Recording, Twist, WorldBody, WorldBuilder, WorldState};

/// Where the motion takes place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dimension {
    /// In the x-y plane, rotation about z.
    Plane,
    /// In space.
    #[default]
    Space,
}

impl Dimension {
    /// Coordinates of a body.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Plane => 3,
            Self::Space => 7,
        }
    }

    /// Velocities of a body.
    pub fn freedoms(self) -> usize {
        match self {
            Self::Plane => 3,
            Self::Space => 6,
        }
    }

    /// Directions of space.
    pub fn axes(self) -> usize {
        match self {
            Self::Plane => 2,
            Self::Space => 3,
        }
    }
}

/// A world of rigid bodies, immutable during a run.
///
/// As a [`MechanicalSystem`] its coordinates are, body by body, place and quaternion (in the plane place and angle), its
/// velocities the velocity of the centre of mass in world axes and the spin in body axes. It has no declared constraints:
/// contacts come from a [`super::ContactSource`]. It is stepped by schemes of its own, which move fixed and driven bodies
/// as told and the others by forces and contacts.
#[derive(Clone, Debug)]
pub struct World {
    /// Plane or space.
    pub dimension: Dimension,
    /// Acceleration of gravity.
    pub gravity: [f64; 3],
    /// The bodies.
    pub bodies: Vec<WorldBody>,
    /// Laws by pair of materials.
    #[doc(hidden)]
    pub laws: PairTable,
    /// Gap, relative to the size of the smaller body, below which a contact is closed.
    pub slop: f64,
    /// What a run writes of bodies and contacts.
    pub recording: Recording,
    /// Sums that a run records.
    pub monitors: Vec<Monitor>,
    pub(super) coordinate_names: Vec<String>,
    pub(super) velocity_names: Vec<String>,
}

impl World {
    /// Starts a world.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }

    /// Coordinates at the start.
    pub fn start_coordinates(&self) -> Vec<f64> {
        let mut q = Vec::with_capacity(self.coordinate_count());
        for body in &self.bodies {
            let pose = &body.start.0;
            match self.dimension {
                Dimension::Space => {
                    q.extend_from_slice(&pose.position);
                    q.extend_from_slice(&pose.rotation);
                }
                Dimension::Plane => {
                    let [w, _, _, z] = pose.rotation;
                    q.extend_from_slice(&[pose.position[0], pose.position[1], 2.0 * z.atan2(w)]);
                }
            }
        }
        q
    }

    /// Velocities at the start.
    pub fn start_velocities(&self) -> Vec<f64> {
        let mut v = Vec::with_capacity(self.dof());
        for body in &self.bodies {
            let Twist { velocity, spin } = body.start.1;
            match self.dimension {
                Dimension::Space => {
                    v.extend_from_slice(&velocity);
                    v.extend_from_slice(&spin);
                }
                Dimension::Plane => v.extend_from_slice(&[velocity[0], velocity[1], spin[2]]),
            }
        }
        v
    }

    /// Whether two bodies may touch: one of them is free, and neither group nor list forbids it.
    pub fn may_touch(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.bodies[a], &self.bodies[b]);
        a != b
            && (x.is_free() || y.is_free())
            && x.collides
            && y.collides
            && (x.group == 0 || x.group != y.group)
            && !x.ignores.contains(&(b as u32))
            && !y.ignores.contains(&(a as u32))
    }

    /// Gap below which a contact of two bodies counts as closed: the slop times the smaller size.
    #[inline]
    pub(crate) fn slop_of(&self, a: usize, b: usize) -> f64 {
        self.slop * self.bodies[a].size.min(self.bodies[b].size)
    }

    /// Length of the gravity vector.
    pub(crate) fn gravity_size(&self) -> f64 {
        self.gravity.iter().map(|g| g * g).sum::<f64>().sqrt()
    }

    /// Largest gap of two bodies that a step of length `h` can close: twice the way of their approach with rotation, what
    /// gravity adds, and twice the slop.
    pub(crate) fn reach(&self, state: &WorldState, a: usize, b: usize, h: f64) -> f64 {
        let spin = |body: usize, distance: f64| {
            let spin = state.twists[body].spin;
            let size = spin.iter().map(|w| w * w).sum::<f64>().sqrt();
            if size == 0.0 { 0.0 } else { size * distance }
        };
        let apart = distance(state.poses[a].position, state.poses[b].position);
        // A point of the other body is at most its radius farther away than its centre.
        let arm = |own: usize, other: usize| {
            self.bodies[own]
                .radius
                .min(apart + self.bodies[other].radius)
        };
        let approach = distance(state.twists[a].velocity, state.twists[b].velocity)
            + spin(a, arm(a, b))
            + spin(b, arm(b, a));
        2.0 * h * (approach + h * self.gravity_size()) + 2.0 * self.slop_of(a, b)
    }

    /// Turns whitened velocities (√M v, the unknowns of a step over bodies) of free bodies into velocities; the others get those of
    /// `told`.
    pub(crate) fn unwhiten(&self, told: &[f64], velocities: &mut [f64]) {
        let freedoms = self.dimension.freedoms();
        let bodies = self
            .bodies
            .iter()
            .zip(velocities.chunks_exact_mut(freedoms));
        for ((body, v), told) in bodies.zip(told.chunks_exact(freedoms)) {
            if !body.is_free() {
                v.copy_from_slice(told);
                continue;
            }
            let axes = self.dimension.axes();
            v[..axes].iter_mut().for_each(|v| *v /= body.mass.sqrt());
            match &mut v[axes..] {
                [turn] => *turn /= body.inertia[2].sqrt(),
                spin => {
                    let moments = spin.iter_mut().zip(body.inertia);
                    moments.for_each(|(w, j)| *w /= j.sqrt());
                }
            }
        }
    }

    /// Name of a contact in messages: `brick[3]|floor#2`.
    pub fn contact_name(&self, key: crate::contact::ContactKey) -> String {
        let name = |owner: u32| self.bodies[owner as usize].name.as_str();
        format!(
            "{}|{}#{}",
            name(key.owners[0]),
            name(key.owners[1]),
            key.slot
        )
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

impl MechanicalSystem for World {
    fn dof(&self) -> usize {
        self.bodies.len() * self.dimension.freedoms()
    }

    fn coordinate_count(&self) -> usize {
        self.bodies.len() * self.dimension.coordinates()
    }

    fn coordinate_names(&self) -> &[String] {
        &self.coordinate_names
    }

    fn velocity_names(&self) -> &[String] {
        &self.velocity_names
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn mass(&self, _q: &[f64], out: &mut SymmetricMatrix) {
        out.clear();
        let freedoms = self.dimension.freedoms();
        for (i, body) in self.bodies.iter().enumerate().filter(|(_, b)| b.is_free()) {
            let first = i * freedoms;
            match self.dimension {
                Dimension::Plane => {
                    for (k, m) in [body.mass, body.mass, body.inertia[2]].iter().enumerate() {
                        out.set(first + k, first + k, *m);
                    }
                }
                Dimension::Space => {
                    for k in 0..3 {
                        out.set(first + k, first + k, body.mass);
                        out.set(first + 3 + k, first + 3 + k, body.inertia[k]);
                    }
                }
            }
        }
    }

    fn kinetic_energy(&self, _q: &[f64], v: &[f64]) -> f64 {
        let freedoms = self.dimension.freedoms();
        let bodies = self.bodies.iter().zip(v.chunks_exact(freedoms));
        bodies
            .filter(|(body, _)| body.is_free())
            .map(|(body, v)| {
                let [j1, j2, j3] = body.inertia;
                let m = body.mass;
                0.5 * match *v {
                    [x, y, w] => m * (x * x + y * y) + j3 * w * w,
                    [x, y, z, a, b, c] => {
                        m * (x * x + y * y + z * z) + (j1 * a * a + j2 * b * b + j3 * c * c)
                    }
                    _ => 0.0,
                }
            })
            .collect::<CompensatedSum>()
            .value()
    }

    fn covariant_force(&self, _q: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        if self.dimension == Dimension::Plane {
            return;
        }
        for (body, (v, out)) in self
            .bodies
            .iter()
            .zip(v.chunks_exact(6).zip(out.chunks_exact_mut(6)))
        {
            if body.is_free() {
                let [j1, j2, j3] = body.inertia;
                out[3] = (j2 - j3) * v[4] * v[5];
                out[4] = (j3 - j1) * v[5] * v[3];
                out[5] = (j1 - j2) * v[3] * v[4];
            }
        }
    }

    fn has_covariant_force(&self) -> bool {
        self.dimension == Dimension::Space
            && self.bodies.iter().any(|b| b.is_free() && !b.is_spherical())
    }

    fn force_dependence(&self) -> ForceDependence {
        if self.bodies.iter().any(|b| b.is_free() && b.force.is_some()) {
            ForceDependence::State
        } else {
            ForceDependence::None
        }
    }

    fn force(&self, at: &Instant, out: &mut [f64]) {
        out.fill(0.0);
        let mut state = WorldState::default();
        state.read(self, at.t, at.q, at.v);
        let freedoms = self.dimension.freedoms();
        for (i, (body, out)) in self
            .bodies
            .iter()
            .zip(out.chunks_exact_mut(freedoms))
            .enumerate()
        {
            let Some(force) = body.force.as_ref().filter(|_| body.is_free()) else {
                continue;
            };
            let (pose, twist) = (&state.poses[i], &state.twists[i]);
            let load = force.load(at.t, pose, twist);
            match self.dimension {
                Dimension::Plane => {
                    out.copy_from_slice(&[load.force[0], load.force[1], load.torque[2]]);
                }
                Dimension::Space => {
                    out[..3].copy_from_slice(&load.force);
                    out[3..].copy_from_slice(&pose.body_direction(load.torque));
                }
            }
        }
    }

    fn has_potential(&self) -> bool {
        self.gravity != [0.0; 3]
    }

    fn potential(&self, q: &[f64]) -> f64 {
        let coordinates = self.dimension.coordinates();
        let axes = self.dimension.axes();
        let bodies = self.bodies.iter().zip(q.chunks_exact(coordinates));
        bodies
            .filter(|(body, _)| body.is_free())
            .map(|(body, q)| -> f64 {
                -body.mass * (0..axes).map(|k| self.gravity[k] * q[k]).sum::<f64>()
            })
            .collect::<CompensatedSum>()
            .value()
    }

    fn potential_gradient(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let axes = self.dimension.axes();
        let freedoms = self.dimension.freedoms();
        for (body, out) in self.bodies.iter().zip(out.chunks_exact_mut(freedoms)) {
            if body.is_free() {
                for (o, g) in out[..axes].iter_mut().zip(self.gravity) {
                    *o = -body.mass * g;
                }
            }
        }
    }

    fn potential_is_linear(&self) -> bool {
        true
    }

    fn potential_hessian(&self, _q: &[f64], out: &mut SymmetricMatrix) -> bool {
        out.clear();
        true
    }

    fn constraints(&self) -> &[UnilateralConstraint] {
        &[]
    }

    fn joints(&self) -> &[BilateralConstraint] {
        &[]
    }

    fn as_world(&self) -> Option<&World> {
        Some(self)
    }
}
