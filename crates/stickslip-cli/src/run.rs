//! `stickslip run`: one scene into one folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use stickslip::scene::{SceneRun, SceneRunError};
use stickslip::simulation::{RunEnd, RunFolderError, RunOutcome, RunSummary};

use crate::exit::{complain, interrupted, not_certified, note, say};
use crate::interrupt::Interrupt;
use crate::plot_command;
use crate::progress::drive;
use crate::report::report;
use crate::scene_argument::{self, SceneOptions};

/// Run a scene and write its folder: trajectory, summary, certificate, plots.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip run bouncing-ball\n  \
        stickslip run sliding-block --set mu=0.5 --step 1e-4 --output runs/rough\n  \
        stickslip run my-scene.toml --impact fremond --json > summary.json\n  \
        stickslip run --resume runs/my-scene\n  \
        stickslip run --resume runs/my-scene --until 20\n\n\
        Ctrl-C leaves a run that can be resumed. Read the trajectory in Python:\n  \
        numpy.load(\"runs/bouncing-ball/trajectory.npy\")[\"y\"]\n\n\
        Exit codes: 0 done, 1 bad input, 2 the run could not be certified, 130 interrupted.")]
pub struct RunArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE", required_unless_present = "resume")]
    scene: Option<String>,
    #[command(flatten)]
    options: SceneOptions,
    /// Folder of the run; `runs/NAME` (or `runs/NAME-2`, ...) if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write into a folder that holds other files, too; a run in it is never replaced.
    #[arg(long)]
    force: bool,
    /// Go on with a run that was interrupted or killed; the result has the same bits. With --until, also one that is over.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["scene", "output", "force", "set", "law", "impact", "scheme", "on_several", "several_rule", "sections", "active_space", "projection", "step", "tolerance", "every"]
    )]
    resume: Option<PathBuf>,
    /// Seconds between checkpoints; a killed run loses at most that much work.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    checkpoint_every: f64,
    /// Number of threads; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print the summary as JSON instead of words.
    #[arg(long)]
    json: bool,
    /// Say nothing but mistakes, and draw no plots.
    #[arg(long)]
    quiet: bool,
    /// Draw no plots.
    #[arg(long)]
    no_plots: bool,
    /// Exit with 0 where every problem is solved to the `--tolerance` asked, though not to that of a certificate.
    #[arg(long)]
    accept_tolerance: bool,
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e6).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0 to 1e6".to_string()),
    }
}

/// Runs the subcommand.
pub fn run(args: &RunArgs) -> ExitCode {
    if let Some(threads) = args.threads {
        use_threads(usize::from(threads));
    }
    // A run that is over is only told again, unless it shall go on.
    if let Some(path) = args
        .resume
        .as_ref()
        .filter(|_| args.options.until.is_none())
    {
        match SceneRun::read_summary(path) {
            Ok(Some(summary)) => return close(args, path, &summary),
            Ok(None) => {}
            Err(error) => return complain(error),
        }
    }
    let mut scene_run = match begin(args) {
        Ok(scene_run) => scene_run,
        Err(code) => return code,
    };
    scene_run = scene_run.with_checkpoints_every(Duration::from_secs_f64(args.checkpoint_every));
    if !args.quiet {
        if let Some(warning) = scene_run.size_warning() {
            note(format!("warning: {warning}"));
        }
    }
    let interrupt = Interrupt::watch(
        "interrupted within a step; the run can be resumed from its last checkpoint",
    );
    let hidden = args.quiet || args.json;
    let (end, summary) = match drive(&mut scene_run, &interrupt, hidden) {
        Ok(done) => done,
        Err(error) => return complain(error),
    };
    let path = scene_run.path().to_path_buf();
    if end == RunEnd::Interrupted {
        if args.json {
            print_json(&summary);
        }
        if !args.quiet {
            note(format!(
                "interrupted at t = {:.6} s; go on with: stickslip run --resume {}",
                summary.time,
                path.display()
            ));
        }
        return interrupted();
    }
    close(args, &path, &summary)
}

/// Sets the number of threads of everything that runs in parallel.
fn use_threads(threads: usize) {
    // Only fails if the pool exists already, which nothing before this point makes.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global();
}

/// Opens the folder, new or resumed.
fn begin(args: &RunArgs) -> Result<SceneRun, ExitCode> {
    if let Some(path) = &args.resume {
        let Some(until) = &args.options.until else {
            return SceneRun::resume(path).map_err(complain);
        };
        let Some(until) = until.parse::<f64>().ok().filter(|t| t.is_finite()) else {
            return Err(complain("--until: expected a number of seconds"));
        };
        return SceneRun::extend(path, until).map_err(complain);
    }
    let argument = args.scene.as_deref().unwrap_or_default();
    let named = scene_argument::read(argument, &args.options.changes()).map_err(complain)?;
    let start = if args.force {
        SceneRun::start_among
    } else {
        SceneRun::start
    };
    if let Some(path) = &args.output {
        return start(&named.name, named.scene, path).map_err(complain);
    }
    // The first of `runs/NAME`, `runs/NAME-2`, ... that is free; others may look for one at the same time.
    let mut k = 1;
    loop {
        let folder = match k {
            1 => named.name.clone(),
            k => format!("{}-{k}", named.name),
        };
        let taken = match start(
            &named.name,
            named.scene.clone(),
            &Path::new("runs").join(folder),
        ) {
            Ok(run) => return Ok(run),
            Err(error) => error,
        };
        let SceneRunError::Folder(
            RunFolderError::Occupied { .. }
            | RunFolderError::Locked { .. }
            | RunFolderError::Foreign { .. },
        ) = taken
        else {
            return Err(complain(taken));
        };
        k += 1;
    }
}

/// Plots, the summary and the exit code of a run that is over.
fn close(args: &RunArgs, path: &Path, summary: &RunSummary) -> ExitCode {
    let (mut plots, mut undrawn) = (None, None);
    if !args.quiet && !args.no_plots {
        match plot_command::draw(path, None) {
            Ok((folder, names)) => plots = Some((folder, names)),
            // The result does not depend on its pictures: it is told first.
            Err(error) => undrawn = Some(error),
        }
    }
    if args.json {
        print_json(summary);
    } else if !args.quiet {
        say(report(summary).trim_end());
        say!("\nFolder {}", path.display());
        if let Some((folder, names)) = plots {
            say!(
                "Plots  {}: {} (SVG and PNG)",
                folder.display(),
                names.join(", ")
            );
        }
    }
    let undrawn = undrawn.map(|error| complain(format!("the plots could not be drawn: {error}")));
    let accepted = args.accept_tolerance && summary.certificate.solved_to_tolerance;
    if (summary.certified || accepted) && summary.outcome == RunOutcome::Finished {
        undrawn.unwrap_or(ExitCode::SUCCESS)
    } else {
        not_certified()
    }
}

fn print_json(summary: &RunSummary) {
    match serde_json::to_string_pretty(summary) {
        Ok(text) => say(text),
        Err(error) => {
            complain(error);
        }
    }
}
