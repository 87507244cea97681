//! First step of decoding: the shape of every value, all mistakes at once.
//!
//! What is wrong is reported and marked, so that the second step meets only well-shaped values and
//! reports nothing twice.

use std::collections::BTreeSet;
use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::expression::nearest_name;
use super::key_kinds::{Kind, TableKeys};
use super::value::{Data, Entry, Table, Value};
use super::words::Word;

/// The table with every wrong value marked as such and misspelt keys under their likely name.
pub(super) fn check_table(
    table: Table,
    place: Range<usize>,
    keys: &TableKeys,
    diagnostics: &mut Vec<Diagnostic>,
) -> Table {
    let given: BTreeSet<String> = table
        .entries
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    for mut entry in table.entries {
        if keys.get(&entry.name).is_none() {
            diagnostics.push(unknown_key(&entry, keys));
            // Going on with the likely name avoids a second report that the key is missing.
            let names = keys.keys.iter().map(|key| key.name);
            match nearest_name(&entry.name, names) {
                Some(likely) if !given.contains(likely) => {
                    entry.name = likely.to_owned();
                }
                _ => continue,
            }
        }
        let Some(key) = keys.get(&entry.name) else {
            continue;
        };
        entry.value = check_value(entry.value, &key.kind, key.name, diagnostics);
        entries.push(entry);
    }
    let table = Table { entries };
    for key in keys
        .keys
        .iter()
        .filter(|key| key.required && table.get(key.name).is_none())
    {
        let message = format!("missing key `{}` in {}", key.name, keys.name);
        diagnostics.push(Diagnostic::at(place.clone(), message).with_help(key.description));
    }
    table
}

fn unknown_key(entry: &Entry, keys: &TableKeys) -> Diagnostic {
    let names = || keys.keys.iter().map(|key| key.name);
    let message = format!("unknown key `{}` in {}", entry.name, keys.name);
    let help = match nearest_name(&entry.name, names()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known keys: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::at(entry.name_span.clone(), message).with_help(help)
}

/// The value if it has the shape, otherwise a report and a marked value.
fn check_value(value: Value, kind: &Kind, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Value {
    let span = value.span.clone();
    let data = match check_data(value, kind, name, diagnostics) {
        Ok(data) => data,
        Err(diagnostic) => {
            diagnostics.extend(diagnostic);
            Data::Wrong
        }
    };
    Value { span, data }
}

/// The data if it has the shape; the report may have been made at an inner place already.
fn check_data(
    value: Value,
    kind: &Kind,
    name: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Data, Option<Diagnostic>> {
    let span = value.span.clone();
    let wrong = |message: String| Err(Some(Diagnostic::at(span.clone(), message)));
    if !has_shape(&value, kind) {
        let message = format!(
            "`{name}` must be {}, found {}",
            expected(kind),
            value.kind()
        );
        let mut diagnostic = Diagnostic::at(span, message);
        if let (Kind::Tables { of, .. }, Data::Table(_)) = (kind, &value.data) {
            diagnostic = diagnostic.with_help(format!("write {} with double brackets", of.name));
        }
        return Err(Some(diagnostic));
    }
    match (value.data, kind) {
        (Data::Number(number), Kind::Expression(_)) if !number.is_finite() => {
            wrong(format!("`{name}` must be a finite number, found {number}"))
        }
        (Data::Number(number), Kind::Count)
            if number < 1.0 || number.fract() != 0.0 || number > 1e15 =>
        {
            wrong(format!(
                "`{name}` must be a whole number from 1, found {number}"
            ))
        }
        (Data::Text(text), Kind::Word(words)) => match check_word(&text, words, name, &span) {
            None => Ok(Data::Text(text)),
            diagnostic => Err(diagnostic),
        },
        (Data::List(list), Kind::List { of, min, max }) => {
            let count = list.len();
            if count < *min || count > *max {
                let allowed = entries(*min, *max);
                return wrong(format!("`{name}` must have {allowed}, found {count}"));
            }
            check_list(list, of, name, diagnostics)
        }
        (Data::List(list), Kind::Tables { of, max }) => {
            let (title, count) = (of.name, list.len());
            if count > *max {
                return wrong(format!(
                    "{title} is given {count} times, the limit is {max}"
                ));
            }
            let tables = list
                .into_iter()
                .map(|item| check_value(item, &Kind::Table(of), name, diagnostics));
            Ok(Data::List(tables.collect()))
        }
        (Data::Table(table), Kind::Table(keys)) => {
            let table = check_table(table, span, keys, diagnostics);
            Ok(Data::Table(table))
        }
        (Data::Table(table), Kind::Named { of, max }) => {
            let count = table.entries.len();
            if count > *max {
                return wrong(format!("`{name}` has {count} entries, the limit is {max}"));
            }
            let checked = table.entries.into_iter().map(|entry| Entry {
                value: check_value(entry.value, of, &entry.name, diagnostics),
                ..entry
            });
            let entries = checked.collect();
            Ok(Data::Table(Table { entries }))
        }
        (data, Kind::Either { kinds, .. }) => {
            let value = Value { span, data };
            match kinds.iter().find(|kind| has_shape(&value, kind)) {
                Some(kind) => check_data(value, kind, name, diagnostics),
                // has_shape found one that fits.
                None => Err(None),
            }
        }
        (data, _) => Ok(data),
    }
}

/// The entries of a list; one with a wrong entry, which was reported, is wrong as a whole.
fn check_list(
    list: Vec<Value>,
    of: &Kind,
    name: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Data, Option<Diagnostic>> {
    let checked: Vec<Value> = list
        .into_iter()
        .map(|item| check_value(item, of, name, diagnostics))
        .collect();
    match checked.iter().any(|item| matches!(item.data, Data::Wrong)) {
        true => Err(None),
        false => Ok(Data::List(checked)),
    }
}

fn has_shape(value: &Value, kind: &Kind) -> bool {
    match (kind, &value.data) {
        (Kind::Either { kinds, .. }, _) => kinds.iter().any(|kind| has_shape(value, kind)),
        (Kind::Text | Kind::Word(_), Data::Text(_))
        | (Kind::Expression(_), Data::Text(_) | Data::Number(_))
        | (Kind::Count, Data::Number(_))
        | (Kind::Boolean, Data::Boolean(_))
        | (Kind::List { .. } | Kind::Tables { .. }, Data::List(_))
        | (Kind::Table(_) | Kind::Named { .. }, Data::Table(_)) => true,
        _ => false,
    }
}

/// The shape in words, after "must be".
pub(super) fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Expression(_) => "a number or an expression in quotes".to_owned(),
        Kind::Count => "a whole number".to_owned(),
        Kind::Boolean => "true or false".to_owned(),
        Kind::Word(words) => format!("one of {}", known(words)),
        Kind::List { of, min, max } => match of {
            Kind::List { .. } => "a list of lists".to_owned(),
            _ => format!("a list of {}", entries(*min, *max)),
        },
        Kind::Table(keys) => format!("a table {}", keys.name),
        Kind::Tables { of, .. } => format!("a list of tables {}", of.name),
        Kind::Named { .. } => "a table of names and values".to_owned(),
        Kind::Either { expected, .. } => (*expected).to_owned(),
    }
}

fn entries(min: usize, max: usize) -> String {
    match (min, max) {
        (1, 1) => "1 entry".to_owned(),
        (min, max) if min == max => format!("{min} entries"),
        (min, max) if max == min + 1 => format!("{min} or {max} entries"),
        (min, max) => format!("{min} to {max} entries"),
    }
}

fn known(words: &[Word]) -> String {
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    names.join(", ")
}

/// The report about a word that is unknown.
fn check_word(text: &str, words: &[Word], name: &str, span: &Range<usize>) -> Option<Diagnostic> {
    if words.iter().any(|word| word.name == text) {
        return None;
    }
    let message = format!("unknown {name} `{text}`");
    let help = match nearest_name(text, words.iter().map(|word| word.name)) {
        Some(nearest) => format!("did you mean `{nearest}`? Known: {}", known(words)),
        None => format!("known: {}", known(words)),
    };
    Some(Diagnostic::at(span.clone(), message).with_help(help))
}
