//! `stickslip bench-solvers`: performance profile of all solvers over a directory of problems.

use crate::exit;
use crate::plot::{Figure, Panel, Sample, curve_stroke};
use crate::solve::{SolveOptions, solve_file};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use stickslip::internals::quantity::number;
use stickslip::solvers::SolverLimits;
use stickslip::solvers::cascade::CoulombMethod;

/// Tolerances of the three panels.
const TOLERANCES: [f64; 3] = [1e-4, 1e-8, 1e-12];

/// Compare all solvers on the FCLIB files of a directory.
#[derive(clap::Args, Debug)]
pub struct BenchSolversArgs {
    /// Directory with problem files.
    directory: PathBuf,
    /// Seconds per solve.
    #[arg(long, default_value_t = 3.0)]
    time_limit: f64,
    /// Picture to write (SVG); the table goes beside it with the extension .md.
    #[arg(long, default_value = "solver-profile.svg")]
    output: PathBuf,
    /// Leave out problems with more contacts.
    #[arg(long)]
    largest: Option<u64>,
    /// Only these solvers (names separated by commas).
    #[arg(long, value_delimiter = ',')]
    solvers: Vec<String>,
}

/// Largest factor that is drawn.
const LARGEST_RATIO: f64 = 1000.0;

/// Seconds of one solve, `None` if it failed.
type Time = Option<f64>;

/// Runs the subcommand.
pub fn run(args: BenchSolversArgs) -> ExitCode {
    let mut files = match files_of(&args.directory) {
        Ok(files) => files,
        Err(error) => {
            exit::note(format!("{}: {error}", args.directory.display()));
            return exit::bad_input();
        }
    };
    if let Some(bytes) = args.largest {
        files.retain(|file| contacts(file).is_some_and(|n| n as u64 <= bytes));
    }
    let methods: Vec<CoulombMethod> = CoulombMethod::ALL
        .into_iter()
        .filter(|m| args.solvers.is_empty() || args.solvers.iter().any(|s| s == m.name()))
        .collect();
    if files.is_empty() || methods.is_empty() {
        exit::note("no problem files or no such solver");
        return exit::bad_input();
    }
    let Ok(limit) = Duration::try_from_secs_f64(args.time_limit) else {
        exit::note("--time-limit must be a number of seconds");
        return exit::bad_input();
    };
    // times[tolerance][method][file]
    let mut times: Vec<Vec<Vec<Time>>> = vec![vec![Vec::new(); methods.len()]; TOLERANCES.len()];
    for (k, file) in files.iter().enumerate() {
        exit::note(format!("{}/{} {}", k + 1, files.len(), file.display()));
        for (m, &method) in methods.iter().enumerate() {
            let mut alive = true;
            for (t, &tolerance) in TOLERANCES.iter().enumerate() {
                // What fails at a loose tolerance fails at a tight one.
                let time = if alive {
                    time_of(file, method, tolerance, limit)
                } else {
                    None
                };
                alive = time.is_some();
                times[t][m].push(time);
            }
        }
    }
    let table = table(&methods, files.len(), &times);
    exit::say(&table);
    let picture = args.output.clone();
    let written = std::fs::write(&picture, draw(&methods, &times))
        .and_then(|()| std::fs::write(picture.with_extension("md"), &table));
    if let Err(error) = written {
        exit::note(format!("{}: {error}", picture.display()));
        return exit::bad_input();
    }
    say!("picture: {}", picture.display());
    ExitCode::SUCCESS
}

fn files_of(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "hdf5" || e == "h5") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn contacts(file: &Path) -> Option<usize> {
    use stickslip::contact::fclib::{FclibFile, FclibProblem};
    let problem = FclibFile::read(file).ok()?.problem;
    Some(match problem {
        FclibProblem::Local(local) => local.blocks().len(),
        FclibProblem::Global(global) => global.friction().len(),
    })
}

fn time_of(file: &Path, method: CoulombMethod, tolerance: f64, limit: Duration) -> Time {
    let limits = SolverLimits {
        tolerance,
        time: Some(limit),
        ..SolverLimits::default()
    };
    match solve_file(file, method, &limits, &SolveOptions::default()) {
        Ok(row)
            if row
                .solution
                .judgement
                .is_some_and(|j| j.accepts(1.01 * tolerance)) =>
        {
            // The counter of CPU time is too coarse for short solves.
            let cpu = row.cpu_seconds.filter(|_| row.seconds > 0.05);
            Some(cpu.unwrap_or(row.seconds).max(1e-6))
        }
        Ok(_) => None,
        Err(error) => {
            exit::note(error);
            None
        }
    }
}

/// Ratio of each time to the best of all methods on that problem.
fn ratios(times: &[Vec<Time>], method: usize) -> Vec<f64> {
    (0..times[method].len())
        .filter_map(|k| {
            let best = times
                .iter()
                .filter_map(|t| t[k])
                .fold(f64::INFINITY, f64::min);
            times[method][k].map(|time| time / best)
        })
        .collect()
}

fn table(methods: &[CoulombMethod], files: usize, times: &[Vec<Vec<Time>>]) -> String {
    let mut text = String::from(
        "| tolerance | solver | solved | median s | within 1.01 | 2 | 10 | 100 times the best |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (t, tolerance) in TOLERANCES.iter().enumerate() {
        for (m, method) in methods.iter().enumerate() {
            let mut solved: Vec<f64> = times[t][m].iter().filter_map(|&x| x).collect();
            solved.sort_by(f64::total_cmp);
            let median = solved.get(solved.len() / 2).copied().unwrap_or(f64::NAN);
            let ratios = ratios(&times[t], m);
            let share =
                |factor: f64| ratios.iter().filter(|&&r| r <= factor).count() as f64 / files as f64;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {tolerance:e} | {} | {} of {files} | {median:.2e} | {:.2} | {:.2} | {:.2} | {:.2} |",
                method.name(),
                solved.len(),
                share(1.01),
                share(2.0),
                share(10.0),
                share(100.0)
            );
        }
    }
    text
}

/// One panel per tolerance: share of problems solved within a factor of the best, factor from 1 to 1000.
fn draw(methods: &[CoulombMethod], times: &[Vec<Vec<Time>>]) -> String {
    let mut figure = Figure {
        title: "Share of problems solved within a factor of the best time".to_string(),
        columns: TOLERANCES.len(),
        panel_size: (350.0, 320.0),
        ..Figure::default()
    };
    for (m, method) in methods.iter().enumerate() {
        let sample = Sample::Line(curve_stroke(m));
        figure.legend.push((method.name().to_string(), sample));
    }
    for (t, tolerance) in TOLERANCES.iter().enumerate() {
        let mut panel = Panel {
            title: format!("tolerance {}", number(*tolerance)),
            x_label: "time over the best time".to_string(),
            y_label: "share of problems".to_string(),
            x_range: Some((1.0, LARGEST_RATIO)),
            y_range: Some((0.0, 1.0)),
            logarithmic_x: true,
            ..Panel::default()
        };
        for m in 0..methods.len() {
            let mut list = ratios(&times[t], m);
            list.sort_by(f64::total_cmp);
            list.retain(|ratio| *ratio <= LARGEST_RATIO);
            let files = times[t][m].len() as f64;
            let (mut points, mut share) = (vec![[1.0, 0.0]], 0.0);
            for (k, ratio) in list.iter().enumerate() {
                points.push([*ratio, share]);
                share = (k + 1) as f64 / files;
                points.push([*ratio, share]);
            }
            points.push([LARGEST_RATIO, share]);
            panel.add_curve(points, curve_stroke(m), None);
        }
        figure.panels.push(panel);
    }
    figure.svg()
}
