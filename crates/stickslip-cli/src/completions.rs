//! `stickslip completions`: scripts that complete commands in a shell.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::exit::say;

/// Print a script that completes commands and options in a shell.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip completions bash > ~/.local/share/bash-completion/completions/stickslip\n  \
        stickslip completions fish > ~/.config/fish/completions/stickslip.fish")]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Runs the subcommand for the command line `C`.
pub fn run<C: CommandFactory>(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "stickslip", &mut script);
    say(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}
