//! Command line of the stickslip contact dynamics engine.
//!
//! A library, so that the Python package brings the same program: [`run`] is all of it.

// Its macro is used by the modules below.
#[macro_use]
mod exit;

mod bench_solvers;
mod branches;
mod check;
mod compare;
mod comparison;
mod completions;
mod dask;
mod export;
mod inspect;
mod interrupt;
mod lab;
mod lab_guides;
mod lab_pictures;
mod list;
mod plot;
mod plot_command;
mod polydata;
mod progress;
mod report;
mod run;
mod scene_argument;
mod schema;
mod show;
mod solve;
mod study;
mod study_attainable;
mod study_bounds;
mod study_map;
mod study_neighbours;
mod study_reactions;
mod study_section;
mod study_start;
mod study_sweep;
mod validate;
mod verify;
mod view;
mod world_run;

pub use plot::{energy_svg, growth_svg};

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "stickslip",
    version,
    about = "Contact dynamics with impacts and exact dry friction",
    after_help = "Examples:\n  \
        stickslip list                      scenes that come with the engine\n  \
        stickslip run bouncing-ball         run one, with plots\n  \
        stickslip run my-scene.toml --set mu=0.4 --until 5\n\n\
        Exit codes: 0 done, 1 bad input, 2 the run could not be certified, 3 verify does not apply, 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Run(run::RunArgs),
    Plot(plot_command::PlotArgs),
    Compare(compare::CompareArgs),
    Study(study::StudyArgs),
    Export(export::ExportArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    /// Solve frictional contact problems stored as FCLIB files.
    Solve(solve::SolveArgs),
    /// Compare all solvers on the FCLIB files of a directory.
    BenchSolvers(bench_solvers::BenchSolversArgs),
    /// Compute the reference cases and compare.
    Validate(validate::ValidateArgs),
    Inspect(inspect::InspectArgs),
    Branches(branches::BranchesArgs),
    Verify(verify::VerifyArgs),
    View(view::ViewArgs),
    Lab(lab::LabArgs),
}

/// Does what the arguments ask for, the name of the program first among them.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::arm();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; everything else is bad input.
            if error.use_stderr() {
                // With a closed error stream there is nobody to tell.
                let _ = error.print();
                return exit::bad_input();
            }
            return match error.print() {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                    exit::complain(format!("standard output: {e}"))
                }
                _ => ExitCode::SUCCESS,
            };
        }
    };
    exit::ended(match cli.command {
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Plot(args) => plot_command::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run::<Cli>(&args),
        Command::Solve(args) => solve::run(args),
        Command::BenchSolvers(args) => bench_solvers::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Branches(args) => branches::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::View(args) => view::run(&args),
        Command::Lab(args) => lab::run(&args),
    })
}
