//! Command line of the stickslip contact dynamics engine.

mod solve;
mod validate;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "stickslip", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Solve frictional contact problems stored as FCLIB files.
    Solve(solve::SolveArgs),
    /// Compute the reference cases and compare.
    Validate(validate::ValidateArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Solve(args) => solve::run(args),
        Command::Validate(args) => validate::run(args),
    }
}
