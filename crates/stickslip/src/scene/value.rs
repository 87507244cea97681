//! The values of a scene file, each with the bytes it covers, tables in the order of the file.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::Diagnostic;
use super::source::SourceText;
use super::words::SceneWords;

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub span: Range<usize>,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Text(String),
    Number(f64),
    /// True or false.
    Boolean(bool),
    List(Vec<Value>),
    Table(Table),
    /// A date or time, which no key of a scene takes.
    Date,
    /// A value that was reported; it gives nothing and causes no further report.
    Wrong,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    pub name_span: Range<usize>,
    pub value: Value,
}

impl Table {
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).map(|entry| &entry.value)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_text()
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_boolean()
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.as_number()
    }

    /// Which of these keys are given.
    pub fn given<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let given = names.iter().filter(|name| self.get(name).is_some());
        given.copied().collect()
    }

    /// Place of the value of a key, or of what it is missing in.
    pub fn place<'a>(&'a self, name: &str, whole: &'a Value) -> &'a Range<usize> {
        &self.value(name).unwrap_or(whole).span
    }

    /// The value that a word under a key stands for.
    pub fn word<W: SceneWords>(&self, name: &str) -> Option<W> {
        W::from_word(self.text(name)?)
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.value(name)?.as_table()
    }

    /// The list under a key, empty where there is none.
    pub fn list(&self, name: &str) -> &[Value] {
        let list = self.value(name).and_then(Value::as_list);
        list.unwrap_or_default()
    }
}

/// The tables of a list with their number and place; what is no table was reported.
pub(super) fn tables(list: &[Value]) -> impl Iterator<Item = (usize, &Value, &Table)> {
    let numbered = list.iter().enumerate();
    numbered.filter_map(|(k, value)| Some((k, value, value.as_table()?)))
}

impl Value {
    /// What the value is, for "expected …, found …".
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "a text",
            Data::Number(_) => "a number",
            Data::Boolean(_) => "true or false",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
            Data::Date => "a date",
            Data::Wrong => "a mistake",
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_boolean(&self) -> Option<bool> {
        match self.data {
            Data::Boolean(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self.data {
            Data::Number(number) => Some(number),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn as_table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// Parses the text of a scene; mistakes of TOML syntax are reported and the rest is kept.
pub(super) fn parse(source: &SourceText, diagnostics: &mut Vec<Diagnostic>) -> Table {
    let (document, errors) = DeTable::parse_recoverable(source.text());
    let mut primes: Vec<Range<usize>> = Vec::new();
    for error in errors {
        // The velocity of an expression is no name of TOML: the most likely slip of all.
        let line = error.span().map(|span| source.line_range(span.start));
        if let Some((name, span)) = line.and_then(|line| primed_key(source, line)) {
            if !primes.contains(&span) {
                let message = format!("`{name}'` cannot be a key");
                let help = format!("the velocity of `{name}` is given as `{name}_dot`");
                diagnostics.push(Diagnostic::at(span.clone(), message).with_help(help));
                primes.push(span);
            }
            continue;
        }
        let message = error.message().trim().replace('\n', ", ");
        let diagnostic = match error.span() {
            Some(span) => Diagnostic::at(span, message),
            None => Diagnostic::general(message),
        };
        diagnostics.push(diagnostic.with_help("the file must be valid TOML"));
    }
    table(document.into_inner(), diagnostics)
}

/// A line `name' = ...`: the name and where it stands with its prime.
fn primed_key(source: &SourceText, line: Range<usize>) -> Option<(&str, Range<usize>)> {
    let text = &source.text()[line.clone()];
    let (key, _) = text.split_once('=')?;
    let name = key.trim().strip_suffix('\'')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(letter) {
        return None;
    }
    let start = line.start + text.find(name)?;
    Some((name, start..start + name.len() + 1))
}

fn table(input: DeTable<'_>, diagnostics: &mut Vec<Diagnostic>) -> Table {
    let mut entries: Vec<Entry> = input
        .into_iter()
        .map(|(name, value)| Entry {
            name_span: name.span(),
            name: name.into_inner().into_owned(),
            value: convert(value, diagnostics),
        })
        .collect();
    entries.sort_by_key(|entry| entry.name_span.start);
    Table { entries }
}

fn convert(input: Spanned<DeValue<'_>>, diagnostics: &mut Vec<Diagnostic>) -> Value {
    let span = input.span();
    let mut number = |text: String, value: Option<f64>| {
        let value = value.unwrap_or_else(|| {
            let message = format!("`{text}` is not a number that fits");
            diagnostics.push(Diagnostic::at(span.clone(), message));
            0.0
        });
        Data::Number(value)
    };
    let data = match input.into_inner() {
        DeValue::String(text) => Data::Text(text.into_owned()),
        DeValue::Integer(integer) => {
            // A double holds integers up to 2^53 exactly; larger ones are rounded like decimals.
            let value = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
            number(integer.to_string(), value.map(|v| v as f64))
        }
        DeValue::Float(float) => {
            let value = float.as_str().parse::<f64>().ok();
            let overflow = |v: &f64| v.is_infinite() && !float.as_str().contains("inf");
            number(float.to_string(), value.filter(|v| !overflow(v)))
        }
        DeValue::Boolean(value) => Data::Boolean(value),
        DeValue::Datetime(_) => Data::Date,
        DeValue::Array(list) => Data::List(
            list.into_iter()
                .map(|value| convert(value, diagnostics))
                .collect(),
        ),
        DeValue::Table(inner) => Data::Table(table(inner, diagnostics)),
    };
    Value { span, data }
}
