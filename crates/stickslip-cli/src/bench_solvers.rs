//! `stickslip bench-solvers`: performance profile of all solvers over a directory of problems.

use crate::exit;
use crate::solve::{SolveOptions, solve_file};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
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
    exit::say(format!("picture: {}", picture.display()));
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

const COLOURS: [&str; 8] = [
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999",
];

/// Three panels: share of problems solved within a factor of the best, factor from 1 to 1000.
fn draw(methods: &[CoulombMethod], times: &[Vec<Vec<Time>>]) -> String {
    let (width, height, gap) = (300.0, 260.0, 50.0);
    let total = TOLERANCES.len() as f64 * (width + gap) + gap;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        height + 90.0 + 16.0 * methods.len() as f64
    );
    for (t, tolerance) in TOLERANCES.iter().enumerate() {
        let left = gap + t as f64 * (width + gap);
        let top = 30.0;
        let x = |ratio: f64| left + width * ratio.log10().min(3.0) / 3.0;
        let y = |share: f64| top + height * (1.0 - share);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"20\" text-anchor=\"middle\">tolerance {tolerance:e}</text><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"black\"/>",
            left + 0.5 * width
        );
        for decade in 0..=3 {
            let at = x(10f64.powi(decade));
            let _ = writeln!(
                svg,
                "<line x1=\"{at}\" y1=\"{top}\" x2=\"{at}\" y2=\"{}\" stroke=\"#dddddd\"/><text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                top + height,
                top + height + 16.0,
                10u32.pow(decade as u32)
            );
        }
        for tenth in [0.25, 0.5, 0.75, 1.0] {
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\" stroke=\"#dddddd\"/><text x=\"{2}\" y=\"{0}\" text-anchor=\"end\">{tenth}</text>",
                y(tenth),
                left + width,
                left - 4.0
            );
        }
        for m in 0..methods.len() {
            let mut list = ratios(&times[t], m);
            list.sort_by(f64::total_cmp);
            let files = times[t][m].len() as f64;
            let mut points = String::new();
            let mut share = 0.0;
            let _ = write!(points, "{:.1},{:.1} ", left, y(0.0));
            for (k, ratio) in list.iter().enumerate() {
                if *ratio > 1000.0 {
                    break;
                }
                let _ = write!(points, "{:.1},{:.1} ", x(*ratio), y(share));
                share = (k + 1) as f64 / files;
                let _ = write!(points, "{:.1},{:.1} ", x(*ratio), y(share));
            }
            let _ = write!(points, "{:.1},{:.1}", left + width, y(share));
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>",
                COLOURS[m % COLOURS.len()]
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time over the best time</text>",
            left + 0.5 * width,
            top + height + 34.0
        );
    }
    for (m, method) in methods.iter().enumerate() {
        let at = height + 84.0 + 16.0 * m as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{gap}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\" stroke=\"{2}\" stroke-width=\"3\"/><text x=\"{3}\" y=\"{4}\">{5}</text>",
            at,
            gap + 24.0,
            COLOURS[m % COLOURS.len()],
            gap + 32.0,
            at + 4.0,
            method.name()
        );
    }
    svg.push_str("</svg>\n");
    svg
}
