//! Mistakes in a scene, and how they are shown.

use std::fmt::{self, Write as _};
use std::ops::Range;

use serde::Serialize;

use super::source::SourceText;

/// One mistake: what, where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Bytes of the source the mistake is about; none for one that has no place, such as a wrong
    /// option of the command line.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What was expected, or the nearest known name.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            message: message.into(),
            help: None,
        }
    }

    /// A mistake without a place in the file.
    pub fn general(message: impl Into<String>) -> Self {
        Self {
            span: None,
            message: message.into(),
            help: None,
        }
    }

    /// Adds advice; an empty text is none.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into()).filter(|help| !help.is_empty());
        self
    }
}

/// A mistake as data, for editors and `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// File.
    pub file: String,
    /// Line from 1; none if the mistake has no place.
    pub line: Option<usize>,
    /// Column from 1, in characters.
    pub column: Option<usize>,
    /// The offending text.
    pub text: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
}

/// All mistakes of a scene. [`fmt::Display`] shows each with its line, underlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    source: SourceText,
    diagnostics: Vec<Diagnostic>,
    /// Mistakes beyond the limit, counted only.
    omitted: usize,
}

/// Most mistakes kept; a file full of them is not a scene.
const DIAGNOSTICS_MAX: usize = 100;

impl SceneError {
    /// Mistakes in the order of their places.
    pub(super) fn new(source: SourceText, mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|d| d.span.as_ref().map_or((0, 0), |s| (s.start, s.end)));
        diagnostics.dedup();
        let omitted = diagnostics.len().saturating_sub(DIAGNOSTICS_MAX);
        diagnostics.truncate(DIAGNOSTICS_MAX);
        Self {
            source,
            diagnostics,
            omitted,
        }
    }

    /// The mistakes.
    #[doc(hidden)]
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The mistakes as data.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.diagnostics
            .iter()
            .map(|diagnostic| {
                let place = diagnostic
                    .span
                    .as_ref()
                    .map(|s| self.source.position(s.start));
                let text = diagnostic.span.as_ref().map(|s| self.excerpt(s).to_owned());
                Finding {
                    file: self.source.name().to_owned(),
                    line: place.map(|p| p.0),
                    column: place.map(|p| p.1),
                    text,
                    message: diagnostic.message.clone(),
                    help: diagnostic.help.clone(),
                }
            })
            .collect()
    }

    fn excerpt(&self, span: &Range<usize>) -> &str {
        let start = self.source.boundary(span.start);
        let end = self.source.boundary(span.end).max(start);
        &self.source.text()[start..end]
    }
}

impl std::error::Error for SceneError {}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, diagnostic) in self.diagnostics.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            f.write_str(&render(&self.source, diagnostic))?;
        }
        let count = self.diagnostics.len() + self.omitted;
        if count > 1 {
            writeln!(f, "\n{count} mistakes in {}", printable(self.source.name()))?;
        }
        Ok(())
    }
}

/// Widest part of a source line that is shown; longer ones are cut around the mistake.
const WIDTH_MAX: usize = 100;

/// One mistake as text:
///
/// ```text
/// error: unknown key `gpa`
///  --> ball.toml:12:1
///    |
/// 12 | gpa = "y"
///    | ^^^
///    = did you mean `gap`?
/// ```
fn render(source: &SourceText, diagnostic: &Diagnostic) -> String {
    let mut out = format!("error: {}\n", printable(&diagnostic.message));
    // Writing into a String cannot fail.
    let Some(span) = &diagnostic.span else {
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "  = {}", printable(help));
        }
        return out;
    };
    let start = source.boundary(span.start);
    let (line, column) = source.position(start);
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let range = source.line_range(start);
    // A span over several lines is underlined to the end of its first line, and one that starts
    // behind the line (its end, cut off here) at its end.
    let first = start.min(range.end);
    let last = source.boundary(span.end).clamp(first, range.end);
    let text = source.text();
    let before: Vec<char> = text[range.start..first].chars().collect();
    let marked: Vec<char> = text[first..last].chars().collect();
    let after: Vec<char> = text[last..range.end].chars().collect();

    let (shown_before, cut_before) = keep_end(&before, WIDTH_MAX / 2);
    let (shown_marked, cut_marked) = keep_start(&marked, WIDTH_MAX);
    let room = WIDTH_MAX.saturating_sub(shown_before.len() + shown_marked.len());
    let (shown_after, cut_after) = if cut_marked {
        (&[][..], true)
    } else {
        keep_start(&after, room)
    };
    let mut text = String::new();
    text.push_str(if cut_before { "..." } else { "" });
    let indent = text.len() + shown_before.len();
    for part in [shown_before, shown_marked, shown_after] {
        text.extend(part.iter().map(|&c| printable_char(c)));
    }
    text.push_str(if cut_after { "..." } else { "" });
    let name = printable(source.name());
    let _ = writeln!(out, "{margin}--> {name}:{line}:{column}");
    let _ = writeln!(out, "{margin} |");
    let _ = writeln!(out, "{number} | {}", text.trim_end());
    let underline = "^".repeat(shown_marked.len().max(1));
    let _ = writeln!(out, "{margin} | {}{underline}", " ".repeat(indent));
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{margin} = {}", printable(help));
    }
    out
}

fn keep_end(chars: &[char], limit: usize) -> (&[char], bool) {
    if chars.len() > limit {
        (&chars[chars.len() - limit..], true)
    } else {
        (chars, false)
    }
}

fn keep_start(chars: &[char], limit: usize) -> (&[char], bool) {
    if chars.len() > limit {
        (&chars[..limit], true)
    } else {
        (chars, false)
    }
}

/// Text from a file must not drive the terminal: control characters are shown as blanks.
fn printable_char(c: char) -> char {
    match c {
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    }
}

fn printable(text: &str) -> String {
    const LENGTH_MAX: usize = 600;
    let mut shown: String = text.chars().take(LENGTH_MAX).map(printable_char).collect();
    if text.chars().nth(LENGTH_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
