//! `stickslip plot`: the pictures of a run folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::records::TrajectoryFileError;
use stickslip::scene::{SceneRun, SceneRunError};
use stickslip::view::{ViewData, ViewError, ViewOptions};

use crate::exit::complain;
use crate::plot::{ElasticView, Field, RunData, RunView, TRACE, Table, save_figures};

/// Draw the plots of a run: motion, gaps, impulses, stick and slip, energy, phase portrait, mechanism, margin to the Painleve region, branches; of elastic bodies the deformed mesh, contact forces, energy; of worlds the bodies with their contact forces, motion, energy.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  stickslip plot runs/bouncing-ball\n  \
        stickslip plot runs/bouncing-ball --from 1 --to 1.5 --size 900x300\n  \
        stickslip plot runs/sliding-block --columns x,plane.p_n,energy.contact_tangential\n  \
        stickslip plot runs/sliding-block --force")]
pub struct PlotArgs {
    /// Folder of a run, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the pictures; `plots` inside the run folder if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// First time that is drawn, in seconds.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    from: Option<f64>,
    /// Last time that is drawn, in seconds.
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
    /// Columns of the trajectory over time, one panel each, instead of the usual figures.
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// Width and height of a panel, in points.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<(f64, f64)>,
    /// Draw the mean force of every step instead of its impulse.
    #[arg(long)]
    force: bool,
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

fn size(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|x| (80.0..=10_000.0).contains(x))
    };
    let parts = text.split_once('x');
    let sizes = parts.and_then(|(width, height)| number(width).zip(number(height)));
    sizes.ok_or_else(|| "expected WIDTHxHEIGHT from 80 to 10000, for example 900x300".to_string())
}

/// What is drawn of a run.
struct Drawn {
    elastic: ElasticView,
    view: RunView,
    window: (f64, f64),
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
    /// What pictures need could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The trajectory has no such column, or no such time.
    #[error("{0}")]
    Nothing(String),
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
    let drawn = Drawn {
        elastic: view,
        view: RunView {
            columns: args.columns.clone(),
            size: args.size,
            force: args.force,
        },
        window: (
            args.from.unwrap_or(f64::NEG_INFINITY),
            args.to.unwrap_or(f64::INFINITY),
        ),
    };
    match draw_view(&args.folder, args.output.as_deref(), drawn) {
        Ok((folder, names)) => {
            say!("{}: {} (SVG and PNG)", folder.display(), names.join(", "));
            ExitCode::SUCCESS
        }
        Err(error) => complain(error),
    }
}

/// Reads a run folder.
pub fn read_run(folder: &Path) -> Result<RunData, PlotError> {
    read_window(folder, (f64::NEG_INFINITY, f64::INFINITY))
}

fn read_window(folder: &Path, window: (f64, f64)) -> Result<RunData, PlotError> {
    SceneRun::read_manifest(folder)?;
    Ok(RunData {
        scene: SceneRun::read_scene(folder)?,
        table: Table::read(&folder.join("trajectory.npy"), window)?,
        summary: SceneRun::read_summary(folder)?,
        branches: SceneRun::read_branches(folder)?,
        elastic: ElasticView::default(),
        picture: None,
        view: RunView::default(),
    })
}

/// Pictures of a world whose times nobody chose.
const PICTURES: usize = 6;

/// What the pictures of a world or a mechanism need: a world at the times that are drawn or at evenly spaced ones, a mechanism often
/// enough for its traces.
fn picture(folder: &Path, run: &RunData) -> Result<Option<ViewData>, PlotError> {
    let times = run.table.times();
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Ok(None);
    };
    if run.scene.world().is_none() {
        if run.scene.drawing().is_none() {
            return Ok(None);
        }
        // Forces over a frame: those of single steps come and go under schemes that let contacts open.
        let options = ViewOptions {
            fps: (last > first).then(|| TRACE as f64 / (last - first)),
            ..ViewOptions::default()
        };
        return Ok(Some(ViewData::of_folder(folder, &options)?));
    }
    let mut wanted = run.elastic.times.clone();
    if wanted.is_empty() {
        let share = |k: usize| k as f64 / (PICTURES - 1) as f64;
        let even = |k: usize| first + share(k) * (last - first);
        wanted.extend((0..PICTURES).map(even));
    }
    // The times of rows nearest to those wanted.
    wanted
        .iter_mut()
        .for_each(|t| *t = times[run.table.row_at(*t)]);
    wanted.sort_by(f64::total_cmp);
    wanted.dedup();
    let options = ViewOptions {
        instants: wanted,
        ..ViewOptions::default()
    };
    Ok(Some(ViewData::of_folder(folder, &options)?))
}

/// Draws all plots of a run folder; returns where they are and their names.
pub fn draw(folder: &Path, output: Option<&Path>) -> Result<(PathBuf, Vec<String>), PlotError> {
    let drawn = Drawn {
        elastic: ElasticView::default(),
        view: RunView::default(),
        window: (f64::NEG_INFINITY, f64::INFINITY),
    };
    draw_view(folder, output, drawn)
}

fn draw_view(
    folder: &Path,
    output: Option<&Path>,
    drawn: Drawn,
) -> Result<(PathBuf, Vec<String>), PlotError> {
    let mut run = read_window(folder, drawn.window)?;
    (run.elastic, run.view) = (drawn.elastic, drawn.view);
    if run.table.times().is_empty() {
        let (from, to) = drawn.window;
        let message = format!("the run has no step between {from} and {to} s");
        return Err(PlotError::Nothing(message));
    }
    let missing = |name: &&String| run.table.column(name).is_none();
    if let Some(name) = run.view.columns.iter().find(missing) {
        let known = run.table.names().join(", ");
        let message = format!("the trajectory has no column `{name}`\n  = columns: {known}");
        return Err(PlotError::Nothing(message));
    }
    if run.view.columns.is_empty() {
        run.picture = picture(folder, &run)?;
    }
    let target = output.map_or_else(|| folder.join("plots"), Path::to_path_buf);
    match save_figures(&run, &target) {
        Ok(names) => Ok((target, names)),
        Err(source) => Err(PlotError::Write {
            path: target,
            source,
        }),
    }
}
