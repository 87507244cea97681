//! Where energy and momentum went in a step.

use crate::algebra::CompensatedSum;
use crate::records::{Momentum, MomentumEntry};
use crate::systems::world::{Load, Twist, World};

use super::bodies::Bodies;
use super::contacts::dot;
use crate::algebra::cross;

/// Sums over bodies between the stages of a step.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Momentum entry, filled stage by stage and complete after [`Account::end`].
    pub momentum: MomentumEntry,
    forces: MomentumSum,
    supports: MomentumSum,
    displaced: MomentumSum,
    external: CompensatedSum,
    scheme: CompensatedSum,
    projection: CompensatedSum,
}

/// A sum of impulses and moments with compensation: tens of thousands of contacts would leave the rounding of their sum in the account.
#[derive(Debug, Default)]
struct MomentumSum([CompensatedSum; 6]);

impl MomentumSum {
    fn add_impulse(&mut self, place: [f64; 3], impulse: [f64; 3]) {
        for (sum, p) in self.0[..3].iter_mut().zip(impulse) {
            sum.add(p);
        }
        self.add_moment(cross(place, impulse));
    }

    fn add_moment(&mut self, moment: [f64; 3]) {
        for (sum, m) in self.0[3..].iter_mut().zip(moment) {
            sum.add(m);
        }
    }

    fn value(&self) -> Momentum {
        let [a, b, c, d, e, f] = std::array::from_fn(|k| self.0[k].value());
        Momentum {
            linear: [a, b, c],
            angular: [d, e, f],
        }
    }
}

/// Energies of a state, with the sizes of their terms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Energies {
    pub kinetic: f64,
    pub potential: f64,
    /// Sum of the sizes of the potential's terms, the unit of its rounding.
    pub potential_size: f64,
}

impl Account {
    /// Starts a step from the state before it.
    pub fn begin(&mut self, bodies: &Bodies) {
        *self = Self::default();
        let start = self.momentum_of(bodies);
        self.momentum.change.add(&start, -1.0);
    }

    /// Ends a step with the state after it.
    pub fn end(&mut self, bodies: &Bodies) {
        let end = self.momentum_of(bodies);
        self.momentum.change.add(&end, 1.0);
        self.momentum.forces = self.forces.value();
        self.momentum.supports = self.supports.value();
        self.momentum.projection = self.displaced.value();
    }

    fn momentum_of(&mut self, bodies: &Bodies) -> Momentum {
        let mut sums = [CompensatedSum::default(); 6];
        let (mut linear_size, mut angular_size) = (0.0, 0.0);
        let states = bodies.state.poses.iter().zip(&bodies.state.twists);
        for ((pose, twist), body) in states.zip(&bodies.masses) {
            if !body.free {
                continue;
            }
            let linear = twist.velocity.map(|v| body.mass * v);
            let orbital = cross(pose.position, linear);
            let own = pose.direction(std::array::from_fn(|k| body.inertia[k] * twist.spin[k]));
            for k in 0..3 {
                sums[k].add(linear[k]);
                sums[3 + k].add(orbital[k]);
                sums[3 + k].add(own[k]);
            }
            let size = dot(linear, linear).sqrt();
            linear_size += size;
            angular_size += dot(pose.position, pose.position).sqrt() * size + dot(own, own).sqrt();
        }
        self.momentum.linear_size += linear_size;
        self.momentum.angular_size += angular_size;
        let [a, b, c, d, e, f] = sums.map(|sum| sum.value());
        Momentum {
            linear: [a, b, c],
            angular: [d, e, f],
        }
    }

    /// Enters gravity and external force of a body as impulses over `h` at its place.
    pub fn force(&mut self, place: [f64; 3], h: f64, force: [f64; 3], torque: [f64; 3]) {
        let impulse = force.map(|f| h * f);
        self.forces.add_impulse(place, impulse);
        self.forces.add_moment(torque.map(|m| h * m));
        let size = dot(impulse, impulse).sqrt();
        self.momentum.linear_size += size;
        self.momentum.angular_size +=
            dot(place, place).sqrt() * size + h * dot(torque, torque).sqrt();
    }

    /// Enters the work of a body's external force (torque in body axes) and the defect of the scheme, with the velocities
    /// before and after the kick.
    pub fn work(
        &mut self,
        (h, theta): (f64, f64),
        weight: [f64; 3],
        load: Option<&Load>,
        (before, after): (&Twist, &Twist),
    ) {
        let slack = (0.5 - theta) * h;
        let (v0, v1) = (before.velocity, after.velocity);
        let force = load.map_or([0.0; 3], |load| load.force);
        if slack != 0.0 {
            for k in 0..3 {
                self.scheme
                    .add(slack * (weight[k] + force[k]) * (v1[k] - v0[k]));
            }
        }
        if let Some(load) = load {
            for k in 0..3 {
                let path = (1.0 - theta) * v0[k] + theta * v1[k];
                self.external.add(h * load.force[k] * path);
                let turning = before.spin[k] + after.spin[k];
                self.external.add(0.5 * h * load.torque[k] * turning);
            }
        }
    }

    /// Enters the displacement of a body by a projection.
    pub fn displacement(
        &mut self,
        world: &World,
        bodies: &Bodies,
        i: usize,
        translation: [f64; 3],
    ) {
        let body = &bodies.masses[i];
        let linear = bodies.state.twists[i].velocity.map(|v| body.mass * v);
        self.displaced.add_moment(cross(translation, linear));
        for (g, d) in world.gravity.iter().zip(translation) {
            self.projection.add(-body.mass * g * d);
        }
    }

    /// Enters the change of a body's own angular momentum by a projection, with a sign.
    pub fn own_momentum(&mut self, bodies: &Bodies, i: usize, sign: f64) {
        let (body, twist) = (&bodies.masses[i], &bodies.state.twists[i]);
        let own = std::array::from_fn(|k| sign * body.inertia[k] * twist.spin[k]);
        self.displaced
            .add_moment(bodies.state.poses[i].direction(own));
    }

    /// Enters what contacts with fixed and driven bodies gave to the free ones.
    pub fn support(&mut self, place: [f64; 3], impulse: [f64; 3], moment: [f64; 3]) {
        self.supports.add_impulse(place, impulse);
        self.supports.add_moment(moment);
    }

    /// Enters the size of an impulse between any bodies.
    pub fn impulse_size(&mut self, place: [f64; 3], impulse: [f64; 3], moment: [f64; 3]) {
        let size = dot(impulse, impulse).sqrt();
        self.momentum.linear_size += size;
        self.momentum.angular_size += dot(place, place).sqrt() * size + dot(moment, moment).sqrt();
    }

    /// Work of external forces, defect of the scheme, change of potential by projection.
    pub fn works(&self) -> [f64; 3] {
        [&self.external, &self.scheme, &self.projection].map(CompensatedSum::value)
    }
}

/// Kinetic and potential energy of the free bodies.
pub(super) fn energies(world: &World, bodies: &Bodies) -> Energies {
    let (mut kinetic, mut potential) = (CompensatedSum::default(), CompensatedSum::default());
    let mut potential_size = 0.0;
    let states = bodies.state.poses.iter().zip(&bodies.state.twists);
    for ((pose, twist), body) in states.zip(&bodies.masses) {
        if !body.free {
            continue;
        }
        let [a, b, c] = twist.spin;
        let turning = body.inertia[0] * a * a + body.inertia[1] * b * b + body.inertia[2] * c * c;
        kinetic.add(0.5 * (body.mass * dot(twist.velocity, twist.velocity) + turning));
        let height = -body.mass * dot(world.gravity, pose.position);
        potential.add(height);
        potential_size += height.abs();
    }
    Energies {
        kinetic: kinetic.value(),
        potential: potential.value(),
        potential_size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_many_impulses_leave_no_rounding_behind() {
        // A tenth is not a binary fraction: a plain sum of 100,000 of them is off by 1.9e-8.
        let mut sum = MomentumSum::default();
        for k in 0..100_000 {
            let side = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum.add_impulse([side, 0.0, 0.0], [0.0, 0.0, 0.1]);
        }
        let Momentum { linear, angular } = sum.value();
        assert!((linear[2] - 1e4).abs() < 1e-11, "{}", linear[2]);
        assert!(angular.iter().all(|m| m.abs() < 1e-14), "{angular:?}");
    }
}
