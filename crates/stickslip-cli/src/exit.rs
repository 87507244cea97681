//! Exit codes and the way mistakes are shown.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// The input was wrong.
pub fn bad_input() -> ExitCode {
    ExitCode::from(1)
}

/// The run could not be certified.
pub fn not_certified() -> ExitCode {
    ExitCode::from(2)
}

/// The question does not apply to the motion.
pub fn does_not_apply() -> ExitCode {
    ExitCode::from(3)
}

/// The user interrupted the run.
pub fn interrupted() -> ExitCode {
    ExitCode::from(130)
}

/// Shows a mistake on the error stream; the code says bad input.
pub fn complain(error: impl Display) -> ExitCode {
    let text = error.to_string();
    let text = if text.starts_with("error:") {
        text
    } else {
        format!("error: {text}")
    };
    let text = if colors(std::io::stderr().is_terminal()) {
        painted(&text)
    } else {
        text
    };
    // With a closed error stream there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
    bad_input()
}

/// Prints to standard output; a closed pipe is no reason to fail.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Whether to use colours: only on a terminal, and not if `NO_COLOR` is set.
pub fn colors(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Colours the heads of mistakes and their underlines.
fn painted(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let underline = line.trim_start().strip_prefix("| ").map(str::trim_start);
        if let Some(rest) = line.strip_prefix("error:") {
            out.push_str(&format!("\x1b[1;31merror:\x1b[0m\x1b[1m{rest}\x1b[0m\n"));
        } else if underline.is_some_and(|u| !u.is_empty() && u.bytes().all(|b| b == b'^')) {
            out.push_str(&format!("\x1b[1;31m{line}\x1b[0m\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heads_and_underlines_are_coloured() {
        let text = "error: no\n --> a:1:1\n  |\n1 | gpa\n  | ^^^\n  = help";
        let lines: Vec<bool> = painted(text).lines().map(|l| l.contains('\x1b')).collect();
        assert_eq!(lines, [true, false, false, false, true, false]);
    }
}
