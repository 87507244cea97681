//! A simulation with the scheme and the solver that suit most systems.

use crate::solvers::CascadeSolver;
use crate::stepping::MoreauJean;
use crate::systems::MechanicalSystem;

use super::{Simulation, SimulationError, SimulationSettings};

impl Simulation {
    /// A run from q and v with steps of length h, by the Moreau-Jean scheme and the cascade of solvers, both with
    /// their default settings; [`Simulation::new`] leaves every choice open.
    pub fn of(
        system: impl MechanicalSystem + 'static,
        start: (&[f64], &[f64]),
        h: f64,
    ) -> Result<Self, SimulationError> {
        let settings = SimulationSettings::fixed(h);
        Self::new(
            Box::new(system),
            Box::new(MoreauJean::default()),
            Box::new(CascadeSolver::default()),
            start,
            settings,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::ContactSolver;
    use crate::stepping::TimeSteppingScheme;

    /// Front ends keep runs behind locks and in other threads: this compiles only if they may.
    #[test]
    fn runs_schemes_and_solvers_may_be_shared_between_threads() {
        fn shared<T: ?Sized + Send + Sync>() {}
        shared::<Simulation>();
        shared::<dyn TimeSteppingScheme>();
        shared::<dyn ContactSolver>();
        shared::<dyn MechanicalSystem>();
    }
}
