//! A scene from nudged starts, beside what theorems say of it.

use std::ops::ControlFlow;

use crate::simulation::Hypotheses;
use crate::simulation::studies::neighbours::{FanVerdict, NeighbourStudy};

use super::{Scene, SceneError};

impl Scene {
    /// Fans of end states at the nudge, a tenth and a hundredth of it, at the end of the scene. Where they do not come together, a run that
    /// is not nudged tells whether a theorem says that its motion is the only one.
    pub fn neighbours(
        &self,
        nudge: f64,
        runs: usize,
        seed: u64,
    ) -> Result<NeighbourStudy, SceneError> {
        let until = self.settings.until;
        let make = |parts| self.with_step_parted(parts).simulation();
        let mut study = NeighbourStudy::around(make, until, nudge, runs, seed)?;
        if matches!(
            study.verdict,
            FanVerdict::StaysApart | FanVerdict::GrowsLinearly
        ) {
            let mut run = self.simulation()?;
            run.run_until(until, |_| ControlFlow::Continue(()));
            let facts = self.facts(run.system());
            let page = Hypotheses::of(&run, &self.run_settings(""), &facts);
            study.unique = page.unique_motion().map(|cover| cover.theorem.clone());
        }
        Ok(study)
    }
}
