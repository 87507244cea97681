//! The judge of a world: every step taken apart.

use std::ops::ControlFlow;

use crate::contact::ContactKey;
use crate::records::EnergyEntry;
use crate::simulation::verify::{Formulation, Line, MotionSourceError, Verification};
use crate::systems::world::{BodyMotion, Dimension, Load, Pose, Twist, World};

use super::geometry::Geometry;
use super::node::{NodeContact, WorldMotion, WorldNode};
use super::planted::{Planted, states};
use super::vector::{Vector, add, along, cross, dot, norm, sub, worse};

/// What is asked, and how precisely.
#[derive(Clone, Debug)]
pub struct WorldJudgeSettings {
    /// θ of the scheme: 0 for `moreau`.
    pub theta: f64,
    /// Relative tolerance of the contact laws.
    pub tolerance: f64,
    /// Position and velocity at the start.
    pub initial: (Vec<f64>, Vec<f64>),
    /// Time of the start.
    pub t_start: f64,
}

/// Rounding of balances, in parts of the sum of the sizes of their terms.
const ROUNDING: f64 = 1e-10;
/// Rounding of positions, in parts of their size.
const ROUNDING_OF_PLACES: f64 = 1e-12;
/// Energies, in parts of everything that went through the account.
pub(super) const ROUNDING_OF_ENERGY: f64 = 1e-9;
/// A body is moved at most this many times the sum of the overlaps.
const SHARE_OF_OVERLAP: f64 = 10.0;
/// Share of the slop beyond which overlaps are corrected, and to which they are opened.
const CORRECTED: f64 = 1e-6;
const OPENED: f64 = 1e-3;

/// Tests every step of a world.
pub fn verify_world(
    world: &World,
    motion: &(impl WorldMotion + ?Sized),
    settings: &WorldJudgeSettings,
) -> Result<Verification, MotionSourceError> {
    let mut judge = Judge {
        world,
        settings,
        geometry: Geometry::new(world),
        speeds: vec![0.0; world.bodies.len()],
        totals: EnergyEntry::default(),
        throughput: 0.0,
        last: None,
        report: Verification {
            formulation: Formulation::World,
            does_not_apply: None,
            violations: Vec::new(),
            nodes: 0,
            to_tolerance: None,
            literal: None,
        },
    };
    motion.visit(&mut |node| {
        judge.see(node);
        ControlFlow::Continue(())
    })?;
    if judge.report.nodes == 0 {
        judge
            .report
            .note(Line::WellFormed, 0.0, f64::INFINITY, None);
    }
    judge.report.violations.sort_by_key(|v| v.line as usize);
    Ok(judge.report)
}

pub(super) struct Judge<'a> {
    pub world: &'a World,
    pub settings: &'a WorldJudgeSettings,
    geometry: Geometry<'a>,
    /// Largest speed so far of any point of each body.
    pub speeds: Vec<f64>,
    /// The energy account, added up from the motion.
    pub totals: EnergyEntry,
    /// Sum of the sizes of everything that was entered.
    pub throughput: f64,
    last: Option<WorldNode>,
    report: Verification,
}

/// The bodies at the kick of a step.
pub(super) struct Kick {
    pub h: f64,
    pub poses: Vec<Pose>,
    /// Where free bodies had come before their positions were corrected.
    pub arrived: Vec<Pose>,
    pub before: Vec<Twist>,
    pub after: Vec<Twist>,
    pub loads: Vec<Load>,
    /// Displacement by a projection: translation, and rotation in world axes.
    pub moved: Vec<(Vector, Vector)>,
}

impl Kick {
    pub fn velocity(&self, twists: &[Twist], body: usize, place: Vector) -> (Vector, Vector) {
        let spin = self.poses[body].direction(twists[body].spin);
        let arm = sub(place, self.poses[body].position);
        (add(twists[body].velocity, cross(spin, arm)), spin)
    }

    /// Velocity and spin of a relative to b at the place of a contact.
    pub fn relative(&self, twists: &[Twist], contact: &NodeContact) -> (Vector, Vector) {
        let [a, b] = contact.bodies;
        let (va, wa) = self.velocity(twists, a, contact.place);
        let (vb, wb) = self.velocity(twists, b, contact.place);
        (sub(va, vb), sub(wa, wb))
    }
}

impl Judge<'_> {
    fn see(&mut self, node: &WorldNode) {
        self.report.nodes += 1;
        let first = self.last.is_none();
        if !self.well_formed(node) {
            self.report
                .note(Line::WellFormed, node.t, f64::INFINITY, None);
        } else if let Some(last) = self.last.take() {
            let kick = self.kick(&last, node);
            self.kinematics(node, &kick);
            self.geometry(node, &kick);
            self.balance(node, &kick);
            self.laws(&last, node, &kick);
            self.energies(&last, node, &kick);
            self.monitors(node);
        } else if first {
            self.initial_condition(node);
            self.monitors(node);
        }
        self.last = Some(node.clone());
    }

    /// Sizes, finite numbers, increasing times, unit quaternions and normals, bodies that may touch.
    fn well_formed(&self, node: &WorldNode) -> bool {
        let world = self.world;
        let (count, dimension) = (world.bodies.len(), world.dimension);
        let sizes = node.q.len() == count * dimension.coordinates()
            && node.v.len() == count * dimension.freedoms();
        let energies = node.totals.terms().map(|(_, value)| value);
        let mut numbers = node.q.iter().chain(&node.v).chain(&energies);
        let finite = node.t.is_finite()
            && [node.kinetic, node.potential].iter().all(|x| x.is_finite())
            && numbers.all(|x| x.is_finite());
        let unit = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-9;
        let turned = dimension == Dimension::Plane || node.q.chunks(7).all(|q| unit(&q[3..]));
        let ordered = match &self.last {
            None => node.h == 0.0 && node.contacts.is_empty(),
            Some(last) => {
                let h = node.t - last.t;
                let rounding = 4.0 * f64::EPSILON * (node.t.abs() + last.t.abs());
                h > 0.0 && (node.h - h).abs() <= rounding
            }
        };
        let contact = |c: &NodeContact| {
            let [a, b] = c.bodies;
            let vectors = [c.place, c.impulse, c.moment, c.velocity];
            a < b
                && b < count
                && world.may_touch(a, b)
                && self.law_of(c).is_some()
                && unit(&c.normal)
                && c.gap.is_finite()
                && vectors.iter().flatten().all(|x| x.is_finite())
        };
        let mut names: Vec<_> = node.contacts.iter().map(|c| (c.bodies, c.index)).collect();
        names.sort_unstable();
        let distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
        sizes && finite && turned && ordered && distinct && node.contacts.iter().all(contact)
    }

    pub fn law_of(&self, contact: &NodeContact) -> Option<u32> {
        let [a, b] = contact.bodies.map(|k| self.world.bodies[k].material);
        self.world.laws.find(a, b)
    }

    fn name(&self, contact: &NodeContact) -> String {
        let [a, b] = contact.bodies.map(|k| k as u32);
        let key = ContactKey::found(a, b, contact.index as u32);
        self.world.contact_name(key)
    }

    pub fn note(&mut self, line: Line, t: f64, size: f64, contact: Option<&NodeContact>) {
        let name = contact.map(|c| self.name(c));
        self.report.note(line, t, size, name.as_deref());
    }

    fn note_body(&mut self, line: Line, t: f64, size: f64, body: usize) {
        let name = self.world.bodies[body].name.clone();
        self.note_named(line, t, size, &name);
    }

    pub fn note_named(&mut self, line: Line, t: f64, size: f64, name: &str) {
        self.report.note(line, t, size, Some(name));
    }

    fn initial_condition(&mut self, first: &WorldNode) {
        let (q, v) = &self.settings.initial;
        let off = |x: &[f64], y: &[f64]| -> f64 {
            let scale = y.iter().fold(f64::MIN_POSITIVE, |s, y| s.max(y.abs()));
            let pairs = x.iter().zip(y);
            pairs.map(|(x, y)| (x - y).abs()).fold(0.0, worse) / scale
        };
        let size = off(&first.q, q).max(off(&first.v, v));
        let size = worse(size, (first.t - self.settings.t_start).abs());
        if !(size <= ROUNDING_OF_PLACES) {
            self.note(Line::InitialCondition, first.t, size, None);
        }
        let (kinetic, potential, sizes) = self.energy_of(first);
        self.throughput += kinetic + sizes;
        self.compare_energies(first, kinetic, potential);
    }

    /// Where all bodies are at the kick of the step from `a` to `b`, from both sides.
    fn kick(&mut self, a: &WorldNode, b: &WorldNode) -> Kick {
        let world = self.world;
        let (theta, h) = (self.settings.theta, b.t - a.t);
        let t_kick = a.t + (1.0 - theta) * h;
        let (from, to) = (states(world, a), states(world, b));
        let mut kick = Kick {
            h,
            poses: Vec::new(),
            arrived: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            loads: Vec::new(),
            moved: Vec::new(),
        };
        for (i, body) in world.bodies.iter().enumerate() {
            let still = ([0.0; 3], [0.0; 3]);
            let (pose, arrived, before, after, moved) = match &body.motion {
                BodyMotion::Free => {
                    let flight = |state: &Planted, h: f64| {
                        state.free_flight(world.dimension, body.inertia, h)
                    };
                    let there = flight(&from[i], (1.0 - theta) * h);
                    let here = flight(&to[i], -theta * h);
                    let moved = there.displacement(&here);
                    (here.pose, there.pose, there.twist, here.twist, moved)
                }
                BodyMotion::Fixed => {
                    let pose = body.start.0;
                    (pose, pose, Twist::REST, Twist::REST, still)
                }
                BodyMotion::Driven(motion) => {
                    let twist = motion.velocity(t_kick + 0.5 * h);
                    let pose = motion.pose(t_kick);
                    (pose, pose, twist, twist, still)
                }
            };
            let mut load = match (&body.force, &body.motion) {
                (Some(force), BodyMotion::Free) => force.load(a.t + theta * h, &pose, &before),
                _ => Load::default(),
            };
            if world.dimension == Dimension::Plane {
                load.force[2] = 0.0;
                load.torque = [0.0, 0.0, load.torque[2]];
            }
            if body.is_free() {
                let radius = if body.radius.is_finite() {
                    body.radius
                } else {
                    0.0
                };
                for twist in [&before, &after] {
                    let fast = norm(twist.velocity) + norm(twist.spin) * radius;
                    self.speeds[i] = self.speeds[i].max(fast);
                }
            }
            kick.poses.push(pose);
            kick.arrived.push(arrived);
            kick.before.push(before);
            kick.after.push(after);
            kick.loads.push(load);
            kick.moved.push(moved);
        }
        kick
    }

    /// Bodies move with their velocities, but for a projection where they overlapped; the others move as they are told.
    fn kinematics(&mut self, b: &WorldNode, kick: &Kick) {
        let world = self.world;
        let to = states(world, b);
        let mut displaced = Vec::new();
        for (i, body) in world.bodies.iter().enumerate() {
            let told = match &body.motion {
                BodyMotion::Free => {
                    let (shift, turn) = kick.moved[i];
                    let path =
                        kick.h * (norm(kick.before[i].velocity) + norm(kick.after[i].velocity));
                    let size = norm(kick.poses[i].position) + path;
                    let angle = kick.h * (norm(kick.before[i].spin) + norm(kick.after[i].spin));
                    let off = (norm(shift) / (ROUNDING_OF_PLACES * size.max(f64::MIN_POSITIVE)))
                        .max(norm(turn) / (ROUNDING_OF_PLACES * (1.0 + angle)));
                    if !(off <= 1.0) {
                        let length = norm(shift) + norm(turn) * body.size;
                        displaced.push((i, length));
                    }
                    continue;
                }
                BodyMotion::Fixed => (body.start.0, Twist::REST),
                BodyMotion::Driven(motion) => (motion.pose(b.t), motion.velocity(b.t)),
            };
            let here = &to[i];
            let told = Planted::new(world.dimension, told.0, told.1);
            let (shift, turn) = told.displacement(here);
            let speeds = norm(sub(told.twist.velocity, here.twist.velocity))
                .max(norm(sub(told.twist.spin, here.twist.spin)));
            let fast = norm(told.twist.velocity) + norm(told.twist.spin);
            let size = norm(told.pose.position) + 1.0;
            let off = worse(norm(shift).max(norm(turn)) / size, speeds / (1.0 + fast));
            if !(off <= 10.0 * ROUNDING_OF_PLACES) {
                self.note_body(Line::Kinematics, b.t, off, i);
            }
        }
        if !displaced.is_empty() {
            self.projection(b, kick, &displaced);
        }
    }

    /// Bodies are displaced only where contacts overlapped, and not farther than that.
    fn projection(&mut self, b: &WorldNode, kick: &Kick, displaced: &[(usize, f64)]) {
        let world = self.world;
        let (mut overlaps, mut any) = (0.0, false);
        for contact in &b.contacts {
            let [i, j] = contact.bodies;
            let shifted = |k: usize| {
                let (shift, turn) = kick.moved[k];
                let arm = sub(contact.place, kick.poses[k].position);
                add(shift, cross(turn, arm))
            };
            let opened = dot(contact.normal, sub(shifted(i), shifted(j)));
            let before = contact.gap - opened;
            any |= before < -CORRECTED * (1.0 - 1e-3) * world.slop_of(i, j);
            overlaps += (OPENED * world.slop_of(i, j) - before).max(0.0);
        }
        let explained = |any: bool, overlaps: f64| {
            any && displaced.iter().all(|d| d.1 <= SHARE_OF_OVERLAP * overlaps)
        };
        if !explained(any, overlaps) {
            // What was corrected may have come to touch elsewhere: bodies themselves tell how they overlapped.
            for (pair, depth) in self
                .geometry
                .depths(&kick.arrived, displaced.iter().map(|d| d.0))
            {
                let slop = world.slop_of(pair[0], pair[1]);
                any |= depth > CORRECTED * (1.0 - 1e-3) * slop;
                overlaps += (OPENED * slop + depth).max(0.0);
            }
        }
        for &(body, length) in displaced {
            if !any {
                self.note_body(
                    Line::Kinematics,
                    b.t,
                    length / world.bodies[body].size,
                    body,
                );
            } else if !(length <= SHARE_OF_OVERLAP * overlaps) {
                self.note_body(Line::Projection, b.t, length / overlaps, body);
            }
        }
    }

    /// Contacts lie where bodies touch, and no bodies overlap by more than the slop.
    fn geometry(&mut self, node: &WorldNode, kick: &Kick) {
        if let Some((k, defect)) = self.geometry.misplaced(&kick.poses, &node.contacts) {
            self.note(
                Line::ContactGeometry,
                node.t,
                defect,
                Some(&node.contacts[k]),
            );
        }
        if let Some(([a, b], depth)) = self.geometry.overlap(&kick.poses, &node.contacts) {
            let names = [a, b].map(|k| self.world.bodies[k].name.as_str()).join("|");
            self.report
                .note(Line::NonPenetration, node.t, depth, Some(&names));
        }
    }

    /// M (v₁ − v₀) = h f + H p for every body.
    fn balance(&mut self, node: &WorldNode, kick: &Kick) {
        let (world, h) = (self.world, kick.h);
        let count = world.bodies.len();
        let mut pushes = vec![([0.0; 3], [0.0; 3], 0.0, 0.0); count];
        for contact in &node.contacts {
            for (&body, sign) in contact.bodies.iter().zip([1.0, -1.0]) {
                let x = kick.poses[body].position;
                let p = contact.impulse.map(|p| sign * p);
                let arm = sub(contact.place, x);
                let (push, turn, size, arms) = &mut pushes[body];
                *push = add(*push, p);
                *turn = add(add(*turn, cross(arm, p)), contact.moment.map(|m| sign * m));
                *size += norm(p);
                *arms += (norm(arm) + norm(x)) * norm(p) + norm(contact.moment);
            }
        }
        for (i, body) in world.bodies.iter().enumerate().filter(|(_, b)| b.is_free()) {
            let (push, turn, size, arms) = pushes[i];
            let (before, after, load) = (&kick.before[i], &kick.after[i], &kick.loads[i]);
            let force = along(load.force, body.mass, world.gravity);
            let linear: Vector = std::array::from_fn(|k| {
                let change = after.velocity[k] - before.velocity[k];
                body.mass * change - h * force[k] - push[k]
            });
            let speeds = norm(before.velocity) + norm(after.velocity);
            let scale = body.mass * speeds + h * norm(force) + size;
            let torque = kick.poses[i].body_direction(along(turn, h, load.torque));
            let angular: Vector = std::array::from_fn(|k| {
                body.inertia[k] * (after.spin[k] - before.spin[k]) - torque[k]
            });
            let angular = if world.dimension == Dimension::Plane {
                [0.0, 0.0, angular[2]]
            } else {
                angular
            };
            let moments = body.inertia.iter().fold(0.0, |s: f64, j| s.max(*j));
            let spins = norm(before.spin) + norm(after.spin);
            let turning = moments * spins + h * norm(load.torque) + arms;
            let ratio = |off: f64, scale: f64| if off == 0.0 { 0.0 } else { off / scale };
            let off = worse(ratio(norm(linear), scale), ratio(norm(angular), turning));
            if !(off <= ROUNDING) {
                self.note_body(Line::EquationOfMotion, node.t, off, i);
            }
        }
    }
}
