//! Exit codes and the way mistakes are shown.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The first write to standard output that failed.
static UNSAID: OnceLock<io::Error> = OnceLock::new();

/// Why a command could not do its work; shown to the user by [`complain`].
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

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
    let text = visible(&error.to_string());
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

/// Tells something beside the result, on the error stream.
pub fn note(text: impl Display) {
    // With a closed error stream there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", visible(&text.to_string()));
}

/// Prints to standard output. What cannot be written is remembered for [`ended`].
pub fn say(text: impl Display) {
    if let Err(error) = writeln!(io::stdout(), "{}", visible(&text.to_string())) {
        // The first failure tells most.
        let _ = UNSAID.set(error);
    }
}

/// [`say`] with a format.
macro_rules! say {
    ($($text:tt)+) => { $crate::exit::say(format_args!($($text)+)) };
}

/// The exit code of the command: that of its work, unless its answer could not be written. A closed pipe is no reason to
/// fail, a full disk is.
pub fn ended(code: ExitCode) -> ExitCode {
    if let Err(error) = io::stdout().flush() {
        let _ = UNSAID.set(error);
    }
    match UNSAID.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(format!("standard output: {error}"))
        }
        _ => code,
    }
}

/// The text with what would steer a terminal written out: control characters, other than line ends and tabs, and marks that
/// turn the direction of writing become `\u001b`, as in JSON.
pub fn visible(text: &str) -> String {
    let steers = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let line_end = c == '\r' && letters.peek() == Some(&'\n');
        if steers(c) && !line_end {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
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
    fn what_steers_a_terminal_is_written_out() {
        let title = "a\u{1b}]0;owned\u{7}\u{9b}2J\tb\r\nc\u{202e}d";
        let shown = visible(title);
        assert_eq!(shown, "a\\u001b]0;owned\\u0007\\u009b2J\tb\r\nc\\u202ed");
        assert_eq!(visible("Grüße, Δθ = 3"), "Grüße, Δθ = 3");
    }

    #[test]
    fn only_heads_and_underlines_are_coloured() {
        let text = "error: no\n --> a:1:1\n  |\n1 | gpa\n  | ^^^\n  = help";
        let lines: Vec<bool> = painted(text).lines().map(|l| l.contains('\x1b')).collect();
        assert_eq!(lines, [true, false, false, false, true, false]);
    }
}
