//! A system with a force and controllers added from outside of its description.

use std::sync::Arc;

use super::functions::Force;
use super::wrapped_system::WrappedSystem;
use super::{ForceDependence, Instant, MechanicalSystem, SampledController};

/// What a program adds to a system: a force, and controllers whose outputs are generalized forces.
///
/// ```
/// use std::sync::Arc;
/// use stickslip::prelude::*;
/// use stickslip::systems::functions::GivenForce;
/// use stickslip::systems::{Drive, ForceDependence};
///
/// // A force as large as the weight holds the ball where it is.
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let evaluate = |_t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]| out[0] = 9.81;
/// let force = GivenForce { dependence: ForceDependence::Time, evaluate };
/// let mut run = scene.driven_simulation(Drive { force: Some(Arc::new(force)), controllers: vec![] })?;
/// run.run_until(1.0, |_| ControlFlow::Continue(()));
/// assert_eq!((run.state().q[0], run.state().v[0]), (0.4, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

impl WrappedSystem for DrivenSystem {
    fn system(&self) -> &dyn MechanicalSystem {
        self.system.as_ref()
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
    fn force_derivatives(&self, at: &Instant, dq: &mut [f64], dv: &mut [f64]) -> bool {
        let held = &at.held[..self.own.min(at.held.len())];
        // Those of the added force are not known.
        self.drive.force.is_none()
            && self
                .system
                .force_derivatives(&Instant { held, ..*at }, dq, dv)
    }
    fn controllers(&self) -> &[Arc<dyn SampledController>] {
        &self.controllers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Simulation, SimulationSettings};
    use crate::solvers::GaussSeidel;
    use crate::stepping::{MoreauJean, MoreauJeanSettings, Projection};
    use crate::systems::functions::GivenForce;
    use crate::systems::rigid::UnitQuaternion;
    use crate::systems::{GeneralizedSystem, RigidBody};

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

    #[test]
    fn a_drive_that_presses_nothing_leaves_a_turning_body_as_it_is() {
        let q = RigidBody::configuration([0.0; 3], UnitQuaternion::IDENTITY);
        let run = |driven: bool| {
            let body = RigidBody::builder(1.0, [1.0, 2.0, 3.0]).build(&q).unwrap();
            let nothing = GivenForce {
                dependence: ForceDependence::Time,
                evaluate: |_t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]| out.fill(0.0),
            };
            let drive = Drive {
                force: Some(Arc::new(nothing)),
                controllers: Vec::new(),
            };
            let system: Box<dyn MechanicalSystem> = match driven {
                true => Box::new(DrivenSystem::new(Box::new(body), drive)),
                false => Box::new(body),
            };
            let scheme = MoreauJean::new(MoreauJeanSettings {
                projection: Projection::Combined,
                ..Default::default()
            });
            let (scheme, solver) = (Box::new(scheme.unwrap()), Box::<GaussSeidel>::default());
            let start: (&[f64], &[f64]) = (&q, &[0.0, 0.0, 0.0, 0.1, 2.0, 0.1]);
            let settings = SimulationSettings::fixed(0.01);
            let mut run = Simulation::new(system, scheme, solver, start, settings).unwrap();
            let mut momenta = 0;
            run.run_until(0.5, |record| {
                momenta += usize::from(record.momentum.is_some());
                std::ops::ControlFlow::Continue(())
            });
            (run.state().q.clone(), run.state().v.clone(), momenta)
        };
        let (free, driven) = (run(false), run(true));
        assert!(free.2 > 0, "the account of momentum is kept");
        assert_eq!(free, driven);
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
