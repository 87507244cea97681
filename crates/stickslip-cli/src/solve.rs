//! `stickslip solve`: Coulomb problems from FCLIB files, one row each.

use crate::exit;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stickslip::contact::CondensedProblem;
use stickslip::contact::ContactSolution;
use stickslip::contact::fclib::{FclibError, FclibFile, FclibProblem, FclibSolution};
use stickslip::solvers::SolverLimits;
use stickslip::solvers::cascade::{CoulombMethod, solve};
use stickslip::solvers::minimum_norm::{RankReport, least_impulses};

/// Solve frictional contact problems stored as FCLIB files.
///
/// Exit code 0: every problem solved to the tolerance; 1: a file could not be read or written; 2: some problem was not
/// solved, its best point being returned and marked.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  stickslip solve wall.hdf5 tower.hdf5 --tolerance 1e-8 --time-limit 10 --output solved"
)]
pub struct SolveArgs {
    /// Problem files (HDF5), local or global form.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Residual to reach, by the natural map with unit step over the norm of q.
    #[arg(long, default_value_t = 1e-8)]
    tolerance: f64,
    /// Solver: cascade (default), or one method by name.
    #[arg(long, default_value = "cascade")]
    solver: String,
    /// Seconds after which the best point is returned.
    #[arg(long)]
    time_limit: Option<f64>,
    /// Number of threads for coloured sweeps.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Directory for solution files of the same name.
    #[arg(long)]
    output: Option<PathBuf>,
    /// Among the impulses of the same motion give those of least norm, and tell the rank deficiency of W.
    #[arg(long)]
    minimum_norm: bool,
    /// Solve each problem this many times and tell the shortest time.
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Tell on the error stream which method is at work and how far it is.
    #[arg(long)]
    trace: bool,
    /// One JSON object per problem instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand; the exit code is 0 if every problem was solved.
pub fn run(args: SolveArgs) -> ExitCode {
    let Some(method) = CoulombMethod::from_name(&args.solver) else {
        let names: Vec<_> = CoulombMethod::ALL.iter().map(|m| m.name()).collect();
        exit::note(format!(
            "unknown solver {:?}; known: {}",
            args.solver,
            names.join(", ")
        ));
        return exit::bad_input();
    };
    if let Some(directory) = &args.output
        && let Err(error) = std::fs::create_dir_all(directory)
    {
        exit::note(format!("{}: {error}", directory.display()));
        return exit::bad_input();
    }
    let time = match args.time_limit.map(Duration::try_from_secs_f64) {
        None => None,
        Some(Ok(time)) => Some(time),
        Some(Err(error)) => {
            exit::note(format!("--time-limit: {error}"));
            return exit::bad_input();
        }
    };
    let limits = SolverLimits {
        tolerance: args.tolerance,
        time,
        threads: args.threads.max(1),
        trace: args.trace,
        ..SolverLimits::default()
    };
    if !args.json {
        say!(
            "{:<50} {:>8} {:>14} {:>10} {:>10} {:>10} {:>8} {:>9}  method",
            "problem",
            "contacts",
            "status",
            "residual",
            "certified",
            "iterations",
            "factors",
            "seconds"
        );
    }
    let (mut all_solved, mut failed) = (true, false);
    for path in &args.files {
        let shown = spinner(path);
        let options = SolveOptions {
            output: args.output.as_deref(),
            minimum_norm: args.minimum_norm,
            repeat: args.repeat,
        };
        let solved = solve_file(path, method, &limits, &options);
        shown.finish_and_clear();
        match solved {
            Ok(row) => {
                all_solved &= row.solution.status.is_solved();
                print_row(&row, args.json);
            }
            Err(error) => {
                failed = true;
                exit::note(error);
            }
        }
    }
    if failed {
        exit::bad_input()
    } else if all_solved {
        ExitCode::SUCCESS
    } else {
        exit::not_certified()
    }
}

/// Something that moves while a long problem is solved, on terminals only.
fn spinner(path: &Path) -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::new_spinner();
    bar.set_message(path.display().to_string());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// One solved file.
pub struct Row {
    /// File name without extension.
    pub name: String,
    /// Number of contacts.
    pub contacts: usize,
    /// The answer.
    pub solution: ContactSolution,
    /// Seconds of the solve, condensation of global problems included.
    pub seconds: f64,
    /// CPU time of the first solve in the calling thread, where the system tells.
    pub cpu_seconds: Option<f64>,
    /// Rank of W and the ratio of the norms of the impulses after and before, if least impulses were asked for.
    pub least: Option<(RankReport, f64)>,
}

/// What is done besides solving.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolveOptions<'a> {
    /// Directory for solution files.
    pub output: Option<&'a Path>,
    /// Give the impulses of least norm.
    pub minimum_norm: bool,
    /// Times the solve is repeated, the shortest one being told.
    pub repeat: usize,
}

/// CPU seconds of this thread, where the system tells.
pub fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

/// Reads, solves and, if asked, writes one problem.
pub fn solve_file(
    path: &Path,
    method: CoulombMethod,
    limits: &SolverLimits,
    options: &SolveOptions<'_>,
) -> Result<Row, FclibError> {
    let mut file = FclibFile::read(path)?;
    let name = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    // CPU time is that of the first solve: asking the system for it would disturb the short ones.
    let cpu_start = cpu_seconds();
    let mut solved = solve_once(path, &file, method, limits)?;
    let cpu_seconds = cpu_seconds().zip(cpu_start).map(|(end, start)| end - start);
    for _ in 1..options.repeat {
        let again = solve_once(path, &file, method, limits)?;
        solved.seconds = solved.seconds.min(again.seconds);
    }
    let Solved {
        mut solution,
        local,
        seconds,
    } = solved;
    let problem = match (&file.problem, &local) {
        (_, Some(condensed)) => &condensed.local,
        (FclibProblem::Local(local), None) => local,
        (FclibProblem::Global(_), None) => unreachable!("a global problem was condensed"),
    };
    let least = options.minimum_norm.then(|| {
        let ratio = least_impulses(problem, &mut solution, limits.tolerance);
        (RankReport::of(problem), ratio)
    });
    let contacts = problem.blocks().len();
    if let Some(directory) = options.output {
        let v = match (&file.problem, &local) {
            (FclibProblem::Global(global), Some(condensed)) => {
                Some(condensed.generalized_velocity(global, &solution.impulse))
            }
            _ => None,
        };
        file.solution = Some(FclibSolution {
            v,
            u: solution.local_velocity.clone(),
            r: solution.impulse.clone(),
        });
        let target = directory.join(path.file_name().unwrap_or_default());
        file.write(target)?;
    }
    Ok(Row {
        name,
        contacts,
        solution,
        seconds,
        cpu_seconds,
        least,
    })
}

/// One solve with its times; the condensed form of a global problem.
struct Solved {
    solution: ContactSolution,
    local: Option<CondensedProblem>,
    seconds: f64,
}

fn solve_once(
    path: &Path,
    file: &FclibFile,
    method: CoulombMethod,
    limits: &SolverLimits,
) -> Result<Solved, FclibError> {
    let guess = file.guesses.first().map(|g| g.r.as_slice());
    let start = Instant::now();
    let (solution, local) = match &file.problem {
        FclibProblem::Local(local) => (solve(local, method, limits, guess), None),
        FclibProblem::Global(global) => {
            let condensed = global.condense().map_err(|source| FclibError::Problem {
                path: path.display().to_string(),
                source,
            })?;
            let mut limits = limits.clone();
            if let Some(time) = &mut limits.time {
                *time = time.saturating_sub(start.elapsed());
            }
            let solution = solve(&condensed.local, method, &limits, guess);
            (solution, Some(condensed))
        }
    };
    Ok(Solved {
        solution,
        local,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn print_row(row: &Row, json: bool) {
    let s = &row.solution;
    let judgement = s.judgement.unwrap_or_default();
    if json {
        let object = serde_json::json!({
            "name": row.name,
            "contacts": row.contacts,
            "status": s.status.name(),
            "residual": judgement.published,
            "scaled_residual": judgement.residual.natural_map,
            "signorini": judgement.residual.signorini,
            "cone": judgement.residual.cone,
            "dissipation": judgement.residual.dissipation,
            "floor": judgement.published_floor,
            "scaled_floor": judgement.floor,
            "iterations": s.cost.products,
            "factorizations": s.cost.factorizations,
            "seconds": row.seconds,
            "cpu_seconds": row.cpu_seconds,
            "method": s.cost.method,
            "rank_deficiency": row.least.map(|(rank, _)| rank.deficiency),
            "norm_ratio": row.least.map(|(_, ratio)| ratio),
        });
        exit::say(object);
    } else {
        say!(
            "{:<50} {:>8} {:>14} {:>10.2e} {:>10.2e} {:>10} {:>8} {:>9.4}  {}",
            row.name,
            row.contacts,
            s.status.name(),
            judgement.published,
            judgement.residual.worst(),
            s.cost.products,
            s.cost.factorizations,
            row.seconds,
            s.cost.method
        );
        if let Some((rank, ratio)) = row.least {
            let norm = if ratio < 1.0 {
                format!("norm of the impulses lowered to {ratio:.4} of that found first")
            } else {
                "no impulses of smaller norm found".into()
            };
            say!(
                "    rank deficiency {} of {} rows; {norm}",
                rank.deficiency,
                rank.rows
            );
        }
    }
    // A closed pipe is no reason to fail.
    let _ = std::io::stdout().flush();
}
