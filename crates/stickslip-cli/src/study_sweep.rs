//! `stickslip study sweep`: outcomes of runs over any number of parameters.

use std::path::{Path, PathBuf};

use stickslip::internals::map::grid;
use stickslip::scene::{SceneSweep, SweepOutcome};
use stickslip::simulation::studies::sweep::{Sweep, SweepAxis};

use crate::dask;
use crate::exit::{Failure, note};
use crate::interrupt::Interrupt;
use crate::plot::sweep_figure;
use crate::scene_argument::{self, SceneOptions};

/// Run a scene over any number of parameters and collect outcomes: `sweep.npz`, `sweep.csv` and a plot.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip study sweep sliding-block --over mu=0.1:1:50 --of x\n  \
        stickslip study sweep sliding-block --over mu=0.1:1:20 --over v0=1,2,4 --of reach=\"max(x)\" --of event_counts.slips\n\n\
        An outcome is an entry of summary.json (coordinates.x, event_counts.impacts, certified), an expression over the\n\
        columns of the trajectory at the end (x^2 + y^2, final(kinetic)), at a time (at(0.5, x)), or its max(..), min(..) or\n\
        mean(..) over the run; events.0.t is the time of the first event;\n\
        NAME=OUTCOME names it. Columns are written with _ for every sign: plane_p_n is the normal impulse of `plane`.\n\n\
        The same command again goes on where it was interrupted. Read it in Python:\n  \
        data = numpy.load(\"study/sweep.npz\"); data[\"values\"][data[\"done\"]]\n  \
        arrays: axes, axis_0, axis_1, ..., outcomes, values, done, certified, reason")]
pub struct SweepArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// A parameter (or step, until, theta, tolerance, compliance_time) and its values; may be repeated.
    #[arg(long, value_name = "NAME=FROM:TO:COUNT|NAME=A,B,...", value_parser = sweep_axis, required = true)]
    over: Vec<SweepAxis>,
    /// An outcome; may be repeated. The final coordinates if none is given.
    #[arg(long, value_name = "[NAME=]OUTCOME")]
    of: Vec<String>,
    #[command(flatten)]
    options: SceneOptions,
    /// Folder for `sweep.npz`, `sweep.csv` and the plot.
    #[arg(long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// Number of threads; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Let the workers of a Dask scheduler compute the points, through the Python package; the result is the same.
    #[arg(long, value_name = "tcp://HOST:PORT", conflicts_with = "threads")]
    dask: Option<String>,
}

/// Reads `NAME=FROM:TO:COUNT` or `NAME=A,B,...`.
pub fn sweep_axis(text: &str) -> Result<SweepAxis, String> {
    let wrong =
        || "expected NAME=FROM:TO:COUNT or NAME=A,B,..., for example mu=0.1:1:50".to_string();
    let (name, range) = scene_argument::assignment(text)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let parts: Vec<&str> = range.split(':').collect();
    let values = match parts[..] {
        [from, to, count] => match (number(from), number(to), count.trim().parse::<usize>()) {
            (Some(from), Some(to), Ok(count)) if (2..=1_000_000).contains(&count) => {
                grid(from, to, count)
            }
            _ => return Err(wrong()),
        },
        [list] => {
            let values: Option<Vec<f64>> = list.split(',').map(number).collect();
            values.ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    if values.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(format!("the values of {name} must increase"));
    }
    Ok(SweepAxis { name, values })
}

/// Runs the subcommand; false if it was interrupted.
pub fn run(args: &SweepArgs) -> Result<bool, Failure> {
    let named = scene_argument::load(&args.scene, &args.options.changes())?;
    let (_, source) = scene_argument::source(&args.scene)?;
    let outcomes: Vec<SweepOutcome> = if args.of.is_empty() {
        let names = named.scene.coordinate_names();
        names.iter().map(|name| SweepOutcome::parse(name)).collect()
    } else {
        args.of
            .iter()
            .map(|text| SweepOutcome::parse(text))
            .collect()
    };
    let subject = SceneSweep {
        source,
        changes: args.options.changes(),
        outcomes,
    };
    let sweep = subject.sweep(args.over.clone())?;
    let names: Vec<String> = args.over.iter().map(|axis| axis.name.clone()).collect();
    // What is wrong with the question is wrong at every point: ask once before.
    let first = subject.evaluate(&names, &sweep.parameters(0));
    if first.values.iter().all(|x| x.is_nan()) && !first.reason.is_empty() {
        let last = subject.evaluate(&names, &sweep.parameters(sweep.points().len() - 1));
        if last.values.iter().all(|x| x.is_nan()) {
            return Err(first.reason.into());
        }
    }
    let title = format!("{}: sweep", named.name);
    if let Some(scheduler) = &args.dask {
        // Whatever the workers leave undone is done here.
        std::fs::create_dir_all(&args.output)
            .map_err(|e| format!("{}: {e}", args.output.display()))?;
        let request = dask::Request {
            scheduler,
            subject: &subject,
            options: &args.options,
            axes: &args.over,
            quantity: None,
            also: "",
            path: &args.output.join("sweep.npz"),
        };
        dask::compute(&request)?;
    }
    drive(
        sweep,
        ("sweep", &title),
        &args.output,
        args.threads,
        |values| subject.evaluate(&names, values),
    )
}

/// Computes what is missing of a sweep, with its files and its plot.
pub fn drive(
    mut sweep: Sweep,
    (name, title): (&str, &str),
    folder: &Path,
    threads: Option<u16>,
    evaluate: impl Fn(&[f64]) -> stickslip::simulation::studies::sweep::SweepPoint + Sync,
) -> Result<bool, Failure> {
    if let Some(threads) = threads {
        // Only fails if the pool exists already, which nothing before this point makes.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global();
    }
    let text = |e: &dyn std::fmt::Display| e.to_string();
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file = folder.join(format!("{name}.npz"));
    sweep.resume(&file).map_err(|e| text(&e))?;
    let before = sweep.done();
    if before > 0 {
        let all = sweep.points().len();
        note(format!(
            "{before} of {all} points are in {}",
            file.display()
        ));
    }
    let interrupt = Interrupt::watch("interrupted; the same command goes on with what was saved");
    let all = sweep
        .run(evaluate, |sweep| sweep.save(&file), || interrupt.raised())
        .map_err(|e| text(&e))?;
    let csv = folder.join(format!("{name}.csv"));
    std::fs::write(&csv, sweep.to_csv()).map_err(|e| format!("{}: {e}", csv.display()))?;
    let done = sweep.done();
    let certified = sweep
        .points()
        .iter()
        .flatten()
        .filter(|p| p.certified)
        .count();
    say!(
        "{done} of {} points, {certified} of them certified",
        sweep.points().len()
    );
    for (k, outcome) in sweep.outcomes().iter().enumerate().take(12) {
        let values = sweep.points().iter().flatten().map(|p| p.values[k]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        if low <= high {
            say!("  {outcome}: from {low} to {high}");
        }
    }
    let mut reasons: Vec<&str> = Vec::new();
    for point in sweep.points().iter().flatten() {
        if !point.reason.is_empty()
            && !reasons.contains(&point.reason.as_str())
            && reasons.len() < 4
        {
            reasons.push(&point.reason);
        }
    }
    for reason in reasons {
        say!("  some: {reason}");
    }
    if all {
        sweep_figure(&sweep, name, title)
            .save(folder)
            .map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    say!(
        "Files {}: {name}.npz, {name}.csv and the plot {name} (SVG and PNG)",
        folder.display()
    );
    Ok(all)
}
