//! `stickslip plot`: the pictures of a run folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::records::TrajectoryFileError;
use stickslip::scene::{SceneRunError, read_branches, read_manifest, read_scene, read_summary};
use stickslip::systems::world::WorldShot;

use crate::exit::{complain, say};
use crate::plot::{ElasticView, Field, RunData, Table, save_figures};
use crate::world_run::read_shots;

/// Draw the plots of a run: motion, gaps, impulses, stick and slip, energy, phase portrait, mechanism, margin to the Painleve region, branches; of elastic bodies the deformed mesh, contact forces, energy; of worlds the bodies with their contact forces, motion, energy.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip plot runs/bouncing-ball")]
pub struct PlotArgs {
    /// Folder of a run, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the pictures; `plots` inside the run folder if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Elastic bodies and worlds: times of the pictures, in seconds.
    #[arg(long, value_name = "T,T,...", value_delimiter = ',')]
    times: Vec<f64>,
    /// Elastic bodies: field that colours the mesh.
    #[arg(long, value_name = "FIELD", default_value = "stress")]
    field: Field,
    /// Elastic bodies: factor of deformations; chosen if not given.
    #[arg(long, value_name = "FACTOR")]
    scale: Option<f64>,
}

/// Why a run could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The folder could not be read.
    #[error(transparent)]
    Run(#[from] SceneRunError),
    /// The trajectory could not be read.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryFileError),
    /// A picture could not be written.
    #[error("{path}: {source}")]
    Write {
        /// The folder of the pictures.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// Runs the subcommand.
pub fn run(args: &PlotArgs) -> ExitCode {
    let view = ElasticView {
        times: args.times.clone(),
        field: args.field,
        scale: args.scale,
    };
    match draw_view(&args.folder, args.output.as_deref(), view) {
        Ok((folder, names)) => {
            say(format!(
                "{}: {} (SVG and PNG)",
                folder.display(),
                names.join(", ")
            ));
            ExitCode::SUCCESS
        }
        Err(error) => complain(error),
    }
}

/// Reads a run folder.
pub fn read_run(folder: &Path) -> Result<RunData, PlotError> {
    read_manifest(folder)?;
    Ok(RunData {
        scene: read_scene(folder)?,
        table: Table::read(&folder.join("trajectory.npy"))?,
        summary: read_summary(folder)?,
        branches: read_branches(folder)?,
        elastic: ElasticView::default(),
        world: Vec::new(),
    })
}

/// Pictures of a world whose times nobody chose.
const PICTURES: usize = 6;

/// States of a world at the times that are drawn, or evenly spaced ones.
fn world_shots(folder: &Path, run: &RunData) -> Result<Vec<WorldShot>, PlotError> {
    let Some(world) = run.scene.world() else {
        return Ok(Vec::new());
    };
    let times = run.table.times();
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Ok(Vec::new());
    };
    let given = &run.elastic.times;
    let wanted: Vec<f64> = if given.is_empty() {
        let share = |k: usize| k as f64 / (PICTURES - 1) as f64;
        let even = |k: usize| first + share(k) * (last - first);
        (0..PICTURES).map(even).collect()
    } else {
        given.clone()
    };
    // The times of rows nearest to those wanted.
    let near: Vec<f64> = wanted.iter().map(|&t| times[run.table.row_at(t)]).collect();
    let mut shots = read_shots(folder, world, |_, t| near.contains(&t))?;
    shots.dedup_by_key(|shot| shot.t.to_bits());
    Ok(shots)
}

/// Draws all plots of a run folder; returns where they are and their names.
pub fn draw(folder: &Path, output: Option<&Path>) -> Result<(PathBuf, Vec<String>), PlotError> {
    draw_view(folder, output, ElasticView::default())
}

fn draw_view(
    folder: &Path,
    output: Option<&Path>,
    view: ElasticView,
) -> Result<(PathBuf, Vec<String>), PlotError> {
    let mut run = read_run(folder)?;
    run.elastic = view;
    run.world = world_shots(folder, &run)?;
    let target = output.map_or_else(|| folder.join("plots"), Path::to_path_buf);
    match save_figures(&run, &target) {
        Ok(names) => Ok((target, names)),
        Err(source) => Err(PlotError::Write {
            path: target,
            source,
        }),
    }
}
