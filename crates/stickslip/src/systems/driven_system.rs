//! A system with a force and controllers added from outside of its description.

use std::sync::Arc;

use crate::algebra::SymmetricMatrix;

use super::functions::Force;
use super::past_motion::{PastMotion, PastReading};
use super::{
    BilateralConstraint, ForceDependence, Instant, LinearPart, MechanicalSystem, SampledController,
    Sparsity, UnilateralConstraint, World,
};

/// What a program adds to a system: a force, and controllers whose outputs are generalized forces.
#[derive(Clone, Default)]
pub struct Drive {
    /// Force that is added to that of the system.
    pub force: Option<Arc<dyn Force>>,
    /// Controllers; each has one output per velocity, which acts as a force from sample to sample.
    pub controllers: Vec<Arc<dyn SampledController>>,
}

impl Drive {
    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.force.is_none() && self.controllers.is_empty()
    }
}

/// A system under a [`Drive`].
///
/// Everything but the external force and the list of controllers is that of the system; the work of the drive is external work
/// in the account.
pub struct DrivenSystem {
    system: Box<dyn MechanicalSystem>,
    drive: Drive,
    controllers: Vec<Arc<dyn SampledController>>,
    /// Outputs of the controllers that the system has itself.
    own: usize,
}

impl DrivenSystem {
    /// Adds the drive.
    ///
    /// # Panics
    /// If a controller of the drive has not one output per velocity.
    pub fn new(system: Box<dyn MechanicalSystem>, drive: Drive) -> Self {
        for controller in &drive.controllers {
            assert_eq!(
                controller.outputs().len(),
                system.dof(),
                "a controller of the drive gives one force per velocity"
            );
        }
        let own = system.controllers().iter().map(|c| c.outputs().len());
        let own = own.sum();
        let controllers = [system.controllers(), &drive.controllers].concat();
        Self {
            system,
            drive,
            controllers,
            own,
        }
    }
}

impl MechanicalSystem for DrivenSystem {
    fn dof(&self) -> usize {
        self.system.dof()
    }
    fn sparsity(&self) -> Option<&Sparsity> {
        self.system.sparsity()
    }
    fn new_matrix(&self) -> SymmetricMatrix {
        self.system.new_matrix()
    }
    fn coordinate_count(&self) -> usize {
        self.system.coordinate_count()
    }
    fn coordinate_names(&self) -> &[String] {
        self.system.coordinate_names()
    }
    fn velocity_names(&self) -> &[String] {
        self.system.velocity_names()
    }
    fn mass_is_constant(&self) -> bool {
        self.system.mass_is_constant()
    }
    fn mass(&self, q: &[f64], out: &mut SymmetricMatrix) {
        self.system.mass(q, out);
    }
    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        self.system.kinetic_energy(q, v)
    }
    fn as_world(&self) -> Option<&World> {
        self.system.as_world()
    }
    fn has_covariant_force(&self) -> bool {
        self.system.has_covariant_force()
    }
    fn covariant_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.system.covariant_force(q, v, out);
    }
    fn force_dependence(&self) -> ForceDependence {
        let added = self.drive.force.as_ref();
        let added = added.map_or(ForceDependence::None, |force| force.dependence());
        // Outputs of controllers change in time, whatever they read.
        let held = match self.drive.controllers.is_empty() {
            true => ForceDependence::None,
            false => ForceDependence::Time,
        };
        let all = [self.system.force_dependence(), added, held];
        let most = [ForceDependence::State, ForceDependence::Time];
        let found = most.into_iter().find(|kind| all.contains(kind));
        found.unwrap_or(ForceDependence::None)
    }
    fn force(&self, at: &Instant, out: &mut [f64]) {
        let (own, held) = at.held.split_at(self.own.min(at.held.len()));
        self.system.force(&Instant { held: own, ..*at }, out);
        if let Some(force) = &self.drive.force {
            let mut added = vec![0.0; out.len()];
            force.evaluate(&Instant { held: own, ..*at }, &mut added);
            for (o, a) in out.iter_mut().zip(&added) {
                *o += a;
            }
        }
        for output in held.chunks(out.len().max(1)) {
            for (o, a) in out.iter_mut().zip(output) {
                *o += a;
            }
        }
    }
    fn has_potential(&self) -> bool {
        self.system.has_potential()
    }
    fn potential(&self, q: &[f64]) -> f64 {
        self.system.potential(q)
    }
    fn potential_gradient(&self, q: &[f64], out: &mut [f64]) {
        self.system.potential_gradient(q, out);
    }
    fn potential_is_linear(&self) -> bool {
        self.system.potential_is_linear()
    }
    fn potential_hessian(&self, q: &[f64], out: &mut SymmetricMatrix) -> bool {
        self.system.potential_hessian(q, out)
    }
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) -> bool {
        self.system.discrete_gradient(q0, q1, out)
    }
    fn linear_part(&self) -> Option<&LinearPart> {
        self.system.linear_part()
    }
    fn displace(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        self.system.displace(q, v, h, out);
    }
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        &self.controllers
    }
    fn warnings(&self) -> Vec<String> {
        self.system.warnings()
    }
    fn constraints(&self) -> &[UnilateralConstraint] {
        self.system.constraints()
    }
    fn joints(&self) -> &[BilateralConstraint] {
        self.system.joints()
    }
    fn past_reading(&self) -> Option<&PastReading> {
        self.system.past_reading()
    }
    fn past(&self) -> Option<&PastMotion> {
        self.system.past()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Simulation, SimulationSettings};
    use crate::solvers::GaussSeidel;
    use crate::stepping::MoreauJean;
    use crate::systems::GeneralizedSystem;
    use crate::systems::functions::GivenForce;

    fn mass(drive: Drive) -> Simulation {
        let system = GeneralizedSystem::builder(["x"])
            .mass_diagonal(&[2.0])
            .build(&[0.0])
            .unwrap();
        let system = Box::new(DrivenSystem::new(Box::new(system), drive));
        let (scheme, solver) = (
            Box::new(MoreauJean::default()),
            Box::<GaussSeidel>::default(),
        );
        let settings = SimulationSettings::fixed(0.01);
        Simulation::new(system, scheme, solver, (&[0.0], &[0.0]), settings).unwrap()
    }

    #[test]
    fn a_constant_force_moves_the_mass_and_its_work_is_external() {
        let force = GivenForce {
            dependence: ForceDependence::Time,
            evaluate: |_t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]| out[0] = 3.0,
        };
        let mut run = mass(Drive {
            force: Some(Arc::new(force)),
            controllers: Vec::new(),
        });
        run.run_until(1.0, |_| std::ops::ControlFlow::Continue(()));
        assert!((run.state().v[0] - 1.5).abs() < 1e-12);
        // Work F x = kinetic energy.
        assert!((run.ledger().totals.external - 2.25).abs() < 1e-10);
        assert!(run.ledger().is_closed());
    }

    #[derive(Debug)]
    struct Opposing(Vec<String>);

    impl SampledController for Opposing {
        fn name(&self) -> &str {
            "opposing"
        }
        fn period(&self) -> f64 {
            0.5
        }
        fn initial_state(&self) -> &[f64] {
            &[]
        }
        fn outputs(&self) -> &[String] {
            &self.0
        }
        fn sample(&self, at: &Instant, _state: &mut [f64], outputs: &mut [f64]) {
            outputs[0] = 2.0 - at.v[0];
        }
    }

    #[test]
    fn a_controller_holds_its_force_from_sample_to_sample() {
        let mut run = mass(Drive {
            force: None,
            controllers: vec![Arc::new(Opposing(vec!["force".into()]))],
        });
        run.run_until(1.0, |_| std::ops::ControlFlow::Continue(()));
        // v(0.5) = 2/2·0.5; then the force is 2 − 0.5.
        assert!((run.state().v[0] - (0.5 + 0.5 * 1.5 / 2.0)).abs() < 1e-12);
        let columns = run.trajectory_layout();
        assert!(columns.columns().contains(&"opposing.force".to_string()));
    }
}
