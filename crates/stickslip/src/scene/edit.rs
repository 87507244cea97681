//! Changes from the command line, applied to the text of a scene.
//!
//! The scene as run is then itself a scene file, which a run folder keeps and a resumed run reads.

use super::diagnostic::{Diagnostic, SceneError};
use super::expression::nearest_name;
use super::key_kinds::Kind;
use super::keys::SCENE;
use super::source::SourceText;
use super::value;

/// Changes to a scene: parameters and keys of the top level, each with its new value as text.
///
/// ```
/// use stickslip::scene::{Changes, Scene, find_in_gallery};
///
/// let source = find_in_gallery("bouncing-ball").ok_or("no such scene")?.source();
/// let scene = Scene::parse(Changes::new().parameter("e", 0.25).key("until", 2).apply(&source)?)?;
/// assert!(scene.settings.until == 2.0 && scene.parameters.contains(&("e".into(), 0.25)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    parameters: Vec<(String, String)>,
    keys: Vec<(String, String)>,
}

impl Changes {
    /// No change.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a parameter another value, a number or an expression.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.parameters.push((name.into(), value.to_string()));
        self
    }

    /// Gives a key of the top level (`scheme`, `step`, …) another value.
    #[must_use]
    pub fn key(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.keys.push((name.into(), value.to_string()));
        self
    }

    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.keys.is_empty()
    }

    /// The changed text. Names that do not exist are reported; values are judged when the scene is
    /// read. A scene with broken syntax is left as it is, so that its mistakes are reported.
    pub fn apply(&self, source: &SourceText) -> Result<SourceText, SceneError> {
        if self.is_empty() {
            return Ok(source.clone());
        }
        let mut mistakes = Vec::new();
        let table = value::parse(source, &mut mistakes);
        if !mistakes.is_empty() {
            return Ok(source.clone());
        }
        let mut head = String::new();
        let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        let parameters = table.value("parameters").and_then(value::Value::as_table);
        for (name, new) in &self.parameters {
            let entry = parameters.and_then(|table| table.get(name));
            match entry {
                Some(entry) => replace(&mut edits, entry.value.span.clone(), quoted(new)),
                None => {
                    let names = || {
                        parameters
                            .into_iter()
                            .flat_map(|t| &t.entries)
                            .map(|e| e.name.as_str())
                    };
                    let help = match nearest_name(name, names()) {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("parameters: {}", names().collect::<Vec<_>>().join(", ")),
                    };
                    let message = format!("the scene has no parameter `{name}`");
                    mistakes.push(Diagnostic::general(message).with_help(help));
                }
            }
        }
        for (name, new) in &self.keys {
            if !is_setting(name) {
                mistakes.push(Diagnostic::general(format!(
                    "`{name}` is not a setting of a scene"
                )));
                continue;
            }
            match table.get(name) {
                Some(entry) => replace(&mut edits, entry.value.span.clone(), quoted(new)),
                None => head.push_str(&format!("{name} = {}\n", quoted(new))),
            }
        }
        if !mistakes.is_empty() {
            return Err(SceneError::new(source.clone(), mistakes));
        }
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut text = source.text().to_owned();
        for (span, new) in edits {
            text.replace_range(span, &new);
        }
        Ok(SourceText::new(source.name(), head + &text))
    }
}

/// The last of two changes of one value counts.
fn replace(
    edits: &mut Vec<(std::ops::Range<usize>, String)>,
    span: std::ops::Range<usize>,
    new: String,
) {
    edits.retain(|(other, _)| *other != span);
    edits.push((span, new));
}

/// Whether a key of the top level holds a word, a number or a count, so that it can be changed.
pub fn is_setting(name: &str) -> bool {
    SCENE
        .get(name)
        .is_some_and(|key| matches!(key.kind, Kind::Word(_) | Kind::Expression(_) | Kind::Count))
}

/// A number as it is, anything else as a TOML string.
fn quoted(text: &str) -> String {
    let text = text.trim();
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite)
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E' | b'+'));
    // TOML wants digits on both sides of the point.
    let well_formed = !text.starts_with(['.', '+'])
        && !text.contains(".e")
        && !text.ends_with('.')
        && !text.contains("-.")
        && !text.trim_start_matches('-').starts_with("0")
        || matches!(text, "0")
        || text.trim_start_matches('-').starts_with("0.")
            && !text.contains(".e")
            && !text.ends_with('.');
    if is_number && well_formed {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_the_rest_of_the_file() {
        let source = SourceText::new(
            "a.toml",
            "title = \"A\" # comment\nstep = 1\n[parameters]\nm = 2 # mass\nk = \"3*m\"\n",
        );
        let changed = Changes::new()
            .parameter("m", "5")
            .parameter("k", "m/2")
            .parameter("m", "6")
            .key("step", 0.5)
            .key("scheme", "moreau")
            .apply(&source)
            .unwrap();
        assert_eq!(
            changed.text(),
            "scheme = \"moreau\"\ntitle = \"A\" # comment\nstep = 0.5\n[parameters]\nm = 6 # mass\nk = \"m/2\"\n"
        );
    }

    #[test]
    fn unknown_names_are_reported_with_the_nearest() {
        let source = SourceText::new("a.toml", "title = \"A\"\n[parameters]\nmass = 2\n");
        let error = Changes::new()
            .parameter("mas", "5")
            .key("title", "B")
            .apply(&source)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("no parameter `mas`") && text.contains("did you mean `mass`?"),
            "{text}"
        );
        assert!(text.contains("`title` is not a setting"), "{text}");
    }

    #[test]
    fn numbers_stay_numbers_and_the_rest_is_quoted() {
        for (text, want) in [
            ("1", "1"),
            ("-2.5", "-2.5"),
            ("1e-3", "1e-3"),
            ("0.5", "0.5"),
            ("0", "0"),
            (".5", "\".5\""),
            ("05", "\"05\""),
            ("nan", "\"nan\""),
            ("a\"b\\", "\"a\\\"b\\\\\""),
            ("1.", "\"1.\""),
            ("+3", "\"+3\""),
            ("-0.25", "-0.25"),
            ("-.5", "\"-.5\""),
        ] {
            assert_eq!(quoted(text), want);
        }
    }
}
