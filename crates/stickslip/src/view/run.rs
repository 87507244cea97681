//! The picture of a run in memory.

use std::ops::ControlFlow;

use crate::records::StepRecord;
use crate::records::world_rows::{BodySelection, fill_contacts};
use crate::scene::{OnSeveral, Scene, SceneError};
use crate::simulation::{RunEnd, RunSummary};
use crate::systems::world::{Dimension, Recording};

use super::{ViewBuilder, ViewData, ViewOptions};

impl ViewData {
    /// Runs a scene from its start to its end, and keeps what a picture needs.
    pub fn of_run(scene: &Scene, name: &str, options: &ViewOptions) -> Result<Self, SceneError> {
        Self::of_run_while(scene, name, options, |_| ControlFlow::Continue(()))
    }

    /// The same, as long as `observe`, which sees every step, lets it go on.
    pub fn of_run_while(
        scene: &Scene,
        name: &str,
        options: &ViewOptions,
        mut observe: impl FnMut(&StepRecord) -> ControlFlow<()>,
    ) -> Result<Self, SceneError> {
        let mut simulation = scene.simulation()?;
        let layout = simulation.trajectory_layout();
        let mut builder = ViewBuilder::new(scene, name, layout.columns(), options)?;
        // Bodies of large worlds are not columns of the trajectory.
        let table = scene.world().and_then(|world| {
            let bodies = world.recording.bodies(world.bodies.len());
            let planar = world.dimension == Dimension::Plane;
            (bodies.len() > Recording::COLUMNS_MAX).then_some(BodySelection { bodies, planar })
        });
        let (mut row, mut bodies, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
        let mut enter = |record: &StepRecord| {
            row.clear();
            bodies.clear();
            contacts.clear();
            layout.fill(record, &mut row);
            if let Some(table) = &table {
                table.fill_table(record, &mut bodies);
            }
            fill_contacts(record, &mut contacts);
            builder.push(&row, &bodies, &contacts);
        };
        enter(simulation.record());
        let end: RunEnd = simulation.run_until(scene.settings.until, |record| {
            enter(record);
            observe(record)
        });
        let facts = scene.facts(simulation.system());
        let settings = scene.run_settings(name);
        let summary = RunSummary::new(&simulation, (settings, &facts), end, 0.0);
        let tree = match scene.settings.on_several {
            OnSeveral::Branch => Some(scene.branch_tree()?),
            _ => None,
        };
        Ok(builder.finish(Some(&summary), tree.as_ref()))
    }
}
