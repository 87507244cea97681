//! The motion that a run folder holds.

use std::ops::ControlFlow;
use std::path::Path;

use thiserror::Error;

use crate::records::{StepRecord, TrajectoryFileError, TrajectoryLayout};
use crate::simulation::verify::{Motion, MotionNode};
use crate::systems::MechanicalSystem;

use super::diagnostic::SceneError;
use super::scene::Scene;
use super::verification::NoFormulation;

/// The motion of a run, every step of it.
#[derive(Clone, Debug)]
pub struct RunMotion {
    /// The motion.
    pub motion: Motion,
    /// Whether only some steps were kept, and the others were computed again.
    pub thinned: bool,
    /// Time and size of the largest difference between a kept step and the same step computed again.
    pub difference: Option<(f64, f64)>,
}

/// Why the motion of a folder could not be had.
#[derive(Debug, Error)]
pub enum RunMotionError {
    /// The trajectory could not be read.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryFileError),
    /// The scene could not be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scheme of the scene makes no motion that can be judged.
    #[error(transparent)]
    NoFormulation(#[from] NoFormulation),
    /// The trajectory lacks a column.
    #[error("{path}: no column `{column}`")]
    Column {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
}

/// Reads the motion of the run of `scene` in `folder`. If only every n-th step was kept, the run is repeated from its
/// scene, which gives the same bits, and compared with the steps that were kept.
pub fn read_motion(folder: &Path, scene: &Scene) -> Result<RunMotion, RunMotionError> {
    let discretisation = scene.discretisation()?;
    let system = scene.system()?;
    let (kept, projections) = kept_steps(folder, system.as_ref())?;
    let corrected = scene.simulation()?.corrects_positions();
    let mut motion = Motion::of_run(discretisation).with_corrected_positions(corrected);
    if scene.settings.every == 1 {
        motion.projections = corrected.then_some(projections);
        motion.nodes = kept;
        return Ok(RunMotion {
            motion,
            thinned: false,
            difference: None,
        });
    }
    let mut difference: Option<(f64, f64)> = None;
    let mut missing = kept.iter().peekable();
    let mut enter = |record: &StepRecord, motion: &mut Motion| {
        motion.push(record);
        if let (Some(old), Some(new)) = (missing.peek(), motion.nodes.last())
            && (old.t <= new.t || record.step.is_multiple_of(scene.settings.every))
        {
            let size = apart(old, new);
            if !(size <= difference.map_or(0.0, |d| d.1)) {
                difference = Some((new.t, size));
            }
            missing.next();
        }
        missing.peek().is_none()
    };
    let mut simulation = scene.simulation()?;
    let mut done = enter(simulation.record(), &mut motion);
    if !done {
        simulation.run_until(scene.settings.until, |record| {
            done = enter(record, &mut motion);
            if done {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
    }
    if let Some(left) = missing.next() {
        difference = Some((left.t, f64::INFINITY));
    }
    Ok(RunMotion {
        motion,
        thinned: true,
        difference,
    })
}

/// Largest difference of two nodes.
fn apart(a: &MotionNode, b: &MotionNode) -> f64 {
    let parts = [
        (&a.q, &b.q),
        (&a.v_left, &b.v_left),
        (&a.v_right, &b.v_right),
        (&a.atom, &b.atom),
    ];
    parts
        .iter()
        .flat_map(|(x, y)| x.iter().zip(y.iter()))
        .map(|(x, y)| (x - y).abs())
        .chain([(a.t - b.t).abs()])
        .fold(0.0, |s, x| if x.is_nan() { x } else { s.max(x) })
}

/// The rows of the trajectory as nodes.
fn kept_steps(
    folder: &Path,
    system: &dyn MechanicalSystem,
) -> Result<(Vec<MotionNode>, Vec<Vec<f64>>), RunMotionError> {
    let path = folder.join("trajectory.npy");
    let (columns, values) = TrajectoryLayout::read(&path)?;
    let find = |column: String| {
        let place = columns.iter().position(|c| *c == column);
        place.ok_or_else(|| RunMotionError::Column {
            path: path.display().to_string(),
            column,
        })
    };
    let named = |prefix: &str, names: &[String]| -> Result<Vec<usize>, RunMotionError> {
        names
            .iter()
            .map(|n| find(format!("{prefix}{}", n.trim_end_matches('\''))))
            .collect()
    };
    let t = find("t".to_string())?;
    let q = named("", system.coordinate_names())?;
    let right = named("v_", system.velocity_names())?;
    let left = named("left_", system.velocity_names())?;
    // Impulses follow their contact in the order of the rows.
    let impulses: Vec<usize> = (0..columns.len())
        .filter(|&i| columns[i].contains(".p_"))
        .collect();
    let node = |row: &[f64]| {
        let take = |places: &[usize]| places.iter().map(|&i| row[i]).collect::<Vec<f64>>();
        MotionNode {
            t: row[t],
            q: take(&q),
            v_left: take(&left),
            v_right: take(&right),
            smooth: Vec::new(),
            atom: take(&impulses),
        }
    };
    let moved = named("moved_", system.velocity_names()).unwrap_or_default();
    let rows = || values.chunks(columns.len().max(1));
    let projection = |row: &[f64]| moved.iter().map(|&i| row[i]).collect();
    Ok((rows().map(node).collect(), rows().map(projection).collect()))
}
