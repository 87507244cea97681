//! The end of a theta step: record, energy account, projection.

use crate::algebra::{assign, assign_difference, dot, long_dot};
use crate::contact::ContactProblem;
use crate::laws::ImpactLaw;
use crate::records::{EnergyEntry, Momentum, MomentumEntry, StepRecord};
use crate::systems::MechanicalSystem;

use super::assembly::ActiveContact;
use super::implicit_step::StepFrame;
use super::moreau_jean::MoreauJean;
use super::step_energy::ContactWork;
use super::{ContactStage, State, step_energy};

/// A mean normal velocity below this part of the approach is that of a contact that stays closed.
const STEADY: f64 = 1e-9;

impl MoreauJean {
    /// Record, account, projection and new state of a step that was solved.
    pub(super) fn complete(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        stage: &ContactStage,
        record: &mut StepRecord,
    ) {
        if self.assembly.active.is_empty() {
            record.stick_jitter = 0.0;
            self.assembly.fill_open(record);
        } else {
            record.stick_jitter = self.sliding_velocities(stage, &state.impulses);
            self.assembly.fill_record(
                &stage.problem,
                &self.phases.impulse,
                &self.step.v_theta,
                (&self.sliding, stage.resting_speed()),
                (&self.phases.left, &self.velocity),
                record,
            );
            self.phases.split_works(record);
        }
        let (mut kinetic, mut potential) = self.account(system, frame, state, record);
        if frame.coasting {
            record.momentum = self.momentum(system, frame, state, &stage.problem);
        }
        let overshoots = self.positions.overshoots && !self.assembly.active.is_empty();
        if self.positions.corrected || overshoots {
            (kinetic, potential) =
                self.correct_end(system, frame, (kinetic, potential), stage, record);
        }
        self.positions.fill_record(record);
        record.t = frame.t_end;
        record.h = frame.h;
        assign(&mut record.q, &self.step.q_end);
        assign(&mut record.velocity_left, &self.phases.left);
        assign(&mut record.velocity, &self.velocity);
        if frame.coasting {
            record.velocity.clone_from(&self.step.v_end);
            let (left, rest) = (&mut record.velocity_left, frame.theta * frame.h);
            let q = &mut self.step.q_theta;
            system.coast(frame.q, &self.phases.left, rest, q, left);
        }
        record.energy_size = self.step.energy_size(frame);
        if !self.assembly.active.is_empty() {
            let (mass, v) = (&self.step.mass, &self.step.v_theta);
            record.energy_size += step_energy::momentum_size(mass, v, &self.phases.left);
            record.energy_size += step_energy::rows_size(&stage.problem, &self.phases.impulse, v);
        }
        assign(&mut record.joint_impulses, &self.joints.multipliers);
        record.kinetic = kinetic;
        record.potential = potential;
    }

    /// Sliding velocity of every problem row: what the law read, u_{k+1} or a mean of it; `last` holds the impulses of the last step.
    /// Returns the largest tangential velocity that only alternates.
    fn sliding_velocities(&mut self, stage: &ContactStage, last: &[f64]) -> f64 {
        let problem = &stage.problem;
        self.sliding.clear();
        self.sliding.extend(
            (0..problem.size())
                .map(|i| problem.row_dot(i, &self.velocity) + self.assembly.drift[i]),
        );
        let mut jitter = 0.0f64;
        for contact in &self.assembly.active {
            let block = &problem.blocks()[contact.block];
            if !matches!(contact.impact, ImpactLaw::Fremond { .. }) || self.friction == 1.0 {
                continue;
            }
            for i in block.start + 1..block.start + block.size {
                let (before, after) = (self.assembly.before[i], self.sliding[i]);
                self.sliding[i] = (1.0 - self.friction) * before + self.friction * after;
                // A contact that stays stuck and reverses its tangential velocity.
                let slot = self.assembly.layout.slots()[contact.slot];
                if self.phases.impulse[block.start] > 0.0
                    && last[slot.start] > 0.0
                    && before * after < 0.0
                    && self.sliding[i].abs() < 1e-6 * after.abs()
                {
                    jitter = jitter.max(after.abs());
                }
            }
        }
        jitter
    }

    /// Projects an end position that left its constraints and enters what that does to the energies, which it returns.
    #[inline(never)] // Most steps of flat systems have no need of its frame.
    fn correct_end(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        before: (f64, f64),
        stage: &ContactStage,
        record: &mut StepRecord,
    ) -> (f64, f64) {
        if !self.leaves_constraints(frame, stage) {
            return before;
        }
        let q_end = &mut self.step.q_end;
        if !self.positions.project(system, frame.t_end, q_end) {
            return before;
        }
        let (kinetic, potential) = self.energies_at_end(system, before.0);
        let change = (kinetic - before.0, potential - before.1);
        record.energy.kinetic_change += change.0;
        record.energy.potential_change += change.1;
        record.energy.projection = change.0 + change.1;
        if record.momentum.is_some() {
            self.move_momentum(system, record);
        }
        (kinetic, potential)
    }

    /// Whether the end position may have to be projected; chooses the contacts that stay closed.
    fn leaves_constraints(&mut self, frame: &StepFrame, stage: &ContactStage) -> bool {
        if frame.h == 0.0 {
            return false;
        }
        let (assembly, impulse) = (&self.assembly, &self.phases.impulse);
        if !self.positions.corrected {
            let (problem, v) = (&stage.problem, &self.velocity);
            let rests = |contact: &ActiveContact| {
                let row = problem.blocks()[contact.block].start;
                let after = problem.row_dot(row, v) + assembly.drift[row];
                // Against what the impulse did to the velocity: a contact on its way down again has not come to rest.
                let change = problem.w(row, row) * impulse[row];
                impulse[row] > 0.0 && after.abs() <= STEADY * change
            };
            return self.positions.overshot(assembly, &self.step.q_end, rests);
        }
        let (floor, v) = (self.settings.gap_tolerance, &self.step.v_theta);
        let scales = &stage.scales;
        let touching = |c: usize| {
            let gap = assembly.gaps[c];
            gap <= floor || gap <= scales.closed_gap(c) || gap <= assembly.gap_rounding(c, frame.q)
        };
        self.positions.hold(assembly, touching, |contact| {
            let row = stage.problem.blocks()[contact.block].start;
            let mean = stage.problem.row_dot(row, v) + assembly.drift[row];
            // What comes to rest without an approach, jammed by its slip, has the size of what stops it.
            let stops = stage.problem.w(row, row) * impulse[row];
            let size = assembly.before[row].abs() + assembly.turning[row].abs() + stops;
            impulse[row] > 0.0 && mean <= STEADY * size
        });
        true
    }

    /// The account of momentum of a body that coasts to the place of the impulses and on from it.
    fn momentum(
        &self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        problem: &ContactProblem,
    ) -> Option<MomentumEntry> {
        let before = system.momentum(&state.q, &state.v)?;
        let after = system.momentum(&self.step.q_end, &self.step.v_end)?;
        let supports = system.wrench(frame.q, &self.contact_impulse)?;
        let forces = system.wrench(frame.q, &self.step.impulse)?;
        // Moments about the origin cancel by the distance from it, impulses of single contacts and forces as well.
        let lever = |q: &[f64]| q[..3].iter().map(|x| x.abs()).sum::<f64>();
        let lever = lever(&state.q) + lever(&self.step.q_end);
        let terms = [before, after, supports, forces];
        let sum = |range: std::ops::Range<usize>| -> f64 {
            terms
                .iter()
                .flat_map(|term| &term[range.clone()])
                .map(|x| x.abs())
                .sum()
        };
        let linear_size = sum(0..3);
        // So do the moments of contacts about the centre of a body that rests on several.
        let mut moments = 0.0;
        let pressed = match self.assembly.active.is_empty() {
            true => &[],
            false => self.phases.impulse.as_slice(),
        };
        for (i, &p) in pressed.iter().enumerate() {
            let mut own = [0.0; 6];
            problem.row_add(i, p, &mut own);
            moments += own[3..].iter().map(|x| x.abs()).sum::<f64>();
        }
        let angular_size = sum(3..6) + lever * linear_size + moments;
        Some(MomentumEntry {
            change: momentum(std::array::from_fn(|i| after[i] - before[i])),
            forces: momentum(forces),
            supports: momentum(supports),
            projection: Momentum::default(),
            linear_size,
            angular_size,
        })
    }

    /// Enters what the projection of the end position did to the momentum.
    fn move_momentum(&self, system: &dyn MechanicalSystem, record: &mut StepRecord) {
        let moved = system.momentum(&self.step.q_end, &self.step.v_end);
        let free = self.positions.free_end();
        let free = system.momentum(free, &self.step.v_end);
        if let (Some(entry), Some(moved), Some(free)) = (&mut record.momentum, moved, free) {
            entry.projection = momentum(std::array::from_fn(|i| moved[i] - free[i]));
            let projection = entry.projection;
            entry.change.add(&projection, 1.0);
        }
    }

    /// Kinetic and potential energy after the end position was projected; a constant mass keeps its kinetic energy.
    fn energies_at_end(&mut self, system: &dyn MechanicalSystem, kinetic: f64) -> (f64, f64) {
        let q = &self.step.q_end;
        if let Some(linear) = system.linear_part().filter(|_| self.step.fused) {
            let (end, mass) = (&mut self.step.end, &self.step.mass);
            end.ensure(mass, linear, q, &self.velocity);
            return (kinetic, end.elastic_energy());
        }
        let potential = step_energy::potential(system, q);
        if self.step.character.constant_mass {
            return (kinetic, potential);
        }
        system.mass(q, &mut self.mass_end);
        (
            step_energy::kinetic(&self.mass_end, &self.velocity),
            potential,
        )
    }

    /// Writes the energy entry of the completed step; returns the new energies, kinetic and potential.
    fn account(
        &mut self,
        system: &dyn MechanicalSystem,
        frame: &StepFrame,
        state: &State,
        record: &mut StepRecord,
    ) -> (f64, f64) {
        let (h, theta, n) = (frame.h, frame.theta, frame.v.len());
        let (v_theta, v1) = (&self.step.v_theta, &self.velocity);
        if self.step.fused {
            return self.account_fused(frame, state, record);
        }
        // Δv and Δq
        assign_difference(&mut self.response, v1, frame.v);
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
        let contacts = ContactWork::of(&record.contacts);
        record.energy = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: smooth_change + elastic_change,
            external: h * long_dot(v_theta, &self.step.external),
            damping,
            numerical_mass,
            numerical_stiffness,
            potential_defect,
            covariant_defect,
            projection: 0.0,
            joints: self.joints.work(v_theta),
            supports: contacts.supports,
            contact_normal: contacts.normal,
            contact_tangential: contacts.tangential,
        };
        (kinetic, smooth_potential + elastic)
    }

    /// The same for a linear mesh, from products at both ends of the step.
    fn account_fused(
        &self,
        frame: &StepFrame,
        state: &State,
        record: &mut StepRecord,
    ) -> (f64, f64) {
        let (h, v_theta) = (frame.h, &self.step.v_theta);
        let (start, end) = (&self.step.start, &self.step.end);
        let (kinetic, elastic) = (end.kinetic(), end.elastic_energy());
        let [mass, stiffness, damping] = start.between(end, h, frame.theta);
        let slack = 0.5 - frame.theta;
        let contacts = ContactWork::of(&record.contacts);
        record.energy = EnergyEntry {
            kinetic_change: kinetic - state.kinetic,
            potential_change: elastic - state.potential,
            external: h * long_dot(v_theta, &self.step.external),
            damping,
            numerical_mass: slack * mass,
            numerical_stiffness: slack * stiffness,
            potential_defect: 0.0,
            covariant_defect: 0.0,
            projection: 0.0,
            joints: self.joints.work(v_theta),
            supports: contacts.supports,
            contact_normal: contacts.normal,
            contact_tangential: contacts.tangential,
        };
        (kinetic, elastic)
    }
}

/// Linear and angular part of six numbers.
fn momentum(x: [f64; 6]) -> Momentum {
    let [a, b, c, d, e, f] = x;
    Momentum {
        linear: [a, b, c],
        angular: [d, e, f],
    }
}
