//! Energy account of the theta scheme.

use crate::algebra::{dot, long_dot};
use crate::records::{EnergyEntry, StepRecord};
use crate::systems::MechanicalSystem;

use super::implicit_step::StepFrame;
use super::moreau_jean::MoreauJean;
use super::{State, step_energy};

impl MoreauJean {
    /// Energy entry of the completed step; also the new kinetic energy.
    pub(super) fn account(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        record: &StepRecord,
    ) -> (EnergyEntry, f64, f64) {
        let (h, theta, n) = (frame.h, frame.theta, frame.v.len());
        let (v_theta, v1) = (&self.step.v_theta, &self.velocity);
        if self.step.fused {
            return self.account_fused(frame, state, record);
        }
        // Δv and Δq
        self.response.clear();
        self.response
            .extend(v1.iter().zip(frame.v).map(|(a, b)| a - b));
        let slack = 0.5 - theta;
        let numerical_mass = if slack == 0.0 {
            0.0
        } else {
            slack * self.step.mass.bilinear(&self.response, &self.response)
        };

        let mut covariant_defect = if self.step.character.covariant {
            h * dot(v_theta, &self.step.covariant)
        } else {
            0.0
        };
        let kinetic = if self.step.character.constant_mass {
            step_energy::kinetic(&self.step.mass, v1)
        } else {
            // ½ v₁·(M₁ − M_θ)v₁ + ½ v₀·(M_θ − M₀)v₀
            if self.mass_end.order() != n {
                self.mass_end = system.new_matrix();
                self.mass_start = system.new_matrix();
            }
            system.mass(&self.step.q_end, &mut self.mass_end);
            system.mass(frame.q, &mut self.mass_start);
            let kinetic = step_energy::kinetic(&self.mass_end, v1);
            covariant_defect += kinetic - step_energy::kinetic(&self.step.mass, v1)
                + step_energy::kinetic(&self.step.mass, frame.v)
                - step_energy::kinetic(&self.mass_start, frame.v);
            kinetic
        };

        let linear = system.linear_part();
        let mut numerical_stiffness = 0.0;
        let mut elastic_change = 0.0;
        let mut elastic = 0.0;
        if let Some(linear) = linear.filter(|linear| linear.stiffness.is_some()) {
            let scratch = &mut self.step.scratch;
            elastic = linear.elastic_energy(&self.step.q_end, scratch);
            elastic_change = if self.step.character.potential {
                elastic - linear.elastic_energy(frame.q, scratch)
            } else {
                elastic - state.potential
            };
            if slack != 0.0 {
                self.response.clear();
                self.response
                    .extend(self.step.q_end.iter().zip(frame.q).map(|(a, b)| a - b));
                numerical_stiffness = slack * linear.plain_form(&self.response, scratch);
            }
        }
        let damping = if linear.is_some_and(|linear| linear.damping.is_some()) {
            -h * long_dot(v_theta, &self.step.viscous)
        } else {
            0.0
        };
        let (mut potential_defect, mut smooth_potential, mut smooth_change) = (0.0, 0.0, 0.0);
        if self.step.character.potential {
            smooth_potential = system.potential(&self.step.q_end);
            // Without a stiffness the potential of the start is the one kept in the state.
            let before = match linear.and_then(|linear| linear.stiffness.as_ref()) {
                Some(_) => system.potential(frame.q),
                None => state.potential,
            };
            smooth_change = smooth_potential - before;
            potential_defect = smooth_change - h * dot(v_theta, &self.step.gradient);
        }
        let entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: smooth_change + elastic_change,
            external: h * long_dot(v_theta, &self.step.external),
            damping,
            numerical_mass,
            numerical_stiffness,
            potential_defect,
            covariant_defect,
            joints: self.joints.work(v_theta),
            contact_normal: contact_normal(record),
            contact_tangential: contact_tangential(record),
            ..EnergyEntry::default()
        };
        (entry, kinetic, smooth_potential + elastic)
    }

    /// The same for a linear mesh, from products at both ends of the step.
    fn account_fused(
        &self,
        frame: &StepFrame,
        state: &State,
        record: &StepRecord,
    ) -> (EnergyEntry, f64, f64) {
        let (h, v_theta) = (frame.h, &self.step.v_theta);
        let (start, end) = (&self.step.start, &self.step.end);
        let (kinetic, elastic) = (end.kinetic(), end.elastic_energy());
        let [mass, stiffness, damping] = start.between(end, h, frame.theta);
        let slack = 0.5 - frame.theta;
        let entry = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: elastic - state.potential,
            external: h * long_dot(v_theta, &self.step.external),
            damping,
            numerical_mass: slack * mass,
            numerical_stiffness: slack * stiffness,
            potential_defect: 0.0,
            covariant_defect: 0.0,
            joints: self.joints.work(v_theta),
            contact_normal: contact_normal(record),
            contact_tangential: contact_tangential(record),
            ..EnergyEntry::default()
        };
        (entry, kinetic, elastic)
    }
}

fn contact_normal(record: &StepRecord) -> f64 {
    record.contacts.iter().map(|c| c.work_normal).sum()
}

fn contact_tangential(record: &StepRecord) -> f64 {
    record.contacts.iter().map(|c| c.work_tangential).sum()
}
