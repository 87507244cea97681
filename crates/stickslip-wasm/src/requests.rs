//! What a page asks of the engine.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use stickslip::scene::{Cell, Changes, MapQuantity, Scene, SceneChart, SourceText};
use stickslip::solvers::enumeration::EnumerationSettings;
use stickslip::view::{ViewData, ViewOptions};

/// A request.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    /// What to do.
    pub task: Task,
    /// Name of the scene.
    pub name: String,
    /// Text of the scene.
    pub scene: String,
    /// Parameters with other values, numbers or expressions.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Settings with other values: law, scheme, impact, step, until, ...
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    /// Gap up to which a contact counts as active in verdicts.
    #[serde(default)]
    pub gap: f64,
    /// Most frames.
    #[serde(default)]
    pub frames: Option<usize>,
    /// Parameter along a row of a map, and its values.
    #[serde(default)]
    pub row: Option<(String, Vec<f64>)>,
    /// The other parameter of a map, and its value in this row.
    #[serde(default)]
    pub column: Option<(String, f64)>,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The whole run, as view data.
    Run,
    /// All solutions of the first step under Coulomb's law, with a verdict.
    Verdict,
    /// One row of the map of regimes.
    Map,
    /// The drawn shapes at the start.
    Start,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// JSON: the head of view data, or an object of its own; `{"error": ...}` where the request was refused.
    pub text: String,
    /// Tables of view data.
    pub table: Vec<u8>,
}

/// Answers a request, JSON in UTF-8.
#[must_use]
pub fn respond(request: &[u8]) -> Answer {
    let done = serde_json::from_slice::<Request>(request)
        .map_err(|error| format!("the request: {error}"))
        .and_then(|request| done(&request));
    done.unwrap_or_else(|error| plain(&json!({ "error": error })))
}

fn plain(value: &Value) -> Answer {
    Answer {
        text: value.to_string(),
        table: Vec::new(),
    }
}

fn done(request: &Request) -> Result<Answer, String> {
    let mut changes = Changes::new();
    for (name, value) in &request.parameters {
        changes = changes.parameter(name, value);
    }
    for (name, value) in &request.keys {
        changes = changes.key(name, value);
    }
    let file = format!("{}.toml", request.name);
    let source = SourceText::new(&file, &request.scene);
    let scene = |changes: &Changes| {
        let changed = changes.apply(&source).map_err(|error| error.to_string())?;
        Scene::read(changed).map_err(|error| error.to_string())
    };
    match request.task {
        Task::Run => {
            let options = ViewOptions {
                frames_max: request.frames.unwrap_or(ViewOptions::default().frames_max),
                ..ViewOptions::default()
            };
            let view = ViewData::of_run(&scene(&changes)?, &request.name, &options);
            let encoded = view.map_err(|error| error.to_string())?.encode();
            Ok(Answer {
                text: encoded.head,
                table: encoded.bytes,
            })
        }
        // Only Coulomb's law has several solutions.
        Task::Verdict => verdict(&scene(&changes.key("law", "coulomb"))?, request.gap),
        Task::Map => {
            let chart = SceneChart {
                source: source.clone(),
                changes: changes.key("law", "coulomb"),
                quantity: MapQuantity::Regime { gap: request.gap },
            };
            let (Some((x, values)), Some((y, at))) = (&request.row, &request.column) else {
                return Err("a map needs `row` and `column`".to_string());
            };
            let word = |value: &f64| match chart.at((x, *value), (y, *at)) {
                Ok(Cell::Word(word)) => word,
                Ok(Cell::Number(number)) => number.to_string(),
                Err(_) => "refused".to_string(),
            };
            let cells: Vec<String> = values.iter().map(word).collect();
            Ok(plain(&json!({ "cells": cells })))
        }
        Task::Start => {
            let scene = scene(&changes)?;
            let points = ViewData::start_points(&scene);
            Ok(plain(&json!({ "points": points })))
        }
    }
}

fn verdict(scene: &Scene, gap: f64) -> Result<Answer, String> {
    if scene.world().is_some() {
        return Err("verdicts are given for systems with declared contacts".to_string());
    }
    let found = scene.branches(gap, scene.settings.step, &EnumerationSettings::default());
    let study = found.map_err(|error| error.to_string())?;
    Ok(plain(&study.map_err(|error| error.to_string())?.to_json()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickslip::scene::find_in_gallery;

    fn ask(name: &str, rest: Value) -> Value {
        let source = find_in_gallery(name).unwrap().source();
        let mut request = json!({ "name": name, "scene": source.text(), "gap": 1e-3 });
        for (key, value) in rest.as_object().unwrap() {
            request[key] = value.clone();
        }
        let answer = respond(request.to_string().as_bytes());
        serde_json::from_str(&answer.text).unwrap()
    }

    #[test]
    fn a_run_answers_with_view_data() {
        let rest = json!({ "task": "run", "keys": { "until": "0.3" }, "parameters": { "m": "3" } });
        let head = ask("bouncing-ball", rest);
        assert_eq!(head["format"], 1);
        assert_eq!(head["settings"]["parameters"]["m"], 3.0);
        assert_eq!(head["summary"]["outcome"], "finished");
        assert!(head["frames"].as_u64().unwrap() > 100);
    }

    /// The critical coefficient of the rod at 60 degrees is (1/3 + cos²)/(sin cos) = 1.347: three solutions above, one below.
    #[test]
    fn verdicts_change_where_theory_says() {
        for (mu, word) in [("1.3", "regular"), ("1.4", "indeterminate")] {
            let rest = json!({ "task": "verdict", "parameters": { "mu": mu } });
            let found = ask("painleve-start", rest);
            assert_eq!(found["verdict"], word, "{found}");
            let row = json!({ "task": "map", "row": ["theta0", [1.0471975511965976]], "column": ["mu", mu.parse::<f64>().unwrap()] });
            let cells = ask("painleve-start", row);
            assert!(
                cells["cells"][0].as_str().unwrap().starts_with(word),
                "{cells}"
            );
        }
    }

    #[test]
    fn the_start_follows_its_parameters() {
        let points = |angle: &str| {
            let rest = json!({ "task": "start", "parameters": { "theta0": angle } });
            let found = ask("painleve-start", rest);
            let list = found["points"].as_array().unwrap();
            list.iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>()
        };
        // From the tip at the origin to the other end, two half lengths of 1 m away.
        let [a, b] = [0.5f64, 1.1];
        for (angle, text) in [(a, "0.5"), (b, "1.1")] {
            let p = points(text);
            assert!(p[0].abs() + p[1].abs() < 1e-12);
            assert!(
                (p[2] - 2.0 * angle.cos()).abs() < 1e-12
                    && (p[3] - 2.0 * angle.sin()).abs() < 1e-12
            );
        }
    }

    #[test]
    fn mistakes_are_told_in_words() {
        let refused = |request: &str| {
            let answer: Value = serde_json::from_str(&respond(request.as_bytes()).text).unwrap();
            answer["error"].as_str().unwrap().to_string()
        };
        assert!(refused("{").contains("the request"));
        let wrong = json!({ "task": "run", "name": "a", "scene": "title = \"A\"\nstep = x\n" });
        assert!(refused(&wrong.to_string()).contains("a.toml"));
        let source = find_in_gallery("four-balls").unwrap().source();
        let world = json!({ "task": "verdict", "name": "four-balls", "scene": source.text() });
        assert!(!refused(&world.to_string()).is_empty());
    }
}
