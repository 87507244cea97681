//! `stickslip validate`: reference cases, every quantity computed and compared.

use std::path::PathBuf;
use std::process::ExitCode;

use stickslip_validation::{self as validation, CaseFile};

use crate::exit;

/// Compute the reference cases and compare.
///
/// Without files the cases that come with the engine are used, as far as this version computes their
/// family; in files that are named an unknown family fails. The exit code is 0 only if every
/// case passed.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip validate --family impact-laws")]
pub struct ValidateArgs {
    /// Case files (JSON); without any, the project's own copy.
    files: Vec<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Only the cases of this family.
    #[arg(long, value_name = "FAMILY")]
    family: Option<String>,
    /// One line per family instead of one row per quantity.
    #[arg(long, conflicts_with = "json")]
    summary: bool,
}

/// Runs the subcommand.
pub fn run(args: ValidateArgs) -> ExitCode {
    let mut readable = true;
    let files = if args.files.is_empty() {
        let mut files = CaseFile::embedded();
        let left_out: usize = files
            .iter_mut()
            .map(CaseFile::leave_out_unknown_families)
            .sum();
        if left_out > 0 {
            exit::note(format!(
                "{left_out} embedded cases of families that this version does not compute yet are left out"
            ));
        }
        files
    } else {
        let mut files = Vec::new();
        for path in &args.files {
            match CaseFile::read(path) {
                Ok(file) => files.push(file),
                Err(error) => {
                    exit::note(error);
                    readable = false;
                }
            }
        }
        files
    };
    let report = validation::run_family(&files, args.family.as_deref());
    let text = if args.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => text + "\n",
            Err(error) => {
                exit::note(error);
                return ExitCode::FAILURE;
            }
        }
    } else if args.summary {
        report.families() + &format!("{} passed, {} failed\n", report.passed, report.failed)
    } else {
        report.table()
    };
    exit::say(text.trim_end());
    if report.cases.is_empty() {
        let family = args.family.unwrap_or_default();
        exit::note(format!("no case of the family {family:?}"));
        return ExitCode::FAILURE;
    }
    if readable && report.all_passed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
