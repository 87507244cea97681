//! The schemes of worlds.

use crate::clock::Stopwatch;
use crate::contact::{BodyOperator, ContactBlock};
use crate::parallel::share;
use crate::records::{EnergyEntry, PhaseTimes, PresentContact, StepOutcome, StepRecord};
use crate::stepping::assembly::mode;
use crate::stepping::{ContactStage, State, ThetaError, TimeSteppingScheme};
use crate::systems::MechanicalSystem;
use crate::systems::world::{ContactSource, FoundContact, Load, World};

use super::account::{Account, energies};
use super::bodies::{Bodies, write_twist};
use super::contacts::{self, ActiveContact};
use super::impulses::ImpulseMemory;
use super::phases::{ImpactPhases, PhaseInput};
use super::posing::{PoseInput, PosedContacts};
use super::prediction::Prediction;
use super::projection::Projection;

/// Time stepping of a world: drift, kick, drift.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::stepping::WorldStepping;
/// use stickslip::systems::world::{CollisionDetection, Pose, WorldBody};
///
/// let law = ContactLaw::new(FrictionSection::disc(0.5)?, ImpactLaw::Inelastic)?;
/// let world = World::builder()
///     .gravity([0.0, 0.0, -10.0])
///     .material("wood")
///     .pair(0, 0, law)
///     .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
///     .body(WorldBody::ball("ball", 2.0, 0.1).at(Pose::at([0.0, 0.0, 0.1])).moving([7.0, 0.0, 0.0], [0.0; 3]))
///     .build()?;
/// let scheme = WorldStepping::moreau_jean(0.5, Box::new(CollisionDetection::new(&world)?))?;
/// let (q, v) = (world.start_coordinates(), world.start_velocities());
/// let (scheme, solver) = (Box::new(scheme), Box::new(CascadeSolver::default()));
/// let mut run = Simulation::new(Box::new(world), scheme, solver, (&q, &v), SimulationSettings::fixed(1e-3))?;
/// run.run_until(1.0, |_| ControlFlow::Continue(()));
/// // A ball that is thrown without spin loses two sevenths of its speed until it rolls.
/// assert!((run.state().v[6] - 5.0).abs() < 1e-9 && run.momentum_ledger().is_closed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it computes
/// With θ in [½, 1] (`moreau-jean`) or θ = 0 (`moreau`): bodies move freely over (1 − θ)h to q*, x* = x + (1 − θ)h v and a
/// free rotation by the implicit midpoint rule with the Cayley map; contacts are found there; gravity, external forces
/// (at t + θh, q*, and the velocities there) and contact impulses act at once, `v₁ = v + h M⁻¹ f + M⁻¹ H p`; bodies move freely
/// over θh with v₁. Laws read u₁ = Hᵀ v₁ plus the velocity of driven bodies, plus e u₀ where an impact law acts. Without
/// restitution a contact within reach may approach to half the slop, and not at all below the slop; with restitution it takes part
/// when it is closed or reaches its partner in the step, and an approach faster than gravity gains in two steps bounces. Overlaps
/// beyond a millionth of the slop are removed by a projection of positions in the kinetic metric before the kick.
///
/// # Source
/// [AcaryCollinsCraft2023] for θ, [Paoli2015] for θ = 0, on bodies in blocks; the splitting of the rotation is own.
///
/// # Guarantees
/// Linear and angular momentum balance to rounding in every step: an impulse acts with both signs at one place, with arms from
/// x*, and x₁ × v₁ − x × v = x* × (v₁ − v). The energy entry closes to rounding: rotations keep ½ω·Jω, contact works
/// are p·(u₀ + u₁)/2 on the relative motion, the work of driven bodies is that of supports, the rest is `(½ − θ) h f·Δv`.
///
/// # Behaviour to know
/// Order 1. With θ = 1 contact work alone can be slightly positive (bodies that move up while touching); the scheme's term
/// outweighs it. Frémond's law reads friction at min(θ, 1/(1 + e)) of the change of velocity, the latest at which no impact gains energy. External forces are explicit. A body that turns by several radians in a step is reported as not converged.
///
/// # Cost
/// Linear in bodies and contacts, besides finding and solving; no allocation once warm.
///
/// # Tested by
/// `tests/truth_worlds.rs`, `stepping/world/contacts.rs`.
pub struct WorldStepping {
    name: &'static str,
    theta: f64,
    /// Whether steps are posed as with θ = 0, to examine them.
    looks_ahead: bool,
    source: Box<dyn ContactSource>,
    memory: ImpulseMemory,
    bodies: Bodies,
    found: Vec<FoundContact>,
    contacts: PosedContacts,
    projection: Projection,
    phases: ImpactPhases,
    prediction: Prediction,
    account: Account,
    loads: Vec<Load>,
    /// Whitened velocity before the kick, without contacts, the change by contacts, and their sum.
    before: Vec<f64>,
    free: Vec<f64>,
    change: Vec<f64>,
    after: Vec<f64>,
}

impl WorldStepping {
    /// The scheme `moreau-jean` with θ in [½, 1]; 1 is the default of worlds.
    pub fn moreau_jean(theta: f64, source: Box<dyn ContactSource>) -> Result<Self, ThetaError> {
        if !(0.5..=1.0).contains(&theta) {
            return Err(ThetaError::OutOfRange { theta });
        }
        Ok(Self::new("moreau-jean", theta, source))
    }

    /// The scheme `moreau`.
    pub fn moreau(source: Box<dyn ContactSource>) -> Self {
        Self::new("moreau", 0.0, source)
    }

    fn new(name: &'static str, theta: f64, source: Box<dyn ContactSource>) -> Self {
        Self {
            name,
            theta,
            looks_ahead: false,
            source,
            memory: ImpulseMemory::default(),
            bodies: Bodies::default(),
            found: Vec::new(),
            contacts: PosedContacts::default(),
            projection: Projection::default(),
            phases: ImpactPhases::default(),
            prediction: Prediction::default(),
            account: Account::default(),
            loads: Vec::new(),
            before: Vec::new(),
            free: Vec::new(),
            change: Vec::new(),
            after: Vec::new(),
        }
    }

    /// θ of the scheme.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Contacts found in the last step, whether they took part or not.
    #[doc(hidden)]
    pub fn found(&self) -> &[FoundContact] {
        &self.found
    }

    /// Gravity and external forces: the whitened velocity without contacts.
    fn accelerate(&mut self, world: &World, h: f64, t: f64) {
        self.loads.clear();
        self.free.clone_from(&self.before);
        let freedoms = world.dimension.freedoms();
        for (i, body) in world.bodies.iter().enumerate() {
            let mass = &self.bodies.masses[i];
            if !mass.free {
                self.loads.push(Load::default());
                continue;
            }
            let (pose, twist) = (&self.bodies.state.poses[i], &self.bodies.state.twists[i]);
            let mut load = body
                .force
                .as_ref()
                .map_or_else(Load::default, |force| force.load(t, pose, twist));
            if world.dimension == crate::systems::world::Dimension::Plane {
                load.force[2] = 0.0;
                load.torque = [0.0, 0.0, load.torque[2]];
            }
            let place = pose.position;
            let total = std::array::from_fn(|k| mass.mass * world.gravity[k] + load.force[k]);
            self.account.force(place, h, total, load.torque);
            // The torque is kept in body axes, where its work is taken.
            load.torque = self.bodies.in_body(i, load.torque);
            let free = &mut self.free[i * freedoms..(i + 1) * freedoms];
            let axes = world.dimension.axes();
            for (f, p) in free[..axes].iter_mut().zip(total) {
                *f += h * p * mass.inverse_root_mass;
            }
            match &mut free[axes..] {
                [f] => *f += h * load.torque[2] * mass.inverse_root_inertia[2],
                rest => {
                    for (k, f) in rest.iter_mut().enumerate() {
                        *f += h * load.torque[k] * mass.inverse_root_inertia[k];
                    }
                }
            }
            self.loads.push(load);
        }
    }

    /// Poses the problem and solves it; returns the outcome and the worst residual.
    fn solve(
        &mut self,
        world: &World,
        state: &State,
        (h, t_end, theta): (f64, f64, f64),
        stage: &mut ContactStage,
        times: &mut PhaseTimes,
        clock: &mut Stopwatch,
    ) -> (StepOutcome, f64) {
        let input = PoseInput {
            world,
            bodies: &self.bodies,
            found: &self.found,
            loads: &self.loads,
            memory: &self.memory,
            at: (state.t, &state.q),
            h,
            gain: h * world.gravity_size(),
            theta,
            before: &self.before,
            free: &self.free,
        };
        let guess = &mut stage.solution.impulse;
        if let Err(outcome) = self.contacts.pose(&input, &mut stage.problem, guess) {
            return (outcome, f64::NAN);
        }
        self.prediction.begin(&stage.solution.impulse);
        times.build = clock.lap();
        let input = PhaseInput {
            t: t_end,
            contacts: &self.contacts,
            gain: h * world.gravity_size(),
            rested: self.memory.rested(),
            before: &self.before,
        };
        let first = match self.phases.solve(&input, stage) {
            Ok(residual) => residual,
            Err(outcome) => return (outcome, f64::NAN),
        };
        times.solve = clock.lap();
        let residual = stage.certify(t_end).max(first);
        times.certify = clock.lap();
        if self.phases.impulse.iter().any(|p| !p.is_finite()) {
            return (StepOutcome::NonFinite, f64::NAN);
        }
        (stage.outcome(), residual)
    }

    /// A contact as it is recorded; velocities are those after the kick. Normal and tangents alone have a form of their own.
    #[inline]
    fn present(
        &self,
        index: usize,
        (operator, blocks): (&BodyOperator, &[ContactBlock]),
        resting: f64,
    ) -> PresentContact {
        let contact = &self.contacts.active[index];
        let mut moved = [0.0; contacts::ROWS_MAX];
        operator.contact_product(index, &self.after, &mut moved);
        let of = (contact, &blocks[index], &moved);
        match (usize::from(contact.rows), usize::from(contact.linear)) {
            (3, 3) => self.present_as(of, resting, (3, 3)),
            counts => self.present_as(of, resting, counts),
        }
    }

    #[inline(always)] // For each number of rows known beforehand.
    fn present_as(
        &self,
        (contact, block, moved): (&ActiveContact, &ContactBlock, &[f64; contacts::ROWS_MAX]),
        resting: f64,
        (count, linear): (usize, usize),
    ) -> PresentContact {
        let found = &self.found[contact.found as usize];
        let start = contact.start as usize;
        let p = &self.phases.impulse[start..start + count];
        let drift = &self.contacts.drift[start..start + count];
        let approach = &self.contacts.approach[start..start + count];
        let (impulse, moment) = contact.in_world(p, linear);
        let (mut normal, mut tangential) = (0.0, 0.0);
        let (mut velocity, mut slides) = ([0.0; 3], false);
        for i in 0..count {
            let after = moved[i] + drift[i];
            slides |= i > 0 && !(after.abs() <= resting);
            if i < linear {
                for (v, d) in velocity.iter_mut().zip(contact.direction(i)) {
                    *v += after * d;
                }
            }
            let work = 0.5 * p[i] * (approach[i] + after);
            if i == 0 {
                normal = work;
            } else {
                tangential += work;
            }
        }
        if linear == 1 {
            // Without friction there are no rows along the surface.
            let owners = found.key.owners.map(|owner| owner as usize);
            let [va, vb] = owners.map(|owner| self.bodies.point_velocity(owner, found.place));
            velocity = std::array::from_fn(|k| va[k] - vb[k]);
        }
        PresentContact {
            key: found.key,
            place: found.place,
            normal: found.normal,
            gap: found.gap,
            mode: mode(block, p, slides),
            approach: approach[0],
            impulse,
            moment,
            velocity,
            work_normal: normal,
            work_tangential: tangential,
        }
    }

    /// Enters impulses in memory, records and accounts. Returns the works.
    fn book_contacts(&mut self, stage: &ContactStage, h: f64, record: &mut StepRecord) -> [f64; 3] {
        let count = self.contacts.active.len();
        record.present.resize(count, PresentContact::default());
        let problem = (contacts::operator(&stage.problem), stage.problem.blocks());
        let resting = stage.resting_speed();
        share(&mut record.present[..], count, |first, part| {
            for (k, present) in part.iter_mut().enumerate() {
                *present = self.present(first + k, problem, resting);
            }
        });
        let (problem, impulse) = (&stage.problem, &self.phases.impulse);
        let rested = stage.solution.iterations == 0;
        let expected = (!rested && self.phases.is_last).then(|| {
            self.prediction.after(
                problem,
                &self.contacts,
                &record.present,
                (impulse, stage.velocity()),
            )
        });
        self.memory.begin(h, self.found.len(), rested);
        let mut works = [0.0; 3];
        for (contact, present) in self.contacts.active.iter().zip(&record.present) {
            let (place, impulse, moment) = (present.place, present.impulse, present.moment);
            let (again, turning) = match expected {
                Some(p) => contact.in_world(&p[contact.range()], usize::from(contact.linear)),
                None => (impulse, moment),
            };
            self.memory.keep(contact.found, again, turning);
            works[0] += present.work_normal;
            works[1] += present.work_tangential;
            self.account.impulse_size(place, impulse, moment);
            for (owner, sign) in present.key.owners.into_iter().zip([-1.0, 1.0]) {
                // What a fixed or driven body receives, the free one gets with the other sign.
                if !self.bodies.masses[owner as usize].free {
                    let opposite = |x: [f64; 3]| x.map(|x| sign * x);
                    self.account
                        .support(place, opposite(impulse), opposite(moment));
                }
            }
        }
        let supports = self.phases.impulse.iter().zip(&self.contacts.drift);
        supports.for_each(|(p, drift)| works[2] -= p * drift);
        works
    }

    /// Forces and impulses act on the velocities; their works are entered. Writes the velocities without contact impulses.
    fn kick(&mut self, world: &World, h: f64, stage: &ContactStage, left: &mut Vec<f64>) {
        self.change.clear();
        if self.phases.is_last && !stage.problem.blocks().is_empty() {
            self.change.extend_from_slice(stage.change_of_bodies());
        } else {
            self.change.resize(self.free.len(), 0.0);
            let operator = contacts::operator(&stage.problem);
            operator.add_velocity(&self.phases.impulse, &mut self.change);
        }
        self.after.clear();
        self.after
            .extend(self.free.iter().zip(&self.change).map(|(v, dv)| v + dv));
        let dimension = world.dimension;
        let freedoms = dimension.freedoms();
        left.clear();
        for (i, body) in world.bodies.iter().enumerate() {
            let mass = &self.bodies.masses[i];
            let before = self.bodies.state.twists[i];
            if !mass.free {
                write_twist(dimension, &before, left);
                continue;
            }
            let load = &self.loads[i];
            let mut free = before;
            for k in 0..3 {
                free.velocity[k] += h * (world.gravity[k] + load.force[k] / mass.mass);
                free.spin[k] += h * load.torque[k] * mass.inverse_root_inertia[k].powi(2);
            }
            write_twist(dimension, &free, left);
            let change = &self.change[i * freedoms..(i + 1) * freedoms];
            let after = mass.changed(&free, change);
            let weight = world.gravity.map(|g| mass.mass * g);
            let load = body.force.as_ref().map(|_| load);
            self.account
                .work((h, self.theta), weight, load, (&before, &after));
            self.bodies.state.twists[i] = after;
        }
    }
}

impl TimeSteppingScheme for WorldStepping {
    fn name(&self) -> &'static str {
        self.name
    }

    fn step(
        &mut self,
        system: &dyn MechanicalSystem,
        state: &mut State,
        h: f64,
        t_end: f64,
        stage: &mut ContactStage,
        record: &mut StepRecord,
    ) {
        // A simulation joins worlds and their schemes only.
        let world = system.as_world().expect("a world");
        let mut clock = Stopwatch::start();
        let mut times = PhaseTimes::default();
        let theta = if self.looks_ahead { 0.0 } else { self.theta };
        let t_kick = state.t + (1.0 - theta) * h;

        // Drift to the place of the kick.
        self.bodies.begin(world, state.t, &state.q, &state.v);
        self.account.begin(&self.bodies);
        if !self.bodies.drift((1.0 - theta) * h) {
            record.outcome = StepOutcome::NonFinite;
            return;
        }
        self.bodies.state.t = t_kick;
        // A driven body moves on from the kick as it does in the middle of the way.
        self.bodies.place_driven(world, t_kick, t_kick + 0.5 * h);
        self.bodies.refresh_rotations();
        times.finish = clock.lap();

        // Contacts there, and positions without overlap.
        self.source
            .find(world, &self.bodies.state, h, &mut self.found);
        record.projected = self.projection.correct(
            world,
            self.source.as_mut(),
            h,
            &mut self.bodies,
            &mut self.found,
            (stage, &mut self.account),
        );
        times.find = clock.lap();

        // Forces and contacts.
        self.bodies.whiten(world.dimension, &mut self.before);
        self.accelerate(world, h, state.t + theta * h);
        let (outcome, residual) = self.solve(
            world,
            state,
            (h, t_end, theta),
            stage,
            &mut times,
            &mut clock,
        );
        record.outcome = outcome;
        record.residual = residual;
        record.iterations = stage.solution.iterations;
        record.second_order = stage.solution.cost.second_order > 0;
        if outcome.is_fatal() {
            return;
        }
        self.kick(world, h, stage, &mut record.velocity_left);
        let [normal, tangential, supports] = self.book_contacts(stage, h, record);

        // Drift to the end of the step.
        if !self.bodies.drift(theta * h) {
            record.outcome = StepOutcome::NonFinite;
            return;
        }
        self.bodies.state.t = t_end;
        self.bodies.place_driven(world, t_end, t_end);
        self.account.end(&self.bodies);
        let now = energies(world, &self.bodies);
        let [external, scheme, projection] = self.account.works();
        record.energy = EnergyEntry {
            kinetic_change: now.kinetic - state.kinetic,
            potential_change: now.potential - state.potential,
            external,
            numerical_mass: scheme,
            contact_normal: normal,
            contact_tangential: tangential,
            supports,
            projection,
            ..EnergyEntry::default()
        };
        record.potential_size = now.potential_size;
        record.gravity_gain = h * world.gravity_size();
        record.momentum = Some(self.account.momentum);
        record.t = t_end;
        record.h = h;
        self.bodies
            .write(world.dimension, &mut record.q, &mut record.velocity);
        record.kinetic = now.kinetic;
        record.potential = now.potential;
        state.t = t_end;
        state.q.copy_from_slice(&record.q);
        state.v.copy_from_slice(&record.velocity);
        state.kinetic = now.kinetic;
        state.potential = now.potential;
        times.finish += clock.lap();
        record.phases = times;
    }

    fn local_velocities_before(&self) -> &[f64] {
        &self.contacts.approach
    }

    fn steps_worlds(&self) -> bool {
        true
    }

    fn meets_initial_velocity(&self) -> bool {
        true
    }

    fn look_ahead(&mut self, on: bool) -> bool {
        self.looks_ahead = on;
        self.theta > 0.0
    }

    fn memory(&self) -> Option<serde_json::Value> {
        Some(serde_json::json!({
            "impulses": self.memory,
            "source": self.source.memory(),
        }))
    }

    fn recall(&mut self, memory: &serde_json::Value) -> bool {
        let Some(impulses) = memory.get("impulses") else {
            return false;
        };
        let Ok(impulses) = serde_json::from_value(impulses.clone()) else {
            return false;
        };
        self.memory = impulses;
        memory
            .get("source")
            .is_some_and(|source| self.source.recall(source))
    }

    fn warnings(&self, _system: &dyn MechanicalSystem) -> Vec<String> {
        Vec::new()
    }
}
