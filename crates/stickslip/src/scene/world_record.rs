//! What the run of a world writes: recorded bodies and contacts, and monitors.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::expression::nearest_name;
use super::reader::Reader;
use super::value::{Data, Table, Value};
use super::world_bodies::ReadBody;
use crate::systems::world::{ForceSums, Monitor, MonitorQuantity, Recording};

/// Numbers of the bodies that a name stands for: a body, all of a grid or filling, or a group.
fn bodies_named(bodies: &[ReadBody], name: &str) -> Vec<u32> {
    let stands =
        |b: &&ReadBody| b.body.name == name || b.base == name || b.group.as_deref() == Some(name);
    let numbers = bodies.iter().enumerate().filter(|(_, b)| stands(b));
    numbers.map(|(k, _)| k as u32).collect()
}

/// The bodies of a name, or a report.
pub(super) fn find_named(
    reader: &mut Reader,
    bodies: &[ReadBody],
    name: &str,
    span: &Range<usize>,
) -> Option<Vec<u32>> {
    let found = bodies_named(bodies, name);
    if !found.is_empty() {
        return Some(found);
    }
    let message = format!("there is no body or group `{name}`");
    let diagnostic = Diagnostic::at(span.clone(), message);
    let names = bodies
        .iter()
        .flat_map(|b| [Some(b.base.as_str()), b.group.as_deref()])
        .flatten();
    reader.report(match nearest_name(name, names) {
        Some(nearest) => diagnostic.with_help(format!("did you mean `{nearest}`?")),
        None => diagnostic,
    });
    None
}

/// Reads `record`.
pub(super) fn read_recording(reader: &mut Reader, table: &Table, bodies: &[ReadBody]) -> Recording {
    let mut recording = Recording::default();
    let record = table.table("record");
    if let Some(value) = record.and_then(|r| r.value("bodies")) {
        match &value.data {
            Data::Text(word) if word == "all" => {}
            Data::Text(_) => {
                let message = "`bodies` must be \"all\" or a list of names";
                reader.report(Diagnostic::at(value.span.clone(), message));
            }
            _ => {
                let mut kept: Vec<u32> = Vec::new();
                for name in value.as_list().unwrap_or_default() {
                    let text = name.as_text().unwrap_or_default();
                    kept.extend(find_named(reader, bodies, text, &name.span).unwrap_or_default());
                }
                kept.sort_unstable();
                kept.dedup();
                recording.bodies = Some(kept);
            }
        }
    }
    let mut choice = |key: &str, words: &[&str], message: &str| {
        let value = record?.value(key)?;
        let given = value
            .as_text()
            .and_then(|text| words.iter().position(|word| *word == text));
        given.or_else(|| reader.refuse(&value.span, message))
    };
    let message = "`contacts` must be \"all\" or \"none\"";
    recording.contacts = choice("contacts", &["all", "none"], message) != Some(1);
    let message = "`forces` must be \"none\", \"bodies\" or \"pairs\"";
    recording.forces = match choice("forces", &["none", "bodies", "pairs"], message) {
        Some(1) => Some(ForceSums::Bodies),
        Some(2) => Some(ForceSums::Pairs),
        _ => None,
    };
    recording
}

/// Reads `[[monitors]]`.
pub(super) fn read_monitors(
    reader: &mut Reader,
    table: &Table,
    bodies: &[ReadBody],
) -> Vec<Monitor> {
    let mut monitors: Vec<Monitor> = Vec::new();
    let list = table.value("monitors").and_then(Value::as_list);
    for value in list.unwrap_or_default() {
        if let Some(monitor) = read_monitor(reader, value, bodies) {
            if monitors.iter().any(|m| m.name == monitor.name) {
                let message = format!("two monitors are called `{}`", monitor.name);
                reader.report(Diagnostic::at(value.span.clone(), message));
            }
            monitors.push(monitor);
        }
    }
    monitors
}

fn read_monitor(reader: &mut Reader, value: &Value, bodies: &[ReadBody]) -> Option<Monitor> {
    let table = value.as_table()?;
    let name = table.text("name")?.to_owned();
    let kinds = ["force", "momentum", "contacts", "energy"];
    let given: Vec<&str> = table.given(&kinds);
    let [kind] = given[..] else {
        let message = format!("the monitor `{name}` must have one of {}", kinds.join(", "));
        return reader.refuse(&value.span, message);
    };
    let what = table.value(kind)?;
    let mut group = |value: &Value| {
        let text = value.as_text()?;
        find_named(reader, bodies, text, &value.span)
    };
    let quantity = match (kind, what.as_list()) {
        ("momentum", _) => MonitorQuantity::Momentum {
            group: group(what)?,
        },
        ("energy", _) => MonitorQuantity::Energy {
            group: group(what)?,
        },
        (_, Some(pair)) => {
            let (on, from) = (group(pair.first()?), group(pair.get(1)?));
            let between = [on?, from?];
            match kind {
                "force" => MonitorQuantity::Force { between },
                _ => MonitorQuantity::Contacts { between },
            }
        }
        // Contacts of one group with anything.
        (_, None) => {
            let all = (0..bodies.len() as u32).collect();
            MonitorQuantity::Contacts {
                between: [group(what)?, all],
            }
        }
    };
    Some(Monitor { name, quantity })
}
