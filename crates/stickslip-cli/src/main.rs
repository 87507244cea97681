//! The program `stickslip`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stickslip_cli::run(std::env::args_os())
}
