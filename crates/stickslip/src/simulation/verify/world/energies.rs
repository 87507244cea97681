//! The energy account of a world, from its recorded motion.

use crate::algebra::CompensatedSum;
use crate::records::EnergyEntry;
use crate::simulation::verify::Line;
use crate::systems::world::BodyMotion;

use super::judge::{Judge, Kick, ROUNDING_OF_ENERGY};
use super::node::WorldNode;
use super::planted::states;
use super::vector::{add, along, dot, sub, worse};

impl Judge<'_> {
    /// Kinetic energy, potential energy, and the sum of the sizes of its terms.
    pub fn energy_of(&self, node: &WorldNode) -> (f64, f64, f64) {
        let world = self.world;
        let (mut kinetic, mut potential) = (CompensatedSum::default(), CompensatedSum::default());
        let mut sizes = 0.0;
        let states = states(world, node);
        for (body, state) in world
            .bodies
            .iter()
            .zip(&states)
            .filter(|(b, _)| b.is_free())
        {
            let (v, w) = (state.twist.velocity, state.twist.spin);
            let turning: f64 = (0..3).map(|k| body.inertia[k] * w[k] * w[k]).sum();
            kinetic.add(0.5 * (body.mass * dot(v, v) + turning));
            let height = -body.mass * dot(world.gravity, state.pose.position);
            potential.add(height);
            sizes += height.abs();
        }
        (kinetic.value(), potential.value(), sizes)
    }

    /// Works of the step from the recorded motion; the account is that of the record.
    pub fn energies(&mut self, last: &WorldNode, node: &WorldNode, kick: &Kick) {
        let world = self.world;
        let (theta, h) = (self.settings.theta, kick.h);
        let mut step = EnergyEntry::default();
        for contact in &node.contacts {
            let (before, w0) = kick.relative(&kick.before, contact);
            let (after, w1) = kick.relative(&kick.after, contact);
            let mean = add(before, after).map(|u| 0.5 * u);
            let turning = add(w0, w1).map(|w| 0.5 * w);
            let normal = dot(contact.impulse, contact.normal) * dot(mean, contact.normal);
            let whole = dot(contact.impulse, mean) + dot(contact.moment, turning);
            step.contact_normal += normal;
            step.contact_tangential += whole - normal;
            self.throughput += normal.abs() + (whole - normal).abs();
            for (&k, sign) in contact.bodies.iter().zip([-1.0, 1.0]) {
                if matches!(world.bodies[k].motion, BodyMotion::Driven(_)) {
                    let (velocity, spin) = kick.velocity(&kick.after, k, contact.place);
                    let work = dot(contact.impulse, velocity) + dot(contact.moment, spin);
                    step.supports += sign * work;
                    self.throughput += work.abs();
                }
            }
        }
        for (i, body) in world.bodies.iter().enumerate().filter(|(_, b)| b.is_free()) {
            let (load, v0, v1) = (
                &kick.loads[i],
                kick.before[i].velocity,
                kick.after[i].velocity,
            );
            let force = along(load.force, body.mass, world.gravity);
            let lost = (0.5 - theta) * h * dot(force, sub(v1, v0));
            step.numerical_mass += lost;
            let path = along(v0.map(|v| (1.0 - theta) * v), theta, v1);
            let torque = kick.poses[i].body_direction(load.torque);
            let spins = add(kick.before[i].spin, kick.after[i].spin);
            let given = h * dot(load.force, path) + 0.5 * h * dot(torque, spins);
            step.external += given;
            let lifted = -body.mass * dot(world.gravity, kick.moved[i].0);
            step.projection += lifted;
            self.throughput += lost.abs() + given.abs() + lifted.abs();
        }
        let (kinetic, potential, sizes) = self.energy_of(node);
        self.throughput = self.throughput.max(kinetic + sizes);
        step.kinetic_change = kinetic - last.kinetic;
        step.potential_change = potential - last.potential;
        self.totals.add(&step);
        self.compare_energies(node, kinetic, potential);
    }

    pub fn compare_energies(&mut self, node: &WorldNode, kinetic: f64, potential: f64) {
        let terms = self.totals.terms().map(|(_, own)| own);
        let recorded = node.totals.terms().map(|(_, value)| value);
        let pairs = terms.into_iter().zip(recorded);
        let pairs = pairs.chain([(kinetic, node.kinetic), (potential, node.potential)]);
        let off = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, worse);
        let scale = self.throughput.max(f64::MIN_POSITIVE);
        if !(off <= ROUNDING_OF_ENERGY * scale) {
            self.note(Line::Energy, node.t, off / scale, None);
        }
    }
}
